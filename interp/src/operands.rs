//! Operands: how sources become values and results become register contents. Modifiers, SDWA, DPP and the rules for
//! 16-bit results live here and nowhere else.
//!
//! A vector operation goes through three steps: [`Machine::fetch`] every source for all 64 lanes into a [`Raw`], the
//! row's body once a lane, [`Machine::commit`] every result under the enabled lanes. So all sources are read before
//! anything is written, and a body never sees a modifier.
//!
//! - Sources: SDWA select and sign extension, or DPP movement, or op_sel; then abs, then neg, which flip sign bits of
//!   float sources (and of v_cndmask_b32, whose raw bits they change too). No other integer source has them.
//! - DPP: a source lane that is out of range or not in EXEC is invalid. A lane with an invalid source reads 0 if
//!   bound_ctrl is set and is disabled otherwise; lanes outside of row_mask and bank_mask are disabled.
//! - Results: omod and clamp of floats (see [`crate::fp`]); then the SDWA destination, or the 16-bit rule: a 16-bit
//!   result clears the upper half of its register, except in gfx9's op_sel and mixed operations, which keep the other half.
//! - Mixed-precision sources are f32, or f16 halves made f32 on the way; inline constants have the source's format.
//! - A lane mask gets 0 for every lane that is not enabled.
//! - Only lanes that are enabled raise exceptions.

use crate::fp::{Float, Fp};
use crate::run::Machine;
use gcnjit_isa::{Dpp, Ext, Format, Implicit, Inst, Note, Op, Operand, Sdwa, Sel, Ty, Unused, Vop2, Vop3p};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{LANES, Row, parameter};
use half::f16;

/// The code of the source that is a dword of LDS.
const LDS_DIRECT: u8 = 254;

/// The dwords of one operand for all lanes, as consecutive registers hold them; a lane mask is 0 or 1 a lane.
pub type Raw = [Row; 4];

/// The types of the table's rows, for naming them in dispatch.
#[allow(non_camel_case_types, missing_docs, reason = "spelled as the rows of the table spell them")]
pub mod ty {
    macro_rules! markers {
        ($($name:ident)*) => { $(pub struct $name;)* };
    }
    markers! { b16 b32 b64 b128 u16 u24 u32 u64 i16 i24 i32 i64 f16 f32 f64 v2u16 v2i16 v2f16 mask scc simm16 }
}

/// A type as one lane of a vector operation sees it.
pub trait Lane {
    /// The table's type.
    const TY: Ty;
    /// What the body computes with.
    type Value: Copy;
    /// A lane's value.
    fn get(raw: &Raw, lane: usize) -> Self::Value;
    /// Sets a lane's value.
    fn set(raw: &mut Raw, lane: usize, value: Self::Value);
}

/// A type as a scalar operation sees it; in bits, zero-extended.
pub trait Scalar {
    /// The table's type.
    const TY: Ty;
    /// What the body computes with.
    type Value: Copy;
    /// The value of the bits.
    fn get(bits: u64) -> Self::Value;
    /// The bits of a value.
    fn set(value: Self::Value) -> u64;
}

macro_rules! lane_types {
    ($($name:ident $value:ty, $from:expr, $to:expr;)*) => { $(
        impl Lane for ty::$name {
            const TY: Ty = Ty::$name;
            type Value = $value;
            #[inline(always)]
            fn get(raw: &Raw, lane: usize) -> $value {
                const FROM: fn(u32) -> $value = $from;
                FROM(raw[0][lane])
            }
            #[inline(always)]
            fn set(raw: &mut Raw, lane: usize, value: $value) {
                const TO: fn($value) -> u32 = $to;
                raw[0][lane] = TO(value);
            }
        }
    )* };
}

