//! Which exceptions arithmetic raises: the libcalls of code that keeps TRAPSTS.
//!
//! [`raise`] finds, for each of 64 lanes, the bits of TRAPSTS.EXCP that an operation raises (`gcnjit_isa::exceptions` says
//! which operation raises what); [`gather`] joins those of the lanes that are enabled. Sums, products, quotients, roots
//! and conversions of f32 and f64 are done over again by the host's own instructions, whose sticky flags in MXCSR say
//! what came of them: they have the order of TRAPSTS. Denormals are flushed here instead of by the host, since its flags
//! don't tell a denormal source that is flushed. f16 arithmetic is exact in f64, up to its one rounding in integers.
//! What the hardware approximates is a matter of its arguments and of the result.
//!
//! Nothing of this is shared with the interpreter, which finds the same by software arithmetic.

use super::functions::{F16, F32, F64, Format, Rules, f16_to_f32, flush_in, flush_out, from_f64};
use super::{enter_host_fenv, flags, packed, set_mxcsr};
use gcnjit_rt::math;

const INVALID: u32 = 1;
const INPUT_DENORMAL: u32 = 1 << 1;
const DIVIDE_BY_ZERO: u32 = 1 << 2;
const OVERFLOW: u32 = 1 << 3;
const UNDERFLOW: u32 = 1 << 4;
const INEXACT: u32 = 1 << 5;
const INTEGER_DIVIDE_BY_ZERO: u32 = 1 << 6;

/// What is done with a lane's sources x, y and z.
#[allow(missing_docs, reason = "their names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// x, y and z are looked at: each alone, or as many as there are.
    Sources1,
    Sources2,
    /// Compared; `more`: quiet NaNs are invalid.
    Compare,
    Add,
    /// x − y.
    Sub,
    /// y − x.
    SubRev,
    Mul,
    /// With 0 for a zero factor.
    MulLegacy,
    /// The same if z > 0.
    MulLit,
    Fma,
    /// Fused, and times 2^64 or 2^128, or its inverse.
    FmaScaled,
    /// Product and sum rounded each.
    Mad,
    /// z / y, the division that v_div_fixup concludes.
    Quotient,
    /// x · 2^y.
    Ldexp,
    Fract,
    /// To the format `more`; `from_flush_in` for the source.
    Convert,
    /// To an [`Integer`], `more`.
    ToInteger,
    /// A 16-bit integer, extended, to f16.
    FromInteger,
    /// The reciprocal in an integer division.
    IntegerReciprocal,
    /// A [`Function`], `more`.
    Function,
    /// omod of a result x: 2, 4, ½ by `more` 1, 2, 3.
    Scale,
    /// v_trig_preop of x and the segment y.
    TrigPreop,
}

impl Kind {
    const ALL: [Kind; 22] = [
        Kind::Sources1,
        Kind::Sources2,
        Kind::Compare,
        Kind::Add,
        Kind::Sub,
        Kind::SubRev,
        Kind::Mul,
        Kind::MulLegacy,
        Kind::MulLit,
        Kind::Fma,
        Kind::FmaScaled,
        Kind::Mad,
        Kind::Quotient,
        Kind::Ldexp,
        Kind::Fract,
        Kind::Convert,
        Kind::ToInteger,
        Kind::FromInteger,
        Kind::IntegerReciprocal,
        Kind::Function,
        Kind::Scale,
        Kind::TrigPreop,
    ];

    /// How many sources it has.
    fn arity(self) -> usize {
        use Kind::*;
        match self {
            Sources2 | Compare | Add | Sub | SubRev | Mul | MulLegacy | Ldexp | TrigPreop => 2,
            MulLit | Fma | FmaScaled | Mad | Quotient => 3,
            _ => 1,
        }
    }

    /// Whether a source is an integer of 32 bits whatever the format.
    fn is_integer(self, source: usize) -> bool {
        match self {
            Kind::Ldexp | Kind::TrigPreop => source == 1,
            Kind::FromInteger => true,
            _ => false,
        }
    }
}

/// The format of a float.
#[allow(missing_docs, reason = "the usual names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Width {
    F16,
    F32,
    F64,
}

