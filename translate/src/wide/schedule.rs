//! In which order a segment's values are computed and its results written.
//!
//! Values are computed in program order. A result is written as soon as it is there and nobody reads the register's
//! old value from the register file any more, so that few values live long.

use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use std::collections::{HashMap, HashSet};

/// One thing to do for a chunk of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reads a VGPR whose row is written before the value's last use.
    Load(Value),
    /// Computes a value.
    Compute(Value),
    /// Writes a VGPR: the SetVgpr node.
    Set(Value),
    /// Writes the slot of a value.
    Keep(Value),
    /// Writes the bits of a mask: the position in the segment's list of them.
    Bits(usize),
}

/// All of a segment's version.
pub struct Schedule {
    /// In order.
    pub events: Vec<Event>,
    /// The positions of the events that use a value, in order.
    uses: HashMap<Value, Vec<usize>>,
    /// VGPR reads that are made early.
    early: HashSet<Value>,
}

impl Schedule {
    /// Whether the value can't be read from memory at any time, as VGPRs and slots can.
    pub fn is_computed(&self, demand: &Demand<'_>, value: Value) -> bool {
        self.early.contains(&value) || is_computed(demand, value)
    }

    /// The first use at or after an event.
    pub fn next_use(&self, value: Value, event: usize) -> Option<usize> {
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
        let mut schedule = Schedule { events: Vec::new(), uses: HashMap::new(), early: early.collect() };
        let ready = schedule.compute(demand, full);
        let at = |value: Value| ready.at.get(&value).copied().unwrap_or(0);
        let mut after: Vec<Vec<Event>> = vec![Vec::new(); schedule.events.len() + 1];
        for set in &segment.sets {
            let read = ready.read.get(&demand.node(*set).imm).copied().unwrap_or(0);
            after[at(root(set)).max(read)].push(Event::Set(*set));
        }
        for spill in &segment.spills {
            after[at(demand.resolved(*spill, full))].push(Event::Keep(*spill));
        }
        for (i, bits) in segment.bits.iter().enumerate() {
            after[at(root(bits))].push(Event::Bits(i));
        }
        schedule.insert(after);
        schedule.find_uses(demand, full);
        schedule
    }

    /// Lists what is computed; positions count from 1.
    fn compute(&mut self, demand: &Demand<'_>, full: Option<Value>) -> Ready {
        let mut ready = Ready { at: HashMap::new(), read: HashMap::new() };
        for value in demand.needed(full) {
            let early = self.early.contains(&value);
            if !early && !is_computed(demand, value) {
                continue;
            }
            self.events.push(if early { Event::Load(value) } else { Event::Compute(value) });
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
            self.events.extend(events);
            self.events.extend(computed.next());
        }
    }

    fn find_uses(&mut self, demand: &Demand<'_>, full: Option<Value>) {
        for (i, event) in self.events.iter().enumerate() {
            let used: Vec<Value> = match *event {
                Event::Load(_) => Vec::new(),
                Event::Compute(value) => demand.node(value).args().collect(),
                Event::Keep(value) => vec![value],
                Event::Set(root) => demand.node(root).args().collect(),
                Event::Bits(bits) => demand.node(demand.segment().bits[bits]).args().collect(),
            };
            for value in used {
                self.uses.entry(demand.resolved(value, full)).or_default().push(i);
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
