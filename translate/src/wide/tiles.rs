//! Trees of operations that are one instruction: rotations by a constant, bitwise logic of two or three values, and
//! comparisons and additions in lanes of a mask, the latter as of carries.
//!
//! What only a tree uses is absorbed by it and never computed on its own.

use crate::lane::{Block, Node, Op, Shape, Ty, Value};
use crate::libcall::RowOp;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A tree of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// The value's bits rotated right.
    Rotate(Value, u8),
    /// A bit of the table for the values' bits: bit 4 × first + 2 × second + third. Where there are two values the last
    /// one is there twice.
    Logic([Value; 3], u8),
    /// A value, plus or minus another one in lanes of a mask: these are last.
    Where(MaskedOp, Value, Value, Value),
    /// A mask, and a comparison of two values in lanes of it.
    Compare(Value, Op, [Value; 2]),
    /// A mask, a value, and a libcall of few lanes: what it returns in those of the mask, the value in others.
    Blend(Value, Value, Value, [Value; 3]),
}

/// What is done in lanes of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedOp {
    /// An addition.
    Add,
    /// A subtraction.
    Sub,
}

/// Tables of the three values themselves.
const TABLES: [u8; 3] = [0xf0, 0xcc, 0xaa];

impl Tile {
    /// The values that it is made of, and in other places none.
    fn args(self) -> [Value; 5] {
        const NONE: Value = Value::NONE;
        match self {
            Tile::Rotate(value, _) => [value, NONE, NONE, NONE, NONE],
            Tile::Logic([a, b, c], _) if b == c => [a, b, NONE, NONE, NONE],
            Tile::Logic([a, b, c], _) => [a, b, c, NONE, NONE],
            Tile::Where(_, plain, mask, other) => [plain, mask, other, NONE, NONE],
            Tile::Compare(mask, _, [a, b]) => [mask, a, b, NONE, NONE],
            Tile::Blend(mask, plain, _, [a, b, c]) => [mask, plain, a, b, c],
        }
    }
}

/// Trees, by the value at the root of each.
#[derive(Default)]
pub struct Tiles {
    tiles: HashMap<Value, Tile>,
    absorbed: HashSet<Value>,
}

impl Tiles {
    /// Finds the trees among values that are computed, in program order. `roots` are needed besides, and `resolve` looks
    /// through what does nothing.
    pub fn find(block: &Block, values: &[Value], roots: &[Value], resolve: impl Fn(Value) -> Value) -> Tiles {
        let mut finder = Finder { block, uses: HashMap::default(), resolve, found: Tiles::default() };
        let may_be_root =
            |node: &Node| is_logic(node) || is_rare(node) || is_mask_and(node) || masked_op(node).is_some();
        if !values.iter().any(|value| may_be_root(block.node(*value))) {
            return finder.found;
        }
        for value in values {
            finder.uses.insert(*value, 0);
        }
        let args = values.iter().flat_map(|value| block.node(*value).args());
        for value in args.chain(roots.iter().copied()) {
            let value = (finder.resolve)(value);
            finder.uses.entry(value).and_modify(|uses| *uses += 1);
        }
        for value in values.iter().rev() {
            finder.root(*value);
        }
        finder.found
    }

    /// What the instructions for a value take.
    pub fn args(&self, block: &Block, value: Value) -> impl Iterator<Item = Value> + use<> {
        let [a, b, c] = block.node(value).args;
        let plain = [a, b, c, Value::NONE, Value::NONE];
        let args = self.get(value).map_or(plain, |tile| tile.args());
        args.into_iter().filter(|arg| *arg != Value::NONE)
    }

    /// The tree that ends with a value.
    pub fn get(&self, value: Value) -> Option<&Tile> {
        self.tiles.get(&value)
    }

    /// Whether a tree has made the value superfluous.
    pub fn absorbs(&self, value: Value) -> bool {
        self.absorbed.contains(&value)
    }
}

fn is_logic(node: &Node) -> bool {
    matches!(node.op, Op::And | Op::Or | Op::Xor) && matches!(node.ty, Ty::B32 | Ty::B64) && node.shape == Shape::Lane
}

fn is_mask_and(node: &Node) -> bool {
    node.op == Op::And && node.ty == Ty::B1 && node.shape == Shape::Lane
}

fn masked_op(node: &Node) -> Option<MaskedOp> {
    match node.op {
        Op::Add if node.ty == Ty::B32 => Some(MaskedOp::Add),
        Op::Sub if node.ty == Ty::B32 => Some(MaskedOp::Sub),
        _ => None,
    }
}

/// Whether it is computed only where a mask has a lane.
fn is_rare(node: &Node) -> bool {
    node.op == Op::Inline && node.row_op() == RowOp::div_fmas_f32
}

