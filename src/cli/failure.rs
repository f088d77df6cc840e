//! Failures of a subcommand: what to say, and the exit code.

use gcnjit::Error;
use gcnjit::rt::{ArgError, DispatchError, LoadError};

/// A difference between the engines, or a fault.
pub const FAULT: u8 = 1;
/// Arguments that can't be, or files that can't be read or written.
pub const USAGE: u8 = 2;
/// Input that this program does not support.
pub const UNSUPPORTED: u8 = 3;

/// Why a subcommand ends early.
#[derive(Debug)]
pub struct Failure {
    /// The process's exit code.
    pub code: u8,
    /// What stderr gets to read.
    pub message: String,
}

impl Failure {
    /// A mistake in the arguments, or a file that can't be read or written.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { code: USAGE, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { code: code(&error), message: error.to_string() }
    }
}

fn code(error: &Error) -> u8 {
    match error {
        Error::Fault(_) | Error::Difference(_) | Error::Printf { .. } | Error::Stopped(_) => FAULT,
        Error::Load { source: LoadError::Raw(_), .. } => USAGE,
        Error::Load { source: LoadError::NoKernel { .. } | LoadError::NoPart { wanted: Some(_), .. }, .. } => USAGE,
        Error::Read { .. } | Error::Memory(_) | Error::Image(_) => USAGE,
        Error::Load { .. } | Error::Listing { .. } | Error::Unimplemented(_) | Error::Decode(_) | Error::Host(_) => {
            UNSUPPORTED
        }
        Error::Arg { source: ArgError::NotDescribed | ArgError::Layout { .. } | ArgError::Missing(_), .. } => {
            UNSUPPORTED
        }
        Error::Launch { source: DispatchError::Scratch { .. }, .. } => UNSUPPORTED,
        Error::Arg { .. } | Error::Launch { .. } => USAGE,
    }
}
