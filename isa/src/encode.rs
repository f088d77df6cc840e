//! Instructions to words: the inverse of decoding.
//!
//! `decode(encode(inst)) == inst` for every instruction that decoding can give. Bits that decoding ignores are zero.

use crate::gfx::{Gen, Target};
use crate::inst::{Dpp, Ext, Format, Inst, Mem, Sdwa, Unused};
use crate::op::{Code, Note};
use crate::operand::{Operand, Ty};
use crate::table::Op;

/// Why an instruction has no words on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The target does not have the operation in this encoding.
    #[error("{target} has no {name} in this encoding")]
    Opcode {
        /// LLVM's mnemonic.
        name: &'static str,
        /// The processor.
        target: Target,
    },
    /// An operand does not fit its field.
    #[error("operand {0:?} does not fit its field")]
    Operand(Operand),
    /// A second, different literal.
    #[error("more than one literal")]
    Literals,
    /// An offset does not fit its field.
    #[error("offset {0} does not fit its field")]
    Offset(i32),
}

/// The words of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    words: [u32; 2],
    len: u8,
}

impl std::ops::Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.words[..usize::from(self.len)]
    }
}

/// The words of `inst` on `target`.
pub fn encode(inst: &Inst, target: Target) -> Result<Words, EncodeError> {
    let writer = Writer { inst, target, generation: target.generation() };
    match inst.format {
        Format::Sop2 | Format::Sop1 | Format::Sopc | Format::Sopk | Format::Sopp => writer.scalar_alu(),
        Format::Smem if writer.old() => writer.smrd(),
        Format::Smem => writer.smem(),
        Format::Vop1 | Format::Vop2 | Format::Vopc => writer.vop(),
        Format::Vop3a | Format::Vop3b => writer.vop3(),
        Format::Vop3p => writer.vop3p(),
        Format::Vintrp => writer.vintrp(),
        Format::Ds => writer.ds(),
        Format::Mubuf | Format::Mtbuf => writer.buffer(),
        Format::Flat => writer.flat(),
        Format::Mimg => writer.mimg(),
        Format::Exp => writer.exp(),
    }
}

fn one(word: u32) -> Words {
    Words { words: [word, 0], len: 1 }
}

fn two(first: u32, second: u32) -> Words {
    Words { words: [first, second], len: 2 }
}

/// Bit `i` of a set of sources.
fn of(set: u8, i: u32) -> u32 {
    u32::from(set) >> i & 1
}

/// The 9-bit code of an operand; None is 0.
fn code(operand: Operand) -> u32 {
    match operand {
        Operand::None => 0,
        Operand::Sgpr(n) | Operand::Inline(n) | Operand::Special(n) => u32::from(n),
        Operand::Vgpr(n) => 256 + u32::from(n),
        Operand::Scc => 253,
        Operand::Literal(_) => 255,
        Operand::Imm(value) => value as u32,
    }
}

struct Writer<'a> {
    inst: &'a Inst,
    target: Target,
    generation: Gen,
}

