//! What a segment computes: the values that its roots need, in a version for EXEC all ones or for any mask.

use super::live::is_cheap;
use super::segment::{Plan, Segment};
use crate::lane::{Block, Node, Op, Shape, Ty, Value};

/// A segment of a block's plan.
#[derive(Clone, Copy)]
pub struct Demand<'a> {
    /// The block.
    pub block: &'a Block,
    /// Its plan.
    pub plan: &'a Plan,
    /// The segment's step.
    pub rank: usize,
}

impl<'a> Demand<'a> {
    /// The segment.
    pub fn segment(&self) -> &'a Segment {
        &self.plan.steps[self.rank].segment
    }

    /// The node of a value.
    pub fn node(&self, value: Value) -> &'a Node {
        self.block.node(value)
    }

    /// The mask most of the segment is under: the last one that is spread among the values that it needs.
    pub fn exec(&self, needed: &[Value]) -> Option<Value> {
        let spread = needed.iter().rev().find(|value| self.node(**value).op == Op::Spread);
        spread.map(|value| self.node(*value).args[0])
    }

    /// The values that the roots need in this segment, in program order. With `full` given, that mask is all
    /// ones, and what only inactive lanes would need is left out.
    pub fn needed(&self, full: Option<Value>) -> Vec<Value> {
        let segment = self.segment();
        let mut seen = vec![false; self.block.nodes.len()];
        let mut needed = Vec::new();
        let mut work: Vec<Value> = segment.spills.clone();
        work.extend(segment.sets.iter().chain(&segment.bits).map(|root| self.node(*root).args[0]));
        while let Some(value) = work.pop() {
            let value = self.resolved(value, full);
            if std::mem::replace(&mut seen[value.index()], true) {
                continue;
            }
            needed.push(value);
            let node = self.node(value);
            if node.shape == Shape::Lane && !self.is_loaded(value) {
                work.extend(node.args());
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Looks through operations that do nothing when the mask `full` is all ones.
    pub fn resolved(&self, value: Value, full: Option<Value>) -> Value {
        if full.is_none() || self.is_loaded(value) {
            return value;
        }
        let node = self.node(value);
        let is_full = |v: Value| self.is_spread_of(v, full);
        match node.op {
            Op::Select if is_full(node.args[0]) => self.resolved(node.args[1], full),
            Op::And if node.ty == Ty::B1 && is_full(node.args[0]) => self.resolved(node.args[1], full),
            Op::And if node.ty == Ty::B1 && is_full(node.args[1]) => self.resolved(node.args[0], full),
            _ => value,
        }
    }

    /// Whether the value is a given mask, a bit a lane.
    pub fn is_spread_of(&self, value: Value, mask: Option<Value>) -> bool {
        let node = self.node(value);
        node.op == Op::Spread && Some(node.args[0]) == mask
    }

    /// Whether the segment finds the value in its slot instead of computing it.
    pub fn is_loaded(&self, value: Value) -> bool {
        // Most values have no slot: asked first, as this is asked for each operand of whatever is emitted.
        if !self.plan.slots.contains(value) {
            return false;
        }
        let node = self.node(value);
        if node.shape == Shape::Uniform {
            return false;
        }
        let here = self.plan.ranks[value.index()] == Some(self.rank) && !node.is_row();
        let in_file = node.op == Op::Vgpr && self.plan.in_file_for_segment(value, self.rank);
        !here && !in_file && !is_cheap(self.block, value)
    }

    /// Whether a chunk without active lanes changes nothing: all writes are blended under the mask.
    pub fn is_idle_without(&self, exec: Option<Value>) -> bool {
        let segment = self.segment();
        exec.is_some()
            && segment.spills.is_empty()
            && segment.sets.iter().all(|root| self.is_blended(*root, exec))
            && segment.bits.iter().all(|root| self.is_masked(*root, exec))
    }

    /// Whether a write leaves the register's lanes outside of the mask as they are.
    fn is_blended(&self, root: Value, exec: Option<Value>) -> bool {
        let set = self.node(root);
        let value = self.node(set.args[0]);
        if value.op != Op::Select || !self.is_within(value.args[0], exec) {
            return false;
        }
        let old = self.node(value.args[2]);
        old.op == Op::Vgpr && old.imm & 0xff == set.imm
    }

    /// Whether a mask is false in lanes outside of another one.
    fn is_within(&self, mask: Value, exec: Option<Value>) -> bool {
        let node = self.node(mask);
        self.is_spread_of(mask, exec) || node.op == Op::And && node.args().any(|arg| self.is_spread_of(arg, exec))
    }

    /// Whether bits of lanes outside of the mask are 0, or nobody's.
    fn is_masked(&self, root: Value, exec: Option<Value>) -> bool {
        let bits = self.node(root);
        bits.bits_within().is_some_and(|mask| exec == Some(mask)) || self.is_within(bits.args[0], exec)
    }
}
