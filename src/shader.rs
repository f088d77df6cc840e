//! Launches of shaders: waves with given registers, and who gets what they export.

use crate::buffer::Buffer;
use crate::check::{Snapshot, What, difference, same_end};
use crate::error::Error;
use crate::launch::{Engine, Stats};
use crate::module::Kernel;
use bytemuck::Pod;
use gcnjit_interp::Interpreter;
use gcnjit_rt::export::{Export, Given, Message, Recorder, Sink};
use gcnjit_rt::image::BorderColors;
use gcnjit_rt::{Options, ShaderWave, shader};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Who gets what the waves of a shader give away, in the order of the waves and of their instructions.
///
/// A vector keeps it. Lanes that are not in [`Export::lanes`] export nothing; pixels that a shader has discarded are
/// those that its last export with [`Export::valid_mask`] lacks.
pub trait ExportSink {
    /// Takes an export.
    fn export(&mut self, export: &Export);
    /// Takes a message of a geometry shader.
    fn message(&mut self, message: &Message);
}

impl ExportSink for Vec<Given> {
    fn export(&mut self, export: &Export) {
        self.push(Given::Export(Box::new(export.clone())));
    }

    fn message(&mut self, message: &Message) {
        self.push(Given::Message(*message));
    }
}

/// A sink that the runtime can share.
struct Shared<'s>(RefCell<&'s mut dyn ExportSink>);

impl Sink for Shared<'_> {
    fn export(&self, export: &Export) {
        self.0.borrow_mut().export(export);
    }

    fn message(&self, message: &Message) {
        self.0.borrow_mut().message(message);
    }
}

/// A launch of a shader being described: an embedder's own rasteriser or geometry engine says what is in the registers of
/// each wave, and gets what the waves export. Waves run one after the other on the calling thread.
///
/// ```
/// use gcnjit::{Device, Given, Module, ShaderWave};
///
/// # fn main() -> Result<(), gcnjit::Error> {
/// let module = Module::open(&Device::new()?, "kernels/graphics/flat.gfx900.so")?;
/// let shader = module.kernel("flat_vs")?;
/// // The vertex's number is in v0.
/// let vertices = ShaderWave { vgprs: vec![std::array::from_fn(|lane| lane as u32)], exec: 0b111, ..Default::default() };
/// let mut given = Vec::new();
/// shader.shade().wave(vertices).run(&mut given)?;
/// let Given::Export(position) = &given[0] else { panic!("{given:?}") };
/// assert_eq!(position.target, gcnjit::rt::export::Target::Position(0));
/// assert_eq!([0, 1, 2].map(|lane| f32::from_bits(position.data[0][lane])), [-1.0, 3.0, -1.0]);
/// assert_eq!(position.channel(3, 0), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ShaderLaunch<'a> {
    shader: &'a Kernel,
    waves: Vec<ShaderWave>,
    border_colors: BorderColors,
    engine: Engine,
    slice: Option<u64>,
    deadline: Option<Duration>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> ShaderLaunch<'a> {
    pub(crate) fn new(shader: &'a Kernel) -> ShaderLaunch<'a> {
        ShaderLaunch {
            shader,
            waves: Vec::new(),
            border_colors: BorderColors::NONE,
            engine: Engine::Jit,
            slice: None,
            deadline: None,
            cancel: None,
        }
    }

    /// One more wave.
    pub fn wave(mut self, wave: ShaderWave) -> Self {
        self.waves.push(wave);
        self
    }

    /// More waves.
    pub fn waves(mut self, waves: impl IntoIterator<Item = ShaderWave>) -> Self {
        self.waves.extend(waves);
        self
    }

    /// The table of border colours, as [`Launch::border_colors`](crate::Launch::border_colors) has it.
    pub fn border_colors<T: Pod>(mut self, table: &'a Buffer<T>) -> Self {
        self.border_colors = BorderColors::at(table.address());
        self
    }

    /// What executes them; the translator, if nothing is said. [`Engine::Check`] compares exports too, and the sink gets
    /// them once.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Roughly how many instructions a wave executes between two looks at deadline and cancellation.
    pub fn slice(mut self, instructions: u64) -> Self {
        self.slice = Some(instructions);
        self
    }

    /// Ends the launch with [`Error::Stopped`] soon after it has run for `time`.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Ends the launch with [`Error::Stopped`] soon after `flag` is set.
    pub fn cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Runs the waves. It can be done again.
    ///
    /// # Errors
    /// [`Error::Launch`] if the kernel is no shader or a wave is given more than it has registers and LDS for; as
    /// [`Launch::run`](crate::Launch::run) if a wave gets stuck or is stopped, or engines differ. What was exported by
    /// then has been given to the sink, but with [`Engine::Check`].
    pub fn run(&self, sink: &mut dyn ExportSink) -> Result<Stats, Error> {
        match self.engine {
            Engine::Jit => self.translated(&Shared(RefCell::new(sink))),
            Engine::Interp => self.run_on(&Interpreter, &Shared(RefCell::new(sink))),
            Engine::Check => self.check(sink),
        }
    }

    fn translated(&self, sink: &dyn Sink) -> Result<Stats, Error> {
        let jit = self.shader.module().jit();
        let before = jit.time();
        let stats = self.run_on(jit, sink)?;
        Ok(Stats { translation: jit.time() - before, ..stats })
    }

    fn run_on<E: gcnjit_rt::Engine>(&self, engine: &E, sink: &dyn Sink) -> Result<Stats, Error> {
        let (waves, border_colors) = (&self.waves, self.border_colors);
        let launch = gcnjit_rt::ShaderLaunch { shader: self.shader.raw(), waves, sink, border_colors };
        let usual = Options::default();
        let options = Options {
            threads: 1,
            slice: self.slice.unwrap_or(usual.slice),
            cancel: self.cancel,
            deadline: self.deadline.and_then(|time| Instant::now().checked_add(time)),
        };
        let hardware = self.shader.module().device().hardware();
        let stats = shader::run(engine, hardware, &launch, &options);
        stats.map(Stats::from).map_err(|error| Error::dispatch(self.shader, error))
    }

    /// Both engines, on the same memory.
    fn check(&self, sink: &mut dyn ExportSink) -> Result<Stats, Error> {
        let device = self.shader.module().device();
        let (interp_given, jit_given) = (Recorder::default(), Recorder::default());
        let before = Snapshot::take(device);
        let interp = self.run_on(&Interpreter, &interp_given);
        let interp_left = Snapshot::take(device);
        before.restore(device);
        let jit = self.translated(&jit_given);
        let (interp_given, jit_given) = (interp_given.into_inner(), jit_given.into_inner());
        let stats = same_end(self.shader, jit, interp)?;
        let what = first_given(&jit_given, &interp_given);
        if let Some(what) = what.or_else(|| Snapshot::take(device).first_difference(&interp_left)) {
            return Err(difference(self.shader, what));
        }
        for given in &jit_given {
            match given {
                Given::Export(export) => sink.export(export),
                Given::Message(message) => sink.message(message),
            }
        }
        Ok(stats)
    }
}

/// The first export or message that differs.
fn first_given(jit: &[Given], interp: &[Given]) -> Option<What> {
    let number = (0..jit.len().max(interp.len())).find(|&i| jit.get(i) != interp.get(i))?;
    let text = |given: &[Given]| given.get(number).map(|given| format!("{given:x?}"));
    Some(What::Given { number, jit: text(jit), interp: text(interp) })
}
