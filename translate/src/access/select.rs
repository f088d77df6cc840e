//! From an instruction to its function and fields: what the families share.

use super::address::Site;
use super::atomic::{Atomic, Kind};
use super::cell::{Form, mover};
use super::{Action, Bad, Fields, Run, Scalar, ds, export, flat, image, mubuf, smem, typed};
use gcnjit_isa::{Gen, Inst, Mem, Op, Operand, Target, Ty};
use gcnjit_rt::{Env, Wave};

/// The result of selection; the error says what is not covered.
pub(super) type Selected = Result<(Run, Fields), &'static str>;

/// The function and fields of an instruction at `pc`.
pub(super) fn select(inst: &Inst, pc: u64, target: Target) -> Selected {
    let generation = target.generation();
    match inst.op {
        Op::Smem(op) => smem::select(op, inst, generation),
        Op::Flat(op) => flat::select(op, inst, generation),
        Op::Mubuf(op) => mubuf::select(op, inst, target),
        Op::Mtbuf(op) => typed::select_mtbuf(op, inst, target),
        Op::Mimg(op) => image::select(op, inst, target),
        Op::Ds(op) => ds::select(op, inst, generation),
        Op::Exp(_) | Op::Sopp(_) => export::select(inst, pc, generation),
        _ => Err("not a memory instruction"),
    }
}

/// What an operation of any vector memory family does.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Load(Form),
    Store(Form),
    /// A 32-bit atomic.
    Narrow(Kind),
    /// A 64-bit atomic.
    Wide(Kind),
}

/// The action of a FLAT or MUBUF load into LDS.
pub(super) fn to_lds(what: What) -> Result<(Action, usize), &'static str> {
    match what {
        What::Load(form @ (Form::U8 | Form::I8 | Form::U16 | Form::I16 | Form::B32)) => {
            Ok((Action::LoadToLds(form), 0))
        }
        What::Load(_) => Err("this load into LDS"),
        _ => Err("LDS as the source"),
    }
}

/// The action of a FLAT or MUBUF operation, and the first VGPR of its data. Compare-and-swap has the new value before
/// the one to compare with.
pub(super) fn action(what: What, data: Operand, dst: Operand) -> Result<(Action, usize), &'static str> {
    Ok(match what {
        What::Load(form) => (Action::Load(form, mover(form, false)), vgpr(dst, form.regs())?),
        What::Store(form) => (Action::Store(form, mover(form, true)), vgpr(data, form.regs())?),
        What::Narrow(kind) | What::Wide(kind) => {
            let wide = matches!(what, What::Wide(_));
            let regs = if wide { 2 } else { 1 };
            let two = matches!(kind, Kind::CmpSwap | Kind::FCmpSwap);
            let a = vgpr(data, if two { 2 * regs } else { regs })?;
            let b = if two { a + regs } else { a };
            let result = if dst == Operand::None { None } else { Some(vgpr(dst, regs)?) };
            (Action::Atomic(Atomic { kind, wide, a, b, result }), a)
        }
    })
}

/// An instruction that does nothing here: cache control.
pub(super) fn nothing(generation: Gen) -> (Run, Fields) {
    let mut fields = Fields::new(generation, Mem::default(), Action::Other, 0);
    fields.bytes = 0;
    (do_nothing, fields)
}

unsafe fn do_nothing(_: &Fields, _: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    Ok(())
}

/// The first of `count` VGPRs.
pub(super) fn vgpr(operand: Operand, count: usize) -> Result<usize, &'static str> {
    match operand {
        Operand::Vgpr(first) if usize::from(first) + count <= 256 => Ok(first.into()),
        Operand::Vgpr(_) => Err("registers beyond v255"),
        _ => Err("operand is not a VGPR"),
    }
}

/// A VGPR that need not be there; then v0 stands for it.
pub(super) fn optional_vgpr(operand: Operand) -> Result<usize, &'static str> {
    if operand == Operand::None { Ok(0) } else { vgpr(operand, 1) }
}

/// The first of `count` SGPRs.
pub(super) fn sgpr(operand: Operand, count: usize) -> Result<usize, &'static str> {
    match operand {
        Operand::Sgpr(first) if usize::from(first) + count <= 128 => Ok(first.into()),
        Operand::Sgpr(_) => Err("registers beyond the last"),
        _ => Err("operand is not an SGPR"),
    }
}

/// A 32-bit scalar operand; 0 if there is none.
pub(super) fn scalar(operand: Operand) -> Result<Scalar, &'static str> {
    match operand {
        Operand::None => Ok(Scalar::Constant(0)),
        Operand::Sgpr(_) => sgpr(operand, 1).map(Scalar::Register),
        Operand::Literal(value) => Ok(Scalar::Constant(value)),
        Operand::Imm(value) => Ok(Scalar::Constant(value as u32)),
        Operand::Scc => Ok(Scalar::Flag(253)),
        Operand::Special(code @ (251..=253)) => Ok(Scalar::Flag(code)),
        // The low halves of the apertures' ends, and what only vector operations read.
        Operand::Special(236 | 238) => Ok(Scalar::Constant(u32::MAX)),
        Operand::Special(_) => Ok(Scalar::Constant(0)),
        Operand::Inline(_) => operand.inline_bits(Ty::b32).map(|bits| Scalar::Constant(bits as u32)).ok_or("operand"),
        _ => Err("special scalar operand"),
    }
}
