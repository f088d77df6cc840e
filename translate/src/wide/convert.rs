//! Instructions between values of different types: products of more bits than their factors, halves of B64 and what is put
//! together from two, conversions.

use super::asm::{Evex, Rm, ShiftBy, Zmm, op};
use super::select::Chunk;
use crate::lane::{Node, Op, Ty, Value};

impl Chunk<'_> {
    /// The upper halves of products of even and of odd lanes in turn.
    pub(super) fn multiply_high(&mut self, value: Value, node: &Node) {
        let row = if node.op == Op::MulHiS { op::VPMULDQ } else { op::VPMULUDQ };
        let [even, odd] = self.products(row, node);
        let result = self.pick(|i| i / 2 * 2 + 1 + i % 2 * 16, even, odd);
        self.r.define(value, 0, result);
    }

    /// The products of even and of odd lanes in turn.
    pub(super) fn multiply_wide(&mut self, value: Value, node: &Node) {
        let [even, odd] = self.products(op::VPMULUDQ, node);
        for half in 0..2 {
            let quadword = |i: u32| 8 * half + i / 2;
            let result = self.pick(|i| quadword(i) / 2 * 2 + i % 2 + quadword(i) % 2 * 16, even, odd);
            self.r.define(value, half as usize, result);
        }
    }

    /// Products of even lanes and of odd ones, as quadwords.
    fn products(&mut self, row: Evex, node: &Node) -> [Zmm; 2] {
        let [a, b, _] = node.args;
        let (even, odd) = (self.r.fresh(), self.r.fresh());
        let factors = [a, b].map(|factor| self.r.vector(factor, 0));
        self.r.asm.v(row, even, factors[0], factors[1]);
        let [first, second] = [0, 1].map(|i| self.odd_lanes([a, b][i], factors[i]));
        self.r.asm.v(row, odd, first, second);
        [even, odd]
    }

    /// A value's odd lanes where the even ones were.
    fn odd_lanes(&mut self, value: Value, vector: Zmm) -> Zmm {
        if self.r.is_uniform(value) {
            return vector;
        }
        let odd = self.r.fresh();
        self.r.asm.shift(ShiftBy::right(true), odd, vector, 32);
        odd
    }

    /// Dwords of two registers, those of the second from number 16 on.
    fn pick(&mut self, order: impl Fn(u32) -> u32, first: Zmm, second: impl Into<Rm>) -> Zmm {
        let result = self.table(order);
        self.r.asm.v(op::VPERMI2D, result, first, second);
        result
    }

    /// Sixteen dwords as the low halves of quadwords in two registers, whose upper halves are anything.
    pub(super) fn low_halves(&mut self, source: Value) -> [Zmm; 2] {
        [0, 1].map(|half| {
            let (result, source) = (self.table(|i| 8 * half + i / 2), self.r.operand(source, 0));
            self.r.asm.v(op::VPERMD, result, result, source);
            result
        })
    }

    /// Sixteen dwords converted to two registers of quadwords.
    pub(super) fn quadwords(&mut self, row: Evex, source: Value) -> [Zmm; 2] {
        let source = self.r.vector(source, 0);
        let (low, high) = (self.r.fresh(), self.r.fresh());
        self.r.asm.upper(high, source);
        for (half, (to, from)) in [(low, source), (high, high)].into_iter().enumerate() {
            match self.r.float_lanes(half) {
                Some(lanes) => self.r.asm.clear(row, to, lanes, from),
                None => self.r.asm.v1(row, to, from),
            }
        }
        [low, high]
    }

    /// One dword of each quadword.
    pub(super) fn halve(&mut self, value: Value, node: &Node) {
        let odd = u32::from(node.op == Op::Hi);
        let (lower, upper) = (self.r.vector(node.args[0], 0), self.r.operand(node.args[0], 1));
        let result = self.pick(|i| 2 * i + odd, lower, upper);
        self.r.define(value, 0, result);
    }

    pub(super) fn pack(&mut self, value: Value, node: &Node) {
        let [low, high, _] = node.args;
        if self.r.demand.block.as_const(high) == Some(0) {
            let both = self.quadwords(op::VPMOVZXDQ, low);
            return both.into_iter().enumerate().for_each(|(half, register)| self.r.define(value, half, register));
        }
        let low = self.r.vector(low, 0);
        for half in 0..2 {
            let high = self.r.operand(high, 0);
            let result = self.pick(|i| 8 * half + i / 2 + i % 2 * 16, low, high);
            self.r.define(value, half as usize, result);
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
        let halves = [0, 1].map(|half| (self.r.operand(node.args[0], half), self.r.fresh()));
        for (half, (from, to)) in halves.into_iter().enumerate() {
            match self.r.float_lanes(half) {
                Some(lanes) => self.r.asm.clear(op::VCVTPD2PS, to, lanes, from),
                None => self.r.asm.v1(op::VCVTPD2PS, to, from),
            }
        }
        let [(_, result), (_, upper)] = halves;
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
