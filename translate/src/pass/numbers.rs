//! A small source of numbers for tests.

/// What has been drawn last.
pub struct Numbers(pub u64);

impl Numbers {
    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 11 ^ self.0 << 21
    }

    /// One below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 17) % end
    }

    /// One of some.
    pub fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len() as u64) as usize]
    }
}
