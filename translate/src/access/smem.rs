//! SMRD and SMEM: scalar memory. Addresses are in dwords: their low two bits are ignored.
//!
//! Buffer accesses are range-checked dword by dword: NUM_RECORDS counts records if there is a stride, else bytes.
//! Atomics are in range as a whole. The clocks are the host's. Stores and buffer accesses must be accessible dword by
//! dword, loads as a whole.

use super::address::Site;
use super::atomic::{Atomic, Kind, apply32, apply64};
use super::select::{Selected, nothing, scalar, sgpr};
use super::{Action, Bad, Fields, Run, Scalar, ScalarLoad};
use gcnjit_isa::{Gen, Inst, Operand, Smem, Ty};
use gcnjit_rt::{Env, Wave, clock};
use std::ptr::with_exposed_provenance_mut;

/// The function and fields of an instruction.
pub(super) fn select(op: Smem, inst: &Inst, generation: Gen) -> Selected {
    use Smem::*;
    let (run, count, write): (Run, usize, bool) = match op {
        s_load_dword => (plain, 1, false),
        s_load_dwordx2 => (plain, 2, false),
        s_load_dwordx4 => (plain, 4, false),
        s_load_dwordx8 => (plain, 8, false),
        s_load_dwordx16 => (plain, 16, false),
        s_store_dword => (plain, 1, true),
        s_store_dwordx2 => (plain, 2, true),
        s_store_dwordx4 => (plain, 4, true),
        s_scratch_load_dword => (scratch, 1, false),
        s_scratch_load_dwordx2 => (scratch, 2, false),
        s_scratch_load_dwordx4 => (scratch, 4, false),
        s_scratch_store_dword => (scratch, 1, true),
        s_scratch_store_dwordx2 => (scratch, 2, true),
        s_scratch_store_dwordx4 => (scratch, 4, true),
        s_buffer_load_dword => (buffer, 1, false),
        s_buffer_load_dwordx2 => (buffer, 2, false),
        s_buffer_load_dwordx4 => (buffer, 4, false),
        s_buffer_load_dwordx8 => (buffer, 8, false),
        s_buffer_load_dwordx16 => (buffer, 16, false),
        s_buffer_store_dword => (buffer, 1, true),
        s_buffer_store_dwordx2 => (buffer, 2, true),
        s_buffer_store_dwordx4 => (buffer, 4, true),
        s_dcache_inv | s_dcache_wb | s_dcache_inv_vol | s_dcache_wb_vol => return Ok(nothing(generation)),
        s_dcache_discard | s_dcache_discard_x2 | s_atc_probe | s_atc_probe_buffer => return Ok(nothing(generation)),
        s_memtime => (core_clock, 2, false),
        s_memrealtime => (constant_clock, 2, false),
        _ => return atomic(op, inst, generation),
    };
    if matches!(op, s_memtime | s_memrealtime) {
        let mut f = Fields::new(generation, inst.mem(), Action::Other, 0);
        let first = sgpr(inst.dst[0], count)?;
        f.scalars = first..first + count;
        return Ok((run, f));
    }
    let [base, soffset, data, _] = inst.src;
    let mut f = Fields::new(generation, inst.mem(), Action::Other, 0);
    f.base = Scalar::Register(sgpr(base, if op.info().srcs[0] == Ty::b128 { 4 } else { 2 })?);
    f.soffset = if soffset == Operand::None { Scalar::Constant(0) } else { scalar(soffset)? };
    let first = sgpr(if write { data } else { inst.dst[0] }, count)?;
    f.scalars = first..first + count;
    f.bytes = 4 * count as u32;
    f.write = write;
    Ok((run, f))
}

/// What an access is that `select` picked, if it is a plain load.
pub(super) fn plain_load(run: Run, f: &Fields) -> Option<ScalarLoad> {
    let is_plain = std::ptr::fn_addr_eq(run, plain as Run) && !f.write && !f.scalars.is_empty();
    let Scalar::Register(base) = f.base else { return None };
    let (soffset, constant) = match f.soffset {
        Scalar::Register(register) => (Some(register), 0),
        Scalar::Constant(value) => (None, value),
        Scalar::Flag(_) => return None,
    };
    let offset = i64::from(f.offset) + i64::from(constant);
    is_plain.then_some(ScalarLoad { base, soffset, offset, first: f.scalars.start, count: f.scalars.len() })
}

