//! An encoder for the host's instructions on general registers, and for the few on vectors that scalar code has.
//!
//! Names and encodings are Intel's (Software Developer's Manual, volume 2). `wide` stands for 64 bits; narrow
//! instructions have 32, and clear the upper half of the register that they write.

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reg {
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

/// A vector register of 128 bits, 0 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xmm(pub u8);

/// An address: a register and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem(pub Reg, pub i32);

/// The operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A register, by number.
    Reg(u8),
    /// As many bytes as the instruction takes.
    Mem(Mem),
}

impl From<Reg> for Rm {
    fn from(reg: Reg) -> Rm {
        Rm::Reg(reg as u8)
    }
}

impl From<Mem> for Rm {
    fn from(mem: Mem) -> Rm {
        Rm::Mem(mem)
    }
}

/// Arithmetic on a register and an operand, by the number that stands for it in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    /// Only flags.
    Cmp = 7,
}

/// Shifts by a constant, by extension of the opcode, and by a register, by prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Left,
    Right,
    RightSigned,
}

/// Arithmetic on the lowest elements of vector registers, by opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Float {
    Sqrt = 0x51,
    Add = 0x58,
    Mul = 0x59,
    /// To the other width.
    Convert = 0x5a,
    Sub = 0x5c,
    /// The second if one of them is no number.
    Min = 0x5d,
    Div = 0x5e,
}

/// Instructions that count bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Count {
    /// POPCNT.
    Ones = 0xb8,
    /// TZCNT.
    TrailingZeros = 0xbc,
    /// LZCNT.
    LeadingZeros = 0xbd,
}

/// Conditions on the flags of a comparison, by the number that stands for them in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum When {
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    /// Of floats: one is no number.
    Unordered = 10,
    Ordered = 11,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl When {
    /// The opposite.
    pub fn not(self) -> When {
        match self {
            When::Below => When::AboveEqual,
            When::AboveEqual => When::Below,
            When::Equal => When::NotEqual,
            When::NotEqual => When::Equal,
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

/// Where the 32 bits of a jump's distance are, which count from behind them.
#[derive(Clone, Copy, Debug)]
#[must_use = "it has to be linked"]
pub struct Link(usize);

/// Code that grows.
#[derive(Default)]
pub struct Encoder {
    /// What there is.
    pub bytes: Vec<u8>,
}

impl Encoder {
    /// An instruction with an operand byte. The prefix for 64 bits and the upper registers is left out where it says nothing,
    /// but for `byte` operations, where it makes the low bytes of all registers accessible.
    fn op(&mut self, wide: bool, byte: bool, opcode: &[u8], reg: u8, rm: Rm) {
        let base = match rm {
            Rm::Reg(register) => register,
            Rm::Mem(Mem(base, _)) => base as u8,
        };
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | base >> 3;
        if rex != 0x40 || byte {
            self.bytes.push(rex);
        }
        self.bytes.extend_from_slice(opcode);
        self.operand(reg, rm);
    }

    /// The operand byte and the address.
    fn operand(&mut self, reg: u8, rm: Rm) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(register) => self.bytes.push(0xc0 | reg | register & 7),
            Rm::Mem(Mem(base, offset)) => {
                let low = base as u8 & 7;
                let short = i8::try_from(offset);
                self.bytes.push(if short.is_ok() { 0x40 } else { 0x80 } | reg | low);
                if low == Reg::Rsp as u8 {
                    self.bytes.push(0x24);
                }
                match short {
                    Ok(short) => self.bytes.push(short as u8),
                    Err(_) => self.bytes.extend(offset.to_le_bytes()),
                }
            }
        }
    }

    /// Copies to a register.
    pub fn mov(&mut self, wide: bool, to: Reg, from: impl Into<Rm>) {
        self.op(wide, false, &[0x8b], to as u8, from.into());
    }

    /// Copies to memory.
    pub fn store(&mut self, wide: bool, to: Mem, from: Reg) {
        self.op(wide, false, &[0x89], from as u8, to.into());
    }

    /// Stores a constant, sign-extended if it is to be wide.
    pub fn store_imm(&mut self, wide: bool, to: Mem, value: i32) {
        self.op(wide, false, &[0xc7], 0, to.into());
        self.bytes.extend(value.to_le_bytes());
    }

    /// Loads a constant in the shortest way that leaves flags alone.
    pub fn mov_imm(&mut self, to: Reg, value: i64) {
        if let Ok(short) = u32::try_from(value) {
            self.short_op(false, 0xb8, to);
            self.bytes.extend(short.to_le_bytes());
        } else if let Ok(short) = i32::try_from(value) {
            self.op(true, false, &[0xc7], 0, to.into());
            self.bytes.extend(short.to_le_bytes());
        } else {
            self.short_op(true, 0xb8, to);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    /// An instruction that has its register in the opcode.
    fn short_op(&mut self, wide: bool, opcode: u8, reg: Reg) {
        let rex = 0x40 | u8::from(wide) << 3 | reg as u8 >> 3;
        if rex != 0x40 {
            self.bytes.push(rex);
        }
        self.bytes.push(opcode | reg as u8 & 7);
    }

    /// The address itself.
    pub fn lea(&mut self, wide: bool, to: Reg, mem: Mem) {
        self.op(wide, false, &[0x8d], to as u8, mem.into());
    }

    /// Arithmetic.
    pub fn alu(&mut self, op: Alu, wide: bool, to: Reg, from: impl Into<Rm>) {
        self.op(wide, false, &[(op as u8) << 3 | 3], to as u8, from.into());
    }

    /// Arithmetic with a constant.
    pub fn alu_imm(&mut self, op: Alu, wide: bool, to: impl Into<Rm>, value: i32) {
        let short = i8::try_from(value);
        self.op(wide, false, &[if short.is_ok() { 0x83 } else { 0x81 }], op as u8, to.into());
        match short {
            Ok(short) => self.bytes.push(short as u8),
            Err(_) => self.bytes.extend(value.to_le_bytes()),
        }
    }

    /// Compares a byte with 0.
    pub fn is_zero8(&mut self, rm: impl Into<Rm>) {
        self.op(false, true, &[0x80], Alu::Cmp as u8, rm.into());
        self.bytes.push(0);
    }

    /// Compares 64 bits.
    pub fn compare(&mut self, first: Reg, second: Reg) {
        self.alu(Alu::Cmp, true, first, second);
    }

    /// Turns the order of the lower four bytes round.
    pub fn swap_bytes(&mut self, register: Reg) {
        self.bytes.extend([0x40 | register as u8 >> 3, 0x0f, 0xc8 | register as u8 & 7]);
    }

    /// Multiplies; the product has as many bits as its factors.
    pub fn imul(&mut self, wide: bool, to: Reg, from: impl Into<Rm>) {
        self.op(wide, false, &[0x0f, 0xaf], to as u8, from.into());
    }

    /// Negates.
    pub fn neg(&mut self, wide: bool, register: Reg) {
        self.op(wide, false, &[0xf7], 3, register.into());
    }

    /// Shifts by a constant less than the width.
    pub fn shift_imm(&mut self, shift: Shift, wide: bool, register: Reg, by: u8) {
        let extension = match shift {
            Shift::Left => 4,
            Shift::Right => 5,
            Shift::RightSigned => 7,
        };
        self.op(wide, false, &[0xc1], extension, register.into());
        self.bytes.push(by);
    }

    /// Shifts by a register, modulo the width.
    pub fn shift(&mut self, shift: Shift, wide: bool, to: Reg, from: impl Into<Rm>, by: Reg) {
        let prefix = match shift {
            Shift::Left => 1,
            Shift::RightSigned => 2,
            Shift::Right => 3,
        };
        self.vex(prefix, 2, wide, 0xf7, to as u8, by as u8, from.into());
    }

    /// Counts bits.
    pub fn count(&mut self, count: Count, wide: bool, to: Reg, from: impl Into<Rm>) {
        self.bytes.push(0xf3);
        self.op(wide, false, &[0x0f, count as u8], to as u8, from.into());
    }

    /// Copies a byte, the rest of the register becomes 0.
    pub fn zero_extend8(&mut self, to: Reg, from: impl Into<Rm>) {
        self.op(false, true, &[0x0f, 0xb6], to as u8, from.into());
    }

    /// Copies 32 bits to 64 with their sign.
    pub fn sign_extend32(&mut self, to: Reg, from: impl Into<Rm>) {
        self.op(true, false, &[0x63], to as u8, from.into());
    }

    /// Sets a byte to whether a condition holds.
    pub fn set(&mut self, when: When, to: Reg) {
        self.op(false, true, &[0x0f, 0x90 | when as u8], 0, to.into());
    }

    /// Copies if a condition holds.
    pub fn mov_if(&mut self, when: When, wide: bool, to: Reg, from: impl Into<Rm>) {
        self.op(wide, false, &[0x0f, 0x40 | when as u8], to as u8, from.into());
    }

    /// A VEX instruction on 128 bits, or on general registers.
    #[allow(clippy::too_many_arguments, reason = "the fields of an encoding")]
    fn vex(&mut self, prefix: u8, map: u8, wide: bool, opcode: u8, reg: u8, first: u8, rm: Rm) {
        let base = match rm {
            Rm::Reg(register) => register,
            Rm::Mem(Mem(base, _)) => base as u8,
        };
        let p0 = (reg >> 3 ^ 1) << 7 | 1 << 6 | (base >> 3 ^ 1) << 5 | map;
        let p1 = u8::from(wide) << 7 | (!first & 15) << 3 | prefix;
        self.bytes.extend([0xc4, p0, p1, opcode]);
        self.operand(reg, rm);
    }

    /// Loads a vector.
    pub fn load_vector(&mut self, to: Xmm, from: Mem) {
        self.vex(2, 1, false, 0x6f, to.0, 0, from.into());
    }

    /// Stores a vector.
    pub fn store_vector(&mut self, to: Mem, from: Xmm) {
        self.vex(2, 1, false, 0x7f, from.0, 0, to.into());
    }

    /// A register in all elements.
    pub fn splat(&mut self, wide: bool, to: Xmm, from: Reg) {
        self.move_to_float(wide, to, from);
        self.vex(1, 2, false, if wide { 0x59 } else { 0x58 }, to.0, 0, Rm::Reg(to.0));
    }

    /// Arithmetic; what takes one operand takes the second.
    pub fn float(&mut self, op: Float, double: bool, to: Xmm, first: Xmm, second: Xmm) {
        self.vex(2 + u8::from(double), 1, false, op as u8, to.0, first.0, Rm::Reg(second.0));
    }

    /// Rounds to an integral value: to the nearest, down, up, towards zero.
    pub fn round(&mut self, double: bool, to: Xmm, from: Xmm, direction: u8) {
        self.vex(1, 3, false, 0x0a + u8::from(double), to.0, from.0, Rm::Reg(from.0));
        self.bytes.push(direction);
    }

    /// Multiplies with the second and adds the third.
    pub fn multiply_add(&mut self, double: bool, to: Xmm, second: Xmm, third: Xmm) {
        self.vex(1, 2, double, 0xa9, to.0, second.0, Rm::Reg(third.0));
    }

    /// A signed integer of 64 bits as a float.
    pub fn float_of_integer(&mut self, double: bool, to: Xmm, from: Reg) {
        self.vex(2 + u8::from(double), 1, true, 0x2a, to.0, to.0, from.into());
    }

    /// A float as a signed integer of 64 bits, towards zero; the least one if there is none.
    pub fn integer_of_float(&mut self, double: bool, to: Reg, from: Xmm) {
        self.vex(2 + u8::from(double), 1, true, 0x2c, to as u8, 0, Rm::Reg(from.0));
    }

    /// Compares floats.
    pub fn compare_floats(&mut self, double: bool, first: Xmm, second: Xmm) {
        self.vex(u8::from(double), 1, false, 0x2e, first.0, 0, Rm::Reg(second.0));
    }

    /// Copies bits to the lowest element; the others become 0.
    pub fn move_to_float(&mut self, wide: bool, to: Xmm, from: Reg) {
        self.vex(1, 1, wide, 0x6e, to.0, 0, from.into());
    }

    /// Copies the bits of the lowest element.
    pub fn move_from_float(&mut self, wide: bool, to: Reg, from: Xmm) {
        self.vex(1, 1, wide, 0x7e, from.0, 0, to.into());
    }

    /// Copies a vector.
    pub fn copy_vector(&mut self, to: Xmm, from: Xmm) {
        self.vex(0, 1, false, 0x28, to.0, 0, Rm::Reg(from.0));
    }

    /// Saves a register on the stack.
    pub fn push(&mut self, register: Reg) {
        self.short_op(false, 0x50, register);
    }

    /// Takes it back.
    pub fn pop(&mut self, register: Reg) {
        self.short_op(false, 0x58, register);
    }

    /// Calls the function whose address a register has.
    pub fn call(&mut self, register: Reg) {
        self.op(false, false, &[0xff], 2, register.into());
    }

    /// Goes on where a register says.
    pub fn jump_to(&mut self, register: Reg) {
        self.op(false, false, &[0xff], 4, register.into());
    }

    /// Returns.
    pub fn ret(&mut self) {
        self.bytes.push(0xc3);
    }

    /// Raises an exception of the host: nothing gets here.
    pub fn undefined(&mut self) {
        self.bytes.extend([0x0f, 0x0b]);
    }

    /// Jumps.
    pub fn jump(&mut self) -> Link {
        self.bytes.extend([0xe9, 0, 0, 0, 0]);
        Link(self.bytes.len())
    }

    /// Jumps if a condition holds.
    pub fn jump_if(&mut self, when: When) -> Link {
        self.bytes.extend([0x0f, 0x80 | when as u8, 0, 0, 0, 0]);
        Link(self.bytes.len())
    }

    /// Loads the address of a place in the code.
    pub fn address(&mut self, to: Reg) -> Link {
        self.bytes.extend([0x48 | to as u8 >> 3 << 2, 0x8d, 5 | (to as u8 & 7) << 3, 0, 0, 0, 0]);
        Link(self.bytes.len())
    }

    /// Loads a signed dword of a table by its number.
    pub fn load_number(&mut self, to: Reg, table: Reg, number: Reg) {
        let (to, table, number) = (to as u8, table as u8, number as u8);
        let rex = 0x48 | to >> 3 << 2 | number >> 3 << 1 | table >> 3;
        self.bytes.extend([rex, 0x63, 0x44 | (to & 7) << 3, 2 << 6 | (number & 7) << 3 | table & 7, 0]);
    }

    /// Lets a jump or an address lead to a place.
    pub fn link(&mut self, link: Link, target: usize) {
        let distance = (target as i64 - link.0 as i64) as i32;
        self.bytes[link.0 - 4..link.0].copy_from_slice(&distance.to_le_bytes());
    }
}
