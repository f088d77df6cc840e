//! Cubes: faces, edges, corners, and what sampling them where edges end changes.

use super::reference::{self, face, sample_cube};
use super::{Noise, Picture, ROUNDING, at, close, floats, sampler};
use gcnjit_rt::image::Unsupported;
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::lod::{Detail, Gradients};
use gcnjit_rt::image::sample::{Request, gather, level_of_detail};
use gcnjit_rt::image::sampler::{Clamp, MipFilter, Sampler};

/// What a shader makes of a direction: coordinates from 1 to 2, and the face.
fn towards(direction: [f64; 3]) -> Request {
    let (face, s, t) = face(direction);
    Request { slice: face as f32, ..at([(s + 1.0) as f32, (t + 1.0) as f32, 0.0]) }
}

/// The direction that the coordinates of a request stand for: those of f32, not those that were rounded to them.
fn direction(request: &Request) -> [f64; 3] {
    let [s, t, _] = request.coordinates.map(|x| f64::from(x) - 1.0);
    reference::direction(request.slice as i64, s, t)
}

#[test]
fn directions_all_around() {
    for size in [1, 2, 3, 8] {
        let picture = Picture::new(Shape::cube(floats(), size));
        let mut noise = Noise(7);
        for _ in 0..4000 {
            let request = towards(std::array::from_fn(|_| noise.number()));
            for linear in [false, true] {
                let want = sample_cube(&picture.levels[0], direction(&request), linear);
                let bound = if linear { 2.0 * 2.0 / 512.0 } else { 0.0 };
                close(picture.sample(&sampler(linear), &request), want, bound, &(size, request, linear));
            }
        }
    }
}

/// Along the edges of all faces, where every sample takes texels of two faces, and at the corners of three.
#[test]
fn edges_and_corners_exactly() {
    let picture = Picture::new(Shape::cube(floats(), 4));
    for face in 0..6 {
        for (x, y) in (0..=64).flat_map(|x| (0..=64).map(move |y| (x, y))) {
            // Not on an edge itself, where a direction may belong to another face.
            if x % 64 == 0 || y % 64 == 0 {
                continue;
            }
            let request = Request { slice: face as f32, ..at([1.0 + x as f32 / 64.0, 1.0 + y as f32 / 64.0, 0.0]) };
            let want = sample_cube(&picture.levels[0], direction(&request), true);
            close(picture.sample(&sampler(true), &request), want, ROUNDING, &(face, x, y));
        }
    }
}

/// A function of the direction is continuous, whichever face it is sampled from.
#[test]
fn both_sides_of_an_edge_agree() {
    let picture = Picture::new(Shape::cube(floats(), 8));
    let mut noise = Noise(11);
    for _ in 0..500 {
        let mut corner = [noise.number(), 1.0, 1.0];
        corner.rotate_left((noise.bits() % 3) as usize);
        let corner = corner.map(|x| if noise.one_in(2) { x } else { -x });
        let nudged = |axis: usize| {
            let mut direction = corner;
            direction[axis] *= 1.0 + 1e-6;
            picture.sample(&sampler(true), &towards(direction))
        };
        let mut large = (0..3).filter(|axis| corner[*axis].abs() == 1.0);
        let (a, b) = (large.next().unwrap(), large.next().unwrap());
        close(nudged(a), nudged(b), 2.0 * 4.0 / 512.0, &corner);
    }
}

#[test]
fn faces_that_end_at_their_edges() {
    let picture = Picture::new(Shape::cube(floats(), 2));
    let sampler = Sampler { disable_cube_wrap: true, clamp: [Clamp::LastTexel; 3], ..sampler(true) };
    for face in 0..6 {
        let request = Request { slice: face as f32, ..at([1.0625, 1.0625, 0.0]) };
        let want = picture.levels[0].texels[face * 4];
        close(picture.sample(&sampler, &request), want, 0.0, &face);
    }
}

#[test]
fn cubes_of_an_array_are_eight_numbers_apart() {
    let picture = Picture::new(Shape { layers: 18, ..Shape::cube(floats(), 2) });
    for (number, slice) in [(0.0, 0), (5.0, 5), (6.0, 5), (8.0, 6), (13.2, 11), (18.0, 14), (99.0, 15), (-3.0, 0)] {
        let request = Request { slice: number, ..at([1.3, 1.7, 0.0]) };
        let want = picture.levels[0].texels[slice * 4 + 2];
        assert_eq!(picture.sample(&sampler(false), &request), want, "{number}");
    }
    // A view that ends inside of a cube never leaves its slices.
    let mut part = Picture::new(Shape { layers: 18, ..Shape::cube(floats(), 2) });
    part.image.last_array = 14;
    let request = Request { slice: 21.0, ..at([1.3, 1.7, 0.0]) };
    assert_eq!(part.sample(&sampler(false), &request), part.levels[0].texels[14 * 4 + 2]);
}

#[test]
fn gathers_cross_edges() {
    let picture = Picture::new(Shape::cube(floats(), 4));
    let texel = |face: usize, x: usize, y: usize| picture.levels[0].texels[(face * 4 + y) * 4 + x][2] as f32;
    let gathered = |x: f32, y: f32| {
        let request = at([1.0 + x / 4.0, 1.0 + y / 4.0, 0.0]);
        let fetch = &mut |texel| Ok::<_, Unsupported>(picture.fetch(texel).map(|x| (x as f32).to_bits()));
        gather(&picture.image, &sampler(true), &request, 2, fetch).unwrap().map(f32::from_bits)
    };
    assert_eq!(gathered(2.0, 2.0), [texel(0, 1, 2), texel(0, 2, 2), texel(0, 2, 1), texel(0, 1, 1)]);
    // To the left of +x (s = −z) is +z, whose s grows towards it.
    assert_eq!(gathered(0.25, 2.0), [texel(4, 3, 2), texel(0, 0, 2), texel(0, 0, 1), texel(4, 3, 1)]);
    // Above it is +y, whose right column (largest x) it meets, from its bottom (largest z) up.
    assert_eq!(gathered(2.0, 0.25), [texel(0, 1, 0), texel(0, 2, 0), texel(2, 3, 1), texel(2, 3, 2)]);
    // At the corner of the three.
    let [_, _, _, corner] = gathered(0.25, 0.25);
    let mean = (f64::from(texel(0, 0, 0)) + f64::from(texel(4, 3, 0)) + f64::from(texel(2, 3, 3))) / 3.0;
    assert!((f64::from(corner) - mean).abs() < ROUNDING);
}

#[test]
fn a_face_is_one_wide() {
    let picture = Picture::new(Shape { levels: 4, ..Shape::cube(floats(), 8) });
    let gradients = Gradients::new([0.25, 0.0, 5.0], [0.0, 0.125, 5.0]);
    let request = Request { detail: Detail::Footprint { gradients, bias: 0.0 }, ..at([1.5; 3]) };
    let sampler = Sampler { mip_filter: MipFilter::Linear, ..sampler(true) };
    assert_eq!(level_of_detail(&picture.image, &sampler, &request)[..2], [1.0f32.to_bits(); 2]);
}
