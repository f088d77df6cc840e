//! Charts of the sampler: a floor of squares into the distance, drawn by the shaders of `kernels/graphics`, and all
//! around a cube map, by a kernel of `kernels/image`.

use crate::picture::Picture;
use crate::raster::{Frame, Pipeline};
use crate::scene::{self, SKY, Vertex};
use gcnjit::image::{Clamp, Image, Shape, XyFilter, named};
use gcnjit::rt::image::sampler::{MipFilter, Sampler};
use gcnjit::{Arg, Device, Engine, Module, Target};
use std::f64::consts::PI;

/// Columns and rows of the floor's texture: eight by eight squares.
const BOARD: usize = 64;
/// Columns and rows of a cube map's face: so few that most of it lies between texels of different faces.
const FACE: usize = 4;
/// Columns and rows of the cube map's panorama: whole waves.
const PANORAMA: [usize; 2] = [192, 96];
const LANES: usize = 64;

/// A sampler that blends levels.
pub fn trilinear() -> Sampler {
    let filter = XyFilter::Bilinear;
    let max_lod = 0xfff;
    Sampler { mag_filter: filter, min_filter: filter, mip_filter: MipFilter::Linear, max_lod, ..Sampler::default() }
}

/// The same, with up to sixteen points along a footprint.
pub fn anisotropic() -> Sampler {
    let filter = XyFilter::AnisoBilinear;
    Sampler { mag_filter: filter, min_filter: filter, max_aniso_ratio: 4, ..trilinear() }
}

/// The floor: its texture is turned and, along u, `shift` texels off.
pub fn floor(target: Target, engine: Engine, size: [usize; 2], sampler: &Sampler, shift: f32) -> Picture {
    let device = Device::new().unwrap();
    let file = format!("{}/kernels/graphics/texture.{}.so", env!("CARGO_MANIFEST_DIR"), target.name());
    let module = Module::open(&device, file).unwrap();
    let pipeline = Pipeline::new(&module, engine).unwrap();
    let board = board(&device, target);
    let sgprs: Vec<u32> = board.descriptor().into_iter().chain(sampler.encode(target.generation())).collect();
    let corner = |x: f32, z: f32| -> Vertex {
        let [u, v] = [0.96 * x - 0.28 * z, 0.28 * x + 0.96 * z].map(|at| at / 4.0);
        [x, -1.0, z, u + shift / BOARD as f32, v, 1.0, 1.0, 1.0]
    };
    let [a, b, c, d] = [corner(-60.0, -1.0), corner(60.0, -1.0), corner(60.0, -60.0), corner(-60.0, -60.0)];
    let matrix = scene::perspective(size[0] as f32 / size[1] as f32, 0.5, 100.0);
    let mut frame = Frame::new(size[0], size[1], SKY);
    let floor = (vec![a, b, c, a, c, d], matrix);
    scene::draw(&device, &mut frame, &pipeline, target.generation(), [floor], &sgprs).unwrap();
    Picture::new(size[0], &frame.colour)
}

/// Squares of two colours, with all levels.
fn board(device: &Device, target: Target) -> Image {
    let is_light = |x: usize, y: usize| (x / 8 + y / 8).is_multiple_of(2);
    let (light, dark) = ([250, 240, 220, 255], [110, 30, 50, 255]);
    let mut texels = Vec::new();
    for level in 0..=BOARD.ilog2() {
        let size = BOARD >> level;
        for (x, y) in (0..size * size).map(|at| (at % size, at / size)) {
            // A texel of a level is the mean of a square of those of level 0.
            let side = 1 << level;
            let all = (0..side * side).map(|at| is_light(x * side + at % side, y * side + at / side));
            let lights = all.filter(|is_light| *is_light).count();
            let mean = |k: usize| (light[k] * lights + dark[k] * (side * side - lights)) / (side * side);
            texels.extend([0, 1, 2, 3].map(|k| mean(k) as u8));
        }
    }
    let format = named("rgba8", target).unwrap().format;
    let shape = Shape { levels: BOARD.ilog2() + 1, ..Shape::plane(format, BOARD as u32, BOARD as u32) };
    let image = Image::new(device, target, &shape).unwrap();
    image.write(&texels);
    image
}

