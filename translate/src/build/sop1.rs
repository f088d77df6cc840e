//! SOP1: scalar, one source.

use super::operands::scalar::{commit, sources};
use super::sop2::{absolute, non_zero};
use super::{Builder, Result};
use crate::lane::{Term, Value};
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::wave::reg;

fn s_mov_b32(_: &mut Builder, x: Value) -> Value {
    x
}

fn s_mov_b64(_: &mut Builder, x: Value) -> Value {
    x
}

fn s_cmov_b32(b: &mut Builder, x: Value, old: Value, scc: Value) -> Value {
    b.select(scc, x, old)
}

fn s_cmov_b64(b: &mut Builder, x: Value, old: Value, scc: Value) -> Value {
    b.select(scc, x, old)
}

fn s_not_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let value = b.not(x);
    non_zero(b, value)
}

fn s_not_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    s_not_b32(b, x)
}

fn s_wqm_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let quads = any_of_four(b, x);
    let fifteen = b.constant_like(x, 15);
    let value = b.mul(quads, fifteen);
    non_zero(b, value)
}

fn s_wqm_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    s_wqm_b32(b, x)
}

/// The lowest bit of each four: whether one of them is set.
fn any_of_four(b: &mut Builder, x: Value) -> Value {
    let x = with_shifted(b, x, 1);
    let x = with_shifted(b, x, 2);
    b.and_bits(x, 0x1111_1111_1111_1111)
}

fn with_shifted(b: &mut Builder, x: Value, n: u32) -> Value {
    let shifted = b.shr_by(x, n);
    b.or(x, shifted)
}

fn s_brev_b32(b: &mut Builder, x: Value) -> Value {
    b.bitrev(x)
}

fn s_brev_b64(b: &mut Builder, x: Value) -> Value {
    b.bitrev(x)
}

fn s_bcnt0_i32_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let zeros = b.not(x);
    s_bcnt1_i32_b32(b, zeros)
}

fn s_bcnt0_i32_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    let zeros = b.not(x);
    s_bcnt1_i32_b64(b, zeros)
}

fn s_bcnt1_i32_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let count = b.popcnt(x);
    non_zero(b, count)
}

fn s_bcnt1_i32_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    let count = b.popcnt(x);
    let count = b.lo(count);
    non_zero(b, count)
}

fn s_ff0_i32_b32(b: &mut Builder, x: Value) -> Value {
    let zeros = b.not(x);
    s_ff1_i32_b32(b, zeros)
}

fn s_ff0_i32_b64(b: &mut Builder, x: Value) -> Value {
    let zeros = b.not(x);
    s_ff1_i32_b64(b, zeros)
}

fn s_ff1_i32_b32(b: &mut Builder, x: Value) -> Value {
    let first = b.ctz(x);
    if_any(b, x, first)
}

fn s_ff1_i32_b64(b: &mut Builder, x: Value) -> Value {
    let first = b.ctz(x);
    let first = b.lo(first);
    if_any(b, x, first)
}

/// `position`, or −1 if x has no ones.
fn if_any(b: &mut Builder, x: Value, position: Value) -> Value {
    let (found, none) = (b.non_zero(x), b.b32(u32::MAX));
    b.select(found, position, none)
}

fn s_flbit_i32_b32(b: &mut Builder, x: Value) -> Value {
    let first = b.clz(x);
    if_any(b, x, first)
}

fn s_flbit_i32_b64(b: &mut Builder, x: Value) -> Value {
    let first = b.clz(x);
    let first = b.lo(first);
    if_any(b, x, first)
}

fn s_flbit_i32(b: &mut Builder, x: Value) -> Value {
    let differing = unlike_sign(b, x, 31);
    s_flbit_i32_b32(b, differing)
}

fn s_flbit_i32_i64(b: &mut Builder, x: Value) -> Value {
    let differing = unlike_sign(b, x, 63);
    s_flbit_i32_b64(b, differing)
}

/// Bits that differ from the sign, which is bit `top`.
fn unlike_sign(b: &mut Builder, x: Value, top: u32) -> Value {
    let signs = b.sar_by(x, top);
    b.xor(x, signs)
}

fn s_sext_i32_i8(b: &mut Builder, x: Value) -> Value {
    b.sext_from(x, 8)
}

fn s_sext_i32_i16(b: &mut Builder, x: Value) -> Value {
    b.sext_from(x, 16)
}

fn s_bitset0_b32(b: &mut Builder, n: Value, old: Value) -> Value {
    let bit = bit(b, n, old);
    b.andn(old, bit)
}

