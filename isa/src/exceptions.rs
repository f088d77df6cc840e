//! Which arithmetic exceptions an operation can raise: the bits of TRAPSTS.EXCP (SI manual 3.10), and what says so.
//!
//! Only the vector ALU raises exceptions. Modifiers change little of what a row says: omod raises what a multiplication
//! does ([`Exceptions::SCALING`]), but on a conversion to an integer it stops the exceptions (LLVM says so where it
//! defines these operations); abs, neg and clamp raise nothing; an f16 source of a mixed-precision operation counts as
//! any other.

use crate::inst::Inst;
use crate::op::OpInfo;
use crate::operand::{Operand, Ty};
use crate::table::{Op, Sopk, Vop1, Vop2, Vop3, Vop3p, Vopc};
use std::fmt;
use std::ops::BitOr;

/// A set of exceptions, as TRAPSTS.EXCP and MODE.EXCP_EN count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Exceptions(u8);

impl Exceptions {
    /// None.
    pub const NONE: Exceptions = Exceptions(0);
    /// An operation without a meaningful result, or a signalling NaN.
    pub const INVALID: Exceptions = Exceptions(1);
    /// A denormal source, whether it then counts as zero or not.
    pub const INPUT_DENORMAL: Exceptions = Exceptions(1 << 1);
    /// An infinity from finite sources, exactly.
    pub const DIVIDE_BY_ZERO: Exceptions = Exceptions(1 << 2);
    /// A result beyond the largest finite number.
    pub const OVERFLOW: Exceptions = Exceptions(1 << 3);
    /// A tiny result that is not exact, or becomes zero.
    pub const UNDERFLOW: Exceptions = Exceptions(1 << 4);
    /// A rounded result.
    pub const INEXACT: Exceptions = Exceptions(1 << 5);
    /// The reciprocal of zero in an integer division.
    pub const INTEGER_DIVIDE_BY_ZERO: Exceptions = Exceptions(1 << 6);
    /// All of them.
    pub const ALL: Exceptions = Exceptions(0x7f);

    /// What comes of looking at sources.
    pub const SOURCES: Exceptions = Exceptions::INVALID.and(Exceptions::INPUT_DENORMAL);
    /// What comes of a multiplication by a power of two.
    pub const SCALING: Exceptions = Exceptions::OVERFLOW.and(Exceptions::UNDERFLOW).and(Exceptions::INEXACT);
    /// What comes of sums and products.
    pub const ARITHMETIC: Exceptions = Exceptions::SOURCES.and(Exceptions::SCALING);

    /// Those whose bits are set.
    pub const fn of(bits: u32) -> Exceptions {
        Exceptions(bits as u8 & Exceptions::ALL.0)
    }

    /// As bits from 0 on.
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// Those of both sets.
    pub const fn and(self, other: Exceptions) -> Exceptions {
        Exceptions(self.0 | other.0)
    }

    /// Those that the other set doesn't have.
    pub const fn without(self, other: Exceptions) -> Exceptions {
        Exceptions(self.0 & !other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the other set are in it.
    pub const fn contains(self, other: Exceptions) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names, in the order of the bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [&str; 7] = [
            "invalid",
            "input denormal",
            "divide by zero",
            "overflow",
            "underflow",
            "inexact",
            "integer divide by zero",
        ];
        NAMES.into_iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 != 0).map(|(_, name)| name)
    }
}

impl BitOr for Exceptions {
    type Output = Exceptions;

    fn bitor(self, other: Exceptions) -> Exceptions {
        self.and(other)
    }
}

impl fmt::Display for Exceptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&self.names().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// What says which exceptions an operation raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The ISA manual, in the description of the instruction or of its family; or there is no float to raise any.
    Manual,
    /// LLVM's instruction definitions: the operation raises none (`mayRaiseFPException`).
    Llvm,
    /// No document: as IEEE 754 has it for the operation that comes closest, or as its closest relatives. A GPU may raise
    /// others.
    Ieee,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Manual => "manual",
            Llvm => "LLVM",
            Ieee => "IEEE 754, approximate",
        })
    }
}

use Evidence::{Ieee, Llvm, Manual};

/// A row's set, and what says so.
type Raised = (Exceptions, Evidence);

