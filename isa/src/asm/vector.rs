//! VOP, SDWA, DPP, VOP3P and interpolation.

use super::{AsmError, Kind, Parser, operand};
use crate::inst::{Dpp, Ext, Format, Mem, Sdwa, Sel, Unused};
use crate::op::Note;
use crate::operand::{Operand, Ty};
use crate::table::Op;

impl Parser<'_> {
    /// VOP1, VOP2, VOPC and VOP3.
    pub(super) fn vector(&mut self, kind: Kind) -> Result<(), AsmError> {
        if matches!(self.inst.op, Op::Vintrp(_)) || self.info.has(Note::Attr) {
            return self.interp_long();
        }
        let swap = matches!(self.info.dsts, [_, second] if *second != Ty::mask);
        for (i, ty) in self.info.dsts.iter().enumerate().take(if swap { 1 } else { 2 }) {
            self.inst.dst[i] = self.take(*ty)?;
        }
        let mut sdwa = Sdwa::default();
        let tied = self.info.srcs.len().wrapping_sub(1);
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = match i {
                3 => Operand::VCC,
                _ if swap && i == 1 => self.inst.dst[0],
                _ if i == tied && self.info.has(Note::Acc) => self.inst.dst[0],
                _ if self.info.has(Note::Konst(i as u8)) => Operand::Literal(self.constant()?),
                _ => self.source(i, *ty, &mut sdwa)?,
            };
        }
        if swap {
            self.inst.dst[1] = self.inst.src[0];
        }
        self.op_sel()?;
        self.output()?;
        match kind {
            Kind::Plain => {}
            Kind::Sdwa => self.sdwa(sdwa)?,
            Kind::Dpp => self.dpp()?,
        }
        Ok(())
    }

    /// `op_sel:[a,b,d]`, one element a source and the result last.
    fn op_sel(&mut self) -> Result<(), AsmError> {
        if let Some((bits, count)) = self.bits("op_sel")? {
            let sources = self.info.srcs.len();
            let result = if count > sources { bits >> sources & 1 } else { 0 };
            self.inst.mods.op_sel = bits & ((1 << sources) - 1) | result << 3;
        }
        Ok(())
    }

    /// The 32-bit constant of madmk and madak.
    fn constant(&mut self) -> Result<u32, AsmError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| AsmError::Operand(number.to_string()))
    }

    /// A source with abs, neg or sext around it.
    fn source(&mut self, i: usize, ty: Ty, sdwa: &mut Sdwa) -> Result<Operand, AsmError> {
        let text = self.next()?;
        let wrong = || AsmError::Operand(text.to_owned());
        let mut inner = text;
        if let Some(value) = inner.strip_prefix("sext(").and_then(|inner| inner.strip_suffix(')')) {
            sdwa.sext |= 1 << i;
            inner = value;
        }
        if let Some(value) = inner.strip_prefix("neg(").and_then(|inner| inner.strip_suffix(')')) {
            self.inst.mods.neg |= 1 << i;
            inner = value;
        } else if let Some(value) =
            inner.strip_prefix('-').filter(|value| !value.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.inst.mods.neg |= 1 << i;
            inner = value;
        }
        if let Some(value) = inner.strip_prefix('|').and_then(|inner| inner.strip_suffix('|')) {
            self.inst.mods.abs |= 1 << i;
            inner = value;
        }
        operand::read(inner, ty, self.generation).ok_or_else(wrong)
    }

    /// Clamp and output modifier.
    fn output(&mut self) -> Result<(), AsmError> {
        self.inst.mods.clamp = self.flag("clamp");
        self.inst.mods.omod = match (self.amount("mul", 1)?, self.amount("div", 1)?) {
            (1, 1) => 0,
            (2, 1) => 1,
            (4, 1) => 2,
            (1, 2) => 3,
            (factor, _) => return Err(AsmError::Operand(format!("mul:{factor}"))),
        };
        Ok(())
    }

    fn sdwa(&mut self, mut sdwa: Sdwa) -> Result<(), AsmError> {
        if self.inst.format != Format::Vopc {
            sdwa.dst_sel = self.sel("dst_sel")?;
            sdwa.dst_unused = match self.value("dst_unused") {
                Some("UNUSED_PAD") => Unused::Pad,
                Some("UNUSED_SEXT") => Unused::Sext,
                None | Some("UNUSED_PRESERVE") => Unused::Preserve,
                Some(other) => return Err(AsmError::Operand(other.to_owned())),
            };
        }
        sdwa.src_sel = [self.sel("src0_sel")?, self.sel("src1_sel")?];
        self.inst.ext = Ext::Sdwa(sdwa);
        Ok(())
    }

    fn sel(&mut self, name: &str) -> Result<Sel, AsmError> {
        Ok(match self.value(name) {
            Some("BYTE_0") => Sel::Byte0,
            Some("BYTE_1") => Sel::Byte1,
            Some("BYTE_2") => Sel::Byte2,
            Some("BYTE_3") => Sel::Byte3,
            Some("WORD_0") => Sel::Word0,
            Some("WORD_1") => Sel::Word1,
            None | Some("DWORD") => Sel::Dword,
            Some(other) => return Err(AsmError::Operand(other.to_owned())),
        })
    }

    fn dpp(&mut self) -> Result<(), AsmError> {
        self.inst.ext = Ext::Dpp(Dpp {
            ctrl: self.dpp_ctrl()?,
            row_mask: self.small("row_mask", 15, 15)?,
            bank_mask: self.small("bank_mask", 15, 15)?,
            bound_ctrl: self.value("bound_ctrl").is_some(),
        });
        Ok(())
    }

    fn dpp_ctrl(&mut self) -> Result<u16, AsmError> {
        for (name, first, last) in [("row_shl", 0x100, 15), ("row_shr", 0x110, 15), ("row_ror", 0x120, 15)] {
            if let n @ 1.. = self.amount(name, 0)? {
                return Ok(first + n.min(last) as u16);
            }
        }
        for (name, code) in [("wave_shl", 0x130), ("wave_rol", 0x134), ("wave_shr", 0x138), ("wave_ror", 0x13c)] {
            if self.value(name).is_some() {
                return Ok(code);
            }
        }
        for (name, code) in [("row_mirror", 0x140), ("row_half_mirror", 0x141)] {
            if self.flag(name) {
                return Ok(code);
            }
        }
        match self.value("row_bcast") {
            Some("15") => return Ok(0x142),
            Some("31") => return Ok(0x143),
            _ => {}
        }
        let text = self.value("quad_perm").ok_or(AsmError::Missing)?;
        let lanes = text.trim_matches(['[', ']']).split(',').map(|lane| lane.trim().parse::<u16>());
        let mut ctrl = 0;
        for (i, lane) in lanes.enumerate().take(4) {
            ctrl |= (lane.map_err(|_| AsmError::Operand(text.to_owned()))? & 3) << (2 * i);
        }
        Ok(ctrl)
    }

    pub(super) fn vop3p(&mut self) -> Result<(), AsmError> {
        self.inst.dst[0] = self.take(self.info.dsts[0])?;
        let mut none = Sdwa::default();
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = self.source(i, *ty, &mut none)?;
        }
        let default = if self.info.has(Note::Mix) { 0 } else { 7 };
        let unused = if self.info.srcs.len() < 3 { 4 } else { 0 };
        let mut list = |name: &str| self.bits(name).map(|found| found.map(|(bits, _)| bits));
        let op_sel = list("op_sel")?.unwrap_or(0);
        let op_sel_hi = list("op_sel_hi")?.map_or(default, |bits| bits | unused & default);
        let (neg_lo, neg_hi) = (list("neg_lo")?, list("neg_hi")?);
        let clamp = self.flag("clamp");
        let mods = &mut self.inst.mods;
        (mods.op_sel, mods.op_sel_hi) = (op_sel, op_sel_hi);
        mods.neg |= neg_lo.unwrap_or(0);
        mods.neg_hi = neg_hi.unwrap_or(0);
        mods.clamp = clamp;
        Ok(())
    }

    pub(super) fn vintrp(&mut self) -> Result<(), AsmError> {
        self.inst.dst[0] = self.take(Ty::f32)?;
        self.inst.src[0] = self.parameter()?;
        let mem = self.attribute()?;
        if self.info.has(Note::Acc) {
            self.inst.src[1] = self.inst.dst[0];
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }

    /// Interpolation in the VOP3 encoding.
    fn interp_long(&mut self) -> Result<(), AsmError> {
        let mut none = Sdwa::default();
        self.inst.dst[0] = self.take(Ty::f32)?;
        let parameter = self.info.srcs[0] == Ty::simm16;
        self.inst.src[0] = if parameter { self.parameter()? } else { self.source(0, Ty::f32, &mut none)? };
        let mut mem = self.attribute()?;
        if self.info.has(Note::Acc) {
            self.inst.src[1] = self.inst.dst[0];
        } else if let Some(ty) = self.info.srcs.get(1) {
            self.inst.src[1] = self.source(1, *ty, &mut none)?;
        }
        mem.flags |= u8::from(self.flag("high")) << 2;
        self.inst.ext = Ext::Mem(mem);
        self.op_sel()?;
        self.output()
    }

    fn parameter(&mut self) -> Result<Operand, AsmError> {
        let text = self.next()?;
        let number = match text {
            "p10" => Some(0),
            "p20" => Some(1),
            "p0" => Some(2),
            other => other.strip_prefix("invalid_param_").and_then(|n| n.parse().ok()),
        };
        let register = || operand::read(text, Ty::f32, self.generation);
        number.map(Operand::Imm).or_else(register).ok_or_else(|| AsmError::Operand(text.to_owned()))
    }

    /// `attr3.y`.
    fn attribute(&mut self) -> Result<Mem, AsmError> {
        let text = self.next()?;
        let parts = text.strip_prefix("attr").and_then(|text| text.split_once('.'));
        let fields = parts.and_then(|(attr, channel)| Some((attr.parse().ok()?, "xyzw".find(channel)?)));
        let (target, channel) = fields.ok_or_else(|| AsmError::Operand(text.to_owned()))?;
        Ok(Mem { target, flags: channel as u8, ..Mem::default() })
    }
}
