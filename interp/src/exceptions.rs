//! Which exceptions an operation raises, found beside its result: by software arithmetic that says whether it rounded,
//! in the format itself and in one with far more exponent, which says whether the result was tiny.
//!
//! What each row raises, and on what evidence, is in `gcnjit_isa::exceptions` and docs/fidelity.md. The rules that all
//! share:
//!
//! - **Input denormal**: a source is denormal in its format, whether it is then flushed or not.
//! - **Invalid**: a signalling NaN among the sources, in any mode; ∞ − ∞, 0 · ∞, 0 / 0 and the like. A quiet NaN among
//!   the sources, without a signalling one, leaves nothing but an input denormal.
//! - **Overflow** and **underflow** come with **inexact**. Tiny results underflow if they are not exact, or if they are
//!   flushed; tiny is what [`crate::fp`] flushes.
//! - A result that passes through omod raises what the multiplication does. Clamp raises nothing.
//!
//! [`Watch`] collects them: bodies say what they raise with `Fp::note`, which does nothing unless TRAPSTS is kept, the
//! row raises anything and the lane is enabled.

use crate::fp::{Float, Fp, Rules, apf, convert, flush, is_tiny, soft};
use gcnjit_isa::Exceptions;
use half::f16;
use rustc_apfloat::ieee::{IeeeFloat, Semantics};
use rustc_apfloat::{Float as _, FloatConvert, Status, StatusAnd};
use std::cell::Cell;

/// What has been raised since somebody last asked.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Whether the lane in hand counts.
    lane: Cell<bool>,
    raised: Cell<Exceptions>,
}

impl Fp {
    /// Lets what bodies say from now on count, or not.
    #[inline]
    pub fn watch(&self, lane: bool) {
        self.watch.lane.set(lane);
    }

    /// What was raised since the last call.
    pub fn take_raised(&self) -> Exceptions {
        self.watch.raised.take()
    }

    /// Adds what `raised` finds, which is called if the lane counts.
    #[inline]
    pub(crate) fn note(&self, raised: impl FnOnce() -> Exceptions) {
        if self.watch.lane.get() {
            self.watch.raised.set(self.watch.raised.get() | raised());
        }
    }

    /// What a comparison raises.
    #[inline]
    pub(crate) fn note_compare<T: Float>(&self, a: T, b: T) {
        self.note(|| {
            let quiet = self.signals && (a.is_nan() || b.is_nan());
            sources(&[a, b]) | if quiet { Exceptions::INVALID } else { Exceptions::NONE }
        });
    }
}

/// Sums, products and quotients.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Add,
    Mul,
    /// Fused.
    Fma,
    Div,
}

impl Operation {
    fn apply<S: Semantics>(self, x: &[IeeeFloat<S>; 3], rules: Rules) -> StatusAnd<IeeeFloat<S>> {
        let round = apf(rules.round);
        match self {
            Operation::Add => x[0].add_r(x[1], round),
            Operation::Mul => x[0].mul_r(x[1], round),
            Operation::Fma => x[0].mul_add_r(x[1], x[2], round),
            Operation::Div => x[0].div_r(x[1], round),
        }
    }
}

/// What comes of the sources themselves.
pub(crate) fn sources<T: Float>(sources: &[T]) -> Exceptions {
    let denormal = sources.iter().any(|x| !x.is_zero() && x.magnitude() < T::MIN_NORMAL);
    let signalling = sources.iter().any(|x| x.is_signalling());
    when(denormal, Exceptions::INPUT_DENORMAL) | when(signalling, Exceptions::INVALID)
}

fn when(condition: bool, exceptions: Exceptions) -> Exceptions {
    if condition { exceptions } else { Exceptions::NONE }
}

/// What comes of a result.
struct Outcome {
    overflow: bool,
    inexact: bool,
    tiny: bool,
}

impl Outcome {
    fn exceptions(&self, flush_out: bool) -> Exceptions {
        let underflow = self.tiny && (self.inexact || flush_out);
        let inexact = self.inexact || self.overflow || underflow;
        when(self.overflow, Exceptions::OVERFLOW)
            | when(underflow, Exceptions::UNDERFLOW)
            | when(inexact, Exceptions::INEXACT)
    }
}

