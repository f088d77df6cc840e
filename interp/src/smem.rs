//! SMRD and SMEM: scalar memory.
//!
//! The address is the base plus the immediate offset plus the SGPR offset, its two low bits ignored. A buffer access
//! checks each dword against the resource's range (`records` records of `stride` bytes, or bytes without a stride, on
//! gfx8 too, where vector memory counts bytes more often): what is out of it reads zero and is not written; atomics are in range as a whole. Scratch offsets in registers count 64 bytes. The
//! clocks are the host's.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::atomic::*;
use crate::dispatch::scalar;
use crate::memory::{AtomicWord, Place, atomics};
use crate::mubuf::Resource;
use crate::observe::Touch;
use crate::run::Machine;
use gcnjit_isa::{Access, Inst, Operand, Ty};
use gcnjit_rt::{Cause, LANES, Trap, clock};

gcnjit_isa::smem! { scalar }

/// The byte offset.
fn offset(m: &Machine<'_>, inst: &Inst) -> u64 {
    (i64::from(inst.mem().offset) as u64).wrapping_add(m.uniform(inst.src[1], Ty::u32))
}

fn address(m: &Machine<'_>, inst: &Inst) -> u64 {
    m.uniform(inst.src[0], Ty::b64).wrapping_add(offset(m, inst)) & !3
}

/// The address of each dword of a buffer access; `None` out of range.
fn buffer(m: &Machine<'_>, inst: &Inst, dwords: usize) -> [Option<u64>; 16] {
    let mut addresses = [None; 16];
    let Operand::Sgpr(first) = inst.src[0] else { return addresses };
    let words = std::array::from_fn(|i| m.wave.sgpr[(usize::from(first) + i) & 127]);
    let resource = Resource::new(words, m.env.target.generation());
    let size = u64::from(resource.records) * u64::from(resource.stride.max(1));
    let start = offset(m, inst) & 0xffff_fffc;
    for (i, address) in addresses.iter_mut().enumerate().take(dwords) {
        let at = start + 4 * i as u64;
        *address = (at + 4 <= size).then(|| (resource.base & !3).wrapping_add(at));
    }
    addresses
}

/// Notes an access, if there is a log. `dword` is the first of the instruction's dwords that it moves.
fn note(m: &Machine<'_>, access: Access, address: u64, bytes: usize, dword: usize) {
    if let Some(log) = m.log {
        log.add(Touch { access, lane: None, place: Place::Memory(address), bytes, dword, data: 2 });
    }
}

fn set_dwords(m: &mut Machine<'_>, operand: Operand, dwords: &[u32]) {
    let Operand::Sgpr(first) = operand else { return };
    for (i, dword) in dwords.iter().enumerate() {
        m.wave.sgpr[(usize::from(first) + i) & 127] = *dword;
    }
}

fn dword(m: &Machine<'_>, operand: Operand, i: usize) -> u32 {
    match operand {
        Operand::Sgpr(first) => m.wave.sgpr[(usize::from(first) + i) & 127],
        _ => 0,
    }
}

fn load(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    load_at(m, inst, dwords, address(m, inst))
}

fn scratch_load(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    load_at(m, inst, dwords, scratch_address(m, inst))
}

fn scratch_address(m: &Machine<'_>, inst: &Inst) -> u64 {
    let more = m.uniform(inst.src[1], Ty::u32) * 64;
    m.uniform(inst.src[0], Ty::b64).wrapping_add(i64::from(inst.mem().offset) as u64).wrapping_add(more) & !3
}

fn load_at(m: &mut Machine<'_>, inst: &Inst, dwords: usize, address: u64) -> Result<(), Trap> {
    let mut bytes = [0; 64];
    let bytes = &mut bytes[..dwords * 4];
    m.env.memory.read(address, bytes).map_err(|cause| m.fault(cause, address, 0))?;
    note(m, Access::Load, address, bytes.len(), 0);
    let mut values = [0; 16];
    for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
        *value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    set_dwords(m, inst.dst[0], &values[..dwords]);
    Ok(())
}

fn buffer_load(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    let mut values = [0; 16];
    for (i, (value, address)) in values.iter_mut().zip(buffer(m, inst, dwords)).enumerate() {
        if let Some(address) = address {
            let bytes = m.env.memory.load(address).map_err(|cause| m.fault(cause, address, 0))?;
            note(m, Access::Load, address, 4, i);
            *value = u32::from_le_bytes(bytes);
        }
    }
    set_dwords(m, inst.dst[0], &values[..dwords]);
    Ok(())
}

fn store(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    store_at(m, inst, consecutive(address(m, inst), dwords))
}

fn scratch_store(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    store_at(m, inst, consecutive(scratch_address(m, inst), dwords))
}

fn consecutive(address: u64, dwords: usize) -> [Option<u64>; 16] {
    std::array::from_fn(|i| (i < dwords).then(|| address.wrapping_add(4 * i as u64)))
}

/// Updates one word with the data in SGPRs, which the old value replaces if it is asked for.
fn update<T: AtomicWord>(m: &mut Machine<'_>, inst: &Inst, f: Update<T>) -> Result<(), Trap> {
    let dwords = T::BYTES / 4;
    let place = if inst.op.info().srcs[0] == Ty::b128 {
        let addresses = buffer(m, inst, dwords);
        addresses[0].filter(|_| addresses[dwords - 1].is_some())
    } else {
        Some(address(m, inst))
    };
    let raw = std::array::from_fn(|i| [dword(m, inst.src[2], i); LANES]);
    let (data, compare, fp) = (T::get(&raw, 0, 0), T::get(&raw, dwords, 0), m.fp.clone());
    let mut old = [[0; LANES]; 2];
    if let Some(address) = place {
        let value = T::in_memory(m.env, address, |old| f(&fp, old, data, compare));
        T::set(&mut old, 0, value.map_err(|cause| m.fault(cause, address, 0))?);
        note(m, Access::Atomic, address, T::BYTES, 0);
    }
    set_dwords(m, inst.dst[0], &old.map(|row| row[0])[..dwords]);
    Ok(())
}

