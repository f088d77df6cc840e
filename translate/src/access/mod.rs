//! Memory instructions, each run for 64 lanes by one call from translated code.
//!
//! [`Access::new`] decodes an instruction once and picks a function for its form and the host; [`Access::run`] works on
//! the registers of the [`Wave`] directly.
//!
//! Contract, the same as the interpreter's: all active lanes are checked first, in lane order; the first bad lane is
//! reported, and nothing has changed then. After that the accesses happen in lane order, so the highest lane wins
//! where stores collide. Inactive lanes' registers keep their values. Buffer and LDS accesses that are out of range
//! read zero and write nothing, by dword.
//!
//! Fast paths prove that all lanes are inside of the allocation that the instruction hit last time ([`Site`]), and see
//! whether they form a run, are one, or are spread (`address`). Everything else goes lane by lane (`pieces`).
//! No floating-point arithmetic happens here under whatever modes the guest has set; see `float`.

mod address;
mod atomic;
mod cell;
mod ds;
mod export;
mod flat;
mod float;
mod image;
mod image_sample;
mod lane_move;
mod lanes;
mod mubuf;
mod pieces;
mod select;
mod smem;
#[cfg(test)]
pub(crate) mod tests;
mod typed;

pub use address::{SWIZZLE_LIMIT, Site};
pub use lane_move::{Base, Change, Half, Interleaved, LaneAtomic, LaneMove, Origin, Small};

use address::{Rows, Spot};
use atomic::Atomic;
use cell::{Form, Mover};
use gcnjit_isa::{Gen, Inst, Mem, Target};
use gcnjit_rt::lds::Reach;
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Env, Row, Trap, Wave};
use image::ImageAccess;
use lanes::Level;
use pieces::{Cut, Pieces, Unit};
use std::ops::Range;
use typed::Typed;

/// A memory instruction, prepared at translation time: the function that runs it and everything decoded.
#[derive(Clone, Debug)]
pub struct Access {
    /// Guest address of the instruction.
    pub pc: u64,
    run: Run,
    fields: Fields,
    vgprs: Range<usize>,
    sgprs: Range<usize>,
}

/// A load of SGPRs from memory, simple enough for translated code to do it alone where its site knows the allocation.
#[derive(Clone, Copy, Debug)]
pub struct ScalarLoad {
    /// The SGPR pair that the address starts from.
    pub base: usize,
    /// The SGPR that is added to it.
    pub soffset: Option<usize>,
    /// Bytes that are added to it.
    pub offset: i64,
    /// The first SGPR loaded.
    pub first: usize,
    /// How many: 1, 2, 4, 8 or 16.
    pub count: usize,
}

/// The first bad lane of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad {
    /// What is wrong with it.
    pub cause: Cause,
    /// The first bad address.
    pub address: u64,
    /// The lane; 0 for scalar accesses.
    pub lane: u32,
}

impl Access {
    /// Prepares `inst` at `pc`. Forms that are not covered are [`Trap::Unimplemented`].
    pub fn new(inst: &Inst, pc: u64, target: Target) -> Result<Access, Box<Trap>> {
        let unimplemented = |what| Box::new(Trap::Unimplemented { op: inst.op, pc, what });
        let (run, fields) = select::select(inst, pc, target).map_err(unimplemented)?;
        let (vgprs, sgprs) = fields.writes();
        Ok(Access { pc, run, fields, vgprs, sgprs })
    }

    /// Runs it. Nothing has changed after an error. `site` is this thread's, for this access and view.
    pub fn run(&self, wave: &mut Wave, env: &Env<'_>, site: &mut Site) -> Result<(), Bad> {
        site.miss();
        // SAFETY: `select` picked a function whose host features were detected, and registers that exist.
        unsafe { (self.run)(&self.fields, wave, env, site) }
    }

    /// What it is, if it is a plain load of SGPRs.
    pub fn scalar_load(&self) -> Option<ScalarLoad> {
        smem::plain_load(self.run, &self.fields)
    }

