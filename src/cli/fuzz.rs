//! `gcnjit fuzz`: random programs on both engines; what differs is shrunk and written as a filetest.

use crate::cli::failure::{FAULT, Failure};
use crate::cli::print;
use gcnjit::Target;
use gcnjit::isa::Op;
use gcnjit_difftest::campaign::{self, Kind, Options};
use gcnjit_difftest::coverage::{Report, Share, TARGETS, Wanted, is_chosen, is_drawn};
use gcnjit_difftest::generate::KERNEL_FAMILIES;
use gcnjit_difftest::machine::Superblocks;
use gcnjit_difftest::{Summary, filetest};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Runs random programs on both engines and compares all they leave.
#[derive(clap::Args)]
pub struct Args {
    /// Names the sequence of programs: the same seed gives the same ones.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many programs.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Draws only from this encoding family, such as vop2 or ds, or rows whose mnemonic begins so, such as v_mul; may be
    /// given more than once.
    #[arg(long)]
    family: Vec<String>,
    /// Targets, such as gfx803; may be given more than once. One of each kind if it is not.
    #[arg(long)]
    gfx: Vec<Target>,
    /// Runs instead of random programs those that show every row, modifier and mode, until all have been executed.
    #[arg(long, conflicts_with = "count")]
    cover: bool,
    /// Runs kernels over a grid, whose waves' registers nobody looks at, instead of programs.
    #[arg(long, conflicts_with = "cover")]
    kernels: bool,
    /// Threads; as many as the host has if it is not given.
    #[arg(long)]
    threads: Option<usize>,
    /// Where filetests of differences are written.
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the campaign and reports it.
pub fn main(args: &Args) -> Result<(), Failure> {
    let options = options(args)?;
    let wanted = Wanted::new(&options.targets, &wanted_rows(&options));
    let no_memory = |error| Failure::usage(format!("no memory for the machines: {error}"));
    let summary = match args.cover {
        true => campaign::cover(&options, &wanted),
        false => campaign::run(&options),
    };
    let summary = summary.map_err(no_memory)?;
    let report = summary.coverage.report(&wanted);
    let paths = write_failures(args, &summary)?;
    match args.json {
        true => print(&format!("{}\n", json(&summary, &report, &paths)))?,
        false => print(&text(options.kind, &summary, &report))?,
    }
    match paths.first() {
        None => Ok(()),
        Some(path) => {
            let message =
                format!("the engines differ: {}\n{}", path.display(), summary.failures[0].difference.trim_end());
            Err(Failure { code: FAULT, message })
        }
    }
}

/// The rows that may come up by chance.
fn wanted_rows(options: &Options) -> Vec<String> {
    match options.kind {
        Kind::Kernels if options.rows.is_empty() => KERNEL_FAMILIES.map(str::to_owned).to_vec(),
        _ => options.rows.clone(),
    }
}

fn options(args: &Args) -> Result<Options, Failure> {
    let may_be_drawn = |op: Op| is_drawn(op) && (!args.kernels || KERNEL_FAMILIES.contains(&op.family()));
    for name in &args.family {
        let known = Op::all().any(|op| may_be_drawn(op) && is_chosen(op, std::slice::from_ref(name)));
        if !known {
            let place = if args.kernels { " in kernels" } else { "" };
            return Err(Failure::usage(format!("'{name}' is no family and no mnemonic begins with it{place}")));
        }
    }
    let targets = if args.gfx.is_empty() { TARGETS.to_vec() } else { args.gfx.clone() };
    let defaults = Options::default();
    let threads = args.threads.unwrap_or(defaults.threads);
    let (seed, count, rows) = (args.seed, args.count, args.family.clone());
    let kind = if args.kernels { Kind::Kernels } else { Kind::Programs };
    Ok(Options { seed, count, kind, rows, targets, threads, ..defaults })
}

/// Writes each shrunk case as a filetest; the paths.
fn write_failures(args: &Args, summary: &Summary) -> Result<Vec<PathBuf>, Failure> {
    let write = |failure: &campaign::Failure| {
        let path = args.out.join(format!("difference-{}-{}.gcn", args.seed, failure.index));
        let about = format!("seed {}, program {}\n{}", args.seed, failure.index, failure.difference);
        let text = filetest::write(&failure.shrunk, &about);
        let cannot = |path: &Path, error| Failure::usage(format!("{}: {error}", path.display()));
        std::fs::write(&path, text).map_err(|error| cannot(&path, error))?;
        Ok(path)
    };
    summary.failures.iter().map(write).collect()
}

fn per_second(summary: &Summary) -> f64 {
    summary.cases as f64 / summary.time.as_secs_f64().max(1e-9)
}

fn text(kind: Kind, summary: &Summary, report: &Report) -> String {
    /// How many things that were never executed are named.
    const NAMED: usize = 12;
    let Summary { cases, instructions, faults, too_long, refused, superblocks, time, .. } = summary;
    let Superblocks { kept, partial, given_up, together, apart } = superblocks;
    let mut text = format!(
        "{cases} programs in {:.1} s, {:.0} a second; {instructions} instructions\n\
         {faults} ended with a fault, {too_long} not in time, {refused} were refused\n",
        time.as_secs_f64(),
        per_second(summary),
    );
    if let Kind::Kernels = kind {
        let _ = writeln!(
            text,
            "in {kept} waves ended in a superblock, in {partial} partial ones, in {together} some together; in {given_up} \
             others gave it up, in {apart} some could not be run together"
        );
    }
    let mut share = |name: &str, share: &Share| {
        let Share { done, all, never } = share;
        let _ = writeln!(text, "{name}: {done} of {all} executed");
        if !never.is_empty() {
            let more = if never.len() > NAMED { ", …" } else { "" };
            let _ = writeln!(text, "  never: {}{more}", never[..never.len().min(NAMED)].join(", "));
        }
    };
    share("rows by encoding and generation", &report.forms);
    share("rows by modifier and operand kind", &report.features);
    share("rows by mode", &report.settings);
    text
}

fn json(summary: &Summary, report: &Report, paths: &[PathBuf]) -> Value {
    let share = |share: &Share| json!({ "executed": share.done, "all": share.all, "never": share.never });
    let failures = summary.failures.iter().zip(paths).map(|(failure, path)| {
        json!({ "program": failure.index, "filetest": path.display().to_string(), "difference": failure.difference })
    });
    json!({
        "ok": summary.failures.is_empty(),
        "programs": summary.cases,
        "seconds": summary.time.as_secs_f64(),
        "programs_per_second": per_second(summary),
        "instructions": summary.instructions,
        "faults": summary.faults,
        "too_long": summary.too_long,
        "refused": summary.refused,
        "superblocks": summary.superblocks.kept,
        "superblocks_partial": summary.superblocks.partial,
        "superblocks_together": summary.superblocks.together,
        "superblocks_given_up": summary.superblocks.given_up,
        "superblocks_apart": summary.superblocks.apart,
        "families": summary.coverage.families(),
        "coverage": {
            "forms": share(&report.forms),
            "features": share(&report.features),
            "modes": share(&report.settings),
            "refused_by_both": report.refused,
        },
        "failures": failures.collect::<Vec<_>>(),
    })
}
