//! Fused parts ([`crate::pass::fuse`]): their values for all chunks, written out, and their accesses on registers.
//!
//! `fn(wave: *mut Wave, slots: *mut Row) -> u32`: not 0 if an access faulted, or a superblock's part gave up. There is
//! code for all lanes and mostly some for active ones only ([`active`]), in any chunk or the first ones, which give up
//! before anything has happened that matters, and the plan's steps are gone through instead ([`general`]): if not all
//! lanes of an access are in the allocation that it hit last. An access looks for lanes that are side by side first,
//! then for runs of sixteen and, if it is a load, for sixteen that are the same and for a small table ([`tables`]);
//! what is left is moved in rows of four lanes ([`quads`]), or gathered and scattered. Where lanes have been apart, it does
//! not look whether they are side by side for a while. Who has given up a few times in a row does so at once for a while.
//! Of accesses whose lanes are thought to count only the ends of chunks are looked at ([`ends`]).

mod active;
mod alike;
mod ends;
mod events;
mod general;
mod induction;
mod lanes;
mod quads;
mod rows;
mod small;
mod stores;
mod tables;

use super::access::{COUNT, EXEC, PATIENCE, orders, unless_all_active};
use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use super::registers::{ENDS, Registers, Work};
use super::schedule::{Event, Lives, Schedule};
use super::select::{Chunk, floats};
use super::{Entry, Layout, join_bits};
use crate::access::{Origin, Site};
use crate::defect::{Precaution, forgets};
use crate::jit::Context;
use crate::lane::{Block, Op, Shape, Value};
use crate::pass::demand::Demand;
use crate::pass::fuse::Fused;
use crate::pass::segment::Plan;
use crate::pass::strides::Signed;
use crate::pass::strides::claims::Claim;
use crate::pass::superblock::{ProvenLoad, Superblock};
use alike::Lots;
use ends::Largest;
use events::PartEvent;
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use general::General;
use induction::{Iterations, Slots};
use lanes::Lanes;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::rc::Rc;
use stores::Spread;

/// The site of an access, the size of its allocation, and how far into it the first byte of what is checked may be.
const SITE: Gpr = Gpr::R8;
const SIZE: Gpr = Gpr::R9;
const ROOM: Gpr = Gpr::R10;
/// A low half of an address, and where a chunk is.
const LOW: Gpr = Gpr::Rax;
const PLACE: Gpr = Gpr::Rcx;
/// The wave and the scalars.
const WAVE: Gpr = Gpr::Rdi;
const SCALARS: Gpr = Gpr::Rdx;
/// Bytes of a chunk of dwords.
const CHUNK: i32 = 64;

/// What is known of the unit.
pub struct Unit<'a> {
    /// The offsets of accesses' functions, by block and number.
    pub accesses: &'a HashMap<(usize, usize), usize>,
    /// The block's number.
    pub index: usize,
    /// The unit's number of the block's first access.
    pub first_site: usize,
    /// If the block is a superblock, which has no general way.
    pub superblock: Option<&'a Superblock>,
}

impl Unit<'_> {
    /// The unit's number of the access that says where an access of the block goes.
    fn site(&self, number: usize) -> usize {
        self.superblock.map_or(self.first_site + number, |superblock| superblock.sites[number])
    }
}

