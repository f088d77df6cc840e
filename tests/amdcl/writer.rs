//! Writes OpenCL binaries as AMD's Catalyst drivers did, from assembly.

use gcnjit::Target;
use gcnjit::isa::asm;

/// A kernel to be written.
pub struct Kernel {
    pub name: &'static str,
    /// Assembly for gfx600.
    pub code: &'static str,
    /// The lines of the metadata between the first and the last.
    pub metadata: &'static str,
    /// Bytes of static LDS.
    pub hwlocal: u32,
    /// User elements: class, slot, first SGPR, SGPR count.
    pub elements: &'static [[u32; 4]],
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: u32,
}

/// `e_machine` of Tahiti, and the number of its encoding and of the one that is no machine code.
const TAHITI: (u16, u32) = (0x3fd, 0x1a);
const AMDIL: u32 = 0x19;

/// A binary for Tahiti, with device pointers of 64 bits or 32.
pub fn binary(kernels: &[Kernel], constants: &[u8], is64: bool) -> Vec<u8> {
    let (mut rodata, mut text, mut strings) = (Vec::new(), Vec::new(), vec![0]);
    // Name, section, offset and size.
    let mut symbols = vec![symbol(0, 0, 0, 0, is64)];
    let (in_rodata, in_text) = (5, 6);
    let mut add = |name: String, section: u16, contents: &mut Vec<u8>, data: &[u8]| {
        symbols.push(symbol(strings.len(), section, contents.len(), data.len(), is64));
        strings.extend(name.bytes().chain([0]));
        contents.extend_from_slice(data);
    };
    add("__OpenCL_2_global".into(), in_rodata, &mut rodata, constants);
    for kernel in kernels {
        let name = |what: &str| format!("__OpenCL_{}_{what}", kernel.name);
        let metadata = format!(
            ";ARGSTART:{0}\n;version:3:1:111\n;device:tahiti\n;uniqueid:1024\n;memory:uavprivate:0\n;memory:hwregion:0\n\
             ;memory:hwlocal:{1}\n{2};function:1:1028\n;privateid:8\n;ARGEND:{0}\n",
            name("kernel"),
            kernel.hwlocal,
            kernel.metadata
        );
        add(name("metadata"), in_rodata, &mut rodata, metadata.as_bytes());
        add(name("header"), in_rodata, &mut rodata, &dwords(&[0, 0, 0, kernel.hwlocal, 0, 1, 0, 0]));
        add(name("kernel"), in_text, &mut text, &inner(kernel));
    }
    let section = |name, kind, link, data| Section { name, kind, link, data };
    let sections = [
        section(".strtab", 3, 0, strings),
        section(".symtab", 2, 2, symbols.concat()),
        section(".comment", 1, 0, b"AMD-APP (923.1)".to_vec()),
        section(".rodata", 1, 0, rodata),
        section(".text", 1, 0, text),
    ];
    Elf { is64, ident: [0, 0], machine: TAHITI.0 }.write(&[], &sections)
}

/// The ELF file of a kernel: two encodings, of which the first is no machine code.
fn inner(kernel: &Kernel) -> Vec<u8> {
    const DICTIONARY: u32 = 0x7000_0002;
    let code = asm::assemble(kernel.code, Target::Gfx600).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
    let encodings = [(AMDIL, notes(kernel), vec![0xff; 64]), (TAHITI.1, notes(kernel), dwords(&code))];
    // After the header, five program headers and the section names come the dictionary, and notes and code in turn.
    let mut at = Elf::HEADER32 + 5 * 32 + SECTION_NAMES.len() + 40;
    let (mut dictionary, mut headers, mut sections) = (Vec::new(), vec![(DICTIONARY, at - 40, 40)], Vec::new());
    for (machine, notes, text) in encodings {
        let (note, size) = (notes.len(), notes.len() + text.len());
        dictionary.extend(dwords(&[machine, 4, at as u32, size as u32, 0]));
        headers.extend([(4, at, note), (1, at + note, text.len())]);
        sections.push(Section { name: ".note", kind: 7, link: 0, data: notes });
        sections.push(Section { name: ".text", kind: 1, link: 0, data: text });
        at += size;
    }
    sections.insert(0, Section { name: ".data", kind: 1, link: 0, data: dictionary });
    Elf { is64: false, ident: [0x64, 1], machine: 0x7d }.write(&headers, &sections)
}

