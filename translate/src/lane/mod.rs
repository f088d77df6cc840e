//! The lane IR: what a basic block computes, in SSA form.
//!
//! A value is either *uniform* (one scalar for the wave) or has a value a *lane*. The shape follows from the
//! arguments: an operation on uniform values is uniform, so whatever a kernel computes from scalars alone stays
//! scalar, even in VGPRs. Floats are bits; the operation says how they are read. A [`Block`] is a list of nodes
//! in program order: pure ones, reads of registers as they stood at the last [`Op::Access`], and effects. Between
//! effects that leave the block (accesses may fault) the register file need not be current.

mod bits;
pub mod fold;
mod pairs;
pub mod print;
mod table;

pub use print::Listing;
pub use table::Table;

use crate::defect;
use crate::libcall::RowOp;
use gcnjit_rt::wave::reg;
use rustc_hash::FxHashMap as HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// A value: the index of the node that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// No argument.
    pub const NONE: Value = Value(u32::MAX);

    /// Position in [`Block::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Width of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// True or false.
    B1,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// Nothing: the node is an effect.
    Void,
}

impl Ty {
    /// All bits of a number.
    pub fn ones(self) -> u64 {
        if self == Ty::B64 { u64::MAX } else { u32::MAX.into() }
    }
}

/// One for the wave, or one a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// The same in all lanes.
    Uniform,
    /// Its own in each lane.
    Lane,
}

/// Integer comparisons.
#[allow(missing_docs, reason = "the usual names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Icc {
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}

/// Float comparisons: false on NaN, but for `Uno` and the negated ones.
#[allow(missing_docs, reason = "the usual names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fcc {
    Eq,
    Lt,
    Le,
    Ord,
    Uno,
    Neq,
    Nlt,
    Nle,
}

/// The floating-point environment an operation needs (see [`crate::fenv`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fenv {
    /// Any will do.
    #[default]
    Any,
    /// MODE's rounding and denormals of f32.
    F32,
    /// MODE's rounding and denormals of f64 and f16.
    F64,
    /// MODE's rounding of f32, denormals flushed (v_mad_f32).
    Flush,
    /// As `F64`, but results keep denormals (v_div_fmas_f64).
    F64Keep,
}

