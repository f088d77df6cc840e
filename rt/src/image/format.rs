//! Texel formats: what the components of a texel look like in memory, and as dwords in registers (Southern Islands
//! manual, table 8.13).
//!
//! Contract: numbers become dwords and back as [`buffer`] does it. A component that a format lacks reads 0,
//! alpha 1. Formats that no document explains are [`Unsupported`], as are number formats that a data format doesn't go
//! with: biased numbers, floats of 4 to 8 and of 24 bits, sRGB but for components of eight bits.
//!
//! An element of memory is a texel, or a block of them: two in the formats that share red and blue between neighbours,
//! eight of one bit, four by four in the compressed ones.

use super::bc::{self, Bc};
use super::{Unsupported, bptc, srgb};
use crate::buffer::{self, Number};
use gcnjit_isa::Gen;

/// 1.0.
const ONE: u32 = 0x3f80_0000;

/// A texel format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The fields of a descriptor.
    data: u8,
    number: u8,
    kind: Kind,
    meaning: Meaning,
}

/// How components share an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Bits of each, the one in the lowest bits first; 0 for those that it lacks.
    Packed([u8; 4]),
    /// Four of eight bits.
    Bytes,
    /// A float of 32 bits and an integer of eight, the rest unused.
    DepthStencil,
    /// Three fractions of nine bits, an exponent of five.
    SharedExponent,
    /// Two texels, with their own green, and red and blue in common. The bytes of red and the first green.
    Pair { red: u8, green: u8 },
    /// Eight texels of a bit, the first in the lowest bit or in the highest.
    Bits { reversed: bool },
    /// Four by four texels.
    Compressed(Bc),
}

/// What components mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    Number(Number),
    /// Red, green and blue are sRGB, alpha is unorm.
    Srgb,
}

/// The numbers of an image's num_format; the biased ones, and what gfx9 has in their place, have no public definition.
fn meaning(number: u8, generation: Gen) -> Option<Meaning> {
    Some(Meaning::Number(match number {
        0 => Number::Unorm,
        1 => Number::Snorm,
        2 => Number::Uscaled,
        3 => Number::Sscaled,
        4 => Number::Uint,
        5 => Number::Sint,
        6 if generation < Gen::Gfx9 => Number::SnormNz,
        7 => Number::Float,
        9 => return Some(Meaning::Srgb),
        _ => return None,
    }))
}

/// The data formats: names in the manual have the highest component first.
fn kind(data: u8, generation: Gen) -> Option<Kind> {
    Some(match data {
        1 => Kind::Packed([8, 0, 0, 0]),
        2 => Kind::Packed([16, 0, 0, 0]),
        3 => Kind::Packed([8, 8, 0, 0]),
        4 => Kind::Packed([32, 0, 0, 0]),
        5 => Kind::Packed([16, 16, 0, 0]),
        6 => Kind::Packed([11, 11, 10, 0]),
        7 => Kind::Packed([10, 11, 11, 0]),
        8 => Kind::Packed([2, 10, 10, 10]),
        9 => Kind::Packed([10, 10, 10, 2]),
        10 => Kind::Bytes,
        11 => Kind::Packed([32, 32, 0, 0]),
        12 => Kind::Packed([16, 16, 16, 16]),
        13 => Kind::Packed([32, 32, 32, 0]),
        14 => Kind::Packed([32, 32, 32, 32]),
        16 => Kind::Packed([5, 6, 5, 0]),
        17 => Kind::Packed([5, 5, 5, 1]),
        18 => Kind::Packed([1, 5, 5, 5]),
        19 => Kind::Packed([4, 4, 4, 4]),
        20 => Kind::Packed([24, 8, 0, 0]),
        21 => Kind::Packed([8, 24, 0, 0]),
        22 => Kind::DepthStencil,
        32 => Kind::Pair { red: 0, green: 1 },
        33 => Kind::Pair { red: 1, green: 0 },
        34 => Kind::SharedExponent,
        35 => Kind::Compressed(Bc::Bc1),
        36 => Kind::Compressed(Bc::Bc2),
        37 => Kind::Compressed(Bc::Bc3),
        38 => Kind::Compressed(Bc::Bc4),
        39 => Kind::Compressed(Bc::Bc5),
        40 => Kind::Compressed(Bc::Bc6),
        41 => Kind::Compressed(Bc::Bc7),
        // Which sample of a texel holds which fragment, four bits or fewer a sample.
        47..=49 if generation < Gen::Gfx9 => Kind::Packed([8, 0, 0, 0]),
        50 | 51 if generation < Gen::Gfx9 => Kind::Packed([16, 0, 0, 0]),
        52..=54 if generation < Gen::Gfx9 => Kind::Packed([32, 0, 0, 0]),
        55 | 56 if generation < Gen::Gfx9 => Kind::Packed([32, 32, 0, 0]),
        57 => Kind::Packed([4, 4, 0, 0]),
        58 => Kind::Packed([5, 5, 6, 0]),
        59 if generation < Gen::Gfx9 => Kind::Bits { reversed: false },
        60 if generation < Gen::Gfx9 => Kind::Bits { reversed: true },
        _ => return None,
    })
}