/// The notes of an encoding: one that is of no interest, and PROGINFO.
fn notes(kernel: &Kernel) -> Vec<u8> {
    let mut info = vec![(0x8000_1000, kernel.elements.len() as u32)];
    for (i, fields) in (0..).zip(kernel.elements) {
        info.extend((0..).zip(fields).map(|(field, value)| (0x8000_1001 + 4 * i + field, *value)));
    }
    info.extend([(0x8000_1041, 8), (0x8000_1042, 32), (0x8000_1043, 0xc0), (0x8000_1044, 0), (0x8000_1045, 0)]);
    info.push((0x2e13, kernel.rsrc2));
    let info: Vec<u32> = info.into_iter().flat_map(|(key, value)| [key, value]).collect();
    let note = |kind: u32, data: Vec<u8>| [dwords(&[8, data.len() as u32, kind]), b"ATI CAL\0".to_vec(), data].concat();
    [note(15, dwords(&[0])), note(1, dwords(&info))].concat()
}

fn dwords(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn symbol(name: usize, section: u16, offset: usize, size: usize, is64: bool) -> Vec<u8> {
    let name = (name as u32).to_le_bytes();
    let (kind, section) = ([1, 0], section.to_le_bytes());
    match is64 {
        true => [&name[..], &kind, &section, &(offset as u64).to_le_bytes(), &(size as u64).to_le_bytes()].concat(),
        false => [&name[..], &(offset as u32).to_le_bytes(), &(size as u32).to_le_bytes(), &kind, &section].concat(),
    }
}

struct Section {
    name: &'static str,
    kind: u32,
    link: u32,
    data: Vec<u8>,
}

/// All names that sections have here.
const SECTION_NAMES: &[u8] = b"\0.shstrtab\0.strtab\0.symtab\0.comment\0.rodata\0.text\0.data\0.note\0";

struct Elf {
    is64: bool,
    /// EI_OSABI and EI_ABIVERSION.
    ident: [u8; 2],
    machine: u16,
}

impl Elf {
    const HEADER32: usize = 52;

    /// Header, program headers (type, offset, size), section names, sections, section headers.
    fn write(&self, headers: &[(u32, usize, usize)], sections: &[Section]) -> Vec<u8> {
        let header = if self.is64 { 64 } else { Elf::HEADER32 };
        let mut body: Vec<u8> = Vec::new();
        for &(kind, offset, size) in headers {
            let (offset, size) = (offset as u32, size as u32);
            body.extend(dwords(&[kind, offset, 0, 0, size, size, 0, 1]));
        }
        let mut table = self.section(0, 0, 0, 0, 0);
        let name = |name: &str| {
            let name: Vec<u8> = [name.as_bytes(), &[0]].concat();
            SECTION_NAMES.windows(name.len()).position(|bytes| bytes == name).expect("a known name") as u32
        };
        let mut add = |section: u32, kind, link, data: &[u8]| {
            table.extend(self.section(section, kind, header + body.len(), data.len(), link));
            body.extend_from_slice(data);
        };
        add(name(".shstrtab"), 3, 0, SECTION_NAMES);
        for section in sections {
            add(name(section.name), section.kind, section.link, &section.data);
        }
        let file = self.header(headers.len() as u16, header + body.len(), sections.len() as u16 + 2);
        [file, body, table].concat()
    }

    fn word(&self, value: usize) -> Vec<u8> {
        let bytes = (value as u64).to_le_bytes();
        bytes[..if self.is64 { 8 } else { 4 }].to_vec()
    }

    fn header(&self, headers: u16, sections_at: usize, sections: u16) -> Vec<u8> {
        let class = if self.is64 { 2 } else { 1 };
        let mut file = b"\x7fELF".to_vec();
        file.extend([class, 1, 1, self.ident[0], self.ident[1], 0, 0, 0, 0, 0, 0, 0, 2, 0]);
        file.extend(self.machine.to_le_bytes());
        file.extend(dwords(&[1]));
        let (size, program, section) = if self.is64 { (64u16, 56u16, 64u16) } else { (52, 32, 40) };
        let programs_at = if headers == 0 { 0 } else { size.into() };
        file.extend([self.word(0), self.word(programs_at), self.word(sections_at)].concat());
        file.extend(dwords(&[0]));
        file.extend([size, program, headers, section, sections, 1].iter().flat_map(|half| half.to_le_bytes()));
        file
    }

    fn section(&self, name: u32, kind: u32, offset: usize, size: usize, link: u32) -> Vec<u8> {
        let entry = if kind == 2 { if self.is64 { 24 } else { 16 } } else { 0 };
        let words = |values: &[usize]| values.iter().flat_map(|value| self.word(*value)).collect::<Vec<u8>>();
        let before = words(&[0, 0, offset, size]);
        [dwords(&[name, kind]), before, dwords(&[link, 0]), words(&[1, entry])].concat()
    }
}
