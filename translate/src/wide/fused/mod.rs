//! Fused parts ([`crate::pass::fuse`]): their values for all chunks, written out, and their accesses on registers.
//!
//! `fn(wave: *mut Wave, slots: *mut Row, scalars: *mut u64) -> u32`: 0 if it has done everything; else nothing has
//! happened that matters, and the plan's steps have to be gone through. That is so if not all lanes are active, if not all
//! lanes of an access are in the allocation that it hit last, or if those of a store are neither side by side nor in runs
//! of sixteen. Loads look for these cases first, then for sixteen lanes that are the same, and gather what is left. Who has
//! given up a few times in a row does so at once for a while. Of accesses whose lanes are thought to count only the ends
//! of chunks are looked at (`ends`).

mod ends;
mod events;
mod lanes;

use super::access::{COUNT, EXEC, PATIENCE, orders};
use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use super::registers::{ENDS, Registers, Work};
use super::schedule::Event;
use super::select::Chunk;
use super::{Entry, Layout, join_bits};
use crate::access::{Base, Site};
use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use crate::pass::fuse::{Fused, FusedAccess};
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use lanes::Lanes;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
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
    let schedule = events::schedule(fused);
    let mut layout = Layout::of_fused(fused);
    let demand = Demand { block: &fused.block, plan: &fused.plan, rank: 0 };
    let registers = Registers::new(asm, demand, None, &schedule, &mut layout, Work::Chunk(0));
    let mut part = Part {
        chunk: Chunk { r: registers },
        fused,
        first_site,
        fail: Vec::new(),
        places: HashMap::default(),
        wrong: None,
    };
    part.emit();
    let guest: HashMap<Value, Value> = fused.uniforms.iter().copied().collect();
    let scalars = layout.scalars.iter().map(|here| guest[here]).collect();
    Entry { offset, scalars, bytes: layout.bytes as usize, versions: 1 }
}

impl Layout {
    /// What a part finds in `scalars`: its uniform values, room for its bits, the unit's sites and the one of LDS.
    fn of_fused(fused: &Fused) -> Layout {
        let node = |value: &Value| fused.block.node(*value);
        let loaded: Vec<Value> =
            fused.accesses.iter().filter(|access| !access.access.store).flat_map(|a| a.data.clone()).collect();
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

/// A part while it is emitted.
pub(super) struct Part<'a> {
    chunk: Chunk<'a>,
    fused: &'a Fused,
    first_site: usize,
    /// Jumps to where it gives up.
    fail: Vec<Jump>,
    /// Of checked stores, where their chunks' addresses are kept.
    places: HashMap<usize, i32>,
    /// Not zero where something has been found that is not as it was thought to be.
    wrong: Option<Zmm>,
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
        if self.fused.accesses.iter().any(|access| access.stride.is_some()) {
            self.wrong = Some(self.nothing_wrong());
        }
        while let Some(event) = self.chunk.r.begin() {
            match event {
                Event::Ends(value) => self.ends(value),
                Event::Check(number) => self.check_strided(number),
                Event::Proof => self.fail_if_wrong(),
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
        if let Some(stride) = access.stride {
            return self.load_strided(number, stride);
        }
        self.check_site(number);
        if access.access.store {
            let room = self.chunk.r.layout_mut().spill(8 * COUNT);
            self.places.insert(number, room);
        }
        let uniform = |value: &Value| fused.block.node(*value).shape == Shape::Uniform;
        let mut lanes = Lanes::of_chunks(self, number);
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
        let ramp = self.asm().ramp(4 * data.len() as u32);
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
