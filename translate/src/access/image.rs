//! MIMG: images described by a T#, lane by lane.
//!
//! What an address consists of, and where it is in registers, follows from the operation, the image's dimension and DA;
//! [`Parts`] finds out once for all lanes. A16 shares each dword of derivatives and body between two values. An
//! address that the wave does not have all the registers of begins at v0. What is out of range reads 0 and is not
//! written. Nothing is ever missing in memory: TFE and LWE change nothing.

use super::address::Site;
use super::atomic::{self, Atomic, Kind};
use super::image_sample;
use super::lanes::each;
use super::pieces::{Cut, Pieces, Unit};
use super::select::{Selected, sgpr, vgpr};
use super::{Action, Bad, Fields};
use gcnjit_isa::image::flag;
use gcnjit_isa::{Gen, ImageForm, ImageLevel, ImageShape, ImageWork, Inst, Mimg, Operand, Target};
use gcnjit_rt::buffer::unselect;
use gcnjit_rt::image::{self, Dim, Format, Image, Texel, Unsupported};
use gcnjit_rt::{Cause, Cursor, Env, RegisterFile, Wave};

/// How components are in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Dword,
    /// The low half of a register each.
    Half,
    /// Two to a register.
    Packed,
}

/// A decoded image instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageAccess {
    pub form: ImageForm,
    /// First SGPRs of the resource, how many of it there are, and of the sampler if there is one.
    resource: usize,
    resource_words: usize,
    pub sampler: Option<usize>,
    /// First VGPR of the address.
    address: u8,
    /// First VGPR of the components, and how many registers they take.
    pub data: usize,
    pub dwords: usize,
    width: Width,
    pub dmask: u8,
    array: bool,
    a16: bool,
    /// Coordinates count texels.
    pub unorm: bool,
    atomic: Option<Atomic>,
}

pub(super) fn select(op: Mimg, inst: &Inst, target: Target) -> Selected {
    let (form, mem, generation) = (op.form(), inst.mem(), target.generation());
    let on = |bit: u8| mem.flags & bit != 0;
    let d16 = on(flag::D16);
    if d16 && (generation < Gen::Gfx8 || form.raw || matches!(form.work, ImageWork::Atomic | ImageWork::ResInfo)) {
        return Err("D16 of this operation");
    }
    let dwords = (inst.data_dwords(target) - u32::from(mem.tfe)) as usize;
    let packs = generation == Gen::Gfx9 || target == Target::Gfx810;
    let width = match (d16, packs) {
        (false, _) => Width::Dword,
        (true, false) => Width::Half,
        (true, true) => Width::Packed,
    };
    let stored = inst.src[3] != Operand::None;
    let data = vgpr(if stored { inst.src[3] } else { inst.dst[0] }, dwords)?;
    let resource_words = if generation < Gen::Gfx9 && on(flag::R128) { 4 } else { 8 };
    let Operand::Vgpr(address) = inst.src[0] else { return Err("address outside of VGPRs") };
    let access = ImageAccess {
        form,
        resource: sgpr(inst.src[1], resource_words)?,
        resource_words,
        sampler: if form.samples() { Some(sgpr(inst.src[2], 4)?) } else { None },
        address,
        data,
        dwords,
        width,
        dmask: mem.dmask,
        array: on(flag::ARRAY),
        a16: generation == Gen::Gfx9 && on(flag::A16),
        unorm: on(flag::UNORM),
        atomic: kind(op).map(|kind| atomic_of(kind, data, mem.dmask, inst.dst[0])).transpose()?,
    };
    Ok((run, Fields::new(generation, mem, Action::Image(access), data)))
}

fn kind(op: Mimg) -> Option<Kind> {
    use {Kind::*, Mimg::*};
    Some(match op {
        image_atomic_swap => Swap,
        image_atomic_cmpswap => CmpSwap,
        image_atomic_add => Add,
        image_atomic_rsub => RSub,
        image_atomic_sub => Sub,
        image_atomic_smin => SMin,
        image_atomic_umin => UMin,
        image_atomic_smax => SMax,
        image_atomic_umax => UMax,
        image_atomic_and => And,
        image_atomic_or => Or,
        image_atomic_xor => Xor,
        image_atomic_inc => Inc,
        image_atomic_dec => Dec,
        image_atomic_fcmpswap => FCmpSwap,
        image_atomic_fmin => FMin,
        image_atomic_fmax => FMax,
        _ => return None,
    })
}

