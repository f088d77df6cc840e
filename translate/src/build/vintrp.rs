//! VINTRP and the 16-bit interpolation of VOP3. Parameters are rows of lanes that the host fills from LDS; the rest is
//! arithmetic as any other. The twin of the interpreter's file of this name; its head states the rules.

use super::index::Indexing;
use super::operands::vector::commit;
use super::{Builder, Result};
use crate::lane::{Fenv, Op, Ty as Width, Value};
use crate::libcall::{LdsRow, RowOp};
use gcnjit_isa::{Inst, Operand, Vintrp};
use gcnjit_rt::parameter::Parameter;

mod rows {
    use super::super::{Builder, Result};
    use super::{v_interp_mov_f32, v_interp_p1_f32, v_interp_p2_f32};
    use gcnjit_isa::Inst;

    gcnjit_isa::vintrp! { rows }
}

/// M0 is where parameters are; it indexes no registers here.
pub(super) fn build(op: Vintrp, b: &mut Builder, inst: &Inst) -> Result {
    let indexing = b.replace_indexing(Indexing::Off);
    let built = rows::build(op, b, inst);
    b.replace_indexing(indexing);
    built
}

/// The attribute's parameter.
fn parameter(b: &mut Builder, inst: &Inst, parameter: Parameter) -> Value {
    let mem = inst.mem();
    b.lds_row(LdsRow::Parameter { attribute: mem.target, channel: mem.flags & 3, parameter })
}

fn v_interp_p1_f32(b: &mut Builder, inst: &Inst) -> Result {
    let [p10, p0] = [Parameter::P10, Parameter::P0].map(|p| parameter(b, inst, p));
    let i = b.source(inst, 0)?;
    let sum = b.mad_f32(p10, i, p0);
    commit(b, inst, vec![sum])
}

fn v_interp_p2_f32(b: &mut Builder, inst: &Inst) -> Result {
    let p20 = parameter(b, inst, Parameter::P20);
    let (j, d) = (b.source(inst, 0)?, b.source(inst, 1)?);
    let sum = b.mad_f32(p20, j, d);
    commit(b, inst, vec![sum])
}

/// The parameter is numbered by the low two bits of source 0.
fn v_interp_mov_f32(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Imm(number) = inst.src[0] else { return b.unimplemented(inst, "a parameter in a register") };
    let Some(which) = Parameter::numbered(number as u32 & 3) else { return b.unimplemented(inst, "parameter 3") };
    let value = parameter(b, inst, which);
    commit(b, inst, vec![value])
}

/// f32 arithmetic by the rules of f16.
fn mad(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.op(Op::FMul, Width::B32, Fenv::F64, &[x, y], 0);
    b.op(Op::FAdd, Width::B32, Fenv::F64, &[product, z], 0)
}

/// The half of a dword that the instruction picks, as f32.
fn half(b: &mut Builder, inst: &Inst, dword: Value) -> Value {
    let shift = if inst.mem().flags & 4 != 0 { 16 } else { 0 };
    let half = b.shr_by(dword, shift);
    let half = b.and_bits(half, 0xffff);
    b.f16_source(half)
}

pub(super) fn v_interp_p1ll_f16(b: &mut Builder, inst: &Inst) -> Result {
    let [p10, p0] = [Parameter::P10, Parameter::P0].map(|p| {
        let dword = parameter(b, inst, p);
        half(b, inst, dword)
    });
    let i = b.source(inst, 0)?;
    let sum = mad(b, p10, i, p0);
    commit(b, inst, vec![sum])
}

/// P0 is in source 1, a half of it; so abs and neg are of that half.
pub(super) fn v_interp_p1lv_f16(b: &mut Builder, inst: &Inst) -> Result {
    let p10 = parameter(b, inst, Parameter::P10);
    let (p10, i) = (half(b, inst, p10), b.source(inst, 0)?);
    let dword = b.unsigned_source(inst, 1)?;
    let mut p0 = half(b, inst, dword);
    if inst.mods.abs & 2 != 0 {
        p0 = b.and_bits(p0, 0x7fff_ffff);
    }
    if inst.mods.neg & 2 != 0 {
        p0 = b.xor_bits(p0, 0x8000_0000);
    }
    let sum = mad(b, p10, i, p0);
    commit(b, inst, vec![sum])
}

pub(super) fn v_interp_p2_legacy_f16(b: &mut Builder, inst: &Inst) -> Result {
    v_interp_p2_f16(b, inst)
}

pub(super) fn v_interp_p2_f16(b: &mut Builder, inst: &Inst) -> Result {
    let p20 = parameter(b, inst, Parameter::P20);
    let (p20, j, d) = (half(b, inst, p20), b.source(inst, 0)?, b.source(inst, 1)?);
    let sum = mad(b, p20, j, d);
    let rules = b.rules_f64();
    let rounded = b.call(Width::B32, RowOp::f32_to_f16, &[sum], rules);
    commit(b, inst, vec![rounded])
}
