//! The machine that kernels run on.

use crate::buffer::Buffer;
use crate::error::Error;
use bytemuck::Pod;
use gcnjit_rt::Memory;
use gcnjit_rt::gds::Gds;
use std::fmt;
use std::sync::Arc;

/// A device: its memory and its global data share. A handle; clones are the same device.
///
/// The processor that it plays is the one that each module was built for.
#[derive(Clone)]
pub struct Device(Arc<Shared>);

struct Shared {
    memory: Memory,
    gds: Gds,
    threads: usize,
}

impl Device {
    /// A device that works with as many threads as the host has processors.
    ///
    /// # Errors
    /// [`Error::Memory`] if the host grants no addresses for its memory.
    pub fn new() -> Result<Device, Error> {
        Device::with_threads(0)
    }

    /// A device that works with `threads` threads, the caller's included; 0 for as many as the host has processors.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn with_threads(threads: usize) -> Result<Device, Error> {
        Ok(Device(Arc::new(Shared { memory: Memory::new()?, gds: Gds::new(), threads })))
    }

    /// A buffer of `len` zeroes.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self.memory(), len)
    }

    /// A buffer with a copy of `data`.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room.
    pub fn buffer_from<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let buffer = self.buffer(data.len())?;
        buffer.write(data);
        Ok(buffer)
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.0.memory
    }

    pub(crate) fn gds(&self) -> &Gds {
        &self.0.gds
    }

    pub(crate) fn threads(&self) -> usize {
        self.0.threads
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("memory", self.memory())
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}
