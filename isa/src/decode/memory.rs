//! DS, MUBUF, MTBUF, FLAT, MIMG and EXP.

use super::table::{Entry, flag};
use super::{DecodeError, Reader, bit, bits};
use crate::gfx::Gen;
use crate::inst::{Ext, Format, Inst, Mem};
use crate::operand::{Operand, Ty};

impl Reader<'_> {
    pub(super) fn ds(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let shift = self.old() as u32;
        let entry = self.entry(&self.tables.ds, "DS", bits(word, 17 + shift, 8))?;
        let mut inst = self.make(entry.op, Format::Ds);
        let vdst = bits(second, 24, 8);
        if let Some(ty) = entry.dst[0] {
            inst.dst[0] = self.vgprs(vdst, ty.dwords())?;
        }
        for (i, (to, ty)) in inst.src.iter_mut().zip(entry.src).enumerate() {
            let Some(ty) = ty else { break };
            *to = match i {
                0 if entry.is(flag::NO_ADDR) => Operand::None,
                1 if entry.is(flag::ACC) => inst.dst[0],
                _ => self.vgprs(bits(second, 8 * i as u32, 8), ty.dwords())?,
            };
        }
        let mut mem = Mem { offset: bits(word, 0, 16) as i32, gds: bit(word, 16 + shift), ..Mem::default() };
        if entry.is(flag::OFFSETS) {
            mem.offset = bits(word, 0, 8) as i32;
            mem.offset1 = bits(word, 8, 8) as u8;
        }
        inst.ext = Ext::Mem(mem);
        Ok(inst)
    }

    pub(super) fn mubuf(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.mubuf, "MUBUF", bits(word, 18, 7))?;
        let mut mem = self.buffer_fields(second);
        mem.lds = bit(word, 16);
        mem.slc = if self.old() { bit(second, 22) } else { bit(word, 17) };
        self.buffer(entry, Format::Mubuf, second, mem)
    }

    pub(super) fn mtbuf(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let opcode = if self.old() { bits(word, 16, 3) } else { bits(word, 15, 4) };
        let entry = self.entry(&self.tables.mtbuf, "MTBUF", opcode)?;
        let mut mem = self.buffer_fields(second);
        mem.slc = bit(second, 22);
        mem.dfmt = bits(word, 19, 4) as u8;
        mem.nfmt = bits(word, 23, 3) as u8;
        self.buffer(entry, Format::Mtbuf, second, mem)
    }

    /// What MUBUF and MTBUF have in common.
    fn buffer_fields(&self, second: u32) -> Mem {
        let word = self.word;
        Mem {
            offset: bits(word, 0, 12) as i32,
            offen: bit(word, 12),
            idxen: bit(word, 13),
            glc: bit(word, 14),
            addr64: self.old() && bit(word, 15),
            tfe: bit(second, 23),
            ..Mem::default()
        }
    }

    fn buffer(&mut self, entry: &Entry, format: Format, second: u32, mem: Mem) -> Result<Inst, DecodeError> {
        let mut inst = self.make(entry.op, format);
        inst.ext = Ext::Mem(mem);
        if entry.src[0].is_none() {
            return Ok(inst);
        }
        let vaddr = match (mem.addr64, mem.idxen, mem.offen) {
            (false, false, false) => 0,
            (true, ..) | (_, true, true) => 2,
            _ => 1,
        };
        if vaddr > 0 {
            inst.src[0] = self.vgprs(bits(second, 0, 8), vaddr)?;
        }
        inst.src[1] = self.sgprs(bits(second, 16, 5) * 4, 4)?;
        inst.src[2] = self.source(bits(second, 24, 8), Ty::u32, false)?;
        if mem.lds {
            return Ok(inst);
        }
        let vdata = self.vgprs(bits(second, 8, 8), inst.data_dwords(self.tables.target) as u8)?;
        if entry.src[3].is_some() {
            inst.src[3] = vdata;
        }
        if entry.dst[0].is_some() && (!entry.is(flag::ATOMIC) || mem.glc) {
            inst.dst[0] = vdata;
        }
        Ok(inst)
    }

    pub(super) fn flat(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let opcode = bits(word, 18, 7);
        let entry = self.entry(&self.tables.flat, "FLAT", opcode)?;
        let mut mem = Mem { glc: bit(word, 16), slc: bit(word, 17), ..Mem::default() };
        let mut saddr = 127;
        if self.tables.generation == Gen::Gfx9 {
            mem.seg = bits(word, 14, 2) as u8;
            mem.lds = bit(word, 13);
            mem.nv = bit(second, 23);
            mem.offset = if mem.seg == 0 { bits(word, 0, 12) as i32 } else { (word << 19) as i32 >> 19 };
            if mem.seg != 0 {
                saddr = bits(second, 16, 7);
            }
        } else {
            mem.tfe = bit(second, 23);
        }
        if mem.seg == 3 || mem.seg == 1 && !entry.is(flag::SCRATCH) {
            return Err(self.no_opcode("FLAT", opcode));
        }
        let mut inst = self.make(entry.op, Format::Flat);
        self.flat_address(&mut inst, &mem, bits(second, 0, 8), saddr)?;
        let (data, vdst) = (bits(second, 8, 8), bits(second, 24, 8));
        if let Some(ty) = entry.dst[0]
            && (!entry.is(flag::ATOMIC) || mem.glc)
        {
            inst.dst[0] = self.vgprs(vdst, ty.dwords() + u8::from(mem.tfe))?;
        }
        inst.src[1] = match entry.src[1] {
            None => Operand::None,
            Some(_) if entry.is(flag::ACC) => inst.dst[0],
            Some(ty) => self.vgprs(data, ty.dwords())?,
        };
        inst.ext = Ext::Mem(mem);
        Ok(inst)
    }

    /// The address: 64 bits in VGPRs, or a scalar base with a 32-bit VGPR offset, or for scratch one of the two.
    fn flat_address(&mut self, inst: &mut Inst, mem: &Mem, addr: u32, saddr: u32) -> Result<(), DecodeError> {
        let scalar = saddr != 127;
        match (mem.seg, scalar) {
            (1, true) => inst.src[2] = self.sreg(saddr, Ty::u32)?,
            (_, true) => {
                inst.src[0] = self.vgprs(addr, 1)?;
                inst.src[2] = self.sreg(saddr, Ty::b64)?;
            }
            (1, false) => inst.src[0] = self.vgprs(addr, 1)?,
            (_, false) => inst.src[0] = self.vgprs(addr, 2)?,
        }
        Ok(())
    }

    pub(super) fn mimg(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.mimg, "MIMG", bits(word, 18, 7))?;
        let flag = |at, to: u32| (bit(word, at) as u8) << to;
        let mem = Mem {
            dmask: bits(word, 8, 4) as u8,
            glc: bit(word, 13),
            slc: bit(word, 25),
            tfe: bit(word, 16),
            flags: flag(12, 0) | flag(14, 1) | flag(15, 2) | flag(17, 3) | (bit(second, 31) as u8) << 4,
            ..Mem::default()
        };
        let mut inst = self.make(entry.op, Format::Mimg);
        inst.ext = Ext::Mem(mem);
        inst.src[0] = self.vgprs(bits(second, 0, 8), inst.image_address_dwords() as u8)?;
        inst.src[1] =
            self.sgprs(bits(second, 16, 5) * 4, inst.image_resource_dwords(self.tables.generation < Gen::Gfx9) as u8)?;
        if entry.src[2].is_some() && entry.src[3].is_none() {
            inst.src[2] = self.sgprs(bits(second, 21, 5) * 4, 4)?;
        }
        let vdata = self.vgprs(bits(second, 8, 8), inst.data_dwords(self.tables.target) as u8)?;
        if entry.src[3].is_some() {
            inst.src[3] = vdata;
        }
        if entry.dst[0].is_some() && (!entry.is(flag::ATOMIC) || mem.glc) {
            inst.dst[0] = vdata;
        }
        Ok(inst)
    }

    pub(super) fn exp(&mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let second = self.next()?;
        let entry = self.entry(&self.tables.exp, "EXP", 0)?;
        let mut inst = self.make(entry.op, Format::Exp);
        let enabled = bits(word, 0, 4) as u8;
        for (i, to) in inst.src.iter_mut().enumerate() {
            *to = Operand::Vgpr(bits(second, 8 * i as u32, 8) as u8);
        }
        inst.ext = Ext::Mem(Mem {
            dmask: enabled,
            target: bits(word, 4, 6) as u8,
            flags: bits(word, 10, 3) as u8,
            ..Mem::default()
        });
        Ok(inst)
    }
}
