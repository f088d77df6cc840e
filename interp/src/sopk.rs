//! SOPK: scalar with a 16-bit immediate; the one register field is destination and first source.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::dispatch::scalar;
use crate::fp::Fp;
use crate::run::Machine;
use crate::sop2::fork;
use gcnjit_isa::{Gen, Inst, Ty};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Mode, Trap, Wave, trapsts};

gcnjit_isa::sopk! { scalar }

pub fn s_movk_i32(_: &Fp, k: i32) -> u32 {
    k as u32
}

pub fn s_cmovk_i32(_: &Fp, k: i32, old: u32, scc: bool) -> u32 {
    if scc { k as u32 } else { old }
}

macro_rules! compares {
    ($($name:ident $operator:tt;)*) => { $(
        pub fn $name(_: &Fp, a: i32, k: i32) -> bool {
            a $operator k
        }
    )* };
}

/// Unsigned compares zero-extend the immediate.
macro_rules! unsigned_compares {
    ($($name:ident $operator:tt;)*) => { $(
        pub fn $name(_: &Fp, a: u32, k: i32) -> bool {
            a $operator u32::from(k as u16)
        }
    )* };
}

compares! {
    s_cmpk_eq_i32 ==;
    s_cmpk_lg_i32 !=;
    s_cmpk_gt_i32 >;
    s_cmpk_ge_i32 >=;
    s_cmpk_lt_i32 <;
    s_cmpk_le_i32 <=;
}

unsigned_compares! {
    s_cmpk_eq_u32 ==;
    s_cmpk_lg_u32 !=;
    s_cmpk_gt_u32 >;
    s_cmpk_ge_u32 >=;
    s_cmpk_lt_u32 <;
    s_cmpk_le_u32 <=;
}

pub fn s_addk_i32(_: &Fp, a: i32, k: i32) -> (i32, bool) {
    a.overflowing_add(k)
}

pub fn s_mulk_i32(_: &Fp, a: i32, k: i32) -> i32 {
    a.wrapping_mul(k)
}

pub fn s_cbranch_i_fork(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let target = inst.branch_target(m.wave.pc).ok_or_else(|| m.unimplemented(inst, "fork without a label"))?;
    fork(m, inst, target)
}

/// A field of a hardware register, as the immediate names it.
struct Field {
    register: u32,
    offset: u32,
    mask: u32,
}

impl Field {
    fn new(immediate: u32) -> Field {
        let size = (immediate >> 11 & 31) + 1;
        Field { register: immediate & 63, offset: immediate >> 6 & 31, mask: u32::MAX >> (32 - size) }
    }
}

const MODE: u32 = 1;
const STATUS: u32 = 2;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;

/// STATUS has the bits SCC 0, EXECZ 9, VCCZ 10 and VALID 16, and of those that are never set PRIV 5, IN_BARRIER 12,
/// HALT 13 and TRAP 14.
const STATUS_BITS: u32 = 1 | 1 << 5 | 1 << 9 | 1 << 10 | 7 << 12 | 1 << 16;

fn status(wave: &Wave) -> u32 {
    let zero = |register| u32::from(wave.sgpr64(register) == 0);
    wave.scc | zero(reg::EXEC) << 9 | zero(reg::VCC) << 10 | 1 << 16
}

/// MODE, what is known of STATUS, the exceptions of TRAPSTS, and gfx9's apertures are there. Nothing is ever outstanding, so IB_STS is 0.
pub fn s_getreg_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let field = Field::new(m.uniform(inst.src[0], Ty::simm16) as u32);
    let value = match field.register {
        MODE => m.wave.mode.0,
        trapsts::REGISTER if m.env.exceptions => m.wave.trapsts,
        trapsts::REGISTER => return Err(m.unimplemented(inst, trapsts::NOT_KEPT)),
        STATUS if field.mask.wrapping_shl(field.offset) & !STATUS_BITS == 0 => status(m.wave),
        IB_STS => 0,
        SH_MEM_BASES if m.env.target.generation() == Gen::Gfx9 => {
            (PRIVATE_APERTURE >> 48 | LDS_APERTURE >> 48 << 16) as u32
        }
        _ => return Err(m.unimplemented(inst, "reading this hardware register")),
    };
    m.set_scalar(inst.dst[0], Ty::b32, u64::from(value >> field.offset & field.mask));
    Ok(())
}

/// No document says how it differs from s_getreg_b32.
pub fn s_getreg_regrd_b32(m: &mut Machine<'_>, _: &Inst) -> Result<(), Trap> {
    Err(m.fault(Cause::Undocumented, m.wave.pc, 0))
}

pub fn s_setreg_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let field = Field::new(m.uniform(inst.src[1], Ty::simm16) as u32);
    let mask = field.mask << field.offset;
    let value = (m.uniform(inst.src[0], Ty::b32) as u32) << field.offset;
    match field.register {
        MODE => m.set_mode(Mode(m.wave.mode.0 & !mask | value & mask)),
        trapsts::REGISTER if m.env.exceptions => {
            let mask = mask & trapsts::EXCP;
            m.wave.trapsts = m.wave.trapsts & !mask | value & mask;
        }
        trapsts::REGISTER => return Err(m.unimplemented(inst, trapsts::NOT_KEPT)),
        _ => return Err(m.unimplemented(inst, "writing this hardware register")),
    }
    Ok(())
}

pub fn s_setreg_imm32_b32(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    s_setreg_b32(m, inst)
}

pub fn s_call_b64(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    m.set_scalar(inst.dst[0], Ty::b64, m.next);
    crate::sopp::jump(m, inst, true)
}
