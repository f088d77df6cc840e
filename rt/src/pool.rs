//! Helper threads, kept between dispatches.
//!
//! [`Pool::with_help`] runs one function on the calling thread, and on pool threads beside it once the caller asks for
//! them. The caller never waits for a helper that has not begun: when it is done, those are sent away. So a dispatch
//! goes on at least as fast as its own thread can, whatever the others that share the pool do.
//!
//! Threads are started when they are first wanted and end with the pool. A thread that waits for another looks for some
//! time whether it still has to before it sleeps: to be woken takes longer than many a small grid, and who launches one
//! kernel mostly launches another soon. While it looks, it leaves the processor to whoever wants it, and on the caller's it
//! does not look at all.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Threads that several callers share. Dropping it waits for them to end.
#[derive(Default)]
pub struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// How long a thread looks before it sleeps. The host may take a tenth of it to wake one on an idle processor.
const PATIENCE: Duration = Duration::from_millis(1);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Counts what threads wait for: calls, helpers that leave one, and the end of the pool.
    events: AtomicUsize,
    /// How many threads look whether something has happened.
    looking: AtomicUsize,
    /// The processor that the last caller was on when it called.
    caller: AtomicUsize,
    /// There is a call, or the pool closes.
    wanted: Condvar,
    /// A helper has left a call.
    left: Condvar,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    next_id: u64,
    closed: bool,
}

/// A function that helpers may run beside its caller.
struct Call {
    id: u64,
    work: Work,
    /// Numbers of the helpers that have not begun.
    free: Range<usize>,
    running: usize,
    panic: Option<Box<dyn Any + Send>>,
}

/// What helpers are called with: their number, from 1 on.
type Work = &'static (dyn Fn(usize) + Sync);

impl Shared {
    /// Nothing that holds the lock can panic halfway.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that something has happened that threads wait for, and wakes those that sleep until then.
    fn tell(&self, state: MutexGuard<'_, State>, sleepers: &Condvar) {
        self.events.fetch_add(1, Release);
        drop(state);
        sleepers.notify_all();
    }

    /// Waits until something has happened, first awake as long as it may; `sleepers` are those that are told of it.
    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        sleepers: &Condvar,
        may_look: impl Fn() -> bool,
    ) -> MutexGuard<'a, State> {
        let seen = self.events.load(Relaxed);
        drop(state);
        self.looking.fetch_add(1, Relaxed);
        let since = Instant::now();
        while self.events.load(Acquire) == seen && may_look() && since.elapsed() < PATIENCE {
            // Another thread may need this processor for what is waited for.
            thread::yield_now();
        }
        self.looking.fetch_sub(1, Relaxed);
        let state = self.lock();
        if self.events.load(Relaxed) != seen {
            return state;
        }
        sleepers.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// What a pool thread does.
    fn serve(&self) {
        let mut state = self.lock();
        while !state.closed {
            let Some(call) = state.calls.iter_mut().find(|call| !call.free.is_empty()) else {
                // On the caller's processor it would stay there, and help nobody. Who sleeps is woken on an idle one.
                let is_elsewhere = || rustix::thread::sched_getcpu() != self.caller.load(Relaxed);
                state = self.wait(state, &self.wanted, is_elsewhere);
                continue;
            };
            let (id, work, index) = (call.id, call.work, call.free.start);
            call.free.start += 1;
            call.running += 1;
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(|| work(index)));
            state = self.lock();
            let call = state.calls.iter_mut().find(|call| call.id == id).expect("a call stays while a helper is in it");
            call.running -= 1;
            call.panic = call.panic.take().or(outcome.err());
            self.tell(state, &self.left);
            state = self.lock();
        }
    }

    /// Ends a call: waits for the helpers in it, and returns the panic of one.
    fn end(&self, id: u64) -> Option<Box<dyn Any + Send>> {
        let mut state = self.lock();
        loop {
            let position = state.calls.iter().position(|call| call.id == id)?;
            let call = &mut state.calls[position];
            call.free = 0..0;
            if call.running == 0 {
                return state.calls.swap_remove(position).panic;
            }
            state = self.wait(state, &self.left, || true);
        }
    }
}

impl Pool {
    /// A pool without threads yet.
    pub fn new() -> Pool {
        Pool::default()
    }

    /// Runs `caller` here and returns what it does. From [`Help::call`] on, up to `count` pool threads run `helper`
    /// meanwhile, with numbers from 1 to `count`. Those that have begun are waited for; a panic of one is passed on.
    pub fn with_help<R>(
        &self,
        count: usize,
        helper: &(dyn Fn(usize) + Sync),
        caller: impl FnOnce(&Help<'_>) -> R,
    ) -> R {
        let mut help = Help { pool: self, count, helper, id: Cell::new(None) };
        let result = caller(&help);
        if let Some(panic) = help.end() {
            resume_unwind(panic);
        }
        result
    }

    /// Starts threads until there are `count`.
    fn grow(&self, count: usize) -> io::Result<()> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        while threads.len() < count {
            let shared = self.shared.clone();
            let name = format!("gcnjit-{}", threads.len() + 1);
            threads.push(thread::Builder::new().name(name).spawn(move || shared.serve())?);
        }
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        self.shared.tell(state, &self.shared.wanted);
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // What a helper panics with has gone to its caller.
            let _ = thread.join();
        }
    }
}

