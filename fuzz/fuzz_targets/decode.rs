//! `cargo +nightly fuzz run decode`: any words, on any target. `cargo test` runs the same body for a second.

#![no_main]

#[path = "../bodies/decode.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::decode(data));