impl Width {
    fn of(bits: u32) -> Width {
        [Width::F16, Width::F32, Width::F64, Width::F64][(bits & 3) as usize]
    }

    fn format(self) -> Format {
        match self {
            Width::F16 => F16,
            Width::F32 => F32,
            Width::F64 => F64,
        }
    }
}

/// What a conversion to an integer makes.
#[allow(missing_docs, reason = "the usual names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Integer {
    I32,
    U32,
    I16,
    U16,
    /// A byte, rounded as MODE has it; the others are rounded towards zero.
    Byte,
}

impl Integer {
    fn range(bits: u32) -> (i64, i64) {
        match bits {
            0 => (i32::MIN.into(), i32::MAX.into()),
            1 => (0, u32::MAX.into()),
            2 => (i16::MIN.into(), i16::MAX.into()),
            3 => (0, u16::MAX.into()),
            _ => (0, u8::MAX.into()),
        }
    }
}

/// The functions that the hardware approximates. On f32 `Rsq`, `Exp` and `Log` flush denormals, which the rules say.
#[allow(missing_docs, reason = "the usual names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Function {
    Rcp,
    Rsq,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
}

impl Function {
    const ALL: [Function; 7] = {
        use Function::*;
        [Rcp, Rsq, Sqrt, Exp, Log, Sin, Cos]
    };
}

/// What [`raise`] is to look for: its immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub kind: Kind,
    /// The format of its sources.
    pub width: Width,
    /// How it rounds and flushes, as [`crate::fenv::rules`] has it.
    pub rules: u32,
    /// Whether the source of a conversion is flushed, which may be another's rule.
    pub from_flush_in: bool,
    /// See [`Kind`].
    pub more: u32,
}

impl Request {
    /// As an immediate.
    pub fn encode(self) -> u32 {
        let Request { kind, width, rules, from_flush_in, more } = self;
        kind as u32 | (width as u32) << 6 | (rules & 15) << 8 | u32::from(from_flush_in) << 12 | (more & 7) << 13
    }

    fn decode(imm: u64) -> Option<Request> {
        let imm = imm as u32;
        Some(Request {
            kind: *Kind::ALL.get((imm & 63) as usize)?,
            width: Width::of(imm >> 6),
            rules: imm >> 8 & 15,
            from_flush_in: imm >> 12 & 1 != 0,
            more: imm >> 13 & 7,
        })
    }
}

/// Whether the host can say what a fused operation raises.
pub fn has_fused() -> bool {
    flags::has_fused()
}

/// The exceptions of each lane, for the [`Request`] in `imm`; none for an immediate that is none.
///
/// # Safety
/// `d` is a row of dwords, and the others are rows as wide as the request's sources; `d` is distinct from them. The host
/// [`has_fused`] for fused operations.
pub unsafe extern "C" fn raise(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, imm: u64) {
    // SAFETY: the caller's contract.
    let d = unsafe { &mut *d.cast::<[u32; 64]>() };
    *d = [0; 64];
    let Some(request) = Request::decode(imm) else { return };
    let guest = enter_host_fenv();
    for (lane, raised) in d.iter_mut().enumerate() {
        let mut x = [0; 3];
        for (i, row) in [a, b, c].into_iter().enumerate().take(request.kind.arity()) {
            let width = if request.kind.is_integer(i) { Width::F32 } else { request.width };
            // SAFETY: the caller's contract: the row has 64 values of this width.
            let bits = unsafe {
                match width {
                    Width::F64 => *row.cast::<u64>().add(lane),
                    _ => u64::from(*row.cast::<u32>().add(lane)),
                }
            };
            x[i] = if width == Width::F16 { bits & 0xffff } else { bits };
        }
        *raised = request.lane(x);
    }
    set_mxcsr(guest);
}

