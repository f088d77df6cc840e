//! Division as compilers write it out, against the host's: what div_scale, div_fmas and div_fixup are for.

mod support;

use gcnjit_interp::fp::{Float, Fp};
use gcnjit_interp::vop3::*;
use support::{PLAIN_MODE, Random, fp};

type Scale<T> = fn(&Fp, T, T, T) -> (T, bool);
type Fmas<T> = fn(&Fp, T, T, T, bool) -> T;
type Fixup<T> = fn(&Fp, T, T, T) -> T;

/// n / d by a reciprocal with `refine` refinements, in LLVM's order of operations.
fn divide<T: Float>(
    e: &Fp,
    n: T,
    d: T,
    rcp: T,
    refine: usize,
    (fmas, fixup): (Fmas<T>, Fixup<T>),
    (nominator, denominator, flag): (T, T, bool),
) -> T {
    let minus = denominator.negated_number();
    let refined = (0..refine).fold(rcp, |r, _| e.fma(e.fma(minus, r, T::ONE), r, r));
    let quotient = e.mul(nominator, refined);
    let (error, quotient) = if refine == 1 {
        let better = e.fma(e.fma(minus, quotient, nominator), refined, quotient);
        (e.fma(minus, better, nominator), better)
    } else {
        (e.fma(minus, quotient, nominator), quotient)
    };
    fixup(e, fmas(e, error, refined, quotient, flag), d, n)
}

fn scaled<T: Float>(e: &Fp, n: T, d: T, scale: Scale<T>) -> (T, T, bool) {
    let (denominator, _) = scale(e, d, d, n);
    let (nominator, flag) = scale(e, n, d, n);
    (nominator, denominator, flag)
}

fn div_f32(e: &Fp, n: f32, d: f32) -> f32 {
    let s = scaled(e, n, d, v_div_scale_f32);
    let rcp = gcnjit_interp::vop1::v_rcp_f32(e, s.1);
    divide(e, n, d, rcp, 1, (v_div_fmas_f32, v_div_fixup_f32), s)
}

fn div_f64(e: &Fp, n: f64, d: f64) -> f64 {
    let s = scaled(e, n, d, v_div_scale_f64);
    let rcp = gcnjit_interp::vop1::v_rcp_f64(e, s.1);
    divide(e, n, d, rcp, 2, (v_div_fmas_f64, v_div_fixup_f64), s)
}

#[test]
fn f32_division_is_correctly_rounded() {
    let e = fp(PLAIN_MODE);
    let mut random = Random(1);
    for _ in 0..2_000_000 {
        let (n, d) = (random.f32(), random.f32());
        let (got, want) = (div_f32(&e, n, d), n / d);
        assert!(got == want || got.is_nan() && want.is_nan(), "{n:e} / {d:e}: {got:e}, not {want:e}");
    }
}

#[test]
fn f64_division_is_correctly_rounded_while_normal() {
    let e = fp(PLAIN_MODE);
    let mut random = Random(2);
    for _ in 0..2_000_000 {
        let (n, d) = (random.f64(), random.f64());
        let (got, want) = (div_f64(&e, n, d), n / d);
        // A denormal quotient is rounded twice.
        let off = (got.to_bits() as i64).abs_diff(want.to_bits() as i64);
        let close = off == 0 || want.abs() < f64::MIN_POSITIVE * 2.0 && off == 1;
        assert!(close || got.is_nan() && want.is_nan(), "{n:e} / {d:e}: {got:e}, not {want:e}");
    }
}

#[test]
fn special_quotients() {
    let e = fp(PLAIN_MODE);
    let inf = f32::INFINITY;
    for (n, d, want) in [(1.0, 0.0, inf), (-1.0, 0.0, -inf), (0.0, -3.0, -0.0), (inf, -2.0, -inf), (5.0, -inf, -0.0)] {
        assert_eq!(div_f32(&e, n, d).to_bits(), f32::to_bits(want), "{n} / {d}");
    }
    for (n, d) in [(0.0, 0.0), (inf, -inf)] {
        assert_eq!(div_f32(&e, n, d).to_bits(), 0xffc0_0000);
    }
    let payload = f32::from_bits(0x7f80_0123);
    assert_eq!(div_f32(&e, payload, 0.0).to_bits(), 0x7fc0_0123);
}
