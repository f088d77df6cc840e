//! SOPK: scalar with a 16-bit immediate.

use super::operands::scalar::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fenv, Op, Ty as Width, Value};
use gcnjit_isa::{Inst, Operand, Ty};

fn s_movk_i32(_: &mut Builder, k: Value) -> Value {
    k
}

fn s_cmpk_eq_i32(b: &mut Builder, x: Value, k: Value) -> Value {
    b.eq(x, k)
}

fn s_addk_i32(b: &mut Builder, x: Value, k: Value) -> (Value, Value) {
    let sum = b.add(x, k);
    let (from_x, from_k) = (b.xor(x, sum), b.xor(k, sum));
    let both = b.and(from_x, from_k);
    let zero = b.b32(0);
    (sum, b.slt(both, zero))
}

/// Only MODE can be written: the block ends, and code for the new mode goes on.
fn s_setreg_imm32_b32(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Imm(field) = inst.src[1] else { return b.unimplemented(inst, "a register that is not immediate") };
    let (id, offset, size) = (field & 0x3f, (field >> 6 & 0x1f) as u32, (field >> 11 & 0x1f) as u32 + 1);
    if id != 1 {
        return b.unimplemented(inst, "a hardware register other than MODE");
    }
    let value = b.uniform(inst, inst.src[0], Ty::b32)?;
    let mask = u64::from((u32::MAX >> (32 - size)) << offset);
    let mode = b.op(Op::Mode, Width::B32, Fenv::Any, &[], 0);
    let (kept, new) = (b.and_bits(mode, !mask), b.shl_by(value, offset));
    let new = b.and_bits(new, mask);
    let mode = b.or(kept, new);
    b.effect(Op::SetMode, [mode, Value::NONE, Value::NONE], 0);
    Ok(())
}

gcnjit_isa::sopk! { rows }
