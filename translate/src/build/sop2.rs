//! SOP2: scalar, two sources.

use super::operands::scalar::{commit, sources};
use super::{Builder, Result};
use crate::lane::Value;
use gcnjit_isa::Inst;

type Pair = (Value, Value);

/// The result with SCC = result ≠ 0.
fn non_zero(b: &mut Builder, value: Value) -> Pair {
    let scc = b.non_zero(value);
    (value, scc)
}

/// Signed overflow of a sum: both terms' signs differ from the result's.
fn overflow(b: &mut Builder, x: Value, y: Value, sum: Value) -> Value {
    let (x, y) = (b.xor(x, sum), b.xor(y, sum));
    let both = b.and(x, y);
    let zero = b.b32(0);
    b.slt(both, zero)
}

fn s_add_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let sum = b.add(x, y);
    let carry = b.ult(sum, x);
    (sum, carry)
}

fn s_add_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let sum = b.add(x, y);
    let scc = overflow(b, x, y, sum);
    (sum, scc)
}

fn s_sub_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let difference = b.sub(x, y);
    let not_y = b.not(y);
    let scc = overflow(b, x, not_y, difference);
    (difference, scc)
}

fn s_addc_u32(b: &mut Builder, x: Value, y: Value, scc: Value) -> Pair {
    let (sum, carry) = s_add_u32(b, x, y);
    let one = b.b1_to_b32(scc);
    let (sum, again) = s_add_u32(b, sum, one);
    let carry = b.or(carry, again);
    (sum, carry)
}

fn s_min_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.slt(x, y);
    (b.min_s(x, y), scc)
}

fn s_max_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.slt(y, x);
    (b.max_s(x, y), scc)
}

fn s_cselect_b32(b: &mut Builder, x: Value, y: Value, scc: Value) -> Value {
    b.select(scc, x, y)
}

fn s_cselect_b64(b: &mut Builder, x: Value, y: Value, scc: Value) -> Value {
    b.select(scc, x, y)
}

fn s_and_b32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let value = b.and(x, y);
    non_zero(b, value)
}

fn s_and_b64(b: &mut Builder, x: Value, y: Value) -> Pair {
    s_and_b32(b, x, y)
}

fn s_or_b32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let value = b.or(x, y);
    non_zero(b, value)
}

fn s_or_b64(b: &mut Builder, x: Value, y: Value) -> Pair {
    s_or_b32(b, x, y)
}

fn s_xor_b32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let value = b.xor(x, y);
    non_zero(b, value)
}

fn s_xor_b64(b: &mut Builder, x: Value, y: Value) -> Pair {
    s_xor_b32(b, x, y)
}

fn s_andn2_b64(b: &mut Builder, x: Value, y: Value) -> Pair {
    let value = b.andn(x, y);
    non_zero(b, value)
}

fn s_orn2_b64(b: &mut Builder, x: Value, y: Value) -> Pair {
    let not_y = b.not(y);
    s_or_b32(b, x, not_y)
}

fn s_lshl_b32(b: &mut Builder, x: Value, n: Value) -> Pair {
    let value = b.shl(x, n);
    non_zero(b, value)
}

fn s_lshl_b64(b: &mut Builder, x: Value, n: Value) -> Pair {
    s_lshl_b32(b, x, n)
}

fn s_lshr_b32(b: &mut Builder, x: Value, n: Value) -> Pair {
    let value = b.shr(x, n);
    non_zero(b, value)
}

fn s_bfm_b32(b: &mut Builder, width: Value, start: Value) -> Value {
    let one = b.b32(1);
    let end = b.shl(one, width);
    let mask = b.sub(end, one);
    b.shl(mask, start)
}

fn s_mul_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn s_mul_hi_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_u(x, y)
}

gcnjit_isa::sop2! { rows }
