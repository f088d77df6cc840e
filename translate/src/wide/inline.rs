//! Libcalls on rows that are a few instructions here: computed in registers, as other operations of a segment.
//!
//! [`fenv()`] says which. The environment plays the rules that a libcall has in its immediate; where MXCSR has no
//! counterpart of them, it stays a libcall.

use super::asm::predicate::{EQUAL, NOT_LESS};
use super::asm::{Evex, Mem, Rm, ShiftBy, Zmm, op};
use super::rare::has_usual_case;
use super::select::Chunk;
use crate::fenv;
use crate::lane::{Fenv, Node, Op, Value};
use crate::libcall::{RowOp, dpp_source};
use gcnjit_rt::Mode;
use std::sync::OnceLock;

/// The environment that `op` needs to be computed in registers, if it can be.
pub fn fenv(op: RowOp, imm: u32, mode: Mode) -> Option<Fenv> {
    use RowOp::*;
    match op {
        shl | shr | sar | shl64 | shr64 | sar64 | align => Some(Fenv::Any),
        shl64_lo | shl64_hi | shr64_lo | shr64_hi | rotr64 => Some(Fenv::Any),
        ffbh_u32 | ffbh_i32 | ffbl_b32 | bitrev | sad_u8 | perm => Some(Fenv::Any),
        // Lanes of a row are those of a chunk.
        dpp => is_in_rows(imm as u16).then_some(Fenv::Any),
        popcnt | mbcnt => counts_bits().then_some(Fenv::Any),
        ldexp_f32 => (imm == fenv::rules(mode.round32(), mode.denormals32())).then_some(Fenv::F32),
        ldexp_f64 => (imm == fenv::rules(mode.round64(), mode.denormals64())).then_some(Fenv::F64),
        frexp_exp_f32 | frexp_mant_f32 => Some(Fenv::F32),
        f16_to_f32 => Some(Fenv::Any),
        _ if has_usual_case(op) => Some(Fenv::Any),
        // The conversion never flushes its results; rounding up or down it would have to flush sources.
        f32_to_f16 => (imm & 8 == 0 && matches!(imm & 3, 0 | 3)).then_some(Fenv::Any),
        _ => None,
    }
}

/// Whether no lane has its source under a DPP control in another row.
fn is_in_rows(ctrl: u16) -> bool {
    (0..64).all(|lane| dpp_source(ctrl, lane).is_none_or(|source| source / 16 == lane / 16))
}

fn counts_bits() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    return *COUNTS.get_or_init(|| is_x86_feature_detected!("avx512vpopcntdq"));
    #[cfg(not(target_arch = "x86_64"))]
    return *COUNTS.get_or_init(|| false);
}

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const DEFAULT_NAN: u32 = 0xffc0_0000;