lane_types! {
    b16   u16,      |x| x as u16,                      u32::from;
    u16   u16,      |x| x as u16,                      u32::from;
    i16   i16,      |x| x as i16,                      |v| u32::from(v as u16);
    f16   f16,      |x| f16::from_bits(x as u16),      |v| u32::from(v.to_bits());
    b32   u32,      |x| x,                             |v| v;
    u32   u32,      |x| x,                             |v| v;
    u24   u32,      |x| x & 0x00ff_ffff,               |v| v;
    i32   i32,      |x| x as i32,                      |v| v as u32;
    i24   i32,      |x| (x << 8) as i32 >> 8,          |v| v as u32;
    f32   f32,      f32::from_bits,                    f32::to_bits;
    mask  bool,     |x| x != 0,                        u32::from;
    v2u16 [u16; 2], |x| [x as u16, (x >> 16) as u16],  |v| pack(v);
    v2i16 [i16; 2], |x| [x as i16, (x >> 16) as i16],  |v| pack(v.map(|h| h as u16));
    v2f16 [f16; 2], |x| [x as u16, (x >> 16) as u16].map(f16::from_bits), |v| pack(v.map(f16::to_bits));
}

/// Two halves as a dword.
fn pack(halves: [u16; 2]) -> u32 {
    u32::from(halves[0]) | u32::from(halves[1]) << 16
}

macro_rules! wide_lane_types {
    ($($name:ident $value:ident, $from:expr, $to:expr;)*) => { $(
        impl Lane for ty::$name {
            const TY: Ty = Ty::$name;
            type Value = $value;
            #[inline(always)]
            fn get(raw: &Raw, lane: usize) -> $value {
                const FROM: fn(u64) -> $value = $from;
                FROM(u64::from(raw[0][lane]) | u64::from(raw[1][lane]) << 32)
            }
            #[inline(always)]
            fn set(raw: &mut Raw, lane: usize, value: $value) {
                const TO: fn($value) -> u64 = $to;
                let bits = TO(value);
                raw[0][lane] = bits as u32;
                raw[1][lane] = (bits >> 32) as u32;
            }
        }
    )* };
}

wide_lane_types! {
    b64 u64, |x| x, |v| v;
    u64 u64, |x| x, |v| v;
    i64 i64, |x| x as i64, |v| v as u64;
    f64 f64, f64::from_bits, f64::to_bits;
}

impl Lane for ty::b128 {
    const TY: Ty = Ty::b128;
    type Value = [u32; 4];
    #[inline(always)]
    fn get(raw: &Raw, lane: usize) -> [u32; 4] {
        [0, 1, 2, 3].map(|dword| raw[dword][lane])
    }
    #[inline(always)]
    fn set(raw: &mut Raw, lane: usize, value: [u32; 4]) {
        for (row, dword) in raw.iter_mut().zip(value) {
            row[lane] = dword;
        }
    }
}

macro_rules! scalar_types {
    ($($name:ident $value:ty, $from:expr, $to:expr;)*) => { $(
        impl Scalar for ty::$name {
            const TY: Ty = Ty::$name;
            type Value = $value;
            #[inline(always)]
            fn get(bits: u64) -> $value {
                const FROM: fn(u64) -> $value = $from;
                FROM(bits)
            }
            #[inline(always)]
            fn set(value: $value) -> u64 {
                const TO: fn($value) -> u64 = $to;
                TO(value)
            }
        }
    )* };
}

scalar_types! {
    b32    u32,  |x| x as u32, u64::from;
    u32    u32,  |x| x as u32, u64::from;
    i32    i32,  |x| x as i32, |v| u64::from(v as u32);
    b64    u64,  |x| x,        |v| v;
    u64    u64,  |x| x,        |v| v;
    i64    i64,  |x| x as i64, |v| v as u64;
    mask   u64,  |x| x,        |v| v;
    scc    bool, |x| x != 0,   u64::from;
    simm16 i32,  |x| x as i32, |v| u64::from(v as u32);
}

/// The source types of a vector row, as a tuple.
pub trait LaneSources {
    /// The types.
    const TYS: &'static [Ty];
    /// One lane's values.
    type Values;
    /// The values of `lane`.
    fn get(raw: &[Raw; 4], lane: usize) -> Self::Values;
}

/// The source types of a scalar row, as a tuple.
pub trait ScalarSources {
    /// The types.
    const TYS: &'static [Ty];
    /// The values.
    type Values;
    /// The values of `bits`.
    fn get(bits: [u64; 4]) -> Self::Values;
}

/// The result types of a vector row, as a tuple.
pub trait LaneResults {
    /// The types.
    const TYS: &'static [Ty];
    /// What the body returns.
    type Values;
    /// Sets the values of `lane`.
    fn set(raw: &mut [Raw; 2], lane: usize, values: Self::Values);
}