/// A cube map all around, longitude by column and latitude by row. Faces go on in each other, or end at their edges.
pub fn panorama(target: Target, engine: Engine, seamless: bool) -> Picture {
    let device = Device::new().unwrap();
    let file = format!("{}/kernels/image/image.{}.co", env!("CARGO_MANIFEST_DIR"), target.name());
    let kernel = Module::open(&device, file).and_then(|module| module.kernel("sample_l_cube")).unwrap();
    let shape = Shape::cube(named("rgba8", target).unwrap().format, FACE as u32);
    let cube = Image::new(&device, target, &shape).unwrap();
    cube.write(&faces());
    let clamp = [Clamp::LastTexel; 3];
    let sampler = Sampler { clamp, disable_cube_wrap: !seamless, ..trilinear() }.encode(target.generation());
    let places: Vec<[f32; 4]> = (0..PANORAMA[0] * PANORAMA[1]).map(place).collect();
    let (inputs, outputs) = (device.buffer_from(places.as_flattened()), device.buffer::<f32>(4 * places.len()));
    let (inputs, outputs) = (inputs.unwrap(), outputs.unwrap());
    let descriptor = cube.descriptor();
    for wave in 0..places.len() / LANES {
        // The kernel has no work-group number: a launch of one wave for each.
        let at = (wave * LANES * size_of::<[f32; 4]>()) as u64;
        let launch = kernel.launch().grid(LANES as u32).block(LANES as u32).engine(engine);
        let launch = launch.arg(Arg::pointer(inputs.address() + at)).arg(Arg::pointer(outputs.address() + at));
        launch.arg(Arg::value(&descriptor)).arg(Arg::value(&sampler)).run().unwrap();
    }
    Picture::new(PANORAMA[0], outputs.read().as_chunks().0)
}

/// Texels of the faces: a colour each, in lighter and darker squares.
fn faces() -> Vec<u8> {
    const COLOURS: [[u8; 3]; 6] =
        [[230, 60, 50], [60, 200, 210], [240, 240, 240], [70, 70, 80], [240, 200, 50], [60, 80, 210]];
    let texel = |at: usize| {
        let (face, x, y) = (at / FACE / FACE, at % FACE, at / FACE % FACE);
        let [r, g, b] = COLOURS[face].map(|c| if (x + y).is_multiple_of(2) { c } else { c / 2 });
        [r, g, b, 255]
    };
    (0..6 * FACE * FACE).flat_map(texel).collect()
}

/// What the kernel gets for a pixel: place on the face as v_cubesc and v_cubetc have it, plus 1.5 (SI manual, v_cubema),
/// the face's number and level 0.
fn place(pixel: usize) -> [f32; 4] {
    let part = |at: usize, size: usize| (at as f64 + 0.5) / size as f64;
    let longitude = (part(pixel % PANORAMA[0], PANORAMA[0]) * 2.0 - 1.0) * PI;
    let latitude = (0.5 - part(pixel / PANORAMA[0], PANORAMA[1])) * PI;
    let [x, y, z] = [latitude.cos() * longitude.sin(), latitude.sin(), latitude.cos() * longitude.cos()];
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, s, t, major) = match () {
        () if az >= ax && az >= ay => (4 + u8::from(z < 0.0), if z < 0.0 { -x } else { x }, -y, az),
        () if ay >= ax => (2 + u8::from(y < 0.0), x, if y < 0.0 { -z } else { z }, ay),
        () => (u8::from(x < 0.0), if x < 0.0 { z } else { -z }, -y, ax),
    };
    let on_face = |at: f64| (at / (2.0 * major) + 1.5) as f32;
    [on_face(s), on_face(t), f32::from(face), 0.0]
}
