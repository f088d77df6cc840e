//! VOP1: vector, one source.
//!
//! The approximated functions are in [`gcnjit_rt::math`]. exp, log and rsq on f32 flush denormals whatever MODE says;
//! the others follow it. Conversions to integers round towards zero, saturate, and turn NaN into 0.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::exceptions::{self, Function};
use crate::fp::{self, Float, Fp, narrow};
use crate::operands::{lanes, ty};
use crate::run::Machine;
use gcnjit_isa::{Exceptions, Inst, Operand, Ty};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Trap, math, screen, trapsts};
use half::f16;

gcnjit_isa::vop1! { vector }

pub fn v_nop(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Ok(())
}

pub fn v_mov_b32(_: &Fp, a: u32) -> u32 {
    a
}

/// The value of the lowest active lane, of lane 0 if there is none.
pub fn v_readfirstlane_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let lane = m.active().next().unwrap_or(0);
    m.read(inst.src[0], Ty::b32, 0);
    m.set_scalar(inst.dst[0], Ty::b32, u64::from(m.buffers.src[0][0][lane]));
    Ok(())
}

pub fn v_cvt_i32_f64(e: &Fp, a: f64) -> i32 {
    note_integer(e, a, i32::MIN.into(), i32::MAX.into());
    a as i32
}

pub fn v_cvt_f64_i32(_: &Fp, a: i32) -> f64 {
    f64::from(a)
}

pub fn v_cvt_f32_i32(e: &Fp, a: i32) -> f32 {
    narrow(e.single, f64::from(a))
}

pub fn v_cvt_f32_u32(e: &Fp, a: u32) -> f32 {
    narrow(e.single, f64::from(a))
}

pub fn v_cvt_u32_f32(e: &Fp, a: f32) -> u32 {
    note_integer(e, a, u32::MIN.into(), u32::MAX.into());
    a as u32
}

pub fn v_cvt_i32_f32(e: &Fp, a: f32) -> i32 {
    note_integer(e, a, i32::MIN.into(), i32::MAX.into());
    a as i32
}

/// What the conversion of `a` to an integer between `low` and `high`, towards zero, raises.
fn note_integer<T: Float>(e: &Fp, a: T, low: f64, high: f64) {
    e.note(|| exceptions::to_integer(T::rules(e).flush_in, a, f64::trunc, low, high));
}

/// The parity error it leaves in the register is not modelled.
pub fn v_mov_fed_b32(_: &Fp, a: u32) -> u32 {
    a
}

pub fn v_cvt_f16_f32(e: &Fp, a: f32) -> f16 {
    e.convert(e.single, e.half, a)
}

pub fn v_cvt_f32_f16(e: &Fp, a: f16) -> f32 {
    e.convert(e.half, e.single, a)
}

/// The nearest integer, halves upwards.
pub fn v_cvt_rpi_i32_f32(_: &Fp, a: f32) -> i32 {
    (f64::from(a) + 0.5).floor() as i32
}

pub fn v_cvt_flr_i32_f32(e: &Fp, a: f32) -> i32 {
    e.source(a).floor() as i32
}

/// Signed sixteenths.
pub fn v_cvt_off_f32_i4(_: &Fp, a: u32) -> f32 {
    ((a << 28) as i32 >> 28) as f32 / 16.0
}

pub fn v_cvt_f32_f64(e: &Fp, a: f64) -> f32 {
    e.convert(e.double, e.single, a)
}

pub fn v_cvt_f64_f32(e: &Fp, a: f32) -> f64 {
    e.convert(e.single, e.double, a)
}

pub fn v_cvt_f32_ubyte0(_: &Fp, a: u32) -> f32 {
    f32::from(a as u8)
}

pub fn v_cvt_f32_ubyte1(_: &Fp, a: u32) -> f32 {
    f32::from((a >> 8) as u8)
}

pub fn v_cvt_f32_ubyte2(_: &Fp, a: u32) -> f32 {
    f32::from((a >> 16) as u8)
}

pub fn v_cvt_f32_ubyte3(_: &Fp, a: u32) -> f32 {
    f32::from((a >> 24) as u8)
}

