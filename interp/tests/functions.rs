//! The approximated functions against their true values: `vectors/functions.txt`, made by the script beside it with a
//! library of any precision.
//!
//! Every row that says it is approximate must be within its bound, and the largest errors are those that
//! docs/fidelity.md quotes. `cargo test -p gcnjit-interp --test functions -- --nocapture` prints them.

mod support;

use gcnjit_interp::fp::{Float, Fp};
use gcnjit_interp::vop1::*;
use gcnjit_isa::{Fidelity, Op};
use half::f16;
use support::{COMPILER_MODE, PLAIN_MODE, fp};

const VECTORS: &str = include_str!("vectors/functions.txt");
const DOCUMENT: &str = include_str!("../../docs/fidelity.md");

/// A row's body, by the row's name.
enum Body {
    F16(fn(&Fp, f16) -> f16),
    F32(fn(&Fp, f32) -> f32),
    F64(fn(&Fp, f64) -> f64),
}

/// Each row with the row whose true values it shares.
const ROWS: [(&str, &str, Body); 27] = [
    ("v_rcp_f16", "v_rcp_f16", Body::F16(v_rcp_f16)),
    ("v_rcp_f32", "v_rcp_f32", Body::F32(v_rcp_f32)),
    ("v_rcp_iflag_f32", "v_rcp_f32", Body::F32(v_rcp_iflag_f32)),
    ("v_rcp_clamp_f32", "v_rcp_f32", Body::F32(v_rcp_clamp_f32)),
    ("v_rcp_legacy_f32", "v_rcp_f32", Body::F32(v_rcp_legacy_f32)),
    ("v_rcp_f64", "v_rcp_f64", Body::F64(v_rcp_f64)),
    ("v_rcp_clamp_f64", "v_rcp_f64", Body::F64(v_rcp_clamp_f64)),
    ("v_rsq_f16", "v_rsq_f16", Body::F16(v_rsq_f16)),
    ("v_rsq_f32", "v_rsq_f32", Body::F32(v_rsq_f32)),
    ("v_rsq_clamp_f32", "v_rsq_f32", Body::F32(v_rsq_clamp_f32)),
    ("v_rsq_legacy_f32", "v_rsq_f32", Body::F32(v_rsq_legacy_f32)),
    ("v_rsq_f64", "v_rsq_f64", Body::F64(v_rsq_f64)),
    ("v_rsq_clamp_f64", "v_rsq_f64", Body::F64(v_rsq_clamp_f64)),
    ("v_sqrt_f16", "v_sqrt_f16", Body::F16(v_sqrt_f16)),
    ("v_sqrt_f32", "v_sqrt_f32", Body::F32(v_sqrt_f32)),
    ("v_sqrt_f64", "v_sqrt_f64", Body::F64(v_sqrt_f64)),
    ("v_exp_f16", "v_exp_f16", Body::F16(v_exp_f16)),
    ("v_exp_f32", "v_exp_f32", Body::F32(v_exp_f32)),
    ("v_exp_legacy_f32", "v_exp_f32", Body::F32(v_exp_legacy_f32)),
    ("v_log_f16", "v_log_f16", Body::F16(v_log_f16)),
    ("v_log_f32", "v_log_f32", Body::F32(v_log_f32)),
    ("v_log_clamp_f32", "v_log_f32", Body::F32(v_log_clamp_f32)),
    ("v_log_legacy_f32", "v_log_f32", Body::F32(v_log_legacy_f32)),
    ("v_sin_f16", "v_sin_f16", Body::F16(v_sin_f16)),
    ("v_sin_f32", "v_sin_f32", Body::F32(v_sin_f32)),
    ("v_cos_f16", "v_cos_f16", Body::F16(v_cos_f16)),
    ("v_cos_f32", "v_cos_f32", Body::F32(v_cos_f32)),
];

/// The distance of `got` from `value + rest`, in units of the last place of the float at or below the value.
fn ulps<T: Float>(got: T, value: f64, rest: f64) -> f64 {
    let exponent = |x: f64| (x.abs().to_bits() >> 52) as i32 - 1023;
    let place = exponent(value).max(T::MIN_EXPONENT) - T::MANTISSA as i32;
    // Both differences are small, and the first is exact.
    ((got.to_f64() - value) - rest).abs() / 2.0_f64.powi(place)
}

fn vectors(row: &str) -> impl Iterator<Item = (u64, f64, f64)> {
    let paragraph = VECTORS.split("\n\n").find(|paragraph| paragraph.lines().next() == Some(row));
    let lines = paragraph.unwrap_or_else(|| panic!("no vectors of {row}")).lines().skip(1);
    lines.map(|line| {
        let mut words = line.split(' ').map(|word| u64::from_str_radix(word, 16).expect("a number in hex"));
        let mut word = || words.next().unwrap_or(0);
        (word(), f64::from_bits(word()), f64::from_bits(word()))
    })
}

