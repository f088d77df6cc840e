//! Floating-point arithmetic as the vector ALU does it. Every rule that a second implementation has to follow to the
//! bit is stated here; nothing else in this crate decides about NaNs, denormals or rounding.
//!
//! **Modes.** f32 operations follow MODE's single-precision round and denormal fields, f64 and f16 operations the
//! double-precision ones. A conversion reads its source by the source's fields and rounds and flushes its result by
//! the result's. On gfx6 and gfx7, which have no f16 arithmetic, the f16 side of a conversion never flushes and
//! rounds by the single-precision field. v_mad, v_mac, v_madmk and v_madak on f32 flush both ways whatever MODE says.
//!
//! **NaN.** If a source is NaN the result is the first NaN in operand order, quieted. A NaN out of other sources is
//! the default NaN: 0xffc00000, 0xfff8000000000000, 0xfe00.
//!
//! **Denormals.** `flush_in`: a denormal source counts as zero of its sign. `flush_out`: a result that is tiny
//! becomes zero of its sign; tiny means below the smallest normal after rounding to the precision with unbounded
//! exponent (so an exact value just below the smallest normal may round up to it by IEEE and still be flushed).
//! Moves, selects, bit operations, abs and neg never flush; v_cmp_class doesn't either.
//!
//! **min, max.** On flushed sources, `s` meaning signalling:
//!
//! ```text
//! ieee && s(a) ? quiet(a) : ieee && s(b) ? quiet(b) : nan(a) ? (nan(b) ? quiet(a) : b) : nan(b) ? a
//! min: a < b || (a == b && sign(a)) ? a : b        so min(-0, +0) = min(+0, -0) = -0
//! max: a > b || (a == b && !sign(a)) ? a : b       so max(-0, +0) = max(+0, -0) = +0
//! ```
//!
//! and `flush_out` after that. min3(a,b,c) = min(min(a,b),c), max3 likewise. med3: any NaN → min3; otherwise the one in
//! the middle, −0 counting as less than +0: max(min(a,b), min(max(a,b),c)).
//!
//! **Output modifiers.** omod multiplies the rounded result by 2, 4 or ½ with the operation's own rounding and
//! flushes it; it is ignored in IEEE mode and when output denormals of the type are enabled. Then clamp:
//! x > 0 ? (x < 1 ? x : 1) : (NaN(x) && !dx10_clamp ? x : +0).
//!
//! **Exceptions.** See [`crate::exceptions`].
//!
//! **Rounding.** Nearest-even is the host's own arithmetic; the directed modes, which nothing but tests uses much,
//! go through a software implementation.

use crate::exceptions::{self, Operation, Watch, arithmetic};
use gcnjit_isa::Gen;
use gcnjit_rt::{Denormals, Mode, Round};
use half::f16;
use rustc_apfloat::ieee::{Double, Half, IeeeFloat, Semantics, Single};
use rustc_apfloat::{Float as _, FloatConvert};

/// What a lane function may know beside its operands: MODE, taken apart, and the instruction's clamp bit.
#[derive(Clone, Debug)]
pub struct Fp {
    /// f32 operations.
    pub single: Rules,
    /// f64 and f16 operations.
    pub double: Rules,
    /// The f16 side of a conversion from or to f32.
    pub half: Rules,
    /// IEEE mode.
    pub ieee: bool,
    /// Clamp turns NaN into 0.
    pub dx10_clamp: bool,
    /// The instruction's clamp bit: integer operations saturate.
    pub clamp: bool,
    /// The instruction is a signalling compare: quiet NaNs are invalid too.
    pub signals: bool,
    /// The generation that is played.
    pub generation: Gen,
    /// What is raised.
    pub watch: Watch,
}

/// How an operation rounds, and what it does to denormals.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rounding of inexact results.
    pub round: Round,
    /// Denormal sources count as zero of their sign.
    pub flush_in: bool,
    /// Tiny results become zero of their sign.
    pub flush_out: bool,
}

