//! Random valid programs, drawn from the instruction table, and the states they start from.
//!
//! [`Generator::program`] makes programs as kernels are, with control flow and memory; [`Generator::probes`] puts
//! given rows and features one behind the other, [`Generator::kernel`] makes kernels that are launched. What a seed gives is the same in every process.

mod flow;
mod kernel;
mod rows;
mod statement;

pub use kernel::FAMILIES as KERNEL_FAMILIES;
pub use rows::Rows;
pub use statement::{is_control, is_executed};

use crate::aim::{fill, flat_scratch};
use crate::case::{Case, Contents, Grid, Start};
use crate::feature::Feature;
use crate::program::{Item, Label, Program, renumber};
use crate::random::Random;
use gcnjit_isa::{Encoding, Gen, Op, Operand, Target};
use gcnjit_rt::{Mode, Wave, wave::reg};
use statement::{Free, TRAPSTS, ops, scalar};

/// Most statements in a row.
const BODY: u64 = 7;
/// VGPRs that begin with something other than zero.
const FILLED_VGPRS: usize = 72;

/// One thing that a probe shows: a row in an encoding, with a feature.
pub type Probe = (Op, Encoding, Option<Feature>);

/// A case in the making.
pub struct Generator<'a> {
    random: &'a mut Random,
    target: Target,
    waves: Vec<Start>,
    /// Of a kernel.
    launches: Vec<Grid>,
    program: Program,
    /// What is behind the program's end.
    functions: Program,
    rows: Option<&'a Rows>,
    free: Free,
    labels: Label,
    depth: usize,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, target: Target, waves: usize) -> Generator<'a> {
        let first = random_wave(random, target.generation());
        let mut starts = vec![first];
        while starts.len() < waves {
            // Waves of a work-group have the same MODE, and differ in everything else.
            let mut start = random_wave(random, target.generation());
            start.wave.mode = starts[0].wave.mode;
            start.wave.index = starts.len() as u32;
            starts.push(start);
        }
        Generator::of(random, target, starts)
    }

    /// Nothing yet, for waves that begin so.
    fn of(random: &'a mut Random, target: Target, waves: Vec<Start>) -> Generator<'a> {
        Generator {
            random,
            target,
            waves,
            launches: Vec::new(),
            program: Vec::new(),
            functions: Vec::new(),
            rows: None,
            free: Free::default(),
            labels: 0,
            depth: 0,
        }
    }

    /// A program of the rows: statements, branches, loops, calls, memory, several waves and barriers.
    pub fn program(random: &'a mut Random, rows: &'a Rows) -> Case {
        let waves = if random.once_in(4) { 2 + random.below(2) as usize } else { 1 };
        let mut generator = Generator::new(random, rows.target, waves);
        generator.rows = Some(rows);
        for _ in 0..1 + generator.random.below(3) {
            generator.body();
            if waves > 1 {
                generator.control(Op::Sopp(gcnjit_isa::Sopp::s_barrier));
            }
        }
        generator.finish()
    }

    /// The probes in a row, under `mode` if one is given. Those that no instruction shows are left out.
    pub fn probes(random: &'a mut Random, target: Target, mode: Option<Mode>, probes: &[Probe]) -> Case {
        let mut generator = Generator::new(random, target, 1);
        for start in &mut generator.waves {
            start.wave.mode = mode.unwrap_or(start.wave.mode);
            let exec = start.wave.exec();
            start.wave.set_exec(if exec == 0 { u64::MAX } else { exec });
        }
        for (op, encoding, feature) in probes {
            generator.probe(*op, *encoding, *feature);
        }
        generator.finish()
    }

    fn probe(&mut self, op: Op, encoding: Encoding, feature: Option<Feature>) {
        let ends = is_control(op) && op.info().srcs.iter().all(|ty| *ty == gcnjit_isa::Ty::simm16);
        match feature {
            None if ends && op != Op::Sopp(gcnjit_isa::Sopp::s_barrier) => self.push_ending(op),
            None if is_control(op) => self.control(op),
            _ => {
                if let Some(inst) = self.instruction(op, encoding, feature) {
                    self.push_statement(inst);
                }
            }
        }
    }

    /// A few statements and constructs.
    fn body(&mut self) {
        let Some(rows) = self.rows else { return };
        self.depth += 1;
        for _ in 0..1 + self.random.below(BODY) {
            if self.depth <= flow::DEPTH && self.random.once_in(8) {
                self.construct();
                continue;
            }
            let (op, encoding) = rows.draw(self.random);
            if is_control(op) {
                if self.depth <= flow::DEPTH && self.random.once_in(2) {
                    self.control(op);
                }
            } else if let Some(inst) = self.instruction(op, encoding, None) {
                self.push_statement(inst);
            }
        }
        self.depth -= 1;
    }

    fn finish(mut self) -> Case {
        let end = self.program.len();
        if !self.functions.is_empty() {
            self.push_scalar(ops::END, [Operand::None; 2], [Operand::Imm(0), Operand::None]);
            let functions = std::mem::take(&mut self.functions);
            self.program.extend(functions);
        }
        renumber(&mut self.program);
        let mut contents = Contents::default();
        let mut values = Values::new(self.random);
        fill(&mut contents, || values.next(self.random));
        let rarely = if self.launches.is_empty() { 4 } else { 24 };
        if self.random.once_in(rarely) {
            // Exceptions are kept where some instruction names TRAPSTS, whether it is executed or not.
            let inst = scalar(ops::GETREG, [Operand::Sgpr(0), Operand::None], [TRAPSTS, Operand::None], self.target);
            self.program.insert(end, Item::Inst(inst));
        }
        Case { target: self.target, program: self.program, waves: self.waves, launches: self.launches, contents }
    }
}

/// Where dwords come from: any interesting ones, or a few, so that comparisons hit.
struct Values {
    few: Option<[u32; 5]>,
}

impl Values {
    fn new(random: &mut Random) -> Values {
        let palette = std::array::from_fn(|_| random.dword());
        Values { few: random.once_in(2).then_some(palette) }
    }

    fn next(&mut self, random: &mut Random) -> u32 {
        match &self.few {
            Some(palette) => random.pick(palette),
            None => random.dword(),
        }
    }
}

fn random_wave(random: &mut Random, generation: Gen) -> Start {
    let mut wave = Wave::new();
    let mut values = Values::new(random);
    wave.vgpr[..FILLED_VGPRS].iter_mut().flatten().for_each(|lane| *lane = values.next(random));
    wave.sgpr.iter_mut().for_each(|sgpr| *sgpr = values.next(random));
    let exec = random.mask();
    wave.set_exec(exec);
    let vcc = random.mask();
    wave.set_sgpr64(reg::VCC, vcc);
    wave.sgpr[reg::M0] = random.below(64) as u32;
    wave.scc = random.below(2) as u32;
    wave.mode = random_mode(random);
    if wave.mode.gpr_index() {
        wave.sgpr[reg::M0] = random.next() as u32;
    }
    let mut start = Start { wave, pointers: Vec::new() };
    flat_scratch(&mut start, generation);
    start
}

/// Any float mode, nearest-even more often than not; now and then VGPRs indexed by M0, or nothing done at all.
fn random_mode(random: &mut Random) -> Mode {
    let round = if random.once_in(2) { 0 } else { random.below(16) };
    let mut mode = Mode((round | random.below(64) << 4) as u32);
    mode = mode.with_csp(random.below(6) as u32);
    match random.below(96) {
        0 => mode.0 |= Mode::VSKIP,
        1..=6 => mode.0 |= Mode::GPR_INDEX,
        _ => {}
    }
    mode
}
