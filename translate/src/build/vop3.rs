//! VOP3: operations that have no shorter form on any generation.

use super::operands::vector::{commit, sources};
use super::vintrp::{v_interp_p1ll_f16, v_interp_p1lv_f16, v_interp_p2_f16, v_interp_p2_legacy_f16};
use super::vop2::{ones, v_mul_legacy_f32};
use super::{Builder, Result};
use crate::lane::{Fcc, Fenv, Op, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::Inst;

type Pair = (Value, Value);

fn v_mullit_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (zero, least) = (b.b32(0), b.b32((-f32::MAX).to_bits()));
    let (lit, product) = (b.fcmp(Fcc::Lt, zero, z), v_mul_legacy_f32(b, x, y));
    b.select(lit, product, least)
}

fn v_lshl_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_lshr_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_ashr_i64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_sar(x, n)
}

fn v_mul_lo_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_mad_legacy_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_legacy(x, y, z)
}

fn v_mad_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_f32(x, y, z)
}

fn v_mad_i32_i24(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    mad_signed(b, x, y, z)
}

/// The exact x · y + z, saturated under clamp.
fn mad_signed(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (product, z) = (b.mul_wide_signed(x, y), b.sext(z));
    let sum = b.add(product, z);
    b.narrow_signed(sum)
}

fn v_mad_u32_u24(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    if !b.clamp {
        let product = b.mul(x, y);
        return b.add(product, z);
    }
    let (product, z) = (b.mul_wide(x, y), b.zext(z));
    let sum = b.add(product, z);
    b.narrow_unsigned(sum)
}

/// Whether z, or else y, is the coordinate of the largest magnitude.
fn major_axis(b: &mut Builder, v: [Value; 3]) -> (Value, Value) {
    let [x, y, z] = v.map(|x| b.and_bits(x, 0x7fff_ffff));
    let (above_y, above_x) = (b.fcmp(Fcc::Le, y, z), b.fcmp(Fcc::Le, x, z));
    (b.and(above_y, above_x), b.fcmp(Fcc::Le, x, y))
}

/// What belongs to the major axis, of a value for each.
fn by_axis(b: &mut Builder, v: [Value; 3], [x, y, z]: [Value; 3]) -> Value {
    let (is_z, is_y) = major_axis(b, v);
    let rest = b.select(is_y, y, x);
    b.select(is_z, z, rest)
}

fn is_negative(b: &mut Builder, x: Value) -> Value {
    let zero = b.b32(0);
    b.fcmp(Fcc::Lt, x, zero)
}

fn negated(b: &mut Builder, x: Value) -> Value {
    b.xor_bits(x, 1 << 31)
}

fn v_cubeid_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let faces = [0, 2, 4].map(|face| b.b32(face));
    let (face, major) = (by_axis(b, [x, y, z], faces), by_axis(b, [x, y, z], [x, y, z]));
    let negative = is_negative(b, major);
    let side = b.b1_to_b32(negative);
    let id = b.or(face, side);
    b.s_to_f(Width::B32, id)
}

fn v_cubesc_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (back, left) = (is_negative(b, z), is_negative(b, x));
    let (minus_x, minus_z) = (negated(b, x), negated(b, z));
    let (on_x, on_z) = (b.select(left, z, minus_z), b.select(back, minus_x, x));
    let coordinate = by_axis(b, [x, y, z], [on_x, x, on_z]);
    b.canonical(coordinate)
}

fn v_cubetc_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let below = is_negative(b, y);
    let (minus_y, minus_z) = (negated(b, y), negated(b, z));
    let on_y = b.select(below, minus_z, z);
    let coordinate = by_axis(b, [x, y, z], [minus_y, on_y, minus_y]);
    b.canonical(coordinate)
}

fn v_cubema_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (major, two) = (by_axis(b, [x, y, z], [x, y, z]), b.b32(2.0_f32.to_bits()));
    b.fmul(major, two)
}

