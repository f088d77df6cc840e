//! What is said of the first piece in which the engines differ.

use crate::launch::{Prepared, Stats};
use crate::listing::Listing;
use crate::lockstep::shadow::{Space, Span, Stray};
use crate::lockstep::writers::{Register, Writer};
use crate::lockstep::{Counts, Raw};
use crate::names::Names;
use gcnjit_isa::registers::sgpr_name;
use gcnjit_isa::{Inst, Target};
use gcnjit_rt::{LANES, Stop, Trap, Wave};
use std::fmt;

/// Instructions shown before and after the piece.
const AROUND: usize = 4;
/// Instructions of a long piece that are shown at its start and its end.
const SHOWN: usize = 12;
/// Lanes of a register, and runs of bytes, that the text shows.
const FEW: usize = 8;

/// How a launch in lockstep ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Both engines did the same from the first to the last instruction.
    Same {
        /// What the launch did.
        stats: Stats,
        /// What was compared.
        counts: Counts,
    },
    /// They did not.
    Different(Box<Divergence>),
}

/// The first piece in which the engines differ. Its text tells all but the translator's view of it.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    /// The kernel's file.
    pub file: String,
    /// The kernel.
    pub kernel: String,
    /// The wave: its work-group's coordinates and its place there. Nothing if no piece could be found.
    pub wave: Option<([u32; 3], u32)>,
    /// Pieces that both engines had executed to the same result.
    pub pieces: u64,
    /// The code of the piece and around it, in order.
    pub code: Vec<Line>,
    /// How the piece ended in the interpreter and in the translator, if they differ in that.
    pub ends: Option<[String; 2]>,
    /// Registers that differ.
    pub registers: Vec<RegisterDifference>,
    /// Memory that differs.
    pub memory: Vec<MemoryDifference>,
    /// What the instruction at fault worked on, if there is one: its sources in the first lane that differs.
    pub sources: Vec<Source>,
    /// The lane IR of the piece, or of the one instruction at fault.
    pub lane_ir: String,
    /// Its host code; empty on hosts without a disassembler.
    pub host_code: String,
    /// Whether the piece has several instructions, none of which differs when it is translated by itself.
    pub only_together: bool,
    /// What the text calls addresses.
    pub names: Names,
}

/// An instruction in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its guest address.
    pub pc: u64,
    /// The kernel and the distance from its start.
    pub place: String,
    /// As llvm-mc prints it.
    pub text: String,
    /// The line of the source, as `file:line`, if the code object tells.
    pub source: Option<String>,
    /// What it has to do with the difference.
    pub role: Role,
}

/// What an instruction has to do with a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is near.
    Around,
    /// It is part of the piece.
    Piece,
    /// It differs.
    Fault,
}

/// A register, or a lane of one, that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDifference {
    /// The register's name.
    pub name: String,
    /// The lane.
    pub lane: Option<usize>,
    /// Before the piece.
    pub before: u64,
    /// After it, as the interpreter has it.
    pub interp: u64,
    /// As the translator has it.
    pub jit: u64,
    /// Where the instruction is that wrote it last, as the interpreter executes the piece.
    pub writer: Option<Line>,
}

/// A run of bytes of memory that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Where.
    pub span: Span,
    /// What the interpreter made of it.
    pub interp: Vec<u8>,
    /// What the translator made of it.
    pub jit: Vec<u8>,
    /// Who wrote the first byte that differs last: the instruction and its wave.
    pub writer: Option<(Line, ([u32; 3], u32))>,
}

/// What an instruction worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The register's name.
    pub name: String,
    /// The lane.
    pub lane: Option<usize>,
    /// The value.
    pub value: u64,
    /// Where the instruction is that wrote it last.
    pub writer: Option<Line>,
}

fn name(register: Register) -> (String, Option<usize>) {
    match register {
        Register::Sgpr(s) => (sgpr_name(s), None),
        Register::Vgpr(v, lane) => (format!("v{v}"), Some(lane)),
        Register::Scc => ("scc".to_owned(), None),
        Register::Mode => ("mode".to_owned(), None),
        Register::Trapsts => ("trapsts".to_owned(), None),
        Register::Pc => ("pc".to_owned(), None),
    }
}

fn value(wave: &Wave, register: Register) -> u64 {
    match register {
        Register::Sgpr(s) => wave.sgpr[usize::from(s)].into(),
        Register::Vgpr(v, lane) => wave.vgpr[usize::from(v)][lane].into(),
        Register::Scc => wave.scc.into(),
        Register::Mode => wave.mode.0.into(),
        Register::Trapsts => wave.trapsts.into(),
        Register::Pc => wave.pc,
    }
}

