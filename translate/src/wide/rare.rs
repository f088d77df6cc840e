//! Operations whose lanes mostly need little of what they are defined for: divisions and classes of numbers that are neither
//! large nor small. Where all lanes of a chunk are like that, a few instructions do; else the libcall is called, from the
//! middle of a segment, by a function that keeps all registers.
//!
//! What the call is made with is a room in the frame: the libcall, its immediate, where registers are kept, and rows for
//! three arguments and the result, of which the first sixteen lanes matter.

use super::asm::predicate::GREATER;
use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, ShiftBy, When, Zmm, op};
use super::select::{Chunk, halves};
use crate::lane::{Node, Op, Ty, Value};
use crate::libcall::{RowOp, TABLE};
use crate::lower::Planned;
use gcnjit_rt::wave::LANES;

/// Where things are in the room. Vectors come first, which have to be aligned.
const ROWS: i32 = 0;
const ROW: i32 = 8 * LANES as i32;
const RESULT: i32 = ROWS + 3 * ROW;
const VECTORS: i32 = ROWS + 4 * ROW;
const REGISTERS: i32 = VECTORS + 64 * 32;
const MASKS: i32 = REGISTERS + 8 * KEPT.len() as i32;
const FUNCTION: i32 = MASKS + 16;
const IMMEDIATE: i32 = FUNCTION + 8;
/// Its size.
const ROOM: i32 = (IMMEDIATE + 8 + 63) / 64 * 64;
/// The registers that a libcall need not keep, but for the one that points to the room.
const KEPT: [Gpr; 8] = [Gpr::Rcx, Gpr::Rdx, Gpr::Rsi, Gpr::Rdi, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11];

/// Whether a libcall is done like this.
pub(super) fn has_usual_case(row: RowOp) -> bool {
    use RowOp::*;
    matches!(
        row,
        class_f32
            | div_scale_f32
            | div_scale_f64
            | div_flag_f32
            | div_flag_f64
            | div_fixup_f32
            | div_fixup_f64
            | div_fmas_f32
    )
}

/// Emits the function that makes rare calls, if any of the blocks may make one.
pub(super) fn emit(asm: &mut Asm, blocks: &[Planned]) {
    let is_rare = |node: &Node| node.op == Op::Inline && has_usual_case(node.row_op());
    if blocks.iter().flat_map(|planned| &planned.block.nodes).any(is_rare) {
        asm.rare_call = Some(emit_call(asm));
    }
}

/// Emits `fn(room: RAX)`, which changes that register alone.
fn emit_call(asm: &mut Asm) -> usize {
    let room = Gpr::Rbx;
    let vector = |i: i32| (Mem::At(room, VECTORS + 64 * i), Zmm(i as u8));
    let mask = |i: i32| (Mem::At(room, MASKS + 2 * i), K(i as u8));
    let offset = asm.function();
    asm.push(room);
    asm.mov(room, Gpr::Rax);
    (0..32).map(vector).for_each(|(at, register)| asm.store(at, register));
    (1..8).map(mask).for_each(|(at, register)| asm.k_store(at, register));
    for (i, register) in (0..).zip(KEPT) {
        asm.store64(room, REGISTERS + 8 * i, register);
    }
    for (i, argument) in (0..).zip([Gpr::Rsi, Gpr::Rdx, Gpr::Rcx, Gpr::Rdi]) {
        asm.lea(argument, Mem::At(room, ROWS + ROW * i));
    }
    asm.load64(Gpr::R8, room, IMMEDIATE);
    asm.load64(Gpr::Rax, room, FUNCTION);
    asm.call_to(Gpr::Rax);
    for (i, register) in (0..).zip(KEPT) {
        asm.load64(register, room, REGISTERS + 8 * i);
    }
    (1..8).map(mask).for_each(|(at, register)| asm.k_load(register, at));
    (0..32).map(vector).for_each(|(at, register)| asm.v1(op::VMOVDQA32, register, Rm::Mem(at)));
    asm.pop(room);
    asm.ret_plain();
    offset
}

/// Numbers that are neither large nor small, as twice their bits: the least one, and how many there are.
#[derive(Clone, Copy)]
struct Window {
    least: u64,
    count: u64,
    wide: bool,
}

