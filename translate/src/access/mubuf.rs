//! MUBUF: buffers described by a V#.
//!
//! Without ADDR64 an access is range-checked dword by dword (atomics as a whole). NUM_RECORDS counts bytes, the scalar
//! offset among them, in a buffer without a stride, on gfx8 in any that is not swizzled, and on gfx9 for accesses
//! without IDXEN. Else it counts records, and an access with an index must stay inside of its record. ADDR64 is not
//! checked. Offsets are modulo 2³², at any alignment.

use super::address::{Rows, Site, Spot, swizzle};
use super::atomic::Kind;
use super::cell::Form;
use super::lanes::{Level, levels};
use super::pieces::Unit;
use super::select::{Selected, What, action, nothing, scalar, sgpr, to_lds, vgpr};
use super::{Action, Bad, Fields, Linear, Run, Scalar, ZERO, typed};
use gcnjit_isa::{Gen, Inst, Mubuf, Target};
use gcnjit_rt::{Env, Row, Wave};
use std::mem::MaybeUninit;

/// The function and fields of an instruction.
pub(super) fn select(op: Mubuf, inst: &Inst, target: Target) -> Selected {
    use Mubuf::*;
    let (mem, generation) = (inst.mem(), target.generation());
    if matches!(op, buffer_wbinvl1 | buffer_wbinvl1_vol | buffer_wbinvl1_sc) {
        return Ok(nothing(generation));
    }
    if mem.tfe {
        return Err("texture fail enable");
    }
    if op == buffer_store_lds_dword {
        return Ok((by_lane, fields(inst, generation, Action::StoreFromLds, 0)?));
    }
    if let Some(shape) = typed::of_resource(op) {
        return typed::select(shape, inst, target);
    }
    let what = what(op).ok_or("this buffer operation")?;
    if mem.lds {
        let (action, data) = to_lds(what)?;
        return Ok((by_lane, fields(inst, generation, action, data)?));
    }
    let (action, data) = action(what, inst.src[3], inst.dst[0])?;
    let mut f = fields(inst, generation, action, data)?;
    if matches!(f.action, Action::Load(..) | Action::Store(..)) && !mem.addr64 && !mem.idxen {
        f.linear = Linear::Interleaved;
    }
    Ok((pick(), f))
}

/// The fields of an access to a buffer.
pub(super) fn fields(inst: &Inst, generation: Gen, action: Action, data: usize) -> Result<Fields, &'static str> {
    let (mem, [address, resource, soffset, _]) = (inst.mem(), inst.src);
    let mut f = Fields::new(generation, mem, action, data);
    f.vector = mem.addr64 || mem.idxen || mem.offen;
    if f.vector {
        f.address = vgpr(address, if mem.addr64 || mem.idxen && mem.offen { 2 } else { 1 })?;
    }
    f.base = Scalar::Register(sgpr(resource, 4)?);
    f.soffset = scalar(soffset)?;
    Ok(f)
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
pub(super) struct Buffer {
    /// Of the V#, without the scalar offset.
    base: u64,
    soffset: u32,
    records: u32,
    stride: u32,
    swizzle: bool,
    add_tid: bool,
    /// The instruction or the V# gives an index.
    indexed: bool,
    index_stride: u32,
    element: u32,
    /// Records are bytes.
    in_bytes: bool,
}

