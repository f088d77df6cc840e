//! Criterion's groups over the kernels of `kernels/`, at their bench sizes: `jit` and `interp` are launches on one thread,
//! `translate` is what comes before the first. `cargo bench --bench kernels -- jit/sha256` picks one; baselines
//! (`--save-baseline`, `--baseline`) compare two states of the translator. Ratios between engines, from runs that take
//! turns, are the report's (`--bench report`).

#[path = "report/suite.rs"]
#[allow(dead_code, reason = "the report asks for more")]
mod suite;
#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{BenchmarkId, Criterion};
use gcnjit::Engine;
use std::time::Duration;
use suite::Case;

fn main() {
    let short = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    let mut criterion = short.sample_size(10).configure_from_args();
    let names = support::kernel_names();
    launches(&mut criterion, &names, "jit", Engine::Jit);
    launches(&mut criterion, &names, "interp", Engine::Interp);
    translations(&mut criterion, &names);
    criterion.final_summary();
}

/// The launches' own time, without what restores the buffers.
fn launches(criterion: &mut Criterion, names: &[String], group: &str, engine: Engine) {
    let mut group = criterion.benchmark_group(group);
    for name in names {
        let case = std::cell::OnceCell::new();
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            let case = case.get_or_init(|| Case::new(name));
            bencher.iter_custom(|rounds| (0..rounds).map(|_| case.run(engine, 1).time).sum());
        });
    }
    group.finish();
}

/// What a kernel's translation takes, a fresh module each time.
fn translations(criterion: &mut Criterion, names: &[String]) {
    let mut group = criterion.benchmark_group("translate");
    for name in names {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| translation(name)).sum());
        });
    }
    group.finish();
}

fn translation(name: &str) -> Duration {
    let case = Case::new(name);
    case.run(Engine::Jit, 1);
    case.translated().stages.total()
}
