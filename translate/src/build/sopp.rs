//! SOPP: control, waits and messages. All memory operations are finished when the next instruction begins, so
//! waits have nothing to wait for.

use super::{Builder, Result};
use crate::lane::{Term, Value};
use gcnjit_isa::Inst;
use gcnjit_rt::wave::reg;

fn s_nop(_: &mut Builder, _: &Inst) -> Result {
    Ok(())
}

fn s_endpgm(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::End(b.pc));
    Ok(())
}

fn target(b: &Builder, inst: &Inst) -> u64 {
    inst.branch_target(b.pc).expect("branches have a label")
}

fn s_branch(b: &mut Builder, inst: &Inst) -> Result {
    b.term = Some(Term::Jump(target(b, inst)));
    Ok(())
}

fn branch_if(b: &mut Builder, inst: &Inst, condition: Value) -> Result {
    b.term = Some(Term::Branch(condition, target(b, inst), b.next_pc));
    Ok(())
}

fn s_cbranch_scc0(b: &mut Builder, inst: &Inst) -> Result {
    let scc = b.scc();
    let clear = b.not(scc);
    branch_if(b, inst, clear)
}

fn s_cbranch_scc1(b: &mut Builder, inst: &Inst) -> Result {
    let scc = b.scc();
    branch_if(b, inst, scc)
}

fn s_cbranch_vccz(b: &mut Builder, inst: &Inst) -> Result {
    let vcc = b.sgpr64(reg::VCC as u8);
    let zero = b.is_zero(vcc);
    branch_if(b, inst, zero)
}

fn s_cbranch_vccnz(b: &mut Builder, inst: &Inst) -> Result {
    let vcc = b.sgpr64(reg::VCC as u8);
    let set = b.non_zero(vcc);
    branch_if(b, inst, set)
}

fn s_cbranch_execz(b: &mut Builder, inst: &Inst) -> Result {
    let exec = b.exec();
    let zero = b.is_zero(exec);
    branch_if(b, inst, zero)
}

fn s_cbranch_execnz(b: &mut Builder, inst: &Inst) -> Result {
    let exec = b.exec();
    let set = b.non_zero(exec);
    branch_if(b, inst, set)
}

fn s_barrier(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::Barrier(b.next_pc));
    Ok(())
}

fn s_waitcnt(_: &mut Builder, _: &Inst) -> Result {
    Ok(())
}

fn s_set_gpr_idx_off(b: &mut Builder, _: &Inst) -> Result {
    b.gpr_idx = 0;
    Ok(())
}

gcnjit_isa::sopp! { rows }
