//! Arithmetic in every rounding and denormal mode against exact integers (see `support/exact.rs`).
//!
//! f16 operations with one source are tried on every input; the others on random numbers that are often special and
//! often near each other. A failure prints the operation, the operands and the rules, all in bits.

#[path = "support/exact.rs"]
mod exact;
mod support;

use exact::{F16, F32, F64, Format, Number, Rules, Sum, evaluate, power};
use gcnjit_interp::fp::{Float, Fp};
use gcnjit_interp::{vop1, vop2, vop3, vop3p};
use gcnjit_rt::{Mode, Round};
use half::f16;
use support::{Random, fp};

const ROUNDS: [Round; 4] = [Round::NearestEven, Round::Up, Round::Down, Round::Zero];

/// Every combination of rounding and denormal handling, the same for all formats.
fn modes() -> impl Iterator<Item = (Fp, Rules)> {
    (0..16).map(|bits: u32| {
        let (round, denormals) = (bits & 3, bits >> 2);
        let mode = Mode((round * 0b101) | (denormals * 0b101_0000));
        let (flush_in, flush_out) = (denormals & 1 == 0, denormals & 2 == 0);
        (fp(mode), Rules { round: ROUNDS[round as usize], flush_in, flush_out })
    })
}

/// A float with its format's name in the model.
trait Tested: Float {
    const FORMAT: Format;
}

impl Tested for f16 {
    const FORMAT: Format = F16;
}
impl Tested for f32 {
    const FORMAT: Format = F32;
}
impl Tested for f64 {
    const FORMAT: Format = F64;
}

fn random<T: Tested>(random: &mut Random) -> T {
    T::from_raw(random.float(T::BITS, T::MANTISSA))
}

/// `f` of the sources as the rules let an operation see them; of NaNs the first one, quieted.
fn model<S: Tested, D: Tested>(rules: Rules, sources: &[S], f: impl Fn(&[Number]) -> u64) -> u64 {
    let bits: Vec<u64> = sources.iter().map(|x| rules.source(S::FORMAT, x.raw())).collect();
    if let Some(nan) = bits.iter().find(|bits| S::FORMAT.is_nan(**bits)) {
        return other_nan(S::FORMAT, D::FORMAT, *nan);
    }
    let numbers: Vec<Number> = bits.iter().map(|bits| S::FORMAT.number(*bits)).collect();
    f(&numbers)
}

/// The NaN of another format with the same sign and the same leading bits, quieted.
fn other_nan(from: Format, to: Format, nan: u64) -> u64 {
    let sign = if nan & from.sign() != 0 { to.sign() } else { 0 };
    let payload = nan & (from.min_normal() - 1);
    let payload = if from.mantissa > to.mantissa {
        payload >> (from.mantissa - to.mantissa)
    } else {
        payload << (to.mantissa - from.mantissa)
    };
    sign | to.infinity() | to.quiet_bit() | payload
}

#[track_caller]
fn same<S: Float>(got: impl Float, want: u64, name: &str, sources: &[S], rules: Rules) {
    let sources: Vec<u64> = sources.iter().map(|x| x.raw()).collect();
    assert!(got.raw() == want, "{name}({sources:x?}): {:x}, not {want:x}, by {rules:?}", got.raw());
}

fn sums_and_products<T: Tested>(seed: u64) {
    let (format, mut numbers) = (T::FORMAT, Random(seed));
    for (e, rules) in modes() {
        for _ in 0..8_000 {
            let [a, b, c] = [0; 3].map(|_| random::<T>(&mut numbers));
            let check = |got: T, name, sources: &[T], terms: &dyn Fn(&[Number]) -> u64| {
                same(got, model::<T, T>(rules, sources, terms), name, sources, rules);
            };
            check(e.add(a, b), "add", &[a, b], &|x| evaluate(format, rules, &[&[x[0]], &[x[1]]]));
            check(e.sub(a, b), "sub", &[a, b], &|x| evaluate(format, rules, &[&[x[0]], &[-x[1]]]));
            check(e.subrev(a, b), "subrev", &[a, b], &|x| evaluate(format, rules, &[&[-x[0]], &[x[1]]]));
            check(e.mul(a, b), "mul", &[a, b], &|x| evaluate(format, rules, &[&[x[0], x[1]]]));
            check(e.fma(a, b, c), "fma", &[a, b, c], &|x| evaluate(format, rules, &[&[x[0], x[1]], &[x[2]]]));
        }
    }
}

