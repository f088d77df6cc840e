//! Registers that a kernel reads before it has written them are zero, whatever the wave before left in them.
//!
//! A program is bare code with a buffer in s[0:3]. Each work-group has one wave, whose number is in s4; all waves run on
//! one thread, one after the other in the same registers, and leave ones there. What v9, or a scalar register, held at
//! first goes to the wave's row in the buffer, where there are ones before.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Device, Engine, Module, RawCode, Target};

const WAVES: usize = 3;
const TARGETS: [Target; 4] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900];

/// Stores v9 to the wave's row, in the active lanes.
const STORE: &str = "
    s_lshl_b32 s20, s4, 8
    v_lshlrev_b32 v8, 2, v0
    buffer_store_dword v9, v8, s[0:3], s20 offen
";

/// All registers that a program uses, in all lanes.
const LEAVE: &str = "
    s_mov_b64 exec, -1
    v_mov_b32 v3, -1
    v_mov_b32 v8, -1
    v_mov_b32 v9, -1
    s_endpgm
";

/// Runs a program for waves of so many lanes with the engine; the rows that are left.
fn run(target: Target, engine: Engine, text: &str, lanes: u32) -> Vec<u32> {
    let text = format!("{text}{LEAVE}");
    let code = asm::assemble(&text, target).unwrap_or_else(|error| panic!("{target}: {error}\n{text}"));
    let mut raw = RawCode::new(target);
    raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
    (raw.group_ids, raw.item_ids, raw.vgprs) = (1, 1, 12);
    let device = Device::with_threads(1).unwrap();
    let code: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
    let module = Module::load_raw(&device, "initial", code, &raw).unwrap();
    let buffer = device.buffer_from(&[u32::MAX; 64 * WAVES]).unwrap();
    let kernel = module.kernel(RawCode::NAME).unwrap();
    let launch = kernel.launch().grid(lanes * WAVES as u32).block(lanes).engine(engine);
    launch.threads(1).arg(&buffer).run().unwrap_or_else(|error| panic!("{target} {engine:?}: {error}\n{text}"));
    buffer.read()
}

/// With both engines, for whole waves and for others: lane `lane` of each row has become `want(lane)`, those that no
/// lane stored excepted.
fn check(targets: &[Target], text: &str, want: impl Fn(u32) -> u32) {
    for target in targets {
        for (engine, lanes) in [Engine::Jit, Engine::Interp].into_iter().flat_map(|engine| [(engine, 64), (engine, 24)])
        {
            let rows = run(*target, engine, text, lanes);
            for (wave, row) in rows.chunks(64).enumerate() {
                let expected = |lane: u32| if lane < lanes { want(lane) } else { u32::MAX };
                let expected: Vec<u32> = (0..64).map(expected).collect();
                assert_eq!(row, expected, "{target} {engine:?}, {lanes} lanes, wave {wave}\n{text}");
            }
        }
    }
}

#[test]
fn on_all_paths() {
    check(&TARGETS, STORE, |_| 0);
}

#[test]
fn on_one_path_only() {
    let text = format!(
        "
        s_cmp_eq_u32 s4, 7
        s_cbranch_scc0 other
        v_mov_b32 v9, 5
    other:
        s_nop 0
        {STORE}"
    );
    check(&TARGETS, &text, |_| 0);
}

#[test]
fn in_lanes_that_were_not_active_when_it_was_written() {
    let text = format!(
        "
        s_mov_b64 s[10:11], exec
        s_mov_b64 exec, 0xff0
        v_mov_b32 v9, 5
        s_mov_b64 exec, s[10:11]
        {STORE}"
    );
    check(&TARGETS, &text, |lane| if (4..12).contains(&lane) { 5 } else { 0 });
    let text = format!(
        "
        v_cmp_gt_u32 vcc, 9, v0
        s_and_saveexec_b64 s[10:11], vcc
        v_mov_b32 v9, 5
        s_cbranch_execz behind
        v_mov_b32 v3, v9
    behind:
        s_or_b64 exec, exec, s[10:11]
        {STORE}"
    );
    check(&TARGETS, &text, |lane| if lane < 9 { 5 } else { 0 });
}

