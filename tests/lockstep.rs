//! Lockstep: all kernels agree in it, and executors that are wrong in one way or another are found out, with the
//! instruction, the lane and the bits.

mod support;

use gcnjit::isa::asm;
use gcnjit::lockstep::report::Role;
use gcnjit::lockstep::shadow::Space;
use gcnjit::lockstep::{Candidate, Divergence, Granularity, Outcome, Piece, run, run_against};
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::{Env, Mode, Stop, Trap, Wave};
use gcnjit::{Arg, Buffer, Device, Error, Kernel, Module, RawCode, Target};
use gcnjit_isa::Op;
use gcnjit_translate::cfg::GuestBlock;
use gcnjit_translate::{Machine, Single};
use support::{Launch, code_object, kernel_names};

const GRANULARITIES: [Granularity; 3] = [Granularity::Segment, Granularity::Block, Granularity::Instruction];

/// Runs a kernel's launches in lockstep; the pieces compared.
fn kernel_in_lockstep(name: &str, target: &str, granularity: Granularity) -> Result<u64, String> {
    let (launch, device) = (Launch::load(name), Device::new().unwrap());
    let kernel = Module::open(&device, code_object(name, target)).unwrap().kernel(name).unwrap();
    let buffers: Vec<Buffer<u8>> = launch.buffers().map(|buffer| device.buffer_from(&buffer.data).unwrap()).collect();
    let mut pieces = 0;
    // The later ones of many launches are as the first ones.
    for index in 0..launch.loop_count.min(2) {
        let mut next = buffers.iter();
        let args = launch.args.iter().map(|arg| match arg {
            support::Arg::Buffer(_) => Arg::from(next.next().expect("one for each argument")),
            support::Arg::Scalar(scalar) => Arg::bytes(&scalar.bytes),
            support::Arg::Local(bytes) => Arg::lds(*bytes),
            support::Arg::LoopIndex => index.into(),
        });
        // A few work-groups do.
        let grid = [0, 1, 2].map(|i| launch.grid[i].min(2 * launch.block[i]));
        let prepared = kernel.launch().grid(grid).block(launch.block).args(args).prepare();
        match run(&prepared.unwrap(), granularity) {
            Ok(Outcome::Same { counts, .. }) => pieces += counts.pieces,
            Ok(Outcome::Different(divergence)) => return Err(format!("{target} {granularity:?}: {divergence}")),
            Err(error) => return Err(format!("{target} {granularity:?}: {error}")),
        }
    }
    Ok(pieces)
}