/// In every lane the bits of `a` in all lanes whose bit in `b`, the same mask in all lanes, is set.
///
/// # Safety
/// `d` and `a` are rows of dwords, `b` one of quadwords; `d` is distinct from them.
pub unsafe extern "C" fn gather(d: *mut u8, a: *const u8, b: *const u8, _: *const u8, _: u64) {
    // SAFETY: the caller's contract.
    let (d, a, mask) = unsafe { (&mut *d.cast::<[u32; 64]>(), &*a.cast::<[u32; 64]>(), *b.cast::<u64>()) };
    let enabled = a.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0);
    *d = [enabled.fold(0, |all, (_, raised)| all | raised); 64];
}

/// What is to be known of a float beside its number.
fn is_denormal(format: Format, x: u64) -> bool {
    let magnitude = format.magnitude(x);
    magnitude != 0 && magnitude < format.least_normal()
}

fn is_signalling(format: Format, x: u64) -> bool {
    format.is_nan(x) && format.quiet(x) != x
}

fn when(condition: bool, raised: u32) -> u32 {
    if condition { raised } else { 0 }
}

/// What comes of sources by themselves.
fn sources(format: Format, sources: &[u64]) -> u32 {
    let any = |is: fn(Format, u64) -> bool| sources.iter().any(|x| is(format, *x));
    when(any(is_denormal), INPUT_DENORMAL) | when(any(is_signalling), INVALID)
}

fn flushed(format: Format, x: u64, flush: bool) -> u64 {
    if flush && is_denormal(format, x) { x & format.sign(true) } else { x }
}

/// What rounding `integer` · 2^`exponent`, which is not 0, to the format raises.
fn rounding(format: Format, negative: bool, integer: u64, exponent: i32, rules: Rules) -> u32 {
    let zeros = integer.leading_zeros();
    let (integer, top) = (integer << zeros, exponent - zeros as i32 + 63);
    let dropped = 64 - format.precision();
    let rest = integer & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let odd = integer >> dropped & 1 != 0;
    let up = match rules & 3 {
        0 => rest > half || rest == half && odd,
        1 => rest != 0 && !negative,
        2 => rest != 0 && negative,
        _ => false,
    };
    let full = integer >> dropped == (1 << format.precision()) - 1;
    let rounded_top = top + i32::from(up && full);
    if rounded_top > format.largest_exponent() {
        return OVERFLOW | INEXACT;
    }
    if rounded_top >= format.least_exponent() {
        return if rest != 0 { INEXACT } else { 0 };
    }
    let below = dropped as i32 + format.least_exponent() - top;
    let exact = below < 64 && integer & ((1 << below) - 1) == 0;
    if exact && !flush_out(rules) { 0 } else { UNDERFLOW | INEXACT }
}

/// An f64, not NaN, rounded to the format.
fn narrowed(format: Format, x: f64, rules: Rules) -> u32 {
    let magnitude = F64.magnitude(x.to_bits());
    if magnitude == 0 || magnitude == F64.infinity() {
        return 0;
    }
    let (integer, top) = F64.split(magnitude);
    rounding(format, x.is_sign_negative(), integer, top - 62, rules)
}

#[derive(Clone, Copy)]
enum Step {
    Add,
    Mul,
    Div,
    Fma,
}

/// An operation on numbers of a format: what it raises.
///
/// Where the host says that a result is tiny and was rounded, or the result is denormal, it may be flushed.
fn arithmetic(width: Width, step: Step, rules: Rules, x: &[u64]) -> u32 {
    let format = width.format();
    let seen = sources(format, x);
    if x.iter().any(|x| format.is_nan(*x)) {
        return seen;
    }
    let mut flat = [0; 3];
    for (to, x) in flat.iter_mut().zip(x) {
        *to = flushed(format, *x, flush_in(rules));
    }
    let (denormal, flags) = match width {
        Width::F16 => return seen | half_arithmetic(step, rules, flat),
        Width::F32 => {
            let [x, y, z] = flat.map(|x| f32::from_bits(x as u32));
            let (result, flags) = match step {
                Step::Add => flags::add_f32(rules, x, y),
                Step::Mul => flags::mul_f32(rules, x, y),
                Step::Div => flags::div_f32(rules, x, y),
                Step::Fma => flags::fma_f32(rules, x, y, z),
            };
            (is_denormal(format, result.to_bits().into()), flags)
        }
        Width::F64 => {
            let [x, y, z] = flat.map(f64::from_bits);
            let (result, flags) = match step {
                Step::Add => flags::add_f64(rules, x, y),
                Step::Mul => flags::mul_f64(rules, x, y),
                Step::Div => flags::div_f64(rules, x, y),
                Step::Fma => flags::fma_f64(rules, x, y, z),
            };
            (is_denormal(format, result.to_bits()), flags)
        }
    };
    seen | flags | when(denormal && flush_out(rules), UNDERFLOW | INEXACT)
}

