//! Who reads each value, found from the end of a function to its start, so that what nobody reads has no readers either.
//!
//! What x86-64 has as a part of another instruction moves to its only reader, if that is in the same block: a
//! comparison to the branch or the selection that looks at it, a load to who takes it from memory, as long as nothing is
//! written between the two, a complement to the AND with it, and arithmetic on memory to the store that puts the result
//! back there.

use super::ARGUMENTS;
use super::values::zero_extended;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Opcode, Type, Value, ValueDef};

/// Who reads a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Use {
    /// How often it is read.
    pub count: u32,
    /// What it is, if it is made where it is read.
    pub moved: Option<Moved>,
    /// The first instruction that reads it, and where that is made: its number, counted from the function's end.
    reader: Option<(Inst, u32)>,
}

/// What is made where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// A comparison.
    Compare([Value; 2], IntCC),
    /// An integer in memory, of 64 bits or of 32, at a parameter plus an offset.
    Load { wide: bool, base: Value, offset: i32 },
    /// All bits inverted.
    Not(Value),
    /// Arithmetic with what is where the result will be stored as the first operand, and with this value as the second.
    Update(Opcode, Value),
}

impl Moved {
    /// What its reader reads instead.
    pub fn args(self) -> impl Iterator<Item = Value> {
        let (first, second) = match self {
            Moved::Compare([first, second], _) => (first, Some(second)),
            Moved::Load { base, .. } => (base, None),
            Moved::Not(value) | Moved::Update(_, value) => (value, None),
        };
        std::iter::once(first).chain(second)
    }
}

/// The readers of all values, by number. There is no answer if there are values that there are no places for.
pub fn of(func: &Function) -> Option<Vec<Use>> {
    let mut reading = Reading { func, uses: vec![Use::default(); func.dfg.num_values()], at: 0, end: 0, written: 0 };
    for block in std::iter::successors(func.layout.last_block(), |block| func.layout.prev_block(*block)) {
        reading.block(block)?;
    }
    Some(reading.uses)
}

struct Reading<'a> {
    func: &'a Function,
    uses: Vec<Use>,
    /// The number of the instruction, from the function's end.
    at: u32,
    /// Of the first one behind the block.
    end: u32,
    /// Of the next one that may write memory, or of the block's last one.
    written: u32,
}

