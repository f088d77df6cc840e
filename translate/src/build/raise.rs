//! What instructions raise, in code that keeps TRAPSTS.
//!
//! Before an instruction the libcall [`raise`](crate::libcall::raise::raise) is asked what its sources raise, lane by
//! lane, and what is found in enabled lanes is added to TRAPSTS; its results that pass through omod are asked about on
//! their way. The instruction itself is built as always: the host instructions and libcalls that compute its result
//! say nothing about exceptions.

use super::operands::vector::sources;
use super::{Builder, Result};
use crate::lane::{Ty as Width, Value};
use crate::libcall::RowOp;
use crate::libcall::raise::{Function, Integer, Kind, Request, Width as Float, has_fused};
use gcnjit_isa::{Inst, Op, Ty, Vop1, Vop2, Vop3, Vop3p};
use gcnjit_rt::Trap;

/// Denormals flushed on both sides.
const FLUSH: u32 = 12;
/// Towards zero.
const TO_ZERO: u32 = 3;

/// What a row asks for, with its sources as they are.
#[derive(Clone, Copy)]
enum Row {
    /// One request.
    Plain(Kind),
    /// A conversion to an integer.
    ToInteger(Integer),
    /// An approximated function.
    Function(Function),
    /// Two steps that v_div_fmas has one of, by its mask.
    DivFmas,
    /// Each half of packed f16.
    Halves(Kind),
    /// f32 to two f16, towards zero.
    PackToZero,
    /// A mixed-precision sum of a product, whose result is then converted to f16 if so.
    Mixed { narrow: bool },
    /// A scalar product of halves.
    Dot,
}

impl Builder {
    /// Has the exceptions of an instruction added to TRAPSTS, if that is kept.
    pub(super) fn raise(&mut self, inst: &Inst) -> Result {
        self.watched = self.exceptions && !inst.exceptions().is_empty();
        if !self.watched {
            return Ok(());
        }
        let Some(row) = row(inst.op) else { return self.unimplemented(inst, "its exceptions are not known") };
        if asks_for_fused(row) && !has_fused() {
            let what = "exceptions of fused operations need a host that has them (FMA3)".to_owned();
            return Err(Box::new(Trap::Host { pc: self.pc, what }));
        }
        let (values, enabled) = (sources(self, inst)?, self.watched_lanes(inst));
        self.raise_row(inst, row, &values, enabled)
    }

    fn raise_row(&mut self, inst: &Inst, row: Row, values: &[Value], enabled: Value) -> Result {
        let width = float(inst.op);
        match row {
            Row::Plain(kind) => {
                let more = u32::from(kind == Kind::Compare && inst.op.signals_quiet_nan());
                let request = Request { more, ..self.request(kind, width) };
                self.ask(self.converted(inst.op, request), values, enabled);
            }
            Row::ToInteger(integer) => {
                let request = Request { more: integer as u32, ..self.request(Kind::ToInteger, width) };
                self.ask(request, &values[..1], enabled);
            }
            Row::Function(function) => {
                let request = self.function(function, width);
                self.ask(request, values, enabled);
            }
            Row::DivFmas => {
                let scaled = self.bits(values[3]);
                let (with, without) = (self.and(enabled, scaled), self.andn(enabled, scaled));
                self.ask(self.request(Kind::Fma, width), &values[..3], without);
                self.ask(self.request(Kind::FmaScaled, width), &values[..3], with);
            }
            Row::Halves(kind) => {
                let request = self.request(kind, Float::F16);
                let high: Vec<Value> = values.iter().map(|value| self.shr_by(*value, 16)).collect();
                self.ask(request, values, enabled);
                self.ask(request, &high, enabled);
            }
            Row::PackToZero => {
                let rules = self.rules_f16_conversion() & !3 | TO_ZERO;
                let request = Request { rules, ..self.to_half() };
                values.iter().for_each(|value| self.ask(request, &[*value], enabled));
            }
            Row::Mixed { narrow } => self.raise_mixed(inst, values, narrow, enabled)?,
            Row::Dot => self.raise_dot(values, enabled),
        }
        Ok(())
    }

    /// Halves that become sources, the fused sum, and its rounding to f16.
    fn raise_mixed(&mut self, inst: &Inst, values: &[Value], narrow: bool, enabled: Value) -> Result {
        for i in 0..3 {
            if let Some(half) = self.mixed_half(inst, i)? {
                self.ask(self.request(Kind::Sources1, Float::F16), &[half], enabled);
            }
        }
        self.ask(self.request(Kind::Fma, Float::F32), values, enabled);
        if narrow {
            let sum = self.fma(values[0], values[1], values[2]);
            self.ask(self.to_half(), &[sum], enabled);
        }
        Ok(())
    }

    fn raise_dot(&mut self, values: &[Value], enabled: Value) {
        let [x, y, z] = values else { unreachable!("three sources") };
        let pairs = [0, 16].map(|up| [*x, *y].map(|pair| self.shr_by(pair, up)));
        let mut sum = *z;
        for pair in pairs {
            self.ask(self.request(Kind::Sources2, Float::F16), &pair, enabled);
            let [x, y] = pair.map(|half| self.f16_source(half));
            self.ask(self.request(Kind::Fma, Float::F32), &[x, y, sum], enabled);
            sum = self.fma(x, y, sum);
        }
    }

