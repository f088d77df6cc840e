//! Which registers an instruction reads and writes, as far as its words say.
//!
//! A vector instruction works lane by lane under EXEC; that is not counted as reading EXEC here, only what takes EXEC
//! for a value is. Nor does the bookkeeping of a wave count (PC, what MODE says of arithmetic). Registers that are found
//! through another one (M0 as an index, the stack of s_cbranch_*_fork) are the executor's to add.

use crate::gfx::{Gen, Target};
use crate::inst::{Format, Inst};
use crate::op::{Implicit, Note};
use crate::operand::{Operand, Ty};
use crate::table::Op;
use std::str::FromStr;

/// A set of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Scalar registers, a bit for each operand code.
    pub sgprs: u128,
    /// Vector registers, 64 a word.
    pub vgprs: [u64; 4],
    /// The scalar condition code.
    pub scc: bool,
    /// MODE.
    pub mode: bool,
}

impl Registers {
    /// Adds `count` scalar registers from `first` on, modulo 128.
    pub fn add_sgprs(&mut self, first: u8, count: u32) {
        (0..count).for_each(|i| self.sgprs |= 1 << ((u32::from(first) + i) & 127));
    }

    /// Adds `count` vector registers from `first` on, modulo 256.
    pub fn add_vgprs(&mut self, first: u8, count: u32) {
        (0..count).map(|i| first.wrapping_add(i as u8)).for_each(|v| self.vgprs[usize::from(v / 64)] |= 1 << (v % 64));
    }

    /// Adds `dwords` registers of an operand. The conditions among the special sources stand for what they test,
    /// LDS_DIRECT for M0, which has its address.
    pub fn add(&mut self, operand: Operand, dwords: u32) {
        match operand {
            Operand::Sgpr(first) => self.add_sgprs(first, dwords),
            Operand::Vgpr(first) => self.add_vgprs(first, dwords),
            Operand::Scc | Operand::Special(253) => self.scc = true,
            Operand::Special(251) => self.add(Operand::VCC, 2),
            Operand::Special(252) => self.add(Operand::EXEC, 2),
            Operand::Special(254) => self.add(Operand::M0, 1),
            _ => {}
        }
    }

    fn add_implicit(&mut self, register: Implicit) {
        match register {
            Implicit::Vcc => self.add(Operand::VCC, 2),
            Implicit::Exec => self.add(Operand::EXEC, 2),
            Implicit::M0 => self.add(Operand::M0, 1),
            Implicit::Mode => self.mode = true,
            Implicit::FlatScratch => {}
        }
    }

    /// The scalar registers, by operand code.
    pub fn sgprs(&self) -> impl Iterator<Item = u8> + use<> {
        let set = self.sgprs;
        (0..128).filter(move |i| set >> i & 1 != 0)
    }

    /// The vector registers.
    pub fn vgprs(&self) -> impl Iterator<Item = u8> + use<> {
        let set = self.vgprs;
        (0..=255).filter(move |i| set[usize::from(i / 64)] >> (i % 64) & 1 != 0)
    }

    /// Whether vector register `v` is in the set.
    pub fn has_vgpr(&self, v: u8) -> bool {
        self.vgprs[usize::from(v / 64)] >> (v % 64) & 1 != 0
    }

    /// Whether scalar register `s` is in the set.
    pub fn has_sgpr(&self, s: u8) -> bool {
        s < 128 && self.sgprs >> s & 1 != 0
    }

    /// Whether both have a register.
    pub fn meets(&self, other: &Registers) -> bool {
        self.sgprs & other.sgprs != 0
            || self.vgprs.iter().zip(&other.vgprs).any(|(a, b)| a & b != 0)
            || self.scc && other.scc
            || self.mode && other.mode
    }
}

impl FromStr for Registers {
    type Err = String;

    /// `v7`, `v[2:3]`, `s5`, `s[0:1]`, `vcc`, `exec`, `m0`, `scc` or `mode`, and several of them with commas.
    fn from_str(text: &str) -> Result<Registers, String> {
        let mut set = Registers::default();
        for name in text.split(',') {
            match name {
                "vcc" => set.add(Operand::VCC, 2),
                "exec" => set.add(Operand::EXEC, 2),
                "m0" => set.add(Operand::M0, 1),
                "scc" => set.scc = true,
                "mode" => set.mode = true,
                _ => {
                    let (kind, first, count) = numbered(name).ok_or_else(|| format!("'{name}' is no register"))?;
                    if kind == "v" { set.add_vgprs(first, count) } else { set.add_sgprs(first, count) }
                }
            }
        }
        Ok(set)
    }
}

/// Kind, first number and count of `v7` or `s[2:3]`.
fn numbered(name: &str) -> Option<(&str, u8, u32)> {
    let (kind, rest) = name.split_at_checked(1).filter(|(kind, _)| matches!(*kind, "v" | "s"))?;
    let range = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.split_once(':'));
    let (first, last): (u8, u8) = match range {
        Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
        None => (rest.parse().ok()?, rest.parse().ok()?),
    };
    let most = if kind == "v" { 255 } else { 105 };
    (first <= last && last <= most).then(|| (kind, first, u32::from(last - first) + 1))
}

