//! A thread's side of the cache, and how waves run.
//!
//! **Short waves.** What a wave costs beside its code is mostly what is here, so what is the same for many is kept from
//! one to the next ([`Run`]), and the next wave that comes where the last one was takes a few comparisons: the code can't
//! be overwritten then. Whether anything has happened to the cache meanwhile is asked when a run begins, and when a wave
//! comes to another place; until then the units that the thread has stay as they are, even if they leave.

use super::{Jit, Place, Resident};
use crate::AtEnd;
use crate::access::Site;
use crate::cfg::decode;
use crate::compact;
use crate::jit::{Context, Exit, Unit};
use crate::libcall;
use crate::lower::Watch;
use crate::meet;
use gcnjit_isa::Decoder;
use gcnjit_rt::{Cause, Ended, Engine, Env, RegisterSet, Runner, Stop, Trap, Wave};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// What a thread keeps: the entries it has been at, and where each access of their units last went. It is for the
/// thread that makes it, and for one dispatch.
pub struct Worker {
    /// MXCSR outside of translated code.
    host: u32,
    /// What buffer instructions of all units hit last in scratch.
    scratch: Site,
    entries: Entries,
}

impl Default for Worker {
    fn default() -> Worker {
        Worker { host: libcall::mxcsr(), scratch: Site::default(), entries: Entries::default() }
    }
}

/// The entries that a thread has been at.
#[derive(Default)]
struct Entries {
    /// The one that was taken last, if it is steady: mostly the next wave is there too.
    last: Option<Known>,
    /// What the dispatch says about places.
    machine: u64,
    /// The cache's time when it was found.
    clock: u64,
    /// Few kernels have more than a handful, so a search from the front beats a map.
    known: Vec<Known>,
    units: Vec<InUse>,
    /// Room for what is kept of a wave that is compacted.
    kept: Vec<compact::First>,
}

#[derive(Clone, Copy)]
struct Known {
    place: Place,
    /// Position among the units.
    unit: usize,
    index: u32,
    /// Whether its code can't be overwritten.
    steady: bool,
}

struct InUse {
    resident: Arc<Resident>,
    /// While the unit is run, the context has them.
    sites: Vec<Site>,
}

impl Entries {
    /// Drops everything if any unit has left the cache.
    fn forget_gone(&mut self) {
        if self.units.iter().any(|used| used.resident.gone.load(Relaxed)) {
            self.known.clear();
            self.last = None;
            self.units.clear();
        }
    }

    /// Looks whether anything has happened to the cache.
    #[inline]
    fn catch_up(&mut self, clock: u64) {
        if std::mem::replace(&mut self.clock, clock) != clock {
            self.last = None;
            self.forget_gone();
        }
    }

    /// A steady entry that the thread has been at since anything has happened to the cache.
    fn recall(&self, place: Place, clock: u64) -> Option<Known> {
        let is_there = |known: &&Known| known.place == place && known.steady;
        self.known.iter().find(is_there).filter(|_| self.clock == clock).copied()
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
        let steady = self.units[unit].resident.watched.is_empty();
        let known = Known { place, unit, index, steady };
        self.known.push(known);
        known
    }

    /// The entry that the wave is at.
    fn find(&mut self, jit: &Jit, wave: &Wave, env: &Env<'_>) -> Result<Known, Box<Trap>> {
        debug_assert!(self.known.is_empty() || self.machine == Place::machine(env), "another dispatch");
        self.machine = Place::machine(env);
        self.last = None;
        self.catch_up(jit.clock.load(Acquire));
        let place = Place::new(wave.pc, wave.mode, self.machine);
        let mut known = self.known.iter().find(|known| known.place == place).copied();
        if let Some(Known { unit, .. }) = known {
            let resident = &self.units[unit].resident;
            if !resident.is_current(env.memory) {
                jit.overwritten(&mut jit.lock(), resident);
                self.forget_gone();
                known = None;
            }
        }
        let known = match known {
            Some(known) => known,
            None => self.remember(place, jit.unit(env, wave)?),
        };
        self.units[known.unit].resident.touch(jit.clock.load(Relaxed));
        Ok(known)
    }

