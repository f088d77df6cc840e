//! What instructions leave in TRAPSTS: arithmetic against exact integers (see `support/exact.rs`) in every rounding and
//! denormal mode, and cases worked out by hand from the manuals' descriptions and from IEEE 754 for each kind of row.

#[path = "support/exact.rs"]
mod exact;
mod support;

use exact::{F16, F32, F64, Format, Number, Rules, evaluate, power, raised};
use gcnjit_interp::fp::{Float, Fp};
use gcnjit_interp::run::{Buffers, Machine};
use gcnjit_interp::vop1;
use gcnjit_isa::{Inst, Op, Operand, Sopk, Target, Vop1, Vop2, Vop3, Vop3p, Vopc};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::{Env, Mode, Round, Trap, trapsts};
use half::f16;
use std::sync::atomic::AtomicBool;
use support::{Random, World, env, fp, inst, s, v};

const INVALID: u32 = exact::INVALID;
const DENORMAL: u32 = exact::INPUT_DENORMAL;
const ZERO: u32 = 1 << 2;
const OVERFLOW: u32 = exact::OVERFLOW | INEXACT;
const UNDERFLOW: u32 = exact::UNDERFLOW | INEXACT;
const INEXACT: u32 = exact::INEXACT;
const INTEGER: u32 = 1 << 6;

/// Every combination of rounding and denormal handling, the same for all formats.
fn modes() -> impl Iterator<Item = (Fp, Rules)> {
    (0..16).map(|bits: u32| {
        let (round, denormals) = (bits & 3, bits >> 2);
        let rounds = [Round::NearestEven, Round::Up, Round::Down, Round::Zero];
        let mode = Mode((round * 0b101) | (denormals * 0b101_0000));
        let (flush_in, flush_out) = (denormals & 1 == 0, denormals & 2 == 0);
        (fp(mode), Rules { round: rounds[round as usize], flush_in, flush_out })
    })
}

/// What the model says of an operation on `sources`: what they are, and what `f` says of their numbers.
fn model(format: Format, rules: Rules, sources: &[u64], f: impl Fn(&[Number]) -> u32) -> u32 {
    let quiet = |x: u64| x & format.quiet_bit() != 0;
    let mut seen = 0;
    for x in sources {
        seen |= if format.is_denormal(*x) { DENORMAL } else { 0 };
        seen |= if format.is_nan(*x) && !quiet(*x) { INVALID } else { 0 };
    }
    if sources.iter().any(|x| format.is_nan(*x)) {
        return seen;
    }
    let numbers: Vec<Number> = sources.iter().map(|x| format.number(rules.source(format, *x))).collect();
    seen | f(&numbers)
}

/// What `f` raises.
fn of<T>(e: &Fp, f: impl Fn(&Fp) -> T) -> u32 {
    e.watch(true);
    f(e);
    e.take_raised().bits()
}

fn sums_and_products<T: Float>(format: Format, seed: u64) {
    let mut numbers = Random(seed);
    for (e, rules) in modes() {
        for _ in 0..3_000 {
            let [a, b, c] = [0; 3].map(|_| T::from_raw(numbers.float(T::BITS, T::MANTISSA)));
            let check = |name: &str, got: u32, sources: &[T], terms: &dyn Fn(&[Number]) -> u32| {
                let sources: Vec<u64> = sources.iter().map(|x| x.raw()).collect();
                let want = model(format, rules, &sources, terms);
                assert_eq!(got, want, "{name} of {sources:x?} by {rules:?}");
            };
            let sum = |x: &[Number]| raised(format, rules, &[&[x[0]], &[x[1]]]);
            check("add", of(&e, |e| e.add(a, b)), &[a, b], &sum);
            check("sub", of(&e, |e| e.sub(a, b)), &[a, b], &|x| sum(&[x[0], -x[1]]));
            check("mul", of(&e, |e| e.mul(a, b)), &[a, b], &|x| raised(format, rules, &[&[x[0], x[1]]]));
            let fused = |x: &[Number]| raised(format, rules, &[&[x[0], x[1]], &[x[2]]]);
            check("fma", of(&e, |e| e.fma(a, b, c)), &[a, b, c], &fused);
            let n = numbers.below(400) as i32 - 200;
            let scaled = |x: &[Number]| raised(format, rules, &[&[x[0], power(n)]]);
            check("ldexp", of(&e, |e| e.ldexp(a, n)), &[a], &scaled);
        }
    }
}

#[test]
fn sums_products_and_scaling_are_as_exact_integers_have_them() {
    sums_and_products::<f16>(F16, 1);
    sums_and_products::<f32>(F32, 2);
    sums_and_products::<f64>(F64, 3);
}

/// The product is rounded and goes into the sum, for which it is nobody's denormal source.
#[test]
fn two_steps_raise_what_each_of_them_does() {
    let mut numbers = Random(4);
    for (e, rules) in modes() {
        for _ in 0..3_000 {
            let [a, b, c] = [0; 3].map(|_| f16::from_raw(numbers.float(16, 10)));
            let sources = [a, b, c].map(Float::raw);
            let first = model(F16, rules, &sources[..2], |x| raised(F16, rules, &[&[x[0], x[1]]]));
            let factors = sources[..2].iter().map(|x| rules.source(F16, *x)).collect::<Vec<u64>>();
            let nan = factors.iter().any(|x| F16.is_nan(*x));
            let product = if nan {
                F16.default_nan()
            } else {
                let [x, y] = [factors[0], factors[1]].map(|x| F16.number(x));
                evaluate(F16, rules, &[&[x, y]])
            };
            let second = model(F16, rules, &[product, sources[2]], |x| raised(F16, rules, &[&[x[0]], &[x[1]]]));
            let own = if F16.is_denormal(sources[2]) { DENORMAL } else { 0 };
            assert_eq!(of(&e, |e| e.mad(a, b, c)), first | second & !DENORMAL | own, "{sources:x?} by {rules:?}");
        }
    }
}

#[test]
fn conversions_are_as_exact_integers_have_them() {
    let mut numbers = Random(5);
    for (e, rules) in modes() {
        for _ in 0..5_000 {
            let x = numbers.f32();
            let half = model(F32, rules, &[x.raw()], |n| raised(F16, rules, &[n]));
            assert_eq!(of(&e, |e| vop1::v_cvt_f16_f32(e, x)), half, "{x:e} by {rules:?}");
            let y = f64::from_bits(numbers.float(64, 52) & !(3 << 60) | 0x3000_0000_0000_0000);
            let single = model(F64, rules, &[y.raw()], |n| raised(F32, rules, &[n]));
            assert_eq!(of(&e, |e| vop1::v_cvt_f32_f64(e, y)), single, "{y:e} by {rules:?}");
        }
        for x in 0..=0xffff_u16 {
            let exact = Number::Finite { negative: false, significand: x.into(), exponent: 0 };
            let want = raised(F16, rules, &[&[exact]]);
            assert_eq!(of(&e, |e| vop1::v_cvt_f16_u16(e, x)), want, "{x} by {rules:?}");
        }
    }
}

/// Denormals flushed on both sides, all kept.
const FLUSH: u32 = 0;
const KEEP: u32 = 0xf0;

fn machine(target: Target, mode: u32) -> World {
    let mut world = World::new(target);
    world.wave.mode = Mode(mode);
    world
}

/// What an instruction raises whose sources are the same in all lanes.
fn raises(target: Target, mode: u32, op: impl Into<Op>, sources: &[u64], change: impl Fn(&mut Inst)) -> u32 {
    let op = op.into();
    let mut world = machine(target, mode);
    let mut operands = [Operand::None; 4];
    for (i, (x, ty)) in sources.iter().zip(op.info().srcs).enumerate() {
        let first = 2 * i as u8;
        operands[i] = if *ty == gcnjit_isa::Ty::mask { s(first) } else { v(first) };
        world.set(usize::from(first), |_| *x as u32);
        world.set(usize::from(first) + 1, |_| (*x >> 32) as u32);
        world.wave.set_sgpr64(first.into(), *x);
    }
    let to = if op.info().dsts[0] == gcnjit_isa::Ty::mask { s(20) } else { v(20) };
    let mut instruction = inst(op, [to, s(22)], operands);
    change(&mut instruction);
    world.run(&instruction);
    world.wave.trapsts
}

/// On gfx9 in nearest-even, IEEE off.
fn single(mode: u32, op: impl Into<Op>, sources: &[f32]) -> u32 {
    let bits: Vec<u64> = sources.iter().map(|x| u64::from(x.to_bits())).collect();
    raises(Target::Gfx900, mode, op, &bits, |_| ())
}

const SIGNALLING: f32 = f32::from_bits(0x7f80_0001);
const DENORM: f32 = f32::from_bits(1);

#[test]
fn sums_and_products_by_hand() {
    use Vop2::{v_add_f32, v_mul_f32, v_mul_legacy_f32};
    let inf = f32::INFINITY;
    for mode in [FLUSH, KEEP] {
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[1.0, 2.0]), 0);
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[1.0, 1e-10]), INEXACT);
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[inf, -inf]), INVALID);
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[SIGNALLING, 1.0]), INVALID);
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[f32::NAN, DENORM]), DENORMAL);
        assert_eq!(single(mode, Op::Vop2(v_add_f32), &[f32::MAX, f32::MAX]), OVERFLOW);
        assert_eq!(single(mode, Op::Vop2(v_mul_f32), &[0.0, inf]), INVALID);
        assert_eq!(single(mode, Op::Vop2(v_mul_legacy_f32), &[0.0, inf]), 0);
    }
    // A denormal source counts in either mode; kept, it also rounds the sum.
    assert_eq!(single(FLUSH, Op::Vop2(v_add_f32), &[1.0, DENORM]), DENORMAL);
    assert_eq!(single(KEEP, Op::Vop2(v_add_f32), &[1.0, DENORM]), DENORMAL | INEXACT);
    // Exactly half of the least normal number: nothing, unless it is flushed.
    assert_eq!(single(KEEP, Op::Vop2(v_mul_f32), &[f32::MIN_POSITIVE, 0.5]), 0);
    assert_eq!(single(FLUSH, Op::Vop2(v_mul_f32), &[f32::MIN_POSITIVE, 0.5]), UNDERFLOW);
    assert_eq!(single(KEEP, Op::Vop2(v_mul_f32), &[1e-30, 1e-30]), UNDERFLOW);
    // Towards zero an overflow ends at the largest number.
    assert_eq!(single(KEEP | 3, Op::Vop2(v_mul_f32), &[f32::MAX, 2.0]), OVERFLOW);
}

/// LLVM's instruction definitions have these without floating-point exceptions; moves and selections are no arithmetic.
#[test]
fn rows_that_raise_nothing() {
    let hard = [SIGNALLING, DENORM, f32::MAX];
    for op in [Op::Vop3(Vop3::v_mad_f32), Op::Vop3(Vop3::v_min3_f32), Op::Vop3(Vop3::v_med3_f32)]
        .into_iter()
        .chain([Vop3::v_cubeid_f32, Vop3::v_cubema_f32, Vop3::v_div_scale_f32, Vop3::v_mad_legacy_f32].map(Op::Vop3))
    {
        assert!(op.exceptions().is_empty(), "{op:?}");
        assert_eq!(single(KEEP, op, &hard), 0, "{op:?}");
        assert_eq!(single(FLUSH, op, &[f32::MAX, f32::MAX, 1.0]), 0, "{op:?}");
    }
    assert_eq!(single(KEEP, Op::Vop1(Vop1::v_mov_b32), &hard[..1]), 0);
    assert_eq!(single(KEEP, Op::Vop1(Vop1::v_cvt_flr_i32_f32), &[1.5]), 0);
    assert_eq!(single(KEEP, Op::Vop1(Vop1::v_cvt_f32_u32), &[f32::from_bits(0x0fff_ffff)]), 0);
    assert_eq!(single(KEEP, Op::Vop2(Vop2::v_cvt_pknorm_i16_f32), &[SIGNALLING, 0.3]), 0);
    // The manual: this opcode does not raise exceptions under any circumstances.
    assert_eq!(single(KEEP, Op::Vopc(Vopc::v_cmp_class_f32), &hard[..2]), 0);
    assert_eq!(single(KEEP, Op::Vop3p(Vop3p::v_mad_mix_f32), &hard), 0);
}

#[test]
fn rounding_to_integers_by_hand() {
    let round = |op: Vop1, x: f32| single(KEEP, Op::Vop1(op), &[x]);
    assert_eq!(round(Vop1::v_floor_f32, 1.5), 0);
    assert_eq!(round(Vop1::v_rndne_f32, SIGNALLING), INVALID);
    assert_eq!(round(Vop1::v_trunc_f32, DENORM), DENORMAL);
    assert_eq!(round(Vop1::v_fract_f32, 1.5), 0);
    assert_eq!(round(Vop1::v_fract_f32, -1e-10), INEXACT);
    assert_eq!(round(Vop1::v_fract_f32, f32::INFINITY), INVALID);
    assert_eq!(round(Vop1::v_frexp_mant_f32, SIGNALLING), INVALID);
    assert_eq!(round(Vop1::v_frexp_exp_i32_f32, DENORM), DENORMAL);
    assert_eq!(round(Vop1::v_cvt_i32_f32, 7.0), 0);
    assert_eq!(round(Vop1::v_cvt_i32_f32, -7.5), INEXACT);
    assert_eq!(round(Vop1::v_cvt_i32_f32, 2_147_483_648.0), INVALID);
    assert_eq!(round(Vop1::v_cvt_i32_f32, -2_147_483_648.0), 0);
    assert_eq!(round(Vop1::v_cvt_u32_f32, -0.5), INEXACT);
    assert_eq!(round(Vop1::v_cvt_u32_f32, -1.0), INVALID);
    assert_eq!(round(Vop1::v_cvt_u32_f32, f32::NAN), INVALID);
    assert_eq!(single(KEEP, Op::Vop3(Vop3::v_cvt_pk_u8_f32), &[255.5, 0.0, 0.0]), INVALID);
    assert_eq!(single(KEEP, Op::Vop3(Vop3::v_cvt_pk_u8_f32), &[7.25, 0.0, 0.0]), INEXACT);
}

/// omod stops the exceptions of a conversion to an integer; elsewhere it is a multiplication.
#[test]
fn output_modifiers_by_hand() {
    let with = |op: Op, mode: u32, sources: &[f32], omod: u8, clamp: bool| {
        let bits: Vec<u64> = sources.iter().map(|x| u64::from(x.to_bits())).collect();
        raises(Target::Gfx803, mode, op, &bits, |inst| (inst.mods.omod, inst.mods.clamp) = (omod, clamp))
    };
    let [convert, add] = [Op::Vop1(Vop1::v_cvt_i32_f32), Op::Vop2(Vop2::v_add_f32)];
    assert_eq!(with(convert, FLUSH, &[1.5], 1, false), 0);
    assert_eq!(with(add, FLUSH, &[f32::MAX, 0.0], 0, false), 0);
    assert_eq!(with(add, FLUSH, &[f32::MAX, 0.0], 1, false), OVERFLOW);
    assert_eq!(with(add, FLUSH, &[f32::MIN_POSITIVE, 0.0], 3, false), UNDERFLOW);
    // Ignored where denormals are kept, and in IEEE mode.
    assert_eq!(with(add, KEEP, &[f32::MAX, 0.0], 1, false), 0);
    assert_eq!(with(add, FLUSH | 1 << 9, &[f32::MAX, 0.0], 1, false), 0);
    assert_eq!(with(add, FLUSH, &[f32::MAX, 0.0], 0, true), 0);
}

#[test]
fn approximated_functions_by_hand() {
    let of = |op: Vop1, x: f32| single(KEEP, Op::Vop1(op), &[x]);
    assert_eq!(of(Vop1::v_rcp_f32, 0.0), ZERO);
    assert_eq!(of(Vop1::v_rcp_f32, -4.0), 0);
    assert_eq!(of(Vop1::v_rcp_f32, 3.0), INEXACT);
    assert_eq!(of(Vop1::v_rcp_f32, f32::INFINITY), 0);
    assert_eq!(of(Vop1::v_rcp_f32, DENORM), DENORMAL | OVERFLOW);
    assert_eq!(of(Vop1::v_rcp_f32, SIGNALLING), INVALID);
    assert_eq!(of(Vop1::v_rsq_f32, 16.0), 0);
    assert_eq!(of(Vop1::v_rsq_f32, 2.0), INEXACT);
    assert_eq!(of(Vop1::v_rsq_f32, -0.0), ZERO);
    assert_eq!(of(Vop1::v_rsq_f32, -1.0), INVALID);
    assert_eq!(of(Vop1::v_sqrt_f32, 2.25), 0);
    assert_eq!(of(Vop1::v_sqrt_f32, 3.0), INEXACT);
    assert_eq!(of(Vop1::v_sqrt_f32, -3.0), INVALID);
    assert_eq!(of(Vop1::v_sqrt_f32, -0.0), 0);
    assert_eq!(of(Vop1::v_exp_f32, 3.0), 0);
    assert_eq!(of(Vop1::v_exp_f32, 0.5), INEXACT);
    assert_eq!(of(Vop1::v_exp_f32, 128.0), OVERFLOW);
    assert_eq!(of(Vop1::v_exp_f32, -200.0), UNDERFLOW);
    assert_eq!(of(Vop1::v_exp_f32, f32::NEG_INFINITY), 0);
    assert_eq!(of(Vop1::v_log_f32, 8.0), 0);
    assert_eq!(of(Vop1::v_log_f32, 3.0), INEXACT);
    assert_eq!(of(Vop1::v_log_f32, 0.0), ZERO);
    assert_eq!(of(Vop1::v_log_f32, -8.0), INVALID);
    assert_eq!(of(Vop1::v_sin_f32, 0.25), 0);
    assert_eq!(of(Vop1::v_sin_f32, 0.1), INEXACT);
    assert_eq!(of(Vop1::v_sin_f32, f32::INFINITY), INVALID);
    // Beyond ±256 the result is a constant.
    assert_eq!(of(Vop1::v_cos_f32, 300.3), 0);
    // The manual: only the integer division's flag.
    assert_eq!(of(Vop1::v_rcp_iflag_f32, 0.0), INTEGER);
    assert_eq!(of(Vop1::v_rcp_iflag_f32, 3.0), 0);
    assert_eq!(of(Vop1::v_rcp_iflag_f32, SIGNALLING), 0);
    let half = |op: Vop1, x: u16| raises(Target::Gfx900, KEEP, Op::Vop1(op), &[x.into()], |_| ());
    assert_eq!(half(Vop1::v_rcp_f16, 1), DENORMAL | OVERFLOW);
    assert_eq!(half(Vop1::v_exp_f16, f16::from_f32(-20.0).to_bits()), 0);
    assert_eq!(half(Vop1::v_exp_f16, f16::from_f32(-30.0).to_bits()), UNDERFLOW);
    assert_eq!(half(Vop1::v_exp_f16, f16::from_f32(16.0).to_bits()), OVERFLOW);
}

/// The manual's table of VOPC: on signalling NaNs only, and the signalling compares on any.
#[test]
fn compares_by_hand() {
    let compare = |target, op, a: f32, b: f32| {
        raises(target, KEEP, Op::Vopc(op), &[a.to_bits().into(), b.to_bits().into()], |_| ())
    };
    for op in [Vopc::v_cmp_lt_f32, Vopc::v_cmp_u_f32, Vopc::v_cmpx_neq_f32] {
        assert_eq!(compare(Target::Gfx900, op, 1.0, f32::NAN), 0);
        assert_eq!(compare(Target::Gfx900, op, 1.0, SIGNALLING), INVALID);
        assert_eq!(compare(Target::Gfx900, op, 1.0, DENORM), DENORMAL);
    }
    for op in [Vopc::v_cmps_lt_f32, Vopc::v_cmpsx_eq_f32, Vopc::v_cmps_o_f32] {
        assert_eq!(compare(Target::Gfx600, op, 1.0, f32::NAN), INVALID);
        assert_eq!(compare(Target::Gfx600, op, 1.0, 2.0), 0);
    }
}

/// The manual: v_div_fixup generates all exceptions caused by the division.
#[test]
fn division_by_hand() {
    let fixup = |mode, d: f32, n: f32| single(mode, Op::Vop3(Vop3::v_div_fixup_f32), &[n / d, d, n]);
    assert_eq!(fixup(KEEP, 2.0, 3.0), 0);
    assert_eq!(fixup(KEEP, 3.0, 2.0), INEXACT);
    assert_eq!(fixup(KEEP, 0.0, 1.0), ZERO);
    assert_eq!(fixup(KEEP, 0.0, 0.0), INVALID);
    assert_eq!(fixup(KEEP, f32::INFINITY, f32::INFINITY), INVALID);
    assert_eq!(fixup(KEEP, 0.0, f32::INFINITY), 0);
    assert_eq!(fixup(KEEP, SIGNALLING, 1.0), INVALID);
    assert_eq!(fixup(KEEP, f32::NAN, 0.0), 0);
    assert_eq!(fixup(KEEP, 1e-30, 1e30), OVERFLOW);
    assert_eq!(fixup(KEEP, 1e30, 1e-30), UNDERFLOW);
    assert_eq!(fixup(FLUSH, 2.0, f32::MIN_POSITIVE), UNDERFLOW);
    assert_eq!(fixup(FLUSH, DENORM, 1.0), DENORMAL | ZERO);
    let scaled = |mask: u64| {
        let bits = [f32::MAX, 1.0, 0.0].map(|x| u64::from(x.to_bits()));
        raises(Target::Gfx900, KEEP, Op::Vop3(Vop3::v_div_fmas_f32), &[bits[0], bits[1], bits[2], mask], |_| ())
    };
    assert_eq!(scaled(0), 0);
    let small = [1.0_f32, 2.0, 4.0].map(|x| u64::from(x.to_bits()));
    let scaled = raises(
        Target::Gfx900,
        KEEP,
        Op::Vop3(Vop3::v_div_fmas_f32),
        &[f32::MAX.to_bits().into(), small[0], small[2], u64::MAX],
        |_| (),
    );
    // Times 2^64.
    assert_eq!(scaled, OVERFLOW);
}

/// An instruction raises for its enabled lanes only, and bits stay until they are cleared.
#[test]
fn lanes_and_sticky_bits() {
    let mut world = machine(Target::Gfx900, KEEP);
    world.set(0, |lane| if lane == 5 { 0.0_f32 } else { 2.0 }.to_bits());
    let rcp = inst(Op::Vop1(Vop1::v_rcp_f32), [v(2)], [v(0)]);
    world.wave.set_exec(!(1 << 5));
    world.run(&rcp);
    assert_eq!(world.wave.trapsts, 0);
    world.wave.set_exec(1 << 5);
    world.run(&rcp);
    assert_eq!(world.wave.trapsts, ZERO);
    world.wave.set_exec(0);
    world.set(0, |_| 3.0_f32.to_bits());
    world.run(&rcp);
    assert_eq!(world.wave.trapsts, ZERO);
    world.wave.set_exec(u64::MAX);
    world.run(&rcp);
    assert_eq!(world.wave.trapsts, ZERO | INEXACT);
    world.run(&inst(Op::Vop1(Vop1::v_clrexcp), [], []));
    assert_eq!(world.wave.trapsts, 0);
}

