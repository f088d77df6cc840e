//! A test case: a program, the waves that run it, or the launches if it is a kernel, and what is in memory.
//!
//! Guest addresses differ from process to process, so a case has none: a register that points to memory holds an
//! offset, and a [`Pointer`] says what is added when the case is run.

use crate::program::Program;
use gcnjit_isa::Target;
use gcnjit_rt::Wave;

/// The memories of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// 8192 bytes.
    A,
    /// 524 bytes: an odd end.
    B,
    /// 1024 bytes, and behind them [`READ_ONLY`] that can only be read.
    C,
    /// The waves' scratch, 256 bytes a lane.
    Scratch,
    /// The local data share.
    Lds,
    /// The global data share.
    Gds,
    /// Where the program is.
    Code,
}

/// Bytes behind [`Space::C`] that are read-only.
pub const READ_ONLY: u64 = 1024;
/// Bytes of scratch that a lane has.
pub const SCRATCH: u64 = 256;

impl Space {
    /// Those that have contents.
    pub const ALL: [Space; 6] = [Space::A, Space::B, Space::C, Space::Scratch, Space::Lds, Space::Gds];

    /// Bytes that can be written and are compared.
    pub const fn size(self) -> u64 {
        match self {
            Space::A => 8192,
            Space::B => 524,
            Space::C => 1024,
            Space::Scratch => SCRATCH * 64,
            Space::Lds => 2048,
            Space::Gds => 64 << 10,
            Space::Code => 4096,
        }
    }

    /// What filetests call it.
    pub const fn name(self) -> &'static str {
        match self {
            Space::A => "a",
            Space::B => "b",
            Space::C => "c",
            Space::Scratch => "scratch",
            Space::Lds => "lds",
            Space::Gds => "gds",
            Space::Code => "code",
        }
    }

    /// The space with a name.
    pub fn named(name: &str) -> Option<Space> {
        Space::ALL.into_iter().chain([Space::Code]).find(|space| space.name() == name)
    }
}

/// A register that holds a pointer's low half; the next one holds the high half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// Scalar.
    Sgpr(u8),
    /// Vector.
    Vgpr(u8),
    /// Scalar, the first of an image resource: its low 40 bits count units of 256 bytes.
    Resource(u8),
}

/// That a register pair's 64-bit value counts from the start of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The pair.
    pub at: Register,
    /// Lanes of a vector register for which it holds.
    pub lanes: u64,
    /// Where it points; neither LDS nor GDS, which have no addresses.
    pub to: Space,
}

/// A launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Work-items in each dimension.
    pub items: [u32; 3],
    /// Those of a work-group.
    pub group: [u32; 3],
}

/// The kernel's arguments: in this many SGPRs, the first ones, and in the kernarg segment.
pub const ARGUMENTS: usize = 14;

/// How a wave begins.
#[derive(Clone)]
pub struct Start {
    /// Its registers; the program counter is where the program is.
    pub wave: Box<Wave>,
    /// Registers to which addresses are added.
    pub pointers: Vec<Pointer>,
}

/// What each memory holds in the beginning, in the order of [`Space::ALL`].
#[derive(Clone, PartialEq, Eq)]
pub struct Contents([Vec<u8>; 6]);

impl Default for Contents {
    fn default() -> Contents {
        Contents(Space::ALL.map(|space| vec![0; space.size() as usize]))
    }
}

impl Contents {
    /// The bytes of a memory.
    pub fn of(&self, space: Space) -> &[u8] {
        &self.0[space as usize]
    }

    /// The bytes of a memory, to change them.
    pub fn of_mut(&mut self, space: Space) -> &mut Vec<u8> {
        &mut self.0[space as usize]
    }
}

/// A program with everything it needs to run.
#[derive(Clone)]
pub struct Case {
    /// The processor.
    pub target: Target,
    /// What all waves execute.
    pub program: Program,
    /// The waves of the work-group, at least one. If it is a kernel, what the first one says of [`ARGUMENTS`] and MODE is
    /// so in all waves; behind the arguments are the address of the kernarg segment and the work-group's coordinates, and
    /// v0 to v2 are those of the work-item.
    pub waves: Vec<Start>,
    /// If it is a kernel: the launches, each on what the last one left in memory.
    pub launches: Vec<Grid>,
    /// What memory holds.
    pub contents: Contents,
}
