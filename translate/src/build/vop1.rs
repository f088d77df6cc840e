//! VOP1: vector, one source.

use super::index::Indexing;
use super::operands::vector::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Fcc, Ty as Width, Value};
use crate::libcall::RowOp;
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::{Round, trapsts};

fn v_nop(_: &mut Builder, _: &Inst) -> Result {
    Ok(())
}

fn v_mov_b32(_: &mut Builder, x: Value) -> Value {
    x
}

/// Lane 0 if no lane is active.
fn v_readfirstlane_b32(b: &mut Builder, inst: &Inst) -> Result {
    let source = b.whole(inst.src[0]);
    let exec = b.exec();
    let first = b.ctz(exec);
    let first = b.lo(first);
    let value = b.read_lane(source, first);
    b.set_scalar(inst.dst[0], Ty::b32, value);
    Ok(())
}

fn v_cvt_i32_f64(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::cvt_i32_f64, &[x], 0)
}

fn v_cvt_f64_i32(b: &mut Builder, x: Value) -> Value {
    b.s_to_f(Width::B64, x)
}

fn v_cvt_f32_i32(b: &mut Builder, x: Value) -> Value {
    b.s_to_f(Width::B32, x)
}

fn v_cvt_f32_u32(b: &mut Builder, x: Value) -> Value {
    b.u_to_f(Width::B32, x)
}

fn v_cvt_u32_f32(b: &mut Builder, x: Value) -> Value {
    b.f_to_u(x)
}

fn v_cvt_i32_f32(b: &mut Builder, x: Value) -> Value {
    b.f_to_s(x)
}

fn v_mov_fed_b32(_: &mut Builder, x: Value) -> Value {
    x
}

fn v_cvt_f16_f32(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f32_to_f16();
    b.call(Width::B32, RowOp::f32_to_f16, &[x], rules)
}

fn v_cvt_f32_f16(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f16_conversion();
    b.call(Width::B32, RowOp::f16_to_f32, &[x], rules)
}

/// One is added to the floor where what it left is at least ½: that comparison holds however the difference is rounded.
fn v_cvt_rpi_i32_f32(b: &mut Builder, x: Value) -> Value {
    let (floor, half) = (b.ffloor(x), b.b32(0.5_f32.to_bits()));
    let rest = b.fsub(x, floor);
    let up = b.fcmp(Fcc::Le, half, rest);
    let (floor, up) = (b.f_to_s(floor), b.b1_to_b32(up));
    b.add(floor, up)
}

fn v_cvt_flr_i32_f32(b: &mut Builder, x: Value) -> Value {
    let floor = b.ffloor(x);
    b.f_to_s(floor)
}

/// Signed sixteenths.
fn v_cvt_off_f32_i4(b: &mut Builder, x: Value) -> Value {
    let nibble = b.sext_from(x, 4);
    let (number, sixteenth) = (b.s_to_f(Width::B32, nibble), b.b32(0.0625_f32.to_bits()));
    b.fmul(number, sixteenth)
}

/// MXCSR has one flag for denormal sources of either format. To nearest it doesn't matter: those of f64 are 0 in f32.
fn v_cvt_f32_f64(b: &mut Builder, x: Value) -> Value {
    let (single, double) = (b.rules_f32(), b.rules_f64() >> 2 & 1);
    if b.mode.round32() == Round::NearestEven || single >> 2 & 1 == double {
        return b.demote(x);
    }
    b.call(Width::B32, RowOp::f64_to_f32, &[x], single | double << 4)
}

fn v_cvt_f64_f32(b: &mut Builder, x: Value) -> Value {
    b.promote(x)
}

fn ubyte(b: &mut Builder, x: Value, n: u32) -> Value {
    let byte = b.shr_by(x, 8 * n);
    let byte = b.and_bits(byte, 0xff);
    b.s_to_f(Width::B32, byte)
}

fn v_cvt_f32_ubyte0(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 0)
}

fn v_cvt_f32_ubyte1(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 1)
}

fn v_cvt_f32_ubyte2(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 2)
}

fn v_cvt_f32_ubyte3(b: &mut Builder, x: Value) -> Value {
    ubyte(b, x, 3)
}

fn v_cvt_u32_f64(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::cvt_u32_f64, &[x], 0)
}

