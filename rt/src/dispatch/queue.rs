//! Which work-groups are resident, and which of them is next.
//!
//! As long as every work-group is over after its turn, threads take them from the grid in batches, so that they have
//! next to nothing to do with each other. A batch gets smaller as the grid does, for the threads to end together.
//!
//! A work-group that is not over when its turn is waits in line. From then on threads give back what they have not
//! started, start work-groups one by one and in order, and take turns between that and going on with the one that has
//! waited longest. So as long as there is room, work-groups that wait for later ones get them, and none starves; without
//! such work-groups, few are ever resident.
//!
//! A work-group whose waves are all parked is passed over until one of them can go on. When all residents are in line,
//! none can go on and none can be started, nothing will ever happen again: a deadlock.

use super::group::{Events, Group, Rooms};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Most work-groups in a batch: even empty ones take longer than a batch takes to be had.
const BATCH: u64 = 64;
/// Batches a thread that there would be if they did not get smaller.
const BATCHES: u64 = 4;

/// A value with cache lines of its own: what every thread writes must not slow down what every thread reads.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Alone<T>(pub(super) T);

/// The work-groups that no thread has in hand.
pub(super) struct Queue<'a> {
    rooms: &'a Rooms,
    line: Mutex<Line>,
    /// How many wait. Read without the lock.
    waiting: Alone<AtomicUsize>,
    /// Room for so many work-groups, at least one a thread.
    room: usize,
    /// Waves of a whole work-group.
    waves: usize,
    /// Threads that share the grid.
    threads: u64,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<Group>,
    /// Room that is not used.
    spare: Vec<Group>,
    /// How many have been made.
    made: usize,
    /// Work-groups of the grid that no thread has taken.
    grid: Range<u64>,
    /// Those that threads have given back, which come before `grid`.
    returned: Vec<Range<u64>>,
    /// How many threads have a batch of more than one.
    lent: usize,
    /// Whether the last choice was to start another.
    started: bool,
}

/// Work-groups that a thread starts one after the other.
pub(super) struct Batch {
    left: Range<u64>,
    /// Whether there was more than one in the beginning.
    lent: bool,
}

impl Batch {
    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.left.end - self.left.start) as usize
    }

    /// The one that is next.
    pub(super) fn first(&self) -> Option<u64> {
        self.left.clone().next()
    }
}

impl Iterator for Batch {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left.next()
    }
}

/// What a thread has in hand.
pub(super) struct Hand {
    pub(super) group: Group,
    /// What it starts when that is over.
    pub(super) batch: Batch,
}

/// What a thread does next.
pub(super) enum Choice {
    /// Go on with a work-group that has waited, or start those of a batch.
    Run(Hand),
    /// Wait a little: what is left waits for what other threads have in hand.
    Rest,
    /// All wait for ever; this one has waited longest.
    Deadlock(Group),
}

impl<'a> Queue<'a> {
    /// A queue for `groups` work-groups of up to `waves` waves, with room for `room` of them, and for so many threads.
    pub(super) fn new(rooms: &'a Rooms, groups: u64, room: usize, waves: usize, threads: usize) -> Queue<'a> {
        let line = Mutex::new(Line { grid: 0..groups, ..Line::default() });
        Queue { rooms, line, waiting: Alone::default(), room, waves, threads: threads as u64 }
    }

    /// Whether no work-group waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.0.load(Relaxed) == 0
    }

    /// Gives back what a thread has in hand and chooses what it does next. `None` if there is nothing left for it.
    pub(super) fn exchange(&self, hand: Option<Hand>, events: Events<'_>) -> Option<Choice> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Hand { group, batch }) = hand {
            line.give_back(batch);
            if group.waves.is_over() {
                line.spare.push(group);
            } else {
                line.waiting.push_back(group);
            }
        }
        let choice = if line.started && !line.waiting.is_empty() { None } else { self.start(&mut line) };
        line.started = choice.is_some();
        let choice = choice.or_else(|| line.resume(events)).or_else(|| self.start(&mut line));
        let choice = choice.or_else(|| line.nothing_to_run());
        self.waiting.0.store(line.waiting.len(), Relaxed);
        choice
    }

    /// Puts a work-group back in line that a thread will not go on with.
    pub(super) fn abandon(&self, group: Group) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).waiting.push_back(group);
    }

    /// Ends it: leaves room that is not used to the device, and returns the work-groups that are in line.
    pub(super) fn end(self) -> VecDeque<Group> {
        let line = self.line.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.rooms.keep(line.spare);
        line.waiting
    }

    fn start(&self, line: &mut Line) -> Option<Choice> {
        if line.spare.is_empty() && line.made == self.room {
            return None;
        }
        let batch = line.take(self.threads)?;
        let group = line.spare.pop().unwrap_or_else(|| {
            let mut group = self.rooms.get();
            group.waves.fit(line.made, self.waves);
            line.made += 1;
            group
        });
        Some(Choice::Run(Hand { group, batch }))
    }
}

