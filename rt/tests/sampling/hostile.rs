//! Any bits at all: descriptors, addresses and texels have a result.

use super::{Noise, sampler};
use gcnjit_isa::Gen;
use gcnjit_rt::image::descriptor::Shape;
use gcnjit_rt::image::lod::{Detail, Gradients};
use gcnjit_rt::image::sample::{Request, gather, gather_row, level_of_detail, sample};
use gcnjit_rt::image::sampler::{MipFilter, Reduction, Sampler, XyFilter};
use gcnjit_rt::image::{Dim, Format, Image, Plane, Texel, Unsupported};

/// Ordinary numbers, and those that often go wrong.
fn float(noise: &mut Noise) -> f32 {
    match noise.bits() % 8 {
        0 => f32::from_bits(noise.bits()),
        1 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -0.0, 1e-45, 2f32.powi(42)]
            [noise.bits() as usize % 8],
        2 => (noise.number() * 1e6) as f32,
        _ => (noise.number() * 3.0) as f32,
    }
}

fn request(noise: &mut Noise) -> Request {
    let three = |noise: &mut Noise| std::array::from_fn(|_| float(noise));
    let detail = match noise.bits() % 3 {
        0 => Detail::Zero,
        1 => Detail::Given(float(noise)),
        _ => Detail::Footprint { gradients: Gradients::new(three(noise), three(noise)), bias: float(noise) },
    };
    Request {
        coordinates: three(noise),
        slice: float(noise),
        offset: Request::offsets(noise.bits()),
        detail,
        min_lod: if noise.one_in(4) { float(noise) } else { 0.0 },
        unnormalized: noise.one_in(4),
        reference: (noise.one_in(4)).then(|| float(noise)),
    }
}

fn image(noise: &mut Noise) -> Image {
    let dim = [Dim::D1, Dim::D2, Dim::D3, Dim::Cube, Dim::D1Array, Dim::D2Array][noise.bits() as usize % 6];
    let generation = Gen::ALL[noise.bits() as usize % 4];
    let format = [(14, 7), (10, 0), (14, 4), (2, 0), (10, 9)][noise.bits() as usize % 5];
    let side = |noise: &mut Noise| 1 + noise.bits() % [1, 5, 40, 16384][noise.bits() as usize % 4];
    let width = side(noise);
    let height = match dim {
        Dim::D1 | Dim::D1Array => 1,
        Dim::Cube if !noise.one_in(8) => width,
        _ => side(noise),
    };
    let mut image = Image::new(
        generation,
        0,
        &Shape {
            dim,
            depth: if dim == Dim::D3 { 1 + noise.bits() % 9 } else { 1 },
            layers: if dim == Dim::Cube {
                12
            } else if dim.has_slices() {
                7
            } else {
                1
            },
            ..Shape::plane(Format::new(format.0, format.1, generation).unwrap(), width, height)
        },
    )
    .unwrap();
    // Descriptors can say anything of these.
    image.base_level = noise.bits() % 4;
    image.last_level = image.base_level + noise.bits() % 12;
    image.min_lod = noise.bits() % 4096;
    if dim.has_slices() {
        image.base_array = noise.bits() % 3;
        image.last_array = image.base_array + noise.bits() % 9;
    }
    image.selects = std::array::from_fn(|_| (noise.bits() % 8) as u8);
    image
}

fn words(noise: &mut Noise) -> [u32; 4] {
    std::array::from_fn(|_| noise.bits())
}

