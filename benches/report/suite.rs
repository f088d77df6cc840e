//! The kernels of `kernels/` at their bench sizes, on a device of their own.

use crate::support::{self, Launch, code_object};
use gcnjit::{Arg, Buffer, Device, Engine, JitStats, Kernel, Module, Prepared};
use std::sync::Barrier;
use std::time::Duration;

/// The processor whose code is measured.
pub const TARGET: &str = "gfx900";

/// A kernel, its launch and its buffers.
pub struct Case {
    /// What is launched.
    pub launch: Launch,
    kernel: Kernel,
    buffers: Vec<Buffer<u8>>,
}

/// What a run of all launches of a case took.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Instructions that waves executed.
    pub wave_instructions: u64,
    /// Time of the launches alone.
    pub time: Duration,
}

impl Case {
    /// Loads kernel `name` at its bench size.
    pub fn new(name: &str) -> Case {
        let launch = Launch::load_for_bench(name);
        let device = Device::with_threads(1).expect("a device");
        let module = Module::open(&device, code_object(name, TARGET)).expect("the code object");
        let kernel = module.kernel(name).expect("the kernel");
        let buffers = launch.buffers().map(|buffer| device.buffer_from(&buffer.data).expect("room")).collect();
        Case { launch, kernel, buffers }
    }

    /// Work-groups of one launch.
    pub fn groups(&self) -> u64 {
        let counts =
            self.launch.grid.iter().zip(self.launch.block).map(|(grid, block)| u64::from(grid.div_ceil(block)));
        counts.product()
    }

    /// Restores the buffers and runs all launches.
    pub fn run(&self, engine: Engine, threads: usize) -> Run {
        self.restore();
        self.launches(engine, threads)
    }

    /// How long it takes on one thread while another one runs at the same time: the longer time of both.
    pub fn run_beside(&self, other: &Case) -> Duration {
        let together = Barrier::new(2);
        let run = |case: &Case| {
            case.restore();
            together.wait();
            case.launches(Engine::Jit, 1).time
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| run(other));
            run(self).max(other.join().expect("a kernel that runs"))
        })
    }

    fn restore(&self) {
        for (buffer, planned) in self.buffers.iter().zip(self.launch.buffers()) {
            buffer.write(&planned.data);
        }
    }

    fn launches(&self, engine: Engine, threads: usize) -> Run {
        let mut run = Run { wave_instructions: 0, time: Duration::ZERO };
        for index in 0..self.launch.loop_count {
            let stats = self.prepare(engine, threads, index).run().expect("a kernel that runs");
            run.wave_instructions += stats.wave_instructions;
            run.time += stats.time;
        }
        run
    }

    /// What was translated.
    pub fn translated(&self) -> JitStats {
        self.kernel.module().translated()
    }

    /// What the last run left in the buffers.
    pub fn results(&self) -> Vec<Vec<u8>> {
        self.buffers.iter().map(Buffer::read).collect()
    }

    fn prepare(&self, engine: Engine, threads: usize, index: u32) -> Prepared<'_> {
        let mut buffers = self.buffers.iter();
        let args = self.launch.args.iter().map(|arg| match arg {
            support::Arg::Buffer(_) => Arg::from(buffers.next().expect("one for each argument")),
            support::Arg::Scalar(scalar) => Arg::bytes(&scalar.bytes),
            support::Arg::Local(bytes) => Arg::lds(*bytes),
            support::Arg::LoopIndex => index.into(),
        });
        let launch = self.kernel.launch().grid(self.launch.grid).block(self.launch.block);
        launch.engine(engine).threads(threads).args(args).prepare().expect("arguments that fit")
    }
}
