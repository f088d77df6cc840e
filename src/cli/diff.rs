//! `gcnjit diff`: where two executions of the same launch part.

use crate::cli::exec::{Limits, Runner};
use crate::cli::failure::{FAULT, Failure};
use crate::cli::input::{Input, Opened};
use crate::cli::{files, plan, print, run};
use clap::ValueEnum;
use gcnjit::lockstep::report::{Line, MemoryDifference, RegisterDifference, Role};
use gcnjit::lockstep::{self, Counts, Divergence, Outcome};
use gcnjit::{Device, Engine};
use serde_json::{Value, json};
use std::time::Duration;

/// Runs a launch twice and shows where the executions part: with both engines in lockstep or, if a second file is given,
/// with the code of both files, whose outputs are compared.
///
/// In lockstep, each piece of code is executed by the interpreter and by the translator from the same state; the first
/// one after which a register or a byte of memory differs is shown, with what it worked on and who wrote that. The exit
/// code is 1 if there is a difference.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    input: Input,
    /// End a launch that runs for longer, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = plan::seconds)]
    deadline: Option<Duration>,
    /// Another file with the same kernels, such as the code of another compiler or for another processor.
    other: Option<String>,
    /// How much is executed between two comparisons in lockstep.
    #[arg(long, default_value = "block", conflicts_with = "other")]
    granularity: Granularity,
    #[command(flatten)]
    tolerance: files::Tolerance,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The granularities by name.
#[derive(Clone, Copy, ValueEnum)]
enum Granularity {
    /// What the translator makes one loop over the lanes of.
    Segment,
    /// A basic block.
    Block,
    /// One instruction.
    Instruction,
}

impl From<Granularity> for lockstep::Granularity {
    fn from(granularity: Granularity) -> lockstep::Granularity {
        match granularity {
            Granularity::Segment => lockstep::Granularity::Segment,
            Granularity::Block => lockstep::Granularity::Block,
            Granularity::Instruction => lockstep::Granularity::Instruction,
        }
    }
}

/// What came out of a comparison.
pub struct Verdict {
    /// Whether there is no difference.
    pub same: bool,
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// Compares, and prints what came out.
pub fn main(args: &Args) -> Result<(), Failure> {
    let verdict = match &args.other {
        Some(other) => files::compare(&args.input, other, &args.tolerance, args.deadline),
        None => in_lockstep(args),
    };
    match verdict {
        Ok(verdict) => {
            print(&if args.json { format!("{}\n", verdict.json) } else { verdict.text })?;
            let message = "there is a difference".to_owned();
            if verdict.same { Ok(()) } else { Err(Failure { code: FAULT, message }) }
        }
        Err(failure) => {
            if args.json {
                run::print_failure(&failure.message);
            }
            Err(failure)
        }
    }
}

/// Both engines, launch by launch, until they differ.
fn in_lockstep(args: &Args) -> Result<Verdict, Failure> {
    let device = Device::new()?;
    let Opened { module, plan, .. } = args.input.open(&device)?;
    let runner = Runner::new(&plan, &device, &module, Limits { deadline: args.deadline, ..Limits::default() })?;
    let prepared = runner.prepare(Engine::Interp)?;
    runner.restore();
    let (mut counts, mut launches, mut found) = (Counts::default(), 0, None);
    let repetition =
        runner.repetition_by(&prepared, true, |prepared| match lockstep::run(prepared, args.granularity.into())? {
            Outcome::Same { stats, counts: more } => {
                launches += 1;
                add(&mut counts, more);
                Ok(stats)
            }
            Outcome::Different(divergence) => {
                found = Some(divergence);
                Err(Failure { code: FAULT, message: String::new() })
            }
        });
    if let Some(mut divergence) = found {
        divergence.names = runner.names();
        return Ok(different(&divergence, launches));
    }
    let Counts { pieces, instructions, trusted } = counts;
    repetition?.outputs.into_iter().try_for_each(|staged| staged.commit())?;
    let clocks = if trusted == 0 { String::new() } else { format!(", not compared {trusted} that read a clock") };
    let text =
        format!("jit and interp agree; launches {launches}, pieces {pieces}, instructions {instructions}{clocks}\n");
    let json = json!({
        "ok": true, "launches": launches, "pieces": pieces, "instructions": instructions, "not_compared": trusted,
    });
    Ok(Verdict { same: true, text, json })
}

fn add(sum: &mut Counts, more: Counts) {
    sum.pieces += more.pieces;
    sum.instructions += more.instructions;
    sum.trusted += more.trusted;
}

fn different(divergence: &Divergence, launches: u64) -> Verdict {
    let mut text = divergence.to_string();
    if launches > 0 {
        text += &format!("It is launch {launches}, counting from 0.\n");
    }
    if !divergence.lane_ir.is_empty() {
        text += &format!("Lane IR:\n{}", divergence.lane_ir);
    }
    if !divergence.host_code.is_empty() {
        text += &format!("Host code:\n{}", divergence.host_code);
    }
    let registers: Vec<Value> = divergence.registers.iter().map(register).collect();
    let memory: Vec<Value> = divergence.memory.iter().map(|memory| bytes(divergence, memory)).collect();
    let sources = divergence.sources.iter().map(|source| {
        let writer = source.writer.as_ref().map(line);
        json!({ "name": source.name, "lane": source.lane, "value": source.value, "writer": writer })
    });
    let json = json!({
        "ok": false,
        "error": "jit and interp differ",
        "file": divergence.file,
        "kernel": divergence.kernel,
        "launch": launches,
        "group": divergence.wave.map(|(group, _)| group),
        "wave": divergence.wave.map(|(_, wave)| wave),
        "pieces": divergence.pieces,
        "code": divergence.code.iter().map(line).collect::<Vec<_>>(),
        "only_together": divergence.only_together,
        "ends": divergence.ends.as_ref().map(|[interp, jit]| json!({ "interp": interp, "jit": jit })),
        "registers": registers,
        "memory": memory,
        "sources": sources.collect::<Vec<_>>(),
        "lane_ir": divergence.lane_ir,
        "host_code": divergence.host_code,
    });
    Verdict { same: false, text, json }
}

fn line(line: &Line) -> Value {
    let role = match line.role {
        Role::Around => "around",
        Role::Piece => "piece",
        Role::Fault => "fault",
    };
    json!({ "at": line.place, "instruction": line.text, "source": line.source, "role": role })
}

fn register(register: &RegisterDifference) -> Value {
    let RegisterDifference { name, lane, before, interp, jit, writer } = register;
    let writer = writer.as_ref().map(line);
    json!({ "name": name, "lane": lane, "before": before, "interp": interp, "jit": jit, "writer": writer })
}

fn bytes(divergence: &Divergence, memory: &MemoryDifference) -> Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let writer =
        memory.writer.as_ref().map(|(by, (group, wave))| json!({ "by": line(by), "group": group, "wave": wave }));
    json!({
        "at": divergence.place(memory.span.space, memory.span.start),
        "interp": hex(&memory.interp),
        "jit": hex(&memory.jit),
        "writer": writer,
    })
}