    /// What omod raises of a result in the lanes of `enabled`.
    pub(super) fn raise_scaled(&mut self, inst: &Inst, value: Value, ty: Ty, enabled: Value) {
        let width = match ty {
            Ty::f16 => Float::F16,
            Ty::f32 => Float::F32,
            Ty::f64 => Float::F64,
            _ => return,
        };
        let request = Request { more: inst.mods.omod.into(), ..self.request(Kind::Scale, width) };
        let ignored = self.mode.ieee() || request.rules & 8 == 0;
        if self.watched && inst.mods.omod != 0 && !ignored {
            self.ask(request, &[value], enabled);
        }
    }

    /// The lanes that an instruction is enabled for; none if a result of it does not exist.
    fn watched_lanes(&mut self, inst: &Inst) -> Value {
        let enabled = self.enabled(inst);
        match self.results_exist(inst) {
            None => enabled,
            Some(exist) => {
                let none = self.b64(0);
                self.select(exist, enabled, none)
            }
        }
    }

    /// An operation of a format under MODE.
    fn request(&self, kind: Kind, width: Float) -> Request {
        let rules = if width == Float::F32 { self.rules_f32() } else { self.rules_f64() };
        Request { kind, width, rules, from_flush_in: false, more: 0 }
    }

    /// f32 to f16.
    fn to_half(&self) -> Request {
        let from_flush_in = self.mode.denormals32().flush_in;
        let (rules, more) = (self.rules_f16_conversion(), Float::F16 as u32);
        Request { kind: Kind::Convert, width: Float::F32, rules, from_flush_in, more }
    }

    /// A conversion by the rules of its result; every other request as it is.
    fn converted(&self, op: Op, request: Request) -> Request {
        match op {
            Op::Vop1(Vop1::v_cvt_f16_f32) => self.to_half(),
            Op::Vop1(Vop1::v_cvt_f32_f64) => {
                let from_flush_in = self.mode.denormals64().flush_in;
                Request { rules: self.rules_f32(), from_flush_in, more: Float::F32 as u32, ..request }
            }
            _ => request,
        }
    }

    /// A function of a format: some of f32 flush whatever MODE says.
    fn function(&self, function: Function, width: Float) -> Request {
        let flushes = matches!(function, Function::Exp | Function::Log | Function::Rsq) && width == Float::F32;
        let request = self.request(Kind::Function, width);
        let rules = if flushes { request.rules | FLUSH } else { request.rules };
        Request { rules, more: function as u32, ..request }
    }

    /// Adds what the request finds in the lanes of `enabled` to TRAPSTS.
    fn ask(&mut self, request: Request, values: &[Value], enabled: Value) {
        let raised = self.call(Width::B32, RowOp::raise, values, request.encode());
        let all = self.call(Width::B32, RowOp::gather, &[raised, enabled], 0);
        let first = self.b32(0);
        let all = self.read_lane(all, first);
        self.add_to_trapsts(all);
    }
}

/// The format of a row's float sources; of its result if there are none.
fn float(op: Op) -> Float {
    let info = op.info();
    let ty = info.srcs.iter().chain(info.dsts).find(|ty| ty.is_float());
    match ty {
        Some(Ty::f64) => Float::F64,
        Some(Ty::f16 | Ty::v2f16) => Float::F16,
        _ => Float::F32,
    }
}

fn asks_for_fused(row: Row) -> bool {
    matches!(row, Row::Plain(Kind::Fma) | Row::Halves(Kind::Fma) | Row::DivFmas | Row::Mixed { .. } | Row::Dot)
}

/// What a row asks for; `None` for rows that raise nothing.
fn row(op: Op) -> Option<Row> {
    match op {
        Op::Vop1(op) => vop1(op),
        Op::Vop2(op) => vop2(op),
        Op::Vop3(op) => vop3(op),
        Op::Vop3p(op) => vop3p(op),
        Op::Vopc(_) => Some(Row::Plain(Kind::Compare)),
        _ => None,
    }
}

