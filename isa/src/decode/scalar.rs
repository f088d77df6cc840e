//! SOP2, SOPK, SOP1, SOPC, SOPP, SMRD and SMEM.

use super::table::{Entry, flag};
use super::{DecodeError, Reader, bit, bits};
use crate::gfx::Gen;
use crate::inst::{Ext, Format, Inst, Mem};
use crate::operand::{Operand, Ty};
use crate::table::Op;

impl Reader<'_> {
    pub(super) fn sop2(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.sop2, "SOP2", bits(word, 23, 7))?;
        let src = [Some(bits(word, 0, 8)), Some(bits(word, 8, 8))];
        self.scalar(entry, Format::Sop2, bits(word, 16, 7), src)
    }

    pub(super) fn sop1(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.sop1, "SOP1", bits(word, 8, 8))?;
        self.scalar(entry, Format::Sop1, bits(word, 16, 7), [Some(bits(word, 0, 8)), None])
    }

    pub(super) fn sopc(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.sopc, "SOPC", bits(word, 16, 7))?;
        let src = [Some(bits(word, 0, 8)), Some(bits(word, 8, 8))];
        self.scalar(entry, Format::Sopc, 0, src)
    }

    /// Results and sources of SOP2, SOP1 and SOPC by the row's types.
    fn scalar(
        &mut self,
        entry: &Entry,
        format: Format,
        sdst: u32,
        codes: [Option<u32>; 2],
    ) -> Result<Inst, DecodeError> {
        let mut inst = self.make(entry.op, format);
        for (to, ty) in inst.dst.iter_mut().zip(entry.dst) {
            *to = match ty {
                None => break,
                Some(Ty::scc) => Operand::Scc,
                Some(ty) => self.sreg(sdst, ty)?,
            };
        }
        let mut codes = codes.into_iter().flatten();
        for (to, ty) in inst.src.iter_mut().zip(entry.src) {
            *to = match (ty, codes.next()) {
                (None, _) => break,
                (Some(Ty::scc), _) => Operand::Scc,
                (Some(Ty::simm16), Some(code)) => Operand::Imm(code as i32),
                (Some(ty), Some(code)) => self.source(code, ty, true)?,
                (Some(_), None) => inst.dst[0],
            };
        }
        inst.words = self.words;
        Ok(inst)
    }

    pub(super) fn sopk(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.sopk, "SOPK", bits(word, 23, 5))?;
        let mut inst = self.make(entry.op, Format::Sopk);
        let register = bits(word, 16, 7);
        for (to, ty) in inst.dst.iter_mut().zip(entry.dst) {
            *to = match ty {
                None => break,
                Some(Ty::scc) => Operand::Scc,
                Some(ty) => self.sreg(register, ty)?,
            };
        }
        let unsigned = entry.src[0] == Some(Ty::u32);
        for (to, ty) in inst.src.iter_mut().zip(entry.src) {
            *to = match ty {
                None => break,
                Some(Ty::scc) => Operand::Scc,
                Some(Ty::simm16) if unsigned => Operand::Imm(bits(word, 0, 16) as i32),
                Some(Ty::simm16 | Ty::label) => Operand::Imm(i32::from(word as i16)),
                Some(_) if entry.op == Op::Sopk(crate::Sopk::s_setreg_imm32_b32) => self.literal()?,
                Some(ty) => self.sreg(register, ty)?,
            };
        }
        inst.words = self.words;
        Ok(inst)
    }

    pub(super) fn sopp(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.sopp, "SOPP", bits(word, 16, 7))?;
        let mut inst = self.make(entry.op, Format::Sopp);
        for (to, ty) in inst.src.iter_mut().zip(entry.src) {
            *to = match ty {
                None => break,
                Some(Ty::scc) => Operand::Scc,
                Some(_) => Operand::Imm(i32::from(word as i16)),
            };
        }
        Ok(inst)
    }

    /// Scalar memory of gfx6 and gfx7: immediate offsets count dwords.
    pub(super) fn smrd(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.smem, "SMRD", bits(word, 22, 5))?;
        let mut mem = Mem { imm: bit(word, 8), ..Mem::default() };
        let field = bits(word, 0, 8);
        let mut offset = Operand::None;
        if mem.imm {
            mem.offset = field as i32 * 4;
        } else if field == 255 && self.tables.generation == Gen::Gfx7 && entry.src[1].is_some() {
            mem.imm = true;
            mem.offset = (self.next()? << 2) as i32;
        } else if entry.src[1].is_some() {
            offset = self.sreg(field, Ty::u32)?;
        }
        self.scalar_memory(entry, bits(word, 15, 7), bits(word, 9, 6), offset, mem)
    }

    /// Scalar memory of gfx8 and gfx9: immediate offsets count bytes.
    pub(super) fn smem(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.smem, "SMEM", bits(word, 18, 8))?;
        let gfx9 = self.tables.generation == Gen::Gfx9;
        let (imm, soffset_en) = (bit(word, 17), gfx9 && bit(word, 14));
        let mut mem = Mem { glc: bit(word, 16), imm, nv: gfx9 && bit(word, 15), ..Mem::default() };
        let mut offset = Operand::None;
        if imm {
            mem.offset = if gfx9 { (second << 11) as i32 >> 11 } else { bits(second, 0, 20) as i32 };
        }
        if entry.src[1].is_some() && soffset_en {
            offset = self.sreg(bits(second, 25, 7), Ty::u32)?;
        } else if entry.src[1].is_some() && !imm {
            offset = self.sreg(bits(second, 0, 7), Ty::u32)?;
        }
        self.scalar_memory(entry, bits(word, 6, 7), bits(word, 0, 6), offset, mem)
    }

    fn scalar_memory(
        &mut self,
        entry: &Entry,
        sdata: u32,
        sbase: u32,
        offset: Operand,
        mem: Mem,
    ) -> Result<Inst, DecodeError> {
        let mut inst = self.make(entry.op, Format::Smem);
        if let Some(ty) = entry.dst[0]
            && (!entry.is(flag::ATOMIC) || mem.glc)
        {
            let ty = if entry.is(flag::ATOMIC) { entry.src[2].unwrap_or(ty) } else { ty };
            inst.dst[0] = self.sreg(sdata, ty)?;
        }
        if let Some(ty) = entry.src[0] {
            inst.src[0] = self.sreg(sbase << 1, ty)?;
            inst.src[1] = offset;
        }
        inst.src[2] = match entry.src[2] {
            None => Operand::None,
            Some(Ty::simm16) => Operand::Imm(sdata as i32),
            Some(ty) => self.sreg(sdata, ty)?,
        };
        inst.ext = Ext::Mem(mem);
        inst.words = self.words;
        Ok(inst)
    }
}
