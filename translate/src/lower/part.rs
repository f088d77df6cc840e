//! A fused part of a plan: a call of the wider back end's code, and the way item by item for when that gives up.

use super::{Lower, SCRATCH_ROWS};
use crate::jit::Context;
use crate::lane::{Op, Shape, Value};
use crate::pass::fuse::Fused;
use crate::pass::segment::Item;
use crate::wide::Entry;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::Row;
use std::mem::{offset_of, size_of};

impl Lower<'_, '_> {
    /// Does a part of the plan, of which these are the items.
    pub(super) fn part(&mut self, number: usize, part: &Fused, items: &[Item]) {
        let code = self.wide.expect("only the wider back end has parts");
        let entry = code.fused(self.index, number);
        self.counts.parts += 1;
        items.iter().for_each(|item| self.compute_early(*item));
        self.locate(Some(part.pc));
        let scalars = self.give_scalars(entry);
        self.give_sites(scalars, bits_at(entry, part.bits.len()));
        if let Some(fenv) = part.fenv {
            self.set_fenv(fenv);
        }
        let slots = self.frame_at(SCRATCH_ROWS * size_of::<Row>());
        let args = [self.wave, slots, scalars];
        let status = self.call_address(code.address(entry), &args, Some(I32)).expect("it has a result");
        let (done, general, next) = (self.fb.create_block(), self.fb.create_block(), self.fb.create_block());
        let bits: Vec<Value> = part.bits.iter().map(|(guest, _)| *guest).collect();
        let results: Vec<ir::Value> = bits.iter().map(|_| self.fb.append_block_param(next, I64)).collect();
        self.fb.set_cold_block(general);
        self.fb.ins().brif(status, general, &[], done, &[]);
        let known = self.uniform.clone();
        self.fb.switch_to_block(general);
        self.items(items);
        let found = bits.iter().map(|bits| self.uniform[bits.index()].expect("its segment has run").into());
        let found: Vec<ir::BlockArg> = found.collect();
        self.fb.ins().jump(next, &found);
        // What was computed on that way is not known on the other.
        self.uniform = known;
        self.fb.switch_to_block(done);
        let sets: Vec<Item> = items.iter().copied().filter(|item| self.is_set(*item)).collect();
        self.items(&sets);
        let load = |i| self.fb.ins().load(I64, MemFlagsData::trusted(), scalars, bits_at(entry, i)).into();
        let found: Vec<ir::BlockArg> = (0..bits.len()).map(load).collect();
        self.fb.ins().jump(next, &found);
        self.fb.switch_to_block(next);
        for (bits, result) in bits.iter().zip(results) {
            self.uniform[bits.index()] = Some(result);
        }
    }

    /// Computes the uniform values of an item, which both ways use.
    fn compute_early(&mut self, item: Item) {
        let value = match item {
            Item::Segment(rank) => return self.compute_scalars(rank),
            Item::Scalar(value) => value,
        };
        let block = self.block;
        for value in std::iter::once(value).chain(block.node(value).args()) {
            if self.is_uniform(value) {
                self.uniform(value);
            }
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        let node = self.block.node(value);
        node.shape == Shape::Uniform && !node.is_effect()
    }

    /// Whether an item writes a scalar register, which the part's code leaves to who calls it.
    fn is_set(&self, item: Item) -> bool {
        matches!(item, Item::Scalar(value) if matches!(self.block.node(value).op, Op::SetSgpr | Op::SetScc))
    }

    /// Says where the unit's sites and the one of LDS are.
    fn give_sites(&mut self, scalars: ir::Value, at: i32) {
        let flags = MemFlagsData::trusted();
        let sites = self.fb.ins().load(I64, flags, self.context, offset_of!(Context, first_site) as i32);
        let lds = self.fb.ins().iadd_imm_s(self.context, offset_of!(Context, lds) as i64);
        self.fb.ins().store(flags, sites, scalars, at);
        self.fb.ins().store(flags, lds, scalars, at + 8);
    }
}

/// Where the bits of a part's mask are in its scalars; behind the last one come the sites.
fn bits_at(entry: &Entry, index: usize) -> i32 {
    8 * (entry.scalars.len() + index) as i32
}