impl Rules {
    fn new(round: Round, denormals: Denormals) -> Rules {
        Rules { round, flush_in: denormals.flush_in, flush_out: denormals.flush_out }
    }

    /// The same rounding, with denormals flushed both ways: v_mad_f32 and its relatives.
    pub fn flushed(self) -> Rules {
        Rules { flush_in: true, flush_out: true, ..self }
    }

    /// The same rounding, with denormals kept.
    pub fn unflushed(self) -> Rules {
        Rules { flush_in: false, flush_out: false, ..self }
    }
}

impl Fp {
    /// The rules under `mode` on `generation`.
    pub fn new(mode: Mode, generation: Gen) -> Fp {
        let single = Rules::new(mode.round32(), mode.denormals32());
        let double = Rules::new(mode.round64(), mode.denormals64());
        let half = if generation < Gen::Gfx8 { single.unflushed() } else { double };
        Fp {
            single,
            double,
            half,
            ieee: mode.ieee(),
            dx10_clamp: mode.dx10_clamp(),
            clamp: false,
            signals: false,
            generation,
            watch: Watch::default(),
        }
    }

    /// a + b.
    #[inline]
    pub fn add<T: Float>(&self, a: T, b: T) -> T {
        self.note(|| arithmetic(T::rules(self), Operation::Add, &[a, b]));
        add(T::rules(self), a, b)
    }

    /// a − b, which is a + (−b) except that a NaN in b keeps its sign.
    #[inline]
    pub fn sub<T: Float>(&self, a: T, b: T) -> T {
        self.add(a, b.negated_number())
    }

    /// b − a; the NaN rule still takes a first.
    #[inline]
    pub fn subrev<T: Float>(&self, a: T, b: T) -> T {
        self.add(a.negated_number(), b)
    }

    /// a · b.
    #[inline]
    pub fn mul<T: Float>(&self, a: T, b: T) -> T {
        self.note(|| arithmetic(T::rules(self), Operation::Mul, &[a, b]));
        mul(T::rules(self), a, b)
    }

    /// a · b + c, rounded once.
    #[inline]
    pub fn fma<T: Float>(&self, a: T, b: T, c: T) -> T {
        self.note(|| arithmetic(T::rules(self), Operation::Fma, &[a, b, c]));
        fma(T::rules(self), a, b, c)
    }

    /// a · b, rounded, + c, rounded, with f32 denormals flushed on all sides.
    #[inline]
    pub fn mad<T: Float>(&self, a: T, b: T, c: T) -> T {
        let rules = if T::MANTISSA == 23 { T::rules(self).flushed() } else { T::rules(self) };
        let product = mul(rules, a, b);
        self.note(|| {
            arithmetic(rules, Operation::Mul, &[a, b]) | exceptions::second_step(rules, Operation::Add, product, c)
        });
        // The product's NaN is a source NaN or the default; either way it comes before c.
        add(rules, product, c)
    }

    /// The same with +0 for a product with a zero factor.
    #[inline]
    pub fn mad_legacy(&self, a: f32, b: f32, c: f32) -> f32 {
        let rules = self.single.flushed();
        let zero = flush(true, a) == 0.0 || flush(true, b) == 0.0;
        add(rules, if zero { 0.0 } else { mul(rules, a, b) }, c)
    }

    /// A source of any arithmetic: flushed if the mode says so.
    #[inline]
    pub fn source<T: Float>(&self, x: T) -> T {
        flush(T::rules(self).flush_in, x)
    }

    /// A result that is a source, or has a source's NaN: flushed, quieted.
    #[inline]
    pub fn canonical<T: Float>(&self, x: T) -> T {
        quiet(flush(T::rules(self).flush_out, x))
    }

    /// The smaller, by the rule in this module's head.
    #[inline]
    pub fn min<T: Float>(&self, a: T, b: T) -> T {
        self.note(|| exceptions::sources(&[a, b]));
        let (a, b) = (self.source(a), self.source(b));
        self.extremum(a, b, a < b || (a == b && a.sign()))
    }

