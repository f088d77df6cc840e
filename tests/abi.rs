//! What a real compiler's code expects around the instructions, with the kernels of `kernels/abi/`: calls and stacks,
//! flat addresses, registers and hidden arguments, global wave sync. On both engines, without and with optimisation, in
//! every version.

use gcnjit::isa::Gen;
use gcnjit::rt::code_object::{Abi, Service};
use gcnjit::rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit::rt::{Cause, Trap};
use gcnjit::{Arg, Device, Engine, Error, Kernel, Module, Stuck};
use std::path::PathBuf;

const ENGINES: [Engine; 2] = [Engine::Interp, Engine::Jit];

/// The names of the files that were built from `source`, at least `least` of them.
fn builds(source: &str, least: usize) -> Vec<String> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels/abi");
    let names = directory.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_build = |name: &String| name.starts_with(&format!("{source}.")) && name.ends_with(".co");
    let mut names: Vec<String> = names.filter(is_build).collect();
    assert!(names.len() >= least, "{names:?}");
    names.sort();
    names
}

fn open(device: &Device, name: &str) -> Module {
    Module::open(device, format!("{}/kernels/abi/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Calls `test` with the module of every build of `source`, on a device of its own for each engine.
fn on_all(source: &str, least: usize, test: impl Fn(&Device, &Module, Engine)) {
    for name in builds(source, least) {
        for engine in ENGINES {
            let device = Device::new().unwrap();
            test(&device, &open(&device, &name), engine);
        }
    }
}

fn stuck(error: Error) -> Box<Stuck> {
    match error {
        Error::Fault(stuck) => stuck,
        other => panic!("a fault was expected, not {other}"),
    }
}

fn cause(stuck: &Stuck) -> Cause {
    match stuck.fault.trap {
        Trap::Fault { cause, .. } => cause,
        ref other => panic!("{other}"),
    }
}

/// What `stack.cl` computes for work-item `i`.
fn stack_reference(x: u32, i: u32, n: u32) -> u32 {
    fn fibonacci(n: u32) -> u32 {
        if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }
    let called = match x % 3 {
        0 => x.wrapping_add(i),
        1 => x.wrapping_mul(i),
        _ => x.rotate_left(5) ^ i,
    };
    let sum_down: u32 = (0..=x % 20).sum();
    let mut result = called
        .wrapping_add(fibonacci(x % 10) * 3)
        .wrapping_add(if (x % 7).is_multiple_of(2) { 1000 } else { 0 })
        .wrapping_add(sum_down * 7);
    for k in 0..n {
        let value = (k.wrapping_add(x) % n).wrapping_mul(x);
        result = result.wrapping_mul(3).wrapping_add(value);
    }
    if x & 4 != 0 {
        let c = [x, i, 1, 2, 3, 4, 5, 6];
        let element =
            |c: u32| x.wrapping_add(i.wrapping_mul(2)).wrapping_add(c.wrapping_mul(3)).wrapping_add(4 * n + 35);
        result ^= c.into_iter().map(element).fold(0, u32::wrapping_add);
    }
    result
}

#[test]
fn calls_through_pointers_recursion_and_arguments_on_the_stack() {
    let input: Vec<u32> = (0..200u32).map(|i| i.wrapping_mul(0x9e37_79b1) ^ i << 7).collect();
    let want: Vec<u32> = (0..).zip(&input).map(|(i, x)| stack_reference(*x, i, 10)).collect();
    on_all("stack", 12, |device, module, engine| {
        let (input, out) = (device.buffer_from(&input).unwrap(), device.buffer::<u32>(200).unwrap());
        let kernel = module.kernel("stack").unwrap();
        kernel.launch().grid(200).block(64).engine(engine).arg(&input).arg(&out).arg(10u32).run().unwrap();
        assert_eq!(out.read(), want, "{} by {engine:?}", module.name());
    });
}

#[test]
fn a_stack_has_an_end_and_can_be_made_longer() {
    on_all("stack", 12, |device, module, engine| {
        let (kernel, out) = (module.kernel("dive").unwrap(), device.buffer::<u32>(64).unwrap());
        let dive = |depth: u32| kernel.launch().grid(64).stack(32 << 10).engine(engine).arg(&out).arg(depth);
        dive(100).run().unwrap();
        assert_eq!(out.read(), [5050; 64], "{} by {engine:?}", module.name());
        let stuck = stuck(dive(u32::MAX).run().unwrap_err());
        assert_eq!(cause(&stuck), Cause::StackOverflow, "{stuck}");
        assert!(stuck.fault.instruction.is_some(), "{stuck}");
        assert_eq!(out.read(), [5050; 64], "what it had written before");
        dive(7).run().unwrap();
        assert_eq!(out.read(), [28; 64]);
    });
}

/// Waves of one work-group and of others that run at the same time have stacks of their own.
#[test]
fn stacks_of_waves_are_apart() {
    let device = Device::with_threads(2).unwrap();
    let kernel = open(&device, "stack.gfx803.O0.co").kernel("stack").unwrap();
    let input: Vec<u32> = (0..256 * 40).map(|i: u32| i.wrapping_mul(0x85eb_ca6b)).collect();
    let want: Vec<u32> = (0..).zip(&input).map(|(i, x)| stack_reference(*x, i, 31)).collect();
    let (input, out) = (device.buffer_from(&input).unwrap(), device.buffer::<u32>(input.len()).unwrap());
    // Slices so short that work-groups take turns in the middle of calls.
    let launch = kernel.launch().grid(256 * 40).block(256).slice(200);
    launch.arg(&input).arg(&out).arg(31u32).run().unwrap();
    assert!(out.read() == want);
}

#[test]
fn flat_addresses_reach_memory_lds_and_scratch() {
    on_all("flat", 10, |device, module, engine| {
        let (out, work) = (device.buffer::<u32>(200).unwrap(), device.buffer_from(&[5u32; 200]).unwrap());
        let kernel = module.kernel("flat").unwrap();
        kernel.launch().grid(200).block(64).engine(engine).arg(&out).arg(&work).run().unwrap();
        let want: Vec<u32> = (0..200)
            .map(|i| match i % 3 {
                0 => 5 + i + i * 3 + 5,
                1 => {
                    let sum: u32 = (0..8).map(|k| (k + i) * (k + 1)).sum();
                    sum + sum + i * 3 + 5 + 2_000_000
                }
                _ => i * 3 + i + i * 3 + 5 + 1_000_000,
            })
            .collect();
        assert_eq!(out.read(), want, "{} by {engine:?}", module.name());
    });
}

#[test]
fn flat_atomics_reach_memory_and_lds() {
    on_all("flat", 10, |device, module, engine| {
        let (out, counter) = (device.buffer::<u32>(256).unwrap(), device.buffer_from(&[1u32]).unwrap());
        let kernel = module.kernel("flat_atomic").unwrap();
        kernel.launch().grid(256).block(128).engine(engine).arg(&out).arg(&counter).run().unwrap();
        let odd: u32 = (0..128).filter(|i| i % 2 == 1).sum();
        let even: u32 = (0..128).filter(|i| i % 2 == 0).sum();
        assert_eq!((out.read(), counter.read()[0]), (vec![odd; 256], 1 + 2 * even), "{} by {engine:?}", module.name());
    });
}

#[test]
fn virtual_functions_and_tables_of_functions() {
    on_all("virtual", 5, |device, module, engine| {
        let out = device.buffer::<u32>(128).unwrap();
        module.kernel("shapes").unwrap().launch().grid(128).engine(engine).arg(&out).run().unwrap();
        let want: Vec<u32> = (0..128)
            .map(|i| match i % 3 {
                0 => i * (i + 1) * 10 + i,
                1 => i * 3 * 7 / 2 * 11 + i,
                _ => i,
            })
            .collect();
        assert_eq!(out.read(), want, "{} by {engine:?}", module.name());
    });
}

/// The table of functions and the start value are data that the loader relocates and the host can change.
#[test]
fn the_host_can_replace_device_data() {
    on_all("virtual", 5, |device, module, engine| {
        let (table, start) = (module.global("table").unwrap(), module.global("start").unwrap());
        let out = device.buffer::<u32>(6).unwrap();
        let apply = || {
            let kernel = module.kernel("apply").unwrap();
            kernel.launch().grid(6).engine(engine).arg(&out).run().map(|_| out.read())
        };
        assert_eq!(apply().unwrap(), [5, 6, 9, 14, 13, 30], "{} by {engine:?}", module.name());
        start.write(&[100u32]).unwrap();
        let mut functions = table.read::<u64>();
        functions.reverse();
        table.write(&functions).unwrap();
        assert_eq!(apply().unwrap(), [100, 102, 104, 106, 116, 110], "{} by {engine:?}", module.name());
        functions[1] += 2;
        table.write(&functions).unwrap();
        assert_eq!(cause(&stuck(apply().unwrap_err())), Cause::BadJump);
    });
}

/// One launch of `hidden.cl`: grid 33×6×2 in groups of 16×4×1 at offset (1000, 20, 3).
#[test]
fn what_a_kernel_finds_out_about_its_launch() {
    on_all("hidden", 12, |device, module, engine| {
        let out = device.buffer::<u64>(64 * 40).unwrap();
        let kernel = module.kernel("launch").unwrap();
        let launch = kernel.launch().grid([33, 6, 2]).block([16, 4, 1]).offset([1000, 20, 3]).engine(engine);
        let launch = launch.arg(&out).prepare().unwrap();
        for dispatch in 0..2 {
            launch.run().unwrap();
            let out = out.read();
            for group in [[0, 0, 0], [1, 1, 0], [2, 0, 1], [2, 1, 1]] {
                let at = (group[0] + 16 * group[1] + 32 * group[2]) as usize * 40;
                check_launch(&out[at..at + 40], dispatch, group, module, engine);
            }
        }
    });
}

fn check_launch(words: &[u64], dispatch: u64, group: [u64; 3], module: &Module, engine: Engine) {
    let what = format!("group {group:?}, {} by {engine:?}", module.name());
    let three = |at: usize| [words[at], words[at + 1], words[at + 2]];
    let local = [if group[0] == 2 { 1 } else { 16 }, if group[1] == 1 { 2 } else { 4 }, 1];
    assert_eq!(words[0], dispatch, "dispatch id, {what}");
    assert_eq!((words[1] & 0xff, words[2]), (2, 3), "packet, {what}");
    assert_eq!((three(3), three(6)), ([16, 4, 1], [33, 6, 2]), "sizes in the packet, {what}");
    assert_eq!(three(9), group, "work-group id, {what}");
    let global = [1000 + group[0] * 16, 20 + group[1] * 4 + 1, 3 + group[2]];
    assert_eq!((three(12), three(15)), (global, [1000, 20, 3]), "global id and offset, {what}");
    assert_eq!((three(18), three(21)), (local, [16, 4, 1]), "local size, {what}");
    assert_eq!((three(24), three(27), words[30]), ([3, 2, 2], [0, 1, 0], 3), "groups, local id, dimensions, {what}");
    let code = module.kernel("launch").unwrap().code().clone();
    assert!(words[31] >= u64::from(code.scratch_size), "scratch, {what}");
    assert_eq!((words[32], words[33]), (code.lds_size.into(), 1), "LDS, kernarg segment, {what}");
    assert_eq!((words[34], words[35]), (LDS_APERTURE >> 32, PRIVATE_APERTURE >> 32), "queue, {what}");
    assert_eq!(words[36], 0, "not one of several devices, {what}");
}

/// Hidden arguments by their offset in version 5, and what they point to in vain.
const ABSENT: [(u32, Service); 4] =
    [(80, Service::Hostcall), (96, Service::Heap), (104, Service::DefaultQueue), (112, Service::CompletionAction)];

#[test]
fn what_is_not_supplied_is_named_once_it_is_used() {
    let is_five = |name: &String| !name.contains(".v");
    assert_eq!(builds("hidden", 12).iter().filter(|name| is_five(name)).count(), 8);
    on_all("hidden", 12, |device, module, engine| {
        let kernel = module.kernel("follow").unwrap();
        if kernel.code().abi != Abi::HsaV5 {
            return;
        }
        let out = device.buffer::<u32>(1).unwrap();
        let follow = |offset: u32| kernel.launch().grid(1).engine(engine).arg(&out).arg(offset).run();
        for (offset, service) in ABSENT {
            let stuck = stuck(follow(offset).unwrap_err());
            assert_eq!(cause(&stuck), Cause::Absent(service), "{stuck}");
            let text = format!("the hidden argument {}, which is not supplied", service.argument());
            assert!(stuck.to_string().contains(&text), "{stuck}");
        }
        // The queue is there: a type of 0.
        follow(200).unwrap();
    });
}

/// Every value that a descriptor can ask for, from the SGPRs and VGPRs themselves.
#[test]
fn registers_that_a_descriptor_enables() {
    on_all("registers", 4, |device, module, engine| {
        let kernel: Kernel = module.kernel("registers").unwrap();
        let out = device.buffer::<u32>(64 * 2).unwrap();
        // 42 work-items a group, so lane 21 is item (1, 3, 0).
        kernel.launch().grid([12, 7, 2]).block([6, 7, 1]).engine(engine).arg(&out).run().unwrap();
        let what = format!("{} by {engine:?}", module.name());
        for (x, words) in out.read().chunks(64).enumerate() {
            let pair = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
            let [packet, queue, kernarg] = [4, 6, 8].map(pair);
            assert!(packet != 0 && queue > packet && kernarg > queue, "{what}");
            assert_eq!(pair(10), 0, "dispatch id, {what}");
            let base = pair(0) & 0xffff_ffff_ffff;
            match module.target().generation() {
                Gen::Gfx9 => assert_eq!(pair(12), base, "flat scratch, {what}"),
                _ => assert_eq!(words[12..14], [0, 20], "flat scratch, {what}"),
            }
            assert_eq!(words[14], 20, "scratch size, {what}");
            assert_eq!(words[15..18], [x as u32, 0, 1], "work-group, {what}");
            assert_eq!(words[18], 1 << 31 | 1, "first wave of one, {what}");
            assert!(words[19] < words[2] && words[19].is_multiple_of(1024), "offset in scratch, {what}");
            assert_eq!(words[20..23], [21 % 6, 21 / 6, 0], "work-item, {what}");
        }
    });
}

#[test]
fn arguments_are_checked_by_kind_size_and_place() {
    let device = Device::new().unwrap();
    let kernel = open(&device, "stack.gfx900.O2.co").kernel("stack").unwrap();
    let (a, b) = (device.buffer::<u32>(64).unwrap(), device.buffer::<u32>(64).unwrap());
    let refused = |third: Arg<'_>| {
        let error = kernel.launch().grid(64).arg(&a).arg(&b).arg(third).prepare().unwrap_err();
        assert!(matches!(error, Error::Arg { .. }));
        error.to_string()
    };
    assert!(refused(1.0f32.into()).ends_with("argument 2 (uint): f32 was given, it is an integer"));
    assert!(refused(1u64.into()).ends_with("argument 2 (uint): 8 bytes were given, it takes 4"));
    assert!(refused((&a).into()).ends_with("argument 2 (uint): a buffer was given, it is a value"));
    let mut launch = kernel.launch().grid(64).arg(&a).arg(&b).arg(3i32).prepare().unwrap();
    assert!(launch.set(3, 1u32).unwrap_err().to_string().contains("takes 3 arguments, 4 were given"));
    launch.set(2, 5u32).unwrap();
    assert!(launch.set(2, Arg::lds(4)).is_err());
    launch.run().unwrap();
    assert_eq!(b.read()[7], stack_reference(0, 7, 5));
}

/// Global wave sync as LLVM selects it and as ROCm's device library uses it: which resource an instruction means, that
/// the barrier's number is that of the other waves, and that the last one sets it for the next time. Before gfx9 LLVM
/// repeats each instruction until TRAPSTS has no memory violation.
#[test]
fn work_groups_meet() {
    const GROUPS: u32 = 9;
    const ROUNDS: u32 = 3;
    on_all("gws", 8, |device, module, engine| {
        let run = |kernel: &str, groups: u32, threads: usize, args: Vec<Arg>| {
            // Only where one wave speaks for the work-group may there be two.
            let items = if ["set_barrier", "release"].contains(&kernel) { 64 } else { 128 };
            let kernel = module.kernel(kernel).unwrap();
            kernel.launch().grid(groups * items).block(items).engine(engine).threads(threads).args(args).run()
        };
        run("set_barrier", 1, 1, vec![(GROUPS - 1).into()]).unwrap();
        let want = (0..ROUNDS).flat_map(|round| {
            let sum: u32 = (0..GROUPS).map(|group| 1000 * round + group * group).sum();
            std::iter::repeat_n(sum, GROUPS as usize * 128)
        });
        let want: Vec<u32> = want.collect();
        for threads in [1, 3] {
            let [said, heard] = [GROUPS as usize, want.len()].map(|len| device.buffer::<u32>(len).unwrap());
            run("meet", GROUPS, threads, vec![(&said).into(), (&heard).into(), ROUNDS.into()]).unwrap();
            assert!(heard.read() == want, "{} by {engine:?} on {threads} threads", module.name());
        }

        let total = device.buffer::<u32>(2).unwrap();
        run("release", 1, 1, vec![1u32.into()]).unwrap();
        run("count", GROUPS, 3, vec![(&total).into(), 5u32.into()]).unwrap();
        assert_eq!(total.read()[0], GROUPS * 5, "{} by {engine:?}", module.name());
        // One may pass since, and two more; the next one waits for ever.
        run("release", 1, 1, vec![2u32.into()]).unwrap();
        let passed = device.buffer::<u32>(1).unwrap();
        run("wait", 3, 2, vec![(&passed).into()]).unwrap();
        assert_eq!(passed.read(), [3]);
        let stuck = stuck(run("wait", 1, 1, vec![(&passed).into()]).unwrap_err());
        assert_eq!((cause(&stuck), passed.read()), (Cause::Deadlock, vec![3]));
    });
}
