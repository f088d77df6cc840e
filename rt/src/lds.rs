//! The local data share of one work-group.
//!
//! One thread runs all waves of a work-group, one after the other, so access needs no atomics: [`Lds`] is not `Sync`.
//! The buffer is always [`CAPACITY`] + [`SLACK`] bytes, aligned to 64. **Bytes from `size` on read zero and are never
//! written**: translated code may clamp an address that is out of range to `size` instead of branching.
//!
//! Addresses are bytes and any alignment works. An access is a row of dwords (or one byte or word): those that are not
//! wholly inside `size` read as zero, and writes to them are dropped, as the hardware does.

use gcnjit_isa::{Gen, Target};
use std::cell::UnsafeCell;

/// Size of the buffer in bytes: the most a work-group can have on any processor.
pub const CAPACITY: usize = 64 << 10;
/// Zero bytes after the capacity, so that the widest access at address [`CAPACITY`] stays inside of the buffer.
pub const SLACK: usize = 64;

/// The most a work-group can have on a processor, in bytes.
pub fn limit(target: Target) -> u32 {
    if target.generation() == Gen::Gfx6 { 32 << 10 } else { CAPACITY as u32 }
}

/// What a work-group gets that asks for so many bytes: LDS is allocated in units, and accesses up to the next one are
/// in range.
pub fn granted(asked: u32, target: Target) -> u32 {
    let unit = if target.generation() == Gen::Gfx6 { 256 } else { 512 };
    asked.next_multiple_of(unit)
}

/// A work-group's local data share.
pub struct Lds {
    bytes: Box<UnsafeCell<Buffer>>,
    size: u32,
}

#[repr(C, align(64))]
struct Buffer([u8; CAPACITY + SLACK]);

// SAFETY: an array of bytes; the all-zero bit pattern is a value.
unsafe impl bytemuck::Zeroable for Buffer {}

impl Default for Lds {
    fn default() -> Lds {
        Lds::new(0)
    }
}

impl Lds {
    /// A zeroed share of `size` bytes, at most [`CAPACITY`]; rounded up to whole dwords.
    pub fn new(size: u32) -> Lds {
        let mut lds = Lds { bytes: bytemuck::zeroed_box(), size: 0 };
        lds.reset(size);
        lds
    }

    /// Zeroes the contents and sets the size.
    pub fn reset(&mut self, size: u32) {
        let size = size.next_multiple_of(4);
        assert!(size as usize <= CAPACITY, "LDS of {size} bytes");
        self.clear();
        self.size = size;
    }

    /// Zeroes the contents for the next work-group.
    #[inline]
    pub fn clear(&self) {
        if self.size != 0 {
            // SAFETY: the size is at most the capacity, and nobody else accesses the buffer meanwhile.
            unsafe { self.as_ptr().write_bytes(0, self.size as usize) };
        }
    }

    /// Size in bytes.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The buffer, for translated code: bytes `..size` may be read and written, those up to [`CAPACITY`] + [`SLACK`]
    /// only read.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// All of it.
    pub fn whole(&self) -> Reach<'_> {
        Reach { lds: self, size: self.size }
    }

    /// What M0 as the limit of LDS leaves of it (gfx6 to gfx8): a dword that begins below the limit is in range.
    pub fn below(&self, m0: u32) -> Reach<'_> {
        Reach { lds: self, size: self.size.min(m0.checked_next_multiple_of(4).unwrap_or(u32::MAX)) }
    }

    /// Loads 1, 2, 4, 8, 12 or 16 bytes.
    pub fn load<const N: usize>(&self, address: u32) -> [u8; N] {
        self.whole().load(address)
    }

    /// Stores 1, 2, 4, 8, 12 or 16 bytes.
    pub fn store<const N: usize>(&self, address: u32, data: [u8; N]) {
        self.whole().store(address, data);
    }

    /// Loads a byte, a word or dwords.
    pub fn read(&self, address: u32, data: &mut [u8]) {
        self.whole().read(address, data);
    }

    /// Stores a byte, a word or dwords.
    pub fn write(&self, address: u32, data: &[u8]) {
        self.whole().write(address, data);
    }

    /// Replaces the dword at `address` by `f` of it and returns what it was.
    pub fn atomic_u32(&self, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
        self.whole().atomic_u32(address, f)
    }

    /// Replaces the qword at `address` by `f` of it and returns what it was.
    pub fn atomic_u64(&self, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
        self.whole().atomic_u64(address, f)
    }
}

/// The part of a share, from its start on, that an instruction reaches: all of it, or less.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    lds: &'a Lds,
    size: u32,
}

impl Reach<'_> {
    /// Its size in bytes, whole dwords.
    pub fn size(self) -> u32 {
        self.size
    }

    /// The start: bytes `..size` may be read and written.
    pub fn as_ptr(self) -> *mut u8 {
        self.lds.as_ptr()
    }

    /// Loads 1, 2, 4, 8, 12 or 16 bytes.
    pub fn load<const N: usize>(self, address: u32) -> [u8; N] {
        let mut data = [0; N];
        self.read(address, &mut data);
        data
    }

    /// Stores 1, 2, 4, 8, 12 or 16 bytes.
    pub fn store<const N: usize>(self, address: u32, data: [u8; N]) {
        self.write(address, &data);
    }

    /// Loads a byte, a word or dwords.
    #[inline]
    pub fn read(self, address: u32, data: &mut [u8]) {
        for (i, dword) in data.chunks_mut(4).enumerate() {
            match self.at(address, i, dword.len()) {
                // SAFETY: `at` has room for the chunk, and nobody else accesses the buffer meanwhile.
                Some(at) => unsafe { at.copy_to_nonoverlapping(dword.as_mut_ptr(), dword.len()) },
                None => dword.fill(0),
            }
        }
    }

    /// Stores a byte, a word or dwords.
    #[inline]
    pub fn write(self, address: u32, data: &[u8]) {
        for (i, dword) in data.chunks(4).enumerate() {
            if let Some(at) = self.at(address, i, dword.len()) {
                // SAFETY: `at` has room for the chunk, and nobody else accesses the buffer meanwhile.
                unsafe { at.copy_from_nonoverlapping(dword.as_ptr(), dword.len()) };
            }
        }
    }

    /// Replaces the dword at `address` by `f` of it and returns what it was.
    pub fn atomic_u32(self, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
        let old = u32::from_le_bytes(self.load(address));
        self.store(address, f(old).to_le_bytes());
        old
    }

    /// Replaces the qword at `address` by `f` of it and returns what it was.
    pub fn atomic_u64(self, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
        let old = u64::from_le_bytes(self.load(address));
        self.store(address, f(old).to_le_bytes());
        old
    }

    /// Where the `len` bytes of dword `i` of an access at `address` are, if all of them are in range.
    fn at(self, address: u32, i: usize, len: usize) -> Option<*mut u8> {
        let start = address as usize + i * 4;
        (start + len <= self.size as usize).then(|| self.as_ptr().wrapping_add(start))
    }
}