/// The result types of a scalar row, as a tuple.
pub trait ScalarResults {
    /// The types.
    const TYS: &'static [Ty];
    /// What the body returns.
    type Values;
    /// The bits of the values.
    fn set(values: Self::Values) -> [u64; 2];
}

/// A row's body: a function of its sources' values, whatever their number.
pub trait Body<S, D>: Copy {
    /// Computes the results.
    fn call(self, fp: &Fp, sources: S) -> D;
}

macro_rules! arities {
    ($($($S:ident $s:ident $i:tt),*;)*) => { $(
        impl<$($S: Lane),*> LaneSources for ($($S,)*) {
            const TYS: &'static [Ty] = &[$($S::TY),*];
            type Values = ($($S::Value,)*);
            #[inline(always)]
            fn get(raw: &[Raw; 4], lane: usize) -> Self::Values {
                ($($S::get(&raw[$i], lane),)*)
            }
        }

        impl<$($S: Scalar),*> ScalarSources for ($($S,)*) {
            const TYS: &'static [Ty] = &[$($S::TY),*];
            type Values = ($($S::Value,)*);
            #[inline(always)]
            fn get(bits: [u64; 4]) -> Self::Values {
                ($($S::get(bits[$i]),)*)
            }
        }

        impl<Function: Fn(&Fp, $($S),*) -> D + Copy, D, $($S),*> Body<($($S,)*), D> for Function {
            #[inline(always)]
            fn call(self, fp: &Fp, ($($s,)*): ($($S,)*)) -> D {
                self(fp, $($s),*)
            }
        }
    )* };
}

arities! {
    A a 0;
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, E e 3;
}

impl<A: Lane> LaneResults for (A,) {
    const TYS: &'static [Ty] = &[A::TY];
    type Values = A::Value;
    #[inline(always)]
    fn set(raw: &mut [Raw; 2], lane: usize, value: A::Value) {
        A::set(&mut raw[0], lane, value);
    }
}

impl<A: Lane, B: Lane> LaneResults for (A, B) {
    const TYS: &'static [Ty] = &[A::TY, B::TY];
    type Values = (A::Value, B::Value);
    #[inline(always)]
    fn set(raw: &mut [Raw; 2], lane: usize, values: Self::Values) {
        A::set(&mut raw[0], lane, values.0);
        B::set(&mut raw[1], lane, values.1);
    }
}

impl<A: Scalar> ScalarResults for (A,) {
    const TYS: &'static [Ty] = &[A::TY];
    type Values = A::Value;
    #[inline(always)]
    fn set(value: A::Value) -> [u64; 2] {
        [A::set(value), 0]
    }
}

impl<A: Scalar, B: Scalar> ScalarResults for (A, B) {
    const TYS: &'static [Ty] = &[A::TY, B::TY];
    type Values = (A::Value, B::Value);
    #[inline(always)]
    fn set(values: Self::Values) -> [u64; 2] {
        [A::set(values.0), B::set(values.1)]
    }
}

/// Runs a pure vector row: all sources of all lanes, the body for every lane, the results of the enabled lanes.
pub fn lanes<S: LaneSources, D: LaneResults, F: Body<S::Values, D::Values>>(m: &mut Machine<'_>, inst: &Inst, body: F) {
    m.begin(inst);
    for (i, ty) in S::TYS.iter().enumerate() {
        m.fetch(inst, i, *ty);
    }
    let (src, dst, fp, watched) = (&m.buffers.src, &mut m.buffers.dst, &m.fp, m.watched);
    if watched == 0 {
        for lane in 0..LANES {
            D::set(dst, lane, body.call(fp, S::get(src, lane)));
        }
    } else {
        for lane in 0..LANES {
            fp.watch(watched >> lane & 1 != 0);
            D::set(dst, lane, body.call(fp, S::get(src, lane)));
        }
    }
    for (i, ty) in D::TYS.iter().enumerate() {
        m.commit(inst, i, *ty);
    }
    m.accumulate(inst);
}

/// Runs a compare: as [`lanes`], and the `cmpx` forms put their result into EXEC too.
pub fn compare<S: LaneSources, D: LaneResults, F: Body<S::Values, D::Values>>(
    m: &mut Machine<'_>,
    inst: &Inst,
    body: F,
) {
    lanes::<S, D, F>(m, inst, body);
    if inst.op.info().has(Note::Writes(Implicit::Exec)) {
        m.wave.set_exec(pack_mask(&m.buffers.dst[0][0]) & m.enabled);
    }
}

