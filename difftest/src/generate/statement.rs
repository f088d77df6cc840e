//! Single instructions of a program: registers close together, so that instructions meet, and addresses aimed.
//!
//! Registers have purposes, so that a program stays within its bounds while its data is arbitrary: s0 to s15 and v0 to
//! v14 are data that any instruction may read or write; s16 to s31 and v16 to v23 belong to control flow
//! ([`super::flow`]); s32 to s99 and v24 to v63 hold addresses, each for one memory instruction.

use super::Generator;
use crate::aim::{aim, m0};
use crate::feature::{Feature, with};
use crate::image;
use crate::program::{Item, canonical};
use crate::words::draw;
use gcnjit_isa::{Encoding, Ext, Implicit, Inst, Note, Op, Operand, Sop1, Sop2, Sopc, Sopk, Sopp, Target, Ty};
use gcnjit_rt::{Mode, RegisterFile, Trap};
use gcnjit_translate::{AtEnd, Machine, build, cfg};

/// First and last plus one of the registers that hold addresses.
const ADDRESS_SGPRS: (u8, u8) = (32, 100);
const ADDRESS_VGPRS: (u8, u8) = (24, 64);

/// The registers that memory instructions have taken.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    sgpr: u8,
    vgpr: u8,
}

impl Default for Free {
    fn default() -> Free {
        Free { sgpr: ADDRESS_SGPRS.0, vgpr: ADDRESS_VGPRS.0 }
    }
}

impl Free {
    /// SGPRs, aligned; a multiple of four.
    fn sgprs(&mut self, count: u8) -> Option<Operand> {
        let first = self.sgpr;
        self.sgpr = first.saturating_add(count);
        (self.sgpr <= ADDRESS_SGPRS.1).then_some(Operand::Sgpr(first))
    }

    /// VGPRs.
    fn vgprs(&mut self, count: u8) -> Option<Operand> {
        let first = self.vgpr;
        self.vgpr = first.saturating_add(count);
        (self.vgpr <= ADDRESS_VGPRS.1).then_some(Operand::Vgpr(first))
    }
}

/// Whether both engines have the instruction in this form. The translator says it before anything runs; that the
/// interpreter agrees is for [`crate::machine`] to find out.
pub fn is_executed(inst: &Inst, target: Target) -> bool {
    let guest = cfg::GuestBlock { instructions: vec![(0x1000, *inst)] };
    let (registers, at_end) = (RegisterFile::ALL, AtEnd::Registers);
    match build::block(&guest, Machine { target, registers, exceptions: true, at_end }, Mode::default()) {
        Ok(_) => true,
        Err(trap) => !matches!(*trap, Trap::Unimplemented { .. }),
    }
}

/// Whether control flow, or what is not a matter of one instruction, is needed around the row.
pub fn is_control(op: Op) -> bool {
    op.info().has(Note::EndsBlock)
}

/// How registers with a name are replaced in an instruction; the same for all of its operands.
#[derive(Clone, Copy)]
struct Names {
    keep_exec: bool,
    keep_rare: bool,
    /// Any register, whatever its purpose.
    keep_all: bool,
}

/// The operand's counterpart among the data registers.
fn close(operand: Operand, ty: Ty, names: Names) -> Operand {
    let width = ty.dwords().max(1);
    match operand {
        _ if names.keep_all => operand,
        Operand::Vgpr(register) => Operand::Vgpr(register % 10),
        Operand::Sgpr(register @ (106 | 107 | 124)) => Operand::Sgpr(register),
        Operand::Sgpr(register @ (126 | 127)) if names.keep_exec => Operand::Sgpr(register),
        Operand::Sgpr(register @ (126 | 127)) => Operand::Sgpr(register - 20),
        Operand::Sgpr(register) if register >= 102 && names.keep_rare => Operand::Sgpr(register),
        Operand::Sgpr(register) => {
            let align = if width > 2 { 4 } else { width };
            Operand::Sgpr(register % (17 - width) / align * align)
        }
        other => other,
    }
}

