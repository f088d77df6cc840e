//! Filling registers of waves that start, without calls: a short wave takes little longer than the start of one.

use crate::wave::{LANES, Row, Wave, ids};

/// A set of registers, a bit each: scalar ones by operand code, and VGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterSet {
    /// The scalar ones.
    pub sgprs: u128,
    /// VGPRs, 128 a word.
    pub vgprs: [u128; 2],
}

impl RegisterSet {
    /// All that there are.
    pub const ALL: RegisterSet = RegisterSet { sgprs: u128::MAX, vgprs: [u128::MAX; 2] };

    /// Whether it has the SGPR.
    pub fn has_sgpr(self, register: u8) -> bool {
        self.sgprs >> (register & 127) & 1 != 0
    }

    /// Whether it has the VGPR.
    pub fn has_vgpr(self, register: u8) -> bool {
        self.vgprs[usize::from(register >> 7)] >> (register & 127) & 1 != 0
    }
}

/// Coordinates of a work-item id.
const IDS: usize = 3;

/// Lanes of a chunk.
const CHUNK: usize = 16;

/// SGPRs that are filled together: a store's worth.
const GROUP: usize = 16;
const GROUPS: usize = 128 / GROUP;

/// Which registers are filled in waves that start. Others keep what another wave left there, so nobody may read them.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Groups of SGPRs, a bit each.
    groups: u32,
    /// VGPRs that get work-item ids, a bit each.
    ids: u32,
    /// The bytes of [`Wave::ids`] that these have.
    counted: u32,
    zeros: Vec<u8>,
    /// The SGPRs that are read.
    pub(crate) sgprs: u128,
}

impl Filled {
    /// Those that are in `set`, of VGPRs the first `owned` at most; the first `given` of all get ids.
    pub(crate) fn new(set: RegisterSet, owned: u16, given: usize) -> Filled {
        let groups = (0..GROUPS).filter(|group| set.sgprs >> (GROUP * group) & 0xffff != 0);
        let filled = (0..=255).filter(|register| u16::from(*register) < owned && set.has_vgpr(*register));
        let (ids, zeros) = filled.partition::<Vec<u8>, _>(|register| usize::from(*register) < given.min(IDS));
        let counted = std::array::from_fn(|id| if ids.contains(&(id as u8)) { u8::MAX } else { 0 });
        Filled {
            groups: groups.fold(0, |groups, group| groups | 1 << group),
            ids: ids.into_iter().fold(0, |ids, id| ids | 1 << id),
            counted: u32::from_ne_bytes(counted),
            zeros,
            sgprs: set.sgprs,
        }
    }
}

/// What SGPRs start with.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Scalars(pub(crate) [u32; 128]);

/// What VGPRs start with, for waves of one place in their work-group.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Initial {
    /// The work-item ids, which the first VGPRs hold, and as the last a row of zeros: a loop of stores of a constant
    /// would become a call.
    rows: [Row; IDS + 1],
    /// How the ids count.
    counts: [u8; 4],
}

impl Initial {
    pub(crate) fn new(ids: [Row; IDS]) -> Initial {
        let [x, y, z] = ids;
        Initial { rows: [x, y, z, [0; LANES]], counts: [count(&x), count(&y), count(&z), ids::UNKNOWN] }
    }

    /// Fills SGPRs with `values`, and VGPRs with ids or zeros, as far as they are to be filled. Inlined, so that it is as
    /// wide as its caller.
    #[inline(always)]
    pub(crate) fn fill(&self, wave: &mut Wave, values: &Scalars, filled: &Filled) {
        wave.ids = (u32::from_ne_bytes(self.counts) & filled.counted).to_ne_bytes();
        let mut ids = filled.ids;
        while ids != 0 {
            let id = ids.trailing_zeros() as usize % (IDS + 1);
            ids &= ids - 1;
            wave.vgpr[id] = self.rows[id];
        }
        for register in &filled.zeros {
            wave.vgpr[usize::from(*register)] = self.rows[IDS];
        }
        let (to, from) = (wave.sgpr.as_chunks_mut::<GROUP>().0, values.0.as_chunks::<GROUP>().0);
        let mut groups = filled.groups;
        while groups != 0 {
            let group = groups.trailing_zeros() as usize % GROUPS;
            groups &= groups - 1;
            to[group] = from[group];
        }
    }
}

/// How lanes count in each chunk.
fn count(row: &Row) -> u8 {
    let steps =
        |by: u32| row.chunks(CHUNK).all(|chunk| chunk.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(by)));
    match () {
        _ if steps(0) => ids::SAME,
        _ if steps(1) => ids::COUNT,
        _ => ids::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::{Filled, Initial, RegisterSet, Scalars};
    use crate::wave::Wave;

    /// All VGPRs, and SGPRs of the first group and the last two.
    const WHOLE: RegisterSet = RegisterSet { sgprs: 1 | 1 << 111 | 1 << 127, ..RegisterSet::ALL };

    #[test]
    fn registers_that_are_owned_and_read_are_filled() {
        let initial = Initial::new([[1; 64], [2; 64], [3; 64]]);
        let values = Scalars(std::array::from_fn(|index| index as u32 ^ 5));
        let some = RegisterSet { sgprs: 1 << 16 | 1 << 95, vgprs: [0b1101 | 1 << 127, 1 | 1 << 127] };
        for (set, owned, given) in [
            (RegisterSet::ALL, 0, 1),
            (RegisterSet::ALL, 1, 1),
            (WHOLE, 2, 3),
            (WHOLE, 40, 4),
            (WHOLE, 256, 3),
            (some, 3, 1),
            (some, 256, 2),
        ] {
            let filled = Filled::new(set, owned, given);
            let mut wave = Wave::new();
            wave.vgpr.fill([9; 64]);
            wave.sgpr.fill(0xffff);
            initial.fill(&mut wave, &values, &filled);
            for (index, value) in (0..128).zip(wave.sgpr) {
                let is_near = (index & !15..=index | 15).any(|register| set.has_sgpr(register));
                assert_eq!(value, if is_near { values.0[usize::from(index)] } else { 0xffff }, "s{index}");
            }
            for (index, row) in (0..=255).zip(&wave.vgpr) {
                let value = match index {
                    _ if u16::from(index) >= owned || !set.has_vgpr(index) => 9,
                    0..3 if usize::from(index) < given => u32::from(index) + 1,
                    _ => 0,
                };
                assert_eq!(*row, [value; 64], "v{index} of {owned}, {given} ids");
            }
        }
    }
}
