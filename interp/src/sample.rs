//! Image operations with a sampler: sample, gather, get_lod.
//!
//! [`gcnjit_rt::image`] samples one lane. Its request is put together here, from the lane's address and, where the level
//! of detail is computed, from the coordinates of the four consecutive lanes of its quad, active or not.

use crate::image::{Operation, words};
use crate::memory::{self, Place};
use crate::mimg::{dwords, fault, raw, set, spread};
use crate::observe::Touch;
use crate::run::Machine;
use gcnjit_isa::image::flag;
use gcnjit_isa::{Access, ImageLevel, ImageWork, Inst};
use gcnjit_rt::Trap;
use gcnjit_rt::image::{self, Bad, BorderColors, Bordered, Detail, Gradients, Request, Sampler, Texel, TexelSource};
use half::f16;

/// A lane's request to the sampler.
fn request(m: &Machine<'_>, inst: &Inst, operation: &Operation, lane: usize) -> Request {
    let float = f32::from_bits;
    let (form, own) = (operation.form, operation.address(m, lane));
    let quad = lane & !3;
    let footprint = |gradients| Detail::Footprint { gradients, bias: float(own.bias) };
    let detail = match form.level {
        ImageLevel::Zero => Detail::Zero,
        ImageLevel::Given => Detail::Given(float(own.level)),
        ImageLevel::Derivatives => {
            // Coarse ones are the same for a quad: those of its first active lane.
            let first = m.active().find(|active| *active >= quad).unwrap_or(lane);
            let from = if form.coarse { operation.address(m, first) } else { own };
            let [x, y] = from.derivatives.map(|direction| direction.map(float));
            footprint(Gradients::new(x, y))
        }
        ImageLevel::Computed => {
            let coordinates = |i: usize| operation.address(m, quad + i).coordinates.map(float);
            footprint(Gradients::of_quad([0, 1, 2, 3].map(coordinates)))
        }
    };
    Request {
        coordinates: own.coordinates.map(float),
        slice: float(own.slice),
        offset: Request::offsets(own.offset),
        detail,
        min_lod: if form.clamp { float(own.level) } else { 0.0 },
        unnormalized: inst.mem().flags & flag::UNORM != 0,
        reference: form.compare.then(|| float(own.compare)),
    }
}

/// A sampling operation of one lane.
struct Sample<'a> {
    m: &'a Machine<'a>,
    operation: &'a Operation,
    sampler: &'a Sampler,
    lane: usize,
    request: Request,
}

impl Sample<'_> {
    fn fetch(&self, texel: Texel) -> Result<[u32; 4], Bad> {
        self.note_texel(texel);
        self.operation.image.fetch(&self.m.memory, texel)
    }

    fn fetch_raw(&self, texel: Texel) -> Result<[u32; 4], Bad> {
        self.note_texel(texel);
        let image = &self.operation.image;
        raw(self.m, image.address(texel), image.format.bytes(), false)
    }

    fn border(&self, entry: u16) -> Result<[u32; 4], Bad> {
        let table = self.m.env.border_colors;
        self.note(table.address(entry)?, BorderColors::ENTRY);
        table.read(&self.m.memory, entry)
    }

    fn note_texel(&self, texel: Texel) {
        let image = &self.operation.image;
        self.note(image.address(texel), image.format.bytes());
    }

    fn note(&self, address: u64, bytes: usize) {
        let Some(log) = self.m.log else { return };
        let (lane, place) = (Some(self.lane), Place::Memory(address));
        log.add(Touch { access: Access::Load, lane, place, bytes, dword: 0, data: 0 });
    }

    /// Texels as the format has them, and border colours.
    fn source(&self) -> impl TexelSource<Error = Bad> {
        Bordered { texel: |texel| self.fetch(texel), border: |entry| self.border(entry) }
    }

    /// What the sampler makes of the texels, with the destination selects applied.
    fn filtered(&self) -> Result<[u32; 4], Bad> {
        image::sample(&self.operation.image, self.sampler, &self.request, &mut self.source())
    }

    /// Component `i` of the texels of a square or row.
    fn gathered(&self, i: usize) -> Result<[u32; 4], Bad> {
        let (image, request) = (&self.operation.image, &self.request);
        if self.operation.form.work == ImageWork::Gather {
            return image::gather(image, self.sampler, request, i, &mut self.source());
        }
        let row = image::gather_row::<4, _>(image, self.sampler, request, &mut self.source())?;
        Ok(row.map(|texel| image.select(texel)[i]))
    }

    /// The first four dwords of the texels of a row as they are in memory, one behind the other.
    fn packed<const N: usize>(&self) -> Result<[u32; 4], Bad> {
        let image = &self.operation.image;
        let source = &mut Bordered { texel: |texel| self.fetch_raw(texel), border: |entry| self.border(entry) };
        let row: [[u32; 4]; N] = image::gather_row(image, self.sampler, &self.request, source)?;
        let bytes = row.map(|texel| texel.map(u32::to_le_bytes).concat());
        let stream: Vec<u8> = bytes.iter().flat_map(|texel| texel[..image.format.bytes()].iter().copied()).collect();
        let byte = |i: usize| stream.get(i).copied().unwrap_or(0);
        Ok(std::array::from_fn(|i| u32::from_le_bytes([0, 1, 2, 3].map(|k| byte(4 * i + k)))))
    }
}

/// Executes one of them.
pub(crate) fn sample(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if m.wave.exec() == 0 {
        return Ok(());
    }
    let mut operation = Operation::new(m, inst)?;
    let sampler = Sampler::decode(words(m, inst, inst.src[2])?, m.env.target.generation());
    operation.image = image::sampled(operation.image, &sampler)
        .map_err(|what| fault(m, what.into(), m.active().next().unwrap_or(0)))?;
    // Of several components that a gather is asked for it returns the first; of none, zeros.
    let component = inst.mem().dmask.trailing_zeros() as usize;
    for lane in m.active() {
        let request = request(m, inst, &operation, lane);
        let one = Sample { m, operation: &operation, sampler: &sampler, lane, request };
        let result = match operation.form.work {
            ImageWork::Gather | ImageWork::GatherRow { packed: false, .. } if component > 3 => Ok([0; 4]),
            ImageWork::Gather | ImageWork::GatherRow { packed: false, .. } => one.gathered(component),
            ImageWork::GatherRow { texels: 4, .. } => one.packed::<4>(),
            ImageWork::GatherRow { .. } => one.packed::<8>(),
            ImageWork::GetLod => Ok(image::level_of_detail(&operation.image, &sampler, &one.request)),
            _ => one.filtered(),
        };
        let values = result.map_err(|bad| fault(m, bad, lane))?;
        let format = &operation.image.format;
        match operation.form.work {
            ImageWork::Gather | ImageWork::GatherRow { packed: false, .. } => {
                spread(m, inst, lane, &values, |x| format.to_half(x));
            }
            ImageWork::GetLod => set(m, inst, lane, values, |x| f16::from_f32(f32::from_bits(x)).to_bits()),
            _ => set(m, inst, lane, values, |x| format.to_half(x)),
        }
    }
    let dwords = dwords(m, inst);
    memory::write_back(m, inst.dst[0], dwords);
    Ok(())
}