    /// The larger, by the rule in this module's head.
    #[inline]
    pub fn max<T: Float>(&self, a: T, b: T) -> T {
        self.note(|| exceptions::sources(&[a, b]));
        let (a, b) = (self.source(a), self.source(b));
        self.extremum(a, b, a > b || (a == b && !a.sign()))
    }

    #[inline]
    fn extremum<T: Float>(&self, a: T, b: T, first: bool) -> T {
        let quiet_first = self.ieee && a.is_signalling();
        let quiet_second = self.ieee && b.is_signalling() && !quiet_first;
        let number = if b.is_nan() || (!a.is_nan() && first) { a } else { b };
        let x = if quiet_first {
            a
        } else if quiet_second {
            b
        } else {
            number
        };
        self.canonical(x)
    }

    /// The smallest of three.
    #[inline]
    pub fn min3<T: Float>(&self, a: T, b: T, c: T) -> T {
        self.min(self.min(a, b), c)
    }

    /// The largest of three.
    #[inline]
    pub fn max3<T: Float>(&self, a: T, b: T, c: T) -> T {
        self.max(self.max(a, b), c)
    }

    /// The one in the middle.
    #[inline]
    pub fn med3<T: Float>(&self, a: T, b: T, c: T) -> T {
        if a.is_nan() || b.is_nan() || c.is_nan() {
            return self.min3(a, b, c);
        }
        self.max(self.min(a, b), self.min(self.max(a, b), c))
    }

    /// x · 2^n, rounded once.
    pub fn ldexp<T: Float>(&self, x: T, n: i32) -> T {
        self.note(|| exceptions::ldexp(T::rules(self), x, n));
        ldexp(T::rules(self), x, n)
    }

    /// A rounding to an integer in the same format: floor, ceil, trunc, rndne.
    #[inline]
    pub fn integral<T: Float>(&self, x: T, round: fn(T) -> T) -> T {
        self.note(|| exceptions::sources(&[x]));
        let x = self.source(x);
        if x.is_nan() { quiet(x) } else { round(x) }
    }

    /// x − floor(x), but never above the largest number below 1; the default NaN for infinities.
    #[inline]
    pub fn fract<T: Float>(&self, x: T) -> T {
        self.note(|| exceptions::sources(&[x]));
        let x = self.source(x);
        if x.is_nan() {
            return quiet(x);
        }
        let fraction = self.sub(x, x.floor());
        if fraction >= T::ONE { T::from_raw(T::ONE.raw() - 1) } else { fraction }
    }

    /// The significand in [0.5, 1), with x's sign; x itself if it is zero, infinite (the default NaN on gfx6) or NaN.
    pub fn frexp_mant<T: Float>(&self, x: T) -> T {
        self.note(|| exceptions::sources(&[x]));
        let x = self.source(x);
        if x.is_nan() || x.is_infinite() || x.is_zero() {
            let default = x.is_infinite() && self.generation == Gen::Gfx6;
            return if default { T::DEFAULT_NAN } else { quiet(x) };
        }
        // The exponent of ½, and the significand shifted up if it is a denormal's.
        let places = (x.magnitude().leading_zeros() + T::MANTISSA).saturating_sub(63);
        let fraction = (x.magnitude() << places) & (T::MIN_NORMAL - 1);
        T::from_raw(T::HALF.raw() | fraction).with_sign(x.sign())
    }

    /// The exponent that belongs to [`Fp::frexp_mant`]; 0 for zero, infinities and NaN (−1 for the last two on gfx6).
    pub fn frexp_exp<T: Float>(&self, x: T) -> i32 {
        self.note(|| exceptions::sources(&[x]));
        let x = self.source(x);
        if x.is_nan() || x.is_infinite() {
            return if self.generation == Gen::Gfx6 { -1 } else { 0 };
        }
        if x.is_zero() { 0 } else { x.exponent() }
    }

