//! Words to instructions.
//!
//! The first word's top bits pick the encoding; one small function an encoding extracts fields, looks the opcode
//! up and makes implicit operands explicit. Everything that can be prepared is in a table built once a target, so
//! that decoding neither allocates nor searches. Bits that an encoding does not use are ignored.

mod memory;
mod scalar;
mod table;
mod vector;

use crate::gfx::{Gen, Target};
use crate::inst::{Ext, Format, Inst, Mods};
use crate::operand::{Operand, Ty};
use table::{Entry, Tables};

/// Why words are not an instruction of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The buffer ends inside the instruction.
    #[error("instruction {word:#010x} is cut off by the end of the code")]
    Truncated {
        /// First word.
        word: u32,
    },
    /// The encoding has no such opcode on this target.
    #[error("{word:#010x}: {target} has no {encoding} opcode {opcode:#x}")]
    Opcode {
        /// First word.
        word: u32,
        /// The processor.
        target: Target,
        /// The encoding, as the manual names it.
        encoding: &'static str,
        /// The opcode field.
        opcode: u16,
    },
    /// An operand code that is reserved, or not allowed in its place.
    #[error("{word:#010x}: operand code {code} is reserved")]
    Operand {
        /// First word.
        word: u32,
        /// The operand code.
        code: u16,
    },
    /// No encoding starts with these bits.
    #[error("{word:#010x}: no encoding starts with these bits")]
    Encoding {
        /// First word.
        word: u32,
    },
}

/// A decoder for one target. Cheap to copy: the tables behind it are built once a target.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    tables: &'static Tables,
}

impl Decoder {
    /// A decoder for `target`.
    pub fn new(target: Target) -> Decoder {
        Decoder { tables: Tables::of(target) }
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.tables.target
    }

    /// Decodes the instruction at the start of `code`.
    pub fn decode(&self, code: &[u32]) -> Result<Inst, DecodeError> {
        let word = *code.first().ok_or(DecodeError::Truncated { word: 0 })?;
        Reader { tables: self.tables, code, word, words: 1, literal: None }.inst()
    }

    /// Decodes from the start of `code` to its end: each instruction with the index of its first word. After an
    /// error it goes on with the next word.
    pub fn decode_all<'a>(
        &self,
        code: &'a [u32],
    ) -> impl Iterator<Item = (usize, Result<Inst, DecodeError>)> + use<'a> {
        let (decoder, mut at) = (*self, 0);
        std::iter::from_fn(move || {
            let rest = code.get(at..).filter(|rest| !rest.is_empty())?;
            let (start, inst) = (at, decoder.decode(rest));
            at += inst.as_ref().map_or(1, |inst| usize::from(inst.words));
            Some((start, inst))
        })
    }
}

/// Bits `lo` and up of `word`, `width` of them.
const fn bits(word: u32, lo: u32, width: u32) -> u32 {
    (word >> lo) & ((1 << width) - 1)
}

/// Bit `at` of `word`.
const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

/// One instruction being decoded: its first word, and how many words it has taken so far.
struct Reader<'a> {
    tables: &'static Tables,
    code: &'a [u32],
    word: u32,
    words: u8,
    literal: Option<u32>,
}

