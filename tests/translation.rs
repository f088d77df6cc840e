//! What the translator keeps: host code that is never writable and executable, units that are shared, bounded and
//! translated anew when guest code was overwritten.

mod support;

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::kernarg::layout;
use gcnjit::rt::{self, Env, Geometry, Hardware, Loaded, Memory, Mode, Options, Runner, Stop, Trap, Value, Wave};
use gcnjit::{Arg, Buffer, Device, Kernel, Module, RawCode, Target};
use gcnjit_interp::Interpreter;
use gcnjit_translate::lower::Watch;
use gcnjit_translate::pass::strides::Start;
use gcnjit_translate::{AtEnd, Jit, Machine, translate, wide};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Launch, code_object, kernel_names, kernels_dir};

fn open(device: &Device, name: &str) -> Kernel {
    Module::open(device, code_object(name, "gfx900")).unwrap().kernel(name).unwrap()
}

/// Runs the kernel's launch description; the result is what it left in its buffers.
fn run(device: &Device, kernel: &Kernel) -> Vec<Vec<u8>> {
    let launch = Launch::load(kernel.name());
    let buffers: Vec<Buffer<u8>> = launch.buffers().map(|buffer| device.buffer_from(&buffer.data).unwrap()).collect();
    let mut next = buffers.iter();
    let args = launch.args.iter().map(|arg| match arg {
        support::Arg::Buffer(_) => Arg::from(next.next().expect("one for each argument")),
        support::Arg::Scalar(scalar) => Arg::bytes(&scalar.bytes),
        support::Arg::Local(bytes) => Arg::lds(*bytes),
        support::Arg::LoopIndex => 0.into(),
    });
    kernel.launch().grid(launch.grid).block(launch.block).args(args).run().unwrap();
    buffers.iter().map(Buffer::read).collect()
}

/// Mappings of this process that are writable and executable.
fn writable_code() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let permissions = |line: &str| line.split_whitespace().nth(1).expect("permissions").to_owned();
    let both = |line: &&str| permissions(line).contains('w') && permissions(line).contains('x');
    maps.lines().filter(both).map(str::to_owned).collect()
}

#[test]
fn host_code_is_never_writable_and_executable() {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut looks, mut found) = (0, Vec::new());
            while !done.load(Ordering::Relaxed) {
                found.extend(writable_code());
                looks += 1;
            }
            (looks, found)
        });
        let device = Device::new().unwrap();
        for name in ["saxpy", "calls", "mul64", "scan", "trig"] {
            let kernel = open(&device, name);
            run(&device, &kernel);
            assert_eq!(writable_code(), [""; 0], "while {name} is loaded");
            assert!(kernel.module().translated().code_bytes > 0);
        }
        done.store(true, Ordering::Relaxed);
        let (looks, found) = watch.join().unwrap();
        assert!(looks > 0);
        assert_eq!(found, [""; 0]);
    });
}

#[test]
fn threads_that_want_the_same_code_translate_it_once() {
    const THREADS: usize = 4;
    let device = Device::with_threads(1).unwrap();
    let alone = open(&device, "sha256");
    let want = run(&device, &alone);
    let shared = open(&device, "sha256");
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                assert!(run(&device, &shared) == want);
            });
        }
    });
    let (alone, shared) = (alone.module().translated(), shared.module().translated());
    assert_eq!((shared.translated, shared.instructions), (alone.translated, alone.instructions));
    assert_eq!((shared.lookups - shared.hits, shared.hits > 0), (shared.translated, true));
}

#[test]
fn a_loop_with_few_lanes_left_is_translated_for_these() {
    let device = Device::with_threads(1).unwrap();
    let compacted = |name: &str| {
        let kernel = open(&device, name);
        run(&device, &kernel);
        kernel.module().translated().compacted
    };
    assert_eq!(compacted("vm"), usize::from(wide::is_available()));
    assert_eq!(compacted("saxpy"), 0);
}

