//! Instructions for the operations of a chunk: sixteen lanes, a B32 in one register, a B64 in two, a B1 in a mask.

use super::asm::predicate::{EQUAL, GREATER, LESS, LESS_OR_EQUAL, NOT_EQUAL, NOT_LESS};
use super::asm::{Evex, Gpr, K, MaskOp, Mem, Rm, ShiftBy, Zmm, dwords, op};
use super::registers::{COMPACTED, ENDS, Registers, Work};
use super::schedule::{Event, Schedule};
use super::tiles::{MaskedOp, Tile};
use crate::lane::{Fcc, Icc, Node, Op, Ty, Value};
use gcnjit_rt::Row;

/// Emits all events of a schedule.
pub fn events(schedule: &Schedule<Event>, registers: Registers<'_>) {
    let mut work = Chunk { r: registers };
    for (chunk, event) in schedule.events() {
        work.r.begin(chunk);
        work.event(event);
        work.r.next();
    }
}

/// A chunk while it is emitted.
pub(super) struct Chunk<'a> {
    pub(super) r: Registers<'a>,
}

impl Chunk<'_> {
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Load(value) => self.load(value),
            Event::Compute(value) => self.compute(value),
            Event::Set(register, value) => self.set(register, value),
            Event::Keep(slot, value) => self.keep(slot, value),
            Event::Bits(index, value) => self.bits(index, value),
            Event::Turn if self.r.work == Work::Compacted => {}
            Event::Turn => self.r.asm.rotate_right(Gpr::R10, 16),
        }
    }

    fn load(&mut self, value: Value) {
        let register = self.r.fresh();
        let row = self.r.vgpr(self.r.demand.node(value).imm & 0xff);
        self.r.load(register, Rm::Mem(row), false);
        self.r.define(value, 0, register);
    }

    fn set(&mut self, register: u64, value: Value) {
        let from = self.r.vector(value, 0);
        let row = self.r.vgpr(register);
        self.r.asm.store(row, from);
    }

    fn keep(&mut self, slot: usize, value: Value) {
        let row = (slot * size_of::<Row>()) as i32;
        match self.r.demand.node(value).ty {
            Ty::B64 => {
                for half in 0..2 {
                    let register = self.r.vector(value, half);
                    let to = self.r.quadwords(row + 64 * half as i32);
                    self.r.asm.store(to, register);
                }
            }
            Ty::B1 => {
                let (mask, signs) = (self.r.mask(value), self.r.fresh());
                self.r.asm.signs_of_mask(signs, mask);
                let to = self.r.dwords(row);
                self.r.asm.store(to, signs);
            }
            _ => {
                let register = self.r.vector(value, 0);
                let to = self.r.dwords(row);
                self.r.asm.store(to, register);
            }
        }
    }

    fn bits(&mut self, index: usize, value: Value) {
        let mask = self.r.mask(value);
        self.write_bits(index, mask);
    }

    /// Writes a chunk of the bits of mask `index`.
    pub(super) fn write_bits(&mut self, index: usize, mask: K) {
        if self.r.work == Work::Compacted {
            let at = self.r.layout().bits(index);
            self.r.asm.k_read(Gpr::Rax, mask);
            self.r.asm.put_bits(Gpr::Rax, Gpr::Rdi, COMPACTED);
            self.r.asm.store64(Gpr::Rdx, at, Gpr::Rax);
        } else if index == 0 && self.r.work == Work::Chunk(0) {
            self.r.asm.k_read(Gpr::R10, mask);
        } else if index == 0 {
            self.r.asm.k_read(Gpr::R11, mask);
            self.r.asm.or_register(Gpr::R10, Gpr::R11);
        } else {
            let to = self.r.bits(index);
            self.r.asm.k_store(to, mask);
        }
    }

    fn compute(&mut self, value: Value) {
        let mut node = *self.r.demand.node(value);
        // At the ends of chunks each value is there on its own.
        if let Some(tile) = self.r.lives.tiles.get(value).copied().filter(|_| self.r.work.chunk() != ENDS) {
            return self.tile(value, &node, tile);
        }
        for arg in node.args.iter_mut().filter(|arg| **arg != Value::NONE) {
            *arg = self.r.demand.resolved(*arg, self.r.full);
        }
        match node.op {
            Op::And | Op::Or | Op::Xor | Op::Select if node.ty == Ty::B1 => self.logic(value, &node),
            Op::Icmp(_) | Op::Fcmp(_) => self.compare(value, &node),
            Op::Select => self.select(value, &node),
            Op::Shl | Op::Shr | Op::Sar => self.shift(value, &node),
            Op::Inline => self.inline(value, &node),
            Op::Fma => self.fma(value, &node),
            Op::FSqrt | Op::FFloor | Op::FCeil | Op::FTrunc | Op::FNearest => self.unary_float(value, &node),
            Op::MulHiU | Op::MulHiS => self.multiply_high(value, &node),
            Op::MulWide => self.multiply_wide(value, &node),
            Op::Lo | Op::Hi => self.halve(value, &node),
            Op::Pack => self.pack(value, &node),
            Op::FToS => self.signed_integer(value, &node),
            Op::FToU => self.unsigned_integer(value, &node),
            Op::Demote => self.demote(value, &node),
            Op::SExt | Op::Promote | Op::SToF | Op::UToF => self.convert(value, &node),
            _ => self.binary(value, &node),
        }
    }

    /// A dword in the pool.
    pub(super) fn constant(&mut self, bits: u32) -> Mem {
        self.r.asm.constant(&bits.to_le_bytes())
    }

    /// A register full of dwords from the pool.
    pub(super) fn table(&mut self, lane: impl Fn(u32) -> u32) -> Zmm {
        let (mem, register) = (self.r.asm.constant(&dwords(16, lane)), self.r.fresh());
        self.r.asm.v1(op::VMOVDQA32, register, Rm::Mem(mem));
        register
    }

    /// One instruction a half.
    fn binary(&mut self, value: Value, node: &Node) {
        let (row, commutes) = binary_row(node);
        let [mut a, mut b, _] = node.args;
        if commutes && self.r.is_uniform(a) {
            (a, b) = (b, a);
        }
        let halves = halves(node.ty);
        for half in 0..halves {
            let (first, second) = (self.r.vector(a, half), self.r.operand(b, half));
            if half + 1 == halves {
                self.r.retire();
            }
            let result = self.r.fresh();
            match self.r.float_lanes(half).filter(|_| minds_denormals(node)) {
                Some(lanes) => self.r.asm.clear2(row, result, lanes, first, second),
                None => self.r.asm.v(row, result, first, second),
            }
            self.r.define(value, half, result);
        }
    }

    fn tile(&mut self, value: Value, node: &Node, tile: Tile) {
        match tile {
            Tile::Rotate(source, by) => {
                for half in 0..halves(node.ty) {
                    let (source, result) = (self.r.operand(source, half), self.r.fresh());
                    self.r.asm.shift(ShiftBy::rotate_right(node.ty == Ty::B64), result, source, by);
                    self.r.define(value, half, result);
                }
            }
            Tile::Where(masked_op, plain, mask, other) => {
                let row = if masked_op == MaskedOp::Add { op::VPADDD } else { op::VPSUBD };
                let (mask, operand) = (self.r.mask(mask), self.r.operand(other, 0));
                let result = self.overwritten(plain, 0, other, other);
                self.r.asm.merge2(row, result, mask, result, operand);
                self.r.define(value, 0, result);
            }
            Tile::Compare(mask, op, args) => {
                let (row, predicate, first, second) = self.compared(op, Ty::B32, args, 0);
                let (mask, result) = (self.r.mask(mask), self.r.fresh_mask());
                self.r.asm.compare_in(row, result, mask, first, second, predicate);
                self.r.define_mask(value, result);
            }
            Tile::Blend(mask, plain, call, args) => {
                let node = Node { args, ..*self.r.demand.node(call) };
                self.blend_where(value, mask, plain, &node);
            }
            Tile::Logic(leaves, table) => self.ternary_logic(value, node, leaves, table),
        }
    }

    /// The first source becomes the result, and the last one may be a scalar or memory.
    fn ternary_logic(&mut self, value: Value, node: &Node, leaves: [Value; 3], table: u8) {
        let mut order = [0, 1, 2];
        order.sort_by_key(|i| (self.r.is_uniform(leaves[*i]), !self.r.is_last_use(leaves[*i])));
        let [a, b, c] = order.map(|i| leaves[i]);
        let table = reordered(table, order);
        let row = if node.ty == Ty::B64 { op::VPTERNLOGQ } else { op::VPTERNLOGD };
        for half in 0..halves(node.ty) {
            let (second, third) = (self.r.vector(b, half), self.r.operand(c, half));
            let result = self.overwritten(a, half, b, c);
            self.r.asm.vi(row, result, second, third, table);
            self.r.define(value, half, result);
        }
    }

    fn unary_float(&mut self, value: Value, node: &Node) {
        let wide = node.ty == Ty::B64;
        let row = match (node.op, wide) {
            (Op::FSqrt, false) => op::VSQRTPS,
            (Op::FSqrt, true) => op::VSQRTPD,
            (_, false) => op::VRNDSCALEPS,
            (_, true) => op::VRNDSCALEPD,
        };
        // The rounding of VRNDSCALE; 8 keeps it from raising the inexact flag.
        let imm = match node.op {
            Op::FFloor => Some(1 | 8),
            Op::FCeil => Some(2 | 8),
            Op::FTrunc => Some(3 | 8),
            Op::FNearest => Some(8),
            _ => None,
        };
        for half in 0..halves(node.ty) {
            let (source, result) = (self.r.operand(node.args[0], half), self.r.fresh());
            match (imm, self.r.float_lanes(half)) {
                (Some(imm), _) => self.r.asm.v1i(row, result, source, imm),
                (None, Some(lanes)) => self.r.asm.clear(row, result, lanes, source),
                (None, None) => self.r.asm.v1(row, result, source),
            }
            self.r.define(value, half, result);
        }
    }

    fn logic(&mut self, value: Value, node: &Node) {
        let [a, b, c] = node.args;
        let (first, second) = (self.r.mask(a), self.r.mask(b));
        let result = self.r.fresh_mask();
        match node.op {
            Op::And => self.r.asm.k(MaskOp::And, result, first, second),
            Op::Or => self.r.asm.k(MaskOp::Or, result, first, second),
            Op::Xor => self.r.asm.k(MaskOp::Xor, result, first, second),
            _ => {
                let (third, rest) = (self.r.mask(c), self.r.fresh_mask());
                self.r.asm.k(MaskOp::And, result, first, second);
                self.r.asm.k(MaskOp::Andn, rest, first, third);
                self.r.asm.k(MaskOp::Or, result, result, rest);
            }
        }
        self.r.define_mask(value, result);
    }

    fn compare(&mut self, value: Value, node: &Node) {
        let [a, b, _] = node.args;
        let ty = self.r.demand.node(a).ty;
        if ty == Ty::B1 {
            let (first, second, result) = (self.r.mask(a), self.r.mask(b), self.r.fresh_mask());
            let row = if node.op == Op::Icmp(Icc::Eq) { MaskOp::Xnor } else { MaskOp::Xor };
            self.r.asm.k(row, result, first, second);
            return self.r.define_mask(value, result);
        }
        let mut result = self.compare_half(node.op, ty, [a, b], 0);
        if ty == Ty::B64 {
            let (upper, both) = (self.compare_half(node.op, ty, [a, b], 1), self.r.fresh_mask());
            self.r.asm.k(MaskOp::Unpack, both, upper, result);
            result = both;
        }
        self.r.define_mask(value, result);
    }

    fn compare_half(&mut self, compare: Op, ty: Ty, args: [Value; 2], half: usize) -> K {
        let (row, predicate, first, second) = self.compared(compare, ty, args, half);
        let result = self.r.fresh_mask();
        self.r.asm.compare(row, result, first, second, predicate);
        result
    }

    /// The instruction of a comparison, its predicate and its operands: the second one may be a scalar.
    fn compared(&mut self, compare: Op, ty: Ty, [a, b]: [Value; 2], half: usize) -> (Evex, u8, Zmm, Rm) {
        let (row, predicate) = comparison(compare, ty == Ty::B64);
        match compare {
            Op::Icmp(_) if self.r.is_uniform(a) => {
                let (first, second) = (self.r.vector(b, half), self.r.operand(a, half));
                (row, swapped(predicate), first, second)
            }
            _ => (row, predicate, self.r.vector(a, half), self.r.operand(b, half)),
        }
    }

    fn select(&mut self, value: Value, node: &Node) {
        let [mask, yes, no] = node.args;
        let mask = self.r.mask(mask);
        let wide = node.ty == Ty::B64;
        let row = if wide { op::VPBLENDMQ } else { op::VPBLENDMD };
        for half in 0..halves(node.ty) {
            let mut mask = mask;
            if half == 1 {
                let upper = self.r.fresh_mask();
                self.r.asm.k_upper(upper, mask);
                mask = upper;
            }
            let yes = self.r.operand(yes, half);
            if !wide && self.r.demand.block.as_const(no) == Some(0) {
                let result = self.r.fresh();
                match yes {
                    Rm::Broadcast(mem) => self.r.asm.clear(op::VPBROADCASTD, result, mask, Rm::Mem(mem)),
                    _ => self.r.asm.clear(op::VMOVDQA32, result, mask, yes),
                }
                self.r.define(value, half, result);
                continue;
            }
            let no = self.r.vector(no, half);
            let result = self.r.fresh();
            self.r.asm.blend(row, result, mask, no, yes);
            self.r.define(value, half, result);
        }
    }

    /// Shifts take their amount modulo the width.
    fn shift(&mut self, value: Value, node: &Node) {
        let wide = node.ty == Ty::B64;
        let Some(amount) = self.r.demand.block.as_const(node.args[1]) else {
            return match node.op {
                Op::Shl => self.shift_lanes(value, node, op::VPSLLVD, op::VPSLLVQ),
                Op::Shr => self.shift_lanes(value, node, op::VPSRLVD, op::VPSRLVQ),
                _ => self.shift_lanes(value, node, op::VPSRAVD, op::VPSRAVQ),
            };
        };
        let row = match node.op {
            Op::Shl => ShiftBy::left(wide),
            Op::Shr => ShiftBy::right(wide),
            _ => ShiftBy::right_signed(wide),
        };
        let amount = amount as u8 & if wide { 63 } else { 31 };
        for half in 0..halves(node.ty) {
            let (source, result) = (self.r.operand(node.args[0], half), self.r.fresh());
            self.r.asm.shift(row, result, source, amount);
            self.r.define(value, half, result);
        }
    }

    /// Shifts by an amount that each lane has of its own, or that is not known.
    pub(super) fn shift_lanes(&mut self, value: Value, node: &Node, narrow: Evex, wide: Evex) {
        let is_wide = node.ty == Ty::B64;
        let (row, limit) = if is_wide { (wide, 63) } else { (narrow, 31) };
        let amounts = self.amounts(node.args[1], is_wide, limit);
        for (half, amount) in amounts.into_iter().enumerate().take(halves(node.ty)) {
            let (source, result) = (self.r.vector(node.args[0], half), self.r.fresh());
            self.r.asm.v(row, result, source, amount);
            self.r.define(value, half, result);
        }
    }

    /// Amounts of a shift that is no constant, for both halves.
    fn amounts(&mut self, amount: Value, wide: bool, limit: u32) -> [Zmm; 2] {
        let limit = self.r.asm.constant(&u64::from(limit).to_le_bytes());
        let masked = self.r.fresh();
        if !wide || self.r.is_uniform(amount) {
            // The scalar is there as 64 bits.
            let source = self.r.operand(amount, 0);
            self.r.load(masked, source, wide);
            let row = if wide { op::VPANDQ } else { op::VPANDD };
            self.r.asm.v(row, masked, masked, Rm::Broadcast(limit));
            return [masked; 2];
        }
        let halves = self.low_halves(amount);
        for amounts in halves {
            self.r.asm.v(op::VPANDQ, amounts, amounts, Rm::Broadcast(limit));
        }
        halves
    }

    /// Rotations of 64 bits right; the instruction takes amounts modulo the width.
    pub(super) fn rotate_lanes(&mut self, value: Value, node: &Node) {
        let [source, amount, _] = node.args;
        let amounts = self.low_halves(amount);
        for (half, amount) in amounts.into_iter().enumerate() {
            let (source, result) = (self.r.vector(source, half), self.r.fresh());
            self.r.asm.v(op::VPRORVQ, result, source, amount);
            self.r.define(value, half, result);
        }
    }

    /// Of several NaNs the first factor's is the result, then the second's, then the addend's: so both forms have it
    /// that take the factors in this order.
    fn fma(&mut self, value: Value, node: &Node) {
        let [a, b, c] = node.args;
        let (by_factor, by_addend) = match node.ty {
            Ty::B64 => (op::VFMADD213PD, op::VFMADD231PD),
            _ => (op::VFMADD213PS, op::VFMADD231PS),
        };
        for half in 0..halves(node.ty) {
            if self.r.is_uniform(c) && !self.r.is_uniform(b) {
                let (factor, addend) = (self.r.vector(a, half), self.r.operand(c, half));
                let result = self.overwritten(b, half, a, c);
                self.multiply_add(by_factor, half, result, factor, addend);
                self.r.define(value, half, result);
            } else {
                let (factor, other) = (self.r.vector(a, half), self.r.operand(b, half));
                let result = self.overwritten(c, half, a, b);
                self.multiply_add(by_addend, half, result, factor, other);
                self.r.define(value, half, result);
            }
        }
    }

    fn multiply_add(&mut self, row: Evex, half: usize, result: Zmm, second: Zmm, third: Rm) {
        match self.r.float_lanes(half) {
            Some(lanes) => self.r.asm.clear2(row, result, lanes, second, third),
            None => self.r.asm.v(row, result, second, third),
        }
    }

    /// A register with a value that may be overwritten: its own, if nobody needs the value again.
    fn overwritten(&mut self, value: Value, half: usize, other: Value, another: Value) -> Zmm {
        let alone = value != other && value != another && !self.r.is_uniform(value);
        if alone && self.r.is_last_use(value) { self.r.vector(value, half) } else { self.r.copy(value, half) }
    }
}

