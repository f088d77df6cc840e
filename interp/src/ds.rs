//! DS: the local data share, and lane movement through its crossbar.
//!
//! An address is a 32-bit byte address, a VGPR plus the instruction's offset; what is outside of the work-group's
//! allocation, or up to gfx8 not below M0, reads zero and is not written, by dword. With the GDS bit addresses count from the base in M0's high half. An instruction with two addresses
//! loads or stores the first of all lanes, then the second; an exchange does both of a lane before the next lane.
//! A `src2` operation's data is in the share too, at a distance of signed dwords: the offset's low 15 bits, or with
//! its bit 15 set, the high 15 bits of the address. Lane movement takes nothing from lanes that are not in EXEC: they
//! give 0.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::atomic::*;
use crate::dispatch::vector;
use crate::fp::Fp;
use crate::gws::*;
use crate::memory::{self, AtomicData, Place, Shape, atomics, form, loads, stores};
use crate::run::Machine;
use gcnjit_isa::{Access, Gen, Inst, Note, Ty};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{LANES, Trap};

gcnjit_isa::ds! { vector }

/// Byte addresses of the one or two places a lane accesses.
struct Lanes {
    gds: bool,
    address: [u32; LANES],
    offsets: [u32; 2],
}

impl Lanes {
    fn new(m: &mut Machine<'_>, inst: &Inst) -> Lanes {
        let mem = inst.mem();
        let unit = inst.op.info().notes.iter().find_map(|note| match note {
            Note::Offsets(bytes) => Some(u32::from(*bytes)),
            _ => None,
        });
        let offsets = match unit {
            Some(unit) => [mem.offset as u32 * unit, u32::from(mem.offset1) * unit],
            None => [mem.offset as u32, 0],
        };
        let base = if mem.gds { m.wave.sgpr[reg::M0] >> 16 } else { 0 };
        let address = memory::addresses(m, inst.src[0]).map(|x| x.wrapping_add(base));
        Lanes { gds: mem.gds, address, offsets }
    }

    fn place(&self, lane: usize, part: usize) -> Place {
        share(self.gds, self.address[lane].wrapping_add(self.offsets[part]))
    }
}

fn share(gds: bool, address: u32) -> Place {
    if gds { Place::Gds(address) } else { Place::Lds(address) }
}

fn load(m: &mut Machine<'_>, inst: &Inst, bytes: usize, finish: fn(u32, u32) -> u32) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    memory::load(m, inst, Shape::whole(bytes), |lane, part| lanes.place(lane, part), finish)
}

fn load2(m: &mut Machine<'_>, inst: &Inst, bytes: usize) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    memory::load(m, inst, Shape { parts: 2, bytes }, |lane, part| lanes.place(lane, part), form::zext)
}

fn store(m: &mut Machine<'_>, inst: &Inst, bytes: usize, select: fn(u32) -> u32) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    memory::store(m, inst, 1, Shape::whole(bytes), |lane, part| lanes.place(lane, part), select)
}

/// Stores source 1 at the first address of each lane, then source 2 at the second.
fn store2(m: &mut Machine<'_>, inst: &Inst, bytes: usize) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    for part in 0..2 {
        let place = |lane, _| lanes.place(lane, part);
        memory::store(m, inst, 1 + part, Shape::whole(bytes), place, form::low_part)?;
    }
    Ok(())
}

fn update<T: memory::AtomicWord>(m: &mut Machine<'_>, inst: &Inst, f: Update<T>) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    memory::atomic(m, inst, AtomicData::Sources, |lane| lanes.place(lane, 0), f)
}

