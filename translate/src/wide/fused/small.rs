//! Bytes and words of a part: widened when they are loaded, cut when they are stored.

use super::lanes::Lanes;
use super::stores::Temporaries;
use super::{LOW, PLACE, Part, SIZE};
use crate::access::{Half, Small};
use crate::wide::access::small::{cut, nearest, pick};
use crate::wide::asm::{Asm, Gpr, Mem, ShiftBy, When, Zmm, op};

impl Lanes<'_, '_> {
    /// Loads a byte or word to all lanes of a chunk.
    pub(super) fn broadcast_small(&mut self, small: Small, to: Zmm, from: Mem) {
        self.asm().load_small(small.bytes, small.signed, LOW, from);
        self.asm().broadcast(to, LOW);
    }

    /// Gathers lanes whose bytes or words are in the allocation, of which `SIZE` is the greatest index: dwords that would
    /// end behind it are loaded from where they end with it.
    pub(super) fn gather_small(&mut self, small: Small) {
        let Lanes { wrong: from, high: before, limit: last, first: least, .. } = *self;
        self.asm().sub(SIZE, 4 - small.bytes);
        self.part.fail_if(When::Below);
        self.asm().broadcast(last, SIZE);
        for chunk in 0..self.part.count {
            let (low, to) = (self.address[0][chunk as usize], self.loaded[0][chunk as usize]);
            let none = self.active.map(|active| self.part.skip_if_none(active, chunk));
            self.asm().v(op::VPSUBD, before, low, least);
            nearest(self.asm(), before, last, (from, before));
            self.gather(chunk as usize, PLACE, from, 0, self.active);
            pick(self.asm(), small, to, before);
            none.into_iter().for_each(|jump| self.asm().bind(jump));
        }
    }
}

impl Part<'_> {
    /// Stores a byte or word of each lane of a chunk, side by side from `PLACE` on.
    pub(super) fn store_small_run(&mut self, small: Small, from: Zmm, with: &Temporaries) {
        let (partial, shifted) = (self.partial, with.vectors[0]);
        let asm = self.asm();
        let mut from = from;
        if small.half == Some(Half::High) {
            asm.shift(ShiftBy::right(false), shifted, from, 16);
            from = shifted;
        }
        let to = Mem::At(PLACE, 0);
        match partial {
            true => asm.store_narrow_lanes(cut(small), to, with.active, from),
            false => asm.store_narrow(cut(small), to, from),
        }
    }
}

/// Stores a byte or word of a dword at a sum.
pub(super) fn store_small(asm: &mut Asm, small: Small, [base, index]: [Gpr; 2], dword: Gpr) {
    if small.half == Some(Half::High) {
        asm.shift_right(dword, 16);
    }
    asm.store_small(small.bytes, base, index, dword);
}
