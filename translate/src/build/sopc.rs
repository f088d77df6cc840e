//! SOPC: scalar compares into SCC.

use super::operands::scalar::{commit, sources};
use super::{Builder, Result};
use crate::lane::Value;
use gcnjit_isa::{Inst, Operand, Ty};

fn s_cmp_eq_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.eq(x, y)
}

fn s_cmp_lg_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ne(x, y)
}

fn s_cmp_gt_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(y, x)
}

fn s_cmp_ge_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ule(y, x)
}

fn s_cmp_lt_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ult(x, y)
}

fn s_bitcmp0_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    let bit = b.shr(x, n);
    let bit = b.and_bits(bit, 1);
    b.is_zero(bit)
}

/// M0 gets the index and, at bit 12, which operands it is added to.
fn s_set_gpr_idx_on(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Imm(operands) = inst.src[1] else { return b.unimplemented(inst, "operands that are not immediate") };
    let index = b.uniform(inst, inst.src[0], Ty::b32)?;
    let (m0, index) = (b.m0(), b.and_bits(index, 0xff));
    let kept = b.and_bits(m0, !0xf0ff);
    let m0 = b.or(kept, index);
    let m0 = b.or_bits(m0, (operands as u64 & 15) << 12);
    b.set_scalar(Operand::M0, Ty::b32, m0);
    b.gpr_idx = operands as u32 & 15;
    Ok(())
}

fn s_cmp_lg_u64(b: &mut Builder, x: Value, y: Value) -> Value {
    b.ne(x, y)
}

gcnjit_isa::sopc! { rows }
