//! Level of detail: how large a pixel is in texels, and which levels that selects.
//!
//! The level is the binary logarithm of the longer of the two footprints' sides in texels of the base level, plus the
//! biases, as the Vulkan specification has it (Image Level-of-Detail Operation), rounded to 1/256 and then clamped. With
//! an anisotropic filter it is that of the longer side divided by the sides' ratio, and as many points as the ratio are
//! spread over the longer side.
//!
//! NaN as a derivative, bias or level counts as 0; infinite derivatives as 10^30. A footprint without extent has a level
//! of −4096.

use super::sample::Request;
use super::sampler::{MipFilter, Sampler};
use super::wrap::{finite, nearest_integer};
use super::{Dim, Image};
use crate::math::log_f32;

/// Levels in 256ths are kept within ±this.
const LIMIT: f64 = (4096 * 256) as f64;

/// Derivatives are kept within ±this, so that squares stay finite.
const STEEP: f64 = 1e30;

/// How coordinates change from a pixel to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gradients {
    /// To the right: of x, y and z.
    pub horizontal: [f64; 3],
    /// Downwards.
    pub vertical: [f64; 3],
}

impl Gradients {
    /// What an instruction is given.
    #[inline]
    pub fn new(horizontal: [f32; 3], vertical: [f32; 3]) -> Gradients {
        Gradients { horizontal: horizontal.map(f64::from), vertical: vertical.map(f64::from) }
    }

    /// From the coordinates of a quad: four consecutive lanes, the upper left, upper right, lower left and lower right
    /// pixel. All four share the differences from the upper left one.
    pub fn of_quad([origin, right, below, _]: [[f32; 3]; 4]) -> Gradients {
        let difference = |to: [f32; 3]| std::array::from_fn(|i| f64::from(to[i]) - f64::from(origin[i]));
        Gradients { horizontal: difference(right), vertical: difference(below) }
    }
}

/// Where the level of detail comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail {
    /// It is 0, without bias (`_lz`).
    Zero,
    /// It is given (`_l`); the sampler's bias is added.
    Given(f32),
    /// It follows from derivatives, given or those of the quad; the sampler's bias and the instruction's are added.
    Footprint {
        /// The derivatives, in units of the coordinates.
        gradients: Gradients,
        /// The instruction's bias (`_b`), or 0.
        bias: f32,
    },
}

/// A level of detail.
#[derive(Clone, Copy, Debug)]
pub struct Lod {
    /// Before it is clamped, in 256ths, relative to the base level.
    pub raw: i32,
    /// After.
    pub clamped: i32,
    /// What a filter that takes the nearest level rounds down.
    rounded: i32,
    /// Points of an anisotropic filter; 1 for others.
    pub points: u32,
    /// The side of the footprint on which they lie, in units of the coordinates.
    side: [f64; 3],
}

/// A level, relative to the base level, and its share of 256.
pub type Share = (u32, u32);

impl Lod {
    /// What `request` asks for as far as a sample depends on it: 0 where it does not.
    #[inline]
    pub fn needed(image: &Image, sampler: &Sampler, request: &Request) -> Lod {
        let levels = sampler.mip_filter != MipFilter::None && image.last_level > image.base_level;
        if levels || sampler.mag_filter != sampler.min_filter || sampler.mag_filter.is_aniso() {
            return Lod::of(image, sampler, request);
        }
        Lod { raw: 0, clamped: 0, rounded: 0, points: 1, side: [0.0; 3] }
    }

    /// What `request` asks for.
    pub fn of(image: &Image, sampler: &Sampler, request: &Request) -> Lod {
        let bias = f64::from(sampler.lod_bias) / 256.0;
        let one_point = |level: f64| Measure { level, points: 1, side: [0.0; 3] };
        let measure = match &request.detail {
            Detail::Zero => one_point(0.0),
            Detail::Given(level) => one_point(within(f64::from(*level)) + bias),
            Detail::Footprint { gradients, bias: more } => {
                let measure = Measure::of(gradients, &Extent::of(image, sampler, request));
                Measure { level: measure.level + (bias + within(f64::from(*more))), ..measure }
            }
        };
        let raw = in_256ths(measure.level);
        let clamp = |level: i32| clamp(image, sampler, request, level);
        let clamped = clamp(raw);
        let rounded = if sampler.mip_point_preclamp { clamp(raw + 128) } else { clamped + 128 };
        Lod { raw, clamped, rounded, points: measure.points, side: measure.side }
    }

