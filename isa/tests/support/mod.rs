//! The golden encodings of `tests/llvm`.

use std::path::PathBuf;

use gcnjit_isa::Target;

/// A line of a golden file: words, and the text that llvm-mc has for them.
pub struct Line {
    pub words: Vec<u32>,
    pub text: String,
}

/// A file of `tests/llvm`.
pub fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/llvm").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Words in hex.
pub fn words(hex: &str) -> Vec<u32> {
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
