//! MUBUF: buffers described by a V#.
//!
//! Without ADDR64 an access is range-checked dword by dword (atomics as a whole). What is counted depends on the
//! generation: a buffer is *structured*, its NUM_RECORDS counts records and the index is checked, if it has a stride
//! (gfx6, gfx7), a stride and swizzling (gfx8), a stride and the instruction an index (gfx9). Otherwise NUM_RECORDS
//! counts bytes from the base. ADDR64 is not range-checked.

use super::address::{Rows, Site, Spot, swizzle};
use super::atomic::Kind;
use super::cell::Form;
use super::lanes::{Level, levels};
use super::pieces::Unit;
use super::select::{Selected, What, action, nothing, optional_vgpr, scalar, sgpr, vgpr};
use super::{Bad, Fields, Run, Scalar};
use gcnjit_isa::{Gen, Inst, Mubuf};
use gcnjit_rt::{Env, Row, Wave};

/// The function and fields of an instruction.
pub(super) fn select(op: Mubuf, inst: &Inst, generation: Gen) -> Selected {
    use Mubuf::*;
    let mem = inst.mem();
    if matches!(op, buffer_wbinvl1 | buffer_wbinvl1_vol | buffer_wbinvl1_sc) {
        return Ok(nothing(generation));
    }
    let what = what(op).ok_or("formatted buffer access")?;
    if mem.lds {
        return Err("loads into LDS");
    }
    if mem.tfe {
        return Err("texture fail enable");
    }
    let [address, resource, soffset, data] = inst.src;
    let (action, data) = action(what, data, inst.dst[0], mem.glc)?;
    let mut f = Fields::new(generation, mem, action, data);
    f.address = match (mem.addr64, mem.idxen && mem.offen, mem.idxen || mem.offen) {
        (true, _, _) | (_, true, _) => Some(vgpr(address, 2)?),
        (_, _, true) => Some(vgpr(address, 1)?),
        _ => optional_vgpr(address).ok().flatten(),
    };
    f.base = Scalar::Register(sgpr(resource, 4)?);
    f.soffset = scalar(soffset)?;
    Ok((pick(), f))
}

fn what(op: Mubuf) -> Option<What> {
    use {Form::*, Kind::*, Mubuf::*, What::*};
    Some(match op {
        buffer_load_ubyte => Load(U8),
        buffer_load_sbyte => Load(I8),
        buffer_load_ushort => Load(U16),
        buffer_load_sshort => Load(I16),
        buffer_load_dword => Load(B32),
        buffer_load_dwordx2 => Load(B64),
        buffer_load_dwordx3 => Load(B96),
        buffer_load_dwordx4 => Load(B128),
        buffer_load_ubyte_d16 => Load(U8Lo),
        buffer_load_ubyte_d16_hi => Load(U8Hi),
        buffer_load_sbyte_d16 => Load(I8Lo),
        buffer_load_sbyte_d16_hi => Load(I8Hi),
        buffer_load_short_d16 => Load(U16Lo),
        buffer_load_short_d16_hi => Load(U16Hi),
        buffer_store_byte => Store(U8),
        buffer_store_byte_d16_hi => Store(U8Hi),
        buffer_store_short => Store(U16),
        buffer_store_short_d16_hi => Store(U16Hi),
        buffer_store_dword => Store(B32),
        buffer_store_dwordx2 => Store(B64),
        buffer_store_dwordx3 => Store(B96),
        buffer_store_dwordx4 => Store(B128),
        buffer_atomic_swap => Narrow(Swap),
        buffer_atomic_cmpswap => Narrow(CmpSwap),
        buffer_atomic_add => Narrow(Add),
        buffer_atomic_sub => Narrow(Sub),
        buffer_atomic_smin => Narrow(SMin),
        buffer_atomic_umin => Narrow(UMin),
        buffer_atomic_smax => Narrow(SMax),
        buffer_atomic_umax => Narrow(UMax),
        buffer_atomic_and => Narrow(And),
        buffer_atomic_or => Narrow(Or),
        buffer_atomic_xor => Narrow(Xor),
        buffer_atomic_inc => Narrow(Inc),
        buffer_atomic_dec => Narrow(Dec),
        buffer_atomic_fcmpswap => Narrow(FCmpSwap),
        buffer_atomic_fmin => Narrow(FMin),
        buffer_atomic_fmax => Narrow(FMax),
        buffer_atomic_rsub => Narrow(RSub),
        buffer_atomic_swap_x2 => Wide(Swap),
        buffer_atomic_cmpswap_x2 => Wide(CmpSwap),
        buffer_atomic_add_x2 => Wide(Add),
        buffer_atomic_sub_x2 => Wide(Sub),
        buffer_atomic_smin_x2 => Wide(SMin),
        buffer_atomic_umin_x2 => Wide(UMin),
        buffer_atomic_smax_x2 => Wide(SMax),
        buffer_atomic_umax_x2 => Wide(UMax),
        buffer_atomic_and_x2 => Wide(And),
        buffer_atomic_or_x2 => Wide(Or),
        buffer_atomic_xor_x2 => Wide(Xor),
        buffer_atomic_inc_x2 => Wide(Inc),
        buffer_atomic_dec_x2 => Wide(Dec),
        buffer_atomic_fcmpswap_x2 => Wide(FCmpSwap),
        buffer_atomic_fmin_x2 => Wide(FMin),
        buffer_atomic_fmax_x2 => Wide(FMax),
        buffer_atomic_rsub_x2 => Wide(RSub),
        _ => return None,
    })
}

