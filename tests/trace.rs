//! `gcnjit trace` and `run --fidelity` through the command line, on code whose every step is known.

#[path = "support/program.rs"]
mod program;

use program::{Outcome, gcnjit};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

/// A command on code for gfx900 that has a buffer's address in s[0:1], its work-group's number in s2 and lane numbers
/// in v0; with a buffer of 128 dwords and two work-groups of 64 unless `more` says otherwise.
fn bare(command: &str, text: &str, more: &str) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let [source, code] = ["code.s", "code.bin"].map(|name| at(directory.path(), name));
    fs::write(&source, text).unwrap();
    gcnjit(format!("asm {source} --gfx gfx900 -o {code}")).good();
    let start = "--raw --gfx gfx900 --sgpr 0=address:0 --group-ids 1 --arg zero:512";
    let grid = if more.contains("--grid") { "" } else { "--grid 128 --block 64" };
    gcnjit(format!("{command} {code} {start} {grid} {more}"))
}

/// Doubles its lane number in the lanes from 32 on, and stores it, in a block of its own.
const DOUBLE: &str = "\
v_lshlrev_b32 v1, 2, v0
v_cmp_lt_u32 vcc, 31, v0
s_and_saveexec_b64 s[4:5], vcc
s_cbranch_execz skip
v_add_u32 v0, v0, v0
global_store_dword v1, v0, s[0:1]
skip:
s_mov_b64 exec, s[4:5]
s_endpgm
";

fn lines(outcome: &Outcome) -> Vec<&str> {
    outcome.stdout.lines().collect()
}

#[test]
fn each_instruction_has_a_line_with_what_it_wrote_and_touched() {
    let outcome = bare("trace", DOUBLE, "--group 1").good();
    let lines = lines(&outcome);
    assert_eq!(lines.len(), 8, "{}", outcome.stdout);
    let ends = [
        "v_lshlrev_b32_e32 v1, 2, v0",
        "vcc_lo=0 vcc_hi=ffffffff",
        "s4=ffffffff s5=ffffffff exec_lo=0 exec_hi=ffffffff scc=1",
        "s_cbranch_execz 3",
        "exec=ffffffff00000000 v0=32-63:40+2",
        "exec=ffffffff00000000 store4 32-63:argument_0+0x80+4",
        "exec_lo=ffffffff exec_hi=ffffffff",
        "s_endpgm",
    ];
    for ((number, line), part) in lines.iter().enumerate().zip(ends) {
        assert!(line.starts_with(&format!("1,0,0 0 {number} ")), "{line}");
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[test]
fn filters_take_what_they_say() {
    let count = |more: &str| bare("trace", DOUBLE, more).good().stdout.lines().count();
    assert_eq!(count(""), 16);
    assert_eq!(count("--wave 1"), 0);
    assert_eq!(count("--grid 128 --block 128 --wave 1"), 8);
    assert_eq!(count("--pc 0x4..0x8"), 4);
    assert_eq!(count("--pc 0"), 2);
    // The comparison, s_and_saveexec_b64.
    assert_eq!(count("--reg vcc"), 4);
    assert_eq!(count("--reg v1,s4 --group 0"), 4);
    assert_eq!(count("--limit 5"), 5);
    let outcome = bare("trace", DOUBLE, "--group 0 --lane 40..41 --pc 0x10..0x14").good();
    outcome.says(&["v0=40:50,41:52", "store4 40-41:argument_0+0xa0+4"]);
    bare("trace", DOUBLE, "--reg v256").bad(2, &["'v256' is no register"]);
}

#[test]
fn json_lines_have_every_lane() {
    let outcome = bare("trace", DOUBLE, "--group 0 --pc 0x10..0x14 --json").good();
    let [add, store] = lines(&outcome)[..] else { panic!("{}", outcome.stdout) };
    let [add, store]: [Value; 2] = [add, store].map(|line| serde_json::from_str(line).unwrap());
    let doubled = (0..64u32).map(|lane| if lane < 32 { Value::Null } else { json!(2 * lane) });
    assert_eq!(add["writes"]["v0"], doubled.collect::<Value>());
    assert_eq!((&add["instruction"], &add["exec"]), (&json!("v_add_u32_e32 v0, v0, v0"), &json!("ffffffff00000000")));
    assert_eq!((&add["group"], &add["wave"], &add["number"]), (&json!([0, 0, 0]), &json!(0), &json!(4)));
    let memory = store["memory"].as_array().unwrap();
    assert_eq!(memory.len(), 32);
    assert_eq!(memory[1], json!({ "lane": 33, "access": "store", "at": "argument_0+0x84", "bytes": 4 }));
}

#[test]
fn traces_go_to_files_and_end_at_a_fault() {
    let directory = tempfile::tempdir().unwrap();
    let output = at(directory.path(), "trace");
    let outcome = bare("trace", DOUBLE, &format!("-o {output}")).good();
    assert_eq!((outcome.stdout.as_str(), fs::read_to_string(&output).unwrap().lines().count()), ("", 16));
    let outcome = bare("trace", "s_load_dword s4, s[0:1], 0x200\ns_endpgm", "").bad(1, &["unmapped memory"]);
    assert_eq!(outcome.stdout, "");
}

#[test]
fn profiles_count_blocks_and_lanes() {
    let outcome = bare("trace", DOUBLE, "--profile").good();
    outcome.says(&[
        "16 wave instructions",
        "ran 2 times, 64.0 lanes active",
        "12.50%          2   64.0    v_lshlrev_b32_e32 v1, 2, v0",
        "ran 2 times, 32.0 lanes active",
        "12.50%          2   32.0    v_add_u32_e32 v0, v0, v0",
        "s_endpgm",
    ]);
    let directory = tempfile::tempdir().unwrap();
    let page = at(directory.path(), "page.html");
    bare("trace", DOUBLE, &format!("--html {page}")).good();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<tr class=\"block\">").count(), 3);
    assert!(page.contains("<td class=\"code\">v_add_u32_e32 v0, v0, v0</td>"));
    assert!(!page.contains("http") && !page.contains("<script"), "it needs nothing else");
}