    /// The result of an arithmetic operation through omod and clamp.
    #[inline]
    pub fn modified<T: Float>(&self, x: T, omod: u8, clamp: bool) -> T {
        let rules = T::rules(self);
        let scale = [T::ONE, T::TWO, T::FOUR, T::HALF][usize::from(omod & 3)];
        let x = if omod != 0 && rules.flush_out && !self.ieee {
            self.note(|| exceptions::scaling(rules, x, scale));
            mul(rules, x, scale)
        } else {
            x
        };
        if clamp { self.clamp01(x) } else { x }
    }

    #[inline]
    fn clamp01<T: Float>(&self, x: T) -> T {
        if x > T::ZERO {
            if x < T::ONE { x } else { T::ONE }
        } else if x.is_nan() && !self.dx10_clamp {
            x
        } else {
            T::ZERO
        }
    }

    /// A conversion between formats: NaN payloads keep their high bits, the result is rounded once.
    #[inline]
    pub fn convert<S: Float, D: Float>(&self, from: Rules, to: Rules, x: S) -> D {
        self.note(|| exceptions::conversion::<S, D>(from, to, x));
        convert_by(from, to, x)
    }

    /// The v_cmp_class bits of `x` that are set in `mask`; denormals are seen as they are.
    #[inline]
    pub fn class<T: Float>(&self, x: T, mask: u32) -> bool {
        let negative = x.sign();
        let number = |minus: u32, plus: u32| if negative { minus } else { plus };
        let bit = match x.magnitude() {
            _ if x.is_nan() => u32::from(!x.is_signalling()),
            _ if x.is_infinite() => number(2, 9),
            0 => number(5, 6),
            magnitude if magnitude < T::MIN_NORMAL => number(4, 7),
            _ => number(3, 8),
        };
        mask >> bit & 1 != 0
    }
}

/// A host float format: what the rules need to know of it.
pub trait Float: Copy + PartialOrd + 'static {
    /// The same precision with far more exponent, for finding out whether a result is tiny.
    type Wide: Semantics;
    /// The software implementation.
    type Soft: Semantics;
    /// Stored significand bits.
    const MANTISSA: u32;
    /// Bits in all.
    const BITS: u32;
    /// The result of an invalid operation.
    const DEFAULT_NAN: Self;
    /// +0.
    const ZERO: Self;
    /// ½.
    const HALF: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// 4.
    const FOUR: Self;
    /// Magnitude bits of the smallest normal number.
    const MIN_NORMAL: u64 = 1 << Self::MANTISSA;
    /// Magnitude bits of infinity.
    const INFINITY: u64 = (1 << (Self::BITS - 1)) - (1 << Self::MANTISSA);
    /// The exponent of the smallest normal number.
    const MIN_EXPONENT: i32 = 2 - (1 << (Self::BITS - Self::MANTISSA - 2));

    /// The rules of operations on the format.
    fn rules(fp: &Fp) -> Rules;
    /// The bits, zero-extended.
    fn raw(self) -> u64;
    /// From the low bits.
    fn from_raw(bits: u64) -> Self;
    /// The exact value.
    fn to_f64(self) -> f64;
    /// The nearest value, ties to even. Not for NaN.
    fn from_f64(x: f64) -> Self;
    /// The host's sum, to nearest even.
    fn host_add(self, other: Self) -> Self;
    /// The host's product, to nearest even.
    fn host_mul(self, other: Self) -> Self;
    /// The host's fused product and sum, to nearest even.
    fn host_fma(self, factor: Self, addend: Self) -> Self;
    /// The integer at or below.
    fn floor(self) -> Self;
    /// The integer at or above.
    fn ceil(self) -> Self;
    /// The integer towards zero.
    fn trunc(self) -> Self;
    /// The nearest integer, ties to even.
    fn rndne(self) -> Self;

    /// The bits without the sign.
    #[inline]
    fn magnitude(self) -> u64 {
        self.raw() & ((1 << (Self::BITS - 1)) - 1)
    }

    /// Whether the sign bit is set.
    #[inline]
    fn sign(self) -> bool {
        self.raw() >> (Self::BITS - 1) != 0
    }

    /// Whether it is a NaN.
    #[inline]
    fn is_nan(self) -> bool {
        self.magnitude() > Self::INFINITY
    }

    /// Whether it is a NaN with the quiet bit clear.
    #[inline]
    fn is_signalling(self) -> bool {
        self.is_nan() && self.raw() >> (Self::MANTISSA - 1) & 1 == 0
    }

    /// Whether it is +∞ or −∞.
    #[inline]
    fn is_infinite(self) -> bool {
        self.magnitude() == Self::INFINITY
    }

    /// Whether it is +0 or −0.
    #[inline]
    fn is_zero(self) -> bool {
        self.magnitude() == 0
    }

    /// With the sign of `other`.
    #[inline]
    fn with_sign(self, negative: bool) -> Self {
        Self::from_raw(self.magnitude() | u64::from(negative) << (Self::BITS - 1))
    }

    /// Negated, unless it is a NaN.
    #[inline]
    fn negated_number(self) -> Self {
        if self.is_nan() { self } else { self.with_sign(!self.sign()) }
    }

    /// frexp's exponent of a finite number other than zero: its magnitude is in [½, 1) · 2^exponent.
    fn exponent(self) -> i32 {
        let magnitude = self.magnitude();
        let top = 63 - magnitude.leading_zeros() as i32 - Self::MANTISSA as i32;
        let field = (magnitude >> Self::MANTISSA) as i32;
        Self::MIN_EXPONENT + 1 + if field == 0 { top } else { field - 1 }
    }

    /// The bits of the same number in the wide format.
    fn widen(self) -> u128 {
        convert::<Self::Soft, Self::Wide>(u128::from(self.raw()), Round::NearestEven)
    }
}