/// The largest error of `body`, and the argument's bits.
fn worst<T: Float>(values: &str, body: impl Fn(T) -> T) -> (f64, u64) {
    let errors = vectors(values).map(|(bits, value, rest)| (ulps(body(T::from_raw(bits)), value, rest), bits));
    errors.fold((0.0, 0), |worst, error| if error.0 > worst.0 { error } else { worst })
}

#[test]
fn approximations_are_within_their_bounds() {
    let e = fp(PLAIN_MODE);
    let mut approximate: Vec<&str> = Op::all()
        .filter(|op| matches!(op.info().fidelity(), Fidelity::Approximate { .. }))
        .map(|op| op.info().name)
        .collect();
    for (name, values, body) in &ROWS {
        let (error, bits) = match body {
            Body::F16(f) => worst(values, |x| f(&e, x)),
            Body::F32(f) => worst(values, |x| f(&e, x)),
            Body::F64(f) => worst(values, |x| f(&e, x)),
        };
        let op = Op::all().find(|op| op.info().name == *name).unwrap_or_else(|| panic!("no row {name}"));
        let Fidelity::Approximate { ulps } = op.info().fidelity() else { panic!("{name} is exact") };
        println!("{name:18} {error:.4} ulp at {bits:x}");
        assert!(error <= ulps.into(), "{name}({bits:x}) is off by {error} ulp, more than {ulps}");
        approximate.retain(|row| row != name);
    }
    assert!(approximate.is_empty(), "approximate rows without vectors: {approximate:?}");
}

/// The function in f64, which is better than f16 and f32 by far.
fn in_f64(name: &str, x: f64) -> f64 {
    // An angle whose sine is the same, or the cosine, within a quarter of a turn: up to the product all is exact.
    let turns = x - x.round();
    let sine = if turns.abs() > 0.25 { turns.signum() * 0.5 - turns } else { turns };
    let cosine = 0.25 - turns.abs();
    match name {
        "rcp" => 1.0 / x,
        "rsq" => 1.0 / x.sqrt(),
        "sqrt" => x.sqrt(),
        "exp" => x.exp2(),
        "log" => x.log2(),
        "sin" => (sine * std::f64::consts::TAU).sin(),
        _ => (cosine * std::f64::consts::TAU).sin(),
    }
}

/// The largest error of a function over `inputs`, and how often the result isn't the nearest number. Left out is where
/// the function has no value, or one that is no normal number.
fn measure<T: Float>(name: &str, body: impl Fn(T) -> T, inputs: impl Iterator<Item = T>) -> (f64, u32) {
    let limit = (f64::from(T::MIN_EXPONENT).abs() + 2.0).exp2();
    let (mut worst, mut missed) = (0.0_f64, 0);
    for x in inputs {
        let (got, want) = (body(x), in_f64(name, x.to_f64()));
        let ranged = ["sin", "cos"].contains(&name) && x.to_f64().abs() > 256.0;
        if !want.is_finite() || want.abs() >= limit || want != 0.0 && want.abs() < limit.recip() * 4.0 || ranged {
            continue;
        }
        let error = ulps(got, want, 0.0);
        worst = worst.max(error);
        missed += u32::from(error > 0.5);
    }
    (worst, missed)
}

/// Every f16: the largest error, and how often it isn't the nearest f16.
fn every_half() -> Vec<(&'static str, f64, u32)> {
    let e = fp(PLAIN_MODE);
    let names = ["rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"];
    let bodies = [v_rcp_f16, v_rsq_f16, v_sqrt_f16, v_exp_f16, v_log_f16, v_sin_f16, v_cos_f16];
    let measured = names.into_iter().zip(bodies).map(|(name, body)| {
        let (worst, missed) = measure(name, |x| body(&e, x), (0..=0xffff).map(f16::from_bits));
        println!("v_{name}_f16: {worst:.4} ulp, {missed} not nearest");
        (name, worst, missed)
    });
    measured.collect()
}

/// Inputs of [`many_singles`].
const SINGLES: u32 = 1 << 21;

/// f32 spread over all exponents: the same.
fn many_singles() -> Vec<(&'static str, f64, u32)> {
    let e = fp(PLAIN_MODE);
    let names = ["rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"];
    let bodies = [v_rcp_f32, v_rsq_f32, v_sqrt_f32, v_exp_f32, v_log_f32, v_sin_f32, v_cos_f32];
    let measured = names.into_iter().zip(bodies).map(|(name, body)| {
        // Beyond these exponents there is no value, or the same one everywhere.
        let (low, high) = match name {
            "exp" => (-26, 6),
            "sin" | "cos" => (-24, 7),
            _ => (-126, 127),
        };
        let inputs = (0..SINGLES).map(|i| {
            let random = i.wrapping_mul(0x9e37_79b1);
            let exponent = (low + (i as i32 >> 1) % (high - low + 1) + 127) as u32;
            f32::from_bits(i << 31 | exponent << 23 | random >> 9)
        });
        let (worst, missed) = measure(name, |x| body(&e, x), inputs);
        println!("v_{name}_f32: {worst:.4} ulp, {missed} not nearest");
        (name, worst, missed)
    });
    measured.collect()
}