/// Whether components of this kind can mean this.
fn go_together(kind: Kind, meaning: Meaning) -> bool {
    use Meaning::Number as Is;
    match kind {
        Kind::Packed(widths) => match meaning {
            // 2_10_10_10 has no float, though its widths could be those of 10-bit floats.
            Is(Number::Float) => {
                let float = |width: &u8| matches!(width, 0 | 10 | 11 | 16 | 32);
                widths.iter().all(float) && !widths.contains(&2)
            }
            Is(Number::SnormNz | Number::Snorm) => !widths.contains(&1),
            Is(_) => true,
            Meaning::Srgb => widths.iter().all(|width| matches!(width, 0 | 8)),
        },
        Kind::Bytes => meaning != Is(Number::Float),
        Kind::DepthStencil => meaning == Is(Number::Float) || meaning == Is(Number::Uint),
        Kind::SharedExponent => meaning == Is(Number::Float),
        Kind::Pair { .. } => {
            matches!(meaning, Is(Number::Unorm | Number::Snorm | Number::Uint | Number::Sint) | Meaning::Srgb)
        }
        Kind::Bits { .. } => matches!(meaning, Is(Number::Unorm | Number::Uint)),
        Kind::Compressed(Bc::Bc4 | Bc::Bc5) => matches!(meaning, Is(Number::Unorm | Number::Snorm)),
        // Unsigned, and signed as snorm or as float.
        Kind::Compressed(Bc::Bc6) => matches!(meaning, Is(Number::Unorm | Number::Snorm | Number::Float)),
        Kind::Compressed(_) => matches!(meaning, Is(Number::Unorm) | Meaning::Srgb),
    }
}

impl Format {
    /// The format of a descriptor's data_format and num_format fields.
    ///
    /// # Errors
    /// [`Unsupported::Format`] for those that are reserved, that don't go together or that no document explains.
    pub fn new(data: u8, number: u8, generation: Gen) -> Result<Format, Unsupported> {
        let found = kind(data, generation).zip(meaning(number, generation));
        let (kind, meaning) =
            found.filter(|(kind, meaning)| go_together(*kind, *meaning)).ok_or(Unsupported::Format { data, number })?;
        // Fragment masks are integers, whatever their number format.
        let meaning = if (47..=56).contains(&data) { Meaning::Number(Number::Uint) } else { meaning };
        Ok(Format { data, number, kind, meaning })
    }

    /// The data_format and num_format fields.
    pub fn fields(self) -> (u8, u8) {
        (self.data, self.number)
    }

    /// Bytes of an element: 1, 2, 4, 8, 12 or 16.
    #[inline]
    pub fn bytes(self) -> usize {
        match self.kind {
            Kind::Packed(widths) => widths.iter().map(|width| usize::from(*width)).sum::<usize>() / 8,
            Kind::Bytes | Kind::SharedExponent | Kind::Pair { .. } => 4,
            Kind::DepthStencil => 8,
            Kind::Bits { .. } => 1,
            Kind::Compressed(bc) => bc.bytes(),
        }
    }

