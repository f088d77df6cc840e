//! Operations on 64 bits of lanes by their halves, which is what registers hold: cheaper than to interleave these for
//! 64-bit instructions, and to take the results apart again. All are exact for every input.

use super::{Block, Fenv, Icc, Node, Op, Shape, Ty, Value};
use crate::libcall::RowOp;

impl Block {
    /// A half of what lanes have, made of halves.
    pub(super) fn half(&mut self, half: Op, node: &Node) -> Option<Value> {
        let [a, b, _] = node.args;
        match (half, node.op) {
            (Op::Lo, Op::Add | Op::Sub) => {
                let low = [self.lo(a), self.lo(b)];
                Some(self.op(node.op, Ty::B32, Fenv::Any, &low, 0))
            }
            (Op::Lo, Op::MulWide) => Some(self.mul(a, b)),
            (Op::Hi, Op::MulWide) => Some(self.mul_hi_u(a, b)),
            (Op::Hi, Op::Add) => self.high_half_of_sum(a, b),
            (_, Op::Inline) => self.half_of_shift(half, node),
            _ => None,
        }
    }

    /// The halves of a value, if these are no instructions on lanes.
    fn halves(&mut self, value: Value) -> Option<[Value; 2]> {
        let node = self.node(value);
        let is_free = node.shape == Shape::Uniform || node.op == Op::Pack;
        is_free.then(|| [self.lo(value), self.hi(value)])
    }

    /// The high half of a product and a number.
    fn high_half_of_sum(&mut self, product: Value, number: Value) -> Option<Value> {
        let [a, b, _] = Some(self.node(product)).filter(|node| node.op == Op::MulWide)?.args;
        let [low, high] = self.halves(number)?;
        let (low_product, high_product) = (self.mul(a, b), self.mul_hi_u(a, b));
        let low_sum = self.add(low_product, low);
        let carry = self.ult(low_sum, low_product);
        let (high_sum, carry) = (self.add(high_product, high), self.b1_to_b32(carry));
        Some(self.add(high_sum, carry))
    }

    /// A half of a value that is shifted by an amount of each lane's own: `near` is the half itself, and what comes in is
    /// the other's.
    fn half_of_shift(&mut self, half: Op, node: &Node) -> Option<Value> {
        let (row, near) = match (node.row_op(), half) {
            (RowOp::shl64, Op::Lo) => (RowOp::shl64_lo, 0),
            (RowOp::shl64, Op::Hi) => (RowOp::shl64_hi, 1),
            (RowOp::shr64, Op::Lo) => (RowOp::shr64_lo, 0),
            (RowOp::shr64, Op::Hi) => (RowOp::shr64_hi, 1),
            _ => return None,
        };
        let halves = self.halves(node.args[0])?;
        let (near, other, n) = (halves[near], halves[1 - near], node.args[1]);
        let args = match row {
            RowOp::shl64_lo | RowOp::shr64_hi => vec![near, n],
            _ => vec![near, other, n],
        };
        Some(self.op(Op::Inline, Ty::B32, Fenv::Any, &args, row as u64))
    }

    /// A pair shifted by a constant: what one half loses the other one gets.
    pub(super) fn shift_pair(&mut self, op: Op, args: &[Value; 3]) -> Option<Value> {
        let n = (self.as_const(args[1])? & 63) as u32;
        let [lo, hi, _] = self.node(args[0]).args;
        let by = |block: &mut Block, op, value, n: u32| {
            let n = block.b32(n);
            block.op(op, Ty::B32, Fenv::Any, &[value, n], 0)
        };
        let [lo, hi] = match (op, n) {
            (_, 0) => return Some(args[0]),
            (Op::Shl, 1..32) => {
                let (up, carried) = (by(self, Op::Shl, hi, n), by(self, Op::Shr, lo, 32 - n));
                [by(self, Op::Shl, lo, n), self.or(up, carried)]
            }
            (Op::Shl, _) => [self.b32(0), by(self, Op::Shl, lo, n - 32)],
            (_, 1..32) => {
                let (down, carried) = (by(self, Op::Shr, lo, n), by(self, Op::Shl, hi, 32 - n));
                [self.or(down, carried), by(self, op, hi, n)]
            }
            (Op::Sar, _) => [by(self, op, hi, n - 32), by(self, op, hi, 31)],
            (_, _) => [by(self, op, hi, n - 32), self.b32(0)],
        };
        Some(self.pack(lo, hi))
    }

