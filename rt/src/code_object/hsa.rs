//! HSA code objects, versions 2 to 6 (LLVM, "User Guide for AMDGPU Backend": ELF Code Object, Code Object Metadata,
//! Kernel Descriptor).
//!
//! A kernel NAME is a descriptor at the symbol NAME.kd (in version 2 at NAME), which says where the code is and what a
//! wave is given, and an entry of the metadata note, which says the arguments. A kernel without metadata is loaded too;
//! its kernarg segment must then be given as a whole.

use super::descriptor::Descriptor;
use super::metadata::{self, KernelMetadata, Metadata};
use super::relocation;
use super::{Abi, Global, Image, KernelCode, LoadError, Rsrc1, Rsrc2, Segment};
use crate::pages::PAGE;
use gcnjit_isa::Target;
use object::LittleEndian;
use object::elf::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AMDGPU, ET_DYN, FileHeader64, PF_W, PF_X, PT_LOAD, PT_NOTE, SHT_DYNSYM,
    SHT_SYMTAB, STB_LOCAL, STT_OBJECT,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionTable, Sym};
use std::collections::BTreeMap;
use std::sync::Arc;

/// ELFOSABI_AMDGPU_HSA.
const OSABI: u8 = 64;
/// NT_AMDGPU_METADATA, of owner "AMDGPU".
const NOTE: u32 = 32;
/// NT_AMD_HSA_ISA_VERSION, of owner "AMD".
const NOTE_ISA: u32 = 3;
/// NT_AMD_HSA_METADATA, of owner "AMD".
const NOTE_V2: u32 = 10;
/// STT_AMDGPU_HSA_KERNEL: an `amd_kernel_code_t`.
const KERNEL_V2: u8 = 10;
/// EF_AMDGPU_MACH of what all of gfx9 has in common.
const GFX9_GENERIC: u32 = 0x51;
/// The largest image that is loaded.
const MAX_IMAGE: u64 = 1 << 32;
/// The largest kernarg segment, in bytes; compilers stop at a few KiB.
const MAX_KERNARG: u64 = 1 << 20;

pub(super) type Elf = FileHeader64<LittleEndian>;
pub(super) const LE: LittleEndian = LittleEndian;

/// Parses an HSA code object.
pub fn parse(file: Vec<u8>) -> Result<Image, LoadError> {
    let data = &file[..];
    let (header, abi) = header(data)?;
    let notes = Notes::read(header, data, abi)?;
    let target = target(header.e_flags(LE) & 0xff, notes.isa)?;
    let (segments, base) = segments(header, data)?;
    let sections = header.sections(LE, data).map_err(elf("section headers"))?;
    let symbols = Symbols::read(&sections, data, abi, base)?;
    let relocations = relocation::read(&sections, data, &segments, base)?;
    let mut described: BTreeMap<String, KernelMetadata> =
        notes.metadata.kernels.into_iter().map(|kernel| (kernel.symbol.clone(), kernel)).collect();
    let mut kernels = BTreeMap::new();
    for (symbol, offset) in symbols.kernels {
        let metadata = described.remove(&symbol);
        let kernel = kernel(data, &segments, abi, offset, metadata, &symbol).map_err(|what| LoadError::Descriptor {
            symbol,
            address: base.wrapping_add(offset),
            what,
        })?;
        kernels.insert(kernel.name.clone(), Arc::new(kernel));
    }
    if let Some((symbol, _)) = described.pop_first() {
        return Err(LoadError::Descriptor {
            symbol,
            address: 0,
            what: "named by the metadata, but there is no such symbol",
        });
    }
    let size = segments.last().map_or(0, |segment| segment.offset + segment.size);
    let mut globals = symbols.globals;
    globals.retain(|_, global| segments.iter().any(|segment| inside(segment, global.offset, global.size)));
    let printf = notes.metadata.printf;
    Ok(Image { target, size, segments, relocations, kernels, globals, printf, parts: Vec::new(), file })
}

pub(super) fn elf(table: &'static str) -> impl Fn(object::read::Error) -> LoadError {
    move |error| LoadError::Elf { table, what: error.to_string() }
}

/// Checks a field of the ELF header.
pub(super) fn expect(field: &'static str, value: u64, good: bool, expected: &'static str) -> Result<(), LoadError> {
    match good {
        true => Ok(()),
        false => Err(LoadError::Header { field, value, expected }),
    }
}

/// A byte of the file's identification.
fn ident(data: &[u8], i: usize) -> u8 {
    data.get(i).copied().unwrap_or(0)
}

/// The ELF header of a file for these processors: class, byte order and machine are checked.
pub(super) fn processor_header(data: &[u8]) -> Result<&Elf, LoadError> {
    let (class, order) = (ident(data, 4), ident(data, 5));
    expect("EI_CLASS", class.into(), class == ELFCLASS64, "ELFCLASS64 (2)")?;
    expect("EI_DATA", order.into(), order == ELFDATA2LSB, "ELFDATA2LSB (1)")?;
    let header = Elf::parse(data).map_err(elf("ELF header"))?;
    let machine = header.e_machine(LE);
    expect("e_machine", machine.into(), machine == EM_AMDGPU, "EM_AMDGPU (224)")?;
    Ok(header)
}

