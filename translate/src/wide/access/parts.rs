//! Parts of runs: only some lanes are active, and those of sixteen are where they would be if all were side by side.

use super::{ADDRESSES, CHUNK, CHUNKS, COUNT, EXEC, FIRST, HIGH_HALF, LOW, LOW_HALF, ROOM, SITE, SIZE, Stub, WAVE};
use crate::access::{Origin, Site};
use crate::wide::asm::predicate::NOT_EQUAL;
use crate::wide::asm::{Gpr, Jump, K, Mem, Rm, When, Zmm, op};
use crate::wide::registers::row;
use gcnjit_rt::Wave;
use std::mem::offset_of;

impl Stub<'_> {
    /// The case that the active lanes of each chunk are where a run would have them; of dwords only.
    pub(super) fn parts_of_runs(&mut self, partial: [Jump; 2], origin: Origin) {
        if self.access.dwords == 2 {
            return self.other.extend(partial);
        }
        partial.into_iter().for_each(|jump| self.asm.bind(jump));
        for chunk in 0..COUNT {
            self.locate_part(chunk, origin);
        }
        for chunk in 0..COUNT {
            let (mask, [data, _]) = (Stub::active(chunk), Stub::data(chunk));
            let row = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk);
            if self.access.store {
                self.asm.v1(op::VMOVDQA32, data, Rm::Mem(row));
                self.asm.store_lanes(Mem::At(CHUNKS[chunk as usize], 0), mask, data);
            } else {
                // Whole: what a masked store writes is not forwarded to the loads behind it.
                self.asm.v1(op::VMOVDQA32, ADDRESSES, Rm::Mem(row));
                self.asm.merge(op::VMOVDQA32, ADDRESSES, mask, data);
                self.asm.store(row, ADDRESSES);
            }
        }
        self.succeed();
    }

    /// Checks the addresses of a chunk's active lanes, and loads them. `CHUNKS` has where its first lane is or would be.
    fn locate_part(&mut self, chunk: i32, origin: Origin) {
        let (part, to, mask) = (CHUNK * chunk, CHUNKS[chunk as usize], Stub::active(chunk));
        self.asm.k_load(mask, Mem::At(WAVE, EXEC + 2 * chunk));
        self.asm.k_read(LOW, mask);
        // A store without lanes has an address all the same.
        self.asm.mov(to, WAVE);
        self.asm.or_register(LOW, LOW);
        let none = self.asm.jump(When::Zero);
        let ramp = self.ramp();
        self.asm.v1(op::VMOVDQA32, ADDRESSES, Rm::Mem(Mem::At(WAVE, row(self.access.address) + part)));
        self.asm.v(op::VPSUBD, ADDRESSES, ADDRESSES, Rm::Mem(ramp));
        self.same_in(mask, ADDRESSES, LOW_HALF);
        if self.access.has_pairs() {
            self.asm.v1(op::VMOVDQA32, ADDRESSES, Rm::Mem(Mem::At(WAVE, row(self.access.address + 1) + part)));
            self.same_in(mask, ADDRESSES, HIGH_HALF);
        }
        // From lanes to bytes: where the first active one is in the run, and how far from it the last one.
        self.asm.lowest_one(ROOM, LOW);
        self.asm.highest_one(LOW, LOW);
        self.asm.sub_register(LOW, ROOM);
        self.asm.shift_left(LOW, 2);
        self.asm.shift_left(ROOM, 2);
        self.asm.low_dword(to, LOW_HALF);
        self.asm.add_register32(to, ROOM);
        // A part whose low half wraps has jumped.
        self.asm.mov(SIZE, LOW);
        self.asm.add_register32(SIZE, to);
        self.other_if(When::Below);
        self.add_base(to, origin);
        self.check_span(to);
        self.asm.sub_register(to, ROOM);
        if !self.access.store {
            self.asm.clear(op::VMOVDQU32, Stub::data(chunk)[0], mask, Rm::Mem(Mem::At(to, 0)));
        }
        self.asm.bind(none);
    }

    /// Goes on with the last case if a row is not the same in the lanes of a mask; `first` becomes what it is there.
    fn same_in(&mut self, mask: K, row: Zmm, first: Zmm) {
        self.asm.compress(first, mask, row);
        self.asm.v1(op::VPBROADCASTD, FIRST, first);
        self.asm.compare_in(op::VPCMPD, K(5), mask, row, FIRST, NOT_EQUAL);
        self.asm.k_test(K(5));
        self.other_if(When::NotZero);
    }

    /// Makes an address of its low half.
    pub(super) fn add_base(&mut self, to: Gpr, origin: Origin) {
        match origin {
            Origin::Sgprs(base) => self.asm.load64(SIZE, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Origin::Lds { .. } => self.asm.load64(SIZE, SITE, Site::START as i32),
            Origin::None => {
                self.asm.low_dword(SIZE, HIGH_HALF);
                self.asm.shift_left(SIZE, 32);
            }
        }
        self.asm.add_register(to, SIZE);
        self.asm.add(to, self.access.offset);
    }

    /// Goes on with the last case if not all bytes from an address to the end of the dword `LOW` bytes further on are in
    /// the allocation.
    pub(super) fn check_span(&mut self, from: Gpr) {
        self.asm.load64(SIZE, SITE, Site::END as i32);
        self.asm.sub_mem(SIZE, SITE, Site::START as i32);
        self.asm.sub_register(SIZE, LOW);
        self.other_if(When::Below);
        self.asm.sub(SIZE, self.access.lane_bytes());
        self.other_if(When::Below);
        self.asm.mov(LOW, from);
        self.asm.sub_mem(LOW, SITE, Site::START as i32);
        self.asm.compare_registers(LOW, SIZE);
        self.other_if(When::Above);
    }
}
