//! In which order a segment's values are computed and its results written.
//!
//! Values are computed in program order. A result is written as soon as it is there and nobody reads the register's
//! old value from the register file any more, so that few values live long.

use super::registers::ENDS;
use super::tiles::Tiles;
use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::rc::Rc;

/// Where values may be used: the chunks, and their ends.
const PLACES: u32 = ENDS as u32 + 1;

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
    /// Ends the chunk for the register that the first mask's bits are collected in.
    Turn,
}

/// What happens in a version of a segment, or in a fused part.
pub struct Schedule<E> {
    /// In order, each with its chunk; in a loop, and in what is repeated for each chunk, all are of chunk 0.
    events: Vec<(i32, E)>,
    /// What registers have to know of it.
    pub lives: Lives,
}

/// When values are used, by the positions of events.
pub struct Lives {
    /// How many events there are.
    count: usize,
    /// How often they are repeated, for one chunk after the other.
    copies: usize,
    uses: Uses,
    /// VGPR reads that are made early.
    early: HashSet<Value>,
    /// Values that are one instruction with what they are made of: the same in all versions of a fused part.
    pub tiles: Rc<Tiles>,
}

impl Lives {
    /// Whether the value can't be read from memory at any time, as VGPRs and slots can.
    pub fn is_computed(&self, demand: &Demand<'_>, value: Value) -> bool {
        self.early.contains(&value) || is_computed(demand, value)
    }

    /// The first use of a value in a chunk at or after an event. Uniform ones are used in all chunks.
    pub fn next_use(&self, demand: &Demand<'_>, value: Value, chunk: i32, event: usize) -> Option<usize> {
        if self.copies == 1 {
            return self.uses.next(value, chunk, event);
        }
        let count = self.count;
        if demand.node(value).shape == Shape::Lane {
            let before = count * chunk as usize;
            return Some(before + self.uses.next(value, 0, event.saturating_sub(before))?);
        }
        let (copy, at) = (event / count, event % count);
        let here = self.uses.next(value, 0, at).map(|next| copy * count + next);
        here.or_else(|| Some((copy + 1) * count + self.uses.next(value, 0, 0)?).filter(|_| copy + 1 < self.copies))
    }

    /// The last use of a value in a chunk.
    pub fn last_use(&self, demand: &Demand<'_>, value: Value, chunk: i32) -> Option<usize> {
        if self.copies == 1 {
            return self.uses.last(value, chunk);
        }
        let copy = if demand.node(value).shape == Shape::Lane { chunk as usize } else { self.copies - 1 };
        Some(copy * self.count + self.uses.last(value, 0)?)
    }
}

impl<E: Copy> Schedule<E> {
    /// Events of a chunk.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The events in order, each with its chunk.
    pub fn events(&self) -> impl Iterator<Item = (i32, E)> {
        let copy = |copy| self.events.iter().map(move |(chunk, event)| (chunk + copy, *event));
        (0..self.lives.copies as i32).flat_map(copy)
    }

    /// A schedule of given events, with the uses of each value in each chunk in order, VGPR reads that are made early, and
    /// trees.
    pub fn of(
        events: Vec<(i32, E)>,
        uses: &[Use],
        early: impl IntoIterator<Item = Value>,
        tiles: Rc<Tiles>,
    ) -> Schedule<E> {
        let early = early.into_iter().collect();
        let lives = Lives { count: events.len(), copies: 1, uses: Uses::of(uses), early, tiles };
        Schedule { events, lives }
    }

    /// The same for all chunks, one after the other.
    pub fn written_out(self, chunks: i32) -> Schedule<E> {
        Schedule { lives: Lives { copies: chunks as usize, ..self.lives }, ..self }
    }
}

