//! A resident work-group: its waves, its LDS, its place in scratch.

use crate::engine::{Wait, WaitFor};
use crate::gds::Gds;
use crate::lds::Lds;
use crate::order::Order;
use crate::wave::Wave;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a wave does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs when it has its turn.
    Ready,
    /// It waits at a barrier.
    Waiting,
    /// It waits for waves that may be of other work-groups.
    Parked(Wait),
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
    /// Wave `index`, which was taken or has begun, goes on like this. Of one that has ended nothing is said.
    #[inline(always)]
    pub(super) fn set(&mut self, index: usize, state: State) {
        match state {
            State::Ready => self.ready |= 1 << index,
            State::Waiting => self.waiting |= 1 << index,
            State::Parked(wait) => self.parked.push((index, wait)),
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

    /// Whether wave `index`, which has begun, has ended.
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
#[derive(Default)]
pub(super) struct Group {
    pub(super) lds: Lds,
    pub(super) waves: Waves,
}

/// The waves of the last work-group that another one's may begin with, each in its place in the list.
#[derive(Default)]
pub(super) struct Kept {
    /// The thread of the dispatch that they were run by: each asks on its own which registers are filled.
    thread: usize,
    /// Work-items of the work-group.
    size: [u32; 3],
    /// A bit for each wave.
    waves: u64,
}

impl Kept {
    /// None is left if the next work-group is another thread's, or has another size.
    #[inline(always)]
    pub(super) fn fit(&mut self, thread: usize, size: [u32; 3]) {
        if self.size != size || self.thread != thread {
            *self = Kept { thread, size, waves: 0 };
        }
    }

    #[inline(always)]
    pub(super) fn has(&self, index: usize) -> bool {
        index < 64 && self.waves >> index & 1 != 0
    }

    /// Whether it has all of so many, from the first one on.
    #[inline(always)]
    pub(super) fn has_all(&self, count: usize) -> bool {
        self.waves.trailing_ones() as usize >= count
    }

    /// Does nothing for waves that there are no bits for.
    #[inline(always)]
    pub(super) fn toggle(&mut self, index: usize) {
        self.waves ^= 1_u64.checked_shl(index as u32).unwrap_or(0);
    }
}

/// The waves of a work-group.
pub(super) struct Waves {
    /// By index, as far as they have not ended.
    pub(super) list: Vec<Box<Wave>>,
    /// The registers of waves that begin, from one to the next: a wave that ends at once leaves them in the cache.
    pub(super) spare: Box<Wave>,
    pub(super) kept: Kept,
    pub(super) states: States,
    /// How many waves the work-group has; a partial one may have fewer than there is room for.
    pub(super) count: usize,
    /// The number of its first wave in the dispatch.
    pub(super) number: u64,
    /// Scratch slot of the first wave.
    pub(super) slot: u64,
}

impl Default for Waves {
    /// Room for none yet.
    fn default() -> Waves {
        let (kept, states) = (Kept::default(), States::default());
        Waves { list: Vec::new(), spare: Wave::new(), kept, states, count: 0, number: 0, slot: 0 }
    }
}

impl Waves {
    /// Makes it the dispatch's `index`th room, for `count` waves. The work-group has to be over.
    pub(super) fn fit(&mut self, index: usize, count: usize) {
        self.list.resize_with(count, Wave::new);
        self.kept = Kept::default();
        self.slot = (index * count) as u64;
    }

    /// Whether all have ended.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.states.is_over()
    }

    /// Their numbers, those that only a whole work-group has included.
    #[inline]
    pub(super) fn numbers(&self) -> Range<u64> {
        self.number..self.number + self.list.len() as u64
    }

    /// The first that waits for other work-groups, and for what.
    pub(super) fn parked(&self) -> Option<(&Wave, Wait)> {
        let (index, wait) = self.states.parked.iter().min_by_key(|(index, _)| *index)?;
        Some((&self.list[*index], *wait))
    }

    /// Lets the parked ones go on whose waits are over, and returns whether one can run.
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

    /// Tells the order of those that have ended while the work-group has not.
    fn pass_ended(&self, order: &Order) {
        for index in (0..self.count).filter(|index| self.states.has_ended(*index)) {
            let number = self.number + index as u64;
            order.pass(number..number + 1);
        }
    }

    /// Takes the parked ones out of the queues that they wait in: they will not go on.
    pub(super) fn withdraw(&self, gds: &Gds) {
        for (_, wait) in &self.states.parked {
            if let WaitFor::Call(ticket) = wait.on {
                gds.gws().withdraw(ticket);
            }
        }
    }

    /// The first that runs next.
    #[inline(always)]
    pub(super) fn ready(&self) -> Option<&Wave> {
        let index = self.states.ready.trailing_zeros() as usize;
        (self.states.ready != 0).then(|| &*self.list[index])
    }
}

/// Room that a device keeps from one dispatch for the next: having it from the host takes as long as many a small grid.
#[derive(Default)]
pub(crate) struct Rooms(Mutex<Vec<Group>>);

impl Rooms {
    /// Most that are kept: one a thread, on most hosts.
    const MOST: usize = 16;

    /// Room of any size, kept or new.
    pub(super) fn get(&self) -> Group {
        self.lock().pop().unwrap_or_default()
    }

    /// Takes room back that is not used any more.
    pub(super) fn keep(&self, groups: impl IntoIterator<Item = Group>) {
        let mut kept = self.lock();
        let free = Rooms::MOST - kept.len();
        kept.extend(groups.into_iter().take(free));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{State, States, Waves};
    use crate::engine::{Wait, WaitFor};

    const TURN: State = State::Parked(Wait { pc: 0, on: WaitFor::Turn });

    /// `None` for waves that have ended.
    fn states(of: &[Option<State>]) -> States {
        let mut states = States::default();
        for (index, state) in of.iter().enumerate() {
            state.iter().for_each(|state| states.set(index, *state));
            assert_eq!(states.has_ended(index), state.is_none());
        }
        states
    }

    #[test]
    fn the_barrier_opens_when_all_that_have_not_ended_wait_at_it() {
        let [ready, waiting, parked] = [State::Ready, State::Waiting, TURN].map(Some);
        for (of, opened) in [
            ([waiting, None, waiting], 0b101),
            ([waiting, ready, waiting], 0b010),
            ([waiting, parked, None], 0),
            ([None; 3], 0),
        ] {
            let mut states = states(&of);
            assert_eq!(states.is_over(), of == [None; 3]);
            states.open_barrier();
            assert_eq!(states.take_ready(), opened, "{of:?}");
        }
    }

    #[test]
    fn the_first_of_those_that_wait_is_named() {
        let mut waves = Waves { count: 4, ..Waves::default() };
        waves.fit(0, 4);
        (0..4).for_each(|index| waves.list[index].index = index as u32);
        for (index, state) in [(3, State::Ready), (1, State::Ready), (2, TURN), (0, TURN)] {
            waves.states.set(index, state);
        }
        assert_eq!(waves.ready().map(|wave| wave.index), Some(1));
        assert_eq!(waves.parked().map(|(wave, _)| wave.index), Some(0));
    }
}
