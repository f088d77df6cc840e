//! Formats of typed buffers: what components of a record look like in memory, and as dwords in registers.
//!
//! Contract: all arithmetic is on integers, so that results don't depend on the host's float modes. Components of 32
//! bits are moved as they are, whatever the number format. Others become f32 for every number format but the integers,
//! exactly where possible and otherwise rounded to nearest even; integers are extended. On the way to memory values are
//! clamped to what a component can hold: normalised numbers are rounded to nearest even, scaled ones towards zero, NaN
//! is 0 but for floats. Components that a format lacks read 0.

/// What the bits of a component mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// 0 to 1.
    Unorm,
    /// −1 to 1; the least value is −1 too.
    Snorm,
    /// An unsigned integer, as a float in registers.
    Uscaled,
    /// A signed integer, as a float in registers.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// −1 to 1 without a zero.
    SnormNz,
    /// A float of 32, 16, 11 or 10 bits; the last two have no sign.
    Float,
}

/// The format of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of each component, the one in the lowest bits first; 0 for those that it lacks.
    widths: [u8; 4],
    number: Number,
}

/// A float format: bits of its exponent and its fraction.
#[derive(Clone, Copy)]
struct Float(u32, u32);

const F32: Float = Float(8, 23);
const F16: Float = Float(5, 10);
const ONE: u32 = 0x3f80_0000;

impl Format {
    /// The format of a buffer resource's or instruction's fields; `None` for the reserved and the invalid ones.
    pub fn new(data: u8, number: u8) -> Option<Format> {
        use Number::*;
        let number = [Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, SnormNz, Float][usize::from(number & 7)];
        // The manual's names have the highest component first.
        let widths = match data {
            1 => [8, 0, 0, 0],
            2 => [16, 0, 0, 0],
            3 => [8, 8, 0, 0],
            4 => [32, 0, 0, 0],
            5 => [16, 16, 0, 0],
            6 => [11, 11, 10, 0],
            7 => [10, 11, 11, 0],
            8 => [2, 10, 10, 10],
            9 => [10, 10, 10, 2],
            10 => [8, 8, 8, 8],
            11 => [32, 32, 0, 0],
            12 => [16, 16, 16, 16],
            13 => [32, 32, 32, 0],
            14 => [32, 32, 32, 32],
            _ => return None,
        };
        let float = widths.iter().all(|width| matches!(width, 0 | 10 | 11 | 16 | 32)) && !matches!(data, 8 | 9);
        (number != Float || float).then_some(Format { widths, number })
    }

    /// Size of a record's element in memory: 1, 2, 4, 8, 12 or 16 bytes.
    pub fn bytes(self) -> usize {
        self.widths.iter().map(|width| usize::from(*width)).sum::<usize>() / 8
    }

    /// Whether components are integers in registers.
    pub fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// The components of an element, as dwords.
    pub fn load(self, element: [u8; 16]) -> [u32; 4] {
        let mut rest = u128::from_le_bytes(element);
        self.widths.map(|width| {
            let raw = rest as u32 & mask(width);
            rest >>= width;
            if width == 0 { 0 } else { decode(raw, width, self.number) }
        })
    }

    /// The element of these components.
    pub fn store(self, components: [u32; 4]) -> [u8; 16] {
        let (mut element, mut at) = (0, 0);
        for (width, value) in self.widths.into_iter().zip(components) {
            element |= u128::from(encode(value, width, self.number) & mask(width)) << (at & 127);
            at += width;
        }
        element.to_le_bytes()
    }

    /// A component as 16 bits in a register: a half, or the low bits of an integer.
    pub fn to_half(self, component: u32) -> u16 {
        if self.is_integer() { component as u16 } else { to_f16(component) }
    }

    /// The dword of a component that is 16 bits in a register.
    pub fn from_half(self, half: u16) -> u32 {
        match self.number {
            Number::Uint => half.into(),
            Number::Sint => half as i16 as u32,
            _ => from_f16(half),
        }
    }

