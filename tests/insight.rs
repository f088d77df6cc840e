//! What the command line tells of translated code: statistics and names for profilers.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Arguments of `run` for a launch of saxpy.
const SAXPY: &str = "--kernel saxpy --grid 100 --block 64 --arg zero:400 --arg zero:400 --arg f32:2 --arg u32:100";

fn kernel(name: &str) -> String {
    format!("{}/kernels/{name}/{name}.gfx900.co", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program in a directory; the result is its process id, its exit code, stdout and stderr.
fn gcnjit(directory: &Path, args: &str, perf: Option<&str>) -> (u32, Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gcnjit"));
    command.args(args.split_whitespace()).current_dir(directory).envs(perf.map(|form| ("GCNJIT_PERF", form)));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (id, output) = (child.id(), child.wait_with_output().unwrap());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (id, output.status.code(), text(output.stdout), text(output.stderr))
}

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn stats_tell_what_the_translator_did() {
    let (_, code, stdout, stderr) =
        gcnjit(directory().path(), &format!("run {} {SAXPY} --stats", kernel("saxpy")), None);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let json: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    let translation = &json["translation"];
    let count = |field: &Value| field.as_u64().unwrap_or_else(|| panic!("{field} in {translation}"));
    for field in ["units", "blocks", "instructions", "segments", "code_bytes"] {
        assert!(count(&translation[field]) > 0, "{field}");
    }
    assert!(count(&translation["versions"]) >= count(&translation["segments"]));
    assert!(count(&translation["libcalls"]["access"]) >= 3, "two loads and a store");
    assert!(translation["stages_ms"]["compile"].as_f64().unwrap() > 0.0);
    assert_eq!(translation["cache"]["units"], translation["units"]);
    assert!(stdout.contains("translation\n") && stdout.contains("libcalls  access"), "{stdout}");
    let interpreted = format!("run {} {SAXPY} --stats --json --engine interp", kernel("saxpy"));
    let (_, _, stdout, _) = gcnjit(directory().path(), &interpreted, None);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["translation"]["units"], 0);
}

#[test]
fn a_perf_map_names_kernels_and_blocks() {
    let run = format!("run {} {SAXPY} --stats", kernel("saxpy"));
    for (args, variable) in [(format!("{run} --perf map"), None), (run, Some("map"))] {
        let (id, code, stdout, stderr) = gcnjit(directory().path(), &args, variable);
        assert_eq!(code, Some(0), "{stderr}");
        let path = format!("/tmp/perf-{id}.map");
        let map = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let json: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        let mut total = 0;
        for line in map.lines() {
            let fields: Vec<&str> = line.splitn(3, ' ').collect();
            let [start, size] = [0, 1].map(|field| u64::from_str_radix(fields[field], 16).unwrap());
            assert!(start != 0 && size != 0, "{line}");
            assert!(fields[2].starts_with("saxpy+0x"), "{line}");
            total += size;
        }
        assert_eq!(json["translation"]["code_bytes"], total, "every byte has a name");
        assert!(map.contains(" saxpy+0x0 (entry)\n") && map.contains(" saxpy+0x0\n"), "{map}");
    }
}

#[test]
fn a_jitdump_has_names_and_code() {
    let files = directory();
    let args = format!("run {} {SAXPY} --stats --json --perf jitdump", kernel("saxpy"));
    let (id, code, stdout, stderr) = gcnjit(files.path(), &args, None);
    assert_eq!(code, Some(0), "{stderr}");
    let dump = fs::read(files.path().join(format!("jit-{id}.dump"))).unwrap();
    let word = |at: usize| u32::from_ne_bytes(dump[at..at + 4].try_into().unwrap());
    let quad = |at: usize| u64::from_ne_bytes(dump[at..at + 8].try_into().unwrap()) as usize;
    assert_eq!((word(0), word(4), word(8), word(20)), (0x4a69_5444, 1, 40, id));
    let (mut at, mut code_bytes, mut count) = (40, 0, 0);
    while at < dump.len() {
        let (kind, total, size) = (word(at), word(at + 4) as usize, quad(at + 40));
        assert_eq!((kind, quad(at + 24), quad(at + 48)), (0, quad(at + 32), count), "kind, addresses and index");
        assert!(quad(at + 8) >= quad(24), "time goes on");
        let name = &dump[at + 56..at + total - size - 1];
        assert!(name.starts_with(b"saxpy+0x"), "{name:?}");
        (at, code_bytes, count) = (at + total, code_bytes + size, count + 1);
    }
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["translation"]["code_bytes"], code_bytes);
}

#[test]
fn a_profile_of_another_form_is_usage() {
    let run = format!("run {} {SAXPY}", kernel("saxpy"));
    for (args, variable) in [(format!("{run} --perf tap"), None), (run, Some("tap"))] {
        let (_, code, stdout, stderr) = gcnjit(directory().path(), &args, variable);
        assert_eq!(code, Some(2), "{stdout}");
        assert!(stderr.contains("'tap'") && stderr.contains("map, jitdump"), "{stderr}");
    }
}

#[test]
fn listings_show_every_instruction_with_what_becomes_of_it() {
    let file = kernel("saxpy");
    let show = |form: &str, more: &str| {
        let (_, code, stdout, stderr) =
            gcnjit(directory().path(), &format!("{form} {file} --kernel saxpy {more}"), None);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        stdout
    };
    let (_, _, disassembly, _) = gcnjit(directory().path(), &format!("disas {file} --kernel saxpy"), None);
    let lane = show("lane", "");
    let mnemonics = disassembly.lines().filter_map(|line| line.strip_prefix('\t')?.split_whitespace().next());
    let mnemonics: Vec<&str> = mnemonics.take_while(|mnemonic| *mnemonic != "s_endpgm").collect();
    assert!(mnemonics.len() > 20);
    let guest: Vec<&str> = lane.lines().filter(|line| line.starts_with("; saxpy+0x")).collect();
    for (mnemonic, line) in mnemonics.iter().zip(&guest) {
        assert!(line.split_whitespace().nth(2) == Some(mnemonic), "{mnemonic} in {line}");
    }
    for part in ["block saxpy+0x0: ", "  step 0: ", "a segment of ", "Access", "Fma.B32"] {
        assert!(lane.contains(part), "{part} in {lane}");
    }
    let clif = show("clif", "");
    assert!(clif.contains("; saxpy+0x0: ") && clif.contains("\nblock0(v0: i64") && clif.contains(" call_indirect "));
    let (flushed, kept) = (show("lane", "--mode 0xc0"), show("lane", "--mode f0"));
    assert!(flushed != lane || kept != lane, "denormals make a difference");
    if cfg!(target_arch = "x86_64") {
        let host = show("host", "");
        assert!(host.contains("; saxpy+0x0: ") && host.contains("  call ") && host.contains("  ret"), "{host}");
        assert!(!host.contains("(bad)"), "{host}");
    }
}

#[test]
fn kernels_that_can_not_be_listed_are_refused() {
    let file = kernel("saxpy");
    for (args, code, part) in [
        (format!("lane {file} --kernel none"), 2, "none"),
        (format!("clif {file}"), 2, "--kernel"),
        (format!("host {file} --kernel saxpy --mode xyz"), 2, "xyz"),
    ] {
        let (_, got, _, stderr) = gcnjit(directory().path(), &args, None);
        assert_eq!(got, Some(code), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
}
