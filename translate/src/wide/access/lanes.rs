//! One lane after the other, where no instruction does sixteen.

use super::spread::{MOVING, OUTSIDE};
use super::{CHUNK, COUNT, EXEC, LOW, Stub, WAVE};
use crate::wide::asm::predicate::NOT_EQUAL;
use crate::wide::asm::{Gpr, MaskOp, Mem, Rm, When, Zmm, op};
use crate::wide::registers::row;

/// Bytes of a row of indices; where one is on the stack.
const ROW: i32 = CHUNK * COUNT;
const INDICES: Gpr = Gpr::R11;
/// Lanes that are still to be done, the next one, its index and its data.
const REST: Gpr = Gpr::R9;
const LANE: Gpr = Gpr::R10;
pub(super) const PLACE: Gpr = LOW;
pub(super) const VALUE: Gpr = Gpr::Rdx;
/// Lanes that are done in a turn of a loop, if all are active.
const AT_ONCE: i32 = 8;
/// What the first active lane has.
const SAME: Zmm = Zmm(18);

impl Stub<'_> {
    /// Loads EXEC to `REST`, and compares it with zero.
    pub(super) fn load_exec(&mut self) {
        // Both halves may have been written apart and just now.
        self.asm.load32(REST, WAVE, EXEC);
        self.asm.load32(VALUE, WAVE, EXEC + 4);
        self.asm.shift_left(VALUE, 32);
        self.asm.or_register(REST, VALUE);
    }

    /// Loads the masks of the active lanes.
    pub(super) fn load_active(&mut self) {
        for chunk in 0..COUNT {
            self.asm.k_load(Stub::active(chunk), Mem::At(WAVE, EXEC + 2 * chunk));
        }
    }

    /// Whether more than one lane of `REST` is left.
    pub(super) fn are_several(&mut self) {
        self.asm.mov(VALUE, REST);
        self.asm.clear_lowest_one(VALUE);
    }

    /// Loads what the first of `REST`'s lanes has in a VGPR to `PLACE`, and compares it with what all active lanes have, whose
    /// masks are loaded.
    pub(super) fn compare_with_first(&mut self, register: usize) {
        self.asm.lowest_one64(LANE, REST);
        self.load_lane(PLACE, register, 0);
        self.asm.broadcast(SAME, PLACE);
        for chunk in 0..COUNT {
            let row = Rm::Mem(Mem::At(WAVE, row(register) + CHUNK * chunk));
            let result = if chunk == 0 { OUTSIDE } else { MOVING };
            self.asm.compare_in(op::VPCMPD, result, Stub::active(chunk), SAME, row, NOT_EQUAL);
            self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, result);
        }
        self.asm.k_test(OUTSIDE);
    }

    /// Does something for each active lane in order, with its index in `PLACE`. `work` is told how far behind `LANE` the
    /// lane is.
    pub(super) fn each_lane(&mut self, work: impl Fn(&mut Self, i32)) {
        self.asm.sub(Gpr::Rsp, ROW);
        self.asm.mov(INDICES, Gpr::Rsp);
        for chunk in 0..COUNT {
            self.asm.store_unaligned(Mem::At(INDICES, CHUNK * chunk), Stub::index(chunk));
        }
        let one = |stub: &mut Self, further: i32| {
            stub.asm.load32_of(PLACE, INDICES, LANE, 4 * further);
            work(stub, further);
        };
        self.load_exec();
        let none = self.asm.jump(When::Zero);
        // All ones and one more are zero.
        self.asm.mov(LANE, REST);
        self.asm.add(LANE, 1);
        let all = self.asm.jump(When::Zero);
        let top = self.asm.here();
        self.asm.lowest_one64(LANE, REST);
        one(self, 0);
        self.asm.clear_lowest_one(REST);
        self.asm.jump_back(When::NotZero, top);
        let done = self.asm.jump_always();
        self.asm.bind(all);
        let top = self.asm.here();
        for lane in 0..AT_ONCE {
            one(self, lane);
        }
        self.asm.add(LANE, AT_ONCE);
        self.asm.compare32(LANE, 64);
        self.asm.jump_back(When::NotZero, top);
        self.asm.bind(none);
        self.asm.bind(done);
        self.asm.add(Gpr::Rsp, ROW);
    }

    /// Loads what the lane so many behind `LANE` has in a VGPR.
    pub(super) fn load_lane(&mut self, to: Gpr, register: usize, further: i32) {
        self.asm.load32_of(to, WAVE, LANE, row(register) + 4 * further);
    }

    /// Writes it.
    pub(super) fn write_lane(&mut self, register: usize, further: i32, from: Gpr) {
        self.asm.store32_of(WAVE, LANE, row(register) + 4 * further, from);
    }
}
