//! OpenCL kernels that read and write images (`kernels/images`), on four targets and both engines, through the library
//! and the command line. What they must compute is computed here in f64.

use gcnjit::image::{Clamp, Dim, Image, Sampler, Shape, Tiling, XyFilter, named};
use gcnjit::{Device, Engine, Kernel, Module, Target};
use std::path::PathBuf;
use std::process::{Command, Output};

const TARGETS: [Target; 4] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900];
const ENGINES: [Engine; 2] = [Engine::Interp, Engine::Jit];

fn path(target: Target) -> String {
    format!("{}/kernels/images/images.{}.co", env!("CARGO_MANIFEST_DIR"), target.name())
}

fn kernel(device: &Device, target: Target, name: &str) -> Kernel {
    Module::open(device, path(target)).and_then(|module| module.kernel(name)).unwrap()
}

fn image(device: &Device, target: Target, format: &str, width: u32, height: u32) -> Image {
    let named = named(format, target).unwrap();
    Image::with_selects(device, target, &Shape::plane(named.format, width, height), named.selects).unwrap()
}

fn sampler(device: &Device, target: Target, filter: XyFilter, clamp: Clamp) -> Sampler {
    let how = gcnjit::rt::image::Sampler {
        clamp: [clamp; 3],
        mag_filter: filter,
        min_filter: filter,
        max_lod: 0xfff,
        ..Default::default()
    };
    Sampler::new(device, target, how).unwrap()
}

/// A picture without a pattern, four bytes a texel.
fn picture(width: u32, height: u32) -> Vec<u8> {
    (0..width * height * 4).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A component of a picture, its coordinates held inside.
fn texel(picture: &[u8], [width, height]: [u32; 2], x: i64, y: i64, component: usize) -> f64 {
    let (x, y) = (x.clamp(0, i64::from(width) - 1), y.clamp(0, i64::from(height) - 1));
    f64::from(picture[4 * (y as usize * width as usize + x as usize) + component])
}

/// What `resample` makes of a component: the weighted mean of four texels, or the nearest.
fn resampled(from: &[u8], size: [u32; 2], place: [f64; 2], linear: bool, component: usize) -> f64 {
    let [x, y] = [place[0] * f64::from(size[0]), place[1] * f64::from(size[1])];
    if !linear {
        return texel(from, size, x.floor() as i64, y.floor() as i64, component);
    }
    let ([x, y], [left, top]) = ([x - 0.5, y - 0.5], [(x - 0.5).floor(), (y - 0.5).floor()]);
    let row = |row: f64| {
        let at = |column: f64| texel(from, size, column as i64, row as i64, component);
        at(left) * (1.0 - (x - left)) + at(left + 1.0) * (x - left)
    };
    row(top) * (1.0 - (y - top)) + row(top + 1.0) * (y - top)
}

#[test]
fn pictures_are_resampled() {
    let (from, to) = ([24, 17], [61, 40]);
    let source = picture(from[0], from[1]);
    for target in TARGETS {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, "resample");
        for (engine, filter) in ENGINES.into_iter().flat_map(|e| [(e, XyFilter::Point), (e, XyFilter::Bilinear)]) {
            let input = image(&device, target, "rgba8", from[0], from[1]);
            let output = image(&device, target, "rgba8", to[0], to[1]);
            let sampler = sampler(&device, target, filter, Clamp::LastTexel);
            input.write(&source);
            let launch = kernel.launch().grid([64, 40]).block([16, 8]).engine(engine);
            launch.arg(&input).arg(&output).arg(&sampler).run().unwrap();
            // Weights of eight bits, and rounding to eight bits.
            let bound = if filter == XyFilter::Point { 0.0 } else { 1.5 };
            for (i, got) in output.read().into_iter().enumerate() {
                let [x, y] = [i as u32 / 4 % to[0], i as u32 / 4 / to[0]];
                let place = [(f64::from(x) + 0.5) / f64::from(to[0]), (f64::from(y) + 0.5) / f64::from(to[1])];
                let want = resampled(&source, from, place, filter == XyFilter::Bilinear, i % 4);
                assert!((f64::from(got) - want).abs() <= bound, "{target} {engine:?} {filter:?} {x} {y}: {got} {want}");
            }
        }
    }
}

