//! Images that instructions are aimed at: resources that mostly describe an image inside of a memory, samplers, and
//! addresses that mostly hit it.
//!
//! Some resources are damaged, some coordinates are any bits: both engines must come to the same result or fault.

use crate::random::Random;
use gcnjit_isa::image::flag;
use gcnjit_isa::{Gen, ImageLevel, ImageShape, ImageWork, Inst, Mimg};
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::{Dim, Format, Image, MicroTile, Swizzle, Tiling};
use gcnjit_rt::{LANES, Row};
use half::f16;

/// The shape of image that takes the longest addresses.
pub const LONGEST: ImageShape = ImageShape { coordinates: 3, slice: false, fragment: true };

/// Where an image is to be.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Whose descriptors.
    pub generation: Gen,
    /// Bytes that there are.
    pub bytes: u64,
}

/// A resource whose base is 0, and the image that it was made for: mostly that it describes.
pub fn resource(random: &mut Random, op: Mimg, inst: &Inst, target: Target) -> ([u32; 8], Image) {
    let mut image = drawn(random, op, inst, target);
    if random.once_in(4) {
        image.base_level = random.below(u64::from(image.last_level) + 1) as u32;
        image.base_array = random.below(u64::from(image.last_array) + 1) as u32;
        image.selects = [0; 4].map(|_| random.pick(&[0, 1, 4, 5, 6, 7]));
        image.min_lod = random.below(1 << 12) as u32;
    }
    let mut words = image.encode();
    if random.once_in(48) {
        let word = random.below(8) as usize;
        words[word] = match random.below(3) {
            0 => random.dword(),
            _ => words[word] ^ 1 << random.below(32),
        };
    }
    (words, image)
}

/// An image that fits, of a dimension and format that suit the instruction: eventually a single byte.
fn drawn(random: &mut Random, op: Mimg, inst: &Inst, target: Target) -> Image {
    for _ in 0..200 {
        let Some(format) = format(random, op, inst, target.generation) else { continue };
        let shape = shape(random, inst, op.form().samples(), format, target.generation);
        if let Ok(image) = Image::new(target.generation, 0, &shape)
            && image.bytes() <= target.bytes
        {
            return image;
        }
    }
    let byte =
        Format::new(1, 4, target.generation).and_then(|byte| Image::new(target.generation, 0, &Shape::row(byte, 1)));
    byte.expect("a row of one byte is an image on every generation")
}

fn format(random: &mut Random, op: Mimg, inst: &Inst, generation: Gen) -> Option<Format> {
    let work = op.form().work;
    let any = random.once_in(48);
    let (data, number) = match work {
        ImageWork::Atomic if !any => {
            let two = inst.op.info().name.ends_with("cmpswap");
            let wide = inst.mem().dmask.count_ones() > if two { 2 } else { 1 };
            (if wide { 11 } else { random.pick(&[4, 10]) }, 4)
        }
        ImageWork::Store if !any => {
            (random.pick(&[1, 2, 3, 4, 5, 9, 10, 11, 12, 14, 16]), random.pick(&[0, 1, 4, 5, 7]))
        }
        _ if random.once_in(2) => (random.pick(&[1, 2, 4, 5, 10, 12, 14]), random.pick(&[0, 0, 1, 4, 5, 7, 7, 9])),
        _ => (random.below(61) as u8, random.below(10) as u8),
    };
    Format::new(data, number, generation).ok()
}

fn shape(random: &mut Random, inst: &Inst, samples: bool, format: Format, generation: Gen) -> Shape {
    let array = inst.mem().flags & flag::ARRAY != 0;
    let dims: &[Dim] = match array {
        true => &[Dim::D2Array, Dim::D2Array, Dim::Cube, Dim::D1Array, Dim::D2MsaaArray, Dim::D2],
        false => &[Dim::D2, Dim::D2, Dim::D2, Dim::D1, Dim::D3, Dim::D2Msaa, Dim::D2Array],
    };
    let mut dim = random.pick(dims);
    // Samples can't be filtered.
    if samples && dim.is_msaa() && !random.once_in(16) {
        dim = Dim::D2;
    }
    let mut side = || 1 + random.below(12) as u32;
    let (width, height, depth, layers) = (side(), side(), side(), side());
    let height = if dim == Dim::Cube { width } else { height };
    let most = if dim.is_msaa() { 1 } else { width.max(height).ilog2() + 1 };
    Shape {
        dim,
        format,
        width,
        height: if dim.has_rows() { height } else { 1 },
        depth: if dim == Dim::D3 { depth.min(4) } else { 1 },
        layers: match dim {
            Dim::Cube => 6 * layers.min(2),
            _ if dim.has_slices() => layers.min(4),
            _ => 1,
        },
        levels: if random.once_in(2) { 1 } else { 1 + random.below(most.into()) as u32 },
        samples: if dim.is_msaa() { random.pick(&[2, 4]) } else { 1 },
        tiling: tiling(random, generation),
        pitch: None,
    }
}

fn tiling(random: &mut Random, generation: Gen) -> Tiling {
    let micro = [MicroTile::Display, MicroTile::Thin, MicroTile::Depth, MicroTile::Rotated].map(Tiling::Micro);
    let thick = [MicroTile::Thin, MicroTile::Thick].map(Tiling::MicroThick);
    let blocks = [Swizzle::Z, Swizzle::S, Swizzle::D, Swizzle::R];
    match (random.below(8), generation) {
        (0..4, _) => Tiling::Linear,
        (4..6, Gen::Gfx9) => Tiling::Block256(random.pick(&blocks)),
        (_, Gen::Gfx9) => Tiling::Block4K(random.pick(&blocks)),
        (4, _) => Tiling::LinearGeneral,
        (5, _) => random.pick(&thick),
        _ => random.pick(&micro),
    }
}

