//! OpenCL binaries of AMD's Catalyst drivers ("amdcl", OpenCL 1.2), for gfx6 and gfx7, and gfx8 by late ones.
//!
//! The outer ELF file, of 32 bits or 64 as device pointers are, has three symbols a kernel: a text that says the
//! arguments (`amdcl_metadata`), a header, and the kernel, an ELF file of its own. That has an encoding for
//! each processor it was compiled for, with notes, of which PROGINFO says what a wave is given, and with code.
//! Constants of the program are one more symbol. The image has them first, and then the code of each kernel.

use super::amdcl_metadata::Metadata;
use super::{Abi, Image, KernelCode, LoadError, Rsrc1, Rsrc2, Segment, Slot, UserSgpr};
use crate::pages::PAGE;
use gcnjit_isa::Target;
use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64, PT_NOTE, SHT_SYMTAB};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

const LE: LittleEndian = LittleEndian;
/// A segment that says where the encodings are.
const PT_DICTIONARY: u32 = 0x7000_0002;
/// A note's type: PROGINFO.
const PROGINFO: u32 = 1;

/// Devices: `e_machine` of the outer file, number of the encoding, and LLVM's name.
const DEVICES: [(u16, u32, Target); 19] = [
    (0x3fd, 0x1a, Target::Gfx600),
    (0x3fe, 0x1b, Target::Gfx601),
    (0x3ff, 0x1c, Target::Gfx601),
    (0x402, 0x20, Target::Gfx602),
    (0x403, 0x21, Target::Gfx704),
    (0x404, 0x22, Target::Gfx700),
    (0x405, 0x23, Target::Gfx700),
    (0x406, 0x24, Target::Gfx703),
    (0x407, 0x25, Target::Gfx602),
    (0x408, 0x27, Target::Gfx701),
    (0x409, 0x29, Target::Gfx802),
    (0x40a, 0x2a, Target::Gfx802),
    (0x40b, 0x2b, Target::Gfx703),
    (0x40c, 0x2d, Target::Gfx803),
    (0x40d, 0x2e, Target::Gfx801),
    (0x40e, 0x2f, Target::Gfx803),
    (0x40f, 0x2c, Target::Gfx803),
    (0x411, 0x31, Target::Gfx810),
    (0x412, 0x32, Target::Gfx803),
];
/// `e_machine` of what the driver compiled for the host.
const X86: u16 = 0x7d4;

/// Whether a file has the header of such a binary.
pub(super) fn is_amdcl(file: &[u8]) -> bool {
    let Some(machine) = file.get(18..20).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])) else { return false };
    file.starts_with(b"\x7fELF") && (machine == X86 || DEVICES.iter().any(|device| device.0 == machine))
}

/// Parses a binary.
pub fn parse(file: Vec<u8>) -> Result<Image, LoadError> {
    let outer = match file.get(4) {
        Some(1) => Outer::read::<FileHeader32<LittleEndian>>(&file)?,
        _ => Outer::read::<FileHeader64<LittleEndian>>(&file)?,
    };
    let device = DEVICES.iter().find(|device| device.0 == outer.machine);
    let &(_, encoding, target) =
        device.ok_or_else(|| bad("ELF header", "it is code for an x86 processor, not for a GPU"))?;
    let mut segments = Segments { list: Vec::new(), end: 0, given: 0, limit: file.len() };
    let constants = match &outer.constants {
        Some(range) => {
            let offset = segments.add(range.clone(), false)?;
            Some(offset..offset + range.len() as u64)
        }
        None => None,
    };
    let mut kernels = BTreeMap::new();
    for (name, parts) in &outer.kernels {
        let (Some(text), Some(inner)) = (&parts.metadata, &parts.inner) else {
            return Err(bad(name, "it has no metadata, or no code"));
        };
        let metadata = Metadata::parse(&file[text.clone()], outer.is64).map_err(|error| error.of(name))?;
        let program = Program::read(&file[inner.clone()], encoding).map_err(|what| bad(name, what))?;
        let code = program.code.start + inner.start..program.code.end + inner.start;
        let entry = segments.add(code, true)?;
        let constants = constants.clone().filter(|_| metadata.constants);
        let kernel = kernel(name, metadata, &program, entry, constants).map_err(|what| bad(name, what))?;
        kernels.insert(name.clone(), Arc::new(kernel));
    }
    let (size, segments) = (segments.end, segments.list);
    let (relocations, globals, parts) = Default::default();
    Ok(Image { target, size, segments, relocations, kernels, globals, printf: Vec::new(), parts, file })
}

