//! Kernels from text, and a proof that a device still works.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Arg, Device, Engine, Kernel, Module, RawCode, Target};

/// Both.
pub const ENGINES: [Engine; 2] = [Engine::Jit, Engine::Interp];
/// Those with flat addresses.
pub const FLAT: [Target; 3] = [Target::Gfx700, Target::Gfx803, Target::Gfx900];

/// How text is started that gets its first argument's address in s[0:1] and its second's in s[2:3]; the work-group's
/// coordinates follow from s4 on, the work-item's are in v0 to v2.
pub fn raw(target: Target) -> RawCode {
    let mut raw = RawCode::new(target);
    for argument in 0..2 {
        raw.sgprs.insert(argument * 2, UserSgpr::Address(Slot::Argument(argument.into())));
    }
    raw
}

/// A kernel of text that is started as [`raw`] says.
pub fn kernel(device: &Device, target: Target, text: &str) -> Kernel {
    kernel_with(device, &raw(target), text)
}

/// A kernel of text.
pub fn kernel_with(device: &Device, raw: &RawCode, text: &str) -> Kernel {
    let words = asm::assemble(text, raw.target).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    Module::load_raw(device, "text", code, raw).and_then(|module| module.kernel(RawCode::NAME)).unwrap()
}

/// Each engine on each target with flat addresses.
pub fn flat_cases() -> impl Iterator<Item = (Target, Engine)> {
    FLAT.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine)))
}

/// After whatever happened, a kernel must run and give the right result.
pub fn still_works(device: &Device, engine: Engine) {
    let text = "v_mov_b32 v1, s0\nv_mov_b32 v2, s1\nv_mov_b32 v3, 1\nflat_atomic_add v[1:2], v3\ns_endpgm";
    let kernel = kernel(device, Target::Gfx900, text);
    let cell = device.buffer_from(&[7u32]).unwrap();
    kernel.launch().grid(1000).block(256).engine(engine).arg(&cell).arg(Arg::pointer(0)).run().unwrap();
    assert_eq!(cell.read(), [1007]);
}
