//! What each register holds while a block is built.

use super::Builder;
use crate::defect::{Precaution, forgets};
use crate::lane::{Fenv, Op, Shape, Ty, Value, indexed_vgprs};
use crate::libcall::LdsRow;
use gcnjit_rt::Mode;
use gcnjit_rt::wave::reg;
use std::collections::BTreeMap;
use std::ops::Range;

/// Known contents of the registers; what is missing is in the register file.
#[derive(Default)]
pub(super) struct Regs {
    vgpr: BTreeMap<u8, Vgpr>,
    sgpr: BTreeMap<u8, Scalar>,
    scc: Option<Scalar>,
    mode: Option<Scalar>,
    trapsts: Option<Scalar>,
    /// Numbers the moments at which the register file changes.
    epoch: u64,
}

/// A VGPR: `value` in the lanes of `under`, `base` in the others.
#[derive(Clone, Copy)]
struct Vgpr {
    value: Value,
    /// `None`: all lanes.
    under: Option<Value>,
    base: Value,
    dirty: bool,
}

#[derive(Clone, Copy)]
struct Scalar {
    value: Value,
    dirty: bool,
}

impl Builder {
    fn read_file(&mut self, op: Op, ty: Ty, register: u8) -> Value {
        let imm = u64::from(register) | self.regs.epoch << 32;
        self.op(op, ty, Fenv::Any, &[], imm)
    }

    /// SGPR by operand code.
    pub fn sgpr(&mut self, register: u8) -> Value {
        if let Some(known) = self.regs.sgpr.get(&register) {
            return known.value;
        }
        let value = self.read_file(Op::Sgpr, Ty::B32, register);
        self.regs.sgpr.insert(register, Scalar { value, dirty: false });
        value
    }

    /// A pair of SGPRs as 64 bits.
    pub fn sgpr64(&mut self, register: u8) -> Value {
        let (lo, hi) = (self.sgpr(register), self.sgpr(register + 1));
        self.pack(lo, hi)
    }

    /// Writes an SGPR. Writing EXEC ends the segment after this instruction.
    pub fn set_sgpr(&mut self, register: u8, value: Value) {
        debug_assert!(self.node(value).shape == Shape::Uniform, "an SGPR holds a uniform value");
        if usize::from(register) & !1 == reg::EXEC {
            self.flush_vgprs();
            self.exec_changed = true;
        }
        self.regs.sgpr.insert(register, Scalar { value, dirty: true });
        self.sgprs_written(usize::from(register)..usize::from(register) + 1);
    }

    /// Writes a pair of SGPRs.
    pub fn set_sgpr64(&mut self, register: u8, value: Value) {
        let (lo, hi) = (self.lo(value), self.hi(value));
        self.set_sgpr(register, lo);
        self.set_sgpr(register + 1, hi);
    }

    /// The lane mask.
    pub fn exec(&mut self) -> Value {
        self.sgpr64(reg::EXEC as u8)
    }

    /// EXEC is `value`, as it is in the register file.
    pub(super) fn restore_exec(&mut self, value: Value) {
        for (register, half) in [(reg::EXEC, self.lo(value)), (reg::EXEC + 1, self.hi(value))] {
            self.regs.sgpr.insert(register as u8, Scalar { value: half, dirty: false });
        }
    }

    /// M0.
    pub fn m0(&mut self) -> Value {
        self.sgpr(reg::M0 as u8)
    }

    /// The scalar condition code, a B1.
    pub fn scc(&mut self) -> Value {
        if let Some(known) = self.regs.scc {
            return known.value;
        }
        let value = self.read_file(Op::Scc, Ty::B1, 0);
        self.regs.scc = Some(Scalar { value, dirty: false });
        value
    }

    /// Writes the scalar condition code.
    pub fn set_scc(&mut self, value: Value) {
        self.regs.scc = Some(Scalar { value, dirty: true });
    }

    /// VCC.
    pub fn vcc(&mut self) -> Value {
        self.sgpr64(reg::VCC as u8)
    }

    /// MODE.
    pub fn mode_value(&mut self) -> Value {
        if let Some(known) = self.regs.mode {
            return known.value;
        }
        let value = self.read_file(Op::Mode, Ty::B32, 0);
        self.regs.mode = Some(Scalar { value, dirty: false });
        value
    }

    /// Writes the bits of MODE in `mask`; `bits` has no others. The code goes on as it was made for the old ones.
    pub fn set_mode_bits(&mut self, mask: u32, bits: Value) {
        let mode = self.mode_value();
        let kept = self.and_bits(mode, u64::from(!mask));
        let value = self.or(kept, bits);
        self.regs.mode = Some(Scalar { value, dirty: true });
    }

