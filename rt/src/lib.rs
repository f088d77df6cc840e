//! What a GCN machine has beside its instructions: wave state, memory, LDS, code objects, dispatch.

pub mod engine;
pub mod fault;
pub mod gds;
pub mod lds;
pub mod memory;
mod pages;
pub mod wave;

pub use engine::{Engine, Env, Stop};
pub use fault::{Cause, Trap};
pub use wave::{Denormals, LANES, Mode, Round, Row, Wave};
