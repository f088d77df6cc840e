//! Queues: launches that run one after the other while their host thread does something else.

use crate::error::Error;
use crate::launch::{Prepared, Stats};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Launches in order, on a thread of its own: each sees the memory that the one before left, failed or not.
///
/// It lives in a scope of threads, so that launches may borrow what is outside of the scope. Dropping it lets what was
/// submitted run to its end, which the end of the scope waits for. Any thread may submit; launches of several queues run
/// at the same time, and share the device's threads.
///
/// ```
/// use gcnjit::{Device, Module, Queue};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let saxpy = Module::open(&device, "kernels/saxpy/saxpy.gfx900.co")?.kernel("saxpy")?;
/// let (x, y) = (device.buffer_from(&[1.0f32; 640])?, device.buffer::<f32>(640)?);
/// let add = saxpy.launch().grid(640).arg(&x).arg(&y).arg(2.0f32).arg(640u32).prepare()?;
///
/// let finished = std::thread::scope(|scope| {
///     let queue = Queue::new(scope)?;
///     queue.submit(add.clone());
///     let last = queue.submit(add.clone());
///     // The host does something else here.
///     Ok::<_, Box<dyn std::error::Error>>(last.wait()?)
/// })?;
///
/// assert_eq!(y.read(), [4.0; 640]);
/// println!("{:?} in the queue, {:?} running", finished.queued, finished.stats.time);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Queue<'scope> {
    tasks: Sender<Task<'scope>>,
}

/// A launch that was submitted.
#[derive(Debug)]
pub struct Event {
    outcome: Receiver<Result<Finished, Error>>,
    over: Arc<AtomicBool>,
}

/// How a launch of a queue went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What it did.
    pub stats: Stats,
    /// From its submission until it started.
    pub queued: Duration,
    /// From its submission until it was over.
    pub total: Duration,
}

#[derive(Debug)]
struct Task<'scope> {
    launch: Prepared<'scope>,
    submitted: Instant,
    outcome: SyncSender<Result<Finished, Error>>,
    over: Arc<AtomicBool>,
}

impl<'scope> Queue<'scope> {
    /// An empty queue.
    ///
    /// # Errors
    /// If the host has no thread for it.
    pub fn new<'env>(scope: &'scope Scope<'scope, 'env>) -> io::Result<Queue<'scope>> {
        let (tasks, submitted) = channel::<Task<'scope>>();
        let work = move || submitted.into_iter().for_each(Task::run);
        Builder::new().name("gcnjit-queue".to_owned()).spawn_scoped(scope, work)?;
        Ok(Queue { tasks })
    }

    /// Has a launch run after those that were submitted before.
    ///
    /// # Panics
    /// If an earlier launch of the queue has panicked, which is a mistake of this crate or of a sink of printf's.
    pub fn submit(&self, launch: Prepared<'scope>) -> Event {
        let (sender, outcome) = sync_channel(1);
        let over = Arc::new(AtomicBool::new(false));
        let task = Task { launch, submitted: Instant::now(), outcome: sender, over: over.clone() };
        self.tasks.send(task).expect("a queue's thread lives as long as the queue");
        Event { outcome, over }
    }
}

impl Task<'_> {
    fn run(self) {
        let queued = self.submitted.elapsed();
        let stats = self.launch.run();
        let total = self.submitted.elapsed();
        // Nobody may be waiting for it.
        let _ = self.outcome.send(stats.map(|stats| Finished { stats, queued, total }));
        self.over.store(true, Release);
    }
}

impl Event {
    /// Whether the launch is over.
    pub fn is_over(&self) -> bool {
        self.over.load(Acquire)
    }

    /// Waits until the launch is over.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    ///
    /// # Panics
    /// If the launch panicked.
    pub fn wait(self) -> Result<Finished, Error> {
        self.outcome.recv().expect("a launch of the queue panicked")
    }
}
