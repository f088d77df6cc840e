//! Integer operations against the manuals' pseudo-code, written down bit by bit, byte by byte or in 128 bits: slow,
//! and unlike the bodies. A line of a table is a row and what it must give for any operands.

mod support;

use gcnjit_interp::fp::Fp;
use gcnjit_interp::{sop1, sop2, vop2, vop3};
use support::{PLAIN_MODE, Random, fp};

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
