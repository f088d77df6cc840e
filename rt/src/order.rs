//! The order of a dispatch's waves, for ordered append: a wave's turn comes when all waves that were created before it
//! have passed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whose turn it is. Waves are numbered as they are created, from 0 on.
#[derive(Default)]
pub struct Order(Mutex<Turns>);

#[derive(Default)]
struct Turns {
    /// All before it have passed.
    next: u64,
    /// Those behind that have passed.
    early: BTreeSet<u64>,
}

impl Order {
    /// The order at the start of a dispatch.
    pub const fn new() -> Order {
        Order(Mutex::new(Turns { next: 0, early: BTreeSet::new() }))
    }

    /// Whether all waves before wave `number` have passed.
    pub fn is_turn(&self, number: u64) -> bool {
        self.turns().next >= number
    }

    /// Says that waves have passed: they ended, or let the others go first. Saying it again changes nothing.
    pub fn pass(&self, waves: Range<u64>) {
        let mut turns = self.turns();
        if waves.start <= turns.next {
            turns.next = turns.next.max(waves.end);
        } else {
            turns.early.extend(waves);
        }
        while turns.early.first().is_some_and(|first| *first <= turns.next) {
            let number = turns.early.pop_first().unwrap_or_default();
            turns.next = turns.next.max(number + 1);
        }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    }
}
