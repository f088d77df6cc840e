//! Questions about all 64 lanes of a row, answered as a lane mask, and stores and blends under one.
//!
//! A [`Level`] is a set of host instructions. Code that is generic over it is instantiated once for each level inside
//! of a function that enables the level's features (see the macro `levels`), and chosen by [`host`]. Results do not
//! depend on the level.

use gcnjit_rt::Row;
use std::sync::OnceLock;

/// What the host can do, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Avx512,
    Avx2,
    Portable,
}

/// The level to use in this process.
pub(super) fn host() -> Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    *HOST.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Host {
    use crate::libcall::Level;
    let level = Level::of_host();
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
    let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    let more = is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512dq");
    match (avx2 && level != Level::Portable, avx512 && more && level == Level::Avx512) {
        (true, true) => Host::Avx512,
        (true, false) => Host::Avx2,
        _ => Host::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Host {
    Host::Portable
}

/// Makes `$pick`, which returns the instance of the generic `$body` for the host.
macro_rules! levels {
    ($(#[$doc:meta])* $vis:vis fn $pick:ident $([$($g:ident: $bound:path),*])? = $body:ident, $ty:ty,
        ($($arg:ident: $at:ty),*) -> $ret:ty) => {
        $(#[$doc])*
        $vis fn $pick $(<$($g: $bound),*>)? () -> $ty {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx512 $(<$($g: $bound),*>)? ($($arg: $at),*) -> $ret {
                // SAFETY: the features are enabled here; the rest is the caller's contract.
                unsafe { $body::<$crate::access::lanes::Avx512 $($(, $g)*)?>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2 $(<$($g: $bound),*>)? ($($arg: $at),*) -> $ret {
                // SAFETY: the features are enabled here; the rest is the caller's contract.
                unsafe { $body::<$crate::access::lanes::Avx2 $($(, $g)*)?>($($arg),*) }
            }
            unsafe fn portable $(<$($g: $bound),*>)? ($($arg: $at),*) -> $ret {
                // SAFETY: this level needs no features; the rest is the caller's contract.
                unsafe { $body::<$crate::access::lanes::Portable $($(, $g)*)?>($($arg),*) }
            }
            match $crate::access::lanes::host() {
                #[cfg(target_arch = "x86_64")]
                $crate::access::lanes::Host::Avx512 => avx512 $(::<$($g),*>)?,
                #[cfg(target_arch = "x86_64")]
                $crate::access::lanes::Host::Avx2 => avx2 $(::<$($g),*>)?,
                _ => portable $(::<$($g),*>)?,
            }
        }
    };
}
pub(super) use levels;

/// A set of host instructions.
///
/// # Safety
/// Every function may only be called where the level's features are enabled.
pub(super) trait Level {
    /// Lanes whose dword is not `value`.
    unsafe fn not_equal(row: &Row, value: u32) -> u64;
    /// Whether every dword is `first + i * step`, modulo 2³².
    unsafe fn affine(row: &Row, first: u32, step: u32) -> bool;
    /// Lanes `i` whose dword is not `first + i * step`, modulo 2³².
    unsafe fn not_affine(row: &Row, first: u32, step: u32) -> u64;
    /// Lanes whose dword is not in `start..=start + span`.
    unsafe fn outside(row: &Row, start: u32, span: u32) -> u64;
    /// Lanes for which `(dword + add) & bits` is not zero.
    unsafe fn misaligned(row: &Row, add: u32, bits: u32) -> u64;
    /// Lane `i` of `to` becomes lane `from[i]`, modulo 64, of `row`.
    unsafe fn permute(to: &mut Row, row: &Row, from: &Row);
    /// Copies the lanes of `mask` from `from` to `to`.
    unsafe fn blend(to: &mut Row, from: &Row, mask: u64);
    /// Writes the dwords of the lanes of `mask` to `to + i * 4`.
    ///
    /// # Safety
    /// Those dwords may be written; they need not be aligned.
    unsafe fn store(to: *mut u8, row: &Row, mask: u64);
}

/// Plain Rust.
pub(super) struct Portable;

impl Level for Portable {
    #[inline(always)]
    unsafe fn not_equal(row: &Row, value: u32) -> u64 {
        mask(|i| row[i] != value)
    }

    #[inline(always)]
    unsafe fn affine(row: &Row, first: u32, step: u32) -> bool {
        let mut differ = 0;
        for (i, x) in row.iter().enumerate() {
            differ |= x ^ first.wrapping_add(step.wrapping_mul(i as u32));
        }
        differ == 0
    }

    #[inline(always)]
    unsafe fn not_affine(row: &Row, first: u32, step: u32) -> u64 {
        mask(|i| row[i] != first.wrapping_add(step.wrapping_mul(i as u32)))
    }

    #[inline(always)]
    unsafe fn outside(row: &Row, start: u32, span: u32) -> u64 {
        mask(|i| row[i].wrapping_sub(start) > span)
    }

    #[inline(always)]
    unsafe fn misaligned(row: &Row, add: u32, bits: u32) -> u64 {
        mask(|i| row[i].wrapping_add(add) & bits != 0)
    }

    #[inline(always)]
    unsafe fn permute(to: &mut Row, row: &Row, from: &Row) {
        for i in 0..64 {
            to[i] = row[(from[i] & 63) as usize];
        }
    }

    #[inline(always)]
    unsafe fn blend(to: &mut Row, from: &Row, mask: u64) {
        for i in 0..64 {
            let keep = ((mask >> i & 1) as u32).wrapping_sub(1);
            to[i] = to[i] & keep | from[i] & !keep;
        }
    }

    #[inline(always)]
    unsafe fn store(to: *mut u8, row: &Row, mask: u64) {
        for i in each(mask) {
            // SAFETY: the caller vouches for the dwords of the lanes of `mask`.
            unsafe { to.wrapping_add(i * 4).cast::<u32>().write_unaligned(row[i]) };
        }
    }
}

#[inline(always)]
fn mask(mut test: impl FnMut(usize) -> bool) -> u64 {
    let mut result = 0;
    for i in 0..64 {
        result |= u64::from(test(i)) << i;
    }
    result
}

/// The lanes of `mask`, lowest first.
#[inline(always)]
pub(super) fn each(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < 64).then_some(lane)
    })
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Level, Portable, Row};
    use std::arch::x86_64::*;

    /// AVX2, BMI1 and BMI2.
    pub(in crate::access) struct Avx2;

    /// The bits of the lanes for which `same` gives zero.
    ///
    /// # Safety
    /// AVX2 is enabled; `row` is read within its bounds.
    #[inline(always)]
    unsafe fn bits8(row: &Row, mut same: impl FnMut(__m256i) -> __m256i) -> u64 {
        let mut result = 0u64;
        for i in 0..8 {
            // SAFETY: eight dwords from 8·i are inside of the row, and the caller enabled AVX2.
            unsafe {
                let v = _mm256_loadu_si256(row.as_ptr().add(i * 8).cast());
                let bits = _mm256_movemask_ps(_mm256_castsi256_ps(same(v))) as u8;
                result |= u64::from(!bits) << (i * 8);
            }
        }
        result
    }

    impl Level for Avx2 {
        #[inline(always)]
        unsafe fn not_equal(row: &Row, value: u32) -> u64 {
            // SAFETY: the caller enabled AVX2.
            unsafe {
                let value = _mm256_set1_epi32(value as i32);
                bits8(row, |v| _mm256_cmpeq_epi32(v, value))
            }
        }

        #[inline(always)]
        unsafe fn affine(row: &Row, first: u32, step: u32) -> bool {
            // SAFETY: plain Rust.
            unsafe { Portable::affine(row, first, step) }
        }

        #[inline(always)]
        unsafe fn not_affine(row: &Row, first: u32, step: u32) -> u64 {
            // SAFETY: the caller enabled AVX2.
            unsafe {
                let lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                let ramp = _mm256_mullo_epi32(lane, _mm256_set1_epi32(step as i32));
                let mut want = _mm256_add_epi32(ramp, _mm256_set1_epi32(first as i32));
                let next = _mm256_set1_epi32(step.wrapping_mul(8) as i32);
                bits8(row, |v| {
                    let same = _mm256_cmpeq_epi32(v, want);
                    want = _mm256_add_epi32(want, next);
                    same
                })
            }
        }

        #[inline(always)]
        unsafe fn outside(row: &Row, start: u32, span: u32) -> u64 {
            // SAFETY: the caller enabled AVX2.
            unsafe {
                let start = _mm256_set1_epi32(start as i32);
                let span = _mm256_set1_epi32(span as i32);
                bits8(row, |v| {
                    let at = _mm256_sub_epi32(v, start);
                    _mm256_cmpeq_epi32(_mm256_min_epu32(at, span), at)
                })
            }
        }

        #[inline(always)]
        unsafe fn misaligned(row: &Row, add: u32, bits: u32) -> u64 {
            // SAFETY: the caller enabled AVX2.
            unsafe {
                let (add, bits) = (_mm256_set1_epi32(add as i32), _mm256_set1_epi32(bits as i32));
                let zero = _mm256_setzero_si256();
                bits8(row, |v| _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_add_epi32(v, add), bits), zero))
            }
        }

        #[inline(always)]
        unsafe fn permute(to: &mut Row, row: &Row, from: &Row) {
            // SAFETY: plain Rust.
            unsafe { Portable::permute(to, row, from) };
        }

        #[inline(always)]
        unsafe fn blend(to: &mut Row, from: &Row, mask: u64) {
            // SAFETY: plain Rust.
            unsafe { Portable::blend(to, from, mask) };
        }

        #[inline(always)]
        unsafe fn store(to: *mut u8, row: &Row, mask: u64) {
            // SAFETY: the caller's contract is the same.
            unsafe { Portable::store(to, row, mask) };
        }
    }

    /// AVX-512 F, BW, VL and DQ.
    pub(in crate::access) struct Avx512;

    /// Collects the masks that `test` gives for the four vectors of a row.
    ///
    /// # Safety
    /// AVX-512 is enabled.
    #[inline(always)]
    unsafe fn bits16(row: &Row, mut test: impl FnMut(__m512i) -> u16) -> u64 {
        let mut result = 0u64;
        for i in 0..4 {
            // SAFETY: sixteen dwords from 16·i are inside of the row, and the caller enabled AVX-512.
            let v = unsafe { _mm512_loadu_si512(row.as_ptr().add(i * 16).cast()) };
            result |= u64::from(test(v)) << (i * 16);
        }
        result
    }

    impl Level for Avx512 {
        #[inline(always)]
        unsafe fn not_equal(row: &Row, value: u32) -> u64 {
            // SAFETY: the caller enabled AVX-512.
            unsafe {
                let value = _mm512_set1_epi32(value as i32);
                bits16(row, |v| _mm512_cmpneq_epi32_mask(v, value))
            }
        }

        #[inline(always)]
        unsafe fn affine(row: &Row, first: u32, step: u32) -> bool {
            // SAFETY: the caller enabled AVX-512; sixteen dwords from 16·i are inside of the row.
            unsafe {
                let lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let ramp = _mm512_mullo_epi32(lane, _mm512_set1_epi32(step as i32));
                let mut want = _mm512_add_epi32(ramp, _mm512_set1_epi32(first as i32));
                let next = _mm512_set1_epi32(step.wrapping_mul(16) as i32);
                let mut differ = _mm512_setzero_si512();
                for i in 0..4 {
                    let v = _mm512_loadu_si512(row.as_ptr().add(i * 16).cast());
                    differ = _mm512_or_si512(differ, _mm512_xor_si512(v, want));
                    want = _mm512_add_epi32(want, next);
                }
                _mm512_test_epi32_mask(differ, differ) == 0
            }
        }

        #[inline(always)]
        unsafe fn not_affine(row: &Row, first: u32, step: u32) -> u64 {
            // SAFETY: the caller enabled AVX-512.
            unsafe {
                let lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let ramp = _mm512_mullo_epi32(lane, _mm512_set1_epi32(step as i32));
                let mut want = _mm512_add_epi32(ramp, _mm512_set1_epi32(first as i32));
                let next = _mm512_set1_epi32(step.wrapping_mul(16) as i32);
                bits16(row, |v| {
                    let differ = _mm512_cmpneq_epi32_mask(v, want);
                    want = _mm512_add_epi32(want, next);
                    differ
                })
            }
        }

        #[inline(always)]
        unsafe fn outside(row: &Row, start: u32, span: u32) -> u64 {
            // SAFETY: the caller enabled AVX-512.
            unsafe {
                let start = _mm512_set1_epi32(start as i32);
                let span = _mm512_set1_epi32(span as i32);
                bits16(row, |v| _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(v, start), span))
            }
        }

        #[inline(always)]
        unsafe fn misaligned(row: &Row, add: u32, bits: u32) -> u64 {
            // SAFETY: the caller enabled AVX-512.
            unsafe {
                let (add, bits) = (_mm512_set1_epi32(add as i32), _mm512_set1_epi32(bits as i32));
                bits16(row, |v| _mm512_test_epi32_mask(_mm512_add_epi32(v, add), bits))
            }
        }

        #[inline(always)]
        unsafe fn permute(to: &mut Row, row: &Row, from: &Row) {
            // SAFETY: the caller enabled AVX-512; sixteen dwords from 16·i are inside of the rows.
            unsafe {
                let part = |row: &Row, i: usize| _mm512_loadu_si512(row.as_ptr().add(i * 16).cast());
                let table: [__m512i; 4] = std::array::from_fn(|i| part(row, i));
                for i in 0..4 {
                    let from = part(from, i);
                    let low = _mm512_permutex2var_epi32(table[0], from, table[1]);
                    let high = _mm512_permutex2var_epi32(table[2], from, table[3]);
                    let upper = _mm512_test_epi32_mask(from, _mm512_set1_epi32(32));
                    let moved = _mm512_mask_blend_epi32(upper, low, high);
                    _mm512_storeu_si512(to.as_mut_ptr().add(i * 16).cast(), moved);
                }
            }
        }

        #[inline(always)]
        unsafe fn blend(to: &mut Row, from: &Row, mask: u64) {
            for i in 0..4 {
                // SAFETY: sixteen dwords from 16·i are inside of both rows, and the caller enabled AVX-512.
                unsafe {
                    let (to, from) = (to.as_mut_ptr().add(i * 16), from.as_ptr().add(i * 16));
                    // Whole: what a masked store writes is not forwarded to the loads behind it.
                    let old = _mm512_loadu_si512(to.cast());
                    let new = _mm512_mask_loadu_epi32(old, (mask >> (i * 16)) as u16, from.cast());
                    _mm512_storeu_si512(to.cast(), new);
                }
            }
        }

        #[inline(always)]
        unsafe fn store(to: *mut u8, row: &Row, mask: u64) {
            for i in 0..4 {
                // SAFETY: sixteen dwords from 16·i are inside of the row; the caller vouches for the dwords in memory
                // whose mask bit is set, and the others are not accessed.
                unsafe {
                    let v = _mm512_loadu_si512(row.as_ptr().add(i * 16).cast());
                    _mm512_mask_storeu_epi32(to.wrapping_add(i * 64).cast(), (mask >> (i * 16)) as u16, v);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    levels! { fn masks = all, unsafe fn(&Row) -> [u64; 4], (row: &Row) -> [u64; 4] }

    #[inline(always)]
    unsafe fn all<L: Level>(row: &Row) -> [u64; 4] {
        // SAFETY: `levels` enables the features.
        unsafe {
            [L::not_equal(row, 7), L::not_affine(row, 7, 4), L::outside(row, 3, u32::MAX - 9), L::misaligned(row, 1, 7)]
        }
    }

    levels! { fn ramp = is_ramp, unsafe fn(&Row) -> bool, (row: &Row) -> bool }

    #[inline(always)]
    unsafe fn is_ramp<L: Level>(row: &Row) -> bool {
        // SAFETY: `levels` enables the features.
        unsafe { L::affine(row, 3, 8) }
    }

    #[test]
    fn levels_agree() {
        let mut row: Row = std::array::from_fn(|i| 7 + 4 * i as u32);
        row[9] = 7;
        row[63] = 2;
        row[62] = u32::MAX;
        let scalar = [
            mask(|i| row[i] != 7),
            mask(|i| row[i] != 7 + 4 * i as u32),
            mask(|i| row[i] < 3 || row[i] > u32::MAX - 6),
            mask(|i| row[i].wrapping_add(1) & 7 != 0),
        ];
        // SAFETY: the picked functions need nothing.
        unsafe {
            assert_eq!(all::<Portable>(&row), scalar);
            assert_eq!(masks()(&row), scalar);
            for bad in 0..64 {
                let mut row: Row = std::array::from_fn(|i| 3 + 8 * i as u32);
                assert!(ramp()(&row) && is_ramp::<Portable>(&row));
                row[bad] ^= 1;
                assert!(!ramp()(&row) && !is_ramp::<Portable>(&row));
            }
        }
    }

    #[test]
    fn each_lane_once() {
        assert_eq!(each(1 << 63 | 5).collect::<Vec<_>>(), [0, 2, 63]);
        assert_eq!(each(0).count(), 0);
        assert_eq!(each(!0).count(), 64);
    }
}
