//! Loads and stores: what moves between a lane's registers and its bytes, for each shape of a [`Spot`].

use super::address::{Shape, Spot};
use super::lanes::{Level, each, levels};
use super::pieces::Pieces;
use super::{Half, Small};
use gcnjit_rt::lds::Lds;
use gcnjit_rt::{Row, Wave};

/// How much a load or store moves, and where in the register it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A byte, zero-extended.
    U8,
    /// A byte, sign-extended.
    I8,
    /// A word, zero-extended.
    U16,
    /// A word, sign-extended.
    I16,
    /// The same into the low half of the register; the other half is kept. Stores take no such form.
    U8Lo,
    I8Lo,
    U16Lo,
    /// Into the high half; stores take their byte or word from bit 16 on.
    U8Hi,
    I8Hi,
    U16Hi,
    /// Dwords into consecutive registers.
    B32,
    B64,
    B96,
    B128,
}

impl Form {
    /// Size in memory.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Form::U8 | Form::I8 | Form::U8Lo | Form::I8Lo | Form::U8Hi | Form::I8Hi => 1,
            Form::U16 | Form::I16 | Form::U16Lo | Form::U16Hi => 2,
            Form::B32 => 4,
            Form::B64 => 8,
            Form::B96 => 12,
            Form::B128 => 16,
        }
    }

    /// What it is if it is a byte or word.
    pub(super) fn small(self) -> Option<Small> {
        let (signed, half) = match self {
            Form::U8 | Form::U16 => (false, None),
            Form::I8 | Form::I16 => (true, None),
            Form::U8Lo | Form::U16Lo => (false, Some(Half::Low)),
            Form::I8Lo => (true, Some(Half::Low)),
            Form::U8Hi | Form::U16Hi => (false, Some(Half::High)),
            Form::I8Hi => (true, Some(Half::High)),
            Form::B32 | Form::B64 | Form::B96 | Form::B128 => return None,
        };
        Some(Small { bytes: self.bytes() as i32, signed, half })
    }

    /// Registers it takes; also the number of units that are range-checked on their own.
    pub(super) fn regs(self) -> usize {
        (self.bytes() as usize).div_ceil(4)
    }
}

/// Moves the active lanes of a spot from or to the registers from the one given.
///
/// # Safety
/// The bytes of all active lanes may be read, or written by a store, and the registers exist.
pub(super) type Mover = unsafe fn(&mut Wave, usize, &Spot);

/// A [`Form`] as a type.
pub(super) trait Cell {
    const BYTES: usize;
    const REGS: usize;
    /// Loads keep part of the old register.
    const MERGE: bool;

    /// Reads the registers' values; `old` is the first one's value.
    ///
    /// # Safety
    /// `BYTES` bytes at `at` may be read.
    unsafe fn load(at: *const u8, old: u32) -> [u32; 4];

    /// Writes the registers' values.
    ///
    /// # Safety
    /// `BYTES` bytes at `at` may be written.
    unsafe fn store(at: *mut u8, data: [u32; 4]);
}

macro_rules! small {
    ($($name:ident $ty:ty, $load:expr, $merge:literal, $store:expr;)*) => { $(
        struct $name;
        impl Cell for $name {
            const BYTES: usize = size_of::<$ty>();
            const REGS: usize = 1;
            const MERGE: bool = $merge;

            #[inline(always)]
            unsafe fn load(at: *const u8, old: u32) -> [u32; 4] {
                let convert: fn($ty, u32) -> u32 = $load;
                // SAFETY: the caller vouches for the bytes.
                [convert(unsafe { at.cast::<$ty>().read_unaligned() }, old), 0, 0, 0]
            }

            #[inline(always)]
            unsafe fn store(at: *mut u8, data: [u32; 4]) {
                let convert: fn(u32) -> $ty = $store;
                // SAFETY: the caller vouches for the bytes.
                unsafe { at.cast::<$ty>().write_unaligned(convert(data[0])) };
            }
        }
    )* };
}

small! {
    U8 u8, |x, _| x.into(), false, |d| d as u8;
    I8 i8, |x, _| x as u32, false, |d| d as i8;
    U16 u16, |x, _| x.into(), false, |d| d as u16;
    I16 i16, |x, _| x as u32, false, |d| d as i16;
    U8Lo u8, |x, old| old & !0xffff | u32::from(x), true, |d| d as u8;
    I8Lo i8, |x, old| old & !0xffff | x as u32 & 0xffff, true, |d| d as i8;
    U16Lo u16, |x, old| old & !0xffff | u32::from(x), true, |d| d as u16;
    U8Hi u8, |x, old| old & 0xffff | u32::from(x) << 16, true, |d| (d >> 16) as u8;
    I8Hi i8, |x, old| old & 0xffff | (x as u32) << 16, true, |d| (d >> 16) as i8;
    U16Hi u16, |x, old| old & 0xffff | u32::from(x) << 16, true, |d| (d >> 16) as u16;
}

