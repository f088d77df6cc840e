//! SOPP: control, waits and messages.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::run::Machine;
use gcnjit_isa::{Inst, Ty};
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

pub fn s_endpgm(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.stop = Some(Stop::End);
    Ok(())
}

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

pub fn s_barrier(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.stop = Some(Stop::Barrier);
    Ok(())
}

without_effect! { s_waitcnt s_sleep s_setprio s_icache_inv s_incperflevel s_decperflevel s_wakeup }

pub fn s_trap(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Err(m.fault(Cause::TrapInstruction, m.wave.pc, 0))
}

pub fn s_set_gpr_idx_off(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    m.set_mode(Mode(m.wave.mode.0 & !crate::run::GPR_INDEX));
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
