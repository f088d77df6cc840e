//! Instructions on general registers, and on memory without vectors.

use super::vex::{M0F38, NP, P66, PF2, PF3, Vex, W1};
use super::{Encoder, Gpr, Mem, Rm, When};

/// Arithmetic on a register and an operand, by the number that stands for it in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "Intel's mnemonics")]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    /// Only flags.
    Cmp = 7,
}

/// Shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Left.
    Left,
    /// Right, bringing in zeros.
    Right,
    /// Right, bringing in the sign.
    RightSigned,
}

impl Shift {
    /// What stands for it in opcodes that shift by a constant.
    fn extension(self) -> u8 {
        match self {
            Shift::Left => 4,
            Shift::Right => 5,
            Shift::RightSigned => 7,
        }
    }

    /// The prefix that stands for it where a register says how far.
    fn prefix(self) -> u8 {
        match self {
            Shift::Left => P66,
            Shift::RightSigned => PF3,
            Shift::Right => PF2,
        }
    }
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

impl Encoder {
    /// An instruction with an operand byte. The prefix for 64 bits and the upper registers is left out where it says nothing.
    fn op(&mut self, wide: bool, opcode: &[u8], reg: u8, rm: Rm, imm: &[u8]) {
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | rm.register() >> 3;
        if rex != 0x40 {
            self.code.push(rex);
        }
        self.code.extend_from_slice(opcode);
        self.operand(reg, rm, 1, imm);
    }

    /// One on bytes: the prefix makes the low bytes of all registers accessible.
    fn byte_op(&mut self, opcode: &[u8], reg: u8, rm: Rm, imm: &[u8]) {
        self.code.push(0x40 | reg >> 3 << 2 | rm.register() >> 3);
        self.code.extend_from_slice(opcode);
        self.operand(reg, rm, 1, imm);
    }

    /// An instruction that has its register in the opcode.
    fn short_op(&mut self, wide: bool, opcode: u8, register: Gpr) {
        let rex = 0x40 | u8::from(wide) << 3 | register as u8 >> 3;
        if rex != 0x40 {
            self.code.push(rex);
        }
        self.code.push(opcode | register as u8 & 7);
    }

