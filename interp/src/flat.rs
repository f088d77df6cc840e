//! FLAT, GLOBAL and SCRATCH.
//!
//! A flat address inside of an aperture is in LDS or in scratch, otherwise it is a guest address. A lane's scratch is
//! interleaved with the other lanes' by dword: byte `x` of lane `i` is `x / 4 · 256 + i · 4 + x % 4` from the wave's
//! base, which FLAT_SCRATCH holds (gfx9) or an offset to it in units of 256 bytes (gfx7, gfx8).

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::atomic::*;
use crate::memory::{self, AtomicData, Place, Shape, atomics, form, loads, stores};
use crate::mubuf::no_lds;
use crate::run::Machine;
use gcnjit_isa::{Gen, Inst, Note, Operand, Ty};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::{LANES, Trap};

use crate::dispatch::vector;

gcnjit_isa::flat! { vector }

/// How large each aperture is.
const APERTURE: u64 = 1 << 32;
/// The segments of gfx9's encoding.
const SCRATCH: u8 = 1;
const GLOBAL: u8 = 2;

/// Where the lanes' accesses are.
enum Lanes {
    /// Guest addresses, LDS or scratch by aperture.
    Flat([u64; LANES]),
    /// Guest addresses.
    Global([u64; LANES]),
    /// Offsets in the lanes' scratch.
    Scratch([u32; LANES]),
}

impl Lanes {
    fn new(m: &mut Machine<'_>, inst: &Inst) -> Lanes {
        let mem = inst.mem();
        let (vector, scalar) = (inst.src[0], inst.src[2]);
        let offset = i64::from(mem.offset) as u64;
        if mem.seg == SCRATCH {
            let base = (m.uniform(scalar, Ty::u32) as u32).wrapping_add(offset as u32);
            return Lanes::Scratch(memory::addresses(m, vector).map(|x| x.wrapping_add(base)));
        }
        if scalar != Operand::None {
            let base = m.uniform(scalar, Ty::u64).wrapping_add(offset);
            return Lanes::Global(memory::addresses(m, vector).map(|x| base.wrapping_add(u64::from(x))));
        }
        let addresses = memory::wide_addresses(m, vector).map(|x| x.wrapping_add(offset));
        if mem.seg == GLOBAL { Lanes::Global(addresses) } else { Lanes::Flat(addresses) }
    }

    /// Whether dwords of one lane can lie apart.
    fn apart(&self) -> bool {
        let private = |x: &u64| x.wrapping_sub(PRIVATE_APERTURE) < APERTURE;
        match self {
            Lanes::Flat(addresses) => addresses.iter().any(private),
            Lanes::Global(_) => false,
            Lanes::Scratch(_) => true,
        }
    }

    /// Where part `part`, dword `part` of the access if there are several, is.
    fn place(&self, scratch: u64, lane: usize, part: usize) -> Place {
        let more = 4 * part as u64;
        match self {
            Lanes::Global(addresses) => Place::Memory(addresses[lane].wrapping_add(more)),
            Lanes::Scratch(offsets) => swizzled(scratch, u64::from(offsets[lane]) + more, lane),
            Lanes::Flat(addresses) => {
                let address = addresses[lane].wrapping_add(more);
                if address.wrapping_sub(LDS_APERTURE) < APERTURE {
                    Place::Lds(address as u32)
                } else if address.wrapping_sub(PRIVATE_APERTURE) < APERTURE {
                    swizzled(scratch, address - PRIVATE_APERTURE, lane)
                } else {
                    Place::Memory(address)
                }
            }
        }
    }

    fn shape(&self, bytes: usize) -> Shape {
        if self.apart() { Shape::dwords(bytes) } else { Shape::whole(bytes) }
    }
}

/// Where byte `offset` of a lane's scratch is.
fn swizzled(base: u64, offset: u64, lane: usize) -> Place {
    Place::Memory(base.wrapping_add((offset >> 2) * 256 + lane as u64 * 4 + (offset & 3)))
}

/// Where the wave's scratch starts.
fn scratch_base(m: &Machine<'_>) -> u64 {
    let offset = |high: usize| m.env.scratch.wrapping_add(u64::from(m.wave.sgpr[high]) << 8);
    match m.env.target.generation() {
        Gen::Gfx9 => m.wave.sgpr64(102),
        Gen::Gfx8 => offset(103),
        Gen::Gfx7 | Gen::Gfx6 => offset(105),
    }
}

