//! Properties of the decoder on any words, and on the code of every committed kernel.

use std::path::{Path, PathBuf};

use gcnjit_isa::{DecodeError, Decoder, Target, disas, encode};
use proptest::prelude::*;

fn target() -> impl Strategy<Value = Target> {
    (0..Target::ALL.len()).prop_map(|i| Target::ALL[i])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    /// Any words decode or fail, take at least one word and at most what is there, and print.
    #[test]
    fn any_words(target in target(), words in prop::collection::vec(any::<u32>(), 1..4)) {
        match Decoder::new(target).decode(&words) {
            Ok(inst) => {
                prop_assert!((1..=words.len()).contains(&usize::from(inst.words)));
                prop_assert!(disas::text(&inst, target).starts_with(|c: char| c.is_ascii_lowercase()));
            }
            Err(DecodeError::Truncated { word }) => {
                prop_assert_eq!(word, words[0]);
                prop_assert!(words.len() < 3);
            }
            Err(_) => {}
        }
    }

    /// Encoding is the inverse of decoding.
    #[test]
    fn encode_inverts(target in target(), words in prop::array::uniform2(any::<u32>())) {
        let decoder = Decoder::new(target);
        if let Ok(inst) = decoder.decode(&words) {
            let encoded = encode(&inst, target);
            prop_assert!(encoded.is_ok(), "{} {inst:?}: {encoded:?}", disas::text(&inst, target));
            let words = encoded.expect("words");
            prop_assert_eq!(decoder.decode(&words), Ok(inst));
        }
    }

    /// What is cut off is an error, not another instruction.
    #[test]
    fn truncated(target in target(), words in prop::array::uniform3(any::<u32>())) {
        let decoder = Decoder::new(target);
        if let Ok(inst) = decoder.decode(&words) {
            let cut = &words[..usize::from(inst.words) - 1];
            let truncated = matches!(decoder.decode(cut), Err(DecodeError::Truncated { .. }));
            prop_assert!(truncated);
        }
    }
}

/// The `.text` section of a little-endian 64-bit ELF file, as words.
fn text_section(elf: &[u8]) -> Vec<u32> {
    let number =
        |at: usize, bytes: usize| elf[at..at + bytes].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    let (headers, entry, names) = (number(0x28, 8), number(0x3a, 2), number(0x3e, 2));
    let header = |index: usize| headers + index * entry;
    let strings = number(header(names) + 0x18, 8);
    (0..number(0x3c, 2))
        .map(header)
        .filter(|at| elf[strings + number(*at, 4)..].starts_with(b".text\0"))
        .flat_map(|at| elf[number(at + 0x18, 8)..][..number(at + 0x20, 8)].chunks_exact(4))
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect()
}

/// The code objects under `kernels`, with their targets.
fn code_objects(directory: &Path) -> Vec<(PathBuf, Target)> {
    let entries =
        std::fs::read_dir(directory).expect("a directory of kernels").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match name.strip_suffix(".co").and_then(|stem| stem.rsplit_once('.')) {
            _ if path.is_dir() => found.extend(code_objects(&path)),
            Some((_, target)) => found.extend(target.parse().map(|target| (path, target))),
            None => {}
        }
    }
    found
}

#[test]
fn kernels_decode() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let mut instructions = 0;
    for (path, target) in code_objects(&root) {
        let code = text_section(&std::fs::read(&path).expect("a readable code object"));
        assert!(!code.is_empty(), "{}: no code", path.display());
        for (at, inst) in Decoder::new(target).decode_all(&code) {
            instructions += 1;
            if let Err(error) = inst {
                panic!("{} at {:#x}: {error}", path.display(), at * 4);
            }
        }
    }
    println!("{instructions} instructions");
    assert!(instructions > 0, "no code objects under {}", root.display());
}