/// A table of three values' bits for these in another order.
fn reordered(table: u8, order: [usize; 3]) -> u8 {
    let bit = |row: u8| {
        let bits = [row >> 2 & 1, row >> 1 & 1, row & 1];
        let place = order.iter().zip(bits).fold(0, |place, (leaf, bit)| place | bit << (2 - leaf));
        (table >> place & 1) << row
    };
    (0..8).fold(0, |table, row| table | bit(row))
}

/// Registers that a value takes.
pub(super) fn halves(ty: Ty) -> usize {
    if ty == Ty::B64 { 2 } else { 1 }
}

/// Whether an operation takes the host much longer where lanes have denormals.
fn minds_denormals(node: &Node) -> bool {
    let is_arithmetic = matches!(node.op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::Fma | Op::FSqrt);
    is_arithmetic || is_conversion(node)
}

/// Whether it converts between the widths of floats.
fn is_conversion(node: &Node) -> bool {
    matches!(node.op, Op::Promote | Op::Demote)
}

/// Of values that are computed, whether they are floats that mind denormals; and if so, whether there are wide ones.
pub(super) fn floats<'n>(computed: impl Iterator<Item = &'n Node>) -> Option<bool> {
    let floats = computed.filter(|node| minds_denormals(node));
    floats.map(|node| node.ty == Ty::B64 || is_conversion(node)).reduce(|some, others| some || others)
}

