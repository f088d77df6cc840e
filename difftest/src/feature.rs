//! What there is to vary in an instruction: modifiers, operand kinds, memory fields.
//!
//! A feature can be put into an instruction and be seen in one. Which ones a row allows in an encoding is not listed
//! here: the encoder and the decoder say so, see [`allowed`].

use crate::generate::{is_control, is_executed};
use crate::program::canonical;
use crate::random::Random;
use crate::words::draw;
use gcnjit_isa::image::flag;
use gcnjit_isa::{Dpp, Encoding, Ext, Format, Inst, Mem, Op, Operand, Sdwa, Sel, Target, Ty, Unused};
use std::fmt;

/// One thing that may be the case in an instruction. Numbers name sources, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Magnitude.
    Abs(u8),
    /// Sign changed.
    Neg(u8),
    /// Sign of the high half changed.
    NegHi(u8),
    /// Output modifier, 1 to 3.
    Omod(u8),
    /// Clamp.
    Clamp,
    /// Half picked; 3 is the destination's.
    OpSel(u8),
    /// The low half picked for the high result (the high one is usual).
    OpSelHi(u8),
    /// SDWA: the part of the destination.
    DstSel(u8),
    /// SDWA: sign-extended or preserved bits of the destination.
    DstUnused(u8),
    /// SDWA: the part of a source.
    SrcSel(u8, u8),
    /// SDWA: a source that is sign-extended.
    Sext(u8),
    /// DPP: a kind of lane movement, see `DPP`.
    Dpp(u8),
    /// DPP: lanes without a source read 0.
    BoundCtrl,
    /// DPP: some rows or banks are not written.
    RowMask,
    /// See `RowMask`.
    BankMask,
    /// A source is of a kind.
    Source(u8, Kind),
    /// A bit of the memory fields.
    Flag(Flag),
}

/// Where a source comes from.
#[allow(missing_docs, reason = "they say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Vgpr,
    Sgpr,
    Vcc,
    M0,
    Exec,
    InlineInt,
    InlineFloat,
    Literal,
    Special,
}

/// Fields of memory instructions that are on or off.
#[allow(missing_docs, reason = "named as in `gcnjit_isa::Mem`")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    Glc,
    Slc,
    Tfe,
    Idxen,
    Offen,
    Addr64,
    Lds,
    Gds,
    Imm,
    Nv,
    Offset,
    NegativeOffset,
    Offset1,
    Scratch,
    Global,
    ScalarBase,
    Unorm,
    Array,
    /// A16 on gfx9.
    R128,
    Lwe,
    D16,
}

use Flag::{
    Addr64, Array, D16, Gds, Glc, Global, Idxen, Imm, Lds, Lwe, NegativeOffset, Nv, Offen, Offset, Offset1, R128,
    ScalarBase, Scratch, Slc, Tfe, Unorm,
};
use Kind::{Exec, InlineFloat, InlineInt, Literal, M0, Sgpr, Special, Vcc, Vgpr};

const KINDS: [Kind; 9] = [Vgpr, Sgpr, Vcc, M0, Exec, InlineInt, InlineFloat, Literal, Special];
const FLAGS: [Flag; 21] = [
    Glc,
    Slc,
    Tfe,
    Idxen,
    Offen,
    Addr64,
    Lds,
    Gds,
    Imm,
    Nv,
    Offset,
    NegativeOffset,
    Offset1,
    Scratch,
    Global,
    ScalarBase,
    Unorm,
    Array,
    R128,
    Lwe,
    D16,
];
const SELS: [Sel; 7] = [Sel::Byte0, Sel::Byte1, Sel::Byte2, Sel::Byte3, Sel::Word0, Sel::Word1, Sel::Dword];

