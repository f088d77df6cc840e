//! A campaign with fixed seeds: both engines agree on everything that it executes, and it executes everything that
//! there is.
//!
//! `GCNJIT_FUZZ_COUNT` sets how many random programs run, `GCNJIT_FUZZ_SEED` the seed.

#[path = "../../fuzz/bodies/programs.rs"]
mod body;

use gcnjit_difftest::campaign::{self, Kind, Options};
use gcnjit_difftest::case::Space;
use gcnjit_difftest::coverage::{TARGETS, Wanted};
use gcnjit_difftest::generate::{Generator, Rows};
use gcnjit_difftest::machine::Superblocks;
use gcnjit_difftest::program::Item;
use gcnjit_difftest::random::Random;
use gcnjit_difftest::shrink::shrink;
use gcnjit_difftest::{Bench, Case, Summary, Verdict, filetest};
use gcnjit_isa::{Op, Target, Vop2};
use gcnjit_translate::wide;

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

/// Kernels agree, and do what they are for: waves end in superblocks, whole ones and others, and give them up; some fault.
#[test]
fn random_kernels_agree() {
    let count = setting("GCNJIT_FUZZ_COUNT", 3000);
    let seed = setting("GCNJIT_FUZZ_SEED", 1);
    let options = Options { seed, count, kind: Kind::Kernels, failures: 4, ..Options::default() };
    let summary = campaign::run(&options).expect("memory for the machines");
    let Summary { cases, faults, too_long, refused, superblocks, time, .. } = &summary;
    let Superblocks { kept, partial, given_up, together, apart } = superblocks;
    println!(
        "{cases} kernels in {time:.1?}, {faults} faults, {too_long} without end, {refused} refused, \
         {kept} superblocks, {partial} of partial waves, {together} together, {given_up} given up, {apart} apart"
    );
    assert_agreed(&summary, &options);
    assert_eq!(*cases, count);
    assert!(refused * 100 < *cases && too_long * 100 < *cases, "too many kernels say nothing");
    assert!(faults * 50 > *cases && faults * 5 < *cases, "some are to fault, and most to end");
    let wanted = if wide::is_available() { *cases } else { 0 };
    assert!(kept * 20 >= wanted && partial * 50 >= wanted && given_up * 50 >= wanted, "too few superblocks");
    assert!(together * 400 >= wanted && apart * 2000 >= wanted, "too few waves are run together");
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

/// Any bytes are a case of some kind.
fn any_bytes_are(kind: Kind) {
    let mut random = Random::new(3);
    for len in (0..2400).step_by(40) {
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        body::check(kind, &bytes);
    }
    body::check(kind, &[0; 4000]);
    body::check(kind, &[0xff; 4000]);
}

#[test]
fn any_bytes_are_a_program() {
    any_bytes_are(Kind::Programs);
}

#[test]
fn any_bytes_are_a_kernel() {
    any_bytes_are(Kind::Kernels);
}

/// What is written down is read again as the same case.
#[test]
fn filetests_keep_the_case() {
    let bench = Bench::new().expect("a machine");
    for (index, target) in (0..60).zip(TARGETS.into_iter().cycle()) {
        let mut random = Random::of(5, index);
        let case = Generator::program(&mut random, &Rows::new(target, &[]));
        let text = filetest::write(&case, "a random program");
        let again = filetest::parse(&text).and_then(|test| test.case(target)).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let lines = |case: &Case| filetest::write(case, "").lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&case), lines(&again));
        let [first, second] =
            [&case, &again].map(|case| bench.interpret(case).unwrap_or_else(|at| panic!("item {at}")));
        assert_eq!(first.end, second.end);
        assert!(first.contents == second.contents && first.waves.len() == second.waves.len(), "{text}");
    }
}

#[test]
fn filetests_keep_kernels() {
    let bench = Bench::new().expect("a machine");
    let run = |case: &Case| match bench.check(case) {
        Verdict::Same(run) => run,
        Verdict::Different(text) => panic!("{text}"),
        _ => panic!("it says nothing:\n{}", filetest::write(case, "")),
    };
    for (index, target) in (0..60).zip(TARGETS.into_iter().cycle()) {
        let case = Generator::kernel(&mut Random::of(5, index), &Rows::of_kernels(target, &[]));
        let text = filetest::write(&case, "a random kernel");
        let again = filetest::parse(&text).and_then(|test| test.case(target)).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(text, filetest::write(&again, "a random kernel"));
        assert_eq!(case.launches, again.launches);
        let [first, second] = [&case, &again].map(run);
        assert_eq!(first.outcome.end, second.outcome.end);
        assert_eq!(first.outcome.executed, second.outcome.executed);
        assert!(first.outcome.contents == second.outcome.contents, "{text}");
    }
}

/// Of a kernel that "fails" because its work-groups have 24 work-items, one of these is left.
#[test]
fn kernels_shrink_to_the_cause() {
    let mut found = 0;
    for index in 0..200 {
        let case = Generator::kernel(&mut Random::of(9, index), &Rows::of_kernels(Target::Gfx900, &[]));
        let is_it = |case: &Case| case.launches.iter().any(|grid| grid.group == [24, 1, 1] && grid.items[0] > 24);
        if is_it(&case) {
            let shrunk = shrink(case, &mut |case| is_it(case));
            assert_eq!((shrunk.program.len(), shrunk.launches.len()), (0, 1));
            assert_eq!(shrunk.launches[0].items, [48, 1, 1]);
            found += 1;
        }
    }
    assert!(found >= 5, "only {found} of the kernels had it");
}

/// A case that "fails" by one of its instructions is reduced to that one, and plain state.
#[test]
fn shrinks_to_the_cause() {
    let rows = Rows::new(Target::Gfx900, &[]);
    let adds = |item: &Item| item.inst().is_some_and(|inst| inst.op == Op::Vop2(Vop2::v_add_f32));
    let mut found = 0;
    for index in 0..400 {
        let case = Generator::program(&mut Random::of(9, index), &rows);
        if !case.program.iter().any(adds) {
            continue;
        }
        let shrunk = shrink(case, &mut |case| case.program.iter().any(adds));
        assert_eq!((shrunk.program.len(), shrunk.waves.len()), (1, 1));
        let wave = &shrunk.waves[0].wave;
        assert!(wave.mode.0 == 0 && wave.vgpr.iter().flatten().all(|lane| *lane == 0));
        assert!(Space::ALL.into_iter().all(|space| shrunk.contents.of(space).iter().all(|byte| *byte == 0)));
        found += 1;
    }
    assert!(found >= 10, "only {found} of the programs had it");
}

/// What hosts without AVX-512, or without AVX2, do: the same campaigns by a process of their own.
#[test]
fn lower_levels_of_the_host_agree() {
    const CAMPAIGNS: [&str; 3] = ["random_programs_agree", "random_kernels_agree", "everything_is_executed"];
    for level in ["avx2", "portable"] {
        let mut again = std::process::Command::new(std::env::current_exe().expect("a path of this program"));
        let seeded = again.env("GCNJIT_LEVEL", level).envs([("GCNJIT_FUZZ_SEED", "2"), ("GCNJIT_FUZZ_COUNT", "500")]);
        let output = seeded.arg("--exact").args(CAMPAIGNS).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{level}: {text}");
        assert!(text.contains(&format!("{} passed", CAMPAIGNS.len())), "{level}: {text}");
    }
}
