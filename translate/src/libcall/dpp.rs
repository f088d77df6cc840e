//! DPP: source 0 of an instruction comes from other lanes, by a pattern that is a control's.

use super::RowCall;
use super::functions::dpp_source;
use std::sync::LazyLock;

/// The libcall for each level of the host: every lane's dword from its source lane, 0 where there is none.
#[cfg(target_arch = "x86_64")]
pub const FORMS: [RowCall; 3] = [portable, portable, avx512];
#[cfg(not(target_arch = "x86_64"))]
pub const FORMS: [RowCall; 3] = [portable; 3];

/// # Safety
/// The first two pointers are distinct valid rows of dwords.
unsafe extern "C" fn portable(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, ctrl: u64) {
    // SAFETY: the caller's contract.
    let (d, a) = unsafe { (&mut *d.cast::<[u32; 64]>(), &*a.cast::<[u32; 64]>()) };
    let mut padded = [0; 128];
    padded[..64].copy_from_slice(a);
    for (d, source) in d.iter_mut().zip(DppPattern::of(ctrl as u16).sources) {
        *d = padded[usize::from(source & 127)];
    }
}

/// # Safety
/// As `portable`, and the host has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn avx512(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, ctrl: u64) {
    use std::arch::x86_64::*;
    let DppPattern { sources, valid } = DppPattern::of(ctrl as u16);
    // SAFETY: sixteen dwords from 16·i are inside of the rows, sixteen bytes inside of the sources.
    unsafe {
        let row: [__m512i; 4] = std::array::from_fn(|i| _mm512_loadu_si512(a.cast::<u32>().add(16 * i).cast()));
        for i in 0..4 {
            let from = _mm512_cvtepu8_epi32(_mm_loadu_si128(sources.as_ptr().add(16 * i).cast()));
            let low = _mm512_permutex2var_epi32(row[0], from, row[1]);
            let high = _mm512_permutex2var_epi32(row[2], from, row[3]);
            let upper = _mm512_test_epi32_mask(from, _mm512_set1_epi32(32));
            let moved = _mm512_mask_blend_epi32(upper, low, high);
            let moved = _mm512_maskz_mov_epi32((valid >> (16 * i)) as u16, moved);
            _mm512_storeu_si512(d.cast::<u32>().add(16 * i).cast(), moved);
        }
    }
}

/// The lanes whose source lane under DPP control `ctrl` exists and is active.
pub fn valid_lanes(exec: u64, ctrl: u16) -> u64 {
    let pattern = DppPattern::of(ctrl);
    if exec == u64::MAX {
        return pattern.valid;
    }
    let active = |(lane, source): (usize, &u8)| (exec >> (source & 63) & 1) << lane;
    pattern.sources.iter().enumerate().map(active).fold(0, |mask, bit| mask | bit) & pattern.valid
}

/// A DPP control, lane by lane.
struct DppPattern {
    /// Source lanes; 64 where there is none.
    sources: [u8; 64],
    /// Lanes that have one.
    valid: u64,
}

impl DppPattern {
    const CONTROLS: u16 = 512;

    fn of(ctrl: u16) -> &'static DppPattern {
        static PATTERNS: LazyLock<Vec<DppPattern>> =
            LazyLock::new(|| (0..DppPattern::CONTROLS).map(DppPattern::new).collect());
        &PATTERNS[usize::from(ctrl % DppPattern::CONTROLS)]
    }

    fn new(ctrl: u16) -> DppPattern {
        let source = |lane| dpp_source(ctrl, lane);
        let sources = std::array::from_fn(|lane| source(lane).map_or(64, |source| source as u8));
        let valid = (0..64).filter(|lane| source(*lane).is_some()).fold(0, |mask, lane| mask | 1 << lane);
        DppPattern { sources, valid }
    }
}

#[cfg(test)]
mod tests {
    use super::{DppPattern, FORMS, dpp_source};
    use crate::libcall::detected;

    #[test]
    fn every_lane_gets_the_dword_of_its_source() {
        let row: [u32; 64] = std::array::from_fn(|lane| lane as u32 + 1);
        for ctrl in 0..DppPattern::CONTROLS {
            let want: [u32; 64] = std::array::from_fn(|lane| dpp_source(ctrl, lane).map_or(0, |source| row[source]));
            for form in &FORMS[..=detected() as usize] {
                let mut moved = [u32::MAX; 64];
                let a = row.as_ptr().cast();
                // SAFETY: both are rows of dwords; the host has what the form needs, as its level was detected.
                unsafe { form(moved.as_mut_ptr().cast(), a, a, a, ctrl.into()) };
                assert_eq!(moved, want, "{ctrl:#x}");
            }
        }
    }
}
