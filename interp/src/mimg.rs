//! MIMG: image memory.
//!
//! `crate::image` finds out what a lane's registers say, [`gcnjit_rt::image`] what the bits of texels mean and how
//! samplers work. Here is what is between: components and DMASK, 16-bit components, the order of checks and accesses.
//! A texel that is out of range reads 0, before the resource's selects, and is not written. DMASK's lowest bit is for
//! the first component; a component without a register is 0 in memory. All memory is resident: TFE and LWE, which
//! report that a texel was not, never have anything to report, and the register behind the data stays as it is.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::atomic::{self, Update};
use crate::dispatch::vector;
use crate::image::{Operation, data_mask};
use crate::memory::{self, AtomicData, Place, Shape, form};
use crate::run::Machine;
use crate::sample::sample;
use gcnjit_isa::image::flag;
use gcnjit_isa::{Access, Inst};
use gcnjit_rt::buffer::unselect;
use gcnjit_rt::image::{Bad, Dim, Texel, Unsupported};
use gcnjit_rt::{Cause, LANES, Trap};

gcnjit_isa::mimg! { vector }

/// The places of the active lanes' texels.
struct Texels {
    texels: [Option<Texel>; LANES],
    places: [Place; LANES],
    /// Bytes of one.
    shape: Shape,
}

impl Texels {
    fn new(m: &Machine<'_>, operation: &Operation) -> Texels {
        let mut texels = [None; LANES];
        let mut places = [Place::Nowhere; LANES];
        for lane in m.active() {
            texels[lane] = operation.texel(&operation.address(m, lane));
            if let Some(texel) = texels[lane] {
                places[lane] = Place::Memory(operation.image.address(texel));
            }
        }
        Texels { texels, places, shape: Shape::whole(operation.image.format.bytes()) }
    }
}

/// The fault of an access to an image.
pub(crate) fn fault(m: &Machine<'_>, bad: Bad, lane: usize) -> Trap {
    m.fault(bad.cause, bad.address, lane)
}

/// Registers that the components take, without the one of TFE.
pub(crate) fn dwords(m: &Machine<'_>, inst: &Inst) -> usize {
    inst.data_dwords(m.env.target) as usize - usize::from(inst.mem().tfe)
}

/// Puts the components of a lane that DMASK asks for into the result buffer.
pub(crate) fn set(m: &mut Machine<'_>, inst: &Inst, lane: usize, components: [u32; 4], to_half: impl Fn(u32) -> u16) {
    let dmask = inst.mem().dmask;
    let asked: Vec<u32> = (0..4).filter(|i| dmask >> i & 1 != 0).map(|i| components[i]).collect();
    spread(m, inst, lane, &asked, to_half);
}

/// Puts a lane's values into the result buffer: a dword each, or with D16 half a dword.
pub(crate) fn spread(m: &mut Machine<'_>, inst: &Inst, lane: usize, values: &[u32], to_half: impl Fn(u32) -> u16) {
    let rows = &mut m.buffers.dst[0];
    let per = if inst.data_dwords(m.env.target) < values.len() as u32 + u32::from(inst.mem().tfe) { 2 } else { 1 };
    let d16 = inst.mem().flags & flag::D16 != 0;
    rows.iter_mut().for_each(|row| row[lane] = 0);
    for (i, value) in values.iter().enumerate() {
        let bits = if d16 { u32::from(to_half(*value)) } else { *value };
        rows[i / per][lane] |= bits << (16 * (i % per));
    }
}

