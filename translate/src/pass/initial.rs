//! Registers that a wave may read before it writes them: what they hold when it starts is seen. EXEC is not among them
//! where it only says which lanes are active.
//!
//! This is the analysis of [`super::registers`] for a wave that nobody looks at when it has stopped, so an access reads
//! the registers that it names, and none because it may fault. It goes by lanes too. A register, or a value, is wanted in
//! all lanes, or in those only that EXEC enables at that place. A write that is blended under EXEC serves the latter,
//! and they stay served from there back to a change of EXEC that can have enabled lanes.

use super::registers::{Exits, RegisterSet, all_read, effect};
use crate::AtEnd;
use crate::lane::{Block, Node, Op, Shape, Ty, Value};
use crate::libcall::RowOp;

/// In which lanes a value is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lanes {
    None,
    /// Those that EXEC enables.
    Active,
    All,
}

/// The registers that are read from a place on before they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reads {
    all: RegisterSet,
    active: RegisterSet,
}

impl Reads {
    fn both(self) -> RegisterSet {
        self.all.and(self.active)
    }
}

/// For each block of a unit, the registers that are read from its start on before they are written.
pub fn read_first(blocks: &[&Block]) -> Vec<RegisterSet> {
    let exits = Exits::new(blocks.iter().copied(), AtEnd::Nothing);
    let masks: Vec<Vec<Option<Value>>> = blocks.iter().map(|block| masks(block)).collect();
    let mut entry = vec![Reads::default(); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in blocks.iter().enumerate().rev() {
            let exit = Reads {
                all: exits.of(block, |successor| entry[successor].all, all_read),
                active: exits.of(block, |successor| entry[successor].active, all_read),
            };
            let reads = Backward::new(block, &masks[i], exit).start();
            changed |= reads != entry[i];
            entry[i] = reads;
        }
    }
    entry.into_iter().map(Reads::both).collect()
}

/// EXEC as of each node, where it is known as a value.
pub(super) fn masks(block: &Block) -> Vec<Option<Value>> {
    let cuts = |node: &&Node| node.op == Op::Cut;
    let begun = block.nodes.iter().position(|node| cuts(&node)).unwrap_or(block.nodes.len());
    let mut exec = (0..begun as u32).map(Value).find(|value| block.exec_halves(*value).is_some());
    let next = |node: &Node| {
        let before = exec;
        if node.op == Op::Cut {
            exec = Some(node.args[0]);
        }
        before
    };
    block.nodes.iter().map(next).collect()
}

/// Whether `mask` enables no lanes that `of` does not.
pub(super) fn is_part(block: &Block, mask: Value, of: Value) -> bool {
    let node = block.node(mask);
    mask == of || node.op == Op::And && node.args().any(|arg| is_part(block, arg, of))
}

/// The walk from the end of a block to its start.
struct Backward<'a> {
    block: &'a Block,
    masks: &'a [Option<Value>],
    wanted: Vec<Lanes>,
    reads: Reads,
}