/// Lane movements: a name, and the control values from the first to the second.
const DPP: [(&str, u16, u16); 12] = [
    ("quad_perm", 0x000, 0x0ff),
    ("row_shl", 0x101, 0x10f),
    ("row_shr", 0x111, 0x11f),
    ("row_ror", 0x121, 0x12f),
    ("wave_shl", 0x130, 0x130),
    ("wave_rol", 0x134, 0x134),
    ("wave_shr", 0x138, 0x138),
    ("wave_ror", 0x13c, 0x13c),
    ("row_mirror", 0x140, 0x140),
    ("row_half_mirror", 0x141, 0x141),
    ("row_bcast15", 0x142, 0x142),
    ("row_bcast31", 0x143, 0x143),
];

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::Abs(i) => write!(f, "abs{i}"),
            Feature::Neg(i) => write!(f, "neg{i}"),
            Feature::NegHi(i) => write!(f, "neg_hi{i}"),
            Feature::Omod(i) => write!(f, "omod{i}"),
            Feature::Clamp => f.write_str("clamp"),
            Feature::OpSel(i) => write!(f, "op_sel{i}"),
            Feature::OpSelHi(i) => write!(f, "op_sel_hi{i}"),
            Feature::DstSel(sel) => write!(f, "dst_sel:{:?}", SELS[usize::from(*sel)]),
            Feature::DstUnused(1) => f.write_str("dst_unused:Sext"),
            Feature::DstUnused(_) => f.write_str("dst_unused:Preserve"),
            Feature::SrcSel(i, sel) => write!(f, "src{i}_sel:{:?}", SELS[usize::from(*sel)]),
            Feature::Sext(i) => write!(f, "sext{i}"),
            Feature::Dpp(kind) => f.write_str(DPP[usize::from(*kind)].0),
            Feature::BoundCtrl => f.write_str("bound_ctrl"),
            Feature::RowMask => f.write_str("row_mask"),
            Feature::BankMask => f.write_str("bank_mask"),
            Feature::Source(i, kind) => write!(f, "src{i}:{kind:?}"),
            Feature::Flag(flag) => write!(f, "{flag:?}"),
        }
    }
}

impl Feature {
    /// Every feature that some instruction may have.
    pub fn all() -> &'static [Feature] {
        static ALL: std::sync::OnceLock<Vec<Feature>> = std::sync::OnceLock::new();
        ALL.get_or_init(Feature::listed)
    }

    fn listed() -> Vec<Feature> {
        let mut all = vec![Feature::Clamp, Feature::BoundCtrl, Feature::RowMask, Feature::BankMask];
        for i in 0..4 {
            all.extend([Feature::OpSel(i)]);
            all.extend(KINDS.map(|kind| Feature::Source(i, kind)));
        }
        for i in 0..3 {
            all.extend([
                Feature::Abs(i),
                Feature::Neg(i),
                Feature::NegHi(i),
                Feature::OpSelHi(i),
                Feature::Omod(i + 1),
            ]);
        }
        for i in 0..2 {
            all.extend([Feature::Sext(i), Feature::DstUnused(i + 1)]);
            all.extend((0..6).map(|sel| Feature::SrcSel(i, sel)));
        }
        all.extend((0..6).map(Feature::DstSel));
        all.extend((0..DPP.len() as u8).map(Feature::Dpp));
        all.extend(FLAGS.map(Feature::Flag));
        all
    }

    /// The features that the instruction has.
    pub fn of(inst: &Inst) -> impl Iterator<Item = Feature> {
        Feature::all().iter().copied().filter(|feature| feature.is_in(inst))
    }

    /// Whether the instruction has it.
    pub fn is_in(self, inst: &Inst) -> bool {
        let mods = &inst.mods;
        let bit = |set: u8, i: u8| set >> i & 1 != 0;
        match self {
            Feature::Abs(i) => bit(mods.abs, i),
            Feature::Neg(i) => bit(mods.neg, i),
            Feature::NegHi(i) => bit(mods.neg_hi, i),
            Feature::Omod(omod) => mods.omod == omod,
            Feature::Clamp => mods.clamp,
            Feature::OpSel(i) => bit(mods.op_sel, i),
            Feature::OpSelHi(i) => inst.format == Format::Vop3p && !bit(mods.op_sel_hi, i),
            Feature::Source(i, kind) => kind_of(inst, usize::from(i)) == Some(kind),
            Feature::Flag(flag) => matches!(inst.ext, Ext::Mem(_)) && flag.is_in(&inst.mem(), inst),
            _ => match inst.ext {
                Ext::Sdwa(sdwa) => self.is_in_sdwa(&sdwa),
                Ext::Dpp(dpp) => self.is_in_dpp(&dpp),
                _ => false,
            },
        }
    }

    fn is_in_sdwa(self, sdwa: &Sdwa) -> bool {
        match self {
            Feature::DstSel(sel) => sdwa.dst_sel == SELS[usize::from(sel)],
            Feature::DstUnused(unused) => sdwa.dst_unused as u8 == unused,
            Feature::SrcSel(i, sel) => sdwa.src_sel[usize::from(i)] == SELS[usize::from(sel)],
            Feature::Sext(i) => sdwa.sext >> i & 1 != 0,
            _ => false,
        }
    }

    fn is_in_dpp(self, dpp: &Dpp) -> bool {
        match self {
            Feature::Dpp(kind) => (DPP[usize::from(kind)].1..=DPP[usize::from(kind)].2).contains(&dpp.ctrl),
            Feature::BoundCtrl => dpp.bound_ctrl,
            Feature::RowMask => dpp.row_mask != 15,
            Feature::BankMask => dpp.bank_mask != 15,
            _ => false,
        }
    }

    /// The instruction with the feature; it may have no encoding then.
    pub fn put(self, random: &mut Random, mut inst: Inst) -> Inst {
        match self {
            Feature::Abs(i) => inst.mods.abs |= 1 << i,
            Feature::Neg(i) => inst.mods.neg |= 1 << i,
            Feature::NegHi(i) => inst.mods.neg_hi |= 1 << i,
            Feature::Omod(omod) => inst.mods.omod = omod,
            Feature::Clamp => inst.mods.clamp = true,
            Feature::OpSel(i) => inst.mods.op_sel |= 1 << i,
            Feature::OpSelHi(i) => inst.mods.op_sel_hi &= !(1 << i),
            Feature::Source(i, kind) => inst = with_source(random, inst, usize::from(i), kind),
            Feature::Flag(flag) => flag.put(random, &mut inst),
            _ => match &mut inst.ext {
                Ext::Sdwa(sdwa) => self.put_sdwa(sdwa),
                Ext::Dpp(dpp) => self.put_dpp(random, dpp),
                _ => {}
            },
        }
        inst
    }

    fn put_sdwa(self, sdwa: &mut Sdwa) {
        match self {
            Feature::DstSel(sel) => sdwa.dst_sel = SELS[usize::from(sel)],
            Feature::DstUnused(1) => sdwa.dst_unused = Unused::Sext,
            Feature::DstUnused(_) => sdwa.dst_unused = Unused::Preserve,
            Feature::SrcSel(i, sel) => sdwa.src_sel[usize::from(i)] = SELS[usize::from(sel)],
            Feature::Sext(i) => sdwa.sext |= 1 << i,
            _ => {}
        }
    }

    fn put_dpp(self, random: &mut Random, dpp: &mut Dpp) {
        match self {
            Feature::Dpp(kind) => {
                let (_, first, last) = DPP[usize::from(kind)];
                dpp.ctrl = first + random.below(u64::from(last - first) + 1) as u16;
            }
            Feature::BoundCtrl => dpp.bound_ctrl = true,
            Feature::RowMask => dpp.row_mask = random.below(15) as u8,
            Feature::BankMask => dpp.bank_mask = random.below(15) as u8,
            _ => {}
        }
    }
}

