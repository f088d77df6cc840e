//! The functions that the hardware approximates, in portable arithmetic shared by both executors.
//!
//! Contract: a function is a fixed sequence of IEEE additions, multiplications, divisions and square roots to nearest
//! even, in f32 or f64, never contracted into fused operations: every host computes the same bits. There are no
//! tables, no calls and few branches, so that a loop over 64 lanes vectorises. Results are within 1 ulp (rcp and sqrt:
//! correctly rounded; rsq on f64: within 1.5 ulp, being the rounded reciprocal of the rounded root).
//!
//! A NaN argument comes back quieted; an invalid one (the logarithm of −1, the sine of ∞) gives [`DEFAULT_NAN`].
//! `flush` makes denormal arguments count as zero of their sign, and denormal results become it.
//!
//! The polynomials are Chebyshev interpolants of the function (divided by its argument where that is odd) computed in
//! 60 digits; each comment states the largest error.

/// What an invalid operation gives in f32.
pub const DEFAULT_NAN: f32 = f32::from_bits(0xffc0_0000);
/// What an invalid operation gives in f64.
pub const DEFAULT_NAN_F64: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// 2/π as a binary fraction, 1201 bits of it: what v_trig_preop_f64 looks up.
pub const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// 2^x on [−½, ½], error below 8.1e-13.
const EXP2: [f64; 9] = [
    1.0,
    0.6931471805459335,
    0.2402265069581299,
    0.05550410941205933,
    0.009618129159402558,
    0.0013333450568000645,
    0.00015403455852453838,
    1.5310079402249296e-5,
    1.3255224878668817e-6,
];

/// log2((1 + s) / (1 − s)) / s as a polynomial in s², |s| ≤ 0.1716, error below 7.9e-14.
const LOG2: [f64; 6] = [
    2.8853900817778504,
    0.9617966941126749,
    0.5770779425301307,
    0.4122092382250214,
    0.31990618475532295,
    0.2828943743715255,
];

/// sin(2πt) / t as a polynomial in t², |t| ≤ ¼, error below 7.2e-16.
#[allow(clippy::approx_constant, reason = "the first coefficient of the interpolant happens to be close to 2π")]
const SIN: [f64; 8] = [
    6.283185307179585,
    -41.341702240398284,
    81.60524927557977,
    -76.70585968962867,
    42.05868995395094,
    -15.09450614073429,
    3.817365633469135,
    -0.6925067010720717,
];

/// 1.5 · 2^52: adding it to a small f64 leaves the nearest integer in the low bits.
const TO_INTEGER: f64 = 6755399441055744.0;

/// 1 / x.
#[inline(always)]
pub fn rcp_f32(x: f32, flush: bool) -> f32 {
    finish(x, 1.0 / enter(x, flush), flush)
}

/// √x.
#[inline(always)]
pub fn sqrt_f32(x: f32, flush: bool) -> f32 {
    finish(x, enter(x, flush).sqrt(), flush)
}

/// 1 / √x, by way of f64.
#[inline(always)]
pub fn rsq_f32(x: f32, flush: bool) -> f32 {
    finish(x, (1.0 / f64::from(enter(x, flush)).sqrt()) as f32, flush)
}

/// 2^x.
#[inline(always)]
pub fn exp_f32(x: f32, flush: bool) -> f32 {
    // Outside of ±200 the result is 0 or ∞ all the same.
    let wide = f64::from(enter(x, flush)).clamp(-200.0, 200.0);
    let shifted = wide + TO_INTEGER;
    let fraction = wide - (shifted - TO_INTEGER);
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    finish(x, (polynomial(&EXP2, fraction) * power) as f32, flush)
}

/// The binary logarithm of x.
#[inline(always)]
pub fn log_f32(x: f32, flush: bool) -> f32 {
    /// Bits of √½: significands are taken from [√½, √2).
    const LOW: u64 = 0x3fe6_a09e_667f_3bcd;
    let x_or_zero = enter(x, flush);
    let bits = f64::from(x_or_zero).to_bits();
    let exponent = (bits.wrapping_sub(LOW) as i64 >> 52) as i32;
    let significand = f64::from_bits(bits.wrapping_sub((exponent as i64 as u64) << 52));
    let s = (significand - 1.0) / (significand + 1.0);
    let number = (f64::from(exponent) + s * polynomial(&LOG2, s * s)) as f32;
    let result = if x_or_zero == 0.0 {
        f32::NEG_INFINITY
    } else if x_or_zero < 0.0 {
        f32::NAN
    } else if x_or_zero == f32::INFINITY {
        f32::INFINITY
    } else {
        number
    };
    finish(x, result, flush)
}

