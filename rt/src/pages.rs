//! Host pages: reserve, commit, decommit, and how much there is. The one place that talks to the host's virtual memory.

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr::null_mut;

/// Size of a page, and the unit of every address and length below.
pub(crate) const PAGE: u64 = 4096;

/// Bytes of memory that the host has.
pub(crate) fn host_memory() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(u64::from(info.mem_unit).max(1))
}

/// A reserved range of host addresses. Nothing in it is accessible until it is committed.
#[derive(Debug)]
pub(crate) struct Reservation {
    base: *mut c_void,
    len: u64,
}

// SAFETY: the reservation is a range of addresses; every operation on it is a system call, which the kernel orders.
unsafe impl Send for Reservation {}
// SAFETY: as above, no operation needs exclusive access to the value.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves `len` bytes, or the largest power-of-two fraction of it not below `least` that the host grants.
    pub(crate) fn new(len: u64, least: u64) -> io::Result<Reservation> {
        let mut len = len;
        loop {
            // SAFETY: an anonymous mapping at an address the kernel chooses overlaps nothing.
            let map = unsafe {
                mmap_anonymous(null_mut(), len as usize, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
            };
            match map {
                Ok(base) => return Ok(Reservation { base, len }),
                Err(_) if len / 2 >= least => len /= 2,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// First address.
    pub(crate) fn base(&self) -> u64 {
        self.base.expose_provenance() as u64
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Makes pages readable and writable; they read zero.
    pub(crate) fn commit(&self, address: u64, len: u64) -> io::Result<()> {
        let (at, len) = self.within(address, len);
        // SAFETY: the pages belong to this reservation, which no Rust object lives in.
        Ok(unsafe { mprotect(at, len, MprotectFlags::READ | MprotectFlags::WRITE) }?)
    }

    /// Gives the pages' contents back and makes them inaccessible.
    pub(crate) fn decommit(&self, address: u64, len: u64) -> io::Result<()> {
        let (at, len) = self.within(address, len);
        // SAFETY: the pages belong to this reservation, which no Rust object lives in.
        unsafe {
            mprotect(at, len, MprotectFlags::empty())?;
            Ok(madvise(at, len, Advice::LinuxDontNeed)?)
        }
    }

    fn within(&self, address: u64, len: u64) -> (*mut c_void, usize) {
        let offset = address - self.base();
        assert!(offset.is_multiple_of(PAGE) && len.is_multiple_of(PAGE) && len <= self.len && offset <= self.len - len);
        (self.base.wrapping_byte_add(offset as usize), len as usize)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new`, and whoever keeps addresses into it keeps the reservation.
        let _ = unsafe { munmap(self.base, self.len as usize) };
    }
}
