//! Argument layout, initial wave state and the splitting of grids, with an engine of closures.

mod support;

use gcnjit_rt::code_object::{KernelCode, Rsrc1, Rsrc2, UserSgpr};
use gcnjit_rt::dispatch::RESIDENT_WAVES;
use gcnjit_rt::kernarg::layout;
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::{
    Alike, ArgError, Cause, DispatchError, Ended, Engine, Env, Geometry, Hardware, Kernarg, Kernel, Launch, Memory,
    Options, RegisterSet, Runner, Stats, Stop, Stopper, Trap, Value, Wave, dispatch,
};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use support::{Fake, load};

const SAXPY: &str = "saxpy/saxpy.gfx900.co";

fn saxpy(memory: &Memory, change: impl FnOnce(&mut KernelCode)) -> Kernel {
    load(memory, SAXPY, "saxpy", |code| {
        code.max_group = None;
        change(code);
    })
}

/// What the dispatches below are numbered.
const ID: u64 = 0x1_0000_0007;

fn run<E: Engine>(
    engine: &E,
    memory: &Memory,
    kernel: &Kernel,
    geometry: Geometry,
    threads: usize,
) -> Result<Stats, DispatchError> {
    let options = Options { threads, slice: 100, ..Options::default() };
    run_with(engine, &Hardware::with_memory(memory.clone()), kernel, geometry, &options)
}

fn run_with<E: Engine>(
    engine: &E,
    hardware: &Hardware,
    kernel: &Kernel,
    geometry: Geometry,
    options: &Options<'_>,
) -> Result<Stats, DispatchError> {
    let kernarg = Kernarg {
        bytes: vec![0; kernel.code().kernarg_size as usize],
        lds: kernel.code().lds_size,
        ..Kernarg::default()
    };
    let launch = Launch { id: ID, ..Launch::new(kernel, geometry, &kernarg) };
    dispatch(engine, hardware, &launch, options)
}

#[test]
fn explicit_and_hidden_arguments() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |_| ());
    let geometry = Geometry { offset: [5, 6, 7], ..Geometry::new([1000, 9, 2], [64, 4, 1]) };
    let (a, n) = (2.5f32.to_le_bytes(), 7u32.to_le_bytes());
    let values = [Value::Buffer(0x1234_5678_9abc), Value::Buffer(0x42), Value::Bytes(&a), Value::Bytes(&n)];
    let kernarg = layout(kernel.code(), &values, &geometry).unwrap();
    let bytes = &kernarg.bytes;
    let u16_at = |i: usize| u16::from_le_bytes(bytes[i..i + 2].try_into().unwrap());
    let u32_at = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
    let u64_at = |i: usize| u64::from_le_bytes(bytes[i..i + 8].try_into().unwrap());
    assert_eq!((u64_at(0), u64_at(8), bytes[16..20] == a, u32_at(20)), (0x1234_5678_9abc, 0x42, true, 7));
    let hidden = 24;
    assert_eq!((u32_at(hidden), u32_at(hidden + 4), u32_at(hidden + 8)), (15, 2, 2));
    assert_eq!([12, 14, 16].map(|i| u16_at(hidden + i)), [64, 4, 1]);
    assert_eq!([18, 20, 22].map(|i| u16_at(hidden + i)), [40, 1, 0]);
    assert_eq!([40, 48, 56].map(|i| u64_at(hidden + i)), [5, 6, 7]);
    assert_eq!(u16_at(hidden + 64), 3);
    let gfx803 = load(&memory, "saxpy/saxpy.gfx803.co", "saxpy", |_| ());
    let bytes = layout(gfx803.code(), &values, &geometry).unwrap().bytes;
    let u32_at = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
    assert_eq!(u64::from(u32_at(hidden + 192)) << 32, PRIVATE_APERTURE);
    assert_eq!(u64::from(u32_at(hidden + 196)) << 32, LDS_APERTURE);
}

