//! Waves of different work-groups meet: global wave sync, ordered append, and waits that nobody can end. And what the
//! runtime must know for single instructions: LDS below M0, the registers of the wave, and instructions without a
//! documented meaning.
//!
//! Programs are bare code with a buffer in s[0:3] (gfx6 to gfx9 alike), the work-group's number in s4.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::{Cause, Trap};
use gcnjit::{Buffer, Device, Engine, Error, Module, RawCode, Stuck, Target};

const ENGINES: [Engine; 2] = [Engine::Jit, Engine::Interp];
const TARGETS: [Target; 4] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900];

/// A program on a device of its own, and its buffer of zeros.
struct Bench {
    module: Module,
    buffer: Buffer<u32>,
}

impl Bench {
    fn new(target: Target, text: &str, dwords: usize) -> Bench {
        Bench::with(target, text, dwords, |_| ())
    }

    fn with(target: Target, text: &str, dwords: usize, change: impl FnOnce(&mut RawCode)) -> Bench {
        let code: Vec<u8> = asm::assemble(text, target).unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
        let mut raw = RawCode::new(target);
        raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
        (raw.group_ids, raw.item_ids, raw.lds) = (1, 1, 1024);
        change(&mut raw);
        let device = Device::new().unwrap();
        let module = Module::load_raw(&device, "meet", code, &raw).unwrap();
        let buffer = device.buffer(dwords).unwrap();
        Bench { module, buffer }
    }

    fn run(&self, engine: Engine, groups: u32, waves: u32, threads: usize) -> Result<Vec<u32>, Error> {
        let kernel = self.module.kernel(RawCode::NAME).unwrap();
        let launch = kernel.launch().grid(groups * waves * 64).block(waves * 64).engine(engine);
        launch.threads(threads).arg(&self.buffer).run()?;
        Ok(self.buffer.read())
    }

    /// The cause, and the instruction.
    fn stuck(&self, engine: Engine, groups: u32, threads: usize) -> (Cause, String) {
        match self.run(engine, groups, 1, threads) {
            Err(Error::Fault(stuck)) => cause(&stuck),
            other => panic!("a fault was expected, not {other:?}"),
        }
    }
}

fn cause(stuck: &Stuck) -> (Cause, String) {
    let Trap::Fault { cause, .. } = stuck.fault.trap else { panic!("{stuck}") };
    (cause, stuck.fault.instruction.clone().unwrap_or_default())
}

/// On every target with both engines: `check` gets a function that runs the program on so many work-groups of so many
/// waves with so many threads, and returns what the buffer holds then.
fn everywhere(text: &str, dwords: usize, check: impl Fn(Target, &dyn Fn(u32, u32, usize) -> Vec<u32>)) {
    for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
        let bench = Bench::new(target, text, dwords);
        check(target, &|groups, waves, threads| {
            let left = bench.run(engine, groups, waves, threads);
            left.unwrap_or_else(|error| panic!("{target} {engine:?} {threads} threads: {error}"))
        });
    }
}

/// Every work-group counts itself at dword 0; behind the barrier it finds all of them there, and says so in its own.
const BARRIER: &str = "
    s_mov_b64 exec, 1
    s_mov_b32 m0, 0x20000
    v_mov_b32 v1, 1
    v_mov_b32 v9, LAST
    v_mov_b32 v10, GROUPS
    s_lshl_b32 s8, s4, 2
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 wait
    ds_gws_init v9 offset:1 gds
    ds_gws_sema_br v10 offset:2 gds
wait:
    ds_gws_sema_p offset:2 gds
    buffer_atomic_add v1, off, s[0:3], 0
    ds_gws_barrier v9 offset:1 gds
    buffer_load_dword v3, off, s[0:3], 0
    buffer_store_dword v3, off, s[0:3], s8 offset:4
    ds_gws_barrier v9 offset:1 gds
    s_endpgm";

/// There are more work-groups than threads: a thread goes on with another when all waves of its own wait.
#[test]
fn a_barrier_of_the_whole_grid() {
    const GROUPS: u32 = 9;
    let text = BARRIER.replace("LAST", &(GROUPS - 1).to_string()).replace("GROUPS", &GROUPS.to_string());
    everywhere(&text, 1 + GROUPS as usize, |target, run| {
        for (round, threads) in (1..).zip([1, 2, 4]) {
            assert_eq!(run(GROUPS, 1, threads), [GROUPS * round; 1 + GROUPS as usize], "{target}");
        }
    });
}

/// Of two waves a work-group each takes a number, and puts it into its own dword. The fourth work-group takes none.
const TICKETS: &str = "
    v_readfirstlane_b32 s9, v0
    s_mov_b64 exec, 1
    s_lshr_b32 s9, s9, 6
    s_lshl_b32 s8, s4, 1
    s_add_u32 s8, s8, s9
    s_lshl_b32 s8, s8, 2
    s_cmp_eq_u32 s4, 3
    s_cbranch_scc1 end
    s_mov_b32 m0, 0x80000
    v_mov_b32 v1, 1
    ds_ordered_count v3, v1 offset:0x304 gds
    buffer_store_dword v3, off, s[0:3], s8