impl Reading<'_> {
    fn of_value(&mut self, value: Value) -> &mut Use {
        &mut self.uses[value.index()]
    }

    fn block(&mut self, block: Block) -> Option<()> {
        let (dfg, is_entry) = (&self.func.dfg, self.func.layout.entry_block() == Some(block));
        let params = dfg.block_params(block);
        let supported = params.iter().all(|param| [I32, I64].contains(&dfg.value_type(*param)));
        if !supported || params.len() > ARGUMENTS.len() || !params.is_empty() && !is_entry {
            return None;
        }
        (self.end, self.written) = (self.at, self.at + 1);
        for inst in self.func.layout.block_insts(block).rev() {
            self.at += 1;
            self.instruction(inst)?;
        }
        Some(())
    }

    fn instruction(&mut self, inst: Inst) -> Option<()> {
        let dfg = &self.func.dfg;
        let opcode = dfg.insts[inst].opcode();
        if dfg.inst_results(inst).len() > 1 {
            return None;
        }
        let mut reader = (inst, self.at);
        let mut count = 1;
        if let Some(result) = dfg.inst_results(inst).first() {
            let found = self.uses[result.index()];
            if !is_known_type(dfg.value_type(*result)) {
                return None;
            } else if found.count == 0 && !opcode.is_call() {
                return Some(());
            } else if let Some(moved) = self.moved(*result, dfg.insts[inst]) {
                self.of_value(*result).moved = Some(moved);
                reader.1 = found.reader?.1;
            } else if opcode == Opcode::Ireduce {
                // Another name: who reads it reads what it is made from.
                (reader, count) = (found.reader?, found.count);
            }
        }
        if opcode.is_call() || opcode.can_store() {
            self.written = self.at;
        }
        for arg in dfg.inst_args(inst) {
            if dfg.resolve_aliases(*arg) != *arg {
                return None;
            }
            let found = self.of_value(*arg);
            found.count += count;
            found.reader = Some(reader);
        }
        Some(())
    }

    /// What a value is, if its instruction is made where it is read.
    fn moved(&mut self, value: Value, data: InstructionData) -> Option<Moved> {
        let Use { count: 1, reader: Some((reader, at)), .. } = *self.of_value(value) else { return None };
        if at <= self.end {
            return None;
        }
        let by = self.func.dfg.insts[reader];
        match data {
            InstructionData::IntCompare { args, cond, .. } => {
                let looks = match by {
                    InstructionData::Brif { .. } => true,
                    InstructionData::Ternary { opcode: Opcode::Select, args } => args[0] == value,
                    _ => false,
                };
                looks.then_some(Moved::Compare(args, cond))
            }
            InstructionData::Load { opcode, arg: base, offset, .. } if at >= self.written => {
                let offset = offset.into();
                let wide = width(opcode, self.func.dfg.value_type(value))?;
                let is_address = matches!(self.func.dfg.value_def(base), ValueDef::Param(..));
                // Arguments of calls get into registers one after the other, and an extension may be just another name.
                let takes = is_address && !by.opcode().is_call() && by.opcode() != Opcode::Uextend;
                (self.update(value, reader, base, offset) || takes).then_some(Moved::Load { wide, base, offset })
            }
            InstructionData::Binary { opcode: Opcode::Bxor, .. } => {
                let InstructionData::Binary { opcode: Opcode::Band, args } = by else { return None };
                let other = args.into_iter().find(|arg| *arg != value)?;
                // One of two is enough.
                let is_taken = args[1] == value || args[0] == value && self.complement(other).is_none();
                let is_update = self.uses[self.func.dfg.first_result(reader).index()].moved.is_some();
                self.complement(value).filter(|_| is_taken && !is_update).map(Moved::Not)
            }
            _ => None,
        }
    }

    /// The value whose bits a value has inverted, if that is how it is made.
    fn complement(&self, value: Value) -> Option<Value> {
        let def = |value: Value| Some(self.func.dfg.insts[self.func.dfg.value_def(value).inst()?]);
        let InstructionData::Binary { opcode: Opcode::Bxor, args } = def(value)? else { return None };
        let InstructionData::UnaryImm { imm, .. } = def(args[1])? else { return None };
        let ty = self.func.dfg.value_type(value);
        (zero_extended(imm.bits(), ty) == zero_extended(-1, ty)).then_some(args[0])
    }

    /// Whether what has been loaded from an address is changed by its reader, and comes back there with the next write:
    /// then the change moves to that.
    fn update(&mut self, loaded: Value, reader: Inst, base: Value, offset: i32) -> bool {
        let dfg = &self.func.dfg;
        let is_whole = dfg.value_def(loaded).inst().is_some_and(|load| dfg.insts[load].opcode() == Opcode::Load);
        let InstructionData::Binary { opcode, args } = dfg.insts[reader] else { return false };
        let other = match opcode {
            Opcode::Iadd | Opcode::Isub | Opcode::Band | Opcode::Bor | Opcode::Bxor if args[0] == loaded => args[1],
            Opcode::Iadd | Opcode::Band | Opcode::Bor | Opcode::Bxor if args[1] == loaded => args[0],
            _ => return false,
        };
        let changed = dfg.first_result(reader);
        let Use { count: 1, reader: Some((store, at)), moved: None } = self.uses[changed.index()] else { return false };
        let InstructionData::Store { opcode: Opcode::Store, args, offset: to, .. } = dfg.insts[store] else {
            return false;
        };
        let is_back = args == [changed, base] && i32::from(to) == offset && at == self.written;
        let is_value = !matches!(self.uses[other.index()].moved, Some(Moved::Not(_)));
        let is_update = is_back && is_value && is_whole;
        if is_update {
            self.of_value(changed).moved = Some(Moved::Update(opcode, other));
        }
        is_update
    }
}

/// Whether a load of an integer is one of 64 bits or of 32.
fn width(opcode: Opcode, ty: Type) -> Option<bool> {
    match (opcode, ty) {
        (Opcode::Load, I64) => Some(true),
        (Opcode::Load, I32) | (Opcode::Uload32, _) => Some(false),
        _ => None,
    }
}

/// Whether values of a type have places.
fn is_known_type(ty: Type) -> bool {
    [I8, I32, I64, I32X4, I64X2, F32, F64].contains(&ty)
}