#[test]
fn older_code_objects_have_offsets_first() {
    let memory = Memory::new().unwrap();
    for path in ["saxpy/saxpy.gfx900.v3.co", "saxpy/saxpy.gfx900.v4.co"] {
        let kernel = load(&memory, path, "saxpy", |_| ());
        let values = [Value::Buffer(0), Value::Buffer(0), Value::Bytes(&[0; 4]), Value::Bytes(&[0; 4])];
        let geometry = Geometry { offset: [5, 6, 7], ..Geometry::new([64, 1, 1], [64, 1, 1]) };
        let bytes = layout(kernel.code(), &values, &geometry).unwrap().bytes;
        assert_eq!([24, 32, 40].map(|i| bytes[i]), [5, 6, 7], "{path}");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |_| ());
    let geometry = Geometry::new([64, 1, 1], [64, 1, 1]);
    let of = |values: &[Value<'_>]| layout(kernel.code(), values, &geometry).unwrap_err();
    let (buffer, word) = (Value::Buffer(0), Value::Bytes(&[0; 4]));
    assert_eq!(of(&[]), ArgError::Count { expected: 4, given: 0 });
    let error = of(&[buffer, buffer, Value::Bytes(&[0; 8]), word]);
    assert_eq!(error.to_string(), "argument 2 (float): 8 bytes were given, it takes 4");
    let error = of(&[buffer, word, word, word]);
    assert_eq!(error.to_string(), "argument 1 (float*): a value was given, it is a buffer");
    assert!(matches!(of(&[buffer, buffer, buffer, word]), ArgError::Kind { index: 2, given: "a buffer", .. }));
    assert!(matches!(of(&[Value::Lds(4), buffer, word, word]), ArgError::Kind { index: 0, given: "LDS", .. }));
    let bad = Geometry::new([64, 1, 1], [0, 1, 1]);
    assert!(matches!(layout(kernel.code(), &[buffer, buffer, word, word], &bad), Err(ArgError::Geometry(_))));
    let mut code = kernel.code().clone();
    code.args = None;
    assert_eq!(layout(&code, &[], &geometry), Err(ArgError::NotDescribed));
}

#[test]
fn dynamic_lds_follows_the_static_one() {
    let memory = Memory::new().unwrap();
    let kernel = load(&memory, "reduction/reduction.gfx900.co", "reduction", |code| code.lds_size = 6);
    let values = [Value::Buffer(0), Value::Buffer(0), Value::Lds(256)];
    let kernarg = layout(kernel.code(), &values, &Geometry::new([64, 1, 1], [64, 1, 1])).unwrap();
    assert_eq!(kernarg.lds, 8 + 256);
    assert_eq!(kernarg.bytes[16], 8);
}

/// From a wave's scratch to the next's, for 20 bytes a lane.
const SLOT: u32 = 2048 + (64 << 10);

/// The user SGPRs of every kind, in order, then the system SGPRs.
#[test]
fn initial_registers() {
    let memory = Memory::new().unwrap();
    for path in ["saxpy/saxpy.gfx600.co", "saxpy/saxpy.gfx700.co", "saxpy/saxpy.gfx803.co", SAXPY] {
        let kernel = load(&memory, path, "saxpy", |code| {
            use UserSgpr::*;
            code.user_sgprs = vec![
                PrivateSegmentBuffer,
                DispatchPtr,
                QueuePtr,
                KernargPtr,
                DispatchId,
                FlatScratchInit,
                PrivateSegmentSize,
            ];
            code.rsrc1 = Rsrc1(0xe4 << 12 | 1 << 21 | 1 << 23 | 3);
            // 15 user SGPRs, all group ids, group info, scratch, three item ids.
            code.rsrc2 = Rsrc2(15 << 1 | 0xf << 7 | 1 | 2 << 11);
            code.scratch_size = 20;
        });
        let geometry = Geometry::new([10, 7, 5], [10, 7, 2]);
        let seen = Mutex::new(Vec::new());
        let engine = Fake(|wave: &mut Wave, env: &Env<'_>| {
            check_pointers(wave, env, &kernel);
            seen.lock().unwrap().push((wave.group, wave.index, wave.exec(), wave.sgpr, wave.vgpr[..3].to_vec()));
            assert_eq!((wave.mode.0, wave.pc), (0xe4 | 3 << 8, kernel.entry()));
            wave.vgpr[..16].fill([0xdead; 64]);
            wave.sgpr.fill(0xdead);
            Ok(Stop::End)
        });
        let stats = run(&engine, &memory, &kernel, geometry, 1).unwrap();
        assert_eq!((stats.groups, stats.waves, stats.wave_instructions), (3, 3 + 3 + 2, 8));
        let seen = seen.into_inner().unwrap();
        for (group, index, exec, sgpr, ids) in &seen {
            assert_eq!(sgpr[15..18], *group);
            let [_, _, z] = geometry.group_size(*group);
            let count = 70 * z as usize - *index as usize * 64;
            let live = count.min(64);
            assert_eq!(*exec, u64::MAX >> (64 - live));
            assert_eq!(sgpr[18], u32::from(*index == 0) << 31 | (70 * z).div_ceil(64));
            // 20 bytes, 64 lanes, rounded up to 1 KiB, and the gap.
            assert_eq!(sgpr[19], index * SLOT);
            for (lane, item) in (0..live).zip(*index * 64..) {
                assert_eq!([0, 1, 2].map(|d: usize| ids[d][lane]), [item % 10, item / 10 % 7, item / 70]);
            }
            assert!((0..3).all(|d| ids[d][live..].iter().all(|id| *id == 0)));
            assert!(sgpr[20..126].iter().all(|sgpr| *sgpr == 0));
        }
    }
    assert!(memory.view().ranges().is_empty(), "a dispatch frees what it allocated");
}

