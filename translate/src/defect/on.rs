//! The mistakes.

use super::Precaution;
use crate::lane::{Fcc, Fenv, Icc, Node, Op, Shape, Term, Ty, Value};
use crate::libcall::RowOp;
use gcnjit_isa::image::flag as image;
use gcnjit_isa::{Ext, Inst, Op as Row, Operand, Sel, Ty as Type, Unused, Vop1, Vop2};
use gcnjit_rt::Mode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Which one is switched on: its place in [`Defect::ALL`] plus one, or 0.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

macro_rules! defects {
    ($($name:ident $what:literal;)*) => {
        /// A mistake of the translator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Defect { $(#[doc = $what] $name),* }

        impl Defect {
            /// All of them.
            pub const ALL: &[Defect] = &[$(Defect::$name),*];

            /// What is wrong with it.
            pub const fn what(self) -> &'static str {
                match self { $(Defect::$name => $what),* }
            }
        }
    };
}

defects! {
    AbsDropped "abs is ignored";
    NegDropped "neg is ignored";
    NegMisplaced "neg of sources 0 and 1 is confused";
    OmodDropped "omod is ignored";
    OmodHalfAsTwo "omod ÷2 multiplies by 2";
    ClampDropped "clamp of floats is ignored";
    SaturationDropped "clamp of integers is ignored";
    OpSelDropped "op_sel is ignored";
    OpSelHiDropped "op_sel_hi is ignored";
    NegHiDropped "neg_hi is ignored";
    SextDropped "SDWA sext is ignored";
    ByteMisplaced "SDWA reads byte 2 for byte 3";
    PreserveAsPad "SDWA zeroes the bits that are to be preserved";
    RowMaskDropped "DPP row_mask is ignored";
    BankMaskDropped "DPP bank_mask is ignored";
    BoundCtrlSet "DPP lanes without a source are written";
    QuadShifted "DPP quad_perm is off by one lane";
    RowShifted "DPP row_shl is off by one lane";
    SourcesSwapped "sources 1 and 2 of three are confused";
    NegativeInline "negative inline constants are off by one";
    ImmediateUnsigned "SOPK's immediate is not sign-extended";
    CarryToVcc "VOP3's carry goes to VCC, not to the SGPRs named";
    CarryFromVcc "VOP3's carry comes from VCC, not from the SGPRs named";
    OffsetDropped "the offset of FLAT and MUBUF is ignored";
    SecondOffsetDropped "offset1 of DS is ignored";
    OffsetUnsigned "negative offsets of FLAT and SMEM are taken for positive";
    OffenIgnored "MUBUF offen is ignored";
    IdxenIgnored "MUBUF idxen is ignored";
    AtomicResultDropped "an atomic does not return the old value";
    MaskShifted "DMASK of image operations is off by one component";
    ArrayIgnored "image operations take DA for 0";
    UnormIgnored "UNRM of image operations is ignored";
    SubSwapped "subtraction the wrong way round";
    ShiftUnsigned "an arithmetic shift that is logical";
    ProductUnsigned "the high half of a signed product is that of the unsigned one";
    MinUnsigned "a signed minimum that is unsigned";
    CompareUnsigned "a signed comparison that is unsigned";
    CarryOnEqual "unsigned less is less or equal";
    LessOrEqual "a float comparison by less is less or equal";
    UnorderedAsEqual "not less, which is true on NaN, is not less or equal";
    AddFlushes "f32 addition flushes denormals whatever MODE says";
    ProductInOtherMode "f64 multiplication under the rounding of f32";
    MadKeepsDenormals "v_mad_f32 does not flush denormals";
    FmaUnfused "fused multiply-add takes the wrong addend";
    FloorAsTrunc "floor rounds towards zero";
    NearestAsFloor "rint rounds down";
    ConvertUnsigned "conversion to a signed integer is to an unsigned one";
    FromUnsigned "conversion from an unsigned integer is from a signed one";
    HighAsLow "the high half of a 64-bit lane value is the low one";
    HalvesSwapped "the halves of a pair are confused";
    SelectSwapped "a selection by comparison the wrong way round";
    LibcallNearest "f16 libcalls round to nearest whatever MODE says";
    LibcallDenormals "f16 libcalls keep denormals whatever MODE says";
    LeadingZerosSigned "ffbh_u32 is ffbh_i32";
    SqrtInverted "sqrt_f32 calls rsq_f32";
    WrongExtremum "max_f16 is min_f16";
    WrongHalfCounted "v_mbcnt counts in the other half";
    LaneZero "v_readlane reads lane 0";
    BlendDropped "a write under EXEC writes all lanes";
    BlendSwapped "a write under EXEC writes the other lanes";
    CompareUnmasked "a comparison's mask has bits of inactive lanes";
    SccStale "SCC is not written";
    VccHighStale "the high half of VCC is not written";
    ExecHighStale "the high half of EXEC is not written";
    ModeStale "MODE is not written";
    TrapstsStale "TRAPSTS is not written";
    RaisedNearest "exceptions are those of rounding to nearest whatever MODE says";
    RaisedUnflushed "flushed results do not underflow";
    FlushMissing "one VGPR is not written back";
    BranchInverted "branches the wrong way";
    BranchNever "a branch that is never taken";
    ModeKept "code behind a change of MODE is the old one";
    BarrierIgnored "waves do not wait at a barrier";
    IeeeIgnored "IEEE in MODE is ignored";
    Dx10Ignored "DX10_CLAMP in MODE is ignored";
    DenormalsConfused "denormals of f64 and f16 go by the setting for f32";
    RoundingConfused "rounding of f64 and f16 goes by the setting for f32";
    RoundingMirrored "rounding up and rounding down are confused";
    GuardIgnored "a superblock goes on where a guard stops some lanes";
    IdsIgnored "a superblock is for all waves, whatever their work-item ids";
    QuadsHalved "where some of four lanes are active, all are stored";
    FaultIgnored "a scalar load whose value nobody needs is left out";
    OthersUnmasked "DPP beside loads takes what inactive lanes hold";
    LoadsEarly "loads are done before stores to the same memory";
    ScalarsEarly "SGPRs are loaded before stores to the same memory";
    ScalarsShared "SGPRs are loaded once for several waves that store to the same memory";
    InductionUnproven "registers that a loop keeps are not looked at when it begins";
    KeptUnwritten "registers that a loop keeps are not written when it ends";
    GroupAtOnePlace "loads that are checked as one are all from where the first of them is";
    IndexedEarly "an indexed VGPR is read before it is written";
    SelectAsBlend "a selection between a register and another value writes inactive lanes";
}

