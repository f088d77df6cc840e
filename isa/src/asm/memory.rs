//! DS, MUBUF, MTBUF, FLAT, MIMG and EXP.

use super::{AsmError, Parser, operand};
use crate::inst::{Ext, Format, Mem};
use crate::op::{Access, Note};
use crate::operand::{Operand, Ty};
use crate::table::{Ds, Mubuf, Op};

impl Parser<'_> {
    fn is_atomic(&self) -> bool {
        matches!(self.info.access(), Some((Access::Atomic, _)))
    }

    /// A register, or `off` for none.
    fn or_off(&mut self) -> Result<Operand, AsmError> {
        match self.operands.as_slice().first() {
            Some(&"off") => self.next().map(|_| Operand::None),
            _ => self.take(Ty::data),
        }
    }

    pub(super) fn ds(&mut self) -> Result<(), AsmError> {
        if let Some(ty) = self.info.dsts.first() {
            self.inst.dst[0] = self.take(*ty)?;
        }
        for (i, ty) in self.info.srcs.iter().enumerate() {
            self.inst.src[i] = match i {
                0 if self.info.has(Note::NoAddr) => Operand::None,
                1 if self.info.has(Note::Acc) => self.inst.dst[0],
                _ => self.take(*ty)?,
            };
        }
        let mut mem = Mem { gds: self.flag("gds"), ..Mem::default() };
        if self.info.notes.iter().any(|note| matches!(note, Note::Offsets(_))) {
            mem.offset = self.small("offset0", 0, 255)?.into();
            mem.offset1 = self.small("offset1", 0, 255)?;
        } else if self.inst.op == Op::Ds(Ds::ds_swizzle_b32) {
            mem.offset = self.swizzle()?;
        } else {
            mem.offset = self.offset()?;
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }

    /// The pattern of a swizzle.
    fn swizzle(&mut self) -> Result<i32, AsmError> {
        let Some(text) = self.value("offset") else { return Ok(0) };
        let wrong = || AsmError::Operand(text.to_owned());
        if let Some(number) = operand::number(text) {
            return Ok(number as i32);
        }
        let inside = text.strip_prefix("swizzle(").and_then(|text| text.strip_suffix(')')).ok_or_else(wrong)?;
        let (kind, arguments) = inside.split_once(',').ok_or_else(wrong)?;
        if kind == "BITMASK_PERM" {
            return arguments.trim().trim_matches('"').chars().try_fold(0, |pattern, c| {
                let (and, or, xor) = match c {
                    '0' => (0, 0, 0),
                    '1' => (0, 1, 0),
                    'p' => (1, 0, 0),
                    'i' => (1, 0, 1),
                    _ => return Err(wrong()),
                };
                Ok((pattern << 1 & 0x7bde) | and | or << 5 | xor << 10)
            });
        }
        let numbers: Option<Vec<i32>> =
            arguments.split(',').map(|n| operand::number(n.trim()).map(|n| n as i32)).collect();
        match (kind, numbers.ok_or_else(wrong)?.as_slice()) {
            ("QUAD_PERM", [a, b, c, d]) => Ok(0x8000 | a | b << 2 | c << 4 | d << 6),
            ("SWAP", [group]) => Ok(0x1f | group << 10),
            ("REVERSE", [group]) => Ok(0x1f | group.wrapping_sub(1) << 10),
            ("BROADCAST", [group, lane]) => Ok(32_i32.wrapping_sub(*group) | lane << 5),
            _ => Err(wrong()),
        }
    }

    /// MUBUF and MTBUF.
    pub(super) fn buffer(&mut self) -> Result<(), AsmError> {
        let mut mem = Mem {
            idxen: self.flag("idxen"),
            offen: self.flag("offen"),
            addr64: self.flag("addr64"),
            offset: self.offset()?,
            glc: self.flag("glc"),
            slc: self.flag("slc"),
            tfe: self.flag("tfe"),
            lds: self.flag("lds"),
            ..Mem::default()
        };
        if self.info.srcs.is_empty() {
            self.inst.ext = Ext::Mem(mem);
            return Ok(());
        }
        let from_lds = self.inst.op == Op::Mubuf(Mubuf::buffer_store_lds_dword);
        mem.lds &= !from_lds;
        if !from_lds && !mem.lds {
            let data = self.take(Ty::data)?;
            let stored = self.info.srcs.len() > 3;
            self.inst.src[3] = if stored { data } else { Operand::None };
            let returned = !self.info.dsts.is_empty() && (!self.is_atomic() || mem.glc);
            self.inst.dst[0] = if returned { data } else { Operand::None };
        }
        if !from_lds {
            self.inst.src[0] = self.or_off()?;
        }
        self.inst.src[1] = self.take(Ty::b128)?;
        self.inst.src[2] = self.take(Ty::u32)?;
        if self.inst.format == Format::Mtbuf {
            (mem.dfmt, mem.nfmt) = self.format()?;
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }

    /// MTBUF's formats; 8 and UNORM where they are not named.
    fn format(&mut self) -> Result<(u8, u8), AsmError> {
        let (mut data, mut number) = (1, 0);
        let Some(text) = self.value("format") else { return Ok((data, number)) };
        for name in text.trim_matches(['[', ']']).split(',') {
            let wrong = || AsmError::Operand(name.to_owned());
            if let Some(name) = name.strip_prefix("BUF_DATA_FORMAT_") {
                data = crate::disas::data_format(name).ok_or_else(wrong)?;
            } else {
                let name = name.strip_prefix("BUF_NUM_FORMAT_").ok_or_else(wrong)?;
                number = crate::disas::number_format(name).ok_or_else(wrong)?;
            }
        }
        Ok((data, number))
    }

    pub(super) fn flat(&mut self) -> Result<(), AsmError> {
        let mem = Mem {
            offset: self.offset()?,
            glc: self.flag("glc"),
            slc: self.flag("slc"),
            tfe: self.flag("tfe"),
            lds: self.flag("lds"),
            seg: match self.name.split('_').next() {
                Some("scratch") => 1,
                Some("global") => 2,
                _ => 0,
            },
            ..Mem::default()
        };
        self.inst.ext = Ext::Mem(mem);
        if let Some(ty) = self.info.dsts.first()
            && (!self.is_atomic() || mem.glc)
        {
            self.inst.dst[0] = if mem.lds { Operand::Vgpr(0) } else { self.take(*ty)? };
        }
        self.inst.src[0] = self.or_off()?;
        if let Some(ty) = self.info.srcs.get(1) {
            self.inst.src[1] = if self.info.has(Note::Acc) { self.inst.dst[0] } else { self.take(*ty)? };
        }
        if mem.seg != 0 {
            self.inst.src[2] = self.or_off()?;
        }
        Ok(())
    }

    pub(super) fn mimg(&mut self) -> Result<(), AsmError> {
        let mut mem = Mem {
            dmask: self.small("dmask", 0, 15)?,
            glc: self.flag("glc"),
            slc: self.flag("slc"),
            tfe: self.flag("tfe"),
            ..Mem::default()
        };
        for (bit, names) in [["unorm", ""], ["da", ""], ["r128", "a16"], ["lwe", ""], ["d16", ""]].iter().enumerate() {
            let set = names.iter().any(|name| self.flag(name));
            mem.flags |= u8::from(set) << bit;
        }
        let data = self.take(Ty::data)?;
        let stored = self.info.srcs.len() > 3;
        self.inst.src[3] = if stored { data } else { Operand::None };
        let returned = !self.info.dsts.is_empty() && (!self.is_atomic() || mem.glc);
        self.inst.dst[0] = if returned { data } else { Operand::None };
        self.inst.src[0] = self.take(Ty::data)?;
        self.inst.src[1] = self.take(Ty::b256)?;
        if self.info.srcs.len() == 3 {
            self.inst.src[2] = self.take(Ty::b128)?;
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }

    pub(super) fn exp(&mut self) -> Result<(), AsmError> {
        let first = self.next()?;
        let (target, first) = first.split_once(' ').ok_or(AsmError::Missing)?;
        let number = |prefix: &str, base: u8| target.strip_prefix(prefix)?.parse::<u8>().ok().map(|n| base + n);
        let to = match target {
            "mrtz" => Some(8),
            "null" => Some(9),
            _ => number("mrt", 0).or(number("pos", 12)).or(number("param", 32)).or(number("invalid_target_", 0)),
        }
        .ok_or_else(|| AsmError::Operand(target.to_owned()))?;
        let mut mem = Mem { target: to, ..Mem::default() };
        let (done, compressed, vm) = (self.flag("done"), self.flag("compr"), self.flag("vm"));
        mem.flags = u8::from(compressed) | u8::from(done) << 1 | u8::from(vm) << 2;
        self.inst.src = [Operand::Vgpr(0); 4];
        for i in 0..4 {
            let text = if i == 0 { first.trim() } else { self.next()? };
            if text != "off" {
                mem.dmask |= 1 << i;
                let vgpr = operand::read(text, Ty::b32, self.generation);
                let at = if compressed { i / 2 } else { i };
                self.inst.src[at] = vgpr.ok_or_else(|| AsmError::Operand(text.to_owned()))?;
            }
        }
        self.inst.ext = Ext::Mem(mem);
        Ok(())
    }
}
