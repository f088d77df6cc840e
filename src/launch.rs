//! Launches: what is to run over which grid, how, and what it did.

use crate::arg::Arg;
use crate::buffer::Buffer;
use crate::check;
use crate::error::Error;
use crate::module::Kernel;
use bytemuck::Pod;
use gcnjit_interp::Interpreter;
use gcnjit_rt::image::BorderColors;
use gcnjit_rt::kernarg::{self, Kernarg};
use gcnjit_rt::printf::{self, Printed};
use gcnjit_rt::{ArgError, Geometry, Options, Value, dispatch};
use std::fmt;
use std::io::Write;
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
    stack: Option<u32>,
    border_colors: BorderColors,
    printf: Sink<'a>,
    printf_buffer: u32,
}

/// Who gets the messages that kernels print. A closure will do.
pub trait Print: Sync {
    /// Takes the text of a message. It is bytes: a kernel may print any.
    fn print(&self, text: &[u8]);
}

impl<F: Fn(&[u8]) + Sync> Print for F {
    fn print(&self, text: &[u8]) {
        self(text);
    }
}

/// [`Print`] to stdout. What that can't take is lost, as it is with C's printf.
struct Stdout;

impl Print for Stdout {
    fn print(&self, text: &[u8]) {
        let _ = std::io::stdout().write_all(text);
    }
}

#[derive(Clone, Copy)]
struct Sink<'a>(&'a dyn Print);

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

