//! Fused parts of a block's plan: segments and the accesses between them as one straight line.
//!
//! What a part computes stays in registers from segment to access to segment, and VGPRs that are written again before
//! the part ends are never stored. The price is that it can only do the common case: where an access finds that it is
//! not one of those that its code handles, the part gives up, and the block's plan is gone through as if nothing had
//! happened. Three rules make that possible:
//!
//! - Until the last access has been checked, nothing is written that the plan would read: no memory, no slot, and of
//!   VGPRs only those whose old value the part does not use.
//! - A VGPR is written when all earlier accesses have been checked, so that a fault finds the registers it should.
//! - Stores move their data when all accesses of the part have been checked, and no load comes after one, unless it
//!   is from other memory ([`FusedAccess::apart_from`]).
//!
//! A part has a block of its own: nodes of the guest's block that it needs, with a read of a VGPR that the part has
//! written replaced by what was written, and what is a matter of EXEC decided: values are those of active lanes. It is made for
//! EXEC all ones and, unless that is what EXEC is thought to be ([`super::exec`]), once more for any ([`Fused::partial`]): what
//! is written and stored is masked then, where lanes go is a matter of active ones, and nothing else needs to know.
//!
//! Where the addresses of lanes are thought to count ([`super::strides`]), a part computes them at the *ends* of chunks only,
//! the first and the last lane of each, and gives up if what lies between is not what it takes it to be.

pub mod address;
mod builder;
pub mod induction;
mod strided;

use super::exec::Exec;
use super::registers::RegisterSet;
use super::segment::{Item, Plan};
use super::strides::claims::Claim;
use super::strides::{Guess, Stride};
use crate::access::{LaneMove, Origin};
use crate::lane::{Block, Fenv, Node, Op, Shape, Table, Term, Value};
use address::Address;
use builder::Builder;
use gcnjit_rt::Mode;
use gcnjit_rt::wave::reg;
use induction::Induction;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;

/// A fused part.
pub struct Fused {
    /// The items of the block's plan that it does.
    pub items: Range<usize>,
    /// The guest instruction that it begins with.
    pub pc: u64,
    /// Its values.
    pub block: Block,
    /// Its plan, of one step: which values are in slots.
    pub plan: Plan,
    /// What happens, in order.
    pub stages: Vec<Stage>,
    /// Its accesses.
    pub accesses: Vec<FusedAccess>,
    /// VGPRs that it writes last, whose old values it reads or that are written late: register and value.
    pub sets: Vec<(u64, Value)>,
    /// Slots that later steps read, with their values.
    pub keeps: Vec<(usize, Value)>,
    /// Masks that become bits: the node in the guest's block, and the mask here.
    pub bits: Vec<(Value, Value)>,
    /// Uniform values that it reads: here, and in the guest's block.
    pub uniforms: Vec<(Value, Value)>,
    /// The environment of its arithmetic.
    pub fenv: Option<Fenv>,
    /// The strides of its values.
    pub strides: Vec<Stride>,
    /// Whether it is made for other EXECs than all ones too.
    pub partial: bool,
    /// How many chunks reach to the last lane of waves, as it seems.
    pub chunks: i32,
    /// In how many lanes addresses are thought to count: those of a chunk, or more.
    pub reach: usize,
    /// Scalar registers that a superblock's items write and its accesses read: they have to be written before it begins.
    pub written_first: RegisterSet,
    /// If its block is a loop of it: what it does in an iteration that knows how registers count.
    pub induction: Option<Box<Induction>>,
}

impl Fused {
    /// How many loads from memory count from lane to lane.
    pub fn streams(&self) -> usize {
        self.accesses.iter().filter(|access| access.is_stream()).count()
    }
}

/// A stage of a part.
#[derive(Default)]
pub struct Stage {
    /// Values to compute.
    pub values: Vec<Value>,
    /// Masks that have to be true in all active lanes.
    pub assumed: Vec<Value>,
    /// VGPRs to write as soon as their values are there.
    pub sets: Vec<(u64, Value)>,
    /// Values to compute at the ends of chunks, each with what is to be looked at when it is there.
    pub ends: Vec<(Value, Vec<Claim>)>,
    /// Strided accesses to check, for which these are needed.
    pub checks: Vec<Group>,
    /// The access behind them, by its place in [`Fused::accesses`].
    pub access: Option<usize>,
}

