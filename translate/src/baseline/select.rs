//! Instructions, one for each of CLIF's or a few.
//!
//! A result that is in the frame is made in RAX. So is one whose register has an operand that is read after it is written
//! first; RCX takes what has to be in a register for a moment.

use super::allocate::Place;
use super::emit::{Emitter, Operand, slot_at};
use super::x64::{Alu, Count, Mem, Reg, Rm, Shift, When};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, Inst, InstructionData, Opcode, Type, Value};

impl Emitter<'_> {
    /// Makes an instruction of a block that another one may come behind.
    pub(super) fn instruction(&mut self, inst: Inst, next: Option<Block>) {
        let dfg = &self.func.dfg;
        let data = dfg.insts[inst];
        let result = dfg.inst_results(inst).first().copied();
        match (data, result) {
            (InstructionData::Store { args: [value, base], offset, .. }, _) => self.store(value, base, offset.into()),
            (InstructionData::CallIndirect { .. }, _) => {
                self.call(inst);
                if let Some(result) = result.filter(|result| self.values.is_read(*result)) {
                    self.finish(result, Reg::Rax);
                }
            }
            (_, None) => {
                let is_end = self.ends_block(inst, next);
                debug_assert!(is_end, "what has no result is known");
            }
            (_, Some(result)) if self.is_made(result) => self.compute(result, data),
            _ => {}
        }
    }

    /// Whether code is made for a value where it is defined.
    fn is_made(&self, value: Value) -> bool {
        let known = self.values.of_value(value);
        let is_itself = known.root == value && known.constant.is_none();
        is_itself && self.values.is_read(value) && self.values.folded(self.func, value).is_none()
    }

    fn compute(&mut self, result: Value, data: InstructionData) {
        let ty = self.func.dfg.value_type(result);
        let wide = ty == I64;
        match data {
            InstructionData::LoadNoOffset { arg, .. } => self.bitcast(result, arg),
            InstructionData::Load { opcode, arg, offset, .. } => self.load_from(result, opcode, arg, offset.into()),
            InstructionData::StackAddr { stack_slot, offset, .. } => {
                let to = self.target(result);
                self.out.lea(true, to, self.stack_slot(stack_slot, offset.into()));
                self.finish(result, to);
            }
            InstructionData::Binary { opcode, args } => self.binary(result, opcode, args, wide),
            InstructionData::Unary { opcode, arg } => self.unary(result, opcode, arg, wide),
            InstructionData::IntCompare { args, cond, .. } => {
                let when = self.compare_values(args, cond);
                self.out.set(when, Reg::Rax);
                let to = self.target(result);
                self.out.zero_extend8(to, Reg::Rax);
                self.finish(result, to);
            }
            InstructionData::Ternary { opcode: Opcode::Fma, args } => self.fused(result, args),
            InstructionData::Ternary { args, .. } => self.select(result, args, wide),
            _ => unreachable!("{:?} is not supported", data.opcode()),
        }
    }

    /// Where a result is made.
    pub(super) fn target(&self, result: Value) -> Reg {
        match self.places.of_value(result) {
            Place::Reg(register) => register,
            _ => Reg::Rax,
        }
    }

    /// Puts a result that was made in a register where it belongs.
    pub(super) fn finish(&mut self, result: Value, made: Reg) {
        match self.places.of_value(result) {
            Place::Reg(to) if to != made => self.out.mov(true, to, made),
            Place::Slot(slot) => self.out.store(true, slot_at(slot), made),
            _ => {}
        }
    }

    /// Copies an operand to a register, flags stay.
    pub(super) fn load(&mut self, to: Reg, operand: Operand, wide: bool) {
        match operand {
            Operand::Reg(from) if from == to && wide => {}
            Operand::Reg(from) => self.out.mov(wide, to, from),
            Operand::Mem(mem) => self.out.mov(wide, to, mem),
            Operand::Imm(value) => self.out.mov_imm(to, value),
        }
    }

    /// A register that has a value: its own, or one for the moment.
    pub(super) fn register(&mut self, value: Value, or: Reg) -> Reg {
        match self.operand(value) {
            Operand::Reg(register) => register,
            operand => {
                self.load(or, operand, true);
                or
            }
        }
    }

    /// An operand that is no constant: those are in a register for the moment.
    pub(super) fn rm(&mut self, operand: Operand, or: Reg) -> Rm {
        match operand {
            Operand::Reg(register) => register.into(),
            Operand::Mem(mem) => mem.into(),
            Operand::Imm(value) => {
                self.out.mov_imm(or, value);
                or.into()
            }
        }
    }

    fn load_from(&mut self, result: Value, opcode: Opcode, base: Value, offset: i32) {
        let from = Mem(self.register(base, Reg::Rax), offset);
        if let Place::Xmm(to) = self.places.of_value(result) {
            return self.out.load_vector(to, from);
        }
        let wide = opcode == Opcode::Load && self.func.dfg.value_type(result) == I64;
        let to = self.target(result);
        self.out.mov(wide, to, from);
        self.finish(result, to);
    }

    fn store(&mut self, value: Value, base: Value, offset: i32) {
        let ty = self.func.dfg.value_type(value);
        let to = Mem(self.register(base, Reg::Rax), offset);
        if ty.is_vector() {
            return self.out.store_vector(to, self.xmm(value));
        }
        match self.operand(value) {
            Operand::Imm(constant) if short(constant, ty).is_some() => {
                self.out.store_imm(ty == I64, to, constant as i32);
            }
            _ => {
                let from = self.register(value, Reg::Rcx);
                self.out.store(ty == I64, to, from);
            }
        }
    }

    fn unary(&mut self, result: Value, opcode: Opcode, arg: Value, wide: bool) {
        let source = self.func.dfg.value_type(arg);
        if self.float_unary(result, opcode, arg) {
            return;
        }
        if let Place::Xmm(to) = self.places.of_value(result) {
            let from = self.register(arg, Reg::Rax);
            return self.out.splat(source == I64, to, from);
        }
        let (to, operand) = (self.target(result), self.operand(arg));
        match opcode {
            Opcode::Ineg => {
                self.load(to, operand, true);
                self.out.neg(wide, to);
            }
            Opcode::Uextend if source == I8 => {
                let rm = self.rm(operand, Reg::Rax);
                self.out.zero_extend8(to, rm);
            }
            Opcode::Uextend => self.load(to, operand, false),
            Opcode::Sextend => {
                let rm = self.rm(operand, Reg::Rax);
                self.out.sign_extend32(to, rm);
            }
            Opcode::Bitrev => self.reverse(to, operand),
            Opcode::Popcnt => self.count(Count::Ones, wide, to, operand),
            Opcode::Ctz => self.count(Count::TrailingZeros, wide, to, operand),
            Opcode::Clz => self.count(Count::LeadingZeros, wide, to, operand),
            _ => unreachable!("{opcode:?} is not supported"),
        }
        self.finish(result, to);
    }

    /// The 32 bits of an operand in the reverse order: bytes, then halves of bytes, then pairs, then bits.
    fn reverse(&mut self, to: Reg, operand: Operand) {
        self.load(Reg::Rax, operand, false);
        self.out.swap_bytes(Reg::Rax);
        for (by, lower) in [(4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
            self.out.mov(false, Reg::Rcx, Reg::Rax);
            self.out.shift_imm(Shift::Right, false, Reg::Rcx, by);
            self.out.alu_imm(Alu::And, false, Reg::Rcx, lower);
            self.out.alu_imm(Alu::And, false, Reg::Rax, lower);
            self.out.shift_imm(Shift::Left, false, Reg::Rax, by);
            self.out.alu(Alu::Or, false, Reg::Rax, Reg::Rcx);
        }
        self.load(to, Operand::Reg(Reg::Rax), true);
    }

    fn count(&mut self, count: Count, wide: bool, to: Reg, operand: Operand) {
        let rm = self.rm(operand, Reg::Rax);
        self.out.count(count, wide, to, rm);
    }

    fn binary(&mut self, result: Value, opcode: Opcode, args: [Value; 2], wide: bool) {
        if self.float_binary(result, opcode, args) {
            return;
        }
        match opcode {
            Opcode::Iadd => self.alu(Alu::Add, result, args, wide),
            Opcode::Isub => self.alu(Alu::Sub, result, args, wide),
            Opcode::Band => self.alu(Alu::And, result, args, wide),
            Opcode::Bor => self.alu(Alu::Or, result, args, wide),
            Opcode::Bxor => self.alu(Alu::Xor, result, args, wide),
            Opcode::Imul => self.multiply(result, args, wide),
            Opcode::Umulhi => self.upper_product(result, args, false),
            Opcode::Smulhi => self.upper_product(result, args, true),
            Opcode::Ishl => self.shift(Shift::Left, result, args, wide),
            Opcode::Ushr => self.shift(Shift::Right, result, args, wide),
            Opcode::Sshr => self.shift(Shift::RightSigned, result, args, wide),
            Opcode::Umin => self.choose(When::Above, result, args, wide),
            Opcode::Umax => self.choose(When::Below, result, args, wide),
            Opcode::Smin => self.choose(When::Greater, result, args, wide),
            Opcode::Smax => self.choose(When::Less, result, args, wide),
            _ => unreachable!("{opcode:?} is not supported"),
        }
    }

    /// Puts the first of two operands into the register where their result is made; the other one is still where the second
    /// result says. Operands that may change places do so if one is in that register already, or is a constant.
    fn prepare(&mut self, result: Value, args: [Value; 2], commutes: bool) -> (Reg, Operand) {
        let to = self.target(result);
        let [mut first, mut second] = args.map(|arg| self.operand(arg));
        if commutes && (second == Operand::Reg(to) || matches!(first, Operand::Imm(_))) {
            std::mem::swap(&mut first, &mut second);
        }
        if second == Operand::Reg(to) && first != second {
            self.load(Reg::Rcx, second, true);
            second = Operand::Reg(Reg::Rcx);
        }
        self.load(to, first, true);
        (to, second)
    }

    fn alu(&mut self, op: Alu, result: Value, args: [Value; 2], wide: bool) {
        let ty = self.func.dfg.value_type(result);
        let [first, second] = args.map(|arg| self.operand(arg));
        if let (Alu::Add, Operand::Reg(base), Operand::Imm(value)) = (op, first, second)
            && let Some(offset) = short(value, ty)
            && base != self.target(result)
        {
            let to = self.target(result);
            self.out.lea(wide, to, Mem(base, offset));
            return self.finish(result, to);
        }
        let (to, second) = self.prepare(result, args, op != Alu::Sub);
        self.alu_operand(op, to, second, ty);
        self.finish(result, to);
    }

    /// Arithmetic on a register and an operand of a type.
    fn alu_operand(&mut self, op: Alu, to: Reg, second: Operand, ty: Type) {
        match second {
            Operand::Imm(value) if short(value, ty).is_some() => self.out.alu_imm(op, ty == I64, to, value as i32),
            _ => {
                let rm = self.rm(second, Reg::Rcx);
                self.out.alu(op, ty == I64, to, rm);
            }
        }
    }

    fn multiply(&mut self, result: Value, args: [Value; 2], wide: bool) {
        let (to, second) = self.prepare(result, args, true);
        let rm = self.rm(second, Reg::Rcx);
        self.out.imul(wide, to, rm);
        self.finish(result, to);
    }

    /// The upper halves of products of 32 bits.
    fn upper_product(&mut self, result: Value, args: [Value; 2], signed: bool) {
        for (arg, to) in args.into_iter().zip([Reg::Rax, Reg::Rcx]) {
            let operand = self.operand(arg);
            if signed {
                let rm = self.rm(operand, to);
                self.out.sign_extend32(to, rm);
            } else {
                self.load(to, operand, false);
            }
        }
        self.out.imul(true, Reg::Rax, Reg::Rcx);
        self.out.shift_imm(Shift::Right, true, Reg::Rax, 32);
        self.finish(result, Reg::Rax);
    }

    fn shift(&mut self, shift: Shift, result: Value, [value, by]: [Value; 2], wide: bool) {
        let to = self.target(result);
        let operand = self.operand(value);
        if let Operand::Imm(by) = self.operand(by) {
            self.load(to, operand, true);
            self.out.shift_imm(shift, wide, to, by as u8 & if wide { 63 } else { 31 });
        } else {
            let rm = self.rm(operand, Reg::Rax);
            let by = self.register(by, Reg::Rcx);
            self.out.shift(shift, wide, to, rm, by);
        }
        self.finish(result, to);
    }

    /// One of two values: the second if a comparison of the first with it says so.
    fn choose(&mut self, when: When, result: Value, [first, second]: [Value; 2], wide: bool) {
        let (first, second) = (self.operand(first), self.operand(second));
        self.load(Reg::Rax, first, true);
        let rm = self.rm(second, Reg::Rcx);
        self.out.alu(Alu::Cmp, wide, Reg::Rax, rm);
        self.out.mov_if(when, wide, Reg::Rax, rm);
        self.finish(result, Reg::Rax);
    }

    fn select(&mut self, result: Value, [condition, yes, no]: [Value; 3], wide: bool) {
        let when = self.condition(condition);
        let yes = self.operand(yes);
        let rm = self.rm(yes, Reg::Rcx);
        let no = self.operand(no);
        self.load(Reg::Rax, no, true);
        self.out.mov_if(when, wide, Reg::Rax, rm);
        self.finish(result, Reg::Rax);
    }

    /// Makes the comparison of an instruction; the result says when it is true.
    pub(super) fn compare(&mut self, inst: Inst) -> When {
        match self.func.dfg.insts[inst] {
            InstructionData::IntCompare { args, cond, .. } => self.compare_values(args, cond),
            data => unreachable!("{:?} compares nothing", data.opcode()),
        }
    }

    fn compare_values(&mut self, [first, second]: [Value; 2], condition: IntCC) -> When {
        let ty = self.func.dfg.value_type(first);
        let first = self.register(first, Reg::Rax);
        let second = self.operand(second);
        self.alu_operand(Alu::Cmp, first, second, ty);
        when(condition)
    }
}

/// A constant of a type as instructions have it: 32 bits, sign-extended to the type's.
fn short(value: i64, ty: Type) -> Option<i32> {
    if ty == I64 { i32::try_from(value).ok() } else { Some(value as i32) }
}

fn when(condition: IntCC) -> When {
    match condition {
        IntCC::Equal => When::Equal,
        IntCC::NotEqual => When::NotEqual,
        IntCC::SignedLessThan => When::Less,
        IntCC::SignedGreaterThanOrEqual => When::GreaterEqual,
        IntCC::SignedGreaterThan => When::Greater,
        IntCC::SignedLessThanOrEqual => When::LessEqual,
        IntCC::UnsignedLessThan => When::Below,
        IntCC::UnsignedGreaterThanOrEqual => When::AboveEqual,
        IntCC::UnsignedGreaterThan => When::Above,
        IntCC::UnsignedLessThanOrEqual => When::BelowEqual,
    }
}