#[test]
fn f16_sums_and_products() {
    sums_and_products::<f16>(1);
}

#[test]
fn f32_sums_and_products() {
    sums_and_products::<f32>(2);
}

#[test]
fn f64_sums_and_products() {
    sums_and_products::<f64>(3);
}

/// v_mad rounds the product and the sum; on f32 it flushes whatever MODE says.
fn multiply_and_add<T: Tested>(seed: u64) {
    let mut numbers = Random(seed);
    for (e, rules) in modes() {
        let rules = if T::FORMAT == F32 { Rules { flush_in: true, flush_out: true, ..rules } } else { rules };
        for _ in 0..8_000 {
            let [a, b, c] = [0; 3].map(|_| random::<T>(&mut numbers));
            let product = model::<T, T>(rules, &[a, b], |x| evaluate(T::FORMAT, rules, &[&[x[0], x[1]]]));
            let sources = [T::from_raw(product), c];
            let want = model::<T, T>(rules, &sources, |x| evaluate(T::FORMAT, rules, &[&[x[0]], &[x[1]]]));
            same(e.mad(a, b, c), want, "mad", &[a, b, c], rules);
        }
    }
}

#[test]
fn mad_rounds_twice() {
    multiply_and_add::<f16>(4);
    multiply_and_add::<f32>(5);
}

/// Rows that are one of these operations, or several: with the operations' exact results.
#[test]
fn rows_of_sums_and_products() {
    let mut numbers = Random(35);
    for (e, rules) in modes() {
        for _ in 0..4_000 {
            let [a, b, c] = [0; 3].map(|_| random::<f32>(&mut numbers));
            let exact = |sources: &[f32], terms: &dyn Fn(&[Number]) -> u64| model::<f32, f32>(rules, sources, terms);
            let fused = exact(&[a, b, c], &|x| evaluate(F32, rules, &[&[x[0], x[1]], &[x[2]]]));
            let minus = exact(&[a, b], &|x| evaluate(F32, rules, &[&[x[0]], &[-x[1]]]));
            let reversed = exact(&[a, b], &|x| evaluate(F32, rules, &[&[-x[0]], &[x[1]]]));
            same(vop2::v_sub_f32(&e, a, b), minus, "v_sub_f32", &[a, b], rules);
            same(vop2::v_subrev_f32(&e, a, b), reversed, "v_subrev_f32", &[a, b], rules);
            same(vop2::v_fmac_f32(&e, a, b, c), fused, "v_fmac_f32", &[a, b, c], rules);
            same(vop3p::v_fma_mix_f32(&e, a, b, c), fused, "v_fma_mix_f32", &[a, b, c], rules);
            // What `mad_rounds_twice` has tested.
            let twice = e.mad(a, b, c).raw();
            same(vop2::v_mac_f32(&e, a, b, c), twice, "v_mac_f32", &[a, b, c], rules);
            same(vop3p::v_mad_mix_f32(&e, a, b, c), twice, "v_mad_mix_f32", &[a, b, c], rules);
            for (got, wide, name) in [
                (vop3p::v_fma_mixlo_f16(&e, a, b, c), fused, "v_fma_mixlo_f16"),
                (vop3p::v_fma_mixhi_f16(&e, a, b, c), fused, "v_fma_mixhi_f16"),
                (vop3p::v_mad_mixlo_f16(&e, a, b, c), twice, "v_mad_mixlo_f16"),
                (vop3p::v_mad_mixhi_f16(&e, a, b, c), twice, "v_mad_mixhi_f16"),
            ] {
                let narrow = model::<f32, f16>(rules, &[f32::from_raw(wide)], |x| evaluate(F16, rules, &[x]));
                same(got, narrow, name, &[a, b, c], rules);
            }
        }
    }
}

