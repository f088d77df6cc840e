//! A resident work-group: its waves, its LDS, its place in scratch.

use crate::engine::{Wait, WaitFor};
use crate::gds::Gds;
use crate::lds::Lds;
use crate::order::Order;
use crate::wave::Wave;
use std::ops::Range;

/// What a wave does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs when it has its turn.
    Ready,
    /// It waits at a barrier.
    Waiting,
    /// It waits for waves that may be of other work-groups.
    Parked(Wait),
    /// It has ended.
    Ended,
}

/// What the waves of a work-group do next. A wave that is in none of the sets has ended.
#[derive(Default)]
pub(super) struct States {
    /// A bit for each wave that runs when it has its turn.
    ready: u32,
    /// A bit for each wave that waits at a barrier.
    waiting: u32,
    /// Those that wait for waves that may be of other work-groups, and for what.
    parked: Vec<(usize, Wait)>,
}

impl States {
    /// Wave `index`, which was taken, goes on like this.
    #[inline]
    pub(super) fn set(&mut self, index: usize, state: State) {
        match state {
            State::Ready => self.ready |= 1 << index,
            State::Waiting => self.waiting |= 1 << index,
            State::Parked(wait) => self.parked.push((index, wait)),
            State::Ended => {}
        }
    }

    /// Takes the waves that are ready, a bit each.
    #[inline]
    pub(super) fn take_ready(&mut self) -> u32 {
        std::mem::take(&mut self.ready)
    }

    /// Whether all waves have ended.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.ready | self.waiting == 0 && self.parked.is_empty()
    }

    /// Opens the barrier if all waves that have not ended wait at it.
    #[inline]
    pub(super) fn open_barrier(&mut self) {
        if self.ready == 0 && self.parked.is_empty() {
            self.ready = std::mem::take(&mut self.waiting);
        }
    }

    fn has_ended(&self, index: usize) -> bool {
        (self.ready | self.waiting) >> index & 1 == 0 && self.parked.iter().all(|(parked, _)| *parked != index)
    }
}

/// What ends the waits for other work-groups.
#[derive(Clone, Copy)]
pub(super) struct Events<'a> {
    pub(super) gds: &'a Gds,
    pub(super) order: &'a Order,
}

impl Events<'_> {
    /// Whether wave `number` of the dispatch need not wait any more.
    fn end(self, wait: Wait, number: u64) -> bool {
        match wait.on {
            WaitFor::Call(ticket) => self.gds.gws().is_called(ticket),
            WaitFor::Turn => self.order.is_turn(number),
        }
    }
}

/// Room for a work-group of the size of a whole one, and the work-group that is in it.
///
/// It is used again for work-group after work-group. Between turns any thread may take it.
pub(super) struct Group {
    pub(super) lds: Lds,
    /// Its waves by index, as far as they have not ended: the registers of others are free.
    pub(super) waves: Vec<Box<Wave>>,
    pub(super) states: States,
    /// How many waves the work-group has; a partial one may have fewer than there is room for.
    pub(super) count: usize,
    /// The number of its first wave in the dispatch.
    pub(super) number: u64,
    /// Scratch slot of the first wave.
    pub(super) slot: u64,
}

impl Group {
    /// Room for `waves` waves, the `index`th.
    pub(super) fn new(index: usize, waves: usize) -> Group {
        Group {
            lds: Lds::default(),
            waves: (0..waves).map(|_| Wave::new()).collect(),
            states: States::default(),
            count: 0,
            number: 0,
            slot: (index * waves) as u64,
        }
    }

    /// Whether all its waves have ended.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.states.is_over()
    }

    /// The numbers of its waves, those that only a whole work-group has included.
    #[inline]
    pub(super) fn numbers(&self) -> Range<u64> {
        self.number..self.number + self.waves.len() as u64
    }

    /// The first wave that waits for other work-groups, and for what.
    pub(super) fn parked(&self) -> Option<(&Wave, Wait)> {
        let (index, wait) = self.states.parked.iter().min_by_key(|(index, _)| *index)?;
        Some((&self.waves[*index], *wait))
    }

    /// Lets the parked waves go on whose waits are over, and returns whether a wave can run.
    #[inline]
    pub(super) fn wake(&mut self, events: Events<'_>) -> bool {
        if !self.states.parked.is_empty() {
            self.wake_parked(events);
        }
        self.states.ready != 0
    }

    fn wake_parked(&mut self, events: Events<'_>) {
        self.pass_ended(events.order);
        let States { ready, parked, .. } = &mut self.states;
        parked.retain(|&(index, wait)| {
            let over = events.end(wait, self.number + index as u64);
            *ready |= u32::from(over) << index;
            !over
        });
    }

    /// Tells the order of the waves that have ended while the work-group has not.
    fn pass_ended(&self, order: &Order) {
        for index in (0..self.count).filter(|index| self.states.has_ended(*index)) {
            let number = self.number + index as u64;
            order.pass(number..number + 1);
        }
    }

    /// Takes its parked waves out of the queues that they wait in: they will not go on.
    pub(super) fn withdraw(&self, gds: &Gds) {
        for (_, wait) in &self.states.parked {
            if let WaitFor::Call(ticket) = wait.on {
                gds.gws().withdraw(ticket);
            }
        }
    }

    /// The first wave that runs next.
    #[inline]
    pub(super) fn ready(&self) -> Option<&Wave> {
        let index = self.states.ready.trailing_zeros() as usize;
        (self.states.ready != 0).then(|| &*self.waves[index])
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, State, States};
    use crate::engine::{Wait, WaitFor};

    const TURN: State = State::Parked(Wait { pc: 0, on: WaitFor::Turn });

    fn states(of: &[State]) -> States {
        let mut states = States::default();
        of.iter().enumerate().for_each(|(index, state)| states.set(index, *state));
        states
    }

    #[test]
    fn the_barrier_opens_when_all_that_have_not_ended_wait_at_it() {
        use State::{Ended, Ready, Waiting};
        for (of, opened) in [
            ([Waiting, Ended, Waiting], 0b101),
            ([Waiting, Ready, Waiting], 0b010),
            ([Waiting, TURN, Ended], 0),
            ([Ended; 3], 0),
        ] {
            let mut states = states(&of);
            assert_eq!(states.is_over(), of == [Ended; 3]);
            states.open_barrier();
            assert_eq!(states.take_ready(), opened, "{of:?}");
        }
    }

    #[test]
    fn the_first_of_those_that_wait_is_named() {
        let mut group = Group::new(0, 4);
        group.count = 4;
        (0..4).for_each(|index| group.waves[index].index = index as u32);
        for (index, state) in [(3, State::Ready), (1, State::Ready), (2, TURN), (0, TURN)] {
            group.states.set(index, state);
        }
        assert_eq!(group.ready().map(|wave| wave.index), Some(1));
        assert_eq!(group.parked().map(|(wave, _)| wave.index), Some(0));
    }
}
