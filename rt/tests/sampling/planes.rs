//! One level: every clamp mode, filter and dimension.

use super::reference::State;
use super::{Picture, ROUNDING, at, close, floats, sampler};
use gcnjit_rt::image::Dim;
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::sampler::{Border, Clamp, Compare, Sampler, ZFilter};

fn state(sampler: &Sampler, linear: [bool; 3]) -> State {
    let border = match sampler.border {
        Border::OpaqueWhite => [1.0; 4],
        Border::OpaqueBlack => [0.0, 0.0, 0.0, 1.0],
        _ => [0.0; 4],
    };
    State { clamp: sampler.clamp, linear, border, compare: None }
}

/// Every mode, filter, small size and offset; positions in steps of 1/16 texel over three repetitions each way.
#[test]
fn rows_in_all_modes() {
    for width in 1..=5 {
        let picture = Picture::new(Shape::row(floats(), width));
        for clamp in Clamp::ALL {
            for linear in [false, true] {
                let sampler =
                    Sampler { clamp: [clamp; 3], border: Border::OpaqueWhite, unnormalized: true, ..sampler(linear) };
                let state = state(&sampler, [linear, false, false]);
                let reach = 3 * width as i32 * 16;
                for (step, offset) in (-reach..=reach).flat_map(|step| [-32, -1, 0, 3, 31].map(|o| (step, o))) {
                    let u = step as f32 / 16.0;
                    let mut request = at([u, 0.0, 0.0]);
                    request.offset = [offset, 0, 0];
                    let want = state.sample(&picture.levels[0], [u.into(), 0.5, 0.5], [offset.into(), 0, 0]);
                    let what = (width, clamp, linear, u, offset);
                    close(picture.sample(&sampler, &request), want, ROUNDING, &what);
                }
            }
        }
    }
}

/// Normalised coordinates that hit no multiple of 1/256 of a texel.
#[test]
fn planes_within_the_bound_of_weights() {
    let picture = Picture::new(Shape::plane(floats(), 5, 3));
    for clamp in Clamp::ALL {
        let sampler = Sampler { clamp: [clamp; 3], border: Border::OpaqueBlack, ..sampler(true) };
        let state = state(&sampler, [true, true, false]);
        for step in 0..2000 {
            let (s, t) = (step as f32 * 0.002_713 - 2.7, step as f32 * 0.003_919 - 3.1);
            let want = state.sample(&picture.levels[0], [f64::from(s) * 5.0, f64::from(t) * 3.0, 0.5], [0; 3]);
            close(picture.sample(&sampler, &at([s, t, 0.0])), want, 2.0 * 2.0 / 512.0, &(clamp, s, t));
        }
    }
}

#[test]
fn volumes_and_their_filters() {
    let picture = Picture::new(Shape::volume(floats(), 3, 2, 4));
    for (filter, linear, z_linear) in [
        (ZFilter::None, true, true),
        (ZFilter::None, false, false),
        (ZFilter::Point, true, false),
        (ZFilter::Linear, false, true),
    ] {
        let clamp = [Clamp::Wrap, Clamp::Border, Clamp::Mirror];
        let sampler = Sampler { z_filter: filter, clamp, unnormalized: true, ..sampler(linear) };
        let state = state(&sampler, [linear, linear, z_linear]);
        for step in 0..1000i32 {
            let [u, v, w] = [7, 11, 13].map(|pace| ((step * pace) % 160 - 60) as f32 / 16.0);
            let want = state.sample(&picture.levels[0], [u, v, w].map(f64::from), [0; 3]);
            close(picture.sample(&sampler, &at([u, v, w])), want, ROUNDING, &(filter, u, v, w));
        }
    }
}

#[test]
fn slices_are_rounded_and_clamped() {
    for shape in [Shape::array(floats(), 4, 4, 5), Shape { dim: Dim::D1Array, layers: 5, ..Shape::row(floats(), 4) }] {
        let mut picture = Picture::new(shape);
        picture.image.base_array = 1;
        for (coordinate, slice) in [
            (0.0, 1),
            (0.5, 1),
            (0.51, 2),
            (1.5, 3),
            (2.5, 3),
            (3.0, 4),
            (99.0, 4),
            (-7.0, 1),
            (f32::INFINITY, 4),
            (f32::NEG_INFINITY, 1),
            (f32::NAN, 1),
        ] {
            let mut request = at([0.3, 0.6, 9.0]);
            request.slice = coordinate;
            let row = if shape.dim == Dim::D1Array { 0 } else { 2 };
            let want = picture.levels[0].texels[((slice * shape.height + row) * 4 + 1) as usize];
            assert_eq!(picture.sample(&sampler(false), &request), want, "{:?} {coordinate}", shape.dim);
        }
    }
}

#[test]
fn comparisons_come_before_filters() {
    let picture = Picture::new(Shape::plane(floats(), 4, 4));
    let shared = f64::from(picture.levels[0].texels[5][0] as f32);
    for compare in [
        Compare::Never,
        Compare::Less,
        Compare::Equal,
        Compare::LessEqual,
        Compare::Greater,
        Compare::NotEqual,
        Compare::GreaterEqual,
        Compare::Always,
    ] {
        for (linear, reference) in [false, true].into_iter().flat_map(|l| [0.0, shared, 0.4, f64::NAN].map(|r| (l, r)))
        {
            let sampler = Sampler { compare, clamp: [Clamp::Border; 3], unnormalized: true, ..sampler(linear) };
            let state = State { compare: Some((compare, reference)), ..state(&sampler, [linear, linear, false]) };
            for step in 0..200i32 {
                let [u, v] = [5, 9].map(|pace| ((step * pace) % 96 - 16) as f32 / 16.0);
                let mut request = at([u, v, 0.0]);
                request.reference = Some(reference as f32);
                let want = state.sample(&picture.levels[0], [u.into(), v.into(), 0.5], [0; 3]);
                close(picture.sample(&sampler, &request), want, ROUNDING, &(compare, linear, reference, u, v));
            }
        }
    }
}

/// Without TRUNC_COORD positions are rounded to 1/64 first.
#[test]
fn nearest_texels_are_of_rounded_or_truncated_positions() {
    let picture = Picture::new(Shape::row(floats(), 4));
    let texel = |trunc_coord, u| {
        let sampler = Sampler { trunc_coord, unnormalized: true, ..sampler(false) };
        let got = picture.sample(&sampler, &at([u, 0.0, 0.0]));
        picture.levels[0].texels.iter().position(|texel| *texel == got).unwrap()
    };
    let below = |x: f32| f32::from_bits(x.to_bits() - 1);
    assert_eq!([texel(true, 0.999), texel(true, below(1.0)), texel(true, 1.0), texel(true, below(2.0))], [0, 0, 1, 1]);
    assert_eq!([texel(false, below(2.0)), texel(false, 1.993), texel(false, 1.99)], [2, 2, 1]);
    // Ties go to even 64ths: 1 + 127/128 is between 1 + 63/64 and 2.
    assert_eq!([texel(false, 1.0 + 127.0 / 128.0), texel(false, below(1.0 + 127.0 / 128.0))], [2, 1]);
}