impl Defect {
    /// What isn't made sure of with it, if it is that.
    const fn precaution(self) -> Option<Precaution> {
        match self {
            Defect::GuardIgnored => Some(Precaution::Guard),
            Defect::IdsIgnored => Some(Precaution::Ids),
            Defect::QuadsHalved => Some(Precaution::Quads),
            Defect::FaultIgnored => Some(Precaution::Fault),
            Defect::OthersUnmasked => Some(Precaution::Lanes),
            Defect::LoadsEarly => Some(Precaution::LoadsApart),
            Defect::ScalarsEarly => Some(Precaution::ScalarsApart),
            Defect::ScalarsShared => Some(Precaution::WavesApart),
            Defect::InductionUnproven => Some(Precaution::Induction),
            Defect::KeptUnwritten => Some(Precaution::Settled),
            Defect::GroupAtOnePlace => Some(Precaution::Group),
            Defect::IndexedEarly => Some(Precaution::Reach),
            Defect::SelectAsBlend => Some(Precaution::Within),
            _ => None,
        }
    }

    /// Whether only kernels show it, for which there are superblocks, on hosts that have the wider back end.
    pub const fn is_of_kernels(self) -> bool {
        !matches!(self.precaution(), None | Some(Precaution::Within))
    }
}

/// Switches one on, or all off.
pub fn switch(defect: Option<Defect>) {
    let place = defect.and_then(|defect| Defect::ALL.iter().position(|other| *other == defect));
    ACTIVE.store(place.map_or(0, |place| place + 1), Relaxed);
}

