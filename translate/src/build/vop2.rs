//! VOP2: vector, two sources.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fcc, Fenv, Op, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::Round;

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

fn v_subrev_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fsubrev(x, y)
}

/// Zero times anything is +0.
pub(super) fn v_mul_legacy_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_legacy(x, y, Fenv::F32)
}

fn v_mul_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmul(x, y)
}

fn v_mul_i32_i24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_mul_hi_i32_i24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_s(x, y)
}

fn v_mul_u32_u24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_mul_hi_u32_u24(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_u(x, y)
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

/// The second source if one is NaN; neither is quieted or flushed.
fn v_min_legacy_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.fcmp(Fcc::Lt, x, y);
    b.select(less, x, y)
}

/// The second source if one is NaN.
fn v_max_legacy_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let not_less = b.fcmp(Fcc::Le, y, x);
    b.select(not_less, x, y)
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

fn v_lshr_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_xor_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.xor(x, y)
}

fn v_mac_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_f32(x, y, z)
}

fn v_ashr_i32(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_sar(x, n)
}

fn v_madmk_f32(b: &mut Builder, x: Value, k: Value, y: Value) -> Value {
    b.mad_f32(x, k, y)
}

fn v_madak_f32(b: &mut Builder, x: Value, y: Value, k: Value) -> Value {
    b.mad_f32(x, y, k)
}

/// A sum and its carry; all ones instead under clamp.
fn carry_out(b: &mut Builder, sum: Value, carry: Value) -> Pair {
    let most = b.b32(u32::MAX);
    (if b.clamp { b.select(carry, most, sum) } else { sum }, carry)
}

/// A difference and its borrow; zero instead under clamp.
fn borrow_out(b: &mut Builder, difference: Value, borrow: Value) -> Pair {
    let least = b.b32(0);
    (if b.clamp { b.select(borrow, least, difference) } else { difference }, borrow)
}

fn v_add_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let sum = b.add(x, y);
    let carry = b.ult(sum, x);
    carry_out(b, sum, carry)
}

fn v_lshl_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_sub_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let (difference, borrow) = (b.sub(x, y), b.ult(x, y));
    borrow_out(b, difference, borrow)
}

fn v_subrev_co_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    v_sub_co_u32(b, y, x)
}

fn v_addc_co_u32(b: &mut Builder, x: Value, y: Value, carry: Value) -> Pair {
    let one = b.b1_to_b32(carry);
    let first = b.add(x, y);
    let sum = b.add(first, one);
    // At most one of the two additions carries.
    let (carry, another) = (b.ult(first, x), b.ult(sum, one));
    let carry = b.or(carry, another);
    carry_out(b, sum, carry)
}

/// x − y − borrow borrows where the sum of the difference and y carries.
fn v_subb_co_u32(b: &mut Builder, x: Value, y: Value, borrow: Value) -> Pair {
    let one = b.b1_to_b32(borrow);
    let first = b.sub(x, y);
    let difference = b.sub(first, one);
    let (borrow, another) = (b.ult(x, y), b.ult(first, one));
    let borrow = b.or(borrow, another);
    borrow_out(b, difference, borrow)
}

fn v_subbrev_co_u32(b: &mut Builder, x: Value, y: Value, borrow: Value) -> Pair {
    v_subb_co_u32(b, y, x, borrow)
}

pub(super) fn v_add_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::add_f16, &[x, y])
}

fn v_sub_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::sub_f16, &[x, y])
}

fn v_subrev_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::subrev_f16, &[x, y])
}

pub(super) fn v_mul_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16(RowOp::mul_f16, &[x, y])
}

fn v_mac_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16(RowOp::mad_f16, &[x, y, z])
}

fn v_madmk_f16(b: &mut Builder, x: Value, k: Value, y: Value) -> Value {
    b.f16(RowOp::mad_f16, &[x, k, y])
}

fn v_madak_f16(b: &mut Builder, x: Value, y: Value, k: Value) -> Value {
    b.f16(RowOp::mad_f16, &[x, y, k])
}

pub(super) fn v_add_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    let sum = b.add(x, y);
    b.unsigned_16(sum)
}

pub(super) fn v_sub_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub_unsigned(x, y)
}

fn v_subrev_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub_unsigned(y, x)
}

pub(super) fn v_mul_lo_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

