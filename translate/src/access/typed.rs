//! Typed buffer access, lane by lane: MTBUF, and the rows of MUBUF that convert formats.
//!
//! An element is in range as a whole. What is not, or has a reserved format, reads 0 and is not written. MTBUF brings
//! its format along and leaves components in place; MUBUF has both from the resource. Components that a store lacks
//! are written as 0.

use super::address::Site;
use super::lanes::each;
use super::mubuf::{Buffer, fields};
use super::pieces::{Cut, Pieces, Unit};
use super::select::{Selected, vgpr};
use super::{Action, Bad, Fields, Scalar};
use gcnjit_isa::{Inst, Mtbuf, Mubuf, Op, Target};
use gcnjit_rt::buffer::{Format, IDENTITY, selects, unselect};
use gcnjit_rt::{Env, Wave};

/// What components are in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Dword,
    /// 16 bits, in the low half of a register of their own, or if packed two to a register.
    Half,
    /// 16 bits in the high half of a register, whose low half is kept.
    HighHalf,
}

/// What an operation moves: components, and how they are held.
pub(super) type Shape = (bool, usize, Part);

/// A typed access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    pub store: bool,
    components: usize,
    part: Part,
    /// Registers they take.
    pub dwords: usize,
    /// The format is the instruction's.
    own_format: bool,
}

pub(super) fn select_mtbuf(op: Mtbuf, inst: &Inst, target: Target) -> Selected {
    use {Mtbuf::*, Part::*};
    let shape = match op {
        tbuffer_load_format_x => (false, 1, Dword),
        tbuffer_load_format_xy => (false, 2, Dword),
        tbuffer_load_format_xyz => (false, 3, Dword),
        tbuffer_load_format_xyzw => (false, 4, Dword),
        tbuffer_store_format_x => (true, 1, Dword),
        tbuffer_store_format_xy => (true, 2, Dword),
        tbuffer_store_format_xyz => (true, 3, Dword),
        tbuffer_store_format_xyzw => (true, 4, Dword),
        tbuffer_load_format_d16_x => (false, 1, Half),
        tbuffer_load_format_d16_xy => (false, 2, Half),
        tbuffer_load_format_d16_xyz => (false, 3, Half),
        tbuffer_load_format_d16_xyzw => (false, 4, Half),
        tbuffer_store_format_d16_x => (true, 1, Half),
        tbuffer_store_format_d16_xy => (true, 2, Half),
        tbuffer_store_format_d16_xyz => (true, 3, Half),
        tbuffer_store_format_d16_xyzw => (true, 4, Half),
    };
    select(shape, inst, target)
}

/// What a row of MUBUF that converts formats moves.
pub(super) fn of_resource(op: Mubuf) -> Option<Shape> {
    use {Mubuf::*, Part::*};
    Some(match op {
        buffer_load_format_x => (false, 1, Dword),
        buffer_load_format_xy => (false, 2, Dword),
        buffer_load_format_xyz => (false, 3, Dword),
        buffer_load_format_xyzw => (false, 4, Dword),
        buffer_store_format_x => (true, 1, Dword),
        buffer_store_format_xy => (true, 2, Dword),
        buffer_store_format_xyz => (true, 3, Dword),
        buffer_store_format_xyzw => (true, 4, Dword),
        buffer_load_format_d16_x => (false, 1, Half),
        buffer_load_format_d16_xy => (false, 2, Half),
        buffer_load_format_d16_xyz => (false, 3, Half),
        buffer_load_format_d16_xyzw => (false, 4, Half),
        buffer_store_format_d16_x => (true, 1, Half),
        buffer_store_format_d16_xy => (true, 2, Half),
        buffer_store_format_d16_xyz => (true, 3, Half),
        buffer_store_format_d16_xyzw => (true, 4, Half),
        buffer_load_format_d16_hi_x => (false, 1, HighHalf),
        buffer_store_format_d16_hi_x => (true, 1, HighHalf),
        _ => return None,
    })
}