fn vop1(op: Vop1) -> Option<Row> {
    use Vop1::*;
    Some(match op {
        v_cvt_i32_f64 | v_cvt_i32_f32 => Row::ToInteger(Integer::I32),
        v_cvt_u32_f64 | v_cvt_u32_f32 => Row::ToInteger(Integer::U32),
        v_cvt_i16_f16 => Row::ToInteger(Integer::I16),
        v_cvt_u16_f16 => Row::ToInteger(Integer::U16),
        v_cvt_f16_f32 | v_cvt_f32_f64 => Row::Plain(Kind::Convert),
        v_cvt_f16_u16 | v_cvt_f16_i16 => Row::Plain(Kind::FromInteger),
        v_cvt_f32_f16 | v_cvt_f64_f32 => Row::Plain(Kind::Sources1),
        v_trunc_f64 | v_ceil_f64 | v_rndne_f64 | v_floor_f64 => Row::Plain(Kind::Sources1),
        v_trunc_f32 | v_ceil_f32 | v_rndne_f32 | v_floor_f32 => Row::Plain(Kind::Sources1),
        v_trunc_f16 | v_ceil_f16 | v_rndne_f16 | v_floor_f16 => Row::Plain(Kind::Sources1),
        v_frexp_exp_i32_f64 | v_frexp_mant_f64 | v_frexp_exp_i32_f32 => Row::Plain(Kind::Sources1),
        v_frexp_mant_f32 | v_frexp_exp_i16_f16 | v_frexp_mant_f16 => Row::Plain(Kind::Sources1),
        v_fract_f32 | v_fract_f64 | v_fract_f16 => Row::Plain(Kind::Fract),
        v_rcp_iflag_f32 => Row::Plain(Kind::IntegerReciprocal),
        v_rcp_f32 | v_rcp_clamp_f32 | v_rcp_legacy_f32 => Row::Function(Function::Rcp),
        v_rcp_f64 | v_rcp_clamp_f64 | v_rcp_f16 => Row::Function(Function::Rcp),
        v_rsq_f32 | v_rsq_clamp_f32 | v_rsq_legacy_f32 => Row::Function(Function::Rsq),
        v_rsq_f64 | v_rsq_clamp_f64 | v_rsq_f16 => Row::Function(Function::Rsq),
        v_sqrt_f32 | v_sqrt_f64 | v_sqrt_f16 => Row::Function(Function::Sqrt),
        v_exp_f32 | v_exp_legacy_f32 | v_exp_f16 => Row::Function(Function::Exp),
        v_log_f32 | v_log_clamp_f32 | v_log_legacy_f32 | v_log_f16 => Row::Function(Function::Log),
        v_sin_f32 | v_sin_f16 => Row::Function(Function::Sin),
        v_cos_f32 | v_cos_f16 => Row::Function(Function::Cos),
        _ => return None,
    })
}

fn vop2(op: Vop2) -> Option<Row> {
    use Vop2::*;
    Some(match op {
        v_add_f32 | v_add_f16 => Row::Plain(Kind::Add),
        v_sub_f32 | v_sub_f16 => Row::Plain(Kind::Sub),
        v_subrev_f32 | v_subrev_f16 => Row::Plain(Kind::SubRev),
        v_mul_f32 | v_mul_f16 => Row::Plain(Kind::Mul),
        v_mul_legacy_f32 => Row::Plain(Kind::MulLegacy),
        v_min_f32 | v_max_f32 | v_min_legacy_f32 | v_max_legacy_f32 => Row::Plain(Kind::Sources2),
        v_min_f16 | v_max_f16 => Row::Plain(Kind::Sources2),
        v_mac_f16 | v_madmk_f16 | v_madak_f16 => Row::Plain(Kind::Mad),
        v_fmac_f32 => Row::Plain(Kind::Fma),
        v_ldexp_f16 | v_ldexp_f32 => Row::Plain(Kind::Ldexp),
        v_cvt_pkaccum_u8_f32 => Row::ToInteger(Integer::Byte),
        v_cvt_pkrtz_f16_f32 => Row::PackToZero,
        _ => return None,
    })
}

fn vop3(op: Vop3) -> Option<Row> {
    use Vop3::*;
    Some(match op {
        v_mullit_f32 => Row::Plain(Kind::MulLit),
        v_fma_f32 | v_fma_f64 | v_fma_f16 | v_fma_legacy_f16 => Row::Plain(Kind::Fma),
        v_mad_f16 | v_mad_legacy_f16 => Row::Plain(Kind::Mad),
        v_add_f64 => Row::Plain(Kind::Add),
        v_mul_f64 => Row::Plain(Kind::Mul),
        v_min_f64 | v_max_f64 => Row::Plain(Kind::Sources2),
        v_ldexp_f64 => Row::Plain(Kind::Ldexp),
        v_div_fixup_f32 | v_div_fixup_f64 => Row::Plain(Kind::Quotient),
        v_div_fixup_f16 | v_div_fixup_legacy_f16 => Row::Plain(Kind::Quotient),
        v_div_fmas_f32 | v_div_fmas_f64 => Row::DivFmas,
        v_cvt_pk_u8_f32 => Row::ToInteger(Integer::Byte),
        v_trig_preop_f64 => Row::Plain(Kind::TrigPreop),
        _ => return None,
    })
}

fn vop3p(op: Vop3p) -> Option<Row> {
    use Vop3p::*;
    Some(match op {
        v_pk_add_f16 => Row::Halves(Kind::Add),
        v_pk_mul_f16 => Row::Halves(Kind::Mul),
        v_pk_fma_f16 => Row::Halves(Kind::Fma),
        v_pk_min_f16 | v_pk_max_f16 => Row::Halves(Kind::Sources2),
        v_fma_mix_f32 => Row::Mixed { narrow: false },
        v_fma_mixlo_f16 | v_fma_mixhi_f16 => Row::Mixed { narrow: true },
        v_dot2_f32_f16 => Row::Dot,
        _ => return None,
    })
}
