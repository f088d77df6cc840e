//! Floating point that the lane IR has no operation for: f16, and what depends on MODE beyond MXCSR.

use super::Builder;
use crate::fenv::rules;
use crate::lane::{Fcc, Fenv, Op, Ty as Width, Value};
use crate::libcall::RowOp;
use crate::wide;
use gcnjit_isa::Gen;
use gcnjit_rt::Round;

impl Builder {
    /// The rules of f32 operations.
    pub fn rules_f32(&self) -> u32 {
        rules(self.mode.round32(), self.mode.denormals32())
    }

    /// The rules of f64 and f16 operations.
    pub fn rules_f64(&self) -> u32 {
        rules(self.mode.round64(), self.mode.denormals64())
    }

    /// The rules of the f16 side of a conversion: gfx6 and gfx7 have no f16 arithmetic, never flush it, and round it
    /// as f32.
    pub fn rules_f16_conversion(&self) -> u32 {
        if self.generation() < Gen::Gfx8 { self.rules_f32() & 3 } else { self.rules_f64() }
    }

    /// The smaller of two f32 or f64, by the rule in the head of the interpreter's fp.rs.
    pub fn fmin(&mut self, x: Value, y: Value) -> Value {
        let (less, either) = (self.fcmp(Fcc::Lt, x, y), self.or(x, y));
        self.extremum(x, y, less, either)
    }

    /// The larger of two f32 or f64.
    pub fn fmax(&mut self, x: Value, y: Value) -> Value {
        let (greater, both) = (self.fcmp(Fcc::Lt, y, x), self.and(x, y));
        self.extremum(x, y, greater, both)
    }

    /// The smallest of three f32 or f64.
    pub fn fmin3(&mut self, x: Value, y: Value, z: Value) -> Value {
        let least = self.fmin(x, y);
        self.fmin(least, z)
    }

    /// The largest of three f32 or f64.
    pub fn fmax3(&mut self, x: Value, y: Value, z: Value) -> Value {
        let largest = self.fmax(x, y);
        self.fmax(largest, z)
    }

    /// The one in the middle of three f32; the smallest if there is a NaN.
    pub fn fmed3(&mut self, x: Value, y: Value, z: Value) -> Value {
        let (least, most) = (self.fmin(x, y), self.fmax(x, y));
        let upper = self.fmin(most, z);
        let (smallest, middle) = (self.fmin(least, z), self.fmax(least, upper));
        let (nan, no_z) = (self.fcmp(Fcc::Uno, x, y), self.fcmp(Fcc::Uno, z, z));
        let nan = self.or(nan, no_z);
        self.select(nan, smallest, middle)
    }

    /// y − x of f32, where x is the first operand: its NaN is the result.
    pub fn fsubrev(&mut self, x: Value, y: Value) -> Value {
        let (difference, nan) = (self.fsub(y, x), self.fcmp(Fcc::Uno, x, x));
        let quiet = self.or_bits(x, 1 << 22);
        self.select(nan, quiet, difference)
    }

    /// `first`: x is the result. `equal`: the result if they are equal, which decides the sign of zero.
    fn extremum(&mut self, x: Value, y: Value, first: Value, equal: Value) -> Value {
        let result = self.select(first, x, y);
        let same = self.fcmp(Fcc::Eq, x, y);
        let result = self.select(same, equal, result);
        let no_y = self.fcmp(Fcc::Uno, y, y);
        let mut result = self.select(no_y, x, result);
        if self.mode.ieee() {
            for source in [y, x] {
                let signalling = self.is_signalling(source);
                result = self.select(signalling, source, result);
            }
        }
        self.canonical(result)
    }

    /// Whether an f32 or f64 is a NaN with the quiet bit clear.
    fn is_signalling(&mut self, x: Value) -> Value {
        let quiet = if self.ty(x) == Width::B64 { 1 << 51 } else { 1 << 22 };
        let (nan, bit) = (self.fcmp(Fcc::Uno, x, x), self.and_bits(x, quiet));
        let clear = self.is_zero(bit);
        self.and(nan, clear)
    }