const ARITHMETIC: Raised = (Exceptions::ARITHMETIC, Ieee);
const SOURCES: Raised = (Exceptions::SOURCES, Ieee);
/// Conversions to integers: out of range is invalid.
const TO_INTEGER: Raised = (Exceptions::SOURCES.and(Exceptions::INEXACT), Ieee);
const NOTHING: Raised = (Exceptions::NONE, Manual);
const NOTHING_BY_LLVM: Raised = (Exceptions::NONE, Llvm);
/// Copies of bits, and operations that no document has without exceptions but that only differ in format or in where a
/// source comes from from others that raise nothing.
const NOTHING_LIKE_OTHERS: Raised = (Exceptions::NONE, Ieee);

impl Op {
    /// The exceptions that it can raise without modifiers.
    pub fn exceptions(self) -> Exceptions {
        self.raised().0
    }

    /// What says so.
    pub fn exceptions_by(self) -> Evidence {
        self.raised().1
    }

    fn raised(self) -> Raised {
        if !has_floats(self.info()) {
            return NOTHING;
        }
        match self {
            Op::Vop1(op) => vop1(op),
            Op::Vop2(op) => vop2(op),
            Op::Vop3(op) => vop3(op),
            Op::Vop3p(op) => vop3p(op),
            Op::Vopc(op) => vopc(op),
            _ => NOTHING,
        }
    }

    /// Whether a quiet NaN among the sources is invalid too, as it is for the signalling compares of gfx6 and gfx7.
    pub fn signals_quiet_nan(self) -> bool {
        matches!(self, Op::Vopc(_)) && self.info().name.starts_with("v_cmps")
    }
}

impl Inst {
    /// The exceptions that it can raise with its modifiers.
    pub fn exceptions(&self) -> Exceptions {
        let exceptions = self.op.exceptions();
        if self.mods.omod == 0 || exceptions.is_empty() {
            return exceptions;
        }
        let float = self.op.info().dsts.iter().any(|ty| ty.is_float());
        if float { exceptions | Exceptions::SCALING } else { Exceptions::NONE }
    }
}

impl Inst {
    /// Whether it may write TRAPSTS: it raises exceptions, clears them, or names the register.
    pub fn may_write_trapsts(&self) -> bool {
        const HW_REG_TRAPSTS: i32 = 3;
        match self.op {
            Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) => {
                matches!(self.src[1], Operand::Imm(field) if field & 0x3f == HW_REG_TRAPSTS)
            }
            Op::Vop1(Vop1::v_clrexcp) => true,
            _ => !self.exceptions().is_empty(),
        }
    }
}

fn has_floats(info: &OpInfo) -> bool {
    info.dsts.iter().chain(info.srcs).any(|ty: &Ty| ty.is_float())
}

fn vop1(op: Vop1) -> Raised {
    use Vop1::*;
    let function = |more: Exceptions| (Exceptions::SOURCES | Exceptions::INEXACT | more, Ieee);
    match op {
        v_cvt_i32_f64 | v_cvt_u32_f64 | v_cvt_i32_f32 | v_cvt_u32_f32 | v_cvt_u16_f16 | v_cvt_i16_f16 => TO_INTEGER,
        v_cvt_f16_f32 | v_cvt_f32_f64 => ARITHMETIC,
        v_cvt_f32_f16 | v_cvt_f64_f32 => SOURCES,
        v_cvt_f16_u16 => (Exceptions::OVERFLOW | Exceptions::INEXACT, Ieee),
        v_cvt_f16_i16 => (Exceptions::INEXACT, Ieee),
        v_trunc_f64 | v_ceil_f64 | v_rndne_f64 | v_floor_f64 => SOURCES,
        v_trunc_f32 | v_ceil_f32 | v_rndne_f32 | v_floor_f32 => SOURCES,
        v_trunc_f16 | v_ceil_f16 | v_rndne_f16 | v_floor_f16 => SOURCES,
        v_frexp_exp_i32_f64 | v_frexp_mant_f64 | v_frexp_exp_i32_f32 | v_frexp_mant_f32 => SOURCES,
        v_frexp_exp_i16_f16 | v_frexp_mant_f16 => SOURCES,
        v_fract_f32 | v_fract_f64 | v_fract_f16 => function(Exceptions::UNDERFLOW),
        v_exp_f32 | v_exp_legacy_f32 | v_exp_f16 => function(Exceptions::SCALING),
        v_log_f32 | v_log_clamp_f32 | v_log_legacy_f32 | v_log_f16 => function(Exceptions::DIVIDE_BY_ZERO),
        v_rcp_iflag_f32 => (Exceptions::INTEGER_DIVIDE_BY_ZERO, Manual),
        v_rcp_f32 | v_rcp_clamp_f32 | v_rcp_legacy_f32 => function(Exceptions::DIVIDE_BY_ZERO | Exceptions::SCALING),
        v_rcp_f64 | v_rcp_clamp_f64 | v_rcp_f16 => function(Exceptions::DIVIDE_BY_ZERO | Exceptions::SCALING),
        v_rsq_f32 | v_rsq_clamp_f32 | v_rsq_legacy_f32 => function(Exceptions::DIVIDE_BY_ZERO),
        v_rsq_f64 | v_rsq_clamp_f64 | v_rsq_f16 => function(Exceptions::DIVIDE_BY_ZERO),
        v_sqrt_f32 | v_sqrt_f64 | v_sqrt_f16 => function(Exceptions::NONE),
        v_sin_f32 | v_sin_f16 => function(Exceptions::UNDERFLOW),
        v_cos_f32 | v_cos_f16 => function(Exceptions::NONE),
        v_cvt_norm_i16_f16 | v_cvt_norm_u16_f16 => NOTHING_LIKE_OTHERS,
        _ => NOTHING_BY_LLVM,
    }
}

