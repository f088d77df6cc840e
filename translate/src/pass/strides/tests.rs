//! What [`check`] asks for at the ends of a chunk is enough: whenever it is so, all lanes have the stride.

use super::*;
use crate::lane::Fenv;

/// A chunk of values.
type Lanes = [u64; CHUNK];

fn lanes(first: u64, stride: i32, ty: Ty) -> Lanes {
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

/// A small source of numbers, with those often that are close to where integers wrap.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 11 ^ self.0 << 21
    }

    fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[(self.next() >> 17) as usize % some.len()]
    }

    fn first(&mut self, ty: Ty) -> u64 {
        let edge: u64 = self.pick(&[0, 1 << 31, 1 << 32, 1 << 63, 1 << 33, 64, 1 << 12]);
        let near = edge.wrapping_add(self.next() % 64).wrapping_sub(32);
        let any = self.next();
        cut(self.pick(&[near, near, any]), ty)
    }
}

/// Whether what a part looks at is as it should be.
fn holds(check: Check, args: &[(Lanes, i32)], result: &Lanes, stride: i32, ty: Ty) -> bool {
    let in_order = |(lanes, stride): &(Lanes, i32)| {
        let (first, last) = (lanes[0], lanes[CHUNK - 1]);
        let up = match check.ordered {
            None => return true,
            Some(Signed::Yes) => first as i32 <= last as i32,
            Some(Signed::No) => first <= last,
        };
        *stride == 0 || first != last && up == (*stride > 0)
    };
    let distance = cut(result[CHUNK - 1].wrapping_sub(result[0]), ty);
    let as_said = cut((i64::from(stride) * (CHUNK as i64 - 1)) as u64, ty);
    args.iter().all(in_order) && (!check.ends || distance == as_said)
}

#[test]
fn the_ends_prove_the_stride() {
    let narrow = [Op::Add, Op::Sub, Op::Mul, Op::Shl, Op::Shr, Op::Sar, Op::MinU, Op::MaxU, Op::MinS, Op::MaxS];
    let compare = [Icc::Ult, Icc::Ule, Icc::Slt, Icc::Sle].map(Op::Icmp);
    let mut numbers = Numbers(1);
    let (mut known, mut proven) = (0, 0);
    for _ in 0..400_000 {
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
        let mut args: Vec<(Value, Lanes, i32)> = Vec::new();
        for (i, ty) in from.into_iter().take(count).chain((op == Op::Select).then_some(Ty::B32)).enumerate() {
            // The second one is a constant often: amounts and factors are.
            let constant = i == 1 && numbers.next().is_multiple_of(2);
            let stride =
                if constant || ty == Ty::B1 { 0 } else { numbers.pick(&[0, 1, 4, 4, 8, -4, 12, 64, -1, 2048]) };
            let first = if constant {
                numbers.pick(&[1, 2, 4, 5, 30, 31, 32, 34, 100, 0xffff_fff0])
            } else {
                numbers.first(ty)
            };
            let (op, shape) = if constant { (Op::Const, Shape::Uniform) } else { (Op::Vgpr, Shape::Lane) };
            let node = Node { op, ty, shape, fenv: Fenv::Any, args: [Value::NONE; 3], imm: cut(first, ty) };
            args.push((block.append(node), lanes(first, stride, ty), stride));
        }
        let mut values = [Value::NONE; 3];
        values.iter_mut().zip(&args).for_each(|(value, arg)| *value = arg.0);
        let node = Node { op, ty, shape: Shape::Lane, fenv: Fenv::Any, args: values, imm: 0 };
        let of = |value: Value| args.iter().find(|arg| arg.0 == value).map(|arg| arg.2);
        let Some(stride) = stride(&block, &node, of) else { continue };
        known += 1;
        let lane = |lane: usize| std::array::from_fn(|i| args.get(i).map_or(0, |arg| arg.1[lane]));
        let result: Lanes = std::array::from_fn(|i| evaluate(&node, lane(i), from[0]));
        let seen: Vec<(Lanes, i32)> = args.iter().map(|arg| (arg.1, arg.2)).collect();
        if holds(check(&node, of), &seen, &result, stride, ty) {
            proven += 1;
            assert_eq!(result, lanes(result[0], stride, ty), "{op:?} of {seen:x?}");
        }
    }
    assert!(known > 100_000 && proven > known / 2 && proven < known, "{proven} of {known}");
}