/// The instruction, and whether the order of its sources doesn't matter. Floats' does: the first NaN is the result.
fn binary_row(node: &Node) -> (Evex, bool) {
    let wide = node.ty == Ty::B64;
    let pick = |narrow, other| if wide { other } else { narrow };
    match node.op {
        Op::Add => (pick(op::VPADDD, op::VPADDQ), true),
        Op::Sub => (pick(op::VPSUBD, op::VPSUBQ), false),
        Op::Mul => (pick(op::VPMULLD, op::VPMULLQ), true),
        Op::And => (pick(op::VPANDD, op::VPANDQ), true),
        Op::Or => (pick(op::VPORD, op::VPORQ), true),
        Op::Xor => (pick(op::VPXORD, op::VPXORQ), true),
        Op::MinU => (pick(op::VPMINUD, op::VPMINUQ), true),
        Op::MaxU => (pick(op::VPMAXUD, op::VPMAXUQ), true),
        Op::MinS => (pick(op::VPMINSD, op::VPMINSQ), true),
        Op::MaxS => (pick(op::VPMAXSD, op::VPMAXSQ), true),
        Op::FAdd => (pick(op::VADDPS, op::VADDPD), false),
        Op::FSub => (pick(op::VSUBPS, op::VSUBPD), false),
        Op::FMul => (pick(op::VMULPS, op::VMULPD), false),
        Op::FDiv => (pick(op::VDIVPS, op::VDIVPD), false),
        _ => unreachable!("{:?} is not an operation on lanes", node.op),
    }
}

