//! Scratch as a V# shows it that interleaves lanes: byte `x` of lane `i` is at `x / 4 * 256 + i * 4 + x % 4`. Lanes that have
//! the same offset, as all have in an instruction without a VGPR of offsets, are side by side in a row of dwords. Records
//! are bytes there, so what is out of range is behind the last one, and goes the general way.

use super::lanes::{PLACE, VALUE};
use super::small::BEFORE;
use super::spread::{DATA, LIMIT, MOVING, ORIGIN, OUTSIDE, START};
use super::{CHUNK, COUNT, LOW, SITE, SIZE, Stub, WAVE, unless_all_active};
use crate::access::{Interleaved, SWIZZLE_LIMIT, Site};
use crate::wide::asm::predicate::GREATER;
use crate::wide::asm::{MaskOp, Mem, Rm, ShiftBy, When, Zmm, op};
use crate::wide::registers::row;
use gcnjit_rt::Wave;
use std::mem::offset_of;

/// Bytes in a dword that come first.
const WITHIN: Zmm = Zmm(18);

/// Where an SGPR is.
fn sgpr(register: usize) -> i32 {
    (offset_of!(Wave, sgpr) + 4 * register) as i32
}

impl Stub<'_> {
    /// Gives up if the V# says anything else.
    pub(super) fn check_resource(&mut self, resource: &Interleaved) {
        for (word, (mask, value)) in [(1, Interleaved::WORD1), (3, resource.word3())] {
            self.asm.load32(LOW, WAVE, sgpr(resource.register + word));
            self.asm.and32(LOW, mask);
            self.asm.compare32(LOW, value);
            self.slow_if(When::NotZero);
        }
    }

    /// Finds where indices count from, and the greatest one that is in the allocation and in range.
    pub(super) fn find_window_of(&mut self, resource: &Interleaved) {
        self.asm.load32(ORIGIN, WAVE, sgpr(resource.register));
        self.asm.load16(LOW, WAVE, sgpr(resource.register + 1));
        self.asm.shift_left(LOW, 32);
        self.asm.add_register(ORIGIN, LOW);
        self.asm.load64(SIZE, SITE, Site::END as i32);
        self.asm.load32(LOW, WAVE, sgpr(resource.register + 2));
        self.asm.add_register(LOW, ORIGIN);
        self.asm.compare_registers(LOW, SIZE);
        let behind = self.asm.jump(When::Above);
        self.asm.mov(SIZE, LOW);
        self.asm.bind(behind);
        if let Some(register) = resource.soffset {
            self.asm.load32(LOW, WAVE, sgpr(register));
            self.asm.add_register(ORIGIN, LOW);
        }
        self.asm.load64(START, SITE, Site::START as i32);
        self.asm.compare_registers(ORIGIN, START);
        self.slow_if(When::Below);
        self.asm.sub_register(SIZE, ORIGIN);
        self.slow_if(When::Below);
        self.asm.sub(SIZE, self.access.lane_bytes());
        self.slow_if(When::Below);
        self.set_limit();
    }

    /// The case that all active lanes have the same offset.
    pub(super) fn one_row(&mut self, resource: &Interleaved) {
        // The others' registers are saved where all are active, and a row may be of pages that nobody has touched: then what
        // is moved under a mask takes long, even if that is empty.
        self.load_exec();
        let some = self.asm.jump(When::NotZero);
        self.succeed();
        self.asm.bind(some);
        self.load_active();
        match resource.offen {
            true => {
                self.compare_with_first(self.access.address);
                self.other_if(When::NotZero);
            }
            false => self.asm.mov_imm(PLACE, 0),
        }
        self.asm.add32(PLACE, self.access.offset);
        self.asm.compare32(PLACE, SWIZZLE_LIMIT - 1);
        self.other_if(When::Above);
        self.asm.mov(VALUE, PLACE);
        self.asm.and32(VALUE, self.access.lane_bytes() as u32 - 1);
        self.other_if(When::NotZero);
        if self.access.small.is_some() {
            self.asm.mov(VALUE, PLACE);
            self.asm.and32(VALUE, 3);
            self.asm.shift_left(VALUE, 3);
            self.asm.broadcast(BEFORE, VALUE);
        }
        self.asm.and32(PLACE, !3);
        self.asm.shift_left(PLACE, 6);
        self.asm.mov(VALUE, PLACE);
        self.asm.add(VALUE, CHUNK * COUNT - self.access.lane_bytes());
        self.asm.compare_registers(VALUE, SIZE);
        self.other_if(When::Above);
        self.asm.add_register(ORIGIN, PLACE);
        self.move_row();
        self.succeed();
    }

    /// Moves the active lanes of the row at `ORIGIN`.
    fn move_row(&mut self) {
        let chunks = (0..COUNT).map(|chunk| (chunk, Mem::At(ORIGIN, CHUNK * chunk)));
        let register = |stub: &Self, chunk| Mem::At(WAVE, row(stub.access.data) + CHUNK * chunk);
        match (self.access.small, self.access.store) {
            (Some(small), true) => self.store_bytes_of_row(small),
            (Some(small), false) => {
                for (chunk, at) in chunks {
                    self.asm.v1(op::VMOVDQU32, DATA, Rm::Mem(at));
                    self.write_small(small, chunk);
                }
            }
            (None, true) => {
                // What a masked store writes is not forwarded to the loads behind it.
                let partial = unless_all_active(self.asm);
                for (chunk, at) in chunks.clone() {
                    self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(register(self, chunk)));
                    self.asm.store_unaligned(at, DATA);
                }
                self.succeed();
                partial.into_iter().for_each(|jump| self.asm.bind(jump));
                for (chunk, at) in chunks {
                    self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(register(self, chunk)));
                    self.asm.store_lanes(at, Stub::active(chunk), DATA);
                }
            }
            (None, false) => {
                for (chunk, at) in chunks {
                    self.asm.v1(op::VMOVDQA32, DATA, Rm::Mem(register(self, chunk)));
                    self.asm.merge(op::VMOVDQU32, DATA, Stub::active(chunk), Rm::Mem(at));
                    self.asm.store(register(self, chunk), DATA);
                }
            }
        }
    }

    /// Loads the lanes' indices, and finds the active lanes, whose masks are loaded, that are not in the allocation,
    /// misaligned, or far away.
    pub(super) fn find_interleaved(&mut self, resource: &Interleaved) {
        let [offset, last, three, odd] =
            [self.access.offset as u32, SWIZZLE_LIMIT - 1, 3, self.access.lane_bytes() as u32 - 1]
                .map(|value| Rm::Broadcast(self.asm.constant(&value.to_le_bytes())));
        for chunk in 0..COUNT {
            let (mask, index) = (Stub::active(chunk), Stub::index(chunk));
            self.asm.v(op::VPXORD, index, index, index);
            if resource.offen {
                self.asm.v1(op::VMOVDQA32, index, Rm::Mem(Mem::At(WAVE, row(self.access.address) + CHUNK * chunk)));
            }
            self.asm.v(op::VPADDD, index, index, offset);
            let result = if chunk == 0 { OUTSIDE } else { MOVING };
            self.asm.compare_in(op::VPCMPUD, result, mask, index, last, GREATER);
            self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, result);
            self.asm.test_in(MOVING, mask, index, odd);
            self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, MOVING);
            self.asm.v(op::VPANDD, WITHIN, index, three);
            self.asm.shift(ShiftBy::right(false), index, index, 2);
            self.asm.shift(ShiftBy::left(false), index, index, 8);
            self.asm.v(op::VPADDD, index, index, WITHIN);
            let lanes: Vec<u8> = (16 * chunk..16 * chunk + 16).flat_map(|lane| (4 * lane).to_le_bytes()).collect();
            let lanes = self.asm.constant(&lanes);
            self.asm.v(op::VPADDD, index, index, Rm::Mem(lanes));
            self.asm.compare_in(op::VPCMPUD, MOVING, mask, index, LIMIT, GREATER);
            self.asm.k(MaskOp::Or, OUTSIDE, OUTSIDE, MOVING);
        }
    }
}
