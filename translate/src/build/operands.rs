//! Operands: fetched through modifiers, results committed through theirs. The twin of the interpreter's file of this
//! name; its head states the rules.

use super::index::{RESULT, place_of_result, place_of_source};
use super::{Builder, Result};
use crate::lane::{Fcc, Shape, Ty as Width, Value};
use crate::libcall::{LdsRow, RowOp, UniformOp};
use gcnjit_isa::{Dpp, Ext, Format, Inst, Note, Op, Operand, Sdwa, Sel, Ty, Unused, Vop2, Vop3p};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::wave::reg;

/// A dword of LDS, the same for all lanes; as a lane mask and to scalar operations it is 0.
const LDS_DIRECT: Operand = Operand::Special(254);

/// Sources and results of scalar rows.
pub mod scalar {
    use super::*;

    /// The values of a scalar row's sources.
    pub fn sources(b: &mut Builder, inst: &Inst) -> Result<Vec<Value>> {
        let types = inst.op.info().srcs;
        Ok(types.iter().zip(inst.src).map(|(ty, operand)| b.uniform(operand, *ty)).collect())
    }

    /// Writes a scalar row's results.
    pub fn commit(b: &mut Builder, inst: &Inst, values: Vec<Value>) -> Result {
        for ((ty, operand), value) in inst.op.info().dsts.iter().zip(inst.dst).zip(values) {
            b.set_scalar(operand, *ty, value);
        }
        Ok(())
    }
}

/// Sources and results of vector rows.
pub mod vector {
    use super::*;

    /// The values of a vector row's sources, through the modifiers.
    pub fn sources(b: &mut Builder, inst: &Inst) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, ty) in inst.op.info().srcs.iter().enumerate() {
            match ty {
                Ty::b128 => values.extend(b.dwords(inst, i)?),
                _ => values.push(b.source(inst, i)?),
            }
        }
        Ok(values)
    }

    /// Writes a vector row's results to the lanes that the instruction is enabled for.
    pub fn commit(b: &mut Builder, inst: &Inst, values: Vec<Value>) -> Result {
        let mut enabled = b.enabled(inst);
        let exist = b.results_exist(inst);
        if let Some(exist) = exist {
            let none = b.b64(0);
            enabled = b.select(exist, enabled, none);
        }
        let types = inst.op.info().dsts;
        if let (Operand::Vgpr(first), [Ty::b128]) = (inst.dst[0], types) {
            for (dword, value) in (0..).zip(values) {
                b.set_vgpr_operand(first.wrapping_add(dword), RESULT, value, enabled);
            }
            return Ok(());
        }
        for (i, value) in values.into_iter().enumerate() {
            if types[i] == Ty::mask {
                b.set_mask(inst.dst[i], value, enabled, exist);
            } else {
                b.set_result(inst, i, types[i], value, enabled);
            }
        }
        Ok(())
    }
}

fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::b16 | Ty::u16 | Ty::i16 | Ty::f16)
}

fn is_pair(ty: Ty) -> bool {
    matches!(ty, Ty::v2f16 | Ty::v2i16 | Ty::v2u16 | Ty::v2b16)
}

/// Whether a 16-bit result goes to the high half, for instructions that keep the other half: those with op_sel, by its
/// bit 3, and the mixed ones, by their name.
fn kept_half(inst: &Inst) -> Option<bool> {
    let info = inst.op.info();
    if info.has(Note::Mix) {
        return Some(matches!(inst.op, Op::Vop3p(Vop3p::v_fma_mixhi_f16 | Vop3p::v_mad_mixhi_f16)));
    }
    info.has(Note::OpSel).then_some(inst.mods.op_sel & 8 != 0)
}

/// Where `sel` is in a dword: its first bit and its width.
fn part(sel: Sel) -> (u32, u32) {
    match sel {
        Sel::Byte0 => (0, 8),
        Sel::Byte1 => (8, 8),
        Sel::Byte2 => (16, 8),
        Sel::Byte3 => (24, 8),
        Sel::Word0 => (0, 16),
        Sel::Word1 => (16, 16),
        Sel::Dword => (0, 32),
    }
}