/// Runs a pure scalar row.
pub fn scalar<S, D, F>(m: &mut Machine<'_>, inst: &Inst, body: F)
where
    S: ScalarSources,
    D: ScalarResults,
    F: Body<S::Values, D::Values>,
{
    let mut bits = [0; 4];
    for (i, ty) in S::TYS.iter().enumerate() {
        bits[i] = m.uniform(inst.src[i], *ty);
    }
    let results = D::set(body.call(&m.fp, S::get(bits)));
    for (i, ty) in D::TYS.iter().enumerate() {
        m.set_scalar(inst.dst[i], *ty, results[i]);
    }
}

impl Machine<'_> {
    /// Readies a vector instruction: which lanes it is enabled for, and its clamp bit.
    pub fn begin(&mut self, inst: &Inst) {
        let exec = self.wave.exec();
        self.fp.clamp = inst.mods.clamp;
        self.fp.signals = inst.op.signals_quiet_nan();
        self.enabled = match &inst.ext {
            Ext::Dpp(dpp) => dpp_enabled(dpp, exec),
            _ => exec,
        };
        let watched = self.env.exceptions && !inst.exceptions().is_empty();
        self.watched = if watched { self.enabled } else { 0 };
    }

    /// Adds what the instruction has raised to TRAPSTS.
    fn accumulate(&mut self, inst: &Inst) {
        if self.watched != 0 {
            self.fp.watch(false);
            let raised = self.fp.take_raised();
            debug_assert!(inst.exceptions().contains(raised), "{:?} raises {raised}", inst.op);
            self.wave.trapsts |= raised.bits();
        }
    }

    /// Reads source `i` of a vector instruction for all lanes, through the modifiers, into the source buffers.
    pub fn fetch(&mut self, inst: &Inst, i: usize, ty: Ty) {
        if inst.op.info().has(Note::Mix) {
            return self.fetch_mixed(inst, i);
        }
        self.read(inst.src[i], ty, i);
        let exec = self.wave.exec();
        let raw = &mut self.buffers.src[i];
        match &inst.ext {
            Ext::Sdwa(sdwa) if i < 2 => select(&mut raw[0], sdwa.src_sel[i], sdwa.sext >> i & 1 != 0),
            Ext::Dpp(dpp) if i == 0 => move_lanes(&mut raw[0], dpp, exec),
            _ => {}
        }
        let mods = &inst.mods;
        if inst.format == Format::Vop3p {
            halves(&mut raw[0], ty, mods.op_sel >> i & 1, mods.op_sel_hi >> i & 1);
            flip_halves(&mut raw[0], ty, mods.neg >> i & 1, mods.neg_hi >> i & 1);
        } else if mods.abs | mods.neg | mods.op_sel != 0 {
            if mods.op_sel >> i & 1 != 0 && is_half(ty) {
                raw[0].iter_mut().for_each(|x| *x >>= 16);
            }
            let signed = ty.is_float() || inst.op == Op::Vop2(Vop2::v_cndmask_b32) && ty == Ty::b32;
            if signed {
                signs(raw, ty, mods.abs >> i & 1 != 0, mods.neg >> i & 1 != 0);
            }
        }
    }

    /// Source `i` of a mixed-precision instruction as f32: op_sel_hi says that it is an f16, op_sel in which half.
    fn fetch_mixed(&mut self, inst: &Inst, i: usize) {
        let bit = |bits: u8| bits >> i & 1 != 0;
        let mods = &inst.mods;
        let ty = if bit(mods.op_sel_hi) { Ty::f16 } else { Ty::f32 };
        self.read(inst.src[i], ty, i);
        let (raw, fp) = (&mut self.buffers.src[i], &self.fp);
        if ty == Ty::f16 {
            let shift = if bit(mods.op_sel) { 16 } else { 0 };
            for (lane, x) in raw[0].iter_mut().enumerate() {
                fp.watch(self.watched >> lane & 1 != 0);
                let half = f16::from_bits((*x >> shift) as u16);
                *x = f32::to_bits(fp.convert(fp.half, fp.single, half));
            }
        }
        signs(raw, Ty::f32, bit(mods.abs), bit(mods.neg));
    }

    /// Reads an operand for all lanes into source buffer `i`, as it is.
    pub fn read(&mut self, operand: Operand, ty: Ty, i: usize) {
        let dwords = usize::from(ty.dwords());
        if let Operand::Vgpr(first) = operand {
            for (dword, row) in self.buffers.src[i].iter_mut().enumerate().take(dwords) {
                *row = self.wave.vgpr[(usize::from(first) + dword) & 255];
            }
            return;
        }
        if let (Operand::Sgpr(first), Ty::b128) = (operand, ty) {
            self.buffers.src[i] = [0, 1, 2, 3].map(|dword| [self.wave.sgpr[(usize::from(first) + dword) & 127]; LANES]);
            return;
        }
        let raw = &mut self.buffers.src[i];
        if ty == Ty::b128 {
            raw[2..].fill([0; LANES]);
        }
        let bits = match operand {
            Operand::Special(LDS_DIRECT) if ty != Ty::mask => u64::from(self.lds_direct()),
            _ => self.uniform(operand, if ty == Ty::b128 { Ty::b64 } else { ty }),
        };
        let raw = &mut self.buffers.src[i];
        if ty == Ty::mask {
            raw[0] = std::array::from_fn(|lane| (bits >> lane & 1) as u32);
        } else {
            raw[0] = [bits as u32; LANES];
            if dwords > 1 {
                raw[1] = [(bits >> 32) as u32; LANES];
            }
        }
    }

    /// The bits of an operand that is the same for all lanes; the low dword or the whole, as `ty` says.
    pub fn uniform(&self, operand: Operand, ty: Ty) -> u64 {
        match operand {
            Operand::Sgpr(index) => {
                let index = usize::from(index & 127);
                let high = if ty.dwords() == 2 { self.wave.sgpr[(index + 1) & 127] } else { 0 };
                u64::from(self.wave.sgpr[index]) | u64::from(high) << 32
            }
            Operand::Scc => u64::from(self.wave.scc),
            Operand::Inline(_) => operand.inline_bits(ty).unwrap_or(0),
            // The high half of an f64, sign-extended for i64, zero-extended otherwise.
            Operand::Literal(x) => match ty {
                Ty::f64 => u64::from(x) << 32,
                Ty::i64 => x as i32 as u64,
                _ => u64::from(x),
            },
            Operand::Imm(x) => x as u64,
            Operand::Special(code) => self.special(code),
            Operand::None | Operand::Vgpr(_) => 0,
        }
    }

    /// A dword of LDS, at M0's address, the same for all lanes. Only vector operations read it, and not as a lane mask.
    fn lds_direct(&self) -> u32 {
        parameter::direct(self.env.lds, self.wave.sgpr[reg::M0])
    }

    /// A read-only source. The apertures are 64-bit values; a 32-bit operand sees their low half.
    fn special(&self, code: u8) -> u64 {
        match code {
            235 => LDS_APERTURE,
            236 => LDS_APERTURE + 0xffff_ffff,
            237 => PRIVATE_APERTURE,
            238 => PRIVATE_APERTURE + 0xffff_ffff,
            251 => u64::from(self.wave.sgpr64(reg::VCC) == 0),
            252 => u64::from(self.wave.exec() == 0),
            253 => u64::from(self.wave.scc),
            _ => 0,
        }
    }

    /// Writes a scalar result.
    pub fn set_scalar(&mut self, operand: Operand, ty: Ty, bits: u64) {
        if ty == Ty::scc {
            self.wave.scc = bits as u32;
        } else if let Operand::Sgpr(index) = operand {
            let index = usize::from(index & 127);
            self.wave.sgpr[index] = bits as u32;
            if ty.dwords() == 2 {
                self.wave.sgpr[(index + 1) & 127] = (bits >> 32) as u32;
            }
        }
    }

    /// Writes result `i` of a vector instruction from the result buffers, through the modifiers.
    pub fn commit(&mut self, inst: &Inst, i: usize, ty: Ty) {
        if ty == Ty::mask {
            let mask = pack_mask(&self.buffers.dst[i][0]) & self.enabled;
            return self.set_scalar(inst.dst[i], ty, mask);
        }
        let Operand::Vgpr(first) = inst.dst[i] else { return };
        let raw = &mut self.buffers.dst[i];
        if inst.mods.omod != 0 || inst.mods.clamp {
            modify(&self.fp, raw, ty, inst.mods.omod, inst.mods.clamp, self.watched);
        }
        let old = &self.wave.vgpr[usize::from(first)];
        match &inst.ext {
            Ext::Sdwa(sdwa) if i == 0 => place(&mut raw[0], old, sdwa),
            _ if is_half(ty) => {
                if let Some(high) = kept_half(inst) {
                    place_half(&mut raw[0], old, high);
                }
            }
            _ => {}
        }
        for dword in 0..usize::from(ty.dwords()) {
            let row = &mut self.wave.vgpr[(usize::from(first) + dword) & 255];
            store_row(row, &self.buffers.dst[i][dword], self.enabled);
        }
    }
}