#[test]
fn rows_of_sums_and_products_of_halves() {
    let mut numbers = Random(36);
    for (e, rules) in modes() {
        for _ in 0..4_000 {
            let [a, b, c] = [0; 3].map(|_| random::<f16>(&mut numbers));
            let exact = |sources: &[f16], terms: &dyn Fn(&[Number]) -> u64| model::<f16, f16>(rules, sources, terms);
            let fused = exact(&[a, b, c], &|x| evaluate(F16, rules, &[&[x[0], x[1]], &[x[2]]]));
            let plus = exact(&[a, b], &|x| evaluate(F16, rules, &[&[x[0]], &[x[1]]]));
            let minus = exact(&[a, b], &|x| evaluate(F16, rules, &[&[x[0]], &[-x[1]]]));
            let reversed = exact(&[a, b], &|x| evaluate(F16, rules, &[&[-x[0]], &[x[1]]]));
            same(vop2::v_sub_f16(&e, a, b), minus, "v_sub_f16", &[a, b], rules);
            same(vop2::v_subrev_f16(&e, a, b), reversed, "v_subrev_f16", &[a, b], rules);
            same(vop3::v_fma_f16(&e, a, b, c), fused, "v_fma_f16", &[a, b, c], rules);
            same(vop3::v_fma_legacy_f16(&e, a, b, c), fused, "v_fma_legacy_f16", &[a, b, c], rules);
            same(vop3p::v_pk_add_f16(&e, [c, a], [c, b])[1], plus, "v_pk_add_f16", &[a, b], rules);
            same(vop3p::v_pk_fma_f16(&e, [a, c], [b, c], [c, c])[0], fused, "v_pk_fma_f16", &[a, b, c], rules);
            let twice = e.mad(a, b, c).raw();
            same(vop2::v_mac_f16(&e, a, b, c), twice, "v_mac_f16", &[a, b, c], rules);
            same(vop3::v_mad_f16(&e, a, b, c), twice, "v_mad_f16", &[a, b, c], rules);
            same(vop3::v_mad_legacy_f16(&e, a, b, c), twice, "v_mad_legacy_f16", &[a, b, c], rules);
        }
    }
}

/// The product of the low halves is added first; each sum is rounded.
#[test]
fn dot_products_of_halves() {
    let mut numbers = Random(37);
    for (e, rules) in modes() {
        for _ in 0..4_000 {
            let [a, b] = [0; 2].map(|_| [0; 2].map(|_| random::<f16>(&mut numbers)));
            let c = random::<f32>(&mut numbers);
            let wide = |x: f16| f32::from_raw(model::<f16, f32>(rules, &[x], |n| evaluate(F32, rules, &[n])));
            let sum = (0..2).fold(c, |sum, i| {
                let terms = |x: &[Number]| evaluate(F32, rules, &[&[x[0], x[1]], &[x[2]]]);
                f32::from_raw(model::<f32, f32>(rules, &[wide(a[i]), wide(b[i]), sum], terms))
            });
            same(vop3p::v_dot2_f32_f16(&e, a, b, c), sum.raw(), "v_dot2_f32_f16", &[a[0], a[1], b[0], b[1]], rules);
        }
    }
}

/// The order of numbers as an integer's: −∞ < … < −0 < +0 < … < +∞.
fn rank(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & !format.sign()) as i64;
    if bits & format.sign() != 0 { -1 - magnitude } else { magnitude }
}

fn minimum_maximum_middle<T: Tested>(seed: u64) {
    let (format, mut numbers) = (T::FORMAT, Random(seed));
    for (e, rules) in modes() {
        for _ in 0..8_000 {
            let sources = [0; 3].map(|_| random::<T>(&mut numbers));
            let [a, b, c] = sources;
            if sources.iter().any(|x| x.is_nan()) {
                continue;
            }
            let seen = sources.map(|x| rules.source(format, x.raw()));
            let ordered = |count: usize| {
                let mut some = seen[..count].to_vec();
                some.sort_by_key(|bits| rank(format, *bits));
                let flushed =
                    |bits: u64| if rules.flush_out && format.is_denormal(bits) { bits & format.sign() } else { bits };
                some.into_iter().map(flushed).collect::<Vec<u64>>()
            };
            let (two, three) = (ordered(2), ordered(3));
            same(e.min(a, b), two[0], "min", &[a, b], rules);
            same(e.max(a, b), two[1], "max", &[a, b], rules);
            same(e.min3(a, b, c), three[0], "min3", &sources, rules);
            same(e.max3(a, b, c), three[2], "max3", &sources, rules);
            same(e.med3(a, b, c), three[1], "med3", &sources, rules);
        }
    }
}

