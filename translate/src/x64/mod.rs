//! An assembler for x86-64: what the compiler of scalar code and the one of lanes have in common.
//!
//! Here are registers, operands, jumps, and the pool of constants behind the code, which are found relative to the
//! instruction pointer; [`integer`] has the instructions on general registers, [`vex`] the few on vectors that scalar code
//! needs. What AVX-512 has, the wider back end adds ([`crate::wide`]).
//!
//! Names and encodings are Intel's (Software Developer's Manual, volume 2). `wide` stands for 64 bits; narrow
//! instructions have 32, and clear the upper half of the register that they write.

mod integer;
#[cfg(test)]
pub mod tests;
pub mod vex;

pub use integer::{Alu, Count, Shift};
use rustc_hash::FxHashMap as HashMap;
pub use vex::{Float, Xmm};

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "Intel's names")]
pub enum Gpr {
    Rax,
    Rcx,
    Rdx,
    Rbx,
    Rsp,
    Rbp,
    Rsi,
    Rdi,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
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
    /// A register, by number.
    Reg(u8),
    /// As many bytes as the instruction takes.
    Mem(Mem),
}

impl Rm {
    /// The number of its register; addresses in the pool have none.
    pub fn register(self) -> u8 {
        match self {
            Rm::Reg(register) => register,
            Rm::Mem(Mem::At(base, _)) => base as u8,
            Rm::Mem(Mem::Pool(_)) => 0,
        }
    }
}

impl From<Gpr> for Rm {
    fn from(register: Gpr) -> Rm {
        Rm::Reg(register as u8)
    }
}

impl From<Mem> for Rm {
    fn from(mem: Mem) -> Rm {
        Rm::Mem(mem)
    }
}

/// Conditions on the flags of the last comparison, by the number that stands for them in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum When {
    /// Unsigned less, or with a carry.
    Below = 2,
    /// Unsigned.
    AboveEqual = 3,
    /// Equal, or zero.
    Zero = 4,
    /// Not equal, or not zero.
    NotZero = 5,
    /// Unsigned.
    BelowEqual = 6,
    /// Unsigned greater.
    Above = 7,
    /// Of floats: one is no number.
    Unordered = 10,
    /// The opposite.
    Ordered = 11,
    /// Signed.
    Less = 12,
    /// Signed.
    GreaterEqual = 13,
    /// Signed.
    LessEqual = 14,
    /// Signed.
    Greater = 15,
}

impl When {
    /// The opposite.
    pub fn not(self) -> When {
        match self {
            When::Below => When::AboveEqual,
            When::AboveEqual => When::Below,
            When::Zero => When::NotZero,
            When::NotZero => When::Zero,
            When::BelowEqual => When::Above,
            When::Above => When::BelowEqual,
            When::Unordered => When::Ordered,
            When::Ordered => When::Unordered,
            When::Less => When::GreaterEqual,
            When::GreaterEqual => When::Less,
            When::LessEqual => When::Greater,
            When::Greater => When::LessEqual,
        }
    }
}

/// A place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(usize);

impl Label {
    /// Bytes from the start of the code.
    pub fn offset(self) -> usize {
        self.0
    }
}

/// Where the 32 bits of a distance end, which counts from there: a jump or an address whose target is not known yet.
#[derive(Clone, Copy, Debug)]
#[must_use = "it has to be bound or linked"]
pub struct Jump(usize);

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
pub struct Encoder {
    /// The code.
    pub code: Vec<u8>,
    pool: Vec<u8>,
    constants: HashMap<Vec<u8>, usize>,
    uses: Vec<PoolUse>,
}

impl Encoder {
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

    /// The operand byte, the address, and an immediate. Short offsets count in units.
    pub fn operand(&mut self, reg: u8, rm: Rm, unit: i32, imm: &[u8]) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(register) => self.code.push(0xc0 | reg | register & 7),
            Rm::Mem(Mem::At(base, offset)) => {
                let low = base as u8 & 7;
                let short = i8::try_from(offset / unit).ok().filter(|_| offset % unit == 0);
                self.code.push(if short.is_some() { 0x40 } else { 0x80 } | reg | low);
                if low == Gpr::Rsp as u8 {
                    self.code.push(0x24);
                }
                match short {
                    Some(short) => self.code.push(short as u8),
                    None => self.code.extend(offset.to_le_bytes()),
                }
            }
            Rm::Mem(Mem::Pool(pool)) => {
                self.code.push(5 | reg);
                let at = self.code.len();
                self.code.extend([0; 4]);
                self.uses.push(PoolUse { at, end: at + 4 + imm.len(), pool });
            }
        }
        self.code.extend_from_slice(imm);
    }

    /// Jumps if a condition holds.
    pub fn jump(&mut self, when: When) -> Jump {
        self.code.extend([0x0f, 0x80 | when as u8, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Jumps always.
    pub fn jump_always(&mut self) -> Jump {
        self.code.extend([0xe9, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Jumps back if a condition holds.
    pub fn jump_back(&mut self, when: When, to: Label) {
        let jump = self.jump(when);
        self.link(jump, to);
    }

    /// Loads the address of a place in the code.
    pub fn address(&mut self, to: Gpr) -> Jump {
        self.code.extend([0x48 | to as u8 >> 3 << 2, 0x8d, 5 | (to as u8 & 7) << 3, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// The target of a jump is here.
    pub fn bind(&mut self, jump: Jump) {
        self.link(jump, self.here());
    }

    /// Lets a jump or an address lead to a place.
    pub fn link(&mut self, jump: Jump, target: Label) {
        let distance = (target.0 as i64 - jump.0 as i64) as i32;
        self.code[jump.0 - 4..jump.0].copy_from_slice(&distance.to_le_bytes());
    }
}