fn s_bitset0_b64(b: &mut Builder, n: Value, old: Value) -> Value {
    s_bitset0_b32(b, n, old)
}

fn s_bitset1_b32(b: &mut Builder, n: Value, old: Value) -> Value {
    let bit = bit(b, n, old);
    b.or(old, bit)
}

fn s_bitset1_b64(b: &mut Builder, n: Value, old: Value) -> Value {
    s_bitset1_b32(b, n, old)
}

/// Bit n, modulo the width of `like`.
fn bit(b: &mut Builder, n: Value, like: Value) -> Value {
    let one = b.constant_like(like, 1);
    b.shl(one, n)
}

fn s_getpc_b64(b: &mut Builder, inst: &Inst) -> Result {
    let next = b.next_pc;
    let pc = b.b64(next);
    b.set_scalar(inst.dst[0], Ty::b64, pc);
    Ok(())
}

fn s_setpc_b64(b: &mut Builder, inst: &Inst) -> Result {
    let target = b.uniform(inst.src[0], Ty::b64);
    // Compilers make the address of a function of s_getpc's.
    b.term = Some(b.as_const(target).map_or(Term::Indirect(target), Term::Jump));
    Ok(())
}

fn s_swappc_b64(b: &mut Builder, inst: &Inst) -> Result {
    s_setpc_b64(b, inst)?;
    s_getpc_b64(b, inst)
}

/// Only a trap handler may return from one.
fn s_rfe_b64(b: &mut Builder, inst: &Inst) -> Result {
    super::sopp::s_trap(b, inst)
}

/// What becomes of the source and EXEC.
type Combine = fn(&mut Builder, Value, Value) -> Value;

/// The old EXEC to the destination, the combination of the source with it to EXEC.
fn save_exec(b: &mut Builder, inst: &Inst, combine: Combine) -> Result {
    change_exec(b, inst, combine, |exec, _| exec)
}

/// The combination of the source with EXEC to both.
fn write_exec(b: &mut Builder, inst: &Inst, combine: Combine) -> Result {
    change_exec(b, inst, combine, |_, new| new)
}

fn change_exec(b: &mut Builder, inst: &Inst, combine: Combine, result: fn(Value, Value) -> Value) -> Result {
    let source = b.uniform(inst.src[0], Ty::b64);
    let exec = b.exec();
    let new = combine(b, source, exec);
    b.set_scalar(inst.dst[0], Ty::b64, result(exec, new));
    b.set_sgpr64(reg::EXEC as u8, new);
    let scc = b.non_zero(new);
    b.set_scc(scc);
    Ok(())
}

macro_rules! exec_operations {
    ($($name:ident $kind:ident |$b:ident, $x:ident, $exec:ident| $value:expr;)*) => { $(
        fn $name(b: &mut Builder, inst: &Inst) -> Result {
            $kind(b, inst, |$b, $x, $exec| $value)
        }
    )* };
}

exec_operations! {
    s_and_saveexec_b64 save_exec |b, x, exec| b.and(x, exec);
    s_or_saveexec_b64 save_exec |b, x, exec| b.or(x, exec);
    s_xor_saveexec_b64 save_exec |b, x, exec| b.xor(x, exec);
    s_andn2_saveexec_b64 save_exec |b, x, exec| b.andn(x, exec);
    s_orn2_saveexec_b64 save_exec |b, x, exec| b.orn(x, exec);
    s_nand_saveexec_b64 save_exec |b, x, exec| b.nand(x, exec);
    s_nor_saveexec_b64 save_exec |b, x, exec| b.nor(x, exec);
    s_xnor_saveexec_b64 save_exec |b, x, exec| b.xnor(x, exec);
}

fn s_quadmask_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let mut value = any_of_four(b, x);
    for (n, mask) in [(3, 0x0303_0303_0303_0303), (6, 0x000f_000f_000f_000f), (12, 0xff_0000_00ff)] {
        value = with_shifted(b, value, n);
        value = b.and_bits(value, mask);
    }
    non_zero(b, value)
}

fn s_quadmask_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    let (low, high) = (b.lo(x), b.hi(x));
    let (low, high) = (s_quadmask_b32(b, low).0, s_quadmask_b32(b, high).0);
    let high = b.shl_by(high, 8);
    let value = b.or(low, high);
    let value = b.zext(value);
    non_zero(b, value)
}

