//! Variables of device code.

use crate::error::Error;
use crate::module::Module;
use bytemuck::Pod;
use gcnjit_rt::code_object;
use std::fmt;

/// A variable in a module, such as `global uint counter;`. It keeps its module.
///
/// ```
/// # fn main() -> Result<(), gcnjit::Error> {
/// let device = gcnjit::Device::new()?;
/// let module = gcnjit::Module::open(&device, "kernels/containers/globals.gfx900.co")?;
/// let counter = module.global("counter").expect("it has one");
/// counter.write(&[7u32])?;
/// module.kernel("count")?.launch().grid(100).run()?;
/// assert_eq!(counter.read::<u32>(), [107]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Global {
    module: Module,
    place: code_object::Global,
}

impl Global {
    pub(crate) fn new(module: Module, place: code_object::Global) -> Global {
        Global { module, place }
    }

    /// Its guest address.
    pub fn address(&self) -> u64 {
        self.module.base() + self.place.offset
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.place.size
    }

    /// A copy of its contents.
    ///
    /// # Panics
    /// If its size is not a multiple of that of a `T`.
    pub fn read<T: Pod>(&self) -> Vec<T> {
        let (size, element) = (self.place.size as usize, size_of::<T>().max(1));
        assert!(size.is_multiple_of(element), "elements of {element} bytes in a variable of {size}");
        let mut data = vec![T::zeroed(); size / element];
        let memory = self.module.device().memory();
        memory.read(self.address(), bytemuck::cast_slice_mut(&mut data)).expect("a module stays loaded");
        data
    }

    /// Replaces its contents.
    ///
    /// # Errors
    /// [`Error::Memory`] if it is a constant.
    ///
    /// # Panics
    /// If `data` is not as long as the variable.
    pub fn write<T: Pod>(&self, data: &[T]) -> Result<(), Error> {
        assert_eq!(size_of_val(data) as u64, self.place.size, "bytes for the whole variable");
        Ok(self.module.device().memory().write(self.address(), bytemuck::cast_slice(data))?)
    }
}

impl fmt::Debug for Global {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global").field("address", &self.address()).field("size", &self.size()).finish_non_exhaustive()
    }
}