/// Copies the lanes of `from` that are set in `mask`.
pub fn store_row(to: &mut Row, from: &Row, mask: u64) {
    if mask == !0 {
        *to = *from;
        return;
    }
    for lane in 0..LANES {
        to[lane] = if mask >> lane & 1 != 0 { from[lane] } else { to[lane] };
    }
}

/// The lanes whose value isn't 0.
fn pack_mask(row: &Row) -> u64 {
    row.iter().enumerate().fold(0, |mask, (lane, x)| mask | u64::from(*x != 0) << lane)
}

fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::b16 | Ty::u16 | Ty::i16 | Ty::f16)
}

/// abs, then neg, of float sources.
fn signs(raw: &mut Raw, ty: Ty, abs: bool, neg: bool) {
    let (dword, sign) = match ty {
        Ty::f64 => (1, 1 << 31),
        Ty::f16 => (0, 1 << 15),
        _ => (0, 1 << 31),
    };
    let keep = if abs { !sign } else { !0 };
    let flip = if neg { sign } else { 0 };
    raw[dword].iter_mut().for_each(|x| *x = (*x & keep) ^ flip);
}

/// VOP3P op_sel: which half of the dword becomes the low half, and which the high.
fn halves(row: &mut Row, ty: Ty, low: u8, high: u8) {
    if matches!(ty, Ty::v2f16 | Ty::v2i16 | Ty::v2u16 | Ty::v2b16) {
        row.iter_mut().for_each(|x| *x = (*x >> (16 * low)) & 0xffff | (*x >> (16 * high)) << 16);
    }
}

