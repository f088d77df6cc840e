//! How far a launch's results can be trusted to the bit.
//!
//! [`Tracker`] watches a launch (see [`Observed`](crate::Observed)). It counts the instructions that are approximate
//! (within so many units in the last place), filtered by a sampler or host-defined, marks what they write, and follows
//! the marks through registers, LDS and memory. A marked value that becomes an address, decides a branch or becomes EXEC is reported: there
//! another machine may do something else altogether, not only come to slightly other numbers.
//!
//! Marks follow data: what an instruction computes from a marked value is marked, lane by lane. They do not follow
//! control, so what was only written because a marked branch went one way is not marked; the branch is reported. They
//! never get lost but in MODE, which has none; where an instruction mixes lanes or an SGPR holds a lane mask, one marked lane marks the whole.

mod taint;

use crate::observed::Observer;
use gcnjit_interp::memory::{LOADED, Place};
use gcnjit_interp::observe::Step;
use gcnjit_interp::operands::dpp_source;
use gcnjit_isa::{Access, Ext, Fidelity, Format, Inst, Note, Op, Operand, Sopp, Ty, Vop1, Vop2};
use gcnjit_rt::{Env, LANES, Stop, Wave};
use std::collections::{BTreeMap, HashMap};
use taint::{Mark, MemoryMarks, RegisterMarks, any};

/// Where a value that is not exact has consequences beyond its own bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sink {
    /// The address of a memory access.
    Address,
    /// A branch, or where it goes.
    Branch,
    /// The lane mask.
    Exec,
}

/// How often an operation was executed that is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The operation.
    pub op: Op,
    /// What it is instead.
    pub fidelity: Fidelity,
    /// How often waves executed it.
    pub times: u64,
}

/// A value that is not exact, where it has consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// What it became.
    pub sink: Sink,
    /// Address of the instruction in which it did.
    pub at: u64,
    /// Address of the instruction that it comes from; one of them, if there are several.
    pub from: u64,
    /// How often that instruction saw one.
    pub times: u64,
}

/// Follows values through one launch or several.
#[derive(Default)]
pub struct Tracker {
    instructions: u64,
    executed: HashMap<&'static str, Executed>,
    reached: BTreeMap<(Sink, u64, u64), u64>,
    /// Addresses of the instructions that marks stand for, less 1.
    origins: Vec<u64>,
    waves: HashMap<([u32; 3], u32), RegisterMarks>,
    memory: MemoryMarks,
    /// The lane that the instruction about to be executed names.
    lane: usize,
}

impl Tracker {
    /// A tracker that has seen nothing.
    pub fn new() -> Tracker {
        Tracker::default()
    }

    /// Another launch begins: nothing of the last one is left but the memory that `keep` wants kept, by its address.
    pub fn begin_launch(&mut self, keep: impl Fn(u64) -> bool) {
        self.waves.clear();
        self.memory.retain(keep);
    }

    /// Instructions that waves executed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The operations that are not exact, by name.
    pub fn executed(&self) -> Vec<Executed> {
        let mut executed: Vec<Executed> = self.executed.values().copied().collect();
        executed.sort_by_key(|executed| executed.op.info().name);
        executed
    }

    /// Where values that are not exact had consequences.
    pub fn reached(&self) -> Vec<Reached> {
        let reached = |(&(sink, at, from), &times): (&(Sink, u64, u64), &u64)| Reached { sink, at, from, times };
        self.reached.iter().map(reached).collect()
    }

    fn mark_of(&mut self, pc: u64) -> Mark {
        let known = self.origins.iter().position(|origin| *origin == pc);
        let index = known.unwrap_or_else(|| {
            self.origins.push(pc);
            self.origins.len() - 1
        });
        index as Mark + 1
    }

    fn sink(&mut self, sink: Sink, pc: u64, mark: Mark) {
        if mark != 0 {
            *self.reached.entry((sink, pc, self.origins[mark as usize - 1])).or_default() += 1;
        }
    }

    /// Counts the instruction; the mark that it gives its results.
    fn count(&mut self, step: &Step) -> Mark {
        self.instructions += 1;
        let (op, fidelity) = (step.inst.op, step.inst.op.info().fidelity());
        if fidelity == Fidelity::Exact {
            return 0;
        }
        self.executed.entry(op.info().name).or_insert(Executed { op, fidelity, times: 0 }).times += 1;
        self.mark_of(step.pc)
    }
}

