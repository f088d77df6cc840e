//! An assembler for the instructions that segments are made of: AVX-512 on whole registers, and masks. Those on general
//! registers are [`crate::x64`]'s.
//!
//! Names and encodings are Intel's (Software Developer's Manual, volume 2, "EVEX"). An [`Evex`] row says what an
//! instruction is; operands are always result, first source, second source, and the second may be memory.
//!
//! In a segment, general registers have these uses; accesses use all as they like. RAX is the loop's counter, RDX the
//! segment's scalars. What a loop advances by a chunk: RDI the wave and RSI the frame, in chunks of dwords, RCX the frame, in
//! chunks of quadwords, R8 the scalars, in chunks of mask bits, R9 the lanes' numbers. R10 has the bits of the segment's
//! first mask, turned so that the chunk's come lowest; R11 is free within a chunk. RBX and RBP a called function must
//! keep, so what calls others keeps things there.

use super::evex::Tuple;
use crate::x64::vex::{M0F, M0F3A, M0F38, NP, P66, Vex, W0, W1};
use crate::x64::{self, Encoder};
use std::ops::{Deref, DerefMut};

pub use super::evex::{Evex, op, predicate};
pub use crate::x64::{Gpr, Jump, Mem, When};

/// A 512-bit vector register, 0 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zmm(pub u8);

/// A mask register, 0 to 7. K0 as the mask of an operation means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct K(pub u8);

impl Gpr {
    /// Bytes of a chunk where the register points to.
    pub fn chunk(self) -> i32 {
        match self {
            Gpr::Rdi | Gpr::Rsi | Gpr::R9 => 64,
            Gpr::Rcx => 128,
            Gpr::R8 => 2,
            _ => 0,
        }
    }
}

/// The operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// As many bytes as the instruction takes.
    Mem(Mem),
    /// One element for all lanes.
    Broadcast(Mem),
}

impl From<Zmm> for Rm {
    fn from(zmm: Zmm) -> Rm {
        Rm::Reg(zmm.0)
    }
}

/// A VEX instruction that moves or tests 16 bits of masks.
fn kmovw(opcode: u8) -> Vex {
    Vex::new(NP, M0F, W0, opcode)
}

/// Shifts by a constant: the extension of the opcode stands for the result's place, and the result for the first
/// source's.
#[derive(Clone, Copy, Debug)]
pub struct ShiftBy {
    wide: bool,
    opcode: u8,
    extension: u8,
}

impl ShiftBy {
    /// Left.
    pub fn left(wide: bool) -> ShiftBy {
        ShiftBy { wide, opcode: if wide { 0x73 } else { 0x72 }, extension: 6 }
    }

    /// Logical right.
    pub fn right(wide: bool) -> ShiftBy {
        ShiftBy { wide, opcode: if wide { 0x73 } else { 0x72 }, extension: 2 }
    }

    /// Right, and what leaves there comes back on the left.
    pub fn rotate_right(wide: bool) -> ShiftBy {
        ShiftBy { wide, opcode: 0x72, extension: 0 }
    }

    /// Arithmetic right.
    pub fn right_signed(wide: bool) -> ShiftBy {
        ShiftBy { wide, opcode: 0x72, extension: 4 }
    }
}

/// Operations on 16-bit masks: result, first source, second source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOp {
    /// Both.
    And = 0x41,
    /// Not the first, and the second.
    Andn = 0x42,
    /// Either.
    Or = 0x45,
    /// Equal.
    Xnor = 0x46,
    /// Different.
    Xor = 0x47,
    /// The first's low byte above the second's.
    Unpack = 0x4b,
}

/// Code and constants that grow.
#[derive(Default)]
pub struct Asm {
    encoder: Encoder,
    /// Where the lanes' offsets by so many bytes are.
    ramps: [Option<Mem>; 17],
    /// The function that makes rare calls, if there is one (see [`super::rare`]).
    pub rare_call: Option<usize>,
}

/// Instructions on general registers, jumps, constants.
impl Deref for Asm {
    type Target = Encoder;

    fn deref(&self) -> &Encoder {
        &self.encoder
    }
}

impl DerefMut for Asm {
    fn deref_mut(&mut self) -> &mut Encoder {
        &mut self.encoder
    }
}

impl Asm {
    /// Nothing yet.
    pub fn new() -> Asm {
        Asm::default()
    }

    /// The offsets of a wave's lanes that are `step` bytes apart, at most sixteen, in the pool.
    pub fn ramp(&mut self, step: u32) -> Mem {
        if let Some(known) = self.ramps[step as usize] {
            return known;
        }
        let ramp = self.constant(&dwords(64, |lane| step * lane));
        self.ramps[step as usize] = Some(ramp);
        ramp
    }

