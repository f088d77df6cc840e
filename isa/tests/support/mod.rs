//! The golden encodings of `tests/llvm`.

use std::path::PathBuf;

use gcnjit_isa::Target;

/// A line of a golden file: words, and the text that llvm-mc has for them.
pub struct Line {
    pub words: Vec<u32>,
    pub text: String,
}

/// The lines of the target's file.
pub fn golden(target: Target) -> Vec<Line> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/llvm/{target}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| {
            let (hex, text) = line.split_once('\t').expect("words, a tab, text");
            let words = hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a word in hex")).collect();
            Line { words, text: text.to_owned() }
        })
        .collect()
}
