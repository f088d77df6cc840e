//! The device's global data share: 64 KiB that all work-groups of a device share, and the resources they meet at.
//!
//! Every operation is atomic with respect to the others. It is little used, so a lock does. Out of range works as in
//! [`Lds`]: dwords read zero and writes are dropped.

use crate::gws::Gws;
use crate::lds::{CAPACITY, Lds};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The global data share.
pub struct Gds {
    share: Mutex<Lds>,
    gws: Gws,
}

impl Default for Gds {
    fn default() -> Gds {
        Gds::new()
    }
}

impl Gds {
    /// A zeroed share of 64 KiB, and all resources with their counters at zero.
    pub fn new() -> Gds {
        Gds { share: Mutex::new(Lds::new(CAPACITY as u32)), gws: Gws::default() }
    }

    /// Global wave sync.
    pub fn gws(&self) -> &Gws {
        &self.gws
    }

    /// Loads 1, 2, 4, 8, 12 or 16 bytes.
    pub fn load<const N: usize>(&self, address: u32) -> [u8; N] {
        self.lock().load(address)
    }

    /// Stores 1, 2, 4, 8, 12 or 16 bytes.
    pub fn store<const N: usize>(&self, address: u32, data: [u8; N]) {
        self.lock().store(address, data);
    }

    /// Loads a byte, a word or dwords.
    pub fn read(&self, address: u32, data: &mut [u8]) {
        self.lock().read(address, data);
    }

    /// Stores a byte, a word or dwords.
    pub fn write(&self, address: u32, data: &[u8]) {
        self.lock().write(address, data);
    }

    /// Replaces the dword at `address` by `f` of it and returns what it was.
    pub fn atomic_u32(&self, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
        self.lock().atomic_u32(address, f)
    }

    /// Replaces the qword at `address` by `f` of it and returns what it was.
    pub fn atomic_u64(&self, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
        self.lock().atomic_u64(address, f)
    }

    fn lock(&self) -> MutexGuard<'_, Lds> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
