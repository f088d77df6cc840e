//! Images: what T#s and S#s describe, where a texel of an image is, and what its bytes mean.
//!
//! Contract: a descriptor comes from a guest, so any bits are possible. [`Image::decode`] either gives an image of
//! which every texel in range has an address, or says what it can't do ([`Unsupported`]). Nothing here reads or writes
//! memory but through a [`Cursor`], which checks every access. Descriptors and texels are all integer arithmetic, so that
//! results depend neither on the host nor on the float modes that a guest has set; [`mod@sample`] says what samplers need.
//!
//! [`Image::fetch`] and [`Image::store`] move texels, whose coordinates the caller has brought into range: `x` and `y`
//! below [`Image::size`], `z` below the size's depth, or a slice from [`Image::base_array`] to [`Image::last_array`].
//! Coordinates beyond have addresses too, just not those of a texel.

mod bc;
mod bptc;
mod cube;
pub mod descriptor;
mod filter;
pub mod format;
mod layout;
pub mod lod;
mod plane;
pub mod sample;
pub mod sampler;
pub mod source;
mod srgb;
mod transfer;
mod wrap;

use crate::fault::Cause;
use crate::memory::Cursor;
use gcnjit_isa::Gen;
use std::fmt;

pub use descriptor::Shape;
pub use format::Format;
pub use layout::{MicroTile, Swizzle, Tiling};
pub use lod::{Detail, Gradients};
pub use plane::Plane;
pub use sample::{Request, gather, gather_row, level_of_detail, sample, sampled};
pub use sampler::Sampler;
pub use source::{BorderColors, Bordered, TexelSource};

/// How an image is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A row of texels.
    D1,
    /// A plane.
    D2,
    /// A volume.
    D3,
    /// Six planes a cube, and any number of cubes: slice = 6 · cube + face.
    Cube,
    /// Rows, by slice.
    D1Array,
    /// Planes, by slice.
    D2Array,
    /// A plane with several samples a texel.
    D2Msaa,
    /// The same, by slice.
    D2MsaaArray,
}

impl Dim {
    /// All, in the order of a T#'s type field.
    pub const ALL: [Dim; 8] =
        [Dim::D1, Dim::D2, Dim::D3, Dim::Cube, Dim::D1Array, Dim::D2Array, Dim::D2Msaa, Dim::D2MsaaArray];

    /// Whether there is a y coordinate.
    #[inline]
    pub fn has_rows(self) -> bool {
        !matches!(self, Dim::D1 | Dim::D1Array)
    }

    /// Whether a coordinate chooses between slices (cube faces are slices).
    #[inline]
    pub fn has_slices(self) -> bool {
        matches!(self, Dim::Cube | Dim::D1Array | Dim::D2Array | Dim::D2MsaaArray)
    }

    /// Whether a texel has samples.
    #[inline]
    pub fn is_msaa(self) -> bool {
        matches!(self, Dim::D2Msaa | Dim::D2MsaaArray)
    }
}

/// What a descriptor asks for that is not there, or that no document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A T# whose type field names no image (8 to 15 do).
    Type(u8),
    /// A tiling index (gfx6 to gfx8) whose mode needs the banks and pipes of a particular chip.
    TilingIndex(u8),
    /// A swizzle mode (gfx9), for the same reason.
    SwizzleMode(u8),
    /// A data format with a number format that don't go together, or that no document describes.
    Format {
        /// The data format field.
        data: u8,
        /// The number format field.
        number: u8,
    },
    /// A format that can be read but not written.
    Store {
        /// The data format field.
        data: u8,
        /// The number format field.
        number: u8,
    },
    /// A format whose texels atomics of this width can't work on: 32-bit ones need texels of four bytes, 64-bit ones of
    /// eight.
    Atomic {
        /// The data format field.
        data: u8,
        /// The number format field.
        number: u8,
    },
    /// Texels are compressed with metadata: delta colour compression, or depth with HTILE.
    Compressed,
    /// Rows of two fields.
    Interlaced,
    /// A tiling or swizzle mode that is not for images of this dimension or elements of this size.
    Layout,
    /// A size that the descriptor's fields can't hold.
    Size,
    /// Sampling an image with several samples a texel.
    SampledMsaa,
    /// An entry of the table of border colours, where a launch was given none.
    BorderTable(u16),
    /// A sampler that takes unorm texels for sRGB, with components of other than eight bits.
    Degamma,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Type(number) => write!(f, "resource type {number} is no image"),
            Unsupported::TilingIndex(index) => write!(f, "tiling index {index} is not supported"),
            Unsupported::SwizzleMode(mode) => write!(f, "swizzle mode {mode} is not supported"),
            Unsupported::Format { data, number } => {
                write!(f, "data format {data} with number format {number} is not supported")
            }
            Unsupported::Store { data, number } => {
                write!(f, "images of data format {data}, number format {number} can't be written")
            }
            Unsupported::Atomic { data, number } => {
                write!(f, "images of data format {data}, number format {number} have no atomics of this width")
            }
            Unsupported::Compressed => f.write_str("compressed images are not supported"),
            Unsupported::Interlaced => f.write_str("interlaced images are not supported"),
            Unsupported::Layout => f.write_str("the tiling does not go with dimension and format"),
            Unsupported::Size => f.write_str("the size does not fit in a descriptor"),
            Unsupported::SampledMsaa => f.write_str("images with several samples a texel can't be sampled"),
            Unsupported::BorderTable(entry) => write!(f, "there is no table of border colours for entry {entry}"),
            Unsupported::Degamma => f.write_str("degamma is not supported for components of other than eight bits"),
        }
    }
}

