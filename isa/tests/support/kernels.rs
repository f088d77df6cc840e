//! The code of every committed kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gcnjit_isa::Target;

/// All code of a target in one.
pub fn code_by_target() -> Vec<(Target, Vec<u32>)> {
    let mut targets: BTreeMap<&str, (Target, Vec<u32>)> = BTreeMap::new();
    for (path, target) in code_objects(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels")) {
        let code = text_section(&std::fs::read(&path).expect("a readable code object"));
        assert!(!code.is_empty(), "{}: no code", path.display());
        targets.entry(target.name()).or_insert((target, Vec::new())).1.extend(code);
    }
    targets.into_values().collect()
}

/// The `.text` section of a little-endian 64-bit ELF file, as words.
fn text_section(elf: &[u8]) -> Vec<u32> {
    let number =
        |at: usize, bytes: usize| elf[at..at + bytes].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    let (headers, entry, names) = (number(0x28, 8), number(0x3a, 2), number(0x3e, 2));
    let header = |index: usize| headers + index * entry;
    let strings = number(header(names) + 0x18, 8);
    (0..number(0x3c, 2))
        .map(header)
        .filter(|at| elf[strings + number(*at, 4)..].starts_with(b".text\0"))
        .flat_map(|at| elf[number(at + 0x18, 8)..][..number(at + 0x20, 8)].chunks_exact(4))
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect()
}

/// The code objects under `kernels`, with their targets.
fn code_objects(directory: &Path) -> Vec<(PathBuf, Target)> {
    let entries =
        std::fs::read_dir(directory).expect("a directory of kernels").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match name.strip_suffix(".co").and_then(|stem| stem.rsplit_once('.')) {
            _ if path.is_dir() => found.extend(code_objects(&path)),
            Some((_, target)) => found.extend(target.parse().map(|target| (path, target))),
            None => {}
        }
    }
    found
}
