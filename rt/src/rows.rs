//! Filling registers of waves that start, with the widest stores of the host and without calls: a short wave takes
//! little longer than the start of one.

use crate::wave::{LANES, Row};

/// From here on a call is nothing beside what is to be done.
const MANY: usize = 32;

/// What registers start with, for waves of one place in their work-group.
#[derive(Debug)]
pub(crate) struct Initial {
    /// The work-item ids, which the first VGPRs hold, and as the last a row of zeros: a loop of stores of a constant
    /// would become a call.
    rows: [Row; 4],
}

impl Initial {
    pub(crate) fn new(ids: [Row; 3]) -> Initial {
        let [x, y, z] = ids;
        Initial { rows: [x, y, z, [0; LANES]] }
    }

    /// Fills SGPRs with `values`, and VGPRs with the ids, as many as are `given`, and zeros.
    pub(crate) fn fill(&self, sgpr: &mut [u32; 128], values: &[u32; 128], vgpr: &mut [Row], given: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the host has AVX-512F, which is all that the function asks for.
            return unsafe { self.fill_512(sgpr, values, vgpr, given) };
        } else if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the host has AVX, which is all that the function asks for.
            return unsafe { self.fill_256(sgpr, values, vgpr, given) };
        }
        self.fill_narrow(sgpr, values, vgpr, given);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn fill_512(&self, sgpr: &mut [u32; 128], values: &[u32; 128], vgpr: &mut [Row], given: usize) {
        self.fill_narrow(sgpr, values, vgpr, given);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    fn fill_256(&self, sgpr: &mut [u32; 128], values: &[u32; 128], vgpr: &mut [Row], given: usize) {
        self.fill_narrow(sgpr, values, vgpr, given);
    }

    #[inline(always)]
    fn fill_narrow(&self, sgpr: &mut [u32; 128], values: &[u32; 128], vgpr: &mut [Row], given: usize) {
        let [ids @ .., zero] = &self.rows;
        let (few, many) = vgpr.split_at_mut(vgpr.len().min(MANY));
        let given = given.min(ids.len()).min(few.len());
        let (first, rest) = few.split_at_mut(given);
        for (row, ids) in first.iter_mut().zip(ids) {
            *row = *ids;
        }
        for row in rest {
            *row = *zero;
        }
        // By halves: what is longer becomes a call.
        let (low, high) = sgpr.split_at_mut(LANES);
        low.copy_from_slice(&values[..LANES]);
        high.copy_from_slice(&values[LANES..]);
        if !many.is_empty() {
            // As bytes, because that is memset.
            bytemuck::cast_slice_mut::<Row, u8>(many).fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Initial, MANY};
    use crate::wave::Wave;

    #[test]
    fn registers_that_are_owned_get_ids_and_zeros() {
        let initial = Initial::new([[1; 64], [2; 64], [3; 64]]);
        let values = std::array::from_fn(|index| index as u32 ^ 5);
        for (owned, given) in [(0, 1), (1, 1), (2, 3), (4, 0), (8, 1), (MANY, 2), (MANY + 1, 3), (256, 3)] {
            for fill in [Initial::fill, Initial::fill_narrow] {
                let mut wave = Wave::new();
                wave.vgpr.fill([9; 64]);
                fill(&initial, &mut wave.sgpr, &values, &mut wave.vgpr[..owned], given);
                assert_eq!(wave.sgpr, values);
                for (index, row) in wave.vgpr.iter().enumerate() {
                    let value = match index {
                        _ if index >= owned => 9,
                        _ if index < given => index as u32 + 1,
                        _ => 0,
                    };
                    assert_eq!(*row, [value; 64], "v{index} of {owned}, {given} ids");
                }
            }
        }
    }
}
