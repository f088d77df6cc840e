//! The order of a dispatch's waves, for ordered append: a wave's turn comes when all waves that were created before it
//! have passed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whose turn it is. Waves are numbered as they are created, from 0 on.
///
/// Work-groups mostly end in their order, and few kernels ask: that is one exchange without a lock. Sequential
/// consistency lets either the thread that moves `next` see a wave that passed early, or the one that has added that
/// wave see the new `next`.
#[derive(Default)]
pub struct Order {
    /// All waves before it have passed.
    next: AtomicU64,
    /// How many ranges there are in `early`.
    waiting: AtomicU64,
    /// Those behind that have passed, from the first of a range to the one after its last.
    early: Mutex<BTreeSet<(u64, u64)>>,
    /// Whether a wave's turn had not come when it asked.
    asked: AtomicBool,
}

impl Order {
    /// The order at the start of a dispatch.
    pub const fn new() -> Order {
        Order {
            next: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            early: Mutex::new(BTreeSet::new()),
            asked: AtomicBool::new(false),
        }
    }

    /// Whether all waves before wave `number` have passed.
    pub fn is_turn(&self, number: u64) -> bool {
        let come = self.next.load(SeqCst) >= number;
        if !come && !self.is_asked() {
            self.asked.store(true, Relaxed);
        }
        come
    }

    /// Whether waves have waited for their turn. Until then nobody has to be told soon of those that have passed.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }

    /// Says that waves have passed: they ended, or let the others go first. Saying it again changes nothing.
    pub fn pass(&self, waves: Range<u64>) {
        let moved = self.next.compare_exchange(waves.start, waves.end, SeqCst, SeqCst);
        match moved {
            Ok(_) if self.waiting.load(SeqCst) == 0 => {}
            Ok(_) => self.settle(self.early()),
            Err(next) if next >= waves.end => {}
            Err(_) => {
                let mut early = self.early();
                early.insert((waves.start, waves.end));
                self.waiting.store(early.len() as u64, SeqCst);
                self.settle(early);
            }
        }
    }

    /// Moves on over the waves that have passed early.
    fn settle(&self, mut early: MutexGuard<'_, BTreeSet<(u64, u64)>>) {
        while let Some((start, end)) = early.first().copied() {
            let next = self.next.load(SeqCst);
            if start > next {
                break;
            }
            // If another thread has moved it meanwhile, the range is looked at again.
            if end <= next || self.next.compare_exchange(next, end, SeqCst, SeqCst).is_ok() {
                early.pop_first();
                self.waiting.store(early.len() as u64, SeqCst);
            }
        }
    }

    fn early(&self) -> MutexGuard<'_, BTreeSet<(u64, u64)>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn a_turn_comes_when_all_before_have_passed() {
        let order = Order::new();
        assert!(order.is_turn(0) && !order.is_turn(1));
        order.pass(2..4);
        order.pass(1..2);
        assert!(!order.is_turn(1));
        order.pass(0..1);
        assert!(order.is_turn(4) && !order.is_turn(5));
        order.pass(1..3);
        order.pass(4..5);
        assert!(order.is_turn(5) && !order.is_turn(6));
        // Ranges that overlap, the longer one first and last.
        order.pass(7..20);
        order.pass(7..8);
        order.pass(6..12);
        assert!(!order.is_turn(6));
        order.pass(5..6);
        assert!(order.is_turn(20) && !order.is_turn(21));
    }
}
