//! SOP1: scalar, one source.

use super::operands::scalar::{commit, sources};
use super::{Builder, Result};
use crate::lane::{Term, Value};
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::wave::reg;

fn s_mov_b32(_: &mut Builder, x: Value) -> Value {
    x
}

fn s_mov_b64(_: &mut Builder, x: Value) -> Value {
    x
}

fn s_not_b32(b: &mut Builder, x: Value) -> (Value, Value) {
    let value = b.not(x);
    (value, b.non_zero(value))
}

fn s_brev_b32(b: &mut Builder, x: Value) -> Value {
    b.bitrev(x)
}

fn s_bcnt1_i32_b64(b: &mut Builder, x: Value) -> (Value, Value) {
    let count = b.popcnt(x);
    let count = b.lo(count);
    (count, b.non_zero(count))
}

/// −1 if there is no one.
fn s_ff1_i32_b64(b: &mut Builder, x: Value) -> Value {
    let (first, found) = (b.ctz(x), b.non_zero(x));
    let (first, none) = (b.lo(first), b.b32(u32::MAX));
    b.select(found, first, none)
}

fn s_sext_i32_i16(b: &mut Builder, x: Value) -> Value {
    b.sext_from(x, 16)
}

fn s_getpc_b64(b: &mut Builder, inst: &Inst) -> Result {
    let next = b.next_pc;
    let pc = b.b64(next);
    b.set_scalar(inst.dst[0], Ty::b64, pc);
    Ok(())
}

fn s_setpc_b64(b: &mut Builder, inst: &Inst) -> Result {
    let target = b.uniform(inst, inst.src[0], Ty::b64)?;
    b.term = Some(Term::Dynamic(target));
    Ok(())
}

fn s_swappc_b64(b: &mut Builder, inst: &Inst) -> Result {
    s_setpc_b64(b, inst)?;
    s_getpc_b64(b, inst)
}

/// The old EXEC to the destination, the combination of the source with it to EXEC.
fn saveexec(b: &mut Builder, inst: &Inst, combine: fn(&mut Builder, Value, Value) -> Value) -> Result {
    let source = b.uniform(inst, inst.src[0], Ty::b64)?;
    let exec = b.exec();
    let new = combine(b, source, exec);
    b.set_scalar(inst.dst[0], Ty::b64, exec);
    b.set_sgpr64(reg::EXEC as u8, new);
    let scc = b.non_zero(new);
    b.set_scc(scc);
    Ok(())
}

fn s_and_saveexec_b64(b: &mut Builder, inst: &Inst) -> Result {
    saveexec(b, inst, |b, x, exec| b.and(x, exec))
}

fn s_xor_saveexec_b64(b: &mut Builder, inst: &Inst) -> Result {
    saveexec(b, inst, |b, x, exec| b.xor(x, exec))
}

fn s_andn2_saveexec_b64(b: &mut Builder, inst: &Inst) -> Result {
    saveexec(b, inst, |b, x, exec| b.andn(x, exec))
}

gcnjit_isa::sop1! { rows }
