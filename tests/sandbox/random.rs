//! Random programs with random pointers: they end or are stopped, what they were not given stays as it is, and the device
//! works afterwards.
//!
//! Words are random but for the encoding; branches are short, so that there are loops. Registers hold pointers into one
//! allocation and beside it, resources of it, and noise. `GCNJIT_SANDBOX_PROGRAMS` sets how many programs each engine
//! runs, `GCNJIT_SANDBOX_SEED` the seed.

use crate::engines::{Random, TARGETS, setting};
use gcnjit::RawCode;
use gcnjit::isa::{Decoder, Note, Target, asm};
use gcnjit::rt::RegisterFile;
use gcnjit::rt::code_object::UserSgpr;
use gcnjit::rt::memory::{LDS_APERTURE, PRIVATE_APERTURE, Piece};
use gcnjit::rt::wave::reg;
use gcnjit::rt::{
    Cause, DispatchError, Engine, Env, Fault, Geometry, Hardware, Kernarg, Launch, Loaded, Mode, Options, Stop, Trap,
    Wave, dispatch,
};
use gcnjit_interp::Interpreter;

use gcnjit_translate::cfg::GuestBlock;
use gcnjit_translate::{AtEnd, Jit, Machine, build};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Bytes of the allocation that programs know of.
const KNOWN: u64 = 4096;

/// A device with memory that programs know of, and memory that they don't.
pub struct Victim {
    pub hardware: Hardware,
    /// What programs have pointers to.
    pub known: u64,
    /// Read-only memory that they have pointers to.
    constant: u64,
    /// Further away than any offset reaches from there.
    other: u64,
    /// Memory of the host.
    host: Vec<u8>,
}

impl Victim {
    pub fn new() -> Victim {
        let hardware = Hardware::new().expect("a device");
        let memory = &hardware.memory;
        let other = memory.alloc(KNOWN).expect("memory");
        memory.alloc_pieces(16 << 30, &[]).expect("addresses");
        let known = memory.alloc(KNOWN).expect("memory");
        let constant = memory.alloc_pieces(KNOWN, &[Piece::constant(0, KNOWN)]).expect("memory");
        memory.write(other, &[0xa5; KNOWN as usize]).expect("writable memory");
        Victim { known, constant, other, host: vec![0x5a; KNOWN as usize], hardware }
    }

    /// A pointer that a program may be expected to try.
    pub fn pointer(&self, random: &mut Random) -> u64 {
        let near = self.known + random.below(KNOWN);
        match random.below(12) {
            0..=4 => near & !3,
            5 => near,
            6 => self.known + KNOWN - random.below(8),
            7 => self.constant + random.below(KNOWN),
            8 => self.host.as_ptr() as u64 + random.below(KNOWN),
            9 => random.pick(&[LDS_APERTURE, PRIVATE_APERTURE]) + random.below(1 << 18),
            10 => random.below(KNOWN),
            _ => random.next() >> random.below(40),
        }
    }

    /// Panics if anything has changed that nobody was given.
    pub fn check(&self) {
        let mut bytes = [0; KNOWN as usize];
        for (address, value) in [(self.other, 0xa5), (self.constant, 0)] {
            self.hardware.memory.read(address, &mut bytes).expect("memory");
            assert!(bytes.iter().all(|byte| *byte == value), "memory at {address:#x} has changed");
        }
        assert!(self.host.iter().all(|byte| *byte == 0x5a), "memory of the host has changed");
    }

    /// Runs one work-group of four waves, each started with random registers, and says how that ended.
    pub fn run<E: Engine>(&self, engine: &E, launch: &Launch<'_>, seed: u64) -> Result<(), DispatchError> {
        let seeded = Seeded { engine, victim: self, seed };
        let deadline = Some(Instant::now() + Duration::from_millis(5));
        let start = Instant::now();
        let options = Options { threads: 1, deadline, ..Options::default() };
        let end = dispatch(&seeded, &self.hardware, launch, &options).map(drop);
        assert!(start.elapsed() < Duration::from_secs(5), "{seed}: it took {:?}", start.elapsed());
        match &end {
            Err(DispatchError::Fault(fault)) => assert!(names_its_place(fault), "{seed}: {fault}"),
            Err(DispatchError::Stopped(_)) | Ok(()) => {}
            Err(other) => panic!("{seed}: {other}"),
        }
        end
    }
}

