//! What the fuzz targets `programs` and `kernels` and `difftest/tests/campaign.rs` do with bytes: a random program or
//! kernel made from them.

use gcnjit_difftest::campaign::Kind;
use gcnjit_difftest::coverage::TARGETS;
use gcnjit_difftest::generate::Rows;
use gcnjit_difftest::random::Random;
use gcnjit_difftest::{Bench, Verdict, filetest};
use std::sync::LazyLock;

thread_local! {
    static BENCH: Bench = Bench::new().expect("a machine");
}

/// The rows that cases of a kind are made of, by target.
type AllRows = LazyLock<Vec<Rows>>;

static ROWS_OF_PROGRAMS: AllRows = LazyLock::new(|| rows(Kind::Programs));
static ROWS_OF_KERNELS: AllRows = LazyLock::new(|| rows(Kind::Kernels));

fn rows(kind: Kind) -> Vec<Rows> {
    TARGETS.iter().map(|target| kind.rows(*target, &[])).collect()
}

/// Makes a case of the bytes and runs it on both engines. Panics with a filetest if they differ.
pub fn check(kind: Kind, data: &[u8]) {
    let rows = match kind {
        Kind::Programs => &ROWS_OF_PROGRAMS,
        Kind::Kernels => &ROWS_OF_KERNELS,
    };
    let mut random = Random::of_bytes(data);
    let rows = &rows[random.below(TARGETS.len() as u64) as usize];
    let case = kind.draw(&mut random, rows);
    BENCH.with(|bench| {
        if let Verdict::Different(text) = bench.check(&case) {
            panic!("the engines differ:\n{}", filetest::write(&case, &text));
        }
    });
}
