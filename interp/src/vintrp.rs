//! VINTRP and the 16-bit interpolation of VOP3: vertex parameters from LDS (see [`gcnjit_rt::parameter`]) times
//! barycentric coordinates.
//!
//! The f32 operations are v_mad_f32 with a parameter as their first source: the product is rounded, denormals are flushed
//! whatever MODE says. The f16 ones multiply and add in f32, each rounded and flushed by MODE's field of f16, which
//! compilers set for them too; p2 rounds its sum to f16 besides. A lane of a quad finds its quad's parameters whether it is
//! active or not.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::fp::{self, Fp, Rules};
use crate::run::Machine;
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::parameter::{Area, Parameter};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{LANES, Row, Trap};
use half::f16;

gcnjit_isa::vintrp! { vector }

/// The attribute's parameter for all lanes.
fn parameter(m: &Machine<'_>, inst: &Inst, parameter: Parameter) -> Row {
    let (mem, area) = (inst.mem(), Area(m.wave.sgpr[reg::M0]));
    let channel = mem.flags & 3;
    crate::memory::note_parameter(m, |lane| area.address(lane, mem.target, channel, parameter));
    area.row(m.env.lds.whole(), mem.target, channel, parameter)
}

/// Result 0, of type `ty`, from the row number and source 0.
fn interpolate(m: &mut Machine<'_>, inst: &Inst, ty: Ty, value: impl Fn(&Machine<'_>, usize, f32) -> u32) {
    m.begin(inst);
    m.fetch(inst, 0, Ty::f32);
    for lane in 0..LANES {
        m.buffers.dst[0][0][lane] = value(m, lane, f32::from_bits(m.buffers.src[0][0][lane]));
    }
    m.commit(inst, 0, ty);
}

pub fn v_interp_p1_f32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let [p10, p0] = [Parameter::P10, Parameter::P0].map(|p| parameter(m, inst, p).map(f32::from_bits));
    interpolate(m, inst, Ty::f32, |m, lane, i| m.fp.mad(p10[lane], i, p0[lane]).to_bits());
    Ok(())
}

pub fn v_interp_p2_f32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let p20 = parameter(m, inst, Parameter::P20).map(f32::from_bits);
    m.fetch(inst, 1, Ty::f32);
    interpolate(m, inst, Ty::f32, |m, lane, j| {
        m.fp.mad(p20[lane], j, f32::from_bits(m.buffers.src[1][0][lane])).to_bits()
    });
    Ok(())
}

/// The parameter is numbered by the low two bits of source 0.
pub fn v_interp_mov_f32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let Operand::Imm(number) = inst.src[0] else { return Err(m.unimplemented(inst, "a parameter in a register")) };
    let Some(which) = Parameter::numbered(number as u32 & 3) else {
        return Err(m.unimplemented(inst, "parameter 3"));
    };
    m.begin(inst);
    m.buffers.dst[0][0] = parameter(m, inst, which);
    m.commit(inst, 0, Ty::f32);
    Ok(())
}

/// f32 arithmetic by the rules of f16.
fn mad(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    fp::add(e.double, fp::mul(e.double, a, b), c)
}

/// The half of a dword that the instruction picks, as f32.
fn half(e: &Fp, inst: &Inst, dword: u32) -> f32 {
    let bits = if inst.mem().flags & 4 != 0 { dword >> 16 } else { dword };
    e.convert(e.double, exact(e), f16::from_bits(bits as u16))
}

/// For a conversion that has nothing to round.
fn exact(e: &Fp) -> Rules {
    e.double.unflushed()
}

pub fn v_interp_p1ll_f16(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let [p10, p0] = [Parameter::P10, Parameter::P0].map(|p| parameter(m, inst, p));
    interpolate(m, inst, Ty::f32, |m, lane, i| {
        mad(&m.fp, half(&m.fp, inst, p10[lane]), i, half(&m.fp, inst, p0[lane])).to_bits()
    });
    Ok(())
}

/// P0 is in source 1, a half of it; so abs and neg are of that half.
pub fn v_interp_p1lv_f16(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let p10 = parameter(m, inst, Parameter::P10);
    m.read(inst.src[1], Ty::f32, 1);
    let (abs, neg) = (inst.mods.abs & 2 != 0, inst.mods.neg & 2 != 0);
    interpolate(m, inst, Ty::f32, |m, lane, i| {
        let p0 = half(&m.fp, inst, m.buffers.src[1][0][lane]).to_bits();
        let p0 = if abs { p0 & 0x7fff_ffff } else { p0 } ^ u32::from(neg) << 31;
        mad(&m.fp, half(&m.fp, inst, p10[lane]), i, f32::from_bits(p0)).to_bits()
    });
    Ok(())
}

pub fn v_interp_p2_legacy_f16(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    v_interp_p2_f16(m, inst)
}

pub fn v_interp_p2_f16(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let p20 = parameter(m, inst, Parameter::P20);
    m.fetch(inst, 1, Ty::f32);
    interpolate(m, inst, Ty::f16, |m, lane, j| {
        let sum = mad(&m.fp, half(&m.fp, inst, p20[lane]), j, f32::from_bits(m.buffers.src[1][0][lane]));
        let rounded: f16 = m.fp.convert(exact(&m.fp), m.fp.double, sum);
        u32::from(rounded.to_bits())
    });
    Ok(())
}
