//! A small rasteriser: what of a GPU's fixed functions lies around vertex and pixel shaders.
//!
//! [`Frame::draw`] runs the vertex shader over a list of triangles, finds the quads of pixels that they touch, gives the
//! pixel shader barycentric coordinates and vertex parameters of sixteen quads a wave, and puts what it exports into the
//! frame, where nothing nearer is. Triangles that reach behind the eye are left out: nothing is clipped.

use gcnjit::rt::code_object::{PixelInput, Stage};
use gcnjit::rt::export::Target;
use gcnjit::rt::parameter::{self, Area};
use gcnjit::{Engine, Error, Export, ExportSink, Kernel, Message, Module, ShaderWave};
use half::f16;

/// Lanes of a wave.
const LANES: usize = 64;
/// Quads of a wave.
const QUADS: usize = 16;
/// Fractions of a pixel that vertices are rounded to.
const SUBPIXELS: f64 = 256.0;

/// A picture with a depth buffer.
pub struct Frame {
    /// Columns.
    pub width: usize,
    /// Rows, the topmost first.
    pub height: usize,
    /// Red, green, blue and alpha of each pixel.
    pub colour: Vec<[f32; 4]>,
    /// Depth of each pixel, 0 next to the eye.
    pub depth: Vec<f32>,
}

/// What to draw with.
pub struct Pipeline {
    vertex: Kernel,
    pixel: Kernel,
    engine: Engine,
}

/// What to draw.
pub struct Draw<'a> {
    /// The vertex shader's first SGPRs.
    pub vertex_sgprs: &'a [u32],
    /// The pixel shader's; what M0 has to be follows.
    pub pixel_sgprs: &'a [u32],
    /// Vertices, three a triangle.
    pub vertices: usize,
    /// Parameters that the vertex shader exports.
    pub parameters: usize,
}

impl Pipeline {
    /// The shaders of a module with one vertex and one pixel shader.
    ///
    /// # Errors
    /// [`Error::Load`] if there are none.
    pub fn new(module: &Module, engine: Engine) -> Result<Pipeline, Error> {
        let image = module.image();
        let named = |stage: Stage| {
            let of = |code: &gcnjit::rt::KernelCode| code.shader.as_ref().is_some_and(|shader| shader.stage == stage);
            image.kernels.values().find(|code| of(code)).map_or("", |code| code.name.as_str())
        };
        let (vertex, pixel) = (module.kernel(named(Stage::Vs))?, module.kernel(named(Stage::Ps))?);
        Ok(Pipeline { vertex, pixel, engine })
    }
}

/// What the vertex shader made of a vertex.
#[derive(Clone, Default)]
struct Vertex {
    position: [f32; 4],
    parameters: Vec<[f32; 4]>,
}

/// Gets vertices.
struct Vertices(Vec<Vertex>);

impl ExportSink for Vertices {
    fn export(&mut self, export: &Export) {
        let first = export.wave as usize * LANES;
        for lane in (0..LANES).filter(|lane| export.lanes >> lane & 1 != 0) {
            let vertex = &mut self.0[first + lane];
            let to = match export.target {
                Target::Position(0) => &mut vertex.position,
                Target::Parameter(number) => &mut vertex.parameters[usize::from(number)],
                _ => continue,
            };
            for (channel, to) in to.iter_mut().enumerate() {
                *to = export.channel(lane, channel).map_or(*to, f32::from_bits);
            }
        }
    }

    fn message(&mut self, _: &Message) {}
}

/// A vertex on the screen.
#[derive(Clone, Copy)]
struct Corner {
    /// In fractions of a pixel.
    x: i64,
    y: i64,
    depth: f64,
    /// One by w.
    reciprocal: f64,
}

/// Four pixels next to each other that a triangle touches.
struct Quad {
    triangle: usize,
    x: usize,
    y: usize,
    /// The pixels that are in the triangle.
    covered: u64,
    i: [f32; 4],
    j: [f32; 4],
    depth: [f32; 4],
}

impl Frame {
    /// A frame of one colour. Sizes are even.
    pub fn new(width: usize, height: usize, colour: [f32; 4]) -> Frame {
        Frame { width, height, colour: vec![colour; width * height], depth: vec![1.0; width * height] }
    }

