//! How much of the instruction set is there, held against llvm-mc and counted in `docs/coverage.md`.
//!
//! `BLESS=1 cargo test -p gcnjit-isa --test coverage` rewrites the document.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use gcnjit_isa::{Decoder, Format, Gen, Op, Target, disas};

/// An encoding and an opcode, read from the first word without the decoder's help.
type Opcode = (&'static str, u32);

fn opcode(word: u32, generation: Gen) -> Opcode {
    let field = |lo: u32, width: u32| word >> lo & ((1 << width) - 1);
    let old = generation < Gen::Gfx8;
    match word >> 26 {
        0..=0b011110 => ("VOP2", field(25, 6)),
        0b011111 if field(25, 1) == 1 => ("VOP1", field(9, 8)),
        0b011111 => ("VOPC", field(17, 8)),
        0b100000..=0b101111 => match field(23, 7) {
            0b1111101 => ("SOP1", field(8, 8)),
            0b1111110 => ("SOPC", field(16, 7)),
            0b1111111 => ("SOPP", field(16, 7)),
            0b1100000.. => ("SOPK", field(23, 5)),
            _ => ("SOP2", field(23, 7)),
        },
        0b110000 | 0b110001 if old => ("SMRD", field(22, 5)),
        0b110000 => ("SMEM", field(18, 8)),
        0b110010 | 0b110101 => ("VINTRP", field(16, 2)),
        0b110100 if old => ("VOP3", field(17, 9)),
        0b110100 if generation == Gen::Gfx9 && field(23, 3) == 7 => ("VOP3P", field(16, 7)),
        0b110100 => ("VOP3", field(16, 10)),
        0b110110 => ("DS", if old { field(18, 8) } else { field(17, 8) }),
        0b110111 => (["FLAT", "SCRATCH", "GLOBAL", "FLAT"][if old { 0 } else { field(14, 2) as usize }], field(18, 7)),
        0b111000 => ("MUBUF", field(18, 7)),
        0b111010 => ("MTBUF", if old { field(16, 3) } else { field(15, 4) }),
        0b111100 => ("MIMG", field(18, 7)),
        _ => ("EXP", 0),
    }
}

/// Opcodes and lines that llvm-mc accepts, and how many of them we decode to its text.
#[derive(Default)]
struct Count {
    opcodes: BTreeSet<Opcode>,
    ours: BTreeSet<Opcode>,
    lines: usize,
    same: usize,
}

/// The golden files that make up a target's instruction set. gfx906 has a file of differences from gfx900.
fn count(target: Target) -> Count {
    let (mut count, decoder) = (Count::default(), Decoder::new(target));
    let mut lines = support::golden(target);
    if target == Target::Gfx906 {
        let common = |line: &support::Line| !["VOP2", "VOP3", "VOP3P"].contains(&opcode(line.words[0], Gen::Gfx9).0);
        lines.extend(support::golden(Target::Gfx900).into_iter().filter(common));
    }
    for line in lines {
        let key = opcode(line.words[0], target.generation());
        count.opcodes.insert(key);
        count.lines += 1;
        let inst = decoder.decode(&line.words);
        if inst.is_ok_and(|inst| disas::text(&inst, target) == line.text) {
            count.ours.insert(key);
            count.same += 1;
        }
    }
    count
}

/// How many opcodes of a target llvm-mc does not know: AMD's manuals or CLRX have them.
fn beyond(target: Target, known: &BTreeSet<Opcode>) -> usize {
    let ours: BTreeSet<Opcode> =
        Op::all().filter(|op| target.supports(*op)).flat_map(|op| opcodes(op, target)).collect();
    ours.difference(known).count()
}

/// The opcodes under which a row is found on a target.
fn opcodes(op: Op, target: Target) -> Vec<Opcode> {
    let generation = target.generation();
    let plain = op.encodings(generation).into_iter().filter(|encoding| encoding.second.is_none());
    let name = |format| match format {
        Format::Vop3a | Format::Vop3b => "VOP3",
        Format::Smem if generation < Gen::Gfx8 => "SMRD",
        format => FORMATS.iter().find(|(known, _)| *known == format).expect("a format's name").1,
    };
    plain.map(|encoding| (name(encoding.format), u32::from(encoding.opcode))).collect()
}

/// Encodings with the names that [`opcode`] gives them.
const FORMATS: [(Format, &str); 17] = [
    (Format::Sop2, "SOP2"),
    (Format::Sopk, "SOPK"),
    (Format::Sop1, "SOP1"),
    (Format::Sopc, "SOPC"),
    (Format::Sopp, "SOPP"),
    (Format::Smem, "SMEM"),
    (Format::Vop2, "VOP2"),
    (Format::Vop1, "VOP1"),
    (Format::Vopc, "VOPC"),
    (Format::Vop3p, "VOP3P"),
    (Format::Ds, "DS"),
    (Format::Mubuf, "MUBUF"),
    (Format::Mtbuf, "MTBUF"),
    (Format::Flat, "FLAT"),
    (Format::Mimg, "MIMG"),
    (Format::Vintrp, "VINTRP"),
    (Format::Exp, "EXP"),
];

/// Columns of the second table, from all rows.
#[derive(Clone, Copy, Default)]
struct Rows {
    decoded: usize,
    executed: usize,
}

fn rows() -> BTreeMap<&'static str, [Rows; 5]> {
    let mut families: BTreeMap<&'static str, [Rows; 5]> = BTreeMap::new();
    for op in Op::all() {
        let columns = families.entry(op.family()).or_default();
        let on = |generation: &Gen| op.info().code(*generation).is_some();
        let counted = Gen::ALL.into_iter().filter(on).map(|generation| generation as usize).chain([4]);
        for column in counted {
            columns[column].decoded += 1;
            columns[column].executed += usize::from(op.info().executed);
        }
    }
    families
}