impl Generator<'_> {
    /// A random instruction of the row with a feature, if one is asked for; what a program executes of it.
    pub fn instruction(&mut self, op: Op, encoding: Encoding, feature: Option<Feature>) -> Option<Inst> {
        for _ in 0..40 {
            let Some(inst) = draw(self.random, op, encoding, self.target).and_then(|inst| self.closed(inst)) else {
                continue;
            };
            let inst = match feature {
                None => Some(inst),
                Some(feature) if feature.is_in(&inst) => Some(inst),
                Some(feature) => with(self.random, inst, feature, self.target),
            };
            if let Some(inst) = inst.filter(|inst| is_executed(inst, self.target)) {
                return Some(inst);
            }
        }
        None
    }

    /// The instruction on the data registers.
    fn closed(&mut self, mut inst: Inst) -> Option<Inst> {
        let info = inst.op.info();
        let names = Names {
            keep_exec: self.random.once_in(3),
            keep_rare: self.random.once_in(8),
            keep_all: self.random.once_in(32),
        };
        for (operand, ty) in inst.dst.iter_mut().zip(info.dsts) {
            *operand = close(*operand, *ty, names);
        }
        for (operand, ty) in inst.src.iter_mut().zip(info.srcs.iter().copied().chain([Ty::b32; 4])) {
            *operand = close(*operand, ty, names);
        }
        self.set_immediate(&mut inst);
        if let Ext::Mem(mem) = &mut inst.ext
            && is_interpolation(inst.op)
            && !self.random.once_in(8)
        {
            // LDS has few attributes.
            mem.target %= 4;
        }
        match self.launches.is_empty() {
            true => canonical(inst, self.target),
            false => self.on_data_of_kernels(inst),
        }
    }

    /// Immediates that have few useful values.
    fn set_immediate(&mut self, inst: &mut Inst) {
        let random = &mut *self.random;
        let register = |random: &mut crate::random::Random, id: i32| {
            let (offset, size) = (random.below(32) as i32, random.below(32) as i32);
            Operand::Imm(i32::from((id | offset << 6 | size << 11) as i16))
        };
        match inst.op {
            // Rounding, denormals, clamping and IEEE, now and then the rest of MODE.
            Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) if random.once_in(4) => {
                let id = random.pick(&[1, 1, 3]);
                inst.src[1] = register(random, id);
            }
            Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) => {
                let field = random.pick(&[(0, 4), (4, 4), (0, 2), (4, 2), (6, 2), (8, 1), (9, 1), (0, 10)]);
                inst.src[1] = Operand::Imm(i32::from((1 | field.0 << 6 | (field.1 - 1) << 11) as i16));
            }
            Op::Sopk(Sopk::s_getreg_b32) => {
                let id = random.pick(&[1, 1, 3, 2, 7, 15]);
                inst.src[0] = register(random, id);
            }
            Op::Sopp(Sopp::s_sendmsg | Sopp::s_sendmsghalt) => {
                inst.src[0] = Operand::Imm(random.pick(&[1, 0x12, 0x122, 0x232, 3, 0x313, 0x23]));
            }
            Op::Sopp(Sopp::s_setkill) => inst.src[0] = Operand::Imm(0),
            Op::Sopp(Sopp::s_sethalt) => inst.src[0] = Operand::Imm(random.below(2) as i32),
            // Mostly off again: what is skipped tests nothing.
            Op::Sopc(Sopc::s_setvskip) if !random.once_in(4) => {
                inst.src[..2].copy_from_slice(&[Operand::Inline(128), Operand::Inline(128)]);
            }
            _ => {}
        }
    }

    /// Appends an instruction that is not control flow: its addresses are aimed, M0 is set where it matters.
    pub fn push_statement(&mut self, inst: Inst) {
        if inst.op.memory().is_none() && !matches!(inst.op, Op::Mimg(_)) {
            if reads_lds(&inst) && !self.random.once_in(4) {
                // A place in LDS, and the quads that begin a primitive or the type of a direct read.
                let value = self.random.below(0x200) as u32 & !3 | (self.random.next() as u32) << 16;
                self.push_literal(Op::Sop1(Sop1::s_mov_b32), Operand::M0, value);
            }
            self.program.push(Item::Inst(inst));
            return;
        }
        let mut free = self.free;
        let Some(inst) = addressed(inst, &mut free).and_then(|inst| canonical(inst, self.target)) else { return };
        if !is_executed(&inst, self.target) {
            return;
        }
        self.free = free;
        let generation = self.target.generation();
        for start in &mut self.waves {
            aim(self.random, start, &inst, generation);
        }
        let reads_m0 = inst.op.implicit_reads(generation).contains(&Implicit::M0) || inst.mem().lds;
        if reads_m0 && !self.random.once_in(4) {
            let value = m0(self.random);
            self.push_literal(Op::Sop1(Sop1::s_mov_b32), Operand::M0, value);
        }
        self.program.push(Item::Inst(inst));
    }

    /// Appends `op dst, literal`.
    pub fn push_literal(&mut self, op: Op, dst: Operand, value: u32) {
        self.push_scalar(op, [dst, Operand::None], [Operand::Literal(value), Operand::None]);
    }

    /// Appends a scalar instruction with these operands; the implicit SCC is added.
    pub fn push_scalar(&mut self, op: Op, dst: [Operand; 2], src: [Operand; 2]) {
        let inst = scalar(op, dst, src, self.target);
        self.program.push(Item::Inst(inst));
    }
}

