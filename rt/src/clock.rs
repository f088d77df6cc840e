//! The clocks that guests can read. They run with the host's time, whatever the guest executes, so that no two runs see
//! the same values.

use std::sync::OnceLock;
use std::time::Instant;

/// A core's clock: nanoseconds since its first reading in this process.
pub fn core() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The constant clock of the device, at 100 MHz.
pub fn constant() -> u64 {
    core() / 10
}
