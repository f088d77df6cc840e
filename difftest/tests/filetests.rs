//! Every filetest of the repository: `tests/filetests/run` runs on both engines, `ir` looks at the lane IR besides,
//! `disas` at encodings. `BLESS=1` writes into them what came out instead.

use gcnjit_difftest::Bench;
use gcnjit_difftest::filetest::{self, bless, check, parse};
use gcnjit_isa::{Decoder, Target, asm, disas};
use std::path::{Path, PathBuf};

fn files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests").join(kind);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "gcn"));
    files.sort();
    files
}

fn blessing() -> bool {
    std::env::var("BLESS").is_ok_and(|value| value == "1")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What is wrong with a test that is run, with file and line.
fn run(bench: &Bench, path: &Path) -> Result<(), String> {
    let source = read(path);
    let place = |line: usize, what: String| format!("{}:{line}: {what}", path.display());
    let test = parse(&source).map_err(|error| place(error.line, error.what))?;
    if blessing() {
        let blessed = bless(bench, &test, &source).map_err(|failed| place(failed.line, failed.what))?;
        if blessed != source {
            std::fs::write(path, blessed).map_err(|error| place(1, error.to_string()))?;
        }
        return Ok(());
    }
    let again = "BLESS=1 cargo test -p gcnjit-difftest --test filetests accepts what came out";
    check(bench, &test).map_err(|failed| {
        let filetest::Failed { line, target, what } = failed;
        place(line, format!("on {target}: {what}\n  ({again})"))
    })
}

fn run_all(kind: &str, least: usize) {
    let (bench, files) = (Bench::new().expect("a machine"), files(kind));
    let failures: Vec<String> = files.iter().filter_map(|path| run(&bench, path).err()).collect();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), files.len(), failures.join("\n"));
    assert!(files.len() >= least, "there are more than {} filetests", files.len());
}

#[test]
fn programs() {
    run_all("run", 30);
}

#[test]
fn translations() {
    run_all("ir", 5);
}

/// A line of `disas`: words, a bar, text. Both ways.
fn both_ways(target: Target, line: &str) -> Result<(), String> {
    let (words, text) = line.split_once('|').ok_or("there is no '|'")?;
    let text = text.trim();
    let word = |word: &str| u32::from_str_radix(word.trim_start_matches("0x"), 16).map_err(|error| error.to_string());
    let words = words.split_whitespace().map(word).collect::<Result<Vec<u32>, String>>()?;
    let inst = Decoder::new(target).decode(&words).map_err(|error| error.to_string())?;
    let printed = disas::text(&inst, target);
    if printed != text {
        return Err(format!("it is printed '{printed}'"));
    }
    let assembled = asm::assemble(text, target).map_err(|error| error.to_string())?;
    if assembled == words { Ok(()) } else { Err(format!("it assembles to {assembled:#010x?}")) }
}

