//! Integer operations against the manuals' pseudo-code, written down bit by bit, byte by byte or in 128 bits: slow,
//! and unlike the bodies. A line of a table is a row and what it must give for any operands.

mod support;

use gcnjit_interp::fp::Fp;
use gcnjit_interp::{sop1, sop2, sopc, sopk, vop1, vop2, vop3, vop3p};
use gcnjit_isa::{Op, Operand, Sop1, Sopk, Target};
use gcnjit_rt::Mode;
use std::cmp::Ordering;
use support::{PLAIN_MODE, Random, World, fp, inst, s};

const ROUNDS: usize = 20_000;

/// Operands that are often small, large, or differ in few bits.
fn operand(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => [0, 1, 2, 31, 32, u32::MAX, 1 << 31, i32::MAX as u32][random.below(8) as usize],
        1 => random.next() as u32 & 0x003f_003f,
        _ => random.next() as u32,
    }
}

fn bit(x: u64, i: u32) -> u64 {
    x >> i & 1
}

fn byte(x: u64, i: u32) -> u64 {
    x >> (8 * i) & 0xff
}

/// A number whose bit i is `f(i)`.
fn bits(width: u32, f: impl Fn(u32) -> u64) -> u64 {
    (0..width).map(|i| (f(i) & 1) << i).sum()
}

/// Compares each row with its model on random operands `a`, `b`, `c` of 32 bits, `wide` of 64, and `flag`.
macro_rules! table {
    ($e:ident, $a:ident, $b:ident, $c:ident, $wide:ident, $flag:ident; $($row:expr => $model:expr;)*) => {{
        let mut random = Random(77);
        for clamp in [false, true] {
            let $e = Fp { clamp, ..fp(PLAIN_MODE) };
            for _ in 0..ROUNDS {
                let [$a, $b, $c] = [0; 3].map(|_| operand(&mut random));
                let $wide = u64::from(operand(&mut random)) << 32 | u64::from(operand(&mut random));
                let $flag = random.below(2) != 0;
                $(assert_eq!(
                    $row, $model, "{} of a {:#x} b {:#x} c {:#x} wide {:#x} flag {} clamp {clamp}",
                    stringify!($row), $a, $b, $c, $wide, $flag,
                );)*
                let _ = (&$e, $wide, $flag);
            }
        }
    }};
}

/// The field of `width` bits at `offset`, bit by bit; its sign repeated above if it is signed.
fn field(x: u64, size: u32, offset: u32, width: u32, signed: bool) -> u64 {
    let taken = width.min(size - offset);
    bits(size, |i| match i {
        _ if i < taken => bit(x, offset + i),
        _ if signed && taken > 0 => bit(x, offset + taken - 1),
        _ => 0,
    })
}

#[test]
fn fields() {
    table! { e, a, b, c, wide, _flag;
        u64::from(vop3::v_bfe_u32(&e, a, b, c)) => field(a.into(), 32, b % 32, c % 32, false);
        u64::from(vop3::v_bfe_i32(&e, a as i32, b, c) as u32) => field(a.into(), 32, b % 32, c % 32, true);
        u64::from(sop2::s_bfe_u32(&e, a, b).0) => field(a.into(), 32, b % 32, b >> 16 & 127, false);
        u64::from(sop2::s_bfe_i32(&e, a as i32, b).0 as u32) => field(a.into(), 32, b % 32, b >> 16 & 127, true);
        sop2::s_bfe_u64(&e, wide, b).0 => field(wide, 64, b % 64, b >> 16 & 127, false);
        sop2::s_bfe_i64(&e, wide as i64, b).0 as u64 => field(wide, 64, b % 64, b >> 16 & 127, true);
        u64::from(sop2::s_bfm_b32(&e, a, b)) => bits(32, |i| u64::from(i >= b % 32 && i < b % 32 + a % 32));
        sop2::s_bfm_b64(&e, a, b) => bits(64, |i| u64::from(i >= b % 64 && i < b % 64 + a % 64));
        u64::from(vop2::v_bfm_b32(&e, a, b)) => bits(32, |i| u64::from(i >= b % 32 && i < b % 32 + a % 32));
        u64::from(vop3::v_bfi_b32(&e, a, b, c)) => bits(32, |i| bit(if bit(a.into(), i) != 0 { b } else { c }.into(), i));
        u64::from(sop1::s_bitset0_b32(&e, a, b)) => bits(32, |i| if i == a % 32 { 0 } else { bit(b.into(), i) });
        u64::from(sop1::s_bitset1_b32(&e, a, b)) => bits(32, |i| if i == a % 32 { 1 } else { bit(b.into(), i) });
    }
}

