//! What the fuzz target `decode` and its second in `cargo test` do with bytes.

use gcnjit_isa::{Decoder, Target, asm, disas, encode};

/// The first byte picks a target, the rest is code. Decoding it ends, having seen every word once; an instruction
/// prints, its text reads without a panic, and its words are encoded so that they decode to it again.
pub fn decode(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let target = Target::ALL[usize::from(*first) % Target::ALL.len()];
    let code: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let decoder = Decoder::new(target);
    let mut expected = 0;
    for (at, inst) in decoder.decode_all(&code) {
        assert_eq!(at, expected, "{target}: a word is left out or taken twice");
        let Ok(inst) = inst else {
            expected += 1;
            continue;
        };
        assert!((1..=3).contains(&inst.words), "{target}: {inst:?}");
        expected += usize::from(inst.words);
        let text = disas::text(&inst, target);
        let words = encode(&inst, target).unwrap_or_else(|error| panic!("{target}: {text}: {error}"));
        assert_eq!(decoder.decode(&words), Ok(inst), "{target}: {text}");
        let _ = asm::parse(&text, target);
    }
    assert_eq!(expected, code.len(), "{target}: decoding ends too early or goes too far");
}
