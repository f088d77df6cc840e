//! Running a wave: fetch, decode, execute, until it stops.
//!
//! [`Machine`] is what an instruction can touch. Invariants: before an instruction `wave.pc` is its own address and
//! `next` the following one's; a body that branches changes `next`; after success `wave.pc` becomes `next`, after an
//! error nothing of the wave has changed (bodies check everything before they write anything).
//!
//! Decoded code is kept per address. Each entry into a block compares the words in memory with the ones it was decoded
//! from, so that freed and rewritten code is never run from the cache.

use crate::dispatch;
use crate::fp::Fp;
use crate::observe::Log;
use crate::operands::Raw;
use gcnjit_isa::{Decoder, Gen, Inst, Note, Op, Operand, Target, Ty, Vop1, Vop2};
use gcnjit_rt::lds::Reach;
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Cursor, Engine, Env, LANES, Mode, RegisterFile, Stop, Trap, Wave, register_file};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Most instructions in a cached block.
const BLOCK: usize = 64;
/// Most blocks that a worker keeps.
const BLOCKS: usize = 1 << 14;
/// Most dwords in an instruction.
const WORDS: usize = 3;

/// The interpreter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

/// What a thread keeps between waves: decoded code and lane buffers.
#[derive(Default)]
pub struct Worker {
    blocks: Blocks,
    buffers: Box<Buffers>,
}

/// Sources and results of the instruction in flight, for all lanes.
pub struct Buffers {
    /// Sources.
    pub src: [Raw; 4],
    /// Results.
    pub dst: [Raw; 2],
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers { src: [[[0; LANES]; 4]; 4], dst: [[[0; LANES]; 4]; 2] }
    }
}

/// Decoded blocks by where they begin, and for what registers.
pub(crate) type Blocks = HashMap<(Target, RegisterFile, u64), Arc<Block>>;

/// Decoded instructions from one address on, up to the first that ends a basic block, as the wave's registers bound
/// them.
pub(crate) struct Block {
    words: Vec<u32>,
    /// In order; never empty.
    pub(crate) insts: Vec<Inst>,
}

/// What an instruction can touch while it executes.
pub struct Machine<'a> {
    /// The wave.
    pub wave: &'a mut Wave,
    /// Memory, LDS and the like.
    pub env: &'a Env<'a>,
    /// Guest memory, as vector instructions access it.
    pub memory: Cursor<'a>,
    /// MODE, taken apart.
    pub fp: Fp,
    /// Address of the next instruction.
    pub next: u64,
    /// Set by a body that stops the wave.
    pub stop: Option<Stop>,
    /// Lanes that the vector instruction in flight is enabled for.
    pub enabled: u64,
    /// Those of them whose exceptions are kept: all, or none.
    pub watched: u64,
    /// Whether M0 is a limit of LDS for it.
    pub limited: bool,
    /// Its sources and results.
    pub buffers: &'a mut Buffers,
    /// Where accesses are noted, if somebody wants to know.
    pub log: Option<&'a Log>,
}

impl Engine for Interpreter {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(env.slice);
        let Worker { blocks, buffers } = worker;
        let mut m = Machine::new(wave, env, buffers);
        loop {
            let pc = m.wave.pc;
            let block = block(blocks, env, pc)?;
            for inst in &block.insts {
                m.step(inst)?;
            }
            if let Some(stop) = m.stop {
                return Ok(stop);
            }
            // Slices end at jumps backwards, as they do in translated code.
            let over = m.wave.executed >= limit && m.wave.pc <= pc + block.size();
            if over || env.stop.load(Relaxed) {
                return Ok(Stop::Yield);
            }
        }
    }
}