/// Replaces a word of each lane at each of two addresses, both of a lane before the next lane.
fn exchange2<T: memory::AtomicWord>(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (lanes, dwords) = (Lanes::new(m, inst), T::BYTES / 4);
    for part in 0..2 {
        memory::read_registers(m, inst.src[1 + part], dwords, part);
    }
    memory::note(m, Access::Atomic, Shape { parts: 2, bytes: T::BYTES }, &|lane, part| lanes.place(lane, part), 1);
    for lane in m.active() {
        for part in 0..2 {
            let data = T::get(&m.buffers.src[part], 0, lane);
            let old = memory::update_share(m, lanes.place(lane, part), |_| data);
            T::set(&mut m.buffers.dst[0][part * dwords..], lane, old);
        }
    }
    memory::write_back(m, inst.dst[0], 2 * dwords);
    Ok(())
}

/// Each dword of the data whose top bit is set replaces memory's, without that bit.
fn conditional(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    let lanes = Lanes::new(m, inst);
    memory::read_registers(m, inst.src[1], dwords, 1);
    let place = |lane: usize, dword: usize| {
        share(lanes.gds, lanes.address[lane].wrapping_add(lanes.offsets[0] + 4 * dword as u32))
    };
    memory::note(m, Access::Atomic, Shape { parts: dwords, bytes: 4 }, &place, 1);
    for lane in m.active() {
        for dword in 0..dwords {
            let data = m.buffers.src[1][dword][lane];
            let place = place(lane, dword);
            let f = |old: u32| if data >> 31 != 0 { data & 0x7fff_ffff } else { old };
            m.buffers.dst[0][dword][lane] = memory::update_share(m, place, f);
        }
    }
    memory::write_back(m, inst.dst[0], dwords);
    Ok(())
}

/// The addresses of a `src2` operation's word and its data.
fn src2_addresses(address: u32, offset: u32) -> (u32, u32) {
    let (first, distance) = match offset >> 15 & 1 {
        0 => (address, offset << 17),
        _ => (address & 0x1ffff, address & 0xfffe_0000),
    };
    (first, first.wrapping_add_signed((distance as i32 >> 17) * 4))
}

/// Updates a word with another word of the same share.
fn update_src2<T: memory::AtomicWord>(m: &mut Machine<'_>, inst: &Inst, f: Update<T>) -> Result<(), Trap> {
    let mem = inst.mem();
    let lanes = Lanes::new(m, inst);
    let base = if mem.gds { m.wave.sgpr[reg::M0] >> 16 } else { 0 };
    let places = |lane: usize| {
        let (first, second) = src2_addresses(lanes.address[lane].wrapping_sub(base), mem.offset as u32);
        [first, second].map(|address| share(mem.gds, address.wrapping_add(base)))
    };
    memory::note(m, Access::Load, Shape::whole(T::BYTES), &|lane, _| places(lane)[1], 0);
    memory::note(m, Access::Atomic, Shape::whole(T::BYTES), &|lane, _| places(lane)[0], 0);
    for lane in m.active() {
        let [first, second] = places(lane);
        let data = memory::update_share(m, second, |data: T| data);
        let fp = m.fp.clone();
        memory::update_share(m, first, |old| f(&fp, old, data, T::default()));
    }
    Ok(())
}

/// The second data if old is the first.
fn cmpst<T: Word>(fp: &Fp, old: T, compare: T, data: T) -> T {
    cmpswap(fp, old, data, compare)
}

/// The second data if old equals the first as a float.
fn cmpst_f<T: Word>(fp: &Fp, old: T, compare: T, data: T) -> T {
    fcmpswap(fp, old, data, compare)
}

fn fadd(fp: &Fp, old: u32, data: u32, _: u32) -> u32 {
    fp.add(f32::from_bits(old), f32::from_bits(data)).to_bits()
}

macro_rules! loads2 {
    ($($name:ident $bytes:literal;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            load2(m, inst, $bytes)
        }
    )* };
}

macro_rules! stores2 {
    ($($name:ident $bytes:literal;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            store2(m, inst, $bytes)
        }
    )* };
}