/// What a node does. Arguments are in order; a doc comment holds for the variants up to the next one.
#[allow(missing_docs, reason = "variants of a group share the comment at its head")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `imm`.
    Const,
    /// The lane's number.
    LaneId,
    /// The coordinate x of the wave's work-group. Of superblocks for waves that are run together ([`crate::pass::alike`]) only:
    /// there it is a matter of lanes.
    GroupId,
    /// Register reads: `imm` is the register, plus the epoch in the high half.
    Sgpr,
    /// VGPR `imm`.
    Vgpr,
    /// SCC.
    Scc,
    /// MODE.
    Mode,
    /// TRAPSTS.
    Trapsts,
    /// VGPR `imm` + `args[0]` (uniform), and its writing counterpart: `args[0]` under the mask `args[1]` to
    /// VGPR `imm` + `args[2]`. Registers past the last allocated one are the hardware's affair: the sum is modulo 256. Bits
    /// 15:8 of a read's `imm` are what `args[0]` is at most, 255 for any ([`indexed_vgprs`]).
    VgprAt,
    SetVgprAt,
    /// SGPR `imm` + `args[0]`, and its writing counterpart: `args[0]` to SGPR `imm` + `args[1]`. The sum is less than
    /// the number of numbered SGPRs.
    SgprAt,
    SetSgprAt,
    /// Integers of B32 or B64; And, Or, Xor of B1 too.
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    /// High half of the unsigned, signed 32-bit product.
    MulHiU,
    MulHiS,
    /// Full 64-bit product of the unsigned low 32 bits.
    MulWide,
    /// Shifts; the amount is B32 and taken modulo the width.
    Shl,
    /// Logical right.
    Shr,
    /// Arithmetic right.
    Sar,
    /// Minimum and maximum.
    MinU,
    MaxU,
    MinS,
    MaxS,
    /// Count of ones; uniform only.
    Popcnt,
    /// Trailing zeros, the width for 0; uniform only.
    Ctz,
    /// Leading zeros; uniform only.
    Clz,
    /// Bits in reverse order; uniform only.
    Bitrev,
    /// Integer comparison.
    Icmp(Icc),
    /// Float comparison.
    Fcmp(Fcc),
    /// B1, if true, if false.
    Select,
    /// Float arithmetic on B32 or B64, IEEE under the node's environment.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FSqrt,
    /// Fused.
    Fma,
    /// Rounding to an integral value.
    FFloor,
    FCeil,
    FTrunc,
    FNearest,
    /// Integer to float, B32 to the node's width.
    SToF,
    UToF,
    /// Float to B32 integer, towards zero, saturating, NaN to 0.
    FToS,
    FToU,
    /// f32 to f64 and back.
    Promote,
    Demote,
    /// Low and high half of a B64.
    Lo,
    Hi,
    /// B64 of low, high.
    Pack,
    /// B32 to B64.
    SExt,
    /// A bit a lane of a uniform B64.
    Spread,
    /// A dword of a plain load of SGPRs, of superblocks ([`crate::pass::superblock`]) only: the load's number, times 256, plus
    /// the dword's, from a base `args[0]`.
    ScalarLoad,
    /// All lanes' B1 as a uniform B64. Bits outside of `args[1]`, if that is there, may be any.
    Bits,
    /// Lane `args[1]` (uniform, modulo 64) of a lane value.
    ReadLane,
    /// A dword that an access has just loaded: its number, times 256, plus the dword's. Of fused parts only
    /// ([`crate::pass::fuse`]).
    Loaded,
    /// A row of dwords from LDS, at M0 = `args[0]` (uniform): `imm` is a [`crate::libcall::LdsRow`], plus the epoch in the
    /// high half.
    LdsRow,
    /// A 64-lane libcall: `imm` is the index in [`crate::libcall::TABLE`] (low half) and its immediate (high).
    Call,
    /// A libcall that the wider back end computes in registers ([`crate::wide::inline`]): `imm` as for `Call`.
    Inline,
    /// A libcall on uniform values, likewise.
    CallUniform,
    /// Effects. Register `imm` becomes `args[0]`, in all lanes.
    SetVgpr,
    SetSgpr,
    SetScc,
    /// MODE becomes `args[0]`.
    SetMode,
    /// TRAPSTS becomes `args[0]`.
    SetTrapsts,
    /// Memory access `imm` of the block's list; registers are current before it.
    Access,
    /// EXEC changed: later nodes belong to later segments.
    Cut,
    /// A superblock ([`crate::pass::superblock`]) gives up unless `args[0]` is true in all active lanes.
    Assume,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Width of the result.
    pub ty: Ty,
    /// Shape of the result.
    pub shape: Shape,
    /// The environment it needs.
    pub fenv: Fenv,
    /// Arguments; unused ones are [`Value::NONE`].
    pub args: [Value; 3],
    /// Immediate.
    pub imm: u64,
}

impl Node {
    /// The arguments that are used.
    pub fn args(&self) -> impl Iterator<Item = Value> + '_ {
        self.args.iter().copied().filter(|v| *v != Value::NONE)
    }

    /// Whether it writes a half of EXEC.
    pub fn writes_exec(&self) -> bool {
        self.op == Op::SetSgpr && self.imm as usize & !1 == reg::EXEC
    }

    /// The mask outside of which a [`Op::Bits`] may have any bits.
    pub fn bits_within(&self) -> Option<Value> {
        (self.op == Op::Bits && self.args[1] != Value::NONE).then_some(self.args[1])
    }

    /// Which libcall on rows it is.
    pub fn row_op(&self) -> RowOp {
        RowOp::ALL[(self.imm & 0xffff_ffff) as usize]
    }

    /// Whether the value is a row that is made in memory, outside of the segments' loops.
    pub fn is_row(&self) -> bool {
        matches!(self.op, Op::Call | Op::VgprAt | Op::LdsRow)
    }

    /// Whether it must stay even if nobody uses its value.
    pub fn is_effect(&self) -> bool {
        self.ty == Ty::Void
    }
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// Go to the guest address.
    Jump(u64),
    /// If the B1 is true to the first, else to the second.
    Branch(Value, u64, u64),
    /// Go to the guest address in a uniform B64, as calls and returns do.
    Indirect(Value),
    /// Leave translated code and go on at the guest address in a uniform B64.
    Dynamic(Value),
    /// The wave ends, with its program counter here.
    End(u64),
    /// Wait for the work-group, then go on at the guest address.
    Barrier(u64),
    /// Give up the rest of the slice, then go on at the guest address.
    Yield(u64),
    /// Leave translated code and go on at the address: MODE changed, or the code there is found later.
    Reenter(u64),
    /// The wave stops here with the fault `TrapInstruction`.
    Trap(u64),
    /// The wave stops here with the fault `Halt`.
    Halt(u64),
    /// The wave stops here with the fault `Undocumented`.
    Undocumented(u64),
    /// Leave translated code for the instruction here, at which waves of different work-groups meet.
    Meet(u64),
}

