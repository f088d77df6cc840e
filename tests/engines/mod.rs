//! What differential tests of single instructions share: random words and values, the one-instruction unit, and the
//! text of a difference.
#![allow(dead_code, reason = "a test that includes this module uses a part of it")]

use gcnjit_isa::{Decoder, Inst, Op, Operand, Target};
use gcnjit_rt::{Mode, Trap, Wave};
use gcnjit_translate::Machine;
use gcnjit_translate::jit::Unit;

/// Those that are tested.
pub const TARGETS: [Target; 5] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906];

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A dword that is often interesting as an integer, a float, a pair of halves or half of a double.
    pub fn dword(&mut self) -> u32 {
        const EDGES: [u32; 40] = [
            0,
            1,
            2,
            31,
            32,
            33,
            63,
            64,
            0x7f,
            0x80,
            0xff,
            0x7fff,
            0x8000,
            0xffff,
            0x7f_ffff,
            0x80_0000,
            0xff_ffff,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffc0_1234,
            0x7f80_0001,
            0xffa0_0000,
            0x007f_ffff,
            0x807f_ffff,
            0x7f7f_ffff,
            0x3ff0_0000,
            0x7ff0_0000,
            0x7ff8_0000,
            0xfff0_0001,
            0x000f_ffff,
            0x7c00_7e01,
            0x0001_8400,
            0x3c00_fc01,
        ];
        match self.below(8) {
            0..=2 => self.pick(&EDGES),
            3 => self.below(70) as u32,
            // A float of moderate size, or with few bits: halves, whole numbers, the limits of integers; f32, f64.
            4 => (self.next() as u32 & 0x807f_ffff) | (120 + self.below(16) as u32) << 23,
            5 if self.below(2) == 0 => (self.next() as u32 & 0x807c_0000) | (118 + self.below(46) as u32) << 23,
            5 => (self.next() as u32 & 0x800f_8000) | (1014 + self.below(46) as u32) << 20,
            // A denormal, or about to be one.
            6 => self.next() as u32 & 0x81ff_ffff,
            _ => self.next() as u32,
        }
    }

    pub fn mask(&mut self) -> u64 {
        match self.below(4) {
            0 | 1 => u64::MAX,
            2 => self.next(),
            _ => self.next() & self.next() & self.next(),
        }
    }
}

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
    gcnjit_translate::translate_block(&guest, machine, mode)
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
