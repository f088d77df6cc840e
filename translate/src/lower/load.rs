//! Reads of pairs of SGPRs; loads of SGPRs, in place where what they want is in the allocation that the first of them hit last.

use super::Lower;
use crate::access::{ScalarLoad, Site};
use crate::jit::Context;
use crate::lane::{Op, Value};
use crate::pass::segment::Item;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::Wave;
use std::mem::{offset_of, size_of};
use std::ops::Range;

/// Bytes between loads that are checked together.
const NEAR: u64 = 4096;

/// Loads that follow each other, at constant distances.
pub(super) struct ScalarLoads {
    /// The number of the first.
    first: usize,
    loads: Vec<ScalarLoad>,
}

impl ScalarLoads {
    pub(super) fn len(&self) -> usize {
        self.loads.len()
    }

    /// The bytes they load and what is between, from their address without offset on.
    fn bytes(&self) -> Range<i64> {
        let start = self.loads.iter().map(|load| load.offset).min().expect("there is one");
        let end = self.loads.iter().map(|load| load.offset + 4 * load.count as i64).max().expect("there is one");
        start..end
    }

    /// Whether another one has the same base, which none has overwritten.
    fn is_like(&self, next: &ScalarLoad) -> bool {
        let first = &self.loads[0];
        let is_base = |register: usize| register == first.base || register == first.base + 1;
        let is_near = (next.offset - first.offset).unsigned_abs() < NEAR;
        let overwritten = self.loads.iter().any(|load| (load.first..load.first + load.count).any(is_base));
        first.soffset.is_none() && next.soffset.is_none() && next.base == first.base && is_near && !overwritten
    }
}

impl Lower<'_, '_> {
    /// If an item and the next are neighbouring SGPRs, and the one behind them is their pair: that.
    pub(super) fn loaded_pair(&self, low: Value, tail: &[Item]) -> Option<Value> {
        let [Item::Scalar(high), Item::Scalar(pair), ..] = *tail else { return None };
        let [low_node, high_node, pair_node] = [low, high, pair].map(|value| self.block.node(value));
        let is_pair = pair_node.op == Op::Pack && pair_node.args[..2] == [low, high];
        let reads = [low_node, high_node].iter().all(|node| node.op == Op::Sgpr);
        (is_pair && reads && low_node.imm + 1 == high_node.imm).then_some(pair)
    }

    /// Reads a pair of SGPRs at once. Who wants a half takes it out of the pair.
    pub(super) fn load_pair(&mut self, low: Value, pair: Value) {
        let [_, high, _] = self.block.node(pair).args;
        let at = offset_of!(Wave, sgpr) + 4 * (self.block.node(low).imm & 0xff) as usize;
        let both = self.fb.ins().load(I64, MemFlagsData::trusted(), self.wave, at as i32);
        self.uniform[pair.index()] = Some(both);
        self.halves.extend([(low, (both, false)), (high, (both, true))]);
    }

    fn scalar_load(&self, value: Value) -> Option<(usize, ScalarLoad)> {
        let node = self.block.node(value);
        let number = (node.op == Op::Access).then_some(node.imm as usize)?;
        Some((number, self.block.accesses[number].scalar_load()?))
    }

    /// The loads that begin with an item, if it is one.
    pub(super) fn scalar_loads(&self, value: Value, tail: &[Item]) -> Option<ScalarLoads> {
        let (first, load) = self.scalar_load(value)?;
        // The low two bits of the sum are ignored: only of multiples of four are sums as far apart as the offsets.
        let is_aligned = |load: &ScalarLoad| load.offset % 4 == 0;
        let alone = !is_aligned(&load);
        let mut loads = ScalarLoads { first, loads: vec![load] };
        for item in tail.iter().take_while(|_| !alone) {
            let Item::Scalar(next) = *item else { break };
            match self.scalar_load(next) {
                Some((number, load)) if number == first + loads.len() && is_aligned(&load) && loads.is_like(&load) => {
                    loads.loads.push(load);
                }
                _ => break,
            }
        }
        Some(loads)
    }

    /// Copies memory to SGPRs if it is all in the allocation that the first load hit last; else each load is a call.
    pub(super) fn load_scalars(&mut self, loads: &ScalarLoads) {
        let bytes = loads.bytes();
        let address = self.scalar_address(&loads.loads[0], bytes.start);
        let good = self.is_in_site(loads.first, address, bytes.end - bytes.start);
        let (here, elsewhere, next) = (self.fb.create_block(), self.fb.create_block(), self.fb.create_block());
        self.fb.set_cold_block(elsewhere);
        self.fb.ins().brif(good, here, &[], elsewhere, &[]);
        self.fb.switch_to_block(elsewhere);
        let status = self.call_accesses(loads.first..loads.first + loads.len());
        self.leave_if_bad(status, next);
        self.fb.switch_to_block(here);
        for load in &loads.loads {
            self.copy_to_sgprs(load, address, load.offset - bytes.start);
        }
        self.fb.ins().jump(next, &[]);
        self.fb.switch_to_block(next);
    }

    /// Whether so many bytes are in the allocation that an access hit last: what is left of that from `address` on is at
    /// least as much, and at most all.
    fn is_in_site(&mut self, number: usize, address: ir::Value, bytes: i64) -> ir::Value {
        let flags = MemFlagsData::trusted();
        let sites = self.fb.ins().load(I64, flags, self.context, offset_of!(Context, first_site) as i32);
        let at = ((self.first_site + number) * size_of::<Site>()) as i32;
        let start = self.fb.ins().load(I64, flags, sites, at + Site::START as i32);
        let end = self.fb.ins().load(I64, flags, sites, at + Site::END as i32);
        let size = self.fb.ins().isub(end, start);
        let left = self.fb.ins().isub(end, address);
        let enough = self.fb.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, bytes);
        let within = self.fb.ins().icmp(IntCC::UnsignedLessThanOrEqual, left, size);
        self.fb.ins().band(enough, within)
    }

    /// The address of a load, with another offset.
    fn scalar_address(&mut self, load: &ScalarLoad, offset: i64) -> ir::Value {
        let sgpr = |register: usize| (offset_of!(Wave, sgpr) + 4 * register) as i32;
        let flags = MemFlagsData::trusted();
        let mut address = self.fb.ins().load(I64, flags, self.wave, sgpr(load.base));
        if let Some(register) = load.soffset {
            let more = self.fb.ins().load(I32, flags, self.wave, sgpr(register));
            let more = self.fb.ins().uextend(I64, more);
            address = self.fb.ins().iadd(address, more);
        }
        if offset != 0 {
            address = self.fb.ins().iadd_imm_s(address, offset);
        }
        self.fb.ins().band_imm_s(address, -4)
    }

    /// Copies proven dwords, as many at once as there are; all are read before any is written.
    fn copy_to_sgprs(&mut self, load: &ScalarLoad, from: ir::Value, offset: i64) {
        let ty = match load.count {
            1 => I32,
            2 => I64,
            _ => I32X4,
        };
        let flags = MemFlagsData::new().with_notrap();
        let step = ty.bytes() as usize;
        let offsets = (0..4 * load.count).step_by(step);
        let loaded: Vec<(usize, ir::Value)> =
            offsets.map(|at| (at, self.fb.ins().load(ty, flags, from, offset as i32 + at as i32))).collect();
        for (at, value) in loaded {
            let to = offset_of!(Wave, sgpr) + 4 * load.first + at;
            self.fb.ins().store(flags, value, self.wave, to as i32);
        }
    }
}
