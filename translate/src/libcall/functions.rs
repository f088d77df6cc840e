//! What libcalls compute in a lane, where it takes more than an expression. Bits in, bits out.

/// Bits above the highest one; all ones for 0.
#[inline(always)]
pub fn ffbh_u32(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.leading_zeros() }
}

/// Bits above the highest one that differs from the sign; all ones for 0 and −1.
#[inline(always)]
pub fn ffbh_i32(x: u32) -> u32 {
    ffbh_u32(x ^ ((x as i32) >> 31) as u32)
}

/// Index of the lowest one; all ones for 0.
#[inline(always)]
pub fn ffbl_b32(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// 64 bits of two halves.
#[inline(always)]
pub fn pair(lo: u32, hi: u32) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
}

/// v_perm_b32: each byte of the selector picks a byte of `hi:lo`, a sign, or a constant.
#[inline(always)]
pub fn perm(hi: u32, lo: u32, selector: u32) -> u32 {
    let source = pair(lo, hi);
    let mut result = 0;
    for i in 0..4 {
        let select = selector >> (8 * i) & 0xff;
        let byte = match select {
            0..=7 => (source >> (8 * select)) as u32 & 0xff,
            8..=11 => {
                if source >> (16 * (select - 8) + 15) & 1 != 0 {
                    0xff
                } else {
                    0
                }
            }
            12 => 0,
            _ => 0xff,
        };
        result |= byte << (8 * i);
    }
    result
}

/// c plus the absolute differences of the four bytes.
#[inline(always)]
pub fn sad_u8(a: u32, b: u32, c: u32) -> u32 {
    let mut sum = c;
    for i in 0..4 {
        sum = sum.wrapping_add((a >> (8 * i) & 0xff).abs_diff(b >> (8 * i) & 0xff));
    }
    sum
}

/// Averages of the four bytes; bit 0 of each byte of c rounds up.
#[inline(always)]
pub fn lerp_u8(a: u32, b: u32, c: u32) -> u32 {
    let mut result = 0;
    for i in 0..4 {
        let byte = |x: u32| x >> (8 * i) & 0xff;
        result |= (byte(a) + byte(b) + (byte(c) & 1)) >> 1 << (8 * i);
    }
    result
}

/// v_cmp_class of a float given as sign, magnitude, and the magnitudes of the least normal number, infinity and the
/// least quiet NaN.
#[inline(always)]
fn class(negative: bool, magnitude: u64, normal: u64, infinity: u64, quiet: u64, mask: u32) -> u32 {
    let side = |minus: u32, plus: u32| if negative { minus } else { plus };
    let bit = if magnitude > infinity {
        u32::from(magnitude >= quiet)
    } else if magnitude == infinity {
        side(2, 9)
    } else if magnitude >= normal {
        side(3, 8)
    } else if magnitude != 0 {
        side(4, 7)
    } else {
        side(5, 6)
    };
    mask >> bit & 1
}

/// The class bit of an f32 in `mask`, 0 or 1.
#[inline(always)]
pub fn class_f32(x: u32, mask: u32) -> u32 {
    let magnitude = u64::from(x & 0x7fff_ffff);
    class(x >> 31 != 0, magnitude, 0x0080_0000, 0x7f80_0000, 0x7fc0_0000, mask)
}

/// The class bit of an f64 in `mask`, 0 or 1.
#[inline(always)]
pub fn class_f64(x: u64, mask: u32) -> u32 {
    let (normal, infinity, quiet) = (0x0010_0000_0000_0000, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000);
    class(x >> 63 != 0, x & (u64::MAX >> 1), normal, infinity, quiet, mask)
}

/// The class bit of an f16 in `mask`, 0 or 1.
#[inline(always)]
pub fn class_f16(x: u32, mask: u32) -> u32 {
    class(x >> 15 & 1 != 0, u64::from(x & 0x7fff), 0x0400, 0x7c00, 0x7e00, mask)
}

