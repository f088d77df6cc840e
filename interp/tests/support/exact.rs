//! Exact arithmetic on binary floats: the model that the interpreter's rounding is held against.
//!
//! A [`Sum`] is one integer wide enough for every product of two f64, so sums and products are integer additions
//! without any rounding, and [`Sum::round`] rounds once, by the textbook. No host float and no soft-float library has
//! a part in it. Special values and the flushing of denormals are in [`evaluate`].

#![allow(dead_code, reason = "each test binary uses a part")]

use gcnjit_rt::Round;

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits in all.
    pub size: u32,
    /// Stored bits of the significand.
    pub mantissa: u32,
}

pub const F16: Format = Format { size: 16, mantissa: 10 };
pub const F32: Format = Format { size: 32, mantissa: 23 };
pub const F64: Format = Format { size: 64, mantissa: 52 };

impl Format {
    pub fn sign(self) -> u64 {
        1 << (self.size - 1)
    }

    pub fn infinity(self) -> u64 {
        self.sign() - (1 << self.mantissa)
    }

    pub fn min_normal(self) -> u64 {
        1 << self.mantissa
    }

    pub fn quiet_bit(self) -> u64 {
        1 << (self.mantissa - 1)
    }

    pub fn default_nan(self) -> u64 {
        self.sign() | self.infinity() | self.quiet_bit()
    }

    /// The exponent of the smallest normal number.
    fn min_exponent(self) -> i32 {
        2 - (1 << (self.size - self.mantissa - 2))
    }

    /// The exponent of the last place of denormal numbers.
    fn min_unit(self) -> i32 {
        self.min_exponent() - self.mantissa as i32
    }

    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub fn is_denormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign();
        magnitude != 0 && magnitude < self.min_normal()
    }

    /// The bits as a number. Not for NaN.
    pub fn number(self, bits: u64) -> Number {
        let (negative, magnitude) = (bits & self.sign() != 0, bits & !self.sign());
        if magnitude == self.infinity() {
            return Number::Infinity { negative };
        }
        let field = (magnitude >> self.mantissa) as i32;
        let fraction = magnitude & (self.min_normal() - 1);
        let significand = if field == 0 { fraction } else { fraction | self.min_normal() };
        Number::Finite { negative, significand, exponent: self.min_unit() + (field - 1).max(0) }
    }
}

/// Everything but NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Infinity {
        negative: bool,
    },
    /// ± significand · 2^exponent.
    Finite {
        negative: bool,
        significand: u64,
        exponent: i32,
    },
}

/// 2^n as a factor.
pub fn power(n: i32) -> Number {
    Number::Finite { negative: false, significand: 1, exponent: n }
}

impl std::ops::Neg for Number {
    type Output = Number;

    fn neg(self) -> Number {
        match self {
            Number::Infinity { negative } => Number::Infinity { negative: !negative },
            Number::Finite { negative, significand, exponent } => {
                Number::Finite { negative: !negative, significand, exponent }
            }
        }
    }
}

impl Number {
    fn negative(self) -> bool {
        match self {
            Number::Infinity { negative } | Number::Finite { negative, .. } => negative,
        }
    }

    fn is_zero(self) -> bool {
        matches!(self, Number::Finite { significand: 0, .. })
    }

    fn is_infinite(self) -> bool {
        matches!(self, Number::Infinity { .. })
    }
}

/// Bits of TRAPSTS.
pub const INVALID: u32 = 1;
pub const INPUT_DENORMAL: u32 = 1 << 1;
pub const OVERFLOW: u32 = 1 << 3;
pub const UNDERFLOW: u32 = 1 << 4;
pub const INEXACT: u32 = 1 << 5;

const LIMBS: usize = 112;
/// The weight of bit 0 is 2^−POINT.
const POINT: i32 = 64 * LIMBS as i32 / 2;

/// A fixed-point number in two's complement.
#[derive(Clone)]
pub struct Sum([u64; LIMBS]);

impl Sum {
    pub fn zero() -> Sum {
        Sum([0; LIMBS])
    }