/// Quads are groups of four lanes.
#[test]
fn quads_and_bits() {
    let quad = |x: u64, i: u32| u64::from(x >> (4 * i) & 15 != 0);
    table! { e, a, _b, _c, wide, _flag;
        u64::from(sop1::s_wqm_b32(&e, a).0) => bits(32, |i| quad(a.into(), i / 4));
        sop1::s_wqm_b64(&e, wide).0 => bits(64, |i| quad(wide, i / 4));
        u64::from(sop1::s_quadmask_b32(&e, a).0) => bits(8, |i| quad(a.into(), i));
        sop1::s_quadmask_b64(&e, wide).0 => bits(16, |i| quad(wide, i));
        sop1::s_bitreplicate_b64_b32(&e, a) => bits(64, |i| bit(a.into(), i / 2));
        u64::from(sop1::s_brev_b32(&e, a)) => bits(32, |i| bit(a.into(), 31 - i));
        sop1::s_brev_b64(&e, wide) => bits(64, |i| bit(wide, 63 - i));
        sop1::s_bcnt0_i32_b64(&e, wide).0 as u64 => (0..64).map(|i| 1 - bit(wide, i)).sum::<u64>();
        sop1::s_ff0_i32_b64(&e, wide) => (0..64).find(|i| bit(wide, *i) == 0).map_or(-1, |i| i as i32);
        sop1::s_ff1_i32_b64(&e, wide) => (0..64).find(|i| bit(wide, *i) == 1).map_or(-1, |i| i as i32);
        sop1::s_flbit_i32_b64(&e, wide) => (0..64).find(|i| bit(wide, 63 - i) == 1).map_or(-1, |i| i as i32);
        sop1::s_flbit_i32_i64(&e, wide as i64) =>
            (1..64).find(|i| bit(wide, 63 - i) != bit(wide, 63)).map_or(-1, |i| i as i32);
    }
}

/// Sums and products in 128 bits: what is left of them in the register, and what goes into the carry.
#[test]
fn carries() {
    let low = |x: i128| x as u32;
    let out = |x: i128| x < 0 || x >> 32 != 0;
    // Under clamp a vector sum that carries is all ones, and a difference that borrows is zero.
    let vector = |x: i128, clamp: bool| match clamp && out(x) {
        true => (if x < 0 { 0 } else { u32::MAX }, true),
        false => (x as u32, out(x)),
    };
    let overflow = |x: i128| i32::try_from(x).is_err();
    table! { e, a, b, c, wide, flag;
        sop2::s_addc_u32(&e, a, b, flag) => { let x = i128::from(a) + i128::from(b) + i128::from(flag); (low(x), out(x)) };
        sop2::s_subb_u32(&e, a, b, flag) => { let x = i128::from(a) - i128::from(b) - i128::from(flag); (low(x), out(x)) };
        sop2::s_add_i32(&e, a as i32, b as i32) => { let x = i128::from(a as i32) + i128::from(b as i32); (x as i32, overflow(x)) };
        sop2::s_sub_i32(&e, a as i32, b as i32) => { let x = i128::from(a as i32) - i128::from(b as i32); (x as i32, overflow(x)) };
        vop2::v_addc_co_u32(&e, a, b, flag) => vector(i128::from(a) + i128::from(b) + i128::from(flag), e.clamp);
        vop2::v_subb_co_u32(&e, a, b, flag) => vector(i128::from(a) - i128::from(b) - i128::from(flag), e.clamp);
        vop2::v_subbrev_co_u32(&e, a, b, flag) => vector(i128::from(b) - i128::from(a) - i128::from(flag), e.clamp);
        vop3::v_mad_u64_u32(&e, a, b, wide) => { let x = i128::from(a) * i128::from(b) + i128::from(wide); (x as u64, x >> 64 != 0) };
        vop3::v_mad_i64_i32(&e, a as i32, b as i32, wide as i64) => {
            let x = i128::from(a as i32) * i128::from(b as i32) + i128::from(wide as i64);
            (x as i64, i64::try_from(x).is_err())
        };
        vop3::v_add3_u32(&e, a, b, c) => low(i128::from(a) + i128::from(b) + i128::from(c));
        vop3::v_lshl_add_u32(&e, a, b, c) => low((i128::from(a) << (b % 32)) + i128::from(c));
        vop3::v_add_lshl_u32(&e, a, b, c) => low((i128::from(a) + i128::from(b)) << (c % 32));
        vop3::v_xad_u32(&e, a, b, c) => low(i128::from(a ^ b) + i128::from(c));
    }
}

