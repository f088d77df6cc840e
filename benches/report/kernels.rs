//! Every kernel of `kernels/`: the translator against the interpreter, against PoCL, and on two threads against one.

use crate::opencl::{self, Host};
use crate::page::{Bar, Page, Table, geometric_mean};
use crate::suite::{Case, TARGET};
use crate::support::{Buffer, Launch, Peer, check};
use gcnjit::Engine;
use std::time::{Duration, Instant};

/// How long the fast contestants are measured by turns.
const PATIENCE: Duration = Duration::from_millis(1200);
/// Rounds of it at least.
const ROUNDS: usize = 7;
/// How long a contestant's turn is; it ends with a run.
const TURN: Duration = Duration::from_millis(5);
/// The interpreter, which is slow, has a turn in one of so many of these.
const INTERP_EVERY: usize = 3;
/// Work-groups that a kernel has to have for its two threads to say something.
const ENOUGH_GROUPS: u64 = 64;

/// Ways to compile a source with PoCL; the faster one counts. The variable is read when a work-group function is
/// compiled; the definition keeps the two apart in PoCL's cache.
const WAYS: [(&str, &str); 2] = [("0", "-DINNER_LOOPS"), ("1", "-DOUTER_LOOPS")];

/// What was measured of a kernel; the least times of some rounds.
struct Measured {
    name: String,
    wave_instructions: u64,
    groups: u64,
    interp: Duration,
    jit: Duration,
    two_threads: Duration,
    /// One of two that run at the same time, each on a thread and with buffers of its own.
    two_runs: Duration,
    /// PoCL's, or why there is none.
    pocl: Result<Duration, String>,
}

/// Measures the kernels in `names`, and writes the section.
pub fn section(page: &mut Page, names: &[String], host: &Result<Host, String>) {
    let all: Vec<Measured> = names.iter().map(|name| measure(name, host)).collect();
    let mut table = Table::new(&[
        "kernel",
        "wave instr.",
        "interp ms",
        "jit ms",
        "interp/jit",
        "PoCL ms",
        "PoCL/jit",
        "2 threads",
        "2 runs",
    ]);
    for kernel in &all {
        table.row(kernel.row());
    }
    page.heading("Kernels");
    page.text(&format!(
        "Each at the size of its launch.toml's `[bench]`, code for {TARGET}, one thread; the least time of some rounds \
         in which all take turns. Above 1 the translator is faster. Two threads are compared with one; two runs at once, which \
         share nothing, with one after the other: what the machine has to give."
    ));
    page.table(&table);
    let against = |ratio: fn(&Measured) -> Option<f64>| geometric_mean(all.iter().filter_map(ratio));
    let summary = [
        ("interp/jit", against(Measured::against_interp)),
        ("PoCL/jit", against(Measured::against_pocl)),
        ("two threads", against(Measured::scaling)),
        ("two runs at once", against(Measured::of_two_runs)),
    ];
    for (what, mean) in summary {
        if let Some((mean, least, count)) = mean {
            page.text(&format!("{what}: geometric mean {mean:.2} over {count} kernels, least {least:.2}."));
        }
    }
    if let Err(reason) = host {
        page.text(&format!("PoCL is left out: {reason}."));
    }
    for kernel in &all {
        if let (Ok(_), Err(reason)) = (host, &kernel.pocl) {
            page.text(&format!("PoCL does not run {}: {reason}.", kernel.name));
        }
    }
    let bar = |kernel: &Measured| kernel.against_pocl().map(|ratio| Bar::new(&kernel.name, ratio));
    page.plot("pocl", "Times as fast as PoCL", all.iter().filter_map(bar).collect());
    let bar = |kernel: &Measured| kernel.against_interp().map(|ratio| Bar::new(&kernel.name, ratio));
    page.plot("interp", "Times as fast as the interpreter", all.iter().filter_map(bar).collect());
}

impl Measured {
    fn against_interp(&self) -> Option<f64> {
        Some(self.interp.as_secs_f64() / self.jit.as_secs_f64())
    }

    fn against_pocl(&self) -> Option<f64> {
        self.pocl.as_ref().ok().map(|pocl| pocl.as_secs_f64() / self.jit.as_secs_f64())
    }