impl<'a> Launch<'a> {
    pub(crate) fn new(kernel: &'a Kernel) -> Launch<'a> {
        let block = kernel.code().required_group.map_or(Dims::from(64), Dims::from);
        let how = How {
            engine: Engine::Jit,
            threads: None,
            slice: None,
            deadline: None,
            cancel: None,
            stack: None,
            border_colors: BorderColors::NONE,
            printf: Sink(&Stdout),
            printf_buffer: printf::Buffer::SIZE,
        };
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

    /// Bytes of scratch for each work-item, beyond what the compiler reckoned that the kernel needs. Without this there
    /// are 16 KiB if it says that there are calls whose depth it does not know (recursion, calls through pointers;
    /// clang 19 misses functions that call themselves), otherwise none. A stack that does not do ends the launch with
    /// [`Cause::StackOverflow`](gcnjit_rt::Cause::StackOverflow).
    pub fn stack(mut self, bytes: u32) -> Self {
        self.how.stack = Some(bytes);
        self
    }

    /// The table that samplers with [`Border::Table`](crate::image::Border::Table) take their colours from: up to 4096
    /// entries of four dwords, red to alpha, floats or for integer formats integers. A driver would tell hardware its
    /// address by TA_BC_BASE_ADDR. An entry beyond the buffer ends the launch with [`Error::Fault`] where a sample takes
    /// it; so does every such colour without this.
    pub fn border_colors<T: Pod>(mut self, table: &'a Buffer<T>) -> Self {
        self.how.border_colors = BorderColors::at(table.address());
        self
    }

    /// Who gets the text of each message that the kernel prints, when the launch is over. Without it, stdout.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// let device = gcnjit::Device::new()?;
    /// let module = gcnjit::Module::open(&device, "kernels/abi/printf.gfx900.O2.co")?;
    /// let text = Mutex::new(Vec::new());
    /// let print = |message: &[u8]| text.lock().unwrap().extend_from_slice(message);
    /// let stats = module.kernel("hello")?.launch().grid(2).block(1).threads(1).printf(&print).run()?;
    /// assert_eq!(text.into_inner().unwrap(), b"hello from 0\nhello from 1\n");
    /// assert_eq!(stats.printed.messages, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn printf(mut self, print: &'a dyn Print) -> Self {
        self.how.printf = Sink(print);
        self
    }

    /// Bytes that messages of this launch may take before they are printed, 1 MiB without this. A message that does not
    /// fit any more is lost: the kernel's printf returns -1, and [`Printed::full`] is set.
    pub fn printf_buffer(mut self, bytes: u32) -> Self {
        self.how.printf_buffer = bytes;
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
        let kernarg = lay_out(self.kernel, &self.args, &geometry)?;
        Ok(Prepared { kernel: self.kernel, geometry, args: self.args, kernarg, how: self.how })
    }

    /// Runs it once and waits for it: [`Launch::prepare`] and [`Prepared::run`].
    ///
    /// # Errors
    /// As those.
    pub fn run(self) -> Result<Stats, Error> {
        self.prepare()?.run()
    }
}

/// The kernarg segment with `args` in it, if they fit the signature.
fn lay_out(kernel: &Kernel, args: &[Arg<'_>], geometry: &Geometry) -> Result<Kernarg, Error> {
    let check = || {
        for (index, (arg, parameter)) in args.iter().zip(kernel.args()).enumerate() {
            arg.check(index, parameter)?;
        }
        let values: Vec<Value<'_>> = args.iter().map(Arg::as_value).collect();
        kernarg::layout(kernel.code(), &values, geometry)
    };
    check().map_err(|source| Error::arg(kernel, source))
}

/// A launch whose arguments are in place. It can run any number of times.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    kernel: &'a Kernel,
    geometry: Geometry,
    args: Vec<Arg<'a>>,
    kernarg: Kernarg,
    how: How<'a>,
}

/// Who gets messages after one engine has run.
type Collect<'p> = &'p mut dyn FnMut(&[u8]);

impl<'a> Prepared<'a> {
    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// Replaces explicit argument `index`, counted from 0.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// # let device = gcnjit::Device::new()?;
    /// # let saxpy = gcnjit::Module::open(&device, "kernels/saxpy/saxpy.gfx900.co")?.kernel("saxpy")?;
    /// let (x, y) = (device.buffer_from(&[1.0f32; 64])?, device.buffer::<f32>(64)?);
    /// let mut launch = saxpy.launch().grid(64).arg(&x).arg(&y).arg(0.0f32).arg(64u32).prepare()?;
    /// for factor in [1.0f32, 2.0, 4.0] {
    ///     launch.set(2, factor)?;
    ///     launch.run()?;
    /// }
    /// assert_eq!(y.read(), [7.0; 64]);
    /// let error = launch.set(2, 8u32).unwrap_err();
    /// assert!(error.to_string().ends_with("argument 2 (float): u32 was given, it is a floating-point number"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Arg`] if it does not fit the signature; the old one stays.
    pub fn set(&mut self, index: usize, arg: impl Into<Arg<'a>>) -> Result<(), Error> {
        let count = self.args.len();
        let Some(place) = self.args.get_mut(index) else {
            return Err(Error::arg(self.kernel, ArgError::Count { expected: count, given: index + 1 }));
        };
        let old = std::mem::replace(place, arg.into());
        match lay_out(self.kernel, &self.args, &self.geometry) {
            Ok(kernarg) => self.kernarg = kernarg,
            Err(error) => {
                self.args[index] = old;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Runs it and waits for it.
    ///
    /// # Errors
    /// [`Error::Launch`] if the kernel can't run like this, [`Error::Fault`], [`Error::Unimplemented`] or
    /// [`Error::Decode`] if a wave gets stuck, [`Error::Stopped`] after a deadline or a cancellation,
    /// [`Error::Difference`] if [`Engine::Check`] finds one, [`Error::Printf`] if the printf buffer does not hold
    /// messages. Buffers that the kernel had written by then stay written, and what it had printed is printed.
    pub fn run(&self) -> Result<Stats, Error> {
        let id = self.kernel.module().device().next_dispatch();
        let mut print = |text: &[u8]| self.print(text);
        match self.how.engine {
            Engine::Jit => self.run_translated(id, self.how.threads, &mut print),
            Engine::Interp => self.run_interpreted(id, self.how.threads, &mut print),
            Engine::Check => check::run(self, id),
        }
    }

    /// Runs it on one thread with an executor of the caller's: one that watches, compares or counts.
    ///
    /// # Errors
    /// As [`Prepared::run`], as far as the executor makes them.
    pub fn run_with<E: gcnjit_rt::Engine>(&self, engine: &E) -> Result<Stats, Error> {
        let id = self.kernel.module().device().next_dispatch();
        self.run_on(engine, id, Some(1), &mut |text| self.print(text))
    }

    /// Passes on a message.
    pub(crate) fn print(&self, text: &[u8]) {
        self.how.printf.0.print(text);
    }

    /// Runs it with the translator, on the threads given or the device's.
    pub(crate) fn run_translated(&self, id: u64, threads: Option<usize>, print: Collect<'_>) -> Result<Stats, Error> {
        let jit = self.kernel.module().jit();
        let before = jit.time();
        let stats = self.run_on(jit, id, threads, print)?;
        Ok(Stats { translation: jit.time() - before, ..stats })
    }

    /// Runs it with the interpreter, on the threads given or the device's.
    pub(crate) fn run_interpreted(&self, id: u64, threads: Option<usize>, print: Collect<'_>) -> Result<Stats, Error> {
        self.run_on(&Interpreter, id, threads, print)
    }

    /// Threads that the launch itself asks for.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.how.threads
    }

    fn run_on<E: gcnjit_rt::Engine>(
        &self,
        engine: &E,
        id: u64,
        threads: Option<usize>,
        print: Collect<'_>,
    ) -> Result<Stats, Error> {
        let module = self.kernel.module();
        let device = module.device();
        let buffer = match self.kernel.prints() {
            true => Some(printf::Buffer::new(device.memory(), self.how.printf_buffer)?),
            false => None,
        };
        let launch = gcnjit_rt::Launch {
            id,
            printf: buffer.as_ref().map_or(0, printf::Buffer::address),
            stack: self.how.stack,
            border_colors: self.how.border_colors,
            ..gcnjit_rt::Launch::new(self.kernel.raw(), self.geometry, &self.kernarg)
        };
        let options = Options {
            threads: threads.unwrap_or(device.threads()),
            slice: self.slice(),
            cancel: self.how.cancel,
            // One that the clock can't express never comes.
            deadline: self.how.deadline.and_then(|time| Instant::now().checked_add(time)),
        };
        let outcome = dispatch(engine, device.hardware(), &launch, &options);
        // Whatever became of it, what it printed is worth reading.
        let printed = buffer.map(|buffer| buffer.print(&module.image().printf, print)).transpose();
        let stats = outcome.map_err(|error| Error::dispatch(self.kernel, error))?;
        let printed = printed.map_err(|source| Error::printf(self.kernel, source))?.unwrap_or_default();
        Ok(Stats { printed, ..stats.into() })
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
    /// What the kernel printed.
    pub printed: Printed,
}

impl From<gcnjit_rt::Stats> for Stats {
    fn from(stats: gcnjit_rt::Stats) -> Stats {
        let gcnjit_rt::Stats { groups, waves, wave_instructions, time } = stats;
        Stats { groups, waves, wave_instructions, time, ..Stats::default() }
    }
}
