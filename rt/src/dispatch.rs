//! Running a grid: work-groups over worker threads, waves of a work-group to their barriers and ends.
//!
//! A work-group runs on one thread, its waves one after the other, each until it ends, waits at a barrier or used up
//! its slice; the barrier is released when all waves that have not ended wait at it. Work-groups are handed out by a
//! counter, so memory does not grow with the grid. The first fault stops the dispatch. The calling thread works too,
//! and calls helpers from rayon's global pool once the grid has shown to be worth waking them.

use crate::code_object::Kernel;
use crate::engine::{Engine, Env, Stop};
use crate::fault::Trap;
use crate::gds::Gds;
use crate::geometry::{Geometry, GeometryError};
use crate::kernarg::Kernarg;
use crate::lds::{CAPACITY, Lds};
use crate::memory::{Memory, MemoryError, View};
use crate::setup::{Items, Scratch, Setup};
use crate::wave::{LANES, Wave};
use gcnjit_isa::{Decoder, Gen, Target, disas};
use std::fmt;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The grid.
    pub geometry: Geometry,
    /// Arguments and LDS, from [`crate::kernarg::layout`].
    pub kernarg: &'a Kernarg,
}

/// How to run it.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Threads that run work-groups, the caller's included; 0 for as many as the host has. More than rayon's global
    /// pool has do not run at the same time.
    pub threads: usize,
    /// Roughly how many instructions a wave executes before another has its turn.
    pub slice: u64,
    /// Ends the dispatch with [`DispatchError::Cancelled`] soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { threads: 0, slice: 1 << 20, cancel: None }
    }
}

/// What a dispatch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Work-groups run.
    pub groups: u64,
    /// Waves run.
    pub waves: u64,
    /// Instructions that waves executed.
    pub wave_instructions: u64,
    /// Wall-clock time of the execution alone.
    pub time: Duration,
}

/// Where a wave got stuck.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub trap: Trap,
    /// The kernel's name.
    pub kernel: String,
    /// The work-group's coordinates.
    pub group: [u32; 3],
    /// Which wave of the work-group.
    pub wave: u32,
    /// The instruction, disassembled, if there is one at the place.
    pub instruction: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        write!(f, "{}: {}", self.kernel, self.trap)?;
        if let Some(instruction) = &self.instruction {
            write!(f, " ({instruction})")?;
        }
        write!(f, ", work-group ({x}, {y}, {z}), wave {}", self.wave)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.trap)
    }
}

/// Why a dispatch did not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The grid is impossible.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The kernel was compiled for other work-groups.
    #[error("{kernel}: a work-group of {given:?} work-items was asked for, the kernel was compiled for {expected}")]
    GroupSize {
        /// The kernel's name.
        kernel: String,
        /// The size asked for.
        given: [u32; 3],
        /// What the kernel allows.
        expected: String,
    },
    /// A kernarg segment that is shorter than the kernel's.
    #[error("{kernel}: the kernarg segment has {given} bytes, the kernel reads {expected}")]
    Kernarg {
        /// The kernel's name.
        kernel: String,
        /// Bytes given.
        given: usize,
        /// Bytes the descriptor asks for.
        expected: u32,
    },
    /// More LDS than a work-group can have.
    #[error("{kernel}: {asked} bytes of LDS, a work-group can have {CAPACITY}")]
    Lds {
        /// The kernel's name.
        kernel: String,
        /// Bytes asked for.
        asked: u32,
    },
    /// More scratch than can be addressed.
    #[error("{kernel}: {lane} bytes of scratch a work-item are too many for {slots} waves at a time")]
    Scratch {
        /// The kernel's name.
        kernel: String,
        /// Bytes asked for.
        lane: u32,
        /// Waves that run at the same time.
        slots: u64,
    },
    /// Guest memory ran out.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A wave got stuck.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// [`Options::cancel`] was set.
    #[error("the dispatch was cancelled")]
    Cancelled,
}

/// How long the calling thread works alone. Waking helpers and waiting for them takes about as long.
const PATIENCE: Duration = Duration::from_micros(50);

