//! Runs cases: each engine on the same machine, put back in between, and what differs afterwards.

mod kernel;

use crate::case::{Case, Contents, Pointer, READ_ONLY, Register, Space, Start};
use crate::counting::{Counting, Counts};
use crate::program::{Placed, place};
use gcnjit_interp::Interpreter;
use gcnjit_rt::export::{Given, Recorder, Sink};
use gcnjit_rt::image::BorderColors;
use gcnjit_rt::memory::Piece;
use gcnjit_rt::order::Order;
use gcnjit_rt::wave::{LANES, reg};
use gcnjit_rt::{Cause, Engine, Env, Hardware, Memory, MemoryError, Stop, Trap, View, Wave, lds::Lds};
use gcnjit_translate::libcall::{mxcsr, set_mxcsr};
use gcnjit_translate::{Jit, fenv};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

pub use kernel::Superblocks;

/// Instructions that a wave may execute before the case counts as one that does not end.
const BUDGET: u64 = 20_000;
/// s_endpgm, the same on all targets: what is behind a program.
const END: u32 = 0xbf81_0000;

/// The machine around the waves. One belongs to one thread.
pub struct Bench {
    hardware: Hardware,
    /// Addresses of the first four memories.
    starts: [u64; 4],
    code: u64,
    lds: Lds,
    stop: AtomicBool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All waves executed s_endpgm.
    Ended,
    /// A wave got stuck.
    Trap {
        /// Which: of a kernel, its number in the launch.
        wave: usize,
        /// Why.
        trap: Trap,
    },
    /// A wave did not end in time, which says nothing.
    TooLong,
}

/// What a run left.
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Instructions that waves executed, if none got stuck.
    pub executed: u64,
    /// The waves' registers, unless it is a kernel.
    pub waves: Vec<Box<Wave>>,
    /// What memory holds.
    pub contents: Contents,
    /// What the waves gave away, in order.
    pub given: Vec<Given>,
}

/// What came of running a case on both engines.
pub enum Verdict {
    /// They agree.
    Same(Box<Run>),
    /// They don't: what differs, as text.
    Different(String),
    /// The translator, and the interpreter if it got there, refuse the program for its item of this index.
    Refused(usize),
    /// It can't be placed: the item of this index has no words.
    Misplaced(usize),
    /// It is a kernel that can't be launched like this.
    Impossible(String),
    /// It did not end in time.
    TooLong,
}

/// A case that both engines ran alike.
pub struct Run {
    /// What was left.
    pub outcome: Outcome,
    /// The program as it was placed.
    pub placed: Vec<Placed>,
    /// How often each of its instructions, by its place in `placed`, was executed under a MODE, by all waves.
    pub executed: Counts,
    /// If it is a kernel: what its waves did in superblocks.
    pub superblocks: Superblocks,
}

/// What is compared beside how the waves ended, memory, and what was given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// All registers.
    Registers,
    /// The VGPRs of a wave that got stuck.
    Stuck,
    /// Nothing.
    Memory,
}

/// How the host's floats are rounded and flushed.
fn float_environment() -> u32 {
    mxcsr() & !fenv::FLAGS
}

impl Bench {
    /// A machine with the memories of [`Space`].
    ///
    /// # Errors
    /// If the host has no memory for them.
    pub fn new() -> Result<Bench, MemoryError> {
        let memory = Memory::with_arena(1 << 24)?;
        // Programs can't write it, or else the interpreter would see at once what the translator need not.
        let code = Piece { executable: true, ..Piece::constant(0, Space::Code.size()) };
        let code = memory.alloc_pieces(code.len, &[code])?;
        let len = Space::C.size();
        let mixed = [Piece::data(0, len), Piece::constant(len, READ_ONLY)];
        let starts = [
            memory.alloc(Space::A.size())?,
            memory.alloc(Space::B.size())?,
            memory.alloc_pieces(len + READ_ONLY, &mixed)?,
            memory.alloc(Space::Scratch.size())?,
        ];
        let (hardware, lds) = (Hardware::with_memory(memory), Lds::new(Space::Lds.size() as u32));
        Ok(Bench { hardware, starts, code, lds, stop: AtomicBool::new(false) })
    }

