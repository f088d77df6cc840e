//! One random instruction, both engines, the same wave: every register must come out the same to the bit.
//!
//! Words are random but for the encoding and the opcode, so that all operand kinds and modifiers come up; values are
//! drawn to hit the edges of the number formats; MODE and EXEC are random too. Rows that end a block, and memory,
//! are tested elsewhere. `GCNJIT_DIFF_ROUNDS` sets how many words a row and encoding get, `GCNJIT_DIFF_SEED` the
//! seed, `GCNJIT_DIFF_ONLY` a prefix of the mnemonics to test, or a family.

mod engines;

use engines::{Form, Random, TARGETS, difference, one, setting, words};
use gcnjit_interp::run::{Buffers, Machine as Stepper};
use gcnjit_isa::{Code, Decoder, Gen, Inst, Note, Op, Operand, Target, disas};
use gcnjit_rt::{Env, Memory, Mode, RegisterFile, Trap, View, Wave, gds::Gds, lds::Lds, order::Order, wave::reg};
use gcnjit_translate::access::Site;
use gcnjit_translate::jit::{Context, Exit, Unit};
use gcnjit_translate::lane::Listing;
use gcnjit_translate::libcall;
use gcnjit_translate::{AtEnd, Machine};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The machine around the waves: code lives at `code`.
struct Bench {
    memory: Memory,
    gds: Gds,
    order: Order,
    lds: Lds,
    stop: AtomicBool,
    code: u64,
}

impl Bench {
    fn new() -> Bench {
        let memory = Memory::with_arena(1 << 30).expect("an arena");
        let code = memory.alloc(4096).expect("a page of code");
        Bench { memory, gds: Gds::new(), order: Order::new(), lds: Lds::new(4096), stop: AtomicBool::new(false), code }
    }

    fn env<'a>(&'a self, Machine { target, registers, exceptions, .. }: Machine, memory: &'a View) -> Env<'a> {
        let Bench { gds, order, lds, stop, .. } = self;
        Env { registers, exceptions, ..Env::bare(target, memory, lds, (gds, order, stop)) }
    }
}

/// The encodings that a row can come in, each as fixed bits of two words, and the bits that may vary.
fn encodings(op: Op, generation: Gen) -> Vec<Form> {
    let vop3 = |code: u16| {
        let shift = if generation < Gen::Gfx8 { 17 } else { 16 };
        let free = if generation < Gen::Gfx8 { 0x0001_ffff } else { 0x0000_ffff };
        ([0x34 << 26 | u32::from(code) << shift, 0], [free, u32::MAX])
    };
    let (native, only_vop3) = match op.info().code(generation) {
        Some(Code::Native(code)) => (Some(u32::from(code)), None),
        Some(Code::Vop3(code)) => (None, Some(code)),
        None => return Vec::new(),
    };
    let promoted = only_vop3.or_else(|| op.promoted(generation)).map(vop3);
    let Some(code) = native else { return promoted.into_iter().collect() };
    let short = |fixed: u32, free: u32| {
        let mut forms = vec![([fixed, 0], [free, u32::MAX])];
        if generation >= Gen::Gfx8 {
            forms.push(([fixed | 0xf9, 0], [free & !0x1ff, u32::MAX]));
            forms.push(([fixed | 0xfa, 0], [free & !0x1ff, u32::MAX]));
        }
        forms.extend(promoted);
        forms
    };
    match op {
        Op::Sop2(_) => vec![([2 << 30 | code << 23, 0], [0x007f_ffff, u32::MAX])],
        Op::Sopk(_) => vec![([0xb << 28 | code << 23, 0], [0x007f_ffff, u32::MAX])],
        Op::Sop1(_) => vec![([0x17d << 23 | code << 8, 0], [0x007f_00ff, u32::MAX])],
        Op::Sopc(_) => vec![([0x17e << 23 | code << 16, 0], [0x0000_ffff, u32::MAX])],
        Op::Vop2(_) => short(code << 25, 0x01ff_ffff),
        Op::Vop1(_) => short(0x3f << 25 | code << 9, 0x01fe_01ff),
        Op::Vopc(_) => short(0x3e << 25 | code << 17, 0x0001_ffff),
        Op::Vop3(_) => vec![vop3(code as u16)],
        Op::Vop3p(_) => vec![([0x1a7 << 23 | code << 16, 0], [0x0000_ffff, u32::MAX])],
        _ => Vec::new(),
    }
}

