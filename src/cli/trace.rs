//! `gcnjit trace`: what waves did, an instruction a line, or how often.

use crate::cli::exec::{Limits, Runner};
use crate::cli::failure::Failure;
use crate::cli::input::{Input, Opened};
use crate::cli::output::{self, Staged};
use crate::cli::profile::{self, Counters};
use crate::cli::{plan, value};
use gcnjit::isa::registers::sgpr_name;
use gcnjit::isa::{Access, Inst, Registers, disas};
use gcnjit::rt::{Env, LANES, Wave};
use gcnjit::{Device, Engine, Error, Listing, Names, Observed, Observer, Prepared, Stats};
use gcnjit_interp::memory::Place;
use gcnjit_interp::observe::{Step, Touch};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Runs a launch with the interpreter and writes a line for each instruction that a wave executes: work-group and wave,
/// the instruction's number in the wave, where it is, its text, the registers that it wrote and the memory it touched.
/// With --profile or --html, how often each instruction was executed and with how many lanes instead.
///
/// Values are hexadecimal. Lanes with the same value stand together, and those with equal distances from one to the next:
/// `v3=0-31:3f800000,32-63:10+4`; `*` is all lanes that are enabled. EXEC is shown where it is not all ones.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    /// End a launch that runs for longer, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = plan::seconds)]
    deadline: Option<Duration>,
    /// Only this work-group: X[,Y[,Z]].
    #[arg(long, value_name = "X,Y,Z", value_parser = plan::offset)]
    group: Option<[u64; 3]>,
    /// Only this wave of each work-group.
    #[arg(long, value_name = "N")]
    wave: Option<u32>,
    /// Only instructions at these offsets in the kernel: FIRST or FIRST..LAST.
    #[arg(long, value_name = "OFFSETS", value_parser = offsets)]
    pc: Option<RangeInclusive<u64>>,
    /// Of vector registers and memory, show only these lanes: N or FIRST..LAST.
    #[arg(long, value_name = "LANES", value_parser = offsets)]
    lane: Option<RangeInclusive<u64>>,
    /// Only instructions that read or write one of these registers: v7, s[0:1], vcc, exec, m0, scc, several with commas.
    #[arg(long, value_name = "REGISTERS")]
    reg: Option<Registers>,
    /// Stop after N lines.
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    /// Write to FILE instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write JSON, a line an instruction, with each lane's value.
    #[arg(long)]
    json: bool,
    /// Write an annotated listing instead: how often each block ran, and the lanes that were active.
    #[arg(long, conflicts_with_all = ["json", "limit", "reg"])]
    profile: bool,
    /// Write the profile as a page for browsers to FILE.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "limit", "reg", "output"])]
    html: Option<PathBuf>,
}

/// `FIRST` or `FIRST..LAST`.
fn offsets(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    Ok(value::size(first)?..=value::size(last)?)
}

/// Which instructions are wanted.
struct Filter {
    group: Option<[u32; 3]>,
    wave: Option<u32>,
    pc: Option<RangeInclusive<u64>>,
    registers: Option<Registers>,
}

impl Filter {
    fn takes(&self, wave: &Wave, step: &Step, entry: u64) -> bool {
        self.group.is_none_or(|group| group == wave.group)
            && self.wave.is_none_or(|index| index == wave.index)
            && self.pc.as_ref().is_none_or(|range| range.contains(&step.pc.wrapping_sub(entry)))
            && self.registers.is_none_or(|set| set.meets(&step.reads) || set.meets(&step.writes))
    }
}

