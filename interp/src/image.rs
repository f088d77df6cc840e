//! Image operations as far as all of them go the same way: what resource, name and modifiers say, and where the values
//! of a lane's address are. [`crate::mimg`] does with them what the rows ask for.
//!
//! The address is read value by value in the manual's order (SI manual 8.2.4, tables 8.8 and 8.9); A16 values are
//! widened on the way, so that who uses them sees integers, or with a sampler floats, of 32 bits. Without DA there is no
//! index in the registers, and it is 0; one for an image that has no slices is skipped. If the registers of an address
//! are not all the wave's own, it is read from v0 on.

use crate::run::Machine;
use gcnjit_isa::image::flag;
use gcnjit_isa::{Gen, ImageForm, ImageLevel, ImageShape, ImageWork, Inst, Op, Operand, Target};
use gcnjit_rt::image::{Dim, Image, Texel};
use gcnjit_rt::{Cause, Trap};
use half::f16;

/// An image operation and its resource.
pub(crate) struct Operation {
    /// What the name says.
    pub form: ImageForm,
    /// What the resource says.
    pub image: Image,
    /// Which values the body of an address has.
    shape: ImageShape,
    /// Addresses are 16-bit.
    a16: bool,
    /// First VGPR of the address.
    first: usize,
}

/// The values of a lane's address. Those that the operation does not have are 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Address {
    pub offset: u32,
    pub bias: u32,
    pub compare: u32,
    /// By x, then by y of the screen, of each coordinate.
    pub derivatives: [[u32; 3]; 2],
    pub coordinates: [u32; 3],
    pub slice: u32,
    pub fragment: u32,
    /// Level, level of detail, or its limit.
    pub level: u32,
}

/// Why an instruction has no meaning here, if it has none.
fn refusal(inst: &Inst, form: ImageForm, target: Target) -> Option<&'static str> {
    let mem = inst.mem();
    let words_only = form.raw || matches!(form.work, ImageWork::Atomic | ImageWork::ResInfo);
    if mem.flags & flag::D16 != 0 && (target.generation() < Gen::Gfx8 || words_only) {
        return Some("D16 of this operation");
    }
    if form.work == ImageWork::Atomic && data_mask(inst).is_none() {
        return Some("an atomic with this DMASK");
    }
    None
}

/// The dwords of an atomic's word, by DMASK: 1 or 2.
pub(crate) fn data_mask(inst: &Inst) -> Option<usize> {
    let two = inst.op.info().name.ends_with("cmpswap");
    match (inst.mem().dmask, two) {
        (0b0001, false) | (0b0011, true) => Some(1),
        (0b0011, false) | (0b1111, true) => Some(2),
        _ => None,
    }
}

/// `N` dwords from an SGPR operand on.
pub(crate) fn words<const N: usize>(m: &Machine<'_>, inst: &Inst, operand: Operand) -> Result<[u32; N], Trap> {
    let Operand::Sgpr(first) = operand else { return Err(m.unimplemented(inst, "descriptor outside of SGPRs")) };
    Ok(std::array::from_fn(|i| m.wave.sgpr[(usize::from(first) + i) & 127]))
}

impl Operation {
    /// The operation that `inst` is.
    ///
    /// # Errors
    /// If it, or the image that its resource describes, is not supported.
    pub fn new(m: &Machine<'_>, inst: &Inst) -> Result<Operation, Trap> {
        let Op::Mimg(op) = inst.op else { return Err(m.unimplemented(inst, "not an image operation")) };
        let (form, target, mem) = (op.form(), m.env.target, inst.mem());
        if let Some(what) = refusal(inst, form, target) {
            return Err(m.unimplemented(inst, what));
        }
        let old = target.generation() < Gen::Gfx9;
        let r128 = old && mem.flags & flag::R128 != 0;
        let mut resource: [u32; 8] = words(m, inst, inst.src[1])?;
        if r128 {
            resource[4..].fill(0);
        }
        let image = Image::decode(resource, target.generation(), r128).map_err(|what| {
            let base = u64::from(resource[0]) << 8 | u64::from(resource[1] & 0xff) << 40;
            m.fault(Cause::Image(what), base, m.active().next().unwrap_or(0))
        })?;
        let shape = shape(image.dim, mem.flags & flag::ARRAY != 0);
        let a16 = !old && mem.flags & flag::A16 != 0;
        let first = match inst.src[0] {
            Operand::Vgpr(first) => m.env.registers.vgpr(first.into(), form.address_dwords(shape, a16)),
            _ => None,
        };
        let first = if let Some(Operand::Vgpr(first)) = first { first.into() } else { 0 };
        Ok(Operation { form, image, shape, a16, first })
    }