fn vop2(op: Vop2) -> Raised {
    use Vop2::*;
    match op {
        v_min_f32 | v_max_f32 | v_min_legacy_f32 | v_max_legacy_f32 | v_min_f16 | v_max_f16 => SOURCES,
        v_mac_f32 | v_madak_f32 | v_mac_legacy_f32 => NOTHING_BY_LLVM,
        v_madmk_f32 => NOTHING_LIKE_OTHERS,
        v_cvt_pknorm_i16_f32 | v_cvt_pknorm_u16_f32 => NOTHING_BY_LLVM,
        v_cvt_pkaccum_u8_f32 => TO_INTEGER,
        _ => ARITHMETIC,
    }
}

fn vop3(op: Vop3) -> Raised {
    use Vop3::*;
    match op {
        v_mad_f32 | v_mad_legacy_f32 => NOTHING_BY_LLVM,
        v_cubeid_f32 | v_cubesc_f32 | v_cubetc_f32 | v_cubema_f32 => NOTHING_BY_LLVM,
        v_min3_f32 | v_max3_f32 | v_med3_f32 | v_div_scale_f32 | v_div_scale_f64 => NOTHING_BY_LLVM,
        v_min3_f16 | v_max3_f16 | v_med3_f16 => NOTHING_LIKE_OTHERS,
        v_cvt_pknorm_i16_f16 | v_cvt_pknorm_u16_f16 | v_pack_b32_f16 => NOTHING_LIKE_OTHERS,
        v_interp_p1ll_f16 | v_interp_p1lv_f16 | v_interp_p2_legacy_f16 | v_interp_p2_f16 => NOTHING_BY_LLVM,
        v_min_f64 | v_max_f64 => SOURCES,
        v_cvt_pk_u8_f32 => TO_INTEGER,
        v_div_fixup_f32 | v_div_fixup_f64 | v_div_fixup_legacy_f16 | v_div_fixup_f16 => {
            (Exceptions::ARITHMETIC | Exceptions::DIVIDE_BY_ZERO, Manual)
        }
        v_trig_preop_f64 => (Exceptions::SOURCES | Exceptions::UNDERFLOW | Exceptions::INEXACT, Ieee),
        _ => ARITHMETIC,
    }
}

fn vop3p(op: Vop3p) -> Raised {
    match op {
        Vop3p::v_pk_min_f16 | Vop3p::v_pk_max_f16 => SOURCES,
        Vop3p::v_mad_mix_f32 | Vop3p::v_mad_mixlo_f16 | Vop3p::v_mad_mixhi_f16 => NOTHING_BY_LLVM,
        _ => ARITHMETIC,
    }
}

fn vopc(op: Vopc) -> Raised {
    match op {
        Vopc::v_cmp_class_f32 | Vopc::v_cmpx_class_f32 | Vopc::v_cmp_class_f64 => NOTHING,
        Vopc::v_cmpx_class_f64 | Vopc::v_cmp_class_f16 | Vopc::v_cmpx_class_f16 => NOTHING,
        _ => (Exceptions::SOURCES, Manual),
    }
}