/// The lane that lane `lane` reads under DPP control `ctrl`: GCN3 manual, DPP_CTRL. Lanes that a row broadcast does
/// not reach read themselves.
pub fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, place, n) = (lane / 16 * 16, lane % 16, usize::from(ctrl % 16));
    match ctrl {
        0x000..=0x0ff => Some(lane / 4 * 4 + usize::from(ctrl >> (lane % 4 * 2)) % 4),
        0x101..=0x10f => (place + n <= 15).then(|| lane + n),
        0x111..=0x11f => (place >= n).then(|| lane - n),
        0x121..=0x12f => Some(row + (place + 16 - n) % 16),
        0x130 => (lane < 63).then(|| lane + 1),
        0x134 => Some((lane + 1) % 64),
        0x138 => (lane > 0).then(|| lane - 1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + 15 - place),
        0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
        0x142 => Some(if lane < 16 { lane } else { row - 1 }),
        0x143 => Some(if lane < 32 { lane } else { lane / 32 * 32 - 1 }),
        _ => None,
    }
}

/// Ones of `x` below lane `lane`, where `x` is the mask of lanes 0 to 31 (half 0) or 32 to 63 (half 1).
#[inline(always)]
pub fn mbcnt(x: u32, lane: u32, half: u32) -> u32 {
    let below = (1u64 << lane) - 1;
    (x & (below >> (32 * half)) as u32).count_ones()
}

/// A binary format: stored significand bits and exponent bits.
#[derive(Clone, Copy)]
pub(super) struct Format {
    significand: u32,
    exponent: u32,
}

pub(super) const F16: Format = Format { significand: 10, exponent: 5 };
pub(super) const F32: Format = Format { significand: 23, exponent: 8 };
pub(super) const F64: Format = Format { significand: 52, exponent: 11 };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Bits of a normal number's significand.
    pub(super) fn precision(self) -> u32 {
        self.significand + 1
    }

    /// The exponent of the least normal number.
    pub(super) fn least_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// The exponent of the largest numbers.
    pub(super) fn largest_exponent(self) -> i32 {
        self.bias()
    }

    /// The magnitude of the least normal number.
    pub(super) fn least_normal(self) -> u64 {
        1 << self.significand
    }

    pub(super) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.significand
    }

    pub(super) fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.significand + self.exponent)
    }

    pub(super) fn magnitude(self, x: u64) -> u64 {
        x & (self.sign(true) - 1)
    }

    pub(super) fn is_nan(self, x: u64) -> bool {
        self.magnitude(x) > self.infinity()
    }

    pub(super) fn quiet(self, x: u64) -> u64 {
        x | 1 << (self.significand - 1)
    }

    /// A finite non-zero magnitude as an integer with its highest one at bit 62, and that bit's power of two.
    pub(super) fn split(self, magnitude: u64) -> (u64, i32) {
        let field = (magnitude >> self.significand) as i32;
        let fraction = magnitude & ((1 << self.significand) - 1);
        let integer = if field == 0 { fraction } else { fraction | 1 << self.significand };
        let up = integer.leading_zeros() as i32 - 1;
        let unit = field.max(1) - self.bias() - self.significand as i32;
        (integer << up, unit + 62 - up)
    }
}

/// Rounding in bits 0 and 1 (nearest even, up, down, zero), flush_in in bit 2, flush_out in bit 3.
pub(super) type Rules = u64;

pub(super) fn flush_in(rules: Rules) -> bool {
    rules & 4 != 0
}

pub(super) fn flush_out(rules: Rules) -> bool {
    rules & 8 != 0
}

/// `integer >> shift`, rounded.
pub(super) fn rounded(integer: u64, shift: u32, negative: bool, rules: Rules) -> u64 {
    // What is shifted out altogether is less than a half.
    let integer = if shift > 63 { u64::from(integer != 0) } else { integer };
    let shift = shift.min(63);
    let (kept, rest) = (integer >> shift, integer & ((1 << shift) - 1));
    let half = (1u64 << shift) >> 1;
    let up = match rules & 3 {
        0 => rest > half || (rest == half && rest != 0 && kept & 1 != 0),
        1 => rest != 0 && !negative,
        2 => rest != 0 && negative,
        _ => false,
    };
    kept + u64::from(up)
}

