//! Images and samplers in a device's memory.
//!
//! A kernel reaches an image through a descriptor, a T#, whose layout depends on the processor: an [`Image`] is made for
//! a [`Target`]. OpenCL kernels of HSA code objects take the address of the descriptor in memory, so `&Image` and
//! `&Sampler` are arguments as they are; shaders take the descriptor itself in SGPRs ([`Image::descriptor`]).
//!
//! ```
//! use gcnjit::Device;
//! use gcnjit::image::{Image, Shape, named};
//!
//! # fn main() -> Result<(), gcnjit::Error> {
//! let device = Device::new()?;
//! let target = gcnjit::Target::Gfx900;
//! let rgba8 = named("rgba8", target).expect("a format");
//!
//! // Four by two texels, in rows of 256 bytes as gfx9 wants them.
//! let image = Image::new(&device, target, &Shape::plane(rgba8.format, 4, 2))?;
//! image.write(&[0x7f; 32]);
//! assert_eq!(image.read(), [0x7f; 32]);
//! assert_eq!(image.description().bytes(), 512);
//! # Ok(())
//! # }
//! ```

use crate::arg::Arg;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use gcnjit_isa::Target;
use gcnjit_rt::image;

pub use gcnjit_rt::image::sampler::{Border, Clamp, Compare, MipFilter, Reduction, XyFilter, ZFilter};
pub use gcnjit_rt::image::{Dim, Format, MicroTile, Shape, Swizzle, Tiling, Unsupported};

/// Dwords of an image's object in memory.
pub const OBJECT: usize = 12;

/// A format, and in what order the components of a texel are given to kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The format.
    pub format: Format,
    /// Where each component comes from: 0 zero, 1 one, 4 to 7 a component of the texel.
    pub selects: [u8; 4],
}

/// The data formats of texels with this many components of this many bits.
fn data_format(components: usize, bits: u32) -> Option<u8> {
    Some(match (components, bits) {
        (1, 8) => 1,
        (1, 16) => 2,
        (2, 8) => 3,
        (1, 32) => 4,
        (2, 16) => 5,
        (4, 8) => 10,
        (2, 32) => 11,
        (4, 16) => 12,
        (4, 32) => 14,
        _ => return None,
    })
}

/// The format with a name: components (`r`, `rg`, `rgba` or `bgra`), bits of each (8, 16 or 32), and what they mean
/// (nothing for unorm, `s` for snorm, `u` and `i` for integers, `f` for floats, `srgb`); or `rgb565`, `rgb10a2`,
/// `r11g11b10f`, `rgb9e5`, `bc1` to `bc7`, `bc1srgb` ….
pub fn named(name: &str, target: Target) -> Option<Named> {
    let generation = target.generation();
    let of = |data: u8, number: u8, selects: [u8; 4]| {
        Format::new(data, number, generation).ok().map(|format| Named { format, selects })
    };
    let rgba = [4, 5, 6, 7];
    let fixed = match name {
        "rgb565" => Some((16, 0, [6, 5, 4, 1])),
        "rgb10a2" => Some((9, 0, rgba)),
        "r11g11b10f" => Some((6, 7, [4, 5, 6, 1])),
        "rgb9e5" => Some((34, 7, [4, 5, 6, 1])),
        _ => None,
    };
    if let Some((data, number, selects)) = fixed {
        return of(data, number, selects);
    }
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (channels, rest) = name.split_at(digits);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (bits, meaning) = rest.split_at(end);
    let bits: u32 = bits.parse().ok()?;
    let number = match meaning {
        "" => 0,
        "s" => 1,
        "u" => 4,
        "i" => 5,
        "f" => 7,
        "srgb" => 9,
        _ => return None,
    };
    match channels {
        // BC6 has floats without a sign, which count as unorm, or with one.
        "bc" if (1..=7).contains(&bits) => of(34 + bits as u8, number, rgba),
        "r" => of(data_format(1, bits)?, number, [4, 0, 0, 1]),
        "rg" => of(data_format(2, bits)?, number, [4, 5, 0, 1]),
        "rgba" => of(data_format(4, bits)?, number, rgba),
        "bgra" => of(data_format(4, bits)?, number, [6, 5, 4, 7]),
        _ => None,
    }
}

