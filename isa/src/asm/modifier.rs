//! Splitting a line, and the words after its operands.

use super::{AsmError, Parser, operand};

/// Words that stand after operands without a colon.
const FLAGS: [&str; 24] = [
    "gds",
    "glc",
    "slc",
    "tfe",
    "lds",
    "idxen",
    "offen",
    "addr64",
    "clamp",
    "unorm",
    "r128",
    "a16",
    "lwe",
    "da",
    "d16",
    "done",
    "compr",
    "vm",
    "high",
    "row_mirror",
    "row_half_mirror",
    "nv",
    "mul",
    "div",
];

fn is_modifier(word: &str) -> bool {
    let named = word
        .split_once(':')
        .is_some_and(|(name, _)| name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_'));
    named || FLAGS.contains(&word)
}

/// Operands (separated by commas outside of brackets) and modifiers (the words after the last of them).
pub(super) fn split(rest: &str) -> (Vec<&str>, Vec<&str>) {
    let mut pieces = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in rest.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(rest[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let mut words = words(rest[start..].trim());
    let operands = words.iter().position(|word| is_modifier(word)).unwrap_or(words.len());
    let modifiers = words.split_off(operands);
    pieces.extend(words);
    (pieces, modifiers)
}

/// Words separated by spaces outside of brackets.
fn words(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut words) = (0, 0, Vec::new());
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            c if c.is_whitespace() && depth == 0 => {
                words.extend(text.get(start..at).filter(|word| !word.is_empty()));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    words
}

impl<'a> Parser<'a> {
    /// Whether `word` is among the modifiers; it is taken.
    pub(super) fn flag(&mut self, word: &str) -> bool {
        let at = self.modifiers.iter().position(|modifier| *modifier == word);
        at.map(|at| self.modifiers.remove(at)).is_some()
    }

    /// The text after `name:`, if it is among the modifiers; it is taken.
    pub(super) fn value(&mut self, name: &str) -> Option<&'a str> {
        let of = |modifier: &&'a str| modifier.split_once(':').filter(|(n, _)| *n == name).map(|(_, value)| value);
        let at = self.modifiers.iter().position(|modifier| of(modifier).is_some())?;
        of(&self.modifiers.remove(at))
    }

    /// The number after `name:`, or `default`.
    pub(super) fn amount(&mut self, name: &str, default: i64) -> Result<i64, AsmError> {
        match self.value(name) {
            None => Ok(default),
            Some(text) => operand::number(text).ok_or_else(|| AsmError::Operand(text.to_owned())),
        }
    }

    /// The number after `name:`, or `default`, which is at most `max`.
    pub(super) fn small(&mut self, name: &str, default: u8, max: u8) -> Result<u8, AsmError> {
        let amount = self.amount(name, i64::from(default))?;
        let fits = u8::try_from(amount).ok().filter(|amount| *amount <= max);
        fits.ok_or_else(|| AsmError::Operand(format!("{name}:{amount}")))
    }

    /// The number after `offset:`, or 0.
    pub(super) fn offset(&mut self) -> Result<i32, AsmError> {
        let offset = self.amount("offset", 0)?;
        i32::try_from(offset).map_err(|_| AsmError::Operand(format!("offset:{offset}")))
    }

    /// The bits of `name:[0,1,…]`, first element lowest, and how many there are.
    pub(super) fn bits(&mut self, name: &str) -> Result<Option<(u8, usize)>, AsmError> {
        let Some(text) = self.value(name) else { return Ok(None) };
        let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let wrong = || AsmError::Operand(text.to_owned());
        let mut set = (0, 0);
        for bit in list.ok_or_else(wrong)?.split(',') {
            match bit.trim() {
                "0" => {}
                "1" if set.1 < 8 => set.0 |= 1 << set.1,
                _ => return Err(wrong()),
            }
            set.1 += 1;
        }
        Ok(Some(set))
    }
}
