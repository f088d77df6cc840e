//! `gcnjit isa`: the facts of an instruction as text and as JSON.

use serde_json::{Value, json};
use std::process::{Command, Output};

fn isa(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gcnjit")).arg("isa").args(args).output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = isa(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rows(name: &str) -> Vec<Value> {
    serde_json::from_str(&text(&[name, "--json"])).unwrap()
}

#[test]
fn text_names_all_encodings() {
    let text = text(&["v_add_f32"]);
    for line in [
        "  results   f32",
        "  sources   f32, f32",
        "    encoding  VOP2 0x03, VOP3a 0x103",
        "    encoding  VOP2 0x01, VOP2 SDWA 0x01, VOP2 DPP 0x01, VOP3a 0x101",
        "    reads     EXEC, MODE",
    ] {
        assert!(text.lines().any(|known| known == line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn text_of_memory() {
    let text = text(&["global_load_dwordx2"]);
    for part in [
        "flat load, 8 bytes a lane",
        "  gfx6      -\n",
        "flat_load_dwordx2, global_load_dwordx2, scratch_load_dwordx2",
        "vmcnt +1 lgkmcnt +1, global, scratch: vmcnt +1",
        "EXEC, FLAT_SCRATCH",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn json_has_the_same() {
    let [row] = &rows("buffer_store_dword")[..] else { panic!("one row") };
    assert_eq!(row["memory"], json!({ "space": "buffer", "access": "store", "bytes": 4 }));
    assert_eq!(row["crosses_lanes"], false);
    let gfx6 = &row["generations"]["gfx6"];
    assert_eq!(gfx6["encodings"], json!([{ "encoding": "MUBUF", "opcode": 0x1c }]));
    assert_eq!(gfx6["counters"], json!([{ "form": "", "vmcnt": 1, "expcnt": 1, "lgkmcnt": 0 }]));
    assert_eq!(row["generations"]["gfx7"]["counters"][0]["expcnt"], 0);
    let [row] = &rows("v_cmpx_lt_f32_e64")[..] else { panic!("one row") };
    assert_eq!(row["generations"]["gfx9"]["implicit_writes"], json!(["EXEC"]));
}

#[test]
fn fidelity() {
    for (name, printed, value) in [
        ("v_add_f32", "exact", json!({ "kind": "exact" })),
        ("v_rcp_f32", "approximate, within 1 ulp", json!({ "kind": "approximate", "ulps": 1 })),
        ("s_memtime", "host-defined", json!({ "kind": "host-defined" })),
    ] {
        assert!(text(&[name]).contains(&format!("  fidelity  {printed}\n")), "{name}");
        assert_eq!(rows(name)[0]["fidelity"], value, "{name}");
    }
}

#[test]
fn exceptions() {
    let sources = ["invalid", "input denormal"];
    for (name, printed, raised, by) in [
        ("v_floor_f32", "invalid, input denormal (IEEE 754, approximate)", &sources[..], "IEEE 754, approximate"),
        ("v_rcp_iflag_f32", "integer divide by zero (manual)", &["integer divide by zero"], "manual"),
        ("v_mad_f32", "none (LLVM)", &[], "LLVM"),
        ("s_add_u32", "-", &[], "manual"),
    ] {
        assert!(text(&[name]).contains(&format!("  raises    {printed}\n")), "{name}");
        assert_eq!(rows(name)[0]["raises"], json!(raised), "{name}");
        assert_eq!(rows(name)[0]["raises_by"], by, "{name}");
    }
}

/// A name of several operations, and names that only some targets or older generations have.
#[test]
fn names_by_generation() {
    let families: Vec<_> = rows("v_add_i32").iter().map(|row| row["family"].clone()).collect();
    assert_eq!(families, ["vop2", "vop3"]);
    let [row] = &rows("v_fma_mix_f32")[..] else { panic!("one row") };
    assert_eq!(row["generations"]["gfx9"]["targets"], json!(["gfx904", "gfx906"]));
    let [row] = &rows("s_load_dword")[..] else { panic!("one row") };
    let encodings: Vec<_> =
        ["gfx6", "gfx8"].map(|on| row["generations"][on]["encodings"][0]["encoding"].clone()).into();
    assert_eq!(encodings, ["SMRD", "SMEM"]);
}

#[test]
fn unknown_names_are_usage_errors() {
    let output = isa(&["v_add_f3"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no generation has an instruction 'v_add_f3'; there is v_add_f32"), "{message}");
    assert_eq!(isa(&["nonsense"]).status.code(), Some(2));
}

/// No row of the table is without text and JSON.
#[test]
fn every_family_prints() {
    for name in ["s_add_u32", "s_movk_i32", "s_mov_b32", "s_cmp_eq_i32", "s_waitcnt", "s_dcache_wb", "v_mov_b32"]
        .into_iter()
        .chain(["v_cmp_eq_u32", "v_mad_f32", "v_pk_add_f16", "ds_append", "buffer_wbinvl1", "tbuffer_load_format_x"])
        .chain(["image_sample", "v_interp_p1_f32", "exp", "v_madmk_f32", "v_readlane_b32", "ds_read2_b64"])
    {
        assert!(text(&[name]).starts_with(name));
        assert_eq!(rows(name)[0]["name"], name);
    }
}
