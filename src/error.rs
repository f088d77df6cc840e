//! What can go wrong, with the names of file and kernel in it.

use crate::check::Difference;
use crate::module::Kernel;
use gcnjit_rt::memory::MemoryError;
use gcnjit_rt::{ArgError, DispatchError, Fault, LoadError, Trap};
use std::fmt;
use std::io;

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that can't be read.
    #[error("{file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the host says.
        source: io::Error,
    },
    /// A file that is not a code object that can be run, or lacks the kernel asked for.
    #[error("{file}: {source}")]
    Load {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: LoadError,
    },
    /// Arguments or a grid that don't fit the kernel.
    #[error("{file}: {kernel}: {source}")]
    Arg {
        /// The kernel's file.
        file: String,
        /// The kernel.
        kernel: String,
        /// What does not fit.
        source: ArgError,
    },
    /// A launch that the kernel or the device can't do.
    #[error("{file}: {source}")]
    Launch {
        /// The kernel's file.
        file: String,
        /// Why not.
        source: DispatchError,
    },
    /// A wave did what it may not do.
    #[error(transparent)]
    Fault(Box<Stuck>),
    /// A wave came to an instruction, or a form of one, that the engine does not know.
    #[error(transparent)]
    Unimplemented(Box<Stuck>),
    /// A wave came to words that are no instruction.
    #[error(transparent)]
    Decode(Box<Stuck>),
    /// The host's code generator refused a kernel.
    #[error(transparent)]
    Host(Box<Stuck>),
    /// A deadline passed or a launch was cancelled.
    #[error("{file}: {kernel}: stopped before its end, by a deadline or a cancellation")]
    Stopped {
        /// The kernel's file.
        file: String,
        /// The kernel.
        kernel: String,
    },
    /// Translator and interpreter disagree.
    #[error(transparent)]
    Difference(Box<Difference>),
    /// Device memory is used up, or the host refused it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Where a wave got stuck, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The kernel's file.
    pub file: String,
    /// The instruction's offset from the kernel's first, in bytes.
    pub offset: i64,
    /// Kernel, instruction, work-group and cause.
    pub fault: Fault,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { file, offset, fault } = self;
        let sign = if *offset < 0 { '-' } else { '+' };
        write!(f, "{file}: {fault}, at {}{sign}{:#x}", fault.kernel, offset.unsigned_abs())
    }
}

impl std::error::Error for Stuck {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

impl Error {
    pub(crate) fn arg(kernel: &Kernel, source: ArgError) -> Error {
        Error::Arg { file: kernel.module().name().to_owned(), kernel: kernel.name().to_owned(), source }
    }

    pub(crate) fn dispatch(kernel: &Kernel, error: DispatchError) -> Error {
        let file = kernel.module().name().to_owned();
        match error {
            DispatchError::Fault(fault) => {
                let offset = fault.trap.pc().wrapping_sub(kernel.raw().entry()) as i64;
                let wrap = match fault.trap {
                    Trap::Fault { .. } => Error::Fault,
                    Trap::Unimplemented { .. } => Error::Unimplemented,
                    Trap::Decode { .. } => Error::Decode,
                    Trap::Host { .. } => Error::Host,
                };
                wrap(Box::new(Stuck { file, offset, fault: *fault }))
            }
            DispatchError::Cancelled => Error::Stopped { file, kernel: kernel.name().to_owned() },
            source => Error::Launch { file, source },
        }
    }
}
