//! SOPP: control, waits and messages.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::run::Machine;
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::export::{self, Sent};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Mode, Stop, Trap};

gcnjit_isa::sopp! { scalar }

macro_rules! without_effect {
    ($($name:ident)*) => { $(
        /// Only timing, which is not modelled: every instruction completes before the next one starts.
        pub fn $name(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            Ok(())
        }
    )* };
}

without_effect! { s_nop }

macro_rules! ends {
    ($($name:ident)*) => { $(
        pub fn $name(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            m.stop = Some(Stop::End);
            Ok(())
        }
    )* };
}

ends! { s_endpgm s_endpgm_saved s_endpgm_ordered_ps_done }

/// Goes to the label in source 0 if `taken`.
pub(crate) fn jump(m: &mut Machine<'_>, inst: &Inst, taken: bool) -> Result<(), Trap> {
    if taken {
        let target = inst.branch_target(m.wave.pc).ok_or_else(|| m.unimplemented(inst, "branch without a label"))?;
        m.next = target;
    }
    Ok(())
}

macro_rules! branches {
    ($($name:ident |$m:ident| $taken:expr;)*) => { $(
        pub fn $name($m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            let taken = $taken;
            jump($m, inst, taken)
        }
    )* };
}

branches! {
    s_branch |m| true;
    s_cbranch_scc0 |m| m.wave.scc == 0;
    s_cbranch_scc1 |m| m.wave.scc != 0;
    s_cbranch_vccz |m| m.wave.sgpr64(reg::VCC) == 0;
    s_cbranch_vccnz |m| m.wave.sgpr64(reg::VCC) != 0;
    s_cbranch_execz |m| m.wave.exec() == 0;
    s_cbranch_execnz |m| m.wave.exec() != 0;
}

macro_rules! debugger_branches {
    ($($name:ident)*) => { $(
        /// On a flag that only a debugger sets: there is none.
        pub fn $name(_: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
            Ok(())
        }
    )* };
}

debugger_branches! {
    s_cbranch_cdbgsys s_cbranch_cdbguser s_cbranch_cdbgsys_or_user s_cbranch_cdbgsys_and_user
}

pub fn s_barrier(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.stop = Some(Stop::Barrier);
    Ok(())
}

/// A wave that sleeps mostly waits for another one.
pub fn s_sleep(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.stop = Some(Stop::Yield);
    Ok(())
}

without_effect! { s_waitcnt s_setprio s_icache_inv s_incperflevel s_decperflevel s_ttracedata s_wakeup }

/// The low bit of the immediate, which switches something.
fn switch(m: &Machine<'_>, inst: &Inst) -> bool {
    m.uniform(inst.src[0], Ty::simm16) & 1 != 0
}

pub fn s_setkill(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if switch(m, inst) { Err(m.unimplemented(inst, "killing a wave")) } else { Ok(()) }
}

pub fn s_sethalt(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if switch(m, inst) { Err(m.fault(Cause::Halt, m.wave.pc, 0)) } else { Ok(()) }
}

pub fn s_sendmsg(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    match Sent::decode(m.uniform(inst.src[0], Ty::simm16) as u16) {
        Some(sent) => export::send(m.env.exports, sent, m.wave).map_err(|cause| m.fault(cause, m.wave.pc, 0)),
        None => Err(m.unimplemented(inst, "this message")),
    }
}

pub fn s_sendmsghalt(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    s_sendmsg(m, inst)?;
    Err(m.fault(Cause::Halt, m.wave.pc, 0))
}

pub fn s_trap(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Err(m.fault(Cause::TrapInstruction, m.wave.pc, 0))
}

pub fn s_set_gpr_idx_off(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.set_mode(Mode(m.wave.mode.0 & !Mode::GPR_INDEX));
    Ok(())
}

pub fn s_set_gpr_idx_mode(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    set_gpr_index_mode(m, m.uniform(inst.src[0], Ty::simm16) as u32);
    Ok(())
}

/// M0 bits 15:12: what the index is added to.
pub(crate) fn set_gpr_index_mode(m: &mut Machine<'_>, mode: u32) {
    m.wave.sgpr[reg::M0] = m.wave.sgpr[reg::M0] & !0xf000 | (mode & 15) << 12;
}
