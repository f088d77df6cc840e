//! Superblocks: a kernel without loops as one piece of code, which gives up where a wave is not like most.
//!
//! The kernel changes the dwords of a buffer that are below a number which the buffer begins with. It loads scalars behind
//! its guard, over those that the wave began with. What the engines leave, count and complain of is compared.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::{Loaded, Memory, Mode, RegisterFile};
use gcnjit::{Buffer, Device, Engine, Kernel, Module, RawCode, Target};
use gcnjit_translate::pass::strides::Start;
use gcnjit_translate::{AtEnd, Machine, translate, wide};

/// Dwords before the data: how many are changed, nothing, a factor and a summand.
const HEADER: usize = 4;
/// Columns of a work-group: v0 counts these, v1 rows of so many.
const COLUMNS: u32 = 32;

/// The address of the buffer in s[0:1], the work-group in s4; `size` work-items each.
fn text(size: u32) -> String {
    format!(
        "
        s_load_dword s8, s[0:1], 0x0
        s_movk_i32 s9, {size}
        s_mul_i32 s10, s4, s9
        v_mul_u32_u24_e32 v1, {COLUMNS}, v1
        v_add_u32_e32 v1, v1, v0
        v_add_u32_e32 v1, s10, v1
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_u32_e32 vcc, s8, v1
        s_and_saveexec_b64 s[2:3], vcc
        s_cbranch_execz end
        s_load_dwordx2 s[4:5], s[0:1], 0x8
        v_ashrrev_i32_e32 v2, 31, v1
        v_lshlrev_b64 v[2:3], 2, v[1:2]
        v_mov_b32_e32 v4, s1
        v_add_co_u32_e32 v2, vcc, s0, v2
        v_addc_co_u32_e32 v3, vcc, v4, v3, vcc
        global_load_dword v5, v[2:3], off offset:{offset}
        s_waitcnt lgkmcnt(0)
        v_mul_lo_u32 v5, v5, s4
        v_add_u32_e32 v5, s5, v5
        s_waitcnt vmcnt(0)
        global_store_dword v[2:3], v5, off offset:{offset}
    end:
        s_endpgm",
        offset = 4 * HEADER
    )
}