#[test]
fn minimum_maximum_and_middle_are_in_order() {
    minimum_maximum_middle::<f16>(6);
    minimum_maximum_middle::<f32>(7);
    minimum_maximum_middle::<f64>(8);
}

/// Every f16; of the wider formats, random numbers.
fn inputs<T: Tested>(seed: u64) -> Vec<T> {
    let mut numbers = Random(seed);
    match T::BITS {
        16 => (0..=0xffff).map(T::from_raw).collect(),
        _ => (0..20_000).map(|_| random(&mut numbers)).collect(),
    }
}

fn exact_sum(x: Number) -> Option<Sum> {
    let Number::Finite { negative, significand, exponent } = x else { return None };
    let mut sum = Sum::zero();
    sum.add(negative, significand.into(), exponent);
    Some(sum)
}

/// floor, ceil, trunc and rndne are one function in four rounding modes, whatever MODE says.
fn integral<T: Tested>(seed: u64) {
    let format = T::FORMAT;
    let inputs = inputs::<T>(seed);
    let functions = [T::floor, T::ceil, T::trunc, T::rndne];
    let rounds = [Round::Down, Round::Up, Round::Zero, Round::NearestEven];
    for (e, rules) in modes() {
        for (function, round) in functions.into_iter().zip(rounds) {
            for x in &inputs {
                let want = model::<T, T>(rules, &[*x], |n| {
                    let has_places = matches!(n[0], Number::Finite { exponent, .. } if exponent < 0);
                    let (true, Some(sum)) = (has_places, exact_sum(n[0])) else { return rules.source(format, x.raw()) };
                    let integer = sum.to_integer(round);
                    let mut result = Sum::zero();
                    result.add(integer < 0, integer.unsigned_abs(), 0);
                    let sign = x.raw() & format.sign();
                    if integer == 0 { sign } else { result.round(format, round).0 }
                });
                same(e.integral(*x, function), want, "integral", &[*x], rules);
            }
        }
    }
}

#[test]
fn integers_in_the_same_format() {
    integral::<f16>(9);
    integral::<f32>(10);
    integral::<f64>(11);
}

/// The fraction is rounded by MODE and stays below 1.
fn fractions<T: Tested>(seed: u64) {
    let format = T::FORMAT;
    let one = T::ONE.raw();
    for (e, rules) in modes() {
        for x in inputs::<T>(seed) {
            let want = model::<T, T>(rules, &[x], |n| {
                let Some(sum) = exact_sum(n[0]) else { return format.default_nan() };
                let fraction = sum.fraction();
                if fraction.is_zero() {
                    // x − x.
                    return if rules.round == Round::Down { format.sign() } else { 0 };
                }
                rules.result(format, &fraction).min(one - 1)
            });
            same(e.fract(x), want, "fract", &[x], rules);
        }
    }
}

#[test]
fn fractions_are_below_one() {
    fractions::<f16>(12);
    fractions::<f32>(13);
    fractions::<f64>(14);
}

fn powers_of_two<T: Tested>(seed: u64) {
    let mut numbers = Random(seed);
    let steps = [-5000, -1200, -300, -40, -15, -1, 0, 1, 14, 40, 300, 1200, 5000];
    for (e, rules) in modes() {
        for x in inputs::<T>(seed).into_iter().step_by(if T::BITS == 16 { 16 } else { 1 }) {
            let n = steps[numbers.below(13) as usize] + numbers.below(41) as i32 - 20;
            // Further than this, all results are the same.
            let reached = n.clamp(-2300, 2300);
            let want = model::<T, T>(rules, &[x], |x| evaluate(T::FORMAT, rules, &[&[x[0], power(reached)]]));
            same(e.ldexp(x, n), want, &format!("ldexp by {n}"), &[x], rules);
        }
    }
}

#[test]
fn scaling_rounds_once() {
    powers_of_two::<f16>(15);
    powers_of_two::<f32>(16);
    powers_of_two::<f64>(17);
}