fn active() -> Option<Defect> {
    ACTIVE.load(Relaxed).checked_sub(1).map(|place| Defect::ALL[place])
}

/// The instruction as the builder sees it.
pub(crate) fn seen(inst: &Inst) -> Inst {
    let mut inst = *inst;
    let Some(defect) = active() else { return inst };
    inst.op = row(defect, inst.op);
    modifiers(defect, &mut inst);
    operands(defect, &mut inst);
    match &mut inst.ext {
        Ext::Sdwa(sdwa) => match defect {
            Defect::SextDropped => sdwa.sext = 0,
            Defect::ByteMisplaced if sdwa.src_sel[0] == Sel::Byte3 => sdwa.src_sel[0] = Sel::Byte2,
            Defect::PreserveAsPad if sdwa.dst_unused == Unused::Preserve => sdwa.dst_unused = Unused::Pad,
            _ => {}
        },
        Ext::Dpp(dpp) => match defect {
            Defect::RowMaskDropped => dpp.row_mask = 15,
            Defect::BankMaskDropped => dpp.bank_mask = 15,
            Defect::BoundCtrlSet => dpp.bound_ctrl = true,
            Defect::QuadShifted if dpp.ctrl < 0x100 => dpp.ctrl ^= 1,
            Defect::RowShifted if (0x101..0x10f).contains(&dpp.ctrl) => dpp.ctrl += 1,
            _ => {}
        },
        _ => {}
    }
    memory(defect, &mut inst);
    inst
}

/// The row whose body is taken instead.
fn row(defect: Defect, op: Row) -> Row {
    match (defect, op) {
        (Defect::LeadingZerosSigned, Row::Vop1(Vop1::v_ffbh_u32)) => Row::Vop1(Vop1::v_ffbh_i32),
        (Defect::WrongExtremum, Row::Vop2(Vop2::v_max_f16)) => Row::Vop2(Vop2::v_min_f16),
        (Defect::WrongHalfCounted, Row::Vop2(Vop2::v_mbcnt_hi_u32_b32)) => Row::Vop2(Vop2::v_mbcnt_lo_u32_b32),
        (_, op) => op,
    }
}

fn modifiers(defect: Defect, inst: &mut Inst) {
    let float = inst.op.info().dsts.iter().any(|ty| ty.is_float());
    let mods = &mut inst.mods;
    match defect {
        Defect::AbsDropped => mods.abs = 0,
        Defect::NegDropped => mods.neg = 0,
        Defect::NegMisplaced => mods.neg = mods.neg & 4 | mods.neg >> 1 & 1 | mods.neg << 1 & 2,
        Defect::OmodDropped => mods.omod = 0,
        Defect::OmodHalfAsTwo if mods.omod == 3 => mods.omod = 1,
        Defect::ClampDropped if float => mods.clamp = false,
        Defect::SaturationDropped if !float => mods.clamp = false,
        Defect::OpSelDropped => mods.op_sel = 0,
        Defect::OpSelHiDropped => mods.op_sel_hi = 7,
        Defect::NegHiDropped => mods.neg_hi = 0,
        _ => {}
    }
}

fn operands(defect: Defect, inst: &mut Inst) {
    let info = inst.op.info();
    let mask = |ty: &Type| *ty == Type::mask;
    match defect {
        Defect::SourcesSwapped if info.srcs.len() == 3 && info.srcs[1] == info.srcs[2] && info.access().is_none() => {
            inst.src.swap(1, 2);
        }
        Defect::NegativeInline => {
            for source in &mut inst.src {
                if let Operand::Inline(code @ 194..=208) = source {
                    *code -= 1;
                }
            }
        }
        Defect::ImmediateUnsigned if matches!(inst.op, Row::Sopk(_)) && !info.srcs.contains(&Type::label) => {
            for source in &mut inst.src {
                if let Operand::Imm(value) = source {
                    *value &= 0xffff;
                }
            }
        }
        Defect::CarryToVcc if info.dsts.get(1).is_some_and(mask) => inst.dst[1] = Operand::VCC,
        Defect::CarryFromVcc if info.srcs.get(2).is_some_and(mask) => inst.src[2] = Operand::VCC,
        _ => {}
    }
}

