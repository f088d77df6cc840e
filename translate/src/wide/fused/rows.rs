//! Runs of lanes that have three or four dwords each, side by side: rows of memory are put in order as vectors of the
//! first dwords, the second ones and so on, and back.

use super::lanes::Lanes;
use super::stores::Temporaries;
use super::{CHUNK, PLACE, Part};
use crate::wide::asm::{Asm, Mem, Rm, Zmm, dwords, op};

/// VSHUFI64X2: the lower halves of both sources, or the upper ones.
const HALVES: [u8; 2] = [0x44, 0xee];

/// Loads an order of dwords: numbers of those of two vectors.
fn load_order(asm: &mut Asm, to: Zmm, order: impl Fn(u32) -> u32) {
    let order = asm.constant(&dwords(16, order));
    asm.v1(op::VMOVDQA32, to, Rm::Mem(order));
}

impl Lanes<'_, '_> {
    /// Loads sixteen lanes from an address on.
    pub(super) fn load_rows(&mut self, to: &[Zmm], from: Mem) {
        if let [first, second, third, fourth] = *to {
            return self.load_quads([[first, second], [third, fourth]], from);
        }
        let (first, order, count) = (self.wrong, self.high, to.len() as u32);
        let asm = self.asm();
        asm.v1(op::VMOVDQU32, first, Rm::Mem(from));
        for (dword, to) in (0..).zip(to) {
            // What is in the first two rows, and then in each of the others.
            let place = |lane: u32| count * lane + dword;
            load_order(asm, *to, |lane| place(lane) % 32);
            asm.v(op::VPERMI2D, *to, first, Rm::Mem(from.further(CHUNK)));
            for row in 2..count {
                load_order(asm, order, |lane| if place(lane) / 16 == row { 16 + place(lane) % 16 } else { lane });
                asm.v(op::VPERMT2D, *to, order, Rm::Mem(from.further(CHUNK * row as i32)));
            }
        }
    }

    /// Of each two rows, two dwords of eight lanes; then of all lanes.
    fn load_quads(&mut self, to: [[Zmm; 2]; 2], from: Mem) {
        let (row, upper) = (self.wrong, [self.limit, self.high]);
        let asm = self.asm();
        for (half, to) in (0..).zip([to.map(|[first, _]| first), upper]) {
            let from = from.further(2 * CHUNK * half);
            asm.v1(op::VMOVDQU32, row, Rm::Mem(from));
            for (pair, to) in (0..).zip(to) {
                load_order(asm, to, |i| i % 8 * 4 + 2 * pair + i / 8);
                asm.v(op::VPERMI2D, to, row, Rm::Mem(from.further(CHUNK)));
            }
        }
        for ([first, second], upper) in to.into_iter().zip(upper) {
            asm.vi(op::VSHUFI64X2, second, first, upper, HALVES[1]);
            asm.vi(op::VSHUFI64X2, first, first, upper, HALVES[0]);
        }
    }
}

impl Part<'_> {
    /// Stores sixteen lanes from `PLACE` on; in a part for any EXEC the active ones, whose mask is loaded.
    pub(super) fn store_rows(&mut self, data: &[Zmm], with: &Temporaries) {
        if let Some([signs, _]) = with.signs {
            self.asm().signs_of_mask(signs, with.active);
        }
        if let [first, second, third, fourth] = *data {
            return self.store_quads([first, second, third, fourth], with);
        }
        let (to, [order, _], count) = (with.index, with.vectors, data.len() as u32);
        for row in 0..count {
            // The first two dwords, and then each of the others.
            let (lane, dword) = (|i: u32| (16 * row + i) / count, |i: u32| (16 * row + i) % count);
            let asm = self.asm();
            load_order(asm, to, |i| lane(i) + 16 * (dword(i) % 2));
            asm.v(op::VPERMI2D, to, data[0], data[1]);
            for (number, dwords) in (0..).zip(data).skip(2) {
                load_order(asm, order, |i| if dword(i) == number { 16 + lane(i) } else { i });
                asm.v(op::VPERMT2D, to, order, *dwords);
            }
            self.store_row(row, count, with);
        }
    }

    fn store_quads(&mut self, [first, second, third, fourth]: [Zmm; 4], with: &Temporaries) {
        let (to, [lower, upper]) = (with.index, with.vectors);
        for (half, halves) in (0..).zip(HALVES) {
            self.asm().vi(op::VSHUFI64X2, lower, first, second, halves);
            self.asm().vi(op::VSHUFI64X2, upper, third, fourth, halves);
            for quarter in 0..2 {
                load_order(self.asm(), to, |i| i % 4 * 8 + 4 * quarter + i / 4);
                self.asm().v(op::VPERMI2D, to, lower, upper);
                self.store_row(2 * half + quarter, 4, with);
            }
        }
    }

    /// Stores a row of so many dwords a lane.
    fn store_row(&mut self, row: u32, dwords_a_lane: u32, with: &Temporaries) {
        let asm = self.asm();
        if let Some([signs, lanes]) = with.signs {
            load_order(asm, lanes, |i| (16 * row + i) / dwords_a_lane);
            asm.v(op::VPERMD, lanes, lanes, signs);
            asm.mask_of_signs(with.moving, lanes);
        }
        self.store_lanes(Mem::At(PLACE, CHUNK * row as i32), with.moving, with.index);
    }
}