/// The registers of an atomic: DMASK has a bit for each dword of its data.
fn atomic_of(kind: Kind, a: usize, dmask: u8, result: Operand) -> Result<Atomic, &'static str> {
    let two = matches!(kind, Kind::CmpSwap | Kind::FCmpSwap);
    let wide = match (dmask, two) {
        (0b0001, false) | (0b0011, true) => false,
        (0b0011, false) | (0b1111, true) => true,
        _ => return Err("an atomic with this DMASK"),
    };
    let regs = if wide { 2 } else { 1 };
    let result = if result == Operand::None { None } else { Some(vgpr(result, regs)?) };
    Ok(Atomic { kind, wide, a, b: if two { a + regs } else { a }, result })
}

impl ImageAccess {
    /// The VGPRs that may be written.
    pub(super) fn writes(&self) -> std::ops::Range<usize> {
        match (self.form.work, self.atomic) {
            (ImageWork::Store, _) => 0..0,
            (_, Some(atomic)) => atomic.result.map_or(0..0, |first| first..first + atomic.regs()),
            _ => self.data..self.data + self.dwords,
        }
    }

    fn image(&self, wave: &Wave, generation: Gen) -> Result<Image, Bad> {
        let mut words = [0; 8];
        words[..self.resource_words].copy_from_slice(&wave.sgpr[self.resource..][..self.resource_words]);
        Image::decode(words, generation, self.resource_words == 4).map_err(|what| {
            let address = (u64::from(words[1]) << 32 | u64::from(words[0])) << 8 & 0xffff_ffff_ffff;
            Bad { cause: Cause::Image(what), address, lane: first(wave) }
        })
    }

    /// The components that DMASK asks for, one behind the other.
    pub(super) fn asked(&self, components: [u32; 4]) -> [u32; 4] {
        let mut asked = [0; 4];
        let chosen = (0..4).filter(|i| self.dmask >> i & 1 != 0).map(|i| components[i]);
        asked.iter_mut().zip(chosen).for_each(|(to, component)| *to = component);
        asked
    }

    /// Puts values, in the order of the registers, into a lane of the results.
    #[inline]
    pub(super) fn put(&self, results: &mut Results, lane: usize, values: [u32; 4], to_half: impl Fn(u32) -> u16) {
        let values = match self.width {
            Width::Dword => values,
            Width::Half => values.map(|x| to_half(x).into()),
            Width::Packed => {
                let [a, b, c, d] = values.map(|x| u32::from(to_half(x)));
                [a | b << 16, c | d << 16, 0, 0]
            }
        };
        for (row, value) in results.iter_mut().zip(values) {
            row[lane] = value;
        }
    }

    /// Moves the results of the active lanes to their registers.
    fn deliver(&self, wave: &mut Wave, results: &Results) {
        let exec = wave.exec();
        for (k, row) in results.iter().enumerate().take(self.dwords) {
            let to = &mut wave.vgpr[(self.data + k) & 255];
            each(exec).for_each(|lane| to[lane] = row[lane]);
        }
    }

    /// The components that a lane stores; 0 where it has none.
    fn stored(&self, wave: &Wave, lane: usize, format: &Format) -> [u32; 4] {
        let register = |k: usize| wave.vgpr[(self.data + k) & 255][lane];
        let before = |i: usize| (self.dmask & ((1 << i) - 1)).count_ones() as usize;
        std::array::from_fn(|i| match self.width {
            _ if self.dmask >> i & 1 == 0 => 0,
            Width::Dword => register(before(i)),
            Width::Half => format.from_half(register(before(i)) as u16),
            Width::Packed => format.from_half((register(before(i) / 2) >> (before(i) % 2 * 16)) as u16),
        })
    }
}

/// Rows of results, before they are in registers.
pub(super) type Results = [[u32; 64]; 4];

/// The first active lane.
fn first(wave: &Wave) -> u32 {
    wave.exec().trailing_zeros() & 63
}

/// Where the parts of an address are: the VGPR that each begins with.
pub(super) struct Parts {
    pub offset: Option<usize>,
    pub bias: Option<usize>,
    pub compare: Option<usize>,
    /// To the right and downwards.
    pub derivatives: Option<[usize; 2]>,
    body: usize,
    /// How many coordinates there are in a derivative, and in the body before other values.
    pub coordinates: usize,
    /// Places of other values in the body.
    pub slice: Option<usize>,
    fragment: Option<usize>,
    pub level: Option<usize>,
    a16: bool,
}

