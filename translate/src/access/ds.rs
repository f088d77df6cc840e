//! DS: the local data share, the global one, and lane movement.
//!
//! An address is `VGPR + offset` modulo 2³², at any alignment; up to gfx8 M0 is the limit of LDS. GDS addresses count from
//! the base in the high half of M0. Instructions with two addresses do the first of all lanes, then the second.

use super::address::{Rows, Shape, Site, Spot};
use super::atomic::{self, Atomic, Kind};
use super::cell::{Form, load_value, mover};
use super::lanes::{Level, each, levels};
use super::select::{Selected, What, nothing, optional_vgpr, vgpr};
use super::{Action, Bad, Fields, Linear, Run, Second, ZERO};
use gcnjit_isa::{Ds, Gen, Inst, Note, Operand};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::lds::Reach;
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Env, Row, Wave};

/// The function and fields of an instruction.
pub(super) fn select(op: Ds, inst: &Inst, generation: Gen) -> Selected {
    let mem = inst.mem();
    let other = |run: Run, data: Operand| {
        let mut f = Fields::new(generation, mem, Action::Other, vgpr(data, 1)?);
        f.address = optional_vgpr(inst.src[0])?;
        f.moved = optional_vgpr(inst.src[1])?;
        Ok((run, f))
    };
    match op {
        Ds::ds_nop => Ok(nothing(generation)),
        Ds::ds_swizzle_b32 => {
            let (run, mut f) = other(pick_swizzle(), inst.dst[0])?;
            *f.pattern = std::array::from_fn(|i| pattern(generation, mem.offset as u32, i as u32));
            Ok((run, f))
        }
        Ds::ds_permute_b32 => other(permute, inst.dst[0]),
        Ds::ds_bpermute_b32 => other(pick_bpermute(), inst.dst[0]),
        Ds::ds_append => other(append, inst.dst[0]),
        Ds::ds_consume => other(consume, inst.dst[0]),
        Ds::ds_read_addtid_b32 | Ds::ds_write_addtid_b32 => add_tid(op, inst, generation),
        Ds::ds_condxchg32_rtn_b64 => conditional(inst, generation, 2),
        Ds::ds_condxchg32_rtn_b128 => conditional(inst, generation, 4),
        _ => match src2(op) {
            Some((kind, wide)) => {
                let first = vgpr(inst.src[0], 1)?;
                let action = Action::Atomic(Atomic { kind, wide, a: first, b: first, result: None });
                let mut f = Fields::new(generation, mem, action, first);
                f.address = first;
                Ok((within, f))
            }
            None => memory(op, inst, generation),
        },
    }
}

fn conditional(inst: &Inst, generation: Gen, dwords: usize) -> Selected {
    let form = if dwords == 2 { Form::B64 } else { Form::B128 };
    let to = vgpr(inst.dst[0], dwords)?;
    let mut f = Fields::new(generation, inst.mem(), Action::Load(form, mover(form, false)), to);
    f.address = vgpr(inst.src[0], 1)?;
    f.moved = vgpr(inst.src[1], dwords)?;
    Ok((exchange_marked, f))
}

