//! Bad accesses and jumps: each is a fault that names its instruction, and nobody else's memory changes.

use crate::world::{ENGINES, FLAT, flat_cases, kernel, kernel_with, raw, still_works};
use gcnjit::rt::code_object::UserSgpr;
use gcnjit::rt::{Cause, Trap};
use gcnjit::{Arg, Device, Engine, Error, Kernel, Stuck, Target};

/// One store of a lane's number by each lane, to the address in s[0:1].
const STORE: &str = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nflat_store_dword v[1:2], v0\ns_endpgm";
const LOAD: &str = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nflat_load_dword v3, v[1:2]\ns_endpgm";
const ATOMIC: &str = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nflat_atomic_add v[1:2], v0\ns_endpgm";
const SCALAR: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_endpgm";
const JUMP: &str = "s_setpc_b64 s[0:1]";

fn fault(kernel: &Kernel, engine: Engine, address: u64) -> Box<Stuck> {
    let launch = kernel.launch().grid(64).engine(engine).threads(1).arg(Arg::pointer(address)).arg(Arg::pointer(0));
    match launch.run() {
        Err(Error::Fault(stuck)) => stuck,
        other => panic!("{engine:?} {address:#x}: a fault was expected, not {other:?}"),
    }
}

/// Runs each text with each address on both engines: the cause, at that address, by that instruction.
fn check(texts: &[&str], address: impl Fn(&Device, u64) -> (u64, Cause)) {
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let before = device.buffer_from(&[0xaau8; 5000]).unwrap();
        let buffer = device.buffer_from(&[0x55u8; 1001]).unwrap();
        let after = device.buffer_from(&[0xbbu8; 5000]).unwrap();
        let (address, cause) = address(&device, buffer.address());
        for text in texts {
            let kernel = kernel(&device, target, text);
            let stuck = fault(&kernel, engine, address);
            let Trap::Fault { cause: found, address: at, .. } = stuck.fault.trap else { panic!("{stuck}") };
            assert_eq!((found, at), (cause, address), "{target} {engine:?}: {stuck}");
            let named = stuck.fault.instruction.as_deref().unwrap_or_default();
            let access = text.lines().find(|line| line.starts_with("flat") || line.starts_with("s_load"));
            let name = access.and_then(|line| line.split(' ').next()).unwrap();
            assert!(named.starts_with(name), "{target} {engine:?}: {stuck}");
        }
        assert!(before.read().iter().all(|byte| *byte == 0xaa));
        assert!(buffer.read().iter().all(|byte| *byte == 0x55));
        assert!(after.read().iter().all(|byte| *byte == 0xbb));
        still_works(&device, engine);
    }
}

#[test]
fn null() {
    check(&[STORE, LOAD, ATOMIC, SCALAR], |_, _| (0, Cause::Null));
    check(&[STORE, LOAD, ATOMIC, SCALAR], |_, _| (4092, Cause::Null));
}

#[test]
fn wild() {
    for address in [0x1000, 0x1234_5678_9abc, 0x7fff_ffff_f000, 0x8000_0000_0000, 1 << 62, u64::MAX - 3] {
        check(&[STORE, LOAD, ATOMIC], |_, _| (address, Cause::Unmapped));
    }
    // Memory of the host: this function's own frame, and its code.
    let local = 5u32;
    check(&[STORE, LOAD, ATOMIC], |_, _| (&raw const local as u64 & !3, Cause::Unmapped));
    check(&[STORE, LOAD, ATOMIC], |_, _| (wild as *const () as u64 & !3, Cause::Unmapped));
    assert_eq!(local, 5);
}

#[test]
fn beside_a_buffer() {
    check(&[STORE, LOAD], |_, start| (start + 1001, Cause::Unmapped));
    check(&[STORE, LOAD], |_, start| (start + 998, Cause::Unmapped));
    check(&[STORE, LOAD, ATOMIC], |_, start| (start - 4, Cause::Unmapped));
    check(&[STORE, LOAD, ATOMIC], |_, start| (start + 4096, Cause::Unmapped));
}

