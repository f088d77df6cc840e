//! Launches: what is to run over which grid, how, and what it did.

use crate::arg::Arg;
use crate::check;
use crate::error::Error;
use crate::module::Kernel;
use gcnjit_interp::Interpreter;
use gcnjit_rt::kernarg::{self, Kernarg};
use gcnjit_rt::{Geometry, Options, Value, dispatch};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What executes instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The translator to host code.
    #[default]
    Jit,
    /// The interpreter: slow, and simple enough to be believed.
    Interp,
    /// Both, on the same memory, one after the other; a difference in any writable byte is an error. It works on one
    /// thread if the launch does not ask for more, because the result of work-groups that race is not defined.
    Check,
}

/// One to three sizes; those of missing dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dims {
    count: u16,
    sizes: [u32; 3],
}

impl Dims {
    /// The sizes, one to three.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes[..usize::from(self.count)]
    }
}

impl From<u32> for Dims {
    fn from(x: u32) -> Dims {
        Dims { count: 1, sizes: [x, 1, 1] }
    }
}

impl From<[u32; 1]> for Dims {
    fn from([x]: [u32; 1]) -> Dims {
        x.into()
    }
}

impl From<[u32; 2]> for Dims {
    fn from([x, y]: [u32; 2]) -> Dims {
        Dims { count: 2, sizes: [x, y, 1] }
    }
}

impl From<[u32; 3]> for Dims {
    fn from(sizes: [u32; 3]) -> Dims {
        Dims { count: 3, sizes }
    }
}

/// A launch being described. Nothing is checked before [`Launch::prepare`].
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    kernel: &'a Kernel,
    grid: Dims,
    block: Dims,
    offset: [u64; 3],
    args: Vec<Arg<'a>>,
    how: How<'a>,
}

/// How a launch is to run.
#[derive(Clone, Copy, Debug)]
struct How<'a> {
    engine: Engine,
    threads: Option<usize>,
    slice: Option<u64>,
    deadline: Option<Duration>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Launch<'a> {
    pub(crate) fn new(kernel: &'a Kernel) -> Launch<'a> {
        let block = kernel.code().required_group.map_or(Dims::from(64), Dims::from);
        let how = How { engine: Engine::Jit, threads: None, slice: None, deadline: None, cancel: None };
        Launch { kernel, grid: Dims::from(1), block, offset: [0; 3], args: Vec::new(), how }
    }

    /// Work-items in the grid; it need not be a multiple of the work-group.
    pub fn grid(mut self, sizes: impl Into<Dims>) -> Self {
        self.grid = sizes.into();
        self
    }

    /// Work-items in a work-group. Without it, what the kernel was compiled for, or 64.
    pub fn block(mut self, sizes: impl Into<Dims>) -> Self {
        self.block = sizes.into();
        self
    }

    /// What global ids start from.
    pub fn offset(mut self, offset: [u64; 3]) -> Self {
        self.offset = offset;
        self
    }

    /// The next explicit argument.
    pub fn arg(mut self, arg: impl Into<Arg<'a>>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More explicit arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = Arg<'a>>) -> Self {
        self.args.extend(args);
        self
    }

    /// What executes it; the translator, if nothing is said.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.how.engine = engine;
        self
    }

    /// Threads for this launch instead of the device's; 0 for as many as the host has processors.
    pub fn threads(mut self, threads: usize) -> Self {
        self.how.threads = Some(threads);
        self
    }

    /// Roughly how many instructions a wave executes before another of its work-group has its turn. After a few of such
    /// slices, or s_sleep, the work-group gives way to others.
    pub fn slice(mut self, instructions: u64) -> Self {
        self.how.slice = Some(instructions);
        self
    }

    /// Ends the launch with [`Error::Stopped`] soon after it has run for `time`.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.how.deadline = Some(time);
        self
    }

    /// Ends the launch with [`Error::Stopped`] soon after `flag` is set.
    pub fn cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.how.cancel = Some(flag);
        self
    }

    /// Checks grid and arguments and lays out the arguments.
    ///
    /// # Errors
    /// [`Error::Arg`] if arguments don't fit the kernel's signature or the grid is impossible.
    pub fn prepare(self) -> Result<Prepared<'a>, Error> {
        let geometry = Geometry {
            dimensions: self.grid.count.max(self.block.count),
            grid: self.grid.sizes,
            block: self.block.sizes,
            offset: self.offset,
        };
        let values: Vec<Value<'_>> = self.args.iter().map(Arg::as_value).collect();
        match kernarg::layout(self.kernel.code(), &values, &geometry) {
            Ok(kernarg) => Ok(Prepared { kernel: self.kernel, geometry, kernarg, how: self.how }),
            Err(source) => Err(Error::arg(self.kernel, source)),
        }
    }

    /// Runs it once and waits for it: [`Launch::prepare`] and [`Prepared::run`].
    ///
    /// # Errors
    /// As those.
    pub fn run(self) -> Result<Stats, Error> {
        self.prepare()?.run()
    }
}

