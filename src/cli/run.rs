//! `gcnjit run`: launches kernels on files' contents.

use crate::cli::exec::{Repetition, Runner};
use crate::cli::failure::Failure;
use crate::cli::output::{self, Staged};
use crate::cli::plan::{self, Launch, Plan, Step};
use crate::cli::progress::Progress;
use crate::cli::report::Report;
use crate::cli::{arg, job, print, raw, report};
use clap::ValueEnum;
use gcnjit::{Device, Dims, Module, RawCode, Target};
use serde_json::json;
use std::time::{Duration, Instant};

/// Runs a kernel, or the launches of a job file.
///
/// The last line of stdout is JSON: ok, build_ms (reading the file until the kernel could be launched), first_ms (the
/// checked repetition, translation included), times_ms (the repetitions of --time) and more; or ok and error.
#[derive(clap::Args)]
pub struct Args {
    /// The code object, offload bundle or Catalyst binary, or with --raw bare code.
    file: String,
    /// The kernel.
    #[arg(long, required_unless_present_any = ["job", "raw"])]
    kernel: Option<String>,
    /// Work-items in the grid: X[,Y[,Z]]. A partial last work-group is legal.
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::dims, required_unless_present = "job")]
    grid: Option<Dims>,
    /// Work-items in a work-group: X[,Y[,Z]].
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::dims, required_unless_present = "job")]
    block: Option<Dims>,
    /// What global ids start from: X[,Y[,Z]].
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::offset, default_value = "0", conflicts_with = "job")]
    offset: [u64; 3],
    /// How often the kernel is launched, in order, on the same buffers.
    #[arg(long = "loop", value_name = "N", default_value_t = 1, conflicts_with = "job")]
    count: u32,
    #[arg(long = "arg", value_name = "A", help = arg::HELP, allow_hyphen_values = true, conflicts_with = "job")]
    args: Vec<String>,
    #[arg(long, value_name = "JOB", help = job::HELP, conflicts_with_all = ["kernel", "grid", "block"])]
    job: Option<String>,
    /// What executes it.
    #[arg(long, default_value = "jit")]
    engine: Engine,
    /// The processor that the file is expected to be for, such as gfx900; the part of a bundle that is taken.
    #[arg(long, value_name = "GFX")]
    gfx: Option<Target>,
    #[command(flatten)]
    raw: raw::Start,
    /// Threads; 0 for as many as the host has processors.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Timed repetitions after the checked one; every buffer is restored, untimed, before each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: u32,
    /// Print the JSON line alone.
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

impl From<Engine> for gcnjit::Engine {
    fn from(engine: Engine) -> gcnjit::Engine {
        match engine {
            Engine::Jit => gcnjit::Engine::Jit,
            Engine::Interp => gcnjit::Engine::Interp,
            Engine::Check => gcnjit::Engine::Check,
        }
    }
}

/// Runs what the arguments say and prints the report.
pub fn main(args: &Args) -> Result<(), Failure> {
    let plan = args.plan()?;
    plan.outputs().try_for_each(|path| output::check(path))?;
    let device = Device::new()?;

    let start = Instant::now();
    let module = match args.gfx.filter(|_| args.raw.raw) {
        Some(target) => args.raw.load(&device, &args.file, target)?,
        None => Module::open_for(&device, &args.file, args.gfx)?,
    };
    if let Some(gfx) = args.gfx.filter(|gfx| *gfx != module.target()) {
        return Err(Failure::usage(format!("{}: it is for {}, not for {gfx}", args.file, module.target())));
    }
    plan.launches().try_for_each(|launch| module.kernel(&launch.kernel).map(drop))?;
    let build = start.elapsed();

    let runner = Runner::new(&plan, &device, &module, args.threads)?;
    let (first, times) = repetitions(&runner, &plan, args)?;
    let report = Report { module: &module, runner: &runner, engine: args.engine.into(), build, first, times };
    if !args.json {
        print(&report.text())?;
    }
    print(&format!("{}\n", report.json()))
}

/// The checked repetition, after which the outputs are in place, and the times of the others.
fn repetitions(runner: &Runner<'_>, plan: &Plan, args: &Args) -> Result<(Repetition, Vec<Duration>), Failure> {
    let (engine, count) = (gcnjit::Engine::from(args.engine), args.time);
    let launches: u64 = plan.launches().map(|launch| u64::from(launch.count)).sum();
    let progress = Progress::new(launches * (u64::from(count) + 1));
    let prepared = runner.prepare(engine)?;
    runner.restore();
    let mut first = runner.repetition(&prepared, true, &progress)?;
    first.outputs.drain(..).try_for_each(Staged::commit)?;
    if !args.json {
        first.results = report::results(runner, plan);
    }
    // What was compared once need not be compared again: of both engines, the translator is timed.
    let prepared = if engine == gcnjit::Engine::Check { runner.prepare(gcnjit::Engine::Jit)? } else { prepared };
    let mut times = Vec::with_capacity(count as usize);
    for _ in 0..count {
        runner.restore();
        times.push(runner.repetition(&prepared, false, &progress)?.time);
    }
    Ok((first, times))
}

/// The last line of stdout after a failure.
pub fn print_failure(message: &str) {
    // There is no way left to tell if that fails.
    let _ = print(&format!("{}\n", json!({ "ok": false, "error": message })));
}

impl Args {
    fn plan(&self) -> Result<Plan, Failure> {
        let kernel = self.kernel.as_deref().or(self.raw.raw.then_some(RawCode::NAME));
        match (&self.job, kernel, self.grid, self.block) {
            (Some(job), ..) => job::read(job),
            (None, Some(kernel), Some(grid), Some(block)) => self.single(kernel, grid, block),
            _ => Err(Failure::usage("--kernel, --grid and --block, or --job")),
        }
    }

    /// The plan of one kernel.
    fn single(&self, kernel: &str, grid: Dims, block: Dims) -> Result<Plan, Failure> {
        let (mut plan, mut args, mut dumps) = (Plan::default(), Vec::new(), Vec::new());
        for spec in &self.args {
            arg::add(spec, &mut plan, &mut args, &mut dumps)?;
        }
        let kernel = kernel.to_owned();
        plan.steps.push(Step::Launch(Launch { kernel, grid, block, offset: self.offset, args, count: self.count }));
        plan.steps.extend(dumps);
        Ok(plan)
    }
}