/// Follows the pointers that `initial_registers` asks for.
fn check_pointers(wave: &Wave, env: &Env<'_>, kernel: &Kernel) {
    let dword = |address| env.memory.load(address).map(u32::from_le_bytes);
    let (packet, queue, kernarg) = (wave.sgpr64(4), wave.sgpr64(6), wave.sgpr64(8));
    assert_eq!(dword(packet + 4), Ok(10 | 7 << 16));
    assert_eq!([12, 16, 20].map(|i| dword(packet + i)), [Ok(10), Ok(7), Ok(5)]);
    assert_eq!(dword(packet + 24), Ok(20));
    assert_eq!(env.memory.load(packet + 40).map(u64::from_le_bytes), Ok(kernarg));
    assert_eq!(env.memory.load(packet + 32).map(u64::from_le_bytes), Ok(kernel.descriptor()));
    assert_eq!(env.memory.store(packet, &[0]), Err(Cause::ReadOnly));
    assert_eq!(dword(queue + 0x40).map(u64::from), Ok(LDS_APERTURE >> 32));
    assert_eq!(dword(queue + 0x44).map(u64::from), Ok(PRIVATE_APERTURE >> 32));
    assert!(env.memory.load::<4>(kernarg + u64::from(kernel.code().kernarg_size) - 4).is_ok());
    let base = u64::from(wave.sgpr[0]) | u64::from(wave.sgpr[1] & 0xffff) << 32;
    let size = u64::from(wave.sgpr[2]);
    // Three waves a work-group, three work-groups.
    assert_eq!((base, size), (env.scratch, 3 * 3 * u64::from(SLOT)));
    for slot in (0..9).map(|slot| base + slot * u64::from(SLOT)) {
        assert!(env.memory.check(slot, 2048, true).is_ok());
        assert_eq!(env.memory.check(slot + 2048, 1, false), Err(Cause::Unmapped));
        assert_eq!(env.memory.check(slot + u64::from(SLOT) - 1, 1, false), Err(Cause::Unmapped));
    }
    // Swizzle enabled, no stride; index stride 64 and the lane's number added.
    assert_eq!(wave.sgpr[1] >> 16, 1 << 15);
    assert_eq!(wave.sgpr[3] >> 21 & 7, 3 | 1 << 2);
    assert_eq!(wave.sgpr64(10), ID);
    let flat = if env.target == gcnjit_isa::Target::Gfx900 { base } else { 20 << 32 };
    assert_eq!((wave.sgpr64(12), wave.sgpr[14]), (flat, 20));
}

/// An engine whose waves read s3, v0 and v5 only, and that writes all registers.
struct Sparing(Mutex<Vec<Box<Wave>>>);

impl Engine for Sparing {
    type Worker = ();

    fn worker(&self) {}

    fn read_first(&self, (): &mut (), wave: &Wave, env: &Env<'_>) -> RegisterSet {
        assert!(env.memory.code(wave.pc).is_some());
        RegisterSet { sgprs: 1 << 3, vgprs: [1 | 1 << 5, 0] }
    }

    fn run(&self, (): &mut (), wave: &mut Wave, _: &Env<'_>) -> Result<Stop, Box<Trap>> {
        self.0.lock().unwrap().push(Box::new(wave.clone()));
        wave.vgpr.fill([9; 64]);
        wave.sgpr.fill(9);
        Ok(Stop::End)
    }
}