    /// The one or two levels that `filter` takes, of an image whose last level is `last` after its base level.
    #[inline]
    pub fn levels(&self, filter: MipFilter, last: u32) -> [Share; 2] {
        match filter {
            MipFilter::None => [(0, 256), (0, 0)],
            MipFilter::Point | MipFilter::PointAniso => [(((self.rounded >> 8).max(0) as u32).min(last), 256), (0, 0)],
            MipFilter::Linear => {
                let level = (self.clamped.max(0) as u32).min(last << 8);
                let (first, second) = (level >> 8, level & 255);
                [(first, 256 - second), ((first + 1).min(last), second)]
            }
        }
    }

    /// The point with number `i` of the filter around `centre`.
    #[inline]
    pub fn point(&self, centre: [f64; 3], i: u32) -> [f64; 3] {
        if self.points == 1 {
            return centre;
        }
        let along = f64::from(i + 1) / f64::from(self.points + 1) - 0.5;
        std::array::from_fn(|axis| centre[axis] + self.side[axis] * along)
    }
}

/// What the sampler, then the resource and the instruction limit a level to, all in 256ths.
fn clamp(image: &Image, sampler: &Sampler, request: &Request, level: i32) -> i32 {
    // The resource's limit counts from the largest level in memory, levels of detail from the base level.
    let resource = image.min_lod as i32 - (image.base_level << 8) as i32;
    let instruction = in_256ths(within(f64::from(request.min_lod)));
    level.max(sampler.min_lod.into()).min(sampler.max_lod.into()).max(resource).max(instruction)
}

/// A level as a fixed-point number.
fn in_256ths(level: f64) -> i32 {
    nearest_integer((level * 256.0).clamp(-LIMIT, LIMIT)) as i32
}

/// A level or bias that can be calculated with.
fn within(level: f64) -> f64 {
    finite(level).clamp(-LIMIT, LIMIT)
}

/// What derivatives are measured against.
struct Extent {
    /// Texels of the base level for 1 in each coordinate; 0 for coordinates that there aren't.
    scale: [f64; 3],
    /// The most points that a filter may take.
    points: u32,
}

impl Extent {
    fn of(image: &Image, sampler: &Sampler, request: &Request) -> Extent {
        let size = match request.unnormalized || sampler.unnormalized {
            true => [1; 3],
            false => image.size(image.base_level),
        };
        let axes = match image.dim {
            Dim::D1 | Dim::D1Array => 1,
            Dim::D3 => 3,
            _ => 2,
        };
        let single = sampler.aniso_override && image.base_level == image.last_level;
        let aniso = sampler.mag_filter.is_aniso() || sampler.min_filter.is_aniso();
        let points = if aniso && axes == 2 && !single { 1 << sampler.max_aniso_ratio.min(4) } else { 1 };
        Extent { scale: std::array::from_fn(|i| if i < axes { f64::from(size[i]) } else { 0.0 }), points }
    }
}

/// A footprint's level of detail before any bias, and its points.
struct Measure {
    level: f64,
    points: u32,
    side: [f64; 3],
}

impl Measure {
    fn of(gradients: &Gradients, extent: &Extent) -> Measure {
        let clean = |side: [f64; 3]| side.map(|slope| finite(slope).clamp(-STEEP, STEEP));
        let length = |side: [f64; 3]| {
            let texels: [f64; 3] = std::array::from_fn(|i| side[i] * extent.scale[i]);
            texels[0] * texels[0] + texels[1] * texels[1] + texels[2] * texels[2]
        };
        let (horizontal, vertical) = (clean(gradients.horizontal), clean(gradients.vertical));
        let (across, down) = (length(horizontal), length(vertical));
        let (side, long, short) = if across >= down { (horizontal, across, down) } else { (vertical, down, across) };
        if extent.points == 1 || long == 0.0 {
            return Measure { level: half_log2(long), points: 1, side };
        }
        let most = f64::from(extent.points);
        // Squares: of ρmax / ρmin.
        let ratio = (long / short).min(most * most);
        Measure { level: half_log2(long / ratio), points: ratio.sqrt().ceil() as u32, side }
    }
}

/// log2(√x) of a number that is neither negative nor denormal.
fn half_log2(x: f64) -> f64 {
    if x == 0.0 {
        return -LIMIT;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let significand = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    (f64::from(exponent) + f64::from(log_f32(significand as f32, false))) / 2.0
}