fn bad(place: &str, what: &'static str) -> LoadError {
    LoadError::Amdcl { place: place.to_owned(), what }
}

/// What the outer file says.
struct Outer {
    machine: u16,
    is64: bool,
    kernels: BTreeMap<String, Parts>,
    /// Where the program's constants are.
    constants: Option<Range<usize>>,
}

/// Where the parts of a kernel are in the file.
#[derive(Default)]
struct Parts {
    metadata: Option<Range<usize>>,
    inner: Option<Range<usize>>,
}

impl Outer {
    fn read<E: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Result<Outer, LoadError> {
        let elf = |table| move |error: object::read::Error| LoadError::Elf { table, what: error.to_string() };
        let header = E::parse(data).map_err(elf("ELF header"))?;
        let sections = header.sections(LE, data).map_err(elf("section headers"))?;
        let symbols = sections.symbols(LE, data, SHT_SYMTAB).map_err(elf("symbols"))?;
        let is64 = header.is_class_64();
        let mut outer = Outer { machine: header.e_machine(LE), is64, kernels: BTreeMap::new(), constants: None };
        for symbol in symbols.iter() {
            let name = symbol.name(LE, symbols.strings()).map_err(elf("symbols"))?;
            let Some(name) = str::from_utf8(name).ok().and_then(|name| name.strip_prefix("__OpenCL_")) else {
                continue;
            };
            let section = sections.section(object::SectionIndex(symbol.st_shndx(LE).into()));
            let place = section.ok().and_then(|section| {
                let (offset, size): (u64, u64) = (section.sh_offset(LE).into(), section.sh_size(LE).into());
                let (start, len): (u64, u64) = (symbol.st_value(LE).into(), symbol.st_size(LE).into());
                let inside = start.checked_add(len)? <= size;
                let start = usize::try_from(offset.checked_add(start)?).ok()?;
                let range = start..start.checked_add(usize::try_from(len).ok()?)?;
                (inside && range.end <= data.len()).then_some(range)
            });
            outer.add(name, place.ok_or_else(|| bad(name, "its symbol leaves the file"))?);
        }
        Ok(outer)
    }

    /// Takes note of the symbol `__OpenCL_NAME`. The last word of the name says what it is.
    fn add(&mut self, name: &str, place: Range<usize>) {
        match name.rsplit_once('_') {
            Some((kernel, "metadata")) => self.kernels.entry(kernel.to_owned()).or_default().metadata = Some(place),
            Some((kernel, "kernel")) => self.kernels.entry(kernel.to_owned()).or_default().inner = Some(place),
            Some((number, "global")) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.constants = Some(place);
            }
            _ => {}
        }
    }
}

/// The image's segments as they are added.
struct Segments {
    list: Vec<Segment>,
    end: u64,
    /// Bytes of the file in them, which may not be more than the file has.
    given: usize,
    limit: usize,
}

impl Segments {
    /// Adds a part of the file and returns its offset in the image.
    fn add(&mut self, file: Range<usize>, executable: bool) -> Result<u64, LoadError> {
        self.given += file.len();
        if self.given > self.limit {
            return Err(bad("symbols", "they share their bytes"));
        }
        let offset = self.end;
        let size = file.len() as u64;
        self.end = (offset + size).next_multiple_of(PAGE);
        self.list.push(Segment { offset, size, file, writable: false, executable });
        Ok(offset)
    }
}

