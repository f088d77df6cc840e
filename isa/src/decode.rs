//! Words to instructions.

use crate::gfx::Target;
use crate::inst::Inst;

/// Why words are not an instruction of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The buffer ends inside the instruction.
    #[error("instruction {word:#010x} is cut off by the end of the code")]
    Truncated {
        /// First word.
        word: u32,
    },
    /// The encoding has no such opcode on this target.
    #[error("{word:#010x}: {target} has no {encoding} opcode {opcode:#x}")]
    Opcode {
        /// First word.
        word: u32,
        /// The processor.
        target: Target,
        /// The encoding, as the manual names it.
        encoding: &'static str,
        /// The opcode field.
        opcode: u16,
    },
    /// An operand code that is reserved, or not allowed in its place.
    #[error("{word:#010x}: operand code {code} is reserved")]
    Operand {
        /// First word.
        word: u32,
        /// The operand code.
        code: u16,
    },
    /// No encoding starts with these bits.
    #[error("{word:#010x}: no encoding starts with these bits")]
    Encoding {
        /// First word.
        word: u32,
    },
}

/// A decoder for one target. Cheap to copy: the tables behind it are built once a target.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    target: Target,
}

impl Decoder {
    /// A decoder for `target`.
    pub fn new(target: Target) -> Decoder {
        Decoder { target }
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Decodes the instruction at the start of `code`.
    pub fn decode(&self, code: &[u32]) -> Result<Inst, DecodeError> {
        let word = *code.first().ok_or(DecodeError::Truncated { word: 0 })?;
        Err(DecodeError::Encoding { word })
    }
}
