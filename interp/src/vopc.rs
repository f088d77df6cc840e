//! VOPC: vector compares into a lane mask.
//!
//! An ordered compare is false if a source is NaN, an `n` compare true. Denormal sources follow MODE. The signalling
//! compares of gfx6 and gfx7 (`cmps`) give the same results, but raise invalid for quiet NaNs too. The `cmpx` forms write EXEC
//! too, see [`crate::operands::compare`].

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "that is what the n compares are: true for NaN")]

use crate::dispatch::compare;
use crate::fp::Fp;
use half::f16;

gcnjit_isa::vopc! { compare }

macro_rules! classes {
    ($($name:ident $type:ident;)*) => { $(
        pub fn $name(e: &Fp, a: $type, mask: u32) -> bool {
            e.class(a, mask)
        }
    )* };
}

classes! {
    v_cmp_class_f32 f32;
    v_cmpx_class_f32 f32;
    v_cmp_class_f64 f64;
    v_cmpx_class_f64 f64;
    v_cmp_class_f16 f16;
    v_cmpx_class_f16 f16;
}

macro_rules! floats {
    ($($type:ident |$a:ident, $b:ident| $compare:expr => $($name:ident)*;)*) => { $( $(
        pub fn $name(e: &Fp, a: $type, b: $type) -> bool {
            e.note_compare(a, b);
            let ($a, $b) = (e.source(a), e.source(b));
            $compare
        }
    )* )* };
}

macro_rules! integers {
    ($($type:ident |$a:ident, $b:ident| $compare:expr => $($name:ident)*;)*) => { $( $(
        pub fn $name(_: &Fp, $a: $type, $b: $type) -> bool {
            $compare
        }
    )* )* };
}

floats! {
    f16 |_a, _b| false => v_cmp_f_f16 v_cmpx_f_f16;
    f16 |a, b| a < b => v_cmp_lt_f16 v_cmpx_lt_f16;
    f16 |a, b| a == b => v_cmp_eq_f16 v_cmpx_eq_f16;
    f16 |a, b| a <= b => v_cmp_le_f16 v_cmpx_le_f16;
    f16 |a, b| a > b => v_cmp_gt_f16 v_cmpx_gt_f16;
    f16 |a, b| a.partial_cmp(&b).is_some_and(|order| order.is_ne()) => v_cmp_lg_f16 v_cmpx_lg_f16;
    f16 |a, b| a >= b => v_cmp_ge_f16 v_cmpx_ge_f16;
    f16 |a, b| a.partial_cmp(&b).is_some() => v_cmp_o_f16 v_cmpx_o_f16;
    f16 |a, b| a.partial_cmp(&b).is_none() => v_cmp_u_f16 v_cmpx_u_f16;
    f16 |a, b| !(a >= b) => v_cmp_nge_f16 v_cmpx_nge_f16;
    f16 |a, b| a.partial_cmp(&b).is_none_or(|order| order.is_eq()) => v_cmp_nlg_f16 v_cmpx_nlg_f16;
    f16 |a, b| !(a > b) => v_cmp_ngt_f16 v_cmpx_ngt_f16;
    f16 |a, b| !(a <= b) => v_cmp_nle_f16 v_cmpx_nle_f16;
    f16 |a, b| a != b => v_cmp_neq_f16 v_cmpx_neq_f16;
    f16 |a, b| !(a < b) => v_cmp_nlt_f16 v_cmpx_nlt_f16;
    f16 |_a, _b| true => v_cmp_tru_f16 v_cmpx_tru_f16;
}

