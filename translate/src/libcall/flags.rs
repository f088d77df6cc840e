//! What the host's instructions say of their operands: each is executed under a rounding mode with MXCSR's sticky flags
//! clear, and comes back with its result and the flags it raised. Denormals are kept.
//!
//! The flags are in the order of TRAPSTS.EXCP. The one for denormal operands is left out: the host does not set it in all
//! cases in which the guest would.

use super::functions::Rules;
use crate::fenv;
use std::arch::asm;

/// Flags that mean the same for the guest.
const HOST: u32 = fenv::FLAGS & !2;

/// Whether the host has the fused instructions.
pub(super) fn has_fused() -> bool {
    is_x86_feature_detected!("fma")
}

/// MXCSR for a guest's rounding, with all flags clear and nothing flushed.
fn control(rules: Rules) -> u32 {
    fenv::HOST | [0, 2, 1, 3][(rules & 3) as usize] << 13
}

/// Defines functions of one instruction on `x` (and more) that return its result and the flags it raised.
macro_rules! host {
    ($($name:ident($x:ident $(, $more:ident)*: $ty:ty) $text:literal;)*) => { $(
        pub(super) fn $name(rules: Rules, $x: $ty $(, $more: $ty)*) -> ($ty, u32) {
            let mut result = $x;
            let (mut word, host) = (control(rules), fenv::HOST);
            // SAFETY: the instructions work on registers; MXCSR, in which all exceptions are masked, is what it was
            // afterwards. Callers of the fused ones have seen that the host has them.
            unsafe {
                asm!(
                    "ldmxcsr [{word}]",
                    $text,
                    "stmxcsr [{word}]",
                    "ldmxcsr [{host}]",
                    $x = inout(xmm_reg) result,
                    $($more = in(xmm_reg) $more,)*
                    word = in(reg) &raw mut word,
                    host = in(reg) &raw const host,
                    options(nostack),
                );
            }
            (result, word & HOST)
        }
    )* };
}

host! {
    add_f32(x, y: f32) "addss {x}, {y}";
    add_f64(x, y: f64) "addsd {x}, {y}";
    mul_f32(x, y: f32) "mulss {x}, {y}";
    mul_f64(x, y: f64) "mulsd {x}, {y}";
    div_f32(x, y: f32) "divss {x}, {y}";
    div_f64(x, y: f64) "divsd {x}, {y}";
    fma_f32(x, y, z: f32) "vfmadd213ss {x}, {y}, {z}";
    fma_f64(x, y, z: f64) "vfmadd213sd {x}, {y}, {z}";
    sqrt_f32(x: f32) "sqrtss {x}, {x}";
    sqrt_f64(x: f64) "sqrtsd {x}, {x}";
}

/// An f64 to f32, as above.
pub(super) fn narrow_f32(rules: Rules, x: f64) -> (f32, u32) {
    let mut result = 0.0_f32;
    let (mut word, host) = (control(rules), fenv::HOST);
    // SAFETY: as above.
    unsafe {
        asm!(
            "ldmxcsr [{word}]",
            "cvtsd2ss {result}, {x}",
            "stmxcsr [{word}]",
            "ldmxcsr [{host}]",
            result = inout(xmm_reg) result,
            x = in(xmm_reg) x,
            word = in(reg) &raw mut word,
            host = in(reg) &raw const host,
            options(nostack),
        );
    }
    (result, word & HOST)
}

/// An f64 to an integer of 64 bits, as above.
pub(super) fn integer(rules: Rules, x: f64) -> (i64, u32) {
    let (mut word, host, result) = (control(rules), fenv::HOST, &mut 0_i64);
    // SAFETY: as above.
    unsafe {
        asm!(
            "ldmxcsr [{word}]",
            "cvtsd2si {result}, {x}",
            "stmxcsr [{word}]",
            "ldmxcsr [{host}]",
            result = out(reg) *result,
            x = in(xmm_reg) x,
            word = in(reg) &raw mut word,
            host = in(reg) &raw const host,
            options(nostack),
        );
    }
    (*result, word & HOST)
}
