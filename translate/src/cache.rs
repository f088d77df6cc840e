//! The engine: translated units by guest address and MODE, shared by all threads.
//!
//! **Keys.** An entry is found by what was loaded at its guest address, the address, the bits of MODE that translated code
//! depends on, and whether exceptions are kept. Nothing else of a kernel's descriptor does: kernels that reach the same
//! code share it. Target and host features are the same for all units of a [`Jit`].
//!
//! **Threads.** The first thread that wants an entry translates it, without the lock; others that want the same one
//! wait for it.
//!
//! **Bound.** When the host code of all units exceeds the limit, the units that were used longest ago leave. Their
//! memory is freed when the last thread that has them looks for an entry again, which is never inside of translated
//! code. The newest unit always stays.
//!
//! **Overwritten code.** Code in memory that guests may only read and execute does not change. A unit in a segment that is
//! writable too keeps a copy of its words, which is compared with memory whenever a wave enters the unit from outside:
//! at its start, after a barrier or a slice, after a jump through registers, and after s_icache_inv, which leaves
//! translated code for that purpose. What a wave overwrites without s_icache_inv it may go on to execute as it was, as
//! on the hardware.

use crate::access::Site;
use crate::cfg::{self, decode};
use crate::jit::{Context, Exit, Unit};
use crate::libcall;
use crate::pass::initial;
use crate::pass::strides::Start;
use crate::profile;
use crate::stats::JitStats;
use crate::{AtEnd, Machine, meet, translate};
use gcnjit_isa::Decoder;
use gcnjit_rt::{Cause, Engine, Env, Mode, RegisterFile, Stop, Trap, VgprSet, View, Wave};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The bits of MODE that translated code depends on: rounding, denormals, DX10_CLAMP, IEEE, and which instructions
/// are indexed or skipped.
pub(crate) const MODE_KEY: u32 = 0x3ff | Mode::GPR_INDEX | Mode::VSKIP;

/// Bytes of host code that a [`Jit`] keeps if nothing else is said. A kernel that jumps to every dword of itself would
/// fill any memory with units.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// Where a wave is, and all else that its code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    pc: u64,
    /// The bits of MODE, whether TRAPSTS is kept, and what registers there are, in one word to be compared at once.
    variant: u64,
}

impl Place {
    #[inline]
    fn new(pc: u64, mode: Mode, env: &Env<'_>) -> Place {
        const EXCEPTIONS: u32 = 31;
        const _: () = assert!(MODE_KEY >> EXCEPTIONS == 0);
        let low = mode.0 & MODE_KEY | u32::from(env.exceptions) << EXCEPTIONS;
        let RegisterFile { vgprs, sgprs } = env.registers;
        Place { pc, variant: u64::from(low) | u64::from(vgprs) << 32 | u64::from(sgprs) << 48 }
    }

    #[inline]
    fn of(wave: &Wave, env: &Env<'_>) -> Place {
        Place::new(wave.pc, wave.mode, env)
    }
}

/// What tells the code from any other that is loaded at its address, and the place in it.
type Key = (u64, Place);

/// What is known of the code that is translated.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Names of functions by guest address, for profiles.
    pub symbols: BTreeMap<u64, String>,
}

impl Program {
    /// A guest address as a function and an offset.
    pub fn name(&self, pc: u64) -> String {
        match self.symbols.range(..=pc).next_back() {
            Some((start, name)) => format!("{name}+{:#x}", pc - start),
            None => format!("{pc:#x}"),
        }
    }
}

/// The translator as an executor.
pub struct Jit {
    program: Program,
    at_end: AtEnd,
    limit: AtomicUsize,
    /// Counts changes after which a thread must look whether units that it has are gone.
    epoch: AtomicU64,
    /// Counts translations and look-ups that hit: the time by which a unit's last use is told.
    clock: AtomicU64,
    cache: Mutex<Cache>,
    /// Told when an entry is no longer pending.
    settled: Condvar,
}

#[derive(Default)]
struct Cache {
    entries: HashMap<Key, Arc<Resident>>,
    units: Vec<Arc<Resident>>,
    /// Entries that a thread is translating.
    pending: HashSet<Key>,
    stats: JitStats,
}

/// A unit in the cache, or one that has left and is still in use.
pub struct Resident {
    unit: Unit,
    /// What tells its guest code from any other at the same address.
    code: u64,
    /// What it was translated for: see [`Place`].
    variant: u64,
    /// The VGPRs that are read from each entry on before they are written, once somebody has asked.
    read_first: OnceLock<Vec<VgprSet>>,
    /// Guest code that may change, as it was translated.
    watched: Vec<(u64, Vec<u8>)>,
    /// When a wave last entered it.
    used: AtomicU64,
    /// Whether it has left the cache.
    gone: AtomicBool,
}