/// A sampler, all of whose bits are random but for those that would mostly make everything the same.
pub fn sampler(random: &mut Random) -> [u32; 4] {
    let mut words = [0; 4].map(|_| random.next() as u32);
    // Degamma is not for all formats.
    if !random.once_in(16) {
        words[0] &= !(1 << 20);
    }
    // Unnormalised coordinates now and then.
    if !random.once_in(4) {
        words[0] &= !(1 << 15);
    }
    // All levels, and no bias.
    if random.once_in(2) {
        words[1] = words[1] & !0x00ff_ffff | 0x00ff_f000;
        words[2] &= !0x000f_ffff;
    }
    // Colours in a table are refused.
    if !random.once_in(48) {
        words[3] &= !(1 << 30);
    }
    words
}

/// The rows of an address.
pub fn address(random: &mut Random, op: Mimg, inst: &Inst, image: &Image) -> Vec<Row> {
    let (form, flags) = (op.form(), inst.mem().flags);
    let array = flags & flag::ARRAY != 0;
    let a16 = image.generation == Gen::Gfx9 && flags & flag::A16 != 0;
    let coordinates = if image.dim == Dim::D3 { 3 } else { 1 + u32::from(image.dim.has_rows()) };
    let shape = ImageShape { coordinates, slice: array && image.dim != Dim::D3, fragment: image.dim.is_msaa() };
    let mut rows = vec![[0; LANES]; form.address_dwords(shape, a16) as usize];
    let near = random.once_in(2);
    for lane in 0..LANES {
        let mut values = Values { random, lane, rows: &mut rows, next: 0, a16 };
        if form.offset {
            let offset = values.random.next() as u32 & if near { 0 } else { 0x003f_3f3f };
            values.dword(offset);
        }
        if form.bias {
            let bias = values.float(2.0);
            values.part(&[bias], true);
        }
        if form.compare {
            let compare = values.float(1.0);
            values.dword(compare.to_bits());
        }
        if form.level == ImageLevel::Derivatives {
            for _ in 0..2 {
                let slopes: Vec<f32> = (0..coordinates).map(|_| values.float(0.5)).collect();
                values.part(&slopes, true);
            }
        }
        let body = body(&mut values, form.samples(), image, shape, flags & flag::UNORM != 0, near);
        let count = form.body(shape) as usize;
        let last = if form.samples() { values.float(4.0) } else { values.integer(image.last_level) as f32 };
        let mut all: Vec<f32> = body.into_iter().chain([last]).collect();
        if form.work == ImageWork::ResInfo {
            all = vec![last];
        }
        all.truncate(count);
        values.part(&all, form.samples());
    }
    rows
}

/// The coordinates, slice and fragment of a lane.
fn body(values: &mut Values<'_>, samples: bool, image: &Image, shape: ImageShape, unorm: bool, near: bool) -> Vec<f32> {
    let size = image.size(0);
    let mut body = Vec::new();
    for side in size.into_iter().take(shape.coordinates as usize) {
        let along = f32::from(values.lane as u16 % 8) / 8.0;
        body.push(match (samples, near) {
            (false, _) => values.integer(side - 1) as f32,
            (true, true) => along * if unorm { side as f32 } else { 1.0 },
            (true, false) => values.float(if unorm { 2.0 * side as f32 } else { 2.0 }),
        });
    }
    if shape.slice {
        let last = if image.dim == Dim::Cube { 13 } else { image.layers() - 1 };
        body.push(values.integer(last) as f32);
    }
    if shape.fragment && !samples {
        body.push(values.integer(image.samples - 1) as f32);
    }
    body
}

/// A lane's registers, being filled.
struct Values<'a> {
    random: &'a mut Random,
    lane: usize,
    rows: &'a mut Vec<Row>,
    next: usize,
    a16: bool,
}

impl Values<'_> {
    /// A number up to `last`, now and then beyond.
    fn integer(&mut self, last: u32) -> u32 {
        if self.random.once_in(64) { last + 1 } else { self.random.below(u64::from(last) + 1) as u32 }
    }

    /// A number between ±`limit`, now and then any float.
    fn float(&mut self, limit: f32) -> f32 {
        match self.random.below(16) {
            0 => f32::from_bits(self.random.dword()),
            _ => (self.random.below(513) as f32 / 256.0 - 1.0) * limit,
        }
    }

    fn dword(&mut self, bits: u32) {
        if let Some(row) = self.rows.get_mut(self.next) {
            row[self.lane] = bits;
        }
        self.next += 1;
    }

    /// Values that begin in a dword of their own, as floats or as integers (now and then any).
    fn part(&mut self, values: &[f32], floats: bool) {
        let a16 = self.a16;
        let bits = |value: f32| match (floats, a16) {
            (true, true) => f16::from_f32(value).to_bits().into(),
            (true, false) => value.to_bits(),
            (false, _) => value as u32,
        };
        let wild = !floats && self.random.once_in(256);
        let any = self.random.dword();
        let values: Vec<u32> = values.iter().map(|value| if wild { any } else { bits(*value) }).collect();
        if self.a16 {
            for pair in values.chunks(2) {
                self.dword(pair[0] & 0xffff | pair.get(1).map_or(0, |high| high << 16));
            }
        } else {
            values.into_iter().for_each(|value| self.dword(value));
        }
    }
}
