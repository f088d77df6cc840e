//! Deliberate mistakes, for the test that shows that differential testing finds them (docs/mutation-check.md).
//!
//! Only the feature `defects` compiles them in; without it every hook is the identity, in line. A hook stands where all
//! of a kind pass by: instructions as the builder sees them, nodes and effects as they enter a block, how a block ends,
//! the MODE it is made for; and where code that is for some waves only makes sure that it is not run by others
//! (`Precaution`). At most one is switched on, for the whole process.

#[cfg(not(feature = "defects"))]
pub(crate) use off::{drops, ended, forgets, made, mode, seen};
#[cfg(feature = "defects")]
pub use on::{Defect, switch};
#[cfg(feature = "defects")]
pub(crate) use on::{drops, ended, forgets, made, mode, seen};

/// What makes sure that code is only run where it is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precaution {
    /// A guard that is taken to let all lanes pass does.
    Guard,
    /// A wave that begins in a superblock has work-item ids that count.
    Ids,
    /// Of four lanes that are stored at once all are active.
    Quads,
    /// A load whose value nobody needs faults all the same.
    Fault,
    /// What other lanes look at is right in lanes that are not active.
    Lanes,
    /// A load that is done before stores is from another allocation.
    LoadsApart,
    /// SGPRs that are loaded before stores are from another allocation.
    ScalarsApart,
    /// SGPRs that are loaded for several waves at once are from another allocation than what these store.
    WavesApart,
    /// Registers that a loop keeps count when it begins.
    Induction,
    /// They are written when it ends.
    Settled,
    /// Of loads that are checked as one each is from where it should be.
    Group,
    /// VGPRs that an indexed one may be are in the register file when it is read.
    Reach,
    /// A selection that stands for a blend under EXEC takes the new value in active lanes only.
    Within,
}

#[cfg(not(feature = "defects"))]
mod off {
    use super::Precaution;
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
    pub(crate) fn forgets(_: Precaution) -> bool {
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
