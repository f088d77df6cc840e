//! What becomes of a kernel, as text: its lane IR, its CLIF or its host code, each between the guest instructions that
//! it was made for.

use crate::jit::{self, Unit};
use crate::lane::{Block, Op, Value};
use crate::lower::{Planned, Shaping, Waves};
use crate::pass::fuse::induction::{Induction, Kept};
use crate::pass::segment::{Plan, Step};
use crate::pass::strides::Start;
use crate::{Machine, Program, Stages, discover, plan};
use gcnjit_isa::{Target, disas};
use gcnjit_rt::{Mode, Trap, View};
use iced_x86::{Decoder, DecoderOptions, Formatter, Mnemonic, NasmFormatter, OpKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The lane IR with the plan of its segments.
    Lane,
    /// Cranelift's IR of the unit's function.
    Clif,
    /// The host's instructions.
    Host,
}

/// Shows what direct jumps reach from where `start` is, translated for waves in `mode` that look like it.
///
/// # Errors
/// As [`crate::translate`]; [`Trap::Host`] for [`Form::Host`] on hosts that are not x86-64.
pub fn listing(
    form: Form,
    program: &Program,
    view: &View,
    machine: Machine,
    start: &Start,
    mode: Mode,
) -> Result<String, Box<Trap>> {
    let entry = start.pc();
    let mut stages = Stages::default();
    let code = discover(view, machine, entry, mode, &mut stages)?;
    let instructions = code.0.iter().flat_map(|block| &block.instructions);
    let text = instructions.map(|(pc, inst)| (*pc, disas::text(inst, machine.target))).collect();
    let mut page = Page { program, instructions: text, shown: None, text: String::new() };
    let planned = plan(code, machine, mode, start, &mut stages)?;
    match form {
        Form::Lane => planned.iter().for_each(|planned| page.lane(planned)),
        Form::Clif => page.clif(&planned, mode).map_err(|what| Box::new(Trap::Host { pc: entry, what }))?,
        Form::Host if !cfg!(target_arch = "x86_64") => {
            let what = "there is no disassembler for this host's code".to_owned();
            return Err(Box::new(Trap::Host { pc: entry, what }));
        }
        Form::Host => page.host(&jit::compile(planned, None, mode, Shaping::default(), stages)?),
    }
    Ok(page.text)
}

/// The host code of a unit; empty where there is no disassembler for it.
pub(crate) fn host_code(unit: &Unit, target: Target) -> String {
    if !cfg!(target_arch = "x86_64") {
        return String::new();
    }
    let guest = unit.blocks.iter().flat_map(|planned| &planned.guest.instructions);
    let instructions = guest.map(|(pc, inst)| (*pc, disas::text(inst, target))).collect();
    let mut page = Page { program: &Program::default(), instructions, shown: None, text: String::new() };
    page.host(unit);
    page.text
}

/// Text being written.
struct Page<'a> {
    program: &'a Program,
    /// Disassembled guest instructions, by address.
    instructions: BTreeMap<u64, String>,
    /// The guest instruction that was shown last.
    shown: Option<u64>,
    text: String,
}