    /// Adds ± significand · 2^exponent.
    pub fn add(&mut self, negative: bool, significand: u128, exponent: i32) {
        let position = (exponent + POINT) as usize;
        let (limb, shift) = (position / 64, position % 64);
        let [low, high] = [significand as u64, (significand >> 64) as u64];
        let spill = |x: u64| if shift == 0 { 0 } else { x >> (64 - shift) };
        let parts = [low << shift, spill(low) | high << shift, spill(high)];
        let mut carry = false;
        for i in limb..LIMBS {
            let part = parts.get(i - limb).copied().unwrap_or(0);
            if i - limb >= parts.len() && !carry {
                break;
            }
            let x = self.0[i];
            let (first, second);
            (self.0[i], first, second) = if negative {
                let (y, first) = x.overflowing_sub(part);
                let (y, second) = y.overflowing_sub(u64::from(carry));
                (y, first, second)
            } else {
                let (y, first) = x.overflowing_add(part);
                let (y, second) = y.overflowing_add(u64::from(carry));
                (y, first, second)
            };
            carry = first | second;
        }
    }

    /// The product of the factors, of which at most two are more than a power of two.
    fn add_product(&mut self, factors: &[Number]) {
        let (mut sign, mut product, mut scale) = (false, 1_u128, 0);
        for factor in factors {
            let Number::Finite { negative, significand, exponent } = *factor else { unreachable!("finite factors") };
            sign ^= negative;
            product *= u128::from(significand);
            scale += exponent;
        }
        self.add(sign, product, scale);
    }

    fn is_negative(&self) -> bool {
        self.0[LIMBS - 1] >> 63 != 0
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|limb| *limb == 0)
    }

    fn magnitude(&self) -> Sum {
        if !self.is_negative() {
            return self.clone();
        }
        let mut carry = true;
        Sum(self.0.map(|limb| {
            let (negated, overflow) = (!limb).overflowing_add(u64::from(carry));
            carry = overflow;
            negated
        }))
    }

    /// What is left above the largest integer at or below: the fractional bits of two's complement.
    pub fn fraction(mut self) -> Sum {
        self.0[LIMBS / 2..].fill(0);
        self
    }

    /// The exponent of the highest set bit.
    fn top(&self) -> i32 {
        let limb = self.0.iter().rposition(|limb| *limb != 0).expect("a number other than zero");
        64 * limb as i32 + 63 - self.0[limb].leading_zeros() as i32 - POINT
    }

    /// The bits from 2^unit up, the bit below them, and whether any bit is set below that.
    fn cut(&self, unit: i32) -> (u64, bool, bool) {
        let position = (unit + POINT) as usize;
        let bit = |i: usize| self.0[i / 64] >> (i % 64) & 1;
        let (limb, shift) = (position / 64, position % 64);
        let high = if shift == 0 { 0 } else { self.0[limb + 1] << (64 - shift) };
        let below = position - 1;
        let rest =
            self.0[..below / 64].iter().any(|limb| *limb != 0) || self.0[below / 64] & ((1 << (below % 64)) - 1) != 0;
        (self.0[limb] >> shift | high, bit(below) != 0, rest)
    }

    /// The multiple of 2^unit that `round` picks, in units. Not for negative numbers; `negative` is the sign to round
    /// with.
    fn to_units(&self, unit: i32, negative: bool, round: Round) -> u64 {
        let (units, half, rest) = self.cut(unit);
        let up = match round {
            Round::NearestEven => half && (rest || units & 1 != 0),
            Round::Up => (half || rest) && !negative,
            Round::Down => (half || rest) && negative,
            Round::Zero => false,
        };
        units + u64::from(up)
    }

    /// The number in `format`, and whether it is tiny: below the smallest normal after rounding with an unbounded
    /// exponent. Not for zero.
    pub fn round(&self, format: Format, round: Round) -> (u64, bool) {
        let (negative, magnitude) = (self.is_negative(), self.magnitude());
        let top = magnitude.top();
        let unbounded = magnitude.to_units(top - format.mantissa as i32, negative, round);
        let carried = (unbounded >> (format.mantissa + 1)) as i32;
        let tiny = top + carried < format.min_exponent();

        let unit = (top - format.mantissa as i32).max(format.min_unit());
        let units = magnitude.to_units(unit, negative, round);
        // A significand that has grown a bit carries into the exponent field by itself.
        let field = ((unit - format.min_unit()) as u64).min(1 << (format.size - format.mantissa - 1));
        let bits = (u128::from(field) << format.mantissa) + u128::from(units);
        let overflow = bits >= format.infinity().into();
        let to_infinity = match round {
            Round::NearestEven => true,
            Round::Up => !negative,
            Round::Down => negative,
            Round::Zero => false,
        };
        let bits = match overflow {
            true if to_infinity => format.infinity(),
            true => format.infinity() - 1,
            false => bits as u64,
        };
        (bits | if negative { format.sign() } else { 0 }, tiny)
    }

    /// The exceptions of rounding it by the rules: bits of TRAPSTS. Not for zero.
    ///
    /// It is inexact if what the rounded number stands for is another one, and overflows if it would be beyond the
    /// largest with an unbounded exponent.
    pub fn raised(&self, format: Format, rules: Rules) -> u32 {
        let (negative, magnitude) = (self.is_negative(), self.magnitude());
        let top = magnitude.top();
        let carried =
            (magnitude.to_units(top - format.mantissa as i32, negative, rules.round) >> (format.mantissa + 1)) as i32;
        if top + carried > 1 - format.min_exponent() {
            return OVERFLOW | INEXACT;
        }
        let (bits, tiny) = self.round(format, rules.round);
        let mut rest = self.clone();
        let Number::Finite { negative, significand, exponent } = format.number(bits) else { return INEXACT };
        rest.add(!negative, significand.into(), exponent);
        let inexact = !rest.is_zero() || tiny && rules.flush_out;
        match (inexact, tiny) {
            (true, true) => UNDERFLOW | INEXACT,
            (true, false) => INEXACT,
            (false, _) => 0,
        }
    }

    /// The integer that `round` picks, saturated. For conversions.
    pub fn to_integer(&self, round: Round) -> i128 {
        if self.is_zero() {
            return 0;
        }
        let (negative, magnitude) = (self.is_negative(), self.magnitude());
        if magnitude.top() > 62 {
            return if negative { i128::MIN } else { i128::MAX };
        }
        let units = i128::from(magnitude.to_units(0, negative, round));
        if negative { -units } else { units }
    }
}

