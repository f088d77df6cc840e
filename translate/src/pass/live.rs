//! Which nodes are needed: effects, the terminator's condition, and what these use.

use crate::lane::{Block, Term, Value};

/// A flag a node: needed by an effect that `keep` keeps, or by the terminator.
pub fn live(block: &Block, keep: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut live = vec![false; block.nodes.len()];
    if let Term::Branch(value, ..) | Term::Dynamic(value) = block.term {
        live[value.index()] = true;
    }
    for (i, node) in block.nodes.iter().enumerate().rev() {
        live[i] |= node.is_effect() && keep(i);
        if live[i] {
            node.args().for_each(|arg| live[arg.index()] = true);
        }
    }
    live
}

/// Whether a value is cheaper to make again than to keep in memory between segments.
pub fn is_cheap(block: &Block, value: Value) -> bool {
    use crate::lane::{Op, Shape};
    let node = block.node(value);
    node.shape == Shape::Uniform || matches!(node.op, Op::LaneId | Op::Spread)
}