/// The predicate of a comparison of integers whose operands have changed places.
fn swapped(predicate: u8) -> u8 {
    match predicate {
        LESS => GREATER,
        LESS_OR_EQUAL => NOT_LESS,
        _ => predicate,
    }
}

/// The instruction and predicate of a comparison.
fn comparison(compare: Op, wide: bool) -> (Evex, u8) {
    let pick = |narrow, other| if wide { other } else { narrow };
    let (signed, unsigned) = (pick(op::VPCMPD, op::VPCMPQ), pick(op::VPCMPUD, op::VPCMPUQ));
    let float = pick(op::VCMPPS, op::VCMPPD);
    match compare {
        Op::Icmp(Icc::Eq) => (signed, EQUAL),
        Op::Icmp(Icc::Ne) => (signed, NOT_EQUAL),
        Op::Icmp(Icc::Slt) => (signed, LESS),
        Op::Icmp(Icc::Sle) => (signed, LESS_OR_EQUAL),
        Op::Icmp(Icc::Ult) => (unsigned, LESS),
        Op::Icmp(Icc::Ule) => (unsigned, LESS_OR_EQUAL),
        Op::Fcmp(Fcc::Eq) => (float, 0x00),
        Op::Fcmp(Fcc::Lt) => (float, 0x11),
        Op::Fcmp(Fcc::Le) => (float, 0x12),
        Op::Fcmp(Fcc::Ord) => (float, 0x07),
        Op::Fcmp(Fcc::Uno) => (float, 0x03),
        Op::Fcmp(Fcc::Neq) => (float, 0x04),
        Op::Fcmp(Fcc::Nlt) => (float, 0x15),
        Op::Fcmp(Fcc::Nle) => (float, 0x16),
        _ => unreachable!("{compare:?} is not a comparison"),
    }
}
