//! SOP2: scalar, two sources.
//!
//! SCC is the carry or borrow of unsigned additions and subtractions, the overflow of signed ones, whether the first
//! source was chosen for min and max, and whether the result is not zero otherwise. Shift counts are taken modulo the
//! width.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::fp::Fp;
use crate::run::Machine;
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::Trap;

gcnjit_isa::sop2! { scalar }

pub fn s_add_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    a.overflowing_add(b)
}

pub fn s_sub_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    a.overflowing_sub(b)
}

pub fn s_add_i32(_: &Fp, a: i32, b: i32) -> (i32, bool) {
    a.overflowing_add(b)
}

pub fn s_sub_i32(_: &Fp, a: i32, b: i32) -> (i32, bool) {
    a.overflowing_sub(b)
}

pub fn s_addc_u32(_: &Fp, a: u32, b: u32, scc: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(scc);
    (sum as u32, sum >> 32 != 0)
}

pub fn s_subb_u32(_: &Fp, a: u32, b: u32, scc: bool) -> (u32, bool) {
    let difference = u64::from(a).wrapping_sub(u64::from(b) + u64::from(scc));
    (difference as u32, difference >> 32 != 0)
}

pub fn s_min_i32(_: &Fp, a: i32, b: i32) -> (i32, bool) {
    (a.min(b), a < b)
}

pub fn s_min_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    (a.min(b), a < b)
}

pub fn s_max_i32(_: &Fp, a: i32, b: i32) -> (i32, bool) {
    (a.max(b), a > b)
}

pub fn s_max_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    (a.max(b), a > b)
}

pub fn s_cselect_b32(_: &Fp, a: u32, b: u32, scc: bool) -> u32 {
    if scc { a } else { b }
}

pub fn s_cselect_b64(_: &Fp, a: u64, b: u64, scc: bool) -> u64 {
    if scc { a } else { b }
}

pub fn s_and_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = a & b;
    (x, x != 0)
}

pub fn s_and_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = a & b;
    (x, x != 0)
}

pub fn s_or_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = a | b;
    (x, x != 0)
}

pub fn s_or_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = a | b;
    (x, x != 0)
}

pub fn s_xor_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = a ^ b;
    (x, x != 0)
}

pub fn s_xor_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = a ^ b;
    (x, x != 0)
}

pub fn s_andn2_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = a & !b;
    (x, x != 0)
}

pub fn s_andn2_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = a & !b;
    (x, x != 0)
}

pub fn s_orn2_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = a | !b;
    (x, x != 0)
}

pub fn s_orn2_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = a | !b;
    (x, x != 0)
}

pub fn s_nand_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = !(a & b);
    (x, x != 0)
}

pub fn s_nand_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = !(a & b);
    (x, x != 0)
}

pub fn s_nor_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = !(a | b);
    (x, x != 0)
}

pub fn s_nor_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = !(a | b);
    (x, x != 0)
}

pub fn s_xnor_b32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    let x = !(a ^ b);
    (x, x != 0)
}

pub fn s_xnor_b64(_: &Fp, a: u64, b: u64) -> (u64, bool) {
    let x = !(a ^ b);
    (x, x != 0)
}

pub fn s_lshl_b32(_: &Fp, a: u32, count: u32) -> (u32, bool) {
    let x = a.wrapping_shl(count);
    (x, x != 0)
}

pub fn s_lshl_b64(_: &Fp, a: u64, count: u32) -> (u64, bool) {
    let x = a.wrapping_shl(count);
    (x, x != 0)
}

pub fn s_lshr_b32(_: &Fp, a: u32, count: u32) -> (u32, bool) {
    let x = a.wrapping_shr(count);
    (x, x != 0)
}

pub fn s_lshr_b64(_: &Fp, a: u64, count: u32) -> (u64, bool) {
    let x = a.wrapping_shr(count);
    (x, x != 0)
}

pub fn s_ashr_i32(_: &Fp, a: i32, count: u32) -> (i32, bool) {
    let x = a.wrapping_shr(count);
    (x, x != 0)
}

pub fn s_ashr_i64(_: &Fp, a: i64, count: u32) -> (i64, bool) {
    let x = a.wrapping_shr(count);
    (x, x != 0)
}

/// A mask of `width` bits from bit `offset` on; both modulo 32.
pub fn s_bfm_b32(_: &Fp, width: u32, offset: u32) -> u32 {
    ((1 << (width & 31)) - 1) << (offset & 31)
}

