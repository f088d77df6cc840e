//! What the translator did, and how long it took.

use crate::lower::Counts;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// Times of the translator's stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Finding and decoding the blocks.
    pub decode: Duration,
    /// Building the lane IR.
    pub build: Duration,
    /// The passes: what is needed, and the segments.
    pub plan: Duration,
    /// Making the wider back end's code of the segments, where the host has it.
    pub assemble: Duration,
    /// Making CLIF.
    pub lower: Duration,
    /// Making host code of it and placing it in memory.
    pub compile: Duration,
}

impl Stages {
    /// The sum.
    pub fn total(&self) -> Duration {
        self.decode + self.build + self.plan + self.assemble + self.lower + self.compile
    }
}

impl AddAssign for Stages {
    fn add_assign(&mut self, other: Stages) {
        self.decode += other.decode;
        self.build += other.build;
        self.plan += other.plan;
        self.assemble += other.assemble;
        self.lower += other.lower;
        self.compile += other.compile;
    }
}

/// Does `work` and adds the time that it takes to `stage`.
pub(crate) fn timed<T>(stage: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *stage += start.elapsed();
    result
}

/// Counts of a [`crate::Jit`] since it was made; what has left the cache is still counted, but in `units` and
/// `code_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JitStats {
    /// Units in the cache now.
    pub units: usize,
    /// Bytes of host code in the cache now.
    pub code_bytes: usize,
    /// Units translated.
    pub translated: usize,
    /// Those that are loops in compacted form, for few lanes.
    pub compacted: usize,
    /// Those with a superblock.
    pub superblocks: usize,
    /// Those with one for several waves.
    pub together: usize,
    /// Loops in them that keep registers from iteration to iteration.
    pub inductions: usize,
    /// Those whose function the baseline compiler has made.
    pub baseline: usize,
    /// Guest blocks in them.
    pub blocks: usize,
    /// Guest instructions in them.
    pub instructions: usize,
    /// Bytes of host code of all of them.
    pub translated_bytes: usize,
    /// Segments in them, loops that these became, and places that call the host, by what they call.
    pub counts: Counts,
    /// Time spent translating.
    pub stages: Stages,
    /// Times that a thread came to an entry that was new to it.
    pub lookups: usize,
    /// Those that found it translated, or being translated by another thread.
    pub hits: usize,
    /// Units that left because the cache was full.
    pub evicted: usize,
    /// Units that left because their guest code had been overwritten.
    pub overwritten: usize,
}

impl JitStats {
    /// Counts a unit that was just translated.
    pub(crate) fn add(&mut self, unit: &crate::jit::Unit) {
        self.translated += 1;
        self.baseline += usize::from(unit.is_baseline());
        self.compacted += usize::from(unit.compaction.is_some());
        let plain = unit.blocks.iter().filter(|planned| planned.superblock.is_none());
        self.superblocks += usize::from(unit.blocks.iter().any(|planned| planned.superblock.is_some()));
        self.together += usize::from(unit.team.is_some());
        let parts = unit.blocks.iter().flat_map(|planned| &planned.parts);
        self.inductions += parts.filter(|part| part.induction.is_some()).count();
        self.blocks += plain.clone().count();
        self.instructions += plain.map(|planned| planned.block.instructions as usize).sum::<usize>();
        self.translated_bytes += unit.code_bytes();
        self.counts += &unit.counts;
        self.stages += unit.stages;
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.segments += other.segments;
        self.parts += other.parts;
        self.versions += other.versions;
        merge(&mut self.libcalls, &other.libcalls);
    }
}

fn merge(into: &mut BTreeMap<&'static str, usize>, from: &BTreeMap<&'static str, usize>) {
    for (name, count) in from {
        *into.entry(name).or_default() += count;
    }
}
