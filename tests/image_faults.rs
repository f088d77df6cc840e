//! Descriptors that are bad: what faults says so by name, what doesn't has a documented result (docs/fidelity.md), on two
//! generations and both engines. Kernels are those of `kernels/image/`.

use gcnjit::rt::image::{Format, Image, Sampler, Shape};
use gcnjit::{Arg, Device, Engine, Error, Module};

const LANES: usize = 64;
const SIDE: u32 = 8;
const TEXEL: u32 = 0xff00_80ff;

/// What a kernel makes of descriptors and coordinates that are the same in all lanes.
struct Scene<'a> {
    device: &'a Device,
    module: Module,
    image: [u32; 8],
    _texels: gcnjit::Buffer<u32>,
}

impl<'a> Scene<'a> {
    fn new(device: &'a Device, target: &str) -> Scene<'a> {
        let path = format!("{}/kernels/image/image.{target}.co", env!("CARGO_MANIFEST_DIR"));
        let module = Module::open(device, path).expect("the code object");
        let generation = module.target().generation();
        let format = Format::new(10, 0, generation).expect("8_8_8_8 unorm");
        let shape = Shape { levels: 2, ..Shape::plane(format, SIDE, SIDE) };
        let image = |base| Image::new(generation, base, &shape).expect("an image");
        let texels = vec![TEXEL; image(0).bytes() as usize / 4];
        let texels = device.buffer_from(&texels).expect("room");
        Scene { device, module, image: image(texels.address()).encode(), _texels: texels }
    }

    /// The first lane's result.
    fn run(
        &self,
        kernel: &str,
        image: [u32; 8],
        sampler: [u32; 4],
        body: &[u32],
        engine: Engine,
    ) -> Result<[f32; 4], Error> {
        let inputs: Vec<u32> = (0..LANES).flat_map(|_| body.to_vec()).collect();
        let inputs = self.device.buffer_from(&inputs).expect("room");
        let outputs = self.device.buffer::<u32>(4 * LANES).expect("room");
        let kernel = self.module.kernel(kernel).expect("the kernel");
        let launch = kernel.launch().grid(LANES as u32).block(LANES as u32).engine(engine).arg(&inputs).arg(&outputs);
        launch.arg(Arg::value(&image)).arg(Arg::value(&sampler)).run()?;
        let results = outputs.read();
        Ok([0, 1, 2, 3].map(|i| f32::from_bits(results[i])))
    }
}

/// Every case on two generations and both engines.
fn each(check: impl Fn(&Scene<'_>, Engine)) {
    let device = Device::with_threads(1).expect("a device");
    for target in ["gfx600", "gfx900"] {
        let scene = Scene::new(&device, target);
        [Engine::Interp, Engine::Jit].into_iter().for_each(|engine| check(&scene, engine));
    }
}

/// Texture coordinates in the middle.
const MIDDLE: [u32; 2] = [0x3f00_0000; 2];

fn sampler(scene: &Scene<'_>) -> [u32; 4] {
    Sampler::default().encode(scene.module.target().generation())
}

/// The message of a sample that faults.
fn message(scene: &Scene<'_>, image: [u32; 8], engine: Engine) -> String {
    let result = scene.run("sample_2d", image, sampler(scene), &MIDDLE, engine);
    result.expect_err("a fault").to_string()
}

#[test]
fn a_resource_that_is_no_image() {
    each(|scene, engine| {
        for (image, what) in [([0; 8], "type 0"), ([scene.image[0], 0, 0, 3 << 28, 0, 0, 0, 0], "type 3")] {
            let message = message(scene, image, engine);
            assert!(message.contains("image_sample") && message.contains(what), "{message}");
        }
    });
}

#[test]
fn a_tiling_and_a_format_that_nobody_has() {
    each(|scene, engine| {
        let mut image = scene.image;
        image[3] = image[3] & !(31 << 20) | 17 << 20;
        let what = message(scene, image, engine);
        assert!(what.contains("is not supported") && what.contains("image_sample"), "{what}");
        let mut image = scene.image;
        image[1] = image[1] & !(63 << 20) | 63 << 20;
        let what = message(scene, image, engine);
        assert!(what.contains("data format 63"), "{what}");
    });
}

#[test]
fn a_base_where_nothing_is() {
    each(|scene, engine| {
        let mut image = scene.image;
        (image[0], image[1]) = (1, image[1] & !0xff);
        let what = message(scene, image, engine);
        assert!(what.contains("null pointer at address 0x") && what.contains("lane 0"), "{what}");
    });
}

#[test]
fn a_level_that_there_is_not_reads_zeros() {
    each(|scene, engine| {
        let level = |level| scene.run("load_mip_2d", scene.image, [0; 4], &[0, 0, level], engine).expect("a result");
        assert_eq!(level(1)[0], 1.0);
        for far in [2, 15, u32::MAX] {
            assert_eq!(level(far), [0.0; 4], "level {far}");
        }
    });
}

#[test]
fn a_sampler_of_zeros_takes_the_nearest_texel() {
    each(|scene, engine| {
        let got = scene.run("sample_2d", scene.image, [0; 4], &MIDDLE, engine).expect("a result");
        assert_eq!(got, [1.0, 128.0 / 255.0, 0.0, 1.0]);
    });
}
