//! An assembler for the instructions that segments are made of: AVX-512 on whole registers, masks, and the frame of
//! a loop.
//!
//! Names and encodings are Intel's (Software Developer's Manual, volume 2, "EVEX"). An [`Evex`] row says what an
//! instruction is; operands are always result, first source, second source, and the second may be memory. Constants
//! live in a pool behind the code and are found relative to the instruction pointer.

mod integer;

use super::evex::{M0F, M0F3A, M0F38, NP, P66, Tuple, W0, W1};
use rustc_hash::FxHashMap as HashMap;

pub use super::evex::{Evex, op};

/// A 512-bit vector register, 0 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zmm(pub u8);

/// A mask register, 0 to 7. K0 as the mask of an operation means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct K(pub u8);

/// The general registers in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpr {
    /// The loop's counter.
    Rax = 0,
    /// The frame, in chunks of quadwords.
    Rcx = 1,
    /// The segment's scalars.
    Rdx = 2,
    /// The frame, in chunks of dwords.
    Rsi = 6,
    /// The wave, in chunks of dwords.
    Rdi = 7,
    /// The segment's scalars, in chunks of mask bits.
    R8 = 8,
    /// The lanes' numbers, in chunks of dwords.
    R9 = 9,
    /// The bits of the segment's first mask, turned so that the chunk's come lowest. Accesses use all registers as they
    /// like.
    R10 = 10,
    /// Free within a chunk.
    R11 = 11,
    /// The stack. It is no base of addresses.
    Rsp = 4,
    /// These two a called function must keep, so what calls others keeps things there.
    Rbx = 3,
    /// See `Rbx`.
    Rbp = 5,
}

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

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mem {
    /// Register plus offset.
    At(Gpr, i32),
    /// Offset in the pool.
    Pool(usize),
}

