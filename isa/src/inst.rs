//! A decoded instruction.

use crate::gfx::{Gen, Target};
use crate::operand::{Operand, Ty};
use crate::table::Op;

/// The encoding an instruction came in. Executors do not ask; the disassembler and the encoder do.
#[allow(missing_docs, reason = "the manual's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vop3a,
    Vop3b,
    Vop3p,
    Ds,
    Mubuf,
    Mtbuf,
    Flat,
    Mimg,
    Vintrp,
    Exp,
}

/// Modifiers of a vector ALU instruction, as every encoding that has them expresses them.
/// Bit `i` of a set stands for source `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods {
    /// Sources whose magnitude is taken before `neg`. Only sources of a float type, and those of `v_cndmask_b32`, have
    /// it; bits for others are cleared at decode. Integer SDWA sign extension is in [`Sdwa`].
    pub abs: u8,
    /// Sources that are negated (those that `abs` may have), or in VOP3P whose low half is.
    pub neg: u8,
    /// VOP3P: sources whose high half is negated.
    pub neg_hi: u8,
    /// Output modifier: 0 none, 1 ×2, 2 ×4, 3 ÷2.
    pub omod: u8,
    /// Clamp: to [0, 1] for floats, saturate for integers that define it.
    pub clamp: bool,
    /// Which half of a dword: bit `i` source `i` (VOP3P: for the low result), bit 3 the destination (VOP3).
    pub op_sel: u8,
    /// VOP3P: which half source `i` gives to the high result.
    pub op_sel_hi: u8,
}

/// The byte, word or dword that SDWA selects.
#[allow(missing_docs, reason = "the manual's names")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sel {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    #[default]
    Dword,
}

/// What SDWA does with the destination bits that it does not select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unused {
    /// Zero.
    #[default]
    Pad,
    /// Sign-extend the result.
    Sext,
    /// Keep the old bits.
    Preserve,
}

/// Sub-dword addressing: which part of each operand a VOP1, VOP2 or VOPC instruction uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// Part of the destination that is written.
    pub dst_sel: Sel,
    /// What happens to the rest of it.
    pub dst_unused: Unused,
    /// Part of source 0 and source 1 that is read.
    pub src_sel: [Sel; 2],
    /// Sources that are sign-extended; bit `i` is source `i`.
    pub sext: u8,
}

/// Data-parallel primitive: source 0 comes from another lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dpp {
    /// The 9-bit control field: quad_perm, row_shl, wave_shl, row_mirror, row_bcast … (GCN3 manual, DPP_CTRL).
    pub ctrl: u16,
    /// Lanes whose source lane is out of range read 0 and are written; otherwise they are not written.
    pub bound_ctrl: bool,
    /// Banks (lane mod 16 / 4) that are written.
    pub bank_mask: u8,
    /// Rows (lane / 16) that are written.
    pub row_mask: u8,
}

/// Memory and export fields. Operand positions are fixed by the format, see [`Inst`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mem {
    /// Byte offset; signed where the encoding's field is. For SMRD with an immediate it is in bytes too.
    /// DS with two addresses: the first offset, in the units that the row's [`Offsets`](crate::Note::Offsets) gives.
    pub offset: i32,
    /// DS: second offset of a two-address instruction, in the same units.
    pub offset1: u8,
    /// Globally coherent; for atomics: return the old value.
    pub glc: bool,
    /// System-level coherent.
    pub slc: bool,
    /// Texture fail enable.
    pub tfe: bool,
    /// MUBUF: address from VGPRs holds an index.
    pub idxen: bool,
    /// MUBUF: address from VGPRs holds an offset.
    pub offen: bool,
    /// MUBUF gfx6, gfx7: 64-bit address in two VGPRs.
    pub addr64: bool,
    /// MUBUF: data goes to LDS. FLAT on gfx9: the same.
    pub lds: bool,
    /// DS: global data share instead of LDS.
    pub gds: bool,
    /// SMEM: the offset is the immediate (`offset`), not an SGPR.
    pub imm: bool,
    /// FLAT on gfx9: non-volatile.
    pub nv: bool,
    /// FLAT on gfx9: 0 flat, 1 scratch, 2 global.
    pub seg: u8,
    /// MTBUF: data format and number format.
    pub dfmt: u8,
    /// MTBUF: number format.
    pub nfmt: u8,
    /// MIMG: components; EXP: enabled channels.
    pub dmask: u8,
    /// MIMG: bit 0 unorm, 1 da, 2 r128 (a16 on gfx9), 3 lwe, 4 d16. EXP: bit 0 compr, 1 done, 2 vm.
    /// Interpolation: bits 0 and 1 channel, 2 high half (VOP3 form).
    pub flags: u8,
    /// EXP: target. VINTRP: attribute.
    pub target: u8,
}

