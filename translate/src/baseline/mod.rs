//! A baseline compiler for scalar code: CLIF to x86-64 in a few passes, for functions that call the wider back end's.
//!
//! Cranelift's register allocation takes longer than all other stages together, and what it allocates for here is a
//! few scalars between calls. So values get a register or a place in the frame for as long as they live ([`allocate`]), of
//! which is known from two looks at the function, from its end for who reads what ([`uses`]) and from its start for the
//! rest ([`values`]), and each instruction is made for itself, or as a part of the one that reads it ([`select`]). What it
//! means is CLIF's to say: `lower` makes the same function for both compilers. One with something that is not among
//! what scalar code mostly consists of (comparisons of floats, loops over vectors) is Cranelift's.
//!
//! The upper bits of a register that has less than 64 bits of a value may be anything, unless [`values`] says that they are 0.

mod allocate;
mod emit;
mod floats;
mod select;
#[cfg(test)]
mod tests;
mod uses;
mod values;

use crate::x64::Gpr;
use allocate::Places;
use cranelift_codegen::ir::{Function, SourceLoc};
use std::ops::Range;
use std::sync::OnceLock;
use values::Values;

/// Where functions find their arguments.
const ARGUMENTS: [Gpr; 6] = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::Rcx, Gpr::R8, Gpr::R9];

/// The code of a function, which begins with its first instruction.
pub struct Code {
    /// Instructions and tables.
    pub bytes: Vec<u8>,
    /// Which of them were made for which source location, in order.
    pub places: Vec<(Range<u32>, SourceLoc)>,
}

/// Whether this host runs what is made.
pub fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(detect)
}

#[cfg(all(target_arch = "x86_64", not(windows)))]
fn detect() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(not(all(target_arch = "x86_64", not(windows))))]
fn detect() -> bool {
    false
}

/// Compiles a function of the System V ABI. There is no answer if it has something that has to be left to Cranelift.
pub fn compile(func: &Function) -> Option<Code> {
    let values = Values::of(func)?;
    let places = Places::of(func, &values)?;
    emit::function(func, &values, &places)
}
