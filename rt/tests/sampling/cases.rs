//! Cases worked out by hand: gathers, formats of integers, border colours, reductions, selects.

use super::{Picture, at, floats, sampler};
use gcnjit_isa::Gen;
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::lod::Detail;
use gcnjit_rt::image::sample::{Request, gather, gather_row, sample};
use gcnjit_rt::image::sampler::{Border, Clamp, Compare, MipFilter, Reduction, Sampler};
use gcnjit_rt::image::{Dim, Format, Image, Texel, Unsupported};

type Result<T = [u32; 4]> = std::result::Result<T, Unsupported>;

/// Every texel says where it is, as an integer or a float.
fn numbered(image: &Image) -> impl FnMut(Texel) -> Result {
    let integer = image.format.is_integer();
    move |Texel { x, y, z, level, .. }| {
        let number = 1000 * level + 100 * z + 10 * y + x;
        Ok([0, 1, 2, 3].map(|c| if integer { number + 10_000 * c } else { (number as f32).to_bits() + c }))
    }
}

fn image(format: Format, generation: Gen) -> Image {
    Image::new(generation, 0, &Shape { levels: 3, ..Shape::plane(format, 8, 8) }).unwrap()
}

fn integers(generation: Gen) -> Image {
    image(Format::new(14, 4, generation).unwrap(), generation)
}

/// Texels as coordinates.
fn texels(u: f32, v: f32) -> Request {
    Request { unnormalized: true, ..at([u, v, 0.0]) }
}

#[test]
fn offsets_have_six_bits() {
    assert_eq!(Request::offsets(0x001f_203f), [-1, -32, 31]);
    assert_eq!(Request::offsets(0xffc0_c0c1), [1, 0, 0]);
}

#[test]
fn gathered_texels_go_around() {
    let image = image(floats(), Gen::Gfx8);
    let gathered = |request: &Request, component| {
        gather(&image, &sampler(false), request, component, &mut numbered(&image))
            .unwrap()
            .map(|bits| f32::from_bits(bits & !3) as u32)
    };
    assert_eq!(gathered(&texels(3.0, 5.0), 0), [52, 53, 43, 42]);
    assert_eq!(gathered(&texels(3.49, 5.49), 0), [52, 53, 43, 42]);
    assert_eq!(gathered(&texels(3.5, 5.5), 1), [63, 64, 54, 53]);
    let moved = Request { offset: [-1, 2, 0], ..texels(3.0, 5.0) };
    assert_eq!(gathered(&moved, 0), [71, 72, 62, 61]);
    // One level, the nearest, and no more than there are.
    let linear = Sampler { mip_filter: MipFilter::Linear, ..sampler(true) };
    for (lod, level) in [(0.49, 0), (0.5, 1), (1.7, 2), (9.0, 2)] {
        let request = Request { detail: Detail::Given(lod), ..texels(1.0, 1.0) };
        let got = gather(&image, &linear, &request, 0, &mut numbered(&image)).unwrap().map(f32::from_bits);
        assert_eq!(got.map(|x| x as u32), [10, 11, 1, 0].map(|at| 1000 * level + at));
    }
}

#[test]
fn gathered_components_follow_the_selects() {
    let mut image = integers(Gen::Gfx9);
    image.selects = [6, 1, 0, 4];
    let gathered =
        |component| gather(&image, &sampler(true), &texels(1.0, 1.0), component, &mut numbered(&image)).unwrap();
    assert_eq!(gathered(0), [20_010, 20_011, 20_001, 20_000]);
    assert_eq!(gathered(1), [1; 4]);
    assert_eq!(gathered(2), [0; 4]);
    assert_eq!(gathered(3), [10, 11, 1, 0]);
}

/// gfx6 to gfx8 gather integers around the far corner of the nearest texel; compilers subtract half a texel for it.
#[test]
fn gathered_integers_are_half_a_texel_off_before_gfx9() {
    for (generation, want) in [
        (Gen::Gfx6, [53, 54, 44, 43]),
        (Gen::Gfx7, [53, 54, 44, 43]),
        (Gen::Gfx8, [53, 54, 44, 43]),
        (Gen::Gfx9, [52, 53, 43, 42]),
    ] {
        let image = integers(generation);
        let got = gather(&image, &sampler(true), &texels(3.25, 4.75), 0, &mut numbered(&image)).unwrap();
        assert_eq!(got, want, "{generation:?}");
    }
}

