//! What a part for any EXEC does for active lanes only.
//!
//! Registers that it writes are blended, masks that become bits have no others, stores are masked, and where the lanes of an
//! access are is a matter of active ones: the others are thought of as where they would be if they counted too, so that the
//! part gives up if that is outside of the allocation. A chunk without any is wherever one with some is.

use super::{Part, WAVE};
use crate::defect::{Precaution, forgets};
use crate::lane::Value;
use crate::wide::access::EXEC;
use crate::wide::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};

/// Loads all of EXEC. Both halves may have been written apart and just now.
pub(super) fn load_exec(asm: &mut Asm, to: Gpr, free: Gpr) {
    asm.load32(to, WAVE, EXEC);
    asm.load32(free, WAVE, EXEC + 4);
    asm.shift_left(free, 32);
    asm.or_register(to, free);
}

impl Part<'_> {
    /// The active lanes of a chunk.
    pub(super) fn active(&mut self, chunk: i32) -> K {
        let mask = self.chunk.r.fresh_mask();
        self.load_active(mask, chunk);
        mask
    }

    pub(super) fn load_active(&mut self, mask: K, chunk: i32) {
        self.asm().k_load(mask, Mem::At(WAVE, EXEC + 2 * chunk));
    }

    /// Loads the active lanes of a chunk; the jump is taken if there are none.
    pub(super) fn skip_if_none(&mut self, active: K, chunk: i32) -> Jump {
        self.load_active(active, chunk);
        self.asm().k_test(active);
        self.asm().jump(When::Zero)
    }

    /// Gives up unless a mask is true in all active lanes.
    pub(super) fn assume(&mut self, mask: Value) {
        if forgets(Precaution::Guard) {
            return;
        }
        let mask = self.chunk.r.mask(mask);
        if self.partial {
            let active = self.active(self.chunk.r.work.chunk());
            self.asm().k(MaskOp::Andn, active, mask, active);
            self.asm().k_test(active);
            self.fail_if(When::NotZero);
        } else {
            // The carry says whether all are.
            self.asm().k_test(mask);
            self.fail_if(When::AboveEqual);
        }
    }

    /// Writes the active lanes of a VGPR.
    pub(super) fn set_active(&mut self, register: u64, value: Value) {
        let active = self.active(self.chunk.r.work.chunk());
        let (from, row, whole) = (self.chunk.r.vector(value, 0), self.chunk.r.vgpr(register), self.chunk.r.fresh());
        // Whole: what a masked store writes is not forwarded to the loads behind it.
        self.asm().v1(op::VMOVDQA32, whole, Rm::Mem(row));
        self.asm().merge(op::VMOVDQA32, whole, active, from);
        self.asm().store(row, whole);
    }

    /// Writes the active bits of a mask.
    pub(super) fn bits_active(&mut self, index: usize, value: Value) {
        let active = self.active(self.chunk.r.work.chunk());
        let mask = self.chunk.r.mask(value);
        self.asm().k(MaskOp::And, active, active, mask);
        self.chunk.write_bits(index, active);
    }

    /// For each of four chunks itself, or the first one with active lanes if it has none; again and again.
    pub(super) fn chunks_with_lanes(&mut self) -> Zmm {
        let (order, room) = (self.chunk.r.reserve(), self.chunk.r.fresh());
        let some = self.chunk.r.fresh_mask();
        // Both halves may have been written apart and just now: a load of both would have to wait for that.
        for (half, to) in [(0, order), (4, room)] {
            self.asm().v1(op::VPBROADCASTD, to, Rm::Mem(Mem::At(WAVE, EXEC + half)));
        }
        self.asm().v(op::VPUNPCKLDQ, order, order, room);
        self.asm().v1(op::VPMOVZXWD, order, order);
        self.asm().non_zero(some, order);
        let numbers = self.chunk.table(|i| i % 4);
        self.asm().compress(order, some, numbers);
        self.asm().v1(op::VPBROADCASTD, order, order);
        self.asm().merge(op::VMOVDQA32, order, some, numbers);
        self.chunk.r.release(room);
        self.chunk.r.release(numbers);
        order
    }
}