#[test]
fn registers_that_are_read_are_filled_in_every_wave() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |code| {
        code.rsrc1 = Rsrc1(1);
        code.rsrc2 = Rsrc2(2 << 11);
    });
    let engine = Sparing(Mutex::default());
    run(&engine, &memory, &kernel, Geometry::new([256, 1, 1], [128, 1, 1]), 1).unwrap();
    for (number, wave) in (0..).zip(engine.0.into_inner().unwrap()) {
        let ids: [u32; 64] = std::array::from_fn(|lane| number % 2 * 64 + lane as u32);
        assert_eq!((wave.vgpr[0], wave.vgpr[5]), (ids, [0; 64]), "wave {number}");
        assert_eq!((wave.sgpr[3], wave.exec()), (0, !0), "wave {number}");
        // All but the first have the registers of the one before.
        let left = if number == 0 { 0 } else { 9 };
        assert_eq!([wave.vgpr[1], wave.vgpr[4], wave.vgpr[8]], [[left; 64]; 3], "wave {number}");
        assert_eq!([wave.sgpr[20], wave.sgpr[106]], [left; 2], "wave {number}");
    }
}

/// An engine that ends some waves together, and keeps the registers of most others. Each is noted with its work-group and
/// index, and whether it was run with others. Waves read s6, which has the work-group's coordinate, and some more.
struct Sociable {
    waves: Mutex<Vec<([u32; 3], u32, bool)>>,
    sgprs: u128,
}

struct SociableRunner<'a> {
    engine: &'a Sociable,
    env: &'a Env<'a>,
    kept: bool,
}

impl Sociable {
    const INSTRUCTIONS: u64 = 3;

    /// Notes a wave; the result is any number.
    fn note(&self, group: [u32; 3], index: u32, together: bool) -> usize {
        let mut waves = self.waves.lock().unwrap();
        waves.push((group, index, together));
        waves.len().wrapping_mul(0x9e37_79b9) >> 7
    }
}

impl Engine for Sociable {
    type Worker = ();

    fn worker(&self) {}

    fn read_first(&self, (): &mut (), _: &Wave, _: &Env<'_>) -> RegisterSet {
        RegisterSet { sgprs: self.sgprs, vgprs: [0b111, 0] }
    }

    fn run(&self, (): &mut (), wave: &mut Wave, _: &Env<'_>) -> Result<Stop, Box<Trap>> {
        self.note(wave.group, wave.index, false);
        wave.executed += Sociable::INSTRUCTIONS;
        Ok(Stop::End)
    }

    fn runner<'a>(&'a self, (): &'a mut (), env: &'a Env<'a>) -> impl Runner + 'a {
        SociableRunner { engine: self, env, kept: false }
    }
}

impl Runner for SociableRunner<'_> {
    fn run(&mut self, wave: &mut Wave) -> Result<Stop, Box<Trap>> {
        assert_eq!((wave.sgpr[6], wave.executed), (wave.group[0], 0));
        wave.executed = Sociable::INSTRUCTIONS;
        self.kept = !self.engine.note(wave.group, wave.index, false).is_multiple_of(29);
        if !self.kept {
            wave.vgpr[0] = [9; 64];
        }
        Ok(Stop::End)
    }

    fn has_kept(&self) -> bool {
        self.kept
    }

    fn run_alike(&mut self, alike: Alike<'_>) -> Ended {
        let Alike { waves, first, groups, reach } = alike;
        let begun = &waves[first];
        assert_eq!((self.env.group_id, begun.sgpr[6], begun.executed), (Some(6), begun.group[0], 0));
        for (x, y) in waves.iter().flat_map(|wave| wave.vgpr[0].chunks(reach).zip(wave.vgpr[1].chunks(reach))) {
            assert!(x.windows(2).all(|pair| pair[1] == pair[0] + 1) && y.iter().all(|other| *other == y[0]));
        }
        let ([x, y, z], index, all) = (begun.group, begun.index, waves.len() * groups - first);
        let wanted = self.engine.waves.lock().unwrap().len().wrapping_mul(0x9e37_79b9) >> 9;
        let ended = (wanted % 6).min(all);
        for wave in index as usize..index as usize + ended {
            let (group, index) = (wave / waves.len(), wave % waves.len());
            self.engine.note([x + group as u32, y, z], index as u32, true);
        }
        Ended { waves: ended, instructions: Sociable::INSTRUCTIONS }
    }
}