fn load(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if m.wave.exec() == 0 {
        return Ok(());
    }
    let operation = Operation::new(m, inst)?;
    let Texels { texels, places, shape } = Texels::new(m, &operation);
    memory::note(m, Access::Load, shape, &|lane, _| places[lane], 0);
    let (image, form) = (&operation.image, operation.form);
    for lane in m.active() {
        let components = match texels[lane] {
            Some(texel) if form.raw => raw(m, image.address(texel), shape.bytes, form.signed),
            Some(texel) => image.fetch(&m.memory, texel).map(|texel| image.select(texel)),
            None if form.raw => Ok([0; 4]),
            None => Ok(image.select([0; 4])),
        };
        let components = components.map_err(|bad| fault(m, bad, lane))?;
        set(m, inst, lane, components, |x| image.format.to_half(x));
    }
    let dwords = dwords(m, inst);
    memory::write_back(m, inst.dst[0], dwords);
    Ok(())
}

/// The dwords of a texel as they are in memory; one of less than a dword may be sign-extended.
pub(crate) fn raw(m: &Machine<'_>, address: u64, bytes: usize, signed: bool) -> Result<[u32; 4], Bad> {
    let mut element = [0; 16];
    m.memory.read(address, &mut element[..bytes]).map_err(|cause| Bad { cause, address })?;
    let mut dwords = [0, 1, 2, 3].map(|i| memory::dword_at(&element, i));
    if signed && bytes < 4 {
        let unused = 32 - 8 * bytes as u32;
        dwords[0] = ((dwords[0] << unused) as i32 >> unused) as u32;
    }
    Ok(dwords)
}

fn store(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if m.wave.exec() == 0 {
        return Ok(());
    }
    let operation = Operation::new(m, inst)?;
    let Texels { places, shape, .. } = Texels::new(m, &operation);
    let (image, dwords) = (&operation.image, dwords(m, inst));
    memory::read_registers(m, inst.src[3], dwords, 3);
    for lane in m.active() {
        let registers: [u32; 4] = std::array::from_fn(|i| m.buffers.src[3][i][lane]);
        let components = stored(inst, registers, dwords, |x| image.format.from_half(x));
        let element = if operation.form.raw {
            components.map(u32::to_le_bytes).concat().try_into().unwrap_or([0; 16])
        } else {
            let stored = image.format.store(unselect(image.selects, components));
            stored.map_err(|what| fault(m, Bad { cause: Cause::Image(what), address: image.base }, lane))?
        };
        for (i, row) in m.buffers.src[3].iter_mut().enumerate() {
            row[lane] = memory::dword_at(&element, i);
        }
    }
    memory::store_source(m, 3, shape, |lane, _| places[lane], form::low_part)
}

/// The components that are in a lane's registers; 0 for those that are not.
fn stored(inst: &Inst, registers: [u32; 4], dwords: usize, from_half: impl Fn(u16) -> u32) -> [u32; 4] {
    let mem = inst.mem();
    let packed = dwords < mem.dmask.count_ones() as usize;
    let mut components = [0; 4];
    let present = components.iter_mut().enumerate().filter(|(i, _)| mem.dmask >> i & 1 != 0);
    for (taken, (_, component)) in present.enumerate() {
        *component = match (mem.flags & flag::D16 != 0, packed) {
            (false, _) => registers[taken],
            (true, true) => from_half((registers[taken / 2] >> (16 * (taken % 2))) as u16),
            (true, false) => from_half(registers[taken] as u16),
        };
    }
    components
}

/// An atomic on words of one or two dwords.
fn update(m: &mut Machine<'_>, inst: &Inst, narrow: Update<u32>, wide: Update<u64>) -> Result<(), Trap> {
    if m.wave.exec() == 0 {
        return Ok(());
    }
    let operation = Operation::new(m, inst)?;
    let dwords = data_mask(inst).unwrap_or(1);
    let Texels { places, shape, .. } = Texels::new(m, &operation);
    if shape.bytes != 4 * dwords {
        let (data, number) = operation.image.format.fields();
        let cause = Cause::Image(Unsupported::Atomic { data, number });
        return Err(m.fault(cause, operation.image.base, m.active().next().unwrap_or(0)));
    }
    let data = AtomicData::Registers(3);
    match dwords {
        1 => memory::atomic(m, inst, data, |lane| places[lane], narrow),
        _ => memory::atomic(m, inst, data, |lane| places[lane], wide),
    }
}