fn half(x: u64) -> f32 {
    f32::from_bits(f16_to_f32(x as u32, 0))
}

/// The same on f16: exactly, or rounded to f64 so that its rounding to f16 is as good as the exact number's.
fn half_arithmetic(step: Step, rules: Rules, x: [u64; 3]) -> u32 {
    let [x, y, z] = x.map(half);
    let [wide_x, wide_y] = [x, y].map(f64::from);
    let (result, flags) = match step {
        Step::Add => flags::add_f64(0, wide_x, wide_y),
        Step::Mul => flags::mul_f64(0, wide_x, wide_y),
        Step::Div => flags::div_f64(0, wide_x, wide_y),
        Step::Fma => {
            let sum = math::fma_to_odd(x, y, z);
            (sum, if sum.is_nan() { INVALID } else { 0 })
        }
    };
    let special = flags & (INVALID | DIVIDE_BY_ZERO);
    if special != 0 {
        return special;
    }
    let raised = narrowed(F16, result, rules);
    // A rounded quotient that is a number of the format all the same.
    raised | flags & INEXACT
}

/// A product of f16 as it goes into a sum.
fn half_product(rules: Rules, x: u64, y: u64) -> u64 {
    let [x, y] = [x, y].map(|x| f64::from(half(flushed(F16, x, flush_in(rules)))));
    let product = x * y;
    if product.is_nan() { 0x7e00 } else { from_f64(F16, product, rules) }
}

impl Request {
    fn lane(self, [x, y, z]: [u64; 3]) -> u32 {
        let Request { kind, width, more, .. } = self;
        let (format, rules) = (width.format(), Rules::from(self.rules));
        let minus = |x: u64| x ^ format.sign(true);
        let arithmetic = |step, x: &[u64]| arithmetic(width, step, rules, x);
        match kind {
            Kind::Sources1 => sources(format, &[x]),
            Kind::Sources2 => sources(format, &[x, y]),
            Kind::Compare => {
                let quiet = more != 0 && (format.is_nan(x) || format.is_nan(y));
                sources(format, &[x, y]) | when(quiet, INVALID)
            }
            Kind::Add => arithmetic(Step::Add, &[x, y]),
            Kind::Sub => arithmetic(Step::Add, &[x, minus(y)]),
            Kind::SubRev => arithmetic(Step::Add, &[minus(x), y]),
            Kind::Mul => arithmetic(Step::Mul, &[x, y]),
            Kind::MulLegacy => self.legacy_product(x, y),
            Kind::MulLit => {
                let above = f32::from_bits(flushed(format, z, flush_in(rules)) as u32) > 0.0;
                sources(format, &[z]) | if above { self.legacy_product(x, y) } else { 0 }
            }
            Kind::Fma => arithmetic(Step::Fma, &[x, y, z]),
            Kind::FmaScaled => self.scaled_fma(x, y, z),
            Kind::Mad => {
                let sum = arithmetic(Step::Add, &[half_product(rules, x, y), z]);
                arithmetic(Step::Mul, &[x, y]) | sum & !INPUT_DENORMAL | sources(format, &[z])
            }
            Kind::Quotient => arithmetic(Step::Div, &[z, y]),
            Kind::Ldexp => self.ldexp(x, y),
            Kind::Fract => self.fract(x),
            Kind::Convert => self.convert(x),
            Kind::ToInteger => self.to_integer(x),
            Kind::FromInteger => from_integer(x as u32, rules),
            Kind::IntegerReciprocal => {
                let zero = format.magnitude(flushed(format, x, flush_in(rules))) == 0;
                when(zero, INTEGER_DIVIDE_BY_ZERO)
            }
            Kind::Function => self.function(x),
            Kind::Scale => {
                let factor = [1.0, 2.0, 4.0, 0.5][(more & 3) as usize];
                arithmetic(Step::Mul, &[x, from_f64(format, factor, 0)]) & !(INVALID | INPUT_DENORMAL)
            }
            Kind::TrigPreop => self.trig_preop(x, y as u32),
        }
    }

