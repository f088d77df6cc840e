//! A resident work-group: its waves, its LDS, its place in scratch.

use crate::engine::{Wait, WaitFor};
use crate::gds::Gds;
use crate::lds::Lds;
use crate::order::Order;
use crate::wave::Wave;

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
    pub(super) waves: Vec<Box<Wave>>,
    /// One a wave of the work-group that is in it; a partial one may have fewer than there is room for.
    pub(super) states: Vec<State>,
    /// Scratch slot of the first wave.
    pub(super) slot: u64,
    /// Whether it has had a turn.
    pub(super) begun: bool,
}

impl Group {
    /// Room for `waves` waves, the `index`th.
    pub(super) fn new(index: usize, waves: usize) -> Group {
        Group {
            lds: Lds::default(),
            waves: (0..waves).map(|_| Wave::new()).collect(),
            states: Vec::with_capacity(waves),
            slot: (index * waves) as u64,
            begun: false,
        }
    }

    /// Whether all its waves have ended.
    pub(super) fn is_over(&self) -> bool {
        self.states.iter().all(|state| *state == State::Ended)
    }

    /// Whether a wave can run.
    pub(super) fn is_ready(&self) -> bool {
        self.states.contains(&State::Ready)
    }

    /// The first wave that waits for other work-groups, and for what.
    pub(super) fn parked(&self) -> Option<(&Wave, Wait)> {
        self.waves.iter().zip(&self.states).find_map(|(wave, state)| match state {
            State::Parked(wait) => Some((&**wave, *wait)),
            _ => None,
        })
    }

    /// Lets the parked waves go on whose waits are over, and returns whether a wave can run.
    pub(super) fn wake(&mut self, events: Events<'_>) -> bool {
        if self.parked().is_some() {
            self.pass_ended(events.order);
            for (wave, state) in self.waves.iter().zip(&mut self.states) {
                if matches!(*state, State::Parked(wait) if events.end(wait, wave.number)) {
                    *state = State::Ready;
                }
            }
        }
        self.is_ready()
    }

    /// Tells the order of the waves that have ended while the work-group has not.
    fn pass_ended(&self, order: &Order) {
        for (wave, _) in self.waves.iter().zip(&self.states).filter(|(_, state)| **state == State::Ended) {
            order.pass(wave.number..wave.number + 1);
        }
    }

    /// Takes its parked waves out of the queues that they wait in: they will not go on.
    pub(super) fn withdraw(&self, gds: &Gds) {
        for state in &self.states {
            if let State::Parked(Wait { on: WaitFor::Call(ticket), .. }) = state {
                gds.gws().withdraw(*ticket);
            }
        }
    }

    /// Opens the barrier if all waves that have not ended wait at it.
    pub(super) fn open_barrier(&mut self) {
        if !self.is_ready() && self.parked().is_none() {
            for state in self.states.iter_mut().filter(|state| **state == State::Waiting) {
                *state = State::Ready;
            }
        }
    }

    /// Instructions that its waves have executed.
    pub(super) fn executed(&self) -> u64 {
        self.waves[..self.states.len()].iter().map(|wave| wave.executed).sum()
    }

    /// The first wave that runs next.
    pub(super) fn ready(&self) -> Option<&Wave> {
        let index = self.states.iter().position(|state| *state == State::Ready)?;
        Some(&self.waves[index])
    }
}
