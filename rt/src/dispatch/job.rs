//! A running dispatch: what its threads do.

use super::error::{DispatchError, Fault, Stopped, Stopper};
use super::group::{Events, Group};
use super::queue::{Alone, Batch, Choice, Hand, Queue};
use super::turn::Turn;
use super::{Launch, Options, Stats};
use crate::engine::{Engine, Env};
use crate::fault::{Cause, Trap};
use crate::geometry::Walk;
use crate::hardware::Hardware;
use crate::lds::Lds;
use crate::memory::View;
use crate::order::Order;
use crate::pool::Help;
use crate::rows::{Filled, RegisterSet};
use crate::setup::{Begun, Items, Setup};
use crate::wave::Wave;
use gcnjit_isa::Target;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the calling thread works alone. Waking helpers and waiting for them takes about as long.
const PATIENCE: Duration = Duration::from_micros(50);
/// The same if a helper is near, or if the grid will take long, by what its first work-groups took.
const LITTLE_PATIENCE: Duration = Duration::from_micros(5);
/// How long a grid takes that is worth to call helpers at once.
const LONG: Duration = Duration::from_micros(200);
/// The longest slice that there is, so that nothing overflows that is counted.
pub(super) const LONGEST_SLICE: u64 = 1 << 40;
/// How many rounds without a yield pass between looks at the clock.
const CLOCK_PERIOD: u32 = 16;
/// How long a thread rests that finds nothing to run.
const REST: Duration = Duration::from_micros(50);

/// A running dispatch, shared by its threads.
pub(super) struct Job<'a, E> {
    pub(super) engine: &'a E,
    pub(super) view: View,
    /// Whether its waves keep TRAPSTS.
    pub(super) exceptions: bool,
    pub(super) hardware: &'a Hardware,
    pub(super) launch: &'a Launch<'a>,
    pub(super) options: &'a Options<'a>,
    /// Roughly how many instructions a wave executes before another has its turn.
    pub(super) slice: u64,
    pub(super) setup: &'a Setup,
    pub(super) target: Target,
    /// Bytes of LDS that a work-group has.
    pub(super) lds: u32,
    pub(super) queue: Queue<'a>,
    pub(super) order: Alone<Order>,
    pub(super) stop: AtomicBool,
    pub(super) outcome: Alone<Mutex<Outcome>>,
    /// How many threads have begun to work.
    pub(super) threads: AtomicUsize,
}

#[derive(Default)]
pub(super) struct Outcome {
    pub(super) stats: Stats,
    pub(super) error: Option<DispatchError>,
}

/// Sets the flag when a thread panics, so that the others end too.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// The dispatch is stopping; the error, if it is this thread's, is in the outcome.
pub(super) struct Stopping;

/// What the calling thread has beside what helpers have.
pub(super) struct Caller<'a> {
    pub(super) help: &'a Help<'a>,
    pub(super) since: Instant,
    /// Work-groups of the grid.
    pub(super) groups: u64,
}

/// What a thread keeps between work-groups.
struct Worker<'a, W> {
    engine: W,
    /// Which registers waves start with; not known before the first one.
    filled: Option<Filled>,
    thread: Thread<'a>,
}

/// The part of it that does not depend on the engine.
pub(super) struct Thread<'a> {
    /// On the calling thread, until it has called for help.
    caller: Option<Caller<'a>>,
    /// Its number among those of the dispatch, from 1 on.
    pub(super) number: usize,
    pub(super) walk: Walk,
    /// Of the work-group that was begun last.
    pub(super) items: Items,
    /// Waves of work-groups that are over which the order has not been told of: all threads write there.
    passed: Range<u64>,
    pub(super) tally: Tally,
}

impl Thread<'_> {
    /// Goes to a work-group of the grid, and returns its coordinates.
    #[inline(always)]
    pub(super) fn go_to(&mut self, linear: u64) -> [u32; 3] {
        let (at, size) = self.walk.to(linear);
        if self.items.size != size {
            self.items = Items::new(size);
        }
        at
    }
}

/// What a thread counts.
#[derive(Default)]
pub(super) struct Tally {
    /// Rounds since the last look at the clock.
    rounds: u32,
    /// What the waves of the work-group have used up of its turn: instructions, or a slice for a wave that gave up the
    /// rest of it.
    pub(super) spent: u64,
    pub(super) stats: Stats,
}

