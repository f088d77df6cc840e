//! Instructions on floats: values come as bits from general registers and go back there.

use super::allocate::Place;
use super::emit::Emitter;
use super::x64::{Float, Reg, When, Xmm};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{Opcode, Type, Value};

/// Free between any two instructions.
const FREE: Xmm = Xmm(15);

impl Emitter<'_> {
    /// The register that a vector or a float is in.
    pub(super) fn xmm(&self, value: Value) -> Xmm {
        match self.places.of_value(self.values.of_value(value).root) {
            Place::Xmm(register) => register,
            _ => unreachable!("vectors and floats are in vector registers"),
        }
    }

    /// The same bits as another type.
    pub(super) fn bitcast(&mut self, result: Value, arg: Value) {
        let (from, to) = (self.func.dfg.value_type(arg), self.func.dfg.value_type(result));
        if to.is_float() {
            let register = self.register(arg, Reg::Rax);
            self.out.move_to_float(to == F64, self.xmm(result), register);
        } else {
            let made = self.target(result);
            self.out.move_from_float(from == F64, made, self.xmm(arg));
            self.finish(result, made);
        }
    }

    /// Arithmetic on two floats. False if it is none.
    pub(super) fn float_binary(&mut self, result: Value, opcode: Opcode, [first, second]: [Value; 2]) -> bool {
        let op = match opcode {
            Opcode::Fadd => Float::Add,
            Opcode::Fsub => Float::Sub,
            Opcode::Fmul => Float::Mul,
            Opcode::Fdiv => Float::Div,
            _ => return false,
        };
        let double = self.func.dfg.value_type(result) == F64;
        self.out.float(op, double, self.xmm(result), self.xmm(first), self.xmm(second));
        true
    }

    /// What is made of one float, or becomes one. False if it is neither.
    pub(super) fn float_unary(&mut self, result: Value, opcode: Opcode, arg: Value) -> bool {
        let (from, ty) = (self.func.dfg.value_type(arg), self.func.dfg.value_type(result));
        let double = ty == F64;
        match opcode {
            Opcode::Sqrt => self.out.float(Float::Sqrt, double, self.xmm(result), self.xmm(arg), self.xmm(arg)),
            Opcode::Fpromote => self.out.float(Float::Convert, false, self.xmm(result), self.xmm(arg), self.xmm(arg)),
            Opcode::Fdemote => self.out.float(Float::Convert, true, self.xmm(result), self.xmm(arg), self.xmm(arg)),
            Opcode::Nearest => self.out.round(double, self.xmm(result), self.xmm(arg), 0),
            Opcode::Floor => self.out.round(double, self.xmm(result), self.xmm(arg), 1),
            Opcode::Ceil => self.out.round(double, self.xmm(result), self.xmm(arg), 2),
            Opcode::Trunc => self.out.round(double, self.xmm(result), self.xmm(arg), 3),
            Opcode::FcvtFromUint => {
                let operand = self.operand(arg);
                self.load(Reg::Rax, operand, false);
                self.out.float_of_integer(double, self.xmm(result), Reg::Rax);
            }
            Opcode::FcvtFromSint => {
                let operand = self.operand(arg);
                let rm = self.rm(operand, Reg::Rax);
                self.out.sign_extend32(Reg::Rax, rm);
                self.out.float_of_integer(double, self.xmm(result), Reg::Rax);
            }
            Opcode::FcvtToUintSat => self.nearest_integer(result, arg, from, [0, u32::MAX.into()]),
            Opcode::FcvtToSintSat => self.nearest_integer(result, arg, from, [i32::MIN.into(), i32::MAX.into()]),
            _ => return false,
        }
        true
    }

    /// The integer of 32 bits that is nearest to a float towards zero within bounds, 0 for what is no number.
    fn nearest_integer(&mut self, result: Value, arg: Value, from: Type, [least, most]: [i64; 2]) {
        let (double, source) = (from == F64, self.xmm(arg));
        // What is larger is too large for 64 bits at some point; what is no number stays.
        let beyond = if double { (2f64.powi(33)).to_bits() as i64 } else { i64::from(2f32.powi(33).to_bits()) };
        self.out.mov_imm(Reg::Rax, beyond);
        self.out.move_to_float(double, FREE, Reg::Rax);
        self.out.float(Float::Min, double, FREE, FREE, source);
        self.out.integer_of_float(double, Reg::Rax, FREE);
        for (bound, beyond) in [(least, When::Less), (most, When::Greater)] {
            self.out.mov_imm(Reg::Rcx, bound);
            self.out.compare(Reg::Rax, Reg::Rcx);
            self.out.mov_if(beyond, true, Reg::Rax, Reg::Rcx);
        }
        self.out.mov_imm(Reg::Rcx, 0);
        self.out.compare_floats(double, source, source);
        // Narrow: the upper half becomes 0 whatever the condition.
        self.out.mov_if(When::Unordered, false, Reg::Rax, Reg::Rcx);
        self.finish(result, Reg::Rax);
    }

    /// Multiplies the first two and adds the third, rounding once.
    pub(super) fn fused(&mut self, result: Value, [a, b, c]: [Value; 3]) {
        let double = self.func.dfg.value_type(result) == F64;
        self.out.copy_vector(FREE, self.xmm(a));
        self.out.multiply_add(double, FREE, self.xmm(b), self.xmm(c));
        self.out.copy_vector(self.xmm(result), FREE);
    }
}

/// Whether an instruction on these types is one that is made here.
pub(super) fn is_supported(opcode: Opcode, args: &[Type], result: Option<Type>) -> bool {
    let Some(result) = result else { return false };
    let floats = args.iter().all(|ty| [F32, F64].contains(ty));
    match opcode {
        Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv | Opcode::Fma | Opcode::Sqrt => floats,
        Opcode::Nearest | Opcode::Floor | Opcode::Ceil | Opcode::Trunc => floats,
        Opcode::Fpromote | Opcode::Fdemote => floats,
        Opcode::FcvtFromUint | Opcode::FcvtFromSint => args == [I32] && [F32, F64].contains(&result),
        Opcode::FcvtToUintSat | Opcode::FcvtToSintSat => floats && result == I32,
        Opcode::Bitcast => [(I32, F32), (F32, I32), (I64, F64), (F64, I64)].contains(&(args[0], result)),
        _ => false,
    }
}
