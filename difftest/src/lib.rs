//! Differential testing: random programs on both engines, to the bit.
//!
//! A [`Case`] is a program and the machine it starts on. [`generate`] draws cases from the instruction table,
//! [`machine`] runs one on both engines and says what differs, [`shrink`](mod@shrink) reduces one that fails,
//! [`filetest`] writes it down and reads it again, [`coverage`] counts what was executed, and [`campaign`] does all of
//! it many times on several threads.
//!
//! What both engines share (memory, `rt::math`) is not tested here; see docs/fuzzing.md.

#![forbid(unsafe_code)]

mod aim;
pub mod campaign;
pub mod case;
mod counting;
pub mod coverage;
pub mod feature;
pub mod filetest;
pub mod generate;
mod image;
pub mod machine;
pub mod program;
pub mod random;
pub mod shrink;
pub mod words;

pub use campaign::{Options, Summary};
pub use case::Case;
pub use machine::{Bench, Verdict};
