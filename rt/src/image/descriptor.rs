//! T#s: what an image resource says (Southern Islands manual, table 8.11; AMD's register headers for the others).
//!
//! gfx6 to gfx8 share a layout of eight dwords, of which instructions with R128 read four: base, size, format, levels
//! and tiling index, but no depth, pitch and slices. gfx9 has swizzle modes in the place of tiling indices, a wider
//! pitch, the last slice in the place of the depth, and the number of levels that there are.

use super::layout::{Extent, Layout};
use super::{Dim, Format, Image, Tiling, Unsupported};
use gcnjit_isa::Gen;

/// A field: position of its lowest bit, and how many.
fn field(word: u32, at: u32, bits: u32) -> u32 {
    word >> at & ((1 << bits) - 1)
}

/// Largest width and height.
const SIDE: u32 = 1 << 14;
/// Largest depth, and most slices.
const DEPTH: u32 = 1 << 13;

/// What gfx9's field for the order of a border colour's components means: XYZW, XWYZ, WZYX, WXYZ, ZYXW, YXWZ; the reserved
/// two, as the first.
const BORDER_ORDERS: [[u8; 4]; 8] =
    [[0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 1, 0], [3, 0, 1, 2], [2, 1, 0, 3], [1, 0, 3, 2], [0, 1, 2, 3], [0, 1, 2, 3]];

/// A plain description of an image in memory, all of which can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How it is addressed.
    pub dim: Dim,
    /// What texels are.
    pub format: Format,
    /// Columns of level 0, 1 to 16384.
    pub width: u32,
    /// Rows of level 0, 1 to 16384; 1 for [`Dim::D1`] and [`Dim::D1Array`].
    pub height: u32,
    /// Depth of level 0 of [`Dim::D3`], 1 to 8192; 1 for others.
    pub depth: u32,
    /// Slices of an array, 1 to 8192, or faces of cubes, a multiple of six; 1 for others.
    pub layers: u32,
    /// Levels, 1 to 15 and no more than the size has; 1 for [`Dim::D2Msaa`] and [`Dim::D2MsaaArray`].
    pub levels: u32,
    /// Samples of a texel: 2, 4, 8 or 16 for [`Dim::D2Msaa`] and [`Dim::D2MsaaArray`], 1 for others.
    pub samples: u32,
    /// In what order texels are in memory.
    pub tiling: Tiling,
    /// Texels from a row of level 0 to the next; `None` for the least that the tiling allows. gfx9 has no choice where
    /// there are several levels.
    pub pitch: Option<u32>,
}

impl Shape {
    /// A plane of this format and size, linear, with one level.
    pub fn plane(format: Format, width: u32, height: u32) -> Shape {
        Shape {
            dim: Dim::D2,
            format,
            width,
            height,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            tiling: Tiling::Linear,
            pitch: None,
        }
    }

    /// A row.
    pub fn row(format: Format, width: u32) -> Shape {
        Shape { dim: Dim::D1, ..Shape::plane(format, width, 1) }
    }

    /// A volume.
    pub fn volume(format: Format, width: u32, height: u32, depth: u32) -> Shape {
        Shape { dim: Dim::D3, depth, ..Shape::plane(format, width, height) }
    }

    /// Six planes.
    pub fn cube(format: Format, width: u32) -> Shape {
        Shape { dim: Dim::Cube, layers: 6, ..Shape::plane(format, width, width) }
    }

    /// Planes by slice.
    pub fn array(format: Format, width: u32, height: u32, layers: u32) -> Shape {
        Shape { dim: Dim::D2Array, layers, ..Shape::plane(format, width, height) }
    }

