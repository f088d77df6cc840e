//! VOP3: operations that have no shorter form.
//!
//! Division comes in three steps around a reciprocal and fused refinements: div_scale moves operands into a range
//! where nothing over- or underflows, div_fmas does the last refinement and undoes the scaling, div_fixup puts the
//! special cases right.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::exceptions::{self, Operation, arithmetic};
use crate::fp::{self, Float, Fp, Rules, fma, narrow, quiet};
use crate::vintrp::{v_interp_p1ll_f16, v_interp_p1lv_f16, v_interp_p2_f16, v_interp_p2_legacy_f16};
use crate::vop1::{norm_i16, norm_u16};
use crate::vop2::{replace_byte, to_byte};
use gcnjit_isa::Exceptions;
use gcnjit_rt::math;
use half::f16;

gcnjit_isa::vop3! { vector }

pub fn v_mullit_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.note(|| exceptions::sources(&[c]));
    if e.source(c) > 0.0 { crate::vop2::v_mul_legacy_f32(e, a, b) } else { -f32::MAX }
}

pub fn v_lshl_b64(_: &Fp, a: u64, count: u32) -> u64 {
    a.wrapping_shl(count)
}

pub fn v_lshr_b64(_: &Fp, a: u64, count: u32) -> u64 {
    a.wrapping_shr(count)
}

pub fn v_ashr_i64(_: &Fp, a: i64, count: u32) -> i64 {
    a.wrapping_shr(count)
}

pub fn v_mul_lo_i32(_: &Fp, a: i32, b: i32) -> i32 {
    a.wrapping_mul(b)
}

pub fn v_mad_legacy_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.mad_legacy(a, b, c)
}

pub fn v_mad_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.mad(a, b, c)
}

/// The low bits of an exact unsigned result, saturated under clamp.
pub(crate) fn unsigned(e: &Fp, x: u64) -> u32 {
    if e.clamp { u32::try_from(x).unwrap_or(u32::MAX) } else { x as u32 }
}

/// The low bits of an exact signed result, saturated under clamp.
pub(crate) fn signed(e: &Fp, x: i64) -> i32 {
    if e.clamp { x.clamp(i32::MIN.into(), i32::MAX.into()) as i32 } else { x as i32 }
}

pub fn v_mad_i32_i24(e: &Fp, a: i32, b: i32, c: i32) -> i32 {
    signed(e, i64::from(a) * i64::from(b) + i64::from(c))
}

pub fn v_mad_u32_u24(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, u64::from(a) * u64::from(b) + u64::from(c))
}

/// The axis of the largest magnitude: 0, 1 or 2, the last of equal ones.
fn major_axis(v: [f32; 3]) -> usize {
    let [x, y, z] = v.map(f32::abs);
    if z >= y && z >= x {
        2
    } else if y >= x {
        1
    } else {
        0
    }
}

/// The face: twice the major axis, and 1 on its negative side.
pub fn v_cubeid_f32(e: &Fp, x: f32, y: f32, z: f32) -> f32 {
    let v = [x, y, z].map(|x| e.source(x));
    let axis = major_axis(v);
    (2 * axis) as f32 + if v[axis] < 0.0 { 1.0 } else { 0.0 }
}

/// `x` with the other sign if `negative`: NaNs too, as by the neg modifier.
fn negated_if(e: &Fp, negative: bool, x: f32) -> f32 {
    e.canonical(if negative { -x } else { x })
}

/// The coordinate that grows to the right on the face.
pub fn v_cubesc_f32(e: &Fp, x: f32, y: f32, z: f32) -> f32 {
    let [x, y, z] = [x, y, z].map(|x| e.source(x));
    match major_axis([x, y, z]) {
        2 => negated_if(e, z < 0.0, x),
        1 => e.canonical(x),
        _ => negated_if(e, x.is_nan() || x >= 0.0, z),
    }
}