    /// The components in the order that a resource's destination selects ask for: 0, 1 or one of them each.
    pub fn select(self, selects: [u8; 4], components: [u32; 4]) -> [u32; 4] {
        selects.map(|select| match select {
            1 => {
                if self.is_integer() {
                    1
                } else {
                    ONE
                }
            }
            4..=7 => components[usize::from(select - 4)],
            _ => 0,
        })
    }
}

/// What [`Format::select`] is undone by, for stores: a component comes from the first value selected from it.
pub fn unselect(selects: [u8; 4], values: [u32; 4]) -> [u32; 4] {
    [4, 5, 6, 7].map(|component| selects.iter().position(|select| *select == component).map_or(0, |i| values[i]))
}

/// The destination selects of a resource's last dword, or those that leave everything in place.
pub fn selects(word3: u32) -> [u8; 4] {
    [0, 3, 6, 9].map(|at| (word3 >> at & 7) as u8)
}

/// Selects that leave everything in place.
pub const IDENTITY: [u8; 4] = [4, 5, 6, 7];

/// The low `width` bits.
pub(crate) const fn mask(width: u8) -> u32 {
    ((1u64 << width) - 1) as u32
}

/// The dword of a component of `width` bits, 1 to 24, or 32, which is its own.
pub(crate) const fn decode(raw: u32, width: u8, number: Number) -> u32 {
    if width == 32 {
        return raw;
    }
    let signed = ((raw << (32 - width)) as i32 >> (32 - width)) as i64;
    let (top, half) = (mask(width) as i64, mask(width - 1) as i64);
    match number {
        Number::Uint => raw,
        Number::Sint => signed as u32,
        Number::Unorm => ratio(raw as i64, top),
        Number::Snorm => ratio(if signed < -half { -half } else { signed }, half),
        Number::SnormNz => ratio(2 * signed + 1, top),
        Number::Uscaled => ratio(raw as i64, 1),
        Number::Sscaled => ratio(signed, 1),
        Number::Float if width == 16 => widen(raw, F16, raw >> 15 != 0),
        Number::Float => widen(raw, Float(5, width as u32 - 5), false),
    }
}

/// An f32 as a half.
pub(crate) fn to_f16(bits: u32) -> u16 {
    narrow(bits, F16) as u16
}

/// A half as an f32.
pub(crate) fn from_f16(half: u16) -> u32 {
    widen(half.into(), F16, half >> 15 != 0)
}

/// The f32 nearest to `significand` · 2^`exponent`.
pub(crate) fn scaled(significand: u64, exponent: i32) -> u32 {
    pack(significand, exponent, F32)
}

/// The bits of a component, in its low `width` bits; `width` is 0, or as for [`decode`].
pub(crate) fn encode(value: u32, width: u8, number: Number) -> u32 {
    if width == 0 || width == 32 {
        return value;
    }
    let (top, half) = (mask(width), mask(width - 1));
    let (negative, nan) = (value >> 31 != 0, value & !SIGN > INFINITY);
    let least = half as i32 + 1;
    match number {
        Number::Uint => value.min(top),
        Number::Sint => (value as i32).clamp(-least, half as i32) as u32,
        Number::Float if width == 16 => narrow(value, F16),
        Number::Float if negative && !nan => 0,
        Number::Float => narrow(value & !SIGN, Float(5, u32::from(width) - 5)),
        _ if nan => 0,
        Number::Unorm | Number::Uscaled if negative => 0,
        Number::Unorm => norm(value, top),
        Number::Snorm | Number::SnormNz => sign(norm(value & !SIGN, half), negative),
        Number::Uscaled => whole(value).min(top),
        Number::Sscaled if negative => whole(value & !SIGN).min(least as u32).wrapping_neg(),
        Number::Sscaled => whole(value).min(half),
    }
}

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;

fn sign(magnitude: u32, negative: bool) -> u32 {
    if negative { magnitude.wrapping_neg() } else { magnitude }
}

/// Significand and exponent of a finite f32 that is not negative.
fn parts(bits: u32) -> (u64, i32) {
    let (exponent, fraction) = (bits >> 23, u64::from(bits & 0x7f_ffff));
    if exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, exponent as i32 - 150) }
}