/// Operations on bytes, a byte at a time.
#[test]
fn bytes_in_dwords() {
    let difference = |a: u64, b: u64| a.max(b) - a.min(b);
    let saturated = |x: u64, limit: u64, clamp: bool| if clamp { x.min(limit) } else { x & limit };
    let sad = |a: u64, b: u64| (0..4).map(|i| difference(byte(a, i), byte(b, i))).sum::<u64>();
    // A zero byte in the reference takes no part.
    let masked =
        |a: u64, b: u64| (0..4).filter(|i| byte(b, *i) != 0).map(|i| difference(byte(a, i), byte(b, i))).sum::<u64>();
    let halves = |x: u64| [x & 0xffff, x >> 16];
    let dword = u64::from(u32::MAX);
    let [wide_sads, wide_masked] = [false, true].map(|mask| {
        move |a: u64, b: u64, c: u64, clamp: bool| {
            let sum = |i: u32| if mask { masked(a >> (8 * i), b) } else { sad(a >> (8 * i), b) };
            (0..4).map(|i| saturated(sum(i) + (c >> (16 * i) & 0xffff), 0xffff, clamp) << (16 * i)).sum::<u64>()
        }
    });
    table! { e, a, b, c, wide, _flag;
        u64::from(vop3::v_sad_u8(&e, a, b, c)) => saturated(sad(a.into(), b.into()) + u64::from(c), dword, e.clamp);
        u64::from(vop3::v_sad_hi_u8(&e, a, b, c)) => saturated((sad(a.into(), b.into()) << 16) + u64::from(c), dword, e.clamp);
        u64::from(vop3::v_msad_u8(&e, a, b, c)) => saturated(masked(a.into(), b.into()) + u64::from(c), dword, e.clamp);
        u64::from(vop3::v_sad_u16(&e, halves(a.into()).map(|x| x as u16), halves(b.into()).map(|x| x as u16), c)) => {
            let ([a0, a1], [b0, b1]) = (halves(a.into()), halves(b.into()));
            saturated(difference(a0, b0) + difference(a1, b1) + u64::from(c), dword, e.clamp)
        };
        u64::from(vop3::v_sad_u32(&e, a, b, c)) => saturated(difference(a.into(), b.into()) + u64::from(c), dword, e.clamp);
        vop3::v_qsad_pk_u16_u8(&e, wide, a, u64::from(b) << 32 | u64::from(c)) =>
            wide_sads(wide, a.into(), u64::from(b) << 32 | u64::from(c), e.clamp);
        vop3::v_mqsad_pk_u16_u8(&e, wide, a, u64::from(b) << 32 | u64::from(c)) =>
            wide_masked(wide, a.into(), u64::from(b) << 32 | u64::from(c), e.clamp);
        vop3::v_mqsad_u32_u8(&e, wide, a, [a, b, c, a]).map(u64::from) =>
            [(0, a), (1, b), (2, c), (3, a)].map(|(i, sum)| saturated(masked(wide >> (8 * i), a.into()) + u64::from(sum), dword, e.clamp));
        u64::from(vop3::v_lerp_u8(&e, a, b, c)) =>
            (0..4).map(|i| ((byte(a.into(), i) + byte(b.into(), i) + (byte(c.into(), i) & 1)) / 2) << (8 * i)).sum::<u64>();
        u64::from(vop3::v_alignbyte_b32(&e, a, b, c)) => {
            let all = u64::from(a) << 32 | u64::from(b);
            (0..4).map(|i| byte(all, i + c % 4) << (8 * i)).sum::<u64>()
        };
        u64::from(vop3::v_perm_b32(&e, a, b, c)) => {
            let all = u64::from(a) << 32 | u64::from(b);
            let pick = |select: u64| match select {
                0..=7 => byte(all, select as u32),
                8..=11 => 0xff * bit(all, 16 * (select as u32 - 8) + 15),
                12 => 0,
                _ => 0xff,
            };
            (0..4).map(|i| pick(byte(c.into(), i)) << (8 * i)).sum::<u64>()
        };
    }
}

