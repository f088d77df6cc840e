//! VOPC: vector compares into a lane mask, the `cmpx` forms into EXEC too.

use super::operands::vector::sources;
use super::{Builder, Result};
use crate::lane::{Fcc, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::{Implicit, Inst, Note, Ty};
use gcnjit_rt::wave::reg;

fn commit(b: &mut Builder, inst: &Inst, values: Vec<Value>) -> Result {
    let enabled = b.enabled(inst);
    let enabled = b.spread(enabled);
    let mask = b.and(values[0], enabled);
    let bits = b.bits(mask);
    b.set_scalar(inst.dst[0], Ty::mask, bits);
    if inst.op.info().has(Note::Writes(Implicit::Exec)) {
        b.set_sgpr64(reg::EXEC as u8, bits);
    }
    Ok(())
}

macro_rules! classes {
    ($($class:ident $($name:ident)*;)*) => { $($(
        fn $name(b: &mut Builder, x: Value, mask: Value) -> Value {
            b.class(x, mask, RowOp::$class)
        }
    )*)* };
}

classes! {
    class_f32 v_cmp_class_f32 v_cmpx_class_f32;
    class_f64 v_cmp_class_f64 v_cmpx_class_f64;
    class_f16 v_cmp_class_f16 v_cmpx_class_f16;
}

/// The kinds of comparison, on either width.
macro_rules! kinds {
    ($($kind:ident |$b:ident, $x:ident, $y:ident| $compare:expr;)*) => { $(
        fn $kind($b: &mut Builder, $x: Value, $y: Value) -> Value {
            $compare
        }
    )* };
}

kinds! {
    never |b, _x, _y| b.constant(Width::B1, 0);
    always |b, _x, _y| b.constant(Width::B1, 1);
    flt |b, x, y| b.fcmp(Fcc::Lt, x, y);
    feq |b, x, y| b.fcmp(Fcc::Eq, x, y);
    fle |b, x, y| b.fcmp(Fcc::Le, x, y);
    fgt |b, x, y| b.fcmp(Fcc::Lt, y, x);
    fge |b, x, y| b.fcmp(Fcc::Le, y, x);
    ord |b, x, y| b.fcmp(Fcc::Ord, x, y);
    uno |b, x, y| b.fcmp(Fcc::Uno, x, y);
    nge |b, x, y| b.fcmp(Fcc::Nle, y, x);
    ngt |b, x, y| b.fcmp(Fcc::Nlt, y, x);
    nle |b, x, y| b.fcmp(Fcc::Nle, x, y);
    neq |b, x, y| b.fcmp(Fcc::Neq, x, y);
    nlt |b, x, y| b.fcmp(Fcc::Nlt, x, y);
    flg |b, x, y| { let (less, greater) = (flt(b, x, y), fgt(b, x, y)); b.or(less, greater) };
    nlg |b, x, y| { let (equal, unordered) = (feq(b, x, y), uno(b, x, y)); b.or(equal, unordered) };
    ieq |b, x, y| b.eq(x, y);
    ine |b, x, y| b.ne(x, y);
    slt |b, x, y| b.slt(x, y);
    sle |b, x, y| b.sle(x, y);
    sgt |b, x, y| b.slt(y, x);
    sge |b, x, y| b.sle(y, x);
    ult |b, x, y| b.ult(x, y);
    ule |b, x, y| b.ule(x, y);
    ugt |b, x, y| b.ult(y, x);
    uge |b, x, y| b.ule(y, x);
}

/// A row a name: its kind, behind `through` for sources that have to be made comparable first.
macro_rules! compares {
    ($through:ident: $($kind:ident $($name:ident)*;)*) => { $($(
        fn $name(b: &mut Builder, x: Value, y: Value) -> Value {
            let (x, y) = $through(b, x, y);
            $kind(b, x, y)
        }
    )*)* };
}

fn themselves(_: &mut Builder, x: Value, y: Value) -> (Value, Value) {
    (x, y)
}

/// f16 compares as f32: every f16 is exact there, and denormals are flushed first if they are at all.
fn widened(b: &mut Builder, x: Value, y: Value) -> (Value, Value) {
    (b.f16_source(x), b.f16_source(y))
}

compares! { widened:
    never v_cmp_f_f16 v_cmpx_f_f16;
    flt v_cmp_lt_f16 v_cmpx_lt_f16;
    feq v_cmp_eq_f16 v_cmpx_eq_f16;
    fle v_cmp_le_f16 v_cmpx_le_f16;
    fgt v_cmp_gt_f16 v_cmpx_gt_f16;
    flg v_cmp_lg_f16 v_cmpx_lg_f16;
    fge v_cmp_ge_f16 v_cmpx_ge_f16;
    ord v_cmp_o_f16 v_cmpx_o_f16;
    uno v_cmp_u_f16 v_cmpx_u_f16;
    nge v_cmp_nge_f16 v_cmpx_nge_f16;
    nlg v_cmp_nlg_f16 v_cmpx_nlg_f16;
    ngt v_cmp_ngt_f16 v_cmpx_ngt_f16;
    nle v_cmp_nle_f16 v_cmpx_nle_f16;
    neq v_cmp_neq_f16 v_cmpx_neq_f16;
    nlt v_cmp_nlt_f16 v_cmpx_nlt_f16;
    always v_cmp_tru_f16 v_cmpx_tru_f16;
}

compares! { themselves:
    never v_cmp_f_f32 v_cmpx_f_f32 v_cmps_f_f32 v_cmpsx_f_f32;
    flt v_cmp_lt_f32 v_cmpx_lt_f32 v_cmps_lt_f32 v_cmpsx_lt_f32;
    feq v_cmp_eq_f32 v_cmpx_eq_f32 v_cmps_eq_f32 v_cmpsx_eq_f32;
    fle v_cmp_le_f32 v_cmpx_le_f32 v_cmps_le_f32 v_cmpsx_le_f32;
    fgt v_cmp_gt_f32 v_cmpx_gt_f32 v_cmps_gt_f32 v_cmpsx_gt_f32;
    flg v_cmp_lg_f32 v_cmpx_lg_f32 v_cmps_lg_f32 v_cmpsx_lg_f32;
    fge v_cmp_ge_f32 v_cmpx_ge_f32 v_cmps_ge_f32 v_cmpsx_ge_f32;
    ord v_cmp_o_f32 v_cmpx_o_f32 v_cmps_o_f32 v_cmpsx_o_f32;
    uno v_cmp_u_f32 v_cmpx_u_f32 v_cmps_u_f32 v_cmpsx_u_f32;
    nge v_cmp_nge_f32 v_cmpx_nge_f32 v_cmps_nge_f32 v_cmpsx_nge_f32;
    nlg v_cmp_nlg_f32 v_cmpx_nlg_f32 v_cmps_nlg_f32 v_cmpsx_nlg_f32;
    ngt v_cmp_ngt_f32 v_cmpx_ngt_f32 v_cmps_ngt_f32 v_cmpsx_ngt_f32;
    nle v_cmp_nle_f32 v_cmpx_nle_f32 v_cmps_nle_f32 v_cmpsx_nle_f32;
    neq v_cmp_neq_f32 v_cmpx_neq_f32 v_cmps_neq_f32 v_cmpsx_neq_f32;
    nlt v_cmp_nlt_f32 v_cmpx_nlt_f32 v_cmps_nlt_f32 v_cmpsx_nlt_f32;
    always v_cmp_tru_f32 v_cmpx_tru_f32 v_cmps_tru_f32 v_cmpsx_tru_f32;
}

compares! { themselves:
    never v_cmp_f_f64 v_cmpx_f_f64 v_cmps_f_f64 v_cmpsx_f_f64;
    flt v_cmp_lt_f64 v_cmpx_lt_f64 v_cmps_lt_f64 v_cmpsx_lt_f64;
    feq v_cmp_eq_f64 v_cmpx_eq_f64 v_cmps_eq_f64 v_cmpsx_eq_f64;
    fle v_cmp_le_f64 v_cmpx_le_f64 v_cmps_le_f64 v_cmpsx_le_f64;
    fgt v_cmp_gt_f64 v_cmpx_gt_f64 v_cmps_gt_f64 v_cmpsx_gt_f64;
    flg v_cmp_lg_f64 v_cmpx_lg_f64 v_cmps_lg_f64 v_cmpsx_lg_f64;
    fge v_cmp_ge_f64 v_cmpx_ge_f64 v_cmps_ge_f64 v_cmpsx_ge_f64;
    ord v_cmp_o_f64 v_cmpx_o_f64 v_cmps_o_f64 v_cmpsx_o_f64;
    uno v_cmp_u_f64 v_cmpx_u_f64 v_cmps_u_f64 v_cmpsx_u_f64;
    nge v_cmp_nge_f64 v_cmpx_nge_f64 v_cmps_nge_f64 v_cmpsx_nge_f64;
    nlg v_cmp_nlg_f64 v_cmpx_nlg_f64 v_cmps_nlg_f64 v_cmpsx_nlg_f64;
    ngt v_cmp_ngt_f64 v_cmpx_ngt_f64 v_cmps_ngt_f64 v_cmpsx_ngt_f64;
    nle v_cmp_nle_f64 v_cmpx_nle_f64 v_cmps_nle_f64 v_cmpsx_nle_f64;
    neq v_cmp_neq_f64 v_cmpx_neq_f64 v_cmps_neq_f64 v_cmpsx_neq_f64;
    nlt v_cmp_nlt_f64 v_cmpx_nlt_f64 v_cmps_nlt_f64 v_cmpsx_nlt_f64;
    always v_cmp_tru_f64 v_cmpx_tru_f64 v_cmps_tru_f64 v_cmpsx_tru_f64;
}

compares! { themselves:
    never v_cmp_f_i16 v_cmpx_f_i16 v_cmp_f_u16 v_cmpx_f_u16;
    slt v_cmp_lt_i16 v_cmpx_lt_i16;
    ult v_cmp_lt_u16 v_cmpx_lt_u16;
    ieq v_cmp_eq_i16 v_cmpx_eq_i16 v_cmp_eq_u16 v_cmpx_eq_u16;
    sle v_cmp_le_i16 v_cmpx_le_i16;
    ule v_cmp_le_u16 v_cmpx_le_u16;
    sgt v_cmp_gt_i16 v_cmpx_gt_i16;
    ugt v_cmp_gt_u16 v_cmpx_gt_u16;
    ine v_cmp_ne_i16 v_cmpx_ne_i16 v_cmp_ne_u16 v_cmpx_ne_u16;
    sge v_cmp_ge_i16 v_cmpx_ge_i16;
    uge v_cmp_ge_u16 v_cmpx_ge_u16;
    always v_cmp_t_i16 v_cmpx_t_i16 v_cmp_t_u16 v_cmpx_t_u16;
}

compares! { themselves:
    never v_cmp_f_i32 v_cmpx_f_i32 v_cmp_f_u32 v_cmpx_f_u32;
    slt v_cmp_lt_i32 v_cmpx_lt_i32;
    ult v_cmp_lt_u32 v_cmpx_lt_u32;
    ieq v_cmp_eq_i32 v_cmpx_eq_i32 v_cmp_eq_u32 v_cmpx_eq_u32;
    sle v_cmp_le_i32 v_cmpx_le_i32;
    ule v_cmp_le_u32 v_cmpx_le_u32;
    sgt v_cmp_gt_i32 v_cmpx_gt_i32;
    ugt v_cmp_gt_u32 v_cmpx_gt_u32;
    ine v_cmp_ne_i32 v_cmpx_ne_i32 v_cmp_ne_u32 v_cmpx_ne_u32;
    sge v_cmp_ge_i32 v_cmpx_ge_i32;
    uge v_cmp_ge_u32 v_cmpx_ge_u32;
    always v_cmp_t_i32 v_cmpx_t_i32 v_cmp_t_u32 v_cmpx_t_u32;
}

compares! { themselves:
    never v_cmp_f_i64 v_cmpx_f_i64 v_cmp_f_u64 v_cmpx_f_u64;
    slt v_cmp_lt_i64 v_cmpx_lt_i64;
    ult v_cmp_lt_u64 v_cmpx_lt_u64;
    ieq v_cmp_eq_i64 v_cmpx_eq_i64 v_cmp_eq_u64 v_cmpx_eq_u64;
    sle v_cmp_le_i64 v_cmpx_le_i64;
    ule v_cmp_le_u64 v_cmpx_le_u64;
    sgt v_cmp_gt_i64 v_cmpx_gt_i64;
    ugt v_cmp_gt_u64 v_cmpx_gt_u64;
    ine v_cmp_ne_i64 v_cmpx_ne_i64 v_cmp_ne_u64 v_cmpx_ne_u64;
    sge v_cmp_ge_i64 v_cmpx_ge_i64;
    uge v_cmp_ge_u64 v_cmpx_ge_u64;
    always v_cmp_t_i64 v_cmpx_t_i64 v_cmp_t_u64 v_cmpx_t_u64;
}

gcnjit_isa::vopc! { rows }