    /// Whether the sizes are those of an image.
    fn is_valid(&self) -> bool {
        let Shape { dim, width, height, depth, layers, levels, samples, .. } = *self;
        let sides = (1..=SIDE).contains(&width) && (1..=SIDE).contains(&height) && (dim.has_rows() || height == 1);
        let slices = match dim {
            Dim::Cube => layers.is_multiple_of(6) && (6..=DEPTH).contains(&layers),
            _ if dim.has_slices() => (1..=DEPTH).contains(&layers),
            _ => layers == 1,
        };
        let deep = if dim == Dim::D3 { (1..=DEPTH).contains(&depth) } else { depth == 1 };
        let msaa = if dim.is_msaa() { matches!(samples, 2 | 4 | 8 | 16) && levels == 1 } else { samples == 1 };
        let most = width.max(height).max(depth).ilog2() + 1;
        let pitch = self.pitch.is_none_or(|pitch| (width..=1 << 16).contains(&pitch));
        sides && slices && deep && msaa && (1..=most).contains(&levels) && pitch
    }
}

impl Image {
    /// An image of this shape at `base`, for a generation: its descriptor is [`Image::encode`]'s, and its texels are
    /// [`Image::bytes`].
    ///
    /// # Errors
    /// [`Unsupported::Size`] if a size is out of range or `base` is no multiple of 256, [`Unsupported::Layout`] if the
    /// tiling is not for this generation, dimension or format.
    pub fn new(generation: Gen, base: u64, shape: &Shape) -> Result<Image, Unsupported> {
        if !shape.is_valid() || !base.is_multiple_of(256) || base >> 48 != 0 {
            return Err(Unsupported::Size);
        }
        shape.tiling.encode(generation)?;
        let mut image = Image {
            generation,
            base,
            dim: shape.dim,
            format: shape.format,
            width: shape.width,
            height: shape.height,
            depth: shape.depth,
            pitch: 0,
            tiling: shape.tiling,
            slices: shape.layers,
            samples: shape.samples,
            base_level: 0,
            last_level: shape.levels - 1,
            levels: shape.levels,
            base_array: 0,
            last_array: shape.layers - 1,
            min_lod: 0,
            selects: [4, 5, 6, 7],
            border_order: BORDER_ORDERS[0],
            pow2_pad: generation < Gen::Gfx9 && shape.levels > 1,
            layout: Layout::EMPTY,
        };
        image.lay_out(shape.pitch)?;
        let limit = if generation == Gen::Gfx9 { 1 << 16 } else { 1 << 14 };
        if image.pitch > limit { Err(Unsupported::Size) } else { Ok(image) }
    }

    /// Finds out where levels are. A pitch of `None` is the least.
    fn lay_out(&mut self, pitch: Option<u32>) -> Result<(), Unsupported> {
        let [columns, rows] = self.format.block();
        let extent = Extent {
            generation: self.generation,
            dim: self.dim,
            tiling: self.tiling,
            element: self.format.bytes() as u32,
            texels: [columns.ilog2() as u8, rows.ilog2() as u8],
            size: [self.width, self.height, self.depth],
            slices: self.slices,
            levels: self.levels,
            samples: self.samples.ilog2() as u8,
            pitch,
            pow2_pad: self.pow2_pad,
        };
        self.layout = Layout::new(&extent)?;
        self.pitch = self.layout.pitch();
        Ok(())
    }