impl<'a> Machine<'a> {
    /// A machine for `wave`.
    pub fn new(wave: &'a mut Wave, env: &'a Env<'a>, buffers: &'a mut Buffers) -> Machine<'a> {
        let fp = Fp::new(wave.mode, env.target.generation());
        let memory = Cursor::new(env.memory);
        Machine {
            next: wave.pc,
            enabled: wave.exec(),
            wave,
            env,
            memory,
            fp,
            stop: None,
            watched: 0,
            limited: false,
            buffers,
            log: None,
        }
    }

    /// Executes the instruction at `wave.pc`, which is `inst`.
    pub fn step(&mut self, inst: &Inst) -> Result<(), Box<Trap>> {
        self.next = self.wave.pc.wrapping_add(u64::from(inst.size()));
        dispatch::execute(self, inst)?;
        self.wave.pc = self.next;
        self.wave.executed += 1;
        Ok(())
    }

    /// LDS as the instruction in flight reaches it: up to gfx8 M0 is the limit of DS.
    pub fn lds(&self) -> Reach<'a> {
        match self.limited {
            true => self.env.lds.below(self.wave.sgpr[reg::M0]),
            false => self.env.lds.whole(),
        }
    }

    /// Sets MODE.
    pub fn set_mode(&mut self, mode: Mode) {
        self.wave.mode = mode;
        self.fp = Fp::new(mode, self.env.target.generation());
    }

    /// The lanes of EXEC, lowest first.
    pub fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let exec = self.wave.exec();
        (0..LANES).filter(move |lane| exec >> lane & 1 != 0)
    }

    /// The error for an instruction, or a form of it, that has no body.
    pub fn unimplemented(&self, inst: &Inst, what: &'static str) -> Trap {
        Trap::Unimplemented { op: inst.op, pc: self.wave.pc, what }
    }

    /// The error for an access at `address` by `lane`.
    pub fn fault(&self, cause: Cause, address: u64, lane: usize) -> Trap {
        Trap::Fault { cause, address, lane: lane as u32, pc: self.wave.pc }
    }

    /// `inst` with M0's index added to its vector registers, where MODE asks for that.
    ///
    /// M0 bits 7:0 are the index, bits 15:12 say which of source 0, 1, 2 and the destination it is added to. The
    /// accumulator of a v_mac goes with its destination; v_swap_b32 writes where it reads. Lane reads and writes are
    /// never indexed, and relative moves go by M0 in their own way. Out of range it is as everywhere: a source is v0, and
    /// without its result the instruction is nothing.
    pub fn indexed<'i>(&self, inst: &'i Inst) -> Cow<'i, Inst> {
        let off = !self.wave.mode.gpr_index() || self.env.target.generation() < Gen::Gfx8;
        if off || is_never_indexed(inst.op) {
            return Cow::Borrowed(inst);
        }
        let m0 = self.wave.sgpr[reg::M0];
        let info = inst.op.info();
        let shifted = |operand: Operand, ty: Option<&Ty>, bit: u32| {
            let by = if m0 >> bit & 1 != 0 { m0 & 0xff } else { 0 };
            self.vgpr_further(operand, by, ty.map_or(1, |ty| ty.dwords().into()))
        };
        let mut moved = *inst;
        let last_is_result = info.has(Note::Acc) || inst.op == Op::Vop1(Vop1::v_swap_b32);
        let accumulator = last_is_result.then(|| info.srcs.len().saturating_sub(1));
        for (i, operand) in moved.src.iter_mut().enumerate().take(3) {
            let bit = if accumulator == Some(i) { 15 } else { 12 + i as u32 };
            *operand = shifted(*operand, info.srcs.get(i), bit).unwrap_or(Operand::Vgpr(0));
        }
        for (i, bit) in [15, 12].into_iter().enumerate() {
            match shifted(inst.dst[i], info.dsts.get(i), bit) {
                Some(operand) => moved.dst[i] = operand,
                None => return Cow::Owned(register_file::ignored(inst)),
            }
        }
        Cow::Owned(moved)
    }

    /// The operand `by` registers further on if it is a VGPR, unless that is out of range.
    pub fn vgpr_further(&self, operand: Operand, by: u32, dwords: u32) -> Option<Operand> {
        match operand {
            Operand::Vgpr(first) => self.env.registers.vgpr(u64::from(first) + u64::from(by), dwords),
            other => Some(other),
        }
    }
}

/// Relative moves, moves between lanes and scalars, and all that is no vector ALU instruction.
fn is_never_indexed(op: Op) -> bool {
    match op {
        Op::Vop1(op) => {
            use Vop1::{v_movreld_b32, v_movrels_b32, v_movrelsd_b32, v_readfirstlane_b32};
            matches!(op, v_readfirstlane_b32 | v_movreld_b32 | v_movrels_b32 | v_movrelsd_b32)
        }
        Op::Vop2(op) => matches!(op, Vop2::v_readlane_b32 | Vop2::v_writelane_b32),
        _ => !matches!(op, Op::Vopc(_) | Op::Vop3(_) | Op::Vop3p(_)),
    }
}

/// The block at `pc`, decoded now or before.
pub(crate) fn block(blocks: &mut Blocks, env: &Env<'_>, pc: u64) -> Result<Arc<Block>, Box<Trap>> {
    let key = (env.target, env.registers, pc);
    if let Some(block) = blocks.get(&key).filter(|block| block.is_current(env, pc)) {
        return Ok(block.clone());
    }
    let block = Arc::new(Block::decode(env, pc)?);
    if blocks.len() == BLOCKS {
        // Code that jumps to so many places is none that would be worth keeping.
        blocks.clear();
    }
    blocks.insert(key, block.clone());
    Ok(block)
}

impl Block {
    /// Decodes from `pc` on. An error of any but the first instruction ends the block before it instead.
    fn decode(env: &Env<'_>, pc: u64) -> Result<Block, Box<Trap>> {
        let code = code_at(env, pc)?;
        let decoder = Decoder::new(env.target);
        let mut insts = Vec::new();
        let mut at = 0;
        while insts.len() < BLOCK {
            match decoder.decode(&code[at..]) {
                Ok(inst) => {
                    at += usize::from(inst.words);
                    insts.push(env.registers.bound(&inst, env.target));
                    if inst.op.info().has(Note::EndsBlock) {
                        break;
                    }
                }
                Err(error) if insts.is_empty() => return Err(Box::new(Trap::Decode { error, pc })),
                Err(_) => break,
            }
        }
        Ok(Block { words: code[..at].to_vec(), insts })
    }

    /// Its bytes.
    fn size(&self) -> u64 {
        self.words.len() as u64 * 4
    }

    /// Whether memory at `pc` still holds what was decoded.
    fn is_current(&self, env: &Env<'_>, pc: u64) -> bool {
        let mut bytes = [0; BLOCK * WORDS * 4];
        let bytes = &mut bytes[..self.words.len() * 4];
        let read = env.memory.read(pc, bytes);
        read.is_ok() && bytes.chunks_exact(4).zip(&self.words).all(|(b, w)| b == w.to_le_bytes())
    }
}

/// The words from `pc` on, as many as a block can need or the mapping has.
fn code_at(env: &Env<'_>, pc: u64) -> Result<Vec<u32>, Box<Trap>> {
    let bad = || Box::new(Trap::Fault { cause: Cause::BadJump, address: pc, lane: 0, pc });
    let range = env.memory.code(pc).filter(|_| pc.is_multiple_of(4)).ok_or_else(bad)?;
    let words = ((range.end - pc) / 4).min((BLOCK * WORDS) as u64) as usize;
    let mut bytes = vec![0; words * 4];
    env.memory.read(pc, &mut bytes).map_err(|_| bad())?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}
