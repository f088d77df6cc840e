//! Instructions between values of different types: products of more bits than their factors, halves of B64 and what is put
//! together from two, conversions.

use super::asm::{Evex, Rm, ShiftBy, Zmm, op};
use super::select::Chunk;
use crate::lane::{Node, Op, Ty, Value};

impl Chunk<'_> {
    /// Products of even and of odd lanes, then their upper halves in turn.
    pub(super) fn multiply_high(&mut self, value: Value, node: &Node) {
        let row = if node.op == Op::MulHiS { op::VPMULDQ } else { op::VPMULUDQ };
        let (a, b) = (self.r.vector(node.args[0], 0), self.r.vector(node.args[1], 0));
        let (even, odd, other) = (self.r.fresh(), self.r.fresh(), self.r.fresh());
        self.r.asm.v(row, even, a, b);
        self.r.asm.shift(ShiftBy::right(true), odd, a, 32);
        self.r.asm.shift(ShiftBy::right(true), other, b, 32);
        self.r.asm.v(row, odd, odd, other);
        let order = self.table(|i| i / 2 * 2 + 1 + i % 2 * 16);
        self.r.asm.v(op::VPERMT2D, even, order, odd);
        self.r.define(value, 0, even);
    }

    pub(super) fn multiply_wide(&mut self, value: Value, node: &Node) {
        let [mut a, mut b, _] = node.args;
        if self.r.is_uniform(a) {
            (a, b) = (b, a);
        }
        let first = self.quadwords(op::VPMOVZXDQ, a);
        let second = if self.r.is_uniform(b) {
            let all = self.r.vector(b, 0);
            [all; 2]
        } else {
            self.quadwords(op::VPMOVZXDQ, b)
        };
        for half in 0..2 {
            let result = first[half];
            self.r.asm.v(op::VPMULUDQ, result, first[half], second[half]);
            self.r.define(value, half, result);
        }
    }

    /// Sixteen dwords converted to two registers of quadwords.
    pub(super) fn quadwords(&mut self, row: Evex, source: Value) -> [Zmm; 2] {
        let source = self.r.vector(source, 0);
        let (low, high) = (self.r.fresh(), self.r.fresh());
        self.r.asm.upper(high, source);
        self.r.asm.v1(row, low, source);
        self.r.asm.v1(row, high, high);
        [low, high]
    }

    /// One dword of each quadword.
    pub(super) fn halve(&mut self, value: Value, node: &Node) {
        let odd = u32::from(node.op == Op::Hi);
        let result = self.r.copy(node.args[0], 0);
        let upper = self.r.vector(node.args[0], 1);
        let order = self.table(|i| 2 * i + odd);
        self.r.asm.v(op::VPERMT2D, result, order, upper);
        self.r.define(value, 0, result);
    }

    pub(super) fn pack(&mut self, value: Value, node: &Node) {
        let [low, high, _] = node.args;
        if self.r.demand.block.as_const(high) == Some(0) {
            let both = self.quadwords(op::VPMOVZXDQ, low);
            return both.into_iter().enumerate().for_each(|(half, register)| self.r.define(value, half, register));
        }
        let high = self.r.vector(high, 0);
        for half in 0..2 {
            let result = self.r.copy(low, 0);
            let order = self.table(|i| 8 * half as u32 + i / 2 + i % 2 * 16);
            self.r.asm.v(op::VPERMT2D, result, order, high);
            self.r.define(value, half, result);
        }
    }

    /// The host's conversion gives -2^31 for all that is out of range: the lanes above it and NaNs are put right.
    pub(super) fn signed_integer(&mut self, value: Value, node: &Node) {
        const GREATER_OR_EQUAL: u8 = 0x1d;
        const UNORDERED: u8 = 3;
        let source = self.r.vector(node.args[0], 0);
        let (result, mask) = (self.r.fresh(), self.r.fresh_mask());
        let limit = self.constant(2_147_483_648.0_f32.to_bits());
        let (most, zero) = (self.constant(i32::MAX as u32), self.constant(0));
        self.r.asm.v1(op::VCVTTPS2DQ, result, source);
        self.r.asm.compare(op::VCMPPS, mask, source, Rm::Broadcast(limit), GREATER_OR_EQUAL);
        self.r.asm.merge(op::VPBROADCASTD, result, mask, Rm::Mem(most));
        self.r.asm.compare(op::VCMPPS, mask, source, source, UNORDERED);
        self.r.asm.merge(op::VPBROADCASTD, result, mask, Rm::Mem(zero));
        self.r.define(value, 0, result);
    }

    /// The host's conversion gives 2^32 - 1 for all that is out of range: right above it. The maximum is its second
    /// source, 0, for a NaN.
    pub(super) fn unsigned_integer(&mut self, value: Value, node: &Node) {
        let source = self.r.vector(node.args[0], 0);
        let (zero, result) = (self.constant(0), self.r.fresh());
        self.r.asm.v(op::VMAXPS, result, source, Rm::Broadcast(zero));
        self.r.asm.v1(op::VCVTTPS2UDQ, result, result);
        self.r.define(value, 0, result);
    }

    pub(super) fn demote(&mut self, value: Value, node: &Node) {
        let (low, high) = (self.r.operand(node.args[0], 0), self.r.operand(node.args[0], 1));
        let (result, upper) = (self.r.fresh(), self.r.fresh());
        self.r.asm.v1(op::VCVTPD2PS, result, low);
        self.r.asm.v1(op::VCVTPD2PS, upper, high);
        self.r.asm.join(result, result, upper);
        self.r.define(value, 0, result);
    }

    pub(super) fn convert(&mut self, value: Value, node: &Node) {
        let row = match (node.op, node.ty) {
            (Op::SExt, _) => op::VPMOVSXDQ,
            (Op::Promote, _) => op::VCVTPS2PD,
            (Op::SToF, Ty::B64) => op::VCVTDQ2PD,
            (Op::UToF, Ty::B64) => op::VCVTUDQ2PD,
            (Op::SToF, _) => op::VCVTDQ2PS,
            _ => op::VCVTUDQ2PS,
        };
        if node.ty == Ty::B64 {
            let both = self.quadwords(row, node.args[0]);
            return both.into_iter().enumerate().for_each(|(half, register)| self.r.define(value, half, register));
        }
        let (source, result) = (self.r.operand(node.args[0], 0), self.r.fresh());
        self.r.asm.v1(row, result, source);
        self.r.define(value, 0, result);
    }
}
