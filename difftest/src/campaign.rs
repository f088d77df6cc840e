//! Campaigns: many cases on several threads, counted; what fails is shrunk.
//!
//! Case `index` of a seed is the same whatever the threads do, so a failure is found again by its seed and index.

use crate::case::Case;
use crate::coverage::{Coverage, TARGETS, Wanted};
use crate::generate::{Generator, Probe, Rows};
use crate::machine::{Bench, Run, Superblocks, Verdict};
use crate::random::Random;
use crate::shrink::shrink;
use gcnjit_isa::Target;
use gcnjit_rt::{MemoryError, Mode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What kind of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Programs that waves run whose registers are compared.
    #[default]
    Programs,
    /// Kernels that are launched.
    Kernels,
}

impl Kind {
    /// The rows of a target that are drawn.
    pub fn rows(self, target: Target, names: &[String]) -> Rows {
        match self {
            Kind::Programs => Rows::new(target, names),
            Kind::Kernels => Rows::of_kernels(target, names),
        }
    }

    /// A case made of them.
    pub fn draw(self, random: &mut Random, rows: &Rows) -> Case {
        match self {
            Kind::Programs => Generator::program(random, rows),
            Kind::Kernels => Generator::kernel(random, rows),
        }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names the sequence of cases.
    pub seed: u64,
    /// How many cases.
    pub count: u64,
    /// What kind of them.
    pub kind: Kind,
    /// Rows to draw, by family or the beginning of the mnemonic; all if empty.
    pub rows: Vec<String>,
    /// Targets, in turn.
    pub targets: Vec<Target>,
    /// Threads.
    pub threads: usize,
    /// Failures after which the campaign ends.
    pub failures: usize,
    /// Time after which it ends.
    pub time: Option<Duration>,
}

impl Default for Options {
    /// Everything, a thousand times, until the first failure.
    fn default() -> Options {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (kind, rows, targets) = (Kind::default(), Vec::new(), TARGETS.to_vec());
        Options { seed: 1, count: 1000, kind, rows, targets, threads, failures: 1, time: None }
    }
}

/// A case that the engines do not agree on.
pub struct Failure {
    /// Which case of the seed.
    pub index: u64,
    /// The case as it was drawn.
    pub found: Case,
    /// The smallest case like it.
    pub shrunk: Case,
    /// What differs in that.
    pub difference: String,
}

/// What a campaign did.
#[derive(Default)]
pub struct Summary {
    /// Cases run.
    pub cases: u64,
    /// Of them those that ended with a fault.
    pub faults: u64,
    /// Of them those that did not end in time, which says nothing.
    pub too_long: u64,
    /// Of them those that an engine refused.
    pub refused: u64,
    /// Kernels with waves of each kind.
    pub superblocks: Superblocks,
    /// Instructions executed, by each engine.
    pub instructions: u64,
    /// Time from beginning to end, without shrinking.
    pub time: Duration,
    /// What was executed.
    pub coverage: Coverage,
    /// What failed, lowest index first.
    pub failures: Vec<Failure>,
}

impl Summary {
    fn count(&mut self, run: &Run, case: &Case) {
        self.superblocks.add(run.superblocks.map(|waves| waves.min(1)));
        self.faults += u64::from(run.outcome.end != crate::machine::End::Ended);
        for ((index, mode), count) in &run.executed {
            self.instructions += count;
            self.coverage.count(&run.placed[*index].inst, Mode(*mode), case.target);
        }
    }

