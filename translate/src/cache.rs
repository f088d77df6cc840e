//! The engine: translated units by guest address and MODE, shared by all threads.

use crate::access::Site;
use crate::cfg::{self, decode};
use crate::jit::{Context, Exit, Unit};
use crate::libcall;
use crate::{Machine, meet, translate};
use gcnjit_isa::Decoder;
use gcnjit_rt::{Cause, Engine, Env, Mode, RegisterFile, Stop, Trap, Wave};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The bits of MODE that translated code depends on: rounding, denormals, DX10_CLAMP, IEEE, and which instructions
/// are indexed or skipped.
pub(crate) const MODE_KEY: u32 = 0x3ff | Mode::GPR_INDEX | Mode::VSKIP;

/// Most bytes of host code in a cache. A kernel that jumps to every dword of itself would fill any memory with units.
const MOST_CODE: usize = 256 << 20;

/// Where a wave is: its pc, and the bits of its MODE; and what registers it owns.
type Key = (u64, u32, RegisterFile);

/// The translator as an executor.
#[derive(Default)]
pub struct Jit {
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    units: Vec<Arc<Unit>>,
    /// By what tells the code from any other that is loaded at its address, and place in it.
    entries: HashMap<(u64, Key), usize>,
    /// Bytes of host code in them.
    code_size: usize,
    time: Duration,
}

/// Counts over all units of a [`Jit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitStats {
    /// Units translated.
    pub units: usize,
    /// Guest blocks in them.
    pub blocks: usize,
    /// Guest instructions in them.
    pub instructions: usize,
    /// Bytes of host code.
    pub code_bytes: usize,
    /// Time spent translating.
    pub time: Duration,
}

/// What a thread keeps: the entries it has been at, and where each access of their units last went. It is for the
/// thread that makes it.
pub struct Worker {
    /// Few kernels have more than a handful, so a search from the front beats a map.
    entries: Vec<Known>,
    /// By unit.
    sites: Vec<Vec<Site>>,
    /// MXCSR outside of translated code.
    host: u32,
}

impl Default for Worker {
    fn default() -> Worker {
        Worker { entries: Vec::new(), sites: Vec::new(), host: libcall::mxcsr() }
    }
}

struct Known {
    key: Key,
    unit: Arc<Unit>,
    index: u32,
}

impl Jit {
    /// An engine with nothing translated.
    pub fn new() -> Jit {
        Jit::default()
    }

    /// The unit with an entry at `pc` for `mode`, translated now if it is new.
    pub fn unit(&self, env: &Env<'_>, pc: u64, mode: Mode) -> Result<Arc<Unit>, Box<Trap>> {
        let mode = Mode(mode.0 & MODE_KEY);
        let code = env.memory.code_id(pc).ok_or_else(|| cfg::bad_jump(pc))?;
        let mut cache = self.cache.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(id) = cache.entries.get(&(code, (pc, mode.0, env.registers))) {
            return Ok(cache.units[*id].clone());
        }
        if cache.code_size >= MOST_CODE {
            let what = format!("{} bytes have been translated from this module, no more are kept", cache.code_size);
            return Err(Box::new(Trap::Host { pc, what }));
        }
        let start = Instant::now();
        let unit = Arc::new(translate(env.memory, Machine::of(env), pc, mode, cache.units.len())?);
        cache.time += start.elapsed();
        cache.code_size += unit.code_size;
        for entry in unit.entries.keys() {
            cache.entries.entry((code, (*entry, mode.0, env.registers))).or_insert(unit.id);
        }
        cache.units.push(unit.clone());
        Ok(unit)
    }

    /// What has been translated so far.
    pub fn stats(&self) -> JitStats {
        let cache = self.cache.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut stats = JitStats { units: cache.units.len(), time: cache.time, ..JitStats::default() };
        for unit in &cache.units {
            stats.blocks += unit.blocks.len();
            stats.instructions += unit.blocks.iter().map(|b| b.block.instructions as usize).sum::<usize>();
            stats.code_bytes += unit.code_size;
        }
        stats
    }

    /// The position in the worker's list of the entry that the wave is at.
    fn entry(&self, worker: &mut Worker, wave: &Wave, env: &Env<'_>) -> Result<usize, Box<Trap>> {
        let key = (wave.pc, wave.mode.0 & MODE_KEY, env.registers);
        if let Some(position) = worker.entries.iter().position(|known| known.key == key) {
            return Ok(position);
        }
        let unit = self.unit(env, wave.pc, wave.mode)?;
        if worker.sites.len() <= unit.id {
            worker.sites.resize_with(unit.id + 1, Vec::new);
        }
        worker.sites[unit.id].resize_with(unit.accesses, Site::default);
        worker.entries.push(Known { key, index: unit.entries[&wave.pc], unit });
        Ok(worker.entries.len() - 1)
    }
}

/// The error of an instruction at `pc` that stops its wave.
fn stopped(cause: Cause, pc: u64) -> Box<Trap> {
    Box::new(Trap::Fault { cause, address: pc, lane: 0, pc })
}

impl Engine for Jit {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(env.slice);
        loop {
            if wave.executed >= limit {
                return Ok(Stop::Yield);
            }
            let position = self.entry(worker, wave, env)?;
            let Known { unit, index, .. } = &worker.entries[position];
            let mut context = Context::new(limit, env, &mut worker.sites[unit.id], worker.host);
            let exit = unit.run(wave, &mut context, *index);
            if let Some(stop) = outcome(exit, &context, wave)? {
                return Ok(stop);
            }
        }
    }
}

/// What it means for the wave that its unit came back: it goes on at its PC, has stopped, or is stuck.
pub(crate) fn outcome(exit: Exit, context: &Context<'_>, wave: &mut Wave) -> Result<Option<Stop>, Box<Trap>> {
    let pc = wave.pc;
    match exit {
        Exit::End => Ok(Some(Stop::End)),
        Exit::Barrier => Ok(Some(Stop::Barrier)),
        Exit::Yield => Ok(Some(Stop::Yield)),
        Exit::Jump => Ok(None),
        Exit::Fault => {
            let bad = context.bad.as_ref().expect("a faulting access says why");
            let (cause, address, lane) = (bad.cause, bad.address, bad.lane);
            Err(Box::new(Trap::Fault { cause, address, lane, pc }))
        }
        Exit::Trap => Err(stopped(Cause::TrapInstruction, pc)),
        Exit::Halt => Err(stopped(Cause::Halt, pc)),
        Exit::Undocumented => Err(stopped(Cause::Undocumented, pc)),
        Exit::Meet => {
            let env = context.env;
            let inst = decode(env.memory, Decoder::new(env.target), pc)?;
            Ok(meet::execute(&inst, wave, env).map(Stop::Wait))
        }
    }
}