/// a + b by `rules`.
#[inline]
pub fn add<T: Float>(rules: Rules, a: T, b: T) -> T {
    let (a, b) = (flush(rules.flush_in, a), flush(rules.flush_in, b));
    let sum = match rules.round {
        Round::NearestEven => a.host_add(b),
        round => soft_op::<T, T::Soft>(&[a, b], |s| s[0].add_r(s[1], apf(round)).value),
    };
    // A tiny sum is exact.
    first_nan([a, b], flush(rules.flush_out, default_nan(sum)))
}

/// a · b by `rules`.
#[inline]
pub fn mul<T: Float>(rules: Rules, a: T, b: T) -> T {
    let (a, b) = (flush(rules.flush_in, a), flush(rules.flush_in, b));
    let product = match rules.round {
        Round::NearestEven => a.host_mul(b),
        round => soft_op::<T, T::Soft>(&[a, b], |s| s[0].mul_r(s[1], apf(round)).value),
    };
    let tiny = || wide_is_tiny::<T>(&[a, b], |s| s[0].mul_r(s[1], apf(rules.round)).value);
    first_nan([a, b], flush_tiny(rules, default_nan(product), tiny))
}

/// a · b + c by `rules`.
#[inline]
pub fn fma<T: Float>(rules: Rules, a: T, b: T, c: T) -> T {
    let [a, b, c] = [a, b, c].map(|x| flush(rules.flush_in, x));
    let result = match rules.round {
        Round::NearestEven => a.host_fma(b, c),
        round => soft_op::<T, T::Soft>(&[a, b, c], |s| s[0].mul_add_r(s[1], s[2], apf(round)).value),
    };
    // Nothing special comes of a normal number, except that the smallest one may have been tiny.
    if (T::MIN_NORMAL + 1..T::INFINITY).contains(&result.magnitude()) {
        return result;
    }
    let tiny = || wide_is_tiny::<T>(&[a, b, c], |s| s[0].mul_add_r(s[1], s[2], apf(rules.round)).value);
    first_nan([a, b, c], flush_tiny(rules, default_nan(result), tiny))
}

