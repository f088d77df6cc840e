//! Addresses as sums of integers that are extended to 64 bits.
//!
//! GCN code computes an address in two registers: an index is extended and shifted by halves, and a base is added with a
//! carry. To prove of lanes that count that each carry and all that is shifted from half to half do what they should
//! takes far longer than to compute the address. So it is taken for what was meant ([`Address::of`]): a sum modulo 2^64, of
//! which there is nothing left to prove once its summands are known to count as integers.

use crate::lane::{Block, Icc, Node, Op, Shape, Ty, Value};
use crate::pass::strides::{Signed, Stride};
use std::cell::Cell;
use std::collections::VecDeque;

/// Most summands of an upper half.
const HALVES: usize = 5;
/// Values that are looked at for an address at most: guest code may compute one as it likes.
const PATIENCE: usize = 256;

/// An address: what its terms and its bases add up to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// What differs from lane to lane.
    pub terms: Vec<Term>,
    /// What does not: the low half, and the upper one if it is not 0.
    pub bases: Vec<(Value, Option<Value>)>,
}

/// A value of each lane, extended and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The low half, a B32.
    pub low: Value,
    /// The upper one.
    pub upper: Upper,
    /// The factor; a power of two unless the upper half is 0.
    pub scale: u32,
}

/// The upper half of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upper {
    /// 0.
    Zero,
    /// The sign of the low half.
    Sign,
    /// A value of its own.
    Half(Value),
}

impl Term {
    /// In which order the low halves of lanes that count have to be for the term to count too.
    pub fn order(&self) -> Signed {
        if self.upper == Upper::Sign { Signed::Yes } else { Signed::No }
    }

    /// What it adds from lane to lane, given the strides of values.
    fn stride(&self, of: &impl Fn(Value) -> Stride) -> Option<i64> {
        let is_extended = match self.upper {
            Upper::Half(upper) => of(upper) == Some(0),
            _ => true,
        };
        of(self.low).filter(|_| is_extended).map(|stride| i64::from(stride) * i64::from(self.scale))
    }

    fn values(&self) -> impl Iterator<Item = Value> {
        let upper = if let Upper::Half(upper) = self.upper { Some(upper) } else { None };
        [self.low].into_iter().chain(upper)
    }
}

impl Address {
    /// The address whose halves these are; an offset that is extended by zeros if there is one.
    pub fn of(block: &Block, halves: &[Value]) -> Address {
        let finder = Finder { block, patience: Cell::new(PATIENCE) };
        let found = match *halves {
            [low, high] => finder.value(low, high),
            _ => halves.iter().map(|low| Term { low: *low, upper: Upper::Zero, scale: 1 }).collect(),
        };
        let mut address = Address::default();
        for term in found {
            match finder.base(&term) {
                Some(base) => address.bases.push(base),
                None => address.terms.push(term),
            }
        }
        address
    }

    /// What it adds from lane to lane, given the strides of values.
    pub fn stride(&self, of: impl Fn(Value) -> Stride) -> Stride {
        let sum = self.terms.iter().try_fold(0_i64, |sum, term| sum.checked_add(term.stride(&of)?));
        i32::try_from(sum?).ok()
    }

    /// The values that it is made of.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let bases = self.bases.iter().flat_map(|(low, high)| [*low].into_iter().chain(*high));
        self.terms.iter().flat_map(Term::values).chain(bases)
    }
}

/// Finds what halves are halves of.
struct Finder<'a> {
    block: &'a Block,
    /// Values that it looks at before it gives up.
    patience: Cell<usize>,
}