/// The coordinate that grows downwards on the face.
pub fn v_cubetc_f32(e: &Fp, x: f32, y: f32, z: f32) -> f32 {
    let [x, y, z] = [x, y, z].map(|x| e.source(x));
    match major_axis([x, y, z]) {
        1 => negated_if(e, y < 0.0, z),
        _ => negated_if(e, true, y),
    }
}

/// Twice the major coordinate.
pub fn v_cubema_f32(e: &Fp, x: f32, y: f32, z: f32) -> f32 {
    let v = [x, y, z].map(|x| e.source(x));
    e.mul(v[major_axis(v)], 2.0)
}

pub fn v_bfe_u32(_: &Fp, a: u32, offset: u32, width: u32) -> u32 {
    a >> (offset & 31) & ((1 << (width & 31)) - 1)
}

pub fn v_bfe_i32(_: &Fp, a: i32, offset: u32, width: u32) -> i32 {
    let (offset, width) = (offset & 31, width & 31);
    if width == 0 {
        0
    } else if offset + width < 32 {
        a << (32 - offset - width) >> (32 - width)
    } else {
        a >> offset
    }
}

pub fn v_bfi_b32(_: &Fp, mask: u32, a: u32, b: u32) -> u32 {
    mask & a | !mask & b
}

pub fn v_fma_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.fma(a, b, c)
}

pub fn v_fma_f64(e: &Fp, a: f64, b: f64, c: f64) -> f64 {
    e.fma(a, b, c)
}

/// The bytes of `f` of the bytes of three dwords.
fn bytes(a: u32, b: u32, c: u32, f: fn(u32, u32, u32) -> u32) -> u32 {
    let byte = |x: u32, i: u32| x >> (8 * i) & 0xff;
    (0..4).map(|i| (f(byte(a, i), byte(b, i), byte(c, i)) & 0xff) << (8 * i)).sum()
}

/// Averages of bytes, rounded up where c is odd.
pub fn v_lerp_u8(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    bytes(a, b, c, |a, b, c| (a + b + (c & 1)) >> 1)
}

pub fn v_alignbit_b32(_: &Fp, high: u32, low: u32, count: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (count & 31)) as u32
}

pub fn v_alignbyte_b32(_: &Fp, high: u32, low: u32, count: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (8 * (count & 3))) as u32
}

pub fn v_min3_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.min3(a, b, c)
}

pub fn v_min3_i32(_: &Fp, a: i32, b: i32, c: i32) -> i32 {
    a.min(b).min(c)
}

pub fn v_min3_u32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a.min(b).min(c)
}

pub fn v_max3_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.max3(a, b, c)
}

pub fn v_max3_i32(_: &Fp, a: i32, b: i32, c: i32) -> i32 {
    a.max(b).max(c)
}

pub fn v_max3_u32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a.max(b).max(c)
}

pub fn v_med3_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.med3(a, b, c)
}

pub fn v_med3_i32(_: &Fp, a: i32, b: i32, c: i32) -> i32 {
    a.min(b).max(a.max(b).min(c))
}

pub fn v_med3_u32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a.min(b).max(a.max(b).min(c))
}

/// The sum of the differences between the bytes of two dwords.
fn byte_differences(a: u32, b: u32) -> u64 {
    a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(a, b)| u64::from(a.abs_diff(b))).sum()
}

/// The same, leaving out bytes where `b` has 0.
fn masked_differences(a: u32, b: u32) -> u64 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.filter(|(_, b)| *b != 0).map(|(a, b)| u64::from(a.abs_diff(b))).sum()
}

pub fn v_sad_u8(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, byte_differences(a, b) + u64::from(c))
}

pub fn v_sad_hi_u8(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, (byte_differences(a, b) << 16) + u64::from(c))
}

pub fn v_sad_u16(e: &Fp, a: [u16; 2], b: [u16; 2], c: u32) -> u32 {
    let sum = u64::from(a[0].abs_diff(b[0])) + u64::from(a[1].abs_diff(b[1]));
    unsigned(e, sum + u64::from(c))
}

