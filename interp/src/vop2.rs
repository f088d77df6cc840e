//! VOP2: vector, two sources.
//!
//! Shift counts are taken modulo the width. Carries are lane masks. Integer operations that define clamp saturate when
//! the clamp bit is set.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::exceptions;
use crate::fp::{Float, Fp, Rules};
use crate::run::Machine;
use crate::vop1::{norm_i16, norm_u16};
use gcnjit_isa::{Inst, Operand, Ty};
use gcnjit_rt::{LANES, Round, Trap};
use half::f16;

gcnjit_isa::vop2! { vector }

pub fn v_cndmask_b32(_: &Fp, a: u32, b: u32, mask: bool) -> u32 {
    if mask { b } else { a }
}

pub fn v_add_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.add(a, b)
}

pub fn v_sub_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.sub(a, b)
}

pub fn v_subrev_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.subrev(a, b)
}

/// Zero times anything is +0.
pub fn v_mul_legacy_f32(e: &Fp, a: f32, b: f32) -> f32 {
    if e.source(a) == 0.0 || e.source(b) == 0.0 {
        e.note(|| exceptions::sources(&[a, b]));
        return 0.0;
    }
    e.mul(a, b)
}

pub fn v_mul_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.mul(a, b)
}

pub fn v_mul_i32_i24(_: &Fp, a: i32, b: i32) -> i32 {
    a.wrapping_mul(b)
}

pub fn v_mul_hi_i32_i24(_: &Fp, a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

pub fn v_mul_u32_u24(_: &Fp, a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

pub fn v_mul_hi_u32_u24(_: &Fp, a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

pub fn v_min_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.min(a, b)
}

pub fn v_max_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.max(a, b)
}

pub fn v_min_i32(_: &Fp, a: i32, b: i32) -> i32 {
    a.min(b)
}

pub fn v_max_i32(_: &Fp, a: i32, b: i32) -> i32 {
    a.max(b)
}

/// The second source if one is NaN.
pub fn v_min_legacy_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.note(|| exceptions::sources(&[a, b]));
    if e.source(a) < e.source(b) { a } else { b }
}

/// The second source if one is NaN.
pub fn v_max_legacy_f32(e: &Fp, a: f32, b: f32) -> f32 {
    e.note(|| exceptions::sources(&[a, b]));
    if e.source(a) >= e.source(b) { a } else { b }
}

pub fn v_min_u32(_: &Fp, a: u32, b: u32) -> u32 {
    a.min(b)
}

pub fn v_max_u32(_: &Fp, a: u32, b: u32) -> u32 {
    a.max(b)
}

pub fn v_lshrrev_b32(_: &Fp, count: u32, a: u32) -> u32 {
    a.wrapping_shr(count)
}

pub fn v_ashrrev_i32(_: &Fp, count: u32, a: i32) -> i32 {
    a.wrapping_shr(count)
}

pub fn v_lshlrev_b32(_: &Fp, count: u32, a: u32) -> u32 {
    a.wrapping_shl(count)
}

pub fn v_and_b32(_: &Fp, a: u32, b: u32) -> u32 {
    a & b
}

pub fn v_or_b32(_: &Fp, a: u32, b: u32) -> u32 {
    a | b
}

pub fn v_lshr_b32(_: &Fp, a: u32, count: u32) -> u32 {
    a.wrapping_shr(count)
}

pub fn v_xor_b32(_: &Fp, a: u32, b: u32) -> u32 {
    a ^ b
}

pub fn v_mac_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.mad(a, b, c)
}

pub fn v_ashr_i32(_: &Fp, a: i32, count: u32) -> i32 {
    a.wrapping_shr(count)
}

pub fn v_madmk_f32(e: &Fp, a: f32, k: f32, c: f32) -> f32 {
    e.mad(a, k, c)
}

pub fn v_madak_f32(e: &Fp, a: f32, b: f32, k: f32) -> f32 {
    e.mad(a, b, k)
}

/// The low dword of a sum, and whether there is more; all ones instead under clamp.
fn carry_out(e: &Fp, sum: u64) -> (u32, bool) {
    let carry = sum >> 32 != 0;
    (if e.clamp && carry { u32::MAX } else { sum as u32 }, carry)
}

/// The low dword of a difference, and whether it is negative; zero instead under clamp.
fn borrow_out(e: &Fp, difference: i64) -> (u32, bool) {
    let borrow = difference < 0;
    (if e.clamp && borrow { 0 } else { difference as u32 }, borrow)
}

