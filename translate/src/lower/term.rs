//! The end of a block: going on at another one, or leaving the function.

use super::{Lower, Planned, Targets, Watch, leave_with};
use crate::compact;
use crate::jit::{Context, Exit};
use crate::lane::{Term, Value};
use crate::wide;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_isa::{Op, Sop1, Sopk};
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use std::collections::BTreeSet;
use std::mem::offset_of;

/// Most addresses that one in registers is compared with.
const FUNCTIONS: usize = 8;

/// Where calls of a unit go to and come back to, as far as there are blocks.
pub(super) fn functions(blocks: &[Planned], targets: &Targets<'_>) -> Vec<u64> {
    let of = |planned: &Planned| {
        let (_, last) = planned.guest.instructions.last()?;
        let behind = planned.block.end;
        let to = planned.block.term.successors().next();
        match last.op {
            Op::Sop1(Sop1::s_swappc_b64) => Some([Some(behind), to]),
            Op::Sop1(Sop1::s_setpc_b64) => Some([None, to]),
            Op::Sopk(Sopk::s_call_b64) => Some([Some(behind), None]),
            _ => None,
        }
    };
    let all = blocks.iter().filter_map(of).flatten().flatten();
    let known: BTreeSet<u64> = all.filter(|pc| targets.contains_key(pc)).collect();
    known.into_iter().take(FUNCTIONS).collect()
}

impl Lower<'_, '_> {
    /// Goes on where the block ends.
    pub(super) fn term(&mut self) {
        match self.block.term {
            Term::Jump(pc) => self.go(pc),
            Term::Branch(condition, yes, no) => {
                let condition = self.uniform(condition);
                let is_settled = self.settle.is_none();
                let [then, other] = [yes, no].map(|pc| self.ahead(pc).filter(|_| is_settled));
                let mut target = |ahead: Option<ir::Block>| ahead.unwrap_or_else(|| self.fb.create_block());
                let targets = [target(then), target(other)];
                self.fb.ins().brif(condition, targets[0], &[], targets[1], &[]);
                for ((ahead, block), pc) in [then, other].into_iter().zip(targets).zip([yes, no]) {
                    if ahead.is_none() {
                        self.fb.switch_to_block(block);
                        if pc != self.block.pc {
                            self.settle();
                        }
                        self.go(pc);
                    }
                }
            }
            Term::Indirect(pc) => {
                self.go_to_functions(pc);
                self.leave_to(pc);
            }
            Term::Dynamic(pc) => self.leave_to(pc),
            Term::End(pc) => self.leave(pc, if self.superblock.is_some() { Exit::Kept } else { Exit::End }),
            Term::Barrier(pc) => self.leave(pc, Exit::Barrier),
            Term::Yield(pc) => self.leave(pc, Exit::Yield),
            Term::Reenter(pc) => self.leave(pc, Exit::Jump),
            Term::Trap(pc) => self.leave(pc, Exit::Trap),
            Term::Halt(pc) => self.leave(pc, Exit::Halt),
            Term::Undocumented(pc) => self.leave(pc, Exit::Undocumented),
            Term::Meet(pc) => self.leave(pc, Exit::Meet),
        }
    }

    /// Goes to where calls of the unit go to, and come back to, if the address is one of these.
    fn go_to_functions(&mut self, pc: Value) {
        let pc = self.uniform(pc);
        for known in self.functions {
            let [here, others] = [(); 2].map(|()| self.fb.create_block());
            let is_known = self.fb.ins().icmp_imm_u(IntCC::Equal, pc, *known as i64);
            self.fb.ins().brif(is_known, here, &[], others, &[]);
            self.fb.switch_to_block(here);
            self.go(*known);
            self.fb.switch_to_block(others);
        }
    }

    /// Leaves the function for a guest address.
    fn leave_to(&mut self, pc: Value) {
        let pc = self.uniform(pc);
        self.store_wave(pc, offset_of!(Wave, pc));
        self.leave_with(Exit::Jump);
    }

    /// The block at `pc`, if it comes later in the unit: it can be gone to without a look at the slice.
    fn ahead(&self, pc: u64) -> Option<ir::Block> {
        self.targets.get(&pc).map(|(block, _)| *block).filter(|_| pc > self.block.pc)
    }