/// The kind of source `i`, if the row has one that is not implied.
fn kind_of(inst: &Inst, i: usize) -> Option<Kind> {
    inst.op.info().srcs.get(i).filter(|ty| **ty != Ty::scc)?;
    Some(match inst.src[i] {
        Operand::Vgpr(_) => Vgpr,
        Operand::Sgpr(106 | 107) => Vcc,
        Operand::Sgpr(124) => M0,
        Operand::Sgpr(126 | 127) => Exec,
        Operand::Sgpr(_) => Sgpr,
        Operand::Inline(0..240) => InlineInt,
        Operand::Inline(_) => InlineFloat,
        Operand::Literal(_) => Literal,
        Operand::Special(_) | Operand::Scc => Special,
        Operand::None | Operand::Imm(_) => return None,
    })
}

fn with_source(random: &mut Random, mut inst: Inst, i: usize, kind: Kind) -> Inst {
    if inst.op.info().srcs.get(i).is_none_or(|ty| *ty == Ty::scc) {
        return inst;
    }
    inst.src[i] = match kind {
        Vgpr => Operand::Vgpr(random.below(10) as u8),
        Sgpr => Operand::Sgpr(random.below(8) as u8 * 2),
        Vcc => Operand::VCC,
        M0 => Operand::M0,
        Exec => Operand::EXEC,
        InlineInt => Operand::Inline(128 + random.below(81) as u8),
        InlineFloat => Operand::Inline(240 + random.below(8) as u8),
        Literal => Operand::Literal(random.dword()),
        Special => Operand::Special(random.pick(&[251, 252, 253])),
    };
    if inst.src[i] == Operand::Special(253) {
        inst.src[i] = Operand::Scc;
    }
    inst
}

