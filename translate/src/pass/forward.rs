//! Forward analyses over the blocks of a unit.

use crate::lane::Block;
use rustc_hash::FxHashMap as HashMap;

/// What holds where each block begins, if the unit is entered at `pc` where `start` holds; `None` where that does not lead.
/// `walk` goes through a block, and `meet` is what holds on both of two ways.
pub fn forward<S: Copy + PartialEq>(
    blocks: &[Block],
    pc: u64,
    start: S,
    walk: impl Fn(&Block, S) -> S,
    meet: impl Fn(S, S) -> S,
) -> Vec<Option<S>> {
    let index: HashMap<u64, usize> = blocks.iter().enumerate().map(|(i, block)| (block.pc, i)).collect();
    let mut entry: Vec<Option<S>> = vec![None; blocks.len()];
    let mut work: Vec<usize> = index.get(&pc).copied().into_iter().collect();
    work.iter().for_each(|first| entry[*first] = Some(start));
    while let Some(i) = work.pop() {
        let after = walk(&blocks[i], entry[i].expect("it has been reached"));
        for next in blocks[i].term.successors().filter_map(|pc| index.get(&pc).copied()) {
            let met = entry[next].map_or(after, |known| meet(known, after));
            if entry[next] != Some(met) {
                entry[next] = Some(met);
                work.push(next);
            }
        }
    }
    entry
}
