//! The EVEX instructions that the assembler knows, a row each: mandatory prefix, opcode map, W, opcode, and what its
//! memory operand is (Software Developer's Manual, volume 2, "EVEX").

use crate::x64::vex::{M0F, M0F3A, M0F38, NP, P66, PF2, PF3, W0, W1};

/// Bytes that a memory operand has, which is also the unit of short offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tuple {
    /// 64, or an element that is broadcast.
    Full,
    /// 32.
    Half,
    /// 16.
    Quarter,
    /// One element.
    One,
}

/// An EVEX instruction on 512-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Evex {
    pub(super) map: u8,
    pub(super) prefix: u8,
    pub(super) wide: bool,
    pub(super) opcode: u8,
    pub(super) tuple: Tuple,
}

/// Which comparison VPCMP does, and, of numbers that are ordered, VCMP.
pub mod predicate {
    /// x = y.
    pub const EQUAL: u8 = 0;
    /// x < y.
    pub const LESS: u8 = 1;
    /// x ≤ y.
    pub const LESS_OR_EQUAL: u8 = 2;
    /// x ≠ y.
    pub const NOT_EQUAL: u8 = 4;
    /// x ≥ y.
    pub const NOT_LESS: u8 = 5;
    /// x > y.
    pub const GREATER: u8 = 6;
}

macro_rules! evex {
    ($($name:ident $prefix:ident $map:ident $w:ident $opcode:literal $tuple:ident;)*) => {
        /// The instructions, by their mnemonics.
        #[allow(missing_docs, reason = "Intel's mnemonics")]
        pub mod op {
            use super::*;
            $(pub const $name: Evex =
                Evex { map: $map, prefix: $prefix, wide: $w, opcode: $opcode, tuple: Tuple::$tuple };)*
            /// All of them.
            #[cfg(test)]
            pub const ALL: &[(&str, Evex)] = &[$((stringify!($name), $name)),*];
        }
    };
}

