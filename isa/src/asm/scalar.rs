//! SOP and SMEM.

use super::{AsmError, Parser, operand};
use crate::gfx::Gen;
use crate::inst::{Ext, Mem};
use crate::op::{Access, Note};
use crate::operand::{Operand, Ty};
use crate::table::{Op, Sopk, Sopp};

impl Parser<'_> {
    /// SOP2, SOP1, SOPC.
    pub(super) fn scalar(&mut self) -> Result<(), AsmError> {
        for (i, ty) in self.info.dsts.iter().enumerate() {
            self.inst.dst[i] = if *ty == Ty::scc { Operand::Scc } else { self.take(*ty)? };
        }
        let tied = self.info.has(Note::Acc);
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = match ty {
                Ty::scc => Operand::Scc,
                _ if tied && i == 1 => self.inst.dst[0],
                Ty::simm16 => Operand::Imm(self.gpr_idx()?),
                ty => self.take(*ty)?,
            };
        }
        Ok(())
    }

    pub(super) fn sopk(&mut self) -> Result<(), AsmError> {
        match self.inst.op {
            Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) => {
                self.inst.src[1] = Operand::Imm(self.hwreg()?);
                self.inst.src[0] = if self.inst.op == Op::Sopk(Sopk::s_setreg_b32) {
                    self.take(Ty::b32)?
                } else {
                    Operand::Literal(self.literal()?)
                };
                return Ok(());
            }
            Op::Sopk(Sopk::s_getreg_b32) => {
                self.inst.dst[0] = self.take(Ty::b32)?;
                self.inst.src[0] = Operand::Imm(self.hwreg()?);
                return Ok(());
            }
            _ => {}
        }
        let register = self.take(Ty::b64)?;
        let unsigned = self.info.srcs[0] == Ty::u32;
        let value = self.simm16()?;
        let immediate = if unsigned { i32::from(value as u16) } else { i32::from(value) };
        let of = |ty: Ty| match ty {
            Ty::scc => Operand::Scc,
            Ty::simm16 | Ty::label => Operand::Imm(immediate),
            _ => register,
        };
        for (i, ty) in self.info.dsts.iter().enumerate() {
            self.inst.dst[i] = of(*ty);
        }
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = of(*ty);
        }
        Ok(())
    }

    /// A 16-bit immediate, written with or without its sign.
    fn simm16(&mut self) -> Result<i16, AsmError> {
        let number = self.number()?;
        let fits = (-0x8000..=0xffff).contains(&number);
        if fits { Ok(number as i16) } else { Err(AsmError::Operand(number.to_string())) }
    }

    /// A number that is always a literal.
    fn literal(&mut self) -> Result<u32, AsmError> {
        let text = self.next()?;
        let wrong = || AsmError::Operand(text.to_owned());
        match operand::read(text, Ty::b32, self.generation).ok_or_else(wrong)? {
            Operand::Literal(value) => Ok(value),
            inline => inline.inline_bits(Ty::b32).map(|bits| bits as u32).ok_or_else(wrong),
        }
    }

    pub(super) fn sopp(&mut self) -> Result<(), AsmError> {
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = match (self.inst.op, ty) {
                (_, Ty::scc) => Operand::Scc,
                (Op::Sopp(Sopp::s_endpgm), _) if self.operands.len() == 0 => Operand::Imm(0),
                (Op::Sopp(Sopp::s_waitcnt), _) => Operand::Imm(self.waitcnt()?),
                (Op::Sopp(Sopp::s_sendmsg | Sopp::s_sendmsghalt), _) => Operand::Imm(self.sendmsg()?),
                (Op::Sopp(Sopp::s_set_gpr_idx_mode), _) => Operand::Imm(i32::from(self.gpr_idx()? as i16)),
                _ => Operand::Imm(i32::from(self.simm16()?)),
            };
        }
        Ok(())
    }

    /// The inside of `name(…)`, split at commas; None if the operand is something else.
    fn call(&mut self, name: &str) -> Result<Result<Vec<String>, i64>, AsmError> {
        let text = self.next()?;
        if let Some(number) = operand::number(text) {
            return Ok(Err(number));
        }
        let inside = text.strip_prefix(name).and_then(|text| text.strip_prefix('(')?.strip_suffix(')'));
        let inside = inside.ok_or_else(|| AsmError::Operand(text.to_owned()))?;
        Ok(Ok(inside.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()))
    }

    fn gpr_idx(&mut self) -> Result<i32, AsmError> {
        let names = match self.call("gpr_idx")? {
            Err(number) => return Ok(number as i32),
            Ok(names) => names,
        };
        names.iter().try_fold(0, |bits, name| {
            let bit = ["SRC0", "SRC1", "SRC2", "DST"].iter().position(|known| known == name);
            bit.map(|bit| bits | 1 << bit).ok_or_else(|| AsmError::Operand(name.clone()))
        })
    }

    fn hwreg(&mut self) -> Result<i32, AsmError> {
        let parts = match self.call("hwreg")? {
            Err(number) => return Ok(i32::from(number as i16)),
            Ok(parts) => parts,
        };
        let number = |i: usize, default: i64| match parts.get(i) {
            None => Ok(default),
            Some(text) => operand::number(text).ok_or_else(|| AsmError::Operand(text.clone())),
        };
        let id = match parts.first().and_then(|name| name.strip_prefix("HW_REG_")) {
            Some(name) => crate::disas::hwreg_id(name).ok_or_else(|| AsmError::Operand(name.to_owned()))?,
            None => number(0, 0)?,
        };
        let value = id | number(1, 0)? << 6 | (number(2, 32)? - 1) << 11;
        Ok(i32::from(value as u16 as i16))
    }

    /// `vmcnt(0) lgkmcnt(1)`: what is not named is not waited for.
    fn waitcnt(&mut self) -> Result<i32, AsmError> {
        let gfx9 = self.generation == Gen::Gfx9;
        let mut value: u16 = if gfx9 { 0xcf7f } else { 0x0f7f };
        for text in self.operands.by_ref() {
            let wrong = || AsmError::Operand(text.to_owned());
            if let Some(number) = operand::number(text) {
                return Ok(i32::from(number as i16));
            }
            let (name, count) = text.split_once('(').ok_or_else(wrong)?;
            let max = if name == "vmcnt" && gfx9 { 63 } else { 15 };
            let count = count.strip_suffix(')').and_then(operand::number).filter(|count| (0..=max).contains(count));
            let count = count.ok_or_else(wrong)? as u16;
            value = match name {
                "vmcnt" if gfx9 => value & !0xc00f | count & 15 | count >> 4 << 14,
                "vmcnt" => value & !15 | count & 15,
                "expcnt" => value & !0x70 | (count & 7) << 4,
                "lgkmcnt" => value & !0xf00 | (count & 15) << 8,
                _ => return Err(wrong()),
            };
        }
        Ok(i32::from(value as i16))
    }

    fn sendmsg(&mut self) -> Result<i32, AsmError> {
        let parts = match self.call("sendmsg")? {
            Err(number) => return Ok(i32::from(number as i16)),
            Ok(parts) => parts,
        };
        let mut value = 0;
        for (i, text) in parts.iter().enumerate() {
            let field = operand::number(text).or_else(|| crate::disas::message_id(text));
            value |= field.ok_or_else(|| AsmError::Operand(text.clone()))? << [0, 4, 8, 16][i.min(3)];
        }
        Ok(i32::from(value as i16))
    }

    pub(super) fn smem(&mut self) -> Result<(), AsmError> {
        let srcs = self.info.srcs;
        match srcs.get(2) {
            Some(Ty::simm16) => self.inst.src[2] = Operand::Imm(self.number()? as i32),
            Some(ty) => self.inst.src[2] = self.take(*ty)?,
            None => {
                if let Some(ty) = self.info.dsts.first() {
                    self.inst.dst[0] = self.take(*ty)?;
                }
            }
        }
        let mut mem = Mem { glc: self.flag("glc"), ..Mem::default() };
        if let Some(base) = srcs.first() {
            self.inst.src[0] = self.take(*base)?;
            let text = self.next()?;
            let named = self.value("offset");
            match operand::number(named.unwrap_or(text)) {
                Some(offset) if i32::try_from(offset).is_ok() => self.scalar_offset(&mut mem, offset),
                Some(_) => return Err(AsmError::Operand(text.to_owned())),
                None if named.is_some() => return Err(AsmError::Operand(text.to_owned())),
                None => {}
            }
            if !mem.imm || named.is_some() {
                let register = operand::read(text, Ty::u32, self.generation);
                self.inst.src[1] = register.ok_or_else(|| AsmError::Operand(text.to_owned()))?;
            }
        }
        if matches!(self.info.access(), Some((Access::Atomic, _))) && mem.glc {
            self.inst.dst[0] = self.inst.src[2];
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }

    /// An immediate offset: bytes, but dwords on gfx6 and gfx7, where a large one takes a second word.
    fn scalar_offset(&mut self, mem: &mut Mem, offset: i64) {
        mem.imm = true;
        let old = self.generation < Gen::Gfx8;
        mem.offset = if old { (offset as u32) << 2 } else { offset as u32 } as i32;
        self.inst.words = if old && !(0..256).contains(&offset) { 2 } else { 1 };
    }
}
