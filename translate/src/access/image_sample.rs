//! MIMG with a sampler: sample, gather, get_lod. [`gcnjit_rt::image`] samples one lane; here its request is put
//! together, with what it needs of the other lanes of its quad (four consecutive lanes), active or not.
//!
//! It runs under the host's float modes.

use super::Bad;
use super::image::{ImageAccess, Parts, Results};
use super::lanes::each;
use crate::libcall;
use gcnjit_isa::{Gen, ImageLevel, ImageWork};
use gcnjit_rt::image::{self, BorderColors, Bordered, Detail, Gradients, Image, Plane, Request, Sampler, Texel};
use gcnjit_rt::{Cursor, Env, Wave};
use half::f16;

/// What samples read.
struct Memory<'a> {
    cursor: Cursor<'a>,
    border_colors: BorderColors,
}

impl Memory<'_> {
    fn border(&self, entry: u16) -> Result<[u32; 4], image::Bad> {
        self.border_colors.read(&self.cursor, entry)
    }
}

/// Samples all active lanes, in the host's float modes.
pub(super) fn run(a: &ImageAccess, image: &Image, parts: &Parts, wave: &Wave, env: &Env<'_>) -> Result<Results, Bad> {
    let guest = libcall::enter_host_fenv();
    let results = lanes(a, image, parts, wave, env);
    libcall::set_mxcsr(guest);
    results
}

fn lanes(a: &ImageAccess, image: &Image, parts: &Parts, wave: &Wave, env: &Env<'_>) -> Result<Results, Bad> {
    let sampler = sampler(a, wave, env.target.generation());
    let image = &image::sampled(image.clone(), &sampler).map_err(|what| {
        let image::Bad { cause, address } = what.into();
        Bad { cause, address, lane: wave.exec().trailing_zeros() & 63 }
    })?;
    let memory = &Memory { cursor: Cursor::new(env.memory), border_colors: env.border_colors };
    let plain = a.form.work == ImageWork::Sample && parts.compare.is_none() && parts.offset.is_none();
    let plane = plain.then(|| Plane::of(image, &sampler, a.unorm)).flatten();
    let mut fetch = |texel: Texel| image.fetch(&memory.cursor, texel);
    let mut bytes = |texel: Texel| {
        let address = image.address(texel);
        memory.cursor.dword(address).map_err(|cause| image::Bad { cause, address })
    };
    let mut results = [[0; 64]; 4];
    let mut quad = Quad { first: usize::MAX, gradients: Gradients::default() };
    for lane in each(wave.exec()) {
        let [x, y] = [0, 1].map(|i| float(parts, parts.body(wave, i, lane)));
        let short = |plane: &Plane<'_>| match plane.has_bytes() {
            true => plane.sample_bytes([x, y], &mut bytes),
            false => plane.sample([x, y], &mut fetch),
        };
        let values = match plane.as_ref().and_then(short) {
            Some(values) => values,
            None => one(a, image, &sampler, &request(a, parts, wave, lane, &mut quad), memory),
        };
        let values = values.map_err(|bad| Bad { cause: bad.cause, address: bad.address, lane: lane as u32 })?;
        let values = if gathers(a.form.work) { values } else { a.asked(values) };
        // A level of detail is a float whatever the image's components are.
        let float = |x: u32| f16::from_f32(f32::from_bits(x)).to_bits();
        match a.form.work {
            ImageWork::GetLod => a.put(&mut results, lane, values, float),
            _ => a.put(&mut results, lane, values, |x| image.format.to_half(x)),
        }
    }
    Ok(results)
}

/// Whether the results are one component of several texels: DMASK says which one, not which results there are.
fn gathers(work: ImageWork) -> bool {
    matches!(work, ImageWork::Gather | ImageWork::GatherRow { packed: false, .. })
}

fn sampler(a: &ImageAccess, wave: &Wave, generation: Gen) -> Sampler {
    let at = a.sampler.unwrap_or(0);
    Sampler::decode(std::array::from_fn(|i| wave.sgpr[at + i]), generation)
}

