//! Loads from a small table, such as one for half a byte: whatever dword of it a lane wants, all are in a register.

use super::{Lanes, PLACE};
use crate::access::Origin;
use crate::wide::asm::{Jump, MaskOp, Mem, Rm, ShiftBy, When, op};

/// Dwords that VPERMD chooses from.
const ENTRIES: i32 = 16;

impl Lanes<'_, '_> {
    /// The case that all lanes of a load of dwords are at one of the first dwords from a base that they share; jumps if
    /// they aren't. None of loads that have no such base.
    pub(super) fn small_table(&mut self) -> Option<Vec<Jump>> {
        let origin = self.part.fused.accesses[self.number].origin;
        if origin == Origin::None || self.access.dwords != 1 || self.access.small.is_some() {
            return None;
        }
        let (first, index, bad, worse) = (self.first, self.wrong, self.bad, self.worse);
        let beyond = self.asm().constant(&(!(4 * (ENTRIES as u32 - 1))).to_le_bytes());
        for chunk in 0..self.part.count {
            let (low, result) = (self.address[0][chunk as usize], if chunk == 0 { bad } else { worse });
            let lanes = self.lanes(chunk);
            self.asm().test_in(result, lanes, low, Rm::Broadcast(beyond));
            self.asm().k(MaskOp::Or, bad, bad, result);
        }
        self.asm().k_test(bad);
        let mut other = vec![self.asm().jump(When::NotZero)];
        self.asm().v(op::VPXORD, first, first, first);
        other.extend(self.find_place(ENTRIES, first));
        for chunk in 0..self.part.count as usize {
            let (low, to) = (self.address[0][chunk], self.loaded[0][chunk]);
            self.asm().shift(ShiftBy::right(false), index, low, 2);
            self.asm().v(op::VPERMD, to, index, Rm::Mem(Mem::At(PLACE, 0)));
        }
        Some(other)
    }
}
