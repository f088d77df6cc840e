//! Who wrote what last.

use crate::lockstep::shadow::{Space, Span};
use gcnjit_interp::observe::Step;
use gcnjit_rt::LANES;
use std::collections::HashMap;

/// Bytes that are kept track of together.
const PAGE: u64 = 256;

/// A wave: its work-group's coordinates, and its place there.
pub type WaveId = ([u32; 3], u32);

/// The instruction that wrote something, by its address, and its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Address of the instruction.
    pub pc: u64,
    /// The wave.
    pub wave: WaveId,
}

/// Addresses of the instructions that wrote a wave's registers last; 0 for those that still are as the wave began.
pub struct RegisterWriters {
    sgprs: [u64; 128],
    vgprs: Box<[[u64; LANES]]>,
    scc: u64,
    mode: u64,
    trapsts: u64,
}

/// A register, or a lane of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// A scalar register, by operand code.
    Sgpr(u8),
    /// A lane of a vector register.
    Vgpr(u8, usize),
    /// The scalar condition code.
    Scc,
    /// MODE.
    Mode,
    /// TRAPSTS.
    Trapsts,
    /// The program counter.
    Pc,
}

impl Default for RegisterWriters {
    fn default() -> Self {
        RegisterWriters { sgprs: [0; 128], vgprs: vec![[0; LANES]; 256].into(), scc: 0, mode: 0, trapsts: 0 }
    }
}

/// Whether an instruction may have written a register.
pub fn writes(step: &Step, register: Register) -> bool {
    match register {
        Register::Sgpr(s) => step.writes.has_sgpr(s),
        Register::Vgpr(v, lane) => step.writes.has_vgpr(v) && lanes(step) >> lane & 1 != 0,
        Register::Scc => step.writes.scc,
        Register::Mode => step.writes.mode,
        Register::Trapsts => step.inst.may_write_trapsts(),
        Register::Pc => true,
    }
}

/// The lanes whose registers an instruction writes: v_writelane does not ask EXEC.
fn lanes(step: &Step) -> u64 {
    if step.inst.op.crosses_lanes() { u64::MAX } else { step.exec }
}

impl RegisterWriters {
    /// Takes note of an instruction.
    pub fn record(&mut self, step: &Step) {
        step.writes.sgprs().for_each(|s| self.sgprs[usize::from(s)] = step.pc);
        let lanes = lanes(step);
        for v in step.writes.vgprs() {
            let row = &mut self.vgprs[usize::from(v)];
            (0..LANES).filter(|lane| lanes >> lane & 1 != 0).for_each(|lane| row[lane] = step.pc);
        }
        if step.writes.scc {
            self.scc = step.pc;
        }
        if step.writes.mode {
            self.mode = step.pc;
        }
        if step.inst.may_write_trapsts() {
            self.trapsts = step.pc;
        }
    }

    /// Address of the instruction that wrote a register last.
    pub fn of(&self, register: Register) -> Option<u64> {
        let pc = match register {
            Register::Sgpr(s) => self.sgprs[usize::from(s & 127)],
            Register::Vgpr(v, lane) => self.vgprs[usize::from(v)][lane],
            Register::Scc => self.scc,
            Register::Mode => self.mode,
            Register::Trapsts => self.trapsts,
            Register::Pc => 0,
        };
        (pc != 0).then_some(pc)
    }
}

/// The last writers of bytes of memory. LDS belongs to work-groups.
#[derive(Default)]
pub struct MemoryWriters {
    /// By page: the writer of each byte, as its place in `writers` plus 1.
    pages: HashMap<(Space, [u32; 3], u64), Box<[u32; PAGE as usize]>>,
    writers: Vec<Writer>,
}

impl MemoryWriters {
    /// Takes note of the bytes that `writer` wrote.
    pub fn record(&mut self, span: Span, writer: Writer) {
        if self.writers.last() != Some(&writer) {
            self.writers.push(writer);
        }
        for at in span.start..span.start + span.len as u64 {
            let page = self.pages.entry(key(span.space, writer.wave, at)).or_insert_with(|| Box::new([0; _]));
            page[(at % PAGE) as usize] = self.writers.len() as u32;
        }
    }

    /// Who wrote a byte last, as a wave sees it.
    pub fn of(&self, space: Space, at: u64, wave: WaveId) -> Option<Writer> {
        let number = self.pages.get(&key(space, wave, at))?[(at % PAGE) as usize] as usize;
        self.writers.get(number.checked_sub(1)?).copied()
    }
}

fn key(space: Space, wave: WaveId, at: u64) -> (Space, [u32; 3], u64) {
    (space, if space == Space::Lds { wave.0 } else { [0; 3] }, at / PAGE)
}
