//! Shaders of graphics pipelines, as LLVM writes them for PAL and for Mesa (LLVM, "User Guide for AMDGPU Backend":
//! AMDPAL; AMDGPU.config), linked to a shared object.
//!
//! A shader is a function, and values for hardware registers that the driver would set. PAL's note has them for all
//! shaders of a pipeline, by register number; Mesa's section has pairs of a register's address and its value, the
//! functions' one behind the other in the order of their addresses.

use super::hsa::{self, Elf, LE, elf};
use super::metadata::{self, PalStage};
use super::{Abi, Image, KernelCode, LoadError, Rsrc1, Rsrc2, Segment, relocation};
use gcnjit_isa::Target;
use object::elf::{SHT_DYNSYM, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use std::collections::BTreeMap;
use std::sync::Arc;

/// ELFOSABI_AMDGPU_PAL.
const PAL: u8 = 65;
/// ELFOSABI_AMDGPU_MESA3D.
const MESA: u8 = 66;
/// NT_AMDGPU_METADATA, of owner "AMDGPU".
const NOTE: u32 = 32;
/// Where Mesa's registers are.
const CONFIG: &[u8] = b".AMDGPU.config";

/// What a shader is in its pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Vertex shader before tessellation.
    Ls,
    /// Hull shader.
    Hs,
    /// Vertex or domain shader before a geometry shader.
    Es,
    /// Geometry shader.
    Gs,
    /// Vertex, domain or copy shader before rasterisation.
    Vs,
    /// Pixel shader.
    Ps,
    /// Compute shader.
    Cs,
}

impl Stage {
    const ALL: [Stage; 7] = [Stage::Ls, Stage::Hs, Stage::Es, Stage::Gs, Stage::Vs, Stage::Ps, Stage::Cs];

    /// The name that the metadata has.
    fn named(name: &str) -> Option<Stage> {
        const NAMES: [&str; 7] = [".ls", ".hs", ".es", ".gs", ".vs", ".ps", ".cs"];
        NAMES.iter().position(|known| *known == name).map(|at| Stage::ALL[at])
    }

    /// The number of its PGM_RSRC1; PGM_RSRC2's is the next.
    pub const fn rsrc1(self) -> u32 {
        match self {
            Stage::Ps => 0x2c0a,
            Stage::Vs => 0x2c4a,
            Stage::Gs => 0x2c8a,
            Stage::Es => 0x2cca,
            Stage::Hs => 0x2d0a,
            Stage::Ls => 0x2d4a,
            Stage::Cs => 0x2e12,
        }
    }
}

/// An input that the hardware puts into VGPRs of a pixel shader, in the order in which it does.
#[allow(missing_docs, reason = "the names that SPI_PS_INPUT_ADDR has for them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelInput {
    PerspSample,
    PerspCenter,
    PerspCentroid,
    PerspPullModel,
    LinearSample,
    LinearCenter,
    LinearCentroid,
    LineStipple,
    PosX,
    PosY,
    PosZ,
    PosW,
    FrontFace,
    Ancillary,
    SampleCoverage,
    PosFixed,
}

impl PixelInput {
    /// VGPRs that each input takes, by its number: barycentric coordinates are pairs, the pull model is I/W, J/W and 1/W.
    const SIZES: [usize; 16] = [2, 2, 2, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1];
}

/// What a file says of a shader beside its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderCode {
    /// What it is.
    pub stage: Stage,
    /// Hardware registers of the pipeline, by their numbers: addresses divided by 4.
    pub registers: BTreeMap<u32, u32>,
}

impl ShaderCode {
    /// The first VGPR of an input of a pixel shader, if it has a place there: SPI_PS_INPUT_ADDR says which have.
    pub fn pixel_input(&self, input: PixelInput) -> Option<usize> {
        const SPI_PS_INPUT_ADDR: u32 = 0xa1b4;
        let placed = self.registers.get(&SPI_PS_INPUT_ADDR).copied().unwrap_or(0);
        let number = input as usize;
        let before = (0..number).filter(|i| placed >> i & 1 != 0).map(|i| PixelInput::SIZES[i]).sum();
        (placed >> number & 1 != 0).then_some(before)
    }
}

