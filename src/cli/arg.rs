//! The forms of `--arg`.

use crate::cli::failure::Failure;
use crate::cli::image::{self, Picture};
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
bytes:HEX          struct or vector by value
image:FMT,W[,H[,D]]:IN[:OUT]
                   image with the texels of IN (zeroes if that is empty), written to OUT
                   afterwards, PNG or raw by their names; FMT is r, rg, rgba or bgra, 8, 16 or
                   32, and nothing, s, u, i, f or srgb; or rgb565, rgb10a2, r11g11b10f,
                   rgb9e5, bc1 to bc7
sampler:WORDS      of nearest linear, normalized unnormalized, repeat mirror edge border";

/// Adds argument `spec` to a plan: the argument to `args`, its buffer to the plan, the output it asks for to `dumps`.
pub fn add(spec: &str, plan: &mut Plan, args: &mut Vec<Arg>, dumps: &mut Vec<Step>) -> Result<(), Failure> {
    let wrong = |what: String| Failure::usage(format!("--arg {spec}: {what}"));
    let (form, rest) = spec.split_once(':').ok_or_else(|| wrong("it has no ':'".to_owned()))?;
    let buffer = plan.buffers.len();
    let name = format!("argument {}", args.len());
    let paths = |what: &str| rest.rsplit_once(':').ok_or_else(|| wrong(format!("it needs {what}")));
    let picture = (form == "image").then_some(plan.pictures.len());
    let mut dump = |path: &str| dumps.push(Step::Dump { buffer, picture, path: PathBuf::from(path) });
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
        "image" => {
            let (shape, files) = rest.split_once(':').ok_or_else(|| wrong("it needs a shape and a file".to_owned()))?;
            let (input, output) = files.split_once(':').unwrap_or((files, ""));
            let image = Picture::new(shape, input, buffer).map_err(wrong)?;
            if !output.is_empty() {
                image.check_output(output).map_err(wrong)?;
                dump(output);
            }
            args.push(Arg::Picture(plan.pictures.len()));
            plan.pictures.push(image);
            plan.buffers.push(Buffer::zeroed(name, 0));
            return Ok(());
        }
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
        ("sampler", _) => Ok(Arg::Sampler(image::sampler(text)?)),
        ("u8" | "i8", "@") => Ok(Arg::Index(1)),
        ("u16" | "i16", "@") => Ok(Arg::Index(2)),
        ("u32" | "i32", "@") => Ok(Arg::Index(4)),
        ("u64" | "i64", "@") => Ok(Arg::Index(8)),
        _ => Ok(Arg::Bytes(value::scalar(form, text).ok_or_else(|| format!("there is no form '{form}'"))??)),
    }
}