/// Accesses that are checked as one: a store, or loads that differ in what their instructions add to the address only.
pub struct Group {
    /// They, by their places in [`Fused::accesses`].
    pub accesses: Vec<usize>,
    /// The bytes of a lane that they move, from the address that they have in common on.
    pub bytes: Range<i32>,
}

/// An access of a part.
pub struct FusedAccess {
    /// Its number in the guest's block.
    pub number: usize,
    /// What it does.
    pub access: LaneMove,
    /// Where its addresses count from.
    pub origin: Origin,
    /// The halves of its address, or the offset alone.
    pub address: Vec<Value>,
    /// What is stored, or loaded.
    pub data: Vec<Value>,
    /// How the lanes' addresses count, if they are known at the ends of chunks only.
    pub counting: Option<Counting>,
    /// Of a load, the stores to memory before it, by their places in [`Fused::accesses`]. It is done before they are, and
    /// the part gives up if it is from the allocation of one.
    pub apart_from: Vec<usize>,
}

impl FusedAccess {
    /// Whether it is a load from memory that counts from lane to lane.
    pub fn is_stream(&self) -> bool {
        let counts = self.counting.as_ref().is_some_and(|counting| counting.stride != 0);
        counts && !self.access.store && !matches!(self.origin, Origin::Lds { .. })
    }
}

/// Addresses that count in each chunk.
pub struct Counting {
    /// Bytes from lane to lane.
    pub stride: i32,
    /// What they are made of.
    pub address: Address,
    /// How far behind the first byte that its [`Group`] moves the access is.
    pub behind: i32,
}

/// What parts are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A block. Where a part would be too much, there are several.
    Block,
    /// A block that goes back to itself, if it is one part ([`induction`]), which may be larger.
    Loop,
    /// A superblock. It is one part, or there is none: that one may be larger, and do loads before stores that they come
    /// after, where these are to other allocations.
    Superblock,
}

/// Finds the parts of a block's plan. `exit` is what is read of registers after the block.
pub fn parts(
    block: &Block,
    plan: &Plan,
    mode: Mode,
    exit: RegisterSet,
    guess: &Guess,
    exec: &Exec,
    scope: Scope,
) -> Vec<Fused> {
    let mut context = Context::new(block, plan, mode, guess, exec, scope);
    let goes_back = matches!(block.term, Term::Branch(_, yes, no) if [yes, no].contains(&block.pc));
    if scope == Scope::Block && goes_back {
        context.scope = Scope::Loop;
        if let Some(part) = context.whole_loop(exit) {
            return vec![part];
        }
        context.scope = scope;
    }
    context.parts(exit)
}

/// What is the same for all parts of a block.
struct Context<'a> {
    block: &'a Block,
    plan: &'a Plan,
    items: &'a [Item],
    mode: Mode,
    guess: &'a Guess,
    scope: Scope,
    /// How many chunks reach to the last lane of waves, as it seems.
    chunks: i32,
    /// For each VGPR read, the node that wrote the register before it.
    written_by: Table<Value>,
    /// Writes of VGPRs that keep lanes outside of a mask, and these.
    masked: Table<Value>,
    /// The nodes of accesses.
    accesses: Vec<Value>,
    /// The item that does a node.
    item_of: Table<usize>,
    /// The item of each segment, by step.
    segments: Vec<Option<usize>>,
    /// EXEC before each item.
    exec: Vec<ExecState>,
}

/// EXEC at some place.
#[derive(Clone, Copy, Default)]
struct ExecState {
    /// The number of the register file's first state behind the last write to it.
    epoch: u64,
    /// What has been written there, if that was done in this block.
    value: Option<Value>,
    /// Whether it is thought to be all ones.
    is_full: bool,
}

