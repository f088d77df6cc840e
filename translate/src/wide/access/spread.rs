//! The case that any lanes are active, and each is anywhere in the allocation: the bounds are checked for sixteen lanes at
//! once, and dwords are gathered or scattered. Scattered ones are written in the order of lanes where they overlap, which
//! the manual promises of VPSCATTERDD and VPSCATTERDQ.

use super::{CHUNK, COUNT, EXEC, HIGH, LOW, ORDERS, OTHER, ROOM, SITE, SIZE, Stub, WAVE};
use crate::access::{Base, LaneMove, Origin, Site};
use crate::wide::asm::predicate::{GREATER, NOT_EQUAL};
use crate::wide::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use crate::wide::registers::row;
use gcnjit_rt::Wave;
use std::mem::offset_of;

/// Where lanes' indices count from.
pub(super) const ORIGIN: Gpr = Gpr::Rcx;
/// Where the allocation starts.
pub(super) const START: Gpr = Gpr::Rdx;
/// The low half of an address whose index is 0, and the greatest index.
const LEAST: Zmm = Zmm(16);
pub(super) const LIMIT: Zmm = Zmm(17);
/// The lanes to be moved, which gathers and scatters clear.
pub(super) const MOVING: K = K(5);
/// Lanes that are not in the allocation.
pub(super) const OUTSIDE: K = K(6);
/// Data on its way.
pub(super) const DATA: Zmm = Zmm(0);
const SECOND: Zmm = Zmm(1);

impl Stub<'_> {
    /// The last case.
    pub(super) fn spread(&mut self) {
        for jump in std::mem::take(&mut self.other) {
            self.asm.bind(jump);
        }
        match self.access.base {
            Base::Interleaved(resource) => self.find_interleaved(&resource),
            Base::Linear(origin) => {
                self.find_window(origin);
                self.find_indices();
            }
        }
        self.asm.k_test(OUTSIDE);
        self.slow_if(When::NotZero);
        match (self.access.small, self.access.store) {
            (Some(small), true) => self.scatter_small(small),
            (Some(small), false) => self.gather_small(small),
            (None, true) => self.chunks_with_lanes(Stub::scatter),
            (None, false) => self.chunks_with_lanes(Stub::gather_dwords),
        }
        self.succeed();
    }

    /// Emits for each chunk what is done if it has active lanes: gathers and scatters take their time for none too.
    pub(super) fn chunks_with_lanes(&mut self, emit: impl Fn(&mut Self, i32)) {
        for chunk in 0..COUNT {
            self.asm.k_test(Stub::active(chunk));
            let none = self.asm.jump(When::Zero);
            emit(self, chunk);
            self.asm.bind(none);
        }
    }

    pub(super) fn find_window(&mut self, base: Origin) {
        let window = Window {
            base,
            site: (SITE, 0),
            start: START,
            size: SIZE,
            room: ROOM,
            low: LOW,
            origin: ORIGIN,
            least: LEAST,
            limit: LIMIT,
            high: HIGH,
        };
        let outside = window.find(self.asm, self.access, self.access.extent(1));
        self.slow.extend(outside);
    }

    /// Makes `SIZE` the greatest index, if it is positive for the host too.
    pub(super) fn set_limit(&mut self) {
        self.asm.mov(ROOM, SIZE);
        self.asm.shift_right(ROOM, 31);
        self.slow_if(When::NotZero);
        self.asm.broadcast(LIMIT, SIZE);
    }

    /// Loads EXEC and the lanes' indices, and finds the active lanes that are not in the allocation.
    pub(super) fn find_indices(&mut self) {
        for chunk in 0..COUNT {
            let (mask, index) = (Stub::active(chunk), Stub::index(chunk));
            let address = |k| Rm::Mem(Mem::At(WAVE, row(self.access.address + k) + CHUNK * chunk));
            self.asm.k_load(mask, Mem::At(WAVE, EXEC + 2 * chunk));
            self.asm.v1(op::VMOVDQA32, index, address(0));
            self.asm.v(op::VPSUBD, index, index, LEAST);
            let result = if chunk == 0 { OUTSIDE } else { MOVING };
            self.asm.compare_in(op::VPCMPUD, result, mask, index, LIMIT, GREATER);
            self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, result);
            if self.access.has_pairs() {
                self.asm.compare_in(op::VPCMPD, MOVING, mask, HIGH, address(1), NOT_EQUAL);
                self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, MOVING);
            }
        }
    }

    /// The indices of a chunk's lanes.
    pub(super) fn index(chunk: i32) -> Zmm {
        Zmm(24 + chunk as u8)
    }

    /// Loads a dword of each active lane to `DATA`, whose other lanes are kept.
    pub(super) fn gather(&mut self, chunk: i32, index: Zmm, place: i32) {
        self.asm.k(MaskOp::And, MOVING, Stub::active(chunk), Stub::active(chunk));
        self.asm.gather(DATA, MOVING, ORIGIN, index, place);
    }

    fn gather_dwords(&mut self, chunk: i32) {
        for k in 0..self.access.dwords {
            let to = Mem::At(WAVE, row(self.access.data + k) + CHUNK * chunk);
            self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(to));
            self.gather(chunk, Stub::index(chunk), self.access.place_of(k));
            self.asm.store(to, DATA);
        }
    }

    fn scatter(&mut self, chunk: i32) {
        let data = |k| Rm::Mem(Mem::At(WAVE, row(self.access.data + k) + CHUNK * chunk));
        let (index, mask) = (Stub::index(chunk), Stub::active(chunk));
        self.asm.v1(op::VMOVDQA32, DATA, data(0));
        self.asm.k(MaskOp::And, MOVING, mask, mask);
        if self.access.dwords == 1 {
            return self.asm.scatter(MOVING, ORIGIN, index, DATA);
        }
        self.asm.v1(op::VMOVDQA32, OTHER, data(1));
        self.asm.v1(op::VMOVDQA32, SECOND, DATA);
        self.asm.v(op::VPERMT2D, DATA, ORDERS[0], OTHER);
        self.asm.v(op::VPERMT2D, SECOND, ORDERS[1], OTHER);
        self.asm.scatter_pairs(MOVING, ORIGIN, index, DATA);
        self.asm.upper(index, index);
        self.asm.k_upper(MOVING, mask);
        self.asm.scatter_pairs(MOVING, ORIGIN, index, SECOND);
    }
}

