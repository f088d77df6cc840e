//! Where EXEC is thought to be all ones.
//!
//! Code for all lanes is shorter than code for some. A forward analysis over a unit's blocks follows the scalar registers
//! that hold all ones, from the EXEC of the wave that is about to enter it on: what s_and_saveexec has saved there is all
//! ones again when s_or restores it. It proves nothing, since other waves may enter otherwise: who relies on it looks at EXEC.

use super::forward::forward;
use super::registers::RegisterSet;
use super::strides::CHUNK;
use crate::lane::{Block, Node, Op, Table, Value};
use gcnjit_rt::wave::reg;

/// Both halves of EXEC.
const EXEC: [u64; 2] = [reg::EXEC as u64, reg::EXEC as u64 + 1];

/// What EXEC is thought to be in a block.
#[derive(Default)]
pub struct Exec {
    /// Whether it is all ones where the block begins.
    pub full_at_start: bool,
    /// Whether it is behind each write of one of its halves.
    full_behind: Table<bool>,
    /// How many chunks reach to its last lane where the unit is entered.
    pub chunks: i32,
}

impl Exec {
    /// Whether EXEC is all ones behind a write of one of its halves.
    pub fn is_full_behind(&self, write: Value) -> bool {
        self.full_behind.get(write).unwrap_or(false)
    }
}

/// What EXEC is thought to be in each block of a unit that is entered at `pc` with this one.
pub fn guess(blocks: &[Block], pc: u64, exec: u64) -> Vec<Exec> {
    let chunks = (u64::BITS - exec.leading_zeros()).div_ceil(CHUNK as u32) as i32;
    let start = if exec == u64::MAX { RegisterSet::sgprs(reg::EXEC..reg::EXEC + 2) } else { RegisterSet::default() };
    let entry = forward(blocks, pc, start, |block, ones| walk(block, ones, |_, _| {}), RegisterSet::in_both);
    let exec = |(block, entry): (&Block, Option<RegisterSet>)| {
        let entry = entry.unwrap_or_default();
        let mut exec =
            Exec { full_at_start: is_full(entry), full_behind: Table::with_capacity(block.nodes.len()), chunks };
        walk(block, entry, |write, ones| exec.full_behind.insert(write, is_full(ones)));
        exec
    };
    blocks.iter().zip(entry).map(exec).collect()
}

fn is_full(ones: RegisterSet) -> bool {
    EXEC.into_iter().all(|half| ones.has(RegisterSet::sgpr(half)))
}

/// Goes through a block, given the registers that are all ones where it begins: those where it ends. Calls `exec` with each
/// write of a half of EXEC, and what is all ones behind it.
fn walk(block: &Block, mut ones: RegisterSet, mut exec: impl FnMut(Value, RegisterSet)) -> RegisterSet {
    let mut values: Vec<bool> = Vec::with_capacity(block.nodes.len());
    for (i, node) in block.nodes.iter().enumerate() {
        values.push(is_ones(block, Value(i as u32), node, ones, &values));
        if node.op == Op::SetSgpr {
            let register = RegisterSet::sgpr(node.imm);
            ones = ones.without(register);
            if values[node.args[0].index()] {
                ones = ones.and(register);
            }
            if EXEC.contains(&node.imm) {
                exec(Value(i as u32), ones);
            }
        }
    }
    ones
}

/// Whether a scalar is all ones, given those registers and values that are.
fn is_ones(block: &Block, value: Value, node: &Node, ones: RegisterSet, values: &[bool]) -> bool {
    let arg = |i: usize| values[node.args[i].index()];
    match node.op {
        Op::Const => block.as_const(value) == Some(node.ty.ones()),
        Op::Sgpr => ones.has(RegisterSet::sgpr(node.imm & 0xff)),
        Op::Pack | Op::And => arg(0) && arg(1),
        Op::Or => arg(0) || arg(1),
        Op::Lo | Op::Hi => arg(0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::guess;
    use crate::lane::{Block, Fenv, Node, Op, Shape, Term, Ty, Value};

    fn read(block: &mut Block, register: u64, epoch: u64) -> Value {
        let none = [Value::NONE; 3];
        let imm = register | epoch << 32;
        block.append(Node { op: Op::Sgpr, ty: Ty::B32, shape: Shape::Uniform, fenv: Fenv::Any, args: none, imm })
    }

    fn write(block: &mut Block, register: u64, value: Value) -> Value {
        block.effect(Op::SetSgpr, [value, Value::NONE, Value::NONE], register);
        Value(block.nodes.len() as u32 - 1)
    }

    /// Saves both halves in s2 and s3, clears one, and leaves; a second block restores them by s_or.
    fn guarded() -> ([Block; 2], [Value; 2]) {
        let (mut guard, mut join) = (Block::new(0), Block::new(8));
        let mut writes = [Value::NONE; 2];
        for half in 0..2 {
            let (exec, other) = (read(&mut guard, 126 + half, 0), read(&mut guard, 4, 0));
            write(&mut guard, 2 + half, exec);
            writes[0] = write(&mut guard, 126 + half, other);
            let (exec, saved) = (read(&mut join, 126 + half, 0), read(&mut join, 2 + half, 0));
            let both = join.append(Node { op: Op::Or, args: [exec, saved, Value::NONE], imm: 0, ..*join.node(exec) });
            writes[1] = write(&mut join, 126 + half, both);
        }
        (guard.term, join.term) = (Term::Jump(8), Term::End(16));
        ([guard, join], writes)
    }

    #[test]
    fn what_is_saved_is_full_again_when_it_is_restored() {
        let (blocks, [cleared, restored]) = guarded();
        let found = guess(&blocks, 0, u64::MAX);
        assert!(found[0].full_at_start && !found[0].is_full_behind(cleared));
        assert!(!found[1].full_at_start && found[1].is_full_behind(restored));
        let found = guess(&blocks, 0, u64::MAX >> 1);
        assert!(!found[0].full_at_start && !found[1].is_full_behind(restored));
    }

    #[test]
    fn chunks_reach_to_the_last_lane() {
        let (blocks, _) = guarded();
        for (exec, chunks) in [(0, 0), (1, 1), (0xffff, 1), (0x1_0000, 2), (1 << 47, 3), (1 << 48 | 1, 4)] {
            assert!(guess(&blocks, 0, exec).iter().all(|guess| guess.chunks == chunks), "{exec:#x}");
        }
    }

    #[test]
    fn a_loop_is_full_only_if_it_is_each_time() {
        let (mut blocks, _) = guarded();
        blocks[0].term = Term::Jump(0);
        assert!(!guess(&blocks, 0, u64::MAX)[0].full_at_start);
    }
}
