//! `gcnjit disas`: code as text, as llvm-mc prints it. In a code object, places that branches go to have labels.

use crate::cli::failure::Failure;
use crate::cli::print;
use gcnjit::isa::{Decoder, disas};
use gcnjit::rt::{Image, KernelCode};
use gcnjit::{Device, Module, Target};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Disassembles a code object or bare code.
#[derive(clap::Args)]
pub struct Args {
    /// The code object, or with --raw the code.
    file: String,
    /// Only this kernel, up to the next one.
    #[arg(long, conflicts_with = "raw")]
    kernel: Option<String>,
    /// Show each instruction's address and words.
    #[arg(long)]
    words: bool,
    /// The file is bare code; an instruction a line is printed, and nothing else.
    #[arg(long, requires = "gfx")]
    raw: bool,
    /// The processor that --raw code is for, such as gfx900; the part of a bundle that is taken.
    #[arg(long, value_name = "GFX")]
    gfx: Option<Target>,
}

/// Prints the text.
pub fn main(args: &Args) -> Result<(), Failure> {
    let mut listing = Listing { text: String::new(), words: args.words, indent: "", labels: false };
    match args.gfx.filter(|_| args.raw) {
        Some(target) => {
            let error = |error| Failure::usage(format!("{}: {error}", args.file));
            let code = std::fs::read(&args.file).map_err(error)?;
            listing.code(0, &code, target);
        }
        None => {
            let module = Module::open_for(&Device::new()?, &args.file, args.gfx)?;
            listing.indent = "\t";
            listing.labels = true;
            let entry =
                args.kernel.as_ref().map(|name| Ok::<_, Failure>(module.kernel(name)?.code().entry)).transpose()?;
            for part in parts(module.image()).iter().filter(|part| entry.is_none_or(|entry| part.address == entry)) {
                listing.part(part, module.target());
            }
        }
    }
    print(&listing.text)
}

/// A run of code: a kernel and what follows it, or what comes before the first one of a segment.
struct Part<'a> {
    label: Option<&'a str>,
    address: u64,
    bytes: &'a [u8],
}

/// All code of an image, by address.
fn parts(image: &Image) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for segment in image.segments.iter().filter(|segment| segment.executable) {
        let mut rest = Part { label: None, address: segment.offset, bytes: image.bytes(segment) };
        let mut kernels: Vec<&KernelCode> = image.kernels.values().map(AsRef::as_ref).collect();
        kernels.sort_by_key(|code| code.entry);
        for code in kernels {
            let offset = code.entry.checked_sub(rest.address).and_then(|offset| usize::try_from(offset).ok());
            let Some((before, after)) = offset.and_then(|offset| rest.bytes.split_at_checked(offset)) else { continue };
            parts.push(Part { bytes: before, ..rest });
            rest = Part { label: Some(&code.name), address: code.entry, bytes: after };
        }
        parts.push(rest);
    }
    parts.retain(|part| !part.bytes.is_empty());
    parts
}

/// Text being written.
struct Listing {
    text: String,
    words: bool,
    indent: &'static str,
    labels: bool,
}

impl Listing {
    /// A part of an image, with its label.
    fn part(&mut self, part: &Part<'_>, target: Target) {
        if let Some(label) = part.label {
            let _ = writeln!(self.text, "{label}:");
        }
        self.code(part.address, part.bytes, target);
    }

    /// Code at `address`. Words that are no instruction become `.long`, bytes left over `.byte`.
    fn code(&mut self, address: u64, bytes: &[u8], target: Target) {
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let labels = if self.labels { disas::labels(&words, target) } else { BTreeMap::new() };
        for (at, inst) in Decoder::new(target).decode_all(&words) {
            if let Some(label) = labels.get(&at) {
                let _ = writeln!(self.text, "{label}:");
            }
            let (text, len) = match inst {
                Ok(inst) => (disas::text_at(at, &inst, target, &labels), usize::from(inst.words)),
                Err(_) => (format!(".long {:#010x}", words[at]), 1),
            };
            self.line(&text, address + at as u64 * 4, &words[at..at + len]);
        }
        for byte in rest {
            let _ = writeln!(self.text, "{}.byte {byte:#04x}", self.indent);
        }
    }

    fn line(&mut self, text: &str, address: u64, words: &[u32]) {
        let indent = self.indent;
        if !self.words {
            let _ = writeln!(self.text, "{indent}{text}");
            return;
        }
        let _ = write!(self.text, "{indent}{text:<56} // {address:012X}:");
        for word in words {
            let _ = write!(self.text, " {word:08X}");
        }
        self.text.push('\n');
    }
}
