//! Lane IR to CLIF: one host function for a kernel's blocks.
//!
//! `fn(wave: *mut Wave, context: *mut Context, block: u32) -> Exit`. Every guest block is an entry. Between blocks
//! all guest state is in [`Wave`]; inside one, uniform values are CLIF scalars and lane values exist in a segment's
//! loop only. On return `wave.pc` is where the wave goes on.
//!
//! The frame has the slots of the plan. Floating point: see [`crate::fenv`]. Where the host has the wider back end,
//! segments are calls of its code ([`crate::wide`]); elsewhere they are loops of 128-bit vectors here. Source locations
//! are guest addresses, counted from the lowest one of the unit.

mod call;
mod load;
mod part;
mod row;
mod scalar;
mod segment;
mod term;
mod vector;

use crate::access::Site;
use crate::cfg::GuestBlock;
use crate::jit::{Context, Exit};
use crate::lane::{Block, Fenv, Op, Shape, Ty, Value};
use crate::pass::compact::Loop;
use crate::pass::demand::Demand;
use crate::pass::fuse::Fused;
use crate::pass::registers::RegisterSet;
use crate::pass::segment::{Item, Plan};
use crate::pass::superblock::Superblock;
use crate::wide;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, JumpTableData, MemFlagsData, Signature, SourceLoc, StackSlotData, StackSlotKind,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Mode, Row, Wave};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

/// How segments are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shaping {
    /// Vectors of four lanes that one iteration works on: 1, 2, 4, 8 or 16.
    pub vectors: usize,
}

impl Default for Shaping {
    fn default() -> Self {
        Shaping { vectors: 1 }
    }
}

/// What the code of a unit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waves {
    /// All lanes are in their places.
    Whole,
    /// Few are, moved together ([`crate::pass::compact`]).
    Compacted,
}

/// What is looked at of a wave's lanes where a block begins.
#[derive(Debug, Default)]
pub enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// On the way back to it, whether few lanes are left for the loop.
    Few(Loop),
    /// Whether EXEC has lanes that the wave has not, since it is compacted.
    Others,
}

/// A block with its plan.
pub struct Planned {
    /// The guest's code.
    pub guest: GuestBlock,
    /// The block that it was made.
    pub block: Block,
    /// When its nodes run.
    pub plan: Plan,
    /// What of the plan the wider back end can do as one, where the host has it.
    pub parts: Vec<Fused>,
    /// What is looked at where it begins.
    pub watch: Watch,
    /// The registers that are read from its start on before they are written.
    pub read_first: RegisterSet,
    /// If it is a superblock: what goes with that.
    pub superblock: Option<Superblock>,
}

/// The signature of translated code.
pub fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64), AbiParam::new(I32)]);
    signature.returns.push(AbiParam::new(I32));
    signature
}

/// What a function was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments.
    pub segments: usize,
    /// Fused parts of plans, where segments and accesses are one function.
    pub parts: usize,
    /// Loops that they were lowered to: one for each of a segment's versions.
    pub versions: usize,
    /// Places that call the host, by the name of what they call.
    pub libcalls: BTreeMap<&'static str, usize>,
}

/// The guest address that source locations of a unit count from.
pub fn base(blocks: &[Planned]) -> u64 {
    blocks.iter().map(|planned| planned.block.pc).min().unwrap_or(0)
}

