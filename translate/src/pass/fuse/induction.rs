//! Loops that are one part: what is known of registers from one iteration to the next.
//!
//! Where a block goes back to itself and does nothing to lanes but its part, a register that counts, and is written in each
//! iteration with what counts as well, need not be looked at again: what has been proven of it once holds by induction. So
//! an iteration finds such registers at the ends of chunks, as the last one has left them, and leaves them so. Those that
//! nobody reads lane by lane it does not write to the register file at all: that is done where the loop is left, or where
//! an iteration finds that something does not count any more ([`Kept::is_stale`]).

use super::Fused;
use crate::lane::{Op, Value};
use crate::pass::strides::{Guess, Stride};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A part as an iteration of a loop does it that knows how registers count.
pub struct Induction {
    /// The part. Where it reads registers that are kept, it finds them at the ends of chunks.
    pub iteration: Fused,
    /// These, and others that it leaves so.
    pub kept: Vec<Kept>,
}

/// A VGPR that is known at the ends of chunks from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Which.
    pub register: u64,
    /// What it adds from lane to lane.
    pub stride: i32,
    /// Where an iteration reads it: it has to count when the loop begins.
    pub read: Option<Value>,
    /// What an iteration writes to it.
    pub written: Option<Value>,
    /// Whether that does not go to the register file in each iteration.
    pub is_stale: bool,
}

impl Induction {
    /// What a part does in a loop, given the strides of VGPRs as they are before it; nothing if no address counts.
    pub(super) fn of(mut iteration: Fused, registers: &HashMap<Value, Stride>, guess: &Guess) -> Option<Induction> {
        iteration.find_counting(registers, guess).then_some(())?;
        let stale = iteration.take_stale();
        let kept = iteration.kept(&stale);
        let lanes = iteration.lanes();
        let written: Vec<Value> = kept.iter().filter_map(|kept| kept.written).collect();
        let ends = iteration.ends(&written);
        iteration.list_ends(&ends, &written, &[]);
        iteration.drop_unused(&lanes);
        Some(Induction { iteration, kept })
    }
}

impl Fused {
    /// What is needed lane by lane.
    fn lanes(&self) -> HashSet<Value> {
        self.needed(|access| access.counting.is_none())
    }

    /// Takes the writes of registers that count, and that nobody reads lane by lane: register and value.
    fn take_stale(&mut self) -> Vec<(u64, Value)> {
        let mut stages = std::mem::take(&mut self.stages);
        let early = stages.iter_mut().flat_map(|stage| stage.sets.extract_if(.., |(_, value)| self.counts(*value)));
        let mut stale: Vec<(u64, Value)> = early.collect();
        self.stages = stages;
        let mut sets = std::mem::take(&mut self.sets);
        stale.extend(sets.extract_if(.., |(_, value)| self.counts(*value)));
        self.sets = sets;
        let reads = self.reads();
        // Who is read lane by lane after all may have others read so too.
        loop {
            let lanes = self.lanes();
            let is_read = |(register, value): &mut (u64, Value)| {
                reads.get(register).is_some_and(|read| lanes.contains(read) || !self.is_same(*read, *value))
            };
            let read: Vec<(u64, Value)> = stale.extract_if(.., is_read).collect();
            if read.is_empty() {
                return stale;
            }
            self.sets.extend(read);
        }
    }

    /// The reads of registers as they are when the part begins.
    fn reads(&self) -> HashMap<u64, Value> {
        let nodes = self.block.nodes.iter().zip(&self.plan.ranks).zip(0..);
        let reads = nodes.filter(|((node, rank), _)| node.op == Op::Vgpr && rank.is_some());
        reads.map(|((node, _), value)| (node.imm, Value(value))).collect()
    }

    fn is_same(&self, some: Value, other: Value) -> bool {
        self.strides[some.index()] == self.strides[other.index()]
    }

    /// The registers that are kept, given those that are stale.
    fn kept(&self, stale: &[(u64, Value)]) -> Vec<Kept> {
        let fresh = self.sets.iter().chain(self.stages.iter().flat_map(|stage| &stage.sets));
        let fresh: HashMap<u64, Value> = fresh.copied().collect();
        let (reads, mut kept) = (self.reads(), Vec::<Kept>::new());
        let stride = |value: Value| self.strides[value.index()].expect("it counts");
        for (register, value) in stale {
            let (read, written) = (reads.get(register).copied(), Some(*value));
            kept.push(Kept { register: *register, stride: stride(*value), read, written, is_stale: true });
        }
        // What one is written with may be made of others.
        loop {
            let written: Vec<Value> = kept.iter().filter_map(|kept| kept.written).collect();
            let mut ends: Vec<Value> = self.ends(&written).into_iter().collect();
            ends.sort_unstable();
            let known = kept.len();
            for read in ends.into_iter().filter(|value| self.block.node(*value).op == Op::Vgpr) {
                let register = self.block.node(read).imm;
                let written = fresh.get(&register).copied();
                let counts = written.is_none_or(|value| self.counts(value) && self.is_same(read, value));
                if counts && kept.iter().all(|kept| kept.register != register) {
                    kept.push(Kept { register, stride: stride(read), read: Some(read), written, is_stale: false });
                }
            }
            if kept.len() == known {
                let is_found = |read: &Value| self.ends(&written).contains(read);
                kept.iter_mut().for_each(|kept| kept.read = kept.read.filter(is_found));
                return kept;
            }
        }
    }
}