/// x = mantissa · 2^exponent, with the mantissa in [½, 1).
fn taking_apart<T: Tested>(seed: u64) {
    let format = T::FORMAT;
    for (e, rules) in modes() {
        for x in inputs::<T>(seed) {
            let seen = rules.source(format, x.raw());
            if format.is_nan(seen) {
                continue;
            }
            let (mantissa, exponent) = (e.frexp_mant(x), e.frexp_exp(x));
            let unflushed = Rules { flush_in: false, flush_out: false, ..rules };
            let back = evaluate(format, unflushed, &[&[format.number(mantissa.raw()), power(exponent)]]);
            assert_eq!(back, seen, "{x:x} is {mantissa:x} and {exponent}", x = x.raw(), mantissa = mantissa.raw());
            let special = [0, format.infinity()].contains(&(seen & !format.sign()));
            let in_range = (T::HALF.raw()..T::ONE.raw()).contains(&mantissa.magnitude());
            assert!(if special { exponent == 0 } else { in_range }, "{:x}", x.raw());
        }
    }
}

#[test]
fn mantissas_and_exponents() {
    taking_apart::<f16>(18);
    taking_apart::<f32>(19);
    taking_apart::<f64>(20);
}

/// Narrow and wide numbers, with every boundary between two narrow ones.
fn boundaries<W: Tested, N: Tested>(seed: u64, step: usize) -> Vec<W> {
    let narrow = (0..1_u64 << N::BITS.min(32)).step_by(step);
    let mut numbers: Vec<W> = inputs::<W>(seed);
    for bits in narrow {
        if N::FORMAT.is_nan(bits) || bits & !N::FORMAT.sign() == N::FORMAT.infinity() {
            continue;
        }
        let Some(sum) = exact_sum(N::FORMAT.number(bits)) else { continue };
        if sum.is_zero() {
            continue;
        }
        let same = sum.round(W::FORMAT, Round::Zero).0;
        let half_way = same + (1 << (W::MANTISSA - N::MANTISSA - 1));
        numbers.extend([same, half_way - 1, half_way, half_way + 1].map(W::from_raw));
    }
    numbers
}

fn conversion<S: Tested, D: Tested>(numbers: &[S], convert: fn(&Fp, S) -> D) {
    for (e, rules) in modes() {
        for x in numbers {
            let want = model::<S, D>(rules, &[*x], |n| evaluate(D::FORMAT, rules, &[n]));
            same(convert(&e, *x), want, "convert", &[*x], rules);
        }
    }
}

#[test]
fn conversions_to_a_narrower_format() {
    conversion(&boundaries::<f32, f16>(21, 7), vop1::v_cvt_f16_f32);
    conversion(&boundaries::<f64, f32>(22, 400_009), vop1::v_cvt_f32_f64);
}

#[test]
fn conversions_to_a_wider_format() {
    conversion(&inputs::<f16>(23), vop1::v_cvt_f32_f16);
    conversion(&inputs::<f32>(24), vop1::v_cvt_f64_f32);
}

#[test]
fn packing_rounds_towards_zero() {
    let numbers = boundaries::<f32, f16>(25, 11);
    for (e, rules) in modes() {
        let rules = Rules { round: Round::Zero, ..rules };
        for pair in numbers.chunks_exact(2) {
            let packed = vop2::v_cvt_pkrtz_f16_f32(&e, pair[0], pair[1]);
            for (x, got) in pair.iter().zip(packed) {
                let want = model::<f32, f16>(rules, &[*x], |n| evaluate(F16, rules, &[n]));
                same(got, want, "pkrtz", &[*x], rules);
            }
        }
    }
}

/// What a conversion makes of `x`: rounded, saturated, 0 for NaN.
fn integer<T: Tested>(x: T, round: Round, low: i64, high: i64) -> i64 {
    if x.is_nan() {
        return 0;
    }
    match T::FORMAT.number(x.raw()) {
        Number::Infinity { negative } => {
            if negative {
                low
            } else {
                high
            }
        }
        number => {
            let sum = exact_sum(number).expect("a finite number");
            sum.to_integer(round).clamp(low.into(), high.into()) as i64
        }
    }
}

