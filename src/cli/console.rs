//! What kernels print: it goes to stdout, and the report after it starts on a line of its own.

use crate::cli::failure::Failure;
use crate::cli::write;
use gcnjit::Print;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Passes messages of kernels on to stdout while it is open.
#[derive(Default)]
pub struct Console(Mutex<State>);

#[derive(Default)]
struct State {
    open: bool,
    /// The last message did not end its line.
    open_line: bool,
    /// The first failure of stdout.
    failure: Option<Failure>,
}

impl Console {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what is printed from now on.
    pub fn open(&self) {
        self.state().open = true;
    }

    /// Drops what is printed from now on, as repetitions say the same again; ends the last line, and says whether stdout
    /// took everything.
    pub fn close(&self) -> Result<(), Failure> {
        let mut state = self.state();
        state.open = false;
        match state.failure.take() {
            Some(failure) => Err(failure),
            None if std::mem::take(&mut state.open_line) => write(b"\n"),
            None => Ok(()),
        }
    }
}

impl Print for Console {
    fn print(&self, text: &[u8]) {
        let mut state = self.state();
        if state.open && state.failure.is_none() {
            state.open_line = text.last().map_or(state.open_line, |byte| *byte != b'\n');
            state.failure = write(text).err();
        }
    }
}