impl Mem {
    /// So many bytes further on.
    pub fn further(self, bytes: i32) -> Mem {
        match self {
            Mem::At(base, offset) => Mem::At(base, offset + bytes),
            Mem::Pool(at) => Mem::Pool(at + bytes as usize),
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

/// A VEX instruction on masks.
#[derive(Clone, Copy, Debug)]
struct Vex {
    map: u8,
    prefix: u8,
    wide: bool,
    long: bool,
    opcode: u8,
}

impl Vex {
    fn kmovw(opcode: u8) -> Vex {
        Vex { map: M0F, prefix: NP, wide: W0, long: false, opcode }
    }
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

/// A place in the code to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// A jump whose target is not known yet.
#[derive(Clone, Copy, Debug)]
#[must_use = "it has to be bound"]
pub struct Jump(usize);

/// When to jump: on the flags of the last comparison or decrement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Equal, or zero.
    Zero = 0x84,
    /// Not equal, or not zero.
    NotZero = 0x85,
    /// Unsigned less, or with a carry.
    Below = 0x82,
    /// Unsigned greater.
    Above = 0x87,
}

/// A 32-bit offset to something in the pool.
struct PoolUse {
    /// Where it is.
    at: usize,
    /// Where the instruction ends, which the offset is relative to.
    end: usize,
    /// The offset in the pool.
    pool: usize,
}

/// Code and constants that grow.
#[derive(Default)]
pub struct Asm {
    code: Vec<u8>,
    pool: Vec<u8>,
    constants: HashMap<Vec<u8>, usize>,
    /// Where the lanes' offsets by so many bytes are.
    ramps: [Option<Mem>; 17],
    uses: Vec<PoolUse>,
    /// The function that makes rare calls, if there is one (see [`super::rare`]).
    pub rare_call: Option<usize>,
}

impl Asm {
    /// Nothing yet.
    pub fn new() -> Asm {
        Asm::default()
    }

    /// Here.
    pub fn here(&self) -> Label {
        Label(self.code.len())
    }

    /// Starts a function; the result is its offset in the code.
    pub fn function(&mut self) -> usize {
        while !self.code.len().is_multiple_of(32) {
            self.code.push(0xcc);
        }
        self.code.len()
    }

    /// The constant's place in the pool; `bytes` is a power of two long, which it is aligned to.
    pub fn constant(&mut self, bytes: &[u8]) -> Mem {
        if let Some(known) = self.constants.get(bytes) {
            return Mem::Pool(*known);
        }
        self.pool.resize(self.pool.len().next_multiple_of(bytes.len()), 0);
        let at = self.pool.len();
        self.pool.extend_from_slice(bytes);
        self.constants.insert(bytes.to_vec(), at);
        Mem::Pool(at)
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
    pub fn finish(mut self) -> Vec<u8> {
        let base = self.code.len().next_multiple_of(64);
        for use_ in &self.uses {
            let offset = (base + use_.pool) as i64 - use_.end as i64;
            self.code[use_.at..use_.at + 4].copy_from_slice(&(offset as i32).to_le_bytes());
        }
        self.code.resize(base, 0xcc);
        self.code.extend_from_slice(&self.pool);
        self.code
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

    /// Lanes' sign bits as a mask, and back.
    pub fn mask_of_signs(&mut self, result: K, source: Zmm) {
        self.evex(op::VPMOVD2M, result.0, 0, source.into(), K(0), false, None);
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

    /// Stores the dwords of the mask's lanes anywhere.
    pub fn store_lanes(&mut self, to: Mem, mask: K, from: Zmm) {
        self.evex(op::VMOVDQU32_STORE, from.0, 0, Rm::Mem(to), mask, false, None);
    }

    /// Stores elements as ones of less bits, side by side.
    pub fn store_narrow(&mut self, op: Evex, to: Mem, from: Zmm) {
        self.evex(op, from.0, 0, Rm::Mem(to), K(0), false, None);
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
        let (x, b) = match rm {
            Rm::Reg(register) => (register >> 4 & 1, register >> 3 & 1),
            Rm::Mem(mem) | Rm::Broadcast(mem) => (0, base(mem) >> 3),
        };
        let broadcast = matches!(rm, Rm::Broadcast(_));
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
        self.modrm(reg & 7, rm, unit, imm);
    }

    /// The operand byte, the address, and the immediate. Short offsets count in units.
    fn modrm(&mut self, reg: u8, rm: Rm, unit: i32, imm: Option<u8>) {
        let reg = reg << 3;
        match rm {
            Rm::Reg(register) => self.code.push(0xc0 | reg | register & 7),
            Rm::Mem(Mem::At(base, offset)) | Rm::Broadcast(Mem::At(base, offset)) => {
                let base = base as u8 & 7;
                match i8::try_from(offset / unit) {
                    Ok(short) if offset % unit == 0 => self.code.extend([0x40 | reg | base, short as u8]),
                    _ => {
                        self.code.push(0x80 | reg | base);
                        self.code.extend(offset.to_le_bytes());
                    }
                }
            }
            Rm::Mem(Mem::Pool(pool)) | Rm::Broadcast(Mem::Pool(pool)) => {
                self.code.push(5 | reg);
                let at = self.code.len();
                self.code.extend([0; 4]);
                let end = self.code.len() + usize::from(imm.is_some());
                self.uses.push(PoolUse { at, end, pool });
            }
        }
        self.code.extend(imm);
    }

    /// A VEX instruction on masks.
    fn vex(&mut self, op: Vex, reg: u8, first: u8, rm: Rm, imm: Option<u8>) {
        let b = match rm {
            Rm::Reg(_) => 0,
            Rm::Mem(mem) | Rm::Broadcast(mem) => base(mem) >> 3,
        };
        let p0 = 1 << 7 | 1 << 6 | (b ^ 1) << 5 | op.map;
        let p1 = u8::from(op.wide) << 7 | (!first & 15) << 3 | u8::from(op.long) << 2 | op.prefix;
        self.code.extend([0xc4, p0, p1, op.opcode]);
        self.modrm(reg, rm, 1, imm);
    }

    /// Combines masks.
    pub fn k(&mut self, op: MaskOp, result: K, first: K, second: K) {
        let prefix = if op == MaskOp::Unpack { P66 } else { NP };
        let row = Vex { map: M0F, prefix, wide: W0, long: true, opcode: op as u8 };
        self.vex(row, result.0, first.0, Rm::Reg(second.0), None);
    }

    /// The mask's upper byte as the lower one.
    pub fn k_upper(&mut self, result: K, source: K) {
        let kshiftrw = Vex { map: M0F3A, prefix: P66, wide: W1, long: false, opcode: 0x30 };
        self.vex(kshiftrw, result.0, 0, Rm::Reg(source.0), Some(8));
    }

    /// Loads 16 bits.
    pub fn k_load(&mut self, result: K, from: Mem) {
        self.vex(Vex::kmovw(0x90), result.0, 0, Rm::Mem(from), None);
    }

    /// Stores 16 bits.
    pub fn k_store(&mut self, to: Mem, from: K) {
        self.vex(Vex::kmovw(0x91), from.0, 0, Rm::Mem(to), None);
    }

    /// Copies 16 bits to a general register; the upper ones become 0.
    pub fn k_read(&mut self, to: Gpr, from: K) {
        let to = to as u8;
        let op = Vex::kmovw(0x93);
        let p0 = u8::from(to < 8) << 7 | 1 << 6 | 1 << 5 | op.map;
        self.code.extend([0xc4, p0, 15 << 3 | op.prefix, op.opcode, 0xc0 | (to & 7) << 3 | from.0]);
    }

    /// Copies the low 16 bits of one of the first eight general registers.
    pub fn k_write(&mut self, to: K, from: Gpr) {
        debug_assert!((from as u8) < 8);
        self.vex(Vex::kmovw(0x92), to.0, 0, Rm::Reg(from as u8), None);
    }

    /// Compares 16 bits with zero.
    pub fn k_test(&mut self, mask: K) {
        self.vex(Vex::kmovw(0x98), mask.0, 0, Rm::Reg(mask.0), None);
    }

    /// Jumps to somewhere further on.
    pub fn jump(&mut self, when: When) -> Jump {
        self.code.extend([0x0f, when as u8, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Jumps to somewhere further on, always.
    pub fn jump_always(&mut self) -> Jump {
        self.code.extend([0xe9, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// The target of a jump is here.
    pub fn bind(&mut self, jump: Jump) {
        let offset = (self.code.len() - jump.0) as i32;
        self.code[jump.0 - 4..jump.0].copy_from_slice(&offset.to_le_bytes());
    }

    /// Jumps back.
    pub fn jump_back(&mut self, when: When, to: Label) {
        let end = self.code.len() + 6;
        self.code.extend([0x0f, when as u8]);
        self.code.extend((to.0 as i32 - end as i32).to_le_bytes());
    }

    /// Saves a register on the stack.
    pub fn push(&mut self, register: Gpr) {
        debug_assert!((register as u8) < 8);
        self.code.push(0x50 | register as u8);
    }

    /// Takes it back.
    pub fn pop(&mut self, register: Gpr) {
        debug_assert!((register as u8) < 8);
        self.code.push(0x58 | register as u8);
    }

    /// Calls a function that is there already.
    pub fn call(&mut self, function: usize) {
        let end = self.code.len() + 5;
        self.code.push(0xe8);
        self.code.extend((function as i32 - end as i32).to_le_bytes());
    }

    /// Loads a 64-bit constant.
    pub fn mov_imm64(&mut self, to: Gpr, value: u64) {
        let to = to as u8;
        self.code.extend([0x48 | to >> 3, 0xb8 | to & 7]);
        self.code.extend(value.to_le_bytes());
    }

    /// Goes on where a register says.
    pub fn jump_to(&mut self, register: Gpr) {
        debug_assert!((register as u8) < 8);
        self.code.extend([0xff, 0xe0 | register as u8]);
    }

    /// Calls the function whose address a register has.
    pub fn call_to(&mut self, register: Gpr) {
        debug_assert!((register as u8) < 8);
        self.code.extend([0xff, 0xd0 | register as u8]);
    }

    /// Leaves the function, which has not used vectors.
    pub fn ret_plain(&mut self) {
        self.code.push(0xc3);
    }

    /// Leaves the function; what was in the registers' upper parts is forgotten.
    pub fn ret(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }
}

/// The base register's number; addresses in the pool have none.
fn base(mem: Mem) -> u8 {
    match mem {
        Mem::At(base, _) => base as u8,
        Mem::Pool(_) => 0,
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
