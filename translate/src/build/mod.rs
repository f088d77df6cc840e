//! Decoded blocks to lane IR. The family files are the twins of the interpreter's: same names, same order; a body
//! gets values instead of numbers and says with [`crate::lane`]'s vocabulary what the interpreter computes.
//!
//! [`Builder`] knows what each register holds. A write to a VGPR under EXEC stays what it is, a value for the active
//! lanes, as long as EXEC does not change; only who looks from under another mask sees it blended with what was
//! there. Register writes are collected and reach the register file before an access, a change of EXEC and the end
//! of the block.

#[macro_use]
mod dispatch;
mod operands;
mod regs;
mod saturate;

mod division;
mod ds;
mod exp;
mod flat;
mod fp;
mod index;
mod mimg;
mod mtbuf;
mod mubuf;
mod raise;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod vintrp;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

use crate::Machine;
use crate::access::{Access, ScalarLoad};
use crate::cfg::{GuestBlock, ends_block};
use crate::defect;
use crate::lane::{Block, Fenv, Op, Shape, Term, Ty, Value};
use crate::libcall::RowOp;
use crate::pass::registers::RegisterSet;
use crate::wide;
use gcnjit_isa::{Format, Gen, Inst, Target};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Mode, RegisterFile, Trap};
use std::ops::{Deref, DerefMut};

/// Lane operations, joining and splitting 64-bit values apart, after which a segment is cut at the next instruction: longer
/// chains only add latency. Integers have little of it, and what a segment leaves to the next one goes through memory.
const LONG_SEGMENT: usize = 48;
const LONG_INTEGER_SEGMENT: usize = 4 * LONG_SEGMENT;

/// Nodes that an instruction mostly becomes, or fewer.
const NODES: usize = 4;

/// What a body returns: an error stops translation before anything runs.
pub type Result<T = (), E = Box<Trap>> = std::result::Result<T, E>;

