//! Both engines side by side, a piece of code at a time, until they disagree.
//!
//! [`run`] lets the interpreter execute a piece (an instruction, what one segment covers, or a basic block), undoes what
//! it did to memory, lets the translator execute the same piece from the same state, and compares: every register, every
//! byte that the interpreter wrote, and how the piece ended. If all is the same, the wave goes on from there. So the
//! first piece in which the engines differ is found, with the state before it.
//!
//! - Waves run on one thread in the order that a dispatch runs them, so barriers, atomics and races between waves have
//!   one outcome, and the translator sees the memory that the interpreter saw.
//! - A write of the translator alone shows in a comparison of all memory with [`shadow::Shadow`], which is made now and
//!   then; the launch is then repeated with such a comparison after each piece in question.
//! - What reads a clock is executed by the interpreter only, a piece of its own.
//! - A piece that differs is repeated from the state before it, instruction by instruction, to name the one at fault. If
//!   no single instruction differs, the fault is in how they were translated together.

pub mod report;
pub mod shadow;
pub mod writers;

pub use report::{Divergence, Outcome};

use crate::check::Snapshot;
use crate::error::Error;
use crate::launch::Prepared;
use gcnjit_interp::Stepper;
use gcnjit_interp::observe::Step;
use gcnjit_isa::{Fidelity, Inst, Op, Target};
use gcnjit_rt::{Engine, Env, Mode, Stop, Trap, View, Wave};
use gcnjit_translate::cfg::{self, GuestBlock};
use gcnjit_translate::{Machine, Single, single};
use shadow::{Shadow, Space, Span, Stray};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use writers::{MemoryWriters, Register, RegisterWriters, WaveId, Writer};

/// Most instructions in a piece.
const LONGEST: usize = 4096;
/// Bytes of memory whose comparison takes about as long as a piece.
const BYTES_A_PIECE: u64 = 16 << 10;

/// How much is executed between two comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// What the translator makes one loop over the lanes of.
    Segment,
    /// A basic block.
    #[default]
    Block,
    /// One instruction.
    Instruction,
}

/// What is held against the interpreter.
pub trait Candidate: Sync {
    /// A piece of code, ready to run.
    type Piece: Piece;

    /// Makes a piece ready for waves in `mode`.
    ///
    /// # Errors
    /// [`Trap::Unimplemented`] or [`Trap::Host`] if there is an instruction in it that the candidate does not have.
    fn translate(&self, guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Self::Piece, Box<Trap>>;
}

/// A piece of code of a [`Candidate`].
pub trait Piece: Send {
    /// Runs `wave`, which is at its start, once through it: `None` if the wave goes on at its PC.
    ///
    /// # Errors
    /// As [`Engine::run`].
    fn run(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Option<Stop>, Box<Trap>>;

    /// What it was made into, for people.
    fn listing(&self) -> String;

    /// The host's instructions, for people; empty if it has none to show.
    fn host_code(&self) -> String {
        String::new()
    }
}

/// The translator of this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Translator;

impl Candidate for Translator {
    type Piece = Single;