/// Builds the function of `blocks`; entry `i` is block `i`.
///
/// With `wide` given, segments are calls of its code, which has to live as long as the function.
pub fn lower(
    fb: &mut FunctionBuilder<'_>,
    call_conv: CallConv,
    blocks: &[Planned],
    mode: Mode,
    shaping: Shaping,
    wide: Option<&wide::Code>,
) -> Counts {
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    let guest: Vec<ir::Block> = blocks.iter().map(|_| fb.create_block()).collect();
    let plain = blocks.iter().zip(&guest).filter(|(planned, _)| planned.superblock.is_none());
    let targets = plain.map(|(planned, block)| (planned.block.pc, (*block, &planned.watch))).collect();
    let functions = term::functions(blocks, &targets);
    fb.switch_to_block(entry);
    let params = fb.block_params(entry).to_vec();
    let scratch = blocks.iter().map(|planned| planned.plan.slot_count).max().unwrap_or(0);
    let below = wide.map_or(0, wide::Code::frame_bytes);
    let frame = frame(fb, below, (scratch + SCRATCH_ROWS) * size_of::<Row>());
    if wide.is_some() {
        fb.ins().store(MemFlagsData::trusted(), params[1], frame, wide::Layout::CONTEXT);
    }
    if blocks.iter().flat_map(|planned| &planned.parts).any(|part| part.induction.is_some()) {
        let none = fb.ins().iconst(I64, 0);
        fb.ins().store(MemFlagsData::trusted(), none, frame, wide::Layout::KEPT);
    }
    let mut entries = guest.clone();
    for (planned, block) in blocks.iter().zip(&guest) {
        let own = planned.superblock.iter().filter(|superblock| superblock.alike.is_none());
        own.for_each(|superblock| entries[superblock.of] = *block);
    }
    dispatch(fb, params[2], &entries);
    let [fault, apart] = [(); 2].map(|()| fb.create_block());
    [fault, apart].into_iter().for_each(|block| fb.set_cold_block(block));
    let (mut first_site, base) = (0, base(blocks));
    let mut counts = Counts::default();
    for (index, (planned, start)) in blocks.iter().zip(&guest).enumerate() {
        fb.switch_to_block(*start);
        let settle = wide.filter(|_| !planned.parts.is_empty()).and_then(|wide| wide.settle(index, 0));
        let own_fault = settle.map(|_| fb.create_block());
        let mut lower = Lower {
            fb,
            block: &planned.block,
            plan: &planned.plan,
            parts: if wide.is_some() { &planned.parts } else { &[] },
            targets: &targets,
            functions: &functions,
            watch: &planned.watch,
            superblock: planned.superblock.as_ref(),
            settle,
            wave: params[0],
            context: params[1],
            frame,
            scratch,
            wide,
            index,
            mode,
            shaping,
            call_conv,
            uniform: vec![None; planned.block.nodes.len()],
            halves: HashMap::default(),
            extended: HashMap::default(),
            fenv: Fenv::F32,
            first_site,
            proven: HashMap::default(),
            fault: match &planned.superblock {
                Some(Superblock { alike: None, of, .. }) => guest[*of],
                Some(_) => apart,
                None => own_fault.unwrap_or(fault),
            },
            base,
            place: None,
            counts: &mut counts,
        };
        lower.block();
        first_site += planned.block.accesses.len();
    }
    fb.switch_to_block(fault);
    fb.set_srcloc(SourceLoc::default());
    leave_with(fb, Exit::Fault);
    fb.switch_to_block(apart);
    fb.set_srcloc(SourceLoc::default());
    leave_with(fb, Exit::Apart);
    fb.seal_all_blocks();
    counts
}

/// An address in the frame with so many bytes below and above it. The stack is aligned for the host's calls, rows want
/// more.
fn frame(fb: &mut FunctionBuilder<'_>, below: usize, above: usize) -> ir::Value {
    let data = StackSlotData::new(StackSlotKind::ExplicitSlot, (below + above + FRAME_ALIGNMENT) as u32, 4);
    let slot = fb.create_sized_stack_slot(data);
    let address = fb.ins().stack_addr(I64, slot, (below + FRAME_ALIGNMENT - 1) as i32);
    fb.ins().band_imm_s(address, -(FRAME_ALIGNMENT as i64))
}

/// Bytes of a cache line, and of the widest vector.
const FRAME_ALIGNMENT: usize = 64;

/// Rows behind the slots for uniform arguments of libcalls: three, of 64 bits each.
const SCRATCH_ROWS: usize = 6;

fn dispatch(fb: &mut FunctionBuilder<'_>, index: ir::Value, guest: &[ir::Block]) {
    let none = fb.create_block();
    let pool = &mut fb.func.dfg.value_lists;
    let calls: Vec<_> = guest.iter().map(|block| ir::BlockCall::new(*block, [], pool)).collect();
    let default = ir::BlockCall::new(none, [], pool);
    let table = fb.create_jump_table(JumpTableData::new(default, &calls));
    fb.ins().br_table(index, table);
    fb.switch_to_block(none);
    fb.ins().trap(ir::TrapCode::unwrap_user(1));
}

/// A unit's blocks by address, with what is looked at where they begin.
type Targets<'a> = HashMap<u64, (ir::Block, &'a Watch)>;

