//! What `run`, `diff` and `trace` work on: a file, and launches of its kernels; or a recording, which is both in one.

use crate::cli::arg;
use crate::cli::failure::Failure;
use crate::cli::plan::{self, Launch, Plan, Step};
use crate::cli::raw;
use crate::cli::recording::{Code, Recording};
use crate::cli::{job, output};
use gcnjit::{Device, Dims, Module, RawCode, Target};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The arguments that say what is launched.
#[derive(clap::Args)]
pub struct Input {
    /// The code object, offload bundle or Catalyst binary, with --raw bare code; or a recording of --record, which
    /// has all that is asked for below.
    pub file: String,
    /// The kernel.
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items in the grid: X[,Y[,Z]]. A partial last work-group is legal.
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::dims)]
    grid: Option<Dims>,
    /// Work-items in a work-group: X[,Y[,Z]].
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::dims)]
    block: Option<Dims>,
    /// What global ids start from: X[,Y[,Z]].
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::offset, conflicts_with = "job")]
    offset: Option<[u64; 3]>,
    /// How often the kernel is launched, in order, on the same buffers; once, if nothing is said.
    #[arg(long = "loop", value_name = "N", conflicts_with = "job")]
    count: Option<u32>,
    #[arg(long = "arg", value_name = "A", help = arg::HELP, allow_hyphen_values = true, conflicts_with = "job")]
    args: Vec<String>,
    #[arg(long, value_name = "JOB", help = job::HELP, conflicts_with_all = ["kernel", "grid", "block"])]
    job: Option<String>,
    /// With a recording: write its N-th buffer, from 0 on, to PATH afterwards.
    #[arg(long = "dump", value_name = "N:PATH")]
    dumps: Vec<String>,
    /// The processor that the file is expected to be for, such as gfx900; the part of a bundle that is taken.
    #[arg(long, value_name = "GFX")]
    gfx: Option<Target>,
    #[command(flatten)]
    raw: raw::Start,
}

/// A file that was loaded, and what is to be done with it.
pub struct Opened {
    /// The file.
    pub module: Module,
    /// The launches.
    pub plan: Plan,
    /// Time from reading the file until its kernels could be launched.
    pub build: Duration,
}

impl Input {
    /// Reads and checks everything, the arguments first.
    pub fn open(&self, device: &Device) -> Result<Opened, Failure> {
        let start = Instant::now();
        if let Some(recording) = Recording::read(&self.file)? {
            return self.replay(device, recording, start);
        }
        let mut plan = self.plan()?;
        plan.outputs().try_for_each(|path| output::check(path))?;
        let start = Instant::now();
        let module = self.load(device, &self.file)?;
        if let Some(gfx) = self.gfx.filter(|gfx| *gfx != module.target()) {
            return Err(Failure::usage(format!("{}: it is for {}, not for {gfx}", self.file, module.target())));
        }
        plan.launches().try_for_each(|launch| module.kernel(&launch.kernel).map(drop))?;
        let build = start.elapsed();
        plan.lay_out(module.target())?;
        Ok(Opened { module, plan, build })
    }

    /// Loads a file in the way that the arguments say.
    pub fn load(&self, device: &Device, file: &str) -> Result<Module, Failure> {
        match self.gfx.filter(|_| self.raw.raw) {
            Some(target) => self.raw.load(device, file, target),
            None => Ok(Module::open_for(device, file, self.gfx)?),
        }
    }

    /// The recording of what was opened.
    pub fn record(&self, opened: &Opened) -> Recording {
        let bytes = opened.module.image().file.clone();
        let code = match (&self.raw.raw, self.gfx) {
            (true, Some(target)) => Code::Bare { bytes, target, start: self.raw.clone() },
            _ => Code::Object(bytes),
        };
        Recording { name: opened.module.name().to_owned(), code, plan: opened.plan.clone() }
    }

    /// What a recording has, with the outputs that the arguments ask for.
    fn replay(&self, device: &Device, recording: Recording, start: Instant) -> Result<Opened, Failure> {
        let file = &self.file;
        let given = [
            ("--kernel", self.kernel.is_some()),
            ("--grid", self.grid.is_some()),
            ("--block", self.block.is_some()),
            ("--offset", self.offset.is_some()),
            ("--loop", self.count.is_some()),
            ("--arg", !self.args.is_empty()),
            ("--job", self.job.is_some()),
            ("--raw", self.raw.raw),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!("{file}: it is a recording, which leaves no choice of {option}")));
        }
        let module = recording.load(device)?;
        let mut plan = recording.plan;
        for dump in &self.dumps {
            plan.steps.push(dumped(dump, &plan).map_err(|what| Failure::usage(format!("--dump {dump}: {what}")))?);
        }
        plan.outputs().try_for_each(|path| output::check(path))?;
        plan.launches().try_for_each(|launch| module.kernel(&launch.kernel).map(drop))?;
        Ok(Opened { module, plan, build: start.elapsed() })
    }

    fn plan(&self) -> Result<Plan, Failure> {
        if !self.dumps.is_empty() {
            return Err(Failure::usage("--dump is for recordings; a buffer has its output in its --arg"));
        }
        let kernel = self.kernel.as_deref().or(self.raw.raw.then_some(RawCode::NAME));
        match (&self.job, kernel, self.grid, self.block) {
            (Some(job), ..) => job::read(job),
            (None, Some(kernel), Some(grid), Some(block)) => self.single(kernel, grid, block),
            _ => Err(Failure::usage("required: --kernel, --grid and --block, or --job")),
        }
    }

    /// The plan of one kernel.
    fn single(&self, kernel: &str, grid: Dims, block: Dims) -> Result<Plan, Failure> {
        let (mut plan, mut args, mut dumps) = (Plan::default(), Vec::new(), Vec::new());
        for spec in &self.args {
            arg::add(spec, &mut plan, &mut args, &mut dumps)?;
        }
        let (kernel, offset) = (kernel.to_owned(), self.offset.unwrap_or_default());
        let count = self.count.unwrap_or(1);
        plan.steps.push(Step::Launch(Launch { kernel, grid, block, offset, args, count }));
        plan.steps.extend(dumps);
        Ok(plan)
    }
}

/// `N:PATH`.
fn dumped(text: &str, plan: &Plan) -> Result<Step, String> {
    let (index, path) = text.split_once(':').ok_or("it has no ':'")?;
    let buffer = index.parse().ok().filter(|index| *index < plan.buffers.len());
    let buffer = buffer.ok_or_else(|| format!("the recording has {} buffers", plan.buffers.len()))?;
    Ok(Step::Dump { buffer, picture: None, path: PathBuf::from(path) })
}