/// The registers in which two waves differ.
pub(crate) fn differing(a: &Wave, b: &Wave) -> Vec<Register> {
    let lanes = (0..=255).flat_map(|v| (0..LANES).map(move |lane| Register::Vgpr(v, lane)));
    let others = [Register::Scc, Register::Mode, Register::Trapsts, Register::Pc];
    let all = (0..128).map(Register::Sgpr).chain(others).chain(lanes);
    all.filter(|register| value(a, *register) != value(b, *register)).collect()
}

/// The registers that an instruction reads: of the vector registers, the first lane that differs, or the first that is
/// enabled.
pub(crate) fn sources(inst: &Inst, target: Target, before: &Wave, interp: &Wave, jit: &Wave) -> Vec<Register> {
    let differs = differing(interp, jit).into_iter().find_map(|register| match register {
        Register::Vgpr(_, lane) => Some(lane),
        _ => None,
    });
    let lane = differs.unwrap_or(before.exec().trailing_zeros() as usize % LANES);
    let reads = inst.reads(target);
    let scalars = reads.sgprs().map(Register::Sgpr).chain(reads.scc.then_some(Register::Scc));
    scalars.chain(reads.vgprs().map(|v| Register::Vgpr(v, lane))).collect()
}

fn end(end: &Result<Option<Stop>, Box<Trap>>) -> String {
    match end {
        Ok(None) => "it goes on".to_owned(),
        Ok(Some(Stop::End)) => "it ends".to_owned(),
        Ok(Some(Stop::Barrier)) => "it waits at a barrier".to_owned(),
        Ok(Some(Stop::Yield)) => "it has used up its slice".to_owned(),
        Ok(Some(Stop::Wait(_))) => "it waits for other work-groups".to_owned(),
        Err(trap) => trap.to_string(),
    }
}

/// The report of a difference.
pub(crate) fn make(launch: &Prepared<'_>, mut raw: Raw) -> Divergence {
    let kernel = launch.kernel();
    let listing = Listing::new(kernel.module());
    let (code, several, pieces) = (code(&listing, &raw), raw.code.len() > 1, raw.pieces);
    let only_together = several && raw.narrowed.is_none();
    // What one instruction did says more than what came of it.
    if let Some(narrowed) = raw.narrowed.take() {
        raw = *narrowed;
    }
    let at = |pc: &u64| line(&listing, *pc, Role::Around);
    let writer = |register| raw.writers.get(&register).map(at);
    let differences = differing(&raw.interp, &raw.candidate).into_iter().map(|register| {
        let ((name, lane), of) = (name(register), |wave| value(wave, register));
        let (before, interp, jit) = (of(&raw.before), of(&raw.interp), of(&raw.candidate));
        RegisterDifference { name, lane, before, interp, jit, writer: writer(register) }
    });
    let sources = raw.sources.iter().map(|register| {
        let (name, lane) = name(*register);
        Source { name, lane, value: value(&raw.before, *register), writer: raw.source_writers.get(register).map(at) }
    });
    let memory = raw.bytes.iter().zip(&raw.memory_writers).map(|((span, interp, jit), writer)| {
        let writer = writer.map(|Writer { pc, wave }| (at(&pc), wave));
        MemoryDifference { span: *span, interp: interp.clone(), jit: jit.clone(), writer }
    });
    Divergence {
        file: kernel.module().name().to_owned(),
        kernel: kernel.name().to_owned(),
        wave: Some(raw.wave),
        pieces,
        code,
        ends: (raw.ends[0] != raw.ends[1]).then(|| [end(&raw.ends[0]), end(&raw.ends[1])]),
        registers: differences.collect(),
        memory: memory.collect(),
        sources: sources.collect(),
        lane_ir: raw.listing.clone(),
        host_code: raw.host_code.clone(),
        only_together,
        names: Names::default(),
    }
}

/// The report of memory that changed, without a piece in which it did.
pub(crate) fn unlocated(launch: &Prepared<'_>, stray: Stray) -> Divergence {
    let kernel = launch.kernel();
    let Stray { span, expected, found } = stray;
    Divergence {
        file: kernel.module().name().to_owned(),
        kernel: kernel.name().to_owned(),
        memory: vec![MemoryDifference { span, interp: expected, jit: found, writer: None }],
        ..Divergence::default()
    }
}

fn line(listing: &Listing<'_>, pc: u64, role: Role) -> Line {
    let text = listing.text(pc).unwrap_or_else(|| "code outside of the file".to_owned());
    Line { pc, place: listing.place(pc), text, source: listing.source(pc).map(str::to_owned), role }
}

fn code(listing: &Listing<'_>, raw: &Raw) -> Vec<Line> {
    let (Some((first, _)), Some((last, _))) = (raw.code.first(), raw.code.last()) else { return Vec::new() };
    let before = listing.range(..first).rev().take(AROUND).collect::<Vec<_>>();
    let after = listing.range(last + 1..).take(AROUND);
    let at_fault = match &raw.narrowed {
        Some(one) => one.code.first().map(|(pc, _)| *pc),
        None => (raw.code.len() == 1).then_some(*first),
    };
    let around = |pc| line(listing, pc, Role::Around);
    let role = |pc| if Some(pc) == at_fault { Role::Fault } else { Role::Piece };
    let piece = raw.code.iter().map(|(pc, _)| line(listing, *pc, role(*pc)));
    before.into_iter().rev().map(around).chain(piece).chain(after.map(around)).collect()
}

