//! Damaged code objects: those that still load are run, on both engines, with pointers to whatever.
//!
//! `GCNJIT_SANDBOX_FILES` sets how many damaged copies are run, `GCNJIT_SANDBOX_SEED` the seed.

use crate::engines::{Random, setting};
use crate::random::{Victim, kind, still_runs};
use gcnjit::rt::{Geometry, Image, Kernarg, Kernel, Launch, Loaded};
use gcnjit_interp::Interpreter;
use gcnjit_translate::Jit;
use std::collections::BTreeMap;

/// Kernels with loops, barriers, LDS, calls, tables and atomics; one for each generation and container.
const FILES: [&str; 9] = [
    "saxpy/saxpy.gfx900.v2.co",
    "sha256/sha256.gfx803.co",
    "reduction/reduction.gfx600.co",
    "histogram/histogram.gfx700.co",
    "atomics/atomics.gfx900.co",
    "calls/calls.gfx900.co",
    "vm/vm.gfx803.co",
    "containers/globals.gfx900.co",
    "containers/tahiti64.amdcl",
];

/// Changes some bytes; most often in the code, which `text` is the place of.
fn damage(file: &mut [u8], text: &std::ops::Range<usize>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let place = if random.below(4) == 0 { 0..file.len() } else { text.clone() };
        let at = place.start + random.below(place.len() as u64) as usize;
        match random.below(3) {
            0 => file[at] ^= 1 << random.below(8),
            1 => file[at] = random.next() as u8,
            _ => {
                let word = random.dword().to_le_bytes();
                file[at..].iter_mut().zip(word).for_each(|(byte, new)| *byte = new);
            }
        }
    }
}

/// Where the file has its code.
fn text(image: &Image, file: &[u8]) -> std::ops::Range<usize> {
    let segment = image.segments.iter().find(|segment| segment.executable).expect("code");
    let code = image.bytes(segment);
    let start = file.windows(code.len()).position(|bytes| bytes == code).expect("the code of the file");
    start..start + code.len()
}

/// Runs a kernel on both engines; arguments are random pointers.
fn run(victim: &Victim, kernel: &Kernel, random: &mut Random, ends: &mut BTreeMap<&str, usize>) {
    let code = kernel.code();
    let block = code.required_group.unwrap_or([code.max_group.unwrap_or(256).clamp(1, 128), 1, 1]);
    let size = code.kernarg_size.min(4096) as usize;
    let bytes: Vec<u8> = (0..size.div_ceil(8)).flat_map(|_| victim.pointer(random).to_le_bytes()).collect();
    let kernarg = Kernarg { bytes, lds: code.lds_size.saturating_add(1024), ..Kernarg::default() };
    let launch = Launch::new(kernel, Geometry::new(block, block), &kernarg);
    let possible = launch.geometry.check().is_ok()
        && code.kernarg_size as usize <= kernarg.bytes.len()
        && kernarg.lds <= 32 << 10
        && code.scratch_size < 1 << 16;
    if !possible {
        *ends.entry("refused").or_default() += 1;
        return;
    }
    let seed = random.next();
    for end in [victim.run(&Jit::new(), &launch, seed), victim.run(&Interpreter, &launch, seed)] {
        *ends.entry(kind(&end)).or_default() += 1;
    }
}

#[test]
fn damaged_code_objects_run() {
    let (count, seed) = (setting("GCNJIT_SANDBOX_FILES", 90), setting("GCNJIT_SANDBOX_SEED", 1));
    let victim = Victim::new();
    let mut random = Random::new(seed ^ 0xda3a_6ed0);
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    let files = FILES.map(|name| {
        let path = format!("{}/kernels/{name}", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = text(&Image::parse(file.clone()).expect("a good file"), &file);
        (file, text)
    });
    for i in 0..count as usize {
        let (file, text) = &files[i % files.len()];
        let mut damaged = file.clone();
        damage(&mut damaged, text, &mut random);
        let image = Image::parse(damaged).ok().filter(|image| image.size < 1 << 20);
        let Some(loaded) = image.and_then(|image| Loaded::new(image, &victim.hardware.memory).ok()) else {
            *ends.entry("not loaded").or_default() += 1;
            continue;
        };
        for name in loaded.image().kernels.keys() {
            let kernel = loaded.kernel(name).expect("a kernel of the image");
            run(&victim, &kernel, &mut random, &mut ends);
        }
        victim.check();
    }
    println!("{count} damaged code objects on both engines: {ends:?}");
    for kind in ["ended", "fault"] {
        assert!(ends.contains_key(kind), "no kernel {kind}: {ends:?}");
    }
    still_runs(&victim);
}
