//! One instruction at a time, and what it touched: for tools that watch a wave.
//!
//! [`Stepper`] executes as [`Interpreter`](crate::Interpreter) does, with the same bodies. Beside the change of the wave
//! it says which registers the instruction may have read and written, with everything that M0 and MODE add to register
//! numbers applied, and which bytes of memory it touched. The interpreter itself has no log and pays one test for it
//! in each memory instruction.

use crate::image::Operation;
use crate::memory::Place;
use crate::run::{Blocks, Buffers, Machine, block};
use crate::{sop1, vop1};
use gcnjit_isa::{Access, Inst, Op, Operand, Registers, Sop1, Sop2, Sopk, Target, Ty, Vop1};
use gcnjit_rt::{Env, Stop, Trap, Wave, register_file};
use std::cell::RefCell;

/// A part of an access, of one lane or of a scalar instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// What happens there.
    pub access: Access,
    /// The lane; `None` for scalar instructions.
    pub lane: Option<usize>,
    /// Where it is.
    pub place: Place,
    /// How many bytes.
    pub bytes: usize,
    /// Which dword of the instruction's data is the first of them.
    pub dword: usize,
    /// The source that a store has its data in; [`crate::memory::LOADED`] if it is what the instruction loaded.
    pub data: usize,
}

/// The touches of the instruction in flight.
#[derive(Debug, Default)]
pub struct Log(RefCell<Vec<Touch>>);

impl Log {
    /// Adds one; those outside of every buffer touch nothing.
    pub fn add(&self, touch: Touch) {
        if touch.place != Place::Nowhere {
            self.0.borrow_mut().push(touch);
        }
    }
}

/// An instruction that was executed.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its address.
    pub pc: u64,
    /// The instruction.
    pub inst: Inst,
    /// The same, with the register numbers that it worked on.
    pub effective: Inst,
    /// The registers that it may have read; EXEC not, if it was only the mask.
    pub reads: Registers,
    /// The registers that it may have written: those of the lanes that `enabled` has.
    pub writes: Registers,
    /// EXEC before it.
    pub exec: u64,
    /// What it touched, lanes in ascending order.
    pub touches: Vec<Touch>,
    /// Whether MODE had it skipped.
    pub skipped: bool,
    /// Whether it stopped the wave.
    pub stop: Option<Stop>,
}

/// Executes waves an instruction at a time.
#[derive(Default)]
pub struct Stepper {
    blocks: Blocks,
    buffers: Box<Buffers>,
    log: Log,
    at: Option<At>,
}

/// A place in a decoded block.
#[derive(Clone, Copy)]
struct At {
    target: Target,
    /// Where the block begins.
    start: u64,
    /// Which instruction of it.
    index: usize,
    /// That instruction's address.
    pc: u64,
}

impl Stepper {
    /// The instruction at the wave's PC.
    ///
    /// # Errors
    /// [`Trap::Decode`], or a bad jump.
    pub fn peek(&mut self, wave: &Wave, env: &Env<'_>) -> Result<Inst, Box<Trap>> {
        let at = self.at.filter(|at| at.pc == wave.pc && at.target == env.target);
        let inside = at.and_then(|at| self.blocks.get(&(at.target, env.registers, at.start))?.insts.get(at.index));
        if let Some(inst) = inside {
            return Ok(*inst);
        }
        let block = block(&mut self.blocks, env, wave.pc)?;
        self.at = Some(At { target: env.target, start: wave.pc, index: 0, pc: wave.pc });
        Ok(block.insts[0])
    }

    /// Executes the instruction at the wave's PC.
    ///
    /// # Errors
    /// As [`Engine::run`](gcnjit_rt::Engine::run); the wave and memory have not changed then.
    pub fn step(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Step, Box<Trap>> {
        let inst = self.peek(wave, env)?;
        self.log.0.borrow_mut().clear();
        let (pc, exec) = (wave.pc, wave.exec());
        let mut machine = Machine::new(wave, env, &mut self.buffers);
        machine.log = Some(&self.log);
        let skipped = machine.wave.mode.vskip() && inst.op.obeys_vskip();
        let effective = effective(&machine, &inst);
        let (mut reads, mut writes) = (effective.reads(env.target), effective.writes(env.target));
        add_fork_stack(machine.wave, &inst, &mut reads, &mut writes);
        add_image_address(&machine, &inst, &mut reads);
        if skipped {
            (reads, writes) = Default::default();
        }
        machine.step(&inst)?;
        let stop = machine.stop;
        if let Some(at) = &mut self.at {
            (at.index, at.pc) = (at.index + 1, pc + u64::from(inst.size()));
        }
        let touches = self.log.0.take();
        Ok(Step { pc, inst, effective, reads, writes, exec, touches, skipped, stop })
    }
}

/// `inst` with what M0 and MODE add to its register numbers.
fn effective(m: &Machine<'_>, inst: &Inst) -> Inst {
    let mut moved = *inst;
    match inst.op {
        Op::Vop1(Vop1::v_movreld_b32) => {
            return vop1::relative(m, inst, false, true).unwrap_or(register_file::ignored(inst));
        }
        Op::Vop1(Vop1::v_movrels_b32) => {
            return vop1::relative(m, inst, true, false).unwrap_or(register_file::ignored(inst));
        }
        Op::Vop1(Vop1::v_movrelsd_b32) => {
            return vop1::relative(m, inst, true, true).unwrap_or(register_file::ignored(inst));
        }
        Op::Sop1(Sop1::s_movrels_b32) => moved.src[0] = sop1::relative(m, inst.src[0], Ty::b32, Operand::Sgpr(0)),
        Op::Sop1(Sop1::s_movrels_b64) => moved.src[0] = sop1::relative(m, inst.src[0], Ty::b64, Operand::Sgpr(0)),
        Op::Sop1(Sop1::s_movreld_b32) => moved.dst[0] = sop1::relative(m, inst.dst[0], Ty::b32, Operand::None),
        Op::Sop1(Sop1::s_movreld_b64) => moved.dst[0] = sop1::relative(m, inst.dst[0], Ty::b64, Operand::None),
        Op::Vop1(_) | Op::Vop2(_) | Op::Vopc(_) | Op::Vop3(_) | Op::Vop3p(_) => return *m.indexed(inst),
        _ => {}
    }
    moved
}

/// The registers of an image's address, which are as many as the resource asks for.
fn add_image_address(m: &Machine<'_>, inst: &Inst, reads: &mut Registers) {
    if let Op::Mimg(_) = inst.op
        && let Ok(operation) = Operation::new(m, inst)
    {
        let (first, count) = operation.address_registers();
        reads.add_vgprs(first as u8, count);
    }
}

/// The branch stack, an entry of which is four SGPRs.
fn add_fork_stack(wave: &Wave, inst: &Inst, reads: &mut Registers, writes: &mut Registers) {
    let slot = |csp: u32| (csp & 7) as u8 * 4;
    match inst.op {
        Op::Sop2(Sop2::s_cbranch_g_fork) | Op::Sopk(Sopk::s_cbranch_i_fork) => {
            writes.add_sgprs(slot(wave.mode.csp()), 4);
            writes.mode = true;
        }
        Op::Sop1(Sop1::s_cbranch_join) => {
            reads.add_sgprs(slot(wave.mode.csp().wrapping_sub(1)), 4);
            writes.mode = true;
        }
        _ => {}
    }
}
