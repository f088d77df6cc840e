//! HSA code objects, versions 3, 4 and 5 (LLVM, "User Guide for AMDGPU Backend": ELF Code Object, Code Object
//! Metadata, Kernel Descriptor).
//!
//! A kernel NAME is a 64-byte descriptor at the symbol NAME.kd, which says where the code is and what a wave is given,
//! and an entry of the metadata note, which says the arguments. A kernel without metadata is loaded too; its kernarg
//! segment must then be given as a whole.

use super::metadata::{self, KernelMetadata};
use super::{Abi, Image, KernelCode, LoadError, Relocation, Rsrc1, Rsrc2, Segment, UserSgpr};
use crate::pages::PAGE;
use gcnjit_isa::Target;
use object::LittleEndian;
use object::elf::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AMDGPU, ET_DYN, FileHeader64, PF_W, PF_X, PT_LOAD, PT_NOTE, SHT_DYNSYM,
    SHT_RELA, SHT_SYMTAB,
};
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym};
use std::collections::BTreeMap;
use std::sync::Arc;

/// ELFOSABI_AMDGPU_HSA.
const OSABI: u8 = 64;
/// NT_AMDGPU_METADATA, of owner "AMDGPU".
const NOTE: u32 = 32;
/// The largest image that is loaded.
const MAX_IMAGE: u64 = 1 << 32;
/// The largest kernarg segment, in bytes; compilers stop at a few KiB.
const MAX_KERNARG: u32 = 1 << 20;
/// R_AMDGPU_ABS64: symbol + addend.
const ABS64: u32 = 3;
/// R_AMDGPU_RELATIVE64: image + addend.
const RELATIVE64: u32 = 13;

type Elf = FileHeader64<LittleEndian>;
const LE: LittleEndian = LittleEndian;

