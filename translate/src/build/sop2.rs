//! SOP2: scalar, two sources.

use super::operands::scalar::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Block, Term, Value};
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::wave::reg;

type Pair = (Value, Value);

/// The result with SCC = result ≠ 0.
pub(super) fn non_zero(b: &mut Builder, value: Value) -> Pair {
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

fn s_sub_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let borrow = b.ult(x, y);
    (b.sub(x, y), borrow)
}

pub(super) fn s_add_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
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
    carried(b, s_add_u32, x, y, scc)
}

fn s_subb_u32(b: &mut Builder, x: Value, y: Value, scc: Value) -> Pair {
    carried(b, s_sub_u32, x, y, scc)
}

/// `operate` on x and y, then on that and the carry.
fn carried(b: &mut Builder, operate: fn(&mut Builder, Value, Value) -> Pair, x: Value, y: Value, scc: Value) -> Pair {
    let (value, carry) = operate(b, x, y);
    let one = b.b1_to_b32(scc);
    let (value, again) = operate(b, value, one);
    (value, b.or(carry, again))
}

fn s_min_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.slt(x, y);
    (b.min_s(x, y), scc)
}

fn s_min_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.ult(x, y);
    (b.min_u(x, y), scc)
}

fn s_max_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.slt(y, x);
    (b.max_s(x, y), scc)
}

fn s_max_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let scc = b.ult(y, x);
    (b.max_u(x, y), scc)
}

/// Operations whose SCC is whether the result is not zero; a width is a name of its own.
macro_rules! non_zero_operations {
    ($($($name:ident)* = |$b:ident, $x:ident, $y:ident| $value:expr;)*) => { $($(
        fn $name($b: &mut Builder, $x: Value, $y: Value) -> Pair {
            let value = $value;
            non_zero($b, value)
        }
    )*)* };
}

fn s_cselect_b32(b: &mut Builder, x: Value, y: Value, scc: Value) -> Value {
    b.select(scc, x, y)
}

fn s_cselect_b64(b: &mut Builder, x: Value, y: Value, scc: Value) -> Value {
    b.select(scc, x, y)
}

non_zero_operations! {
    s_and_b32 s_and_b64 = |b, x, y| b.and(x, y);
    s_or_b32 s_or_b64 = |b, x, y| b.or(x, y);
    s_xor_b32 s_xor_b64 = |b, x, y| b.xor(x, y);
    s_andn2_b32 s_andn2_b64 = |b, x, y| b.andn(x, y);
    s_orn2_b32 s_orn2_b64 = |b, x, y| b.orn(x, y);
    s_nand_b32 s_nand_b64 = |b, x, y| b.nand(x, y);
    s_nor_b32 s_nor_b64 = |b, x, y| b.nor(x, y);
    s_xnor_b32 s_xnor_b64 = |b, x, y| b.xnor(x, y);
    s_lshl_b32 s_lshl_b64 = |b, x, n| b.shl(x, n);
    s_lshr_b32 s_lshr_b64 = |b, x, n| b.shr(x, n);
    s_ashr_i32 s_ashr_i64 = |b, x, n| b.sar(x, n);
}

fn s_bfm_b32(b: &mut Builder, width: Value, start: Value) -> Value {
    let one = b.b32(1);
    bit_mask(b, one, width, start)
}

fn s_bfm_b64(b: &mut Builder, width: Value, start: Value) -> Value {
    let one = b.b64(1);
    bit_mask(b, one, width, start)
}

/// `width` ones from bit `start` on, in as many bits as `one` has.
fn bit_mask(b: &mut Builder, one: Value, width: Value, start: Value) -> Value {
    let end = b.shl(one, width);
    let mask = b.sub(end, one);
    b.shl(mask, start)
}

fn s_mul_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul(x, y)
}

fn s_bfe_u32(b: &mut Builder, x: Value, field: Value) -> Pair {
    bit_field(b, x, field, 32, Block::shr)
}

fn s_bfe_i32(b: &mut Builder, x: Value, field: Value) -> Pair {
    bit_field(b, x, field, 32, Block::sar)
}

fn s_bfe_u64(b: &mut Builder, x: Value, field: Value) -> Pair {
    bit_field(b, x, field, 64, Block::shr)
}

fn s_bfe_i64(b: &mut Builder, x: Value, field: Value) -> Pair {
    bit_field(b, x, field, 64, Block::sar)
}

/// The field moved down, then up and down again to lose what is above it; wider ones than x end with it.
fn bit_field(b: &mut Builder, x: Value, field: Value, bits: u32, shift: fn(&mut Block, Value, Value) -> Value) -> Pair {
    let width = b.shr_by(field, 16);
    let (width, all) = (b.and_bits(width, 127), b.b32(bits));
    let kept = b.min_u(width, all);
    let spare = b.sub(all, kept);
    let moved = shift(b, x, field);
    let up = b.shl(moved, spare);
    let alone = shift(b, up, spare);
    let (empty, zero) = (b.is_zero(width), b.xor(x, x));
    let value = b.select(empty, zero, alone);
    non_zero(b, value)
}

