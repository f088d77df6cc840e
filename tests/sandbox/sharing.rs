//! Work-groups on several threads that share memory: atomics are atomic, and those that wait for each other get on.

use crate::world::{ENGINES, FLAT, flat_cases, kernel, still_works};
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Arg, Device, Engine, Kernel, Module, RawCode, Target};
use std::time::Duration;

const THREADS: [usize; 3] = [1, 2, 8];
/// Work-items of a launch: enough for helpers to be called.
const ITEMS: u32 = 256 * 40;

/// An atomic, with what a work-item gives it and what is left after all of them in any order.
struct Form {
    name: &'static str,
    /// The targets that have it.
    targets: &'static [Target],
    /// 8 for those on qwords.
    size: usize,
    initial: u64,
    given: fn(u32) -> u64,
    left: fn(u64, &mut dyn Iterator<Item = u64>) -> u64,
}

/// The low half, or for qwords a number whose carries and sign matter.
fn number(item: u32) -> u64 {
    u64::from(item).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

const fn form(
    name: &'static str,
    initial: u64,
    given: fn(u32) -> u64,
    left: fn(u64, &mut dyn Iterator<Item = u64>) -> u64,
) -> Form {
    let qword = name.as_bytes()[name.len() - 2] == b'x';
    Form { name, targets: &FLAT, size: if qword { 8 } else { 4 }, initial, given, left }
}

/// A float between about -2^12 and 2^13, of a sign and size that change from item to item.
fn float(item: u32) -> f32 {
    (item.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 1024.0 - 4096.0
}

/// Those on floats, which only gfx7 has.
fn float_forms() -> Vec<Form> {
    const SINGLE: fn(u64) -> f32 = |bits| f32::from_bits(bits as u32);
    let forms = [
        form(
            "fmin",
            0,
            |i| float(i).to_bits().into(),
            |a, b| b.fold(SINGLE(a), |a, b| a.min(SINGLE(b))).to_bits().into(),
        ),
        form(
            "fmax",
            0,
            |i| float(i).to_bits().into(),
            |a, b| b.fold(SINGLE(a), |a, b| a.max(SINGLE(b))).to_bits().into(),
        ),
        form(
            "fmin_x2",
            0,
            |i| f64::from(float(i)).to_bits(),
            |a, b| b.fold(f64::from_bits(a), |a, b| a.min(f64::from_bits(b))).to_bits(),
        ),
        form(
            "fmax_x2",
            0,
            |i| f64::from(float(i)).to_bits(),
            |a, b| b.fold(f64::from_bits(a), |a, b| a.max(f64::from_bits(b))).to_bits(),
        ),
    ];
    forms.map(|form| Form { targets: &[Target::Gfx700], ..form }).into()
}

/// Every form whose outcome does not depend on the order; swap and cmpswap have tests of their own.
fn forms() -> Vec<Form> {
    vec![
        form("add", 5, number, |a, b| b.fold(a, u64::wrapping_add)),
        form("sub", 5, number, |a, b| b.fold(a, u64::wrapping_sub)),
        form("smin", 5, number, |a, b| b.fold(a as i32, |a, b| a.min(b as i32)) as u32 as u64),
        form("smax", 5, number, |a, b| b.fold(a as i32, |a, b| a.max(b as i32)) as u32 as u64),
        form("umin", 0xffff_0000, number, |a, b| b.fold(a as u32, |a, b| a.min(b as u32)).into()),
        form("umax", 5, number, |a, b| b.fold(a as u32, |a, b| a.max(b as u32)).into()),
        form("and", u64::MAX, |i| !(1 << (i % 13)), |a, b| b.fold(a, |a, b| a & b)),
        form("or", 0, |i| 1 << (i % 13), |a, b| b.fold(a, |a, b| a | b)),
        form("xor", 5, number, |a, b| b.fold(a, |a, b| a ^ b)),
        form("inc", 0, |_| 1000, |_, b| b.count() as u64 % 1001),
        form("dec", 0, |_| 1000, |_, b| (1001 - b.count() as u64 % 1001) % 1001),
        form("add_x2", 5, number, |a, b| b.fold(a, u64::wrapping_add)),
        form("sub_x2", 5, number, |a, b| b.fold(a, u64::wrapping_sub)),
        form("smin_x2", 5, number, |a, b| b.fold(a as i64, |a, b| a.min(b as i64)) as u64),
        form("smax_x2", 5, number, |a, b| b.fold(a as i64, |a, b| a.max(b as i64)) as u64),
        form("umin_x2", u64::MAX, number, |a, b| b.fold(a, u64::min)),
        form("umax_x2", 5, number, |a, b| b.fold(a, u64::max)),
        form("and_x2", u64::MAX, |i| !(1 << (i % 61)), |a, b| b.fold(a, |a, b| a & b)),
        form("or_x2", 0, |i| 1 << (i % 61), |a, b| b.fold(a, |a, b| a | b)),
        form("xor_x2", 5, number, |a, b| b.fold(a, |a, b| a ^ b)),
        form("inc_x2", 0, |_| 1000, |_, b| b.count() as u64 % 1001),
        form("dec_x2", 0, |_| 1000, |_, b| (1001 - b.count() as u64 % 1001) % 1001),
    ]
}

/// What each work-item does before an atomic: its number in v3, the place of its qword of s[2:3] in v[4:5], that qword in
/// v[6:7], the cell's address in v[1:2].
const PROLOGUE: &str = "
    s_lshl_b32 s4, s4, 8
    v_or_b32 v3, s4, v0
    v_lshlrev_b32 v4, 3, v3
    v_mov_b32 v5, s3
    v_or_b32 v4, s2, v4
    flat_load_dwordx2 v[6:7], v[4:5]
    v_mov_b32 v1, s0
    v_mov_b32 v2, s1
    s_waitcnt vmcnt(0) lgkmcnt(0)
";

/// One memory of a kernel's data: a cell, and a qword for each work-item, aligned so that addresses can be or-ed.
struct Data {
    cell: gcnjit::Buffer<u64>,
    /// Room for alignment; the qwords are at `start`.
    items: gcnjit::Buffer<u64>,
    start: usize,
}

impl Data {
    fn new(device: &Device, initial: u64, given: impl Fn(u32) -> u64) -> Data {
        let cell = device.buffer_from(&[initial, 0]).unwrap();
        let aligned = (ITEMS as usize).next_power_of_two();
        let items = device.buffer::<u64>(aligned * 2).unwrap();
        let start = (aligned - (items.address() / 8) as usize % aligned) % aligned;
        items.write_at(start, &(0..ITEMS).map(given).collect::<Vec<u64>>());
        Data { cell, items, start }
    }

    fn run(&self, kernel: &Kernel, engine: Engine, threads: usize) {
        let items = Arg::pointer(self.items.address() + self.start as u64 * 8);
        let launch = kernel.launch().grid(ITEMS).block(256).engine(engine).threads(threads).slice(50);
        launch.arg(&self.cell).arg(items).run().unwrap();
    }

    fn items(&self) -> Vec<u64> {
        let mut items = vec![0; ITEMS as usize];
        self.items.read_at(self.start, &mut items);
        items
    }
}

#[test]
fn every_form_is_atomic() {
    let device = Device::new().unwrap();
    for (target, engine) in flat_cases() {
        for form in forms().into_iter().chain(float_forms()).filter(|form| form.targets.contains(&target)) {
            let value = if form.size == 8 { "v[6:7]" } else { "v6" };
            let text = format!("{PROLOGUE}flat_atomic_{} v[1:2], {value}\ns_endpgm", form.name);
            let kernel = kernel(&device, target, &text);
            let mask = u64::MAX >> (64 - 8 * form.size);
            let want = (form.left)(form.initial & mask, &mut (0..ITEMS).map(|item| (form.given)(item) & mask)) & mask;
            for threads in THREADS {
                let data = Data::new(&device, form.initial & mask, form.given);
                data.run(&kernel, engine, threads);
                assert_eq!(data.cell.read(), [want, 0], "{} {target} {engine:?} {threads} threads", form.name);
            }
        }
    }
}

/// What is returned is what was there: of a counter each number once; of swaps, each value but the one that is left.
#[test]
fn atomics_return_what_was_there() {
    let device = Device::new().unwrap();
    for (target, engine) in flat_cases() {
        for (name, value, old) in
            [("inc", "v8", "v6"), ("add", "v9", "v6"), ("swap", "v3", "v6"), ("inc_x2", "v[8:9]", "v[6:7]")]
        {
            let text = format!(
                "{PROLOGUE}v_mov_b32 v8, -1\nv_mov_b32 v9, 1\nflat_atomic_{name} {old}, v[1:2], {value} glc
                s_waitcnt vmcnt(0) lgkmcnt(0)\nflat_store_dwordx2 v[4:5], v[6:7]\ns_endpgm"
            );
            let kernel = kernel(&device, target, &text);
            for threads in THREADS {
                // Swapped in are the work-items' numbers; first there is the one that none has.
                let initial = if name == "swap" { ITEMS.into() } else { 0 };
                let data = Data::new(&device, initial, |_| 0);
                data.run(&kernel, engine, threads);
                let (mut seen, left) = (data.items(), data.cell.read()[0]);
                seen.push(left);
                seen.sort_unstable();
                let want: Vec<u64> = (0..=ITEMS.into()).collect();
                assert!(seen == want, "{name} {target} {engine:?} {threads} threads");
            }
        }
    }
}

/// A sum of floats as compilers make it: each lane compares and swaps until it has not been disturbed.
#[test]
fn float_sums_by_compare_and_swap() {
    let text = format!(
        "{PROLOGUE}flat_load_dword v7, v[1:2]
        s_waitcnt vmcnt(0) lgkmcnt(0)
        try: v_add_f32 v6, 1.0, v7
        flat_atomic_cmpswap v8, v[1:2], v[6:7] glc
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_cmp_ne_u32 vcc, v8, v7
        v_mov_b32 v7, v8
        s_and_b64 exec, exec, vcc
        s_cbranch_execnz try
        s_endpgm"
    );
    let device = Device::new().unwrap();
    for (target, engine) in flat_cases() {
        let kernel = kernel(&device, target, &text);
        for threads in THREADS {
            let data = Data::new(&device, 0, |_| 0);
            data.run(&kernel, engine, threads);
            let sum = f32::from_bits(data.cell.read()[0] as u32);
            assert_eq!(sum, ITEMS as f32, "{target} {engine:?} {threads} threads");
        }
    }
}

/// A counter that is only safe behind a lock: one lane a wave takes it by compare-and-swap, waves spin.
#[test]
fn spin_locks_between_waves_and_work_groups() {
    let device = Device::new().unwrap();
    for (target, engine) in flat_cases() {
        let add = if target == Target::Gfx900 { "v_add_u32 v9, 1, v9" } else { "v_add_u32 v9, vcc, 1, v9" };
        let add = if target == Target::Gfx700 { "v_add_i32 v9, vcc, 1, v9" } else { add };
        let text = format!(
            "
            s_mov_b64 exec, 1
            v_mov_b32 v1, s0
            v_mov_b32 v2, s1
            v_mov_b32 v3, s2
            v_mov_b32 v4, s3
            v_mov_b32 v6, 1
            v_mov_b32 v7, 0
            try: flat_atomic_cmpswap v8, v[1:2], v[6:7] glc
            s_waitcnt vmcnt(0) lgkmcnt(0)
            v_cmp_ne_u32 vcc, 0, v8
            s_cbranch_vccnz try
            flat_load_dword v9, v[3:4]
            s_movk_i32 s8, 30
            work: s_sub_u32 s8, s8, 1
            s_cmp_lg_u32 s8, 0
            s_cbranch_scc1 work
            s_waitcnt vmcnt(0) lgkmcnt(0)
            {add}
            flat_store_dword v[3:4], v9
            flat_atomic_swap v[1:2], v7
            s_endpgm"
        );
        let kernel = kernel(&device, target, &text);
        for threads in THREADS {
            let (lock, counter) = (device.buffer::<u32>(1).unwrap(), device.buffer::<u32>(1).unwrap());
            let launch = kernel.launch().grid(ITEMS).block(256).engine(engine).threads(threads).slice(40);
            launch.deadline(Duration::from_secs(60)).arg(&lock).arg(&counter).run().unwrap();
            assert_eq!((lock.read()[0], counter.read()[0]), (0, ITEMS / 64), "{target} {engine:?} {threads} threads");
        }
    }
}

/// Work-groups that all wait until the last has begun, with and without sleeping.
#[test]
fn barriers_over_the_grid() {
    let device = Device::new().unwrap();
    for (target, engine) in flat_cases() {
        for wait in ["s_nop 0", "s_sleep 10"] {
            let text = format!(
                "
                v_mov_b32 v1, s0
                v_mov_b32 v2, s1
                v_mov_b32 v3, 1
                s_mov_b64 s[8:9], exec
                s_mov_b64 exec, 1
                flat_atomic_add v[1:2], v3
                wait: {wait}
                flat_load_dword v4, v[1:2] glc
                s_waitcnt vmcnt(0) lgkmcnt(0)
                v_readfirstlane_b32 s10, v4
                s_cmp_lt_u32 s10, {}
                s_cbranch_scc1 wait
                s_endpgm",
                ITEMS / 64
            );
            let kernel = kernel(&device, target, &text);
            for threads in THREADS {
                let arrived = device.buffer::<u32>(1).unwrap();
                let launch = kernel.launch().grid(ITEMS).block(128).engine(engine).threads(threads).slice(200);
                launch.deadline(Duration::from_secs(60)).arg(&arrived).arg(Arg::pointer(0)).run().unwrap();
                assert_eq!(arrived.read(), [ITEMS / 64], "{target} {engine:?} {threads} threads");
            }
        }
    }
}

/// GDS is one for all work-groups of a device.
#[test]
fn the_global_data_share_is_shared() {
    let text = "
        s_mov_b32 m0, 0xffff
        v_mov_b32 v1, 64
        v_mov_b32 v2, 1
        ds_add_u32 v1, v2 gds
        s_waitcnt lgkmcnt(0)
        ds_read_b32 v3, v1 gds
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v4, s0
        v_mov_b32 v5, s1
        flat_atomic_umax v[4:5], v3
        s_endpgm";
    for (target, engine) in flat_cases() {
        let device = Device::new().unwrap();
        let kernel = kernel(&device, target, text);
        for (round, threads) in (1..).zip(THREADS) {
            let most = device.buffer::<u32>(1).unwrap();
            let launch = kernel.launch().grid(ITEMS).block(256).engine(engine).threads(threads);
            launch.arg(&most).arg(Arg::pointer(0)).run().unwrap();
            assert_eq!(most.read(), [ITEMS * round], "{target} {engine:?} {threads} threads");
        }
    }
}

/// Compiled kernels: integers in every bin, whatever the threads.
#[test]
fn histograms_are_exact() {
    for target in ["gfx600", "gfx700", "gfx803", "gfx900"] {
        for engine in ENGINES {
            let device = Device::new().unwrap();
            let path = format!("{}/kernels/histogram/histogram.{target}.co", env!("CARGO_MANIFEST_DIR"));
            let kernel = Module::open(&device, path).unwrap().kernel("histogram").unwrap();
            let data: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect();
            let mut want = vec![0u32; 64];
            data.iter().for_each(|byte| want[usize::from(byte >> 2)] += 1);
            let input = device.buffer_from(&data).unwrap();
            for threads in THREADS {
                let bins = device.buffer::<u32>(64).unwrap();
                let launch = kernel.launch().grid(256 * 30).block(256).engine(engine).threads(threads);
                launch.arg(&input).arg(&bins).arg(data.len() as u32).run().unwrap();
                assert_eq!(bins.read(), want, "{target} {engine:?} {threads} threads");
            }
        }
    }
}

/// Sums that are made within work-groups don't depend on the threads at all.
#[test]
fn reductions_are_the_same_on_any_number_of_threads() {
    for target in ["gfx600", "gfx700", "gfx803", "gfx900"] {
        let device = Device::new().unwrap();
        let path = format!("{}/kernels/reduction/reduction.{target}.co", env!("CARGO_MANIFEST_DIR"));
        let kernel = Module::open(&device, path).unwrap().kernel("reduction").unwrap();
        let x = device.buffer_from(&(0..200 * 256).map(float).collect::<Vec<f32>>()).unwrap();
        let sums = ENGINES.map(|engine| {
            THREADS.map(|threads| {
                let sums = device.buffer::<f32>(200).unwrap();
                let launch = kernel.launch().grid(200 * 256).block(256).engine(engine).threads(threads);
                launch.arg(&x).arg(&sums).arg(Arg::lds(1024)).run().unwrap();
                sums.read()
            })
        });
        let exact: f64 = (0..256).map(|i| f64::from(float(i))).sum();
        assert!((f64::from(sums[0][0][0]) - exact).abs() < 1.0, "{} for {exact}", sums[0][0][0]);
        assert!(sums.iter().flatten().all(|other| *other == sums[0][0]), "{target}");
    }
}

/// Several host threads launch on one device, each in order.
#[test]
fn host_threads_launch_side_by_side() {
    let device = Device::with_threads(2).unwrap();
    for (target, engine) in FLAT.into_iter().zip(ENGINES.into_iter().cycle()) {
        let text = format!(
            "{PROLOGUE}flat_atomic_add v6, v[1:2], v9 glc\ns_waitcnt vmcnt(0) lgkmcnt(0)
            v_xor_b32 v6, v6, v7\nflat_store_dword v[4:5], v6\ns_endpgm"
        );
        let text = text.replace("flat_atomic", "v_mov_b32 v9, 1\nflat_atomic");
        let kernel = kernel(&device, target, &text);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let data = Data::new(&device, 0, |_| 0);
                    for launch in 1..=10 {
                        data.run(&kernel, engine, 2);
                        assert_eq!(data.cell.read()[0], u64::from(ITEMS) * launch);
                    }
                    let mut seen = data.items();
                    seen.sort_unstable();
                    assert!(seen.iter().copied().eq(u64::from(ITEMS) * 9..u64::from(ITEMS) * 10));
                });
            }
        });
        still_works(&device, engine);
    }
}

/// Buffer atomics, which all generations have.
#[test]
fn buffer_atomics_are_atomic() {
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900] {
        let mut raw = RawCode::new(target);
        raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
        let text = "v_mov_b32 v1, 3\nv_mov_b32 v2, -1\nv_mov_b32 v3, 0\nbuffer_atomic_add v1, off, s[0:3], 0
            buffer_atomic_add_x2 v[2:3], off, s[0:3], 0 offset:8\ns_endpgm";
        let device = Device::new().unwrap();
        let kernel = crate::world::kernel_with(&device, &raw, text);
        for (engine, threads) in ENGINES.into_iter().flat_map(|engine| THREADS.map(|threads| (engine, threads))) {
            let cells = device.buffer::<u64>(2).unwrap();
            kernel.launch().grid(ITEMS).block(256).engine(engine).threads(threads).arg(&cells).run().unwrap();
            let wide = u64::from(u32::MAX) * u64::from(ITEMS);
            assert_eq!(cells.read(), [u64::from(ITEMS) * 3, wide], "{target} {engine:?} {threads} threads");
        }
    }
}