pub(super) fn v_lshlrev_b16(b: &mut Builder, n: Value, x: Value) -> Value {
    let n = b.and_bits(n, 15);
    b.lane_shl(x, n)
}

pub(super) fn v_lshrrev_b16(b: &mut Builder, n: Value, x: Value) -> Value {
    let n = b.and_bits(n, 15);
    b.lane_shr(x, n)
}

pub(super) fn v_ashrrev_i16(b: &mut Builder, n: Value, x: Value) -> Value {
    let n = b.and_bits(n, 15);
    b.lane_sar(x, n)
}

pub(super) fn v_max_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16_extremum(RowOp::max_f16, &[x, y])
}

pub(super) fn v_min_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.f16_extremum(RowOp::min_f16, &[x, y])
}

pub(super) fn v_max_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.max_u(x, y)
}

pub(super) fn v_max_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.max_s(x, y)
}

pub(super) fn v_min_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.min_u(x, y)
}

pub(super) fn v_min_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.min_s(x, y)
}

fn v_ldexp_f16(b: &mut Builder, x: Value, n: Value) -> Value {
    b.f16(RowOp::ldexp_f16, &[x, n])
}

fn v_add_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.add_unsigned(x, y)
}

fn v_sub_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub_unsigned(x, y)
}

fn v_subrev_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub_unsigned(y, x)
}

fn v_fmac_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fma(x, y, z)
}

fn v_xnor_b32(b: &mut Builder, x: Value, y: Value) -> Value {
    let different = b.xor(x, y);
    b.not(different)
}

fn v_cvt_pkaccum_u8_f32(b: &mut Builder, x: Value, n: Value, old: Value) -> Value {
    let byte = b.to_byte(x);
    b.call(Width::B32, RowOp::replace_byte, &[byte, n, old], 0)
}

fn v_ldexp_f32(b: &mut Builder, x: Value, n: Value) -> Value {
    let rules = b.rules_f32();
    b.call(Width::B32, RowOp::ldexp_f32, &[x, n], rules)
}

fn v_readlane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let source = b.whole(inst.src[0]);
    let lane = b.uniform(inst.src[1], Ty::u32);
    let value = b.read_lane(source, lane);
    b.set_scalar(inst.dst[0], Ty::b32, value);
    Ok(())
}

/// Writes one lane, active or not.
fn v_writelane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Vgpr(register) = inst.dst[0] else { return b.unimplemented(inst, "a destination that is no VGPR") };
    let value = b.uniform(inst.src[0], Ty::b32);
    let lane = b.uniform(inst.src[1], Ty::u32);
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
    let lane = b.op(Op::LaneId, Width::B32, Fenv::Any, &[], 0);
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

fn v_mac_legacy_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_legacy(x, y, z)
}

fn v_bfm_b32(b: &mut Builder, width: Value, start: Value) -> Value {
    let field = ones(b, width);
    b.lane_shl(field, start)
}

/// `width` ones, 0 to 31 of them.
pub(super) fn ones(b: &mut Builder, width: Value) -> Value {
    let one = b.b32(1);
    let end = b.lane_shl(one, width);
    b.sub(end, one)
}

fn v_cvt_pknorm_i16_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    packed_norm(b, RowOp::norm_i16, [x, y])
}

fn v_cvt_pknorm_u16_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    packed_norm(b, RowOp::norm_u16, [x, y])
}

/// Two f32 as normalised integers.
fn packed_norm(b: &mut Builder, op: RowOp, values: [Value; 2]) -> Value {
    let [low, high] = values.map(|x| b.call(Width::B32, op, &[x], 0));
    b.halves(low, high)
}

/// Rounds towards zero whatever MODE says.
fn v_cvt_pkrtz_f16_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let rules = b.rules_f32_to_f16() | Round::Zero as u32;
    let [low, high] = [x, y].map(|x| b.call(Width::B32, RowOp::f32_to_f16, &[x], rules));
    b.halves(low, high)
}

fn v_cvt_pk_u16_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    let most = b.b32(0xffff);
    let (low, high) = (b.min_u(x, most), b.min_u(y, most));
    b.halves(low, high)
}

fn v_cvt_pk_i16_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    let [low, high] = [x, y].map(|x| b.limited(x, -0x8000, 0x7fff));
    b.halves(low, high)
}

gcnjit_isa::vop2! { rows }
