//! Text of the lane IR, for people.

use super::{Block, Node, Op, Shape, Ty, Value};
use std::fmt;

/// Displays a block, a node a line: `v7 = add.b32 v3, v5`; lane values are `v`, uniform ones `u`.
pub struct Listing<'a>(pub &'a Block);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "block {:#x}: {} instructions", self.0.pc, self.0.instructions)?;
        for (i, node) in self.0.nodes.iter().enumerate() {
            line(f, self.0, Value(i as u32), node)?;
        }
        writeln!(f, "    {:x?}", self.0.term)
    }
}

fn line(f: &mut fmt::Formatter<'_>, block: &Block, value: Value, node: &Node) -> fmt::Result {
    write!(f, "    ")?;
    if node.ty != Ty::Void {
        write!(f, "{} = ", name(block, value))?;
    }
    write!(f, "{:?}", node.op)?;
    if node.ty != Ty::Void {
        write!(f, ".{:?}", node.ty)?;
    }
    for arg in node.args() {
        write!(f, " {}", name(block, arg))?;
    }
    if matches!(
        node.op,
        Op::Const
            | Op::Sgpr
            | Op::Vgpr
            | Op::SetSgpr
            | Op::SetVgpr
            | Op::Call
            | Op::Inline
            | Op::CallUniform
            | Op::Access
    ) {
        write!(f, " #{:#x}", node.imm)?;
    }
    writeln!(f)
}

fn name(block: &Block, value: Value) -> String {
    let letter = if block.node(value).shape == Shape::Lane { 'v' } else { 'u' };
    format!("{letter}{}", value.0)
}
