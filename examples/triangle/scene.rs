//! What there is to see: a triangle that lies on the ground, and a cube above it.

use crate::raster::{Draw, Frame, Pipeline};
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

/// Draws the scene with the shaders of a file. `texture` is what the pixel shader has before M0: a T# and an S#, or
/// nothing.
///
/// # Errors
/// Those of loading and launching.
pub fn render(
    device: &Device,
    file: &str,
    engine: Engine,
    [width, height]: [usize; 2],
    texture: &[u32],
) -> Result<Frame, Error> {
    let module = Module::open(device, file)?;
    let pipeline = Pipeline::new(&module, engine)?;
    let gfx8 = module.target().generation() == gcnjit::isa::Gen::Gfx8;
    let mut frame = Frame::new(width, height, SKY);
    for (vertices, matrix) in objects(width, height) {
        let (buffer, matrix) =
            (device.buffer_from(vertices.as_flattened())?, device.buffer_from(matrix.as_flattened())?);
        let address = [matrix.address() as u32, (matrix.address() >> 32) as u32];
        let vertex_sgprs: Vec<u32> = resource(&buffer, 32, gfx8).into_iter().chain(address).collect();
        let (vertices, parameters) = (vertices.len(), 2);
        frame.draw(&pipeline, &Draw { vertex_sgprs: &vertex_sgprs, pixel_sgprs: texture, vertices, parameters })?;
    }
    Ok(frame)
}