    fn translate(&self, guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Single, Box<Trap>> {
        Single::new(guest, machine, mode)
    }
}

impl Piece for Single {
    fn run(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Option<Stop>, Box<Trap>> {
        Single::run(self, wave, env)
    }

    fn listing(&self) -> String {
        self.lane_ir()
    }

    fn host_code(&self) -> String {
        Single::host_code(self)
    }
}

/// Runs a launch with the interpreter and the translator in lockstep. Memory is left as the interpreter leaves it, up to
/// the divergence if there is one.
///
/// ```
/// use gcnjit::lockstep::{self, Granularity, Outcome};
/// use gcnjit::{Device, Module};
///
/// # fn main() -> Result<(), gcnjit::Error> {
/// let device = Device::new()?;
/// let saxpy = Module::open(&device, "kernels/saxpy/saxpy.gfx803.co")?.kernel("saxpy")?;
/// let (x, y) = (device.buffer_from(&[3.0f32; 64])?, device.buffer_from(&[1.0f32; 64])?);
/// let launch = saxpy.launch().grid(64).block(64).arg(&x).arg(&y).arg(2.0f32).arg(64u32).prepare()?;
/// match lockstep::run(&launch, Granularity::Instruction)? {
///     Outcome::Same { counts, .. } => assert_eq!(counts.pieces, counts.instructions),
///     Outcome::Different(divergence) => panic!("{divergence}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`Prepared::run`], if both engines end in the same error; and what the translator refuses.
pub fn run(launch: &Prepared<'_>, granularity: Granularity) -> Result<Outcome, Error> {
    run_against(launch, granularity, &Translator)
}

/// The same with another executor in the translator's place.
///
/// # Errors
/// As [`run`].
pub fn run_against<C: Candidate>(
    launch: &Prepared<'_>,
    granularity: Granularity,
    candidate: &C,
) -> Result<Outcome, Error> {
    let device = launch.kernel().module().device();
    let before = Snapshot::take(device);
    let mut watch = 0..0;
    loop {
        let engine = Lockstep { granularity, candidate, watch: watch.clone(), state: Mutex::default() };
        let end = launch.run_with(&engine);
        let mut state = engine.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.finding.is_none() {
            state.check_memory(&device.memory().view());
        }
        match state.finding {
            None => return end.map(|stats| Outcome::Same { stats, counts: state.counts }),
            Some(Finding::Difference(raw)) => return Ok(Outcome::Different(Box::new(report::make(launch, *raw)))),
            // The second time it is not found once more: something outside of the launch wrote there.
            Some(Finding::Between(_, stray)) if !watch.is_empty() => {
                return Ok(Outcome::Different(Box::new(report::unlocated(launch, stray))));
            }
            Some(Finding::Between(pieces, _)) => watch = pieces,
        }
        before.restore(device);
    }
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pieces that both engines executed, to the same result.
    pub pieces: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Instructions that only the interpreter executed: those that read a clock.
    pub trusted: u64,
}

/// The executor that does it.
struct Lockstep<'c, C: Candidate> {
    granularity: Granularity,
    candidate: &'c C,
    /// The pieces after which all memory is compared.
    watch: Range<u64>,
    state: Mutex<State<C::Piece>>,
}

struct State<P> {
    shadow: Option<Shadow>,
    stepper: Stepper,
    pieces: HashMap<(u64, u32), Shared<P>>,
    leaders: BTreeSet<u64>,
    registers: HashMap<WaveId, RegisterWriters>,
    memory: MemoryWriters,
    counts: Counts,
    /// Pieces executed when all memory was as it had to be.
    checked: u64,
    finding: Option<Finding>,
}

impl<P> Default for State<P> {
    fn default() -> Self {
        State {
            shadow: None,
            stepper: Stepper::default(),
            pieces: HashMap::new(),
            leaders: BTreeSet::new(),
            registers: HashMap::new(),
            memory: MemoryWriters::default(),
            counts: Counts::default(),
            checked: 0,
            finding: None,
        }
    }
}

/// A piece that waves come to again.
type Shared<P> = Arc<Mutex<Code<P>>>;

/// A piece of guest code.
struct Code<P> {
    guest: GuestBlock,
    /// Nothing for what only the interpreter executes.
    piece: Option<P>,
}

enum Finding {
    Difference(Box<Raw>),
    /// Memory was changed in one of these pieces, by nobody who may.
    Between(Range<u64>, Stray),
}

/// A piece in which the engines differ.
pub(crate) struct Raw {
    pub wave: WaveId,
    /// Pieces that were the same before.
    pub pieces: u64,
    /// The piece.
    pub code: Vec<(u64, Inst)>,
    pub before: Box<Wave>,
    pub interp: Box<Wave>,
    pub candidate: Box<Wave>,
    /// How it ended.
    pub ends: [Result<Option<Stop>, Box<Trap>>; 2],
    /// Bytes that differ, those of the interpreter first.
    pub bytes: Vec<(Span, Vec<u8>, Vec<u8>)>,
    /// Who wrote what differs.
    pub writers: HashMap<Register, u64>,
    /// What the instruction read, if it is one: in the first lane that differs.
    pub sources: Vec<Register>,
    /// Who wrote that.
    pub source_writers: HashMap<Register, u64>,
    /// Who wrote each span's first byte that differs.
    pub memory_writers: Vec<Option<Writer>>,
    /// What the candidate made of it, and what the host runs.
    pub listing: String,
    /// See `listing`.
    pub host_code: String,
    /// The first instruction of it that differs when instructions are compared one by one.
    pub narrowed: Option<Box<Raw>>,
}

/// How a comparison went.
enum Compared {
    Same(Result<Option<Stop>, Box<Trap>>),
    Different(Box<Raw>),
}

impl<C: Candidate> Engine for Lockstep<'_, C> {
    type Worker = ();

