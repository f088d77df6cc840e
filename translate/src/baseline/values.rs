//! What is known of a function's values before code is made: which need a place at all, and from where to where.
//!
//! Instructions are counted in layout order. A value lives from the one that defines it to the last that reads it, and
//! where it is read in a loop that it was defined before, to that loop's end. Constants are operands, reductions and
//! extensions that change nothing are other names of what they are made from, and what is made where it is read
//! ([`uses`]) has no place either.

use super::uses::{self, Moved, Use};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Function, Inst, InstructionData, Opcode, Type, Value};

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The value that it is another name of, or itself.
    pub root: Value,
    /// What it is, zero-extended, if it is a constant.
    pub constant: Option<i64>,
    /// The instruction that defines it.
    pub def: u32,
    /// The last that reads it, if any does.
    pub end: u32,
    /// Whether the bits of its register above the lower 32 are 0.
    pub upper_zero: bool,
    /// Whether it is read in another block than the one that defines it.
    global: bool,
    /// How often it is read.
    uses: u32,
    /// What it is, if it is made where it is read.
    pub moved: Option<Moved>,
}

impl Known {
    fn new(root: Value, uses: Use) -> Known {
        let (uses, moved) = (uses.count, uses.moved);
        Known { root, constant: None, def: 0, end: 0, upper_zero: false, global: false, uses, moved }
    }

    /// Whether it is a parameter of the function.
    pub fn is_param(&self) -> bool {
        self.def == 0
    }

    /// How long it lives for each time that it is read.
    pub fn life_a_read(&self) -> u32 {
        (self.end - self.def) / self.uses.max(1)
    }
}

/// What is known of all values.
pub struct Values {
    known: Vec<Known>,
    /// The numbers of calls, in order.
    calls: Vec<u32>,
    /// Values that have places, in the order of their definitions.
    pub placed: Vec<Value>,
    /// Where jumps go that lead back, and where they are.
    back: Vec<(u32, u32)>,
    /// The first instruction of each block; 0 if it has not been come to.
    starts: Vec<u32>,
}

impl Values {
    /// Looks at a function. There is no answer if it has values that there are no places for.
    pub fn of(func: &Function) -> Option<Values> {
        let uses = uses::of(func)?;
        let known = func.dfg.values().zip(uses).map(|(value, uses)| Known::new(value, uses)).collect();
        let starts = vec![0; func.dfg.num_blocks()];
        let mut values = Values { known, calls: Vec::new(), placed: Vec::new(), back: Vec::new(), starts };
        values.find_lives(func);
        Some(values)
    }

    /// What is known of a value.
    pub fn of_value(&self, value: Value) -> &Known {
        &self.known[value.index()]
    }

    /// Whether a call comes while a value lives.
    pub fn crosses_call(&self, value: Value) -> bool {
        let Known { def, end, .. } = *self.of_value(value);
        let next = self.calls.partition_point(|call| *call <= def);
        self.calls.get(next).is_some_and(|call| *call < end)
    }

    /// Whether anybody reads a value.
    pub fn is_read(&self, value: Value) -> bool {
        self.of_value(value).uses > 0
    }

    /// Goes through the code in order.
    fn find_lives(&mut self, func: &Function) {
        let mut at = 1;
        for param in func.dfg.block_params(func.layout.entry_block().expect("a function has code")) {
            self.place(*param, 0);
        }
        for block in func.layout.blocks() {
            let start = at;
            self.starts[block.index()] = start;
            for inst in func.layout.block_insts(block) {
                self.instruction(func, start, inst, at);
                at += 1;
            }
        }
        self.back.sort_unstable();
        let global: Vec<Value> = self.placed.iter().copied().filter(|value| self.of_value(*value).global).collect();
        for (start, end) in std::mem::take(&mut self.back) {
            for value in &global {
                let known = &mut self.known[value.index()];
                if known.def < start && known.end >= start {
                    known.end = known.end.max(end);
                }
            }
        }
    }

    fn place(&mut self, value: Value, at: u32) {
        let known = &mut self.known[value.index()];
        (known.def, known.end) = (at, at);
        if self.is_read(value) {
            self.placed.push(value);
        }
    }

    fn instruction(&mut self, func: &Function, start: u32, inst: Inst, at: u32) {
        let dfg = &func.dfg;
        let result = dfg.inst_results(inst).first().copied();
        if let Some(result) = result {
            if self.name(func, inst, result) || self.of_value(result).moved.is_some() {
                return;
            }
            if !self.is_read(result) && !dfg.insts[inst].opcode().is_call() {
                return;
            }
        }
        for arg in dfg.inst_args(inst) {
            self.read(*arg, start, at);
        }
        if dfg.insts[inst].opcode().is_call() {
            self.calls.push(at);
        }
        for target in dfg.insts[inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
            let target = self.starts[target.block(&dfg.value_lists).index()];
            if target != 0 && target <= at {
                self.back.push((target, at));
            }
        }
        if let Some(result) = result {
            self.place(result, at);
        }
    }

    /// Whether the result of an instruction is a constant or another name, so that no code is made.
    fn name(&mut self, func: &Function, inst: Inst, result: Value) -> bool {
        let dfg = &func.dfg;
        let ty = dfg.value_type(result);
        match dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
                self.known[result.index()].constant = Some(zero_extended(imm.bits(), ty));
                true
            }
            InstructionData::Unary { opcode: Opcode::Ireduce, arg } => {
                self.rename(result, arg, ty);
                true
            }
            InstructionData::Unary { opcode: Opcode::Uextend, arg } => {
                let source = *self.of_value(arg);
                let is_kept = source.upper_zero && dfg.value_type(arg) == I32;
                let is_name = source.constant.is_some() || is_kept;
                if is_name {
                    self.rename(result, arg, ty);
                }
                is_name
            }
            _ => {
                self.known[result.index()].upper_zero = self.clears_upper(func, inst, ty);
                false
            }
        }
    }

    /// Whether the code of an instruction clears the upper half of the register of its result, which has this type.
    fn clears_upper(&self, func: &Function, inst: Inst, ty: Type) -> bool {
        let by = || self.of_value(func.dfg.inst_args(inst)[1]).constant;
        match func.dfg.insts[inst].opcode() {
            Opcode::Uload32 | Opcode::Uextend => true,
            // A function may leave there what it likes.
            Opcode::CallIndirect => false,
            Opcode::Ushr if ty == I64 => by().is_some_and(|by| by & 63 >= 32),
            _ => ty == I32,
        }
    }

    /// Makes a value another name of one.
    fn rename(&mut self, value: Value, of: Value, ty: Type) {
        let Known { root, constant, upper_zero, .. } = *self.of_value(of);
        let constant = constant.map(|bits| zero_extended(bits, ty));
        self.known[value.index()] = Known { root, constant, upper_zero, ..*self.of_value(value) };
    }

    /// Notes that an instruction of the block from `start` on reads a value.
    fn read(&mut self, value: Value, start: u32, at: u32) {
        let root = self.of_value(value).root;
        if let Some(moved) = self.of_value(root).moved {
            return moved.args().for_each(|arg| self.read(arg, start, at));
        }
        let known = &mut self.known[root.index()];
        known.end = known.end.max(at);
        known.global |= known.def < start;
    }
}

/// A constant of a type, zero-extended.
pub fn zero_extended(bits: i64, ty: Type) -> i64 {
    match ty {
        I8 => bits & 0xff,
        I32 => bits & 0xffff_ffff,
        _ => bits,
    }
}