fn s_cbranch_g_fork(b: &mut Builder, inst: &Inst) -> Result {
    let target = b.uniform(inst.src[1], Ty::b64);
    let to_next = fork(b, inst, target)?;
    let next = b.next_pc;
    let next = b.b64(next);
    b.term = Some(Term::Dynamic(b.select(to_next, next, target)));
    Ok(())
}

/// Splits EXEC by source 0. Where both parts have lanes, the smaller one (those that pass, of equal ones) goes first,
/// the other one's mask and address go to the stack. The result: whether the wave goes on behind the fork.
pub(super) fn fork(b: &mut Builder, inst: &Inst, target: Value) -> Result<Value> {
    let (condition, exec) = (b.uniform(inst.src[0], Ty::b64), b.exec());
    let (pass, fail) = (b.and(exec, condition), b.andn(exec, condition));
    let (all, none) = (b.is_zero(fail), b.is_zero(pass));
    let one_sided = b.or(all, none);
    let split = b.not(one_sided);
    let (passes, fails) = (b.popcnt(pass), b.popcnt(fail));
    let fail_first = b.ult(fails, passes);
    let next = b.next_pc;
    let next = b.b64(next);
    let (waiting, address) = (b.select(fail_first, pass, fail), b.select(fail_first, target, next));
    push(b, split, waiting, address);
    let going = b.select(fail_first, fail, pass);
    let exec = b.select(split, going, exec);
    b.set_sgpr64(reg::EXEC as u8, exec);
    let some_fail_first = b.or(none, fail_first);
    let all_pass = b.not(all);
    Ok(b.and(some_fail_first, all_pass))
}

/// Puts mask and address on the branch stack if `split`.
fn push(b: &mut Builder, split: Value, mask: Value, address: Value) {
    let slot = b.stack_slot();
    for (i, value) in [(0, mask), (2, address)] {
        let old = b.sgpr_at(i, slot, true);
        let value = b.select(split, value, old);
        b.set_sgpr_at(i, slot, value);
    }
    let one = b.b1_to_b32(split);
    b.move_stack_pointer(one);
}
fn s_absdiff_i32(b: &mut Builder, x: Value, y: Value) -> Pair {
    let difference = b.sub(x, y);
    absolute(b, difference)
}

/// The magnitude, which the least number does not have.
pub(super) fn absolute(b: &mut Builder, x: Value) -> Pair {
    let zero = b.b32(0);
    let (negated, negative) = (b.sub(zero, x), b.slt(x, zero));
    let value = b.select(negative, negated, x);
    non_zero(b, value)
}

/// Only a trap handler may return from one.
fn s_rfe_restore_b64(b: &mut Builder, inst: &Inst) -> Result {
    super::sopp::s_trap(b, inst)
}
fn s_mul_hi_u32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_u(x, y)
}

fn s_mul_hi_i32(b: &mut Builder, x: Value, y: Value) -> Value {
    b.mul_hi_s(x, y)
}

fn s_lshl1_add_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    shift_add(b, x, 1, y)
}

fn s_lshl2_add_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    shift_add(b, x, 2, y)
}

fn s_lshl3_add_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    shift_add(b, x, 3, y)
}

fn s_lshl4_add_u32(b: &mut Builder, x: Value, y: Value) -> Pair {
    shift_add(b, x, 4, y)
}

/// x · 2^n + y in 64 bits, and whether that is more than 32.
fn shift_add(b: &mut Builder, x: Value, n: u32, y: Value) -> Pair {
    let (x, y) = (b.zext(x), b.zext(y));
    let shifted = b.shl_by(x, n);
    let sum = b.add(shifted, y);
    let (low, high) = (b.lo(sum), b.hi(sum));
    (low, b.non_zero(high))
}

fn s_pack_ll_b32_b16(b: &mut Builder, x: Value, y: Value) -> Value {
    let y = b.shl_by(y, 16);
    s_pack_lh_b32_b16(b, x, y)
}

fn s_pack_lh_b32_b16(b: &mut Builder, x: Value, y: Value) -> Value {
    let (low, high) = (b.and_bits(x, 0xffff), b.and_bits(y, 0xffff_0000));
    b.or(low, high)
}

fn s_pack_hh_b32_b16(b: &mut Builder, x: Value, y: Value) -> Value {
    let x = b.shr_by(x, 16);
    s_pack_lh_b32_b16(b, x, y)
}

gcnjit_isa::sop2! { rows }
