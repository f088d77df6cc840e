//! Levels of detail: from derivatives to levels, biases, limits, filters between levels, anisotropic filters.

use super::reference::{Color, State, level_of_detail, mix};
use super::{Picture, ROUNDING, at, close, floats, sampler};
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::lod::{Detail, Gradients};
use gcnjit_rt::image::sample::{Request, level_of_detail as query};
use gcnjit_rt::image::sampler::{Clamp, MipFilter, Sampler, XyFilter};

fn pyramid() -> Picture {
    Picture::new(Shape { levels: 4, ..Shape::plane(floats(), 16, 8) })
}

/// The reference, of one level.
fn level(picture: &Picture, sampler: &Sampler, linear: bool, number: usize, s: f64, t: f64) -> Color {
    let state = State { clamp: sampler.clamp, linear: [linear, linear, false], border: [0.0; 4], compare: None };
    let level = &picture.levels[number];
    state.sample(level, [s * level.size[0] as f64, t * level.size[1] as f64, 0.5], [0; 3])
}

/// The reference, of a blend of levels.
fn blend(picture: &Picture, sampler: &Sampler, linear: bool, lod: f64, s: f64, t: f64) -> Color {
    let lod = lod.clamp(0.0, (picture.levels.len() - 1) as f64);
    let next = (lod as usize + 1).min(picture.levels.len() - 1);
    let (near, far) =
        (level(picture, sampler, linear, lod as usize, s, t), level(picture, sampler, linear, next, s, t));
    mix(near, far, lod.fract())
}

fn given(lod: f32) -> Request {
    Request { detail: Detail::Given(lod), ..at([0.3125, 0.4375, 0.0]) }
}

fn footprint(across: [f32; 3], down: [f32; 3], bias: f32) -> Request {
    Request { detail: Detail::Footprint { gradients: Gradients::new(across, down), bias }, ..at([0.3125, 0.4375, 0.0]) }
}

/// The two results of image_get_lod.
fn queried(picture: &Picture, sampler: &Sampler, request: &Request) -> [f32; 2] {
    let [sampled, raw, zero, zero_too] = query(&picture.image, sampler, request);
    assert_eq!([zero, zero_too], [0, 0]);
    [sampled, raw].map(f32::from_bits)
}

#[test]
fn levels_are_blended_by_256ths() {
    let picture = pyramid();
    for linear in [false, true] {
        let sampler = Sampler { mip_filter: MipFilter::Linear, ..sampler(linear) };
        for step in -300..1200 {
            let lod = step as f32 / 256.0;
            let want = blend(&picture, &sampler, linear, lod.into(), 0.3125, 0.4375);
            close(picture.sample(&sampler, &given(lod)), want, ROUNDING, &(linear, lod));
        }
    }
}

#[test]
fn nearest_levels_are_rounded_half_up() {
    let picture = pyramid();
    for preclamp in [false, true] {
        let sampler = Sampler { mip_filter: MipFilter::Point, mip_point_preclamp: preclamp, ..sampler(false) };
        for (lod, number) in [(-9.0, 0), (0.0, 0), (0.498, 0), (0.5, 1), (1.49, 1), (1.5, 2), (2.5, 3), (99.0, 3)] {
            let want = level(&picture, &sampler, false, number, 0.3125, 0.4375);
            close(picture.sample(&sampler, &given(lod)), want, 0.0, &(preclamp, lod));
        }
    }
    // A limit of 1.75 selects level 2 when it is rounded, but level 1 when the half is added before.
    for (preclamp, number) in [(false, 2), (true, 1)] {
        let limited = Sampler { max_lod: 448, mip_filter: MipFilter::Point, ..sampler(false) };
        let sampler = Sampler { mip_point_preclamp: preclamp, ..limited };
        let want = level(&picture, &sampler, false, number, 0.3125, 0.4375);
        close(picture.sample(&sampler, &given(3.0)), want, 0.0, &preclamp);
    }
}

