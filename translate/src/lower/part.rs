//! A fused part of a plan: a call of the wider back end's code.

use super::Lower;
use crate::lane::{Op, Shape, Value};
use crate::pass::fuse::Fused;
use crate::pass::registers::RegisterSet;
use crate::pass::segment::Item;
use cranelift_codegen::ir::types::I32;

impl Lower<'_, '_> {
    /// Does a part of the plan, of which these are the items.
    pub(super) fn part(&mut self, number: usize, part: &Fused, items: &[Item]) {
        let code = self.wide.expect("only the wider back end has parts");
        let entry = code.fused(self.index, number);
        self.counts.parts += 1;
        self.counts.versions += entry.versions;
        self.counts.segments += items.iter().filter(|item| matches!(item, Item::Segment(_))).count();
        // Its other way calls one for each.
        *self.counts.libcalls.entry("access").or_default() += part.accesses.len();
        self.compute_early(items, part.written_first);
        self.locate(Some(part.pc));
        self.give_scalars(&entry.layout);
        if let Some(fenv) = part.fenv {
            self.set_fenv(fenv);
        }
        let status = self.call_address(code.address(entry), &[self.wave, self.frame], Some(I32));
        let next = self.fb.create_block();
        self.leave_if_bad(status, next);
        self.fb.switch_to_block(next);
        self.take_bits(&entry.layout, part.bits.iter().map(|(guest, _)| *guest));
    }

    /// Computes the uniform values of items, some of which the part's code is given, and writes some registers.
    fn compute_early(&mut self, items: &[Item], written: RegisterSet) {
        let mut rest = items;
        while let [item, tail @ ..] = rest {
            rest = match *item {
                Item::Scalar(value) if self.is_uniform(value) || self.writes(value, written) => {
                    &rest[self.scalars(value, tail)..]
                }
                _ => tail,
            }
        }
    }

    fn writes(&self, value: Value, registers: RegisterSet) -> bool {
        let node = self.block.node(value);
        node.op == Op::SetSgpr && registers.has(RegisterSet::sgpr(node.imm))
    }

    fn is_uniform(&self, value: Value) -> bool {
        let node = self.block.node(value);
        node.shape == Shape::Uniform && !node.is_effect()
    }
}