pub fn v_add_co_u32(e: &Fp, a: u32, b: u32) -> (u32, bool) {
    carry_out(e, u64::from(a) + u64::from(b))
}

pub fn v_lshl_b32(_: &Fp, a: u32, count: u32) -> u32 {
    a.wrapping_shl(count)
}

pub fn v_sub_co_u32(e: &Fp, a: u32, b: u32) -> (u32, bool) {
    borrow_out(e, i64::from(a) - i64::from(b))
}

pub fn v_subrev_co_u32(e: &Fp, a: u32, b: u32) -> (u32, bool) {
    borrow_out(e, i64::from(b) - i64::from(a))
}

pub fn v_addc_co_u32(e: &Fp, a: u32, b: u32, carry: bool) -> (u32, bool) {
    carry_out(e, u64::from(a) + u64::from(b) + u64::from(carry))
}

pub fn v_subb_co_u32(e: &Fp, a: u32, b: u32, borrow: bool) -> (u32, bool) {
    borrow_out(e, i64::from(a) - i64::from(b) - i64::from(borrow))
}

pub fn v_subbrev_co_u32(e: &Fp, a: u32, b: u32, borrow: bool) -> (u32, bool) {
    borrow_out(e, i64::from(b) - i64::from(a) - i64::from(borrow))
}

pub fn v_add_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.add(a, b)
}

pub fn v_sub_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.sub(a, b)
}

pub fn v_subrev_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.subrev(a, b)
}

pub fn v_mul_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.mul(a, b)
}

pub fn v_mac_f16(e: &Fp, a: f16, b: f16, c: f16) -> f16 {
    e.mad(a, b, c)
}

pub fn v_madmk_f16(e: &Fp, a: f16, k: f16, c: f16) -> f16 {
    e.mad(a, k, c)
}

pub fn v_madak_f16(e: &Fp, a: f16, b: f16, k: f16) -> f16 {
    e.mad(a, b, k)
}

pub fn v_add_u16(e: &Fp, a: u16, b: u16) -> u16 {
    if e.clamp { a.saturating_add(b) } else { a.wrapping_add(b) }
}

pub fn v_sub_u16(e: &Fp, a: u16, b: u16) -> u16 {
    if e.clamp { a.saturating_sub(b) } else { a.wrapping_sub(b) }
}

pub fn v_subrev_u16(e: &Fp, a: u16, b: u16) -> u16 {
    if e.clamp { b.saturating_sub(a) } else { b.wrapping_sub(a) }
}

pub fn v_mul_lo_u16(_: &Fp, a: u16, b: u16) -> u16 {
    a.wrapping_mul(b)
}

pub fn v_lshlrev_b16(_: &Fp, count: u16, a: u16) -> u16 {
    a.wrapping_shl(count.into())
}

pub fn v_lshrrev_b16(_: &Fp, count: u16, a: u16) -> u16 {
    a.wrapping_shr(count.into())
}

pub fn v_ashrrev_i16(_: &Fp, count: u16, a: i16) -> i16 {
    a.wrapping_shr(count.into())
}

pub fn v_max_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.max(a, b)
}

pub fn v_min_f16(e: &Fp, a: f16, b: f16) -> f16 {
    e.min(a, b)
}

pub fn v_max_u16(_: &Fp, a: u16, b: u16) -> u16 {
    a.max(b)
}

pub fn v_max_i16(_: &Fp, a: i16, b: i16) -> i16 {
    a.max(b)
}

pub fn v_min_u16(_: &Fp, a: u16, b: u16) -> u16 {
    a.min(b)
}

pub fn v_min_i16(_: &Fp, a: i16, b: i16) -> i16 {
    a.min(b)
}

pub fn v_ldexp_f16(e: &Fp, a: f16, n: i16) -> f16 {
    e.ldexp(a, n.into())
}

pub fn v_add_u32(e: &Fp, a: u32, b: u32) -> u32 {
    if e.clamp { a.saturating_add(b) } else { a.wrapping_add(b) }
}

pub fn v_sub_u32(e: &Fp, a: u32, b: u32) -> u32 {
    if e.clamp { a.saturating_sub(b) } else { a.wrapping_sub(b) }
}

pub fn v_subrev_u32(e: &Fp, a: u32, b: u32) -> u32 {
    if e.clamp { b.saturating_sub(a) } else { b.wrapping_sub(a) }
}

pub fn v_fmac_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.fma(a, b, c)
}

pub fn v_xnor_b32(_: &Fp, a: u32, b: u32) -> u32 {
    !(a ^ b)
}

