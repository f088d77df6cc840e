//! Construction of nodes with folding: algebraic identities and constants never enter the list.

use super::{Block, Fcc, Fenv, Icc, Node, Op, Shape, Ty, Value};

impl Block {
    /// A uniform constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let imm = match ty {
            Ty::B1 => bits & 1,
            Ty::B32 => bits & 0xffff_ffff,
            _ => bits,
        };
        self.pure(Node { op: Op::Const, ty, shape: Shape::Uniform, fenv: Fenv::Any, args: [Value::NONE; 3], imm })
    }

    /// The constant a value is.
    pub fn as_const(&self, value: Value) -> Option<u64> {
        let node = self.node(value);
        (node.op == Op::Const).then_some(node.imm)
    }

    /// A pure operation; the shape follows from the arguments.
    pub fn op(&mut self, op: Op, ty: Ty, fenv: Fenv, args: &[Value], imm: u64) -> Value {
        let mut all = [Value::NONE; 3];
        all[..args.len()].copy_from_slice(args);
        if let Some(value) = self.folded(op, ty, &all) {
            return value;
        }
        let widest = args.iter().map(|arg| self.node(*arg).shape).max().unwrap_or(Shape::Uniform);
        let shape = match op {
            Op::Spread | Op::LaneId | Op::GroupId | Op::Vgpr | Op::VgprAt | Op::LdsRow | Op::Call | Op::Inline => {
                Shape::Lane
            }
            Op::Bits | Op::ReadLane | Op::CallUniform => Shape::Uniform,
            _ => widest,
        };
        self.pure(Node { op, ty, shape, fenv, args: all, imm })
    }

    fn folded(&mut self, op: Op, ty: Ty, args: &[Value; 3]) -> Option<Value> {
        self.structural(op, ty, args).or_else(|| self.identity(op, ty, args)).or_else(|| self.evaluated(op, ty, args))
    }

    /// Halves of pairs, bits of masks, selects that choose nothing.
    fn structural(&mut self, op: Op, ty: Ty, args: &[Value; 3]) -> Option<Value> {
        let first = *self.nodes.get(args[0].index())?;
        match op {
            Op::Lo if first.op == Op::Pack => Some(first.args[0]),
            Op::Hi if first.op == Op::Pack => Some(first.args[1]),
            Op::Lo if first.op == Op::SExt => Some(first.args[0]),
            Op::Lo | Op::Hi if first.shape == Shape::Lane => self.half(op, &first),
            Op::Pack => self.repacked(args[0], args[1]),
            Op::Spread if first.op == Op::Bits => Some(first.args[0]),
            Op::Spread if first.op == Op::Const && (first.imm == 0 || first.imm == u64::MAX) => {
                Some(self.constant(Ty::B1, first.imm))
            }
            Op::Bits if first.op == Op::Spread => Some(first.args[0]),
            Op::Bits if first.op == Op::Const => Some(self.constant(Ty::B64, first.imm.wrapping_neg())),
            Op::Bits if first.shape == Shape::Uniform => {
                let (all, none) = (self.constant(Ty::B64, u64::MAX), self.constant(Ty::B64, 0));
                Some(self.op(Op::Select, Ty::B64, Fenv::Any, &[args[0], all, none], 0))
            }
            Op::Bits if first.op == Op::And => self.bits_and(&first),
            Op::ReadLane if first.shape == Shape::Uniform => Some(args[0]),
            Op::Select if args[1] == args[2] => Some(args[1]),
            Op::Select if first.op == Op::Const => Some(args[if first.imm != 0 { 1 } else { 2 }]),
            Op::Select if ty == Ty::B1 => self.boolean_select(args),
            Op::Shl | Op::Shr | Op::Sar if first.op == Op::Pack && first.shape == Shape::Lane => {
                self.shift_pair(op, args)
            }
            Op::Icmp(cc) if first.ty == Ty::B64 => self.compare_pairs(cc, args),
            Op::Or if ty == Ty::B32 => self.rotated_half(args),
            _ => None,
        }
    }

    /// Bits of integers that are compared in some lanes: they are compared in all, and the mask is a matter of scalars. So
    /// what comes of the mask (EXEC, mostly) does not wait for lanes that waited for it.
    fn bits_and(&mut self, mask: &Node) -> Option<Value> {
        let [a, b, _] = mask.args;
        let (compared, active) = if self.node(a).op == Op::Spread { (b, a) } else { (a, b) };
        let is_split = matches!(self.node(compared).op, Op::Icmp(_)) && self.node(active).op == Op::Spread;
        is_split.then(|| {
            let active = self.node(active).args[0];
            let all = self.op(Op::Bits, Ty::B64, Fenv::Any, &[compared, active], 0);
            self.op(Op::And, Ty::B64, Fenv::Any, &[all, active], 0)
        })
    }

    /// Selecting between constants of B1 is the condition itself, or its negation.
    fn boolean_select(&mut self, args: &[Value; 3]) -> Option<Value> {
        match (self.as_const(args[1])?, self.as_const(args[2])?) {
            (1, 0) => Some(args[0]),
            (0, 1) => {
                let one = self.constant(Ty::B1, 1);
                Some(self.op(Op::Xor, Ty::B1, Fenv::Any, &[args[0], one], 0))
            }
            _ => None,
        }
    }

    /// `Pack(Lo x, Hi x)` is x.
    fn repacked(&mut self, lo: Value, hi: Value) -> Option<Value> {
        let (l, h) = (*self.node(lo), *self.node(hi));
        match (l.op, h.op) {
            (Op::Lo, Op::Hi) if l.args[0] == h.args[0] => Some(l.args[0]),
            (Op::Const, Op::Const) => Some(self.constant(Ty::B64, l.imm | h.imm << 32)),
            _ => None,
        }
    }

    /// x + 0, x & x and their like.
    fn identity(&mut self, op: Op, ty: Ty, args: &[Value; 3]) -> Option<Value> {
        let ones = match ty {
            Ty::B1 => 1,
            Ty::B32 => 0xffff_ffff,
            _ => u64::MAX,
        };
        let (a, b) = (args[0], args[1]);
        let left = (a != Value::NONE).then(|| self.as_const(a)).flatten();
        let right = (b != Value::NONE).then(|| self.as_const(b)).flatten();
        match op {
            Op::Add | Op::Or | Op::Xor if left == Some(0) => Some(b),
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Sar if right == Some(0) => Some(a),
            Op::And if left == Some(ones) => Some(b),
            Op::And if right == Some(ones) => Some(a),
            Op::And | Op::Mul if left == Some(0) => Some(a),
            Op::And | Op::Mul if right == Some(0) => Some(b),
            Op::Mul if left == Some(1) => Some(b),
            Op::Mul if right == Some(1) => Some(a),
            Op::Or if left == Some(ones) => Some(a),
            Op::Or if right == Some(ones) => Some(b),
            Op::And | Op::Or if a == b => Some(a),
            Op::And | Op::Or => self.absorbed(op, a, b).or_else(|| self.absorbed(op, b, a)),
            Op::Xor | Op::Sub if a == b => Some(self.constant(ty, 0)),
            Op::Icmp(Icc::Ult) if right == Some(0) => Some(self.constant(ty, 0)),
            _ => None,
        }
    }

    /// `(x & b) & b` is `x & b`, and `(x & b) | b` is b; so are those with both signs swapped.
    fn absorbed(&self, op: Op, a: Value, b: Value) -> Option<Value> {
        let inner = self.node(a);
        let is_inner = matches!(inner.op, Op::And | Op::Or) && inner.args().any(|arg| arg == b);
        is_inner.then_some(if inner.op == op { a } else { b })
    }

    /// Integer operations on constants.
    fn evaluated(&mut self, op: Op, ty: Ty, args: &[Value; 3]) -> Option<Value> {
        let a = self.as_const(*args.first().filter(|v| **v != Value::NONE)?)?;
        let b = if args[1] == Value::NONE { 0 } else { self.as_const(args[1])? };
        let bits = match (op, ty) {
            (Op::Icmp(cc), _) => u64::from(compare(cc, self.node(args[0]).ty, a, b)),
            (Op::Add, _) => a.wrapping_add(b),
            (Op::Sub, _) => a.wrapping_sub(b),
            (Op::Mul, _) => a.wrapping_mul(b),
            (Op::And, _) => a & b,
            (Op::Or, _) => a | b,
            (Op::Xor, _) => a ^ b,
            (Op::Shl, Ty::B32) => a << (b & 31),
            (Op::Shl, Ty::B64) => a << (b & 63),
            (Op::Shr, Ty::B32) => a >> (b & 31),
            (Op::Shr, Ty::B64) => a >> (b & 63),
            (Op::Sar, Ty::B32) => i64::from(a as u32 as i32 >> (b & 31)) as u64,
            (Op::Lo, _) => a,
            (Op::Hi, _) => a >> 32,
            (Op::SExt, _) => i64::from(a as u32 as i32) as u64,
            _ => return None,
        };
        Some(self.constant(ty, bits))
    }
}