#[test]
fn texels_are_in_range() {
    let mut noise = Noise(0x1234_5678_9abc_def1);
    let mut fetched = 0;
    for _ in 0..60_000 {
        let image = image(&mut noise);
        let sampler = Sampler::decode(words(&mut noise), image.generation);
        let request = request(&mut noise);
        let mut count = 0;
        let fetch = &mut |texel: Texel| {
            let [width, height, depth] = image.size(texel.level);
            let slices = if image.dim == Dim::D3 { 0..depth } else { image.base_array..image.last_array + 1 };
            let levels = image.base_level..image.last_level + 1;
            let inside = texel.x < width && texel.y < height && slices.contains(&texel.z);
            assert!(inside && levels.contains(&texel.level) && texel.sample == 0, "{texel:?} {image:?} {request:?}");
            count += 1;
            Ok::<_, Unsupported>([texel.x, 0x7f80_0000 | texel.y, u32::MAX - texel.x, texel.z])
        };
        let border = |got: Unsupported| assert!(matches!(got, Unsupported::BorderTable(_)), "{got:?}");
        sample(&image, &sampler, &request, fetch).map_or_else(border, |_| ());
        gather(&image, &sampler, &request, 3, fetch).map_or_else(border, |_| ());
        gather_row::<8, _>(&image, &sampler, &request, fetch).map_or_else(border, |_| ());
        level_of_detail(&image, &sampler, &request);
        assert!(count <= 16 * 2 * 24 + 12 + 8, "{count} texels");
        fetched += count;
    }
    assert!(fetched > 100_000, "{fetched}");
}

/// A blend is never beyond the texels that it is made of, nor is the least or largest anything but one of them.
#[test]
fn results_are_between_texels() {
    let mut noise = Noise(0xfeed_beef_1234);
    for _ in 0..20_000 {
        let image = image(&mut noise);
        let mut sampler = Sampler::decode(words(&mut noise), image.generation);
        sampler.border = Default::default();
        let mut request = request(&mut noise);
        request.reference = None;
        let (mut texels, mut number) = (Vec::new(), noise.bits());
        let fetch = &mut |_| {
            number = number.wrapping_mul(0x9e37_79b1).wrapping_add(1);
            let value = f32::from_bits((number & 0x0fff_ffff | 0x3000_0000) ^ (number & 0x8000_0000));
            texels.push(value);
            Ok::<_, Unsupported>([value.to_bits(); 4])
        };
        let mut plain = image;
        plain.selects = [4; 4];
        let Ok([got, ..]) = sample(&plain, &sampler, &request, fetch) else { panic!("a border colour") };
        if plain.format.is_integer() {
            continue;
        }
        let got = f32::from_bits(got);
        texels.push(0.0);
        let (least, largest) = texels.iter().fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!((least..=largest).contains(&got), "{got} of {texels:?}");
        if sampler.reduction != Reduction::Blend {
            assert!(texels.contains(&got), "{got} of {texels:?}");
        }
    }
}

/// The short way of the commonest samples has the bits of the long one, whatever texels are, and reads no other texels.
#[test]
fn planes_are_samples() {
    let (mut noise, mut compared, mut bytes) = (Noise(0x51ab_0077_1234), 0, 0);
    for _ in 0..40_000 {
        let mut image = image(&mut noise);
        image.dim = Dim::D2;
        let mut sampler = Sampler::decode(words(&mut noise), image.generation);
        (sampler.mag_filter, sampler.min_filter) = (XyFilter::Bilinear, XyFilter::Bilinear);
        sampler.mip_filter = [MipFilter::None, MipFilter::Linear][noise.bits() as usize % 2];
        let [width, height, _] = image.size(image.base_level);
        let mut request = request(&mut noise);
        (request.reference, request.offset) = (None, [0; 3]);
        if !noise.one_in(4) {
            let scale = |size| if sampler.unnormalized || request.unnormalized { size as f32 } else { 1.0 };
            request.coordinates = [scale(width), scale(height), 0.0].map(|x| x * noise.number().abs() as f32);
        }
        let seed = noise.bits();
        let texel = |texel: Texel| {
            let bits = (texel.x.wrapping_mul(0x9e37_79b1) ^ texel.y.wrapping_mul(0x85eb_ca6b) ^ seed).rotate_left(13);
            [bits, bits.wrapping_mul(3), bits | 0x7f80_0000, bits & 0x007f_ffff]
        };
        let Some(plane) = Plane::of(&image, &sampler, request.unnormalized) else { continue };
        let mut read = Vec::new();
        let mut fetch = |at: Texel| {
            read.push(at);
            Ok::<_, Unsupported>(texel(at))
        };
        let [u, v, _] = request.coordinates;
        let Some(got) = plane.sample([u, v], &mut fetch) else { continue };
        let mut read_too = Vec::new();
        let mut fetch = |at: Texel| {
            read_too.push(at);
            Ok::<_, Unsupported>(texel(at))
        };
        assert_eq!(got, sample(&image, &sampler, &request, &mut fetch), "{image:?} {sampler:?} {request:?}");
        assert_eq!(read, read_too);
        compared += 1;
        if plane.has_bytes() {
            let raw = |at: Texel| texel(at)[0].to_le_bytes();
            let element = |at: Texel| std::array::from_fn(|i| raw(at).get(i).copied().unwrap_or(0));
            let short = plane.sample_bytes([u, v], &mut |at| Ok::<_, Unsupported>(raw(at)));
            let mut load = |at: Texel| Ok::<_, Unsupported>(image.format.load(&element(at), at.x, at.y));
            assert_eq!(short, Some(sample(&image, &sampler, &request, &mut load)), "{image:?} {sampler:?} {request:?}");
            bytes += 1;
        }
    }
    assert!(compared > 500 && bytes > 100, "{compared} {bytes}");
}