    fn worker(&self) {}

    fn run(&self, (): &mut (), wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = wave.executed.saturating_add(env.slice);
        match &mut state.shadow {
            Some(shadow) => shadow.enter(env),
            none => *none = Some(Shadow::new(env)),
        }
        loop {
            if wave.executed >= limit || env.stop.load(Relaxed) {
                return Ok(Stop::Yield);
            }
            match self.piece(&mut state, wave, env)? {
                Compared::Same(end) => {
                    if let Some(stop) = end? {
                        return Ok(stop);
                    }
                }
                Compared::Different(raw) => state.finding = Some(Finding::Difference(raw)),
            }
            if state.finding.is_some() {
                env.stop.store(true, Relaxed);
                return Ok(Stop::Yield);
            }
        }
    }
}

impl<C: Candidate> Lockstep<'_, C> {
    /// Executes and compares the piece at the wave's PC.
    fn piece(&self, state: &mut State<C::Piece>, wave: &mut Wave, env: &Env<'_>) -> Result<Compared, Box<Trap>> {
        let code = self.code(state, wave, env)?;
        let mut code = code.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = self.watch.contains(&state.counts.pieces);
        let mut compared = state.compare(wave, env, &mut code, watched)?;
        if let Compared::Different(raw) = &mut compared
            && raw.code.len() > 1
        {
            raw.narrowed = self.narrow(state, raw, env)?;
        }
        let shadow = state.shadow.as_ref().expect("it is made before the first piece");
        if (state.counts.pieces - state.checked) * BYTES_A_PIECE >= shadow.size() as u64 {
            state.check_memory(env.memory);
        }
        Ok(compared)
    }

    /// The code at the wave's PC up to where the next comparison is to be, translated now or before.
    fn code(&self, state: &mut State<C::Piece>, wave: &Wave, env: &Env<'_>) -> Result<Shared<C::Piece>, Box<Trap>> {
        let key = (wave.pc, wave.mode.0);
        if let Some(code) = state.pieces.get(&key) {
            return Ok(code.clone());
        }
        let code = self.translate(self.guest(state, wave, env)?, Machine::of(env), wave.mode)?;
        Ok(state.pieces.entry(key).or_insert(Arc::new(Mutex::new(code))).clone())
    }

    fn translate(&self, guest: GuestBlock, machine: Machine, mode: Mode) -> Result<Code<C::Piece>, Box<Trap>> {
        let trusted = reads_clock(&guest.instructions[0].1);
        let piece = if trusted { None } else { Some(self.candidate.translate(&guest, machine, mode)?) };
        Ok(Code { guest, piece })
    }

    fn guest(&self, state: &mut State<C::Piece>, wave: &Wave, env: &Env<'_>) -> Result<GuestBlock, Box<Trap>> {
        let most = if self.granularity == Granularity::Instruction { 1 } else { LONGEST };
        let mut guest = single::straight_run(env.memory, Machine::of(env), wave.pc, most)?;
        if most == 1 {
            return Ok(guest);
        }
        // A block of the translator ends where another begins.
        if !state.leaders.contains(&wave.pc) {
            state.leaders.extend(
                cfg::blocks(env.memory, Machine::of(env), wave.pc, &BTreeSet::new())?.iter().map(GuestBlock::start),
            );
        }
        let ends = |(pc, inst): &(u64, Inst)| reads_clock(inst) || state.leaders.contains(pc);
        if reads_clock(&guest.instructions[0].1) {
            guest.instructions.truncate(1);
        } else if let Some(end) = guest.instructions[1..].iter().position(ends) {
            guest.instructions.truncate(end + 1);
        }
        if self.granularity == Granularity::Segment && guest.instructions.len() > 1 {
            let count = single::first_segment(&guest, Machine::of(env), wave.mode)?;
            guest.instructions.truncate(count);
        }
        Ok(guest)
    }

