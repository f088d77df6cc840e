//! Lane nodes as vectors of four dwords or two quadwords.
//!
//! A B32 is an I32X4 for four lanes; a B1 the same, all ones or zeros; a B64 two I64X2. A chunk has
//! `Shaping::vectors` groups of four lanes.

use super::Lower;
use super::scalar::{float_cc, int_cc};
use super::segment::{Body, Version};
use crate::lane::{Icc, Node, Op, Shape, Ty, Value};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, F64X2, I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};

/// The vectors of a chunk, lanes in order.
pub(super) type Lanes = Vec<ir::Value>;

impl Lower<'_, '_> {
    /// Computes a lane node for this chunk.
    pub(super) fn lane_value(&mut self, body: &mut Body, value: Value, full: Option<Value>) -> Lanes {
        let node = *self.block.node(value);
        if self.demand(body.rank).is_loaded(value) {
            return self.load_slot(body, value);
        }
        match node.op {
            Op::Vgpr => self.load_vgpr(body, node.imm & 0xff),
            Op::LaneId => self.lane_ids(body),
            Op::Spread => self.spread(body, node.args[0]),
            _ => {
                let args: Vec<Lanes> = node
                    .args()
                    .map(|arg| {
                        let arg = self.demand(body.rank).resolved(arg, full);
                        self.lanes_of(body, arg, self.block.node(arg).ty)
                    })
                    .collect();
                self.vector_op(body, &node, &args)
            }
        }
    }

    fn spread(&mut self, body: &mut Body, mask: Value) -> Lanes {
        if body.version == Version::Full && body.exec == Some(mask) {
            let ones = self.fb.ins().iconst(I32, -1);
            let ones = self.fb.ins().splat(I32X4, ones);
            return vec![ones; self.shaping.vectors];
        }
        self.spread_mask(body, mask)
    }

    /// The vectors of a value that is known in this chunk; `ty` tells how many a uniform one is repeated.
    pub(super) fn lanes_of(&mut self, body: &Body, value: Value, ty: Ty) -> Lanes {
        if self.block.node(value).shape == Shape::Uniform {
            let count = self.shaping.vectors * if ty == Ty::B64 { 2 } else { 1 };
            return vec![body.splats[&value]; count];
        }
        body.lanes[value.index()].clone().expect("arguments come before their users")
    }

    fn vector_op(&mut self, body: &Body, node: &Node, args: &[Lanes]) -> Lanes {
        match node.op {
            Op::Shl | Op::Shr | Op::Sar => return self.shift(node, &args[0]),
            Op::Lo => return self.halves(&args[0], EVEN),
            Op::Hi => return self.halves(&args[0], ODD),
            Op::Pack => return self.interleave(&args[0], &args[1]),
            Op::Icmp(cc) => return self.compare(node, cc, args),
            Op::Fcmp(_) => return self.compare_float(node, args),
            Op::Select if node.ty == Ty::B64 => return self.select_wide(args),
            Op::Select if self.is_zero(node.args[2]) => {
                return self.zip(&args[..2], |this, mask, value| this.fb.ins().band(mask, value));
            }
            Op::Select if self.is_zero(node.args[1]) => {
                return self
                    .zip(&[args[2].clone(), args[0].clone()], |this, value, mask| this.fb.ins().band_not(value, mask));
            }
            Op::MulHiU | Op::MulHiS | Op::MulWide => return self.multiply(node, args),
            Op::SToF | Op::UToF | Op::Promote | Op::Demote | Op::SExt => return self.convert(node, args),
            _ => {}
        }
        let _ = body;
        let count = args[0].len();
        (0..count).map(|i| self.simple(node, &args.iter().map(|arg| arg[i]).collect::<Vec<_>>())).collect()
    }

    fn is_zero(&self, value: Value) -> bool {
        self.block.as_const(value) == Some(0)
    }

