//! Kernels that never end do when their deadline passes or they are cancelled, and the error says where they were.

use crate::world::{ENGINES, flat_cases, kernel, still_works};
use gcnjit::rt::Stopper;
use gcnjit::{Arg, Device, Engine, Error, Interrupted, Kernel};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Each with the instructions at one of which a wave is when it is stopped.
const LOOPS: [(&str, &str); 7] = [
    ("loop: s_branch loop", "s_branch"),
    ("s_getpc_b64 s[8:9]\ns_setpc_b64 s[8:9]", "s_setpc_b64"),
    ("loop: s_barrier\ns_branch loop", "s_branch s_barrier"),
    ("loop: s_sleep 1\ns_branch loop", "s_branch s_sleep"),
    // One wave of four never comes to the barrier.
    (
        "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 64\nloop: s_cbranch_scc1 loop\ns_barrier\ns_endpgm",
        "s_cbranch_scc1",
    ),
    // Nor does this one, and it never looks for a way out.
    (
        "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\nloop: s_cbranch_scc1 loop\ns_barrier\ns_endpgm",
        "s_cbranch_scc1",
    ),
    // The first wave ends early; the others meet at barriers for ever.
    (
        "v_readfirstlane_b32 s8, v0\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc0 end\nloop: s_barrier\ns_branch loop\nend: s_endpgm",
        "s_branch s_barrier",
    ),
];

fn interrupted(result: Result<gcnjit::Stats, Error>) -> Box<Interrupted> {
    match result {
        Err(Error::Stopped(interrupted)) => interrupted,
        other => panic!("it should have been stopped, not {other:?}"),
    }
}

fn launch<'a>(kernel: &'a Kernel, engine: Engine) -> gcnjit::Launch<'a> {
    let launch = kernel.launch().grid([1 << 30, 4, 4]).block([256, 1, 1]).engine(engine);
    launch.arg(Arg::pointer(0)).arg(Arg::pointer(0))
}

#[test]
fn a_deadline_ends_them() {
    let device = Device::with_threads(2).unwrap();
    for (target, engine) in flat_cases() {
        for (text, instructions) in LOOPS {
            let kernel = kernel(&device, target, text);
            let start = Instant::now();
            let stop = interrupted(launch(&kernel, engine).deadline(Duration::from_millis(10)).run());
            assert!(start.elapsed() < Duration::from_secs(3), "{text}: {:?}", start.elapsed());
            assert_eq!(stop.stopped.by, Stopper::Deadline);
            let named = stop.stopped.instruction.as_deref().unwrap();
            let mut known = instructions.split(' ');
            // Work-groups that give way let others begin: it may be found there.
            let place = stop.offset == 0 || known.any(|instruction| named.starts_with(instruction));
            assert!(place, "{target} {engine:?} {text}: {stop}");
            assert!(stop.to_string().contains("its deadline passed before its end, pc 0x"), "{stop}");
        }
    }
    ENGINES.iter().for_each(|engine| still_works(&device, *engine));
}

#[test]
fn another_thread_cancels_them() {
    let device = Device::with_threads(2).unwrap();
    for (target, engine) in flat_cases() {
        let kernel = kernel(&device, target, LOOPS[0].0);
        let cancel = AtomicBool::new(false);
        let stop = std::thread::scope(|scope| {
            let running = scope.spawn(|| interrupted(launch(&kernel, engine).cancel(&cancel).run()));
            std::thread::sleep(Duration::from_millis(10));
            cancel.store(true, Relaxed);
            running.join().unwrap()
        });
        assert_eq!((stop.stopped.by, stop.offset), (Stopper::Cancel, 0));
        still_works(&device, engine);
    }
}

/// A cancelled launch runs nothing.
#[test]
fn a_launch_that_is_cancelled_before_it_begins_does_nothing() {
    let device = Device::new().unwrap();
    let text = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nflat_store_dword v[1:2], v0\ns_endpgm";
    for (target, engine) in flat_cases() {
        let (kernel, cell) = (kernel(&device, target, text), device.buffer_from(&[9u32]).unwrap());
        let launch = kernel.launch().grid(64).engine(engine).arg(&cell).arg(Arg::pointer(0));
        interrupted(launch.cancel(&AtomicBool::new(true)).run());
        assert_eq!(cell.read(), [9]);
    }
}
