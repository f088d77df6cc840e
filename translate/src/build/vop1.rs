//! VOP1: vector, one source.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fcc, Fenv, Op, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::Round;

fn v_mov_b32(_: &mut Builder, x: Value) -> Value {
    x
}

/// Lane 0 if no lane is active.
fn v_readfirstlane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let source = match inst.src[0] {
        Operand::Vgpr(register) => b.whole_vgpr(register),
        operand => b.uniform(inst, operand, Ty::b32)?,
    };
    let exec = b.exec();
    let first = b.ctz(exec);
    let first = b.lo(first);
    let value = b.read_lane(source, first);
    b.set_scalar(inst.dst[0], Ty::b32, value);
    Ok(())
}

fn v_cvt_f32_i32(b: &mut Builder, x: Value) -> Value {
    b.s_to_f(Width::B32, x)
}

fn v_cvt_f32_u32(b: &mut Builder, x: Value) -> Value {
    b.u_to_f(Width::B32, x)
}

fn v_cvt_u32_f32(b: &mut Builder, x: Value) -> Value {
    b.f_to_u(x)
}

fn v_cvt_i32_f32(b: &mut Builder, x: Value) -> Value {
    b.f_to_s(x)
}

fn v_cvt_f16_f32(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f16_conversion() | (b.rules_f32() >> 2 & 1) << 4;
    b.call(Width::B32, RowOp::f32_to_f16, &[x], rules)
}

fn v_cvt_f32_f16(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f16_conversion();
    b.call(Width::B32, RowOp::f16_to_f32, &[x], rules)
}

fn ubyte(b: &mut Builder, x: Value, n: u32) -> Value {
    let byte = b.shr_by(x, 8 * n);
    let byte = b.and_bits(byte, 0xff);
    b.s_to_f(Width::B32, byte)
}

fn v_cvt_f32_ubyte0(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 0)
}

fn v_cvt_f32_ubyte1(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 1)
}

fn v_cvt_f32_ubyte2(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 2)
}

fn v_cvt_f32_ubyte3(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 3)
}

fn v_cvt_f64_u32(b: &mut Builder, x: Value) -> Value {
    b.u_to_f(Width::B64, x)
}

/// Never above the largest number below 1.
fn v_fract_f32(b: &mut Builder, x: Value) -> Value {
    let floor = b.ffloor(x);
    let fraction = b.fsub(x, floor);
    let (one, largest) = (b.b32(1.0_f32.to_bits()), b.b32(0x3f7f_ffff));
    let whole = b.fcmp(Fcc::Le, one, fraction);
    b.select(whole, largest, fraction)
}

fn v_trunc_f32(b: &mut Builder, x: Value) -> Value {
    b.ftrunc(x)
}

fn v_rndne_f32(b: &mut Builder, x: Value) -> Value {
    b.fnearest(x)
}

fn v_floor_f32(b: &mut Builder, x: Value) -> Value {
    b.ffloor(x)
}

/// The approximated f32 functions as a libcall; they round to nearest even whatever MODE says.
fn approximated(b: &mut Builder, op: RowOp, x: Value) -> Value {
    let flush = u32::from(b.mode.denormals32().flush_in);
    b.call(Width::B32, op, &[x], flush)
}

fn v_rcp_f32(b: &mut Builder, x: Value) -> Value {
    if !b.plain_f32() {
        return approximated(b, RowOp::rcp_f32, x);
    }
    let one = b.b32(1.0_f32.to_bits());
    b.fdiv(one, x)
}

fn v_rcp_iflag_f32(b: &mut Builder, x: Value) -> Value {
    v_rcp_f32(b, x)
}

/// Denormals are flushed whatever MODE says.
fn v_rsq_f32(b: &mut Builder, x: Value) -> Value {
    if b.mode.round32() != Round::NearestEven {
        return b.call(Width::B32, RowOp::rsq_f32, &[x], 1);
    }
    let one = b.b32(1.0_f32.to_bits());
    let root = b.op(Op::FSqrt, Width::B32, Fenv::Flush, &[x], 0);
    b.op(Op::FDiv, Width::B32, Fenv::Flush, &[one, root], 0)
}

fn v_rcp_f64(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B64, RowOp::rcp_f64, &[x], 0)
}

fn v_rsq_f64(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B64, RowOp::rsq_f64, &[x], 0)
}

fn v_sqrt_f32(b: &mut Builder, x: Value) -> Value {
    if b.plain_f32() { b.fsqrt(x) } else { approximated(b, RowOp::sqrt_f32, x) }
}

fn v_sin_f32(b: &mut Builder, x: Value) -> Value {
    approximated(b, RowOp::sin_f32, x)
}

fn v_not_b32(b: &mut Builder, x: Value) -> Value {
    b.not(x)
}

fn v_bfrev_b32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::bitrev, &[x], 0)
}

fn v_ffbh_u32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::ffbh_u32, &[x], 0)
}

/// Bit 0 of the libcall's immediate: denormal sources are zero; bit 1: infinities and NaNs as on gfx6.
fn frexp_rules(b: &Builder) -> u32 {
    let gfx6 = b.generation() == gcnjit_isa::Gen::Gfx6;
    u32::from(b.mode.denormals32().flush_in) | u32::from(gfx6) << 1
}

fn v_frexp_exp_i32_f32(b: &mut Builder, x: Value) -> Value {
    let rules = frexp_rules(b);
    b.call(Width::B32, RowOp::frexp_exp_f32, &[x], rules)
}

fn v_frexp_mant_f32(b: &mut Builder, x: Value) -> Value {
    let rules = frexp_rules(b);
    b.call(Width::B32, RowOp::frexp_mant_f32, &[x], rules)
}

/// The destination is the VGPR M0 further on.
fn v_movreld_b32(b: &mut Builder, inst: &Inst) -> Result {
    let value = b.source(inst, 0)?;
    let Operand::Vgpr(first) = inst.dst[0] else { return b.unimplemented(inst, "a destination that is no VGPR") };
    let (index, exec) = (b.m0(), b.exec());
    b.set_vgpr_at(first, index, value, exec);
    Ok(())
}

/// The source is the VGPR M0 further on.
fn v_movrels_b32(b: &mut Builder, inst: &Inst) -> Result {
    let (Operand::Vgpr(first), Operand::Vgpr(destination)) = (inst.src[0], inst.dst[0]) else {
        return b.unimplemented(inst, "an operand that is no VGPR");
    };
    let index = b.m0();
    let value = b.vgpr_at(first, index);
    b.set_vgpr(destination, value);
    Ok(())
}

gcnjit_isa::vop1! { rows }
