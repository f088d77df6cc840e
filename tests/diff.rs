//! `gcnjit diff` through the command line: both engines in lockstep, and the code of two files.

#[path = "support/program.rs"]
mod program;

use program::gcnjit;
use std::fs;
use std::path::Path;

fn kernel(name: &str, target: &str) -> String {
    format!("{}/kernels/{name}/{name}.{target}.co", env!("CARGO_MANIFEST_DIR"))
}

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

const MANDELBROT: &str = "--kernel mandelbrot --grid 20,10 --block 16,8 --arg zero:800 --arg u32:20 --arg f32:-2 \
                          --arg f32:-1 --arg f32:0.2 --arg u32:50";

/// Assembles code for gfx900 that takes a buffer's address in s[0:1].
fn assemble(directory: &Path, name: &str, text: &str) -> String {
    let [source, code] = [format!("{name}.s"), format!("{name}.bin")].map(|name| at(directory, &name));
    fs::write(&source, text).unwrap();
    gcnjit(format!("asm {source} --gfx gfx900 -o {code}")).good();
    code
}

const BARE: &str = "--raw --gfx gfx900 --sgpr 0=address:0 --grid 64 --block 64 --arg zero:256";

#[test]
fn engines_agree_at_every_granularity_on_every_generation() {
    for (target, granularity) in
        [("gfx600", "segment"), ("gfx700", "block"), ("gfx803", "instruction"), ("gfx900", "block")]
    {
        let file = kernel("mandelbrot", target);
        let outcome = gcnjit(format!("diff {file} {MANDELBROT} --granularity {granularity} --json")).good();
        let (json, pieces) = (outcome.json(), outcome.json()["pieces"].as_u64().unwrap());
        assert_eq!((json["ok"].as_bool(), json["launches"].as_u64()), (Some(true), Some(1)));
        let instructions = json["instructions"].as_u64().unwrap();
        assert_eq!(pieces == instructions, granularity == "instruction", "{json}");
        assert!(pieces > 20, "{json}");
    }
    gcnjit(format!("diff {} {MANDELBROT}", kernel("mandelbrot", "gfx900"))).good().says(&["jit and interp agree"]);
}

#[test]
fn several_launches_barriers_and_clocks_go_in_lockstep_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = kernel("bitonic_sort", "gfx803");
    let keys: Vec<u8> = (0..64u32).rev().flat_map(u32::to_le_bytes).collect();
    let [input, output] = ["in", "out"].map(|name| at(directory.path(), name));
    fs::write(&input, keys).unwrap();
    let args = format!("--arg inout:{input}:{output} --arg zero:256 --arg u32:@ --loop 21");
    let outcome = gcnjit(format!("diff {file} --kernel bitonic_sort --grid 32 --block 32 {args} --json")).good();
    assert_eq!(outcome.json()["launches"], 21);
    assert_eq!(fs::read(&output).unwrap(), (0..64u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());

    let code =
        assemble(directory.path(), "clock", "s_memtime s[2:3]\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s2, 1\ns_endpgm");
    let outcome = gcnjit(format!("diff {code} {BARE}")).good();
    outcome.says(&["agree", "not compared 1 that read a clock"]);
}

#[test]
fn a_recording_goes_in_lockstep_and_faults_of_both_are_faults() {
    let directory = tempfile::tempdir().unwrap();
    let rec = at(directory.path(), "rec");
    let file = kernel("mandelbrot", "gfx700");
    gcnjit(format!("run {file} {MANDELBROT} --record {rec}")).good();
    gcnjit(format!("diff {rec} --granularity segment")).good().says(&["jit and interp agree"]);
    let null = MANDELBROT.replace("zero:800", "u64:0");
    let outcome = gcnjit(format!("diff {file} {null} --json")).bad(1, &[&file, "null pointer", "mandelbrot+0x"]);
    assert_eq!(outcome.json()["ok"], false);
}

#[test]
fn two_files_are_compared_by_their_outputs() {
    let files = ["gfx600", "gfx900"].map(|target| kernel("mandelbrot", target)).join(" ");
    let outcome = gcnjit(format!("diff {files} {MANDELBROT}")).good();
    outcome.says(&["gfx600", "gfx900", "agree", "argument 0 (uint*): 200 elements are the same"]);

    // Lane n stores n, or n + 1 from lane 40 on, or as floats n and the next one but two.
    let store = "v_lshlrev_b32 v1, 2, v0\n%\nglobal_store_dword v1, v0, s[0:1]\ns_endpgm\n";
    let directory = tempfile::tempdir().unwrap();
    let code = |name: &str, with: &str| assemble(directory.path(), name, &store.replace('%', with));
    let ints = code("ints", "s_nop 0");
    let more = "v_cmp_lt_u32 vcc, 39, v0\nv_addc_co_u32 v0, vcc, 0, v0, vcc";
    let [more, floats] = [code("more", more), code("floats", "v_cvt_f32_u32 v0, v0")];
    let near = code("near", "v_cvt_f32_u32 v0, v0\nv_add_u32 v0, 2, v0");

    let outcome = gcnjit(format!("diff {ints} {more} {BARE} --type u32 --json")).bad(1, &["there is a difference"]);
    let buffer = &outcome.json()["buffers"][0];
    assert_eq!(
        (&buffer["elements"], &buffer["differing"], &buffer["first"]["index"]),
        (&64.into(), &24.into(), &40.into())
    );
    assert_eq!(buffer["first"]["values"], serde_json::json!(["40", "41"]));
    gcnjit(format!("diff {ints} {more} {BARE} --type u32 --abs 1")).good();

    gcnjit(format!("diff {floats} {near} {BARE} --type f32 --ulps 2")).good();
    let outcome = gcnjit(format!("diff {floats} {near} {BARE} --type f32 --ulps 1 --abs 1e-7"));
    let outcome = outcome.bad(1, &[]);
    outcome.says(&[
        "differ",
        "63 of 64 elements differ",
        "first  element 1: 1 and 1.0000002, 2 ulps",
        "worst  element 1:",
    ]);
    let outcome = gcnjit(format!("diff {floats} {near} {BARE} --type f32 --type 0=u8")).bad(1, &[]);
    outcome.says(&["64 of 256 elements differ", "first  element 0: 0 and 2, 2 apart"]);
}

#[test]
fn a_launch_that_never_ends_is_ended_by_its_deadline() {
    let directory = tempfile::tempdir().unwrap();
    let code = assemble(directory.path(), "endless", "again:\ns_branch again\ns_endpgm");
    for command in ["diff", "diff --granularity instruction", "trace --profile"] {
        let (name, options) = command.split_once(' ').unwrap_or((command, ""));
        gcnjit(format!("{name} {code} {BARE} {options} --deadline 0.05"))
            .bad(1, &["its deadline passed before its end"]);
    }
}

#[test]
fn options_of_one_kind_of_diff_are_refused_for_the_other() {
    let file = kernel("mandelbrot", "gfx900");
    gcnjit(format!("diff {file} {MANDELBROT} --ulps 1")).bad(2, &["OTHER"]);
    gcnjit(format!("diff {file} {file} {MANDELBROT} --granularity block")).bad(2, &["--granularity"]);
    gcnjit(format!("diff {file} {file} {MANDELBROT} --type f8")).bad(2, &["'f8' is no type"]);
    gcnjit(format!("diff {file} /no/such.co {MANDELBROT}")).bad(2, &["/no/such.co"]);
}