/// The number `integer` · 2^(exponent − 62), its highest one at bit 62, in `format`.
pub(super) fn compose(format: Format, negative: bool, integer: u64, exponent: i32, rules: Rules) -> u64 {
    let sign = format.sign(negative);
    let shift = 62 - format.significand;
    let least = 1 - format.bias();
    let significand = rounded(integer, shift, negative, rules);
    let carried = significand >> (format.significand + 1) != 0;
    if flush_out(rules) && exponent + i32::from(carried) < least {
        return sign;
    }
    let magnitude = if exponent < least {
        rounded(integer, shift.saturating_add((least - exponent) as u32), negative, rules)
    } else {
        let field = (exponent - least) as u64;
        (field << format.significand).wrapping_add(significand)
    };
    if exponent > format.bias() + 1 || magnitude >= format.infinity() {
        let to_infinity = match rules & 3 {
            0 => true,
            1 => !negative,
            2 => negative,
            _ => false,
        };
        return sign | if to_infinity { format.infinity() } else { format.infinity() - 1 };
    }
    sign | magnitude
}

/// x · 2^n in a format, rounded once.
pub(super) fn ldexp(format: Format, x: u64, n: i32, rules: Rules) -> u64 {
    let magnitude = format.magnitude(x);
    let sign = x - magnitude;
    if format.is_nan(x) {
        return format.quiet(x);
    }
    let denormal = magnitude >> format.significand == 0;
    if magnitude == 0 || magnitude == format.infinity() || (denormal && flush_in(rules)) {
        return sign | if denormal { 0 } else { magnitude };
    }
    let (integer, exponent) = format.split(magnitude);
    compose(format, sign != 0, integer, exponent + n.clamp(-5000, 5000), rules)
}

/// x · 2^n.
#[inline]
pub fn ldexp_f32(x: u32, n: i32, rules: Rules) -> u32 {
    ldexp(F32, u64::from(x), n, rules) as u32
}

/// x · 2^n.
#[inline]
pub fn ldexp_f64(x: u64, n: i32, rules: Rules) -> u64 {
    ldexp(F64, x, n, rules)
}

/// frexp's two results; `rules` bit 0: denormal sources are zero, bit 1: infinities and NaNs as on gfx6.
fn frexp(format: Format, x: u64, rules: u64) -> (u64, i32) {
    let magnitude = format.magnitude(x);
    let sign = x - magnitude;
    let gfx6 = rules & 2 != 0;
    if format.is_nan(x) {
        return (format.quiet(x), if gfx6 { -1 } else { 0 });
    }
    if magnitude == format.infinity() {
        let default = format.quiet(format.sign(true) | format.infinity());
        return if gfx6 { (default, -1) } else { (x, 0) };
    }
    if magnitude == 0 || (magnitude >> format.significand == 0 && rules & 1 != 0) {
        return (sign, 0);
    }
    let (integer, exponent) = format.split(magnitude);
    (compose(format, sign != 0, integer, -1, 0), exponent + 1)
}

/// The significand in [½, 1).
#[inline]
pub fn frexp_mant_f32(x: u32, rules: u64) -> u32 {
    frexp(F32, u64::from(x), rules).0 as u32
}

/// The exponent that belongs to it.
#[inline]
pub fn frexp_exp_f32(x: u32, rules: u64) -> u32 {
    frexp(F32, u64::from(x), rules).1 as u32
}

/// The significand in [½, 1).
#[inline]
pub fn frexp_mant_f64(x: u64, rules: u64) -> u64 {
    frexp(F64, x, rules).0
}

/// The exponent that belongs to it.
#[inline]
pub fn frexp_exp_f64(x: u64, rules: u64) -> u32 {
    frexp(F64, x, rules).1 as u32
}

/// The significand in [½, 1).
#[inline]
pub fn frexp_mant_f16(x: u32, rules: u64) -> u32 {
    frexp(F16, u64::from(x), rules).0 as u32
}

