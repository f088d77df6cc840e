//! From an operation to its body: one exhaustive match a family, made from the table.
//!
//! A family's file invokes its table macro with `vector`, `compare` or `scalar` and so gets a function
//! `dispatch(op, m, inst)`. A pure row (`=`) becomes a call of the function of that name in
//! [`crate::operands`] (`lanes` for `vector`) with the row's function; an effect (`!`) a call of that function with the
//! whole instruction; a row that is not executed (`?`) an error. A missing body does not compile.

use crate::run::Machine;
use gcnjit_isa::{Gen, Inst, Op};
use gcnjit_rt::Trap;

/// Dispatch of a vector ALU family.
macro_rules! vector {
    ($Family:ident; $( $name:ident [$($codes:tt)*] ($($d:ident),*) $status:tt ($($s:ident),*) $([$($note:tt)*])? ; )*) => {
        $crate::dispatch::family! { $Family lanes; $( $name ($($d),*) $status ($($s),*); )* }
    };
}

/// Dispatch of the compares.
macro_rules! compare {
    ($Family:ident; $( $name:ident [$($codes:tt)*] ($($d:ident),*) $status:tt ($($s:ident),*) $([$($note:tt)*])? ; )*) => {
        $crate::dispatch::family! { $Family compare; $( $name ($($d),*) $status ($($s),*); )* }
    };
}

/// Dispatch of a scalar ALU family.
macro_rules! scalar {
    ($Family:ident; $( $name:ident [$($codes:tt)*] ($($d:ident),*) $status:tt ($($s:ident),*) $([$($note:tt)*])? ; )*) => {
        $crate::dispatch::family! { $Family scalar; $( $name ($($d),*) $status ($($s),*); )* }
    };
}

macro_rules! family {
    ($Family:ident $run:ident; $( $name:ident ($($d:ident),*) $status:tt ($($s:ident),*); )*) => {
        /// Executes `op`.
        pub(crate) fn dispatch(
            op: gcnjit_isa::$Family,
            m: &mut $crate::run::Machine<'_>,
            inst: &gcnjit_isa::Inst,
        ) -> Result<(), gcnjit_rt::Trap> {
            match op {
                $( gcnjit_isa::$Family::$name => {
                    $crate::dispatch::row!($run m inst $status $name ($($d),*) ($($s),*))
                } )*
            }
        }
    };
}

macro_rules! row {
    ($run:ident $m:ident $inst:ident = $name:ident ($($d:ident),*) ($($s:ident),*)) => {{
        $crate::operands::$run::<($($crate::operands::ty::$s,)*), ($($crate::operands::ty::$d,)*), _>($m, $inst, $name);
        Ok(())
    }};
    ($run:ident $m:ident $inst:ident ! $name:ident $d:tt $s:tt) => {
        $name($m, $inst)
    };
    ($run:ident $m:ident $inst:ident ? $name:ident $d:tt $s:tt) => {
        Err($m.unimplemented($inst, "no body"))
    };
}

pub(crate) use {compare, family, row, scalar, vector};

/// Executes one instruction, unless MODE has it skipped.
pub(crate) fn execute(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    use crate::{ds, exp, flat, mimg, mtbuf, mubuf, smem, sop1, sop2, sopc, sopk, sopp};
    use crate::{vintrp, vop1, vop2, vop3, vop3p, vopc};
    if m.wave.mode.vskip() && inst.op.obeys_vskip() {
        return Ok(());
    }
    m.limited = matches!(inst.op, Op::Ds(_)) && m.env.target.generation() < Gen::Gfx9;
    let inst = &*m.indexed(inst);
    match inst.op {
        Op::Sop2(op) => sop2::dispatch(op, m, inst),
        Op::Sopk(op) => sopk::dispatch(op, m, inst),
        Op::Sop1(op) => sop1::dispatch(op, m, inst),
        Op::Sopc(op) => sopc::dispatch(op, m, inst),
        Op::Sopp(op) => sopp::dispatch(op, m, inst),
        Op::Smem(op) => smem::dispatch(op, m, inst),
        Op::Vop2(op) => vop2::dispatch(op, m, inst),
        Op::Vop1(op) => vop1::dispatch(op, m, inst),
        Op::Vopc(op) => vopc::dispatch(op, m, inst),
        Op::Vop3(op) => vop3::dispatch(op, m, inst),
        Op::Vop3p(op) => vop3p::dispatch(op, m, inst),
        Op::Ds(op) => ds::dispatch(op, m, inst),
        Op::Mubuf(op) => mubuf::dispatch(op, m, inst),
        Op::Mtbuf(op) => mtbuf::dispatch(op, m, inst),
        Op::Flat(op) => flat::dispatch(op, m, inst),
        Op::Mimg(op) => mimg::dispatch(op, m, inst),
        Op::Vintrp(op) => vintrp::dispatch(op, m, inst),
        Op::Exp(op) => exp::dispatch(op, m, inst),
    }
}
