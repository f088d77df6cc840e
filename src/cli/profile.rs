//! How often instructions were executed, as a listing and as a page.

use gcnjit::Listing;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What was counted, by address of the instruction.
#[derive(Default)]
pub struct Counters(BTreeMap<u64, Counter>);

/// Of one instruction.
#[derive(Clone, Copy, Default)]
struct Counter {
    /// Waves that executed it, as often as they did.
    times: u64,
    /// Lanes that were enabled then, in all.
    lanes: u64,
}

impl Counters {
    /// A wave executed the instruction at `pc` under `exec`.
    pub fn add(&mut self, pc: u64, exec: u64) {
        let counter = self.0.entry(pc).or_default();
        counter.times += 1;
        counter.lanes += u64::from(exec.count_ones());
    }

    /// Instructions that waves executed.
    fn total(&self) -> u64 {
        self.0.values().map(|counter| counter.times).sum()
    }
}

impl Counter {
    fn mean_lanes(self) -> f64 {
        self.lanes as f64 / self.times.max(1) as f64
    }
}

/// A basic block that was executed: its instructions in order. Blocks are in order of address.
fn blocks(listing: &Listing<'_>, counters: &Counters) -> Vec<Vec<(u64, Counter)>> {
    let leaders: BTreeSet<u64> = listing.leaders();
    let mut blocks: Vec<Vec<(u64, Counter)>> = Vec::new();
    for pc in listing.range(..) {
        if leaders.contains(&pc) || blocks.is_empty() {
            blocks.push(Vec::new());
        }
        let counter = counters.0.get(&pc).copied().unwrap_or_default();
        blocks.last_mut().expect("there is one now").push((pc, counter));
    }
    blocks.retain(|block| block.iter().any(|(_, counter)| counter.times > 0));
    blocks
}

/// What is said of a block.
fn heading(listing: &Listing<'_>, block: &[(u64, Counter)]) -> String {
    let (first, counter) = block[0];
    format!("{}: ran {} times, {:.1} lanes active", listing.place(first), counter.times, counter.mean_lanes())
}

/// The annotated listing: of each instruction its share of all that were executed, how often, with how many lanes.
pub fn text(listing: &Listing<'_>, counters: &Counters) -> String {
    let total = counters.total();
    let mut text = format!("{total} wave instructions\n   share      times  lanes\n");
    for block in blocks(listing, counters) {
        let _ = writeln!(text, "{}", heading(listing, &block));
        let mut source = None;
        for (pc, counter) in block {
            if listing.source(pc) != source && listing.source(pc).is_some() {
                source = listing.source(pc);
                let _ = writeln!(text, "                              {}", source.unwrap_or_default());
            }
            let share = 100.0 * counter.times as f64 / total.max(1) as f64;
            let instruction = listing.text(pc).unwrap_or_default();
            let (times, lanes) = (counter.times, counter.mean_lanes());
            let _ = writeln!(text, " {share:6.2}% {times:10} {lanes:6.1}    {instruction}");
        }
    }
    text
}

/// The same as a page that needs no other file.
pub fn html(listing: &Listing<'_>, counters: &Counters) -> String {
    let total = counters.total();
    let most = counters.0.values().map(|counter| counter.times).max().unwrap_or(1);
    let mut page = String::from(HEAD);
    let _ = writeln!(page, "<p>{total} wave instructions</p>\n<table>\n{COLUMNS}");
    for block in blocks(listing, counters) {
        let heading = escaped(&heading(listing, &block));
        let _ = writeln!(page, "<tr class=\"block\"><td colspan=\"7\">{heading}</td></tr>");
        for (pc, counter) in block {
            let (share, heat) =
                (100.0 * counter.times as f64 / total.max(1) as f64, counter.times as f64 / most as f64);
            let instruction = escaped(&listing.text(pc).unwrap_or_default());
            let source = escaped(listing.source(pc).unwrap_or_default());
            let _ = writeln!(
                page,
                "<tr><td style=\"background:{}\"></td><td>{share:.2}%</td><td>{}</td><td>{:.1}</td><td>{}</td>\
                 <td class=\"code\">{instruction}</td><td class=\"code\">{source}</td></tr>",
                color(heat),
                counter.times,
                counter.mean_lanes(),
                escaped(&listing.place(pc)),
            );
        }
    }
    page + "</table>\n</body>\n</html>\n"
}

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<title>gcnjit profile</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; }
td { padding: 0.1em 0.8em; text-align: right; white-space: nowrap; }
td:first-child { width: 1.5em; padding: 0; }
td.code { font-family: monospace; text-align: left; }
tr.block td { text-align: left; font-weight: bold; padding-top: 1em; }
</style>
</head>
<body>
<h1>gcnjit profile</h1>
";

const COLUMNS: &str = "<tr><th>heat</th><th>share</th><th>times</th><th>lanes</th><th>place</th><th>instruction</th>\
                       <th>source</th></tr>";

/// From white through yellow to red.
fn color(heat: f64) -> String {
    let heat = heat.clamp(0.0, 1.0);
    format!("hsl({:.0}, 90%, {:.0}%)", 60.0 * (1.0 - heat), 100.0 - 45.0 * heat)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