    /// The entry of the compacted form of the loop of a unit at which the wave is; `None` if it has none, or is of code
    /// that may be overwritten, which would not be looked at often enough.
    fn find_compacted(
        &mut self,
        jit: &Jit,
        of: &Resident,
        wave: &Wave,
        env: &Env<'_>,
    ) -> Result<Option<Known>, Box<Trap>> {
        let place = Place::new(wave.pc, wave.mode, self.machine).compacted();
        if let Some(known) = self.known.iter().find(|known| known.place == place) {
            return Ok(Some(*known));
        }
        let head = &of.unit.blocks[of.unit.entries[&wave.pc] as usize];
        let Watch::Few(found) = &head.watch else { return Ok(None) };
        if !of.watched.is_empty() {
            return Ok(None);
        }
        let resident = jit.compacted(env, place, &of.unit, found)?;
        Ok(Some(self.remember(place, resident)))
    }
}

/// Waves of a dispatch that run one after the other in one environment. What each of them asks for stands here, a load
/// away, and not where it is kept.
struct Run<'a> {
    jit: &'a Jit,
    entries: &'a mut Entries,
    context: Context<'a>,
    /// What the dispatch says about places, and about how long waves run.
    machine: u64,
    slice: u64,
    /// The entry that was taken last, if it is steady.
    last: Option<Known>,
    /// The unit that was run last: the context has its sites.
    current: Option<Current>,
    /// Whether the wave that was run last has ended as it began: in a superblock, and in nothing before.
    kept: bool,
}

struct Current {
    /// Position among the units.
    unit: usize,
    resident: Arc<Resident>,
}

impl<'a> Run<'a> {
    #[inline]
    fn new(jit: &'a Jit, worker: &'a mut Worker, env: &'a Env<'a>) -> Run<'a> {
        let Worker { host, scratch, entries } = worker;
        entries.catch_up(jit.clock.load(Acquire));
        let context = Context::new(0, env, Vec::new(), scratch, *host);
        let (machine, slice, last) = (entries.machine, env.slice, entries.last);
        let mut run = Run { jit, entries, context, machine, slice, last, current: None, kept: false };
        if let Some(known) = last {
            run.change_unit(Some(known.unit));
        }
        run
    }

    /// Gives the sites of the current unit back, and takes those of another.
    fn change_unit(&mut self, to: Option<usize>) {
        let units = &mut self.entries.units;
        let sites = to.map_or_else(Vec::new, |unit| std::mem::take(&mut units[unit].sites));
        let sites = self.context.exchange_sites(sites);
        if let Some(Current { unit, .. }) = self.current.take() {
            units[unit].sites = sites;
        }
        self.current = to.map(|unit| Current { unit, resident: units[unit].resident.clone() });
    }

    /// Finds the entry of a wave that is not where the last one was, or whose code may be overwritten.
    #[inline(never)]
    fn enter(&mut self, wave: &Wave) -> Result<Known, Box<Trap>> {
        let place = Place::new(wave.pc, wave.mode, self.machine);
        let known = match self.entries.recall(place, self.jit.clock.load(Acquire)) {
            Some(known) => known,
            None => {
                // Units may be dropped, others become known; if there is no entry, there is no current unit either.
                self.last = None;
                self.change_unit(None);
                let known = self.entries.find(self.jit, wave, self.context.env)?;
                self.machine = self.entries.machine;
                known
            }
        };
        if self.current.as_ref().is_none_or(|current| current.unit != known.unit) {
            self.change_unit(Some(known.unit));
        }
        self.last = Some(known).filter(|known| known.steady);
        Ok(known)
    }

    /// The entry that the wave is at: its unit, which is the current one, and its index there.
    #[inline(always)]
    fn entry(&mut self, wave: &Wave) -> Result<(&Unit, &mut Context<'a>, u32), Box<Trap>> {
        let place = Place::new(wave.pc, wave.mode, self.machine);
        let index = match &self.last {
            Some(last) if last.place == place => last.index,
            _ => self.enter(wave)?.index,
        };
        let current = self.current.as_ref().expect("an entry's unit is the current one");
        Ok((&current.resident.unit, &mut self.context, index))
    }

    /// Runs the first waves of some that begin alike, if the current unit has a superblock for them. `None` if it has none, or
    /// nothing has been done.
    #[inline(always)]
    fn run_team(&mut self, alike: gcnjit_rt::Alike<'_>) -> Option<Ended> {
        let gcnjit_rt::Alike { waves, first, groups, reach } = alike;
        let place = Place::new(waves[first].pc, waves[first].mode, self.machine);
        let last = self.last.filter(|last| last.place == place)?;
        let unit = &self.current.as_ref()?.resident.unit;
        let team = unit.team.filter(|team| team.of == last.index)?;
        let env = self.context.env;
        if reach < team.alike.reach || env.group_id != team.alike.group_id {
            return None;
        }
        let (all, together) = (waves.len() * groups - first, &mut self.context.together);
        let (mut next, mut group) = (first, waves[first].group[0]);
        for (wave, group_id) in together.waves.iter_mut().zip(&mut together.group_ids) {
            (*wave, *group_id) = (&raw const *waves[next], group);
            next += 1;
            if next == waves.len() {
                (next, group) = (0, group.wrapping_add(1));
            }
        }
        together.count = all.min(team.alike.waves()) as u64;
        let exit = unit.run(&mut waves[first], &mut self.context, team.index);
        let ended = self.context.together.count as usize;
        (exit == Exit::Kept).then_some(Ended { waves: ended, instructions: team.instructions })
    }

    /// Goes on with a loop of the current unit that the wave is at and has few lanes left for, in compacted form. `None` if
    /// the wave goes on at its PC.
    #[inline(never)]
    fn run_compacted(&mut self, wave: &mut Wave) -> Result<Option<Stop>, Box<Trap>> {
        let whole = self.current.as_ref().expect("it has just been run").resident.clone();
        let found = self.entries.find_compacted(self.jit, &whole, wave, self.context.env)?;
        let Some(Known { unit, index, .. }) = found else { return Ok(None) };
        self.last = None;
        self.change_unit(Some(unit));
        let resident = &self.current.as_ref().expect("it is the current one now").resident;
        resident.touch(self.jit.clock.load(Relaxed));
        let Some(compaction) = &resident.unit.compaction else { return Ok(None) };
        let Some(lanes) = compaction.lanes(wave) else { return Ok(None) };
        compaction.begin(wave, lanes, &mut self.entries.kept);
        let exit = resident.unit.run(wave, &mut self.context, index);
        self.context.bad = self.context.bad.map(|bad| compact::outside(bad, wave));
        compaction.end(wave, &self.entries.kept);
        self.context.few_since = wave.executed;
        outcome(exit, &self.context, wave)
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.change_unit(None);
        self.entries.last = self.last;
    }
}