/// Whether it is an ELF file of a kind that has shaders.
pub fn is_shader(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF") && matches!(file.get(7), Some(&PAL | &MESA))
}

/// A function that is a shader.
struct Function {
    name: String,
    stage: Stage,
    registers: BTreeMap<u32, u32>,
    scratch: u32,
}

/// Parses a file that [`is_shader`].
///
/// # Errors
/// [`LoadError`] if it is malformed, not linked, or for another processor.
pub fn parse(file: Vec<u8>) -> Result<Image, LoadError> {
    let data = &file[..];
    let header = header(data)?;
    let mach = header.e_flags(LE) & 0xff;
    let target = Target::from_elf_mach(mach).ok_or(LoadError::Processor { mach })?;
    let (segments, base) = hsa::segments(header, data)?;
    let sections = header.sections(LE, data).map_err(elf("section headers"))?;
    let symbols = functions(&sections, data, base)?;
    let relocations = relocation::read(&sections, data, &segments, base)?;
    let found = if data[7] == MESA { mesa(&sections, data, &symbols)? } else { pal(&sections, data)? };
    let mut kernels = BTreeMap::new();
    for function in found {
        let name = function.name.clone();
        let entry = symbols.get(&name).copied();
        let code = entry.ok_or("has no function of that name").and_then(|entry| shader(function, entry, &segments));
        let code = code.map_err(|what| LoadError::Metadata { path: name.clone(), what })?;
        kernels.insert(name, Arc::new(code));
    }
    let size = segments.last().map_or(0, |segment| segment.offset + segment.size);
    let (globals, printf, parts) = (BTreeMap::new(), Vec::new(), Vec::new());
    Ok(Image { target, size, segments, relocations, kernels, globals, printf, parts, file })
}

/// Checks the ELF header.
fn header(data: &[u8]) -> Result<&Elf, LoadError> {
    let header = hsa::processor_header(data)?;
    hsa::expect_linked(header)?;
    Ok(header)
}

/// Offsets of the functions in the image.
fn functions(sections: &SectionTable<'_, Elf>, data: &[u8], base: u64) -> Result<BTreeMap<String, u64>, LoadError> {
    let mut found = BTreeMap::new();
    for (kind, table) in [(SHT_DYNSYM, "dynamic symbols"), (SHT_SYMTAB, "symbols")] {
        let symbols = sections.symbols(LE, data, kind).map_err(elf(table))?;
        for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined(LE) && symbol.st_type() == STT_FUNC) {
            let name = symbol.name(LE, symbols.strings()).map_err(elf(table))?;
            if let Ok(name) = str::from_utf8(name) {
                found.insert(name.to_owned(), symbol.st_value(LE).wrapping_sub(base));
            }
        }
    }
    Ok(found)
}

/// The shaders of PAL's note, which linkers leave in a section of its own, outside of what is loaded.
fn pal(sections: &SectionTable<'_, Elf>, data: &[u8]) -> Result<Vec<Function>, LoadError> {
    let mut found = Vec::new();
    for section in sections.iter() {
        let Some(mut notes) = section.notes(LE, data).map_err(elf("note"))? else { continue };
        while let Some(note) = notes.next().map_err(elf("note"))? {
            if note.name() != b"AMDGPU" || note.n_type(LE) != NOTE {
                continue;
            }
            if !found.is_empty() {
                return Err(LoadError::Elf { table: "note", what: "there are several pipelines".into() });
            }
            let pipeline = metadata::parse_pal(note.desc())?;
            for PalStage { name, entry, scratch } in pipeline.stages {
                let unknown = LoadError::Metadata { path: name.clone(), what: "is an unknown stage" };
                let stage = Stage::named(&name).ok_or(unknown)?;
                found.push(Function { name: entry, stage, registers: pipeline.registers.clone(), scratch });
            }
        }
    }
    Ok(found)
}