impl<'a> Context<'a> {
    fn new(block: &'a Block, plan: &'a Plan, mode: Mode, guess: &'a Guess, exec: &Exec, scope: Scope) -> Self {
        let mut context = Context {
            block,
            plan,
            items: &plan.items,
            mode,
            guess,
            scope,
            chunks: exec.chunks,
            written_by: Table::with_capacity(block.nodes.len()),
            accesses: vec![Value::NONE; block.accesses.len()],
            item_of: Table::with_capacity(block.nodes.len()),
            segments: vec![None; plan.steps.len()],
            exec: Vec::with_capacity(plan.items.len()),
            masked: Table::with_capacity(0),
        };
        for (i, item) in plan.items.iter().enumerate() {
            match *item {
                Item::Scalar(value) => context.item_of.insert(value, i),
                Item::Segment(rank) => {
                    context.segments[rank] = Some(i);
                    plan.steps[rank].segment.sets.iter().for_each(|set| context.item_of.insert(*set, i));
                }
            }
        }
        context.find_writers();
        context.find_exec(exec);
        context
    }

    fn is_access(&self, item: &Item) -> bool {
        matches!(item, Item::Scalar(value) if self.block.node(*value).op == Op::Access)
    }

    fn find_writers(&mut self) {
        let mut last: HashMap<u64, Value> = HashMap::default();
        for (i, node) in self.block.nodes.iter().enumerate() {
            let value = Value(i as u32);
            match node.op {
                Op::SetVgpr => {
                    if let Some(mask) = self.kept_outside(node, last.get(&node.imm)) {
                        self.masked.insert(value, mask);
                    }
                    last.insert(node.imm, value);
                }
                Op::Access => {
                    self.accesses[node.imm as usize] = value;
                    let written = self.block.accesses[node.imm as usize].writes_vgprs();
                    last.extend(written.map(|register| (register as u64, value)));
                }
                Op::Vgpr => {
                    last.get(&(node.imm & 0xff)).into_iter().for_each(|writer| self.written_by.insert(value, *writer));
                }
                _ => {}
            }
        }
    }

    /// The mask outside of which a write leaves what the register holds, since its last write.
    fn kept_outside(&self, set: &Node, last: Option<&Value>) -> Option<Value> {
        let select = self.block.node(set.args[0]);
        let [mask, _, base] = select.args;
        let is_own = || {
            let node = self.block.node(base);
            node.op == Op::Vgpr && node.imm & 0xff == set.imm && self.written_by.get(base) == last.copied()
        };
        (select.op == Op::Select && is_own()).then_some(mask)
    }

    /// Finds the parts, one after the other.
    fn parts(&self, exit: RegisterSet) -> Vec<Fused> {
        // A scalar item at the start is as well done before the part, and behind the last access nothing begins one.
        let begins = |item: &Item| matches!(item, Item::Segment(_)) || self.is_access(item);
        let end = self.items.iter().rposition(|item| self.is_access(item)).map_or(0, |last| last + 1);
        let mut parts = Vec::new();
        let mut start = 0;
        while start < end {
            let part = begins(&self.items[start]).then(|| self.longest_from(start)).flatten();
            start = part.as_ref().map_or(start + 1, |part| part.items.end);
            parts.extend(part.map(|part| part.finish(exit)));
        }
        parts
    }

    /// The part of a block that goes back to itself, if it does all that is done to lanes there, and something counts.
    fn whole_loop(&self, exit: RegisterSet) -> Option<Fused> {
        let first = self.items.iter().position(|item| !self.leaves_lanes(*item))?;
        let part = self.longest_from(first)?;
        let is_whole = self.items[part.items.end..].iter().all(|item| self.leaves_lanes(*item));
        if !is_whole || self.block.nodes.iter().any(Node::writes_exec) {
            return None;
        }
        let induction = self.longest_from(first)?.finish_iteration(exit)?;
        Some(Fused { induction: Some(Box::new(induction)), ..part.finish(exit) })
    }

    /// Whether an item has nothing to do with lanes, be it that it stops the wave: then these are written before.
    fn leaves_lanes(&self, item: Item) -> bool {
        let loads_scalars = || {
            let Item::Scalar(value) = item else { return false };
            let node = self.block.node(value);
            let access = (node.op == Op::Access).then(|| &self.block.accesses[node.imm as usize]);
            access.is_some_and(|access| access.scalar_load().is_some() && access.writes_sgprs().end <= reg::EXEC)
        };
        self.leaves_vgprs(item) || loads_scalars()
    }

