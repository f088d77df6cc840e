//! Cases to text.

use super::value;
use crate::case::{Case, Contents, Grid, Pointer, Register, Space, Start};
use crate::program::{Item, Label};
use gcnjit_isa::{Inst, Target, asm, disas, encode};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Row, Wave};
use std::fmt::Write;

/// The filetest of a case; `about` becomes a comment at its head. It expects that the engines agree.
pub fn write(case: &Case, about: &str) -> String {
    let mut text = String::new();
    for line in about.lines() {
        line_of(&mut text, format_args!("; {line}"));
    }
    line_of(&mut text, format_args!("target {}", case.target));
    let mode = case.waves.first().map_or(0, |start| start.wave.mode.0);
    line_of(&mut text, format_args!("mode {mode:#x}"));
    for Grid { items: [x, y, z], group: [a, b, c] } in &case.launches {
        line_of(&mut text, format_args!("grid {x}x{y}x{z} of {a}x{b}x{c}"));
    }
    contents(&mut text, &case.contents);
    for (index, start) in case.waves.iter().enumerate() {
        if case.waves.len() > 1 {
            line_of(&mut text, format_args!("wave {index}"));
        }
        registers(&mut text, start);
    }
    line_of(&mut text, format_args!("run"));
    case.program.iter().for_each(|item| line_of(&mut text, format_args!("{}", item_text(item, case.target))));
    text
}

/// Appends a line; writing to a string cannot fail.
fn line_of(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(line);
    text.push('\n');
}

/// A line of a program.
pub fn item_text(item: &Item, target: Target) -> String {
    match item {
        Item::Label(label) => format!("{}:", name(*label)),
        Item::Inst(inst) => format!("  {}", inst_text(inst, target)),
        Item::Jump(inst, label) => {
            let text = disas::text(inst, target);
            let end = text.rfind([' ', ',']).map_or(text.len(), |at| at + 1);
            format!("  {}{}", &text[..end], name(*label))
        }
        Item::Offset(inst, label) => {
            let text = disas::text(inst, target);
            let end = text.rfind(' ').map_or(text.len(), |at| at + 1);
            format!("  {}pcrel({})", &text[..end], name(*label))
        }
    }
}

fn name(label: Label) -> String {
    format!("L{label}")
}

/// The instruction's text if that means it, otherwise its words: text can't tell a literal from the inline constant of
/// the same value.
fn inst_text(inst: &Inst, target: Target) -> String {
    let text = disas::text(inst, target);
    if asm::parse(&text, target).as_ref() == Ok(inst) {
        return text;
    }
    let words = encode(inst, target).map(|words| words.to_vec()).unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| format!("{word:#010x}")).collect();
    format!("words {} ; {text}", words.join(" "))
}

/// Memory that is not zero, eight dwords a line.
fn contents(text: &mut String, contents: &Contents) {
    for space in Space::ALL {
        for (line, bytes) in contents.of(space).chunks(32).enumerate() {
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last / 4 + 1);
            let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(0) / 4;
            let dwords = bytes.chunks_exact(4).take(used).skip(first);
            let values: Vec<String> =
                dwords.map(|b| value::text(u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into())).collect();
            if !values.is_empty() {
                let offset = line * 32 + first * 4;
                line_of(text, format_args!("memory {}[{offset:#x}] = {}", space.name(), values.join(" ")));
            }
        }
    }
}

/// Registers that are not zero.
fn registers(text: &mut String, start: &Start) {
    let wave = &start.wave;
    let mut set = |name: &str, value: u64, unless: u64| {
        if value != unless {
            line_of(text, format_args!("set {name} = {}", value::text(value)));
        }
    };
    set("exec", wave.exec(), u64::MAX);
    set("vcc", wave.sgpr64(reg::VCC), 0);
    set("m0", wave.sgpr[reg::M0].into(), 0);
    set("scc", wave.scc.into(), 0);
    let pointed = |first: u8| {
        let at = [Register::Sgpr(first), Register::Resource(first)];
        start.pointers.iter().any(|pointer| at.contains(&pointer.at))
    };
    let skip = |index: usize| matches!(index, 106 | 107 | 124 | 126 | 127);
    for (index, value) in wave.sgpr.iter().enumerate().filter(|(index, _)| !skip(*index)) {
        let in_pair = pointed(index as u8) || index > 0 && pointed(index as u8 - 1);
        if !in_pair {
            set(&format!("s{index}"), (*value).into(), 0);
        }
    }
    for (index, row) in wave.vgpr.iter().enumerate() {
        vector(text, index, row);
    }
    start.pointers.iter().for_each(|pointer| pointer_text(text, wave, pointer));
}

/// A VGPR: one value, or most lanes and the exceptions, or all lanes.
fn vector(text: &mut String, index: usize, row: &Row) {
    const EXCEPTIONS: usize = 6;
    let most = *row.iter().max_by_key(|value| row.iter().filter(|other| other == value).count()).unwrap_or(&0);
    let exceptions: Vec<usize> = (0..64).filter(|lane| row[*lane] != most).collect();
    if exceptions.len() <= EXCEPTIONS {
        if most != 0 {
            line_of(text, format_args!("set v{index} = {}", value::text(most.into())));
        }
        for lane in exceptions {
            line_of(text, format_args!("set v{index}[{lane}] = {}", value::text(row[lane].into())));
        }
        return;
    }
    for (first, lanes) in (0..).step_by(8).zip(row.chunks(8)).filter(|(_, lanes)| lanes.iter().any(|x| *x != 0)) {
        let values: Vec<String> = lanes.iter().map(|x| value::text((*x).into())).collect();
        line_of(text, format_args!("set v{index}[{first}:{}] = {}", first + 7, values.join(" ")));
    }
}

/// The lanes of a pointer, neighbours with the same offset on one line. What stands before is overwritten.
fn pointer_text(text: &mut String, wave: &Wave, pointer: &Pointer) {
    let space = pointer.to.name();
    match pointer.at {
        Register::Sgpr(first) | Register::Resource(first) => {
            let unit = if matches!(pointer.at, Register::Resource(_)) { "/256" } else { "" };
            let offset = value::text(wave.sgpr64(first.into()));
            line_of(text, format_args!("set s[{first}:{}] = &{space}{unit} + {offset}", first + 1));
        }
        Register::Vgpr(first) => {
            let high = first.wrapping_add(1);
            let (low_row, high_row) = (&wave.vgpr[usize::from(first)], &wave.vgpr[usize::from(high)]);
            let offset = |lane: usize| u64::from(low_row[lane]) | u64::from(high_row[lane]) << 32;
            let pointed = |lane: usize| pointer.lanes >> lane & 1 != 0;
            let mut lane = 0;
            while lane < 64 {
                let same = |next: &usize| pointed(*next) == pointed(lane) && offset(*next) == offset(lane);
                let end = (lane..64).take_while(same).count() + lane;
                if pointed(lane) {
                    let (last, offset) = (end - 1, value::text(offset(lane)));
                    line_of(text, format_args!("set v[{first}:{high}][{lane}:{last}] = &{space} + {offset}"));
                }
                lane = end;
            }
        }
    }
}