floats! {
    f32 |_a, _b| false => v_cmp_f_f32 v_cmpx_f_f32 v_cmps_f_f32 v_cmpsx_f_f32;
    f32 |a, b| a < b => v_cmp_lt_f32 v_cmpx_lt_f32 v_cmps_lt_f32 v_cmpsx_lt_f32;
    f32 |a, b| a == b => v_cmp_eq_f32 v_cmpx_eq_f32 v_cmps_eq_f32 v_cmpsx_eq_f32;
    f32 |a, b| a <= b => v_cmp_le_f32 v_cmpx_le_f32 v_cmps_le_f32 v_cmpsx_le_f32;
    f32 |a, b| a > b => v_cmp_gt_f32 v_cmpx_gt_f32 v_cmps_gt_f32 v_cmpsx_gt_f32;
    f32 |a, b| a.partial_cmp(&b).is_some_and(|order| order.is_ne()) => v_cmp_lg_f32 v_cmpx_lg_f32 v_cmps_lg_f32 v_cmpsx_lg_f32;
    f32 |a, b| a >= b => v_cmp_ge_f32 v_cmpx_ge_f32 v_cmps_ge_f32 v_cmpsx_ge_f32;
    f32 |a, b| a.partial_cmp(&b).is_some() => v_cmp_o_f32 v_cmpx_o_f32 v_cmps_o_f32 v_cmpsx_o_f32;
    f32 |a, b| a.partial_cmp(&b).is_none() => v_cmp_u_f32 v_cmpx_u_f32 v_cmps_u_f32 v_cmpsx_u_f32;
    f32 |a, b| !(a >= b) => v_cmp_nge_f32 v_cmpx_nge_f32 v_cmps_nge_f32 v_cmpsx_nge_f32;
    f32 |a, b| a.partial_cmp(&b).is_none_or(|order| order.is_eq()) => v_cmp_nlg_f32 v_cmpx_nlg_f32 v_cmps_nlg_f32 v_cmpsx_nlg_f32;
    f32 |a, b| !(a > b) => v_cmp_ngt_f32 v_cmpx_ngt_f32 v_cmps_ngt_f32 v_cmpsx_ngt_f32;
    f32 |a, b| !(a <= b) => v_cmp_nle_f32 v_cmpx_nle_f32 v_cmps_nle_f32 v_cmpsx_nle_f32;
    f32 |a, b| a != b => v_cmp_neq_f32 v_cmpx_neq_f32 v_cmps_neq_f32 v_cmpsx_neq_f32;
    f32 |a, b| !(a < b) => v_cmp_nlt_f32 v_cmpx_nlt_f32 v_cmps_nlt_f32 v_cmpsx_nlt_f32;
    f32 |_a, _b| true => v_cmp_tru_f32 v_cmpx_tru_f32 v_cmps_tru_f32 v_cmpsx_tru_f32;
}

floats! {
    f64 |_a, _b| false => v_cmp_f_f64 v_cmpx_f_f64 v_cmps_f_f64 v_cmpsx_f_f64;
    f64 |a, b| a < b => v_cmp_lt_f64 v_cmpx_lt_f64 v_cmps_lt_f64 v_cmpsx_lt_f64;
    f64 |a, b| a == b => v_cmp_eq_f64 v_cmpx_eq_f64 v_cmps_eq_f64 v_cmpsx_eq_f64;
    f64 |a, b| a <= b => v_cmp_le_f64 v_cmpx_le_f64 v_cmps_le_f64 v_cmpsx_le_f64;
    f64 |a, b| a > b => v_cmp_gt_f64 v_cmpx_gt_f64 v_cmps_gt_f64 v_cmpsx_gt_f64;
    f64 |a, b| a.partial_cmp(&b).is_some_and(|order| order.is_ne()) => v_cmp_lg_f64 v_cmpx_lg_f64 v_cmps_lg_f64 v_cmpsx_lg_f64;
    f64 |a, b| a >= b => v_cmp_ge_f64 v_cmpx_ge_f64 v_cmps_ge_f64 v_cmpsx_ge_f64;
    f64 |a, b| a.partial_cmp(&b).is_some() => v_cmp_o_f64 v_cmpx_o_f64 v_cmps_o_f64 v_cmpsx_o_f64;
    f64 |a, b| a.partial_cmp(&b).is_none() => v_cmp_u_f64 v_cmpx_u_f64 v_cmps_u_f64 v_cmpsx_u_f64;
    f64 |a, b| !(a >= b) => v_cmp_nge_f64 v_cmpx_nge_f64 v_cmps_nge_f64 v_cmpsx_nge_f64;
    f64 |a, b| a.partial_cmp(&b).is_none_or(|order| order.is_eq()) => v_cmp_nlg_f64 v_cmpx_nlg_f64 v_cmps_nlg_f64 v_cmpsx_nlg_f64;
    f64 |a, b| !(a > b) => v_cmp_ngt_f64 v_cmpx_ngt_f64 v_cmps_ngt_f64 v_cmpsx_ngt_f64;
    f64 |a, b| !(a <= b) => v_cmp_nle_f64 v_cmpx_nle_f64 v_cmps_nle_f64 v_cmpsx_nle_f64;
    f64 |a, b| a != b => v_cmp_neq_f64 v_cmpx_neq_f64 v_cmps_neq_f64 v_cmpsx_neq_f64;
    f64 |a, b| !(a < b) => v_cmp_nlt_f64 v_cmpx_nlt_f64 v_cmps_nlt_f64 v_cmpsx_nlt_f64;
    f64 |_a, _b| true => v_cmp_tru_f64 v_cmpx_tru_f64 v_cmps_tru_f64 v_cmpsx_tru_f64;
}