/// A launch whose arguments are in place. It can run any number of times.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    kernel: &'a Kernel,
    geometry: Geometry,
    kernarg: Kernarg,
    how: How<'a>,
}

impl<'a> Prepared<'a> {
    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// Runs it and waits for it.
    ///
    /// # Errors
    /// [`Error::Launch`] if the kernel can't run like this, [`Error::Fault`], [`Error::Unimplemented`] or
    /// [`Error::Decode`] if a wave gets stuck, [`Error::Stopped`] after a deadline or a cancellation,
    /// [`Error::Difference`] if [`Engine::Check`] finds one. Buffers that the kernel had written by then stay written.
    pub fn run(&self) -> Result<Stats, Error> {
        match self.how.engine {
            Engine::Jit => self.run_translated(self.how.threads),
            Engine::Interp => self.run_interpreted(self.how.threads),
            Engine::Check => check::run(self),
        }
    }

    /// Runs it on one thread with an executor of the caller's: one that watches, compares or counts.
    ///
    /// # Errors
    /// As [`Prepared::run`], as far as the executor makes them.
    pub fn run_with<E: gcnjit_rt::Engine>(&self, engine: &E) -> Result<Stats, Error> {
        self.run_on(engine, Some(1))
    }

    /// Runs it with the translator, on the threads given or the device's.
    pub(crate) fn run_translated(&self, threads: Option<usize>) -> Result<Stats, Error> {
        let jit = self.kernel.module().jit();
        let before = jit.stats().time;
        let stats = self.run_on(jit, threads)?;
        Ok(Stats { translation: jit.stats().time - before, ..stats })
    }

    /// Runs it with the interpreter, on the threads given or the device's.
    pub(crate) fn run_interpreted(&self, threads: Option<usize>) -> Result<Stats, Error> {
        self.run_on(&Interpreter, threads)
    }

    /// Threads that the launch itself asks for.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.how.threads
    }

    fn run_on<E: gcnjit_rt::Engine>(&self, engine: &E, threads: Option<usize>) -> Result<Stats, Error> {
        let device = self.kernel.module().device();
        let launch = gcnjit_rt::Launch { kernel: self.kernel.raw(), geometry: self.geometry, kernarg: &self.kernarg };
        let options = Options {
            threads: threads.unwrap_or(device.threads()),
            slice: self.slice(),
            cancel: self.how.cancel,
            // One that the clock can't express never comes.
            deadline: self.how.deadline.and_then(|time| Instant::now().checked_add(time)),
        };
        match dispatch(engine, device.hardware(), &launch, &options) {
            Ok(stats) => Ok(stats.into()),
            Err(error) => Err(Error::dispatch(self.kernel, error)),
        }
    }

    /// What was asked for. Waves that race are compared best if they rarely take turns: engines don't count slices to
    /// the instruction.
    fn slice(&self) -> u64 {
        const CHECKED: u64 = 1 << 20;
        let usual = if self.how.engine == Engine::Check { CHECKED } else { Options::default().slice };
        self.how.slice.unwrap_or(usual)
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Work-groups run.
    pub groups: u64,
    /// Waves run.
    pub waves: u64,
    /// Instructions that waves executed, each for up to 64 work-items.
    pub wave_instructions: u64,
    /// Wall-clock time of the execution, translation included.
    pub time: Duration,
    /// Time the translator took, of all launches of the module that ran meanwhile.
    pub translation: Duration,
}

impl From<gcnjit_rt::Stats> for Stats {
    fn from(stats: gcnjit_rt::Stats) -> Stats {
        let gcnjit_rt::Stats { groups, waves, wave_instructions, time } = stats;
        Stats { groups, waves, wave_instructions, time, translation: Duration::ZERO }
    }
}