/// What a thread keeps: the entries it has been at, and where each access of their units last went. It is for the
/// thread that makes it.
pub struct Worker {
    /// Few kernels have more than a handful, so a search from the front beats a map.
    entries: Vec<Known>,
    /// The entry that was found last: mostly the next wave is there too.
    last: Option<Known>,
    units: Vec<InUse>,
    /// What buffer instructions of all units hit last in scratch.
    scratch: Site,
    epoch: u64,
    /// MXCSR outside of translated code.
    host: u32,
}

impl Default for Worker {
    fn default() -> Worker {
        Worker {
            entries: Vec::new(),
            last: None,
            units: Vec::new(),
            scratch: Site::default(),
            epoch: 0,
            host: libcall::mxcsr(),
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

impl Default for Jit {
    fn default() -> Self {
        Jit::new()
    }
}

impl Jit {
    /// An engine with nothing translated, for code whose functions have no names.
    pub fn new() -> Jit {
        Jit::for_program(Program::default())
    }

    /// An engine with nothing translated.
    pub fn for_program(program: Program) -> Jit {
        Jit {
            program,
            at_end: AtEnd::default(),
            limit: AtomicUsize::new(DEFAULT_LIMIT),
            epoch: AtomicU64::new(0),
            clock: AtomicU64::new(0),
            cache: Mutex::default(),
            settled: Condvar::new(),
        }
    }

    /// The same, for who looks at the registers of waves that have ended.
    pub fn keeping_registers(self) -> Jit {
        Jit { at_end: AtEnd::Registers, ..self }
    }

    /// Keeps at most `bytes` of host code from the next translation on, but always the unit that was translated last.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    /// What it was told about the code.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What has been done so far.
    pub fn stats(&self) -> JitStats {
        let cache = self.lock();
        let code_bytes = cache.units.iter().map(|resident| resident.unit.code_bytes()).sum();
        JitStats { units: cache.units.len(), code_bytes, ..cache.stats.clone() }
    }

    /// Time spent translating so far.
    pub fn time(&self) -> Duration {
        self.lock().stats.stages.total()
    }

    /// The unit with an entry where the wave is, for its MODE, translated now if it is new.
    ///
    /// # Errors
    /// As [`translate`].
    pub fn unit(&self, env: &Env<'_>, wave: &Wave) -> Result<Arc<Resident>, Box<Trap>> {
        let (pc, mode) = (wave.pc, Mode(wave.mode.0 & MODE_KEY));
        let code = env.memory.code_id(pc).ok_or_else(|| cfg::bad_jump(pc))?;
        let key = (code, Place::new(pc, mode, env));
        let mut cache = self.lock();
        cache.stats.lookups += 1;
        loop {
            match cache.entries.get(&key).cloned() {
                Some(found) if found.is_current(env.memory) => {
                    cache.stats.hits += 1;
                    self.clock.fetch_add(1, Relaxed);
                    return Ok(found);
                }
                Some(stale) => self.overwritten(&mut cache, &stale),
                None if cache.pending.contains(&key) => {
                    cache = self.settled.wait(cache).unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        cache.pending.insert(key);
        drop(cache);
        let _pending = Pending { jit: self, key };
        let machine = Machine { at_end: self.at_end, ..Machine::of(env) };
        let unit = translate(env.memory, machine, &Start::of(wave), mode)?;
        profile::record(&unit, &self.program);
        let resident = Arc::new(Resident::new(unit, code, env));
        self.insert(resident.clone());
        Ok(resident)
    }

    /// Adds a new unit, and lets others leave if there is too much now.
    fn insert(&self, resident: Arc<Resident>) {
        let mut cache = self.lock();
        resident.used.store(self.clock.fetch_add(1, Relaxed) + 1, Relaxed);
        cache.stats.add(&resident.unit);
        for entry in resident.unit.entries.keys() {
            cache
                .entries
                .entry((resident.code, Place { pc: *entry, variant: resident.variant }))
                .or_insert(resident.clone());
        }
        cache.units.push(resident);
        let size = |unit: &Arc<Resident>| unit.unit.code_bytes();
        let mut total: usize = cache.units.iter().map(size).sum();
        while total > self.limit.load(Relaxed) && cache.units.len() > 1 {
            let others = &cache.units[..cache.units.len() - 1];
            let oldest = others.iter().min_by_key(|unit| unit.used.load(Relaxed)).expect("more than one").clone();
            total -= size(&oldest);
            cache.stats.evicted += 1;
            self.remove(&mut cache, &oldest);
        }
    }

    /// Lets a unit leave whose code is no longer what it was.
    fn overwritten(&self, cache: &mut Cache, resident: &Arc<Resident>) {
        if !resident.gone.load(Relaxed) {
            cache.stats.overwritten += 1;
            self.remove(cache, resident);
        }
    }

    fn remove(&self, cache: &mut Cache, resident: &Arc<Resident>) {
        cache.units.retain(|unit| !Arc::ptr_eq(unit, resident));
        cache.entries.retain(|_, unit| !Arc::ptr_eq(unit, resident));
        resident.gone.store(true, Relaxed);
        self.epoch.fetch_add(1, Release);
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry that the wave is at.
    #[inline]
    fn entry(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> Result<Known, Box<Trap>> {
        if worker.epoch == self.epoch.load(Acquire)
            && let Some(known) = worker.find(Place::of(wave, env))
        {
            let resident = &worker.units[known.unit].resident;
            if resident.is_current(env.memory) {
                resident.touch(self.clock.load(Relaxed));
                return Ok(known);
            }
        }
        self.new_entry(worker, wave, env)
    }

    /// The same for one that the worker has not been at, or that is not what it was.
    #[cold]
    fn new_entry(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> Result<Known, Box<Trap>> {
        let epoch = self.epoch.load(Acquire);
        if std::mem::replace(&mut worker.epoch, epoch) != epoch {
            worker.forget_gone();
            return self.entry(worker, wave, env);
        }
        if let Some(known) = worker.find(Place::of(wave, env)) {
            let resident = &worker.units[known.unit].resident;
            self.overwritten(&mut self.lock(), resident);
            worker.forget_gone();
        }
        let resident = self.unit(env, wave)?;
        resident.touch(self.clock.load(Relaxed));
        Ok(worker.remember(Place::of(wave, env), resident))
    }
}

/// An entry that a thread is translating, until this is dropped.
struct Pending<'a> {
    jit: &'a Jit,
    key: Key,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.jit.lock().pending.remove(&self.key);
        self.jit.settled.notify_all();
    }
}

impl Resident {
    fn new(unit: Unit, code: u64, env: &Env<'_>) -> Resident {
        let memory = env.memory;
        let writable = |start: u64| memory.find(start).is_some_and(|range| range.writable);
        let watched = unit.guest.iter().filter(|part| writable(part.start)).map(|part| {
            let mut bytes = vec![0; (part.end - part.start) as usize];
            memory.read(part.start, &mut bytes).expect("it was decoded from there");
            (part.start, bytes)
        });
        let watched = watched.collect();
        let Place { variant, .. } = Place::new(0, unit.mode, env);
        Resident {
            unit,
            code,
            variant,
            read_first: OnceLock::new(),
            watched,
            used: AtomicU64::new(0),
            gone: AtomicBool::new(false),
        }
    }

    /// The unit.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The VGPRs that a wave at entry `index` may read before it writes them. What may be overwritten may read any.
    fn read_first(&self, index: u32) -> VgprSet {
        if !self.watched.is_empty() {
            return VgprSet::ALL;
        }
        let find = || {
            let blocks = self.unit.blocks.iter().map(|planned| &planned.block).collect::<Vec<_>>();
            initial::read_first(&blocks).into_iter().map(|set| VgprSet(set.vgprs)).collect()
        };
        self.read_first.get_or_init(find)[index as usize]
    }

    /// Whether memory still holds the code that was translated.
    #[inline]
    fn is_current(&self, memory: &View) -> bool {
        self.watched.is_empty() || self.is_unchanged(memory)
    }

    fn is_unchanged(&self, memory: &View) -> bool {
        self.watched.iter().all(|(start, bytes)| {
            let mut now = vec![0; bytes.len()];
            memory.read(*start, &mut now).is_ok() && now == *bytes
        })
    }

    #[inline]
    fn touch(&self, clock: u64) {
        // Mostly it is the same, and a store would take the cache line from other threads.
        if self.used.load(Relaxed) != clock {
            self.used.store(clock, Relaxed);
        }
    }
}

impl Worker {
    /// The entry at `place`.
    #[inline]
    fn find(&mut self, place: Place) -> Option<Known> {
        if self.last.is_none_or(|known| known.place != place) {
            self.last = self.entries.iter().find(|known| known.place == place).copied();
        }
        self.last
    }

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

/// The error of an instruction at `pc` that stops its wave.
#[cold]
fn stopped(cause: Cause, pc: u64) -> Box<Trap> {
    Box::new(Trap::Fault { cause, address: pc, lane: 0, pc })
}

impl Engine for Jit {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn read_first(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> VgprSet {
        if self.at_end == AtEnd::Registers {
            return VgprSet::ALL;
        }
        // What there is no entry for will be a fault in `run`.
        let known = self.entry(worker, wave, env);
        known.map_or(VgprSet::ALL, |known| worker.units[known.unit].resident.read_first(known.index))
    }

    #[inline]
    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(env.slice);
        loop {
            if wave.executed >= limit {
                return Ok(Stop::Yield);
            }
            let Known { unit, index, .. } = self.entry(worker, wave, env)?;
            let InUse { resident, sites } = &mut worker.units[unit];
            let mut context = Context { scratch: worker.scratch, ..Context::new(limit, env, sites, worker.host) };
            let exit = resident.unit.run(wave, &mut context, index);
            worker.scratch = context.scratch;
            if let Some(stop) = outcome(exit, &context, wave)? {
                return Ok(stop);
            }
        }
    }
}

/// What it means for the wave that its unit came back: it goes on at its PC, has stopped, or is stuck.
#[inline]
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
    }
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
