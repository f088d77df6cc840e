//! A thread's side of the cache, and how waves run.
//!
//! **Short waves.** What a wave costs beside its code is mostly what is here, so the next wave that comes where the last
//! one was takes a few comparisons: nothing has happened to the cache meanwhile, and the code can't be overwritten.

use super::{Jit, Place, Resident};
use crate::AtEnd;
use crate::access::Site;
use crate::cfg::decode;
use crate::compact;
use crate::jit::{Context, Exit};
use crate::libcall;
use crate::lower::Watch;
use crate::meet;
use gcnjit_isa::Decoder;
use gcnjit_rt::{Cause, Engine, Env, RegisterSet, Row, Stop, Trap, Wave};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// What a thread keeps: the entries it has been at, and where each access of their units last went. It is for the
/// thread that makes it, and for one dispatch.
pub struct Worker {
    /// The entry that was found last, if its code can't be overwritten: mostly the next wave is there too.
    last: Option<Known>,
    /// What the dispatch says about places.
    machine: u64,
    /// The cache's time when it was found.
    clock: u64,
    /// MXCSR outside of translated code.
    host: u32,
    /// Few kernels have more than a handful, so a search from the front beats a map.
    entries: Vec<Known>,
    units: Vec<InUse>,
    /// What buffer instructions of all units hit last in scratch.
    scratch: Site,
    /// Room for rows of a wave that is compacted.
    rows: Vec<Row>,
}

