//! What the runtime costs around the instructions: an empty kernel's launch, its waves, huge grids, two threads.
//!
//! `cargo bench --bench dispatch` first prints a table: 2^31 work-items of an empty kernel and of one that counts them,
//! with the peak of the process' memory, and how kernels on two threads compare with one. Then criterion measures
//! launches of few and many waves.

use criterion::{BenchmarkId, Criterion, Throughput};
use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Arg, Buffer, Device, Engine, Kernel, Module, RawCode, Stats, Target};
use std::time::Duration;

/// Nothing.
const EMPTY: &str = "s_endpgm";
/// One atomic a wave.
const COUNT: &str = "
    v_mov_b32 v1, s0
    v_mov_b32 v2, s1
    s_mov_b64 exec, 1
    v_mov_b32 v3, 1
    flat_atomic_add v[1:2], v3
    s_endpgm";

fn kernel(device: &Device, text: &str) -> Kernel {
    let words = asm::assemble(text, Target::Gfx900).expect("text");
    let mut raw = RawCode::new(Target::Gfx900);
    raw.vgprs = 4;
    raw.sgprs.insert(0, UserSgpr::Address(Slot::Argument(0)));
    let code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    Module::load_raw(device, "bench", code, &raw).and_then(|module| module.kernel(RawCode::NAME)).expect("a kernel")
}

fn run(kernel: &Kernel, cell: &Buffer<u32>, items: u32, threads: usize) -> Stats {
    let launch = kernel.launch().grid(items).block(256).threads(threads);
    launch.arg(cell).run().expect("a kernel that runs")
}

/// The most memory that this process had so far, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// 2^31 work-items.
fn huge_grids() {
    const ITEMS: u32 = 1 << 31;
    let device = Device::new().expect("a device");
    let cell = device.buffer::<u32>(1).expect("memory");
    println!("{:<28} {:>10} {:>10} {:>12}", "2^31 work-items", "time", "a wave", "peak memory");
    for (name, text, threads) in
        [("empty, 1 thread", EMPTY, 1), ("empty, 2 threads", EMPTY, 2), ("count, 2 threads", COUNT, 2)]
    {
        cell.write(&[0]);
        let stats = run(&kernel(&device, text), &cell, ITEMS, threads);
        let wave = stats.time.as_secs_f64() * 1e9 / stats.waves as f64;
        println!("{name:<28} {:>8.2} s {wave:>7.1} ns {:>8} KiB", stats.time.as_secs_f64(), peak_memory());
        let counted = if text == COUNT { ITEMS / 64 } else { 0 };
        assert_eq!(cell.read(), [counted]);
    }
}

/// Kernels that work, on one thread and on two by turns.
fn two_threads() {
    const ROUNDS: usize = 7;
    let device = Device::new().expect("a device");
    let open = |name: &str| {
        let path = format!("{}/kernels/{name}/{name}.gfx900.co", env!("CARGO_MANIFEST_DIR"));
        Module::open(&device, path).and_then(|module| module.kernel(name)).expect("a kernel of ours")
    };
    let (mandelbrot, histogram) = (open("mandelbrot"), open("histogram"));
    let (pixels, bins) = (device.buffer::<u32>(512 * 512).expect("memory"), device.buffer::<u32>(64).expect("memory"));
    let bytes = device.buffer_from(&vec![7u8; 1 << 22]).expect("memory");
    let plane = [Arg::from(512u32), (-2.2f32).into(), (-1.5f32).into(), 0.006f32.into(), 500u32.into()];
    let launches = [
        mandelbrot.launch().grid([512, 512]).block([16, 16]).arg(&pixels).args(plane),
        histogram.launch().grid(1 << 14).block(256).arg(&bytes).arg(&bins).arg(1u32 << 22),
    ];
    println!("{:<28} {:>10} {:>10} {:>12}", "kernel", "1 thread", "2 threads", "throughput");
    for launch in launches {
        let mut least = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (threads, least) in [1, 2].into_iter().zip(&mut least) {
                let stats = launch.clone().threads(threads).run().expect("a kernel that runs");
                *least = stats.time.min(*least);
            }
        }
        let [one, two] = least.map(|time| time.as_secs_f64() * 1e3);
        let name = launch.prepare().expect("arguments that fit").kernel().name().to_owned();
        println!("{name:<28} {one:>7.3} ms {two:>7.3} ms {:>11.2}×", one / two);
    }
}

fn main() {
    huge_grids();
    two_threads();
    let short = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    let mut criterion = short.configure_from_args();
    let mut group = criterion.benchmark_group("dispatch");
    let device = Device::with_threads(1).expect("a device");
    let (empty, cell) = (kernel(&device, EMPTY), device.buffer::<u32>(1).expect("memory"));
    for engine in [Engine::Jit, Engine::Interp] {
        for waves in [1u32, 64, 4096] {
            let prepared = empty.launch().grid(waves * 64).block(256).engine(engine).arg(&cell).prepare();
            let prepared = prepared.expect("arguments that fit");
            group.throughput(Throughput::Elements(waves.into()));
            let id = BenchmarkId::new(format!("{engine:?}"), waves);
            group.bench_function(id, |bencher| bencher.iter(|| prepared.run().expect("a kernel that runs")));
        }
    }
    let far = prepared_with_deadline(&empty, &cell);
    group.bench_function("Jit/1 with a deadline", |bencher| bencher.iter(|| far.run().expect("a kernel that runs")));
    group.finish();
    criterion.final_summary();
}

fn prepared_with_deadline<'a>(kernel: &'a Kernel, cell: &'a Buffer<u32>) -> gcnjit::Prepared<'a> {
    let launch = kernel.launch().grid(64).block(64).deadline(Duration::from_secs(3600));
    launch.arg(cell).prepare().expect("arguments that fit")
}
