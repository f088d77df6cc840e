//! VOP3P: packed 16-bit, mixed precision and dot products (gfx9).
//!
//! op_sel, op_sel_hi, neg and neg_hi are applied before a body sees the halves. Packed integer additions saturate
//! under clamp.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::fp::Fp;
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
