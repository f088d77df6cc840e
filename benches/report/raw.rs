//! Bare gfx900 code on a device of its own.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Buffer, Device, JitStats, Kernel, Module, RawCode, Target};
use std::time::Duration;

/// Bytes of the buffer that code finds at s[0:1].
const BUFFER: usize = 1 << 16;

/// A kernel of bare code with its buffer.
pub struct Raw {
    kernel: Kernel,
    buffer: Buffer<u8>,
}

impl Raw {
    /// Assembles `text`; a work-group has `lds` bytes of LDS.
    pub fn new(text: &str, lds: u32) -> Raw {
        let device = Device::with_threads(1).expect("a device");
        let words = asm::assemble(text, Target::Gfx900).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let mut raw = RawCode { lds, ..RawCode::new(Target::Gfx900) };
        raw.sgprs.insert(0, UserSgpr::Address(Slot::Argument(0)));
        let module = Module::load_raw(&device, "bench", code, &raw).expect("code that loads");
        let kernel = module.kernel(RawCode::NAME).expect("its one kernel");
        Raw { kernel, buffer: device.buffer(BUFFER).expect("room") }
    }

    /// Runs work-groups of `block` work-items.
    pub fn run(&self, groups: u32, block: u32) -> Duration {
        let launch = self.kernel.launch().grid(groups * block).block(block).arg(&self.buffer);
        launch.run().expect("code that runs").time
    }

    /// What was translated.
    pub fn translated(&self) -> JitStats {
        self.kernel.module().translated()
    }
}
