//! The steps of a division that look at exponents, and classes of floats, on f32 and f64.

use super::Builder;
use crate::lane::{Ty as Width, Value};
use crate::libcall::RowOp;

/// Numbers of a format, as bits of its width.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the stored significand.
    significand: u32,
    sign: u64,
    infinity: u64,
}

const F32: Format = Format { significand: 23, sign: 1 << 31, infinity: 0x7f80_0000 };

const F64: Format = Format { significand: 52, sign: 1 << 63, infinity: 0x7ff0_0000_0000_0000 };

impl Format {
    fn quiet_bit(self) -> u64 {
        1 << (self.significand - 1)
    }

    fn ones(self) -> u64 {
        self.sign | (self.sign - 1)
    }
}

fn format(b: &Builder, x: Value) -> Format {
    if b.ty(x) == Width::B64 { F64 } else { F32 }
}

impl Builder {
    /// v_div_scale: `s`, which is the denominator `y` or the numerator `x`, scaled by a power of two so that the steps
    /// of a division stay in range, and whether the result of these has to be scaled back.
    pub fn div_scale(&mut self, s: Value, y: Value, x: Value) -> (Value, Value) {
        let (wide, rules) = self.division_rules(s);
        let scale = if wide { RowOp::div_scale_f64 } else { RowOp::div_scale_f32 };
        let flag = if wide { RowOp::div_flag_f64 } else { RowOp::div_flag_f32 };
        let ty = self.ty(s);
        let (value, flag) = (self.call(ty, scale, &[s, y, x], rules), self.call(Width::B32, flag, &[y, x], rules));
        (value, self.non_zero(flag))
    }

    /// v_div_fixup: the quotient `q` of x / y, or the special result that the operands call for.
    pub fn div_fixup(&mut self, q: Value, y: Value, x: Value) -> Value {
        let (wide, rules) = self.division_rules(q);
        let row = if wide { RowOp::div_fixup_f64 } else { RowOp::div_fixup_f32 };
        let ty = self.ty(q);
        self.call(ty, row, &[q, y, x], rules)
    }

    /// Whether a division is one of f64, and its rules.
    fn division_rules(&self, operand: Value) -> (bool, u32) {
        match self.ty(operand) {
            Width::B64 => (true, self.rules_f64()),
            _ => (false, self.rules_f32()),
        }
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