/// Whether the register M0 further than `first` is a numbered SGPR, and if so M0, else 0. As everywhere, the lowest bit
/// of a pair's number does not count.
fn relative(b: &mut Builder, first: u8, ty: Ty) -> (Value, Value) {
    let room = b.numbered_sgprs().saturating_sub(u32::from(first));
    let (m0, room, zero) = (b.m0(), b.b32(room), b.b32(0));
    let inside = b.ult(m0, room);
    let index = b.and_bits(m0, !u64::from(ty.dwords() - 1));
    (inside, b.select(inside, index, zero))
}

/// From s0 if there is no such register.
fn move_from_relative(b: &mut Builder, inst: &Inst, ty: Ty) -> Result {
    let value = match inst.src[0] {
        Operand::Sgpr(first) => {
            let (inside, index) = relative(b, first, ty);
            let (found, other) = (b.sgpr_at(first, index, ty == Ty::b64), b.uniform(Operand::Sgpr(0), ty));
            b.select(inside, found, other)
        }
        operand => b.uniform(operand, ty),
    };
    b.set_scalar(inst.dst[0], ty, value);
    Ok(())
}

/// Nowhere if there is no such register.
fn move_to_relative(b: &mut Builder, inst: &Inst, ty: Ty) -> Result {
    let value = b.uniform(inst.src[0], ty);
    let Operand::Sgpr(first) = inst.dst[0] else { return Ok(()) };
    if u32::from(first) >= b.numbered_sgprs() {
        return Ok(());
    }
    let (inside, index) = relative(b, first, ty);
    let old = b.sgpr_at(first, index, ty == Ty::b64);
    let value = b.select(inside, value, old);
    b.set_sgpr_at(first, index, value);
    Ok(())
}

fn s_movrels_b32(b: &mut Builder, inst: &Inst) -> Result {
    move_from_relative(b, inst, Ty::b32)
}

fn s_movrels_b64(b: &mut Builder, inst: &Inst) -> Result {
    move_from_relative(b, inst, Ty::b64)
}

fn s_movreld_b32(b: &mut Builder, inst: &Inst) -> Result {
    move_to_relative(b, inst, Ty::b32)
}

fn s_movreld_b64(b: &mut Builder, inst: &Inst) -> Result {
    move_to_relative(b, inst, Ty::b64)
}

/// Pops the lanes that wait longest, unless the stack is as high as source 0 says.
fn s_cbranch_join(b: &mut Builder, inst: &Inst) -> Result {
    let (saved, csp) = (b.uniform(inst.src[0], Ty::b32), b.stack_pointer());
    let done = b.eq(saved, csp);
    let (stay, back) = (b.b32(0), b.b32(u32::MAX));
    let step = b.select(done, stay, back);
    b.move_stack_pointer(step);
    let slot = b.stack_slot();
    let (mask, address) = (b.sgpr_at(0, slot, true), b.sgpr_at(2, slot, true));
    let (exec, next) = (b.exec(), b.next_pc);
    let exec = b.select(done, exec, mask);
    b.set_sgpr64(reg::EXEC as u8, exec);
    let next = b.b64(next);
    b.term = Some(Term::Dynamic(b.select(done, next, address)));
    Ok(())
}

fn s_abs_i32(b: &mut Builder, x: Value) -> (Value, Value) {
    absolute(b, x)
}

/// No document says what it reads.
fn s_mov_regrd_b32(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::Undocumented(b.pc));
    Ok(())
}

fn s_mov_fed_b32(_: &mut Builder, x: Value) -> Value {
    x
}

pub(super) fn s_set_gpr_idx_idx(b: &mut Builder, inst: &Inst) -> Result {
    let index = b.uniform(inst.src[0], Ty::b32);
    let index = b.and_bits(index, 0xff);
    b.set_index(index);
    Ok(())
}

exec_operations! {
    s_andn1_saveexec_b64 save_exec |b, x, exec| b.andn(exec, x);
    s_orn1_saveexec_b64 save_exec |b, x, exec| b.orn(exec, x);
    s_andn1_wrexec_b64 write_exec |b, x, exec| b.andn(exec, x);
    s_andn2_wrexec_b64 write_exec |b, x, exec| b.andn(x, exec);
}

/// Bits are moved apart by halves, then doubled.
fn s_bitreplicate_b64_b32(b: &mut Builder, x: Value) -> Value {
    let mut value = b.zext(x);
    for (n, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        let up = b.shl_by(value, n);
        value = b.or(value, up);
        value = b.and_bits(value, mask);
    }
    let doubled = b.shl_by(value, 1);
    b.or(value, doubled)
}

gcnjit_isa::sop1! { rows }
