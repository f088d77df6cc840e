//! `gcnjit asm`: text to bare code, the inverse of `disas --raw`.

use crate::cli::failure::Failure;
use crate::cli::output::Staged;
use gcnjit::Target;
use gcnjit::isa::asm;
use std::path::PathBuf;

/// Assembles instructions as llvm-mc writes them, an instruction a line, with labels and comments.
#[derive(clap::Args)]
pub struct Args {
    /// The source.
    file: String,
    /// The processor, such as gfx900.
    #[arg(long, value_name = "GFX")]
    gfx: Target,
    /// Where the code goes.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Writes the code.
pub fn main(args: &Args) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", args.file));
    let source = std::fs::read_to_string(&args.file).map_err(|error| failure(&error))?;
    let words = asm::assemble(&source, args.gfx).map_err(|error| failure(&error))?;
    Staged::new(&args.output, words.into_iter().flat_map(u32::to_le_bytes).collect())?.commit()
}
