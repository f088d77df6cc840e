//! Names for the places that branches go to.

use std::collections::BTreeMap;

use crate::decode::Decoder;
use crate::disas::text;
use crate::gfx::Target;
use crate::inst::Inst;

/// The branch targets in `code`, by the index of their word: `L0`, `L1` and so on, in order of address. What a branch
/// reaches that is outside, or inside of an instruction, has no name.
pub fn labels(code: &[u32], target: Target) -> BTreeMap<usize, String> {
    let insts: BTreeMap<usize, Option<Inst>> =
        Decoder::new(target).decode_all(code).map(|(at, inst)| (at, inst.ok())).collect();
    let branches = insts.iter().filter_map(|(at, inst)| destination(*at, inst.as_ref()?));
    let mut labels: BTreeMap<usize, String> =
        branches.filter(|to| insts.contains_key(to)).map(|to| (to, String::new())).collect();
    for (number, label) in labels.values_mut().enumerate() {
        *label = format!("L{number}");
    }
    labels
}

/// The text of the instruction at word `at`, with the label of its destination instead of an offset where there is one.
/// [`assemble`](crate::asm::assemble) reads both.
pub fn text_at(at: usize, inst: &Inst, target: Target, labels: &BTreeMap<usize, String>) -> String {
    let text = text(inst, target);
    match destination(at, inst).and_then(|to| labels.get(&to)).zip(text.rsplit_once(' ')) {
        Some((label, (rest, _))) => format!("{rest} {label}"),
        None => text,
    }
}

/// The word that an instruction at word `at` branches to.
fn destination(at: usize, inst: &Inst) -> Option<usize> {
    let address = inst.branch_target(at as u64 * 4)?;
    usize::try_from(address / 4).ok()
}