end:
    s_endpgm";

#[test]
fn ordered_append_goes_by_the_order_of_creation() {
    everywhere(TICKETS, 20, |target, run| {
        for (round, threads) in (0..).zip([1, 3]) {
            let mut numbers = run(10, 2, threads);
            assert_eq!(numbers.drain(6..8).collect::<Vec<_>>(), [0; 2], "{target}");
            assert!(numbers.into_iter().eq(18 * round..18 * (round + 1)), "{target}");
        }
    });
}

#[test]
fn a_wait_that_nobody_ends_is_a_fault_that_names_it() {
    for (text, instruction) in [
        ("ds_gws_sema_p offset:5 gds", "ds_gws_sema_p offset:5 gds"),
        // Two of the four work-groups meet, the others wait for a third.
        (
            "v_mov_b32 v1, 2\nds_gws_barrier v1 offset:6 gds\nds_gws_barrier v1 offset:6 gds",
            "ds_gws_barrier v1 offset:6 gds",
        ),
    ] {
        let text = format!("s_mov_b32 m0, 0\n{text}\ns_endpgm");
        for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
            let bench = Bench::new(target, &text, 1);
            for threads in [1, 2, 1] {
                let stuck = bench.stuck(engine, 4, threads);
                assert_eq!(stuck, (Cause::Deadlock, instruction.to_owned()), "{target} {engine:?}");
            }
        }
    }
}

#[test]
fn instructions_without_a_documented_meaning_stop_the_wave() {
    for line in ["s_mov_regrd_b32 s8, s9", "s_getreg_regrd_b32 s8, 1"] {
        for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
            let bench = Bench::new(target, &format!("s_nop 0\n{line}\ns_endpgm"), 1);
            let (cause, instruction) = bench.stuck(engine, 1, 1);
            assert_eq!(cause, Cause::Undocumented, "{target} {engine:?}");
            assert!(instruction.starts_with(line.split(' ').next().unwrap()), "{instruction}");
        }
    }
}

/// In a wave of 8 VGPRs. v8 is out of range by number, v7 and one more by M0.
const EIGHT: &str = "
    v_lshlrev_b32 v4, 2, v0
    v_mov_b32 v7, 1
    v_mov_b32 v8, 2
    v_or_b32 v1, 0x100, v8
    v_mov_b32 v2, 3
    s_mov_b32 m0, 1
    v_movrels_b32 v2, v7
    v_movreld_b32 v7, v2
    v_movreld_b32 v6, v4
    buffer_store_dword v1, v4, s[0:3], 0 offen
    buffer_store_dword v2, v4, s[0:3], 0 offen offset:256
    buffer_store_dword v7, v4, s[0:3], 0 offen offset:512
    s_endpgm";

#[test]
fn registers_out_of_range() {
    // gfx9 has no relative moves.
    for (target, engine) in TARGETS[..3].iter().flat_map(|target| ENGINES.map(|engine| (*target, engine))) {
        let bench = Bench::with(target, EIGHT, 3 * 64, |raw| raw.vgprs = 8);
        let left = bench.run(engine, 1, 1, 1).unwrap();
        for lane in 0..64 {
            let got = [0, 64, 128].map(|first| left[first + lane]);
            // v0 instead of v8, twice; the one relative move that stays inside.
            let want = [0x100 | lane as u32, lane as u32, 4 * lane as u32];
            assert_eq!(got, want, "{target} {engine:?}");
        }
    }
}

/// Dwords of LDS with M0 at 6, read back under that limit and without.
const LIMIT: &str = "
    v_lshlrev_b32 v4, 2, v0
    v_mov_b32 v5, 7
    v_mov_b32 v6, 1
    v_mov_b32 v8, 0
    v_mov_b32 v9, 0
    s_mov_b32 m0, -1
    ds_write_b32 v4, v4
    s_mov_b32 m0, 6
    ds_write_b32 v4, v5
    ds_add_u32 v4, v6
    ds_read2_b32 v[8:9], v4 offset0:0 offset1:1
    buffer_store_dword v8, v4, s[0:3], 0 offen
    buffer_store_dword v9, v4, s[0:3], 0 offen offset:256
    s_mov_b32 m0, -1
    ds_read_b32 v7, v4
    buffer_store_dword v7, v4, s[0:3], 0 offen offset:512
    s_endpgm";

#[test]
fn m0_is_the_limit_of_lds_up_to_gfx8() {
    everywhere(LIMIT, 3 * 64, |target, run| {
        // A dword is in range if it begins below M0.
        let limit = if target == Target::Gfx900 { 64 } else { 2 };
        let below = |dword: usize| if dword < limit { 8 } else { 0 };
        let left = run(1, 1, 1);
        for lane in 0..63 {
            assert_eq!((left[lane], left[64 + lane]), (below(lane), below(lane + 1)), "{target} lane {lane}");
            assert_eq!(left[128 + lane], if lane < limit { 8 } else { 4 * lane as u32 }, "{target} lane {lane}");
        }
    });
}