pub fn v_sad_u32(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, u64::from(a.abs_diff(b)) + u64::from(c))
}

pub fn v_cvt_pk_u8_f32(e: &Fp, a: f32, byte: u32, c: u32) -> u32 {
    replace_byte(c, byte, to_byte(e, a))
}

/// The quotient of `n` / `d` from its approximation `q`: special cases, and the sign.
///
/// NaN: n's, then d's. 0/0 and ∞/∞ are invalid. Quotients too small to tell from zero are zero; a quotient that is
/// NaN though n and d are not overflowed on the way, and is infinite.
fn div_fixup<T: Float>(e: &Fp, q: T, d: T, n: T, underflow: i32) -> T {
    // The quotient's steps had their own exceptions; these are the division's (manual, V_DIV_FIXUP_F32).
    e.note(|| arithmetic(T::rules(e), Operation::Div, &[n, d]));
    let [q, d, n] = [q, d, n].map(|x| e.source(x));
    let negative = d.sign() != n.sign();
    let field = |x: T| (x.magnitude() >> T::MANTISSA) as i32;
    let infinity = T::from_raw(T::INFINITY);
    let magnitude = if n.is_nan() || d.is_nan() {
        return quiet(if n.is_nan() { n } else { d });
    } else if n.is_zero() && d.is_zero() || n.is_infinite() && d.is_infinite() {
        return T::DEFAULT_NAN;
    } else if d.is_zero() || n.is_infinite() {
        infinity
    } else if d.is_infinite() || n.is_zero() || field(n) - field(d) < underflow {
        T::ZERO
    } else if q.is_nan() {
        infinity
    } else {
        q
    };
    e.canonical(magnitude.with_sign(negative))
}

pub fn v_div_fixup_f32(e: &Fp, quotient: f32, denominator: f32, numerator: f32) -> f32 {
    div_fixup(e, quotient, denominator, numerator, -150)
}

pub fn v_div_fixup_f64(e: &Fp, quotient: f64, denominator: f64, numerator: f64) -> f64 {
    div_fixup(e, quotient, denominator, numerator, -1075)
}

/// When division scales, and by which power of two.
struct Scaling {
    /// Numerators this many binary orders above the denominator.
    huge: i32,
    /// Exponent fields up to this are tiny numerators.
    tiny: i32,
    /// The power.
    power: i32,
}

/// `a`, which is `d` or `n`, scaled for the division n / d; and whether the quotient is to be scaled back.
///
/// - The quotient is near overflow: the denominator is scaled up.
/// - The denominator is denormal: both are scaled up.
/// - Its reciprocal would be denormal: both are scaled down; if the quotient would be too, the denominator alone.
/// - The quotient would be denormal: the numerator is scaled up.
/// - The numerator is so small that its rounding errors would be: both are scaled up.
fn div_scale<T: Float>(e: &Fp, a: T, d: T, n: T, s: &Scaling) -> (T, bool) {
    let [a, d, n] = [a, d, n].map(|x| e.source(x));
    let field = |x: T| (x.magnitude() >> T::MANTISSA) as i32;
    if d.is_zero() || n.is_zero() {
        return (if a.is_nan() { quiet(a) } else { T::DEFAULT_NAN }, false);
    }
    let (is_d, is_n) = (a == d, a == n);
    let largest = (T::INFINITY >> T::MANTISSA) as i32;
    let small_reciprocal = field(d) >= largest - 2 && field(d) < largest;
    let small_quotient = field(n) - field(d) <= T::MIN_EXPONENT;
    let (power, flag) = if field(n) - field(d) >= s.huge {
        (if is_d { s.power } else { 0 }, true)
    } else if field(d) == 0 {
        (s.power, false)
    } else if small_reciprocal && small_quotient {
        (if is_d { -s.power } else { 0 }, true)
    } else if small_reciprocal {
        (-s.power, false)
    } else if small_quotient {
        (if is_n { s.power } else { 0 }, true)
    } else {
        (if field(n) <= s.tiny { s.power } else { 0 }, false)
    };
    (if power == 0 { e.canonical(a) } else { e.ldexp(a, power) }, flag)
}