impl Builder {
    /// An operand that is the same in all lanes, as its type sees it.
    pub fn uniform(&mut self, operand: Operand, ty: Ty) -> Value {
        let wide = ty.dwords() == 2;
        match operand {
            Operand::Sgpr(register) if wide => self.sgpr64(register),
            Operand::Sgpr(register) => self.sgpr(register),
            Operand::Scc if ty == Ty::scc => self.scc(),
            Operand::Scc => self.special(253, wide),
            Operand::Inline(_) => self.immediate(operand.inline_bits(ty).unwrap_or(0), wide),
            Operand::Literal(x) => match ty {
                Ty::f64 => self.b64(u64::from(x) << 32),
                Ty::i64 => self.b64(x as i32 as u64),
                _ => self.immediate(u64::from(x), wide),
            },
            Operand::Imm(x) => self.immediate(x as u64, wide),
            Operand::Special(code) => self.special(code, wide),
            Operand::None | Operand::Vgpr(_) => self.immediate(0, wide),
        }
    }

    /// A dword in all lanes, for operations that look into other lanes.
    pub fn whole(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Vgpr(register) => self.whole_vgpr(register),
            LDS_DIRECT => self.lds_row(LdsRow::Direct),
            operand => self.uniform(operand, Ty::b32),
        }
    }

    fn immediate(&mut self, bits: u64, wide: bool) -> Value {
        self.constant(if wide { Width::B64 } else { Width::B32 }, bits)
    }

    /// A read-only source. The apertures are 64-bit values; a 32-bit operand sees their low half.
    fn special(&mut self, code: u8, wide: bool) -> Value {
        let flag = match code {
            235 => return self.immediate(LDS_APERTURE, wide),
            236 => return self.immediate(LDS_APERTURE + 0xffff_ffff, wide),
            237 => return self.immediate(PRIVATE_APERTURE, wide),
            238 => return self.immediate(PRIVATE_APERTURE + 0xffff_ffff, wide),
            251 => {
                let vcc = self.sgpr64(reg::VCC as u8);
                self.is_zero(vcc)
            }
            252 => {
                let exec = self.exec();
                self.is_zero(exec)
            }
            253 => self.scc(),
            _ => return self.immediate(0, wide),
        };
        let flag = self.b1_to_b32(flag);
        if wide { self.zext(flag) } else { flag }
    }

    /// Writes a scalar result.
    pub fn set_scalar(&mut self, operand: Operand, ty: Ty, value: Value) {
        match operand {
            Operand::Scc => self.set_scc(value),
            Operand::Sgpr(register) if ty.dwords() == 2 => self.set_sgpr64(register, value),
            Operand::Sgpr(register) => self.set_sgpr(register, value),
            _ => {}
        }
    }

    /// Source `i` of a vector instruction without modifiers: a lane value or a uniform one; a mask as a B1.
    fn operand(&mut self, inst: &Inst, i: usize, ty: Ty) -> Result<Value> {
        if let Operand::Vgpr(first) = inst.src[i] {
            let place = place_of_source(inst, i);
            let low = self.vgpr_operand(first, ty.dwords(), 0, place);
            if ty.dwords() == 2 {
                let high = self.vgpr_operand(first, 2, 1, place);
                return Ok(self.pack(low, high));
            }
            return Ok(low);
        }
        if inst.src[i] == LDS_DIRECT && ty != Ty::mask {
            let value = self.lds_row(LdsRow::Direct);
            return Ok(if ty.dwords() == 2 { self.zext(value) } else { value });
        }
        let value = self.uniform(inst.src[i], ty);
        Ok(if ty == Ty::mask { self.lanes(value) } else { value })
    }

    /// Source `i` of a vector instruction, through the modifiers, cut to its type.
    pub fn source(&mut self, inst: &Inst, i: usize) -> Result<Value> {
        if inst.op.info().has(Note::Mix) {
            return self.mixed_source(inst, i);
        }
        let ty = inst.op.info().srcs[i];
        let mut value = self.operand(inst, i, ty)?;
        match &inst.ext {
            Ext::Sdwa(sdwa) if i < 2 => value = self.selected(value, sdwa.src_sel[i], sdwa.sext >> i & 1 != 0),
            Ext::Dpp(dpp) if i == 0 => value = self.moved(value, dpp),
            _ => {}
        }
        if inst.format == Format::Vop3p {
            value = self.packed_source(inst, value, ty, i);
        } else {
            if inst.mods.op_sel >> i & 1 != 0 && is_half(ty) {
                value = self.shr_by(value, 16);
            }
            let signed = ty.is_float() || inst.op == Op::Vop2(Vop2::v_cndmask_b32) && ty == Ty::b32;
            if signed {
                value = self.signs(value, ty, inst.mods.abs >> i & 1 != 0, inst.mods.neg >> i & 1 != 0);
            }
        }
        Ok(self.cut_to(value, ty))
    }

    /// Source `i` as a dword without modifiers.
    pub fn unsigned_source(&mut self, inst: &Inst, i: usize) -> Result<Value> {
        self.operand(inst, i, Ty::b32)
    }

    /// The dwords of source `i`, a `b128` without modifiers. A constant has 64 bits.
    fn dwords(&mut self, inst: &Inst, i: usize) -> Result<[Value; 4]> {
        let (place, zero) = (place_of_source(inst, i), self.b32(0));
        Ok(match inst.src[i] {
            Operand::Vgpr(first) => [0, 1, 2, 3].map(|dword| self.vgpr_operand(first, 4, dword, place)),
            Operand::Sgpr(first) => [0, 1, 2, 3].map(|dword| self.sgpr(first + dword)),
            LDS_DIRECT => [self.lds_row(LdsRow::Direct), zero, zero, zero],
            operand => {
                let value = self.uniform(operand, Ty::b64);
                [self.lo(value), self.hi(value), zero, zero]
            }
        })
    }

    /// Source `i` of a mixed-precision instruction as f32: op_sel_hi says that it is an f16, op_sel in which half.
    fn mixed_source(&mut self, inst: &Inst, i: usize) -> Result<Value> {
        let bit = |bits: u8| bits >> i & 1 != 0;
        let value = match self.mixed_half(inst, i)? {
            Some(half) => self.f16_source(half),
            None => self.operand(inst, i, Ty::f32)?,
        };
        Ok(self.signs(value, Ty::f32, bit(inst.mods.abs), bit(inst.mods.neg)))
    }

    /// The dword whose low half is source `i` of a mixed-precision instruction, if that is an f16.
    pub(super) fn mixed_half(&mut self, inst: &Inst, i: usize) -> Result<Option<Value>> {
        let bit = |bits: u8| bits >> i & 1 != 0;
        if !bit(inst.mods.op_sel_hi) {
            return Ok(None);
        }
        let value = self.operand(inst, i, Ty::f16)?;
        Ok(Some(self.shr_by(value, if bit(inst.mods.op_sel) { 16 } else { 0 })))
    }

    /// The bits that a narrow type sees, extended to a dword.
    fn cut_to(&mut self, value: Value, ty: Ty) -> Value {
        match ty {
            Ty::u16 | Ty::b16 | Ty::f16 => self.and_bits(value, 0xffff),
            Ty::i16 => self.sext_from(value, 16),
            Ty::u24 => self.and_bits(value, 0x00ff_ffff),
            Ty::i24 => self.sext_from(value, 24),
            _ => value,
        }
    }

    /// A B32 as a signed number, moved into a range.
    pub fn between(&mut self, value: Value, least: i32, most: i32) -> Value {
        let (least, most) = (self.b32(least as u32), self.b32(most as u32));
        let value = self.max_s(value, least);
        self.min_s(value, most)
    }

    /// The low `width` bits, sign-extended.
    pub fn sext_from(&mut self, value: Value, width: u32) -> Value {
        let up = self.shl_by(value, 32 - width);
        self.sar_by(up, 32 - width)
    }

    /// SDWA on a source: the selected part, extended.
    fn selected(&mut self, value: Value, sel: Sel, sext: bool) -> Value {
        let (start, width) = part(sel);
        let up = self.shl_by(value, 32 - width - start);
        if sext { self.sar_by(up, 32 - width) } else { self.shr_by(up, 32 - width) }
    }

    /// DPP on source 0: every lane's from its source lane, or 0.
    fn moved(&mut self, value: Value, dpp: &Dpp) -> Value {
        let (exec, zero) = (self.exec(), self.b32(0));
        if self.is_inline(RowOp::dpp, u32::from(dpp.ctrl)) {
            // It is 0 where there is no source lane, and so is what inactive ones give.
            let active = self.spread(exec);
            let given = self.select(active, value, zero);
            return self.call(Width::B32, RowOp::dpp, &[given], u32::from(dpp.ctrl));
        }
        let valid = self.call_uniform(Width::B64, UniformOp::dpp_valid, &[exec], u32::from(dpp.ctrl));
        let moved = self.call(Width::B32, RowOp::dpp, &[value], u32::from(dpp.ctrl));
        let valid = self.spread(valid);
        self.select(valid, moved, zero)
    }

    /// The lanes that an instruction is enabled for.
    pub fn enabled(&mut self, inst: &Inst) -> Value {
        let exec = self.exec();
        let Ext::Dpp(dpp) = &inst.ext else { return exec };
        let lanes = (0..64).filter(|lane| dpp.row_mask >> (lane / 16) & dpp.bank_mask >> (lane / 4 % 4) & 1 != 0);
        let mask = lanes.fold(0u64, |mask, lane| mask | 1 << lane);
        let enabled = self.and_bits(exec, mask);
        if dpp.bound_ctrl {
            return enabled;
        }
        let valid = self.call_uniform(Width::B64, UniformOp::dpp_valid, &[exec], u32::from(dpp.ctrl));
        self.and(enabled, valid)
    }

    /// VOP3P: op_sel picks the halves, neg flips their signs (of the whole for an f32 among them).
    fn packed_source(&mut self, inst: &Inst, value: Value, ty: Ty, i: usize) -> Value {
        let bit = |bits: u8| u32::from(bits >> i & 1);
        let mods = &inst.mods;
        let mut value = value;
        if is_pair(ty) {
            value = match (bit(mods.op_sel), bit(mods.op_sel_hi)) {
                (0, 1) => value,
                (low, high) => {
                    let low = self.shr_by(value, 16 * low);
                    let low = self.and_bits(low, 0xffff);
                    let high = self.shr_by(value, 16 * high);
                    let high = self.shl_by(high, 16);
                    self.or(low, high)
                }
            };
        }
        let flip = match ty {
            Ty::v2f16 => bit(mods.neg) << 15 | bit(mods.neg_hi) << 31,
            Ty::f32 => bit(mods.neg) << 31,
            _ => 0,
        };
        self.xor_bits(value, u64::from(flip))
    }

    /// abs, then neg.
    fn signs(&mut self, value: Value, ty: Ty, abs: bool, neg: bool) -> Value {
        let sign = match ty {
            Ty::f64 => 1 << 63,
            Ty::f16 => 1 << 15,
            _ => 1 << 31,
        };
        let value = if abs { self.and_bits(value, !sign) } else { value };
        if neg { self.xor_bits(value, sign) } else { value }
    }

    /// Writes a lane mask, 0 for lanes that are not enabled; only if all results `exist`.
    fn set_mask(&mut self, to: Operand, value: Value, enabled: Value, exist: Option<Value>) {
        let enabled = self.spread(enabled);
        let mask = self.and(value, enabled);
        let mut bits = self.bits(mask);
        if let (Some(exist), Operand::Sgpr(register)) = (exist, to) {
            let old = self.sgpr64(register);
            bits = self.select(exist, bits, old);
        }
        self.set_scalar(to, Ty::mask, bits);
    }

    /// Writes result `i` of a vector instruction through the modifiers, in the lanes of `enabled`.
    fn set_result(&mut self, inst: &Inst, i: usize, ty: Ty, value: Value, enabled: Value) {
        let Operand::Vgpr(first) = inst.dst[i] else { return };
        self.raise_scaled(inst, value, ty, enabled);
        let value = self.modified(value, ty, inst.mods.omod, inst.mods.clamp);
        let value = if is_half(ty) { self.and_bits(value, 0xffff) } else { value };
        let value = match (&inst.ext, kept_half(inst)) {
            (Ext::Sdwa(sdwa), _) if i == 0 => self.placed(value, first, sdwa),
            (_, Some(high)) if is_half(ty) => self.placed_half(value, first, high),
            _ => value,
        };
        self.write_result(first, place_of_result(i), value, enabled);
    }

    fn write_result(&mut self, first: u8, place: usize, value: Value, enabled: Value) {
        if self.ty(value) == Width::B64 {
            let (low, high) = (self.lo(value), self.hi(value));
            self.set_vgpr_operand(first, place, low, enabled);
            self.set_vgpr_operand(first.wrapping_add(1), place, high, enabled);
        } else {
            self.set_vgpr_operand(first, place, value, enabled);
        }
    }

    /// SDWA on the result: into the selected part, the rest as `dst_unused` says.
    fn placed(&mut self, value: Value, register: u8, sdwa: &Sdwa) -> Value {
        let (start, width) = part(sdwa.dst_sel);
        let mask = (u32::MAX >> (32 - width)) << start;
        match sdwa.dst_unused {
            Unused::Sext => {
                let extended = self.sext_from(value, width);
                self.shl_by(extended, start)
            }
            Unused::Pad => {
                let up = self.shl_by(value, start);
                self.and_bits(up, u64::from(mask))
            }
            Unused::Preserve => {
                let up = self.shl_by(value, start);
                let (new, old) = (self.and_bits(up, u64::from(mask)), self.vgpr_operand(register, 1, 0, RESULT));
                let old = self.and_bits(old, u64::from(!mask));
                self.or(new, old)
            }
        }
    }

    /// A 16-bit result into one half, keeping the other.
    fn placed_half(&mut self, value: Value, register: u8, high: bool) -> Value {
        let old = self.vgpr_operand(register, 1, 0, RESULT);
        let (new, kept) = if high { (self.shl_by(value, 16), 0xffff) } else { (value, 0xffff_0000) };
        let old = self.and_bits(old, kept);
        self.or(new, old)
    }

    /// omod and clamp of a float result.
    fn modified(&mut self, value: Value, ty: Ty, omod: u8, clamp: bool) -> Value {
        match ty {
            Ty::f32 | Ty::f64 => {
                let value = self.scaled(value, ty, omod);
                if clamp { self.clamped(value, ty) } else { value }
            }
            Ty::f16 if omod != 0 || clamp => self.modified_f16(value, omod, clamp),
            Ty::v2f16 if clamp => self.modified_v2f16(value),
            _ => value,
        }
    }

    /// omod: ignored in IEEE mode, and where results keep denormals.
    fn scaled(&mut self, value: Value, ty: Ty, omod: u8) -> Value {
        let denormals = if ty == Ty::f32 { self.mode.denormals32() } else { self.mode.denormals64() };
        if omod == 0 || self.mode.ieee() || !denormals.flush_out {
            return value;
        }
        let factor = self.float_const(ty, [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)]);
        self.fmul(value, factor)
    }

    /// A float constant of f32 or f64.
    pub fn float_const(&mut self, ty: Ty, x: f64) -> Value {
        if ty == Ty::f64 { self.b64(x.to_bits()) } else { self.b32((x as f32).to_bits()) }
    }

    /// x > 0 ? (x < 1 ? x : 1) : (NaN(x) && !dx10_clamp ? x : +0). Numbers are compared as integers, which leaves
    /// denormals alone whatever MODE says.
    fn clamped(&mut self, x: Value, ty: Ty) -> Value {
        let (zero, one) = (self.float_const(ty, 0.0), self.float_const(ty, 1.0));
        let above = self.slt(one, x);
        let upper = self.select(above, one, x);
        let negative = self.slt(x, zero);
        let number = self.select(negative, zero, upper);
        let nan = self.fcmp(Fcc::Uno, x, x);
        let other = if self.mode.dx10_clamp() { zero } else { x };
        self.select(nan, other, number)
    }

    /// Shift left by an amount of each lane's own, modulo the width.
    pub fn lane_shl(&mut self, a: Value, n: Value) -> Value {
        self.lane_shift(a, n, Builder::shl_uniform, RowOp::shl, RowOp::shl64)
    }

    /// Logical shift right likewise.
    pub fn lane_shr(&mut self, a: Value, n: Value) -> Value {
        self.lane_shift(a, n, Builder::shr_uniform, RowOp::shr, RowOp::shr64)
    }

    /// Arithmetic shift right likewise.
    pub fn lane_sar(&mut self, a: Value, n: Value) -> Value {
        self.lane_shift(a, n, Builder::sar_uniform, RowOp::sar, RowOp::sar64)
    }

    fn shl_uniform(&mut self, a: Value, n: Value) -> Value {
        self.shl(a, n)
    }

    fn shr_uniform(&mut self, a: Value, n: Value) -> Value {
        self.shr(a, n)
    }

    fn sar_uniform(&mut self, a: Value, n: Value) -> Value {
        self.sar(a, n)
    }

    fn lane_shift(
        &mut self,
        a: Value,
        n: Value,
        uniform: fn(&mut Builder, Value, Value) -> Value,
        narrow: RowOp,
        wide: RowOp,
    ) -> Value {
        if self.node(n).shape == Shape::Uniform {
            return uniform(self, a, n);
        }
        match self.ty(a) {
            Width::B64 => self.call(Width::B64, wide, &[a, n], 0),
            _ => self.call(Width::B32, narrow, &[a, n], 0),
        }
    }
}
