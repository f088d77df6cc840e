//! A plain interpreter of GCN instructions: the oracle that the translator is held against.
//!
//! It favours being evidently right. [`run`] fetches and decodes, `dispatch` finds the body of an operation,
//! [`operands`] moves values between registers and bodies, [`fp`] states the floating-point rules, [`exceptions`]
//! what they raise, and one file an encoding family holds the bodies, each named as its row in the table. The translator's `build` directory has the
//! same files with the same functions, in the same order.

pub mod atomic;
mod dispatch;
pub mod exceptions;
pub mod fp;
mod image;
pub mod memory;
pub mod observe;
pub mod operands;
pub mod run;
mod sample;

pub mod ds;
pub mod exp;
pub mod flat;
pub mod gws;
pub mod mimg;
pub mod mtbuf;
pub mod mubuf;
pub mod smem;
pub mod sop1;
pub mod sop2;
pub mod sopc;
pub mod sopk;
pub mod sopp;
pub mod vintrp;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;

pub use observe::{Stepper, Touch};
pub use run::{Interpreter, Worker};
