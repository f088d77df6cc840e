//! What the decoder looks up: per target, opcode to row and operand code to operand.

use std::sync::OnceLock;

use crate::gfx::{Gen, Target};
use crate::op::{Access, Code, Note};
use crate::operand::{Operand, Ty};
use crate::table::{Op, Vop2};

/// A row as the decoder needs it: everything in a few bytes, no searching through notes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub op: Op,
    pub dst: [Option<Ty>; 2],
    pub src: [Option<Ty>; 4],
    pub flags: u16,
    /// Sources that take abs and neg; bit `i` is source `i`. The others have sext under SDWA.
    pub floats: u8,
    /// All sources, a bit each.
    pub sources: u8,
}

/// Bits of [`Entry::flags`].
pub(super) mod flag {
    /// [`Note::Acc`](crate::Note::Acc).
    pub const ACC: u16 = 1 << 0;
    /// [`Note::Konst`](crate::Note::Konst) of source 1.
    pub const KONST1: u16 = 1 << 1;
    /// [`Note::Konst`](crate::Note::Konst) of source 2.
    pub const KONST2: u16 = 1 << 2;
    /// Either of them.
    pub const KONST: u16 = KONST1 | KONST2;
    /// [`Note::Vop3b`](crate::Note::Vop3b).
    pub const VOP3B: u16 = 1 << 3;
    /// [`Note::ScalarDst`](crate::Note::ScalarDst), or a lane mask as the first result.
    pub const SDST: u16 = 1 << 4;
    /// [`Note::Offsets`](crate::Note::Offsets).
    pub const OFFSETS: u16 = 1 << 5;
    /// [`Note::NoAddr`](crate::Note::NoAddr).
    pub const NO_ADDR: u16 = 1 << 6;
    /// [`Note::Scratch`](crate::Note::Scratch).
    pub const SCRATCH: u16 = 1 << 7;
    /// [`Note::Attr`](crate::Note::Attr).
    pub const ATTR: u16 = 1 << 8;
    /// [`Note::Mix`](crate::Note::Mix).
    pub const MIX: u16 = 1 << 9;
    /// [`Note::OpSel`](crate::Note::OpSel).
    pub const OP_SEL: u16 = 1 << 10;
    /// A vector operation that crosses lanes: its sources are scalar where others have VGPRs.
    pub const LANE: u16 = 1 << 11;
    /// May be followed by an SDWA word.
    pub const SDWA: u16 = 1 << 12;
    /// May be followed by a DPP word.
    pub const DPP: u16 = 1 << 13;
    /// An atomic: returns the old value only under GLC.
    pub const ATOMIC: u16 = 1 << 14;
}

impl Entry {
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn new(op: Op, target: Target) -> Entry {
        let info = op.info();
        let mut entry = Entry { op, dst: [None; 2], src: [None; 4], flags: 0, floats: 0, sources: 0 };
        for (to, from) in entry.dst.iter_mut().zip(info.dsts) {
            *to = Some(*from);
        }
        for (to, from) in entry.src.iter_mut().zip(info.srcs) {
            *to = Some(*from);
        }
        entry.flags = info.notes.iter().fold(0, |flags, note| flags | note_flag(*note));
        if entry.dst[0] == Some(Ty::mask) {
            entry.flags |= flag::SDST;
        }
        let generation = target.generation();
        entry.flags |= if op.takes_sdwa(generation) { flag::SDWA } else { 0 };
        entry.flags |= if op.takes_dpp(generation) { flag::DPP } else { 0 };
        let tied = if entry.is(flag::ACC) { info.srcs.len() - 1 } else { 4 };
        let select = op == Op::Vop2(Vop2::v_cndmask_b32);
        for (i, ty) in info.srcs.iter().enumerate() {
            let float = ty.is_float() || select && *ty == Ty::b32;
            entry.floats |= u8::from(float && i != tied) << i;
            entry.sources |= 1 << i;
        }
        entry
    }
}

fn note_flag(note: Note) -> u16 {
    match note {
        Note::Acc => flag::ACC,
        Note::Konst(1) => flag::KONST1,
        Note::Konst(_) => flag::KONST2,
        Note::Vop3b => flag::VOP3B,
        Note::ScalarDst => flag::SDST,
        Note::Offsets(_) => flag::OFFSETS,
        Note::NoAddr => flag::NO_ADDR,
        Note::Scratch => flag::SCRATCH,
        Note::Attr => flag::ATTR,
        Note::Mix => flag::MIX,
        Note::OpSel => flag::OP_SEL,
        Note::CrossLane => flag::LANE,
        Note::Mem(Access::Atomic, _) => flag::ATOMIC,
        _ => 0,
    }
}

/// The rows of one encoding by opcode.
pub(super) type Rows<const N: usize> = [Option<Entry>; N];