/// A function of two bits.
type OfBits = fn(u64, u64) -> u64;

/// The bits of x and y through a function of two bits, and SCC.
fn logic<T: TryFrom<u64>>(width: u32, x: u64, y: u64, f: OfBits) -> (T, bool) {
    let result = bits(width, |i| f(bit(x, i), bit(y, i)));
    (T::try_from(result).unwrap_or_else(|_| panic!("{width} bits")), result != 0)
}

#[test]
fn scalar_logic() {
    macro_rules! both_widths {
        ($($narrow:ident $wide:ident $f:expr;)*) => {
            table! { e, a, b, c, wide, _flag;
                $(sop2::$narrow(&e, a, b) => logic(32, a.into(), b.into(), $f);
                sop2::$wide(&e, wide, u64::from(b) << 32 | u64::from(c)) =>
                    logic(64, wide, u64::from(b) << 32 | u64::from(c), $f);)*
            }
        };
    }
    both_widths! {
        s_and_b32 s_and_b64 |x, y| x & y;
        s_or_b32 s_or_b64 |x, y| x | y;
        s_xor_b32 s_xor_b64 |x, y| x ^ y;
        s_andn2_b32 s_andn2_b64 |x, y| x & (1 - y);
        s_orn2_b32 s_orn2_b64 |x, y| x | (1 - y);
        s_nand_b32 s_nand_b64 |x, y| 1 - (x & y);
        s_nor_b32 s_nor_b64 |x, y| 1 - (x | y);
        s_xnor_b32 s_xnor_b64 |x, y| 1 - (x ^ y);
    }
    table! { e, a, b, c, wide, flag;
        sop1::s_not_b32(&e, a) => logic(32, a.into(), 0, |x, _| 1 - x);
        sop1::s_not_b64(&e, wide) => logic(64, wide, 0, |x, _| 1 - x);
        sop2::s_cselect_b32(&e, a, b, flag) => [b, a][usize::from(flag)];
        sop2::s_cselect_b64(&e, wide, c.into(), flag) => [c.into(), wide][usize::from(flag)];
        sop1::s_cmov_b32(&e, a, b, flag) => [b, a][usize::from(flag)];
        sop1::s_cmov_b64(&e, wide, c.into(), flag) => [c.into(), wide][usize::from(flag)];
        sopk::s_cmovk_i32(&e, (a as i16).into(), b, flag) => if flag { a as i16 as u32 } else { b };
        sop1::s_bitset0_b64(&e, a, wide) => bits(64, |i| if i == a % 64 { 0 } else { bit(wide, i) });
        sop1::s_bitset1_b64(&e, a, wide) => bits(64, |i| if i == a % 64 { 1 } else { bit(wide, i) });
        sopc::s_bitcmp0_b32(&e, a, b) => bit(a.into(), b % 32) == 0;
        sopc::s_bitcmp1_b32(&e, a, b) => bit(a.into(), b % 32) == 1;
        sopc::s_bitcmp0_b64(&e, wide, b) => bit(wide, b % 64) == 0;
        sopc::s_bitcmp1_b64(&e, wide, b) => bit(wide, b % 64) == 1;
        sop2::s_lshl_b64(&e, wide, b).0 => bits(64, |i| if i < b % 64 { 0 } else { bit(wide, i - b % 64) });
        u64::from(sop2::s_pack_ll_b32_b16(&e, a, b)) => bits(32, |i| bit([a, b][i as usize / 16].into(), i % 16));
        u64::from(sop2::s_pack_lh_b32_b16(&e, a, b)) => bits(32, |i| bit([a, b][i as usize / 16].into(), i));
        u64::from(sop2::s_pack_hh_b32_b16(&e, a, b)) => bits(32, |i| bit([a, b][i as usize / 16].into(), 16 + i % 16));
        u64::from(sop1::s_sext_i32_i8(&e, a) as u32) => bits(32, |i| bit(a.into(), i.min(7)));
        u64::from(sop1::s_sext_i32_i16(&e, a) as u32) => bits(32, |i| bit(a.into(), i.min(15)));
    }
}

