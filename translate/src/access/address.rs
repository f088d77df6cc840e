//! From addresses to a [`Spot`]: where the active lanes of an access are, proven to be inside of one range of bytes.
//!
//! The common case costs two or three passes over rows: the high dwords agree, the low dwords form a ramp or are in
//! the range. Whatever is not proven here (lanes in several allocations or apertures, out of range, bad) is left to
//! the lane-by-lane path in [`crate::access::pieces`].

use super::lanes::Level;
use gcnjit_rt::{Env, Row};
use std::mem::offset_of;
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;

/// What one thread remembers of an access between executions: the allocation that the last one hit.
///
/// It belongs to one [`gcnjit_rt::View`]: clear it (`Site::default()`) before running under another.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Site {
    start: u64,
    end: u64,
    proven: u64,
    writable: bool,
    misses: u8,
    fused_misses: u8,
    apart: u8,
    loop_misses: u8,
}

impl Default for Site {
    #[inline]
    fn default() -> Site {
        Site {
            start: 0,
            end: 0,
            proven: NOWHERE,
            writable: false,
            misses: 0,
            fused_misses: 0,
            apart: 0,
            loop_misses: 0,
        }
    }
}

/// No multiple of four.
const NOWHERE: u64 = 1;

impl Site {
    /// Where translated code finds the allocation's first address, and the one behind it. Both are 0 at first.
    pub const START: usize = offset_of!(Site, start);
    /// See [`Site::START`].
    pub const END: usize = offset_of!(Site, end);
    /// A byte, 0 if it may not be written.
    pub const WRITABLE: usize = offset_of!(Site, writable);

    /// A byte: how often in a row translated code has not found what it looks for. After a few it asks at once for
    /// what finds everything, which counts on until the byte wraps; then it tries again.
    pub const MISSES: usize = offset_of!(Site, misses);

    /// A byte: the same for a fused part that begins with the access.
    pub const FUSED_MISSES: usize = offset_of!(Site, fused_misses);

    /// A byte: the same for the iterations of a loop that is a part which begins with the access.
    pub const LOOP_MISSES: usize = offset_of!(Site, loop_misses);

    /// A byte: not 0 if lanes have been apart lately. Then a fused part does not ask whether they are side by side, and
    /// counts on until the byte wraps.
    pub const APART: usize = offset_of!(Site, apart);

    /// The multiple of four from which scalar loads may be done that begin with the access; at first there is none.
    pub const PROVEN: usize = offset_of!(Site, proven);

    /// The site of something that is always there and may be written: LDS.
    #[inline]
    pub fn of(start: u64, len: u64) -> Site {
        Site { start, end: start + len, writable: true, ..Site::default() }
    }

    /// If `bytes` from `address`, a multiple of four, are all in one range: remembers that.
    pub(crate) fn prove(&mut self, env: &Env<'_>, address: u64, bytes: Range<i64>) {
        debug_assert_eq!(address % 4, 0);
        let start = address.wrapping_add_signed(bytes.start);
        let len = (bytes.end - bytes.start) as u64;
        if self.bounds(env, start, false).is_some_and(|(_, end)| end - start >= len) {
            self.proven = address;
        }
    }

    /// Counts that translated code had to ask.
    pub(super) fn miss(&mut self) {
        self.misses = self.misses.wrapping_add(1);
    }

    /// The bounds of the range that holds `address`, if there is one and it may be accessed that way.
    #[inline(always)]
    pub(super) fn bounds(&mut self, env: &Env<'_>, address: u64, write: bool) -> Option<(u64, u64)> {
        if address < self.start || address >= self.end {
            self.refill(env, address)?;
        }
        (self.writable || !write).then_some((self.start, self.end))
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self, env: &Env<'_>, address: u64) -> Option<()> {
        let range = env.memory.find(address)?;
        *self = Site { start: range.start, end: range.end, writable: range.writable, misses: 0, ..*self };
        Some(())
    }
}