/// VOP3P neg of the halves; of the whole for an f32 among them.
fn flip_halves(row: &mut Row, ty: Ty, low: u8, high: u8) {
    let flip = match ty {
        Ty::v2f16 => u32::from(low) << 15 | u32::from(high) << 31,
        Ty::f32 => u32::from(low) << 31,
        _ => 0,
    };
    row.iter_mut().for_each(|x| *x ^= flip);
}

/// Where `sel` is in a dword: its first bit and its width.
fn part(sel: Sel) -> (u32, u32) {
    match sel {
        Sel::Byte0 => (0, 8),
        Sel::Byte1 => (8, 8),
        Sel::Byte2 => (16, 8),
        Sel::Byte3 => (24, 8),
        Sel::Word0 => (0, 16),
        Sel::Word1 => (16, 16),
        Sel::Dword => (0, 32),
    }
}

/// SDWA on a source: the selected part, extended.
fn select(row: &mut Row, sel: Sel, sext: bool) {
    let (start, width) = part(sel);
    let (left, right) = (32 - width - start, 32 - width);
    if sext {
        row.iter_mut().for_each(|x| *x = ((*x << left) as i32 >> right) as u32);
    } else {
        row.iter_mut().for_each(|x| *x = *x << left >> right);
    }
}

/// SDWA on the result: into the selected part, the rest as `dst_unused` says.
fn place(row: &mut Row, old: &Row, sdwa: &Sdwa) {
    let (start, width) = part(sdwa.dst_sel);
    let mask = (u32::MAX >> (32 - width)) << start;
    for (x, old) in row.iter_mut().zip(old) {
        let placed = *x << start;
        *x = match sdwa.dst_unused {
            Unused::Pad => placed & mask,
            Unused::Sext => ((*x << (32 - width)) as i32 >> (32 - width) << start) as u32,
            Unused::Preserve => placed & mask | old & !mask,
        };
    }
}

