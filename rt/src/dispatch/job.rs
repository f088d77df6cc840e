//! A running dispatch: what its threads do.

use super::error::{DispatchError, Fault, Stopped, Stopper};
use super::group::{Events, Group, State};
use super::queue::{Alone, Choice, Queue};
use super::{Launch, Options, Stats};
use crate::engine::{Engine, Env, Stop};
use crate::fault::{Cause, Trap};
use crate::geometry::Walk;
use crate::hardware::Hardware;
use crate::lds;
use crate::memory::View;
use crate::order::Order;
use crate::pool::Help;
use crate::setup::{Items, Setup};
use crate::wave::Wave;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the calling thread works alone. Waking helpers and waiting for them takes about as long.
const PATIENCE: Duration = Duration::from_micros(50);
/// How many slices a wave may use before its work-group gives way for the first time. Most work-groups are over by then
/// and never leave the cache.
const FIRST_TURN: u64 = 8;
/// How many rounds without a yield pass between looks at the clock.
const CLOCK_PERIOD: u32 = 16;
/// Of how many work-groups a thread tells the order at once, as long as no wave asks: all threads write there.
const UNTOLD: usize = 64;
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
    /// Work-groups in the grid.
    pub(super) groups: u64,
    /// The next one to start.
    pub(super) next: Alone<AtomicU64>,
    pub(super) queue: Queue,
    pub(super) order: Order,
    pub(super) stop: AtomicBool,
    pub(super) outcome: Mutex<Outcome>,
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
    walk: Walk,
    /// Waves of work-groups that are over which the order has not been told of.
    passed: Vec<Range<u64>>,
    /// Rounds since the last look at the clock.
    rounds: u32,
    stats: Stats,
}

