//! Atomics: the operations, and their movers. In guest memory they are the host's own, sequentially consistent;
//! in LDS, which belongs to one thread, they are plain. Lanes that change the same value do it together where one change
//! can express theirs: to others it is as if they had been next to each other.

use super::address::{Shape, Spot};
use super::float::{self, Float};
use super::lanes::{Level, each, levels};
use super::pieces::Pieces;
use gcnjit_rt::lds::Reach;
use gcnjit_rt::{Mode, Row, Wave};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// What an atomic makes of memory `m`, its data `a` and, where it has it, its second data `b`.
#[allow(clippy::enum_variant_names, reason = "the manual's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `a`
    Swap,
    /// `m == b ? a : m`
    CmpSwap,
    Add,
    Sub,
    /// `a - m`
    RSub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    /// `m >= a ? 0 : m + 1`
    Inc,
    /// `m == 0 || m > a ? a : m - 1`
    Dec,
    /// `m & !a | b`
    MskOr,
    /// `m >= a ? m - a : m + b`
    Wrap,
    /// As floats: `m == b ? a : m`
    FCmpSwap,
    /// As floats, see [`float`].
    FMin,
    FMax,
    /// As f32.
    FAdd,
}

/// An atomic instruction's registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atomic {
    pub kind: Kind,
    /// 64-bit.
    pub wide: bool,
    /// First VGPR of `a` and of `b`.
    pub a: usize,
    pub b: usize,
    /// First VGPR of the old value, if it is returned.
    pub result: Option<usize>,
}

impl Atomic {
    /// Size in memory.
    pub(super) fn bytes(self) -> u32 {
        if self.wide { 8 } else { 4 }
    }

    /// How many VGPRs hold a value.
    pub(super) fn regs(self) -> usize {
        if self.wide { 2 } else { 1 }
    }
}

