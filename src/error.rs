//! What can go wrong, with the names of file and kernel in it.

use crate::check::Difference;
use crate::module::Kernel;
use gcnjit_rt::image::Unsupported;
use gcnjit_rt::memory::MemoryError;
use gcnjit_rt::printf::BadRecord;
use gcnjit_rt::{ArgError, DispatchError, Fault, LoadError, Stopped, Trap};
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
    /// A kernel wrote something to the printf buffer that no printf writes.
    #[error("{file}: {kernel}: {source}")]
    Printf {
        /// The kernel's file.
        file: String,
        /// The kernel.
        kernel: String,
        /// What is wrong in the buffer.
        source: BadRecord,
    },
    /// A kernel that can't be shown, because it can't be translated.
    #[error("{file}: {kernel}: {source}")]
    Listing {
        /// The kernel's file.
        file: String,
        /// The kernel.
        kernel: String,
        /// What is in the way.
        source: Box<Trap>,
    },
    /// A deadline passed or a launch was cancelled.
    #[error(transparent)]
    Stopped(Box<Interrupted>),
    /// Translator and interpreter disagree.
    #[error(transparent)]
    Difference(Box<Difference>),
    /// An image that a processor's descriptors can't describe.
    #[error("image: {0}")]
    Image(#[from] Unsupported),
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

/// Where a launch was when it was stopped from outside, and by what.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// The kernel's file.
    pub file: String,
    /// The instruction's offset from the kernel's first, in bytes.
    pub offset: i64,
    /// Kernel, instruction, work-group and whether it was a deadline.
    pub stopped: Stopped,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { file, offset, fault } = self;
        write!(f, "{file}: {fault}, at {}{}", fault.kernel, Signed(*offset))
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interrupted { file, offset, stopped } = self;
        write!(f, "{file}: {stopped}, at {}{}", stopped.kernel, Signed(*offset))
    }
}

/// An offset that is written with its sign.
struct Signed(i64);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        write!(f, "{sign}{:#x}", self.0.unsigned_abs())
    }
}

impl std::error::Error for Interrupted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.stopped)
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

    pub(crate) fn printf(kernel: &Kernel, source: BadRecord) -> Error {
        Error::Printf { file: kernel.module().name().to_owned(), kernel: kernel.name().to_owned(), source }
    }

    pub(crate) fn dispatch(kernel: &Kernel, error: DispatchError) -> Error {
        let file = kernel.module().name().to_owned();
        let offset_of = |pc: u64| pc.wrapping_sub(kernel.raw().entry()) as i64;
        match error {
            DispatchError::Fault(fault) => {
                let offset = offset_of(fault.trap.pc());
                let wrap = match fault.trap {
                    Trap::Fault { .. } => Error::Fault,
                    Trap::Unimplemented { .. } => Error::Unimplemented,
                    Trap::Decode { .. } => Error::Decode,
                    Trap::Host { .. } => Error::Host,
                };
                wrap(Box::new(Stuck { file, offset, fault: *fault }))
            }
            DispatchError::Stopped(stopped) => {
                let offset = offset_of(stopped.pc);
                Error::Stopped(Box::new(Interrupted { file, offset, stopped: *stopped }))
            }
            source => Error::Launch { file, source },
        }
    }
}