/// The shaders of Mesa's section: each begins with its PGM_RSRC1.
fn mesa(
    sections: &SectionTable<'_, Elf>,
    data: &[u8],
    symbols: &BTreeMap<String, u64>,
) -> Result<Vec<Function>, LoadError> {
    const SPI_TMPRING_SIZE: u32 = 0xa1ba;
    let bad = |what: &str| LoadError::Elf { table: ".AMDGPU.config", what: what.to_owned() };
    let section = sections.iter().find(|section| sections.section_name(LE, section).is_ok_and(|name| name == CONFIG));
    let section = section.ok_or_else(|| bad("there is no such section"))?;
    let bytes = section.data(LE, data).map_err(elf(".AMDGPU.config"))?;
    let (pairs, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(bad("is not pairs of dwords"));
    }
    let mut groups: Vec<(Stage, BTreeMap<u32, u32>)> = Vec::new();
    for pair in pairs {
        let [register, value] =
            [0, 4].map(|at| u32::from_le_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]));
        let begun = Stage::ALL.into_iter().find(|stage| stage.rsrc1() == register / 4);
        groups.extend(begun.map(|stage| (stage, BTreeMap::new())));
        let (_, registers) = groups.last_mut().ok_or_else(|| bad("does not begin with a PGM_RSRC1"))?;
        registers.insert(register / 4, value);
    }
    let mut by_address: Vec<(&String, &u64)> = symbols.iter().collect();
    by_address.sort_by_key(|(_, address)| **address);
    if by_address.len() != groups.len() {
        return Err(bad("has registers for another number of functions than there are"));
    }
    Ok(groups
        .into_iter()
        .zip(by_address)
        .map(|((stage, registers), (name, _))| {
            let scratch = registers.get(&SPI_TMPRING_SIZE).copied().unwrap_or(0);
            Function { name: name.clone(), stage, registers, scratch }
        })
        .collect())
}

/// The code of a function at `entry` of the image.
fn shader(function: Function, entry: u64, segments: &[Segment]) -> Result<KernelCode, &'static str> {
    let Function { name, stage, registers, scratch } = function;
    let is_code = |segment: &Segment| segment.executable && hsa::inside(segment, entry, 4);
    if !segments.iter().any(is_code) || !entry.is_multiple_of(4) {
        return Err("its entry is not in the code");
    }
    let rsrc1 = registers.get(&stage.rsrc1()).copied().ok_or("has no PGM_RSRC1")?;
    let rsrc2 = registers.get(&(stage.rsrc1() + 1)).copied().unwrap_or(0);
    Ok(KernelCode {
        rsrc1: Rsrc1(rsrc1),
        rsrc2: Rsrc2(rsrc2),
        scratch_size: scratch,
        missing: Some("a graphics pipeline: it is a shader"),
        shader: Some(ShaderCode { stage, registers }),
        ..KernelCode::bare(name, Abi::Shader, entry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_where_those_before_them_end() {
        let with = |placed: u32| ShaderCode { stage: Stage::Ps, registers: [(0xa1b4, placed)].into() };
        // Center, pull model, position x and w, and sample coverage.
        let shader = with(1 << 1 | 1 << 3 | 1 << 8 | 1 << 11 | 1 << 14);
        let inputs = [PixelInput::PerspCenter, PixelInput::PerspPullModel, PixelInput::PosX, PixelInput::PosW];
        assert_eq!(inputs.map(|input| shader.pixel_input(input)), [Some(0), Some(2), Some(5), Some(6)]);
        assert_eq!(shader.pixel_input(PixelInput::SampleCoverage), Some(7));
        assert_eq!([PixelInput::PerspSample, PixelInput::PosY].map(|input| shader.pixel_input(input)), [None, None]);
    }
}
