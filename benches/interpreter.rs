//! How many wave-instructions a second the interpreter executes on one core, kernel by kernel, on gfx900.
//!
//! `cargo bench --bench interpreter` first prints a table of every kernel of `kernels/` with its launch description,
//! the best of some rounds, then lets criterion measure a few of them. A name after `--` picks a kernel for both.

#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{BenchmarkId, Criterion, Throughput};
use gcnjit::{Arg, Buffer, Device, Engine, Kernel, Module};
use std::time::{Duration, Instant};
use support::{Launch, code_object, kernel_names};

/// What criterion measures: integers, f32, scratch, LDS.
const MEASURED: [&str; 4] = ["sha256", "black_scholes", "rc4", "sgemm_tiled"];

/// How long the table looks at a kernel.
const PATIENCE: Duration = Duration::from_millis(300);

/// A launch on a device of its own.
struct Bench {
    launch: Launch,
    kernel: Kernel,
    buffers: Vec<Buffer<u8>>,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let launch = Launch::load(name);
        let device = Device::with_threads(1).expect("a device");
        let module = Module::open(&device, code_object(name, "gfx900")).expect("the code object");
        let kernel = module.kernel(name).expect("the kernel");
        let buffers = launch.buffers().map(|buffer| device.buffer_from(&buffer.data).expect("room")).collect();
        Bench { launch, kernel, buffers }
    }

    /// Runs the first launch: its wave-instructions and its time. Buffers keep what the run before left in them.
    fn run(&self) -> (u64, Duration) {
        let mut buffers = self.buffers.iter();
        let args = self.launch.args.iter().map(|arg| match arg {
            support::Arg::Buffer(_) => Arg::from(buffers.next().expect("one for each argument")),
            support::Arg::Scalar(scalar) => Arg::bytes(&scalar.bytes),
            support::Arg::Local(bytes) => Arg::lds(*bytes),
            support::Arg::LoopIndex => 0.into(),
        });
        let launch = self.kernel.launch().grid(self.launch.grid).block(self.launch.block);
        let prepared = launch.engine(Engine::Interp).args(args).prepare().expect("arguments that fit");
        let stats = prepared.run().expect("a kernel that runs");
        (stats.wave_instructions, stats.time)
    }
}

fn table(names: &[String]) {
    println!("{:<16} {:>12} {:>10} {:>18}", "kernel", "wave instr.", "ms", "million a second");
    for name in names {
        let bench = Bench::new(name);
        let start = Instant::now();
        let mut best = bench.run();
        while start.elapsed() < PATIENCE {
            let run = bench.run();
            best = if run.1 < best.1 { run } else { best };
        }
        let (instructions, time) = best;
        let rate = instructions as f64 / time.as_secs_f64() / 1e6;
        println!("{name:<16} {instructions:>12} {:>10.3} {rate:>18.2}", time.as_secs_f64() * 1e3);
    }
}

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    table(&kernel_names().into_iter().filter(|name| name.contains(&filter)).collect::<Vec<_>>());
    let short = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    let mut criterion = short.configure_from_args();
    let mut group = criterion.benchmark_group("interpreter");
    for name in MEASURED {
        let bench = Bench::new(name);
        group.throughput(Throughput::Elements(bench.run().0));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| bencher.iter(|| bench.run()));
    }
    group.finish();
    criterion.final_summary();
}
