//! Carrying out a plan: a checked repetition, then timed ones.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::output::Staged;
use crate::cli::plan::{self, Plan, Step};
use crate::cli::progress::Progress;
use gcnjit::rt::code_object::ArgKind;
use gcnjit::{Arg, Buffer, Device, Engine, Error, Kernel, Module, Names, Prepared, Stats, What};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A plan on a device: its buffers, and the kernels of its launches.
pub struct Runner<'a> {
    plan: &'a Plan,
    /// One a buffer of the plan.
    pub buffers: Vec<Buffer<u8>>,
    /// One a launch of the plan.
    kernels: Vec<Kernel>,
    /// Descriptors in memory, by the launch and argument that take them.
    objects: BTreeMap<(usize, usize), Buffer<u32>>,
    limits: Limits,
    /// Where messages of kernels go.
    pub console: Console,
}

/// What launches may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Threads, if not the device's.
    pub threads: Option<usize>,
    /// Time, each.
    pub deadline: Option<Duration>,
    /// Bytes of stack a work-item, if not the usual.
    pub stack: Option<u32>,
    /// Bytes of a printf buffer, if not the usual.
    pub printf_buffer: Option<u32>,
}

/// What a repetition did.
#[derive(Default)]
pub struct Repetition {
    /// Wall-clock time of its launches.
    pub time: Duration,
    /// Sums over its launches.
    pub stats: Stats,
    /// The outputs, not yet in place.
    pub outputs: Vec<Staged>,
    /// What people get to see of the buffers.
    pub results: Vec<String>,
}

impl Limits {
    fn apply<'l>(self, mut launch: gcnjit::Launch<'l>) -> gcnjit::Launch<'l> {
        if let Some(threads) = self.threads {
            launch = launch.threads(threads);
        }
        if let Some(deadline) = self.deadline {
            launch = launch.deadline(deadline);
        }
        if let Some(bytes) = self.stack {
            launch = launch.stack(bytes);
        }
        if let Some(bytes) = self.printf_buffer {
            launch = launch.printf_buffer(bytes);
        }
        launch
    }
}

impl<'a> Runner<'a> {
    /// Finds the kernels and allocates the buffers.
    pub fn new(plan: &'a Plan, device: &Device, module: &Module, limits: Limits) -> Result<Runner<'a>, Failure> {
        let kernels = plan.launches().map(|launch| module.kernel(&launch.kernel)).collect::<Result<_, _>>()?;
        let allocate = |buffer: &plan::Buffer| {
            let size = usize::try_from(buffer.size).unwrap_or(usize::MAX);
            device.buffer(size).map_err(|error| Failure::usage(format!("{}: {error}", buffer.name)))
        };
        let buffers: Vec<Buffer<u8>> = plan.buffers.iter().map(allocate).collect::<Result<_, _>>()?;
        let objects = objects(plan, device, &buffers)?;
        Ok(Runner { plan, buffers, kernels, objects, limits, console: Console::default() })
    }

    /// The kernels of the launches, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter()
    }

