//! Fused parts ([`crate::pass::fuse`]): their values for all chunks, written out, and their accesses on registers.
//!
//! `fn(wave: *mut Wave, slots: *mut Row, scalars: *mut u64) -> u32`: 0 if it has done everything; else nothing has
//! happened that matters, and the plan's steps have to be gone through. That is so if not all lanes are active, if not all
//! lanes of an access are in the allocation that it hit last, or if those of a store are neither side by side nor in runs
//! of sixteen. Loads look for these cases first, then for sixteen lanes that are the same, and gather what is left. Who has
//! given up a few times in a row does so at once for a while.

use super::access::spread::{GREATER, Window};
use super::access::{COUNT, EXEC, OR_DIFFERENT, PATIENCE, orders};
use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use super::inline::NOT_EQUAL;
use super::registers::{Registers, Work};
use super::schedule::{Event, Schedule};
use super::select::Chunk;
use super::{Entry, Layout, join_bits};
use crate::access::{Base, LaneMove, Site};
use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use crate::pass::fuse::{Fused, FusedAccess};
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use std::collections::{HashMap, HashSet};
use std::mem::{offset_of, size_of};

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

/// Emits a part. `first_site` is the unit's number of its block's first access.
pub fn emit(asm: &mut Asm, fused: &Fused, first_site: usize) -> Entry {
    let offset = asm.function();
    let schedule = schedule(fused);
    let mut layout = Layout::of_fused(fused);
    let demand = Demand { block: &fused.block, plan: &fused.plan, rank: 0 };
    let registers = Registers::new(asm, demand, None, &schedule, &mut layout, Work::Chunk(0));
    let mut part = Part { chunk: Chunk { r: registers }, fused, first_site, fail: Vec::new(), places: HashMap::new() };
    part.emit();
    let guest: HashMap<Value, Value> = fused.uniforms.iter().copied().collect();
    let scalars = layout.scalars.iter().map(|here| guest[here]).collect();
    Entry { offset, scalars, bytes: layout.bytes as usize, versions: 1 }
}

impl Layout {
    /// What a part finds in `scalars`: its uniform values, room for its bits, the unit's sites and the one of LDS.
    fn of_fused(fused: &Fused) -> Layout {
        let node = |value: &Value| fused.block.node(*value);
        let loaded: Vec<Value> = fused.accesses.iter().filter(|access| !access.access.store).flat_map(|a| a.data.clone()).collect();
        let masks: HashSet<Value> =
            fused.block.nodes.iter().filter(|node| node.op == Op::Spread).map(|node| node.args[0]).collect();
        let given = fused.uniforms.iter().map(|(here, _)| *here);
        let scalars: Vec<Value> = given.filter(|value| node(value).op != Op::Const || masks.contains(value)).collect();
        let places = scalars.iter().enumerate().map(|(i, value)| (*value, 8 * i as i32)).collect();
        let bits = fused.bits.len();
        let bytes = 8 * (scalars.len() + bits + 2) as i32;
        let mut layout = Layout { scalars, places, bits, bytes };
        for value in loaded.into_iter().filter(|value| node(value).shape == Shape::Uniform) {
            let at = layout.spill(8);
            layout.places.insert(value, at);
        }
        layout
    }

    /// Where the pointer to the unit's sites is; the one to LDS's follows.
    fn sites(&self) -> i32 {
        8 * (self.scalars.len() + self.bits) as i32
    }
}

