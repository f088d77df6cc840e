//! The golden encodings of `tests/llvm`: decoding and printing every line gives llvm-mc's text, which reads back, the
//! encoder gives words that mean the same, and every row of the table that a target has stands in its file, but for those named in [`UNKNOWN_TO_LLVM`].
//!
//! `tests/llvm/generate.py` rewrites the files. `SHOW=n` prints more than 20 differences.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gcnjit_isa::{Decoder, Gen, Op, Operand, Target, asm, disas, encode};

/// Rows that AMD's manuals have on some target and llvm-mc has not.
const UNKNOWN_TO_LLVM: &[&str] = &[
    "sopk/s_getreg_regrd_b32",
    "sop1/s_mov_regrd_b32",
    "sop1/s_mov_fed_b32",
    "vop1/v_mov_fed_b32",
    "vop2/v_mac_legacy_f32",
    "vop3/v_qsad_pk_u16_u8",
    "ds/ds_condxchg32_rtn_b128",
    "mubuf/buffer_atomic_rsub",
    "mubuf/buffer_atomic_rsub_x2",
    "mimg/image_gather4h_pck",
    "mimg/image_gather8h_pck",
];

/// Every line of the target's file decodes to its text.
fn check(target: Target) {
    let decoder = Decoder::new(target);
    let lines = support::golden(target);
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for support::Line { words, text: want } in &lines {
        let got = match decoder.decode(words) {
            Ok(inst) if usize::from(inst.words) == words.len() => {
                seen.insert(inst.op);
                let again = encode(&inst, target).map(|words| decoder.decode(&words));
                assert_eq!(again, Ok(Ok(inst)), "{target}: encoding of {want}");
                let text = disas::text(&inst, target);
                // llvm-mc's assembler wrote the files of gfx6 and gfx7.
                if target.generation() < Gen::Gfx8 {
                    let assembled = asm::parse(want, target).map(|inst| encode(&inst, target).expect("words").to_vec());
                    assert_eq!(assembled.as_ref(), Ok(words), "{target}: {want}");
                }
                let read = asm::parse(&text, target).map(|inst| disas::text(&inst, target));
                // Not all literals can be told from inline constants, nor are patterns of a swizzle unique.
                let ambiguous = inst.src.iter().any(|operand| matches!(operand, Operand::Literal(_)));
                if read.as_ref() != Ok(&text) && !ambiguous && !text.contains("BITMASK_PERM") {
                    wrong.push(format!("{text}\n  reads as {read:?}"));
                }
                text
            }
            Ok(inst) => format!("takes {} words: {}", inst.words, disas::text(&inst, target)),
            Err(error) => error.to_string(),
        };
        if got != *want {
            wrong.push(format!("{words:08x?}\n  llvm {want}\n  ours {got}"));
        }
    }
    println!("{target}: {} of {} lines, {} operations", lines.len() - wrong.len(), lines.len(), seen.len());
    let shown = std::env::var("SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    wrong.truncate(shown);
    assert!(wrong.is_empty(), "{target}:\n{}", wrong.join("\n"));
    let missing: Vec<String> = Op::all()
        .filter(|op| target.supports(*op))
        .filter(|op| !(seen.contains(op) || target == Target::Gfx906 && common_with_gfx900(*op)))
        .map(|op| format!("{}/{}", op.family(), op.info().name))
        .filter(|name| !UNKNOWN_TO_LLVM.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{target}: rows without a golden line: {missing:?}");
}

/// The file of gfx906 has only the encodings in which it differs from gfx900.
fn common_with_gfx900(op: Op) -> bool {
    !matches!(op, Op::Vop2(_) | Op::Vop3(_) | Op::Vop3p(_))
}

#[test]
fn gfx600() {
    check(Target::Gfx600);
}

#[test]
fn gfx700() {
    check(Target::Gfx700);
}

#[test]
fn gfx803() {
    check(Target::Gfx803);
}

#[test]
fn gfx900() {
    check(Target::Gfx900);
}

#[test]
fn gfx906() {
    check(Target::Gfx906);
}

/// The targets that have no file: what llvm-mc takes otherwise than the file of their generation is in `others.txt`.
/// gfx6 and gfx7 have no differences.
#[test]
fn other_targets() {
    use Target::*;
    let differences = differences();
    let files: [(&[Target], &[Target]); 4] = [
        (&[Gfx600], &[Gfx601, Gfx602]),
        (&[Gfx700], &[Gfx701, Gfx702, Gfx703, Gfx704, Gfx705]),
        (&[Gfx803], &[Gfx801, Gfx802, Gfx805, Gfx810]),
        (&[Gfx900, Gfx906], &[Gfx902, Gfx904, Gfx909, Gfx90c]),
    ];
    let golden = Target::ALL.iter().filter(|target| files.iter().any(|(files, _)| files.contains(target)));
    assert_eq!(golden.count() + files.iter().map(|(_, others)| others.len()).sum::<usize>(), Target::ALL.len());
    for (files, others) in files {
        let mut lines: BTreeMap<Vec<u32>, String> = BTreeMap::new();
        for line in files.iter().flat_map(|file| support::golden(*file)) {
            lines.entry(line.words).or_insert(line.text);
        }
        for target in others {
            let different = |words: &Vec<u32>| differences.get(&(*target, words.clone()));
            let wrong: Vec<String> = lines
                .iter()
                .map(|(words, text)| (words, different(words).map_or(Some(text), Option::as_ref)))
                .filter_map(|(words, want)| differs(*target, words, want))
                .collect();
            println!("{target}: {} of {} lines", lines.len() - wrong.len(), lines.len());
            assert!(wrong.is_empty(), "{target}:\n{}", wrong[..wrong.len().min(20)].join("\n"));
        }
    }
}

/// Lines that llvm-mc takes otherwise on a target without a file: the text there, None if it has none.
fn differences() -> HashMap<(Target, Vec<u32>), Option<String>> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [target, hex, text] = fields[..] else { panic!("target, words, text: {line}") };
        (
            (target.parse().expect("a target"), support::words(hex)),
            Some(text.to_owned()).filter(|text| !text.is_empty()),
        )
    };
    support::file("others.txt").lines().map(line).collect()
}

/// What is wrong if `words` are not `want`, or with None are an instruction.
fn differs(target: Target, words: &[u32], want: Option<&String>) -> Option<String> {
    let inst = Decoder::new(target).decode(words).ok().filter(|inst| usize::from(inst.words) == words.len());
    let got = inst.map(|inst| disas::text(&inst, target));
    (got.as_ref() != want).then(|| format!("{words:08x?}\n  llvm {want:?}\n  ours {got:?}"))
}
