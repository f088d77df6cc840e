//! Libcalls: what translated code calls in the host.
//!
//! A libcall on rows works on 64 lanes at once: `fn(result, a, b, c, immediate)`, each pointer a row of 64 values of
//! 32 or 64 bits; unused ones repeat the result. It exists compiled for AVX-512, for AVX2 and portably; the level is
//! chosen once, when the first kernel is translated. A libcall on uniform values is
//! `fn(u64, u64, u64, immediate) -> u64`.
//!
//! Translated code runs with the guest's MXCSR. Libcalls that do float arithmetic run under the host's (see
//! [`enter_host_fenv`]); all others do none.

pub mod division;
mod dpp;
mod flags;
pub mod functions;
pub mod half;
pub mod packed;
pub mod raise;
mod table;
#[cfg(test)]
mod tests;
pub mod unary;

pub(crate) use functions::dpp_source;
pub use table::{RowOp, TABLE, UNIFORM_NAMES, UNIFORM_TABLE, UniformOp};

use crate::fenv;
use crate::jit::Context;
use crate::pass::scalar_loads::ScalarLoads;
use gcnjit_rt::parameter::{self, Area, Parameter};
use gcnjit_rt::{LANES, Row, Wave};
use std::arch::asm;
use std::sync::OnceLock;

/// The type of a libcall on rows.
pub type RowCall = unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8, u64);

/// The type of a libcall on uniform values.
pub type UniformCall = extern "C" fn(u64, u64, u64, u64) -> u64;

/// What the host's vector units can do.
#[allow(missing_docs, reason = "the names of the extensions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Portable,
    Avx2,
    Avx512,
}

impl Level {
    /// The best level of this host, or the one that `GCNJIT_LEVEL` (portable, avx2, avx512) forces below it.
    pub fn of_host() -> Level {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let host = detected();
            match std::env::var("GCNJIT_LEVEL").as_deref() {
                Ok("portable") => Level::Portable,
                Ok("avx2") if host != Level::Portable => Level::Avx2,
                _ => host,
            }
        })
    }
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd")
    {
        Level::Avx512
    } else if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        Level::Avx2
    } else {
        Level::Portable
    }
}

/// A libcall on rows in its three forms.
pub struct Helper {
    /// For listings.
    pub name: &'static str,
    forms: [RowCall; 3],
}

impl Helper {
    /// The form for this host.
    pub fn address(&self) -> usize {
        self.forms[Level::of_host() as usize] as *const () as usize
    }
}

/// Sets MXCSR. Called by translated code, around float work in another environment.
pub extern "C" fn set_mxcsr(word: u32) {
    // SAFETY: every value that reaches this masks all exceptions, so no instruction traps because of it; code that
    // runs under it is translated code or does no float arithmetic.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly)) }
}

/// Reads MXCSR.
pub fn mxcsr() -> u32 {
    let mut word = 0u32;
    // SAFETY: stores to the local only.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) }
    word
}

/// Sets the environment Rust expects; the result is the one to go back to.
pub fn enter_host_fenv() -> u32 {
    let guest = mxcsr();
    set_mxcsr(fenv::HOST);
    guest
}

/// The type of [`blend`]'s functions.
pub type Blend = unsafe extern "C" fn(*mut u32, *const u32, u64);

/// The function that copies the lanes of `mask` from one row to another: `fn(to, from, mask)`. Both are valid rows of
/// dwords, the same or disjoint.
pub fn blend() -> Blend {
    #[cfg(target_arch = "x86_64")]
    if Level::of_host() == Level::Avx512 {
        return blend_512;
    }
    blend_portable
}

/// # Safety
/// As [`blend`] says.
unsafe extern "C" fn blend_portable(to: *mut u32, from: *const u32, mask: u64) {
    for lane in 0..64 {
        if mask >> lane & 1 != 0 {
            // SAFETY: the caller's contract; lane < 64.
            unsafe { *to.add(lane) = *from.add(lane) };
        }
    }
}

/// # Safety
/// As [`blend`] says, and the host has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn blend_512(to: *mut u32, from: *const u32, mask: u64) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_mask_loadu_epi32, _mm512_storeu_si512};
    for chunk in 0..4 {
        // SAFETY: sixteen dwords from 16·chunk are inside of both rows.
        unsafe {
            let (to, from) = (to.add(16 * chunk), from.add(16 * chunk));
            // Whole: what a masked store writes is not forwarded to the loads behind it.
            let old = _mm512_loadu_si512(to.cast());
            _mm512_storeu_si512(to.cast(), _mm512_mask_loadu_epi32(old, (mask >> (16 * chunk)) as u16, from.cast()));
        }
    }
}

