//! Host memory that guests use without a copy: vectors and mapped files.
//!
//! What is imported is owned by [`Memory`] until guests can't reach it any more: it was freed, and no dispatch that saw
//! it runs. Guests may access the bytes given and none beside them.

use crate::copy;
use crate::memory::{Allocation, Memory, MemoryError};
use bytemuck::Pod;
use memmap2::{MmapOptions, MmapRaw};
use std::cell::UnsafeCell;
use std::fs::File;
use std::sync::Arc;

/// A vector whose elements are guest memory. Only [`HostVec::into_vec`] looks at it again.
pub struct HostVec<T>(Arc<Cell<T>>);

struct Cell<T>(UnsafeCell<Vec<T>>);

// SAFETY: while it is shared, nobody touches the vector itself; its elements are accessed as guest memory is. `T` is
// plain data, so any thread may drop it.
unsafe impl<T: Pod> Send for Cell<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Sync for Cell<T> {}

impl<T: Pod> HostVec<T> {
    /// Makes the elements of `data` accessible to guests, for reading and writing.
    ///
    /// # Errors
    /// [`MemoryError::Import`] if it is empty.
    pub fn new(memory: &Memory, data: Vec<T>) -> Result<(HostVec<T>, Allocation), MemoryError> {
        let len = size_of_val(data.as_slice()) as u64;
        let cell = Arc::new(Cell(UnsafeCell::new(data)));
        // SAFETY: nobody else has the cell yet.
        let host = unsafe { &mut *cell.0.get() }.as_mut_ptr();
        let keep = Box::new(cell.clone());
        // SAFETY: `keep` keeps the vector, which nobody touches while it is shared; guests may write any bytes, since
        // every pattern of them is a `T`.
        let address = unsafe { memory.import_with(host.cast(), len, true, keep)? };
        Ok((HostVec(cell), Allocation::of_import(memory, address)))
    }

    /// The vector with what guests left in it. It is a copy if the import has not been freed, or a dispatch that saw it
    /// still runs.
    pub fn into_vec(self) -> Vec<T> {
        match Arc::try_unwrap(self.0) {
            Ok(cell) => cell.0.into_inner(),
            Err(cell) => {
                // SAFETY: the vector is not changed while it is shared; this does not look at its elements.
                let (len, host) = unsafe { ((*cell.0.get()).len(), (*cell.0.get()).as_mut_ptr()) };
                let mut copy = vec![T::zeroed(); len];
                // SAFETY: the elements live as long as `cell`, and all access to them is as to guest memory.
                unsafe { copy::from_guest(host.cast(), bytemuck::cast_slice_mut(&mut copy)) };
                copy
            }
        }
    }
}

/// Maps a whole file and makes it accessible to guests; also returns its size in bytes. What they write, if they may,
/// goes to the file.
///
/// If somebody makes the file shorter while it is mapped, an access to the part that is gone ends the process with
/// SIGBUS, as with every mapped file. If a file is mapped twice, what a wave writes in one place it may read in the other
/// only later: to the translator they are two memories.
///
/// # Errors
/// [`MemoryError::Host`] if it can't be mapped, [`MemoryError::Import`] if it is empty.
pub fn map_file(memory: &Memory, file: &File, writable: bool) -> Result<(Allocation, u64), MemoryError> {
    let map: MmapRaw = match writable {
        true => MmapOptions::new().map_raw(file)?,
        false => MmapOptions::new().map_raw_read_only(file)?,
    };
    // An empty file is mapped as one byte.
    let len = file.metadata()?.len().min(map.len() as u64);
    let host = map.as_mut_ptr();
    // SAFETY: `map` stays mapped while it is kept, writable if that was asked for; nobody refers to its bytes.
    let address = unsafe { memory.import_with(host, len, writable, Box::new(map))? };
    Ok((Allocation::of_import(memory, address), len))
}
