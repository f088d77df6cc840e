//! Messages: format strings as the metadata has them, and the text they make of their arguments.
//!
//! An entry of `amdhsa.printf` is `ID:COUNT:SIZE:…:FORMAT` where the compiler's back end laid out the arguments (OpenCL
//! C), with some characters of the format escaped, or `0:0:HASH,FORMAT` where clang did (HIP). A conversion is
//! `%[flags][width][.precision][vN][length]letter`; what is none stays as it is.

use super::number::Style;

/// Largest width and precision, as many as C guarantees.
pub(super) const MOST: usize = 4095;

/// An entry of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub(super) key: Key,
    /// Bytes of each argument, for [`Key::Id`].
    pub(super) sizes: Vec<u32>,
    pub(super) format: Format,
}

/// What a record in the buffer says of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Its number.
    Id(u32),
    /// A hash of its format.
    Hash(u64),
}

impl Message {
    /// Understands an entry of the metadata.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(entry: &str) -> Result<Message, &'static str> {
        let bad = "is not ID:COUNT:SIZE:…:FORMAT";
        let (id, rest) = entry.split_once(':').ok_or(bad)?;
        let (count, rest) = rest.split_once(':').ok_or(bad)?;
        let id: u32 = id.parse().map_err(|_| bad)?;
        let count: usize = count.parse().map_err(|_| bad)?;
        if id == 0 {
            let (hash, format) = rest.split_once(',').ok_or("is not 0:0:HASH,FORMAT")?;
            let hash = u64::from_str_radix(hash, 16).map_err(|_| "is not 0:0:HASH,FORMAT")?;
            let format = Format::parse(format.as_bytes());
            return Ok(Message { key: Key::Hash(hash), sizes: Vec::new(), format });
        }
        // The format has no colon, and there may be fewer sizes than arguments: those no conversion is for have none.
        let (mut sizes, mut format) = (Vec::new(), rest);
        while let Some((size, rest)) = format.split_once(':') {
            let size: u32 = size.parse().map_err(|_| bad)?;
            if sizes.len() == count || size == 0 || size > 1 << 16 {
                return Err("has sizes that can't be");
            }
            sizes.push(size);
            format = rest;
        }
        Ok(Message { key: Key::Id(id), sizes, format: Format::parse(&unescape(format)) })
    }

    /// Bytes that its record takes, at least.
    pub(super) fn record(&self) -> u64 {
        match self.key {
            Key::Id(_) => 4 + self.sizes.iter().map(|size| u64::from(*size)).sum::<u64>(),
            Key::Hash(_) => 12 + 8 * self.format.conversions().count() as u64,
        }
    }
}

/// The format that the compiler escaped.
fn unescape(text: &str) -> Vec<u8> {
    const ESCAPES: [(&str, u8); 7] =
        [("\\a", 7), ("\\b", 8), ("\\n", 10), ("\\v", 11), ("\\f", 12), ("\\r", 13), ("\\72", b':')];
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        let escape = ESCAPES.iter().find(|(escape, _)| rest.starts_with(escape.as_bytes()));
        let (byte, next) = escape.map_or((*first, tail), |(escape, byte)| (*byte, &rest[escape.len()..]));
        out.push(byte);
        rest = next;
    }
    out
}

/// A format string, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Conversion(Conversion),
}

/// A width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Given(usize),
    /// `*`: an argument before the value (C only).
    Argument,
}

/// A conversion specification.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conversion {
    style: Style,
    width: Count,
    precision: Option<Count>,
    /// Elements of a vector: 2, 3, 4, 8 or 16.
    vector: Option<usize>,
    length: Length,
    letter: u8,
    /// As it is written.
    text: Vec<u8>,
}

/// A length modifier: bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// None: 4, or in a vector what its size says.
    Default,
    /// `hh` 1, `h` 2, `hl` 4, `l` and the like 8.
    Bytes(usize),
}

/// Where a message's arguments come from.
pub(super) trait Arguments {
    /// The bytes of the next argument, `None` if there is none left. A string ends at a zero or with them.
    fn next(&mut self, what: What) -> Option<&[u8]>;
}

/// What an argument is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Number,
    String,
}

impl Format {
    pub(super) fn parse(text: &[u8]) -> Format {
        let (mut pieces, mut literal, mut rest) = (Vec::new(), Vec::new(), text);
        while let [first, tail @ ..] = rest {
            if let Some(tail) = rest.strip_prefix(b"%%") {
                literal.push(b'%');
                rest = tail;
            } else if let Some((conversion, tail)) = (*first == b'%').then(|| Conversion::parse(rest)).flatten() {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Conversion(conversion));
                rest = tail;
            } else {
                literal.push(*first);
                rest = tail;
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Format(pieces)
    }

    fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Conversion(conversion) => Some(conversion),
            Piece::Text(_) => None,
        })
    }

    /// The message's text. A conversion without an argument stays as it is written.
    pub(super) fn render(&self, arguments: &mut dyn Arguments) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Conversion(conversion) => {
                    if conversion.render(arguments, &mut out).is_none() {
                        out.extend_from_slice(&conversion.text);
                    }
                }
            }
        }
        out
    }
}

