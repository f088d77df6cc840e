//! What atomics compute: the new value from the old one, the data and, for compare-and-swap, the second data.

use crate::fp::Fp;

/// A dword or qword that atomics work on.
pub trait Word: Copy + Ord + Default {
    /// Modulo 2^bits.
    fn plus(self, other: Self) -> Self;
    /// Modulo 2^bits.
    fn minus(self, other: Self) -> Self;
    /// With the sign bit flipped: signed order becomes unsigned order.
    fn biased(self) -> Self;
    /// Bit by bit.
    fn and(self, other: Self) -> Self;
    /// Bit by bit.
    fn xor(self, other: Self) -> Self;
    /// All ones.
    const ONES: Self;
    /// 1.
    const ONE: Self;
    /// Sees both as floats and takes the smaller, or larger.
    fn float_extremum(self, other: Self, fp: &Fp, larger: bool) -> Self;
    /// Whether they are equal as floats.
    fn float_equal(self, other: Self, fp: &Fp) -> bool;
}

macro_rules! words {
    ($($word:ident $float:ident)*) => { $(
        impl Word for $word {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn biased(self) -> Self {
                self ^ (1 << ($word::BITS - 1))
            }
            fn and(self, other: Self) -> Self {
                self & other
            }
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            const ONES: Self = $word::MAX;
            const ONE: Self = 1;
            fn float_extremum(self, other: Self, fp: &Fp, larger: bool) -> Self {
                let (a, b) = ($float::from_bits(self), $float::from_bits(other));
                if larger { fp.max(a, b).to_bits() } else { fp.min(a, b).to_bits() }
            }
            fn float_equal(self, other: Self, fp: &Fp) -> bool {
                fp.source($float::from_bits(self)) == fp.source($float::from_bits(other))
            }
        }
    )* };
}

words! { u32 f32 u64 f64 }

/// An atomic's function of (old, data, second data).
pub type Update<T> = fn(&Fp, T, T, T) -> T;

/// data.
pub fn swap<T: Word>(_: &Fp, _: T, data: T, _: T) -> T {
    data
}

/// data if old is the second data.
pub fn cmpswap<T: Word>(_: &Fp, old: T, data: T, compare: T) -> T {
    if old == compare { data } else { old }
}

/// data if old equals the second data as a float.
pub fn fcmpswap<T: Word>(fp: &Fp, old: T, data: T, compare: T) -> T {
    if old.float_equal(compare, fp) { data } else { old }
}

/// old + data.
pub fn add<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.plus(data)
}

/// old − data.
pub fn sub<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.minus(data)
}

/// data − old.
pub fn rsub<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    data.minus(old)
}

/// The smaller, signed.
pub fn smin<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    if data.biased() < old.biased() { data } else { old }
}

/// The smaller, unsigned.
pub fn umin<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.min(data)
}

/// The larger, signed.
pub fn smax<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    if data.biased() > old.biased() { data } else { old }
}

/// The larger, unsigned.
pub fn umax<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.max(data)
}

/// The smaller, as floats.
pub fn fmin<T: Word>(fp: &Fp, old: T, data: T, _: T) -> T {
    old.float_extremum(data, fp, false)
}

/// The larger, as floats.
pub fn fmax<T: Word>(fp: &Fp, old: T, data: T, _: T) -> T {
    old.float_extremum(data, fp, true)
}

/// old and data.
pub fn and<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.and(data)
}

/// old or data.
pub fn or<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.and(data.xor(T::ONES)).xor(data)
}

/// old exclusive-or data.
pub fn xor<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    old.xor(data)
}

/// old + 1, back to 0 after data.
pub fn inc<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    if old >= data { T::default() } else { old.plus(T::ONE) }
}

/// old − 1, back to data after 0 or from above data.
pub fn dec<T: Word>(_: &Fp, old: T, data: T, _: T) -> T {
    if old == T::default() || old > data { data } else { old.minus(T::ONE) }
}

/// old with the bits of data replaced by the second data's.
pub fn mskor<T: Word>(_: &Fp, old: T, data: T, bits: T) -> T {
    let kept = old.and(data.xor(T::ONES));
    kept.and(bits.xor(T::ONES)).xor(bits)
}

/// old − data, or + the second data below data.
pub fn wrap<T: Word>(_: &Fp, old: T, data: T, more: T) -> T {
    if old >= data { old.minus(data) } else { old.plus(more) }
}
