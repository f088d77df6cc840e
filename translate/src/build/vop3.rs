//! VOP3: operations that have no shorter form on any generation.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fcc, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::Inst;

type Pair = (Value, Value);

fn v_lshl_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_lshr_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_ashr_i64(b: &mut Builder, x: Value, n: Value) -> Value {
    b.lane_sar(x, n)
}

fn v_mad_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_f32(x, y, z)
}

fn v_mad_u32_u24(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    b.add(product, z)
}

/// `width` ones, 0 to 31 of them.
fn ones(b: &mut Builder, width: Value) -> Value {
    let one = b.b32(1);
    let end = b.lane_shl(one, width);
    b.sub(end, one)
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

fn v_min3_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let least = b.min_u(x, y);
    b.min_u(least, z)
}

fn v_med3_i32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let (least, most) = (b.min_s(x, y), b.max_s(x, y));
    let most = b.min_s(most, z);
    b.max_s(least, most)
}

fn v_sad_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.call(Width::B32, RowOp::sad_u8, &[x, y, z], 0)
}

fn v_mad_u64_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    let product = b.mul_wide(x, y);
    let sum = b.add(product, z);
    let carry = b.ult(sum, z);
    (sum, carry)
}

fn v_mad_legacy_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let product = b.mul(x, y);
    b.add(product, z)
}

fn v_perm_b32(b: &mut Builder, hi: Value, lo: Value, selector: Value) -> Value {
    b.call(Width::B32, RowOp::perm, &[hi, lo, selector], 0)
}

fn v_xad_u32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let mixed = b.xor(x, y);
    b.add(mixed, z)
}

fn v_lshl_add_u32(b: &mut Builder, x: Value, n: Value, y: Value) -> Value {
    let shifted = b.lane_shl(x, n);
    b.add(shifted, y)
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

fn v_add_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fadd(x, y)
}

fn v_mul_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fmul(x, y)
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

fn v_lshlrev_b64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shl(x, n)
}

fn v_lshrrev_b64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_shr(x, n)
}

fn v_ashrrev_i64(b: &mut Builder, n: Value, x: Value) -> Value {
    b.lane_sar(x, n)
}

/// The steps of a division that look at exponents, as libcalls of three sources.
fn division(b: &mut Builder, width: Width, op: RowOp, args: [Value; 3]) -> Value {
    let rules = if width == Width::B64 { b.rules_f64() } else { b.rules_f32() };
    b.call(width, op, &args, rules)
}

fn v_div_fixup_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    division(b, Width::B32, RowOp::div_fixup_f32, [x, y, z])
}

fn v_div_fixup_f64(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    division(b, Width::B64, RowOp::div_fixup_f64, [x, y, z])
}

fn v_div_scale_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    let flag = division(b, Width::B32, RowOp::div_scale_flag_f32, [x, y, z]);
    (division(b, Width::B32, RowOp::div_scale_f32, [x, y, z]), b.non_zero(flag))
}

fn v_div_scale_f64(b: &mut Builder, x: Value, y: Value, z: Value) -> Pair {
    let flag = division(b, Width::B32, RowOp::div_scale_flag_f64, [x, y, z]);
    (division(b, Width::B64, RowOp::div_scale_f64, [x, y, z]), b.non_zero(flag))
}

fn v_div_fmas_f32(b: &mut Builder, x: Value, y: Value, z: Value, scaled: Value) -> Value {
    let (plain, corrected) = (b.fma(x, y, z), division(b, Width::B32, RowOp::div_fmas_f32, [x, y, z]));
    b.select(scaled, corrected, plain)
}

/// Where div_scale flagged the lane, the sum is scaled by 2^±128: up if |z|, about the quotient, is at least 2.
fn v_div_fmas_f64(b: &mut Builder, x: Value, y: Value, z: Value, scaled: Value) -> Value {
    let sum = b.fma(x, y, z);
    let (magnitude, two) = (b.and_bits(z, u64::MAX >> 1), b.b64(2.0_f64.to_bits()));
    let large = b.fcmp(Fcc::Le, two, magnitude);
    let (up, down) = (b.b32(128), b.b32(-128_i32 as u32));
    let power = b.select(large, up, down);
    let rules = b.rules_f64();
    let corrected = b.call(Width::B64, RowOp::ldexp_f64, &[sum, power], rules);
    b.select(scaled, corrected, sum)
}

gcnjit_isa::vop3! { rows }