fn memory(defect: Defect, inst: &mut Inst) {
    let (op, atomic) = (inst.op, matches!(inst.op.info().access(), Some((gcnjit_isa::Access::Atomic, _))));
    let Ext::Mem(mem) = &mut inst.ext else { return };
    match defect {
        Defect::OffsetDropped if matches!(op, Row::Flat(_) | Row::Mubuf(_)) => mem.offset = 0,
        Defect::SecondOffsetDropped => mem.offset1 = 0,
        Defect::OffsetUnsigned => mem.offset = mem.offset.abs(),
        Defect::OffenIgnored if mem.offen && !mem.idxen => mem.offen = false,
        Defect::IdxenIgnored if mem.idxen && !mem.offen => mem.idxen = false,
        Defect::MaskShifted if matches!(op, Row::Mimg(_)) && !atomic => {
            mem.dmask = mem.dmask << 1 & 15 | mem.dmask >> 3;
        }
        Defect::ArrayIgnored if matches!(op, Row::Mimg(_)) => mem.flags &= !image::ARRAY,
        Defect::UnormIgnored if matches!(op, Row::Mimg(_)) => mem.flags &= !image::UNORM,
        Defect::AtomicResultDropped if atomic && !matches!(op, Row::Ds(_)) => {
            mem.glc = false;
            inst.dst[0] = Operand::None;
        }
        _ => {}
    }
}

/// The node that enters a block instead of `node`.
pub(crate) fn made(nodes: &[Node], node: Node) -> Node {
    let Some(defect) = active() else { return node };
    let of = |value: Value| nodes.get(value.index()).map(|node| node.op);
    let [a, b, c] = node.args;
    let with = |op: Op| Node { op, ..node };
    let args = |x: Value, y: Value| Node { args: [x, y, c], ..node };
    let fenv = |fenv: Fenv| Node { fenv, ..node };
    let lane = node.shape == Shape::Lane;
    match (defect, node.op) {
        (Defect::SubSwapped, Op::Sub) => args(b, a),
        (Defect::ShiftUnsigned, Op::Sar) => with(Op::Shr),
        (Defect::ProductUnsigned, Op::MulHiS) => with(Op::MulHiU),
        (Defect::MinUnsigned, Op::MinS) => with(Op::MinU),
        (Defect::CompareUnsigned, Op::Icmp(Icc::Slt)) => with(Op::Icmp(Icc::Ult)),
        (Defect::CarryOnEqual, Op::Icmp(Icc::Ult)) => with(Op::Icmp(Icc::Ule)),
        (Defect::LessOrEqual, Op::Fcmp(Fcc::Lt)) => with(Op::Fcmp(Fcc::Le)),
        (Defect::UnorderedAsEqual, Op::Fcmp(Fcc::Nlt)) => with(Op::Fcmp(Fcc::Nle)),
        (Defect::AddFlushes, Op::FAdd) if node.fenv == Fenv::F32 => fenv(Fenv::Flush),
        (Defect::ProductInOtherMode, Op::FMul) if node.fenv == Fenv::F64 => fenv(Fenv::F32),
        (Defect::MadKeepsDenormals, Op::FAdd | Op::FMul) if node.fenv == Fenv::Flush => fenv(Fenv::F32),
        (Defect::FmaUnfused, Op::Fma) => Node { args: [a, b, b], ..node },
        (Defect::FloorAsTrunc, Op::FFloor) => with(Op::FTrunc),
        (Defect::NearestAsFloor, Op::FNearest) => with(Op::FFloor),
        (Defect::ConvertUnsigned, Op::FToS) => with(Op::FToU),
        (Defect::FromUnsigned, Op::UToF) => with(Op::SToF),
        (Defect::HighAsLow, Op::Hi) if lane => with(Op::Lo),
        (Defect::HalvesSwapped, Op::Pack) if lane => args(b, a),
        (Defect::SelectSwapped, Op::Select) if matches!(of(a), Some(Op::Icmp(_))) => Node { args: [a, c, b], ..node },
        (Defect::LaneZero, Op::ReadLane) => Node { args: [a, first_zero(nodes).unwrap_or(b), c], ..node },
        (Defect::BlendDropped, Op::Select) if of(a) == Some(Op::Spread) => Node { args: [a, b, b], ..node },
        (Defect::BlendSwapped, Op::Select) if of(a) == Some(Op::Spread) => Node { args: [a, c, b], ..node },
        (Defect::CompareUnmasked, Op::And) if node.ty == Ty::B1 && of(b) == Some(Op::Spread) => args(a, a),
        (_, Op::Call) => Node { imm: called(defect, node.imm), ..node },
        _ => node,
    }
}