/// The operation, and whether it is 64-bit, of those whose data is in the share.
fn src2(op: Ds) -> Option<(Kind, bool)> {
    use {Ds::*, Kind::*};
    Some(match op {
        ds_add_src2_u32 => (Add, false),
        ds_sub_src2_u32 => (Sub, false),
        ds_rsub_src2_u32 => (RSub, false),
        ds_inc_src2_u32 => (Inc, false),
        ds_dec_src2_u32 => (Dec, false),
        ds_min_src2_i32 => (SMin, false),
        ds_max_src2_i32 => (SMax, false),
        ds_min_src2_u32 => (UMin, false),
        ds_max_src2_u32 => (UMax, false),
        ds_and_src2_b32 => (And, false),
        ds_or_src2_b32 => (Or, false),
        ds_xor_src2_b32 => (Xor, false),
        ds_write_src2_b32 => (Swap, false),
        ds_min_src2_f32 => (FMin, false),
        ds_max_src2_f32 => (FMax, false),
        ds_add_src2_f32 => (FAdd, false),
        ds_add_src2_u64 => (Add, true),
        ds_sub_src2_u64 => (Sub, true),
        ds_rsub_src2_u64 => (RSub, true),
        ds_inc_src2_u64 => (Inc, true),
        ds_dec_src2_u64 => (Dec, true),
        ds_min_src2_i64 => (SMin, true),
        ds_max_src2_i64 => (SMax, true),
        ds_min_src2_u64 => (UMin, true),
        ds_max_src2_u64 => (UMax, true),
        ds_and_src2_b64 => (And, true),
        ds_or_src2_b64 => (Or, true),
        ds_xor_src2_b64 => (Xor, true),
        ds_write_src2_b64 => (Swap, true),
        ds_min_src2_f64 => (FMin, true),
        ds_max_src2_f64 => (FMax, true),
        _ => return None,
    })
}

fn memory(op: Ds, inst: &Inst, generation: Gen) -> Selected {
    let mem = inst.mem();
    let (what, returns) = what(op).ok_or("this DS operation")?;
    let scale = op.info().notes.iter().find_map(|note| match note {
        Note::Offsets(scale) => Some(u32::from(*scale)),
        _ => None,
    });
    let (action, data, second) = action(what, returns, scale.is_some(), inst)?;
    let mut f = Fields::new(generation, mem, action, data);
    f.address = vgpr(inst.src[0], 1)?;
    if let Some(scale) = scale {
        f.offset = mem.offset * scale as i32;
        f.second = Some(Second { offset: u32::from(mem.offset1) * scale, data: second });
    }
    let run = match (mem.gds, scale) {
        (true, _) => global,
        (_, Some(_)) => {
            f.linear = Linear::Lds;
            pick_pair()
        }
        _ => {
            f.linear = Linear::Lds;
            pick_single()
        }
    };
    Ok((run, f))
}

/// The action, and the first VGPRs of the first and second address's data.
fn action(what: What, returns: bool, two: bool, inst: &Inst) -> Result<(Action, usize, usize), &'static str> {
    let [_, data0, data1, _] = inst.src;
    let dst = inst.dst[0];
    Ok(match what {
        What::Load(form) => {
            let first = vgpr(dst, form.regs() * if two { 2 } else { 1 })?;
            (Action::Load(form, mover(form, false)), first, first + form.regs())
        }
        What::Store(form) => {
            let second = if two { vgpr(data1, form.regs())? } else { 0 };
            (Action::Store(form, mover(form, true)), vgpr(data0, form.regs())?, second)
        }
        What::Narrow(kind) | What::Wide(kind) => {
            let wide = matches!(what, What::Wide(_));
            let regs = if wide { 2 } else { 1 };
            let first = vgpr(data0, regs)?;
            let second = if data1 == Operand::None { first } else { vgpr(data1, regs)? };
            // Compare-and-store has the value to compare with first.
            let swapped = matches!(kind, Kind::CmpSwap | Kind::FCmpSwap);
            let (a, b) = if swapped { (second, first) } else { (first, second) };
            let result = if returns { Some(vgpr(dst, regs * if two { 2 } else { 1 })?) } else { None };
            (Action::Atomic(Atomic { kind, wide, a, b, result }), a, second)
        }
    })
}

fn add_tid(op: Ds, inst: &Inst, generation: Gen) -> Selected {
    let load = op == Ds::ds_read_addtid_b32;
    let mover = mover(Form::B32, !load);
    let action = if load { Action::Load(Form::B32, mover) } else { Action::Store(Form::B32, mover) };
    let data = vgpr(if load { inst.dst[0] } else { inst.src[1] }, 1)?;
    Ok((by_lane, Fields::new(generation, inst.mem(), action, data)))
}

