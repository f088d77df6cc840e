//! The frame of a function, its blocks and what leads from one to another.
//!
//! From the stack pointer up there are the quadwords of values, the function's own stack slots, and the registers that it
//! has to keep. Seldom executed blocks come last.

use super::allocate::{Place, Places};
use super::values::Values;
use super::x64::{Alu, Encoder, Link, Mem, Reg, Rm, When};
use super::{ARGUMENTS, Code};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{self, Block, BlockCall, Function, Inst, InstructionData, SourceLoc, StackSlot, Value};
use std::ops::Range;

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A register.
    Reg(Reg),
    /// Memory.
    Mem(Mem),
    /// A constant, zero-extended.
    Imm(i64),
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
    starts: Vec<usize>,
    /// Jumps to blocks, to the function's end, and addresses of tables.
    jumps: Vec<(Link, Block)>,
    returns: Vec<Link>,
    tables: Vec<(Link, ir::JumpTable)>,
}

/// Makes the code of a function.
pub(super) fn function(func: &Function, values: &Values, places: &Places) -> Code {
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
    let starts = vec![0; func.dfg.num_blocks()];
    let (out, jumps, returns, tables) = (Encoder::default(), Vec::new(), Vec::new(), Vec::new());
    let mut emitter = Emitter { func, values, places, out, slots, frame, starts, jumps, returns, tables };
    let places = emitter.body();
    Code { bytes: emitter.out.bytes, places }
}