/// The lowering of one guest block.
struct Lower<'a, 'f> {
    fb: &'a mut FunctionBuilder<'f>,
    block: &'a Block,
    plan: &'a Plan,
    /// What the wider back end does of the plan as one.
    parts: &'a [Fused],
    /// The unit's blocks, with what is looked at where they begin.
    targets: &'a Targets<'a>,
    /// Where calls of the unit go to and come back to.
    functions: &'a [u64],
    watch: &'a Watch,
    /// If the block is a superblock.
    superblock: Option<&'a Superblock>,
    /// If the block is a loop of a part: the address to call where it ends.
    settle: Option<usize>,
    wave: ir::Value,
    context: ir::Value,
    /// The address of the slots. Below them is what the wider back end's code uses.
    frame: ir::Value,
    /// Behind how many rows of slots there are those for uniform arguments.
    scratch: usize,
    wide: Option<&'a wide::Code>,
    /// The block's number in the unit.
    index: usize,
    mode: Mode,
    shaping: Shaping,
    call_conv: CallConv,
    /// Uniform nodes that have been computed.
    uniform: Vec<Option<ir::Value>>,
    /// SGPRs that have been read as halves of a pair: it, and whether this is the upper one.
    halves: HashMap<Value, (ir::Value, bool)>,
    /// B32 values that are there zero-extended too.
    extended: HashMap<Value, ir::Value>,
    /// The environment that holds at this point of the code.
    fenv: Fenv,
    /// The unit's number of the block's first access.
    first_site: usize,
    /// Of a superblock, proven addresses by the numbers of their sites.
    proven: HashMap<usize, ir::Value>,
    /// Where the function is left after a fault, or a superblock for its block or, if it is for several waves, the function.
    fault: ir::Block,
    /// What source locations count from.
    base: u64,
    /// The guest instruction that code is being made for.
    place: Option<u64>,
    counts: &'a mut Counts,
}

impl Lower<'_, '_> {
    fn block(&mut self) {
        self.locate(Some(self.block.pc));
        self.leave_if_others();
        if self.superblock.is_some() {
            self.give_up_early();
        } else {
            self.count_instructions();
        }
        let items = &self.plan.items;
        let mut done = 0;
        for (number, part) in self.parts.iter().enumerate() {
            self.items(&items[done..part.items.start]);
            self.part(number, part, &items[part.items.clone()]);
            done = part.items.end;
        }
        self.items(&items[done..]);
        self.locate(Some(self.block.at));
        self.set_fenv(Fenv::F32);
        if self.superblock.is_some() {
            self.count_instructions();
        }
        self.term();
        if self.settle.is_some() {
            self.settle_and_fault();
        }
    }

