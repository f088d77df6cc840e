//! What the rows of MIMG have in their names, and the registers that follow from it (SI manual 8.2.4 and 11.16).
//!
//! An address is made of up to five parts in consecutive VGPRs, of which the suffixes of the mnemonic say which there
//! are:
//!
//! ```text
//! { offset }  { bias }  { compare value }  { derivatives }  { body }
//! _o          _b        _c                 _d, _cd          coordinates, slice, fragment, level of detail or its limit
//! ```
//!
//! How long derivatives and body are depends on the image, that is on the resource in SGPRs, and on the instruction's DA
//! bit: see [`ImageShape`]. With A16 (gfx9) two values of the body share a dword, and two derivatives; those of the
//! horizontal and those of the vertical direction begin in a dword of their own. So does the bias, whose upper half is
//! not used. Offset and compare value are dwords all the same.

use crate::inst::{Format, Inst};
use crate::table::{Mimg, Op};
use std::sync::LazyLock;

/// Bits of [`Mem::flags`](crate::Mem::flags) in MIMG.
pub mod flag {
    /// UNRM: coordinates count texels.
    pub const UNORM: u8 = 1 << 0;
    /// DA: there is an array index (of a cube: a face) among the coordinates.
    pub const ARRAY: u8 = 1 << 1;
    /// R128, up to gfx8: the resource is four dwords.
    pub const R128: u8 = 1 << 2;
    /// A16, on gfx9: addresses are 16-bit.
    pub const A16: u8 = 1 << 2;
    /// LWE: LOD warning enable.
    pub const LWE: u8 = 1 << 3;
    /// D16, from gfx8 on: components are 16-bit in registers.
    pub const D16: u8 = 1 << 4;
}

/// What an image operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageWork {
    /// Reads a texel.
    Load,
    /// Writes a texel.
    Store,
    /// Reads, computes and writes a texel of 32 or 64 bits.
    Atomic,
    /// Returns the size of a level.
    ResInfo,
    /// Returns the level of detail that a sample would have.
    GetLod,
    /// Reads texels through a sampler.
    Sample,
    /// Reads one component of four texels through a sampler, a square of them.
    Gather,
    /// The same (gfx9), of texels in a row: how many, and whether their bits are packed.
    GatherRow {
        /// 4 or 8.
        texels: u8,
        /// As they are in memory, one after the other.
        packed: bool,
    },
}

/// Which level of detail a sampling operation works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageLevel {
    /// Computed from the coordinates of a quad's lanes.
    Computed,
    /// Computed from derivatives in registers (`_d`, `_cd`).
    Derivatives,
    /// The last value of the body (`_l`).
    Given,
    /// 0 (`_lz`).
    Zero,
}

/// An operation's name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageForm {
    /// What it does.
    pub work: ImageWork,
    /// Loads and stores: bits are moved as they are (`_pck`).
    pub raw: bool,
    /// Raw loads: elements of less than a dword are sign-extended (`_sgn`).
    pub signed: bool,
    /// Loads and stores: the level is the last value of the body (`_mip`).
    pub mip: bool,
    /// Sampling: the level of detail.
    pub level: ImageLevel,
    /// Sampling: derivatives are one pair a quad (`_cd`).
    pub coarse: bool,
    /// Sampling: offsets in texels (`_o`).
    pub offset: bool,
    /// Sampling: a bias of the level (`_b`).
    pub bias: bool,
    /// Sampling: a value to compare depths with (`_c`).
    pub compare: bool,
    /// Sampling: a lower limit of the level, the last value of the body (`_cl`).
    pub clamp: bool,
}

/// How many coordinates an image takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// 1 to 3: x, y, z.
    pub coordinates: u32,
    /// Whether a slice (of a cube: a face) follows them.
    pub slice: bool,
    /// Whether a fragment follows that, for operations without a sampler.
    pub fragment: bool,
}

impl Mimg {
    /// What the operation's name says.
    pub fn form(self) -> ImageForm {
        /// By row: executors ask each time that they execute one.
        static FORMS: LazyLock<Vec<ImageForm>> =
            LazyLock::new(|| Mimg::ALL.iter().map(|op| ImageForm::of_name(op.info().name)).collect());
        FORMS[self as usize]
    }
}

impl ImageForm {
    /// Takes a name apart.
    fn of_name(name: &str) -> ImageForm {
        let mut parts = name.trim_start_matches("image_").split('_');
        let verb = parts.next().unwrap_or_default();
        let has = |suffix: &str| name.split('_').skip(2).any(|part| part == suffix);
        let packed = has("pck");
        let work = match verb {
            "load" => ImageWork::Load,
            "store" => ImageWork::Store,
            "atomic" => ImageWork::Atomic,
            "sample" => ImageWork::Sample,
            "gather4" => ImageWork::Gather,
            "gather4h" => ImageWork::GatherRow { texels: 4, packed },
            "gather8h" => ImageWork::GatherRow { texels: 8, packed },
            _ if has("lod") => ImageWork::GetLod,
            _ => ImageWork::ResInfo,
        };
        let level = match () {
            () if has("lz") => ImageLevel::Zero,
            () if has("l") => ImageLevel::Given,
            () if has("d") || has("cd") => ImageLevel::Derivatives,
            () => ImageLevel::Computed,
        };
        ImageForm {
            work,
            raw: packed,
            signed: has("sgn"),
            mip: has("mip"),
            level,
            coarse: has("cd"),
            offset: has("o"),
            bias: has("b"),
            compare: has("c"),
            clamp: has("cl"),
        }
    }

    /// Whether it works with a sampler.
    pub fn samples(self) -> bool {
        use ImageWork::{Atomic, Load, ResInfo, Store};
        !matches!(self.work, Load | Store | Atomic | ResInfo)
    }

