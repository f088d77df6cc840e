//! Vertex parameters in LDS, as pixel shaders interpolate them (SI manual 9.3.2; the order of the dwords is CLRX's).
//!
//! Parameters of a wave begin at a byte offset in its LDS, M0\[15:0\]. For each attribute there are twelve dwords a
//! primitive of the wave, one primitive after the other; then comes the next attribute. The twelve are P0 and P10 of x,
//! of y, of z and of w, and then P20 of x, y, z and w, where P0 is the value at a triangle's first vertex and P10 and P20
//! are what the second and the third have more. M0\[30:16\] is a mask with a bit for each quad of lanes but the first: the
//! quad begins the next primitive.

use crate::lds::{Lds, Reach};
use crate::wave::{LANES, Row};

/// Dwords of an attribute for a primitive.
pub const DWORDS: u32 = 12;
/// Most attributes that an instruction can name.
pub const ATTRIBUTES: usize = 64;
/// Most primitives of a wave: one a quad.
pub const PRIMITIVES: usize = LANES / 4;

/// A vertex parameter, in the order in which v_interp_mov_f32 numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// What the second vertex has more than the first.
    P10,
    /// What the third vertex has more than the first.
    P20,
    /// The value at the first vertex.
    P0,
}

impl Parameter {
    /// The parameter of a number; there are three.
    pub fn numbered(number: u32) -> Option<Parameter> {
        [Parameter::P10, Parameter::P20, Parameter::P0].get(number as usize).copied()
    }

    /// Its dword among the twelve; `channel` is 0 to 3.
    fn dword(self, channel: u32) -> u32 {
        match self {
            Parameter::P0 => 2 * channel,
            Parameter::P10 => 2 * channel + 1,
            Parameter::P20 => 8 + channel,
        }
    }
}

/// Where a wave's parameters are: M0 of the interpolating instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area(pub u32);

impl Area {
    /// The area at `offset` bytes of LDS, at most 65535, of a wave in which the quads of `begins` (bit 1 to bit 15) begin
    /// another primitive than the quad before them.
    pub fn new(offset: u16, begins: u16) -> Area {
        Area(u32::from(offset) | u32::from(begins >> 1) << 16)
    }

    fn mask(self) -> u32 {
        self.0 >> 16 & 0x7fff
    }

    /// Primitives of the wave, 1 to 16.
    pub fn primitives(self) -> u32 {
        1 + self.mask().count_ones()
    }

    /// The primitive that a lane belongs to.
    pub fn primitive(self, lane: usize) -> u32 {
        let quads = (1 << (lane / 4 % PRIMITIVES)) - 1;
        (self.mask() & quads).count_ones()
    }

    /// The byte of LDS at which a lane's parameter begins. `channel` is taken modulo 4.
    pub fn address(self, lane: usize, attribute: u8, channel: u8, parameter: Parameter) -> u32 {
        let block = u32::from(attribute) * self.primitives() + self.primitive(lane);
        (self.0 & 0xffff) + 4 * (DWORDS * block + parameter.dword(u32::from(channel & 3)))
    }

    /// A parameter for all lanes; 0 where it is out of LDS.
    pub fn row(self, lds: Reach<'_>, attribute: u8, channel: u8, parameter: Parameter) -> Row {
        let mut row = [0; LANES];
        for (quad, lanes) in row.chunks_exact_mut(4).enumerate() {
            lanes.fill(u32::from_le_bytes(lds.load(self.address(4 * quad, attribute, channel, parameter))));
        }
        row
    }
}

