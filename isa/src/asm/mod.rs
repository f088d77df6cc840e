//! Text to instructions: what the disassembler prints, and programs of it with labels and comments.
//!
//! A line is split into mnemonic, operands and modifiers; the mnemonic finds the rows and encodings that it may mean;
//! the operands are read by the row's types. Whether registers are aligned, constants allowed and fields wide enough is
//! not checked on the way: the finished instruction must encode, and decode to itself.

mod memory;
mod modifier;
mod operand;
mod scalar;
mod vector;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::decode::Decoder;
use crate::encode::{EncodeError, Words, encode};
use crate::gfx::{Gen, Target};
use crate::inst::{Ext, Format, Inst, Mods};
use crate::op::{Code, OpInfo};
use crate::operand::{Operand, Ty};
use crate::table::Op;

/// Why a text is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AsmError {
    /// No operation of the target is called this.
    #[error("{target} has no instruction '{name}'")]
    Mnemonic {
        /// As written.
        name: String,
        /// The processor.
        target: Target,
    },
    /// Not an operand, or not one for this place.
    #[error("'{0}' is not an operand for this place")]
    Operand(String),
    /// An operand is missing.
    #[error("an operand is missing")]
    Missing,
    /// More operands or modifiers than the instruction has.
    #[error("'{0}' is too much")]
    Extra(String),
    /// A field is too narrow.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The parts are well-formed, but there is no such instruction: registers not aligned, a constant where none may be …
    #[error("'{0}' has operands that its encoding cannot express")]
    Inexpressible(String),
    /// An error in a line of a program.
    #[error("line {line}: {error}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong there.
        error: Box<AsmError>,
    },
}

/// The instruction that `text` means on `target`, as the disassembler would print it.
pub fn parse(text: &str, target: Target) -> Result<Inst, AsmError> {
    let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let mut error = AsmError::Mnemonic { name: name.to_owned(), target };
    for (op, format, kind) in meanings(name, target) {
        match Parser::new(op, format, target, rest, name).read(kind) {
            Ok(inst) => return Ok(inst),
            Err(other) => error = other,
        }
    }
    Err(error)
}

/// The words of a program: one instruction a line, labels (`name:`), and comments from `;`, `#` or `//`.
/// A branch may name a label instead of a dword offset.
pub fn assemble(source: &str, target: Target) -> Result<Vec<u32>, AsmError> {
    let mut labels = HashMap::new();
    let mut lines = Vec::new();
    let mut at = 0;
    for (number, line) in source.lines().enumerate() {
        let line = line.split([';', '#']).next().unwrap_or("").split("//").next().unwrap_or("");
        let mut line = line.trim();
        while let Some((label, rest)) = line.split_once(':').filter(|(label, _)| is_label(label)) {
            labels.insert(label, at);
            line = rest.trim();
        }
        if !line.is_empty() {
            let words = resolve(line, target, at, None).map_err(|error| error.on(number))?;
            lines.push((number, line, at));
            at += words.len();
        }
    }
    let mut program = Vec::with_capacity(at);
    for (number, line, at) in lines {
        let words = resolve(line, target, at, Some(&labels)).map_err(|error| error.on(number))?;
        program.extend_from_slice(&words);
    }
    Ok(program)
}

impl AsmError {
    fn on(self, index: usize) -> AsmError {
        AsmError::Line { line: index + 1, error: Box::new(self) }
    }
}

fn is_label(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    !text.is_empty() && text.chars().all(word) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The words of a line at dword `at`; a label that it branches to is 0 as long as labels are not known.
fn resolve(line: &str, target: Target, at: usize, labels: Option<&HashMap<&str, usize>>) -> Result<Words, AsmError> {
    let label = line.rsplit([' ', '\t', ',']).next().filter(|word| is_label(word));
    let branch = line.starts_with("s_branch") || line.starts_with("s_cbranch") || line.starts_with("s_call");
    let inst = match label.filter(|_| branch && !line.contains("g_fork") && !line.contains("join")) {
        None => parse(line, target)?,
        Some(label) => {
            let to = match labels {
                None => at + 1,
                Some(labels) => *labels.get(label).ok_or_else(|| AsmError::Operand(label.to_owned()))?,
            };
            let offset = to as i64 - at as i64 - 1;
            parse(&format!("{}{offset}", &line[..line.len() - label.len()]), target)?
        }
    };
    Ok(encode(&inst, target)?)
}

/// What a suffix of the mnemonic asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Sdwa,
    Dpp,
}

/// The rows of a target by mnemonic.
fn names(target: Target) -> &'static HashMap<&'static str, Vec<Op>> {
    type Names = HashMap<&'static str, Vec<Op>>;
    static NAMES: [OnceLock<Names>; Target::ALL.len()] = [const { OnceLock::new() }; Target::ALL.len()];
    NAMES[target as usize].get_or_init(|| {
        let mut names = Names::new();
        for op in Op::all().filter(|op| target.supports(*op)) {
            names.entry(op.info().name_on(target.generation())).or_default().push(op);
        }
        names
    })
}

