//! A progress bar for those who wait at a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_millis(200);

/// Counts launches, and shows them on stderr from the first second on if that is a terminal. It draws from a thread of
/// its own, so that counting costs a timed run nothing.
pub struct Progress {
    done: Arc<AtomicU64>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Progress towards `total` launches.
    pub fn new(total: u64) -> Progress {
        let done = Arc::new(AtomicU64::new(0));
        let drawing = stderr().is_terminal().then(|| {
            let (stop, stopped) = channel();
            let done = done.clone();
            (stop, thread::spawn(move || draw(total, &done, &stopped)))
        });
        Progress { done, drawing }
    }

    /// One launch more is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.drawing.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

fn draw(total: u64, done: &AtomicU64, stopped: &Receiver<()>) {
    let waits = |time| stopped.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
    if !waits(PATIENCE) {
        return;
    }
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:40} {pos}/{len} launches, {elapsed}, {eta} to go") {
        bar.set_style(style);
    }
    bar.set_position(done.load(Relaxed));
    while waits(PERIOD) {
        bar.set_position(done.load(Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}