/// Of two numbers, the one that is asked for, and whether it is the first one.
#[test]
fn scalar_comparisons() {
    let signed = |a: u32, b: u32| (a as i32).cmp(&(b as i32));
    let extended = |a: u32, b: u32| i64::from(a as i32).cmp(&i64::from(b as i16));
    let unsigned = |a: u32, b: u32| i64::from(a).cmp(&i64::from(b as u16));
    macro_rules! orders {
        ($($i:ident $u:ident $ki:ident $ku:ident $want:pat,)*) => {
            table! { e, a, b, _c, _wide, _flag;
                $(sopc::$i(&e, a as i32, b as i32) => matches!(signed(a, b), $want);
                sopc::$u(&e, a, b) => matches!(a.cmp(&b), $want);
                sopk::$ki(&e, a as i32, (b as i16).into()) => matches!(extended(a, b), $want);
                sopk::$ku(&e, a, (b as i16).into()) => matches!(unsigned(a, b), $want);)*
            }
        };
    }
    orders! {
        s_cmp_eq_i32 s_cmp_eq_u32 s_cmpk_eq_i32 s_cmpk_eq_u32 Ordering::Equal,
        s_cmp_lg_i32 s_cmp_lg_u32 s_cmpk_lg_i32 s_cmpk_lg_u32 Ordering::Less | Ordering::Greater,
        s_cmp_gt_i32 s_cmp_gt_u32 s_cmpk_gt_i32 s_cmpk_gt_u32 Ordering::Greater,
        s_cmp_ge_i32 s_cmp_ge_u32 s_cmpk_ge_i32 s_cmpk_ge_u32 Ordering::Equal | Ordering::Greater,
        s_cmp_lt_i32 s_cmp_lt_u32 s_cmpk_lt_i32 s_cmpk_lt_u32 Ordering::Less,
        s_cmp_le_i32 s_cmp_le_u32 s_cmpk_le_i32 s_cmpk_le_u32 Ordering::Less | Ordering::Equal,
    }
    table! { e, a, b, c, wide, _flag;
        sopc::s_cmp_eq_u64(&e, wide, u64::from(b) << 32 | u64::from(c)) => wide as u32 == c && (wide >> 32) as u32 == b;
        sopc::s_cmp_lg_u64(&e, wide, u64::from(b) << 32 | u64::from(c)) => wide as u32 != c || (wide >> 32) as u32 != b;
        sopc::s_cmp_eq_u64(&e, wide, wide) => true;
        sop2::s_min_i32(&e, a as i32, b as i32) => ([a, b].map(|x| x as i32).into_iter().min().unwrap(), signed(a, b).is_lt());
        sop2::s_max_i32(&e, a as i32, b as i32) => ([a, b].map(|x| x as i32).into_iter().max().unwrap(), signed(a, b).is_gt());
        sop2::s_min_u32(&e, a, b) => ([a, b].into_iter().min().unwrap(), a < b);
        sop2::s_max_u32(&e, a, b) => ([a, b].into_iter().max().unwrap(), a > b);
        sop2::s_lshl1_add_u32(&e, a, b) => { let x = 2 * i128::from(a) + i128::from(b); (x as u32, x >> 32 != 0) };
        sop2::s_lshl2_add_u32(&e, a, b) => { let x = 4 * i128::from(a) + i128::from(b); (x as u32, x >> 32 != 0) };
        sop2::s_lshl3_add_u32(&e, a, b) => { let x = 8 * i128::from(a) + i128::from(b); (x as u32, x >> 32 != 0) };
        sop2::s_lshl4_add_u32(&e, a, b) => { let x = 16 * i128::from(a) + i128::from(b); (x as u32, x >> 32 != 0) };
    }
}