    /// The numbers of all lanes, in the pool.
    pub fn lane_numbers(&mut self) -> Mem {
        self.ramp(1)
    }

    /// Code, padding, pool.
    pub fn finish(self) -> Vec<u8> {
        self.encoder.finish()
    }

    /// An instruction on vectors.
    pub fn v(&mut self, op: Evex, result: Zmm, first: Zmm, second: impl Into<Rm>) {
        self.evex(op, result.0, first.0, second.into(), K(0), false, None);
    }

    /// An instruction on one vector.
    pub fn v1(&mut self, op: Evex, result: Zmm, source: impl Into<Rm>) {
        self.evex(op, result.0, 0, source.into(), K(0), false, None);
    }

    /// An instruction on one vector, with an immediate.
    pub fn v1i(&mut self, op: Evex, result: Zmm, source: impl Into<Rm>, imm: u8) {
        self.evex(op, result.0, 0, source.into(), K(0), false, Some(imm));
    }

    /// An instruction on two vectors, with an immediate.
    pub fn vi(&mut self, op: Evex, result: Zmm, first: Zmm, second: impl Into<Rm>, imm: u8) {
        self.evex(op, result.0, first.0, second.into(), K(0), false, Some(imm));
    }

    /// An instruction on two vectors, with an immediate, that keeps the result's lanes outside of the mask.
    pub fn merge_vi(&mut self, op: Evex, result: Zmm, mask: K, first: Zmm, second: impl Into<Rm>, imm: u8) {
        self.evex(op, result.0, first.0, second.into(), mask, false, Some(imm));
    }

    /// A blend: lanes of the mask from the second source, others from the first.
    pub fn blend(&mut self, op: Evex, result: Zmm, mask: K, first: Zmm, second: impl Into<Rm>) {
        self.evex(op, result.0, first.0, second.into(), mask, false, None);
    }

    /// An instruction on one vector that keeps the result's lanes outside of the mask.
    pub fn merge(&mut self, op: Evex, result: Zmm, mask: K, source: impl Into<Rm>) {
        self.evex(op, result.0, 0, source.into(), mask, false, None);
    }

    /// An instruction on two vectors that keeps the result's lanes outside of the mask.
    pub fn merge2(&mut self, op: Evex, result: Zmm, mask: K, first: Zmm, second: impl Into<Rm>) {
        self.evex(op, result.0, first.0, second.into(), mask, false, None);
    }

    /// An instruction on one vector that clears lanes outside of the mask.
    pub fn clear(&mut self, op: Evex, result: Zmm, mask: K, source: impl Into<Rm>) {
        self.evex(op, result.0, 0, source.into(), mask, true, None);
    }

    /// An instruction on two vectors that clears lanes outside of the mask.
    pub fn clear2(&mut self, op: Evex, result: Zmm, mask: K, first: Zmm, second: impl Into<Rm>) {
        self.evex(op, result.0, first.0, second.into(), mask, true, None);
    }

    /// A comparison: the result is a mask.
    pub fn compare(&mut self, op: Evex, result: K, first: Zmm, second: impl Into<Rm>, predicate: u8) {
        self.evex(op, result.0, first.0, second.into(), K(0), false, Some(predicate));
    }

    /// A comparison of the lanes of a mask; others are false.
    pub fn compare_in(&mut self, op: Evex, result: K, mask: K, first: Zmm, second: impl Into<Rm>, predicate: u8) {
        self.evex(op, result.0, first.0, second.into(), mask, false, Some(predicate));
    }

    /// The dwords of the mask's lanes side by side, then zeros.
    pub fn compress(&mut self, result: Zmm, mask: K, source: Zmm) {
        self.evex(op::VPCOMPRESSD, source.0, 0, result.into(), mask, true, None);
    }

    /// The lanes that are not zero.
    pub fn non_zero(&mut self, result: K, source: Zmm) {
        self.evex(op::VPTESTMD, result.0, source.0, source.into(), K(0), false, None);
    }

    /// The quadwords that are not zero.
    pub fn non_zero64(&mut self, result: K, source: Zmm) {
        self.evex(op::VPTESTMQ, result.0, source.0, source.into(), K(0), false, None);
    }

    /// Lanes' sign bits as a mask, and back.
    pub fn mask_of_signs(&mut self, result: K, source: Zmm) {
        self.evex(op::VPMOVD2M, result.0, 0, source.into(), K(0), false, None);
    }

    /// The sign bits of 64 bytes as a mask.
    pub fn mask_of_byte_signs(&mut self, result: K, source: Zmm) {
        self.evex(op::VPMOVB2M, result.0, 0, source.into(), K(0), false, None);
    }

    /// See [`Asm::mask_of_signs`].
    pub fn signs_of_mask(&mut self, result: Zmm, source: K) {
        self.evex(op::VPMOVM2D, result.0, 0, Rm::Reg(source.0), K(0), false, None);
    }