    /// Runs the case with both engines.
    pub fn check(&self, case: &Case) -> Verdict {
        let before = float_environment();
        match self.compared(case) {
            Verdict::Same(_) if float_environment() != before => {
                let text = format!("MXCSR of the host is {:#x}, it was {before:#x}\n", float_environment());
                set_mxcsr(before);
                Verdict::Different(text)
            }
            verdict => verdict,
        }
    }

    fn compared(&self, case: &Case) -> Verdict {
        let (words, placed) = match place(&case.program, case.target) {
            Ok(program) => program,
            Err(item) => return Verdict::Misplaced(item),
        };
        if !case.launches.is_empty() {
            return self.check_kernel(case, &words, placed);
        }
        if !self.write_code(&words) {
            return Verdict::Misplaced(case.program.len().saturating_sub(1));
        }
        let counting = Counting::new(self.code, &placed);
        let view = self.hardware.memory.view();
        let expected = self.run(case, &counting, &mut counting.worker(), &view);
        let executed = counting.into_counts();
        let jit = Jit::new().keeping_registers();
        let mut jit_worker = jit.worker();
        let got = self.run(case, &jit, &mut jit_worker, &view);
        if let End::Trap { trap: trap @ Trap::Unimplemented { pc, .. }, .. } = &got.end {
            return self.refusal(*pc, trap, &placed, &executed);
        }
        if expected.end == End::TooLong || got.end == End::TooLong {
            return Verdict::TooLong;
        }
        let mut text = self.difference(&got, &expected, Compared::Registers);
        if text.is_empty() {
            // Accesses go other ways when they know where they went last.
            let again = self.run(case, &jit, &mut jit_worker, &view);
            text = self.difference(&again, &expected, Compared::Registers);
        }
        if text.is_empty() {
            // More of the code is dead if nobody looks at the registers of waves that have ended.
            let jit = Jit::new();
            let mut worker = jit.worker();
            let got = self.run(case, &jit, &mut worker, &view);
            text = self.difference(&got, &expected, Compared::Stuck);
            let spoilt = self.run_spoilt(case, &jit, &mut worker, &view);
            text.push_str(&self.difference(&spoilt, &expected, Compared::Memory));
        }
        match text.is_empty() {
            true => {
                let superblocks = Superblocks::default();
                Verdict::Same(Box::new(Run { outcome: expected, placed, executed, superblocks }))
            }
            false => Verdict::Different(text),
        }
    }

    /// Runs the case with the interpreter alone.
    ///
    /// # Errors
    /// The item that can't be placed.
    pub fn interpret(&self, case: &Case) -> Result<Outcome, usize> {
        let (words, _) = place(&case.program, case.target)?;
        if !self.write_code(&words) {
            return Err(case.program.len().saturating_sub(1));
        }
        Ok(self.run(case, &Interpreter, &mut Interpreter.worker(), &self.hardware.memory.view()))
    }

    /// The translator refuses a program before it runs. The interpreter must not have executed the instruction.
    fn refusal(&self, pc: u64, trap: &Trap, placed: &[Placed], counts: &Counts) -> Verdict {
        let at = placed.iter().position(|placed| self.code + placed.offset == pc);
        match at {
            Some(index) if counts.keys().all(|(executed, _)| *executed != index) => {
                Verdict::Refused(placed[index].item)
            }
            _ => Verdict::Different(format!("only the interpreter runs it: {trap}\n")),
        }
    }

