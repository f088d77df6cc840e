//! In which order a fused part does things: values chunk by chunk, accesses for all chunks at once.

use super::{COUNT, ENDS};
use crate::lane::{Op, Shape, Value};
use crate::pass::fuse::address::Address;
use crate::pass::fuse::induction::Induction;
use crate::pass::fuse::{Counting, Fused, Group, Stage};
use crate::pass::strides::claims::Claim;
use crate::wide::schedule::{Event, Schedule, Use};
use crate::wide::tiles::Tiles;
use rustc_hash::FxHashSet as HashSet;
use std::rc::Rc;

/// What a part does, one thing after the other.
#[derive(Clone, Copy)]
pub(super) enum PartEvent<'f> {
    /// What a segment does too, for a chunk.
    Chunk(Event),
    /// Gives up unless a mask is true in all active lanes of a chunk.
    Assume(Value),
    /// Computes a value at the ends of chunks.
    Ends(Value),
    /// Looks at one there.
    Claim(Claim),
    /// Checks where a strided access goes.
    Check(&'f Group, &'f Address),
    /// Gives up if something is not as it was thought to be.
    Proof,
    /// Checks an access, for all chunks, if that has not been done, and loads.
    Access(usize),
    /// Stores what an access has been checked for, for all chunks.
    Store(usize),
    /// Keeps a register at the ends of chunks for the next iteration.
    Keep(u64, Value),
}

impl From<Event> for PartEvent<'_> {
    fn from(event: Event) -> Self {
        PartEvent::Chunk(event)
    }
}

/// Lists what happens in the first `count` chunks: values by chunk, accesses for all of them at once; in the end what had to
/// wait. The trees are those of [`tiles`].
pub(super) fn schedule(fused: &Fused, count: i32, tiles: Rc<Tiles>) -> Schedule<PartEvent<'_>> {
    List::whole(fused, count, &tiles).schedule(tiles)
}

/// Lists what is done for a loop of a part before its first iteration, which is to find registers at the ends of chunks, and
/// in each iteration.
pub(super) fn iterations(induction: &Induction, tiles: Rc<Tiles>) -> [Schedule<PartEvent<'_>>; 2] {
    let Induction { iteration, kept } = induction;
    let mut first = List::new(iteration, COUNT);
    for (register, value) in kept.iter().filter_map(|kept| Some((kept.register, kept.read?))) {
        first.push(ENDS, PartEvent::Ends(value), &[]);
        first.push(ENDS, PartEvent::Keep(register, value), &[value]);
    }
    first.push(ENDS, PartEvent::Proof, &[]);
    let mut each = List::whole(iteration, COUNT, &tiles);
    for (register, value) in kept.iter().filter_map(|kept| Some((kept.register, kept.written?))) {
        each.push(ENDS, PartEvent::Keep(register, value), &[value]);
    }
    [first, each].map(|list| list.schedule(tiles.clone()))
}

/// Lists what is done once for several waves that are run together, and what is then done for each: proving addresses, and
/// moving lanes.
pub(super) fn alike(fused: &Fused, tiles: Rc<Tiles>) -> [Schedule<PartEvent<'_>>; 2] {
    let [mut once, mut each] = [(); 2].map(|()| List::new(fused, COUNT));
    for stage in &fused.stages {
        once.ends(stage);
        each.values(stage, &tiles);
        if let Some(access) = stage.access {
            each.access(access);
        }
    }
    [once, each].map(|list| list.schedule(tiles.clone()))
}

/// The trees among the values that are computed in chunks.
pub(super) fn tiles(fused: &Fused) -> Tiles {
    let values: Vec<Value> = fused.stages.iter().flat_map(|stage| &stage.values).copied().collect();
    let lanes = fused.accesses.iter().flat_map(|access| access.address.iter().chain(&access.data));
    let sets = fused.sets.iter().chain(fused.stages.iter().flat_map(|stage| &stage.sets)).map(|set| &set.1);
    let others = fused.keeps.iter().map(|keep| &keep.1).chain(fused.bits.iter().map(|bits| &bits.1));
    let others = others.chain(fused.stages.iter().flat_map(|stage| &stage.assumed));
    let roots: Vec<Value> = lanes.chain(sets).chain(others).copied().collect();
    Tiles::find(&fused.block, &values, &roots, |value| value)
}

/// A schedule in the making.
struct List<'a> {
    fused: &'a Fused,
    count: i32,
    events: Vec<(i32, PartEvent<'a>)>,
    uses: Vec<Use>,
    /// Reads of VGPRs that are made before these are written.
    early: Vec<Value>,
}

