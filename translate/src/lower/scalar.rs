//! Uniform nodes as CLIF scalars. A B1 is an i8 of 0 or 1.

use super::{Lower, SCRATCH_ROWS, scalar_type};
use crate::lane::{Fcc, Fenv, Icc, Node, Op, Ty, Value};
use crate::libcall;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::{Row, Wave};
use std::mem::{offset_of, size_of};

impl Lower<'_, '_> {
    /// The CLIF value of a uniform node, computed where it is first needed.
    pub(super) fn uniform(&mut self, value: Value) -> ir::Value {
        if let Some(known) = self.uniform[value.index()] {
            return known;
        }
        let node = *self.block.node(value);
        if node.fenv != Fenv::Any {
            self.set_fenv(node.fenv);
        }
        let outer = self.locate(Some(self.block.origin(value)));
        let result = match self.halves.get(&value) {
            Some((pair, upper)) => self.half(value, *pair, *upper),
            None => self.compute(value, &node),
        };
        self.locate(outer);
        self.uniform[value.index()] = Some(result);
        result
    }

    fn compute(&mut self, value: Value, node: &Node) -> ir::Value {
        let ty = scalar_type(node.ty);
        match node.op {
            Op::Const => self.fb.ins().iconst(ty, node.imm as i64),
            Op::Sgpr => self.load_sgpr(value, (node.imm & 0xff) as usize),
            Op::Scc => {
                let scc = self.load_wave(offset_of!(Wave, scc));
                self.fb.ins().ireduce(I8, scc)
            }
            Op::Mode => self.load_wave(offset_of!(Wave, mode)),
            Op::Trapsts => self.load_wave(offset_of!(Wave, trapsts)),
            Op::SgprAt => {
                let address = self.indexed_sgpr(node, node.args[0]);
                self.fb.ins().load(I32, MemFlagsData::trusted(), address, 0)
            }
            Op::Hi => {
                let pair = self.uniform(node.args[0]);
                self.half(value, pair, true)
            }
            Op::CallUniform => self.call_uniform(node),
            Op::ScalarLoad => self.proven_load(node),
            Op::Bits => unreachable!("bits of lanes are results of segments"),
            _ => {
                let mut args = [ir::Value::from_u32(0); 3];
                for (i, arg) in node.args().enumerate() {
                    args[i] = self.uniform(arg);
                }
                self.operate(node, args)
            }
        }
    }

    fn load_wave(&mut self, offset: usize) -> ir::Value {
        self.fb.ins().load(I32, MemFlagsData::trusted(), self.wave, offset as i32)
    }

    /// Reads an SGPR.
    fn load_sgpr(&mut self, value: Value, register: usize) -> ir::Value {
        let at = offset_of!(Wave, sgpr) + 4 * register;
        let extended = self.fb.ins().uload32(MemFlagsData::trusted(), self.wave, at as i32);
        self.narrow(value, extended)
    }

    /// A B32 value that is there zero-extended. Most of those in registers go to the wider back end's code like that.
    pub(super) fn narrow(&mut self, value: Value, extended: ir::Value) -> ir::Value {
        self.extended.insert(value, extended);
        self.fb.ins().ireduce(I32, extended)
    }

    /// A uniform value in 64 bits: a B32 is zero-extended, a B1 is all zeros or all ones.
    pub(super) fn extended(&mut self, value: Value) -> ir::Value {
        let scalar = self.uniform(value);
        match self.block.node(value).ty {
            Ty::B64 => scalar,
            Ty::B1 => {
                let wide = self.fb.ins().uextend(I64, scalar);
                self.fb.ins().ineg(wide)
            }
            _ => match self.extended.get(&value) {
                Some(known) => *known,
                None => self.fb.ins().uextend(I64, scalar),
            },
        }
    }

