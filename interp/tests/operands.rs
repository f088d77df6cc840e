//! How operands are read and written: modifiers, SDWA, DPP, op_sel, EXEC, scalar sources.

mod support;

use gcnjit_interp::operands::dpp_source;
use gcnjit_isa::{Dpp, Ext, Format, Inst, Mods, Op, Operand, Sdwa, Sel, Target, Unused, Vop1, Vop2, Vop3, Vop3p, Vopc};
use gcnjit_rt::Mode;
use support::{World, inst, s, v};

const MOV: Op = Op::Vop1(Vop1::v_mov_b32);
const ADD_F32: Op = Op::Vop2(Vop2::v_add_f32);

fn mov(ext: Ext) -> Inst {
    Inst { ext, ..inst(MOV, [v(1)], [v(0)]) }
}

fn f(x: f32) -> u32 {
    x.to_bits()
}

#[test]
fn only_active_lanes_are_written() {
    let mut w = World::new(Target::Gfx900);
    w.wave.set_exec(0x8000_0000_0000_0005);
    w.set(0, |lane| lane as u32);
    w.set(1, |_| 100);
    w.run(&mov(Ext::None));
    let want = |lane: usize| if [0, 2, 63].contains(&lane) { lane as u32 } else { 100 };
    assert_eq!(w.wave.vgpr[1], std::array::from_fn(want));
}

#[test]
fn sources_of_every_kind() {
    let mut w = World::new(Target::Gfx900);
    w.wave.sgpr[7] = 0x1234;
    for (source, want) in [
        (s(7), 0x1234),
        (Operand::Inline(193), u32::MAX),
        (Operand::Inline(242), f(1.0)),
        (Operand::Inline(248), 0x3e22_f983),
        (Operand::Literal(0xdead_beef), 0xdead_beef),
        (Operand::EXEC, u32::MAX),
        (Operand::Special(251), 1),
        (Operand::Special(252), 0),
    ] {
        w.run(&inst(MOV, [v(1)], [source]));
        assert_eq!(w.wave.vgpr[1], [want; 64], "{source:?}");
    }
}

#[test]
fn wide_sources() {
    let mut w = World::new(Target::Gfx900);
    let mut add = |a, b| {
        w.run(&inst(Op::Vop3(Vop3::v_add_f64), [v(2)], [a, b]));
        f64::from_bits(u64::from(w.wave.vgpr[2][9]) | u64::from(w.wave.vgpr[3][9]) << 32)
    };
    assert_eq!(add(Operand::Inline(242), Operand::Inline(244)), 3.0);
    // A literal is the high half.
    assert_eq!(add(Operand::Literal(0x4010_0000), Operand::Inline(128)), 4.0);
    assert_eq!(add(s(100), Operand::Inline(243)), -1.0);
}

#[test]
fn abs_and_neg() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |_| f(-3.0));
    w.set(1, |_| f(-5.0));
    for (abs, neg, want) in [(0, 0, -8.0), (1, 0, -2.0), (0, 2, 2.0), (3, 3, -8.0), (3, 0, 8.0), (2, 3, -2.0)] {
        let mods = Mods { abs, neg, ..Mods::default() };
        w.run(&Inst { mods, ..inst(ADD_F32, [v(2)], [v(0), v(1)]) });
        assert_eq!(f32::from_bits(w.wave.vgpr[2][5]), want, "abs {abs} neg {neg}");
    }
}

#[test]
fn cndmask_negates_bits_and_integers_do_not() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |_| 7);
    w.wave.sgpr[10] = 0xffff_0000;
    let mods = Mods { neg: 1, ..Mods::default() };
    w.run(&Inst { mods, ..inst(Op::Vop2(Vop2::v_cndmask_b32), [v(1)], [v(0), Operand::Inline(242), s(10)]) });
    assert_eq!((w.wave.vgpr[1][0], w.wave.vgpr[1][16], w.wave.vgpr[1][40]), (0x8000_0007, f(1.0), 0x8000_0007));
    w.run(&Inst { mods, ..inst(Op::Vop2(Vop2::v_and_b32), [v(1)], [v(0), v(0)]) });
    assert_eq!(w.wave.vgpr[1][0], 7);
}

#[test]
fn omod_and_clamp_of_an_instruction() {
    let mut w = World::new(Target::Gfx900);
    w.wave.mode = Mode(0x0c0);
    let mut add = |omod, clamp| {
        let mods = Mods { omod, clamp, ..Mods::default() };
        w.run(&Inst { mods, ..inst(ADD_F32, [v(2)], [Operand::Inline(240), Operand::Inline(242)]) });
        f32::from_bits(w.wave.vgpr[2][0])
    };
    assert_eq!([add(0, false), add(1, false), add(3, false), add(3, true), add(2, true)], [1.5, 3.0, 0.75, 0.75, 1.0]);
}

