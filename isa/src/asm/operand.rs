//! Registers and constants.

use crate::gfx::Gen;
use crate::operand::{Operand, Ty};

/// Scalar registers and sources that have names, by code; `_lo` and `_hi` are made from the pairs.
const PAIRS: [(&str, u8); 6] =
    [("flat_scratch", 102), ("xnack_mask", 104), ("vcc", 106), ("tba", 108), ("tma", 110), ("exec", 126)];
const SPECIALS: [(&str, u8); 8] = [
    ("src_shared_base", 235),
    ("src_shared_limit", 236),
    ("src_private_base", 237),
    ("src_private_limit", 238),
    ("src_pops_exiting_wave_id", 239),
    ("src_vccz", 251),
    ("src_execz", 252),
    ("src_lds_direct", 254),
];
const FLOATS: [f64; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];

/// A decimal or hexadecimal number.
pub(super) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -value } else { value })
}

/// An operand of type `ty`: a register, an inline constant, or a literal.
pub(super) fn read(text: &str, ty: Ty, generation: Gen) -> Option<Operand> {
    register(text, generation).or_else(|| named(text, generation)).or_else(|| constant(text, ty, generation))
}

/// `v7`, `v[4:5]`, `s7`, `ttmp[0:3]`: the first register.
fn register(text: &str, generation: Gen) -> Option<Operand> {
    let digits = text.find(|c: char| c == '[' || c.is_ascii_digit())?;
    let (prefix, index) = text.split_at(digits);
    let first = match index.strip_prefix('[') {
        Some(range) => range.strip_suffix(']')?.split(':').next()?.trim(),
        None => index,
    };
    let first: u8 = first.parse().ok()?;
    match prefix {
        "v" => Some(Operand::Vgpr(first)),
        "s" if first < generation.sgprs() => Some(Operand::Sgpr(first)),
        "ttmp" if generation == Gen::Gfx9 && first < 16 => Some(Operand::Sgpr(108 + first)),
        "ttmp" if generation < Gen::Gfx9 && first < 12 => Some(Operand::Sgpr(112 + first)),
        _ => None,
    }
}

fn named(text: &str, generation: Gen) -> Option<Operand> {
    if text == "m0" {
        return Some(Operand::M0);
    }
    if text == "src_scc" {
        return Some(Operand::Scc);
    }
    if let Some((_, code)) = SPECIALS.iter().find(|(name, _)| *name == text) {
        return Some(Operand::Special(*code));
    }
    let (pair, high) = match text.strip_suffix("_hi") {
        Some(pair) => (pair, 1),
        None => (text.strip_suffix("_lo").unwrap_or(text), 0),
    };
    let (name, code) = PAIRS.iter().find(|(name, _)| *name == pair)?;
    let absent = match *name {
        "flat_scratch" => generation < Gen::Gfx7,
        "xnack_mask" => generation < Gen::Gfx8,
        "tba" | "tma" => generation == Gen::Gfx9,
        _ => false,
    };
    if absent {
        return None;
    }
    // On gfx7, FLAT_SCRATCH is where XNACK_MASK came to be.
    let code = if *name == "flat_scratch" && generation < Gen::Gfx8 { 104 } else { *code };
    Some(Operand::Sgpr(code + high))
}

/// A number: inline where its value is, else a literal of the operand's type.
fn constant(text: &str, ty: Ty, generation: Gen) -> Option<Operand> {
    if let Some(value) = number(text) {
        return Some(match value {
            0..=64 => Operand::Inline(128 + value as u8),
            -16..0 => Operand::Inline((192 - value) as u8),
            _ => bits_of(value, ty)?,
        });
    }
    let value: f64 = text.parse().ok().filter(|_| text.contains('.'))?;
    if let Some(i) = FLOATS.iter().position(|float| *float == value) {
        return Some(Operand::Inline(240 + i as u8));
    }
    let inverse = text == "0.15915494" || text == "0.15915494309189532";
    if inverse && generation >= Gen::Gfx8 {
        return Some(Operand::Inline(248));
    }
    match ty {
        Ty::f64 => Some(Operand::Literal((value.to_bits() >> 32) as u32)),
        Ty::f16 => None,
        _ => Some(Operand::Literal((value as f32).to_bits())),
    }
}

/// An integer literal, or where the 16-bit type says so the inline float of these bits.
fn bits_of(value: i64, ty: Ty) -> Option<Operand> {
    if !(-0x8000_0000..=0xffff_ffff).contains(&value) {
        return None;
    }
    let halves = matches!(ty, Ty::b16 | Ty::u16 | Ty::i16);
    let inline = (240..=248).find(|code| halves && Operand::Inline(*code).inline_bits(ty) == Some(value as u64));
    Some(inline.map_or(Operand::Literal(value as u32), Operand::Inline))
}
