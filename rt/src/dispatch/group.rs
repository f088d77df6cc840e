//! A resident work-group: its waves, its LDS, its place in scratch.

use crate::lds::Lds;
use crate::wave::Wave;

/// What a wave does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs when it has its turn.
    Ready,
    /// It waits at a barrier.
    Waiting,
    /// It has ended.
    Ended,
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

    /// Opens the barrier if all waves that have not ended wait at it.
    pub(super) fn open_barrier(&mut self) {
        if !self.states.contains(&State::Ready) {
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
