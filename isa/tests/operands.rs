//! Operands that have names, on every target: what is printed where a generation knows the name, the number where it
//! does not, and that either reads back as the same words.

use gcnjit_isa::{Decoder, Gen, Target, asm, disas, encode};

/// The words of `text` on `target`, as hex; they decode and print as `text` again.
fn words(text: &str, target: Target) -> String {
    let inst = asm::parse(text, target).unwrap_or_else(|error| panic!("{target}: {text}: {error}"));
    let words = encode(&inst, target).expect(text);
    assert_eq!(
        Decoder::new(target).decode(&words).map(|inst| disas::text(&inst, target)),
        Ok(text.to_owned()),
        "{target}"
    );
    words.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ")
}

/// The text of words on `target`, which assembles to them.
fn text(code: &[u32], target: Target) -> String {
    let inst = Decoder::new(target).decode(code).unwrap_or_else(|error| panic!("{target}: {error}"));
    let text = disas::text(&inst, target);
    let again = asm::parse(&text, target).unwrap_or_else(|error| panic!("{target}: {text}: {error}"));
    assert_eq!(encode(&again, target).expect(&text)[..], *code, "{target}: {text}");
    text
}

fn since(generation: Gen) -> impl Iterator<Item = Target> {
    Target::ALL.iter().copied().filter(move |target| target.generation() >= generation)
}

#[test]
fn hardware_registers() {
    for target in since(Gen::Gfx6) {
        for name in ["MODE", "STATUS", "TRAPSTS", "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS"] {
            words(&format!("s_getreg_b32 s0, hwreg(HW_REG_{name})"), target);
            words(&format!("s_setreg_b32 hwreg(HW_REG_{name}, 3, 5), s0"), target);
        }
        let opcode = if target.generation() < Gen::Gfx8 { 0xb900_0000 } else { 0xb880_0000 };
        let name = if target.generation() == Gen::Gfx9 { "HW_REG_SH_MEM_BASES" } else { "15" };
        assert_eq!(text(&[opcode | 0xf80f], target), format!("s_getreg_b32 s0, hwreg({name})"));
    }
}

#[test]
fn wait_counters() {
    for target in since(Gen::Gfx6) {
        assert_eq!(words("s_waitcnt vmcnt(3) lgkmcnt(2)", target), "bf8c0273");
        assert_eq!(words("s_waitcnt expcnt(0)", target), if wide(target) { "bf8ccf0f" } else { "bf8c0f0f" });
        let all = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
        assert_eq!(words(all, target), "bf8c0000");
    }
    for target in since(Gen::Gfx9) {
        assert_eq!(words("s_waitcnt vmcnt(40)", target), "bf8c8f78");
    }
}

/// Whether vmcnt has six bits.
fn wide(target: Target) -> bool {
    target.generation() == Gen::Gfx9
}

#[test]
fn messages() {
    for target in since(Gen::Gfx6) {
        assert_eq!(words("s_sendmsg sendmsg(MSG_INTERRUPT)", target), "bf900001");
        assert_eq!(words("s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)", target), "bf900122");
        assert_eq!(words("s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)", target), "bf900003");
        assert_eq!(words("s_sendmsghalt sendmsg(MSG_SYSMSG, SYSMSG_OP_TTRACE_PC)", target), "bf91004f");
        let save = if target.generation() < Gen::Gfx8 { "sendmsg(4, 0, 0)" } else { "sendmsg(MSG_SAVEWAVE)" };
        assert_eq!(text(&[0xbf90_0004], target), format!("s_sendmsg {save}"));
        let halt = if wide(target) { "sendmsg(MSG_HALT_WAVES)" } else { "sendmsg(6, 0, 0)" };
        assert_eq!(text(&[0xbf90_0006], target), format!("s_sendmsg {halt}"));
    }
}

#[test]
fn swizzle_patterns() {
    for target in since(Gen::Gfx6) {
        for pattern in ["QUAD_PERM,3,2,1,0", "BROADCAST,32,5", "REVERSE,16", "SWAP,8", "BITMASK_PERM,\"01pi0\""] {
            words(&format!("ds_swizzle_b32 v1, v2 offset:swizzle({pattern})"), target);
        }
    }
}

#[test]
fn export_targets() {
    for target in since(Gen::Gfx6) {
        for name in ["mrt0", "mrt7", "mrtz", "null", "pos0", "pos3", "param0", "param31"] {
            words(&format!("exp {name} v0, v1, v2, v3 done vm"), target);
        }
        words("exp pos1 v0, off, v2, off", target);
        words("exp mrt1 v4, v4, v5, v5 compr", target);
    }
}

#[test]
fn gpr_index_modes() {
    for target in since(Gen::Gfx8) {
        assert_eq!(words("s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)", target), "bf110900");
        assert_eq!(words("s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)", target), "bf9d0006");
        assert_eq!(words("s_set_gpr_idx_mode gpr_idx()", target), "bf9d0000");
    }
}

/// Buffer formats by name: gfx6 and gfx7 call number format 6 SNORM_OGL.
#[test]
fn buffer_formats() {
    for target in since(Gen::Gfx6) {
        for format in [
            "[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]",
            "[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SNORM]",
            "[BUF_DATA_FORMAT_32_32_32_32,BUF_NUM_FORMAT_UINT]",
            "[BUF_DATA_FORMAT_16]",
            "[BUF_NUM_FORMAT_SINT]",
        ] {
            words(&format!("tbuffer_load_format_x v0, off, s[0:3], 0 format:{format}"), target);
        }
        let named = if target.generation() < Gen::Gfx8 { "SNORM_OGL" } else { "RESERVED_6" };
        words(&format!("tbuffer_load_format_x v0, off, s[0:3], 0 format:[BUF_NUM_FORMAT_{named}]"), target);
    }
}

/// Registers and read-only sources that came or went with a generation.
#[test]
fn special_sources() {
    for target in since(Gen::Gfx6) {
        for name in ["vcc_lo", "exec_hi", "m0", "src_vccz", "src_execz", "src_scc", "ttmp11", "-16", "64", "-4.0"] {
            words(&format!("s_mov_b32 s0, {name}"), target);
        }
        words("v_mov_b32_e32 v0, src_lds_direct", target);
        let generation = target.generation();
        let known = |name: &str| asm::parse(&format!("s_mov_b32 s0, {name}"), target).is_ok();
        assert_eq!(known("src_shared_base"), generation == Gen::Gfx9, "{target}");
        assert_eq!(known("src_pops_exiting_wave_id"), generation == Gen::Gfx9, "{target}");
        assert_eq!(known("ttmp15"), generation == Gen::Gfx9, "{target}");
        assert_eq!(known("tba_lo"), generation < Gen::Gfx9, "{target}");
        assert_eq!(known("xnack_mask_lo"), generation >= Gen::Gfx8, "{target}");
        assert_eq!(known("flat_scratch_lo"), generation >= Gen::Gfx7, "{target}");
        assert!(known("0.15915494"), "{target}");
    }
}
