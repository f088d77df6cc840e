//! SOPK: scalar with a 16-bit immediate.

use super::operands::scalar::{commit, sources};
use super::sop2::{fork, s_add_i32};
use super::{Builder, Result};
use crate::lane::{Term, Value};
use gcnjit_isa::{Gen, Inst, Operand, Ty};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::trapsts;

fn s_movk_i32(_: &mut Builder, k: Value) -> Value {
    k
}

fn s_cmovk_i32(b: &mut Builder, k: Value, old: Value, scc: Value) -> Value {
    b.select(scc, k, old)
}

macro_rules! compares {
    ($($name:ident |$b:ident, $x:ident, $k:ident| $value:expr;)*) => { $(
        fn $name($b: &mut Builder, $x: Value, $k: Value) -> Value {
            $value
        }
    )* };
}

compares! {
    s_cmpk_eq_i32 |b, x, k| b.eq(x, k);
    s_cmpk_lg_i32 |b, x, k| b.ne(x, k);
    s_cmpk_gt_i32 |b, x, k| b.slt(k, x);
    s_cmpk_ge_i32 |b, x, k| b.sle(k, x);
    s_cmpk_lt_i32 |b, x, k| b.slt(x, k);
    s_cmpk_le_i32 |b, x, k| b.sle(x, k);
    s_cmpk_eq_u32 |b, x, k| b.eq(x, k);
    s_cmpk_lg_u32 |b, x, k| b.ne(x, k);
    s_cmpk_gt_u32 |b, x, k| b.ult(k, x);
    s_cmpk_ge_u32 |b, x, k| b.ule(k, x);
    s_cmpk_lt_u32 |b, x, k| b.ult(x, k);
    s_cmpk_le_u32 |b, x, k| b.ule(x, k);
}

fn s_addk_i32(b: &mut Builder, x: Value, k: Value) -> (Value, Value) {
    s_add_i32(b, x, k)
}

fn s_mulk_i32(b: &mut Builder, x: Value, k: Value) -> Value {
    b.mul(x, k)
}

fn s_cbranch_i_fork(b: &mut Builder, inst: &Inst) -> Result {
    let (label, next) = (super::sopp::target(b, inst), b.next_pc);
    let target = b.b64(label);
    let to_next = fork(b, inst, target)?;
    b.term = Some(Term::Branch(to_next, next, label));
    Ok(())
}

const MODE: u32 = 1;
const STATUS: u32 = 2;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;

/// Bits of STATUS that have a meaning here: SCC, PRIV, EXECZ, VCCZ, IN_BARRIER, HALT, TRAP, VALID.
const STATUS_BITS: u32 = 0x0001_7621;

/// A field of a hardware register: its number, the first bit, and the field's bits moved down.
fn field(operand: Operand) -> Option<(u32, u32, u32)> {
    let Operand::Imm(field) = operand else { return None };
    let (register, offset, size) = (field & 0x3f, field >> 6 & 0x1f, (field >> 11 & 0x1f) + 1);
    Some((register as u32, offset as u32, ((1u64 << size) - 1) as u32))
}

/// SCC, EXECZ and VCCZ where STATUS has them, and VALID.
fn status(b: &mut Builder) -> Value {
    let (scc, exec, vcc) = (b.scc(), b.exec(), b.vcc());
    let flags = [(scc, 0), (b.is_zero(exec), 9), (b.is_zero(vcc), 10)];
    flags.into_iter().fold(b.b32(1 << 16), |status, (flag, at)| {
        let flag = b.b1_to_b32(flag);
        let flag = b.shl_by(flag, at);
        b.or(status, flag)
    })
}

fn s_getreg_b32(b: &mut Builder, inst: &Inst) -> Result {
    let Some((register, offset, bits)) = field(inst.src[0]) else { return b.unimplemented(inst, "no register") };
    let value = match register {
        MODE => b.mode_value(),
        STATUS if bits << offset & !STATUS_BITS == 0 => status(b),
        trapsts::REGISTER if b.exceptions => b.trapsts(),
        trapsts::REGISTER => return b.unimplemented(inst, trapsts::NOT_KEPT),
        IB_STS => b.b32(0),
        SH_MEM_BASES if b.generation() == Gen::Gfx9 => {
            b.b32((PRIVATE_APERTURE >> 48 | LDS_APERTURE >> 48 << 16) as u32)
        }
        _ => return b.unimplemented(inst, "reading this hardware register"),
    };
    let value = b.shr_by(value, offset);
    let value = b.and_bits(value, u64::from(bits));
    b.set_scalar(inst.dst[0], Ty::b32, value);
    Ok(())
}

/// No document says how it differs from s_getreg_b32.
fn s_getreg_regrd_b32(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::Undocumented(b.pc));
    Ok(())
}

/// After a write to MODE the block ends, and code for the new mode goes on.
fn s_setreg_b32(b: &mut Builder, inst: &Inst) -> Result {
    let Some((register, offset, bits)) = field(inst.src[1]) else { return b.unimplemented(inst, "no register") };
    let (what, mask) = match register {
        MODE => (Builder::set_mode_bits as fn(&mut Builder, u32, Value), bits << offset),
        trapsts::REGISTER if b.exceptions => (Builder::set_trapsts_bits as _, bits << offset & trapsts::EXCP),
        trapsts::REGISTER => return b.unimplemented(inst, trapsts::NOT_KEPT),
        _ => return b.unimplemented(inst, "writing this hardware register"),
    };
    let value = b.uniform(inst.src[0], Ty::b32);
    let value = b.shl_by(value, offset);
    let value = b.and_bits(value, u64::from(mask));
    what(b, mask, value);
    Ok(())
}

fn s_setreg_imm32_b32(b: &mut Builder, inst: &Inst) -> Result {
    s_setreg_b32(b, inst)
}

fn s_call_b64(b: &mut Builder, inst: &Inst) -> Result {
    let next = b.next_pc;
    let next = b.b64(next);
    b.set_scalar(inst.dst[0], Ty::b64, next);
    super::sopp::s_branch(b, inst)
}

gcnjit_isa::sopk! { rows }
