//! The golden encodings of `tests/llvm`.

use std::collections::HashMap;
use std::path::PathBuf;

use gcnjit_isa::Target;

/// A line of a golden file: words, and the text that llvm-mc has for them.
pub struct Line {
    pub words: Vec<u32>,
    pub text: String,
}

/// A file of `tests/llvm`.
fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/llvm").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(hex: &str) -> Vec<u32> {
    hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word in hex")).collect()
}

/// The lines of the target's file.
pub fn golden(target: Target) -> Vec<Line> {
    let line = |line: &str| {
        let (hex, text) = line.split_once('\t').expect("words, a tab, text");
        Line { words: words(hex), text: text.to_owned() }
    };
    file(&format!("{target}.txt")).lines().map(line).collect()
}

/// Lines that llvm-mc takes otherwise on a target without a file: the text there, None if it has none.
pub fn differences() -> HashMap<(Target, Vec<u32>), Option<String>> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [target, hex, text] = fields[..] else { panic!("target, words, text: {line}") };
        ((target.parse().expect("a target"), words(hex)), Some(text.to_owned()).filter(|text| !text.is_empty()))
    };
    file("others.txt").lines().map(line).collect()
}