/// What a V# and the instruction say of addresses.
struct Buffer {
    /// Of the V#, without the scalar offset.
    base: u64,
    soffset: u64,
    /// Of the instruction.
    offset: u64,
    records: u64,
    stride: u64,
    swizzle: bool,
    add_tid: bool,
    index_stride: u64,
    element: u64,
    /// Records are counted, not bytes.
    structured: bool,
}

impl Buffer {
    #[inline(always)]
    fn new(f: &Fields, wave: &Wave) -> Buffer {
        let Scalar::Register(at) = f.base else { unreachable!("a resource is in SGPRs") };
        let [w0, w1, w2, w3] = std::array::from_fn(|k| wave.sgpr[at + k]);
        let add_tid = w3 >> 23 & 1 != 0;
        let high = if f.generation >= Gen::Gfx8 && add_tid { w3 >> 15 & 0xf } else { 0 };
        let stride = w1 >> 16 & 0x3fff | high << 14;
        let swizzle = w1 >> 31 != 0;
        Buffer {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            soffset: f.soffset.word(wave).into(),
            offset: f.offset as u64,
            records: w2.into(),
            stride: stride.into(),
            swizzle,
            add_tid,
            index_stride: 8 << (w3 >> 21 & 3),
            element: if f.generation == Gen::Gfx9 { 4 } else { 2 << (w3 >> 19 & 3) },
            structured: stride != 0
                && match f.generation {
                    Gen::Gfx6 | Gen::Gfx7 => true,
                    Gen::Gfx8 => swizzle,
                    Gen::Gfx9 => f.mem.idxen,
                },
        }
    }

    /// The layout of scratch: dword after dword of all 64 lanes.
    #[inline(always)]
    fn interleaves_lanes(&self) -> bool {
        self.add_tid && self.swizzle && self.index_stride == 64 && self.element == 4 && !self.structured
    }

    /// The address of `bytes` bytes at an index and offset, or None if it is out of range.
    fn at(&self, f: &Fields, index: u64, offset: u64, bytes: u64) -> Option<u64> {
        let within = if self.swizzle {
            let (row, column) = (index / self.index_stride, index % self.index_stride);
            let (element, byte) = (offset / self.element, offset % self.element);
            (row * self.stride + element * self.element) * self.index_stride + column * self.element + byte
        } else {
            index * self.stride + offset
        };
        let inside = if self.structured {
            index < self.records && (!(f.mem.idxen || self.add_tid) || offset < self.stride)
        } else {
            self.soffset + within + bytes <= self.records
        };
        inside.then(|| self.base.wrapping_add(self.soffset + within))
    }

    /// Index and offset of a lane.
    #[inline(always)]
    fn lane(&self, f: &Fields, wave: &Wave, i: usize) -> (u64, u64) {
        let value = |k: usize| f.address.map_or(0, |first| u64::from(wave.vgpr[first + k][i]));
        let index = if f.mem.idxen { value(0) } else { 0 } + if self.add_tid { i as u64 } else { 0 };
        let offset = if f.mem.offen { value(usize::from(f.mem.idxen)) } else { 0 };
        (index, offset + self.offset)
    }
}