impl Chunk<'_> {
    /// Computes what the libcall would.
    pub(super) fn inline(&mut self, value: Value, node: &Node) {
        use RowOp::*;
        let imm = (node.imm >> 32) as u32;
        let result = match node.row_op() {
            shl | shl64 => return self.shift_lanes(value, node, op::VPSLLVD, op::VPSLLVQ),
            shr | shr64 => return self.shift_lanes(value, node, op::VPSRLVD, op::VPSRLVQ),
            sar | sar64 => return self.shift_lanes(value, node, op::VPSRAVD, op::VPSRAVQ),
            rotr64 => return self.rotate_lanes(value, node),
            ldexp_f64 => return self.ldexp_f64(value, node),
            shl64_lo => self.far_half(node, op::VPSLLVD),
            shr64_hi => self.far_half(node, op::VPSRLVD),
            shl64_hi => self.near_half(node, op::VPSLLVD, op::VPSRLVD),
            shr64_lo => self.near_half(node, op::VPSRLVD, op::VPSLLVD),
            align => self.align(node),
            popcnt => self.unary(op::VPOPCNTD, node),
            mbcnt => self.mbcnt(node, imm),
            ffbh_u32 => self.first_bit_high(node, false),
            ffbh_i32 => self.first_bit_high(node, true),
            ffbl_b32 => self.first_bit_low(node),
            bitrev => self.reverse_bits(node),
            perm => self.permute_bytes(node),
            dpp => self.move_in_rows(node, imm as u16),
            sad_u8 => self.byte_differences(node),
            ldexp_f32 => self.ldexp_f32(node),
            frexp_exp_f32 => self.exponent(node, imm & 2 != 0),
            frexp_mant_f32 => self.mantissa(node, imm & 2 != 0),
            f16_to_f32 => self.widen_half(node, imm & 4 != 0),
            f32_to_f16 => self.narrow_to_half(node, imm),
            _ => return self.usual_or_rare(value, node),
        };
        self.r.define(value, 0, result);
    }

    fn unary(&mut self, row: Evex, node: &Node) -> Zmm {
        let (source, result) = (self.r.operand(node.args[0], 0), self.r.fresh());
        self.r.asm.v1(row, result, source);
        result
    }

    /// Every lane's dword from its source lane, 0 where there is none. All rows are alike.
    fn move_in_rows(&mut self, node: &Node, ctrl: u16) -> Zmm {
        let source = |lane: u32| dpp_source(ctrl, lane as usize);
        let order = self.table(|lane| source(lane).map_or(0, |source| source as u32));
        let valid = (0..16).filter(|lane| source(*lane).is_some()).fold(0u16, |mask, lane| mask | 1 << lane);
        let (dwords, result) = (self.r.operand(node.args[0], 0), self.r.fresh());
        if valid == u16::MAX {
            self.r.asm.v(op::VPERMD, result, order, dwords);
        } else {
            let (bits, mask) = (self.r.asm.constant(&valid.to_le_bytes()), self.r.fresh_mask());
            self.r.asm.k_load(mask, bits);
            self.r.asm.clear2(op::VPERMD, result, mask, order, dwords);
        }
        result
    }

    /// The same dword in all lanes, in memory.
    fn all(&mut self, bits: u32) -> Rm {
        Rm::Broadcast(self.constant(bits))
    }

    fn one(&mut self, bits: u32) -> Rm {
        Rm::Mem(self.constant(bits))
    }

    /// `result` becomes a constant in the lanes where `row` compares true.
    fn replace_where(&mut self, result: Zmm, row: Evex, a: Zmm, b: Rm, predicate: u8, bits: u32) {
        let (mask, constant) = (self.r.fresh_mask(), self.one(bits));
        self.r.asm.compare(row, mask, a, b, predicate);
        self.r.asm.merge(op::VPBROADCASTD, result, mask, constant);
    }

    /// The low dword of hi:lo shifted right.
    fn align(&mut self, node: &Node) -> Zmm {
        let [hi, lo, n] = node.args.map(|arg| self.r.vector(arg, 0));
        if node.args[0] == node.args[1] {
            let rotated = self.r.fresh();
            self.r.asm.v(op::VPRORVD, rotated, lo, n);
            return rotated;
        }
        let (amount, low, high) = (self.r.fresh(), self.r.fresh(), self.r.fresh());
        let mask = self.all(31);
        self.r.asm.v(op::VPANDD, amount, n, mask);
        self.r.asm.v(op::VPSRLVD, low, lo, amount);
        self.r.asm.v(op::VPXORD, amount, amount, mask);
        self.r.asm.v(op::VPADDD, high, hi, hi);
        self.r.asm.v(op::VPSLLVD, high, high, amount);
        self.r.asm.v(op::VPORD, low, low, high);
        low
    }

    /// The half that bits leave when 64 bits are shifted by an amount modulo 64. Shifts by 32 and more give zero.
    fn far_half(&mut self, node: &Node, row: Evex) -> Zmm {
        let [half, amount, _] = node.args;
        let (half, amount) = (self.r.vector(half, 0), self.amount64(amount));
        let result = self.r.fresh();
        self.r.asm.v(row, result, half, amount);
        result
    }

    /// The half that bits come to from the other one. Of these there are those that an amount below 32 moves over, and
    /// those that a greater one does: either shift gives zero where its amount, as an unsigned number, is 32 or more.
    fn near_half(&mut self, node: &Node, row: Evex, back: Evex) -> Zmm {
        const ANY_OF_THREE: u8 = 0xfe;
        let [half, other, amount] = node.args;
        let (half, other) = (self.r.vector(half, 0), self.r.vector(other, 0));
        let (amount, width) = (self.amount64(amount), self.one(32));
        let (result, far, rest) = (self.r.fresh(), self.r.fresh(), self.r.fresh());
        self.r.asm.v(row, result, half, amount);
        self.r.asm.v1(op::VPBROADCASTD, rest, width);
        self.r.asm.v(op::VPSUBD, far, amount, rest);
        self.r.asm.v(op::VPSUBD, rest, rest, amount);
        self.r.asm.v(row, far, other, far);
        self.r.asm.v(back, rest, other, rest);
        self.r.asm.vi(op::VPTERNLOGD, result, far, rest, ANY_OF_THREE);
        result
    }

    /// An amount modulo 64.
    fn amount64(&mut self, amount: Value) -> Zmm {
        if self.is_below_64(amount) {
            return self.r.vector(amount, 0);
        }
        let (masked, limit) = (self.r.copy(amount, 0), self.all(63));
        self.r.asm.v(op::VPANDD, masked, masked, limit);
        masked
    }

    fn is_below_64(&self, amount: Value) -> bool {
        let block = self.r.demand.block;
        let node = block.node(amount);
        node.op == Op::And && node.args().any(|arg| block.as_const(arg).is_some_and(|mask| mask < 64))
    }

    /// Ones below the lane. Shifts by 32 and more give zero, so the ones below come out right for either half.
    fn mbcnt(&mut self, node: &Node, half: u32) -> Zmm {
        let [source, lane, _] = node.args;
        let (source, lane) = (self.r.operand(source, 0), self.r.vector(lane, 0));
        let (amount, below) = (self.r.fresh(), self.r.fresh());
        let (first, zero, one) = (self.all(32 * half), self.all(0), self.constant(1));
        self.r.asm.v(op::VPSUBD, amount, lane, first);
        self.r.asm.v(op::VPMAXSD, amount, amount, zero);
        self.r.asm.v1(op::VPBROADCASTD, below, Rm::Mem(one));
        self.r.asm.v(op::VPSLLVD, below, below, amount);
        self.r.asm.v(op::VPSUBD, below, below, Rm::Broadcast(one));
        self.r.asm.v(op::VPANDD, below, below, source);
        self.r.asm.v1(op::VPOPCNTD, below, below);
        below
    }

    fn first_bit_high(&mut self, node: &Node, signed: bool) -> Zmm {
        let mut source = self.r.vector(node.args[0], 0);
        if signed {
            let signs = self.r.fresh();
            self.r.asm.shift(ShiftBy::right_signed(false), signs, source, 31);
            self.r.asm.v(op::VPXORD, signs, signs, source);
            source = signs;
        }
        let (result, zero) = (self.r.fresh(), self.all(0));
        self.r.asm.v1(op::VPLZCNTD, result, source);
        self.replace_where(result, op::VPCMPD, source, zero, EQUAL, u32::MAX);
        result
    }

    /// The lowest one's place is the highest one's of what is left of x & -x; for zero that is -1.
    fn first_bit_low(&mut self, node: &Node) -> Zmm {
        let source = self.r.vector(node.args[0], 0);
        let (lowest, result) = (self.r.fresh(), self.r.fresh());
        self.r.asm.v(op::VPXORD, lowest, lowest, lowest);
        self.r.asm.v(op::VPSUBD, lowest, lowest, source);
        self.r.asm.v(op::VPANDD, lowest, lowest, source);
        self.r.asm.v1(op::VPLZCNTD, lowest, lowest);
        let last = self.constant(31);
        self.r.asm.v1(op::VPBROADCASTD, result, Rm::Mem(last));
        self.r.asm.v(op::VPSUBD, result, result, lowest);
        result
    }

    /// Bytes from tables of 16 that are the same in each quarter of a register.
    fn bytes(&mut self, byte: impl Fn(u8) -> u8) -> Mem {
        let bytes: Vec<u8> = (0..64).map(|i| byte(i % 16)).collect();
        self.r.asm.constant(&bytes)
    }

    /// Nibbles by table, then bytes.
    fn reverse_bits(&mut self, node: &Node) -> Zmm {
        let source = self.r.vector(node.args[0], 0);
        let (low, high, table) = (self.r.fresh(), self.r.fresh(), self.r.fresh());
        let nibbles = self.all(0x0f0f_0f0f);
        let reversed = |i: u8| i.reverse_bits() >> 4;
        let (upper, lower) = (self.bytes(|i| reversed(i) << 4), self.bytes(reversed));
        let order = self.bytes(|i| i ^ 3);
        self.r.asm.v(op::VPANDD, low, source, nibbles);
        self.r.asm.shift(ShiftBy::right(false), high, source, 4);
        self.r.asm.v(op::VPANDD, high, high, nibbles);
        self.r.asm.v1(op::VMOVDQA32, table, Rm::Mem(upper));
        self.r.asm.v(op::VPSHUFB, low, table, low);
        self.r.asm.v1(op::VMOVDQA32, table, Rm::Mem(lower));
        self.r.asm.v(op::VPSHUFB, high, table, high);
        self.r.asm.v(op::VPORD, low, low, high);
        self.r.asm.v(op::VPSHUFB, low, low, Rm::Mem(order));
        low
    }

    /// v_perm_b32 with a constant selector: bytes 0 to 3 of the second source, 4 to 7 of the first, 12 and up constants.
    fn permute_bytes(&mut self, node: &Node) -> Zmm {
        let [hi, lo, selector] = node.args;
        let selector = self.r.demand.block.as_const(selector).expect("only constant selectors are inline") as u32;
        let byte = move |i: u8| (selector >> (i % 4 * 8)) as u8;
        // The top bit of a place makes a zero.
        let from = |i: u8, range: std::ops::Range<u8>| {
            if range.contains(&byte(i)) { i / 4 * 4 + byte(i) % 4 } else { 0x80 }
        };
        let (low, high) = (self.bytes(|i| from(i, 0..4)), self.bytes(|i| from(i, 4..8)));
        let ones = (0..4).fold(0, |ones, i| if byte(i) > 12 { ones | 0xff << (8 * i) } else { ones });
        let (lo, hi) = (self.r.vector(lo, 0), self.r.vector(hi, 0));
        let (result, upper) = (self.r.fresh(), self.r.fresh());
        self.r.asm.v(op::VPSHUFB, result, lo, Rm::Mem(low));
        self.r.asm.v(op::VPSHUFB, upper, hi, Rm::Mem(high));
        self.r.asm.v(op::VPORD, result, result, upper);
        if ones != 0 {
            let ones = self.all(ones);
            self.r.asm.v(op::VPORD, result, result, ones);
        }
        result
    }

    /// c plus the absolute differences of bytes: one of two saturated differences is zero.
    fn byte_differences(&mut self, node: &Node) -> Zmm {
        let [a, b, c] = node.args;
        let (a, b, c) = (self.r.vector(a, 0), self.r.vector(b, 0), self.r.operand(c, 0));
        let (result, other) = (self.r.fresh(), self.r.fresh());
        let (bytes, words) = (self.bytes(|_| 1), self.bytes(|i| 1 - i % 2));
        self.r.asm.v(op::VPSUBUSB, result, a, b);
        self.r.asm.v(op::VPSUBUSB, other, b, a);
        self.r.asm.v(op::VPORD, result, result, other);
        self.r.asm.v(op::VPMADDUBSW, result, result, Rm::Mem(bytes));
        self.r.asm.v(op::VPMADDWD, result, result, Rm::Mem(words));
        self.r.asm.v(op::VPADDD, result, result, c);
        result
    }

    fn ldexp_f32(&mut self, node: &Node) -> Zmm {
        let (power, result) = (self.r.operand(node.args[1], 0), self.r.fresh());
        let source = self.r.vector(node.args[0], 0);
        self.r.asm.v1(op::VCVTDQ2PS, result, power);
        self.r.asm.v(op::VSCALEFPS, result, source, result);
        result
    }

    fn ldexp_f64(&mut self, value: Value, node: &Node) {
        let powers = self.quadwords(op::VCVTDQ2PD, node.args[1]);
        for (half, power) in powers.into_iter().enumerate() {
            let source = self.r.vector(node.args[0], half);
            self.r.asm.v(op::VSCALEFPD, power, source, power);
            self.r.define(value, half, power);
        }
    }

    /// frexp's exponent: 0 for zeros; for infinities and NaNs too, but -1 on gfx6.
    fn exponent(&mut self, node: &Node, gfx6: bool) -> Zmm {
        let source = self.r.vector(node.args[0], 0);
        let (result, doubled) = (self.r.fresh(), self.r.fresh());
        let (one, zero, limit) = (self.all(1), self.all(0), self.all(INFINITY << 1));
        self.r.asm.v1(op::VGETEXPPS, result, source);
        self.r.asm.v1(op::VCVTPS2DQ, result, result);
        self.r.asm.v(op::VPADDD, result, result, one);
        self.replace_where(result, op::VCMPPS, source, zero, EQUAL, 0);
        self.r.asm.v(op::VPADDD, doubled, source, source);
        let special = if gfx6 { u32::MAX } else { 0 };
        self.replace_where(result, op::VPCMPUD, doubled, limit, NOT_LESS, special);
        result
    }

    /// frexp's significand, in [½, 1): zeros stay, and infinities but for gfx6.
    fn mantissa(&mut self, node: &Node, gfx6: bool) -> Zmm {
        const HALF_TO_ONE: u8 = 2;
        let source = self.r.vector(node.args[0], 0);
        let (result, other, mask) = (self.r.fresh(), self.r.fresh(), self.r.fresh_mask());
        let (zero, sign, limit) = (self.all(0), self.all(SIGN), self.all(INFINITY << 1));
        self.r.asm.v1i(op::VGETMANTPS, result, source, HALF_TO_ONE);
        self.r.asm.compare(op::VCMPPS, mask, source, zero, EQUAL);
        self.r.asm.v(op::VPANDD, other, source, sign);
        self.r.asm.merge(op::VMOVDQA32, result, mask, other);
        self.r.asm.v(op::VPADDD, other, source, source);
        if gfx6 {
            self.replace_where(result, op::VPCMPUD, other, limit, EQUAL, DEFAULT_NAN);
        } else {
            self.r.asm.compare(op::VPCMPUD, mask, other, limit, EQUAL);
            self.r.asm.merge(op::VMOVDQA32, result, mask, source);
        }
        result
    }

    /// The low halves as f16, exactly.
    fn widen_half(&mut self, node: &Node, flush: bool) -> Zmm {
        let source = self.r.vector(node.args[0], 0);
        let result = self.r.fresh();
        if flush {
            let (mask, field, sign) = (self.r.fresh_mask(), self.all(0x7c00), self.all(0x8000));
            let (zero, flushed) = (self.all(0), self.r.fresh());
            self.r.asm.v(op::VPANDD, flushed, source, field);
            self.r.asm.compare(op::VPCMPD, mask, flushed, zero, EQUAL);
            self.r.asm.v(op::VPANDD, flushed, source, sign);
            self.r.asm.blend(op::VPBLENDMD, flushed, mask, source, flushed);
            self.r.asm.narrow(op::VPMOVDW, result, flushed, None);
        } else {
            self.r.asm.narrow(op::VPMOVDW, result, source, None);
        }
        self.r.asm.v1(op::VCVTPH2PS, result, result);
        result
    }

    fn narrow_to_half(&mut self, node: &Node, rules: u32) -> Zmm {
        const TO_ZERO: u8 = 3;
        let source = self.r.vector(node.args[0], 0);
        let result = self.r.fresh();
        let rounding = if rules & 3 == 0 { 0 } else { TO_ZERO };
        self.r.asm.narrow(op::VCVTPS2PH, result, source, Some(rounding));
        self.r.asm.v1(op::VPMOVZXWD, result, result);
        result
    }
}
