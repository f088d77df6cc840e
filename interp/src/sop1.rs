//! SOP1: scalar, one source.
//!
//! SCC is whether the result is not zero, where the row has it; whether EXEC is not zero for the saveexec operations.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::fp::Fp;
use crate::run::Machine;
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Trap};

gcnjit_isa::sop1! { scalar }

pub fn s_mov_b32(_: &Fp, a: u32) -> u32 {
    a
}

pub fn s_mov_b64(_: &Fp, a: u64) -> u64 {
    a
}

pub fn s_cmov_b32(_: &Fp, a: u32, old: u32, scc: bool) -> u32 {
    if scc { a } else { old }
}

pub fn s_cmov_b64(_: &Fp, a: u64, old: u64, scc: bool) -> u64 {
    if scc { a } else { old }
}

pub fn s_not_b32(_: &Fp, a: u32) -> (u32, bool) {
    (!a, a != u32::MAX)
}

pub fn s_not_b64(_: &Fp, a: u64) -> (u64, bool) {
    (!a, a != u64::MAX)
}

/// All four bits of a group of four if one is set.
pub fn s_wqm_b32(_: &Fp, a: u32) -> (u32, bool) {
    (whole_quads(a.into()) as u32, a != 0)
}

pub fn s_wqm_b64(_: &Fp, a: u64) -> (u64, bool) {
    (whole_quads(a), a != 0)
}

fn whole_quads(a: u64) -> u64 {
    (0..16).map(|quad| 0xf << (quad * 4)).filter(|mask| a & mask != 0).sum()
}

pub fn s_brev_b32(_: &Fp, a: u32) -> u32 {
    a.reverse_bits()
}

pub fn s_brev_b64(_: &Fp, a: u64) -> u64 {
    a.reverse_bits()
}

pub fn s_bcnt0_i32_b32(_: &Fp, a: u32) -> (i32, bool) {
    let count = a.count_zeros() as i32;
    (count, count != 0)
}

pub fn s_bcnt0_i32_b64(_: &Fp, a: u64) -> (i32, bool) {
    let count = a.count_zeros() as i32;
    (count, count != 0)
}

pub fn s_bcnt1_i32_b32(_: &Fp, a: u32) -> (i32, bool) {
    let count = a.count_ones() as i32;
    (count, count != 0)
}

pub fn s_bcnt1_i32_b64(_: &Fp, a: u64) -> (i32, bool) {
    let count = a.count_ones() as i32;
    (count, count != 0)
}

/// The lowest clear bit, −1 if there is none.
pub fn s_ff0_i32_b32(_: &Fp, a: u32) -> i32 {
    position((!a).trailing_zeros(), !a == 0)
}

/// The lowest clear bit, −1 if there is none.
pub fn s_ff0_i32_b64(_: &Fp, a: u64) -> i32 {
    position((!a).trailing_zeros(), !a == 0)
}

/// The lowest set bit, −1 if there is none.
pub fn s_ff1_i32_b32(_: &Fp, a: u32) -> i32 {
    position(a.trailing_zeros(), a == 0)
}

/// The lowest set bit, −1 if there is none.
pub fn s_ff1_i32_b64(_: &Fp, a: u64) -> i32 {
    position(a.trailing_zeros(), a == 0)
}

/// `count`, or −1 if there is nothing to count.
fn position(count: u32, none: bool) -> i32 {
    if none { -1 } else { count as i32 }
}

/// Clear bits above the highest set one, −1 if there is none.
pub fn s_flbit_i32_b32(_: &Fp, a: u32) -> i32 {
    position(a.leading_zeros(), a == 0)
}

/// Clear bits above the highest set one, −1 if there is none.
pub fn s_flbit_i32_b64(_: &Fp, a: u64) -> i32 {
    position(a.leading_zeros(), a == 0)
}

