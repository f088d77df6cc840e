//! Dead writes of registers, over all blocks of a unit.
//!
//! A write to the register file is dead if no path reads the register before it is written again. Where control leaves
//! the unit, everything is read, but for what is known of code there; where the wave ends, nothing, unless somebody looks
//! ([`AtEnd`]). A memory access may fault, and then reads all VGPRs. So a wave that is stopped inside of a unit has all its VGPRs as they should be, all
//! scalar registers that its code would still have read, and stale values in others.

use super::live::live;
use crate::AtEnd;
use crate::lane::{Block, Node, Op, Term, indexed_vgprs};
use rustc_hash::FxHashMap as HashMap;
use std::ops::Range;

/// A set of registers: scalar ones by operand code, SCC, and VGPRs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet {
    sgprs: u128,
    scc: bool,
    /// VGPRs, 128 a word.
    pub vgprs: [u128; 2],
}

impl RegisterSet {
    /// Every register.
    pub const ALL: RegisterSet = RegisterSet { sgprs: u128::MAX, scc: true, vgprs: [u128::MAX; 2] };

    /// SCC alone.
    pub const SCC: RegisterSet = RegisterSet { sgprs: 0, scc: true, vgprs: [0; 2] };

    /// All VGPRs.
    pub const VGPRS: RegisterSet = RegisterSet { sgprs: 0, scc: false, vgprs: [u128::MAX; 2] };

    /// The SGPRs of a range, cut to those that exist.
    pub fn sgprs(range: Range<usize>) -> RegisterSet {
        let sgprs = range.filter(|register| *register < 128).fold(0, |set, register| set | 1 << register);
        RegisterSet { sgprs, ..RegisterSet::default() }
    }

    /// SGPRs, a bit each.
    pub fn sgpr_bits(sgprs: u128) -> RegisterSet {
        RegisterSet { sgprs, ..RegisterSet::default() }
    }

    /// The VGPRs of a range.
    pub fn vgpr_range(range: Range<usize>) -> RegisterSet {
        range.fold(RegisterSet::default(), |set, register| set.and(RegisterSet::vgpr(register as u64)))
    }

    /// Its scalar registers.
    pub fn scalars(self) -> RegisterSet {
        RegisterSet { vgprs: [0; 2], ..self }
    }

    /// One VGPR.
    pub fn vgpr(register: u64) -> RegisterSet {
        let mut set = RegisterSet::default();
        set.vgprs[(register >> 7 & 1) as usize] = 1 << (register & 127);
        set
    }

    /// One SGPR, by operand code.
    pub fn sgpr(register: u64) -> RegisterSet {
        RegisterSet { sgprs: 1 << (register & 127), ..RegisterSet::default() }
    }

    /// VGPRs, a bit each, 64 a word.
    pub fn vgprs([a, b, c, d]: [u64; 4]) -> RegisterSet {
        let join = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
        RegisterSet { vgprs: [join(a, b), join(c, d)], ..RegisterSet::default() }
    }

    /// Whether the VGPR is in it.
    pub fn has_vgpr(self, register: u64) -> bool {
        self.has(RegisterSet::vgpr(register))
    }

    /// Either.
    pub fn and(self, other: RegisterSet) -> RegisterSet {
        RegisterSet {
            sgprs: self.sgprs | other.sgprs,
            scc: self.scc || other.scc,
            vgprs: [self.vgprs[0] | other.vgprs[0], self.vgprs[1] | other.vgprs[1]],
        }
    }

    /// What is in both.
    pub(super) fn in_both(self, other: RegisterSet) -> RegisterSet {
        RegisterSet {
            sgprs: self.sgprs & other.sgprs,
            scc: self.scc && other.scc,
            vgprs: [self.vgprs[0] & other.vgprs[0], self.vgprs[1] & other.vgprs[1]],
        }
    }

    pub(super) fn without(self, other: RegisterSet) -> RegisterSet {
        RegisterSet {
            sgprs: self.sgprs & !other.sgprs,
            scc: self.scc && !other.scc,
            vgprs: [self.vgprs[0] & !other.vgprs[0], self.vgprs[1] & !other.vgprs[1]],
        }
    }

    /// Whether any of the other's is in it.
    pub fn has(self, other: RegisterSet) -> bool {
        let vgprs = (self.vgprs[0] & other.vgprs[0]) | (self.vgprs[1] & other.vgprs[1]);
        (self.sgprs & other.sgprs) | vgprs != 0 || self.scc && other.scc
    }
}

