//! SOPC: scalar compares into SCC.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::fp::Fp;
use crate::run::Machine;
use crate::sop1::s_set_gpr_idx_idx;
use crate::sopp::set_gpr_index_mode;
use gcnjit_isa::{Inst, Ty};
use gcnjit_rt::{Mode, Trap};

gcnjit_isa::sopc! { scalar }

macro_rules! compares {
    ($($name:ident $type:ident $operator:tt;)*) => { $(
        pub fn $name(_: &Fp, a: $type, b: $type) -> bool {
            a $operator b
        }
    )* };
}

compares! {
    s_cmp_eq_i32 i32 ==;
    s_cmp_lg_i32 i32 !=;
    s_cmp_gt_i32 i32 >;
    s_cmp_ge_i32 i32 >=;
    s_cmp_lt_i32 i32 <;
    s_cmp_le_i32 i32 <=;
    s_cmp_eq_u32 u32 ==;
    s_cmp_lg_u32 u32 !=;
    s_cmp_gt_u32 u32 >;
    s_cmp_ge_u32 u32 >=;
    s_cmp_lt_u32 u32 <;
    s_cmp_le_u32 u32 <=;
}

pub fn s_bitcmp0_b32(_: &Fp, a: u32, bit: u32) -> bool {
    a.wrapping_shr(bit) & 1 == 0
}

pub fn s_bitcmp1_b32(_: &Fp, a: u32, bit: u32) -> bool {
    a.wrapping_shr(bit) & 1 == 1
}

pub fn s_bitcmp0_b64(_: &Fp, a: u64, bit: u32) -> bool {
    a.wrapping_shr(bit) & 1 == 0
}

pub fn s_bitcmp1_b64(_: &Fp, a: u64, bit: u32) -> bool {
    a.wrapping_shr(bit) & 1 == 1
}

/// Vector instructions are skipped from now on, or no longer.
pub fn s_setvskip(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let (bits, bit) = (m.uniform(inst.src[0], Ty::b32) as u32, m.uniform(inst.src[1], Ty::u32) as u32);
    let skip = if bits.wrapping_shr(bit) & 1 != 0 { Mode::VSKIP } else { 0 };
    m.set_mode(Mode(m.wave.mode.0 & !Mode::VSKIP | skip));
    Ok(())
}

/// M0 gets the index from the source's low byte and the mode from the immediate, and indexing is switched on.
pub fn s_set_gpr_idx_on(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    s_set_gpr_idx_idx(m, inst)?;
    set_gpr_index_mode(m, m.uniform(inst.src[1], Ty::simm16) as u32);
    m.set_mode(Mode(m.wave.mode.0 | Mode::GPR_INDEX));
    Ok(())
}

compares! {
    s_cmp_eq_u64 u64 ==;
    s_cmp_lg_u64 u64 !=;
}