impl Line {
    /// The next work-groups of the grid: a batch, or one while others wait. Then nobody starts a work-group whose
    /// predecessors another thread may still have in a batch: that one will give them back after its turn.
    fn take(&mut self, threads: u64) -> Option<Batch> {
        let alone = !self.waiting.is_empty();
        if alone && self.lent > 0 {
            return None;
        }
        let first = self.returned.iter_mut().min_by_key(|range| range.start);
        let from = first.unwrap_or(&mut self.grid);
        let left = from.end - from.start;
        let count = if alone { left.min(1) } else { left.div_ceil(BATCHES * threads).min(BATCH) };
        let left = from.start..from.start + count;
        from.start = left.end;
        self.returned.retain(|range| !range.is_empty());
        let lent = count > 1;
        self.lent += usize::from(lent);
        (count > 0).then_some(Batch { left, lent })
    }

    fn give_back(&mut self, Batch { left, lent }: Batch) {
        self.lent -= usize::from(lent);
        if !left.is_empty() {
            self.returned.push(left);
        }
    }

    /// The first that can run.
    fn resume(&mut self, events: Events<'_>) -> Option<Choice> {
        let ready = self.waiting.iter_mut().position(|group| group.waves.wake(events))?;
        let batch = Batch { left: 0..0, lent: false };
        self.waiting.remove(ready).map(|group| Choice::Run(Hand { group, batch }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::group::State;
    use crate::gds::Gds;
    use crate::order::Order;

    /// What `exchange` chooses, as long as something can run.
    fn exchange(queue: &Queue<'_>, hand: Option<Hand>) -> Option<Hand> {
        let (gds, order) = (Gds::new(), Order::new());
        match queue.exchange(hand, Events { gds: &gds, order: &order }) {
            Some(Choice::Run(hand)) => Some(hand),
            Some(_) => panic!("something can run"),
            None => None,
        }
    }

    /// Work-groups that are over at once.
    fn all(queue: &Queue<'_>, mut hand: Option<Hand>) -> Vec<Vec<u64>> {
        let mut batches = Vec::new();
        while let Some(next) = exchange(queue, hand.take()) {
            let Hand { group, mut batch } = next;
            batches.push(batch.by_ref().collect());
            hand = Some(Hand { group, batch });
        }
        batches
    }

    #[test]
    fn batches_cover_the_grid_in_order_and_get_smaller() {
        let rooms = Rooms::default();
        for (groups, threads) in [(0, 1), (1, 1), (7, 2), (100, 2), (10_000, 3)] {
            let batches = all(&Queue::new(&rooms, groups, threads, 1, threads), None);
            assert_eq!(batches.concat(), (0..groups).collect::<Vec<_>>());
            assert!(batches.is_sorted_by(|a, b| a.len() >= b.len()));
            assert!(batches.iter().all(|batch| batch.len() as u64 <= BATCH));
            assert_eq!(batches.last().map_or(1, Vec::len), 1);
        }
    }

    #[test]
    fn while_one_waits_work_groups_start_one_by_one_and_in_order() {
        let rooms = Rooms::default();
        let queue = Queue::new(&rooms, 100, 100, 1, 2);
        let [mut first, mut second] = [(); 2].map(|()| exchange(&queue, None).unwrap());
        assert_eq!([first.batch.next(), second.batch.next()], [Some(0), Some(13)]);
        assert!(queue.is_empty());
        // The second waits; what it did not start may not be started before the first thread gives back the rest.
        second.group.waves.states.set(0, State::Ready);
        let mut second = exchange(&queue, Some(second)).unwrap();
        assert!(!second.group.waves.is_over() && second.batch.next().is_none());
        let mut second = exchange(&queue, Some(second)).unwrap();
        assert!(!second.group.waves.is_over() && second.batch.next().is_none());
        first.group.waves.states.set(0, State::Ready);
        let mut first = exchange(&queue, Some(first)).unwrap();
        assert!(!queue.is_empty());
        assert_eq!((first.batch.next(), first.batch.next()), (Some(1), None));
        // All that are left, once both are over.
        second.group.waves.states.take_ready();
        let (mut rest, mut hands) = (Vec::new(), vec![second, first]);
        while let Some(hand) = hands.pop() {
            let Some(Hand { mut group, mut batch }) = exchange(&queue, Some(hand)) else { continue };
            group.waves.states.take_ready();
            rest.extend(batch.by_ref());
            hands.push(Hand { group, batch });
        }
        rest.sort_unstable();
        assert_eq!(rest, (2..100).filter(|linear| *linear != 13).collect::<Vec<_>>());
    }

    #[test]
    fn room_is_kept_for_the_next_dispatch() {
        let rooms = Rooms::default();
        for waves in [3, 1, 4] {
            let queue = Queue::new(&rooms, 1, 1, waves, 1);
            let mut hand = exchange(&queue, None).unwrap();
            assert_eq!((hand.batch.next(), hand.group.waves.list.len()), (Some(0), waves));
            assert!(hand.group.waves.is_over());
            assert!(exchange(&queue, Some(hand)).is_none());
            assert!(queue.end().is_empty());
            let kept = rooms.get();
            assert_eq!(kept.waves.list.len(), waves);
            rooms.keep([kept]);
        }
    }
}
