//! THE opcode table: one row an operation, one file an encoding family.
//!
//! A row reads
//!
//! ```text
//! v_add_co_u32   [0x25 0x25 0x19 0x19] (u32, mask) = (u32, u32) [Was(Gfx6, "v_add_i32"), ...];
//! name           gfx6 gfx7 gfx8 gfx9   results       sources     exceptions
//! ```
//!
//! - A number is the opcode in the family's own encoding; `(0x263)` counts in VOP3, for a generation that
//!   kept only the long form; `_` says that the generation lacks the operation.
//! - Results and sources are [`Ty`](crate::Ty)s in the order of the encoding, implicit ones (`scc`, or the
//!   `mask` that a 32-bit encoding finds in VCC) last.
//! - The sign between them is the status: `=` pure, its body is a function of the sources; `!` its body is
//!   given the whole instruction (control, cross-lane, memory); `?` decoded, but not executed yet.
//! - Exceptions are [`Note`](crate::Note)s.
//!
//! Each family file defines one macro that hands all its rows to another macro. This crate makes the
//! family's enum and its static [`OpInfo`](crate::OpInfo)s from it, each executor makes its dispatch:
//! a row without a body there is a compile error. See docs/adding-an-opcode.md.

/// Makes a family's enum and table from its rows.
macro_rules! family {
    ($Family:ident; $( $name:ident [$g6:tt $g7:tt $g8:tt $g9:tt] ($($d:ident),*) $body:tt ($($s:ident),*) $([$($note:expr),* $(,)?])? ; )*) => {
        /// The operations of this family; the variants are spelled as LLVM spells the mnemonics.
        #[allow(non_camel_case_types, missing_docs, reason = "variants are mnemonics; the ISA manual documents them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum $Family { $($name),* }

        impl $Family {
            /// All rows, in table order.
            pub const ALL: &[$Family] = &[$($Family::$name),*];

            /// The row.
            pub fn info(self) -> &'static crate::OpInfo {
                #[allow(unused_imports, reason = "a family need not use every exception")]
                use crate::{Access::*, Feature::*, Gen::*, Implicit::*, Note::*};
                static ROWS: &[crate::OpInfo] = &[$(crate::OpInfo {
                    name: stringify!($name),
                    codes: [code!($g6), code!($g7), code!($g8), code!($g9)],
                    dsts: &[$(crate::Ty::$d),*],
                    srcs: &[$(crate::Ty::$s),*],
                    executed: executed!($body),
                    notes: &[$($($note),*)?],
                }),*];
                &ROWS[self as usize]
            }
        }
    };
}

macro_rules! code {
    (_) => {
        None
    };
    (($vop3:literal)) => {
        Some(crate::Code::Vop3($vop3))
    };
    ($native:literal) => {
        Some(crate::Code::Native($native))
    };
}

macro_rules! executed {
    (?) => {
        false
    };
    ($other:tt) => {
        true
    };
}

macro_rules! families {
    ($($module:ident $Family:ident),* $(,)?) => {
        $(mod $module; pub use $module::$Family;)*

        /// An operation: a row of the table, whatever encoding it came in.
        #[allow(missing_docs, reason = "one variant an encoding family, named after it")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op { $($Family($Family)),* }

        impl Op {
            /// The row.
            pub fn info(self) -> &'static crate::OpInfo {
                match self { $(Op::$Family(op) => op.info()),* }
            }

            /// Every row of every family, in table order.
            pub fn all() -> impl Iterator<Item = Op> {
                std::iter::empty()$(.chain($Family::ALL.iter().map(|op| Op::$Family(*op))))*
            }

            /// The family's name, as the table file is called.
            pub fn family(self) -> &'static str {
                match self { $(Op::$Family(_) => stringify!($module)),* }
            }
        }
    };
}

families! {
    sop2 Sop2, sopk Sopk, sop1 Sop1, sopc Sopc, sopp Sopp, smem Smem,
    vop2 Vop2, vop1 Vop1, vopc Vopc, vop3 Vop3, vop3p Vop3p,
    ds Ds, mubuf Mubuf, mtbuf Mtbuf, flat Flat, mimg Mimg, vintrp Vintrp, exp Exp,
}
