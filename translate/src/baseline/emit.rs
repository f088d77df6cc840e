//! The frame of a function, its blocks and what leads from one to another.
//!
//! From the stack pointer up there are the quadwords of values, the function's own stack slots, and the registers that it
//! has to keep. Seldom executed blocks come last.

use super::allocate::{Place, Places};
use super::uses::Moved;
use super::values::Values;
use super::{ARGUMENTS, Code};
use crate::x64::{Alu, Encoder, Gpr, Jump, Label, Mem, When, Xmm};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{self, Block, BlockCall, Function, Inst, InstructionData, SourceLoc, StackSlot, Value};
use std::ops::Range;

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A register.
    Reg(Gpr),
    /// Memory, of 64 bits or of 32.
    Mem(Mem, bool),
    /// A constant, zero-extended.
    Imm(i64),
}

impl Operand {
    /// Whether it can't be read any more after something has been written to a register.
    pub fn is_at(self, register: Gpr) -> bool {
        match self {
            Operand::Reg(at) | Operand::Mem(Mem::At(at, _), _) => at == register,
            Operand::Mem(Mem::Pool(_), _) | Operand::Imm(_) => false,
        }
    }
}

/// Code while it is made.
pub(super) struct Emitter<'a> {
    pub func: &'a Function,
    pub values: &'a Values,
    pub places: &'a Places,
    pub out: Encoder,
    /// Where the function's stack slots are, from the stack pointer on.
    slots: Vec<i32>,
    /// Bytes below the registers that it keeps.
    frame: i32,
    /// Where blocks begin, once they are there.
    starts: Vec<Label>,
    /// Jumps to blocks, to the function's end, and addresses of tables.
    jumps: Vec<(Jump, Block)>,
    returns: Vec<Jump>,
    tables: Vec<(Jump, ir::JumpTable)>,
}

/// Makes the code of a function. There is no answer if there is none for an instruction.
pub(super) fn function(func: &Function, values: &Values, places: &Places) -> Option<Code> {
    let mut end = 8 * places.slots as i32;
    let mut slots = Vec::new();
    for slot in func.sized_stack_slots.values() {
        end = (end + 15) & !15;
        slots.push(end);
        end += slot.size as i32;
    }
    // A call has pushed a return address to an aligned stack.
    let pushed = 8 + 8 * places.kept.len() as i32;
    let frame = ((end + pushed + 15) & !15) - pushed;
    let starts = vec![Label::default(); func.dfg.num_blocks()];
    let (out, jumps, returns, tables) = (Encoder::default(), Vec::new(), Vec::new(), Vec::new());
    let mut emitter = Emitter { func, values, places, out, slots, frame, starts, jumps, returns, tables };
    let places = emitter.body()?;
    Some(Code { bytes: emitter.out.code, places })
}

