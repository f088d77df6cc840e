//! FLAT, GLOBAL and SCRATCH.
//!
//! A flat address is in LDS or in scratch if it is in their aperture, which may differ from lane to lane. Scratch is
//! swizzled: dword `n` of lane `i` is at `n * 256 + i * 4` from the wave's base, so every dword is found on its own.

use super::address::{Rows, Site, Spot, swizzle};
use super::atomic::Kind;
use super::cell::Form;
use super::lanes::{Level, levels};
use super::pieces::Unit;
use super::select::{Selected, What, action, optional_vgpr, scalar, sgpr, to_lds, vgpr};
use super::{Bad, Fields, Linear, Run, Scalar, ZERO};
use gcnjit_isa::{Flat, Gen, Inst, Operand};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::{Env, Wave};

/// How much of the address space an aperture takes.
const APERTURE: u64 = 1 << 32;

/// The function and fields of an instruction.
pub(super) fn select(op: Flat, inst: &Inst, generation: Gen) -> Selected {
    let mem = inst.mem();
    let [address, data, saddr, _] = inst.src;
    let (action, data) = if mem.lds { to_lds(what(op))? } else { action(what(op), data, inst.dst[0])? };
    let mut f = Fields::new(generation, mem, action, data);
    let run: Run = match (mem.seg, saddr) {
        (1, _) => {
            f.vector = address != Operand::None;
            f.address = optional_vgpr(address)?;
            f.base = scalar(saddr)?;
            if mem.lds { scratch_by_lane } else { pick_scratch() }
        }
        (_, Operand::None) => {
            f.address = vgpr(address, 2)?;
            f.apertures = mem.seg == 0;
            f.linear = if mem.lds { Linear::No } else { Linear::Memory };
            if mem.lds { vector_by_lane } else { pick_vector() }
        }
        _ => {
            f.address = vgpr(address, 1)?;
            f.base = Scalar::Register(sgpr(saddr, 2)?);
            f.linear = if mem.lds { Linear::No } else { Linear::Memory };
            if mem.lds { based_by_lane } else { pick_based() }
        }
    };
    Ok((run, f))
}

fn what(op: Flat) -> What {
    use {Flat::*, Form::*, Kind::*, What::*};
    match op {
        flat_load_ubyte => Load(U8),
        flat_load_sbyte => Load(I8),
        flat_load_ushort => Load(U16),
        flat_load_sshort => Load(I16),
        flat_load_dword => Load(B32),
        flat_load_dwordx2 => Load(B64),
        flat_load_dwordx3 => Load(B96),
        flat_load_dwordx4 => Load(B128),
        flat_load_ubyte_d16 => Load(U8Lo),
        flat_load_ubyte_d16_hi => Load(U8Hi),
        flat_load_sbyte_d16 => Load(I8Lo),
        flat_load_sbyte_d16_hi => Load(I8Hi),
        flat_load_short_d16 => Load(U16Lo),
        flat_load_short_d16_hi => Load(U16Hi),
        flat_store_byte => Store(U8),
        flat_store_byte_d16_hi => Store(U8Hi),
        flat_store_short => Store(U16),
        flat_store_short_d16_hi => Store(U16Hi),
        flat_store_dword => Store(B32),
        flat_store_dwordx2 => Store(B64),
        flat_store_dwordx3 => Store(B96),
        flat_store_dwordx4 => Store(B128),
        flat_atomic_swap => Narrow(Swap),
        flat_atomic_cmpswap => Narrow(CmpSwap),
        flat_atomic_add => Narrow(Add),
        flat_atomic_sub => Narrow(Sub),
        flat_atomic_smin => Narrow(SMin),
        flat_atomic_umin => Narrow(UMin),
        flat_atomic_smax => Narrow(SMax),
        flat_atomic_umax => Narrow(UMax),
        flat_atomic_and => Narrow(And),
        flat_atomic_or => Narrow(Or),
        flat_atomic_xor => Narrow(Xor),
        flat_atomic_inc => Narrow(Inc),
        flat_atomic_dec => Narrow(Dec),
        flat_atomic_fcmpswap => Narrow(FCmpSwap),
        flat_atomic_fmin => Narrow(FMin),
        flat_atomic_fmax => Narrow(FMax),
        flat_atomic_swap_x2 => Wide(Swap),
        flat_atomic_cmpswap_x2 => Wide(CmpSwap),
        flat_atomic_add_x2 => Wide(Add),
        flat_atomic_sub_x2 => Wide(Sub),
        flat_atomic_smin_x2 => Wide(SMin),
        flat_atomic_umin_x2 => Wide(UMin),
        flat_atomic_smax_x2 => Wide(SMax),
        flat_atomic_umax_x2 => Wide(UMax),
        flat_atomic_and_x2 => Wide(And),
        flat_atomic_or_x2 => Wide(Or),
        flat_atomic_xor_x2 => Wide(Xor),
        flat_atomic_inc_x2 => Wide(Inc),
        flat_atomic_dec_x2 => Wide(Dec),
        flat_atomic_fcmpswap_x2 => Wide(FCmpSwap),
        flat_atomic_fmin_x2 => Wide(FMin),
        flat_atomic_fmax_x2 => Wide(FMax),
    }
}

