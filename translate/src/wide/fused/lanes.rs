//! The accesses of a fused part: whether the lanes, whose addresses are in registers, are where its code can move them.

use super::{CHUNK, LOW, PLACE, Part, ROOM, SCALARS, SITE, SIZE, WAVE, load_sites};
use crate::access::{LaneMove, Origin, Site};
use crate::lane::{Shape, Value};
use crate::pass::fuse::FusedAccess;
use crate::wide::access::small::widen;
use crate::wide::access::spread::Window;
use crate::wide::access::{COUNT, OR_DIFFERENT};
use crate::wide::asm::predicate::GREATER;
use crate::wide::asm::predicate::NOT_EQUAL;
use crate::wide::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use crate::wide::registers::Work;
use gcnjit_rt::Wave;
use std::mem::offset_of;

/// How often lanes are taken to be apart before that is looked at again.
const APART_FOR: u8 = 16;

/// An access while it is checked.
pub(super) struct Lanes<'p, 'a> {
    pub(super) part: &'p mut Part<'a>,
    pub(super) number: usize,
    pub(super) access: &'a LaneMove,
    /// Halves of the address, by chunk.
    pub(super) address: Vec<[Zmm; 4]>,
    /// What is loaded, by chunk; nothing of stores.
    pub(super) loaded: Vec<[Zmm; 4]>,
    pub(super) first: Zmm,
    pub(super) high: Zmm,
    pub(super) wrong: Zmm,
    pub(super) limit: Zmm,
    /// Lanes that are not where they should be, and more of them.
    pub(super) bad: K,
    pub(super) worse: K,
    /// In a part for any EXEC, the active lanes of a chunk that is looked at.
    pub(super) active: Option<K>,
    /// Orders of dwords, and room, for loads of two side by side.
    pub(super) orders: Option<([Zmm; 2], Zmm)>,
}

