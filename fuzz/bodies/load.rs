//! What the fuzz target `load` and `rt/tests/containers.rs` do with a file.

use gcnjit_rt::{Image, Loaded, Memory};
use std::sync::LazyLock;

/// Parses a file and, if that works, loads it and looks for the code of its kernels. Returns whether it is a code object.
pub fn load(data: &[u8]) -> bool {
    static MEMORY: LazyLock<Memory> = LazyLock::new(|| Memory::with_arena(1 << 32).expect("an arena"));
    let Ok(image) = Image::parse(data.to_vec()) else { return false };
    let given: usize = image.segments.iter().map(|segment| segment.file.len()).sum();
    assert!(given <= image.file.len(), "an image has more of the file than there is");
    assert!(image.file.len() <= data.len() || !image.parts.is_empty(), "only bundles are compressed");
    // Zeroed memory of device code may be as large as the file says; here it need not be had.
    if image.size < 1 << 20
        && let Ok(loaded) = Loaded::new(image, &MEMORY)
    {
        for name in loaded.image().kernels.keys() {
            let kernel = loaded.kernel(name).expect("a kernel of the image");
            let (start, text) = kernel.text();
            assert!((start..start + text.len() as u64).contains(&kernel.entry()), "{name} starts outside of its code");
        }
    }
    true
}