    /// The VGPRs that [`Access::run`] may write.
    pub fn writes_vgprs(&self) -> Range<usize> {
        self.vgprs.clone()
    }

    /// The VGPRs that it writes in all active lanes, all bits.
    pub fn fills_vgprs(&self) -> Range<usize> {
        let fills = match &self.fields.action {
            Action::Load(form, _) => form.small().is_none_or(|small| small.half.is_none()),
            Action::Atomic(_) => true,
            _ => false,
        };
        if fills && !self.fields.mem.tfe { self.vgprs.clone() } else { 0..0 }
    }

    /// Whether a lane of its registers matters for that lane only, and only if it is active.
    pub fn is_lane_wise(&self) -> bool {
        matches!(self.fields.action, Action::Load(..) | Action::Store(..) | Action::Atomic(_) | Action::Typed(_))
    }

    /// Whether it is a matter of lanes, each on its own, wherever in the registers they are; or of none.
    pub fn is_lane_local(&self) -> bool {
        self.scalar_load().is_some() || self.moves_linear_lanes()
    }

    /// Whether lanes are moved from or to where their addresses say, whatever their numbers.
    pub fn moves_linear_lanes(&self) -> bool {
        let moves = matches!(self.fields.action, Action::Load(..) | Action::Store(..) | Action::Atomic(_));
        moves && matches!(self.fields.linear, Linear::Memory | Linear::Lds)
    }

    /// The SGPRs, by operand code, that [`Access::run`] may write.
    pub fn writes_sgprs(&self) -> Range<usize> {
        self.sgprs.clone()
    }
}

/// What runs an access.
///
/// # Safety
/// The host has the features of the level that the function was instantiated for, and the registers exist.
type Run = unsafe fn(&Fields, &mut Wave, &Env<'_>, &mut Site) -> Result<(), Bad>;

/// No offsets.
static ZERO: Row = [0; 64];

/// A scalar operand: a register, or a constant.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Register(usize),
    Constant(u32),
    /// VCCZ, EXECZ or SCC, by operand code.
    Flag(u8),
}

impl Scalar {
    #[inline(always)]
    fn word(self, wave: &Wave) -> u32 {
        match self {
            Scalar::Register(index) => wave.sgpr[index],
            Scalar::Constant(value) => value,
            Scalar::Flag(code) => flag(wave, code),
        }
    }

    #[inline(always)]
    fn pair(self, wave: &Wave) -> u64 {
        match self {
            Scalar::Register(index) => wave.sgpr64(index),
            Scalar::Constant(value) => value.into(),
            Scalar::Flag(code) => flag(wave, code).into(),
        }
    }
}

#[cold]
fn flag(wave: &Wave, code: u8) -> u32 {
    match code {
        251 => (wave.sgpr64(reg::VCC) == 0).into(),
        252 => (wave.exec() == 0).into(),
        _ => wave.scc,
    }
}

/// What happens at the addresses.
#[derive(Clone, Copy, Debug)]
enum Action {
    Load(Form, Mover),
    Store(Form, Mover),
    Atomic(Atomic),
    /// From memory to LDS, a dword a lane.
    LoadToLds(Form),
    /// From LDS to memory, a dword a lane.
    StoreFromLds,
    /// Data and result in SGPRs.
    ScalarAtomic(Atomic),
    /// Components of a typed buffer.
    Typed(Typed),
    /// An export or a message.
    Give(export::Given),
    /// Texels.
    Image(ImageAccess),
    /// Lane movement, scalar accesses, nothing: the function knows.
    Other,
}

/// The second address of a DS instruction that has two.
#[derive(Clone, Copy, Debug)]
struct Second {
    /// Byte offset.
    offset: u32,
    /// First VGPR of its data.
    data: usize,
}