#[test]
fn all_kernels_agree() {
    let mut failures = Vec::new();
    for (i, name) in kernel_names().iter().enumerate() {
        let (target, granularity) = (support::TARGETS[i % 4], GRANULARITIES[i % 3]);
        match kernel_in_lockstep(name, target, granularity) {
            Ok(pieces) => assert!(pieces > 1, "{name}: {pieces} pieces"),
            Err(failure) => failures.push(format!("{name} {failure}")),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The translator, but for what it does after pieces with a certain instruction.
struct Broken {
    instruction: &'static str,
    /// Whether also a piece of that instruction alone is spoilt.
    alone: bool,
    spoil: fn(&mut Wave, &Env<'_>),
}

struct Spoilt(Single, Option<fn(&mut Wave, &Env<'_>)>);

impl Candidate for Broken {
    type Piece = Spoilt;

    fn translate(&self, guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Spoilt, Box<Trap>> {
        let is_it = |op: Op| op.info().name == self.instruction;
        let has_it = guest.instructions.iter().any(|(_, inst)| is_it(inst.op));
        let spoils = has_it && (self.alone || guest.instructions.len() > 1);
        Ok(Spoilt(Single::new(guest, machine, mode)?, spoils.then_some(self.spoil)))
    }
}

impl Piece for Spoilt {
    fn run(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Option<Stop>, Box<Trap>> {
        let end = self.0.run(wave, env)?;
        if let Some(spoil) = self.1 {
            spoil(wave, env);
        }
        Ok(end)
    }

    fn listing(&self) -> String {
        self.0.lane_ir()
    }

    fn host_code(&self) -> String {
        self.0.host_code()
    }
}

/// saxpy over 100 elements, and the buffers.
struct Saxpy {
    kernel: Kernel,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Saxpy {
    fn new() -> Saxpy {
        let device = Device::new().unwrap();
        let kernel = Module::open(&device, code_object("saxpy", "gfx900")).unwrap().kernel("saxpy").unwrap();
        let (x, y) = (device.buffer_from(&[3.0; 100]).unwrap(), device.buffer_from(&[1.0; 100]).unwrap());
        Saxpy { kernel, x, y }
    }

    fn against(&self, broken: &Broken, granularity: Granularity) -> Result<Outcome, Error> {
        let launch = self.kernel.launch().grid(100).block(64).arg(&self.x).arg(&self.y).arg(2.0f32).arg(100u32);
        run_against(&launch.prepare().unwrap(), granularity, broken)
    }

    fn divergence(&self, broken: &Broken, granularity: Granularity) -> Box<Divergence> {
        match self.against(broken, granularity) {
            Ok(Outcome::Different(divergence)) => divergence,
            other => panic!("{granularity:?}: a difference was expected, not {other:?}"),
        }
    }
}

/// The instruction that is marked.
fn fault(divergence: &Divergence) -> Option<&str> {
    divergence.code.iter().find(|line| line.role == Role::Fault).map(|line| line.text.as_str())
}

#[test]
fn a_wrong_bit_is_found_with_its_instruction_and_what_that_worked_on() {
    let spoil = |wave: &mut Wave, _: &Env<'_>| wave.vgpr[0][5] ^= 4;
    let broken = Broken { instruction: "v_fma_f32", alone: true, spoil };
    for granularity in GRANULARITIES {
        let divergence = Saxpy::new().divergence(&broken, granularity);
        let text = divergence.to_string();
        assert_eq!(fault(&divergence), Some("v_fma_f32 v0, s0, v0, v5"), "{text}");
        let [register] = &divergence.registers[..] else { panic!("one register: {text}") };
        assert_eq!((register.name.as_str(), register.lane), ("v0", Some(5)), "{text}");
        assert_eq!((register.interp, register.interp ^ register.jit), (7f32.to_bits().into(), 4), "{text}");
        assert_eq!(register.before, 3f32.to_bits().into(), "{text}");
        let values: Vec<(&str, u64)> = divergence.sources.iter().map(|s| (s.name.as_str(), s.value)).collect();
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(values, [("s0", bits(2.0)), ("v0", bits(3.0)), ("v5", bits(1.0))], "{text}");
        let writers = divergence.sources.iter().map(|source| source.writer.as_ref().unwrap().text.as_str());
        let writers: Vec<&str> = writers.map(|text| text.split(' ').next().unwrap()).collect();
        assert_eq!(writers, ["s_load_dwordx2", "global_load_dword", "global_load_dword"], "{text}");
        assert!(text.contains("v0[5]: interp 0x40e00000, jit 0x40e00004, differing bits 0x00000004"), "{text}");
        assert!(!divergence.lane_ir.is_empty() && !divergence.only_together && divergence.memory.is_empty());
        let shown = divergence.host_code.contains(fault(&divergence).unwrap()) && divergence.host_code.contains("ret");
        assert!(shown || !cfg!(target_arch = "x86_64"), "{}", divergence.host_code);
    }
}

/// docs/differential-testing.md shows this report.
#[test]
fn the_tutorial_shows_a_report() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/differential-testing.md");
    let spoil = |wave: &mut Wave, _: &Env<'_>| wave.vgpr[0][5] ^= 4;
    let broken = Broken { instruction: "v_fma_f32", alone: true, spoil };
    let report = Saxpy::new().divergence(&broken, Granularity::Block).to_string();
    let report = report.replace(&format!("{}/", env!("CARGO_MANIFEST_DIR")), "");
    let text = std::fs::read_to_string(PATH).unwrap();
    assert!(text.contains(&format!("```text\n{report}```")), "{PATH} does not show:\n{report}");
}

#[test]
fn what_only_goes_wrong_together_is_said_to() {
    let spoil = |wave: &mut Wave, _: &Env<'_>| wave.scc ^= 1;
    let broken = Broken { instruction: "v_fma_f32", alone: false, spoil };
    let divergence = Saxpy::new().divergence(&broken, Granularity::Block);
    assert!(divergence.only_together && fault(&divergence).is_none(), "{divergence}");
    assert!(divergence.code.iter().filter(|line| line.role == Role::Piece).count() > 1, "{divergence}");
    assert_eq!(divergence.registers[0].name, "scc");
    assert!(matches!(Saxpy::new().against(&broken, Granularity::Instruction), Ok(Outcome::Same { .. })));
}

#[test]
fn stores_of_the_wrong_value_and_stores_to_the_wrong_place_are_found() {
    // The address that the store went to is still in v[1:2].
    let elsewhere = |wave: &mut Wave, env: &Env<'_>| {
        let address = u64::from(wave.vgpr[1][9]) | u64::from(wave.vgpr[2][9]) << 32;
        env.memory.store(address + 200, &[0xee]).unwrap();
    };
    let wrong = |wave: &mut Wave, env: &Env<'_>| {
        let address = u64::from(wave.vgpr[1][9]) | u64::from(wave.vgpr[2][9]) << 32;
        env.memory.store(address + 1, &[0xee]).unwrap();
    };
    for (spoil, offset) in [(wrong as fn(&mut Wave, &Env<'_>), 9 * 4 + 1), (elsewhere, 9 * 4 + 200)] {
        let saxpy = Saxpy::new();
        let broken = Broken { instruction: "flat_store_dword", alone: true, spoil };
        let mut divergence = saxpy.divergence(&broken, Granularity::Block);
        divergence.names.add(saxpy.y.address(), 400, "y");
        let text = divergence.to_string();
        assert!(fault(&divergence).is_some_and(|text| text.starts_with("global_store_dword")), "{text}");
        let [memory] = &divergence.memory[..] else { panic!("one place: {text}") };
        assert!(text.contains(&format!("y+{offset:#x} (1 B): ")), "{text}");
        assert_eq!(memory.span.space, Space::Memory);
        assert!(divergence.registers.is_empty(), "{text}");
    }
}

/// The piece is gone through again with memory as it was: the atomic gives the same once more.
#[test]
fn what_is_found_by_its_write_alone_is_repeated_from_the_state_before() {
    let text = "v_mov_b32 v0, 0\nv_mov_b32 v1, 1\nglobal_atomic_add v3, v0, v1, s[0:1] glc\ns_waitcnt vmcnt(0)\n\
                v_add_u32 v4, 0x100, v3\nv_xor_b32 v5, v4, v4\ns_endpgm";
    let code: Vec<u8> = asm::assemble(text, Target::Gfx900).unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
    let mut raw = RawCode::new(Target::Gfx900);
    raw.sgprs.insert(0, UserSgpr::Address(Slot::Argument(0)));
    let device = Device::new().unwrap();
    let module = Module::load_raw(&device, "counter", code, &raw).unwrap();
    let (kernel, buffer) = (module.kernel(RawCode::NAME).unwrap(), device.buffer::<u32>(64).unwrap());
    let launch = kernel.launch().grid(64).block(64).arg(&buffer).prepare().unwrap();
    let spoil = |wave: &mut Wave, env: &Env<'_>| env.memory.store(wave.sgpr64(0) + 100, &[1]).unwrap();
    let broken = Broken { instruction: "v_xor_b32", alone: true, spoil };
    let Ok(Outcome::Different(divergence)) = run_against(&launch, Granularity::Block, &broken) else {
        panic!("a difference")
    };
    assert_eq!(fault(&divergence), Some("v_xor_b32_e32 v5, v4, v4"), "{divergence}");
    assert_eq!(divergence.memory[0].span.start, buffer.address() + 100, "{divergence}");
    assert_eq!((divergence.sources[0].lane, divergence.sources[0].value), (Some(0), 0x100), "{divergence}");
}

#[test]
fn a_write_of_the_other_engine_alone_is_found_in_memory_that_is_not_compared_each_time() {
    let device = Device::new().unwrap();
    // Large enough that it is compared once in many pieces.
    let far = device.buffer::<u8>(8 << 20).unwrap();
    let kernel = Module::open(&device, code_object("saxpy", "gfx900")).unwrap().kernel("saxpy").unwrap();
    let (x, y) = (device.buffer_from(&[3.0f32; 1000]).unwrap(), device.buffer_from(&[1.0f32; 1000]).unwrap());
    let launch = kernel.launch().grid(1000).block(256).arg(&x).arg(&y).arg(2.0f32).arg(1000u32).prepare().unwrap();
    // Only in one wave, into the largest range there is.
    let spoil = |wave: &mut Wave, env: &Env<'_>| {
        let largest = env.memory.ranges().iter().max_by_key(|range| range.end - range.start).unwrap();
        if (wave.group, wave.index) == ([2, 0, 0], 1) {
            env.memory.store(largest.start + 1234, &[1]).unwrap();
        }
    };
    let broken = Broken { instruction: "v_fma_f32", alone: true, spoil };
    let Ok(Outcome::Different(divergence)) = run_against(&launch, Granularity::Instruction, &broken) else {
        panic!("a difference")
    };
    assert_eq!(divergence.wave, Some(([2, 0, 0], 1)), "{divergence}");
    assert_eq!(fault(&divergence), Some("v_fma_f32 v0, s0, v0, v5"), "{divergence}");
    assert_eq!(divergence.memory[0].span.start, far.address() + 1234);
}

#[test]
fn ends_that_differ_are_shown_and_faults_that_do_not_are_faults() {
    struct Stubborn;
    struct Endless(Single);
    impl Candidate for Stubborn {
        type Piece = Endless;
        fn translate(&self, guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Endless, Box<Trap>> {
            Single::new(guest, machine, mode).map(Endless)
        }
    }
    impl Piece for Endless {
        fn run(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Option<Stop>, Box<Trap>> {
            self.0.run(wave, env).map(|_| None)
        }
        fn listing(&self) -> String {
            String::new()
        }
    }
    let saxpy = Saxpy::new();
    let launch = saxpy.kernel.launch().grid(64).block(64).arg(&saxpy.x).arg(&saxpy.y).arg(2.0f32).arg(64u32);
    let Ok(Outcome::Different(divergence)) = run_against(&launch.prepare().unwrap(), Granularity::Block, &Stubborn)
    else {
        panic!("a difference")
    };
    assert_eq!(divergence.ends, Some(["it ends".to_owned(), "it goes on".to_owned()]), "{divergence}");
    assert_eq!(fault(&divergence), Some("s_endpgm"));
    let null = || Arg::pointer(0);
    let launch = saxpy.kernel.launch().grid(64).block(64).arg(null()).arg(null()).arg(2.0f32).arg(64u32);
    for granularity in GRANULARITIES {
        let error = run(&launch.clone().prepare().unwrap(), granularity).unwrap_err();
        assert!(matches!(error, Error::Fault(_)), "{error}");
        assert!(error.to_string().contains("null pointer"), "{error}");
    }
}