impl Window {
    /// Exponent fields from the first one on.
    fn of(ty: Ty, first: u64, fields: u64) -> Window {
        let wide = ty == Ty::B64;
        let unit = if wide { 53 } else { 24 };
        Window { least: first << unit, count: fields << unit, wide }
    }

    /// Operands of a division that need no scaling, nor their quotient: two of them are less than 2^96, or 2^768, apart.
    fn of_operands(ty: Ty) -> Window {
        if ty == Ty::B64 { Window::of(ty, 640, 768) } else { Window::of(ty, 64, 96) }
    }

    /// Normal numbers.
    fn of_normals(ty: Ty) -> Window {
        Window::of(ty, 1, if ty == Ty::B64 { 2046 } else { 254 })
    }
}

impl Chunk<'_> {
    /// Computes what the libcall of a node would.
    pub(super) fn usual_or_rare(&mut self, value: Value, node: &Node) {
        use RowOp::*;
        let ty = self.r.demand.node(node.args[0]).ty;
        let operands = Window::of_operands(ty);
        let [first, second, third] = node.args;
        let args: Vec<Value> = node.args().collect();
        let (rare, result) = match node.row_op() {
            div_fmas_f32 => return self.call_always(value, node, &args),
            class_f32 => (self.outside(Window::of_normals(ty), &[first]), vec![self.class_of_normal(first, second)]),
            div_flag_f32 | div_flag_f64 => (self.outside(operands, &[first, second]), vec![self.no_flag()]),
            div_fixup_f32 | div_fixup_f64 => {
                let rare = self.outside(operands, &[second, third]);
                let other = self.outside(Window::of_normals(ty), &[first]);
                self.r.asm.k(MaskOp::Or, rare, rare, other);
                (rare, (0..halves(ty)).map(|half| self.signed_quotient(&args, half)).collect())
            }
            // What is scaled is one of the others, as compilers use it.
            _ => (self.outside(operands, &args), (0..halves(ty)).map(|half| self.r.copy(first, half)).collect()),
        };
        self.call_where(rare, node, &args, &result);
        for (half, register) in result.into_iter().enumerate() {
            self.r.define(value, half, register);
        }
    }

    /// The lanes where a number is outside of a window.
    fn outside(&mut self, window: Window, numbers: &[Value]) -> K {
        let Window { least, count, wide } = window;
        let [least, last] = [least, count - 1].map(|bits| match wide {
            true => self.r.asm.constant(&bits.to_le_bytes()),
            false => self.r.asm.constant(&(bits as u32).to_le_bytes()),
        });
        let (add, sub, max, compare) = match wide {
            true => (op::VPADDQ, op::VPSUBQ, op::VPMAXUQ, op::VPCMPUQ),
            false => (op::VPADDD, op::VPSUBD, op::VPMAXUD, op::VPCMPUD),
        };
        let (farthest, other) = (self.r.fresh(), self.r.fresh());
        let result = self.r.fresh_mask();
        for half in 0..if wide { 2 } else { 1 } {
            for (i, number) in numbers.iter().enumerate() {
                let (number, to) = (self.r.vector(*number, half), if i == 0 { farthest } else { other });
                self.r.asm.v(add, to, number, number);
                self.r.asm.v(sub, to, to, Rm::Broadcast(least));
                if i > 0 {
                    self.r.asm.v(max, farthest, farthest, other);
                }
            }
            let found = if half == 0 { result } else { self.r.fresh_mask() };
            self.r.asm.compare(compare, found, farthest, Rm::Broadcast(last), GREATER);
            if half > 0 {
                self.r.asm.k(MaskOp::Or, result, result, found);
            }
        }
        self.r.release(farthest);
        self.r.release(other);
        result
    }

    /// Bit 8 of the mask of classes for positive numbers, bit 3 for negative ones.
    fn class_of_normal(&mut self, number: Value, classes: Value) -> Zmm {
        let (number, classes) = (self.r.vector(number, 0), self.r.vector(classes, 0));
        let class = self.r.fresh();
        let [back, positive, one] = [3_u32.wrapping_sub(8), 8, 1].map(|bits| Rm::Broadcast(self.constant(bits)));
        self.r.asm.shift(ShiftBy::right_signed(false), class, number, 31);
        self.r.asm.v(op::VPANDD, class, class, back);
        self.r.asm.v(op::VPADDD, class, class, positive);
        self.r.asm.v(op::VPSRLVD, class, classes, class);
        self.r.asm.v(op::VPANDD, class, class, one);
        class
    }

    fn no_flag(&mut self) -> Zmm {
        let flag = self.r.fresh();
        self.r.asm.v(op::VPXORD, flag, flag, flag);
        flag
    }

    /// The quotient with the sign that its operands give it.
    fn signed_quotient(&mut self, args: &[Value], half: usize) -> Zmm {
        const THIRD_SELECTS_FIRST: u8 = 0xe4;
        let [quotient, y, x] = [0, 1, 2].map(|i| self.r.vector(args[i], half));
        let result = self.r.fresh();
        self.r.asm.v(op::VPXORQ, result, y, x);
        match self.r.demand.node(args[0]).ty {
            Ty::B64 => {
                let sign = self.r.asm.constant(&(1_u64 << 63).to_le_bytes());
                self.r.asm.vi(op::VPTERNLOGQ, result, quotient, Rm::Broadcast(sign), THIRD_SELECTS_FIRST);
            }
            _ => {
                let sign = self.constant(1 << 31);
                self.r.asm.vi(op::VPTERNLOGD, result, quotient, Rm::Broadcast(sign), THIRD_SELECTS_FIRST);
            }
        }
        result
    }

    /// `plain`, and in lanes of `mask` what the libcall of a node with these arguments returns, of which there are no more
    /// than of `mask`.
    pub(super) fn blend_where(&mut self, value: Value, mask: Value, plain: Value, node: &Node) {
        let (rare, result) = (self.r.mask(mask), self.r.copy(plain, 0));
        let args: Vec<Value> = node.args().collect();
        let vectors = self.vectors(&args);
        let corrected = self.r.fresh();
        let usual = self.skip_unless(rare);
        self.call(node, &vectors, &[corrected]);
        self.r.asm.merge(op::VMOVDQA32, result, rare, corrected);
        self.r.asm.bind(usual);
        self.r.define(value, 0, result);
    }

    /// Replaces a result, all of it, by the libcall's if any lane is rare.
    fn call_where(&mut self, rare: K, node: &Node, args: &[Value], result: &[Zmm]) {
        let vectors = self.vectors(args);
        let usual = self.skip_unless(rare);
        self.call(node, &vectors, result);
        self.r.asm.bind(usual);
    }

    fn call_always(&mut self, value: Value, node: &Node, args: &[Value]) {
        let (vectors, result) = (self.vectors(args), self.r.fresh());
        self.call(node, &vectors, &[result]);
        self.r.define(value, 0, result);
    }

    /// All registers have to be assigned: code behind the jump is not always executed.
    fn skip_unless(&mut self, rare: K) -> Jump {
        self.r.asm.k_test(rare);
        self.r.asm.jump(When::Zero)
    }

    fn vectors(&mut self, args: &[Value]) -> Vec<Vec<Zmm>> {
        let of = |chunk: &mut Self, arg: Value| {
            let halves = halves(chunk.r.demand.node(arg).ty);
            (0..halves).map(|half| chunk.r.vector(arg, half)).collect()
        };
        args.iter().map(|arg| of(self, *arg)).collect()
    }

    /// Calls the libcall of a node.
    fn call(&mut self, node: &Node, args: &[Vec<Zmm>], result: &[Zmm]) {
        let room = self.r.rare_room(ROOM);
        let at = |offset: i32| Mem::At(Gpr::Rdx, room + offset);
        let asm = &mut *self.r.asm;
        for (row, halves) in (0..).zip(args) {
            for (half, register) in (0..).zip(halves) {
                asm.store(at(ROWS + ROW * row + 64 * half), *register);
            }
        }
        // This also aligns the stack.
        asm.push(Gpr::Rax);
        for (offset, value) in
            [(FUNCTION, TABLE[node.row_op() as usize].address() as i64), (IMMEDIATE, (node.imm >> 32) as i64)]
        {
            asm.mov_imm(Gpr::Rax, value);
            asm.store64(Gpr::Rdx, room + offset, Gpr::Rax);
        }
        asm.lea(Gpr::Rax, at(0));
        let function = asm.rare_call.expect("it is emitted where there are rare calls");
        asm.call(function);
        asm.pop(Gpr::Rax);
        for (half, register) in (0..).zip(result) {
            asm.v1(op::VMOVDQA32, *register, Rm::Mem(at(RESULT + 64 * half)));
        }
    }
}