impl Observer for Tracker {
    fn before(&mut self, wave: &Wave, inst: &Inst) {
        let select = match inst.src[1] {
            Operand::Sgpr(s) => wave.sgpr[usize::from(s & 127)] as usize,
            operand => operand.inline_bits(Ty::u32).unwrap_or(0) as usize,
        };
        self.lane = match inst.op {
            Op::Vop1(Vop1::v_readfirstlane_b32) => wave.exec().trailing_zeros() as usize % LANES,
            _ => select % LANES,
        };
    }

    fn after(&mut self, wave: &Wave, step: &Step, env: &Env<'_>) {
        let own = self.count(step);
        if step.skipped {
            return;
        }
        let id = (wave.group, wave.index);
        let mut marks = self.waves.remove(&id).unwrap_or_default();
        let flow = Flow { step, marks: &marks, own, lane: self.lane, group: wave.group };
        let scalars = flow.scalars();
        if decides_branch(step.inst.op) {
            self.sink(Sink::Branch, step.pc, any([scalars, marks.scc_of_branch(step.inst.op)]));
        }
        let results = if step.inst.op.memory().is_some() {
            let addresses = flow.addresses(env);
            self.sink(Sink::Address, step.pc, any(addresses));
            flow.memory(&mut self.memory, &addresses, env)
        } else {
            flow.registers(scalars)
        };
        results.apply(&mut marks, step);
        if step.writes.has_sgpr(126) || step.writes.has_sgpr(127) {
            self.sink(Sink::Exec, step.pc, any([marks.sgprs[126], marks.sgprs[127]]));
        }
        if step.stop != Some(Stop::End) {
            self.waves.insert(id, marks);
        }
    }
}

/// Whether an instruction goes one way or another, or where a register says.
fn decides_branch(op: Op) -> bool {
    let ends = op.info().has(Note::EndsBlock);
    ends && !matches!(op, Op::Sopp(Sopp::s_barrier | Sopp::s_branch | Sopp::s_endpgm))
}

impl RegisterMarks {
    /// The mark of SCC if the branch asks for it.
    fn scc_of_branch(&self, op: Op) -> Mark {
        if matches!(op, Op::Sopp(Sopp::s_cbranch_scc0 | Sopp::s_cbranch_scc1)) { self.scc } else { 0 }
    }
}

/// The marks of an instruction's results: of scalars, and lane by lane of each VGPR that it writes, by its place among
/// them.
struct Results {
    scalar: Vec<Mark>,
    vectors: Vec<[Mark; LANES]>,
    /// Lanes that are written for sure; others may be, and keep their mark beside the new one.
    written: u64,
}

impl Results {
    fn apply(&self, marks: &mut RegisterMarks, step: &Step) {
        let scalar = |i: usize| self.scalar.get(i).or(self.scalar.last()).copied().unwrap_or(0);
        for (i, s) in step.writes.sgprs().enumerate() {
            marks.sgprs[usize::from(s)] = scalar(i);
        }
        if step.writes.scc {
            marks.scc = any(self.scalar.iter().copied());
        }
        for (i, v) in step.writes.vgprs().enumerate() {
            let Some(new) = self.vectors.get(i).or(self.vectors.last()) else { continue };
            for (lane, mark) in marks.vgprs[usize::from(v)].iter_mut().enumerate() {
                *mark = if self.written >> lane & 1 != 0 { new[lane] } else { any([*mark, new[lane]]) };
            }
        }
    }
}

/// What flows in one instruction.
struct Flow<'a> {
    step: &'a Step,
    marks: &'a RegisterMarks,
    /// The mark that the instruction gives its results itself.
    own: Mark,
    lane: usize,
    group: [u32; 3],
}

