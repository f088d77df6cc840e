//! What each kernel computes, written again in scalar Rust from its description.
//!
//! A kernel with a tolerance is computed in double precision, so that the tolerance
//! covers the kernel's error alone; the others with the kernel's own roundings.

mod crypto;
mod float;
mod groups;
mod integer;
mod linear;

use super::{Buffer, Element, Launch};

/// The buffers after all launches, in the order of the buffer arguments.
///
/// # Panics
/// If there is no reference for the kernel.
pub fn run(launch: &Launch) -> Vec<Buffer> {
    let mut work = Work { launch, buffers: launch.buffers().cloned().collect() };
    let reference = find(&launch.kernel).unwrap_or_else(|| panic!("no reference for kernel {}", launch.kernel));
    reference(&mut work);
    work.buffers
}

fn find(kernel: &str) -> Option<fn(&mut Work)> {
    Some(match kernel {
        "atomics" => groups::atomics,
        "bitonic_sort" => groups::bitonic_sort,
        "black_scholes" => float::black_scholes,
        "bytes" => integer::bytes,
        "calls" => integer::calls,
        "compact" => groups::compact,
        "crc32" => crypto::crc32,
        "daxpy" => linear::daxpy,
        "fir" => linear::fir,
        "half_blend" => float::half_blend,
        "hash" => integer::hash,
        "histogram" => groups::histogram,
        "mandelbrot" => float::mandelbrot,
        "mul64" => integer::mul64,
        "nbody" => float::nbody,
        "rc4" => crypto::rc4,
        "reduction" => groups::reduction,
        "sad" => integer::sad,
        "saxpy" => linear::saxpy,
        "scan" => groups::scan,
        "sgemm_naive" => linear::sgemm_naive,
        "sgemm_tiled" => linear::sgemm_tiled,
        "sha256" => crypto::sha256,
        "stencil5" => linear::stencil5,
        "transform" => linear::transform,
        "trig" => float::trig,
        "vm" => integer::vm,
        "wave" => groups::wave,
        _ => return None,
    })
}

/// The buffers while a reference works on them, and its scalars.
struct Work<'a> {
    launch: &'a Launch,
    buffers: Vec<Buffer>,
}

impl Work<'_> {
    /// The contents of buffer `name`.
    fn get<T: Element>(&self, name: &str) -> Vec<T> {
        let buffer = self.buffers.iter().find(|buffer| buffer.name == name);
        buffer.unwrap_or_else(|| panic!("{} has no buffer {name}", self.launch.kernel)).elements()
    }

    /// A single-precision buffer's contents, widened.
    fn get_wide(&self, name: &str) -> Vec<f64> {
        self.get::<f32>(name).into_iter().map(f64::from).collect()
    }

    /// Sets the contents of buffer `name`.
    fn set<T: Element>(&mut self, name: &str, values: &[T]) {
        let buffer = self.buffers.iter_mut().find(|buffer| buffer.name == name);
        let buffer = buffer.unwrap_or_else(|| panic!("{} has no buffer {name}", self.launch.kernel));
        assert_eq!(T::TYPE, buffer.ty, "the element type of {name}");
        let mut data = Vec::with_capacity(buffer.data.len());
        values.iter().for_each(|value| value.write(&mut data));
        assert_eq!(data.len(), buffer.data.len(), "the size of {name}");
        buffer.data = data;
    }

    /// Sets a single-precision buffer's contents, rounded.
    fn set_wide(&mut self, name: &str, values: &[f64]) {
        let rounded: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        self.set(name, &rounded);
    }

    /// The scalar `name`.
    fn scalar<T: Element>(&self, name: &str) -> T {
        self.launch.scalar(name)
    }

    /// The scalar `name`, a u32, as an index.
    fn size(&self, name: &str) -> usize {
        self.scalar::<u32>(name) as usize
    }

    /// The single-precision scalar `name`, widened.
    fn wide(&self, name: &str) -> f64 {
        self.scalar::<f32>(name).into()
    }

    /// Work-items in the grid.
    fn items(&self) -> usize {
        self.launch.grid.iter().map(|&n| n as usize).product()
    }

    /// Work-items of a whole work-group.
    fn group(&self) -> usize {
        self.launch.block.iter().map(|&n| n as usize).product()
    }
}