    /// TRAPSTS.
    pub fn trapsts(&mut self) -> Value {
        if let Some(known) = self.regs.trapsts {
            return known.value;
        }
        let value = self.read_file(Op::Trapsts, Ty::B32, 0);
        self.regs.trapsts = Some(Scalar { value, dirty: false });
        value
    }

    /// Sets the bits of TRAPSTS that are set in `bits`, which has no others than EXCP.
    pub fn add_to_trapsts(&mut self, bits: Value) {
        let trapsts = self.trapsts();
        let value = self.or(trapsts, bits);
        self.regs.trapsts = Some(Scalar { value, dirty: true });
    }

    /// Writes the bits of TRAPSTS in `mask`; `bits` has no others.
    pub fn set_trapsts_bits(&mut self, mask: u32, bits: Value) {
        let trapsts = self.trapsts();
        let kept = self.and_bits(trapsts, u64::from(!mask));
        let value = self.or(kept, bits);
        self.regs.trapsts = Some(Scalar { value, dirty: true });
    }

    /// Entries on the stack of s_cbranch_*_fork.
    pub fn stack_pointer(&mut self) -> Value {
        let mode = self.mode_value();
        self.shr_by(mode, Mode::CSP)
    }

    /// Moves the pointer of that stack, modulo 8.
    pub fn move_stack_pointer(&mut self, by: Value) {
        let csp = self.stack_pointer();
        let csp = self.add(csp, by);
        let bits = self.shl_by(csp, Mode::CSP);
        self.set_mode_bits(7 << Mode::CSP, bits);
    }

    /// Four SGPRs of the stack: the first one's number.
    pub fn stack_slot(&mut self) -> Value {
        let csp = self.stack_pointer();
        self.shl_by(csp, 2)
    }

    /// The numbered SGPR, or the pair of them, `index` further on.
    pub fn sgpr_at(&mut self, register: u8, index: Value, wide: bool) -> Value {
        self.flush_scalars();
        self.regs.epoch += 1;
        let low = self.read_sgpr_at(register, index);
        if !wide {
            return low;
        }
        let high = self.read_sgpr_at(register + 1, index);
        self.pack(low, high)
    }

    fn read_sgpr_at(&mut self, register: u8, index: Value) -> Value {
        let imm = u64::from(register) | self.regs.epoch << 32;
        self.op(Op::SgprAt, Ty::B32, Fenv::Any, &[index], imm)
    }

    /// Writes a numbered SGPR, or a pair of them, `index` further on.
    pub fn set_sgpr_at(&mut self, register: u8, index: Value, value: Value) {
        self.flush_scalars();
        if self.ty(value) == Ty::B64 {
            let (low, high) = (self.lo(value), self.hi(value));
            self.block.effect(Op::SetSgprAt, [low, index, Value::NONE], u64::from(register));
            self.block.effect(Op::SetSgprAt, [high, index, Value::NONE], u64::from(register + 1));
        } else {
            self.block.effect(Op::SetSgprAt, [value, index, Value::NONE], u64::from(register));
        }
        self.forget(0..0, 0..usize::from(self.generation().sgprs()));
    }

    /// A VGPR as the active lanes see it.
    pub fn vgpr(&mut self, register: u8) -> Value {
        let exec = self.exec();
        match self.regs.vgpr.get(&register).copied() {
            None => self.read_file(Op::Vgpr, Ty::B32, register),
            Some(known) if known.under.is_none() || known.under == Some(exec) => known.value,
            Some(known) => self.blended(register, known),
        }
    }

    /// A VGPR in all lanes.
    pub fn whole_vgpr(&mut self, register: u8) -> Value {
        match self.regs.vgpr.get(&register).copied() {
            None => self.read_file(Op::Vgpr, Ty::B32, register),
            Some(known) => self.blended(register, known),
        }
    }

    fn blended(&mut self, register: u8, known: Vgpr) -> Value {
        if !known.dirty {
            return self.read_file(Op::Vgpr, Ty::B32, register);
        }
        match known.under {
            None => known.value,
            Some(mask) => {
                let mask = self.spread(mask);
                if self.keeps_outside(known.value, mask, known.base) {
                    return known.value;
                }
                self.select(mask, known.value, known.base)
            }
        }
    }

    /// Whether a value is the old one already in lanes outside of the mask.
    fn keeps_outside(&self, value: Value, mask: Value, old: Value) -> bool {
        let node = self.node(value);
        let [chosen, _, other] = node.args;
        let is_within = || {
            let chosen = self.node(chosen);
            chosen.op == Op::And && chosen.args().any(|arg| arg == mask)
        };
        node.op == Op::Select && other == old && (is_within() || forgets(Precaution::Within))
    }

    /// Writes the active lanes of a VGPR.
    pub fn set_vgpr(&mut self, register: u8, value: Value) {
        let exec = self.exec();
        self.set_vgpr_under(register, value, exec);
    }