pub fn v_cvt_u32_f64(e: &Fp, a: f64) -> u32 {
    note_integer(e, a, u32::MIN.into(), u32::MAX.into());
    a as u32
}

pub fn v_cvt_f64_u32(_: &Fp, a: u32) -> f64 {
    f64::from(a)
}

pub fn v_trunc_f64(e: &Fp, a: f64) -> f64 {
    e.integral(a, Float::trunc)
}

pub fn v_ceil_f64(e: &Fp, a: f64) -> f64 {
    e.integral(a, Float::ceil)
}

pub fn v_rndne_f64(e: &Fp, a: f64) -> f64 {
    e.integral(a, Float::rndne)
}

pub fn v_floor_f64(e: &Fp, a: f64) -> f64 {
    e.integral(a, Float::floor)
}

pub fn v_fract_f32(e: &Fp, a: f32) -> f32 {
    e.fract(a)
}

pub fn v_trunc_f32(e: &Fp, a: f32) -> f32 {
    e.integral(a, Float::trunc)
}

pub fn v_ceil_f32(e: &Fp, a: f32) -> f32 {
    e.integral(a, Float::ceil)
}

pub fn v_rndne_f32(e: &Fp, a: f32) -> f32 {
    e.integral(a, Float::rndne)
}

pub fn v_floor_f32(e: &Fp, a: f32) -> f32 {
    e.integral(a, Float::floor)
}

/// `f`, which is `function`, of f32 that flushes denormals whatever MODE says.
fn flushing(e: &Fp, function: Function, a: f32, f: fn(f32, bool) -> f32) -> f32 {
    let result = f(a, true);
    e.note(|| exceptions::approximated(function, e.single.flushed(), a, result));
    result
}

/// `f`, which is `function`, as MODE has it.
fn function<T: Float>(e: &Fp, function: Function, a: T, f: impl Fn(T) -> T) -> T {
    let result = f(e.source(a));
    e.note(|| exceptions::approximated(function, T::rules(e), a, result));
    e.canonical(result)
}

pub fn v_exp_f32(e: &Fp, a: f32) -> f32 {
    flushing(e, Function::Exp, a, math::exp_f32)
}

pub fn v_log_f32(e: &Fp, a: f32) -> f32 {
    flushing(e, Function::Log, a, math::log_f32)
}

pub fn v_rcp_f32(e: &Fp, a: f32) -> f32 {
    function(e, Function::Rcp, a, |x| math::rcp_f32(x, false))
}

/// Zero is the integer's exception; there are no others.
pub fn v_rcp_iflag_f32(e: &Fp, a: f32) -> f32 {
    let zero = e.source(a) == 0.0;
    e.note(|| if zero { Exceptions::INTEGER_DIVIDE_BY_ZERO } else { Exceptions::NONE });
    e.canonical(math::rcp_f32(e.source(a), false))
}

pub fn v_rsq_f32(e: &Fp, a: f32) -> f32 {
    flushing(e, Function::Rsq, a, math::rsq_f32)
}

pub fn v_rcp_f64(e: &Fp, a: f64) -> f64 {
    function(e, Function::Rcp, a, math::rcp_f64)
}

pub fn v_log_clamp_f32(e: &Fp, a: f32) -> f32 {
    v_log_f32(e, a).max_finite()
}

pub fn v_rsq_f64(e: &Fp, a: f64) -> f64 {
    function(e, Function::Rsq, a, math::rsq_f64)
}

pub fn v_sqrt_f32(e: &Fp, a: f32) -> f32 {
    function(e, Function::Sqrt, a, |x| math::sqrt_f32(x, false))
}

pub fn v_rcp_clamp_f32(e: &Fp, a: f32) -> f32 {
    v_rcp_f32(e, a).max_finite()
}

pub fn v_sqrt_f64(e: &Fp, a: f64) -> f64 {
    function(e, Function::Sqrt, a, math::sqrt_f64)
}

pub fn v_rcp_legacy_f32(e: &Fp, a: f32) -> f32 {
    zero_for_infinity(v_rcp_f32(e, a))
}

pub fn v_sin_f32(e: &Fp, a: f32) -> f32 {
    function(e, Function::Sin, a, |x| math::sin_f32(x, false))
}

