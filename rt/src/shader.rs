//! Running shaders: waves that somebody else has put together, and a sink for what they export.
//!
//! Waves run one after the other on the calling thread, each with its own LDS, so their exports come in the order of the
//! waves. A wave is a work-group of its own: it never waits at a barrier, and there is nobody that it could meet.

use crate::code_object::Kernel;
use crate::dispatch::{DispatchError, Fault, Options, Stats, Stopped, Stopper};
use crate::engine::{Engine, Env, Stop};
use crate::export::Sink;
use crate::fault::{Cause, Trap};
use crate::hardware::Hardware;
use crate::image::BorderColors;
use crate::lds::{self, Lds};
use crate::memory::View;
use crate::order::Order;
use crate::register_file::RegisterFile;
use crate::wave::{Row, Wave, reg};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What a wave of a shader begins with. Registers that are not given are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShaderWave {
    /// SGPRs from s0 on.
    pub sgprs: Vec<u32>,
    /// VGPRs from v0 on.
    pub vgprs: Vec<Row>,
    /// EXEC: the lanes that there are.
    pub exec: u64,
    /// M0.
    pub m0: u32,
    /// What LDS holds; it is as large.
    pub lds: Vec<u8>,
}

/// A launch of a shader.
#[derive(Clone, Copy)]
pub struct ShaderLaunch<'a> {
    /// The shader.
    pub shader: &'a Kernel,
    /// Its waves.
    pub waves: &'a [ShaderWave],
    /// Who gets what they export.
    pub sink: &'a dyn Sink,
    /// The table that samplers take border colours from.
    pub border_colors: BorderColors,
}

/// Why a shader can't be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShaderError {
    /// It is a compute kernel.
    #[error("it is not a shader")]
    Kernel,
    /// It needs scratch memory, which shaders are not given.
    #[error("it needs scratch memory, which shaders are not given")]
    Scratch,
    /// A wave is given more than it has.
    #[error("wave {wave} is given {given} {what}, it has {room}")]
    TooMuch {
        /// Which wave.
        wave: usize,
        /// SGPRs, VGPRs, or bytes of LDS.
        what: &'static str,
        /// How much of it.
        given: usize,
        /// What there is room for.
        room: usize,
    },
}

/// Runs a shader's waves and waits for them. Of the options, `threads` has no meaning.
///
/// # Errors
/// [`DispatchError::Shader`] before anything has run if it can't be launched like this, else where it was stopped.
pub fn run<E: Engine>(
    engine: &E,
    hardware: &Hardware,
    launch: &ShaderLaunch<'_>,
    options: &Options<'_>,
) -> Result<Stats, DispatchError> {
    check(launch).map_err(|what| DispatchError::Shader { kernel: launch.shader.code().name.clone(), what })?;
    let since = Instant::now();
    let view = hardware.memory.view();
    let exceptions = view.names_trapsts();
    let runner = Runner { engine, hardware, launch, options, view, exceptions, order: Order::new() };
    let (mut worker, mut wave, mut lds) = (engine.worker(), Wave::new(), Lds::default());
    let mut stats = Stats::default();
    for (number, start) in launch.waves.iter().enumerate() {
        runner.begin(&mut wave, &mut lds, number, start);
        runner.finish(&mut worker, &mut wave, &lds)?;
        stats.groups += 1;
        stats.waves += 1;
        stats.wave_instructions += wave.executed;
    }
    Ok(Stats { time: since.elapsed(), ..stats })
}