#[test]
fn integers_are_read_and_written() {
    let [width, height] = [50, 9];
    let source = picture(width, height);
    let size = [width, height];
    for target in TARGETS {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, "differences");
        for engine in ENGINES {
            let (input, output) =
                (image(&device, target, "rgba8u", width, height), image(&device, target, "rgba8u", width, height));
            input.write(&source);
            let launch = kernel.launch().grid([64, 12]).block([64, 4]).engine(engine);
            launch.arg(&input).arg(&output).run().unwrap();
            for (i, got) in output.read().into_iter().enumerate() {
                let [x, y] = [i as i64 / 4 % i64::from(width), i as i64 / 4 / i64::from(width)];
                let (here, next) = (texel(&source, size, x, y, i % 4), texel(&source, size, x + 1, y, i % 4));
                assert_eq!(got, (next as u8).wrapping_sub(here as u8), "{target} {engine:?} {x} {y}");
            }
        }
    }
}

/// The same in tiles: what the kernels see does not depend on the order of texels in memory.
#[test]
fn tiled_images_are_as_linear_ones() {
    use gcnjit::image::{MicroTile, Swizzle};
    for target in TARGETS {
        let tilings: &[Tiling] = if target == Target::Gfx900 {
            &[Tiling::Block256(Swizzle::D), Tiling::Block4K(Swizzle::S), Tiling::Block64K(Swizzle::Z)]
        } else {
            &[Tiling::Micro(MicroTile::Thin), Tiling::Micro(MicroTile::Display)]
        };
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, "differences");
        let run = |engine: Engine, tiling: Tiling| {
            let format = named("rgba8u", target).unwrap().format;
            let shape = Shape { tiling, ..Shape::plane(format, 50, 19) };
            let (input, output) =
                (Image::new(&device, target, &shape).unwrap(), Image::new(&device, target, &shape).unwrap());
            input.write(&picture(50, 19));
            let launch = kernel.launch().grid([64, 20]).block([64, 4]).engine(engine);
            launch.arg(&input).arg(&output).run().unwrap();
            output.read()
        };
        let linear = run(Engine::Interp, Tiling::Linear);
        for (engine, tiling) in ENGINES.into_iter().flat_map(|e| tilings.iter().map(move |tiling| (e, *tiling))) {
            assert_eq!(run(engine, tiling), linear, "{target} {engine:?} {tiling:?}");
        }
    }
}

#[test]
fn volumes_are_probed() {
    for target in TARGETS {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, "probe");
        let shape = Shape::volume(named("r32f", target).unwrap().format, 4, 3, 2);
        assert_eq!(shape.dim, Dim::D3);
        let volume = Image::new(&device, target, &shape).unwrap();
        let values: Vec<f32> = (0..24).map(|i| (i * i) as f32).collect();
        volume.write(bytemuck::cast_slice(&values));
        let linear = XyFilter::Bilinear;
        let sampler = Sampler::new(
            &device,
            target,
            gcnjit::rt::image::Sampler {
                clamp: [Clamp::LastTexel; 3],
                unnormalized: true,
                mag_filter: linear,
                min_filter: linear,
                ..Default::default()
            },
        )
        .unwrap();
        // Centres of texels are they themselves; between all eight of them is their mean.
        let places = [[0.5f32, 0.5, 0.5, 0.0], [3.5, 2.5, 1.5, 0.0], [1.0, 1.0, 1.0, 0.0], [9.0, 2.5, 0.5, 0.0]];
        let mean = [0, 1, 4, 5, 12, 13, 16, 17].map(|i| values[i]).iter().sum::<f32>() / 8.0;
        for engine in ENGINES {
            let (from, to) = (device.buffer_from(places.as_flattened()).unwrap(), device.buffer::<f32>(16).unwrap());
            let launch = kernel.launch().grid(4).block(4).engine(engine);
            launch.arg(&volume).arg(&sampler).arg(&from).arg(&to).run().unwrap();
            let got: Vec<f32> = to.read().chunks(4).map(|texel| texel[0]).collect();
            assert_eq!(got, [values[0], values[23], mean, values[11]], "{target} {engine:?}");
        }
    }
}