/// Atomics on a word in memory. Data, compare value and result are SGPRs.
fn atomic(op: Smem, inst: &Inst, generation: Gen) -> Selected {
    let (kind, wide) = kind(op).ok_or("this scalar memory operation")?;
    let [base, soffset, data, _] = inst.src;
    let of_buffer = op.info().srcs[0] == Ty::b128;
    let regs = if wide { 2 } else { 1 };
    let count = if kind == Kind::CmpSwap { 2 * regs } else { regs };
    let a = sgpr(data, count)?;
    let result = if inst.dst[0] == Operand::None { None } else { Some(sgpr(inst.dst[0], regs)?) };
    let action = Action::ScalarAtomic(Atomic { kind, wide, a, b: a + count - regs, result });
    let mut f = Fields::new(generation, inst.mem(), action, 0);
    f.base = Scalar::Register(sgpr(base, if of_buffer { 4 } else { 2 })?);
    f.soffset = scalar(soffset)?;
    f.scalars = result.map_or(0..0, |first| first..first + regs);
    Ok((if of_buffer { update_buffer } else { update }, f))
}

fn kind(op: Smem) -> Option<(Kind, bool)> {
    use {Kind::*, Smem::*};
    Some(match op {
        s_atomic_swap | s_buffer_atomic_swap => (Swap, false),
        s_atomic_cmpswap | s_buffer_atomic_cmpswap => (CmpSwap, false),
        s_atomic_add | s_buffer_atomic_add => (Add, false),
        s_atomic_sub | s_buffer_atomic_sub => (Sub, false),
        s_atomic_smin | s_buffer_atomic_smin => (SMin, false),
        s_atomic_umin | s_buffer_atomic_umin => (UMin, false),
        s_atomic_smax | s_buffer_atomic_smax => (SMax, false),
        s_atomic_umax | s_buffer_atomic_umax => (UMax, false),
        s_atomic_and | s_buffer_atomic_and => (And, false),
        s_atomic_or | s_buffer_atomic_or => (Or, false),
        s_atomic_xor | s_buffer_atomic_xor => (Xor, false),
        s_atomic_inc | s_buffer_atomic_inc => (Inc, false),
        s_atomic_dec | s_buffer_atomic_dec => (Dec, false),
        s_atomic_swap_x2 | s_buffer_atomic_swap_x2 => (Swap, true),
        s_atomic_cmpswap_x2 | s_buffer_atomic_cmpswap_x2 => (CmpSwap, true),
        s_atomic_add_x2 | s_buffer_atomic_add_x2 => (Add, true),
        s_atomic_sub_x2 | s_buffer_atomic_sub_x2 => (Sub, true),
        s_atomic_smin_x2 | s_buffer_atomic_smin_x2 => (SMin, true),
        s_atomic_umin_x2 | s_buffer_atomic_umin_x2 => (UMin, true),
        s_atomic_smax_x2 | s_buffer_atomic_smax_x2 => (SMax, true),
        s_atomic_umax_x2 | s_buffer_atomic_umax_x2 => (UMax, true),
        s_atomic_and_x2 | s_buffer_atomic_and_x2 => (And, true),
        s_atomic_or_x2 | s_buffer_atomic_or_x2 => (Or, true),
        s_atomic_xor_x2 | s_buffer_atomic_xor_x2 => (Xor, true),
        s_atomic_inc_x2 | s_buffer_atomic_inc_x2 => (Inc, true),
        s_atomic_dec_x2 | s_buffer_atomic_dec_x2 => (Dec, true),
        _ => return None,
    })
}

unsafe fn core_clock(f: &Fields, wave: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    wave.set_sgpr64(f.scalars.start, clock::core());
    Ok(())
}

unsafe fn constant_clock(f: &Fields, wave: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    wave.set_sgpr64(f.scalars.start, clock::constant());
    Ok(())
}

unsafe fn update(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let offset = i64::from(f.soffset.word(wave)) + i64::from(f.offset);
    change(f, wave, env, Some(f.base.pair(wave).wrapping_add_signed(offset) & !3))
}

unsafe fn update_buffer(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let (address, room) = within_buffer(f, wave);
    change(f, wave, env, (room >= f.bytes.into()).then_some(address))
}

