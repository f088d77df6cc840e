//! SMRD and SMEM: scalar memory.
//!
//! The address is the base plus the immediate offset plus the SGPR offset, its two low bits ignored. A buffer access
//! checks each dword against the resource's range (`records` bytes, or records of `stride` bytes): what is out of it
//! reads zero and is not written.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::mubuf::Resource;
use crate::run::Machine;
use gcnjit_isa::{Gen, Inst, Operand, Ty};
use gcnjit_rt::{Cause, Trap};

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
    let generation = m.env.target.generation();
    let resource = Resource::new(words, generation);
    let stride = if resource.stride == 0 || generation == Gen::Gfx8 { 1 } else { u64::from(resource.stride) };
    let size = u64::from(resource.records) * stride;
    let start = offset(m, inst) & 0xffff_fffc;
    for (i, address) in addresses.iter_mut().enumerate().take(dwords) {
        let at = start + 4 * i as u64;
        *address = (at + 4 <= size).then(|| (resource.base & !3).wrapping_add(at));
    }
    addresses
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
    let address = address(m, inst);
    let mut bytes = [0; 64];
    let bytes = &mut bytes[..dwords * 4];
    m.env.memory.read(address, bytes).map_err(|cause| m.fault(cause, address, 0))?;
    let mut values = [0; 16];
    for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
        *value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    set_dwords(m, inst.dst[0], &values[..dwords]);
    Ok(())
}

fn buffer_load(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    let mut values = [0; 16];
    for (value, address) in values.iter_mut().zip(buffer(m, inst, dwords)) {
        if let Some(address) = address {
            let bytes = m.env.memory.load(address).map_err(|cause| m.fault(cause, address, 0))?;
            *value = u32::from_le_bytes(bytes);
        }
    }
    set_dwords(m, inst.dst[0], &values[..dwords]);
    Ok(())
}

fn store(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    let address = address(m, inst);
    let addresses = std::array::from_fn(|i| (i < dwords).then(|| address.wrapping_add(4 * i as u64)));
    store_at(m, inst, addresses)
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
    s_store_dword 1 store;
    s_store_dwordx2 2 store;
    s_store_dwordx4 4 store;
    s_buffer_store_dword 1 buffer_store;
    s_buffer_store_dwordx2 2 buffer_store;
    s_buffer_store_dwordx4 4 buffer_store;
}

macro_rules! without_effect {
    ($($name:ident)*) => { $(
        /// Caches are not modelled: memory is always coherent.
        pub fn $name(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            Ok(())
        }
    )* };
}

without_effect! { s_dcache_inv s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol }
