//! Integer and conversion bodies against what the manual says, one row a line.

mod support;

use gcnjit_interp::fp::Fp;
use gcnjit_interp::{sop1, sop2, sopc, sopk, vop1, vop2, vop3, vop3p, vopc};
use gcnjit_isa::{Inst, Op, Operand, Sop1, Sop2, Sopk, Target, Vop1, Vop2};
use gcnjit_rt::Mode;
use half::f16;
use support::{COMPILER_MODE, PLAIN_MODE, World, fp, inst, s, v};

fn e() -> Fp {
    fp(COMPILER_MODE)
}

fn clamping() -> Fp {
    Fp { clamp: true, ..e() }
}

#[test]
fn scalar_sums() {
    assert_eq!(sop2::s_add_u32(&e(), u32::MAX, 1), (0, true));
    assert_eq!(sop2::s_sub_u32(&e(), 1, 2), (u32::MAX, true));
    assert_eq!(sop2::s_add_i32(&e(), i32::MAX, 1), (i32::MIN, true));
    assert_eq!(sop2::s_add_i32(&e(), -1, 1), (0, false));
    assert_eq!(sop2::s_sub_i32(&e(), i32::MIN, 1), (i32::MAX, true));
    assert_eq!(sop2::s_addc_u32(&e(), u32::MAX, u32::MAX, true), (u32::MAX, true));
    assert_eq!(sop2::s_subb_u32(&e(), 0, 0, true), (u32::MAX, true));
    assert_eq!(sop2::s_subb_u32(&e(), 5, 4, true), (0, false));
    assert_eq!(sop2::s_lshl4_add_u32(&e(), 0x1000_0000, 5), (5, true));
    assert_eq!(sop2::s_absdiff_i32(&e(), -3, 4), (7, true));
    assert_eq!(sop2::s_mul_hi_u32(&e(), u32::MAX, u32::MAX), u32::MAX - 1);
    assert_eq!(sop2::s_mul_hi_i32(&e(), -1, 1), -1);
    assert_eq!(sopk::s_addk_i32(&e(), i32::MAX, 1), (i32::MIN, true));
    assert!(!sopk::s_cmpk_eq_u32(&e(), u32::MAX, -1));
    assert!(sopk::s_cmpk_eq_u32(&e(), 0xffff, -1));
}

#[test]
fn scalar_bits() {
    assert_eq!(sop2::s_min_i32(&e(), -1, 0), (-1, true));
    assert_eq!(sop2::s_max_u32(&e(), 1, 1), (1, false));
    assert_eq!(sop2::s_lshl_b32(&e(), 1, 33), (2, true));
    assert_eq!(sop2::s_ashr_i64(&e(), -8, 65), (-4, true));
    assert_eq!(sop2::s_bfm_b32(&e(), 8, 4), 0xff0);
    assert_eq!(sop2::s_bfm_b32(&e(), 32, 4), 0);
    assert_eq!(sop2::s_bfe_u32(&e(), 0x1234_5678, 8 << 16 | 8), (0x56, true));
    assert_eq!(sop2::s_bfe_u32(&e(), u32::MAX, 8), (0, false));
    assert_eq!(sop2::s_bfe_u32(&e(), 0x8000_0000, 40 << 16 | 31), (1, true));
    assert_eq!(sop2::s_bfe_i32(&e(), 0x0000_0f00, 4 << 16 | 8), (-1, true));
    assert_eq!(sop2::s_bfe_i64(&e(), 0x80_0000_0000, 8 << 16 | 32), (-128, true));
    assert_eq!(sop2::s_pack_lh_b32_b16(&e(), 0x1111_2222, 0x3333_4444), 0x3333_2222);
    assert_eq!(sop1::s_wqm_b32(&e(), 0x0000_8010), (0x0000_f0f0, true));
    assert_eq!(sop1::s_quadmask_b64(&e(), 0xf000_0000_0000_0010), (0x8002, true));
    assert_eq!(sop1::s_bcnt0_i32_b32(&e(), u32::MAX), (0, false));
    assert_eq!(sop1::s_ff0_i32_b32(&e(), 7), 3);
    assert_eq!(sop1::s_ff1_i32_b64(&e(), 1 << 40), 40);
    assert_eq!(sop1::s_ff1_i32_b64(&e(), 0), -1);
    assert_eq!(sop1::s_flbit_i32_b32(&e(), 0x1000), 19);
    assert_eq!(sop1::s_flbit_i32(&e(), -1), -1);
    assert_eq!(sop1::s_flbit_i32(&e(), -2), 31);
    assert_eq!(sop1::s_bitset0_b32(&e(), 33, 7), 5);
    assert_eq!(sop1::s_bitreplicate_b64_b32(&e(), 0x8000_0005), 0xc000_0000_0000_0033);
    assert!(sopc::s_bitcmp0_b32(&e(), 0xf7, 3) && sopc::s_bitcmp1_b64(&e(), 1 << 63, 63));
}

#[test]
fn scalar_condition_code_and_pairs() {
    let mut w = World::new(Target::Gfx900);
    w.wave.set_sgpr64(4, 0xff);
    w.wave.set_sgpr64(6, 0xf0f);
    w.run(&inst(Op::Sop2(Sop2::s_and_b64), [s(8), Operand::Scc], [s(4), s(6)]));
    assert_eq!((w.wave.sgpr64(8), w.wave.scc), (0x0f, 1));
    w.run(&inst(Op::Sop2(Sop2::s_cselect_b32), [s(10)], [s(4), s(6), Operand::Scc]));
    assert_eq!(w.wave.sgpr[10], 0xff);
}

#[test]
fn saving_exec() {
    let mut w = World::new(Target::Gfx900);
    for (op, exec, scc) in [
        (Sop1::s_and_saveexec_b64, 0x0c, 1),
        (Sop1::s_xor_saveexec_b64, 0x36, 1),
        (Sop1::s_andn2_saveexec_b64, 0x02, 1),
    ] {
        w.wave.set_exec(0x3c);
        w.wave.set_sgpr64(2, 0x0e ^ if op == Sop1::s_xor_saveexec_b64 { 4 } else { 0 });
        w.run(&inst(Op::Sop1(op), [s(2), Operand::Scc], [s(2)]));
        assert_eq!((w.wave.exec(), w.wave.sgpr64(2), w.wave.scc), (exec, 0x3c, scc), "{op:?}");
    }
}

#[test]
fn mode_is_a_register() {
    let mut w = World::new(Target::Gfx900);
    // hwreg(HW_REG_MODE, 4, 2)
    let field = Operand::Imm(1 | 4 << 6 | 1 << 11);
    w.run(&inst(Op::Sopk(Sopk::s_setreg_imm32_b32), [], [Operand::Literal(3), field]));
    assert_eq!(w.wave.mode, Mode(0x3f0));
    let elsewhere = inst(Op::Sopk(Sopk::s_setreg_imm32_b32), [], [Operand::Literal(3), Operand::Imm(2)]);
    assert!(w.step(&elsewhere).is_err());
}

#[test]
fn vector_integers() {
    assert_eq!(vop2::v_mul_hi_i32_i24(&e(), -0x80_0000, 0x7f_ffff), -0x4000);
    assert_eq!(vop2::v_ashrrev_i32(&e(), 33, -8), -4);
    assert_eq!(vop2::v_ashrrev_i16(&e(), 17, -8), -4);
    assert_eq!(vop2::v_subrev_u32(&e(), 1, 3), 2);
    assert_eq!(vop2::v_subbrev_co_u32(&e(), 3, 3, true), (u32::MAX, true));
    assert_eq!(vop2::v_add_u16(&clamping(), 0xffff, 2), 0xffff);
    assert_eq!(vop2::v_sub_co_u32(&clamping(), 1, 2), (0, true));
    assert_eq!(vop2::v_bcnt_u32_b32(&e(), 0xff, 10), 18);
    assert_eq!(vop1::v_ffbh_u32(&e(), 0), u32::MAX);
    assert_eq!(vop1::v_ffbh_i32(&e(), -2), 31);
    assert_eq!(vop1::v_sat_pk_u8_i16(&e(), [-5, 300]), 0xff00);
    assert_eq!(vop3::v_bfe_u32(&e(), 0xabcd_1234, 8, 8), 0x12);
    assert_eq!(vop3::v_bfe_i32(&e(), 0xf0, 4, 4), -1);
    assert_eq!(vop3::v_bfe_i32(&e(), i32::MIN, 28, 31), -8);
    assert_eq!(vop3::v_bfi_b32(&e(), 0xff00, 0x1234, 0x5678), 0x1278);
    assert_eq!(vop3::v_alignbit_b32(&e(), 0x1, 0x8000_0000, 31), 3);
    assert_eq!(vop3::v_alignbyte_b32(&e(), 0x1122_3344, 0x5566_7788, 3), 0x2233_4455);
    assert_eq!(vop3::v_lerp_u8(&e(), 0xff00_0102, 0xff01_0203, 0x0001_0001), 0xff01_0103);
    assert_eq!(vop3::v_med3_i32(&e(), 5, -1, 3), 3);
    assert_eq!(vop3::v_sad_u8(&e(), 0x0102_0304, 0x0400_0005, 100), 3 + 2 + 3 + 1 + 100);
    assert_eq!(vop3::v_msad_u8(&e(), 0x0102_0304, 0x0400_0005, 100), 3 + 1 + 100);
    assert_eq!(vop3::v_mad_u64_u32(&e(), u32::MAX, u32::MAX, u64::MAX), (0xffff_fffe_0000_0000, true));
    assert_eq!(vop3::v_perm_b32(&e(), 0x1122_3344, 0x8566_7788, 0x0d0c_0700), 0xff00_1188);
    assert_eq!(vop3::v_perm_b32(&e(), 0x1122_b344, 0x8566_7788, 0x0b0a_0908), 0x00ff_ff00);
    assert_eq!(vop3::v_mad_u32_u24(&clamping(), 0xff_ffff, 0xff_ffff, 0), u32::MAX);
    assert_eq!(vop3p::v_pk_ashrrev_i16(&e(), [1, 2], [-8, -8]), [-4, -2]);
}

#[test]
fn twenty_four_bits() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |_| 0xab80_0001);
    w.run(&inst(Op::Vop2(Vop2::v_mul_i32_i24), [v(1)], [v(0), Operand::Inline(130)]));
    assert_eq!(w.wave.vgpr[1][0], 0xff00_0002);
    w.run(&inst(Op::Vop2(Vop2::v_mul_u32_u24), [v(1)], [v(0), Operand::Inline(130)]));
    assert_eq!(w.wave.vgpr[1][0], 0x0100_0002);
}

#[test]
fn lane_crossing() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |lane| 100 + lane as u32);
    w.wave.set_exec(0xf0);
    w.run(&inst(Op::Vop1(Vop1::v_readfirstlane_b32), [s(0)], [v(0)]));
    w.run(&inst(Op::Vop2(Vop2::v_readlane_b32), [s(1)], [v(0), Operand::Inline(128 + 63)]));
    w.run(&inst(Op::Vop2(Vop2::v_writelane_b32), [v(0)], [s(1), Operand::Inline(128 + 2), v(0)]));
    assert_eq!((w.wave.sgpr[0], w.wave.sgpr[1], w.wave.vgpr[0][2]), (104, 163, 163));
    w.wave.set_exec(0);
    w.run(&inst(Op::Vop1(Vop1::v_readfirstlane_b32), [s(0)], [v(0)]));
    assert_eq!(w.wave.sgpr[0], 100);
}

#[test]
fn counting_lanes() {
    let mut w = World::new(Target::Gfx900);
    let all = Operand::Inline(193);
    let count = |op, source| inst(Op::Vop2(op), [v(0)], [all, source]);
    w.run(&count(Vop2::v_mbcnt_lo_u32_b32, Operand::Inline(128)));
    w.run(&count(Vop2::v_mbcnt_hi_u32_b32, v(0)));
    assert_eq!(w.wave.vgpr[0], std::array::from_fn(|lane| lane as u32));
}

#[test]
fn conversions_to_integers_saturate() {
    let nan = f32::NAN;
    assert_eq!([-1.5, 1.99, 5e9, nan].map(|x| vop1::v_cvt_u32_f32(&e(), x)), [0, 1, u32::MAX, 0]);
    assert_eq!([-1.5, 1.99, -5e9, nan].map(|x| vop1::v_cvt_i32_f32(&e(), x)), [-1, 1, i32::MIN, 0]);
    assert_eq!([-1.5, 0.5, 2.4999].map(|x| vop1::v_cvt_rpi_i32_f32(&e(), x)), [-1, 1, 2]);
    assert_eq!([-1.5, 0.5].map(|x| vop1::v_cvt_flr_i32_f32(&e(), x)), [-2, 0]);
    assert_eq!([0, 7, 8, 15].map(|x| vop1::v_cvt_off_f32_i4(&e(), x)), [0.0, 0.4375, -0.5, -0.0625]);
    assert_eq!(vop1::v_cvt_u16_f16(&e(), f16::from_f32(-2.0)), 0);
    assert_eq!(vop2::v_cvt_pk_i16_i32(&e(), 70_000, -70_000), [32767, -32768]);
    assert_eq!(vop2::v_cvt_pknorm_i16_f32(&e(), 1.0, -2.0), [32767, -32767]);
    assert_eq!(vop3::v_cvt_pk_u8_f32(&e(), 2.5, 5, 0x1111_1111), 0x1111_0211);
    assert_eq!(vop2::v_cvt_pkrtz_f16_f32(&e(), 1.9999999, -1e9).map(f16::to_bits), [0x3fff, 0xfbff]);
}

#[test]
fn conversions_to_floats_round_by_mode() {
    assert_eq!(vop1::v_cvt_f32_u32(&e(), u32::MAX), 4_294_967_296.0);
    let down = fp(Mode(0x3c0 | 2));
    assert_eq!(vop1::v_cvt_f32_u32(&down, u32::MAX).to_bits(), 0x4f7f_ffff);
    assert_eq!(vop1::v_cvt_f32_i32(&e(), -5), -5.0);
    assert_eq!(vop1::v_cvt_f32_ubyte2(&e(), 0x0012_0000), 18.0);
    assert_eq!(vop1::v_cvt_f16_u16(&e(), 65_535), f16::INFINITY);
}

#[test]
fn rounding_to_integers() {
    let e = fp(PLAIN_MODE);
    let all = |x: f32| {
        [vop1::v_floor_f32(&e, x), vop1::v_ceil_f32(&e, x), vop1::v_trunc_f32(&e, x), vop1::v_rndne_f32(&e, x)]
    };
    assert_eq!(all(-2.5), [-3.0, -2.0, -2.0, -2.0]);
    assert_eq!(all(3.5), [3.0, 4.0, 3.0, 4.0]);
    assert_eq!(vop1::v_rndne_f32(&e, -0.2).to_bits(), f32::to_bits(-0.0));
    assert_eq!(vop1::v_floor_f32(&e, f32::from_bits(0x8000_0001)), -1.0);
    assert_eq!(vop1::v_floor_f32(&fp(COMPILER_MODE), f32::from_bits(0x8000_0001)).to_bits(), f32::to_bits(-0.0));
}

#[test]
fn clamped_and_legacy_functions() {
    assert_eq!(vop1::v_rcp_clamp_f32(&e(), -0.0), -f32::MAX);
    assert_eq!(vop1::v_rcp_legacy_f32(&e(), 0.0), 0.0);
    assert_eq!(vop1::v_log_clamp_f32(&e(), 0.0), -f32::MAX);
    assert_eq!(vop2::v_mul_legacy_f32(&e(), 0.0, f32::INFINITY), 0.0);
    assert_eq!(vop3::v_mad_legacy_f32(&e(), 0.0, f32::INFINITY, 3.0), 3.0);
    assert_eq!(vop2::v_min_legacy_f32(&e(), f32::NAN, 1.0), 1.0);
}

#[test]
fn compares_of_unordered_values() {
    let e = fp(COMPILER_MODE);
    let nan = f32::NAN;
    let ordered = [vopc::v_cmp_lt_f32, vopc::v_cmp_eq_f32, vopc::v_cmp_lg_f32, vopc::v_cmp_ge_f32, vopc::v_cmp_o_f32];
    let unordered =
        [vopc::v_cmp_nlt_f32, vopc::v_cmp_neq_f32, vopc::v_cmp_nlg_f32, vopc::v_cmp_nge_f32, vopc::v_cmp_u_f32];
    assert!(ordered.iter().all(|f| !f(&e, nan, 1.0) && !f(&e, 1.0, nan)));
    assert!(unordered.iter().all(|f| f(&e, nan, 1.0) && f(&e, 1.0, nan)));
    assert!(vopc::v_cmp_eq_f32(&e, f32::from_bits(1), -0.0), "denormals are flushed");
    assert!(vopc::v_cmp_lg_f32(&e, 1.0, 2.0) && !vopc::v_cmp_lg_f32(&e, 1.0, 1.0) && vopc::v_cmp_nlg_f32(&e, 1.0, 1.0));
}

#[test]
fn scalar_immediates() {
    let mut w = World::new(Target::Gfx900);
    let k: Inst = inst(Op::Sopk(Sopk::s_movk_i32), [s(3)], [Operand::Imm(-2)]);
    w.run(&k);
    assert_eq!(w.wave.sgpr[3], 0xffff_fffe);
}