    /// Writes the program, and s_endpgm behind it. False if there is no room.
    fn write_code(&self, words: &[u32]) -> bool {
        let room = Space::Code.size() as usize / 4;
        let all = words.iter().copied().chain(std::iter::repeat(END)).take(room);
        let bytes: Vec<u8> = all.flat_map(u32::to_le_bytes).collect();
        words.len() < room && self.hardware.memory.initialise(self.code, 0, &bytes).is_ok()
    }

    /// Where a memory is; those without addresses are at 0.
    pub fn address(&self, space: Space) -> u64 {
        match space {
            Space::Code => self.code,
            Space::Lds | Space::Gds => 0,
            _ => self.starts[space as usize],
        }
    }

    fn run<E: Engine>(&self, case: &Case, engine: &E, worker: &mut E::Worker, view: &View) -> Outcome {
        self.run_from(case, engine, worker, view, |_, _, _| ())
    }

    /// The same, but for registers that the engine says are not read before they are written: they start with noise.
    fn run_spoilt<E: Engine>(&self, case: &Case, engine: &E, worker: &mut E::Worker, view: &View) -> Outcome {
        self.run_from(case, engine, worker, view, |worker, wave, env| {
            let read = engine.read_first(worker, wave, env);
            let noise =
                |register: u8, lane: usize| 0x9e37_79b9_u32.wrapping_mul(lane as u32 * 256 + u32::from(register));
            for (register, row) in (0..=255).zip(&mut wave.vgpr).filter(|(register, _)| !read.has_vgpr(*register)) {
                *row = std::array::from_fn(|lane| noise(register, lane));
            }
            let scalars = (0..reg::EXEC as u8).zip(&mut wave.sgpr);
            for (register, value) in scalars.filter(|(register, _)| !read.has_sgpr(*register)) {
                *value = noise(register, LANES);
            }
        })
    }

    fn run_from<E: Engine>(
        &self,
        case: &Case,
        engine: &E,
        worker: &mut E::Worker,
        view: &View,
        change: impl Fn(&mut E::Worker, &mut Wave, &Env<'_>),
    ) -> Outcome {
        self.fill(&case.contents);
        let scratch = self.address(Space::Scratch);
        let Bench { hardware: Hardware { gds, .. }, lds, stop, .. } = self;
        let (order, recorder) = (Order::new(), Recorder::default());
        let exports: Option<&dyn Sink> = Some(&recorder);
        // Entries beyond the memory are not mapped.
        let border_colors = BorderColors::at(self.address(Space::A));
        let (exceptions, slice) = (view.names_trapsts(), BUDGET);
        let bare = Env::bare(case.target, view, lds, (gds, &order, stop));
        let env = Env { scratch, exceptions, border_colors, exports, slice, ..bare };
        let mut waves: Vec<Box<Wave>> = case.waves.iter().map(|start| self.start(start)).collect();
        waves.iter_mut().for_each(|wave| change(worker, wave, &env));
        let end = run_group(engine, worker, &env, &mut waves);
        // Those of a wave that got stuck are not counted to the instruction.
        let executed = if end == End::Ended { waves.iter().map(|wave| wave.executed).sum() } else { 0 };
        Outcome { end, executed, waves, contents: self.contents(), given: recorder.into_inner() }
    }

    /// Puts everything into memory that is there in the beginning.
    fn fill(&self, contents: &Contents) {
        for space in Space::ALL {
            let bytes = contents.of(space);
            match space {
                Space::Lds => self.lds.write(0, bytes),
                Space::Gds => self.hardware.gds.write(0, bytes),
                _ => {
                    self.hardware.memory.write(self.address(space), bytes).expect("memories with contents are writable")
                }
            }
        }
    }

    fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        for space in Space::ALL {
            let bytes = contents.of_mut(space);
            match space {
                Space::Lds => self.lds.read(0, bytes),
                Space::Gds => self.hardware.gds.read(0, bytes),
                _ => self.hardware.memory.read(self.address(space), bytes).expect("memories with contents are mapped"),
            }
        }
        contents
    }