/// Leading bits that are like the sign, −1 if all are.
pub fn s_flbit_i32(_: &Fp, a: i32) -> i32 {
    let differing = a ^ (a >> 31);
    position(differing.leading_zeros(), differing == 0)
}

/// Leading bits that are like the sign, −1 if all are.
pub fn s_flbit_i32_i64(_: &Fp, a: i64) -> i32 {
    let differing = a ^ (a >> 63);
    position(differing.leading_zeros(), differing == 0)
}

pub fn s_sext_i32_i8(_: &Fp, a: u32) -> i32 {
    i32::from(a as i8)
}

pub fn s_sext_i32_i16(_: &Fp, a: u32) -> i32 {
    i32::from(a as i16)
}

pub fn s_bitset0_b32(_: &Fp, bit: u32, old: u32) -> u32 {
    old & !(1 << (bit & 31))
}

pub fn s_bitset0_b64(_: &Fp, bit: u32, old: u64) -> u64 {
    old & !(1 << (bit & 63))
}

pub fn s_bitset1_b32(_: &Fp, bit: u32, old: u32) -> u32 {
    old | 1 << (bit & 31)
}

pub fn s_bitset1_b64(_: &Fp, bit: u32, old: u64) -> u64 {
    old | 1 << (bit & 63)
}

pub fn s_getpc_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    m.set_scalar(inst.dst[0], Ty::b64, m.next);
    Ok(())
}

pub fn s_setpc_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    m.next = m.uniform(inst.src[0], Ty::b64);
    Ok(())
}

pub fn s_swappc_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let target = m.uniform(inst.src[0], Ty::b64);
    m.set_scalar(inst.dst[0], Ty::b64, m.next);
    m.next = target;
    Ok(())
}

/// Only a trap handler may return from one.
pub fn s_rfe_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    crate::sopp::s_trap(m, inst)
}

/// The destination gets EXEC, EXEC gets `f(source, EXEC)`.
fn save_exec(m: &mut Machine<'_>, inst: &Inst, f: fn(u64, u64) -> u64) -> Result<(), Trap> {
    let source = m.uniform(inst.src[0], Ty::b64);
    let old = m.wave.exec();
    let new = f(source, old);
    m.set_scalar(inst.dst[0], Ty::b64, old);
    m.wave.set_exec(new);
    m.wave.scc = u32::from(new != 0);
    Ok(())
}

/// The destination and EXEC get `f(source, EXEC)`.
fn write_exec(m: &mut Machine<'_>, inst: &Inst, f: fn(u64, u64) -> u64) -> Result<(), Trap> {
    let new = f(m.uniform(inst.src[0], Ty::b64), m.wave.exec());
    m.set_scalar(inst.dst[0], Ty::b64, new);
    m.wave.set_exec(new);
    m.wave.scc = u32::from(new != 0);
    Ok(())
}

macro_rules! exec_operations {
    ($($name:ident $kind:ident |$a:ident, $exec:ident| $f:expr;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            $kind(m, inst, |$a, $exec| $f)
        }
    )* };
}

exec_operations! {
    s_and_saveexec_b64 save_exec |a, exec| a & exec;
    s_or_saveexec_b64 save_exec |a, exec| a | exec;
    s_xor_saveexec_b64 save_exec |a, exec| a ^ exec;
    s_andn2_saveexec_b64 save_exec |a, exec| a & !exec;
    s_orn2_saveexec_b64 save_exec |a, exec| a | !exec;
    s_nand_saveexec_b64 save_exec |a, exec| !(a & exec);
    s_nor_saveexec_b64 save_exec |a, exec| !(a | exec);
    s_xnor_saveexec_b64 save_exec |a, exec| !(a ^ exec);
}

/// One bit a group of four: whether one of them is set.
pub fn s_quadmask_b32(_: &Fp, a: u32) -> (u32, bool) {
    (quad_mask(a.into()) as u32, a != 0)
}

