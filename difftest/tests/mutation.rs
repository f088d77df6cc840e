//! The generator finds each deliberate mistake of the translator (`gcnjit_translate::defect`) within a budget, and
//! shrinks most of what it finds to a few instructions.
//!
//!     cargo test -p gcnjit-difftest --features defects --test mutation
//!
//! With `BLESS=1` it writes the table of docs/mutation-check.md. It needs the feature, which nothing else has.

use gcnjit_difftest::campaign::{Kind, Options, run};
use gcnjit_difftest::shrink::instructions;
use gcnjit_difftest::{Bench, filetest};
use gcnjit_translate::defect::{Defect, switch};
use gcnjit_translate::wide;
use std::path::Path;

/// Programs or kernels in which a defect has to be found.
const BUDGET: u64 = 20_000;
/// Instructions that most are shrunk to.
const FEW: usize = 5;
/// What begins the table in the document.
const MARK: &str = "| defect |";

struct Found {
    defect: Defect,
    /// The number of the first program that shows it, and how many instructions of it are left.
    program: Option<(u64, usize)>,
    /// Whether the case as a filetest fails with the defect and passes without.
    kept: bool,
}

/// Whether the text, read again, fails as long as the defect is there; says how not.
fn is_kept(bench: &Bench, defect: Defect, text: &str) -> bool {
    let test = filetest::parse(text).unwrap_or_else(|error| panic!("{defect:?}: {error}\n{text}"));
    let result = |on: Option<Defect>| {
        switch(on);
        filetest::check(bench, &test)
    };
    let (with, without) = (result(Some(defect)), result(None));
    let kept = with.is_err() && without.is_ok();
    if !kept {
        println!("{defect:?}: with it {with:?}, without {without:?}\n{text}");
    }
    kept
}

fn find(bench: &Bench, defect: Defect) -> Found {
    switch(Some(defect));
    let kind = if defect.is_of_kernels() { Kind::Kernels } else { Kind::Programs };
    let options = Options { count: BUDGET, kind, ..Options::default() };
    let summary = run(&options).expect("memory for the machines");
    switch(None);
    let first = summary.failures.first();
    let kept = first.is_some_and(|failure| is_kept(bench, defect, &filetest::write(&failure.shrunk, "")));
    Found { defect, program: first.map(|failure| (failure.index + 1, instructions(&failure.shrunk))), kept }
}

fn row(found: &Found) -> String {
    let (program, size) = found
        .program
        .map_or(("never".to_owned(), "-".to_owned()), |(program, size)| (program.to_string(), size.to_string()));
    format!("| {:?} | {} | {program} | {size} |", found.defect, found.defect.what())
}

/// The document with this table in the place of its own.
fn with_table(document: &str, rows: &[String]) -> String {
    let (before, after) = document.split_once(MARK).expect("a table in the document");
    let after = after.split_once("\n\n").map_or("", |(_, after)| after);
    let head = format!("{MARK} what is wrong | found by program | instructions left |\n|---|---|---:|---:|");
    format!("{before}{head}\n{}\n\n{after}", rows.join("\n"))
}

#[test]
fn every_defect_is_found() {
    let bench = Bench::new().expect("memory for a machine");
    let defects = Defect::ALL.iter().filter(|defect| wide::is_available() || !defect.is_of_kernels());
    let found: Vec<Found> = defects.map(|defect| find(&bench, *defect)).collect();
    let rows: Vec<String> = found.iter().map(row).collect();
    println!("{}", rows.join("\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mutation-check.md");
    if std::env::var("BLESS").is_ok_and(|value| value == "1") {
        let document = std::fs::read_to_string(&path).expect("the document");
        std::fs::write(&path, with_table(&document, &rows)).expect("the document can be written");
    }
    let never: Vec<Defect> = found.iter().filter(|found| found.program.is_none()).map(|found| found.defect).collect();
    assert!(never.is_empty(), "not found in {BUDGET} programs: {never:?}");
    let small = found.iter().filter(|found| found.program.is_some_and(|(_, size)| size <= FEW)).count();
    assert!(small * 10 >= found.len() * 8, "only {small} of {} were shrunk to {FEW} instructions", found.len());
    let lost: Vec<Defect> = found.iter().filter(|found| !found.kept).map(|found| found.defect).collect();
    assert!(lost.is_empty(), "the filetest does not show the defect, or something else: {lost:?}");
    assert!(found.len() >= 40, "there are more than {} defects", found.len());
}