/// Bits of the source, bits of EXEC, and the bit of EXEC that becomes of them.
#[test]
fn exec_is_saved_or_written() {
    let mut w = World::new(Target::Gfx900);
    let rows: [(Sop1, bool, OfBits); 12] = [
        (Sop1::s_and_saveexec_b64, true, |a, exec| a & exec),
        (Sop1::s_or_saveexec_b64, true, |a, exec| a | exec),
        (Sop1::s_xor_saveexec_b64, true, |a, exec| a ^ exec),
        (Sop1::s_andn2_saveexec_b64, true, |a, exec| a & (1 - exec)),
        (Sop1::s_orn2_saveexec_b64, true, |a, exec| a | (1 - exec)),
        (Sop1::s_nand_saveexec_b64, true, |a, exec| 1 - (a & exec)),
        (Sop1::s_nor_saveexec_b64, true, |a, exec| 1 - (a | exec)),
        (Sop1::s_xnor_saveexec_b64, true, |a, exec| 1 - (a ^ exec)),
        (Sop1::s_andn1_saveexec_b64, true, |a, exec| (1 - a) & exec),
        (Sop1::s_orn1_saveexec_b64, true, |a, exec| (1 - a) | exec),
        (Sop1::s_andn1_wrexec_b64, false, |a, exec| (1 - a) & exec),
        (Sop1::s_andn2_wrexec_b64, false, |a, exec| a & (1 - exec)),
    ];
    for (op, saves, f) in rows {
        for (source, exec) in [(0x0123_4567_89ab_cdef, 0x0f0f_0f0f_3333_5555), (0, 0), (!0, !0), (0, !0), (!0, 0)] {
            w.wave.set_exec(exec);
            w.wave.set_sgpr64(2, source);
            w.run(&inst(Op::Sop1(op), [s(4), Operand::Scc], [s(2)]));
            let (want, any) = logic::<u64>(64, source, exec, f);
            let saved = if saves { exec } else { want };
            let got = (w.wave.exec(), w.wave.sgpr64(4), w.wave.scc);
            assert_eq!(got, (want, saved, any.into()), "{op:?} of {source:#x} and {exec:#x}");
        }
    }
}

/// M0 counts registers, from the one that is named.
#[test]
fn scalar_registers_by_number() {
    let mut w = World::new(Target::Gfx803);
    for i in 0..100 {
        w.wave.sgpr[i] = 1000 + i as u32;
    }
    w.wave.sgpr[124] = 6;
    w.run(&inst(Op::Sop1(Sop1::s_movrels_b32), [s(0)], [s(11)]));
    w.run(&inst(Op::Sop1(Sop1::s_movrels_b64), [s(2)], [s(14)]));
    w.run(&inst(Op::Sop1(Sop1::s_movreld_b32), [s(30)], [s(40)]));
    w.run(&inst(Op::Sop1(Sop1::s_movreld_b64), [s(50)], [s(60)]));
    assert_eq!([0, 2, 3, 36, 56, 57].map(|i| w.wave.sgpr[i]), [1017, 1020, 1021, 1040, 1060, 1061]);
    assert_eq!([30, 50, 51].map(|i| w.wave.sgpr[i]), [1030, 1050, 1051]);
    // hwreg(HW_REG_MODE, 4, 4): the denormal modes.
    w.wave.mode = Mode(0x30f);
    w.wave.sgpr[8] = 0xffff_fff6;
    let field = Operand::Imm(1 | 4 << 6 | 3 << 11);
    w.run(&inst(Op::Sopk(Sopk::s_setreg_b32), [], [s(8), field]));
    assert_eq!(w.wave.mode, Mode(0x36f));
}

#[test]
fn vector_logic_and_shifts() {
    let shifted = |x: u64, width: u32, by: i64| {
        bits(width, |i| match i64::from(i) - by {
            from @ 0.. if from < width.into() => bit(x, from as u32),
            _ => 0,
        })
    };
    let arithmetic = |x: u64, width: u32, by: u32| bits(width, |i| bit(x, (i + by).min(width - 1)));
    table! { e, a, b, c, wide, _flag;
        u64::from(vop2::v_xnor_b32(&e, a, b)) => bits(32, |i| u64::from(bit(a.into(), i) == bit(b.into(), i)));
        u64::from(vop3::v_and_or_b32(&e, a, b, c)) => bits(32, |i| bit(a.into(), i) & bit(b.into(), i) | bit(c.into(), i));
        u64::from(vop3::v_or3_b32(&e, a, b, c)) => bits(32, |i| bit(a.into(), i) | bit(b.into(), i) | bit(c.into(), i));
        u64::from(vop3::v_lshl_or_b32(&e, a, b, c)) => shifted(a.into(), 32, i64::from(b % 32)) | u64::from(c);
        u64::from(vop2::v_lshl_b32(&e, a, b)) => shifted(a.into(), 32, i64::from(b % 32));
        u64::from(vop2::v_lshr_b32(&e, a, b)) => shifted(a.into(), 32, -i64::from(b % 32));
        u64::from(vop2::v_ashr_i32(&e, a as i32, b) as u32) => arithmetic(a.into(), 32, b % 32);
        vop3::v_lshl_b64(&e, wide, b) => shifted(wide, 64, i64::from(b % 64));
        vop3::v_lshr_b64(&e, wide, b) => shifted(wide, 64, -i64::from(b % 64));
        vop3::v_ashr_i64(&e, wide as i64, b) as u64 => arithmetic(wide, 64, b % 64);
        u64::from(vop2::v_lshlrev_b16(&e, b as u16, a as u16)) => shifted(a.into(), 16, i64::from(b % 16));
        u64::from(vop2::v_lshrrev_b16(&e, b as u16, a as u16)) => shifted(u64::from(a as u16), 16, -i64::from(b % 16));
        vop1::v_swap_b32(&e, a, b) => (b, a);
        vop2::v_cvt_pk_u16_u32(&e, a, b).map(u64::from) => [a, b].map(|x| if x >> 16 == 0 { x.into() } else { 0xffff });
        vop2::v_subrev_co_u32(&e, a, b) => {
            let x = i128::from(b) - i128::from(a);
            if e.clamp && x < 0 { (0, true) } else { (x as u32, x < 0) }
        };
        vop3::v_mul_lo_i32(&e, a as i32, b as i32) => (i128::from(a as i32) * i128::from(b as i32)) as i32;
        vop3::v_mul_lo_u32(&e, a, b) => (i128::from(a) * i128::from(b)) as u32;
    }
}

