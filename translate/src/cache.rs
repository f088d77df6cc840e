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
//! memory is freed when the last thread that has them begins another run of waves or looks for an entry again, which is
//! never inside of translated code. The newest unit always stays.
//!
//! **Overwritten code.** Code in memory that guests may only read and execute does not change. A unit in a segment that is
//! writable too keeps a copy of its words, which is compared with memory whenever a wave enters the unit from outside:
//! at its start, after a barrier or a slice, after a jump through registers, and after s_icache_inv, which leaves
//! translated code for that purpose. What a wave overwrites without s_icache_inv it may go on to execute as it was, as
//! on the hardware.

mod worker;

pub use worker::Worker;
pub(crate) use worker::outcome;

use crate::cfg;
use crate::jit::Unit;
use crate::pass::compact::Loop;
use crate::pass::initial;
use crate::pass::registers::RegisterSet as Read;
use crate::pass::strides::Start;
use crate::profile;
use crate::stats::JitStats;
use crate::{AtEnd, Machine, translate, translate_compacted};
use gcnjit_rt::{Env, Mode, RegisterFile, RegisterSet, Trap, View, Wave};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering::{Relaxed, Release};
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
    fn new(pc: u64, mode: Mode, machine: u64) -> Place {
        Place { pc, variant: machine | u64::from(mode.0 & MODE_KEY) }
    }

    /// The same for the compacted form of the loop there.
    fn compacted(self) -> Place {
        const COMPACTED: u32 = 30;
        const _: () = assert!(MODE_KEY >> COMPACTED == 0);
        Place { variant: self.variant | 1 << COMPACTED, ..self }
    }

    /// What a dispatch has to say about it.
    fn machine(env: &Env<'_>) -> u64 {
        const EXCEPTIONS: u32 = 31;
        const _: () = assert!(MODE_KEY >> EXCEPTIONS == 0);
        let RegisterFile { vgprs, sgprs } = env.registers;
        u64::from(env.exceptions) << EXCEPTIONS | u64::from(vgprs) << 32 | u64::from(sgprs) << 48
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
    /// Counts translations, look-ups that hit, and units that leave: the time by which a unit's last use is told, and
    /// after a change of which a thread must look whether units that it has are gone.
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
    /// The registers that are read from each entry on before they are written, once somebody has asked.
    read_first: OnceLock<Vec<RegisterSet>>,
    /// Guest code that may change, as it was translated.
    watched: Vec<(u64, Vec<u8>)>,
    /// When a wave last entered it.
    used: AtomicU64,
    /// Whether it has left the cache.
    gone: AtomicBool,
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
        let mode = Mode(wave.mode.0 & MODE_KEY);
        let place = Place::new(wave.pc, mode, Place::machine(env));
        self.find(env, place, || translate(env.memory, self.machine(env), &Start::of(wave, env), mode))
    }

    /// The unit of the compacted form of a loop of another unit, at which the wave is, translated now if it is new.
    ///
    /// # Errors
    /// As [`translate_compacted`].
    fn compacted(&self, env: &Env<'_>, place: Place, unit: &Unit, of: &Loop) -> Result<Arc<Resident>, Box<Trap>> {
        self.find(env, place, || translate_compacted(unit, of, self.machine(env)))
    }

    fn machine(&self, env: &Env<'_>) -> Machine {
        Machine { at_end: self.at_end, ..Machine::of(env) }
    }

    /// The unit with an entry at a place, made now if it is new.
    fn find(
        &self,
        env: &Env<'_>,
        place: Place,
        make: impl FnOnce() -> Result<Unit, Box<Trap>>,
    ) -> Result<Arc<Resident>, Box<Trap>> {
        let code = env.memory.code_id(place.pc).ok_or_else(|| cfg::bad_jump(place.pc))?;
        let key = (code, place);
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
        let unit = make()?;
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
        self.clock.fetch_add(1, Release);
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
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
        let place = Place::new(0, unit.mode, Place::machine(env));
        let Place { variant, .. } = if unit.compaction.is_some() { place.compacted() } else { place };
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

    /// The registers that a wave at entry `index` may read before it writes them. What may be overwritten may read any.
    fn read_first(&self, index: u32) -> RegisterSet {
        if !self.watched.is_empty() {
            return RegisterSet::ALL;
        }
        let find = || {
            let plain = self.unit.blocks.iter().filter(|planned| planned.superblock.is_none());
            let blocks = plain.map(|planned| &planned.block).collect::<Vec<_>>();
            let scalars = |read: Read| (0..128).filter(move |register| read.has(Read::sgpr(*register)));
            let set = |read: Read| RegisterSet {
                sgprs: scalars(read).fold(0, |set, register| set | 1 << register),
                vgprs: read.vgprs,
            };
            initial::read_first(&blocks).into_iter().map(set).collect()
        };
        self.read_first.get_or_init(find)[index as usize]
    }

    /// Whether memory still holds the code that was translated.
    fn is_current(&self, memory: &View) -> bool {
        self.watched.iter().all(|(start, bytes)| {
            let mut now = vec![0; bytes.len()];
            memory.read(*start, &mut now).is_ok() && now == *bytes
        })
    }

    fn touch(&self, clock: u64) {
        // Mostly it is the same, and a store would take the cache line from other threads.
        if self.used.load(Relaxed) != clock {
            self.used.store(clock, Relaxed);
        }
    }
}