    /// Lays out all arguments: for each launch of the plan, one or, if its index is among them, as many as it is
    /// repeated.
    pub fn prepare(&self, engine: Engine) -> Result<Vec<Vec<Prepared<'_>>>, Failure> {
        let launches = self.plan.launches().zip(&self.kernels).enumerate();
        launches.map(|(number, (launch, kernel))| self.prepare_launch(number, launch, kernel, engine)).collect()
    }

    fn prepare_launch<'s>(
        &'s self,
        number: usize,
        launch: &'s plan::Launch,
        kernel: &'s Kernel,
        engine: Engine,
    ) -> Result<Vec<Prepared<'s>>, Failure> {
        let indexed = launch.args.iter().any(|arg| matches!(arg, plan::Arg::Index(_)));
        let different = if indexed { launch.count } else { 1 };
        let kinds: Vec<ArgKind> = kernel.args().map(|arg| arg.kind).collect();
        let prepare = |index: u32| {
            let args = launch.args.iter().enumerate();
            let args = args.map(|(i, arg)| self.argument(arg, (number, i), kinds.get(i), index));
            let sized = kernel.launch().grid(launch.grid).block(launch.block).offset(launch.offset);
            Ok(self.limits.apply(sized.args(args).engine(engine)).printf(&self.console).prepare()?)
        };
        (0..different).map(prepare).collect()
    }

    /// An argument as the library wants it; `place` is its launch's number and its own. Eight bytes for a pointer are an
    /// address.
    fn argument<'s>(&self, arg: &'s plan::Arg, place: (usize, usize), kind: Option<&ArgKind>, index: u32) -> Arg<'s> {
        match arg {
            plan::Arg::Buffer { buffer, offset } => Arg::pointer(self.buffers[*buffer].address().wrapping_add(*offset)),
            plan::Arg::Lds(bytes) => Arg::lds(*bytes),
            plan::Arg::Index(size) => Arg::bytes(u64::from(index).to_le_bytes()[..*size].to_vec()),
            plan::Arg::Bytes(bytes) => match (kind, bytes.as_slice().try_into()) {
                (Some(ArgKind::Buffer | ArgKind::Bound(_) | ArgKind::Described(_) | ArgKind::Object), Ok(address)) => {
                    Arg::pointer(u64::from_le_bytes(address))
                }
                _ => Arg::bytes(bytes.as_slice()),
            },
            plan::Arg::Picture(_) | plan::Arg::Sampler(_) | plan::Arg::Object { .. } => {
                Arg::pointer(self.objects[&place].address())
            }
        }
    }

    /// Puts every buffer's contents back.
    pub fn restore(&self) {
        for (buffer, planned) in self.buffers.iter().zip(&self.plan.buffers) {
            for (start, bytes) in planned.pieces() {
                buffer.write_at(start, bytes);
            }
        }
    }

    /// What messages call the buffers' memory.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for (buffer, planned) in self.buffers.iter().zip(&self.plan.buffers) {
            names.add(buffer.address(), planned.size, planned.name.as_str());
        }
        names
    }

    /// Whether a buffer is not as it was at the start.
    pub fn is_changed(&self, index: usize) -> bool {
        let mut now = Vec::new();
        self.plan.buffers[index].pieces().any(|(start, bytes)| {
            now.resize(bytes.len(), 0);
            self.buffers[index].read_at(start, &mut now);
            now != bytes
        })
    }

    /// Does all steps once. Outputs are only taken if `outputs` says so.
    pub fn repetition(
        &self,
        prepared: &[Vec<Prepared<'_>>],
        outputs: bool,
        progress: &Progress,
    ) -> Result<Repetition, Failure> {
        self.repetition_by(prepared, outputs, |prepared| {
            let stats = prepared.run().map_err(|error| self.failure(error))?;
            progress.step();
            Ok(stats)
        })
    }

    /// The same with `run` in the place of [`Prepared::run`].
    pub fn repetition_by(
        &self,
        prepared: &[Vec<Prepared<'_>>],
        outputs: bool,
        mut run: impl FnMut(&Prepared<'_>) -> Result<Stats, Failure>,
    ) -> Result<Repetition, Failure> {
        let mut repetition = Repetition::default();
        let mut launches = prepared.iter();
        for step in &self.plan.steps {
            match step {
                Step::Launch(launch) => {
                    let prepared = launches.next().expect("one a launch");
                    let start = Instant::now();
                    for i in 0..launch.count as usize {
                        add(&mut repetition.stats, &run(&prepared[i % prepared.len()])?);
                    }
                    repetition.time += start.elapsed();
                }
                Step::Dump { buffer, picture, path } if outputs => {
                    let bytes = self.buffers[*buffer].read();
                    let contents = match picture {
                        Some(picture) => self.plan.pictures[*picture].output(path, &bytes)?,
                        None => bytes,
                    };
                    repetition.outputs.push(Staged::new(path, contents)?);
                }
                Step::Dump { .. } => {}
            }
        }
        Ok(repetition)
    }

    /// A failure that says which buffer a difference is in.
    fn failure(&self, error: Error) -> Failure {
        let allocation = match &error {
            Error::Difference(difference) => match difference.what {
                What::Memory { allocation, .. } => allocation,
                What::End { .. } | What::Text { .. } | What::Given { .. } => None,
            },
            _ => None,
        };
        let place = self.buffers.iter().position(|buffer| Some(buffer.address()) == allocation);
        let mut failure = Failure::from(error);
        if let Some(place) = place {
            failure.message += &format!(" ({})", self.plan.buffers[place].name);
        }
        failure
    }
}

/// Puts the descriptors of a plan in memory, those of images with the addresses of their buffers.
fn objects(
    plan: &Plan,
    device: &Device,
    buffers: &[Buffer<u8>],
) -> Result<BTreeMap<(usize, usize), Buffer<u32>>, Failure> {
    let mut objects = BTreeMap::new();
    for (number, launch) in plan.launches().enumerate() {
        for (index, arg) in launch.args.iter().enumerate() {
            let plan::Arg::Object { words, buffer } = arg else { continue };
            let mut words = words.clone();
            if let Some(buffer) = buffer {
                let base = buffers[*buffer].address() >> 8;
                words[0] = base as u32;
                words[1] = words[1] & !0xff | (base >> 32) as u32 & 0xff;
            }
            objects.insert((number, index), device.buffer_from(&words)?);
        }
    }
    Ok(objects)
}

fn add(sum: &mut Stats, stats: &Stats) {
    sum.groups += stats.groups;
    sum.waves += stats.waves;
    sum.wave_instructions += stats.wave_instructions;
    sum.time += stats.time;
    sum.translation += stats.translation;
    sum.printed.messages += stats.printed.messages;
    sum.printed.full |= stats.printed.full;
}