pub fn v_cvt_pkaccum_u8_f32(e: &Fp, a: f32, byte: u32, old: u32) -> u32 {
    replace_byte(old, byte, to_byte(e, a))
}

/// To an integer by the rounding mode, saturated to a byte; NaN to 0.
pub(crate) fn to_byte(e: &Fp, a: f32) -> u8 {
    e.note(|| exceptions::to_integer(e.single.flush_in, a, rounding(e.single.round), 0.0, 255.0));
    let a = e.source(a);
    let rounded = match e.single.round {
        Round::NearestEven => a.rndne(),
        Round::Up => Float::ceil(a),
        Round::Down => Float::floor(a),
        Round::Zero => Float::trunc(a),
    };
    rounded as u8
}

/// Rounding to an integer.
fn rounding(round: Round) -> fn(f64) -> f64 {
    match round {
        Round::NearestEven => f64::round_ties_even,
        Round::Up => f64::ceil,
        Round::Down => f64::floor,
        Round::Zero => f64::trunc,
    }
}

/// `old` with the byte of this number, modulo 4, replaced.
pub(crate) fn replace_byte(old: u32, number: u32, byte: u8) -> u32 {
    let shift = (number & 3) * 8;
    old & !(0xff << shift) | u32::from(byte) << shift
}

pub fn v_ldexp_f32(e: &Fp, a: f32, n: i32) -> f32 {
    e.ldexp(a, n)
}

/// The source of the lane that source 1 names, to an SGPR.
pub fn v_readlane_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let lane = m.uniform(inst.src[1], Ty::u32) as usize % LANES;
    m.read(inst.src[0], Ty::b32, 0);
    m.set_scalar(inst.dst[0], Ty::b32, u64::from(m.buffers.src[0][0][lane]));
    Ok(())
}

/// A scalar to the lane that source 1 names, whether it is active or not.
pub fn v_writelane_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let lane = m.uniform(inst.src[1], Ty::u32) as usize % LANES;
    let value = m.uniform(inst.src[0], Ty::b32) as u32;
    if let Operand::Vgpr(index) = inst.dst[0] {
        m.wave.vgpr[usize::from(index)][lane] = value;
    }
    Ok(())
}

pub fn v_bcnt_u32_b32(_: &Fp, a: u32, b: u32) -> u32 {
    a.count_ones().wrapping_add(b)
}

/// Counts the bits of source 0 that stand for lanes below each lane, and adds source 1. `first` is the lane of bit 0.
fn count_below(m: &mut Machine<'_>, inst: &Inst, first: usize) {
    m.begin(inst);
    m.fetch(inst, 0, Ty::b32);
    m.fetch(inst, 1, Ty::u32);
    for lane in 0..LANES {
        let below = ((1_u64 << lane.saturating_sub(first).min(32)) - 1) as u32;
        let [mask, sum] = [m.buffers.src[0][0][lane], m.buffers.src[1][0][lane]];
        m.buffers.dst[0][0][lane] = (mask & below).count_ones().wrapping_add(sum);
    }
    m.commit(inst, 0, Ty::u32);
}

pub fn v_mbcnt_lo_u32_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    count_below(m, inst, 0);
    Ok(())
}

pub fn v_mbcnt_hi_u32_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    count_below(m, inst, 32);
    Ok(())
}

pub fn v_mac_legacy_f32(e: &Fp, a: f32, b: f32, c: f32) -> f32 {
    e.mad_legacy(a, b, c)
}

pub fn v_bfm_b32(_: &Fp, width: u32, offset: u32) -> u32 {
    ((1 << (width & 31)) - 1) << (offset & 31)
}

pub fn v_cvt_pknorm_i16_f32(_: &Fp, a: f32, b: f32) -> [i16; 2] {
    [a, b].map(|x| norm_i16(x.into()))
}

pub fn v_cvt_pknorm_u16_f32(_: &Fp, a: f32, b: f32) -> [u16; 2] {
    [a, b].map(|x| norm_u16(x.into()))
}

pub fn v_cvt_pkrtz_f16_f32(e: &Fp, a: f32, b: f32) -> [f16; 2] {
    let rules = Rules { round: Round::Zero, ..e.half };
    [a, b].map(|x| e.convert(e.single, rules, x))
}

pub fn v_cvt_pk_u16_u32(_: &Fp, a: u32, b: u32) -> [u16; 2] {
    [a, b].map(|x| x.min(0xffff) as u16)
}

pub fn v_cvt_pk_i16_i32(_: &Fp, a: i32, b: i32) -> [i16; 2] {
    [a, b].map(|x| x.clamp(-0x8000, 0x7fff) as i16)
}
