//! `jit-PID.dump`, in the format of the Linux kernel's tools/perf/Documentation/jitdump-specification.txt: a header, then
//! a record with name and code for each symbol.
//!
//! perf finds the file by an executable mapping of it in the profiled process.

use super::{Sink, Symbol};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::ptr::null_mut;

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_SIZE: u32 = 40;
/// The record that says that code was loaded.
const CODE_LOAD: u32 = 0;
/// Its size without name and code.
const CODE_LOAD_SIZE: usize = 56;
/// The host's number in ELF headers.
const ELF_MACHINE: u32 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
/// Enough for the mapping that is a mark only.
const MARK_SIZE: usize = 4096;

/// The file.
pub struct Jitdump {
    file: File,
    /// Records so far.
    count: u64,
}

impl Jitdump {
    /// Makes the file in the current directory.
    pub fn create() -> io::Result<(Jitdump, PathBuf)> {
        let path = std::env::current_dir()?.join(format!("jit-{}.dump", std::process::id()));
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).map_err(named)?;
        let words = [MAGIC, VERSION, HEADER_SIZE, ELF_MACHINE, 0, std::process::id()];
        let mut header: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        header.extend([now(), 0].into_iter().flat_map(u64::to_ne_bytes));
        file.write_all(&header)?;
        // SAFETY: a new private mapping at a place of the host's choice, which nobody reads, writes or executes.
        unsafe { mmap(null_mut(), MARK_SIZE, ProtFlags::READ | ProtFlags::EXEC, MapFlags::PRIVATE, &file, 0) }?;
        Ok((Jitdump { file, count: 0 }, path))
    }
}

impl Sink for Jitdump {
    fn add(&mut self, symbol: &Symbol<'_>) -> io::Result<()> {
        let (address, size) = (symbol.code.as_ptr() as u64, symbol.code.len() as u64);
        let total = CODE_LOAD_SIZE + symbol.name.len() + 1 + symbol.code.len();
        let total = u32::try_from(total).map_err(|_| io::Error::other("a symbol of 4 GiB"))?;
        let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let mut record: Vec<u8> = [CODE_LOAD, total].into_iter().flat_map(u32::to_ne_bytes).collect();
        record.extend(now().to_ne_bytes());
        record.extend([std::process::id(), thread].into_iter().flat_map(u32::to_ne_bytes));
        record.extend([address, address, size, self.count].into_iter().flat_map(u64::to_ne_bytes));
        record.extend(symbol.name.as_bytes());
        record.push(0);
        record.extend(symbol.code);
        self.count += 1;
        self.file.write_all(&record)
    }
}

/// The clock of `perf record -k mono`, in nanoseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
