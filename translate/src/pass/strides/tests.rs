//! What [`check`] asks for at the ends of lanes that count is enough: whenever it is so, all of them have the stride. Lanes
//! are those of a chunk, of two, or of a wave.

use super::claims::{Claim, Claims};
use super::*;
use crate::lane::{Fenv, Listing};
use crate::pass::numbers::Numbers;

/// A value in lanes that count.
type Lanes<const N: usize> = [u64; N];

fn lanes<const N: usize>(first: u64, stride: i32, ty: Ty) -> Lanes<N> {
    std::array::from_fn(|lane| cut(first.wrapping_add((i64::from(stride) * lane as i64) as u64), ty))
}

fn cut(value: u64, ty: Ty) -> u64 {
    match ty {
        Ty::B1 => value & 1,
        Ty::B32 => value & 0xffff_ffff,
        _ => value,
    }
}

/// One lane of an operation, by the definitions of lane IR.
fn evaluate(node: &Node, args: [u64; 3], arg_ty: Ty) -> u64 {
    let [a, b, c] = args;
    let (x, y) = (a as i32, b as i32);
    let width = if node.ty == Ty::B64 { 64 } else { 32 };
    let value = match node.op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Shl => a << (b % width),
        Op::Shr => a >> (b % width),
        Op::Sar if node.ty == Ty::B64 => (a as i64 >> (b % width)) as u64,
        Op::Sar => (x >> (b % width)) as u64,
        Op::Icmp(Icc::Ult) => u64::from(a < b),
        Op::Icmp(Icc::Ule) => u64::from(a <= b),
        Op::Icmp(Icc::Slt) if arg_ty == Ty::B32 => u64::from(x < y),
        Op::Icmp(Icc::Sle) if arg_ty == Ty::B32 => u64::from(x <= y),
        Op::MinU => a.min(b),
        Op::MaxU => a.max(b),
        Op::MinS => x.min(y) as u64,
        Op::MaxS => x.max(y) as u64,
        Op::Select => {
            if a & 1 == 1 {
                b
            } else {
                c
            }
        }
        Op::Pack => a | b << 32,
        Op::Lo => a,
        Op::Hi => a >> 32,
        other => panic!("{other:?} is not among the operations that are drawn"),
    };
    cut(value, node.ty)
}

/// Any number, or one of those that are close to where integers wrap.
fn first(numbers: &mut Numbers, ty: Ty) -> u64 {
    let edge: u64 =
        numbers.pick(&[0, 1 << 31, 1 << 32, 1 << 63, 1 << 33, 64, 1 << 12, 1 << 28, 1 << 30, 1 << 31 | 1 << 28]);
    let near = edge.wrapping_add(numbers.next() % 64).wrapping_sub(32);
    let any = numbers.next();
    cut(numbers.pick(&[near, near, any]), ty)
}

/// Whether the first lane and the last one are in order.
fn is_ordered(lanes: &[u64], stride: i32, signed: Signed) -> bool {
    let (first, last) = (lanes[0], lanes[lanes.len() - 1]);
    let up = match signed {
        Signed::Yes => first as i32 <= last as i32,
        Signed::No => first <= last,
    };
    stride == 0 || first != last && up == (stride > 0)
}

/// Whether the last lane is as far from the first one as the stride says.
fn has_ends(lanes: &[u64], stride: i32, ty: Ty) -> bool {
    let last = lanes.len() - 1;
    let distance = cut(lanes[last].wrapping_sub(lanes[0]), ty);
    distance == cut((i64::from(stride) * last as i64) as u64, ty)
}

/// Whether what a part looks at is as it should be.
fn holds<const N: usize>(check: Check, args: &[(Lanes<N>, i32)], result: &Lanes<N>, stride: i32, ty: Ty) -> bool {
    let in_order =
        |(lanes, stride): &(Lanes<N>, i32)| check.ordered.is_none_or(|signed| is_ordered(lanes, *stride, signed));
    args.iter().all(in_order) && (!check.ends || has_ends(result, stride, ty))
}

#[test]
fn the_ends_prove_the_stride() {
    ends_prove_strides::<16>(400_000);
    ends_prove_strides::<32>(200_000);
    ends_prove_strides::<64>(200_000);
}