    /// The upper 32 bytes, to the lower ones of the result.
    pub fn upper(&mut self, result: Zmm, source: Zmm) {
        self.evex(op::VEXTRACTI64X4, source.0, 0, result.into(), K(0), false, Some(1));
    }

    /// The first source with the second one's lower 32 bytes as its upper ones.
    pub fn join(&mut self, result: Zmm, low: Zmm, high: Zmm) {
        self.vi(op::VINSERTI64X4, result, low, high, 1);
    }

    /// A conversion to elements of half the width, to the lower 32 bytes.
    pub fn narrow(&mut self, op: Evex, result: Zmm, source: Zmm, imm: Option<u8>) {
        self.evex(op, source.0, 0, result.into(), K(0), false, imm);
    }

    /// Stores 64 bytes.
    pub fn store(&mut self, to: Mem, from: Zmm) {
        self.evex(op::VMOVDQA32_STORE, from.0, 0, Rm::Mem(to), K(0), false, None);
    }

    /// Stores 64 bytes anywhere.
    pub fn store_unaligned(&mut self, to: Mem, from: Zmm) {
        self.evex(op::VMOVDQU32_STORE, from.0, 0, Rm::Mem(to), K(0), false, None);
    }

    /// Stores a quarter of a register, 16 bytes, anywhere.
    pub fn store_quarter(&mut self, to: Mem, from: Zmm, quarter: u8) {
        self.evex(op::VEXTRACTI32X4_STORE, from.0, 0, Rm::Mem(to), K(0), false, Some(quarter));
    }

    /// Stores the dwords of the mask's lanes anywhere.
    pub fn store_lanes(&mut self, to: Mem, mask: K, from: Zmm) {
        self.evex(op::VMOVDQU32_STORE, from.0, 0, Rm::Mem(to), mask, false, None);
    }

    /// Stores the bytes of a mask of 64 anywhere.
    pub fn store_bytes(&mut self, to: Mem, mask: K, from: Zmm) {
        self.evex(op::VMOVDQU8_STORE, from.0, 0, Rm::Mem(to), mask, false, None);
    }

    /// Stores elements as ones of less bits, side by side.
    pub fn store_narrow(&mut self, op: Evex, to: Mem, from: Zmm) {
        self.store_narrow_lanes(op, to, K(0), from);
    }

    /// The same of lanes of a mask.
    pub fn store_narrow_lanes(&mut self, op: Evex, to: Mem, mask: K, from: Zmm) {
        self.evex(op, from.0, 0, Rm::Mem(to), mask, false, None);
    }

    /// Lanes of a mask that have any of some bits.
    pub fn test_in(&mut self, result: K, mask: K, first: Zmm, bits: impl Into<Rm>) {
        self.evex(op::VPTESTMD, result.0, first.0, bits.into(), mask, false, None);
    }

    /// The low dword of a general register in all lanes.
    pub fn broadcast(&mut self, to: Zmm, from: Gpr) {
        let row = Evex { map: M0F38, prefix: P66, wide: W0, opcode: 0x7c, tuple: Tuple::One };
        self.evex(row, to.0, 0, Rm::Reg(from as u8), K(0), false, None);
    }

    /// A general register in all quadwords.
    pub fn broadcast64(&mut self, to: Zmm, from: Gpr) {
        let row = Evex { map: M0F38, prefix: P66, wide: W1, opcode: 0x7c, tuple: Tuple::One };
        self.evex(row, to.0, 0, Rm::Reg(from as u8), K(0), false, None);
    }

    /// Loads a dword for each lane of a mask, which is cleared, from an address plus the lane's signed index.
    pub fn gather(&mut self, to: Zmm, mask: K, base: Gpr, index: Zmm, offset: i32) {
        self.indexed(W0, 0x90, to, mask, (base, index, offset));
    }

    /// Stores a dword for each lane of a mask, which is cleared, to an address plus the lane's signed index.
    pub fn scatter(&mut self, mask: K, base: Gpr, index: Zmm, from: Zmm) {
        self.indexed(W0, 0xa0, from, mask, (base, index, 0));
    }

    /// The same with eight quadwords.
    pub fn scatter_pairs(&mut self, mask: K, base: Gpr, index: Zmm, from: Zmm) {
        self.indexed(W1, 0xa0, from, mask, (base, index, 0));
    }