fn v_bfe_u32(b: &mut Builder, x: Value, start: Value, width: Value) -> Value {
    let (field, mask) = (b.lane_shr(x, start), ones(b, width));
    b.and(field, mask)
}

fn v_bfe_i32(b: &mut Builder, x: Value, start: Value, width: Value) -> Value {
    let field = b.lane_sar(x, start);
    let (width, zero, all) = (b.and_bits(width, 31), b.b32(0), b.b32(32));
    let up = b.sub(all, width);
    let shifted = b.lane_shl(field, up);
    let field = b.lane_sar(shifted, up);
    let empty = b.is_zero(width);
    b.select(empty, zero, field)
}

fn v_bfi_b32(b: &mut Builder, mask: Value, x: Value, y: Value) -> Value {
    let (x, y) = (b.and(mask, x), b.andn(y, mask));
    b.or(x, y)
}

fn v_fma_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fma(x, y, z)
}

fn v_fma_f64(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fma(x, y, z)
}

fn v_lerp_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.call(Width::B32, RowOp::lerp_u8, &[x, y, z], 0)
}

fn v_alignbit_b32(b: &mut Builder, hi: Value, lo: Value, n: Value) -> Value {
    match b.as_const(n) {
        Some(n) if n & 31 == 0 => lo,
        Some(n) => {
            let n = n as u32 & 31;
            let (hi, lo) = (b.shl_by(hi, 32 - n), b.shr_by(lo, n));
            b.or(hi, lo)
        }
        None => b.call(Width::B32, RowOp::align, &[hi, lo, n], 0),
    }
}

fn v_alignbyte_b32(b: &mut Builder, hi: Value, lo: Value, n: Value) -> Value {
    let n = b.and_bits(n, 3);
    let n = b.shl_by(n, 3);
    v_alignbit_b32(b, hi, lo, n)
}

fn min3_signed(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let least = b.min_s(x, y);
    b.min_s(least, z)
}

fn min3_unsigned(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let least = b.min_u(x, y);
    b.min_u(least, z)
}

fn max3_signed(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let most = b.max_s(x, y);
    b.max_s(most, z)
}

fn max3_unsigned(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let most = b.max_u(x, y);
    b.max_u(most, z)
}

fn med3_signed(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (least, most) = (b.min_s(x, y), b.max_s(x, y));
    let most = b.min_s(most, z);
    b.max_s(least, most)
}

fn med3_unsigned(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (least, most) = (b.min_u(x, y), b.max_u(x, y));
    let most = b.min_u(most, z);
    b.max_u(least, most)
}

fn v_min3_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fmin3(x, y, z)
}

fn v_min3_i32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    min3_signed(b, x, y, z)
}

fn v_min3_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    min3_unsigned(b, x, y, z)
}

fn v_max3_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fmax3(x, y, z)
}

fn v_max3_i32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    max3_signed(b, x, y, z)
}

fn v_max3_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    max3_unsigned(b, x, y, z)
}

fn v_med3_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fmed3(x, y, z)
}

fn v_med3_i32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    med3_signed(b, x, y, z)
}

fn v_med3_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    med3_unsigned(b, x, y, z)
}

fn v_sad_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let zero = b.b32(0);
    let sum = b.call(Width::B32, RowOp::sad_u8, &[x, y, zero], 0);
    b.add_unsigned(sum, z)
}

fn v_sad_hi_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let zero = b.b32(0);
    let sum = b.call(Width::B32, RowOp::sad_u8, &[x, y, zero], 0);
    let sum = b.shl_by(sum, 16);
    b.add_unsigned(sum, z)
}

/// |x − y| of unsigned values.
fn difference(b: &mut Builder, x: Value, y: Value) -> Value {
    let (least, most) = (b.min_u(x, y), b.max_u(x, y));
    b.sub(most, least)
}

fn v_sad_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let [x_low, y_low] = [x, y].map(|v| b.and_bits(v, 0xffff));
    let [x_high, y_high] = [x, y].map(|v| b.shr_by(v, 16));
    let (low, high) = (difference(b, x_low, y_low), difference(b, x_high, y_high));
    let sum = b.add(low, high);
    b.add_unsigned(sum, z)
}