pub fn v_div_scale_f32(e: &Fp, a: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    div_scale(e, a, denominator, numerator, &Scaling { huge: 96, tiny: 23, power: 64 })
}

pub fn v_div_scale_f64(e: &Fp, a: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    div_scale(e, a, denominator, numerator, &Scaling { huge: 768, tiny: 53, power: 128 })
}

/// a · b + c, times 2^±64 for lanes that div_scale flagged: up if |c|, about the quotient, is at least 2. Rounded once,
/// after the scaling.
pub fn v_div_fmas_f32(e: &Fp, a: f32, b: f32, c: f32, scaled: bool) -> f32 {
    let [x, y, z] = [a, b, c].map(|x| e.source(x));
    let exact = math::fma_to_odd(x, y, z);
    // Scaling leaves zero alone, and its sign is the rounding mode's business.
    if !scaled || exact.is_nan() || exact == 0.0 {
        return e.fma(a, b, c);
    }
    let power = if z.abs() >= 2.0 { 1023 + 64 } else { 1023 - 64 };
    let scaled = exact * f64::from_bits(power << 52);
    e.note(|| exceptions::sources(&[a, b, c]) | exceptions::narrowing::<f32>(e.single, scaled));
    narrow(e.single, scaled)
}

/// The same with 2^±128, but rounded twice: by the fused operation and by the scaling.
pub fn v_div_fmas_f64(e: &Fp, a: f64, b: f64, c: f64, scaled: bool) -> f64 {
    if !scaled {
        return e.fma(a, b, c);
    }
    // What is between the two steps is no source: it keeps denormals.
    let first = Rules { flush_out: false, ..e.double };
    let second = Rules { flush_in: false, ..e.double };
    let result = fma(first, a, b, c);
    let power = if e.source(c).abs() >= 2.0 { 128 } else { -128 };
    e.note(|| {
        let scaling = exceptions::ldexp(second, result, power).without(Exceptions::INPUT_DENORMAL);
        arithmetic(first, Operation::Fma, &[a, b, c]) | scaling
    });
    fp::ldexp(second, result, power)
}

pub fn v_msad_u8(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, masked_differences(a, b) + u64::from(c))
}

/// Four sums of byte differences of `b` with the four dwords that start at the low bytes of `a`, accumulated in 16
/// bits each.
fn sliding(e: &Fp, a: u64, b: u32, c: u64, differences: fn(u32, u32) -> u64) -> u64 {
    let lane = |i: u32| {
        let sum = differences((a >> (8 * i)) as u32, b) + (c >> (16 * i) & 0xffff);
        (if e.clamp { sum.min(0xffff) } else { sum & 0xffff }) << (16 * i)
    };
    (0..4).map(lane).sum()
}

pub fn v_qsad_pk_u16_u8(e: &Fp, a: u64, b: u32, c: u64) -> u64 {
    sliding(e, a, b, c, byte_differences)
}

pub fn v_mqsad_pk_u16_u8(e: &Fp, a: u64, b: u32, c: u64) -> u64 {
    sliding(e, a, b, c, masked_differences)
}

pub fn v_mqsad_u32_u8(e: &Fp, a: u64, b: u32, c: [u32; 4]) -> [u32; 4] {
    [0, 1, 2, 3].map(|i| unsigned(e, masked_differences((a >> (8 * i)) as u32, b) + u64::from(c[i])))
}

pub fn v_mad_u64_u32(_: &Fp, a: u32, b: u32, c: u64) -> (u64, bool) {
    (u64::from(a) * u64::from(b)).overflowing_add(c)
}

pub fn v_mad_i64_i32(_: &Fp, a: i32, b: i32, c: i64) -> (i64, bool) {
    (i64::from(a) * i64::from(b)).overflowing_add(c)
}

pub fn v_mad_legacy_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.mad(a, b, c)
}

