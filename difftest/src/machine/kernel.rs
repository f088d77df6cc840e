//! Cases that are kernels: launches on both engines, as the runtime does them.
//!
//! Nobody looks at the registers of waves that have ended, so code for them is what whole kernels have: dead writes are
//! left out, there are superblocks, and waves begin with what others left. What is compared is memory, how many
//! instructions waves executed, and which one got stuck where.

use super::{BUDGET, Bench, Compared, End, Outcome, Run, Verdict};
use crate::case::{ARGUMENTS, Case, Grid, Space};
use crate::counting::Counting;
use crate::program::Placed;
use gcnjit_rt::code_object::raw::RawCode;
use gcnjit_rt::code_object::{Rsrc1, UserSgpr};
use gcnjit_rt::kernarg::Kernarg;
use gcnjit_rt::{
    Alike, DispatchError, Ended, Engine, Env, Fault, Geometry, Kernel, Launch, LoadError, Loaded, Mode, Options,
    RegisterSet, Runner, Stop, Trap, Wave, dispatch,
};
use gcnjit_translate::Jit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What a kernel's waves did in superblocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Superblocks {
    /// Waves that ended in one.
    pub kept: u64,
    /// Of them those with less than 64 work-items.
    pub partial: u64,
    /// Waves that ended elsewhere after others had ended in one.
    pub given_up: u64,
    /// Waves that were run together and ended in one.
    pub together: u64,
    /// Waves that could not be, after others of their work-group or grid had been.
    pub apart: u64,
}

impl Superblocks {
    /// The same with other numbers.
    pub fn map(self, number: impl Fn(u64) -> u64) -> Superblocks {
        let Superblocks { kept, partial, given_up, together, apart } = self;
        let [kept, partial, given_up, together, apart] = [kept, partial, given_up, together, apart].map(number);
        Superblocks { kept, partial, given_up, together, apart }
    }

    /// Adds others.
    pub fn add(&mut self, other: Superblocks) {
        self.kept += other.kept;
        self.partial += other.partial;
        self.given_up += other.given_up;
        self.together += other.together;
        self.apart += other.apart;
    }
}

/// An engine whose waves are counted, and stopped if they do not end in time.
struct Watched<'a, E> {
    engine: &'a E,
    cancel: AtomicBool,
    kept: AtomicU64,
    partial: AtomicU64,
    given_up: AtomicU64,
    together: AtomicU64,
    apart: AtomicU64,
}

impl<'a, E> Watched<'a, E> {
    fn new(engine: &'a E) -> Watched<'a, E> {
        let [kept, partial, given_up, together, apart] = [const { AtomicU64::new(0) }; 5];
        Watched { engine, cancel: AtomicBool::default(), kept, partial, given_up, together, apart }
    }

    /// Counts a wave that has ended.
    fn count(&self, has_kept: bool, is_partial: bool) {
        if has_kept {
            self.kept.fetch_add(1, Relaxed);
            self.partial.fetch_add(u64::from(is_partial), Relaxed);
        } else if self.kept.load(Relaxed) != 0 {
            self.given_up.fetch_add(1, Relaxed);
        }
    }
}

impl<E: Engine> Engine for Watched<'_, E> {
    type Worker = E::Worker;

    fn worker(&self) -> E::Worker {
        self.engine.worker()
    }

    fn read_first(&self, worker: &mut E::Worker, wave: &Wave, env: &Env<'_>) -> RegisterSet {
        self.engine.read_first(worker, wave, env)
    }

    fn run(&self, worker: &mut E::Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        self.engine.run(worker, wave, env)
    }

    fn runner<'a>(&'a self, worker: &'a mut E::Worker, env: &'a Env<'a>) -> impl Runner + 'a {
        WatchedRunner { watched: self, runner: self.engine.runner(worker, env) }
    }
}

struct WatchedRunner<'a, 'e, E, R> {
    watched: &'a Watched<'e, E>,
    runner: R,
}

impl<E, R: Runner> Runner for WatchedRunner<'_, '_, E, R> {
    fn run(&mut self, wave: &mut Wave) -> Result<Stop, Box<Trap>> {
        let is_partial = wave.exec() != u64::MAX;
        let stop = self.runner.run(wave)?;
        match stop {
            Stop::End => self.watched.count(self.runner.has_kept(), is_partial),
            Stop::Yield if wave.executed >= BUDGET => self.watched.cancel.store(true, Relaxed),
            _ => {}
        }
        Ok(stop)
    }

    fn has_kept(&self) -> bool {
        self.runner.has_kept()
    }

    fn run_alike(&mut self, alike: Alike<'_>) -> Ended {
        let ended = self.runner.run_alike(alike);
        let Watched { kept, together, apart, .. } = self.watched;
        kept.fetch_add(ended.waves as u64, Relaxed);
        together.fetch_add(ended.waves as u64, Relaxed);
        apart.fetch_add(u64::from(ended.waves == 0 && together.load(Relaxed) != 0), Relaxed);
        ended
    }
}