impl<'a> Backward<'a> {
    fn new(block: &'a Block, masks: &'a [Option<Value>], reads: Reads) -> Backward<'a> {
        let mut wanted = vec![Lanes::None; block.nodes.len()];
        block.term.value().into_iter().for_each(|value| wanted[value.index()] = Lanes::All);
        Backward { block, masks, wanted, reads }
    }

    fn start(mut self) -> Reads {
        for i in (0..self.block.nodes.len()).rev() {
            let node = &self.block.nodes[i];
            match node.op {
                Op::Cut => self.change_exec(i, node.args[0]),
                Op::Access => self.access(node),
                Op::SetVgpr => self.write(node),
                Op::SetSgpr | Op::SetScc if !self.reads.all.has(effect(self.block, node).1) => {}
                _ if node.is_effect() => self.visit(i, node, Lanes::All),
                _ if self.wanted[i] > Lanes::None => self.visit(i, node, self.wanted[i]),
                _ => {}
            }
        }
        self.reads
    }

    fn want(&mut self, value: Value, lanes: Lanes) {
        let uniform = self.block.node(value).shape == Shape::Uniform;
        let lanes = if uniform { Lanes::All } else { lanes };
        let wanted = &mut self.wanted[value.index()];
        *wanted = lanes.max(*wanted);
    }

    /// Before a change of EXEC that can enable lanes, active ones are any.
    fn change_exec(&mut self, at: usize, after: Value) {
        self.want(after, Lanes::All);
        if self.masks[at].is_some_and(|before| is_part(self.block, after, before)) {
            return;
        }
        self.reads = Reads { all: self.reads.both(), active: RegisterSet::default() };
        for wanted in &mut self.wanted[..at] {
            if *wanted == Lanes::Active {
                *wanted = Lanes::All;
            }
        }
    }

    fn write(&mut self, node: &Node) {
        let (_, register) = effect(self.block, node);
        if self.reads.all.has(register) {
            self.want(node.args[0], Lanes::All);
        } else if self.reads.active.has(register) {
            self.want(node.args[0], Lanes::Active);
        }
        self.reads.all = self.reads.all.without(register);
        self.reads.active = self.reads.active.without(register);
    }

    fn access(&mut self, node: &Node) {
        let (_, scalars) = effect(self.block, node);
        let access = &self.block.accesses[node.imm as usize];
        let reads = self.block.access_reads[node.imm as usize];
        self.reads.all = self.reads.all.without(scalars);
        self.reads.active = self.reads.active.without(RegisterSet::vgpr_range(access.fills_vgprs()));
        if access.is_lane_wise() {
            self.reads.all = self.reads.all.and(reads.scalars());
            self.reads.active = self.reads.active.and(reads);
        } else {
            self.reads.all = self.reads.all.and(reads);
        }
    }

    /// A node that is wanted in these lanes wants its arguments, and reads its register.
    fn visit(&mut self, at: usize, node: &Node, lanes: Lanes) {
        let (reads, writes) = effect(self.block, node);
        self.reads.all = self.reads.all.without(writes);
        match lanes {
            Lanes::Active => self.reads.active = self.reads.active.and(reads),
            _ => self.reads.all = self.reads.all.and(reads),
        }
        let is_exec = |value: Value| {
            let mask = self.block.node(value);
            mask.op == Op::Spread && self.masks[at] == Some(mask.args[0])
        };
        let is_within = |value: Value| {
            let mask = self.block.node(value);
            mask.op == Op::And && mask.args().any(is_exec)
        };
        match (node.op, node.args) {
            (Op::Select, [mask, value, old]) if is_exec(mask) => {
                self.want(mask, lanes);
                self.want(value, Lanes::Active);
                if lanes == Lanes::All {
                    self.want(old, Lanes::All);
                }
            }
            (Op::Select, [mask, value, old]) if is_within(mask) => {
                self.want(mask, lanes);
                self.want(value, Lanes::Active);
                self.want(old, lanes);
            }
            (Op::And, [a, b, _]) if node.ty == Ty::B1 && (is_exec(a) || is_exec(b)) => {
                self.want(a, Lanes::Active);
                self.want(b, Lanes::Active);
            }
            (Op::Bits, [mask, within, _]) if node.bits_within().is_some() && self.masks[at] == Some(within) => {
                self.want(mask, Lanes::Active);
                self.want(within, Lanes::All);
            }
            _ => {
                let lanes = if is_lane_wise(node) { lanes } else { Lanes::All };
                node.args().for_each(|arg| self.want(arg, lanes));
            }
        }
    }
}

/// Whether a lane of the result depends on that lane of the arguments only.
pub(super) fn is_lane_wise(node: &Node) -> bool {
    let crosses = || matches!(node.row_op(), RowOp::dpp | RowOp::raise | RowOp::gather);
    match node.op {
        Op::Bits | Op::ReadLane => false,
        Op::Call | Op::Inline => !crosses(),
        _ => true,
    }
}