    /// A comparison of a pair with another one, or with the same for all lanes.
    pub(super) fn compare_pairs(&mut self, cc: Icc, args: &[Value; 3]) -> Option<Value> {
        let lanes = [args[0], args[1]].map(|arg| *self.node(arg)).into_iter().filter(|node| node.shape == Shape::Lane);
        if lanes.clone().count() == 0 || lanes.clone().any(|node| node.op != Op::Pack) {
            return None;
        }
        let [low, high] = [Block::lo, Block::hi].map(|half| [half(self, args[0]), half(self, args[1])]);
        if matches!(cc, Icc::Eq | Icc::Ne) {
            let (low, high) = (self.xor(low[0], low[1]), self.xor(high[0], high[1]));
            let (differ, zero) = (self.or(low, high), self.b32(0));
            return Some(self.icmp(cc, differ, zero));
        }
        let (strict, unsigned) = match cc {
            Icc::Slt => (Icc::Slt, Icc::Ult),
            Icc::Sle => (Icc::Slt, Icc::Ule),
            _ => (Icc::Ult, cc),
        };
        let (less, same) = (self.icmp(strict, high[0], high[1]), self.eq(high[0], high[1]));
        let below = self.icmp(unsigned, low[0], low[1]);
        let decided_below = self.and(same, below);
        Some(self.or(less, decided_below))
    }

    /// A half of a value that is shifted right, with the same half of it shifted left by what is missing to 64, or to 0:
    /// the half of it rotated right.
    pub(super) fn rotated_half(&mut self, args: &[Value; 3]) -> Option<Value> {
        let shifts = [args[0], args[1]].map(|arg| *self.node(arg));
        if shifts.iter().any(|shift| shift.op != Op::Inline) {
            return None;
        }
        let rows = shifts.map(|shift| shift.row_op());
        let [of_both, of_one] = match rows {
            [RowOp::shr64_lo, RowOp::shl64_lo] | [RowOp::shl64_hi, RowOp::shr64_hi] => shifts,
            [RowOp::shl64_lo, RowOp::shr64_lo] | [RowOp::shr64_hi, RowOp::shl64_hi] => [shifts[1], shifts[0]],
            _ => return None,
        };
        let ([near, other, n], [alone, rest, _]) = (of_both.args, of_one.args);
        if alone != near || !self.is_rest_of_64(n, rest) {
            return None;
        }
        let (rotated, half) = match of_both.row_op() {
            RowOp::shr64_lo => (self.rotated(near, other, n), Op::Lo),
            _ => (self.rotated(other, near, rest), Op::Hi),
        };
        Some(self.op(half, Ty::B32, Fenv::Any, &[rotated], 0))
    }

    fn rotated(&mut self, lo: Value, hi: Value, n: Value) -> Value {
        let pair = self.pack(lo, hi);
        self.op(Op::Inline, Ty::B64, Fenv::Any, &[pair, n], RowOp::rotr64 as u64)
    }

    /// Whether the sum of two dwords is a multiple of 64.
    fn is_rest_of_64(&self, a: Value, b: Value) -> bool {
        let is_rest = |difference: Value, of: Value| {
            let node = self.node(difference);
            node.op == Op::Sub && node.args[1] == of && self.as_const(node.args[0]).is_some_and(|n| n % 64 == 0)
        };
        is_rest(a, b) || is_rest(b, a)
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Icc, Op, Shape, Ty, Value};
    use crate::lane::{Fenv, Node};
    use crate::libcall::RowOp;
    use std::collections::HashMap;

    /// Numbers whose halves are equal, next to each other, or have their signs apart.
    const NUMBERS: [u64; 10] = [
        0,
        1,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x1234_5678_9abc_def0,
        0x9abc_def0_1234_5678,
        0x9abc_def0_9abc_def0,
        u64::MAX,
    ];

    fn lane_pair(block: &mut Block, first: u64) -> Value {
        let vgpr =
            |imm| Node { op: Op::Vgpr, ty: Ty::B32, shape: Shape::Lane, fenv: Fenv::Any, args: [Value::NONE; 3], imm };
        let (lo, hi) = (block.pure(vgpr(first)), block.pure(vgpr(first + 1)));
        block.pack(lo, hi)
    }

    /// What a value is with the registers' dwords given: the operations are folded again, of constants.
    fn evaluate(block: &Block, value: Value, vgprs: &[u32]) -> u64 {
        let mut with_constants = Block::new(0);
        let mut known = HashMap::new();
        for (i, node) in block.nodes.iter().enumerate() {
            let args: Vec<Value> = node.args().map(|arg| known[&arg]).collect();
            let result = match node.op {
                Op::Vgpr => with_constants.b32(vgprs[node.imm as usize]),
                Op::Const => with_constants.constant(node.ty, node.imm),
                op => with_constants.op(op, node.ty, node.fenv, &args, node.imm),
            };
            known.insert(Value(i as u32), result);
        }
        with_constants.as_const(known[&value]).expect("constants fold")
    }

    fn dwords(numbers: &[u64]) -> Vec<u32> {
        numbers.iter().flat_map(|number| [*number as u32, (*number >> 32) as u32]).collect()
    }

    #[test]
    fn shifts_are_made_of_halves() {
        for op in [Op::Shl, Op::Shr, Op::Sar] {
            for n in [0, 1, 20, 31, 32, 33, 50, 63] {
                let mut block = Block::new(0);
                let pair = lane_pair(&mut block, 0);
                let by = block.b32(n + 64);
                let shifted = block.op(op, Ty::B64, Fenv::Any, &[pair, by], 0);
                assert_eq!(block.node(shifted).op, Op::Pack, "{op:?} by {n}");
                for number in NUMBERS {
                    let expected = match op {
                        Op::Shl => number << n,
                        Op::Shr => number >> n,
                        _ => (number as i64 >> n) as u64,
                    };
                    assert_eq!(evaluate(&block, shifted, &dwords(&[number])), expected, "{op:?} of {number:x} by {n}");
                }
            }
        }
    }