loads! {
    ds_read_b32 4 zext;
    ds_read_i8 1 sext8;
    ds_read_u8 1 zext;
    ds_read_i16 2 sext16;
    ds_read_u16 2 zext;
    ds_read_b64 8 zext;
    ds_read_u8_d16 1 low;
    ds_read_u8_d16_hi 1 high;
    ds_read_i8_d16 1 sext8_low;
    ds_read_i8_d16_hi 1 sext8_high;
    ds_read_u16_d16 2 low;
    ds_read_u16_d16_hi 2 high;
    ds_read_b96 12 zext;
    ds_read_b128 16 zext;
}

loads2! {
    ds_read2_b32 4;
    ds_read2st64_b32 4;
    ds_read2_b64 8;
    ds_read2st64_b64 8;
}

stores! {
    ds_write_b32 4 low_part;
    ds_write_b8 1 low_part;
    ds_write_b16 2 low_part;
    ds_write_b64 8 low_part;
    ds_write_b8_d16_hi 1 high_part;
    ds_write_b16_d16_hi 2 high_part;
    ds_write_b96 12 low_part;
    ds_write_b128 16 low_part;
}

stores2! {
    ds_write2_b32 4;
    ds_write2st64_b32 4;
    ds_write2_b64 8;
    ds_write2st64_b64 8;
}

atomics! {
    ds_add_u32 u32 add;
    ds_sub_u32 u32 sub;
    ds_rsub_u32 u32 rsub;
    ds_inc_u32 u32 inc;
    ds_dec_u32 u32 dec;
    ds_min_i32 u32 smin;
    ds_max_i32 u32 smax;
    ds_min_u32 u32 umin;
    ds_max_u32 u32 umax;
    ds_and_b32 u32 and;
    ds_or_b32 u32 or;
    ds_xor_b32 u32 xor;
    ds_mskor_b32 u32 mskor;
    ds_cmpst_b32 u32 cmpst;
    ds_cmpst_f32 u32 cmpst_f;
    ds_min_f32 u32 fmin;
    ds_max_f32 u32 fmax;
    ds_add_f32 u32 fadd;
    ds_add_rtn_u32 u32 add;
    ds_sub_rtn_u32 u32 sub;
    ds_rsub_rtn_u32 u32 rsub;
    ds_inc_rtn_u32 u32 inc;
    ds_dec_rtn_u32 u32 dec;
    ds_min_rtn_i32 u32 smin;
    ds_max_rtn_i32 u32 smax;
    ds_min_rtn_u32 u32 umin;
    ds_max_rtn_u32 u32 umax;
    ds_and_rtn_b32 u32 and;
    ds_or_rtn_b32 u32 or;
    ds_xor_rtn_b32 u32 xor;
    ds_mskor_rtn_b32 u32 mskor;
    ds_cmpst_rtn_b32 u32 cmpst;
    ds_cmpst_rtn_f32 u32 cmpst_f;
    ds_min_rtn_f32 u32 fmin;
    ds_max_rtn_f32 u32 fmax;
    ds_wrxchg_rtn_b32 u32 swap;
    ds_add_rtn_f32 u32 fadd;
    ds_wrap_rtn_b32 u32 wrap;
    ds_add_u64 u64 add;
    ds_sub_u64 u64 sub;
    ds_rsub_u64 u64 rsub;
    ds_inc_u64 u64 inc;
    ds_dec_u64 u64 dec;
    ds_min_i64 u64 smin;
    ds_max_i64 u64 smax;
    ds_min_u64 u64 umin;
    ds_max_u64 u64 umax;
    ds_and_b64 u64 and;
    ds_or_b64 u64 or;
    ds_xor_b64 u64 xor;
    ds_mskor_b64 u64 mskor;
    ds_cmpst_b64 u64 cmpst;
    ds_cmpst_f64 u64 cmpst_f;
    ds_min_f64 u64 fmin;
    ds_max_f64 u64 fmax;
    ds_add_rtn_u64 u64 add;
    ds_sub_rtn_u64 u64 sub;
    ds_rsub_rtn_u64 u64 rsub;
    ds_inc_rtn_u64 u64 inc;
    ds_dec_rtn_u64 u64 dec;
    ds_min_rtn_i64 u64 smin;
    ds_max_rtn_i64 u64 smax;
    ds_min_rtn_u64 u64 umin;
    ds_max_rtn_u64 u64 umax;
    ds_and_rtn_b64 u64 and;
    ds_or_rtn_b64 u64 or;
    ds_xor_rtn_b64 u64 xor;
    ds_mskor_rtn_b64 u64 mskor;
    ds_cmpst_rtn_b64 u64 cmpst;
    ds_cmpst_rtn_f64 u64 cmpst_f;
    ds_min_rtn_f64 u64 fmin;
    ds_max_rtn_f64 u64 fmax;
    ds_wrxchg_rtn_b64 u64 swap;
}

