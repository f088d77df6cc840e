//! The stores of a fused part: checks of those that are no runs, and moving what is in registers to where it has been
//! checked that it may go.
//!
//! Where a store goes is kept in the frame until then: where its chunks begin, if they are runs; else what indices count
//! from, and these ([`Spread`]).

use super::active::load_exec;
use super::lanes::Lanes;
use super::small::store_small;
use super::{CHUNK, LOW, PLACE, Part, SCALARS, SITE, SIZE};
use crate::access::Small;
use crate::lane::Value;
use crate::pass::fuse::FusedAccess;
use crate::wide::access::COUNT;
use crate::wide::asm::{Gpr, K, Mem, Rm, When, Zmm, op};
use crate::wide::registers::Work;

/// Where a store's lanes are if they are no runs: a row of indices, and behind it what they stand for; 0 for nothing.
#[derive(Clone, Copy)]
pub(super) struct Spread(i32);

impl Spread {
    const BYTES: i32 = ROW + 8;

    fn indices(self, chunk: i32) -> Mem {
        Mem::At(SCALARS, self.0 + CHUNK * chunk)
    }

    fn use_of(self) -> i32 {
        self.0 + ROW
    }
}

/// What a store that is no run may be: lanes that are anywhere, or quads.
const ANYWHERE: u32 = 1;
const QUADS: u32 = 2;

/// How lanes that are stored as vectors lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Side by side, from `PLACE` on.
    Run,
    /// Four at a time, from the bases of quads on.
    Quads,
}

/// Bytes of a row of dwords.
pub(super) const ROW: i32 = CHUNK * COUNT;
/// For moving one lane after the other: those that are still to be done, the next one, where it goes, a dword.
const REST: Gpr = LOW;
const LANE: Gpr = SITE;
const TO: Gpr = SIZE;
const DWORD: Gpr = Gpr::R11;

/// Registers for moving data that are assigned before the code parts.
pub(super) struct Temporaries {
    pub(super) index: Zmm,
    pub(super) vectors: [Zmm; 2],
    pub(super) moving: K,
    pub(super) active: K,
    /// Of more than two dwords a lane in a part for any EXEC, active lanes' signs, and room.
    pub(super) signs: Option<[Zmm; 2]>,
    /// Orders of dwords for lanes of two.
    orders: Option<[Zmm; 2]>,
}