/// Writes what was asked for.
pub fn main(args: &Args) -> Result<(), Failure> {
    args.output.iter().chain(&args.html).try_for_each(|path| output::check(path))?;
    let group = args.group.map(|group| group.map(|x| u32::try_from(x).unwrap_or(u32::MAX)));
    let filter = Filter { group, wave: args.wave, pc: args.pc.clone(), registers: args.reg };
    let device = Device::new()?;
    let Opened { module, plan, .. } = args.input.open(&device)?;
    let listing = Listing::new(&module);
    let runner = Runner::new(&plan, &device, &module, Limits { deadline: args.deadline, ..Limits::default() })?;
    let prepared = runner.prepare(Engine::Interp)?;
    runner.restore();
    if args.profile || args.html.is_some() {
        let mut counters = Counters::default();
        let run = |prepared: &Prepared<'_>| {
            let observer =
                Profiling { filter: &filter, entry: prepared.kernel().raw().entry(), counters: &mut counters };
            Ok(prepared.run_with(&Observed::new(observer))?)
        };
        runner.repetition_by(&prepared, false, run)?;
        return match &args.html {
            Some(path) => Staged::new(path, profile::html(&listing, &counters).into_bytes())?.commit(),
            None => write_whole(args, &profile::text(&listing, &counters)),
        };
    }
    let names = runner.names();
    let shown = args
        .lane
        .as_ref()
        .map_or(u64::MAX, |lanes| (0..64).filter(|lane| lanes.contains(lane)).fold(0, |mask, lane| mask | 1 << lane));
    let mut lines = Lines { to: writer(args)?, left: args.limit, error: None };
    let run = |prepared: &Prepared<'_>| {
        let entry = prepared.kernel().raw().entry();
        let tracing = Tracing {
            filter: &filter,
            listing: &listing,
            names: &names,
            entry,
            shown,
            json: args.json,
            lines: &mut lines,
        };
        lines_run(prepared, tracing)
    };
    let outcome = runner.repetition_by(&prepared, true, run);
    lines.finish(args)?;
    outcome?.outputs.into_iter().try_for_each(Staged::commit)
}

fn lines_run(prepared: &Prepared<'_>, tracing: Tracing<'_>) -> Result<Stats, Failure> {
    if tracing.lines.is_full() {
        return Ok(Stats::default());
    }
    prepared.run_with(&Observed::new(tracing)).map_err(|error: Error| error.into())
}

fn writer(args: &Args) -> Result<Box<dyn Write + Send>, Failure> {
    let Some(path) = &args.output else { return Ok(Box::new(BufWriter::new(io::stdout()))) };
    let failure = |error| Failure::usage(format!("{}: {error}", path.display()));
    Ok(Box::new(BufWriter::new(File::create(path).map_err(failure)?)))
}

fn write_whole(args: &Args, text: &str) -> Result<(), Failure> {
    let mut lines = Lines { to: writer(args)?, left: 1, error: None };
    lines.add(text.trim_end());
    lines.finish(args)
}

/// Where lines go. After an error, or when there are enough, nothing more is written.
struct Lines {
    to: Box<dyn Write + Send>,
    left: u64,
    error: Option<io::Error>,
}

impl Lines {
    fn is_full(&self) -> bool {
        self.left == 0 || self.error.is_some()
    }

    fn add(&mut self, line: &str) {
        self.left -= 1;
        self.error = writeln!(self.to, "{line}").err();
    }

    /// A reader that has seen enough, as `head` has, is no failure.
    fn finish(mut self, args: &Args) -> Result<(), Failure> {
        let error = self.error.take().or_else(|| self.to.flush().err());
        let place = args.output.as_ref().map_or("stdout".to_owned(), |path| path.display().to_string());
        match error {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::usage(format!("{place}: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// Counts.
struct Profiling<'a> {
    filter: &'a Filter,
    entry: u64,
    counters: &'a mut Counters,
}

impl Observer for Profiling<'_> {
    fn after(&mut self, wave: &Wave, step: &Step, _: &Env<'_>) {
        if self.filter.takes(wave, step, self.entry) {
            self.counters.add(step.pc, step.exec);
        }
    }
}

/// Writes a line for each instruction.
struct Tracing<'a> {
    filter: &'a Filter,
    listing: &'a Listing<'a>,
    names: &'a Names,
    entry: u64,
    /// Lanes that are shown.
    shown: u64,
    json: bool,
    lines: &'a mut Lines,
}

impl Observer for Tracing<'_> {
    fn after(&mut self, wave: &Wave, step: &Step, env: &Env<'_>) {
        if !self.lines.is_full() && self.filter.takes(wave, step, self.entry) {
            let line = if self.json { self.json(wave, step, env).to_string() } else { self.text(wave, step, env) };
            self.lines.add(&line);
        }
        if self.lines.is_full() {
            env.stop.store(true, Relaxed);
        }
    }
}

impl Tracing<'_> {
    fn text(&self, wave: &Wave, step: &Step, env: &Env<'_>) -> String {
        let [x, y, z] = wave.group;
        let (number, place) = (wave.executed - 1, self.listing.place(step.pc));
        let mut text =
            format!("{x},{y},{z} {} {number:<5} {place:<16} {:<48}", wave.index, instruction(&step.inst, env));
        if step.skipped {
            text += " skipped";
        } else if is_vector(&step.inst) && step.exec != u64::MAX {
            let _ = write!(text, " exec={:x}", step.exec);
        }
        for s in step.writes.sgprs() {
            let _ = write!(text, " {}={:x}", sgpr_name(s), wave.sgpr[usize::from(s)]);
        }
        if step.writes.scc {
            let _ = write!(text, " scc={}", wave.scc);
        }
        if step.writes.mode {
            let _ = write!(text, " mode={:x}", wave.mode.0);
        }
        for v in step.writes.vgprs() {
            let _ = write!(text, " v{v}={}", row(&wave.vgpr[usize::from(v)], lanes(step) & self.shown));
        }
        for run in runs(self.touches(step)) {
            let _ = write!(text, " {}", self.run_text(&run));
        }
        text.trim_end().to_owned()
    }

