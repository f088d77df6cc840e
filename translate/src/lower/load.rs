//! Reads of pairs of SGPRs; loads of SGPRs, in place where they are known to be allowed.

use super::Lower;
use crate::access::{ScalarLoad, Site};
use crate::jit::Context;
use crate::lane::{Node, Op, Value};
use crate::pass::scalar_loads::{self, ScalarLoads};
use crate::pass::segment::Item;
use crate::pass::superblock::ProvenLoad;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::Wave;
use std::mem::{offset_of, size_of};

impl<'a> Lower<'a, '_> {
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

    /// The loads that begin with an item, if it is one.
    pub(super) fn scalar_loads(&self, value: Value) -> Option<&'a ScalarLoads> {
        let number = scalar_loads::access(self.block, value)?;
        self.plan.loads.iter().find(|loads| loads.first == number)
    }

    /// Copies memory to SGPRs if that is known to be allowed from this address; else the host does it.
    pub(super) fn load_scalars(&mut self, loads: &'a ScalarLoads) {
        let address = self.scalar_address(loads);
        let good = if loads.moves { self.is_in_site(loads, address) } else { self.is_proven(loads, address) };
        let (here, elsewhere, next) = (self.fb.create_block(), self.fb.create_block(), self.fb.create_block());
        self.fb.set_cold_block(elsewhere);
        self.fb.ins().brif(good, here, &[], elsewhere, &[]);
        self.fb.switch_to_block(elsewhere);
        let status = self.call_scalar_loads(loads);
        self.leave_if_bad(status, next);
        self.fb.switch_to_block(here);
        for load in &loads.loads {
            self.copy_to_sgprs(load, address, load.offset - loads.origin());
        }
        self.fb.ins().jump(next, &[]);
        self.fb.switch_to_block(next);
    }

    /// Whether the loads were last proven from this address.
    fn is_proven(&mut self, loads: &ScalarLoads, address: ir::Value) -> ir::Value {
        let proven = self.load_site(self.first_site + loads.first, Site::PROVEN);
        self.fb.ins().icmp(IntCC::Equal, address, proven)
    }

    /// Whether the loads from this address are in the allocation that the first hit last: what is left of that from their
    /// first byte on is at least as much as they take, and at most all.
    fn is_in_site(&mut self, loads: &ScalarLoads, address: ir::Value) -> ir::Value {
        let bytes = loads.bytes();
        let start = self.load_site(self.first_site + loads.first, Site::START);
        let end = self.load_site(self.first_site + loads.first, Site::END);
        let first = if bytes.start == 0 { address } else { self.fb.ins().iadd_imm_s(address, bytes.start) };
        let size = self.fb.ins().isub(end, start);
        let left = self.fb.ins().isub(end, first);
        let enough = self.fb.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, bytes.end - bytes.start);
        let within = self.fb.ins().icmp(IntCC::UnsignedLessThanOrEqual, left, size);
        self.fb.ins().band(enough, within)
    }

    /// A dword that a superblock loads; it gives up unless that is proven.
    pub(super) fn proven_load(&mut self, node: &Node) -> ir::Value {
        let (number, dword) = ((node.imm >> 8) as usize, (node.imm & 0xff) as i32);
        let superblock = self.superblock.expect("there are such loads in superblocks only");
        let load = *superblock.loads.iter().find(|load| load.number == number).expect("all loads are proven ones");
        let base = self.uniform(node.args[0]);
        let address = match self.proven.get(&load.site) {
            Some(known) => *known,
            None => self.proven_address(&load, base),
        };
        self.fb.ins().load(I32, MemFlagsData::new().with_notrap(), address, load.offset as i32 + 4 * dword)
    }

    fn proven_address(&mut self, load: &ProvenLoad, base: ir::Value) -> ir::Value {
        let address = if load.origin == 0 { base } else { self.fb.ins().iadd_imm_s(base, load.origin) };
        let address = self.fb.ins().band_imm_s(address, -4);
        let proven = self.load_site(load.site, Site::PROVEN);
        let (good, next) = (self.fb.ins().icmp(IntCC::Equal, address, proven), self.fb.create_block());
        self.fb.ins().brif(good, next, &[], self.fault, &[]);
        self.fb.switch_to_block(next);
        self.proven.insert(load.site, address);
        address
    }

    /// A field of a site, by the unit's number of the access.
    fn load_site(&mut self, number: usize, field: usize) -> ir::Value {
        let flags = MemFlagsData::trusted();
        let sites = self.fb.ins().load(I64, flags, self.context, offset_of!(Context, first_site) as i32);
        let at = number * size_of::<Site>() + field;
        self.fb.ins().load(I64, flags, sites, at as i32)
    }

    /// [`ScalarLoads::address`] of the wave.
    fn scalar_address(&mut self, loads: &ScalarLoads) -> ir::Value {
        let sgpr = |register: usize| (offset_of!(Wave, sgpr) + 4 * register) as i32;
        let (flags, first) = (MemFlagsData::trusted(), &loads.loads[0]);
        let mut address = self.fb.ins().load(I64, flags, self.wave, sgpr(first.base));
        if let Some(register) = first.soffset {
            let more = self.fb.ins().uload32(flags, self.wave, sgpr(register));
            address = self.fb.ins().iadd(address, more);
        }
        if loads.origin() != 0 {
            address = self.fb.ins().iadd_imm_s(address, loads.origin());
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