pub fn s_bfm_b64(_: &Fp, width: u32, offset: u32) -> u64 {
    ((1 << (width & 63)) - 1) << (offset & 63)
}

pub fn s_mul_i32(_: &Fp, a: i32, b: i32) -> i32 {
    a.wrapping_mul(b)
}

/// `field` bits 4:0 are the first bit, bits 22:16 the width.
pub fn s_bfe_u32(_: &Fp, a: u32, field: u32) -> (u32, bool) {
    let (offset, width) = (field & 31, field >> 16 & 127);
    let x = if width < 32 { a >> offset & ((1 << width) - 1) } else { a >> offset };
    (x, x != 0)
}

pub fn s_bfe_i32(_: &Fp, a: i32, field: u32) -> (i32, bool) {
    let (offset, width) = (field & 31, field >> 16 & 127);
    let x = match width {
        0 => 0,
        1..32 => (a >> offset) << (32 - width) >> (32 - width),
        _ => a >> offset,
    };
    (x, x != 0)
}

/// `field` bits 5:0 are the first bit, bits 22:16 the width.
pub fn s_bfe_u64(_: &Fp, a: u64, field: u32) -> (u64, bool) {
    let (offset, width) = (field & 63, field >> 16 & 127);
    let x = if width < 64 { a >> offset & ((1 << width) - 1) } else { a >> offset };
    (x, x != 0)
}

pub fn s_bfe_i64(_: &Fp, a: i64, field: u32) -> (i64, bool) {
    let (offset, width) = (field & 63, field >> 16 & 127);
    let x = match width {
        0 => 0,
        1..64 => (a >> offset) << (64 - width) >> (64 - width),
        _ => a >> offset,
    };
    (x, x != 0)
}

pub fn s_cbranch_g_fork(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let target = m.uniform(inst.src[1], Ty::b64);
    fork(m, inst, target)
}

/// Lanes whose bit of source 0 is set go to `target`, the others on. If there are both, the fewer go first; the others
/// wait on the stack, an entry of which is four SGPRs, mask below address.
pub(crate) fn fork(m: &mut Machine<'_>, inst: &Inst, target: u64) -> Result<(), Trap> {
    let (condition, exec) = (m.uniform(inst.src[0], Ty::b64), m.wave.exec());
    let (pass, fail) = (condition & exec, !condition & exec);
    let (passing, failing) = ((pass, target), (fail, m.next));
    if pass == exec || fail == exec {
        m.next = if pass == exec { target } else { m.next };
        return Ok(());
    }
    let fail_first = fail.count_ones() < pass.count_ones();
    let (first, second) = if fail_first { (failing, passing) } else { (passing, failing) };
    let slot = m.wave.mode.csp() as usize * 4;
    m.wave.set_sgpr64(slot, second.0);
    m.wave.set_sgpr64(slot + 2, second.1);
    m.wave.set_exec(first.0);
    m.next = first.1;
    m.set_mode(m.wave.mode.with_csp(m.wave.mode.csp() + 1));
    Ok(())
}

pub fn s_absdiff_i32(_: &Fp, a: i32, b: i32) -> (i32, bool) {
    let x = a.wrapping_sub(b).wrapping_abs();
    (x, x != 0)
}

/// Only a trap handler may return from one.
pub fn s_rfe_restore_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    crate::sopp::s_trap(m, inst)
}

pub fn s_mul_hi_u32(_: &Fp, a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

pub fn s_mul_hi_i32(_: &Fp, a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

pub fn s_lshl1_add_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    shift_add(a, 1, b)
}

pub fn s_lshl2_add_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    shift_add(a, 2, b)
}

pub fn s_lshl3_add_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    shift_add(a, 3, b)
}

pub fn s_lshl4_add_u32(_: &Fp, a: u32, b: u32) -> (u32, bool) {
    shift_add(a, 4, b)
}

/// a · 2^n + b, and whether that takes more than 32 bits.
fn shift_add(a: u32, n: u32, b: u32) -> (u32, bool) {
    let sum = (u64::from(a) << n) + u64::from(b);
    (sum as u32, sum >> 32 != 0)
}

pub fn s_pack_ll_b32_b16(_: &Fp, a: u32, b: u32) -> u32 {
    a & 0xffff | b << 16
}

pub fn s_pack_lh_b32_b16(_: &Fp, a: u32, b: u32) -> u32 {
    a & 0xffff | b & 0xffff_0000
}

pub fn s_pack_hh_b32_b16(_: &Fp, a: u32, b: u32) -> u32 {
    a >> 16 | b & 0xffff_0000
}
