//! f16 operations of three sources, and the f16 forms of what f32 and f64 have in [`functions`](super::functions).

use super::functions::{
    F16, Rules, add_f16, directed_sum, div_fixup, extremum_f16, f16_op, f16_to_f32, from_f64, ldexp, mul_f16,
};

/// y − x; a NaN in x keeps its sign, and comes first.
#[inline]
pub fn subrev_f16(x: u32, y: u32, rules: Rules) -> u32 {
    f16_op(x, y, rules, |x, y| directed_sum(-x, y, rules))
}

/// x · y + z, both steps rounded.
#[inline]
pub fn mad_f16(x: u32, y: u32, z: u32, rules: Rules) -> u32 {
    add_f16(mul_f16(x, y, rules), z, rules)
}

/// x · y + z, rounded once.
#[inline]
pub fn fma_f16(x: u32, y: u32, z: u32, rules: Rules) -> u32 {
    if let Some(nan) = [x, y, z].into_iter().map(|x| x & 0xffff).find(|x| F16.is_nan(u64::from(*x))) {
        return nan | 0x200;
    }
    let [x, y, z] = [x, y, z].map(|x| f32::from_bits(f16_to_f32(x, rules)));
    // The product is exact; if the sum is not, its rounding to odd makes the second rounding the only one.
    let sum = directed_sum(f64::from(x) * f64::from(y), f64::from(z), rules);
    if sum.is_nan() {
        return 0xfe00;
    }
    let exact = if sum == 0.0 { sum } else { gcnjit_rt::math::fma_to_odd(x, y, z) };
    from_f64(F16, exact, rules) as u32
}

/// x · 2^n.
#[inline]
pub fn ldexp_f16(x: u32, n: u32, rules: Rules) -> u32 {
    ldexp(F16, u64::from(x & 0xffff), n as i32, rules) as u32
}

/// The smallest or largest of three f16, as [`extremum_f16`] finds it.
#[inline]
pub fn extremum3_f16(x: u32, y: u32, z: u32, rules: Rules, larger: bool) -> u32 {
    extremum_f16(extremum_f16(x, y, rules, larger), z, rules, larger)
}

/// The one in the middle; the smallest if there is a NaN.
#[inline]
pub fn med3_f16(x: u32, y: u32, z: u32, rules: Rules) -> u32 {
    let [x, y, z] = [x, y, z].map(|x| x & 0xffff);
    if [x, y, z].into_iter().any(|x| F16.is_nan(u64::from(x))) {
        return extremum3_f16(x, y, z, rules, false);
    }
    let least = extremum_f16(x, y, rules, false);
    let upper = extremum_f16(extremum_f16(x, y, rules, true), z, rules, false);
    extremum_f16(least, upper, rules, true)
}

/// The fixed quotient.
#[inline]
pub fn div_fixup_f16(q: u32, y: u32, x: u32, rules: Rules) -> u32 {
    let [q, y, x] = [q, y, x].map(|x| u64::from(x & 0xffff));
    div_fixup(F16, q, y, x, rules) as u32
}