    /// The registers that the address is in: the first, and how many.
    pub fn address_registers(&self) -> (usize, u32) {
        (self.first, self.form.address_dwords(self.shape, self.a16))
    }

    /// A lane's address.
    pub fn address(&self, m: &Machine<'_>, lane: usize) -> Address {
        let mut next = self.first;
        let mut dword = || {
            next += 1;
            m.wave.vgpr[(next - 1) & 255][lane]
        };
        let (form, shape) = (self.form, self.shape);
        let mut address = Address::default();
        if form.offset {
            address.offset = dword();
        }
        if form.bias {
            address.bias = self.values(1, &mut dword)[0];
        }
        if form.compare {
            address.compare = dword();
        }
        if form.level == ImageLevel::Derivatives {
            for direction in &mut address.derivatives {
                let values = self.values(shape.coordinates, &mut dword);
                direction.copy_from_slice(&values[..3]);
            }
        }
        let mut body = self.values(form.body(shape), &mut dword).into_iter();
        let mut value = |present: bool| if present { body.next().unwrap_or(0) } else { 0 };
        if form.work != ImageWork::ResInfo {
            address.coordinates = std::array::from_fn(|i| value((i as u32) < shape.coordinates));
            address.slice = value(shape.slice);
            address.fragment = value(shape.fragment && !form.samples());
        }
        address.level = value(true);
        address
    }

    /// The next `count` values, which begin in a dword of their own.
    fn values(&self, count: u32, dword: &mut impl FnMut() -> u32) -> [u32; 5] {
        let mut values = [0; 5];
        let mut shared = 0;
        for (i, value) in values.iter_mut().enumerate().take(count as usize) {
            if !self.a16 {
                *value = dword();
                continue;
            }
            shared = if i % 2 == 0 { dword() } else { shared >> 16 };
            let half = shared as u16;
            *value = if self.form.samples() { f16::from_bits(half).to_f32().to_bits() } else { half.into() };
        }
        values
    }

    /// The texel that a lane's integers name; `None` if there is no such texel.
    pub fn texel(&self, address: &Address) -> Option<Texel> {
        let image = &self.image;
        let level = self.level(address.level)?;
        let [width, height, depth] = image.size(level);
        let [x, y, z] = address.coordinates;
        let slice = match image.dim {
            // The index of a cube is 8 · cube + face; there are six faces.
            Dim::Cube if address.slice % 8 > 5 => return None,
            Dim::Cube => address.slice / 8 * 6 + address.slice % 8,
            dim if dim.has_slices() => address.slice,
            _ => 0,
        };
        let sample = if image.dim.is_msaa() { address.fragment } else { 0 };
        let inside = x < width && y < height && z < depth && slice < image.layers() && sample < image.samples;
        let first = if image.dim.has_slices() { image.base_array } else { 0 };
        inside.then(|| Texel { x, y, z: z + first + slice, level, sample })
    }

    /// The absolute level of one that an instruction counts from the first that can be seen.
    pub fn level(&self, mip: u32) -> Option<u32> {
        let mip = if self.form.mip || self.form.work == ImageWork::ResInfo { mip } else { 0 };
        let level = self.image.base_level.checked_add(mip)?;
        (level <= self.image.last_level).then_some(level)
    }
}

/// Which values name a texel of an image. `array` says that an index is among them.
fn shape(dim: Dim, array: bool) -> ImageShape {
    let coordinates = match dim {
        Dim::D1 | Dim::D1Array => 1,
        Dim::D3 => 3,
        _ => 2,
    };
    ImageShape { coordinates, slice: array && dim != Dim::D3, fragment: dim.is_msaa() }
}
