//! The commands of docs/differential-testing.md print what it shows.
//!
//! In each `console` block a line `$ gcnjit …` is run in the repository's root, with `soften.rec` in a directory of its
//! own, and what follows is what it prints; a line `…` stands for any number of lines.
//! `BLESS=1 cargo test --test tutorial` writes what is printed now into the blocks that leave nothing out.

#[path = "support/program.rs"]
mod program;

use program::gcnjit;
use std::fs;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/differential-testing.md");

/// Whether `lines` are what is shown, in which `…` stands for any number of them.
fn is_shown(shown: &[&str], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=lines.len()).any(|count| is_shown(rest, &lines[count..])),
        (Some((shown, rest)), Some((line, lines))) => shown.trim_end() == line.trim_end() && is_shown(rest, lines),
        _ => false,
    }
}

#[test]
fn the_tutorial_shows_what_its_commands_print() {
    let directory = tempfile::tempdir().unwrap();
    let recording = directory.path().join("soften.rec").display().to_string();
    let text = fs::read_to_string(PATH).unwrap();
    let (mut blessed, mut failures, mut commands) = (text.clone(), Vec::new(), 0);
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for part in block.split("$ ").skip(1) {
            let joined = part.replace("\\\n", " ");
            let (command, shown) = joined.split_once('\n').unwrap();
            let Some(args) = command.strip_prefix("gcnjit ") else { panic!("{PATH}: '{command}' is none of ours") };
            let printed = gcnjit(args.replace("soften.rec", &recording)).stdout.replace(&recording, "soften.rec");
            commands += 1;
            let (expected, got): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), printed.lines().collect());
            if !is_shown(&expected, &got) {
                failures.push(format!("$ {command}\n{printed}"));
                if !expected.contains(&"…") && !shown.is_empty() {
                    blessed = blessed.replacen(shown, &printed, 1);
                }
            }
        }
    }
    assert!(commands > 4, "{commands} commands");
    if std::env::var_os("BLESS").is_some() {
        fs::write(PATH, &blessed).unwrap();
    }
    assert!(failures.is_empty(), "{PATH} shows something else, BLESS=1 changes it:\n{}", failures.join("\n"));
}
