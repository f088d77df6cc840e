//! Deterministic contents of buffers.

use serde::Deserialize;

use super::Type;

/// How a buffer is filled before the first launch.
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", deny_unknown_fields)]
pub enum Fill {
    /// All bits zero.
    #[default]
    Zero,
    /// 0, 1, 2 …
    Iota,
    /// The same number everywhere.
    Value {
        /// The number.
        value: f64,
    },
    /// All bits random.
    Random {
        /// Chooses the sequence.
        seed: u64,
    },
    /// Evenly spread numbers in `lo..hi`.
    Uniform {
        /// The lowest number.
        lo: f64,
        /// The end of the range, itself outside.
        hi: f64,
        /// Chooses the sequence.
        seed: u64,
    },
}

impl Fill {
    /// The bytes of `len` elements.
    pub fn bytes(&self, ty: Type, len: usize) -> Vec<u8> {
        match *self {
            Fill::Zero => vec![0; len * ty.size()],
            Fill::Iota => (0..len).flat_map(|i| ty.encode(i as f64)).collect(),
            Fill::Value { value } => (0..len).flat_map(|_| ty.encode(value)).collect(),
            Fill::Random { seed } => {
                let mut random = SplitMix64(seed);
                (0..len).flat_map(|_| ty.encode_integer(random.next().into())).collect()
            }
            Fill::Uniform { lo, hi, seed } => {
                let mut random = SplitMix64(seed);
                (0..len).flat_map(|_| ty.encode(random.between(ty, lo, hi))).collect()
            }
        }
    }
}

/// The generator of Steele, Lea and Flood's "Fast splittable pseudorandom number generators".
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, ty: Type, lo: f64, hi: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let value = lo + (hi - lo) * unit;
        if ty.is_float() { value } else { value.floor() }
    }
}