/// Lists what happens: values by chunk, accesses for all of them at once; in the end what had to wait.
fn schedule(fused: &Fused) -> Schedule {
    let mut list = List { fused, events: Vec::new(), uses: HashMap::new() };
    let early = list.early();
    early.iter().for_each(|value| list.in_each_chunk(Event::Load(*value), &[]));
    for stage in &fused.stages {
        for chunk in 0..COUNT {
            for value in &stage.values {
                let args: Vec<Value> = fused.block.node(*value).args().collect();
                list.push(chunk, Event::Compute(*value), &args);
            }
        }
        for (register, value) in &stage.sets {
            list.in_each_chunk(Event::Set(*register, *value), &[*value]);
        }
        if let Some(access) = stage.access {
            list.access(access);
        }
    }
    for chunk in 0..COUNT {
        for (slot, value) in &fused.keeps {
            list.push(chunk, Event::Keep(*slot, *value), &[*value]);
        }
        for (register, value) in &fused.sets {
            list.push(chunk, Event::Set(*register, *value), &[*value]);
        }
        for (i, (_, value)) in fused.bits.iter().enumerate() {
            list.push(chunk, Event::Bits(i, *value), &[*value]);
        }
        if !fused.bits.is_empty() {
            list.push(chunk, Event::Turn, &[]);
        }
    }
    Schedule::of(list.events, list.uses, early)
}

/// A schedule in the making.
struct List<'a> {
    fused: &'a Fused,
    events: Vec<(i32, Event)>,
    uses: HashMap<(Value, i32), Vec<usize>>,
}

impl List<'_> {
    fn uses(&mut self, chunk: i32, values: &[Value]) {
        for value in values {
            let uniform = self.fused.block.node(*value).shape == Shape::Uniform;
            let uses = self.uses.entry((*value, if uniform { 0 } else { chunk })).or_default();
            uses.push(self.events.len());
        }
    }

    fn push(&mut self, chunk: i32, event: Event, values: &[Value]) {
        self.uses(chunk, values);
        self.events.push((chunk, event));
    }

    fn in_each_chunk(&mut self, event: Event, values: &[Value]) {
        (0..COUNT).for_each(|chunk| self.push(chunk, event, values));
    }

    /// The check of an access; behind the last one, all stores.
    fn access(&mut self, number: usize) {
        let accesses = &self.fused.accesses;
        let address = accesses[number].address.clone();
        (0..COUNT).for_each(|chunk| self.uses(chunk, &address));
        self.events.push((0, Event::Access(number)));
        if number + 1 < accesses.len() {
            return;
        }
        for (number, store) in accesses.iter().enumerate().filter(|(_, access)| access.access.store) {
            (0..COUNT).for_each(|chunk| self.uses(chunk, &store.data));
            self.events.push((0, Event::Store(number)));
        }
    }

    /// Old values of VGPRs that are to be written to others while their own are written: they are read first.
    fn early(&self) -> Vec<Value> {
        let written: HashSet<u64> = self.fused.sets.iter().map(|(register, _)| *register).collect();
        let node = |value: Value| self.fused.block.node(value);
        let roots = self.fused.sets.iter().map(|(_, value)| *value).chain(self.fused.keeps.iter().map(|keep| keep.1));
        let old = |value: &Value| node(*value).op == Op::Vgpr && self.fused.plan.ranks[value.index()].is_some();
        let mut early: Vec<Value> = roots.filter(|value| old(value) && written.contains(&node(*value).imm)).collect();
        early.sort_unstable();
        early.dedup();
        early
    }
}

/// A part while it is emitted.
struct Part<'a> {
    chunk: Chunk<'a>,
    fused: &'a Fused,
    first_site: usize,
    /// Jumps to where it gives up.
    fail: Vec<Jump>,
    /// Of checked stores, where their chunks' addresses are kept.
    places: HashMap<usize, i32>,
}

