//! Code objects on a device, and the kernels in them.

use crate::device::Device;
use crate::error::Error;
use crate::global::Global;
use crate::launch::Launch;
use crate::shader::ShaderLaunch;
use gcnjit_isa::Target;
use gcnjit_rt::code_object::raw::RawCode;
use gcnjit_rt::code_object::{Arg, ArgKind, Hidden};
use gcnjit_rt::{Image, KernelCode, LoadError, Loaded, Mode, RegisterFile, kernarg};
use gcnjit_translate::listing::{Form, listing};
use gcnjit_translate::pass::strides::Start;
use gcnjit_translate::{AtEnd, Jit, JitStats, Machine, Program};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A code object in a device's memory, with what has been translated of it. A handle; clones are the same module.
#[derive(Clone)]
pub struct Module(Arc<Shared>);

struct Shared {
    device: Device,
    /// What errors call it: its path, as a rule.
    name: String,
    loaded: Arc<Loaded>,
    jit: Jit,
}

impl Module {
    /// Loads a file: a code object or an offload bundle, of which the first part for a processor of ours is taken.
    ///
    /// # Errors
    /// [`Error::Read`] if it can't be read, [`Error::Load`] if it is not a code object that can be run.
    pub fn open(device: &Device, path: impl AsRef<Path>) -> Result<Module, Error> {
        Module::open_for(device, path, None)
    }

    /// The same, but of an offload bundle, the part for `target` is taken.
    ///
    /// ```
    /// use gcnjit::{Device, Module, Target};
    ///
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// let device = Device::new()?;
    /// let module = Module::open_for(&device, "kernels/containers/saxpy.hipfb", Some(Target::Gfx900))?;
    /// assert_eq!(module.target(), Target::Gfx900);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Module::open`]. A code object that is no bundle is loaded whatever it is for.
    pub fn open_for(device: &Device, path: impl AsRef<Path>, target: Option<Target>) -> Result<Module, Error> {
        let name = path.as_ref().display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Module::place(device, name, Image::parse_for(bytes, target)),
            Err(source) => Err(Error::Read { file: name, source }),
        }
    }

    /// Loads the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Load`] if they are not a code object that can be run.
    pub fn load(device: &Device, bytes: impl Into<Vec<u8>>) -> Result<Module, Error> {
        Module::load_named(device, "code object", bytes)
    }

    /// Loads the bytes of a file that errors shall call `name`.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_named(device: &Device, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Module, Error> {
        Module::place(device, name.into(), Image::parse(bytes.into()))
    }

    /// Loads bare code that errors shall call `name`. Its one kernel is [`RawCode::NAME`].
    ///
    /// ```
    /// use gcnjit::isa::asm;
    /// use gcnjit::rt::code_object::{Slot, UserSgpr};
    /// use gcnjit::{Device, Module, RawCode, Target};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = "v_lshlrev_b32 v1, 2, v0\nbuffer_store_dword v0, v1, s[0:3], 0 offen\ns_endpgm";
    /// let code: Vec<u8> = asm::assemble(text, Target::Gfx600)?.into_iter().flat_map(u32::to_le_bytes).collect();
    /// let mut raw = RawCode::new(Target::Gfx600);
    /// raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
    ///
    /// let device = Device::new()?;
    /// let module = Module::load_raw(&device, "numbers", code, &raw)?;
    /// let numbers = device.buffer::<u32>(3)?;
    /// module.kernel(RawCode::NAME)?.launch().grid(64).arg(&numbers).run()?;
    /// assert_eq!(numbers.read(), [0, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Load`] if it is not whole dwords, or values are given for the same SGPR or for too many.
    pub fn load_raw(
        device: &Device,
        name: impl Into<String>,
        code: impl Into<Vec<u8>>,
        raw: &RawCode,
    ) -> Result<Module, Error> {
        Module::place(device, name.into(), raw.image(code.into()))
    }

    /// Copies what was parsed to the device.
    fn place(device: &Device, name: String, image: Result<Image, LoadError>) -> Result<Module, Error> {
        match image.and_then(|image| Loaded::new(image, device.memory())) {
            Ok(loaded) => {
                let jit = Jit::for_program(program(&loaded));
                Ok(Module(Arc::new(Shared { device: device.clone(), name, loaded, jit })))
            }
            Err(source) => Err(Error::Load { file: name, source }),
        }
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The processor that it was built for.
    pub fn target(&self) -> Target {
        self.image().target
    }

    /// Names of its kernels, sorted.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.image().kernels.keys().map(String::as_str)
    }

    /// The kernel called `name`.
    ///
    /// # Errors
    /// [`Error::Load`] if there is none.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        match self.0.loaded.kernel(name) {
            Ok(kernel) => Ok(Kernel { module: self.clone(), kernel }),
            Err(source) => Err(self.load_error(source)),
        }
    }

    /// The variable called `name`, if it has one that the host can reach.
    pub fn global(&self, name: &str) -> Option<Global> {
        self.image().globals.get(name).map(|place| Global::new(self.clone(), *place))
    }

    /// Guest address of its image.
    pub(crate) fn base(&self) -> u64 {
        self.0.loaded.base()
    }

    /// Its parsed file.
    pub fn image(&self) -> &Image {
        self.0.loaded.image()
    }

    /// What has been translated so far, and what of it is kept.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// let device = gcnjit::Device::new()?;
    /// let module = gcnjit::Module::open(&device, "kernels/containers/globals.gfx900.co")?;
    /// module.kernel("count")?.launch().grid(100).run()?;
    /// let stats = module.translated();
    /// assert_eq!((stats.units, stats.translated), (1, 1));
    /// assert!(stats.code_bytes > 0 && stats.counts.libcalls["access"] > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn translated(&self) -> JitStats {
        self.jit().stats()
    }

    /// Keeps at most `bytes` of translated code; what was used longest ago is translated again when it is needed. 64 MiB
    /// if nothing is said. The code that was translated last stays in any case.
    pub fn limit_translations(&self, bytes: usize) {
        self.jit().set_limit(bytes);
    }

    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    pub(crate) fn jit(&self) -> &Jit {
        &self.0.jit
    }

    fn load_error(&self, source: LoadError) -> Error {
        Error::Load { file: self.0.name.clone(), source }
    }
}