fn code(text: &str) -> Vec<u8> {
    let code = asm::assemble(text, Target::Gfx900).unwrap_or_else(|error| panic!("{error}\n{text}"));
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn raw() -> RawCode {
    let mut raw = RawCode::new(Target::Gfx900);
    raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
    (raw.group_ids, raw.item_ids, raw.vgprs) = (1, 2, 8);
    raw
}

fn kernel(device: &Device, text: &str) -> Kernel {
    Module::load_raw(device, "superblock", code(text), &raw()).unwrap().kernel(RawCode::NAME).unwrap()
}

/// What a launch left in the buffer, and the instructions that it executed or what it complained of.
fn run(kernel: &Kernel, buffer: &Buffer<u32>, data: &[u32], groups: u32, block: [u32; 2], engine: Engine) -> Outcome {
    buffer.write(data);
    let grid = [groups * block[0], block[1], 1];
    let launch = kernel.launch().grid(grid).block([block[0], block[1], 1]).engine(engine).threads(1).arg(buffer);
    let count = launch.run().map(|stats| stats.wave_instructions).map_err(|error| error.to_string());
    (buffer.read(), count)
}

type Outcome = (Vec<u32>, Result<u64, String>);

/// Runs both engines on a buffer of so many dwords, the first `changed` of which are to be changed. The translator runs
/// twice: what it knows of allocations it has learned by then.
fn compare(groups: u32, block: [u32; 2], changed: u32, dwords: usize) -> Outcome {
    let device = Device::with_threads(1).unwrap();
    let kernel = kernel(&device, &text(block[0] * block[1]));
    let mut data: Vec<u32> = (0..(HEADER + dwords) as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    data[0] = changed;
    let buffer = device.buffer_from(&data).unwrap();
    let want = run(&kernel, &buffer, &data, groups, block, Engine::Interp);
    for _ in 0..2 {
        let got = run(&kernel, &buffer, &data, groups, block, Engine::Jit);
        assert_eq!(got, want, "{groups} work-groups of {block:?}, {changed} of {dwords}");
    }
    want
}

#[test]
fn the_kernel_has_one() {
    let memory = Memory::new().unwrap();
    let loaded = Loaded::new(raw().image(code(&text(64))).unwrap(), &memory).unwrap();
    let start = Start::of_kernel(loaded.kernel(RawCode::NAME).unwrap().entry(), Some(4));
    let machine =
        Machine { target: Target::Gfx900, registers: RegisterFile::ALL, exceptions: false, at_end: AtEnd::Nothing };
    let superblocks = |at_end| {
        let unit = translate(&memory.view(), Machine { at_end, ..machine }, &start, Mode(0xc0)).unwrap();
        let superblocks = unit.blocks.iter().filter_map(|planned| planned.superblock.as_ref());
        superblocks.map(|superblock| superblock.alike.is_some()).collect::<Vec<_>>()
    };
    let wanted: &[bool] = if wide::is_available() { &[false, true] } else { &[] };
    assert_eq!(superblocks(AtEnd::Nothing), wanted, "one for a wave and one for several");
    assert_eq!(superblocks(AtEnd::Registers), [], "of a wave whose registers are looked at in the end");
}

#[test]
fn whole_waves_and_others_are_changed_alike() {
    for block in [[64, 1], [256, 1], [24, 1], [96, 1], [32, 4], [16, 3], [32, 5]] {
        let size = block[0] * block[1];
        // Rows of less than COLUMNS leave dwords out, which do not matter.
        let dwords = (9 * size + COLUMNS * block[1]) as usize;
        for changed in [0, 1, 63, 64, 3 * size, 5 * size + 37, 9 * size + COLUMNS * block[1]] {
            let (data, count) = compare(9, block, changed, dwords);
            assert!(count.is_ok());
            let is_changed = |i: usize| data[HEADER + i] != ((HEADER + i) as u32).wrapping_mul(0x9e37_79b9);
            assert!((0..dwords).all(|i| i < changed as usize || !is_changed(i)));
            assert_eq!(is_changed(0), changed > 0);
        }
    }
}

/// A wave changes what its V# says of the buffer's size, and begins once more: its registers are not those that the next one
/// begins with, though it ends in the superblock.
#[test]
fn waves_that_come_back_to_the_entry_leave_nothing_to_others() {
    let before = "
        s_load_dword s8, s[0:1], 0x0
        s_lshl_b32 s10, s4, 6
        s_sub_u32 s9, s2, 0x1000
        v_xor_b32_e32 v1, 1, v0
        v_add_u32_e32 v1, s10, v1
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_u32_e32 vcc, s9, v1
        s_and_saveexec_b64 s[12:13], vcc
        s_cbranch_execz other
        v_lshlrev_b32_e32 v2, 2, v1
        v_mov_b32_e32 v3, s1
        v_add_co_u32_e32 v2, vcc, s0, v2
        v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
        global_load_dword v5, v[2:3], off offset:64
        s_waitcnt vmcnt(0)
        v_add_u32_e32 v5, s8, v5
        global_store_dword v[2:3], v5, off offset:64
        s_endpgm
    other:
        s_mov_b64 exec, -1
        s_addk_i32 s2, 1000
        s_getpc_b64 s[6:7]";
    let text = format!(
        "{before}
        s_sub_u32 s6, s6, {}
        s_subb_u32 s7, s7, 0
        s_setpc_b64 s[6:7]",
        code(before).len()
    );
    let device = Device::with_threads(1).unwrap();
    let kernel = kernel(&device, &text);
    let data: Vec<u32> = (5..1029).collect();
    let buffer = device.buffer_from(&data).unwrap();
    let want = run(&kernel, &buffer, &data, 7, [64, 1], Engine::Interp);
    assert!(want.1.is_ok() && want.0 != data);
    for _ in 0..2 {
        assert_eq!(run(&kernel, &buffer, &data, 7, [64, 1], Engine::Jit), want);
    }
}

#[test]
fn faults_name_the_first_bad_lane() {
    for (block, dwords) in [([64, 1], 64 * 5 + 17), ([256, 1], 1000), ([24, 1], 100), ([32, 4], 128 * 7 + 1)] {
        // Allocations end at a page.
        let dwords = (HEADER + dwords as usize).next_multiple_of(1024) - HEADER;
        let groups = dwords as u32 / (block[0] * block[1]) + 2;
        let (_, count) = compare(groups, block, u32::MAX, dwords);
        assert!(count.is_err(), "{block:?}");
    }
}
