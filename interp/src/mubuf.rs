//! MUBUF: untyped buffer memory; [`crate::mtbuf`] has what converts formats.
//!
//! The resource (V#) in four SGPRs says base, stride, record count and swizzling; the address within it is
//!
//! ```text
//! index  = (idxen ? VGPR : 0) + (add_tid ? lane : 0)
//! offset = immediate + (offen ? VGPR : 0)
//! linear:   index · stride + offset
//! swizzled: (index / is · stride + offset / es · es) · is + index % is · es + offset % es
//! ```
//!
//! with index stride `is` and element size `es`, plus base and the SGPR offset. Range check, dword by dword: where
//! [`records`](Resource::records) are bytes, the SGPR offset and the address end at or before them; where they are
//! records, the index is below them, and an indexed access touches no more than the `stride` bytes of its record. What
//! is out of range reads zero and is not written.
//! A load with the LDS bit puts a dword a lane, M0's low half on, into LDS.
//! addr64 (gfx6, gfx7) adds a 64-bit VGPR address to the base instead, unchecked and unswizzled. Unaligned accesses
//! are made as they are, as HSA sets the memory up.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::atomic::*;
use crate::dispatch::vector;
use crate::memory::{self, AtomicData, Place, Shape, atomics, form, loads, stores};
use crate::mtbuf::typed;
use crate::run::Machine;
use gcnjit_isa::{Access, Gen, Inst, Note, Operand, Ty};
use gcnjit_rt::{LANES, Trap};

gcnjit_isa::mubuf! { vector }

/// A buffer resource, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// Base address.
    pub base: u64,
    /// Bytes from record to record.
    pub stride: u32,
    /// Records, or bytes: what an instruction takes it for, `Resource::counts_bytes` says.
    pub records: u32,
    /// Element size in bytes, if the buffer is swizzled.
    pub swizzle: Option<u32>,
    /// Records that are interleaved.
    pub index_stride: u32,
    /// The lane's number is added to the index.
    pub add_tid: bool,
}

impl Resource {
    /// The resource of these dwords.
    pub fn new(words: [u32; 4], generation: Gen) -> Resource {
        let [w0, w1, records, w3] = words;
        let add_tid = w3 >> 23 & 1 != 0;
        // gfx8 and later take the data format's place for more stride bits when the lane's number is added.
        let more_stride = if add_tid && generation >= Gen::Gfx8 { (w3 >> 15 & 15) << 14 } else { 0 };
        let element = if generation == Gen::Gfx9 { 4 } else { 2 << (w3 >> 19 & 3) };
        Resource {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            stride: w1 >> 16 & 0x3fff | more_stride,
            records,
            swizzle: (w1 >> 31 != 0).then_some(element),
            index_stride: 8 << (w3 >> 21 & 3),
            add_tid,
        }
    }

    /// Whether `records` are bytes to a vector instruction with or without `idxen`. Without a stride they are; the SI
    /// manual (8.1.5.3) knows no other case. Of gfx8 and gfx9, Mesa (si_make_buffer_descriptor) and PAL have the others.
    fn counts_bytes(&self, generation: Gen, idxen: bool) -> bool {
        let with_stride = match generation {
            Gen::Gfx6 | Gen::Gfx7 => false,
            Gen::Gfx8 => self.swizzle.is_none(),
            Gen::Gfx9 => !idxen,
        };
        self.stride == 0 || with_stride
    }

    /// The byte offset of byte `offset` in record `index`.
    fn locate(&self, index: u32, offset: u32) -> u32 {
        let Some(element) = self.swizzle else {
            return index.wrapping_mul(self.stride).wrapping_add(offset);
        };
        let group = (index / self.index_stride).wrapping_mul(self.stride);
        let element_start = offset / element * element;
        let inside = index % self.index_stride * element + offset % element;
        group.wrapping_add(element_start).wrapping_mul(self.index_stride).wrapping_add(inside)
    }
}

/// Where the lanes' accesses are.
pub(crate) struct Lanes {
    resource: Resource,
    soffset: u32,
    indexed: bool,
    /// The resource's records are bytes.
    in_bytes: bool,
    index: [u32; LANES],
    offset: [u32; LANES],
    /// addr64: addresses to add to the base.
    wide: Option<[u64; LANES]>,
}

