//! Instructions on general registers, and on memory without vectors.

use super::super::evex::{M0F38, PF2, PF3, W1};
use super::{Asm, Gpr, Mem, Rm, Vex, base};

impl Asm {
    /// An instruction on a 64-bit register and another or memory.
    fn integer(&mut self, wide: bool, opcode: u8, reg: Gpr, rm: Rm) {
        let b = match rm {
            Rm::Reg(register) => register >> 3,
            Rm::Mem(mem) | Rm::Broadcast(mem) => base(mem) >> 3,
        };
        let reg = reg as u8;
        self.code.extend([0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | b, opcode]);
        self.modrm(reg & 7, rm, 1, None);
    }

    /// Loads 64 bits.
    pub fn load64(&mut self, to: Gpr, base: Gpr, offset: i32) {
        self.integer(true, 0x8b, to, Rm::Mem(Mem::At(base, offset)));
    }

    /// Loads 32 bits; the upper ones become 0.
    pub fn load32(&mut self, to: Gpr, base: Gpr, offset: i32) {
        self.integer(false, 0x8b, to, Rm::Mem(Mem::At(base, offset)));
    }

    /// Loads 16 bits; the upper ones become 0.
    pub fn load16(&mut self, to: Gpr, base: Gpr, offset: i32) {
        let (to, base) = (to as u8, base as u8);
        self.code.extend([0x40 | to >> 3 << 2 | base >> 3, 0x0f, 0xb7, 0x80 | (to & 7) << 3 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Asks for the line of an address, which may be any.
    pub fn prefetch(&mut self, base: Gpr, offset: i32) {
        const TO_ALL_LEVELS: u8 = 1;
        let base = base as u8;
        self.code.extend([0x40 | base >> 3, 0x0f, 0x18, 0x80 | TO_ALL_LEVELS << 3 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Stores 64 bits.
    pub fn store64(&mut self, base: Gpr, offset: i32, from: Gpr) {
        self.integer(true, 0x89, from, Rm::Mem(Mem::At(base, offset)));
    }

    /// Stores 32 bits.
    pub fn store32(&mut self, base: Gpr, offset: i32, from: Gpr) {
        self.integer(false, 0x89, from, Rm::Mem(Mem::At(base, offset)));
    }

    /// Sets the bits of another register.
    pub fn or_register(&mut self, to: Gpr, other: Gpr) {
        self.integer(true, 0x0b, to, Rm::Reg(other as u8));
    }

    /// Subtracts memory.
    pub fn sub_mem(&mut self, from: Gpr, base: Gpr, offset: i32) {
        self.integer(true, 0x2b, from, Rm::Mem(Mem::At(base, offset)));
    }

    /// Adds a register.
    pub fn add_register(&mut self, to: Gpr, other: Gpr) {
        self.integer(true, 0x03, to, Rm::Reg(other as u8));
    }

    /// Adds the low 32 bits of a register, with a carry out of these; the upper ones become 0.
    pub fn add_register32(&mut self, to: Gpr, other: Gpr) {
        self.integer(false, 0x03, to, Rm::Reg(other as u8));
    }

    /// Subtracts a register.
    pub fn sub_register(&mut self, from: Gpr, other: Gpr) {
        self.integer(true, 0x2b, from, Rm::Reg(other as u8));
    }

    /// The number of the lowest one of a register that is not zero.
    pub fn lowest_one(&mut self, to: Gpr, from: Gpr) {
        self.bit_scan(0xbc, to, from);
    }

    /// The same of 64 bits.
    pub fn lowest_one64(&mut self, to: Gpr, from: Gpr) {
        let (to, from) = (to as u8, from as u8);
        self.code.extend([0x48 | to >> 3 << 2 | from >> 3, 0x0f, 0xbc, 0xc0 | (to & 7) << 3 | from & 7]);
    }

    /// The number of the highest one.
    pub fn highest_one(&mut self, to: Gpr, from: Gpr) {
        self.bit_scan(0xbd, to, from);
    }

    fn bit_scan(&mut self, opcode: u8, to: Gpr, from: Gpr) {
        let (to, from) = (to as u8, from as u8);
        self.code.extend([0x40 | to >> 3 << 2 | from >> 3, 0x0f, opcode, 0xc0 | (to & 7) << 3 | from & 7]);
    }

    /// Compares registers.
    pub fn compare_registers(&mut self, first: Gpr, second: Gpr) {
        self.integer(true, 0x3b, first, Rm::Reg(second as u8));
    }

    /// Subtracts a constant.
    pub fn sub(&mut self, from: Gpr, value: i32) {
        let from = from as u8;
        self.code.extend([0x48 | from >> 3, 0x81, 0xe8 | from & 7]);
        self.code.extend(value.to_le_bytes());
    }

    /// Adds a constant to the low 32 bits; the upper ones become 0.
    pub fn add32(&mut self, to: Gpr, value: i32) {
        let to = to as u8;
        self.code.extend([0x40 | to >> 3, 0x81, 0xc0 | to & 7]);
        self.code.extend(value.to_le_bytes());
    }

    /// Rotates a register.
    pub fn rotate_right(&mut self, register: Gpr, by: u8) {
        let register = register as u8;
        self.code.extend([0x48 | register >> 3, 0xc1, 0xc8 | register & 7, by]);
    }

    /// Clears a register.
    pub fn clear_register(&mut self, register: Gpr) {
        self.integer(false, 0x33, register, Rm::Reg(register as u8));
    }

    /// Shifts a register.
    pub fn shift_left(&mut self, register: Gpr, by: u8) {
        let register = register as u8;
        self.code.extend([0x48 | register >> 3, 0xc1, 0xe0 | register & 7, by]);
    }

    /// Keeps some of the low 32 bits; the upper ones become 0.
    pub fn and32(&mut self, register: Gpr, bits: u32) {
        let register = register as u8;
        self.code.extend([0x40 | register >> 3, 0x81, 0xe0 | register & 7]);
        self.code.extend(bits.to_le_bytes());
    }

    /// Compares the low 32 bits with a constant.
    pub fn compare32(&mut self, register: Gpr, value: u32) {
        let register = register as u8;
        self.code.extend([0x40 | register >> 3, 0x81, 0xf8 | register & 7]);
        self.code.extend(value.to_le_bytes());
    }

    /// Clears the lowest one, setting flags.
    pub fn clear_lowest_one(&mut self, register: Gpr) {
        let register = register as u8;
        let p0 = 1 << 7 | 1 << 6 | (register >> 3 ^ 1) << 5 | M0F38;
        self.code.extend([0xc4, p0, 1 << 7 | (!register & 15) << 3, 0xf3, 0xc8 | register & 7]);
    }

    /// Moves the bits at the ones of a mask in memory together.
    pub fn pick_bits(&mut self, register: Gpr, base: Gpr, mask: i32) {
        self.bits_at(PF3, register, base, mask);
    }

    /// Moves the lowest bits to the ones of a mask in memory; others become 0.
    pub fn put_bits(&mut self, register: Gpr, base: Gpr, mask: i32) {
        self.bits_at(PF2, register, base, mask);
    }

    /// PEXT or PDEP.
    fn bits_at(&mut self, prefix: u8, register: Gpr, base: Gpr, mask: i32) {
        debug_assert!((register as u8) < 8);
        let op = Vex { map: M0F38, prefix, wide: W1, long: false, opcode: 0xf5 };
        self.vex(op, register as u8, register as u8, Rm::Mem(Mem::At(base, mask)), None);
    }

    /// Loads the dword of a number from the first one's address and an offset; the upper bits become 0.
    pub fn load32_of(&mut self, to: Gpr, base: Gpr, number: Gpr, offset: i32) {
        let (to, base, number) = (to as u8, base as u8, number as u8);
        let rex = 0x40 | to >> 3 << 2 | number >> 3 << 1 | base >> 3;
        self.code.extend([rex, 0x8b, 0x84 | (to & 7) << 3, 2 << 6 | (number & 7) << 3 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Stores the low byte or word of a register to the sum of two.
    pub fn store_small(&mut self, bytes: i32, base: Gpr, index: Gpr, from: Gpr) {
        let (base, index, from) = (base as u8, index as u8, from as u8);
        if bytes == 2 {
            self.code.push(0x66);
        }
        let (rex, opcode) = (0x40 | from >> 3 << 2 | index >> 3 << 1 | base >> 3, if bytes == 2 { 0x89 } else { 0x88 });
        self.code.extend([rex, opcode, 0x44 | (from & 7) << 3, (index & 7) << 3 | base & 7, 0]);
    }

    /// Shifts a register right, bringing in zeros.
    pub fn shift_right(&mut self, register: Gpr, by: u8) {
        let register = register as u8;
        self.code.extend([0x48 | register >> 3, 0xc1, 0xe8 | register & 7, by]);
    }

    /// Copies a register.
    pub fn mov(&mut self, to: Gpr, from: Gpr) {
        let (to, from) = (to as u8, from as u8);
        self.code.extend([0x48 | from >> 3 << 2 | to >> 3, 0x89, 0xc0 | (from & 7) << 3 | to & 7]);
    }

    /// The address of something in the pool.
    pub fn lea(&mut self, to: Gpr, mem: Mem) {
        let to = to as u8;
        self.code.extend([0x48 | to >> 3 << 2, 0x8d]);
        self.modrm(to & 7, Rm::Mem(mem), 1, None);
    }

    /// Loads a 32-bit constant.
    pub fn mov_imm(&mut self, to: Gpr, value: i32) {
        debug_assert!((to as u8) < 8);
        self.code.push(0xb8 | to as u8);
        self.code.extend(value.to_le_bytes());
    }

    /// Adds to a register.
    pub fn add(&mut self, to: Gpr, value: i32) {
        let to = to as u8;
        self.code.extend([0x48 | to >> 3, 0x81, 0xc0 | to & 7]);
        self.code.extend(value.to_le_bytes());
    }

    /// Counts down, setting flags.
    pub fn dec(&mut self, register: Gpr) {
        debug_assert!((register as u8) < 8);
        self.code.extend([0xff, 0xc8 | register as u8]);
    }

    /// Compares 16 bits in memory with 0.
    pub fn is_zero16(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x66, 0x40 | base >> 3, 0x83, 0xb8 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.push(0);
    }

    /// Compares 32 bits in memory with all ones.
    pub fn is_ones32(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x40 | base >> 3, 0x83, 0xb8 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.push(0xff);
    }

    /// Compares 8 bits in memory with a constant.
    pub fn compare8(&mut self, base: Gpr, offset: i32, value: u8) {
        let base = base as u8;
        self.code.extend([0x40 | base >> 3, 0x80, 0xb8 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.push(value);
    }

    /// Clears 8 bits in memory.
    pub fn clear8(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x40 | base >> 3, 0xc6, 0x80 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.push(0);
    }

    /// Counts 8 bits in memory up.
    pub fn increment8(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x40 | base >> 3, 0xfe, 0x80 | base & 7]);
        self.code.extend(offset.to_le_bytes());
    }

    /// Compares 64 bits in memory with all ones.
    pub fn is_ones64(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x48 | base >> 3, 0x83, 0xb8 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.push(0xff);
    }

    /// Clears 64 bits in memory.
    pub fn clear64(&mut self, base: Gpr, offset: i32) {
        let base = base as u8;
        self.code.extend([0x48 | base >> 3, 0xc7, 0x80 | base & 7]);
        self.code.extend(offset.to_le_bytes());
        self.code.extend([0; 4]);
    }
}