impl<'p, 'a> Lanes<'p, 'a> {
    /// An access whose address is in registers in each chunk.
    pub(super) fn of_chunks(part: &'p mut Part<'a>, number: usize) -> Self {
        let fused = part.fused;
        let address = &fused.accesses[number].address;
        let row = |part: &mut Part<'_>, value: Value| {
            let count = part.count;
            [0, 1, 2, 3].map(|chunk| {
                part.chunk.r.work = Work::Chunk(chunk % count);
                part.chunk.r.vector(value, 0)
            })
        };
        let rows = address.iter().map(|value| row(part, *value)).collect();
        let mut lanes = Lanes::new(part, number, rows);
        if lanes.part.partial {
            lanes.clear_loaded();
        }
        lanes
    }

    /// Clears what is loaded to. In lanes that are not, floats may happen to be denormals else, which take the host long.
    fn clear_loaded(&mut self) {
        let Lanes { part, loaded, .. } = self;
        let chunks = part.count as usize;
        for register in loaded.iter().flat_map(|row| &row[..chunks]) {
            part.asm().v(op::VPXORD, *register, *register, *register);
        }
    }

    pub(super) fn new(part: &'p mut Part<'a>, number: usize, rows: Vec<[Zmm; 4]>) -> Self {
        let fused = part.fused;
        let FusedAccess { access, address, .. } = &fused.accesses[number];
        let uniform = address.iter().all(|value| fused.block.node(*value).shape == Shape::Uniform);
        let count = if access.store || uniform { 0 } else { access.dwords };
        let loaded = (0..count).map(|_| part.fresh_in_chunks()).collect();
        let [first, high, wrong, limit] = [0; 4].map(|_| part.chunk.r.fresh());
        let orders =
            (!access.store && access.side_by_side() == 2).then(|| (part.load_orders(false), part.chunk.r.fresh()));
        let [bad, worse] = [0; 2].map(|_| part.chunk.r.fresh_mask());
        let active = part.partial.then(|| part.chunk.r.fresh_mask());
        Lanes { part, number, access, address: rows, loaded, first, high, wrong, limit, bad, worse, active, orders }
    }

    pub(super) fn asm(&mut self) -> &mut Asm {
        self.part.asm()
    }

    /// The offsets of a chunk's lanes from the wave's first one, side by side.
    fn ramp(&mut self, chunk: i32) -> Mem {
        let step = self.access.lane_bytes() as u32;
        self.asm().ramp(step).further(CHUNK * chunk)
    }

    /// The jump is taken if lanes have been apart lately: they will be again.
    pub(super) fn have_been_apart(&mut self) -> Jump {
        let (site, at) = self.find_apart();
        self.asm().compare8(site, at, 0);
        self.asm().jump(When::NotZero)
    }

    /// Notes that lanes are neither side by side nor in runs, or, where `known` comes from, counts on.
    pub(super) fn are_apart(&mut self, known: Jump) {
        let (site, at) = self.find_apart();
        self.asm().set8(site, at, APART_FOR.wrapping_neg());
        let new = self.asm().jump_always();
        // What has been found before the jump is there.
        self.asm().bind(known);
        self.asm().increment8(site, at);
        self.asm().bind(new);
    }

    /// Finds what the access' own site notes of that. In LDS, whose site all accesses share, it has to be loaded.
    fn find_apart(&mut self) -> (Gpr, i32) {
        let at = self.part.site_offset(self.number) + Site::APART as i32;
        if !matches!(self.part.fused.accesses[self.number].origin, Origin::Lds { .. }) {
            return (SITE, at);
        }
        load_sites(self.asm(), Gpr::R11);
        (Gpr::R11, at)
    }

    /// The case that all lanes are side by side; jumps if they are not.
    pub(super) fn one_run(&mut self) -> Vec<Jump> {
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
        let step = 16 * self.access.lane_bytes();
        for chunk in 0..COUNT {
            if self.access.store {
                self.note(chunk);
                if chunk + 1 < COUNT {
                    self.asm().add(PLACE, step);
                }
            } else {
                self.load_run(chunk, PLACE, step * chunk);
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
    pub(super) fn runs(&mut self) -> Vec<Jump> {
        let mut other = Vec::new();
        for chunk in 0..self.part.count {
            let none = self.look_at(chunk);
            let no_run = self.run(chunk, &mut other);
            if self.access.store {
                other.push(no_run);
            } else {
                self.load_run(chunk, PLACE, 0);
                let done = self.asm().jump_always();
                self.asm().bind(no_run);
                self.same(chunk, &mut other);
                self.asm().bind(done);
            }
            none.into_iter().for_each(|jump| self.asm().bind(jump));
            if self.access.store {
                self.note(chunk);
            }
        }
        other
    }

    /// Begins to look at the active lanes of a chunk; the jump is taken if there are none.
    fn look_at(&mut self, chunk: i32) -> Option<Jump> {
        let active = self.active?;
        // A store without lanes has an address all the same.
        self.asm().mov(PLACE, WAVE);
        Some(self.part.skip_if_none(active, chunk))
    }

    /// Finds a chunk's place if it is a run; the jump is taken if it is none.
    fn run(&mut self, chunk: i32, other: &mut Vec<Jump>) -> Jump {
        let (first, starts, low) = (self.first, self.wrong, self.address[0][chunk as usize]);
        let ramp = self.ramp(0);
        self.asm().v(op::VPSUBD, starts, low, Rm::Mem(ramp));
        self.compare_with_first(starts, first, chunk);
        let no_run = self.asm().jump(When::NotZero);
        other.extend(self.find_place(16, first));
        no_run
    }

    /// Loads a chunk whose lanes' address is the same.
    fn same(&mut self, chunk: i32, other: &mut Vec<Jump>) {
        let (first, low) = (self.first, self.address[0][chunk as usize]);
        self.compare_with_first(low, first, chunk);
        other.push(self.asm().jump(When::NotZero));
        other.extend(self.find_place(1, first));
        self.broadcast(chunk, 0);
    }

    /// Loads what is so many bytes behind `PLACE` to all lanes of a chunk.
    pub(super) fn broadcast(&mut self, chunk: i32, behind: i32) {
        for k in 0..self.access.dwords {
            let (to, from) = (self.loaded[k][chunk as usize], Mem::At(PLACE, behind + self.access.place_of(k)));
            match self.access.small {
                Some(small) => self.broadcast_small(small, to, from),
                None => self.asm().v1(op::VPBROADCASTD, to, Rm::Mem(from)),
            }
        }
    }

    /// The case that a load's lanes are anywhere in the allocation.
    pub(super) fn spread(&mut self) {
        self.find_spread();
        let quads = self.access.may_be_quads().then(|| self.load_quads());
        match self.access.small {
            Some(small) => self.gather_small(small),
            None => self.gather_chunks(),
        }
        quads.into_iter().for_each(|jump| self.asm().bind(jump));
    }

    /// Gathers lanes whose addresses are in the allocation.
    fn gather_chunks(&mut self) {
        let (first, index) = (self.first, self.wrong);
        for chunk in 0..self.part.count as usize {
            let low = self.address[0][chunk];
            let none = self.active.map(|active| self.part.skip_if_none(active, chunk as i32));
            self.asm().v(op::VPSUBD, index, low, first);
            self.gather(chunk, PLACE, index, 0, self.active);
            none.into_iter().for_each(|jump| self.asm().bind(jump));
        }
    }

    /// Checks that all lanes are in the allocation. Indices count from the low half `first`, and from `PLACE`.
    pub(super) fn find_spread(&mut self) {
        let Lanes { first, wrong, limit, high, access, bad, worse, .. } = *self;
        let window = Window {
            base: self.part.fused.accesses[self.number].origin,
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
        let extent = self.access.extent(1);
        let outside = window.find(self.asm(), access, extent);
        self.part.fail.extend(outside);
        for chunk in 0..self.part.count as usize {
            let (low, result) = (self.address[0][chunk], if chunk == 0 { bad } else { worse });
            let lanes = self.lanes(chunk as i32);
            self.asm().v(op::VPSUBD, wrong, low, first);
            self.asm().compare_in(op::VPCMPUD, result, lanes, wrong, limit, GREATER);
            self.asm().k(MaskOp::Or, bad, bad, result);
            if let Some(row) = self.address.get(1).map(|rows| rows[chunk]) {
                self.asm().compare_in(op::VPCMPD, worse, lanes, high, row, NOT_EQUAL);
                self.asm().k(MaskOp::Or, bad, bad, worse);
            }
        }
        self.asm().k_test(bad);
        self.part.fail_if(When::NotZero);
    }

    /// The lanes of a chunk that matter. K0 stands for all.
    pub(super) fn lanes(&mut self, chunk: i32) -> K {
        let Some(active) = self.active else { return K(0) };
        self.part.load_active(active, chunk);
        active
    }

    /// Loads a chunk's dwords, of some lanes or of all, from an address, plus what the lanes have in a register, plus an
    /// offset.
    pub(super) fn gather(&mut self, chunk: usize, base: Gpr, index: Zmm, offset: i32, lanes: Option<K>) {
        let moving = self.bad;
        for k in 0..self.access.dwords {
            let (to, at) = (self.loaded[k][chunk], offset + self.access.place_of(k));
            match lanes {
                Some(lanes) => self.asm().k(MaskOp::And, moving, lanes, lanes),
                None => self.part.all_lanes(moving),
            }
            self.asm().gather(to, moving, base, index, at);
        }
    }

    /// The case that the address is the same scalar in all lanes: what is loaded is a scalar too.
    pub(super) fn one_address(&mut self) {
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
            let (to, from) = (self.part.chunk.r.layout().scalar(*value), Mem::At(PLACE, self.access.place_of(k)));
            match self.access.small {
                Some(small) => self.asm().load_small(small.bytes, small.signed, LOW, from),
                None => self.asm().load(false, LOW, from),
            }
            self.asm().store64(SCALARS, to, LOW);
        }
    }

    /// Makes `first` what the first lane of a row has, and sets the flags to not zero if another one of the chunk has
    /// something else, or another upper half.
    fn compare_with_first(&mut self, row: Zmm, first: Zmm, chunk: i32) {
        let Lanes { bad, worse, high, .. } = *self;
        let lanes = self.active.unwrap_or(K(0));
        self.first_of(row, first);
        self.asm().compare_in(op::VPCMPD, bad, lanes, row, first, NOT_EQUAL);
        if let Some(row) = self.address.get(1).map(|rows| rows[chunk as usize]) {
            self.first_of(row, high);
            self.asm().compare_in(op::VPCMPD, worse, lanes, row, high, NOT_EQUAL);
            self.asm().k(MaskOp::Or, bad, bad, worse);
        }
        self.asm().k_test(bad);
    }

    /// What the first lane of a row has, of those that matter, in all lanes.
    fn first_of(&mut self, row: Zmm, first: Zmm) {
        match self.active {
            Some(active) => {
                self.asm().compress(first, active, row);
                self.asm().v1(op::VPBROADCASTD, first, first);
            }
            None => self.asm().v1(op::VPBROADCASTD, first, row),
        }
    }

    /// Where so many lanes are; the jumps are taken if they are not all inside of the allocation.
    pub(super) fn find_place(&mut self, lanes: i32, first: Zmm) -> [Jump; 3] {
        let extent = self.access.extent(lanes);
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
        match self.part.fused.accesses[self.number].origin {
            Origin::Sgprs(base) => self.asm().load64(PLACE, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Origin::Lds { .. } => self.asm().load64(PLACE, SITE, start),
            Origin::None => {
                self.asm().low_dword(PLACE, high);
                self.asm().shift_left(PLACE, 32);
            }
        }
        self.asm().add_register(PLACE, LOW);
        let offset = self.access.first_byte();
        if offset != 0 {
            self.asm().add(PLACE, offset);
        }
        // A run whose low half wraps has jumped.
        let beyond = (lanes - 1) * self.access.lane_bytes();
        self.asm().add32(LOW, beyond);
        let wrapped = self.asm().jump(When::Below);
        self.asm().mov(LOW, PLACE);
        self.asm().sub_mem(LOW, SITE, start);
        self.asm().compare_registers(LOW, ROOM);
        [wrapped, self.asm().jump(When::Above)]
    }

    /// Loads a chunk whose lanes are side by side, from an address on.
    pub(super) fn load_run(&mut self, chunk: i32, base: Gpr, offset: i32) {
        let to: Vec<Zmm> = self.loaded.iter().map(|row| row[chunk as usize]).collect();
        let from = |lanes: &Self, k: usize| Mem::At(base, offset + lanes.access.place_of(k));
        if let Some(small) = self.access.small {
            let from = from(self, 0);
            return self.asm().v1(widen(small), to[0], Rm::Mem(from));
        }
        match self.orders {
            Some((orders, other)) => {
                for (half, to) in to.chunks(2).enumerate() {
                    let from = from(self, 2 * half);
                    self.load_pairs([to[0], to[1]], from, orders, other);
                }
            }
            None if self.access.side_by_side() == 1 => {
                for (k, to) in to.into_iter().enumerate() {
                    let from = from(self, k);
                    self.asm().v1(op::VMOVDQU32, to, Rm::Mem(from));
                }
            }
            None => {
                let from = from(self, 0);
                self.load_rows(&to, from);
            }
        }
    }

    /// Loads sixteen times two dwords, side by side.
    fn load_pairs(&mut self, to: [Zmm; 2], from: Mem, [even, odd]: [Zmm; 2], other: Zmm) {
        self.asm().v1(op::VMOVDQU32, to[0], Rm::Mem(from));
        self.asm().v1(op::VMOVDQU32, other, Rm::Mem(from.further(CHUNK)));
        self.order_pairs(to, [even, odd], other);
    }

    /// Puts two dwords a lane in order, of which the first row is where the first dwords will be.
    pub(super) fn order_pairs(&mut self, to: [Zmm; 2], [even, odd]: [Zmm; 2], other: Zmm) {
        self.asm().v1(op::VMOVDQA32, to[1], to[0]);
        self.asm().v(op::VPERMT2D, to[0], even, other);
        self.asm().v(op::VPERMT2D, to[1], odd, other);
    }

    /// What was loaded is there from now on.
    pub(super) fn define(self) {
        let fused = self.part.fused;
        for (row, value) in self.loaded.iter().zip(&fused.accesses[self.number].data) {
            for (chunk, register) in row.iter().enumerate().take(self.part.count as usize) {
                self.part.chunk.r.work = Work::Chunk(chunk as i32);
                self.part.chunk.r.define(*value, 0, *register);
            }
        }
    }
}