    fn add(&mut self, other: Summary) {
        self.cases += other.cases;
        self.faults += other.faults;
        self.too_long += other.too_long;
        self.refused += other.refused;
        self.superblocks.add(other.superblocks);
        self.instructions += other.instructions;
        self.coverage.add(other.coverage);
        self.failures.extend(other.failures);
    }
}

/// Runs random programs.
///
/// # Errors
/// If the host has no memory for a machine.
pub fn run(options: &Options) -> Result<Summary, MemoryError> {
    let kind = options.kind;
    let rows = options.targets.iter().map(|target| kind.rows(*target, &options.rows));
    let rows: Vec<Rows> = rows.filter(|rows| !rows.is_empty()).collect();
    if rows.is_empty() {
        return Ok(Summary::default());
    }
    each(options, options.count, |index| {
        let mut random = Random::of(options.seed, index);
        kind.draw(&mut random, &rows[(index % rows.len() as u64) as usize])
    })
}

/// Runs probes of `wanted`, and again of what was not executed, until all was or it is tried often enough.
///
/// # Errors
/// If the host has no memory for a machine.
pub fn cover(options: &Options, wanted: &Wanted) -> Result<Summary, MemoryError> {
    const ROUNDS: u64 = 40;
    /// Few enough that there are registers for all addresses. What a fault hid the first time gets its own program.
    const PROBES: usize = 8;
    let start = Instant::now();
    let mut summary = Summary::default();
    for round in 0..ROUNDS {
        let plans = wanted.plans(&summary.coverage, if round == 0 { PROBES } else { 1 });
        if plans.is_empty() || summary.failures.len() >= options.failures {
            break;
        }
        let more = each(options, plans.len() as u64, |index| {
            let mut random = Random::of(options.seed + round, index);
            let Plan { target, mode, probes } = &plans[index as usize];
            Generator::probes(&mut random, *target, *mode, probes)
        })?;
        summary.add(more);
    }
    summary.time = start.elapsed();
    Ok(summary)
}

/// A program of probes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The processor.
    pub target: Target,
    /// MODE, if it matters.
    pub mode: Option<Mode>,
    /// What is in it.
    pub probes: Vec<Probe>,
}

/// Makes and checks cases `0..count` on the threads.
fn each(options: &Options, count: u64, make: impl Fn(u64) -> Case + Sync) -> Result<Summary, MemoryError> {
    let start = Instant::now();
    let (next, summary) = (AtomicU64::new(0), Mutex::new(Summary::default()));
    let benches = (0..options.threads.max(1)).map(|_| Bench::new()).collect::<Result<Vec<_>, _>>()?;
    let late = || options.time.is_some_and(|time| start.elapsed() > time);
    let worker = |bench: Bench| {
        let (mut own, mut failed) = (Summary::default(), Vec::new());
        loop {
            let index = next.fetch_add(1, Relaxed);
            if index >= count || late() {
                break;
            }
            let case = make(index);
            own.cases += 1;
            match bench.check(&case) {
                Verdict::Same(run) => own.count(&run, &case),
                Verdict::TooLong => own.too_long += 1,
                Verdict::Refused(_) | Verdict::Misplaced(_) | Verdict::Impossible(_) => own.refused += 1,
                Verdict::Different(_) => {
                    failed.push((index, case));
                    if failed.len() >= options.failures {
                        next.store(count, Relaxed);
                    }
                }
            }
        }
        let mut all = summary.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.time = all.time.max(start.elapsed());
        drop(all);
        own.failures = failed.into_iter().map(|(index, case)| failure(&bench, index, case)).collect();
        summary.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(own);
    };
    std::thread::scope(|scope| {
        let worker = &worker;
        benches.into_iter().for_each(|bench| drop(scope.spawn(move || worker(bench))));
    });
    let mut summary = summary.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    summary.failures.sort_by_key(|failure| failure.index);
    Ok(summary)
}

fn failure(bench: &Bench, index: u64, found: Case) -> Failure {
    let shrunk = shrink(found.clone(), &mut |case| matches!(bench.check(case), Verdict::Different(_)));
    let difference = match bench.check(&shrunk) {
        Verdict::Different(text) => text,
        _ => "it differs only now and then\n".to_owned(),
    };
    Failure { index, found, shrunk, difference }
}
