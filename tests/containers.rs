//! Files of other kinds than `tests/kernels.rs` has: older and newer code objects, several kernels and variables in
//! one, offload bundles.

use gcnjit::{Device, Engine, Error, Module, Target};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels").join(name)
}

/// Runs the saxpy of `module` with both engines, on a grid with a partial work-group and an offset.
fn saxpy(device: &Device, module: &Module) {
    let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let kernel = module.kernel("saxpy").unwrap();
    for engine in [Engine::Interp, Engine::Jit] {
        let (x, y) = (device.buffer_from(&x).unwrap(), device.buffer_from(&[1.0f32; 300]).unwrap());
        let launch = kernel.launch().grid(200).block(64).offset([50, 0, 0]).engine(engine);
        launch.arg(&x).arg(&y).arg(2.0f32).arg(240u32).run().unwrap();
        let want = |i: usize| if (50..240).contains(&i) { 1.0 + 2.0 * i as f32 } else { 1.0 };
        assert_eq!(y.read(), (0..300).map(want).collect::<Vec<_>>(), "{} by {engine:?}", module.name());
    }
}

#[test]
fn every_version_of_code_objects_runs() {
    let device = Device::new().unwrap();
    for name in [
        "saxpy/saxpy.gfx900.v2.co",
        "saxpy/saxpy.gfx900.v3.co",
        "saxpy/saxpy.gfx900.v4.co",
        "saxpy/saxpy.gfx900.co",
        "containers/saxpy.gfx900.v6.co",
        "containers/saxpy.gfx9-generic.v6.co",
        "containers/saxpy.gfx803.v2.co",
    ] {
        saxpy(&device, &Module::open(&device, path(name)).unwrap());
    }
}

#[test]
fn kernels_of_a_file_share_its_variables() {
    let device = Device::new().unwrap();
    for name in ["globals.gfx900.co", "globals.gfx803.co", "globals.gfx900.v2.co"] {
        for engine in [Engine::Interp, Engine::Jit] {
            let module = Module::open(&device, path("containers").join(name)).unwrap();
            assert_eq!(module.kernels().collect::<Vec<_>>(), ["add_primes", "count", "keep"]);
            let launch = |kernel: &str| module.kernel(kernel).unwrap();
            launch("count").launch().grid(100).engine(engine).run().unwrap();
            assert_eq!(module.global("counter").unwrap().read::<u32>(), [140], "{name} by {engine:?}");

            let input: Vec<u32> = (0..64).map(|i| i * 100).collect();
            let (input, out) = (device.buffer_from(&input).unwrap(), device.buffer::<u32>(64).unwrap());
            launch("keep").launch().grid(64).engine(engine).arg(&input).run().unwrap();
            assert_eq!(module.global("zeroes").unwrap().read::<u32>(), input.read());
            launch("add_primes").launch().grid(64).engine(engine).arg(&out).run().unwrap();
            let tables = [[2, 3, 5, 7], [11, 13, 17, 19]];
            let want: Vec<u32> = (0..64).map(|i| tables[i & 1][i >> 1 & 3] + i as u32 * 100).collect();
            assert_eq!(out.read(), want, "{name} by {engine:?}");

            module.global("counter").unwrap().write(&[7u32]).unwrap();
            launch("count").launch().grid(3).engine(engine).run().unwrap();
            assert_eq!(module.global("counter").unwrap().read::<u32>(), [10]);
            assert!(module.global("primes").is_none(), "it is hidden");
        }
    }
}

#[test]
fn the_part_of_a_bundle_is_picked_by_target() {
    let device = Device::new().unwrap();
    for name in ["saxpy.hipfb", "saxpy.zstd.hipfb"] {
        let path = path("containers").join(name);
        assert_eq!(Module::open(&device, &path).unwrap().target(), Target::Gfx803);
        for target in [Target::Gfx803, Target::Gfx900] {
            let module = Module::open_for(&device, &path, Some(target)).unwrap();
            assert_eq!((module.target(), module.image().parts.len()), (target, 3));
            saxpy(&device, &module);
        }
        let error = Module::open_for(&device, &path, Some(Target::Gfx600)).unwrap_err();
        assert!(matches!(error, Error::Load { .. }));
        let text = error.to_string();
        assert!(text.contains("no code for gfx600; there is host-") && text.contains("gfx900:xnack-"), "{text}");
    }
}