/// The sine of x revolutions; 0 outside of ±256.
#[inline(always)]
pub fn sin_f32(x: f32, flush: bool) -> f32 {
    let turns = turns(enter(x, flush));
    // sin(2πt) = sin(2π(½ − t)): into the quarter around zero.
    let quarter = if turns.abs() > 0.25 { 0.5_f64.copysign(turns) - turns } else { turns };
    finish(x, ranged(x, 0.0, sine(quarter)), flush)
}

/// The cosine of x revolutions; 1 outside of ±256.
#[inline(always)]
pub fn cos_f32(x: f32, flush: bool) -> f32 {
    let turns = turns(enter(x, flush));
    finish(x, ranged(x, 1.0, sine(0.25 - turns.abs())), flush)
}

/// 1 / x.
#[inline(always)]
pub fn rcp_f64(x: f64) -> f64 {
    finish_f64(x, 1.0 / x)
}

/// √x.
#[inline(always)]
pub fn sqrt_f64(x: f64) -> f64 {
    finish_f64(x, x.sqrt())
}

/// 1 / √x, both steps rounded.
#[inline(always)]
pub fn rsq_f64(x: f64) -> f64 {
    finish_f64(x, 1.0 / x.sqrt())
}

/// a · b + c for f32 operands, as an f64 that is rounded to odd: rounding it to any narrower format, even after scaling
/// by a power of two, gives what rounding the exact value would.
#[inline(always)]
pub fn fma_to_odd(a: f32, b: f32, c: f32) -> f64 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // Knuth's two-sum: what the rounding of the sum lost, exactly. The product itself is exact.
    let back = sum - product;
    let lost = (product - (sum - back)) + (c - back);
    let bits = sum.to_bits();
    let away = (lost > 0.0) == (sum > 0.0);
    let odd = if away { bits | 1 } else { bits - 1 };
    // Infinities and NaNs lose NaN.
    if lost != 0.0 && !lost.is_nan() && bits & 1 == 0 { f64::from_bits(odd) } else { sum }
}

/// The argument to compute with.
#[inline(always)]
fn enter(x: f32, flush: bool) -> f32 {
    if flush && x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x }
}

/// `result`, flushed and with the right NaN, for argument `x`.
#[inline(always)]
fn finish(x: f32, result: f32, flush: bool) -> f32 {
    let number = if result.is_nan() { DEFAULT_NAN } else { enter(result, flush) };
    if x.is_nan() { f32::from_bits(x.to_bits() | 0x0040_0000) } else { number }
}

#[inline(always)]
fn finish_f64(x: f64, result: f64) -> f64 {
    let number = if result.is_nan() { DEFAULT_NAN_F64 } else { result };
    if x.is_nan() { f64::from_bits(x.to_bits() | 0x0008_0000_0000_0000) } else { number }
}

/// c₀ + c₁x + c₂x² + …
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// x less the nearest integer, exactly.
#[inline(always)]
fn turns(x: f32) -> f64 {
    let wide = f64::from(x);
    // The sign of zero is kept: −0 + TO_INTEGER − TO_INTEGER is +0, and −0 − +0 is −0.
    wide - ((wide + TO_INTEGER) - TO_INTEGER)
}

/// sin(2πt) for |t| ≤ ¼.
#[inline(always)]
fn sine(t: f64) -> f32 {
    (t * polynomial(&SIN, t * t)) as f32
}