impl Schedule<Event> {
    /// Schedules a version, of the values that it needs.
    pub fn new(demand: &Demand<'_>, full: Option<Value>, needed: Vec<Value>) -> Schedule<Event> {
        let segment = demand.segment();
        let root = |root: &Value| demand.resolved(demand.node(*root).args[0], full);
        let written: HashSet<u64> = segment.sets.iter().map(|set| demand.node(*set).imm).collect();
        let direct = segment.sets.iter().map(root).chain(segment.spills.iter().map(|v| demand.resolved(*v, full)));
        let early = direct.filter(|value| vgpr(demand, *value).is_some_and(|register| written.contains(&register)));
        let early: HashSet<Value> = early.collect();
        let computed: Vec<Value> = needed.iter().copied().filter(|value| is_computed(demand, *value)).collect();
        let roots = segment.sets.iter().chain(&segment.bits).map(root).chain(segment.spills.iter().copied());
        let roots: Vec<Value> = roots.collect();
        let tiles = Tiles::find(demand.block, &computed, &roots, |value| demand.resolved(value, full));
        let mut schedule = Schedule::of(Vec::new(), &[], early, Rc::new(tiles));
        let ready = schedule.compute(demand, full, needed);
        let at = |value: Value| ready.at.get(&value).copied().unwrap_or(0);
        let mut after: Vec<(usize, Event)> = Vec::new();
        for set in &segment.sets {
            let (register, value) = (demand.node(*set).imm, root(set));
            let read = ready.read.get(&register).copied().unwrap_or(0);
            after.push((at(value).max(read), Event::Set(register, value)));
        }
        for spill in &segment.spills {
            let value = demand.resolved(*spill, full);
            after.push((at(value), Event::Keep(demand.plan.slot(*spill), value)));
        }
        for (i, bits) in segment.bits.iter().enumerate() {
            after.push((at(root(bits)), Event::Bits(i, root(bits))));
        }
        schedule.insert(after);
        if !segment.bits.is_empty() {
            schedule.events.push((0, Event::Turn));
        }
        schedule.find_uses(demand, full);
        schedule
    }

    /// Lists what is computed; positions count from 1.
    fn compute(&mut self, demand: &Demand<'_>, full: Option<Value>, needed: Vec<Value>) -> Ready {
        let mut ready = Ready { at: HashMap::default(), read: HashMap::default() };
        for value in needed {
            let early = self.lives.early.contains(&value);
            if !early && (!is_computed(demand, value) || self.lives.tiles.absorbs(value)) {
                continue;
            }
            self.events.push((0, if early { Event::Load(value) } else { Event::Compute(value) }));
            let position = self.events.len();
            ready.at.insert(value, position);
            let reads = |arg: &Value| !self.lives.early.contains(arg);
            let args = self.lives.tiles.args(demand.block, value).map(|arg| demand.resolved(arg, full)).filter(reads);
            let (loaded, args) = if early { (Some(value), None) } else { (None, Some(args)) };
            for register in loaded.into_iter().chain(args.into_iter().flatten()).filter_map(|value| vgpr(demand, value))
            {
                ready.read.insert(register, position);
            }
        }
        ready
    }

    /// Puts each event behind so many of those that are there.
    fn insert(&mut self, mut after: Vec<(usize, Event)>) {
        after.sort_by_key(|(position, _)| *position);
        let mut computed = std::mem::take(&mut self.events).into_iter();
        let mut done = 0;
        for (position, event) in after {
            self.events.extend(computed.by_ref().take(position - done));
            self.events.push((0, event));
            done = position;
        }
        self.events.extend(computed);
    }

    fn find_uses(&mut self, demand: &Demand<'_>, full: Option<Value>) {
        let mut uses = Vec::with_capacity(2 * self.events.len());
        for (at, (_, event)) in self.events.iter().enumerate() {
            let mut add = |value| uses.push(Use { value: demand.resolved(value, full), chunk: 0, at });
            match *event {
                Event::Load(_) | Event::Turn => {}
                Event::Compute(value) => self.lives.tiles.args(demand.block, value).for_each(add),
                Event::Set(_, value) | Event::Keep(_, value) | Event::Bits(_, value) => add(value),
            }
        }
        (self.lives.count, self.lives.uses) = (self.events.len(), Uses::of(&uses));
    }
}

