//! Bytes and words: widened when they are loaded, cut when they are stored.

use super::spread::{DATA, ORIGIN};
use super::{CHUNK, COUNT, EXEC, SIZE, Stub, WAVE};
use crate::access::{Half, Small};
use crate::wide::asm::{Gpr, Mem, Rm, ShiftBy, When, Zmm, op};
use crate::wide::registers::row;

/// What the register holds.
const OLD: Zmm = Zmm(1);
/// The bits of the register that are replaced.
const PART: Zmm = Zmm(2);
/// The nearest index from which a whole dword can be loaded, how many bits of it come before the lane's, and the
/// greatest such index.
const NEAREST: Zmm = Zmm(3);
const BEFORE: Zmm = Zmm(4);
const LAST: Zmm = Zmm(6);
/// Bytes of a row of indices; where one is on the stack.
const ROW: i32 = CHUNK * COUNT;
const INDICES: Gpr = Gpr::R11;
/// Lanes that are still to be stored, the next one, its index and its data.
const REST: Gpr = Gpr::R9;
const LANE: Gpr = Gpr::R10;
const PLACE: Gpr = Gpr::Rax;
const VALUE: Gpr = Gpr::Rdx;
/// Lanes that are stored in a turn of a loop, if all are active.
const AT_ONCE: i32 = 8;
/// VPTERNLOGD: bits of the second where the first has ones, else of the third.
const SELECT: u8 = 0xca;

impl Stub<'_> {
    /// Loads or stores sixteen lanes that are side by side.
    pub(super) fn small_run(&mut self, small: Small, chunk: i32, at: Mem) {
        let register = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk);
        if self.access.store {
            self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(register));
            if small.half == Some(Half::High) {
                self.asm.shift(ShiftBy::right(false), DATA, DATA, 16);
            }
            let cut = if small.bytes == 1 { op::VPMOVDB } else { op::VPMOVDW };
            return self.asm.store_narrow(cut, at, DATA);
        }
        let widen = match (small.bytes, small.signed) {
            (1, false) => op::VPMOVZXBD,
            (1, true) => op::VPMOVSXBD,
            (_, false) => op::VPMOVZXWD,
            (_, true) => op::VPMOVSXWD,
        };
        self.asm.v1(widen, DATA, Rm::Mem(at));
        self.merge_half(small, register);
        self.asm.store(register, DATA);
    }

    /// Loads the active lanes of a chunk, wherever they are. Dwords that would end behind the allocation are loaded from
    /// where they end with it.
    pub(super) fn gather_small(&mut self, small: Small, chunk: i32) {
        let register = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk);
        let index = Stub::index(chunk);
        if chunk == 0 {
            self.asm.sub(SIZE, 4 - small.bytes);
            self.slow_if(When::Below);
            self.asm.broadcast(LAST, SIZE);
        }
        self.asm.v(op::VPMINUD, NEAREST, index, LAST);
        self.asm.v(op::VPSUBD, BEFORE, index, NEAREST);
        self.asm.shift(ShiftBy::left(false), BEFORE, BEFORE, 3);
        self.asm.v(op::VPXORD, DATA, DATA, DATA);
        self.gather(chunk, NEAREST, 0);
        self.asm.v(op::VPSRLVD, DATA, DATA, BEFORE);
        let unused = (32 - 8 * small.bytes) as u8;
        self.asm.shift(ShiftBy::left(false), DATA, DATA, unused);
        let back = if small.signed { ShiftBy::right_signed(false) } else { ShiftBy::right(false) };
        self.asm.shift(back, DATA, DATA, unused);
        self.merge_half(small, register);
        self.asm.v1(op::VMOVDQA32, OLD, Rm::Mem(register));
        self.asm.merge(op::VMOVDQA32, OLD, Stub::active(chunk), DATA);
        self.asm.store(register, OLD);
    }

    /// Stores the active lanes one after the other, wherever they are: there is no instruction that scatters less than a
    /// dword.
    pub(super) fn scatter_small(&mut self, small: Small) {
        self.asm.sub(Gpr::Rsp, ROW);
        self.asm.mov(INDICES, Gpr::Rsp);
        for chunk in 0..COUNT {
            self.asm.store_unaligned(Mem::At(INDICES, CHUNK * chunk), Stub::index(chunk));
        }
        // Both halves may have been written apart and just now.
        self.asm.load32(REST, WAVE, EXEC);
        self.asm.load32(VALUE, WAVE, EXEC + 4);
        self.asm.shift_left(VALUE, 32);
        self.asm.or_register(REST, VALUE);
        let none = self.asm.jump(When::Zero);
        // All ones and one more are zero.
        self.asm.mov(LANE, REST);
        self.asm.add(LANE, 1);
        let all = self.asm.jump(When::Zero);
        let top = self.asm.here();
        self.asm.lowest_one64(LANE, REST);
        self.store_lane(small, 0);
        self.asm.clear_lowest_one(REST);
        self.asm.jump_back(When::NotZero, top);
        let done = self.asm.jump_always();
        self.asm.bind(all);
        let top = self.asm.here();
        for lane in 0..AT_ONCE {
            self.store_lane(small, lane);
        }
        self.asm.add(LANE, AT_ONCE);
        self.asm.compare32(LANE, 64);
        self.asm.jump_back(When::NotZero, top);
        self.asm.bind(none);
        self.asm.bind(done);
        self.asm.add(Gpr::Rsp, ROW);
    }

    /// Stores the lane so many behind `LANE`.
    fn store_lane(&mut self, small: Small, further: i32) {
        self.asm.load32_of(PLACE, INDICES, LANE, 4 * further);
        self.asm.load32_of(VALUE, WAVE, LANE, row(self.access.data) + 4 * further);
        if small.half == Some(Half::High) {
            self.asm.shift_right(VALUE, 16);
        }
        self.asm.store_small(small.bytes, ORIGIN, PLACE, VALUE);
    }

    /// Of a load to one half, puts the data there and the other half beside it.
    fn merge_half(&mut self, small: Small, register: Mem) {
        let Some(half) = small.half else { return };
        if half == Half::High {
            self.asm.shift(ShiftBy::left(false), DATA, DATA, 16);
        }
        let bits: u32 = if half == Half::High { 0xffff_0000 } else { 0xffff };
        let bits = self.asm.constant(&bits.to_le_bytes());
        self.asm.v1(op::VPBROADCASTD, PART, Rm::Mem(bits));
        self.asm.v1(op::VMOVDQA32, OLD, Rm::Mem(register));
        self.asm.vi(op::VPTERNLOGD, PART, DATA, OLD, SELECT);
        self.asm.v1(op::VMOVDQA32, DATA, PART);
    }
}