/// A decoded instruction. All VGPRs and SGPRs that it names exist.
#[derive(Clone, Debug)]
struct Fields {
    generation: Gen,
    mem: Mem,
    action: Action,
    /// Bytes a lane and address.
    bytes: u32,
    write: bool,
    /// First VGPR of the address, if there is a `vector` address.
    address: usize,
    vector: bool,
    /// First VGPR of the data that is loaded, stored or moved.
    data: usize,
    second: Option<Second>,
    /// DS: the VGPR whose lanes are moved.
    moved: usize,
    /// ds_swizzle: the lane that each lane reads.
    pattern: Box<Row>,
    /// SGPR base; MUBUF, SMEM: the resource.
    base: Scalar,
    /// MUBUF, SMEM: the offset in an SGPR.
    soffset: Scalar,
    /// Byte offset in the instruction.
    offset: i32,
    /// SMEM: the SGPRs that are loaded or stored.
    scalars: Range<usize>,
    /// FLAT: whether addresses may be in the apertures.
    apertures: bool,
    /// Where addresses that are in VGPRs, alone or with a base, count bytes in order.
    linear: Linear,
}

/// See [`Fields::linear`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linear {
    /// Nowhere, or the instruction does more than that.
    No,
    /// In memory.
    Memory,
    /// In LDS.
    Lds,
    /// In scratch, if the V# says so.
    Interleaved,
}

impl Fields {
    fn new(generation: Gen, mem: Mem, action: Action, data: usize) -> Fields {
        let (bytes, write) = match &action {
            Action::Load(form, _) => (form.bytes(), false),
            Action::Store(form, _) => (form.bytes(), true),
            Action::Atomic(atomic) | Action::ScalarAtomic(atomic) => (atomic.bytes(), true),
            Action::Typed(typed) => (4, typed.store),
            Action::Image(image) => (4, image.form.work == gcnjit_isa::ImageWork::Store),
            Action::LoadToLds(form) => (form.bytes(), false),
            Action::StoreFromLds => (4, true),
            Action::Give(_) => (0, false),
            Action::Other => (4, false),
        };
        Fields {
            generation,
            mem,
            action,
            bytes,
            write,
            address: 0,
            vector: false,
            data,
            second: None,
            moved: 0,
            pattern: Box::new(ZERO),
            base: Scalar::Constant(0),
            soffset: Scalar::Constant(0),
            offset: mem.offset,
            scalars: 0..0,
            apertures: false,
            linear: Linear::No,
        }
    }

    /// VGPRs and SGPRs that may be written.
    fn writes(&self) -> (Range<usize>, Range<usize>) {
        let addresses = if self.second.is_some() { 2 } else { 1 };
        let vgprs = match &self.action {
            Action::Load(form, _) => self.data..self.data + form.regs() * addresses,
            Action::Atomic(atomic) => atomic.result.map_or(0..0, |first| first..first + atomic.regs() * addresses),
            Action::Typed(typed) if !typed.store && !self.mem.lds => self.data..self.data + typed.dwords,
            Action::Image(image) => image.writes(),
            Action::Store(..) | Action::LoadToLds(_) | Action::StoreFromLds => 0..0,
            Action::ScalarAtomic(_) | Action::Typed(_) | Action::Give(_) => 0..0,
            Action::Other if self.scalars.is_empty() && self.bytes != 0 => self.data..self.data + 1,
            Action::Other => 0..0,
        };
        let reads_scalars = self.write && !matches!(self.action, Action::ScalarAtomic(_));
        (vgprs, if reads_scalars { 0..0 } else { self.scalars.clone() })
    }