/// Type and order of an image's channels, as HSA numbers them (hsa_ext_image.h).
fn channels(image: &image::Image) -> [u32; 2] {
    let (data, number) = image.format.fields();
    let bits = match data {
        1 | 3 | 10 => 0,
        2 | 5 | 12 => 1,
        _ => 2,
    };
    let kind = match (number, data) {
        (0, 16) => 6,
        (0, 9) => 7,
        (0 | 9, _) => 2 + bits.min(1),
        (1, _) => bits.min(1),
        (5, _) => 8 + bits,
        (4, _) => 11 + bits,
        _ if bits == 1 => 14,
        _ => 15,
    };
    let order = match (data, number, image.selects[0]) {
        (1 | 2 | 4, ..) => 1,
        (3 | 5 | 11, ..) => 3,
        (6 | 7 | 16 | 34, ..) => 6,
        (_, 9, _) => 14,
        (_, _, 6) => 9,
        _ => 8,
    };
    [kind, order]
}

/// The object in memory that OpenCL kernels of HSA code objects get the address of: the descriptor, then type and order
/// of the image's channels as HSA numbers them, its width, and 0.
pub fn object(image: &image::Image) -> [u32; OBJECT] {
    let mut words = [0; OBJECT];
    words[..8].copy_from_slice(&image.encode());
    words[8..10].copy_from_slice(&channels(image));
    words[10] = image.width;
    words
}

/// An image in a device's memory. It is freed when it is dropped.
#[derive(Debug)]
pub struct Image {
    description: image::Image,
    texels: Buffer<u8>,
    object: Buffer<u32>,
}

impl Image {
    /// An image of zeroes of this shape, for a processor.
    ///
    /// # Errors
    /// [`Error::Image`] if its descriptors can't describe it; [`Error::Memory`] if there is no room.
    pub fn new(device: &Device, target: Target, shape: &Shape) -> Result<Image, Error> {
        Image::with_selects(device, target, shape, [4, 5, 6, 7])
    }

    /// The same, with the order in which kernels see components ([`Named::selects`]).
    ///
    /// # Errors
    /// As [`Image::new`].
    pub fn with_selects(device: &Device, target: Target, shape: &Shape, selects: [u8; 4]) -> Result<Image, Error> {
        let bytes = image::Image::new(target.generation(), 0, shape)?.bytes();
        let texels = device.buffer(bytes as usize)?;
        let mut description = image::Image::new(target.generation(), texels.address(), shape)?;
        description.selects = selects;
        let object = device.buffer_from(&object(&description))?;
        Ok(Image { description, texels, object })
    }

    /// What its descriptor says.
    pub fn description(&self) -> &image::Image {
        &self.description
    }

    /// The descriptor: eight dwords, of which R128 needs the first four.
    pub fn descriptor(&self) -> [u32; 8] {
        self.description.encode()
    }

    /// Guest address of the descriptor.
    pub fn address(&self) -> u64 {
        self.object.address()
    }

    /// Replaces all texels: level by level, slice by slice, row by row, without padding; four by four texels of
    /// compressed formats are one element.
    ///
    /// # Panics
    /// If it is not as many bytes as the image has, [`rt::image::Image::plain_bytes`](image::Image::plain_bytes).
    pub fn write(&self, texels: &[u8]) {
        self.texels.write(&self.description.pack(texels));
    }

    /// All texels, in the same order.
    pub fn read(&self) -> Vec<u8> {
        self.description.unpack(&self.texels.read())
    }
}

/// A sampler in a device's memory. It is freed when it is dropped.
///
/// ```
/// # fn main() -> Result<(), gcnjit::Error> {
/// use gcnjit::image::{Clamp, Sampler, XyFilter};
///
/// # let device = gcnjit::Device::new()?;
/// let filter = XyFilter::Bilinear;
/// let how = gcnjit::rt::image::Sampler {
///     clamp: [Clamp::LastTexel; 3],
///     mag_filter: filter,
///     min_filter: filter,
///     max_lod: 0xfff,
///     ..Default::default()
/// };
/// let sampler = Sampler::new(&device, gcnjit::Target::Gfx803, how)?;
/// assert_eq!(sampler.descriptor()[2] >> 20 & 15, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sampler {
    descriptor: [u32; 4],
    object: Buffer<u32>,
}

impl Sampler {
    /// A sampler for a processor.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room.
    pub fn new(device: &Device, target: Target, sampler: image::Sampler) -> Result<Sampler, Error> {
        let descriptor = sampler.encode(target.generation());
        Ok(Sampler { descriptor, object: device.buffer_from(&descriptor)? })
    }

    /// The descriptor.
    pub fn descriptor(&self) -> [u32; 4] {
        self.descriptor
    }

    /// Guest address of the descriptor.
    pub fn address(&self) -> u64 {
        self.object.address()
    }
}

impl<'a> From<&'a Image> for Arg<'a> {
    fn from(image: &'a Image) -> Arg<'a> {
        Arg::pointer(image.address())
    }
}

impl<'a> From<&'a Sampler> for Arg<'a> {
    fn from(sampler: &'a Sampler) -> Arg<'a> {
        Arg::pointer(sampler.address())
    }
}