/// A positive f32 times `top`, at most `top`, to nearest even.
fn norm(bits: u32, top: u32) -> u32 {
    if bits >= ONE {
        return top;
    }
    let (significand, exponent) = parts(bits);
    nearest(significand * u64::from(top), -exponent) as u32
}

/// The integral part of a positive f32, saturated.
fn whole(bits: u32) -> u32 {
    let (significand, exponent) = parts(bits);
    match exponent {
        -23..=0 => (significand >> -exponent) as u32,
        1..=8 => (significand << exponent) as u32,
        9.. => u32::MAX,
        _ => 0,
    }
}

/// `value` / 2^`shift`, to nearest even.
const fn nearest(value: u64, shift: i32) -> u64 {
    match shift {
        ..=0 => value << -shift,
        1..=63 => {
            let (quotient, rest, tie) = (value >> shift, value & ((1 << shift) - 1), 1 << (shift - 1));
            quotient + (rest > tie || rest == tie && quotient & 1 != 0) as u64
        }
        _ => 0,
    }
}

/// The f32 nearest to a quotient of integers below 2^25.
pub(crate) const fn ratio(numerator: i64, denominator: i64) -> u32 {
    let (dividend, denominator) = (numerator.unsigned_abs(), denominator as u64);
    if dividend == 0 {
        return 0;
    }
    // At least 37 bits of quotient, and room for a last one that says whether anything is left, so that ties are seen
    // for what they are.
    let shift = dividend.leading_zeros() - 1;
    let scaled = dividend << shift;
    let quotient = (scaled / denominator) << 1 | (scaled % denominator != 0) as u64;
    let magnitude = pack(quotient, -1 - shift as i32, F32);
    if numerator < 0 { magnitude | SIGN } else { magnitude }
}

/// The float nearest to `significand` · 2^`exponent`, infinity if it is too large.
const fn pack(significand: u64, exponent: i32, Float(exponent_bits, fraction_bits): Float) -> u32 {
    if significand == 0 {
        return 0;
    }
    let least = 2 - (1 << (exponent_bits - 1));
    let leading = significand.ilog2() as i32 + exponent - least;
    let above = if leading < 0 { 0 } else { leading };
    // The leading one of the significand, where there is one, counts the exponent one up.
    let rounded = nearest(significand, least + above - fraction_bits as i32 - exponent);
    let infinity = mask(exponent_bits as u8) << fraction_bits;
    let value = ((above as u64) << fraction_bits) + rounded;
    if value < infinity as u64 { value as u32 } else { infinity }
}

/// An f32 as a smaller float.
fn narrow(bits: u32, to: Float) -> u32 {
    let Float(exponent_bits, fraction_bits) = to;
    let negative = (bits >> 31) << (exponent_bits + fraction_bits);
    let infinity = mask(exponent_bits as u8) << fraction_bits;
    negative
        | match bits & !SIGN {
            nan if nan > INFINITY => infinity | 1 << (fraction_bits - 1) | (nan & 0x7f_ffff) >> (23 - fraction_bits),
            INFINITY => infinity,
            finite => {
                let (significand, exponent) = parts(finite);
                pack(significand, exponent, to)
            }
        }
}

/// A smaller float as an f32.
const fn widen(bits: u32, Float(exponent_bits, fraction_bits): Float, negative: bool) -> u32 {
    let (top, fraction) = (mask(exponent_bits as u8), bits & mask(fraction_bits as u8));
    let exponent = bits >> fraction_bits & top;
    let magnitude = if exponent == top {
        let quiet = if fraction == 0 { 0 } else { 1 << 22 };
        INFINITY | quiet | fraction << (23 - fraction_bits)
    } else {
        let (leading, counted) = if exponent == 0 { (0, 1) } else { (1 << fraction_bits, exponent) };
        let scale = counted as i32 - (1 << (exponent_bits - 1)) + 1 - fraction_bits as i32;
        pack(fraction as u64 | leading, scale, F32)
    };
    if negative { magnitude | SIGN } else { magnitude }
}