/// Accesses that were good many times, and then leave the allocation: translated code remembers where the last one was.
#[test]
fn walking_off_an_end() {
    const LEN: u64 = 4196;
    for (target, engine) in flat_cases() {
        for (access, shift, bad) in [
            ("flat_load_dword v3, v[1:2]", 2, 4196),
            ("flat_store_dword v[1:2], v3", 2, 4196),
            ("flat_load_dwordx2 v[5:6], v[1:2]", 3, 4192),
            ("flat_store_dwordx2 v[1:2], v[5:6]", 3, 4192),
        ] {
            let device = Device::new().unwrap();
            let buffer = device.buffer_from(&[0x55u8; LEN as usize]).unwrap();
            let after = device.buffer_from(&[0xbbu8; 5000]).unwrap();
            assert!(buffer.address().is_multiple_of(512), "lanes' offsets are or-ed to it");
            let text = format!(
                "v_lshlrev_b32 v4, {shift}, v0\nwalk: v_or_b32 v1, s0, v4\nv_mov_b32 v2, s1\n{access}
                s_add_u32 s0, s0, {step}\ns_addc_u32 s1, s1, 0\ns_branch walk",
                step = 64 << shift
            );
            let stuck = fault(&kernel(&device, target, &text), engine, buffer.address());
            let Trap::Fault { cause, address, lane, .. } = stuck.fault.trap else { panic!("{stuck}") };
            let want = (Cause::Unmapped, buffer.address() + bad, (bad as u32 & ((64 << shift) - 1)) >> shift);
            assert_eq!((cause, address, lane), want, "{target} {engine:?}: {stuck}");
            assert!(after.read().iter().all(|byte| *byte == 0xbb));
            // The access that faults stores nothing, not even for the lanes that are inside.
            let last = (LEN as usize) & !((64 << shift) - 1);
            assert!(buffer.read()[last..].iter().all(|byte| *byte == 0x55));
        }
    }
}

#[test]
fn misaligned_atomics() {
    check(&[ATOMIC], |_, start| (start + 2, Cause::Misaligned));
}

#[test]
fn writes_to_code() {
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        for text in [STORE, ATOMIC] {
            let kernel = kernel(&device, target, text);
            let stuck = fault(&kernel, engine, kernel.raw().entry());
            assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::ReadOnly, .. }), "{stuck}");
            assert_eq!(fault(&kernel, engine, kernel.raw().entry()), stuck, "the code is as it was");
        }
        still_works(&device, engine);
    }
}

/// Data can't be executed, even if it is the code of a kernel.
#[test]
fn jumps_out_of_the_code() {
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, JUMP);
        // s_endpgm, many times.
        let data = device.buffer_from(&[0xbf81_0000u32; 64]).unwrap();
        let entry = kernel.raw().entry();
        for address in
            [0, 8, 0x1234_5678_9abc, u64::MAX - 3, data.address(), data.address() + 128, entry + 2, entry + 4]
        {
            let stuck = fault(&kernel, engine, address);
            let Trap::Fault { cause, address: at, pc, .. } = stuck.fault.trap else { panic!("{stuck}") };
            assert_eq!((cause, at, pc), (Cause::BadJump, address, address), "{target} {engine:?}: {stuck}");
        }
        still_works(&device, engine);
    }
}

/// What was translated of a module does not outlive it, even where another is loaded at its address.
#[test]
fn jumps_to_code_that_was_freed() {
    for engine in ENGINES {
        let device = Device::new().unwrap();
        let jump = kernel(&device, Target::Gfx900, JUMP);
        let run = |address: u64| {
            let launch = jump.launch().grid(64).engine(engine).arg(Arg::pointer(address)).arg(Arg::pointer(0));
            launch.run()
        };
        let other = kernel(&device, Target::Gfx900, "s_nop 0\ns_endpgm");
        let address = other.raw().entry();
        run(address).unwrap();
        drop(other);
        let Err(Error::Fault(stuck)) = run(address) else { panic!("{engine:?}: it ran what was freed") };
        assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::BadJump, .. }), "{stuck}");
        let another = kernel(&device, Target::Gfx900, "s_nop 0\ns_trap 2");
        assert_eq!(another.raw().entry(), address, "the first place that is free");
        let Err(Error::Fault(stuck)) = run(address) else { panic!("{engine:?}: it ran what was there before") };
        assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::TrapInstruction, .. }), "{stuck}");
    }
}

