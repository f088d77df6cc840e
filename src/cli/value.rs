//! Numbers as they are written on the command line.

/// The bytes of a scalar of type `ty` with the value that `text` says: decimal or `0x…`, for floating-point types also
/// `1e-3`, `nan` and `inf`. A hexadecimal number is the value's bits.
pub fn scalar(ty: &str, text: &str) -> Option<Result<Vec<u8>, String>> {
    let bits = match ty {
        "u8" | "i8" => 8,
        "u16" | "i16" | "f16" => 16,
        "u32" | "i32" | "f32" => 32,
        "u64" | "i64" | "f64" => 64,
        _ => return None,
    };
    let value = match &ty[..1] {
        "f" if !is_hex(text) => float(ty, text),
        kind => integer(text, bits, kind == "i"),
    };
    let wrong = || format!("'{text}' is no {ty}");
    Some(value.ok_or_else(wrong).map(|value| value.to_le_bytes()[..bits as usize / 8].to_vec()))
}

/// A size or count.
pub fn size(text: &str) -> Result<u64, String> {
    integer(text, 64, false).ok_or_else(|| format!("'{text}' is no size"))
}

/// The same, where 32 bits have to do.
pub fn size32(text: &str) -> Result<u32, String> {
    size(text)?.try_into().map_err(|_| format!("'{text}' is too large"))
}

/// Bytes in hexadecimal, two digits each.
pub fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(((*high as char).to_digit(16)? << 4 | (*low as char).to_digit(16)?) as u8),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| format!("'{text}' is not bytes in hexadecimal"))
}

fn is_hex(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

/// The low bits of an integer of this width.
fn integer(text: &str, bits: u32, signed: bool) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hex = is_hex(digits);
    let (digits, radix) = if hex { (&digits[2..], 16) } else { (digits, 10) };
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    let least = if signed { -(1 << (bits - 1)) } else { 0 };
    let end = if signed && !hex { 1 << (bits - 1) } else { 1 << bits };
    (least..end).contains(&value).then_some(value as u64)
}

/// The bits of a floating-point number.
fn float(ty: &str, text: &str) -> Option<u64> {
    Some(match ty {
        "f16" => half::f16::from_f64(text.parse().ok()?).to_bits().into(),
        "f32" => text.parse::<f32>().ok()?.to_bits().into(),
        _ => text.parse::<f64>().ok()?.to_bits(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(ty: &str, text: &str) -> Option<Vec<u8>> {
        scalar(ty, text).expect("a type").ok()
    }

    #[test]
    fn integers_fit_their_type_and_hex_is_bits() {
        assert_eq!(number("u8", "255"), Some(vec![255]));
        assert_eq!(number("u8", "256"), None);
        assert_eq!(number("u8", "-1"), None);
        assert_eq!(number("i8", "-128"), Some(vec![0x80]));
        assert_eq!(number("i8", "128"), None);
        assert_eq!(number("i8", "0xff"), Some(vec![0xff]));
        assert_eq!(number("i16", "-0x10"), Some(vec![0xf0, 0xff]));
        assert_eq!(number("u64", "18446744073709551615"), Some(vec![0xff; 8]));
        assert_eq!(number("i64", "-9223372036854775808"), Some(vec![0, 0, 0, 0, 0, 0, 0, 0x80]));
        for text in ["", "-", "0x", "1.5", "--1", "0x1ffffffff", "ten", "１"] {
            assert_eq!(number("u32", text), None, "{text}");
        }
    }

    #[test]
    fn floats_round_and_have_special_values() {
        assert_eq!(number("f32", "-1.5e0"), Some((-1.5f32).to_le_bytes().to_vec()));
        assert_eq!(number("f32", "inf"), Some(f32::INFINITY.to_le_bytes().to_vec()));
        assert!(f32::from_le_bytes(number("f32", "nan").unwrap().try_into().unwrap()).is_nan());
        assert_eq!(number("f32", "0x3f800000"), Some(1f32.to_le_bytes().to_vec()));
        assert_eq!(number("f16", "1"), Some(vec![0, 0x3c]));
        assert_eq!(number("f64", "7"), Some(7f64.to_le_bytes().to_vec()));
        assert_eq!(number("f64", "seven"), None);
        assert!(scalar("f8", "1").is_none());
    }

    #[test]
    fn bytes_come_in_pairs_of_digits() {
        assert_eq!(bytes("00ff"), Ok(vec![0, 255]));
        assert_eq!(bytes(""), Ok(vec![]));
        assert!(bytes("0").is_err() && bytes("0g").is_err() && bytes("é0").is_err());
    }
}
