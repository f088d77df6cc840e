//! EXP: export. What is exported, and to whom, is [`gcnjit_rt::export`]'s.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::vector;
use crate::run::Machine;
use gcnjit_isa::Inst;
use gcnjit_rt::Trap;
use gcnjit_rt::export::{self, Target};

gcnjit_isa::exp! { vector }

pub fn exp(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if Target::numbered(inst.mem().target).is_none() {
        return Err(m.unimplemented(inst, "this target"));
    }
    export::export(m.env.exports, inst, m.wave).map_err(|cause| m.fault(cause, m.wave.pc, 0))
}