/// How results are rounded, and what happens to denormals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub round: Round,
    pub flush_in: bool,
    pub flush_out: bool,
}

impl Rules {
    /// A source of `format`: denormals are zero of their sign if the rules flush.
    pub fn source(self, format: Format, bits: u64) -> u64 {
        if self.flush_in && format.is_denormal(bits) { bits & format.sign() } else { bits }
    }

    /// An exact result in `format`.
    pub fn result(self, format: Format, exact: &Sum) -> u64 {
        let (bits, tiny) = exact.round(format, self.round);
        if self.flush_out && tiny { bits & format.sign() } else { bits }
    }
}

/// The exceptions of a sum of products, of which the sources are not asked: bits of TRAPSTS.
pub fn raised(format: Format, rules: Rules, terms: &[&[Number]]) -> u32 {
    if terms.iter().any(|term| term.iter().any(|factor| factor.is_infinite())) {
        let invalid = evaluate(format, rules, terms) == format.default_nan();
        return if invalid { INVALID } else { 0 };
    }
    let mut sum = Sum::zero();
    terms.iter().for_each(|term| sum.add_product(term));
    if sum.is_zero() { 0 } else { sum.raised(format, rules) }
}

/// A sum of products in `format`: infinities and signed zeros as IEEE 754 has them, everything else exact and rounded
/// once.
pub fn evaluate(format: Format, rules: Rules, terms: &[&[Number]]) -> u64 {
    let negative = |term: &[Number]| term.iter().fold(false, |sign, factor| sign ^ factor.negative());
    let infinite = |term: &&[Number]| term.iter().any(|factor| factor.is_infinite());
    let zero = |term: &&[Number]| term.iter().any(|factor| factor.is_zero());
    let signed = |magnitude: u64, negative: bool| magnitude | if negative { format.sign() } else { 0 };

    let infinities: Vec<_> = terms.iter().copied().filter(infinite).collect();
    if let Some(first) = infinities.first() {
        let invalid = infinities.iter().any(|term| zero(term) || negative(term) != negative(first));
        return if invalid { format.default_nan() } else { signed(format.infinity(), negative(first)) };
    }
    let mut sum = Sum::zero();
    terms.iter().for_each(|term| sum.add_product(term));
    if sum.is_zero() {
        let mut signs = terms.iter().map(|term| negative(term));
        let all_negative = signs.clone().all(|sign| sign);
        let any_negative = signs.any(|sign| sign);
        let minus = if rules.round == Round::Down { any_negative } else { all_negative };
        return signed(0, minus);
    }
    rules.result(format, &sum)
}