/// A use of a value. Uniform values are used in chunk 0.
#[derive(Clone, Copy)]
pub struct Use {
    /// What is used.
    pub value: Value,
    /// In which chunk.
    pub chunk: i32,
    /// The position of the event.
    pub at: usize,
}

/// The positions of the events that use each value in each chunk.
#[derive(Default)]
struct Uses {
    /// The least number of a value.
    first: u32,
    /// Where the positions of a value in a chunk start, by number; one more in the end.
    starts: Vec<u32>,
    /// In order for each.
    positions: Vec<u32>,
}

impl Uses {
    /// Takes a list that is in order of positions.
    fn of(list: &[Use]) -> Uses {
        let numbers = || list.iter().map(|used| used.value.0);
        let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return Uses::default() };
        let mut uses = Uses { first, starts: Vec::new(), positions: vec![0; list.len()] };
        // A place further on, the starts turn into ends while positions are filled in, which are the next ones' starts.
        uses.starts.resize(((last - first + 1) * PLACES) as usize + 2, 0);
        for used in list {
            let key = uses.key(used.value, used.chunk);
            uses.starts[key + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut uses.starts {
            sum += *start;
            *start = sum;
        }
        for used in list {
            let key = uses.key(used.value, used.chunk) + 1;
            uses.positions[uses.starts[key] as usize] = used.at as u32;
            uses.starts[key] += 1;
        }
        uses
    }

    fn key(&self, value: Value, chunk: i32) -> usize {
        ((value.0 - self.first) * PLACES) as usize + chunk as usize
    }

    fn positions(&self, value: Value, chunk: i32) -> &[u32] {
        if value.0 < self.first || self.key(value, chunk) + 2 >= self.starts.len() {
            return &[];
        }
        let key = self.key(value, chunk);
        &self.positions[self.starts[key] as usize..self.starts[key + 1] as usize]
    }

    fn next(&self, value: Value, chunk: i32, event: usize) -> Option<usize> {
        let uses = self.positions(value, chunk);
        uses.get(uses.partition_point(|at| (*at as usize) < event)).map(|at| *at as usize)
    }

    fn last(&self, value: Value, chunk: i32) -> Option<usize> {
        self.positions(value, chunk).last().map(|at| *at as usize)
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
    node.shape == Shape::Lane
        && !demand.is_loaded(value)
        && !matches!(node.op, Op::Vgpr | Op::LaneId | Op::GroupId | Op::Spread)
}

/// The register that a value is read from.
fn vgpr(demand: &Demand<'_>, value: Value) -> Option<u64> {
    let node = demand.node(value);
    (node.op == Op::Vgpr && !demand.is_loaded(value)).then_some(node.imm & 0xff)
}

#[cfg(test)]
mod tests {
    use super::{ENDS, Use, Uses};
    use crate::lane::Value;

    #[test]
    fn uses_are_found_by_value_and_chunk() {
        let used = |value, chunk, at| Use { value: Value(value), chunk, at };
        let uses = Uses::of(&[used(7, 0, 1), used(5, 3, 1), used(7, 0, 4), used(7, 1, 6), used(9, ENDS, 8)]);
        assert_eq!(uses.next(Value(7), 0, 0), Some(1));
        assert_eq!(uses.next(Value(7), 0, 2), Some(4));
        assert_eq!(uses.next(Value(7), 0, 5), None);
        assert_eq!(uses.last(Value(7), 0), Some(4));
        assert_eq!(uses.last(Value(7), 1), Some(6));
        assert_eq!(uses.last(Value(5), 3), Some(1));
        assert_eq!(uses.last(Value(9), ENDS), Some(8));
        let never = [(4, 0), (5, 0), (6, 2), (8, 1), (10, 0)];
        assert!(never.into_iter().all(|(value, chunk)| uses.last(Value(value), chunk).is_none()));
        assert_eq!(Uses::of(&[]).next(Value(0), 0, 0), None);
    }
}
