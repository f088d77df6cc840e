//! Deadlines.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often another flag is looked at.
const PERIOD: Duration = Duration::from_millis(5);

/// Calls `run` with a flag that is set when `deadline` has passed or `cancel` is set.
pub(crate) fn with_deadline<R>(
    deadline: Duration,
    cancel: Option<&AtomicBool>,
    run: impl FnOnce(&AtomicBool) -> R,
) -> R {
    let flag = AtomicBool::new(false);
    let (done, finished) = channel();
    thread::scope(|scope| {
        // Dropping `done`, also in a panic, ends the watcher.
        let _done = done;
        let flag = &flag;
        scope.spawn(move || watch(deadline, cancel, flag, &finished));
        run(flag)
    })
}

fn watch(deadline: Duration, cancel: Option<&AtomicBool>, flag: &AtomicBool, finished: &Receiver<()>) {
    let start = Instant::now();
    let cancelled = || cancel.is_some_and(|cancel| cancel.load(Relaxed));
    while !cancelled() {
        let Some(left) = deadline.checked_sub(start.elapsed()) else { break };
        let wait = if cancel.is_some() { left.min(PERIOD) } else { left };
        if finished.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
    flag.store(true, Relaxed);
}