/// Checks that it is linked.
pub(super) fn expect_linked(header: &Elf) -> Result<(), LoadError> {
    let kind = header.e_type(LE);
    expect("e_type", kind.into(), kind == ET_DYN, "ET_DYN (3): it is not linked")
}

/// Checks the ELF header.
fn header(data: &[u8]) -> Result<(&Elf, Abi), LoadError> {
    if !data.starts_with(&ELFMAG) {
        return Err(LoadError::NotElf);
    }
    let (header, os_abi) = (processor_header(data)?, ident(data, 7));
    expect("EI_OSABI", os_abi.into(), os_abi == OSABI, "ELFOSABI_AMDGPU_HSA (64)")?;
    expect_linked(header)?;
    let abi = match ident(data, 8) {
        0 => Abi::HsaV2,
        1 | 2 => Abi::HsaV3,
        3 | 4 => Abi::HsaV5,
        other => {
            let expected = "0 to 4 (code object version 2 to 6)";
            return Err(LoadError::Header { field: "EI_ABIVERSION", value: other.into(), expected });
        }
    };
    Ok((header, abi))
}

/// The processor by the header's flags, or, where those say none, as early compilers left it, by the ISA note.
fn target(mach: u32, isa: Option<[u32; 3]>) -> Result<Target, LoadError> {
    match (mach, isa) {
        (GFX9_GENERIC, _) => Ok(Target::Gfx900),
        // gfx901 and gfx903 were names of gfx900 and gfx902 with replayed page faults.
        (0, Some([9, 0, stepping @ (1 | 3)])) => target(0, Some([9, 0, stepping - 1])),
        (0, Some([major, minor, stepping])) => {
            format!("gfx{major}{minor}{stepping:x}").parse().map_err(|_| LoadError::Processor { mach })
        }
        _ => Target::from_elf_mach(mach).ok_or(LoadError::Processor { mach }),
    }
}

/// The loadable segments, and the linked address that the image starts at.
pub(super) fn segments(header: &Elf, data: &[u8]) -> Result<(Vec<Segment>, u64), LoadError> {
    let headers = header.program_headers(LE, data).map_err(elf("program headers"))?;
    let mut segments: Vec<Segment> = Vec::new();
    let mut base = None;
    let mut given = 0;
    for (index, header) in headers.iter().enumerate().filter(|(_, header)| header.p_type(LE) == PT_LOAD) {
        let bad = |what| LoadError::Segment { index, what };
        let base = *base.get_or_insert(header.p_vaddr(LE) / PAGE * PAGE);
        let offset = header.p_vaddr(LE).checked_sub(base).ok_or(bad("is not in order of address"))?;
        let size = header.p_memsz(LE);
        if offset.checked_add(size).is_none_or(|end| end > MAX_IMAGE) {
            return Err(bad("makes the image too large"));
        }
        if segments.last().is_some_and(|last| offset < last.offset + last.size) {
            return Err(bad("is not in order of address, or overlaps the one before"));
        }
        let file = header.data(LE, data).map_err(|()| bad("leaves the file"))?;
        given += file.len();
        if file.len() as u64 > size || given > data.len() {
            return Err(bad("is larger in the file than in memory, or shares its bytes with another"));
        }
        let start = if file.is_empty() { 0 } else { header.p_offset(LE) as usize };
        segments.push(Segment {
            offset,
            size,
            file: start..start + file.len(),
            writable: header.p_flags(LE) & PF_W != 0,
            executable: header.p_flags(LE) & PF_X != 0,
        });
    }
    Ok((segments, base.unwrap_or(0)))
}

/// What the symbol tables name, at offsets of the image.
#[derive(Default)]
struct Symbols {
    /// Descriptors.
    kernels: BTreeMap<String, u64>,
    globals: BTreeMap<String, Global>,
}

impl Symbols {
    fn read(sections: &SectionTable<'_, Elf>, data: &[u8], abi: Abi, base: u64) -> Result<Symbols, LoadError> {
        let mut found = Symbols::default();
        for (kind, table) in [(SHT_DYNSYM, "dynamic symbols"), (SHT_SYMTAB, "symbols")] {
            let symbols = sections.symbols(LE, data, kind).map_err(elf(table))?;
            for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined(LE)) {
                let name = symbol.name(LE, symbols.strings()).map_err(elf(table))?;
                let Ok(name) = str::from_utf8(name) else { continue };
                let offset = symbol.st_value(LE).wrapping_sub(base);
                let is_kernel = match abi {
                    Abi::HsaV2 => symbol.st_type() == KERNEL_V2,
                    _ => name.ends_with(".kd"),
                };
                if is_kernel {
                    found.kernels.insert(name.to_owned(), offset);
                } else if symbol.st_type() == STT_OBJECT && symbol.st_bind() != STB_LOCAL {
                    found.globals.insert(name.to_owned(), Global { offset, size: symbol.st_size(LE) });
                }
            }
        }
        Ok(found)
    }
}

