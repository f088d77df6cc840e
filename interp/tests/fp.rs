//! The floating-point rules by hand, where the rules are ours. Rounding in every mode is in `arithmetic.rs`.

mod support;

use gcnjit_interp::fp::Fp;
use gcnjit_rt::Mode;
use half::f16;
use support::{COMPILER_MODE, PLAIN_MODE, fp};

#[test]
fn tiny_is_judged_before_the_exponent_is_bounded() {
    // (1 − 2⁻²⁴) · 2⁻¹²⁶ is an f32 product that IEEE rounds up to the smallest normal, but with more exponent it is
    // a number of its own, below it.
    let (a, b) = (f32::from_bits(0x3f7f_ffff), f32::MIN_POSITIVE);
    assert_eq!(fp(PLAIN_MODE).mul(a, b), f32::MIN_POSITIVE);
    assert_eq!(fp(COMPILER_MODE).mul(a, b), 0.0);
}

#[test]
fn every_f16_survives_f32() {
    let e = fp(PLAIN_MODE);
    for bits in 0..=u16::MAX {
        let x = f16::from_bits(bits);
        let wide: f32 = e.convert(e.double, e.single, x);
        if x.is_nan() {
            assert_eq!(wide.to_bits(), u32::from(bits & 0x8000) << 16 | 0x7fc0_0000 | u32::from(bits & 0x3ff) << 13);
        } else {
            assert_eq!(wide, x.to_f32());
        }
        let back: f16 = e.convert(e.single, e.double, wide);
        assert_eq!(back.to_bits(), if x.is_nan() { bits | 0x200 } else { bits });
    }
}

#[test]
fn the_first_nan_wins_quieted() {
    let e = fp(PLAIN_MODE);
    let [a, b, c] = [0x7f80_0001, 0xffc0_0002, 0x7f80_0003].map(f32::from_bits);
    assert_eq!(e.add(a, b).to_bits(), 0x7fc0_0001);
    assert_eq!(e.sub(1.0, b).to_bits(), 0xffc0_0002);
    assert_eq!(e.subrev(a, b).to_bits(), 0x7fc0_0001);
    assert_eq!(e.fma(1.0, b, c).to_bits(), 0xffc0_0002);
    assert_eq!(e.fma(f32::INFINITY, 0.0, c).to_bits(), 0x7fc0_0003);
    assert_eq!(e.mad(f32::INFINITY, 0.0, c).to_bits(), 0xffc0_0000);
    assert_eq!(e.add(f32::INFINITY, f32::NEG_INFINITY).to_bits(), 0xffc0_0000);
    assert_eq!(e.mul(f64::INFINITY, 0.0).to_bits(), 0xfff8_0000_0000_0000);
    assert_eq!(e.mul(f16::INFINITY, f16::ZERO).to_bits(), 0xfe00);
}

#[test]
fn mad_rounds_twice_and_always_flushes_f32() {
    let e = fp(PLAIN_MODE);
    let a = f32::from_bits(0x3f80_0001);
    assert_eq!(e.mad(a, a, -(a * a)), 0.0);
    assert_ne!(e.fma(a, a, -(a * a)), 0.0);
    let denormal = f32::from_bits(0x007f_ffff);
    assert_eq!(e.mad(1.0, denormal, 0.0), 0.0);
    assert_eq!(e.mad(1.0, f32::MIN_POSITIVE, -denormal), f32::MIN_POSITIVE);
}

#[test]
fn min_and_max() {
    let (ieee, plain) = (fp(Mode(0x2f0)), fp(PLAIN_MODE));
    let (quiet, signalling) = (f32::from_bits(0x7fc0_0007), f32::from_bits(0x7f80_0007));
    for e in [&ieee, &plain] {
        assert_eq!(e.min(1.0, 2.0), 1.0);
        assert_eq!(e.max(1.0, 2.0), 2.0);
        assert_eq!(e.min(0.0_f32, -0.0).to_bits(), f32::to_bits(-0.0));
        assert_eq!(e.min(-0.0_f32, 0.0).to_bits(), f32::to_bits(-0.0));
        assert_eq!(e.max(-0.0_f32, 0.0).to_bits(), 0);
        assert_eq!(e.max(0.0_f32, -0.0).to_bits(), 0);
        assert_eq!(e.min(quiet, 2.0), 2.0);
        assert_eq!(e.min(2.0, quiet), 2.0);
        assert_eq!(e.max(signalling, quiet).to_bits(), 0x7fc0_0007);
    }
    assert_eq!(plain.min(signalling, 2.0), 2.0);
    assert_eq!(ieee.min(signalling, 2.0).to_bits(), 0x7fc0_0007);
    assert_eq!(ieee.max(2.0, signalling).to_bits(), 0x7fc0_0007);
    let denormal = f32::from_bits(1);
    assert_eq!(fp(COMPILER_MODE).max(denormal, -1.0), 0.0);
    assert_eq!(plain.max(denormal, -1.0), denormal);
}

