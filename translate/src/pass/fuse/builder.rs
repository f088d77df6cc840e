//! How a fused part grows, item by item of the plan.

use super::induction::Induction;
use super::{Context, Fused, FusedAccess, Scope, Stage};
use crate::access::{Base, Origin};
use crate::defect::{Precaution, forgets};
use crate::fenv;
use crate::lane::{Block, Fenv, Node, Op, Shape, Table, Ty, Value};
use crate::pass::demand::Demand;
use crate::pass::initial::is_lane_wise;
use crate::pass::live::is_cheap;
use crate::pass::registers::RegisterSet;
use crate::pass::segment::{Item, Plan};
use crate::pass::strides::Stride;
use gcnjit_rt::wave::reg;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Says of a read of a VGPR that it is in a slot.
const KEPT: u64 = 1 << 63;

impl Scope {
    /// Values times the chunks that code is written out for. Those with a stride mostly belong to addresses, which are
    /// computed once.
    fn values(self) -> usize {
        match self {
            Scope::Block => 56 * 4,
            Scope::Loop | Scope::Superblock => 512 * 4,
        }
    }

    /// Most accesses of a part.
    fn accesses(self) -> usize {
        match self {
            Scope::Block | Scope::Superblock => 12,
            Scope::Loop => 32,
        }
    }
}