    fn operate(&mut self, node: &Node, [a, b, c]: [ir::Value; 3]) -> ir::Value {
        let ins = self.fb.ins();
        match node.op {
            Op::Add => ins.iadd(a, b),
            Op::Sub => ins.isub(a, b),
            Op::Mul => ins.imul(a, b),
            Op::And => ins.band(a, b),
            Op::Or => ins.bor(a, b),
            Op::Xor => ins.bxor(a, b),
            Op::MulHiU => ins.umulhi(a, b),
            Op::MulHiS => ins.smulhi(a, b),
            Op::Shl => ins.ishl(a, b),
            Op::Shr => ins.ushr(a, b),
            Op::Sar => ins.sshr(a, b),
            Op::MinU => ins.umin(a, b),
            Op::MaxU => ins.umax(a, b),
            Op::MinS => ins.smin(a, b),
            Op::MaxS => ins.smax(a, b),
            Op::Popcnt => ins.popcnt(a),
            Op::Ctz => ins.ctz(a),
            Op::Clz => ins.clz(a),
            Op::Bitrev => ins.bitrev(a),
            Op::Icmp(cc) => ins.icmp(int_cc(cc), a, b),
            Op::Select => ins.select(a, b, c),
            Op::Lo => ins.ireduce(I32, a),
            Op::SExt => ins.sextend(I64, a),
            _ => self.operate_wide(node, [a, b, c]),
        }
    }

    fn operate_wide(&mut self, node: &Node, [a, b, c]: [ir::Value; 3]) -> ir::Value {
        match node.op {
            Op::Pack => {
                let (low, high) = (self.fb.ins().uextend(I64, a), self.fb.ins().uextend(I64, b));
                let high = self.fb.ins().ishl_imm_u(high, 32);
                self.fb.ins().bor(low, high)
            }
            Op::MulWide => {
                let (a, b) = (self.fb.ins().uextend(I64, a), self.fb.ins().uextend(I64, b));
                self.fb.ins().imul(a, b)
            }
            _ => self.operate_float(node, [a, b, c]),
        }
    }

    /// What is a half of a 64-bit value.
    fn half(&mut self, value: Value, pair: ir::Value, upper: bool) -> ir::Value {
        if !upper {
            return self.fb.ins().ireduce(I32, pair);
        }
        let extended = self.fb.ins().ushr_imm_u(pair, 32);
        self.narrow(value, extended)
    }

    fn operate_float(&mut self, node: &Node, [a, b, c]: [ir::Value; 3]) -> ir::Value {
        let source = self.block.node(node.args[0]).ty;
        match node.op {
            Op::Fcmp(cc) => {
                let (a, b) = (self.float(a), self.float(b));
                self.fb.ins().fcmp(float_cc(cc), a, b)
            }
            Op::SToF => {
                let f = self.fb.ins().fcvt_from_sint(float_type(node.ty), a);
                self.bits(f)
            }
            Op::UToF => {
                let f = self.fb.ins().fcvt_from_uint(float_type(node.ty), a);
                self.bits(f)
            }
            Op::FToS => {
                let f = self.float(a);
                self.fb.ins().fcvt_to_sint_sat(I32, f)
            }
            Op::FToU => {
                let f = self.float(a);
                self.fb.ins().fcvt_to_uint_sat(I32, f)
            }
            Op::Promote => {
                let f = self.float(a);
                let f = self.fb.ins().fpromote(F64, f);
                self.bits(f)
            }
            Op::Demote => {
                let f = self.float(a);
                let f = self.fb.ins().fdemote(F32, f);
                self.bits(f)
            }
            _ => {
                let used = node.args().count();
                let mut args = [a, b, c];
                for arg in &mut args[..used] {
                    *arg = self.float(*arg);
                }
                debug_assert_eq!(source, node.ty, "{:?} keeps the width", node.op);
                let f = self.arithmetic(node.op, args);
                self.bits(f)
            }
        }
    }