/// Inside of an instruction may be another one: the second dword of this is s_endpgm, or nothing that decodes.
#[test]
fn jumps_into_an_instruction() {
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let hidden =
            |literal: &str| format!("s_add_u32 s0, s0, 8\ns_setpc_b64 s[0:1]\ns_mov_b32 s2, {literal}\ns_trap 2");
        let run = |literal: &str| {
            let kernel = kernel(&device, target, &hidden(literal));
            let entry = Arg::pointer(kernel.raw().entry() + 4);
            kernel.launch().grid(64).engine(engine).arg(entry).arg(Arg::pointer(0)).run()
        };
        run("0xbf810000").unwrap();
        let error = run("0xffffffff").unwrap_err();
        assert!(matches!(error, Error::Decode(_)), "{target} {engine:?}: {error}");
        still_works(&device, engine);
    }
}

#[test]
fn code_without_an_end() {
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, "s_nop 0\nv_mov_b32 v0, 1");
        let stuck = fault(&kernel, engine, 0);
        let end = kernel.raw().entry() + 8;
        assert!(
            matches!(stuck.fault.trap, Trap::Fault { cause: Cause::BadJump, address, .. } if address == end),
            "{stuck}"
        );
    }
}

/// LDS beyond what was asked for reads zero and is not written, wherever the address.
#[test]
fn lds_overflow() {
    let text = "
        s_mov_b32 m0, -1
        v_mov_b32 v1, 7
        v_lshlrev_b32 v2, 10, v0
        ds_write_b32 v2, v1
        v_mov_b32 v4, -4
        ds_write_b32 v4, v1
        ds_add_u32 v2, v1
        ds_read_b32 v3, v2
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32 v5, 2, v0
        v_mov_b32 v7, s1
        v_or_b32 v6, s0, v5
        flat_store_dword v[6:7], v3
        s_endpgm";
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let mut raw = raw(target);
        raw.lds = 2048;
        let kernel = kernel_with(&device, &raw, text);
        let seen = device.buffer::<u32>(64).unwrap();
        // Or-ing the offset to the address needs this.
        assert!(seen.address().is_multiple_of(256));
        kernel.launch().grid(64).engine(engine).arg(&seen).arg(Arg::pointer(0)).run().unwrap();
        let want: Vec<u32> = (0..64).map(|lane| if lane < 2 { 14 } else { 0 }).collect();
        assert_eq!(seen.read(), want, "{target} {engine:?}");
        still_works(&device, engine);
    }
}

/// A stack that grows for ever leaves scratch.
#[test]
fn stack_overflow() {
    let text = "
        s_mov_b64 flat_scratch, s[0:1]
        s_mov_b32 s6, 0
        push: scratch_store_dword off, v0, s6
        s_add_u32 s6, s6, 16
        s_branch push";
    for engine in ENGINES {
        let device = Device::new().unwrap();
        let mut raw = raw(Target::Gfx900);
        raw.sgprs.clear();
        raw.sgprs.insert(0, UserSgpr::FlatScratchInit);
        raw.scratch = 1024;
        let kernel = kernel_with(&device, &raw, text);
        let other = device.buffer_from(&[3u8; 1 << 16]).unwrap();
        let error = kernel.launch().grid(64).engine(engine).run().unwrap_err();
        let Error::Fault(stuck) = error else { panic!("{error}") };
        assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::StackOverflow, .. }), "{stuck}");
        assert!(stuck.fault.instruction.as_deref().unwrap().starts_with("scratch_store_dword"), "{stuck}");
        assert!(other.read().iter().all(|byte| *byte == 3));
        still_works(&device, engine);
    }
}

#[test]
fn imports_end_where_they_end() {
    for (target, engine) in FLAT.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
        let device = Device::new().unwrap();
        let mut host = vec![0x11u32; 100];
        host.reserve_exact(100);
        let buffer = device.buffer_from_vec(host).unwrap();
        let kernel = kernel(&device, target, STORE);
        for address in [buffer.address() + 400, buffer.address() + 398, buffer.address() - 4] {
            let stuck = fault(&kernel, engine, address);
            assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::Unmapped, .. }), "{stuck}");
        }
        kernel.launch().grid(8).engine(engine).arg(&buffer).arg(Arg::pointer(0)).run().unwrap();
        let host = buffer.into_vec();
        // The last lane's number is what stays, of all that were stored at the same place.
        assert_eq!((host[0], &host[1..]), (7, [0x11; 99].as_slice()));
    }
}
