//! The `--job` form: several launches over named buffers, a line each. `#` starts a comment line.

use crate::cli::failure::Failure;
use crate::cli::plan::{Arg, Buffer, Launch, Plan, Step};
use crate::cli::value;
use gcnjit::Dims;
use std::path::PathBuf;

/// What `--help` says about the file.
pub const HELP: &str = "A file of launches over named buffers, a line each:
buffer NAME BYTES PATH|zero
launch KERNEL DIMS gx gy gz lx ly lz ARG...
dump NAME PATH
ARG is b:NAME[+OFFSET], i:I32, u:U32, f:F32, h:HEX or l:LDSBYTES";

/// Reads a job.
pub fn read(path: &str) -> Result<Plan, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    let mut plan = Plan::default();
    for (number, line) in text.lines().enumerate() {
        add(line.trim(), &mut plan).map_err(|what| Failure::usage(format!("{path}:{}: {what}", number + 1)))?;
    }
    Ok(plan)
}

/// Adds what one line says.
fn add(line: &str, plan: &mut Plan) -> Result<(), String> {
    let (word, rest) = split(line);
    match word {
        "" => {}
        comment if comment.starts_with('#') => {}
        "buffer" => plan.buffers.push(buffer(rest, plan)?),
        "launch" => plan.steps.push(Step::Launch(launch(rest, plan)?)),
        "dump" => {
            let (name, path) = split(rest);
            if path.is_empty() {
                return Err("dump NAME PATH".to_owned());
            }
            plan.steps.push(Step::Dump { buffer: find(name, plan)?, picture: None, path: PathBuf::from(path) });
        }
        _ => return Err(format!("'{word}' is none of buffer, launch, dump")),
    }
    Ok(())
}

/// The first word, and what follows it: a path may have spaces in it.
fn split(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn find(name: &str, plan: &Plan) -> Result<usize, String> {
    let place = plan.buffers.iter().position(|buffer| buffer.name == name);
    place.ok_or_else(|| format!("there is no buffer '{name}' so far"))
}

fn buffer(text: &str, plan: &Plan) -> Result<Buffer, String> {
    let (name, rest) = split(text);
    let (size, source) = split(rest);
    if source.is_empty() {
        return Err("buffer NAME BYTES PATH|zero".to_owned());
    }
    if find(name, plan).is_ok() {
        return Err(format!("there is a buffer '{name}' already"));
    }
    let size = value::size(size)?;
    if source == "zero" {
        return Ok(Buffer::zeroed(name, size));
    }
    let buffer = Buffer::from_file(name, source).map_err(|failure| failure.message)?;
    match buffer.size {
        given if given > size => Err(format!("{source} has {given} bytes, buffer '{name}' only {size}")),
        _ => Ok(Buffer { size, ..buffer }),
    }
}

fn launch(text: &str, plan: &Plan) -> Result<Launch, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(([kernel, sizes @ ..], args)) = words.split_first_chunk::<8>() else {
        return Err("launch KERNEL DIMS gx gy gz lx ly lz ARG...".to_owned());
    };
    let [count, grid @ .., lx, ly, lz] = sizes;
    let sizes = |words: [&str; 3]| -> Result<Dims, String> {
        let [x, y, z] = words.map(value::size32);
        let sizes = [x?, y?, z?];
        match *count {
            "1" if sizes[1..] == [1, 1] => Ok(sizes[0].into()),
            "2" if sizes[2] == 1 => Ok([sizes[0], sizes[1]].into()),
            "3" => Ok(sizes.into()),
            _ => Err(format!("{sizes:?} are not the sizes of {count} dimensions")),
        }
    };
    Ok(Launch {
        kernel: (*kernel).to_owned(),
        grid: sizes(*grid)?,
        block: sizes([lx, ly, lz])?,
        offset: [0; 3],
        args: args.iter().map(|spec| arg(spec, plan)).collect::<Result<_, _>>()?,
        count: 1,
    })
}

fn arg(spec: &str, plan: &Plan) -> Result<Arg, String> {
    let (form, text) = spec.split_once(':').ok_or_else(|| format!("argument '{spec}' has no ':'"))?;
    let scalar = |ty| value::scalar(ty, text).ok_or_else(|| format!("there is no type '{ty}'"))?.map(Arg::Bytes);
    match form {
        "b" => {
            let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
            Ok(Arg::Buffer { buffer: find(name, plan)?, offset: value::size(offset)? })
        }
        "i" => scalar("i32"),
        "u" => scalar("u32"),
        "f" => scalar("f32"),
        "h" => Ok(Arg::Bytes(value::bytes(text)?)),
        "l" => Ok(Arg::Lds(value::size32(text)?)),
        _ => Err(format!("argument '{spec}': there is no form '{form}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(lines: &[&str]) -> Result<Plan, String> {
        let mut plan = Plan::default();
        lines.iter().try_for_each(|line| add(line, &mut plan)).map(|()| plan)
    }

    #[test]
    fn launches_use_the_buffers_by_name() {
        let job = plan(&[
            "# two buffers",
            "",
            "buffer a 0x100 zero",
            "buffer b 64 zero",
            "launch k 2 640 480 1 16 8 1 b:b+16 b:a i:-1 u:7 f:-0.5 h:0102 l:1024",
            "dump a some where",
        ])
        .unwrap();
        assert_eq!((job.buffers[0].size, job.buffers[1].size), (256, 64));
        let launch = job.launches().next().unwrap();
        assert_eq!((launch.grid, launch.block), ([640, 480].into(), [16, 8].into()));
        let bytes = |bytes: &[u8]| Arg::Bytes(bytes.to_vec());
        let wanted = [
            Arg::Buffer { buffer: 1, offset: 16 },
            Arg::Buffer { buffer: 0, offset: 0 },
            bytes(&[255; 4]),
            bytes(&[7, 0, 0, 0]),
            bytes(&(-0.5f32).to_le_bytes()),
            bytes(&[1, 2]),
            Arg::Lds(1024),
        ];
        assert_eq!(launch.args, wanted);
        assert_eq!(job.outputs().collect::<Vec<_>>(), [&PathBuf::from("some where")]);
    }

    #[test]
    fn mistakes_are_errors() {
        for line in [
            "bufer a 1 zero",
            "buffer a 1",
            "buffer a one zero",
            "buffer a 1 /no/such/file",
            "launch k 1 1 1 1 1 1",
            "launch k 4 1 1 1 1 1 1",
            "launch k 1 1 2 1 1 1 1",
            "launch k 1 1 1 1 1 1 1 b:a",
            "launch k 1 1 1 1 1 1 1 7",
            "launch k 1 1 1 1 1 1 1 q:7",
            "launch k 1 1 1 1 1 1 1 i:2147483648",
            "dump a file",
            "dump",
        ] {
            assert!(plan(&[line]).is_err(), "{line}");
        }
        assert!(plan(&["buffer a 1 zero", "buffer a 1 zero"]).is_err());
    }
}
