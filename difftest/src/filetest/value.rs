//! Values in filetests: integers and floats of 32 or 64 bits.

/// The bits of a value, if it is one.
pub fn bits(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(&digits.replace('_', ""), 16).ok();
    }
    if let Some(float) = text.strip_suffix('f').filter(|float| float.contains('.')) {
        return float.parse::<f32>().ok().map(|x| u64::from(x.to_bits()));
    }
    if let Some(float) = text.strip_suffix('d').filter(|float| float.contains('.')) {
        return float.parse::<f64>().ok().map(f64::to_bits);
    }
    text.parse::<i64>().ok().map(i64::cast_unsigned)
}

/// A value as it is written: small ones in decimal, others in hexadecimal.
pub fn text(bits: u64) -> String {
    if bits < 10 { bits.to_string() } else { format!("{bits:#x}") }
}