fn ends_prove_strides<const N: usize>(draws: usize) {
    let narrow = [Op::Add, Op::Sub, Op::Mul, Op::Shl, Op::Shr, Op::Sar, Op::MinU, Op::MaxU, Op::MinS, Op::MaxS];
    let compare = [Icc::Ult, Icc::Ule, Icc::Slt, Icc::Sle].map(Op::Icmp);
    let mut numbers = Numbers(1);
    let (mut known, mut proven) = (0, 0);
    for _ in 0..draws {
        let (op, ty, from) = match numbers.next() % 8 {
            0 => (numbers.pick(&compare), Ty::B1, [Ty::B32, Ty::B32]),
            1 => (Op::Pack, Ty::B64, [Ty::B32, Ty::B32]),
            2 => (numbers.pick(&[Op::Lo, Op::Hi]), Ty::B32, [Ty::B64, Ty::B64]),
            3 => (numbers.pick(&[Op::Add, Op::Sub]), Ty::B64, [Ty::B64, Ty::B64]),
            4 => (numbers.pick(&[Op::Shl, Op::Shr, Op::Sar]), Ty::B64, [Ty::B64, Ty::B32]),
            5 => (Op::Select, Ty::B32, [Ty::B1, Ty::B32]),
            _ => (numbers.pick(&narrow), Ty::B32, [Ty::B32, Ty::B32]),
        };
        let mut block = Block::new(0);
        let count = if matches!(op, Op::Lo | Op::Hi) { 1 } else { 2 };
        let mut args: Vec<(Value, Lanes<N>, i32)> = Vec::new();
        for (i, ty) in from.into_iter().take(count).chain((op == Op::Select).then_some(Ty::B32)).enumerate() {
            // The second one is a constant often: amounts and factors are.
            let constant = i == 1 && numbers.next().is_multiple_of(2);
            let most = SPAN as i32 / N as i32;
            let stride =
                if constant || ty == Ty::B1 { 0 } else { numbers.pick(&[0, 1, 4, 4, 8, -4, 12, 64, -1, most]) };
            let first = if constant {
                numbers.pick(&[1, 2, 4, 5, 30, 31, 32, 34, 100, 0xffff_fff0])
            } else {
                first(&mut numbers, ty)
            };
            let (op, shape) = if constant { (Op::Const, Shape::Uniform) } else { (Op::Vgpr, Shape::Lane) };
            let node = Node { op, ty, shape, fenv: Fenv::Any, args: [Value::NONE; 3], imm: cut(first, ty) };
            args.push((block.append(node), lanes(first, stride, ty), stride));
        }
        let mut values = [Value::NONE; 3];
        values.iter_mut().zip(&args).for_each(|(value, arg)| *value = arg.0);
        let node = Node { op, ty, shape: Shape::Lane, fenv: Fenv::Any, args: values, imm: 0 };
        let of = |value: Value| args.iter().find(|arg| arg.0 == value).map(|arg| arg.2);
        let Some(stride) = stride(&block, &node, N, of) else { continue };
        known += 1;
        let lane = |lane: usize| std::array::from_fn(|i| args.get(i).map_or(0, |arg| arg.1[lane]));
        let result: Lanes<N> = std::array::from_fn(|i| evaluate(&node, lane(i), from[0]));
        let seen: Vec<(Lanes<N>, i32)> = args.iter().map(|arg| (arg.1, arg.2)).collect();
        if holds(check(&node, of), &seen, &result, stride, ty) {
            proven += 1;
            assert_eq!(result, lanes(result[0], stride, ty), "{op:?} of {seen:x?}");
        }
    }
    assert!(known > draws / 4 && proven > known / 2 && proven < known, "{proven} of {known}");
}

/// Values made of each other, as addresses are.
struct Graph<const N: usize> {
    block: Block,
    strides: Vec<Stride>,
    lanes: Vec<Lanes<N>>,
    computed: Vec<Value>,
}

impl<const N: usize> Graph<N> {
    fn leaf(&mut self, op: Op, first: u64, stride: i32) -> Value {
        let shape = if op == Op::Const { Shape::Uniform } else { Shape::Lane };
        let imm = if op == Op::Const { first } else { self.lanes.len() as u64 };
        let node = Node { op, ty: Ty::B32, shape, fenv: Fenv::Any, args: [Value::NONE; 3], imm };
        self.strides.push(Some(stride));
        self.lanes.push(lanes(first, stride, Ty::B32));
        self.block.append(node)
    }

    /// The value of an operation, if its stride is known.
    fn compute(&mut self, op: Op, ty: Ty, args: [Value; 3]) -> Option<Value> {
        let node = Node { op, ty, shape: Shape::Lane, fenv: Fenv::Any, args, imm: 0 };
        let stride = stride(&self.block, &node, N, |arg| self.strides[arg.index()])?;
        let lane = |lane: usize| args.map(|arg| if arg == Value::NONE { 0 } else { self.lanes[arg.index()][lane] });
        let lanes = std::array::from_fn(|i| evaluate(&node, lane(i), Ty::B32));
        self.strides.push(Some(stride));
        self.lanes.push(lanes);
        let value = self.block.append(node);
        self.computed.push(value);
        Some(value)
    }