    /// Whether an item neither reads VGPRs nor may stop the wave.
    fn leaves_vgprs(&self, item: Item) -> bool {
        match item {
            Item::Scalar(value) => {
                let node = self.block.node(value);
                let pure = node.shape == Shape::Uniform && !node.is_effect() && node.op != Op::ReadLane;
                pure || matches!(node.op, Op::SetSgpr | Op::SetScc)
            }
            Item::Segment(_) => false,
        }
    }

    /// The longest part that begins with an item, if it is worth it.
    fn longest_from(&self, start: usize) -> Option<Builder<'_>> {
        let mut part = Builder::new(self, start);
        while part.items.end < self.items.len() && part.take(self.items[part.items.end]).is_some() {
            part.items.end += 1;
        }
        part.is_worth_it().then_some(part)
    }
}

impl Context<'_> {
    /// Finds what EXEC is before each item. Reads that carry a lower number than its epoch are older.
    fn find_exec(&mut self, exec: &Exec) {
        let mut state = ExecState { is_full: exec.full_at_start, ..ExecState::default() };
        let (mut next, mut read) = (0, 0);
        for item in self.items {
            self.exec.push(state);
            let Item::Scalar(write) = *item else { continue };
            let node = self.block.node(write);
            if !node.writes_exec() {
                continue;
            }
            // A read behind the write in program order carries a later number than any before it.
            while read < write.index() {
                let before = &self.block.nodes[read];
                next = if before.op == Op::Sgpr { next.max((before.imm >> 32) + 1) } else { next };
                read += 1;
            }
            state = ExecState { epoch: next, value: self.written_to_exec(write), is_full: exec.is_full_behind(write) };
        }
    }

    /// What EXEC holds behind a write of one of its halves, if the other one has just been written with the same value's.
    fn written_to_exec(&self, write: Value) -> Option<Value> {
        let low = self.block.node(Value(write.0.checked_sub(1)?));
        let high = self.block.node(write);
        let is_half = |set: &Node, register: usize| set.op == Op::SetSgpr && set.imm as usize == register;
        let [low_half, high_half] = [low, high].map(|set| self.block.nodes.get(set.args[0].index()));
        let (low_half, high_half) = (low_half?, high_half?);
        let is_both = is_half(low, reg::EXEC)
            && is_half(high, reg::EXEC + 1)
            && low_half.op == Op::Lo
            && high_half.op == Op::Hi
            && low_half.args[0] == high_half.args[0];
        is_both.then_some(low_half.args[0])
    }
}

impl Fused {
    /// The values that are needed lane by lane, if of the accesses these need their addresses so.
    fn needed(&self, needs_address: impl Fn(&FusedAccess) -> bool) -> HashSet<Value> {
        let mut roots: Vec<Value> = Vec::new();
        for access in &self.accesses {
            let address = access.address.iter().filter(|_| needs_address(access));
            roots.extend(address.chain(access.data.iter().filter(|_| access.access.store)));
        }
        roots.extend(self.sets.iter().chain(self.stages.iter().flat_map(|stage| &stage.sets)).map(|set| set.1));
        roots.extend(self.stages.iter().flat_map(|stage| &stage.assumed));
        roots.extend(self.keeps.iter().map(|(_, value)| *value));
        roots.extend(self.bits.iter().map(|(_, value)| *value));
        self.with_arguments(roots)
    }

    /// Values, and all that they are made of.
    fn with_arguments(&self, mut work: Vec<Value>) -> HashSet<Value> {
        let mut found = HashSet::default();
        while let Some(value) = work.pop() {
            if found.insert(value) {
                work.extend(self.block.node(value).args());
            }
        }
        found
    }

    /// Drops values that nothing uses, given those that lanes need.
    fn drop_unused(&mut self, lanes: &HashSet<Value>) {
        let ends = self.stages.iter().flat_map(|stage| &stage.ends).map(|end| end.0);
        let counting = self.accesses.iter().filter_map(|access| access.counting.as_ref());
        let of_ends =
            self.with_arguments(ends.chain(counting.flat_map(|counting| counting.address.values())).collect());
        self.stages.iter_mut().for_each(|stage| stage.values.retain(|value| lanes.contains(value)));
        self.uniforms.retain(|(value, _)| lanes.contains(value) || of_ends.contains(value));
    }
}