#[test]
fn conversions_to_integers() {
    use Round::{Down, Zero};
    let (i32_min, i32_max, u32_max) = (i32::MIN.into(), i32::MAX.into(), u32::MAX.into());
    for (e, rules) in modes() {
        for x in inputs::<f32>(26) {
            assert_eq!(i64::from(vop1::v_cvt_i32_f32(&e, x)), integer(x, Zero, i32_min, i32_max), "{x:e}");
            assert_eq!(i64::from(vop1::v_cvt_u32_f32(&e, x)), integer(x, Zero, 0, u32_max), "{x:e}");
            let seen = f32::from_raw(rules.source(F32, x.raw()));
            let byte = i64::from(vop3::v_cvt_pk_u8_f32(&e, seen, 0, 0));
            assert_eq!(byte, integer(seen, rules.round, 0, 255), "{x:e}");
            let floor = i64::from(vop1::v_cvt_flr_i32_f32(&e, seen));
            assert_eq!(floor, integer(seen, Down, i32_min, i32_max), "{x:e}");
        }
        for x in inputs::<f64>(27) {
            assert_eq!(i64::from(vop1::v_cvt_i32_f64(&e, x)), integer(x, Zero, i32_min, i32_max), "{x:e}");
            assert_eq!(i64::from(vop1::v_cvt_u32_f64(&e, x)), integer(x, Zero, 0, u32_max), "{x:e}");
        }
        for x in inputs::<f16>(28) {
            assert_eq!(i64::from(vop1::v_cvt_i16_f16(&e, x)), integer(x, Zero, -0x8000, 0x7fff), "{x}");
            assert_eq!(i64::from(vop1::v_cvt_u16_f16(&e, x)), integer(x, Zero, 0, 0xffff), "{x}");
        }
    }
}

/// x + ½, exactly, downwards.
#[test]
fn nearest_integers_with_halves_upwards() {
    let e = fp(support::PLAIN_MODE);
    for x in inputs::<f32>(29).into_iter().chain([0.49999997, -0.5, 8388609.5, -2.5, 1.5]).filter(|x| x.is_finite()) {
        let mut sum = exact_sum(F32.number(x.raw())).expect("a finite number");
        sum.add(false, 1, -1);
        let want = sum.to_integer(Round::Down).clamp(i32::MIN.into(), i32::MAX.into());
        assert_eq!(i128::from(vop1::v_cvt_rpi_i32_f32(&e, x)), want, "{x:e}");
    }
}

#[test]
fn conversions_from_integers() {
    let mut numbers = Random(30);
    let mut wide: Vec<u32> =
        (0..32).flat_map(|n| [1 << n, (1 << n) + 1, (1_u32 << n).wrapping_sub(1), !0 << n]).collect();
    wide.extend((0..20_000).map(|_| numbers.next() as u32 >> numbers.below(32)));
    for (e, rules) in modes() {
        let rounded = |format: Format, x: i64| {
            let mut sum = Sum::zero();
            sum.add(x < 0, x.unsigned_abs().into(), 0);
            if x == 0 { 0 } else { rules.result(format, &sum) }
        };
        for x in &wide {
            let signed = *x as i32;
            assert_eq!(vop1::v_cvt_f32_u32(&e, *x).raw(), rounded(F32, i64::from(*x)), "{x} by {rules:?}");
            assert_eq!(vop1::v_cvt_f32_i32(&e, signed).raw(), rounded(F32, i64::from(signed)), "{signed} by {rules:?}");
            assert_eq!(vop1::v_cvt_f64_u32(&e, *x).raw(), rounded(F64, i64::from(*x)));
            assert_eq!(vop1::v_cvt_f64_i32(&e, signed).raw(), rounded(F64, i64::from(signed)));
        }
        for x in 0..=u16::MAX {
            let signed = x as i16;
            assert_eq!(vop1::v_cvt_f16_u16(&e, x).raw(), rounded(F16, i64::from(x)), "{x} by {rules:?}");
            assert_eq!(vop1::v_cvt_f16_i16(&e, signed).raw(), rounded(F16, i64::from(signed)), "{signed} by {rules:?}");
        }
    }
}