impl Page<'_> {
    /// Shows the guest instruction at `pc`, unless it was shown last.
    fn guest(&mut self, pc: u64) {
        if self.shown.replace(pc) != Some(pc) {
            let text = self.instructions.get(&pc).map_or("", String::as_str);
            let _ = writeln!(self.text, "; {}: {text}", self.program.name(pc));
        }
    }

    fn line(&mut self, line: impl std::fmt::Display) {
        let _ = writeln!(self.text, "{line}");
    }

    /// The registers that a loop knows from iteration to iteration.
    fn induction(&mut self, induction: &Induction) {
        let names = |is_wanted: fn(&Kept) -> bool| {
            let kept = induction.kept.iter().filter(|kept| is_wanted(kept));
            kept.map(|kept| format!(" v{}", kept.register)).collect::<String>()
        };
        let (all, stale) = (names(|_| true), names(|kept| kept.is_stale));
        self.line(format_args!("  a loop that knows how these count:{all}; written where it is left:{stale}"));
    }

    /// A block: its steps, then its nodes with the step each is in.
    fn lane(&mut self, planned: &Planned) {
        let Planned { block, plan, parts, .. } = planned;
        let (name, count) = (self.program.name(block.pc), block.instructions);
        let kind = match &planned.superblock {
            None => "block",
            Some(superblock) if superblock.alike.is_none() => "superblock",
            Some(_) => "superblock for several waves",
        };
        self.line(format_args!("{kind} {name}: {count} instructions, {} steps", plan.steps.len()));
        for (rank, step) in plan.steps.iter().enumerate() {
            self.line(format_args!("  step {rank}: {}", describe(step)));
        }
        for part in parts {
            let accesses: Vec<String> = part.accesses.iter().map(|access| access.number.to_string()).collect();
            let (first, values) =
                (self.program.name(part.pc), part.stages.iter().map(|stage| stage.values.len()).sum::<usize>());
            self.line(format_args!("  fused from {first}: {values} values, accesses {}", accesses.join(" ")));
            part.induction.iter().for_each(|induction| self.induction(induction));
        }
        let places: Vec<u64> = self.instructions.range(block.pc..block.end).map(|(pc, _)| *pc).collect();
        let mut values = (0..block.nodes.len() as u32).map(Value).peekable();
        for pc in places {
            self.guest(pc);
            while let Some(value) = values.next_if(|value| block.origin(*value) <= pc) {
                self.line(format_args!("    {:<44}{}", block.text(value), fate(block, plan, value)));
            }
        }
        self.line(format_args!("    {:x?}\n", block.term));
        self.shown = None;
    }

    /// The function as Cranelift prints it; source locations become guest instructions.
    fn clif(&mut self, planned: &[Planned], mode: Mode) -> Result<(), String> {
        let segments = jit::segments(planned, Waves::Whole).map_err(|error| error.to_string())?;
        let base = crate::lower::base(planned);
        for line in jit::clif(planned, mode, segments.as_ref()).lines() {
            let (place, rest) = match line.trim_start().strip_prefix('@').and_then(|line| line.split_once(' ')) {
                Some((place, rest)) => (u64::from_str_radix(place, 16).ok(), rest.trim_start()),
                None => (None, line.trim_start()),
            };
            if let Some(offset) = place {
                self.guest(base + offset);
            }
            let is_head = rest.starts_with("block") && rest.trim_end().ends_with(':');
            self.line(format_args!("{}{rest}", if is_head || line == rest { "" } else { "    " }));
        }
        Ok(())
    }

    /// The unit's function, then its segments where they are functions of their own.
    fn host(&mut self, unit: &Unit) {
        let places = |at: u32| unit.places().iter().find(|place| (place.start..place.end).contains(&at));
        let starts: Vec<u32> = unit.places().iter().map(|place| place.start).collect();
        let lines = disassemble(unit.code(), 0, unit.code().len(), &starts);
        for (at, text) in lines {
            if let Some(place) = places(at) {
                self.guest(place.pc);
            }
            self.line(format_args!("{at:8x}  {text}"));
        }
        let (code, places) = unit.segments().unwrap_or_default();
        for place in places {
            self.line(format_args!("\nfunction of {}", self.program.name(place.pc)));
            self.shown = None;
            self.guest(place.pc);
            for (at, text) in disassemble(code, place.start as usize, place.end as usize, &[]) {
                self.line(format_args!("{at:8x}  {text}"));
            }
        }
    }
}

/// The instructions of a range, up to padding. Behind a jump that a register leads, which may have its table there, they go on
/// at the next of `starts`.
fn disassemble(code: &[u8], start: usize, end: usize, starts: &[u32]) -> Vec<(u32, String)> {
    let mut decoder = Decoder::with_ip(64, &code[start..end], start as u64, DecoderOptions::NONE);
    let mut formatter = NasmFormatter::new();
    let mut lines = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.mnemonic() == Mnemonic::Int3 {
            break;
        }
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        lines.push((instruction.ip() as u32, text));
        if instruction.mnemonic() == Mnemonic::Jmp && instruction.op0_kind() != OpKind::NearBranch64 {
            let at = starts.iter().map(|at| *at as usize).find(|at| *at >= start + decoder.position());
            let at = at.unwrap_or(end);
            decoder.set_position(at - start).expect("it is in the code");
            decoder.set_ip(at as u64);
        }
    }
    lines
}

/// What a step does.
fn describe(step: &Step) -> String {
    let segment = &step.segment;
    let mut text = format!("{} scalar", step.scalars.len());
    if !segment.is_empty() {
        let (sets, bits, spills) = (segment.sets.len(), segment.bits.len(), segment.spills.len());
        let _ = write!(text, ", a segment of {sets} VGPR writes, {bits} masks, {spills} kept rows");
    }
    if let Some(fenv) = segment.fenv {
        let _ = write!(text, ", {fenv:?}");
    }
    text
}

/// When a node runs, and where its value is kept.
fn fate(block: &Block, plan: &Plan, value: Value) -> String {
    let step = match plan.ranks[value.index()] {
        Some(rank) => format!("step {rank}"),
        None if block.node(value).op == Op::Cut => String::new(),
        None => "not needed".to_owned(),
    };
    let slot = plan.slots.get(value).map_or(String::new(), |slot| format!(", row {slot}"));
    step + &slot
}
