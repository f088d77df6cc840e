//! Generations and targets: which instruction set a processor speaks.

use std::fmt;
use std::str::FromStr;

use crate::op::Note;
use crate::table::Op;

/// A generation of the instruction set. Opcode numbers are constant inside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gen {
    /// Southern Islands, GCN 1.0.
    Gfx6,
    /// Sea Islands, GCN 1.1.
    Gfx7,
    /// Volcanic Islands, GCN 1.2.
    Gfx8,
    /// Vega, GCN 1.4.
    Gfx9,
}

impl Gen {
    /// All generations, oldest first.
    pub const ALL: [Gen; 4] = [Gen::Gfx6, Gen::Gfx7, Gen::Gfx8, Gen::Gfx9];

    /// SGPRs that a number names; the codes above belong to registers with a name.
    pub const fn sgprs(self) -> u8 {
        match self {
            Gen::Gfx6 | Gen::Gfx7 => 104,
            Gen::Gfx8 | Gen::Gfx9 => 102,
        }
    }
}

/// An ability that some targets of a generation have and others lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `v_mad_mix*` (gfx900, gfx902, gfx909, gfx90c).
    MadMix,
    /// `v_fma_mix*` (gfx904, gfx906), in the place of `v_mad_mix*`.
    FmaMix,
    /// Dot products and `v_fmac_f32`, `v_xnor_b32` (gfx906).
    Dot,
}

macro_rules! targets {
    ($($variant:ident $name:literal $gen:ident $mach:literal [$($feature:ident)*];)*) => {
        /// A processor, named as LLVM names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Target { $(#[doc = $name] $variant),* }

        impl Target {
            /// All targets, in the order of their names.
            pub const ALL: &[Target] = &[$(Target::$variant),*];

            /// LLVM's name: `gfx900`.
            pub const fn name(self) -> &'static str {
                match self { $(Target::$variant => $name),* }
            }

            /// The generation the target belongs to.
            pub const fn generation(self) -> Gen {
                match self { $(Target::$variant => Gen::$gen),* }
            }

            /// `EF_AMDGPU_MACH`, the low byte of `e_flags` in an HSA code object.
            pub const fn elf_mach(self) -> u32 {
                match self { $(Target::$variant => $mach),* }
            }

            /// Whether the target has `feature`.
            pub fn has(self, feature: Feature) -> bool {
                let features: &[Feature] = match self { $(Target::$variant => &[$(Feature::$feature),*]),* };
                features.contains(&feature)
            }
        }
    };
}

targets! {
    Gfx600 "gfx600" Gfx6 0x20 [];
    Gfx601 "gfx601" Gfx6 0x21 [];
    Gfx602 "gfx602" Gfx6 0x3a [];
    Gfx700 "gfx700" Gfx7 0x22 [];
    Gfx701 "gfx701" Gfx7 0x23 [];
    Gfx702 "gfx702" Gfx7 0x24 [];
    Gfx703 "gfx703" Gfx7 0x25 [];
    Gfx704 "gfx704" Gfx7 0x26 [];
    Gfx705 "gfx705" Gfx7 0x3b [];
    Gfx801 "gfx801" Gfx8 0x28 [];
    Gfx802 "gfx802" Gfx8 0x29 [];
    Gfx803 "gfx803" Gfx8 0x2a [];
    Gfx805 "gfx805" Gfx8 0x3c [];
    Gfx810 "gfx810" Gfx8 0x2b [];
    Gfx900 "gfx900" Gfx9 0x2c [MadMix];
    Gfx902 "gfx902" Gfx9 0x2d [MadMix];
    Gfx904 "gfx904" Gfx9 0x2e [FmaMix];
    Gfx906 "gfx906" Gfx9 0x2f [FmaMix Dot];
    Gfx909 "gfx909" Gfx9 0x31 [MadMix];
    Gfx90c "gfx90c" Gfx9 0x32 [MadMix];
}

impl Target {
    /// Whether the target has the operation, in whatever encoding.
    pub fn supports(self, op: Op) -> bool {
        let lacks = |note: &Note| matches!(note, Note::Only(feature) if !self.has(*feature));
        op.info().code(self.generation()).is_some() && !op.info().notes.iter().any(lacks)
    }

    /// The target with this `EF_AMDGPU_MACH`, if it is one of ours.
    pub fn from_elf_mach(mach: u32) -> Option<Target> {
        Target::ALL.iter().copied().find(|t| t.elf_mach() == mach)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no target has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown target '{0}': gfx600 to gfx602, gfx700 to gfx705, gfx801 to gfx810 and gfx900 to gfx90c are known")]
pub struct UnknownTarget(pub String);

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Target, UnknownTarget> {
        Target::ALL.iter().copied().find(|t| t.name() == name).ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}
