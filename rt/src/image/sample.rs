//! Sampling: what image_sample, image_gather4 and image_get_lod make of a T#, an S# and an address.
//!
//! Pure functions of one lane. Texels, and border colours that are in a table, come from a [`TexelSource`], whose error
//! ends the sample; an image or sampler that can't be sampled is an error before that, by way of `From<Unsupported>`.
//! Any bits of descriptors and addresses have a result, after at most 16 points of 2 levels of 8 texels each (24 at the
//! corners of cubes).
//!
//! The steps, with the module that has each:
//!
//! 1. [`lod`](super::lod): level of detail, magnification or minification, levels, points of an anisotropic filter;
//! 2. `wrap`: per axis, from the coordinate to one or two texels; `cube`: over the edges of cube faces;
//! 3. here: texels, border colours, comparison with a reference value;
//! 4. `filter`: the weighted sum, the least or the largest of them.
//!
//! Floating point: arithmetic in f64 and f32 under the host's default modes (to nearest even, denormals kept), as for
//! [`crate::math`]; no step depends on the host otherwise. Integer formats are never blended: whatever the sampler
//! says, they give the nearest texel of the nearest level.

use super::filter::Filter;
use super::lod::{Detail, Lod};
use super::sampler::{Border, Compare, MipFilter, Reduction, Sampler, ZFilter};
use super::wrap::{Axis, BORDER, Tap, WHOLE, finite, pair};
use super::{Dim, Image, Texel, TexelSource, Unsupported, cube};
use gcnjit_isa::Gen;

/// What an instruction asks of an image, in one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// x, y and z, normalised or in texels; those that the image lacks are ignored. For cubes s and t, from 1 to 2 on a
    /// face, which is what shaders make of v_cubesc, v_cubetc and v_cubema.
    pub coordinates: [f32; 3],
    /// The slice of an array, or 8 · cube + face; ignored for images without slices.
    pub slice: f32,
    /// Texels of whatever level is sampled that are added to the coordinates (`_o`); ignored for cubes.
    pub offset: [i8; 3],
    /// Where the level of detail comes from.
    pub detail: Detail,
    /// The least level of detail (`_cl`); 0 if there is none.
    pub min_lod: f32,
    /// Coordinates count texels, whatever the sampler says (the UNRM bit).
    pub unnormalized: bool,
    /// What texels are compared with (`_c`).
    pub reference: Option<f32>,
}

impl Request {
    /// The offsets in a dword of address: three signed numbers of six bits, a byte each (SI manual 8.2.4).
    pub fn offsets(dword: u32) -> [i8; 3] {
        [0, 8, 16].map(|at| ((dword >> at << 2) as i8) >> 2)
    }
}

/// The image with its texels as `sampler` takes them: unorm for sRGB (FORCE_DEGAMMA), or sRGB for unorm (SKIP_DEGAMMA).
/// This is the image that [`sample`] and the others are to be given, and that texels are to be fetched from.
///
/// # Errors
/// [`Unsupported::Degamma`] for components for which sRGB is not defined.
pub fn sampled(image: Image, sampler: &Sampler) -> Result<Image, Unsupported> {
    let format = if sampler.skip_degamma {
        image.format.without_srgb()
    } else if sampler.force_degamma && image.format.is_unorm() {
        image.format.with_srgb().ok_or(Unsupported::Degamma)?
    } else {
        image.format
    };
    Ok(Image { format, ..image })
}

/// The filtered texel, in the order that the destination selects ask for.
///
/// # Errors
/// Those of `source`; [`Unsupported`] for an image with several samples a texel.
#[inline]
pub fn sample<S: TexelSource>(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    source: &mut S,
) -> Result<[u32; 4], S::Error> {
    check(image)?;
    let lookup = Lookup::new(image, sampler, request);
    let lod = Lod::needed(image, sampler, request);
    let filters = Filters::of(image, sampler, &lod);
    let points = if filters.aniso { lod.points } else { 1 };
    let mut filter = Filter::new(sampler.reduction);
    for &(level, share) in &lod.levels(filters.mip, image.last_level - image.base_level) {
        if share == 0 {
            continue;
        }
        for i in 0..points {
            let centre = if points == 1 { lookup.centre } else { lod.point(lookup.centre, i) };
            let place = lookup.place(image.base_level + level, centre);
            place.blend(&filters, f64::from(share), &mut filter, source)?;
        }
    }
    Ok(image.select(filter.finish()))
}