impl Part<'_> {
    fn asm(&mut self) -> &mut Asm {
        self.chunk.r.asm
    }

    fn fail_if(&mut self, when: When) {
        let jump = self.asm().jump(when);
        self.fail.push(jump);
    }

    fn emit(&mut self) {
        let partial = [0, 4].map(|half| {
            self.asm().is_ones32(WAVE, EXEC + half);
            self.asm().jump(When::NotZero)
        });
        let counter = self.counter();
        self.find_counter();
        self.asm().compare8(SITE, counter, PATIENCE);
        self.fail_if(When::Above);
        while let Some(event) = self.chunk.r.begin() {
            match event {
                Event::Access(number) => self.access(number),
                Event::Store(number) => self.store(number),
                _ => self.chunk.event(event),
            }
            self.chunk.r.next();
        }
        self.finish_bits();
        self.find_counter();
        self.asm().clear8(SITE, counter);
        self.leave(0);
        for jump in std::mem::take(&mut self.fail) {
            self.asm().bind(jump);
        }
        self.find_counter();
        self.asm().increment8(SITE, counter);
        partial.into_iter().for_each(|jump| self.asm().bind(jump));
        self.leave(1);
    }

    fn leave(&mut self, status: i32) {
        self.asm().mov_imm(Gpr::Rax, status);
        self.asm().ret();
    }

    /// Where the part's failures are counted, from the unit's sites on: at its first access.
    fn counter(&self) -> i32 {
        self.site_offset(0) + Site::FUSED_MISSES as i32
    }

    fn find_counter(&mut self) {
        let sites = self.chunk.r.layout().sites();
        self.asm().load64(SITE, SCALARS, sites);
    }

    fn site_offset(&self, number: usize) -> i32 {
        ((self.first_site + self.fused.accesses[number].number) * size_of::<Site>()) as i32
    }

    fn finish_bits(&mut self) {
        let count = self.fused.bits.len();
        if count > 0 {
            let first = self.chunk.r.layout().bits(0);
            self.asm().store64(SCALARS, first, Gpr::R10);
        }
        for index in 1..count {
            let at = self.chunk.r.layout().bits(index);
            join_bits(self.asm(), at);
        }
    }

    /// Checks an access, and loads if it is a load.
    fn access(&mut self, number: usize) {
        let fused = self.fused;
        let access = &fused.accesses[number];
        self.check_site(number);
        if access.access.store {
            let room = self.chunk.r.layout_mut().spill(8 * COUNT);
            self.places.insert(number, room);
        }
        let uniform = |value: &Value| fused.block.node(*value).shape == Shape::Uniform;
        let mut lanes = Lanes::new(self, number);
        if access.address.iter().all(uniform) {
            return lanes.one_address();
        }
        let other = lanes.one_run();
        let mut done = vec![lanes.asm().jump_always()];
        other.into_iter().for_each(|jump| lanes.asm().bind(jump));
        let other = lanes.runs();
        if access.access.store {
            lanes.part.fail.extend(other);
        } else {
            done.push(lanes.asm().jump_always());
            other.into_iter().for_each(|jump| lanes.asm().bind(jump));
            lanes.spread();
        }
        done.into_iter().for_each(|jump| lanes.asm().bind(jump));
        lanes.define();
    }

    /// Whether the allocation is writable if need be; its size.
    fn check_site(&mut self, number: usize) {
        let fused = self.fused;
        let access = &fused.accesses[number].access;
        let pointer = self.chunk.r.layout().sites();
        let lds = matches!(access.base, Base::Lds { .. });
        self.asm().load64(SITE, SCALARS, if lds { pointer + 8 } else { pointer });
        let at = self.at(number);
        if access.store {
            self.asm().compare8(SITE, at + Site::WRITABLE as i32, 0);
            self.fail_if(When::Zero);
        }
        self.asm().load64(SIZE, SITE, at + Site::END as i32);
        self.asm().sub_mem(SIZE, SITE, at + Site::START as i32);
        if access.base == (Base::Lds { by_m0: true }) {
            self.asm().load32(LOW, WAVE, (offset_of!(Wave, sgpr) + 4 * reg::M0) as i32);
            self.asm().compare_registers(LOW, SIZE);
            self.fail_if(When::Below);
        }
    }

    /// Where an access's site is from `SITE` on.
    fn at(&self, number: usize) -> i32 {
        match self.fused.accesses[number].access.base {
            Base::Lds { .. } => 0,
            _ => self.site_offset(number),
        }
    }

    /// Moves the data of a store that has been checked.
    fn store(&mut self, number: usize) {
        let fused = self.fused;
        let FusedAccess { access, data, .. } = &fused.accesses[number];
        let places = self.places[&number];
        if access.dwords > 2 {
            return self.store_rows(data, places);
        }
        let orders = (access.dwords == 2).then(|| self.load_orders(true));
        for chunk in 0..COUNT {
            self.chunk.r.work = Work::Chunk(chunk);
            let first = self.chunk.r.vector(data[0], 0);
            self.asm().load64(PLACE, SCALARS, places + 8 * chunk);
            let to = Mem::At(PLACE, 0);
            let Some(orders) = orders else {
                self.asm().store_unaligned(to, first);
                continue;
            };
            let second = self.chunk.r.vector(data[1], 0);
            for (half, order) in orders.into_iter().enumerate() {
                let both = self.chunk.r.fresh();
                self.asm().v1(op::VMOVDQA32, both, first);
                self.asm().v(op::VPERMT2D, both, order, second);
                self.asm().store_unaligned(to.further(CHUNK * half as i32), both);
                self.chunk.r.release(both);
            }
        }
    }

    /// Three or four dwords a lane: these are far apart in memory, and do not overlap.
    fn store_rows(&mut self, data: &[Value], places: i32) {
        let (index, moving) = (self.chunk.r.fresh(), self.chunk.r.fresh_mask());
        let ramp = ramp(self.asm(), 4 * data.len() as u32);
        self.asm().v1(op::VMOVDQA32, index, Rm::Mem(ramp));
        for chunk in 0..COUNT {
            self.chunk.r.work = Work::Chunk(chunk);
            self.asm().load64(PLACE, SCALARS, places + 8 * chunk);
            for value in data {
                let from = self.chunk.r.vector(*value, 0);
                self.all_lanes(moving);
                self.asm().scatter(moving, PLACE, index, from);
                self.asm().add(PLACE, 4);
            }
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

/// An access while it is checked.
struct Lanes<'p, 'a> {
    part: &'p mut Part<'a>,
    number: usize,
    access: &'a LaneMove,
    /// Halves of the address, by chunk.
    address: Vec<[Zmm; 4]>,
    /// What is loaded, by chunk; nothing of stores.
    loaded: Vec<[Zmm; 4]>,
    first: Zmm,
    high: Zmm,
    wrong: Zmm,
    limit: Zmm,
    /// Lanes that are not where they should be, and more of them.
    bad: K,
    worse: K,
    /// Orders of dwords, and room, for loads of two side by side.
    orders: Option<([Zmm; 2], Zmm)>,
}

impl<'p, 'a> Lanes<'p, 'a> {
    fn new(part: &'p mut Part<'a>, number: usize) -> Self {
        let fused = part.fused;
        let FusedAccess { access, address, .. } = &fused.accesses[number];
        let row = |part: &mut Part<'_>, value: Value| {
            [0, 1, 2, 3].map(|chunk| {
                part.chunk.r.work = Work::Chunk(chunk);
                part.chunk.r.vector(value, 0)
            })
        };
        let uniform = address.iter().all(|value| fused.block.node(*value).shape == Shape::Uniform);
        let address = address.iter().map(|value| row(part, *value)).collect();
        let count = if access.store || uniform { 0 } else { access.dwords };
        let loaded = (0..count).map(|_| [0; 4].map(|_| part.chunk.r.fresh())).collect();
        let [first, high, wrong, limit] = [0; 4].map(|_| part.chunk.r.fresh());
        let orders = (!access.store && is_double(access)).then(|| (part.load_orders(false), part.chunk.r.fresh()));
        let [bad, worse] = [0; 2].map(|_| part.chunk.r.fresh_mask());
        Lanes { part, number, access, address, loaded, first, high, wrong, limit, bad, worse, orders }
    }

    fn asm(&mut self) -> &mut Asm {
        self.part.asm()
    }

    fn lane_bytes(&self) -> i32 {
        if self.access.apart.is_some() { 4 } else { 4 * self.access.dwords as i32 }
    }

    /// Bytes that so many lanes side by side take, from the first to the last.
    fn extent(&self, lanes: i32) -> i32 {
        lanes * self.lane_bytes() + self.access.apart.map_or(0, i32::abs)
    }

    /// The offsets of a chunk's lanes from the wave's first one, side by side.
    fn ramp(&mut self, chunk: i32) -> Mem {
        let step = self.lane_bytes() as u32;
        ramp(self.asm(), step).further(CHUNK * chunk)
    }

    /// The case that all lanes are side by side; jumps if they are not.
    fn one_run(&mut self) -> Vec<Jump> {
        let (first, wrong) = (self.first, self.wrong);
        let low = self.address[0];
        let ramp = self.ramp(0);
        self.asm().v1(op::VPBROADCASTD, first, low[0]);
        self.asm().v(op::VPADDD, wrong, first, Rm::Mem(ramp));
        self.asm().v(op::VPXORD, wrong, wrong, low[0]);
        for chunk in 1..COUNT {
            let (ramp, high) = (self.ramp(chunk), self.high);
            self.asm().v(op::VPADDD, high, first, Rm::Mem(ramp));
            self.asm().vi(op::VPTERNLOGD, wrong, high, low[chunk as usize], OR_DIFFERENT);
        }
        if let Some(rows) = self.address.get(1).copied() {
            let high = self.high;
            self.asm().v1(op::VPBROADCASTD, high, rows[0]);
            for row in rows {
                self.asm().vi(op::VPTERNLOGD, wrong, high, row, OR_DIFFERENT);
            }
        }
        let bad = self.bad;
        self.asm().non_zero(bad, wrong);
        self.asm().k_test(bad);
        let mut other = vec![self.asm().jump(When::NotZero)];
        other.extend(self.find_place(64, first));
        let step = 16 * self.lane_bytes();
        for chunk in 0..COUNT {
            if self.access.store {
                self.note(chunk);
                if chunk + 1 < COUNT {
                    self.asm().add(PLACE, step);
                }
            } else {
                self.load_run(chunk, Mem::At(PLACE, step * chunk));
            }
        }
        other
    }

    /// Remembers where a chunk of a store goes.
    fn note(&mut self, chunk: i32) {
        let places = self.part.places[&self.number];
        self.asm().store64(SCALARS, places + 8 * chunk, PLACE);
    }

    /// The case that each chunk is a run or, of a load, one address; jumps if one is not.
    fn runs(&mut self) -> Vec<Jump> {
        let mut other = Vec::new();
        for chunk in 0..COUNT {
            let (first, wrong, low) = (self.first, self.wrong, self.address[0][chunk as usize]);
            let ramp = self.ramp(0);
            self.asm().v1(op::VPBROADCASTD, first, low);
            self.asm().v(op::VPADDD, wrong, first, Rm::Mem(ramp));
            self.compare(wrong, low, chunk);
            let no_run = self.asm().jump(When::NotZero);
            other.extend(self.find_place(16, first));
            if self.access.store {
                self.note(chunk);
                other.push(no_run);
                continue;
            }
            self.load_run(chunk, Mem::At(PLACE, 0));
            let done = self.asm().jump_always();
            self.asm().bind(no_run);
            self.compare(first, low, chunk);
            other.push(self.asm().jump(When::NotZero));
            other.extend(self.find_place(1, first));
            for k in 0..self.access.dwords {
                let (to, at) = (self.loaded[k][chunk as usize], place_of(self.access, k));
                self.asm().v1(op::VPBROADCASTD, to, Rm::Mem(Mem::At(PLACE, at)));
            }
            self.asm().bind(done);
        }
        other
    }

    /// The case that a load's lanes are anywhere in the allocation.
    fn spread(&mut self) {
        let Lanes { first, wrong, limit, high, access, bad, worse, .. } = *self;
        let window = Window {
            site: (SITE, self.part.at(self.number)),
            start: Gpr::R11,
            size: SIZE,
            room: ROOM,
            low: LOW,
            origin: PLACE,
            least: first,
            limit,
            high,
        };
        let extent = self.extent(1);
        let outside = window.find(self.asm(), access, extent);
        self.part.fail.extend(outside);
        for chunk in 0..COUNT as usize {
            let (low, result) = (self.address[0][chunk], if chunk == 0 { bad } else { worse });
            self.asm().v(op::VPSUBD, wrong, low, first);
            self.asm().compare(op::VPCMPUD, result, wrong, limit, GREATER);
            self.asm().k(MaskOp::Or, bad, bad, result);
            if let Some(row) = self.address.get(1).map(|rows| rows[chunk]) {
                self.asm().compare(op::VPCMPD, worse, high, row, NOT_EQUAL);
                self.asm().k(MaskOp::Or, bad, bad, worse);
            }
        }
        self.asm().k_test(bad);
        self.part.fail_if(When::NotZero);
        for chunk in 0..COUNT as usize {
            let low = self.address[0][chunk];
            self.asm().v(op::VPSUBD, wrong, low, first);
            self.gather(chunk, PLACE, wrong, 0);
        }
    }

    /// Loads a chunk's dwords from an address, plus what the lanes have in a register, plus an offset.
    fn gather(&mut self, chunk: usize, base: Gpr, index: Zmm, offset: i32) {
        let moving = self.bad;
        for k in 0..self.access.dwords {
            let (to, at) = (self.loaded[k][chunk], offset + place_of(self.access, k));
            self.part.all_lanes(moving);
            self.asm().gather(to, moving, base, index, at);
        }
    }

    /// The case that the address is the same scalar in all lanes: what is loaded is a scalar too.
    fn one_address(&mut self) {
        let Lanes { first, high, .. } = *self;
        let low = self.address[0][0];
        self.asm().v1(op::VMOVDQA32, first, low);
        if let Some(row) = self.address.get(1).map(|rows| rows[0]) {
            self.asm().v1(op::VMOVDQA32, high, row);
        }
        let outside = self.find_place(1, first);
        self.part.fail.extend(outside);
        let fused = self.part.fused;
        for (k, value) in fused.accesses[self.number].data.iter().enumerate() {
            let (to, from) = (self.part.chunk.r.layout().scalar(*value), place_of(self.access, k));
            self.asm().load32(LOW, PLACE, from);
            self.asm().store64(SCALARS, to, LOW);
        }
    }

    /// Sets the flags to not zero if a lane of a chunk is not where it should be.
    fn compare(&mut self, expected: Zmm, low: Zmm, chunk: i32) {
        let Lanes { bad, worse, .. } = *self;
        self.asm().compare(op::VPCMPD, bad, low, expected, NOT_EQUAL);
        if let Some(rows) = self.address.get(1) {
            let (row, high) = (rows[chunk as usize], self.high);
            self.asm().v1(op::VPBROADCASTD, high, row);
            self.asm().compare(op::VPCMPD, worse, high, row, NOT_EQUAL);
            self.asm().k(MaskOp::Or, bad, bad, worse);
        }
        self.asm().k_test(bad);
    }

    /// Where so many lanes are; the jumps are taken if they are not all inside of the allocation.
    fn find_place(&mut self, lanes: i32, first: Zmm) -> [Jump; 3] {
        let extent = self.extent(lanes);
        self.asm().mov(ROOM, SIZE);
        self.asm().sub(ROOM, extent);
        let small = self.asm().jump(When::Below);
        let [wrapped, outside] = self.place(lanes, first);
        [small, wrapped, outside]
    }

    /// Where so many lanes are, of which the first one's address is in `first` and `high`. The jumps are taken if they are
    /// not all inside of the allocation, which `ROOM` is the size of but for their bytes.
    fn place(&mut self, lanes: i32, first: Zmm) -> [Jump; 2] {
        let high = self.high;
        let start = self.part.at(self.number) + Site::START as i32;
        self.asm().low_dword(LOW, first);
        match self.access.base {
            Base::Sgprs(base) => self.asm().load64(PLACE, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Base::Lds { .. } => self.asm().load64(PLACE, SITE, start),
            Base::Interleaved(_) => unreachable!("these are not fused"),
            Base::None => {
                self.asm().low_dword(PLACE, high);
                self.asm().shift_left(PLACE, 32);
            }
        }
        self.asm().add_register(PLACE, LOW);
        let offset = self.access.offset + self.access.apart.map_or(0, |apart| apart.min(0));
        if offset != 0 {
            self.asm().add(PLACE, offset);
        }
        // A run whose low half wraps has jumped.
        let beyond = (lanes - 1) * self.lane_bytes();
        self.asm().add32(LOW, beyond);
        let wrapped = self.asm().jump(When::Below);
        self.asm().mov(LOW, PLACE);
        self.asm().sub_mem(LOW, SITE, start);
        self.asm().compare_registers(LOW, ROOM);
        [wrapped, self.asm().jump(When::Above)]
    }

    fn load_run(&mut self, chunk: i32, from: Mem) {
        let to: Vec<Zmm> = self.loaded.iter().map(|row| row[chunk as usize]).collect();
        if self.access.dwords > 2 {
            let (Mem::At(base, offset), index) = (from, self.wrong) else { unreachable!("it is in memory") };
            let ramp = self.ramp(0);
            self.asm().v1(op::VMOVDQA32, index, Rm::Mem(ramp));
            return self.gather(chunk as usize, base, index, offset);
        }
        let Some(([even, odd], other)) = self.orders else {
            for (k, to) in to.into_iter().enumerate() {
                let at = from.further(place_of(self.access, k));
                self.asm().v1(op::VMOVDQU32, to, Rm::Mem(at));
            }
            return;
        };
        self.asm().v1(op::VMOVDQU32, to[0], Rm::Mem(from));
        self.asm().v1(op::VMOVDQU32, other, Rm::Mem(from.further(CHUNK)));
        self.asm().v1(op::VMOVDQA32, to[1], to[0]);
        self.asm().v(op::VPERMT2D, to[0], even, other);
        self.asm().v(op::VPERMT2D, to[1], odd, other);
    }

    /// What was loaded is there from now on.
    fn define(self) {
        let fused = self.part.fused;
        for (row, value) in self.loaded.iter().zip(&fused.accesses[self.number].data) {
            for (chunk, register) in row.iter().enumerate() {
                self.part.chunk.r.work = Work::Chunk(chunk as i32);
                self.part.chunk.r.define(*value, 0, *register);
            }
        }
    }
}

/// Whether lanes have two dwords side by side.
fn is_double(access: &LaneMove) -> bool {
    access.dwords == 2 && access.apart.is_none()
}

/// Offsets of the lanes of a wave, side by side.
fn ramp(asm: &mut Asm, step: u32) -> Mem {
    let places: Vec<u8> = (0..64).flat_map(|lane| (step * lane).to_le_bytes()).collect();
    asm.constant(&places)
}

/// Bytes from a lane's dword that comes first in memory to dword `k`.
fn place_of(access: &LaneMove, k: usize) -> i32 {
    match access.apart {
        Some(apart) => [-apart.min(0), apart.max(0)][k],
        None => 4 * k as i32,
    }
}