/// A whole number in so many bits: the nearest that there is under clamp, otherwise what is left of it.
fn fitted(x: i128, width: u32, signed: bool, clamp: bool) -> i128 {
    let (low, high) = if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
    if clamp { x.clamp(low, high) } else { (x - low).rem_euclid(1 << width) + low }
}

#[test]
fn sixteen_bits() {
    let i = |x: u32| i128::from(x as i16);
    let u = |x: u32| i128::from(x as u16);
    table! { e, a, b, c, _wide, _flag;
        i128::from(vop2::v_sub_u16(&e, a as u16, b as u16)) => fitted(u(a) - u(b), 16, false, e.clamp);
        i128::from(vop2::v_subrev_u16(&e, a as u16, b as u16)) => fitted(u(b) - u(a), 16, false, e.clamp);
        i128::from(vop2::v_mul_lo_u16(&e, a as u16, b as u16)) => fitted(u(a) * u(b), 16, false, false);
        i128::from(vop3::v_mad_u16(&e, a as u16, b as u16, c as u16)) => fitted(u(a) * u(b) + u(c), 16, false, e.clamp);
        i128::from(vop3::v_mad_i16(&e, a as i16, b as i16, c as i16)) => fitted(i(a) * i(b) + i(c), 16, true, e.clamp);
        vop3::v_mad_legacy_u16(&e, a as u16, b as u16, c as u16) => vop3::v_mad_u16(&e, a as u16, b as u16, c as u16);
        vop3::v_mad_legacy_i16(&e, a as i16, b as i16, c as i16) => vop3::v_mad_i16(&e, a as i16, b as i16, c as i16);
        i128::from(vop3::v_mad_u32_u16(&e, a as u16, b as u16, c)) => fitted(u(a) * u(b) + i128::from(c), 32, false, e.clamp);
        i128::from(vop3::v_mad_i32_i16(&e, a as i16, b as i16, c as i32)) =>
            fitted(i(a) * i(b) + i128::from(c as i32), 32, true, e.clamp);
        vop3::v_min3_i16(&e, a as i16, b as i16, c as i16) => [a, b, c].map(|x| x as i16).into_iter().min().unwrap();
        vop3::v_max3_i16(&e, a as i16, b as i16, c as i16) => [a, b, c].map(|x| x as i16).into_iter().max().unwrap();
        vop3::v_min3_u16(&e, a as u16, b as u16, c as u16) => [a, b, c].map(|x| x as u16).into_iter().min().unwrap();
        vop3::v_max3_u16(&e, a as u16, b as u16, c as u16) => [a, b, c].map(|x| x as u16).into_iter().max().unwrap();
        vop3::v_min3_i32(&e, a as i32, b as i32, c as i32) => [a, b, c].map(|x| x as i32).into_iter().min().unwrap();
        vop3::v_max3_i32(&e, a as i32, b as i32, c as i32) => [a, b, c].map(|x| x as i32).into_iter().max().unwrap();
        vop3::v_min3_u32(&e, a, b, c) => [a, b, c].into_iter().min().unwrap();
        vop3::v_max3_u32(&e, a, b, c) => [a, b, c].into_iter().max().unwrap();
    }
}