/// `N` dwords.
struct Dwords<const N: usize>;

impl<const N: usize> Cell for Dwords<N> {
    const BYTES: usize = N * 4;
    const REGS: usize = N;
    const MERGE: bool = false;

    #[inline(always)]
    unsafe fn load(at: *const u8, _: u32) -> [u32; 4] {
        // SAFETY: the caller vouches for `N` dwords.
        std::array::from_fn(|k| if k < N { unsafe { at.cast::<u32>().add(k).read_unaligned() } } else { 0 })
    }

    #[inline(always)]
    unsafe fn store(at: *mut u8, data: [u32; 4]) {
        for (k, dword) in data.iter().enumerate().take(N) {
            // SAFETY: the caller vouches for `N` dwords.
            unsafe { at.cast::<u32>().add(k).write_unaligned(*dword) };
        }
    }
}

/// The function for `form` on this host.
pub(super) fn mover(form: Form, write: bool) -> Mover {
    macro_rules! pick {
        ($($form:ident $cell:ty),*) => {
            match form { $(Form::$form => if write { pick_store::<$cell>() } else { pick_load::<$cell>() }),* }
        };
    }
    pick!(U8 U8, I8 I8, U16 U16, I16 I16, U8Lo U8Lo, I8Lo I8Lo, U16Lo U16Lo, U8Hi U8Hi, I8Hi I8Hi, U16Hi U16Hi,
        B32 Dwords<1>, B64 Dwords<2>, B96 Dwords<3>, B128 Dwords<4>)
}

levels! { fn pick_load[C: Cell] = load, Mover, (wave: &mut Wave, first: usize, spot: &Spot) -> () }
levels! { fn pick_store[C: Cell] = store, Mover, (wave: &mut Wave, first: usize, spot: &Spot) -> () }

// Guest memory is read and written by plain accesses of the host's natural width. Other waves may race with them; what
// each then sees is what the host makes of it, as it is for the guest on its own hardware.

#[inline(always)]
unsafe fn load<L: Level, C: Cell>(wave: &mut Wave, first: usize, spot: &Spot) {
    let vgprs = wave.vgpr.as_mut_ptr();
    // SAFETY: the caller's contract; offsets and results are in the registers, one lane read before it is written.
    unsafe {
        match spot.shape {
            Shape::Contiguous { whole } if whole || spot.exec == !0 => {
                load_run::<L, C>(&mut wave.vgpr[first..first + C::REGS], spot);
            }
            Shape::Uniform if !C::MERGE => load_splat::<L, C>(&mut wave.vgpr[first..first + C::REGS], spot),
            Shape::Spread if spot.exec == !0 => {
                let offsets = spot.offsets(vgprs);
                for group in (0..64).step_by(GROUP) {
                    if C::BYTES == 4 && C::REGS == 1 {
                        load_group(vgprs, first, group, offsets, spot.base);
                        continue;
                    }
                    for i in group..group + GROUP {
                        load_lane::<C>(vgprs, first, i, spot.base.wrapping_add(*offsets.add(i) as usize));
                    }
                }
            }
            _ => {
                for i in each(spot.exec) {
                    load_lane::<C>(vgprs, first, i, spot.lane(vgprs, i, C::BYTES));
                }
            }
        }
    }
}

/// Lanes that are looked at together: rows of two-dimensional work-groups are often this wide.
const GROUP: usize = 16;

/// Loads a dword for each lane of a group: one load if they are all the same or follow each other, as in the rows of a
/// two-dimensional work-group.
///
/// # Safety
/// All 64 offsets are there, the dwords they give may be read, and the register exists.
#[inline(always)]
unsafe fn load_group(vgprs: *mut Row, register: usize, group: usize, offsets: *const u32, base: *mut u8) {
    // SAFETY: the caller's contract; the offsets are copied before the register, which may be the same, is written.
    unsafe {
        let offsets: [u32; GROUP] = offsets.add(group).cast::<[u32; GROUP]>().read();
        let to = vgprs.add(register).cast::<u32>().add(group).cast::<[u32; GROUP]>();
        let (mut differ, mut scattered) = (0, 0);
        for (i, offset) in offsets.iter().enumerate() {
            differ |= offset ^ offsets[0];
            scattered |= offset.wrapping_sub(4 * i as u32) ^ offsets[0];
        }
        let at = |offset: u32| base.wrapping_add(offset as usize);
        if scattered == 0 {
            *to = at(offsets[0]).cast::<[u32; GROUP]>().read_unaligned();
        } else if differ == 0 {
            *to = [at(offsets[0]).cast::<u32>().read_unaligned(); GROUP];
        } else {
            for (i, offset) in offsets.iter().enumerate() {
                (*to)[i] = at(*offset).cast::<u32>().read_unaligned();
            }
        }
    }
}