#[test]
fn masks_are_zero_for_lanes_that_are_not_active() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |lane| lane as u32);
    w.wave.set_exec(0xff00_ff00);
    w.wave.set_sgpr64(10, !0);
    // The result overwrites its own source: v_cmp_gt_u32 s[10:11], s10, v0.
    w.run(&inst(Op::Vopc(Vopc::v_cmp_gt_u32), [s(10)], [s(10), v(0)]));
    assert_eq!(w.wave.sgpr64(10), 0xff00_ff00);
    w.run(&inst(Op::Vop2(Vop2::v_add_co_u32), [v(1), Operand::VCC], [v(0), Operand::Literal(u32::MAX - 9)]));
    assert_eq!(w.wave.sgpr64(106), 0xff00_fc00);
}

#[test]
fn carry_chain() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |lane| if lane % 2 == 0 { u32::MAX } else { 1 });
    w.run(&inst(Op::Vop2(Vop2::v_add_co_u32), [v(1), Operand::VCC], [v(0), Operand::Inline(129)]));
    w.run(&inst(
        Op::Vop2(Vop2::v_addc_co_u32),
        [v(2), s(20)],
        [Operand::Inline(128), Operand::Inline(128), Operand::VCC],
    ));
    assert_eq!((w.wave.vgpr[1][0], w.wave.vgpr[1][1]), (0, 2));
    assert_eq!((w.wave.vgpr[2][0], w.wave.vgpr[2][1], w.wave.sgpr64(20)), (1, 0, 0));
}

fn sdwa(dst_sel: Sel, dst_unused: Unused, src: Sel, sext: u8) -> Ext {
    Ext::Sdwa(Sdwa { dst_sel, dst_unused, src_sel: [src, Sel::Dword], sext })
}

#[test]
fn sdwa_sources_and_destinations() {
    let mut w = World::new(Target::Gfx900);
    for (dst_sel, unused, src, sext, want) in [
        (Sel::Dword, Unused::Pad, Sel::Byte0, 0, 0x0000_0078),
        (Sel::Dword, Unused::Pad, Sel::Byte3, 1, 0xffff_ff92),
        (Sel::Dword, Unused::Pad, Sel::Word1, 0, 0x0000_9234),
        (Sel::Dword, Unused::Pad, Sel::Word1, 1, 0xffff_9234),
        (Sel::Byte1, Unused::Pad, Sel::Byte0, 0, 0x0000_7800),
        (Sel::Byte1, Unused::Preserve, Sel::Byte0, 0, 0x1111_7811),
        (Sel::Word1, Unused::Preserve, Sel::Word0, 0, 0x5678_1111),
        (Sel::Byte1, Unused::Sext, Sel::Byte3, 0, 0xffff_9200),
        (Sel::Word0, Unused::Sext, Sel::Word1, 0, 0xffff_9234),
    ] {
        w.set(0, |_| 0x9234_5678);
        w.set(1, |_| 0x1111_1111);
        w.run(&mov(sdwa(dst_sel, unused, src, sext)));
        assert_eq!(w.wave.vgpr[1][3], want, "{dst_sel:?} {unused:?} {src:?} {sext}");
    }
}

#[test]
fn sdwa_selects_before_it_negates() {
    let mut w = World::new(Target::Gfx900);
    // High half −1.0, low half 2.0: |−1.0| + 2.0.
    w.set(0, |_| 0xbc00_4000);
    let ext = Ext::Sdwa(Sdwa { src_sel: [Sel::Word1, Sel::Word0], ..Sdwa::default() });
    let mods = Mods { abs: 1, ..Mods::default() };
    w.run(&Inst { ext, mods, ..inst(Op::Vop2(Vop2::v_add_f16), [v(1)], [v(0), v(0)]) });
    assert_eq!(w.wave.vgpr[1][0], 0x4200);
}

#[test]
fn sixteen_bit_results_clear_the_upper_half() {
    for target in [Target::Gfx803, Target::Gfx900] {
        let mut w = World::new(target);
        w.set(0, |_| 0xffff_0003);
        w.set(1, |_| 0x7777_7777);
        w.run(&inst(Op::Vop2(Vop2::v_add_u16), [v(1)], [v(0), v(0)]));
        assert_eq!(w.wave.vgpr[1][0], 6, "{target}");
    }
}

#[test]
fn packed_halves() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |_| 0x0002_0001);
    w.set(1, |_| 0x0020_0010);
    let packed = |op, mods| Inst { format: Format::Vop3p, mods, ..inst(Op::Vop3p(op), [v(2)], [v(0), v(1)]) };
    let straight = Mods { op_sel_hi: 3, ..Mods::default() };
    w.run(&packed(Vop3p::v_pk_add_u16, straight));
    assert_eq!(w.wave.vgpr[2][0], 0x0022_0011);
    // Low: high of v0 + low of v1. High: low of v0 + high of v1.
    w.run(&packed(Vop3p::v_pk_add_u16, Mods { op_sel: 1, op_sel_hi: 2, ..Mods::default() }));
    assert_eq!(w.wave.vgpr[2][0], 0x0021_0012);
    w.set(0, |_| 0x7fff_8000);
    w.set(1, |_| 0x0001_ffff);
    w.run(&packed(Vop3p::v_pk_add_i16, Mods { clamp: true, ..straight }));
    assert_eq!(w.wave.vgpr[2][0], 0x7fff_8000);
    w.run(&packed(Vop3p::v_pk_add_i16, straight));
    assert_eq!(w.wave.vgpr[2][0], 0x8000_7fff);
    w.set(0, |_| 0x3c00_3c00);
    w.set(1, |_| 0x4000_4200);
    w.run(&packed(Vop3p::v_pk_mul_f16, Mods { neg: 1, neg_hi: 2, ..straight }));
    assert_eq!(w.wave.vgpr[2][0], 0xc000_c200);
}

