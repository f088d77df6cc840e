//! The floating-point environment of translated code: MXCSR plays MODE.
//!
//! SSE rounds, flushes results (after rounding, FTZ) and reads denormal sources as zero (DAZ) exactly as
//! `gcnjit_rt` defines these for the guest, so each [`Fenv`] is one value of MXCSR. Translated blocks start and
//! end in the environment of f32; around work that needs another one the lowering switches.

use crate::lane::Fenv;
use gcnjit_rt::{Denormals, Mode, Round};

/// All exceptions masked, nearest-even, denormals kept: what Rust code expects.
pub const HOST: u32 = 0x1f80;

/// The bits of MXCSR that say what has happened, not what is to happen.
pub const FLAGS: u32 = 0x3f;

/// MXCSR of the environment under `mode`.
pub fn mxcsr(mode: Mode, fenv: Fenv) -> u32 {
    match fenv {
        Fenv::Any | Fenv::F32 => word(mode.round32(), mode.denormals32()),
        Fenv::F64 => word(mode.round64(), mode.denormals64()),
        Fenv::F64Keep => word(mode.round64(), Denormals { flush_out: false, ..mode.denormals64() }),
        Fenv::Flush => word(mode.round32(), Denormals { flush_in: true, flush_out: true }),
    }
}

/// How a format is rounded and flushed, as libcalls take it: rounding in bits 0 and 1, flush_in in bit 2, flush_out in
/// bit 3.
pub fn rules(round: Round, denormals: Denormals) -> u32 {
    round as u32 | u32::from(denormals.flush_in) << 2 | u32::from(denormals.flush_out) << 3
}

fn word(round: Round, denormals: Denormals) -> u32 {
    let control = match round {
        Round::NearestEven => 0,
        Round::Down => 1,
        Round::Up => 2,
        Round::Zero => 3,
    };
    HOST | control << 13 | u32::from(denormals.flush_in) << 6 | u32::from(denormals.flush_out) << 15
}
