//! Why a dispatch did not run, or not to its end, and where.

use crate::fault::Trap;
use crate::geometry::GeometryError;
use crate::memory::{MemoryError, View};
use crate::shader::ShaderError;
use crate::wave::Wave;
use gcnjit_isa::{Decoder, Target, disas};
use std::fmt;
use std::io;

/// Where a wave got stuck.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub trap: Trap,
    /// The kernel's name.
    pub kernel: String,
    /// The work-group's coordinates.
    pub group: [u32; 3],
    /// Which wave of the work-group.
    pub wave: u32,
    /// The instruction, disassembled, if there is one at the place.
    pub instruction: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kernel, self.trap)?;
        write_place(f, self.instruction.as_deref(), self.group, self.wave)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.trap)
    }
}

/// Who stopped a dispatch from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopper {
    /// [`Options::deadline`](super::Options::deadline) has passed.
    Deadline,
    /// [`Options::cancel`](super::Options::cancel) was set.
    Cancel,
}

/// Where a dispatch was when it was stopped from outside: at a wave that would have run next.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped {
    /// By whom.
    pub by: Stopper,
    /// The kernel's name.
    pub kernel: String,
    /// The wave's work-group.
    pub group: [u32; 3],
    /// Which wave of the work-group.
    pub wave: u32,
    /// Guest address of the wave's next instruction.
    pub pc: u64,
    /// That instruction, disassembled, if there is one.
    pub instruction: Option<String>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            Stopper::Deadline => "its deadline passed",
            Stopper::Cancel => "it was cancelled",
        };
        write!(f, "{}: {by} before its end, pc {:#x}", self.kernel, self.pc)?;
        write_place(f, self.instruction.as_deref(), self.group, self.wave)
    }
}

impl std::error::Error for Stopped {}

fn write_place(f: &mut fmt::Formatter<'_>, instruction: Option<&str>, [x, y, z]: [u32; 3], wave: u32) -> fmt::Result {
    if let Some(instruction) = instruction {
        write!(f, " ({instruction})")?;
    }
    write!(f, ", work-group ({x}, {y}, {z}), wave {wave}")
}

/// Why a dispatch did not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The grid is impossible.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The kernel was compiled for other work-groups.
    #[error("{kernel}: a work-group of {given:?} work-items was asked for, the kernel was compiled for {expected}")]
    GroupSize {
        /// The kernel's name.
        kernel: String,
        /// The size asked for.
        given: [u32; 3],
        /// What the kernel allows.
        expected: String,
    },
    /// A kernarg segment that is shorter than the kernel's.
    #[error("{kernel}: the kernarg segment has {given} bytes, the kernel reads {expected}")]
    Kernarg {
        /// The kernel's name.
        kernel: String,
        /// Bytes given.
        given: usize,
        /// Bytes the descriptor asks for.
        expected: u32,
    },
    /// More LDS than a work-group can have.
    #[error("{kernel}: {asked} bytes of LDS, a work-group on {target} can have {limit}")]
    Lds {
        /// The kernel's name.
        kernel: String,
        /// Bytes asked for.
        asked: u32,
        /// The processor.
        target: Target,
        /// Bytes that a work-group can have there.
        limit: u32,
    },
    /// More scratch than can be addressed.
    #[error("{kernel}: {lane} bytes of scratch a work-item are too many for {slots} waves at a time")]
    Scratch {
        /// The kernel's name.
        kernel: String,
        /// Bytes asked for.
        lane: u32,
        /// Waves that run at the same time.
        slots: u64,
    },
    /// A shader that can't be launched like this.
    #[error("{kernel}: {what}")]
    Shader {
        /// The shader's name.
        kernel: String,
        /// Why not.
        what: ShaderError,
    },
    /// Guest memory ran out.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The host grants no more threads.
    #[error("starting a thread: {0}")]
    Threads(io::Error),
    /// A wave got stuck.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// A deadline or a cancellation.
    #[error(transparent)]
    Stopped(Box<Stopped>),
}

impl Fault {
    /// The fault of `wave`, which `trap` stopped.
    pub(crate) fn new(trap: Trap, wave: &Wave, kernel: &str, view: &View, target: Target) -> Fault {
        let instruction = disassemble(view, trap.pc(), target);
        Fault { instruction, trap, kernel: kernel.to_owned(), group: wave.group, wave: wave.index }
    }
}

impl Stopped {
    /// A stop that finds `wave` where it is.
    pub(crate) fn new(by: Stopper, wave: &Wave, kernel: &str, view: &View, target: Target) -> Stopped {
        let instruction = disassemble(view, wave.pc, target);
        Stopped { by, kernel: kernel.to_owned(), group: wave.group, wave: wave.index, pc: wave.pc, instruction }
    }
}

/// The text of the instruction at `pc`.
fn disassemble(view: &View, pc: u64, target: Target) -> Option<String> {
    let words: Vec<u32> =
        (0..3).map_while(|i| view.load(pc.checked_add(i * 4)?).ok()).map(u32::from_le_bytes).collect();
    let inst = Decoder::new(target).decode(&words).ok()?;
    Some(disas::text(&inst, target))
}
