//! Texels in plain order, as hosts have them, and in an image's.
//!
//! Plain order is level by level, slice by slice (or depth by depth), row by row of elements, without padding; samples of
//! a texel follow each other. What an element is, [`Format::block`](super::Format::block) says.

use super::{Image, Texel};

impl Image {
    /// Bytes of all levels and slices in plain order.
    pub fn plain_bytes(&self) -> usize {
        let [columns, rows] = self.format.block();
        let levels = (0..self.levels).map(|level| {
            let [width, height, depth] = self.size(level);
            let plane = width.div_ceil(columns) as usize * height.div_ceil(rows) as usize;
            plane * depth.max(self.slices) as usize * self.samples as usize
        });
        levels.sum::<usize>() * self.format.bytes()
    }

    /// The image's memory, [`Image::bytes`] of it from [`Image::base`] on, for elements in plain order. Padding is zero.
    ///
    /// # Panics
    /// If `plain` is not [`Image::plain_bytes`] long.
    pub fn pack(&self, plain: &[u8]) -> Vec<u8> {
        assert_eq!(plain.len(), self.plain_bytes(), "bytes of the whole image");
        let mut memory = vec![0; self.bytes() as usize];
        self.for_each_element(|at, place| memory[place].copy_from_slice(&plain[at]));
        memory
    }

    /// The elements in plain order of the image's memory.
    ///
    /// # Panics
    /// If `memory` is not [`Image::bytes`] long.
    pub fn unpack(&self, memory: &[u8]) -> Vec<u8> {
        assert_eq!(memory.len() as u64, self.bytes(), "memory of the whole image");
        let mut plain = vec![0; self.plain_bytes()];
        self.for_each_element(|at, place| plain[at].copy_from_slice(&memory[place]));
        plain
    }

    /// Where each element is in plain order, and in the image.
    fn for_each_element(&self, mut each: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>)) {
        let [columns, rows] = self.format.block();
        let bytes = self.format.bytes();
        let mut at = 0;
        for level in 0..self.levels {
            let [width, height, depth] = self.size(level);
            for z in 0..depth.max(self.slices) {
                for y in (0..height).step_by(rows as usize) {
                    for x in (0..width).step_by(columns as usize) {
                        for sample in 0..self.samples {
                            let place = self.layout.offset(Texel { x, y, z, level, sample }) as usize;
                            each(at..at + bytes, place..place + bytes);
                            at += bytes;
                        }
                    }
                }
            }
        }
    }
}
