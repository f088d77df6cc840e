//! Text of the lane IR, for people.

use super::{Block, Node, Op, Shape, Ty, Value};
use std::fmt::{self, Write as _};

/// Displays a block, a node a line: `v7 = add.b32 v3, v5`; lane values are `v`, uniform ones `u`.
pub struct Listing<'a>(pub &'a Block);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "block {:#x}: {} instructions", self.0.pc, self.0.instructions)?;
        for i in 0..self.0.nodes.len() {
            writeln!(f, "    {}", self.0.text(Value(i as u32)))?;
        }
        writeln!(f, "    {:x?}", self.0.term)
    }
}

impl Block {
    /// The line of a node.
    pub fn text(&self, value: Value) -> String {
        line(self, value, self.node(value))
    }
}

fn line(block: &Block, value: Value, node: &Node) -> String {
    let mut text = String::new();
    if node.ty != Ty::Void {
        let _ = write!(text, "{} = ", name(block, value));
    }
    let _ = write!(text, "{:?}", node.op);
    if node.ty != Ty::Void {
        let _ = write!(text, ".{:?}", node.ty);
    }
    for arg in node.args() {
        let _ = write!(text, " {}", name(block, arg));
    }
    if matches!(
        node.op,
        Op::Const
            | Op::Sgpr
            | Op::Vgpr
            | Op::SetSgpr
            | Op::SetVgpr
            | Op::LdsRow
            | Op::Call
            | Op::Inline
            | Op::CallUniform
            | Op::Access
    ) {
        let _ = write!(text, " #{:#x}", node.imm);
    }
    text
}

fn name(block: &Block, value: Value) -> String {
    let letter = if block.node(value).shape == Shape::Lane { 'v' } else { 'u' };
    format!("{letter}{}", value.0)
}
