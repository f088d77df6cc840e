//! The steps of a division that look at exponents, on f32 and f64: the rules are in the interpreter's vop3.rs.

use super::Builder;
use crate::lane::{Fcc, Ty as Width, Value};
use crate::libcall::RowOp;

/// Numbers of a format, as bits of its width.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the stored significand.
    significand: u32,
    sign: u64,
    infinity: u64,
    /// 1 − the bias: the exponent of the least normal number.
    least: i32,
    /// div_scale: how far apart exponents are that need scaling, the least field of a numerator that doesn't, the power.
    huge: u32,
    tiny: u32,
    power: i32,
    /// div_fixup: quotients with exponents below are zero.
    underflow: i32,
}

const F32: Format = Format {
    significand: 23,
    sign: 1 << 31,
    infinity: 0x7f80_0000,
    least: -126,
    huge: 96,
    tiny: 23,
    power: 64,
    underflow: -150,
};

const F64: Format = Format {
    significand: 52,
    sign: 1 << 63,
    infinity: 0x7ff0_0000_0000_0000,
    least: -1022,
    huge: 768,
    tiny: 53,
    power: 128,
    underflow: -1075,
};

impl Format {
    fn quiet_bit(self) -> u64 {
        1 << (self.significand - 1)
    }

    fn default_nan(self) -> u64 {
        self.sign | self.infinity | self.quiet_bit()
    }

    /// 2^power.
    fn power_of_two(self, power: i32) -> u64 {
        ((1 - self.least + power) as u64) << self.significand
    }

    fn ones(self) -> u64 {
        self.sign | (self.sign - 1)
    }

    /// The field of an infinite exponent.
    fn largest(self) -> i32 {
        (self.infinity >> self.significand) as i32
    }
}

fn format(b: &Builder, x: Value) -> Format {
    if b.ty(x) == Width::B64 { F64 } else { F32 }
}

impl Builder {
    fn denormals(&self, format: Format) -> gcnjit_rt::Denormals {
        if format.significand == 52 { self.mode.denormals64() } else { self.mode.denormals32() }
    }

    fn is_nan(&mut self, x: Value) -> Value {
        self.fcmp(Fcc::Uno, x, x)
    }

    fn magnitude(&mut self, f: Format, x: Value) -> Value {
        self.and_bits(x, f.sign - 1)
    }

    /// The exponent field of a magnitude, as B32.
    fn field(&mut self, f: Format, magnitude: Value) -> Value {
        if f.significand == 52 {
            let high = self.hi(magnitude);
            self.shr_by(high, 20)
        } else {
            self.shr_by(magnitude, f.significand)
        }
    }

    /// A denormal counts as zero of its sign.
    fn flushed(&mut self, f: Format, x: Value, flush: bool) -> Value {
        if !flush {
            return x;
        }
        let magnitude = self.magnitude(f, x);
        let least = self.constant_like(x, 1 << f.significand);
        let (denormal, zero) = (self.ult(magnitude, least), self.and_bits(x, f.sign));
        self.select(denormal, zero, x)
    }

    /// v_div_scale: `s`, which is the denominator `y` or the numerator `x`, scaled by a power of two so that the steps
    /// of a division stay in range, and whether the result of these has to be scaled back.
    pub fn div_scale(&mut self, s: Value, y: Value, x: Value) -> (Value, Value) {
        let f = format(self, s);
        let flush = self.denormals(f).flush_in;
        let [s, y, x] = [s, y, x].map(|v| self.flushed(f, v, flush));
        let [my, mx] = [y, x].map(|v| self.magnitude(f, v));
        let [fy, fx] = [my, mx].map(|m| self.field(f, m));
        let (no_y, no_x) = (self.is_zero(my), self.is_zero(mx));
        let undefined = self.or(no_y, no_x);
        let (is_y, is_x) = (self.eq(s, y), self.eq(s, x));
        let distance = self.sub(fx, fy);
        let (huge, least) = (self.b32(f.huge), self.b32(f.least as u32));
        let far = self.sle(huge, distance);
        let small_quotient = self.sle(distance, least);
        let denormal_y = self.is_zero(fy);
        let above = self.add_bits(fy, (2 - f.largest()) as u32 as u64);
        let two = self.b32(2);
        let small_reciprocal = self.ult(above, two);
        let tiny = self.b32(f.tiny);
        let tiny_x = self.ule(fx, tiny);
        // From the rule that comes last to the one that comes first.
        let up = self.select(small_quotient, is_x, tiny_x);
        let up = self.andn(up, small_reciprocal);
        let up = self.or(up, denormal_y);
        let up = self.select(far, is_y, up);
        let down = self.orn(is_y, small_quotient);
        let down = self.and(down, small_reciprocal);
        let kept = self.or(denormal_y, far);
        let down = self.andn(down, kept);
        let factor = self.scale_factor(f, s, up, down);
        let scaled = self.fmul(s, factor);
        let (nan, quiet) = (self.is_nan(s), self.or_bits(s, f.quiet_bit()));
        let default = self.constant_like(s, f.default_nan());
        let special = self.select(nan, quiet, default);
        let value = self.select(undefined, special, scaled);
        let flag = self.andn(small_quotient, denormal_y);
        let flag = self.or(flag, far);
        (value, self.andn(flag, undefined))
    }