    /// Float arithmetic, the same for scalars and vectors.
    pub(super) fn arithmetic(&mut self, op: Op, [a, b, c]: [ir::Value; 3]) -> ir::Value {
        let ins = self.fb.ins();
        match op {
            Op::FAdd => ins.fadd(a, b),
            Op::FSub => ins.fsub(a, b),
            Op::FMul => ins.fmul(a, b),
            Op::FDiv => ins.fdiv(a, b),
            Op::FSqrt => ins.sqrt(a),
            // Of several NaNs the host's instruction gives its second factor's, then the first's, then the addend's.
            Op::Fma => ins.fma(b, a, c),
            Op::FFloor => ins.floor(a),
            Op::FCeil => ins.ceil(a),
            Op::FTrunc => ins.trunc(a),
            Op::FNearest => ins.nearest(a),
            _ => unreachable!("{op:?} is not float arithmetic"),
        }
    }

    fn float(&mut self, bits: ir::Value) -> ir::Value {
        let ty = if self.fb.func.dfg.value_type(bits) == I64 { F64 } else { F32 };
        self.fb.ins().bitcast(ty, MemFlagsData::new(), bits)
    }

    fn bits(&mut self, float: ir::Value) -> ir::Value {
        let ty = if self.fb.func.dfg.value_type(float) == F64 { I64 } else { I32 };
        self.fb.ins().bitcast(ty, MemFlagsData::new(), float)
    }

    /// `fn(u64, u64, u64, imm: u64) -> u64`.
    fn call_uniform(&mut self, node: &Node) -> ir::Value {
        let mut args = Vec::new();
        for arg in node.args() {
            let value = self.uniform(arg);
            let wide = self.fb.func.dfg.value_type(value) == I64;
            args.push(if wide { value } else { self.fb.ins().uextend(I64, value) });
        }
        let zero = self.fb.ins().iconst(I64, 0);
        args.resize(3, zero);
        args.push(self.fb.ins().iconst(I64, (node.imm >> 32) as i64));
        let index = (node.imm & 0xffff_ffff) as usize;
        let callee = libcall::UNIFORM_TABLE[index] as *const () as usize;
        let result = self
            .call_host(libcall::UNIFORM_NAMES[index], callee, &args, Some(I64))
            .expect("a uniform libcall has a result");
        match node.ty {
            Ty::B64 => result,
            ty => self.fb.ins().ireduce(scalar_type(ty), result),
        }
    }

    /// Fills scratch row pair `scratch` with a uniform value.
    pub(super) fn spread_to_scratch(&mut self, value: Value, scratch: usize) -> ir::Value {
        debug_assert!(2 * scratch + 1 < SCRATCH_ROWS);
        let scalar = self.uniform(value);
        let wide = self.block.node(value).ty == Ty::B64;
        let vector = self.fb.ins().splat(if wide { ir::types::I64X2 } else { ir::types::I32X4 }, scalar);
        let row = size_of::<Row>() as i32;
        let address = self.frame_at((self.scratch + 2 * scratch) * size_of::<Row>());
        for offset in (0..if wide { 2 * row } else { row }).step_by(16) {
            self.fb.ins().store(MemFlagsData::trusted(), vector, address, offset);
        }
        address
    }
}

/// The float type of a width.
fn float_type(ty: Ty) -> ir::Type {
    if ty == Ty::B64 { F64 } else { F32 }
}

pub(super) fn int_cc(cc: Icc) -> IntCC {
    match cc {
        Icc::Eq => IntCC::Equal,
        Icc::Ne => IntCC::NotEqual,
        Icc::Ult => IntCC::UnsignedLessThan,
        Icc::Ule => IntCC::UnsignedLessThanOrEqual,
        Icc::Slt => IntCC::SignedLessThan,
        Icc::Sle => IntCC::SignedLessThanOrEqual,
    }
}

pub(super) fn float_cc(cc: Fcc) -> FloatCC {
    match cc {
        Fcc::Eq => FloatCC::Equal,
        Fcc::Lt => FloatCC::LessThan,
        Fcc::Le => FloatCC::LessThanOrEqual,
        Fcc::Ord => FloatCC::Ordered,
        Fcc::Uno => FloatCC::Unordered,
        Fcc::Neq => FloatCC::NotEqual,
        Fcc::Nlt => FloatCC::UnorderedOrGreaterThanOrEqual,
        Fcc::Nle => FloatCC::UnorderedOrGreaterThan,
    }
}