    fn draw(numbers: &mut Numbers) -> Graph<N> {
        let (block, strides, lanes, computed) = (Block::new(0), Vec::new(), Vec::new(), Vec::new());
        let mut graph = Graph { block, strides, lanes, computed };
        let mut values = Vec::new();
        for _ in 0..3 {
            let stride = numbers.pick(&[0, 1, 4, 4, -4, 64]);
            values.push(graph.leaf(Op::Vgpr, first(numbers, Ty::B32), stride));
        }
        for _ in 0..6 {
            let (a, b) = (numbers.pick(&values), numbers.pick(&values));
            let amount = numbers.pick(&[1, 2, 2, 3, 4, 28, 30, 30, 31]);
            let amount = graph.leaf(Op::Const, amount, 0);
            let found = match numbers.next() % 8 {
                0 | 1 => graph.compute(Op::Shl, Ty::B32, [a, amount, Value::NONE]),
                2 => graph.compute(Op::Shr, Ty::B32, [a, amount, Value::NONE]),
                3 => graph.compute(Op::Sar, Ty::B32, [a, amount, Value::NONE]),
                4 => graph.compute(numbers.pick(&[Op::MinU, Op::MaxS, Op::Sub]), Ty::B32, [a, b, Value::NONE]),
                _ => graph.carry(numbers, a, b),
            };
            values.extend(found);
        }
        graph
    }

    /// A sum, and how it compares with one of its summands or something else.
    fn carry(&mut self, numbers: &mut Numbers, a: Value, b: Value) -> Option<Value> {
        let sum = self.compute(Op::Add, Ty::B32, [a, b, Value::NONE])?;
        let than = numbers.pick(&[a, b, b, sum]);
        let compare = numbers.pick(&[Icc::Ult, Icc::Ult, Icc::Ule, Icc::Slt]);
        let carry = self.compute(Op::Icmp(compare), Ty::B1, [sum, than, Value::NONE]);
        let [one, zero] = [1, 0].map(|bits| self.leaf(Op::Const, bits, 0));
        carry.and_then(|carry| self.compute(Op::Select, Ty::B32, [carry, one, zero]));
        Some(sum)
    }

    fn holds(&self, claim: Claim) -> bool {
        let (lanes, stride) = (&self.lanes[claim.value().index()], self.strides[claim.value().index()]);
        let stride = stride.expect("only values with strides are kept");
        match claim {
            Claim::Ordered(_, signed) => is_ordered(lanes, stride, signed),
            Claim::Ends(value) => has_ends(lanes, stride, self.block.node(value).ty),
            Claim::True(_) => lanes[0] & lanes[N - 1] & 1 != 0,
        }
    }
}

#[test]
fn fewer_claims_prove_all_strides() {
    few_claims_prove_strides::<16>(200_000);
    few_claims_prove_strides::<64>(100_000);
}

fn few_claims_prove_strides<const N: usize>(draws: usize) {
    let mut numbers = Numbers(7);
    let (mut proven, mut claimed, mut asked) = (0, 0, 0);
    for _ in 0..draws {
        let graph = Graph::<N>::draw(&mut numbers);
        let mut claims = Claims::new(&graph.block, &graph.strides);
        let found: Vec<Claim> = claims.of(&graph.computed).concat();
        let checks = graph.computed.iter().map(|value| {
            let node = graph.block.node(*value);
            let check = check(node, |arg| graph.strides[arg.index()]);
            let moving = node.args().filter(|arg| graph.strides[arg.index()] != Some(0)).count();
            usize::from(check.ends) + check.ordered.map_or(0, |_| moving)
        });
        asked += checks.sum::<usize>();
        claimed += found.len();
        if !found.iter().all(|claim| graph.holds(*claim)) {
            continue;
        }
        proven += 1;
        for (i, lanes_of) in graph.lanes.iter().enumerate() {
            let (value, stride) = (Value(i as u32), graph.strides[i].expect("it is known"));
            let ty = graph.block.node(value).ty;
            assert_eq!(*lanes_of, lanes(lanes_of[0], stride, ty), "{value:?} of {}", Listing(&graph.block));
            for signed in [Signed::Yes, Signed::No] {
                let in_order = is_ordered(lanes_of, stride, signed);
                let follows = claims.in_order(value, signed).is_none();
                assert!(!follows || in_order, "{value:?} of {}", Listing(&graph.block));
            }
        }
    }
    assert!(proven > draws / 4 && proven < draws * 19 / 20, "{proven}");
    assert!(claimed < asked * 9 / 10, "{claimed} of {asked}");
}

#[test]
fn at_an_edge_what_is_clamped_does_not_count() {
    let mut block = Block::new(0);
    let node = |op, shape, args| Node { op, ty: Ty::B32, shape, fenv: Fenv::Any, args, imm: 0 };
    let id = block.append(node(Op::Vgpr, Shape::Lane, [Value::NONE; 3]));
    let limit = block.append(node(Op::Sgpr, Shape::Uniform, [Value::NONE; 3]));
    let clamped = block.append(node(Op::MinU, Shape::Lane, [id, limit, Value::NONE]));
    let same = block.append(node(Op::Sub, Shape::Lane, [id, id, Value::NONE]));
    let clamped_same = block.append(node(Op::MaxS, Shape::Lane, [same, limit, Value::NONE]));
    let start = Start::of_kernel(0, None);
    for (start, stride) in [(start.at_edge(), None), (start, Some(1))] {
        let [guess] = &guess(std::slice::from_ref(&block), &start)[..] else { panic!("of one block there is one") };
        assert_eq!([id, clamped, clamped_same].map(|value| guess.values[value.index()]), [Some(1), stride, Some(0)]);
    }
}