    fn scale_factor(&mut self, f: Format, like: Value, up: Value, down: Value) -> Value {
        let [one, more, less] = [0, f.power, -f.power].map(|power| self.constant_like(like, f.power_of_two(power)));
        let factor = self.select(down, less, one);
        self.select(up, more, factor)
    }

    /// v_div_fixup: the quotient `q` of x / y, or the special result that the operands call for.
    pub fn div_fixup(&mut self, q: Value, y: Value, x: Value) -> Value {
        let f = format(self, q);
        let flush = self.denormals(f);
        let [q, y, x] = [q, y, x].map(|v| self.flushed(f, v, flush.flush_in));
        let signs = self.xor(x, y);
        let sign = self.and_bits(signs, f.sign);
        let [my, mx] = [y, x].map(|v| self.magnitude(f, v));
        let [fy, fx] = [my, mx].map(|m| self.field(f, m));
        let infinity = self.constant_like(q, f.infinity);
        let (no_y, no_x) = (self.is_zero(my), self.is_zero(mx));
        let (inf_y, inf_x) = (self.eq(my, infinity), self.eq(mx, infinity));
        let (nan_q, magnitude) = (self.is_nan(q), self.magnitude(f, q));
        let magnitude = self.flushed(f, magnitude, flush.flush_out);
        let magnitude = self.select(nan_q, infinity, magnitude);
        let distance = self.sub(fx, fy);
        let underflow = self.b32(f.underflow as u32);
        let tiny = self.slt(distance, underflow);
        let zero = self.constant_like(q, 0);
        let none = self.or(inf_y, no_x);
        let none = self.or(none, tiny);
        let magnitude = self.select(none, zero, magnitude);
        let all = self.or(no_y, inf_x);
        let magnitude = self.select(all, infinity, magnitude);
        let result = self.or(sign, magnitude);
        let (nothing, everything) = (self.and(no_y, no_x), self.and(inf_y, inf_x));
        let undefined = self.or(nothing, everything);
        let default = self.constant_like(q, f.default_nan());
        let mut result = self.select(undefined, default, result);
        for source in [y, x] {
            let (nan, quiet) = (self.is_nan(source), self.or_bits(source, f.quiet_bit()));
            result = self.select(nan, quiet, result);
        }
        result
    }

    /// v_cmp_class: whether the class of a float is in `mask`. Classes are ranges of its bits; `otherwise` looks at f16
    /// and at masks that aren't known.
    pub fn class(&mut self, x: Value, mask: Value, otherwise: RowOp) -> Value {
        let known = if otherwise == RowOp::class_f16 { None } else { self.as_const(mask) };
        let Some(mask) = known else {
            let hit = self.call(Width::B32, otherwise, &[x, mask], 0);
            return self.non_zero(hit);
        };
        let f = format(self, x);
        let mut result = self.constant(Width::B1, 0);
        for (first, last) in ranges(f, mask) {
            let (offset, span) =
                (self.add_bits(x, first.wrapping_neg() & f.ones()), self.constant_like(x, last - first));
            let hit = self.ule(offset, span);
            result = self.or(result, hit);
        }
        result
    }
}

/// The ranges of bits, as unsigned numbers, whose classes are in the mask of v_cmp_class; none touches the next.
fn ranges(f: Format, mask: u64) -> Vec<(u64, u64)> {
    let (least, quiet) = (1 << f.significand, f.infinity | f.quiet_bit());
    let starts = [0, 1, least, f.infinity, f.infinity + 1, quiet];
    let classes = [[6, 7, 8, 9, 0, 1], [5, 4, 3, 2, 0, 1]];
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (sign, classes) in [0, f.sign].into_iter().zip(classes) {
        for (i, class) in classes.into_iter().enumerate() {
            let (first, last) = (sign | starts[i], sign | (starts.get(i + 1).unwrap_or(&f.sign) - 1));
            match ranges.last_mut() {
                _ if mask >> class & 1 == 0 => {}
                Some(range) if range.1 + 1 == first => range.1 = last,
                _ => ranges.push((first, last)),
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::{F32, F64, ranges};

    #[test]
    fn classes_are_ranges() {
        assert_eq!(ranges(F32, 0), []);
        assert_eq!(ranges(F32, 0x3ff), [(0, 0xffff_ffff)]);
        assert_eq!(ranges(F32, 0x260), [(0, 0), (0x7f80_0000, 0x7f80_0000), (0x8000_0000, 0x8000_0000)]);
        assert_eq!(ranges(F64, 0x3), [(0x7ff0_0000_0000_0001, u64::MAX >> 1), (0xfff0_0000_0000_0001, u64::MAX)]);
        assert_eq!(ranges(F32, 0x90), [(1, 0x007f_ffff), (0x8000_0001, 0x807f_ffff)]);
    }
}
