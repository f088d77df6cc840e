//! Runs of lanes that have three or four dwords each, side by side: rows of memory are put in order as vectors of the
//! first dwords, the second ones and so on, and back.

use super::lanes::Lanes;
use super::stores::{Temporaries, To};
use super::{CHUNK, Part};
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
        match *to {
            [first, second, third] => {
                let row = self.wrong;
                self.asm().v1(op::VMOVDQU32, row, Rm::Mem(from));
                let others = [1, 2].map(|row| Rm::Mem(from.further(CHUNK * row)));
                self.order_three([first, second, third], others);
            }
            _ => self.load_four(to, [0, 1, 2, 3].map(|row| from.further(CHUNK * row))),
        }
    }

    /// Puts three dwords a lane in order; their first row is in `wrong`.
    pub(super) fn order_three(&mut self, to: [Zmm; 3], [second, third]: [Rm; 2]) {
        let (first, order) = (self.wrong, self.high);
        let asm = self.asm();
        for (dword, to) in (0..).zip(to) {
            let place = |lane: u32| 3 * lane + dword;
            load_order(asm, to, |lane| place(lane) % 32);
            asm.v(op::VPERMI2D, to, first, second);
            load_order(asm, order, |lane| if place(lane) < 32 { lane } else { place(lane) - 16 });
            asm.v(op::VPERMT2D, to, order, third);
        }
    }

    /// Loads four dwords a lane: of each two rows, two dwords of eight lanes; then of all lanes.
    pub(super) fn load_four(&mut self, to: &[Zmm], rows: [Mem; 4]) {
        let (row, lower, upper) = (self.wrong, [to[0], to[2]], [self.limit, self.high]);
        let asm = self.asm();
        for (rows, to) in rows.chunks(2).zip([lower, upper]) {
            asm.v1(op::VMOVDQU32, row, Rm::Mem(rows[0]));
            for (pair, to) in (0..).zip(to) {
                load_order(asm, to, |i| i % 8 * 4 + 2 * pair + i / 8);
                asm.v(op::VPERMI2D, to, row, Rm::Mem(rows[1]));
            }
        }
        for (to, upper) in to.chunks(2).zip(upper) {
            asm.vi(op::VSHUFI64X2, to[1], to[0], upper, HALVES[1]);
            asm.vi(op::VSHUFI64X2, to[0], to[0], upper, HALVES[0]);
        }
    }
}

impl Part<'_> {
    /// Stores sixteen lanes; in a part for any EXEC those of a run that are active, whose mask is loaded.
    pub(super) fn store_rows(&mut self, data: &[Zmm], to: To, with: &Temporaries) {
        if let (Some([signs, _]), To::Run) = (with.signs, to) {
            self.asm().signs_of_mask(signs, with.active);
        }
        if let [first, second, third, fourth] = *data {
            return self.store_four([first, second, third, fourth], to, with);
        }
        let (vector, [order, _], count) = (with.index, with.vectors, data.len() as u32);
        for row in 0..count {
            // The first two dwords, and then each of the others.
            let (lane, dword) = (|i: u32| (16 * row + i) / count, |i: u32| (16 * row + i) % count);
            let asm = self.asm();
            load_order(asm, vector, |i| lane(i) + 16 * (dword(i) % 2));
            asm.v(op::VPERMI2D, vector, data[0], data[1]);
            for (number, dwords) in (0..).zip(data).skip(2) {
                load_order(asm, order, |i| if dword(i) == number { 16 + lane(i) } else { i });
                asm.v(op::VPERMT2D, vector, order, *dwords);
            }
            self.store_row(row, count, to, with);
        }
    }

    fn store_four(&mut self, [first, second, third, fourth]: [Zmm; 4], to: To, with: &Temporaries) {
        let (vector, [lower, upper]) = (with.index, with.vectors);
        for (half, halves) in (0..).zip(HALVES) {
            self.asm().vi(op::VSHUFI64X2, lower, first, second, halves);
            self.asm().vi(op::VSHUFI64X2, upper, third, fourth, halves);
            for quarter in 0..2 {
                load_order(self.asm(), vector, |i| i % 4 * 8 + 4 * quarter + i / 4);
                self.asm().v(op::VPERMI2D, vector, lower, upper);
                self.store_row(2 * half + quarter, 4, to, with);
            }
        }
    }

    /// Stores a row of so many dwords a lane.
    fn store_row(&mut self, row: u32, dwords_a_lane: u32, to: To, with: &Temporaries) {
        if let (Some([signs, lanes]), To::Run) = (with.signs, to) {
            let asm = self.asm();
            load_order(asm, lanes, |i| (16 * row + i) / dwords_a_lane);
            asm.v(op::VPERMD, lanes, lanes, signs);
            asm.mask_of_signs(with.moving, lanes);
        }
        self.store_vector(with.index, (row, dwords_a_lane), to, with.moving);
    }
}
