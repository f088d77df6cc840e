//! Names of translated code for the Linux profiler `perf`.
//!
//! `perf record` sees addresses in memory that no file is mapped to. A *map* is the simple way to name them:
//! a text file that `perf report` reads, with a line for the host code of each guest block. A *dump* has
//! the code too, with times, so that `perf inject --jit` can make files of it and `perf annotate` works.
//! Either is one file a process, and so is the setting here.

mod jitdump;
mod map;

use crate::cache::Program;
use crate::jit::Unit;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// `/tmp/perf-PID.map`.
    Map,
    /// `jit-PID.dump` in the current directory, for `perf record -k mono` and `perf inject --jit`.
    Jitdump,
}

trait Sink: Send {
    /// Adds a symbol for host code.
    fn add(&mut self, symbol: &Symbol<'_>) -> io::Result<()>;
}

/// Host code with a name.
struct Symbol<'a> {
    name: String,
    code: &'a [u8],
}

static SINK: OnceLock<Mutex<Box<dyn Sink>>> = OnceLock::new();

/// Writes a profile of everything that is translated in this process from now on. The result is its file.
///
/// # Errors
/// If the file can't be made, or there is one already.
pub fn start(profile: Profile) -> io::Result<PathBuf> {
    let (sink, path): (Box<dyn Sink>, PathBuf) = match profile {
        Profile::Map => map::Map::create().map(|(map, path)| (Box::new(map) as _, path))?,
        Profile::Jitdump => jitdump::Jitdump::create().map(|(dump, path)| (Box::new(dump) as _, path))?,
    };
    let known = || io::Error::new(io::ErrorKind::AlreadyExists, "this process writes a profile already");
    SINK.set(Mutex::new(sink)).map_err(|_| known())?;
    Ok(path)
}

/// Adds a unit to the profile, if one is written.
///
/// # Panics
/// If the file can't be written to: a profile that lacks code would mislead.
pub(crate) fn record(unit: &Unit, program: &Program) {
    let Some(sink) = SINK.get() else { return };
    let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
    for symbol in symbols(unit, program) {
        sink.add(&symbol).expect("the profile can be written");
    }
}

/// A symbol for each run of host code that belongs to one guest block, and one for each segment's loops and each
/// access, where these are functions of their own. Code before the first block finds the entry; code between two places is the first one's.
fn symbols<'a>(unit: &'a Unit, program: &Program) -> Vec<Symbol<'a>> {
    let block = |pc: u64| unit.guest.iter().find(|block| block.contains(&pc)).map_or(pc, |block| block.start);
    let mut starts: Vec<(usize, Option<u64>)> = vec![(0, None)];
    for place in unit.places() {
        let block = Some(block(place.pc));
        if starts[starts.len() - 1].1 != block {
            starts.push((place.start as usize, block));
        }
    }
    let code = unit.code();
    let ends = starts.iter().skip(1).map(|start| start.0).chain([code.len()]);
    let named = starts.iter().zip(ends).map(|((start, block), end)| {
        let name = match block {
            Some(pc) if unit.compaction.is_some() => format!("{} (compacted)", program.name(*pc)),
            Some(pc) => program.name(*pc),
            None => format!("{} (entry)", program.name(unit.guest[0].start)),
        };
        Symbol { name, code: &code[*start..end] }
    });
    let (code, places) = unit.segments().unwrap_or_default();
    let kind = if unit.compaction.is_some() { "few lanes" } else { "lanes" };
    let loops = places.iter().map(|place| Symbol {
        name: format!("{} ({kind})", program.name(place.pc)),
        code: &code[place.start as usize..place.end as usize],
    });
    named.chain(loops).filter(|symbol| !symbol.code.is_empty()).collect()
}