impl Lanes {
    pub(crate) fn new(m: &mut Machine<'_>, inst: &Inst) -> Result<Lanes, Trap> {
        let mem = inst.mem();
        if mem.tfe {
            return Err(m.unimplemented(inst, "texture fail enable"));
        }
        let Operand::Sgpr(first) = inst.src[1] else { return Err(m.unimplemented(inst, "resource outside of SGPRs")) };
        let words = std::array::from_fn(|i| m.wave.sgpr[(usize::from(first) + i) & 127]);
        let resource = Resource::new(words, m.env.target.generation());
        let wide = mem.addr64.then(|| memory::wide_addresses(m, inst.src[0]));
        let [low, high] = vector_addresses(m, inst.src[0]);
        let immediate = mem.offset as u32;
        let (index, offset) = match (mem.idxen, mem.offen) {
            (true, true) => (low, high),
            (true, false) => (low, [0; LANES]),
            (false, true) => ([0; LANES], low),
            (false, false) => ([0; LANES], [0; LANES]),
        };
        let tid = |lane: usize| if resource.add_tid { lane as u32 } else { 0 };
        Ok(Lanes {
            resource,
            soffset: m.uniform(inst.src[2], Ty::u32) as u32,
            indexed: mem.idxen || resource.add_tid,
            in_bytes: resource.counts_bytes(m.env.target.generation(), mem.idxen),
            index: std::array::from_fn(|lane| index[lane].wrapping_add(tid(lane))),
            offset: offset.map(|x| x.wrapping_add(immediate)),
            wide: wide.map(|addresses| addresses.map(|x| x.wrapping_add(u64::from(immediate)))),
        })
    }

    /// Where the `bytes` bytes of dword `part` of a lane are.
    pub(crate) fn place(&self, lane: usize, part: usize, bytes: usize) -> Place {
        let more = 4 * part as u32;
        let base = self.resource.base.wrapping_add(u64::from(self.soffset));
        if let Some(addresses) = &self.wide {
            return Place::Memory(base.wrapping_add(addresses[lane]).wrapping_add(u64::from(more)));
        }
        let (index, offset) = (self.index[lane], self.offset[lane].wrapping_add(more));
        let at = self.resource.locate(index, offset);
        if self.contains(index, offset, at, bytes as u64) {
            Place::Memory(base.wrapping_add(u64::from(at)))
        } else {
            Place::Nowhere
        }
    }

    /// Whether `bytes` bytes at byte `at` of the buffer, offset `offset` of record `index`, are in range.
    fn contains(&self, index: u32, offset: u32, at: u32, bytes: u64) -> bool {
        if self.in_bytes {
            return u64::from(self.soffset) + u64::from(at) + bytes <= u64::from(self.resource.records);
        }
        let in_record = !self.indexed || u64::from(offset) + bytes <= u64::from(self.resource.stride);
        in_record && index < self.resource.records
    }
}

fn vector_addresses(m: &mut Machine<'_>, operand: Operand) -> [[u32; LANES]; 2] {
    m.read(operand, Ty::b64, 0);
    [m.buffers.src[0][0], m.buffers.src[0][1]]
}

fn load(m: &mut Machine<'_>, inst: &Inst, bytes: usize, finish: fn(u32, u32) -> u32) -> Result<(), Trap> {
    if inst.mem().lds && (bytes > 4 || inst.op.info().has(Note::Acc)) {
        return Err(m.unimplemented(inst, "this load into LDS"));
    }
    let (lanes, shape) = (Lanes::new(m, inst)?, Shape::dwords(bytes));
    memory::load(m, inst, shape, |lane, part| lanes.place(lane, part, shape.bytes), finish)
}

fn store(m: &mut Machine<'_>, inst: &Inst, bytes: usize, select: fn(u32) -> u32) -> Result<(), Trap> {
    no_lds(m, inst)?;
    let (lanes, shape) = (Lanes::new(m, inst)?, Shape::dwords(bytes));
    memory::store(m, inst, 3, shape, |lane, part| lanes.place(lane, part, shape.bytes), select)
}

/// Only loads have a form that works on LDS.
pub(crate) fn no_lds(m: &Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if inst.mem().lds { Err(m.unimplemented(inst, "LDS as the source")) } else { Ok(()) }
}

fn update<T: memory::AtomicWord>(m: &mut Machine<'_>, inst: &Inst, f: Update<T>) -> Result<(), Trap> {
    no_lds(m, inst)?;
    let lanes = Lanes::new(m, inst)?;
    memory::atomic(m, inst, AtomicData::Registers(3), |lane| lanes.place(lane, 0, T::BYTES), f)
}