levels! { fn pick = run, Run, (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> }

#[inline(always)]
unsafe fn run<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    if exec == 0 {
        return Ok(());
    }
    let buffer = Buffer::new(f, wave);
    // SAFETY: the caller enabled the features.
    let spot = unsafe { together::<L>(&buffer, f, wave, exec, env, site) };
    match spot {
        // SAFETY: the spot was located in a range that may be accessed.
        Some(spot) => unsafe { f.act(wave, &spot) },
        None => return slow(&buffer, f, wave, env),
    }
    Ok(())
}

/// The spot, if the address form is a usual one and all lanes are in range and in one allocation.
#[inline(always)]
unsafe fn together<L: Level>(
    buffer: &Buffer,
    f: &Fields,
    wave: &Wave,
    exec: u64,
    env: &Env<'_>,
    site: &mut Site,
) -> Option<Spot> {
    let bases = buffer.base.wrapping_add(buffer.soffset);
    let offsets: Row;
    let rows = if f.mem.addr64 {
        let hi = f.address.map(|first| &wave.vgpr[first + 1]);
        Rows { lo: f.row(wave), hi, add: bases.wrapping_add(buffer.offset) }
    } else if !f.mem.idxen && !buffer.add_tid && !buffer.swizzle {
        Rows { lo: if f.mem.offen { f.row(wave) } else { &[0; 64] }, hi: None, add: bases.wrapping_add(buffer.offset) }
    } else if !f.mem.idxen && buffer.interleaves_lanes() {
        let row = if f.mem.offen { f.row(wave) } else { &[0; 64] };
        offsets = swizzle(row, buffer.offset as u32, exec, f.bytes)?;
        Rows { lo: &offsets, hi: None, add: bases }
    } else if !buffer.swizzle {
        offsets = linear(buffer, f, wave, exec)?;
        Rows { lo: &offsets, hi: None, add: bases }
    } else {
        return None;
    };
    if buffer.structured && buffer.records == 0 && !f.mem.addr64 {
        return None;
    }
    let (start, mut end) = site.bounds(env, rows.lane(exec.trailing_zeros() as usize), f.write)?;
    if !f.mem.addr64 && !buffer.structured {
        end = end.min(buffer.base.wrapping_add(buffer.records));
    }
    // SAFETY: the caller enabled the features; the bounds are inside of a range of the view.
    let spot = unsafe { rows.locate::<L>(exec, f.bytes, (start, end)) };
    spot.filter(|spot| f.accepts(spot))
}

/// Offsets of lanes with an index in a buffer that is not swizzled; None if they are large or a record is out of range.
#[inline(always)]
fn linear(buffer: &Buffer, f: &Fields, wave: &Wave, exec: u64) -> Option<Row> {
    let mut bad = 0;
    let offsets = std::array::from_fn(|i| {
        let (index, offset) = buffer.lane(f, wave, i);
        let at = index * buffer.stride + offset;
        let last = offset + u64::from(f.bytes) - 1;
        let outside = index >= buffer.records || last >= buffer.stride;
        let wrong = at >> 32 != 0 || buffer.structured && outside;
        bad |= u64::from(wrong) & exec >> i;
        at as u32
    });
    (bad == 0).then_some(offsets)
}

#[cold]
#[inline(never)]
fn slow(buffer: &Buffer, f: &Fields, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let bytes = u64::from(f.cut().bytes);
    let find = |lane: usize, k: usize| {
        let more = 4 * k as u64;
        if f.mem.addr64 {
            let address = f
                .address
                .map_or(0, |first| u64::from(wave.vgpr[first][lane]) | u64::from(wave.vgpr[first + 1][lane]) << 32);
            let base = buffer.base.wrapping_add(buffer.soffset + buffer.offset);
            return Unit::Memory(base.wrapping_add(address).wrapping_add(more), bytes);
        }
        let (index, offset) = buffer.lane(f, wave, lane);
        buffer.at(f, index, offset + more, bytes).map_or(Unit::Nowhere, |address| Unit::Memory(address, bytes))
    };
    let pieces = f.pieces(wave, env, find)?;
    f.act_apart(wave, env, &pieces);
    Ok(())
}