    /// Columns and rows of texels that an element holds.
    pub fn block(self) -> [u32; 2] {
        match self.kind {
            Kind::Pair { .. } => [2, 1],
            Kind::Bits { .. } => [8, 1],
            Kind::Compressed(_) => [4, 4],
            _ => [1, 1],
        }
    }

    /// Whether components are integers in registers.
    #[inline]
    pub fn is_integer(self) -> bool {
        matches!(self.meaning, Meaning::Number(Number::Uint | Number::Sint))
    }

    /// Whether red, green and blue are sRGB in memory.
    pub fn is_srgb(self) -> bool {
        self.meaning == Meaning::Srgb
    }

    /// Whether components are from 0 to 1, in integral steps.
    #[inline]
    pub fn is_unorm(self) -> bool {
        self.meaning == Meaning::Number(Number::Unorm)
    }

    /// The same with red, green and blue as sRGB, if they are unorm and have eight bits before they are decoded.
    pub fn with_srgb(self) -> Option<Format> {
        let srgb = Format { meaning: Meaning::Srgb, ..self };
        (self.is_unorm() && go_together(self.kind, Meaning::Srgb)).then_some(srgb)
    }

    /// The same with sRGB taken for unorm.
    pub fn without_srgb(self) -> Format {
        if self.is_srgb() { Format { meaning: Meaning::Number(Number::Unorm), ..self } } else { self }
    }

    /// Whether images can be written: the column "image w" of the table, for both fields.
    pub fn is_writable(self) -> bool {
        let data = matches!(self.data, 1..=12 | 14 | 16..=19 | 47..=56);
        let number = matches!(self.number, 0 | 1 | 4 | 5 | 7) || (47..=56).contains(&self.data);
        data && number
    }

    /// What components are worth that a filter takes from no texel: 1 as a dword.
    #[inline]
    pub fn one(self) -> u32 {
        if self.is_integer() { 1 } else { ONE }
    }

    /// The components of the texel at column `x` and row `y` of the image in its element, as dwords.
    #[inline]
    pub fn load(self, element: &[u8; 16], x: u32, y: u32) -> [u32; 4] {
        match self.kind {
            Kind::Bytes => self.bytes_of([element[0], element[1], element[2], element[3]]),
            Kind::Packed(widths) => self.packed(widths, u128::from_le_bytes(*element)),
            Kind::DepthStencil => {
                let depth = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
                [depth, element[4].into(), 0, self.one()]
            }
            Kind::SharedExponent => shared_exponent(element),
            Kind::Pair { red, green } => {
                let green = green + 2 * (x & 1) as u8;
                let at = |byte: u8| element[usize::from(byte)];
                let [r, g, b, _] = self.bytes_of([at(red), at(green), at(red + 2), 0]);
                [r, g, b, self.one()]
            }
            Kind::Bits { reversed } => {
                let bit = if reversed { 7 - (x & 7) } else { x & 7 };
                [if element[0] >> bit & 1 != 0 { self.one() } else { 0 }, 0, 0, self.one()]
            }
            Kind::Compressed(bc) => self.compressed(bc, element, x & 3, y & 3),
        }
    }

    /// The element of a texel with these components.
    ///
    /// # Errors
    /// [`Unsupported::Store`] if images of this format can't be written.
    pub fn store(self, components: [u32; 4]) -> Result<[u8; 16], Unsupported> {
        let unsupported = Unsupported::Store { data: self.data, number: self.number };
        let (Meaning::Number(number), true) = (self.meaning, self.is_writable()) else { return Err(unsupported) };
        let widths = match self.kind {
            Kind::Packed(widths) => widths,
            Kind::Bytes => [8; 4],
            _ => return Err(unsupported),
        };
        let (mut element, mut at) = (0, 0);
        for (width, value) in widths.into_iter().zip(components) {
            element |= u128::from(buffer::encode(value, width, number) & buffer::mask(width)) << (at & 127);
            at += width;
        }
        Ok(element.to_le_bytes())
    }

    /// A component as 16 bits in a register: a half, or the low bits of an integer.
    pub fn to_half(self, component: u32) -> u16 {
        if self.is_integer() { component as u16 } else { buffer::to_f16(component) }
    }