#[test]
fn encodings() {
    let (mut failures, mut lines) = (Vec::new(), 0);
    for path in files("disas") {
        let mut targets: Vec<Target> = Vec::new();
        for (number, line) in (1..).zip(read(&path).lines()) {
            let line = line.split(';').next().unwrap_or("").trim();
            let mut fail = |what: String| failures.push(format!("{}:{number}: {what}", path.display()));
            if let Some(names) = line.strip_prefix("target ") {
                match names.split_whitespace().map(str::parse).collect::<Result<Vec<Target>, _>>() {
                    Ok(named) => targets = named,
                    Err(_) => fail(format!("'{names}' are no targets")),
                }
            } else if !line.is_empty() {
                lines += targets.len();
                targets.iter().filter_map(|target| both_ways(*target, line).err()).for_each(&mut fail);
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(lines >= 40, "there are more than {lines} encodings");
}

/// What is wrong is said with the line.
#[test]
fn mistakes_have_lines() {
    let head = "target gfx900\n";
    for (source, line, what) in [
        ("run\n", 1, "there is no target"),
        ("target gfx1100\n", 1, "'gfx1100' is no target"),
        ("target gfx900\nfrob\n", 2, "'frob' is nothing that a line begins with"),
        ("target gfx900\nset v0\n", 2, "there is no '='"),
        ("target gfx900\nset x0 = 1\n", 2, "'x0' is no register and no place in memory"),
        ("target gfx900\nset s[4:6] = 1\n", 2, "'s[4:6]' is no register and no place in memory"),
        ("target gfx900\nset v0[64] = 1\n", 2, "'v0[64]' is no register and no place in memory"),
        ("target gfx900\nset s0 = 0x100000000\n", 2, "0x100000000 has more than 32 bits"),
        ("target gfx900\nset s0 = &a + 4\n", 2, "an address takes a pair of registers"),
        ("target gfx900\nset s[0:1] = &lds\n", 2, "'lds' has no address"),
        ("target gfx900\nmemory a[0x2000] = 1\n", 2, "'a[0x2000]' is no register and no place in memory"),
        ("target gfx900\nwave 99\n", 2, "'99' is no number of a wave"),
        ("target gfx900\ngrid 64 of x\n", 2, "'64 of x' is no grid"),
        ("target gfx900\ngrid 64\n", 2, "'64' is no grid"),
        ("target gfx900\ngrid 64 of 64\nexpect a[0] = 1\nexpect v0 = 1\n", 4, "of a grid only memory and the end"),
        ("target gfx900\nexpect s[0:1] = &a\n", 2, "an address can't be expected"),
    ] {
        let error = parse(source).expect_err(source);
        assert_eq!(error.line, line, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    for (program, line, what) in [
        ("run\n  v_frob v0\n", 3, "no instruction 'v_frob'"),
        ("run\n  s_branch nowhere\n", 3, "'nowhere'"),
        ("memory a[0x1ffc] = 1 2\nrun\n", 2, "a ends before the last value"),
    ] {
        let test = parse(&format!("{head}{program}")).expect("lines that make sense");
        let error = test.case(Target::Gfx900).err().expect(program);
        assert!(error.line == line && error.what.contains(what), "{error}");
    }
}

/// An expectation that does not hold is named by its line, and blessed to what came out.
#[test]
fn expectations_are_checked_and_blessed() {
    let bench = Bench::new().expect("a machine");
    let source = "target gfx900\nset v0 = 2\nrun\n  v_add_u32_e32 v1, 3, v0\nexpect v1 = 4 ; a sum\nexpect end soon\n";
    let failed = check(&bench, &parse(source).expect("a filetest")).expect_err("5 is not 4");
    assert_eq!((failed.line, failed.what.as_str()), (5, "the result was 5"));
    let blessed = bless(&bench, &parse(source).expect("a filetest"), source).expect("the engines agree");
    assert!(blessed.ends_with("expect v1 = 5 ; a sum\nexpect end ended\n"), "{blessed}");
    assert_eq!(check(&bench, &parse(&blessed).expect("a filetest")), Ok(()));
}

/// A grid has the work-items that it says, a launch after the other, and the arguments twice.
#[test]
fn grids_are_launched() {
    let bench = Bench::new().expect("a machine");
    let source = "target gfx900\nset s[0:1] = &a + 4\nset s6 = 3\ngrid 3x2 of 2x1\ngrid 1 of 1\nrun\n  \
                  s_load_dword s20, s[14:15], 0x18\n  v_mov_b32_e32 v3, 0\n  s_waitcnt lgkmcnt(0)\n  \
                  v_mov_b32_e32 v4, s20\n  global_atomic_add v3, v4, s[0:1]\n  s_endpgm\n\
                  expect a[4] = 21\nexpect end ended\n";
    assert_eq!(check(&bench, &parse(source).expect("a filetest")), Ok(()));
    let stuck = source.replace("s_waitcnt", "s_cmp_eq_u32 s17, 1\n  s_cbranch_scc0 on\n  s_trap 1\non:\n  s_waitcnt");
    let stuck = stuck.replace("= 21", "= 9").replace("end ended", "end fault trap at &code+0x14 lane 0 wave 2 pc 0x14");
    assert_eq!(check(&bench, &parse(&stuck).expect("a filetest")), Ok(()));
    let impossible = parse("target gfx900\ngrid 2048 of 2048\nrun\n  s_endpgm\n").expect("a filetest");
    let failed = check(&bench, &impossible).expect_err("a work-group has at most 1024 work-items");
    assert!(failed.what.contains("can't be launched"), "{failed}");
}

/// The translator plays MODE by the host's floating-point environment, and puts that back after a fault too.
#[test]
fn a_fault_leaves_the_host_alone() {
    let source = "target gfx900\nmode 0x30\nset v[0:1] = 1.5d\nrun\n  v_mul_f64 v[2:3], v[0:1], v[0:1]\n  \
                  v_add_f64 v[4:5], v[2:3], v[0:1]\n  flat_load_dword v8, v[10:11]\n\
                  expect end fault null at 0x0 lane 0 wave 0 pc 0x10\nexpect v[4:5] = 3.75d\n";
    let test = parse(source).expect("a filetest");
    let bench = Bench::new().expect("a machine");
    assert_eq!(check(&bench, &test), Ok(()));
    let denormal = std::hint::black_box(1e-40_f32) * std::hint::black_box(0.5);
    assert!(denormal > 0.0, "denormals are flushed now");
}
