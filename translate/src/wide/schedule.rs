//! In which order a segment's values are computed and its results written.
//!
//! Values are computed in program order. A result is written as soon as it is there and nobody reads the register's
//! old value from the register file any more, so that few values live long.

use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// One thing to do for a chunk of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reads a VGPR whose row is written before the value's last use.
    Load(Value),
    /// Computes a value.
    Compute(Value),
    /// Writes a VGPR.
    Set(u64, Value),
    /// Writes a value to a slot.
    Keep(usize, Value),
    /// Writes the bits of a mask: its position in the segment's list of them, and the mask.
    Bits(usize, Value),
    /// Of fused parts: checks an access, for all chunks, and loads.
    Access(usize),
    /// Of fused parts: stores what an access has been checked for, for all chunks.
    Store(usize),
    /// Ends the chunk for the register that the first mask's bits are collected in.
    Turn,
}

/// All of a segment's version.
pub struct Schedule {
    /// In order, each with its chunk; in a loop all are of chunk 0.
    pub events: Vec<(i32, Event)>,
    /// The positions of the events that use a value in a chunk, in order. Uniform values are used in chunk 0.
    uses: HashMap<(Value, i32), Vec<usize>>,
    /// VGPR reads that are made early.
    early: HashSet<Value>,
}

impl Schedule {
    /// Whether the value can't be read from memory at any time, as VGPRs and slots can.
    pub fn is_computed(&self, demand: &Demand<'_>, value: Value) -> bool {
        self.early.contains(&value) || is_computed(demand, value)
    }

    /// The first use at or after an event.
    pub fn next_use(&self, value: (Value, i32), event: usize) -> Option<usize> {
        let uses = self.uses.get(&value)?;
        uses.get(uses.partition_point(|at| *at < event)).copied()
    }

    /// Schedules a version.
    pub fn new(demand: &Demand<'_>, full: Option<Value>) -> Schedule {
        let segment = demand.segment();
        let root = |root: &Value| demand.resolved(demand.node(*root).args[0], full);
        let written: HashSet<u64> = segment.sets.iter().map(|set| demand.node(*set).imm).collect();
        let direct = segment.sets.iter().map(root).chain(segment.spills.iter().map(|v| demand.resolved(*v, full)));
        let early = direct.filter(|value| vgpr(demand, *value).is_some_and(|register| written.contains(&register)));
        let mut schedule = Schedule { events: Vec::new(), uses: HashMap::default(), early: early.collect() };
        let ready = schedule.compute(demand, full);
        let at = |value: Value| ready.at.get(&value).copied().unwrap_or(0);
        let mut after: Vec<Vec<Event>> = vec![Vec::new(); schedule.events.len() + 1];
        for set in &segment.sets {
            let (register, value) = (demand.node(*set).imm, root(set));
            let read = ready.read.get(&register).copied().unwrap_or(0);
            after[at(value).max(read)].push(Event::Set(register, value));
        }
        for spill in &segment.spills {
            let value = demand.resolved(*spill, full);
            after[at(value)].push(Event::Keep(demand.plan.slot(*spill), value));
        }
        for (i, bits) in segment.bits.iter().enumerate() {
            after[at(root(bits))].push(Event::Bits(i, root(bits)));
        }
        schedule.insert(after);
        if !segment.bits.is_empty() {
            schedule.events.push((0, Event::Turn));
        }
        schedule.find_uses(demand, full);
        schedule
    }

    /// A schedule of given events, with the positions of each value's uses in each chunk, and VGPR reads that are made early.
    pub fn of(
        events: Vec<(i32, Event)>,
        uses: HashMap<(Value, i32), Vec<usize>>,
        early: impl IntoIterator<Item = Value>,
    ) -> Schedule {
        Schedule { events, uses, early: early.into_iter().collect() }
    }

    /// The same for all chunks, one after the other.
    pub fn written_out(self, demand: &Demand<'_>, chunks: i32) -> Schedule {
        let (events, count) = (&self.events, self.events.len());
        let copy = |chunk: i32| events.iter().map(move |(_, event)| (chunk, *event));
        let mut all: HashMap<(Value, i32), Vec<usize>> = HashMap::default();
        for ((value, _), uses) in &self.uses {
            let uniform = demand.node(*value).shape == Shape::Uniform;
            for chunk in 0..chunks {
                let key = (*value, if uniform { 0 } else { chunk });
                all.entry(key).or_default().extend(uses.iter().map(|at| at + count * chunk as usize));
            }
        }
        Schedule { events: (0..chunks).flat_map(copy).collect(), uses: all, early: self.early }
    }

    /// Lists what is computed; positions count from 1.
    fn compute(&mut self, demand: &Demand<'_>, full: Option<Value>) -> Ready {
        let mut ready = Ready { at: HashMap::default(), read: HashMap::default() };
        for value in demand.needed(full) {
            let early = self.early.contains(&value);
            if !early && !is_computed(demand, value) {
                continue;
            }
            self.events.push((0, if early { Event::Load(value) } else { Event::Compute(value) }));
            let position = self.events.len();
            ready.at.insert(value, position);
            let reads = |arg: &Value| !self.early.contains(arg);
            let args = demand.node(value).args().map(|arg| demand.resolved(arg, full)).filter(reads);
            let read: Vec<Value> = if early { vec![value] } else { args.collect() };
            for register in read.into_iter().filter_map(|value| vgpr(demand, value)) {
                ready.read.insert(register, position);
            }
        }
        ready
    }

    /// Puts the events of `after[i]` behind the first `i` ones.
    fn insert(&mut self, after: Vec<Vec<Event>>) {
        let computed = std::mem::take(&mut self.events);
        let mut computed = computed.into_iter();
        for events in after {
            self.events.extend(events.into_iter().map(|event| (0, event)));
            self.events.extend(computed.next());
        }
    }

    fn find_uses(&mut self, demand: &Demand<'_>, full: Option<Value>) {
        for (i, (_, event)) in self.events.iter().enumerate() {
            let used: Vec<Value> = match *event {
                Event::Load(_) | Event::Turn => Vec::new(),
                Event::Compute(value) => demand.node(value).args().collect(),
                Event::Set(_, value) | Event::Keep(_, value) | Event::Bits(_, value) => vec![value],
                Event::Access(_) | Event::Store(_) => unreachable!("segments have no accesses"),
            };
            for value in used {
                self.uses.entry((demand.resolved(value, full), 0)).or_default().push(i);
            }
        }
    }
}

/// When things are ready, in positions.
struct Ready {
    /// A value that is computed.
    at: HashMap<Value, usize>,
    /// A register's row: the last one that reads it.
    read: HashMap<u64, usize>,
}

fn is_computed(demand: &Demand<'_>, value: Value) -> bool {
    let node = demand.node(value);
    node.shape == Shape::Lane && !demand.is_loaded(value) && !matches!(node.op, Op::Vgpr | Op::LaneId | Op::Spread)
}

/// The register that a value is read from.
fn vgpr(demand: &Demand<'_>, value: Value) -> Option<u64> {
    let node = demand.node(value);
    (node.op == Op::Vgpr && !demand.is_loaded(value)).then_some(node.imm & 0xff)
}