pub fn s_quadmask_b64(_: &Fp, a: u64) -> (u64, bool) {
    (quad_mask(a), a != 0)
}

fn quad_mask(a: u64) -> u64 {
    (0..16).map(|quad| u64::from(a >> (quad * 4) & 0xf != 0) << quad).sum()
}

/// `operand` with M0 added to its register number, `beyond` if that is no numbered SGPR then. As everywhere, the lowest
/// bit of a pair's number does not count.
pub(crate) fn relative(m: &Machine<'_>, operand: Operand, ty: Ty, beyond: Operand) -> Operand {
    let Operand::Sgpr(first) = operand else { return operand };
    let index = (u64::from(first) + u64::from(m.wave.sgpr[reg::M0])) & !u64::from(ty.dwords() - 1);
    let exists = m.env.registers.has_sgprs(m.env.target.generation(), index, ty.dwords().into());
    if exists { Operand::Sgpr(index as u8) } else { beyond }
}

/// From the register M0 further on; from s0 if there is none.
fn move_from_relative(m: &mut Machine<'_>, inst: &Inst, ty: Ty) -> Result<(), Trap> {
    let bits = m.uniform(relative(m, inst.src[0], ty, Operand::Sgpr(0)), ty);
    m.set_scalar(inst.dst[0], ty, bits);
    Ok(())
}

/// To the register M0 further on; nowhere if there is none.
fn move_to_relative(m: &mut Machine<'_>, inst: &Inst, ty: Ty) -> Result<(), Trap> {
    let bits = m.uniform(inst.src[0], ty);
    m.set_scalar(relative(m, inst.dst[0], ty, Operand::None), ty, bits);
    Ok(())
}

pub fn s_movrels_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_from_relative(m, inst, Ty::b32)
}

pub fn s_movrels_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_from_relative(m, inst, Ty::b64)
}

pub fn s_movreld_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_to_relative(m, inst, Ty::b32)
}

pub fn s_movreld_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_to_relative(m, inst, Ty::b64)
}

/// Lanes of the last fork that wait go next; if those since the one with this stack pointer all have been, all go on.
pub fn s_cbranch_join(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let csp = m.wave.mode.csp();
    if csp == m.uniform(inst.src[0], Ty::b32) as u32 {
        return Ok(());
    }
    m.set_mode(m.wave.mode.with_csp(csp.wrapping_sub(1)));
    let slot = m.wave.mode.csp() as usize * 4;
    m.wave.set_exec(m.wave.sgpr64(slot));
    m.next = m.wave.sgpr64(slot + 2);
    Ok(())
}

pub fn s_abs_i32(_: &Fp, a: i32) -> (i32, bool) {
    (a.wrapping_abs(), a != 0)
}

/// No document says what it reads.
pub fn s_mov_regrd_b32(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Err(m.fault(Cause::Undocumented, m.wave.pc, 0))
}

/// A move that also makes an error for the hardware's error detection to find, of which there is none.
pub fn s_mov_fed_b32(_: &Fp, a: u32) -> u32 {
    a
}

pub fn s_set_gpr_idx_idx(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let index = m.uniform(inst.src[0], Ty::b32) as u32 & 0xff;
    m.wave.sgpr[reg::M0] = m.wave.sgpr[reg::M0] & !0xff | index;
    Ok(())
}

exec_operations! {
    s_andn1_saveexec_b64 save_exec |a, exec| !a & exec;
    s_orn1_saveexec_b64 save_exec |a, exec| !a | exec;
    s_andn1_wrexec_b64 write_exec |a, exec| !a & exec;
    s_andn2_wrexec_b64 write_exec |a, exec| a & !exec;
}

/// Every bit twice.
pub fn s_bitreplicate_b64_b32(_: &Fp, a: u32) -> u64 {
    (0..32).map(|bit| ((u64::from(a) >> bit & 1) * 3) << (2 * bit)).sum()
}