fn random_wave(random: &mut Random, pc: u64) -> Box<Wave> {
    let mut wave = Wave::new();
    for row in &mut wave.vgpr {
        row.iter_mut().for_each(|lane| *lane = random.dword());
    }
    wave.sgpr.iter_mut().for_each(|sgpr| *sgpr = random.dword());
    let exec = random.mask();
    wave.set_exec(exec);
    let vcc = random.mask();
    wave.set_sgpr64(reg::VCC, vcc);
    wave.sgpr[reg::M0] = random.below(64) as u32;
    wave.scc = random.below(2) as u32;
    // All float modes, nearest-even more often than not, DX10_CLAMP and IEEE.
    let round = if random.below(2) == 0 { 0 } else { random.below(16) };
    wave.mode = Mode((round | random.below(64) << 4) as u32);
    wave.mode = wave.mode.with_csp(random.below(8) as u32);
    // Now and then VGPRs indexed by M0, or nothing done at all.
    match random.below(64) {
        0 => wave.mode.0 |= Mode::VSKIP,
        1..=8 => {
            wave.mode.0 |= Mode::GPR_INDEX;
            wave.sgpr[reg::M0] = random.next() as u32;
        }
        _ => {}
    }
    wave.pc = pc;
    wave
}

/// All registers, or often some.
fn random_registers(random: &mut Random) -> RegisterFile {
    match random.below(3) {
        0 => RegisterFile { vgprs: 4 + 4 * random.below(64) as u16, sgprs: 8 + 8 * random.below(13) as u16 },
        _ => RegisterFile::ALL,
    }
}

/// Runs the instruction on both engines; the text of a difference.
fn compare(bench: &Bench, machine: Machine, inst: &Inst, wave: &Wave, unit: &Unit) -> Option<String> {
    let view = bench.memory.view();
    let env = bench.env(machine, &view);
    let mut expected = wave.clone();
    let mut buffers = Buffers::default();
    let outcome = Stepper::new(&mut expected, &env, &mut buffers).step(inst);
    if let Err(trap) = outcome {
        return (!matches!(*trap, Trap::Unimplemented { .. })).then(|| format!("the interpreter: {trap}"));
    }
    let mut got = wave.clone();
    let mut scratch = Site::default();
    let mut context = Context::new(u64::MAX, &env, Vec::new(), &mut scratch, libcall::mxcsr());
    let exit = unit.run(&mut got, &mut context, 0);
    let mut text = String::new();
    if exit != Exit::Jump || got.pc != expected.pc {
        text += &format!("exit {exit:?}, pc {:#x} for {:#x}\n", got.pc, expected.pc);
    }
    text += &difference(inst, wave, &got, &expected);
    (!text.is_empty()).then_some(text)
}

/// Every `rounds` words of the row; the report of the first difference.
fn check_row(bench: &Bench, random: &mut Random, target: Target, op: Op, rounds: u64) -> Result<u64, String> {
    let decoder = Decoder::new(target);
    let mut tested = 0;
    for form in encodings(op, target.generation()) {
        for _ in 0..rounds {
            let Some((words, inst)) = words(random, decoder, op, form) else { break };
            let code: Vec<u8> = words.iter().chain(&[0; 8]).flat_map(|word| word.to_le_bytes()).collect();
            bench.memory.write(bench.code, &code).expect("code is mapped");
            let wave = random_wave(random, bench.code);
            let (registers, exceptions) = (random_registers(random), random.once_in(4));
            let machine = Machine { target, registers, exceptions, at_end: AtEnd::Registers };
            let inst = machine.registers.bound(&inst, target);
            let unit = match one(bench.code, machine, &inst, wave.mode) {
                Ok(unit) => unit,
                Err(trap) if matches!(*trap, Trap::Unimplemented { .. }) => continue,
                Err(trap) => return Err(format!("{}: {trap}", disas::text(&inst, target))),
            };
            tested += 1;
            if let Some(difference) = compare(bench, machine, &inst, &wave, &unit) {
                let mode = wave.mode.0;
                return Err(format!(
                    "{machine:?} {} words {words:x?} mode {mode:#x} exec {:#x} scc {}\n{difference}{}",
                    disas::text(&inst, target),
                    wave.exec(),
                    wave.scc,
                    Listing(&unit.blocks[0].block),
                ));
            }
        }
    }
    Ok(tested)
}

#[test]
fn random_instructions() {
    let (rounds, seed) = (setting("GCNJIT_DIFF_ROUNDS", 4), setting("GCNJIT_DIFF_SEED", 1));
    let only = std::env::var("GCNJIT_DIFF_ONLY").unwrap_or_default();
    let chosen = |op: &Op| op.info().name.starts_with(&only) || op.family() == only;
    let bench = Bench::new();
    let mut random = Random::new(seed);
    let (mut tested, mut failures) = (BTreeMap::new(), Vec::new());
    for target in TARGETS {
        for op in Op::all().filter(|op| op.info().executed && chosen(op)) {
            if op.info().has(Note::EndsBlock) || !target.supports(op) {
                continue;
            }
            match check_row(&bench, &mut random, target, op, rounds) {
                Ok(count) => *tested.entry(target.name()).or_insert(0) += count,
                Err(report) => failures.push(report),
            }
        }
    }
    println!("instructions compared: {tested:?}");
    let shown: Vec<&str> = failures.iter().take(8).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
    assert!(tested.values().all(|count| *count > 0));
}