/// Whether a fault has an instruction, unless there is none at its place.
fn names_its_place(fault: &Fault) -> bool {
    let none = matches!(fault.trap, Trap::Decode { .. } | Trap::Fault { cause: Cause::BadJump, .. });
    none || fault.instruction.is_some()
}

/// An engine that gives a wave random registers when it starts.
struct Seeded<'a, E> {
    engine: &'a E,
    victim: &'a Victim,
    seed: u64,
}

impl<E: Engine> Engine for Seeded<'_, E> {
    type Worker = E::Worker;

    fn worker(&self) -> E::Worker {
        self.engine.worker()
    }

    fn run(&self, worker: &mut E::Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        if wave.executed == 0 {
            fill(wave, &mut Random::new(self.seed ^ u64::from(wave.index)), self.victim);
        }
        self.engine.run(worker, wave, env)
    }
}

/// Pairs of registers get pointers, or fours a resource, or noise.
fn fill(wave: &mut Wave, random: &mut Random, victim: &Victim) {
    for pair in (0..256).step_by(2) {
        let base = victim.pointer(random);
        let stride = random.pick(&[0, 4, 4, 8, 64]);
        let noise = random.below(3) == 0;
        for lane in 0..64 {
            let value = if noise { random.next() } else { base.wrapping_add(lane as u64 * stride) };
            wave.vgpr[pair][lane] = value as u32;
            wave.vgpr[pair + 1][lane] = (value >> 32) as u32;
        }
    }
    for four in (0..104).step_by(4) {
        let (first, second) = (victim.pointer(random), victim.pointer(random));
        wave.set_sgpr64(four, first);
        wave.set_sgpr64(four + 2, second);
        if random.below(3) == 0 {
            let stride = random.pick(&[0, 0, 4, 16]) << 16;
            wave.sgpr[four + 1] = wave.sgpr[four + 1] & 0xffff | stride;
            wave.sgpr[four + 2] = random.pick(&[0, 64, KNOWN as u32, u32::MAX]);
        }
    }
    let (exec, vcc) = (random.mask(), random.next());
    wave.set_exec(exec);
    wave.set_sgpr64(reg::VCC, vcc);
    wave.sgpr[reg::M0] = random.pick(&[0, 4, u32::MAX, 0x0001_0000]);
    // Round and denormal modes; the rest as it was set up.
    wave.mode.0 = wave.mode.0 & !0xff | random.next() as u32 & 0xff;
}

/// The top bits of the encodings, and how many they are.
const ENCODINGS: [(u32, u32); 17] = [
    (0b10, 2),
    (0b1011, 4),
    (0b1_0111_1101, 9),
    (0b1_0111_1110, 9),
    (0b1_0111_1111, 9),
    (0b0, 1),
    (0b011_1111, 7),
    (0b011_1110, 7),
    (0b11_0100, 6),
    (0b1_1010_0111, 9),
    (0b11_0000, 6),
    (0b1_1000, 5),
    (0b11_0110, 6),
    (0b11_0111, 6),
    (0b11_1000, 6),
    (0b11_1010, 6),
    (0b11_1100, 6),
];

/// The words of a random instruction that the executors know.
fn instruction(random: &mut Random, target: Target) -> Vec<u32> {
    let decoder = Decoder::new(target);
    loop {
        let (prefix, bits) = random.pick(&ENCODINGS);
        let mut words =
            [random.next() as u32 & u32::MAX >> bits | prefix << (32 - bits), random.next() as u32, random.dword()];
        let Ok(inst) = decoder.decode(&words) else { continue };
        let info = inst.op.info();
        if !info.executed || info.has(Note::Host) {
            continue;
        }
        if inst.branch_target(0).is_some() {
            words[0] = words[0] & 0xffff_0000 | u32::from((random.below(24) as i16 - 12) as u16);
        }
        let Ok(inst) = decoder.decode(&words) else { continue };
        let alone = GuestBlock { instructions: vec![(0x1000, inst)] };
        let (registers, at_end) = (RegisterFile::ALL, AtEnd::Registers);
        if build::block(&alone, Machine { target, registers, exceptions: true, at_end }, Mode(0)).is_ok() {
            return words[..usize::from(inst.words)].to_vec();
        }
    }
}