impl Buffer {
    #[inline(always)]
    pub(super) fn new(f: &Fields, wave: &Wave) -> Buffer {
        let Scalar::Register(at) = f.base else { unreachable!("a resource is in SGPRs") };
        let [w0, w1, records, w3] = std::array::from_fn(|k| wave.sgpr[at + k]);
        let add_tid = w3 >> 23 & 1 != 0;
        // With the lane's number added, gfx8 and later have more of the stride in place of the data format.
        let high = if f.generation >= Gen::Gfx8 && add_tid { w3 >> 15 & 0xf } else { 0 };
        let (stride, swizzle) = (w1 >> 16 & 0x3fff | high << 14, w1 >> 31 != 0);
        let bytes_with_stride = match f.generation {
            Gen::Gfx6 | Gen::Gfx7 => false,
            Gen::Gfx8 => !swizzle,
            Gen::Gfx9 => !f.mem.idxen,
        };
        Buffer {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            soffset: f.soffset.word(wave),
            records,
            stride,
            swizzle,
            add_tid,
            indexed: f.mem.idxen || add_tid,
            index_stride: 8 << (w3 >> 21 & 3),
            element: if f.generation == Gen::Gfx9 { 4 } else { 2 << (w3 >> 19 & 3) },
            in_bytes: stride == 0 || bytes_with_stride,
        }
    }

    /// Where offsets count from.
    #[inline(always)]
    fn origin(&self) -> u64 {
        self.base.wrapping_add(self.soffset.into())
    }

    /// The layout of scratch: dword after dword of all 64 lanes, limited in bytes.
    #[inline(always)]
    pub(super) fn interleaves_lanes(&self) -> bool {
        self.add_tid && self.swizzle && self.index_stride == 64 && self.element == 4 && self.stride == 0
    }

    /// The address of `bytes` bytes at an index and offset, or None if it is out of range.
    fn at(&self, index: u32, offset: u32, bytes: u32) -> Option<u64> {
        let at = if self.swizzle {
            let group = (index / self.index_stride).wrapping_mul(self.stride);
            let start = group.wrapping_add(offset / self.element * self.element).wrapping_mul(self.index_stride);
            start.wrapping_add(index % self.index_stride * self.element + offset % self.element)
        } else {
            index.wrapping_mul(self.stride).wrapping_add(offset)
        };
        let (end, records) = (u64::from(at) + u64::from(bytes), u64::from(self.records));
        let inside = if self.in_bytes {
            end + u64::from(self.soffset) <= records
        } else {
            index < self.records && self.in_record(offset, bytes)
        };
        inside.then(|| self.origin().wrapping_add(at.into()))
    }

    #[inline(always)]
    fn in_record(&self, offset: u32, bytes: u32) -> bool {
        !self.indexed || u64::from(offset) + u64::from(bytes) <= u64::from(self.stride)
    }

    /// The address after the last that an access of known index may touch.
    #[inline(always)]
    fn end(&self) -> u64 {
        if self.in_bytes { self.base.wrapping_add(self.records.into()) } else { self.origin().wrapping_add(1 << 32) }
    }

    /// Where dword `k` of a lane is, or `bytes` bytes from there.
    pub(super) fn unit(&self, f: &Fields, wave: &Wave, lane: usize, k: usize, bytes: u32) -> Unit {
        if f.mem.addr64 {
            let address = u64::from(f.row(wave, 0)[lane]) | u64::from(f.row(wave, 1)[lane]) << 32;
            let more = f.offset as u64 + 4 * k as u64;
            return Unit::Memory(self.origin().wrapping_add(address).wrapping_add(more), bytes.into());
        }
        let (index, offset) = self.lane(f, wave, lane);
        let address = self.at(index, offset.wrapping_add(4 * k as u32), bytes);
        address.map_or(Unit::Nowhere, |address| Unit::Memory(address, bytes.into()))
    }

