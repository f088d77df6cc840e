//! Device memory that the host owns.

use crate::error::Error;
use bytemuck::Pod;
use gcnjit_rt::import::{HostVec, map_file};
use gcnjit_rt::memory::MemoryError;
use gcnjit_rt::{Allocation, Memory};
use std::fmt;
use std::fs::OpenOptions;
use std::marker::PhantomData;
use std::path::Path;

/// An array of `T` in a device's memory. It is freed when it is dropped.
///
/// Kernels write to it through shared references, as other processors do; what the host reads while a kernel runs may
/// be old or new, element by element.
///
/// ```
/// # fn main() -> Result<(), gcnjit::Error> {
/// let device = gcnjit::Device::new()?;
/// let buffer = device.buffer::<u32>(4)?;
/// buffer.write_at(1, &[7, 8]);
/// assert_eq!(buffer.read(), [0, 7, 8, 0]);
/// # Ok(())
/// # }
/// ```
pub struct Buffer<T> {
    memory: Memory,
    place: Allocation,
    len: usize,
    /// The vector that it is the memory of, if it is.
    host: Option<HostVec<T>>,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(memory: &Memory, len: usize) -> Result<Buffer<T>, Error> {
        let bytes = (len as u64).checked_mul(size_of::<T>() as u64).ok_or(MemoryError::Full(u64::MAX))?;
        let place = Allocation::new(memory, bytes)?;
        Ok(Buffer { memory: memory.clone(), place, len, host: None, element: PhantomData })
    }

    pub(crate) fn of_vec(memory: &Memory, data: Vec<T>) -> Result<Buffer<T>, Error> {
        let len = data.len();
        let (host, place) = HostVec::new(memory, data)?;
        Ok(Buffer { memory: memory.clone(), place, len, host: Some(host), element: PhantomData })
    }

    pub(crate) fn of_file(memory: &Memory, path: &Path, writable: bool) -> Result<Buffer<T>, Error> {
        let opened = OpenOptions::new().read(true).write(writable).open(path);
        let file = opened.map_err(|source| Error::Read { file: path.display().to_string(), source })?;
        let (place, bytes) = map_file(memory, &file, writable)?;
        let len = bytes.checked_div(size_of::<T>() as u64).unwrap_or(0) as usize;
        Ok(Buffer { memory: memory.clone(), place, len, host: None, element: PhantomData })
    }

    /// Its contents: the vector that it was made from, or a copy if it was not made from one or a launch that can still
    /// reach it runs.
    pub fn into_vec(self) -> Vec<T> {
        match self.host {
            None => self.read(),
            Some(host) => {
                drop(self.place);
                host.into_vec()
            }
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Guest address of the first element.
    pub fn address(&self) -> u64 {
        self.place.address()
    }

    /// A copy of its contents.
    pub fn read(&self) -> Vec<T> {
        let mut data = vec![T::zeroed(); self.len];
        self.read_at(0, &mut data);
        data
    }

    /// Copies the elements from `start` on to `data`.
    ///
    /// # Panics
    /// If the buffer ends before that.
    pub fn read_at(&self, start: usize, data: &mut [T]) {
        let address = self.place_of(start, data.len());
        self.memory.read(address, bytemuck::cast_slice_mut(data)).expect("a buffer is mapped while it lives");
    }

    /// Replaces its contents.
    ///
    /// # Panics
    /// If `data` is not as long as the buffer, or it is of a file that was mapped for reading only.
    pub fn write(&self, data: &[T]) {
        assert_eq!(data.len(), self.len, "elements for the whole buffer");
        self.write_at(0, data);
    }

    /// Copies `data` to the elements from `start` on.
    ///
    /// # Panics
    /// If the buffer ends before that, or it is of a file that was mapped for reading only.
    pub fn write_at(&self, start: usize, data: &[T]) {
        let address = self.place_of(start, data.len());
        self.memory.write(address, bytemuck::cast_slice(data)).expect("a buffer that may be written");
    }

    /// Guest address of element `start`, `count` of which are inside.
    fn place_of(&self, start: usize, count: usize) -> u64 {
        let inside = start <= self.len && count <= self.len - start;
        assert!(inside, "elements {start}.. of {count} in a buffer of {}", self.len);
        self.address() + (start * size_of::<T>()) as u64
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("place", &self.place).field("len", &self.len).finish_non_exhaustive()
    }
}