    /// An f32 or f64 as arithmetic passes it through: NaNs quieted, denormals flushed where MODE says so.
    pub fn canonical(&mut self, x: Value) -> Value {
        let one = if self.ty(x) == Width::B64 { self.b64(1.0_f64.to_bits()) } else { self.b32(1.0_f32.to_bits()) };
        self.fmul(x, one)
    }

    /// The rules of a conversion from f32 to f16.
    pub fn rules_f32_to_f16(&self) -> u32 {
        self.rules_f16_conversion() | (self.rules_f32() >> 2 & 1) << 4
    }

    /// A libcall on f16 operands that depends on IEEE mode (bit 5).
    pub fn f16_extremum(&mut self, op: RowOp, args: &[Value]) -> Value {
        let rules = self.rules_f64() | u32::from(self.mode.ieee()) << 5;
        match op {
            RowOp::min_f16 if wide::is_available() => self.extremum_f16(args[0], args[1], false),
            RowOp::max_f16 if wide::is_available() => self.extremum_f16(args[0], args[1], true),
            _ => self.call(Width::B32, op, args, rules),
        }
    }

    /// The smaller or larger of two f16, by their bits: in IEEE mode a signalling NaN is the result, quieted.
    fn extremum_f16(&mut self, x: Value, y: Value, larger: bool) -> Value {
        let denormals = self.mode.denormals64();
        let (x, y) = (self.flushed_f16(x, denormals.flush_in), self.flushed_f16(y, denormals.flush_in));
        let [(order_x, nan_x), (order_y, nan_y)] = [x, y].map(|v| self.order_f16(v));
        let first = if larger { self.sle(order_y, order_x) } else { self.slt(order_x, order_y) };
        let first = self.or(first, nan_y);
        let mut result = self.select(first, x, y);
        let only_y = self.andn(nan_x, nan_y);
        result = self.select(only_y, y, result);
        if self.mode.ieee() {
            for (source, nan) in [(y, nan_y), (x, nan_x)] {
                let bit = self.and_bits(source, 0x200);
                let clear = self.is_zero(bit);
                let signalling = self.and(nan, clear);
                result = self.select(signalling, source, result);
            }
        }
        let (_, nan) = self.order_f16(result);
        let (quiet, number) = (self.or_bits(result, 0x200), self.flushed_f16(result, denormals.flush_out));
        self.select(nan, quiet, number)
    }

    /// The low half of a dword; a denormal may count as zero.
    fn flushed_f16(&mut self, x: Value, flush: bool) -> Value {
        let x = self.and_bits(x, 0xffff);
        if !flush {
            return x;
        }
        let (field, zero) = (self.and_bits(x, 0x7c00), self.and_bits(x, 0x8000));
        let denormal = self.is_zero(field);
        self.select(denormal, zero, x)
    }

    /// An f16 as an integer of the same order, −0 below +0; and whether it is a NaN.
    fn order_f16(&mut self, x: Value) -> (Value, Value) {
        let extended = self.sext_from(x, 16);
        let sign = self.sar_by(extended, 31);
        let flip = self.and_bits(sign, 0x7fff);
        let (order, magnitude, infinity) = (self.xor(extended, flip), self.and_bits(x, 0x7fff), self.b32(0x7c00));
        (order, self.ult(infinity, magnitude))
    }

    /// An f16 as an f32, exactly; flushed as f16 sources are.
    pub fn f16_source(&mut self, x: Value) -> Value {
        let rules = self.rules_f64();
        self.call(Width::B32, RowOp::f16_to_f32, &[x], rules)
    }

    /// An operation on f16 operands: a libcall, or in f32 where conversions are cheap. An f32 has more than twice the
    /// significand of an f16, so rounding sums and products twice is rounding them once.
    pub fn f16(&mut self, op: RowOp, args: &[Value]) -> Value {
        use RowOp::{add_f16, mad_f16, mul_f16, sub_f16, subrev_f16};
        let rules = self.rules_f64();
        if !self.is_inline(RowOp::f32_to_f16, rules)
            || !matches!(op, add_f16 | sub_f16 | subrev_f16 | mul_f16 | mad_f16)
        {
            return self.call(Width::B32, op, args, rules);
        }
        if op == mad_f16 {
            let product = self.f16(mul_f16, &args[..2]);
            return self.f16(add_f16, &[product, args[2]]);
        }
        let (x, y) = (self.f16_source(args[0]), self.f16_source(args[1]));
        let result = match op {
            add_f16 => self.op(Op::FAdd, Width::B32, Fenv::F64, &[x, y], 0),
            mul_f16 => self.op(Op::FMul, Width::B32, Fenv::F64, &[x, y], 0),
            sub_f16 => self.op(Op::FSub, Width::B32, Fenv::F64, &[x, y], 0),
            _ => {
                let difference = self.op(Op::FSub, Width::B32, Fenv::F64, &[y, x], 0);
                let nan = self.op(Op::Fcmp(Fcc::Uno), Width::B1, Fenv::F64, &[x, x], 0);
                self.select(nan, x, difference)
            }
        };
        self.call(Width::B32, RowOp::f32_to_f16, &[result], rules)
    }