pub fn v_mad_legacy_u16(e: &Fp, a: u16, b: u16, c: u16) -> u16 {
    let x = u64::from(a) * u64::from(b) + u64::from(c);
    if e.clamp { x.min(0xffff) as u16 } else { x as u16 }
}

pub fn v_mad_legacy_i16(e: &Fp, a: i16, b: i16, c: i16) -> i16 {
    let x = i32::from(a) * i32::from(b) + i32::from(c);
    if e.clamp { x.clamp(-0x8000, 0x7fff) as i16 } else { x as i16 }
}

/// Each byte of `select` picks a byte of the eight in `high` and `low`: 0 to 3 of `low`, 4 to 7 of `high`; 8 to 11 the
/// sign of byte 1, 3, 5 or 7 eight times; 12 zero, more all ones.
pub fn v_perm_b32(_: &Fp, high: u32, low: u32, select: u32) -> u32 {
    let all = u64::from(high) << 32 | u64::from(low);
    let pick = |s: u8| match s {
        0..=7 => (all >> (8 * s)) as u8,
        8..=11 => ((all << (48 - 16 * (s - 8))) as i64 >> 63) as u8,
        12 => 0,
        _ => 0xff,
    };
    u32::from_le_bytes(select.to_le_bytes().map(pick))
}

pub fn v_fma_legacy_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.fma(a, b, c)
}

pub fn v_div_fixup_legacy_f16(e: &Fp, quotient: f16, denominator: f16, numerator: f16) -> f16 {
    v_div_fixup_f16(e, quotient, denominator, numerator)
}

pub fn v_mad_u32_u16(e: &Fp, a: u16, b: u16, c: u32) -> u32 {
    unsigned(e, u64::from(a) * u64::from(b) + u64::from(c))
}

pub fn v_mad_i32_i16(e: &Fp, a: i16, b: i16, c: i32) -> i32 {
    signed(e, i64::from(a) * i64::from(b) + i64::from(c))
}

pub fn v_xad_u32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    (a ^ b).wrapping_add(c)
}

pub fn v_min3_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.min3(a, b, c)
}

pub fn v_min3_i16(_: &Fp, a: i16, b: i16, c: i16) -> i16 {
    a.min(b).min(c)
}

pub fn v_min3_u16(_: &Fp, a: u16, b: u16, c: u16) -> u16 {
    a.min(b).min(c)
}

pub fn v_max3_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.max3(a, b, c)
}

pub fn v_max3_i16(_: &Fp, a: i16, b: i16, c: i16) -> i16 {
    a.max(b).max(c)
}

pub fn v_max3_u16(_: &Fp, a: u16, b: u16, c: u16) -> u16 {
    a.max(b).max(c)
}

pub fn v_med3_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.med3(a, b, c)
}

pub fn v_med3_i16(_: &Fp, a: i16, b: i16, c: i16) -> i16 {
    a.min(b).max(a.max(b).min(c))
}

pub fn v_med3_u16(_: &Fp, a: u16, b: u16, c: u16) -> u16 {
    a.min(b).max(a.max(b).min(c))
}

pub fn v_lshl_add_u32(_: &Fp, a: u32, count: u32, b: u32) -> u32 {
    a.wrapping_shl(count).wrapping_add(b)
}

pub fn v_add_lshl_u32(_: &Fp, a: u32, b: u32, count: u32) -> u32 {
    a.wrapping_add(b).wrapping_shl(count)
}

pub fn v_add3_u32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a.wrapping_add(b).wrapping_add(c)
}

pub fn v_lshl_or_b32(_: &Fp, a: u32, count: u32, b: u32) -> u32 {
    a.wrapping_shl(count) | b
}

pub fn v_and_or_b32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a & b | c
}

pub fn v_or3_b32(_: &Fp, a: u32, b: u32, c: u32) -> u32 {
    a | b | c
}

pub fn v_mad_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.mad(a, b, c)
}