#[test]
fn without_a_filter_between_levels_there_is_one() {
    let picture = pyramid();
    let sampler = sampler(true);
    let want = level(&picture, &sampler, true, 0, 0.3125, 0.4375);
    close(picture.sample(&sampler, &given(2.75)), want, ROUNDING, &"no filter");
}

#[test]
fn derivatives_make_levels() {
    let picture = pyramid();
    let sampler = Sampler { mip_filter: MipFilter::Linear, ..sampler(true) };
    for step in 0..400 {
        let scale = (step as f32 / 40.0 - 7.0).exp2();
        let turn = step as f32;
        let across = [turn.cos() * scale, turn.sin() * scale, 0.0];
        let down = [turn.sin() * scale * 0.7, -turn.cos() * scale * 0.9, 0.0];
        let texels = |d: [f32; 3]| [f64::from(d[0]) * 16.0, f64::from(d[1]) * 8.0, 0.0];
        let lod = level_of_detail(texels(across), texels(down));
        let request = footprint(across, down, 0.0);
        let [_, raw] = queried(&picture, &sampler, &request);
        assert!((f64::from(raw) - lod).abs() <= 1.0 / 512.0 + 1e-6, "{raw} for {lod}");
        let want = blend(&picture, &sampler, true, lod, 0.3125, 0.4375);
        close(picture.sample(&sampler, &request), want, 2.0 / 512.0 + 1e-5, &(across, down));
    }
}

#[test]
fn quads_share_their_derivatives() {
    let picture = pyramid();
    let sampler = sampler(true);
    let quad = [[0.5, 0.5, 9.0], [0.75, 0.5, 9.0], [0.5, 0.625, 3.0], [0.0, 0.0, 0.0]];
    let gradients = Gradients::of_quad(quad);
    assert_eq!(gradients, Gradients::new([0.25, 0.0, 0.0], [0.0, 0.125, -6.0]));
    // 16 · ¼ = 4 texels, log2 is 2; the third coordinate of a plane is not one.
    let request = Request { detail: Detail::Footprint { gradients, bias: 0.0 }, ..at([0.5; 3]) };
    assert_eq!(queried(&picture, &sampler, &request), [0.0, 2.0]);
    let volume = Picture::new(Shape::volume(floats(), 16, 8, 4));
    // (0, 1, −24): √577.
    assert_eq!(queried(&volume, &sampler, &request)[1], ((577f64.log2() / 2.0 * 256.0).round() / 256.0) as f32);
}

#[test]
fn biases_and_limits() {
    let picture = pyramid();
    let base = Sampler { mip_filter: MipFilter::Linear, ..sampler(true) };
    let one_texel = |bias| footprint([1.0 / 16.0, 0.0, 0.0], [0.0, 1.0 / 8.0, 0.0], bias);
    let biased = Sampler { lod_bias: 320, ..base };
    assert_eq!(queried(&picture, &base, &one_texel(0.0)), [0.0, 0.0]);
    assert_eq!(queried(&picture, &base, &one_texel(1.5)), [1.5, 1.5]);
    assert_eq!(queried(&picture, &base, &one_texel(-1.5)), [0.0, -1.5]);
    assert_eq!(queried(&picture, &biased, &one_texel(1.5)), [2.75, 2.75]);
    assert_eq!(queried(&picture, &biased, &given(0.5)), [1.75, 1.75]);
    assert_eq!(queried(&picture, &biased, &at([0.0; 3])), [0.0, 0.0]);
    assert_eq!(queried(&picture, &base, &given(99.0)), [3.0, 99.0]);

    let limited = Sampler { min_lod: 128, max_lod: 640, ..base };
    assert_eq!(queried(&picture, &limited, &given(0.0)), [0.5, 0.0]);
    assert_eq!(queried(&picture, &limited, &given(3.0)), [2.5, 3.0]);
    // The instruction's limit is a lower one, and goes beyond the sampler's upper one.
    assert_eq!(queried(&picture, &limited, &Request { min_lod: 1.25, ..given(0.0) }), [1.25, 0.0]);
    assert_eq!(queried(&picture, &limited, &Request { min_lod: 2.75, ..given(0.0) }), [2.75, 0.0]);

    // The resource's counts from the largest level in memory, and so do levels from the base level.
    let mut part = pyramid();
    part.image.min_lod = 2 * 256 + 64;
    assert_eq!(queried(&part, &base, &given(0.0)), [2.25, 0.0]);
    part.image.base_level = 1;
    assert_eq!(queried(&part, &base, &given(0.0)), [1.25, 0.0]);
    assert_eq!(queried(&part, &base, &given(9.0)), [2.0, 9.0]);
    let want = level(&picture, &base, true, 3, 0.3125, 0.4375);
    close(part.sample(&base, &given(2.0)), want, ROUNDING, &"relative to the base level");
    // 8 × 4 texels in the base level.
    let across = footprint([1.0 / 8.0, 0.0, 0.0], [0.0; 3], 0.0);
    assert_eq!(queried(&part, &base, &across)[1], 0.0);
}

