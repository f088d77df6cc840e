//! What `run --stats` says about the translator.

use crate::cli::report::ms;
use gcnjit::{JitStats, Stages};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

fn stages(stages: &Stages) -> [(&'static str, Duration); 6] {
    let Stages { decode, build, plan, assemble, lower, compile } = *stages;
    [
        ("decode", decode),
        ("build", build),
        ("plan", plan),
        ("assemble", assemble),
        ("lower", lower),
        ("compile", compile),
    ]
}

/// For programs.
pub fn json(stats: &JitStats) -> Value {
    let times: serde_json::Map<String, Value> =
        stages(&stats.stages).into_iter().map(|(stage, time)| (stage.to_owned(), ms(time).into())).collect();
    json!({
        "units": stats.translated,
        "compacted": stats.compacted,
        "superblocks": stats.superblocks,
        "superblocks_together": stats.together,
        "induction_loops": stats.inductions,
        "baseline": stats.baseline,
        "blocks": stats.blocks,
        "instructions": stats.instructions,
        "segments": stats.counts.segments,
        "versions": stats.counts.versions,
        "libcalls": stats.counts.libcalls,
        "code_bytes": stats.translated_bytes,
        "stages_ms": times,
        "cache": {
            "units": stats.units,
            "code_bytes": stats.code_bytes,
            "lookups": stats.lookups,
            "hits": stats.hits,
            "evicted": stats.evicted,
            "overwritten": stats.overwritten,
        },
    })
}

/// For people.
pub fn text(stats: &JitStats) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    let JitStats { translated, compacted, superblocks, together, inductions, baseline, blocks, .. } = stats;
    let instructions = stats.instructions;
    line("units", format!("{translated} of {blocks} blocks, {instructions} instructions"));
    let kinds = format!(
        "{compacted} for few lanes, {superblocks} with a superblock, {together} with one for several waves, {baseline} by the \
         baseline compiler"
    );
    line("of these", kinds);
    line("segments", format!("{} as {} loops", stats.counts.segments, stats.counts.versions));
    line("loops", format!("{inductions} that keep registers from iteration to iteration"));
    let calls = stats.counts.libcalls.iter().map(|(name, count)| format!("{name} {count}"));
    line("libcalls", calls.collect::<Vec<_>>().join(", "));
    line("host code", format!("{} bytes", stats.translated_bytes));
    let times = stages(&stats.stages).map(|(stage, time)| format!("{stage} {:.3}", ms(time)));
    line("ms", times.join(", "));
    let JitStats { units, code_bytes, lookups, hits, evicted, overwritten, .. } = stats;
    line("cache", format!("{units} units of {code_bytes} bytes; {hits} of {lookups} look-ups hit"));
    line("left", format!("{evicted} units for lack of room, {overwritten} with overwritten code"));
    format!("translation\n{text}")
}