impl Emitter<'_> {
    fn body(&mut self) -> Option<Vec<(Range<u32>, SourceLoc)>> {
        self.enter();
        let layout = &self.func.layout;
        let mut order: Vec<Block> = layout.blocks().filter(|block| !layout.is_cold(*block)).collect();
        order.extend(layout.blocks().filter(|block| layout.is_cold(*block)));
        let mut places: Vec<(Range<u32>, SourceLoc)> = Vec::new();
        for (i, block) in order.iter().enumerate() {
            self.starts[block.index()] = self.out.here();
            for inst in layout.block_insts(*block) {
                let start = self.out.code.len() as u32;
                self.instruction(inst, order.get(i + 1).copied())?;
                let (end, location) = (self.out.code.len() as u32, self.func.srcloc(inst));
                match places.last_mut() {
                    _ if start == end || location.is_default() => {}
                    Some((range, last)) if *last == location && range.end == start => range.end = end,
                    _ => places.push((start..end, location)),
                }
            }
        }
        self.leave();
        Some(places)
    }

    /// Saves registers, makes the frame, and puts parameters in their places.
    fn enter(&mut self) {
        self.places.kept.iter().for_each(|register| self.out.push(*register));
        if self.frame != 0 {
            self.out.alu_imm(Alu::Sub, true, Gpr::Rsp, self.frame);
        }
        let entry = self.func.layout.entry_block().expect("a function has code");
        let params = self.func.dfg.block_params(entry).iter().zip(ARGUMENTS);
        let mut moves = Vec::new();
        for (param, from) in params {
            match self.places.integer(*param) {
                Some(Place::Reg(to)) => moves.push((to, from)),
                Some(Place::Slot(slot)) => self.out.store_register(true, slot_at(slot), from),
                // Nobody reads it.
                None => {}
            }
        }
        self.move_all(moves);
    }

    /// The end of all returns, and the tables.
    fn leave(&mut self) {
        let end = self.out.here();
        if self.frame != 0 {
            self.out.alu_imm(Alu::Add, true, Gpr::Rsp, self.frame);
        }
        self.places.kept.iter().rev().for_each(|register| self.out.pop(*register));
        self.out.ret_plain();
        for link in std::mem::take(&mut self.returns) {
            self.out.link(link, end);
        }
        for (link, block) in std::mem::take(&mut self.jumps) {
            self.out.link(link, self.starts[block.index()]);
        }
        for (link, table) in std::mem::take(&mut self.tables) {
            self.table(link, table);
        }
    }

    /// Distances of a jump table's blocks from it. The byte before says that instructions end there.
    fn table(&mut self, link: Jump, table: ir::JumpTable) {
        self.out.code.push(0xcc);
        let start = self.out.here();
        self.out.link(link, start);
        for target in self.func.dfg.jump_tables[table].as_slice() {
            let distance = self.starts[self.block(*target).index()].offset() as i64 - start.offset() as i64;
            self.out.code.extend((distance as i32).to_le_bytes());
        }
    }

    fn block(&self, target: BlockCall) -> Block {
        target.block(&self.func.dfg.value_lists)
    }

    /// Where a jump to a block leads: past it, if all that it does is to jump on.
    fn destination(&self, target: BlockCall) -> Block {
        let block = self.block(target);
        let first = self.func.layout.first_inst(block).map(|inst| self.func.dfg.insts[inst]);
        match first {
            Some(InstructionData::Jump { destination, .. }) => self.block(destination),
            _ => block,
        }
    }

    /// Ends a block, behind which another one comes.
    pub(super) fn end_block(&mut self, inst: Inst, next: Option<Block>) -> Option<()> {
        match self.func.dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => self.go(self.destination(destination), next),
            InstructionData::Brif { arg, blocks, .. } => {
                let when = self.condition(arg)?;
                let [yes, no] = blocks.map(|target| self.destination(target));
                if Some(yes) == next || Some(no) != next && self.func.layout.is_cold(yes) {
                    let link = self.out.jump(when.not());
                    self.jumps.push((link, no));
                    self.go(yes, next);
                } else {
                    let link = self.out.jump(when);
                    self.jumps.push((link, yes));
                    self.go(no, next);
                }
            }
            InstructionData::BranchTable { arg, table, .. } => self.branch_table(arg, table)?,
            InstructionData::Trap { .. } => self.out.undefined(),
            InstructionData::MultiAry { opcode: ir::Opcode::Return, .. } => self.returns(inst, next)?,
            _ => return None,
        }
        Some(())
    }

    fn go(&mut self, to: Block, next: Option<Block>) {
        if Some(to) != next {
            let link = self.out.jump_always();
            self.jumps.push((link, to));
        }
    }

    fn returns(&mut self, inst: Inst, next: Option<Block>) -> Option<()> {
        if let Some(value) = self.func.dfg.inst_args(inst).first() {
            self.load(Gpr::Rax, self.operand(*value)?, true);
        }
        if next.is_some() {
            let link = self.out.jump_always();
            self.returns.push(link);
        }
        Some(())
    }

    fn branch_table(&mut self, arg: Value, table: ir::JumpTable) -> Option<()> {
        let data = &self.func.dfg.jump_tables[table];
        // Narrow: what is above its bits becomes 0.
        self.load(Gpr::Rax, self.operand(arg)?, false);
        self.out.alu_imm(Alu::Cmp, false, Gpr::Rax, data.as_slice().len() as i32);
        let link = self.out.jump(When::AboveEqual);
        self.jumps.push((link, self.block(data.default_block())));
        let link = self.out.address(Gpr::Rcx);
        self.tables.push((link, table));
        self.out.load_number(Gpr::Rax, Gpr::Rcx, Gpr::Rax);
        self.out.alu(Alu::Add, true, Gpr::Rax, Gpr::Rcx);
        self.out.jump_to(Gpr::Rax);
        Some(())
    }

    /// Sets the flags by a value, or by the comparison that it is; the result says when it is true.
    pub(super) fn condition(&mut self, value: Value) -> Option<When> {
        if let Some(Moved::Compare(compared, condition)) = self.values.of_value(value).moved {
            return self.compare(compared, condition);
        }
        let ty = self.func.dfg.value_type(value);
        let operand = self.operand(value)?;
        let rm = self.rm(operand, ty == I64, Gpr::Rax);
        match (ty, operand) {
            (I8, _) => self.out.compare_byte(rm, 0),
            (_, Operand::Reg(register)) => self.out.test(ty == I64, register),
            _ => self.out.alu_imm(Alu::Cmp, ty == I64, rm, 0),
        }
        Some(When::NotZero)
    }

    /// Calls the function at the constant address that is the first argument.
    pub(super) fn call(&mut self, inst: Inst) -> Option<()> {
        let args = self.func.dfg.inst_args(inst);
        let (callee, args) = (self.operand(args[0])?, &args[1..]);
        if !matches!(callee, Operand::Imm(_)) || args.len() > ARGUMENTS.len() {
            return None;
        }
        let operands: Vec<(Gpr, Operand)> =
            ARGUMENTS.into_iter().zip(args).map(|(to, arg)| Some((to, self.operand(*arg)?))).collect::<Option<_>>()?;
        let from = |(to, operand): &(Gpr, Operand)| match operand {
            Operand::Reg(from) => Some((*to, *from)),
            _ => None,
        };
        self.move_all(operands.iter().filter_map(from).collect());
        for (to, operand) in operands.iter().filter(|moved| from(moved).is_none()) {
            self.load(*to, *operand, true);
        }
        self.load(Gpr::Rax, callee, true);
        self.out.call_to(Gpr::Rax);
        Some(())
    }

    /// Copies registers to others, all at once as it were.
    fn move_all(&mut self, mut moves: Vec<(Gpr, Gpr)>) {
        moves.retain(|(to, from)| to != from);
        while !moves.is_empty() {
            let free = moves.iter().position(|(to, _)| moves.iter().all(|(_, from)| from != to));
            match free {
                Some(free) => {
                    let (to, from) = moves.swap_remove(free);
                    self.out.load(true, to, from);
                }
                None => {
                    // They go round: one of them has to wait elsewhere.
                    let waiting = moves[0].1;
                    self.out.load(true, Gpr::Rax, waiting);
                    moves[0].1 = Gpr::Rax;
                }
            }
        }
    }

    /// Where the address of a stack slot is.
    pub(super) fn stack_slot(&self, slot: StackSlot, offset: i32) -> Mem {
        Mem::At(Gpr::Rsp, self.slots[slot.index()] + offset)
    }

    /// Where a value is read from, if it is an integer.
    pub(super) fn operand(&self, value: Value) -> Option<Operand> {
        let known = self.values.of_value(value);
        if let Some(constant) = known.constant {
            return Some(Operand::Imm(constant));
        }
        if let Some(Moved::Load { wide, base, offset }) = self.values.of_value(known.root).moved {
            let Place::Reg(base) = self.places.integer(base)? else { return None };
            return Some(Operand::Mem(Mem::At(base, offset), wide));
        }
        Some(match self.places.integer(known.root)? {
            Place::Reg(register) => Operand::Reg(register),
            Place::Slot(slot) => Operand::Mem(slot_at(slot), true),
        })
    }

    /// The register of a value, if it is a vector or a float.
    pub(super) fn xmm(&self, value: Value) -> Option<Xmm> {
        self.places.vector(self.values.of_value(value).root)
    }
}

/// Where a quadword of the frame is.
pub(super) fn slot_at(slot: u32) -> Mem {
    Mem::At(Gpr::Rsp, 8 * slot as i32)
}
