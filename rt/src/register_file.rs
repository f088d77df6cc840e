//! How many registers a wave owns, and what becomes of an instruction that names others (SI manual 3.6.1).
//!
//! - A source that is out of range is s0 or v0, or as many registers from there on as the operand has.
//! - A vector instruction or scalar load with a result out of range is ignored, all of it.
//! - Another scalar instruction has its effect, but does not write the result that is out of range.
//!
//! An operand is out of range if one of its registers is. VCC, M0, EXEC and the other registers with a name always
//! exist. What an instruction names is known when it is decoded, so that executors ask once; registers that are indexed
//! while it runs are asked for with [`RegisterFile::vgpr`] and [`RegisterFile::has_sgprs`].

use crate::code_object::Rsrc1;
use gcnjit_isa::{Ext, Format, Gen, Inst, Op, Operand, Sopp, Target};

/// The registers that a wave owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterFile {
    /// VGPRs, up to 256.
    pub vgprs: u16,
    /// Numbered SGPRs; more than there are on the target stand for all.
    pub sgprs: u16,
}

impl RegisterFile {
    /// All that an instruction can name.
    pub const ALL: RegisterFile = RegisterFile { vgprs: 256, sgprs: 128 };

    /// What a kernel is given.
    pub fn of(rsrc1: Rsrc1, generation: Gen) -> RegisterFile {
        RegisterFile { vgprs: rsrc1.vgprs().min(256) as u16, sgprs: rsrc1.sgprs(generation).min(128) as u16 }
    }

    /// The operand of `dwords` VGPRs from number `first` on, if they exist.
    pub fn vgpr(self, first: u64, dwords: u32) -> Option<Operand> {
        (first + u64::from(dwords.max(1)) <= u64::from(self.vgprs)).then_some(Operand::Vgpr(first as u8))
    }

    /// Whether there are `dwords` numbered SGPRs from `first` on.
    pub fn has_sgprs(self, generation: Gen, first: u64, dwords: u32) -> bool {
        let limit = self.numbered(generation);
        first + u64::from(dwords.max(1)) <= limit
    }

    /// The numbered SGPRs that there are.
    pub fn numbered(self, generation: Gen) -> u64 {
        u64::from(self.sgprs).min(generation.sgprs().into())
    }

    /// What `inst` does in a wave with these registers: itself, the same with other operands, or nothing.
    pub fn bound(self, inst: &Inst, target: Target) -> Inst {
        let mut bound = *inst;
        for (i, operand) in inst.dst.iter().enumerate() {
            if self.has(*operand, inst.result_dwords(i, target), target.generation()) {
                continue;
            }
            if inst.op.obeys_vskip() || matches!(inst.op, Op::Smem(_)) {
                return ignored(inst);
            }
            bound.dst[i] = Operand::None;
        }
        for (i, operand) in inst.src.iter().enumerate() {
            if !self.has(*operand, inst.source_dwords(i, target), target.generation()) {
                bound.src[i] = match operand {
                    Operand::Vgpr(_) => Operand::Vgpr(0),
                    _ => Operand::Sgpr(0),
                };
            }
        }
        bound
    }

    fn has(self, operand: Operand, dwords: u32, generation: Gen) -> bool {
        match operand {
            Operand::Vgpr(first) => self.vgpr(first.into(), dwords).is_some(),
            Operand::Sgpr(first) if first < generation.sgprs() => self.has_sgprs(generation, first.into(), dwords),
            _ => true,
        }
    }
}

/// An instruction of the same size that does nothing.
pub fn ignored(inst: &Inst) -> Inst {
    Inst {
        op: Op::Sopp(Sopp::s_nop),
        format: Format::Sopp,
        dst: [Operand::None; 2],
        src: [Operand::Imm(0), Operand::None, Operand::None, Operand::None],
        mods: Default::default(),
        ext: Ext::None,
        ..*inst
    }
}

#[cfg(test)]
mod tests {
    use super::RegisterFile;
    use gcnjit_isa::{Target, asm, disas};

    /// What a line of assembly becomes in a wave of 8 VGPRs and 16 SGPRs.
    fn bound(target: Target, line: &str) -> String {
        let inst = asm::parse(line, target).unwrap_or_else(|error| panic!("{line}: {error}"));
        let bound = RegisterFile { vgprs: 8, sgprs: 16 }.bound(&inst, target);
        assert_eq!(bound.words, inst.words);
        disas::text(&bound, target)
    }