fn program(random: &mut Random, target: Target) -> Vec<u8> {
    let mut words = Vec::new();
    for _ in 0..4 + random.below(60) {
        words.extend(instruction(random, target));
    }
    words.push(0xbf81_0000);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// What to call an end in the summary.
pub fn kind(end: &Result<(), DispatchError>) -> &'static str {
    match end {
        Ok(()) => "ended",
        Err(DispatchError::Stopped(_)) => "stopped",
        Err(DispatchError::Fault(fault)) => match fault.trap {
            Trap::Fault { cause: Cause::BadJump, .. } => "bad jump",
            Trap::Fault { .. } => "fault",
            Trap::Decode { .. } => "no instruction",
            Trap::Unimplemented { .. } => "not executed",
            Trap::Host { .. } => "host",
        },
        Err(_) => "refused",
    }
}

#[test]
fn random_programs() {
    let (count, seed) = (setting("GCNJIT_SANDBOX_PROGRAMS", 150), setting("GCNJIT_SANDBOX_SEED", 1));
    let victim = Victim::new();
    let kernarg = Kernarg { lds: 512, ..Kernarg::default() };
    let mut random = Random::new(seed);
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for i in 0..count {
        let target = TARGETS[i as usize % TARGETS.len()];
        let raw = RawCode { scratch: 64, ..RawCode::new(target) };
        let image = raw.image(program(&mut random, target)).expect("an image");
        let loaded = Loaded::new(image, &victim.hardware.memory).expect("memory");
        let kernel = loaded.kernel(RawCode::NAME).expect("the kernel");
        let launch = Launch::new(&kernel, Geometry::new([256, 1, 1], [256, 1, 1]), &kernarg);
        let seed = random.next();
        for end in [victim.run(&Jit::new(), &launch, seed), victim.run(&Interpreter, &launch, seed)] {
            *ends.entry(kind(&end)).or_default() += 1;
        }
        victim.check();
    }
    println!("{count} random programs on both engines: {ends:?}");
    for kind in ["ended", "fault", "stopped"] {
        assert!(ends.contains_key(kind), "none of the programs {kind}: {ends:?}");
    }
    still_runs(&victim);
}

/// On the device where all that has happened, a kernel does what it should.
pub fn still_runs(victim: &Victim) {
    let text = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nv_mov_b32 v3, 1\nflat_atomic_add v[1:2], v3\ns_endpgm";
    let mut raw = RawCode::new(Target::Gfx900);
    let cell = victim.hardware.memory.alloc(4).expect("memory");
    raw.sgprs.insert(0, UserSgpr::Constant(cell as u32));
    raw.sgprs.insert(1, UserSgpr::Constant((cell >> 32) as u32));
    let words = asm::assemble(text, raw.target).expect("text");
    let image = raw.image(words.into_iter().flat_map(u32::to_le_bytes).collect()).expect("an image");
    let kernel = Loaded::new(image, &victim.hardware.memory).and_then(|l| l.kernel(RawCode::NAME)).expect("the kernel");
    let kernarg = Kernarg::default();
    let launch = Launch::new(&kernel, Geometry::new([1000, 1, 1], [64, 1, 1]), &kernarg);
    dispatch(&Jit::new(), &victim.hardware, &launch, &Options::default()).expect("a good kernel");
    dispatch(&Interpreter, &victim.hardware, &launch, &Options::default()).expect("a good kernel");
    let mut count = [0; 4];
    victim.hardware.memory.read(cell, &mut count).expect("memory");
    assert_eq!(u32::from_le_bytes(count), 2000);
}
