//! Instructions, one for each of CLIF's or a few.
//!
//! A result that is in the frame is made in RAX. So is one whose register has an operand that is read after it is written
//! first; RCX takes what has to be in a register for a moment. Where there is no answer, there is no code for an
//! instruction on values of these types.

use super::allocate::Place;
use super::emit::{Emitter, Operand, slot_at};
use super::uses::Moved;
use crate::x64::{Alu, Count, Gpr, Mem, Rm, Shift, When};
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, Inst, InstructionData, Opcode, Type, Value};

impl Emitter<'_> {
    /// Makes an instruction of a block that another one may come behind.
    pub(super) fn instruction(&mut self, inst: Inst, next: Option<Block>) -> Option<()> {
        let dfg = &self.func.dfg;
        let data = dfg.insts[inst];
        let result = dfg.inst_results(inst).first().copied();
        match (data, result) {
            (InstructionData::Store { opcode: Opcode::Store, args: [value, base], offset, .. }, _) => {
                self.store(value, base, offset.into())
            }
            (InstructionData::Store { opcode: Opcode::Istore8, args: [value, base], offset, .. }, _) => {
                let to = Mem::At(self.register(base, Gpr::Rax)?, offset.into());
                let from = self.register(value, Gpr::Rcx)?;
                self.out.store8(to, from);
                Some(())
            }
            (InstructionData::CallIndirect { .. }, _) => {
                self.call(inst)?;
                if let Some(result) = result.filter(|result| self.values.is_read(*result)) {
                    self.finish(result, Gpr::Rax);
                }
                Some(())
            }
            (_, None) => self.end_block(inst, next),
            (_, Some(result)) if self.is_made(result) => self.compute(result, data),
            _ => Some(()),
        }
    }

    /// Whether code is made for a value where it is defined.
    fn is_made(&self, value: Value) -> bool {
        let known = self.values.of_value(value);
        let is_itself = known.root == value && known.constant.is_none();
        is_itself && self.values.is_read(value) && known.moved.is_none()
    }

    fn compute(&mut self, result: Value, data: InstructionData) -> Option<()> {
        let wide = self.func.dfg.value_type(result) == I64;
        match data {
            InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } => self.bitcast(result, arg),
            InstructionData::Load { opcode, arg, offset, .. } => self.load_from(result, opcode, arg, offset.into()),
            InstructionData::StackAddr { stack_slot, offset, .. } => {
                let to = self.target(result);
                self.out.lea(to, self.stack_slot(stack_slot, offset.into()));
                self.finish(result, to);
                Some(())
            }
            InstructionData::Binary { opcode, args } => self.binary(result, opcode, args, wide),
            InstructionData::Unary { opcode, arg } => self.unary(result, opcode, arg, wide),
            InstructionData::IntCompare { args, cond, .. } => {
                let when = self.compare(args, cond)?;
                self.truth(result, when);
                Some(())
            }
            InstructionData::Ternary { opcode: Opcode::Fma, args } => self.fused(result, args),
            InstructionData::Ternary { opcode: Opcode::Select, args } => self.select(result, args, wide),
            _ => None,
        }
    }

    /// Where an integer is made.
    pub(super) fn target(&self, result: Value) -> Gpr {
        match self.places.integer(result) {
            Some(Place::Reg(register)) => register,
            _ => Gpr::Rax,
        }
    }

    /// The same for what is written before an operand has been read.
    fn target_before(&self, result: Value, operand: Operand) -> Gpr {
        Some(self.target(result)).filter(|to| !operand.is_at(*to)).unwrap_or(Gpr::Rax)
    }

    /// Puts an integer that was made in a register where it belongs.
    pub(super) fn finish(&mut self, result: Value, made: Gpr) {
        match self.places.integer(result) {
            Some(Place::Reg(to)) if to != made => self.out.load(true, to, made),
            Some(Place::Slot(slot)) => self.out.store_register(true, slot_at(slot), made),
            _ => {}
        }
    }

    /// Copies an operand to a register, flags stay.
    pub(super) fn load(&mut self, to: Gpr, operand: Operand, wide: bool) {
        match operand {
            Operand::Reg(from) if from == to && wide => {}
            Operand::Reg(from) => self.out.load(wide, to, from),
            Operand::Mem(mem, whole) => self.out.load(wide && whole, to, mem),
            Operand::Imm(value) => self.out.mov_imm(to, value),
        }
    }

    /// A register that has a value: its own, or one for the moment.
    pub(super) fn register(&mut self, value: Value, or: Gpr) -> Option<Gpr> {
        Some(self.in_register(self.operand(value)?, or))
    }

    fn in_register(&mut self, operand: Operand, or: Gpr) -> Gpr {
        if let Operand::Reg(register) = operand {
            return register;
        }
        self.load(or, operand, true);
        or
    }

    /// An operand of a width. A constant, and what is narrower in memory, is in a register for the moment.
    pub(super) fn rm(&mut self, operand: Operand, wide: bool, or: Gpr) -> Rm {
        match operand {
            Operand::Reg(register) => register.into(),
            Operand::Mem(mem, whole) if whole || !wide => mem.into(),
            _ => {
                self.load(or, operand, wide);
                or.into()
            }
        }
    }

    fn load_from(&mut self, result: Value, opcode: Opcode, base: Value, offset: i32) -> Option<()> {
        let from = Mem::At(self.register(base, Gpr::Rax)?, offset);
        let ty = self.func.dfg.value_type(result);
        if ty.is_vector() {
            self.out.load_vector(self.xmm(result)?, from);
            return Some(());
        }
        let to = self.target(result);
        match (opcode, ty) {
            (Opcode::Load, I64) => self.out.load(true, to, from),
            (Opcode::Load, I32) | (Opcode::Uload32, _) => self.out.load(false, to, from),
            (Opcode::Uload8, _) => self.out.zero_extend8(to, from),
            _ => return None,
        }
        self.finish(result, to);
        Some(())
    }

    fn store(&mut self, value: Value, base: Value, offset: i32) -> Option<()> {
        let ty = self.func.dfg.value_type(value);
        let to = Mem::At(self.register(base, Gpr::Rax)?, offset);
        if let Some(Moved::Update(opcode, by)) = self.values.of_value(value).moved {
            return self.update(opcode, to, by, ty);
        }
        if ty.is_vector() {
            self.out.store_vector(to, self.xmm(value)?);
            return Some(());
        }
        match self.operand(value)? {
            _ if ty == I8 => return None,
            Operand::Imm(constant) if short(constant, ty).is_some() => {
                self.out.store_imm(ty == I64, to, constant as i32);
            }
            _ => {
                let from = self.register(value, Gpr::Rcx)?;
                self.out.store_register(ty == I64, to, from);
            }
        }
        Some(())
    }

    /// Arithmetic on memory.
    fn update(&mut self, opcode: Opcode, to: Mem, by: Value, ty: Type) -> Option<()> {
        let op = alu(opcode)?;
        match self.operand(by)? {
            Operand::Imm(value) if short(value, ty).is_some() => self.out.alu_imm(op, ty == I64, to, value as i32),
            _ => {
                let by = self.register(by, Gpr::Rcx)?;
                self.out.alu_store(op, ty == I64, to, by);
            }
        }
        Some(())
    }

    fn unary(&mut self, result: Value, opcode: Opcode, arg: Value, wide: bool) -> Option<()> {
        let source = self.func.dfg.value_type(arg);
        let is_made_float = self.func.dfg.value_type(result).is_float();
        match opcode {
            Opcode::Splat => self.splat(result, arg),
            _ if source.is_float() => self.float_unary(result, opcode, arg),
            _ if is_made_float => self.float_of_integer(result, opcode, arg),
            _ => self.integer_unary(result, opcode, arg, wide),
        }
    }

    fn splat(&mut self, result: Value, arg: Value) -> Option<()> {
        let ty = self.func.dfg.value_type(arg);
        if ty == I8 {
            return None;
        }
        let from = self.register(arg, Gpr::Rax)?;
        self.out.splat(ty == I64, self.xmm(result)?, from);
        Some(())
    }

    fn integer_unary(&mut self, result: Value, opcode: Opcode, arg: Value, wide: bool) -> Option<()> {
        let (to, operand) = (self.target(result), self.operand(arg)?);
        match (opcode, self.func.dfg.value_type(arg)) {
            (Opcode::Ineg, _) => {
                self.load(to, operand, true);
                self.out.neg(wide, to);
            }
            (Opcode::Uextend, I8) => {
                let rm = self.rm(operand, wide, Gpr::Rax);
                self.out.zero_extend8(to, rm);
            }
            (Opcode::Uextend, _) => self.load(to, operand, false),
            (Opcode::Sextend, I32) => {
                let rm = self.rm(operand, wide, Gpr::Rax);
                self.out.sign_extend32(to, rm);
            }
            (Opcode::Bitrev, I32) => self.reverse(to, operand),
            (Opcode::Popcnt, I32 | I64) => self.count(Count::Ones, wide, to, operand),
            (Opcode::Ctz, I32 | I64) => self.count(Count::TrailingZeros, wide, to, operand),
            (Opcode::Clz, I32 | I64) => self.count(Count::LeadingZeros, wide, to, operand),
            _ => return None,
        }
        self.finish(result, to);
        Some(())
    }

    /// The 32 bits of an operand in the reverse order: bytes, then halves of bytes, then pairs, then bits.
    fn reverse(&mut self, to: Gpr, operand: Operand) {
        self.load(Gpr::Rax, operand, false);
        self.out.swap_bytes(Gpr::Rax);
        for (by, lower) in [(4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
            self.out.load(false, Gpr::Rcx, Gpr::Rax);
            self.out.shift_imm(Shift::Right, false, Gpr::Rcx, by);
            self.out.alu_imm(Alu::And, false, Gpr::Rcx, lower);
            self.out.alu_imm(Alu::And, false, Gpr::Rax, lower);
            self.out.shift_imm(Shift::Left, false, Gpr::Rax, by);
            self.out.alu(Alu::Or, false, Gpr::Rax, Gpr::Rcx);
        }
        self.load(to, Operand::Reg(Gpr::Rax), true);
    }

    fn count(&mut self, count: Count, wide: bool, to: Gpr, operand: Operand) {
        let rm = self.rm(operand, wide, Gpr::Rax);
        self.out.count(count, wide, to, rm);
    }

    fn binary(&mut self, result: Value, opcode: Opcode, args: [Value; 2], wide: bool) -> Option<()> {
        match (opcode, self.func.dfg.value_type(result)) {
            (Opcode::Band, _) if self.complement(args).is_some() => self.and_not(result, args, wide),
            (Opcode::Imul, _) => self.multiply(result, args, wide),
            (Opcode::Umulhi, I32) => self.upper_product(result, args, false),
            (Opcode::Smulhi, I32) => self.upper_product(result, args, true),
            (Opcode::Ishl, I32 | I64) => self.shift(Shift::Left, result, args, wide),
            (Opcode::Ushr, I32 | I64) => self.shift(Shift::Right, result, args, wide),
            (Opcode::Sshr, I32 | I64) => self.shift(Shift::RightSigned, result, args, wide),
            (Opcode::Umin, I32 | I64) => self.choose(When::Above, result, args, wide),
            (Opcode::Umax, I32 | I64) => self.choose(When::Below, result, args, wide),
            (Opcode::Smin, I32 | I64) => self.choose(When::Greater, result, args, wide),
            (Opcode::Smax, I32 | I64) => self.choose(When::Less, result, args, wide),
            _ => match alu(opcode) {
                Some(op) => self.alu(op, result, args, wide),
                None => self.float_binary(result, opcode, args),
            },
        }
    }

    /// If one of two values is the complement of a third that is made where it is read: that one, and the other.
    fn complement(&self, [first, second]: [Value; 2]) -> Option<(Value, Value)> {
        let inverted = |value| match self.values.of_value(value).moved {
            Some(Moved::Not(inverted)) => Some(inverted),
            _ => None,
        };
        let swapped = || Some((inverted(first)?, second));
        inverted(second).map(|inverted| (inverted, first)).or_else(swapped)
    }

    fn and_not(&mut self, result: Value, args: [Value; 2], wide: bool) -> Option<()> {
        let (inverted, other) = self.complement(args)?;
        let inverted = self.register(inverted, Gpr::Rax)?;
        let operand = self.operand(other)?;
        let rm = self.rm(operand, wide, Gpr::Rcx);
        let to = self.target(result);
        self.out.and_not(wide, to, inverted, rm);
        self.finish(result, to);
        Some(())
    }

    /// Puts the first of two operands into the register where their result is made; the other one is still where the second
    /// result says. Operands that may change places do so if one is in that register already, or is a constant.
    fn prepare(&mut self, result: Value, args: [Value; 2], commutes: bool) -> Option<(Gpr, Operand)> {
        let to = self.target(result);
        let (mut first, mut second) = (self.operand(args[0])?, self.operand(args[1])?);
        if commutes && (second == Operand::Reg(to) || matches!(first, Operand::Imm(_))) {
            std::mem::swap(&mut first, &mut second);
        }
        if second.is_at(to) && first != Operand::Reg(to) {
            self.load(Gpr::Rcx, second, true);
            second = Operand::Reg(Gpr::Rcx);
        }
        self.load(to, first, true);
        Some((to, second))
    }

    fn alu(&mut self, op: Alu, result: Value, args: [Value; 2], wide: bool) -> Option<()> {
        let ty = self.func.dfg.value_type(result);
        let (first, second) = (self.operand(args[0])?, self.operand(args[1])?);
        if let (Alu::Add, Operand::Reg(base), Operand::Imm(value)) = (op, first, second)
            && let Some(offset) = short(value, ty)
            && base != self.target(result)
        {
            let to = self.target(result);
            if wide {
                self.out.lea(to, Mem::At(base, offset));
            } else {
                self.out.lea32(to, Mem::At(base, offset));
            }
            self.finish(result, to);
            return Some(());
        }
        let (to, second) = self.prepare(result, args, op != Alu::Sub)?;
        self.alu_operand(op, to, second, ty);
        self.finish(result, to);
        Some(())
    }

    /// Arithmetic on a register and an operand of a type.
    fn alu_operand(&mut self, op: Alu, to: Gpr, second: Operand, ty: Type) {
        match second {
            Operand::Imm(0) if op == Alu::Cmp => self.out.test(ty == I64, to),
            Operand::Imm(value) if short(value, ty).is_some() => self.out.alu_imm(op, ty == I64, to, value as i32),
            _ => {
                let rm = self.rm(second, ty == I64, Gpr::Rcx);
                self.out.alu(op, ty == I64, to, rm);
            }
        }
    }

    fn multiply(&mut self, result: Value, args: [Value; 2], wide: bool) -> Option<()> {
        let (to, second) = self.prepare(result, args, true)?;
        let rm = self.rm(second, wide, Gpr::Rcx);
        self.out.imul(wide, to, rm);
        self.finish(result, to);
        Some(())
    }

    /// The upper halves of products of 32 bits.
    fn upper_product(&mut self, result: Value, args: [Value; 2], signed: bool) -> Option<()> {
        for (arg, to) in args.into_iter().zip([Gpr::Rax, Gpr::Rcx]) {
            let operand = self.operand(arg)?;
            if signed {
                let rm = self.rm(operand, false, to);
                self.out.sign_extend32(to, rm);
            } else {
                self.load(to, operand, false);
            }
        }
        self.out.imul(true, Gpr::Rax, Gpr::Rcx);
        self.out.shift_imm(Shift::Right, true, Gpr::Rax, 32);
        self.finish(result, Gpr::Rax);
        Some(())
    }

    fn shift(&mut self, shift: Shift, result: Value, [value, by]: [Value; 2], wide: bool) -> Option<()> {
        let to = self.target(result);
        let operand = self.operand(value)?;
        if let Operand::Imm(by) = self.operand(by)? {
            self.load(to, operand, true);
            self.out.shift_imm(shift, wide, to, by as u8 & if wide { 63 } else { 31 });
        } else {
            let rm = self.rm(operand, wide, Gpr::Rax);
            let by = self.register(by, Gpr::Rcx)?;
            self.out.shift_register(shift, wide, to, rm, by);
        }
        self.finish(result, to);
        Some(())
    }

    /// One of two values: the second if a comparison of the first with it says so.
    fn choose(&mut self, when: When, result: Value, [first, second]: [Value; 2], wide: bool) -> Option<()> {
        let (first, second) = (self.operand(first)?, self.operand(second)?);
        let to = self.target_before(result, second);
        self.load(to, first, true);
        let rm = self.rm(second, wide, Gpr::Rcx);
        self.out.alu(Alu::Cmp, wide, to, rm);
        self.out.mov_if(when, wide, to, rm);
        self.finish(result, to);
        Some(())
    }

    fn select(&mut self, result: Value, [condition, yes, no]: [Value; 3], wide: bool) -> Option<()> {
        let when = self.condition(condition)?;
        let (yes, no) = (self.operand(yes)?, self.operand(no)?);
        if (yes, no) == (Operand::Imm(1), Operand::Imm(0)) {
            self.truth(result, when);
            return Some(());
        }
        let to = self.target_before(result, yes);
        let rm = self.rm(yes, wide, Gpr::Rcx);
        self.load(to, no, true);
        self.out.mov_if(when, wide, to, rm);
        self.finish(result, to);
        Some(())
    }

    /// Compares two values; the result says when the condition is true.
    pub(super) fn compare(&mut self, [first, second]: [Value; 2], condition: IntCC) -> Option<When> {
        let ty = self.func.dfg.value_type(first);
        if ty == I8 {
            return None;
        }
        let (mut first, mut second, mut condition) = (self.operand(first)?, self.operand(second)?, condition);
        if matches!(first, Operand::Imm(_)) || matches!((first, second), (Operand::Mem(..), Operand::Reg(_))) {
            (first, second, condition) = (second, first, condition.swap_args());
        }
        match (first, second) {
            (Operand::Mem(mem, whole), Operand::Imm(value)) if (whole || ty == I32) && short(value, ty).is_some() => {
                self.out.alu_imm(Alu::Cmp, ty == I64, mem, value as i32);
            }
            _ => {
                let first = self.in_register(first, Gpr::Rax);
                self.alu_operand(Alu::Cmp, first, second, ty);
            }
        }
        Some(when(condition))
    }

    /// Makes 1 if a condition holds, or 0.
    fn truth(&mut self, result: Value, when: When) {
        self.out.set(when, Gpr::Rax);
        let to = self.target(result);
        self.out.zero_extend8(to, Gpr::Rax);
        self.finish(result, to);
    }
}

/// A constant of a type as instructions have it: 32 bits, sign-extended to the type's.
fn short(value: i64, ty: Type) -> Option<i32> {
    if ty == I64 { i32::try_from(value).ok() } else { Some(value as i32) }
}

/// The instruction for an operation on two integers or two masks, if there is one that puts the result in the first's place.
fn alu(opcode: Opcode) -> Option<Alu> {
    match opcode {
        Opcode::Iadd => Some(Alu::Add),
        Opcode::Isub => Some(Alu::Sub),
        Opcode::Band => Some(Alu::And),
        Opcode::Bor => Some(Alu::Or),
        Opcode::Bxor => Some(Alu::Xor),
        _ => None,
    }
}

fn when(condition: IntCC) -> When {
    match condition {
        IntCC::Equal => When::Zero,
        IntCC::NotEqual => When::NotZero,
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