/// Runs a kernel over its grid and waits for it.
pub fn dispatch<E: Engine>(
    engine: &E,
    memory: &Memory,
    gds: &Gds,
    launch: &Launch<'_>,
    options: &Options<'_>,
) -> Result<Stats, DispatchError> {
    check(launch)?;
    let groups = launch.geometry.groups();
    let threads = thread_count(options.threads, groups);
    let setup = setup(launch, memory, threads)?;
    let job = Job {
        engine,
        view: memory.view(),
        gds,
        launch,
        options,
        setup: &setup,
        groups,
        next: Alone(AtomicU64::new(0)),
        stop: AtomicBool::new(false),
        outcome: Mutex::default(),
    };
    let start = Instant::now();
    rayon::in_place_scope(|scope| {
        let job = &job;
        let call = || (1..threads).for_each(|index| scope.spawn(move |_| job.work(index, None)));
        job.work(0, (threads > 1).then_some(Help { call: &call, since: start }));
    });
    let outcome = job.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(Stats { time: start.elapsed(), ..outcome.stats }),
    }
}

/// Checks that the kernel can be launched like this.
fn check(launch: &Launch<'_>) -> Result<(), DispatchError> {
    launch.geometry.check()?;
    let code = launch.kernel.code();
    let (kernel, given) = (|| code.name.clone(), launch.geometry.block);
    if let Some(required) = code.required_group.filter(|required| *required != given) {
        return Err(DispatchError::GroupSize { kernel: kernel(), given, expected: format!("{required:?}") });
    }
    if let Some(max) = code.max_group.filter(|max| *max < given.iter().product()) {
        return Err(DispatchError::GroupSize { kernel: kernel(), given, expected: format!("at most {max}") });
    }
    if launch.kernarg.bytes.len() < code.kernarg_size as usize {
        let (given, expected) = (launch.kernarg.bytes.len(), code.kernarg_size);
        return Err(DispatchError::Kernarg { kernel: kernel(), given, expected });
    }
    if launch.kernarg.lds as usize > CAPACITY {
        return Err(DispatchError::Lds { kernel: kernel(), asked: launch.kernarg.lds });
    }
    Ok(())
}

fn thread_count(asked: usize, groups: u64) -> usize {
    let threads = match asked {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        asked => asked,
    };
    threads.min(usize::try_from(groups).unwrap_or(usize::MAX)).max(1)
}

fn waves(launch: &Launch<'_>) -> usize {
    (launch.geometry.block.iter().product::<u32>() as usize).div_ceil(LANES)
}

fn setup(launch: &Launch<'_>, memory: &Memory, threads: usize) -> Result<Setup, DispatchError> {
    let code = launch.kernel.code();
    let slots = threads as u64 * waves(launch) as u64;
    let too_much = || DispatchError::Scratch { kernel: code.name.clone(), lane: code.scratch_size, slots };
    let scratch = Scratch::new(code, memory, slots).ok_or_else(too_much)??;
    Ok(Setup::new(launch.kernel, &launch.geometry, launch.kernarg, scratch, memory)?)
}

/// LDS is allocated in units; accesses beyond the size asked for are in range up to the next one.
fn lds_size(asked: u32, target: Target) -> u32 {
    let unit = if target.generation() == Gen::Gfx6 { 256 } else { 512 };
    asked.next_multiple_of(unit)
}

/// A running dispatch, shared by its threads.
struct Job<'a, E> {
    engine: &'a E,
    view: View,
    gds: &'a Gds,
    launch: &'a Launch<'a>,
    options: &'a Options<'a>,
    setup: &'a Setup,
    groups: u64,
    next: Alone<AtomicU64>,
    stop: AtomicBool,
    outcome: Mutex<Outcome>,
}

/// A value with cache lines of its own: what every thread writes must not slow down what every thread reads.
#[repr(align(128))]
struct Alone<T>(T);

#[derive(Default)]
struct Outcome {
    stats: Stats,
    error: Option<DispatchError>,
}

/// Sets the flag when a thread panics, so that the others end too.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// The dispatch is stopping; the error, if it is this thread's, is in the outcome.
struct Stopped;

/// How the calling thread gets help.
struct Help<'a> {
    call: &'a dyn Fn(),
    since: Instant,
}

/// What a thread keeps between work-groups.
struct Worker<'a, W> {
    engine: W,
    help: Option<Help<'a>>,
    lds: Lds,
    waves: Vec<Box<Wave>>,
    states: Vec<State>,
    items: Items,
    /// Scratch slot of the first wave.
    slot: u64,
    stats: Stats,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Waiting,
    Ended,
}

impl<W> Worker<'_, W> {
    /// Calls the helpers, once, when the dispatch has lasted long enough.
    fn call_help(&mut self) {
        if let Some(help) = self.help.take_if(|help| help.since.elapsed() > PATIENCE) {
            (help.call)();
        }
    }
}