impl Divergence {
    /// Where a byte is, by the name of what it is in.
    pub fn place(&self, space: Space, at: u64) -> String {
        match space {
            Space::Lds => format!("LDS+{at:#x}"),
            Space::Gds => format!("GDS+{at:#x}"),
            Space::Memory => self.names.place(at),
        }
    }

    fn write_code(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = self.code.iter().filter(|line| line.role != Role::Around).count();
        let mut source = None;
        let mut number = 0;
        for line in &self.code {
            number += usize::from(line.role != Role::Around);
            let near = number <= SHOWN || number + SHOWN > piece || line.role == Role::Fault;
            if line.role != Role::Around && !near {
                if number == SHOWN + 1 {
                    writeln!(f, "    … {} more instructions", piece - 2 * SHOWN)?;
                }
                continue;
            }
            if line.source.is_some() && line.source != source {
                writeln!(f, "  {}", line.source.as_deref().unwrap_or_default())?;
                source.clone_from(&line.source);
            }
            let sign = [" ", "|", ">"][line.role as usize];
            writeln!(f, "  {sign} {:<20} {}", line.place, line.text)?;
        }
        Ok(())
    }

    fn write_registers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for lanes in self.registers.chunk_by(|a, b| a.name == b.name) {
            for RegisterDifference { name, lane, before, interp, jit, .. } in lanes.iter().take(FEW) {
                let lane = lane.map_or(String::new(), |lane| format!("[{lane}]"));
                let bits = interp ^ jit;
                writeln!(
                    f,
                    "  {name}{lane}: interp {interp:#010x}, jit {jit:#010x}, differing bits {bits:#010x}; before {before:#010x}"
                )?;
            }
            if lanes.len() > FEW {
                writeln!(f, "  … {} more lanes of {}", lanes.len() - FEW, lanes[0].name)?;
            }
            match &lanes[0].writer {
                Some(writer) => writeln!(f, "    last written by {writer}")?,
                None => writeln!(f, "    not written since the wave began")?,
            }
        }
        Ok(())
    }

    fn write_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for MemoryDifference { span, interp, jit, writer } in self.memory.iter().take(FEW) {
            let differing: Vec<usize> = (0..span.len).filter(|i| interp[*i] != jit[*i]).collect();
            let Some(first) = differing.first() else { continue };
            let place = self.place(span.space, span.start + *first as u64);
            let some = |bytes: &[u8]| bytes[*first..].iter().take(FEW).map(|b| format!("{b:02x}")).collect::<String>();
            let (interp, jit) = (some(interp), some(jit));
            writeln!(f, "  {place} ({} B): interp {interp}, jit {jit}", differing.len())?;
            match writer {
                Some((line, (group, wave))) => {
                    writeln!(f, "    last written by {line}, work-group {group:?}, wave {wave}")?
                }
                None => {
                    writeln!(f, "    not written by any instruction of the launch, as the interpreter executes it")?
                }
            }
        }
        match self.memory.len().saturating_sub(FEW) {
            0 => Ok(()),
            more => writeln!(f, "  … {more} more places"),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.place, self.text)?;
        match &self.source {
            Some(source) => write!(f, ", {source}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence { file, kernel, pieces, .. } = self;
        write!(f, "{file}: {kernel}: jit and interp differ")?;
        match self.wave {
            Some(([x, y, z], wave)) => {
                writeln!(f, " in work-group ({x}, {y}, {z}), wave {wave}; pieces alike before: {pieces}")?;
            }
            None => writeln!(f, " in memory, and no piece could be found in which that happened")?,
        }
        self.write_code(f)?;
        if self.only_together {
            writeln!(f, "No instruction of the piece differs when it is translated by itself.")?;
        }
        if let Some([interp, jit]) = &self.ends {
            writeln!(f, "How it ends:\n  interp: {interp}\n  jit: {jit}")?;
        }
        if !self.registers.is_empty() {
            writeln!(f, "Registers that differ:")?;
            self.write_registers(f)?;
        }
        if !self.memory.is_empty() {
            writeln!(f, "Memory that differs:")?;
            self.write_memory(f)?;
        }
        if !self.sources.is_empty() {
            writeln!(f, "What the instruction worked on:")?;
        }
        for Source { name, lane, value, writer } in &self.sources {
            let lane = lane.map_or(String::new(), |lane| format!("[{lane}]"));
            let writer = writer.as_ref().map_or("not written since the wave began".to_owned(), ToString::to_string);
            writeln!(f, "  {name}{lane} = {value:#010x}, from {writer}")?;
        }
        Ok(())
    }
}