#[test]
fn rows_are_gathered_to_the_right() {
    let image = integers(Gen::Gfx9);
    let request = texels(3.0, 5.0);
    let four: [[u32; 4]; 4] = gather_row(&image, &sampler(true), &request, &mut numbered(&image)).unwrap();
    assert_eq!(four.map(|texel| texel[0]), [52, 53, 54, 55]);
    let clamped = Sampler { clamp: [Clamp::LastTexel; 3], ..sampler(true) };
    let eight: [[u32; 4]; 8] = gather_row(&image, &clamped, &request, &mut numbered(&image)).unwrap();
    assert_eq!(eight.map(|texel| texel[1]), [52, 53, 54, 55, 56, 57, 57, 57].map(|at| at + 10_000));
}

#[test]
fn integers_are_never_blended() {
    let image = integers(Gen::Gfx7);
    let sampler = Sampler { mip_filter: MipFilter::Linear, ..sampler(true) };
    for (lod, texel) in [(0.25, 53), (0.75, 1053)] {
        let request = Request { detail: Detail::Given(lod), ..texels(3.25, 5.75) };
        let got = sample(&image, &sampler, &request, &mut numbered(&image)).unwrap();
        // Unnormalised coordinates count texels of any level; of level 1 there are four by four.
        let texel = if lod < 0.5 { texel } else { 1013 };
        assert_eq!(got, [0, 1, 2, 3].map(|c| texel + 10_000 * c));
    }
}

/// At a texel's centre a filter gives its bits, whatever they are.
#[test]
fn centres_are_loads() {
    let image = image(floats(), Gen::Gfx6);
    let bits = [0x7f80_0001, 0x8000_0000, 0xffff_ffff, 0x0000_0001];
    for filter in [sampler(false), sampler(true)] {
        for (x, y) in (0..8).flat_map(|x| (0..8).map(move |y| (x, y))) {
            let mut fetched = Vec::new();
            let request = at([(x as f32 + 0.5) / 8.0, (y as f32 + 0.5) / 8.0, 0.0]);
            let fetch = &mut |texel| {
                fetched.push(texel);
                Ok::<_, Unsupported>(bits)
            };
            assert_eq!(sample(&image, &filter, &request, fetch), Ok(bits));
            assert_eq!(fetched, [Texel { x, y, ..Texel::default() }]);
        }
    }
}

#[test]
fn border_colours() {
    let beyond = texels(-1.0, 0.0);
    let float = 1.0f32.to_bits();
    for (image, one) in [(image(floats(), Gen::Gfx9), float), (integers(Gen::Gfx9), 1)] {
        for (border, want) in [
            (Border::TransparentBlack, Ok([0; 4])),
            (Border::OpaqueBlack, Ok([0, 0, 0, one])),
            (Border::OpaqueWhite, Ok([one; 4])),
            (Border::Table(7), Err(Unsupported::BorderTable(7))),
        ] {
            let sampler = Sampler { clamp: [Clamp::Border; 3], border, ..sampler(false) };
            assert_eq!(sample(&image, &sampler, &beyond, &mut numbered(&image)), want);
            // Where no texel has the border's colour it is not asked for.
            assert!(sample(&image, &sampler, &texels(1.5, 1.5), &mut numbered(&image)).is_ok());
        }
    }
}