    /// Writes the lanes of `mask`, whatever EXEC is.
    pub fn set_vgpr_under(&mut self, register: u8, value: Value, mask: Value) {
        let base = match self.regs.vgpr.get(&register).copied() {
            Some(known) if known.dirty && known.under == Some(mask) => known.base,
            _ => self.whole_vgpr(register),
        };
        let under = (self.as_const(mask) != Some(u64::MAX)).then_some(mask);
        self.regs.vgpr.insert(register, Vgpr { value, under, base, dirty: true });
    }

    /// The VGPR `index` further on, in all lanes. Those that it cannot be need not be in the register file.
    pub fn vgpr_at(&mut self, register: u8, index: Value) -> Value {
        let most = u64::from(self.block.possible_bits(index).min(u8::MAX.into()));
        let imm = u64::from(register) | most << 8;
        if !forgets(Precaution::Reach) {
            self.flush_vgprs_of(indexed_vgprs(imm));
        }
        let imm = imm | self.regs.epoch << 32;
        self.op(Op::VgprAt, Ty::B32, Fenv::Any, &[index], imm)
    }

    /// A row of dwords from LDS as it is now, at the address that M0 gives.
    pub fn lds_row(&mut self, row: LdsRow) -> Value {
        let m0 = self.m0();
        let imm = u64::from(row.bits()) | self.regs.epoch << 32;
        self.op(Op::LdsRow, Ty::B32, Fenv::Any, &[m0], imm)
    }

    /// Writes the lanes of `mask` of the VGPR `index` further on.
    pub fn set_vgpr_at(&mut self, register: u8, index: Value, value: Value, mask: Value) {
        self.flush_vgprs();
        self.block.effect(Op::SetVgprAt, [value, mask, index], u64::from(register));
        self.forget(0..256, 0..0);
    }

    /// Writes vector registers back. Lane values are read again afterwards; uniform ones stay known.
    pub(super) fn flush_vgprs(&mut self) {
        self.flush_vgprs_of(0..256);
    }

    /// The same for those of a range.
    fn flush_vgprs_of(&mut self, range: Range<usize>) {
        let is_dirty = |register: u8, known: &Vgpr| known.dirty && range.contains(&usize::from(register));
        let dirty = self.regs.vgpr.iter().filter(|(register, known)| is_dirty(**register, known));
        let dirty: Vec<(u8, Vgpr)> = dirty.map(|(register, known)| (*register, *known)).collect();
        for (register, known) in &dirty {
            let value = self.blended(*register, *known);
            self.block.effect(Op::SetVgpr, [value, Value::NONE, Value::NONE], u64::from(*register));
        }
        for (register, _) in &dirty {
            let uniform = |value: Value| self.block.node(value).shape == Shape::Uniform;
            match self.regs.vgpr.get_mut(register) {
                Some(known) if uniform(known.value) => known.dirty = false,
                _ => {
                    self.regs.vgpr.remove(register);
                }
            }
        }
        self.regs.epoch += u64::from(!dirty.is_empty());
    }

    /// Writes scalar registers, SCC, MODE and TRAPSTS back; they stay known.
    pub(super) fn flush_scalars(&mut self) {
        let dirty: Vec<(u8, Value)> =
            self.regs.sgpr.iter().filter(|(_, known)| known.dirty).map(|(r, known)| (*r, known.value)).collect();
        for (register, value) in dirty {
            self.block.effect(Op::SetSgpr, [value, Value::NONE, Value::NONE], u64::from(register));
        }
        self.regs.sgpr.values_mut().for_each(|known| known.dirty = false);
        if let Some(known) = self.regs.scc.as_mut().filter(|known| known.dirty) {
            known.dirty = false;
            let value = known.value;
            self.block.effect(Op::SetScc, [value, Value::NONE, Value::NONE], 0);
        }
        if let Some(known) = self.regs.mode.as_mut().filter(|known| known.dirty) {
            known.dirty = false;
            let value = known.value;
            self.block.effect(Op::SetMode, [value, Value::NONE, Value::NONE], 0);
        }
        if let Some(known) = self.regs.trapsts.as_mut().filter(|known| known.dirty) {
            known.dirty = false;
            let value = known.value;
            self.block.effect(Op::SetTrapsts, [value, Value::NONE, Value::NONE], 0);
        }
    }

    /// Forgets registers that something else has written.
    pub(super) fn forget(&mut self, vgprs: Range<usize>, sgprs: Range<usize>) {
        self.regs.vgpr.retain(|register, _| !vgprs.contains(&usize::from(*register)));
        self.regs.sgpr.retain(|register, _| !sgprs.contains(&usize::from(*register)));
        self.sgprs_written(sgprs);
        self.regs.epoch += 1;
    }
}
