//! What a filter makes of the texels it reaches.
//!
//! A blend is the weighted sum of f32 components in f64, in the order in which texels are added, and rounded to f32 once
//! at the end: with weights of eight bits an axis the products are exact, and so is the sum of texels that are all the
//! same. A single texel comes out bit by bit, so that integers can pass, and NaNs and the sign of zeros stay. What
//! becomes NaN by arithmetic is [`DEFAULT_NAN`].

use super::sampler::Reduction;
use crate::math::DEFAULT_NAN;

/// The texels so far.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    reduction: Reduction,
    /// Components, times weights where they are blended.
    sum: [f64; 4],
    weight: f64,
    /// The first texel, and how many there are.
    first: [u32; 4],
    texels: u32,
}

impl Filter {
    /// Of no texels yet.
    #[inline(always)]
    pub fn new(reduction: Reduction) -> Filter {
        Filter { reduction, sum: [0.0; 4], weight: 0.0, first: [0; 4], texels: 0 }
    }

    /// Adds texels, of components in f32, each with its share. Shares need not make 1; none is 0: texels without a share
    /// don't take part.
    #[inline(always)]
    pub fn add(&mut self, texels: &[[u32; 4]], shares: &[f64]) {
        if let (0, Some(first)) = (self.texels, texels.first()) {
            self.first = *first;
        }
        if self.reduction == Reduction::Blend {
            (self.sum, self.weight) = blend(self.sum, self.weight, texels, shares);
        } else {
            self.compare(texels);
        }
        self.texels += texels.len() as u32;
    }

    /// Keeps the least or largest; the first of equal ones, and NaN only if there is nothing else.
    fn compare(&mut self, texels: &[[u32; 4]]) {
        for (i, texel) in texels.iter().enumerate() {
            for (best, number) in self.sum.iter_mut().zip(numbers(*texel)) {
                let better = if self.reduction == Reduction::Min { number < *best } else { number > *best };
                if (self.texels, i) == (0, 0) || best.is_nan() || better {
                    *best = number;
                }
            }
        }
    }

    /// The components of the result.
    #[inline(always)]
    pub fn finish(&self) -> [u32; 4] {
        if self.texels == 1 {
            return self.first;
        }
        // Exact but for numbers of points that are no powers of two.
        let scale = if self.reduction == Reduction::Blend { 1.0 / self.weight } else { 1.0 };
        self.sum.map(|sum| {
            let result = (sum * scale) as f32;
            if result.is_nan() { DEFAULT_NAN.to_bits() } else { result.to_bits() }
        })
    }
}

/// Components as numbers.
#[inline(always)]
fn numbers(texel: [u32; 4]) -> [f64; 4] {
    texel.map(|bits| f64::from(f32::from_bits(bits)))
}

/// A sum and its weight with more texels.
#[inline(always)]
fn blend(mut sum: [f64; 4], mut weight: f64, texels: &[[u32; 4]], shares: &[f64]) -> ([f64; 4], f64) {
    for (texel, share) in texels.iter().zip(shares) {
        weight += share;
        for (sum, number) in sum.iter_mut().zip(numbers(*texel)) {
            *sum += number * share;
        }
    }
    (sum, weight)
}