/// Parses an HSA code object.
pub fn parse(file: Vec<u8>) -> Result<Image, LoadError> {
    let data = &file[..];
    let (header, abi, target) = header(data)?;
    let (segments, base) = segments(header, data)?;
    let sections = header.sections(LE, data).map_err(elf("section headers"))?;
    let symbols = symbols(&sections, data)?;
    let relocations = relocations(&sections, data, &segments, base)?;
    let mut described: BTreeMap<String, KernelMetadata> =
        notes(header, data)?.into_iter().map(|kernel| (kernel.symbol.clone(), kernel)).collect();
    let mut kernels = BTreeMap::new();
    for (symbol, address) in symbols {
        let metadata = described.remove(&symbol);
        let kernel = kernel(data, &segments, abi, address.wrapping_sub(base), metadata, &symbol)
            .map_err(|what| LoadError::Descriptor { symbol, address, what })?;
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
    Ok(Image { target, size, segments, relocations, kernels, file })
}

fn elf(table: &'static str) -> impl Fn(object::read::Error) -> LoadError {
    move |error| LoadError::Elf { table, what: error.to_string() }
}

/// Checks the ELF header.
fn header(data: &[u8]) -> Result<(&Elf, Abi, Target), LoadError> {
    if !data.starts_with(&ELFMAG) {
        return Err(LoadError::NotElf);
    }
    let expect = |field, value: u64, good: bool, expected| match good {
        true => Ok(()),
        false => Err(LoadError::Header { field, value, expected }),
    };
    let ident = |i: usize| data.get(i).copied().unwrap_or(0);
    expect("EI_CLASS", ident(4).into(), ident(4) == ELFCLASS64, "ELFCLASS64 (2)")?;
    expect("EI_DATA", ident(5).into(), ident(5) == ELFDATA2LSB, "ELFDATA2LSB (1)")?;
    let header = Elf::parse(data).map_err(elf("ELF header"))?;
    let machine = header.e_machine(LE);
    expect("e_machine", machine.into(), machine == EM_AMDGPU, "EM_AMDGPU (224)")?;
    expect("EI_OSABI", ident(7).into(), ident(7) == OSABI, "ELFOSABI_AMDGPU_HSA (64)")?;
    let kind = header.e_type(LE);
    expect("e_type", kind.into(), kind == ET_DYN, "ET_DYN (3): it is not linked")?;
    let abi = match ident(8) {
        1 | 2 => Abi::HsaV3,
        3 => Abi::HsaV5,
        other => {
            let expected = "1 to 3 (code object version 3 to 5)";
            return Err(LoadError::Header { field: "EI_ABIVERSION", value: other.into(), expected });
        }
    };
    let mach = header.e_flags(LE) & 0xff;
    let target = Target::from_elf_mach(mach).ok_or(LoadError::Processor { mach })?;
    Ok((header, abi, target))
}

/// The loadable segments, and the linked address that the image starts at.
fn segments(header: &Elf, data: &[u8]) -> Result<(Vec<Segment>, u64), LoadError> {
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

/// The kernel descriptors' symbols and addresses, as linked.
fn symbols(sections: &SectionTable<'_, Elf>, data: &[u8]) -> Result<BTreeMap<String, u64>, LoadError> {
    let mut found = BTreeMap::new();
    for (kind, table) in [(SHT_DYNSYM, "dynamic symbols"), (SHT_SYMTAB, "symbols")] {
        let symbols = sections.symbols(LE, data, kind).map_err(elf(table))?;
        for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined(LE)) {
            let name = symbol.name(LE, symbols.strings()).map_err(elf(table))?;
            if let Ok(name) = str::from_utf8(name)
                && name.ends_with(".kd")
            {
                found.insert(name.to_owned(), symbol.st_value(LE));
            }
        }
    }
    Ok(found)
}

/// The dynamic relocations, all made relative to the image.
fn relocations(
    sections: &SectionTable<'_, Elf>,
    data: &[u8],
    segments: &[Segment],
    base: u64,
) -> Result<Vec<Relocation>, LoadError> {
    let symbols = sections.symbols(LE, data, SHT_DYNSYM).map_err(elf("dynamic symbols"))?;
    let mut all = Vec::new();
    for section in sections.iter().filter(|section| section.sh_type(LE) == SHT_RELA) {
        let entries = section.data_as_array::<object::elf::Rela64<LittleEndian>, _>(LE, data);
        for (index, entry) in entries.map_err(elf("relocations"))?.iter().enumerate() {
            let (kind, offset) = (entry.r_type(LE, false), entry.r_offset(LE));
            let bad = |what| LoadError::Relocation { index, kind, offset, what };
            let symbol = match kind {
                RELATIVE64 => 0,
                ABS64 => {
                    let symbol = entry.symbol(LE, false).and_then(|symbol| symbols.symbol(symbol).ok());
                    symbol
                        .filter(|symbol| !symbol.is_undefined(LE))
                        .ok_or(bad("its symbol is not defined"))?
                        .st_value(LE)
                }
                _ => return Err(bad("the type is not supported")),
            };
            let addend = symbol.wrapping_add_signed(entry.r_addend(LE)).wrapping_sub(base);
            let at = offset.wrapping_sub(base);
            if !segments.iter().any(|segment| inside(segment, at, 8)) {
                return Err(bad("it is outside of the image"));
            }
            all.push(Relocation { offset: at, addend });
        }
    }
    Ok(all)
}

/// Whether `len` bytes at `offset` of the image are in the segment.
fn inside(segment: &Segment, offset: u64, len: u64) -> bool {
    offset >= segment.offset && len <= segment.size && offset - segment.offset <= segment.size - len
}

/// What the metadata notes say about the kernels.
fn notes(header: &Elf, data: &[u8]) -> Result<Vec<KernelMetadata>, LoadError> {
    let mut kernels = Vec::new();
    let headers = header.program_headers(LE, data).map_err(elf("program headers"))?;
    for header in headers.iter().filter(|header| header.p_type(LE) == PT_NOTE) {
        let Some(mut notes) = header.notes(LE, data).map_err(elf("note"))? else { continue };
        while let Some(note) = notes.next().map_err(elf("note"))? {
            if note.name() == b"AMDGPU" && note.n_type(LE) == NOTE {
                kernels.append(&mut metadata::parse(note.desc())?);
            }
        }
    }
    Ok(kernels)
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
    let descriptor = Descriptor::read(data, segments, offset).ok_or("is not inside of the file")?;
    if descriptor.properties & WAVE32 != 0 {
        return Err("asks for waves of 32 lanes");
    }
    let entry = offset.wrapping_add_signed(descriptor.entry);
    if !segments.iter().any(|segment| segment.executable && inside(segment, entry, 4)) || !entry.is_multiple_of(4) {
        return Err("its entry is not in the code");
    }
    if descriptor.kernarg > MAX_KERNARG {
        return Err("asks for more than 1 MiB of arguments");
    }
    let rsrc2 = Rsrc2(descriptor.rsrc2);
    let user_sgprs = user_sgprs(descriptor.properties);
    if user_sgprs.iter().map(|value| value.dwords()).sum::<usize>() > rsrc2.user_sgprs() {
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
        user_sgprs,
        lds_size: descriptor.group_segment,
        scratch_size: descriptor.private_segment,
        dynamic_stack: metadata.dynamic_stack || descriptor.properties & DYNAMIC_STACK != 0,
        kernarg_size: descriptor.kernarg,
        args: described.then_some(metadata.args),
        required_group: metadata.required_group,
        max_group: metadata.max_group,
        sgprs: metadata.sgprs,
        vgprs: metadata.vgprs,
    })
}

