//! VOP3P: packed 16-bit, mixed precision and dot products (gfx9).
//!
//! op_sel, op_sel_hi, neg and neg_hi are applied before a body sees the halves. Packed integer additions saturate
//! under clamp, and so do dot products.
//!
//! The sources of the mixed operations come as f32 (see [`crate::operands`]). mad_mix computes as v_mad_f32 and fma_mix
//! as v_fma_f32; the lo and hi forms round that result again, to f16. v_dot2_f32_f16 adds the products to the third
//! source one after the other, each sum rounded.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::fp::Fp;
use crate::vop3::{signed, unsigned};
use crate::{vop2, vop3};
use half::f16;

gcnjit_isa::vop3p! { vector }

macro_rules! packed {
    ($($name:ident $result:ident ($($s:ident $type:ident),*) $half:path;)*) => { $(
        pub fn $name(e: &Fp, $($s: [$type; 2]),*) -> [$result; 2] {
            [0, 1].map(|i| $half(e, $($s[i]),*))
        }
    )* };
}

packed! {
    v_pk_mad_i16     i16 (a i16, b i16, c i16) vop3::v_mad_i16;
    v_pk_mul_lo_u16  u16 (a u16, b u16)        vop2::v_mul_lo_u16;
    v_pk_add_i16     i16 (a i16, b i16)        vop3::v_add_i16;
    v_pk_sub_i16     i16 (a i16, b i16)        vop3::v_sub_i16;
    v_pk_lshlrev_b16 u16 (a u16, b u16)        vop2::v_lshlrev_b16;
    v_pk_lshrrev_b16 u16 (a u16, b u16)        vop2::v_lshrrev_b16;
    v_pk_ashrrev_i16 i16 (a u16, b i16)        vop2::v_ashrrev_i16;
    v_pk_max_i16     i16 (a i16, b i16)        vop2::v_max_i16;
    v_pk_min_i16     i16 (a i16, b i16)        vop2::v_min_i16;
    v_pk_mad_u16     u16 (a u16, b u16, c u16) vop3::v_mad_u16;
    v_pk_add_u16     u16 (a u16, b u16)        vop2::v_add_u16;
    v_pk_sub_u16     u16 (a u16, b u16)        vop2::v_sub_u16;
    v_pk_max_u16     u16 (a u16, b u16)        vop2::v_max_u16;
    v_pk_min_u16     u16 (a u16, b u16)        vop2::v_min_u16;
    v_pk_fma_f16     f16 (a f16, b f16, c f16) vop3::v_fma_f16;
    v_pk_add_f16     f16 (a f16, b f16)        vop2::v_add_f16;
    v_pk_mul_f16     f16 (a f16, b f16)        vop2::v_mul_f16;
    v_pk_min_f16     f16 (a f16, b f16)        vop2::v_min_f16;
    v_pk_max_f16     f16 (a f16, b f16)        vop2::v_max_f16;
}

pub fn v_fma_mix_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.fma(a, b, c)
}

pub fn v_mad_mix_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.mad(a, b, c)
}

pub fn v_fma_mixlo_f16(e: &Fp, a: f32, b: f32, c: f32) -> f16 {
    e.convert(e.single, e.half, e.fma(a, b, c))
}

pub fn v_mad_mixlo_f16(e: &Fp, a: f32, b: f32, c: f32) -> f16 {
    e.convert(e.single, e.half, e.mad(a, b, c))
}

pub fn v_fma_mixhi_f16(e: &Fp, a: f32, b: f32, c: f32) -> f16 {
    v_fma_mixlo_f16(e, a, b, c)
}

pub fn v_mad_mixhi_f16(e: &Fp, a: f32, b: f32, c: f32) -> f16 {
    v_mad_mixlo_f16(e, a, b, c)
}

pub fn v_dot2_f32_f16(e: &Fp, a: [f16; 2], b: [f16; 2], c: f32) -> f32 {
    let [a, b] = [a, b].map(|halves| halves.map(|x| e.convert(e.half, e.single, x)));
    e.fma(a[1], b[1], e.fma(a[0], b[0], c))
}

pub fn v_dot2_i32_i16(e: &Fp, a: [i16; 2], b: [i16; 2], c: i32) -> i32 {
    let product = |i: usize| i64::from(a[i]) * i64::from(b[i]);
    signed(e, product(0) + product(1) + i64::from(c))
}

pub fn v_dot2_u32_u16(e: &Fp, a: [u16; 2], b: [u16; 2], c: u32) -> u32 {
    let product = |i: usize| u64::from(a[i]) * u64::from(b[i]);
    unsigned(e, product(0) + product(1) + u64::from(c))
}

/// The sum of the products of the elements, `width` bits each.
fn dot(a: u32, b: u32, width: u32, element: fn(u32, u32) -> i64) -> i64 {
    (0..32)
        .step_by(width as usize)
        .map(|i| element(a << (32 - width - i), width) * element(b << (32 - width - i), width))
        .sum()
}

/// The top `width` bits.
fn top_signed(x: u32, width: u32) -> i64 {
    i64::from(x as i32 >> (32 - width))
}

/// The top `width` bits.
fn top_unsigned(x: u32, width: u32) -> i64 {
    i64::from(x >> (32 - width))
}

pub fn v_dot4_i32_i8(e: &Fp, a: u32, b: u32, c: i32) -> i32 {
    signed(e, dot(a, b, 8, top_signed) + i64::from(c))
}

pub fn v_dot4_u32_u8(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, dot(a, b, 8, top_unsigned) as u64 + u64::from(c))
}

pub fn v_dot8_i32_i4(e: &Fp, a: u32, b: u32, c: i32) -> i32 {
    signed(e, dot(a, b, 4, top_signed) + i64::from(c))
}

pub fn v_dot8_u32_u4(e: &Fp, a: u32, b: u32, c: u32) -> u32 {
    unsigned(e, dot(a, b, 4, top_unsigned) as u64 + u64::from(c))
}