/// The part of an instruction that only some encodings have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ext {
    /// Nothing more.
    #[default]
    None,
    /// A second word of sub-dword selects.
    Sdwa(Sdwa),
    /// A second word of lane movement.
    Dpp(Dpp),
    /// Memory or export.
    Mem(Mem),
}

/// A decoded instruction. All operands are explicit: a carry in VCC is an operand like any other.
///
/// Operand positions, beyond what a row's types say:
/// - SMEM: `src` = [base, SGPR offset or None, data (stores, atomics)]; `dst[0]` = loaded SGPRs. `Mem::offset` adds to
///   an SGPR offset where gfx9 has both.
/// - DS: `src` = [address, data0, data1]; `dst[0]` = VGPR.
/// - MUBUF, MTBUF: `src` = [vaddr or None, resource, soffset, data]; `dst[0]` = data register for loads and returning
///   atomics. A d16 load has its destination as data too.
/// - FLAT: `src` = [address or None, data or None, saddr or None]; `dst[0]` = VGPR for loads and returning atomics.
///   A d16 load has its destination as data.
/// - MIMG: `src` = [vaddr, resource, sampler or None, data]; `dst[0]` = data register for loads.
/// - EXP: `src` = four VGPRs. VINTRP: `src[0]` = VGPR or parameter number, `dst[0]` = VGPR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The row.
    pub op: Op,
    /// The encoding it came in.
    pub format: Format,
    /// How many dwords it takes, 1 to 3.
    pub words: u8,
    /// Results, in the order of the row's types.
    pub dst: [Operand; 2],
    /// Sources, in the order of the row's types.
    pub src: [Operand; 4],
    /// Modifiers.
    pub mods: Mods,
    /// SDWA, DPP or memory fields.
    pub ext: Ext,
}

impl Inst {
    /// The memory fields; all-default for an instruction without any.
    pub fn mem(&self) -> Mem {
        match self.ext {
            Ext::Mem(mem) => mem,
            _ => Mem::default(),
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u32 {
        u32::from(self.words) * 4
    }

    /// For a branch at `pc`: the address of its target, from its label.
    pub fn branch_target(&self, pc: u64) -> Option<u64> {
        let label = self.op.info().srcs.iter().position(|ty| *ty == Ty::label)?;
        match self.src[label] {
            Operand::Imm(dwords) => Some(pc.wrapping_add(4).wrapping_add_signed(i64::from(dwords) * 4)),
            _ => None,
        }
    }

    /// How many dwords the data registers of a buffer or image instruction span on `target`: by the row's types, or the
    /// image's component mask, and one more under TFE. D16 data is packed from gfx810 on.
    pub fn data_dwords(&self, target: Target) -> u32 {
        let (info, mem) = (self.op.info(), self.mem());
        let packs = target.generation() == Gen::Gfx9 || target == Target::Gfx810;
        let dwords = match self.format {
            Format::Mimg => self.image_components(packs),
            _ => match info.name.split_once("_format_d16_") {
                Some((_, components)) if !packs => components.len() as u32,
                _ => info.srcs.get(3).or(info.dsts.first()).map_or(0, |ty| u32::from(ty.dwords())),
            },
        };
        dwords + u32::from(mem.tfe)
    }
}