impl Tally {
    #[inline(always)]
    pub(super) fn spend(&mut self, instructions: u64) {
        self.spent += instructions;
    }

    /// Has the clock looked at before the next round.
    #[inline]
    pub(super) fn look_soon(&mut self) {
        self.rounds = CLOCK_PERIOD;
    }
}

impl<'a, E: Engine> Job<'a, E> {
    /// Runs work-groups until there is nothing left for this thread.
    pub(super) fn work(&self, caller: Option<Caller<'a>>) {
        let _guard = StopOnPanic(&self.stop);
        let mut worker = Worker {
            engine: self.engine.worker(),
            filled: None,
            thread: Thread {
                caller,
                number: self.threads.fetch_add(1, Relaxed) + 1,
                walk: Walk::new(&self.launch.geometry),
                items: Items::new(self.launch.geometry.block),
                passed: 0..0,
                tally: Tally::default(),
            },
        };
        let mut hand = None;
        while let Some(Hand { mut group, mut batch }) = self.next_hand(&mut worker.thread, hand) {
            if self.turns(&mut worker, &mut group, &mut batch).is_err() {
                self.queue.abandon(group);
                break;
            }
            hand = Some(Hand { group, batch });
        }
        let mut outcome = self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stats = worker.thread.tally.stats;
        outcome.stats.groups += stats.groups;
        outcome.stats.waves += stats.waves;
        outcome.stats.wave_instructions += stats.wave_instructions;
    }

    /// What a thread with `hand` in hand goes on with.
    fn next_hand(&self, thread: &mut Thread<'_>, mut hand: Option<Hand>) -> Option<Hand> {
        self.tell_order(thread);
        loop {
            if self.stop.load(Relaxed) {
                hand.into_iter().for_each(|hand| self.queue.abandon(hand.group));
                return None;
            }
            match self.queue.exchange(hand.take(), self.events())? {
                Choice::Run(hand) => return Some(hand),
                Choice::Rest => {
                    self.call_help(thread);
                    std::thread::sleep(REST);
                }
                Choice::Deadlock(group) => {
                    self.fail_deadlocked(&group);
                    self.queue.abandon(group);
                }
            }
        }
    }

    /// Names the wave that waits for ever. Without one, a thread has left the work-group that is stopping the dispatch.
    fn fail_deadlocked(&self, group: &Group) {
        let Some((wave, wait)) = group.waves.parked() else { return };
        let trap = Trap::Fault { cause: Cause::Deadlock, address: wait.pc, lane: 0, pc: wait.pc };
        self.fail_at(trap, wave);
    }