impl Flag {
    fn is_in(self, mem: &Mem, inst: &Inst) -> bool {
        match self {
            Glc => mem.glc,
            Slc => mem.slc,
            Tfe => mem.tfe,
            Idxen => mem.idxen,
            Offen => mem.offen,
            Addr64 => mem.addr64,
            Lds => mem.lds,
            Gds => mem.gds,
            Imm => mem.imm,
            Nv => mem.nv,
            Offset => mem.offset > 0,
            NegativeOffset => mem.offset < 0,
            Offset1 => mem.offset1 != 0,
            Scratch => mem.seg == 1,
            Global => mem.seg == 2,
            ScalarBase => inst.format == Format::Flat && inst.src[2] != Operand::None,
            Unorm | Array | R128 | Lwe | D16 => inst.format == Format::Mimg && mem.flags & self.image_bit() != 0,
        }
    }

    /// The bit of an image instruction's flags.
    fn image_bit(self) -> u8 {
        match self {
            Unorm => flag::UNORM,
            Array => flag::ARRAY,
            R128 => flag::R128,
            Lwe => flag::LWE,
            D16 => flag::D16,
            _ => 0,
        }
    }

    fn put(self, random: &mut Random, inst: &mut Inst) {
        if self == ScalarBase && inst.format == Format::Flat {
            inst.src[2] = Operand::Sgpr(random.below(8) as u8 * 2);
        }
        let Ext::Mem(mem) = &mut inst.ext else { return };
        match self {
            Glc => mem.glc = true,
            Slc => mem.slc = true,
            Tfe => mem.tfe = true,
            Idxen => mem.idxen = true,
            Offen => mem.offen = true,
            Addr64 => (mem.addr64, mem.idxen, mem.offen) = (true, false, false),
            Lds => mem.lds = true,
            Gds => mem.gds = true,
            Imm => mem.imm = true,
            Nv => mem.nv = true,
            Offset => mem.offset = 4 + 4 * random.below(15) as i32,
            NegativeOffset => mem.offset = -4 - 4 * random.below(15) as i32,
            Offset1 => mem.offset1 = 1 + random.below(15) as u8,
            Scratch => mem.seg = 1,
            Global => mem.seg = 2,
            Unorm | Array | R128 | Lwe | D16 => mem.flags |= self.image_bit(),
            ScalarBase => {}
        }
    }
}

/// The features that a row may have in an encoding.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Those that both engines execute in some instruction.
    pub executed: Vec<Feature>,
    /// Those that decode, and are refused.
    pub refused: Vec<Feature>,
}

/// What a row allows in an encoding: each feature was put into random instructions of the row, and one of them had
/// words that mean it. Registers that hold addresses are the generator's choice and no features.
pub fn allowed(op: Op, encoding: Encoding, target: Target) -> Allowed {
    const ATTEMPTS: usize = 8;
    let mut random = Random::new(7);
    let bases: Vec<Inst> = (0..ATTEMPTS).filter_map(|_| draw(&mut random, op, encoding, target)).collect();
    let mut allowed = Allowed::default();
    for feature in Feature::all().iter().copied().filter(|feature| feature.is_free(op)) {
        let shown = bases.iter().filter_map(|base| match feature.is_in(base) {
            true => Some(*base),
            false => with(&mut random, *base, feature, target),
        });
        let shown: Vec<bool> = shown.map(|inst| is_executed(&inst, target)).collect();
        match (shown.contains(&true), shown.is_empty()) {
            (true, _) => allowed.executed.push(feature),
            (false, false) => allowed.refused.push(feature),
            (false, true) => {}
        }
    }
    allowed
}

impl Feature {
    /// Whether a program may have the feature anywhere: control flow has its own registers, and so have addresses.
    fn is_free(self, op: Op) -> bool {
        match (self, op) {
            _ if is_control(op) => false,
            (Feature::Source(..), Op::Mimg(_)) => false,
            (Feature::Source(i, _), Op::Mubuf(_) | Op::Mtbuf(_)) => i == 2,
            (Feature::Source(i, _), Op::Smem(_)) => i == 1,
            (Feature::Source(..), _) => op.memory().is_none(),
            _ => true,
        }
    }
}

/// `inst` with the feature, if that has an encoding.
pub fn with(random: &mut Random, inst: Inst, feature: Feature, target: Target) -> Option<Inst> {
    let inst = feature.put(random, inst);
    // The size follows from the operands, but for what has no choice.
    let inst = Inst { words: if inst.words == 3 { 3 } else { 1 }, ..inst };
    canonical(inst, target).filter(|inst| feature.is_in(inst))
}