/// Whether `len` bytes at `offset` of the image are in the segment.
pub(super) fn inside(segment: &Segment, offset: u64, len: u64) -> bool {
    offset >= segment.offset && len <= segment.size && offset - segment.offset <= segment.size - len
}

/// What the notes say.
#[derive(Default)]
struct Notes {
    metadata: Metadata,
    /// Major and minor version and stepping of the processor.
    isa: Option<[u32; 3]>,
}

impl Notes {
    fn read(header: &Elf, data: &[u8], abi: Abi) -> Result<Notes, LoadError> {
        let mut found = Notes::default();
        let mut given = 0;
        let headers = header.program_headers(LE, data).map_err(elf("program headers"))?;
        for header in headers.iter().filter(|header| header.p_type(LE) == PT_NOTE) {
            let Some(mut notes) = header.notes(LE, data).map_err(elf("note"))? else { continue };
            given = header.p_filesz(LE).saturating_add(given);
            if given > data.len() as u64 {
                return Err(LoadError::Elf { table: "note", what: "segments share their bytes".into() });
            }
            while let Some(note) = notes.next().map_err(elf("note"))? {
                match (abi, note.name(), note.n_type(LE)) {
                    (Abi::HsaV2, b"AMD", NOTE_V2) => found.add(metadata::parse_v2(note.desc())?),
                    (Abi::HsaV2, b"AMD", NOTE_ISA) => found.isa = isa_version(note.desc()),
                    (Abi::HsaV3 | Abi::HsaV5, b"AMDGPU", NOTE) => found.add(metadata::parse(note.desc())?),
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, metadata: Metadata) {
        self.metadata.kernels.extend(metadata.kernels);
        self.metadata.printf.extend(metadata.printf);
    }
}

/// The numbers of an ISA note; they follow the lengths of two names.
fn isa_version(note: &[u8]) -> Option<[u32; 3]> {
    let (dwords, _) = note.get(4..16)?.as_chunks::<4>();
    Some([0, 1, 2].map(|i| u32::from_le_bytes(dwords[i])))
}

/// The kernel whose descriptor is at `offset` of the image.
fn kernel(
    data: &[u8],
    segments: &[Segment],
    abi: Abi,
    offset: u64,
    metadata: Option<KernelMetadata>,
    symbol: &str,
) -> Result<KernelCode, &'static str> {
    let outside = "is not inside of the file";
    let bytes = from_file(data, segments, offset).ok_or(outside)?;
    let descriptor = match abi {
        Abi::HsaV2 => Descriptor::read_v2(bytes.first_chunk().ok_or(outside)?)?,
        _ => Descriptor::read(bytes.first_chunk().ok_or(outside)?)?,
    };
    let entry = offset.wrapping_add_signed(descriptor.entry);
    let is_code = |segment: &Segment| {
        let start = entry.checked_sub(segment.offset).and_then(|start| usize::try_from(start).ok());
        segment.executable && start.is_some_and(|start| start < segment.file.len() && segment.file.len() - start >= 4)
    };
    if !segments.iter().any(is_code) || !entry.is_multiple_of(4) {
        return Err("its entry is not in the code");
    }
    if descriptor.kernarg > MAX_KERNARG {
        return Err("asks for more than 1 MiB of arguments");
    }
    let rsrc2 = Rsrc2(descriptor.rsrc2);
    if descriptor.user_sgprs.iter().map(|value| value.dwords()).sum::<usize>() > rsrc2.user_sgprs() {
        return Err("enables more user SGPRs than it counts");
    }
    let described = metadata.is_some();
    let metadata = metadata.unwrap_or_default();
    Ok(KernelCode {
        name: if described { metadata.name } else { symbol.strip_suffix(".kd").unwrap_or(symbol).to_owned() },
        abi,
        entry,
        descriptor: offset,
        rsrc1: Rsrc1(descriptor.rsrc1),
        rsrc2,
        rsrc3: descriptor.rsrc3,
        user_sgprs: descriptor.user_sgprs,
        lds_size: descriptor.group_segment,
        scratch_size: descriptor.private_segment,
        scratch_element: descriptor.private_element,
        dynamic_stack: metadata.dynamic_stack || descriptor.dynamic_stack,
        kernarg_size: descriptor.kernarg as u32,
        args: described.then_some(metadata.args),
        required_group: metadata.required_group,
        max_group: metadata.max_group,
        sgprs: metadata.sgprs,
        vgprs: metadata.vgprs,
        constants: None,
        samplers: Vec::new(),
        missing: None,
        shader: None,
    })
}

/// What the file has from `offset` of the image on, to the end of its segment.
fn from_file<'a>(data: &'a [u8], segments: &[Segment], offset: u64) -> Option<&'a [u8]> {
    let segment = segments.iter().find(|segment| inside(segment, offset, 1))?;
    data[segment.file.clone()].get((offset - segment.offset) as usize..)
}
