//! Which nodes are needed: effects, the terminator's condition, what may fault, and what these use.

use crate::defect::{Precaution, forgets};
use crate::lane::{Block, Node, Op, Value};

/// A flag a node: needed by an effect that `keep` keeps, or by the terminator.
pub fn live(block: &Block, keep: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut live = vec![false; block.nodes.len()];
    block.term.value().into_iter().for_each(|value| live[value.index()] = true);
    for (i, node) in block.nodes.iter().enumerate().rev() {
        live[i] |= may_fault(node) || node.is_effect() && keep(i);
        if live[i] {
            node.args().for_each(|arg| live[arg.index()] = true);
        }
    }
    live
}

/// Whether it is the first dword of a load that has to be proven even if nobody uses what is loaded.
fn may_fault(node: &Node) -> bool {
    node.op == Op::ScalarLoad && node.imm & 0xff == 0 && !forgets(Precaution::Fault)
}

/// Whether a value is cheaper to make again than to keep in memory between segments.
pub fn is_cheap(block: &Block, value: Value) -> bool {
    use crate::lane::Shape;
    let node = block.node(value);
    node.shape == Shape::Uniform || matches!(node.op, Op::LaneId | Op::GroupId | Op::Spread)
}
