//! What a GCN instruction is: the opcode table, decoding, encoding and text. Nothing here executes anything.
//!
//! [`Op`] names a row of the [`table`]; [`Decoder`] turns words into [`Inst`]s for a [`Target`].

pub mod asm;
pub mod decode;
pub mod disas;
pub mod encode;
pub mod facts;
pub mod gfx;
pub mod inst;
pub mod op;
pub mod operand;
pub mod table;

pub use decode::{DecodeError, Decoder};
pub use encode::{EncodeError, encode};
pub use facts::{Counters, Encoding, Memory, Second, Space};
pub use gfx::{Feature, Gen, Target};
pub use inst::{Dpp, Ext, Format, Inst, Mem, Mods, Sdwa, Sel, Unused};
pub use op::{Access, Code, Fidelity, Implicit, Note, OpInfo};
pub use operand::{Operand, Ty};
pub use table::*;
