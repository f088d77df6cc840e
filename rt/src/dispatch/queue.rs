//! Which work-groups are resident, and which of them is next.
//!
//! Work-groups are started in order. One that is not over when its turn is waits in line, and threads take turns
//! between starting another and going on with the one that has waited longest. So as long as there is room, work-groups
//! that wait for later ones get them, and none starves; without such work-groups, few are ever resident.

use super::group::Group;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// A value with cache lines of its own: what every thread writes must not slow down what every thread reads.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Alone<T>(pub(super) T);

/// The work-groups that no thread has in hand.
pub(super) struct Queue {
    line: Mutex<Line>,
    /// How many wait. Read without the lock.
    waiting: Alone<AtomicUsize>,
    /// Room for so many work-groups, at least one a thread.
    room: usize,
    /// Waves of a whole work-group.
    waves: usize,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<Group>,
    /// Room that is not used.
    spare: Vec<Group>,
    /// How many have been made.
    made: usize,
    /// Whether the last choice was to start another.
    started: bool,
}

/// What a thread does next.
pub(super) enum Choice {
    /// Go on with a work-group that has waited.
    Resume(Group),
    /// Start this work-group of the grid.
    Start(Group, u64),
}

impl Queue {
    /// A queue with room for `room` work-groups of up to `waves` waves.
    pub(super) fn new(room: usize, waves: usize) -> Queue {
        Queue { line: Mutex::default(), waiting: Alone::default(), room, waves }
    }

    /// Whether no work-group waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.0.load(Relaxed) == 0
    }

    /// Gives back what a thread has in hand and chooses what it does next. `take` takes a work-group of the grid; it
    /// is only called if there is room.
    pub(super) fn exchange(&self, hand: Option<Group>, take: impl Fn() -> Option<u64>) -> Option<Choice> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match hand {
            Some(group) if group.is_over() => line.spare.push(group),
            Some(group) => line.waiting.push_back(group),
            None => {}
        }
        let choice = if line.started && !line.waiting.is_empty() { None } else { self.start(&mut line, take) };
        line.started = choice.is_some();
        let choice = choice.or_else(|| line.waiting.pop_front().map(Choice::Resume));
        self.waiting.0.store(line.waiting.len(), Relaxed);
        choice
    }

    fn start(&self, line: &mut Line, take: impl Fn() -> Option<u64>) -> Option<Choice> {
        if line.spare.is_empty() && line.made == self.room {
            return None;
        }
        let linear = take()?;
        let group = line.spare.pop().unwrap_or_else(|| {
            line.made += 1;
            Group::new(line.made - 1, self.waves)
        });
        Some(Choice::Start(group, linear))
    }
}