fn v_sad_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let difference = difference(b, x, y);
    b.add_unsigned(difference, z)
}

fn v_cvt_pk_u8_f32(b: &mut Builder, x: Value, n: Value, z: Value) -> Value {
    let byte = b.to_byte(x);
    b.call(Width::B32, RowOp::replace_byte, &[byte, n, z], 0)
}

fn v_div_fixup_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.div_fixup(x, y, z)
}

fn v_div_fixup_f64(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.div_fixup(x, y, z)
}

fn v_div_scale_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    b.div_scale(x, y, z)
}

fn v_div_scale_f64(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    b.div_scale(x, y, z)
}

fn v_div_fmas_f32(b: &mut Builder, x: Value, y: Value, z: Value, scaled: Value) -> Value {
    let rules = b.rules_f32();
    let (plain, corrected) = (b.fma(x, y, z), b.call(Width::B32, RowOp::div_fmas_f32, &[x, y, z], rules));
    b.select(scaled, corrected, plain)
}

/// Where div_scale flagged the lane, the sum is scaled by 2^±128: up if |z|, about the quotient, is at least 2.
fn v_div_fmas_f64(b: &mut Builder, x: Value, y: Value, z: Value, scaled: Value) -> Value {
    let sum = b.op(Op::Fma, Width::B64, Fenv::F64Keep, &[x, y, z], 0);
    let (magnitude, two) = (b.and_bits(z, u64::MAX >> 1), b.b64(2.0_f64.to_bits()));
    let large = b.fcmp(Fcc::Le, two, magnitude);
    let (up, down) = (b.b32(128), b.b32(-128_i32 as u32));
    let power = b.select(large, up, down);
    let rules = b.rules_f64() & !4;
    let corrected = b.call(Width::B64, RowOp::ldexp_f64, &[sum, power], rules);
    let plain = b.fma(x, y, z);
    b.select(scaled, corrected, plain)
}

fn v_msad_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let sum = b.call(Width::B32, RowOp::msad_u8, &[x, y], 0);
    b.add_unsigned(sum, z)
}

fn v_qsad_pk_u16_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.call(Width::B64, RowOp::qsad_pk_u16_u8, &[x, y, z], b.clamp.into())
}

fn v_mqsad_pk_u16_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.call(Width::B64, RowOp::mqsad_pk_u16_u8, &[x, y, z], b.clamp.into())
}

fn v_mqsad_u32_u8(b: &mut Builder, x: Value, y: Value, z: [Value; 4]) -> [Value; 4] {
    let (low, high) = (b.lo(x), b.hi(x));
    [0, 1, 2, 3].map(|i| {
        let from = b.b32(i);
        let part = v_alignbyte_b32(b, high, low, from);
        v_msad_u8(b, part, y, z[i as usize])
    })
}

fn v_mad_u64_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    let product = b.mul_wide(x, y);
    let sum = b.add(product, z);
    let carry = b.ult(sum, z);
    (sum, carry)
}

/// The flag is that of a signed overflow.
fn v_mad_i64_i32(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    let product = b.mul_wide_signed(x, y);
    let sum = b.add(product, z);
    let (from_product, from_z) = (b.xor(sum, product), b.xor(sum, z));
    let (both, zero) = (b.and(from_product, from_z), b.b64(0));
    (sum, b.slt(both, zero))
}

fn v_mad_legacy_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_mad_f16(b, x, y, z)
}

fn v_mad_legacy_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_mad_u16(b, x, y, z)
}

fn v_mad_legacy_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_mad_i16(b, x, y, z)
}

fn v_perm_b32(b: &mut Builder, hi: Value, lo: Value, selector: Value) -> Value {
    b.call(Width::B32, RowOp::perm, &[hi, lo, selector], 0)
}

fn v_fma_legacy_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_fma_f16(b, x, y, z)
}