macro_rules! src2 {
    ($($name:ident $word:ident $update:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            update_src2::<$word>(m, inst, $update)
        }
    )* };
}

src2! {
    ds_add_src2_u32 u32 add;
    ds_sub_src2_u32 u32 sub;
    ds_rsub_src2_u32 u32 rsub;
    ds_inc_src2_u32 u32 inc;
    ds_dec_src2_u32 u32 dec;
    ds_min_src2_i32 u32 smin;
    ds_max_src2_i32 u32 smax;
    ds_min_src2_u32 u32 umin;
    ds_max_src2_u32 u32 umax;
    ds_and_src2_b32 u32 and;
    ds_or_src2_b32 u32 or;
    ds_xor_src2_b32 u32 xor;
    ds_write_src2_b32 u32 swap;
    ds_min_src2_f32 u32 fmin;
    ds_max_src2_f32 u32 fmax;
    ds_add_src2_f32 u32 fadd;
    ds_add_src2_u64 u64 add;
    ds_sub_src2_u64 u64 sub;
    ds_rsub_src2_u64 u64 rsub;
    ds_inc_src2_u64 u64 inc;
    ds_dec_src2_u64 u64 dec;
    ds_min_src2_i64 u64 smin;
    ds_max_src2_i64 u64 smax;
    ds_min_src2_u64 u64 umin;
    ds_max_src2_u64 u64 umax;
    ds_and_src2_b64 u64 and;
    ds_or_src2_b64 u64 or;
    ds_xor_src2_b64 u64 xor;
    ds_write_src2_b64 u64 swap;
    ds_min_src2_f64 u64 fmin;
    ds_max_src2_f64 u64 fmax;
}

pub fn ds_wrxchg2_rtn_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    exchange2::<u32>(m, inst)
}

pub fn ds_wrxchg2st64_rtn_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    exchange2::<u32>(m, inst)
}

pub fn ds_wrxchg2_rtn_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    exchange2::<u64>(m, inst)
}

pub fn ds_wrxchg2st64_rtn_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    exchange2::<u64>(m, inst)
}

pub fn ds_condxchg32_rtn_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    conditional(m, inst, 2)
}

pub fn ds_condxchg32_rtn_b128(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    conditional(m, inst, 4)
}

/// The address of an instruction that takes it from M0: GDS has its base in the high half.
fn m0_address(m: &Machine<'_>, inst: &Inst, gds: bool) -> u32 {
    let m0 = m.wave.sgpr[reg::M0];
    (if gds { m0 >> 16 } else { m0 & 0xffff }).wrapping_add(inst.mem().offset as u32)
}

pub fn ds_read_addtid_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (start, gds) = (m0_address(m, inst, false), inst.mem().gds);
    memory::load(m, inst, Shape::whole(4), |lane, _| share(gds, start + 4 * lane as u32), form::zext)
}

pub fn ds_write_addtid_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (start, gds) = (m0_address(m, inst, false), inst.mem().gds);
    memory::store(m, inst, 1, Shape::whole(4), |lane, _| share(gds, start + 4 * lane as u32), form::low_part)
}

