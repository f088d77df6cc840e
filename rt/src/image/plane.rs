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
    /// What bytes of texels stand for, if these are four of them.
    tables: Option<[&'static [u32; 256]; 4]>,
}

/// Two by two texels, in the order of memory.
struct Square {
    first: [u32; 2],
    /// Of the right and of the lower ones.
    weights: [u32; 2],
}

impl Square {
    /// All are fetched before they are looked at: what was just written in pieces is not read as a whole.
    #[inline(always)]
    fn fetch<T: Copy + Default, E>(
        &self,
        plane: &Plane<'_>,
        fetch: &mut impl FnMut(Texel) -> Result<T, E>,
    ) -> Result<[T; 4], E> {
        let ([x, y], level) = (self.first, plane.image.base_level);
        let mut texels = [T::default(); 4];
        for (texel, (column, row)) in texels.iter_mut().zip([(0, 0), (1, 0), (0, 1), (1, 1)]) {
            *texel = fetch(Texel { x: x + column, y: y + row, z: 0, level, sample: 0 })?;
        }
        Ok(texels)
    }
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
        let tables = image.format.bytes_to_components();
        let plane = Plane { image, scale: [scale(width), scale(height)], size: [width, height], tables };
        (image.dim == Dim::D2 && blends && one_level).then_some(plane)
    }

    /// Whether texels are four normalised bytes, for [`Plane::sample_bytes`].
    pub fn has_bytes(&self) -> bool {
        self.tables.is_some()
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
        let square = self.square(coordinates)?;
        Some(square.fetch(self, fetch).map(|texels| self.blend(&square, |corner, i| texels[corner][i])))
    }

    /// The same of texels of four bytes, which `fetch` gives as they are in memory: their components need not be put
    /// together in the host's memory first. `None` too if texels are something else.
    ///
    /// # Errors
    /// Those of `fetch`.
    #[inline(always)]
    pub fn sample_bytes<E>(
        &self,
        coordinates: [f32; 2],
        fetch: &mut impl FnMut(Texel) -> Result<[u8; 4], E>,
    ) -> Option<Result<[u32; 4], E>> {
        let (tables, square) = (self.tables?, self.square(coordinates)?);
        let component = |texels: [[u8; 4]; 4], corner: usize, i: usize| tables[i][usize::from(texels[corner][i])];
        Some(square.fetch(self, fetch).map(|texels| self.blend(&square, |corner, i| component(texels, corner, i))))
    }

    /// The weighted sum of four texels, of which `component` gives component `i` of the one at a corner.
    #[inline(always)]
    fn blend(&self, square: &Square, component: impl Fn(usize, usize) -> u32) -> [u32; 4] {
        let ([right, below], mut sum) = (square.weights, [0.0f64; 4]);
        let (widths, heights) = ([WHOLE - right, right], [WHOLE - below, below]);
        for corner in 0..4 {
            let share = f64::from(widths[corner % 2] * heights[corner / 2]);
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum += f64::from(f32::from_bits(component(corner, i))) * share;
            }
        }
        // A power of two: exact.
        let scale = 1.0 / f64::from(WHOLE * WHOLE);
        self.image.select(sum.map(|sum| {
            let result = (sum * scale) as f32;
            if result.is_nan() { DEFAULT_NAN.to_bits() } else { result.to_bits() }
        }))
    }

    /// The texels around a place, if there are four.
    #[inline(always)]
    fn square(&self, coordinates: [f32; 2]) -> Option<Square> {
        let ((x, right), (y, below)) = (self.inside(coordinates[0], 0)?, self.inside(coordinates[1], 1)?);
        Some(Square { first: [x, y], weights: [right, below] })
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