/// One component of the two by two texels that a bilinear filter would take of the nearest level, from 0 to 3 in the
/// order of the destination selects. The order is that of a walk around them: lower left, lower right, upper right,
/// upper left, where lower has the larger y.
///
/// # Errors
/// As [`sample`]'s.
pub fn gather<S: TexelSource>(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    component: usize,
    source: &mut S,
) -> Result<[u32; 4], S::Error> {
    check(image)?;
    let lookup = Lookup::new(image, sampler, request);
    let place = lookup.nearest_level(request);
    let mut result = [0; 4];
    for (result, (column, row)) in result.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        *result = image.select(place.gathered(column, row, source)?)[component];
    }
    Ok(result)
}

/// All components of `N` texels in a row of the nearest level, the first one being the left one of those that a
/// bilinear filter would take (image_gather4h and its kin).
///
/// # Errors
/// As [`sample`]'s.
pub fn gather_row<const N: usize, S: TexelSource>(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    source: &mut S,
) -> Result<[[u32; 4]; N], S::Error> {
    check(image)?;
    let mut result = [[0; 4]; N];
    for (i, result) in result.iter_mut().enumerate() {
        let mut moved = *request;
        moved.offset[0] = moved.offset[0].saturating_add(i as i8);
        let lookup = Lookup::new(image, sampler, &moved);
        let place = lookup.nearest_level(&moved);
        let [x, _] = place.taps(0, true);
        let [y, _] = place.taps(1, false);
        let [z, _] = place.depth(false);
        *result = place.texel(x.index, y.index, z.index, source)?;
    }
    Ok(result)
}

/// The level of detail as floats: what levels would be sampled, then the same before it is clamped, both relative to the
/// base level, then two zeros.
pub fn level_of_detail(image: &Image, sampler: &Sampler, request: &Request) -> [u32; 4] {
    let lod = Lod::of(image, sampler, request);
    let last = image.last_level - image.base_level;
    let [(first, _), (_, second)] = lod.levels(sampler.mip_filter, last);
    let sampled = first as f32 + second as f32 / 256.0;
    [sampled.to_bits(), (lod.raw as f32 / 256.0).to_bits(), 0, 0]
}

/// Whether samplers can read the image.
#[inline]
fn check(image: &Image) -> Result<(), Unsupported> {
    if image.dim.is_msaa() { Err(Unsupported::SampledMsaa) } else { Ok(()) }
}

/// The filters that apply to a sample.
struct Filters {
    xy_linear: bool,
    z_linear: bool,
    aniso: bool,
    mip: MipFilter,
}

impl Filters {
    #[inline]
    fn of(image: &Image, sampler: &Sampler, lod: &Lod) -> Filters {
        let xy = if lod.clamped <= 0 { sampler.mag_filter } else { sampler.min_filter };
        if image.format.is_integer() {
            return Filters::nearest(sampler);
        }
        let z_linear = match sampler.z_filter {
            ZFilter::None => xy.is_linear(),
            ZFilter::Point => false,
            ZFilter::Linear => true,
        };
        Filters { xy_linear: xy.is_linear(), z_linear, aniso: xy.is_aniso(), mip: sampler.mip_filter }
    }

    /// One texel.
    #[inline]
    fn nearest(sampler: &Sampler) -> Filters {
        let mip = match sampler.mip_filter {
            MipFilter::Linear => MipFilter::Point,
            other => other,
        };
        Filters { xy_linear: false, z_linear: false, aniso: false, mip }
    }
}

/// A request with what is the same for all its texels.
struct Lookup<'a> {
    image: &'a Image,
    sampler: &'a Sampler,
    offset: [i32; 3],
    normalized: bool,
    centre: [f64; 3],
    /// The slice, absolute; of a cube its first face.
    slice: u32,
    /// Of a cube; 0 for others.
    face: u32,
    /// Filters reach over the edges of a cube's faces.
    seamless: bool,
    /// Clamped to what texels can be.
    reference: Option<f32>,
}

