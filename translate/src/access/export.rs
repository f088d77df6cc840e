//! Exports and messages: what they say is [`gcnjit_rt::export`]'s, to whom is the machine's.

use super::address::Site;
use super::select::Selected;
use super::{Action, Bad, Fields};
use gcnjit_isa::{Gen, Inst, Mem, Op, Operand};
use gcnjit_rt::export::{self, Sent, Target};
use gcnjit_rt::{Cause, Env, Wave};

/// An instruction of these at its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pc: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Export(Inst),
    Message(Sent),
}

/// The function and fields of EXP, or of s_sendmsg and its like.
pub(super) fn select(inst: &Inst, pc: u64, generation: Gen) -> Selected {
    let what = match (inst.op, inst.src[0]) {
        (Op::Exp(_), _) => What::Export(*inst),
        (_, Operand::Imm(immediate)) => What::Message(Sent::decode(immediate as u16).ok_or("this message")?),
        _ => return Err("a message that is not immediate"),
    };
    if matches!(inst.op, Op::Exp(_)) && Target::numbered(inst.mem().target).is_none() {
        return Err("this target");
    }
    Ok((run, Fields::new(generation, Mem::default(), Action::Give(Given { pc, what }), 0)))
}

unsafe fn run(fields: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let Action::Give(given) = &fields.action else { return Ok(()) };
    let bad = |cause: Cause| Bad { cause, address: given.pc, lane: 0 };
    match &given.what {
        What::Export(inst) => export::export(env.exports, inst, wave).map_err(bad),
        What::Message(sent) => export::send(env.exports, *sent, wave).map_err(bad),
    }
}