impl Runner for Run<'_> {
    #[inline(always)]
    fn has_kept(&self) -> bool {
        self.kept
    }

    #[inline(always)]
    fn run_alike(&mut self, alike: gcnjit_rt::Alike<'_>) -> Ended {
        self.run_team(alike).unwrap_or_default()
    }

    #[inline(always)]
    fn run(&mut self, wave: &mut Wave) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(self.slice);
        self.context.limit = limit;
        self.context.few_since = wave.executed;
        let mut is_first = true;
        loop {
            let (unit, context, index) = self.entry(wave)?;
            let exit = unit.run(wave, context, index);
            // By comparisons, not through a table: nearly all come back for one of these.
            if exit == Exit::End || exit == Exit::Kept {
                self.kept = is_first && exit == Exit::Kept;
                return Ok(Stop::End);
            }
            is_first = false;
            if exit == Exit::Barrier {
                return Ok(Stop::Barrier);
            }
            let stop = match exit {
                Exit::Compact => self.run_compacted(wave)?,
                _ => outcome(exit, &self.context, wave)?,
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
        let entries = &mut worker.entries;
        let known = entries.find(self, wave, env);
        known.map_or(RegisterSet::ALL, |known| entries.units[known.unit].resident.read_first(known.index))
    }

    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        Run::new(self, worker, env).run(wave)
    }

    #[inline]
    fn runner<'a>(&'a self, worker: &'a mut Worker, env: &'a Env<'a>) -> impl Runner + 'a {
        Run::new(self, worker, env)
    }
}

/// What it means for the wave that its unit came back: it goes on at its PC, has stopped, or is stuck.
#[inline(never)]
pub(crate) fn outcome(exit: Exit, context: &Context<'_>, wave: &mut Wave) -> Result<Option<Stop>, Box<Trap>> {
    match exit {
        Exit::End | Exit::Kept => Ok(Some(Stop::End)),
        Exit::Barrier => Ok(Some(Stop::Barrier)),
        Exit::Yield => Ok(Some(Stop::Yield)),
        Exit::Jump => Ok(None),
        Exit::Fault => Err(faulted(context, wave.pc)),
        Exit::Trap => Err(stopped(Cause::TrapInstruction, wave.pc)),
        Exit::Halt => Err(stopped(Cause::Halt, wave.pc)),
        Exit::Undocumented => Err(stopped(Cause::Undocumented, wave.pc)),
        Exit::Meet => meet(context.env, wave),
        // Nothing has to be done: the loop goes on as it is, or nothing has begun.
        Exit::Compact | Exit::Apart => Ok(None),
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
