//! Source lines from DWARF.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSegment};

/// What the image's start is rounded down to.
const PAGE: u64 = 4096;

/// The line tables of an ELF file.
pub(crate) struct Sources<'a> {
    context: Context<EndianSlice<'a, LittleEndian>>,
    /// Address, as linked, of what is loaded first.
    base: u64,
}

impl<'a> Sources<'a> {
    /// Those of `file`; `None` if it has none that can be read. What is wrong with them is nobody's concern: the code
    /// runs without.
    pub fn new(file: &'a [u8]) -> Option<Sources<'a>> {
        let elf = ElfFile64::<LittleEndianFile>::parse(file).ok()?;
        elf.section_by_name(".debug_line")?;
        let section = |id: SectionId| {
            let data = elf.section_by_name(id.name()).and_then(|section| section.data().ok());
            Ok::<_, addr2line::gimli::Error>(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
        // As the loader counts.
        let base = elf.segments().map(|segment| segment.address()).min()? / PAGE * PAGE;
        Some(Sources { context, base })
    }

    /// The place of an instruction, by its offset in the image, as `file:line`.
    pub fn line(&self, offset: u64) -> Option<String> {
        let location = self.context.find_location(self.base.checked_add(offset)?).ok()??;
        Some(format!("{}:{}", location.file?, location.line?))
    }
}

type LittleEndianFile = object::LittleEndian;