/// Builds the lane IR of a guest block for waves in `mode`.
pub fn block(guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Block> {
    let mut b = Builder::new(guest.start(), machine, defect::mode(mode));
    b.instructions(guest)?;
    Ok(b.block)
}

/// Builds the lane IR of a superblock, whose instructions are those of blocks that follow each other: EXEC is taken to be
/// what it was at the start wherever it has changed. `None` if there is no telling what that asks for.
pub fn superblock(guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Option<Block>> {
    let mut b = Builder::new(guest.start(), machine, defect::mode(mode));
    let exec = b.exec();
    b.assumed = Some(Assumed { exec, is_known: true });
    b.instructions(guest)?;
    let is_known = b.assumed.is_some_and(|assumed| assumed.is_known);
    Ok(is_known.then_some(b.block))
}

/// The work on lanes in a segment.
#[derive(Default)]
struct Work {
    /// Nodes that have been counted, from the block's first one on.
    seen: usize,
    lanes: usize,
    has_floats: bool,
}

/// What a superblock takes EXEC to be.
#[derive(Clone, Copy)]
struct Assumed {
    /// What it was at the start.
    exec: Value,
    /// Whether lanes can say of all changes whether it still is, and scalar loads may come first.
    is_known: bool,
}

/// A block under construction.
pub struct Builder {
    block: Block,
    regs: regs::Regs,
    /// The processor.
    pub target: Target,
    /// What waves own of the registers.
    pub registers: RegisterFile,
    /// MODE the code is for.
    pub mode: Mode,
    /// Address of the current instruction.
    pub pc: u64,
    /// Address of the next one.
    pub next_pc: u64,
    /// How the block ends, once an instruction has said so.
    pub term: Option<Term>,
    /// The clamp bit of the current instruction, for integer operations that saturate.
    pub clamp: bool,
    /// Whether TRAPSTS is kept.
    pub exceptions: bool,
    /// Whether it is, and the current instruction raises any.
    watched: bool,
    indexing: index::Indexing,
    exec_changed: bool,
    work: Work,
    /// Of superblocks.
    assumed: Option<Assumed>,
}

impl Deref for Builder {
    type Target = Block;
    fn deref(&self) -> &Block {
        &self.block
    }
}

impl DerefMut for Builder {
    fn deref_mut(&mut self) -> &mut Block {
        &mut self.block
    }
}

impl Builder {
    fn new(pc: u64, machine: Machine, mode: Mode) -> Builder {
        let Machine { target, registers, exceptions, .. } = machine;
        Builder {
            block: Block::new(pc),
            regs: regs::Regs::default(),
            target,
            registers,
            mode,
            pc,
            next_pc: pc,
            term: None,
            clamp: false,
            exceptions,
            watched: false,
            indexing: index::Indexing::new(mode, target.generation()),
            exec_changed: false,
            work: Work::default(),
            assumed: None,
        }
    }

    fn instructions(&mut self, guest: &GuestBlock) -> Result {
        self.reserve(NODES * guest.instructions.len());
        let end = guest.end();
        let mut term = Term::Jump(end);
        for (pc, inst) in &guest.instructions {
            let seen = defect::seen(inst);
            self.begin(*pc, &seen);
            if !(self.mode.vskip() && inst.op.obeys_vskip()) {
                self.raise(&seen)?;
                dispatch::instruction(self, &seen)?;
            }
            self.finish_instruction();
            if ends_block(inst) {
                term = self.term.take().unwrap_or(Term::Reenter(end));
            }
        }
        self.flush();
        self.block.term = defect::ended(self.checked_term(term));
        self.block.end = end;
        self.block.instructions = guest.instructions.len() as u32;
        Ok(())
    }

    /// The generation that is played.
    pub fn generation(&self) -> Gen {
        self.target.generation()
    }

    /// Numbered SGPRs that a wave owns.
    pub fn numbered_sgprs(&self) -> u32 {
        self.registers.numbered(self.generation()) as u32
    }

    /// The error of an instruction, or a form of it, that is not translated.
    pub fn unimplemented<T>(&self, inst: &Inst, what: &'static str) -> Result<T> {
        Err(Box::new(Trap::Unimplemented { op: inst.op, pc: self.pc, what }))
    }

    fn begin(&mut self, pc: u64, inst: &Inst) {
        self.pc = pc;
        self.block.at = pc;
        self.next_pc = pc + u64::from(inst.size());
        self.clamp = inst.mods.clamp;
    }

    fn finish_instruction(&mut self) {
        if let Some(Assumed { exec, .. }) = self.assumed
            && std::mem::take(&mut self.exec_changed)
        {
            self.assume(exec);
        }
        let is_long = self.is_long();
        if std::mem::take(&mut self.exec_changed) || is_long {
            let exec = self.exec();
            self.cut(exec);
        }
    }

    /// Takes EXEC, which has changed, to be `before`, if there are masks by lanes that say so.
    fn assume(&mut self, before: Value) {
        let mut work = vec![self.exec()];
        while let Some(mask) = work.pop() {
            let node = *self.node(mask);
            match node.op {
                _ if mask == before => {}
                Op::And => work.extend(node.args()),
                Op::Bits => self.block.effect(Op::Assume, [node.args[0], Value::NONE, Value::NONE], 0),
                _ => self.give_up(),
            }
        }
        self.restore_exec(before);
    }

    /// Whether the segment has enough work on lanes.
    fn is_long(&mut self) -> bool {
        let Work { seen, lanes, has_floats } = &mut self.work;
        for node in self.block.nodes[*seen..].iter().filter(|node| node.shape == Shape::Lane) {
            *lanes += usize::from(!matches!(node.op, Op::Pack | Op::Lo | Op::Hi));
            *has_floats |= node.fenv != Fenv::Any;
        }
        *seen = self.block.nodes.len();
        *lanes >= if *has_floats { LONG_SEGMENT } else { LONG_INTEGER_SEGMENT }
    }

    /// Ends the segment: vector registers go to the register file, later work begins anew.
    fn cut(&mut self, exec: Value) {
        self.flush_vgprs();
        self.block.effect(Op::Cut, [exec, Value::NONE, Value::NONE], 0);
        self.block.forget_lanes();
        self.begin_segment();
    }

    fn begin_segment(&mut self) {
        self.work = Work { seen: self.block.nodes.len(), ..Work::default() };
    }

    /// Brings the register file up to date.
    fn flush(&mut self) {
        self.flush_vgprs();
        self.flush_scalars();
    }

    /// Appends a memory access, an export or a message.
    pub fn access(&mut self, inst: &Inst) -> Result {
        let access = Access::new(inst, self.pc, self.target)?;
        if self.assumed.is_some()
            && let Some(load) = access.scalar_load()
        {
            self.scalar_load(access, &load);
            return Ok(());
        }
        self.flush();
        let (vgprs, sgprs) = (access.writes_vgprs(), access.writes_sgprs());
        let index = self.block.accesses.len() as u64;
        self.block.accesses.push(access);
        self.block.access_reads.push(scalars_read(inst, self.target).and(self.vgprs_read(inst)));
        self.block.effect(Op::Access, [Value::NONE; 3], index);
        self.forget(vgprs, sgprs);
        self.block.forget_lanes();
        self.begin_segment();
        Ok(())
    }

    /// Loads SGPRs in a superblock: what is loaded is a value, and is loaded early. Stores before it make sure that they go
    /// elsewhere.
    fn scalar_load(&mut self, access: Access, load: &ScalarLoad) {
        if load.soffset.is_some() {
            self.give_up();
        }
        let (base, number) = (self.sgpr64(load.base as u8), self.block.accesses.len() as u64);
        self.block.accesses.push(access);
        self.block.access_reads.push(RegisterSet::default());
        for k in 0..load.count {
            let value = self.block.op(Op::ScalarLoad, Ty::B32, Fenv::Any, &[base], number << 8 | k as u64);
            self.set_sgpr((load.first + k) as u8, value);
        }
    }

    /// There is no superblock.
    fn give_up(&mut self) {
        self.assumed = self.assumed.map(|assumed| Assumed { is_known: false, ..assumed });
    }

    /// The VGPRs that an access may read. How long an image's address is, is in the resource.
    fn vgprs_read(&self, inst: &Inst) -> RegisterSet {
        match inst.format {
            Format::Mimg => RegisterSet::VGPRS,
            _ => RegisterSet::vgprs(inst.reads(self.target).vgprs),
        }
    }

    /// A libcall on rows. B1 arguments are not possible; the result has the width `ty`.
    pub fn call(&mut self, ty: Ty, op: RowOp, args: &[Value], imm: u32) -> Value {
        debug_assert!(args.iter().all(|arg| self.ty(*arg) != Ty::B1));
        let (kind, fenv) = self.inline(op, args, imm).map_or((Op::Call, Fenv::Any), |fenv| (Op::Inline, fenv));
        self.block.op(kind, ty, fenv, args, op as u64 | u64::from(imm) << 32)
    }

    /// Whether a libcall is computed in registers.
    fn is_inline(&self, op: RowOp, imm: u32) -> bool {
        self.inline_fenv(op, imm).is_some()
    }

    /// The environment of a libcall that is computed in registers, whatever its arguments.
    fn inline_fenv(&self, op: RowOp, imm: u32) -> Option<Fenv> {
        if wide::is_available() { wide::inline::fenv(op, imm, self.mode) } else { None }
    }

    /// The same with these arguments.
    fn inline(&self, op: RowOp, args: &[Value], imm: u32) -> Option<Fenv> {
        let fenv = self.inline_fenv(op, imm);
        // The selector's constant bytes are those of the result then; signs are not looked for.
        let plain = |selector: u64| (0..4).all(|i| !(8..12).contains(&(selector >> (8 * i) & 0xff)));
        fenv.filter(|_| op != RowOp::perm || self.block.as_const(args[2]).is_some_and(plain))
    }

    /// A libcall on uniform values.
    pub fn call_uniform(&mut self, ty: Ty, op: crate::libcall::UniformOp, args: &[Value], imm: u32) -> Value {
        self.block.op(Op::CallUniform, ty, Fenv::Any, args, op as u64 | u64::from(imm) << 32)
    }
}

/// The scalars that an access may read: EXEC, M0, FLAT_SCRATCH (102 to 105), and its operands.
fn scalars_read(inst: &Inst, target: Target) -> RegisterSet {
    let implicit =
        RegisterSet::sgprs(102..106).and(RegisterSet::sgprs(reg::M0..reg::M0 + 1)).and(RegisterSet::sgprs(126..128));
    let reads = inst.reads(target);
    let scc = if reads.scc { RegisterSet::SCC } else { RegisterSet::default() };
    implicit.and(RegisterSet::sgpr_bits(reads.sgprs)).and(scc)
}