/// Changes the word at an address, if there is one.
fn change(f: &Fields, wave: &mut Wave, env: &Env<'_>, address: Option<u64>) -> Result<(), Bad> {
    let Action::ScalarAtomic(Atomic { kind, wide, a, b, result }) = f.action else { return Ok(()) };
    let (mode, memory) = (wave.mode, env.memory);
    let changed = address.map_or(Ok(0), |address| {
        let bad = |cause| Bad { cause, address, lane: 0 };
        if wide {
            let (a, b) = (wave.sgpr64(a), wave.sgpr64(b));
            memory.atomic_u64(address, |old| apply64(kind, old, a, b, mode)).map_err(bad)
        } else {
            let (a, b) = (wave.sgpr[a], wave.sgpr[b]);
            memory.atomic_u32(address, |old| apply32(kind, old, a, b, mode)).map(u64::from).map_err(bad)
        }
    });
    let old = changed?;
    if let Some(result) = result {
        wave.sgpr[result] = old as u32;
        if wide {
            wave.sgpr[result + 1] = (old >> 32) as u32;
        }
    }
    Ok(())
}

unsafe fn plain(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let offset = i64::from(f.soffset.word(wave)) + i64::from(f.offset);
    run(f, wave, env, site, f.base.pair(wave).wrapping_add_signed(offset), f.scalars.len(), !f.write)
}

/// The offset counts 64 bytes if it is in a register.
unsafe fn scratch(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let offset = i64::from(f.soffset.word(wave)) * 64 + i64::from(f.offset);
    run(f, wave, env, site, f.base.pair(wave).wrapping_add_signed(offset), f.scalars.len(), !f.write)
}

unsafe fn buffer(f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
    let (address, room) = within_buffer(f, wave);
    let inside = (room / 4).min(f.scalars.len() as u64) as usize;
    run(f, wave, env, site, address, inside, false)?;
    if !f.write {
        wave.sgpr[f.scalars.start + inside..f.scalars.end].fill(0);
    }
    Ok(())
}

/// The address of a buffer access, and how many bytes of the buffer there are from there.
#[inline(always)]
fn within_buffer(f: &Fields, wave: &Wave) -> (u64, u64) {
    let Scalar::Register(at) = f.base else { unreachable!("a resource is in SGPRs") };
    let [w0, w1, records, w3] = std::array::from_fn(|k| wave.sgpr[at + k]);
    let more = if f.generation >= Gen::Gfx8 && w3 >> 23 & 1 != 0 { (w3 >> 15 & 0xf) << 14 } else { 0 };
    let stride = w1 >> 16 & 0x3fff | more;
    let size = u64::from(records) * u64::from(stride.max(1));
    let offset = u64::from(f.soffset.word(wave)).wrapping_add_signed(f.offset.into()) & 0xffff_fffc;
    let base = (u64::from(w0) | u64::from(w1 & 0xffff) << 32) & !3;
    (base.wrapping_add(offset), size.saturating_sub(offset))
}

/// Moves the first `count` of the SGPRs. They must be accessible as a `whole`, or one by one.
#[inline(always)]
fn run(
    f: &Fields,
    wave: &mut Wave,
    env: &Env<'_>,
    site: &mut Site,
    address: u64,
    count: usize,
    whole: bool,
) -> Result<(), Bad> {
    let address = address & !3;
    let len = 4 * count as u64;
    if len == 0 {
        return Ok(());
    }
    if site.bounds(env, address, f.write).is_none_or(|(_, end)| end - address < len) {
        check(f, env, address, len, if whole { len } else { 4 })?;
    }
    let at: *mut u32 = with_exposed_provenance_mut(address as usize);
    let scalars = &mut wave.sgpr[f.scalars.start..f.scalars.start + count];
    for (k, scalar) in scalars.iter_mut().enumerate() {
        // SAFETY: `len` bytes from there are in ranges of the view, writable if need be; dwords are aligned.
        unsafe {
            let at = at.add(k);
            if f.write { at.write(*scalar) } else { *scalar = at.read() }
        }
    }
    Ok(())
}

/// Checks `len` bytes in units of `step`.
#[cold]
#[inline(never)]
fn check(f: &Fields, env: &Env<'_>, address: u64, len: u64, step: u64) -> Result<(), Bad> {
    for at in (0..len).step_by(step as usize).map(|k| address.wrapping_add(k)) {
        env.memory.check(at, step, f.write).map_err(|cause| Bad { cause, address: at, lane: 0 })?;
    }
    Ok(())
}