/// Changes a counter once for the wave, by its active lanes; all of them get the old value.
fn count(m: &mut Machine<'_>, inst: &Inst, change: fn(u32, u32) -> u32) -> Result<(), Trap> {
    let (exec, gds) = (m.wave.exec(), inst.mem().gds);
    if exec != 0 {
        let (address, next) = (m0_address(m, inst, gds), |old| change(old, exec.count_ones()));
        memory::note(m, Access::Atomic, Shape::whole(4), &|_, _| share(gds, address), 0);
        // M0 is the address here and so no limit.
        let old = if gds { m.env.gds.atomic_u32(address, next) } else { m.env.lds.atomic_u32(address, next) };
        m.buffers.dst[0][0] = [old; LANES];
        memory::write_back(m, inst.dst[0], 1);
    }
    Ok(())
}

pub fn ds_append(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    count(m, inst, u32::wrapping_add)
}

pub fn ds_consume(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    count(m, inst, u32::wrapping_sub)
}

/// The lane that ds_swizzle gives `lane` as its source.
///
/// Bit 15 set: a permutation within four lanes. Clear: within 32 lanes, `((lane & and) | or) ^ xor`. gfx9 has two
/// further modes within 32 lanes, of which a mask's bits of the lane's number are kept: from 0xc000 on rotation, and
/// from 0xe000 on the butterfly of an FFT, which reverses the other bits.
fn swizzle_source(generation: Gen, pattern: u32, lane: usize) -> usize {
    let (group, id, mask) = (lane & !31, lane as u32 & 31, pattern & 31);
    let source = if pattern >> 15 == 0 {
        ((id & mask) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31)
    } else if generation < Gen::Gfx9 || pattern < 0xc000 {
        id & !3 | pattern >> (2 * (id & 3)) & 3
    } else if pattern < 0xe000 {
        let by = pattern >> 5 & 31;
        let rotated = if pattern >> 10 & 1 == 0 { id + by } else { id + 32 - by };
        id & mask | rotated & 31 & !mask
    } else {
        let reversed = (0..5).fold(0, |sum, bit| sum | (id >> bit & 1) << (4 - bit));
        id & mask | reversed >> mask.count_ones() & 31
    };
    group | source as usize
}

pub fn ds_swizzle_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let pattern = inst.mem().offset as u32 & 0xffff;
    let generation = m.env.target.generation();
    let data = memory::addresses(m, inst.src[0]);
    let exec = m.wave.exec();
    for lane in 0..LANES {
        let source = swizzle_source(generation, pattern, lane);
        m.buffers.dst[0][0][lane] = if exec >> source & 1 != 0 { data[source] } else { 0 };
    }
    memory::write_back(m, inst.dst[0], 1);
    Ok(())
}

/// Each active lane sends its data to the lane that its address names; the highest sender wins.
pub fn ds_permute_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (targets, data) = crossbar(m, inst);
    m.buffers.dst[0][0] = [0; LANES];
    for lane in m.active() {
        m.buffers.dst[0][0][targets[lane]] = data[lane];
    }
    memory::write_back(m, inst.dst[0], 1);
    Ok(())
}

/// Each active lane takes the data of the lane that its address names.
pub fn ds_bpermute_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (sources, data) = crossbar(m, inst);
    let exec = m.wave.exec();
    m.buffers.dst[0][0] = sources.map(|source| if exec >> source & 1 != 0 { data[source] } else { 0 });
    memory::write_back(m, inst.dst[0], 1);
    Ok(())
}

/// The lane that each lane names, by a byte address of dwords, and each lane's data.
fn crossbar(m: &mut Machine<'_>, inst: &Inst) -> ([usize; LANES], [u32; LANES]) {
    let offset = inst.mem().offset as u32;
    let lanes = memory::addresses(m, inst.src[0]).map(|x| (x.wrapping_add(offset) / 4 % LANES as u32) as usize);
    m.read(inst.src[1], Ty::b32, 1);
    (lanes, m.buffers.src[1][0])
}

pub fn ds_nop(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Ok(())
}