/// The exponent that belongs to it.
#[inline]
pub fn frexp_exp_f16(x: u32, rules: u64) -> u32 {
    frexp(F16, u64::from(x), rules).1 as u32
}

/// The low 16 bits as f16 in f32, exactly; NaNs quieted.
#[inline]
pub fn f16_to_f32(x: u32, rules: Rules) -> u32 {
    let x = u64::from(x & 0xffff);
    let magnitude = F16.magnitude(x);
    let sign = ((x - magnitude) << 16) as u32;
    if F16.is_nan(x) {
        return sign | 0x7fc0_0000 | (magnitude as u32 & 0x3ff) << 13;
    }
    if magnitude == F16.infinity() {
        return sign | 0x7f80_0000;
    }
    if magnitude == 0 || (magnitude < 0x400 && flush_in(rules)) {
        return sign;
    }
    let (integer, exponent) = F16.split(magnitude);
    sign | compose(F32, false, integer, exponent, 0) as u32
}

/// An f64 that is no NaN in a format.
pub(super) fn from_f64(format: Format, x: f64, rules: Rules) -> u64 {
    let bits = x.to_bits();
    let (negative, magnitude) = (bits >> 63 != 0, F64.magnitude(bits));
    if magnitude == 0 {
        return format.sign(negative);
    }
    if magnitude == F64.infinity() {
        return format.sign(negative) | format.infinity();
    }
    let (integer, exponent) = F64.split(magnitude);
    compose(format, negative, integer, exponent, rules)
}

/// f32 to f16; `rules` bit 4: denormal sources are zero.
#[inline]
pub fn f32_to_f16(x: u32, rules: Rules) -> u32 {
    let wide = u64::from(x);
    if F32.is_nan(wide) {
        return x >> 16 & 0x8000 | 0x7e00 | x >> 13 & 0x3ff;
    }
    let magnitude = x & 0x7fff_ffff;
    if magnitude < 0x0080_0000 && rules & 16 != 0 {
        return x >> 16 & 0x8000;
    }
    from_f64(F16, f64::from(f32::from_bits(x)), rules) as u32
}

/// An f16 operation that is exact in f64, rounded once: the first NaN, quieted, or the default NaN.
pub(super) fn f16_op(x: u32, y: u32, rules: Rules, op: impl Fn(f64, f64) -> f64) -> u32 {
    for source in [x, y] {
        if F16.is_nan(u64::from(source & 0xffff)) {
            return source & 0xffff | 0x200;
        }
    }
    let number = |x| f64::from(f32::from_bits(f16_to_f32(x, rules)));
    let result = op(number(x), number(y));
    if result.is_nan() { 0xfe00 } else { from_f64(F16, result, rules) as u32 }
}

/// x + y.
#[inline]
pub fn add_f16(x: u32, y: u32, rules: Rules) -> u32 {
    f16_op(x, y, rules, |x, y| directed_sum(x, y, rules))
}

/// x − y; a NaN in y keeps its sign.
#[inline]
pub fn sub_f16(x: u32, y: u32, rules: Rules) -> u32 {
    f16_op(x, y, rules, |x, y| directed_sum(x, -y, rules))
}

/// The exact sum; of opposite numbers −0 when rounding down, +0 otherwise.
pub(super) fn directed_sum(x: f64, y: f64, rules: Rules) -> f64 {
    let sum = x + y;
    let opposite = x.is_sign_negative() != y.is_sign_negative();
    if sum == 0.0 && opposite && rules & 3 == 2 { -0.0 } else { sum }
}

/// x · y.
#[inline]
pub fn mul_f16(x: u32, y: u32, rules: Rules) -> u32 {
    f16_op(x, y, rules, |x, y| x * y)
}

/// x > 0 ? (x < 1 ? x : 1) : (NaN(x) && !dx10 ? x : +0).
#[inline]
pub fn clamp_f16(x: u32, dx10: bool) -> u32 {
    let x = x & 0xffff;
    let nan = F16.is_nan(u64::from(x));
    if nan {
        return if dx10 { 0 } else { x };
    }
    if x & 0x8000 != 0 { 0 } else { x.min(0x3c00) }
}