impl<'a> List<'a> {
    fn new(fused: &'a Fused, count: i32) -> List<'a> {
        List { fused, count, events: Vec::new(), uses: Vec::new(), early: Vec::new() }
    }

    /// All that a part does.
    fn whole(fused: &'a Fused, count: i32, tiles: &Tiles) -> List<'a> {
        let mut list = List::new(fused, count);
        list.load_early();
        for stage in &fused.stages {
            list.values(stage, tiles);
            list.ends(stage);
            if let Some(access) = stage.access {
                list.access(access);
            }
        }
        list.results();
        list
    }

    fn schedule(self, tiles: Rc<Tiles>) -> Schedule<PartEvent<'a>> {
        Schedule::of(self.events, &self.uses, self.early, tiles)
    }

    /// What has to wait until the end.
    fn results(&mut self) {
        let fused = self.fused;
        for chunk in 0..self.count {
            for (slot, value) in &fused.keeps {
                self.push(chunk, Event::Keep(*slot, *value), &[*value]);
            }
            for (register, value) in &fused.sets {
                self.push(chunk, Event::Set(*register, *value), &[*value]);
            }
            for (i, (_, value)) in fused.bits.iter().enumerate() {
                self.push(chunk, Event::Bits(i, *value), &[*value]);
            }
            if !fused.bits.is_empty() && self.count > 1 {
                self.push(chunk, Event::Turn, &[]);
            }
        }
    }

    /// The next event uses these.
    fn uses(&mut self, chunk: i32, values: impl IntoIterator<Item = Value>) {
        for value in values {
            let uniform = self.fused.block.node(value).shape == Shape::Uniform;
            let chunk = if uniform { 0 } else { chunk };
            self.uses.push(Use { value, chunk, at: self.events.len() });
        }
    }

    fn push(&mut self, chunk: i32, event: impl Into<PartEvent<'a>>, values: &[Value]) {
        self.uses(chunk, values.iter().copied());
        self.events.push((chunk, event.into()));
    }

    /// What a stage computes lane by lane, and what becomes of that.
    fn values(&mut self, stage: &Stage, tiles: &Tiles) {
        for chunk in 0..self.count {
            for value in stage.values.iter().filter(|value| !tiles.absorbs(**value)) {
                self.uses(chunk, tiles.args(&self.fused.block, *value));
                self.push(chunk, Event::Compute(*value), &[]);
            }
        }
        for mask in &stage.assumed {
            self.in_each_chunk(PartEvent::Assume(*mask), &[*mask]);
        }
        for (register, value) in &stage.sets {
            self.in_each_chunk(Event::Set(*register, *value), &[*value]);
        }
    }

    /// What a stage looks at where chunks end.
    fn ends(&mut self, stage: &'a Stage) {
        let fused = self.fused;
        for (value, claims) in &stage.ends {
            self.uses(ENDS, fused.block.node(*value).args());
            self.push(ENDS, PartEvent::Ends(*value), &[]);
            claims.iter().for_each(|claim| self.push(ENDS, PartEvent::Claim(*claim), &[claim.value()]));
        }
        for group in &stage.checks {
            if let Some(Counting { address, .. }) = &fused.accesses[group.accesses[0]].counting {
                self.uses(ENDS, address.values());
                self.push(ENDS, PartEvent::Check(group, address), &[]);
            }
        }
        if !stage.checks.is_empty() || !stage.ends.is_empty() {
            self.push(ENDS, PartEvent::Proof, &[]);
        }
    }

    fn in_each_chunk(&mut self, event: impl Into<PartEvent<'a>>, values: &[Value]) {
        let event = event.into();
        (0..self.count).for_each(|chunk| self.push(chunk, event, values));
    }

    /// The check of an access; behind the last one, all stores.
    fn access(&mut self, number: usize) {
        let fused = self.fused;
        let accesses = &fused.accesses;
        if accesses[number].counting.is_none() {
            (0..self.count).for_each(|chunk| self.uses(chunk, accesses[number].address.iter().copied()));
        }
        self.events.push((0, PartEvent::Access(number)));
        if number + 1 < accesses.len() {
            return;
        }
        for (number, store) in accesses.iter().enumerate().filter(|(_, access)| access.access.store) {
            (0..self.count).for_each(|chunk| self.uses(chunk, store.data.iter().copied()));
            self.events.push((0, PartEvent::Store(number)));
        }
    }

    /// Reads old values of VGPRs that are to be written to others while their own are written.
    fn load_early(&mut self) {
        let written: HashSet<u64> = self.fused.sets.iter().map(|(register, _)| *register).collect();
        let node = |value: Value| self.fused.block.node(value);
        let roots = self.fused.sets.iter().map(|(_, value)| *value).chain(self.fused.keeps.iter().map(|keep| keep.1));
        let old = |value: &Value| node(*value).op == Op::Vgpr && self.fused.plan.ranks[value.index()].is_some();
        let mut early: Vec<Value> = roots.filter(|value| old(value) && written.contains(&node(*value).imm)).collect();
        early.sort_unstable();
        early.dedup();
        early.iter().for_each(|value| self.in_each_chunk(Event::Load(*value), &[]));
        self.early = early;
    }
}
