//! Operands: what an instruction reads and writes, as decoded.

/// The type a row gives an operand: its width, and which modifiers it takes.
///
/// The spelling is the row's own, so that a table file reads like the manual.
#[allow(non_camel_case_types, missing_docs, reason = "variants are spelled as the rows of the table spell them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Raw bits of the width named; no modifiers.
    b16,
    b32,
    b64,
    b96,
    b128,
    b256,
    b512,
    /// Unsigned integers. `u24` sits in the low bits of a dword.
    u16,
    u24,
    u32,
    u64,
    /// Signed integers. `i24` sits in the low bits of a dword.
    i16,
    i24,
    i32,
    i64,
    /// Floats; they take abs, neg, omod and clamp.
    f16,
    f32,
    f64,
    /// Two 16-bit halves in a dword; op_sel picks them.
    v2b16,
    v2u16,
    v2i16,
    v2f16,
    /// One bit a lane, in a 64-bit SGPR pair (VCC, EXEC or any).
    mask,
    /// The scalar condition code, implicit in every encoding.
    scc,
    /// A 16-bit immediate in the instruction word, sign-extended; beside a `u32` source zero-extended.
    simm16,
    /// A branch target: a dword offset from the next instruction.
    label,
    /// Operand of a size the instruction computes (memory data, export).
    data,
}

impl Ty {
    /// How many dwords a register operand of this type takes; 0 for `scc` and immediates.
    pub const fn dwords(self) -> u8 {
        match self {
            Ty::b64 | Ty::u64 | Ty::i64 | Ty::f64 | Ty::mask => 2,
            Ty::b96 => 3,
            Ty::b128 => 4,
            Ty::b256 => 8,
            Ty::b512 => 16,
            Ty::scc | Ty::simm16 | Ty::label => 0,
            _ => 1,
        }
    }

    /// Whether abs, neg, omod and clamp have their floating-point meaning.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::f16 | Ty::f32 | Ty::f64 | Ty::v2f16)
    }
}

/// One operand of a decoded instruction.
///
/// Register operands name their first register; the row's [`Ty`] says how many follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The position is not used.
    #[default]
    None,
    /// A scalar register by its operand code: SGPRs 0–103, VCC 106, trap registers, M0 124, EXEC 126.
    Sgpr(u8),
    /// A vector register, 0–255.
    Vgpr(u8),
    /// The scalar condition code.
    Scc,
    /// An inline constant by its operand code: 128–208 integers, 240–248 floats.
    Inline(u8),
    /// The dword that follows the instruction.
    Literal(u32),
    /// An immediate field of the instruction word, sign-extended where the field is signed.
    Imm(i32),
    /// A read-only source by its operand code: apertures (235–238), 239, VCCZ 251, EXECZ 252, LDS_DIRECT 254.
    Special(u8),
}

impl Operand {
    /// VCC, both halves.
    pub const VCC: Operand = Operand::Sgpr(106);
    /// M0.
    pub const M0: Operand = Operand::Sgpr(124);
    /// EXEC, both halves.
    pub const EXEC: Operand = Operand::Sgpr(126);

    /// The value of an inline constant as an operand of type `ty` sees it, zero-extended to 64 bits;
    /// `None` for anything else. (SI manual, table 4.2; 1/(2·π) is gfx8 and later.)
    pub fn inline_bits(self, ty: Ty) -> Option<u64> {
        let Operand::Inline(code) = self else { return None };
        Some(match code {
            128..=192 => u64::from(code) - 128,
            193..=208 => sized((192 - i64::from(code)) as u64, ty),
            240..=248 => float_bits(code, ty),
            _ => return None,
        })
    }
}

fn sized(bits: u64, ty: Ty) -> u64 {
    if ty.dwords() == 2 { bits } else { bits & 0xffff_ffff }
}

/// The bits of inline float `code` in the precision of `ty`. Integer 64-bit operands see the f64 form.
fn float_bits(code: u8, ty: Ty) -> u64 {
    const F16: [u64; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
    const F32: [f32; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
    let i = usize::from(code - 240);
    match ty {
        Ty::f16 | Ty::b16 | Ty::u16 | Ty::i16 | Ty::v2b16 | Ty::v2f16 | Ty::v2i16 | Ty::v2u16 => F16[i],
        _ if ty.dwords() == 2 => F32.get(i).map_or(0x3fc4_5f30_6dc9_c882, |f| f64::from(*f).to_bits()),
        _ => F32.get(i).map_or(0x3e22_f983, |f| u64::from(f.to_bits())),
    }
}
