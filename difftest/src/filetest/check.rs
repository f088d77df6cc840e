//! Runs filetests, and writes down what came out.

use super::parse::{Error, Expect, Filetest, Place, What};
use super::value;
use crate::case::Case;
use crate::machine::{Bench, Outcome, Verdict};
use crate::program::place;
use gcnjit_isa::Target;
use gcnjit_rt::{RegisterFile, Wave, trapsts};
use gcnjit_translate::cfg::{GuestBlock, ends_block};
use gcnjit_translate::lane::Listing;
use gcnjit_translate::{AtEnd, Machine, build};

/// What failed in a filetest, in which line, on which target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, on {target}: {what}")]
pub struct Failed {
    /// The line, from 1.
    pub line: usize,
    /// The target.
    pub target: Target,
    /// What is not as expected.
    pub what: String,
}

impl Failed {
    fn in_line(error: Error, target: Target) -> Failed {
        Failed { line: error.line, target, what: error.what }
    }
}

/// Runs the filetest on all of its targets.
///
/// # Errors
/// The first expectation that does not hold, or where the engines differ.
pub fn check(bench: &Bench, test: &Filetest) -> Result<(), Failed> {
    for target in &test.targets {
        let case = test.case(*target).map_err(|error| Failed::in_line(error, *target))?;
        let outcome = agreed(bench, &case).map_err(|what| Failed { line: 1, target: *target, what })?;
        for expect in &test.expects {
            let wrong = mismatch(bench, &case, &outcome, expect);
            if let Some(what) = wrong {
                return Err(Failed { line: expect.line, target: *target, what });
            }
        }
    }
    Ok(())
}

/// `source` with the values that its expectations have on the first target.
///
/// # Errors
/// If the engines differ: there is nothing to write down then.
pub fn bless(bench: &Bench, test: &Filetest, source: &str) -> Result<String, Failed> {
    let target = test.targets[0];
    let case = test.case(target).map_err(|error| Failed::in_line(error, target))?;
    let outcome = agreed(bench, &case).map_err(|what| Failed { line: 1, target, what })?;
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for expect in &test.expects {
        let line = &mut lines[expect.line - 1];
        let (head, comment) = line.split_once(';').map_or((line.as_str(), ""), |(head, comment)| (head, comment));
        let comment = if comment.is_empty() { String::new() } else { format!(" ;{comment}") };
        match &expect.what {
            What::Values(place, given) => {
                let (place_text, _) = head.split_once('=').unwrap_or((head, ""));
                let values = short(actual(&outcome, expect.wave, place, given.len()));
                *line = format!("{} = {values}{comment}", place_text.trim_end());
            }
            What::End(_) => *line = format!("expect end {}{comment}", bench.end_text(&outcome.end)),
            What::Code { .. } => {}
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// Values as text: one if they are all the same.
fn short(values: Vec<u64>) -> String {
    let same = values.iter().all(|value| *value == values[0]);
    let shown = if same { &values[..1] } else { &values[..] };
    shown.iter().map(|value| value::text(*value)).collect::<Vec<_>>().join(" ")
}

/// What both engines leave.
fn agreed(bench: &Bench, case: &Case) -> Result<Outcome, String> {
    match bench.check(case) {
        Verdict::Same(run) => Ok(run.outcome),
        Verdict::Different(text) => Err(format!("the engines differ:\n{text}")),
        Verdict::Refused(item) => Err(format!("instruction {item} is not executed by either engine")),
        Verdict::Misplaced(item) => Err(format!("instruction {item} has no words: a label may be missing")),
        Verdict::Impossible(why) => Err(format!("it can't be launched: {why}")),
        Verdict::TooLong => Err("the program does not end".to_owned()),
    }
}

/// What does not hold of an expectation.
fn mismatch(bench: &Bench, case: &Case, outcome: &Outcome, expect: &Expect) -> Option<String> {
    match &expect.what {
        What::End(expected) => {
            let end = bench.end_text(&outcome.end);
            (end != *expected).then(|| format!("the end was '{end}'"))
        }
        What::Values(place, expected) => {
            let actual = actual(outcome, expect.wave, place, expected.len());
            let same =
                actual.iter().zip(expected.iter().cycle()).all(|(x, y)| x == y || *x as u32 as i32 as i64 as u64 == *y);
            (!same).then(|| format!("the result was {}", short(actual)))
        }
        What::Code { present, text } => {
            let code = match lane_ir(case) {
                Ok(code) => code,
                Err(what) => return Some(what),
            };
            let found = code.contains(text.as_str());
            (found != *present).then(|| format!("'{text}' is {} in\n{code}", if found { "" } else { "not" }))
        }
    }
}

/// The values of a place; `count` dwords if it is memory.
fn actual(outcome: &Outcome, wave: usize, place: &Place, count: usize) -> Vec<u64> {
    match place {
        Place::Memory(space, offset) => {
            let dwords = outcome.contents.of(*space)[*offset..].chunks_exact(4).take(count);
            dwords.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()).collect()
        }
        register => in_wave(&outcome.waves[wave.min(outcome.waves.len() - 1)], register),
    }
}

/// The values of a register.
fn in_wave(wave: &Wave, place: &Place) -> Vec<u64> {
    match place {
        Place::Scc => vec![wave.scc.into()],
        Place::Mode => vec![wave.mode.0.into()],
        Place::Sgpr { first, wide: true } => vec![wave.sgpr64(usize::from(*first))],
        Place::Sgpr { first, wide: false } => vec![wave.sgpr[usize::from(*first)].into()],
        Place::Vgpr { first, wide, lanes } => {
            let (low, high) = (usize::from(*first), usize::from(first.wrapping_add(1)));
            let high_half = |lane: usize| if *wide { u64::from(wave.vgpr[high][lane]) << 32 } else { 0 };
            lanes.clone().map(usize::from).map(|lane| u64::from(wave.vgpr[low][lane]) | high_half(lane)).collect()
        }
        Place::Memory(..) => Vec::new(),
    }
}

/// The lane IR of a case's first block.
fn lane_ir(case: &Case) -> Result<String, String> {
    let (words, placed) =
        place(&case.program, case.target).map_err(|item| format!("instruction {item} has no words"))?;
    let length = placed.iter().position(|placed| ends_block(&placed.inst)).map_or(placed.len(), |last| last + 1);
    let instructions = placed[..length].iter().map(|placed| (placed.offset, placed.inst)).collect();
    let mode = case.waves[0].wave.mode;
    let exceptions = words.iter().any(|word| trapsts::may_name(*word));
    let registers = RegisterFile::ALL;
    let machine = Machine { target: case.target, registers, exceptions, at_end: AtEnd::Registers };
    let block = build::block(&GuestBlock { instructions }, machine, mode).map_err(|trap| trap.to_string())?;
    Ok(Listing(&block).to_string())
}