    /// What a descriptor says; `r128` takes the first four dwords for the whole of it (gfx6 to gfx8). Base and last
    /// level, and base and last slice, that are in the wrong order mean the base alone; selects that are reserved mean
    /// zero.
    ///
    /// # Errors
    /// If it describes no image, or one of a kind that is not supported.
    pub fn decode(words: [u32; 8], generation: Gen, r128: bool) -> Result<Image, Unsupported> {
        let gfx9 = generation == Gen::Gfx9;
        let [w0, w1, w2, w3, w4, w5, w6, _] =
            if r128 && !gfx9 { [words[0], words[1], words[2], words[3], 0, 0, 0, 0] } else { words };
        let kind = field(w3, 28, 4) as u8;
        let dim = match kind {
            8.. => Dim::ALL[usize::from(kind - 8)],
            _ => return Err(Unsupported::Type(kind)),
        };
        if generation >= Gen::Gfx8 && field(w6, 21, 1) != 0 {
            return Err(Unsupported::Compressed);
        }
        if !gfx9 && field(w2, 31, 1) != 0 {
            return Err(Unsupported::Interlaced);
        }
        let format = Format::new(field(w1, 20, 6) as u8, field(w1, 26, 4) as u8, generation)?;
        let tiling = Tiling::decode(field(w3, 20, 5) as u8, generation)?;
        let depth = field(w4, 0, 13) + 1;
        let (base_array, last_array) = match (dim.has_slices(), gfx9) {
            (false, _) => (0, 0),
            (true, false) => (field(w5, 0, 13), field(w5, 13, 13)),
            (true, true) => (field(w5, 0, 13), depth - 1),
        };
        let last_array = last_array.max(base_array);
        let slices = match dim {
            Dim::Cube if !gfx9 => 6 * depth,
            _ if dim.has_slices() && !gfx9 => depth,
            _ if dim.has_slices() => last_array + 1,
            _ => 1,
        };
        let last_level = field(w3, 16, 4);
        let base_level = if dim.is_msaa() { 0 } else { field(w3, 12, 4) };
        let samples = if dim.is_msaa() { 1 << last_level.min(4) } else { 1 };
        let last_level = if dim.is_msaa() { 0 } else { last_level.max(base_level) };
        let max_level = if gfx9 && !dim.is_msaa() { field(w5, 28, 4) } else { 0 };
        let pitch = if gfx9 { (field(w4, 13, 16) + 1) * format.block()[0] } else { field(w4, 13, 14) + 1 };
        let mut image = Image {
            generation,
            base: (u64::from(field(w1, 0, 8)) << 32 | u64::from(w0)) << 8,
            dim,
            format,
            width: field(w2, 0, 14) + 1,
            height: if dim.has_rows() { field(w2, 14, 14) + 1 } else { 1 },
            depth: if dim == Dim::D3 { depth } else { 1 },
            pitch: 0,
            tiling,
            slices,
            samples,
            base_level,
            last_level,
            levels: last_level.max(max_level) + 1,
            base_array,
            last_array,
            min_lod: field(w1, 8, 12),
            selects: [0, 3, 6, 9].map(|at| field(w3, at, 3) as u8),
            border_order: BORDER_ORDERS[if gfx9 { field(w4, 29, 3) as usize } else { 0 }],
            pow2_pad: !gfx9 && field(w3, 25, 1) != 0,
            layout: Layout::EMPTY,
        };
        image.lay_out((!r128 || gfx9).then_some(pitch))?;
        Ok(image)
    }

    /// The descriptor that says this. All eight dwords, of which R128 needs the first four.
    pub fn encode(&self) -> [u32; 8] {
        let gfx9 = self.generation == Gen::Gfx9;
        let base = self.base >> 8;
        let kind = Dim::ALL.iter().position(|dim| *dim == self.dim).map_or(0, |at| at as u32 + 8);
        let tiling = self.tiling.encode(self.generation).unwrap_or(0);
        let levels = if self.dim.is_msaa() { self.samples.ilog2() } else { self.last_level };
        let max_level = if self.dim.is_msaa() { levels } else { self.levels - 1 };
        let selects = (0..4).fold(0, |sum, i| sum | u32::from(self.selects[i] & 7) << (3 * i));
        let depth = match self.dim {
            Dim::D3 => self.depth,
            _ if gfx9 => self.last_array + 1,
            Dim::Cube => self.slices.div_ceil(6),
            _ => self.slices,
        };
        let (data, number) = self.format.fields();
        let pitch = if gfx9 { self.layout.gfx9_pitch() } else { self.pitch };
        let w3 = selects
            | self.base_level << 12
            | levels << 16
            | u32::from(tiling) << 20
            | u32::from(self.pow2_pad) << 25
            | kind << 28;
        let border = BORDER_ORDERS.iter().position(|order| *order == self.border_order).unwrap_or(0) as u32;
        let border = if gfx9 { border } else { 0 };
        let w5 = if gfx9 { self.base_array | max_level << 28 } else { self.base_array | self.last_array << 13 };
        [
            base as u32,
            field((base >> 32) as u32, 0, 8) | self.min_lod << 8 | u32::from(data) << 20 | u32::from(number) << 26,
            (self.width - 1) | (self.height - 1) << 14,
            w3,
            (depth - 1) | (pitch - 1) << 13 | border << 29,
            w5,
            0,
            0,
        ]
    }
}
