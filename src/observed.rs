//! The interpreter with somebody watching.

use gcnjit_interp::Stepper;
use gcnjit_interp::observe::Step;
use gcnjit_isa::Inst;
use gcnjit_rt::{Engine, Env, Stop, Trap, Wave};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Gets to see every instruction of a launch that [`Observed`] runs.
pub trait Observer: Send {
    /// The wave is about to execute `inst`.
    fn before(&mut self, wave: &Wave, inst: &Inst) {
        let _ = (wave, inst);
    }

    /// The wave has executed an instruction.
    fn after(&mut self, wave: &Wave, step: &Step, env: &Env<'_>);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn before(&mut self, wave: &Wave, inst: &Inst) {
        (**self).before(wave, inst);
    }

    fn after(&mut self, wave: &Wave, step: &Step, env: &Env<'_>) {
        (**self).after(wave, step, env);
    }
}

/// The interpreter as an executor for [`Prepared::run_with`](crate::Prepared::run_with), an instruction at a time, with
/// an observer. Whatever has to do with a wave comes on the one thread that runs the launch.
///
/// ```
/// use gcnjit::interp::observe::Step;
/// use gcnjit::rt::{Env, Wave};
/// use gcnjit::{Device, Module, Observed, Observer};
///
/// /// Counts what touches memory.
/// struct Accesses(usize);
///
/// impl Observer for Accesses {
///     fn after(&mut self, _: &Wave, step: &Step, _: &Env<'_>) {
///         self.0 += step.touches.len();
///     }
/// }
///
/// # fn main() -> Result<(), gcnjit::Error> {
/// let device = Device::new()?;
/// let saxpy = Module::open(&device, "kernels/saxpy/saxpy.gfx803.co")?.kernel("saxpy")?;
/// let (x, y) = (device.buffer::<f32>(64)?, device.buffer::<f32>(64)?);
/// let launch = saxpy.launch().grid(64).block(64).arg(&x).arg(&y).arg(2.0f32).arg(64u32).prepare()?;
/// let counter = Observed::new(Accesses(0));
/// launch.run_with(&counter)?;
/// assert!(counter.into_observer().0 > 3 * 64);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Observed<O>(Mutex<(Stepper, O)>);

impl<O: Observer> Observed<O> {
    /// The interpreter, watched by `observer`.
    pub fn new(observer: O) -> Observed<O> {
        Observed(Mutex::new((Stepper::default(), observer)))
    }

    /// The observer.
    pub fn into_observer(self) -> O {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

impl<O: Observer> Engine for Observed<O> {
    type Worker = ();

    fn worker(&self) {}

    fn run(&self, (): &mut (), wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>> {
        let limit = wave.executed.saturating_add(env.slice);
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (stepper, observer) = &mut *both;
        while wave.executed < limit && !env.stop.load(Relaxed) {
            observer.before(wave, &stepper.peek(wave, env)?);
            let step = stepper.step(wave, env)?;
            observer.after(wave, &step, env);
            if let Some(stop) = step.stop {
                return Ok(stop);
            }
        }
        Ok(Stop::Yield)
    }
}
