//! VEX instructions: the few on floats and vectors of 128 bits that scalar code has, and the form of all.

use super::{Encoder, Gpr, Mem, Rm};

/// Opcode maps and mandatory prefixes, in their encodings.
pub const M0F: u8 = 1;
/// See `M0F`.
pub const M0F38: u8 = 2;
/// See `M0F`.
pub const M0F3A: u8 = 3;
/// See `M0F`.
pub const NP: u8 = 0;
/// See `M0F`.
pub const P66: u8 = 1;
/// See `M0F`.
pub const PF3: u8 = 2;
/// See `M0F`.
pub const PF2: u8 = 3;
/// The width of elements, or of general registers: 32 bits.
pub const W0: bool = false;
/// And 64.
pub const W1: bool = true;

/// A vector register of 128 bits, 0 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xmm(pub u8);

/// Arithmetic on the lowest elements of vector registers, by opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Float {
    /// Of the second operand.
    Sqrt = 0x51,
    /// Sum.
    Add = 0x58,
    /// Product.
    Mul = 0x59,
    /// To the other width.
    Convert = 0x5a,
    /// Difference.
    Sub = 0x5c,
    /// The second if one of them is no number.
    Min = 0x5d,
    /// Quotient.
    Div = 0x5e,
}

/// A VEX instruction.
#[derive(Clone, Copy, Debug)]
pub struct Vex {
    /// Opcode map.
    pub map: u8,
    /// Mandatory prefix.
    pub prefix: u8,
    /// W.
    pub wide: bool,
    /// L.
    pub long: bool,
    /// Opcode.
    pub opcode: u8,
}

impl Vex {
    /// One on 128 bits, or on general registers.
    pub fn new(prefix: u8, map: u8, wide: bool, opcode: u8) -> Vex {
        Vex { map, prefix, wide, long: false, opcode }
    }
}

/// The prefix that stands for the width of floats in instructions on the lowest element.
fn scalar(double: bool) -> u8 {
    if double { PF2 } else { PF3 }
}

impl Encoder {
    /// A VEX instruction: result, first source, second source.
    pub fn vex(&mut self, op: Vex, reg: u8, first: u8, rm: Rm, imm: &[u8]) {
        let p0 = (reg >> 3 ^ 1) << 7 | 1 << 6 | (rm.register() >> 3 ^ 1) << 5 | op.map;
        let p1 = u8::from(op.wide) << 7 | (!first & 15) << 3 | u8::from(op.long) << 2 | op.prefix;
        self.code.extend([0xc4, p0, p1, op.opcode]);
        self.operand(reg, rm, 1, imm);
    }

    /// Loads a vector.
    pub fn load_vector(&mut self, to: Xmm, from: Mem) {
        self.vex(Vex::new(PF3, M0F, W0, 0x6f), to.0, 0, from.into(), &[]);
    }

    /// Stores a vector.
    pub fn store_vector(&mut self, to: Mem, from: Xmm) {
        self.vex(Vex::new(PF3, M0F, W0, 0x7f), from.0, 0, to.into(), &[]);
    }

    /// A register in all elements.
    pub fn splat(&mut self, wide: bool, to: Xmm, from: Gpr) {
        self.move_to_float(wide, to, from);
        self.vex(Vex::new(P66, M0F38, W0, if wide { 0x59 } else { 0x58 }), to.0, 0, Rm::Reg(to.0), &[]);
    }

    /// Arithmetic; what takes one operand takes the second.
    pub fn float(&mut self, op: Float, double: bool, to: Xmm, first: Xmm, second: Xmm) {
        self.vex(Vex::new(scalar(double), M0F, W0, op as u8), to.0, first.0, Rm::Reg(second.0), &[]);
    }

    /// Rounds to an integral value: to the nearest, down, up, towards zero.
    pub fn round(&mut self, double: bool, to: Xmm, from: Xmm, direction: u8) {
        let op = Vex::new(P66, M0F3A, W0, 0x0a + u8::from(double));
        self.vex(op, to.0, from.0, Rm::Reg(from.0), &[direction]);
    }

    /// Multiplies with the second and adds the third.
    pub fn multiply_add(&mut self, double: bool, to: Xmm, second: Xmm, third: Xmm) {
        self.vex(Vex::new(P66, M0F38, double, 0xa9), to.0, second.0, Rm::Reg(third.0), &[]);
    }

    /// A signed integer of 64 bits as a float.
    pub fn float_of_integer(&mut self, double: bool, to: Xmm, from: Gpr) {
        self.vex(Vex::new(scalar(double), M0F, W1, 0x2a), to.0, to.0, from.into(), &[]);
    }

    /// A float as a signed integer of 64 bits, towards zero; the least one if there is none.
    pub fn integer_of_float(&mut self, double: bool, to: Gpr, from: Xmm) {
        self.vex(Vex::new(scalar(double), M0F, W1, 0x2c), to as u8, 0, Rm::Reg(from.0), &[]);
    }

    /// Compares floats.
    pub fn compare_floats(&mut self, double: bool, first: Xmm, second: Xmm) {
        let prefix = if double { P66 } else { NP };
        self.vex(Vex::new(prefix, M0F, W0, 0x2e), first.0, 0, Rm::Reg(second.0), &[]);
    }

    /// Copies bits to the lowest element; the others become 0.
    pub fn move_to_float(&mut self, wide: bool, to: Xmm, from: Gpr) {
        self.vex(Vex::new(P66, M0F, wide, 0x6e), to.0, 0, from.into(), &[]);
    }

    /// Copies the bits of the lowest element.
    pub fn move_from_float(&mut self, wide: bool, to: Gpr, from: Xmm) {
        self.vex(Vex::new(P66, M0F, wide, 0x7e), from.0, 0, to.into(), &[]);
    }

    /// Copies a vector.
    pub fn copy_vector(&mut self, to: Xmm, from: Xmm) {
        self.vex(Vex::new(NP, M0F, W0, 0x28), to.0, 0, Rm::Reg(from.0), &[]);
    }
}