#[test]
fn waves_that_begin_alike_run_once_and_in_order() {
    let memory = Memory::new().unwrap();
    // The work-group's coordinate in s6, and its information in s7.
    let kernel = saxpy(&memory, |code| code.rsrc2 = Rsrc2(6 << 1 | 1 << 7 | 1 << 10 | 2 << 11));
    for (grid, block, is_alike) in [
        ([1920, 1, 1], [192, 1, 1], true),
        ([64 * 37, 1, 1], [64, 1, 1], true),
        ([128 * 9 + 70, 1, 1], [128, 1, 1], true),
        ([64 * 11 + 1, 3, 2], [64, 1, 1], true),
        ([1024 * 8, 1, 1], [1024, 1, 1], true),
        ([32 * 7, 4 * 5, 1], [32, 4, 1], true),
        ([16 * 3, 16 * 3, 2], [16, 16, 1], true),
        ([8 * 9, 8 * 3, 1], [8, 8, 1], false),
        ([100 * 9, 1, 1], [100, 1, 1], false),
    ] {
        for (sgprs, threads) in [(1 << 6, 1), (1 << 6, 2), (1 << 6 | 1 << 7, 1)] {
            let engine = Sociable { waves: Mutex::default(), sgprs };
            let geometry = Geometry::new(grid, block);
            let stats = run(&engine, &memory, &kernel, geometry, threads).unwrap();
            let mut waves = engine.waves.into_inner().unwrap();
            let together = waves.iter().filter(|wave| wave.2).count();
            let possible = is_alike && sgprs == 1 << 6;
            // Of two threads one may have them all, or both few.
            assert!(if possible { together > 0 || threads > 1 } else { together == 0 }, "{grid:?} of {block:?}");
            let key = |([x, y, z], index, _): &([u32; 3], u32, bool)| (*z, *y, *x, *index);
            assert!(threads > 1 || waves.is_sorted_by_key(key), "{grid:?} of {block:?}");
            waves.sort_by_key(key);
            let counts = geometry.group_counts();
            let groups = (0..counts[2]).flat_map(|z| (0..counts[1]).map(move |y| (y, z)));
            let groups = groups.flat_map(|(y, z)| (0..counts[0]).map(move |x| [x, y, z]));
            let all = groups.flat_map(|group| {
                let waves = geometry.group_size(group).iter().product::<u32>().div_ceil(64);
                (0..waves).map(move |index| (group, index))
            });
            assert!(waves.iter().map(|(group, index, _)| (*group, *index)).eq(all), "{grid:?} of {block:?}");
            let count = waves.len() as u64;
            let expected = (geometry.groups(), count, count * Sociable::INSTRUCTIONS);
            assert_eq!((stats.groups, stats.waves, stats.wave_instructions), expected);
        }
    }
}

#[test]
fn disabled_registers_are_left_out() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |code| {
        code.user_sgprs = vec![UserSgpr::KernargPtr];
        // Six user SGPRs of which four are not enabled values, work-group id y only.
        code.rsrc2 = Rsrc2(6 << 1 | 1 << 8);
    });
    let engine = Fake(|wave: &mut Wave, _: &Env<'_>| {
        assert_eq!(wave.sgpr[2..8], [0, 0, 0, 0, wave.group[1], 0]);
        assert_eq!(wave.vgpr[1], [0; 64]);
        Ok(Stop::End)
    });
    run(&engine, &memory, &kernel, Geometry::new([128, 4, 1], [64, 2, 1]), 2).unwrap();
}

#[test]
fn barriers_wait_for_live_waves_only() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |code| code.lds_size = 64);
    // Wave i passes i barriers. At each, all live waves must have arrived.
    let engine = Fake(|wave: &mut Wave, env: &Env<'_>| {
        let phase = wave.sgpr[50];
        wave.sgpr[50] += 1;
        let arrived = env.lds.atomic_u32(phase * 4, |x| x + 1) + 1;
        assert!(arrived <= 16 - phase);
        if phase > 0 {
            assert_eq!(u32::from_le_bytes(env.lds.load(phase * 4 - 4)), 16 - (phase - 1));
        }
        Ok(if phase == wave.index { Stop::End } else { Stop::Barrier })
    });
    let stats = run(&engine, &memory, &kernel, Geometry::new([4096, 1, 1], [1024, 1, 1]), 3).unwrap();
    assert_eq!((stats.groups, stats.waves, stats.wave_instructions), (4, 64, 4 * (16 * 17 / 2)));
}