/// The name of a scalar register by its operand code: `s0`, `vcc_lo`, `m0`.
pub fn sgpr_name(code: u8) -> String {
    match code {
        0..=105 => format!("s{code}"),
        106 => "vcc_lo".to_owned(),
        107 => "vcc_hi".to_owned(),
        124 => "m0".to_owned(),
        126 => "exec_lo".to_owned(),
        127 => "exec_hi".to_owned(),
        _ => format!("ssrc{code}"),
    }
}

impl Inst {
    /// The registers it may read.
    pub fn reads(&self, target: Target) -> Registers {
        let mut registers = Registers::default();
        for (i, operand) in self.src.into_iter().enumerate() {
            registers.add(operand, self.source_dwords(i, target));
        }
        // What stays in a register that is only written in part.
        if self.keeps_old_bits() {
            (0..2).for_each(|i| registers.add(self.dst[i], self.result_dwords(i, target)));
        }
        // The base of GDS, a place in LDS, or up to gfx8 the limit of LDS.
        let share = match self.op {
            Op::Ds(_) => self.mem().gds || target.generation() < Gen::Gfx9,
            _ => false,
        };
        let m0 = share || self.mem().lds;
        if m0 {
            registers.add_implicit(Implicit::M0);
        }
        for note in self.op.info().notes {
            match note {
                Note::Reads(register) => registers.add_implicit(*register),
                // Indexing changes the half of M0 that it is told.
                Note::Writes(Implicit::M0) => registers.add_implicit(Implicit::M0),
                _ => {}
            }
        }
        registers
    }

    /// The registers it may write.
    pub fn writes(&self, target: Target) -> Registers {
        let mut registers = Registers::default();
        for (i, operand) in self.dst.into_iter().enumerate() {
            registers.add(operand, self.result_dwords(i, target));
        }
        for register in self.op.implicit_writes() {
            registers.add_implicit(register);
        }
        registers
    }

    /// How many registers source `i` takes if it is one.
    pub fn source_dwords(&self, i: usize, target: Target) -> u32 {
        let mem = self.mem();
        match (self.format, i) {
            (Format::Mubuf | Format::Mtbuf, 0) if mem.addr64 || mem.idxen && mem.offen => 2,
            (Format::Mubuf | Format::Mtbuf, 0) => u32::from(mem.idxen || mem.offen),
            (Format::Mubuf | Format::Mtbuf, 3) => self.data_dwords(target),
            // Compressed, a register has two channels: the bits of its first two are those of the first two registers.
            (Format::Exp, i) if mem.flags & 1 != 0 => u32::from(i < 2 && mem.dmask >> (2 * i) & 1 != 0),
            (Format::Exp, i) => u32::from(mem.dmask >> i & 1),
            (Format::Mimg, 0) => self.image_address_dwords(),
            (Format::Mimg, 1) => self.image_resource_dwords(target.generation() < Gen::Gfx9),
            (Format::Mimg, 3) => self.data_dwords(target),
            (Format::Flat, 0) => 1 + u32::from(mem.seg != 1 && self.src[2] == Operand::None),
            (Format::Flat, 2) => 1 + u32::from(mem.seg != 1),
            _ => self.op.info().srcs.get(i).map_or(0, |ty| dwords(*ty)),
        }
    }

    /// How many registers result `i` takes if it is one.
    pub fn result_dwords(&self, i: usize, target: Target) -> u32 {
        match self.format {
            _ if self.mem().lds => 0,
            Format::Mubuf | Format::Mtbuf if i == 0 && self.src[3] == Operand::None => self.data_dwords(target),
            Format::Mimg if i == 0 => self.data_dwords(target),
            _ => self.op.info().dsts.get(i).map_or(0, |ty| dwords(*ty)),
        }
    }

    /// Whether bits of its result are those that were there before: of the lanes it is enabled for.
    fn keeps_old_bits(&self) -> bool {
        use crate::inst::{Ext, Unused};
        let half = |ty: &Ty| matches!(ty, Ty::b16 | Ty::u16 | Ty::i16 | Ty::f16);
        let info = self.op.info();
        let sdwa = matches!(self.ext, Ext::Sdwa(sdwa) if sdwa.dst_unused == Unused::Preserve);
        sdwa || (info.has(Note::OpSel) || info.has(Note::Mix)) && info.dsts.iter().any(half)
    }
}

/// Registers of an operand of type `ty`, one also where the row leaves the type to the instruction.
fn dwords(ty: Ty) -> u32 {
    u32::from(ty.dwords())
}

#[cfg(test)]
mod tests {
    use crate::{Registers, Target, asm};