levels! {
    /// The function for 64-bit addresses in VGPRs.
    pub(super) fn pick_vector = vector, Run,
    (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}
levels! {
    /// The function for an SGPR base and 32-bit offsets in VGPRs.
    pub(super) fn pick_based = based, Run,
    (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}
levels! {
    /// The function for the scratch segment.
    pub(super) fn pick_scratch = scratch, Run,
    (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}

#[inline(always)]
unsafe fn vector<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    if exec == 0 {
        return Ok(());
    }
    // SAFETY: the caller enabled the features.
    let spot = unsafe { spot::<L>(&vector_rows(f, wave), f, exec, env, site) };
    match spot {
        // SAFETY: the spot was located in a range that may be accessed.
        Some(spot) => unsafe { f.act(wave, &spot) },
        None => return slow_vector(f, wave, env),
    }
    Ok(())
}

#[inline(always)]
fn vector_rows<'a>(f: &Fields, wave: &'a Wave) -> Rows<'a> {
    let add = i64::from(f.offset) as u64;
    Rows { hi: Some(f.row(wave, 1)), ..f.rows(wave, add) }
}

#[cold]
#[inline(never)]
fn slow_vector(f: &Fields, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let private = private_base(wave, env);
    let rows = vector_rows(f, wave);
    // Where a lane is in scratch, dwords are apart, and all are checked on their own.
    let apart = f.apertures && (0..64).any(|lane| private_offset(rows.lane(lane)).is_some());
    let find = |lane: usize, k: usize| {
        let (start, more) = (rows.lane(lane), 4 * k as u64);
        let (address, more) = if apart { (start.wrapping_add(more), 0) } else { (start, more) };
        let local = address.wrapping_sub(LDS_APERTURE);
        match private_offset(address) {
            _ if !f.apertures || !apart && local >= APERTURE => f.whole(start, k),
            _ if local < APERTURE => Unit::Lds(local + more),
            Some(offset) => swizzled(f, private, offset, wave.lane_at(lane), 0),
            None => Unit::Memory(address, f.cut().bytes.into()),
        }
    };
    let pieces = f.pieces(wave, env, find)?;
    f.act_apart(wave, env, &pieces);
    Ok(())
}

#[inline(always)]
unsafe fn based<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    if exec == 0 {
        return Ok(());
    }
    // SAFETY: the caller enabled the features.
    let spot = unsafe { spot::<L>(&based_rows(f, wave), f, exec, env, site) };
    match spot {
        // SAFETY: the spot was located in a range that may be accessed.
        Some(spot) => unsafe { f.act(wave, &spot) },
        None => return slow_based(f, wave, env),
    }
    Ok(())
}

