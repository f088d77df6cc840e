//! `/tmp/perf-PID.map`: a line a symbol, address and size in hexadecimal and the name.

use super::{Sink, Symbol};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The file.
pub struct Map(File);

impl Map {
    /// Makes the file where perf looks for it.
    pub fn create() -> io::Result<(Map, PathBuf)> {
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        // The directory is everybody's: what is there already, a link perhaps, is not ours to write to.
        let file = File::options().write(true).create_new(true).open(&path);
        file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
            .map(|file| (Map(file), path))
    }
}

impl Sink for Map {
    fn add(&mut self, symbol: &Symbol<'_>) -> io::Result<()> {
        let line = format!("{:x} {:x} {}\n", symbol.code.as_ptr() as usize, symbol.code.len(), symbol.name);
        self.0.write_all(line.as_bytes())
    }
}