fn what(op: Ds) -> Option<(What, bool)> {
    use {Ds::*, Form::*, Kind::*, What::*};
    Some(match op {
        ds_read_u8 => (Load(U8), false),
        ds_read_i8 => (Load(I8), false),
        ds_read_u16 => (Load(U16), false),
        ds_read_i16 => (Load(I16), false),
        ds_read_u8_d16 => (Load(U8Lo), false),
        ds_read_u8_d16_hi => (Load(U8Hi), false),
        ds_read_i8_d16 => (Load(I8Lo), false),
        ds_read_i8_d16_hi => (Load(I8Hi), false),
        ds_read_u16_d16 => (Load(U16Lo), false),
        ds_read_u16_d16_hi => (Load(U16Hi), false),
        ds_read_b32 | ds_read2_b32 | ds_read2st64_b32 => (Load(B32), false),
        ds_read_b64 | ds_read2_b64 | ds_read2st64_b64 => (Load(B64), false),
        ds_read_b96 => (Load(B96), false),
        ds_read_b128 => (Load(B128), false),
        ds_write_b8 => (Store(U8), false),
        ds_write_b8_d16_hi => (Store(U8Hi), false),
        ds_write_b16 => (Store(U16), false),
        ds_write_b16_d16_hi => (Store(U16Hi), false),
        ds_write_b32 | ds_write2_b32 | ds_write2st64_b32 => (Store(B32), false),
        ds_write_b64 | ds_write2_b64 | ds_write2st64_b64 => (Store(B64), false),
        ds_write_b96 => (Store(B96), false),
        ds_write_b128 => (Store(B128), false),
        ds_add_u32 => (Narrow(Add), false),
        ds_sub_u32 => (Narrow(Sub), false),
        ds_rsub_u32 => (Narrow(RSub), false),
        ds_inc_u32 => (Narrow(Inc), false),
        ds_dec_u32 => (Narrow(Dec), false),
        ds_min_i32 => (Narrow(SMin), false),
        ds_max_i32 => (Narrow(SMax), false),
        ds_min_u32 => (Narrow(UMin), false),
        ds_max_u32 => (Narrow(UMax), false),
        ds_and_b32 => (Narrow(And), false),
        ds_or_b32 => (Narrow(Or), false),
        ds_xor_b32 => (Narrow(Xor), false),
        ds_mskor_b32 => (Narrow(MskOr), false),
        ds_cmpst_b32 => (Narrow(CmpSwap), false),
        ds_cmpst_f32 => (Narrow(FCmpSwap), false),
        ds_min_f32 => (Narrow(FMin), false),
        ds_max_f32 => (Narrow(FMax), false),
        ds_add_f32 => (Narrow(FAdd), false),
        ds_add_u64 => (Wide(Add), false),
        ds_sub_u64 => (Wide(Sub), false),
        ds_rsub_u64 => (Wide(RSub), false),
        ds_inc_u64 => (Wide(Inc), false),
        ds_dec_u64 => (Wide(Dec), false),
        ds_min_i64 => (Wide(SMin), false),
        ds_max_i64 => (Wide(SMax), false),
        ds_min_u64 => (Wide(UMin), false),
        ds_max_u64 => (Wide(UMax), false),
        ds_and_b64 => (Wide(And), false),
        ds_or_b64 => (Wide(Or), false),
        ds_xor_b64 => (Wide(Xor), false),
        ds_mskor_b64 => (Wide(MskOr), false),
        ds_cmpst_b64 => (Wide(CmpSwap), false),
        ds_cmpst_f64 => (Wide(FCmpSwap), false),
        ds_min_f64 => (Wide(FMin), false),
        ds_max_f64 => (Wide(FMax), false),
        ds_add_rtn_u32 => (Narrow(Add), true),
        ds_sub_rtn_u32 => (Narrow(Sub), true),
        ds_rsub_rtn_u32 => (Narrow(RSub), true),
        ds_inc_rtn_u32 => (Narrow(Inc), true),
        ds_dec_rtn_u32 => (Narrow(Dec), true),
        ds_min_rtn_i32 => (Narrow(SMin), true),
        ds_max_rtn_i32 => (Narrow(SMax), true),
        ds_min_rtn_u32 => (Narrow(UMin), true),
        ds_max_rtn_u32 => (Narrow(UMax), true),
        ds_and_rtn_b32 => (Narrow(And), true),
        ds_or_rtn_b32 => (Narrow(Or), true),
        ds_xor_rtn_b32 => (Narrow(Xor), true),
        ds_mskor_rtn_b32 => (Narrow(MskOr), true),
        ds_wrxchg_rtn_b32 => (Narrow(Swap), true),
        ds_cmpst_rtn_b32 => (Narrow(CmpSwap), true),
        ds_cmpst_rtn_f32 => (Narrow(FCmpSwap), true),
        ds_min_rtn_f32 => (Narrow(FMin), true),
        ds_max_rtn_f32 => (Narrow(FMax), true),
        ds_wrap_rtn_b32 => (Narrow(Wrap), true),
        ds_add_rtn_f32 => (Narrow(FAdd), true),
        ds_add_rtn_u64 => (Wide(Add), true),
        ds_sub_rtn_u64 => (Wide(Sub), true),
        ds_rsub_rtn_u64 => (Wide(RSub), true),
        ds_inc_rtn_u64 => (Wide(Inc), true),
        ds_dec_rtn_u64 => (Wide(Dec), true),
        ds_min_rtn_i64 => (Wide(SMin), true),
        ds_max_rtn_i64 => (Wide(SMax), true),
        ds_min_rtn_u64 => (Wide(UMin), true),
        ds_max_rtn_u64 => (Wide(UMax), true),
        ds_and_rtn_b64 => (Wide(And), true),
        ds_or_rtn_b64 => (Wide(Or), true),
        ds_xor_rtn_b64 => (Wide(Xor), true),
        ds_mskor_rtn_b64 => (Wide(MskOr), true),
        ds_wrxchg_rtn_b64 => (Wide(Swap), true),
        ds_cmpst_rtn_b64 => (Wide(CmpSwap), true),
        ds_cmpst_rtn_f64 => (Wide(FCmpSwap), true),
        ds_min_rtn_f64 => (Wide(FMin), true),
        ds_max_rtn_f64 => (Wide(FMax), true),
        ds_wrxchg2_rtn_b32 | ds_wrxchg2st64_rtn_b32 => (Narrow(Swap), true),
        ds_wrxchg2_rtn_b64 | ds_wrxchg2st64_rtn_b64 => (Wide(Swap), true),
        _ => return None,
    })
}