#[inline(always)]
fn based_rows<'a>(f: &Fields, wave: &'a Wave) -> Rows<'a> {
    f.rows(wave, f.base.pair(wave).wrapping_add_signed(f.offset.into()))
}

#[cold]
#[inline(never)]
fn slow_based(f: &Fields, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let rows = based_rows(f, wave);
    let pieces = f.pieces(wave, env, |lane, k| f.whole(rows.lane(lane), k))?;
    f.act_apart(wave, env, &pieces);
    Ok(())
}

/// The spot of `rows` in the range that the first lane is in.
///
/// # Safety
/// The features of `L` are enabled.
#[inline(always)]
pub(super) unsafe fn spot<L: Level>(
    rows: &Rows<'_>,
    f: &Fields,
    exec: u64,
    env: &Env<'_>,
    site: &mut Site,
) -> Option<Spot> {
    let bounds = site.bounds(env, rows.lane(exec.trailing_zeros() as usize), f.write)?;
    // SAFETY: the caller enabled the features; a site's bounds are those of a range of the view.
    unsafe { f.spot::<L>(rows, exec, bounds) }
}

/// The scratch segment: 32-bit offsets, from a VGPR, an SGPR or both.
#[inline(always)]
unsafe fn scratch<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    if exec == 0 {
        return Ok(());
    }
    let private = private_base(wave, env);
    let add = f.base.word(wave).wrapping_add_signed(f.offset);
    let row = if f.vector { *f.row(wave, 0) } else { ZERO };
    // SAFETY: the caller enabled the features.
    if let Some(lo) = unsafe { swizzle::<L>(&row, add, exec, f.bytes) } {
        let rows = Rows { lo: &lo, vgpr: None, hi: None, add: private };
        // SAFETY: the caller enabled the features.
        let spot = unsafe { spot::<L>(&rows, f, exec, env, site) };
        if let Some(spot) = spot {
            // SAFETY: the spot was located in a range that may be accessed.
            unsafe { f.act(wave, &spot) };
            return Ok(());
        }
    }
    slow_scratch(f, wave, env)
}

#[cold]
#[inline(never)]
fn slow_scratch(f: &Fields, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let (private, add) = (private_base(wave, env), f.base.word(wave).wrapping_add_signed(f.offset));
    let row = if f.vector { *f.row(wave, 0) } else { ZERO };
    let find = |lane: usize, k: usize| swizzled(f, private, u64::from(row[lane].wrapping_add(add)), lane, k);
    let pieces = f.pieces(wave, env, find)?;
    f.act_apart(wave, env, &pieces);
    Ok(())
}

unsafe fn vector_by_lane(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    slow_vector(f, wave, env)
}

unsafe fn based_by_lane(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    slow_based(f, wave, env)
}

unsafe fn scratch_by_lane(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    slow_scratch(f, wave, env)
}

fn private_offset(address: u64) -> Option<u64> {
    Some(address.wrapping_sub(PRIVATE_APERTURE)).filter(|offset| *offset < APERTURE)
}

/// Where unit `k` of a lane is whose scratch offset is `offset`.
fn swizzled(f: &Fields, private: u64, offset: u64, lane: usize, k: usize) -> Unit {
    let offset = offset + 4 * k as u64;
    let at = (offset >> 2) * 256 + lane as u64 * 4 + (offset & 3);
    Unit::Memory(private.wrapping_add(at), f.cut().bytes.into())
}

/// Where the wave's scratch starts: FLAT_SCRATCH is an address on gfx9, before that a size and an offset in 256 bytes.
fn private_base(wave: &Wave, env: &Env<'_>) -> u64 {
    match env.target.generation() {
        Gen::Gfx9 => wave.sgpr64(102),
        Gen::Gfx8 => env.scratch.wrapping_add(u64::from(wave.sgpr[103]) << 8),
        Gen::Gfx7 | Gen::Gfx6 => env.scratch.wrapping_add(u64::from(wave.sgpr[105]) << 8),
    }
}
