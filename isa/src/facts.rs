//! What follows from a row without being written in it: encodings, implicit operands, counters, memory.
//!
//! Rows stay short because a family has most of this in common. What depends on the instruction rather than the row
//! (the GDS bit, a FLAT segment) is asked with its [`Mem`] fields.

use crate::gfx::{Feature, Gen, Target};
use crate::inst::{Format, Inst, Mem};
use crate::op::{Access, Code, Implicit, Note};
use crate::operand::Ty;
use crate::table::{Ds, Op, Smem, Sopp, Vop1};

/// What an instruction adds to the counters that `s_waitcnt` waits for, and what takes away as it completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Vector memory: data in VGPRs, or written.
    pub vmcnt: u8,
    /// Exports and GDS, on gfx6 vector memory writes: data has left the VGPRs.
    pub expcnt: u8,
    /// LDS, GDS, scalar memory (1 for one dword, else 2) and messages.
    pub lgkmcnt: u8,
}

/// Which memory an operation reaches, by its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// SMEM: through the scalar cache.
    Scalar,
    /// DS: the local or global data share.
    Share,
    /// MUBUF, MTBUF: through a buffer resource.
    Buffer,
    /// MIMG: through an image resource.
    Image,
    /// FLAT: by address; the local data share and scratch through apertures.
    Flat,
}

/// What an operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Where.
    pub space: Space,
    /// What.
    pub access: Access,
    /// Bytes a lane, or in all for SMEM; 0 when a resource's format decides.
    pub bytes: u8,
}

/// The word that may follow a 32-bit vector encoding in the place of source 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Second {
    /// Sub-dword addressing.
    Sdwa,
    /// Lane movement.
    Dpp,
}

/// A way to encode an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// The encoding.
    pub format: Format,
    /// The number in its opcode field.
    pub opcode: u16,
    /// What follows it.
    pub second: Option<Second>,
}

impl Op {
    /// The encoding that the family is named after; for an operation that only VOP3 has, that.
    pub(crate) fn native_format(self) -> Format {
        match self {
            Op::Sop2(_) => Format::Sop2,
            Op::Sopk(_) => Format::Sopk,
            Op::Sop1(_) => Format::Sop1,
            Op::Sopc(_) => Format::Sopc,
            Op::Sopp(_) => Format::Sopp,
            Op::Smem(_) => Format::Smem,
            Op::Vop2(_) => Format::Vop2,
            Op::Vop1(_) => Format::Vop1,
            Op::Vopc(_) => Format::Vopc,
            Op::Vop3(_) => self.long_format(),
            Op::Vop3p(_) => Format::Vop3p,
            Op::Ds(_) => Format::Ds,
            Op::Mubuf(_) => Format::Mubuf,
            Op::Mtbuf(_) => Format::Mtbuf,
            Op::Flat(_) => Format::Flat,
            Op::Mimg(_) => Format::Mimg,
            Op::Vintrp(_) => Format::Vintrp,
            Op::Exp(_) => Format::Exp,
        }
    }

    /// The VOP3 layout.
    pub(crate) fn long_format(self) -> Format {
        if self.info().has(Note::Vop3b) { Format::Vop3b } else { Format::Vop3a }
    }

    /// Every way to encode the operation on `generation`; none if it does not have it.
    pub fn encodings(self, generation: Gen) -> Vec<Encoding> {
        let encoding = |format, opcode| Encoding { format, opcode, second: None };
        let native = match self.info().code(generation) {
            None => return Vec::new(),
            Some(Code::Vop3(opcode)) => return vec![encoding(self.long_format(), opcode)],
            Some(Code::Native(opcode)) => encoding(self.native_format(), opcode),
        };
        let second = [(Second::Sdwa, self.takes_sdwa(generation)), (Second::Dpp, self.takes_dpp(generation))];
        let seconds = second.into_iter().filter(|(_, takes)| *takes);
        let mut encodings = vec![native];
        encodings.extend(seconds.map(|(second, _)| Encoding { second: Some(second), ..native }));
        encodings.extend(self.promoted(generation).map(|opcode| encoding(self.long_format(), opcode)));
        encodings
    }

    /// Whether an SDWA word may follow the 32-bit encoding.
    pub fn takes_sdwa(self, generation: Gen) -> bool {
        let refused = generation == Gen::Gfx9 && self.info().has(Note::Acc);
        self.takes_second(generation) && !refused
    }

    /// Whether a DPP word may follow the 32-bit encoding.
    pub fn takes_dpp(self, generation: Gen) -> bool {
        self.takes_second(generation) && !matches!(self, Op::Vopc(_))
    }

    /// Whether the operation has a 32-bit vector encoding that leaves room for a second word.
    fn takes_second(self, generation: Gen) -> bool {
        let info = self.info();
        let wide = |ty: &Ty| ty.dwords() > 1 && *ty != Ty::mask;
        let fixed = |note: &Note| matches!(note, Note::NoVop3 | Note::Konst(_));
        generation >= Gen::Gfx8
            && matches!(self, Op::Vop1(_) | Op::Vop2(_) | Op::Vopc(_))
            && self != Op::Vop1(Vop1::v_clrexcp)
            && matches!(info.code(generation), Some(Code::Native(_)))
            && !info.dsts.iter().chain(info.srcs).any(wide)
            && !info.notes.iter().any(fixed)
    }

