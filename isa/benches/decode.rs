//! How fast code decodes: all committed kernels, a benchmark a target, on one thread.
//!
//! `cargo bench -p gcnjit-isa --bench decode` first prints the best of many rounds, which other work on the machine
//! disturbs least, then lets criterion measure. The elements that it counts are instructions.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use gcnjit_isa::Decoder;

#[path = "../tests/support/kernels.rs"]
mod kernels;

/// Rounds of which the best is printed.
const ROUNDS: usize = 2000;

/// Decodes all of `code` once.
fn round(decoder: Decoder, code: &[u32]) -> Duration {
    let start = Instant::now();
    for (_, inst) in decoder.decode_all(black_box(code)) {
        let _ = black_box(&inst);
    }
    start.elapsed()
}

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for (target, code) in kernels::code_by_target() {
        let decoder = Decoder::new(target);
        let count = decoder.decode_all(&code).count();
        let least = (0..ROUNDS).map(|_| round(decoder, &code)).min().unwrap_or_default();
        println!("{target}: {:.1} million instructions a second", count as f64 / least.as_secs_f64() / 1e6);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(target.name(), |bencher| bencher.iter(|| round(decoder, &code)));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    decode(&mut criterion);
    criterion.final_summary();
}
