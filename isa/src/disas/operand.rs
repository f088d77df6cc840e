//! Registers, inline constants and literals.

use std::fmt::Write;

use crate::gfx::Gen;
use crate::operand::{Operand, Ty};

/// The inline floats by code from 240, and 1/(2π) at the end.
const FLOATS: [&str; 9] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"];
/// 1/(2π) as a 64-bit operand prints it.
const INV_2PI_64: &str = "0.15915494309189532";

/// Writes an operand of type `ty`.
pub(super) fn write(out: &mut String, operand: Operand, ty: Ty, generation: Gen) {
    let _ = match operand {
        Operand::None => return,
        Operand::Sgpr(_) | Operand::Vgpr(_) => {
            return registers(out, operand, u32::from(ty.dwords().max(1)), generation);
        }
        Operand::Scc => out.write_str("src_scc"),
        Operand::Inline(code) => return inline(out, code, ty),
        Operand::Literal(value) => return literal(out, value, ty, generation),
        Operand::Imm(value) => write!(out, "{value}"),
        Operand::Special(code) => out.write_str(special(code)),
    };
}

/// Writes `dwords` registers from the one named.
pub(super) fn registers(out: &mut String, operand: Operand, dwords: u32, generation: Gen) {
    let _ = match operand {
        Operand::Vgpr(first) => range(out, "v", u32::from(first), dwords),
        Operand::Sgpr(code) => scalar(out, u32::from(code), dwords, generation),
        _ => Ok(()),
    };
}

fn range(out: &mut String, prefix: &str, first: u32, dwords: u32) -> std::fmt::Result {
    match dwords {
        0 | 1 => write!(out, "{prefix}{first}"),
        _ => write!(out, "{prefix}[{first}:{}]", first + dwords - 1),
    }
}

fn scalar(out: &mut String, code: u32, dwords: u32, generation: Gen) -> std::fmt::Result {
    let sgprs = u32::from(generation.sgprs());
    let traps = if generation >= Gen::Gfx9 { 108 } else { 112 };
    if code < sgprs {
        return range(out, "s", code, dwords);
    }
    if (traps..124).contains(&code) {
        return range(out, "ttmp", code - traps, dwords);
    }
    let name = match code & !1 {
        102 => "flat_scratch",
        104 if generation == Gen::Gfx7 => "flat_scratch",
        104 => "xnack_mask",
        106 => "vcc",
        108 => "tba",
        110 => "tma",
        124 => return out.write_str("m0"),
        _ => "exec",
    };
    let half = match (dwords, code & 1) {
        (2.., _) => "",
        (_, 0) => "_lo",
        (_, _) => "_hi",
    };
    write!(out, "{name}{half}")
}

fn special(code: u8) -> &'static str {
    match code {
        235 => "src_shared_base",
        236 => "src_shared_limit",
        237 => "src_private_base",
        238 => "src_private_limit",
        239 => "src_pops_exiting_wave_id",
        251 => "src_vccz",
        252 => "src_execz",
        _ => "src_lds_direct",
    }
}

/// Whether an operand of this type is a 16-bit integer, for which inline floats are their bits.
fn is_int16(ty: Ty) -> bool {
    matches!(ty, Ty::b16 | Ty::u16 | Ty::i16)
}

fn inline(out: &mut String, code: u8, ty: Ty) {
    let _ = match code {
        128..=192 => write!(out, "{}", i32::from(code) - 128),
        193..=208 => write!(out, "{}", 192 - i32::from(code)),
        _ if is_int16(ty) => write!(out, "{:#x}", Operand::Inline(code).inline_bits(ty).unwrap_or_default()),
        248 if ty.dwords() == 2 => out.write_str(INV_2PI_64),
        _ => out.write_str(FLOATS[usize::from(code - 240) % FLOATS.len()]),
    };
}

/// A literal prints as the inline constant of its value, where there is one.
fn literal(out: &mut String, value: u32, ty: Ty, generation: Gen) {
    let small = |v: i64| (-16..=64).contains(&v);
    let pattern = |ty: Ty, bits: u64| {
        let last = if generation >= Gen::Gfx8 { 248 } else { 247 };
        (240..=last).find(|code| Operand::Inline(*code).inline_bits(ty) == Some(bits))
    };
    let low = value & 0xffff;
    let (int, float, hex) = match ty {
        Ty::f16 => (Some(i64::from(low as u16 as i16)), pattern(Ty::f16, u64::from(low)), low),
        _ if is_int16(ty) => (Some(i64::from(value as i32)), None, low),
        Ty::f64 => (Some(0).filter(|_| value == 0), pattern(Ty::f64, u64::from(value) << 32), value),
        _ if ty.dwords() == 2 => (Some(i64::from(value)), None, value),
        _ => (Some(i64::from(value as i32)), pattern(Ty::b32, u64::from(value)), value),
    };
    let _ = match (int.filter(|v| small(*v)), float) {
        (Some(int), _) => write!(out, "{int}"),
        (None, Some(code)) => out.write_str(FLOATS[usize::from(code - 240)]),
        (None, None) => write!(out, "{hex:#x}"),
    };
}