    /// The feature that a target must have for the operation, beyond its generation.
    pub fn feature(self) -> Option<Feature> {
        self.info().notes.iter().find_map(|note| match note {
            Note::Only(feature) => Some(*feature),
            _ => None,
        })
    }

    /// The targets of `generation` that have the operation.
    pub fn targets(self, generation: Gen) -> impl Iterator<Item = Target> {
        let of = move |target: &Target| target.generation() == generation && target.supports(self);
        Target::ALL.iter().copied().filter(of)
    }

    /// Whether lanes see each other's values, or become scalars.
    pub fn crosses_lanes(self) -> bool {
        self.info().has(Note::CrossLane)
    }

    /// What the operation does to memory, if anything.
    pub fn memory(self) -> Option<Memory> {
        let (access, bytes) = self.info().access()?;
        let space = match self {
            Op::Smem(_) => Space::Scalar,
            Op::Ds(_) => Space::Share,
            Op::Mubuf(_) | Op::Mtbuf(_) => Space::Buffer,
            Op::Mimg(_) => Space::Image,
            _ => Space::Flat,
        };
        Some(Memory { space, access, bytes })
    }

    /// Whether the operation works lane by lane under EXEC, or at least asks for it.
    fn is_under_exec(self) -> bool {
        match self {
            Op::Sop2(_) | Op::Sopk(_) | Op::Sop1(_) | Op::Sopc(_) | Op::Sopp(_) | Op::Smem(_) => false,
            // v_readlane_b32 and v_writelane_b32 reach a lane whether it is enabled or not.
            Op::Vop2(_) => !self.crosses_lanes(),
            Op::Vop1(Vop1::v_nop | Vop1::v_clrexcp) | Op::Ds(Ds::ds_nop) => false,
            Op::Ds(_) => true,
            _ => !self.info().dsts.is_empty() || !self.info().srcs.is_empty(),
        }
    }

    /// Registers that the operation reads on `generation` though no field names them.
    ///
    /// FLAT_SCRATCH is for the flat and scratch segments of FLAT, not for global. A MUBUF load to LDS reads M0 besides.
    pub fn implicit_reads(self, generation: Gen) -> Vec<Implicit> {
        let info = self.info();
        let float = info.dsts.iter().chain(info.srcs).any(|ty| ty.is_float());
        let alu = matches!(self.family(), "vop1" | "vop2" | "vopc" | "vop3" | "vop3p" | "vintrp");
        // From gfx9 on nothing but the allocation limits LDS addresses.
        let limit = matches!(self, Op::Ds(_)) && generation < Gen::Gfx9 && info.access().is_some();
        [Implicit::Vcc, Implicit::Exec, Implicit::M0, Implicit::Mode, Implicit::FlatScratch]
            .into_iter()
            .filter(|register| match register {
                _ if info.has(Note::Reads(*register)) => true,
                Implicit::Exec => self.is_under_exec(),
                Implicit::M0 => limit,
                Implicit::Mode => alu && float,
                Implicit::FlatScratch => matches!(self, Op::Flat(_)),
                Implicit::Vcc => false,
            })
            .collect()
    }

    /// Registers that the operation writes though no field names them.
    pub fn implicit_writes(self) -> Vec<Implicit> {
        let written = |note: &Note| match note {
            Note::Writes(register) => Some(*register),
            _ => None,
        };
        self.info().notes.iter().filter_map(written).collect()
    }

    /// What an instruction with the memory fields `mem` adds to the counters of `s_waitcnt`.
    pub fn counters(self, generation: Gen, mem: &Mem) -> Counters {
        let access = self.info().access().map(|(access, _)| access);
        match self {
            Op::Smem(op) => Counters { lgkmcnt: scalar_count(op), ..Counters::default() },
            Op::Ds(_) => {
                let global = mem.gds || self.info().has(Note::Gds);
                Counters { lgkmcnt: 1, expcnt: u8::from(global), vmcnt: 0 }
            }
            Op::Mubuf(_) | Op::Mtbuf(_) | Op::Mimg(_) => {
                let data_leaves = generation == Gen::Gfx6 && matches!(access, Some(Access::Store | Access::Atomic));
                Counters { vmcnt: 1, expcnt: u8::from(data_leaves), lgkmcnt: 0 }
            }
            Op::Flat(_) => Counters { vmcnt: 1, lgkmcnt: u8::from(mem.seg == 0), expcnt: 0 },
            Op::Exp(_) => Counters { expcnt: 1, ..Counters::default() },
            Op::Sopp(Sopp::s_sendmsg | Sopp::s_sendmsghalt) => Counters { lgkmcnt: 1, ..Counters::default() },
            _ => Counters::default(),
        }
    }
}

/// Scalar memory counts 1 for a dword and 2 for more; reading the time is like reading two.
fn scalar_count(op: Smem) -> u8 {
    let info = Op::Smem(op).info();
    let data = info.dsts.first().or(info.srcs.get(2)).map_or(1, |ty| ty.dwords().max(1));
    data.min(2)
}

impl Inst {
    /// What the instruction adds to the counters of `s_waitcnt`.
    pub fn counters(&self, generation: Gen) -> Counters {
        self.op.counters(generation, &self.mem())
    }
}
