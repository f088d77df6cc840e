//! Basic blocks of guest code: what direct jumps reach from an entry.
//!
//! Guest code can be of any size and shape; what is made of it at once is limited, so that translation takes bounded time
//! and the host frame of a block a bounded part of the stack. A block that is cut goes on in the next one; a wave that
//! leaves a unit comes back for another.

use crate::Machine;
use gcnjit_isa::{Decoder, Inst, Note, Op, Operand, Sop1, Sop2, Sopc, Sopk, Sopp};
use gcnjit_rt::{Cause, Trap, View};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Most instructions in a block.
const BLOCK: usize = 512;
/// Once so many instructions are in a unit, no more blocks are begun.
const UNIT: usize = 8192;

/// A basic block: instructions with their addresses. The last may end it, or the next block begins behind it.
#[derive(Clone, Debug)]
pub struct GuestBlock {
    /// Address and instruction, in order; never empty.
    pub instructions: Vec<(u64, Inst)>,
}

impl GuestBlock {
    /// Address of the first instruction.
    pub fn start(&self) -> u64 {
        self.instructions[0].0
    }

    /// Address behind the last instruction.
    pub fn end(&self) -> u64 {
        let (pc, inst) = self.instructions[self.instructions.len() - 1];
        pc + u64::from(inst.size())
    }
}

/// Decodes the blocks that are reachable from `entry`, in address order, as the waves' registers bound them, and from
/// `others` that are code of the same allocation.
///
/// A word that is no instruction is an error only at the entry: elsewhere the path there may never be taken, and
/// the block ends before it, so that the wave comes back and finds the error if it gets there.
pub fn blocks(view: &View, machine: Machine, entry: u64, others: &BTreeSet<u64>) -> Result<Vec<GuestBlock>, Box<Trap>> {
    let home = view.code(entry).map_or(entry..entry, |range| range.start..range.end);
    let decoder = Decoder::new(machine.target);
    let mut code = Code { view, machine, home, decoder, instructions: BTreeMap::new() };
    let mut leaders = BTreeSet::from([entry]);
    code.instruction(entry)?;
    let mut work = code.run_from(entry);
    let mut others = others.iter().copied();
    while let Some(start) = work.pop().or_else(|| others.next()) {
        let room = code.instructions.len() < UNIT;
        if room && code.instruction(start).is_ok() && leaders.insert(start) {
            work.extend(code.run_from(start));
        }
    }
    Ok(leaders.iter().map(|start| code.block(*start, &leaders)).collect())
}

/// Whether an instruction ends its block.
pub fn ends_block(inst: &Inst) -> bool {
    inst.op.info().has(Note::EndsBlock) || writes_mode(inst)
}

/// Whether an instruction changes MODE for those behind it: translated code is made for one MODE. The instructions that
/// switch indexing do not end their block (see [`crate::build`]).
pub fn writes_mode(inst: &Inst) -> bool {
    const HW_REG_MODE: i32 = 1;
    match inst.op {
        Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) => {
            matches!(inst.src[1], Operand::Imm(imm) if imm & 0x3f == HW_REG_MODE)
        }
        Op::Sopc(Sopc::s_setvskip) => true,
        _ => false,
    }
}

struct Code<'a> {
    view: &'a View,
    machine: Machine,
    /// The entry's code. What is loaded elsewhere comes and goes on its own, so it has units of its own.
    home: Range<u64>,
    decoder: Decoder,
    instructions: BTreeMap<u64, Inst>,
}

impl Code<'_> {
    fn instruction(&mut self, pc: u64) -> Result<Inst, Box<Trap>> {
        if let Some(known) = self.instructions.get(&pc) {
            return Ok(*known);
        }
        if !self.home.contains(&pc) {
            return Err(bad_jump(pc));
        }
        let Machine { registers, target, .. } = self.machine;
        let inst = registers.bound(&decode(self.view, self.decoder, pc)?, target);
        self.instructions.insert(pc, inst);
        Ok(inst)
    }

    /// Decodes straight on from `start` and returns where control goes at the end.
    fn run_from(&mut self, start: u64) -> Vec<u64> {
        let mut pc = start;
        for _ in 0..BLOCK {
            let Ok(inst) = self.instruction(pc) else { return Vec::new() };
            let next = pc + u64::from(inst.size());
            if ends_block(&inst) {
                return successors(&inst, pc, next);
            }
            pc = next;
        }
        vec![pc]
    }

    fn block(&self, start: u64, leaders: &BTreeSet<u64>) -> GuestBlock {
        let mut instructions = Vec::new();
        let mut pc = start;
        while let Some(inst) = self.instructions.get(&pc) {
            instructions.push((pc, *inst));
            pc += u64::from(inst.size());
            if ends_block(inst) || leaders.contains(&pc) || instructions.len() == BLOCK {
                break;
            }
        }
        GuestBlock { instructions }
    }
}

/// The blocks after one that ends with `inst`, as far as they are known.
fn successors(inst: &Inst, pc: u64, next: u64) -> Vec<u64> {
    match inst.op {
        Op::Sopp(Sopp::s_branch) => inst.branch_target(pc).into_iter().collect(),
        Op::Sopp(Sopp::s_endpgm | Sopp::s_endpgm_saved | Sopp::s_endpgm_ordered_ps_done) => Vec::new(),
        Op::Sopp(Sopp::s_trap | Sopp::s_sendmsghalt) | Op::Sop2(Sop2::s_rfe_restore_b64) => Vec::new(),
        Op::Sop1(Sop1::s_setpc_b64 | Sop1::s_rfe_b64 | Sop1::s_mov_regrd_b32) => Vec::new(),
        Op::Sopk(Sopk::s_getreg_regrd_b32) => Vec::new(),
        _ => inst.branch_target(pc).filter(|_| is_branch(inst)).into_iter().chain([next]).collect(),
    }
}

fn is_branch(inst: &Inst) -> bool {
    inst.op.info().srcs.contains(&gcnjit_isa::Ty::label)
}

/// The error of a jump to `pc`, where there is no code.
pub(crate) fn bad_jump(pc: u64) -> Box<Trap> {
    Box::new(Trap::Fault { cause: Cause::BadJump, address: pc, lane: 0, pc })
}

/// Decodes the instruction at guest address `pc`.
pub fn decode(view: &View, decoder: Decoder, pc: u64) -> Result<Inst, Box<Trap>> {
    if !pc.is_multiple_of(4) {
        return Err(bad_jump(pc));
    }
    let range = view.code(pc).ok_or_else(|| bad_jump(pc))?;
    let available = ((range.end - pc) / 4).min(4) as usize;
    let mut bytes = [0; 16];
    view.read(pc, &mut bytes[..available * 4]).map_err(|_| bad_jump(pc))?;
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    decoder.decode(&words[..available]).map_err(|error| Box::new(Trap::Decode { error, pc }))
}
