//! A second sampler, in f64, from the equations of the Vulkan specification (Texel Input Operations: image sample
//! operations, wrapping, level of detail, cube map edge handling) and, for the modes that Vulkan lacks, of
//! EXT_texture_mirror_clamp and OpenGL's CLAMP. It is written to be read beside them, not to be fast, and takes nothing
//! from the sampler it is held against but the names of modes.

use gcnjit_rt::image::sampler::{Clamp, Compare};

pub type Color = [f64; 4];

/// A level: columns, rows, and slices or depth.
pub struct Level {
    pub size: [i64; 3],
    pub texels: Vec<Color>,
}

impl Level {
    fn texel(&self, at: [i64; 3]) -> Color {
        assert!((0..3).all(|i| (0..self.size[i]).contains(&at[i])), "{at:?} outside of {:?}", self.size);
        self.texels[((at[2] * self.size[1] + at[1]) * self.size[0] + at[0]) as usize]
    }
}

/// What of a sampler the reference knows.
#[derive(Clone, Copy)]
pub struct State {
    pub clamp: [Clamp; 3],
    /// x, y, z.
    pub linear: [bool; 3],
    pub border: Color,
    pub compare: Option<(Compare, f64)>,
}

/// Wrapping operation: the texel for number `i`, or the border.
pub fn wrap(mode: Clamp, i: i64, size: i64) -> Option<i64> {
    let mirror = |n: i64| if n >= 0 { n } else { -(1 + n) };
    let index = match mode {
        Clamp::Wrap => i.rem_euclid(size),
        Clamp::Mirror => (size - 1) - mirror(i.rem_euclid(2 * size) - size),
        Clamp::LastTexel => i.clamp(0, size - 1),
        Clamp::Border | Clamp::HalfBorder => i.clamp(-1, size),
        Clamp::MirrorOnceLastTexel => mirror(i).clamp(0, size - 1),
        Clamp::MirrorOnceBorder | Clamp::MirrorOnceHalfBorder => mirror(i).min(size),
    };
    (0..size).contains(&index).then_some(index)
}

/// The texels of one axis and their weights, for an unnormalised coordinate.
pub fn axis(mode: Clamp, linear: bool, u: f64, offset: i64, size: i64) -> Vec<(Option<i64>, f64)> {
    let end = size as f64;
    let moved = u + offset as f64;
    if !linear {
        let i = moved.floor() as i64;
        // Limited to the image's ends, a nearest texel is one at the edge.
        let mode = match mode {
            Clamp::HalfBorder => Clamp::LastTexel,
            Clamp::MirrorOnceHalfBorder => Clamp::MirrorOnceLastTexel,
            other => other,
        };
        return vec![(wrap(mode, i, size), 1.0)];
    }
    // CLAMP and MIRROR_CLAMP limit the coordinate itself.
    let u = match mode {
        Clamp::HalfBorder => moved.clamp(0.0, end),
        Clamp::MirrorOnceHalfBorder => moved.abs().min(end),
        _ => moved,
    };
    let first = (u - 0.5).floor();
    let alpha = u - 0.5 - first;
    let i = first as i64;
    vec![(wrap(mode, i, size), 1.0 - alpha), (wrap(mode, i + 1, size), alpha)]
}

fn passes(compare: Compare, reference: f64, depth: f64) -> bool {
    use std::cmp::Ordering::*;
    let order = reference.partial_cmp(&depth);
    match compare {
        Compare::Never => false,
        Compare::Always => true,
        Compare::Less => order == Some(Less),
        Compare::Equal => order == Some(Equal),
        Compare::Greater => order == Some(Greater),
        Compare::NotEqual => order != Some(Equal),
        Compare::LessEqual => matches!(order, Some(Less | Equal)),
        Compare::GreaterEqual => matches!(order, Some(Greater | Equal)),
    }
}

impl State {
    fn value(&self, color: Color) -> Color {
        match self.compare {
            None => color,
            Some((compare, reference)) => [f64::from(u8::from(passes(compare, reference, color[0]))), 0.0, 0.0, 1.0],
        }
    }

