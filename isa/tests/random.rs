//! Properties of the decoder on any words, and on the code of every committed kernel.

#[path = "support/kernels.rs"]
mod kernels;

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

#[test]
fn kernels_decode() {
    let code = kernels::code_by_target();
    assert!(!code.is_empty(), "no code objects");
    for (target, code) in code {
        let mut instructions = 0;
        for (at, inst) in Decoder::new(target).decode_all(&code) {
            instructions += 1;
            if let Err(error) = inst {
                panic!("{target}, word {at}: {error}");
            }
        }
        println!("{target}: {instructions} instructions");
    }
}