    #[inline]
    pub(super) fn events(&self) -> Events<'_> {
        Events { gds: &self.hardware.gds, order: &self.order.0 }
    }

    /// Runs a work-group for a turn, or those of a batch in its place as long as none waits.
    fn turns(&self, worker: &mut Worker<'a, E::Worker>, group: &mut Group, batch: &mut Batch) -> Result<(), Stopping> {
        let Worker { engine, filled, thread } = worker;
        let Group { lds, waves } = group;
        if lds.size() != self.lds {
            lds.reset(self.lds);
        }
        let env = self.env(lds);
        match batch.first().filter(|_| waves.is_over()) {
            Some(first) => {
                let filled = filled.get_or_insert_with(|| self.filled(engine, thread, &mut waves.spare, &env, first));
                let runner = self.engine.runner(engine, &env);
                Turn { job: self, thread, waves, lds, runner }.start(batch, filled)
            }
            None => {
                thread.tally.spent = 0;
                let runner = self.engine.runner(engine, &env);
                Turn { job: self, thread, waves, lds, runner }.go_on(1)
            }
        }
    }

    /// Asks the engine which registers are to be filled. It sees what the first wave of work-group `linear` looks like.
    #[cold]
    fn filled(
        &self,
        engine: &mut E::Worker,
        thread: &mut Thread<'_>,
        wave: &mut Wave,
        env: &Env<'_>,
        linear: u64,
    ) -> Filled {
        let at = thread.go_to(linear);
        let waves = &thread.items.waves;
        let group = Begun { at, waves: waves.len() as u32, number: 0, slot: 0 };
        self.setup.start(wave, &waves[0], &group, &self.setup.filled(RegisterSet::ALL));
        self.setup.filled(self.engine.read_first(engine, wave, env))
    }

    /// Notes that waves have passed, and tells the order when somebody waits for them.
    #[inline(always)]
    pub(super) fn pass(&self, thread: &mut Thread<'_>, waves: Range<u64>) {
        if thread.passed.end != waves.start {
            self.tell_order(thread);
            thread.passed.start = waves.start;
        }
        thread.passed.end = waves.end;
        if self.order.0.is_asked() {
            self.tell_order(thread);
        }
    }

    fn tell_order(&self, thread: &mut Thread<'_>) {
        let waves = std::mem::replace(&mut thread.passed, 0..0);
        if !waves.is_empty() {
            self.order.0.pass(waves);
        }
    }

    /// The machine around the waves of a work-group.
    fn env<'e>(&'e self, lds: &'e Lds) -> Env<'e> {
        Env {
            target: self.target,
            memory: &self.view,
            scratch: self.setup.scratch.address(),
            registers: self.setup.registers,
            group_id: self.setup.group_id(),
            exceptions: self.exceptions,
            lds,
            gds: &self.hardware.gds,
            order: &self.order.0,
            border_colors: self.launch.border_colors,
            exports: None,
            stop: &self.stop,
            slice: self.slice,
        }
    }

    /// Calls the helpers, once, when the dispatch has lasted long enough.
    #[inline(always)]
    pub(super) fn call_help(&self, thread: &mut Thread<'_>) {
        if thread.caller.is_some() {
            self.call_help_in_time(thread);
        }
    }

    fn call_help_in_time(&self, thread: &mut Thread<'_>) {
        let begun = thread.tally.stats.groups + 1;
        let is_time = |caller: &mut Caller<'_>| {
            let elapsed = caller.since.elapsed();
            let expected = elapsed.as_secs_f64() / begun as f64 * caller.groups as f64;
            let is_long = caller.help.is_near() || expected > LONG.as_secs_f64();
            elapsed > if is_long { LITTLE_PATIENCE } else { PATIENCE }
        };
        let Some(caller) = thread.caller.take_if(is_time) else { return };
        if let Err(error) = caller.help.call() {
            self.fail(DispatchError::Threads(error));
        }
    }

    /// Looks whether the dispatch is to stop, before `wave` runs.
    #[inline(always)]
    pub(super) fn look_outside(&self, tally: &mut Tally, wave: &Wave) -> Result<(), Stopping> {
        if self.stop.load(Relaxed) {
            return Err(Stopping);
        }
        if self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(self.end(Stopper::Cancel, wave));
        }
        if self.is_late(&mut tally.rounds) {
            return Err(self.end(Stopper::Deadline, wave));
        }
        Ok(())
    }

    /// Whether the deadline has passed, if there is one.
    #[inline(always)]
    fn is_late(&self, rounds: &mut u32) -> bool {
        self.options.deadline.is_some_and(|deadline| has_passed(deadline, rounds))
    }

    /// Records who ended the dispatch, and before which instruction of `wave`.
    #[cold]
    fn end(&self, by: Stopper, wave: &Wave) -> Stopping {
        let stopped = Stopped::new(by, wave, &self.launch.kernel.code().name, &self.view, self.target);
        self.fail(DispatchError::Stopped(Box::new(stopped)))
    }

    /// Records that `trap` stopped `wave`.
    #[cold]
    pub(super) fn fail_at(&self, trap: Trap, wave: &Wave) -> Stopping {
        let fault = Fault::new(trap, wave, &self.launch.kernel.code().name, &self.view, self.target);
        self.fail(DispatchError::Fault(Box::new(fault)))
    }

    /// Records the first error and stops all threads.
    #[cold]
    fn fail(&self, error: DispatchError) -> Stopping {
        self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.stop.store(true, Relaxed);
        Stopping
    }
}

/// Whether a deadline has passed. Asking the clock would cost as much as a short wave, so it is not always done.
fn has_passed(deadline: Instant, rounds: &mut u32) -> bool {
    *rounds += 1;
    if *rounds < CLOCK_PERIOD {
        return false;
    }
    *rounds = 0;
    Instant::now() >= deadline
}
