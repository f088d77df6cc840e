//! What a hostile kernel can't do: reach memory that it was not given, hang the host, or leave anything behind that
//! spoils the next launch. `SECURITY.md` says what is promised.

#[path = "../engines/mod.rs"]
mod engines;

mod accesses;
mod damaged;
mod endless;
mod huge;
mod random;
mod sharing;
mod world;
