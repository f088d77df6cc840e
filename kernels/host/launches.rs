//! Writes the launches of `kernels/` as `harness.c` reads them: `launches DIRECTORY NAME...`.
//!
//! A file `NAME.launch` has a line with the index space, `grid X Y Z block X Y Z loop N args N`, and for each argument
//! a line `arg KIND BYTES RESULT` and its bytes: KIND is `buffer`, `value` (a scalar, vector or struct), `local` or
//! `index` (the number of the launch), which two have none; RESULT is 1 for a buffer that the kernel writes.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::Path;
use support::{Arg, Launch};

fn write(path: &Path, launch: &Launch) -> std::io::Result<()> {
    let Launch { grid, block, loop_count, args, .. } = launch;
    let size = |[x, y, z]: &[u32; 3]| format!("{x} {y} {z}");
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "grid {} block {} loop {loop_count} args {}", size(grid), size(block), args.len())?;
    for arg in args {
        let (kind, count, result, data): (_, _, _, &[u8]) = match arg {
            Arg::Buffer(buffer) => ("buffer", buffer.data.len(), buffer.expect.is_some(), &buffer.data),
            Arg::Scalar(scalar) => ("value", scalar.bytes.len(), false, &scalar.bytes),
            Arg::Local(bytes) => ("local", *bytes as usize, false, &[]),
            Arg::LoopIndex => ("index", 4, false, &[]),
        };
        writeln!(file, "arg {kind} {count} {}", u8::from(result))?;
        file.write_all(data)?;
    }
    file.flush()
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let directory = args.next().expect("a directory");
    for name in args {
        write(&Path::new(&directory).join(format!("{name}.launch")), &Launch::load(&name))?;
    }
    Ok(())
}