impl<'a> Lookup<'a> {
    #[inline(always)]
    fn new(image: &'a Image, sampler: &'a Sampler, request: &Request) -> Lookup<'a> {
        let is_cube = image.dim == Dim::Cube;
        let (slice, face) = slice(image, request.slice);
        let mut centre = request.coordinates.map(f64::from);
        if is_cube {
            centre = centre.map(|x| x - 1.0);
        }
        let unorm = image.format.is_unorm();
        Lookup {
            image,
            sampler,
            offset: if is_cube { [0; 3] } else { request.offset.map(i32::from) },
            normalized: !(sampler.unnormalized || request.unnormalized),
            centre,
            slice,
            face,
            seamless: is_cube && !sampler.disable_cube_wrap && image.width == image.height,
            reference: request.reference.map(|x| if unorm { x.clamp(0.0, 1.0) } else { x }),
        }
    }

    /// Where the request is in a level of the mip chain.
    #[inline(always)]
    fn place(&self, level: u32, centre: [f64; 3]) -> Place<'_> {
        let size = self.image.size(level);
        let texels = |i: usize| if self.normalized { centre[i] * f64::from(size[i]) } else { centre[i] };
        Place { lookup: self, level, size, position: std::array::from_fn(texels) }
    }

    /// The same for those that take one level, with what `request` asks for.
    fn nearest_level(&self, request: &Request) -> Place<'_> {
        let image = self.image;
        let lod = Lod::needed(image, self.sampler, request);
        let [(level, _), _] = lod.levels(Filters::nearest(self.sampler).mip, image.last_level - image.base_level);
        self.place(image.base_level + level, self.centre)
    }

    /// The colour outside of the image.
    #[inline]
    fn border<S: TexelSource>(&self, source: &mut S) -> Result<[u32; 4], S::Error> {
        let one = self.image.format.one();
        let color = match self.sampler.border {
            Border::TransparentBlack => [0; 4],
            Border::OpaqueBlack => [0, 0, 0, one],
            Border::OpaqueWhite => [one; 4],
            Border::Table(entry) => source.border(entry)?,
        };
        Ok(self.image.border_order.map(|component| color[usize::from(component & 3)]))
    }
}

/// The number of the slice in memory, that of a cube's first face; and of the face.
#[inline]
fn slice(image: &Image, coordinate: f32) -> (u32, u32) {
    if !image.dim.has_slices() {
        return (0, 0);
    }
    let number = finite(coordinate.into()).clamp(0.0, 65536.0).round_ties_even() as u32;
    let last = image.layers() - 1;
    if image.dim == Dim::Cube {
        return (image.base_array + (number >> 3).min(last / 6) * 6, (number & 7).min(5));
    }
    (image.base_array + number.min(last), 0)
}

/// A request in one level.
struct Place<'a> {
    lookup: &'a Lookup<'a>,
    level: u32,
    size: [u32; 3],
    /// In texels.
    position: [f64; 3],
}