/// How the active lanes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Lane `i` at `base + i * bytes`. `whole` says that this is in range for the inactive lanes too.
    Contiguous { whole: bool },
    /// All at `base`.
    Uniform,
    /// Lane `i` at `base + row[i]`.
    Spread,
}

/// Where the active lanes of an access are. Invariant: all of their bytes may be accessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub exec: u64,
    pub base: *mut u8,
    pub shape: Shape,
    /// Spread: the offsets from `base`.
    offsets: Offsets,
}

/// Where 64 offsets are. Registers are named, not borrowed, because the mover writes others.
#[derive(Clone, Copy, Debug)]
enum Offsets {
    Vgpr(usize),
    /// A row that outlives the spot.
    Row(*const Row),
}

impl Spot {
    /// The dwords of all 64 lanes of `exec` side by side, from `base` on, if all are inside of `bounds`.
    #[inline(always)]
    pub(super) fn side_by_side(exec: u64, base: u64, bounds: (u64, u64)) -> Option<Spot> {
        let inside = base >= bounds.0 && base < bounds.1 && bounds.1 - base >= 256;
        inside.then(|| Spot::new(exec, base, Shape::Contiguous { whole: true }, Offsets::Vgpr(0)))
    }

    #[inline(always)]
    fn new(exec: u64, base: u64, shape: Shape, offsets: Offsets) -> Spot {
        Spot { exec, base: with_exposed_provenance_mut(base as usize), shape, offsets }
    }

    /// The same lanes `bytes` further on. The caller has proven that these bytes may be accessed too.
    #[inline(always)]
    pub(super) fn moved(&self, bytes: u32) -> Spot {
        Spot { base: self.base.wrapping_add(bytes as usize), ..*self }
    }

    /// The offsets of a spread spot, as registers or memory hold them now.
    #[inline(always)]
    pub(super) fn offsets(&self, vgprs: *const Row) -> *const u32 {
        match self.offsets {
            Offsets::Vgpr(index) => vgprs.wrapping_add(index).cast(),
            Offsets::Row(row) => row.cast(),
        }
    }

    /// Where lane `i` is.
    ///
    /// # Safety
    /// `vgprs` is the wave's 256 registers.
    #[inline(always)]
    pub(super) unsafe fn lane(&self, vgprs: *const Row, i: usize, bytes: usize) -> *mut u8 {
        match self.shape {
            Shape::Contiguous { .. } => self.base.wrapping_add(i * bytes),
            Shape::Uniform => self.base,
            // SAFETY: a row of offsets has 64 dwords.
            Shape::Spread => self.base.wrapping_add(unsafe { *self.offsets(vgprs).add(i) } as usize),
        }
    }
}

/// The addresses of a row of lanes: `hi:lo + add`, with a high dword that every active lane must share.
pub(super) struct Rows<'a> {
    pub lo: &'a Row,
    /// The VGPR that `lo` is, if it is one.
    pub vgpr: Option<usize>,
    /// None for zero.
    pub hi: Option<&'a Row>,
    pub add: u64,
}