pub fn s_memtime(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    m.set_scalar(inst.dst[0], Ty::b64, clock::core());
    Ok(())
}

pub fn s_memrealtime(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    m.set_scalar(inst.dst[0], Ty::b64, clock::constant());
    Ok(())
}

fn buffer_store(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    let addresses = buffer(m, inst, dwords);
    store_at(m, inst, addresses)
}

/// Checks all dwords that have an address, then stores them.
fn store_at(m: &mut Machine<'_>, inst: &Inst, addresses: [Option<u64>; 16]) -> Result<(), Trap> {
    let fault = |m: &Machine<'_>, cause: Cause, address| m.fault(cause, address, 0);
    for address in addresses.into_iter().flatten() {
        m.env.memory.check(address, 4, true).map_err(|cause| fault(m, cause, address))?;
    }
    for (i, address) in addresses.into_iter().enumerate() {
        if let Some(address) = address {
            note(m, Access::Store, address, 4, i);
            let bytes = dword(m, inst.src[2], i).to_le_bytes();
            m.env.memory.store(address, &bytes).map_err(|cause| fault(m, cause, address))?;
        }
    }
    Ok(())
}

macro_rules! bodies {
    ($($name:ident $dwords:literal $body:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            $body(m, inst, $dwords)
        }
    )* };
}

bodies! {
    s_load_dword 1 load;
    s_load_dwordx2 2 load;
    s_load_dwordx4 4 load;
    s_load_dwordx8 8 load;
    s_load_dwordx16 16 load;
    s_buffer_load_dword 1 buffer_load;
    s_buffer_load_dwordx2 2 buffer_load;
    s_buffer_load_dwordx4 4 buffer_load;
    s_buffer_load_dwordx8 8 buffer_load;
    s_buffer_load_dwordx16 16 buffer_load;
    s_scratch_load_dword 1 scratch_load;
    s_scratch_load_dwordx2 2 scratch_load;
    s_scratch_load_dwordx4 4 scratch_load;
    s_scratch_store_dword 1 scratch_store;
    s_scratch_store_dwordx2 2 scratch_store;
    s_scratch_store_dwordx4 4 scratch_store;
    s_store_dword 1 store;
    s_store_dwordx2 2 store;
    s_store_dwordx4 4 store;
    s_buffer_store_dword 1 buffer_store;
    s_buffer_store_dwordx2 2 buffer_store;
    s_buffer_store_dwordx4 4 buffer_store;
}

atomics! {
    s_buffer_atomic_swap u32 swap;
    s_buffer_atomic_cmpswap u32 cmpswap;
    s_buffer_atomic_add u32 add;
    s_buffer_atomic_sub u32 sub;
    s_buffer_atomic_smin u32 smin;
    s_buffer_atomic_umin u32 umin;
    s_buffer_atomic_smax u32 smax;
    s_buffer_atomic_umax u32 umax;
    s_buffer_atomic_and u32 and;
    s_buffer_atomic_or u32 or;
    s_buffer_atomic_xor u32 xor;
    s_buffer_atomic_inc u32 inc;
    s_buffer_atomic_dec u32 dec;
    s_buffer_atomic_swap_x2 u64 swap;
    s_buffer_atomic_cmpswap_x2 u64 cmpswap;
    s_buffer_atomic_add_x2 u64 add;
    s_buffer_atomic_sub_x2 u64 sub;
    s_buffer_atomic_smin_x2 u64 smin;
    s_buffer_atomic_umin_x2 u64 umin;
    s_buffer_atomic_smax_x2 u64 smax;
    s_buffer_atomic_umax_x2 u64 umax;
    s_buffer_atomic_and_x2 u64 and;
    s_buffer_atomic_or_x2 u64 or;
    s_buffer_atomic_xor_x2 u64 xor;
    s_buffer_atomic_inc_x2 u64 inc;
    s_buffer_atomic_dec_x2 u64 dec;
    s_atomic_swap u32 swap;
    s_atomic_cmpswap u32 cmpswap;
    s_atomic_add u32 add;
    s_atomic_sub u32 sub;
    s_atomic_smin u32 smin;
    s_atomic_umin u32 umin;
    s_atomic_smax u32 smax;
    s_atomic_umax u32 umax;
    s_atomic_and u32 and;
    s_atomic_or u32 or;
    s_atomic_xor u32 xor;
    s_atomic_inc u32 inc;
    s_atomic_dec u32 dec;
    s_atomic_swap_x2 u64 swap;
    s_atomic_cmpswap_x2 u64 cmpswap;
    s_atomic_add_x2 u64 add;
    s_atomic_sub_x2 u64 sub;
    s_atomic_smin_x2 u64 smin;
    s_atomic_umin_x2 u64 umin;
    s_atomic_smax_x2 u64 smax;
    s_atomic_umax_x2 u64 umax;
    s_atomic_and_x2 u64 and;
    s_atomic_or_x2 u64 or;
    s_atomic_xor_x2 u64 xor;
    s_atomic_inc_x2 u64 inc;
    s_atomic_dec_x2 u64 dec;
}

macro_rules! without_effect {
    ($($name:ident)*) => { $(
        /// Caches are not modelled: memory is always coherent.
        pub fn $name(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            Ok(())
        }
    )* };
}

without_effect! { s_dcache_inv s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol s_dcache_discard s_dcache_discard_x2 }
without_effect! { s_atc_probe s_atc_probe_buffer }
