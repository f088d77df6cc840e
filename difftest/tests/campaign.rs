//! A campaign with fixed seeds: both engines agree on everything that it executes, and it executes everything that
//! there is.
//!
//! `GCNJIT_FUZZ_COUNT` sets how many random programs run, `GCNJIT_FUZZ_SEED` the seed.

use gcnjit_difftest::campaign::{self, Options};
use gcnjit_difftest::coverage::{TARGETS, Wanted};
use gcnjit_difftest::{Summary, filetest};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Panics with the shrunk cases if the engines differed.
fn assert_agreed(summary: &Summary, options: &Options) {
    let text = |failure: &campaign::Failure| {
        let about = format!("seed {}, case {}\n{}", options.seed, failure.index, failure.difference);
        filetest::write(&failure.shrunk, &about)
    };
    let texts: Vec<String> = summary.failures.iter().take(8).map(text).collect();
    assert!(texts.is_empty(), "{} cases differ:\n\n{}", summary.failures.len(), texts.join("\n\n"));
}

#[test]
fn random_programs_agree() {
    let count = setting("GCNJIT_FUZZ_COUNT", 1500);
    let options = Options { seed: setting("GCNJIT_FUZZ_SEED", 1), count, failures: 4, ..Options::default() };
    let summary = campaign::run(&options).expect("memory for the machines");
    let Summary { cases, faults, too_long, refused, instructions, time, .. } = &summary;
    println!(
        "{cases} programs in {time:.1?}, {instructions} instructions, {faults} faults, {too_long} without end, {refused} refused"
    );
    assert_agreed(&summary, &options);
    assert_eq!(*cases, count);
    assert!(refused * 100 < *cases && too_long * 20 < *cases, "too many programs say nothing");
}

#[test]
fn everything_is_executed() {
    let options = Options { failures: 8, ..Options::default() };
    let wanted = Wanted::new(&TARGETS, &[]);
    let summary = campaign::cover(&options, &wanted).expect("memory for the machines");
    let report = summary.coverage.report(&wanted);
    println!("{} programs in {:.1?}, refused {}", summary.cases, summary.time, summary.refused);
    for (name, share) in [("forms", &report.forms), ("features", &report.features), ("settings", &report.settings)] {
        println!("{name}: {} of {}", share.done, share.all);
    }
    assert_agreed(&summary, &options);
    for share in [&report.forms, &report.features, &report.settings] {
        assert!(
            share.never.is_empty(),
            "{} never executed: {:?}",
            share.never.len(),
            &share.never[..share.never.len().min(60)]
        );
    }
    assert!(report.forms.all > 3000, "the table has more rows than that");
}