/// The host subtracts to convert, which makes −0 of 0 when rounding down.
fn v_cvt_f64_u32(b: &mut Builder, x: Value) -> Value {
    let number = b.u_to_f(Width::B64, x);
    b.and_bits(number, u64::MAX >> 1)
}

fn v_trunc_f64(b: &mut Builder, x: Value) -> Value {
    b.ftrunc(x)
}

fn v_ceil_f64(b: &mut Builder, x: Value) -> Value {
    b.fceil(x)
}

fn v_rndne_f64(b: &mut Builder, x: Value) -> Value {
    b.fnearest(x)
}

fn v_floor_f64(b: &mut Builder, x: Value) -> Value {
    b.ffloor(x)
}

/// 1, as wide as `x`.
fn one_like(b: &mut Builder, x: Value) -> Value {
    let ty = if b.ty(x) == Width::B64 { Ty::f64 } else { Ty::f32 };
    b.float_const(ty, 1.0)
}

/// Never above the largest number below 1.
fn fract(b: &mut Builder, x: Value) -> Value {
    let floor = b.ffloor(x);
    let fraction = b.fsub(x, floor);
    let one = one_like(b, x);
    let (largest, whole) = (b.add_bits(one, u64::MAX), b.fcmp(Fcc::Le, one, fraction));
    b.select(whole, largest, fraction)
}

fn v_fract_f32(b: &mut Builder, x: Value) -> Value {
    fract(b, x)
}

fn v_trunc_f32(b: &mut Builder, x: Value) -> Value {
    b.ftrunc(x)
}

fn v_ceil_f32(b: &mut Builder, x: Value) -> Value {
    b.fceil(x)
}

fn v_rndne_f32(b: &mut Builder, x: Value) -> Value {
    b.fnearest(x)
}

fn v_floor_f32(b: &mut Builder, x: Value) -> Value {
    b.ffloor(x)
}

/// Denormals flushed both ways, as libcalls take it.
const FLUSH: u32 = 12;

/// A function that is approximated, as a libcall; it rounds to nearest even whatever MODE says.
fn approximated(b: &mut Builder, op: RowOp, x: Value) -> Value {
    let width = b.ty(x);
    let rules = if width == Width::B64 { b.rules_f64() } else { b.rules_f32() };
    b.call(width, op, &[x], rules)
}

/// Whether arithmetic on values as wide as `x` rounds to nearest even, so that the approximated functions that IEEE
/// has operations for can be inline.
fn to_nearest(b: &Builder, x: Value) -> bool {
    let round = if b.ty(x) == Width::B64 { b.mode.round64() } else { b.mode.round32() };
    round == Round::NearestEven
}

fn v_exp_f32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::exp_f32, &[x], FLUSH)
}

fn v_log_f32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::log_f32, &[x], FLUSH)
}

fn reciprocal(b: &mut Builder, op: RowOp, x: Value) -> Value {
    if !to_nearest(b, x) {
        return approximated(b, op, x);
    }
    let one = one_like(b, x);
    b.fdiv(one, x)
}

fn v_rcp_f32(b: &mut Builder, x: Value) -> Value {
    reciprocal(b, RowOp::rcp_f32, x)
}

fn v_rcp_iflag_f32(b: &mut Builder, x: Value) -> Value {
    v_rcp_f32(b, x)
}

/// Denormals are flushed whatever MODE says.
fn v_rsq_f32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::rsq_f32, &[x], FLUSH)
}

fn v_rcp_f64(b: &mut Builder, x: Value) -> Value {
    reciprocal(b, RowOp::rcp_f64, x)
}

fn v_log_clamp_f32(b: &mut Builder, x: Value) -> Value {
    let log = v_log_f32(b, x);
    max_finite(b, log)
}

fn v_rsq_f64(b: &mut Builder, x: Value) -> Value {
    if !to_nearest(b, x) {
        return approximated(b, RowOp::rsq_f64, x);
    }
    let (one, root) = (one_like(b, x), b.fsqrt(x));
    b.fdiv(one, root)
}

fn root(b: &mut Builder, op: RowOp, x: Value) -> Value {
    if to_nearest(b, x) { b.fsqrt(x) } else { approximated(b, op, x) }
}

fn v_sqrt_f32(b: &mut Builder, x: Value) -> Value {
    root(b, RowOp::sqrt_f32, x)
}

