//! How fast code decodes: all committed kernels, a benchmark a target, on one thread.
//!
//! `cargo bench -p gcnjit-isa`. The elements that criterion counts are instructions.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use gcnjit_isa::Decoder;

#[path = "../tests/support/kernels.rs"]
mod kernels;

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for (target, code) in kernels::code_by_target() {
        let decoder = Decoder::new(target);
        group.throughput(Throughput::Elements(decoder.decode_all(&code).count() as u64));
        group.bench_function(target.name(), |bencher| {
            bencher.iter(|| {
                for (_, inst) in decoder.decode_all(black_box(&code)) {
                    let _ = black_box(inst);
                }
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    decode(&mut criterion);
    criterion.final_summary();
}