fn document() -> String {
    let mut out = String::from(HEAD);
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906] {
        let Count { opcodes, ours, lines, same } = count(target);
        let percent = 100 * ours.len() / opcodes.len();
        let beyond = beyond(target, &opcodes);
        let _ = writeln!(
            out,
            "| {target} | {} | {} | {percent} % | {lines} | {same} | {beyond} |",
            opcodes.len(),
            ours.len()
        );
    }
    out += MIDDLE;
    let mut total = [Rows::default(); 5];
    let line = |out: &mut String, family: &str, columns: [Rows; 5]| {
        let cells = columns.map(|Rows { decoded, executed }| match decoded {
            0 => "–".to_owned(),
            _ => format!("{decoded} / {executed} / {executed}"),
        });
        let _ = writeln!(out, "| {family} | {} |", cells.join(" | "));
    };
    for (family, columns) in rows() {
        for (sum, column) in total.iter_mut().zip(columns) {
            sum.decoded += column.decoded;
            sum.executed += column.executed;
        }
        line(&mut out, family, columns);
    }
    line(&mut out, "all", total);
    out
}

const HEAD: &str = "\
# Coverage

This file is written by `BLESS=1 cargo test -p gcnjit-isa --test coverage`; the test without `BLESS` fails when it is
out of date.

## Decoding, against llvm-mc 19

An opcode is a number in an encoding; promoted forms count under VOP3, and FLAT, GLOBAL and SCRATCH separately. The
reference is what `tests/llvm/generate.py` found that llvm-mc accepts: for gfx8 and gfx9 by trying every number in every
opcode field of its disassembler, for gfx6 and gfx7, which have no disassembler, by its assembler. An opcode counts as
decoded if a line of it decodes to llvm-mc's text; the lines are all the operand fillings. The last column has
opcodes that only AMD's manuals and CLRX know.

The other targets of a generation are held against the same lines, but for those in `tests/llvm/others.txt`.

| target | llvm-mc | decoded | share | lines | same text | beyond llvm-mc |
|---|---|---|---|---|---|---|
";

const MIDDLE: &str = "
## Rows by family

One row of the table is one operation, whatever its encodings. A cell has rows decoded / interpreted / translated; a
row that is executed at all is executed by both engines, or it would not compile.

| family | gfx6 | gfx7 | gfx8 | gfx9 | any |
|---|---|---|---|---|---|
";

#[test]
fn all_that_llvm_accepts_is_decoded() {
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906] {
        let Count { opcodes, ours, lines, same } = count(target);
        println!(
            "{target}: {} opcodes accepted by llvm-mc, {} decoded; {same} of {lines} lines",
            opcodes.len(),
            ours.len()
        );
        assert_eq!(ours, opcodes, "{target}");
        assert_eq!(same, lines, "{target}");
    }
}

#[test]
fn document_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/coverage.md");
    let document = document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &document).expect("a writable docs/coverage.md");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let same = written == document;
    assert!(same, "docs/coverage.md is out of date: BLESS=1 cargo test -p gcnjit-isa --test coverage");
}