    fn registers(text: &str, target: Target) -> [(Vec<u8>, Vec<u8>); 2] {
        let inst = asm::parse(text, target).unwrap();
        let lists = |set: Registers| (set.sgprs().collect(), set.vgprs().collect());
        [lists(inst.reads(target)), lists(inst.writes(target))]
    }

    #[test]
    fn operands_take_the_registers_that_their_types_say() {
        let gfx9 = |text| registers(text, Target::Gfx900);
        assert_eq!(gfx9("v_add_f32 v0, s3, v2"), [(vec![3], vec![2]), (vec![], vec![0])]);
        assert_eq!(
            gfx9("v_fma_f64 v[0:1], v[2:3], s[4:5], v[6:7]"),
            [(vec![4, 5], vec![2, 3, 6, 7]), (vec![], vec![0, 1])]
        );
        assert_eq!(gfx9("v_cmp_lt_f32 vcc, v0, v1"), [(vec![], vec![0, 1]), (vec![106, 107], vec![])]);
        assert_eq!(gfx9("v_mac_f32 v0, v1, v2"), [(vec![], vec![0, 1, 2]), (vec![], vec![0])]);
        assert_eq!(
            gfx9("s_and_saveexec_b64 s[0:1], vcc"),
            [(vec![106, 107, 126, 127], vec![]), (vec![0, 1, 126, 127], vec![])]
        );
        assert_eq!(gfx9("s_load_dwordx4 s[4:7], s[0:1], 0x10"), [(vec![0, 1], vec![]), (vec![4, 5, 6, 7], vec![])]);
    }

    #[test]
    fn exports_read_the_channels_that_they_export() {
        let gfx9 = |text| registers(text, Target::Gfx900)[0].clone();
        assert_eq!(gfx9("exp mrt0 v1, off, v3, v4"), (vec![126, 127], vec![1, 3, 4]));
        assert_eq!(gfx9("exp mrt0 v1, v1, v2, v2 compr"), (vec![126, 127], vec![1, 2]));
        assert_eq!(gfx9("exp mrt0 off, off, v2, v2 compr"), (vec![126, 127], vec![2]));
        assert_eq!(gfx9("v_add_f32 v0, src_lds_direct, v2"), (vec![124], vec![2]));
        assert_eq!(gfx9("v_interp_p2_f32 v0, v1, attr3.x"), (vec![124], vec![0, 1]));
    }

    #[test]
    fn sets_are_read_from_text() {
        let lists = |text: &str| text.parse::<Registers>().map(|set| (set.sgprs().collect(), set.vgprs().collect()));
        assert_eq!(lists("v7,s[2:3],vcc,m0"), Ok((vec![2, 3, 106, 107, 124], vec![7])));
        assert_eq!(lists("v[254:255]"), Ok((vec![], vec![254, 255])));
        for text in ["", "v", "v256", "s106", "v[3:2]", "v[1:2", "x1", "v1,", "é"] {
            assert!(lists(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_instructions_have_as_many_address_registers_as_their_form_needs() {
        let gfx9 = |text| registers(text, Target::Gfx900);
        assert_eq!(gfx9("global_load_dwordx2 v[0:1], v[2:3], off"), [(vec![], vec![2, 3]), (vec![], vec![0, 1])]);
        assert_eq!(gfx9("global_load_dword v0, v2, s[4:5]"), [(vec![4, 5], vec![2]), (vec![], vec![0])]);
        assert_eq!(gfx9("scratch_store_dword off, v2, s4"), [(vec![4], vec![2]), (vec![], vec![])]);
        assert_eq!(
            gfx9("buffer_load_dword v0, v1, s[4:7], s8 offen"),
            [(vec![4, 5, 6, 7, 8], vec![1]), (vec![], vec![0])]
        );
        let both = "buffer_store_dwordx2 v[8:9], v[1:2], s[4:7], 0 idxen offen";
        assert_eq!(gfx9(both), [(vec![4, 5, 6, 7], vec![1, 2, 8, 9]), (vec![], vec![])]);
        assert_eq!(gfx9("ds_write2_b32 v0, v1, v2 offset1:1"), [(vec![], vec![0, 1, 2]), (vec![], vec![])]);
        assert_eq!(
            gfx9("image_sample_c v[8:11], v[1:2], s[8:15], s[4:7] dmask:0xf"),
            [((4..16).collect(), vec![1, 2]), (vec![], vec![8, 9, 10, 11])]
        );
        assert_eq!(
            gfx9("image_store v[8:9], v1, s[8:15] dmask:0xf d16"),
            [((8..16).collect(), vec![1, 8, 9]), (vec![], vec![])]
        );
        let gfx7 = registers("buffer_load_dword v0, v[1:2], s[4:7], 0 addr64", Target::Gfx700);
        assert_eq!(gfx7, [(vec![4, 5, 6, 7], vec![1, 2]), (vec![], vec![0])]);
    }
}
