//! `run --fidelity`: what was executed that is not exact, and where its results had consequences.

use crate::cli::exec::{Repetition, Runner};
use crate::cli::failure::Failure;
use gcnjit::fidelity::{Executed, Reached, Sink, Tracker};
use gcnjit::isa::Fidelity;
use gcnjit::{Engine, Listing, Observed};
use serde_json::{Value, json};
use std::fmt::Write;

/// A repetition by the interpreter, watched by `tracker`.
pub fn repetition(runner: &Runner<'_>, tracker: &mut Tracker) -> Result<Repetition, Failure> {
    let prepared = runner.prepare(Engine::Interp)?;
    let buffers: Vec<_> =
        runner.buffers.iter().map(|buffer| buffer.address()..buffer.address() + buffer.len() as u64).collect();
    runner.restore();
    runner.repetition_by(&prepared, true, |prepared| {
        tracker.begin_launch(|address| buffers.iter().any(|buffer| buffer.contains(&address)));
        Ok(prepared.run_with(&Observed::new(&mut *tracker))?)
    })
}

fn sink(sink: Sink) -> &'static str {
    match sink {
        Sink::Address => "an address",
        Sink::Branch => "a branch",
        Sink::Exec => "EXEC",
    }
}

fn inexact(tracker: &Tracker) -> u64 {
    tracker.executed().iter().map(|executed| executed.times).sum()
}

/// For people.
pub fn text(tracker: &Tracker, listing: &Listing<'_>) -> String {
    let (all, inexact) = (tracker.instructions(), inexact(tracker));
    let mut text = format!("fidelity: {} of {all} instructions exact\n", all - inexact);
    for Executed { op, fidelity, times } in tracker.executed() {
        let _ = writeln!(text, "  {:<20} {times:>10} times, {fidelity}", op.info().name);
    }
    if inexact > 0 && tracker.reached().is_empty() {
        text += "  none of it reached an address, a branch or EXEC\n";
    }
    let place = |pc| format!("{} ({})", listing.place(pc), listing.text(pc).unwrap_or_default());
    for Reached { sink: what, at, from, times } in tracker.reached() {
        let _ = writeln!(text, "  reached {} at {}, from {}, {times} times", sink(what), place(at), place(from));
    }
    text
}

/// For programs.
pub fn json(tracker: &Tracker, listing: &Listing<'_>) -> Value {
    let (mut approximate, mut filtered, mut host) = (Vec::new(), Vec::new(), Vec::new());
    for Executed { op, fidelity, times } in tracker.executed() {
        let name = op.info().name;
        match fidelity {
            Fidelity::Approximate { ulps } => approximate.push(json!({ "op": name, "ulps": ulps, "times": times })),
            Fidelity::Filtered => filtered.push(json!({ "op": name, "times": times })),
            _ => host.push(json!({ "op": name, "times": times })),
        }
    }
    let place = |pc| json!({ "at": listing.place(pc), "instruction": listing.text(pc), "source": listing.source(pc) });
    let reached = tracker.reached().into_iter().map(|Reached { sink, at, from, times }| {
        let what = match sink {
            Sink::Address => "address",
            Sink::Branch => "branch",
            Sink::Exec => "exec",
        };
        json!({ "what": what, "at": place(at), "from": place(from), "times": times })
    });
    json!({
        "exact": tracker.instructions() - inexact(tracker),
        "approximate": approximate,
        "filtered": filtered,
        "host_defined": host,
        "reached": reached.collect::<Vec<_>>(),
    })
}
