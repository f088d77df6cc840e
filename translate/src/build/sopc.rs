//! SOPC: scalar compares into SCC.

use super::operands::scalar::{commit, sources};
use super::sop1::s_set_gpr_idx_idx;
use super::{Builder, Result};
use crate::lane::Value;
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::Mode;

macro_rules! compares {
    ($($name:ident |$b:ident, $x:ident, $y:ident| $value:expr;)*) => { $(
        fn $name($b: &mut Builder, $x: Value, $y: Value) -> Value {
            $value
        }
    )* };
}

compares! {
    s_cmp_eq_i32 |b, x, y| b.eq(x, y);
    s_cmp_lg_i32 |b, x, y| b.ne(x, y);
    s_cmp_gt_i32 |b, x, y| b.slt(y, x);
    s_cmp_ge_i32 |b, x, y| b.sle(y, x);
    s_cmp_lt_i32 |b, x, y| b.slt(x, y);
    s_cmp_le_i32 |b, x, y| b.sle(x, y);
    s_cmp_eq_u32 |b, x, y| b.eq(x, y);
    s_cmp_lg_u32 |b, x, y| b.ne(x, y);
    s_cmp_gt_u32 |b, x, y| b.ult(y, x);
    s_cmp_ge_u32 |b, x, y| b.ule(y, x);
    s_cmp_lt_u32 |b, x, y| b.ult(x, y);
    s_cmp_le_u32 |b, x, y| b.ule(x, y);
}

/// Bit n of x, modulo its width, as a B1.
fn bit(b: &mut Builder, x: Value, n: Value) -> Value {
    let moved = b.shr(x, n);
    let bit = b.and_bits(moved, 1);
    b.non_zero(bit)
}

fn s_bitcmp0_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    let set = bit(b, x, n);
    b.not(set)
}

fn s_bitcmp1_b32(b: &mut Builder, x: Value, n: Value) -> Value {
    bit(b, x, n)
}

fn s_bitcmp0_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    s_bitcmp0_b32(b, x, n)
}

fn s_bitcmp1_b64(b: &mut Builder, x: Value, n: Value) -> Value {
    bit(b, x, n)
}

/// Skipping is a matter of translation: the block ends.
fn s_setvskip(b: &mut Builder, inst: &Inst) -> Result {
    let (x, n) = (b.uniform(inst.src[0], Ty::b32), b.uniform(inst.src[1], Ty::u32));
    let (on, off) = (b.b32(Mode::VSKIP), b.b32(0));
    let skip = bit(b, x, n);
    let skip = b.select(skip, on, off);
    b.set_mode_bits(Mode::VSKIP, skip);
    Ok(())
}

/// M0 gets the index and, at bit 12, which operands it is added to.
fn s_set_gpr_idx_on(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Imm(operands) = inst.src[1] else { return b.unimplemented(inst, "operands that are not immediate") };
    s_set_gpr_idx_idx(b, inst)?;
    b.switch_indexing(true);
    b.set_indexed_operands(operands as u32);
    Ok(())
}

compares! {
    s_cmp_eq_u64 |b, x, y| b.eq(x, y);
    s_cmp_lg_u64 |b, x, y| b.ne(x, y);
}

gcnjit_isa::sopc! { rows }
