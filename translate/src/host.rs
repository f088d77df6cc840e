//! A unit's function in executable memory, as one of two compilers has made it.
//!
//! Memory is written before it is made executable and never after.

use crate::baseline;
use crate::jit::{Place, host};
use cranelift_codegen::ir::SourceLoc;
use cranelift_codegen::{Context, Final, MachSrcLoc};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use memmap2::{Mmap, MmapMut};
use std::io;
use std::ops::Range;
use thiserror::Error;

/// Why there is no code.
#[derive(Debug, Error)]
pub enum Refused {
    /// The code generator has none for something.
    #[error(transparent)]
    Generator(#[from] Box<ModuleError>),
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] io::Error),
}

/// A compiled function.
pub struct Host {
    address: *const u8,
    size: usize,
    /// Where the code of guest instructions is, by start.
    pub places: Vec<Place>,
    memory: Memory,
}

/// What keeps the code.
enum Memory {
    /// A mapping of its own.
    Mapping { _mapping: Mmap },
    /// What Cranelift has allocated; there until it is dropped.
    Module(Option<Box<JITModule>>),
}

// SAFETY: the module is touched again only when this is dropped, by its last owner; until then the code is immutable.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Drop for Host {
    fn drop(&mut self) {
        if let Memory::Module(module) = &mut self.memory
            && let Some(module) = module.take()
        {
            // SAFETY: the last owner of the code is gone, so nobody runs or will run it.
            unsafe { module.free_memory() };
        }
    }
}

/// Code in a mapping that was written once.
///
/// # Errors
/// If the host has no memory for it.
pub fn executable(code: &[u8]) -> io::Result<Mmap> {
    let mut memory = MmapMut::map_anon(code.len().max(1))?;
    memory[..code.len()].copy_from_slice(code);
    memory.make_exec()
}

impl Host {
    /// Compiles the function in `context`, whose source locations count from `base`. With `wide`, which says that it leaves
    /// lanes to the wider back end, the baseline compiler is asked first.
    pub fn compile(context: &mut Context, base: u64, wide: bool) -> Result<Host, Refused> {
        let code = if wide && baseline::is_available() { baseline::compile(&context.func) } else { None };
        match code {
            Some(code) => Host::map(&code, base),
            None => Ok(Host::generate(context, base)?),
        }
    }

    /// Puts code into memory.
    fn map(code: &baseline::Code, base: u64) -> Result<Host, Refused> {
        let mapping = executable(&code.bytes)?;
        let place = |(range, location): &(Range<u32>, SourceLoc)| Place {
            start: range.start,
            end: range.end,
            pc: base + u64::from(location.bits()),
        };
        let places = code.places.iter().map(place).collect();
        let (address, size) = (mapping.as_ptr(), mapping.len());
        Ok(Host { address, size, places, memory: Memory::Mapping { _mapping: mapping } })
    }

    /// Lets Cranelift compile it.
    fn generate(context: &mut Context, base: u64) -> Result<Host, Box<ModuleError>> {
        let mut module = JITModule::new(JITBuilder::with_isa(host().clone(), default_libcall_names()));
        let function = module.declare_anonymous_function(&context.func.signature)?;
        module.define_function(function, context)?;
        module.finalize_definitions()?;
        let buffer = &context.compiled_code().expect("it was just compiled").buffer;
        let located = buffer.get_srclocs_sorted().iter().filter(|place| !place.loc.is_default());
        let place = |place: &MachSrcLoc<Final>| Place {
            start: place.start,
            end: place.end,
            pc: base + u64::from(place.loc.bits()),
        };
        let (size, places) = (buffer.data().len(), located.map(place).collect());
        let address = module.get_finalized_function(function);
        Ok(Host { address, size, places, memory: Memory::Module(Some(Box::new(module))) })
    }

    /// Whether the baseline compiler has made it.
    pub fn is_baseline(&self) -> bool {
        matches!(self.memory, Memory::Mapping { .. })
    }

    /// Its first instruction.
    pub fn address(&self) -> *const u8 {
        self.address
    }

    /// The code.
    pub fn code(&self) -> &[u8] {
        // SAFETY: the function's code begins at its address and is as long as it was when it was compiled; it stays mapped
        // and unchanged while this lives.
        unsafe { std::slice::from_raw_parts(self.address, self.size) }
    }
}