/// `run --fidelity --json` of code in two work-groups.
fn fidelity(text: &str) -> Value {
    bare("run", text, "--fidelity --json").good().json()["fidelity"].clone()
}

/// What was reached, in which instruction, from which.
fn reached(fidelity: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |reached: &Value| {
        (text(&reached["what"]), text(&reached["at"]["instruction"]), text(&reached["from"]["instruction"]))
    };
    fidelity["reached"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn approximate_results_are_counted_and_followed_to_where_they_matter() {
    // A reciprocal that is only stored.
    let harmless = "v_cvt_f32_u32 v1, v0\nv_rcp_f32 v1, v1\nv_lshlrev_b32 v2, 2, v0\n\
                    global_store_dword v2, v1, s[0:1]\ns_endpgm";
    let json = fidelity(harmless);
    assert_eq!(json["approximate"], json!([{ "op": "v_rcp_f32", "ulps": 1, "times": 2 }]));
    assert_eq!((&json["exact"], &json["reached"]), (&json!(8), &json!([])));

    // The same through memory, into an address.
    let address = "v_cvt_f32_u32 v1, v0\nv_rcp_f32 v1, v1\nv_lshlrev_b32 v2, 2, v0\n\
                   global_store_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)\nglobal_load_dword v3, v2, s[0:1]\n\
                   s_waitcnt vmcnt(0)\nv_and_b32 v3, 0x7c, v3\nglobal_load_dword v4, v3, s[0:1]\ns_endpgm";
    let (rcp, last) = ("v_rcp_f32_e32 v1, v1", "global_load_dword v4, v3, s[0:1]");
    assert_eq!(reached(&fidelity(address)), [("address".into(), last.into(), rcp.into())]);

    // Into EXEC and a branch; and from one lane, by v_readfirstlane_b32, into a branch on SCC.
    let branch = "v_cvt_f32_u32 v1, v0\nv_rcp_f32 v1, v1\nv_cmp_lt_f32 vcc, 0.5, v1\ns_and_saveexec_b64 s[4:5], vcc\n\
                  s_cbranch_execz end\nv_mov_b32 v5, v1\nend:\ns_mov_b64 exec, s[4:5]\n\
                  v_readfirstlane_b32 s6, v1\ns_cmp_eq_u32 s6, 0\ns_cbranch_scc1 stop\ns_nop 0\nstop:\ns_endpgm";
    let found = reached(&fidelity(branch));
    let wanted = [("branch", "s_cbranch_execz"), ("branch", "s_cbranch_scc1"), ("exec", "s_and_saveexec_b64")];
    assert_eq!(found.len(), 3, "{found:?}");
    for ((what, at, from), (wanted, instruction)) in found.iter().zip(wanted) {
        assert!(what == wanted && at.starts_with(instruction) && from == rcp, "{found:?}");
    }
}

#[test]
fn marks_follow_lanes_and_go_when_a_value_is_overwritten() {
    // Only lane 7 is approximate; lane 8 becomes an address, then lane 7.
    let lane = |lane: u32| {
        format!(
            "v_mov_b32 v1, 4\ns_mov_b64 exec, 0x80\nv_rcp_f32 v1, v1\ns_mov_b64 exec, -1\n\
             v_readlane_b32 s4, v1, {lane}\ns_and_b32 s4, s4, 4\ns_load_dword s5, s[0:1], s4\ns_endpgm"
        )
    };
    assert_eq!(reached(&fidelity(&lane(8))), []);
    let found = reached(&fidelity(&lane(7)));
    assert!(found.len() == 1 && found[0].0 == "address" && found[0].1.starts_with("s_load_dword"), "{found:?}");
    // Through LDS, and not any more once something exact is there.
    let share = |more: &str| {
        format!(
            "v_lshlrev_b32 v2, 2, v0\nv_rcp_f32 v1, v0\nds_write_b32 v2, v1\n{more}\nds_read_b32 v3, v2\n\
             s_waitcnt lgkmcnt(0)\nv_and_b32 v3, 4, v3\nglobal_load_dword v4, v3, s[0:1]\ns_endpgm"
        )
    };
    let lds = |text: &str| bare("run", text, "--fidelity --json --lds 256").good().json()["fidelity"].clone();
    assert_eq!(reached(&lds(&share("s_nop 0"))).len(), 1);
    assert_eq!(reached(&lds(&share("ds_write_b32 v2, v0"))), []);
}

#[test]
fn clocks_are_host_defined_and_the_text_tells_where_they_went() {
    let text = "s_memtime s[4:5]\ns_waitcnt lgkmcnt(0)\ns_bitcmp1_b32 s4, 0\ns_cbranch_scc1 end\nend:\ns_endpgm";
    let json = fidelity(text);
    assert_eq!(json["host_defined"], json!([{ "op": "s_memtime", "times": 2 }]));
    bare("run", text, "--fidelity").good().says(&[
        "by interp",
        "fidelity: 8 of 10 instructions exact",
        "s_memtime",
        "2 times, host-defined",
        "reached a branch at code+0x10 (s_cbranch_scc1 0), from code+0x0 (s_memtime s[4:5]), 2 times",
    ]);
    bare("run", text, "--fidelity --engine jit").bad(2, &["--fidelity", "--engine"]);
    let none = bare("run", "v_rcp_f32 v1, v0\ns_endpgm", "--fidelity").good();
    none.says(&["v_rcp_f32", "approximate, within 1 ulp", "none of it reached an address, a branch or EXEC"]);
}