/// The type of [`copy`]'s functions.
pub type RowCopy = unsafe extern "C" fn(*mut u32, *const u32);

/// The function that copies a row: `fn(to, from)`. Both are valid rows of dwords, and disjoint.
pub fn copy() -> RowCopy {
    #[cfg(target_arch = "x86_64")]
    if Level::of_host() == Level::Avx512 {
        return copy_512;
    }
    copy_portable
}

/// # Safety
/// As [`copy`] says.
unsafe extern "C" fn copy_portable(to: *mut u32, from: *const u32) {
    // SAFETY: the caller's contract.
    unsafe { to.copy_from_nonoverlapping(from, LANES) };
}

/// # Safety
/// As [`copy`] says, and the host has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn copy_512(to: *mut u32, from: *const u32) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};
    for chunk in 0..4 {
        // SAFETY: sixteen dwords from 16·chunk are inside of both rows.
        unsafe { _mm512_storeu_si512(to.add(16 * chunk).cast(), _mm512_loadu_si512(from.add(16 * chunk).cast())) };
    }
}

/// A row of dwords from LDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LdsRow {
    /// LDS_DIRECT: the same dword for all lanes.
    Direct,
    /// A vertex parameter.
    Parameter {
        /// The attribute, below 64.
        attribute: u8,
        /// Its channel, 0 to 3.
        channel: u8,
        /// Which.
        parameter: Parameter,
    },
}

impl LdsRow {
    /// As a number that nodes hold.
    pub fn bits(self) -> u32 {
        match self {
            LdsRow::Direct => 0,
            LdsRow::Parameter { attribute, channel, parameter } => {
                u32::from(attribute) << 8 | u32::from(channel) << 4 | (1 + parameter as u32)
            }
        }
    }

    /// The row of such a number.
    fn of(bits: u32) -> LdsRow {
        match (bits & 15).checked_sub(1).and_then(Parameter::numbered) {
            None => LdsRow::Direct,
            Some(parameter) => {
                let (attribute, channel) = ((bits >> 8) as u8, (bits >> 4 & 3) as u8);
                LdsRow::Parameter { attribute, channel, parameter }
            }
        }
    }
}

/// Fills a row from LDS; `what` are the bits of a [`LdsRow`].
///
/// # Safety
/// `row` is a valid row of dwords, and `context` the one that the translated code was called with.
pub unsafe extern "C" fn lds_row(row: *mut Row, context: *const Context<'_>, m0: u32, what: u32) {
    // SAFETY: the caller's contract; translated code holds no references.
    let (row, lds) = unsafe { (&mut *row, (*context).env.lds) };
    *row = match LdsRow::of(what) {
        LdsRow::Direct => [parameter::direct(lds, m0); LANES],
        LdsRow::Parameter { attribute, channel, parameter } => Area(m0).row(lds.whole(), attribute, channel, parameter),
    };
}

/// A memory access of translated code; the result is not 0 if it faulted.
///
/// # Safety
/// `wave` and `context` are those that the translated code was called with, and `access` one of its unit's.
pub unsafe extern "C" fn access(
    wave: *mut Wave,
    context: *mut Context<'_>,
    access: *const crate::access::Access,
    site: u32,
) -> u32 {
    // SAFETY: the caller's contract; translated code holds no references, so these are unique while the call lasts.
    let (wave, context, access) = unsafe { (&mut *wave, &mut *context, &*access) };
    let site = match access.is_in_scratch(wave) {
        true => &mut *context.scratch,
        false => &mut context.sites[site as usize],
    };
    match access.run(wave, context.env, site) {
        Ok(()) => 0,
        Err(bad) => {
            wave.pc = access.pc;
            context.bad = Some(bad);
            1
        }
    }
}

/// Scalar loads, up to the first that faults. If all their bytes are in one allocation, the next ones from there need not
/// come here.
///
/// # Safety
/// As [`access`], for `loads`, which begin with `first` and its site.
pub unsafe extern "C" fn scalar_loads(
    wave: *mut Wave,
    context: *mut Context<'_>,
    loads: *const ScalarLoads,
    first: *const crate::access::Access,
    site: u32,
) -> u32 {
    let count = {
        // SAFETY: the caller's contract; translated code holds no references, so these are unique in this block.
        let (wave, context, loads) = unsafe { (&*wave, &mut *context, &*loads) };
        context.sites[site as usize].prove(context.env, loads.address(wave), loads.bytes());
        loads.loads.len()
    };
    // SAFETY: the caller's contract.
    let faults = |i: usize| unsafe { access(wave, context, first.add(i), site + i as u32) } != 0;
    u32::from((0..count).any(faults))
}
