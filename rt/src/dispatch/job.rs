//! A running dispatch: what its threads do.

use super::error::{DispatchError, Fault, Stopped, Stopper};
use super::group::{Events, Group, State};
use super::queue::{Alone, Batch, Choice, Hand, Queue};
use super::{Launch, Options, Stats};
use crate::engine::{Engine, Env, Stop};
use crate::fault::{Cause, Trap};
use crate::geometry::Walk;
use crate::hardware::Hardware;
use crate::lds::Lds;
use crate::memory::View;
use crate::order::Order;
use crate::pool::Help;
use crate::rows::{Filled, RegisterSet};
use crate::setup::{Items, Setup};
use crate::wave::Wave;
use gcnjit_isa::Target;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the calling thread works alone. Waking helpers and waiting for them takes about as long.
const PATIENCE: Duration = Duration::from_micros(50);
/// The same if a helper is near.
const LITTLE_PATIENCE: Duration = Duration::from_micros(5);
/// How many slices a wave may use before its work-group gives way for the first time. Most work-groups are over by then
/// and never leave the cache.
const FIRST_TURN: u64 = 8;
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
    pub(super) setup: &'a Setup,
    pub(super) target: Target,
    /// Bytes of LDS that a work-group has.
    pub(super) lds: u32,
    pub(super) queue: Queue<'a>,
    pub(super) order: Alone<Order>,
    pub(super) stop: AtomicBool,
    pub(super) outcome: Alone<Mutex<Outcome>>,
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
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// The dispatch is stopping; the error, if it is this thread's, is in the outcome.
struct Stopping;

/// What the calling thread has beside what helpers have.
pub(super) struct Caller<'a> {
    pub(super) help: &'a Help<'a>,
    pub(super) since: Instant,
}

/// What a thread keeps between work-groups.
struct Worker<'a, W> {
    engine: W,
    /// On the calling thread, until it has called for help.
    caller: Option<Caller<'a>>,
    items: Items,
    /// Which registers waves start with; not known before the first one.
    filled: Option<Filled>,
    walk: Walk,
    /// Waves of work-groups that are over which the order has not been told of: all threads write there.
    passed: Range<u64>,
    /// Rounds since the last look at the clock.
    rounds: u32,
    /// What the waves of the work-group have used up of its turn: instructions, or a slice for a wave that gave up the
    /// rest of it.
    spent: u64,
    stats: Stats,
}

impl<W> Worker<'_, W> {
    #[inline]
    fn spend(&mut self, instructions: u64) {
        self.spent = self.spent.saturating_add(instructions);
    }
}