impl Place<'_> {
    /// Adds the texels around the position to `filter`; their shares make `share` · 2^24.
    #[inline(always)]
    fn blend<S: TexelSource>(
        &self,
        filters: &Filters,
        share: f64,
        filter: &mut Filter,
        source: &mut S,
    ) -> Result<(), S::Error> {
        if self.lookup.seamless && filters.xy_linear {
            return self.blend_cube(share, filter, source);
        }
        let (xs, ys) = (self.taps(0, filters.xy_linear), self.taps(1, filters.xy_linear));
        // All are fetched before they are added: sums stay in the host's registers, and what was just written in pieces
        // is not read as a whole.
        let (mut texels, mut shares, mut count) = ([[0; 4]; 8], [0.0; 8], 0);
        for z in &self.depth(filters.z_linear) {
            for y in &ys {
                for x in &xs {
                    let weight = x.weight * y.weight * z.weight;
                    if weight != 0 {
                        texels[count] = self.texel(x.index, y.index, z.index, source)?;
                        shares[count] = f64::from(weight) * share;
                        count += 1;
                    }
                }
            }
        }
        filter.add(&texels[..count], &shares[..count]);
        Ok(())
    }

    /// The same, over the edges of the faces of a cube.
    fn blend_cube<S: TexelSource>(&self, share: f64, filter: &mut Filter, source: &mut S) -> Result<(), S::Error> {
        let [(x, right), (y, below)] = self.face_pairs(0.0);
        for (y, height) in [(y, WHOLE - below), (y + 1, below)] {
            for (x, width) in [(x, WHOLE - right), (x + 1, right)] {
                if width * height != 0 {
                    self.add_face_texel(x, y, f64::from(width * height * WHOLE) * share, filter, source)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the texel at (`x`, `y`) of the face or beyond an edge of it. Where three faces meet, all three texels of the
    /// corner have equal shares.
    fn add_face_texel<S: TexelSource>(
        &self,
        x: i32,
        y: i32,
        weight: f64,
        filter: &mut Filter,
        source: &mut S,
    ) -> Result<(), S::Error> {
        let (face, size) = (self.lookup.face, self.size[0]);
        if let Some(texel) = cube::texel(face, x, y, size) {
            filter.add(&[self.face_texel(texel, source)?], &[weight]);
            return Ok(());
        }
        for texel in cube::corner(face, x, y, size) {
            filter.add(&[self.face_texel(texel, source)?], &[weight / 3.0]);
        }
        Ok(())
    }

    /// The texel in `column` and `row` of the two by two that a bilinear filter takes.
    fn gathered<S: TexelSource>(&self, column: usize, row: usize, source: &mut S) -> Result<[u32; 4], S::Error> {
        let image = self.lookup.image;
        // Before gfx9 integers are gathered around the nearest texel's far corner, as if it were the position.
        let integer = image.format.is_integer();
        let shift = if integer && image.generation < Gen::Gfx9 { 0.5 } else { 0.0 };
        if self.lookup.seamless {
            let [(x, _), (y, _)] = self.face_pairs(shift);
            let (x, y) = (x + column as i32, y + row as i32);
            // Of a corner, integers have no mean.
            let last = self.size[0] as i32 - 1;
            let at_corner = integer && cube::texel(self.lookup.face, x, y, self.size[0]).is_none();
            let (x, y) = if at_corner { (x.clamp(0, last), y.clamp(0, last)) } else { (x, y) };
            let mut filter = Filter::new(Reduction::Blend);
            self.add_face_texel(x, y, 1.0, &mut filter, source)?;
            return Ok(filter.finish());
        }
        let moved = Place { position: self.position.map(|x| x + shift), ..*self };
        let [z, _] = self.depth(false);
        self.texel(moved.taps(0, true)[column].index, moved.taps(1, true)[row].index, z.index, source)
    }

    /// Along s and t of a face: the first of two texels, from −1 to the size, and the second one's weight.
    fn face_pairs(&self, shift: f64) -> [(i32, u32); 2] {
        let end = f64::from(self.size[0]) + 0.5;
        [0, 1].map(|axis| {
            let (first, weight) = pair((finite(self.position[axis]) + shift).clamp(-0.5, end));
            (first as i32, weight)
        })
    }

    /// The texels along x or y.
    #[inline(always)]
    fn taps(&self, axis: usize, linear: bool) -> [Tap; 2] {
        let lookup = self.lookup;
        if axis == 1 && !lookup.image.dim.has_rows() {
            return only(0);
        }
        let at = Axis { size: self.size[axis], clamp: lookup.sampler.clamp[axis], offset: lookup.offset[axis] };
        if linear {
            at.linear(self.position[axis])
        } else {
            only(at.nearest(self.position[axis], lookup.sampler.trunc_coord))
        }
    }

    /// The texels along z, or the slice.
    #[inline(always)]
    fn depth(&self, linear: bool) -> [Tap; 2] {
        match self.lookup.image.dim {
            Dim::D3 => self.taps(2, linear),
            _ => only(self.slice(self.lookup.face)),
        }
    }

    /// The slice of a face. A view may end between two faces of a cube: its last one stands for the others.
    fn slice(&self, face: u32) -> u32 {
        (self.lookup.slice + face).min(self.lookup.image.last_array)
    }

    fn face_texel<S: TexelSource>(&self, texel: cube::FaceTexel, source: &mut S) -> Result<[u32; 4], S::Error> {
        self.texel(texel.x, texel.y, self.slice(texel.face), source)
    }

    /// What a filter takes for the texel: its components, the border's, or the result of their comparison.
    #[inline(always)]
    fn texel<S: TexelSource>(&self, x: u32, y: u32, z: u32, source: &mut S) -> Result<[u32; 4], S::Error> {
        let lookup = self.lookup;
        let components = if x == BORDER || y == BORDER || z == BORDER {
            lookup.border(source)?
        } else {
            source.texel(Texel { x, y, z, level: self.level, sample: 0 })?
        };
        Ok(match lookup.reference {
            None => components,
            Some(reference) => {
                let passed = passes(lookup.sampler.compare, reference, f32::from_bits(components[0]));
                [f32::from(u8::from(passed)).to_bits(), 0, 0, 1.0f32.to_bits()]
            }
        })
    }
}

/// A single texel with the whole share.
#[inline]
fn only(index: u32) -> [Tap; 2] {
    [Tap { index, weight: WHOLE }, Tap { index, weight: 0 }]
}

/// Whether `reference` OP `depth`. NaN is neither less nor greater than anything, nor equal.
fn passes(compare: Compare, reference: f32, depth: f32) -> bool {
    match compare {
        Compare::Never => false,
        Compare::Less => reference < depth,
        Compare::Equal => reference == depth,
        Compare::LessEqual => reference <= depth,
        Compare::Greater => reference > depth,
        Compare::NotEqual => reference != depth,
        Compare::GreaterEqual => reference >= depth,
        Compare::Always => true,
    }
}