    /// Index and offset of a lane.
    #[inline(always)]
    fn lane(&self, f: &Fields, wave: &Wave, i: usize) -> (u32, u32) {
        let value = |k: usize| f.row(wave, k)[i];
        let index = if f.mem.idxen { value(0) } else { 0 };
        let offset = if f.mem.offen { value(usize::from(f.mem.idxen)) } else { 0 };
        let lane = if self.add_tid { i as u32 } else { 0 };
        (index.wrapping_add(lane), offset.wrapping_add(f.offset as u32))
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
    let mut offsets = MaybeUninit::uninit();
    // SAFETY: the caller enabled the features.
    let spot = unsafe { together::<L>(&buffer, f, wave, exec, env, site, &mut offsets) };
    match spot {
        // SAFETY: the spot was located in a range that may be accessed.
        Some(spot) => unsafe { f.act(wave, &spot) },
        None => return slow(&buffer, f, wave, env),
    }
    Ok(())
}

/// The spot, if the address form is a usual one and all lanes are in range and in one allocation. Offsets that are in
/// no register are put in `offsets`, which has to outlive the spot.
#[inline(always)]
unsafe fn together<L: Level>(
    buffer: &Buffer,
    f: &Fields,
    wave: &Wave,
    exec: u64,
    env: &Env<'_>,
    site: &mut Site,
    offsets: &mut MaybeUninit<Row>,
) -> Option<Spot> {
    let (offset, origin) = (f.offset as u32, buffer.origin());
    let row = if f.mem.offen { f.row(wave, 0) } else { &ZERO };
    let vgpr = f.mem.offen.then_some(f.address);
    let rows = if f.mem.addr64 {
        Rows { hi: Some(f.row(wave, 1)), ..f.rows(wave, origin.wrapping_add(offset.into())) }
    } else if !buffer.indexed && !buffer.swizzle {
        if !buffer.in_bytes && buffer.records == 0 {
            return None;
        }
        Rows { lo: row, vgpr, hi: None, add: origin.wrapping_add(offset.into()) }
    } else if !f.mem.idxen && buffer.interleaves_lanes() {
        if !f.mem.offen && f.bytes == 4 && origin.wrapping_add(offset.into()).is_multiple_of(4) && offset & 3 == 0 {
            let base = origin.wrapping_add(u64::from(offset) * 64);
            let (start, end) = site.bounds(env, base, f.write)?;
            return Spot::side_by_side(exec, base, (start, end.min(buffer.end())));
        }
        // SAFETY: the caller enabled the features.
        let lo = offsets.write(unsafe { swizzle::<L>(row, offset, exec, f.bytes) }?);
        Rows { lo, vgpr: None, hi: None, add: origin }
    } else if !buffer.swizzle {
        let lo = offsets.write(linear(buffer, f, wave, exec)?);
        Rows { lo, vgpr: None, hi: None, add: origin }
    } else {
        return None;
    };
    let (start, end) = site.bounds(env, rows.lane(exec.trailing_zeros() as usize), f.write)?;
    let end = if f.mem.addr64 { end } else { end.min(buffer.end()) };
    // SAFETY: the caller enabled the features; the bounds are inside of a range of the view.
    unsafe { f.spot::<L>(&rows, exec, (start, end)) }
}

/// Offsets of lanes with an index in a buffer that is not swizzled; None if they are large or not in their record.
#[inline(always)]
fn linear(buffer: &Buffer, f: &Fields, wave: &Wave, exec: u64) -> Option<Row> {
    let mut bad = 0;
    let offsets = std::array::from_fn(|i| {
        let (index, offset) = buffer.lane(f, wave, i);
        let at = u64::from(index) * u64::from(buffer.stride) + u64::from(offset);
        let inside = buffer.in_bytes || buffer.in_record(offset, f.bytes) && index < buffer.records;
        let wrong = at >> 32 != 0 || !inside;
        bad |= u64::from(wrong) & exec >> i;
        at as u32
    });
    (bad & 1 == 0).then_some(offsets)
}

unsafe fn by_lane(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    slow(&Buffer::new(f, wave), f, wave, env)
}

#[cold]
#[inline(never)]
fn slow(buffer: &Buffer, f: &Fields, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let bytes = f.cut().bytes;
    let find = |lane: usize, k: usize| buffer.unit(f, wave, lane, k, bytes);
    let pieces = f.pieces(wave, env, find)?;
    f.act_apart(wave, env, &pieces);
    Ok(())
}
