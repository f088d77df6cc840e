//! Samplers: what an S# says (Southern Islands manual, table 8.12).

use gcnjit_isa::Gen;

/// What happens to coordinates beyond an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// The image is repeated.
    #[default]
    Wrap,
    /// It is repeated, every other time mirrored.
    Mirror,
    /// The texel at the edge.
    LastTexel,
    /// Mirrored once at 0, then the texel at the edge.
    MirrorOnceLastTexel,
    /// Half the border colour: coordinates are clamped to the edge itself.
    HalfBorder,
    /// Mirrored once at 0, then half the border colour.
    MirrorOnceHalfBorder,
    /// The border colour.
    Border,
    /// Mirrored once at 0, then the border colour.
    MirrorOnceBorder,
}

impl Clamp {
    /// All of them, by the number that a descriptor has.
    pub const ALL: [Clamp; 8] = [
        Clamp::Wrap,
        Clamp::Mirror,
        Clamp::LastTexel,
        Clamp::MirrorOnceLastTexel,
        Clamp::HalfBorder,
        Clamp::MirrorOnceHalfBorder,
        Clamp::Border,
        Clamp::MirrorOnceBorder,
    ];
}

/// How a reference value is compared with a texel's depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it: reference OP texel")]
pub enum Compare {
    #[default]
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// What is made of the texels that a filter reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their weighted sum.
    #[default]
    Blend,
    /// The least of those with a weight.
    Min,
    /// The largest of those with a weight.
    Max,
}

/// A filter inside of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum XyFilter {
    /// The nearest texel.
    #[default]
    Point,
    /// Two by two texels.
    Bilinear,
    /// The nearest texel of several points along the footprint.
    AnisoPoint,
    /// Two by two texels of several points along the footprint.
    AnisoBilinear,
}

impl XyFilter {
    /// Whether texels are blended.
    #[inline]
    pub fn is_linear(self) -> bool {
        matches!(self, XyFilter::Bilinear | XyFilter::AnisoBilinear)
    }

    /// Whether several points are taken where the footprint is long.
    #[inline]
    pub fn is_aniso(self) -> bool {
        matches!(self, XyFilter::AnisoPoint | XyFilter::AnisoBilinear)
    }
}

/// A filter between slices of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ZFilter {
    /// As the filter in x and y.
    #[default]
    None,
    /// The nearest slice.
    Point,
    /// Two slices.
    Linear,
}

/// A filter between levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MipFilter {
    /// Only the base level.
    #[default]
    None,
    /// The nearest level.
    Point,
    /// Two levels.
    Linear,
    /// The nearest level, with an adjustment for anisotropic filters.
    PointAniso,
}

/// The colour outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Border {
    /// (0, 0, 0, 0).
    #[default]
    TransparentBlack,
    /// (0, 0, 0, 1).
    OpaqueBlack,
    /// (1, 1, 1, 1).
    OpaqueWhite,
    /// An entry of the table of border colours, whose address is not in the descriptor: 0 to 4095. See
    /// [`BorderColors`](super::BorderColors).
    Table(u16),
}

/// A decoded S#.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Beyond the edges in x, y and z.
    pub clamp: [Clamp; 3],
    /// Binary logarithm of the most points of an anisotropic filter: 0 to 4 are used, 5 to 7 mean 4.
    pub max_aniso_ratio: u8,
    /// Comparison with a reference value.
    pub compare: Compare,
    /// Coordinates count texels, whatever the instruction says.
    pub unnormalized: bool,
    /// Footprints up to this much longer than wide count as square: 0 to 7.
    pub aniso_threshold: u8,
    /// Motion compensation: coordinates are truncated.
    pub mc_coord_trunc: bool,
    /// Unorm texels are taken for sRGB.
    pub force_degamma: bool,
    /// Added to the anisotropic ratio, in 32nds: 0 to 63.
    pub aniso_bias: u8,
    /// Point filters truncate coordinates rather than round them.
    pub trunc_coord: bool,
    /// Cube faces end at their edges.
    pub disable_cube_wrap: bool,
    /// What filters make of texels.
    pub reduction: Reduction,
    /// gfx8, gfx9: filters as older generations have them.
    pub compat_mode: bool,
    /// Least level of detail, in 256ths: 0 to 4095.
    pub min_lod: u16,
    /// Largest level of detail, in 256ths: 0 to 4095.
    pub max_lod: u16,
    /// A hint: how early a blend of two levels may become one of them, 0 to 15.
    pub perf_mip: u8,
    /// The same for slices of a volume.
    pub perf_z: u8,
    /// Added to the level of detail, in 256ths: −8192 to 8191.
    pub lod_bias: i16,
    /// Another such, in 16ths: −32 to 31.
    pub lod_bias_sec: i8,
    /// Filter where a texel covers more than a pixel.
    pub mag_filter: XyFilter,
    /// Filter where a texel covers less than a pixel.
    pub min_filter: XyFilter,
    /// Filter between slices of a volume.
    pub z_filter: ZFilter,
    /// Filter between levels.
    pub mip_filter: MipFilter,
    /// Point filters between levels add a half before the level is clamped.
    pub mip_point_preclamp: bool,
    /// gfx6 to gfx8: filters don't round up. gfx9: blend zeros in for missing tiles of partially resident textures.
    pub disable_lsb_ceil: bool,
    /// Weights with all their bits.
    pub filter_prec_fix: bool,
    /// gfx8, gfx9: images with one level aren't filtered anisotropically.
    pub aniso_override: bool,
    /// gfx9: texels aren't converted from sRGB.
    pub skip_degamma: bool,
    /// The colour outside.
    pub border: Border,
}

/// A field: position of its lowest bit, and how many.
fn field(word: u32, at: u32, bits: u32) -> u32 {
    word >> at & ((1 << bits) - 1)
}

