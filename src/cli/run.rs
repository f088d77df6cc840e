//! `gcnjit run`: launches kernels on files' contents.

use crate::cli::exec::{Limits, Repetition, Runner};
use crate::cli::failure::Failure;
use crate::cli::input::{Input, Opened};
use crate::cli::output::{self, Staged};
use crate::cli::plan::{self, Plan};
use crate::cli::progress::Progress;
use crate::cli::report::Report;
use crate::cli::{fidelity, print, report};
use clap::ValueEnum;
use gcnjit::Device;
use gcnjit::fidelity::Tracker;
use gcnjit::profile::{self, Profile};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// Runs a kernel, or the launches of a job file.
///
/// The last line of stdout is JSON: ok, build_ms (reading the file until the kernel could be launched), first_ms (the
/// checked repetition, translation included), times_ms (the repetitions of --time) and more; or ok and error.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    /// What executes it.
    #[arg(long, default_value = "jit")]
    engine: Engine,
    /// Threads; 0 for as many as the host has processors.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Ends a launch that runs for longer, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = plan::seconds)]
    deadline: Option<Duration>,
    /// Bytes of stack a work-item beyond what the compiler reckoned; without this 16384 if it could not tell.
    #[arg(long, value_name = "BYTES")]
    stack: Option<u32>,
    /// Bytes that messages of a launch may take before they are printed.
    #[arg(long, value_name = "BYTES")]
    printf_buffer: Option<u32>,
    /// Timed repetitions after the checked one; every buffer is restored, untimed, before each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: u32,
    /// Write the launches with the code and all buffers to FILE, a recording that `run`, `diff` and `trace` take. It is
    /// there when they begin, so that one which goes wrong can be looked at.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Run on the interpreter, and report which instructions were approximate or host-defined, how often, and whether
    /// what they gave reached an address, a branch or EXEC.
    #[arg(long, conflicts_with_all = ["engine", "time"])]
    fidelity: bool,
    /// Tell what the translator made, how long its stages took and how often its cache was hit.
    #[arg(long)]
    stats: bool,
    /// Name translated code for the profiler perf: a map, /tmp/perf-PID.map, or a dump with the code, jit-PID.dump in
    /// the current directory, for perf record -k mono and perf inject --jit.
    #[arg(long, value_name = "FORM", env = "GCNJIT_PERF")]
    perf: Option<Perf>,
    /// Print the JSON line alone, after what kernels print.
    #[arg(long)]
    json: bool,
}

/// The engines by name.
#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// The translator.
    Jit,
    /// The interpreter.
    Interp,
    /// Both, comparing every byte they leave.
    Check,
}

/// The forms of profiles by name.
#[derive(Clone, Copy, ValueEnum)]
enum Perf {
    /// /tmp/perf-PID.map.
    Map,
    /// jit-PID.dump.
    Jitdump,
}

impl From<Perf> for Profile {
    fn from(perf: Perf) -> Profile {
        match perf {
            Perf::Map => Profile::Map,
            Perf::Jitdump => Profile::Jitdump,
        }
    }
}

impl From<Engine> for gcnjit::Engine {
    fn from(engine: Engine) -> gcnjit::Engine {
        match engine {
            Engine::Jit => gcnjit::Engine::Jit,
            Engine::Interp => gcnjit::Engine::Interp,
            Engine::Check => gcnjit::Engine::Check,
        }
    }
}

impl Args {
    fn limits(&self) -> Limits {
        let Args { threads, deadline, stack, printf_buffer, .. } = *self;
        Limits { threads, deadline, stack, printf_buffer }
    }
}

/// Runs what the arguments say and prints the report.
pub fn main(args: &Args) -> Result<(), Failure> {
    args.record.iter().try_for_each(|path| output::check(path))?;
    if let Some(perf) = args.perf {
        profile::start(perf.into()).map_err(|error| Failure::usage(format!("--perf: {error}")))?;
    }
    let device = Device::new()?;
    let opened = args.input.open(&device)?;
    if let Some(path) = &args.record {
        args.input.record(&opened).write(path)?;
    }
    let Opened { module, plan, build } = opened;
    let runner = Runner::new(&plan, &device, &module, args.limits())?;
    let mut tracker = args.fidelity.then(Tracker::new);
    runner.console.open();
    let done = match &mut tracker {
        Some(tracker) => fidelity::repetition(&runner, tracker)
            .and_then(|first| Ok((gcnjit::Engine::Interp, finished(&runner, &plan, args, first)?, Vec::new()))),
        None => repetitions(&runner, &plan, args),
    };
    runner.console.close()?;
    let (engine, first, times) = done?;
    let report = Report { module: &module, runner: &runner, engine, build, first, times, tracker, stats: args.stats };
    if !args.json {
        print(&report.text())?;
    }
    print(&format!("{}\n", report.json()))
}

/// A checked repetition, with its outputs in place and what people get to see of the buffers.
fn finished(runner: &Runner<'_>, plan: &Plan, args: &Args, mut first: Repetition) -> Result<Repetition, Failure> {
    first.outputs.drain(..).try_for_each(Staged::commit)?;
    if !args.json {
        first.results = report::results(runner, plan);
    }
    Ok(first)
}

/// The engine, the checked repetition, after which the outputs are in place, and the times of the others.
fn repetitions(
    runner: &Runner<'_>,
    plan: &Plan,
    args: &Args,
) -> Result<(gcnjit::Engine, Repetition, Vec<Duration>), Failure> {
    let (engine, count) = (gcnjit::Engine::from(args.engine), args.time);
    let launches: u64 = plan.launches().map(|launch| u64::from(launch.count)).sum();
    let progress = Progress::new(launches * (u64::from(count) + 1));
    let prepared = runner.prepare(engine)?;
    runner.restore();
    let first = finished(runner, plan, args, runner.repetition(&prepared, true, &progress)?)?;
    runner.console.close()?;
    // What was compared once need not be compared again: of both engines, the translator is timed.
    let prepared = if engine == gcnjit::Engine::Check { runner.prepare(gcnjit::Engine::Jit)? } else { prepared };
    let mut times = Vec::with_capacity(count as usize);
    for _ in 0..count {
        runner.restore();
        times.push(runner.repetition(&prepared, false, &progress)?.time);
    }
    Ok((engine, first, times))
}

/// The last line of stdout after a failure.
pub fn print_failure(message: &str) {
    // There is no way left to tell if that fails.
    let _ = print(&format!("{}\n", json!({ "ok": false, "error": message })));
}