/// # Safety
/// The lane's bytes may be read, and the registers from `first` exist.
#[inline(always)]
unsafe fn load_lane<C: Cell>(vgprs: *mut Row, first: usize, i: usize, at: *const u8) {
    // SAFETY: the caller's contract.
    unsafe {
        let to = vgprs.add(first).cast::<u32>().add(i);
        let data = C::load(at, if C::MERGE { *to } else { 0 });
        for (k, dword) in data.iter().enumerate().take(C::REGS) {
            *to.add(64 * k) = *dword;
        }
    }
}

/// All 64 lanes are there, so all are read, and the active ones kept.
#[inline(always)]
unsafe fn load_run<L: Level, C: Cell>(rows: &mut [Row], spot: &Spot) {
    // SAFETY: the caller's contract; the bytes of inactive lanes may be read too.
    unsafe {
        if C::REGS == 1 && C::BYTES == 4 && spot.exec == !0 {
            spot.base.cast::<u32>().cast_const().cast::<u8>().copy_to_nonoverlapping(rows[0].as_mut_ptr().cast(), 256);
            return;
        }
        let mut loaded = [[0; 64]; 4];
        for i in 0..64 {
            let data = C::load(spot.base.wrapping_add(i * C::BYTES), rows[0][i]);
            for k in 0..C::REGS {
                loaded[k][i] = data[k];
            }
        }
        for k in 0..C::REGS {
            if spot.exec == !0 {
                rows[k] = loaded[k];
            } else {
                L::blend(&mut rows[k], &loaded[k], spot.exec);
            }
        }
    }
}

#[inline(always)]
unsafe fn load_splat<L: Level, C: Cell>(rows: &mut [Row], spot: &Spot) {
    // SAFETY: the caller's contract.
    unsafe {
        let data = C::load(spot.base, 0);
        for k in 0..C::REGS {
            if spot.exec == !0 {
                rows[k] = [data[k]; 64];
            } else {
                L::blend(&mut rows[k], &[data[k]; 64], spot.exec);
            }
        }
    }
}

#[inline(always)]
unsafe fn store<L: Level, C: Cell>(wave: &mut Wave, first: usize, spot: &Spot) {
    let vgprs = wave.vgpr.as_ptr();
    let rows = &wave.vgpr[first..first + C::REGS];
    // SAFETY: the caller's contract.
    unsafe {
        match spot.shape {
            Shape::Contiguous { .. } if C::REGS == 1 && C::BYTES == 4 && spot.exec != !0 => {
                L::store(spot.base, &rows[0], spot.exec);
            }
            Shape::Contiguous { .. } if spot.exec == !0 => store_run::<C>(rows, spot),
            // All lanes write the same bytes: the highest wins.
            Shape::Uniform => C::store(spot.base, get::<C>(rows, 63 - spot.exec.leading_zeros() as usize)),
            Shape::Spread if spot.exec == !0 => {
                let offsets = spot.offsets(vgprs);
                for i in 0..64 {
                    C::store(spot.base.wrapping_add(*offsets.add(i) as usize), get::<C>(rows, i));
                }
            }
            _ => {
                for i in each(spot.exec) {
                    C::store(spot.lane(vgprs, i, C::BYTES), get::<C>(rows, i));
                }
            }
        }
    }
}

#[inline(always)]
fn get<C: Cell>(rows: &[Row], i: usize) -> [u32; 4] {
    std::array::from_fn(|k| if k < C::REGS { rows[k][i] } else { 0 })
}

/// All 64 lanes, through a buffer on the stack, which the compiler turns into shuffles.
#[inline(always)]
unsafe fn store_run<C: Cell>(rows: &[Row], spot: &Spot) {
    // SAFETY: the caller's contract; the buffer holds the widest run.
    unsafe {
        if C::REGS == 1 && C::BYTES == 4 {
            spot.base.copy_from_nonoverlapping(rows[0].as_ptr().cast(), 256);
            return;
        }
        let mut buffer = [0u32; 256];
        let at = buffer.as_mut_ptr().cast::<u8>();
        for i in 0..64 {
            C::store(at.add(i * C::BYTES), get::<C>(rows, i));
        }
        spot.base.copy_from_nonoverlapping(at, 64 * C::BYTES);
    }
}