    fn legacy_product(self, x: u64, y: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let zero = |x: u64| format.magnitude(flushed(format, x, flush_in(rules))) == 0;
        if zero(x) || zero(y) {
            return sources(format, &[x, y]);
        }
        arithmetic(self.width, Step::Mul, rules, &[x, y])
    }

    fn scaled_fma(self, x: u64, y: u64, z: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let seen = sources(format, &[x, y, z]);
        if [x, y, z].iter().any(|x| format.is_nan(*x)) {
            return seen;
        }
        let flat = [x, y, z].map(|x| flushed(format, x, flush_in(rules)));
        if self.width == Width::F32 {
            let [x, y, z] = flat.map(|x| f32::from_bits(x as u32));
            let exact = math::fma_to_odd(x, y, z);
            let power = if z.abs() >= 2.0 { 1023 + 64 } else { 1023 - 64 };
            let scaled = exact * f64::from_bits(power << 52);
            return seen | if exact.is_nan() { INVALID } else { narrowed(F32, scaled, rules) };
        }
        let [x, y, z] = flat.map(f64::from_bits);
        let (result, flags) = flags::fma_f64(rules, x, y, z);
        let power = if z.abs() >= 2.0 { 128 } else { -128 };
        let second = Request { kind: Kind::Ldexp, rules: self.rules & !4, ..self };
        let scaled = if result.is_nan() { 0 } else { second.ldexp(result.to_bits(), power as u32 as u64) };
        seen | flags | scaled & !INPUT_DENORMAL
    }

    fn ldexp(self, x: u64, n: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let (seen, x) = (sources(format, &[x]), flushed(format, x, flush_in(rules)));
        let magnitude = format.magnitude(x);
        if magnitude == 0 || magnitude >= format.infinity() {
            return seen;
        }
        let n = if self.width == Width::F16 { (n as i16).into() } else { n as i32 };
        let (integer, top) = format.split(magnitude);
        seen | rounding(format, x != magnitude, integer, top - 62 + n.clamp(-5000, 5000), rules)
    }

    /// x less the integer at or below it.
    fn fract(self, x: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let seen = sources(format, &[x]);
        let x = flushed(format, x, flush_in(rules));
        if format.is_nan(x) {
            return seen;
        }
        let floor = match self.width {
            Width::F16 => from_f64(F16, f64::from(half(x)).floor(), 0),
            Width::F32 => f32::from_bits(x as u32).floor().to_bits().into(),
            Width::F64 => f64::from_bits(x).floor().to_bits(),
        };
        seen | arithmetic(self.width, Step::Add, rules, &[x, floor ^ format.sign(true)])
    }

    /// The number of a float of the format, which is no NaN.
    fn number(self, x: u64) -> f64 {
        match self.width {
            Width::F16 => half(x).into(),
            Width::F32 => f32::from_bits(x as u32).into(),
            Width::F64 => f64::from_bits(x),
        }
    }

    fn convert(self, x: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let seen = sources(format, &[x]);
        if format.is_nan(x) {
            return seen;
        }
        let number = self.number(flushed(format, x, self.from_flush_in));
        if Width::of(self.more) == Width::F16 {
            return seen | narrowed(F16, number, rules);
        }
        let (result, flags) = flags::narrow_f32(rules, number);
        let tiny = is_denormal(F32, result.to_bits().into()) && flush_out(rules);
        seen | flags | when(tiny, UNDERFLOW | INEXACT)
    }

    fn to_integer(self, x: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let seen = sources(format, &[x]);
        if format.is_nan(x) {
            return seen | INVALID;
        }
        let round = if self.more == Integer::Byte as u32 { rules & 3 } else { 3 };
        let (result, flags) = flags::integer(round, self.number(flushed(format, x, flush_in(rules))));
        let (low, high) = Integer::range(self.more);
        let outside = flags & INVALID != 0 || !(low..=high).contains(&result);
        seen | if outside { INVALID } else { flags }
    }