#[test]
fn packed_and_dot_products() {
    let i = |x: u32| [x as i16, (x >> 16) as i16];
    let u = |x: u32| [x as u16, (x >> 16) as u16];
    /// The sum of the products of the fields.
    fn dot(a: u32, b: u32, width: u32, signed: bool) -> i128 {
        let field = |x: u32, i: u32| {
            let bits = i128::from(x >> (i * width)) & ((1 << width) - 1);
            if signed && bits >> (width - 1) != 0 { bits - (1 << width) } else { bits }
        };
        (0..32 / width).map(|k| field(a, k) * field(b, k)).sum()
    }
    let halves = |f: &dyn Fn(usize) -> i128, signed: bool, clamp: bool| [0, 1].map(|k| fitted(f(k), 16, signed, clamp));
    let of = |x: [i16; 2], k: usize| i128::from(x[k]);
    let uof = |x: [u16; 2], k: usize| i128::from(x[k]);
    table! { e, a, b, c, _wide, _flag;
        vop3p::v_pk_add_i16(&e, i(a), i(b)).map(i128::from) => halves(&|k| of(i(a), k) + of(i(b), k), true, e.clamp);
        vop3p::v_pk_sub_i16(&e, i(a), i(b)).map(i128::from) => halves(&|k| of(i(a), k) - of(i(b), k), true, e.clamp);
        vop3p::v_pk_add_u16(&e, u(a), u(b)).map(i128::from) => halves(&|k| uof(u(a), k) + uof(u(b), k), false, e.clamp);
        vop3p::v_pk_sub_u16(&e, u(a), u(b)).map(i128::from) => halves(&|k| uof(u(a), k) - uof(u(b), k), false, e.clamp);
        vop3p::v_pk_mul_lo_u16(&e, u(a), u(b)).map(i128::from) => halves(&|k| uof(u(a), k) * uof(u(b), k), false, false);
        vop3p::v_pk_mad_i16(&e, i(a), i(b), i(c)).map(i128::from) =>
            halves(&|k| of(i(a), k) * of(i(b), k) + of(i(c), k), true, e.clamp);
        vop3p::v_pk_mad_u16(&e, u(a), u(b), u(c)).map(i128::from) =>
            halves(&|k| uof(u(a), k) * uof(u(b), k) + uof(u(c), k), false, e.clamp);
        vop3p::v_pk_min_i16(&e, i(a), i(b)).map(i128::from) => halves(&|k| of(i(a), k).min(of(i(b), k)), true, false);
        vop3p::v_pk_max_i16(&e, i(a), i(b)).map(i128::from) => halves(&|k| of(i(a), k).max(of(i(b), k)), true, false);
        vop3p::v_pk_min_u16(&e, u(a), u(b)).map(i128::from) => halves(&|k| uof(u(a), k).min(uof(u(b), k)), false, false);
        vop3p::v_pk_max_u16(&e, u(a), u(b)).map(i128::from) => halves(&|k| uof(u(a), k).max(uof(u(b), k)), false, false);
        vop3p::v_pk_lshlrev_b16(&e, u(a), u(b)).map(i128::from) =>
            halves(&|k| uof(u(b), k) << (uof(u(a), k) % 16), false, false);
        vop3p::v_pk_lshrrev_b16(&e, u(a), u(b)).map(i128::from) =>
            halves(&|k| uof(u(b), k) >> (uof(u(a), k) % 16), false, false);
        i128::from(vop3p::v_dot2_i32_i16(&e, i(a), i(b), c as i32)) =>
            fitted(dot(a, b, 16, true) + i128::from(c as i32), 32, true, e.clamp);
        i128::from(vop3p::v_dot2_u32_u16(&e, u(a), u(b), c)) => fitted(dot(a, b, 16, false) + i128::from(c), 32, false, e.clamp);
        i128::from(vop3p::v_dot4_i32_i8(&e, a, b, c as i32)) =>
            fitted(dot(a, b, 8, true) + i128::from(c as i32), 32, true, e.clamp);
        i128::from(vop3p::v_dot4_u32_u8(&e, a, b, c)) => fitted(dot(a, b, 8, false) + i128::from(c), 32, false, e.clamp);
        i128::from(vop3p::v_dot8_i32_i4(&e, a, b, c as i32)) =>
            fitted(dot(a, b, 4, true) + i128::from(c as i32), 32, true, e.clamp);
        i128::from(vop3p::v_dot8_u32_u4(&e, a, b, c)) => fitted(dot(a, b, 4, false) + i128::from(c), 32, false, e.clamp);
    }
}
