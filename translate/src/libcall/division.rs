//! The steps of a division that look at exponents: v_div_scale. The rules are in the interpreter's vop3.rs, those of
//! v_div_fixup in [`functions`](super::functions).

use super::functions::{F32, F64, Format, Rules, div_fixup, flush_in, ldexp};

/// When a format's operands are scaled.
struct Limits {
    /// How far apart exponents are that need it.
    huge: i32,
    /// The greatest field of a numerator that does.
    tiny: i32,
    /// By which power.
    power: i32,
}

fn limits(format: Format) -> Limits {
    match format.precision() {
        24 => Limits { huge: 96, tiny: 23, power: 64 },
        _ => Limits { huge: 768, tiny: 53, power: 128 },
    }
}

/// A denormal counts as zero of its sign, if the rules say so.
fn flushed(format: Format, x: u64, rules: Rules) -> u64 {
    let denormal = format.magnitude(x) < format.least_normal();
    if denormal && flush_in(rules) { x & format.sign(true) } else { x }
}

/// The operands of a division, as v_div_scale sees them.
struct Operands {
    format: Format,
    /// Denominator and numerator.
    y: u64,
    x: u64,
    /// Their exponent fields.
    fy: i32,
    fx: i32,
}

impl Operands {
    fn new(format: Format, y: u64, x: u64, rules: Rules) -> Operands {
        let [y, x] = [y, x].map(|v| flushed(format, v, rules));
        let field = |v: u64| (format.magnitude(v) / format.least_normal()) as i32;
        Operands { format, y, x, fy: field(y), fx: field(x) }
    }

    /// There is no quotient.
    fn is_undefined(&self) -> bool {
        [self.x, self.y].into_iter().any(|v| self.format.magnitude(v) == 0)
    }

    fn is_far(&self) -> bool {
        self.fx - self.fy >= limits(self.format).huge
    }

    fn has_small_quotient(&self) -> bool {
        self.fx - self.fy <= self.format.least_exponent()
    }

    /// The reciprocal of the denominator would be denormal.
    fn has_small_reciprocal(&self) -> bool {
        let largest = (self.format.infinity() / self.format.least_normal()) as i32;
        (largest - 2..largest).contains(&self.fy)
    }

    /// The power of two that one of the operands is scaled by.
    fn power(&self, s: u64) -> i32 {
        let Limits { tiny, power, .. } = limits(self.format);
        let (is_y, is_x) = (s == self.y, s == self.x);
        let (by, scaled) = if self.is_far() {
            (power, is_y)
        } else if self.fy == 0 {
            (power, true)
        } else if self.has_small_reciprocal() {
            (-power, is_y || !self.has_small_quotient())
        } else if self.has_small_quotient() {
            (power, is_x)
        } else {
            (power, self.fx <= tiny)
        };
        if scaled { by } else { 0 }
    }
}

/// `s`, which is the denominator `y` or the numerator `x`, scaled by a power of two so that the steps of a division stay in
/// range.
fn div_scale(format: Format, s: u64, y: u64, x: u64, rules: Rules) -> u64 {
    let (s, operands) = (flushed(format, s, rules), Operands::new(format, y, x, rules));
    if operands.is_undefined() {
        return if format.is_nan(s) { format.quiet(s) } else { format.quiet(format.sign(true) | format.infinity()) };
    }
    ldexp(format, s, operands.power(s), rules)
}

/// Whether the result of these has to be scaled back.
fn div_flag(format: Format, y: u64, x: u64, rules: Rules) -> u32 {
    let operands = Operands::new(format, y, x, rules);
    let scaled = operands.is_far() || operands.has_small_quotient() && operands.fy != 0;
    u32::from(scaled && !operands.is_undefined())
}

/// v_div_scale's value: the operand, scaled if need be.
#[inline]
pub fn div_scale_f32(s: u32, y: u32, x: u32, rules: Rules) -> u32 {
    div_scale(F32, s.into(), y.into(), x.into(), rules) as u32
}

/// v_div_scale's value: the operand, scaled if need be.
#[inline]
pub fn div_scale_f64(s: u64, y: u64, x: u64, rules: Rules) -> u64 {
    div_scale(F64, s, y, x, rules)
}

/// v_div_scale's flag, 0 or 1.
#[inline]
pub fn div_flag_f32(y: u32, x: u32, rules: Rules) -> u32 {
    div_flag(F32, y.into(), x.into(), rules)
}

/// v_div_scale's flag, 0 or 1.
#[inline]
pub fn div_flag_f64(y: u64, x: u64, rules: Rules) -> u32 {
    div_flag(F64, y, x, rules)
}

/// The fixed quotient.
#[inline]
pub fn div_fixup_f32(q: u32, y: u32, x: u32, rules: Rules) -> u32 {
    div_fixup(F32, q.into(), y.into(), x.into(), rules) as u32
}

/// The fixed quotient.
#[inline]
pub fn div_fixup_f64(q: u64, y: u64, x: u64, rules: Rules) -> u64 {
    div_fixup(F64, q, y, x, rules)
}
