//! The general way of a fused part: the items of the plan that it stands for, one after the other, as calls.

use super::Unit;
use crate::lane::{Block, Op, Value};
use crate::pass::demand::Demand;
use crate::pass::fuse::Fused;
use crate::pass::segment::{Item, Plan};
use crate::wide::access::general_way;
use crate::wide::asm::{Asm, Gpr, When};
use crate::wide::{Layout, rare_segment};
use gcnjit_rt::Wave;
use std::mem::offset_of;

/// The wave and the slots, in registers that functions keep.
const WAVE: Gpr = Gpr::Rbx;
const SLOTS: Gpr = Gpr::Rbp;

/// What the general way does.
pub(super) struct General<'a> {
    block: &'a Block,
    steps: Vec<Step>,
    /// Loops of its segments.
    pub(super) versions: usize,
}

/// One thing that it does.
enum Step {
    /// Calls the function of a segment at an offset of the code.
    Segment(usize),
    /// Calls the function of an access, by number.
    Access(usize),
    /// Writes a scalar register.
    Set(Value),
}

/// The items of a part.
fn items<'p>(plan: &'p Plan, fused: &Fused) -> &'p [Item] {
    &plan.items[fused.items.clone()]
}

/// Whether a node writes a scalar register. A part writes no other ones.
fn is_set(block: &Block, value: Value) -> bool {
    matches!(block.node(value).op, Op::SetSgpr | Op::SetScc)
}

/// Gives places to the scalars that the general way reads.
pub(super) fn add_scalars(layout: &mut Layout, block: &Block, plan: &Plan, fused: &Fused) {
    for item in items(plan, fused) {
        match *item {
            Item::Segment(rank) => layout.add_scalars(&Demand { block, plan, rank }),
            Item::Scalar(value) if is_set(block, value) => layout.add_scalar(block.node(value).args[0]),
            Item::Scalar(_) => {}
        }
    }
}

impl<'a> General<'a> {
    /// Emits the segments, which are functions of their own.
    pub(super) fn emit_segments(
        asm: &mut Asm,
        block: &'a Block,
        plan: &Plan,
        fused: &Fused,
        frame: &mut Layout,
    ) -> General<'a> {
        let mut general = General { block, steps: Vec::new(), versions: 0 };
        let mut bits = 0;
        for item in items(plan, fused) {
            let step = match *item {
                Item::Segment(rank) => {
                    let demand = Demand { block, plan, rank };
                    let count = demand.segment().bits.len();
                    let mut layout = frame.window(bits, count);
                    let offset = rare_segment(asm, demand, &mut layout);
                    frame.cover(&layout);
                    bits += count;
                    general.versions += 1;
                    Some(Step::Segment(offset))
                }
                Item::Scalar(value) => general.scalar(value),
            };
            general.steps.extend(step);
        }
        general
    }

    /// What a scalar item is; uniform values have been computed before the part begins.
    fn scalar(&self, value: Value) -> Option<Step> {
        let node = self.block.node(value);
        match node.op {
            Op::Access => Some(Step::Access(node.imm as usize)),
            _ => is_set(self.block, value).then_some(Step::Set(value)),
        }
    }

    /// Writes the scalar registers, for the part's own way.
    pub(super) fn write_scalars(&self, asm: &mut Asm, frame: &Layout) {
        for step in &self.steps {
            if let Step::Set(value) = *step {
                self.set(asm, value, Gpr::Rdi, Gpr::Rdx, frame);
            }
        }
    }

    /// Emits the steps. The wave and the slots are where a function finds them.
    pub(super) fn emit(&self, asm: &mut Asm, unit: &Unit<'_>, frame: &Layout) {
        // The third aligns the stack.
        [WAVE, SLOTS, SLOTS].into_iter().for_each(|register| asm.push(register));
        asm.mov(WAVE, Gpr::Rdi);
        asm.mov(SLOTS, Gpr::Rsi);
        let mut faults = Vec::new();
        for step in &self.steps {
            match *step {
                Step::Segment(offset) => {
                    asm.mov(Gpr::Rdi, WAVE);
                    asm.mov(Gpr::Rsi, SLOTS);
                    asm.call(offset);
                }
                Step::Access(number) => {
                    asm.mov(Gpr::Rdi, WAVE);
                    asm.load64(Gpr::Rsi, SLOTS, Layout::CONTEXT);
                    self.call_access(asm, unit, number);
                    asm.compare32(Gpr::Rax, 0);
                    faults.push(asm.jump(When::NotZero));
                }
                Step::Set(value) => self.set(asm, value, WAVE, SLOTS, frame),
            }
        }
        asm.mov_imm(Gpr::Rax, 0);
        let done = asm.jump_always();
        faults.into_iter().for_each(|jump| asm.bind(jump));
        asm.mov_imm(Gpr::Rax, 1);
        asm.bind(done);
        [SLOTS, SLOTS, WAVE].into_iter().for_each(|register| asm.pop(register));
        asm.ret_plain();
    }

    /// Calls the function of an access, or what does those that have none.
    fn call_access(&self, asm: &mut Asm, unit: &Unit<'_>, number: usize) {
        match unit.accesses.get(&(unit.index, number)) {
            Some(function) => asm.call(*function),
            None => {
                let general = general_way(asm, &self.block.accesses[number], unit.first_site + number);
                asm.call_to(general);
            }
        }
    }

    /// Writes a scalar register.
    fn set(&self, asm: &mut Asm, set: Value, wave: Gpr, slots: Gpr, frame: &Layout) {
        let node = self.block.node(set);
        asm.load32(Gpr::Rax, slots, frame.scalar(node.args[0]));
        let to = match node.op {
            Op::SetSgpr => offset_of!(Wave, sgpr) + 4 * node.imm as usize,
            _ => {
                asm.and32(Gpr::Rax, 1);
                offset_of!(Wave, scc)
            }
        };
        asm.store32(wave, to as i32, Gpr::Rax);
    }
}
