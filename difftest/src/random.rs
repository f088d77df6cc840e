//! Random numbers that a seed reproduces, and values at which number formats have their edges.

/// SplitMix64, or bytes from somewhere else as long as they last.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// Eight for each number, in reverse.
    bytes: Vec<u8>,
}

/// Bit patterns that are special as an integer, a float, a pair of halves or half of a double.
const EDGES: [u32; 44] = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_1234,
    0x7f80_0001,
    0xffa0_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x7f7f_ffff,
    0x3ff0_0000,
    0x7ff0_0000,
    0x7ff8_0000,
    0xfff0_0001,
    0x000f_ffff,
    0x7c00_7e01,
    0x0001_8400,
    0x3c00_fc01,
    0x4f00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0x0080_0001,
];

impl Random {
    /// A generator that always gives the same sequence for the same seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed, bytes: Vec::new() }
    }

    /// The generator of the `index`-th of many programs that share a seed: independent of the others.
    pub fn of(seed: u64, index: u64) -> Random {
        let mut random = Random::new(seed ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    /// A generator that gives the bytes, eight a number, and goes on as one that has them as its seed: for fuzzers that
    /// change bytes to change a program.
    pub fn of_bytes(bytes: &[u8]) -> Random {
        let state = bytes.iter().fold(0, |sum: u64, byte| sum.rotate_left(9) ^ u64::from(*byte));
        Random { state, bytes: bytes.iter().rev().copied().collect() }
    }

    /// Any 64 bits.
    #[allow(clippy::should_implement_trait, reason = "an endless source is not used as an iterator")]
    pub fn next(&mut self) -> u64 {
        if self.bytes.len() >= 8 {
            let rest = self.bytes.split_off(self.bytes.len() - 8);
            return rest.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Less than `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of `from`, which is not empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A dword that is often interesting: see `EDGES`, small numbers, floats of moderate size, denormals.
    pub fn dword(&mut self) -> u32 {
        match self.below(8) {
            0..=2 => self.pick(&EDGES),
            3 => self.below(70) as u32,
            // A float of moderate size, or with few bits: halves, whole numbers, the limits of integers; f32, f64.
            4 => (self.next() as u32 & 0x807f_ffff) | (120 + self.below(16) as u32) << 23,
            5 if self.below(2) == 0 => (self.next() as u32 & 0x807c_0000) | (118 + self.below(46) as u32) << 23,
            5 => (self.next() as u32 & 0x800f_8000) | (1014 + self.below(46) as u32) << 20,
            // A denormal, or about to be one.
            6 => self.next() as u32 & 0x81ff_ffff,
            _ => self.next() as u32,
        }
    }

    /// A lane mask: all lanes, many, or few.
    pub fn mask(&mut self) -> u64 {
        match self.below(8) {
            0..=3 => u64::MAX,
            4 | 5 => self.next(),
            6 => self.next() & self.next() & self.next(),
            _ => self.pick(&[0, 1, 1 << 63, 0xffff_ffff, 0xffff_ffff << 32, 0x8000_0000_8000_0001]),
        }
    }
}