    /// How many values the body has.
    pub fn body(self, shape: ImageShape) -> u32 {
        if self.work == ImageWork::ResInfo {
            return 1;
        }
        let given = self.mip || self.clamp || self.level == ImageLevel::Given;
        let fragment = shape.fragment && !self.samples();
        shape.coordinates + u32::from(shape.slice) + u32::from(fragment) + u32::from(given)
    }

    /// Dwords of the derivatives in one direction, of an image of so many coordinates.
    pub fn derivative_dwords(self, shape: ImageShape, a16: bool) -> u32 {
        match self.level {
            ImageLevel::Derivatives if a16 => shape.coordinates.div_ceil(2),
            ImageLevel::Derivatives => shape.coordinates,
            _ => 0,
        }
    }

    /// Dwords of the whole address.
    pub fn address_dwords(self, shape: ImageShape, a16: bool) -> u32 {
        let body = self.body(shape);
        let body = if a16 { body.div_ceil(2) } else { body };
        let single = u32::from(self.offset) + u32::from(self.bias) + u32::from(self.compare);
        single + 2 * self.derivative_dwords(shape, a16) + body
    }
}

impl Inst {
    /// How many dwords the components that an image operation reads or writes take: one for each bit of DMASK, at least
    /// one, four for a gather; half of that, rounded up, where D16 packs them.
    pub(crate) fn image_components(&self, packs: bool) -> u32 {
        let (mem, Op::Mimg(op)) = (self.mem(), self.op) else { return 0 };
        let components = match op.form().work {
            ImageWork::Gather | ImageWork::GatherRow { packed: false, .. } => 4,
            _ => mem.dmask.count_ones().max(1),
        };
        if mem.flags & flag::D16 != 0 && packs { components.div_ceil(2) } else { components }
    }

    /// The least dwords of address that an image operation takes for any dimension of image: one, and one for each of
    /// offset, bias, compare value and derivatives. What the resource asks for comes on top; see
    /// [`ImageForm::address_dwords`].
    pub fn image_address_dwords(&self) -> u32 {
        let Op::Mimg(op) = self.op else { return 1 };
        let form = op.form();
        let parts = [form.offset, form.bias, form.compare, form.level == ImageLevel::Derivatives];
        1 + parts.into_iter().map(u32::from).sum::<u32>()
    }

    /// Dwords of an image operation's resource: four with R128.
    pub(crate) fn image_resource_dwords(&self, has_r128: bool) -> u32 {
        if has_r128 && self.format == Format::Mimg && self.mem().flags & flag::R128 != 0 { 4 } else { 8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D1: ImageShape = ImageShape { coordinates: 1, slice: false, fragment: false };
    const D2: ImageShape = ImageShape { coordinates: 2, slice: false, fragment: false };
    const D3: ImageShape = ImageShape { coordinates: 3, slice: false, fragment: false };
    const CUBE: ImageShape = ImageShape { coordinates: 2, slice: true, fragment: false };
    const MSAA_ARRAY: ImageShape = ImageShape { coordinates: 2, slice: true, fragment: true };

    fn form(name: &str) -> ImageForm {
        let op = Mimg::ALL.iter().find(|op| op.info().name == name);
        op.unwrap_or_else(|| panic!("no {name}")).form()
    }

    #[test]
    fn names_say_what_there_is() {
        let sample = form("image_sample_c_b_cl_o");
        assert!(sample.compare && sample.bias && sample.clamp && sample.offset && !sample.coarse);
        assert_eq!((sample.work, sample.level), (ImageWork::Sample, ImageLevel::Computed));
        let coarse = form("image_sample_cd_cl");
        assert!(coarse.coarse && coarse.clamp && !coarse.compare);
        assert_eq!(coarse.level, ImageLevel::Derivatives);
        assert_eq!(form("image_gather4_c_lz").level, ImageLevel::Zero);
        assert_eq!(form("image_gather8h_pck").work, ImageWork::GatherRow { texels: 8, packed: true });
        assert_eq!(form("image_get_lod").work, ImageWork::GetLod);
        assert_eq!(form("image_get_resinfo").work, ImageWork::ResInfo);
        let load = form("image_load_mip_pck_sgn");
        assert!(load.mip && load.raw && load.signed && !load.samples());
        assert_eq!(form("image_atomic_cmpswap").work, ImageWork::Atomic);
    }

    /// The address sizes that LLVM 19 gives its intrinsics for gfx9, without and with A16.
    #[test]
    fn addresses_are_as_long_as_llvms() {
        let cases = [
            ("image_load", D1, 1, 1),
            ("image_load", MSAA_ARRAY, 4, 2),
            ("image_load_mip", D3, 4, 2),
            ("image_load_mip", CUBE, 4, 2),
            ("image_get_resinfo", CUBE, 1, 1),
            ("image_sample", D2, 2, 1),
            ("image_sample_l", CUBE, 4, 2),
            ("image_sample_c_b_cl_o", D2, 6, 5),
            ("image_sample_d", D1, 3, 3),
            ("image_sample_d", D2, 6, 3),
            ("image_sample_d", D3, 9, 6),
            ("image_sample_c_d_cl_o", D2, 9, 6),
            ("image_sample_cd_cl", D3, 10, 6),
            ("image_gather4_c_b_cl_o", CUBE, 7, 5),
        ];
        for (name, shape, dwords, packed) in cases {
            let form = form(name);
            assert_eq!(form.address_dwords(shape, false), dwords, "{name} {shape:?}");
            assert_eq!(form.address_dwords(shape, true), packed, "{name} {shape:?} a16");
        }
    }
}