    fn start(&self, start: &Start) -> Box<Wave> {
        let mut wave = start.wave.clone();
        wave.pc = self.code;
        for Pointer { at, lanes, to } in &start.pointers {
            let base = self.address(*to);
            match *at {
                Register::Sgpr(index) | Register::Resource(index) => {
                    let base = if matches!(at, Register::Resource(_)) { base / 256 } else { base };
                    let index = usize::from(index);
                    let value = wave.sgpr64(index);
                    wave.set_sgpr64(index, value.wrapping_add(base));
                }
                Register::Vgpr(index) => {
                    for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
                        let [low, high] = [index, index.wrapping_add(1)].map(usize::from);
                        let value = u64::from(wave.vgpr[low][lane]) | u64::from(wave.vgpr[high][lane]) << 32;
                        let value = value.wrapping_add(base);
                        (wave.vgpr[low][lane], wave.vgpr[high][lane]) = (value as u32, (value >> 32) as u32);
                    }
                }
            }
        }
        wave
    }

    /// What differs, a line each; at most a few of a kind.
    fn difference(&self, got: &Outcome, expected: &Outcome, compared: Compared) -> String {
        let mut text = String::new();
        if got.end != expected.end {
            let [jit, interp] = [got, expected].map(|outcome| self.end_text(&outcome.end));
            let _ = writeln!(text, "end: jit {jit}, interp {interp}");
        }
        if got.executed != expected.executed {
            let _ = writeln!(text, "executed: jit {}, interp {}", got.executed, expected.executed);
        }
        let (alone, expected_end) = (got.waves.len() == 1, &expected.end);
        let ended = *expected_end == End::Ended;
        for (index, (got, expected)) in got.waves.iter().zip(&expected.waves).enumerate() {
            let name = if alone { String::new() } else { format!("wave {index} ") };
            let stuck = matches!(expected_end, End::Trap { wave, .. } if *wave == index);
            let registers = compared == Compared::Registers;
            if registers || stuck && compared == Compared::Stuck {
                vector_difference(&mut text, &name, got, expected);
            }
            // A wave that gets stuck may have old values in scalars that it would not have read any more.
            if registers && ended {
                scalar_difference(&mut text, &name, got, expected);
            }
        }
        given_difference(&mut text, &got.given, &expected.given);
        for space in Space::ALL {
            let (got, expected) = (got.contents.of(space), expected.contents.of(space));
            for at in (0..got.len()).filter(|at| got[*at] != expected[*at]).take(4) {
                let name = space.name();
                let _ = writeln!(text, "{name}[{at:#x}]: jit {:#04x} interp {:#04x}", got[at], expected[at]);
            }
        }
        text
    }

    /// How a run ended, with places in the program and in memories instead of addresses.
    pub fn end_text(&self, end: &End) -> String {
        match end {
            End::Ended => "ended".to_owned(),
            End::TooLong => "did not end".to_owned(),
            End::Trap { wave, trap: Trap::Fault { cause, address, lane, pc } } => {
                let (place, pc) = (self.place_text(*address), pc.wrapping_sub(self.code));
                format!("fault {} at {place} lane {lane} wave {wave} pc {pc:#x}", cause_name(*cause))
            }
            End::Trap { wave, trap } => format!("trap in wave {wave}: {trap}"),
        }
    }

    /// An address as a place near one of the memories, or as a number.
    fn place_text(&self, address: u64) -> String {
        let spaces = [Space::A, Space::B, Space::C, Space::Scratch, Space::Code];
        let near = |space: &Space| {
            let distance = address.wrapping_sub(self.address(*space)).cast_signed();
            (-4096..(space.size() + 4096) as i64).contains(&distance).then_some((*space, distance))
        };
        // The memory itself if it is in one, otherwise the first that is near.
        let inside = |space: &Space| address.wrapping_sub(self.address(*space)) < space.size();
        let space = spaces.iter().find(|space| inside(space)).or(spaces.iter().find(|space| near(space).is_some()));
        match space.and_then(near) {
            Some((space, distance)) if distance < 0 => format!("&{}-{:#x}", space.name(), -distance),
            Some((space, distance)) => format!("&{}+{distance:#x}", space.name()),
            None => format!("{address:#x}"),
        }
    }
}