#[test]
fn in_lanes_that_were_not_active_when_it_was_loaded() {
    let text = format!(
        "
        v_lshlrev_b32 v8, 2, v0
        s_mov_b64 s[10:11], exec
        s_and_b64 exec, exec, 0xff
        buffer_load_dword v9, v8, s[0:3], 0 offen offset:{}
        s_waitcnt vmcnt(0)
        s_mov_b64 exec, s[10:11]
        {STORE}",
        256 * (WAVES - 1)
    );
    // The last wave's row has ones until that has stored.
    check(&TARGETS, &text, |lane| if lane < 8 { u32::MAX } else { 0 });
}

#[test]
fn in_lanes_that_no_work_item_has() {
    let text = format!(
        "
        s_mov_b64 s[10:11], exec
        s_mov_b64 exec, -1
        v_mov_b32 v3, v9
        v_readlane_b32 s12, v3, 63
        s_mov_b64 exec, s[10:11]
        v_mov_b32 v9, s12
        {STORE}"
    );
    check(&TARGETS, &text, |_| 0);
    // A lane that is read need not be active.
    check(&TARGETS, &format!("v_readlane_b32 s12, v9, 63\nv_mov_b32 v9, s12\n{STORE}"), |_| 0);
}

#[test]
fn by_other_lanes() {
    let text = format!(
        "
        s_mov_b64 s[10:11], exec
        s_and_b64 exec, exec, 0xff
        v_mov_b32 v9, 5
        s_mov_b64 exec, s[10:11]
        v_mov_b32_dpp v9, v9 row_shr:8 row_mask:0xf bank_mask:0xf
        {STORE}"
    );
    let want = |lane: u32| if lane < 16 { 5 } else { 0 };
    check(&[Target::Gfx803, Target::Gfx900], &text, want);
}

#[test]
fn behind_a_jump_through_a_register() {
    let text = format!(
        "
        s_getpc_b64 s[10:11]
        s_add_u32 s10, s10, 16
        s_addc_u32 s11, s11, 0
        s_setpc_b64 s[10:11]
        s_endpgm
        {STORE}"
    );
    check(&TARGETS, &text, |_| 0);
}

#[test]
fn behind_a_barrier_and_a_change_of_mode() {
    check(&TARGETS, &format!("s_barrier\n{STORE}"), |_| 0);
    check(&TARGETS, &format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5\n{STORE}"), |_| 0);
}

#[test]
fn through_an_index() {
    let text = format!("s_mov_b32 m0, 6\nv_movrels_b32 v9, v3\n{STORE}");
    check(&TARGETS[..3], &text, |_| 0);
    let text = format!(
        "
        s_mov_b32 s12, 6
        s_set_gpr_idx_on s12, 1
        v_mov_b32 v3, v3
        s_set_gpr_idx_off
        v_mov_b32 v9, v3
        {STORE}"
    );
    check(&[Target::Gfx900], &text, |_| 0);
}

/// A byte of a register is written, or half of it.
#[test]
fn in_other_bits() {
    let sdwa = "v_mov_b32_sdwa v9, 1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD";
    check(&[Target::Gfx900], &format!("{sdwa}\n{STORE}"), |_| 0x1_0000);
}

/// Leaves ones in a scalar register. What is read behind the barrier has been written before it.
fn leave_scalar(register: &str) -> String {
    format!(
        "
        s_mov_b32 {register}, -1
        s_barrier
        s_cmp_eq_u32 {register}, 7
        s_cbranch_scc1 behind
        v_mov_b32 v3, 5
    behind:
        s_nop 0
        "
    )
}

/// From all over the file: those near one that is read are filled with it.
#[test]
fn in_scalar_registers() {
    for register in ["s7", "s24", "s70", "vcc_lo", "vcc_hi", "m0"] {
        let leave = leave_scalar(register);
        check(&TARGETS, &format!("v_mov_b32 v9, {register}\n{STORE}{leave}"), |_| 0);
        let text = format!(
            "
            s_cmp_eq_u32 s4, 7
            s_cbranch_scc0 other
            s_mov_b32 {register}, 5
        other:
            v_mov_b32 v9, {register}
            {STORE}{leave}"
        );
        check(&TARGETS, &text, |_| 0);
    }
    let text = format!("s_mov_b32 m0, 4\ns_movrels_b32 s21, s20\nv_mov_b32 v9, s21\n{STORE}{}", leave_scalar("s24"));
    check(&TARGETS, &text, |_| 0);
}
