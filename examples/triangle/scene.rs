//! What there is to see: a triangle that lies on the ground, and a cube above it.

use crate::raster::{Draw, Frame, Pipeline};
use gcnjit::isa::Gen;
use gcnjit::rt::image::descriptor::Shape;
use gcnjit::rt::image::format::Format;
use gcnjit::rt::image::sampler::{MipFilter, Sampler, XyFilter};
use gcnjit::rt::image::{Image, Texel};
use gcnjit::{Buffer, Device, Engine, Error, Module};

/// Position, texture coordinates, colour.
pub type Vertex = [f32; 8];
/// Columns of a matrix.
pub type Matrix = [[f32; 4]; 4];

/// Colour where nothing is.
pub const SKY: [f32; 4] = [0.35, 0.5, 0.7, 1.0];

/// The triangle on the ground: from before the eye far into the distance.
pub fn ground() -> Vec<Vertex> {
    vec![
        [-3.0, -1.2, 2.0, 0.0, 0.0, 1.0, 0.85, 0.7],
        [3.0, -1.2, 2.0, 6.0, 0.0, 0.7, 1.0, 0.7],
        [0.0, -1.2, -14.0, 3.0, 16.0, 0.7, 0.8, 1.0],
    ]
}

/// The cube: two triangles a face.
pub fn cube() -> Vec<Vertex> {
    // The face's normal, and where its columns and rows go.
    const FACES: [[[f32; 3]; 3]; 6] = [
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    ];
    const COLOURS: [[f32; 3]; 6] =
        [[1.0, 0.9, 0.8], [0.6, 0.6, 0.6], [1.0, 0.6, 0.5], [0.5, 0.7, 1.0], [1.0, 1.0, 1.0], [0.4, 0.4, 0.4]];
    const CORNERS: [[f32; 2]; 6] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let face = |(axes, [r, g, b]): ([[f32; 3]; 3], [f32; 3])| {
        CORNERS.map(|[s, t]| {
            let [x, y, z] = [0, 1, 2].map(|k| 0.9 * (axes[0][k] + s * axes[1][k] + t * axes[2][k]));
            [x, y, z, s * 0.5 + 0.5, 0.5 - t * 0.5, r, g, b]
        })
    };
    FACES.into_iter().zip(COLOURS).flat_map(face).collect()
}

/// The product of two matrices.
pub fn times(a: Matrix, b: Matrix) -> Matrix {
    b.map(|column| std::array::from_fn(|row| (0..4).map(|k| a[k][row] * column[k]).sum()))
}

/// From before the eye to the screen: depth is 0 at `near` and 1 at `far`.
pub fn perspective(aspect: f32, near: f32, far: f32) -> Matrix {
    let scale = far / (near - far);
    [[1.8 / aspect, 0.0, 0.0, 0.0], [0.0, 1.8, 0.0, 0.0], [0.0, 0.0, scale, -1.0], [0.0, 0.0, near * scale, 0.0]]
}

/// A rotation about the third of the axes from `axis` on, by an angle with this cosine and sine.
pub fn rotation(axis: usize, [cos, sin]: [f32; 2]) -> Matrix {
    let mut matrix: Matrix = std::array::from_fn(|c| std::array::from_fn(|r| f32::from(u8::from(c == r))));
    let (a, b) = (axis % 3, (axis + 1) % 3);
    (matrix[a][a], matrix[a][b], matrix[b][a], matrix[b][b]) = (cos, sin, -sin, cos);
    matrix
}

/// A translation.
pub fn translation([x, y, z]: [f32; 3]) -> Matrix {
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, y, z, 1.0]]
}

/// The objects of the scene with their matrices, on a screen of this size.
pub fn objects(width: usize, height: usize) -> [(Vec<Vertex>, Matrix); 2] {
    let screen = perspective(width as f32 / height as f32, 0.5, 40.0);
    let eye = times(screen, translation([0.0, -0.3, -4.5]));
    let turned = times(rotation(1, [0.8, 0.6]), times(rotation(2, [0.6, 0.8]), rotation(0, [0.96, 0.28])));
    let model = times(translation([0.5, 0.8, 0.0]), turned);
    [(ground(), eye), (cube(), times(eye, model))]
}

/// A V# of `buffer`: elements of four f32, `stride` bytes from one to the next (SI manual, table 8.5).
pub fn resource(buffer: &Buffer<f32>, stride: u32, gfx8: bool) -> [u32; 4] {
    const SELECTS: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    const FLOAT: u32 = 7 << 12;
    const FORMAT_32_32_32_32: u32 = 14 << 15;
    let bytes = 4 * buffer.len() as u32;
    // Elements; bytes on gfx8.
    let records = if gfx8 { bytes } else { bytes / stride };
    let base = buffer.address();
    [base as u32, (base >> 32) as u32 | stride << 16, records, SELECTS | FLOAT | FORMAT_32_32_32_32]
}

