//! VOP2: vector, two sources.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Op, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::{Inst, Operand, Ty};

type Pair = (Value, Value);

fn v_cndmask_b32(b: &mut Builder, x: Value, y: Value, mask: Value) -> Value {
    b.select(mask, y, x)
}

fn v_add_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fadd(x, y)
}

fn v_sub_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fsub(x, y)
}

fn v_mul_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmul(x, y)
}

fn v_mul_i32_i24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_mul_u32_u24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_min_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmin(x, y)
}

fn v_max_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmax(x, y)
}

fn v_min_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.min_s(x, y)
}

fn v_max_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.max_s(x, y)
}

fn v_min_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.min_u(x, y)
}

fn v_max_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.max_u(x, y)
}

fn v_lshrrev_b32(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_ashrrev_i32(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_sar(x, n)
}

fn v_lshlrev_b32(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_and_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.and(x, y)
}

fn v_or_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.or(x, y)
}

fn v_xor_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.xor(x, y)
}

fn v_mac_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_f32(x, y, z)
}

fn v_madmk_f32(b: &mut Builder, x: Value, k: Value, y: Value) -> Value {
    b.mad_f32(x, k, y)
}

fn v_madak_f32(b: &mut Builder, x: Value, y: Value, k: Value) -> Value {
    b.mad_f32(x, y, k)
}

fn v_add_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let sum = b.add(x, y);
    let carry = b.ult(sum, x);
    (sum, carry)
}

fn v_lshl_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_sub_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let borrow = b.ult(x, y);
    (b.sub(x, y), borrow)
}

fn v_subrev_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    v_sub_co_u32(b, y, x)
}

/// Bit 31 of the carries out of every bit of x + y (+ 1) = sum, as a B1.
fn carry_out(b: &mut Builder, x: Value, y: Value, sum: Value) -> Value {
    let (both, either) = (b.and(x, y), b.or(x, y));
    let propagated = b.andn(either, sum);
    let carries = b.or(both, propagated);
    let zero = b.b32(0);
    b.slt(carries, zero)
}

fn v_addc_co_u32(b: &mut Builder, x: Value, y: Value, carry: Value) -> Pair {
    let one = b.b1_to_b32(carry);
    let sum = b.add(x, y);
    let sum = b.add(sum, one);
    (sum, carry_out(b, x, y, sum))
}

/// x − y − borrow borrows where the sum of the difference and y carries.
fn v_subb_co_u32(b: &mut Builder, x: Value, y: Value, borrow: Value) -> Pair {
    let one = b.b1_to_b32(borrow);
    let difference = b.sub(x, y);
    let difference = b.sub(difference, one);
    (difference, carry_out(b, difference, y, x))
}

fn v_subbrev_co_u32(b: &mut Builder, x: Value, y: Value, borrow: Value) -> Pair {
    v_subb_co_u32(b, y, x, borrow)
}

fn v_add_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::add_f16, &[x, y])
}

fn v_sub_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::sub_f16, &[x, y])
}

fn v_mul_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::mul_f16, &[x, y])
}

fn v_add_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.add(x, y)
}

fn v_sub_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub(x, y)
}

fn v_mul_lo_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_ashrrev_i16(b: &mut Builder, n: Value, x: Value) -> Value {
    let n = b.and_bits(n, 15);
    b.lane_sar(x, n)
}

fn v_max_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16_extremum(RowOp::max_f16, &[x, y])
}

fn v_min_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16_extremum(RowOp::min_f16, &[x, y])
}

fn v_max_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.max_u(x, y)
}

fn v_add_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.add(x, y)
}

fn v_sub_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub(x, y)
}

fn v_subrev_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub(y, x)
}

fn v_ldexp_f32(b: &mut Builder, x: Value, n: Value) -> Value {
    let rules = b.rules_f32();
    b.call(Width::B32, RowOp::ldexp_f32, &[x, n], rules)
}

fn v_readlane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let source = match inst.src[0] {
        Operand::Vgpr(register) => b.whole_vgpr(register),
        operand => b.uniform(inst, operand, Ty::b32)?,
    };
    let lane = b.uniform(inst, inst.src[1], Ty::u32)?;
    let value = b.read_lane(source, lane);
    b.set_scalar(inst.dst[0], Ty::b32, value);
    Ok(())
}

/// Writes one lane, active or not.
fn v_writelane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Vgpr(register) = inst.dst[0] else { return b.unimplemented(inst, "a destination that is no VGPR") };
    let value = b.uniform(inst, inst.src[0], Ty::b32)?;
    let lane = b.uniform(inst, inst.src[1], Ty::u32)?;
    let one = b.b64(1);
    let mask = b.shl(one, lane);
    b.set_vgpr_under(register, value, mask);
    Ok(())
}

fn v_bcnt_u32_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    let count = b.call(Width::B32, RowOp::popcnt, &[x], 0);
    b.add(count, y)
}

/// Ones of source 0 below the lane's own bit, of the mask's half, plus source 1.
fn masked_count(b: &mut Builder, inst: &Inst, half: u32) -> Result {
    let (x, y) = (b.source(inst, 0)?, b.source(inst, 1)?);
    let lane = b.op(Op::LaneId, Width::B32, crate::lane::Fenv::Any, &[], 0);
    let count = b.call(Width::B32, RowOp::mbcnt, &[x, lane], half);
    let sum = b.add(count, y);
    commit(b, inst, vec![sum])
}

fn v_mbcnt_lo_u32_b32(b: &mut Builder, inst: &Inst) -> Result {
    masked_count(b, inst, 0)
}

fn v_mbcnt_hi_u32_b32(b: &mut Builder, inst: &Inst) -> Result {
    masked_count(b, inst, 1)
}

gcnjit_isa::vop2! { rows }