/// x · 2^n by `rules`.
pub fn ldexp<T: Float>(rules: Rules, x: T, n: i32) -> T {
    let x = flush(rules.flush_in, x);
    if x.is_nan() {
        return quiet(x);
    }
    let n = n.clamp(-5000, 5000);
    // Between normal numbers it is an addition to the exponent.
    let field = (x.magnitude() >> T::MANTISSA) as i32;
    let normal = 1..(T::INFINITY >> T::MANTISSA) as i32;
    if normal.contains(&field) && normal.contains(&(field + n)) {
        return T::from_raw(x.raw().wrapping_add_signed(i64::from(n) << T::MANTISSA));
    }
    let wide = soft::<T::Wide>(x.widen()).scalbn(n);
    finish_wide::<T>(rules, wide.to_bits())
}

/// An exact f64 value, not NaN, in format `D` by `rules`.
#[inline]
pub fn narrow<D: Float>(rules: Rules, x: f64) -> D {
    let result = match rules.round {
        Round::NearestEven => D::from_f64(x),
        round => D::from_raw(convert::<<f64 as Float>::Soft, D::Soft>(u128::from(x.to_bits()), round) as u64),
    };
    let wide = || {
        let wide = soft::<D::Wide>(convert::<<f64 as Float>::Soft, D::Wide>(u128::from(x.to_bits()), rules.round));
        is_tiny::<D>(wide)
    };
    flush_tiny(rules, result, wide)
}

/// [`Fp::convert`], of which nobody is told.
pub(crate) fn convert_by<S: Float, D: Float>(from: Rules, to: Rules, x: S) -> D {
    let x = flush(from.flush_in, x);
    if x.is_nan() { convert_nan(x) } else { narrow(to, x.to_f64()) }
}

/// `x`, or zero of its sign if it is denormal and `enable` is set.
#[inline]
pub fn flush<T: Float>(enable: bool, x: T) -> T {
    if enable && x.magnitude() < T::MIN_NORMAL { T::ZERO.with_sign(x.sign()) } else { x }
}

/// `x` with the quiet bit set if it is a NaN.
#[inline]
pub fn quiet<T: Float>(x: T) -> T {
    if x.is_nan() { T::from_raw(x.raw() | 1 << (T::MANTISSA - 1)) } else { x }
}

/// The default NaN in the place of any NaN.
#[inline]
fn default_nan<T: Float>(x: T) -> T {
    if x.is_nan() { T::DEFAULT_NAN } else { x }
}

/// The first NaN among `sources`, quieted, or else `result`.
#[inline]
fn first_nan<T: Float, const N: usize>(sources: [T; N], result: T) -> T {
    sources.iter().rev().fold(result, |r, s| if s.is_nan() { quiet(*s) } else { r })
}

/// `result`, flushed by `rules` if it is tiny. Only the smallest normal leaves that to `tiny`.
#[inline]
fn flush_tiny<T: Float>(rules: Rules, result: T, tiny: impl FnOnce() -> bool) -> T {
    let borderline = result.magnitude() == T::MIN_NORMAL && rules.flush_out;
    if borderline && tiny() { T::ZERO.with_sign(result.sign()) } else { flush(rules.flush_out, result) }
}

/// The NaN of another format with the same sign and leading payload bits, quieted.
#[inline]
fn convert_nan<S: Float, D: Float>(x: S) -> D {
    let payload = x.raw() & (S::MIN_NORMAL - 1);
    let payload = payload << (63 - S::MANTISSA) >> (63 - D::MANTISSA);
    quiet(D::from_raw(D::INFINITY | 1 << (D::MANTISSA - 1) | payload).with_sign(x.sign()))
}

pub(crate) fn apf(round: Round) -> rustc_apfloat::Round {
    match round {
        Round::NearestEven => rustc_apfloat::Round::NearestTiesToEven,
        Round::Up => rustc_apfloat::Round::TowardPositive,
        Round::Down => rustc_apfloat::Round::TowardNegative,
        Round::Zero => rustc_apfloat::Round::TowardZero,
    }
}

