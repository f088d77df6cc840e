//! A module's code as text: for tools that show where something happened.

use crate::module::Module;
use crate::source::Sources;
use gcnjit_isa::{Decoder, Inst, Note, Target, disas};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

/// All instructions of a module, by guest address.
pub struct Listing<'a> {
    target: Target,
    instructions: BTreeMap<u64, Inst>,
    /// Kernels and where they begin, by address.
    kernels: BTreeMap<u64, &'a str>,
    /// Lines of the source, by address, for instructions that have one.
    sources: BTreeMap<u64, String>,
}

impl<'a> Listing<'a> {
    /// Decodes the code of `module`. Words that are no instruction are left out.
    pub fn new(module: &'a Module) -> Listing<'a> {
        let (image, base) = (module.image(), module.base());
        let kernels: BTreeMap<u64, &str> =
            image.kernels.values().map(|code| (base + code.entry, code.name.as_str())).collect();
        let decoder = Decoder::new(image.target);
        let mut instructions = BTreeMap::new();
        for segment in image.segments.iter().filter(|segment| segment.executable) {
            // A kernel begins with an instruction, whatever is before it.
            let (bytes, start) = (image.bytes(segment), base + segment.offset);
            let inside = |address: &u64| (start..start + bytes.len() as u64).contains(address);
            for part in [start].into_iter().chain(kernels.keys().copied().filter(inside)) {
                let (words, _) = bytes[(part - start) as usize..].as_chunks::<4>();
                let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
                let next = kernels.range(part + 1..).next().map_or(u64::MAX, |(next, _)| *next);
                let decoded = decoder.decode_all(&words).map(|(at, inst)| (part + 4 * at as u64, inst));
                instructions.extend(decoded.take_while(|(pc, _)| *pc < next).filter_map(|(pc, i)| Some((pc, i.ok()?))));
            }
        }
        let lines = Sources::new(&image.file);
        let source = |pc: &u64| Some((*pc, lines.as_ref()?.line(pc - base)?));
        let sources = instructions.keys().filter_map(source).collect();
        Listing { target: image.target, instructions, kernels, sources }
    }

    /// The text of the instruction at `pc`, as llvm-mc prints it.
    pub fn text(&self, pc: u64) -> Option<String> {
        self.instructions.get(&pc).map(|inst| disas::text(inst, self.target))
    }

    /// The instruction at `pc`.
    pub fn instruction(&self, pc: u64) -> Option<&Inst> {
        self.instructions.get(&pc)
    }

    /// Addresses of the instructions in a range.
    pub fn range(&self, range: impl RangeBounds<u64>) -> impl DoubleEndedIterator<Item = u64> {
        self.instructions.range(range).map(|(pc, _)| *pc)
    }

    /// `pc` as the kernel that begins last before it and the distance from there.
    pub fn place(&self, pc: u64) -> String {
        match self.kernels.range(..=pc).next_back() {
            Some((start, name)) => format!("{name}+{:#x}", pc - start),
            None => format!("{pc:#x}"),
        }
    }

    /// The line of the source that the instruction at `pc` comes from, as `file:line`, if the file tells.
    pub fn source(&self, pc: u64) -> Option<&str> {
        self.sources.get(&pc).map(String::as_str)
    }

    /// Where basic blocks begin: at kernels, behind what ends a block, and where branches go.
    pub fn leaders(&self) -> BTreeSet<u64> {
        let mut leaders: BTreeSet<u64> = self.kernels.keys().copied().collect();
        for (pc, inst) in &self.instructions {
            if inst.op.info().has(Note::EndsBlock) {
                leaders.insert(pc + u64::from(inst.size()));
                leaders.extend(inst.branch_target(*pc));
            }
        }
        leaders.retain(|pc| self.instructions.contains_key(pc));
        leaders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn places_count_from_the_kernel_and_branches_stay_inside() {
        let module = Module::open(&Device::new().unwrap(), "kernels/saxpy/saxpy.gfx900.co").unwrap();
        let kernel = module.kernel("saxpy").unwrap();
        let (entry, listing) = (kernel.raw().entry(), Listing::new(&module));
        assert_eq!((listing.place(entry), listing.place(entry + 0x74)), ("saxpy+0x0".into(), "saxpy+0x74".into()));
        assert_eq!(listing.text(entry + 0x74).as_deref(), Some("global_load_dword v0, v[3:4], off"));
        assert_eq!(listing.text(entry + 2), None);
        assert_eq!(listing.source(entry), None, "it was stripped");
        let last = listing.range(..).next_back().unwrap();
        assert!(listing.range(entry..=last).count() > 20);
    }
}
