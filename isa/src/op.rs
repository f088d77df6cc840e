//! What the table says of an operation. The rows themselves are in [`crate::table`].

use crate::gfx::{Feature, Gen};
use crate::operand::Ty;
use crate::table::Op;

/// An opcode number and the encoding it counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// In the family's own encoding (and, for VOP1, VOP2 and VOPC, promoted into VOP3 by arithmetic).
    Native(u16),
    /// Only in VOP3, with this number: an operation that lost its short form on this generation.
    Vop3(u16),
}

/// What a row says beyond numbers and operand types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The last source before an implicit `scc` is the destination register itself (mac, bitset, cmov, and
    /// d16 loads, which keep the other half).
    Acc,
    /// The mnemonic on one generation, where LLVM spells it differently there.
    Was(Gen, &'static str),
    /// Present only on targets with the feature.
    Only(Feature),
    /// A 32-bit constant follows the instruction as its source of this index (madmk 1, madak 2).
    Konst(u8),
    /// Two results or a scalar result in VOP3 use the VOP3b layout, with SDST in place of abs and clamp.
    Vop3b,
    /// Its opcode is reserved in VOP3. (The manuals of gfx6 and gfx7 have lane operations there all the same.)
    NoVop3,
    /// The instruction may end, redirect or suspend (s_barrier, global wave sync) the wave: it ends a basic block.
    EndsBlock,
    /// Reads lanes other than its own, or turns lanes into scalars: never inside a strip-mined segment.
    CrossLane,
    /// Moves `bytes` a lane (memory families) or in all (SMEM); 0 when a descriptor's format decides.
    Mem(Access, u8),
    /// The result is a scalar register in spite of the vector encoding (readlane, readfirstlane).
    ScalarDst,
    /// The result depends on the lane's number, not only on the sources.
    LaneId,
    /// DS: two element offsets instead of one byte offset; the number is the bytes a unit of them stands for.
    Offsets(u16),
    /// DS: always works on the global data share, whatever the GDS bit says.
    Gds,
    /// DS: the address comes from M0 and the lane's number; position 0 of the sources is None.
    NoAddr,
    /// VOP3 on gfx9: op_sel picks halves of 16-bit operands.
    OpSel,
    /// VOP3P: each source is f32, or the f16 half that op_sel picks when its op_sel_hi bit is set.
    Mix,
    /// FLAT: exists in the scratch segment too.
    Scratch,
    /// The source 0 field of the VOP3 form holds an interpolation attribute; see [`crate::Mem`].
    Attr,
    /// The hardware approximates the function; the executors come this many units in the last place close to the
    /// true value.
    Within(u8),
    /// Filters texels: results are as precise as a sampler's fixed-point numbers.
    Filters,
    /// What it returns is the machine's business: a clock, or where the wave runs.
    Host,
    /// Reads a register that is in no field.
    Reads(Implicit),
    /// Writes a register that is in no field.
    Writes(Implicit),
}

/// Registers that instructions use without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implicit {
    /** VCC */
    Vcc,
    /** EXEC */
    Exec,
    /** M0 */
    M0,
    /** MODE */
    Mode,
    /** FLAT_SCRATCH */
    FlatScratch,
}

/// What a memory operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads only.
    Load,
    /// Writes only.
    Store,
    /// Reads, computes, writes; returns the old value if GLC (or the DS row) says so.
    Atomic,
}

/// How close the executors come to what the hardware returns. See docs/fidelity.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// The same bits, as far as the documents specify the operation.
    Exact,
    /// Within `ulps` units in the last place of the true value, and the same bits in both executors on every host. The
    /// hardware approximates the function by means of its own, so its bits may be others.
    Approximate {
        /// The bound.
        ulps: u8,
    },
    /// As precise as a sampler's fixed-point numbers, and the same bits in both executors on every host. The hardware
    /// may round otherwise on the way.
    Filtered,
    /// Whatever the host has to say: a clock, or where the wave runs.
    HostDefined,
}

impl std::fmt::Display for Fidelity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fidelity::Exact => f.write_str("exact"),
            Fidelity::Approximate { ulps } => write!(f, "approximate, within {ulps} ulp"),
            Fidelity::Filtered => f.write_str("filtered"),
            Fidelity::HostDefined => f.write_str("host-defined"),
        }
    }
}

/// One row: an operation, whatever encodings it has.
#[derive(Debug)]
pub struct OpInfo {
    /// LLVM's mnemonic without an encoding suffix, as the newest generation that has it spells it.
    pub name: &'static str,
    /// The opcode on gfx6, gfx7, gfx8, gfx9.
    pub codes: [Option<Code>; 4],
    /// Result types, implicit ones (scc) last.
    pub dsts: &'static [Ty],
    /// Source types, implicit ones last.
    pub srcs: &'static [Ty],
    /// Whether both executors run it; otherwise it stops translation as unimplemented.
    pub executed: bool,
    /// Exceptions.
    pub notes: &'static [Note],
}

impl OpInfo {
    /// The opcode on `generation`.
    pub const fn code(&self, generation: Gen) -> Option<Code> {
        self.codes[generation as usize]
    }

    /// The mnemonic on `generation`.
    pub fn name_on(&self, generation: Gen) -> &'static str {
        let renamed = self.notes.iter().find_map(|note| match note {
            Note::Was(g, name) if *g == generation => Some(*name),
            _ => None,
        });
        renamed.unwrap_or(self.name)
    }

    /// Whether the row carries `note`.
    pub fn has(&self, note: Note) -> bool {
        self.notes.contains(&note)
    }

    /// How close the executors come to the hardware.
    pub fn fidelity(&self) -> Fidelity {
        let noted = self.notes.iter().find_map(|note| match note {
            Note::Within(ulps) => Some(Fidelity::Approximate { ulps: *ulps }),
            Note::Filters => Some(Fidelity::Filtered),
            Note::Host => Some(Fidelity::HostDefined),
            _ => None,
        });
        noted.unwrap_or(Fidelity::Exact)
    }

    /// The memory behaviour, if the row has one: what it does, and bytes a lane.
    pub fn access(&self) -> Option<(Access, u8)> {
        self.notes.iter().find_map(|note| match note {
            Note::Mem(access, bytes) => Some((*access, *bytes)),
            _ => None,
        })
    }
}

impl Op {
    /// Whether it is one of the instructions that VSKIP in MODE skips: vector ALU, vector memory, LDS, export.
    pub fn obeys_vskip(self) -> bool {
        use Op::{Smem, Sop1, Sop2, Sopc, Sopk, Sopp};
        !matches!(self, Sop1(_) | Sop2(_) | Sopc(_) | Sopk(_) | Sopp(_) | Smem(_))
    }

    /// The opcode of the VOP3 form of a VOP1, VOP2, VOPC or VINTRP operation, where it has one.
    pub fn promoted(self, generation: Gen) -> Option<u16> {
        let old = generation < Gen::Gfx8;
        let base = match self {
            Op::Vopc(_) => 0,
            Op::Vop2(_) => 0x100,
            Op::Vop1(_) if old => 0x180,
            Op::Vop1(_) => 0x140,
            Op::Vintrp(_) if !old => 0x270,
            _ => return None,
        };
        match self.info().code(generation)? {
            Code::Native(native) if !self.info().has(Note::NoVop3) => Some(base + native),
            // The manuals of gfx6 and gfx7 list the lane operations in VOP3, though LLVM does not have them there.
            Code::Native(native) if old && self.info().has(Note::CrossLane) => Some(base + native),
            _ => None,
        }
    }
}