/// What a mnemonic may mean, likeliest first.
fn meanings(name: &str, target: Target) -> Vec<(Op, Format, Kind)> {
    let (base, suffix) = match name.rsplit_once('_') {
        Some((base, suffix @ ("e32" | "e64" | "sdwa" | "dpp"))) => (base, suffix),
        _ => (name, ""),
    };
    let segment = base.strip_prefix("global_").or(base.strip_prefix("scratch_"));
    let base = segment.map_or(base.to_owned(), |rest| format!("flat_{rest}"));
    let ops = names(target).get(base.as_str()).map_or(&[][..], Vec::as_slice);
    ops.iter().flat_map(|op| formats(*op, suffix, target.generation())).collect()
}

fn formats(op: Op, suffix: &str, generation: Gen) -> Vec<(Op, Format, Kind)> {
    let (short, long) = (op.native_format(), op.long_format());
    if matches!(op.info().code(generation), Some(Code::Vop3(_))) {
        return vec![(op, long, Kind::Plain)];
    }
    match suffix {
        "e32" => vec![(op, short, Kind::Plain)],
        "e64" => vec![(op, long, Kind::Plain)],
        "sdwa" => vec![(op, short, Kind::Sdwa)],
        "dpp" => vec![(op, short, Kind::Dpp)],
        _ if op.promoted(generation).is_none() => vec![(op, short, Kind::Plain)],
        _ => vec![(op, short, Kind::Plain), (op, long, Kind::Plain), (op, short, Kind::Sdwa), (op, short, Kind::Dpp)],
    }
}

/// A line being read: the operands and modifiers that are left, and the instruction so far.
struct Parser<'a> {
    name: &'a str,
    operands: std::vec::IntoIter<&'a str>,
    modifiers: Vec<&'a str>,
    inst: Inst,
    info: &'static OpInfo,
    target: Target,
    generation: Gen,
}

impl<'a> Parser<'a> {
    fn new(op: Op, format: Format, target: Target, rest: &'a str, name: &'a str) -> Parser<'a> {
        let (operands, modifiers) = modifier::split(rest.trim());
        let inst = Inst {
            op,
            format,
            words: 0,
            dst: [Operand::None; 2],
            src: [Operand::None; 4],
            mods: Mods::default(),
            ext: Ext::None,
        };
        let (info, generation) = (op.info(), target.generation());
        Parser { name, operands: operands.into_iter(), modifiers, inst, info, target, generation }
    }

    fn read(mut self, kind: Kind) -> Result<Inst, AsmError> {
        match self.inst.format {
            Format::Sop2 | Format::Sop1 | Format::Sopc => self.scalar()?,
            Format::Sopk => self.sopk()?,
            Format::Sopp => self.sopp()?,
            Format::Smem => self.smem()?,
            Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3a | Format::Vop3b => self.vector(kind)?,
            Format::Vop3p => self.vop3p()?,
            Format::Vintrp => self.vintrp()?,
            Format::Ds => self.ds()?,
            Format::Mubuf | Format::Mtbuf => self.buffer()?,
            Format::Flat => self.flat()?,
            Format::Mimg => self.mimg()?,
            Format::Exp => self.exp()?,
        }
        if let Some(extra) = self.operands.next().or(self.modifiers.first().copied()) {
            return Err(AsmError::Extra(extra.to_owned()));
        }
        self.verified()
    }

    /// The instruction, if it encodes and its words mean it.
    fn verified(mut self) -> Result<Inst, AsmError> {
        if self.inst.words == 0 {
            self.inst.words = 1;
        }
        let words = encode(&self.inst, self.target)?;
        self.inst.words = words.len() as u8;
        match Decoder::new(self.target).decode(&words) {
            Ok(inst) if inst == self.inst => Ok(inst),
            _ => Err(AsmError::Inexpressible(self.name.to_owned())),
        }
    }

    /// The next operand's text.
    fn next(&mut self) -> Result<&'a str, AsmError> {
        self.operands.next().ok_or(AsmError::Missing)
    }

    /// The next operand, of type `ty` and without modifiers.
    fn take(&mut self, ty: Ty) -> Result<Operand, AsmError> {
        let text = self.next()?;
        operand::read(text, ty, self.generation).ok_or_else(|| AsmError::Operand(text.to_owned()))
    }

    /// The next operand as a number.
    fn number(&mut self) -> Result<i64, AsmError> {
        let text = self.next()?;
        operand::number(text).ok_or_else(|| AsmError::Operand(text.to_owned()))
    }
}
