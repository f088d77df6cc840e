//! What libcalls of one source compute in a lane: approximated functions under MODE, conversions. Bits in, bits out.

use super::functions::{F16, F32, F64, Rules, compose, f16_to_f32, f32_to_f16, flush_in, flush_out, from_f64, rounded};

/// `f`, an approximated function of f32, under `rules`.
#[inline(always)]
pub fn approximated_f32(x: u32, rules: Rules, f: impl Fn(f32, bool) -> f32) -> u32 {
    let flushed = |x: u32, flush: bool| if flush && x & 0x7fff_ffff < 0x0080_0000 { x & 0x8000_0000 } else { x };
    let source = f32::from_bits(flushed(x, flush_in(rules)));
    flushed(f(source, false).to_bits(), flush_out(rules))
}

/// `f`, an approximated function of f64, under `rules`.
#[inline(always)]
pub fn approximated_f64(x: u64, rules: Rules, f: impl Fn(f64) -> f64) -> u64 {
    let flushed = |x: u64, flush: bool| if flush && x << 1 < 1 << 53 { x & 1 << 63 } else { x };
    let source = f64::from_bits(flushed(x, flush_in(rules)));
    flushed(f(source).to_bits(), flush_out(rules))
}

/// An f16 function by way of `f`, the one of f32, whose result is then rounded.
#[inline(always)]
pub fn approximated_f16(x: u32, rules: Rules, f: impl Fn(f32, bool) -> f32) -> u32 {
    let source = f32::from_bits(f16_to_f32(x, rules));
    f32_to_f16(f(source, false).to_bits(), rules)
}

/// An f64 to f32; `rules` bit 4: denormal sources are zero.
#[inline]
pub fn f64_to_f32(x: u64, rules: Rules) -> u32 {
    let magnitude = F64.magnitude(x);
    let sign = (x >> 32) as u32 & 0x8000_0000;
    if F64.is_nan(x) {
        return sign | 0x7fc0_0000 | (magnitude >> 29) as u32 & 0x003f_ffff;
    }
    if rules & 16 != 0 && magnitude >> 52 == 0 {
        return sign;
    }
    from_f64(F32, f64::from_bits(x), rules) as u32
}

/// A 16-bit integer, extended to 32 bits, to f16.
#[inline]
pub fn int_to_f16(x: u32, rules: Rules) -> u32 {
    if x == 0 {
        return 0;
    }
    let negative = x >> 31 != 0;
    let magnitude = u64::from((x as i32).unsigned_abs());
    let up = magnitude.leading_zeros() - 1;
    compose(F16, negative, magnitude << up, 62 - up as i32, rules) as u32
}

/// The magnitude of an f16, at most 1, times `scale`, to the nearest integer; 0 for a NaN.
fn normalized(x: u32, scale: u64, rules: Rules) -> u32 {
    let magnitude = u64::from(x & 0x7fff);
    let field = magnitude >> 10;
    if F16.is_nan(magnitude) || (field == 0 && flush_in(rules)) {
        return 0;
    }
    if magnitude >= 0x3c00 {
        return scale as u32;
    }
    let integer = if field == 0 { magnitude } else { magnitude & 0x3ff | 0x400 };
    rounded(integer * scale, 25 - field.max(1) as u32, false, 0) as u32
}

/// [−1, 1] to [−32767, 32767].
#[inline]
pub fn norm_i16_f16(x: u32, rules: Rules) -> u32 {
    let magnitude = normalized(x, 32767, rules);
    if x & 0x8000 != 0 { magnitude.wrapping_neg() & 0xffff } else { magnitude }
}

/// [0, 1] to [0, 65535].
#[inline]
pub fn norm_u16_f16(x: u32, rules: Rules) -> u32 {
    if x & 0x8000 != 0 { 0 } else { normalized(x, 65535, rules) }
}
