//! Running a grid: work-groups over worker threads, waves of a work-group to their barriers and ends.
//!
//! A work-group has a turn on one thread, in which its waves run one after the other, each until it ends, waits at a
//! barrier or has used up its slice; the barrier opens when all waves that have not ended wait at it. A work-group that
//! is not over after its turn gives way to others: up to [`RESIDENT_WAVES`] waves are under way at the same time, so
//! kernels whose work-groups wait for each other get on as they do on a GPU that such a grid fits on: those that look
//! for each other in memory, and those that meet by global wave sync or ordered append, whose waves are parked meanwhile.
//! Work-groups are started in order, in batches as long as none waits, so memory does not grow with the grid.
//!
//! The calling thread works too, and calls helpers from the device's pool once the grid has shown to be worth waking
//! them. The first fault stops the dispatch; so do a deadline and a cancellation, which are looked for before every
//! round of slices.

mod error;
mod group;
mod job;
mod queue;
mod turn;

pub(crate) use group::Rooms;

pub use error::{DispatchError, Fault, Stopped, Stopper};

use crate::code_object::Kernel;
use crate::engine::Engine;
use crate::geometry::Geometry;
use crate::hardware::Hardware;
use crate::image::BorderColors;
use crate::kernarg::Kernarg;
use crate::lds;
use crate::memory::Memory;
use crate::order::Order;
use crate::setup::{Scratch, Setup};
use crate::wave::LANES;
use job::{Caller, Job, LONGEST_SLICE};
use queue::{Alone, Queue};
use std::num::NonZero;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

/// Waves under way at the same time, at least one work-group a thread: what the largest processor of these generations
/// holds, 64 compute units of 40 waves. Waves take memory for registers they use, at most 64 KiB, once they are begun.
pub const RESIDENT_WAVES: u64 = 64 * 40;
/// Scratch beyond what one work-group a thread needs is not allocated for waves that may never be under way.
const RESIDENT_SCRATCH: u64 = 256 << 20;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The grid.
    pub geometry: Geometry,
    /// Arguments and LDS, from [`crate::kernarg::layout`].
    pub kernarg: &'a Kernarg,
    /// The number of the dispatch, for kernels that ask.
    pub id: u64,
    /// Address of the printf buffer, for kernels that print; 0 if there is none.
    pub printf: u64,
    /// Bytes of scratch a work-item beyond what the descriptor asks for. Without it, 16 KiB if the compiler says that
    /// there are calls whose depth it does not know, otherwise none.
    pub stack: Option<u32>,
    /// The table that samplers take border colours from.
    pub border_colors: BorderColors,
}

impl<'a> Launch<'a> {
    /// A launch with number 0, without a printf buffer or border colours, with the usual stack.
    pub fn new(kernel: &'a Kernel, geometry: Geometry, kernarg: &'a Kernarg) -> Launch<'a> {
        Launch { kernel, geometry, kernarg, id: 0, printf: 0, stack: None, border_colors: BorderColors::NONE }
    }
}

/// How to run it.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Threads that run work-groups, the caller's included; 0 for as many as the host has.
    pub threads: usize,
    /// Roughly how many instructions a wave executes before another has its turn.
    pub slice: u64,
    /// Ends the dispatch with [`DispatchError::Stopped`] soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Ends the dispatch with [`DispatchError::Stopped`] soon after this.
    pub deadline: Option<Instant>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { threads: 0, slice: 1 << 13, cancel: None, deadline: None }
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

/// Runs a kernel over its grid and waits for it.
///
/// # Errors
/// [`DispatchError`]: before anything has run if the kernel can't be launched like this, else where it was stopped.
pub fn dispatch<E: Engine>(
    engine: &E,
    hardware: &Hardware,
    launch: &Launch<'_>,
    options: &Options<'_>,
) -> Result<Stats, DispatchError> {
    check(launch)?;
    let groups = launch.geometry.groups();
    let waves = waves(launch);
    let threads = thread_count(options.threads, groups);
    let room = room(launch, groups, threads, waves);
    let setup = setup(launch, &hardware.memory, room * waves)?;
    let view = hardware.memory.view();
    let target = launch.kernel.target();
    let job = Job {
        engine,
        exceptions: view.names_trapsts(),
        view,
        hardware,
        launch,
        options,
        slice: options.slice.min(LONGEST_SLICE),
        setup: &setup,
        target,
        lds: lds::granted(launch.kernarg.lds, target),
        queue: Queue::new(&hardware.rooms, groups, room as usize, waves as usize, threads),
        order: Alone(Order::new()),
        stop: AtomicBool::new(false),
        outcome: Alone::default(),
        threads: AtomicUsize::new(0),
    };
    let since = Instant::now();
    hardware.pool.with_help(threads - 1, &|_| job.work(None), |help| {
        job.work((threads > 1).then_some(Caller { help, since, groups }));
    });
    for group in job.queue.end() {
        group.waves.withdraw(&hardware.gds);
    }
    let outcome = job.outcome.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(Stats { time: since.elapsed(), ..outcome.stats }),
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
    let (asked, target) = (launch.kernarg.lds, launch.kernel.target());
    let limit = lds::limit(target);
    if asked > limit {
        return Err(DispatchError::Lds { kernel: kernel(), asked, target, limit });
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

/// Waves of a whole work-group.
fn waves(launch: &Launch<'_>) -> u64 {
    u64::from(launch.geometry.block.iter().product::<u32>()).div_ceil(LANES as u64)
}

/// How many work-groups may be under way. When the first has to wait for others, a thread may be in one that comes much
/// later; that doesn't take the place of those between.
fn room(launch: &Launch<'_>, groups: u64, threads: usize, waves: u64) -> u64 {
    let scratch = waves * Scratch::stride(launch);
    let fit = RESIDENT_SCRATCH.checked_div(scratch).unwrap_or(u64::MAX);
    let threads = threads as u64;
    ((RESIDENT_WAVES / waves).min(fit) + (threads - 1)).min(groups).max(threads)
}

fn setup(launch: &Launch<'_>, memory: &Memory, slots: u64) -> Result<Setup, DispatchError> {
    let code = launch.kernel.code();
    let too_much = || DispatchError::Scratch { kernel: code.name.clone(), lane: code.scratch_size, slots };
    let scratch = Scratch::new(launch, memory, slots).ok_or_else(too_much)??;
    Ok(Setup::new(launch, scratch, memory)?)
}