/// A part while it grows.
pub(super) struct Builder<'a> {
    context: &'a Context<'a>,
    pub(super) items: Range<usize>,
    /// Segments and accesses.
    worth: usize,
    block: Block,
    slots: Table<usize>,
    ranks: Vec<Option<usize>>,
    stages: Vec<Stage>,
    accesses: Vec<FusedAccess>,
    /// Values of the guest's block, here.
    known: HashMap<Value, Value>,
    /// VGPRs written so far: the stage, and the value.
    written: BTreeMap<u64, (usize, Value)>,
    /// VGPRs whose values from before are read.
    exposed: RegisterSet,
    /// The strides of these.
    strides: HashMap<Value, Stride>,
    /// Scalar registers written.
    scalars: RegisterSet,
    /// Of a superblock, scalar registers that accesses read.
    read: RegisterSet,
    /// Those of them that were written in the superblock.
    written_first: RegisterSet,
    /// Uniform values of its items, all of which are computed before it begins.
    early: HashSet<Value>,
    spills: Vec<Value>,
    bits: Vec<(Value, Value)>,
    uniforms: Vec<(Value, Value)>,
    fenv: Option<Fenv>,
    computed: usize,
    /// Whether what it writes is a matter of active lanes.
    maskable: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(context: &'a Context<'a>, start: usize) -> Self {
        Builder {
            context,
            items: start..start,
            worth: 0,
            block: Block::new(context.block.pc),
            slots: Table::default(),
            ranks: Vec::new(),
            stages: vec![Stage::default()],
            accesses: Vec::new(),
            known: HashMap::default(),
            written: BTreeMap::new(),
            exposed: RegisterSet::default(),
            strides: HashMap::default(),
            scalars: RegisterSet::default(),
            read: RegisterSet::default(),
            written_first: RegisterSet::default(),
            early: HashSet::default(),
            spills: Vec::new(),
            bits: Vec::new(),
            uniforms: Vec::new(),
            fenv: None,
            computed: 0,
            maskable: true,
        }
    }

    fn node(&self, value: Value) -> &'a Node {
        self.context.block.node(value)
    }

    /// Adds an item, if it can be part of this. After `None` nothing of the item is left but values nobody uses.
    pub(super) fn take(&mut self, item: Item) -> Option<()> {
        match item {
            Item::Scalar(value) => self.scalar(value),
            Item::Segment(rank) => self.segment(rank),
        }
    }

    fn scalar(&mut self, value: Value) -> Option<()> {
        let node = self.node(value);
        match node.op {
            Op::Access => self.access(node.imm as usize),
            Op::Assume => self.assume(value, node.args[0]),
            _ if node.writes_exec() => None,
            // What an access has read before would have to be written behind it.
            Op::SetSgpr if self.read.has(RegisterSet::sgpr(node.imm)) => None,
            Op::SetSgpr => {
                self.is_early(node.args[0]).then_some(())?;
                self.scalars = self.scalars.and(RegisterSet::sgpr(node.imm));
                Some(())
            }
            Op::SetScc => {
                self.is_early(node.args[0]).then_some(())?;
                self.scalars = self.scalars.and(RegisterSet::SCC);
                Some(())
            }
            _ => {
                self.is_early(value).then_some(())?;
                self.early.insert(value);
                Some(())
            }
        }
    }

    fn assume(&mut self, item: Value, mask: Value) -> Option<()> {
        let rank = self.context.plan.ranks[item.index()]?;
        let mask = self.value(mask, rank)?;
        self.stages.last_mut().expect("there is always one").assumed.push(mask);
        Some(())
    }

    /// Whether a uniform value can be computed before the part begins.
    fn is_early(&self, value: Value) -> bool {
        let before = self.context.item_of.get(value).is_some_and(|item| item < self.items.start);
        if before || self.early.contains(&value) {
            return true;
        }
        let node = self.node(value);
        let pure = match node.op {
            Op::Sgpr => !self.scalars.has(RegisterSet::sgpr(node.imm & 0xff)),
            Op::Scc => !self.scalars.has(RegisterSet::SCC),
            Op::ReadLane | Op::Bits | Op::SgprAt | Op::Mode | Op::Trapsts => false,
            _ => node.shape == Shape::Uniform && !node.is_effect(),
        };
        pure && node.args().all(|arg| self.is_early(arg))
    }

    fn segment(&mut self, rank: usize) -> Option<()> {
        let context = self.context;
        let segment = &context.plan.steps[rank].segment;
        self.fenv = self.joined(segment.fenv)?;
        let roots = segment.sets.iter().chain(&segment.bits).map(|root| self.node(*root).args[0]);
        let roots: Vec<Value> = roots.chain(segment.spills.iter().copied()).collect();
        let undo = self.mark();
        if roots.into_iter().any(|root| self.value(root, rank).is_none()) {
            self.back_to(undo);
            return None;
        }
        let stage = self.stages.len() - 1;
        for set in &segment.sets {
            self.maskable &= context.masked.get(*set).is_some_and(|mask| self.is_within_exec(mask));
            let value = self.known[&self.resolved(self.node(*set).args[0])];
            self.written.insert(self.node(*set).imm, (stage, value));
        }
        for bits in &segment.bits {
            self.maskable &= self.is_masked(self.node(*bits));
            let value = self.known[&self.resolved(self.node(*bits).args[0])];
            self.bits.push((*bits, value));
        }
        self.spills.extend(&segment.spills);
        self.worth += 1;
        Some(())
    }

    /// The environment of floats with this one too, if there is such a one.
    fn joined(&self, other: Option<Fenv>) -> Option<Option<Fenv>> {
        let mode = self.context.mode;
        match (self.fenv, other) {
            (Some(a), Some(b)) if fenv::mxcsr(mode, a) != fenv::mxcsr(mode, b) => None,
            (a, b) => Some(a.or(b)),
        }
    }

    /// Whether the node is done by an item of the part.
    fn started(&self, value: Value) -> bool {
        self.context.item_of.get(value).is_some_and(|item| item >= self.items.start)
    }

    /// What to go back to if a segment turns out to be too much.
    fn mark(&self) -> (usize, usize, usize, RegisterSet) {
        let stage = self.stages.last().expect("there is always one");
        (self.block.nodes.len(), stage.values.len(), self.computed, self.exposed)
    }

    fn back_to(&mut self, (nodes, values, computed, exposed): (usize, usize, usize, RegisterSet)) {
        let is_old = |value: &Value| value.index() < nodes;
        self.stages.last_mut().expect("there is always one").values.truncate(values);
        self.known.retain(|_, value| is_old(value));
        self.uniforms.retain(|(value, _)| is_old(value));
        self.slots.truncate(nodes);
        (self.computed, self.exposed) = (computed, exposed);
    }

    /// Looks through what is a matter of EXEC.
    fn resolved(&self, value: Value) -> Value {
        let node = self.node(value);
        match node.op {
            Op::Select if self.is_exec(node.args[0]) => self.resolved(node.args[1]),
            Op::And if node.ty == Ty::B1 && self.is_exec(node.args[0]) => self.resolved(node.args[1]),
            Op::And if node.ty == Ty::B1 && self.is_exec(node.args[1]) => self.resolved(node.args[0]),
            _ => value,
        }
    }

    /// Whether bits are those of active lanes, or those of others nobody's.
    fn is_masked(&self, bits: &Node) -> bool {
        bits.bits_within().is_some_and(|mask| self.is_current_exec(mask)) || self.is_within_exec(bits.args[0])
    }

    /// Whether a mask has no lanes but active ones.
    fn is_within_exec(&self, mask: Value) -> bool {
        let node = self.node(mask);
        self.is_exec(mask) || node.op == Op::And && node.args().any(|arg| self.is_exec(arg))
    }

    /// Whether a mask is EXEC as it is in the register file, which no item of a part changes.
    fn is_exec(&self, value: Value) -> bool {
        let node = self.node(value);
        node.op == Op::Spread && self.is_current_exec(node.args[0])
    }

    fn is_current_exec(&self, mask: Value) -> bool {
        let exec = self.context.exec[self.items.start];
        let is_current = |halves: [&Node; 2]| halves.iter().all(|half| half.imm >> 32 >= exec.epoch);
        exec.value == Some(mask) || self.context.block.exec_halves(mask).is_some_and(is_current)
    }

    /// A value of the guest's block, here; in lanes that are not active it may be anything.
    fn value(&mut self, value: Value, rank: usize) -> Option<Value> {
        self.given(self.resolved(value), rank)
    }

    /// The same in all lanes, for who looks at other lanes than its own. What inactive ones have has to be said by the
    /// value itself: nothing that it is made of is right there.
    fn value_in_all_lanes(&mut self, value: Value, rank: usize) -> Option<Value> {
        let node = self.node(value);
        let is_uniform = |value: Value| self.node(value).shape == Shape::Uniform;
        let is_masked = node.op == Op::Select && self.is_exec(node.args[0]) && is_uniform(node.args[2]);
        (is_masked || is_uniform(value)).then(|| self.given(value, rank))?
    }

    fn given(&mut self, value: Value, rank: usize) -> Option<Value> {
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        let node = *self.node(value);
        let here = match node.op {
            _ if node.shape == Shape::Uniform => self.uniform(value, &node)?,
            Op::Vgpr => self.vgpr_read(value, &node, rank)?,
            _ if self.is_before(value, rank) => self.slot(value, &node)?,
            Op::Spread => {
                let mask = self.value(node.args[0], rank)?;
                self.push(value, Node { args: [mask, Value::NONE, Value::NONE], ..node })
            }
            Op::LaneId | Op::GroupId => self.push(value, node),
            _ => self.computed(value, node, rank)?,
        };
        self.known.insert(value, here);
        Some(here)
    }

    /// Whether the value was computed by a segment before the part, or outside of segments.
    fn is_before(&self, value: Value, rank: usize) -> bool {
        let node = self.node(value);
        if is_cheap(self.context.block, value) {
            return false;
        }
        let own = self.context.plan.ranks[value.index()].unwrap_or(rank);
        let item = self.context.segments.get(own).copied().flatten();
        node.is_row() || item.is_some_and(|item| item < self.items.start)
    }

    fn push(&mut self, origin: Value, node: Node) -> Value {
        self.block.at = self.context.block.origin(origin);
        self.ranks.push(Some(0));
        self.block.append(node)
    }

    fn uniform(&mut self, value: Value, node: &Node) -> Option<Value> {
        self.is_early(value).then_some(())?;
        // Whatever it is made of, here it is given.
        let here = self.push(value, Node { args: [Value::NONE; 3], ..*node });
        self.uniforms.push((here, value));
        Some(here)
    }

    fn slot(&mut self, value: Value, node: &Node) -> Option<Value> {
        let slot = self.context.plan.slots.get(value)?;
        // What a register held is not what it holds when the part begins.
        let imm = if node.op == Op::Vgpr { node.imm | KEPT } else { node.imm };
        let here = self.push(value, Node { args: [Value::NONE; 3], imm, ..*node });
        self.ranks[here.index()] = None;
        self.slots.insert(here, slot);
        Some(here)
    }

    fn vgpr_read(&mut self, value: Value, node: &Node, rank: usize) -> Option<Value> {
        let register = node.imm & 0xff;
        match self.context.written_by.get(value) {
            Some(writer) if self.started(writer) => match self.node(writer).op {
                Op::SetVgpr => self.value(self.node(writer).args[0], rank),
                _ => {
                    let number = self.node(writer).imm as usize;
                    let access = self.accesses.iter().find(|access| access.number == number)?;
                    Some(access.data[register as usize - access.access.data])
                }
            },
            _ => {
                let demand = Demand { block: self.context.block, plan: self.context.plan, rank };
                if demand.is_loaded(value) && self.is_before(value, rank) {
                    return self.slot(value, node);
                }
                Some(self.old(register, value, self.context.guess.values[value.index()]))
            }
        }
    }

    /// What a VGPR holds when the part begins.
    fn old(&mut self, register: u64, origin: Value, stride: Stride) -> Value {
        self.exposed = self.exposed.and(RegisterSet::vgpr(register));
        let node = Node {
            op: Op::Vgpr,
            ty: Ty::B32,
            shape: Shape::Lane,
            fenv: Fenv::Any,
            args: [Value::NONE; 3],
            imm: register,
        };
        let here = match self.block.find(&node) {
            Some(known) => known,
            None => self.push(origin, node),
        };
        self.strides.entry(here).and_modify(|known| *known = known.or(stride)).or_insert(stride);
        here
    }

    fn computed(&mut self, value: Value, node: Node, rank: usize) -> Option<Value> {
        self.computed += if self.context.guess.values[value.index()].is_some() { 1 } else { 4 };
        (self.computed <= self.context.scope.values()).then_some(())?;
        let mut args = [Value::NONE; 3];
        let stays_in_lane = is_lane_wise(&node) || forgets(Precaution::Lanes);
        for (to, from) in args.iter_mut().zip(node.args) {
            if from != Value::NONE {
                *to = match stays_in_lane {
                    true => self.value(from, rank)?,
                    false => self.value_in_all_lanes(from, rank)?,
                };
            }
        }
        let here = self.push(value, Node { args, ..node });
        self.stages.last_mut().expect("there is always one").values.push(here);
        Some(here)
    }

    fn access(&mut self, number: usize) -> Option<()> {
        let access = self.context.block.accesses[number].lane_move()?;
        let Base::Linear(from) = access.base else { return None };
        if !access.loads_whole() {
            return None;
        }
        if self.accesses.len() == self.context.scope.accesses() || !self.reads(from) {
            return None;
        }
        let apart_from = if access.store { Vec::new() } else { self.stores_before(from)? };
        let origin = self.context.accesses[number];
        let halves = if access.has_pairs() { 2 } else { 1 };
        let strides = self.context.guess.addresses[number];
        let address: Vec<Value> =
            (0..halves).map(|half| self.register(access.address + half, origin, strides[half])).collect();
        let shape = address.iter().map(|value| self.block.node(*value).shape).max().expect("it has an address");
        if access.store && shape == Shape::Uniform {
            return None;
        }
        let data = (0..access.dwords).map(|k| match access.store {
            true => self.register(access.data + k, origin, None),
            false => self.loaded(number, k, shape, origin),
        });
        let data: Vec<Value> = data.collect();
        let stage = self.stages.len();
        if !access.store {
            let registers = (0..access.dwords).map(|k| (access.data + k) as u64);
            self.written.extend(registers.zip(&data).map(|(register, value)| (register, (stage, *value))));
        }
        self.stages.last_mut().expect("there is always one").access = Some(self.accesses.len());
        self.stages.push(Stage::default());
        self.accesses.push(FusedAccess { number, access, origin: from, address, data, counting: None, apart_from });
        self.worth += 1;
        Some(())
    }

    /// The stores that a load has to be apart from, if it may be done before them.
    fn stores_before(&self, load: Origin) -> Option<Vec<usize>> {
        let is_lds = |origin: Origin| matches!(origin, Origin::Lds { .. });
        let may_meet = |access: &FusedAccess| access.access.store && is_lds(access.origin) == is_lds(load);
        let stores: Vec<usize> = (0..self.accesses.len()).filter(|number| may_meet(&self.accesses[*number])).collect();
        // There is one allocation in LDS, and in blocks with loops it is mostly one in memory.
        let may_be_apart = self.context.scope == Scope::Superblock && !is_lds(load);
        (may_be_apart || stores.is_empty()).then_some(stores)
    }

    /// Whether an access finds in scalar registers what addresses count from. A part writes those in the end, a superblock
    /// before it begins.
    fn reads(&mut self, origin: Origin) -> bool {
        let registers = match origin {
            Origin::Sgprs(base) => RegisterSet::sgprs(base..base + 2),
            Origin::Lds { by_m0: true } => RegisterSet::sgpr(reg::M0 as u64),
            _ => RegisterSet::default(),
        };
        let written = registers.in_both(self.scalars);
        if self.context.scope != Scope::Superblock {
            return written == RegisterSet::default();
        }
        self.read = self.read.and(registers);
        self.written_first = self.written_first.and(written);
        true
    }

    /// What a VGPR holds now.
    fn register(&mut self, register: usize, origin: Value, stride: Stride) -> Value {
        match self.written.get(&(register as u64)) {
            Some((_, value)) => *value,
            None => self.old(register as u64, origin, stride),
        }
    }

    /// A dword of a load, which is uniform if its address is.
    fn loaded(&mut self, number: usize, dword: usize, shape: Shape, origin: Value) -> Value {
        let node = Node {
            op: Op::Loaded,
            ty: Ty::B32,
            shape,
            fenv: Fenv::Any,
            args: [Value::NONE; 3],
            imm: (number as u64) << 8 | dword as u64,
        };
        self.push(origin, node)
    }

    /// Whether one function does more than one would have done otherwise, an access among it.
    pub(super) fn is_worth_it(&self) -> bool {
        self.worth > 1 && !self.accesses.is_empty()
    }

    /// Decides when registers are written, and drops what nobody needs.
    pub(super) fn finish(self, exit: RegisterSet) -> Fused {
        let guess = self.context.guess;
        let (mut fused, registers) = self.list(exit);
        let lanes = fused.find_strided(&registers, guess);
        fused.drop_unused(&lanes);
        fused
    }

    /// The same for an iteration of a loop that knows how registers count, if there is one.
    pub(super) fn finish_iteration(self, exit: RegisterSet) -> Option<Induction> {
        let guess = self.context.guess;
        let (fused, registers) = self.list(exit);
        Induction::of(fused, &registers, guess)
    }

    /// Decides when registers are written; with it, the strides of those that are read.
    fn list(mut self, exit: RegisterSet) -> (Fused, HashMap<Value, Stride>) {
        let is_last = self.context.items[self.items.end..].iter().all(|item| self.context.leaves_vgprs(*item));
        let mut sets = Vec::new();
        for (register, (stage, value)) in std::mem::take(&mut self.written) {
            if is_last && !exit.has_vgpr(register) {
                continue;
            }
            match self.exposed.has_vgpr(register) {
                true => sets.push((register, value)),
                false => self.stages[stage].sets.push((register, value)),
            }
        }
        let keeps = self.keeps();
        // What is in slots is seen in all lanes.
        let partial = self.maskable && keeps.is_empty() && !self.context.exec[self.items.start].is_full;
        let access = &self.context.block.accesses[self.accesses[0].number];
        let fused = Fused {
            items: self.items,
            pc: access.pc,
            block: self.block,
            plan: Plan::of_slots(self.ranks, self.slots),
            stages: self.stages,
            accesses: self.accesses,
            sets,
            keeps,
            bits: self.bits,
            uniforms: self.uniforms,
            fenv: self.fenv,
            strides: Vec::new(),
            partial,
            chunks: self.context.chunks,
            reach: self.context.guess.reach,
            written_first: self.written_first,
            induction: None,
        };
        (fused, self.strides)
    }

    /// The slots that what comes after the part reads.
    fn keeps(&self) -> Vec<(usize, Value)> {
        let Context { block, plan, segments, item_of, .. } = self.context;
        if self.spills.is_empty() {
            return Vec::new();
        }
        let mut read = HashSet::default();
        for (i, node) in block.nodes.iter().enumerate() {
            let Some(rank) = plan.ranks[i] else { continue };
            let item = item_of.get(Value(i as u32)).or_else(|| segments.get(rank).copied().flatten());
            if item.is_none_or(|item| item >= self.items.end) && node.op != Op::Bits {
                read.extend(node.args());
            }
        }
        let kept = self.spills.iter().filter(|value| read.contains(value));
        kept.map(|value| (plan.slot(*value), self.known[&self.resolved(*value)])).collect()
    }
}
