//! What a GCN instruction is: the opcode table, decoding, encoding and text. Nothing here executes anything.
//!
//! [`Op`] names a row of the [`table`], one for each operation of gfx6, gfx7, gfx8 and gfx9. A [`Decoder`] turns words
//! into [`Inst`]s for a [`Target`], [`disas`] prints those as llvm-mc does, [`asm`] reads the text back, and [`encode()`]
//! gives the words again:
//!
//! ```
//! use gcnjit_isa::{Decoder, Op, Operand, Target, Vop2, asm, disas, encode};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::Gfx900;
//! let code = [0x0200_0501, 0xbf81_0000];
//!
//! let inst = Decoder::new(target).decode(&code)?;
//! assert_eq!(inst.op, Op::Vop2(Vop2::v_add_f32));
//! assert_eq!(inst.src[..2], [Operand::Vgpr(1), Operand::Vgpr(2)]);
//!
//! let text = disas::text(&inst, target);
//! assert_eq!(text, "v_add_f32_e32 v0, v1, v2");
//! assert_eq!(asm::parse(&text, target)?, inst);
//! assert_eq!(encode(&inst, target)?[..], code[..1]);
//! # Ok(())
//! # }
//! ```
//!
//! All operands of a decoded instruction are explicit, so that its consumers need not know in which encoding it came.
//! What a row says of an operation is in its [`OpInfo`], what follows from that in [`facts`]:
//!
//! ```
//! use gcnjit_isa::{Ds, Gen, Implicit, Op};
//!
//! let op = Op::Ds(Ds::ds_read_b64);
//! assert_eq!(op.memory().map(|memory| memory.bytes), Some(8));
//! assert_eq!(op.implicit_reads(Gen::Gfx8), [Implicit::Exec, Implicit::M0]);
//! ```
//!
//! Words that are no instruction of the target are a [`DecodeError`], which names the word:
//!
//! ```
//! # use gcnjit_isa::{Decoder, Target};
//! let error = Decoder::new(Target::Gfx900).decode(&[0xbf9f_0000]).unwrap_err();
//! assert_eq!(error.to_string(), "0xbf9f0000: gfx900 has no SOPP opcode 0x1f");
//! ```

#![forbid(unsafe_code)]

pub mod asm;
pub mod decode;
pub mod disas;
pub mod encode;
pub mod exceptions;
pub mod facts;
pub mod gfx;
pub mod image;
pub mod inst;
pub mod op;
pub mod operand;
pub mod registers;
pub mod table;

pub use decode::{DecodeError, Decoder};
pub use encode::{EncodeError, encode};
pub use exceptions::{Evidence, Exceptions};
pub use facts::{Counters, Encoding, Memory, Second, Space};
pub use gfx::{Feature, Gen, Target};
pub use image::{ImageForm, ImageLevel, ImageShape, ImageWork};
pub use inst::{Dpp, Ext, Format, Inst, Mem, Mods, Sdwa, Sel, Unused};
pub use op::{Access, Code, Fidelity, Implicit, Note, OpInfo};
pub use operand::{Operand, Ty};
pub use registers::Registers;
pub use table::*;