pub(super) fn select((store, components, part): Shape, inst: &Inst, target: Target) -> Selected {
    let mem = inst.mem();
    if mem.tfe {
        return Err("texture fail enable");
    }
    if mem.lds && (store || components > 1 || part != Part::Dword) {
        return Err("this access to LDS");
    }
    let dwords = if mem.lds { 1 } else { inst.data_dwords(target) as usize };
    let data = if store { inst.src[3] } else { inst.dst[0] };
    let first = if mem.lds { 0 } else { vgpr(data, dwords)? };
    let own_format = matches!(inst.op, Op::Mtbuf(_));
    let typed = Typed { store, components, part, dwords, own_format };
    Ok((run, fields(inst, target.generation(), Action::Typed(typed), first)?))
}

/// The format, and the order of components.
fn format(f: &Fields, typed: Typed, wave: &Wave) -> (Option<Format>, [u8; 4]) {
    if typed.own_format {
        return (Format::new(f.mem.dfmt, f.mem.nfmt), IDENTITY);
    }
    let Scalar::Register(at) = f.base else { unreachable!("a resource is in SGPRs") };
    let word = wave.sgpr[at + 3];
    (Format::new((word >> 15) as u8 & 15, (word >> 12) as u8 & 7), selects(word))
}

unsafe fn run(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let Action::Typed(typed) = f.action else { return Ok(()) };
    let (format, order) = format(f, typed, wave);
    let buffer = Buffer::new(f, wave);
    let bytes = format.map_or(4, Format::bytes) as u32;
    let find = |lane: usize, k: usize| match format {
        Some(_) => buffer.unit(f, wave, lane, k, bytes),
        None => Unit::Nowhere,
    };
    let cut = Cut { units: 1, bytes, write: typed.store, atomic: false };
    let pieces = Pieces::new(env, wave.exec(), cut, find)?;
    for lane in each(pieces.exec) {
        let (at, mut element) = (pieces.at[0][lane], [0u8; 16]);
        match format.filter(|_| !at.is_null()) {
            Some(format) if typed.store => {
                element = format.store(unselect(order, registers(f, typed, wave, lane, format)));
                // SAFETY: `Pieces` checked that many bytes there.
                unsafe { at.copy_from_nonoverlapping(element.as_ptr(), bytes as usize) };
            }
            Some(format) => {
                // SAFETY: as above.
                unsafe { at.copy_to_nonoverlapping(element.as_mut_ptr(), bytes as usize) };
                let loaded = format.select(order, format.load(element));
                let halved = if typed.part == Part::Dword { loaded } else { loaded.map(|x| format.to_half(x).into()) };
                set(f, typed, wave, env, lane, halved);
            }
            None if typed.store => {}
            None => set(f, typed, wave, env, lane, [0; 4]),
        }
    }
    Ok(())
}

/// Components in registers, as dwords; 0 for those that are not stored.
fn registers(f: &Fields, typed: Typed, wave: &Wave, lane: usize, format: Format) -> [u32; 4] {
    let register = |k: usize| wave.vgpr[(f.data + k) & 255][lane];
    let packed = typed.dwords < typed.components;
    std::array::from_fn(|i| match typed.part {
        _ if i >= typed.components => 0,
        Part::Dword => register(i),
        Part::HighHalf => format.from_half((register(0) >> 16) as u16),
        Part::Half if packed => format.from_half((register(i / 2) >> (i % 2 * 16)) as u16),
        Part::Half => format.from_half(register(i) as u16),
    })
}

/// Puts loaded components into registers, or one into LDS.
fn set(f: &Fields, typed: Typed, wave: &mut Wave, env: &Env<'_>, lane: usize, mut values: [u32; 4]) {
    values[typed.components..].fill(0);
    if f.mem.lds {
        env.lds.store(f.lds_start(wave).wrapping_add(4 * lane as u32), values[0].to_le_bytes());
        return;
    }
    if typed.part == Part::HighHalf {
        values[0] = values[0] << 16 | wave.vgpr[f.data & 255][lane] & 0xffff;
    } else if typed.dwords < typed.components {
        values = [values[0] | values[1] << 16, values[2] | values[3] << 16, 0, 0];
    }
    for (k, value) in values.into_iter().enumerate().take(typed.dwords) {
        wave.vgpr[(f.data + k) & 255][lane] = value;
    }
}
