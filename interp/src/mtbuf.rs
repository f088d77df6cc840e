//! MTBUF: typed buffer memory, and the typed rows of MUBUF.
//!
//! [`gcnjit_rt::buffer`] converts. An element is in range as a whole, or reads 0 in all registers and is not written;
//! so does everything with a reserved format. The format and selects are the instruction's (MTBUF: none) or the
//! resource's. A store of fewer components than the format has writes 0 to the others. D16 data is packed two to a
//! register from gfx9 on and on gfx810, elsewhere each is in the low half of its own.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::memory::{self, Place, Shape, form};
use crate::mubuf::{Lanes, no_lds};
use crate::run::Machine;
use gcnjit_isa::{Format as Encoding, Inst, Operand};
use gcnjit_rt::Trap;
use gcnjit_rt::buffer::{Format, IDENTITY, selects, unselect};

gcnjit_isa::mtbuf! { vector }

/// How components are held in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A dword each.
    Full,
    /// 16 bits each.
    Half,
    /// One, in the high half of a register.
    High,
}

/// Which format an instruction works with, and in which order components are.
fn format(m: &Machine<'_>, inst: &Inst) -> (Option<Format>, [u8; 4]) {
    let mem = inst.mem();
    let Operand::Sgpr(first) = inst.src[1] else { return (None, IDENTITY) };
    let word3 = m.wave.sgpr[(usize::from(first) + 3) & 127];
    match inst.format {
        Encoding::Mtbuf => (Format::new(mem.dfmt, mem.nfmt), IDENTITY),
        _ => (Format::new((word3 >> 15 & 15) as u8, (word3 >> 12 & 7) as u8), selects(word3)),
    }
}

/// The registers that components take.
fn dwords(m: &Machine<'_>, inst: &Inst) -> usize {
    inst.data_dwords(m.env.target) as usize
}

/// The registers' dwords of 16-bit components, `per` a register.
fn halves(values: [u16; 4], per: usize) -> [u32; 4] {
    let at = |i: usize| values.get(i).map_or(0, |x| u32::from(*x));
    std::array::from_fn(|k| if per == 2 { at(2 * k) | at(2 * k + 1) << 16 } else { at(k) })
}

/// Loads the first `count` components.
pub(crate) fn load(m: &mut Machine<'_>, inst: &Inst, count: usize, width: Width) -> Result<(), Trap> {
    if inst.mem().lds && (count > 1 || width != Width::Full) {
        return Err(m.unimplemented(inst, "this load into LDS"));
    }
    let lanes = Lanes::new(m, inst)?;
    let ((format, selects), dwords) = (format(m, inst), dwords(m, inst).max(1));
    let shape = Shape::whole(format.map_or(4, Format::bytes));
    let place = |lane, part| if format.is_some() { lanes.place(lane, part, shape.bytes) } else { Place::Nowhere };
    memory::gather(m, shape, place)?;
    for lane in m.active() {
        let mut values = [0; 4];
        if let Some(format) = format.filter(|_| place(lane, 0) != Place::Nowhere) {
            let raw = memory::lane_bytes(&m.buffers.dst[0], lane);
            values = format.select(selects, format.load(raw));
            values[count..].fill(0);
            if width != Width::Full {
                values = halves(values.map(|x| format.to_half(x)), if dwords < count { 2 } else { 1 });
            }
        }
        if let (Width::High, Operand::Vgpr(first)) = (width, inst.dst[0]) {
            values[0] = form::high(values[0], m.wave.vgpr[usize::from(first)][lane]);
        }
        for (row, value) in m.buffers.dst[0].iter_mut().zip(values) {
            row[lane] = value;
        }
    }
    memory::deliver(m, inst, dwords)
}

/// Stores `count` components.
pub(crate) fn store(m: &mut Machine<'_>, inst: &Inst, count: usize, width: Width) -> Result<(), Trap> {
    no_lds(m, inst)?;
    let lanes = Lanes::new(m, inst)?;
    let (Some(format), selects) = format(m, inst) else { return Ok(()) };
    let dwords = dwords(m, inst);
    memory::read_registers(m, inst.src[3], dwords, 3);
    for lane in m.active() {
        let registers = [0, 1, 2, 3].map(|k| if k < dwords { m.buffers.src[3][k][lane] } else { 0 });
        let half = |i: usize| match width {
            Width::High => registers[0] >> 16,
            _ if dwords < count => registers[i / 2] >> (16 * (i % 2)),
            _ => registers[i],
        };
        let value = |i: usize| if width == Width::Full { registers[i] } else { format.from_half(half(i) as u16) };
        let values = [0, 1, 2, 3].map(|i| if i < count { value(i) } else { 0 });
        let element = format.store(unselect(selects, values));
        for (k, row) in m.buffers.src[3].iter_mut().enumerate() {
            row[lane] = memory::dword_at(&element, k);
        }
    }
    let shape = Shape::whole(format.bytes());
    memory::store_source(m, 3, shape, |lane, part| lanes.place(lane, part, shape.bytes), form::low_part)
}

/// Bodies of typed rows: what they do, with how many components, in which width.
macro_rules! typed {
    ($($name:ident $run:ident $count:literal $width:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            $crate::mtbuf::$run(m, inst, $count, $crate::mtbuf::Width::$width)
        }
    )* };
}

pub(crate) use typed;

typed! {
    tbuffer_load_format_x load 1 Full;
    tbuffer_load_format_xy load 2 Full;
    tbuffer_load_format_xyz load 3 Full;
    tbuffer_load_format_xyzw load 4 Full;
    tbuffer_store_format_x store 1 Full;
    tbuffer_store_format_xy store 2 Full;
    tbuffer_store_format_xyz store 3 Full;
    tbuffer_store_format_xyzw store 4 Full;
    tbuffer_load_format_d16_x load 1 Half;
    tbuffer_load_format_d16_xy load 2 Half;
    tbuffer_load_format_d16_xyz load 3 Half;
    tbuffer_load_format_d16_xyzw load 4 Half;
    tbuffer_store_format_d16_x store 1 Half;
    tbuffer_store_format_d16_xy store 2 Half;
    tbuffer_store_format_d16_xyz store 3 Half;
    tbuffer_store_format_d16_xyzw store 4 Half;
}