    /// A run of accesses: what, how many bytes each, lanes, where the first is and how far it is to the next.
    fn run_text(&self, run: &Run) -> String {
        let place = self.place(run.first.place);
        let (access, bytes) = (access(run.first.access), run.first.bytes);
        match (run.first.lane, run.lanes) {
            (None, _) => format!("{access}{bytes} {place}"),
            (Some(lane), 1) => format!("{access}{bytes} {lane}:{place}"),
            (Some(lane), count) => format!("{access}{bytes} {lane}-{}:{place}{:+}", lane + count - 1, run.step),
        }
    }

    /// What the lanes that are shown touched.
    fn touches<'s>(&self, step: &'s Step) -> impl Iterator<Item = &'s Touch> {
        let shown = self.shown;
        step.touches.iter().filter(move |touch| touch.lane.is_none_or(|lane| shown >> lane & 1 != 0))
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Memory(address) => self.names.place(address).replace(' ', "_"),
            Place::Lds(at) => format!("lds+{at:#x}"),
            Place::Gds(at) => format!("gds+{at:#x}"),
            Place::Nowhere => "nowhere".to_owned(),
        }
    }

    fn json(&self, wave: &Wave, step: &Step, env: &Env<'_>) -> Value {
        let mut writes = Map::new();
        for s in step.writes.sgprs() {
            writes.insert(sgpr_name(s), wave.sgpr[usize::from(s)].into());
        }
        if step.writes.scc {
            writes.insert("scc".to_owned(), wave.scc.into());
        }
        if step.writes.mode {
            writes.insert("mode".to_owned(), wave.mode.0.into());
        }
        let enabled = lanes(step) & self.shown;
        for v in step.writes.vgprs() {
            let lane = |lane: usize| {
                if enabled >> lane & 1 != 0 { wave.vgpr[usize::from(v)][lane].into() } else { Value::Null }
            };
            writes.insert(format!("v{v}"), (0..LANES).map(lane).collect());
        }
        let memory = self.touches(step).map(|touch| {
            let (access, at) = (access(touch.access), self.place(touch.place));
            json!({ "lane": touch.lane, "access": access, "at": at, "bytes": touch.bytes })
        });
        json!({
            "group": wave.group,
            "wave": wave.index,
            "number": wave.executed - 1,
            "at": self.listing.place(step.pc),
            "instruction": instruction(&step.inst, env),
            "source": self.listing.source(step.pc),
            "exec": format!("{:x}", step.exec),
            "skipped": step.skipped,
            "writes": writes,
            "memory": memory.collect::<Vec<_>>(),
        })
    }
}

fn instruction(inst: &Inst, env: &Env<'_>) -> String {
    disas::text(inst, env.target)
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Load => "load",
        Access::Store => "store",
        Access::Atomic => "atomic",
    }
}

/// Whether EXEC has a say in what the instruction does.
fn is_vector(inst: &Inst) -> bool {
    inst.op.obeys_vskip()
}

/// The lanes of vector registers that an instruction writes.
fn lanes(step: &Step) -> u64 {
    if step.inst.op.crosses_lanes() { u64::MAX } else { step.exec }
}

/// The enabled lanes of a register, those with the same value or at equal distances together.
fn row(row: &[u32; LANES], enabled: u64) -> String {
    let lanes: Vec<usize> = (0..LANES).filter(|lane| enabled >> lane & 1 != 0).collect();
    let Some(first) = lanes.first() else { return "-".to_owned() };
    if lanes.iter().all(|lane| row[*lane] == row[*first]) {
        return format!("*:{:x}", row[*first]);
    }
    let (mut parts, mut rest) = (Vec::new(), &lanes[..]);
    while let [first, ..] = rest {
        let (count, step) = series(row, rest);
        let value = row[*first];
        parts.push(match (count, step) {
            (1, _) => format!("{first}:{value:x}"),
            (_, 0) => format!("{first}-{}:{value:x}", first + count - 1),
            (_, 1..) => format!("{first}-{}:{value:x}+{step:x}", first + count - 1),
            _ => format!("{first}-{}:{value:x}-{:x}", first + count - 1, step.unsigned_abs()),
        });
        rest = &rest[count..];
    }
    parts.join(",")
}

