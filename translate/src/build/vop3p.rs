//! VOP3P: packed 16-bit operations.

use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::Value;
use crate::libcall::RowOp;
use gcnjit_isa::Inst;

fn v_pk_mul_lo_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| b.mul(s[0], s[1]))
}

/// Saturated to i16 if the instruction clamps.
fn saturated_i16(b: &mut Builder, x: Value) -> Value {
    if !b.clamp {
        return x;
    }
    let (low, high) = (b.b32(-0x8000_i32 as u32), b.b32(0x7fff));
    let x = b.max_s(x, low);
    b.min_s(x, high)
}

/// Saturated to u16 if the instruction clamps.
fn saturated_u16(b: &mut Builder, x: Value) -> Value {
    let high = b.b32(0xffff);
    if b.clamp { b.min_u(x, high) } else { x }
}

fn v_pk_add_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| {
        let (x, y) = (b.sext_from(s[0], 16), b.sext_from(s[1], 16));
        let sum = b.add(x, y);
        saturated_i16(b, sum)
    })
}

fn v_pk_sub_i16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| {
        let (x, y) = (b.sext_from(s[0], 16), b.sext_from(s[1], 16));
        let difference = b.sub(x, y);
        saturated_i16(b, difference)
    })
}

fn v_pk_ashrrev_i16(b: &mut Builder, n: Value, x: Value) -> Value {
    b.each_half(&[n, x], |b, s| {
        let (n, x) = (b.and_bits(s[0], 15), b.sext_from(s[1], 16));
        b.lane_sar(x, n)
    })
}

fn v_pk_mad_u16(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.each_half(&[x, y, z], |b, s| {
        let product = b.mul(s[0], s[1]);
        let sum = b.add(product, s[2]);
        saturated_u16(b, sum)
    })
}

fn v_pk_add_u16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| {
        let sum = b.add(s[0], s[1]);
        saturated_u16(b, sum)
    })
}

fn v_pk_add_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| b.f16(RowOp::add_f16, s))
}

fn v_pk_mul_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| b.f16(RowOp::mul_f16, s))
}

fn v_pk_min_f16(b: &mut Builder, x: Value, y: Value) -> Value {
    b.each_half(&[x, y], |b, s| b.f16_extremum(RowOp::min_f16, s))
}

gcnjit_isa::vop3p! { rows }