/// What an operation on two or three sources raises.
pub(crate) fn arithmetic<T: Float>(rules: Rules, operation: Operation, operands: &[T]) -> Exceptions {
    let seen = sources(operands);
    if operands.iter().any(|x| x.is_nan()) {
        return seen;
    }
    let (mut narrow, mut wide) = ([soft::<T::Soft>(0); 3], [soft::<T::Wide>(0); 3]);
    for (i, x) in operands.iter().enumerate() {
        let x = flush(rules.flush_in, *x);
        (narrow[i], wide[i]) = (soft(u128::from(x.raw())), soft(x.widen()));
    }
    let StatusAnd { status, .. } = operation.apply(&narrow, rules);
    if status.contains(Status::INVALID_OP) {
        return seen | Exceptions::INVALID;
    }
    if status.contains(Status::DIV_BY_ZERO) {
        return seen | Exceptions::DIVIDE_BY_ZERO;
    }
    let exact = operation.apply(&wide, rules).value;
    seen | outcome::<T>(status, exact).exceptions(rules.flush_out)
}

/// What a status and the result with unbounded exponent say. The status does not tell an overflow to the largest number
/// from other rounding.
fn outcome<T: Float>(status: Status, wide: IeeeFloat<T::Wide>) -> Outcome {
    let number = wide.is_finite() && !wide.is_zero();
    Outcome {
        overflow: number && wide.ilogb() > 1 - T::MIN_EXPONENT,
        inexact: status.contains(Status::INEXACT),
        tiny: number && is_tiny::<T>(wide),
    }
}

/// What a second step raises whose first source is the result of the first step and not denormal on anybody's account.
pub(crate) fn second_step<T: Float>(rules: Rules, operation: Operation, first: T, source: T) -> Exceptions {
    let all = arithmetic(rules, operation, &[first, source]);
    all.without(Exceptions::INPUT_DENORMAL) | sources(&[source])
}

/// What omod's multiplication of a result raises.
pub(crate) fn scaling<T: Float>(rules: Rules, x: T, scale: T) -> Exceptions {
    arithmetic(rules, Operation::Mul, &[x, scale]).without(Exceptions::SOURCES)
}

/// What x · 2^n raises, rounded once.
pub(crate) fn ldexp<T: Float>(rules: Rules, x: T, n: i32) -> Exceptions {
    let (seen, x) = (sources(&[x]), flush(rules.flush_in, x));
    if x.is_nan() || x.is_infinite() || x.is_zero() {
        return seen;
    }
    let wide = soft::<T::Wide>(x.widen()).scalbn(n.clamp(-5000, 5000));
    let StatusAnd { status, .. }: StatusAnd<IeeeFloat<T::Soft>> = wide.convert_r(apf(rules.round), &mut false);
    seen | outcome::<T>(status, wide).exceptions(rules.flush_out)
}

/// What rounding an exact f64, not NaN, to format `D` raises.
pub(crate) fn narrowing<D: Float>(rules: Rules, x: f64) -> Exceptions {
    let source = soft::<<f64 as Float>::Soft>(u128::from(x.to_bits()));
    let StatusAnd { status, .. }: StatusAnd<IeeeFloat<D::Soft>> = source.convert_r(apf(rules.round), &mut false);
    let wide = soft::<D::Wide>(convert::<<f64 as Float>::Soft, D::Wide>(u128::from(x.to_bits()), rules.round));
    outcome::<D>(status, wide).exceptions(rules.flush_out)
}

/// What a conversion between formats raises.
pub(crate) fn conversion<S: Float, D: Float>(from: Rules, to: Rules, x: S) -> Exceptions {
    let (seen, x) = (sources(&[x]), flush(from.flush_in, x));
    if x.is_nan() { seen } else { seen | narrowing::<D>(to, x.to_f64()) }
}

/// What a conversion to an integer raises that is `rounded` and has to be in `low..=high`.
pub(crate) fn to_integer<T: Float>(flush_in: bool, x: T, round: fn(f64) -> f64, low: f64, high: f64) -> Exceptions {
    let (seen, number) = (sources(&[x]), flush(flush_in, x).to_f64());
    let rounded = round(number);
    if x.is_nan() || rounded < low || rounded > high {
        return seen | Exceptions::INVALID;
    }
    seen | when(rounded != number, Exceptions::INEXACT)
}