    /// The dword of a component that is 16 bits in a register.
    pub fn from_half(self, half: u16) -> u32 {
        match self.meaning {
            Meaning::Number(Number::Uint) => half.into(),
            Meaning::Number(Number::Sint) => half as i16 as u32,
            _ => buffer::from_f16(half),
        }
    }

    /// The components in the order that destination selects ask for: 0 zero, 1 one, 4 to 7 a component.
    #[inline]
    pub fn select(self, selects: [u8; 4], components: [u32; 4]) -> [u32; 4] {
        selects.map(|select| match select {
            1 => self.one(),
            4..=7 => components[usize::from(select - 4)],
            _ => 0,
        })
    }

    /// For texels of four normalised bytes, red first: what each of them stands for.
    pub(super) fn bytes_to_components(self) -> Option<[&'static [u32; 256]; 4]> {
        match (self.kind, self.meaning) {
            (Kind::Bytes, Meaning::Number(Number::Unorm)) => Some([&UNORM8; 4]),
            (Kind::Bytes, Meaning::Srgb) => {
                let color = &srgb::TO_LINEAR;
                Some([color, color, color, &UNORM8])
            }
            _ => None,
        }
    }

    /// A component of eight bits.
    #[inline]
    fn byte(self, raw: u8, color: bool) -> u32 {
        match self.meaning {
            Meaning::Srgb if color => srgb::TO_LINEAR[usize::from(raw)],
            Meaning::Srgb | Meaning::Number(Number::Unorm) => UNORM8[usize::from(raw)],
            Meaning::Number(number) => buffer::decode(raw.into(), 8, number),
        }
    }

    #[inline]
    fn bytes_of(self, [r, g, b, a]: [u8; 4]) -> [u32; 4] {
        [self.byte(r, true), self.byte(g, true), self.byte(b, true), self.byte(a, false)]
    }

    #[inline]
    fn packed(self, widths: [u8; 4], element: u128) -> [u32; 4] {
        let mut components = [0, 0, 0, self.one()];
        let mut rest = element;
        for (i, (component, width)) in components.iter_mut().zip(widths).enumerate() {
            if width == 0 {
                continue;
            }
            let raw = rest as u32 & buffer::mask(width);
            rest >>= width;
            *component = match self.meaning {
                Meaning::Number(number) if width != 8 => buffer::decode(raw, width, number),
                _ => self.byte(raw as u8, i < 3),
            };
        }
        components
    }

    fn compressed(self, bc: Bc, element: &[u8; 16], x: u32, y: u32) -> [u32; 4] {
        let signed = self.meaning != Meaning::Number(Number::Unorm);
        match bc {
            Bc::Bc1 => self.bytes_of(bc::bc1(element, x, y)),
            Bc::Bc2 => self.bytes_of(bc::bc2(element, x, y)),
            Bc::Bc3 => self.bytes_of(bc::bc3(element, x, y)),
            Bc::Bc4 => [bc::channel(element, 0, x, y, signed), 0, 0, ONE],
            Bc::Bc5 => [bc::channel(element, 0, x, y, signed), bc::channel(element, 8, x, y, signed), 0, ONE],
            Bc::Bc6 => {
                let [r, g, b] = bptc::bc6(element, x, y, signed).map(buffer::from_f16);
                [r, g, b, ONE]
            }
            Bc::Bc7 => self.bytes_of(bptc::bc7(element, x, y)),
        }
    }
}

/// The f32 nearest to each value divided by 255.
static UNORM8: [u32; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        table[value] = buffer::decode(value as u32, 8, Number::Unorm);
        value += 1;
    }
    table
};

/// Fractions of nine bits times 2^(exponent − 24): no float of the format is negative, infinite or NaN.
fn shared_exponent(element: &[u8; 16]) -> [u32; 4] {
    let word = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
    let scale = (word >> 27) as i32 - 24;
    let [r, g, b] = [0, 9, 18].map(|at| buffer::scaled((word >> at & 0x1ff).into(), scale));
    [r, g, b, ONE]
}