impl Emitter<'_> {
    fn body(&mut self) -> Vec<(Range<u32>, SourceLoc)> {
        self.enter();
        let layout = &self.func.layout;
        let mut order: Vec<Block> = layout.blocks().filter(|block| !layout.is_cold(*block)).collect();
        order.extend(layout.blocks().filter(|block| layout.is_cold(*block)));
        let mut places: Vec<(Range<u32>, SourceLoc)> = Vec::new();
        for (i, block) in order.iter().enumerate() {
            self.starts[block.index()] = self.out.bytes.len();
            for inst in layout.block_insts(*block) {
                let start = self.out.bytes.len() as u32;
                self.instruction(inst, order.get(i + 1).copied());
                let (end, location) = (self.out.bytes.len() as u32, self.func.srcloc(inst));
                match places.last_mut() {
                    _ if start == end || location.is_default() => {}
                    Some((range, last)) if *last == location && range.end == start => range.end = end,
                    _ => places.push((start..end, location)),
                }
            }
        }
        self.leave();
        places
    }

    /// Saves registers, makes the frame, and puts parameters in their places.
    fn enter(&mut self) {
        self.places.kept.iter().for_each(|register| self.out.push(*register));
        if self.frame != 0 {
            self.out.alu_imm(Alu::Sub, true, Reg::Rsp, self.frame);
        }
        let entry = self.func.layout.entry_block().expect("a function has code");
        let params = self.func.dfg.block_params(entry).iter().zip(ARGUMENTS);
        let read: Vec<(Value, Reg)> =
            params.map(|(value, from)| (*value, from)).filter(|(value, _)| self.values.is_read(*value)).collect();
        let mut moves = Vec::new();
        for (value, from) in read {
            match self.places.of_value(value) {
                Place::Reg(to) => moves.push((to, from)),
                Place::Slot(slot) => self.out.store(true, slot_at(slot), from),
                Place::Xmm(_) => unreachable!("parameters are no vectors"),
            }
        }
        self.move_all(moves);
    }

    /// The end of all returns, and the tables.
    fn leave(&mut self) {
        let end = self.out.bytes.len();
        if self.frame != 0 {
            self.out.alu_imm(Alu::Add, true, Reg::Rsp, self.frame);
        }
        self.places.kept.iter().rev().for_each(|register| self.out.pop(*register));
        self.out.ret();
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
    fn table(&mut self, link: Link, table: ir::JumpTable) {
        self.out.bytes.push(0xcc);
        let start = self.out.bytes.len();
        self.out.link(link, start);
        for target in self.func.dfg.jump_tables[table].as_slice() {
            let distance = self.starts[self.block(*target).index()] as i64 - start as i64;
            self.out.bytes.extend((distance as i32).to_le_bytes());
        }
    }

    fn block(&self, target: BlockCall) -> Block {
        target.block(&self.func.dfg.value_lists)
    }

    /// Ends a block, behind which another one comes. False if the instruction is none that does that.
    pub(super) fn ends_block(&mut self, inst: Inst, next: Option<Block>) -> bool {
        match self.func.dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => self.go(self.block(destination), next),
            InstructionData::Brif { arg, blocks, .. } => {
                let when = self.condition(arg);
                let [yes, no] = blocks.map(|target| self.block(target));
                if Some(yes) == next {
                    let link = self.out.jump_if(when.not());
                    self.jumps.push((link, no));
                } else {
                    let link = self.out.jump_if(when);
                    self.jumps.push((link, yes));
                    self.go(no, next);
                }
            }
            InstructionData::BranchTable { arg, table, .. } => self.branch_table(arg, table),
            InstructionData::Trap { .. } => self.out.undefined(),
            InstructionData::MultiAry { opcode: ir::Opcode::Return, .. } => self.returns(inst, next),
            _ => return false,
        }
        true
    }

    fn go(&mut self, to: Block, next: Option<Block>) {
        if Some(to) != next {
            let link = self.out.jump();
            self.jumps.push((link, to));
        }
    }

    fn returns(&mut self, inst: Inst, next: Option<Block>) {
        if let Some(value) = self.func.dfg.inst_args(inst).first() {
            self.load(Reg::Rax, self.operand(*value), true);
        }
        if next.is_some() {
            let link = self.out.jump();
            self.returns.push(link);
        }
    }

    fn branch_table(&mut self, arg: Value, table: ir::JumpTable) {
        let data = &self.func.dfg.jump_tables[table];
        // Narrow: what is above its bits becomes 0.
        self.load(Reg::Rax, self.operand(arg), false);
        self.out.alu_imm(Alu::Cmp, false, Reg::Rax, data.as_slice().len() as i32);
        let link = self.out.jump_if(When::AboveEqual);
        self.jumps.push((link, self.block(data.default_block())));
        let link = self.out.address(Reg::Rcx);
        self.tables.push((link, table));
        self.out.load_number(Reg::Rax, Reg::Rcx, Reg::Rax);
        self.out.alu(Alu::Add, true, Reg::Rax, Reg::Rcx);
        self.out.jump_to(Reg::Rax);
    }

    /// Sets the flags by a value, or by the comparison that it is; the result says when it is true.
    pub(super) fn condition(&mut self, value: Value) -> When {
        if let Some(compare) = self.values.folded(self.func, value) {
            return self.compare(compare);
        }
        let ty = self.func.dfg.value_type(value);
        let rm: Rm = match self.operand(value) {
            Operand::Reg(register) => register.into(),
            Operand::Mem(mem) => mem.into(),
            imm @ Operand::Imm(_) => {
                self.load(Reg::Rax, imm, true);
                Reg::Rax.into()
            }
        };
        match ty {
            I8 => self.out.is_zero8(rm),
            _ => self.out.alu_imm(Alu::Cmp, ty == I64, rm, 0),
        }
        When::NotEqual
    }

    /// Calls the function at the constant address that is the first argument.
    pub(super) fn call(&mut self, inst: Inst) {
        let [callee, args @ ..] = self.func.dfg.inst_args(inst) else { unreachable!("a call has a callee") };
        let operands: Vec<(Reg, Operand)> =
            ARGUMENTS.into_iter().zip(args.iter().map(|arg| self.operand(*arg))).collect();
        let from = |(to, operand): &(Reg, Operand)| match operand {
            Operand::Reg(from) => Some((*to, *from)),
            _ => None,
        };
        self.move_all(operands.iter().filter_map(from).collect());
        for (to, operand) in operands.iter().filter(|moved| from(moved).is_none()) {
            self.load(*to, *operand, true);
        }
        self.load(Reg::Rax, self.operand(*callee), true);
        self.out.call(Reg::Rax);
    }

    /// Copies registers to others, all at once as it were.
    fn move_all(&mut self, mut moves: Vec<(Reg, Reg)>) {
        moves.retain(|(to, from)| to != from);
        while !moves.is_empty() {
            let free = moves.iter().position(|(to, _)| moves.iter().all(|(_, from)| from != to));
            match free {
                Some(free) => {
                    let (to, from) = moves.swap_remove(free);
                    self.out.mov(true, to, from);
                }
                None => {
                    // They go round: one of them has to wait elsewhere.
                    let waiting = moves[0].1;
                    self.out.mov(true, Reg::Rax, waiting);
                    moves[0].1 = Reg::Rax;
                }
            }
        }
    }

    /// Where the address of a stack slot is.
    pub(super) fn stack_slot(&self, slot: StackSlot, offset: i32) -> Mem {
        Mem(Reg::Rsp, self.slots[slot.index()] + offset)
    }

    /// Where a value is read from.
    pub(super) fn operand(&self, value: Value) -> Operand {
        let known = self.values.of_value(value);
        if let Some(constant) = known.constant {
            return Operand::Imm(constant);
        }
        match self.places.of_value(known.root) {
            Place::Reg(register) => Operand::Reg(register),
            Place::Slot(slot) => Operand::Mem(slot_at(slot)),
            Place::Xmm(_) => unreachable!("vectors are moved only"),
        }
    }
}

/// Where a quadword of the frame is.
pub(super) fn slot_at(slot: u32) -> Mem {
    Mem(Reg::Rsp, 8 * slot as i32)
}