/// What a lane's registers get, before DMASK where it chooses among components of a result.
fn one(
    a: &ImageAccess,
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    memory: &Memory<'_>,
) -> Result<[u32; 4], image::Bad> {
    let source =
        &mut Bordered { texel: |texel| image.fetch(&memory.cursor, texel), border: |entry| memory.border(entry) };
    // Of several components that are asked for, a gather has the first; of none, zeros.
    let component = a.dmask.trailing_zeros() as usize;
    match a.form.work {
        ImageWork::GetLod => Ok(image::level_of_detail(image, sampler, request)),
        work if gathers(work) && component > 3 => Ok([0; 4]),
        ImageWork::Gather => image::gather(image, sampler, request, component, source),
        ImageWork::GatherRow { packed: false, .. } => {
            let row = image::gather_row::<4, _>(image, sampler, request, source)?;
            Ok(row.map(|texel| image.select(texel)[component]))
        }
        ImageWork::GatherRow { texels: 4, .. } => bits::<4>(image, sampler, request, memory),
        ImageWork::GatherRow { .. } => bits::<8>(image, sampler, request, memory),
        _ => image::sample(image, sampler, request, source),
    }
}

/// The first dwords of what the texels of a row are in memory, one behind the other.
fn bits<const N: usize>(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    memory: &Memory<'_>,
) -> Result<[u32; 4], image::Bad> {
    let bytes = image.format.bytes();
    let texel = |texel: Texel| {
        let (address, mut element) = (image.address(texel), [0u8; 16]);
        memory.cursor.read(address, &mut element[..bytes]).map_err(|cause| image::Bad { cause, address })?;
        Ok::<_, image::Bad>(std::array::from_fn(|i| word(&element, i)))
    };
    let source = &mut Bordered { texel, border: |entry| memory.border(entry) };
    let row = image::gather_row::<N, _>(image, sampler, request, source)?;
    let mut stream = [0u8; 16 * 8];
    for (i, texel) in row.iter().enumerate() {
        for (k, byte) in stream[i * bytes..][..bytes].iter_mut().enumerate() {
            *byte = texel[k / 4].to_le_bytes()[k % 4];
        }
    }
    Ok(std::array::from_fn(|i| word(&stream, i)))
}

fn word(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
}

/// The derivatives that the lanes of a quad share.
struct Quad {
    first: usize,
    gradients: Gradients,
}

/// A float of an address.
fn float(parts: &Parts, bits: u32) -> f32 {
    if parts.is_a16() { f16::from_bits(bits as u16).to_f32() } else { f32::from_bits(bits) }
}

fn request(a: &ImageAccess, parts: &Parts, wave: &Wave, lane: usize, quad: &mut Quad) -> Request {
    let form = a.form;
    let body = |i: usize| float(parts, parts.body(wave, i, lane));
    let last = || parts.level.map_or(0.0, body);
    let bias = parts.bias.map_or(0.0, |part| float(parts, parts.value(wave, part, 0, lane)));
    let detail = match form.level {
        ImageLevel::Zero => Detail::Zero,
        ImageLevel::Given => Detail::Given(last()),
        ImageLevel::Derivatives => Detail::Footprint { gradients: given(a, parts, wave, lane), bias },
        ImageLevel::Computed => {
            if quad.first != lane & !3 {
                *quad = Quad { first: lane & !3, gradients: across(parts, wave, lane & !3) };
            }
            Detail::Footprint { gradients: quad.gradients, bias }
        }
    };
    Request {
        coordinates: coordinates(parts, wave, lane),
        slice: parts.slice.map_or(0.0, body),
        offset: parts.offset.map_or([0; 3], |part| Request::offsets(wave.vgpr[part & 255][lane])),
        detail,
        min_lod: if form.clamp { last() } else { 0.0 },
        unnormalized: a.unorm,
        reference: parts.compare.map(|part| f32::from_bits(wave.vgpr[part & 255][lane])),
    }
}

fn coordinates(parts: &Parts, wave: &Wave, lane: usize) -> [f32; 3] {
    std::array::from_fn(|i| if i < parts.coordinates { float(parts, parts.body(wave, i, lane)) } else { 0.0 })
}

/// The differences of the coordinates in a quad.
fn across(parts: &Parts, wave: &Wave, first: usize) -> Gradients {
    Gradients::of_quad(std::array::from_fn(|i| coordinates(parts, wave, first + i)))
}

/// The derivatives in registers: the lane's own, or if the quad has one pair (`_cd`) those of its first active lane.
fn given(a: &ImageAccess, parts: &Parts, wave: &Wave, lane: usize) -> Gradients {
    let lane = match a.form.coarse {
        true => lane & !3 | (wave.exec() >> (lane & !3) & 15).trailing_zeros() as usize,
        false => lane,
    };
    let [x, y] = parts.derivatives.unwrap_or_default().map(|part| {
        let value = |i: usize| float(parts, parts.value(wave, part, i, lane));
        std::array::from_fn(|i| if i < parts.coordinates { value(i) } else { 0.0 })
    });
    Gradients::new(x, y)
}
