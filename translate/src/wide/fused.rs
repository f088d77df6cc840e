//! Fused parts ([`crate::pass::fuse`]): their values for all chunks, written out, and their accesses on registers.
//!
//! `fn(wave: *mut Wave, slots: *mut Row, scalars: *mut u64) -> u32`: 0 if it has done everything; else nothing has
//! happened that matters, and the plan's steps have to be gone through. That is so if not all lanes are active, or if
//! the lanes of an access are neither side by side, nor in runs of sixteen, nor (for a load) the same within sixteen, or not
//! in the allocation that it hit last. Who has given up a few times in a row does so at once for a while.

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
    let scalars = fused.uniforms.iter().filter(|(here, _)| layout.places.contains_key(here)).map(|(_, guest)| *guest);
    Entry { offset, scalars: scalars.collect(), bytes: layout.bytes as usize, versions: 1 }
}

impl Layout {
    /// What a part finds in `scalars`: its uniform values, room for its bits, the unit's sites and the one of LDS.
    fn of_fused(fused: &Fused) -> Layout {
        let node = |value: &Value| fused.block.node(*value);
        let masks: HashSet<Value> =
            fused.block.nodes.iter().filter(|node| node.op == Op::Spread).map(|node| node.args[0]).collect();
        let given = fused.uniforms.iter().map(|(here, _)| *here);
        let scalars: Vec<Value> = given.filter(|value| node(value).op != Op::Const || masks.contains(value)).collect();
        let places = scalars.iter().enumerate().map(|(i, value)| (*value, 8 * i as i32)).collect();
        let bits = fused.bits.len();
        let bytes = 8 * (scalars.len() + bits + 2) as i32;
        Layout { scalars, places, bits, bytes }
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
            lanes.one_address();
        } else {
            let other = lanes.one_run();
            let done = lanes.part.asm().jump_always();
            other.into_iter().for_each(|jump| lanes.part.asm().bind(jump));
            lanes.runs();
            lanes.part.asm().bind(done);
        }
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
        let address = address.iter().map(|value| row(part, *value)).collect();
        let count = if access.store { 0 } else { access.dwords };
        let loaded = (0..count).map(|_| [0; 4].map(|_| part.chunk.r.fresh())).collect();
        let [first, high, wrong] = [0; 3].map(|_| part.chunk.r.fresh());
        let orders = (!access.store && is_double(access)).then(|| (part.load_orders(false), part.chunk.r.fresh()));
        Lanes { part, number, access, address, loaded, first, high, wrong, orders }
    }

    fn asm(&mut self) -> &mut Asm {
        self.part.asm()
    }

    fn lane_bytes(&self) -> i32 {
        if is_double(self.access) { 8 } else { 4 }
    }

    /// Bytes that so many lanes side by side take, from the first to the last.
    fn extent(&self, lanes: i32) -> i32 {
        lanes * self.lane_bytes() + self.access.apart.map_or(0, i32::abs)
    }

    /// The offsets of a chunk's lanes from the wave's first one, side by side.
    fn ramp(&mut self, chunk: i32) -> Mem {
        let step = self.lane_bytes() as u32;
        let places: Vec<u8> = (0..64).flat_map(|lane| (step * lane).to_le_bytes()).collect();
        self.asm().constant(&places).further(CHUNK * chunk)
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
        self.asm().non_zero(K(1), wrong);
        self.asm().k_test(K(1));
        let mut other = vec![self.asm().jump(When::NotZero)];
        let extent = self.extent(64);
        self.asm().mov(ROOM, SIZE);
        self.asm().sub(ROOM, extent);
        other.push(self.asm().jump(When::Below));
        other.extend(self.place(64, first));
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

    /// The case that each chunk is a run or, of a load, one address.
    fn runs(&mut self) {
        for chunk in 0..COUNT {
            let (first, wrong, low) = (self.first, self.wrong, self.address[0][chunk as usize]);
            let ramp = self.ramp(0);
            self.asm().v1(op::VPBROADCASTD, first, low);
            self.asm().v(op::VPADDD, wrong, first, Rm::Mem(ramp));
            self.compare(wrong, low, chunk);
            let other = self.asm().jump(When::NotZero);
            self.place_or_fail(16, first);
            if self.access.store {
                self.note(chunk);
                self.part.fail.push(other);
                continue;
            }
            self.load_run(chunk, Mem::At(PLACE, 0));
            let done = self.asm().jump_always();
            self.asm().bind(other);
            self.compare(first, low, chunk);
            self.part.fail_if(When::NotZero);
            self.place_or_fail(1, first);
            self.broadcast(chunk);
            self.asm().bind(done);
        }
    }

    /// The case that the address is the same scalar in all lanes.
    fn one_address(&mut self) {
        if self.access.store {
            // Only the last lane's dword would stay.
            let fail = self.asm().jump_always();
            self.part.fail.push(fail);
            return;
        }
        let low = self.address[0][0];
        let first = self.first;
        self.asm().v1(op::VMOVDQA32, first, low);
        if let Some(rows) = self.address.get(1) {
            let (row, high) = (rows[0], self.high);
            self.asm().v1(op::VMOVDQA32, high, row);
        }
        self.place_or_fail(1, first);
        (0..COUNT).for_each(|chunk| self.broadcast(chunk));
    }

    /// Loads one dword, or two, to all lanes of a chunk.
    fn broadcast(&mut self, chunk: i32) {
        for k in 0..self.access.dwords {
            let (to, at) = (self.loaded[k][chunk as usize], place_of(self.access, k));
            self.asm().v1(op::VPBROADCASTD, to, Rm::Mem(Mem::At(PLACE, at)));
        }
    }

    /// Sets the flags to not zero if a lane of a chunk is not where it should be.
    fn compare(&mut self, expected: Zmm, low: Zmm, chunk: i32) {
        self.asm().compare(op::VPCMPD, K(1), low, expected, NOT_EQUAL);
        if let Some(rows) = self.address.get(1) {
            let (row, high) = (rows[chunk as usize], self.high);
            self.asm().v1(op::VPBROADCASTD, high, row);
            self.asm().compare(op::VPCMPD, K(2), high, row, NOT_EQUAL);
            self.asm().k(MaskOp::Or, K(1), K(1), K(2));
        }
        self.asm().k_test(K(1));
    }

    fn place_or_fail(&mut self, lanes: i32, first: Zmm) {
        let extent = self.extent(lanes);
        self.asm().mov(ROOM, SIZE);
        self.asm().sub(ROOM, extent);
        self.part.fail_if(When::Below);
        let outside = self.place(lanes, first);
        self.part.fail.extend(outside);
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

/// Bytes from a lane's dword that comes first in memory to dword `k`.
fn place_of(access: &LaneMove, k: usize) -> i32 {
    match access.apart {
        Some(apart) => [-apart.min(0), apart.max(0)][k],
        None => 4 * k as i32,
    }
}
