//! `gcnjit fuzz`: the report as text and as JSON, seeds, and what it refuses.

use serde_json::Value;
use std::process::{Command, Output};

fn fuzz(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gcnjit")).arg("fuzz").args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = fuzz(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn report() {
    let report = json(&["--seed", "7", "--count", "40", "--gfx", "gfx900"]);
    assert_eq!((report["ok"].as_bool(), report["programs"].as_u64()), (Some(true), Some(40)));
    assert!(report["programs_per_second"].as_f64().unwrap() > 0.0);
    assert!(report["families"]["vop2"].as_u64().unwrap() > 0);
    let forms = &report["coverage"]["forms"];
    let [executed, all] = ["executed", "all"].map(|key| forms[key].as_u64().unwrap());
    assert_eq!(forms["never"].as_array().unwrap().len() as u64, all - executed);
    assert!(0 < executed && executed < all);
}

/// The same seed gives the same programs, whatever the threads do; another one gives others.
#[test]
fn seeds() {
    let count = |seed: &str, threads: &str| {
        let report = json(&["--seed", seed, "--count", "30", "--threads", threads, "--gfx", "gfx803"]);
        report["instructions"].as_u64().unwrap()
    };
    assert_eq!(count("1", "1"), count("1", "2"));
    assert_ne!(count("1", "1"), count("2", "1"));
}

#[test]
fn covers_a_row() {
    let output = fuzz(&["--cover", "--family", "v_mul_lo_u32"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("rows by encoding and generation: 4 of 4 executed\n"), "{text}");
    assert!(!text.contains("never"), "{text}");
}

#[test]
fn runs_kernels() {
    let args = ["--kernels", "--count", "60", "--gfx", "gfx900", "--seed", "2"];
    let report = json(&args);
    assert_eq!((report["ok"].as_bool(), report["programs"].as_u64()), (Some(true), Some(60)));
    assert_eq!(report["superblocks"].as_u64().unwrap() > 0, gcnjit_translate::wide::is_available());
    let text = String::from_utf8(fuzz(&args).stdout).unwrap();
    assert!(text.contains("waves ended in a superblock"), "{text}");
    let refused = fuzz(&["--kernels", "--family", "mimg"]);
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("'mimg' is no family and no mnemonic begins with it in kernels"), "{text}");
}

#[test]
fn refuses() {
    for (args, message) in [
        (["--family", "vop9"], "'vop9' is no family and no mnemonic begins with it"),
        (["--gfx", "gfx1100"], "gfx1100"),
    ] {
        let output = fuzz(&args);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(message), "{text}");
    }
}