impl Parts {
    pub(super) fn new(access: &ImageAccess, dim: Dim, registers: RegisterFile) -> Parts {
        let form = access.form;
        let coordinates = match dim {
            Dim::D3 => 3,
            _ if dim.has_rows() => 2,
            _ => 1,
        };
        let shape = ImageShape { coordinates, slice: access.array && dim != Dim::D3, fragment: dim.is_msaa() };
        let whole = registers.vgpr(access.address.into(), form.address_dwords(shape, access.a16));
        let mut next = if whole.is_some() { usize::from(access.address) } else { 0 };
        let mut take = |present: bool, dwords: u32| {
            let at = next;
            next += if present { dwords as usize } else { 0 };
            present.then_some(at)
        };
        let offset = take(form.offset, 1);
        let bias = take(form.bias, 1);
        let compare = take(form.compare, 1);
        let slopes = form.derivative_dwords(shape, access.a16);
        let derivatives = take(slopes != 0, slopes).zip(take(slopes != 0, slopes)).map(|(x, y)| [x, y]);
        let mut places = if form.work == ImageWork::ResInfo { 0 } else { coordinates as usize };
        let mut place = |present: bool| {
            let at = places;
            places += usize::from(present);
            present.then_some(at)
        };
        let located = form.work != ImageWork::ResInfo;
        Parts {
            offset,
            bias,
            compare,
            derivatives,
            body: next,
            coordinates: coordinates as usize,
            slice: place(located && shape.slice),
            fragment: place(located && shape.fragment && !form.samples()),
            level: place(form.mip || form.clamp || form.level == ImageLevel::Given || !located),
            a16: access.a16,
        }
    }

    /// Whether values are of 16 bits.
    pub(super) fn is_a16(&self) -> bool {
        self.a16
    }

    /// Value `i` of a part, as it is.
    #[inline(always)]
    pub(super) fn value(&self, wave: &Wave, part: usize, i: usize, lane: usize) -> u32 {
        match self.a16 {
            false => wave.vgpr[(part + i) & 255][lane],
            true => wave.vgpr[(part + i / 2) & 255][lane] >> (16 * (i % 2)) & 0xffff,
        }
    }

    /// Value `i` of the body.
    #[inline(always)]
    pub(super) fn body(&self, wave: &Wave, i: usize, lane: usize) -> u32 {
        self.value(wave, self.body, i, lane)
    }

    fn optional(&self, wave: &Wave, place: Option<usize>, lane: usize) -> u32 {
        place.map_or(0, |i| self.body(wave, i, lane))
    }

    /// The texel of a lane; `None` if it is out of range.
    fn texel(&self, wave: &Wave, image: &Image, lane: usize) -> Option<Texel> {
        let mip = self.optional(wave, self.level, lane);
        if mip > image.last_level - image.base_level {
            return None;
        }
        let level = image.base_level + mip;
        let mut texel = Texel { level, ..Texel::default() };
        for (i, to) in [&mut texel.x, &mut texel.y, &mut texel.z].into_iter().enumerate().take(self.coordinates) {
            *to = self.body(wave, i, lane);
            if *to >= image.size(level)[i] {
                return None;
            }
        }
        if image.dim.has_slices() {
            let index = self.optional(wave, self.slice, lane);
            texel.z = image.base_array + slice_number(image.dim, index).filter(|slice| *slice < image.layers())?;
        }
        if image.dim.is_msaa() {
            texel.sample = self.optional(wave, self.fragment, lane);
            if texel.sample >= image.samples {
                return None;
            }
        }
        Some(texel)
    }
}

/// The number of a slice, counted from the first that can be addressed. The index of a cube is 8 · cube + face.
fn slice_number(dim: Dim, index: u32) -> Option<u32> {
    match (dim, index & 7) {
        (Dim::Cube, 6 | 7) => None,
        (Dim::Cube, face) => Some((index >> 3) * 6 + face),
        _ => Some(index),
    }
}

unsafe fn run(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let Action::Image(access) = &f.action else { return Ok(()) };
    if wave.exec() == 0 {
        return Ok(());
    }
    let image = access.image(wave, f.generation)?;
    let parts = Parts::new(access, image.dim, env.registers);
    let results = match access.form.work {
        ImageWork::Load => load(access, &image, &parts, wave, env)?,
        ImageWork::ResInfo => info(access, &image, &parts, wave),
        ImageWork::Store => return store(access, &image, &parts, wave, env),
        ImageWork::Atomic => return update(access, &image, &parts, wave, env),
        _ => image_sample::run(access, &image, &parts, wave, env)?,
    };
    access.deliver(wave, &results);
    Ok(())
}