/// On gfx9 the order of a border's components undoes the selects: alpha stays alpha, whatever component it is in memory.
#[test]
fn border_colours_follow_the_order_of_components() {
    let plain = image(floats(), Gen::Gfx9);
    let border = |order: u32, selects: [u8; 4]| {
        let mut words = plain.encode();
        words[4] |= order << 29;
        let mut image = Image::decode(words, Gen::Gfx9, false).unwrap();
        assert_eq!(image.encode(), words);
        image.selects = selects;
        let sampler = Sampler { clamp: [Clamp::Border; 3], border: Border::OpaqueBlack, ..sampler(true) };
        sample(&image, &sampler, &texels(-9.0, 0.0), &mut numbered(&image)).unwrap().map(f32::from_bits)
    };
    let alpha = [0.0, 0.0, 0.0, 1.0];
    assert_eq!(border(0, [4, 5, 6, 7]), alpha);
    // Red in the third component; alpha in the first, the others behind it or in front; alpha in the third, red second.
    assert_eq!([border(4, [6, 5, 4, 7]), border(3, [5, 6, 7, 4]), border(2, [7, 6, 5, 4])], [alpha; 3]);
    assert_eq!([border(1, [4, 6, 7, 5]), border(5, [5, 4, 7, 6])], [alpha; 2]);
    // In memory before gfx9.
    assert_eq!(border(0, [5, 6, 7, 4]), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn least_and_largest_of_texels_with_a_share() {
    let image = image(floats(), Gen::Gfx9);
    let with = |reduction, u, v| {
        let sampler = Sampler { reduction, ..sampler(true) };
        f32::from_bits(sample(&image, &sampler, &texels(u, v), &mut numbered(&image)).unwrap()[0])
    };
    assert_eq!([with(Reduction::Min, 3.0, 5.0), with(Reduction::Max, 3.0, 5.0)], [42.0, 53.0]);
    assert_eq!([with(Reduction::Min, 3.5, 5.0), with(Reduction::Max, 3.5, 5.0)], [43.0, 53.0]);
    let picture = Picture::new(Shape::plane(floats(), 4, 4));
    let sampler = Sampler { reduction: Reduction::Max, ..sampler(true) };
    let got = picture.sample(&sampler, &texels(2.0, 2.0));
    let four = [5, 6, 9, 10].map(|i| picture.levels[0].texels[i]);
    let want: [f64; 4] = std::array::from_fn(|c| four.iter().map(|texel| texel[c]).fold(-9.0, f64::max));
    assert_eq!(got, want);
}

#[test]
fn nothing_is_made_of_nan_but_nan() {
    let image = image(floats(), Gen::Gfx9);
    let fetch = |left: f32, right: f32| {
        move |texel: Texel| Ok::<_, Unsupported>([if texel.x == 2 { left } else { right }.to_bits(); 4])
    };
    let with = |reduction, left, right| {
        let sampler = Sampler { reduction, ..sampler(true) };
        sample(&image, &sampler, &texels(3.0, 0.5), &mut fetch(left, right)).unwrap()[0]
    };
    assert_eq!(with(Reduction::Blend, f32::NAN, 1.0), 0xffc0_0000);
    assert_eq!(with(Reduction::Blend, f32::INFINITY, f32::NEG_INFINITY), 0xffc0_0000);
    assert_eq!(with(Reduction::Blend, f32::INFINITY, 1.0), f32::INFINITY.to_bits());
    assert_eq!(with(Reduction::Min, f32::NAN, 1.0), 1.0f32.to_bits());
    assert_eq!(with(Reduction::Max, 1.0, f32::NAN), 1.0f32.to_bits());
    assert_eq!(with(Reduction::Blend, f32::MAX, f32::MAX), f32::MAX.to_bits());
}

/// References are limited to what texels can be where those are normalised.
#[test]
fn references_of_normalised_depth_are_clamped() {
    let compare = |format, reference, depth: f32| {
        let image = image(format, Gen::Gfx8);
        let sampler = Sampler { compare: Compare::Equal, ..sampler(false) };
        let request = Request { reference: Some(reference), ..texels(0.5, 0.5) };
        sample(&image, &sampler, &request, &mut |_| Ok::<_, Unsupported>([depth.to_bits(); 4])).unwrap()
    };
    let (unorm16, float32) = (Format::new(2, 0, Gen::Gfx8).unwrap(), Format::new(4, 7, Gen::Gfx8).unwrap());
    let passed = |passed: f32| [passed.to_bits(), 0, 0, 1.0f32.to_bits()];
    assert_eq!(compare(unorm16, 7.5, 1.0), passed(1.0));
    assert_eq!(compare(unorm16, -7.5, 0.0), passed(1.0));
    assert_eq!(compare(float32, 7.5, 1.0), passed(0.0));
    assert_eq!(compare(float32, 7.5, 7.5), passed(1.0));
    assert_eq!(compare(unorm16, f32::NAN, 0.0), passed(0.0));
}

#[test]
fn images_with_samples_cannot_be_sampled() {
    let shape = Shape { dim: Dim::D2Msaa, samples: 4, ..Shape::plane(floats(), 8, 8) };
    let Ok(image) = Image::new(Gen::Gfx6, 0, &shape) else { panic!("no such image") };
    let got = sample(&image, &sampler(false), &texels(0.5, 0.5), &mut numbered(&image));
    assert_eq!(got, Err(Unsupported::SampledMsaa));
}

#[test]
fn errors_of_texels_end_the_sample() {
    let image = image(floats(), Gen::Gfx9);
    #[derive(Debug, PartialEq)]
    struct Failed(u32);
    impl From<Unsupported> for Failed {
        fn from(_: Unsupported) -> Failed {
            Failed(99)
        }
    }
    let mut count = 0;
    let fetch = &mut |_| {
        count += 1;
        if count == 3 { Err(Failed(count)) } else { Ok([0; 4]) }
    };
    assert_eq!(sample(&image, &sampler(true), &texels(3.0, 3.0), fetch), Err(Failed(3)));
}
