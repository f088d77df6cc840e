//! Bytes and words: widened when they are loaded, cut when they are stored.

use super::lanes::{PLACE, VALUE};
use super::spread::{DATA, MOVING, ORIGIN};
use super::{CHUNK, COUNT, HIGH_HALF, LOW, SIZE, Stub, WAVE};
use crate::access::{Half, Origin, Small};
use crate::wide::asm::{Asm, Evex, Gpr, Mem, Rm, ShiftBy, When, Zmm, op};
use crate::wide::registers::row;

/// What the register holds.
const OLD: Zmm = Zmm(1);
/// The bits of the register that are replaced.
const PART: Zmm = Zmm(2);
/// The nearest index from which a whole dword can be loaded, how many bits of it come before the lane's, and the
/// greatest such index.
const NEAREST: Zmm = Zmm(3);
pub(super) const BEFORE: Zmm = Zmm(4);
const LAST: Zmm = Zmm(6);
/// Where all lanes load from.
const FROM: Gpr = Gpr::Rcx;
/// VPTERNLOGD: bits of the second where the first has ones, else of the third.
const SELECT: u8 = 0xca;

/// Loads bytes or words as dwords.
pub(in crate::wide) fn widen(small: Small) -> Evex {
    match (small.bytes, small.signed) {
        (1, false) => op::VPMOVZXBD,
        (1, true) => op::VPMOVSXBD,
        (_, false) => op::VPMOVZXWD,
        (_, true) => op::VPMOVSXWD,
    }
}

/// Stores dwords as bytes or words.
pub(in crate::wide) fn cut(small: Small) -> Evex {
    if small.bytes == 1 { op::VPMOVDB } else { op::VPMOVDW }
}

/// Finds from where the dwords with bytes or words are loaded if they must not be behind the last index for dwords, and
/// how many of their bits come before.
pub(in crate::wide) fn nearest(asm: &mut Asm, index: Zmm, last: Zmm, (nearest, before): (Zmm, Zmm)) {
    asm.v(op::VPMINUD, nearest, index, last);
    asm.v(op::VPSUBD, before, index, nearest);
    asm.shift(ShiftBy::left(false), before, before, 3);
}

/// Makes dwords the bytes or words in them, after so many bits.
pub(in crate::wide) fn pick(asm: &mut Asm, small: Small, data: Zmm, before: Zmm) {
    asm.v(op::VPSRLVD, data, data, before);
    let unused = (32 - 8 * small.bytes) as u8;
    asm.shift(ShiftBy::left(false), data, data, unused);
    let back = if small.signed { ShiftBy::right_signed(false) } else { ShiftBy::right(false) };
    asm.shift(back, data, data, unused);
}

impl Stub<'_> {
    /// Loads or stores sixteen lanes that are side by side.
    pub(super) fn small_run(&mut self, small: Small, chunk: i32, at: Mem) {
        let register = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk);
        if self.access.store {
            self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(register));
            if small.half == Some(Half::High) {
                self.asm.shift(ShiftBy::right(false), DATA, DATA, 16);
            }
            return self.asm.store_narrow(cut(small), at, DATA);
        }
        self.asm.v1(widen(small), DATA, Rm::Mem(at));
        self.merge_half(small, register);
        self.asm.store(register, DATA);
    }

    /// The case that the active lanes of a load have the same address, as those have that ask for a work-group's size.
    pub(super) fn one_address(&mut self, small: Small, origin: Origin) {
        // Mostly it is not so, and the ends tell already.
        let addresses = row(self.access.address);
        self.asm.load32(PLACE, WAVE, addresses);
        self.asm.load32(VALUE, WAVE, addresses + CHUNK * COUNT - 4);
        self.asm.compare_registers(PLACE, VALUE);
        self.other_if(When::NotZero);
        self.load_active();
        self.load_exec();
        self.other_if(When::Zero);
        if self.access.has_pairs() {
            self.compare_with_first(self.access.address + 1);
            self.other_if(When::NotZero);
            self.asm.broadcast(HIGH_HALF, PLACE);
        }
        self.compare_with_first(self.access.address);
        self.other_if(When::NotZero);
        self.asm.mov(FROM, PLACE);
        self.add_base(FROM, origin);
        self.asm.clear_register(LOW);
        self.check_span(FROM);
        self.asm.load_small(small.bytes, small.signed, VALUE, Mem::At(FROM, 0));
        for chunk in 0..COUNT {
            self.asm.broadcast(DATA, VALUE);
            self.write_active(small, chunk);
        }
        self.succeed();
    }

    /// Loads the active lanes of a chunk, wherever they are. Dwords that would end behind the allocation are loaded from
    /// where they end with it.
    pub(super) fn gather_small(&mut self, small: Small) {
        self.asm.sub(SIZE, 4 - small.bytes);
        self.slow_if(When::Below);
        self.asm.broadcast(LAST, SIZE);
        self.chunks_with_lanes(|stub, chunk| stub.gather_parts(small, chunk));
    }

    fn gather_parts(&mut self, small: Small, chunk: i32) {
        nearest(self.asm, Stub::index(chunk), LAST, (NEAREST, BEFORE));
        self.asm.v(op::VPXORD, DATA, DATA, DATA);
        self.gather(chunk, NEAREST, 0);
        self.write_small(small, chunk);
    }

    /// Writes what is in `DATA`'s dwords, after the bits before it, to the active lanes of a chunk.
    pub(super) fn write_small(&mut self, small: Small, chunk: i32) {
        pick(self.asm, small, DATA, BEFORE);
        self.write_active(small, chunk);
    }

    /// Writes `DATA` to the active lanes of a chunk.
    fn write_active(&mut self, small: Small, chunk: i32) {
        let register = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk);
        self.merge_half(small, register);
        self.asm.v1(op::VMOVDQA32, OLD, Rm::Mem(register));
        self.asm.merge(op::VMOVDQA32, OLD, Stub::active(chunk), DATA);
        self.asm.store(register, OLD);
    }

    /// Stores the active lanes one after the other, wherever they are: there is no instruction that scatters less than a
    /// dword.
    pub(super) fn scatter_small(&mut self, small: Small) {
        self.each_lane(|stub, further| {
            stub.load_lane(VALUE, stub.access.data, further);
            if small.half == Some(Half::High) {
                stub.asm.shift_right(VALUE, 16);
            }
            stub.asm.store_small(small.bytes, ORIGIN, PLACE, VALUE);
        });
    }

    /// Stores a byte or word of the active lanes' dwords at `ORIGIN`, after the bits before it. The bytes beside it may be
    /// another wave's, so they are not written.
    pub(super) fn store_bytes_of_row(&mut self, small: Small) {
        let bits: u32 = if small.bytes == 1 { 0xff } else { 0xffff };
        let bits = self.asm.constant(&bits.to_le_bytes());
        self.asm.v1(op::VPBROADCASTD, PART, Rm::Mem(bits));
        self.asm.v(op::VPSLLVD, PART, PART, BEFORE);
        for chunk in 0..COUNT {
            self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(Mem::At(WAVE, row(self.access.data) + CHUNK * chunk)));
            if small.half == Some(Half::High) {
                self.asm.shift(ShiftBy::right(false), DATA, DATA, 16);
            }
            self.asm.v(op::VPSLLVD, DATA, DATA, BEFORE);
            self.asm.signs_of_mask(OLD, Stub::active(chunk));
            self.asm.v(op::VPANDD, OLD, OLD, PART);
            self.asm.mask_of_byte_signs(MOVING, OLD);
            self.asm.store_bytes(Mem::At(ORIGIN, CHUNK * chunk), MOVING, DATA);
        }
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
