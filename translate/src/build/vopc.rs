//! VOPC: vector compares into a lane mask.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fcc, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::Inst;

fn v_cmp_class_f32(b: &mut Builder, x: Value, mask: Value) -> Value {
    let hit = b.call(Width::B32, RowOp::class_f32, &[x, mask], 0);
    b.non_zero(hit)
}

fn v_cmp_class_f64(b: &mut Builder, x: Value, mask: Value) -> Value {
    let hit = b.call(Width::B32, RowOp::class_f64, &[x, mask], 0);
    b.non_zero(hit)
}

/// f16 compares as f32: every f16 is exact there, and denormals are flushed first if they are at all.
fn widened(b: &mut Builder, x: Value, y: Value) -> (Value, Value) {
    (b.f16_source(x), b.f16_source(y))
}

fn v_cmp_lt_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    let (x, y) = widened(b, x, y);
    b.fcmp(Fcc::Lt, x, y)
}

fn v_cmp_lt_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Lt, x, y)
}

fn v_cmp_eq_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Eq, x, y)
}

fn v_cmp_gt_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Lt, y, x)
}

fn v_cmp_ge_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Le, y, x)
}

fn v_cmp_o_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Ord, x, y)
}

fn v_cmp_ngt_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let greater = b.fcmp(Fcc::Lt, y, x);
    b.not(greater)
}

fn v_cmp_neq_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let equal = b.fcmp(Fcc::Eq, x, y);
    b.not(equal)
}

fn v_cmp_nlt_f32(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.fcmp(Fcc::Lt, x, y);
    b.not(less)
}

fn v_cmp_gt_f64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.fcmp(Fcc::Lt, y, x)
}

fn v_cmp_gt_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.slt(y, x)
}

fn v_cmp_gt_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(y, x)
}

fn v_cmp_lt_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.slt(x, y)
}

fn v_cmp_le_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.sle(x, y)
}

fn v_cmp_gt_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.slt(y, x)
}

fn v_cmp_lt_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(x, y)
}

fn v_cmp_eq_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.eq(x, y)
}

fn v_cmp_le_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ule(x, y)
}

fn v_cmp_gt_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(y, x)
}

fn v_cmp_ne_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ne(x, y)
}

fn v_cmp_ge_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ule(y, x)
}

fn v_cmp_lt_u64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(x, y)
}

fn v_cmp_ne_u64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ne(x, y)
}

gcnjit_isa::vopc! { rows }