/// The functions that the hardware approximates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Rcp,
    Rsq,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
}

impl Function {
    /// What an argument, not NaN, raises whose result is no rounded number; `None` if it is one.
    fn special<T: Float>(self, x: T) -> Option<Exceptions> {
        use Function::{Cos, Exp, Log, Rcp, Rsq, Sin, Sqrt};
        match self {
            Rcp | Rsq | Log if x.is_zero() => Some(Exceptions::DIVIDE_BY_ZERO),
            Rsq | Sqrt | Log if x.sign() && !x.is_zero() => Some(Exceptions::INVALID),
            Sin | Cos if x.is_infinite() => Some(Exceptions::INVALID),
            // Out of the documented range the result is a constant.
            Sin | Cos if x.to_f64().abs() > 256.0 => Some(Exceptions::NONE),
            Rcp | Rsq | Sqrt | Exp | Log if x.is_infinite() => Some(Exceptions::NONE),
            _ => None,
        }
    }

    /// Whether the function of a finite x is a binary fraction: of x = ± odd · 2^exponent.
    fn is_exact<T: Float>(self, x: T) -> bool {
        let Some((odd, exponent)) = odd_part(x) else {
            return !matches!(self, Function::Rcp | Function::Rsq | Function::Log);
        };
        match self {
            Function::Rcp | Function::Log => odd == 1,
            Function::Rsq => odd == 1 && exponent % 2 == 0,
            Function::Sqrt => exponent % 2 == 0 && odd.isqrt().pow(2) == odd,
            Function::Exp => exponent >= 0,
            Function::Sin | Function::Cos => exponent >= -2,
        }
    }
}

/// The odd integer and the power of two that make a finite number's magnitude; `None` for zero.
fn odd_part<T: Float>(x: T) -> Option<(u64, i32)> {
    if x.is_zero() {
        return None;
    }
    let field = x.magnitude() >> T::MANTISSA;
    let fraction = x.magnitude() & (T::MIN_NORMAL - 1);
    let significand = if field == 0 { fraction } else { fraction | T::MIN_NORMAL };
    let unit = T::MIN_EXPONENT - T::MANTISSA as i32 + field.max(1) as i32 - 1;
    let zeros = significand.trailing_zeros();
    Some((significand >> zeros, unit + zeros as i32))
}

/// What `function` raises, whose value at `x` is `result` before it is flushed by `rules`.
pub(crate) fn approximated<T: Float>(function: Function, rules: Rules, x: T, result: T) -> Exceptions {
    let (seen, x) = (sources(&[x]), flush(rules.flush_in, x));
    if x.is_nan() {
        return seen;
    }
    if let Some(special) = function.special(x) {
        return seen | special;
    }
    // A power of two may have been too small for the format.
    let vanished = function == Function::Exp && result.is_zero();
    let inexact = !function.is_exact(x) || vanished;
    let tiny = result.magnitude() < T::MIN_NORMAL && (inexact || !result.is_zero());
    seen | Outcome { overflow: result.is_infinite(), inexact, tiny }.exceptions(rules.flush_out)
}

/// The same of an f16 whose `result` is still an f32.
pub(crate) fn approximated_f16(function: Function, rules: Rules, x: f16, result: f32) -> Exceptions {
    let (seen, x) = (sources(&[x]), flush(rules.flush_in, x));
    if x.is_nan() {
        return seen;
    }
    if let Some(special) = function.special(x) {
        return seen | special;
    }
    let narrowed = |flush_out| narrowing::<f16>(Rules { flush_out, ..rules }, f64::from(result));
    let vanished = function == Function::Exp && result == 0.0;
    let inexact = !function.is_exact(x) || vanished || narrowed(false).contains(Exceptions::INEXACT);
    // With results flushed, whatever is tiny underflows.
    let tiny = narrowed(true).contains(Exceptions::UNDERFLOW) || inexact && result == 0.0;
    let overflow = narrowed(false).contains(Exceptions::OVERFLOW) || result.is_infinite();
    seen | Outcome { overflow, inexact, tiny }.exceptions(rules.flush_out)
}