/// A straight-line program: addresses and instructions.
type Program = Vec<(u64, Inst)>;

/// Few registers, so that instructions meet: v0 to v7, s0 to s11, and VCC, M0 and EXEC as they come.
fn close(operand: Operand) -> Operand {
    match operand {
        Operand::Vgpr(register) => Operand::Vgpr(register % 7),
        Operand::Sgpr(register) if register < 102 => Operand::Sgpr((register % 10) & !1),
        other => other,
    }
}

/// A random instruction that may stand in the middle of a program.
fn statement(random: &mut Random, target: Target, rows: &[Op]) -> Option<Inst> {
    let op = random.pick(rows);
    let forms = encodings(op, target.generation());
    let form = *forms.get(random.below(forms.len().max(1) as u64) as usize)?;
    let (_, mut inst) = words(random, Decoder::new(target), op, form)?;
    inst.dst = inst.dst.map(close);
    inst.src = inst.src.map(close);
    (!gcnjit_translate::cfg::ends_block(&inst)).then_some(inst)
}

fn program(random: &mut Random, target: Target, rows: &[Op], start: u64) -> Program {
    let length = 1 + random.below(24);
    let mut program: Program = Vec::new();
    for _ in 0..length {
        program.extend(statement(random, target, rows).map(|inst| (start, inst)));
    }
    placed(program, start)
}

/// The same instructions one behind the other from `start` on.
fn placed(mut program: Program, start: u64) -> Program {
    let mut pc = start;
    for (at, inst) in &mut program {
        *at = pc;
        pc += u64::from(inst.size());
    }
    program
}

/// What differs after the program, if it can be run at all.
fn run_program(bench: &Bench, target: Target, program: &Program, wave: &Wave) -> Option<String> {
    if program.is_empty() {
        return None;
    }
    let guest = gcnjit_translate::cfg::GuestBlock { instructions: program.clone() };
    let machine = Machine { target, registers: RegisterFile::ALL, exceptions: false, at_end: AtEnd::Registers };
    let unit = gcnjit_translate::translate_block(guest, machine, wave.mode).ok()?;
    let view = bench.memory.view();
    let env = bench.env(machine, &view);
    let (mut expected, mut got, mut buffers) = (wave.clone(), wave.clone(), Buffers::default());
    let mut stepper = Stepper::new(&mut expected, &env, &mut buffers);
    for (_, inst) in program {
        stepper.step(inst).ok()?;
    }
    let mut scratch = Site::default();
    let mut context = Context::new(u64::MAX, &env, Vec::new(), &mut scratch, libcall::mxcsr());
    unit.run(&mut got, &mut context, 0);
    let (_, last) = program.last()?;
    let text = difference(last, wave, &got, &expected);
    (!text.is_empty()).then(|| format!("{text}{}", Listing(&unit.blocks[0].block)))
}

/// Leaves out instructions as long as the engines still differ.
fn shrunk(bench: &Bench, target: Target, mut program: Program, wave: &Wave) -> Program {
    let mut i = 0;
    while i < program.len() {
        let mut shorter = program.clone();
        shorter.remove(i);
        let shorter = placed(shorter, wave.pc);
        if run_program(bench, target, &shorter, wave).is_some() {
            program = shorter;
            i = 0;
        } else {
            i += 1;
        }
    }
    program
}

#[test]
fn random_programs() {
    let (count, seed) = (setting("GCNJIT_DIFF_PROGRAMS", 120), setting("GCNJIT_DIFF_SEED", 1));
    let bench = Bench::new();
    let mut random = Random::new(seed ^ 0x5eed);
    let mut compared = 0;
    for target in TARGETS {
        let usable = |op: &Op| op.info().executed && target.supports(*op) && !op.info().has(Note::EndsBlock);
        let rows: Vec<Op> =
            Op::all().filter(usable).filter(|op| !encodings(*op, target.generation()).is_empty()).collect();
        for _ in 0..count {
            let program = program(&mut random, target, &rows, bench.code);
            let wave = random_wave(&mut random, bench.code);
            compared += program.len();
            if run_program(&bench, target, &program, &wave).is_some() {
                let program = shrunk(&bench, target, program, &wave);
                let text: Vec<String> = program.iter().map(|(_, inst)| disas::text(inst, target)).collect();
                let report = run_program(&bench, target, &program, &wave).unwrap_or_default();
                let (mode, exec) = (wave.mode.0, wave.exec());
                panic!("{target} mode {mode:#x} exec {exec:#x} scc {}\n{}\n{report}", wave.scc, text.join("\n"));
            }
        }
    }
    println!("{compared} instructions in random programs");
    assert!(compared > 0);
}
