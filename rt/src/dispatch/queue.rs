//! Which work-groups are resident, and which of them is next.
//!
//! Work-groups are started in order. One that is not over when its turn is waits in line, and threads take turns
//! between starting another and going on with the one that has waited longest. So as long as there is room, work-groups
//! that wait for later ones get them, and none starves; without such work-groups, few are ever resident.
//!
//! A work-group whose waves are all parked is passed over until one of them can go on. When all residents are in line,
//! none can go on and none can be started, nothing will ever happen again: a deadlock.

use super::group::{Events, Group};
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
    /// Wait a little: all work-groups in line wait for some that other threads have in hand.
    Rest,
    /// All wait for ever; this one has waited longest.
    Deadlock(Group),
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
    /// is only called if there is room. `None` if there is nothing left for the thread.
    pub(super) fn exchange(
        &self,
        hand: Option<Group>,
        events: Events<'_>,
        take: impl Fn() -> Option<u64>,
    ) -> Option<Choice> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match hand {
            Some(group) if group.is_over() => line.spare.push(group),
            Some(group) => line.waiting.push_back(group),
            None => {}
        }
        let choice = if line.started && !line.waiting.is_empty() { None } else { self.start(&mut line, &take) };
        line.started = choice.is_some();
        let choice = choice.or_else(|| line.resume(events)).or_else(|| self.start(&mut line, &take));
        let choice = choice.or_else(|| line.nothing_to_run());
        self.waiting.0.store(line.waiting.len(), Relaxed);
        choice
    }

    /// Puts a work-group back in line that a thread will not go on with.
    pub(super) fn abandon(&self, group: Group) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).waiting.push_back(group);
    }

    /// Those that are in line.
    pub(super) fn into_waiting(self) -> VecDeque<Group> {
        self.line.into_inner().unwrap_or_else(PoisonError::into_inner).waiting
    }

    fn start(&self, line: &mut Line, take: &impl Fn() -> Option<u64>) -> Option<Choice> {
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

impl Line {
    /// The first that can run.
    fn resume(&mut self, events: Events<'_>) -> Option<Choice> {
        let ready = self.waiting.iter_mut().position(|group| group.wake(events))?;
        self.waiting.remove(ready).map(Choice::Resume)
    }

    /// What it means that none can.
    fn nothing_to_run(&mut self) -> Option<Choice> {
        if self.waiting.is_empty() {
            return None;
        }
        let in_hand = self.made - self.spare.len() - self.waiting.len();
        if in_hand > 0 { Some(Choice::Rest) } else { self.waiting.pop_front().map(Choice::Deadlock) }
    }
}
