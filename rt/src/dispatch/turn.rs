//! A work-group's turn on a thread, or those of a batch one after the other.
//!
//! **Short waves.** Many take no longer than their start and their end, so what is the same for the waves of a work-group,
//! a batch or a dispatch is not made here for each, and what happens once a wave or once a barrier is a few dozen
//! instructions without calls but that of the wave's code.

use super::group::{State, Waves};
use super::job::{Job, Stopping, Tally, Thread};
use super::queue::Batch;
use crate::engine::{Alike, Engine, Runner, Stop};
use crate::lds::Lds;
use crate::rows::Filled;
use crate::setup::Begun;
use crate::wave::Wave;

/// How many slices a wave may use before its work-group gives way for the first time. Most work-groups are over by then
/// and never leave the cache.
const FIRST_TURN: u64 = 8;

/// Room for a work-group, what runs waves in it, and the thread that does.
pub(super) struct Turn<'t, 'a, E, R> {
    pub(super) job: &'t Job<'a, E>,
    pub(super) thread: &'t mut Thread<'a>,
    pub(super) waves: &'t mut Waves,
    pub(super) lds: &'t Lds,
    pub(super) runner: R,
}

impl<E: Engine, R: Runner> Turn<'_, '_, E, R> {
    /// Runs work-groups of a batch, each for its first turn, as long as none waits: nearly all are over after it.
    pub(super) fn start(&mut self, batch: &mut Batch, filled: &Filled) -> Result<(), Stopping> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the host has the feature.
            return unsafe { self.start_512(batch, filled) };
        } else if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: as above.
            return unsafe { self.start_256(batch, filled) };
        }
        self.start_narrow(batch, filled)
    }

    /// The same with the stores of 64 bytes that a wave's start consists of.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn start_512(&mut self, batch: &mut Batch, filled: &Filled) -> Result<(), Stopping> {
        self.start_narrow(batch, filled)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    fn start_256(&mut self, batch: &mut Batch, filled: &Filled) -> Result<(), Stopping> {
        self.start_narrow(batch, filled)
    }

    #[inline(always)]
    fn start_narrow(&mut self, batch: &mut Batch, filled: &Filled) -> Result<(), Stopping> {
        let are_alike = self.job.setup.are_alike(filled);
        // How many waves of the next work-groups have ended.
        let mut ahead = 0;
        while let Some(linear) = batch.next() {
            let group = self.place(linear);
            self.waves.kept.fit(self.thread.number, self.thread.items.size);
            if are_alike && self.waves.kept.has_all(self.waves.count) && self.thread.items.reach != 0 {
                ahead = self.begin_alike(&group, ahead, batch.len() + 1)?;
            }
            let first = ahead.min(self.waves.count);
            ahead -= first;
            self.begin(&group, first, filled)?;
            if self.waves.is_over() {
                self.finish();
            } else {
                self.go_on(FIRST_TURN)?;
            }
            if ahead == 0 && (!self.waves.is_over() || !self.job.queue.is_empty()) {
                break;
            }
        }
        Ok(())
    }

    /// Puts a work-group of the grid in the place of one that is over.
    #[inline(always)]
    fn place(&mut self, linear: u64) -> Begun {
        let at = self.thread.go_to(linear);
        let (count, number) = (self.thread.items.waves.len(), linear * self.waves.list.len() as u64);
        (self.waves.count, self.waves.number) = (count, number);
        self.thread.tally.spent = 0;
        Begun { at, waves: count as u32, number, slot: self.waves.slot }
    }

    /// Runs waves of a work-group together, and of the next ones of so many in all, as long as that ends them. All are kept.
    /// Of the first waves some have ended; returns how many have then.
    #[inline(always)]
    fn begin_alike(&mut self, group: &Begun, mut ended: usize, groups: usize) -> Result<usize, Stopping> {
        let Thread { items, tally, walk, .. } = &mut *self.thread;
        let (waves, groups) = (&mut self.waves.list[..items.waves.len()], walk.alike().min(groups));
        while ended < waves.len() {
            self.job.setup.restart(&mut waves[ended], &items.waves[ended], group);
            if ended == 0 {
                self.job.look_outside(tally, &waves[0])?;
            }
            let alike = Alike { waves: &mut *waves, first: ended, groups, reach: items.reach };
            let more = self.runner.run_alike(alike);
            if more.waves == 0 {
                break;
            }
            ended += more.waves;
            tally.stats.wave_instructions += more.waves as u64 * more.instructions;
        }
        Ok(ended)
    }

    /// Runs each wave of a work-group once, from the `first` one on that has not ended.
    #[inline(always)]
    fn begin(&mut self, group: &Begun, first: usize, filled: &Filled) -> Result<(), Stopping> {
        self.lds.clear();
        let Thread { items, tally, .. } = &mut *self.thread;
        for (index, items) in items.waves.iter().enumerate().skip(first) {
            let is_kept = self.waves.kept.has(index);
            let wave = if is_kept { &mut self.waves.list[index] } else { &mut *self.waves.spare };
            match is_kept {
                true => self.job.setup.restart(wave, items, group),
                false => self.job.setup.start(wave, items, group, filled),
            }
            if index == 0 {
                self.job.look_outside(tally, wave)?;
            }
            let state = run(self.job, &mut self.runner, tally, wave)?;
            let keeps = state.is_none() && self.runner.has_kept();
            if is_kept != keeps {
                self.waves.kept.toggle(index);
            }
            if !is_kept && (keeps || state.is_some()) {
                std::mem::swap(&mut self.waves.spare, &mut self.waves.list[index]);
            }
            if let Some(state) = state {
                self.waves.states.set(index, state);
            }
        }
        self.job.call_help(self.thread);
        Ok(())
    }

    /// Goes on with a work-group until it is over, or its waves have used up so many slices each.
    pub(super) fn go_on(&mut self, slices: u64) -> Result<(), Stopping> {
        let budget = self.job.slice * slices * self.waves.count as u64;
        loop {
            self.waves.states.open_barrier();
            if self.waves.is_over() {
                self.finish();
                return Ok(());
            }
            if !self.waves.wake(self.job.events()) || self.thread.tally.spent >= budget {
                return Ok(());
            }
            let first = self.waves.ready().expect("it was woken");
            self.job.look_outside(&mut self.thread.tally, first)?;
            self.round()?;
        }
    }

    /// Runs each wave that is ready once.
    #[inline(always)]
    fn round(&mut self) -> Result<(), Stopping> {
        let Waves { list, states, .. } = &mut *self.waves;
        let mut ready = states.take_ready();
        while ready != 0 {
            let index = ready.trailing_zeros() as usize;
            ready &= ready - 1;
            if let Some(state) = run(self.job, &mut self.runner, &mut self.thread.tally, &mut list[index])? {
                states.set(index, state);
            }
        }
        self.job.call_help(self.thread);
        Ok(())
    }

    /// Counts a work-group that is over.
    #[inline(always)]
    fn finish(&mut self) {
        let stats = &mut self.thread.tally.stats;
        stats.groups += 1;
        stats.waves += self.waves.count as u64;
        self.job.pass(self.thread, self.waves.numbers());
    }
}

/// Runs a wave once. Returns what it does next, unless it has ended.
#[inline(always)]
fn run<E: Engine>(
    job: &Job<'_, E>,
    runner: &mut impl Runner,
    tally: &mut Tally,
    wave: &mut Wave,
) -> Result<Option<State>, Stopping> {
    let before = wave.executed;
    // What each case does stands there in full, so that no case is asked for twice.
    match runner.run(wave) {
        Ok(Stop::End) => {
            tally.stats.wave_instructions += wave.executed;
            tally.spend(wave.executed - before);
            Ok(None)
        }
        Ok(Stop::Barrier) => {
            tally.spend(wave.executed - before);
            Ok(Some(State::Waiting))
        }
        Ok(Stop::Wait(wait)) => {
            tally.spend(wave.executed - before);
            Ok(Some(State::Parked(wait)))
        }
        Ok(Stop::Yield) => {
            tally.look_soon();
            tally.spend(job.slice.max(wave.executed - before));
            Ok(Some(State::Ready))
        }
        Err(trap) => Err(job.fail_at(job.setup.explain(*trap), wave)),
    }
}