struct Finder<'a, R> {
    block: &'a Block,
    /// Of each value that is computed.
    uses: HashMap<Value, usize>,
    resolve: R,
    found: Tiles,
}

impl<R: Fn(Value) -> Value> Finder<'_, R> {
    fn args(&self, value: Value) -> [Value; 2] {
        let args = self.block.node(value).args;
        [(self.resolve)(args[0]), (self.resolve)(args[1])]
    }

    /// Makes a value the root of a tree, if that saves an instruction.
    fn root(&mut self, value: Value) {
        if self.block.node(value).op == Op::Select {
            return self.blend(value);
        }
        if let Some(op) = masked_op(self.block.node(value)) {
            return self.masked(value, op);
        }
        if is_mask_and(self.block.node(value)) {
            return self.compare(value);
        }
        if !is_logic(self.block.node(value)) || self.found.absorbs(value) {
            return;
        }
        if let Some(by) = self.rotation(value) {
            let args = self.args(value);
            let source = self.args(args[0])[0];
            self.found.tiles.insert(value, Tile::Rotate(source, by));
            let unused = args.into_iter().filter(|arg| self.uses.get(arg) == Some(&1));
            self.found.absorbed.extend(unused);
            return;
        }
        self.logic(value);
    }

    /// Takes in what a select takes from a libcall of few lanes.
    fn blend(&mut self, value: Value) {
        let [mask, call, plain] = self.block.node(value).args.map(|arg| (self.resolve)(arg));
        if is_rare(self.block.node(call)) && self.uses.get(&call) == Some(&1) {
            let args = self.block.node(call).args.map(|arg| (self.resolve)(arg));
            self.found.tiles.insert(value, Tile::Blend(mask, plain, call, args));
            self.found.absorbed.insert(call);
        }
    }

    /// Takes in a comparison of dwords that only counts in lanes of a mask.
    fn compare(&mut self, value: Value) {
        let [first, second] = self.args(value);
        let is_own = |value: Value| {
            let node = self.block.node(value);
            // What is not computed here has no arguments to look at.
            self.uses.get(&value) == Some(&1)
                && matches!(node.op, Op::Icmp(_) | Op::Fcmp(_))
                && self.block.node(node.args[0]).ty == Ty::B32
        };
        let (mask, compared) = match (is_own(first), is_own(second)) {
            (true, _) => (second, first),
            (_, true) => (first, second),
            _ => return,
        };
        let (op, args) = (self.block.node(compared).op, self.args(compared));
        self.found.tiles.insert(value, Tile::Compare(mask, op, args));
        self.found.absorbed.insert(compared);
    }

    /// Takes in a select of what is added or subtracted, or nothing.
    fn masked(&mut self, value: Value, op: MaskedOp) {
        let [first, second] = self.args(value);
        let is_masked = |value: Value| {
            let node = self.block.node(value);
            // What is not computed here has no arguments to look at.
            self.uses.get(&value) == Some(&1)
                && node.op == Op::Select
                && self.block.as_const((self.resolve)(node.args[2])) == Some(0)
        };
        let (plain, select) = match op {
            _ if is_masked(second) => (first, second),
            MaskedOp::Add if is_masked(first) => (second, first),
            _ => return,
        };
        let [mask, other, _] = self.block.node(select).args.map(|arg| (self.resolve)(arg));
        self.found.tiles.insert(value, Tile::Where(op, plain, mask, other));
        self.found.absorbed.insert(select);
    }

    /// How far the value is its source rotated, if it is.
    fn rotation(&self, value: Value) -> Option<u8> {
        let node = self.block.node(value);
        let [mut left, mut right] = self.args(value);
        if self.block.node(left).op == Op::Shr {
            (left, right) = (right, left);
        }
        let is_shift = |value: Value, op: Op| self.block.node(value).op == op && self.uses.contains_key(&value);
        if node.op != Op::Or || !is_shift(left, Op::Shl) || !is_shift(right, Op::Shr) {
            return None;
        }
        let ([source, left], [other, right]) = (self.args(left), self.args(right));
        let (left, right) = (self.block.as_const(left)?, self.block.as_const(right)?);
        let width = if node.ty == Ty::B64 { 64 } else { 32 };
        (source == other && left != 0 && right != 0 && left + right == width).then_some(right as u8)
    }

    /// Takes in operations that nothing else uses, as long as there are at most three values at the leaves.
    fn logic(&mut self, value: Value) {
        let (mut inner, mut leaves) = (Vec::new(), self.leaves(&[value]));
        while let Some(next) = leaves.iter().copied().find(|leaf| self.can_absorb(*leaf, value, &inner)) {
            inner.push(next);
            leaves = self.leaves(&[&[value], &inner[..]].concat());
        }
        if inner.is_empty() || leaves.len() < 2 {
            return;
        }
        let all = [leaves[0], leaves[1], *leaves.get(2).unwrap_or(&leaves[1])];
        let table = self.table(value, &inner, &leaves);
        self.found.absorbed.extend(inner);
        self.found.tiles.insert(value, Tile::Logic(all, table));
    }

    fn can_absorb(&self, leaf: Value, root: Value, inner: &[Value]) -> bool {
        let alone = self.uses.get(&leaf) == Some(&1) && is_logic(self.block.node(leaf));
        alone && self.rotation(leaf).is_none() && self.leaves(&[&[root], inner, &[leaf]].concat()).len() <= 3
    }

    /// What operations of a tree take from outside of it.
    fn leaves(&self, tree: &[Value]) -> Vec<Value> {
        let mut leaves = Vec::new();
        for arg in tree.iter().flat_map(|value| self.args(*value)) {
            if !tree.contains(&arg) && self.constant(arg).is_none() && !leaves.contains(&arg) {
                leaves.push(arg);
            }
        }
        leaves
    }

    /// The table of a value whose bits are all the same.
    fn constant(&self, value: Value) -> Option<u8> {
        let ones = self.block.node(value).ty.ones();
        match self.block.as_const(value)? {
            0 => Some(0),
            bits if bits == ones => Some(u8::MAX),
            _ => None,
        }
    }

    fn table(&self, value: Value, inner: &[Value], leaves: &[Value]) -> u8 {
        let of = |arg: Value| match leaves.iter().position(|leaf| *leaf == arg) {
            Some(place) => TABLES[place],
            None if inner.contains(&arg) => self.table(arg, inner, leaves),
            None => self.constant(arg).expect("other values are leaves"),
        };
        let [a, b] = self.args(value).map(of);
        match self.block.node(value).op {
            Op::And => a & b,
            Op::Or => a | b,
            _ => a ^ b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MaskedOp, Tile, Tiles};
    use crate::lane::{Block, Fenv, Node, Op, Shape, Ty, Value};

    fn lane(block: &mut Block, imm: u64) -> Value {
        let node = Node { op: Op::Vgpr, ty: Ty::B32, shape: Shape::Lane, fenv: Fenv::Any, args: [Value::NONE; 3], imm };
        block.pure(node)
    }

    #[test]
    fn carries_that_nothing_else_needs_are_added_under_their_mask() {
        let mut block = Block::new(0);
        let [a, b] = [0, 1].map(|register| lane(&mut block, register));
        let mask = block.ult(a, b);
        let (carry, one) = (block.b1_to_b32(mask), block.b32(1));
        let (sum, reversed, difference) = (block.add(a, carry), block.add(carry, a), block.sub(a, carry));
        let backwards = block.sub(carry, a);
        let find = |values: &[Value]| Tiles::find(&block, &[&[mask, carry], values].concat(), values, |value| value);
        let tile = |value: Value| find(&[value]).get(value).copied();
        assert_eq!(tile(sum), Some(Tile::Where(MaskedOp::Add, a, mask, one)));
        assert_eq!(tile(reversed), tile(sum));
        assert_eq!(tile(difference), Some(Tile::Where(MaskedOp::Sub, a, mask, one)));
        assert_eq!(tile(backwards), None);
        assert!(find(&[sum]).absorbs(carry));
        let given = Node { op: Op::Select, args: [Value::NONE; 3], ..*block.node(carry) };
        let given = block.append(given);
        let other = block.add(a, given);
        let find = |values: &[Value]| Tiles::find(&block, &[&[mask, carry], values].concat(), values, |value| value);
        assert!(find(&[other]).get(other).is_none());
        let both = find(&[sum, difference]);
        assert!(both.get(sum).is_none() && both.get(difference).is_none() && !both.absorbs(carry));
    }

    #[test]
    fn comparisons_that_only_count_in_a_mask_are_done_under_it() {
        let mut block = Block::new(0);
        let [a, b, c] = [0, 1, 2].map(|register| lane(&mut block, register));
        let (first, second) = (block.ult(a, b), block.ult(b, c));
        let both = block.and(first, second);
        let values = [first, second, both];
        let find = |roots: &[Value]| Tiles::find(&block, &values, roots, |value| value);
        let op = block.node(first).op;
        assert_eq!(find(&[both]).get(both), Some(&Tile::Compare(second, op, [a, b])));
        assert!(find(&[both]).absorbs(first));
        // Who needs the first one besides leaves the second one to be absorbed.
        assert_eq!(find(&[both, first]).get(both), Some(&Tile::Compare(first, op, [b, c])));
        assert!(find(&[both, first, second]).get(both).is_none());
    }
}