/// A kernel's encoding for the processor.
struct Program {
    /// Where the code is in the inner file.
    code: Range<usize>,
    /// PROGINFO, by address.
    info: BTreeMap<u32, u32>,
}

impl Program {
    fn read(inner: &[u8], encoding: u32) -> Result<Program, &'static str> {
        let header = FileHeader32::<LittleEndian>::parse(inner).map_err(|_| "its code is not an ELF file")?;
        let headers = header.program_headers(LE, inner).map_err(|_| "its program headers leave the file")?;
        let dictionary = headers.iter().find(|header| header.p_type(LE) == PT_DICTIONARY);
        let dictionary = dictionary.ok_or("it has no dictionary of encodings")?;
        let dictionary = dictionary.data(LE, inner).map_err(|()| "its dictionary of encodings leaves the file")?;
        let found = dictionary.chunks_exact(20).find(|entry| dword(entry, 0) == encoding);
        let entry = found.ok_or("it has no encoding for the processor")?;
        let (start, size) = (dword(entry, 8) as usize, dword(entry, 12) as usize);
        let range = start..start.saturating_add(size).min(inner.len());
        let within = |offset: usize, size: usize| offset >= range.start && offset.saturating_add(size) <= range.end;

        let mut info = BTreeMap::new();
        for header in headers.iter().filter(|header| header.p_type(LE) == PT_NOTE) {
            let (offset, size) = header.file_range(LE);
            if within(offset as usize, size as usize) {
                let notes = header.data(LE, inner).map_err(|()| "its notes leave the file")?;
                read_notes(notes, &mut info).ok_or("its notes are cut off")?;
            }
        }
        let sections = header.sections(LE, inner).map_err(|_| "its section headers leave the file")?;
        let text = sections.iter().find_map(|section| {
            let (offset, size) = section.file_range(LE)?;
            let is_text = sections.section_name(LE, section) == Ok(b".text");
            let place = offset as usize..(offset + size) as usize;
            (is_text && within(place.start, place.len())).then_some(place)
        });
        let code = text.filter(|code| !code.is_empty()).ok_or("it has no code for the processor")?;
        Ok(Program { code, info })
    }

    fn get(&self, key: u32) -> u32 {
        self.info.get(&key).copied().unwrap_or(0)
    }
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Adds what PROGINFO notes say; `None` if they are cut off. A note is three dwords, a name of eight bytes, and data.
fn read_notes(mut notes: &[u8], info: &mut BTreeMap<u32, u32>) -> Option<()> {
    while !notes.is_empty() {
        let (head, rest) = notes.split_at_checked(20)?;
        let (data, rest) = rest.split_at_checked(dword(head, 4) as usize)?;
        if dword(head, 8) == PROGINFO {
            info.extend(data.chunks_exact(8).map(|pair| (dword(pair, 0), dword(pair, 4))));
        }
        notes = rest;
    }
    Some(())
}

/// Keys of PROGINFO.
mod key {
    pub const ELEMENTS: u32 = 0x8000_1000;
    pub const FIRST_ELEMENT: u32 = 0x8000_1001;
    pub const VGPRS: u32 = 0x8000_1041;
    pub const SGPRS: u32 = 0x8000_1042;
    pub const FLOAT_MODE: u32 = 0x8000_1043;
    pub const IEEE_MODE: u32 = 0x8000_1044;
    pub const SCRATCH: u32 = 0x8000_1045;
    pub const RSRC2: u32 = 0x2e13;
}