    /// An instruction on memory that is found by the dwords of a vector, with an offset of 32 bits.
    fn indexed(&mut self, wide: bool, opcode: u8, data: Zmm, mask: K, (base, index, offset): (Gpr, Zmm, i32)) {
        let (data, index, base) = (data.0, index.0, base as u8);
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let p0 = inverted(data >> 3, 7) | inverted(index >> 3, 6) | inverted(base >> 3, 5) | inverted(data >> 4, 4);
        let p1 = u8::from(wide) << 7 | 15 << 3 | 1 << 2 | P66;
        let p2 = 2 << 5 | inverted(index >> 4, 3) | mask.0;
        self.code.extend([0x62, p0 | M0F38, p1, p2, opcode, 0x84 | (data & 7) << 3, (index & 7) << 3 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Copies the lowest dword.
    pub fn low_dword(&mut self, to: Gpr, from: Zmm) {
        let (to, from) = (to as u8, from.0);
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let p0 = inverted(from >> 3, 7) | 1 << 6 | inverted(to >> 3, 5) | inverted(from >> 4, 4) | M0F;
        self.code.extend([0x62, p0, 15 << 3 | 1 << 2 | P66, 1 << 3, 0x7e, 0xc0 | (from & 7) << 3 | to & 7]);
    }

    /// A shift by a constant.
    pub fn shift(&mut self, op: ShiftBy, result: Zmm, source: impl Into<Rm>, by: u8) {
        let row = Evex { map: M0F, prefix: P66, wide: op.wide, opcode: op.opcode, tuple: Tuple::Full };
        self.evex(row, op.extension, result.0, source.into(), K(0), false, Some(by));
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of an encoding")]
    fn evex(&mut self, op: Evex, reg: u8, first: u8, rm: Rm, mask: K, zero: bool, imm: Option<u8>) {
        let (rm, broadcast) = match rm {
            Rm::Reg(register) => (x64::Rm::Reg(register), false),
            Rm::Mem(mem) => (mem.into(), false),
            Rm::Broadcast(mem) => (mem.into(), true),
        };
        let (x, b) = (rm.register() >> 4 & 1, rm.register() >> 3 & 1);
        let inverted = |bit: u8, place: u8| (bit ^ 1) << place;
        let p0 = inverted(reg >> 3 & 1, 7) | inverted(x, 6) | inverted(b, 5) | inverted(reg >> 4 & 1, 4) | op.map;
        let p1 = u8::from(op.wide) << 7 | (!first & 15) << 3 | 1 << 2 | op.prefix;
        let p2 = u8::from(zero) << 7 | 2 << 5 | u8::from(broadcast) << 4 | inverted(first >> 4 & 1, 3) | mask.0;
        self.code.extend([0x62, p0, p1, p2, op.opcode]);
        let element = if op.wide { 8 } else { 4 };
        let unit = match op.tuple {
            Tuple::Full if !broadcast => 64,
            Tuple::Half if !broadcast => 32,
            Tuple::Quarter if !broadcast => 16,
            _ => element,
        };
        self.operand(reg, rm, unit, imm.as_slice());
    }

    /// Combines masks.
    pub fn k(&mut self, op: MaskOp, result: K, first: K, second: K) {
        let prefix = if op == MaskOp::Unpack { P66 } else { NP };
        let row = Vex { map: M0F, prefix, wide: W0, long: true, opcode: op as u8 };
        self.vex(row, result.0, first.0, x64::Rm::Reg(second.0), &[]);
    }

    /// The mask's upper byte as the lower one.
    pub fn k_upper(&mut self, result: K, source: K) {
        let kshiftrw = Vex { map: M0F3A, prefix: P66, wide: W1, long: false, opcode: 0x30 };
        self.vex(kshiftrw, result.0, 0, x64::Rm::Reg(source.0), &[8]);
    }

    /// Loads 16 bits.
    pub fn k_load(&mut self, result: K, from: Mem) {
        self.vex(kmovw(0x90), result.0, 0, from.into(), &[]);
    }

    /// Stores 16 bits.
    pub fn k_store(&mut self, to: Mem, from: K) {
        self.vex(kmovw(0x91), from.0, 0, to.into(), &[]);
    }

    /// Copies 16 bits to a general register; the upper ones become 0.
    pub fn k_read(&mut self, to: Gpr, from: K) {
        self.vex(kmovw(0x93), to as u8, 0, x64::Rm::Reg(from.0), &[]);
    }

    /// Copies the low 16 bits of a general register.
    pub fn k_write(&mut self, to: K, from: Gpr) {
        self.vex(kmovw(0x92), to.0, 0, from.into(), &[]);
    }

    /// Compares 16 bits with zero.
    pub fn k_test(&mut self, mask: K) {
        self.vex(kmovw(0x98), mask.0, 0, x64::Rm::Reg(mask.0), &[]);
    }

    /// Leaves the function; what was in the registers' upper parts is forgotten.
    pub fn ret(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }
}

/// So many dwords in memory.
pub fn dwords(count: u32, dword: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * count as usize);
    for i in 0..count {
        bytes.extend_from_slice(&dword(i).to_le_bytes());
    }
    bytes
}