#[test]
fn waves_that_yield_take_turns() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |code| code.lds_size = 4);
    // Wave 0 spins until the last wave has written.
    let engine = Fake(|wave: &mut Wave, env: &Env<'_>| {
        if wave.index == 3 {
            env.lds.store(0, [1, 0, 0, 0]);
        }
        Ok(if env.lds.load(0) == [1, 0, 0, 0] { Stop::End } else { Stop::Yield })
    });
    let geometry = Geometry::new([1024, 1, 1], [256, 1, 1]);
    run(&engine, &memory, &kernel, geometry, 2).unwrap();
    // A slice may be longer than anything that is counted.
    let options = Options { threads: 2, slice: u64::MAX, ..Options::default() };
    run_with(&engine, &Hardware::with_memory(memory.clone()), &kernel, geometry, &options).unwrap();
}

#[test]
fn a_fault_stops_the_grid_and_says_where() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |_| ());
    let count = AtomicU32::new(0);
    let engine = Fake(|wave: &mut Wave, env: &Env<'_>| {
        count.fetch_add(1, Relaxed);
        if wave.group == [3, 1, 0] && wave.index == 1 {
            return Err(Box::new(Trap::Fault { cause: Cause::Unmapped, address: 0x1234, lane: 9, pc: wave.pc }));
        }
        assert!(!env.stop.load(Relaxed) || count.load(Relaxed) > 0);
        Ok(Stop::End)
    });
    let error = run(&engine, &memory, &kernel, Geometry::new([1 << 30, 8, 1], [128, 1, 1]), 2).unwrap_err();
    let DispatchError::Fault(fault) = error else { panic!("{error}") };
    assert_eq!((fault.group, fault.wave, fault.kernel.as_str()), ([3, 1, 0], 1, "saxpy"));
    let text = fault.to_string();
    assert!(text.starts_with("saxpy: access to unmapped memory at address 0x1234, lane 9"), "{text}");
    assert!(text.ends_with("work-group (3, 1, 0), wave 1"), "{text}");
    // The device is still good.
    run(&Fake(|_: &mut Wave, _: &Env<'_>| Ok(Stop::End)), &memory, &kernel, Geometry::new([64, 1, 1], [64, 1, 1]), 2)
        .unwrap();
}

#[test]
fn a_spinning_grid_can_be_cancelled() {
    let memory = Memory::new().unwrap();
    let kernel = saxpy(&memory, |_| ());
    let cancel = AtomicBool::new(false);
    let engine = Fake(|wave: &mut Wave, _: &Env<'_>| {
        if wave.executed == 1000 {
            cancel.store(true, Relaxed);
        }
        Ok(Stop::Yield)
    });
    let geometry = Geometry::new([u32::MAX; 3].map(|x| x >> 12), [64, 1, 1]);
    let options = Options { threads: 2, slice: 10, cancel: Some(&cancel), ..Options::default() };
    let result = run_with(&engine, &Hardware::with_memory(memory.clone()), &kernel, geometry, &options);
    let Err(DispatchError::Stopped(stopped)) = result else { panic!("{result:?}") };
    assert_eq!((stopped.by, stopped.pc), (Stopper::Cancel, kernel.entry()));
    assert!(stopped.to_string().starts_with("saxpy: it was cancelled before its end, pc 0x"), "{stopped}");
}

