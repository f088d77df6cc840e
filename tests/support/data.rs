//! Element types, and typed views of bytes.

use serde::Deserialize;

/// The type of a buffer's elements or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Type {
    /// Bytes an element takes.
    pub fn size(self) -> usize {
        match self {
            Type::U8 | Type::I8 => 1,
            Type::U16 | Type::I16 | Type::F16 => 2,
            Type::U32 | Type::I32 | Type::F32 => 4,
            Type::U64 | Type::I64 | Type::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    /// The lowest and highest value of an integer type.
    pub fn range(self) -> (i128, i128) {
        let bits = 8 * self.size() as u32;
        match self {
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => (0, (1 << bits) - 1),
            _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }

    /// The element's bits, zero-extended, from little-endian `bytes`.
    pub fn bits(self, bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.size()].copy_from_slice(&bytes[..self.size()]);
        u64::from_le_bytes(word)
    }

    /// The number that `bits` stand for. Integers of 64 bits may be rounded.
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Type::F16 => F16(bits as u16).to_f32() as f64,
            Type::F32 => f32::from_bits(bits as u32) as f64,
            Type::F64 => f64::from_bits(bits),
            _ => self.integer(bits) as f64,
        }
    }

    /// The integer that `bits` stand for.
    pub fn integer(self, bits: u64) -> i128 {
        let (low, high) = self.range();
        let value = bits as i128;
        if value > high { value + 2 * low } else { value }
    }

    /// The unit of the last place of `number`, if the type is a floating-point type; 1 otherwise.
    pub fn ulp(self, number: f64) -> f64 {
        let (least, fraction) = match self {
            Type::F16 => (-14, 10),
            Type::F32 => (-126, 23),
            Type::F64 => (-1022, 52),
            _ => return 1.0,
        };
        let exponent = (number.abs().to_bits() >> 52) as i32 - 1023;
        2f64.powi(exponent.max(least) - fraction)
    }

    /// The bits of the integer `value`, wrapped to the type's width.
    pub fn encode_integer(self, value: i128) -> Vec<u8> {
        value.to_le_bytes()[..self.size()].to_vec()
    }

    /// The bytes of `value`, rounded to a floating-point type or truncated to an integer.
    pub fn encode(self, value: f64) -> Vec<u8> {
        match self {
            Type::F16 => F16::from_f64(value).0.to_le_bytes().to_vec(),
            Type::F32 => (value as f32).to_le_bytes().to_vec(),
            Type::F64 => value.to_le_bytes().to_vec(),
            _ => self.encode_integer(value as i128),
        }
    }
}

/// A half-precision number, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F16(pub u16);

impl F16 {
    /// The same number in single precision.
    pub fn to_f32(self) -> f32 {
        let sign = if self.0 >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, fraction) = (i32::from(self.0 >> 10 & 31), f32::from(self.0 & 1023));
        match exponent {
            0 => sign * fraction * 2f32.powi(-24),
            31 if fraction == 0.0 => sign * f32::INFINITY,
            31 => f32::NAN,
            _ => sign * (1024.0 + fraction) * 2f32.powi(exponent - 25),
        }
    }

    /// Rounds to the nearest half, ties to even.
    pub fn from_f64(value: f64) -> F16 {
        let sign = u16::from(value.is_sign_negative()) << 15;
        let size = value.abs();
        if size.is_nan() {
            return F16(sign | 0x7e00);
        }
        if size >= 65520.0 {
            return F16(sign | 0x7c00);
        }
        // In units of the last place, a half's bits count up with its size.
        let exponent = (size.to_bits() >> 52) as i32 - 1023;
        let exponent = exponent.max(-14);
        let units = (size * 2f64.powi(10 - exponent)).round_ties_even() as u16;
        let base = ((exponent + 14) as u16) << 10;
        F16(sign | (base + units))
    }
}
