//! Vector memory access, lane by lane, for every family that has addresses.
//!
//! An access is cut into parts of equal size (a dword each where neighbouring dwords may lie apart; otherwise there is
//! one), and the family says where each lane's parts are. Contract: all active lanes are checked first, lowest first,
//! and the first bad part is the fault; nothing has changed then. After that the accesses happen in lane order.

use crate::atomic::{Update, Word};
use crate::observe::Touch;
use crate::operands::{Raw, store_row};
use crate::run::Machine;
use gcnjit_isa::{Access, Gen, Inst, Operand, Ty};
use gcnjit_rt::lds::Reach;
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Env, LANES, Row, Trap};

/// Where one part of one lane's access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In guest memory.
    Memory(u64),
    /// In the work-group's LDS, as far as M0 lets the instruction reach.
    Lds(u32),
    /// In the device's GDS.
    Gds(u32),
    /// Out of a buffer's range: reads zero, drops writes.
    Nowhere,
}

/// How an access is cut.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Parts a lane.
    pub parts: usize,
    /// Bytes a part: 1, 2, 4, 8, 12 or 16.
    pub bytes: usize,
}

impl Shape {
    /// In one piece.
    pub fn whole(bytes: usize) -> Shape {
        Shape { parts: 1, bytes }
    }

    /// In dwords, if there are several.
    pub fn dwords(bytes: usize) -> Shape {
        Shape { parts: bytes.div_ceil(4), bytes: bytes.min(4) }
    }

    fn dwords_a_part(self) -> usize {
        self.bytes.div_ceil(4)
    }
}

/// Loads into `inst.dst[0]`, or where the instruction says so into LDS. `finish` makes the register's dword of a loaded byte or word and its old value.
pub fn load(
    m: &mut Machine<'_>,
    inst: &Inst,
    shape: Shape,
    place: impl Fn(usize, usize) -> Place,
    finish: fn(u32, u32) -> u32,
) -> Result<(), Trap> {
    gather(m, shape, place)?;
    if shape.bytes < 4 {
        let old = match inst.dst[0] {
            Operand::Vgpr(first) => &m.wave.vgpr[usize::from(first)],
            _ => &[0; LANES],
        };
        for (x, old) in m.buffers.dst[0][0].iter_mut().zip(old) {
            *x = finish(*x, *old);
        }
    }
    deliver(m, inst, shape.parts * shape.dwords_a_part())
}

/// Reads all parts of all active lanes into the result buffer.
pub fn gather(m: &mut Machine<'_>, shape: Shape, place: impl Fn(usize, usize) -> Place) -> Result<(), Trap> {
    note(m, Access::Load, shape, &place, 0);
    let step = shape.dwords_a_part();
    for lane in m.active() {
        for part in 0..shape.parts {
            let mut bytes = [0; 16];
            read(m, place(lane, part), lane, &mut bytes[..shape.bytes])?;
            for dword in 0..step {
                m.buffers.dst[0][part * step + dword][lane] = dword_at(&bytes, dword);
            }
        }
    }
    Ok(())
}

/// The first dwords of a lane in a buffer, as bytes.
pub fn lane_bytes(rows: &Raw, lane: usize) -> [u8; 16] {
    std::array::from_fn(|i| rows[i / 4][lane].to_le_bytes()[i % 4])
}

/// Writes the result buffer to `dwords` registers or, where the instruction says so, its first dword to LDS.
pub fn deliver(m: &mut Machine<'_>, inst: &Inst, dwords: usize) -> Result<(), Trap> {
    if inst.mem().lds {
        note(m, Access::Store, Shape::whole(4), &|lane, _| Place::Lds(lds_dword(m, inst, lane)), LOADED);
        for lane in m.active() {
            m.env.lds.store(lds_dword(m, inst, lane), m.buffers.dst[0][0][lane].to_le_bytes());
        }
        return Ok(());
    }
    write_back(m, inst.dst[0], dwords);
    Ok(())
}

