//! What `run` says at its end.

use crate::cli::elements::Element;
use crate::cli::exec::{Repetition, Runner};
use crate::cli::fidelity;
use crate::cli::plan::{self, Plan};
use crate::cli::translation;
use gcnjit::fidelity::Tracker;
use gcnjit::{Engine, Listing, Module};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Elements shown of a buffer.
const SHOWN: usize = 8;

/// A finished run.
pub struct Report<'a> {
    /// The code object.
    pub module: &'a Module,
    /// What ran.
    pub runner: &'a Runner<'a>,
    /// What executed it.
    pub engine: Engine,
    /// Time from reading the file until the kernel could be launched.
    pub build: Duration,
    /// The checked repetition.
    pub first: Repetition,
    /// Times of the others.
    pub times: Vec<Duration>,
    /// What was not exact, if that was asked for.
    pub tracker: Option<Tracker>,
    /// Whether the translator's statistics are asked for.
    pub stats: bool,
}

impl Report<'_> {
    /// For programs.
    pub fn json(&self) -> Value {
        let stats = &self.first.stats;
        let mut json = json!({
            "ok": true,
            "build_ms": ms(self.build),
            "first_ms": ms(self.first.time),
            "times_ms": self.times.iter().copied().map(ms).collect::<Vec<_>>(),
            "kernel": self.kernels().join(","),
            "gfx": self.module.target().name(),
            "engine": self.engine(),
            "groups": stats.groups,
            "waves": stats.waves,
            "wave_instructions": stats.wave_instructions,
            "translate_ms": ms(stats.translation),
            "printf_messages": stats.printed.messages,
            "printf_full": stats.printed.full,
        });
        if let Some(tracker) = &self.tracker {
            json["fidelity"] = fidelity::json(tracker, &Listing::new(self.module));
        }
        if self.stats {
            json["translation"] = translation::json(&self.module.translated());
        }
        json
    }

    /// For people.
    pub fn text(&self) -> String {
        let (stats, mut text) = (&self.first.stats, String::new());
        let mut line = |line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{line}");
        };
        line(format_args!("{} on {}, by {}", self.kernels().join(", "), self.module.target(), self.engine()));
        line(format_args!(
            "{} work-groups, {} waves, {} wave instructions",
            stats.groups, stats.waves, stats.wave_instructions
        ));
        line(format_args!(
            "loaded in {:.3} ms, first run {:.3} ms, {:.3} ms of it translation",
            ms(self.build),
            ms(self.first.time),
            ms(stats.translation)
        ));
        if stats.printed.full {
            line(format_args!("the printf buffer was full, messages may be missing: --printf-buffer makes it larger"));
        }
        let mut times = self.times.clone();
        times.sort();
        if let Some(least) = times.first() {
            let (count, middle) = (times.len(), times[times.len() / 2]);
            line(format_args!("{count} more runs: at best {:.3} ms, median {:.3} ms", ms(*least), ms(middle)));
        }
        self.first.results.iter().for_each(|result| line(format_args!("{result}")));
        if self.stats {
            text += &translation::text(&self.module.translated());
        }
        text + &self.tracker.as_ref().map_or(String::new(), |t| fidelity::text(t, &Listing::new(self.module)))
    }

    fn kernels(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.runner.kernels().map(gcnjit::Kernel::name).collect();
        names.dedup();
        names
    }

    fn engine(&self) -> &'static str {
        match self.engine {
            Engine::Jit => "jit",
            Engine::Interp => "interp",
            Engine::Check => "check",
        }
    }
}

pub fn ms(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// The first elements of every buffer that is not as it was at the start, as the kernels' signatures have them.
pub fn results(runner: &Runner<'_>, plan: &Plan) -> Vec<String> {
    let changed = |(index, buffer): (usize, &gcnjit::Buffer<u8>)| {
        if !runner.is_changed(index) {
            return None;
        }
        let mut data = vec![0; buffer.len().min(SHOWN * 8)];
        buffer.read_at(0, &mut data);
        let (name, ty) = signature(runner, plan, index);
        Some(format!("{}{name}: {}", plan.buffers[index].name, shown(Element::of_pointer(&ty), &data, buffer.len())))
    };
    runner.buffers.iter().enumerate().filter_map(changed).collect()
}

/// Name in the source and element type of a buffer, by the first launch that takes it.
pub fn signature(runner: &Runner<'_>, plan: &Plan, index: usize) -> (String, String) {
    for (launch, kernel) in plan.launches().zip(runner.kernels()) {
        let takes = |arg: &plan::Arg| match arg {
            plan::Arg::Buffer { buffer, .. } | plan::Arg::Object { buffer: Some(buffer), .. } => *buffer == index,
            _ => false,
        };
        let place = launch.args.iter().position(takes);
        if let Some(arg) = place.and_then(|place| kernel.args().nth(place)) {
            let ty = arg.type_name.clone().unwrap_or_default();
            let name = arg.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
            return (format!(" ({ty}{name})"), ty);
        }
    }
    Default::default()
}

/// The elements of `data`, which is the start of `len` bytes.
fn shown(element: Element, data: &[u8], len: usize) -> String {
    let words = data.chunks_exact(element.size()).take(SHOWN).map(|bytes| element.text(element.bits(bytes)));
    words.collect::<Vec<_>>().join(" ") + if len > SHOWN * element.size() { " …" } else { "" }
}