pub(crate) fn soft<S: Semantics>(bits: u128) -> IeeeFloat<S> {
    IeeeFloat::from_bits(bits)
}

/// Converts between software formats.
pub(crate) fn convert<S: Semantics, D: Semantics>(bits: u128, round: Round) -> u128 {
    let converted: IeeeFloat<D> = soft::<S>(bits).convert_r(apf(round), &mut false).value;
    converted.to_bits()
}

/// The software operation in the format itself.
#[cold]
fn soft_op<T: Float, S: Semantics>(sources: &[T], op: impl Fn(&[IeeeFloat<S>]) -> IeeeFloat<S>) -> T {
    let mut wide = [soft::<S>(0); 3];
    for (to, from) in wide.iter_mut().zip(sources) {
        *to = soft(u128::from(from.raw()));
    }
    T::from_raw(op(&wide).to_bits() as u64)
}

/// Whether the operation's result is below the smallest normal when its exponent is unbounded.
#[cold]
fn wide_is_tiny<T: Float>(sources: &[T], op: impl Fn(&[IeeeFloat<T::Wide>]) -> IeeeFloat<T::Wide>) -> bool {
    let mut wide = [soft::<T::Wide>(0); 3];
    for (to, from) in wide.iter_mut().zip(sources) {
        *to = soft(from.widen());
    }
    is_tiny::<T>(op(&wide))
}

pub(crate) fn is_tiny<T: Float>(x: IeeeFloat<T::Wide>) -> bool {
    x.ilogb() < T::MIN_EXPONENT
}

/// A number of the wide format, exact, in format `T` by `rules`.
fn finish_wide<T: Float>(rules: Rules, wide: u128) -> T {
    let bits = convert::<T::Wide, T::Soft>(wide, rules.round);
    flush_tiny(rules, T::from_raw(bits as u64), || is_tiny::<T>(soft(wide)))
}

macro_rules! wide {
    ($($name:ident $mantissa:literal;)*) => { $(
        /// A format with a 16-bit exponent, and the precision of
        #[doc = stringify!($name)]
        pub struct $name;

        impl Semantics for $name {
            const BITS: usize = 17 + $mantissa;
            const EXP_BITS: usize = 16;
        }
    )* };
}

wide! { WideHalf 10; WideSingle 23; WideDouble 52; }

macro_rules! constants {
    ($zero:expr, $half:expr, $one:expr, $two:expr, $four:expr) => {
        const ZERO: Self = $zero;
        const HALF: Self = $half;
        const ONE: Self = $one;
        const TWO: Self = $two;
        const FOUR: Self = $four;
    };
}

