//! Device memory that the host owns.

use crate::error::Error;
use bytemuck::Pod;
use gcnjit_rt::memory::MemoryError;
use gcnjit_rt::{Allocation, Memory};
use std::marker::PhantomData;

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
#[derive(Debug)]
pub struct Buffer<T> {
    memory: Memory,
    place: Allocation,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(memory: &Memory, len: usize) -> Result<Buffer<T>, Error> {
        let bytes = (len as u64).checked_mul(size_of::<T>() as u64).ok_or(MemoryError::Full(u64::MAX))?;
        let place = Allocation::new(memory, bytes)?;
        Ok(Buffer { memory: memory.clone(), place, len, element: PhantomData })
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
    /// If `data` is not as long as the buffer.
    pub fn write(&self, data: &[T]) {
        assert_eq!(data.len(), self.len, "elements for the whole buffer");
        self.write_at(0, data);
    }

    /// Copies `data` to the elements from `start` on.
    ///
    /// # Panics
    /// If the buffer ends before that.
    pub fn write_at(&self, start: usize, data: &[T]) {
        let address = self.place_of(start, data.len());
        self.memory.write(address, bytemuck::cast_slice(data)).expect("a buffer is mapped while it lives");
    }

    /// Guest address of element `start`, `count` of which are inside.
    fn place_of(&self, start: usize, count: usize) -> u64 {
        let inside = start <= self.len && count <= self.len - start;
        assert!(inside, "elements {start}.. of {count} in a buffer of {}", self.len);
        self.address() + (start * size_of::<T>()) as u64
    }
}
