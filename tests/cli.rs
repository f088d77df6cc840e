//! The command line's contract: exit codes, the JSON line, messages, output files.

use gcnjit::rt::Image;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A run of the program.
struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Outcome {
    /// The last line of stdout.
    fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_else(|| panic!("no stdout; stderr: {}", self.stderr));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn good(self) -> Outcome {
        assert_eq!(self.code, 0, "{}", self.stderr);
        assert_eq!(self.stderr, "");
        self
    }

    /// It ended with `code`, `parts` in the message, and the same message in the JSON line.
    fn bad(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        let json = self.json();
        let error = json["error"].as_str().unwrap();
        assert_eq!(json["ok"], false);
        for part in parts {
            assert!(self.stderr.contains(part), "{part} is not in {}", self.stderr);
            assert!(error.contains(part), "{part} is not in {error}");
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

fn gcnjit<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Outcome {
    let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_gcnjit")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: status.code().expect("no signal"), stdout: text(stdout), stderr: text(stderr) }
}

/// `gcnjit`, its arguments separated by spaces.
fn line(args: impl AsRef<str>) -> Outcome {
    gcnjit(args.as_ref().split_whitespace())
}

fn kernel(name: &str, target: &str) -> String {
    format!("{}/kernels/{name}/{name}.{target}.co", env!("CARGO_MANIFEST_DIR"))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A directory with inputs of saxpy, and an output that a failure must not touch.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> Files {
        let files = Files { directory: tempfile::tempdir().unwrap() };
        fs::write(files.path("x"), floats(&[3.0; 100])).unwrap();
        fs::write(files.path("y"), floats(&[1.0; 100])).unwrap();
        fs::write(files.path("old"), "precious").unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The path in a string.
    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// `run` of saxpy from `file`, with `more` instead of buffers and scalars.
    fn saxpy(&self, file: &str, more: &str) -> Outcome {
        line(format!("run {file} --kernel saxpy --grid 100 --block 64 {more}"))
    }

    /// The usual arguments, the output going to `output`.
    fn args(&self, output: &str) -> String {
        let (x, y) = (self.name("x"), self.name("y"));
        format!("--arg in:{x} --arg inout:{y}:{} --arg f32:2 --arg u32:100", self.name(output))
    }

    /// No file but those of [`Files::new`] is there, and they are as they were.
    fn assert_untouched(&self) {
        let mut names: Vec<_> = fs::read_dir(&self.directory).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["old", "x", "y"]);
        assert_eq!(fs::read(self.path("old")).unwrap(), b"precious");
        assert_eq!(fs::read(self.path("y")).unwrap(), floats(&[1.0; 100]));
    }
}

#[test]
fn run_writes_outputs_and_ends_with_json() {
    for (engine, target) in [("jit", "gfx900"), ("interp", "gfx803"), ("check", "gfx700"), ("jit", "gfx600")] {
        let files = Files::new();
        let options = format!("{} --engine {engine} --time 3 --threads 2 --gfx {target}", files.args("old"));
        let outcome = files.saxpy(&kernel("saxpy", target), &options).good();
        assert_eq!(fs::read(files.path("old")).unwrap(), floats(&[7.0; 100]));
        let json = outcome.json();
        assert_eq!(json["ok"], true);
        assert_eq!(json["times_ms"].as_array().unwrap().len(), 3);
        for time in ["build_ms", "first_ms", "translate_ms"] {
            assert!(json[time].as_f64().unwrap() >= 0.0, "{time}");
        }
        let strings = ["kernel", "gfx", "engine"].map(|field| json[field].as_str().unwrap().to_owned());
        assert_eq!(strings, ["saxpy", target, engine]);
        assert_eq!((json["waves"].as_u64(), json["groups"].as_u64()), (Some(2), Some(2)));
        assert!(json["wave_instructions"].as_u64().unwrap() > 20);
        assert!(outcome.stdout.lines().count() > 3, "people get to read something: {}", outcome.stdout);
        assert!(outcome.stdout.contains("argument 1 (float*): 7 7 7 7 7 7 7 7 …"), "{}", outcome.stdout);
        let quiet = files.saxpy(&kernel("saxpy", target), &format!("{} --json", files.args("new"))).good();
        assert_eq!(quiet.stdout.lines().count(), 1);
    }
}

#[test]
fn grids_have_offsets_and_partial_groups_and_up_to_three_dimensions() {
    let files = Files::new();
    let (out, file) = (files.name("out"), kernel("mandelbrot", "gfx900"));
    let args = "--arg u32:20 --arg f32:5 --arg f32:0 --arg f32:1 --arg u32:9";
    line(format!("run {file} --kernel mandelbrot --grid 20,10 --block 16,8,1 --arg out:800:{out} {args}")).good();
    assert_eq!(fs::read(&out).unwrap(), [1u32.to_le_bytes(); 200].concat());
    let grid = "--grid 5,2 --offset 10,3 --block 8,8";
    line(format!("run {file} --kernel mandelbrot {grid} --arg out:800:{out} {args}")).good();
    let counts = fs::read(&out).unwrap();
    let set: Vec<usize> = (0..200).filter(|i| counts[i * 4] != 0).collect();
    assert_eq!(set, [70, 71, 72, 73, 74, 90, 91, 92, 93, 94]);
}

#[test]
fn a_loop_launches_in_order_and_each_repetition_starts_anew() {
    let files = Files::new();
    let (out, file) = (files.name("out"), kernel("bitonic_sort", "gfx803"));
    let keys: Vec<u8> = (0..1024u32).flat_map(|i| (i * 7919 % 1024).to_le_bytes()).collect();
    fs::write(files.path("keys"), keys).unwrap();
    let keys = files.name("keys");
    let outcome = line(format!(
        "run {file} --kernel bitonic_sort --grid 512 --block 64 --loop 55 --arg inout:{keys}:{out} \
         --arg zero:4096 --arg u32:@ --time 2"
    ));
    let outcome = outcome.good();
    assert_eq!(outcome.json()["waves"], 55 * 8);
    let sorted: Vec<u8> = (0..1024u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(fs::read(&out).unwrap(), sorted);
}

#[test]
fn jobs_launch_over_named_buffers() {
    let files = Files::new();
    let (x, file) = (files.name("x"), kernel("saxpy", "gfx900"));
    let (one, two) = (files.name("one"), files.name("two"));
    let job = format!(
        "# y = 2 x, then y += 0.5 x for the upper half\n\
         buffer x 400 {x}\nbuffer y 0x190 zero\n\
         launch saxpy 1 100 1 1 64 1 1 b:x b:y f:2 u:100\ndump y {one}\n\
         launch saxpy 1 50 1 1 64 1 1 b:x+200 b:y+200 h:0000003f i:50\ndump y {two}\n"
    );
    fs::write(files.path("job"), job).unwrap();
    let outcome = line(format!("run {file} --job {} --engine check --time 1", files.name("job"))).good();
    assert_eq!(outcome.json()["waves"], 3);
    assert_eq!(fs::read(&one).unwrap(), floats(&[6.0; 100]));
    assert_eq!(fs::read(&two).unwrap(), [floats(&[6.0; 50]), floats(&[7.5; 50])].concat());
    let before = fs::read(&one).unwrap();
    fs::write(files.path("job"), format!("buffer y 4 zero\ndump y {one}\nlaunch saxpy")).unwrap();
    let message = format!("{}:3: launch KERNEL", files.name("job"));
    line(format!("run {file} --job {}", files.name("job"))).bad(2, &[&message]);
    assert_eq!(fs::read(&one).unwrap(), before);
}

#[test]
fn mistakes_in_the_arguments_are_usage() {
    let files = Files::new();
    let file = &kernel("saxpy", "gfx900");
    let (x, y) = (files.name("x"), files.name("y"));
    let with = |more: &str| files.saxpy(file, more);
    let usual = &files.args("old");
    line("run").bad(2, &["required", "<FILE>"]);
    line(format!("run {file}")).bad(2, &["required", "--kernel"]);
    with("--gfx gfx1030").bad(2, &["unknown target 'gfx1030'"]);
    with(&format!("{usual} --gfx gfx803")).bad(2, &[file, "gfx900", "gfx803"]);
    with(&format!("{usual} --arg u32:1")).bad(2, &[file, "saxpy", "takes 4 arguments, 5 were given"]);
    with("--arg zero:400").bad(2, &[file, "saxpy", "takes 4 arguments, 1 were given"]);
    let wrong = format!("--arg in:{x} --arg in:{y} --arg f64:2 --arg u32:1");
    with(&wrong).bad(2, &[file, "saxpy", "argument 2 (float): 8 bytes were given, it takes 4"]);
    let wrong = format!("--arg f32:1 --arg in:{y} --arg f32:2 --arg u32:1");
    with(&wrong).bad(2, &["argument 0 (float*): a value was given, it is a buffer"]);
    for (arg, what) in [
        ("u32", "no ':'"),
        ("u31:1", "there is no form 'u31'"),
        ("u8:256", "'256' is no u8"),
        ("f32:x", "'x' is no f32"),
        ("bytes:0", "not bytes in hexadecimal"),
        ("out:4", "a size and a file"),
        ("inout:a", "two files"),
        ("zero:-1", "'-1' is no size"),
    ] {
        with(&format!("--arg {arg}")).bad(2, &[arg, what]);
    }
    with("--arg in:/no/such/file").bad(2, &["/no/such/file"]);
    with("--arg out:4:/no/such/directory/out").bad(2, &["/no/such/directory/out"]);
    with(&format!("--arg out:4:{}", files.directory.path().display())).bad(2, &["it is a directory"]);
    with("--arg zero:0xffffffffffffffff").bad(2, &["argument 0: no room"]);
    line(format!("run {file} --kernel saxpy --grid 1 --block 0 {usual}")).bad(2, &["saxpy", "work-group of [0, 1, 1]"]);
    line(format!("run {file} --kernel saxpy --grid 1 --block 257 {usual}")).bad(2, &["saxpy", "at most 256"]);
    line(format!("run {file} --kernel saxpy --grid 1,1,1,1 --block 1 {usual}")).bad(2, &["4 dimensions"]);
    line(format!("run {file} --kernel other --grid 1 --block 1 {usual}")).bad(2, &[file, "no kernel 'other'", "saxpy"]);
    files.assert_untouched();
}

#[test]
fn files_that_are_no_code_objects_are_unsupported() {
    let files = Files::new();
    let good = fs::read(kernel("saxpy", "gfx900")).unwrap();
    let bad = tempfile::tempdir().unwrap();
    let path = bad.path().join("bad.co").display().to_string();
    let with = |change: &dyn Fn(&mut Vec<u8>), parts: &[&str]| {
        let mut file = good.clone();
        change(&mut file);
        fs::write(&path, file).unwrap();
        files.saxpy(&path, &files.args("old")).bad(3, &[&[path.as_str()], parts].concat());
        assert_eq!(line(format!("info {path}")).code, 3);
        assert_eq!(line(format!("disas {path}")).code, 3);
    };
    with(&|file| *file = b"#!/bin/sh".to_vec(), &["not a code object"]);
    with(&|file| file.clear(), &["not a code object"]);
    with(&|file| file.truncate(1000), &[]);
    with(&|file| file[18] = 62, &["e_machine is 0x3e"]);
    with(&|file| file[48] = 0x41, &["unsupported processor", "0x41"]);
    files.saxpy("/no/such.co", &files.args("old")).bad(2, &["/no/such.co"]);
    files.assert_untouched();
}

#[test]
fn truncated_files_do_not_crash() {
    let good = fs::read(kernel("saxpy", "gfx803")).unwrap();
    let files = Files::new();
    let bad = tempfile::tempdir().unwrap();
    let path = bad.path().join("bad.co").display().to_string();
    for length in (0..good.len()).step_by(good.len() / 20) {
        fs::write(&path, &good[..length]).unwrap();
        let outcome = files.saxpy(&path, &files.args("new"));
        assert!(outcome.code == 0 || outcome.code == 3, "{length}: {}", outcome.stderr);
    }
}

/// Writes saxpy with other words where the kernel starts.
fn patched(directory: &Path, words: &[u32]) -> String {
    let mut file = fs::read(kernel("saxpy", "gfx900")).unwrap();
    let image = Image::parse(file.clone()).unwrap();
    let code = &image.kernels["saxpy"];
    let segment = image.segments.iter().find(|segment| segment.executable).unwrap();
    let start = segment.file.start + (code.entry - segment.offset) as usize;
    for (place, word) in file[start..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let path = directory.join("patched.co");
    fs::write(&path, file).unwrap();
    path.display().to_string()
}

#[test]
fn instructions_that_cannot_be_executed_are_unsupported() {
    let files = Files::new();
    let directory = tempfile::tempdir().unwrap();
    for engine in ["jit", "interp", "check"] {
        let options = format!("{} --engine {engine}", files.args("old"));
        // s_setkill 1: decoded, and never executed.
        let path = patched(directory.path(), &[0xbf8b_0001]);
        files.saxpy(&path, &options).bad(3, &[&path, "saxpy", "unimplemented", "s_setkill", "pc 0x", "saxpy+0x0"]);
        let path = patched(directory.path(), &[0xffff_ffff]);
        files.saxpy(&path, &options).bad(3, &[&path, "saxpy", "0xffffffff", "pc 0x", "saxpy+0x0"]);
    }
    files.assert_untouched();
}

#[test]
fn compute_kernels_export_nothing() {
    let files = Files::new();
    let directory = tempfile::tempdir().unwrap();
    let path = patched(directory.path(), &[0xc400_000f, 0]);
    for engine in ["jit", "interp", "check"] {
        let options = format!("{} --engine {engine}", files.args("old"));
        files.saxpy(&path, &options).bad(1, &["outside of a shader", "exp mrt0", "pc 0x", "saxpy+0x0"]);
    }
    files.assert_untouched();
}

#[test]
fn bad_accesses_are_faults() {
    let files = Files::new();
    let file = &kernel("saxpy", "gfx900");
    let (x, old) = (files.name("x"), files.name("old"));
    for engine in ["jit", "interp", "check"] {
        let end = format!("--arg f32:2 --arg u32:100 --engine {engine}");
        let null = format!("--arg u64:0 --arg out:400:{old} {end}");
        files
            .saxpy(file, &null)
            .bad(1, &[file, "saxpy", "null pointer", "pc 0x", "global_load_dword", "work-group (0, 0, 0)"]);
        let short = format!("--arg in:{x} --arg out:396:{old} {end}");
        files.saxpy(file, &short).bad(1, &[file, "saxpy", "unmapped", "pc 0x", "global_", "lane 35"]);
    }
    files.assert_untouched();
}

#[test]
fn outputs_that_are_no_regular_files_are_written_to() {
    let files = Files::new();
    let link = files.path("link");
    std::os::unix::fs::symlink(files.path("target"), &link).unwrap();
    fs::write(files.path("target"), "old").unwrap();
    let file = kernel("saxpy", "gfx900");
    files.saxpy(&file, &files.args("link")).good();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read(files.path("target")).unwrap(), floats(&[7.0; 100]));
    let x = files.name("x");
    let null = format!("--arg in:{x} --arg out:400:/dev/null --arg f32:2 --arg u32:100");
    files.saxpy(&file, &null).good();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn disas_prints_code_as_llvm_does() {
    let file = kernel("saxpy", "gfx900");
    let text = line(format!("disas {file} --kernel saxpy")).good().stdout;
    assert!(text.starts_with("saxpy:\n\ts_load_dword"), "{text}");
    assert!(text.contains("\ts_endpgm\n"), "{text}");
    let words = line(format!("disas {file} --words")).good().stdout;
    assert!(words.lines().nth(1).unwrap().contains(" // 0000"), "{words}");
    let directory = tempfile::tempdir().unwrap();
    let raw = directory.path().join("raw");
    let code: Vec<u8> =
        [0x7e00_02ff_u32, 0x1234, 0xffff_ffff, 0xbf81_0000].iter().flat_map(|w| w.to_le_bytes()).collect();
    fs::write(&raw, code).unwrap();
    let raw = raw.display();
    let text = line(format!("disas {raw} --raw --gfx gfx900")).good().stdout;
    assert_eq!(text, "v_mov_b32_e32 v0, 0x1234\n.long 0xffffffff\ns_endpgm\n");
    assert_eq!(line(format!("disas {raw} --raw")).code, 2);
    assert_eq!(line(format!("disas {file} --kernel other")).code, 2);
    assert_eq!(line("disas /no/such/file").code, 2);
}

#[test]
fn asm_is_the_inverse_of_disas() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (source, raw) = (path("source.s"), path("raw"));
    let text = "v_mov_b32_e32 v0, 0x1234\ns_cbranch_scc1 65534\ns_endpgm\n";
    fs::write(&source, text.replace("65534", "start").replacen("v_mov", "start: // here\nv_mov", 1)).unwrap();
    line(format!("asm {source} --gfx gfx700 -o {raw}")).good();
    let backwards = line(format!("disas {raw} --raw --gfx gfx700")).good().stdout;
    assert_eq!(backwards, text.replace("65534", "65533"));
    fs::write(&source, "s_nop 0\nv_mov_b32_e32 v0").unwrap();
    let outcome = line(format!("asm {source} --gfx gfx700 -o {raw}"));
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("source.s: line 2: "), "{}", outcome.stderr);
}

#[test]
fn raw_code_starts_with_the_registers_that_flags_give() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    // out[group * 64 + item] = item + factor + LDS's start, through a V#, the kernarg segment and constants.
    let text = "s_load_dwordx2 s[10:11], s[6:7], 0x2\ns_lshl_b32 s12, s9, 8\nv_lshlrev_b32 v1, 2, v0\n\
                s_waitcnt lgkmcnt(0)\ns_add_i32 s10, s10, s11\ns_add_i32 s10, s10, s8\nv_add_i32 v0, vcc, s10, v0\n\
                buffer_store_dword v0, v1, s[0:3], s12 offen\ns_endpgm\n";
    let (source, raw, out) = (path("source.s"), path("raw"), path("out"));
    fs::write(&source, text).unwrap();
    line(format!("asm {source} --gfx gfx600 -o {raw}")).good();
    let usual = format!("run {raw} --raw --gfx gfx600 --grid 128 --block 64 --arg out:512:{out}");
    let sgprs = "--sgpr 0=resource:0 --sgpr 6=kernarg --sgpr 8=1000";
    for engine in ["jit", "interp", "check"] {
        let more = "--group-ids 1 --vgpr-ids 1 --lds 100 --arg u32:7 --arg lds:16";
        let outcome = line(format!("{usual} {sgprs} {more} --engine {engine}")).good();
        assert_eq!(outcome.json()["kernel"], "code");
        let want: Vec<u8> = (0..128u32).flat_map(|i| (i % 64 + 1000 + 7 + 112).to_le_bytes()).collect();
        assert_eq!(fs::read(&out).unwrap(), want, "{engine}");
    }
    line(format!("{usual} --sgpr 0=resource:0 --sgpr 2=5")).bad(2, &["two values are given for an SGPR"]);
    line(format!("{usual} --sgpr 14=resource:0")).bad(2, &["after the 16 user SGPRs"]);
    for (sgpr, what) in
        [("16=1", "N is not 0 to 15"), ("1", "no '='"), ("1=f64:1", "not 32 bits"), ("1=x", "'x' is no u32")]
    {
        line(format!("{usual} --sgpr {sgpr}")).bad(2, &[sgpr, what]);
    }
    line(format!("run {raw} --raw --grid 1 --block 1")).bad(2, &["--gfx"]);
    fs::write(&raw, "abc").unwrap();
    line(usual).bad(2, &["not one or more dwords"]);
}

#[test]
fn a_deadline_ends_what_would_not_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (source, raw) = (path("source.s"), path("raw"));
    fs::write(&source, "s_nop 0\nloop: s_branch loop\n").unwrap();
    line(format!("asm {source} --gfx gfx803 -o {raw}")).good();
    let usual = format!("run {raw} --raw --gfx gfx803 --grid 128 --block 64");
    for engine in ["jit", "interp"] {
        let outcome = line(format!("{usual} --engine {engine} --deadline 0.02"));
        outcome.bad(1, &["its deadline passed before its end", "(s_branch", "at code+0x4"]);
    }
    line(format!("{usual} --deadline soon")).bad(2, &["'soon' is not a number of seconds"]);
    line(format!("{usual} --deadline=-1")).bad(2, &["'-1'"]);
}

#[test]
fn info_and_run_take_every_container() {
    let files = Files::new();
    let container = |name: &str| format!("{}/kernels/containers/{name}", env!("CARGO_MANIFEST_DIR"));
    for (name, parts) in [
        ("globals.gfx900.v2.co", &["gfx900", "HSA code object 2", "variable counter: 4 bytes", "keep"][..]),
        ("saxpy.gfx9-generic.v6.co", &["gfx900", "HSA code object 5 or 6"]),
        (
            "saxpy.zstd.hipfb",
            &["gfx803, from a bundle of host-x86_64-unknown-linux--, hipv4-amdgcn-amd-amdhsa--gfx803"],
        ),
        ("tahiti.amdcl", &["gfx600", "Catalyst OpenCL 1.2", "needs       atomic counters", "exactly 128", "float* x"]),
    ] {
        let text = line(format!("info {}", container(name))).good().stdout;
        parts.iter().for_each(|part| assert!(text.contains(part), "{part} is not in {text}"));
        line(format!("disas {}", container(name))).good();
    }
    let json = line(format!("info {} --gfx gfx900 --json", container("saxpy.hipfb"))).good().stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["gfx"], json["parts"].as_array().map(Vec::len)), (&"gfx900".into(), Some(3)));
    for (name, gfx) in [("saxpy.zstd.hipfb", "gfx900"), ("tahiti.amdcl", "gfx600"), ("saxpy.gfx803.v2.co", "gfx803")] {
        let options = format!("{} --engine check --gfx {gfx}", files.args("old"));
        files.saxpy(&container(name), &options).good();
        assert_eq!(fs::read(files.path("old")).unwrap(), floats(&[7.0; 100]), "{name}");
    }
    let missing = "no code for gfx600; there is host-x86_64";
    files.saxpy(&container("saxpy.hipfb"), &format!("{} --gfx gfx600", files.args("new"))).bad(2, &[missing]);
}

#[test]
fn info_shows_kernels_and_arguments() {
    let file = kernel("transform", "gfx803");
    let text = line(format!("info {file}")).good().stdout;
    for part in ["gfx803", "transform", "SGPRs", "VGPRs", "LDS", "scratch", "argument 0"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let json: Value = serde_json::from_str(&line(format!("info {file} --json")).good().stdout).unwrap();
    assert_eq!((&json["gfx"], &json["kernels"][0]["name"]), (&"gfx803".into(), &"transform".into()));
    assert!(json["kernels"][0]["args"].as_array().is_some_and(|args| args.len() > 2));
}
