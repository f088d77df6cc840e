//! Which registers of a kind hold what, and which may be taken.

/// Up to 32 registers, of which each holds a `P` until an event, or nothing.
pub struct Bank<P, const N: usize> {
    held: [Option<P>; N],
    /// The last event that uses what each holds.
    last: [usize; N],
    /// No event before this one is the last for what any register holds: most events end without a look at each.
    first_end: usize,
    /// Registers that hold something, a bit each.
    used: u32,
    /// Registers in use by this event.
    pinned: u32,
    /// Registers that are in use by all events.
    reserved: u32,
}

impl<P: Copy + PartialEq, const N: usize> Bank<P, N> {
    /// All free but for the reserved ones.
    pub fn new(reserved: u32) -> Self {
        Bank { held: [None; N], last: [0; N], first_end: usize::MAX, used: 0, pinned: reserved, reserved }
    }

    /// The register that holds something.
    pub fn holder(&self, part: P) -> Option<usize> {
        bits(self.used).find(|register| self.held[*register] == Some(part))
    }

    /// A register that holds nothing and is not in use.
    pub fn free(&self) -> Option<usize> {
        let free = !(self.used | self.pinned);
        Some(free.trailing_zeros() as usize).filter(|register| *register < N)
    }

    /// Registers that hold something and are not in use, with that and the last event that uses it.
    pub fn unpinned(&self) -> impl Iterator<Item = (usize, P, usize)> {
        bits(self.used & !self.pinned)
            .filter_map(|register| Some((register, self.held[register]?, self.last[register])))
    }

    /// The register is in use until the end of the event.
    pub fn pin(&mut self, register: usize) {
        self.pinned |= 1 << register;
    }

    /// It is not any more.
    pub fn release(&mut self, register: usize) {
        self.pinned &= !(1 << register);
    }

    /// It is in use for good.
    pub fn reserve(&mut self, register: usize) {
        self.reserved |= 1 << register;
    }

    /// The register holds something up to an event, whatever it held.
    pub fn hold(&mut self, register: usize, part: P, last: usize) {
        (self.held[register], self.last[register]) = (Some(part), last);
        self.first_end = self.first_end.min(last);
        self.used |= 1 << register;
    }

    /// The register holds nothing.
    pub fn forget(&mut self, register: usize) {
        self.used &= !(1 << register);
    }

    /// Frees registers whose last event is this one or an earlier one.
    pub fn retire(&mut self, now: usize) {
        if now < self.first_end {
            return;
        }
        self.first_end = usize::MAX;
        for register in bits(self.used) {
            if self.last[register] <= now {
                self.forget(register);
                self.release(register);
            } else {
                self.first_end = self.first_end.min(self.last[register]);
            }
        }
    }

    /// Ends an event.
    pub fn next(&mut self, now: usize) {
        self.retire(now);
        self.pinned = self.reserved;
    }
}

/// The positions of ones, from the lowest on.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.checked_sub(1)?;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::Bank;

    #[test]
    fn registers_are_free_when_their_last_event_is_over() {
        let mut bank: Bank<char, 3> = Bank::new(1);
        assert_eq!(bank.free(), Some(1), "0 is reserved");
        bank.hold(1, 'a', 5);
        bank.pin(2);
        assert_eq!((bank.holder('a'), bank.holder('b'), bank.free()), (Some(1), None, None));
        assert_eq!(bank.unpinned().collect::<Vec<_>>(), [(1, 'a', 5)]);
        bank.next(4);
        assert_eq!((bank.holder('a'), bank.free()), (Some(1), Some(2)));
        bank.pin(1);
        assert_eq!(bank.unpinned().count(), 0);
        bank.retire(5);
        assert_eq!((bank.holder('a'), bank.free()), (None, Some(1)));
    }

    #[test]
    fn each_register_is_free_after_its_own_last_event() {
        let mut bank: Bank<char, 4> = Bank::new(0);
        let held =
            |bank: &Bank<char, 4>| "abcd".chars().filter(|part| bank.holder(*part).is_some()).collect::<String>();
        [(0, 'a', 6), (1, 'b', 2), (2, 'c', 4)]
            .into_iter()
            .for_each(|(register, part, last)| bank.hold(register, part, last));
        bank.next(1);
        assert_eq!(held(&bank), "abc");
        bank.next(2);
        assert_eq!(held(&bank), "ac");
        // Something that ends earlier than what is there, and something in place of another that ends later.
        bank.hold(3, 'd', 3);
        bank.hold(0, 'b', 5);
        bank.next(3);
        assert_eq!(held(&bank), "bc");
        bank.next(5);
        assert_eq!(held(&bank), "");
    }

    #[test]
    fn what_a_register_held_is_gone_when_it_holds_something_else() {
        let mut bank: Bank<char, 32> = Bank::new(0);
        bank.hold(31, 'a', 1);
        bank.hold(31, 'b', 2);
        assert_eq!((bank.holder('a'), bank.holder('b')), (None, Some(31)));
        bank.forget(31);
        assert_eq!(bank.holder('b'), None);
    }
}
