//! `cargo +nightly fuzz run load fuzz/corpus/load kernels/containers`: any file. `cargo test` runs the same body on
//! damaged files.

#![no_main]

#[path = "../bodies/load.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    body::load(data);
});