impl Rows<'_> {
    /// The address of a lane.
    #[inline(always)]
    pub(super) fn lane(&self, i: usize) -> u64 {
        let hi = self.hi.map_or(0, |hi| hi[i]);
        (u64::from(hi) << 32 | u64::from(self.lo[i])).wrapping_add(self.add)
    }

    /// Whether all lanes of `exec` are at multiples of `bytes`.
    ///
    /// # Safety
    /// The features of `L` are enabled.
    #[inline(always)]
    pub(super) unsafe fn aligned<L: Level>(&self, exec: u64, bytes: u32) -> bool {
        // SAFETY: the caller enabled the features.
        unsafe { L::misaligned(self.lo, self.add as u32, bytes - 1) & exec == 0 }
    }

    /// The shortest way for the commonest case: all lanes, side by side.
    ///
    /// # Safety
    /// The features of `L` are enabled.
    #[inline(always)]
    unsafe fn full_run<L: Level>(&self, bytes: u32, (start, end): (u64, u64)) -> Option<Spot> {
        let (lo, last) = (self.lo[0], self.lo[63]);
        if last.wrapping_sub(lo) != 63 * bytes || last < lo {
            return None;
        }
        let base = self.lane(0);
        if base < start || base >= end || end - base < 64 * u64::from(bytes) {
            return None;
        }
        // SAFETY: the caller enabled the features.
        unsafe {
            // Not a closure, which would not have the features.
            let same = match self.hi {
                Some(hi) => L::affine(hi, hi[0], 0),
                None => true,
            };
            let run = same && L::affine(self.lo, lo, bytes);
            run.then(|| Spot::new(!0, base, Shape::Contiguous { whole: true }, Offsets::Vgpr(0)))
        }
    }

    /// Proves that `bytes` bytes at every lane of `exec` (not zero) are inside of `bounds`.
    ///
    /// # Safety
    /// The features of `L` are enabled, and all bytes inside of `bounds` may be accessed.
    #[inline(always)]
    pub(super) unsafe fn locate<L: Level>(&self, exec: u64, bytes: u32, bounds: (u64, u64)) -> Option<Spot> {
        if exec == !0 {
            // SAFETY: the caller enabled the features.
            let run = unsafe { self.full_run::<L>(bytes, bounds) };
            if run.is_some() {
                return run;
            }
        }
        let (first, last) = (exec.trailing_zeros(), 63 - exec.leading_zeros());
        let (start, end) = bounds;
        let hi = self.hi.map_or(0, |hi| hi[first as usize]);
        let anchor = (u64::from(hi) << 32).wrapping_add(self.add);
        let window = window(anchor, start, end, bytes)?;
        let (lo, lo_last) = (self.lo[first as usize], self.lo[last as usize]);
        if !inside(window, lo) || !inside(window, lo_last) {
            return None;
        }
        // SAFETY: the caller enabled the features.
        unsafe {
            if let Some(row) = self.hi
                && L::not_equal(row, hi) & exec != 0
            {
                return None;
            }
            let span = (last - first) * bytes;
            if lo_last.wrapping_sub(lo) == span && lo_last >= lo {
                let zeroth = lo.wrapping_sub(first * bytes);
                if L::not_affine(self.lo, zeroth, bytes) & exec == 0 {
                    let base = anchor.wrapping_add(u64::from(lo)).wrapping_sub(u64::from(first * bytes));
                    let whole = base >= start && base < end && end - base >= u64::from(bytes) * 64;
                    return Some(Spot::new(exec, base, Shape::Contiguous { whole }, Offsets::Vgpr(0)));
                }
            } else if lo_last == lo && L::not_equal(self.lo, lo) & exec == 0 {
                return Some(Spot::new(exec, anchor.wrapping_add(lo.into()), Shape::Uniform, Offsets::Vgpr(0)));
            }
            if L::outside(self.lo, window.0, window.1 - window.0) & exec != 0 {
                return None;
            }
        }
        let offsets = self.vgpr.map_or(Offsets::Row(self.lo), Offsets::Vgpr);
        Some(Spot::new(exec, anchor, Shape::Spread, offsets))
    }
}

/// Scratch offsets that are looked at for all lanes together are less.
pub const SWIZZLE_LIMIT: u32 = 1 << 24;

/// Scratch offsets as the dwords of 64 lanes interleave: byte `x` of lane `i` is at `x / 4 * 256 + i * 4 + x % 4`,
/// where `x` is `row[i] + add`. None if an active lane's offset is large, or its `bytes` are more than a dword or misaligned.
///
/// # Safety
/// The features of `L` are enabled.
#[inline(always)]
pub(super) unsafe fn swizzle<L: Level>(row: &Row, add: u32, exec: u64, bytes: u32) -> Option<Row> {
    if add >= SWIZZLE_LIMIT || bytes > 4 {
        return None;
    }
    // SAFETY: the caller enabled the features.
    if unsafe { (L::outside(row, 0, SWIZZLE_LIMIT - 1) | L::misaligned(row, add, bytes - 1)) & exec != 0 } {
        return None;
    }
    let mut lo = [0; 64];
    for i in 0..64 {
        let x = row[i].wrapping_add(add);
        lo[i] = ((x >> 2) << 8).wrapping_add(i as u32 * 4) | x & 3;
    }
    Some(lo)
}