/// The largest error of a row and how often its result isn't the nearest number, of how many that were tried.
fn measured(row: &str, halves: &[(&str, f64, u32)], singles: &[(&str, f64, u32)]) -> (f64, u32, u32) {
    let e = fp(PLAIN_MODE);
    let found = ROWS.iter().find(|(name, ..)| *name == row);
    let (_, values, body) = found.unwrap_or_else(|| panic!("docs/fidelity.md: no row {row}"));
    let function = values.split('_').nth(1).expect("v_NAME_TYPE");
    let (by_vectors, all, tried) = match body {
        Body::F16(f) => (worst(values, |x| f(&e, x)).0, halves, 1 << 16),
        Body::F32(f) => (worst(values, |x| f(&e, x)).0, singles, SINGLES),
        Body::F64(f) => return (worst(values, |x| f(&e, x)).0, 0, 0),
    };
    let (_, by_many, missed) = all.iter().find(|(name, ..)| *name == function).expect("a function");
    (by_many.max(by_vectors), *missed, tried)
}

/// Whether docs/fidelity.md says what is measured, of the worst of the rows in a line.
#[test]
fn the_document_quotes_the_largest_errors() {
    let (halves, singles) = (every_half(), many_singles());
    let mut rows = 0;
    let table = DOCUMENT.split("\n## ").find(|section| section.starts_with("Approximate")).expect("a section");
    for line in table.lines().filter(|line| line.starts_with("| v_")) {
        let [_, names, _, text, _] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else { panic!("{line}") };
        let all: Vec<_> = names.split(", ").map(|name| measured(name, &halves, &singles)).collect();
        rows += all.len();
        let error = all.iter().map(|(error, ..)| *error).fold(0.0, f64::max);
        let (_, missed, tried) = all.into_iter().max_by_key(|(_, missed, _)| *missed).expect("rows");
        let rest = match missed {
            0 if error <= 0.5 => ", always the nearest".to_owned(),
            0 => String::new(),
            _ => format!(", not the nearest in {missed} of {tried}"),
        };
        assert_eq!(text, format!("{error:.3}{rest}"), "docs/fidelity.md: {names}");
    }
    assert_eq!(rows, ROWS.len(), "rows in the table of docs/fidelity.md");
}

/// Arguments and results at the ends of the formats, as the manuals list them.
#[test]
fn edges() {
    let e = fp(PLAIN_MODE);
    let flushing = fp(COMPILER_MODE);
    let (inf, huge) = (f32::INFINITY, f32::MAX);
    let denormal = f32::from_bits(1);
    assert_eq!([v_rcp_f32(&e, 0.0), v_rcp_f32(&e, -0.0), v_rcp_f32(&e, -inf)], [inf, -inf, 0.0]);
    assert_eq!([v_rcp_f32(&e, denormal), v_rcp_f32(&flushing, denormal)], [inf, inf]);
    assert_eq!([v_rcp_f32(&e, huge), v_rcp_f32(&flushing, huge)], [1.0 / huge, 0.0]);
    assert_eq!([v_rcp_clamp_f32(&e, 0.0), v_rcp_clamp_f32(&e, -0.0)], [huge, -huge]);
    assert_eq!([v_rcp_legacy_f32(&e, 0.0), v_rsq_legacy_f32(&e, 0.0)], [0.0, 0.0]);
    assert_eq!([v_rsq_f32(&e, 0.0), v_rsq_f32(&e, -0.0), v_rsq_f32(&e, inf)], [inf, -inf, 0.0]);
    assert_eq!([v_rsq_f32(&e, denormal), v_rsq_clamp_f32(&e, 0.0)], [inf, huge], "f32 denormals are flushed");
    assert_eq!([v_log_f32(&e, 0.0), v_log_f32(&e, denormal), v_log_clamp_f32(&e, 0.0)], [-inf, -inf, -huge]);
    assert_eq!([v_exp_f32(&e, 128.0), v_exp_f32(&e, -127.0), v_exp_f32(&e, -inf)], [inf, 0.0, 0.0]);
    assert_eq!([v_sin_f32(&e, 256.5), v_cos_f32(&e, 256.5), v_cos_f32(&e, 0.0)], [0.0, 1.0, 1.0]);
    assert_eq!([v_rcp_f64(&e, 0.0), v_rsq_f64(&e, -0.0)], [f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!([v_rcp_clamp_f64(&e, 0.0), v_rsq_clamp_f64(&e, 0.0)], [f64::MAX, f64::MAX]);
    for f in [v_sqrt_f32, v_rsq_f32, v_log_f32] {
        assert_eq!(f(&e, -1.0).to_bits(), 0xffc0_0000);
    }
    for f in [v_sin_f32, v_cos_f32] {
        assert_eq!(f(&e, inf).to_bits(), 0xffc0_0000);
    }
}