    fn trig_preop(self, x: u64, segment: u32) -> u32 {
        let seen = sources(F64, &[x]);
        if F64.is_nan(x) {
            return seen;
        }
        let (bits, exponent) = packed::preop_bits(x, segment);
        seen | if bits == 0 { 0 } else { rounding(F64, false, bits, exponent, self.rules.into()) }
    }

    fn function(self, x: u64) -> u32 {
        let (format, rules) = (self.width.format(), Rules::from(self.rules));
        let Some(function) = Function::ALL.get(self.more as usize).copied() else { return 0 };
        let (seen, x) = (sources(format, &[x]), flushed(format, x, flush_in(rules)));
        if format.is_nan(x) {
            return seen;
        }
        let one = from_f64(format, 1.0, 0);
        seen | match function {
            Function::Rcp => arithmetic(self.width, Step::Div, rules, &[one, x]) & !INPUT_DENORMAL,
            Function::Sqrt => self.root(x),
            _ => self.approximated(function, x),
        }
    }

    /// A root is never tiny, so that nothing of it is flushed.
    fn root(self, x: u64) -> u32 {
        match self.width {
            Width::F32 => flags::sqrt_f32(0, f32::from_bits(x as u32)).1,
            Width::F64 => flags::sqrt_f64(0, f64::from_bits(x)).1,
            // The root of 11 bits has more than 22 if it isn't exact.
            Width::F16 => flags::sqrt_f64(0, half(x).into()).1,
        }
    }

    /// The others: by where the function is infinite, not defined or a binary fraction.
    fn approximated(self, function: Function, x: u64) -> u32 {
        use Function::{Cos, Exp, Log, Rsq, Sin};
        let (number, rules) = (self.number(x), Rules::from(self.rules));
        match function {
            Rsq | Log if number == 0.0 => return DIVIDE_BY_ZERO,
            Rsq | Log if number < 0.0 => return INVALID,
            Sin | Cos if number.is_infinite() => return INVALID,
            Sin | Cos if number.abs() > 256.0 => return 0,
            _ if number.is_infinite() => return 0,
            _ => {}
        }
        let result = self.value(function, number);
        let exact = match function {
            // With a power of two the product is exact.
            Rsq => result * (result * number) == 1.0 && result.to_bits() << 12 == 0,
            Log => number.to_bits() << 12 == 0,
            Exp => number.trunc() == number && result != 0.0,
            _ => (number * 4.0).trunc() == number * 4.0,
        };
        if result.is_infinite() {
            return OVERFLOW | INEXACT;
        }
        if result == 0.0 {
            return if exact { 0 } else { UNDERFLOW | INEXACT };
        }
        let raised = narrowed(self.width.format(), result, rules);
        let tiny = !exact && narrowed(self.width.format(), result, rules | 8) & UNDERFLOW != 0;
        raised | when(!exact, INEXACT) | when(tiny, UNDERFLOW)
    }

    /// What the function's result is before it is rounded to f16, or flushed.
    fn value(self, function: Function, x: f64) -> f64 {
        let single = |f: fn(f32, bool) -> f32| f64::from(f(x as f32, false));
        match function {
            Function::Rsq if self.width == Width::F64 => math::rsq_f64(x),
            Function::Rsq => single(math::rsq_f32),
            Function::Exp => single(math::exp_f32),
            Function::Log => single(math::log_f32),
            Function::Sin => single(math::sin_f32),
            Function::Cos => single(math::cos_f32),
            Function::Rcp | Function::Sqrt => unreachable!("the host has them"),
        }
    }
}

/// A 16-bit integer, extended to 32 bits, to f16.
fn from_integer(x: u32, rules: Rules) -> u32 {
    let (negative, magnitude) = (x >> 31 != 0, u64::from(x.cast_signed().unsigned_abs()));
    if magnitude == 0 { 0 } else { rounding(F16, negative, magnitude, 0, rules) }
}