impl<E: Engine> Job<'_, E> {
    /// Runs work-groups until there are none left.
    fn work(&self, index: usize, help: Option<Help<'_>>) {
        let _guard = StopOnPanic(&self.stop);
        let waves = waves(self.launch);
        let mut worker = Worker {
            engine: self.engine.worker(),
            help,
            lds: Lds::default(),
            waves: (0..waves).map(|_| Wave::new()).collect(),
            states: Vec::with_capacity(waves),
            items: Items::new(self.launch.geometry.block),
            slot: index as u64 * waves as u64,
            stats: Stats::default(),
        };
        while let Some(linear) = self.take() {
            if self.run_group(&mut worker, self.launch.geometry.group(linear)).is_err() {
                break;
            }
        }
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.stats.groups += worker.stats.groups;
        outcome.stats.waves += worker.stats.waves;
        outcome.stats.wave_instructions += worker.stats.wave_instructions;
    }

    /// The next work-group. The counter can't wrap: it passes the end by at most one a thread.
    fn take(&self) -> Option<u64> {
        if self.stopping() {
            return None;
        }
        Some(self.next.0.fetch_add(1, Relaxed)).filter(|linear| *linear < self.groups)
    }

    fn run_group(&self, worker: &mut Worker<'_, E::Worker>, group: [u32; 3]) -> Result<(), Stopped> {
        let count = self.start_group(worker, group);
        while worker.states.contains(&State::Ready) {
            for index in 0..count {
                if worker.states[index] == State::Ready {
                    worker.states[index] = self.run_wave(worker, index)?;
                    worker.call_help();
                }
            }
            if !worker.states.contains(&State::Ready) {
                release_barrier(&mut worker.states);
            }
        }
        worker.stats.groups += 1;
        worker.stats.waves += count as u64;
        worker.stats.wave_instructions += worker.waves[..count].iter().map(|wave| wave.executed).sum::<u64>();
        Ok(())
    }

    /// Puts LDS and waves in their initial state and returns the number of waves.
    fn start_group(&self, worker: &mut Worker<'_, E::Worker>, group: [u32; 3]) -> usize {
        let size = self.launch.geometry.group_size(group);
        if worker.items.size != size {
            worker.items = Items::new(size);
        }
        worker.lds.reset(lds_size(self.launch.kernarg.lds, self.launch.kernel.target()));
        let count = worker.items.waves.len();
        for (index, wave) in worker.waves[..count].iter_mut().enumerate() {
            self.setup.start(wave, group, index, &worker.items, worker.slot + index as u64);
        }
        worker.states.clear();
        worker.states.resize(count, State::Ready);
        count
    }

    fn run_wave(&self, worker: &mut Worker<'_, E::Worker>, index: usize) -> Result<State, Stopped> {
        let env = Env {
            target: self.launch.kernel.target(),
            memory: &self.view,
            scratch: self.setup.scratch.address(),
            lds: &worker.lds,
            gds: self.gds,
            stop: &self.stop,
            slice: self.options.slice,
        };
        let wave = &mut worker.waves[index];
        match self.engine.run(&mut worker.engine, wave, &env) {
            Ok(Stop::End) => Ok(State::Ended),
            Ok(Stop::Barrier) => Ok(State::Waiting),
            Ok(Stop::Yield) if self.stopping() => Err(Stopped),
            Ok(Stop::Yield) => Ok(State::Ready),
            Err(trap) => {
                self.fail(DispatchError::Fault(Box::new(self.fault(*trap, wave))));
                Err(Stopped)
            }
        }
    }

    /// Whether the dispatch is to stop, for a fault or because it was cancelled.
    fn stopping(&self) -> bool {
        if self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            self.fail(DispatchError::Cancelled);
        }
        self.stop.load(Relaxed)
    }

    /// Records the first error and stops all threads.
    fn fail(&self, error: DispatchError) {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.stop.store(true, Relaxed);
    }

    fn fault(&self, trap: Trap, wave: &Wave) -> Fault {
        Fault {
            instruction: disassemble(&self.view, trap.pc(), self.launch.kernel.target()),
            trap,
            kernel: self.launch.kernel.code().name.clone(),
            group: wave.group,
            wave: wave.index,
        }
    }
}

/// Lets the waves at the barrier go on; those that ended do not count.
fn release_barrier(states: &mut [State]) {
    for state in states.iter_mut().filter(|state| **state == State::Waiting) {
        *state = State::Ready;
    }
}

/// The text of the instruction at `pc`.
fn disassemble(view: &View, pc: u64, target: Target) -> Option<String> {
    let words: Vec<u32> =
        (0..3).map_while(|i| view.load(pc.checked_add(i * 4)?).ok()).map(u32::from_le_bytes).collect();
    let inst = Decoder::new(target).decode(&words).ok()?;
    Some(disas::text(&inst, target))
}