    /// Draws triangles.
    ///
    /// # Errors
    /// Those of the shaders' launches.
    pub fn draw(&mut self, pipeline: &Pipeline, draw: &Draw<'_>) -> Result<(), Error> {
        let vertices = vertices(pipeline, draw)?;
        let triangles = vertices.chunks_exact(3).enumerate();
        let quads: Vec<Quad> = triangles.flat_map(|(number, corners)| self.quads(number, corners)).collect();
        let waves = quads.chunks(QUADS).map(|quads| wave(pipeline, draw, &vertices, quads));
        let launch = pipeline.pixel.shade().engine(pipeline.engine).waves(waves);
        launch.run(&mut Pixels { frame: self, quads: &quads, colour: [[0.0; 4]; LANES] })?;
        Ok(())
    }

    /// The quads of a triangle.
    fn quads(&self, triangle: usize, corners: &[Vertex]) -> Vec<Quad> {
        if corners.iter().any(|corner| corner.position[3] <= 0.0) {
            return Vec::new();
        }
        let corners = [0, 1, 2].map(|k| self.corner(&corners[k]));
        let [a, b, c] = corners;
        let area = edge(a, b, c.x, c.y);
        if area == 0 {
            return Vec::new();
        }
        let range = |low: i64, high: i64, size: usize| {
            let pixel = |at: i64| (at as f64 / SUBPIXELS).floor().clamp(0.0, size as f64) as usize;
            (pixel(low) & !1..pixel(high) + 1).step_by(2).filter(move |at| *at < size)
        };
        let [xs, ys] = [corners.map(|corner| corner.x), corners.map(|corner| corner.y)];
        let least = |at: [i64; 3]| at.into_iter().min().unwrap_or(0);
        let most = |at: [i64; 3]| at.into_iter().max().unwrap_or(0);
        let mut quads = Vec::new();
        for y in range(least(ys), most(ys), self.height) {
            for x in range(least(xs), most(xs), self.width) {
                quads.push(quad(triangle, corners, area, x, y));
            }
        }
        quads.retain(|quad| quad.covered != 0);
        quads
    }

    fn corner(&self, vertex: &Vertex) -> Corner {
        let [x, y, z, w] = vertex.position.map(f64::from);
        let fixed = |at: f64| (at.clamp(-1e6, 1e6) * SUBPIXELS).round() as i64;
        Corner {
            x: fixed((x / w * 0.5 + 0.5) * self.width as f64),
            y: fixed((0.5 - y / w * 0.5) * self.height as f64),
            depth: z / w,
            reciprocal: 1.0 / w,
        }
    }
}

/// Runs the vertex shader.
fn vertices(pipeline: &Pipeline, draw: &Draw<'_>) -> Result<Vec<Vertex>, Error> {
    let waves = (0..draw.vertices).step_by(LANES).map(|first| ShaderWave {
        sgprs: draw.vertex_sgprs.to_vec(),
        vgprs: vec![std::array::from_fn(|lane| (first + lane) as u32)],
        exec: u64::MAX >> (LANES - (draw.vertices - first).min(LANES)),
        ..ShaderWave::default()
    });
    let vertex = Vertex { position: [0.0; 4], parameters: vec![[0.0; 4]; draw.parameters] };
    let mut vertices = Vertices(vec![vertex; draw.vertices]);
    pipeline.vertex.shade().engine(pipeline.engine).waves(waves).run(&mut vertices)?;
    Ok(vertices.0)
}

/// Twice the area of a triangle of an edge and a point.
fn edge(a: Corner, b: Corner, x: i64, y: i64) -> i64 {
    (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)
}

/// Whether pixels on an edge belong to the triangle on its positive side: if it is a top or a left one.
fn is_closed(a: Corner, b: Corner) -> bool {
    b.y < a.y || b.y == a.y && b.x > a.x
}

