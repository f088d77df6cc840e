//! The forms of `--arg`.

use crate::cli::failure::Failure;
use crate::cli::plan::{Arg, Buffer, Plan, Step};
use crate::cli::value;
use std::path::PathBuf;

/// What `--help` says about them.
pub const HELP: &str = "An explicit kernel argument, in the order of the signature:
in:PATH            buffer initialised from the file
inout:PATH:PATH2   the same, and written to PATH2 afterwards
out:BYTES:PATH     zero-filled buffer, written to PATH afterwards
zero:BYTES         zero-filled buffer
lds:BYTES          dynamic LDS
TYPE:VALUE         scalar; TYPE is one of u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64;
                   VALUE @ is the launch index of --loop; u64 may be a raw pointer
bytes:HEX          struct or vector by value";

/// Adds argument `spec` to a plan: the argument to `args`, its buffer to the plan, the output it asks for to `dumps`.
pub fn add(spec: &str, plan: &mut Plan, args: &mut Vec<Arg>, dumps: &mut Vec<Step>) -> Result<(), Failure> {
    let wrong = |what: String| Failure::usage(format!("--arg {spec}: {what}"));
    let (form, rest) = spec.split_once(':').ok_or_else(|| wrong("it has no ':'".to_owned()))?;
    let buffer = plan.buffers.len();
    let name = format!("argument {}", args.len());
    let paths = |what: &str| rest.rsplit_once(':').ok_or_else(|| wrong(format!("it needs {what}")));
    let mut dump = |path: &str| dumps.push(Step::Dump { buffer, path: PathBuf::from(path) });
    let contents = match form {
        "in" => Buffer::from_file(name, rest)?,
        "inout" => {
            let (input, output) = paths("two files")?;
            dump(output);
            Buffer::from_file(name, input)?
        }
        "out" => {
            let (size, output) = rest.split_once(':').ok_or_else(|| wrong("it needs a size and a file".to_owned()))?;
            dump(output);
            Buffer::zeroed(name, value::size(size).map_err(wrong)?)
        }
        "zero" => Buffer::zeroed(name, value::size(rest).map_err(wrong)?),
        _ => {
            args.push(by_value(form, rest).map_err(wrong)?);
            return Ok(());
        }
    };
    args.push(Arg::Buffer { buffer, offset: 0 });
    plan.buffers.push(contents);
    Ok(())
}

/// An argument that needs no buffer.
fn by_value(form: &str, text: &str) -> Result<Arg, String> {
    match (form, text) {
        ("lds", _) => Ok(Arg::Lds(value::size32(text)?)),
        ("bytes", _) => Ok(Arg::Bytes(value::bytes(text)?)),
        ("u8" | "i8", "@") => Ok(Arg::Index(1)),
        ("u16" | "i16", "@") => Ok(Arg::Index(2)),
        ("u32" | "i32", "@") => Ok(Arg::Index(4)),
        ("u64" | "i64", "@") => Ok(Arg::Index(8)),
        _ => Ok(Arg::Bytes(value::scalar(form, text).ok_or_else(|| format!("there is no form '{form}'"))??)),
    }
}
