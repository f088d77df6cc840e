//! Dead writes of scalar registers and SCC, over all blocks of a unit.
//!
//! A write to the register file is dead if no path reads the register before it is written again. Where control leaves
//! the unit, everything is read; where the wave ends, nothing, unless somebody looks ([`AtEnd`]). So a wave that is stopped inside of a unit (by a fault) has all
//! registers that its code would still have read, and stale values in others.

use super::live::live;
use crate::AtEnd;
use crate::lane::{Block, Node, Op, Term};
use std::collections::HashMap;
use std::ops::Range;

/// Scalar registers by operand code, and SCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scalars {
    sgprs: u128,
    scc: bool,
}

impl Scalars {
    const ALL: Scalars = Scalars { sgprs: u128::MAX, scc: true };

    /// SCC alone.
    pub const SCC: Scalars = Scalars { sgprs: 0, scc: true };

    /// The SGPRs of a range, cut to those that exist.
    pub fn range(range: Range<usize>) -> Scalars {
        let sgprs = range.filter(|register| *register < 128).fold(0, |set, register| set | 1 << register);
        Scalars { sgprs, scc: false }
    }

    /// Either.
    pub fn and(self, other: Scalars) -> Scalars {
        Scalars { sgprs: self.sgprs | other.sgprs, scc: self.scc || other.scc }
    }

    fn without(self, other: Scalars) -> Scalars {
        Scalars { sgprs: self.sgprs & !other.sgprs, scc: self.scc && !other.scc }
    }

    fn has(self, other: Scalars) -> bool {
        self.sgprs & other.sgprs != 0 || self.scc && other.scc
    }
}

/// What a node reads from the register file, and what it writes there.
fn effect(block: &Block, node: &Node) -> (Scalars, Scalars) {
    let none = Scalars::default();
    let one = |register: u64| Scalars { sgprs: 1 << (register & 127), scc: false };
    match node.op {
        Op::Sgpr => (one(node.imm), none),
        Op::SgprAt => (Scalars::range(0..104), none),
        Op::Scc => (Scalars::SCC, none),
        Op::SetSgpr => (none, one(node.imm)),
        Op::SetScc => (none, Scalars::SCC),
        Op::Access => {
            let access = node.imm as usize;
            (block.access_reads[access], Scalars::range(block.accesses[access].writes_sgprs()))
        }
        _ => (none, none),
    }
}

/// For each block a flag a node: needed, that is neither unused nor a dead write of a scalar.
pub fn needed(blocks: &[Block], at_end: AtEnd) -> Vec<Vec<bool>> {
    let mut needed: Vec<Vec<bool>> = blocks.iter().map(|block| live(block, |_| true)).collect();
    let exits = Exits {
        index: blocks.iter().enumerate().map(|(i, block)| (block.pc, i)).collect(),
        end: if at_end == AtEnd::Registers { Scalars::ALL } else { Scalars::default() },
    };
    let mut entry = vec![Scalars::default(); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in blocks.iter().enumerate().rev() {
            let read = backward(block, exits.of(block, &entry), &needed[i], |_| {});
            changed |= read != entry[i];
            entry[i] = read;
        }
    }
    for (i, block) in blocks.iter().enumerate() {
        let mut dead = vec![false; block.nodes.len()];
        backward(block, exits.of(block, &entry), &needed[i], |node| dead[node] = true);
        needed[i] = live(block, |node| !dead[node]);
    }
    needed
}

/// Where control goes.
struct Exits {
    /// Blocks by address.
    index: HashMap<u64, usize>,
    /// What is read of a wave that has ended.
    end: Scalars,
}

impl Exits {
    /// What is read after the block, given what is read from the start of each block on.
    fn of(&self, block: &Block, entry: &[Scalars]) -> Scalars {
        let at = |pc: u64| self.index.get(&pc).map_or(Scalars::ALL, |i| entry[*i]);
        match block.term {
            Term::Jump(pc) | Term::Barrier(pc) | Term::Yield(pc) => at(pc),
            Term::Branch(_, yes, no) => at(yes).and(at(no)),
            Term::End(_) => self.end,
            _ => Scalars::ALL,
        }
    }
}

/// What is read from the start of the block on, given what is read after it. Calls `dead` with each dead write.
fn backward(block: &Block, exit: Scalars, needed: &[bool], mut dead: impl FnMut(usize)) -> Scalars {
    let mut read = exit;
    for (i, node) in block.nodes.iter().enumerate().rev().filter(|(i, _)| needed[*i]) {
        let (reads, writes) = effect(block, node);
        if matches!(node.op, Op::SetSgpr | Op::SetScc) && !read.has(writes) {
            dead(i);
        }
        read = read.without(writes).and(reads);
    }
    read
}