/// Whether a 16-bit result goes to the high half, for instructions that keep the other half: those with op_sel, by its
/// bit 3, and the mixed ones, by their name.
fn kept_half(inst: &Inst) -> Option<bool> {
    let high = matches!(inst.op, Op::Vop3p(Vop3p::v_fma_mixhi_f16 | Vop3p::v_mad_mixhi_f16));
    let info = inst.op.info();
    (info.has(Note::OpSel) || info.has(Note::Mix)).then_some(high || inst.mods.op_sel & 8 != 0)
}

/// A 16-bit result into one half, keeping the other.
fn place_half(row: &mut Row, old: &Row, high: bool) {
    for (x, old) in row.iter_mut().zip(old) {
        *x = if high { *x << 16 | old & 0xffff } else { old & 0xffff_0000 | *x & 0xffff };
    }
}

/// omod and clamp on all lanes of a float result; integers have neither here.
fn modify(fp: &Fp, raw: &mut Raw, ty: Ty, omod: u8, clamp: bool, watched: u64) {
    match ty {
        Ty::f32 => modify_as::<ty::f32>(fp, raw, omod, clamp, watched),
        Ty::f64 => modify_as::<ty::f64>(fp, raw, omod, clamp, watched),
        Ty::f16 => modify_as::<ty::f16>(fp, raw, omod, clamp, watched),
        Ty::v2f16 => {
            for lane in 0..LANES {
                let halves = ty::v2f16::get(raw, lane);
                ty::v2f16::set(raw, lane, halves.map(|x| fp.modified(x, 0, clamp)));
            }
        }
        _ => {}
    }
}

fn modify_as<L: Lane<Value: Float>>(fp: &Fp, raw: &mut Raw, omod: u8, clamp: bool, watched: u64) {
    for lane in 0..LANES {
        fp.watch(watched >> lane & 1 != 0);
        let x = L::get(raw, lane);
        L::set(raw, lane, fp.modified(x, omod, clamp));
    }
}

/// The lane that DPP gives `lane` as its source 0; `None` if it is out of range or the control is reserved.
///
/// row_bcast leaves the rows before the first broadcast with their own values.
pub fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, slot) = (lane & !15, lane & 15);
    let count = usize::from(ctrl & 15);
    let source = match ctrl {
        0x000..=0x0ff => lane & !3 | usize::from(ctrl >> (2 * (lane & 3)) & 3),
        0x101..=0x10f => (slot + count < 16).then_some(lane + count)?,
        0x111..=0x11f => (slot >= count).then(|| lane - count)?,
        0x121..=0x12f => row | (slot + 16 - count) & 15,
        0x130 => lane + 1,
        0x134 => (lane + 1) & 63,
        0x138 => lane.checked_sub(1)?,
        0x13c => lane.wrapping_sub(1) & 63,
        0x140 => row | (15 - slot),
        0x141 => lane & !7 | (7 - (lane & 7)),
        0x142 if lane >= 16 => row - 1,
        0x143 if lane >= 32 => (lane & !31) - 1,
        0x142 | 0x143 => lane,
        _ => return None,
    };
    (source < LANES).then_some(source)
}

/// The source lane, if it is in range and active.
fn valid_source(dpp: &Dpp, exec: u64, lane: usize) -> Option<usize> {
    dpp_source(dpp.ctrl, lane).filter(|source| exec >> source & 1 != 0)
}

/// The lanes of `exec` that a DPP instruction is enabled for.
fn dpp_enabled(dpp: &Dpp, exec: u64) -> u64 {
    let enabled = |lane: &usize| {
        let masked = dpp.row_mask >> (lane / 16) & dpp.bank_mask >> (lane / 4 % 4) & 1 != 0;
        masked && (dpp.bound_ctrl || valid_source(dpp, exec, *lane).is_some())
    };
    (0..LANES).filter(enabled).fold(0, |mask, lane| mask | 1 << lane) & exec
}

/// Source 0 of a DPP instruction: every lane's from its source lane, or 0.
fn move_lanes(row: &mut Row, dpp: &Dpp, exec: u64) {
    let old = *row;
    *row = std::array::from_fn(|lane| valid_source(dpp, exec, lane).map_or(0, |source| old[source]));
}