pub fn v_cos_f32(e: &Fp, a: f32) -> f32 {
    function(e, Function::Cos, a, |x| math::cos_f32(x, false))
}

/// Zero of the same sign in the place of an infinity.
fn zero_for_infinity(x: f32) -> f32 {
    if x.is_infinite() { 0.0_f32.with_sign(x.sign()) } else { x }
}

/// Clamping to what is finite.
trait MaxFinite: Float {
    /// The largest finite number of the same sign in the place of an infinity.
    fn max_finite(self) -> Self {
        if self.is_infinite() { Self::from_raw(Self::INFINITY - 1).with_sign(self.sign()) } else { self }
    }
}

impl MaxFinite for f32 {}
impl MaxFinite for f64 {}

pub fn v_not_b32(_: &Fp, a: u32) -> u32 {
    !a
}

pub fn v_bfrev_b32(_: &Fp, a: u32) -> u32 {
    a.reverse_bits()
}

pub fn v_rsq_clamp_f32(e: &Fp, a: f32) -> f32 {
    v_rsq_f32(e, a).max_finite()
}

/// Clear bits above the highest set one, all ones if there is none.
pub fn v_ffbh_u32(_: &Fp, a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros() }
}

pub fn v_rsq_legacy_f32(e: &Fp, a: f32) -> f32 {
    zero_for_infinity(v_rsq_f32(e, a))
}

/// The lowest set bit, all ones if there is none.
pub fn v_ffbl_b32(_: &Fp, a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.trailing_zeros() }
}

/// Leading bits that are like the sign, all ones if all are.
pub fn v_ffbh_i32(e: &Fp, a: i32) -> u32 {
    v_ffbh_u32(e, (a ^ (a >> 31)) as u32)
}

pub fn v_frexp_exp_i32_f64(e: &Fp, a: f64) -> i32 {
    e.frexp_exp(a)
}

pub fn v_rcp_clamp_f64(e: &Fp, a: f64) -> f64 {
    v_rcp_f64(e, a).max_finite()
}

pub fn v_frexp_mant_f64(e: &Fp, a: f64) -> f64 {
    e.frexp_mant(a)
}

pub fn v_fract_f64(e: &Fp, a: f64) -> f64 {
    e.fract(a)
}

pub fn v_rsq_clamp_f64(e: &Fp, a: f64) -> f64 {
    v_rsq_f64(e, a).max_finite()
}

pub fn v_frexp_exp_i32_f32(e: &Fp, a: f32) -> i32 {
    e.frexp_exp(a)
}

pub fn v_frexp_mant_f32(e: &Fp, a: f32) -> f32 {
    e.frexp_mant(a)
}

/// Nothing has been raised any more.
pub fn v_clrexcp(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.wave.trapsts &= !trapsts::EXCP;
    Ok(())
}

/// Moves with M0 added to the register number of the source or the destination: from v0, or not at all, if that is out
/// of range.
fn move_relative(m: &mut Machine<'_>, inst: &Inst, source: bool, destination: bool) -> Result<(), Trap> {
    if let Some(moved) = relative(m, inst, source, destination) {
        lanes::<(ty::b32,), (ty::b32,), _>(m, &moved, v_mov_b32);
    }
    Ok(())
}

/// `inst` with M0 added to the register number of its source, its destination or both; `None` if it does nothing then.
pub(crate) fn relative(m: &Machine<'_>, inst: &Inst, source: bool, destination: bool) -> Option<Inst> {
    let m0 = m.wave.sgpr[reg::M0];
    let further = |operand, enable| m.vgpr_further(operand, if enable { m0 } else { 0 }, 1);
    let to = further(inst.dst[0], destination)?;
    let from = further(inst.src[0], source).unwrap_or(Operand::Vgpr(0));
    let mut moved = *inst;
    (moved.src[0], moved.dst[0]) = (from, to);
    Some(moved)
}

pub fn v_movreld_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_relative(m, inst, false, true)
}

pub fn v_movrels_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_relative(m, inst, true, false)
}