    /// Address register `k`. The mask stands for the check that selection made.
    #[inline(always)]
    fn row<'a>(&self, wave: &'a Wave, k: usize) -> &'a Row {
        &wave.vgpr[(self.address + k) & 255]
    }

    /// The address row, plus a base.
    #[inline(always)]
    fn rows<'a>(&self, wave: &'a Wave, add: u64) -> Rows<'a> {
        Rows { lo: self.row(wave, 0), vgpr: Some(self.address), hi: None, add }
    }

    /// The spot of `rows` inside of `bounds`, where the action can be done: atomics must be aligned.
    ///
    /// # Safety
    /// The features of `L` are enabled, and the bytes inside of `bounds` may be accessed.
    #[inline(always)]
    unsafe fn spot<L: Level>(&self, rows: &Rows<'_>, exec: u64, bounds: (u64, u64)) -> Option<Spot> {
        // SAFETY: the caller's contract.
        unsafe {
            let aligned = !matches!(self.action, Action::Atomic(_)) || rows.aligned::<L>(exec, self.bytes);
            if aligned { rows.locate::<L>(exec, self.bytes, bounds) } else { None }
        }
    }

    /// LDS as DS instructions reach it: up to gfx8 M0 is its limit. FLAT reaches all of it.
    #[inline(always)]
    fn lds<'a>(&self, wave: &Wave, env: &Env<'a>) -> Reach<'a> {
        if self.generation >= Gen::Gfx9 { env.lds.whole() } else { env.lds.below(wave.sgpr[reg::M0]) }
    }

    /// Where lane 0's dword is in LDS, for moves between memory and LDS: at M0's low half, from gfx8 on plus the offset.
    fn lds_start(&self, wave: &Wave) -> u32 {
        let offset = if self.generation >= Gen::Gfx8 { self.offset as u32 } else { 0 };
        (wave.sgpr[reg::M0] & 0xffff).wrapping_add(offset)
    }

    /// How the slow path cuts the access.
    fn cut(&self) -> Cut {
        match &self.action {
            Action::Atomic(_) => Cut { units: 1, bytes: self.bytes, write: true, atomic: true },
            _ => Cut {
                units: self.bytes.div_ceil(4) as usize,
                bytes: self.bytes.min(4),
                write: self.write,
                atomic: false,
            },
        }
    }

    /// Unit `k` of an access that must be accessible as a whole.
    fn whole(&self, address: u64, k: usize) -> Unit {
        let len = if k == 0 { self.bytes } else { 4 };
        Unit::Memory(address.wrapping_add(4 * k as u64), len.into())
    }

    /// Resolves the active lanes one by one.
    fn pieces(&self, wave: &Wave, env: &Env<'_>, find: impl Fn(usize, usize) -> Unit) -> Result<Box<Pieces>, Bad> {
        Pieces::new(env, wave.exec(), self.cut(), find)
    }

    /// Does it at a spot in memory.
    ///
    /// # Safety
    /// The spot may be accessed, and was accepted.
    #[inline(always)]
    unsafe fn act(&self, wave: &mut Wave, spot: &Spot) {
        // SAFETY: the caller's contract; the registers exist.
        unsafe {
            match &self.action {
                Action::Load(_, mover) | Action::Store(_, mover) => mover(wave, self.data, spot),
                Action::Atomic(atomic) => atomic::run(atomic, wave, spot, false),
                _ => {}
            }
        }
    }

    /// Does it lane by lane.
    fn act_apart(&self, wave: &mut Wave, env: &Env<'_>, pieces: &Pieces) {
        // SAFETY: `Pieces::new` checked all that is not null, for what `cut` says; the registers exist.
        unsafe {
            match &self.action {
                Action::Load(form, _) => cell::load_pieces(*form, wave, self.data, pieces),
                Action::Store(form, _) => cell::store_pieces(*form, wave, self.data, pieces),
                Action::Atomic(atomic) => atomic::run_pieces(atomic, wave, env.lds.whole(), pieces),
                Action::LoadToLds(form) => cell::load_pieces_to_lds(*form, env.lds, pieces, self.lds_start(wave)),
                Action::StoreFromLds => cell::store_pieces_from_lds(env.lds, pieces, self.lds_start(wave)),
                _ => {}
            }
        }
    }
}
