//! Operations on the bytes and other parts of a dword, and look-ups.

use super::functions::{F64, Rules, compose};
use gcnjit_rt::math::TWO_OVER_PI;

/// The sum of `f` over the `bits`-wide parts of `a` and `b`.
#[inline(always)]
fn sum_of_parts(a: u32, b: u32, bits: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mask = (1 << bits) - 1;
    let mut sum = 0u32;
    for i in 0..32 / bits {
        sum = sum.wrapping_add(f(a >> (bits * i) & mask, b >> (bits * i) & mask));
    }
    sum
}

/// The absolute differences of the bytes, but of those that are 0 in `b`.
#[inline(always)]
pub fn msad_u8(a: u32, b: u32) -> u32 {
    sum_of_parts(a, b, 8, |a, b| if b == 0 { 0 } else { a.abs_diff(b) })
}

/// Four sums of differences of `b`'s bytes with those of `a` from bytes 0, 1, 2 and 3 on, each added to 16 bits of `c`.
#[inline(always)]
pub fn quad_sad(a: u64, b: u32, c: u64, saturate: bool, sad: impl Fn(u32, u32) -> u32) -> u64 {
    let mut result = 0;
    for i in 0..4 {
        let sum = sad((a >> (8 * i)) as u32, b) + (c >> (16 * i) & 0xffff) as u32;
        result |= u64::from(if saturate { sum.min(0xffff) } else { sum & 0xffff }) << (16 * i);
    }
    result
}

/// The scalar product of parts as unsigned integers.
#[inline(always)]
pub fn dot_unsigned(a: u32, b: u32, bits: u32) -> u32 {
    sum_of_parts(a, b, bits, |a, b| a * b)
}

/// The scalar product of parts as signed integers.
#[inline(always)]
pub fn dot_signed(a: u32, b: u32, bits: u32) -> u32 {
    let extend = |x: u32| (x << (32 - bits)).cast_signed() >> (32 - bits);
    sum_of_parts(a, b, bits, |a, b| (extend(a) * extend(b)).cast_unsigned())
}

/// `old` with byte `n` modulo 4 replaced.
#[inline(always)]
pub fn replace_byte(byte: u32, n: u32, old: u32) -> u32 {
    let at = 8 * (n & 3);
    old & !(0xff << at) | byte << at
}

/// An f32 scaled to `one` for 1, to the nearest integer, ties to even; limited to −`one` (0 if unsigned) and `one`.
#[inline(always)]
pub fn norm(x: u32, one: f64, signed: bool) -> u32 {
    let least = if signed { -one } else { 0.0 };
    let scaled = f64::from(f32::from_bits(x)) * one;
    let number = if scaled.is_nan() { 0.0 } else { scaled.max(least).min(one) };
    (number.round_ties_even() as i32) as u32 & 0xffff
}

/// v_trig_preop_f64: 53 bits of 2/π from the segment's place on, as the number they stand for.
#[inline]
pub fn trig_preop(x: u64, segment: u32, rules: Rules) -> u64 {
    if F64.is_nan(x) {
        return F64.quiet(x);
    }
    let (bits, exponent) = preop_bits(x, segment);
    if bits == 0 {
        return 0;
    }
    let up = bits.leading_zeros() - 1;
    compose(F64, false, bits << up, 62 - up as i32 + exponent, rules)
}

/// The number before it is rounded: an integer of 53 bits and the power of two it is multiplied by.
pub(super) fn preop_bits(x: u64, segment: u32) -> (u64, i32) {
    let exponent = (x >> 52 & 0x7ff) as u32;
    let first = 53 * (segment & 31) + exponent.saturating_sub(1077);
    let word = |i: u32| u128::from(TWO_OVER_PI.get(i as usize).copied().unwrap_or(0));
    let window = (word(first / 64) << 64 | word(first / 64 + 1)) << (first % 64);
    let scale = if exponent >= 1968 { 128 } else { 0 };
    ((window >> 75) as u64, scale - 53 - first as i32)
}
