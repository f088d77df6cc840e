//! Why a wave can't go on.

use crate::code_object::Service;
use crate::image::Unsupported;
use gcnjit_isa::{DecodeError, Op};

/// What was wrong with an access or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// No allocation and no imported range holds all bytes of the access.
    #[error("access to unmapped memory")]
    Unmapped,
    /// The address is below the first page.
    #[error("access through a null pointer")]
    Null,
    /// An access beyond the scratch of its wave, where nothing is mapped for some way.
    #[error("stack overflow: access beyond the wave's scratch")]
    StackOverflow,
    /// An access through a hidden argument that this runtime has nothing for.
    #[error("access through the hidden argument {}, which is not supplied", .0.argument())]
    Absent(Service),
    /// A write to memory that was given read-only.
    #[error("write to read-only memory")]
    ReadOnly,
    /// An atomic on an address that is not a multiple of its size.
    #[error("misaligned atomic")]
    Misaligned,
    /// The program counter left the code.
    #[error("jump outside of the code")]
    BadJump,
    /// An instruction that asks for a trap handler.
    #[error("trap")]
    TrapInstruction,
    /// The wave halted itself; the host would have to resume it.
    #[error("halt")]
    Halt,
    /// A wait, for other waves or in their order, that no wave of the dispatch is left to end.
    #[error("a wait that nothing in the dispatch can end")]
    Deadlock,
    /// The instruction is one of those that no document gives a meaning.
    #[error("an instruction without a documented meaning")]
    Undocumented,
    /// An access through an image descriptor that describes something that is not supported.
    #[error("image: {0}")]
    Image(Unsupported),
    /// An export, or a message of a geometry shader, by a wave that is not a shader's.
    #[error("an export or a message outside of a shader")]
    NoSink,
}

/// What stopped a wave, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// A memory access or jump that the guest may not make.
    #[error("{cause} at address {address:#x}, lane {lane}, pc {pc:#x}")]
    Fault {
        /// What was wrong.
        cause: Cause,
        /// The first bad address, of the lowest lane that has one.
        address: u64,
        /// That lane; 0 for scalar accesses.
        lane: u32,
        /// Guest address of the instruction.
        pc: u64,
    },
    /// The table knows the instruction, the executors do not.
    #[error("unimplemented instruction {} at pc {pc:#x}: {what}", op.info().name)]
    Unimplemented {
        /// The operation.
        op: Op,
        /// Guest address of the instruction.
        pc: u64,
        /// The instruction, or the form of it that is missing.
        what: &'static str,
    },
    /// The host's code generator refused what the translator made of the code at `pc`.
    #[error("no host code for the unit at pc {pc:#x}: {what}")]
    Host {
        /// Guest address of the unit's entry.
        pc: u64,
        /// What the code generator says.
        what: String,
    },
    /// The words at `pc` are no instruction.
    #[error("{error} at pc {pc:#x}")]
    Decode {
        /// What is wrong with them.
        error: DecodeError,
        /// Guest address of the instruction.
        pc: u64,
    },
}

impl Trap {
    /// Guest address of the instruction that stopped the wave.
    pub fn pc(&self) -> u64 {
        match self {
            Trap::Fault { pc, .. }
            | Trap::Unimplemented { pc, .. }
            | Trap::Host { pc, .. }
            | Trap::Decode { pc, .. } => *pc,
        }
    }
}
