//! `cargo +nightly fuzz run kernels`: random kernels on both engines, the bytes are the choices of the generator.
//! `cargo test` runs the same body for a second.

#![no_main]

#[path = "../bodies/programs.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(gcnjit_difftest::campaign::Kind::Kernels, data));