/// Everything the decoder knows of a target.
#[derive(Debug)]
pub(super) struct Tables {
    pub target: Target,
    pub generation: Gen,
    /// Operand by 9-bit code; `None` is reserved, a literal, or an SDWA or DPP escape.
    pub operands: [Operand; 512],
    pub sop2: Rows<128>,
    pub sopk: Rows<32>,
    pub sop1: Rows<256>,
    pub sopc: Rows<128>,
    pub sopp: Rows<128>,
    pub smem: Rows<256>,
    pub vop2: Rows<64>,
    pub vop1: Rows<256>,
    pub vopc: Rows<256>,
    pub vop3: Rows<1024>,
    pub vop3p: Rows<128>,
    pub ds: Rows<256>,
    pub mubuf: Rows<128>,
    pub mtbuf: Rows<16>,
    pub flat: Rows<128>,
    pub mimg: Rows<128>,
    pub vintrp: Rows<4>,
    pub exp: Rows<1>,
}

impl Tables {
    /// The tables of `target`, built on first use.
    pub fn of(target: Target) -> &'static Tables {
        static TABLES: [OnceLock<Box<Tables>>; Target::ALL.len()] = [const { OnceLock::new() }; Target::ALL.len()];
        TABLES[target as usize].get_or_init(|| Tables::build(target))
    }

    fn build(target: Target) -> Box<Tables> {
        let mut tables = Box::new(Tables {
            target,
            generation: target.generation(),
            operands: std::array::from_fn(|code| operand(code as u16, target.generation())),
            sop2: [None; 128],
            sopk: [None; 32],
            sop1: [None; 256],
            sopc: [None; 128],
            sopp: [None; 128],
            smem: [None; 256],
            vop2: [None; 64],
            vop1: [None; 256],
            vopc: [None; 256],
            vop3: [None; 1024],
            vop3p: [None; 128],
            ds: [None; 256],
            mubuf: [None; 128],
            mtbuf: [None; 16],
            flat: [None; 128],
            mimg: [None; 128],
            vintrp: [None; 4],
            exp: [None; 1],
        });
        for op in Op::all() {
            tables.insert(op);
        }
        tables
    }

    /// Puts a row where its opcode numbers say, if the target has it.
    fn insert(&mut self, op: Op) {
        let info = op.info();
        let Some(code) = info.code(self.generation).filter(|_| self.target.supports(op)) else { return };
        let entry = Some(Entry::new(op, self.target));
        let native = match code {
            Code::Native(native) => usize::from(native),
            Code::Vop3(vop3) => {
                self.vop3[usize::from(vop3)] = entry;
                return;
            }
        };
        if let Some(promoted) = op.promoted(self.generation) {
            self.vop3[usize::from(promoted)] = entry;
        }
        *self.slot(op, native) = entry;
    }

    fn slot(&mut self, op: Op, native: usize) -> &mut Option<Entry> {
        match op {
            Op::Sop2(_) => &mut self.sop2[native],
            Op::Sopk(_) => &mut self.sopk[native],
            Op::Sop1(_) => &mut self.sop1[native],
            Op::Sopc(_) => &mut self.sopc[native],
            Op::Sopp(_) => &mut self.sopp[native],
            Op::Smem(_) => &mut self.smem[native],
            Op::Vop2(_) => &mut self.vop2[native],
            Op::Vop1(_) => &mut self.vop1[native],
            Op::Vopc(_) => &mut self.vopc[native],
            Op::Vop3(_) => &mut self.vop3[native],
            Op::Vop3p(_) => &mut self.vop3p[native],
            Op::Ds(_) => &mut self.ds[native],
            Op::Mubuf(_) => &mut self.mubuf[native],
            Op::Mtbuf(_) => &mut self.mtbuf[native],
            Op::Flat(_) => &mut self.flat[native],
            Op::Mimg(_) => &mut self.mimg[native],
            Op::Vintrp(_) => &mut self.vintrp[native],
            Op::Exp(_) => &mut self.exp[native],
        }
    }
}

/// The operand that a 9-bit code names on a generation; `None` where it names none.
fn operand(code: u16, generation: Gen) -> Operand {
    let byte = code as u8;
    let from = |first: Gen| generation >= first;
    match code {
        0..=101 | 106..=107 | 124 | 126..=127 => Operand::Sgpr(byte),
        // Two more SGPRs, or FLAT_SCRATCH.
        102..=103 => Operand::Sgpr(byte),
        // FLAT_SCRATCH on gfx7, XNACK_MASK on gfx8 and gfx9.
        104..=105 if from(Gen::Gfx7) => Operand::Sgpr(byte),
        // TBA, TMA and trap temporaries.
        108..=123 => Operand::Sgpr(byte),
        128..=208 | 240..=247 => Operand::Inline(byte),
        248 if from(Gen::Gfx8) => Operand::Inline(byte),
        235..=239 if from(Gen::Gfx9) => Operand::Special(byte),
        251 | 252 | 254 => Operand::Special(byte),
        253 => Operand::Scc,
        256..=511 => Operand::Vgpr(byte),
        _ => Operand::None,
    }
}
