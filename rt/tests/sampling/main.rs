//! The sampler against a second one ([`reference`]) and against cases worked out by hand.
//!
//! What may differ: weights are multiples of 1/256 there and exact here, so that a result may be off by the range of
//! the image's texels times 1/512 for every axis and for the blend of levels. Where positions and levels are multiples
//! of 1/256 nothing but the last rounding to f32 may differ.

mod cases;
mod cubes;
mod hostile;
mod levels;
mod planes;
mod reference;

use gcnjit_isa::Gen;
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::lod::Detail;
use gcnjit_rt::image::sample::{Request, sample};
use gcnjit_rt::image::sampler::{Sampler, XyFilter};
use gcnjit_rt::image::{Dim, Format, Image, Texel, Unsupported};
use reference::{Color, Level};

/// An image and what its texels are, without memory.
struct Picture {
    image: Image,
    levels: Vec<Level>,
}

/// Numbers that look random: xorshift.
struct Noise(u64);

impl Noise {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    /// True one time in `n`.
    fn one_in(&mut self, n: u32) -> bool {
        self.bits().is_multiple_of(n)
    }

    /// From −1 to 1, in steps of 2^-15, so that f32 holds it.
    fn number(&mut self) -> f64 {
        f64::from(self.bits() as u16 as i16) / 32768.0
    }
}

/// 32_32_32_32 float.
fn floats() -> Format {
    Format::new(14, 7, Gen::Gfx9).unwrap()
}

impl Picture {
    /// With texels from −1 to 1.
    fn new(shape: Shape) -> Picture {
        let image = Image::new(Gen::Gfx9, 0, &shape).unwrap();
        let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
        let levels = (0..shape.levels)
            .map(|level| {
                let [width, height, depth] = image.size(level).map(i64::from);
                let slices = if shape.dim == Dim::D3 { depth } else { shape.layers.into() };
                let texels = (0..width * height * slices).map(|_| std::array::from_fn(|_| noise.number())).collect();
                Level { size: [width, height, slices], texels }
            })
            .collect();
        Picture { image, levels }
    }

    fn fetch(&self, texel: Texel) -> Color {
        let level = &self.levels[texel.level as usize];
        let [width, height, slices] = level.size.map(|size| size as u32);
        assert!(texel.x < width && texel.y < height && texel.z < slices, "{texel:?}");
        level.texels[((texel.z * height + texel.y) * width + texel.x) as usize]
    }

    /// What the sampler under test makes of it.
    fn sample(&self, sampler: &Sampler, request: &Request) -> Color {
        let fetch = &mut |texel| Ok::<_, Unsupported>(self.fetch(texel).map(|x| (x as f32).to_bits()));
        sample(&self.image, sampler, request, fetch).unwrap().map(|bits| f32::from_bits(bits).into())
    }
}

/// A sampler with one filter in x, y and z.
fn sampler(linear: bool) -> Sampler {
    let filter = if linear { XyFilter::Bilinear } else { XyFilter::Point };
    Sampler { mag_filter: filter, min_filter: filter, trunc_coord: true, max_lod: 4095, ..Sampler::default() }
}

/// A request at level 0.
fn at(coordinates: [f32; 3]) -> Request {
    Request {
        coordinates,
        slice: 0.0,
        offset: [0; 3],
        detail: Detail::Zero,
        min_lod: 0.0,
        unnormalized: false,
        reference: None,
    }
}

/// Fails unless no component is further away than `bound`.
#[track_caller]
fn close(got: Color, want: Color, bound: f64, what: &dyn std::fmt::Debug) {
    let error = (0..4).map(|c| (got[c] - want[c]).abs()).fold(0.0, f64::max);
    assert!(error <= bound, "{got:?} for {want:?}: off by {error}, bound {bound}, {what:?}");
}

/// The last rounding, of numbers up to 1.
const ROUNDING: f64 = 6e-8;
