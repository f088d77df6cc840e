//! Units of host code, and running waves in them.
//!
//! A [`Unit`] is one host function for all blocks that are reachable from an entry by direct jumps, under one MODE.
//! Its memory is written before it is made executable and never after.

use crate::access::{Bad, Site};
use crate::fenv;
use crate::lane::Fenv;
use crate::libcall;
use crate::lower::{self, Planned, Shaping};
use crate::wide;
use cranelift_codegen as codegen;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use gcnjit_rt::{Env, Mode, Trap, Wave};
use std::collections::HashMap;
use std::sync::OnceLock;

/// How translated code comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Exit {
    /// s_endpgm.
    End,
    /// s_barrier.
    Barrier,
    /// The slice is used up or given up.
    Yield,
    /// The wave goes on at `wave.pc`, which is not part of the unit, or in another MODE.
    Jump,
    /// A memory access faulted; `Context::bad` says how.
    Fault,
    /// An instruction asked for a trap handler.
    Trap,
    /// The wave halted itself.
    Halt,
    /// An instruction that no document gives a meaning.
    Undocumented,
    /// The instruction at `wave.pc` is one of [`crate::meet`].
    Meet,
}

impl Exit {
    fn from_code(code: u32) -> Exit {
        use Exit::{Barrier, End, Fault, Halt, Jump, Meet, Trap, Undocumented, Yield};
        const ALL: [Exit; 9] = [End, Barrier, Yield, Jump, Fault, Trap, Halt, Undocumented, Meet];
        ALL[code as usize]
    }
}

/// What translated code is called with beside the wave.
#[repr(C)]
pub struct Context<'a> {
    /// `Wave::executed` at which a backward jump gives up the slice.
    pub limit: u64,
    /// The machine around the wave.
    pub env: &'a Env<'a>,
    /// This thread's memory of each access of the unit.
    pub sites: &'a mut [Site],
    /// The first of `sites`, for translated code.
    pub first_site: *const Site,
    /// MXCSR of the thread.
    pub host: u32,
    /// The LDS as if it were an allocation.
    pub lds: Site,
    /// The first bad lane of the access that faulted.
    pub bad: Option<Bad>,
}

impl<'a> Context<'a> {
    /// Nothing bad yet. `host` is this thread's MXCSR: reading it would cost as much as a short block.
    pub fn new(limit: u64, env: &'a Env<'a>, sites: &'a mut [Site], host: u32) -> Context<'a> {
        let first_site = sites.as_ptr();
        let lds = Site::of(env.lds.as_ptr().expose_provenance() as u64, env.lds.size().into());
        Context { limit, env, sites, first_site, host, lds, bad: None }
    }
}

type Entry = unsafe extern "C" fn(*mut Wave, *mut Context<'_>, u32) -> u32;

/// A translated unit.
pub struct Unit {
    /// Which number it has in its cache.
    pub id: usize,
    /// MODE it was translated for.
    pub mode: Mode,
    /// Its blocks, in entry order.
    pub blocks: Vec<Planned>,
    /// Entry index by guest address.
    pub entries: HashMap<u64, u32>,
    /// Memory accesses in it.
    pub accesses: usize,
    /// Bytes of host code.
    pub code_size: usize,
    /// The function in CLIF, as it was compiled.
    pub clif: String,
    entry: Entry,
    /// The environment its blocks start and end in.
    mxcsr: u32,
    module: Option<JITModule>,
    /// Its segments, which the function calls.
    #[expect(dead_code, reason = "kept for as long as the function")]
    wide: Option<wide::Code>,
}

// SAFETY: the module is touched again only when the unit is dropped, by its last owner; until then the code is
// immutable, and blocks and accesses are plain data.
unsafe impl Send for Unit {}
// SAFETY: as above.
unsafe impl Sync for Unit {}

impl Drop for Unit {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the last owner of the unit is gone, so nobody runs or will run the code.
            unsafe { module.free_memory() };
        }
    }
}

/// The host instruction set with the settings translated code needs.
fn host() -> &'static OwnedTargetIsa {
    static HOST: OnceLock<OwnedTargetIsa> = OnceLock::new();
    HOST.get_or_init(host_isa)
}

fn host_isa() -> OwnedTargetIsa {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "none"), ("enable_verifier", "false"), ("is_pic", "false")] {
        flags.set(name, value).expect("a setting of this cranelift");
    }
    if cfg!(debug_assertions) {
        flags.set("enable_verifier", "true").expect("a setting of this cranelift");
    }
    let builder = cranelift_native::builder().expect("cranelift knows this host");
    builder.finish(settings::Flags::new(flags)).expect("the host's own features are consistent")
}

/// Compiles planned blocks; the first is the entry.
///
/// # Errors
/// [`Trap::Host`] if the code generator has no code for something, or the host no memory for the result.
pub fn compile(id: usize, blocks: Vec<Planned>, mode: Mode, shaping: Shaping) -> Result<Unit, Box<Trap>> {
    let isa = host();
    let refused = |what: String| {
        let pc = blocks.first().map_or(0, |planned| planned.block.pc);
        Box::new(Trap::Host { pc, what })
    };
    let wide = wide::is_available().then(|| wide::Code::assemble(&blocks)).transpose();
    let wide = wide.map_err(|error| refused(error.to_string()))?;
    let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
    let mut context = module.make_context();
    context.func.signature = lower::signature(isa.default_call_conv());
    lower::lower(&mut context.func, isa.as_ref(), &blocks, mode, shaping, wide.as_ref());
    let clif = if cfg!(debug_assertions) { context.func.display().to_string() } else { String::new() };
    let function = define(&mut module, &mut context, id).map_err(|error| refused(error.to_string()))?;
    let code_size = context.compiled_code().map_or(0, |code| code.code_buffer().len());
    let code_size = code_size + wide.as_ref().map_or(0, wide::Code::size);
    let address = module.get_finalized_function(function);
    // SAFETY: the function was just compiled with this signature and calling convention.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
    let entries = blocks.iter().enumerate().map(|(i, planned)| (planned.block.pc, i as u32)).collect();
    let accesses = blocks.iter().map(|planned| planned.block.accesses.len()).sum();
    Ok(Unit {
        id,
        mode,
        blocks,
        entries,
        accesses,
        code_size,
        clif,
        entry,
        mxcsr: fenv::mxcsr(mode, Fenv::F32),
        module: Some(module),
        wide,
    })
}

fn define(module: &mut JITModule, context: &mut codegen::Context, id: usize) -> Result<FuncId, Box<ModuleError>> {
    let function = module.declare_function(&format!("unit{id}"), Linkage::Export, &context.func.signature)?;
    module.define_function(function, context)?;
    module.finalize_definitions()?;
    Ok(function)
}

impl Unit {
    /// Runs `wave` from block `index` until it leaves the unit.
    pub fn run(&self, wave: &mut Wave, context: &mut Context<'_>, index: u32) -> Exit {
        debug_assert_eq!(context.sites.len(), self.accesses);
        let host = context.host;
        let changes = (host ^ self.mxcsr) & !fenv::FLAGS != 0;
        if changes {
            libcall::set_mxcsr(self.mxcsr);
        }
        // SAFETY: the code was made from checked lane IR: it writes the wave, the context and its own frame only,
        // and calls libcalls with arguments that keep their contracts. `index` is one of the unit's entries.
        let exit = Exit::from_code(unsafe { (self.entry)(wave, context, index) });
        // A block ends in the environment it began in, but an access that faults leaves from another one.
        if changes || exit == Exit::Fault {
            libcall::set_mxcsr(host);
        }
        exit
    }
}