/// The lane-by-lane load: pieces that are null read zero.
///
/// # Safety
/// The pieces that are not null may be read, and the registers from `first` exist.
#[cold]
pub(super) unsafe fn load_pieces(form: Form, wave: &mut Wave, first: usize, pieces: &Pieces) {
    for lane in each(pieces.exec) {
        for k in 0..form.regs() {
            let at = pieces.at[k][lane];
            // SAFETY: the caller's contract.
            let data = unsafe { load_piece(form, at, wave.vgpr[first + k][lane]) };
            wave.vgpr[first + k][lane] = data;
        }
    }
}

/// # Safety
/// The piece is null or may be read.
unsafe fn load_piece(form: Form, at: *mut u8, old: u32) -> u32 {
    static ZERO: u32 = 0;
    let at = if at.is_null() { (&raw const ZERO).cast() } else { at.cast_const() };
    // SAFETY: the caller's contract.
    unsafe {
        let data = match form {
            Form::U8 => U8::load(at, old),
            Form::I8 => I8::load(at, old),
            Form::U16 => U16::load(at, old),
            Form::I16 => I16::load(at, old),
            Form::U8Lo => U8Lo::load(at, old),
            Form::I8Lo => I8Lo::load(at, old),
            Form::U16Lo => U16Lo::load(at, old),
            Form::U8Hi => U8Hi::load(at, old),
            Form::I8Hi => I8Hi::load(at, old),
            Form::U16Hi => U16Hi::load(at, old),
            Form::B32 | Form::B64 | Form::B96 | Form::B128 => Dwords::<1>::load(at, old),
        };
        data[0]
    }
}

/// What a load of a byte or word makes of it and the old register.
pub(super) fn load_value(form: Form, value: u16, old: u32) -> u32 {
    let mut bytes = value.to_le_bytes();
    // SAFETY: the form takes at most two bytes.
    unsafe { load_piece(form, bytes.as_mut_ptr(), old) }
}

/// The lane-by-lane store: pieces that are null are dropped.
///
/// # Safety
/// The pieces that are not null may be written, and the registers from `first` exist.
#[cold]
pub(super) unsafe fn store_pieces(form: Form, wave: &Wave, first: usize, pieces: &Pieces) {
    for lane in each(pieces.exec) {
        for k in 0..form.regs() {
            let at = pieces.at[k][lane];
            if !at.is_null() {
                // SAFETY: the caller's contract.
                unsafe { store_piece(form, at, wave.vgpr[first + k][lane]) };
            }
        }
    }
}

/// Loads a dword a lane into LDS, from `start` on.
///
/// # Safety
/// The pieces that are not null may be read.
#[cold]
pub(super) unsafe fn load_pieces_to_lds(form: Form, lds: &Lds, pieces: &Pieces, start: u32) {
    // Loads come before stores: a flat address may be in LDS itself.
    // SAFETY: the caller's contract.
    let loaded: Row = std::array::from_fn(|lane| unsafe { load_piece(form, pieces.at[0][lane], 0) });
    for lane in each(pieces.exec) {
        lds.store(start.wrapping_add(4 * lane as u32), loaded[lane].to_le_bytes());
    }
}

/// Stores a dword a lane from LDS, from `start` on.
///
/// # Safety
/// The pieces that are not null may be written.
#[cold]
pub(super) unsafe fn store_pieces_from_lds(lds: &Lds, pieces: &Pieces, start: u32) {
    for lane in each(pieces.exec).filter(|lane| !pieces.at[0][*lane].is_null()) {
        let dword = u32::from_le_bytes(lds.load(start.wrapping_add(4 * lane as u32)));
        // SAFETY: the caller's contract.
        unsafe { store_piece(Form::B32, pieces.at[0][lane], dword) };
    }
}

/// # Safety
/// The piece may be written.
unsafe fn store_piece(form: Form, at: *mut u8, data: u32) {
    let high = matches!(form, Form::U8Hi | Form::I8Hi | Form::U16Hi);
    let data = if high { data >> 16 } else { data };
    // SAFETY: the caller's contract.
    unsafe {
        match form.bytes() {
            1 => at.write(data as u8),
            2 => at.cast::<u16>().write_unaligned(data as u16),
            _ => at.cast::<u32>().write_unaligned(data),
        }
    }
}
