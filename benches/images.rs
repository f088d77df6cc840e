//! How many texels a second image instructions read on one core, on gfx900: loads and samples of an RGBA8 image of
//! 256 × 256 texels, by every filter, translated and interpreted.
//!
//! `cargo bench --bench images`. A sample is one lane of one instruction; the kernels of `kernels/image/` read its
//! address from memory before and write the four components to memory behind it.

use criterion::{BenchmarkId, Criterion, Throughput};
use gcnjit::rt::image::sampler::{MipFilter, XyFilter};
use gcnjit::rt::image::{Format, Image, Sampler, Shape};
use gcnjit::{Arg, Buffer, Device, Engine, Kernel, Module};
use std::path::Path;
use std::time::Duration;

/// Texels in a row, and rows.
const SIDE: u32 = 256;
/// Work-items of a launch; those of a work-group have the same coordinates in each.
const GRID: u32 = 1 << 18;
const GROUP: u32 = 64;

/// A kernel on a device of its own, and what it is given.
struct Bench {
    kernel: Kernel,
    inputs: Buffer<u32>,
    outputs: Buffer<u32>,
    resource: [u32; 8],
    sampler: [u32; 4],
    /// Keeps the image's memory.
    _texels: Buffer<u32>,
}

impl Bench {
    fn new(kernel: &str, levels: u32, sampler: &Sampler, coordinates: impl Fn(u32) -> [u32; 2]) -> Bench {
        let device = Device::with_threads(1).expect("a device");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/image/image.gfx900.co");
        let module = Module::open(&device, path).expect("the code object");
        let generation = module.target().generation();
        let format = Format::new(10, 0, generation).expect("8_8_8_8 unorm");
        let shape = Shape { levels, ..Shape::plane(format, SIDE, SIDE) };
        let image = |base| Image::new(generation, base, &shape).expect("an image");
        let noise: Vec<u32> = (0..image(0).bytes() as u32 / 4).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
        let texels = device.buffer_from(&noise).expect("room");
        let inputs: Vec<u32> = (0..GROUP).flat_map(coordinates).collect();
        Bench {
            kernel: module.kernel(kernel).expect("the kernel"),
            inputs: device.buffer_from(&inputs).expect("room"),
            outputs: device.buffer(4 * GROUP as usize).expect("room"),
            resource: image(texels.address()).encode(),
            sampler: sampler.encode(generation),
            _texels: texels,
        }
    }

    fn run(&self, engine: Engine) {
        let launch = self.kernel.launch().grid(GRID).block(GROUP).engine(engine).arg(&self.inputs).arg(&self.outputs);
        launch.arg(Arg::value(&self.resource)).arg(Arg::value(&self.sampler)).run().expect("a launch");
    }
}

/// A pixel of an 8 × 8 square, a quad after the other, which are so many texels apart.
fn pixel(lane: u32, apart: [f32; 2]) -> [f32; 2] {
    let (quad, corner) = (lane / 4, lane % 4);
    let place = [quad % 4 * 2 + corner % 2, quad / 4 * 2 + corner / 2];
    [0, 1].map(|axis| 100.3 + place[axis] as f32 * apart[axis])
}

fn sampled(filter: XyFilter, mip_filter: MipFilter, ratio: u8, apart: [f32; 2]) -> Bench {
    let sampler = Sampler {
        mag_filter: filter,
        min_filter: filter,
        mip_filter,
        max_aniso_ratio: ratio,
        max_lod: 4095,
        ..Sampler::default()
    };
    let levels = if mip_filter == MipFilter::None { 1 } else { 9 };
    Bench::new("sample_2d", levels, &sampler, |lane| pixel(lane, apart).map(|at| (at / SIDE as f32).to_bits()))
}

fn main() {
    let benches = [
        ("load", Bench::new("load_2d", 1, &Sampler::default(), |lane| pixel(lane, [1.0; 2]).map(|at| at as u32))),
        ("point", sampled(XyFilter::Point, MipFilter::None, 0, [1.0; 2])),
        ("bilinear", sampled(XyFilter::Bilinear, MipFilter::None, 0, [1.0; 2])),
        ("trilinear", sampled(XyFilter::Bilinear, MipFilter::Linear, 0, [1.4; 2])),
        ("anisotropic", sampled(XyFilter::AnisoBilinear, MipFilter::Linear, 4, [5.6, 1.4])),
    ];
    let short = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    let mut criterion = short.configure_from_args();
    let mut group = criterion.benchmark_group("images");
    group.throughput(Throughput::Elements(GRID.into()));
    for (name, bench) in &benches {
        for (engine, label) in [(Engine::Jit, "jit"), (Engine::Interp, "interp")] {
            group.bench_function(BenchmarkId::new(*name, label), |bencher| bencher.iter(|| bench.run(engine)));
        }
    }
    group.finish();
    criterion.final_summary();
}