fn v_rcp_clamp_f32(b: &mut Builder, x: Value) -> Value {
    let reciprocal = v_rcp_f32(b, x);
    max_finite(b, reciprocal)
}

fn v_sqrt_f64(b: &mut Builder, x: Value) -> Value {
    root(b, RowOp::sqrt_f64, x)
}

fn v_rcp_legacy_f32(b: &mut Builder, x: Value) -> Value {
    let reciprocal = v_rcp_f32(b, x);
    zero_for_infinity(b, reciprocal)
}

fn v_sin_f32(b: &mut Builder, x: Value) -> Value {
    approximated(b, RowOp::sin_f32, x)
}

fn v_cos_f32(b: &mut Builder, x: Value) -> Value {
    approximated(b, RowOp::cos_f32, x)
}

fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let (sign, infinity) = match b.ty(x) {
        Width::B64 => (1 << 63, b.b64(f64::INFINITY.to_bits())),
        _ => (1 << 31, b.b32(f32::INFINITY.to_bits())),
    };
    let magnitude = b.and_bits(x, !sign);
    b.eq(magnitude, infinity)
}

/// Zero of the same sign in the place of an f32 infinity.
fn zero_for_infinity(b: &mut Builder, x: Value) -> Value {
    let (infinite, zero) = (is_infinite(b, x), b.and_bits(x, 1 << 31));
    b.select(infinite, zero, x)
}

/// The largest finite number of the same sign in the place of an infinity.
fn max_finite(b: &mut Builder, x: Value) -> Value {
    let (infinite, largest) = (is_infinite(b, x), b.add_bits(x, u64::MAX));
    b.select(infinite, largest, x)
}

fn v_not_b32(b: &mut Builder, x: Value) -> Value {
    b.not(x)
}

fn v_bfrev_b32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::bitrev, &[x], 0)
}

fn v_rsq_clamp_f32(b: &mut Builder, x: Value) -> Value {
    let root = v_rsq_f32(b, x);
    max_finite(b, root)
}

fn v_ffbh_u32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::ffbh_u32, &[x], 0)
}

fn v_rsq_legacy_f32(b: &mut Builder, x: Value) -> Value {
    let root = v_rsq_f32(b, x);
    zero_for_infinity(b, root)
}

fn v_ffbl_b32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::ffbl_b32, &[x], 0)
}

fn v_ffbh_i32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::ffbh_i32, &[x], 0)
}

/// `rules` are those of the format. Bit 0 of the libcall's immediate: denormal sources are zero; bit 1: infinities and
/// NaNs as on gfx6.
fn frexp(b: &mut Builder, width: Width, op: RowOp, x: Value, rules: u32) -> Value {
    let gfx6 = u32::from(b.generation() == gcnjit_isa::Gen::Gfx6);
    b.call(width, op, &[x], rules >> 2 & 1 | gfx6 << 1)
}

fn v_frexp_exp_i32_f64(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f64();
    frexp(b, Width::B32, RowOp::frexp_exp_f64, x, rules)
}

fn v_rcp_clamp_f64(b: &mut Builder, x: Value) -> Value {
    let reciprocal = v_rcp_f64(b, x);
    max_finite(b, reciprocal)
}

fn v_frexp_mant_f64(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f64();
    frexp(b, Width::B64, RowOp::frexp_mant_f64, x, rules)
}

fn v_fract_f64(b: &mut Builder, x: Value) -> Value {
    fract(b, x)
}

fn v_rsq_clamp_f64(b: &mut Builder, x: Value) -> Value {
    let root = v_rsq_f64(b, x);
    max_finite(b, root)
}

fn v_frexp_exp_i32_f32(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f32();
    frexp(b, Width::B32, RowOp::frexp_exp_f32, x, rules)
}

fn v_frexp_mant_f32(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f32();
    frexp(b, Width::B32, RowOp::frexp_mant_f32, x, rules)
}

/// Nothing has been raised any more.
fn v_clrexcp(b: &mut Builder, _: &Inst) -> Result {
    let none = b.b32(0);
    b.set_trapsts_bits(trapsts::EXCP, none);
    Ok(())
}

/// A move with M0 added to the register numbers of `operands`, and to no others.
fn move_relative(b: &mut Builder, inst: &Inst, operands: u32) -> Result {
    let indexing = b.replace_indexing(Indexing::Relative(operands));
    let done = sources(b, inst).and_then(|values| commit(b, inst, values));
    b.replace_indexing(indexing);
    done
}

