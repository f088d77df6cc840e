//! How fast kernels run: the translator against the interpreter.
//!
//! `cargo bench --bench kernels` first prints a table of both, measured by turns so that a change of the machine's
//! speed meets both alike, then lets criterion measure the translator. All on one thread.

use criterion::{BenchmarkId, Criterion, Throughput};
use gcnjit::{Arg, Buffer, Device, Engine, Kernel, Module, Prepared};
use std::time::Duration;

/// Rounds of the table; the least time counts.
const ROUNDS: usize = 5;

/// A kernel with buffers of a size that is worth measuring.
struct Case {
    name: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    /// Lengths of the buffers, in dwords; contents are random floats between 0 and 1.
    buffers: &'static [usize],
    /// The arguments after the buffers.
    scalars: Vec<Arg<'static>>,
}

fn cases() -> Vec<Case> {
    const N: usize = 128 * 128;
    const M: usize = 1 << 20;
    let size = [Arg::from(128u32), 128u32.into(), 128u32.into()];
    let factors = [Arg::from(1.0f32), 0.0f32.into()];
    let gemm = |name, scalars| Case { name, grid: [128, 128], block: [16, 16], buffers: &[N, N, N], scalars };
    let plane = [Arg::from(256u32), (-2.2f32).into(), (-1.5f32).into(), 0.0117f32.into(), 500u32.into()];
    vec![
        gemm("sgemm_naive", size.to_vec()),
        gemm("sgemm_tiled", [&size[..], &factors].concat()),
        Case { name: "mandelbrot", grid: [256, 256], block: [16, 16], buffers: &[256 * 256], scalars: plane.to_vec() },
        Case {
            name: "saxpy",
            grid: [M as u32, 1],
            block: [256, 1],
            buffers: &[M, M],
            scalars: [Arg::from(0.5f32), (M as u32).into()].to_vec(),
        },
        Case {
            name: "hash",
            grid: [1 << 14, 1],
            block: [256, 1],
            buffers: &[1 << 14, 1 << 14],
            scalars: [Arg::from(100u32), 7u32.into()].to_vec(),
        },
    ]
}

/// A case on a device of its own.
struct Bench {
    case: Case,
    kernel: Kernel,
    buffers: Vec<Buffer<f32>>,
}

impl Bench {
    fn new(case: Case) -> Bench {
        let path = format!("{}/kernels/{1}/{1}.gfx900.co", env!("CARGO_MANIFEST_DIR"), case.name);
        let device = Device::with_threads(1).expect("a device");
        let kernel = Module::open(&device, path).and_then(|module| module.kernel(case.name)).expect("the kernel");
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(0x915f_77f5).wrapping_add(1);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let buffers = case.buffers.iter().map(|&len| {
            let data: Vec<f32> = (0..len).map(|_| random()).collect();
            device.buffer_from(&data).expect("room")
        });
        Bench { buffers: buffers.collect(), kernel, case }
    }

    fn prepare(&self, engine: Engine) -> Prepared<'_> {
        let launch = self.kernel.launch().grid(self.case.grid).block(self.case.block).engine(engine);
        let launch = launch.args(self.buffers.iter().map(Arg::from)).args(self.case.scalars.iter().cloned());
        launch.prepare().expect("arguments that fit")
    }
}

/// Wave instructions of a launch, and its time.
fn run(prepared: &Prepared<'_>) -> (u64, Duration) {
    let stats = prepared.run().expect("a kernel that runs");
    (stats.wave_instructions, stats.time)
}

/// Prints the table.
fn compare(benches: &[Bench]) {
    println!("{:<12} {:>14} {:>12} {:>12} {:>8}", "kernel", "wave instr.", "interp", "jit", "ratio");
    for bench in benches {
        let [interp, jit] = [Engine::Interp, Engine::Jit].map(|engine| bench.prepare(engine));
        // The first run translates.
        let (instructions, _) = run(&jit);
        let mut least = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (least, prepared) in least.iter_mut().zip([&interp, &jit]) {
                *least = run(prepared).1.min(*least);
            }
        }
        let [interp, jit] = least.map(|time| time.as_secs_f64() * 1e3);
        let name = bench.case.name;
        println!("{name:<12} {instructions:>14} {interp:>9.3} ms {jit:>9.3} ms {:>7.1}×", interp / jit);
    }
}

fn main() {
    let benches: Vec<Bench> = cases().into_iter().map(Bench::new).collect();
    compare(&benches);
    let short = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    let mut criterion = short.configure_from_args();
    let mut group = criterion.benchmark_group("kernels");
    for bench in &benches {
        let jit = bench.prepare(Engine::Jit);
        group.throughput(Throughput::Elements(run(&jit).0));
        group.bench_function(BenchmarkId::new(bench.case.name, "jit"), |bencher| bencher.iter(|| run(&jit)));
    }
    group.finish();
    criterion.final_summary();
}