/// Waves that do nothing but wait at barriers never use up a slice.
#[test]
fn a_deadline_ends_waves_that_wait_at_barriers_for_ever() {
    let hardware = Hardware::new().unwrap();
    let kernel = saxpy(&hardware.memory, |_| ());
    let engine = Fake(|_: &mut Wave, _: &Env<'_>| Ok(Stop::Barrier));
    for block in [64, 1024] {
        let start = Instant::now();
        let deadline = Some(start + Duration::from_millis(20));
        let options = Options { threads: 2, deadline, ..Options::default() };
        let geometry = Geometry::new([1 << 20, 1, 1], [block, 1, 1]);
        let result = run_with(&engine, &hardware, &kernel, geometry, &options);
        let Err(DispatchError::Stopped(stopped)) = result else { panic!("{result:?}") };
        assert_eq!(stopped.by, Stopper::Deadline);
        assert!((20..2000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    }
}

/// Every work-group waits until all have arrived, as grid-wide barriers do.
#[test]
fn work_groups_that_wait_for_each_other_get_on() {
    for (threads, block) in [(1, 64), (3, 64), (2, 512)] {
        let hardware = Hardware::new().unwrap();
        let kernel = saxpy(&hardware.memory, |_| ());
        let groups = RESIDENT_WAVES as u32 / (block / 64);
        let arrived = AtomicU32::new(0);
        let engine = Fake(|wave: &mut Wave, _: &Env<'_>| {
            if wave.sgpr[50] == 0 {
                wave.sgpr[50] = 1;
                arrived.fetch_add(1, Relaxed);
            }
            Ok(if arrived.load(Relaxed) == RESIDENT_WAVES as u32 { Stop::End } else { Stop::Yield })
        });
        let options = Options { threads, ..Options::default() };
        let geometry = Geometry::new([groups * block, 1, 1], [block, 1, 1]);
        let stats = run_with(&engine, &hardware, &kernel, geometry, &options).unwrap();
        assert_eq!((stats.groups, stats.waves), (groups.into(), RESIDENT_WAVES));
    }
}

/// The first work-group waits for one that starts long after there is no room for all between them.
#[test]
fn a_work_group_that_waits_does_not_starve() {
    let hardware = Hardware::new().unwrap();
    let kernel = saxpy(&hardware.memory, |_| ());
    let (last, turns) = (AtomicU32::new(0), AtomicU32::new(0));
    let engine = Fake(|wave: &mut Wave, _: &Env<'_>| {
        last.fetch_max(wave.group[0], Relaxed);
        if wave.group[0] == 0 {
            turns.fetch_add(1, Relaxed);
        }
        Ok(if wave.group[0] == 0 && last.load(Relaxed) < 9000 { Stop::Yield } else { Stop::End })
    });
    let options = Options { threads: 1, ..Options::default() };
    run_with(&engine, &hardware, &kernel, Geometry::new([10_000 * 64, 1, 1], [64, 1, 1]), &options).unwrap();
    let turns = turns.into_inner();
    assert!((8000..10_000).contains(&turns), "it had {turns} turns while 10,000 work-groups ran");
}

/// Waves that leave their work-group waiting go on with their registers and LDS, on whatever thread.
#[test]
fn work_groups_keep_their_state_between_turns() {
    let hardware = Hardware::new().unwrap();
    let kernel = saxpy(&hardware.memory, |code| code.lds_size = 64);
    let engine = Fake(|wave: &mut Wave, env: &Env<'_>| {
        let (step, mine) = (wave.sgpr[50], wave.group[0] * 4 + wave.index);
        if step > 0 {
            assert_eq!(wave.vgpr[9], [mine + step; 64]);
            assert_eq!(u32::from_le_bytes(env.lds.load(wave.index * 4)), mine ^ step);
        }
        wave.sgpr[50] += 1;
        wave.vgpr[9] = [mine + step + 1; 64];
        env.lds.store(wave.index * 4, (mine ^ (step + 1)).to_le_bytes());
        Ok(if step == 40 { Stop::End } else { Stop::Yield })
    });
    let options = Options { threads: 3, ..Options::default() };
    let stats = run_with(&engine, &hardware, &kernel, Geometry::new([256 * 300, 1, 1], [256, 1, 1]), &options).unwrap();
    assert_eq!((stats.groups, stats.waves, stats.wave_instructions), (300, 1200, 1200 * 41));
}

#[test]
fn as_many_threads_work_as_were_asked_for() {
    let hardware = Hardware::new().unwrap();
    let kernel = saxpy(&hardware.memory, |_| ());
    for threads in [1, 2, 8] {
        let seen = Mutex::new(HashSet::new());
        let engine = Fake(|_: &mut Wave, _: &Env<'_>| {
            let mut seen = seen.lock().unwrap();
            seen.insert(thread::current().id());
            Ok(if seen.len() == threads { Stop::End } else { Stop::Yield })
        });
        let options = Options { threads, ..Options::default() };
        run_with(&engine, &hardware, &kernel, Geometry::new([64 * 100, 1, 1], [64, 1, 1]), &options).unwrap();
        assert_eq!(seen.into_inner().unwrap().len(), threads);
    }
}

