//! Real code objects and an engine of closures.
#![allow(dead_code, reason = "each test binary uses a part")]

use gcnjit_rt::{Engine, Env, Image, Kernel, Loaded, Memory, Stop, Trap, Wave};
use std::path::PathBuf;

/// A file of the kernels directory.
pub fn kernel_file(path: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kernels").join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every code object of the kernels directory.
pub fn all_kernel_files() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let mut files = Vec::new();
    for directory in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "co") {
                files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// A kernel of a file, loaded. `change` may alter what the descriptor says.
pub fn load(memory: &Memory, path: &str, name: &str, change: impl FnOnce(&mut gcnjit_rt::KernelCode)) -> Kernel {
    let mut image = Image::parse(kernel_file(path)).unwrap();
    let code = image.kernels.get_mut(name).unwrap();
    change(std::sync::Arc::make_mut(code));
    Loaded::new(image, memory).unwrap().kernel(name).unwrap()
}

/// An engine that runs a closure instead of instructions.
pub struct Fake<F>(pub F);

impl<F> Engine for Fake<F>
where
    F: Fn(&mut Wave, &Env<'_>) -> Result<Stop, Box<Trap>> + Sync,
{
    type Worker = ();

    fn worker(&self) {}

    fn run(&self, (): &mut (), wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        wave.executed += 1;
        (self.0)(wave, env)
    }
}
