//! VOP3P: packed 16-bit, mixed precision and dot products.

use super::operands::vector::{commit, sources};
use super::{Builder, Result, vop2, vop3};
use crate::lane::{Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::Inst;

/// A half as the 16-bit operations see an unsigned integer or an f16.
fn bits(_: &mut Builder, half: Value) -> Value {
    half
}

/// A half as they see a signed integer.
fn signed(b: &mut Builder, half: Value) -> Value {
    b.sext_from(half, 16)
}

macro_rules! packed {
    ($($name:ident ($($s:ident),*) $extended:ident $half:path;)*) => { $(
        fn $name(b: &mut Builder, $($s: Value),*) -> Value {
            b.each_half(&[$($s),*], |b, halves| {
                let &[$($s),*] = halves else { unreachable!("a half of each source") };
                $(let $s = $extended(b, $s);)*
                $half(b, $($s),*)
            })
        }
    )* };
}

packed! {
    v_pk_mad_i16     (x, y, z) signed vop3::v_mad_i16;
    v_pk_mul_lo_u16  (x, y)    bits   vop2::v_mul_lo_u16;
    v_pk_add_i16     (x, y)    signed vop3::v_add_i16;
    v_pk_sub_i16     (x, y)    signed vop3::v_sub_i16;
    v_pk_lshlrev_b16 (n, x)    bits   vop2::v_lshlrev_b16;
    v_pk_lshrrev_b16 (n, x)    bits   vop2::v_lshrrev_b16;
    v_pk_ashrrev_i16 (n, x)    signed vop2::v_ashrrev_i16;
    v_pk_max_i16     (x, y)    signed vop2::v_max_i16;
    v_pk_min_i16     (x, y)    signed vop2::v_min_i16;
    v_pk_mad_u16     (x, y, z) bits   vop3::v_mad_u16;
    v_pk_add_u16     (x, y)    bits   vop2::v_add_u16;
    v_pk_sub_u16     (x, y)    bits   vop2::v_sub_u16;
    v_pk_max_u16     (x, y)    bits   vop2::v_max_u16;
    v_pk_min_u16     (x, y)    bits   vop2::v_min_u16;
    v_pk_fma_f16     (x, y, z) bits   vop3::v_fma_f16;
    v_pk_add_f16     (x, y)    bits   vop2::v_add_f16;
    v_pk_mul_f16     (x, y)    bits   vop2::v_mul_f16;
    v_pk_min_f16     (x, y)    bits   vop2::v_min_f16;
    v_pk_max_f16     (x, y)    bits   vop2::v_max_f16;
}

fn v_fma_mix_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fma(x, y, z)
}

fn v_mad_mix_f32(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.mad_f32(x, y, z)
}

fn to_f16(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f32_to_f16();
    b.call(Width::B32, RowOp::f32_to_f16, &[x], rules)
}

fn v_fma_mixlo_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let sum = b.fma(x, y, z);
    to_f16(b, sum)
}

fn v_mad_mixlo_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let sum = b.mad_f32(x, y, z);
    to_f16(b, sum)
}

fn v_fma_mixhi_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_fma_mixlo_f16(b, x, y, z)
}

fn v_mad_mixhi_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    v_mad_mixlo_f16(b, x, y, z)
}

/// Adds the products one after the other, rounding each sum.
fn v_dot2_f32_f16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let [x_low, y_low] = [x, y].map(|v| b.f16_source(v));
    let [x_high, y_high] = [x, y].map(|v| {
        let high = b.shr_by(v, 16);
        b.f16_source(high)
    });
    let sum = b.fma(x_low, y_low, z);
    b.fma(x_high, y_high, sum)
}

fn v_dot2_i32_i16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let [x_low, y_low] = [x, y].map(|v| b.sext_from(v, 16));
    let [x_high, y_high] = [x, y].map(|v| b.sar_by(v, 16));
    let (low, high) = (b.mul_wide_signed(x_low, y_low), b.mul_wide_signed(x_high, y_high));
    let (products, z) = (b.add(low, high), b.sext(z));
    let sum = b.add(products, z);
    b.narrow_signed(sum)
}

fn v_dot2_u32_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    let [x_low, y_low] = [x, y].map(|v| b.and_bits(v, 0xffff));
    let [x_high, y_high] = [x, y].map(|v| b.shr_by(v, 16));
    let (low, high) = (b.mul_wide(x_low, y_low), b.mul_wide(x_high, y_high));
    let (products, z) = (b.add(low, high), b.zext(z));
    let sum = b.add(products, z);
    b.narrow_unsigned(sum)
}

fn dot_signed(b: &mut Builder, [x, y, z]: [Value; 3], bits: u32) -> Value {
    let products = b.call(Width::B32, RowOp::dot_i, &[x, y], bits);
    b.add_signed(products, z)
}

fn dot_unsigned(b: &mut Builder, [x, y, z]: [Value; 3], bits: u32) -> Value {
    let products = b.call(Width::B32, RowOp::dot_u, &[x, y], bits);
    b.add_unsigned(products, z)
}

fn v_dot4_i32_i8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    dot_signed(b, [x, y, z], 8)
}

fn v_dot4_u32_u8(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    dot_unsigned(b, [x, y, z], 8)
}

fn v_dot8_i32_i4(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    dot_signed(b, [x, y, z], 4)
}

fn v_dot8_u32_u4(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    dot_unsigned(b, [x, y, z], 4)
}

gcnjit_isa::vop3p! { rows }