fn field(register: u32, offset: u32, size: u32) -> Operand {
    Operand::Imm(i32::from((register | offset << 6 | (size - 1) << 11) as u16 as i16))
}

/// On all targets: reads and writes of fields, and EXCP_EN, which changes MODE and nothing else.
#[test]
fn the_register_is_read_and_written_by_fields() {
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900] {
        let mut world = machine(target, KEEP);
        world.wave.trapsts = 0b101_0110;
        let read = |world: &mut World, offset, size| {
            let field = field(trapsts::REGISTER, offset, size);
            world.run(&inst(Op::Sopk(Sopk::s_getreg_b32), [s(3)], [field]));
            world.wave.sgpr[3]
        };
        assert_eq!(read(&mut world, 0, 32), 0b101_0110);
        assert_eq!(read(&mut world, 1, 3), 0b011);
        assert_eq!(read(&mut world, 7, 25), 0);
        let write = |world: &mut World, register, offset, size, value| {
            world.wave.sgpr[4] = value;
            let field = field(register, offset, size);
            world.run(&inst(Op::Sopk(Sopk::s_setreg_b32), [], [s(4), field]));
        };
        write(&mut world, trapsts::REGISTER, 2, 3, 0b010);
        assert_eq!(world.wave.trapsts, 0b100_1010);
        // Only EXCP is there to be written.
        write(&mut world, trapsts::REGISTER, 0, 32, u32::MAX);
        assert_eq!(world.wave.trapsts, trapsts::EXCP);
        write(&mut world, trapsts::REGISTER, 0, 7, 0);
        // MODE.EXCP_EN: all exceptions enabled, without a trap handler.
        write(&mut world, 1, 12, 7, 0x7f);
        assert_eq!(world.wave.mode, Mode(KEEP | 0x7f << 12));
        world.set(0, |_| 0);
        world.run(&inst(Op::Vop1(Vop1::v_rcp_f32), [v(2)], [v(0)]));
        assert_eq!((world.wave.trapsts, world.wave.vgpr[2][0]), (ZERO, f32::INFINITY.to_bits()));
    }
}

/// Where exceptions are not kept, naming TRAPSTS is an error, before anything has changed.
#[test]
fn code_without_exceptions_cannot_name_the_register() {
    let mut world = machine(Target::Gfx900, KEEP);
    let view = world.memory.view();
    let (gds, stop) = (Gds::new(), AtomicBool::new(false));
    let env = Env { exceptions: false, ..env(world.target, &view, 0, &world.lds, &gds, &stop, u64::MAX) };
    let mut buffers = Buffers::default();
    let mut machine = Machine::new(&mut world.wave, &env, &mut buffers);
    let get = inst(Op::Sopk(Sopk::s_getreg_b32), [s(3)], [field(trapsts::REGISTER, 0, 32)]);
    let set = inst(Op::Sopk(Sopk::s_setreg_b32), [], [s(4), field(trapsts::REGISTER, 0, 32)]);
    for instruction in [get, set] {
        let trap = machine.step(&instruction).expect_err("exceptions are not kept");
        assert!(matches!(*trap, Trap::Unimplemented { what: trapsts::NOT_KEPT, .. }), "{trap}");
    }
    machine.step(&inst(Op::Vop1(Vop1::v_rcp_f32), [v(2)], [v(0)])).expect("arithmetic is no matter");
    assert_eq!(machine.wave.trapsts, 0);
}