pub fn v_mad_u16(e: &Fp, a: u16, b: u16, c: u16) -> u16 {
    v_mad_legacy_u16(e, a, b, c)
}

pub fn v_mad_i16(e: &Fp, a: i16, b: i16, c: i16) -> i16 {
    v_mad_legacy_i16(e, a, b, c)
}

pub fn v_fma_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.fma(a, b, c)
}

pub fn v_div_fixup_f16(e: &Fp, quotient: f16, denominator: f16, numerator: f16) -> f16 {
    div_fixup(e, quotient, denominator, numerator, -64)
}

pub fn v_add_f64(e: &Fp, a: f64, b: f64) -> f64 {
    e.add(a, b)
}

pub fn v_mul_f64(e: &Fp, a: f64, b: f64) -> f64 {
    e.mul(a, b)
}

pub fn v_min_f64(e: &Fp, a: f64, b: f64) -> f64 {
    e.min(a, b)
}

pub fn v_max_f64(e: &Fp, a: f64, b: f64) -> f64 {
    e.max(a, b)
}

pub fn v_ldexp_f64(e: &Fp, a: f64, n: i32) -> f64 {
    e.ldexp(a, n)
}

pub fn v_mul_lo_u32(_: &Fp, a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

pub fn v_mul_hi_u32(_: &Fp, a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

pub fn v_mul_hi_i32(_: &Fp, a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

pub fn v_lshlrev_b64(_: &Fp, count: u32, a: u64) -> u64 {
    a.wrapping_shl(count)
}

pub fn v_lshrrev_b64(_: &Fp, count: u32, a: u64) -> u64 {
    a.wrapping_shr(count)
}

pub fn v_ashrrev_i64(_: &Fp, count: u32, a: i64) -> i64 {
    a.wrapping_shr(count)
}

/// 53 bits of 2/π at the place of the segment, further on for arguments from 2^55, as the number they stand for; 2^128
/// times that for arguments from 2^945, which their own scaling takes back.
pub fn v_trig_preop_f64(e: &Fp, a: f64, segment: u32) -> f64 {
    e.note(|| exceptions::sources(&[a]));
    if a.is_nan() {
        return quiet(a);
    }
    let exponent = (a.to_bits() >> 52 & 0x7ff) as i32;
    let skipped = 53 * (segment & 31) as i32 + (exponent - 1077).max(0);
    let bit = |i: i32| math::TWO_OVER_PI.get(i as usize / 64).map_or(0, |word| word >> (63 - i % 64) & 1);
    let bits = (skipped..skipped + 53).fold(0, |bits, i| bits << 1 | bit(i));
    e.ldexp(bits as f64, if exponent >= 1968 { 128 } else { 0 } - 53 - skipped)
}

pub fn v_cvt_pknorm_i16_f16(e: &Fp, a: f16, b: f16) -> [i16; 2] {
    [a, b].map(|x| norm_i16(Float::to_f64(e.source(x))))
}

pub fn v_cvt_pknorm_u16_f16(e: &Fp, a: f16, b: f16) -> [u16; 2] {
    [a, b].map(|x| norm_u16(Float::to_f64(e.source(x))))
}

pub fn v_add_i32(e: &Fp, a: i32, b: i32) -> i32 {
    if e.clamp { a.saturating_add(b) } else { a.wrapping_add(b) }
}

pub fn v_sub_i32(e: &Fp, a: i32, b: i32) -> i32 {
    if e.clamp { a.saturating_sub(b) } else { a.wrapping_sub(b) }
}

pub fn v_add_i16(e: &Fp, a: i16, b: i16) -> i16 {
    if e.clamp { a.saturating_add(b) } else { a.wrapping_add(b) }
}

pub fn v_sub_i16(e: &Fp, a: i16, b: i16) -> i16 {
    if e.clamp { a.saturating_sub(b) } else { a.wrapping_sub(b) }
}

pub fn v_pack_b32_f16(_: &Fp, a: f16, b: f16) -> [f16; 2] {
    [a, b]
}