impl Writer<'_> {
    fn old(&self) -> bool {
        self.generation < Gen::Gfx8
    }

    fn missing(&self) -> EncodeError {
        EncodeError::Opcode { name: self.inst.op.info().name, target: self.target }
    }

    /// The opcode in the family's own encoding.
    fn opcode(&self) -> Result<u32, EncodeError> {
        match self.inst.op.info().code(self.generation) {
            Some(Code::Native(code)) if self.target.supports(self.inst.op) => Ok(u32::from(code)),
            _ => Err(self.missing()),
        }
    }

    /// The 8-bit number of a VGPR; None is 0.
    fn vgpr(&self, operand: Operand) -> Result<u32, EncodeError> {
        match operand {
            Operand::None => Ok(0),
            Operand::Vgpr(n) => Ok(u32::from(n)),
            other => Err(EncodeError::Operand(other)),
        }
    }

    /// A code of at most `width` bits.
    fn field(&self, operand: Operand, width: u32) -> Result<u32, EncodeError> {
        let code = code(operand);
        if code >> width == 0 { Ok(code) } else { Err(EncodeError::Operand(operand)) }
    }

    /// A register group's code, in groups of `1 << shift` registers.
    fn group(&self, operand: Operand, shift: u32) -> Result<u32, EncodeError> {
        let code = self.field(operand, 7)?;
        if code % (1 << shift) == 0 { Ok(code >> shift) } else { Err(EncodeError::Operand(operand)) }
    }

    /// The one word, and the literal that its operands share if they have any.
    fn with_literal(&self, word: u32) -> Result<Words, EncodeError> {
        let mut literals = self.inst.src.into_iter().filter_map(|operand| match operand {
            Operand::Literal(value) => Some(value),
            _ => None,
        });
        match literals.next() {
            None => Ok(one(word)),
            Some(value) if literals.all(|other| other == value) => Ok(two(word, value)),
            Some(_) => Err(EncodeError::Literals),
        }
    }

    fn scalar_alu(&self) -> Result<Words, EncodeError> {
        let (dst, src, opcode) = (self.inst.dst, self.inst.src, self.opcode()?);
        let info = self.inst.op.info();
        let sdst = if dst[0] == Operand::Scc { 0 } else { self.field(dst[0], 7)? };
        let explicit = |i: usize| match info.srcs.get(i) {
            None | Some(Ty::scc) => Ok(0),
            Some(_) if i == 1 && info.has(Note::Acc) => Ok(0),
            Some(_) => self.field(src[i], 8),
        };
        match self.inst.format {
            Format::Sop2 => self.with_literal(2 << 30 | opcode << 23 | sdst << 16 | explicit(1)? << 8 | explicit(0)?),
            Format::Sop1 => self.with_literal(0x17d << 23 | sdst << 16 | opcode << 8 | explicit(0)?),
            Format::Sopc => self.with_literal(0x17e << 23 | opcode << 16 | explicit(1)? << 8 | explicit(0)?),
            format => {
                let immediate = src.into_iter().find_map(|operand| match operand {
                    Operand::Imm(value) => Some(u32::from(value as u16)),
                    _ => None,
                });
                let simm = immediate.unwrap_or(0);
                if format == Format::Sopp {
                    return Ok(one(0x17f << 23 | opcode << 16 | simm));
                }
                let register = match (dst[0], src[0]) {
                    (Operand::Sgpr(n), _) | (_, Operand::Sgpr(n)) => u32::from(n),
                    _ => 0,
                };
                self.with_literal(0xb << 28 | opcode << 23 | register << 16 | simm)
            }
        }
    }

    /// What the data field of a scalar memory instruction holds.
    fn sdata(&self) -> Result<u32, EncodeError> {
        match self.inst.src[2] {
            Operand::None => self.field(self.inst.dst[0], 7),
            data => self.field(data, 7),
        }
    }

    fn smrd(&self) -> Result<Words, EncodeError> {
        let (src, mem) = (self.inst.src, self.inst.mem());
        let word = 0x18 << 27 | self.opcode()? << 22 | self.sdata()? << 15 | self.group(src[0], 1)? << 9;
        let dwords = mem.offset as u32 >> 2;
        match (mem.imm, self.inst.words, dwords) {
            (false, ..) => Ok(one(word | self.field(src[1], 8)?)),
            (true, 1, 0..256) => Ok(one(word | 1 << 8 | dwords)),
            _ if self.generation == Gen::Gfx7 => Ok(two(word | 255, dwords)),
            _ => Err(EncodeError::Offset(mem.offset)),
        }
    }

    fn smem(&self) -> Result<Words, EncodeError> {
        let (src, mem) = (self.inst.src, self.inst.mem());
        let gfx9 = self.generation == Gen::Gfx9;
        let mut first = 0x30 << 26 | self.opcode()? << 18 | self.sdata()? << 6 | self.group(src[0], 1)?;
        first |= u32::from(mem.imm) << 17 | u32::from(mem.glc) << 16 | u32::from(mem.nv && gfx9) << 15;
        let fits =
            if gfx9 { (-0x10_0000..0x10_0000).contains(&mem.offset) } else { (0..0x10_0000).contains(&mem.offset) };
        if !fits {
            return Err(EncodeError::Offset(mem.offset));
        }
        let mut second = mem.offset as u32 & 0x1f_ffff;
        if src[1] != Operand::None && mem.imm {
            first |= 1 << 14;
            second |= self.field(src[1], 7)? << 25;
        } else if src[1] != Operand::None {
            second = self.field(src[1], 7)?;
        }
        Ok(two(first, second))
    }

    /// VOP1, VOP2 and VOPC with what may follow them.
    fn vop(&self) -> Result<Words, EncodeError> {
        let (dst, src, opcode) = (self.inst.dst, self.inst.src, self.opcode()?);
        let info = self.inst.op.info();
        let source0 = match self.inst.ext {
            Ext::Sdwa(_) => 249,
            Ext::Dpp(_) => 250,
            _ => code(src[0]),
        };
        let vdst = code(dst[0]) & 255;
        let source1 = if info.has(Note::Konst(1)) { src[2] } else { src[1] };
        let word = match self.inst.format {
            Format::Vop2 => opcode << 25 | vdst << 17 | (code(source1) & 255) << 9 | source0,
            Format::Vop1 => 0x3f << 25 | vdst << 17 | opcode << 9 | source0,
            _ => 0x3e << 25 | opcode << 17 | (code(source1) & 255) << 9 | source0,
        };
        match self.inst.ext {
            Ext::Sdwa(sdwa) => Ok(two(word, self.sdwa(sdwa))),
            Ext::Dpp(dpp) => Ok(two(word, self.dpp(dpp))),
            _ => self.with_literal(word),
        }
    }

    fn sdwa(&self, sdwa: Sdwa) -> u32 {
        let (inst, mods) = (self.inst, self.inst.mods);
        let scalar = |operand| u32::from(!matches!(operand, Operand::Vgpr(_) | Operand::None));
        let mut word = code(inst.src[0]) & 255;
        let second = if inst.format == Format::Vop1 { Operand::None } else { inst.src[1] };
        word |= scalar(inst.src[0]) << 23 | scalar(second) << 31;
        let sources = if inst.format == Format::Vop1 { 1 } else { 2 };
        for (i, at) in [(0, 16), (1, 24)].into_iter().take(sources) {
            word |= (sdwa.src_sel[i as usize] as u32) << at | of(sdwa.sext, i) << (at + 3);
            word |= of(mods.neg, i) << (at + 4) | of(mods.abs, i) << (at + 5);
        }
        word |= u32::from(mods.clamp) << 13;
        if inst.format == Format::Vopc {
            let named = inst.dst[0] != Operand::VCC;
            return word | if named { 1 << 15 | code(inst.dst[0]) << 8 } else { 0 };
        }
        let unused = match sdwa.dst_unused {
            Unused::Pad => 0,
            Unused::Sext => 1,
            Unused::Preserve => 2,
        };
        word | (sdwa.dst_sel as u32) << 8 | unused << 11 | u32::from(mods.omod) << 14
    }

    fn dpp(&self, dpp: Dpp) -> u32 {
        let mods = self.inst.mods;
        code(self.inst.src[0]) & 255
            | u32::from(dpp.ctrl) << 8
            | u32::from(dpp.bound_ctrl) << 19
            | of(mods.neg, 0) << 20
            | of(mods.abs, 0) << 21
            | of(mods.neg, 1) << 22
            | of(mods.abs, 1) << 23
            | u32::from(dpp.bank_mask) << 24
            | u32::from(dpp.row_mask) << 28
    }

    /// The opcode in VOP3.
    fn long_opcode(&self) -> Result<u32, EncodeError> {
        let op = self.inst.op;
        match (op.info().code(self.generation), op.promoted(self.generation)) {
            (Some(Code::Vop3(code)), _) | (_, Some(code)) => Ok(u32::from(code)),
            _ if matches!(op, Op::Vop3(_)) => self.opcode(),
            _ => Err(self.missing()),
        }
    }

    fn vop3(&self) -> Result<Words, EncodeError> {
        let (inst, mods) = (self.inst, self.inst.mods);
        let info = inst.op.info();
        let opcode = self.long_opcode()?;
        let old = self.old();
        let mut first = 0x34 << 26 | opcode << if old { 17 } else { 16 } | code(inst.dst[0]) & 255;
        if let Ext::Mem(mem) = inst.ext {
            return self.interp(first, mem);
        }
        if inst.format == Format::Vop3b {
            first |= self.field(inst.dst[1], 7)? << 8;
        } else {
            first |= u32::from(mods.abs) << 8 | u32::from(mods.op_sel) << 11;
        }
        first |= u32::from(mods.clamp) << if old { 11 } else { 15 };
        let explicit = if info.has(Note::Acc) { info.srcs.len() - 1 } else { info.srcs.len().min(3) };
        let mut second = u32::from(mods.omod) << 27 | u32::from(mods.neg) << 29;
        for (i, operand) in inst.src.into_iter().enumerate().take(explicit) {
            if matches!(operand, Operand::Literal(_)) {
                return Err(EncodeError::Operand(operand));
            }
            second |= self.field(operand, 9)? << (9 * i);
        }
        Ok(two(first, second))
    }

    /// Interpolation in the VOP3 encoding.
    fn interp(&self, mut first: u32, mem: Mem) -> Result<Words, EncodeError> {
        let (inst, mods) = (self.inst, self.inst.mods);
        first |= u32::from(mods.abs) << 9 | u32::from(mods.op_sel) << 11 | u32::from(mods.clamp) << 15;
        let mut second = u32::from(mem.target) | u32::from(mem.flags) << 6;
        second |= self.field(inst.src[0], 9)? << 9;
        if !inst.op.info().has(Note::Acc) {
            second |= self.field(inst.src[1], 9)? << 18;
        }
        Ok(two(first, second | u32::from(mods.omod) << 27 | u32::from(mods.neg) << 30))
    }

    fn vop3p(&self) -> Result<Words, EncodeError> {
        let (inst, mods) = (self.inst, self.inst.mods);
        let high = if inst.op.info().has(Note::Mix) { mods.abs } else { mods.neg_hi };
        let mut first = 0x1a7 << 23 | self.opcode()? << 16 | self.vgpr(inst.dst[0])?;
        first |= u32::from(high) << 8 | u32::from(mods.op_sel) << 11;
        first |= of(mods.op_sel_hi, 2) << 14 | u32::from(mods.clamp) << 15;
        let mut second = u32::from(mods.op_sel_hi & 3) << 27 | u32::from(mods.neg) << 29;
        for (i, operand) in inst.src.into_iter().enumerate().take(3) {
            second |= self.field(operand, 9)? << (9 * i);
        }
        Ok(two(first, second))
    }

    fn vintrp(&self) -> Result<Words, EncodeError> {
        let (inst, mem) = (self.inst, self.inst.mem());
        let encoding = if self.old() { 0x32 } else { 0x35 };
        let word = encoding << 26 | self.vgpr(inst.dst[0])? << 18 | self.opcode()? << 16;
        Ok(one(word | u32::from(mem.target) << 10 | u32::from(mem.flags & 3) << 8 | code(inst.src[0]) & 255))
    }

    fn ds(&self) -> Result<Words, EncodeError> {
        let (inst, mem) = (self.inst, self.inst.mem());
        let shift = u32::from(self.old());
        let mut first = 0x36 << 26 | self.opcode()? << (17 + shift) | u32::from(mem.gds) << (16 + shift);
        first |= mem.offset as u32 & 0xffff | u32::from(mem.offset1) << 8;
        let mut second = self.vgpr(inst.dst[0])? << 24;
        let explicit = if inst.op.info().has(Note::Acc) { 1 } else { 3 };
        for (i, operand) in inst.src.into_iter().enumerate().take(explicit) {
            second |= self.vgpr(operand)? << (8 * i);
        }
        Ok(two(first, second))
    }

    fn buffer(&self) -> Result<Words, EncodeError> {
        let (inst, mem, old) = (self.inst, self.inst.mem(), self.old());
        let opcode = self.opcode()?;
        if !(0..4096).contains(&mem.offset) {
            return Err(EncodeError::Offset(mem.offset));
        }
        let mut first = mem.offset as u32 | u32::from(mem.offen) << 12 | u32::from(mem.idxen) << 13;
        first |= u32::from(mem.glc) << 14 | u32::from(mem.addr64) << 15;
        let mut second = u32::from(mem.tfe) << 23;
        if inst.format == Format::Mubuf {
            first |= 0x38 << 26 | opcode << 18 | u32::from(mem.lds) << 16;
            first |= u32::from(mem.slc && !old) << 17;
            second |= u32::from(mem.slc && old) << 22;
        } else {
            first |= 0x3a << 26 | opcode << if old { 16 } else { 15 };
            first |= u32::from(mem.dfmt) << 19 | u32::from(mem.nfmt) << 23;
            second |= u32::from(mem.slc) << 22;
        }
        let data = if inst.src[3] == Operand::None { inst.dst[0] } else { inst.src[3] };
        second |= self.vgpr(inst.src[0])? | self.vgpr(data)? << 8;
        second |= self.group(inst.src[1], 2)? << 16 | self.field(inst.src[2], 8)? << 24;
        Ok(two(first, second))
    }

    fn flat(&self) -> Result<Words, EncodeError> {
        let (inst, mem) = (self.inst, self.inst.mem());
        let mut first = 0x37 << 26 | self.opcode()? << 18 | u32::from(mem.glc) << 16 | u32::from(mem.slc) << 17;
        let mut second = self.vgpr(inst.src[0])? | self.vgpr(inst.dst[0])? << 24;
        if !inst.op.info().has(Note::Acc) {
            second |= self.vgpr(inst.src[1])? << 8;
        }
        let range = match (self.generation, mem.seg) {
            (Gen::Gfx9, 0) => 0..4096,
            (Gen::Gfx9, _) => -4096..4096,
            _ => 0..1,
        };
        if !range.contains(&mem.offset) {
            return Err(EncodeError::Offset(mem.offset));
        }
        if self.generation == Gen::Gfx9 {
            first |= mem.offset as u32 & 0x1fff | u32::from(mem.lds) << 13 | u32::from(mem.seg) << 14;
            let saddr = if inst.src[2] == Operand::None { 127 } else { self.field(inst.src[2], 7)? };
            second |= if mem.seg == 0 { 0 } else { saddr << 16 } | u32::from(mem.nv) << 23;
        } else {
            second |= u32::from(mem.tfe) << 23;
        }
        Ok(two(first, second))
    }

    fn mimg(&self) -> Result<Words, EncodeError> {
        let (inst, mem) = (self.inst, self.inst.mem());
        let mut first = 0x3c << 26 | self.opcode()? << 18 | u32::from(mem.dmask) << 8;
        first |= u32::from(mem.glc) << 13 | u32::from(mem.slc) << 25 | u32::from(mem.tfe) << 16;
        first |= of(mem.flags, 0) << 12 | of(mem.flags, 1) << 14 | of(mem.flags, 2) << 15 | of(mem.flags, 3) << 17;
        let data = if inst.src[3] == Operand::None { inst.dst[0] } else { inst.src[3] };
        let second = self.vgpr(inst.src[0])? | self.vgpr(data)? << 8 | of(mem.flags, 4) << 31;
        let (resource, sampler) = (self.group(inst.src[1], 2)?, self.group(inst.src[2], 2)?);
        Ok(two(first, second | resource << 16 | sampler << 21))
    }

    fn exp(&self) -> Result<Words, EncodeError> {
        let mem = self.inst.mem();
        let encoding = if self.old() { 0x3e } else { 0x31 };
        let first = u32::from(mem.dmask) | u32::from(mem.target) << 4 | u32::from(mem.flags) << 10;
        let mut second = 0;
        for (i, operand) in self.inst.src.into_iter().enumerate() {
            second |= self.vgpr(operand)? << (8 * i);
        }
        Ok(two(encoding << 26 | first, second))
    }
}