evex! {
    VPADDD P66 M0F W0 0xfe Full;
    VPADDQ P66 M0F W1 0xd4 Full;
    VPSUBD P66 M0F W0 0xfa Full;
    VPSUBQ P66 M0F W1 0xfb Full;
    VPMULLD P66 M0F38 W0 0x40 Full;
    VPMULLQ P66 M0F38 W1 0x40 Full;
    VPMULUDQ P66 M0F W1 0xf4 Full;
    VPMULDQ P66 M0F38 W1 0x28 Full;
    VPANDD P66 M0F W0 0xdb Full;
    VPANDQ P66 M0F W1 0xdb Full;
    VPORD P66 M0F W0 0xeb Full;
    VPORQ P66 M0F W1 0xeb Full;
    VPXORD P66 M0F W0 0xef Full;
    VPXORQ P66 M0F W1 0xef Full;
    VPMINUD P66 M0F38 W0 0x3b Full;
    VPMINUQ P66 M0F38 W1 0x3b Full;
    VPMAXUD P66 M0F38 W0 0x3f Full;
    VPMAXUQ P66 M0F38 W1 0x3f Full;
    VPMINSD P66 M0F38 W0 0x39 Full;
    VPMINSQ P66 M0F38 W1 0x39 Full;
    VPMAXSD P66 M0F38 W0 0x3d Full;
    VPMAXSQ P66 M0F38 W1 0x3d Full;
    VPSLLVD P66 M0F38 W0 0x47 Full;
    VPSLLVQ P66 M0F38 W1 0x47 Full;
    VPSRLVD P66 M0F38 W0 0x45 Full;
    VPSRLVQ P66 M0F38 W1 0x45 Full;
    VPSRAVD P66 M0F38 W0 0x46 Full;
    VPSRAVQ P66 M0F38 W1 0x46 Full;
    VPCMPD P66 M0F3A W0 0x1f Full;
    VPCMPQ P66 M0F3A W1 0x1f Full;
    VPCMPUD P66 M0F3A W0 0x1e Full;
    VPCMPUQ P66 M0F3A W1 0x1e Full;
    VPBLENDMD P66 M0F38 W0 0x64 Full;
    VPBLENDMQ P66 M0F38 W1 0x64 Full;
    VMOVDQA32 P66 M0F W0 0x6f Full;
    VMOVDQA32_STORE P66 M0F W0 0x7f Full;
    VMOVDQU8_STORE PF2 M0F W0 0x7f Full;
    VMOVDQU32 PF3 M0F W0 0x6f Full;
    VMOVDQU32_STORE PF3 M0F W0 0x7f Full;
    VPBROADCASTD P66 M0F38 W0 0x58 One;
    VPBROADCASTQ P66 M0F38 W1 0x59 One;
    VPMOVM2D PF3 M0F38 W0 0x38 Full;
    VPMOVD2M PF3 M0F38 W0 0x39 Full;
    VPMOVB2M PF3 M0F38 W0 0x29 Full;
    VPERMI2D P66 M0F38 W0 0x76 Full;
    VPERMT2D P66 M0F38 W0 0x7e Full;
    VPCOMPRESSD P66 M0F38 W0 0x8b One;
    VPRORVD P66 M0F38 W0 0x14 Full;
    VPRORVQ P66 M0F38 W1 0x14 Full;
    VPERMQ P66 M0F38 W1 0x36 Full;
    VPUNPCKLDQ P66 M0F W0 0x62 Full;
    VPUNPCKLQDQ P66 M0F W1 0x6c Full;
    VPERMD P66 M0F38 W0 0x36 Full;
    VPTERNLOGD P66 M0F3A W0 0x25 Full;
    VPTERNLOGQ P66 M0F3A W1 0x25 Full;
    VPTESTMD P66 M0F38 W0 0x27 Full;
    VPTESTMQ P66 M0F38 W1 0x27 Full;
    VPMOVZXDQ P66 M0F38 W0 0x35 Half;
    VPMOVSXDQ P66 M0F38 W0 0x25 Half;
    VEXTRACTI64X4 P66 M0F3A W1 0x3b Half;
    VINSERTI64X4 P66 M0F3A W1 0x3a Half;
    VSHUFI64X2 P66 M0F3A W1 0x43 Full;
    VBROADCASTI32X4 P66 M0F38 W0 0x5a Quarter;
    VINSERTI32X4 P66 M0F3A W0 0x38 Quarter;
    VEXTRACTI32X4_STORE P66 M0F3A W0 0x39 Quarter;
    VPSHUFD P66 M0F W0 0x70 Full;
    VADDPS NP M0F W0 0x58 Full;
    VADDPD P66 M0F W1 0x58 Full;
    VSUBPS NP M0F W0 0x5c Full;
    VSUBPD P66 M0F W1 0x5c Full;
    VMULPS NP M0F W0 0x59 Full;
    VMULPD P66 M0F W1 0x59 Full;
    VDIVPS NP M0F W0 0x5e Full;
    VDIVPD P66 M0F W1 0x5e Full;
    VMAXPS NP M0F W0 0x5f Full;
    VSQRTPS NP M0F W0 0x51 Full;
    VSQRTPD P66 M0F W1 0x51 Full;
    VFMADD213PS P66 M0F38 W0 0xa8 Full;
    VFMADD213PD P66 M0F38 W1 0xa8 Full;
    VFMADD231PS P66 M0F38 W0 0xb8 Full;
    VFMADD231PD P66 M0F38 W1 0xb8 Full;
    VRNDSCALEPS P66 M0F3A W0 0x08 Full;
    VRNDSCALEPD P66 M0F3A W1 0x09 Full;
    VCMPPS NP M0F W0 0xc2 Full;
    VCMPPD P66 M0F W1 0xc2 Full;
    VCVTDQ2PS NP M0F W0 0x5b Full;
    VCVTUDQ2PS PF2 M0F W0 0x7a Full;
    VCVTTPS2DQ PF3 M0F W0 0x5b Full;
    VCVTTPS2UDQ NP M0F W0 0x78 Full;
    VCVTDQ2PD PF3 M0F W0 0xe6 Half;
    VCVTUDQ2PD PF3 M0F W0 0x7a Half;
    VCVTPS2PD NP M0F W0 0x5a Half;
    VCVTPD2PS P66 M0F W1 0x5a Full;
    VCVTPS2DQ P66 M0F W0 0x5b Full;
    VCVTPH2PS P66 M0F38 W0 0x13 Half;
    VCVTPS2PH P66 M0F3A W0 0x1d Half;
    VPMOVDW PF3 M0F38 W0 0x33 Half;
    VPMOVZXWD P66 M0F38 W0 0x33 Half;
    VPLZCNTD P66 M0F38 W0 0x44 Full;
    VPOPCNTD P66 M0F38 W0 0x55 Full;
    VPSHUFB P66 M0F38 W0 0x00 Full;
    VPSUBUSB P66 M0F W0 0xd8 Full;
    VPMADDUBSW P66 M0F38 W0 0x04 Full;
    VPMADDWD P66 M0F W0 0xf5 Full;
    VSCALEFPS P66 M0F38 W0 0x2c Full;
    VSCALEFPD P66 M0F38 W1 0x2c Full;
    VGETEXPPS P66 M0F38 W0 0x42 Full;
    VGETMANTPS P66 M0F3A W0 0x26 Full;
    VPMOVZXBD P66 M0F38 W0 0x31 Quarter;
    VPMOVSXBD P66 M0F38 W0 0x21 Quarter;
    VPMOVSXWD P66 M0F38 W0 0x23 Half;
    VPMOVDB PF3 M0F38 W0 0x31 Quarter;
}
