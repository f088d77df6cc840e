//! What is known of a function's values before code is made: which need a place at all, and from where to where.
//!
//! Instructions are counted in layout order. A value lives from the one that defines it to the last that reads it, and
//! where it is read in a loop that it was defined before, to that loop's end. Constants are operands, reductions and
//! extensions that change nothing are other names of what they are made from, and a comparison that only a branch or
//! a selection behind it in its block looks at is made there.

use super::floats;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Function, Inst, InstructionData, Opcode, Type, Value, ValueDef};

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
    /// Who reads it, of those that are read once.
    user: Option<Inst>,
}

impl Known {
    fn new(root: Value) -> Known {
        Known { root, constant: None, def: 0, end: 0, upper_zero: false, global: false, uses: 0, user: None }
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

/// Whether instructions on values of a type can be made.
fn is_known_type(ty: Type) -> bool {
    [I8, I32, I64, I32X4, I64X2, F32, F64].contains(&ty)
}

/// Whether an instruction can be made.
fn is_supported(func: &Function, inst: Inst) -> bool {
    let dfg = &func.dfg;
    let arg_is = |types: &[Type]| dfg.inst_args(inst).iter().all(|arg| types.contains(&dfg.value_type(*arg)));
    match dfg.insts[inst].opcode() {
        Opcode::Iconst | Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Ineg => arg_is(&[I8, I32, I64]),
        Opcode::Band | Opcode::Bor | Opcode::Bxor | Opcode::Select | Opcode::Brif => arg_is(&[I8, I32, I64]),
        Opcode::Ishl | Opcode::Ushr | Opcode::Sshr | Opcode::Icmp => arg_is(&[I32, I64]),
        Opcode::Umin | Opcode::Umax | Opcode::Smin | Opcode::Smax => arg_is(&[I32, I64]),
        Opcode::Popcnt | Opcode::Ctz | Opcode::Clz | Opcode::Splat => arg_is(&[I32, I64]),
        Opcode::Umulhi | Opcode::Smulhi | Opcode::Sextend | Opcode::Bitrev => arg_is(&[I32]),
        Opcode::Ireduce | Opcode::Uextend => arg_is(&[I8, I32, I64]),
        Opcode::Uload32 | Opcode::StackAddr | Opcode::Jump | Opcode::BrTable | Opcode::Trap => true,
        Opcode::Load => [I32, I64, I32X4, I64X2].contains(&dfg.value_type(dfg.first_result(inst))),
        Opcode::Store => arg_is(&[I32, I64, I32X4, I64X2]),
        Opcode::Return => arg_is(&[I32, I64]),
        Opcode::CallIndirect => {
            let args = dfg.inst_args(inst);
            let callee = dfg.value_def(args[0]).inst().map(|def| dfg.insts[def].opcode());
            let is_integer = dfg.inst_results(inst).iter().all(|result| dfg.value_type(*result).is_int());
            let fits = args.len() <= 1 + super::ARGUMENTS.len();
            callee == Some(Opcode::Iconst) && arg_is(&[I32, I64]) && is_integer && fits
        }
        opcode => {
            let args: Vec<Type> = dfg.inst_args(inst).iter().map(|arg| dfg.value_type(*arg)).collect();
            floats::is_supported(opcode, &args, dfg.inst_results(inst).first().map(|result| dfg.value_type(*result)))
        }
    }
}

impl Values {
    /// Looks at a function. There is no answer if it has something that no code can be made for here.
    pub fn of(func: &Function) -> Option<Values> {
        let known = func.dfg.values().map(Known::new).collect();
        let starts = vec![0; func.dfg.num_blocks()];
        let mut values = Values { known, calls: Vec::new(), placed: Vec::new(), back: Vec::new(), starts };
        values.count_uses(func)?;
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

    /// The comparison, if a value is one that is made where it is looked at.
    pub fn folded(&self, func: &Function, value: Value) -> Option<Inst> {
        let Known { uses: 1, user: Some(user), .. } = *self.of_value(value) else { return None };
        let ValueDef::Result(inst, _) = func.dfg.value_def(value) else { return None };
        let is_compare = func.dfg.insts[inst].opcode() == Opcode::Icmp;
        let looks = match func.dfg.insts[user] {
            InstructionData::Brif { .. } => true,
            InstructionData::Ternary { opcode: Opcode::Select, args } => args[1] != value && args[2] != value,
            _ => false,
        };
        (is_compare && looks && func.layout.inst_block(inst) == func.layout.inst_block(user)).then_some(inst)
    }

    /// Counts who reads what, and finds out whether all can be made.
    fn count_uses(&mut self, func: &Function) -> Option<()> {
        let dfg = &func.dfg;
        let entry = func.layout.entry_block();
        for block in func.layout.blocks() {
            let params = dfg.block_params(block);
            let supported = params.iter().all(|param| [I32, I64].contains(&dfg.value_type(*param)));
            if !supported || params.len() > super::ARGUMENTS.len() || !params.is_empty() && Some(block) != entry {
                return None;
            }
            for inst in func.layout.block_insts(block) {
                let results = dfg.inst_results(inst);
                let types = results.iter().all(|result| is_known_type(dfg.value_type(*result)));
                if results.len() > 1 || !types || !is_supported(func, inst) {
                    return None;
                }
                for arg in dfg.inst_args(inst) {
                    let known = &mut self.known[arg.index()];
                    known.uses += 1;
                    known.user = Some(inst);
                    if dfg.resolve_aliases(*arg) != *arg {
                        return None;
                    }
                }
            }
        }
        Some(())
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
            if self.name(func, inst, result) || self.folded(func, result).is_some() {
                return;
            }
            if !self.is_read(result) && !dfg.insts[inst].opcode().is_call() {
                return;
            }
        }
        for arg in dfg.inst_args(inst) {
            self.read(func, *arg, start, at);
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
    fn read(&mut self, func: &Function, value: Value, start: u32, at: u32) {
        if let Some(compare) = self.folded(func, value) {
            return func.dfg.inst_args(compare).iter().for_each(|arg| self.read(func, *arg, start, at));
        }
        let root = self.of_value(value).root;
        let known = &mut self.known[root.index()];
        known.end = known.end.max(at);
        known.global |= known.def < start;
    }
}

/// A constant of a type, zero-extended.
fn zero_extended(bits: i64, ty: Type) -> i64 {
    match ty {
        I8 => bits & 0xff,
        I32 => bits & 0xffff_ffff,
        _ => bits,
    }
}
