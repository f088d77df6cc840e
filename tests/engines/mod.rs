//! What differential tests of single instructions share: random words and values, the one-instruction unit, and the
//! text of a difference.
#![allow(dead_code, reason = "a test that includes this module uses a part of it")]

pub use gcnjit_difftest::random::Random;
use gcnjit_isa::{Decoder, Inst, Op, Operand, Target};
use gcnjit_rt::{Mode, Trap, Wave};
use gcnjit_translate::Machine;
use gcnjit_translate::jit::Unit;

/// Those that are tested.
pub const TARGETS: [Target; 5] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906];

/// The fixed bits of the two words of an encoding, and the bits that may vary.
pub type Form = ([u32; 2], [u32; 2]);

/// A word of the row in the encoding that decodes, if one turns up.
pub fn words(random: &mut Random, decoder: Decoder, op: Op, form: Form) -> Option<([u32; 3], Inst)> {
    let ([first, second], [free, free_second]) = form;
    for _ in 0..400 {
        let words = [first | random.next() as u32 & free, second | random.next() as u32 & free_second, random.dword()];
        match decoder.decode(&words) {
            Ok(inst) if inst.op == op => return Some((words, inst)),
            _ => {}
        }
    }
    None
}

/// The registers in which the waves differ, as text.
pub fn difference(inst: &Inst, before: &Wave, got: &Wave, expected: &Wave) -> String {
    let mut text = String::new();
    for (register, (got, expected)) in got.vgpr.iter().zip(&expected.vgpr).enumerate() {
        for lane in (0..64).filter(|lane| got[*lane] != expected[*lane]).take(3) {
            text += &format!("v{register}[{lane}]: jit {:#010x} interp {:#010x}\n", got[lane], expected[lane]);
            text += &sources(inst, before, lane);
        }
    }
    for (register, (got, expected)) in got.sgpr.iter().zip(&expected.sgpr).enumerate() {
        if got != expected {
            text += &format!("s{register}: jit {got:#010x} interp {expected:#010x}\n");
        }
    }
    if got.trapsts != expected.trapsts {
        text += &format!("trapsts: jit {:#x} interp {:#x}\n", got.trapsts, expected.trapsts);
    }
    if got.scc != expected.scc || got.mode != expected.mode {
        text += &format!("scc, mode: jit {} {:?} interp {} {:?}\n", got.scc, got.mode, expected.scc, expected.mode);
    }
    text
}

/// The register sources of the instruction in a lane, for the report.
fn sources(inst: &Inst, wave: &Wave, lane: usize) -> String {
    let value = |operand| match operand {
        Operand::Vgpr(v) => {
            let v = usize::from(v);
            format!(" v{v}={:#010x}:{:08x}", wave.vgpr[(v + 1) & 255][lane], wave.vgpr[v][lane])
        }
        Operand::Sgpr(s) => format!(" s{s}={:#x}", wave.sgpr64(usize::from(s).min(126))),
        other => format!(" {other:?}"),
    };
    format!("   from{}\n", inst.src.iter().map(|operand| value(*operand)).collect::<String>())
}

/// Translates the one instruction, at `pc`.
pub fn one(pc: u64, machine: Machine, inst: &Inst, mode: Mode) -> Result<Unit, Box<Trap>> {
    let guest = gcnjit_translate::cfg::GuestBlock { instructions: vec![(pc, *inst)] };
    gcnjit_translate::translate_block(guest, machine, mode)
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