fn load(m: &mut Machine<'_>, inst: &Inst, bytes: usize, finish: fn(u32, u32) -> u32) -> Result<(), Trap> {
    let (lanes, base) = (Lanes::new(m, inst), scratch_base(m));
    if inst.mem().lds && (bytes > 4 || inst.op.info().has(Note::Acc)) {
        return Err(m.unimplemented(inst, "this load into LDS"));
    }
    memory::load(m, inst, lanes.shape(bytes), |lane, part| lanes.place(base, lane, part), finish)
}

fn store(m: &mut Machine<'_>, inst: &Inst, bytes: usize, select: fn(u32) -> u32) -> Result<(), Trap> {
    no_lds(m, inst)?;
    let (lanes, base) = (Lanes::new(m, inst), scratch_base(m));
    memory::store(m, inst, 1, lanes.shape(bytes), |lane, part| lanes.place(base, lane, part), select)
}

fn update<T: memory::AtomicWord>(m: &mut Machine<'_>, inst: &Inst, f: Update<T>) -> Result<(), Trap> {
    no_lds(m, inst)?;
    let (lanes, base) = (Lanes::new(m, inst), scratch_base(m));
    memory::atomic(m, inst, AtomicData::Registers(1), |lane| lanes.place(base, lane, 0), f)
}

loads! {
    flat_load_ubyte 1 zext;
    flat_load_sbyte 1 sext8;
    flat_load_ushort 2 zext;
    flat_load_sshort 2 sext16;
    flat_load_dword 4 zext;
    flat_load_dwordx2 8 zext;
    flat_load_dwordx3 12 zext;
    flat_load_dwordx4 16 zext;
}

stores! {
    flat_store_byte 1 low_part;
    flat_store_byte_d16_hi 1 high_part;
    flat_store_short 2 low_part;
    flat_store_short_d16_hi 2 high_part;
    flat_store_dword 4 low_part;
    flat_store_dwordx2 8 low_part;
    flat_store_dwordx3 12 low_part;
    flat_store_dwordx4 16 low_part;
}

loads! {
    flat_load_ubyte_d16 1 low;
    flat_load_ubyte_d16_hi 1 high;
    flat_load_sbyte_d16 1 sext8_low;
    flat_load_sbyte_d16_hi 1 sext8_high;
    flat_load_short_d16 2 low;
    flat_load_short_d16_hi 2 high;
}

atomics! {
    flat_atomic_fcmpswap u32 fcmpswap;
    flat_atomic_fmin u32 fmin;
    flat_atomic_fmax u32 fmax;
    flat_atomic_swap u32 swap;
    flat_atomic_cmpswap u32 cmpswap;
    flat_atomic_add u32 add;
    flat_atomic_sub u32 sub;
    flat_atomic_smin u32 smin;
    flat_atomic_umin u32 umin;
    flat_atomic_smax u32 smax;
    flat_atomic_umax u32 umax;
    flat_atomic_and u32 and;
    flat_atomic_or u32 or;
    flat_atomic_xor u32 xor;
    flat_atomic_inc u32 inc;
    flat_atomic_dec u32 dec;
    flat_atomic_fcmpswap_x2 u64 fcmpswap;
    flat_atomic_fmin_x2 u64 fmin;
    flat_atomic_fmax_x2 u64 fmax;
    flat_atomic_swap_x2 u64 swap;
    flat_atomic_cmpswap_x2 u64 cmpswap;
    flat_atomic_add_x2 u64 add;
    flat_atomic_sub_x2 u64 sub;
    flat_atomic_smin_x2 u64 smin;
    flat_atomic_umin_x2 u64 umin;
    flat_atomic_smax_x2 u64 smax;
    flat_atomic_umax_x2 u64 umax;
    flat_atomic_and_x2 u64 and;
    flat_atomic_or_x2 u64 or;
    flat_atomic_xor_x2 u64 xor;
    flat_atomic_inc_x2 u64 inc;
    flat_atomic_dec_x2 u64 dec;
}