    /// One on memory at the sum of two registers, the second `1 << scale` times, and an offset of 32 bits.
    fn indexed_op(&mut self, wide: bool, opcode: u8, reg: Gpr, [base, index]: [Gpr; 2], scale: u8, offset: i32) {
        let (reg, base, index) = (reg as u8, base as u8, index as u8);
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | index >> 3 << 1 | base >> 3;
        self.code.extend([rex, opcode, 0x84 | (reg & 7) << 3, scale << 6 | (index & 7) << 3 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Copies to a register.
    pub fn load(&mut self, wide: bool, to: Gpr, from: impl Into<Rm>) {
        self.op(wide, &[0x8b], to as u8, from.into(), &[]);
    }

    /// Loads 64 bits.
    pub fn load64(&mut self, to: Gpr, base: Gpr, offset: i32) {
        self.load(true, to, Mem::At(base, offset));
    }

    /// Loads 32 bits; the upper ones become 0.
    pub fn load32(&mut self, to: Gpr, base: Gpr, offset: i32) {
        self.load(false, to, Mem::At(base, offset));
    }

    /// Loads 16 bits; the upper ones become 0.
    pub fn load16(&mut self, to: Gpr, base: Gpr, offset: i32) {
        self.load_small(2, false, to, Mem::At(base, offset));
    }

    /// Loads the dword of a number from the first one's address and an offset; the upper bits become 0.
    pub fn load32_of(&mut self, to: Gpr, base: Gpr, number: Gpr, offset: i32) {
        self.indexed_op(false, 0x8b, to, [base, number], 2, offset);
    }

    /// Stores 32 bits to the dword of a number from the first one's address and an offset.
    pub fn store32_of(&mut self, base: Gpr, number: Gpr, offset: i32, from: Gpr) {
        self.indexed_op(false, 0x89, from, [base, number], 2, offset);
    }

    /// Loads 32 bits from the sum of two registers; the upper ones become 0.
    pub fn load32_at(&mut self, to: Gpr, base: Gpr, index: Gpr) {
        self.indexed_op(false, 0x8b, to, [base, index], 0, 0);
    }

    /// Changes 32 bits at the sum of two registers by another one.
    pub fn alu_store32_at(&mut self, alu: Alu, base: Gpr, index: Gpr, by: Gpr) {
        self.indexed_op(false, (alu as u8) << 3 | 1, by, [base, index], 0, 0);
    }

    /// Loads a byte or word, and fills the other 32 bits with its sign or zeros.
    pub fn load_small(&mut self, bytes: i32, signed: bool, to: Gpr, from: Mem) {
        let opcode = 0xb6 | u8::from(bytes == 2) | u8::from(signed) << 3;
        self.op(false, &[0x0f, opcode], to as u8, from.into(), &[]);
    }

    /// Loads a signed dword of a table by its number.
    pub fn load_number(&mut self, to: Gpr, table: Gpr, number: Gpr) {
        self.indexed_op(true, 0x63, to, [table, number], 2, 0);
    }

    /// Asks for the line of an address, which may be any.
    pub fn prefetch(&mut self, base: Gpr, offset: i32) {
        const TO_ALL_LEVELS: u8 = 1;
        self.op(false, &[0x0f, 0x18], TO_ALL_LEVELS, Mem::At(base, offset).into(), &[]);
    }

    /// Copies a register to memory.
    pub fn store_register(&mut self, wide: bool, to: Mem, from: Gpr) {
        self.op(wide, &[0x89], from as u8, to.into(), &[]);
    }

    /// Stores 64 bits.
    pub fn store64(&mut self, base: Gpr, offset: i32, from: Gpr) {
        self.store_register(true, Mem::At(base, offset), from);
    }

    /// Stores 32 bits.
    pub fn store32(&mut self, base: Gpr, offset: i32, from: Gpr) {
        self.store_register(false, Mem::At(base, offset), from);
    }

    /// Stores the low byte or word of a register to the sum of two.
    pub fn store_small(&mut self, bytes: i32, base: Gpr, index: Gpr, from: Gpr) {
        if bytes == 2 {
            self.code.push(0x66);
        }
        self.indexed_op(false, if bytes == 2 { 0x89 } else { 0x88 }, from, [base, index], 0, 0);
    }

    /// Stores the low byte of a register.
    pub fn store8(&mut self, to: Mem, from: Gpr) {
        self.byte_op(&[0x88], from as u8, to.into(), &[]);
    }

    /// Stores a constant, sign-extended if it is to be wide.
    pub fn store_imm(&mut self, wide: bool, to: Mem, value: i32) {
        self.op(wide, &[0xc7], 0, to.into(), &value.to_le_bytes());
    }

    /// Clears 64 bits in memory.
    pub fn clear64(&mut self, base: Gpr, offset: i32) {
        self.store_imm(true, Mem::At(base, offset), 0);
    }

    /// Sets 8 bits in memory.
    pub fn set8(&mut self, base: Gpr, offset: i32, value: u8) {
        self.op(false, &[0xc6], 0, Mem::At(base, offset).into(), &[value]);
    }

    /// Clears 8 bits in memory.
    pub fn clear8(&mut self, base: Gpr, offset: i32) {
        self.set8(base, offset, 0);
    }

    /// Counts 8 bits in memory up.
    pub fn increment8(&mut self, base: Gpr, offset: i32) {
        self.op(false, &[0xfe], 0, Mem::At(base, offset).into(), &[]);
    }

    /// Copies a register.
    pub fn mov(&mut self, to: Gpr, from: Gpr) {
        self.load(true, to, from);
    }

    /// Loads a constant in the shortest way that leaves flags alone.
    pub fn mov_imm(&mut self, to: Gpr, value: impl Into<i64>) {
        let value = value.into();
        if let Ok(short) = u32::try_from(value) {
            self.short_op(false, 0xb8, to);
            self.code.extend(short.to_le_bytes());
        } else if let Ok(short) = i32::try_from(value) {
            self.op(true, &[0xc7], 0, to.into(), &short.to_le_bytes());
        } else {
            self.short_op(true, 0xb8, to);
            self.code.extend(value.to_le_bytes());
        }
    }

    /// Clears a register.
    pub fn clear_register(&mut self, register: Gpr) {
        self.alu(Alu::Xor, false, register, register);
    }

    /// The address itself.
    pub fn lea(&mut self, to: Gpr, mem: Mem) {
        self.op(true, &[0x8d], to as u8, mem.into(), &[]);
    }

    /// The low 32 bits of an address.
    pub fn lea32(&mut self, to: Gpr, mem: Mem) {
        self.op(false, &[0x8d], to as u8, mem.into(), &[]);
    }

    /// Arithmetic.
    pub fn alu(&mut self, op: Alu, wide: bool, to: Gpr, from: impl Into<Rm>) {
        self.op(wide, &[(op as u8) << 3 | 3], to as u8, from.into(), &[]);
    }

    /// Arithmetic on memory.
    pub fn alu_store(&mut self, op: Alu, wide: bool, to: Mem, from: Gpr) {
        self.op(wide, &[(op as u8) << 3 | 1], from as u8, to.into(), &[]);
    }

    /// Arithmetic with a constant.
    pub fn alu_imm(&mut self, op: Alu, wide: bool, to: impl Into<Rm>, value: i32) {
        match i8::try_from(value) {
            Ok(short) => self.op(wide, &[0x83], op as u8, to.into(), &short.to_le_bytes()),
            Err(_) => self.op(wide, &[0x81], op as u8, to.into(), &value.to_le_bytes()),
        }
    }

    /// Adds to a register.
    pub fn add(&mut self, to: Gpr, value: i32) {
        self.alu_imm(Alu::Add, true, to, value);
    }

    /// Adds a constant to the low 32 bits; the upper ones become 0.
    pub fn add32(&mut self, to: Gpr, value: i32) {
        self.alu_imm(Alu::Add, false, to, value);
    }

    /// Adds a register.
    pub fn add_register(&mut self, to: Gpr, other: Gpr) {
        self.alu(Alu::Add, true, to, other);
    }

    /// Adds the low 32 bits of a register, with a carry out of these; the upper ones become 0.
    pub fn add_register32(&mut self, to: Gpr, other: Gpr) {
        self.alu(Alu::Add, false, to, other);
    }

    /// Subtracts a constant.
    pub fn sub(&mut self, from: Gpr, value: i32) {
        self.alu_imm(Alu::Sub, true, from, value);
    }

    /// Subtracts a register.
    pub fn sub_register(&mut self, from: Gpr, other: Gpr) {
        self.alu(Alu::Sub, true, from, other);
    }

    /// Subtracts memory.
    pub fn sub_mem(&mut self, from: Gpr, base: Gpr, offset: i32) {
        self.alu(Alu::Sub, true, from, Mem::At(base, offset));
    }

    /// Sets the bits of another register.
    pub fn or_register(&mut self, to: Gpr, other: Gpr) {
        self.alu(Alu::Or, true, to, other);
    }

    /// Keeps some of the low 32 bits; the upper ones become 0.
    pub fn and32(&mut self, register: Gpr, bits: u32) {
        self.alu_imm(Alu::And, false, register, bits as i32);
    }

    /// The bits of the second that the first does not have.
    pub fn and_not(&mut self, wide: bool, to: Gpr, first: Gpr, second: impl Into<Rm>) {
        self.vex(Vex::new(NP, M0F38, wide, 0xf2), to as u8, first as u8, second.into(), &[]);
    }

    /// Counts down, setting flags.
    pub fn dec(&mut self, register: Gpr) {
        self.op(false, &[0xff], 1, register.into(), &[]);
    }

    /// Negates.
    pub fn neg(&mut self, wide: bool, register: Gpr) {
        self.op(wide, &[0xf7], 3, register.into(), &[]);
    }

    /// Multiplies; the product has as many bits as its factors.
    pub fn imul(&mut self, wide: bool, to: Gpr, from: impl Into<Rm>) {
        self.op(wide, &[0x0f, 0xaf], to as u8, from.into(), &[]);
    }

    /// Compares registers.
    pub fn compare_registers(&mut self, first: Gpr, second: Gpr) {
        self.alu(Alu::Cmp, true, first, second);
    }

    /// Compares the low 32 bits with a constant.
    pub fn compare32(&mut self, register: Gpr, value: u32) {
        self.alu_imm(Alu::Cmp, false, register, value as i32);
    }

    /// Compares a byte with a constant.
    pub fn compare_byte(&mut self, first: impl Into<Rm>, value: u8) {
        self.byte_op(&[0x80], Alu::Cmp as u8, first.into(), &[value]);
    }

    /// Compares 8 bits in memory with a constant.
    pub fn compare8(&mut self, base: Gpr, offset: i32, value: u8) {
        self.compare_byte(Mem::At(base, offset), value);
    }

    /// Whether 8 bits in memory have any of some.
    pub fn test8(&mut self, base: Gpr, offset: i32, bits: u8) {
        self.byte_op(&[0xf6], 0, Mem::At(base, offset).into(), &[bits]);
    }

    /// Compares 16 bits in memory with 0.
    pub fn is_zero16(&mut self, base: Gpr, offset: i32) {
        self.code.push(0x66);
        self.alu_imm(Alu::Cmp, false, Mem::At(base, offset), 0);
    }

    /// Compares 32 bits in memory with all ones.
    pub fn is_ones32(&mut self, base: Gpr, offset: i32) {
        self.alu_imm(Alu::Cmp, false, Mem::At(base, offset), -1);
    }

    /// Compares 64 bits in memory with all ones.
    pub fn is_ones64(&mut self, base: Gpr, offset: i32) {
        self.alu_imm(Alu::Cmp, true, Mem::At(base, offset), -1);
    }

    /// Compares a register with 0.
    pub fn test(&mut self, wide: bool, register: Gpr) {
        self.op(wide, &[0x85], register as u8, register.into(), &[]);
    }

    /// Sets a byte to whether a condition holds.
    pub fn set(&mut self, when: When, to: Gpr) {
        self.byte_op(&[0x0f, 0x90 | when as u8], 0, to.into(), &[]);
    }

    /// Copies if a condition holds.
    pub fn mov_if(&mut self, when: When, wide: bool, to: Gpr, from: impl Into<Rm>) {
        self.op(wide, &[0x0f, 0x40 | when as u8], to as u8, from.into(), &[]);
    }

    /// Copies a byte, the rest of the register becomes 0.
    pub fn zero_extend8(&mut self, to: Gpr, from: impl Into<Rm>) {
        self.byte_op(&[0x0f, 0xb6], to as u8, from.into(), &[]);
    }

    /// Copies 32 bits to 64 with their sign.
    pub fn sign_extend32(&mut self, to: Gpr, from: impl Into<Rm>) {
        self.op(true, &[0x63], to as u8, from.into(), &[]);
    }

    /// Turns the order of the lower four bytes round.
    pub fn swap_bytes(&mut self, register: Gpr) {
        self.code.extend([0x40 | register as u8 >> 3, 0x0f, 0xc8 | register as u8 & 7]);
    }

    /// Shifts by a constant less than the width.
    pub fn shift_imm(&mut self, shift: Shift, wide: bool, register: Gpr, by: u8) {
        self.op(wide, &[0xc1], shift.extension(), register.into(), &[by]);
    }

    /// Shifts by a register, modulo the width.
    pub fn shift_register(&mut self, shift: Shift, wide: bool, to: Gpr, from: impl Into<Rm>, by: Gpr) {
        self.vex(Vex::new(shift.prefix(), M0F38, wide, 0xf7), to as u8, by as u8, from.into(), &[]);
    }

    /// Shifts a register left.
    pub fn shift_left(&mut self, register: Gpr, by: u8) {
        self.shift_imm(Shift::Left, true, register, by);
    }

    /// Shifts a register right, bringing in zeros.
    pub fn shift_right(&mut self, register: Gpr, by: u8) {
        self.shift_imm(Shift::Right, true, register, by);
    }

    /// Rotates a register.
    pub fn rotate_right(&mut self, register: Gpr, by: u8) {
        self.op(true, &[0xc1], 1, register.into(), &[by]);
    }

    /// Counts bits.
    pub fn count(&mut self, count: Count, wide: bool, to: Gpr, from: impl Into<Rm>) {
        self.code.push(0xf3);
        self.op(wide, &[0x0f, count as u8], to as u8, from.into(), &[]);
    }

    /// The number of the lowest one of a register that is not zero.
    pub fn lowest_one(&mut self, to: Gpr, from: Gpr) {
        self.op(false, &[0x0f, 0xbc], to as u8, from.into(), &[]);
    }

    /// The same of 64 bits.
    pub fn lowest_one64(&mut self, to: Gpr, from: Gpr) {
        self.op(true, &[0x0f, 0xbc], to as u8, from.into(), &[]);
    }

    /// The number of the highest one.
    pub fn highest_one(&mut self, to: Gpr, from: Gpr) {
        self.op(false, &[0x0f, 0xbd], to as u8, from.into(), &[]);
    }

    /// Clears the lowest one, setting flags.
    pub fn clear_lowest_one(&mut self, register: Gpr) {
        self.vex(Vex::new(NP, M0F38, W1, 0xf3), 1, register as u8, register.into(), &[]);
    }

    /// Moves the bits at the ones of a mask in memory together.
    pub fn pick_bits(&mut self, register: Gpr, base: Gpr, mask: i32) {
        self.bits_at(PF3, register, Mem::At(base, mask));
    }

    /// Moves the lowest bits to the ones of a mask in memory; others become 0.
    pub fn put_bits(&mut self, register: Gpr, base: Gpr, mask: i32) {
        self.bits_at(PF2, register, Mem::At(base, mask));
    }

    /// PEXT or PDEP.
    fn bits_at(&mut self, prefix: u8, register: Gpr, mask: Mem) {
        self.vex(Vex::new(prefix, M0F38, W1, 0xf5), register as u8, register as u8, mask.into(), &[]);
    }

    /// Saves a register on the stack.
    pub fn push(&mut self, register: Gpr) {
        self.short_op(false, 0x50, register);
    }

    /// Takes it back.
    pub fn pop(&mut self, register: Gpr) {
        self.short_op(false, 0x58, register);
    }

    /// Calls a function that is there already.
    pub fn call(&mut self, function: usize) {
        let end = self.code.len() + 5;
        self.code.push(0xe8);
        self.code.extend((function as i32 - end as i32).to_le_bytes());
    }

    /// Calls the function whose address a register has.
    pub fn call_to(&mut self, register: Gpr) {
        self.op(false, &[0xff], 2, register.into(), &[]);
    }

    /// Goes on where a register says.
    pub fn jump_to(&mut self, register: Gpr) {
        self.op(false, &[0xff], 4, register.into(), &[]);
    }

    /// Leaves the function, which has not used vectors.
    pub fn ret_plain(&mut self) {
        self.code.push(0xc3);
    }

    /// Raises an exception of the host: nothing gets here.
    pub fn undefined(&mut self) {
        self.code.extend([0x0f, 0x0b]);
    }
}