/// Emits a part of a block's plan.
pub fn emit(asm: &mut Asm, block: &Block, plan: &Plan, fused: &Fused, unit: &Unit<'_>) -> Entry {
    if let Some(alike) = unit.superblock.and_then(|superblock| superblock.alike) {
        return alike::emit(asm, fused, unit, alike);
    }
    let mut layout = layout(fused);
    let general = unit.superblock.is_none().then(|| {
        general::add_scalars(&mut layout, block, plan, fused);
        General::emit_segments(asm, block, plan, fused, &mut layout)
    });
    let mut iterations = fused.induction.as_ref().map(|induction| Iterations::begin(asm, induction, &layout));
    let mut own = layout_of_values(fused, &layout);
    let offset = asm.function();
    asm.mov(SCALARS, Gpr::Rsi);
    if let Some(iterations) = &mut iterations {
        iterations.emit(asm, unit, general.as_ref(), &layout);
    }
    let mut version = |asm: &mut Asm, schedule: &Schedule<PartEvent<'_>>, partial, count| {
        let part = Part::new(asm, fused, unit, &schedule.lives, &mut own);
        Part { partial, count, ..part }.emit(schedule, general.as_ref(), &layout)
    };
    let tiles = Rc::new(events::tiles(fused));
    let all_chunks = LazyCell::new(|| events::schedule(fused, COUNT, tiles.clone()));
    let mut give_up = Vec::new();
    if unit.superblock.is_none() || !fused.partial {
        let not_all = unless_all_active(asm);
        give_up.push(version(asm, &all_chunks, false, COUNT));
        not_all.into_iter().for_each(|jump| asm.bind(jump));
    }
    for count in partial_versions(fused, unit) {
        if count == COUNT {
            give_up.push(version(asm, &all_chunks, true, COUNT));
        } else {
            let others = are_others(asm, count);
            give_up.push(version(asm, &events::schedule(fused, count, tiles.clone()), true, count));
            others.into_iter().for_each(|jump| asm.bind(jump));
        }
    }
    let versions = give_up.len() + general.as_ref().map_or(0, |general| general.versions);
    give_up.into_iter().for_each(|jump| asm.bind(jump));
    match &general {
        Some(general) => general.emit(asm, unit, &layout),
        None => {
            asm.mov_imm(Gpr::Rax, 1);
            asm.ret();
        }
    }
    layout.cover(&own);
    iterations.iter().for_each(|iterations| layout.cover(&iterations.own));
    let versions = versions + iterations.iter().len();
    Entry { offset, layout, versions, settle: iterations.map(|iterations| iterations.settle) }
}

/// For how many chunks there is code for any EXEC, from the first one on: for one, those that waves have lanes in, and
/// all. A superblock, which may give up where waves are not like most, has code for those that these have lanes in.
fn partial_versions(fused: &Fused, unit: &Unit<'_>) -> impl Iterator<Item = i32> {
    let (partial, is_superblock, chunks) = (fused.partial, unit.superblock.is_some(), fused.chunks);
    (1..=COUNT).filter(move |count| partial && (*count == chunks || !is_superblock && [1, COUNT].contains(count)))
}

/// The jumps are taken if there are active lanes behind the first so many chunks, or none in the first one. A chunk at a
/// time: EXEC's halves may have been written apart and just now.
fn are_others(asm: &mut Asm, count: i32) -> Vec<Jump> {
    asm.is_zero16(WAVE, EXEC);
    let none = asm.jump(When::Zero);
    let mut others = vec![none];
    others.extend((count..COUNT).map(|chunk| {
        asm.is_zero16(WAVE, EXEC + 2 * chunk);
        asm.jump(When::NotZero)
    }));
    others
}

/// The frame of a part: what it reads, whichever way it goes, and room for its bits.
fn layout(fused: &Fused) -> Layout {
    let mut layout = Layout::new(fused.bits.len());
    let iteration = fused.induction.as_ref().map(|induction| &induction.iteration);
    [fused].into_iter().chain(iteration).for_each(|fused| add_scalars(&mut layout, fused));
    layout
}

/// Gives places to the scalars that a part reads.
fn add_scalars(layout: &mut Layout, fused: &Fused) {
    let node = |value: &Value| fused.block.node(*value);
    let spread = fused.block.nodes.iter().filter(|node| node.op == Op::Spread);
    let masks: HashSet<Value> = spread.map(|node| node.args[0]).collect();
    let stored = fused.uniforms.iter().filter(|(here, _)| node(here).op != Op::Const || masks.contains(here));
    stored.for_each(|(_, guest)| layout.add_scalar(*guest));
}

/// The same for the part's own values, and what it loads to scalars.
fn layout_of_values(fused: &Fused, frame: &Layout) -> Layout {
    let mut layout = frame.renamed(fused.uniforms.iter().copied());
    let loads = fused.accesses.iter().filter(|access| !access.access.store);
    let uniform = |value: &&Value| fused.block.node(**value).shape == Shape::Uniform;
    loads.flat_map(|load| &load.data).filter(uniform).for_each(|value| layout.add_scalar(*value));
    layout
}