impl Bench {
    /// Runs a kernel with both engines.
    pub(super) fn check_kernel(&self, case: &Case, words: &[u32], placed: Vec<Placed>) -> Verdict {
        // Whether exceptions are kept is a matter of all code that there is.
        self.write_code(&[]);
        let kernel = match self.load(case, words) {
            Ok(kernel) => kernel,
            Err(error) => return Verdict::Impossible(error.to_string()),
        };
        let (counting, jit) = (Counting::new(kernel.entry(), &placed), Jit::new());
        let watched = Watched::new(&jit);
        let outcomes = self.launch(case, &kernel, &Watched::new(&counting)).and_then(|expected| {
            let got = self.launch(case, &kernel, &watched)?;
            Ok((expected, got))
        });
        let (expected, got) = match outcomes {
            Ok(outcomes) => outcomes,
            Err(error) => return Verdict::Impossible(error.to_string()),
        };
        let executed = counting.into_counts();
        if let End::Trap { trap: trap @ Trap::Unimplemented { pc, .. }, .. } = &got.end {
            return self.refusal(*pc, trap, &placed, &executed);
        }
        if expected.end == End::TooLong || got.end == End::TooLong {
            return Verdict::TooLong;
        }
        let text = self.difference(&got, &expected, Compared::Memory);
        if !text.is_empty() {
            return Verdict::Different(text);
        }
        let superblocks = Superblocks {
            kept: watched.kept.load(Relaxed),
            partial: watched.partial.load(Relaxed),
            given_up: watched.given_up.load(Relaxed),
            together: watched.together.load(Relaxed),
            apart: watched.apart.load(Relaxed),
        };
        Verdict::Same(Box::new(Run { outcome: expected, placed, executed, superblocks }))
    }

    /// The kernel in memory.
    fn load(&self, case: &Case, words: &[u32]) -> Result<Kernel, LoadError> {
        let mut raw = RawCode { lds: Space::Lds.size() as u32, ..RawCode::new(case.target) };
        let arguments = self.arguments(case);
        raw.sgprs = (0..).zip(arguments).map(|(index, value)| (index, UserSgpr::Constant(value))).collect();
        raw.sgprs.insert(ARGUMENTS as u8, UserSgpr::KernargPtr);
        let words = words.iter().copied().chain([super::END]);
        let mut image = raw.image(words.flat_map(u32::to_le_bytes).collect())?;
        for code in image.kernels.values_mut() {
            let code = Arc::make_mut(code);
            code.rsrc1 = with_mode(code.rsrc1, case.waves[0].wave.mode);
        }
        Loaded::new(image, &self.hardware.memory)?.kernel(RawCode::NAME)
    }

    fn arguments(&self, case: &Case) -> [u32; ARGUMENTS] {
        let wave = self.start(&case.waves[0]);
        std::array::from_fn(|index| wave.sgpr[index])
    }

    /// What the launches leave, until one does not end well.
    fn launch<E: Engine>(
        &self,
        case: &Case,
        kernel: &Kernel,
        engine: &Watched<'_, E>,
    ) -> Result<Outcome, DispatchError> {
        self.fill(&case.contents);
        let bytes = self.arguments(case).into_iter().flat_map(u32::to_le_bytes).collect();
        let kernarg = Kernarg { bytes, lds: Space::Lds.size() as u32, ..Kernarg::default() };
        let options = Options { threads: 1, slice: BUDGET, cancel: Some(&engine.cancel), ..Options::default() };
        let (mut end, mut executed) = (End::Ended, 0);
        for grid in &case.launches {
            let launch = Launch::new(kernel, Geometry::new(grid.items, grid.group), &kernarg);
            match dispatch(engine, &self.hardware, &launch, &options) {
                Ok(stats) => executed += stats.wave_instructions,
                Err(DispatchError::Fault(fault)) => end = self.stuck(*fault, grid, kernel.entry()),
                Err(DispatchError::Stopped(_)) => end = End::TooLong,
                Err(other) => return Err(other),
            }
            if end != End::Ended {
                executed = 0;
                break;
            }
        }
        Ok(Outcome { end, executed, waves: Vec::new(), contents: self.contents(), given: Vec::new() })
    }

    /// A fault as if the kernel were where other programs are.
    fn stuck(&self, fault: Fault, grid: &Grid, entry: u64) -> End {
        let groups: [u32; 3] = std::array::from_fn(|d| grid.items[d].div_ceil(grid.group[d]));
        let [x, y, z] = fault.group;
        let waves = grid.group.iter().product::<u32>().div_ceil(64);
        let wave = ((z * groups[1] + y) * groups[0] + x) * waves + fault.wave;
        let moved = |address: u64| match address.wrapping_sub(entry) {
            offset if offset < Space::Code.size() => self.code + offset,
            _ => address,
        };
        let trap = match fault.trap {
            Trap::Fault { cause, address, lane, pc } => {
                Trap::Fault { cause, address: moved(address), lane, pc: moved(pc) }
            }
            Trap::Unimplemented { op, pc, what } => Trap::Unimplemented { op, pc: moved(pc), what },
            Trap::Decode { error, pc } => Trap::Decode { error, pc: moved(pc) },
            other @ Trap::Host { .. } => other,
        };
        End::Trap { wave: wave as usize, trap }
    }
}

/// A descriptor's word that asks for this MODE: rounding, denormals, DX10_CLAMP and IEEE.
fn with_mode(rsrc1: Rsrc1, mode: Mode) -> Rsrc1 {
    const FLOAT: u32 = 0xff;
    let (dx10_clamp, ieee) = (mode.0 >> 8 & 1, mode.0 >> 9 & 1);
    let others = rsrc1.0 & !(FLOAT << 12 | 1 << 21 | 1 << 23);
    Rsrc1(others | (mode.0 & FLOAT) << 12 | dx10_clamp << 21 | ieee << 23)
}