/// What a node reads from the register file, and what it writes there.
pub(super) fn effect(block: &Block, node: &Node) -> (RegisterSet, RegisterSet) {
    let none = RegisterSet::default();
    let one = RegisterSet::sgpr;
    match node.op {
        Op::Sgpr => (one(node.imm), none),
        Op::SgprAt => (RegisterSet::sgprs(0..104), none),
        Op::Scc => (RegisterSet::SCC, none),
        Op::SetSgpr => (none, one(node.imm)),
        Op::SetScc => (none, RegisterSet::SCC),
        Op::Vgpr => (RegisterSet::vgpr(node.imm & 0xff), none),
        Op::VgprAt => (RegisterSet::vgpr_range(indexed_vgprs(node.imm)), none),
        Op::SetVgpr => (none, RegisterSet::vgpr(node.imm)),
        Op::Access => {
            let access = node.imm as usize;
            let reads = block.access_reads[access].and(RegisterSet::VGPRS);
            (reads, RegisterSet::sgprs(block.accesses[access].writes_sgprs()))
        }
        _ => (none, none),
    }
}

/// What is found out about a block.
pub struct Needs {
    /// A flag a node: needed, that is neither unused nor a dead write of a register.
    pub nodes: Vec<bool>,
    /// The registers that are read from its start on before they are written.
    pub entry: RegisterSet,
    /// The registers that are read after the block before they are written.
    pub exit: RegisterSet,
}

/// What is needed of each block of a unit. `outside` says what is read from an address on where there is no block of it.
pub fn needed(blocks: &[Block], at_end: AtEnd, outside: impl Fn(u64) -> RegisterSet) -> Vec<Needs> {
    let needed: Vec<Vec<bool>> = blocks.iter().map(|block| live(block, |_| true)).collect();
    let exits = Exits::new(blocks, at_end);
    let mut entry = vec![RegisterSet::default(); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in blocks.iter().enumerate().rev() {
            let read = backward(block, exits.of(block, |i| entry[i], &outside), &needed[i], |_| {});
            changed |= read != entry[i];
            entry[i] = read;
        }
    }
    let needs = |(i, block): (usize, &Block)| {
        let mut dead = vec![false; block.nodes.len()];
        let exit = exits.of(block, |i| entry[i], &outside);
        backward(block, exit, &needed[i], |node| dead[node] = true);
        Needs { nodes: live(block, |node| !dead[node]), entry: entry[i], exit }
    };
    blocks.iter().enumerate().map(needs).collect()
}

/// What is read where nothing is known of the code: everything.
pub fn all_read(_: u64) -> RegisterSet {
    RegisterSet::ALL
}

/// Where control goes.
pub(super) struct Exits {
    /// Blocks by address.
    index: HashMap<u64, usize>,
    /// What is read of a wave that has ended.
    end: RegisterSet,
}

impl Exits {
    pub(super) fn new<'a>(blocks: impl IntoIterator<Item = &'a Block>, at_end: AtEnd) -> Exits {
        Exits {
            index: blocks.into_iter().enumerate().map(|(i, block)| (block.pc, i)).collect(),
            end: if at_end == AtEnd::Registers { RegisterSet::ALL } else { RegisterSet::default() },
        }
    }

    /// What is read after the block, given what is read from the start of each block on, and of addresses outside.
    pub(super) fn of(
        &self,
        block: &Block,
        entry: impl Fn(usize) -> RegisterSet,
        outside: impl Fn(u64) -> RegisterSet,
    ) -> RegisterSet {
        let at = |pc: u64| self.index.get(&pc).map_or_else(|| outside(pc), |i| entry(*i));
        // In another MODE the wave does not go on in this unit, but in one that may read other registers.
        let changes_mode = block.nodes.iter().any(|node| node.op == Op::SetMode);
        match block.term {
            Term::Barrier(_) | Term::Yield(_) if changes_mode => RegisterSet::ALL,
            Term::Jump(pc) | Term::Barrier(pc) | Term::Yield(pc) => at(pc),
            Term::Branch(_, yes, no) => at(yes).and(at(no)),
            Term::End(_) => self.end,
            _ => RegisterSet::ALL,
        }
    }
}

/// What is read from the start of the block on, given what is read after it. Calls `dead` with each dead write.
fn backward(block: &Block, exit: RegisterSet, needed: &[bool], mut dead: impl FnMut(usize)) -> RegisterSet {
    let mut read = exit;
    for (i, node) in block.nodes.iter().enumerate().rev().filter(|(i, _)| needed[*i]) {
        let (reads, writes) = effect(block, node);
        if matches!(node.op, Op::SetSgpr | Op::SetScc | Op::SetVgpr) && !read.has(writes) {
            dead(i);
        }
        read = read.without(writes).and(reads);
    }
    read
}