/// A scalar instruction with these operands. SCC is filled in where the row has it.
///
/// # Panics
/// If it has no words on the target: the operands are the generator's own.
pub fn scalar(op: Op, dst: [Operand; 2], src: [Operand; 2], target: Target) -> Inst {
    let info = op.info();
    let format = match op {
        Op::Sop2(_) => gcnjit_isa::Format::Sop2,
        Op::Sopk(_) => gcnjit_isa::Format::Sopk,
        Op::Sop1(_) => gcnjit_isa::Format::Sop1,
        Op::Sopc(_) => gcnjit_isa::Format::Sopc,
        _ => gcnjit_isa::Format::Sopp,
    };
    let mut inst = Inst {
        op,
        format,
        words: 1,
        dst,
        src: [src[0], src[1], Operand::None, Operand::None],
        mods: gcnjit_isa::Mods::default(),
        ext: Ext::None,
    };
    for (operand, ty) in inst.dst.iter_mut().zip(info.dsts).chain(inst.src.iter_mut().zip(info.srcs)) {
        if *ty == Ty::scc {
            *operand = Operand::Scc;
        }
    }
    canonical(inst, target).unwrap_or_else(|| panic!("{inst:?} has no words"))
}

/// Whether the instruction has an attribute.
fn is_interpolation(op: Op) -> bool {
    matches!(op, Op::Vintrp(_)) || op.info().has(Note::Attr)
}

/// Whether M0 says where in LDS a vector ALU instruction has a source.
fn reads_lds(inst: &Inst) -> bool {
    is_interpolation(inst.op) || inst.src.contains(&Operand::Special(254))
}

/// Whether the SGPR is a numbered one.
fn is_numbered(operand: Operand) -> bool {
    matches!(operand, Operand::Sgpr(register) if register < 102)
}

/// A memory instruction with address registers of its own, if there are enough.
fn addressed(mut inst: Inst, free: &mut Free) -> Option<Inst> {
    let vector = |operand: Operand, free: &mut Free| match operand {
        Operand::Vgpr(_) => free.vgprs(2),
        other => Some(other),
    };
    match inst.op {
        Op::Flat(_) => {
            inst.src[0] = vector(inst.src[0], free)?;
            if inst.src[2] != Operand::None {
                inst.src[2] = free.sgprs(4)?;
            }
        }
        Op::Ds(_) => inst.src[0] = vector(inst.src[0], free)?,
        Op::Mimg(op) => {
            inst.src[0] = free.vgprs(op.form().address_dwords(image::LONGEST, false) as u8)?;
            inst.src[1] = free.sgprs(8)?;
            if op.form().samples() {
                inst.src[2] = free.sgprs(4)?;
            }
        }
        Op::Mubuf(_) | Op::Mtbuf(_) => {
            inst.src[0] = vector(inst.src[0], free)?;
            inst.src[1] = free.sgprs(4)?;
            if is_numbered(inst.src[2]) {
                inst.src[2] = free.sgprs(4)?;
            }
        }
        _ => {
            if inst.src[0] != Operand::None {
                inst.src[0] = free.sgprs(4)?;
            }
            if is_numbered(inst.src[1]) {
                inst.src[1] = free.sgprs(4)?;
            }
        }
    }
    Some(inst)
}

/// All of the hardware register TRAPSTS, as an immediate.
pub const TRAPSTS: Operand = Operand::Imm((3 | 31 << 11) as u16 as i16 as i32);

/// Rows that control flow and the generator's own statements are made of.
pub mod ops {
    use super::{Op, Sop1, Sop2, Sopc, Sopk, Sopp};

    /// `s_mov_b64`
    pub const MOV64: Op = Op::Sop1(Sop1::s_mov_b64);
    /// `s_mov_b32`
    pub const MOV32: Op = Op::Sop1(Sop1::s_mov_b32);
    /// `s_getreg_b32`
    pub const GETREG: Op = Op::Sopk(Sopk::s_getreg_b32);
    /// `s_movk_i32`
    pub const MOVK: Op = Op::Sopk(Sopk::s_movk_i32);
    /// `s_add_u32`
    pub const ADD: Op = Op::Sop2(Sop2::s_add_u32);
    /// `s_addc_u32`
    pub const ADDC: Op = Op::Sop2(Sop2::s_addc_u32);
    /// `s_sub_u32`
    pub const SUB: Op = Op::Sop2(Sop2::s_sub_u32);
    /// `s_cmp_lg_u32`
    pub const CMP: Op = Op::Sopc(Sopc::s_cmp_lg_u32);
    /// `s_getpc_b64`
    pub const GETPC: Op = Op::Sop1(Sop1::s_getpc_b64);
    /// `s_setpc_b64`
    pub const SETPC: Op = Op::Sop1(Sop1::s_setpc_b64);
    /// `s_branch`
    pub const BRANCH: Op = Op::Sopp(Sopp::s_branch);
    /// `s_endpgm`
    pub const END: Op = Op::Sopp(Sopp::s_endpgm);
    /// `s_cbranch_join`
    pub const JOIN: Op = Op::Sop1(Sop1::s_cbranch_join);
}
