//! Float atomics on bits: whatever modes the host is in, results are those of the guest's MODE, and the host's flags
//! and modes are left alone.
//!
//! Denormal sources and results are flushed as MODE says. Minimum and maximum take −0 below +0 and ignore a NaN unless
//! IEEE mode finds a signalling one; a sum with a NaN is the first NaN, quieted, any other NaN sum the default one.

use gcnjit_rt::{Denormals, Mode, Round};

/// A float's bits.
pub(super) trait Float: Copy {
    /// Whether `self` equals `other`.
    fn equal(self, other: Self, mode: Mode) -> bool;
    /// The smaller or larger of memory's value and the data.
    fn extremum(self, data: Self, mode: Mode, larger: bool) -> Self;
}

macro_rules! float {
    ($word:ident $signed:ident $normal:literal $denormals:ident) => {
        impl Float for $word {
            fn equal(self, other: $word, mode: Mode) -> bool {
                let flush = mode.$denormals().flush_in;
                let (a, b) = ($denormals::flush(self, flush), $denormals::flush(other, flush));
                !$denormals::nan(a) && !$denormals::nan(b) && $denormals::key(a) == $denormals::key(b)
            }

            fn extremum(self, data: $word, mode: Mode, larger: bool) -> $word {
                let Denormals { flush_in, flush_out } = mode.$denormals();
                let (a, b) = ($denormals::flush(self, flush_in), $denormals::flush(data, flush_in));
                let signalling = |x| mode.ieee() && $denormals::nan(x) && x & $denormals::QUIET == 0;
                // With the sign apart, −0 is below +0.
                let order = |x: $word| ($denormals::key(x), x & $denormals::SIGN == 0);
                let first = if larger { order(a) >= order(b) } else { order(a) <= order(b) };
                let number = if $denormals::nan(b) || !$denormals::nan(a) && first { a } else { b };
                let x = if signalling(a) {
                    a
                } else if signalling(b) {
                    b
                } else {
                    number
                };
                $denormals::quiet($denormals::flush(x, flush_out))
            }
        }

        mod $denormals {
            pub(super) const SIGN: $word = !($signed::MAX as $word);
            pub(super) const QUIET: $word = $normal >> 1;
            const INFINITY: $word = !SIGN & !($normal - 1);

            pub(super) fn nan(x: $word) -> bool {
                x & !SIGN > INFINITY
            }

            pub(super) fn quiet(x: $word) -> $word {
                if nan(x) { x | QUIET } else { x }
            }

            pub(super) fn flush(x: $word, enable: bool) -> $word {
                if enable && x & !SIGN < $normal { x & SIGN } else { x }
            }

            /// Ordered as the floats are; the same for both zeros.
            pub(super) fn key(x: $word) -> $signed {
                let magnitude = (x & !SIGN) as $signed;
                if x & SIGN == 0 { magnitude } else { -magnitude }
            }
        }
    };
}

float! { u32 i32 0x80_0000 denormals32 }
float! { u64 i64 0x10_0000_0000_0000 denormals64 }

/// The f32 sum of memory's value and the data.
pub(super) fn add(x: u32, y: u32, mode: Mode) -> u32 {
    use denormals32::{flush, nan, quiet};
    let Denormals { flush_in, flush_out } = mode.denormals32();
    let (x, y) = (flush(x, flush_in), flush(y, flush_in));
    if nan(x) || nan(y) {
        return quiet(if nan(x) { x } else { y });
    }
    let sum = raw_add(x, y, mode.round32());
    if nan(sum) { 0xffc0_0000 } else { flush(sum, flush_out) }
}

/// The sum with denormals, rounded as asked.
#[cfg(target_arch = "x86_64")]
fn raw_add(x: u32, y: u32, round: Round) -> u32 {
    use std::arch::asm;
    /// All exceptions masked, to nearest, denormals kept.
    const DEFAULT: u32 = 0x1f80;
    let control = DEFAULT
        | match round {
            Round::NearestEven => 0,
            Round::Down => 1 << 13,
            Round::Up => 2 << 13,
            Round::Zero => 3 << 13,
        };
    let mut saved = 0u32;
    let mut sum = x;
    // SAFETY: MXCSR is what it was when the block is left; no exception is unmasked in between.
    unsafe {
        asm!(
            "stmxcsr [{saved}]",
            "ldmxcsr [{control}]",
            "movd {a}, {sum:e}",
            "movd {b}, {y:e}",
            "addss {a}, {b}",
            "movd {sum:e}, {a}",
            "ldmxcsr [{saved}]",
            saved = in(reg) &raw mut saved,
            control = in(reg) &raw const control,
            sum = inout(reg) sum,
            y = in(reg) y,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            options(nostack)
        );
    }
    sum
}

/// The sum with denormals; other hosts round to nearest only.
#[cfg(not(target_arch = "x86_64"))]
fn raw_add(x: u32, y: u32, _: Round) -> u32 {
    (f32::from_bits(x) + f32::from_bits(y)).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Mode = Mode(0xf0);
    const VALUES: [f32; 10] =
        [0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

    #[test]
    fn with_denormals() {
        for x in VALUES {
            for y in VALUES {
                let (a, b) = (x.to_bits(), y.to_bits());
                assert_eq!(a.equal(b, KEEP), x == y);
                let min = f32::from_bits(a.extremum(b, KEEP, false));
                assert!(min == x.min(y) || min.is_nan() && x.is_nan() && y.is_nan());
                let max = f32::from_bits(a.extremum(b, KEEP, true));
                assert!(max == x.max(y) || max.is_nan() && x.is_nan() && y.is_nan());
                let sum = f32::from_bits(add(a, b, KEEP));
                assert!(sum.to_bits() == (x + y).to_bits() || sum.is_nan() && (x + y).is_nan());
                let (x, y) = (f64::from(x), f64::from(y));
                let min = f64::from_bits(x.to_bits().extremum(y.to_bits(), KEEP, false));
                assert!(min == x.min(y) || min.is_nan() && x.is_nan() && y.is_nan());
            }
        }
    }

    #[test]
    fn modes() {
        let tiny = 1e-40f32.to_bits();
        assert_eq!(tiny.extremum(0x3f80_0000, Mode(0), false), 0);
        assert!(tiny.equal(0x8000_0000, Mode(0)));
        assert_eq!(add(tiny, tiny, Mode(0)), 0);
        assert_eq!(0x8000_0000u32.extremum(0, KEEP, true), 0);
        assert_eq!(0u32.extremum(0x8000_0000, KEEP, false), 0x8000_0000);
        let signalling = 0x7f80_0001;
        assert_eq!(1u32.extremum(signalling, KEEP, false), 1);
        assert_eq!(1u32.extremum(signalling, Mode(0x2f0), false), 0x7fc0_0001);
        assert_eq!(add(0x7f80_0000, 0xff80_0000, KEEP), 0xffc0_0000);
        let (one, small) = (0x3f80_0000, 0x3080_0000);
        assert_eq!([0, 1, 2, 3].map(|round| add(one, small, Mode(0xf0 | round))), [one, one + 1, one, one]);
    }
}