/// Guest code may nest loops as deep as it likes; the ones that are looked at have an end.
#[test]
fn loops_of_too_many_blocks_are_not_looked_at() {
    const DEEP: usize = 300;
    let back = |depth: usize| format!("s_cbranch_scc1 {}\n", 0x1_0000 - 2 * depth);
    let text: String = std::iter::repeat_n("s_and_b64 exec, exec, vcc\n".to_owned(), DEEP)
        .chain((1..=DEEP).map(back))
        .chain(["s_endpgm".to_owned()])
        .collect();
    let memory = Memory::new().unwrap();
    let kernel = bare(&memory, &text, false);
    let machine =
        Machine { target: Target::Gfx900, registers: rt::RegisterFile::ALL, exceptions: false, at_end: AtEnd::Nothing };
    let unit = translate(&memory.view(), machine, &Start::unknown(kernel.entry()), Mode(0)).unwrap();
    let loops = unit.blocks.iter().filter_map(|planned| match &planned.watch {
        Watch::Few(found) => Some(found.blocks.len()),
        _ => None,
    });
    let expected: Vec<usize> = (1..=DEEP).rev().map(|depth| 2 * depth - 1).filter(|blocks| *blocks <= 256).collect();
    assert_eq!(loops.collect::<Vec<_>>(), if wide::is_available() { expected } else { Vec::new() });
}

#[test]
fn the_baseline_compiler_has_all_that_kernels_need() {
    let device = Device::with_threads(1).unwrap();
    for name in kernel_names() {
        let kernel = open(&device, &name);
        run(&device, &kernel);
        let stats = kernel.module().translated();
        assert_eq!(stats.baseline, if wide::is_available() { stats.translated } else { 0 }, "{name}");
    }
}

/// A call of a function that doubles v3, whose address is made in the block of the call or in one before.
fn calling(is_early: bool) -> String {
    let (between, distance) = if is_early { ("s_branch call\ncall:", 36) } else { ("", 32) };
    format!(
        "v_mov_b32 v3, 21
         s_getpc_b64 s[2:3]
         s_add_u32 s2, s2, {distance}
         s_addc_u32 s3, s3, 0
         {between}
         s_swappc_b64 s[4:5], s[2:3]
         v_mov_b32 v4, s0
         v_mov_b32 v5, s1
         global_store_dword v[4:5], v3, off
         s_endpgm
         double: v_add_u32_e32 v3, v3, v3
         s_setpc_b64 s[4:5]"
    )
}

#[test]
fn functions_with_known_addresses_are_in_the_unit_of_their_callers() {
    let hardware = Hardware::with_memory(Memory::new().unwrap());
    for (is_early, units) in [(false, 1), (true, 2)] {
        let (jit, kernel) = (Jit::new(), bare(&hardware.memory, &calling(is_early), false));
        assert_eq!(result_of(&jit, &hardware, &kernel), 42);
        assert_eq!(jit.stats().translated, units);
    }
}

#[test]
fn translations_are_bounded() {
    let hardware = Hardware::with_memory(Memory::new().unwrap());
    let kernel = bare(&hardware.memory, &calling(true), false);
    let [free, bounded] = [None, Some(1)].map(|limit| {
        let jit = Jit::new();
        limit.into_iter().for_each(|limit| jit.set_limit(limit));
        assert_eq!(result_of(&jit, &hardware, &kernel), 42);
        jit.stats()
    });
    assert_eq!((free.evicted, free.translated, free.units), (0, 2, 2));
    assert_eq!((bounded.units, bounded.evicted), (1, bounded.translated - 1));
    assert!(bounded.translated > free.translated && bounded.code_bytes < free.code_bytes);
}

#[test]
fn what_was_used_longest_ago_leaves_first() {
    let device = Device::with_threads(1).unwrap();
    let image = std::fs::read(kernels_dir().join("containers/globals.gfx900.co")).unwrap();
    let module = Module::load(&device, image).unwrap();
    let [first, second, third] = ["keep", "add_primes", "count"];
    let launch = |name: &str| {
        let kernel = module.kernel(name).unwrap();
        let zeroes = device.buffer::<u64>(64).unwrap();
        let before = module.translated().translated;
        kernel.launch().grid(1).args(kernel.args().map(|_| Arg::from(&zeroes))).run().unwrap();
        module.translated().translated - before
    };
    assert!(launch(first) > 0 && launch(second) > 0);
    module.limit_translations(module.translated().code_bytes);
    assert_eq!(launch(first), 0);
    assert!(launch(third) > 0, "it needs room");
    assert_eq!(launch(first), 0, "it was used later than the second");
    assert!(launch(second) > 0, "it had to leave");
}

/// Bare gfx900 code in memory that guests may write as well as execute.
fn patchable(memory: &Memory, text: &str) -> rt::Kernel {
    bare(memory, text, true)
}

/// Bare gfx900 code with the address of argument 0 in s[0:1].
fn bare(memory: &Memory, text: &str, writable: bool) -> rt::Kernel {
    let code = asm::assemble(text, Target::Gfx900).unwrap();
    let mut raw = RawCode::new(Target::Gfx900);
    raw.sgprs.insert(0, UserSgpr::Address(Slot::Argument(0)));
    let mut image = raw.image(code.into_iter().flat_map(u32::to_le_bytes).collect()).unwrap();
    image.segments[0].writable = writable;
    Loaded::new(image, memory).unwrap().kernel(RawCode::NAME).unwrap()
}

