//! Which bits of a scalar may be set.

use super::{Block, Op, Ty, Value};

/// Values that are looked at for one: guest code may compute it as it likes.
const PATIENCE: u32 = 64;

/// All bits from the highest one of some on.
fn below(bits: u64) -> u64 {
    u64::MAX.checked_shr(bits.leading_zeros()).unwrap_or(0)
}

impl Block {
    /// The bits that a B32 may have.
    pub fn possible_bits(&self, value: Value) -> u32 {
        let mut patience = PATIENCE;
        self.possible(value, u32::MAX.into(), &mut patience) as u32
    }

    /// Those of some that are asked for.
    fn possible(&self, value: Value, asked: u64, patience: &mut u32) -> u64 {
        let node = self.node(value);
        if asked == 0 || node.ty != Ty::B32 || *patience == 0 {
            return asked;
        }
        *patience -= 1;
        let [a, b, c] = node.args;
        let mut of = |arg: Value, asked: u64| self.possible(arg, asked, patience);
        let by = |arg: Value| self.as_const(arg).filter(|by| *by < 32);
        let bits = match node.op {
            Op::Const => node.imm,
            Op::And => {
                let [first, second] = if self.as_const(a).is_some() { [a, b] } else { [b, a] };
                let bits = of(first, asked);
                of(second, bits) & bits
            }
            Op::Or | Op::Xor => of(a, asked) | of(b, asked),
            Op::Select => of(b, asked) | of(c, asked),
            // What is carried comes from below.
            Op::Add => below(of(a, below(asked)) + of(b, below(asked))),
            Op::MinU => below(of(a, u32::MAX.into()).min(of(b, u32::MAX.into()))),
            Op::Shr => by(b).map_or(asked, |by| of(a, asked << by & u64::from(u32::MAX)) >> by),
            Op::Shl => by(b).map_or(asked, |by| of(a, asked >> by) << by),
            _ => asked,
        };
        bits & asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{Fenv, Node, Shape};
    use crate::pass::numbers::Numbers;

    const OPS: [Op; 9] = [Op::And, Op::And, Op::Or, Op::Xor, Op::Add, Op::Select, Op::MinU, Op::Shr, Op::Shl];

    /// What a value is, given those of registers.
    fn bits(block: &Block, value: Value, registers: &[u32]) -> u32 {
        let node = block.node(value);
        let [a, b, c] = node.args.map(|arg| if arg == Value::NONE { 0 } else { bits(block, arg, registers) });
        match node.op {
            Op::Const => node.imm as u32,
            Op::Sgpr => registers[node.imm as usize],
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Add => a.wrapping_add(b),
            Op::Select => [c, b][a as usize & 1],
            Op::MinU => a.min(b),
            Op::Shr => a >> b,
            Op::Shl => a << b,
            Op::Icmp(_) => u32::from(a < b),
            other => panic!("{other:?} is not drawn"),
        }
    }

    #[test]
    fn no_other_bits_are_set() {
        let mut numbers = Numbers(7);
        let mut narrow = 0;
        for _ in 0..20_000 {
            let mut block = Block::new(0);
            let mut values: Vec<Value> = (0..3)
                .map(|imm| {
                    let (args, shape) = ([Value::NONE; 3], Shape::Uniform);
                    block.append(Node { op: Op::Sgpr, ty: Ty::B32, shape, fenv: Fenv::Any, args, imm })
                })
                .collect();
            for _ in 0..8 {
                let mask = u64::from(u32::MAX) >> numbers.below(32) & !(numbers.below(16) << numbers.below(8));
                let constant = block.constant(Ty::B32, mask);
                let mut any = || {
                    if numbers.below(3) == 0 { constant } else { values[numbers.below(values.len() as u64) as usize] }
                };
                let [a, b] = [any(), any()];
                let by = block.constant(Ty::B32, numbers.below(32));
                values.push(match OPS[numbers.below(OPS.len() as u64) as usize] {
                    Op::Select => {
                        let less = block.op(Op::Icmp(crate::lane::Icc::Ult), Ty::B1, Fenv::Any, &[a, b], 0);
                        block.op(Op::Select, Ty::B32, Fenv::Any, &[less, a, b], 0)
                    }
                    op @ (Op::Shr | Op::Shl) => block.op(op, Ty::B32, Fenv::Any, &[a, by], 0),
                    op => block.op(op, Ty::B32, Fenv::Any, &[a, b], 0),
                });
            }
            let registers: Vec<u32> = (0..3).map(|_| numbers.next() as u32 >> numbers.below(32)).collect();
            for value in values {
                let (possible, actual) = (block.possible_bits(value), bits(&block, value, &registers));
                assert_eq!(actual & !possible, 0, "{possible:#x} of {actual:#x}");
                narrow += u32::from(possible != u32::MAX && block.as_const(value).is_none());
            }
        }
        assert!(narrow > 20_000, "{narrow} values have less than all bits");
    }
}