/// The quad at a pixel: coverage, and what is interpolated.
fn quad(triangle: usize, corners: [Corner; 3], area: i64, x: usize, y: usize) -> Quad {
    let mut quad = Quad { triangle, x, y, covered: 0, i: [0.0; 4], j: [0.0; 4], depth: [0.0; 4] };
    for pixel in 0..4 {
        let center = |at: usize| (at as f64 * SUBPIXELS + SUBPIXELS / 2.0) as i64;
        let (x, y) = (center(x + pixel % 2), center(y + pixel / 2));
        let mut inside = true;
        let mut parts = [0.0; 3];
        for (k, part) in parts.iter_mut().enumerate() {
            let (a, b) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let (a, b, value) = if area > 0 { (a, b, edge(a, b, x, y)) } else { (b, a, edge(b, a, x, y)) };
            inside &= value > 0 || value == 0 && is_closed(a, b);
            *part = value as f64 / area.abs() as f64;
        }
        let perspective: [f64; 3] = std::array::from_fn(|k| parts[k] * corners[k].reciprocal);
        let sum: f64 = perspective.iter().sum();
        quad.covered |= u64::from(inside) << pixel;
        quad.i[pixel] = (perspective[1] / sum) as f32;
        quad.j[pixel] = (perspective[2] / sum) as f32;
        quad.depth[pixel] = (0..3).map(|k| parts[k] * corners[k].depth).sum::<f64>() as f32;
    }
    quad
}

/// A wave of up to sixteen quads, of as many triangles: parameters in LDS, barycentric coordinates in VGPRs.
fn wave(pipeline: &Pipeline, draw: &Draw<'_>, vertices: &[Vertex], quads: &[Quad]) -> ShaderWave {
    let mut triangles: Vec<usize> = quads.iter().map(|quad| quad.triangle).collect();
    triangles.dedup();
    let begins = (1..quads.len()).filter(|q| quads[*q].triangle != quads[*q - 1].triangle);
    let area = Area::new(0, begins.fold(0, |mask, q| mask | 1 << q));
    let value = |primitive: usize, attribute: usize, channel: usize| {
        [0, 1, 2].map(|k| vertices[3 * triangles[primitive] + k].parameters[attribute][channel])
    };
    let lds = parameter::lay_out(triangles.len(), draw.parameters, value);
    let row = |of: fn(&Quad) -> [f32; 4]| {
        std::array::from_fn(|lane| quads.get(lane / 4).map_or(0, |quad| of(quad)[lane % 4].to_bits()))
    };
    let code = pipeline.pixel.code().shader.as_ref();
    let place = code.and_then(|code| code.pixel_input(PixelInput::PerspCenter)).unwrap_or(0);
    let mut vgprs = vec![[0; LANES]; place];
    vgprs.extend([row(|quad| quad.i), row(|quad| quad.j)]);
    let exec = quads.iter().enumerate().fold(0, |mask, (q, quad)| mask | quad.covered << (4 * q));
    let sgprs = draw.pixel_sgprs.iter().copied().chain([area.0]).collect();
    ShaderWave { sgprs, vgprs, exec, m0: 0, lds }
}

/// Gets pixels.
struct Pixels<'a> {
    frame: &'a mut Frame,
    quads: &'a [Quad],
    /// Of the lanes of the wave in hand.
    colour: [[f32; 4]; LANES],
}

impl ExportSink for Pixels<'_> {
    fn export(&mut self, export: &Export) {
        let value = |bits: u32| match export.compressed {
            true => f16::from_bits(bits as u16).to_f32(),
            false => f32::from_bits(bits),
        };
        if export.target == Target::Mrt(0) {
            for (lane, colour) in self.colour.iter_mut().enumerate() {
                *colour = std::array::from_fn(|channel| export.channel(lane, channel).map_or(0.0, value));
            }
        }
        if export.done && export.valid_mask {
            let lanes = (0..LANES).filter(|lane| export.lanes >> lane & 1 != 0);
            lanes.for_each(|lane| self.put(export.wave as usize * QUADS + lane / 4, lane));
        }
    }

    fn message(&mut self, _: &Message) {}
}

impl Pixels<'_> {
    /// A lane's pixel, if nothing is nearer.
    fn put(&mut self, quad: usize, lane: usize) {
        let (quad, pixel) = (&self.quads[quad], lane % 4);
        let at = (quad.y + pixel / 2) * self.frame.width + quad.x + pixel % 2;
        let depth = quad.depth[pixel];
        if (0.0..self.frame.depth[at]).contains(&depth) {
            self.frame.depth[at] = depth;
            self.frame.colour[at] = self.colour[lane];
        }
    }
}