impl Default for Worker {
    fn default() -> Worker {
        Worker {
            last: None,
            machine: 0,
            clock: 0,
            host: libcall::mxcsr(),
            entries: Vec::new(),
            units: Vec::new(),
            scratch: Site::default(),
            rows: Vec::new(),
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    place: Place,
    /// Position in the worker's units.
    unit: usize,
    index: u32,
}

struct InUse {
    resident: Arc<Resident>,
    sites: Vec<Site>,
}

impl Worker {
    /// Drops everything if any unit has left the cache.
    fn forget_gone(&mut self) {
        if self.units.iter().any(|used| used.resident.gone.load(Relaxed)) {
            self.entries.clear();
            self.last = None;
            self.units.clear();
        }
    }

    /// Adds an entry.
    fn remember(&mut self, place: Place, resident: Arc<Resident>) -> Known {
        let index = resident.unit.entries[&place.pc];
        let known = self.units.iter().position(|used| Arc::ptr_eq(&used.resident, &resident));
        let unit = known.unwrap_or_else(|| {
            let mut sites = Vec::new();
            sites.resize_with(resident.unit.accesses, Site::default);
            self.units.push(InUse { resident, sites });
            self.units.len() - 1
        });
        let known = Known { place, unit, index };
        self.entries.push(known);
        known
    }
}

impl Jit {
    /// The entry that the wave is at: the position of its unit, and its index there.
    #[inline]
    fn entry(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> Result<(usize, u32), Box<Trap>> {
        debug_assert!(worker.entries.is_empty() || worker.machine == Place::machine(env), "another dispatch");
        let place = Place::new(wave.pc, wave.mode, worker.machine);
        match &worker.last {
            Some(Known { place: last, unit, index }) if *last == place && worker.clock == self.clock.load(Acquire) => {
                Ok((*unit, *index))
            }
            _ => self.other_entry(worker, wave, env).map(|known| (known.unit, known.index)),
        }
    }

    /// The same for one that need not be where the last wave was, or whose code may be overwritten.
    #[inline(never)]
    fn other_entry(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> Result<Known, Box<Trap>> {
        worker.machine = Place::machine(env);
        let clock = self.clock.load(Acquire);
        if std::mem::replace(&mut worker.clock, clock) != clock {
            worker.forget_gone();
        }
        let place = Place::new(wave.pc, wave.mode, worker.machine);
        let mut known = worker.entries.iter().find(|known| known.place == place).copied();
        if let Some(Known { unit, .. }) = known {
            let resident = &worker.units[unit].resident;
            if !resident.is_current(env.memory) {
                self.overwritten(&mut self.lock(), resident);
                worker.forget_gone();
                known = None;
            }
        }
        let known = match known {
            Some(known) => known,
            None => worker.remember(place, self.unit(env, wave)?),
        };
        let resident = &worker.units[known.unit].resident;
        resident.touch(self.clock.load(Relaxed));
        worker.last = resident.watched.is_empty().then_some(known);
        Ok(known)
    }
}

impl Jit {
    /// The entry of the compacted form of a loop of one of the worker's units, if it has one where the wave is.
    fn compacted_entry(
        &self,
        worker: &mut Worker,
        unit: usize,
        wave: &Wave,
        env: &Env<'_>,
    ) -> Result<Option<Known>, Box<Trap>> {
        let place = Place::new(wave.pc, wave.mode, worker.machine).compacted();
        if let Some(known) = worker.entries.iter().find(|known| known.place == place) {
            return Ok(Some(*known));
        }
        let resident = &worker.units[unit].resident;
        let head = &resident.unit.blocks[resident.unit.entries[&wave.pc] as usize];
        let Watch::Few(of) = &head.watch else { return Ok(None) };
        // What may be overwritten is not looked at often enough.
        if !resident.watched.is_empty() {
            return Ok(None);
        }
        let resident = self.compacted(env, place, &resident.unit, of)?;
        Ok(Some(worker.remember(place, resident)))
    }

    /// Goes on with the loop of a unit that a wave is at and has few lanes left for, in compacted form. `None` if the wave
    /// goes on at its PC.
    #[inline(never)]
    fn run_compacted(
        &self,
        worker: &mut Worker,
        unit: usize,
        wave: &mut Wave,
        env: &Env<'_>,
        limit: u64,
    ) -> Result<Option<Stop>, Box<Trap>> {
        let Some(known) = self.compacted_entry(worker, unit, wave, env)? else { return Ok(None) };
        let Worker { units, scratch, host, rows, .. } = worker;
        let InUse { resident, sites } = &mut units[known.unit];
        let Some(compaction) = &resident.unit.compaction else { return Ok(None) };
        let Some(lanes) = compaction.lanes(wave) else { return Ok(None) };
        compaction.begin(wave, lanes, rows);
        let mut context = Context::new(wave, limit, env, sites, scratch, *host);
        let exit = resident.unit.run(wave, &mut context, known.index);
        context.bad = context.bad.map(|bad| compact::outside(bad, wave));
        compaction.end(wave, rows);
        outcome(exit, &context, wave)
    }
}

impl Engine for Jit {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn read_first(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> RegisterSet {
        if self.at_end == AtEnd::Registers {
            return RegisterSet::ALL;
        }
        // What there is no entry for will be a fault in `run`.
        let known = self.entry(worker, wave, env);
        known.map_or(RegisterSet::ALL, |(unit, index)| worker.units[unit].resident.read_first(index))
    }

    #[inline(always)]
    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(env.slice);
        loop {
            let (unit, index) = self.entry(worker, wave, env)?;
            let Worker { units, scratch, host, .. } = worker;
            let InUse { resident, sites } = &mut units[unit];
            let mut context = Context::new(wave, limit, env, sites, scratch, *host);
            let exit = resident.unit.run(wave, &mut context, index);
            // By comparisons, not through a table: nearly all come back for one of these.
            if exit == Exit::End {
                return Ok(Stop::End);
            }
            if exit == Exit::Barrier {
                return Ok(Stop::Barrier);
            }
            let stop = match exit {
                Exit::Compact => self.run_compacted(worker, unit, wave, env, limit)?,
                _ => outcome(exit, &context, wave)?,
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
            if wave.executed >= limit {
                return Ok(Stop::Yield);
            }
        }
    }
}

/// What it means for the wave that its unit came back: it goes on at its PC, has stopped, or is stuck.
#[inline(never)]
pub(crate) fn outcome(exit: Exit, context: &Context<'_>, wave: &mut Wave) -> Result<Option<Stop>, Box<Trap>> {
    match exit {
        Exit::End => Ok(Some(Stop::End)),
        Exit::Barrier => Ok(Some(Stop::Barrier)),
        Exit::Yield => Ok(Some(Stop::Yield)),
        Exit::Jump => Ok(None),
        Exit::Fault => Err(faulted(context, wave.pc)),
        Exit::Trap => Err(stopped(Cause::TrapInstruction, wave.pc)),
        Exit::Halt => Err(stopped(Cause::Halt, wave.pc)),
        Exit::Undocumented => Err(stopped(Cause::Undocumented, wave.pc)),
        Exit::Meet => meet(context.env, wave),
        // Nothing has to be done: the loop goes on as it is.
        Exit::Compact => Ok(None),
    }
}

/// The error of an instruction at `pc` that stops its wave.
#[cold]
fn stopped(cause: Cause, pc: u64) -> Box<Trap> {
    Box::new(Trap::Fault { cause, address: pc, lane: 0, pc })
}

/// The error of an access at `pc` that faulted.
#[cold]
fn faulted(context: &Context<'_>, pc: u64) -> Box<Trap> {
    let bad = context.bad.as_ref().expect("a faulting access says why");
    let (cause, address, lane) = (bad.cause, bad.address, bad.lane);
    Box::new(Trap::Fault { cause, address, lane, pc })
}

/// Executes the instruction at which waves of different work-groups meet.
#[cold]
fn meet(env: &Env<'_>, wave: &mut Wave) -> Result<Option<Stop>, Box<Trap>> {
    let inst = decode(env.memory, Decoder::new(env.target), wave.pc)?;
    Ok(meet::execute(&inst, wave, env).map(Stop::Wait))
}
