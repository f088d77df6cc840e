//! The machine that kernels run on.

use crate::buffer::Buffer;
use crate::error::Error;
use bytemuck::Pod;
use gcnjit_rt::gds::Gds;
use gcnjit_rt::{Hardware, Memory};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A device: its memory, its global data share and its threads. A handle; clones are the same device.
///
/// The processor that it plays is the one that each module was built for. Any number of host threads may launch kernels
/// on it at the same time; launches of one host thread run one after the other.
#[derive(Clone)]
pub struct Device(Arc<Shared>);

struct Shared {
    hardware: Hardware,
    threads: usize,
    /// The number of the next dispatch.
    dispatches: AtomicU64,
}

/// What a device has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Threads that launches work with, the caller's included; 0 for as many as the host has processors.
    pub threads: usize,
    /// Bytes that buffers, loaded modules and scratch can take together, in whole pages; what the host has if nothing
    /// is said. Memory that is imported from the host doesn't count.
    pub memory: Option<u64>,
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
        Device::with_options(DeviceOptions { threads, ..DeviceOptions::default() })
    }

    /// A device of a given size.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// use gcnjit::{Device, DeviceOptions};
    ///
    /// let device = Device::with_options(DeviceOptions { threads: 2, memory: Some(1 << 20) })?;
    /// assert!(device.buffer::<u8>(1 << 19).is_ok());
    /// assert!(device.buffer::<u8>(2 << 20).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn with_options(options: DeviceOptions) -> Result<Device, Error> {
        let hardware = Hardware::new()?;
        if let Some(bytes) = options.memory {
            hardware.memory.set_limit(bytes);
        }
        Ok(Device(Arc::new(Shared { hardware, threads: options.threads, dispatches: AtomicU64::new(0) })))
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

    /// A buffer whose elements are those of `data`, where they are: nothing is copied.
    /// [`Buffer::into_vec`] gives the vector back.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// # use gcnjit::{Device, Module};
    /// # let device = Device::new()?;
    /// # let saxpy = Module::open(&device, "kernels/saxpy/saxpy.gfx900.co")?.kernel("saxpy")?;
    /// let data = vec![1.0f32; 1000];
    /// let place = data.as_ptr();
    /// let (x, y) = (device.buffer_from(&[2.0f32; 1000])?, device.buffer_from_vec(data)?);
    /// saxpy.launch().grid(1000).block(256).arg(&x).arg(&y).arg(3.0f32).arg(1000u32).run()?;
    /// let data = y.into_vec();
    /// assert_eq!((data.as_ptr(), data), (place, vec![7.0; 1000]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Memory`] if it is empty.
    pub fn buffer_from_vec<T: Pod>(&self, data: Vec<T>) -> Result<Buffer<T>, Error> {
        Buffer::of_vec(self.memory(), data)
    }

    /// A buffer of the whole elements in a file, which is mapped: pages are read when they are first accessed. Kernels
    /// can't write to it.
    ///
    /// If somebody makes the file shorter while it is mapped, the host ends the process on an access to what is gone.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// # let device = gcnjit::Device::new()?;
    /// let file = device.map_file::<u8>("kernels/saxpy/saxpy.gfx900.co")?;
    /// let mut magic = [0; 4];
    /// file.read_at(0, &mut magic);
    /// assert_eq!(&magic, b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Read`] if the file can't be read; [`Error::Memory`] if it can't be mapped or is empty.
    pub fn map_file<T: Pod>(&self, path: impl AsRef<Path>) -> Result<Buffer<T>, Error> {
        Buffer::of_file(self.memory(), path.as_ref(), false)
    }

    /// The same, but what kernels and the host write to the buffer goes to the file.
    ///
    /// # Errors
    /// As [`Device::map_file`], also if the file can't be written.
    pub fn map_file_mut<T: Pod>(&self, path: impl AsRef<Path>) -> Result<Buffer<T>, Error> {
        Buffer::of_file(self.memory(), path.as_ref(), true)
    }

    /// Guest memory, for those who import what neither a vector nor a file owns: [`Memory::import`].
    pub fn memory(&self) -> &Memory {
        &self.hardware().memory
    }

    pub(crate) fn gds(&self) -> &Gds {
        &self.hardware().gds
    }

    pub(crate) fn hardware(&self) -> &Hardware {
        &self.0.hardware
    }

    /// A number for a dispatch, counted from 0.
    pub(crate) fn next_dispatch(&self) -> u64 {
        self.0.dispatches.fetch_add(1, Relaxed)
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