    /// Goes through a piece that differs again, instruction by instruction, from the state before it.
    fn narrow(&self, state: &mut State<C::Piece>, raw: &Raw, env: &Env<'_>) -> Result<Option<Box<Raw>>, Box<Trap>> {
        let mut wave = raw.before.clone();
        for (pc, inst) in &raw.code {
            let guest = GuestBlock { instructions: vec![(*pc, *inst)] };
            let mut code = self.translate(guest, Machine::of(env), wave.mode)?;
            match state.compare(&mut wave, env, &mut code, true)? {
                Compared::Same(Ok(None)) => {}
                Compared::Same(_) => return Ok(None),
                Compared::Different(raw) => return Ok(Some(raw)),
            }
        }
        Ok(None)
    }
}

/// Whether both engines have to get another value.
fn reads_clock(inst: &Inst) -> bool {
    matches!(inst.op, Op::Smem(_)) && inst.op.info().fidelity() == Fidelity::HostDefined
}

impl<P: Piece> State<P> {
    /// Executes a piece with both, and if they agree takes over what they did.
    fn compare(
        &mut self,
        wave: &mut Wave,
        env: &Env<'_>,
        code: &mut Code<P>,
        watched: bool,
    ) -> Result<Compared, Box<Trap>> {
        let id = (wave.group, wave.index);
        let mut interp = Box::new(wave.clone());
        let (steps, end) = self.interpret(&mut interp, env, code.guest.instructions.len());
        let shadow = self.shadow.as_mut().expect("it is made before the first piece");
        let spans = shadow.written(steps.iter().flat_map(|step| &step.touches));
        let written: Vec<Vec<u8>> = spans.iter().map(|span| shadow::read(env, *span)).collect();
        let Some(piece) = &mut code.piece else {
            self.settle(id, &steps, &spans, &written, |_| None);
            self.counts.trusted += 1;
            *wave = *interp;
            return Ok(Compared::Same(end));
        };
        shadow.restore(env, &spans);
        let mut candidate = Box::new(wave.clone());
        let other_end = piece.run(&mut candidate, env);
        if other_end == Ok(Some(Stop::End)) {
            // Nobody asks where a wave that ended is.
            candidate.pc = interp.pc;
        }
        let mut bytes = differing_bytes(env, &spans, &written);
        if end == other_end && bytes.is_empty() && same_state(&interp, &candidate, end.is_err()) {
            let Some(stray) = self.settle(id, &steps, &spans, &written, |shadow| stray(shadow, env, &steps, watched))
            else {
                self.counts.pieces += 1;
                self.counts.instructions += steps.len() as u64;
                *wave = *interp;
                return Ok(Compared::Same(end));
            };
            bytes.push((stray.span, stray.expected, stray.found));
        }
        self.shadow.as_ref().expect("it was there above").restore_all(env);
        let found = Found { id, steps, bytes, before: wave.clone(), interp, candidate, ends: [end, other_end] };
        Ok(Compared::Different(Box::new(self.raw(found, code, env.target))))
    }

    /// Executes up to `count` instructions with the interpreter.
    fn interpret(
        &mut self,
        wave: &mut Wave,
        env: &Env<'_>,
        count: usize,
    ) -> (Vec<Step>, Result<Option<Stop>, Box<Trap>>) {
        let mut steps = Vec::with_capacity(count);
        for _ in 0..count {
            match self.stepper.step(wave, env) {
                Ok(step) => steps.push(step),
                Err(trap) => return (steps, Err(trap)),
            }
        }
        let stop = steps.last().and_then(|step| step.stop);
        (steps, Ok(stop))
    }

    /// What was written has to stay, and has its writers; unless `stray` finds that more has changed: then
    /// the piece counts as not executed.
    fn settle(
        &mut self,
        id: WaveId,
        steps: &[Step],
        spans: &[Span],
        written: &[Vec<u8>],
        stray: impl FnOnce(&Shadow) -> Option<Stray>,
    ) -> Option<Stray> {
        let shadow = self.shadow.as_mut().expect("it is made before the first piece");
        let old: Vec<Vec<u8>> = spans.iter().map(|span| shadow.bytes(*span).to_vec()).collect();
        spans.iter().zip(written).for_each(|(span, bytes)| shadow.set(*span, bytes));
        if let Some(stray) = stray(shadow) {
            spans.iter().zip(&old).for_each(|(span, bytes)| shadow.set(*span, bytes));
            return Some(stray);
        }
        let registers = self.registers.entry(id).or_default();
        for step in steps {
            registers.record(step);
            let writer = Writer { pc: step.pc, wave: id };
            shadow.written(&step.touches).into_iter().for_each(|span| self.memory.record(span, writer));
        }
        // What ended needs no record any more; the wave's place may be another's in the next launch.
        if steps.last().is_some_and(|step| step.stop == Some(Stop::End)) {
            self.registers.remove(&id);
        }
        None
    }

