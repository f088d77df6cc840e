//! One axis of an image: from a coordinate to the texels that a filter reads.
//!
//! A position is in texels of the level: texel *i* covers [*i*, *i* + 1). Positions become fixed-point numbers, as the
//! hardware's are: with eight bits of fraction for linear filters, so that weights are multiples of 1/256, and with six
//! for the nearest texel unless the sampler truncates; rounded to nearest even. Every f64 has a result: NaN is
//! position 0, and so is infinity where positions repeat; elsewhere it is the far end.

use super::sampler::Clamp;

/// What [`Axis`] gives for a texel outside of the image that has the border's colour.
pub const BORDER: u32 = u32::MAX;

/// The weight of the only texel: shares are out of this.
pub const WHOLE: u32 = 256;

/// Positions beyond ±this are brought into range first; all others are exact as fixed-point numbers.
const FAR: f64 = (1u64 << 42) as f64;

/// 1.5 · 2^52: adding it to a smaller f64 leaves the nearest integer in the low bits.
const TO_INTEGER: f64 = 6755399441055744.0;

/// A texel on an axis, and its share of 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// From 0 to the size less one, or [`BORDER`].
    pub index: u32,
    /// From 0 to [`WHOLE`].
    pub weight: u32,
}

/// How an axis of a level is addressed.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Texels, at least one.
    pub size: u32,
    /// What is outside.
    pub clamp: Clamp,
    /// Texels that the instruction adds.
    pub offset: i32,
}

impl Axis {
    /// The texel that holds `position`.
    #[inline(always)]
    pub fn nearest(self, position: f64, truncate: bool) -> u32 {
        let cell = cell(self.near(position), truncate) + i64::from(self.offset);
        match self.clamp {
            // There is no half of a texel to take from the border.
            Clamp::HalfBorder => Axis { clamp: Clamp::LastTexel, ..self }.texel(cell),
            Clamp::MirrorOnceHalfBorder => Axis { clamp: Clamp::MirrorOnceLastTexel, ..self }.texel(cell),
            _ => self.texel(cell),
        }
    }

    /// The two texels whose centres are around `position`; their weights make [`WHOLE`].
    #[inline(always)]
    pub fn linear(self, position: f64) -> [Tap; 2] {
        let fixed = fixed(self.near(position)) + (i64::from(self.offset) << 8);
        let end = i64::from(self.size) << 8;
        let (first, weight) = split(match self.clamp {
            Clamp::HalfBorder => fixed.clamp(0, end),
            Clamp::MirrorOnceHalfBorder => fixed.abs().min(end),
            _ => fixed,
        });
        [Tap { index: self.texel(first), weight: WHOLE - weight }, Tap { index: self.texel(first + 1), weight }]
    }

    /// The same position, or one that has the same texels, within ±[`FAR`].
    #[inline(always)]
    fn near(self, position: f64) -> f64 {
        if position.abs() <= FAR { position } else { self.far(position) }
    }

    #[cold]
    fn far(self, position: f64) -> f64 {
        match self.clamp {
            // The remainder is exact.
            Clamp::Wrap | Clamp::Mirror => finite(position % (2.0 * f64::from(self.size))),
            _ => finite(position.clamp(-FAR, FAR)),
        }
    }

    /// The texel that stands for the one with number `index`.
    #[inline(always)]
    fn texel(self, index: i64) -> u32 {
        let size = i64::from(self.size);
        if (0..size).contains(&index) { index as u32 } else { self.outside(index, size) }
    }

    #[cold]
    fn outside(self, index: i64, size: i64) -> u32 {
        let reflected = if index < 0 { -1 - index } else { index };
        let inside = match self.clamp {
            Clamp::Wrap => index.rem_euclid(size),
            Clamp::Mirror => {
                let phase = index.rem_euclid(2 * size);
                phase.min(2 * size - 1 - phase)
            }
            Clamp::LastTexel => index.clamp(0, size - 1),
            Clamp::MirrorOnceLastTexel => reflected.min(size - 1),
            Clamp::MirrorOnceHalfBorder | Clamp::MirrorOnceBorder if reflected < size => reflected,
            Clamp::HalfBorder | Clamp::MirrorOnceHalfBorder | Clamp::Border | Clamp::MirrorOnceBorder => {
                return BORDER;
            }
        };
        inside as u32
    }
}

/// The number of the texel that holds `position`, which may lie outside of the image but not beyond ±2^42.
#[inline(always)]
pub fn cell(position: f64, truncate: bool) -> i64 {
    if truncate {
        let whole = position as i64;
        whole - i64::from(whole as f64 > position)
    } else {
        nearest_integer(position * 64.0) >> 6
    }
}

/// The number of the first of the two texels around `position`, which may lie outside of the image but not beyond
/// ±2^42, and the second one's weight.
#[inline(always)]
pub fn pair(position: f64) -> (i64, u32) {
    split(fixed(position))
}

#[inline(always)]
fn fixed(position: f64) -> i64 {
    nearest_integer(position * 256.0)
}

/// Texels have their values at their centres, half a texel after their edges.
#[inline(always)]
fn split(fixed: i64) -> (i64, u32) {
    let from_centre = fixed - 128;
    (from_centre >> 8, (from_centre & 255) as u32)
}

/// `x`, which is below 2^51, to nearest even.
#[inline(always)]
pub fn nearest_integer(x: f64) -> i64 {
    ((x + TO_INTEGER).to_bits()).wrapping_sub(TO_INTEGER.to_bits()) as i64
}

/// A number, 0 for NaN.
#[inline(always)]
pub fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x }
}
