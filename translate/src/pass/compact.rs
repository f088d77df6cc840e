//! Loops that a few lanes can go on with alone.
//!
//! Where lanes leave a loop one by one, all of a wave's work is done for the few that are left. Their registers can be
//! moved together then, so that they fill one chunk, and the loop goes on for that chunk only: in a unit of its own, which
//! has the loop's blocks in *compacted form*. Nothing but the places of lanes in VGPRs is different there. Scalar
//! registers, masks among them, stay as they are: a mask's bits are picked where lanes are concerned, and put back where
//! it is made. So any instructions will do for which the number of a lane does not matter.
//!
//! A compacted unit knows the lanes that it was entered with. EXEC may be widened in the loop, by s_or of a mask that
//! was saved, so the lanes are those of EXEC and of such masks; behind each change of EXEC that can enable others the unit
//! looks, and is left if there are some.

use super::exec::Exec;
use super::initial::{is_lane_wise, is_part, masks};
use super::registers::{RegisterSet, effect};
use crate::cfg::GuestBlock;
use crate::lane::{Block, Node, Op, Shape, Term, Value};
use crate::lower::{Planned, Watch};
use gcnjit_rt::wave::reg;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;

/// Most blocks of a loop that goes on compacted: guest code may nest loops as deep as it has blocks.
const BLOCKS: usize = 256;

/// A loop whose lanes may leave one by one, while nothing in it asks for the number of a lane.
#[derive(Debug)]
pub struct Loop {
    /// Its blocks, by their positions in the unit.
    pub blocks: Vec<usize>,
    /// SGPR pairs of masks that are there where it begins and widen EXEC in it.
    pub saved: Vec<usize>,
}

/// What is looked at in blocks of a unit whose loops may go on compacted.
pub fn few(blocks: &[Block], exec: &[Exec]) -> Vec<Watch> {
    let graph = Graph::new(blocks);
    let watch = |head: usize| {
        let found = if exec[head].full_at_start { None } else { graph.loop_at(head) };
        let Some(members) = found else { return Watch::Nothing };
        let saved = graph.saved(head, &members);
        Watch::Few(Loop { blocks: members, saved })
    };
    (0..blocks.len()).map(watch).collect()
}

/// Who goes where within a unit.
struct Graph<'a> {
    /// The unit's, in order of their addresses.
    blocks: &'a [Block],
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

impl Graph<'_> {
    fn new(blocks: &[Block]) -> Graph<'_> {
        let index: HashMap<u64, usize> = blocks.iter().enumerate().map(|(i, block)| (block.pc, i)).collect();
        let successors = |block: &Block| block.term.successors().filter_map(|pc| index.get(&pc).copied()).collect();
        let successors: Vec<Vec<usize>> = blocks.iter().map(successors).collect();
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (block, successors) in successors.iter().enumerate() {
            successors.iter().for_each(|next| predecessors[*next].push(block));
        }
        Graph { blocks, successors, predecessors }
    }

    /// The blocks of the loop that goes back to `head`, if there is one that is not too long, lanes may leave it, and
    /// nothing in it asks for the number of one.
    fn loop_at(&self, head: usize) -> Option<Vec<usize>> {
        let mut work: Vec<usize> = self.predecessors[head].iter().copied().filter(|before| *before >= head).collect();
        if work.is_empty() {
            return None;
        }
        let mut members = BTreeSet::from([head]);
        while let Some(block) = work.pop() {
            if members.insert(block) {
                work.extend(&self.predecessors[block]);
            }
            if members.len() > BLOCKS {
                return None;
            }
        }
        let changes_exec = |block: &usize| self.blocks[*block].nodes.iter().any(|node| node.op == Op::Cut);
        // A function that is called in a loop is none of its blocks, and where it comes back to is not known.
        let stays = |block: &usize| self.successors[*block].iter().any(|next| members.contains(next));
        let is_allowed =
            members.iter().any(changes_exec) && members.iter().all(|i| stays(i) && is_lane_local(&self.blocks[*i]));
        is_allowed.then(|| members.into_iter().collect())
    }

    /// The pairs that are read as masks which widen EXEC before they are written, from the head on within the loop.
    fn saved(&self, head: usize, members: &[usize]) -> Vec<usize> {
        let local: HashMap<usize, (u128, u128)> =
            members.iter().map(|block| (*block, masks_read_and_written(&self.blocks[*block]))).collect();
        let mut entry: HashMap<usize, u128> = members.iter().map(|block| (*block, 0)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for block in members.iter().rev() {
                let after =
                    self.successors[*block].iter().filter_map(|next| entry.get(next)).fold(0, |all, set| all | set);
                let (read, written) = local[block];
                let before = read | after & !written;
                changed |= entry.insert(*block, before) != Some(before);
            }
        }
        (0..reg::EXEC).filter(|register| entry[&head] >> register & 1 != 0).collect()
    }
}

