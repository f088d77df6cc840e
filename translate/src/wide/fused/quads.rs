//! Quads, four lanes that are side by side in memory, as they are where work-groups are tiles of a picture or a grid: an
//! access whose active lanes come in whole quads moves each of them at once, instead of lane by lane.
//!
//! Of sixteen lanes the quads' data are joined, as what is one run in memory, which is put in order as that of runs.

use super::active::load_exec;
use super::lanes::Lanes;
use super::stores::ROW;
use super::{CHUNK, LOW, PLACE, Part, SCALARS, SITE, SIZE, WAVE};
use crate::access::LaneMove;
use crate::defect::{Precaution, forgets};
use crate::wide::access::EXEC;
use crate::wide::asm::predicate::NOT_EQUAL;
use crate::wide::asm::{Gpr, Jump, MaskOp, Mem, Rm, When, Zmm, dwords, op};
use crate::x64::Alu;

/// Where the quads of a chunk are.
const BASES: [Gpr; 4] = [LOW, SITE, SIZE, Gpr::R11];
/// Where quads without active lanes are, in a part for any EXEC. The register is where the frame is for who calls the part.
const NOWHERE: Gpr = Gpr::Rsi;
/// Bytes of a vector of four dwords.
const QUARTER: i32 = 16;
/// The first lane of each quad of a wave.
const FIRST_LANES: i64 = 0x1111_1111_1111_1111;

impl LaneMove {
    /// Whether a lane has dwords, and all are side by side.
    pub(super) fn may_be_quads(&self) -> bool {
        self.small.is_none() && self.side_by_side() == self.dwords
    }
}

impl Lanes<'_, '_> {
    /// Loads quads, and jumps. What follows is for lanes that are none.
    pub(super) fn load_quads(&mut self) -> Jump {
        let indices = Mem::At(SCALARS, self.part.chunk.r.layout_mut().room(ROW));
        self.note_indices(indices);
        let others = self.are_quads();
        self.part.begin_quads();
        for chunk in 0..self.part.count {
            self.part.find_bases(chunk, indices.further(CHUNK * chunk));
            let to: Vec<Zmm> = self.loaded.iter().map(|row| row[chunk as usize]).collect();
            self.load_chunk_of_quads(&to);
        }
        self.part.end_quads();
        let done = self.asm().jump_always();
        others.into_iter().for_each(|jump| self.asm().bind(jump));
        done
    }

    fn load_chunk_of_quads(&mut self, to: &[Zmm]) {
        match (to, self.orders) {
            ([dwords], _) => self.join_quads(*dwords, 0, 1),
            ([first, second], Some((orders, other))) => {
                self.join_quads(*first, 0, 2);
                self.join_quads(other, 1, 2);
                self.order_pairs([*first, *second], orders, other);
            }
            ([first, second, third], _) => {
                let rows = [self.wrong, self.limit, self.first];
                (0..).zip(rows).for_each(|(row, vector)| self.join_quads(vector, row, 3));
                self.order_three([*first, *second, *third], [rows[1].into(), rows[2].into()]);
            }
            _ => self.load_four(to, BASES.map(|base| Mem::At(base, 0))),
        }
    }

    /// Loads a row of the run that quads of so many dwords a lane would be.
    fn join_quads(&mut self, to: Zmm, row: u32, dwords_a_lane: u32) {
        let [first, others @ ..] = quarters(row, dwords_a_lane);
        self.asm().v1(op::VBROADCASTI32X4, to, Rm::Mem(first));
        for (quarter, from) in (1..).zip(others) {
            self.asm().vi(op::VINSERTI32X4, to, to, Rm::Mem(from), quarter);
        }
    }

    /// Looks whether active lanes come in whole quads. The jumps are taken if they do not.
    pub(super) fn are_quads(&mut self) -> Vec<Jump> {
        let Lanes { wrong: starts, limit: first, bad, worse, .. } = *self;
        let step = self.access.lane_bytes() as u32;
        let ramp = self.asm().constant(&dwords(16, |lane| step * (lane % 4)));
        let mut others = Vec::new();
        if self.part.partial && !forgets(Precaution::Quads) {
            others.push(self.part.are_halved());
        }
        for chunk in 0..self.part.count {
            let lanes = self.lanes(chunk);
            let low = self.address[0][chunk as usize];
            self.asm().v(op::VPSUBD, starts, low, Rm::Mem(ramp));
            self.asm().v1i(op::VPSHUFD, first, starts, 0);
            let result = if chunk == 0 { bad } else { worse };
            self.asm().compare_in(op::VPCMPD, result, lanes, starts, first, NOT_EQUAL);
            if chunk > 0 {
                self.asm().k(MaskOp::Or, bad, bad, worse);
            }
        }
        self.asm().k_test(bad);
        others.push(self.asm().jump(When::NotZero));
        others
    }
}

impl Part<'_> {
    /// The jump is taken if some lanes of a quad are active and some are not.
    fn are_halved(&mut self) -> Jump {
        let (exec, whole, free) = (LOW, SIZE, Gpr::R11);
        let asm = self.asm();
        load_exec(asm, exec, free);
        asm.mov_imm(whole, FIRST_LANES);
        asm.alu(Alu::And, true, whole, exec);
        asm.mov(free, whole);
        asm.shift_left(whole, 4);
        asm.sub_register(whole, free);
        asm.compare_registers(whole, exec);
        asm.jump(When::NotZero)
    }

    /// Finds a place for quads without active lanes.
    pub(super) fn begin_quads(&mut self) {
        if self.partial {
            let room = self.chunk.r.layout_mut().room(4 * QUARTER);
            self.asm().lea(NOWHERE, Mem::At(SCALARS, room));
        }
    }

    /// Restores what `begin_quads` has changed.
    pub(super) fn end_quads(&mut self) {
        if self.partial {
            self.asm().mov(NOWHERE, SCALARS);
        }
    }

    /// Finds where a chunk's quads are, which have indices from `PLACE` on.
    pub(super) fn find_bases(&mut self, chunk: i32, indices: Mem) {
        let partial = self.partial;
        for (quad, base) in (0..).zip(BASES) {
            let asm = self.asm();
            asm.load(false, base, indices.further(QUARTER * quad));
            asm.add_register(base, PLACE);
            if partial {
                asm.test8(WAVE, EXEC + 2 * chunk + quad / 2, 1 << (4 * (quad % 2)));
                asm.mov_if(When::Zero, true, base, NOWHERE);
            }
        }
    }

    /// Stores a row of what would be a run of so many dwords a lane, in quads.
    pub(super) fn store_in_quads(&mut self, from: Zmm, row: u32, dwords_a_lane: u32) {
        if dwords_a_lane == 4 {
            return self.asm().store_unaligned(Mem::At(BASES[row as usize], 0), from);
        }
        for (quarter, to) in (0..).zip(quarters(row, dwords_a_lane)) {
            self.asm().store_quarter(to, from, quarter);
        }
    }
}

/// Where the quarters of a row are that is one of a run in quads of so many dwords a lane.
fn quarters(row: u32, dwords_a_lane: u32) -> [Mem; 4] {
    [0, 1, 2, 3].map(|quarter| {
        let number = 4 * row + quarter;
        Mem::At(BASES[(number / dwords_a_lane) as usize], QUARTER * (number % dwords_a_lane) as i32)
    })
}
