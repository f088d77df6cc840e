//! Numbers as C's printf writes them.
//!
//! Contract: the same bytes as the C library in its "C" locale with rounding to nearest even, for every conversion,
//! flag, width and precision (up to [`super::format::MOST`]).

/// How a number is written: flags, least width, precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// `-`: on the left of its field.
    pub left: bool,
    /// `+`: positive numbers have a sign.
    pub plus: bool,
    /// A space in the sign's place.
    pub space: bool,
    /// `#`: the alternative form.
    pub alternative: bool,
    /// `0`: the field is filled with zeroes.
    pub zero: bool,
    /// Least width.
    pub width: usize,
    /// Precision, if there is one.
    pub precision: Option<usize>,
}

impl Style {
    /// `text` in its field.
    pub(super) fn pad(self, text: &[u8], out: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(text.len());
        if !self.left {
            out.resize(out.len() + fill, b' ');
        }
        out.extend_from_slice(text);
        if self.left {
            out.resize(out.len() + fill, b' ');
        }
    }

    /// A number in its field; zeroes go between what leads (sign, `0x`) and its digits.
    fn pad_number(self, lead: &str, digits: &str, zero: bool, out: &mut Vec<u8>) {
        let zeroes = if zero && !self.left { self.width.saturating_sub(lead.len() + digits.len()) } else { 0 };
        self.pad(format!("{lead}{:0<zeroes$}{digits}", "").as_bytes(), out);
    }

    fn sign(self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    /// `d` and `i`.
    pub(super) fn signed(self, value: i64, out: &mut Vec<u8>) {
        let digits = self.digits(value.unsigned_abs().to_string(), value == 0);
        self.pad_number(self.sign(value < 0), &digits, self.zero && self.precision.is_none(), out);
    }

    /// `u`, `o`, `x` and `X`.
    pub(super) fn unsigned(self, value: u64, letter: u8, out: &mut Vec<u8>) {
        let (digits, prefix) = match letter {
            b'o' => (format!("{value:o}"), ""),
            b'x' => (format!("{value:x}"), "0x"),
            b'X' => (format!("{value:X}"), "0X"),
            _ => (value.to_string(), ""),
        };
        let mut digits = self.digits(digits, value == 0);
        if self.alternative && letter == b'o' && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        let lead = if self.alternative && value != 0 { prefix } else { "" };
        self.pad_number(lead, &digits, self.zero && self.precision.is_none(), out);
    }

    /// At least as many digits as the precision says; zero has none if that is 0.
    fn digits(self, digits: String, is_zero: bool) -> String {
        match self.precision {
            Some(0) if is_zero => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        }
    }

    /// `f`, `e`, `g`, `a` and their capitals.
    pub(super) fn float(self, value: f64, letter: u8, out: &mut Vec<u8>) {
        let (size, lower) = (value.abs(), letter.to_ascii_lowercase());
        let (prefix, digits) = match lower {
            _ if size.is_nan() => ("", "nan".to_owned()),
            _ if size.is_infinite() => ("", "inf".to_owned()),
            b'a' => ("0x", self.hexadecimal(size)),
            b'e' => ("", self.scientific(size, self.precision.unwrap_or(6))),
            b'g' => ("", self.general(size)),
            _ => ("", self.fixed(size, self.precision.unwrap_or(6))),
        };
        let mut lead = format!("{}{prefix}", self.sign(value.is_sign_negative()));
        let mut digits = digits;
        if letter.is_ascii_uppercase() {
            lead.make_ascii_uppercase();
            digits.make_ascii_uppercase();
        }
        self.pad_number(&lead, &digits, self.zero && value.is_finite(), out);
    }

    fn fixed(self, size: f64, precision: usize) -> String {
        let point = if self.alternative && precision == 0 { "." } else { "" };
        format!("{size:.precision$}{point}")
    }

    fn scientific(self, size: f64, precision: usize) -> String {
        let (digits, exponent) = decimal(size, precision);
        let point = if self.alternative && precision == 0 { "." } else { "" };
        format!("{digits}{point}{}", exponent_part('e', exponent))
    }

    /// Fixed or scientific, whichever suits the exponent, without the zeroes at the end.
    fn general(self, size: f64) -> String {
        let significant = self.precision.unwrap_or(6).max(1);
        let (digits, exponent) = decimal(size, significant - 1);
        let is_fixed = exponent >= -4 && exponent < significant as i32;
        let text = if is_fixed {
            self.fixed(size, (significant as i32 - 1 - exponent) as usize)
        } else if self.alternative && significant == 1 {
            digits + "."
        } else {
            digits
        };
        let text = match text.contains('.') && !self.alternative {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
        if is_fixed { text } else { text + &exponent_part('e', exponent) }
    }

    /// Without its `0x`.
    fn hexadecimal(self, size: f64) -> String {
        const FRACTION: usize = 13;
        let bits = size.to_bits();
        let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let exponent = if biased == 0 && fraction == 0 { 0 } else { biased.max(1) - 1023 };
        // The leading digit stands in front of the 13 of the fraction.
        let mut digits = fraction | u64::from(biased != 0) << 52;
        let kept = self.precision.map_or(FRACTION, |precision| precision.min(FRACTION));
        let drop = 4 * (FRACTION - kept) as u32;
        if drop > 0 {
            let (rest, tie) = (digits & ((1 << drop) - 1), 1 << (drop - 1));
            digits >>= drop;
            digits += u64::from(rest > tie || rest == tie && digits & 1 != 0);
        }
        let (lead, rest) = (digits >> (4 * kept), digits & ((1 << (4 * kept)) - 1));
        let mut places = if kept == 0 { String::new() } else { format!("{rest:0kept$x}") };
        match self.precision {
            Some(precision) => places = format!("{places:0<precision$}"),
            None => places.truncate(places.trim_end_matches('0').len()),
        }
        let point = if places.is_empty() && !self.alternative { "" } else { "." };
        format!("{lead:x}{point}{places}p{exponent:+}")
    }
}

/// The digits of a finite number with one before the point, and the power of ten they are multiplied with.
fn decimal(size: f64, precision: usize) -> (String, i32) {
    let text = format!("{size:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

/// At least two digits and a sign.
fn exponent_part(letter: char, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}