/// Bodies of rows that are all done the same way.
macro_rules! bodies {
    ($($run:ident: $($name:ident)*;)*) => { $($(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            $run(m, inst)
        }
    )*)* };
}

/// Bodies of atomics: the function in [`crate::atomic`].
macro_rules! updates {
    ($($name:ident $update:ident;)*) => { $(
        pub fn $name(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
            update(m, inst, atomic::$update::<u32>, atomic::$update::<u64>)
        }
    )* };
}

updates! {
    image_atomic_swap swap;
    image_atomic_cmpswap cmpswap;
    image_atomic_add add;
    image_atomic_rsub rsub;
    image_atomic_sub sub;
    image_atomic_smin smin;
    image_atomic_umin umin;
    image_atomic_smax smax;
    image_atomic_umax umax;
    image_atomic_and and;
    image_atomic_or or;
    image_atomic_xor xor;
    image_atomic_inc inc;
    image_atomic_dec dec;
    image_atomic_fcmpswap fcmpswap;
    image_atomic_fmin fmin;
    image_atomic_fmax fmax;
}

/// Width, height, depth or slices, and the number of levels. A level that is not there has no size.
pub fn image_get_resinfo(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    if m.wave.exec() == 0 {
        return Ok(());
    }
    let operation = Operation::new(m, inst)?;
    let image = &operation.image;
    for lane in m.active() {
        let size = operation.level(operation.address(m, lane).level).map(|level| image.size(level));
        let layers = image.layers();
        let [width, height, depth] = match (image.dim, size) {
            (_, None) => [0; 3],
            (Dim::D1Array, Some([width, ..])) => [width, layers, 1],
            (Dim::D3, Some(size)) => size,
            (_, Some([width, height, _])) => [width, height, layers],
        };
        let levels = image.last_level - image.base_level + 1;
        set(m, inst, lane, [width, height, depth, levels], |x| x as u16);
    }
    let dwords = dwords(m, inst);
    memory::write_back(m, inst.dst[0], dwords);
    Ok(())
}

bodies! {
    load:
        image_load image_load_mip image_load_pck image_load_pck_sgn image_load_mip_pck image_load_mip_pck_sgn;
    store:
        image_store image_store_mip image_store_pck image_store_mip_pck;
    sample:
        image_sample image_sample_cl image_sample_d image_sample_d_cl image_sample_l image_sample_b image_sample_b_cl
        image_sample_lz image_sample_c image_sample_c_cl image_sample_c_d image_sample_c_d_cl image_sample_c_l
        image_sample_c_b image_sample_c_b_cl image_sample_c_lz image_sample_o image_sample_cl_o image_sample_d_o
        image_sample_d_cl_o image_sample_l_o image_sample_b_o image_sample_b_cl_o image_sample_lz_o image_sample_c_o
        image_sample_c_cl_o image_sample_c_d_o image_sample_c_d_cl_o image_sample_c_l_o image_sample_c_b_o
        image_sample_c_b_cl_o image_sample_c_lz_o image_gather4 image_gather4_cl image_gather4h image_gather4_l
        image_gather4_b image_gather4_b_cl image_gather4_lz image_gather4_c image_gather4_c_cl image_gather4h_pck
        image_gather8h_pck image_gather4_c_l image_gather4_c_b image_gather4_c_b_cl image_gather4_c_lz image_gather4_o
        image_gather4_cl_o image_gather4_l_o image_gather4_b_o image_gather4_b_cl_o image_gather4_lz_o
        image_gather4_c_o image_gather4_c_cl_o image_gather4_c_l_o image_gather4_c_b_o image_gather4_c_b_cl_o
        image_gather4_c_lz_o image_get_lod image_sample_cd image_sample_cd_cl image_sample_c_cd image_sample_c_cd_cl
        image_sample_cd_o image_sample_cd_cl_o image_sample_c_cd_o image_sample_c_cd_cl_o;
}