typed! {
    buffer_load_format_x load 1 Full;
    buffer_load_format_xy load 2 Full;
    buffer_load_format_xyz load 3 Full;
    buffer_load_format_xyzw load 4 Full;
    buffer_store_format_x store 1 Full;
    buffer_store_format_xy store 2 Full;
    buffer_store_format_xyz store 3 Full;
    buffer_store_format_xyzw store 4 Full;
    buffer_load_format_d16_x load 1 Half;
    buffer_load_format_d16_xy load 2 Half;
    buffer_load_format_d16_xyz load 3 Half;
    buffer_load_format_d16_xyzw load 4 Half;
    buffer_store_format_d16_x store 1 Half;
    buffer_store_format_d16_xy store 2 Half;
    buffer_store_format_d16_xyz store 3 Half;
    buffer_store_format_d16_xyzw store 4 Half;
    buffer_load_format_d16_hi_x load 1 High;
    buffer_store_format_d16_hi_x store 1 High;
}

loads! {
    buffer_load_ubyte 1 zext;
    buffer_load_sbyte 1 sext8;
    buffer_load_ushort 2 zext;
    buffer_load_sshort 2 sext16;
    buffer_load_dword 4 zext;
    buffer_load_dwordx2 8 zext;
    buffer_load_dwordx3 12 zext;
    buffer_load_dwordx4 16 zext;
}

stores! {
    buffer_store_byte 1 low_part;
    buffer_store_byte_d16_hi 1 high_part;
    buffer_store_short 2 low_part;
    buffer_store_short_d16_hi 2 high_part;
    buffer_store_dword 4 low_part;
    buffer_store_dwordx2 8 low_part;
    buffer_store_dwordx3 12 low_part;
    buffer_store_dwordx4 16 low_part;
}

pub fn buffer_store_lds_dword(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst)?;
    memory::note(m, Access::Load, Shape::whole(4), &|lane, _| Place::Lds(memory::lds_dword(m, inst, lane)), 0);
    m.buffers.src[3][0] =
        std::array::from_fn(|lane| u32::from_le_bytes(m.env.lds.load(memory::lds_dword(m, inst, lane))));
    memory::store_source(m, 3, Shape::whole(4), |lane, part| lanes.place(lane, part, 4), form::low_part)
}

macro_rules! without_effect {
    ($($name:ident)*) => { $(
        /// Caches are not modelled: memory is always coherent.
        pub fn $name(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            Ok(())
        }
    )* };
}

without_effect! { buffer_wbinvl1 buffer_wbinvl1_vol buffer_wbinvl1_sc }

loads! {
    buffer_load_ubyte_d16 1 low;
    buffer_load_ubyte_d16_hi 1 high;
    buffer_load_sbyte_d16 1 sext8_low;
    buffer_load_sbyte_d16_hi 1 sext8_high;
    buffer_load_short_d16 2 low;
    buffer_load_short_d16_hi 2 high;
}

atomics! {
    buffer_atomic_rsub u32 rsub;
    buffer_atomic_fcmpswap u32 fcmpswap;
    buffer_atomic_fmin u32 fmin;
    buffer_atomic_fmax u32 fmax;
    buffer_atomic_swap u32 swap;
    buffer_atomic_cmpswap u32 cmpswap;
    buffer_atomic_add u32 add;
    buffer_atomic_sub u32 sub;
    buffer_atomic_smin u32 smin;
    buffer_atomic_umin u32 umin;
    buffer_atomic_smax u32 smax;
    buffer_atomic_umax u32 umax;
    buffer_atomic_and u32 and;
    buffer_atomic_or u32 or;
    buffer_atomic_xor u32 xor;
    buffer_atomic_inc u32 inc;
    buffer_atomic_dec u32 dec;
    buffer_atomic_rsub_x2 u64 rsub;
    buffer_atomic_fcmpswap_x2 u64 fcmpswap;
    buffer_atomic_fmin_x2 u64 fmin;
    buffer_atomic_fmax_x2 u64 fmax;
    buffer_atomic_swap_x2 u64 swap;
    buffer_atomic_cmpswap_x2 u64 cmpswap;
    buffer_atomic_add_x2 u64 add;
    buffer_atomic_sub_x2 u64 sub;
    buffer_atomic_smin_x2 u64 smin;
    buffer_atomic_umin_x2 u64 umin;
    buffer_atomic_smax_x2 u64 smax;
    buffer_atomic_umax_x2 u64 umax;
    buffer_atomic_and_x2 u64 and;
    buffer_atomic_or_x2 u64 or;
    buffer_atomic_xor_x2 u64 xor;
    buffer_atomic_inc_x2 u64 inc;
    buffer_atomic_dec_x2 u64 dec;
}