/// Bit of `kernel_code_properties`: waves of 32 lanes.
const WAVE32: u16 = 1 << 10;
/// Bit of `kernel_code_properties`: calls of unknown depth.
const DYNAMIC_STACK: u16 = 1 << 11;

/// The values that the low bits of `kernel_code_properties` ask for, in the order the SGPRs have them.
fn user_sgprs(properties: u16) -> Vec<UserSgpr> {
    const ORDER: [UserSgpr; 7] = [
        UserSgpr::PrivateSegmentBuffer,
        UserSgpr::DispatchPtr,
        UserSgpr::QueuePtr,
        UserSgpr::KernargPtr,
        UserSgpr::DispatchId,
        UserSgpr::FlatScratchInit,
        UserSgpr::PrivateSegmentSize,
    ];
    (0..).zip(ORDER).filter(|(bit, _)| properties >> bit & 1 != 0).map(|(_, value)| value).collect()
}

/// The fields of a kernel descriptor.
struct Descriptor {
    group_segment: u32,
    private_segment: u32,
    kernarg: u32,
    /// From the descriptor to the code.
    entry: i64,
    rsrc3: u32,
    rsrc1: u32,
    rsrc2: u32,
    properties: u16,
}

impl Descriptor {
    /// Size in bytes.
    const SIZE: u64 = 64;

    /// Reads the descriptor at `offset` of the image.
    fn read(data: &[u8], segments: &[Segment], offset: u64) -> Option<Descriptor> {
        let segment = segments.iter().find(|segment| inside(segment, offset, Descriptor::SIZE))?;
        let start = (offset - segment.offset) as usize;
        let bytes: &[u8; Descriptor::SIZE as usize] = data[segment.file.clone()].get(start..)?.first_chunk()?;
        let dword = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Descriptor {
            group_segment: dword(0),
            private_segment: dword(4),
            kernarg: dword(8),
            entry: (u64::from(dword(16)) | u64::from(dword(20)) << 32) as i64,
            rsrc3: dword(44),
            rsrc1: dword(48),
            rsrc2: dword(52),
            properties: dword(56) as u16,
        })
    }
}
