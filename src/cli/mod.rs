//! The command line: one file a subcommand, and what they share.
//!
//! Exit codes: 0 good, 1 a difference or a fault, 2 usage, 3 unsupported input. A message on stderr says what is
//! wrong and where. Output files appear whole or not at all.

mod arg;
mod asm;
mod console;
mod diff;
mod disas;
mod elements;
mod exec;
mod failure;
mod fidelity;
mod files;
mod fuzz;
mod image;
mod info;
mod input;
mod isa;
mod job;
mod listing;
mod output;
mod plan;
mod profile;
mod progress;
mod raw;
mod recording;
mod report;
mod run;
mod trace;
mod translation;
mod value;

use clap::{Parser, Subcommand};
use failure::Failure;
use gcnjit::Form;
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs AMD GCN GPU binaries (gfx6 to gfx9) on the CPU.
#[derive(Parser)]
#[command(name = "gcnjit", version, max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Diff(Box<diff::Args>),
    Trace(Box<trace::Args>),
    Disas(disas::Args),
    Info(info::Args),
    Asm(asm::Args),
    Isa(isa::Args),
    Fuzz(fuzz::Args),
    /// Shows the lane IR of a kernel, with the plan of its segments, between its instructions.
    Lane(listing::Args),
    /// Shows the function that is made of a kernel in Cranelift's IR, between its instructions.
    Clif(listing::Args),
    /// Shows the host code of a kernel between its instructions.
    Host(listing::Args),
}

/// Does what the arguments of the process ask for.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let outcome = match &cli.command {
        Command::Run(args) => run::main(args),
        Command::Diff(args) => diff::main(args),
        Command::Trace(args) => trace::main(args),
        Command::Disas(args) => disas::main(args),
        Command::Info(args) => info::main(args),
        Command::Asm(args) => asm::main(args),
        Command::Isa(args) => isa::main(args),
        Command::Fuzz(args) => fuzz::main(args),
        Command::Lane(args) => listing::main(args, Form::Lane),
        Command::Clif(args) => listing::main(args, Form::Clif),
        Command::Host(args) => listing::main(args, Form::Host),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("gcnjit: {}", failure.message);
            if matches!(cli.command, Command::Run(_)) {
                run::print_failure(&failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}

/// Prints help, or what is wrong with the arguments; scripts that read `run`'s last line get one.
fn refuse(error: &clap::Error) -> ExitCode {
    // There is no way left to tell if that fails.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).as_deref() == Some("run") {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        run::print_failure(lines.join(" ").trim_start_matches("error: "));
    }
    ExitCode::from(failure::USAGE)
}

/// Writes `text` to stdout.
fn print(text: &str) -> Result<(), Failure> {
    write(text.as_bytes())
}

/// Writes bytes to stdout. A reader that has seen enough, as `head` has, is no failure.
fn write(text: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::usage(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}