    /// A pair shifted by an amount of each lane's own.
    fn shifted(block: &mut Block, row: RowOp, pair: Value, n: Value) -> [Value; 2] {
        let shifted = block.op(Op::Inline, Ty::B64, Fenv::Any, &[pair, n], row as u64);
        [block.lo(shifted), block.hi(shifted)]
    }

    fn rows(block: &Block, values: [Value; 2]) -> [Option<RowOp>; 2] {
        values.map(|value| Some(block.node(value)).filter(|node| node.op == Op::Inline).map(Node::row_op))
    }

    #[test]
    fn shifts_that_fill_each_other_are_rotations() {
        let is_rotated = |multiple: u32, reversed: bool, to_other: bool| {
            let mut block = Block::new(0);
            let (pair, other) = (lane_pair(&mut block, 0), lane_pair(&mut block, 2));
            let (n, multiple) = (block.hi(other), block.b32(multiple));
            let rest = block.sub(multiple, n);
            let right = shifted(&mut block, RowOp::shr64, pair, n);
            let left = shifted(&mut block, RowOp::shl64, if to_other { other } else { pair }, rest);
            assert_eq!(rows(&block, right), [Some(RowOp::shr64_lo), Some(RowOp::shr64_hi)]);
            assert_eq!(rows(&block, left), [Some(RowOp::shl64_lo), Some(RowOp::shl64_hi)]);
            let (a, b) = if reversed { (left, right) } else { (right, left) };
            let halves = [block.or(a[0], b[0]), block.or(a[1], b[1])];
            let whole = block.pack(halves[0], halves[1]);
            // Other halves of shifts stay what they are.
            assert_eq!([a[0], a[1]].map(|half| block.or(half, half)), a);
            let crossed = [block.or(a[0], b[1]), block.or(a[1], b[0])];
            assert!(crossed.iter().all(|half| block.node(*half).op == Op::Or));
            let node = block.node(whole);
            node.op == Op::Inline && node.row_op() == RowOp::rotr64 && node.args[..2] == [pair, n]
        };
        for reversed in [false, true] {
            assert!(is_rotated(0, reversed, false) && is_rotated(64, reversed, false));
            assert!(!is_rotated(32, reversed, false) && !is_rotated(64, reversed, true));
        }
    }

    #[test]
    fn the_high_half_of_a_product_takes_the_carry_of_the_low_one() {
        let mut block = Block::new(0);
        let (factors, number) = (lane_pair(&mut block, 0), lane_pair(&mut block, 2));
        let [a, b] = [block.lo(factors), block.hi(factors)];
        let product = block.mul_wide(a, b);
        let sum = block.add(product, number);
        let high = block.hi(sum);
        let added = *block.node(high);
        let [sum, carry] = [added.args[0], added.args[1]].map(|arg| *block.node(arg));
        assert_eq!((sum.op, carry.op), (Op::Add, Op::Select));
        let [high_product, high_number] = [sum.args[0], sum.args[1]];
        assert_eq!((block.node(high_product).op, high_number), (Op::MulHiU, block.hi(number)));
        let (low_product, low_number) = (block.mul(a, b), block.lo(number));
        let low = block.add(low_product, low_number);
        assert_eq!(carry.args[0], block.ult(low, low_product));
    }

    #[test]
    fn comparisons_are_made_of_halves() {
        for cc in [Icc::Eq, Icc::Ne, Icc::Ult, Icc::Ule, Icc::Slt, Icc::Sle] {
            for constant in [None].into_iter().chain(NUMBERS.map(Some)) {
                let mut block = Block::new(0);
                let pair = lane_pair(&mut block, 0);
                let other = match constant {
                    Some(bits) => block.b64(bits),
                    None => lane_pair(&mut block, 2),
                };
                let result = block.icmp(cc, pair, other);
                assert!(
                    block
                        .nodes
                        .iter()
                        .all(|node| !matches!(node.op, Op::Icmp(_)) || node.args().all(|arg| block.ty(arg) == Ty::B32))
                );
                for (a, b) in NUMBERS.into_iter().flat_map(|a| NUMBERS.map(|b| (a, constant.unwrap_or(b)))) {
                    let expected = match cc {
                        Icc::Eq => a == b,
                        Icc::Ne => a != b,
                        Icc::Ult => a < b,
                        Icc::Ule => a <= b,
                        Icc::Slt => (a as i64) < b as i64,
                        Icc::Sle => a as i64 <= b as i64,
                    };
                    assert_eq!(evaluate(&block, result, &dwords(&[a, b])), expected.into(), "{cc:?} {a:x} {b:x}");
                }
            }
        }
    }
}