/// Columns and rows of the texture.
pub const TEXTURE: usize = 64;

/// A texel of the texture: a board of eight by eight squares with a hole.
pub fn texel(x: usize, y: usize) -> [u8; 4] {
    let from_middle = |at: usize| (2 * at as i32 + 1 - TEXTURE as i32).pow(2);
    let hole = from_middle(x) + from_middle(y) < 26 * 26;
    let [r, g, b] = if (x / 8 + y / 8).is_multiple_of(2) { [250, 240, 220] } else { [90, 60, 110] };
    [r, g, b, if hole { 0 } else { 255 }]
}

/// A texture on a device: the memory, and the T# and S# that a pixel shader wants.
pub struct Texture {
    _memory: Buffer<u8>,
    descriptors: Vec<u32>,
}

/// The texture with this many levels, each with the averages of the one before.
fn texture(device: &Device, generation: Gen, levels: u32) -> Result<Texture, Error> {
    const DATA_8_8_8_8: u8 = 10;
    const UNORM: u8 = 0;
    let format = Format::new(DATA_8_8_8_8, UNORM, generation).expect("a format of all generations");
    let shape = Shape { levels, ..Shape::plane(format, TEXTURE as u32, TEXTURE as u32) };
    let at = |base: u64| Image::new(generation, base, &shape).expect("a linear image at a multiple of 256");
    let memory = device.buffer::<u8>(at(0).bytes() as usize + 255)?;
    let base = memory.address().next_multiple_of(256);
    let image = at(base);
    let mut texels: Vec<[u8; 4]> = (0..TEXTURE * TEXTURE).map(|at| texel(at % TEXTURE, at / TEXTURE)).collect();
    for level in 0..levels {
        let size = TEXTURE >> level;
        for (at, bytes) in texels.iter().enumerate() {
            let (x, y) = ((at % size) as u32, (at / size) as u32);
            let address = image.address(Texel { x, y, z: 0, level, sample: 0 });
            memory.write_at((address - memory.address()) as usize, bytes);
        }
        texels = halved(&texels, size);
    }
    let last = if levels > 1 { MipFilter::Linear } else { MipFilter::None };
    let (filter, max_lod) = (XyFilter::Bilinear, 256 * (levels as u16 - 1));
    let sampler = Sampler { mag_filter: filter, min_filter: filter, mip_filter: last, max_lod, ..Sampler::default() };
    let descriptors = image.encode().into_iter().chain(sampler.encode(generation)).collect();
    Ok(Texture { _memory: memory, descriptors })
}

/// The next level of a square one.
fn halved(texels: &[[u8; 4]], size: usize) -> Vec<[u8; 4]> {
    let half = size / 2;
    let average = |at: usize| {
        let first = at / half * 2 * size + at % half * 2;
        let four = [first, first + 1, first + size, first + size + 1].map(|at| texels[at]);
        std::array::from_fn(|c| (four.iter().map(|texel| u32::from(texel[c])).sum::<u32>() / 4) as u8)
    };
    (0..half * half).map(average).collect()
}

/// Draws the scene with the shaders of a file, whose pixel shader wants a texture with so many levels, or none.
///
/// # Errors
/// Those of loading and launching.
pub fn render(
    device: &Device,
    file: &str,
    engine: Engine,
    [width, height]: [usize; 2],
    levels: Option<u32>,
) -> Result<Frame, Error> {
    let module = Module::open(device, file)?;
    let pipeline = Pipeline::new(&module, engine)?;
    let generation = module.target().generation();
    let texture = levels.map(|levels| texture(device, generation, levels)).transpose()?;
    let pixel_sgprs = texture.as_ref().map_or(&[][..], |texture| &texture.descriptors);
    let mut frame = Frame::new(width, height, SKY);
    draw(device, &mut frame, &pipeline, generation, objects(width, height), pixel_sgprs)?;
    Ok(frame)
}

/// Draws objects, whose vertices the matrices take to the screen, with the vertex shader of `kernels/graphics/scene.ll`.
///
/// # Errors
/// Those of launching, and of memory.
pub fn draw(
    device: &Device,
    frame: &mut Frame,
    pipeline: &Pipeline,
    generation: Gen,
    objects: impl IntoIterator<Item = (Vec<Vertex>, Matrix)>,
    pixel_sgprs: &[u32],
) -> Result<(), Error> {
    for (vertices, matrix) in objects {
        let buffer = device.buffer_from(vertices.as_flattened())?;
        let matrix = device.buffer_from(matrix.as_flattened())?;
        let address = [matrix.address() as u32, (matrix.address() >> 32) as u32];
        let vertex_sgprs: Vec<u32> =
            resource(&buffer, 32, generation == Gen::Gfx8).into_iter().chain(address).collect();
        let (vertices, parameters) = (vertices.len(), 2);
        frame.draw(pipeline, &Draw { vertex_sgprs: &vertex_sgprs, pixel_sgprs, vertices, parameters })?;
    }
    Ok(())
}
