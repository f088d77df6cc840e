//! VOP, SDWA, DPP, VOP3P and interpolation text.

use super::{Text, operand};
use crate::inst::{Dpp, Ext, Format, Mods, Sdwa, Sel, Unused};
use crate::op::Note;
use crate::operand::{Operand, Ty};
use crate::table::{Op, Vop2};

impl Text<'_> {
    /// VOP1, VOP2, VOPC and VOP3.
    pub(super) fn vector(&mut self) {
        let inst = self.inst;
        if let Ext::Mem(_) = inst.ext {
            return self.interp_long();
        }
        for (operand, ty) in inst.dst.into_iter().zip(self.info.dsts).take(self.results()) {
            self.operand(operand, *ty);
        }
        let tied = self.info.srcs.len().wrapping_sub(1);
        for (i, (operand, ty)) in inst.src.into_iter().zip(self.info.srcs).enumerate() {
            if i == 3 || i == tied && self.info.has(Note::Acc) {
                continue;
            }
            if self.results() < self.info.dsts.len() && i > 0 {
                continue;
            }
            match operand {
                Operand::Literal(k) if self.info.has(Note::Konst(i as u8)) => self.item(format_args!("{k:#x}")),
                // llvm-mc does not take the exponent for the 16-bit integer that it is.
                _ if i == 1 && inst.op == Op::Vop2(Vop2::v_ldexp_f16) => self.source(i, operand, Ty::b32),
                _ => self.source(i, operand, *ty),
            }
        }
        self.op_sel();
        self.output();
        match inst.ext {
            Ext::Sdwa(sdwa) => self.sdwa(sdwa),
            Ext::Dpp(dpp) => self.dpp(dpp),
            _ => {}
        }
    }

    /// How many results are printed: the second register of a swap is a source in the text.
    fn results(&self) -> usize {
        match self.info.dsts {
            [_, second] if *second != Ty::mask => 1,
            all => all.len(),
        }
    }

    /// A source with its modifiers.
    fn source(&mut self, i: usize, operand: Operand, ty: Ty) {
        let Mods { abs, neg, .. } = self.inst.mods;
        let set = |bits: u8| bits >> i & 1 != 0;
        let sext = matches!(self.inst.ext, Ext::Sdwa(sdwa) if set(sdwa.sext));
        let constant = matches!(operand, Operand::Inline(_));
        let (open, close) = match (set(neg), set(abs)) {
            _ if sext => ("sext(", ")"),
            (true, false) if constant => ("neg(", ")"),
            (true, false) => ("-", ""),
            (false, true) => ("|", "|"),
            (true, true) => ("-|", "|"),
            (false, false) => ("", ""),
        };
        self.word(open);
        operand::write(&mut self.out, operand, ty, self.generation);
        self.out.push_str(close);
    }

    /// `op_sel:[a,b,d]` of VOP3, one element a source and the result last.
    fn op_sel(&mut self) {
        let bits = self.inst.mods.op_sel;
        if bits == 0 {
            return;
        }
        self.out.push_str(" op_sel:[");
        for i in 0..self.info.srcs.len() {
            self.put(format_args!("{},", bits >> i & 1));
        }
        self.put(format_args!("{}]", bits >> 3));
    }

    /// Clamp and output modifier.
    fn output(&mut self) {
        let Mods { clamp, omod, .. } = self.inst.mods;
        self.flag(clamp, "clamp");
        self.out.push_str(["", " mul:2", " mul:4", " div:2"][usize::from(omod & 3)]);
    }

    fn sdwa(&mut self, sdwa: Sdwa) {
        if self.inst.format != Format::Vopc && !self.info.dsts.is_empty() {
            let unused = match sdwa.dst_unused {
                Unused::Pad => "PAD",
                Unused::Sext => "SEXT",
                Unused::Preserve => "PRESERVE",
            };
            self.put(format_args!(" dst_sel:{} dst_unused:UNUSED_{unused}", sel(sdwa.dst_sel)));
        }
        let vgprs = self.info.srcs.len().min(if self.inst.format == Format::Vop1 { 1 } else { 2 });
        for (i, part) in sdwa.src_sel.into_iter().enumerate().take(vgprs) {
            self.put(format_args!(" src{i}_sel:{}", sel(part)));
        }
    }

    fn dpp(&mut self, dpp: Dpp) {
        let n = dpp.ctrl & 15;
        match dpp.ctrl {
            0..=0xff => {
                let lane = |i: u32| dpp.ctrl >> (2 * i) & 3;
                self.put(format_args!(" quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3)));
            }
            0x101..=0x10f => self.put(format_args!(" row_shl:{n}")),
            0x111..=0x11f => self.put(format_args!(" row_shr:{n}")),
            0x121..=0x12f => self.put(format_args!(" row_ror:{n}")),
            0x130 => self.out.push_str(" wave_shl:1"),
            0x134 => self.out.push_str(" wave_rol:1"),
            0x138 => self.out.push_str(" wave_shr:1"),
            0x13c => self.out.push_str(" wave_ror:1"),
            0x140 => self.out.push_str(" row_mirror"),
            0x141 => self.out.push_str(" row_half_mirror"),
            0x142 => self.out.push_str(" row_bcast:15"),
            0x143 => self.out.push_str(" row_bcast:31"),
            reserved => self.put(format_args!(" dpp_ctrl:{reserved:#x}")),
        }
        self.put(format_args!(" row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask));
        self.flag(dpp.bound_ctrl, "bound_ctrl:1");
    }

    pub(super) fn vop3p(&mut self) {
        let inst = self.inst;
        self.operand(inst.dst[0], self.info.dsts[0]);
        let mix = self.info.has(Note::Mix);
        for (i, (operand, ty)) in inst.src.into_iter().zip(self.info.srcs).enumerate() {
            if mix {
                self.source(i, operand, *ty);
            } else {
                self.operand(operand, *ty);
            }
        }
        let mods = inst.mods;
        let all = (1 << self.info.srcs.len()) - 1;
        self.list("op_sel", mods.op_sel, 0);
        self.list("op_sel_hi", mods.op_sel_hi, if mix { 0 } else { all });
        if !mix {
            self.list("neg_lo", mods.neg, 0);
            self.list("neg_hi", mods.neg_hi, 0);
        }
        self.flag(mods.clamp, "clamp");
    }

    /// ` name:[a,b,c]`, one element a source, unless the bits are the default ones.
    fn list(&mut self, name: &str, bits: u8, default: u8) {
        let sources = self.info.srcs.len();
        let all = (1 << sources) - 1;
        if bits & all == default {
            return;
        }
        self.put(format_args!(" {name}:["));
        for i in 0..sources {
            let comma = if i == 0 { "" } else { "," };
            self.put(format_args!("{comma}{}", bits >> i & 1));
        }
        self.out.push(']');
    }

    pub(super) fn vintrp(&mut self) {
        self.operand(self.inst.dst[0], Ty::f32);
        self.parameter();
        self.attribute();
    }

    /// Interpolation in the VOP3 encoding.
    fn interp_long(&mut self) {
        self.operand(self.inst.dst[0], Ty::f32);
        match self.inst.src[0] {
            Operand::Imm(_) => self.parameter(),
            vsrc => self.source(0, vsrc, Ty::f32),
        }
        self.attribute();
        if let Some(ty) = self.info.srcs.get(1)
            && !self.info.has(Note::Acc)
        {
            self.source(1, self.inst.src[1], *ty);
        }
        self.flag(self.inst.mem().flags & 4 != 0, "high");
        self.op_sel();
        self.output();
    }

    /// The VGPR, or for mov the number of the parameter.
    fn parameter(&mut self) {
        match self.inst.src[0] {
            Operand::Imm(0) => self.word("p10"),
            Operand::Imm(1) => self.word("p20"),
            Operand::Imm(2) => self.word("p0"),
            Operand::Imm(other) => self.item(format_args!("invalid_param_{other}")),
            vsrc => self.operand(vsrc, Ty::f32),
        }
    }

    fn attribute(&mut self) {
        let mem = self.inst.mem();
        let channel = ["x", "y", "z", "w"][usize::from(mem.flags & 3)];
        self.item(format_args!("attr{}.{channel}", mem.target));
    }
}

fn sel(sel: Sel) -> &'static str {
    match sel {
        Sel::Byte0 => "BYTE_0",
        Sel::Byte1 => "BYTE_1",
        Sel::Byte2 => "BYTE_2",
        Sel::Byte3 => "BYTE_3",
        Sel::Word0 => "WORD_0",
        Sel::Word1 => "WORD_1",
        Sel::Dword => "DWORD",
    }
}