levels! {
    fn pick_single = single, Run, (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}
levels! {
    fn pick_pair = pair, Run, (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}

#[inline(always)]
unsafe fn single<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    if exec == 0 {
        return Ok(());
    }
    // SAFETY: the caller enabled the features; a located spot is inside of the LDS.
    unsafe {
        match spot::<L>(f.row(wave, 0), Some(f.address), f, f.offset as u32, exec, f.lds(wave, env)) {
            Some(spot) => act(f, wave, f.data, &spot),
            None => apart(f, wave, f.lds(wave, env), 0),
        }
    }
    Ok(())
}

/// The spot of an LDS access whose lanes are all in range.
///
/// # Safety
/// The features of `L` are enabled.
#[inline(always)]
unsafe fn spot<L: Level>(
    row: &Row,
    vgpr: Option<usize>,
    f: &Fields,
    offset: u32,
    exec: u64,
    lds: Reach<'_>,
) -> Option<Spot> {
    let start = lds.as_ptr().expose_provenance() as u64;
    let rows = Rows { lo: row, vgpr, hi: None, add: start + u64::from(offset) };
    // SAFETY: the caller enabled the features; the LDS has `size` bytes.
    unsafe { rows.locate::<L>(exec, f.bytes, (start, start + u64::from(lds.size()))) }
}

/// The spot of `bytes` bytes a lane, if it can be used at any of them: not if lanes follow each other at that distance.
///
/// # Safety
/// The features of `L` are enabled.
#[inline(always)]
unsafe fn hull<L: Level>(
    row: &Row,
    vgpr: Option<usize>,
    low: u32,
    bytes: u32,
    exec: u64,
    lds: Reach<'_>,
) -> Option<Spot> {
    let start = lds.as_ptr().expose_provenance() as u64;
    let rows = Rows { lo: row, vgpr, hi: None, add: start + u64::from(low) };
    // SAFETY: the caller enabled the features; the LDS has `size` bytes.
    let spot = unsafe { rows.locate::<L>(exec, bytes, (start, start + u64::from(lds.size()))) };
    spot.filter(|spot| !matches!(spot.shape, Shape::Contiguous { .. }))
}

/// # Safety
/// The spot may be accessed.
#[inline(always)]
unsafe fn act(f: &Fields, wave: &mut Wave, data: usize, spot: &Spot) {
    // SAFETY: the caller's contract; the registers exist.
    unsafe {
        match &f.action {
            Action::Load(_, mover) | Action::Store(_, mover) => mover(wave, data, spot),
            Action::Atomic(atomic) => atomic::run(atomic, wave, spot, true),
            _ => {}
        }
    }
}

/// Two addresses: all lanes at the first, then all at the second. Exchanges do both of a lane before the next.
#[inline(always)]
unsafe fn pair<L: Level>(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let exec = wave.exec();
    let Some(second) = f.second.filter(|_| exec != 0) else { return Ok(()) };
    if matches!(f.action, Action::Atomic(_)) {
        apart(f, wave, f.lds(wave, env), 0);
        return Ok(());
    }
    // A result of the first pass may be in the address register.
    let clobbers = !f.write && (f.data..second.data).contains(&f.address);
    let copy = if clobbers { *f.row(wave, 0) } else { ZERO };
    let (low, high) = ((f.offset as u32).min(second.offset), (f.offset as u32).max(second.offset));
    {
        let (row, vgpr) = if clobbers { (&copy, None) } else { (f.row(wave, 0), Some(f.address)) };
        // SAFETY: the caller enabled the features; every lane's bytes from the lower address to the end of the higher
        // one are inside of the LDS.
        unsafe {
            if let Some(hull) = hull::<L>(row, vgpr, low, high - low + f.bytes, exec, f.lds(wave, env)) {
                act(f, wave, f.data, &hull.moved(f.offset as u32 - low));
                act(f, wave, second.data, &hull.moved(second.offset - low));
                return Ok(());
            }
        }
    }
    for (offset, data) in [(f.offset as u32, f.data), (second.offset, second.data)] {
        let (row, vgpr) = if clobbers { (&copy, None) } else { (f.row(wave, 0), Some(f.address)) };
        // SAFETY: the caller enabled the features; a located spot is inside of the LDS.
        unsafe {
            match spot::<L>(row, vgpr, f, offset, exec, f.lds(wave, env)) {
                Some(spot) => act(f, wave, data, &spot),
                None => {
                    let row = *row;
                    pass(f, wave, f.lds(wave, env), exec, data, |lane| row[lane].wrapping_add(offset));
                }
            }
        }
    }
    Ok(())
}

/// Either data share, as the lane-by-lane path sees it.
trait Share: Copy {
    fn load<const N: usize>(self, address: u32) -> [u8; N];
    fn store<const N: usize>(self, address: u32, data: [u8; N]);
    fn atomic_u32(self, address: u32, f: impl FnOnce(u32) -> u32) -> u32;
    fn atomic_u64(self, address: u32, f: impl FnOnce(u64) -> u64) -> u64;
}

macro_rules! share {
    ($ty:ty, $of:ident) => {
        impl Share for $ty {
            fn load<const N: usize>(self, address: u32) -> [u8; N] {
                $of::load(self, address)
            }

            fn store<const N: usize>(self, address: u32, data: [u8; N]) {
                $of::store(self, address, data);
            }

            fn atomic_u32(self, address: u32, f: impl FnOnce(u32) -> u32) -> u32 {
                $of::atomic_u32(self, address, f)
            }

            fn atomic_u64(self, address: u32, f: impl FnOnce(u64) -> u64) -> u64 {
                $of::atomic_u64(self, address, f)
            }
        }
    };
}
share! { Reach<'_>, Reach }
share! { &Gds, Gds }

/// Lane by lane.
#[inline(never)]
fn apart<S: Share>(f: &Fields, wave: &mut Wave, share: S, base: u32) {
    let (exec, row) = (wave.exec(), *f.row(wave, 0));
    let at = |lane: usize, offset: u32| base.wrapping_add(row[lane]).wrapping_add(offset);
    if let Action::Atomic(atomic) = &f.action {
        for lane in each(exec) {
            let second = f.second.map(|second| (at(lane, second.offset), second.data));
            exchange(atomic, wave, share, lane, at(lane, f.offset as u32), second);
        }
        return;
    }
    pass(f, wave, share, exec, f.data, |lane| at(lane, f.offset as u32));
    if let Some(second) = f.second {
        pass(f, wave, share, exec, second.data, |lane| at(lane, second.offset));
    }
}

/// Loads or stores one address of every lane.
fn pass<S: Share>(f: &Fields, wave: &mut Wave, share: S, exec: u64, data: usize, at: impl Fn(usize) -> u32) {
    for lane in each(exec) {
        match &f.action {
            Action::Load(form, _) => load(*form, wave, share, lane, at(lane), data),
            Action::Store(form, _) => store(*form, wave, share, lane, at(lane), data),
            _ => {}
        }
    }
}

/// An atomic of one lane; sources are read before results are written.
fn exchange<S: Share>(atomic: &Atomic, wave: &mut Wave, share: S, lane: usize, at: u32, second: Option<(u32, usize)>) {
    let value = |first: usize| {
        let high = if atomic.wide { u64::from(wave.vgpr[first + 1][lane]) << 32 } else { 0 };
        u64::from(wave.vgpr[first][lane]) | high
    };
    let (a, b, mode) = (value(atomic.a), value(atomic.b), wave.mode);
    let change = |at: u32, a: u64, b: u64| match atomic.wide {
        true => share.atomic_u64(at, |old| atomic::apply64(atomic.kind, old, a, b, mode)),
        false => share.atomic_u32(at, |old| atomic::apply32(atomic.kind, old, a as u32, b as u32, mode)).into(),
    };
    let second = second.map(|(at, data)| (at, value(data)));
    let olds = [Some(change(at, a, b)), second.map(|(at, a)| change(at, a, 0))];
    let Some(result) = atomic.result else { return };
    for (k, old) in olds.into_iter().flatten().enumerate() {
        let first = result + k * atomic.regs();
        wave.vgpr[first][lane] = old as u32;
        if atomic.wide {
            wave.vgpr[first + 1][lane] = (old >> 32) as u32;
        }
    }
}

fn load<S: Share>(form: Form, wave: &mut Wave, share: S, lane: usize, at: u32, data: usize) {
    let mut rows = |dwords: &[u8]| {
        for (k, dword) in dwords.chunks_exact(4).enumerate() {
            wave.vgpr[data + k][lane] = u32::from_le_bytes([dword[0], dword[1], dword[2], dword[3]]);
        }
    };
    match form.bytes() {
        1 => {
            let value = u16::from(share.load::<1>(at)[0]);
            wave.vgpr[data][lane] = load_value(form, value, wave.vgpr[data][lane]);
        }
        2 => {
            let value = u16::from_le_bytes(share.load(at));
            wave.vgpr[data][lane] = load_value(form, value, wave.vgpr[data][lane]);
        }
        4 => rows(&share.load::<4>(at)),
        8 => rows(&share.load::<8>(at)),
        12 => rows(&share.load::<12>(at)),
        _ => rows(&share.load::<16>(at)),
    }
}

fn store<S: Share>(form: Form, wave: &Wave, share: S, lane: usize, at: u32, data: usize) {
    let high = matches!(form, Form::U8Hi | Form::I8Hi | Form::U16Hi);
    let small = wave.vgpr[data][lane] >> if high { 16 } else { 0 };
    match form.bytes() {
        1 => share.store(at, [small as u8]),
        2 => share.store(at, (small as u16).to_le_bytes()),
        4 => share.store::<4>(at, dwords(wave, data, lane)),
        8 => share.store::<8>(at, dwords(wave, data, lane)),
        12 => share.store::<12>(at, dwords(wave, data, lane)),
        _ => share.store::<16>(at, dwords(wave, data, lane)),
    }
}

fn dwords<const N: usize>(wave: &Wave, first: usize, lane: usize) -> [u8; N] {
    std::array::from_fn(|i| wave.vgpr[first + i / 4][lane].to_le_bytes()[i % 4])
}

unsafe fn global(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    apart(f, wave, env.gds, wave.sgpr[reg::M0] >> 16);
    Ok(())
}

/// What `change` makes of the word at `at`, which is returned.
fn replace<S: Share>(share: S, wide: bool, at: u32, change: impl FnOnce(u64) -> u64) -> u64 {
    if wide { share.atomic_u64(at, change) } else { share.atomic_u32(at, |old| change(old.into()) as u32).into() }
}

/// A word and its data both in the share, lane by lane.
unsafe fn within(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    if f.mem.gds {
        within_share(f, wave, env.gds, wave.sgpr[reg::M0] >> 16)
    } else {
        within_share(f, wave, f.lds(wave, env), 0)
    }
    Ok(())
}

fn within_share<S: Share>(f: &Fields, wave: &Wave, share: S, base: u32) {
    let Action::Atomic(Atomic { kind, wide, .. }) = f.action else { return };
    for lane in each(wave.exec()) {
        let address = f.row(wave, 0)[lane];
        // The distance counts dwords, in 15 bits with a sign.
        let (to, distance) = match f.offset & 0x8000 {
            0 => (address, f.offset << 17 >> 17),
            _ => (address & 0x1_ffff, address as i32 >> 17),
        };
        let to = base.wrapping_add(to);
        let data = replace(share, wide, to.wrapping_add_signed(4 * distance), |old| old);
        replace(share, wide, to, |old| match wide {
            true => atomic::apply64(kind, old, data, 0, wave.mode),
            false => atomic::apply32(kind, old as u32, data as u32, 0, wave.mode).into(),
        });
    }
}

/// Dwords of the data that are negative replace memory's, as positive ones; the old dwords are returned.
unsafe fn exchange_marked(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let base = if f.mem.gds { wave.sgpr[reg::M0] >> 16 } else { 0 };
    let lds = f.lds(wave, env);
    for lane in each(wave.exec()) {
        let start = base.wrapping_add(f.row(wave, 0)[lane]).wrapping_add(f.offset as u32);
        let data: [u32; 4] = std::array::from_fn(|k| wave.vgpr[(f.moved + k) & 255][lane]);
        for (k, data) in data.into_iter().enumerate().take(f.bytes as usize / 4) {
            let change = |old| if (data as i32) < 0 { data & 0x7fff_ffff } else { old };
            let at = start.wrapping_add(4 * k as u32);
            wave.vgpr[f.data + k][lane] =
                if f.mem.gds { env.gds.atomic_u32(at, change) } else { lds.atomic_u32(at, change) };
        }
    }
    Ok(())
}

/// The address is M0's low half, the offset and 4 a lane.
unsafe fn by_lane(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let m0 = wave.sgpr[reg::M0];
    for lane in each(wave.exec()) {
        let at = (m0 & 0xffff) + f.offset as u32 + 4 * lane as u32;
        match (f.write, f.mem.gds) {
            (false, false) => load(Form::B32, wave, f.lds(wave, env), lane, at, f.data),
            (false, true) => load(Form::B32, wave, env.gds, lane, at, f.data),
            (true, false) => store(Form::B32, wave, f.lds(wave, env), lane, at, f.data),
            (true, true) => store(Form::B32, wave, env.gds, lane, at, f.data),
        }
    }
    Ok(())
}

unsafe fn append(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    count(f, wave, env, u32::wrapping_add)
}

unsafe fn consume(f: &Fields, wave: &mut Wave, env: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    count(f, wave, env, u32::wrapping_sub)
}

/// One change for the wave, by the number of its active lanes, which all get the old value.
fn count(f: &Fields, wave: &mut Wave, env: &Env<'_>, change: fn(u32, u32) -> u32) -> Result<(), Bad> {
    let (exec, m0) = (wave.exec(), wave.sgpr[reg::M0]);
    if exec == 0 {
        return Ok(());
    }
    let next = |old| change(old, exec.count_ones());
    let old = if f.mem.gds {
        env.gds.atomic_u32((m0 >> 16).wrapping_add(f.offset as u32), next)
    } else {
        env.lds.atomic_u32((m0 & 0xffff).wrapping_add(f.offset as u32), next)
    };
    for lane in each(exec) {
        wave.vgpr[f.data][lane] = old;
    }
    Ok(())
}

levels! {
    fn pick_swizzle = swizzle, Run, (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}
levels! {
    fn pick_bpermute = bpermute, Run, (f: &Fields, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad>
}

/// A fixed pattern within halves of the wave. Lanes that are not active give zero.
#[inline(always)]
unsafe fn swizzle<L: Level>(f: &Fields, wave: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    // SAFETY: the caller enabled the features.
    unsafe { gather::<L>(wave, f.data, f.address, &f.pattern) };
    Ok(())
}

/// Every active lane reads the lane it names; lanes that are not active give zero.
#[inline(always)]
unsafe fn bpermute<L: Level>(f: &Fields, wave: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let mut from = *f.row(wave, 0);
    for from in &mut from {
        *from = from.wrapping_add(f.offset as u32) >> 2;
    }
    // SAFETY: the caller enabled the features.
    unsafe { gather::<L>(wave, f.data, f.moved, &from) };
    Ok(())
}

/// Register `to` of every active lane becomes `row` of lane `from[lane]` modulo 64, or zero if that is not active.
///
/// # Safety
/// The features of `L` are enabled.
#[inline(always)]
unsafe fn gather<L: Level>(wave: &mut Wave, to: usize, row: usize, from: &Row) {
    let exec = wave.exec();
    let mut moved = ZERO;
    // SAFETY: the caller enabled the features.
    unsafe {
        if exec == !0 {
            L::permute(&mut moved, &wave.vgpr[row & 255], from);
            wave.vgpr[to & 255] = moved;
        } else {
            let mut active = ZERO;
            L::blend(&mut active, &wave.vgpr[row & 255], exec);
            L::permute(&mut moved, &active, from);
            L::blend(&mut wave.vgpr[to & 255], &moved, exec);
        }
    }
}

/// The lane that lane `i` reads.
fn pattern(generation: Gen, offset: u32, i: u32) -> u32 {
    let (low, middle) = (offset & 31, offset >> 5 & 31);
    let from = match offset {
        // FFT: the bits that are not kept, reversed.
        0xe000.. if generation >= Gen::Gfx9 => (i & 31).reverse_bits() >> 27 >> low.count_ones() | i & low,
        0xc000.. if generation >= Gen::Gfx9 => {
            let by = if offset >> 10 & 1 == 0 { middle } else { middle.wrapping_neg() };
            i & low | i.wrapping_add(by) & !low
        }
        0x8000.. => i & 0x1c | offset >> (2 * (i & 3)) & 3,
        _ => (i & low | middle) ^ offset >> 10 & 31,
    };
    from & 31 | i & 32
}

/// Every active lane gives its value to the lane it names; lanes that get none read zero.
unsafe fn permute(f: &Fields, wave: &mut Wave, _: &Env<'_>, _: &mut Site) -> Result<(), Bad> {
    let (to, row) = (*f.row(wave, 0), wave.vgpr[f.moved]);
    let mut values = [0; 64];
    for lane in each(wave.exec()) {
        values[(to[lane].wrapping_add(f.offset as u32) >> 2 & 63) as usize] = row[lane];
    }
    for lane in each(wave.exec()) {
        wave.vgpr[f.data][lane] = values[lane];
    }
    Ok(())
}