impl<E: Engine> Job<'_, E> {
    /// Runs work-groups until there is nothing left for this thread.
    pub(super) fn work(&self, caller: Option<Caller<'_>>) {
        let _guard = StopOnPanic(&self.stop);
        let mut worker = Worker {
            engine: self.engine.worker(),
            caller,
            items: Items::new(self.launch.geometry.block),
            walk: Walk::new(&self.launch.geometry),
            passed: Vec::with_capacity(UNTOLD),
            rounds: 0,
            stats: Stats::default(),
        };
        let mut hand = None;
        while let Some(mut group) = self.next_group(&mut worker, hand) {
            if self.turns(&mut worker, &mut group).is_err() {
                self.queue.abandon(group);
                break;
            }
            hand = Some(group);
        }
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.stats.groups += worker.stats.groups;
        outcome.stats.waves += worker.stats.waves;
        outcome.stats.wave_instructions += worker.stats.wave_instructions;
    }

    /// What a thread with `hand` in hand goes on with.
    fn next_group(&self, worker: &mut Worker<'_, E::Worker>, mut hand: Option<Group>) -> Option<Group> {
        loop {
            if self.stop.load(Relaxed) {
                hand.into_iter().for_each(|group| self.queue.abandon(group));
                return None;
            }
            let alone = self.queue.is_empty();
            let choice = match hand.take() {
                Some(group) if alone && group.is_ready() && self.is_all_taken() => Choice::Resume(group),
                hand => self.queue.exchange(hand, self.events(), || self.take())?,
            };
            match choice {
                Choice::Resume(group) => return Some(group),
                Choice::Start(mut group, linear) => {
                    self.start(worker, &mut group, linear);
                    return Some(group);
                }
                Choice::Rest => {
                    self.call_help(worker);
                    thread::sleep(REST);
                }
                Choice::Deadlock(group) => {
                    self.fail_deadlocked(&group);
                    hand = Some(group);
                }
            }
        }
    }

    /// Names the wave that waits for ever.
    fn fail_deadlocked(&self, group: &Group) {
        let (wave, wait) = group.parked().expect("a work-group that can't run has a wave that is parked");
        let trap = Trap::Fault { cause: Cause::Deadlock, address: wait.pc, lane: 0, pc: wait.pc };
        let (kernel, target) = (&self.launch.kernel.code().name, self.launch.kernel.target());
        self.fail(DispatchError::Fault(Box::new(Fault::new(trap, wave, kernel, &self.view, target))));
    }

    fn events(&self) -> Events<'_> {
        Events { gds: &self.hardware.gds, order: &self.order }
    }

    /// Whether all work-groups of the grid have been started.
    fn is_all_taken(&self) -> bool {
        self.next.0.load(Relaxed) >= self.groups
    }

    /// The next work-group of the grid. The counter can't wrap: it passes the end by few a thread.
    fn take(&self) -> Option<u64> {
        (!self.is_all_taken()).then(|| self.next.0.fetch_add(1, Relaxed)).filter(|linear| *linear < self.groups)
    }

    /// Puts LDS and waves in their initial state.
    fn start(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group, linear: u64) {
        let coordinates = worker.walk.to(linear);
        let number = linear * group.waves.len() as u64;
        let size = self.launch.geometry.group_size(coordinates);
        if worker.items.size != size {
            worker.items = Items::new(size);
        }
        group.lds.reset(lds::granted(self.launch.kernarg.lds, self.launch.kernel.target()));
        let count = worker.items.waves.len();
        for (index, wave) in group.waves[..count].iter_mut().enumerate() {
            self.setup.start(wave, coordinates, index, &worker.items, group.slot + index as u64);
            wave.number = number + index as u64;
        }
        group.states.clear();
        group.states.resize(count, State::Ready);
        group.begun = false;
    }

    /// Runs a work-group for a turn and, as long as none waits for one, others in its place: nearly all are over then.
    fn turns(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group) -> Result<(), Stopping> {
        loop {
            self.turn(worker, group)?;
            let free = group.is_over() && self.queue.is_empty() && !self.stop.load(Relaxed);
            let next = free.then(|| self.take()).flatten();
            if next.is_none() || worker.passed.len() == UNTOLD || self.order.is_asked() {
                worker.passed.drain(..).for_each(|waves| self.order.pass(waves));
            }
            match next {
                Some(linear) => self.start(worker, group, linear),
                None => return Ok(()),
            }
        }
    }

    /// Runs a work-group until it is over or its turn is.
    fn turn(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group) -> Result<(), Stopping> {
        let slices = if group.begun { 1 } else { FIRST_TURN };
        group.begun = true;
        let budget = self.options.slice.saturating_mul(slices * group.states.len() as u64);
        let mut spent = 0u64;
        while group.wake(self.events()) && spent < budget {
            self.look_outside(worker, group)?;
            spent = spent.saturating_add(self.round(worker, group)?);
            group.open_barrier();
        }
        if group.is_over() {
            let first = group.waves[0].number;
            worker.passed.push(first..first + group.waves.len() as u64);
            worker.stats.groups += 1;
            worker.stats.waves += group.states.len() as u64;
            worker.stats.wave_instructions += group.executed();
        }
        Ok(())
    }

    /// Runs each wave that is ready once, and returns what of the turn that used up: instructions, or a slice for a
    /// wave that gave up the rest of it.
    fn round(&self, worker: &mut Worker<'_, E::Worker>, group: &mut Group) -> Result<u64, Stopping> {
        let env = Env {
            target: self.launch.kernel.target(),
            memory: &self.view,
            scratch: self.setup.scratch.address(),
            registers: self.setup.registers,
            exceptions: self.exceptions,
            lds: &group.lds,
            gds: &self.hardware.gds,
            order: &self.order,
            border_colors: self.launch.border_colors,
            exports: None,
            stop: &self.stop,
            slice: self.options.slice,
        };
        let mut spent = 0;
        for (wave, state) in group.waves.iter_mut().zip(&mut group.states) {
            if *state == State::Ready {
                let used;
                (*state, used) = self.run_wave(worker, wave, &env)?;
                spent += used;
            }
        }
        self.call_help(worker);
        Ok(spent)
    }

    /// Runs a wave once: what it does next, and what of the turn that used up.
    fn run_wave(
        &self,
        worker: &mut Worker<'_, E::Worker>,
        wave: &mut Wave,
        env: &Env<'_>,
    ) -> Result<(State, u64), Stopping> {
        let before = wave.executed;
        let stop = match self.engine.run(&mut worker.engine, wave, env) {
            // The commonest first: looking at the rest of a result has to wait until all of it is written.
            Ok(Stop::End) => return Ok((State::Ended, wave.executed - before)),
            Ok(stop) => stop,
            Err(trap) => {
                let (kernel, target) = (&self.launch.kernel.code().name, self.launch.kernel.target());
                let fault = Fault::new(self.setup.explain(*trap), wave, kernel, &self.view, target);
                return Err(self.fail(DispatchError::Fault(Box::new(fault))));
            }
        };
        let executed = wave.executed - before;
        Ok(match stop {
            Stop::End => (State::Ended, executed),
            Stop::Barrier => (State::Waiting, executed),
            Stop::Wait(wait) => (State::Parked(wait), executed),
            Stop::Yield => {
                worker.rounds = CLOCK_PERIOD;
                (State::Ready, executed.max(self.options.slice))
            }
        })
    }

    /// Calls the helpers, once, when the dispatch has lasted long enough.
    fn call_help(&self, worker: &mut Worker<'_, E::Worker>) {
        let Some(caller) = worker.caller.take_if(|caller| caller.since.elapsed() > PATIENCE) else { return };
        if let Err(error) = caller.help.call() {
            self.fail(DispatchError::Threads(error));
        }
    }

    /// Looks whether the dispatch is to stop.
    fn look_outside(&self, worker: &mut Worker<'_, E::Worker>, group: &Group) -> Result<(), Stopping> {
        if self.stop.load(Relaxed) {
            return Err(Stopping);
        }
        let by = if self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            Stopper::Cancel
        } else if self.is_late(&mut worker.rounds) {
            Stopper::Deadline
        } else {
            return Ok(());
        };
        let wave = group.ready().expect("its barrier is open, so one is, as long as it is not over");
        let (kernel, target) = (&self.launch.kernel.code().name, self.launch.kernel.target());
        let stopped = Stopped::new(by, wave, kernel, &self.view, target);
        Err(self.fail(DispatchError::Stopped(Box::new(stopped))))
    }

    /// Whether the deadline has passed. Asking the clock would cost as much as a short wave, so it is not always done.
    fn is_late(&self, rounds: &mut u32) -> bool {
        let Some(deadline) = self.options.deadline else { return false };
        *rounds += 1;
        if *rounds < CLOCK_PERIOD {
            return false;
        }
        *rounds = 0;
        Instant::now() >= deadline
    }

    /// Records the first error and stops all threads.
    fn fail(&self, error: DispatchError) -> Stopping {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
        self.stop.store(true, Relaxed);
        Stopping
    }
}
