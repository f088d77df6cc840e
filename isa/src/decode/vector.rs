//! VOP1, VOP2, VOPC with their SDWA and DPP words, VOP3, VOP3P and VINTRP.

use super::table::{Entry, flag};
use super::{DecodeError, Reader, bit, bits};
use crate::gfx::Gen;
use crate::inst::{Dpp, Ext, Format, Inst, Mem, Mods, Sdwa, Sel, Unused};
use crate::operand::{Operand, Ty};

/// The source 0 code that announces an SDWA word.
const SDWA: u32 = 249;
/// The source 0 code that announces a DPP word.
const DPP: u32 = 250;

impl Reader<'_> {
    pub(super) fn vop2(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.vop2, "VOP2", bits(word, 25, 6))?;
        let src1 = bits(word, 9, 8) + if entry.is(flag::LANE) { 0 } else { 256 };
        self.vop(entry, Format::Vop2, bits(word, 17, 8), bits(word, 0, 9), src1)
    }

    pub(super) fn vop1(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.vop1, "VOP1", bits(word, 9, 8))?;
        self.vop(entry, Format::Vop1, bits(word, 17, 8), bits(word, 0, 9), 0)
    }

    pub(super) fn vopc(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.vopc, "VOPC", bits(word, 17, 8))?;
        self.vop(entry, Format::Vopc, 106, bits(word, 0, 9), bits(word, 9, 8) + 256)
    }

    /// A 32-bit vector encoding: the escapes of source 0 first, then the operands.
    fn vop(
        &mut self,
        entry: &Entry,
        format: Format,
        vdst: u32,
        mut src0: u32,
        mut src1: u32,
    ) -> Result<Inst, DecodeError> {
        let (mut mods, mut ext, mut dst) = (Mods::default(), Ext::None, vdst);
        if src0 == SDWA && entry.is(flag::SDWA) {
            let second = self.next()?;
            let scalar = self.tables.generation == Gen::Gfx9;
            src0 = bits(second, 0, 8) + if scalar && bit(second, 23) { 0 } else { 256 };
            if scalar && format != Format::Vop1 && bit(second, 31) {
                src1 -= 256;
            }
            if scalar && format == Format::Vopc && bit(second, 15) {
                dst = bits(second, 8, 7);
            }
            let mut sdwa = self.sdwa(second, format == Format::Vopc)?;
            sdwa.sext &= !entry.floats;
            if format == Format::Vop1 {
                sdwa.src_sel[1] = Sel::Dword;
                sdwa.sext &= 1;
            }
            mods = self.sdwa_mods(second, format == Format::Vopc);
            mods.abs &= entry.floats;
            mods.neg &= entry.floats;
            ext = Ext::Sdwa(sdwa);
        } else if src0 == DPP && entry.is(flag::DPP) {
            let second = self.next()?;
            src0 = bits(second, 0, 8) + 256;
            mods.abs = ((bit(second, 21) as u8) | (bit(second, 23) as u8) << 1) & entry.floats;
            mods.neg = ((bit(second, 20) as u8) | (bit(second, 22) as u8) << 1) & entry.floats;
            ext = Ext::Dpp(dpp(second).ok_or(self.reserved(bits(second, 8, 9)))?);
        }
        let mut inst = self.make(entry.op, format);
        inst.dst = self.results(entry, dst, 106)?;
        let literals = ext == Ext::None;
        for (i, (to, ty)) in inst.src.iter_mut().zip(entry.src).enumerate() {
            let Some(ty) = ty else { break };
            *to = match (i, ty) {
                (_, Ty::mask) => Operand::VCC,
                (1, _) if entry.is(flag::KONST1) => self.literal()?,
                (2, _) if entry.is(flag::KONST2) => self.literal()?,
                (0, _) => self.vector_source(src0, ty, entry, 0, literals)?,
                (1, _) if entry.dst[1].is_some_and(|ty| ty != Ty::mask) => inst.dst[0],
                (1, _) => self.vector_source(src1, ty, entry, 1, literals)?,
                (2, _) if entry.is(flag::KONST1) => self.vgprs(src1, 1)?,
                _ => inst.dst[0],
            };
        }
        if entry.dst[1].is_some_and(|ty| ty != Ty::mask) {
            inst.dst[1] = inst.src[0];
        }
        inst.mods = mods;
        inst.ext = ext;
        inst.words = self.words;
        Ok(inst)
    }

    /// Source `i` of a vector operation; lane operations want a VGPR in source 0 or none at all.
    fn vector_source(
        &mut self,
        code: u32,
        ty: Ty,
        entry: &Entry,
        i: usize,
        literals: bool,
    ) -> Result<Operand, DecodeError> {
        if entry.is(flag::LANE) {
            let vector = code >= 256 || code == 254;
            if vector != (i == 0 && entry.is(flag::SDST)) {
                return Err(self.reserved(code));
            }
        }
        self.source(code, ty, literals && !entry.is(flag::KONST | flag::LANE) || code == 255 && entry.is(flag::KONST))
    }

    /// The results: VGPRs from `vdst`, or a scalar one by its code; `sdst` is the code of the second.
    fn results(&self, entry: &Entry, vdst: u32, sdst: u32) -> Result<[Operand; 2], DecodeError> {
        let first = match entry.dst[0] {
            None => Operand::None,
            Some(ty) if entry.is(flag::SDST) => self.sreg(vdst, ty)?,
            Some(ty) => self.vgprs(vdst, ty.dwords())?,
        };
        let second = match entry.dst[1] {
            Some(Ty::mask) => self.sreg(sdst, Ty::mask)?,
            _ => Operand::None,
        };
        Ok([first, second])
    }

    fn sdwa(&self, second: u32, compare: bool) -> Result<Sdwa, DecodeError> {
        let sel = |lo| {
            use Sel::*;
            [Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword]
                .get(bits(second, lo, 3) as usize)
                .copied()
                .ok_or(self.reserved(SDWA))
        };
        let mut sdwa = Sdwa { src_sel: [sel(16)?, sel(24)?], ..Sdwa::default() };
        sdwa.sext = (bit(second, 19) as u8) | (bit(second, 27) as u8) << 1;
        if !compare {
            sdwa.dst_sel = sel(8)?;
            sdwa.dst_unused = match bits(second, 11, 2) {
                0 => Unused::Pad,
                1 => Unused::Sext,
                2 => Unused::Preserve,
                _ => return Err(self.reserved(SDWA)),
            };
        }
        Ok(sdwa)
    }

    fn sdwa_mods(&self, second: u32, compare: bool) -> Mods {
        let gfx9 = self.tables.generation == Gen::Gfx9;
        Mods {
            abs: (bit(second, 21) as u8) | (bit(second, 29) as u8) << 1,
            neg: (bit(second, 20) as u8) | (bit(second, 28) as u8) << 1,
            clamp: bit(second, 13) && !(gfx9 && compare),
            omod: if gfx9 && !compare { bits(second, 14, 2) as u8 } else { 0 },
            ..Mods::default()
        }
    }

    /// VOP3 of gfx6 and gfx7.
    pub(super) fn vop3_old(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.vop3, "VOP3", bits(word, 17, 9))?;
        let clamp = bit(word, 11) && !entry.is(flag::VOP3B);
        self.vop3_operands(entry, second, clamp)
    }

    /// VOP3 of gfx8 and gfx9; on gfx9 its upper opcodes are VOP3P.
    pub(super) fn vop3(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        if self.tables.generation == Gen::Gfx9 && bits(word, 23, 3) == 7 {
            return self.vop3p();
        }
        let second = self.next()?;
        let entry = self.entry(&self.tables.vop3, "VOP3", bits(word, 16, 10))?;
        if entry.is(flag::ATTR) || matches!(entry.op, crate::Op::Vintrp(_)) {
            return self.interp(entry, second);
        }
        self.vop3_operands(entry, second, bit(word, 15))
    }

    fn vop3_operands(&mut self, entry: &Entry, second: u32, clamp: bool) -> Result<Inst, DecodeError> {
        let word = self.word;
        let b = entry.is(flag::VOP3B);
        let mut inst = self.make(entry.op, if b { Format::Vop3b } else { Format::Vop3a });
        inst.dst = self.results(entry, bits(word, 0, 8), bits(word, 8, 7))?;
        for (i, (to, ty)) in inst.src.iter_mut().zip(entry.src).enumerate() {
            let Some(ty) = ty else { break };
            let last = entry.src.get(i + 1).is_none_or(Option::is_none);
            let code = bits(second, 9 * i as u32, 9);
            *to = match ty {
                Ty::mask if i == 3 => Operand::VCC,
                Ty::mask => self.sreg(code, ty).or_else(|_| self.mask_constant(code))?,
                _ if last && entry.is(flag::ACC) => inst.dst[0],
                _ => self.vector_source(code, ty, entry, i, false)?,
            };
        }
        inst.mods = Mods {
            abs: if b { 0 } else { bits(word, 8, 3) as u8 & entry.floats },
            neg: bits(second, 29, 3) as u8 & entry.floats,
            omod: bits(second, 27, 2) as u8,
            clamp,
            op_sel: if entry.is(flag::OP_SEL) { bits(word, 11, 4) as u8 & (entry.sources | 8) } else { 0 },
            ..Mods::default()
        };
        inst.words = self.words;
        Ok(inst)
    }

    /// A lane mask that is not a register.
    fn mask_constant(&mut self, code: u32) -> Result<Operand, DecodeError> {
        match self.source(code, Ty::mask, false)? {
            Operand::Vgpr(_) => Err(self.reserved(code)),
            constant => Ok(constant),
        }
    }

    fn vop3p(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.vop3p, "VOP3P", bits(word, 16, 7))?;
        let mut inst = self.make(entry.op, Format::Vop3p);
        inst.dst = self.results(entry, bits(word, 0, 8), 0)?;
        for (i, (to, ty)) in inst.src.iter_mut().zip(entry.src).enumerate() {
            let Some(ty) = ty else { break };
            *to = self.source(bits(second, 9 * i as u32, 9), ty, false)?;
        }
        let (high, mix) = (bits(word, 8, 3) as u8 & entry.sources, entry.is(flag::MIX));
        let op_sel_hi = (bits(second, 27, 2) | bits(word, 14, 1) << 2) as u8;
        inst.mods = Mods {
            abs: if mix { high } else { 0 },
            neg: bits(second, 29, 3) as u8 & entry.sources,
            neg_hi: if mix { 0 } else { high },
            clamp: bit(word, 15),
            op_sel: bits(word, 11, 3) as u8 & entry.sources,
            // A source that is not there has the default, as assemblers write it.
            op_sel_hi: op_sel_hi | 7 & !entry.sources,
            ..Mods::default()
        };
        Ok(inst)
    }

    /// Interpolation in the VOP3 encoding: the field of source 0 holds the attribute, source 1 the VGPR.
    fn interp(&mut self, entry: &Entry, second: u32) -> Result<Inst, DecodeError> {
        let word = self.word;
        let mut inst = self.make(entry.op, Format::Vop3a);
        inst.dst = self.results(entry, bits(word, 0, 8), 0)?;
        let code = bits(second, 9, 9);
        inst.src[0] = match entry.src[0] {
            Some(Ty::simm16) => Operand::Imm(code as i32),
            _ if code >= 256 => Operand::Vgpr(code as u8),
            _ => return Err(self.reserved(code)),
        };
        if entry.is(flag::ACC) {
            inst.src[1] = inst.dst[0];
        } else if let Some(ty) = entry.src[1] {
            inst.src[1] = self.source(bits(second, 18, 9), ty, false)?;
        }
        let (attr, chan, high) = (bits(second, 0, 6), bits(second, 6, 2), bits(second, 8, 1));
        inst.ext = Ext::Mem(Mem { target: attr as u8, flags: (chan | high << 2) as u8, ..Mem::default() });
        inst.mods = Mods {
            abs: bits(word, 9, 2) as u8 & entry.floats,
            neg: bits(second, 30, 2) as u8 & entry.floats,
            omod: bits(second, 27, 2) as u8,
            clamp: bit(word, 15),
            op_sel: if entry.is(flag::OP_SEL) { bits(word, 11, 4) as u8 & 8 } else { 0 },
            ..Mods::default()
        };
        Ok(inst)
    }

    pub(super) fn vintrp(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let entry = self.entry(&self.tables.vintrp, "VINTRP", bits(word, 16, 2))?;
        let mut inst = self.make(entry.op, Format::Vintrp);
        inst.dst[0] = Operand::Vgpr(bits(word, 18, 8) as u8);
        let vsrc = bits(word, 0, 8);
        inst.src[0] = match entry.src[0] {
            Some(Ty::simm16) => Operand::Imm(vsrc as i32),
            _ => Operand::Vgpr(vsrc as u8),
        };
        if entry.is(flag::ACC) {
            inst.src[1] = inst.dst[0];
        }
        let (attr, chan) = (bits(word, 10, 6) as u8, bits(word, 8, 2) as u8);
        inst.ext = Ext::Mem(Mem { target: attr, flags: chan, ..Mem::default() });
        Ok(inst)
    }
}

/// The DPP word, unless its control field is reserved.
fn dpp(second: u32) -> Option<Dpp> {
    let ctrl = bits(second, 8, 9) as u16;
    let rows = matches!(ctrl, 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f);
    let known = ctrl < 0x100 || rows || matches!(ctrl, 0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143);
    known.then_some(Dpp {
        ctrl,
        bound_ctrl: bit(second, 19),
        bank_mask: bits(second, 24, 4) as u8,
        row_mask: bits(second, 28, 4) as u8,
    })
}