/// Where an instruction that moves between memory and LDS has a lane's dword: gfx8 and later add its offset to M0's.
pub fn lds_dword(m: &Machine<'_>, inst: &Inst, lane: usize) -> u32 {
    let m0 = m.wave.sgpr[reg::M0] & 0xffff;
    let offset = if m.env.target.generation() >= Gen::Gfx8 { inst.mem().offset as u32 } else { 0 };
    m0.wrapping_add(offset).wrapping_add(4 * lane as u32)
}

/// Stores source `data`; `select` makes the byte or word of its dword.
pub fn store(
    m: &mut Machine<'_>,
    inst: &Inst,
    data: usize,
    shape: Shape,
    place: impl Fn(usize, usize) -> Place,
    select: fn(u32) -> u32,
) -> Result<(), Trap> {
    read_registers(m, inst.src[data], shape.parts * shape.dwords_a_part(), data);
    store_source(m, data, shape, place, select)
}

/// Stores what source buffer `data` holds.
pub fn store_source(
    m: &Machine<'_>,
    data: usize,
    shape: Shape,
    place: impl Fn(usize, usize) -> Place,
    select: fn(u32) -> u32,
) -> Result<(), Trap> {
    check(m, shape, &place, false)?;
    note(m, Access::Store, shape, &place, data);
    let step = shape.dwords_a_part();
    for lane in m.active() {
        for part in 0..shape.parts {
            let mut bytes = [0; 16];
            for dword in 0..step {
                let x = m.buffers.src[data][part * step + dword][lane];
                let x = if shape.bytes < 4 { select(x) } else { x };
                bytes[dword * 4..][..4].copy_from_slice(&x.to_le_bytes());
            }
            write(m, place(lane, part), lane, &bytes[..shape.bytes])?;
        }
    }
    Ok(())
}

/// Updates a word a lane with the data at source `data`, and compare data after it in the same registers or, for DS,
/// in the next source. Writes the old value to `inst.dst[0]` if there is one.
pub fn atomic<T: AtomicWord>(
    m: &mut Machine<'_>,
    inst: &Inst,
    operands: AtomicData,
    place: impl Fn(usize) -> Place,
    update: Update<T>,
) -> Result<(), Trap> {
    check(m, Shape::whole(T::BYTES), &|lane, _| place(lane), true)?;
    note(m, Access::Atomic, Shape::whole(T::BYTES), &|lane, _| place(lane), 0);
    let dwords = T::BYTES / 4;
    match operands {
        AtomicData::Registers(i) => read_registers(m, inst.src[i], dwords * 2, 0),
        AtomicData::Sources => {
            read_registers(m, inst.src[1], dwords, 0);
            read_registers(m, inst.src[2], dwords, 1);
        }
    }
    for lane in m.active() {
        let data = T::get(&m.buffers.src[0], 0, lane);
        let second = match operands {
            AtomicData::Registers(_) => T::get(&m.buffers.src[0], dwords, lane),
            AtomicData::Sources => T::get(&m.buffers.src[1], 0, lane),
        };
        let fp = m.fp.clone();
        let f = |old| update(&fp, old, data, second);
        let old = match place(lane) {
            Place::Memory(address) => T::in_memory(m.env, address, f).map_err(|cause| m.fault(cause, address, lane))?,
            Place::Lds(address) => T::in_lds(m.lds(), address, f),
            Place::Gds(address) => T::in_gds(m.env, address, f),
            Place::Nowhere => T::default(),
        };
        T::set(&mut m.buffers.dst[0], lane, old);
    }
    write_back(m, inst.dst[0], dwords);
    Ok(())
}

/// Updates a word of a data share and returns what it was.
pub fn update_share<T: AtomicWord>(m: &Machine<'_>, place: Place, f: impl FnOnce(T) -> T) -> T {
    match place {
        Place::Lds(address) => T::in_lds(m.lds(), address, f),
        Place::Gds(address) => T::in_gds(m.env, address, f),
        Place::Memory(_) | Place::Nowhere => T::default(),
    }
}

/// Where an atomic's data is.
#[derive(Clone, Copy, Debug)]
pub enum AtomicData {
    /// The data at this source, the second data in the registers after it.
    Registers(usize),
    /// DS: the data at source 1, the second at source 2.
    Sources,
}