#[test]
fn dpp_sources() {
    let sources = |ctrl| [0, 1, 15, 16, 31, 32, 47, 63].map(|lane| dpp_source(ctrl, lane));
    let all = |lanes: [usize; 8]| lanes.map(Some);
    assert_eq!(sources(0b00_01_10_11), all([3, 2, 12, 19, 28, 35, 44, 60]));
    let n = None;
    assert_eq!(sources(0x101), [Some(1), Some(2), n, Some(17), n, Some(33), n, n]);
    assert_eq!(sources(0x111), [n, Some(0), Some(14), n, Some(30), n, Some(46), Some(62)]);
    assert_eq!(sources(0x121), all([15, 0, 14, 31, 30, 47, 46, 62]));
    assert_eq!(sources(0x130), [Some(1), Some(2), Some(16), Some(17), Some(32), Some(33), Some(48), n]);
    assert_eq!(sources(0x134), all([1, 2, 16, 17, 32, 33, 48, 0]));
    assert_eq!(sources(0x138), [n, Some(0), Some(14), Some(15), Some(30), Some(31), Some(46), Some(62)]);
    assert_eq!(sources(0x13c), all([63, 0, 14, 15, 30, 31, 46, 62]));
    assert_eq!(sources(0x140), all([15, 14, 0, 31, 16, 47, 32, 48]));
    assert_eq!(sources(0x141), all([7, 6, 8, 23, 24, 39, 40, 56]));
    assert_eq!(sources(0x142), all([0, 1, 15, 15, 15, 31, 31, 47]));
    assert_eq!(sources(0x143), all([0, 1, 15, 16, 31, 31, 31, 31]));
}

#[test]
fn dpp_disables_lanes() {
    let mut w = World::new(Target::Gfx900);
    let mut shift = |bound_ctrl, bank_mask, row_mask, exec: u64| {
        w.set(0, |lane| lane as u32 + 1);
        w.set(1, |_| 999);
        w.wave.set_exec(exec);
        w.run(&mov(Ext::Dpp(Dpp { ctrl: 0x111, bound_ctrl, bank_mask, row_mask })));
        [0, 1, 4, 16, 17, 35].map(|lane| w.wave.vgpr[1][lane])
    };
    assert_eq!(shift(false, 15, 15, !0), [999, 1, 4, 999, 17, 35]);
    assert_eq!(shift(true, 15, 15, !0), [0, 1, 4, 0, 17, 35]);
    assert_eq!(shift(true, 1, 15, !0), [0, 1, 999, 0, 17, 35]);
    assert_eq!(shift(true, 15, 2, !0), [999, 999, 999, 0, 17, 999]);
    // Lane 3 is not active: lane 4's source is invalid.
    assert_eq!(shift(false, 15, 15, !8), [999, 1, 999, 999, 17, 35]);
    assert_eq!(shift(true, 15, 15, !8), [0, 1, 0, 0, 17, 35]);
}

#[test]
fn gpr_indexing() {
    let mut w = World::new(Target::Gfx900);
    w.set(3, |_| 33);
    w.set(7, |_| 77);
    let on = |mode| inst(Op::Sopc(gcnjit_isa::Sopc::s_set_gpr_idx_on), [], [s(4), Operand::Imm(mode)]);
    w.wave.sgpr[4] = 2;
    w.run(&on(1));
    w.run(&inst(MOV, [v(1)], [v(1)]));
    assert_eq!((w.wave.vgpr[1][0], w.wave.sgpr[124]), (33, 0x1002));
    w.run(&on(8));
    w.run(&inst(MOV, [v(5)], [v(3)]));
    assert_eq!(w.wave.vgpr[7][0], 33);
    w.run(&inst(Op::Sopp(gcnjit_isa::Sopp::s_set_gpr_idx_off), [], []));
    w.run(&inst(MOV, [v(9)], [v(3)]));
    assert_eq!((w.wave.vgpr[9][0], w.wave.vgpr[11][0]), (33, 0));
}

#[test]
fn relative_moves() {
    let mut w = World::new(Target::Gfx803);
    w.wave.sgpr[124] = 5;
    w.set(6, |lane| lane as u32);
    w.run(&inst(Op::Vop1(Vop1::v_movrels_b32), [v(0)], [v(1)]));
    assert_eq!(w.wave.vgpr[0], w.wave.vgpr[6]);
    w.run(&inst(Op::Vop1(Vop1::v_movreld_b32), [v(3)], [v(6)]));
    assert_eq!(w.wave.vgpr[8], w.wave.vgpr[6]);
}