    /// A superblock is left out for a while where it has given up several times in a row; and it goes past branches that
    /// are not taken as long as there are active lanes.
    fn give_up_early(&mut self) {
        let (flags, next) = (MemFlagsData::trusted(), self.fb.create_block());
        let sites = self.fb.ins().load(I64, flags, self.context, offset_of!(Context, first_site) as i32);
        let at = self.parts.first().map_or(0, |part| self.first_site + part.accesses[0].number);
        let at = (at * size_of::<Site>() + Site::FUSED_MISSES) as i32;
        let misses = self.fb.ins().uload8(I32, flags, sites, at);
        let often = self.fb.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, misses, i64::from(wide::PATIENCE));
        let [out, on] = [(); 2].map(|()| self.fb.create_block());
        self.fb.ins().brif(often, out, &[], on, &[]);
        self.fb.switch_to_block(out);
        let more = self.fb.ins().iadd_imm_s(misses, 1);
        self.fb.ins().istore8(flags, more, sites, at);
        self.fb.ins().jump(self.fault, &[]);
        self.fb.switch_to_block(on);
        let exec = self.load_mask(reg::EXEC);
        self.fb.ins().brif(exec, next, &[], self.fault, &[]);
        self.fb.switch_to_block(next);
    }

    /// Says that the code from here on is for the instruction at `place`; the result is what it was for before.
    fn locate(&mut self, place: Option<u64>) -> Option<u64> {
        // Direct jumps reach no further than a location's 32 bits.
        let offset = place.map_or(SourceLoc::default(), |pc| SourceLoc::new((pc - self.base) as u32));
        self.fb.set_srcloc(offset);
        std::mem::replace(&mut self.place, place)
    }

    /// Does items of the plan, one after the other.
    fn items(&mut self, items: &[Item]) {
        let mut rest = items;
        while let [item, tail @ ..] = rest {
            rest = match *item {
                Item::Segment(rank) => {
                    self.segment(rank, &self.plan.steps[rank].segment);
                    tail
                }
                Item::Scalar(value) => &rest[self.scalars(value, tail)..],
            }
        }
    }

    /// Does a scalar item, and those behind it that are cheaper together with it; the result is how many.
    fn scalars(&mut self, value: Value, tail: &[Item]) -> usize {
        self.locate(Some(self.block.origin(value)));
        if let Some((register, both)) = self.stored_pair(value, tail) {
            self.store_wave(both, offset_of!(Wave, sgpr) + register * 4);
            return 2;
        }
        if let Some(pair) = self.loaded_pair(value, tail) {
            self.load_pair(value, pair);
            return 3;
        }
        if let Some(loads) = self.scalar_loads(value) {
            self.load_scalars(loads);
            return loads.loads.len();
        }
        self.scalar(value);
        1
    }

    /// If these write the halves of a value, or constants, to neighbouring SGPRs: the first of them, and both values as one.
    /// One store is cheaper, and a load of both has not to wait for two.
    fn stored_pair(&mut self, first: Value, tail: &[Item]) -> Option<(usize, ir::Value)> {
        let Some(Item::Scalar(second)) = tail.first() else { return None };
        let [low, high] = [first, *second].map(|set| self.block.node(set));
        if low.op != Op::SetSgpr || high.op != Op::SetSgpr || high.imm != low.imm + 1 {
            return None;
        }
        let [low_half, high_half] = [low.args[0], high.args[0]];
        let [lower, upper] = [low_half, high_half].map(|half| self.block.node(half));
        let both = match (lower.op, upper.op) {
            (Op::Lo, Op::Hi) if lower.args[0] == upper.args[0] => self.uniform(lower.args[0]),
            (Op::Const, Op::Const) => self.fb.ins().iconst(I64, (lower.imm | upper.imm << 32) as i64),
            _ => match (self.halves.get(&low_half), self.halves.get(&high_half)) {
                (Some((pair, false)), Some((other, true))) if pair == other => *pair,
                _ => return None,
            },
        };
        Some((low.imm as usize, both))
    }

    /// Counts the block's instructions. In memory: a register would have to be kept over all calls.
    fn count_instructions(&mut self) {
        let (flags, at) = (MemFlagsData::trusted(), offset_of!(Wave, executed));
        let count = self.fb.ins().load(I64, flags, self.wave, at as i32);
        let count = self.fb.ins().iadd_imm_s(count, i64::from(self.block.instructions));
        self.store_wave(count, at);
    }

    fn scalar(&mut self, value: Value) {
        let node = *self.block.node(value);
        let rank = self.plan.ranks[value.index()].expect("what is done has a step");
        match node.op {
            Op::SetSgpr => {
                let source = self.uniform(node.args[0]);
                self.store_wave(source, offset_of!(Wave, sgpr) + node.imm as usize * 4);
            }
            Op::SetScc => {
                let source = self.uniform(node.args[0]);
                let wide = self.fb.ins().uextend(I32, source);
                self.store_wave(wide, offset_of!(Wave, scc));
            }
            Op::SetMode => {
                let source = self.uniform(node.args[0]);
                self.store_wave(source, offset_of!(Wave, mode));
            }
            Op::SetTrapsts => {
                let source = self.uniform(node.args[0]);
                self.store_wave(source, offset_of!(Wave, trapsts));
            }
            Op::SetVgprAt => self.set_vgpr_at(&node, rank),
            Op::SetSgprAt => {
                let (source, address) = (self.uniform(node.args[0]), self.indexed_sgpr(&node, node.args[1]));
                self.fb.ins().store(MemFlagsData::trusted(), source, address, 0);
            }
            Op::VgprAt => self.vgpr_at(value),
            Op::LdsRow => self.lds_row(value),
            Op::Access => self.access(node.imm as usize),
            Op::Call => self.call(value, rank),
            Op::ReadLane => self.read_lane(value, rank),
            // Where it is used is early enough for a constant.
            Op::Const => {}
            _ if node.shape == Shape::Uniform => {
                self.uniform(value);
            }
            _ => {}
        }
    }

    fn store_wave(&mut self, value: ir::Value, offset: usize) {
        self.fb.ins().store(MemFlagsData::trusted(), value, self.wave, offset as i32);
    }

    /// The address of so many bytes into the frame.
    fn frame_at(&mut self, offset: usize) -> ir::Value {
        self.fb.ins().iadd_imm_s(self.frame, offset as i64)
    }

    fn demand(&self, rank: usize) -> Demand<'_> {
        Demand { block: self.block, plan: self.plan, rank }
    }
}

/// Leaves the function.
fn leave_with(fb: &mut FunctionBuilder<'_>, exit: Exit) {
    let code = fb.ins().iconst(I32, exit as i64);
    fb.ins().return_(&[code]);
}

/// The CLIF type of a uniform value.
fn scalar_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::B1 => ir::types::I8,
        Ty::B32 | Ty::Void => I32,
        Ty::B64 => I64,
    }
}