/// `result` where |x| ≤ 256; a NaN for ∞; `outside` otherwise.
#[inline(always)]
fn ranged(x: f32, outside: f32, result: f32) -> f32 {
    if x.abs() <= 256.0 {
        result
    } else if x.is_infinite() {
        f32::NAN
    } else {
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every float between `low` and `high` whose bits are a multiple of `step` away from `low`'s, both signs.
    fn floats(low: f32, high: f32, step: usize) -> impl Iterator<Item = f32> {
        (low.to_bits()..=high.to_bits()).step_by(step).flat_map(|bits| {
            let x = f32::from_bits(bits);
            [x, -x]
        })
    }

    /// The error of `got` in units of the last place of the f32 nearest to `want`.
    fn ulps(got: f32, want: f64) -> f64 {
        let nearest = (want as f32).abs().max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(nearest.to_bits() + 1)) - f64::from(nearest);
        (f64::from(got) - want).abs() / unit
    }

    fn worst(xs: impl Iterator<Item = f32>, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> f64 {
        xs.map(|x| ulps(f(x), exact(f64::from(x)))).fold(0.0, f64::max)
    }

    #[test]
    fn exp_is_within_an_ulp() {
        let error = worst(floats(1e-9, 127.9, 997), |x| exp_f32(x, false), f64::exp2);
        assert!(error < 0.501, "{error} ulp");
        let denormal = worst(floats(126.0, 150.0, 97), |x| exp_f32(-x.abs(), false), |x| f64::exp2(-x.abs()));
        assert!(denormal < 0.501, "{denormal} ulp");
    }

    #[test]
    fn log_is_within_an_ulp() {
        let positive = |low, high, step| floats(low, high, step).filter(|x| *x > 0.0);
        for (low, high, step) in [(1e-45, 3.4e38, 4099), (0.9, 1.1, 3)] {
            let error = worst(positive(low, high, step), |x| log_f32(x, false), f64::log2);
            assert!(error < 0.502, "{error} ulp in {low}..{high}");
        }
    }

    #[test]
    fn sine_and_cosine_are_within_an_ulp() {
        // Reduced before the multiplication by 2π, or f64 would lose what f32 keeps near the zeros.
        let radians = |x: f64| (x - x.round()) * std::f64::consts::TAU;
        let cosine = |x: f64| (std::f64::consts::FRAC_PI_2 - radians(x).abs()).sin();
        let sine = |x: f64| {
            let t = x - x.round();
            let t = if t.abs() > 0.25 { 0.5_f64.copysign(t) - t } else { t };
            (t * std::f64::consts::TAU).sin()
        };
        let sin_error = worst(floats(1e-9, 256.0, 997), |x| sin_f32(x, false), sine);
        assert!(sin_error < 0.501, "{sin_error} ulp");
        let off_zero = floats(1e-9, 256.0, 997).filter(|x| ((x.abs() % 0.5) - 0.25).abs() > 1e-6);
        let cos_error = worst(off_zero, |x| cos_f32(x, false), cosine);
        assert!(cos_error < 0.501, "{cos_error} ulp");
        assert_eq!([0.25, 0.75, 1.25].map(|x| cos_f32(x, false)), [0.0; 3]);
    }

    #[test]
    fn reciprocals_and_roots_are_correctly_rounded() {
        for x in floats(1e-38, 3e38, 7919) {
            assert_eq!(rcp_f32(x, false), (1.0 / f64::from(x)) as f32);
            if x > 0.0 {
                assert_eq!(sqrt_f32(x, false), f64::from(x).sqrt() as f32);
                assert!(ulps(rsq_f32(x, false), 1.0 / f64::from(x).sqrt()) < 0.501, "rsq({x})");
            }
        }
    }

    #[test]
    fn fused_sums_are_rounded_to_odd() {
        let unit = f64::EPSILON;
        assert_eq!(fma_to_odd(3.0, 5.0, -1.0), 14.0);
        assert_eq!(fma_to_odd(1.0, 1.0, 1e-30), 1.0 + unit);
        assert_eq!(fma_to_odd(1.0, 1.0, -1e-30), 1.0 - unit / 2.0);
        assert_eq!(fma_to_odd(-1.0, 1.0, -1e-30), -1.0 - unit);
        assert_eq!(fma_to_odd(f32::INFINITY, 1.0, 1.0), f64::INFINITY);
        assert!(fma_to_odd(f32::INFINITY, 0.0, 1.0).is_nan());
    }

    #[test]
    fn edges() {
        let (inf, min) = (f32::INFINITY, f32::from_bits(1));
        let bits = f32::to_bits;
        assert_eq!([exp_f32(-inf, true), exp_f32(inf, true), exp_f32(0.0, true)], [0.0, inf, 1.0]);
        assert_eq!([exp_f32(10.0, true), exp_f32(-149.0, false), exp_f32(-149.0, true)], [1024.0, min, 0.0]);
        assert_eq!([log_f32(-0.0, true), log_f32(inf, true), log_f32(1.0, true)], [-inf, inf, 0.0]);
        assert_eq!([log_f32(min, true), log_f32(min, false), log_f32(8.0, true)], [-inf, -149.0, 3.0]);
        assert_eq!([rcp_f32(-0.0, true), rcp_f32(-min, true), rcp_f32(inf, true)], [-inf, -inf, 0.0]);
        assert_eq!([rsq_f32(-0.0, true), rsq_f32(inf, true), rsq_f32(4.0, true)], [-inf, 0.0, 0.5]);
        assert_eq!(bits(sqrt_f32(-0.0, true)), bits(-0.0));
        assert_eq!(bits(sin_f32(-0.0, true)), bits(-0.0));
        assert_eq!([sin_f32(257.0, true), cos_f32(-257.0, true), sin_f32(0.25, true)], [0.0, 1.0, 1.0]);
        for invalid in [log_f32(-1.0, true), sqrt_f32(-1.0, true), rsq_f32(-1.0, true), sin_f32(inf, true)] {
            assert_eq!(bits(invalid), bits(DEFAULT_NAN));
        }
        let signalling = f32::from_bits(0x7f80_1234);
        for f in [rcp_f32, sqrt_f32, rsq_f32, exp_f32, log_f32, sin_f32, cos_f32] {
            assert_eq!(bits(f(signalling, true)), 0x7fc0_1234);
        }
    }
}