/// A word that memory and LDS have atomics for.
pub trait AtomicWord: Word {
    /// Its size.
    const BYTES: usize;
    /// Reads it from the buffers, from dword `first` on.
    fn get(raw: &Raw, first: usize, lane: usize) -> Self;
    /// Writes it to the buffers.
    fn set(rows: &mut [Row], lane: usize, value: Self);
    /// Updates memory.
    fn in_memory(env: &Env<'_>, address: u64, f: impl FnMut(Self) -> Self) -> Result<Self, Cause>;
    /// Updates LDS.
    fn in_lds(lds: Reach<'_>, address: u32, f: impl FnOnce(Self) -> Self) -> Self;
    /// Updates GDS.
    fn in_gds(env: &Env<'_>, address: u32, f: impl FnOnce(Self) -> Self) -> Self;
}

impl AtomicWord for u32 {
    const BYTES: usize = 4;
    fn get(raw: &Raw, first: usize, lane: usize) -> u32 {
        raw[first][lane]
    }
    fn set(rows: &mut [Row], lane: usize, value: u32) {
        rows[0][lane] = value;
    }
    fn in_memory(env: &Env<'_>, address: u64, f: impl FnMut(u32) -> u32) -> Result<u32, Cause> {
        env.memory.atomic_u32(address, f)
    }
    fn in_lds(lds: Reach<'_>, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
        lds.atomic_u32(address, f)
    }
    fn in_gds(env: &Env<'_>, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
        env.gds.atomic_u32(address, f)
    }
}

impl AtomicWord for u64 {
    const BYTES: usize = 8;
    fn get(raw: &Raw, first: usize, lane: usize) -> u64 {
        u64::from(raw[first][lane]) | u64::from(raw[first + 1][lane]) << 32
    }
    fn set(rows: &mut [Row], lane: usize, value: u64) {
        rows[0][lane] = value as u32;
        rows[1][lane] = (value >> 32) as u32;
    }
    fn in_memory(env: &Env<'_>, address: u64, f: impl FnMut(u64) -> u64) -> Result<u64, Cause> {
        env.memory.atomic_u64(address, f)
    }
    fn in_lds(lds: Reach<'_>, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
        lds.atomic_u64(address, f)
    }
    fn in_gds(env: &Env<'_>, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
        env.gds.atomic_u64(address, f)
    }
}

/// Checks every part of every active lane for writing.
fn check(m: &Machine<'_>, shape: Shape, place: &impl Fn(usize, usize) -> Place, atomic: bool) -> Result<(), Trap> {
    for lane in m.active() {
        for part in 0..shape.parts {
            let Place::Memory(address) = place(lane, part) else { continue };
            let mapped = m.memory.check(address, shape.bytes as u64, true).err();
            let misaligned = atomic && !address.is_multiple_of(shape.bytes as u64);
            if let Some(cause) = mapped.or(misaligned.then_some(Cause::Misaligned)) {
                return Err(m.fault(cause, address, lane));
            }
        }
    }
    Ok(())
}

/// The `data` of a store into LDS of what the same instruction has loaded.
pub const LOADED: usize = usize::MAX;

/// Notes the accesses of all active lanes, if there is a log. `data` is the source that a store takes its data from.
pub fn note(m: &Machine<'_>, access: Access, shape: Shape, place: &impl Fn(usize, usize) -> Place, data: usize) {
    let Some(log) = m.log else { return };
    for lane in m.active() {
        for part in 0..shape.parts {
            let (bytes, dword) = (shape.bytes, part * shape.dwords_a_part());
            log.add(Touch { access, lane: Some(lane), place: place(lane, part), bytes, dword, data });
        }
    }
}

/// Notes that the lanes read vertex parameters in LDS, a dword each, where M0 is no limit.
pub fn note_parameter(m: &Machine<'_>, address: impl Fn(usize) -> u32) {
    note(m, Access::Load, Shape::whole(4), &|lane, _| Place::Lds(address(lane)), 0);
}

/// Reads a part.
fn read(m: &Machine<'_>, place: Place, lane: usize, bytes: &mut [u8]) -> Result<(), Trap> {
    match place {
        Place::Memory(address) => m.memory.read(address, bytes).map_err(|cause| m.fault(cause, address, lane))?,
        Place::Lds(address) => m.lds().read(address, bytes),
        Place::Gds(address) => m.env.gds.read(address, bytes),
        Place::Nowhere => bytes.fill(0),
    }
    Ok(())
}

/// Writes a part.
fn write(m: &Machine<'_>, place: Place, lane: usize, bytes: &[u8]) -> Result<(), Trap> {
    match place {
        Place::Memory(address) => m.memory.store(address, bytes).map_err(|cause| m.fault(cause, address, lane))?,
        Place::Lds(address) => m.lds().write(address, bytes),
        Place::Gds(address) => m.env.gds.write(address, bytes),
        Place::Nowhere => {}
    }
    Ok(())
}

fn prefix<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

/// A dword of an element.
pub fn dword_at(bytes: &[u8; 16], dword: usize) -> u32 {
    u32::from_le_bytes(prefix(&bytes[dword * 4..]))
}

/// Reads `dwords` registers into source buffer `to`; up to four.
pub fn read_registers(m: &mut Machine<'_>, operand: Operand, dwords: usize, to: usize) {
    m.read(operand, [Ty::b32, Ty::b64, Ty::b96, Ty::b128][dwords - 1], to);
}

/// Writes the result buffer to `dwords` registers under EXEC.
pub fn write_back(m: &mut Machine<'_>, operand: Operand, dwords: usize) {
    let Operand::Vgpr(first) = operand else { return };
    let exec = m.wave.exec();
    for dword in 0..dwords {
        let row = &mut m.wave.vgpr[(usize::from(first) + dword) & 255];
        store_row(row, &m.buffers.dst[0][dword], exec);
    }
}

/// The 32-bit values of a VGPR operand, or of a scalar, for all lanes.
pub fn addresses(m: &mut Machine<'_>, operand: Operand) -> [u32; LANES] {
    m.read(operand, Ty::b32, 0);
    m.buffers.src[0][0]
}

/// The 64-bit values of a VGPR pair, for all lanes.
pub fn wide_addresses(m: &mut Machine<'_>, operand: Operand) -> [u64; LANES] {
    m.read(operand, Ty::b64, 0);
    let [low, high, ..] = &m.buffers.src[0];
    std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
}

/// The forms of a loaded byte or word in a register, from its bits and the register's old value.
pub mod form {
    /// Zero-extended.
    pub fn zext(x: u32, _: u32) -> u32 {
        x
    }

    /// A byte, sign-extended.
    pub fn sext8(x: u32, _: u32) -> u32 {
        x as i8 as u32
    }

    /// A word, sign-extended.
    pub fn sext16(x: u32, _: u32) -> u32 {
        x as i16 as u32
    }

    /// 16 bits in the low half, the high half kept.
    pub fn low(x: u32, old: u32) -> u32 {
        old & 0xffff_0000 | x & 0xffff
    }

    /// 16 bits in the high half, the low half kept.
    pub fn high(x: u32, old: u32) -> u32 {
        x << 16 | old & 0xffff
    }

    /// A byte, sign-extended to 16 bits, in the low half.
    pub fn sext8_low(x: u32, old: u32) -> u32 {
        low(x as i8 as u32, old)
    }

    /// A byte, sign-extended to 16 bits, in the high half.
    pub fn sext8_high(x: u32, old: u32) -> u32 {
        high(x as i8 as u32, old)
    }

    /// To store: the low bits.
    pub fn low_part(x: u32) -> u32 {
        x
    }

    /// To store: from the high half.
    pub fn high_part(x: u32) -> u32 {
        x >> 16
    }
}

/// Bodies of loads, by the family's own `load`: bytes a lane, and the form of bytes and words.
macro_rules! loads {
    ($($name:ident $bytes:literal $form:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            load(m, inst, $bytes, form::$form)
        }
    )* };
}

/// Bodies of stores, by the family's own `store`.
macro_rules! stores {
    ($($name:ident $bytes:literal $form:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            store(m, inst, $bytes, form::$form)
        }
    )* };
}

/// Bodies of atomics, by the family's own `update`: the word's type, and its function in [`crate::atomic`].
macro_rules! atomics {
    ($($name:ident $word:ident $update:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            update::<$word>(m, inst, $update)
        }
    )* };
}

pub(crate) use {atomics, loads, stores};