impl<E: Engine> Job<'_, E> {
    /// Runs work-groups until there is nothing left for this thread.
    pub(super) fn work(&self, caller: Option<Caller<'_>>) {
        let _guard = StopOnPanic(&self.stop);
        let mut worker = Worker {
            engine: self.engine.worker(),
            caller,
            items: Items::new(self.launch.geometry.block),
            filled: None,
            walk: Walk::new(&self.launch.geometry),
            passed: 0..0,
            rounds: 0,
            spent: 0,
            stats: Stats::default(),
        };
        let mut hand = None;
        while let Some(Hand { mut group, mut batch }) = self.next_hand(&mut worker, hand) {
            if self.turns(&mut worker, &mut group, &mut batch).is_err() {
                self.queue.abandon(group);
                break;
            }
            hand = Some(Hand { group, batch });
        }
        let mut outcome = self.outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.stats.groups += worker.stats.groups;
        outcome.stats.waves += worker.stats.waves;
        outcome.stats.wave_instructions += worker.stats.wave_instructions;
    }

    /// What a thread with `hand` in hand goes on with.
    fn next_hand(&self, worker: &mut Worker<'_, E::Worker>, mut hand: Option<Hand>) -> Option<Hand> {
        self.tell_order(worker);
        loop {
            if self.stop.load(Relaxed) {
                hand.into_iter().for_each(|hand| self.queue.abandon(hand.group));
                return None;
            }
            match self.queue.exchange(hand.take(), self.events())? {
                Choice::Run(hand) => return Some(hand),
                Choice::Rest => {
                    self.call_help(worker);
                    thread::sleep(REST);
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
        let Some((wave, wait)) = group.parked() else { return };
        let trap = Trap::Fault { cause: Cause::Deadlock, address: wait.pc, lane: 0, pc: wait.pc };
        self.fail_at(trap, wave);
    }

    fn events(&self) -> Events<'_> {
        Events { gds: &self.hardware.gds, order: &self.order.0 }
    }

    /// Runs a work-group for a turn, or those of a batch in its place as long as none waits: nearly all are over after
    /// their first turn.
    fn turns(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group, batch: &mut Batch) -> Result<(), Stopping> {
        if !group.is_over() {
            worker.spent = 0;
            return self.turn(worker, group, 1);
        }
        for linear in batch.by_ref() {
            self.begin(worker, group, linear)?;
            if group.is_over() {
                self.finish(worker, group);
            } else {
                self.turn(worker, group, FIRST_TURN)?;
            }
            if !group.is_over() || !self.queue.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Puts a work-group of the grid in the place of one that is over, and runs each of its waves once.
    fn begin(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group, linear: u64) -> Result<(), Stopping> {
        let place = worker.walk.to(linear);
        let size = worker.walk.size();
        if worker.items.size != size {
            worker.items = Items::new(size);
        }
        group.lds.reset(self.lds);
        group.count = worker.items.waves.len();
        group.number = linear * group.waves.len() as u64;
        worker.spent = 0;
        let env = self.env(&group.lds);
        let wave = &mut group.spare;
        if worker.filled.is_none() {
            self.ask_what_is_read(worker, wave, &env, place);
        }
        for index in 0..group.count {
            let filled = worker.filled.as_ref().expect("it was asked for");
            self.setup.start(wave, place, index, &worker.items, group.slot + index as u64, filled);
            wave.number = group.number + index as u64;
            if index == 0 {
                self.look_outside(worker, wave)?;
            }
            if let Some(state) = self.run_wave(worker, wave, &env)? {
                std::mem::swap(wave, &mut group.waves[index]);
                group.states.set(index, state);
            }
        }
        self.call_help(worker);
        Ok(())
    }

    /// Asks the engine which registers are to be filled. It sees what the first wave looks like.
    #[cold]
    fn ask_what_is_read(&self, worker: &mut Worker<'_, E::Worker>, wave: &mut Wave, env: &Env<'_>, place: [u32; 3]) {
        self.setup.start(wave, place, 0, &worker.items, 0, &self.setup.filled(RegisterSet::ALL));
        let read = self.engine.read_first(&mut worker.engine, wave, env);
        worker.filled = Some(self.setup.filled(read));
    }

    /// Goes on with a work-group until it is over, or its waves have used up so many slices each.
    fn turn(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group, slices: u64) -> Result<(), Stopping> {
        let budget = self.options.slice.saturating_mul(slices * group.count as u64);
        loop {
            group.states.open_barrier();
            if group.is_over() {
                self.finish(worker, group);
                return Ok(());
            }
            if !group.wake(self.events()) || worker.spent >= budget {
                return Ok(());
            }
            let wave = group.ready().expect("it was woken");
            self.look_outside(worker, wave)?;
            self.round(worker, group)?;
        }
    }

    /// Runs each wave that is ready once.
    fn round(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group) -> Result<(), Stopping> {
        let env = self.env(&group.lds);
        let mut ready = group.states.take_ready();
        while ready != 0 {
            let index = ready.trailing_zeros() as usize;
            ready &= ready - 1;
            if let Some(state) = self.run_wave(worker, &mut group.waves[index], &env)? {
                group.states.set(index, state);
            }
        }
        self.call_help(worker);
        Ok(())
    }

    /// Counts a work-group that is over.
    fn finish(&self, worker: &mut Worker<'_, E::Worker>, group: &Group) {
        worker.stats.groups += 1;
        worker.stats.waves += group.count as u64;
        let waves = group.numbers();
        if worker.passed.end != waves.start {
            self.tell_order(worker);
            worker.passed.start = waves.start;
        }
        worker.passed.end = waves.end;
        if self.order.0.is_asked() {
            self.tell_order(worker);
        }
    }

    fn tell_order(&self, worker: &mut Worker<'_, E::Worker>) {
        let waves = std::mem::replace(&mut worker.passed, 0..0);
        if !waves.is_empty() {
            self.order.0.pass(waves);
        }
    }

    /// The machine around the waves of a work-group.
    fn env<'a>(&'a self, lds: &'a Lds) -> Env<'a> {
        Env {
            target: self.target,
            memory: &self.view,
            scratch: self.setup.scratch.address(),
            registers: self.setup.registers,
            exceptions: self.exceptions,
            lds,
            gds: &self.hardware.gds,
            order: &self.order.0,
            border_colors: self.launch.border_colors,
            exports: None,
            stop: &self.stop,
            slice: self.options.slice,
        }
    }

    /// Runs a wave once. Returns what it does next, unless it has ended.
    #[inline(always)]
    fn run_wave(
        &self,
        worker: &mut Worker<'_, E::Worker>,
        wave: &mut Wave,
        env: &Env<'_>,
    ) -> Result<Option<State>, Stopping> {
        let before = wave.executed;
        // What each case does stands there in full, so that no case is asked for twice.
        match self.engine.run(&mut worker.engine, wave, env) {
            Ok(Stop::End) => {
                worker.stats.wave_instructions += wave.executed;
                worker.spend(wave.executed - before);
                Ok(None)
            }
            Ok(Stop::Barrier) => {
                worker.spend(wave.executed - before);
                Ok(Some(State::Waiting))
            }
            Ok(Stop::Wait(wait)) => {
                worker.spend(wave.executed - before);
                Ok(Some(State::Parked(wait)))
            }
            Ok(Stop::Yield) => {
                worker.rounds = CLOCK_PERIOD;
                worker.spend(self.options.slice.max(wave.executed - before));
                Ok(Some(State::Ready))
            }
            Err(trap) => Err(self.fail_at(self.setup.explain(*trap), wave)),
        }
    }

    /// Calls the helpers, once, when the dispatch has lasted long enough.
    fn call_help(&self, worker: &mut Worker<'_, E::Worker>) {
        let is_time = |caller: &mut Caller<'_>| {
            let patience = if caller.help.is_near() { LITTLE_PATIENCE } else { PATIENCE };
            caller.since.elapsed() > patience
        };
        let Some(caller) = worker.caller.take_if(is_time) else { return };
        if let Err(error) = caller.help.call() {
            self.fail(DispatchError::Threads(error));
        }
    }

    /// Looks whether the dispatch is to stop, before `wave` runs.
    #[inline]
    fn look_outside(&self, worker: &mut Worker<'_, E::Worker>, wave: &Wave) -> Result<(), Stopping> {
        if self.stop.load(Relaxed) {
            return Err(Stopping);
        }
        if self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(self.end(Stopper::Cancel, wave));
        }
        if self.is_late(&mut worker.rounds) {
            return Err(self.end(Stopper::Deadline, wave));
        }
        Ok(())
    }

    /// Whether the deadline has passed. Asking the clock would cost as much as a short wave, so it is not always done.
    #[inline]
    fn is_late(&self, rounds: &mut u32) -> bool {
        let Some(deadline) = self.options.deadline else { return false };
        *rounds += 1;
        if *rounds < CLOCK_PERIOD {
            return false;
        }
        *rounds = 0;
        Instant::now() >= deadline
    }

    /// Records who ended the dispatch, and before which instruction of `wave`.
    #[cold]
    fn end(&self, by: Stopper, wave: &Wave) -> Stopping {
        let stopped = Stopped::new(by, wave, &self.launch.kernel.code().name, &self.view, self.target);
        self.fail(DispatchError::Stopped(Box::new(stopped)))
    }

    /// Records that `trap` stopped `wave`.
    #[cold]
    fn fail_at(&self, trap: Trap, wave: &Wave) -> Stopping {
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