/// Runs one wave; the result is the dword that it left in its argument.
fn result_of<E: rt::Engine>(engine: &E, hardware: &Hardware, kernel: &rt::Kernel) -> u32 {
    let (memory, geometry) = (&hardware.memory, Geometry::new([64, 1, 1], [64, 1, 1]));
    let result = memory.alloc(4).unwrap();
    let kernarg = layout(kernel.code(), &[Value::Buffer(result)], &geometry).unwrap();
    let launch = rt::Launch::new(kernel, geometry, &kernarg);
    rt::dispatch(engine, hardware, &launch, &Options { threads: 1, ..Options::default() }).unwrap();
    u32::from_le_bytes(memory.view().load(result).unwrap())
}

#[test]
fn a_wave_that_overwrites_its_code_sees_it_after_s_icache_inv() {
    let patch = asm::assemble("v_mov_b32 v2, 2", Target::Gfx900).unwrap()[0];
    let text = format!(
        "v_mov_b32 v3, 0
         s_getpc_b64 s[2:3]
         again: v_mov_b32 v2, 1
         v_add_u32_e32 v3, v3, v2
         s_cbranch_scc1 done
         v_mov_b32 v4, s2
         v_mov_b32 v5, s3
         v_mov_b32 v6, {patch:#x}
         global_store_dword v[4:5], v6, off
         s_waitcnt vmcnt(0)
         s_icache_inv
         s_cmp_eq_u32 s0, s0
         s_branch again
         done: v_mov_b32 v4, s0
         v_mov_b32 v5, s1
         global_store_dword v[4:5], v3, off
         s_endpgm"
    );
    let hardware = Hardware::with_memory(Memory::new().unwrap());
    let run = |engine: &dyn Fn(&rt::Kernel) -> u32| engine(&patchable(&hardware.memory, &text));
    assert_eq!(run(&|kernel| result_of(&Interpreter, &hardware, kernel)), 3);
    let jit = Jit::new();
    assert_eq!(run(&|kernel| result_of(&jit, &hardware, kernel)), 3);
    assert_eq!(jit.stats().overwritten, 1);
}

#[test]
fn code_that_the_host_overwrites_is_translated_anew() {
    let text = "v_mov_b32 v3, 0\nv_mov_b32 v4, s0\nv_mov_b32 v5, s1\nglobal_store_dword v[4:5], v3, off\ns_endpgm";
    let hardware = Hardware::with_memory(Memory::new().unwrap());
    let kernel = patchable(&hardware.memory, text);
    let jit = Jit::new();
    for number in [0, 1, 1, 2] {
        let code = asm::assemble(&format!("v_mov_b32 v3, {number}"), Target::Gfx900).unwrap()[0];
        hardware.memory.write(kernel.entry(), &code.to_le_bytes()).unwrap();
        assert_eq!(result_of(&Interpreter, &hardware, &kernel), number);
        assert_eq!(result_of(&jit, &hardware, &kernel), number);
    }
    let stats = jit.stats();
    assert_eq!((stats.overwritten, stats.translated, stats.units), (2, 3, 1));
}

/// Runs a copy of each wave first, and one that is where no code is.
struct Stumbling(Jit);

impl rt::Engine for Stumbling {
    type Worker = <Jit as rt::Engine>::Worker;

    fn worker(&self) -> Self::Worker {
        self.0.worker()
    }

    fn run(&self, worker: &mut Self::Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let mut runner = self.0.runner(worker, env);
        assert_eq!(runner.run(&mut wave.clone())?, Stop::End);
        let mut lost = Wave { pc: 4, ..wave.clone() };
        assert!(runner.run(&mut lost).is_err());
        runner.run(wave)
    }
}

#[test]
fn a_run_goes_on_after_a_wave_that_has_no_code() {
    let text = "v_mov_b32 v4, s0\nv_mov_b32 v5, s1\nglobal_load_dword v3, v[4:5], off\ns_waitcnt vmcnt(0)\n\
                v_add_u32_e32 v3, 1, v3\nglobal_store_dword v[4:5], v3, off\ns_endpgm";
    let hardware = Hardware::with_memory(Memory::new().unwrap());
    for writable in [false, true] {
        let kernel = bare(&hardware.memory, text, writable);
        assert_eq!(result_of(&Stumbling(Jit::new()), &hardware, &kernel), 2);
    }
}