fn gcnjit(args: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gcnjit")).args(args).output().unwrap()
}

fn run_args(target: Target, kernel: &str, grid: &str, args: &[String]) -> Vec<String> {
    let start = ["run", &path(target), "--kernel", kernel, "--grid", grid, "--block", "16,4"];
    let args = args.iter().flat_map(|arg| ["--arg".to_owned(), arg.clone()]);
    start.into_iter().map(str::to_owned).chain(args).collect()
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

fn write_png(path: PathBuf, width: u32, height: u32, pixels: &[u8]) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
}

fn read_png(path: PathBuf) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    (frame.width, frame.height, pixels)
}

/// A picture twice as large, from PNG to PNG and from bytes to bytes, with both engines compared.
#[test]
fn the_command_line_takes_pictures() {
    let files = Files::new();
    let source = picture(20, 10);
    write_png(files.path("in.png"), 20, 10, &source);
    std::fs::write(files.path("in.raw"), &source).unwrap();
    for (target, name) in [(Target::Gfx600, "png"), (Target::Gfx900, "raw")] {
        let (input, output) = (files.name(&format!("in.{name}")), files.name(&format!("out.{name}")));
        let args = [
            format!("image:rgba8,20,10:{input}"),
            format!("image:rgba8,40,20::{output}"),
            "sampler:nearest,edge,normalized".to_owned(),
        ];
        let mut args = run_args(target, "resample", "40,20", &args);
        args.extend(["--engine", "check"].map(str::to_owned));
        let done = gcnjit(&args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let pixels = match name {
            "png" => {
                let (width, height, pixels) = read_png(files.path("out.png"));
                assert_eq!((width, height), (40, 20));
                pixels
            }
            _ => std::fs::read(files.path("out.raw")).unwrap(),
        };
        for (i, got) in pixels.chunks(4).enumerate() {
            let (x, y) = (i % 40 / 2, i / 40 / 2);
            assert_eq!(got, &source[4 * (y * 20 + x)..][..4], "{name} {i}");
        }
    }
}

/// A launch with images can be recorded, and the recording run.
#[test]
fn launches_with_images_are_recorded() {
    let files = Files::new();
    let source = picture(16, 4);
    std::fs::write(files.path("in"), &source).unwrap();
    let args = [format!("image:rgba8u,16,4:{}", files.name("in")), "image:rgba8u,16,4:".to_owned()];
    let mut args = run_args(Target::Gfx803, "differences", "16,4", &args);
    args.extend(["--record".to_owned(), files.name("recording")]);
    assert!(gcnjit(&args).status.success());
    let replayed = gcnjit(&[
        "run".to_owned(),
        files.name("recording"),
        "--engine".to_owned(),
        "interp".to_owned(),
        "--dump".to_owned(),
        format!("1:{}", files.name("out")),
    ]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let out = std::fs::read(files.path("out")).unwrap();
    assert_eq!(out[0], source[4].wrapping_sub(source[0]));
}

/// Usage errors, which name the argument.
#[test]
fn wrong_images_are_refused() {
    let files = Files::new();
    write_png(files.path("a.png"), 2, 2, &[0; 16]);
    std::fs::write(files.path("short"), [0; 7]).unwrap();
    let png = files.name("a.png");
    for (arg, what) in [
        ("image:rgba8,4".to_owned(), "a shape and a file"),
        ("image:rgba9,4,4:".to_owned(), "there is no format 'rgba9'"),
        (format!("image:rgba8,4,4:{png}"), "it has 2 × 2 pixels, the image 4 × 4"),
        (format!("image:rgba16,2,2:{png}"), "bits a component"),
        (format!("image:rgba32f,2,2:{png}"), "PNG files don't hold rgba32f"),
        (format!("image:rgba8,2,2:{}", files.name("short")), "7 bytes, the image 16"),
        ("sampler:cubic".to_owned(), "'cubic' is none of"),
    ] {
        let done = gcnjit(&run_args(Target::Gfx900, "resample", "16,4", std::slice::from_ref(&arg)));
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{arg}: {message}");
        assert!(message.contains(what), "{arg}: {message}");
    }
}