/// A table of the hardware's.
pub fn v_screen_partition_4se_b32(_: &Fp, a: u32) -> u32 {
    screen::partition_4se(a)
}

pub fn v_movrelsd_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    move_relative(m, inst, true, true)
}

/// An f16 function by way of the f32 one, whose result has bits to spare.
fn by_f32(e: &Fp, function: Function, a: f16, f: fn(f32, bool) -> f32) -> f16 {
    let x: f32 = fp::convert_by(e.double, e.single.unflushed(), a);
    let result = f(x, false);
    e.note(|| exceptions::approximated_f16(function, e.double, a, result));
    fp::convert_by(e.single.unflushed(), e.double, result)
}

pub fn v_cvt_f16_u16(e: &Fp, a: u16) -> f16 {
    e.note(|| exceptions::narrowing::<f16>(e.double, a.into()));
    narrow(e.double, f64::from(a))
}

pub fn v_cvt_f16_i16(e: &Fp, a: i16) -> f16 {
    e.note(|| exceptions::narrowing::<f16>(e.double, a.into()));
    narrow(e.double, f64::from(a))
}

pub fn v_cvt_u16_f16(e: &Fp, a: f16) -> u16 {
    note_integer(e, a, u16::MIN.into(), u16::MAX.into());
    Float::to_f64(a) as u16
}

pub fn v_cvt_i16_f16(e: &Fp, a: f16) -> i16 {
    note_integer(e, a, i16::MIN.into(), i16::MAX.into());
    Float::to_f64(a) as i16
}

pub fn v_rcp_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Rcp, a, math::rcp_f32)
}

pub fn v_sqrt_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Sqrt, a, math::sqrt_f32)
}

pub fn v_rsq_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Rsq, a, math::rsq_f32)
}

pub fn v_log_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Log, a, math::log_f32)
}

pub fn v_exp_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Exp, a, math::exp_f32)
}

pub fn v_frexp_mant_f16(e: &Fp, a: f16) -> f16 {
    e.frexp_mant(a)
}

pub fn v_frexp_exp_i16_f16(e: &Fp, a: f16) -> i16 {
    e.frexp_exp(a) as i16
}

pub fn v_floor_f16(e: &Fp, a: f16) -> f16 {
    e.integral(a, Float::floor)
}

pub fn v_ceil_f16(e: &Fp, a: f16) -> f16 {
    e.integral(a, Float::ceil)
}

pub fn v_trunc_f16(e: &Fp, a: f16) -> f16 {
    e.integral(a, Float::trunc)
}

pub fn v_rndne_f16(e: &Fp, a: f16) -> f16 {
    e.integral(a, Float::rndne)
}

pub fn v_fract_f16(e: &Fp, a: f16) -> f16 {
    e.fract(a)
}

pub fn v_sin_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Sin, a, math::sin_f32)
}

pub fn v_cos_f16(e: &Fp, a: f16) -> f16 {
    by_f32(e, Function::Cos, a, math::cos_f32)
}

pub fn v_exp_legacy_f32(e: &Fp, a: f32) -> f32 {
    v_exp_f32(e, a)
}

pub fn v_log_legacy_f32(e: &Fp, a: f32) -> f32 {
    v_log_f32(e, a)
}

pub fn v_cvt_norm_i16_f16(e: &Fp, a: f16) -> i16 {
    norm_i16(Float::to_f64(e.source(a)))
}

pub fn v_cvt_norm_u16_f16(e: &Fp, a: f16) -> u16 {
    norm_u16(Float::to_f64(e.source(a)))
}

/// [−1, 1] to [−32767, 32767], to nearest even; NaN to 0.
pub(crate) fn norm_i16(x: f64) -> i16 {
    (x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16
}

/// [0, 1] to [0, 65535], to nearest even; NaN to 0.
pub(crate) fn norm_u16(x: f64) -> u16 {
    (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

pub fn v_sat_pk_u8_i16(_: &Fp, a: [i16; 2]) -> u32 {
    a[0].clamp(0, 255) as u32 | (a[1].clamp(0, 255) as u32) << 8
}

pub fn v_swap_b32(_: &Fp, a: u32, b: u32) -> (u32, u32) {
    (b, a)
}