fn compare(cc: Icc, ty: Ty, a: u64, b: u64) -> bool {
    let signed = |v: u64| if ty == Ty::B32 { i64::from(v as u32 as i32) } else { v as i64 };
    match cc {
        Icc::Eq => a == b,
        Icc::Ne => a != b,
        Icc::Ult => a < b,
        Icc::Ule => a <= b,
        Icc::Slt => signed(a) < signed(b),
        Icc::Sle => signed(a) <= signed(b),
    }
}

/// Shorthands: the vocabulary that the twins in `build` are written in.
#[allow(missing_docs, reason = "each is the operation of its name")]
impl Block {
    pub fn b32(&mut self, bits: u32) -> Value {
        self.constant(Ty::B32, u64::from(bits))
    }
    pub fn b64(&mut self, bits: u64) -> Value {
        self.constant(Ty::B64, bits)
    }
    pub fn ty(&self, v: Value) -> Ty {
        self.node(v).ty
    }
    /// A constant of the width of `a`.
    pub fn constant_like(&mut self, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        self.constant(ty, bits)
    }

    fn binary(&mut self, op: Op, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.ty(a), self.ty(b), "{op:?} of different widths");
        let ty = self.ty(a);
        self.op(op, ty, Fenv::Any, &[a, b], 0)
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Add, a, b)
    }
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Sub, a, b)
    }
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Mul, a, b)
    }
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::And, a, b)
    }
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Or, a, b)
    }
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Xor, a, b)
    }
    pub fn min_u(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MinU, a, b)
    }
    pub fn max_u(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MaxU, a, b)
    }
    pub fn min_s(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MinS, a, b)
    }
    pub fn max_s(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MaxS, a, b)
    }
    pub fn mul_hi_u(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MulHiU, a, b)
    }
    pub fn mul_hi_s(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::MulHiS, a, b)
    }
    pub fn mul_wide(&mut self, a: Value, b: Value) -> Value {
        self.op(Op::MulWide, Ty::B64, Fenv::Any, &[a, b], 0)
    }

    pub fn shl(&mut self, a: Value, n: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Shl, ty, Fenv::Any, &[a, n], 0)
    }
    pub fn shr(&mut self, a: Value, n: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Shr, ty, Fenv::Any, &[a, n], 0)
    }
    pub fn sar(&mut self, a: Value, n: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Sar, ty, Fenv::Any, &[a, n], 0)
    }
    pub fn shl_by(&mut self, a: Value, n: u32) -> Value {
        let n = self.b32(n);
        self.shl(a, n)
    }
    pub fn shr_by(&mut self, a: Value, n: u32) -> Value {
        let n = self.b32(n);
        self.shr(a, n)
    }
    pub fn sar_by(&mut self, a: Value, n: u32) -> Value {
        let n = self.b32(n);
        self.sar(a, n)
    }
    pub fn and_bits(&mut self, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let c = self.constant(ty, bits);
        self.and(a, c)
    }
    pub fn or_bits(&mut self, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let c = self.constant(ty, bits);
        self.or(a, c)
    }
    pub fn xor_bits(&mut self, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let c = self.constant(ty, bits);
        self.xor(a, c)
    }
    pub fn add_bits(&mut self, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let c = self.constant(ty, bits);
        self.add(a, c)
    }
    pub fn not(&mut self, a: Value) -> Value {
        self.xor_bits(a, u64::MAX)
    }
    pub fn andn(&mut self, a: Value, b: Value) -> Value {
        let n = self.not(b);
        self.and(a, n)
    }
    pub fn orn(&mut self, a: Value, b: Value) -> Value {
        let n = self.not(b);
        self.or(a, n)
    }
    pub fn nand(&mut self, a: Value, b: Value) -> Value {
        let both = self.and(a, b);
        self.not(both)
    }
    pub fn nor(&mut self, a: Value, b: Value) -> Value {
        let either = self.or(a, b);
        self.not(either)
    }
    pub fn xnor(&mut self, a: Value, b: Value) -> Value {
        let differ = self.xor(a, b);
        self.not(differ)
    }

    pub fn icmp(&mut self, cc: Icc, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.ty(a), self.ty(b), "comparison of different widths");
        self.op(Op::Icmp(cc), Ty::B1, Fenv::Any, &[a, b], 0)
    }
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Eq, a, b)
    }
    pub fn ne(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Ne, a, b)
    }
    pub fn ult(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Ult, a, b)
    }
    pub fn ule(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Ule, a, b)
    }
    pub fn slt(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Slt, a, b)
    }
    pub fn sle(&mut self, a: Value, b: Value) -> Value {
        self.icmp(Icc::Sle, a, b)
    }
    pub fn is_zero(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        let z = self.constant(ty, 0);
        self.eq(a, z)
    }
    pub fn non_zero(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        let z = self.constant(ty, 0);
        self.ne(a, z)
    }
    pub fn fcmp(&mut self, cc: Fcc, a: Value, b: Value) -> Value {
        let fenv = self.fenv(a);
        self.op(Op::Fcmp(cc), Ty::B1, fenv, &[a, b], 0)
    }
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.ty(a), self.ty(b), "select of different widths");
        let ty = self.ty(a);
        self.op(Op::Select, ty, Fenv::Any, &[c, a, b], 0)
    }
    /// B1 as 0 or 1.
    pub fn b1_to_b32(&mut self, c: Value) -> Value {
        let (one, zero) = (self.b32(1), self.b32(0));
        self.select(c, one, zero)
    }

    fn fenv(&self, a: Value) -> Fenv {
        if self.ty(a) == Ty::B64 { Fenv::F64 } else { Fenv::F32 }
    }
    fn float(&mut self, op: Op, args: &[Value]) -> Value {
        let (ty, fenv) = (self.ty(args[0]), self.fenv(args[0]));
        self.op(op, ty, fenv, args, 0)
    }
    pub fn fadd(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::FAdd, &[a, b])
    }
    pub fn fsub(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::FSub, &[a, b])
    }
    pub fn fmul(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::FMul, &[a, b])
    }
    pub fn fdiv(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::FDiv, &[a, b])
    }
    pub fn fsqrt(&mut self, a: Value) -> Value {
        self.float(Op::FSqrt, &[a])
    }
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.float(Op::Fma, &[a, b, c])
    }
    pub fn ffloor(&mut self, a: Value) -> Value {
        self.float(Op::FFloor, &[a])
    }
    pub fn fceil(&mut self, a: Value) -> Value {
        self.float(Op::FCeil, &[a])
    }
    pub fn ftrunc(&mut self, a: Value) -> Value {
        self.float(Op::FTrunc, &[a])
    }
    pub fn fnearest(&mut self, a: Value) -> Value {
        self.float(Op::FNearest, &[a])
    }
    pub fn s_to_f(&mut self, ty: Ty, a: Value) -> Value {
        let fenv = if ty == Ty::B64 { Fenv::F64 } else { Fenv::F32 };
        self.op(Op::SToF, ty, fenv, &[a], 0)
    }
    pub fn u_to_f(&mut self, ty: Ty, a: Value) -> Value {
        let fenv = if ty == Ty::B64 { Fenv::F64 } else { Fenv::F32 };
        self.op(Op::UToF, ty, fenv, &[a], 0)
    }
    pub fn f_to_s(&mut self, a: Value) -> Value {
        self.op(Op::FToS, Ty::B32, Fenv::Any, &[a], 0)
    }
    pub fn f_to_u(&mut self, a: Value) -> Value {
        self.op(Op::FToU, Ty::B32, Fenv::Any, &[a], 0)
    }
    pub fn promote(&mut self, a: Value) -> Value {
        self.op(Op::Promote, Ty::B64, Fenv::F32, &[a], 0)
    }
    pub fn demote(&mut self, a: Value) -> Value {
        self.op(Op::Demote, Ty::B32, Fenv::F32, &[a], 0)
    }

    pub fn lo(&mut self, a: Value) -> Value {
        self.op(Op::Lo, Ty::B32, Fenv::Any, &[a], 0)
    }
    pub fn hi(&mut self, a: Value) -> Value {
        self.op(Op::Hi, Ty::B32, Fenv::Any, &[a], 0)
    }
    pub fn pack(&mut self, lo: Value, hi: Value) -> Value {
        self.op(Op::Pack, Ty::B64, Fenv::Any, &[lo, hi], 0)
    }
    pub fn zext(&mut self, a: Value) -> Value {
        let z = self.b32(0);
        self.pack(a, z)
    }
    pub fn sext(&mut self, a: Value) -> Value {
        self.op(Op::SExt, Ty::B64, Fenv::Any, &[a], 0)
    }
    pub fn spread(&mut self, bits: Value) -> Value {
        self.op(Op::Spread, Ty::B1, Fenv::Any, &[bits], 0)
    }
    /// What a mask's bits are of, if it is known, else its lanes.
    pub fn lanes(&mut self, bits: Value) -> Value {
        let node = *self.node(bits);
        if node.op != Op::And || node.args().all(|arg| self.node(arg).op != Op::Bits) {
            return self.spread(bits);
        }
        let [a, b] = [node.args[0], node.args[1]].map(|half| self.lanes(half));
        self.op(Op::And, Ty::B1, Fenv::Any, &[a, b], 0)
    }
    pub fn bits(&mut self, mask: Value) -> Value {
        self.op(Op::Bits, Ty::B64, Fenv::Any, &[mask], 0)
    }
    pub fn read_lane(&mut self, a: Value, lane: Value) -> Value {
        self.op(Op::ReadLane, Ty::B32, Fenv::Any, &[a, lane], 0)
    }
    pub fn lane_id(&mut self) -> Value {
        self.op(Op::LaneId, Ty::B32, Fenv::Any, &[], 0)
    }
    pub fn popcnt(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Popcnt, ty, Fenv::Any, &[a], 0)
    }
    pub fn ctz(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Ctz, ty, Fenv::Any, &[a], 0)
    }
    pub fn clz(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Clz, ty, Fenv::Any, &[a], 0)
    }
    pub fn bitrev(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Bitrev, ty, Fenv::Any, &[a], 0)
    }
}
