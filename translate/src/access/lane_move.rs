//! Accesses that are plain moves between registers and memory, as [`crate::wide`] wants to know them.

use super::atomic::{Atomic, Kind};
use super::cell::Form;
use super::{Access, Action, Fields, Linear, Scalar, mubuf};
use gcnjit_isa::Gen;
use gcnjit_rt::Wave;

/// What the VGPRs of a [`LaneMove`]'s address hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Where a lane is, counted from somewhere.
    Linear(Origin),
    /// Offsets in scratch, if the V# says so.
    Interleaved(Interleaved),
}

/// Where linear addresses count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Addresses, as pairs.
    None,
    /// Offsets from an SGPR pair.
    Sgprs(usize),
    /// Offsets in LDS, which is what its site says. `by_m0`: M0 limits it.
    Lds {
        /// Whether M0 is a limit.
        by_m0: bool,
    },
}

/// A V# that may be one of scratch, and what the instruction adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interleaved {
    /// The first of its four SGPRs.
    pub register: usize,
    /// The SGPR of the scalar offset.
    pub soffset: Option<usize>,
    /// Whether the VGPR is there.
    pub offen: bool,
    generation: Gen,
}

impl Interleaved {
    /// Bits of the second word, and what they are if the V# interleaves lanes: no stride, swizzled.
    pub const WORD1: (u32, u32) = (0xbfff_0000, 0x8000_0000);

    /// The same of the last word: add the lane's number, which groups 64; gfx8 and later have more of the stride there,
    /// up to gfx8 there is the size of an element, 4 bytes.
    pub fn word3(&self) -> (u32, u32) {
        let stride = if self.generation >= Gen::Gfx8 { 0xf << 15 } else { 0 };
        let (elements, four) = if self.generation == Gen::Gfx9 { (0, 0) } else { (3 << 19, 1 << 19) };
        let lanes = 1 << 23 | 3 << 21;
        (lanes | stride | elements, lanes | four)
    }
}

/// Which half of a register a byte or word goes to or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Bits 0 to 15.
    Low,
    /// Bits 16 to 31.
    High,
}

/// A byte or word in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small {
    /// 1 or 2.
    pub bytes: i32,
    /// How a load fills the bits above it.
    pub signed: bool,
    /// The half that is its place, if that is not all of the register; a load keeps the other one.
    pub half: Option<Half>,
}

/// A load or store of a byte, a word, or one to four dwords a lane at addresses in VGPRs.
#[derive(Clone, Copy, Debug)]
pub struct LaneMove {
    /// The VGPR of the address: a pair, or one that is added to `base`.
    pub address: usize,
    /// What is added to it.
    pub base: Base,
    /// Bytes that are added to it.
    pub offset: i32,
    /// The first VGPR loaded or stored.
    pub data: usize,
    /// How many: 1 to 4.
    pub dwords: usize,
    /// Of two halves that a load has not side by side, a dword or two each: how many bytes the second is from the first.
    pub apart: Option<i32>,
    /// A byte or word instead of a dword.
    pub small: Option<Small>,
    /// Which it is.
    pub store: bool,
}

/// What is made of memory and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Their sum.
    Add,
    /// Memory less data.
    Sub,
    /// What both have.
    And,
    /// What either has.
    Or,
    /// What one of them has.
    Xor,
}

/// An atomic of a dword a lane in LDS.
#[derive(Clone, Copy, Debug)]
pub struct LaneAtomic {
    /// The address and the data, as a store would have them.
    pub lanes: LaneMove,
    /// What the address counts from.
    pub origin: Origin,
    /// What it does.
    pub change: Change,
    /// The VGPR of what was there, if it is wanted.
    pub result: Option<usize>,
}

impl LaneMove {
    /// Whether addresses are pairs of VGPRs.
    pub fn has_pairs(&self) -> bool {
        self.base == Base::Linear(Origin::None)
    }

    /// Whether it keeps nothing of the registers that it loads.
    pub fn loads_whole(&self) -> bool {
        self.store || self.small.is_none_or(|small| small.half.is_none())
    }

    /// Whether M0 limits it.
    pub fn is_limited_by_m0(&self) -> bool {
        self.base == Base::Linear(Origin::Lds { by_m0: true })
    }

    /// Bytes from a lane's address to the first one that it moves.
    pub fn first_byte(&self) -> i32 {
        self.offset + self.apart.map_or(0, |apart| apart.min(0))
    }