/// Where a part's failures are counted, from the unit's sites on: at its first access.
fn counter(fused: &Fused, unit: &Unit<'_>) -> i32 {
    ((unit.first_site + fused.accesses[0].number) * size_of::<Site>() + Site::FUSED_MISSES) as i32
}

fn load_sites(asm: &mut Asm, to: Gpr) {
    asm.load64(to, SCALARS, Layout::CONTEXT);
    asm.load64(to, to, offset_of!(Context<'_>, first_site) as i32);
}

/// A part while it is emitted.
pub(super) struct Part<'a> {
    chunk: Chunk<'a>,
    fused: &'a Fused,
    /// Whether it is for any EXEC.
    partial: bool,
    /// In how many chunks there are active lanes, from the first on.
    count: i32,
    unit: &'a Unit<'a>,
    /// Jumps to where it gives up.
    fail: Vec<Jump>,
    /// Of checked accesses, where their chunks' addresses are kept.
    places: HashMap<usize, i32>,
    /// The same of stores whose lanes may be anywhere.
    spread: HashMap<usize, Spread>,
    /// Not zero where something has been found that is not as it was thought to be.
    wrong: Option<Zmm>,
    /// The same of quadwords, if it is known of which lots.
    wrong_pairs: Option<Zmm>,
    /// What has been found of integers that have to go up.
    largest: HashMap<Signed, Largest>,
    /// Of addresses that count, where bases are kept.
    bases: HashMap<(Value, Option<Value>), i32>,
    /// Of a part for any EXEC: which chunk's lanes are taken for each one's.
    chunks: Option<Zmm>,
    /// Whether loads that count ask for lines ahead of what they load.
    is_ahead: bool,
    /// Of a part for any EXEC: the chunk whose lanes floats are computed in.
    floats_in: Option<i32>,
    /// If it is for waves that are run together.
    alike: Option<Lots>,
    /// If it is of a loop: where registers are kept, and whether they are known.
    kept: Option<(&'a Slots, bool)>,
}

impl<'a> Part<'a> {
    /// One for EXEC all ones.
    fn new(asm: &'a mut Asm, fused: &'a Fused, unit: &'a Unit<'a>, lives: &'a Lives, own: &'a mut Layout) -> Self {
        let demand = Demand { block: &fused.block, plan: &fused.plan, rank: 0 };
        Part {
            chunk: Chunk { r: Registers::new(asm, demand, None, lives, own, Work::Chunk(0)) },
            fused,
            partial: false,
            count: COUNT,
            unit,
            fail: Vec::new(),
            places: HashMap::default(),
            spread: HashMap::default(),
            wrong: None,
            wrong_pairs: None,
            largest: HashMap::default(),
            bases: HashMap::default(),
            chunks: None,
            is_ahead: fused.streams() <= ends::STREAMS,
            floats_in: None,
            alike: None,
            kept: None,
        }
    }

    fn asm(&mut self) -> &mut Asm {
        self.chunk.r.asm
    }

    /// A register for each chunk; the last ones stand for nothing in a part for the first chunk.
    fn fresh_in_chunks(&mut self) -> [Zmm; 4] {
        let mut registers = [self.chunk.r.fresh(); 4];
        for register in &mut registers[1..self.count as usize] {
            *register = self.chunk.r.fresh();
        }
        registers
    }

    fn fail_if(&mut self, when: When) {
        let jump = self.asm().jump(when);
        self.fail.push(jump);
    }

    /// The jump is taken where the plan's steps have to be gone through.
    fn emit(mut self, schedule: &Schedule<PartEvent<'_>>, general: Option<&General<'_>>, frame: &Layout) -> Jump {
        let counter = counter(self.fused, self.unit);
        // A superblock's own code has looked.
        if self.unit.superblock.is_none() {
            load_sites(self.asm(), SITE);
            self.asm().compare8(SITE, counter, PATIENCE);
            self.fail_if(When::Above);
        }
        if self.fused.accesses.iter().any(|access| access.counting.is_some()) {
            self.check_ids();
            self.wrong = Some(self.zero());
            self.chunks = (self.partial && self.count > 1).then(|| self.chunks_with_lanes());
        }
        let values = self.fused.stages.iter().flat_map(|stage| &stage.values);
        let floats = floats(values.map(|value| self.fused.block.node(*value)));
        floats.filter(|_| self.partial).into_iter().for_each(|wide| self.chunk.r.reserve_float_lanes(wide));
        self.events(schedule);
        self.finish_bits();
        load_sites(self.asm(), SITE);
        self.asm().clear8(SITE, counter);
        if let Some(general) = general {
            general.write_scalars(self.asm(), frame);
        }
        self.asm().mov_imm(Gpr::Rax, 0);
        self.asm().ret();
        for jump in std::mem::take(&mut self.fail) {
            self.asm().bind(jump);
        }
        load_sites(self.asm(), SITE);
        self.asm().increment8(SITE, counter);
        self.asm().jump_always()
    }

    fn events(&mut self, schedule: &Schedule<PartEvent<'_>>) {
        for (chunk, event) in schedule.events() {
            self.chunk.r.begin(chunk);
            self.event(event);
            self.chunk.r.next();
        }
    }

    fn event(&mut self, event: PartEvent<'_>) {
        match event {
            PartEvent::Proof if matches!(self.kept, Some((_, false))) && forgets(Precaution::Induction) => {}
            PartEvent::Assume(mask) => self.assume(mask),
            PartEvent::Ends(value) => self.ends(value),
            PartEvent::Claim(Claim::Ordered(value, signed)) => self.check_order(value, signed),
            PartEvent::Claim(Claim::Ends(value)) => self.check_ends(value),
            PartEvent::Claim(Claim::True(mask)) => self.check_true(mask),
            PartEvent::Check(group, address) => self.check_strided(group, address),
            PartEvent::Proof if self.alike.is_some() => self.find_good_lots(),
            PartEvent::Proof => self.fail_if_wrong(),
            PartEvent::Access(number) => self.access(number),
            PartEvent::Store(number) => self.store(number),
            PartEvent::Keep(register, value) => self.keep(register, value),
            PartEvent::Chunk(Event::Set(register, value)) if self.partial => self.set_active(register, value),
            PartEvent::Chunk(Event::Bits(index, value)) if self.partial => self.bits_active(index, value),
            PartEvent::Chunk(event) => {
                self.find_float_lanes();
                self.chunk.event(event);
            }
        }
    }

    /// Loads the active lanes of the chunk that comes next, if these are not there.
    fn find_float_lanes(&mut self) {
        let chunk = self.chunk.r.work.chunk();
        if self.floats_in != Some(chunk) {
            self.chunk.r.load_float_lanes_from(Mem::At(WAVE, EXEC + 2 * chunk));
            self.floats_in = Some(chunk);
        }
    }

    fn site_offset(&self, number: usize) -> i32 {
        (self.unit.site(self.fused.accesses[number].number) * size_of::<Site>()) as i32
    }

    fn finish_bits(&mut self) {
        let count = self.fused.bits.len();
        if count > 0 {
            let (first, chunks) = (self.chunk.r.layout().bits(0), self.count);
            // Each chunk's turn was one of four.
            if (2..COUNT).contains(&chunks) {
                self.asm().rotate_right(Gpr::R10, 16 * (COUNT - chunks) as u8);
            }
            self.asm().store64(SCALARS, first, Gpr::R10);
        }
        for index in 1..count {
            let (at, chunks) = (self.chunk.r.layout().bits(index), self.count);
            join_bits(self.asm(), at, chunks);
        }
    }

    /// Checks an access, and loads if it is a load.
    fn access(&mut self, number: usize) {
        let fused = self.fused;
        let access = &fused.accesses[number];
        if let Some(counting) = &access.counting {
            return self.load_strided(number, counting);
        }
        self.check_site(number);
        if access.access.store {
            self.begin_store(number);
        }
        let uniform = |value: &Value| fused.block.node(*value).shape == Shape::Uniform;
        let partial = self.partial;
        let mut lanes = Lanes::of_chunks(self, number);
        if access.address.iter().all(uniform) {
            return lanes.one_address();
        }
        let mut done = Vec::new();
        let apart = lanes.have_been_apart();
        if !partial {
            let other = lanes.one_run();
            done.push(lanes.asm().jump_always());
            other.into_iter().for_each(|jump| lanes.asm().bind(jump));
        }
        let other = lanes.runs();
        done.push(lanes.asm().jump_always());
        other.into_iter().for_each(|jump| lanes.asm().bind(jump));
        lanes.are_apart(apart);
        if access.access.store {
            lanes.spread_store();
        } else {
            if let Some(other) = lanes.small_table() {
                done.push(lanes.asm().jump_always());
                other.into_iter().for_each(|jump| lanes.asm().bind(jump));
            }
            lanes.spread();
        }
        done.into_iter().for_each(|jump| lanes.asm().bind(jump));
        lanes.define();
    }

    /// Gives up if a load is from the allocation of a store that it is done before.
    fn check_apart(&mut self, number: usize) {
        let fused = self.fused;
        let stores = &fused.accesses[number].apart_from;
        if stores.is_empty() || forgets(Precaution::LoadsApart) {
            return;
        }
        for store in stores {
            let [own, other] = [number, *store].map(|access| self.site_offset(access) + Site::START as i32);
            self.asm().load64(LOW, SITE, own);
            self.asm().sub_mem(LOW, SITE, other);
            self.fail_if(When::Zero);
        }
    }

    /// Gives up if a store is to the allocation of SGPRs that come after it and are loaded before. `SIZE` is the size of its
    /// allocation.
    fn check_apart_from_scalars(&mut self, number: usize) {
        let (store, start) = (&self.fused.accesses[number], self.at(number) + Site::START as i32);
        let Some(superblock) = self.unit.superblock.filter(|_| !forgets(Precaution::ScalarsApart)) else { return };
        // Those of waves that are run together come before all stores of others.
        let all = self.alike.is_some() && !forgets(Precaution::WavesApart);
        let is_later = |load: &&ProvenLoad| all || load.number > store.number;
        let later = superblock.loads.iter().filter(is_later);
        // What is loaded for one site is from one allocation. LDS is in none.
        let loads: BTreeMap<usize, i64> = later.map(|load| (load.site, load.offset)).collect();
        for (site, offset) in loads.into_iter().filter(|_| !matches!(store.origin, Origin::Lds { .. })) {
            let proven = (site * size_of::<Site>() + Site::PROVEN) as i32;
            self.asm().load64(LOW, SITE, proven);
            self.asm().add(LOW, offset as i32);
            self.asm().sub_mem(LOW, SITE, start);
            self.asm().compare_registers(LOW, SIZE);
            self.fail_if(When::Below);
        }
    }

    /// Whether the allocation is writable if need be; its size.
    fn check_site(&mut self, number: usize) {
        let fused = self.fused;
        let access = &fused.accesses[number].access;
        match fused.accesses[number].origin {
            Origin::Lds { .. } => self.asm().load64(SITE, SCALARS, Layout::CONTEXT),
            _ => load_sites(self.asm(), SITE),
        }
        self.check_apart(number);
        let at = self.at(number);
        if access.store {
            self.asm().compare8(SITE, at + Site::WRITABLE as i32, 0);
            self.fail_if(When::Zero);
        }
        self.asm().load64(SIZE, SITE, at + Site::END as i32);
        self.asm().sub_mem(SIZE, SITE, at + Site::START as i32);
        if access.store {
            self.check_apart_from_scalars(number);
        }
        if access.is_limited_by_m0() {
            self.asm().load32(LOW, WAVE, (offset_of!(Wave, sgpr) + 4 * reg::M0) as i32);
            self.asm().compare_registers(LOW, SIZE);
            self.fail_if(When::Below);
        }
    }

    /// Where an access's site is from `SITE` on.
    fn at(&self, number: usize) -> i32 {
        match self.fused.accesses[number].origin {
            Origin::Lds { .. } => offset_of!(Context<'_>, lds) as i32,
            _ => self.site_offset(number),
        }
    }

    /// Sets the mask that gathers and scatters clear.
    fn all_lanes(&mut self, mask: K) {
        self.asm().k(MaskOp::Xnor, mask, mask, mask);
    }

    fn load_orders(&mut self, store: bool) -> [Zmm; 2] {
        orders(store).map(|order| {
            let (from, to) = (self.asm().constant(&order), self.chunk.r.fresh());
            self.asm().v1(op::VMOVDQA32, to, Rm::Mem(from));
            to
        })
    }
}