/// A dispatch that keeps the only helper busy does not hold up another.
#[test]
fn dispatches_from_several_host_threads_do_not_wait_for_each_other() {
    let hardware = Hardware::new().unwrap();
    let kernel = saxpy(&hardware.memory, |_| ());
    let (cancel, helped) = (AtomicBool::new(false), AtomicBool::new(false));
    let geometry = Geometry::new([64 * 100, 1, 1], [64, 1, 1]);
    thread::scope(|scope| {
        let spinning = scope.spawn(|| {
            let caller = thread::current().id();
            let engine = Fake(|_: &mut Wave, _: &Env<'_>| {
                helped.fetch_or(thread::current().id() != caller, Relaxed);
                Ok(Stop::Yield)
            });
            let options = Options { threads: 2, cancel: Some(&cancel), ..Options::default() };
            run_with(&engine, &hardware, &kernel, geometry, &options)
        });
        while !helped.load(Relaxed) {
            thread::yield_now();
        }
        let start = Instant::now();
        let engine = Fake(|_: &mut Wave, _: &Env<'_>| {
            Ok(if start.elapsed() > Duration::from_millis(1) { Stop::End } else { Stop::Yield })
        });
        let options = Options { threads: 2, ..Options::default() };
        assert_eq!(run_with(&engine, &hardware, &kernel, geometry, &options).unwrap().groups, 100);
        cancel.store(true, Relaxed);
        assert!(matches!(spinning.join().unwrap(), Err(DispatchError::Stopped(_))));
    });
}

#[test]
fn impossible_launches_are_refused() {
    let memory = Memory::new().unwrap();
    let engine = Fake(|_: &mut Wave, _: &Env<'_>| panic!("it must not run"));
    let geometry = Geometry::new([64, 1, 1], [64, 1, 1]);
    let refused = |change: fn(&mut KernelCode), geometry| {
        run(&engine, &memory, &saxpy(&memory, change), geometry, 1).unwrap_err()
    };
    assert!(matches!(refused(|_| (), Geometry::new([1; 3], [0; 3])), DispatchError::Geometry(_)));
    let error = refused(|code| code.required_group = Some([32, 1, 1]), geometry);
    assert!(error.to_string().contains("compiled for [32, 1, 1]"), "{error}");
    assert!(matches!(refused(|code| code.max_group = Some(32), geometry), DispatchError::GroupSize { .. }));
    let error = refused(|code| code.lds_size = 65537, geometry);
    assert_eq!(error.to_string(), "saxpy: 65537 bytes of LDS, a work-group on gfx900 can have 65536");
    let gfx600 = load(&memory, "saxpy/saxpy.gfx600.co", "saxpy", |code| code.lds_size = 32769);
    let error = run(&engine, &memory, &gfx600, geometry, 1).unwrap_err();
    assert!(matches!(error, DispatchError::Lds { asked: 32769, limit: 32768, .. }), "{error}");
    assert!(matches!(refused(|code| code.scratch_size = u32::MAX, geometry), DispatchError::Scratch { .. }));
    let kernel = saxpy(&memory, |_| ());
    let kernarg = Kernarg { bytes: vec![0; 8], ..Kernarg::default() };
    let launch = Launch::new(&kernel, geometry, &kernarg);
    let result = dispatch(&engine, &Hardware::with_memory(memory.clone()), &launch, &Options::default());
    assert!(matches!(result, Err(DispatchError::Kernarg { given: 8, .. })));
}

#[test]
fn an_empty_grid_runs_nothing() {
    let memory = Memory::new().unwrap();
    let engine = Fake(|_: &mut Wave, _: &Env<'_>| panic!("it must not run"));
    let stats = run(&engine, &memory, &saxpy(&memory, |_| ()), Geometry::new([0, 1, 1], [64, 1, 1]), 4).unwrap();
    assert_eq!((stats.groups, stats.waves), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every work-item of the grid runs exactly once, whatever the shape and the number of threads.
    #[test]
    fn the_grid_is_covered(grid in [1u32..40, 1u32..12, 1u32..6], block in [1u32..20, 1u32..8, 1u32..5], threads in 1usize..5) {
        let memory = Memory::new().unwrap();
        let kernel = saxpy(&memory, |code| code.rsrc2 = Rsrc2(code.rsrc2.0 | 2 << 11));
        let seen = Mutex::new(BTreeSet::new());
        let engine = Fake(|wave: &mut Wave, _: &Env<'_>| {
            let mut seen = seen.lock().unwrap();
            for lane in (0..64).filter(|lane| wave.exec() >> lane & 1 != 0) {
                let item: [u32; 3] = std::array::from_fn(|d| wave.group[d] * block[d] + wave.vgpr[d][lane]);
                assert!((0..3).all(|d| item[d] < grid[d]));
                assert!(seen.insert(item));
            }
            Ok(Stop::End)
        });
        run(&engine, &memory, &kernel, Geometry::new(grid, block), threads).unwrap();
        prop_assert_eq!(seen.into_inner().unwrap().len() as u32, grid.iter().product::<u32>());
    }
}