#[test]
fn middle_of_three() {
    let e = fp(PLAIN_MODE);
    for [a, b, c] in
        [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0], [3.0, 2.0, 1.0]]
    {
        assert_eq!(e.med3(a, b, c), 2.0_f32);
    }
    assert_eq!(e.med3(f32::NAN, 5.0, 4.0), 4.0);
    assert_eq!(e.med3(5.0, 5.0, 4.0), 5.0_f32);
    // Denormal sources kept, results flushed: the largest becomes zero, and is still the largest.
    let flushing = fp(Mode(0x010));
    assert_eq!(flushing.med3(-0.25, f32::from_bits(0x8000_0001), -0.5), -0.25);
}

#[test]
fn output_modifiers() {
    let flushing = fp(Mode(0x000));
    assert_eq!([1, 2, 3].map(|omod| flushing.modified(3.0_f32, omod, false)), [6.0, 12.0, 1.5]);
    let keeping = fp(Mode(0x020));
    assert_eq!(keeping.modified(3.0_f32, 1, false), 3.0, "output denormals are enabled");
    let ieee = fp(Mode(0x200));
    assert_eq!(ieee.modified(3.0_f32, 1, false), 3.0, "IEEE mode");
    assert_eq!(flushing.modified(f32::MIN_POSITIVE, 3, false), 0.0);
    let clamp = |x: f32, mode| fp(Mode(mode)).modified(x, 0, true).to_bits();
    assert_eq!([-1.0, -0.0, 0.25, 1.0, 7.0].map(|x| f32::from_bits(clamp(x, 0))), [0.0, 0.0, 0.25, 1.0, 1.0]);
    assert_eq!(clamp(-0.0, 0), 0);
    assert_eq!(clamp(f32::from_bits(0x7fc0_0001), 0x100), 0);
    assert_eq!(clamp(f32::from_bits(0x7fc0_0001), 0), 0x7fc0_0001);
}

#[test]
fn scaling_and_taking_apart() {
    let e = fp(PLAIN_MODE);
    assert_eq!(e.ldexp(1.5_f32, 3), 12.0);
    assert_eq!(e.ldexp(1.0_f32, 1000), f32::INFINITY);
    assert_eq!(e.ldexp(1.0_f32, -149), f32::from_bits(1));
    assert_eq!(e.ldexp(1.5_f32, -149), f32::from_bits(2), "ties to even");
    assert_eq!(fp(COMPILER_MODE).ldexp(1.0_f32, -127), 0.0);
    assert_eq!(e.ldexp(1.0_f64, i32::MIN), 0.0);
    for (x, mantissa, exponent) in [(12.0, 0.75, 4), (-0.5, -0.5, 0), (f32::from_bits(3), 0.75, -147), (0.0, 0.0, 0)] {
        assert_eq!((e.frexp_mant(x), e.frexp_exp(x)), (mantissa, exponent));
    }
    assert_eq!((e.frexp_mant(f32::INFINITY), e.frexp_exp(f32::INFINITY)), (f32::INFINITY, 0));
    let gfx6 = Fp::new(PLAIN_MODE, gcnjit_isa::Gen::Gfx6);
    assert_eq!((gfx6.frexp_mant(f32::INFINITY).to_bits(), gfx6.frexp_exp(f32::INFINITY)), (0xffc0_0000, -1));
    assert_eq!(e.fract(-1.25_f32), 0.75);
    assert_eq!(e.fract(-1e-10_f32).to_bits(), 0x3f7f_ffff, "never 1");
    assert_eq!(e.fract(f32::INFINITY).to_bits(), 0xffc0_0000);
}

#[test]
fn classes() {
    let e = fp(COMPILER_MODE);
    let numbers = [
        0x7f80_0001,
        0x7fc0_0000,
        0xff80_0000,
        0xbf80_0000,
        0x8000_0001,
        0x8000_0000,
        0,
        1,
        0x3f80_0000,
        0x7f80_0000_u32,
    ];
    for (bit, bits) in numbers.into_iter().enumerate() {
        assert!(e.class(f32::from_bits(bits), 1 << bit), "{bits:x}");
        assert!(!e.class(f32::from_bits(bits), !(1 << bit)), "{bits:x}");
    }
}
