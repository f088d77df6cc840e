//! Recordings through the command line: what `run --record` writes, `run` takes.

#[path = "support/program.rs"]
mod program;

use program::{Outcome, gcnjit};
use std::fs;
use std::path::Path;

fn kernel(name: &str, target: &str) -> String {
    format!("{}/kernels/{name}/{name}.{target}.co", env!("CARGO_MANIFEST_DIR"))
}

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

/// saxpy over 100 elements, its output going to `out`; recorded as `rec`.
fn record(directory: &Path) -> Outcome {
    let floats = |value: f32| value.to_le_bytes().repeat(100);
    fs::write(directory.join("x"), floats(3.0)).unwrap();
    fs::write(directory.join("y"), floats(1.0)).unwrap();
    let [x, y, out, rec] = ["x", "y", "out", "rec"].map(|name| at(directory, name));
    let (file, y) = (kernel("saxpy", "gfx900"), format!("inout:{y}:{out}"));
    let args = format!("--arg in:{x} --arg {y} --arg f32:2 --arg u32:100 --record {rec}");
    gcnjit(format!("run {file} --kernel saxpy --grid 100 --block 64 {args}"))
}

#[test]
fn a_recording_runs_without_the_files_it_was_made_of() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path()).good();
    let [rec, again] = ["rec", "again"].map(|name| at(directory.path(), name));
    let out = fs::read(directory.path().join("out")).unwrap();
    for name in ["x", "y", "out"] {
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    let outcome = gcnjit(format!("run {rec} --engine check --dump 1:{again}")).good();
    assert_eq!(outcome.json()["kernel"], "saxpy");
    assert_eq!(fs::read(&again).unwrap(), out);
    assert!(!directory.path().join("out").exists(), "a recording has no outputs of its own");
}

#[test]
fn bare_code_is_recorded_with_how_it_is_started() {
    let directory = tempfile::tempdir().unwrap();
    let [source, code, rec, out] = ["numbers.s", "numbers.bin", "rec", "out"].map(|name| at(directory.path(), name));
    fs::write(&source, "v_lshlrev_b32 v1, 2, v0\nbuffer_store_dword v0, v1, s[0:3], 0 offen\ns_endpgm\n").unwrap();
    gcnjit(format!("asm {source} --gfx gfx600 -o {code}")).good();
    let start = "--raw --gfx gfx600 --sgpr 0=resource:0 --grid 64 --block 64";
    gcnjit(format!("run {code} {start} --arg zero:256 --record {rec}")).good();
    gcnjit(format!("run {rec} --dump 0:{out}")).good();
    assert_eq!(fs::read(&out).unwrap(), (0..64u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
}

#[test]
fn a_launch_that_faults_is_recorded_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let rec = at(directory.path(), "rec");
    let (file, args) = (kernel("saxpy", "gfx803"), "--arg u64:0 --arg zero:400 --arg f32:2 --arg u32:100");
    let parts = ["null pointer", "saxpy+0x"];
    gcnjit(format!("run {file} --kernel saxpy --grid 100 --block 64 {args} --record {rec}")).bad(1, &parts);
    gcnjit(format!("run {rec}")).bad(1, &parts);
}

#[test]
fn recordings_leave_no_choice_and_damaged_ones_are_unsupported() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path()).good();
    let rec = at(directory.path(), "rec");
    gcnjit(format!("run {rec} --kernel saxpy")).bad(2, &[&rec, "no choice of --kernel"]);
    gcnjit(format!("run {rec} --dump 2:{rec}")).bad(2, &["--dump 2", "the recording has 2 buffers"]);
    let good = fs::read(&rec).unwrap();
    fs::write(&rec, &good[..good.len() / 2]).unwrap();
    gcnjit(format!("run {rec}")).bad(3, &[&rec, "recording: "]);
}