    fn scaling(&self) -> Option<f64> {
        (self.groups >= ENOUGH_GROUPS).then(|| self.jit.as_secs_f64() / self.two_threads.as_secs_f64())
    }

    fn of_two_runs(&self) -> Option<f64> {
        (self.groups >= ENOUGH_GROUPS).then(|| 2.0 * self.jit.as_secs_f64() / self.two_runs.as_secs_f64())
    }

    fn row(&self) -> Vec<String> {
        let ms = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
        let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        vec![
            self.name.clone(),
            self.wave_instructions.to_string(),
            ms(self.interp),
            ms(self.jit),
            ratio(self.against_interp()),
            self.pocl.as_ref().map_or("–".to_owned(), |time| ms(*time)),
            ratio(self.against_pocl()),
            ratio(self.scaling()),
            ratio(self.of_two_runs()),
        ]
    }
}

fn measure(name: &str, host: &Result<Host, String>) -> Measured {
    let [case, other] = [(); 2].map(|()| Case::new(name));
    // The first run translates.
    let [warm, _] = [&case, &other].map(|case| case.run(Engine::Jit, 1));
    let left = case.results();
    let mut interp = case.run(Engine::Interp, 1).time;
    assert!(left == case.results(), "{name}: translator and interpreter leave different bytes");
    let (mut jit, mut two_threads, mut two_runs) = (warm.time, warm.time, Duration::MAX);
    let mut rivals = host.as_ref().map_err(String::clone).and_then(|host| rivals(host, &case, &left));
    let (mut spent, mut round) = (Duration::ZERO, 0);
    while round < ROUNDS || spent < PATIENCE {
        if round < ROUNDS && round % INTERP_EVERY == 0 {
            interp = interp.min(case.run(Engine::Interp, 1).time);
        }
        let start = Instant::now();
        for (threads, least) in [(1, &mut jit), (2, &mut two_threads)] {
            turn(least, || case.run(Engine::Jit, threads).time);
        }
        turn(&mut two_runs, || case.run_beside(&other));
        if let Ok(rivals) = &mut rivals {
            for (rival, least) in rivals {
                turn(least, || rival.run().expect("it ran before"));
            }
        }
        spent += start.elapsed();
        round += 1;
    }
    let pocl = rivals.map(|rivals| rivals.iter().map(|rival| rival.1).min().expect("at least one way"));
    let measured = Measured {
        name: name.to_owned(),
        wave_instructions: warm.wave_instructions,
        groups: case.groups(),
        interp,
        jit,
        two_threads,
        two_runs,
        pocl,
    };
    println!("{}", measured.row().join("  "));
    measured
}

/// A contestant's turn: the time of its fastest run counts, if it is less than `least`.
fn turn(least: &mut Duration, mut run: impl FnMut() -> Duration) {
    let start = Instant::now();
    while {
        *least = run().min(*least);
        start.elapsed() < TURN
    } {}
}

/// The kernel as PoCL compiles it, warm, each way with the time of its first run.
fn rivals<'a>(host: &'a Host, case: &Case, left: &[Vec<u8>]) -> Result<Vec<(opencl::Case<'a>, Duration)>, String> {
    WAYS.iter()
        .map(|(outer, options)| {
            // SAFETY: PoCL reads its environment in this thread only, and nobody else does.
            unsafe { std::env::set_var("POCL_FORCE_PARALLEL_OUTER_LOOP", outer) };
            let rival = opencl::Case::new(host, &case.launch, options)?;
            rival.run()?;
            let time = rival.run()?;
            agree(&case.launch, left, rival.results()?)?;
            Ok((rival, time))
        })
        .collect()
}

/// Whether the translator's results are PoCL's, as exactly as the launch description asks for.
fn agree(launch: &Launch, left: &[Vec<u8>], theirs: Vec<Vec<u8>>) -> Result<(), String> {
    let want: Vec<Buffer> =
        launch.buffers().zip(theirs).map(|(buffer, data)| Buffer { data, ..buffer.clone() }).collect();
    check(launch, left, &want, Peer::Other).map_err(|what| format!("its results differ, {what}"))
}
