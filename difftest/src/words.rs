//! Random words of a row: all fields random but the opcode, so that every operand kind and modifier comes up.
//!
//! What decodes to the row is taken, whatever it is: the decoder says what is valid, not a list here.

use crate::program::canonical;
use crate::random::Random;
use gcnjit_isa::{Decoder, Encoding, Format, Gen, Inst, Op, Second, Target};

/// How an encoding is drawn: the fixed bits of its first two words, and which bits are random.
#[derive(Clone, Copy, Debug)]
struct Form {
    fixed: u32,
    fixed_second: u32,
    free: u32,
    free_second: u32,
}

/// A random instruction of the row in this encoding, if one turns up.
pub fn draw(random: &mut Random, op: Op, encoding: Encoding, target: Target) -> Option<Inst> {
    let decoder = Decoder::new(target);
    for _ in 0..200 {
        let form = form(random, encoding, target.generation())?;
        let first = form.fixed | random.next() as u32 & form.free;
        let second = form.fixed_second | random.next() as u32 & form.free_second;
        let words = [first, second, random.dword()];
        match decoder.decode(&words) {
            Ok(inst) if inst.op == op => {
                // Bits that decoding ignores are dropped: the words that run are those that the text stands for.
                if let Some(inst) = canonical(inst, target) {
                    return Some(inst);
                }
            }
            _ => {}
        }
    }
    None
}

fn form(random: &mut Random, encoding: Encoding, generation: Gen) -> Option<Form> {
    let (code, old) = (u32::from(encoding.opcode), generation < Gen::Gfx8);
    let shift = u32::from(old);
    let form = |fixed: u32, free: u32| Some(Form { fixed, fixed_second: 0, free, free_second: u32::MAX });
    // The place of source 0 says that an SDWA or DPP word follows.
    let (second, source0) = match encoding.second {
        None => (0, 0x1ff),
        Some(Second::Sdwa) => (0xf9, 0),
        Some(Second::Dpp) => (0xfa, 0),
    };
    match encoding.format {
        Format::Sop2 => form(2 << 30 | code << 23, 0x007f_ffff),
        Format::Sopk => form(0xb << 28 | code << 23, 0x007f_ffff),
        Format::Sop1 => form(0x17d << 23 | code << 8, 0x007f_00ff),
        Format::Sopc => form(0x17e << 23 | code << 16, 0x0000_ffff),
        Format::Sopp => form(0x17f << 23 | code << 16, 0x0000_ffff),
        Format::Vop2 => form(code << 25 | second, 0x01ff_fe00 | source0),
        Format::Vop1 => form(0x3f << 25 | code << 9 | second, 0x01fe_0000 | source0),
        Format::Vopc => form(0x3e << 25 | code << 17 | second, 0x0001_fe00 | source0),
        Format::Vop3a | Format::Vop3b => form(0x34 << 26 | code << (16 + shift), (1 << (16 + shift)) - 1),
        Format::Vop3p => form(0x1a7 << 23 | code << 16, 0x0000_ffff),
        Format::Vintrp => form((if old { 0x32 } else { 0x35 }) << 26 | code << 16, 0x03fc_ffff),
        Format::Exp => form((if old { 0x3e } else { 0x31 }) << 26, 0x1fff),
        _ => memory(random, encoding.format, code, generation),
    }
}

/// Memory encodings: offsets of several sizes, and fields that are rarely set in programs are rarely set.
fn memory(random: &mut Random, format: Format, code: u32, generation: Gen) -> Option<Form> {
    let old = generation < Gen::Gfx8;
    let shift = u32::from(old);
    let offset = random.pick(&[0xfff, 0x7c, 0x3f8, 0x3f, 0xc, 0]);
    let mut rarely = |bits: u32| if random.once_in(8) { bits } else { 0 };
    let tfe = 0xff7f_ffff | rarely(0x80_0000);
    let (fixed, free, free_second) = match format {
        Format::Smem if old => (0x18 << 27 | code << 22, 0x003f_ffff, u32::MAX),
        Format::Smem => (0x30 << 26 | code << 18, 0x0003_ffff, u32::MAX),
        Format::Ds => {
            let offsets = random.pick(&[0xffff, 0x0f0f, 0x007c, 0x0303, 0x8007, 0]);
            let gds = if random.once_in(4) { 0x1_0000 << shift } else { 0 };
            (0x36 << 26 | code << (17 + shift) | gds, offsets, u32::MAX)
        }
        Format::Mubuf => {
            let lds = rarely(0x1_0000) | rarely(if old { 0x8000 } else { 0 });
            (0x38 << 26 | code << 18, 0x2_7000 | offset | lds, tfe)
        }
        Format::Mtbuf => {
            let addr64 = rarely(if old { 0x8000 } else { 0 });
            (0x3a << 26 | code << if old { 16 } else { 15 }, 0x03f8_7000 | offset | addr64, tfe)
        }
        Format::Flat if generation == Gen::Gfx9 => {
            let lds = rarely(0x2000);
            let no_base = if random.once_in(2) { 0x7f_0000 } else { 0 };
            let form = Form {
                fixed: 0x37 << 26 | code << 18,
                fixed_second: no_base,
                free: 0x3_d000 | offset | lds,
                free_second: !no_base,
            };
            return Some(form);
        }
        Format::Mimg => {
            // Masks that atomics take, as well as any.
            let dmask = random.pick(&[0x100, 0x300, 0xf00, 0]);
            let any = if dmask == 0 { 0xf00 } else { 0 };
            let mut rarely = |bits: u32| if random.once_in(8) { bits } else { 0 };
            let first = 0x0200_f000 & !0x8000 | any | rarely(0x8000) | rarely(0x1_0000) | rarely(0x2_0000);
            (0x3c << 26 | code << 18 | dmask, first, 0x03ff_ffff | rarely(0x8000_0000))
        }
        Format::Flat => (0x37 << 26 | code << 18, 0x3_0000, 0xff7f_ffff | rarely(0x80_0000)),
        _ => return None,
    };
    Some(Form { fixed, fixed_second: 0, free, free_second })
}