impl std::error::Error for Unsupported {}

/// An access to an image that can't be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad {
    /// What is wrong.
    pub cause: Cause,
    /// First byte of the access.
    pub address: u64,
}

impl From<Unsupported> for Bad {
    /// What can't be done with an image as a whole has no address.
    fn from(what: Unsupported) -> Bad {
        Bad { cause: Cause::Image(what), address: 0 }
    }
}

/// A place in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Texel {
    /// Column.
    pub x: u32,
    /// Row; 0 where there are none.
    pub y: u32,
    /// Depth of a volume, or the slice counted from the resource's first in memory (cube faces are slices).
    pub z: u32,
    /// Level of the mip chain, counted from the largest in memory.
    pub level: u32,
    /// Sample; 0 where there are none.
    pub sample: u32,
}

/// A decoded T#: an image in memory and what of it can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Whose descriptor it is, and whose rules of layout hold.
    pub generation: Gen,
    /// Address of the first texel, a multiple of 256.
    pub base: u64,
    /// How it is addressed.
    pub dim: Dim,
    /// What texels are.
    pub format: Format,
    /// Texels in a row of level 0, 1 to 16384.
    pub width: u32,
    /// Rows of level 0, 1 to 16384; 1 for rows of texels.
    pub height: u32,
    /// Depth of level 0 of a volume, 1 to 8192; 1 for others.
    pub depth: u32,
    /// Texels from a row of level 0 to the next.
    pub pitch: u32,
    /// In what order texels are in memory.
    pub tiling: Tiling,
    /// Slices that there are in memory, faces counted.
    pub slices: u32,
    /// Samples of a texel: a power of two, 1 to 16.
    pub samples: u32,
    /// First level that samplers and loads see.
    pub base_level: u32,
    /// Last level that they see; not below the first.
    pub last_level: u32,
    /// Levels that there are in memory.
    pub levels: u32,
    /// First slice that can be addressed, as 0.
    pub base_array: u32,
    /// Last slice that can be addressed; not below the first.
    pub last_array: u32,
    /// Least level of detail, in 256ths.
    pub min_lod: u32,
    /// Where each component of a result comes from: 0 zero, 1 one, 4 to 7 a component of the texel.
    pub selects: [u8; 4],
    /// Where each component of a texel outside of the image comes from, as a component of the border colour (gfx9; in
    /// order before). The selects come after that, as for texels in memory.
    pub border_order: [u8; 4],
    /// Whether the level's sizes in memory are powers of two (gfx6 to gfx8).
    pub pow2_pad: bool,
    /// Where levels are.
    layout: layout::Layout,
}

impl Image {
    /// Columns, rows and depth of an absolute level, at least 1 each.
    #[inline]
    pub fn size(&self, level: u32) -> [u32; 3] {
        [self.width, self.height, self.depth].map(|size| (size >> level.min(31)).max(1))
    }

    /// Slices that can be addressed, faces counted; 1 if there is no such coordinate.
    #[inline]
    pub fn layers(&self) -> u32 {
        if self.dim.has_slices() { self.last_array - self.base_array + 1 } else { 1 }
    }

    /// Address of the element that holds a texel: the texel itself, or the block of several that are stored together.
    #[inline]
    pub fn address(&self, texel: Texel) -> u64 {
        self.base.wrapping_add(self.layout.offset(texel))
    }

    /// The components of a texel, as a load would put them into registers but for the destination selects.
    ///
    /// # Errors
    /// If the texel's bytes are not all mapped.
    #[inline]
    pub fn fetch(&self, memory: &Cursor<'_>, texel: Texel) -> Result<[u32; 4], Bad> {
        let address = self.address(texel);
        let mut element = [0; 16];
        let read = match self.format.bytes() {
            4 => memory.dword(address).map(|dword| element[..4].copy_from_slice(&dword)),
            bytes => memory.read(address, &mut element[..bytes]),
        };
        read.map_err(|cause| Bad { cause, address })?;
        Ok(self.format.load(&element, texel.x, texel.y))
    }

    /// Writes the components of a texel.
    ///
    /// # Errors
    /// If images of this format can't be written, or the texel's bytes are not all mapped writable.
    pub fn store(&self, memory: &Cursor<'_>, texel: Texel, components: [u32; 4]) -> Result<(), Bad> {
        let address = self.address(texel);
        let bad = |cause| Bad { cause, address };
        let element = self.format.store(components).map_err(|what| bad(Cause::Image(what)))?;
        memory.store(address, &element[..self.format.bytes()]).map_err(bad)
    }

    /// A texel's components in the order that the destination selects ask for.
    #[inline]
    pub fn select(&self, components: [u32; 4]) -> [u32; 4] {
        if self.selects == [4, 5, 6, 7] { components } else { self.format.select(self.selects, components) }
    }

    /// Bytes from [`Image::base`] to the end of the last level, padding included.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }
}
