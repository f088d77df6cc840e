//! Compressed formats: blocks of four by four texels in 8 or 16 bytes (Direct3D 11 functional specification, chapter
//! 19.5; Khronos data format specification, chapters 18 to 20).
//!
//! Contract: every block decodes to something; a texel is decoded on its own. Components are interpolated exactly and
//! rounded once: those of BC1 to BC3 to eight bits, those of BC4 and BC5 to f32.

use crate::buffer;

/// A compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bc {
    /// Colours, of which one may be transparent.
    Bc1,
    /// Colours, and alpha of four bits.
    Bc2,
    /// Colours, and interpolated alpha.
    Bc3,
    /// One interpolated channel.
    Bc4,
    /// Two.
    Bc5,
    /// Colours of halves.
    Bc6,
    /// Colours and alpha, in modes of various precision.
    Bc7,
}

impl Bc {
    /// Bytes of a block.
    pub fn bytes(self) -> usize {
        if matches!(self, Bc::Bc1 | Bc::Bc4) { 8 } else { 16 }
    }
}

/// The bits of a block from `at` on, the lowest of the first byte first.
pub(super) fn bits(block: &[u8; 16], at: u32, count: u32) -> u32 {
    (u128::from_le_bytes(*block) >> at) as u32 & ((1 << count) - 1)
}

/// The number of a texel in its block.
fn number(x: u32, y: u32) -> u32 {
    4 * (y & 3) + (x & 3)
}

/// A texel's colour from eight bytes at `at`. BC1 has three colours and a transparent one where the endpoints are not
/// in descending order; in the others they are four always.
fn color(block: &[u8; 16], at: u32, x: u32, y: u32, four: bool) -> [u8; 4] {
    let ends = [0, 16].map(|end| bits(block, at + end, 16));
    let [a, b] = ends.map(|end| [end >> 11, end >> 5 & 63, end & 31]);
    let blend = |wa: u32, wb: u32| {
        let [r, g, b] = [(0, 31), (1, 63), (2, 31)].map(|(i, top)| {
            let whole = top * (wa + wb);
            ((2 * 255 * (wa * a[i] + wb * b[i]) + whole) / (2 * whole)) as u8
        });
        [r, g, b, 255]
    };
    let four = four || ends[0] > ends[1];
    match bits(block, at + 32 + 2 * number(x, y), 2) {
        0 => blend(1, 0),
        1 => blend(0, 1),
        2 if four => blend(2, 1),
        2 => blend(1, 1),
        _ if four => blend(1, 2),
        _ => [0; 4],
    }
}

/// A texel's interpolated channel from eight bytes at byte `at`: numerator and denominator of its value. Endpoints in
/// descending order have six values between them, others four, and the ends of the range.
fn ramp(block: &[u8; 16], at: u32, x: u32, y: u32, signed: bool) -> (i64, i64) {
    let ends = [0, 8].map(|end| bits(block, 8 * at + end, 8));
    let (top, [a, b]) = if signed {
        // The least value is −1 too, but counts as less.
        (127, ends.map(|end| i64::from(end as u8 as i8)))
    } else {
        (255, ends.map(i64::from))
    };
    let six = a > b;
    let (a, b) = (a.max(-top), b.max(-top));
    match i64::from(bits(block, 8 * at + 16 + 3 * number(x, y), 3)) {
        0 => (a, top),
        1 => (b, top),
        i if six => ((8 - i) * a + (i - 1) * b, 7 * top),
        6 => (if signed { -1 } else { 0 }, 1),
        7 => (1, 1),
        i => ((6 - i) * a + (i - 1) * b, 5 * top),
    }
}

/// A texel of BC1.
pub(super) fn bc1(block: &[u8; 16], x: u32, y: u32) -> [u8; 4] {
    color(block, 0, x, y, false)
}

/// A texel of BC2.
pub(super) fn bc2(block: &[u8; 16], x: u32, y: u32) -> [u8; 4] {
    let [r, g, b, _] = color(block, 64, x, y, true);
    [r, g, b, (bits(block, 4 * number(x, y), 4) * 17) as u8]
}

/// A texel of BC3.
pub(super) fn bc3(block: &[u8; 16], x: u32, y: u32) -> [u8; 4] {
    let [r, g, b, _] = color(block, 64, x, y, true);
    let (numerator, denominator) = ramp(block, 0, x, y, false);
    [r, g, b, ((numerator * 255 + denominator / 2) / denominator) as u8]
}

/// A channel of a texel of BC4, or of BC5, whose second is at byte 8.
pub(super) fn channel(block: &[u8; 16], at: u32, x: u32, y: u32, signed: bool) -> u32 {
    let (numerator, denominator) = ramp(block, at, x, y, signed);
    buffer::ratio(numerator, denominator)
}