    /// Goes to the block at `pc`: directly, or out of the function if it is not part of it. A jump backwards
    /// leaves when the wave's slice is over.
    fn go(&mut self, pc: u64) {
        if let Some(target) = self.ahead(pc) {
            self.fb.ins().jump(target, &[]);
            return;
        }
        let Some((target, watch)) = self.targets.get(&pc).copied() else { return self.leave(pc, Exit::Jump) };
        let flags = MemFlagsData::trusted();
        let executed = self.fb.ins().load(I64, flags, self.wave, offset_of!(Wave, executed) as i32);
        let limit = self.fb.ins().load(I64, flags, self.context, offset_of!(Context, limit) as i32);
        let over = self.fb.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, executed, limit);
        self.leave_if(over, pc, Exit::Yield);
        if let Watch::Few(of) = watch {
            self.leave_if_few(&of.saved, executed, target, pc);
        }
        self.fb.ins().jump(target, &[]);
    }

    /// Leaves for the compacted form of the loop at `pc` if it has had few lanes for a while.
    fn leave_if_few(&mut self, saved: &[usize], executed: ir::Value, target: ir::Block, pc: u64) {
        let flags = MemFlagsData::trusted();
        let lanes = self.load_mask(reg::EXEC);
        let lanes = saved.iter().fold(lanes, |lanes, register| {
            let more = self.load_mask(*register);
            self.fb.ins().bor(lanes, more)
        });
        let count = self.fb.ins().popcnt(lanes);
        let is_few = self.fb.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, count, i64::from(compact::MOST));
        let [few, many] = [(); 2].map(|()| self.fb.create_block());
        self.fb.ins().brif(is_few, few, &[], many, &[]);
        self.fb.switch_to_block(many);
        let since = offset_of!(Context, few_since) as i32;
        self.fb.ins().store(flags, executed, self.context, since);
        self.fb.ins().jump(target, &[]);
        self.fb.switch_to_block(few);
        let since = self.fb.ins().load(I64, flags, self.context, since);
        let passed = self.fb.ins().isub(executed, since);
        let patience = i64::from(compact::PATIENCE);
        let over = self.fb.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, passed, patience);
        self.leave_if(over, pc, Exit::Compact);
    }

    /// At the start of a block of a compacted unit, leaves it if EXEC may have lanes that are not there, and has.
    pub(super) fn leave_if_others(&mut self) {
        if !matches!(self.watch, Watch::Others) {
            return;
        }
        let exec = self.load_mask(reg::EXEC);
        let compacted = offset_of!(Wave, compacted) as i32;
        let lanes = self.fb.ins().load(I64, MemFlagsData::trusted(), self.wave, compacted);
        let absent = self.fb.ins().bxor_imm_s(lanes, -1);
        let others = self.fb.ins().band(exec, absent);
        self.leave_if(others, self.block.pc, Exit::Jump);
    }

    pub(super) fn load_mask(&mut self, register: usize) -> ir::Value {
        let at = offset_of!(Wave, sgpr) + 4 * register;
        self.fb.ins().load(I64, MemFlagsData::trusted(), self.wave, at as i32)
    }

    /// Leaves the function for the instruction at `pc` if the condition holds.
    fn leave_if(&mut self, condition: ir::Value, pc: u64, exit: Exit) {
        let [out, on] = [(); 2].map(|()| self.fb.create_block());
        self.fb.set_cold_block(out);
        self.fb.ins().brif(condition, out, &[], on, &[]);
        self.fb.switch_to_block(out);
        self.settle();
        self.leave(pc, exit);
        self.fb.switch_to_block(on);
    }

    /// Where the block goes if something faults while it keeps registers.
    pub(super) fn settle_and_fault(&mut self) {
        self.fb.set_cold_block(self.fault);
        self.fb.switch_to_block(self.fault);
        self.settle();
        self.leave_with(Exit::Fault);
    }

    /// If the block is a loop that may keep registers, writes them to the register file.
    fn settle(&mut self) {
        let Some(settle) = self.settle else { return };
        let [kept, on] = [(); 2].map(|()| self.fb.create_block());
        let flag = self.fb.ins().load(I64, MemFlagsData::trusted(), self.frame, wide::Layout::KEPT);
        self.fb.ins().brif(flag, kept, &[], on, &[]);
        self.fb.switch_to_block(kept);
        self.call_address(settle, &[self.wave, self.frame], None);
        self.fb.ins().jump(on, &[]);
        self.fb.switch_to_block(on);
    }

    fn leave(&mut self, pc: u64, exit: Exit) {
        let pc = self.fb.ins().iconst(I64, pc as i64);
        self.store_wave(pc, offset_of!(Wave, pc));
        self.leave_with(exit);
    }

    fn leave_with(&mut self, exit: Exit) {
        leave_with(self.fb, exit);
    }
}