fn kernel(
    name: &str,
    metadata: Metadata,
    program: &Program,
    entry: u64,
    constants: Option<Range<u64>>,
) -> Result<KernelCode, &'static str> {
    const DX10_CLAMP: u32 = 1 << 21;
    let rsrc2 = Rsrc2(program.get(key::RSRC2));
    let (user_sgprs, missing) = user_sgprs(program)?;
    if user_sgprs.iter().map(|value| value.dwords()).sum::<usize>() > rsrc2.user_sgprs() {
        return Err("it describes more user SGPRs than it counts");
    }
    let vgprs = program.get(key::VGPRS);
    let granules = vgprs.clamp(1, 256).div_ceil(4) - 1;
    let (float_mode, ieee) = (program.get(key::FLOAT_MODE) & 0xff, program.get(key::IEEE_MODE) & 1);
    let scratch = if rsrc2.scratch() { program.get(key::SCRATCH) } else { 0 };
    let slot = metadata.constant_uav.map_or(Slot::Const(2), Slot::Uav);
    Ok(KernelCode {
        name: name.to_owned(),
        abi: Abi::Amdcl,
        entry,
        descriptor: entry,
        // How the driver rounds the number of SGPRs up is not known: all of them.
        rsrc1: Rsrc1(granules | 0xf << 6 | float_mode << 12 | DX10_CLAMP | ieee << 23),
        rsrc2,
        rsrc3: 0,
        user_sgprs,
        lds_size: metadata.lds,
        scratch_size: scratch.checked_mul(4).ok_or("it asks for more than 4 GiB of scratch")?,
        scratch_element: 4,
        dynamic_stack: false,
        kernarg_size: metadata.size,
        args: Some(metadata.args),
        required_group: metadata.required_group,
        max_group: Some(256),
        sgprs: Some(program.get(key::SGPRS)),
        vgprs: Some(vgprs),
        constants: constants.map(|range| (slot, range)),
        samplers: metadata.samplers,
        missing: metadata.missing.or(missing),
        shader: None,
    })
}

/// The values in the first SGPRs, and what is asked for that there is not.
fn user_sgprs(program: &Program) -> Result<(Vec<UserSgpr>, Option<&'static str>), &'static str> {
    let count = program.get(key::ELEMENTS);
    if count > 16 {
        return Err("it has more than 16 user elements");
    }
    let field = |element: u32, field: u32| program.get(key::FIRST_ELEMENT + 4 * element + field);
    let mut elements: Vec<[u32; 4]> = (0..count).map(|i| [0, 1, 2, 3].map(|f| field(i, f))).collect();
    elements.retain(|[_, _, _, count]| *count != 0);
    elements.sort_by_key(|[_, _, first, _]| *first);
    let (mut values, mut missing, mut next) = (Vec::new(), None, 0);
    for [class, slot, first, count] in elements {
        if first < next || count > 16 || first > 16 {
            return Err("its user elements overlap, or are outside of the user SGPRs");
        }
        values.extend((next < first).then_some(UserSgpr::Undefined((first - next) as u8)));
        next = first + count;
        let slot =
            u16::try_from(slot).ok().filter(|slot| *slot < Slot::COUNT).ok_or("a user element's slot is too high")?;
        let value = match (class, count) {
            (2, 4) => UserSgpr::Resource(Slot::Const(slot)),
            (4, 4) => UserSgpr::Resource(Slot::Uav(slot)),
            (4, 8) => UserSgpr::Image(Slot::Uav(slot)),
            (0, 8) => UserSgpr::Image(Slot::Image(slot)),
            (1, 4) => UserSgpr::Sampler(Slot::Sampler(slot)),
            (17, 2) => UserSgpr::ImageTable,
            (19, 2) => UserSgpr::SamplerTable,
            (20, 2) => UserSgpr::ConstTable,
            (23, 2) => UserSgpr::UavTable,
            (24, 2) => UserSgpr::InternalTable,
            _ => {
                missing = Some(missing_element(class));
                UserSgpr::Undefined(count as u8)
            }
        };
        values.push(value);
    }
    Ok((values, missing))
}

fn missing_element(class: u32) -> &'static str {
    match class {
        7..=9 => "GDS ranges",
        _ => "a user element of an unknown class",
    }
}
