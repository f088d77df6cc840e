//! The golden encodings of `tests/llvm`: decoding and printing every line gives llvm-mc's text.

use std::path::PathBuf;

use gcnjit_isa::{Decoder, Target, disas};

/// A line of a golden file: words and text.
fn lines(target: Target) -> Vec<(Vec<u32>, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/llvm/{target}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| {
            let (hex, text) = line.split_once('\t').expect("words, a tab, text");
            let words = hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word in hex")).collect();
            (words, text.to_owned())
        })
        .collect()
}

/// Every line of the target's file decodes to its text.
fn check(target: Target) {
    let decoder = Decoder::new(target);
    let lines = lines(target);
    let mut wrong = Vec::new();
    for (words, want) in &lines {
        let got = match decoder.decode(words) {
            Ok(inst) if usize::from(inst.words) == words.len() => disas::text(&inst, target),
            Ok(inst) => format!("takes {} words: {}", inst.words, disas::text(&inst, target)),
            Err(error) => error.to_string(),
        };
        if got != *want {
            wrong.push(format!("{words:08x?}\n  llvm {want}\n  ours {got}"));
        }
    }
    println!("{target}: {} of {} lines", lines.len() - wrong.len(), lines.len());
    let shown = std::env::var("SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    wrong.truncate(shown);
    assert!(wrong.is_empty(), "{target}:\n{}", wrong.join("\n"));
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