/// A reader of a conversion's text.
struct Scanner<'a>(&'a [u8]);

impl<'a> Scanner<'a> {
    fn eat(&mut self, prefix: &[u8]) -> bool {
        self.0.strip_prefix(prefix).map(|rest| self.0 = rest).is_some()
    }

    /// The digits that follow, as a number of at most [`MOST`].
    fn number(&mut self) -> usize {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        number.iter().fold(0, |value: usize, digit| (value * 10 + usize::from(digit - b'0')).min(MOST))
    }

    fn count(&mut self) -> Count {
        if self.eat(b"*") { Count::Argument } else { Count::Given(self.number()) }
    }

    fn flags(&mut self) -> Style {
        let mut style = Style::default();
        while let [flag, rest @ ..] = self.0 {
            match flag {
                b'-' => style.left = true,
                b'+' => style.plus = true,
                b' ' => style.space = true,
                b'#' => style.alternative = true,
                b'0' => style.zero = true,
                _ => break,
            }
            self.0 = rest;
        }
        style
    }

    /// `None` if a number follows that no vector has.
    fn vector(&mut self) -> Option<Option<usize>> {
        if !self.eat(b"v") {
            return Some(None);
        }
        let elements = self.number();
        matches!(elements, 2 | 3 | 4 | 8 | 16).then_some(Some(elements))
    }

    fn length(&mut self) -> Length {
        let lengths: [(&[u8], usize); 9] =
            [(b"hh", 1), (b"hl", 4), (b"h", 2), (b"ll", 8), (b"l", 8), (b"L", 8), (b"j", 8), (b"z", 8), (b"t", 8)];
        let found = lengths.iter().find(|(modifier, _)| self.eat(modifier));
        found.map_or(Length::Default, |(_, bytes)| Length::Bytes(*bytes))
    }
}

impl Conversion {
    /// The conversion that `text` starts with, and what follows it.
    fn parse(text: &[u8]) -> Option<(Conversion, &[u8])> {
        let mut scanner = Scanner(&text[1..]);
        let style = scanner.flags();
        let width = scanner.count();
        let precision = scanner.eat(b".").then(|| scanner.count());
        let vector = scanner.vector()?;
        let length = scanner.length();
        let (&letter, rest) = scanner.0.split_first()?;
        let text = text[..text.len() - rest.len()].to_vec();
        let known = b"diouxXfFeEgGaAcsp".contains(&letter);
        known.then_some((Conversion { style, width, precision, vector, length, letter, text }, rest))
    }

    /// Appends the text of the next argument; `None` if there is none.
    fn render(&self, arguments: &mut dyn Arguments, out: &mut Vec<u8>) -> Option<()> {
        let style = self.style(arguments)?;
        if self.letter == b's' {
            let text = arguments.next(What::String)?;
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            style.pad(&text[..text.len().min(style.precision.unwrap_or(usize::MAX))], out);
            return Some(());
        }
        let bytes = arguments.next(What::Number)?;
        let Some(elements) = self.vector else {
            self.element(style, bytes, out);
            return Some(());
        };
        // A vector of three takes the room of four.
        let size = bytes.len() / if elements == 3 { 4 } else { elements };
        for (i, element) in bytes.chunks_exact(size.max(1)).take(elements).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            self.element(style, element, out);
        }
        Some(())
    }

    /// The style with the widths that are arguments.
    fn style(&self, arguments: &mut dyn Arguments) -> Option<Style> {
        let mut count = |count: Count| match count {
            Count::Given(count) => Some(count as i32),
            Count::Argument => Some(number(arguments.next(What::Number)?) as i32),
        };
        let width = count(self.width)?;
        let precision = self.precision.map(&mut count);
        let bounded = |count: i32| (count.unsigned_abs() as usize).min(MOST);
        let precision = match precision {
            Some(precision) => Some(precision?).filter(|precision| *precision >= 0).map(bounded),
            None => None,
        };
        Some(Style { left: self.style.left || width < 0, width: bounded(width), precision, ..self.style })
    }

    /// Appends one number.
    fn element(&self, style: Style, bytes: &[u8], out: &mut Vec<u8>) {
        let value = number(bytes);
        let default = if self.vector.is_some() { bytes.len() } else { 4 };
        let size = match self.length {
            Length::Default => default,
            Length::Bytes(size) => size,
        };
        let unused = 64 - 8 * size.min(bytes.len()).clamp(1, 8) as u32;
        match self.letter {
            b'd' | b'i' => style.signed((value << unused) as i64 >> unused, out),
            b'o' | b'u' | b'x' | b'X' => style.unsigned(value << unused >> unused, self.letter, out),
            b'c' => style.pad(&[value as u8], out),
            b'p' if value == 0 => style.pad(b"(nil)", out),
            b'p' => Style { alternative: true, ..style }.unsigned(value, b'x', out),
            letter => style.float(float(bytes), letter, out),
        }
    }
}

/// Little-endian, up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A floating-point number of 2, 4 or 8 bytes.
fn float(bytes: &[u8]) -> f64 {
    let bits = number(bytes);
    match bytes.len() {
        2 => half::f16::from_bits(bits as u16).to_f64(),
        4 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}