/// The VGPRs that a read of an indexed one may be of, given its `imm`.
pub fn indexed_vgprs(imm: u64) -> Range<usize> {
    let (first, most) = ((imm & 0xff) as usize, (imm >> 8 & 0xff) as usize);
    // From the last one on it goes on with the first.
    if first + most < 256 { first..first + most + 1 } else { 0..256 }
}

impl Term {
    /// The guest addresses that control goes to next, where these are known.
    pub fn successors(&self) -> impl Iterator<Item = u64> {
        let [first, second] = match *self {
            Term::Jump(pc) | Term::Barrier(pc) | Term::Yield(pc) => [Some(pc), None],
            Term::Branch(_, yes, no) => [Some(yes), Some(no)],
            _ => [None; 2],
        };
        first.into_iter().chain(second)
    }

    /// The value that says where control goes.
    pub fn value(&self) -> Option<Value> {
        match *self {
            Term::Branch(value, ..) | Term::Indirect(value) | Term::Dynamic(value) => Some(value),
            _ => None,
        }
    }
}

/// A basic block of lane IR.
pub struct Block {
    /// Guest address of its first instruction.
    pub pc: u64,
    /// Guest address behind its last one.
    pub end: u64,
    /// Instructions in it.
    pub instructions: u32,
    /// Nodes in program order.
    pub nodes: Vec<Node>,
    /// Memory accesses, as `Op::Access` counts them.
    pub accesses: Vec<crate::access::Access>,
    /// The registers that each access reads from the register file.
    pub access_reads: Vec<crate::pass::registers::RegisterSet>,
    /// The end.
    pub term: Term,
    /// Address of the instruction that nodes are being appended for; when all are there, the last one's.
    pub at: u64,
    /// The same for each node, when it was appended.
    origins: Vec<u64>,
    numbering: HashMap<Node, Value>,
}

impl Block {
    /// The reads of the halves of EXEC, if the value is both of them.
    pub fn exec_halves(&self, value: Value) -> Option<[&Node; 2]> {
        let pair = self.node(value);
        let half = |i: usize| {
            let half = self.node(pair.args[i]);
            (half.op == Op::Sgpr && half.imm & 0xff == (reg::EXEC + i) as u64).then_some(half)
        };
        if pair.op == Op::Pack { Some([half(0)?, half(1)?]) } else { None }
    }

    /// An empty block at `pc`.
    pub fn new(pc: u64) -> Block {
        let numbering = HashMap::default();
        Block {
            pc,
            end: pc,
            instructions: 0,
            nodes: Vec::new(),
            accesses: Vec::new(),
            access_reads: Vec::new(),
            term: Term::End(pc),
            at: pc,
            origins: Vec::new(),
            numbering,
        }
    }

    /// Makes room for so many nodes more.
    pub fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.origins.reserve(nodes);
        self.numbering.reserve(nodes);
    }

    /// The node of a value.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.index()]
    }

    /// Address of the instruction that first asked for the value.
    pub fn origin(&self, value: Value) -> u64 {
        self.origins[value.index()]
    }

    /// Appends a pure node, or finds the same one (common subexpressions never enter the list).
    pub fn pure(&mut self, node: Node) -> Value {
        match self.numbering.entry(node) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let value = *place.insert(Value(self.nodes.len() as u32));
                self.push(node);
                value
            }
        }
    }

    /// Appends a node as it is.
    pub fn append(&mut self, node: Node) -> Value {
        let value = Value(self.nodes.len() as u32);
        self.numbering.entry(node).or_insert(value);
        self.nodes.push(node);
        self.origins.push(self.at);
        value
    }

    /// A node that is there.
    pub fn find(&self, node: &Node) -> Option<Value> {
        self.numbering.get(node).copied()
    }

    /// Appends an effect.
    pub fn effect(&mut self, op: Op, args: [Value; 3], imm: u64) {
        if !defect::drops(op, imm) {
            self.push(Node { op, ty: Ty::Void, shape: Shape::Uniform, fenv: Fenv::Any, args, imm });
        }
    }

    /// Forgets lane values for the purpose of finding them again: after a segment boundary it is cheaper to
    /// compute anew than to carry over. Uniform values stay.
    pub fn forget_lanes(&mut self) {
        self.numbering.retain(|node, _| node.shape == Shape::Uniform);
    }

    fn push(&mut self, node: Node) {
        self.nodes.push(defect::made(&self.nodes, node));
        self.origins.push(self.at);
    }
}