macro_rules! host_float {
    ($type:ident $bits:ident $mantissa:literal $nan:literal $field:ident $wide:ident $soft:ty) => {
        impl Float for $type {
            type Wide = $wide;
            type Soft = SemanticsOf<$soft>;
            const MANTISSA: u32 = $mantissa;
            const BITS: u32 = $bits::BITS;
            const DEFAULT_NAN: Self = $type::from_bits($nan);
            constants!(0.0, 0.5, 1.0, 2.0, 4.0);

            #[inline]
            fn rules(fp: &Fp) -> Rules {
                fp.$field
            }
            #[inline]
            fn raw(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline]
            fn from_raw(bits: u64) -> Self {
                $type::from_bits(bits as $bits)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline]
            fn host_add(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn host_mul(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn host_fma(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
            #[inline]
            fn floor(self) -> Self {
                $type::floor(self)
            }
            #[inline]
            fn ceil(self) -> Self {
                $type::ceil(self)
            }
            #[inline]
            fn trunc(self) -> Self {
                $type::trunc(self)
            }
            #[inline]
            fn rndne(self) -> Self {
                self.round_ties_even()
            }
        }
    };
}

/// The semantics behind one of the software formats.
type SemanticsOf<S> = <S as HasSemantics>::Semantics;

/// Names the semantics of a software format.
pub trait HasSemantics {
    /// The semantics.
    type Semantics: Semantics;
}

impl<S: Semantics> HasSemantics for IeeeFloat<S> {
    type Semantics = S;
}

host_float! { f32 u32 23 0xffc0_0000 single WideSingle Single }
host_float! { f64 u64 52 0xfff8_0000_0000_0000 double WideDouble Double }

// Sums and products of two f16 are exact in f64. A fused sum is too, or else so far from it that the f64 rounding
// can't reach a midpoint between two f16.
impl Float for f16 {
    type Wide = WideHalf;
    type Soft = SemanticsOf<Half>;
    const MANTISSA: u32 = 10;
    const BITS: u32 = 16;
    const DEFAULT_NAN: Self = f16::from_bits(0xfe00);
    constants!(f16::ZERO, f16::from_bits(0x3800), f16::ONE, f16::from_bits(0x4000), f16::from_bits(0x4400));

    #[inline]
    fn rules(fp: &Fp) -> Rules {
        fp.double
    }
    #[inline]
    fn raw(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline]
    fn from_raw(bits: u64) -> Self {
        f16::from_bits(bits as u16)
    }
    #[inline]
    fn to_f64(self) -> f64 {
        f64_of_f16(self)
    }
    #[inline]
    fn from_f64(x: f64) -> Self {
        f16_of_f64(x)
    }
    #[inline]
    fn host_add(self, other: Self) -> Self {
        f16_of_f64(self.to_f64() + other.to_f64())
    }
    #[inline]
    fn host_mul(self, other: Self) -> Self {
        f16_of_f64(self.to_f64() * other.to_f64())
    }
    #[inline]
    fn host_fma(self, factor: Self, addend: Self) -> Self {
        f16_of_f64(self.to_f64() * factor.to_f64() + addend.to_f64())
    }
    #[inline]
    fn floor(self) -> Self {
        f16_of_f64(self.to_f64().floor())
    }
    #[inline]
    fn ceil(self) -> Self {
        f16_of_f64(self.to_f64().ceil())
    }
    #[inline]
    fn trunc(self) -> Self {
        f16_of_f64(self.to_f64().trunc())
    }
    #[inline]
    fn rndne(self) -> Self {
        f16_of_f64(self.to_f64().round_ties_even())
    }
}

/// An f16 in f64, exactly; some NaN for a NaN. Scaling the bits by 2^(1023−15) is exact, denormals included.
#[inline]
fn f64_of_f16(x: f16) -> f64 {
    let bits = u64::from(x.to_bits());
    let magnitude = (bits & 0x7fff) << 42;
    let scaled = f64::from_bits(magnitude) * f64::from_bits((1023 + 1008) << 52);
    let value = if bits & 0x7c00 == 0x7c00 { f64::from_bits(magnitude | 0x7ff << 52) } else { scaled };
    f64::from_bits(value.to_bits() | (bits & 0x8000) << 48)
}

/// An f64 to the nearest f16, ties to even; some NaN for a NaN.
#[inline]
fn f16_of_f64(x: f64) -> f16 {
    let sign = (x.to_bits() >> 48 & 0x8000) as u16;
    let magnitude = x.abs();
    // Adding and subtracting 2^52 units in the last place rounds to that place.
    let exponent = (magnitude.to_bits() >> 52).max(1023 - 14);
    let unit = f64::from_bits((exponent + 52 - 10) << 52);
    let rounded = (magnitude + unit) - unit;
    let bits = if magnitude.is_nan() {
        0x7e00
    } else if magnitude >= 65536.0 || rounded >= 65536.0 {
        0x7c00
    } else {
        // The inverse of the scaling above.
        ((rounded * f64::from_bits((1023 - 1008) << 52)).to_bits() >> 42) as u16
    };
    f16::from_bits(sign | bits)
}