fn v_div_fixup_legacy_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_div_fixup_f16(b, x, y, z)
}

fn v_mad_u32_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    b.add_unsigned(product, z)
}

fn v_mad_i32_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    b.add_signed(product, z)
}

fn v_xad_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let mixed = b.xor(x, y);
    b.add(mixed, z)
}

fn v_min3_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16_extremum(RowOp::min3_f16, &[x, y, z])
}

fn v_min3_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    min3_signed(b, x, y, z)
}

fn v_min3_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    min3_unsigned(b, x, y, z)
}

fn v_max3_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16_extremum(RowOp::max3_f16, &[x, y, z])
}

fn v_max3_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    max3_signed(b, x, y, z)
}

fn v_max3_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    max3_unsigned(b, x, y, z)
}

fn v_med3_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16_extremum(RowOp::med3_f16, &[x, y, z])
}

fn v_med3_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    med3_signed(b, x, y, z)
}

fn v_med3_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    med3_unsigned(b, x, y, z)
}

fn v_lshl_add_u32(b: &mut Builder, x: Value, n: Value, y: Value) -> Value {
    let shifted = b.lane_shl(x, n);
    b.add(shifted, y)
}

fn v_add_lshl_u32(b: &mut Builder, x: Value, y: Value, n: Value) -> Value {
    let sum = b.add(x, y);
    b.lane_shl(sum, n)
}

fn v_add3_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let sum = b.add(x, y);
    b.add(sum, z)
}

fn v_lshl_or_b32(b: &mut Builder, x: Value, n: Value, y: Value) -> Value {
    let shifted = b.lane_shl(x, n);
    b.or(shifted, y)
}

fn v_and_or_b32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let both = b.and(x, y);
    b.or(both, z)
}

fn v_or3_b32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let either = b.or(x, y);
    b.or(either, z)
}

fn v_mad_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16(RowOp::mad_f16, &[x, y, z])
}

pub(super) fn v_mad_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    let sum = b.add(product, z);
    b.unsigned_16(sum)
}

pub(super) fn v_mad_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    let sum = b.add(product, z);
    b.signed_16(sum)
}

pub(super) fn v_fma_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16(RowOp::fma_f16, &[x, y, z])
}

fn v_div_fixup_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.f16(RowOp::div_fixup_f16, &[x, y, z])
}

fn v_add_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fadd(x, y)
}

fn v_mul_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmul(x, y)
}

fn v_min_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmin(x, y)
}

fn v_max_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmax(x, y)
}

fn v_ldexp_f64(b: &mut Builder, x: Value, n: Value) -> Value {
    let rules = b.rules_f64();
    b.call(Width::B64, RowOp::ldexp_f64, &[x, n], rules)
}

fn v_mul_lo_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn v_mul_hi_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_u(x, y)
}

fn v_mul_hi_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_s(x, y)
}

fn v_lshlrev_b64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_lshrrev_b64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_ashrrev_i64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_sar(x, n)
}

fn v_trig_preop_f64(b: &mut Builder, x: Value, segment: Value) -> Value {
    let rules = b.rules_f64();
    b.call(Width::B64, RowOp::trig_preop, &[x, segment], rules)
}

fn v_cvt_pknorm_i16_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    let [low, high] = [x, y].map(|x| b.f16(RowOp::norm_i16_f16, &[x]));
    b.halves(low, high)
}

fn v_cvt_pknorm_u16_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    let [low, high] = [x, y].map(|x| b.f16(RowOp::norm_u16_f16, &[x]));
    b.halves(low, high)
}

fn v_add_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.add_signed(x, y)
}

fn v_sub_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sub_signed(x, y)
}

pub(super) fn v_add_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    let sum = b.add(x, y);
    b.signed_16(sum)
}

pub(super) fn v_sub_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    let difference = b.sub(x, y);
    b.signed_16(difference)
}

fn v_pack_b32_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.halves(x, y)
}

gcnjit_isa::vop3! { rows }