    #[test]
    fn sources_out_of_range_are_the_first_register() {
        for (line, want) in [
            ("v_add_f32 v7, v8, v7", "v_add_f32_e32 v7, v0, v7"),
            ("v_fma_f64 v[6:7], v[7:8], v[6:7], s[14:15]", "v_fma_f64 v[6:7], v[0:1], v[6:7], s[14:15]"),
            ("v_add_f32 v0, s16, v255", "v_add_f32_e32 v0, s0, v0"),
            ("v_add_f32 v0, vcc_lo, v1", "v_add_f32_e32 v0, vcc_lo, v1"),
            ("s_add_u32 s0, s15, s16", "s_add_u32 s0, s15, s0"),
            ("s_mov_b64 vcc, s[16:17]", "s_mov_b64 vcc, s[0:1]"),
            ("s_load_dwordx4 s[12:15], s[16:17], 0x0", "s_load_dwordx4 s[12:15], s[0:1], 0x0"),
            ("flat_load_dword v7, v[7:8]", "flat_load_dword v7, v[0:1]"),
            ("global_load_dword v7, v7, s[2:3]", "global_load_dword v7, v7, s[2:3]"),
            ("global_load_dword v7, v[7:8], off", "global_load_dword v7, v[0:1], off"),
            ("global_store_dwordx2 v[2:3], v[7:8], off", "global_store_dwordx2 v[2:3], v[0:1], off"),
            ("scratch_load_dword v7, v7, off", "scratch_load_dword v7, v7, off"),
            ("ds_write_b64 v7, v[7:8]", "ds_write_b64 v7, v[0:1]"),
            ("buffer_load_dword v7, v7, s[12:15], s16 offen", "buffer_load_dword v7, v7, s[12:15], s0 offen"),
            (
                "buffer_load_dword v7, v[7:8], s[16:19], 0 idxen offen",
                "buffer_load_dword v7, v[0:1], s[0:3], 0 idxen offen",
            ),
        ] {
            assert_eq!(bound(Target::Gfx900, line), want, "{line}");
        }
    }

    #[test]
    fn results_out_of_range_are_not_written() {
        for line in [
            "v_add_f32 v8, v0, v1",
            "v_fma_f64 v[7:8], v[0:1], v[0:1], v[0:1]",
            "v_add_co_u32_e64 v0, s[16:17], v1, v2",
            "v_cmp_eq_u32_e64 s[16:17], v0, v1",
            "v_readfirstlane_b32 s16, v0",
            "v_swap_b32 v0, v8",
            "s_load_dwordx2 s[16:17], s[0:1], 0x0",
            "buffer_load_dwordx4 v[5:8], off, s[0:3], 0",
            "buffer_load_dword v7, off, s[0:3], 0 tfe",
            "buffer_atomic_add v8, off, s[0:3], 0 glc",
            "global_atomic_add v8, v[0:1], v2, off glc",
            "ds_read2_b64 v[5:8], v0",
            "ds_append v8",
        ] {
            assert_eq!(bound(Target::Gfx900, line), "s_nop 0", "{line}");
        }
        // A buffer's data is a source if it does not return the old value.
        assert_eq!(
            bound(Target::Gfx803, "buffer_atomic_add v8, off, s[0:3], 0"),
            "buffer_atomic_add v0, off, s[0:3], 0"
        );
    }

    #[test]
    fn scalar_instructions_have_their_other_effects() {
        let target = Target::Gfx803;
        let inst = asm::parse("s_add_u32 s16, s1, s2", target).unwrap();
        let bound = RegisterFile { vgprs: 8, sgprs: 16 }.bound(&inst, target);
        assert_eq!((bound.op, bound.src), (inst.op, inst.src));
        assert_eq!(bound.dst, [gcnjit_isa::Operand::None, inst.dst[1]]);
    }

    #[test]
    fn nothing_is_out_of_range_of_all() {
        for line in ["v_add_f32 v255, v255, v255", "s_mov_b64 s[100:101], s[100:101]", "ds_read_b128 v[252:255], v255"]
        {
            let target = Target::Gfx900;
            let inst = asm::parse(line, target).unwrap();
            assert_eq!(RegisterFile::ALL.bound(&inst, target), inst, "{line}");
        }
    }
}
