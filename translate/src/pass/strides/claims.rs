//! Which checks at the ends of chunks are enough for all values of a part.
//!
//! [`check`] says for each value what has to be so for its stride, whatever its arguments are. Much of that follows from
//! what is looked at for other values, and is left out:
//!
//! - Lanes whose bits from some position on are the same go in order, signed or not, and all their shifts by more are the
//!   same too. Shifted to the left by no more than there are bits above that position, they are in order as well.
//! - A sum is less than one of its summands where it has wrapped. If the one summand that moves is in order, the lanes that
//!   have wrapped are the first or the last ones: they are none or all if that is so of the first and the last one, and
//!   then the sum is in order.
//!
//! All checks of a part's stage are made before anything relies on one of them, so it doesn't matter which comes first.

use super::{Signed, Stride, check};
use crate::lane::{Block, Icc, Node, Op, Ty, Value};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Something to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// From the first lane to the last one an integer goes up, or down, as its stride says: it does not wrap.
    Ordered(Value, Signed),
    /// The last lane is as far from the first one as the stride says.
    Ends(Value),
    /// A mask is true in the first lane and in the last one.
    True(Value),
}

impl Claim {
    /// What is looked at.
    pub fn value(self) -> Value {
        match self {
            Claim::Ordered(value, _) | Claim::Ends(value) | Claim::True(value) => value,
        }
    }
}

/// Finds the claims of values that are computed at the ends of chunks.
pub struct Claims<'a> {
    block: &'a Block,
    strides: &'a [Stride],
    /// What has been claimed, or follows.
    known: HashSet<Claim>,
}

impl<'a> Claims<'a> {
    /// Nothing is known of a block's values but the strides that they seem to have.
    pub fn new(block: &'a Block, strides: &'a [Stride]) -> Claims<'a> {
        Claims { block, strides, known: HashSet::default() }
    }

    /// What is to be looked at for the lanes of an integer to go in order.
    pub fn in_order(&mut self, value: Value, signed: Signed) -> Option<Claim> {
        self.moves(value).then_some(Claim::Ordered(value, signed)).and_then(|claim| self.claim(claim))
    }

    /// What is to be looked at for each of some values, in program order.
    pub fn of(&mut self, values: &[Value]) -> Vec<Vec<Claim>> {
        let shifts = self.least_shifts(values);
        for value in shifts.keys() {
            self.known.extend([Signed::Yes, Signed::No].map(|signed| Claim::Ordered(*value, signed)));
        }
        for value in values {
            self.know_shifted(*value, &shifts);
        }
        values.iter().map(|value| self.of_value(*value, &shifts)).collect()
    }

    fn of_value(&mut self, value: Value, shifts: &HashMap<Value, u32>) -> Vec<Claim> {
        let node = self.block.node(value);
        let needs = check(node, |arg| self.strides[arg.index()]);
        let mut claims = Vec::new();
        if let Some(signed) = needs.ordered {
            match self.summand_that_moves(node) {
                Some((sum, summand)) => {
                    claims.extend(self.claim(Claim::Ordered(summand, signed)));
                    self.known.insert(Claim::Ordered(sum, signed));
                }
                None => {
                    let moving: Vec<Value> = node.args().filter(|arg| self.moves(*arg)).collect();
                    claims.extend(moving.into_iter().filter_map(|arg| self.claim(Claim::Ordered(arg, signed))));
                }
            }
        }
        let follows = self.shift(node).is_some_and(|(of, by)| shifts.get(&of).is_some_and(|least| *least < by));
        if needs.ends && !follows {
            claims.extend(self.claim(Claim::Ends(value)));
        }
        claims
    }

    /// The claim, if it is new.
    fn claim(&mut self, claim: Claim) -> Option<Claim> {
        self.known.insert(claim).then_some(claim)
    }

    fn moves(&self, value: Value) -> bool {
        self.strides[value.index()] != Some(0)
    }

    /// What is shifted to the right, and by how much, if it is a dword that moves and the shift's lanes are to be the same.
    fn shift(&self, node: &Node) -> Option<(Value, u32)> {
        let [of, by, _] = node.args;
        let is_shift = matches!(node.op, Op::Shr | Op::Sar) && node.ty == Ty::B32;
        (is_shift && self.moves(of)).then(|| self.amount(by)).flatten().map(|by| (of, by))
    }

    fn amount(&self, value: Value) -> Option<u32> {
        let amount = u32::try_from(self.block.as_const(value)?).ok()?;
        (amount < u32::BITS).then_some(amount)
    }

    /// By how much each value is shifted to the right at least.
    fn least_shifts(&self, values: &[Value]) -> HashMap<Value, u32> {
        let mut least = HashMap::default();
        for (of, by) in values.iter().filter_map(|value| self.shift(self.block.node(*value))) {
            least.entry(of).and_modify(|least: &mut u32| *least = by.min(*least)).or_insert(by);
        }
        least
    }

    /// A value that is one with such lanes, shifted to the left.
    fn know_shifted(&mut self, value: Value, shifts: &HashMap<Value, u32>) {
        let node = self.block.node(value);
        let [of, by, _] = node.args;
        if node.op == Op::Shl
            && node.ty == Ty::B32
            && let (Some(same), Some(by)) = (shifts.get(&of), self.amount(by))
            && same + by <= u32::BITS
        {
            self.known.insert(Claim::Ordered(value, Signed::No));
        }
    }

    /// If a node is the carry of a sum, one summand of which moves: the sum and that summand.
    fn summand_that_moves(&self, node: &Node) -> Option<(Value, Value)> {
        let [value, summand, _] = node.args;
        let sum = self.block.node(value);
        if node.op != Op::Icmp(Icc::Ult)
            || sum.op != Op::Add
            || sum.ty != Ty::B32
            || !sum.args().any(|arg| arg == summand)
        {
            return None;
        }
        let [a, b, _] = sum.args;
        match [a, b].map(|arg| self.moves(arg)) {
            [true, false] => Some((value, a)),
            [false, true] => Some((value, b)),
            _ => None,
        }
    }
}