    /// How many dwords of a lane are side by side.
    pub fn side_by_side(&self) -> usize {
        if self.apart.is_some() { self.dwords / 2 } else { self.dwords }
    }

    /// Bytes of a lane that are side by side.
    pub fn lane_bytes(&self) -> i32 {
        match self.small {
            Some(small) => small.bytes,
            None => 4 * self.side_by_side() as i32,
        }
    }

    /// Bytes from a lane's dword that comes first in memory to dword `k`.
    pub fn place_of(&self, k: usize) -> i32 {
        let (half, dword) = (k / self.side_by_side(), k % self.side_by_side());
        let start = self.apart.map_or(0, |apart| [-apart.min(0), apart.max(0)][half]);
        start + 4 * dword as i32
    }

    /// Bytes that so many lanes side by side take, from the first to the last.
    pub fn extent(&self, lanes: i32) -> i32 {
        lanes * self.lane_bytes() + self.apart.map_or(0, i32::abs)
    }
}

impl Fields {
    /// What addresses in LDS count from.
    fn lds_origin(&self) -> Origin {
        Origin::Lds { by_m0: self.generation < Gen::Gfx9 }
    }
}

impl Access {
    /// Whether it is a plain move from or to LDS.
    pub fn is_in_lds(&self) -> bool {
        self.fields.linear == Linear::Lds
    }

    /// Whether it is a plain move from or to a buffer, which may be scratch.
    pub fn may_be_in_scratch(&self) -> bool {
        self.fields.linear == Linear::Interleaved
    }

    /// Whether the V# says so.
    pub fn is_in_scratch(&self, wave: &Wave) -> bool {
        self.may_be_in_scratch() && mubuf::Buffer::new(&self.fields, wave).interleaves_lanes()
    }

    /// What it is, if it is an atomic in LDS that is one change of the host's memory.
    pub fn lane_atomic(&self) -> Option<LaneAtomic> {
        let f = &self.fields;
        let Action::Atomic(Atomic { kind, wide: false, a, result, .. }) = f.action else { return None };
        let change = match kind {
            Kind::Add => Change::Add,
            Kind::Sub => Change::Sub,
            Kind::And => Change::And,
            Kind::Or => Change::Or,
            Kind::Xor => Change::Xor,
            _ => return None,
        };
        if f.linear != Linear::Lds || f.second.is_some() {
            return None;
        }
        let origin = f.lds_origin();
        let lanes = LaneMove {
            address: f.address,
            base: Base::Linear(origin),
            offset: f.offset,
            data: a,
            dwords: 1,
            apart: None,
            small: None,
            store: true,
        };
        Some(LaneAtomic { lanes, origin, change, result })
    }

    /// What it is, if it is a plain move.
    pub fn lane_move(&self) -> Option<LaneMove> {
        let f = &self.fields;
        let (form, store) = match f.action {
            Action::Load(form, _) => (form, false),
            Action::Store(form, _) => (form, true),
            _ => return None,
        };
        let second = f.second.map(|second| second.offset as i32 - f.offset);
        let small = form.small();
        let (dwords, apart) = match (form, second) {
            (_, None) if small.is_some() => (1, None),
            (Form::B32, None) => (1, None),
            (Form::B64, None) => (2, None),
            (Form::B96, None) => (3, None),
            (Form::B128, None) => (4, None),
            (Form::B32, Some(4)) if !store => (2, None),
            (Form::B32, Some(apart)) if !store => (2, Some(apart)),
            (Form::B64, Some(8)) if !store => (4, None),
            (Form::B64, Some(apart)) if !store => (4, Some(apart)),
            _ => return None,
        };
        let base = match (f.linear, f.base) {
            (Linear::No, _) => return None,
            (Linear::Lds, _) => Base::Linear(f.lds_origin()),
            (Linear::Interleaved, Scalar::Register(register)) if dwords == 1 => {
                let soffset = match f.soffset {
                    Scalar::Register(register) => Some(register),
                    Scalar::Constant(0) => None,
                    _ => return None,
                };
                let (offen, generation) = (f.mem.offen, f.generation);
                Base::Interleaved(Interleaved { register, soffset, offen, generation })
            }
            (Linear::Interleaved, _) => return None,
            (Linear::Memory, Scalar::Register(base)) => Base::Linear(Origin::Sgprs(base)),
            (Linear::Memory, _) => Base::Linear(Origin::None),
        };
        Some(LaneMove { address: f.address, base, offset: f.offset, data: f.data, dwords, apart, small, store })
    }
}
