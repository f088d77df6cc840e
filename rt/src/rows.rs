//! Filling registers of waves that start, with the widest stores of the host and without calls: a short wave takes
//! little longer than the start of one.

use crate::wave::{LANES, Row, Wave};

/// A set of VGPRs, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VgprSet(pub [u128; 2]);

impl VgprSet {
    /// All that there are.
    pub const ALL: VgprSet = VgprSet([u128::MAX; 2]);

    /// Whether it has the register.
    pub fn has(self, register: u8) -> bool {
        self.0[usize::from(register >> 7)] >> (register & 127) & 1 != 0
    }
}

/// Coordinates of a work-item id.
const IDS: usize = 3;

/// Which VGPRs are filled in waves that start. Others keep what another wave left there, so nobody may read them.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Those that get work-item ids.
    ids: Vec<u8>,
    zeros: Vec<u8>,
}

impl Filled {
    /// Those of the first `owned` registers that are in `set`; the first `given` of all get ids.
    pub(crate) fn new(set: VgprSet, owned: u16, given: usize) -> Filled {
        let filled = (0..=255).filter(|register| u16::from(*register) < owned && set.has(*register));
        let (ids, zeros) = filled.partition(|register| usize::from(*register) < given.min(IDS));
        Filled { ids, zeros }
    }
}

/// What registers start with, for waves of one place in their work-group.
#[derive(Debug)]
pub(crate) struct Initial {
    /// The work-item ids, which the first VGPRs hold, and as the last a row of zeros: a loop of stores of a constant
    /// would become a call.
    rows: [Row; IDS + 1],
}

impl Initial {
    pub(crate) fn new(ids: [Row; IDS]) -> Initial {
        let [x, y, z] = ids;
        Initial { rows: [x, y, z, [0; LANES]] }
    }

    /// Fills SGPRs with `values`, and the VGPRs that are to be filled with ids or zeros.
    pub(crate) fn fill(&self, wave: &mut Wave, values: &[u32; 128], filled: &Filled) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the host has AVX-512F, which is all that the function asks for.
            return unsafe { self.fill_512(wave, values, filled) };
        } else if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the host has AVX, which is all that the function asks for.
            return unsafe { self.fill_256(wave, values, filled) };
        }
        self.fill_narrow(wave, values, filled);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn fill_512(&self, wave: &mut Wave, values: &[u32; 128], filled: &Filled) {
        self.fill_narrow(wave, values, filled);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    fn fill_256(&self, wave: &mut Wave, values: &[u32; 128], filled: &Filled) {
        self.fill_narrow(wave, values, filled);
    }

    #[inline(always)]
    fn fill_narrow(&self, wave: &mut Wave, values: &[u32; 128], filled: &Filled) {
        let [ids @ .., zero] = &self.rows;
        for register in &filled.ids {
            wave.vgpr[usize::from(*register)] = ids[usize::from(*register)];
        }
        for register in &filled.zeros {
            wave.vgpr[usize::from(*register)] = *zero;
        }
        // By halves: what is longer becomes a call.
        let (low, high) = wave.sgpr.split_at_mut(LANES);
        low.copy_from_slice(&values[..LANES]);
        high.copy_from_slice(&values[LANES..]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Filled, Initial, VgprSet};
    use crate::wave::Wave;

    #[test]
    fn registers_that_are_owned_and_read_get_ids_and_zeros() {
        let initial = Initial::new([[1; 64], [2; 64], [3; 64]]);
        let values = std::array::from_fn(|index| index as u32 ^ 5);
        let some = VgprSet([0b1101 | 1 << 127, 1 | 1 << 127]);
        for (set, owned, given) in [
            (VgprSet::ALL, 0, 1),
            (VgprSet::ALL, 1, 1),
            (VgprSet::ALL, 2, 3),
            (VgprSet::ALL, 40, 4),
            (VgprSet::ALL, 256, 3),
            (some, 3, 1),
            (some, 256, 2),
        ] {
            for fill in [Initial::fill, Initial::fill_narrow] {
                let mut wave = Wave::new();
                wave.vgpr.fill([9; 64]);
                fill(&initial, &mut wave, &values, &Filled::new(set, owned, given));
                assert_eq!(wave.sgpr, values);
                for (index, row) in (0..=255).zip(&wave.vgpr) {
                    let value = match index {
                        _ if u16::from(index) >= owned || !set.has(index) => 9,
                        0..3 if usize::from(index) < given => u32::from(index) + 1,
                        _ => 0,
                    };
                    assert_eq!(*row, [value; 64], "v{index} of {owned}, {given} ids");
                }
            }
        }
    }
}