/// A uniform 0, if there is one already.
fn first_zero(nodes: &[Node]) -> Option<Value> {
    let zero = |node: &Node| node.op == Op::Const && node.ty == Ty::B32 && node.imm == 0;
    nodes.iter().position(zero).and_then(|at| u32::try_from(at).ok()).map(Value)
}

/// The libcall and immediate that are called instead of these.
fn called(defect: Defect, imm: u64) -> u64 {
    const HALF: [RowOp; 5] = [RowOp::add_f16, RowOp::sub_f16, RowOp::mul_f16, RowOp::mad_f16, RowOp::fma_f16];
    let call = imm as u32;
    let is = |op: RowOp| call == op as u32;
    let other = |op: RowOp| imm & !0xffff_ffff | op as u64;
    match defect {
        Defect::LibcallNearest if HALF.into_iter().any(is) => imm & !(3 << 32),
        Defect::LibcallDenormals if HALF.into_iter().any(is) => imm & !(0xc << 32),
        Defect::RaisedNearest if is(RowOp::raise) => imm & !(3 << 40),
        Defect::RaisedUnflushed if is(RowOp::raise) => imm & !(8 << 40),
        Defect::SqrtInverted if is(RowOp::sqrt_f32) => other(RowOp::rsq_f32),
        _ => imm,
    }
}

/// Whether an effect is forgotten.
pub(crate) fn drops(op: Op, imm: u64) -> bool {
    match active() {
        Some(Defect::SccStale) => op == Op::SetScc,
        Some(Defect::VccHighStale) => op == Op::SetSgpr && imm == 107,
        Some(Defect::ExecHighStale) => op == Op::SetSgpr && imm == 127,
        Some(Defect::ModeStale) => op == Op::SetMode,
        Some(Defect::TrapstsStale) => op == Op::SetTrapsts,
        Some(Defect::FlushMissing) => op == Op::SetVgpr && imm == 3,
        _ => false,
    }
}

/// Whether something isn't made sure of.
pub(crate) fn forgets(precaution: Precaution) -> bool {
    active().and_then(Defect::precaution) == Some(precaution)
}

/// How a block ends instead.
pub(crate) fn ended(term: Term) -> Term {
    match (active(), term) {
        (Some(Defect::BranchInverted), Term::Branch(condition, yes, no)) => Term::Branch(condition, no, yes),
        (Some(Defect::BranchNever), Term::Branch(_, _, no)) => Term::Jump(no),
        (Some(Defect::ModeKept), Term::Reenter(pc)) => Term::Jump(pc),
        (Some(Defect::BarrierIgnored), Term::Barrier(pc)) => Term::Jump(pc),
        (_, term) => term,
    }
}

/// The MODE that a block is made for instead.
pub(crate) fn mode(mode: Mode) -> Mode {
    let bits = mode.0;
    Mode(match active() {
        Some(Defect::IeeeIgnored) => bits & !(1 << 9),
        Some(Defect::Dx10Ignored) => bits & !(1 << 8),
        Some(Defect::DenormalsConfused) => bits & !0xc0 | bits << 2 & 0xc0,
        Some(Defect::RoundingConfused) => bits & !0xc | bits << 2 & 0xc,
        Some(Defect::RoundingMirrored) if matches!(bits & 3, 1 | 2) => bits ^ 3,
        _ => bits,
    })
}
