//! SOPP: control, waits and messages. All memory operations are finished when the next instruction begins, so
//! waits have nothing to wait for.

use super::{Builder, Result};
use crate::lane::{Term, Value};
use gcnjit_isa::{Inst, Operand};
use gcnjit_rt::export::Sent;

macro_rules! without_effect {
    ($($name:ident)*) => { $(
        fn $name(_: &mut Builder, _: &Inst) -> Result {
            Ok(())
        }
    )* };
}

macro_rules! ends {
    ($($name:ident)*) => { $(
        fn $name(b: &mut Builder, _: &Inst) -> Result {
            b.term = Some(Term::End(b.pc));
            Ok(())
        }
    )* };
}

without_effect! { s_nop }
ends! { s_endpgm }

/// Where a branch goes.
pub(super) fn target(b: &Builder, inst: &Inst) -> u64 {
    inst.branch_target(b.pc).expect("branches have a label")
}

pub(super) fn s_branch(b: &mut Builder, inst: &Inst) -> Result {
    b.term = Some(Term::Jump(target(b, inst)));
    Ok(())
}

without_effect! { s_wakeup }

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
    let vcc = b.vcc();
    let zero = b.is_zero(vcc);
    branch_if(b, inst, zero)
}

fn s_cbranch_vccnz(b: &mut Builder, inst: &Inst) -> Result {
    let vcc = b.vcc();
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

/// The low bit of the immediate, which switches something.
fn switch(inst: &Inst) -> bool {
    matches!(inst.src[0], Operand::Imm(imm) if imm & 1 != 0)
}

fn s_setkill(b: &mut Builder, inst: &Inst) -> Result {
    if switch(inst) { b.unimplemented(inst, "killing a wave") } else { Ok(()) }
}

without_effect! { s_waitcnt }

fn s_sethalt(b: &mut Builder, inst: &Inst) -> Result {
    b.term = Some(if switch(inst) { Term::Halt(b.pc) } else { Term::Jump(b.next_pc) });
    Ok(())
}

/// A wave that sleeps mostly waits for another one.
fn s_sleep(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::Yield(b.next_pc));
    Ok(())
}

without_effect! { s_setprio }

/// Interrupts reach the host, which does nothing about them.
fn s_sendmsg(b: &mut Builder, inst: &Inst) -> Result {
    match inst.src[0] {
        Operand::Imm(message) if Sent::decode(message as u16) == Some(Sent::Interrupt) => Ok(()),
        _ => b.access(inst),
    }
}

fn s_sendmsghalt(b: &mut Builder, inst: &Inst) -> Result {
    b.term = Some(Term::Halt(b.pc));
    s_sendmsg(b, inst)
}

pub(super) fn s_trap(b: &mut Builder, _: &Inst) -> Result {
    b.term = Some(Term::Trap(b.pc));
    Ok(())
}

without_effect! { s_icache_inv s_incperflevel s_decperflevel s_ttracedata }

macro_rules! debugger_branches {
    ($($name:ident)*) => { $(
        /// On a flag that only a debugger sets: there is none.
        fn $name(b: &mut Builder, _: &Inst) -> Result {
            b.term = Some(Term::Jump(b.next_pc));
            Ok(())
        }
    )* };
}

debugger_branches! {
    s_cbranch_cdbgsys s_cbranch_cdbguser s_cbranch_cdbgsys_or_user s_cbranch_cdbgsys_and_user
}

ends! { s_endpgm_saved }

fn s_set_gpr_idx_off(b: &mut Builder, _: &Inst) -> Result {
    b.switch_indexing(false);
    Ok(())
}

fn s_set_gpr_idx_mode(b: &mut Builder, inst: &Inst) -> Result {
    let Operand::Imm(operands) = inst.src[0] else { return b.unimplemented(inst, "operands that are not immediate") };
    b.set_indexed_operands(operands as u32);
    Ok(())
}

ends! { s_endpgm_ordered_ps_done }

gcnjit_isa::sopp! { rows }