impl Finder<'_> {
    fn node(&self, value: Value) -> &Node {
        self.block.node(value)
    }

    /// Nothing if it has looked at too many.
    fn look(&self) -> Option<()> {
        self.patience.set(self.patience.get().checked_sub(1)?);
        Some(())
    }

    /// The terms of the value with these halves.
    fn value(&self, low: Value, high: Value) -> Vec<Term> {
        let found = self.find(low, &self.summands(high));
        found.unwrap_or_else(|| vec![Term { low, upper: Upper::Half(high), scale: 1 }])
    }

    /// The same, given what the upper half is the sum of.
    fn find(&self, low: Value, high: &[Value]) -> Option<Vec<Term>> {
        self.look()?;
        let term = |upper| Some(vec![Term { low, upper, scale: 1 }]);
        match *high {
            [] => term(Upper::Zero),
            [one] if self.is_sign(one, low) => term(Upper::Sign),
            [one] => self
                .product(low, one)
                .or_else(|| self.shifted(low, one))
                .or_else(|| self.sum(low, high))
                .or_else(|| term(Upper::Half(one))),
            _ => self.sum(low, high),
        }
    }

    /// What a B32 is the sum of, zeros left out; itself if that is too much.
    fn summands(&self, value: Value) -> Vec<Value> {
        let (mut found, mut work) = (Vec::new(), VecDeque::from([value]));
        while let Some(next) = work.pop_front() {
            let node = self.node(next);
            if node.op == Op::Add {
                work.extend(node.args());
            } else if self.block.as_const(next) != Some(0) {
                found.push(next);
            }
            if found.len() + work.len() > HALVES {
                return vec![value];
            }
        }
        found
    }

    fn is_sign(&self, upper: Value, low: Value) -> bool {
        let node = self.node(upper);
        node.op == Op::Sar && node.args[0] == low && self.block.as_const(node.args[1]) == Some(31)
    }

    /// A sum: of its upper summands one is the carry, and the others are those of the one summand or of the other.
    fn sum(&self, low: Value, high: &[Value]) -> Option<Vec<Term>> {
        let node = self.node(low);
        let [a, b, _] = node.args;
        let carry = high.iter().position(|upper| node.op == Op::Add && self.is_carry(*upper, low))?;
        let rest: Vec<Value> = high.iter().enumerate().filter(|(i, _)| *i != carry).map(|(_, upper)| *upper).collect();
        let shared = |set: usize| {
            let is_of = |side: usize| move |(i, _): &(usize, &Value)| set >> i & 1 == side;
            let [of_a, of_b]: [Vec<Value>; 2] =
                [1, 0].map(|side| rest.iter().enumerate().filter(is_of(side)).map(|(_, upper)| *upper).collect());
            Some([self.find(a, &of_a)?, self.find(b, &of_b)?].concat())
        };
        let unknown = |terms: &Vec<Term>| {
            let is_unknown = |term: &&Term| matches!(term.upper, Upper::Half(_)) && self.base(term).is_none();
            terms.iter().filter(is_unknown).count()
        };
        (0..1 << rest.len()).filter_map(shared).min_by_key(unknown)
    }

    /// Whether a value is 1 where a sum has wrapped, otherwise 0.
    fn is_carry(&self, value: Value, sum: Value) -> bool {
        let [wrapped, one, zero] = self.node(value).args;
        let is_one = || {
            self.node(value).op == Op::Select
                && self.block.as_const(one) == Some(1)
                && self.block.as_const(zero) == Some(0)
        };
        let has_wrapped = || {
            let [less, than, _] = self.node(wrapped).args;
            self.node(wrapped).op == Op::Icmp(Icc::Ult) && less == sum && self.node(sum).args().any(|arg| arg == than)
        };
        is_one() && has_wrapped()
    }

    /// Halves that are shifted to the left: what leaves the low one comes to the upper one.
    fn shifted(&self, low: Value, high: Value) -> Option<Vec<Term>> {
        let [inner, by, _] = self.node(low).args;
        let by = self.amount(low, Op::Shl, by)?;
        let leaves = |value: Value| {
            let [of, by_less, _] = self.node(value).args;
            of == inner && self.amount(value, Op::Shr, by_less) == Some(32 - by)
        };
        let upper = |value: Value| {
            let [of, by_same, _] = self.node(value).args;
            (self.amount(value, Op::Shl, by_same) == Some(by)).then_some(of)
        };
        let [a, b, _] = self.node(high).args;
        let terms = match self.node(high).op {
            Op::Or if leaves(a) => self.value(inner, upper(b)?),
            Op::Or if leaves(b) => self.value(inner, upper(a)?),
            _ if leaves(high) => vec![Term { low: inner, upper: Upper::Zero, scale: 1 }],
            Op::Sar if self.node(high).args[0] == inner && self.amount(high, Op::Sar, b) == Some(32 - by) => {
                vec![Term { low: inner, upper: Upper::Sign, scale: 1 }]
            }
            _ => return None,
        };
        scaled(terms, by)
    }

    /// The amount of a shift, if it is one of a B32 by a constant that leaves something.
    fn amount(&self, value: Value, op: Op, by: Value) -> Option<u32> {
        let node = self.node(value);
        let by = if (node.op, node.ty) == (op, Ty::B32) { self.block.as_const(by)? } else { return None };
        u32::try_from(by).ok().filter(|by| (1..u32::BITS).contains(by))
    }

    /// A product with a constant.
    fn product(&self, low: Value, high: Value) -> Option<Vec<Term>> {
        let [lower, upper] = [low, high].map(|half| self.node(half));
        let ([a, b, _], [c, d, _]) = (lower.args, upper.args);
        let is_one = (lower.op, upper.op) == (Op::Mul, Op::MulHiU) && ([a, b] == [c, d] || [b, a] == [c, d]);
        let factor = |factor, low| Some(Term { low, upper: Upper::Zero, scale: self.block.as_const(factor)? as u32 });
        let term = if is_one { factor(b, a).or_else(|| factor(a, b)) } else { None };
        term.map(|term| vec![term])
    }

    /// The halves of a term that is the same in all lanes, if it need not be multiplied.
    fn base(&self, term: &Term) -> Option<(Value, Option<Value>)> {
        let upper = match term.upper {
            Upper::Zero => None,
            Upper::Half(upper) => Some(upper),
            Upper::Sign => return None,
        };
        let is_uniform = term.values().all(|value| self.node(value).shape == Shape::Uniform);
        (is_uniform && term.scale == 1).then_some((term.low, upper))
    }
}

