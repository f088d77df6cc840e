//! Segments: when each node runs.
//!
//! A block's plan is a list of steps; a step is scalar work followed by a segment, one strip-mined loop over the
//! lanes. A node's *rank* is its step. Per-lane work goes to the earliest segment that its arguments, the
//! effects before it and its floating-point environment allow; what crosses lanes (a mask read as bits, a
//! lane read as a scalar, a libcall on rows) is available one step after its source. A lane value that a later
//! step needs is kept in a slot of the frame, unless it is cheap to make again or still stands in its VGPR.
//!
//! Invariant that makes faults precise: when an access runs, every register write of earlier instructions is
//! in the register file and none of later ones is.

use super::live::is_cheap;
use super::scalar_loads::{self, ScalarLoads};
use crate::fenv;
use crate::lane::{Block, Fenv, Node, Op, Shape, Table, Ty, Value, indexed_vgprs};
use gcnjit_rt::Mode;
use rustc_hash::FxHashMap as HashMap;
use std::ops::Range;

/// The plan of a block.
#[derive(Default)]
pub struct Plan {
    /// In order.
    pub steps: Vec<Step>,
    /// All that they do, in order.
    pub items: Vec<Item>,
    /// Loads of SGPRs among them that are done together.
    pub loads: Vec<ScalarLoads>,
    /// The step of each live node.
    pub ranks: Vec<Option<usize>>,
    /// Frame slots of lane values that outlive their segment.
    pub slots: Table<usize>,
    /// Slots used.
    pub slot_count: usize,
    /// The last moment at which a VGPR read still stands in the register file.
    valid_until: Table<usize>,
}

/// Moments within a plan: the scalar work of a step, then its segment.
fn scalar_moment(rank: usize) -> usize {
    2 * rank
}

fn segment_moment(rank: usize) -> usize {
    2 * rank + 1
}

/// Scalar work, then a segment.
#[derive(Default)]
pub struct Step {
    /// Uniform nodes, libcalls and effects but SetVgpr, in program order.
    pub scalars: Vec<Value>,
    /// The loop over the lanes; without roots there is none.
    pub segment: Segment,
}

/// Per-lane work: everything that its roots need.
#[derive(Default)]
pub struct Segment {
    /// SetVgpr effects.
    pub sets: Vec<Value>,
    /// Nodes that turn a mask into bits.
    pub bits: Vec<Value>,
    /// Values that go to their slots.
    pub spills: Vec<Value>,
    /// The environment of its arithmetic.
    pub fenv: Option<Fenv>,
}

impl Segment {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty() && self.bits.is_empty() && self.spills.is_empty()
    }
}

/// What a plan consists of, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A node of some step's scalar work.
    Scalar(Value),
    /// The segment of a step.
    Segment(usize),
}

impl Plan {
    fn list_items(&mut self) {
        for (rank, step) in self.steps.iter().enumerate() {
            self.items.extend(step.scalars.iter().copied().map(Item::Scalar));
            self.items.extend((!step.segment.is_empty()).then_some(Item::Segment(rank)));
        }
    }

    /// A plan that says no more than what is in slots: values without a rank.
    pub fn of_slots(ranks: Vec<Option<usize>>, slots: Table<usize>) -> Plan {
        let mut valid_until = Table::default();
        // A read is kept if something else is in the register by now.
        for value in (0..ranks.len()).map(|number| Value(number as u32)).filter(|value| slots.contains(*value)) {
            valid_until.insert(value, scalar_moment(0));
        }
        Plan { steps: vec![Step::default()], ranks, slots, valid_until, ..Plan::default() }
    }

    /// The frame slot of a value that is in one.
    pub fn slot(&self, value: Value) -> usize {
        self.slots.get(value).expect("what is kept has a slot")
    }

    /// Whether the segment of `step` can read the VGPR node from the register file.
    pub fn in_file_for_segment(&self, value: Value, step: usize) -> bool {
        self.valid_until.get(value).is_none_or(|last| segment_moment(step) <= last)
    }

    /// Whether the scalar work of `step` can use the row of the VGPR node in the register file.
    pub fn in_file_for_scalars(&self, value: Value, step: usize) -> bool {
        self.valid_until.get(value).is_none_or(|last| scalar_moment(step) <= last)
    }
}

/// Plans the needed nodes of a block for kernels that run under `mode`.
pub fn plan(block: &Block, needed: &[bool], mode: Mode) -> Plan {
    let mut ranker = Ranker::new(block, mode);
    for (i, node) in block.nodes.iter().enumerate() {
        if needed[i] {
            ranker.place(Value(i as u32), node);
        }
    }
    let mut plan = ranker.plan;
    keep_crossing_values(block, &mut plan);
    plan.list_items();
    plan.loads = scalar_loads::find(block, &plan.items);
    plan
}