/// The same, signed.
fn signed(word: u32, at: u32, bits: u32) -> i32 {
    (word << (32 - at - bits)) as i32 >> (32 - bits)
}

const COMPARES: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterEqual,
    Compare::Always,
];

const XY_FILTERS: [XyFilter; 4] = [XyFilter::Point, XyFilter::Bilinear, XyFilter::AnisoPoint, XyFilter::AnisoBilinear];

const MIP_FILTERS: [MipFilter; 4] = [MipFilter::None, MipFilter::Point, MipFilter::Linear, MipFilter::PointAniso];

/// The reserved fourth value blends.
const REDUCTIONS: [Reduction; 4] = [Reduction::Blend, Reduction::Min, Reduction::Max, Reduction::Blend];

/// The reserved fourth value is linear.
const Z_FILTERS: [ZFilter; 4] = [ZFilter::None, ZFilter::Point, ZFilter::Linear, ZFilter::Linear];

impl Sampler {
    /// What a descriptor says. Every combination of bits is a sampler; bits that a generation lacks are ignored.
    pub fn decode([w0, w1, w2, w3]: [u32; 4], generation: Gen) -> Sampler {
        let flag = |word: u32, at: u32| word >> at & 1 != 0;
        let since = |first: Gen, word: u32, at: u32| generation >= first && flag(word, at);
        Sampler {
            clamp: [0, 3, 6].map(|at| Clamp::ALL[field(w0, at, 3) as usize]),
            max_aniso_ratio: field(w0, 9, 3) as u8,
            compare: COMPARES[field(w0, 12, 3) as usize],
            unnormalized: flag(w0, 15),
            aniso_threshold: field(w0, 16, 3) as u8,
            mc_coord_trunc: flag(w0, 19),
            force_degamma: flag(w0, 20),
            aniso_bias: field(w0, 21, 6) as u8,
            trunc_coord: flag(w0, 27),
            disable_cube_wrap: flag(w0, 28),
            reduction: REDUCTIONS[field(w0, 29, 2) as usize],
            compat_mode: since(Gen::Gfx8, w0, 31),
            min_lod: field(w1, 0, 12) as u16,
            max_lod: field(w1, 12, 12) as u16,
            perf_mip: field(w1, 24, 4) as u8,
            perf_z: field(w1, 28, 4) as u8,
            lod_bias: signed(w2, 0, 14) as i16,
            lod_bias_sec: signed(w2, 14, 6) as i8,
            mag_filter: XY_FILTERS[field(w2, 20, 2) as usize],
            min_filter: XY_FILTERS[field(w2, 22, 2) as usize],
            z_filter: Z_FILTERS[field(w2, 24, 2) as usize],
            mip_filter: MIP_FILTERS[field(w2, 26, 2) as usize],
            mip_point_preclamp: flag(w2, 28),
            disable_lsb_ceil: flag(w2, 29),
            filter_prec_fix: flag(w2, 30),
            aniso_override: since(Gen::Gfx8, w2, 31),
            skip_degamma: since(Gen::Gfx9, w3, 12),
            border: match field(w3, 30, 2) {
                0 => Border::TransparentBlack,
                1 => Border::OpaqueBlack,
                2 => Border::OpaqueWhite,
                _ => Border::Table(field(w3, 0, 12) as u16),
            },
        }
    }

    /// The descriptor that says this. Fields are cut to their width; those that a generation lacks are left out.
    pub fn encode(&self, generation: Gen) -> [u32; 4] {
        let gfx8 = |flag: bool| u32::from(flag && generation >= Gen::Gfx8);
        let put = |value: u32, at: u32, bits: u32| (value & ((1 << bits) - 1)) << at;
        let clamp = |axis: usize| self.clamp[axis] as u32;
        let w0 = put(clamp(0), 0, 3)
            | put(clamp(1), 3, 3)
            | put(clamp(2), 6, 3)
            | put(self.max_aniso_ratio.into(), 9, 3)
            | put(self.compare as u32, 12, 3)
            | u32::from(self.unnormalized) << 15
            | put(self.aniso_threshold.into(), 16, 3)
            | u32::from(self.mc_coord_trunc) << 19
            | u32::from(self.force_degamma) << 20
            | put(self.aniso_bias.into(), 21, 6)
            | u32::from(self.trunc_coord) << 27
            | u32::from(self.disable_cube_wrap) << 28
            | put(self.reduction as u32, 29, 2)
            | gfx8(self.compat_mode) << 31;
        let w1 = put(self.min_lod.into(), 0, 12)
            | put(self.max_lod.into(), 12, 12)
            | put(self.perf_mip.into(), 24, 4)
            | put(self.perf_z.into(), 28, 4);
        let w2 = put(self.lod_bias as u32, 0, 14)
            | put(self.lod_bias_sec as u32, 14, 6)
            | put(self.mag_filter as u32, 20, 2)
            | put(self.min_filter as u32, 22, 2)
            | put(self.z_filter as u32, 24, 2)
            | put(self.mip_filter as u32, 26, 2)
            | u32::from(self.mip_point_preclamp) << 28
            | u32::from(self.disable_lsb_ceil) << 29
            | u32::from(self.filter_prec_fix) << 30
            | gfx8(self.aniso_override) << 31;
        let skip_degamma = self.skip_degamma && generation >= Gen::Gfx9;
        let (border, entry) = match self.border {
            Border::TransparentBlack => (0, 0),
            Border::OpaqueBlack => (1, 0),
            Border::OpaqueWhite => (2, 0),
            Border::Table(entry) => (3, entry),
        };
        [w0, w1, w2, put(entry.into(), 0, 12) | u32::from(skip_degamma) << 12 | border << 30]
    }
}