/// Checks that the shader can be launched like this.
fn check(launch: &ShaderLaunch<'_>) -> Result<(), ShaderError> {
    let (code, target) = (launch.shader.code(), launch.shader.target());
    if code.shader.is_none() {
        return Err(ShaderError::Kernel);
    }
    if code.scratch_size != 0 || code.rsrc2.scratch() {
        return Err(ShaderError::Scratch);
    }
    let registers = RegisterFile::of(code.rsrc1, target.generation());
    let (sgprs, vgprs) = (registers.numbered(target.generation()) as usize, usize::from(registers.vgprs));
    for (wave, start) in launch.waves.iter().enumerate() {
        let given = [
            ("SGPRs", start.sgprs.len(), sgprs),
            ("VGPRs", start.vgprs.len(), vgprs),
            ("bytes of LDS", start.lds.len(), lds::limit(target) as usize),
        ];
        if let Some((what, given, room)) = given.into_iter().find(|(_, given, room)| given > room) {
            return Err(ShaderError::TooMuch { wave, what, given, room });
        }
    }
    Ok(())
}

/// A running launch.
struct Runner<'a, E> {
    engine: &'a E,
    hardware: &'a Hardware,
    launch: &'a ShaderLaunch<'a>,
    options: &'a Options<'a>,
    view: View,
    /// Whether its waves keep TRAPSTS.
    exceptions: bool,
    order: Order,
}

impl<E: Engine> Runner<'_, E> {
    /// Puts a wave in its initial state.
    fn begin(&self, wave: &mut Wave, lds: &mut Lds, number: usize, start: &ShaderWave) {
        let shader = self.launch.shader;
        wave.vgpr.fill([0; 64]);
        wave.sgpr.fill(0);
        wave.vgpr[..start.vgprs.len()].copy_from_slice(&start.vgprs);
        wave.sgpr[..start.sgprs.len()].copy_from_slice(&start.sgprs);
        wave.set_exec(start.exec);
        wave.sgpr[reg::M0] = start.m0;
        (wave.scc, wave.mode, wave.pc, wave.executed) = (0, shader.mode(), shader.entry(), 0);
        wave.trapsts = 0;
        (wave.group, wave.index, wave.number) = ([0; 3], number as u32, number as u64);
        lds.reset(start.lds.len() as u32);
        lds.write(0, &start.lds);
    }

    /// Runs a wave to its end.
    fn finish(&self, worker: &mut E::Worker, wave: &mut Wave, lds: &Lds) -> Result<(), DispatchError> {
        let (shader, stop) = (self.launch.shader, AtomicBool::new(false));
        let env = Env {
            registers: RegisterFile::of(shader.code().rsrc1, shader.target().generation()),
            exceptions: self.exceptions,
            border_colors: self.launch.border_colors,
            exports: Some(self.launch.sink),
            slice: self.options.slice,
            ..Env::bare(shader.target(), &self.view, lds, (&self.hardware.gds, &self.order, &stop))
        };
        loop {
            self.look_outside(wave)?;
            match self.engine.run(worker, wave, &env) {
                Ok(Stop::End) => break,
                Ok(Stop::Barrier | Stop::Yield) => {}
                Ok(Stop::Wait(wait)) => {
                    let trap = Trap::Fault { cause: Cause::Deadlock, address: wait.pc, lane: 0, pc: wait.pc };
                    return Err(self.stuck(trap, wave));
                }
                Err(trap) => return Err(self.stuck(*trap, wave)),
            }
        }
        self.order.pass(wave.number..wave.number + 1);
        Ok(())
    }

    fn stuck(&self, trap: Trap, wave: &Wave) -> DispatchError {
        let (kernel, target) = (&self.launch.shader.code().name, self.launch.shader.target());
        DispatchError::Fault(Box::new(Fault::new(trap, wave, kernel, &self.view, target)))
    }

    /// Looks whether the launch is to stop.
    fn look_outside(&self, wave: &Wave) -> Result<(), DispatchError> {
        let cancelled = self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed));
        let late = self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let by = match (cancelled, late) {
            (true, _) => Stopper::Cancel,
            (_, true) => Stopper::Deadline,
            _ => return Ok(()),
        };
        let (kernel, target) = (&self.launch.shader.code().name, self.launch.shader.target());
        Err(DispatchError::Stopped(Box::new(Stopped::new(by, wave, kernel, &self.view, target))))
    }
}
