//! Dynamic relocations of HSA code objects (LLVM, "User Guide for AMDGPU Backend": Relocation Records).

use super::hsa::{Elf, LE, elf, inside};
use super::{LoadError, Part, Relocation, Segment};
use object::LittleEndian;
use object::elf::{Rela64, SHT_DYNSYM, SHT_RELA};
use object::read::elf::{Rela, SectionHeader, SectionTable, Sym, SymbolTable};

/// What an `R_AMDGPU_*` computes.
struct Kind {
    /// Whether its symbol counts; otherwise it is the image's start.
    symbol: bool,
    /// Whether it is the distance from its own place.
    relative: bool,
    part: Part,
}

/// The kinds that can be left for a loader, by `R_AMDGPU_*`.
fn kind(number: u32) -> Result<Option<Kind>, &'static str> {
    let kind = |symbol, relative, part| Ok(Some(Kind { symbol, relative, part }));
    match number {
        0 => Ok(None),
        1 => kind(true, false, Part::Low),
        2 => kind(true, false, Part::High),
        3 => kind(true, false, Part::Whole),
        4 | 10 => kind(true, true, Part::Low),
        5 => kind(true, true, Part::Whole),
        6 => Err("a 32-bit address can't hold the image's"),
        7..=9 => Err("there is no global offset table: it is the linker's to resolve"),
        11 => kind(true, true, Part::High),
        13 => kind(false, false, Part::Whole),
        14 => Err("a branch in 16 bits is the linker's to resolve"),
        _ => Err("the type is unknown"),
    }
}

/// All relocations of the file, made relative to the image.
pub(super) fn read(
    sections: &SectionTable<'_, Elf>,
    data: &[u8],
    segments: &[Segment],
    base: u64,
) -> Result<Vec<Relocation>, LoadError> {
    let symbols = sections.symbols(LE, data, SHT_DYNSYM).map_err(elf("dynamic symbols"))?;
    let mut all = Vec::new();
    let mut given = 0;
    for section in sections.iter().filter(|section| section.sh_type(LE) == SHT_RELA) {
        let entries = section.data_as_array::<Rela64<LittleEndian>, _>(LE, data).map_err(elf("relocations"))?;
        given += size_of_val(entries);
        if given > data.len() {
            return Err(LoadError::Elf { table: "relocations", what: "sections share their bytes".into() });
        }
        for (index, entry) in entries.iter().enumerate() {
            let (number, offset) = (entry.r_type(LE, false), entry.r_offset(LE));
            let relocation = kind(number).and_then(|kind| match kind {
                Some(kind) => resolve(&kind, entry, &symbols, segments, base).map(Some),
                None => Ok(None),
            });
            all.extend(relocation.map_err(|what| LoadError::Relocation { index, kind: number, offset, what })?);
        }
    }
    Ok(all)
}

fn resolve(
    kind: &Kind,
    entry: &Rela64<LittleEndian>,
    symbols: &SymbolTable<'_, Elf>,
    segments: &[Segment],
    base: u64,
) -> Result<Relocation, &'static str> {
    let symbol = match kind.symbol {
        false => 0,
        true => {
            let symbol = entry.symbol(LE, false).and_then(|symbol| symbols.symbol(symbol).ok());
            symbol.filter(|symbol| !symbol.is_undefined(LE)).ok_or("its symbol is not defined")?.st_value(LE)
        }
    };
    let offset = entry.r_offset(LE).wrapping_sub(base);
    if !segments.iter().any(|segment| inside(segment, offset, kind.part.size())) {
        return Err("it is outside of the image");
    }
    let addend = symbol.wrapping_add_signed(entry.r_addend(LE)).wrapping_sub(base);
    Ok(match kind.relative {
        false => Relocation { offset, addend, absolute: true, part: kind.part },
        true => Relocation { offset, addend: addend.wrapping_sub(offset), absolute: false, part: kind.part },
    })
}