/// Texels that are all the same make the same again, exactly, under every filter.
#[test]
fn what_is_flat_stays_flat() {
    let mut noise = Noise(0xabcd_ef01);
    for _ in 0..20_000 {
        let image = image(&mut noise);
        let mut sampler = Sampler::decode(words(&mut noise), image.generation);
        sampler.clamp = [Default::default(); 3];
        let mut request = request(&mut noise);
        request.reference = None;
        let value = f32::from_bits(noise.bits() & 0x7eff_ffff);
        let mut plain = image;
        plain.selects = [4, 5, 6, 7];
        let got = sample(&plain, &sampler, &request, &mut |_| Ok::<_, Unsupported>([value.to_bits(); 4]));
        assert_eq!(got, Ok([value.to_bits(); 4]), "{value:e} {sampler:?} {request:?}");
    }
}

/// Coordinates that are no numbers, or none that count texels, are the first texel where positions repeat, and one of the
/// ends elsewhere; repetitions far away are exact.
#[test]
fn coordinates_far_away() {
    let picture = super::Picture::new(Shape::row(super::floats(), 6));
    use gcnjit_rt::image::sampler::Clamp;
    let texel = |clamp, u: f32, unnormalized| {
        let sampler = Sampler { clamp: [clamp; 3], unnormalized, ..sampler(false) };
        let got = picture.sample(&sampler, &super::at([u, 0.0, 0.0]));
        picture.levels[0].texels.iter().position(|texel| *texel == got).unwrap()
    };
    for (clamp, low, high) in [(Clamp::Wrap, 0, 0), (Clamp::LastTexel, 0, 5), (Clamp::MirrorOnceLastTexel, 5, 5)] {
        assert_eq!(texel(clamp, f32::NAN, false), 0, "{clamp:?}");
        assert_eq!(texel(clamp, f32::NEG_INFINITY, false), low, "{clamp:?}");
        assert_eq!(texel(clamp, f32::INFINITY, false), high, "{clamp:?}");
        assert_eq!([texel(clamp, f32::MIN, false), texel(clamp, f32::MAX, false)], [low, high], "{clamp:?}");
    }
    // 2^60 is 4 mod 6, and 4 mod 12.
    for clamp in [Clamp::Wrap, Clamp::Mirror] {
        assert_eq!(texel(clamp, 2f32.powi(60), true), 4);
    }
    // −2^60 is 2 mod 6, and 8 mod 12, which is mirrored to 3.
    assert_eq!([texel(Clamp::Wrap, -(2f32.powi(60)), true), texel(Clamp::Mirror, -(2f32.powi(60)), true)], [2, 3]);
}
