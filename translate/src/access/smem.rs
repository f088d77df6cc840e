//! SMRD and SMEM: scalar memory. Addresses are in dwords: their low two bits are ignored.
//!
//! Buffer accesses are range-checked dword by dword: NUM_RECORDS counts records if there is a stride, else (and on
//! gfx8) bytes. Stores and buffer accesses must be accessible dword by dword, loads as a whole.

use super::address::Site;
use super::select::{Selected, nothing, scalar, sgpr};
use super::{Action, Bad, Fields, Run, Scalar};
use gcnjit_isa::{Gen, Inst, Operand, Smem, Ty};
use gcnjit_rt::{Env, Wave};
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
        _ => return Err("scalar atomics and clocks"),
    };
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
    let Scalar::Register(at) = f.base else { unreachable!("a resource is in SGPRs") };
    let [w0, w1, records, w3] = std::array::from_fn(|k| wave.sgpr[at + k]);
    let more = if f.generation >= Gen::Gfx8 && w3 >> 23 & 1 != 0 { (w3 >> 15 & 0xf) << 14 } else { 0 };
    let stride = if f.generation == Gen::Gfx8 { 1 } else { (w1 >> 16 & 0x3fff | more).max(1) };
    let size = u64::from(records) * u64::from(stride);
    let offset = u64::from(f.soffset.word(wave)).wrapping_add_signed(f.offset.into()) & 0xffff_fffc;
    let base = (u64::from(w0) | u64::from(w1 & 0xffff) << 32) & !3;
    let inside = (size.saturating_sub(offset) / 4).min(f.scalars.len() as u64) as usize;
    run(f, wave, env, site, base.wrapping_add(offset), inside, false)?;
    if !f.write {
        wave.sgpr[f.scalars.start + inside..f.scalars.end].fill(0);
    }
    Ok(())
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
