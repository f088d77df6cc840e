//! Loops that are one part: what is known of registers from one turn to the next.
//!
//! Where a block goes back to itself and does nothing to lanes but its part, a register that counts, and is written in each
//! turn with what counts as well, need not be looked at again: what has been proven of it once holds by induction. So a
//! turn finds such registers at the ends of chunks, as the last one has left them, and leaves them so. Those that nobody
//! reads lane by lane it does not write to the register file at all: that is done when the loop ends, or a turn finds that
//! something does not count any more ([`Kept::is_stale`]).

use super::{Counting, Fused};
use crate::lane::{Op, Value};
use crate::pass::strides::{Guess, Stride};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A part as a turn of a loop does it that knows how registers count.
pub struct Induction {
    /// The part. Where it reads registers that are kept, it finds them at the ends of chunks.
    pub turn: Fused,
    /// These, and others that it leaves so.
    pub kept: Vec<Kept>,
}

/// A VGPR that is known at the ends of chunks from one turn to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Which.
    pub register: u64,
    /// What it adds from lane to lane.
    pub stride: i32,
    /// Where a turn reads it: it has to count when the loop begins.
    pub read: Option<Value>,
    /// What a turn writes to it.
    pub written: Option<Value>,
    /// Whether that does not go to the register file in each turn.
    pub is_stale: bool,
}

impl Induction {
    /// What a part does in a loop, given the strides of VGPRs as they are before it; nothing if no address counts.
    pub(super) fn of(mut turn: Fused, registers: &HashMap<Value, Stride>, guess: &Guess) -> Option<Induction> {
        turn.find_strides(registers, guess);
        let found: Vec<Option<Counting>> = turn.accesses.iter().map(|access| turn.counting(access)).collect();
        if found.iter().all(Option::is_none) {
            return None;
        }
        turn.accesses.iter_mut().zip(found).for_each(|(access, counting)| access.counting = counting);
        let stale = turn.take_stale();
        let kept = turn.kept(&stale);
        let lanes = turn.lanes();
        let written: Vec<Value> = kept.iter().filter_map(|kept| kept.written).collect();
        let ends = turn.ends(&written);
        turn.list_ends(&ends, &written, &[]);
        turn.drop_unused(&lanes);
        Some(Induction { turn, kept })
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
        // Who is read lane by lane after all may have others read so too.
        loop {
            let lanes = self.lanes();
            let is_read = |(register, value): &mut (u64, Value)| {
                self.reads(*register).is_some_and(|read| lanes.contains(&read) || !self.is_same(read, *value))
            };
            let read: Vec<(u64, Value)> = stale.extract_if(.., is_read).collect();
            if read.is_empty() {
                return stale;
            }
            self.sets.extend(read);
        }
    }

    /// The read of a register as it is when the part begins.
    fn reads(&self, register: u64) -> Option<Value> {
        let is_read = |value: &Value| {
            let node = self.block.node(*value);
            node.op == Op::Vgpr && node.imm == register && self.plan.ranks[value.index()].is_some()
        };
        (0..self.block.nodes.len() as u32).map(Value).find(is_read)
    }

    fn is_same(&self, some: Value, other: Value) -> bool {
        self.strides[some.index()] == self.strides[other.index()]
    }

    /// The registers that are kept, given those that are stale.
    fn kept(&self, stale: &[(u64, Value)]) -> Vec<Kept> {
        let fresh = self.sets.iter().chain(self.stages.iter().flat_map(|stage| &stage.sets));
        let fresh: HashMap<u64, Value> = fresh.copied().collect();
        let mut kept: Vec<Kept> = Vec::new();
        let stride = |value: Value| self.strides[value.index()].expect("it counts");
        for (register, value) in stale {
            let (read, written) = (self.reads(*register), Some(*value));
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