/// What the translator is told about a loaded image: what is called how.
fn program(loaded: &Loaded) -> Program {
    let (base, image) = (loaded.base(), loaded.image());
    Program { symbols: image.kernels.iter().map(|(name, code)| (base + code.entry, name.clone())).collect() }
}

/// A kernel that can be launched. It keeps its module.
#[derive(Clone)]
pub struct Kernel {
    module: Module,
    kernel: gcnjit_rt::Kernel,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.code().name
    }

    /// The module that it is part of.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Its explicit arguments in order, as far as the file describes them.
    ///
    /// ```
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// let device = gcnjit::Device::new()?;
    /// let module = gcnjit::Module::open(&device, "kernels/saxpy/saxpy.gfx803.co")?;
    /// let types: Vec<_> = module.kernel("saxpy")?.args().map(|arg| arg.type_name.clone().unwrap()).collect();
    /// assert_eq!(types, ["float*", "float*", "float", "uint"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn args(&self) -> impl Iterator<Item = &Arg> {
        kernarg::explicit(self.code().args.as_deref().unwrap_or_default())
    }

    /// Whether it has a buffer to print to.
    pub(crate) fn prints(&self) -> bool {
        let prints = |arg: &Arg| arg.kind == ArgKind::Hidden(Hidden::PrintfBuffer);
        self.code().args.as_deref().is_some_and(|args| args.iter().any(prints))
    }

    /// What descriptor and metadata say: registers, LDS, scratch, work-group sizes.
    pub fn code(&self) -> &KernelCode {
        self.kernel.code()
    }

    /// The kernel as the runtime knows it.
    pub fn raw(&self) -> &gcnjit_rt::Kernel {
        &self.kernel
    }

    /// What the translator makes of it, between its instructions, for waves in `mode` or in the one that they start with.
    ///
    /// ```
    /// use gcnjit::{Device, Form, Module};
    ///
    /// # fn main() -> Result<(), gcnjit::Error> {
    /// let module = Module::open(&Device::new()?, "kernels/saxpy/saxpy.gfx900.co")?;
    /// let text = module.kernel("saxpy")?.listing(Form::Lane, None)?;
    /// assert!(text.starts_with("block saxpy+0x0"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Listing`] if it can't be translated.
    pub fn listing(&self, form: Form, mode: Option<Mode>) -> Result<String, Error> {
        let (module, mode) = (&self.module, mode.unwrap_or_else(|| self.kernel.mode()));
        let (view, target) = (module.device().memory().view(), module.target());
        let code = self.kernel.code();
        let registers = RegisterFile::of(code.rsrc1, target.generation());
        let group_id = code.rsrc2.group_id(0).then_some(code.rsrc2.user_sgprs() as u8);
        let start = Start::of_kernel(self.kernel.entry(), group_id);
        let machine = Machine { target, registers, exceptions: view.names_trapsts(), at_end: AtEnd::Nothing };
        let text = listing(form, module.jit().program(), &view, machine, &start, mode);
        text.map_err(|source| {
            let (file, kernel) = (module.name().to_owned(), self.name().to_owned());
            Error::Listing { file, kernel, source }
        })
    }

    /// A launch of it as the shader that it is, to be described.
    pub fn shade<'a>(&'a self) -> ShaderLaunch<'a> {
        ShaderLaunch::new(self)
    }

    /// A launch of it, to be described.
    pub fn launch<'a>(&'a self) -> Launch<'a> {
        Launch::new(self)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name()).field("target", &self.target()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("module", &self.module).field("name", &self.name()).finish_non_exhaustive()
    }
}
