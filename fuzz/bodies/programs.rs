//! What the fuzz target `programs` and `difftest/tests/campaign.rs` do with bytes: a random program made from them.

use gcnjit_difftest::coverage::TARGETS;
use gcnjit_difftest::generate::{Generator, Rows};
use gcnjit_difftest::random::Random;
use gcnjit_difftest::{Bench, Verdict, filetest};
use std::sync::LazyLock;

thread_local! {
    static BENCH: Bench = Bench::new().expect("a machine");
}

/// Makes a program of the bytes and runs it on both engines. Panics with a filetest if they differ.
pub fn programs(data: &[u8]) {
    static ROWS: LazyLock<Vec<Rows>> = LazyLock::new(|| TARGETS.iter().map(|target| Rows::new(*target, &[])).collect());
    let mut random = Random::of_bytes(data);
    let rows = &ROWS[random.below(TARGETS.len() as u64) as usize];
    let case = Generator::program(&mut random, rows);
    BENCH.with(|bench| {
        if let Verdict::Different(text) = bench.check(&case) {
            panic!("the engines differ:\n{}", filetest::write(&case, &text));
        }
    });
}