    /// Compares all memory.
    fn check_memory(&mut self, view: &View) {
        let Some(shadow) = &self.shadow else { return };
        if let Some(stray) = shadow.stray_in_memory(view)
            && self.finding.is_none()
        {
            self.finding = Some(Finding::Between(self.checked..self.counts.pieces, stray));
        }
        self.checked = self.counts.pieces;
    }

    /// Everything that is known of a difference.
    fn raw(&mut self, found: Found, code: &Code<P>, target: Target) -> Raw {
        let Found { id, steps, bytes, before, interp, candidate, ends } = found;
        let before = Box::new(before);
        let registers = self.registers.entry(id).or_default();
        let in_piece = |register| steps.iter().rev().find(|step| writers::writes(step, register)).map(|step| step.pc);
        let last = |register| in_piece(register).or_else(|| registers.of(register));
        let differing = report::differing(&interp, &candidate).into_iter();
        let writers = differing.filter_map(|register| Some((register, last(register)?))).collect();
        let sources = match &code.guest.instructions[..] {
            [(_, inst)] => {
                let effective = steps.first().map_or(*inst, |step| step.effective);
                report::sources(&effective, target, &before, &interp, &candidate)
            }
            _ => Vec::new(),
        };
        let source_writers =
            sources.iter().filter_map(|register| Some((*register, registers.of(*register)?))).collect();
        let shadow = self.shadow.as_ref().expect("it is made before the first piece");
        let writer_of = |span: &Span, at: u64| {
            let wrote = |step: &&Step| {
                shadow
                    .written(&step.touches)
                    .iter()
                    .any(|s| s.space == span.space && (s.start..s.start + s.len as u64).contains(&at))
            };
            let here = steps.iter().rev().find(wrote).map(|step| Writer { pc: step.pc, wave: id });
            here.or_else(|| self.memory.of(span.space, at, id))
        };
        let memory_writers = bytes.iter().map(|(span, a, b)| {
            let first = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
            writer_of(span, span.start + first as u64)
        });
        Raw {
            wave: id,
            pieces: self.counts.pieces,
            code: code.guest.instructions.clone(),
            writers,
            sources,
            source_writers,
            memory_writers: memory_writers.collect(),
            bytes,
            before,
            interp,
            candidate,
            ends,
            listing: code.piece.as_ref().map(Piece::listing).unwrap_or_default(),
            host_code: code.piece.as_ref().map(Piece::host_code).unwrap_or_default(),
            narrowed: None,
        }
    }
}

/// The parts of a difference, before anything is said about it.
struct Found {
    id: WaveId,
    steps: Vec<Step>,
    bytes: Vec<(Span, Vec<u8>, Vec<u8>)>,
    before: Wave,
    interp: Box<Wave>,
    candidate: Box<Wave>,
    ends: [Result<Option<Stop>, Box<Trap>>; 2],
}

/// Bytes that have changed though nobody was to write them: in the data shares, after a piece that reaches them, and in
/// guest memory if that is `watched`.
fn stray(shadow: &Shadow, env: &Env<'_>, steps: &[Step], watched: bool) -> Option<Stray> {
    let lds = steps.iter().any(|step| matches!(step.inst.op, Op::Ds(_) | Op::Flat(_) | Op::Mubuf(_)));
    let gds = steps.iter().any(|step| matches!(step.inst.op, Op::Ds(_)));
    let in_lds = if lds { shadow.stray_in_share(env, Space::Lds) } else { None };
    let in_gds = || if gds { shadow.stray_in_share(env, Space::Gds) } else { None };
    let in_memory = || if watched { shadow.stray_in_memory(env.memory) } else { None };
    in_lds.or_else(in_gds).or_else(in_memory)
}

/// The spans in which memory is not what the interpreter had made of it.
fn differing_bytes(env: &Env<'_>, spans: &[Span], written: &[Vec<u8>]) -> Vec<(Span, Vec<u8>, Vec<u8>)> {
    let pairs = spans.iter().zip(written).map(|(span, expected)| (*span, expected.clone(), shadow::read(env, *span)));
    pairs.filter(|(_, expected, found)| expected != found).collect()
}

/// Whether two waves are alike. Of one that got stuck only what [`Engine::run`] promises counts.
fn same_state(a: &Wave, b: &Wave, stuck: bool) -> bool {
    let states = [a, b].map(|wave| (wave.scc, wave.mode, wave.trapsts, wave.executed));
    let scalars = a.sgpr == b.sgpr && states[0] == states[1];
    a.vgpr == b.vgpr && a.pc == b.pc && (stuck || scalars)
}
