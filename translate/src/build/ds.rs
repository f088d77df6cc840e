//! DS: local and global data share. A row is an access of [`crate::access`], which knows the rows, or one at which waves
//! of different work-groups meet: for those the code is left.

use super::{Builder, Result};
use crate::lane::Term;
use crate::meet;
use gcnjit_isa::{Ds, Inst, Note};

mod accesses {
    use super::super::{Builder, Result};
    use gcnjit_isa::Inst;

    gcnjit_isa::ds! { access_rows }
}

pub(super) fn build(op: Ds, b: &mut Builder, inst: &Inst) -> Result {
    if !op.info().has(Note::EndsBlock) {
        return accesses::build(op, b, inst);
    }
    if !meet::knows(inst) {
        return b.unimplemented(inst, "this ordered operation");
    }
    b.term = Some(Term::Meet(b.pc));
    Ok(())
}