fn v_movreld_b32(b: &mut Builder, inst: &Inst) -> Result {
    move_relative(b, inst, 8)
}

fn v_movrels_b32(b: &mut Builder, inst: &Inst) -> Result {
    move_relative(b, inst, 1)
}

fn v_screen_partition_4se_b32(b: &mut Builder, x: Value) -> Value {
    b.call(Width::B32, RowOp::screen_partition, &[x], 0)
}

fn v_movrelsd_b32(b: &mut Builder, inst: &Inst) -> Result {
    move_relative(b, inst, 9)
}

fn v_cvt_f16_u16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::int_to_f16, &[x])
}

fn v_cvt_f16_i16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::int_to_f16, &[x])
}

fn v_cvt_u16_f16(b: &mut Builder, x: Value) -> Value {
    let number = b.f16_source(x);
    let (integer, largest) = (b.f_to_u(number), b.b32(0xffff));
    b.min_u(integer, largest)
}

fn v_cvt_i16_f16(b: &mut Builder, x: Value) -> Value {
    let number = b.f16_source(x);
    let integer = b.f_to_s(number);
    let integer = b.between(integer, -0x8000, 0x7fff);
    b.and_bits(integer, 0xffff)
}

fn v_rcp_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::rcp_f16, &[x])
}

fn v_sqrt_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::sqrt_f16, &[x])
}

fn v_rsq_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::rsq_f16, &[x])
}

fn v_log_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::log_f16, &[x])
}

fn v_exp_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::exp_f16, &[x])
}

fn v_frexp_mant_f16(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f64();
    frexp(b, Width::B32, RowOp::frexp_mant_f16, x, rules)
}

fn v_frexp_exp_i16_f16(b: &mut Builder, x: Value) -> Value {
    let rules = b.rules_f64();
    let exponent = frexp(b, Width::B32, RowOp::frexp_exp_f16, x, rules);
    b.and_bits(exponent, 0xffff)
}

/// An f16 operation by way of the f32 one: for those whose results are f16 again.
fn by_f32(b: &mut Builder, x: Value, f: fn(&mut Builder, Value) -> Value) -> Value {
    let number = b.f16_source(x);
    let result = f(b, number);
    b.f16(RowOp::f32_to_f16, &[result])
}

fn v_floor_f16(b: &mut Builder, x: Value) -> Value {
    by_f32(b, x, v_floor_f32)
}

fn v_ceil_f16(b: &mut Builder, x: Value) -> Value {
    by_f32(b, x, v_ceil_f32)
}

fn v_trunc_f16(b: &mut Builder, x: Value) -> Value {
    by_f32(b, x, v_trunc_f32)
}

fn v_rndne_f16(b: &mut Builder, x: Value) -> Value {
    by_f32(b, x, v_rndne_f32)
}

/// Never above the largest number below 1.
fn v_fract_f16(b: &mut Builder, x: Value) -> Value {
    let floor = v_floor_f16(b, x);
    let fraction = b.f16(RowOp::sub_f16, &[x, floor]);
    let (one, largest) = (b.b32(0x3c00), b.b32(0x3bff));
    let whole = b.eq(fraction, one);
    b.select(whole, largest, fraction)
}

fn v_sin_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::sin_f16, &[x])
}

fn v_cos_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::cos_f16, &[x])
}

fn v_exp_legacy_f32(b: &mut Builder, x: Value) -> Value {
    v_exp_f32(b, x)
}

fn v_log_legacy_f32(b: &mut Builder, x: Value) -> Value {
    v_log_f32(b, x)
}

fn v_cvt_norm_i16_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::norm_i16_f16, &[x])
}

fn v_cvt_norm_u16_f16(b: &mut Builder, x: Value) -> Value {
    b.f16(RowOp::norm_u16_f16, &[x])
}

fn v_sat_pk_u8_i16(b: &mut Builder, x: Value) -> Value {
    let (low, high) = (b.sext_from(x, 16), b.sar_by(x, 16));
    let (low, high) = (b.between(low, 0, 255), b.between(high, 0, 255));
    let high = b.shl_by(high, 8);
    b.or(low, high)
}

fn v_swap_b32(_: &mut Builder, x: Value, y: Value) -> (Value, Value) {
    (y, x)
}

gcnjit_isa::vop1! { rows }