/// v_div_fixup: the quotient `q` of x / y, or the special result that the operands call for. A quotient whose
/// exponent would be below `underflow` is zero.
pub(super) fn div_fixup(format: Format, q: u64, y: u64, x: u64, rules: Rules) -> u64 {
    let underflow = match format.significand {
        10 => -64,
        23 => -150,
        _ => -1075,
    };
    let flushed = |v: u64, flush: bool| {
        let denormal = format.magnitude(v) >> format.significand == 0;
        if denormal && flush { v & format.sign(true) } else { v }
    };
    let (q, y, x) = (flushed(q, flush_in(rules)), flushed(y, flush_in(rules)), flushed(x, flush_in(rules)));
    let sign = format.sign(true) & (x ^ y);
    let (my, mx, infinity) = (format.magnitude(y), format.magnitude(x), format.infinity());
    let field = |magnitude: u64| (magnitude >> format.significand) as i32;
    if format.is_nan(x) {
        return format.quiet(x);
    }
    if format.is_nan(y) {
        return format.quiet(y);
    }
    if (my == 0 && mx == 0) || (my == infinity && mx == infinity) {
        return format.quiet(format.sign(true) | infinity);
    }
    if my == 0 || mx == infinity {
        return sign | infinity;
    }
    if my == infinity || mx == 0 || field(mx) - field(my) < underflow {
        return sign;
    }
    let magnitude = format.magnitude(q);
    let magnitude = if format.is_nan(q) { infinity } else { magnitude };
    sign | flushed(magnitude, flush_out(rules))
}

/// a · b + c of f32, scaled by 2^±64 and then rounded once: up if |c|, which is about the quotient, is at least 2.
#[inline]
pub fn div_fmas_f32(a: u32, b: u32, c: u32, rules: Rules) -> u32 {
    let number = |x: u32| {
        let denormal = x & 0x7fff_ffff < 0x0080_0000;
        f32::from_bits(if denormal && flush_in(rules) { x & 0x8000_0000 } else { x })
    };
    if let Some(nan) = [a, b, c].into_iter().find(|x| F32.is_nan(u64::from(*x))) {
        return nan | 0x0040_0000;
    }
    let [x, y, z] = [a, b, c].map(number);
    let exact = gcnjit_rt::math::fma_to_odd(x, y, z);
    if exact.is_nan() {
        return 0xffc0_0000;
    }
    let exact = if exact == 0.0 { directed_sum(f64::from(x) * f64::from(y), z.into(), rules) } else { exact };
    let power = if z.abs() >= 2.0 { 1023 + 64 } else { 1023 - 64 };
    from_f64(F32, exact * f64::from_bits(power << 52), rules) as u32
}

/// The smaller or larger of two f16; `rules` bit 5: IEEE mode, in which a signalling NaN is the result, quieted.
#[inline]
pub fn extremum_f16(x: u32, y: u32, rules: Rules, larger: bool) -> u32 {
    let flushed = |v: u32, flush: bool| if v & 0x7c00 == 0 && flush { v & 0x8000 } else { v & 0xffff };
    let (x, y) = (flushed(x, flush_in(rules)), flushed(y, flush_in(rules)));
    let nan = |v: u32| F16.is_nan(u64::from(v));
    let signalling = |v: u32| rules & 32 != 0 && nan(v) && v & 0x200 == 0;
    // The order of sign and magnitude as integers, with −0 below +0.
    let order = |v: u32| if v & 0x8000 != 0 { !(v as i32) } else { v as i32 | 0x8000 };
    let order = |v: u32| order(v) & 0xffff;
    let first = (order(x) < order(y)) != larger;
    let result = if signalling(x) {
        x
    } else if signalling(y) || (nan(x) && !nan(y)) {
        y
    } else if nan(y) || first {
        x
    } else {
        y
    };
    if nan(result) { result | 0x200 } else { flushed(result, flush_out(rules)) }
}