#[test]
fn magnified_and_minified_by_different_filters() {
    let picture = pyramid();
    let sampler = Sampler { mag_filter: XyFilter::Bilinear, min_filter: XyFilter::Point, ..sampler(true) };
    for (lod, linear) in [(-1.0, true), (0.0, true), (0.001, true), (1.0 / 256.0, false), (2.0, false)] {
        let want = level(&picture, &sampler, linear, 0, 0.3125, 0.4375);
        close(picture.sample(&sampler, &given(lod)), want, ROUNDING, &lod);
    }
}

#[test]
fn long_footprints_are_the_mean_of_points() {
    let picture = pyramid();
    let aniso = |ratio| Sampler {
        mag_filter: XyFilter::AnisoBilinear,
        min_filter: XyFilter::AnisoBilinear,
        mip_filter: MipFilter::Linear,
        clamp: [Clamp::Mirror; 3],
        max_aniso_ratio: ratio,
        ..sampler(true)
    };
    // 4 texels by 1: at most so many points of log2(4 / points).
    let request = footprint([0.25, 0.0, 0.0], [0.0, 0.125, 0.0], 0.0);
    for (ratio, points, lod) in [(0, 1, 2.0), (1, 2, 1.0), (2, 4, 0.0), (4, 4, 0.0), (7, 4, 0.0)] {
        let sampler = aniso(ratio);
        assert_eq!(queried(&picture, &sampler, &request), [lod as f32; 2], "ratio {ratio}");
        let mut want = [0.0; 4];
        for i in 1..=points {
            let s = 0.3125 + 0.25 * (f64::from(i) / f64::from(points + 1) - 0.5);
            let point = blend(&picture, &sampler, true, lod, s, 0.4375);
            (0..4).for_each(|c| want[c] += point[c] / f64::from(points));
        }
        close(picture.sample(&sampler, &request), want, 2.0 * 2.0 / 512.0, &ratio);
    }
    // The longer side may be the other one, and not be a multiple.
    let tall = footprint([1.0 / 16.0, 0.0, 0.0], [0.0, 0.125 * 2.5, 0.0], 0.0);
    assert_eq!(queried(&picture, &aniso(4), &tall), [0.0, 0.0]);
    // A line has no width: as many points as there may be.
    let line = footprint([0.25, 0.0, 0.0], [0.0; 3], 0.0);
    assert_eq!(queried(&picture, &aniso(3), &line), [0.0, -1.0]);
    let single = Sampler { aniso_override: true, ..aniso(4) };
    let flat = Picture::new(Shape::plane(floats(), 16, 8));
    assert_eq!(queried(&flat, &single, &request)[1], 2.0);
    assert_eq!(queried(&picture, &single, &request)[1], 0.0);
}