struct Ranker<'a> {
    block: &'a Block,
    mode: Mode,
    plan: Plan,
    /// Lane work may not go before this segment.
    current: usize,
    /// Step of the last access.
    floor: usize,
    /// First step at which all register writes so far are done.
    settled: usize,
    /// Live VGPR reads, by register.
    reads: HashMap<u64, Vec<Value>>,
    /// First step at which a VGPR has its last written value.
    written: HashMap<u64, usize>,
    /// Latest step at whose start the row of a VGPR read is used by a libcall.
    row_uses: HashMap<Value, usize>,
}

impl<'a> Ranker<'a> {
    fn new(block: &'a Block, mode: Mode) -> Self {
        let plan = Plan { ranks: vec![None; block.nodes.len()], ..Plan::default() };
        Ranker {
            block,
            mode,
            plan,
            current: 0,
            floor: 0,
            settled: 0,
            reads: HashMap::default(),
            written: HashMap::default(),
            row_uses: HashMap::default(),
        }
    }

    fn place(&mut self, value: Value, node: &Node) {
        let rank = match (node.op, node.shape) {
            (Op::SetVgpr, _) => return self.set_vgpr(value, node),
            (Op::Access, _) => {
                let written = self.block.accesses[node.imm as usize].writes_vgprs();
                return self.barrier(value, 0, written);
            }
            (Op::SetVgprAt, _) => {
                let ready = self.call_rank(node);
                return self.barrier(value, ready, 0..256);
            }
            (Op::SgprAt | Op::SetSgprAt, _) => {
                let ready = self.uniform_rank(node);
                return self.barrier(value, ready, 0..0);
            }
            (Op::Cut, _) => return self.cut(node),
            (Op::SetSgpr | Op::SetScc | Op::SetMode | Op::SetTrapsts, _) => self.set_scalar(node),
            (Op::Sgpr | Op::Scc | Op::Mode | Op::Trapsts, _) => self.floor,
            (Op::Call, _) => self.call_rank(node),
            (Op::VgprAt, _) => self.call_rank(node).max(self.indexed_rank(node)),
            (Op::LdsRow, _) => self.lds_rank(node),
            (Op::Vgpr, _) => self.current.max(self.written.get(&(node.imm & 0xff)).copied().unwrap_or(0)),
            (_, Shape::Uniform) => self.uniform_rank(node),
            (_, Shape::Lane) => self.lane_rank(node),
        };
        self.plan.ranks[value.index()] = Some(rank);
        if node.op == Op::Vgpr {
            self.reads.entry(node.imm & 0xff).or_default().push(value);
        }
        if node.op == Op::VgprAt {
            let registers = indexed_vgprs(node.imm).map(|register| register as u64);
            registers.for_each(|register| self.reads.entry(register).or_default().push(value));
            self.note_row_use(value, rank);
        }
        if node.shape == Shape::Uniform || node.is_row() {
            self.step(rank).scalars.push(value);
        }
        if node.op == Op::Bits {
            let source = self.rank(node.args[0]);
            self.step(source).segment.bits.push(value);
        }
    }

    fn step(&mut self, rank: usize) -> &mut Step {
        while self.plan.steps.len() <= rank {
            self.plan.steps.push(Step::default());
        }
        &mut self.plan.steps[rank]
    }

    fn rank(&self, value: Value) -> usize {
        self.plan.ranks[value.index()].expect("arguments of live nodes are placed before them")
    }

    /// Scalar work: after the segments whose lanes it reads, unless these stand in a VGPR.
    fn uniform_rank(&mut self, node: &Node) -> usize {
        let in_file = |source: &Node| node.op == Op::ReadLane && source.op == Op::Vgpr;
        let after = |arg| {
            let source = self.block.node(arg);
            self.rank(arg) + usize::from(source.shape == Shape::Lane && !in_file(source))
        };
        let rank = node.args().map(after).max().unwrap_or(0);
        if node.op == Op::ReadLane {
            self.note_row_use(node.args[0], rank);
        }
        rank
    }

    /// Remembers that the row of a VGPR read is used in memory at the start of step `rank`.
    fn note_row_use(&mut self, read: Value, rank: usize) {
        if matches!(self.block.node(read).op, Op::Vgpr | Op::VgprAt) {
            let last = self.row_uses.entry(read).or_default();
            *last = rank.max(*last);
        }
    }

    fn lane_rank(&mut self, node: &Node) -> usize {
        let mut rank = node.args().map(|arg| self.rank(arg)).max().unwrap_or(0).max(self.current);
        while !self.fits(rank, node.fenv) {
            rank += 1;
        }
        if node.fenv != Fenv::Any {
            self.step(rank).segment.fenv = Some(node.fenv);
        }
        rank
    }

