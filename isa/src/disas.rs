//! Instructions to text, as llvm-mc prints it.

use crate::gfx::Target;
use crate::inst::Inst;

/// The text of `inst` as `llvm-mc` prints it for `target`; branch targets are the dword offset.
pub fn text(inst: &Inst, target: Target) -> String {
    inst.op.info().name_on(target.generation()).to_owned()
}