integers! {
    i16 |_a, _b| false => v_cmp_f_i16 v_cmpx_f_i16;
    i16 |a, b| a < b => v_cmp_lt_i16 v_cmpx_lt_i16;
    i16 |a, b| a == b => v_cmp_eq_i16 v_cmpx_eq_i16;
    i16 |a, b| a <= b => v_cmp_le_i16 v_cmpx_le_i16;
    i16 |a, b| a > b => v_cmp_gt_i16 v_cmpx_gt_i16;
    i16 |a, b| a != b => v_cmp_ne_i16 v_cmpx_ne_i16;
    i16 |a, b| a >= b => v_cmp_ge_i16 v_cmpx_ge_i16;
    i16 |_a, _b| true => v_cmp_t_i16 v_cmpx_t_i16;
}

integers! {
    u16 |_a, _b| false => v_cmp_f_u16 v_cmpx_f_u16;
    u16 |a, b| a < b => v_cmp_lt_u16 v_cmpx_lt_u16;
    u16 |a, b| a == b => v_cmp_eq_u16 v_cmpx_eq_u16;
    u16 |a, b| a <= b => v_cmp_le_u16 v_cmpx_le_u16;
    u16 |a, b| a > b => v_cmp_gt_u16 v_cmpx_gt_u16;
    u16 |a, b| a != b => v_cmp_ne_u16 v_cmpx_ne_u16;
    u16 |a, b| a >= b => v_cmp_ge_u16 v_cmpx_ge_u16;
    u16 |_a, _b| true => v_cmp_t_u16 v_cmpx_t_u16;
}

integers! {
    i32 |_a, _b| false => v_cmp_f_i32 v_cmpx_f_i32;
    i32 |a, b| a < b => v_cmp_lt_i32 v_cmpx_lt_i32;
    i32 |a, b| a == b => v_cmp_eq_i32 v_cmpx_eq_i32;
    i32 |a, b| a <= b => v_cmp_le_i32 v_cmpx_le_i32;
    i32 |a, b| a > b => v_cmp_gt_i32 v_cmpx_gt_i32;
    i32 |a, b| a != b => v_cmp_ne_i32 v_cmpx_ne_i32;
    i32 |a, b| a >= b => v_cmp_ge_i32 v_cmpx_ge_i32;
    i32 |_a, _b| true => v_cmp_t_i32 v_cmpx_t_i32;
}

integers! {
    u32 |_a, _b| false => v_cmp_f_u32 v_cmpx_f_u32;
    u32 |a, b| a < b => v_cmp_lt_u32 v_cmpx_lt_u32;
    u32 |a, b| a == b => v_cmp_eq_u32 v_cmpx_eq_u32;
    u32 |a, b| a <= b => v_cmp_le_u32 v_cmpx_le_u32;
    u32 |a, b| a > b => v_cmp_gt_u32 v_cmpx_gt_u32;
    u32 |a, b| a != b => v_cmp_ne_u32 v_cmpx_ne_u32;
    u32 |a, b| a >= b => v_cmp_ge_u32 v_cmpx_ge_u32;
    u32 |_a, _b| true => v_cmp_t_u32 v_cmpx_t_u32;
}

integers! {
    i64 |_a, _b| false => v_cmp_f_i64 v_cmpx_f_i64;
    i64 |a, b| a < b => v_cmp_lt_i64 v_cmpx_lt_i64;
    i64 |a, b| a == b => v_cmp_eq_i64 v_cmpx_eq_i64;
    i64 |a, b| a <= b => v_cmp_le_i64 v_cmpx_le_i64;
    i64 |a, b| a > b => v_cmp_gt_i64 v_cmpx_gt_i64;
    i64 |a, b| a != b => v_cmp_ne_i64 v_cmpx_ne_i64;
    i64 |a, b| a >= b => v_cmp_ge_i64 v_cmpx_ge_i64;
    i64 |_a, _b| true => v_cmp_t_i64 v_cmpx_t_i64;
}

integers! {
    u64 |_a, _b| false => v_cmp_f_u64 v_cmpx_f_u64;
    u64 |a, b| a < b => v_cmp_lt_u64 v_cmpx_lt_u64;
    u64 |a, b| a == b => v_cmp_eq_u64 v_cmpx_eq_u64;
    u64 |a, b| a <= b => v_cmp_le_u64 v_cmpx_le_u64;
    u64 |a, b| a > b => v_cmp_gt_u64 v_cmpx_gt_u64;
    u64 |a, b| a != b => v_cmp_ne_u64 v_cmpx_ne_u64;
    u64 |a, b| a >= b => v_cmp_ge_u64 v_cmpx_ge_u64;
    u64 |_a, _b| true => v_cmp_t_u64 v_cmpx_t_u64;
}