    /// A level's filtered colour at unnormalised coordinates. An axis that is not there has size 1 and coordinate ½;
    /// slices of arrays are chosen by such an axis too.
    pub fn sample(&self, level: &Level, at: [f64; 3], offset: [i64; 3]) -> Color {
        let taps: [_; 3] =
            std::array::from_fn(|i| axis(self.clamp[i], self.linear[i], at[i], offset[i], level.size[i]));
        let mut sum = [0.0; 4];
        for (z, wz) in &taps[2] {
            for (y, wy) in &taps[1] {
                for (x, wx) in &taps[0] {
                    let color = match (x, y, z) {
                        (Some(x), Some(y), Some(z)) => level.texel([*x, *y, *z]),
                        _ => self.border,
                    };
                    let value = self.value(color);
                    (0..4).for_each(|c| sum[c] += wx * wy * wz * value[c]);
                }
            }
        }
        sum
    }
}

/// A blend of two colours.
pub fn mix(a: Color, b: Color, share: f64) -> Color {
    std::array::from_fn(|c| a[c] * (1.0 - share) + b[c] * share)
}

/// Scale factor operation: the level of detail of derivatives in texels.
pub fn level_of_detail(across: [f64; 3], down: [f64; 3]) -> f64 {
    let length = |m: [f64; 3]| m.iter().map(|x| x * x).sum::<f64>().sqrt();
    length(across).max(length(down)).log2()
}

/// Cube map face selection: a direction's face and its coordinates from 0 to 1 on it.
pub fn face(direction: [f64; 3]) -> (i64, f64, f64) {
    let [x, y, z] = direction;
    let (face, s, t, major) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { (5, -x, -y, z) } else { (4, x, -y, z) }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { (3, x, -z, y) } else { (2, x, z, y) }
    } else if x < 0.0 {
        (1, z, -y, x)
    } else {
        (0, -z, -y, x)
    };
    (face, (s / major.abs() + 1.0) / 2.0, (t / major.abs() + 1.0) / 2.0)
}

/// The direction of a point on the plane of a face, its inverse; coordinates beyond the face have one too.
pub fn direction(face: i64, s: f64, t: f64) -> [f64; 3] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// A cube's colour in a direction, filtered over its edges. A texel outside of a face is the one that the direction of
/// its centre meets; for the one at a corner the mean of the three others stands.
pub fn sample_cube(level: &Level, towards: [f64; 3], linear: bool) -> Color {
    let size = level.size[0];
    let (own, s, t) = face(towards);
    let (u, v) = (s * size as f64, t * size as f64);
    let last = size - 1;
    if !linear {
        return level.texel([(u as i64).min(last), (v as i64).min(last), own]);
    }
    let (first_x, first_y) = ((u - 0.5).floor(), (v - 0.5).floor());
    let (alpha, beta) = (u - 0.5 - first_x, v - 0.5 - first_y);
    let fetch = |x: i64, y: i64| {
        let centre = |i: i64| (i as f64 + 0.5) / size as f64;
        let (face, s, t) = face(direction(own, centre(x), centre(y)));
        let index = |s: f64| ((s * size as f64) as i64).clamp(0, last);
        level.texel([index(s), index(t), face])
    };
    let inside = |i: i64| (0..size).contains(&i);
    let mut sum = [0.0; 4];
    for (y, wy) in [(first_y as i64, 1.0 - beta), (first_y as i64 + 1, beta)] {
        for (x, wx) in [(first_x as i64, 1.0 - alpha), (first_x as i64 + 1, alpha)] {
            let color = if inside(x) || inside(y) {
                fetch(x, y)
            } else {
                let (inner_x, inner_y) = (x.clamp(0, last), y.clamp(0, last));
                let three = [fetch(inner_x, inner_y), fetch(x, inner_y), fetch(inner_x, y)];
                std::array::from_fn(|c| three.iter().map(|color| color[c]).sum::<f64>() / 3.0)
            };
            (0..4).for_each(|c| sum[c] += wx * wy * color[c]);
        }
    }
    sum
}