/// How the caller of [`Pool::with_help`] gets help.
pub struct Help<'a> {
    pool: &'a Pool,
    count: usize,
    helper: &'a (dyn Fn(usize) + Sync),
    /// The call, once it was made.
    id: Cell<Option<u64>>,
}

impl Help<'_> {
    /// Calls the helpers; once is enough.
    ///
    /// # Errors
    /// If the host grants no more threads.
    pub fn call(&self) -> io::Result<()> {
        if self.count == 0 || self.id.get().is_some() {
            return Ok(());
        }
        self.pool.grow(self.count)?;
        // SAFETY: only the lifetime changes. A helper uses `work` while it counts as running, and `end`, which nobody
        // who has a `Help` can keep `with_help` from calling before the borrow ends, waits until none is.
        let work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Work>(self.helper) };
        self.pool.shared.caller.store(rustix::thread::sched_getcpu(), Relaxed);
        let mut state = self.pool.shared.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.calls.push(Call { id, work, free: 1..self.count + 1, running: 0, panic: None });
        self.pool.shared.tell(state, &self.pool.shared.wanted);
        self.id.set(Some(id));
        Ok(())
    }

    /// Whether a helper would come at once, since it has just left another call. It may be wrong.
    pub fn is_near(&self) -> bool {
        self.pool.shared.looking.load(Relaxed) > 0
    }

    fn end(&mut self) -> Option<Box<dyn Any + Send>> {
        self.id.take().and_then(|id| self.pool.shared.end(id))
    }
}

impl Drop for Help<'_> {
    fn drop(&mut self) {
        // Something is left to do here only if the caller panics; that panic is the one that is passed on.
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn helpers_run_beside_the_caller_with_numbers_of_their_own() {
        let pool = Pool::new();
        for _ in 0..20 {
            let (together, sum) = (Barrier::new(4), AtomicUsize::new(0));
            let helper = |index: usize| {
                sum.fetch_add(1usize << (8 * index), Relaxed);
                together.wait();
            };
            let result = pool.with_help(3, &helper, |help| {
                help.call().unwrap();
                together.wait();
                7
            });
            assert_eq!((result, sum.into_inner()), (7, 1 << 8 | 1 << 16 | 1 << 24));
        }
        assert_eq!(pool.threads.lock().unwrap().len(), 3);
    }

    #[test]
    fn a_helper_is_near_for_some_time_after_a_call() {
        let pool = Pool::new();
        let begun = Barrier::new(2);
        let helper = |_| {
            begun.wait();
        };
        let was_near = || {
            pool.with_help(1, &helper, |help| {
                let near = help.is_near();
                help.call().unwrap();
                begun.wait();
                near
            })
        };
        assert!(!was_near());
        // Where there is one processor for both, nobody looks.
        let is_alone = thread::available_parallelism().is_ok_and(|count| count.get() == 1);
        assert!(is_alone || (0..10_000).any(|_| was_near()));
    }

    #[test]
    fn nobody_helps_who_was_not_called() {
        let pool = Pool::new();
        assert_eq!(pool.with_help(4, &|_| panic!("not called"), |_| 1), 1);
        assert!(pool.threads.lock().unwrap().is_empty());
    }

    #[test]
    fn a_caller_does_not_wait_for_helpers_that_are_busy_elsewhere() {
        let pool = Pool::new();
        let (begun, finish) = (Barrier::new(2), Barrier::new(2));
        let busy = |_| {
            begun.wait();
            finish.wait();
        };
        pool.with_help(1, &busy, |help| {
            help.call().unwrap();
            begun.wait();
            // The only helper is in `busy` until `finish`.
            pool.with_help(1, &|_| unreachable!(), |help| help.call().unwrap());
            finish.wait();
        });
    }

    #[test]
    fn a_panic_of_a_helper_is_passed_on_and_the_pool_survives() {
        let pool = Pool::new();
        let begun = Barrier::new(2);
        let helper = |_| {
            begun.wait();
            panic!("of a helper");
        };
        let run = || {
            pool.with_help(1, &helper, |help| {
                help.call().unwrap();
                begun.wait();
            });
        };
        for _ in 0..2 {
            let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"of a helper"));
        }
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_helpers_too() {
        let pool = Pool::new();
        let (begun, running) = (Barrier::new(2), AtomicUsize::new(0));
        let helper = |_| {
            running.fetch_add(1, Relaxed);
            begun.wait();
            thread::sleep(Duration::from_millis(20));
            running.fetch_sub(1, Relaxed);
        };
        let run = || {
            pool.with_help(1, &helper, |help| {
                help.call().unwrap();
                begun.wait();
                panic!("of the caller");
            })
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!((panic.downcast_ref(), running.into_inner()), (Some(&"of the caller"), 0));
    }
}