/// How many of `lanes`, from the first on, are neighbours with the same difference from one to the next, and that: two
/// that differ are no series.
fn series(row: &[u32; LANES], lanes: &[usize]) -> (usize, i32) {
    let step = |pair: &[usize]| row[pair[1]].wrapping_sub(row[pair[0]]) as i32;
    let Some(first) = lanes.windows(2).next().filter(|pair| pair[0] + 1 == pair[1]).map(step) else { return (1, 0) };
    let more = lanes.windows(2).take_while(|pair| pair[0] + 1 == pair[1] && step(pair) == first).count();
    if more > 1 || first == 0 { (more + 1, first) } else { (1, 0) }
}

/// Accesses of neighbouring lanes at equal distances.
struct Run {
    first: Touch,
    lanes: usize,
    /// From one lane to the next, in bytes.
    step: i64,
}

/// Accesses as runs, those of the same dword of the data together.
fn runs<'t>(touches: impl Iterator<Item = &'t Touch>) -> Vec<Run> {
    let mut sorted: Vec<Touch> = touches.copied().collect();
    sorted.sort_by_key(|touch| (touch.access as u8, touch.dword, touch.lane));
    let mut runs: Vec<Run> = Vec::new();
    for touch in sorted {
        match runs.last_mut() {
            Some(run) if run.goes_on(&touch) => run.lanes += 1,
            Some(run) if run.lanes == 1 && run.begins(&touch) => {
                run.step = distance(run.first.place, touch.place).unwrap_or(0);
                run.lanes = 2;
            }
            _ => runs.push(Run { first: touch, lanes: 1, step: 0 }),
        }
    }
    runs
}

impl Run {
    fn is_like(&self, touch: &Touch) -> bool {
        let Touch { access, lane, bytes, dword, .. } = self.first;
        (access, bytes, dword) == (touch.access, touch.bytes, touch.dword)
            && lane.is_some_and(|lane| touch.lane == Some(lane + self.lanes))
    }

    fn begins(&self, touch: &Touch) -> bool {
        self.is_like(touch) && distance(self.first.place, touch.place).is_some_and(|far| far.unsigned_abs() < 1 << 32)
    }

    fn goes_on(&self, touch: &Touch) -> bool {
        self.lanes > 1
            && self.is_like(touch)
            && distance(self.first.place, touch.place) == Some(self.step * self.lanes as i64)
    }
}

/// Bytes from one place to another of the same memory.
fn distance(from: Place, to: Place) -> Option<i64> {
    match (from, to) {
        (Place::Memory(a), Place::Memory(b)) => Some(b.wrapping_sub(a) as i64),
        (Place::Lds(a), Place::Lds(b)) | (Place::Gds(a), Place::Gds(b)) => Some(i64::from(b) - i64::from(a)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_with_the_same_value_stand_together() {
        let mut values = [7; LANES];
        assert_eq!(row(&values, u64::MAX), "*:7");
        assert_eq!(row(&values, 0), "-");
        values[3] = 8;
        values[5] = 0x1f;
        assert_eq!(row(&values, 0b110_1111), "0-2:7,3:8,5:1f,6:7");
        let counting = std::array::from_fn(|lane| 0x100 - 4 * (lane as u32 & 31));
        assert_eq!(row(&counting, u64::MAX), "0-31:100-4,32-63:100-4");
    }

    #[test]
    fn accesses_at_equal_distances_are_a_run() {
        let touch = |lane, at| Touch {
            access: Access::Load,
            lane: Some(lane),
            place: Place::Memory(at),
            bytes: 4,
            dword: 0,
            data: 0,
        };
        let touches = [touch(0, 100), touch(1, 108), touch(2, 116), touch(3, 0), touch(5, 8), touch(6, 0)];
        let found = runs(touches.iter());
        let found: Vec<_> = found.iter().map(|run| (run.first.lane.unwrap(), run.lanes, run.step)).collect();
        assert_eq!(found, [(0, 3, 8), (3, 1, 0), (5, 2, -8)]);
    }
}