/// `x` times `scale`, exactly, as the nearest integer from `low` to `scale`; 0 for NaN.
fn normalised<T: Tested>(rules: Rules, x: T, scale: i64, low: i64) -> i64 {
    let seen = rules.source(T::FORMAT, x.raw());
    if x.is_nan() {
        return 0;
    }
    match T::FORMAT.number(seen) {
        Number::Infinity { negative } => [scale, low][usize::from(negative)],
        Number::Finite { negative, significand, exponent } => {
            let mut sum = Sum::zero();
            sum.add(negative, u128::from(significand) * scale as u128, exponent);
            sum.to_integer(Round::NearestEven).clamp(low.into(), scale.into()) as i64
        }
    }
}

#[test]
fn conversions_to_normalised_integers() {
    let (signed, unsigned) = (i64::from(i16::MAX), i64::from(u16::MAX));
    for (e, rules) in modes() {
        for x in inputs::<f16>(32) {
            let (i, u) = (normalised(rules, x, signed, -signed), normalised(rules, x, unsigned, 0));
            let zero = f16::from_bits(0);
            assert_eq!(i64::from(vop1::v_cvt_norm_i16_f16(&e, x)), i, "{x} by {rules:?}");
            assert_eq!(i64::from(vop1::v_cvt_norm_u16_f16(&e, x)), u, "{x} by {rules:?}");
            assert_eq!(vop3::v_cvt_pknorm_i16_f16(&e, zero, x).map(i64::from), [0, i], "{x} by {rules:?}");
            assert_eq!(vop3::v_cvt_pknorm_u16_f16(&e, x, zero).map(i64::from), [u, 0], "{x} by {rules:?}");
        }
        for x in inputs::<f32>(33) {
            let (i, u) = (normalised(rules, x, signed, -signed), normalised(rules, x, unsigned, 0));
            assert_eq!(vop2::v_cvt_pknorm_i16_f32(&e, 0.0, x).map(i64::from), [0, i], "{x:e} by {rules:?}");
            assert_eq!(vop2::v_cvt_pknorm_u16_f32(&e, x, 0.0).map(i64::from), [u, 0], "{x:e} by {rules:?}");
        }
    }
}

/// Every input of the conversions that have 16 bits or less and nothing to round.
#[test]
fn conversions_of_few_bits() {
    let e = fp(support::PLAIN_MODE);
    for x in 0..=u16::MAX {
        let byte = |x: u16| (x as i16).clamp(0, 255) as u32;
        let (other, swapped) = (x.swap_bytes(), [x.swap_bytes() as i16, x as i16]);
        assert_eq!(vop1::v_sat_pk_u8_i16(&e, swapped), byte(other) | byte(x) << 8, "{x:#x}");
    }
    let bytes = [vop1::v_cvt_f32_ubyte0, vop1::v_cvt_f32_ubyte1, vop1::v_cvt_f32_ubyte2, vop1::v_cvt_f32_ubyte3];
    for x in 0..=u8::MAX {
        let word = u32::from_le_bytes([x, !x, x.reverse_bits(), x ^ 0x5a]);
        let want = [x, !x, x.reverse_bits(), x ^ 0x5a].map(f32::from);
        assert_eq!(bytes.map(|convert| convert(&e, word)), want, "{word:#x}");
    }
    // Four bits are a number of sixteenths.
    for x in 0..16 {
        let want = if x < 8 { x as f32 / 16.0 } else { x as f32 / 16.0 - 1.0 };
        assert_eq!(vop1::v_cvt_off_f32_i4(&e, 0xffff_fff0 | x), want, "{x}");
    }
}

/// div_fmas on f32 scales the exact sum and rounds that.
#[test]
fn scaled_sums_round_once() {
    let mut numbers = Random(31);
    for (e, rules) in modes() {
        for _ in 0..20_000 {
            let [a, b, c] = [0; 3].map(|_| random::<f32>(&mut numbers));
            let want = model::<f32, f32>(rules, &[a, b, c], |x| {
                let scale = power(if c.abs() >= 2.0 { 64 } else { -64 });
                evaluate(F32, rules, &[&[x[0], x[1], scale], &[x[2], scale]])
            });
            same(vop3::v_div_fmas_f32(&e, a, b, c, true), want, "div_fmas", &[a, b, c], rules);
        }
    }
}
