//! gcnjit runs AMD GCN GPU binaries (gfx6 to gfx9) on the CPU: kernels are translated to host SIMD code on first use,
//! or interpreted.
//!
//! A [`Device`] has memory, a [`Module`] is a code object loaded into it, and a [`Kernel`] of it is launched over a
//! grid of work-items on [`Buffer`]s:
//!
//! ```
//! use gcnjit::{Device, Module};
//!
//! # fn main() -> Result<(), gcnjit::Error> {
//! let device = Device::new()?;
//! let module = Module::open(&device, "kernels/saxpy/saxpy.gfx900.co")?;
//! let saxpy = module.kernel("saxpy")?;
//!
//! let x = device.buffer_from(&[1.0f32; 1000])?;
//! let y = device.buffer_from(&[0.5f32; 1000])?;
//! let stats = saxpy.launch().grid(1000).block(256).arg(&x).arg(&y).arg(2.0f32).arg(1000u32).run()?;
//!
//! assert_eq!(y.read(), [2.5; 1000]);
//! assert_eq!(stats.waves, 16);
//! # Ok(())
//! # }
//! ```
//!
//! [`Kernel::args`] tells what a kernel takes. Kind and size of each argument are checked, and for scalars whether it is
//! a floating-point number or an integer, where the file knows it. Structs and vectors go in as bytes, LDS by its size:
//!
//! ```
//! use gcnjit::rt::code_object::ArgKind;
//! # use gcnjit::{Arg, Device, Module};
//!
//! # fn main() -> Result<(), gcnjit::Error> {
//! # let device = Device::new()?;
//! let reduction = Module::open(&device, "kernels/reduction/reduction.gfx803.co")?.kernel("reduction")?;
//! let kinds: Vec<ArgKind> = reduction.args().map(|arg| arg.kind).collect();
//! assert_eq!(kinds, [ArgKind::Buffer, ArgKind::Buffer, ArgKind::DynamicLds]);
//!
//! let (x, sums) = (device.buffer_from(&[0.5f32; 512])?, device.buffer::<f32>(2)?);
//! let launch = reduction.launch().grid(512).block(256).arg(&x).arg(&sums);
//! let error = launch.clone().arg(1024u32).run().unwrap_err();
//! assert!(error.to_string().contains("a value was given, it is an LDS pointer"));
//!
//! let stats = launch.arg(Arg::lds(1024)).run()?;
//! assert_eq!(sums.read(), [128.0; 2]);
//! println!("{} waves in {:?}, {:?} of it translation", stats.waves, stats.time, stats.translation);
//! # Ok(())
//! # }
//! ```
//!
//! A launch is over when [`Launch::run`] returns; host threads may run any number of them at the same time on a device.
//! A [`Queue`] runs launches in order on a thread of its own, and an [`Event`] tells when one is over.
//! What kernels print goes to stdout, or to who is given to [`Launch::printf`].
//!
//! Every memory access of a kernel is checked. A bad one ends its launch with [`Error::Fault`]; process, device and
//! the other buffers stay as they are:
//!
//! ```
//! # use gcnjit::{Arg, Device, Error, Module};
//! # fn main() -> Result<(), Error> {
//! # let device = Device::new()?;
//! # let saxpy = Module::open(&device, "kernels/saxpy/saxpy.gfx900.co")?.kernel("saxpy")?;
//! let null = Arg::pointer(0);
//! let error = saxpy.launch().grid(64).block(64).arg(null.clone()).arg(null).arg(2.0f32).arg(64u32).run().unwrap_err();
//! assert!(matches!(error, Error::Fault(_)));
//! assert!(error.to_string().contains("saxpy.gfx900.co: saxpy: access through a null pointer"));
//! # Ok(())
//! # }
//! ```
//!
//! For those who test compilers, translators or this one, [`lockstep`] holds both engines against each other piece by
//! piece, [`Observed`] lets an observer see every instruction of a launch, and [`fidelity`] follows results that are not
//! exact.
//!
//! The parts underneath are crates of their own: [`isa`] (instructions), [`rt`] (what a machine has beside them),
//! [`interp`] (the interpreter).

#![forbid(unsafe_code)]

mod arg;
mod buffer;
mod check;
mod device;
pub mod error;
pub mod fidelity;
mod global;
pub mod image;
mod launch;
mod listing;
pub mod lockstep;
mod module;
mod names;
mod observed;
mod queue;
mod shader;
mod source;

pub use arg::Arg;
pub use buffer::Buffer;
pub use check::{Difference, What};
pub use device::{Device, DeviceOptions};
pub use error::{Error, Interrupted, Stuck};
pub use gcnjit_interp as interp;
pub use gcnjit_isa as isa;
pub use gcnjit_isa::Target;
pub use gcnjit_rt as rt;
pub use gcnjit_rt::ShaderWave;
pub use gcnjit_rt::code_object::raw::RawCode;
pub use gcnjit_rt::export::{Export, Given, Message};
pub use gcnjit_rt::printf::Printed;
pub use gcnjit_translate::listing::Form;
pub use gcnjit_translate::{Counts, JitStats, Stages, profile};
pub use global::Global;
pub use launch::{Dims, Engine, Launch, Prepared, Print, Stats};
pub use listing::Listing;
pub use module::{Kernel, Module};
pub use names::Names;
pub use observed::{Observed, Observer};
pub use queue::{Event, Finished, Queue};
pub use shader::{ExportSink, ShaderLaunch};
