//! The interpreter, counting which instructions it executes.

use crate::program::Placed;
use gcnjit_interp::Interpreter;
use gcnjit_interp::run::{self, Buffers, Machine};
use gcnjit_rt::{Cause, Engine, Env, Stop, Trap, Wave};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How often instructions, by their place in the program, were executed under a MODE.
pub type Counts = HashMap<(usize, u32), u64>;

/// The engine.
pub struct Counting<'a> {
    code: u64,
    placed: &'a [Placed],
    counts: Mutex<Counts>,
}

impl<'a> Counting<'a> {
    /// That of a program at `code`, of which nothing has been executed.
    pub fn new(code: u64, placed: &'a [Placed]) -> Counting<'a> {
        Counting { code, placed, counts: Mutex::default() }
    }

    /// What was executed.
    pub fn into_counts(self) -> Counts {
        self.counts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread keeps.
pub struct Worker {
    buffers: Box<Buffers>,
    plain: run::Worker,
}

impl Engine for Counting<'_> {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker { buffers: Box::default(), plain: Interpreter.worker() }
    }

    /// Outside of the program it is the interpreter without counting.
    fn run(&self, worker: &mut Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = wave.executed.saturating_add(env.slice);
        let mut machine = Machine::new(wave, env, &mut worker.buffers);
        while machine.wave.executed < limit {
            let offset = machine.wave.pc.wrapping_sub(self.code);
            let Ok(index) = self.placed.binary_search_by_key(&offset, |placed| placed.offset) else {
                return Interpreter.run(&mut worker.plain, wave, env);
            };
            let mode = machine.wave.mode.0;
            let outcome = machine.step(&self.placed[index].inst);
            if outcome.as_ref().map_or_else(|trap| is_meant(trap), |()| true) {
                *counts.entry((index, mode)).or_default() += 1;
            }
            outcome?;
            if let Some(stop) = machine.stop {
                return Ok(stop);
            }
        }
        Ok(Stop::Yield)
    }
}

/// Whether the instruction is there to stop the wave: it was executed, then.
fn is_meant(trap: &Trap) -> bool {
    matches!(trap, Trap::Fault { cause: Cause::TrapInstruction | Cause::Halt | Cause::Undocumented, .. })
}
