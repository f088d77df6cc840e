//! Instructions to text, as llvm-mc prints it: mnemonic, operands, modifiers, single spaces.

mod labels;
mod memory;
mod operand;
mod scalar;
mod vector;

pub use labels::{labels, text_at};
pub(crate) use memory::{data_format, number_format};
pub(crate) use scalar::{hwreg_id, message_id};

use std::fmt::Write;

use crate::gfx::{Gen, Target};
use crate::inst::{Ext, Format, Inst};
use crate::op::{Code, Note, OpInfo};
use crate::operand::{Operand, Ty};
use crate::table::{Op, Vop1};

/// The text of `inst` as `llvm-mc` prints it for `target`; branch targets are the dword offset.
pub fn text(inst: &Inst, target: Target) -> String {
    let mut text = Text {
        out: String::with_capacity(64),
        inst,
        info: inst.op.info(),
        target,
        generation: target.generation(),
        operands: 0,
    };
    text.mnemonic();
    match inst.format {
        Format::Sop2 | Format::Sop1 | Format::Sopc => text.scalar(),
        Format::Sopk => text.sopk(),
        Format::Sopp => text.sopp(),
        Format::Smem => text.smem(),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3a | Format::Vop3b => text.vector(),
        Format::Vop3p => text.vop3p(),
        Format::Vintrp => text.vintrp(),
        Format::Ds => text.ds(),
        Format::Mubuf | Format::Mtbuf => text.buffer(),
        Format::Flat => text.flat(),
        Format::Mimg => text.mimg(),
        Format::Exp => text.exp(),
    }
    text.out
}

/// A line being written.
struct Text<'a> {
    out: String,
    inst: &'a Inst,
    info: &'static OpInfo,
    target: Target,
    generation: Gen,
    /// Operands written so far.
    operands: u32,
}

impl Text<'_> {
    /// Appends formatted text; writing to a string cannot fail.
    fn put(&mut self, args: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(args);
    }

    /// What stands before an operand: a space, or a comma and a space.
    fn separator(&mut self) {
        self.out.push_str(if self.operands == 0 { " " } else { ", " });
        self.operands += 1;
    }

    /// An operand that is a plain word.
    fn word(&mut self, word: &str) {
        self.separator();
        self.out.push_str(word);
    }

    /// An operand that is formatted text.
    fn item(&mut self, args: std::fmt::Arguments<'_>) {
        self.separator();
        self.put(args);
    }

    /// An operand of type `ty`.
    fn operand(&mut self, operand: Operand, ty: Ty) {
        self.separator();
        operand::write(&mut self.out, operand, ty, self.generation);
    }

    /// Registers, as many as said.
    fn registers(&mut self, operand: Operand, dwords: u32) {
        self.separator();
        operand::registers(&mut self.out, operand, dwords, self.generation);
    }

    /// ` word` if `on`.
    fn flag(&mut self, on: bool, word: &str) {
        if on {
            self.out.push(' ');
            self.out.push_str(word);
        }
    }

    fn mnemonic(&mut self) {
        let name = self.info.name_on(self.generation);
        match (self.inst.format, self.inst.mem().seg) {
            (Format::Flat, 1) => self.put(format_args!("scratch{}", &name[4..])),
            (Format::Flat, 2) => self.put(format_args!("global{}", &name[4..])),
            _ => self.out.push_str(name),
        }
        self.out.push_str(self.suffix());
    }

    /// The encoding's suffix; operations with one encoding only have none.
    fn suffix(&self) -> &'static str {
        let op = self.inst.op;
        let only_long = matches!(self.info.code(self.generation), Some(Code::Vop3(_)));
        let long = self.inst.format == Format::Vop3a;
        if self.info.has(Note::NoVop3) && !long || only_long || matches!(op, Op::Vop1(Vop1::v_nop | Vop1::v_clrexcp)) {
            return "";
        }
        match (self.inst.format, self.inst.ext) {
            (Format::Vopc, Ext::Sdwa(_)) if self.generation == Gen::Gfx8 => "",
            (Format::Vintrp, _) if self.generation < Gen::Gfx8 => "",
            (_, Ext::Sdwa(_)) => "_sdwa",
            (_, Ext::Dpp(_)) => "_dpp",
            (Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp, _) => "_e32",
            (Format::Vop3a | Format::Vop3b, _) if !matches!(op, Op::Vop3(_)) => "_e64",
            _ => "",
        }
    }
}
