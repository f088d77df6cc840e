//! A launch that goes wrong ends with an error that says where, and nothing else happens: the device, its other
//! buffers and the same kernel stay usable.

use gcnjit::rt::{Cause, Trap};
use gcnjit::{Arg, Buffer, Device, Engine, Error, Kernel, Module, Stats, Stuck};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ENGINES: [Engine; 2] = [Engine::Jit, Engine::Interp];
const TARGETS: [&str; 4] = ["gfx600", "gfx700", "gfx803", "gfx900"];

fn open(device: &Device, name: &str, target: &str) -> Kernel {
    let path = format!("{}/kernels/{name}/{name}.{target}.co", env!("CARGO_MANIFEST_DIR"));
    Module::open(device, path).unwrap().kernel(name).unwrap()
}

/// y = 2 x + y over 1000 elements.
fn saxpy<'a>(kernel: &'a Kernel, engine: Engine, x: Arg<'a>, y: Arg<'a>) -> Result<Stats, Error> {
    kernel.launch().grid(1000).block(256).engine(engine).arg(x).arg(y).arg(2.0f32).arg(1000u32).run()
}

fn stuck(result: Result<Stats, Error>) -> Box<Stuck> {
    match result {
        Err(Error::Fault(stuck)) => stuck,
        other => panic!("a fault was expected, not {other:?}"),
    }
}

/// After any fault, this must still work.
fn still_works(device: &Device, kernel: &Kernel, engine: Engine) {
    let x = device.buffer_from(&[1.5f32; 1000]).unwrap();
    let y = device.buffer_from(&[1.0f32; 1000]).unwrap();
    saxpy(kernel, engine, (&x).into(), (&y).into()).unwrap();
    assert_eq!(y.read(), [4.0; 1000]);
}

#[test]
fn a_null_pointer_is_a_fault_that_names_its_instruction() {
    for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
        let device = Device::new().unwrap();
        let kernel = open(&device, "saxpy", target);
        let y = device.buffer_from(&[1.0f32; 1000]).unwrap();
        let stuck = stuck(saxpy(&kernel, engine, Arg::pointer(0), (&y).into()));
        assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::Null, .. }), "{target} {engine:?}: {stuck}");
        let text = stuck.to_string();
        let instruction = stuck.fault.instruction.as_deref().unwrap();
        assert!(instruction.contains("_load_"), "{text}");
        for part in [&format!("saxpy.{target}.co: saxpy: "), instruction, "at saxpy+0x"] {
            assert!(text.contains(part), "{target} {engine:?}: {part} in {text}");
        }
        assert_eq!(y.read(), [1.0; 1000]);
        still_works(&device, &kernel, engine);
    }
}

#[test]
fn an_access_out_of_bounds_names_its_lane_and_leaves_the_neighbours_alone() {
    for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
        let device = Device::new().unwrap();
        let kernel = open(&device, "saxpy", target);
        let before = device.buffer_from(&[7u8; 100]).unwrap();
        let x = device.buffer::<f32>(1000).unwrap();
        // 72 bytes too short: the last 18 work-items are outside of it.
        let y: Buffer<f32> = device.buffer(982).unwrap();
        let after = device.buffer_from(&[9u8; 100]).unwrap();
        let stuck = stuck(saxpy(&kernel, engine, (&x).into(), (&y).into()));
        let Trap::Fault { cause: Cause::Unmapped, address, lane, .. } = stuck.fault.trap else { panic!("{stuck}") };
        assert_eq!(address, y.address() + 982 * 4, "{target} {engine:?}: {stuck}");
        // Work-item 982 is the 214th of its work-group.
        assert_eq!((stuck.fault.group, stuck.fault.wave, lane), ([3, 0, 0], 3, 22), "{target} {engine:?}: {stuck}");
        assert_eq!((before.read(), after.read()), (vec![7; 100], vec![9; 100]));
        still_works(&device, &kernel, engine);
    }
}

#[test]
fn engines_fault_alike() {
    let device = Device::new().unwrap();
    for target in TARGETS {
        let kernel = open(&device, "saxpy", target);
        let y = device.buffer::<f32>(1000).unwrap();
        let faults = ENGINES.map(|engine| {
            let x = Arg::pointer(0x1234_5678_0000);
            let launch = kernel.launch().grid(1000).block(256).threads(1).engine(engine);
            stuck(launch.arg(x).arg(&y).arg(2.0f32).arg(1000u32).run())
        });
        assert_eq!(faults[0], faults[1]);
        let checked = kernel.launch().grid(1000).block(256).engine(Engine::Check);
        let checked = checked.arg(Arg::pointer(0x1234_5678_0000)).arg(&y).arg(2.0f32).arg(1000u32).run();
        assert_eq!(stuck(checked), faults[0]);
    }
}

#[test]
fn memory_that_was_freed_is_out_of_bounds() {
    for engine in ENGINES {
        let device = Device::new().unwrap();
        let kernel = open(&device, "saxpy", "gfx900");
        let x = device.buffer::<f32>(1000).unwrap();
        let y = device.buffer::<f32>(1000).unwrap();
        let address = y.address();
        drop(y);
        let stuck = stuck(saxpy(&kernel, engine, (&x).into(), Arg::pointer(address)));
        assert!(matches!(stuck.fault.trap, Trap::Fault { cause: Cause::Unmapped, .. }), "{stuck}");
        still_works(&device, &kernel, engine);
    }
}

/// A launch of mandelbrot that takes practically forever.
fn endless(device: &Device, kernel: &Kernel, engine: Engine, how: &AtomicBool) -> Result<Stats, Error> {
    let count = device.buffer::<u32>(64).unwrap();
    let launch = kernel.launch().grid(64).block(64).engine(engine).slice(1000).deadline(Duration::from_secs(60));
    let launch = launch.arg(&count).arg(64u32).arg(0.0f32).arg(0.0f32).arg(0.0f32).arg(u32::MAX);
    launch.cancel(how).run()
}

#[test]
fn a_launch_can_be_cancelled_or_given_a_deadline() {
    for engine in ENGINES {
        let device = Device::new().unwrap();
        let kernel = open(&device, "mandelbrot", "gfx900");
        let cancel = AtomicBool::new(false);
        let start = Instant::now();
        std::thread::scope(|scope| {
            let launch = scope.spawn(|| endless(&device, &kernel, engine, &cancel));
            std::thread::sleep(Duration::from_millis(50));
            cancel.store(true, Ordering::Relaxed);
            assert!(matches!(launch.join().unwrap(), Err(Error::Stopped { .. })));
        });
        let count = device.buffer::<u32>(64).unwrap();
        let launch = kernel.launch().grid(64).block(64).engine(engine).deadline(Duration::from_millis(50));
        let launch = launch.arg(&count).arg(64u32).arg(0.0f32).arg(0.0f32).arg(0.0f32).arg(u32::MAX);
        let error = launch.run().unwrap_err();
        assert!(matches!(error, Error::Stopped { .. }), "{error}");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
