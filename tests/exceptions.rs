//! Kernels that read TRAPSTS, on both engines: each wave has its own, and those that never ask don't pay for it.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::{Mode, RegisterFile, Trap, trapsts};
use gcnjit::{Device, Engine, Form, Module, RawCode, Target};
use gcnjit_isa::Decoder;
use gcnjit_translate::cfg::GuestBlock;
use gcnjit_translate::{AtEnd, Machine, build};

const TARGETS: [Target; 4] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900];

fn module(device: &Device, target: Target, text: &str) -> Module {
    let code: Vec<u8> = asm::assemble(text, target).unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
    let mut raw = RawCode::new(target);
    raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
    (raw.group_ids, raw.item_ids) = (1, 1);
    Module::load_raw(device, "exceptions", code, &raw).unwrap()
}

/// Each wave divides its work-group's number by its own, and stores what that raised.
const DIVIDE: &str = "
    v_cvt_f32_u32 v1, s4
    s_mov_b32 s5, 0
again:
    v_rcp_f32 v2, v1
    v_mul_f32 v3, 3.0, v2
    s_add_u32 s5, s5, 1
    s_cmp_lg_u32 s5, 3
    s_cbranch_scc1 again
    s_getreg_b32 s6, hwreg(HW_REG_TRAPSTS)
    s_lshl_b32 s7, s4, 2
    v_mov_b32 v4, s6
    s_mov_b64 exec, 1
    buffer_store_dword v4, off, s[0:3], s7
    s_endpgm
";

#[test]
fn every_wave_has_its_own() {
    for target in TARGETS {
        for engine in [Engine::Jit, Engine::Interp] {
            let device = Device::new().unwrap();
            let (module, buffer) = (module(&device, target, DIVIDE), device.buffer::<u32>(5).unwrap());
            let kernel = module.kernel(RawCode::NAME).unwrap();
            kernel.launch().grid(5 * 64).block(64).engine(engine).arg(&buffer).run().unwrap();
            // 1 / 0, and 3 · ∞; 1 and 1/2 and 1/4 are exact; 1/3 is not.
            assert_eq!(buffer.read(), [4, 0, 0, 0x20, 0], "{target} {engine:?}");
        }
    }
}

/// Translated code keeps exceptions where the kernel's module has an instruction that names TRAPSTS, and nowhere else.
#[test]
fn what_never_asks_does_not_pay() {
    let plain: String = DIVIDE.lines().filter(|line| !line.contains("s_getreg_b32")).collect::<Vec<_>>().join("\n");
    for (text, kept) in [(DIVIDE, true), (plain.as_str(), false)] {
        let device = Device::new().unwrap();
        let module = module(&device, Target::Gfx803, text);
        let listing = module.kernel(RawCode::NAME).unwrap().listing(Form::Lane, None).unwrap();
        assert_eq!(listing.contains("SetTrapsts"), kept, "{listing}");
    }
}

/// Code that was not there when it was looked for is refused by name.
#[test]
fn code_that_does_not_keep_exceptions_cannot_name_the_register() {
    for target in TARGETS {
        let text = "s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 0, 7)";
        let words = asm::assemble(text, target).unwrap();
        let inst = Decoder::new(target).decode(&words).unwrap();
        let guest = GuestBlock { instructions: vec![(0x1000, inst)] };
        let (registers, at_end) = (RegisterFile::ALL, AtEnd::Registers);
        let machine = |exceptions| Machine { target, registers, exceptions, at_end };
        let trap = build::block(&guest, machine(false), Mode(0)).err().expect("exceptions are not kept");
        assert!(matches!(*trap, Trap::Unimplemented { pc: 0x1000, what: trapsts::NOT_KEPT, .. }), "{trap}");
        assert!(build::block(&guest, machine(true), Mode(0)).is_ok());
    }
}
