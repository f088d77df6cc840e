//! What a GCN machine has beside its instructions: wave state, memory, LDS, code objects, dispatch.

pub mod buffer;
pub mod clock;
pub mod code_object;
pub mod dispatch;
pub mod engine;
pub mod fault;
pub mod gds;
pub mod geometry;
pub mod gws;
pub mod hardware;
pub mod image;
pub mod import;
pub mod kernarg;
pub mod lds;
pub mod math;
pub mod memory;
pub mod order;
pub mod packet;
mod pages;
pub mod pool;
pub mod printf;
pub mod register_file;
mod resources;
pub mod screen;
mod setup;
pub mod wave;

pub use code_object::{Image, Kernel, KernelCode, LoadError, Loaded};
pub use dispatch::{DispatchError, Fault, Launch, Options, Stats, Stopped, Stopper, dispatch};
pub use engine::{Engine, Env, Stop, Wait, WaitFor};
pub use fault::{Cause, Trap};
pub use geometry::Geometry;
pub use hardware::Hardware;
pub use kernarg::{ArgError, Kernarg, Value};
pub use memory::{Allocation, Cursor, Memory, MemoryError, View};
pub use register_file::RegisterFile;
pub use wave::{Denormals, LANES, Mode, Round, Row, Wave};
