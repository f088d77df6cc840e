//! `gcnjit lane`, `clif` and `host`: what the translator makes of a kernel.

use crate::cli::failure::Failure;
use crate::cli::print;
use gcnjit::rt::Mode;
use gcnjit::{Device, Form, Module, Target};

/// What is shown of which kernel.
#[derive(clap::Args)]
pub struct Args {
    /// The code object.
    file: String,
    /// The kernel.
    #[arg(long)]
    kernel: String,
    /// The processor that the file is expected to be for, such as gfx900; the part of a bundle that is taken.
    #[arg(long, value_name = "GFX")]
    gfx: Option<Target>,
    /// MODE that it is translated for, in hexadecimal; without it, what its waves start with.
    #[arg(long, value_name = "HEX", value_parser = mode)]
    mode: Option<Mode>,
}

fn mode(text: &str) -> Result<Mode, String> {
    let digits = text.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map(Mode).map_err(|error| format!("'{text}' is no MODE: {error}"))
}

/// Prints the text.
pub fn main(args: &Args, form: Form) -> Result<(), Failure> {
    let module = Module::open_for(&Device::new()?, &args.file, args.gfx)?;
    print(&module.kernel(&args.kernel)?.listing(form, args.mode)?)
}