/// Whether no instruction of a block asks for the number of a lane, and the block ends in a jump.
fn is_lane_local(block: &Block) -> bool {
    let node = |node: &Node| match node.op {
        Op::LaneId | Op::GroupId | Op::ReadLane | Op::VgprAt | Op::SetVgprAt | Op::LdsRow => false,
        Op::SetMode | Op::SetTrapsts => false,
        Op::Access => block.accesses[node.imm as usize].is_lane_local(),
        Op::Bits => true,
        _ => node.shape == Shape::Uniform || is_lane_wise(node),
    };
    matches!(block.term, Term::Jump(_) | Term::Branch(..)) && block.nodes.iter().all(node)
}

/// Changes of EXEC that can enable lanes, with the masks that it becomes.
fn widenings(block: &Block) -> impl Iterator<Item = (Value, Value)> {
    let before = masks(block);
    let is_widening = move |i: usize| {
        let node = &block.nodes[i];
        let part = |before: Value| is_part(block, node.args[0], before);
        node.op == Op::Cut && !before[i].is_some_and(part)
    };
    (0..block.nodes.len()).filter(move |i| is_widening(*i)).map(|i| (Value(i as u32), block.nodes[i].args[0]))
}

/// Pairs of SGPRs, a bit each for the first of them: those that a block reads and widens EXEC with, and those that it
/// writes.
fn masks_read_and_written(block: &Block) -> (u128, u128) {
    let mut read = 0;
    let mut work: Vec<Value> = widenings(block).map(|(_, mask)| mask).collect();
    while let Some(value) = work.pop() {
        let node = block.node(value);
        match node.op {
            Op::Or | Op::Xor | Op::And | Op::Select => {
                work.extend(node.args().filter(|arg| block.node(*arg).ty == node.ty))
            }
            Op::Pack if block.node(node.args[0]).op == Op::Sgpr => read |= 1 << (block.node(node.args[0]).imm & 0x7f),
            _ => {}
        }
    }
    let sets = block.nodes.iter().filter(|node| node.op == Op::SetSgpr);
    (read & !(1 << reg::EXEC), sets.fold(0, |written, node| written | 1 << (node.imm & 0x7f)))
}

/// The guest code of a loop among a unit's blocks, cut behind each change of EXEC that can enable lanes.
pub fn cut(of: &Loop, blocks: &[Planned]) -> Vec<GuestBlock> {
    let mut cut = Vec::new();
    for Planned { guest, block, .. } in of.blocks.iter().map(|i| &blocks[*i]) {
        let mut rest = guest.instructions.as_slice();
        for (change, _) in widenings(block) {
            let (before, behind) = rest.split_at(rest.partition_point(|(pc, _)| *pc <= block.origin(change)));
            cut.push(GuestBlock { instructions: before.to_vec() });
            rest = behind;
        }
        if !rest.is_empty() {
            cut.push(GuestBlock { instructions: rest.to_vec() });
        }
    }
    cut
}

/// What is looked at in blocks that have been cut.
pub fn others(blocks: &[Block]) -> Vec<Watch> {
    let ends_wider = |block: &&Block| widenings(block).next().is_some();
    let behind: HashSet<u64> = blocks.iter().filter(ends_wider).map(|block| block.end).collect();
    let watch = |block: &Block| if behind.contains(&block.pc) { Watch::Others } else { Watch::Nothing };
    blocks.iter().map(watch).collect()
}

/// The VGPRs that blocks read or write, and those that they write.
pub fn vgprs(blocks: &[Block]) -> (RegisterSet, RegisterSet) {
    let (mut used, mut written) = (RegisterSet::default(), RegisterSet::default());
    for (block, node) in blocks.iter().flat_map(|block| block.nodes.iter().map(move |node| (block, node))) {
        let (mut reads, mut writes) = effect(block, node);
        if node.op == Op::Access {
            let access = node.imm as usize;
            reads = block.access_reads[access];
            writes = RegisterSet::vgpr_range(block.accesses[access].writes_vgprs());
        }
        used = used.and(reads).and(writes);
        written = written.and(writes);
    }
    (used, written)
}