impl Flow<'_> {
    /// The mark of the scalars that it reads.
    fn scalars(&self) -> Mark {
        let sgprs = self.step.reads.sgprs().map(|s| self.marks.sgprs[usize::from(s)]);
        any(sgprs.chain(self.step.reads.scc.then_some(self.marks.scc)))
    }

    /// The mark of `dwords` registers of an operand, in a lane if they are vector registers.
    fn operand(&self, operand: Operand, dwords: u32, lane: usize) -> Mark {
        any((0..dwords as u8).map(|i| match operand {
            Operand::Sgpr(s) => self.marks.sgprs[usize::from(s.wrapping_add(i) & 127)],
            Operand::Vgpr(v) => self.marks.vgprs[usize::from(v.wrapping_add(i))][lane],
            Operand::Scc => self.marks.scc,
            _ => 0,
        }))
    }

    /// The results of an instruction that does not reach memory.
    fn registers(&self, scalars: Mark) -> Results {
        let (step, all) = (self.step, any([scalars, self.own]));
        let vgpr = |v: u8, lane: usize| self.marks.vgprs[usize::from(v)][lane];
        let anywhere = || any(step.reads.vgprs().flat_map(|v| self.marks.vgprs[usize::from(v)]));
        match step.inst.op {
            Op::Vop1(Vop1::v_readfirstlane_b32) | Op::Vop2(Vop2::v_readlane_b32) => {
                let mark = any(step.reads.vgprs().map(|v| vgpr(v, self.lane)).chain([all]));
                Results { scalar: vec![mark], vectors: Vec::new(), written: 0 }
            }
            Op::Vop2(Vop2::v_writelane_b32) => {
                let mut row = [0; LANES];
                step.writes.vgprs().for_each(|v| row = self.marks.vgprs[usize::from(v)]);
                row[self.lane] = all;
                Results { scalar: Vec::new(), vectors: vec![row], written: u64::MAX }
            }
            // The old EXEC is saved, whatever becomes of it.
            op if op.info().name.ends_with("saveexec_b64") => {
                let exec = any([self.marks.sgprs[126], self.marks.sgprs[127]]);
                let scalar = step.writes.sgprs().map(|s| if s < 126 { exec } else { all }).collect();
                Results { scalar, vectors: Vec::new(), written: 0 }
            }
            op if op.crosses_lanes() => {
                let mark = any([all, anywhere()]);
                let row = std::array::from_fn(|lane| if step.exec >> lane & 1 != 0 { mark } else { 0 });
                Results { scalar: vec![mark], vectors: vec![row], written: step.exec }
            }
            _ => {
                let row = std::array::from_fn(|lane| {
                    let enabled = step.exec >> lane & 1 != 0;
                    if enabled { any([all, self.lane_sources(lane)]) } else { 0 }
                });
                let scalar = any(row.into_iter().chain([all]));
                // DPP may leave lanes out.
                let written = if matches!(step.inst.ext, Ext::Dpp(_)) { 0 } else { step.exec };
                Results { scalar: vec![scalar], vectors: vec![row], written }
            }
        }
    }

    /// The mark of the vector registers that a lane reads; of the first source from another lane under DPP.
    fn lane_sources(&self, lane: usize) -> Mark {
        let vgpr = |v: u8, lane: usize| self.marks.vgprs[usize::from(v)][lane];
        let Ext::Dpp(dpp) = self.step.inst.ext else {
            return any(self.step.reads.vgprs().map(|v| vgpr(v, lane)));
        };
        let moved = match (self.step.effective.src[0], dpp_source(dpp.ctrl, lane)) {
            (Operand::Vgpr(v), Some(source)) => vgpr(v, source),
            _ => 0,
        };
        let others = self.step.effective.src[1..].iter().map(|operand| self.operand(*operand, 1, lane));
        any(others.chain([moved]))
    }

    /// The mark of each lane's address; scalar instructions have it in lane 0.
    fn addresses(&self, env: &Env<'_>) -> [Mark; LANES] {
        let inst = &self.step.effective;
        let sources: &[usize] = match inst.format {
            Format::Ds => &[0],
            Format::Flat => &[0, 2],
            Format::Smem => &[0, 1],
            _ => &[0, 1, 2],
        };
        let m0 = if inst.reads(env.target).has_sgpr(124) { self.marks.sgprs[124] } else { 0 };
        let own: [Mark; LANES] = std::array::from_fn(|lane| {
            let active = inst.format == Format::Smem && lane == 0 || self.step.exec >> lane & 1 != 0;
            let mark = |i: &usize| self.operand(inst.src[*i], self.source_dwords(*i, env), lane);
            if active { any(sources.iter().map(mark).chain([m0])) } else { 0 }
        });
        // A level of detail comes from all coordinates of a quad.
        let quads = matches!(inst.op, Op::Mimg(op) if op.form().samples());
        if quads { std::array::from_fn(|lane| any((0..4).map(|i| own[lane & !3 | i]))) } else { own }
    }

    /// Registers of a source. How many an image's address takes is not in the instruction's words: as many as were read
    /// in a row.
    fn source_dwords(&self, i: usize, env: &Env<'_>) -> u32 {
        let inst = &self.step.effective;
        match (inst.format, i, inst.src[i]) {
            (Format::Mimg, 0, Operand::Vgpr(first)) => {
                (first..=255).take_while(|v| self.step.reads.has_vgpr(*v)).count() as u32
            }
            _ => inst.source_dwords(i, env.target),
        }
    }

    /// Carries marks to and from memory; the results of the instruction.
    fn memory(&self, memory: &mut MemoryMarks, addresses: &[Mark; LANES], env: &Env<'_>) -> Results {
        let inst = &self.step.effective;
        // Where a format decides what is where, all of an element belongs together.
        let mixed = inst.op.memory().is_some_and(|memory| memory.bytes == 0);
        let dwords = self.step.writes.vgprs().count().max(self.step.writes.sgprs().count()).max(1);
        let mut loaded = vec![addresses.map(|mark| any([mark, self.own])); dwords];
        for touch in self.step.touches.iter().filter(|touch| touch.access != Access::Store) {
            let lane = touch.lane.unwrap_or(0);
            for (i, start) in (0..touch.bytes).step_by(4).enumerate() {
                let mark = memory.get(offset(touch.place, start), (touch.bytes - start).min(4), self.group);
                let places = if mixed { 0..dwords } else { touch.dword + i..(touch.dword + i + 1).min(dwords) };
                loaded.get_mut(places).into_iter().flatten().for_each(|row| row[lane] = any([row[lane], mark]));
            }
        }
        for touch in self.step.touches.iter().filter(|touch| touch.access != Access::Load) {
            let lane = touch.lane.unwrap_or(0);
            for (i, start) in (0..touch.bytes).step_by(4).enumerate() {
                let (place, bytes) = (offset(touch.place, start), (touch.bytes - start).min(4));
                let mark = match touch.access {
                    Access::Atomic => any([memory.get(place, bytes, self.group), self.data(lane, env)]),
                    _ if touch.data == LOADED => loaded[0][lane],
                    _ if mixed => self.data(lane, env),
                    _ => self.operand(dword(inst.src[touch.data.min(3)], touch.dword + i), 1, lane),
                };
                memory.set(place, bytes, self.group, mark);
            }
        }
        let scalar = loaded.iter().map(|row| row[0]).collect();
        // Part of a register may be kept.
        let kept = inst.op.info().has(Note::Acc);
        Results { scalar, vectors: loaded, written: if kept { 0 } else { self.step.exec } }
    }

    /// The mark of everything that a lane hands to memory.
    fn data(&self, lane: usize, env: &Env<'_>) -> Mark {
        let inst = &self.step.effective;
        let sources: &[usize] = match inst.format {
            Format::Ds => &[1, 2],
            Format::Flat => &[1],
            Format::Smem => &[2],
            _ => &[3],
        };
        any(sources.iter().map(|i| self.operand(inst.src[*i], inst.source_dwords(*i, env.target).max(1), lane)))
    }
}

/// A place some bytes further on.
fn offset(place: Place, bytes: usize) -> Place {
    match place {
        Place::Memory(address) => Place::Memory(address.wrapping_add(bytes as u64)),
        Place::Lds(at) => Place::Lds(at.wrapping_add(bytes as u32)),
        Place::Gds(at) => Place::Gds(at.wrapping_add(bytes as u32)),
        Place::Nowhere => Place::Nowhere,
    }
}

/// The register some dwords further on.
fn dword(operand: Operand, more: usize) -> Operand {
    match operand {
        Operand::Vgpr(v) => Operand::Vgpr(v.wrapping_add(more as u8)),
        Operand::Sgpr(s) => Operand::Sgpr(s.wrapping_add(more as u8)),
        other => other,
    }
}