/// A 32-bit or 64-bit value in memory and registers. Masks of registers and lanes stand for the checks that selection made.
trait Word: Copy + Eq {
    fn get(wave: &Wave, first: usize, lane: usize) -> Self;
    fn set(self, wave: &mut Wave, first: usize, lane: usize);
    fn apply(kind: Kind, m: Self, a: Self, b: Self, mode: Mode) -> Self;
    /// What `kind` does with `a` and then `c` it does with this.
    fn combine(kind: Kind, a: Self, c: Self) -> Self;
    /// What changes nothing; None for kinds that cannot be combined.
    fn neutral(kind: Kind) -> Option<Self>;
    /// # Safety
    /// The value at `at` may be read and written, and is aligned; all other threads' writes are atomic or racy guests'.
    unsafe fn shared(kind: Kind, at: *mut u8, a: Self, b: Self, mode: Mode) -> Self;
    /// # Safety
    /// The value at `at` may be read and written, by this thread only.
    unsafe fn local(kind: Kind, at: *mut u8, a: Self, b: Self, mode: Mode) -> Self;
    fn lds(lds: Reach<'_>, address: u32, kind: Kind, a: Self, b: Self, mode: Mode) -> Self;
}

macro_rules! word {
    ($word:ident $signed:ident $atomic:ident $lds:ident,
        |$wave:ident, $first:ident, $lane:ident| $get:expr, |$value:ident| $set:expr) => {
        impl Word for $word {
            #[inline(always)]
            fn get($wave: &Wave, $first: usize, $lane: usize) -> $word {
                $get
            }

            #[inline(always)]
            fn set(self, $wave: &mut Wave, $first: usize, $lane: usize) {
                let $value = self;
                $set
            }

            #[inline(always)]
            fn apply(kind: Kind, m: $word, a: $word, b: $word, mode: Mode) -> $word {
                match kind {
                    Kind::Swap => a,
                    Kind::CmpSwap => {
                        if m == b {
                            a
                        } else {
                            m
                        }
                    }
                    Kind::Add => m.wrapping_add(a),
                    Kind::Sub => m.wrapping_sub(a),
                    Kind::RSub => a.wrapping_sub(m),
                    Kind::SMin => (m as $signed).min(a as $signed) as $word,
                    Kind::UMin => m.min(a),
                    Kind::SMax => (m as $signed).max(a as $signed) as $word,
                    Kind::UMax => m.max(a),
                    Kind::And => m & a,
                    Kind::Or => m | a,
                    Kind::Xor => m ^ a,
                    Kind::Inc => {
                        if m >= a {
                            0
                        } else {
                            m + 1
                        }
                    }
                    Kind::Dec => {
                        if m == 0 || m > a {
                            a
                        } else {
                            m - 1
                        }
                    }
                    Kind::MskOr => m & !a | b,
                    Kind::Wrap => {
                        if m >= a {
                            m - a
                        } else {
                            m.wrapping_add(b)
                        }
                    }
                    Kind::FCmpSwap => {
                        if m.equal(b, mode) {
                            a
                        } else {
                            m
                        }
                    }
                    Kind::FMin => m.extremum(a, mode, false),
                    Kind::FMax => m.extremum(a, mode, true),
                    Kind::FAdd => float::add(m as u32, a as u32, mode).into(),
                }
            }

            #[inline(always)]
            fn combine(kind: Kind, a: $word, c: $word) -> $word {
                Self::apply(if kind == Kind::Sub { Kind::Add } else { kind }, a, c, 0, Mode::default())
            }

            #[inline(always)]
            fn neutral(kind: Kind) -> Option<$word> {
                match kind {
                    Kind::Add | Kind::Sub | Kind::Or | Kind::Xor | Kind::UMax => Some(0),
                    Kind::And | Kind::UMin => Some($word::MAX),
                    Kind::SMin => Some($signed::MAX as $word),
                    Kind::SMax => Some($signed::MIN as $word),
                    _ => None,
                }
            }

            #[inline(always)]
            unsafe fn shared(kind: Kind, at: *mut u8, a: $word, b: $word, mode: Mode) -> $word {
                // SAFETY: the caller vouches for the value and its alignment.
                let atom = unsafe { $atomic::from_ptr(at.cast()) };
                match kind {
                    Kind::Swap => atom.swap(a, SeqCst),
                    Kind::CmpSwap => atom.compare_exchange(b, a, SeqCst, SeqCst).unwrap_or_else(|old| old),
                    Kind::Add => atom.fetch_add(a, SeqCst),
                    Kind::Sub => atom.fetch_sub(a, SeqCst),
                    Kind::And => atom.fetch_and(a, SeqCst),
                    Kind::Or => atom.fetch_or(a, SeqCst),
                    Kind::Xor => atom.fetch_xor(a, SeqCst),
                    _ => {
                        // What stays as it is need not be written: a load is enough, as of an exchange that fails.
                        let next = |old| Some(Self::apply(kind, old, a, b, mode)).filter(|new| *new != old);
                        atom.fetch_update(SeqCst, SeqCst, next).unwrap_or_else(|old| old)
                    }
                }
            }

            #[inline(always)]
            unsafe fn local(kind: Kind, at: *mut u8, a: $word, b: $word, mode: Mode) -> $word {
                // SAFETY: the caller vouches for the value.
                unsafe {
                    let old = at.cast::<$word>().read_unaligned();
                    at.cast::<$word>().write_unaligned(Self::apply(kind, old, a, b, mode));
                    old
                }
            }

            fn lds(lds: Reach<'_>, address: u32, kind: Kind, a: $word, b: $word, mode: Mode) -> $word {
                lds.$lds(address, |old| Self::apply(kind, old, a, b, mode))
            }
        }
    };
}

word! { u32 i32 AtomicU32 atomic_u32,
    |wave, first, lane| wave.vgpr[first & 255][lane & 63], |value| wave.vgpr[first & 255][lane & 63] = value
}
word! { u64 i64 AtomicU64 atomic_u64,
    |wave, first, lane| {
        let half = |k: usize| u64::from(wave.vgpr[(first + k) & 255][lane & 63]);
        half(0) | half(1) << 32
    },
    |value| {
        wave.vgpr[first & 255][lane & 63] = value as u32;
        wave.vgpr[(first + 1) & 255][lane & 63] = (value >> 32) as u32;
    }
}

/// A [`Kind`] as a type.
trait Operation {
    const KIND: Kind;
}

/// Runs the lanes of a spot in order.
type Runner = unsafe fn(&Atomic, &mut Wave, &Spot, bool);

levels! {
    fn pick[O: Operation, W: Word] = lanes, Runner, (atomic: &Atomic, wave: &mut Wave, spot: &Spot, local: bool) -> ()
}

/// Runs the lanes of a spot in order. `local` says that it is in LDS.
///
/// # Safety
/// The bytes of all active lanes may be written, and are aligned unless local; the registers exist.
pub(super) unsafe fn run(atomic: &Atomic, wave: &mut Wave, spot: &Spot, local: bool) {
    macro_rules! kinds {
        ($($kind:ident)*) => {{
            $(
                struct $kind;
                impl Operation for $kind {
                    const KIND: Kind = Kind::$kind;
                }
            )*
            match (atomic.kind, atomic.wide) {
                $((Kind::$kind, false) => pick::<$kind, u32>(),)*
                $((Kind::$kind, true) => pick::<$kind, u64>(),)*
            }
        }};
    }
    let runner: Runner = kinds!(
        Swap CmpSwap Add Sub RSub SMin UMin SMax UMax And Or Xor Inc Dec MskOr Wrap FCmpSwap FMin FMax FAdd
    );
    // SAFETY: the host has what it picks; the rest is the caller's contract.
    unsafe { runner(atomic, wave, spot, local) }
}

#[inline(always)]
unsafe fn lanes<L: Level, O: Operation, W: Word>(atomic: &Atomic, wave: &mut Wave, spot: &Spot, local: bool) {
    // SAFETY: the caller's contract; offsets of a spread spot are 64 dwords.
    unsafe {
        let rest = match W::neutral(O::KIND) {
            Some(neutral) if spot.shape == Shape::Uniform => {
                together::<O, W>(atomic, wave, (spot.exec, spot.base), local, neutral);
                return;
            }
            // Plain changes in LDS cost less than to find out.
            Some(neutral) if spot.shape == Shape::Spread && !local => meeting::<L, O, W>(atomic, wave, spot, neutral),
            _ => spot.exec,
        };
        if rest == !0 && spot.shape == Shape::Spread {
            let offsets = spot.offsets(wave.vgpr.as_ptr());
            apart::<O, W>(atomic, wave, local, 0..64, |lane| spot.base.wrapping_add(*offsets.add(lane) as usize));
        } else {
            let vgprs = wave.vgpr.as_ptr();
            apart::<O, W>(atomic, wave, local, each(rest), |lane| spot.lane(vgprs, lane, size_of::<W>()));
        }
    }
}

/// One lane after the other.
#[inline(always)]
unsafe fn apart<O: Operation, W: Word>(
    atomic: &Atomic,
    wave: &mut Wave,
    local: bool,
    lanes: impl Iterator<Item = usize>,
    at: impl Fn(usize) -> *mut u8,
) {
    let Atomic { a, b, .. } = *atomic;
    match atomic.result {
        Some(result) => {
            for lane in lanes {
                let (a, b) = (W::get(wave, a, lane), W::get(wave, b, lane));
                // SAFETY: the caller's contract.
                let old = unsafe { change::<O, W>(at(lane), a, b, wave.mode, local) };
                old.set(wave, result, lane);
            }
        }
        None => {
            for lane in lanes {
                let (a, b) = (W::get(wave, a, lane), W::get(wave, b, lane));
                // SAFETY: the caller's contract.
                unsafe { change::<O, W>(at(lane), a, b, wave.mode, local) };
            }
        }
    }
}

#[inline(always)]
unsafe fn change<O: Operation, W: Word>(at: *mut u8, a: W, b: W, mode: Mode, local: bool) -> W {
    // SAFETY: the caller's contract.
    unsafe { if local { W::local(O::KIND, at, a, b, mode) } else { W::shared(O::KIND, at, a, b, mode) } }
}

/// Lanes that have their value to themselves after which no more are looked for that share one.
const ALONE: usize = 4;

/// Goes from value to value, as long as lanes share them; the result is the lanes that are left.
///
/// # Safety
/// The features of `L` are enabled; the spot is spread, and as in `run`.
#[inline(always)]
unsafe fn meeting<L: Level, O: Operation, W: Word>(atomic: &Atomic, wave: &mut Wave, spot: &Spot, neutral: W) -> u64 {
    let (mut rest, mut alone) = (spot.exec, 0);
    while rest != 0 && alone < ALONE {
        // SAFETY: the caller's contract. The row of offsets may be the one of the result: it is looked at again for the
        // lanes that are left, whose results are not there yet.
        unsafe {
            let offsets = &*spot.offsets(wave.vgpr.as_ptr()).cast::<Row>();
            let offset = offsets[rest.trailing_zeros() as usize];
            let same = rest & !L::not_equal(offsets, offset);
            alone += usize::from(same.is_power_of_two());
            let at = spot.base.wrapping_add(offset as usize);
            together::<O, W>(atomic, wave, (same, at), false, neutral);
            rest &= !same;
        }
    }
    rest
}

/// All lanes of a set change the same value: once, by what they do together; what each would have found follows from what
/// that found.
#[inline(always)]
unsafe fn together<O: Operation, W: Word>(
    atomic: &Atomic,
    wave: &mut Wave,
    (set, at): (u64, *mut u8),
    local: bool,
    neutral: W,
) {
    let mut sum = neutral;
    if set.count_ones() > 8 {
        for lane in 0..64 {
            let active = set >> lane & 1 != 0;
            sum = W::combine(O::KIND, sum, if active { W::get(wave, atomic.a, lane) } else { neutral });
        }
    } else {
        for lane in each(set) {
            sum = W::combine(O::KIND, sum, W::get(wave, atomic.a, lane));
        }
    }
    // SAFETY: as in `run`, whose contract is the caller's.
    let mut value = unsafe { change::<O, W>(at, sum, sum, wave.mode, local) };
    let Some(result) = atomic.result else { return };
    for lane in each(set) {
        let next = W::apply(O::KIND, value, W::get(wave, atomic.a, lane), neutral, wave.mode);
        value.set(wave, result, lane);
        value = next;
    }
}

/// The lane-by-lane path.
///
/// # Safety
/// Pieces are null, may be written and are aligned, or are LDS addresses of local lanes; the registers exist.
#[cold]
pub(super) unsafe fn run_pieces(atomic: &Atomic, wave: &mut Wave, lds: Reach<'_>, pieces: &Pieces) {
    for lane in each(pieces.exec) {
        // SAFETY: the caller's contract.
        unsafe {
            if atomic.wide {
                piece::<u64>(atomic, wave, lds, pieces, lane)
            } else {
                piece::<u32>(atomic, wave, lds, pieces, lane)
            }
        }
    }
}

unsafe fn piece<W: Word>(atomic: &Atomic, wave: &mut Wave, lds: Reach<'_>, pieces: &Pieces, lane: usize) {
    let at = pieces.at[0][lane];
    let (a, b) = (W::get(wave, atomic.a, lane), W::get(wave, atomic.b, lane));
    let old = if pieces.local >> lane & 1 != 0 {
        Some(W::lds(lds, at.addr() as u32, atomic.kind, a, b, wave.mode))
    } else if at.is_null() {
        None
    } else {
        // SAFETY: the caller's contract.
        Some(unsafe { W::shared(atomic.kind, at, a, b, wave.mode) })
    };
    let Some(result) = atomic.result else { return };
    match old {
        Some(old) => old.set(wave, result, lane),
        None => (0..atomic.regs()).for_each(|k| wave.vgpr[result + k][lane] = 0),
    }
}

/// What `atomic` makes of the dword `m`, for whoever keeps it elsewhere.
pub(super) fn apply32(kind: Kind, m: u32, a: u32, b: u32, mode: Mode) -> u32 {
    u32::apply(kind, m, a, b, mode)
}

/// The same for a qword.
pub(super) fn apply64(kind: Kind, m: u64, a: u64, b: u64, mode: Mode) -> u64 {
    u64::apply(kind, m, a, b, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let apply = |kind, m, a, b| apply32(kind, m, a, b, Mode::default());
        assert_eq!(apply(Kind::Inc, 5, 5, 0), 0);
        assert_eq!(apply(Kind::Inc, 4, 5, 0), 5);
        assert_eq!(apply(Kind::Dec, 0, 5, 0), 5);
        assert_eq!(apply(Kind::Dec, 6, 5, 0), 5);
        assert_eq!(apply(Kind::Dec, 5, 5, 0), 4);
        assert_eq!(apply(Kind::SMin, -1i32 as u32, 1, 0), -1i32 as u32);
        assert_eq!(apply(Kind::UMin, -1i32 as u32, 1, 0), 1);
        assert_eq!(apply(Kind::CmpSwap, 3, 9, 3), 9);
        assert_eq!(apply(Kind::CmpSwap, 4, 9, 3), 4);
        assert_eq!(apply(Kind::MskOr, 0xff, 0x0f, 0x02), 0xf2);
        assert_eq!(apply(Kind::RSub, 3, 9, 0), 6);
        assert_eq!(apply64(Kind::Wrap, 9, 4, 1, Mode::default()), 5);
        assert_eq!(apply64(Kind::Wrap, 3, 4, 1, Mode::default()), 4);
    }
}
