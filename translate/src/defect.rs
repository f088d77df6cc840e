//! Deliberate mistakes, for the test that shows that differential testing finds them (docs/mutation-check.md).
//!
//! Only the feature `defects` compiles them in; without it every hook is the identity, in line. A hook stands where all
//! of a kind pass by: instructions as the builder sees them, nodes and effects as they enter a block, how a block ends,
//! the MODE it is made for. At most one is switched on, for the whole process.

#[cfg(not(feature = "defects"))]
pub(crate) use off::{drops, ended, made, mode, seen};
#[cfg(feature = "defects")]
pub use on::{Defect, switch};
#[cfg(feature = "defects")]
pub(crate) use on::{drops, ended, made, mode, seen};

#[cfg(not(feature = "defects"))]
mod off {
    use crate::lane::{Node, Op, Term};
    use gcnjit_isa::Inst;
    use gcnjit_rt::Mode;

    #[inline(always)]
    pub(crate) fn seen(inst: &Inst) -> Inst {
        *inst
    }

    #[inline(always)]
    pub(crate) fn made(_: &[Node], node: Node) -> Node {
        node
    }

    #[inline(always)]
    pub(crate) fn drops(_: Op, _: u64) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn ended(term: Term) -> Term {
        term
    }

    #[inline(always)]
    pub(crate) fn mode(mode: Mode) -> Mode {
        mode
    }
}

#[cfg(feature = "defects")]
mod on;