impl Reader<'_> {
    /// Picks the encoding by the first word.
    fn inst(mut self) -> Result<Inst, DecodeError> {
        let word = self.word;
        let old = self.old();
        match word >> 26 {
            0b000000..=0b011110 => self.vop2(),
            0b011111 if bit(word, 25) => self.vop1(),
            0b011111 => self.vopc(),
            0b100000..=0b101111 => self.scalar_alu(),
            0b110000 | 0b110001 if old => self.smrd(),
            0b110000 => self.smem(),
            0b110001 => self.exp(),
            0b110010 if old => self.vintrp(),
            0b110100 if old => self.vop3_old(),
            0b110100 => self.vop3(),
            0b110101 if !old => self.vintrp(),
            0b110110 => self.ds(),
            0b110111 if self.tables.generation >= Gen::Gfx7 => self.flat(),
            0b111000 => self.mubuf(),
            0b111010 => self.mtbuf(),
            0b111100 => self.mimg(),
            0b111110 if old => self.exp(),
            _ => Err(DecodeError::Encoding { word }),
        }
    }

    /// The SOP encodings, which nest inside each other.
    fn scalar_alu(&mut self) -> Result<Inst, DecodeError> {
        match bits(self.word, 23, 7) {
            0b111_1101 => self.sop1(),
            0b111_1110 => self.sopc(),
            0b111_1111 => self.sopp(),
            0b110_0000.. => self.sopk(),
            _ => self.sop2(),
        }
    }

    /// Whether this is gfx6 or gfx7, which encode SMEM, VOP3 and EXP differently.
    fn old(&self) -> bool {
        self.tables.generation < Gen::Gfx8
    }

    /// The row of `opcode`.
    fn entry<'t>(
        &self,
        rows: &'t [Option<Entry>],
        encoding: &'static str,
        opcode: u32,
    ) -> Result<&'t Entry, DecodeError> {
        match rows.get(opcode as usize) {
            Some(Some(entry)) => Ok(entry),
            _ => Err(self.no_opcode(encoding, opcode)),
        }
    }

    #[cold]
    fn no_opcode(&self, encoding: &'static str, opcode: u32) -> DecodeError {
        DecodeError::Opcode { word: self.word, target: self.tables.target, encoding, opcode: opcode as u16 }
    }

    /// The next word: the second half of a 64-bit encoding, a literal, an SDWA or a DPP word.
    fn next(&mut self) -> Result<u32, DecodeError> {
        let word = *self.code.get(usize::from(self.words)).ok_or(DecodeError::Truncated { word: self.word })?;
        self.words += 1;
        Ok(word)
    }

    /// The literal that follows a 32-bit encoding; two operands that ask for it share one.
    fn literal(&mut self) -> Result<Operand, DecodeError> {
        let literal = match self.literal {
            Some(literal) => literal,
            None => self.next()?,
        };
        self.literal = Some(literal);
        Ok(Operand::Literal(literal))
    }

    fn reserved(&self, code: u32) -> DecodeError {
        DecodeError::Operand { word: self.word, code: code as u16 }
    }

    /// A source by its 9-bit code (or 8-bit, for a scalar one). A literal is taken only where `literals` says so.
    fn source(&mut self, code: u32, ty: Ty, literals: bool) -> Result<Operand, DecodeError> {
        match self.tables.operands[(code & 511) as usize] {
            Operand::None if code == 255 && literals => self.literal(),
            Operand::None => Err(self.reserved(code)),
            Operand::Sgpr(first) if ty.dwords() > 1 => self.sgprs(u32::from(first), ty.dwords()),
            Operand::Vgpr(first) if ty.dwords() > 1 => self.vgprs(u32::from(first), ty.dwords()),
            operand => Ok(operand),
        }
    }

    /// A scalar register operand (a destination, or data): no constants.
    fn sreg(&self, code: u32, ty: Ty) -> Result<Operand, DecodeError> {
        match self.tables.operands[(code & 511) as usize] {
            Operand::Sgpr(first) if ty.dwords() > 1 => self.sgprs(u32::from(first), ty.dwords()),
            operand @ Operand::Sgpr(_) => Ok(operand),
            _ => Err(self.reserved(code)),
        }
    }

    /// `dwords` scalar registers from `first`: the lowest bit of a pair is ignored, wider groups are aligned to 4.
    fn sgprs(&self, first: u32, dwords: u8) -> Result<Operand, DecodeError> {
        let dwords = u32::from(dwords);
        let sgprs = u32::from(self.tables.generation.sgprs());
        let traps = if self.tables.generation == Gen::Gfx9 { 108 } else { 112 };
        let in_file = first < sgprs || (traps..124).contains(&first);
        let aligned = first & !(if dwords > 2 { 3 } else { 1 });
        let last = aligned + dwords;
        let fits = if dwords > 2 && aligned != first {
            false
        } else if in_file {
            last <= sgprs || aligned >= traps && last <= 124
        } else {
            dwords == 2 && aligned == first && first != 124
        };
        if fits { Ok(Operand::Sgpr(aligned as u8)) } else { Err(self.reserved(first)) }
    }

    /// `dwords` vector registers from `first`.
    fn vgprs(&self, first: u32, dwords: u8) -> Result<Operand, DecodeError> {
        let first = first & 255;
        if first + u32::from(dwords) <= 256 { Ok(Operand::Vgpr(first as u8)) } else { Err(self.reserved(256 + first)) }
    }

    /// An instruction without operands yet, of the words taken so far.
    fn make(&self, op: crate::Op, format: Format) -> Inst {
        Inst {
            op,
            format,
            words: self.words,
            dst: [Operand::None; 2],
            src: [Operand::None; 4],
            mods: Mods::default(),
            ext: Ext::None,
        }
    }
}
