//! Code of extreme shapes: the translator takes it in pieces of bounded size and has the interpreter's results.

use crate::world::{ENGINES, kernel};
use gcnjit::{Arg, Device, Target};
use std::fmt::Write;

const TARGET: Target = Target::Gfx900;

/// Runs the text, to which s[0:1] is the place of 64 dwords, with both engines: what they leave.
fn run(text: &str) -> [Vec<u32>; 2] {
    let device = Device::new().unwrap();
    let store = "
        v_lshlrev_b32 v10, 2, v0
        v_mov_b32 v11, s1
        v_or_b32 v10, s0, v10
        flat_store_dword v[10:11], v1
        s_endpgm";
    let kernel = kernel(&device, TARGET, &format!("{text}{store}"));
    ENGINES.map(|engine| {
        let result = device.buffer::<u32>(64).unwrap();
        kernel.launch().grid(64).engine(engine).arg(&result).arg(Arg::pointer(0)).run().unwrap();
        result.read()
    })
}

/// A value that everything before goes into, in one straight run.
#[test]
fn a_straight_run() {
    let mut text = "v_mov_b32 v1, v0\n".to_owned();
    for i in 0..20_000 {
        let _ = writeln!(text, "v_mul_lo_u32 v1, v1, 5\nv_add_u32 v1, {}, v1", i % 64);
    }
    let [jit, interp] = run(&text);
    let step = |x: u32, i: u32| x.wrapping_mul(5).wrapping_add(i % 64);
    let want: Vec<u32> = (0..64).map(|lane| (0..20_000).fold(lane, step)).collect();
    assert_eq!((jit, interp), (want.clone(), want));
}

/// Scalars of which each needs the one before.
#[test]
fn a_chain_of_scalars() {
    let mut text = "s_mov_b32 s8, 1\n".to_owned();
    for _ in 0..20_000 {
        text += "s_mul_i32 s8, s8, 3\ns_addc_u32 s8, s8, 7\n";
    }
    let [jit, interp] = run(&(text + "v_mov_b32 v1, s8\n"));
    assert_eq!(jit, interp);
}

/// Many values that are all alive to the end, with cross-lane work between that keeps them in memory.
#[test]
fn many_live_values() {
    let mut text = String::new();
    for register in 12..250 {
        let _ =
            writeln!(text, "v_mul_u32_u24 v{register}, v0, v0\nv_add_u32 v{register}, {}, v{register}", register % 64);
        if register % 8 == 0 {
            let _ = writeln!(text, "v_readlane_b32 s8, v{register}, 3\nv_add_u32 v{register}, s8, v{register}");
        }
    }
    text += "v_mov_b32 v1, 0\n";
    for register in 12..250 {
        let _ = writeln!(text, "v_xor_b32 v1, v1, v{register}\nv_add_u32 v1, v1, v{register}");
    }
    let [jit, interp] = run(&text);
    assert_eq!(jit, interp);
}

/// More blocks than go into one unit, each reached from the one before.
#[test]
fn many_blocks() {
    let mut text = "v_mov_b32 v1, v0\ns_cmp_eq_u32 s0, s0\n".to_owned();
    for i in 0..5_000 {
        let _ = writeln!(text, "s_cbranch_scc1 l{i}\ns_trap 2\nl{i}: v_add_u32 v1, 1, v1");
    }
    let [jit, interp] = run(&text);
    let want: Vec<u32> = (5_000..5_064).collect();
    assert_eq!((jit, interp), (want.clone(), want));
}

/// Every dword is jumped to by address, so that each is the entry of a unit.
#[test]
fn jumps_to_everywhere() {
    let mut text = "v_mov_b32 v1, 0\ns_getpc_b64 s[8:9]\nnext: s_add_u32 s8, s8, 24\ns_addc_u32 s9, s9, 0\n".to_owned();
    // The first of these is 24 bytes behind where s_getpc_b64 was taken.
    text += "s_nop 0\ns_nop 0\ns_nop 0\ns_setpc_b64 s[8:9]\n";
    for _ in 0..400 {
        text += "v_add_u32 v1, 1, v1\ns_add_u32 s8, s8, 16\ns_addc_u32 s9, s9, 0\ns_setpc_b64 s[8:9]\n";
    }
    let [jit, interp] = run(&text);
    assert_eq!((jit, interp), (vec![400; 64], vec![400; 64]));
}