impl Part<'_> {
    /// Makes room for where a store goes that has no stride.
    pub(super) fn begin_store(&mut self, number: usize) {
        let layout = self.chunk.r.layout_mut();
        self.places.insert(number, layout.spill(8 * COUNT));
        let spread = Spread(layout.room(Spread::BYTES));
        self.spread.insert(number, spread);
        self.asm().mov_imm(LOW, 0);
        self.asm().store64(SCALARS, spread.use_of(), LOW);
    }

    /// Moves the data of a store that has been checked.
    pub(super) fn store(&mut self, number: usize) {
        let fused = self.fused;
        let FusedAccess { access, data, .. } = &fused.accesses[number];
        let spread = self.spread.get(&number).copied();
        if spread.is_some() {
            // All registers are assigned before the code parts.
            for chunk in 0..self.count {
                self.data(data, chunk);
            }
        }
        let [index, first, second] = [0; 3].map(|_| self.chunk.r.fresh());
        let [moving, active] = [0; 2].map(|_| self.chunk.r.fresh_mask());
        let orders = (access.dwords == 2).then(|| self.load_orders(true));
        let signs = (access.dwords > 2 && self.partial).then(|| [0; 2].map(|_| self.chunk.r.fresh()));
        let with = Temporaries { index, vectors: [first, second], moving, active, signs, orders };
        let Some(spread) = spread else { return self.store_runs(number, &with) };
        self.asm().load64(LOW, SCALARS, spread.use_of());
        self.asm().or_register(LOW, LOW);
        let other = self.asm().jump(When::NotZero);
        self.store_runs(number, &with);
        let mut done = vec![self.asm().jump_always()];
        self.asm().bind(other);
        if access.may_be_quads() {
            self.asm().compare32(LOW, QUADS);
            let anywhere = self.asm().jump(When::NotZero);
            self.store_quads(number, spread, &with);
            done.push(self.asm().jump_always());
            self.asm().bind(anywhere);
        }
        self.store_anywhere(number, spread, &with);
        done.into_iter().for_each(|jump| self.asm().bind(jump));
    }

    /// A chunk of what is stored.
    fn data(&mut self, data: &[Value], chunk: i32) -> Vec<Zmm> {
        self.chunk.r.work = Work::Chunk(chunk);
        data.iter().map(|value| self.chunk.r.vector(*value, 0)).collect()
    }

    /// Stores chunks whose lanes are side by side.
    fn store_runs(&mut self, number: usize, with: &Temporaries) {
        let fused = self.fused;
        let FusedAccess { access, data, .. } = &fused.accesses[number];
        let places = self.places[&number];
        for chunk in 0..self.count {
            let data = self.data(data, chunk);
            self.go_to(places, chunk, access.lane_bytes());
            if self.partial {
                self.load_active(with.active, chunk);
            }
            match access.small {
                Some(small) => self.store_small_run(small, data[0], with),
                None => self.store_chunk(&data, To::Run, with),
            }
        }
    }

    /// Stores chunks that consist of quads.
    fn store_quads(&mut self, number: usize, spread: Spread, with: &Temporaries) {
        let (fused, places) = (self.fused, self.places[&number]);
        self.asm().load64(PLACE, SCALARS, places);
        self.begin_quads();
        for chunk in 0..self.count {
            let data = self.data(&fused.accesses[number].data, chunk);
            self.find_bases(chunk, spread.indices(chunk));
            self.store_chunk(&data, To::Quads, with);
        }
        self.end_quads();
    }

    fn store_chunk(&mut self, data: &[Zmm], to: To, with: &Temporaries) {
        match *data {
            [dwords] => self.store_vector(dwords, (0, 1), to, with.active),
            [first, second] => self.store_pairs(first, second, to, with),
            _ => self.store_rows(data, to, with),
        }
    }

    /// Stores a row of a run of so many dwords a lane, in a part for any EXEC some of its dwords; or in quads.
    pub(super) fn store_vector(&mut self, from: Zmm, (row, dwords_a_lane): (u32, u32), to: To, active: K) {
        let place = Mem::At(PLACE, CHUNK * row as i32);
        match to {
            To::Quads => self.store_in_quads(from, row, dwords_a_lane),
            To::Run if self.partial => self.asm().store_lanes(place, active, from),
            To::Run => self.asm().store_unaligned(place, from),
        }
    }

    /// Stores two dwords a lane, side by side.
    fn store_pairs(&mut self, first: Zmm, second: Zmm, to: To, with: &Temporaries) {
        let [both, signs] = with.vectors;
        for (half, order) in (0..).zip(with.orders.expect("there are two dwords")) {
            if self.partial && to == To::Run {
                self.asm().signs_of_mask(signs, with.active);
                self.asm().v1(op::VMOVDQA32, both, signs);
                self.asm().v(op::VPERMT2D, both, order, signs);
                self.asm().mask_of_signs(with.moving, both);
            }
            self.asm().v1(op::VMOVDQA32, both, first);
            self.asm().v(op::VPERMT2D, both, order, second);
            self.store_vector(both, (half, 2), to, with.moving);
        }
    }

    /// Stores a dword a lane, by indices from `PLACE` on.
    fn scatter(&mut self, dwords: Zmm, chunk: i32, with: &Temporaries) {
        self.begin_moving(with.moving, chunk);
        self.asm().scatter(with.moving, PLACE, with.index, dwords);
    }

    /// Sets the mask that gathers and scatters clear.
    fn begin_moving(&mut self, moving: K, chunk: i32) {
        match self.partial {
            true => self.load_active(moving, chunk),
            false => self.all_lanes(moving),
        }
    }

    /// Stores lanes that are anywhere. Where they overlap the last one counts, which the manual promises of VPSCATTERDD and
    /// VPSCATTERDQ.
    fn store_anywhere(&mut self, number: usize, spread: Spread, with: &Temporaries) {
        let fused = self.fused;
        let data = &fused.accesses[number].data;
        let places = self.places[&number];
        let small = fused.accesses[number].access.small;
        if data.len() > 2 || small.is_some() {
            return self.store_one_by_one(data, small, spread, places);
        }
        for chunk in 0..self.count {
            let data = self.data(data, chunk);
            let none = self.partial.then(|| self.skip_if_none(with.active, chunk));
            self.asm().load64(PLACE, SCALARS, places);
            self.asm().v1(op::VMOVDQA32, with.index, Rm::Mem(spread.indices(chunk)));
            match *data {
                [first, second] => self.scatter_pairs(first, second, chunk, with),
                _ => data.iter().for_each(|dwords| self.scatter(*dwords, chunk, with)),
            }
            none.into_iter().for_each(|jump| self.asm().bind(jump));
        }
    }

    /// Stores lanes in their order, all dwords of one and then those of the next.
    fn store_one_by_one(&mut self, data: &[Value], small: Option<Small>, spread: Spread, places: i32) {
        let rows = self.chunk.r.layout_mut().room(ROW * data.len() as i32);
        for chunk in 0..self.count {
            for (row, dwords) in (rows..).step_by(ROW as usize).zip(self.data(data, chunk)) {
                self.asm().store(Mem::At(SCALARS, row + CHUNK * chunk), dwords);
            }
        }
        let asm = self.asm();
        asm.load64(PLACE, SCALARS, places);
        load_exec(asm, REST, DWORD);
        let none = asm.jump(When::Zero);
        let top = asm.here();
        asm.lowest_one64(LANE, REST);
        asm.load32_of(TO, SCALARS, LANE, spread.0);
        if small.is_none() {
            asm.add_register(TO, PLACE);
        }
        for (place, row) in (0..).step_by(4).zip((rows..).step_by(ROW as usize)).take(data.len()) {
            asm.load32_of(DWORD, SCALARS, LANE, row);
            match small {
                Some(small) => store_small(asm, small, [PLACE, TO], DWORD),
                None => asm.store32(TO, place, DWORD),
            }
        }
        asm.clear_lowest_one(REST);
        asm.jump_back(When::NotZero, top);
        asm.bind(none);
    }

    fn scatter_pairs(&mut self, first: Zmm, second: Zmm, chunk: i32, with: &Temporaries) {
        let both = with.vectors[0];
        for (half, order) in with.orders.expect("there are two dwords").into_iter().enumerate() {
            self.begin_moving(with.moving, chunk);
            if half > 0 {
                self.asm().upper(with.index, with.index);
                self.asm().k_upper(with.moving, with.moving);
            }
            self.asm().v1(op::VMOVDQA32, both, first);
            self.asm().v(op::VPERMT2D, both, order, second);
            self.asm().scatter_pairs(with.moving, PLACE, with.index, both);
        }
    }
}

impl Lanes<'_, '_> {
    /// The case that a store's lanes are anywhere in the allocation.
    pub(super) fn spread_store(&mut self) {
        self.find_spread();
        let spread = self.part.spread[&self.number];
        let places = self.part.places[&self.number];
        self.asm().store64(SCALARS, places, PLACE);
        self.note_indices(spread.indices(0));
        self.note_use(spread, ANYWHERE);
        if self.access.may_be_quads() {
            let others = self.are_quads();
            self.note_use(spread, QUADS);
            others.into_iter().for_each(|jump| self.asm().bind(jump));
        }
    }

    fn note_use(&mut self, spread: Spread, lanes: u32) {
        self.asm().mov_imm(LOW, lanes);
        self.asm().store64(SCALARS, spread.use_of(), LOW);
    }

    /// Keeps the indices of lanes whose addresses are in the allocation.
    pub(super) fn note_indices(&mut self, to: Mem) {
        let (first, index) = (self.first, self.wrong);
        for chunk in 0..self.part.count {
            let low = self.address[0][chunk as usize];
            self.asm().v(op::VPSUBD, index, low, first);
            self.asm().store(to.further(CHUNK * chunk), index);
        }
    }
}