    /// Operations that go vector by vector.
    fn simple(&mut self, node: &Node, args: &[ir::Value]) -> ir::Value {
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(args[0]));
        let ins = self.fb.ins();
        match node.op {
            Op::Add => ins.iadd(a, b),
            Op::Sub => ins.isub(a, b),
            Op::Mul => ins.imul(a, b),
            Op::And => ins.band(a, b),
            Op::Or => ins.bor(a, b),
            Op::Xor => ins.bxor(a, b),
            Op::MinU => ins.umin(a, b),
            Op::MaxU => ins.umax(a, b),
            Op::MinS => ins.smin(a, b),
            Op::MaxS => ins.smax(a, b),
            Op::Select => ins.bitselect(a, b, args[2]),
            Op::FToS => {
                let f = self.cast(a, F32X4);
                self.fb.ins().fcvt_to_sint_sat(I32X4, f)
            }
            Op::FToU => self.unsigned(a),
            _ => self.float_op(node, args),
        }
    }

    /// f32 to unsigned integers. Cranelift's own sequence rounds a constant, so it is wrong when MXCSR rounds down;
    /// here 2^31 is taken off before a signed conversion and put back after it.
    fn unsigned(&mut self, a: ir::Value) -> ir::Value {
        let f = self.cast(a, F32X4);
        let half = self.fb.ins().f32const(2_147_483_648.0);
        let half = self.fb.ins().splat(F32X4, half);
        let over = self.fb.ins().fcmp(FloatCC::GreaterThanOrEqual, f, half);
        let half = self.cast(half, I32X4);
        let excess = self.fb.ins().band(over, half);
        let excess = self.cast(excess, F32X4);
        let rest = self.fb.ins().fsub(f, excess);
        let rest = self.fb.ins().fcvt_to_sint_sat(I32X4, rest);
        let zero = self.fb.ins().iconst(I32, 0);
        let zero = self.fb.ins().splat(I32X4, zero);
        let rest = self.fb.ins().smax(rest, zero);
        let top = self.fb.ins().ishl_imm_u(over, 31);
        self.fb.ins().bxor(rest, top)
    }

    fn float_op(&mut self, node: &Node, args: &[ir::Value]) -> ir::Value {
        let float = if node.ty == Ty::B64 { F64X2 } else { F32X4 };
        let mut cast = [args[0]; 3];
        for (to, from) in cast.iter_mut().zip(args) {
            *to = self.cast(*from, float);
        }
        let result = self.arithmetic(node.op, cast);
        self.cast(result, if node.ty == Ty::B64 { I64X2 } else { I32X4 })
    }

    pub(super) fn cast(&mut self, vector: ir::Value, ty: ir::Type) -> ir::Value {
        let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        if self.fb.func.dfg.value_type(vector) == ty { vector } else { self.fb.ins().bitcast(ty, flags, vector) }
    }

    /// Shifts by the same amount in all lanes; per-lane amounts are libcalls.
    fn shift(&mut self, node: &Node, vectors: &Lanes) -> Lanes {
        let amount = self.uniform[node.args[1].index()].expect("vector shifts have a uniform amount");
        let shift = |vector: &ir::Value| match node.op {
            Op::Shl => self.fb.ins().ishl(*vector, amount),
            Op::Shr => self.fb.ins().ushr(*vector, amount),
            _ => self.fb.ins().sshr(*vector, amount),
        };
        vectors.iter().map(shift).collect()
    }

    /// A dword shuffle of two vectors; lanes 4 to 7 are those of `b`.
    fn shuffle(&mut self, a: ir::Value, b: ir::Value, lanes: [u8; 4]) -> ir::Value {
        let bytes: Vec<u8> = lanes.iter().flat_map(|lane| (0..4).map(move |byte| lane * 4 + byte)).collect();
        let mask = self.fb.func.dfg.immediates.push(bytes.as_slice().into());
        let (a, b) = (self.cast(a, I8X16), self.cast(b, I8X16));
        let result = self.fb.ins().shuffle(a, b, mask);
        self.cast(result, I32X4)
    }

    /// One dword of each quadword: pairs of I64X2 to I32X4.
    fn halves(&mut self, vectors: &Lanes, lanes: [u8; 4]) -> Lanes {
        vectors.chunks(2).map(|pair| self.shuffle(pair[0], pair[1], lanes)).collect()
    }

    /// Low and high dwords to quadwords.
    fn interleave(&mut self, low: &Lanes, high: &Lanes) -> Lanes {
        let mut result = Lanes::new();
        for (low, high) in low.iter().zip(high) {
            for lanes in [[0, 4, 1, 5], [2, 6, 3, 7]] {
                let pair = self.shuffle(*low, *high, lanes);
                result.push(self.cast(pair, I64X2));
            }
        }
        result
    }

    fn compare(&mut self, node: &Node, cc: Icc, args: &[Lanes]) -> Lanes {
        if self.block.node(node.args[0]).ty != Ty::B64 {
            return self.zip(args, |this, a, b| match cc {
                // x < y is not y ≤ x; SSE has no unsigned less, but a minimum.
                Icc::Ult => {
                    let reverse = this.fb.ins().icmp(IntCC::UnsignedLessThanOrEqual, b, a);
                    this.fb.ins().bnot(reverse)
                }
                _ => this.fb.ins().icmp(int_cc(cc), a, b),
            });
        }
        let wide = self.zip(args, |this, a, b| this.compare_wide(cc, a, b));
        self.halves(&wide, EVEN)
    }

    /// SSE has only signed order for quadwords: unsigned order is that of the values with the top bit flipped.
    fn compare_wide(&mut self, cc: Icc, a: ir::Value, b: ir::Value) -> ir::Value {
        let (a, b) = if matches!(cc, Icc::Ult | Icc::Ule) { (self.flip_sign(a), self.flip_sign(b)) } else { (a, b) };
        match cc {
            Icc::Eq => self.fb.ins().icmp(IntCC::Equal, a, b),
            Icc::Ne => self.fb.ins().icmp(IntCC::NotEqual, a, b),
            Icc::Ult | Icc::Slt => self.fb.ins().icmp(IntCC::SignedGreaterThan, b, a),
            Icc::Ule | Icc::Sle => {
                let greater = self.fb.ins().icmp(IntCC::SignedGreaterThan, a, b);
                self.fb.ins().bnot(greater)
            }
        }
    }

    fn flip_sign(&mut self, a: ir::Value) -> ir::Value {
        let sign = self.fb.ins().iconst(I64, i64::MIN);
        let sign = self.fb.ins().splat(I64X2, sign);
        self.fb.ins().bxor(a, sign)
    }

    fn compare_float(&mut self, node: &Node, args: &[Lanes]) -> Lanes {
        let Op::Fcmp(cc) = node.op else { unreachable!("called for comparisons") };
        let wide = self.block.node(node.args[0]).ty == Ty::B64;
        let ty = if wide { F64X2 } else { F32X4 };
        let masks = self.zip(args, |this, a, b| {
            let (a, b) = (this.cast(a, ty), this.cast(b, ty));
            this.fb.ins().fcmp(float_cc(cc), a, b)
        });
        if wide { self.halves(&masks, EVEN) } else { masks }
    }

    fn zip(&mut self, args: &[Lanes], mut f: impl FnMut(&mut Self, ir::Value, ir::Value) -> ir::Value) -> Lanes {
        args[0].iter().zip(&args[1]).map(|(a, b)| f(self, *a, *b)).collect()
    }

    fn select_wide(&mut self, args: &[Lanes]) -> Lanes {
        let mask = self.interleave(&args[0], &args[0]);
        (0..mask.len()).map(|i| self.fb.ins().bitselect(mask[i], args[1][i], args[2][i])).collect()
    }

    /// 32-bit products with their high halves.
    fn multiply(&mut self, node: &Node, args: &[Lanes]) -> Lanes {
        let mut wide = Lanes::new();
        for (a, b) in args[0].clone().into_iter().zip(args[1].clone()) {
            for high in [false, true] {
                let (a, b) = (self.widen(node.op, a, high), self.widen(node.op, b, high));
                wide.push(self.fb.ins().imul(a, b));
            }
        }
        if node.op == Op::MulWide { wide } else { self.halves(&wide, ODD) }
    }

    fn widen(&mut self, op: Op, vector: ir::Value, high: bool) -> ir::Value {
        let ins = self.fb.ins();
        match (op, high) {
            (Op::MulHiS | Op::SExt, false) => ins.swiden_low(vector),
            (Op::MulHiS | Op::SExt, true) => ins.swiden_high(vector),
            (_, false) => ins.uwiden_low(vector),
            (_, true) => ins.uwiden_high(vector),
        }
    }

    fn convert(&mut self, node: &Node, args: &[Lanes]) -> Lanes {
        match (node.op, node.ty) {
            (Op::SToF, Ty::B32) => self.each(&args[0], |this, v| this.fb.ins().fcvt_from_sint(F32X4, v), I32X4),
            (Op::UToF, Ty::B32) => self.each(&args[0], |this, v| this.fb.ins().fcvt_from_uint(F32X4, v), I32X4),
            (Op::Demote, _) => self.demote(&args[0]),
            _ => self.convert_to_wide(node.op, &args[0]),
        }
    }

    fn each(&mut self, vectors: &Lanes, mut f: impl FnMut(&mut Self, ir::Value) -> ir::Value, ty: ir::Type) -> Lanes {
        let mut result = Lanes::new();
        for vector in vectors {
            let converted = f(self, *vector);
            result.push(self.cast(converted, ty));
        }
        result
    }

    /// Four dwords to two vectors of quadwords.
    fn convert_to_wide(&mut self, op: Op, vectors: &Lanes) -> Lanes {
        let mut result = Lanes::new();
        for vector in vectors {
            let high = self.shuffle(*vector, *vector, [2, 3, 2, 3]);
            for half in [*vector, high] {
                let wide = self.convert_low(op, half);
                result.push(self.cast(wide, I64X2));
            }
        }
        result
    }

    /// Converts the low two dwords.
    fn convert_low(&mut self, op: Op, half: ir::Value) -> ir::Value {
        match op {
            Op::Promote => {
                let f = self.cast(half, F32X4);
                self.fb.ins().fvpromote_low(f)
            }
            Op::SToF => {
                let wide = self.fb.ins().swiden_low(half);
                self.fb.ins().fcvt_from_sint(F64X2, wide)
            }
            Op::UToF => {
                let wide = self.fb.ins().uwiden_low(half);
                self.fb.ins().fcvt_from_uint(F64X2, wide)
            }
            _ => self.fb.ins().swiden_low(half),
        }
    }

    fn demote(&mut self, vectors: &Lanes) -> Lanes {
        let mut result = Lanes::new();
        for pair in vectors.chunks(2) {
            let narrow = [pair[0], pair[1]].map(|v| {
                let f = self.cast(v, F64X2);
                let f = self.fb.ins().fvdemote(f);
                self.cast(f, I32X4)
            });
            result.push(self.shuffle(narrow[0], narrow[1], [0, 1, 4, 5]));
        }
        result
    }
}

const EVEN: [u8; 4] = [0, 2, 4, 6];
const ODD: [u8; 4] = [1, 3, 5, 7];
