//! What buffers are made of: numbers as text, and how far two are apart.

use std::str::FromStr;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A byte of which nothing is known.
    Byte,
    /// An integer of so many bytes.
    Int {
        /// Its size.
        bytes: usize,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A float of so many bytes.
    Float {
        /// Its size.
        bytes: usize,
    },
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        let (kind, bits) = text.split_at_checked(1).unwrap_or_default();
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => 0,
        };
        match (kind, bytes) {
            ("u", 1..) => Ok(Element::Int { bytes, signed: false }),
            ("i", 1..) => Ok(Element::Int { bytes, signed: true }),
            ("f", 2..) => Ok(Element::Float { bytes }),
            _ => Err(format!("'{text}' is no type; there are u8 to u64, i8 to i64, f16, f32, f64")),
        }
    }
}

/// How far two elements are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The absolute value of the difference; infinite if only one is NaN.
    pub absolute: f64,
    /// Representable numbers from one to the other, for floats.
    pub ulps: Option<u64>,
}

impl Element {
    /// What a pointer type of OpenCL C, such as `float4*`, points to; bytes if it is none that we know.
    pub fn of_pointer(ty: &str) -> Element {
        let scalar = ty.trim_end_matches('*').trim_end_matches(|c: char| c.is_ascii_digit());
        let int = |bytes, signed| Element::Int { bytes, signed };
        match scalar {
            "char" => int(1, true),
            "uchar" => int(1, false),
            "short" => int(2, true),
            "ushort" => int(2, false),
            "int" => int(4, true),
            "uint" => int(4, false),
            "long" => int(8, true),
            "ulong" => int(8, false),
            "half" => Element::Float { bytes: 2 },
            "float" => Element::Float { bytes: 4 },
            "double" => Element::Float { bytes: 8 },
            _ => Element::Byte,
        }
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::Byte => 1,
            Element::Int { bytes, .. } | Element::Float { bytes } => bytes,
        }
    }

    /// The bits of an element.
    pub fn bits(self, bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.size()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    }

    /// An element as text.
    pub fn text(self, bits: u64) -> String {
        match self {
            Element::Byte => format!("{bits:02x}"),
            Element::Int { signed: true, .. } => self.signed(bits).to_string(),
            Element::Int { .. } => bits.to_string(),
            Element::Float { bytes: 2 } => half::f16::from_bits(bits as u16).to_string(),
            Element::Float { bytes: 4 } => f32::from_bits(bits as u32).to_string(),
            Element::Float { .. } => f64::from_bits(bits).to_string(),
        }
    }

    /// How far two elements are apart. NaNs are all the same.
    pub fn distance(self, a: u64, b: u64) -> Distance {
        match self {
            Element::Float { .. } => {
                let (x, y) = (self.float(a), self.float(b));
                if x.is_nan() || y.is_nan() {
                    let same = x.is_nan() && y.is_nan();
                    return Distance {
                        absolute: if same { 0.0 } else { f64::INFINITY },
                        ulps: Some(if same { 0 } else { u64::MAX }),
                    };
                }
                let absolute = if x == y { 0.0 } else { (x - y).abs() };
                Distance { absolute, ulps: Some(self.rank(a).abs_diff(self.rank(b))) }
            }
            Element::Int { signed: true, .. } => {
                Distance { absolute: self.signed(a).abs_diff(self.signed(b)) as f64, ulps: None }
            }
            _ => Distance { absolute: a.abs_diff(b) as f64, ulps: None },
        }
    }

    fn signed(self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.size() as u32;
        (bits << unused) as i64 >> unused
    }

    fn float(self, bits: u64) -> f64 {
        match self.size() {
            2 => half::f16::from_bits(bits as u16).to_f64(),
            4 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }

    /// The place of a float among all of its type; both zeroes have the same.
    fn rank(self, bits: u64) -> i64 {
        let sign = 1 << (8 * self.size() - 1);
        let magnitude = (bits & (sign - 1)) as i64;
        if bits & sign != 0 { -magnitude } else { magnitude }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_apart_by_the_numbers_between_them() {
        let f32s = |a: f32, b: f32| {
            let distance = Element::Float { bytes: 4 }.distance(a.to_bits().into(), b.to_bits().into());
            (distance.absolute, distance.ulps.unwrap())
        };
        assert_eq!(f32s(1.0, 1.0), (0.0, 0));
        assert_eq!(f32s(0.0, -0.0), (0.0, 0));
        assert_eq!(f32s(1.0, 1.0f32.next_up()), (f64::from(f32::EPSILON), 1));
        assert_eq!(f32s(f32::from_bits(1), -f32::from_bits(1)).1, 2);
        assert_eq!(f32s(f32::NAN, -f32::NAN), (0.0, 0));
        assert_eq!(f32s(f32::NAN, 0.0), (f64::INFINITY, u64::MAX));
        assert_eq!(f32s(f32::MAX, f32::INFINITY), (f64::INFINITY, 1));
    }

    #[test]
    fn integers_have_signs() {
        let i8s = Element::Int { bytes: 1, signed: true };
        assert_eq!((i8s.text(0xff), i8s.distance(0xff, 1).absolute), ("-1".to_owned(), 2.0));
        assert_eq!(Element::from_str("u16"), Ok(Element::Int { bytes: 2, signed: false }));
        for text in ["", "u", "f8", "x32", "u7", "é"] {
            assert!(Element::from_str(text).is_err(), "{text}");
        }
        assert_eq!(Element::of_pointer("float4*"), Element::Float { bytes: 4 });
    }
}