    /// Whether the segment's environment is, or can become, the one asked for.
    fn fits(&mut self, rank: usize, fenv: Fenv) -> bool {
        let mode = self.mode;
        match self.step(rank).segment.fenv {
            Some(other) if fenv != Fenv::Any => fenv::mxcsr(mode, other) == fenv::mxcsr(mode, fenv),
            _ => true,
        }
    }

    /// A libcall runs when its rows are in memory.
    fn call_rank(&mut self, node: &Node) -> usize {
        let args = node.args().map(|arg| {
            let source = self.block.node(arg);
            self.rank(arg) + usize::from(source.shape == Shape::Lane && source.op != Op::Vgpr && !source.is_row())
        });
        let rank = args.max().unwrap_or(0).max(self.current);
        node.args().for_each(|arg| self.note_row_use(arg, rank));
        rank
    }

    /// First step at which those that an indexed VGPR may be have their last written values.
    fn indexed_rank(&self, node: &Node) -> usize {
        let written = indexed_vgprs(node.imm).filter_map(|register| self.written.get(&(register as u64)));
        written.copied().max().unwrap_or(0).max(self.floor)
    }

    /// LDS is read after the last access, and before the next one.
    fn lds_rank(&mut self, node: &Node) -> usize {
        let rank = self.call_rank(node);
        self.settled = self.settled.max(rank);
        rank
    }

    fn set_scalar(&mut self, node: &Node) -> usize {
        let source = node.args[0];
        let rank = self.rank(source).max(self.floor);
        self.settled = self.settled.max(rank);
        rank
    }

    fn set_vgpr(&mut self, value: Value, node: &Node) {
        let reads = self.reads.remove(&node.imm).unwrap_or_default();
        let row_use = reads.iter().filter_map(|read| self.row_uses.get(read)).max().copied().unwrap_or(0);
        let rank = self.rank(node.args[0]).max(self.current).max(row_use);
        for read in reads {
            self.plan.valid_until.insert_first(read, segment_moment(rank));
        }
        self.plan.ranks[value.index()] = Some(rank);
        self.written.insert(node.imm, rank + 1);
        self.step(rank).segment.sets.push(value);
        self.settled = self.settled.max(rank + 1);
    }

    /// An access, a write to an indexed VGPR, or a use of an indexed SGPR: runs at the start of a step after all earlier
    /// register writes and all earlier reads of what it overwrites; later work comes after it.
    fn barrier(&mut self, value: Value, ready: usize, written: Range<usize>) {
        let reads: Vec<Value> = written.filter_map(|r| self.reads.remove(&(r as u64))).flatten().collect();
        let read = reads.iter().map(|read| self.rank(*read) + 1).max().unwrap_or(0);
        let rank = self.settled.max(self.floor).max(self.current).max(ready).max(read);
        for read in reads {
            self.plan.valid_until.insert_first(read, scalar_moment(rank));
        }
        self.plan.ranks[value.index()] = Some(rank);
        self.step(rank).scalars.push(value);
        (self.current, self.floor, self.settled) = (rank, rank, rank);
    }

    fn cut(&mut self, node: &Node) {
        let exec = if node.args[0] == Value::NONE { 0 } else { self.rank(node.args[0]) };
        self.current = self.current.max(self.settled).max(exec);
    }
}

/// Gives a slot to every lane value that a later step uses.
fn keep_crossing_values(block: &Block, plan: &mut Plan) {
    let mut kept = Vec::new();
    for (i, node) in block.nodes.iter().enumerate() {
        let Some(rank) = plan.ranks[i] else { continue };
        for arg in node.args() {
            if block.node(arg).shape == Shape::Lane && crosses(block, plan, node, arg, rank) {
                kept.push(arg);
            }
        }
        if node.is_row() {
            kept.push(Value(i as u32));
        }
    }
    for value in kept {
        keep(block, plan, value);
    }
}

/// Whether `node`, at `rank`, finds `arg` only in memory.
fn crosses(block: &Block, plan: &Plan, node: &Node, arg: Value, rank: usize) -> bool {
    let source = block.node(arg);
    let vgpr = source.op == Op::Vgpr;
    match node.op {
        Op::Bits => false,
        Op::Call | Op::ReadLane | Op::SetVgprAt => !(vgpr && plan.in_file_for_scalars(arg, rank)),
        _ if plan.ranks[arg.index()] == Some(rank) && !source.is_row() => false,
        _ => !(is_cheap(block, arg) || vgpr && plan.in_file_for_segment(arg, rank)),
    }
}

fn keep(block: &Block, plan: &mut Plan, value: Value) {
    if plan.slots.contains(value) {
        return;
    }
    plan.slots.insert(value, plan.slot_count);
    plan.slot_count += if block.node(value).ty == Ty::B64 { 2 } else { 1 };
    if !block.node(value).is_row() {
        let rank = plan.ranks[value.index()].expect("only live values are kept");
        plan.steps[rank].segment.spills.push(value);
    }
}
