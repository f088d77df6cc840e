//! Launches of the kernels in `kernels/`, and what they ought to compute.
//!
//! [`Launch::load`] reads `kernels/<name>/launch.toml` and makes the inputs;
//! [`Launch::expected`] reads what the kernel's source, compiled for the host, made of them;
//! [`check`] compares that with what an engine left in the buffers. Nothing here
//! knows an engine. `kernels/README.md` describes the files.
#![allow(dead_code, unused_imports, reason = "a test or bench that includes this module uses a part of it")]

mod compare;
mod data;
mod fill;
mod launch;
#[cfg(test)]
mod selftest;

pub use compare::{Expect, Peer, check, compare};
pub use data::{F16, Type};
pub use fill::Fill;
pub use launch::{Arg, Buffer, Launch, Scalar};

use std::path::PathBuf;

/// The targets that every kernel is built for.
pub const TARGETS: [&str; 4] = ["gfx600", "gfx700", "gfx803", "gfx900"];

/// The directory `kernels/`.
pub fn kernels_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// The names of all kernels that have a launch description, sorted.
pub fn kernel_names() -> Vec<String> {
    let dir = kernels_dir();
    let entries = dir.read_dir().unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.join("launch.toml").exists())
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The code object of kernel `name` for `target`, for instance `gfx900` or
/// `gfx900.v4` (only saxpy has older code object versions).
pub fn code_object(name: &str, target: &str) -> PathBuf {
    kernels_dir().join(name).join(format!("{name}.{target}.co"))
}