    /// omod and clamp of an f16 result.
    pub fn modified_f16(&mut self, x: Value, omod: u8, clamp: bool) -> Value {
        let mut x = x;
        if omod != 0 && !self.mode.ieee() && self.mode.denormals64().flush_out {
            let factor = self.b32([0x3c00, 0x4000, 0x4400, 0x3800][usize::from(omod & 3)]);
            x = self.f16(RowOp::mul_f16, &[x, factor]);
        }
        if clamp { self.clamp_f16(x) } else { x }
    }

    fn clamp_f16(&mut self, x: Value) -> Value {
        let dx10 = u32::from(self.mode.dx10_clamp());
        self.call(Width::B32, RowOp::clamp_f16, &[x], dx10)
    }

    /// clamp of two f16 results.
    pub fn modified_v2f16(&mut self, x: Value) -> Value {
        self.each_half(&[x], |b, args| b.clamp_f16(args[0]))
    }

    /// Applies `f` to the low halves and to the high halves of packed values; each is zero-extended.
    pub fn each_half(&mut self, args: &[Value], f: impl Fn(&mut Builder, &[Value]) -> Value) -> Value {
        let low: Vec<Value> = args.iter().map(|arg| self.and_bits(*arg, 0xffff)).collect();
        let high: Vec<Value> = args.iter().map(|arg| self.shr_by(*arg, 16)).collect();
        let (low, high) = (f(self, &low), f(self, &high));
        self.halves(low, high)
    }

    /// The low halves of two values as a dword.
    pub fn halves(&mut self, low: Value, high: Value) -> Value {
        let (low, high) = (self.and_bits(low, 0xffff), self.shl_by(high, 16));
        self.or(low, high)
    }

    /// a · b + c of f32, the product rounded, denormals flushed whatever MODE says.
    pub fn mad_f32(&mut self, x: Value, y: Value, z: Value) -> Value {
        let product = self.op(Op::FMul, Width::B32, Fenv::Flush, &[x, y], 0);
        self.op(Op::FAdd, Width::B32, Fenv::Flush, &[product, z], 0)
    }

    /// a · b of f32, with +0 for a zero factor; denormals as `fenv` has it.
    pub fn mul_legacy(&mut self, x: Value, y: Value, fenv: Fenv) -> Value {
        let zero = self.b32(0);
        let [no_x, no_y] = [x, y].map(|v| self.op(Op::Fcmp(Fcc::Eq), Width::B1, fenv, &[v, zero], 0));
        let product = self.op(Op::FMul, Width::B32, fenv, &[x, y], 0);
        let none = self.or(no_x, no_y);
        self.select(none, zero, product)
    }

    /// The same plus c, as [`Builder::mad_f32`].
    pub fn mad_legacy(&mut self, x: Value, y: Value, z: Value) -> Value {
        let product = self.mul_legacy(x, y, Fenv::Flush);
        self.op(Op::FAdd, Width::B32, Fenv::Flush, &[product, z], 0)
    }

    /// An f32 rounded to an integer by MODE, in a byte: limited to 0 and 255, NaN to 0.
    pub fn to_byte(&mut self, x: Value) -> Value {
        let whole = match self.mode.round32() {
            Round::NearestEven => self.fnearest(x),
            Round::Up => self.fceil(x),
            Round::Down => self.ffloor(x),
            Round::Zero => self.ftrunc(x),
        };
        let (integer, most) = (self.f_to_u(whole), self.b32(255));
        self.min_u(integer, most)
    }
}