/// Terms shifted to the left, if their factors stay small.
fn scaled(mut terms: Vec<Term>, by: u32) -> Option<Vec<Term>> {
    for term in &mut terms {
        term.scale = 1_u32.checked_shl(by).and_then(|factor| term.scale.checked_mul(factor))?;
    }
    Some(terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Fenv;
    use crate::pass::numbers::Numbers;

    /// Halves of addresses as code computes them, and what values are.
    struct Code {
        block: Block,
        numbers: Numbers,
        /// What registers hold, where bits are often all the same.
        registers: Vec<u64>,
        /// How many values have an upper half that is nothing but that.
        pairs: usize,
    }

    impl Code {
        fn register(&mut self, uniform: bool) -> Value {
            let shape = if uniform { Shape::Uniform } else { Shape::Lane };
            let op = if uniform { Op::Sgpr } else { Op::Vgpr };
            let near = [0, 0x8000_0000, 0xffff_fff0][self.numbers.below(3) as usize] + self.numbers.below(16);
            let any = self.numbers.next() & 0xffff_ffff;
            let imm = self.registers.len() as u64;
            self.registers.push(if self.numbers.below(2) == 0 { near } else { any });
            self.block.append(Node { op, ty: Ty::B32, shape, fenv: Fenv::Any, args: [Value::NONE; 3], imm })
        }

        fn op(&mut self, op: Op, args: &[Value]) -> Value {
            let ty = match op {
                Op::Icmp(_) => Ty::B1,
                Op::MulWide | Op::Pack => Ty::B64,
                Op::Add if self.block.node(args[0]).ty == Ty::B64 => Ty::B64,
                _ => Ty::B32,
            };
            self.block.op(op, ty, Fenv::Any, args, 0)
        }

        fn number(&mut self, bits: u64) -> Value {
            self.block.constant(Ty::B32, bits)
        }

        /// A value in two registers, and how many operations deep it is.
        fn value(&mut self, depth: u32) -> [Value; 2] {
            match if depth == 0 { self.numbers.below(4) } else { self.numbers.below(9) } {
                0 => [self.register(false), self.number(0)],
                1 => {
                    let (low, by) = (self.register(false), self.number(31));
                    [low, self.op(Op::Sar, &[low, by])]
                }
                2 => [(); 2].map(|()| self.register(true)),
                3 => {
                    self.pairs += 1;
                    [(); 2].map(|()| self.register(false))
                }
                4 => {
                    let (of, by) = (self.register(false), 1 + self.numbers.below(4));
                    let [by, less] = [by, 32 - by].map(|by| self.number(by));
                    [self.op(Op::Shl, &[of, by]), self.op(Op::Sar, &[of, less])]
                }
                5 => {
                    let (of, by) = (self.value(depth - 1), 1 + self.numbers.below(4));
                    let [by, less] = [by, 32 - by].map(|by| self.number(by));
                    let low = self.op(Op::Shl, &[of[0], by]);
                    let (left, right) = (self.op(Op::Shr, &[of[0], less]), self.op(Op::Shl, &[of[1], by]));
                    [low, self.op(Op::Or, &[left, right])]
                }
                6 => {
                    let (of, by) = (self.register(false), 1 + self.numbers.below(100));
                    let (by, other) = (self.number(by), self.value(depth - 1));
                    let [product, other] = [self.op(Op::MulWide, &[of, by]), self.op(Op::Pack, &other)];
                    let sum = self.op(Op::Add, &[product, other]);
                    [self.op(Op::Lo, &[sum]), self.op(Op::Hi, &[sum])]
                }
                _ => {
                    let [a, b] = [(); 2].map(|()| self.value(depth - 1));
                    let low = self.op(Op::Add, &[a[0], b[0]]);
                    let than = if self.numbers.below(2) == 0 { a } else { b }[0];
                    let wrapped = self.op(Op::Icmp(Icc::Ult), &[low, than]);
                    let [one, zero] = [1, 0].map(|bits| self.number(bits));
                    let carry = self.op(Op::Select, &[wrapped, one, zero]);
                    let high = self.op(Op::Add, &[a[1], b[1]]);
                    [low, self.op(Op::Add, &[high, carry])]
                }
            }
        }

        fn bits(&self, value: Value) -> u64 {
            let node = self.block.node(value);
            let [a, b, c] = node.args.map(|arg| if arg == Value::NONE { 0 } else { self.bits(arg) });
            let bits = match node.op {
                Op::Const => node.imm,
                Op::Sgpr | Op::Vgpr => self.registers[node.imm as usize],
                Op::Add => a.wrapping_add(b),
                Op::Or => a | b,
                Op::Shl => a << b,
                Op::Shr => a >> b,
                Op::Sar => (a as i32 >> b) as u64,
                Op::Mul | Op::MulWide => a.wrapping_mul(b),
                Op::MulHiU => (a * b) >> 32,
                Op::Pack => a | b << 32,
                Op::Lo => a,
                Op::Hi => a >> 32,
                Op::Icmp(_) => u64::from(a < b),
                _ => {
                    if a != 0 {
                        b
                    } else {
                        c
                    }
                }
            };
            if node.ty == Ty::B64 { bits } else { bits & 0xffff_ffff }
        }

        fn sum(&self, address: &Address) -> u64 {
            let whole = |low: Value, high: Option<Value>| self.bits(low) | high.map_or(0, |high| self.bits(high)) << 32;
            let term = |term: &Term| {
                let extended = match term.upper {
                    Upper::Zero => whole(term.low, None),
                    Upper::Sign => self.bits(term.low) as i32 as u64,
                    Upper::Half(upper) => whole(term.low, Some(upper)),
                };
                extended.wrapping_mul(term.scale.into())
            };
            let terms = address.terms.iter().map(term);
            terms.chain(address.bases.iter().map(|(low, high)| whole(*low, *high))).fold(0, u64::wrapping_add)
        }
    }

    fn code(seed: u64) -> Code {
        Code { block: Block::new(0), numbers: Numbers(seed), registers: Vec::new(), pairs: 0 }
    }

    #[test]
    fn the_sum_is_what_the_halves_are() {
        let (mut drawn, mut found) = (0, 0);
        for seed in 0..20_000 {
            let mut code = code(seed);
            let halves = code.value(4);
            let address = Address::of(&code.block, &halves);
            let [low, high] = halves.map(|half| code.bits(half));
            assert_eq!(code.sum(&address), low | high << 32, "{address:?} of {}", crate::lane::Listing(&code.block));
            let is_pair = |term: &&Term| matches!(term.upper, Upper::Half(_));
            found += address.terms.iter().filter(is_pair).count();
            drawn += code.pairs;
        }
        // More where an address is too long to be looked at to its end, and where factors get large.
        assert!(drawn < found && found < drawn + drawn / 4, "{found} for {drawn}");
    }

    #[test]
    fn an_element_of_an_array_is_an_index_and_a_base() {
        let mut code = code(1);
        let index = code.register(false);
        let [base_low, base_high] = [(); 2].map(|()| code.register(true));
        let [sign, two, rest, one, zero] = [31, 2, 30, 1, 0].map(|bits| code.number(bits));
        let sign = code.op(Op::Sar, &[index, sign]);
        let (low, left) = (code.op(Op::Shl, &[index, two]), code.op(Op::Shr, &[index, rest]));
        let high = code.op(Op::Shl, &[sign, two]);
        let high = code.op(Op::Or, &[high, left]);
        let sum = code.op(Op::Add, &[base_low, low]);
        let wrapped = code.op(Op::Icmp(Icc::Ult), &[sum, base_low]);
        let carry = code.op(Op::Select, &[wrapped, one, zero]);
        let high = code.op(Op::Add, &[base_high, high]);
        let high = code.op(Op::Add, &[high, carry]);
        let address = Address::of(&code.block, &[sum, high]);
        let term = Term { low: index, upper: Upper::Sign, scale: 4 };
        assert_eq!(address, Address { terms: vec![term], bases: vec![(base_low, Some(base_high))] });
        assert_eq!(address.stride(|value| (value == index).then_some(3)), Some(12));
        assert_eq!(term.order(), Signed::Yes);
    }
}
