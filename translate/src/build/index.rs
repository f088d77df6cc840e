//! VGPR indexing by M0 (gfx8, gfx9): bits 7:0 are added to the numbers of the VGPRs that vector ALU instructions name,
//! where bits 15:12 ask for it: sources 0 to 2, and the result with the accumulator that goes with it. Relative moves
//! add all of M0. Where that is out of range of the wave's registers, a source is v0, and the instruction writes nothing
//! if a result is.

use super::Builder;
use crate::lane::{Term, Value};
use gcnjit_isa::{Gen, Inst, Note, Op, Operand, Vop1};
use gcnjit_rt::Mode;
use gcnjit_rt::wave::reg;

/// The place of results among the operands.
pub(super) const RESULT: usize = 3;

/// What is known of indexing while a block is built. Whether it is on always is: it is part of the MODE that code is
/// made for, and a block that switches it leaves the unit at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexing {
    /// Off.
    Off,
    /// On, for the operands whose bits are set.
    For(u32),
    /// On, for the operands that M0 says when the code runs.
    ByM0,
    /// For the instruction in hand, by all of M0, for the operands whose bits are set.
    Relative(u32),
}

impl Indexing {
    /// At the start of a block.
    pub fn new(mode: Mode, generation: Gen) -> Indexing {
        if mode.gpr_index() && generation >= Gen::Gfx8 { Indexing::ByM0 } else { Indexing::Off }
    }

    fn is_on(self) -> bool {
        self != Indexing::Off
    }
}

/// The place of source `i` among the operands that M0 knows.
pub(super) fn place_of_source(inst: &Inst, i: usize) -> usize {
    let info = inst.op.info();
    let last_is_result = info.has(Note::Acc) || inst.op == Op::Vop1(Vop1::v_swap_b32);
    if last_is_result && i + 1 == info.srcs.len() { RESULT } else { i }
}

/// The place of result `i`: the second one in a VGPR is v_swap's source.
pub(super) fn place_of_result(i: usize) -> usize {
    if i == 0 { RESULT } else { 0 }
}

impl Builder {
    /// What is added to the number of a VGPR at `place`.
    fn index_at(&mut self, place: usize) -> Option<Value> {
        let m0 = match self.indexing {
            Indexing::Relative(operands) if operands >> place & 1 != 0 => return Some(self.m0()),
            Indexing::For(operands) if operands >> place & 1 != 0 => self.m0(),
            Indexing::ByM0 if place <= RESULT => self.m0(),
            _ => return None,
        };
        let index = self.and_bits(m0, 0xff);
        if self.indexing != Indexing::ByM0 {
            return Some(index);
        }
        let asked = self.and_bits(m0, 0x1000 << place);
        let (asked, zero) = (self.non_zero(asked), self.b32(0));
        Some(self.select(asked, index, zero))
    }

    /// The number of the first of `dwords` VGPRs, `register` and `index`, if they all exist; else 0. And whether they do.
    fn further(&mut self, register: u8, dwords: u8, index: Value) -> (Value, Value) {
        let taken = u32::from(register) + u32::from(dwords.max(1)) - 1;
        let room = u32::from(self.registers.vgprs).saturating_sub(taken);
        let (room, first, zero) = (self.b32(room), self.b32(register.into()), self.b32(0));
        let (inside, number) = (self.ult(index, room), self.add(first, index));
        (inside, self.select(inside, number, zero))
    }

    /// Dword `dword` of the `dwords` VGPRs from `first` on that a vector ALU instruction names at `place`.
    pub(super) fn vgpr_operand(&mut self, first: u8, dwords: u8, dword: u8, place: usize) -> Value {
        match self.index_at(place) {
            None => self.vgpr(first.wrapping_add(dword)),
            Some(index) => {
                let (_, number) = self.further(first, dwords, index);
                self.vgpr_at(dword, number)
            }
        }
    }

    /// Writes the lanes of `enabled` of VGPR `register` at `place`. None are if a result [is out of
    /// range](Builder::results_exist).
    pub(super) fn set_vgpr_operand(&mut self, register: u8, place: usize, value: Value, enabled: Value) {
        match self.index_at(place) {
            None => self.set_vgpr_under(register, value, enabled),
            Some(index) => self.set_vgpr_at(register, index, value, enabled),
        }
    }

    /// Whether all results that are indexed exist; `None` if none is.
    pub(super) fn results_exist(&mut self, inst: &Inst) -> Option<Value> {
        let mut all = None;
        for (i, ty) in inst.op.info().dsts.iter().enumerate() {
            let Operand::Vgpr(first) = inst.dst[i] else { continue };
            let Some(index) = self.index_at(place_of_result(i)) else { continue };
            let (exists, _) = self.further(first, ty.dwords(), index);
            all = Some(all.map_or(exists, |all| self.and(all, exists)));
        }
        all
    }

    /// Has operands indexed otherwise; the result is how they were.
    pub(super) fn replace_indexing(&mut self, indexing: Indexing) -> Indexing {
        std::mem::replace(&mut self.indexing, indexing)
    }

    /// Switches indexing.
    pub(super) fn switch_indexing(&mut self, on: bool) {
        let bits = self.b32(if on { Mode::GPR_INDEX } else { 0 });
        self.set_mode_bits(Mode::GPR_INDEX, bits);
        self.indexing = if on { Indexing::ByM0 } else { Indexing::Off };
    }

    /// M0's low byte, the index.
    pub(super) fn set_index(&mut self, index: Value) {
        let indexing = self.indexing;
        self.set_m0_bits(0xff, index);
        self.replace_indexing(indexing);
    }

    /// M0's bits 15:12, the operands that are indexed.
    pub(super) fn set_indexed_operands(&mut self, operands: u32) {
        let operands = operands & 15;
        let bits = self.b32(operands << 12);
        self.set_m0_bits(0xf000, bits);
        if self.indexing.is_on() {
            self.indexing = Indexing::For(operands);
        }
    }

    fn set_m0_bits(&mut self, mask: u64, bits: Value) {
        let m0 = self.m0();
        let kept = self.and_bits(m0, !mask);
        let m0 = self.or(kept, bits);
        self.set_scalar(Operand::M0, gcnjit_isa::Ty::b32, m0);
    }

    /// SGPRs may have changed.
    pub(super) fn sgprs_written(&mut self, registers: std::ops::Range<usize>) {
        if registers.contains(&reg::M0) && self.indexing.is_on() {
            self.indexing = Indexing::ByM0;
        }
    }

    /// The end of a block; the code behind it is another one's if indexing has been switched.
    pub(super) fn checked_term(&mut self, term: Term) -> Term {
        if self.indexing.is_on() == Indexing::new(self.mode, self.generation()).is_on() {
            return term;
        }
        match term {
            Term::Jump(pc) => Term::Reenter(pc),
            Term::Branch(condition, yes, no) => {
                let (yes, no) = (self.b64(yes), self.b64(no));
                Term::Dynamic(self.select(condition, yes, no))
            }
            Term::Indirect(pc) => Term::Dynamic(pc),
            other => other,
        }
    }
}