/// Where addresses may be for a lane to be in the allocation, and the registers that say so.
pub(in crate::wide) struct Window {
    /// What the access' addresses count from.
    pub base: Origin,
    /// The access' site: a register and an offset.
    pub site: (Gpr, i32),
    /// Where the allocation starts.
    pub start: Gpr,
    /// Free.
    pub size: Gpr,
    /// Free.
    pub room: Gpr,
    /// Free.
    pub low: Gpr,
    /// Becomes the address that indices count from.
    pub origin: Gpr,
    /// Becomes the low half of an address whose index is 0, in all lanes.
    pub least: Zmm,
    /// Becomes the greatest index.
    pub limit: Zmm,
    /// Becomes the upper half that all addresses must have, where they have one.
    pub high: Zmm,
}

impl Window {
    /// Finds the low halves of addresses from which `extent` bytes are in the allocation: as the first one and how far the
    /// last one is from it. Indices count from the first one, and are signed for the host. The jumps are taken if there
    /// is no such window.
    pub fn find(&self, asm: &mut Asm, access: &LaneMove, extent: i32) -> [Jump; 4] {
        let Window { site: (site, at), start, size, room, low, origin, .. } = *self;
        asm.load64(start, site, at + Site::START as i32);
        asm.load64(size, site, at + Site::END as i32);
        asm.sub_register(size, start);
        asm.sub(size, extent);
        let small = asm.jump(When::Below);
        self.load_anchor(asm, access);
        asm.clear_register(low);
        asm.compare_registers(origin, start);
        let before = asm.jump(When::Below);
        asm.mov(room, origin);
        asm.sub_register(room, start);
        asm.sub_register(size, room);
        let behind = asm.jump(When::Below);
        let found = asm.jump_always();
        asm.bind(before);
        asm.mov(low, start);
        asm.sub_register(low, origin);
        asm.mov(origin, start);
        // Beyond the low half there would be another upper one.
        asm.mov(room, low);
        asm.add_register(room, size);
        asm.shift_right(room, 32);
        let beyond = asm.jump(When::NotZero);
        asm.bind(found);
        asm.mov(room, size);
        asm.shift_right(room, 31);
        let large = asm.jump(When::NotZero);
        asm.broadcast(self.least, low);
        asm.broadcast(self.limit, size);
        [small, behind, beyond, large]
    }

    /// The address of a lane whose low half is 0; pairs have to have the allocation's upper half.
    fn load_anchor(&self, asm: &mut Asm, access: &LaneMove) {
        let (site, at) = self.site;
        match self.base {
            Origin::Sgprs(base) => asm.load64(self.origin, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Origin::Lds { .. } => asm.mov(self.origin, self.start),
            Origin::None => {
                asm.load32(self.origin, site, at + Site::START as i32 + 4);
                asm.broadcast(self.high, self.origin);
                asm.shift_left(self.origin, 32);
            }
        }
        asm.add(self.origin, access.first_byte());
    }
}