fn load(a: &ImageAccess, image: &Image, parts: &Parts, wave: &Wave, env: &Env<'_>) -> Result<Results, Bad> {
    let cursor = Cursor::new(env.memory);
    let mut results = [[0; 64]; 4];
    for lane in each(wave.exec()) {
        let bad = |bad: image::Bad| Bad { cause: bad.cause, address: bad.address, lane: lane as u32 };
        let components = match parts.texel(wave, image, lane) {
            Some(texel) if a.form.raw => raw(a, image, &cursor, texel).map_err(bad)?,
            Some(texel) => image.select(image.fetch(&cursor, texel).map_err(bad)?),
            None if a.form.raw => [0; 4],
            None => image.select([0; 4]),
        };
        a.put(&mut results, lane, a.asked(components), |x| image.format.to_half(x));
    }
    Ok(results)
}

/// An element's dwords as they are in memory.
fn raw(a: &ImageAccess, image: &Image, cursor: &Cursor<'_>, texel: Texel) -> Result<[u32; 4], image::Bad> {
    let (address, bytes) = (image.address(texel), image.format.bytes());
    let mut element = [0; 16];
    cursor.read(address, &mut element[..bytes]).map_err(|cause| image::Bad { cause, address })?;
    let whole = u128::from_le_bytes(element);
    let low = match (a.form.signed, bytes) {
        (true, 1) => whole as i8 as u32,
        (true, 2) => whole as i16 as u32,
        _ => whole as u32,
    };
    Ok([low, (whole >> 32) as u32, (whole >> 64) as u32, (whole >> 96) as u32])
}

/// The pieces of memory that are written, after all lanes were checked.
fn pieces(image: &Image, parts: &Parts, wave: &Wave, env: &Env<'_>, atomic: bool) -> Result<Box<Pieces>, Bad> {
    let bytes = image.format.bytes();
    let find = |lane: usize, _: usize| match parts.texel(wave, image, lane) {
        Some(texel) => Unit::Memory(image.address(texel), bytes as u64),
        None => Unit::Nowhere,
    };
    Pieces::new(env, wave.exec(), Cut { units: 1, bytes: bytes as u32, write: true, atomic }, find)
}

fn store(a: &ImageAccess, image: &Image, parts: &Parts, wave: &Wave, env: &Env<'_>) -> Result<(), Bad> {
    if !a.form.raw
        && let Err(what) = image.format.store([0; 4])
    {
        return Err(Bad { cause: Cause::Image(what), address: image.base, lane: first(wave) });
    }
    let pieces = pieces(image, parts, wave, env, false)?;
    let bytes = image.format.bytes();
    for lane in each(pieces.exec) {
        let at = pieces.at[0][lane];
        if at.is_null() {
            continue;
        }
        let components = a.stored(wave, lane, &image.format);
        let element: [u8; 16] = match a.form.raw {
            true => std::array::from_fn(|i| components[i / 4].to_le_bytes()[i % 4]),
            false => image.format.store(unselect(image.selects, components)).unwrap_or_default(),
        };
        // SAFETY: `Pieces` checked that many bytes there.
        unsafe { at.copy_from_nonoverlapping(element.as_ptr(), bytes) };
    }
    Ok(())
}

fn update(a: &ImageAccess, image: &Image, parts: &Parts, wave: &mut Wave, env: &Env<'_>) -> Result<(), Bad> {
    let Some(atomic) = a.atomic else { return Ok(()) };
    if image.format.bytes() != atomic.bytes() as usize {
        let (data, number) = image.format.fields();
        let cause = Cause::Image(Unsupported::Atomic { data, number });
        return Err(Bad { cause, address: image.base, lane: first(wave) });
    }
    let pieces = pieces(image, parts, wave, env, true)?;
    // SAFETY: `Pieces` checked all that is not null, and that it is aligned; selection found that the registers exist.
    unsafe { atomic::run_pieces(&atomic, wave, env.lds.whole(), &pieces) };
    Ok(())
}

/// The size of a level, of the lanes that ask for one that is there, and the number of levels.
fn info(a: &ImageAccess, image: &Image, parts: &Parts, wave: &Wave) -> Results {
    let mut results = [[0; 64]; 4];
    let levels = image.last_level - image.base_level + 1;
    for lane in each(wave.exec()) {
        let level = parts.optional(wave, parts.level, lane);
        let mut size = [0; 3];
        if level < levels {
            size = image.size(image.base_level + level);
            match image.dim {
                Dim::D3 => {}
                Dim::D1Array => size[1] = image.layers(),
                _ => size[2] = image.layers(),
            }
        }
        a.put(&mut results, lane, a.asked([size[0], size[1], size[2], levels]), |x| x as u16);
    }
    results
}