/// The first export or message that differs.
fn given_difference(text: &mut String, got: &[Given], expected: &[Given]) {
    let most = got.len().max(expected.len());
    if let Some(at) = (0..most).find(|at| got.get(*at) != expected.get(*at)) {
        let _ = writeln!(text, "given {at}: jit {:x?}", got.get(at));
        let _ = writeln!(text, "given {at}: interp {:x?}", expected.get(at));
    }
}

/// The VGPRs in which a wave differs.
fn vector_difference(text: &mut String, name: &str, got: &Wave, expected: &Wave) {
    let vgprs = got.vgpr.iter().zip(&expected.vgpr).enumerate();
    for (register, (got, expected)) in vgprs.filter(|(_, (got, expected))| got != expected).take(8) {
        for lane in (0..64).filter(|lane| got[*lane] != expected[*lane]).take(3) {
            let (got, expected) = (got[lane], expected[lane]);
            let _ = writeln!(text, "{name}v{register}[{lane}]: jit {got:#010x} interp {expected:#010x}");
        }
    }
}

/// The scalars in which a wave differs. A program counter after s_endpgm means nothing; one before a trap is in that.
fn scalar_difference(text: &mut String, name: &str, got: &Wave, expected: &Wave) {
    for (register, (got, expected)) in got.sgpr.iter().zip(&expected.sgpr).enumerate() {
        if got != expected {
            let _ = writeln!(text, "{name}s{register}: jit {got:#010x} interp {expected:#010x}");
        }
    }
    let scalars = [
        ("scc", got.scc, expected.scc),
        ("mode", got.mode.0, expected.mode.0),
        ("trapsts", got.trapsts, expected.trapsts),
    ];
    for (register, got, expected) in scalars {
        if got != expected {
            let _ = writeln!(text, "{name}{register}: jit {got:#x} interp {expected:#x}");
        }
    }
}

/// The one word by which filetests know a cause.
pub fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Unmapped => "unmapped",
        Cause::Null => "null",
        Cause::ReadOnly => "read-only",
        Cause::Misaligned => "misaligned",
        Cause::BadJump => "bad-jump",
        Cause::TrapInstruction => "trap",
        Cause::Halt => "halt",
        Cause::StackOverflow => "stack-overflow",
        Cause::Absent(_) => "absent",
        Cause::Deadlock => "deadlock",
        Cause::Undocumented => "undocumented",
        Cause::Image(_) => "image",
        Cause::NoSink => "no-sink",
    }
}

/// Runs the waves of a work-group one after the other, from barrier to barrier.
fn run_group<E: Engine>(engine: &E, worker: &mut E::Worker, env: &Env<'_>, waves: &mut [Box<Wave>]) -> End {
    let mut ended = vec![false; waves.len()];
    while ended.contains(&false) {
        for (index, wave) in waves.iter_mut().enumerate() {
            if ended[index] {
                continue;
            }
            match engine.run(worker, wave, env) {
                Ok(Stop::End) => ended[index] = true,
                Ok(Stop::Barrier) => {}
                Ok(Stop::Yield) if wave.executed >= BUDGET => return End::TooLong,
                // It sleeps: another has its turn.
                Ok(Stop::Yield) => {}
                // There is no other work-group that could end it.
                Ok(Stop::Wait(wait)) => {
                    let trap = Trap::Fault { cause: Cause::Deadlock, address: wait.pc, lane: 0, pc: wait.pc };
                    return End::Trap { wave: index, trap };
                }
                Err(trap) => return End::Trap { wave: index, trap: *trap },
            }
        }
    }
    End::Ended
}
