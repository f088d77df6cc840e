//! Instructions on floats: values come as bits from general registers and go back there.

use super::emit::Emitter;
use crate::x64::{Float, Gpr, When, Xmm};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{Opcode, Value};

/// Free between any two instructions.
const FREE: Xmm = Xmm(15);

impl Emitter<'_> {
    /// The same bits as another type.
    pub(super) fn bitcast(&mut self, result: Value, arg: Value) -> Option<()> {
        match (self.func.dfg.value_type(arg), self.func.dfg.value_type(result)) {
            (I32, F32) | (I64, F64) => {
                let register = self.register(arg, Gpr::Rax)?;
                self.out.move_to_float(self.is_double(result), self.xmm(result)?, register);
            }
            (F32, I32) | (F64, I64) => {
                let made = self.target(result);
                self.out.move_from_float(self.is_double(arg), made, self.xmm(arg)?);
                self.finish(result, made);
            }
            _ => return None,
        }
        Some(())
    }

    fn is_double(&self, value: Value) -> bool {
        self.func.dfg.value_type(value) == F64
    }

    /// Arithmetic on two floats.
    pub(super) fn float_binary(&mut self, result: Value, opcode: Opcode, [first, second]: [Value; 2]) -> Option<()> {
        let op = match opcode {
            Opcode::Fadd => Float::Add,
            Opcode::Fsub => Float::Sub,
            Opcode::Fmul => Float::Mul,
            Opcode::Fdiv => Float::Div,
            _ => return None,
        };
        self.out.float(op, self.is_double(result), self.xmm(result)?, self.xmm(first)?, self.xmm(second)?);
        Some(())
    }

    /// What is made of one float.
    pub(super) fn float_unary(&mut self, result: Value, opcode: Opcode, arg: Value) -> Option<()> {
        let source = self.xmm(arg)?;
        match opcode {
            Opcode::FcvtToUintSat => return self.nearest_integer(result, arg, [0, u32::MAX.into()]),
            Opcode::FcvtToSintSat => return self.nearest_integer(result, arg, [i32::MIN.into(), i32::MAX.into()]),
            _ => {}
        }
        let (to, double) = (self.xmm(result)?, self.is_double(arg));
        match opcode {
            Opcode::Sqrt => self.out.float(Float::Sqrt, double, to, source, source),
            Opcode::Fpromote | Opcode::Fdemote => self.out.float(Float::Convert, double, to, source, source),
            Opcode::Nearest => self.out.round(double, to, source, 0),
            Opcode::Floor => self.out.round(double, to, source, 1),
            Opcode::Ceil => self.out.round(double, to, source, 2),
            Opcode::Trunc => self.out.round(double, to, source, 3),
            _ => return None,
        }
        Some(())
    }

    /// An integer of 32 bits as a float.
    pub(super) fn float_of_integer(&mut self, result: Value, opcode: Opcode, arg: Value) -> Option<()> {
        let (to, operand) = (self.xmm(result)?, self.operand(arg)?);
        match (opcode, self.func.dfg.value_type(arg)) {
            (Opcode::FcvtFromUint, I32) => self.load(Gpr::Rax, operand, false),
            (Opcode::FcvtFromSint, I32) => {
                let rm = self.rm(operand, false, Gpr::Rax);
                self.out.sign_extend32(Gpr::Rax, rm);
            }
            _ => return None,
        }
        self.out.float_of_integer(self.is_double(result), to, Gpr::Rax);
        Some(())
    }

    /// The integer of 32 bits that is nearest to a float towards zero within bounds, 0 for what is no number.
    fn nearest_integer(&mut self, result: Value, arg: Value, [least, most]: [i64; 2]) -> Option<()> {
        if self.func.dfg.value_type(result) != I32 {
            return None;
        }
        let (double, source) = (self.is_double(arg), self.xmm(arg)?);
        // What is larger is too large for 64 bits at some point; what is no number stays.
        let beyond = if double { (2f64.powi(33)).to_bits() as i64 } else { i64::from(2f32.powi(33).to_bits()) };
        self.out.mov_imm(Gpr::Rax, beyond);
        self.out.move_to_float(double, FREE, Gpr::Rax);
        self.out.float(Float::Min, double, FREE, FREE, source);
        self.out.integer_of_float(double, Gpr::Rax, FREE);
        for (bound, beyond) in [(least, When::Less), (most, When::Greater)] {
            self.out.mov_imm(Gpr::Rcx, bound);
            self.out.compare_registers(Gpr::Rax, Gpr::Rcx);
            self.out.mov_if(beyond, true, Gpr::Rax, Gpr::Rcx);
        }
        self.out.mov_imm(Gpr::Rcx, 0);
        self.out.compare_floats(double, source, source);
        // Narrow: the upper half becomes 0 whatever the condition.
        self.out.mov_if(When::Unordered, false, Gpr::Rax, Gpr::Rcx);
        self.finish(result, Gpr::Rax);
        Some(())
    }

    /// Multiplies the first two and adds the third, rounding once.
    pub(super) fn fused(&mut self, result: Value, [a, b, c]: [Value; 3]) -> Option<()> {
        let double = self.is_double(result);
        self.out.copy_vector(FREE, self.xmm(a)?);
        self.out.multiply_add(double, FREE, self.xmm(b)?, self.xmm(c)?);
        self.out.copy_vector(self.xmm(result)?, FREE);
        Some(())
    }
}
