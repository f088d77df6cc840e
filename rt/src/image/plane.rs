//! The commonest sample: between four texels of a two-dimensional image without mip maps, away from its edges.
//!
//! What an instruction asks for is looked at once ([`Plane::of`]), then each lane by itself. The result has the bits of
//! [`sample`](super::sample()), which is there for whatever else may be asked.

use super::sampler::{MipFilter, Reduction, Sampler};
use super::wrap::{WHOLE, pair};
use super::{Dim, Image, Texel};
use crate::math::DEFAULT_NAN;

/// An image and a sampler whose samples are sums of four texels, but for those at edges and on texels' centres.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    image: &'a Image,
    /// What coordinates are multiplied by.
    scale: [f64; 2],
    size: [u32; 2],
}

impl<'a> Plane<'a> {
    /// The plane, if all samples without an offset and a reference value are such. `unnormalized` is the instruction's
    /// UNRM bit.
    pub fn of(image: &'a Image, sampler: &Sampler, unnormalized: bool) -> Option<Plane<'a>> {
        let bilinear = [sampler.mag_filter, sampler.min_filter].iter().all(|xy| xy.is_linear() && !xy.is_aniso());
        let blends = bilinear && sampler.reduction == Reduction::Blend && !image.format.is_integer();
        let one_level = sampler.mip_filter == MipFilter::None;
        let [width, height, _] = image.size(image.base_level);
        let scale = |size: u32| if sampler.unnormalized || unnormalized { 1.0 } else { f64::from(size) };
        let plane = Plane { image, scale: [scale(width), scale(height)], size: [width, height] };
        (image.dim == Dim::D2 && blends && one_level).then_some(plane)
    }

    /// The filtered texel, in the order that the destination selects ask for. `None` if not all of four texels take part.
    ///
    /// # Errors
    /// Those of `fetch`.
    #[inline(always)]
    pub fn sample<E>(
        &self,
        coordinates: [f32; 2],
        fetch: &mut impl FnMut(Texel) -> Result<[u32; 4], E>,
    ) -> Option<Result<[u32; 4], E>> {
        let (x, right) = self.inside(coordinates[0], 0)?;
        let (y, below) = self.inside(coordinates[1], 1)?;
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)];
        let mut texels = [[0; 4]; 4];
        // All are fetched before they are added: what was just written in pieces is not read as a whole.
        for (texel, (column, row)) in texels.iter_mut().zip(corners) {
            let at = Texel { x: x + column, y: y + row, z: 0, level: self.image.base_level, sample: 0 };
            match fetch(at) {
                Ok(fetched) => *texel = fetched,
                Err(error) => return Some(Err(error)),
            }
        }
        let (widths, heights) = ([WHOLE - right, right], [WHOLE - below, below]);
        let mut sum = [0.0f64; 4];
        for (texel, (column, row)) in texels.iter().zip(corners) {
            let share = f64::from(widths[column as usize] * heights[row as usize]);
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += f64::from(f32::from_bits(*component)) * share;
            }
        }
        // A power of two: exact.
        let scale = 1.0 / f64::from(WHOLE * WHOLE);
        let blended = sum.map(|sum| {
            let result = (sum * scale) as f32;
            if result.is_nan() { DEFAULT_NAN.to_bits() } else { result.to_bits() }
        });
        Some(Ok(self.image.select(blended)))
    }

    /// The first of two texels along an axis, and the second one's weight, if both are in the image and take part.
    #[inline(always)]
    fn inside(&self, coordinate: f32, axis: usize) -> Option<(u32, u32)> {
        let position = f64::from(coordinate) * self.scale[axis];
        if !(0.0..f64::from(self.size[axis])).contains(&position) {
            return None;
        }
        let (first, weight) = pair(position);
        let both = first >= 0 && first + 1 < i64::from(self.size[axis]);
        (both && weight != 0).then_some((first as u32, weight))
    }
}