/// The parameters of a wave as LDS holds them, from the values at vertices: `value(primitive, attribute, channel)` are
/// those at the first, second and third vertex.
///
/// # Panics
/// With more than [`PRIMITIVES`] primitives, or more than [`ATTRIBUTES`] attributes.
pub fn lay_out(
    primitives: usize,
    attributes: usize,
    mut value: impl FnMut(usize, usize, usize) -> [f32; 3],
) -> Vec<u8> {
    assert!(primitives <= PRIMITIVES && attributes <= ATTRIBUTES, "{primitives} primitives, {attributes} attributes");
    let mut dwords = vec![0f32; primitives * attributes * DWORDS as usize];
    for (block, dwords) in dwords.chunks_exact_mut(DWORDS as usize).enumerate() {
        for channel in 0..4 {
            let [first, second, third] = value(block % primitives, block / primitives, channel);
            let parameters =
                [(Parameter::P0, first), (Parameter::P10, second - first), (Parameter::P20, third - first)];
            for (parameter, value) in parameters {
                dwords[parameter.dword(channel as u32) as usize] = value;
            }
        }
    }
    dwords.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// What LDS_DIRECT is as a source (SI manual 9.3.1): at the byte M0\[15:0\], of the type M0\[18:16\] (0 unsigned byte,
/// 1 unsigned word, 2 dword, 4 signed byte, 5 signed word), extended to a dword. Out of LDS it is 0; so it is for the
/// types that have no meaning.
pub fn direct(lds: &Lds, m0: u32) -> u32 {
    let at = m0 & 0xffff;
    let word = u16::from_le_bytes(lds.load(at));
    let [byte] = lds.load(at);
    match m0 >> 16 & 7 {
        0 => u32::from(byte),
        1 => u32::from(word),
        2 => u32::from_le_bytes(lds.load(at)),
        4 => i32::from(byte as i8) as u32,
        5 => i32::from(word as i16) as u32,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of CLRX's documentation: a mask of 0b1010011.
    #[test]
    fn quads_have_the_primitives_that_the_mask_gives_them() {
        let area = Area(0b101_0011 << 16);
        let primitives: [u32; PRIMITIVES] = std::array::from_fn(|quad| area.primitive(4 * quad + quad % 4));
        assert_eq!(primitives, [0, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
        assert_eq!(area.primitives(), 5);
        assert_eq!([Area(0), Area(0x7fff_0000), Area(0xffff_ffff)].map(Area::primitives), [1, 16, 16]);
        assert_eq!(Area::new(0x40, 0b1010_0110), Area(0b101_0011 << 16 | 0x40));
    }

    /// The same example: each block of 48 bytes is an attribute of a primitive.
    #[test]
    fn attributes_are_outside_of_primitives() {
        let area = Area(0b101_0011 << 16 | 0x100);
        let at = |lane, attribute| area.address(lane, attribute, 0, Parameter::P0) - 0x100;
        assert_eq!([at(0, 0), at(4, 0), at(20, 0), at(28, 0)], [0, 48, 0x90, 0xc0]);
        assert_eq!([at(0, 1), at(8, 1), at(20, 1), at(28, 1)], [0xf0, 0x150, 0x180, 0x1b0]);
        assert_eq!([at(8, 2), at(20, 2), at(63, 2)], [0x240, 0x270, 0x2a0]);
        let dwords = [Parameter::P0, Parameter::P10, Parameter::P20]
            .map(|parameter| [0, 1, 2, 3].map(|channel| (area.address(0, 0, channel, parameter) - 0x100) / 4));
        assert_eq!(dwords, [[0, 2, 4, 6], [1, 3, 5, 7], [8, 9, 10, 11]]);
    }

    #[test]
    fn what_is_laid_out_is_where_lanes_look_for_it() {
        let vertex = |primitive: usize, attribute: usize, channel: usize| {
            let base = (100 * primitive + 10 * attribute + channel) as f32;
            [base, base + 0.25, base - 0.5]
        };
        let lds = Lds::new(4096);
        lds.write(64, &lay_out(3, 2, vertex));
        let area = Area::new(64, 0b100_0100);
        for (parameter, expected) in [(Parameter::P0, None), (Parameter::P10, Some(0.25)), (Parameter::P20, Some(-0.5))]
        {
            let row = area.row(lds.whole(), 1, 2, parameter);
            for (lane, value) in row.into_iter().enumerate() {
                let primitive = usize::from(lane >= 8) + usize::from(lane >= 24);
                assert_eq!(f32::from_bits(value), expected.unwrap_or(vertex(primitive, 1, 2)[0]), "lane {lane}");
            }
        }
        assert_eq!(Area(4090).row(lds.whole(), 63, 3, Parameter::P20), [0; LANES]);
    }

    #[test]
    fn direct_reads_have_a_type() {
        let lds = Lds::new(16);
        lds.write(4, &[0x81, 0x92, 0xa3, 0xb4]);
        let read = |ty: u32| direct(&lds, ty << 16 | 4);
        assert_eq!([0, 1, 2].map(read), [0x81, 0x9281, 0xb4a3_9281]);
        assert_eq!([4, 5].map(read), [0xffff_ff81, 0xffff_9281]);
        assert_eq!([3, 6, 7].map(read), [0; 3]);
        assert_eq!([direct(&lds, 2 << 16 | 16), direct(&lds, 0xfff8_0000 | 2 << 16 | 4)], [0, 0xb4a3_9281]);
    }
}