/// The least and greatest `lo` for which `bytes` bytes at `anchor + lo` are inside of `start..end`.
#[inline(always)]
fn window(anchor: u64, start: u64, end: u64, bytes: u32) -> Option<(u32, u32)> {
    let room = end.wrapping_sub(start);
    if start > end || room < u64::from(bytes) {
        return None;
    }
    let least = start.wrapping_sub(anchor) as i64;
    let greatest = least.saturating_add_unsigned(room - u64::from(bytes));
    let least = u32::try_from(least.max(0)).ok()?;
    let greatest = u32::try_from(greatest.min(i64::from(u32::MAX))).ok()?;
    (least <= greatest).then_some((least, greatest))
}

#[inline(always)]
fn inside(window: (u32, u32), lo: u32) -> bool {
    window.0 <= lo && lo <= window.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::lanes::Portable;

    const BASE: u64 = 0x7f00_0000_1000;

    fn shape(lo: &Row, exec: u64, bounds: (u64, u64)) -> Option<(Shape, u64)> {
        let hi = [(BASE >> 32) as u32; 64];
        let rows = Rows { lo, vgpr: None, hi: Some(&hi), add: 0 };
        // SAFETY: nothing is accessed through the spot.
        let spot = unsafe { rows.locate::<Portable>(exec, 4, bounds) };
        spot.map(|spot| (spot.shape, spot.base.addr() as u64))
    }

    #[test]
    fn shapes() {
        let bounds = (BASE, BASE + 256);
        let ramp: Row = std::array::from_fn(|i| 0x1000 + 4 * i as u32);
        assert_eq!(shape(&ramp, !0, bounds), Some((Shape::Contiguous { whole: true }, BASE)));
        assert_eq!(shape(&ramp, 0xff0, (BASE + 16, BASE + 48)), Some((Shape::Contiguous { whole: false }, BASE)));
        assert_eq!(shape(&ramp, !0, (BASE, BASE + 255)), None);
        assert_eq!(shape(&ramp, !0, (BASE + 4, BASE + 256)), None);
        assert_eq!(shape(&[0x10fc; 64], !0, bounds), Some((Shape::Uniform, BASE + 252)));
        assert_eq!(shape(&[0x10fd; 64], !0, bounds), None);
        let mut spread = ramp;
        spread.swap(3, 8);
        assert_eq!(shape(&spread, !0, bounds), Some((Shape::Spread, BASE - 0x1000)));
        spread[20] = 0x0ffc;
        assert_eq!(shape(&spread, !0, bounds), None);
        assert_eq!(shape(&spread, !(1 << 20), bounds), Some((Shape::Spread, BASE - 0x1000)));
    }

    #[test]
    fn ramp_that_wraps_is_not_contiguous() {
        let lo: Row = std::array::from_fn(|i| (0xffff_ff80u32).wrapping_add(4 * i as u32));
        assert_eq!(shape(&lo, !0, (0x7eff_0000_0000, 0x7f02_0000_0000)).map(|s| s.0), Some(Shape::Spread));
    }

    #[test]
    fn windows() {
        assert_eq!(window(100, 100, 200, 4), Some((0, 96)));
        assert_eq!(window(100, 50, 200, 4), Some((0, 96)));
        assert_eq!(window(100, 300, 400, 4), Some((200, 296)));
        assert_eq!(window(100, 1 << 40, 2 << 40, 4), None);
        assert_eq!(window(500, 100, 200, 4), None);
        assert_eq!(window(u64::MAX - 3, 100, 200, 4), Some((104, 200)));
        assert_eq!(window(0, 100, 103, 4), None);
    }
}
