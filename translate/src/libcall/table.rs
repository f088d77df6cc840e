//! The libcalls. A row: `kind name: result = (argument: type, …), immediate => the value of a lane`; the kind is
//! `float` if it does float arithmetic and `bits` if it does none. Behind the lone semicolon stand libcalls that cross
//! lanes, with their forms.

#![allow(clippy::identity_op, clippy::unnecessary_cast, reason = "rows are uniform, whatever their types")]

use super::{Helper, UniformCall};
use super::{dpp, raise};

/// Makes the enum and table of row libcalls. A row: `name: result = (a: type, …), imm => value of a lane`.
/// `float` before a name: it does float arithmetic.
macro_rules! row_calls {
    (
        $($kind:ident $name:ident: $d:ty = ($($a:ident: $t:ty),*), $imm:ident => $body:expr;)*
        ; $($cross:ident = $forms:expr;)*
    ) => {
        /// A libcall on rows.
        #[allow(non_camel_case_types, missing_docs, reason = "named after what they compute, like functions")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum RowOp { $($name,)* $($cross),* }

        impl RowOp {
            /// All of them, in order.
            pub const ALL: &[RowOp] = &[$(RowOp::$name,)* $(RowOp::$cross),*];
        }

        /// All libcalls on rows, as [`RowOp`] counts them.
        pub static TABLE: &[Helper] = &[$(Helper {
            name: stringify!($name),
            forms: [forms::$name::portable, forms::$name::avx2, forms::$name::avx512],
        },)* $(Helper { name: stringify!($cross), forms: $forms }),*];

        mod forms {
            $(pub mod $name {
                #[allow(unused_imports, reason = "not every libcall needs the functions")]
                use crate::libcall::{division::*, functions::*, half::*, packed::*, unary::*};
                #[allow(unused_imports, reason = "likewise")]
                use gcnjit_rt::math;

                /// # Safety
                /// The pointers are rows of the types named: valid, aligned, the result's distinct from the others.
                #[inline(always)]
                unsafe fn body(d: *mut u8, rows: [*const u8; 3], $imm: u64) {
                    let _ = ($imm, &rows);
                    // SAFETY: the caller's contract.
                    let d = unsafe { &mut *d.cast::<[$d; 64]>() };
                    let mut rows = rows.into_iter();
                    $(
                        // SAFETY: the caller's contract; there are at most three arguments.
                        let $a = unsafe { &*rows.next().unwrap_unchecked().cast::<[$t; 64]>() };
                    )*
                    let _ = &mut rows;
                    for lane in 0..64 {
                        $(let $a = $a[lane];)*
                        d[lane] = $body;
                    }
                }

                /// # Safety
                /// As `body`.
                pub unsafe extern "C" fn portable(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, imm: u64) {
                    // SAFETY: the caller's contract.
                    row_calls!(@$kind unsafe { body(d, [a, b, c], imm) })
                }

                /// # Safety
                /// As `body`, and the host has AVX2.
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                pub unsafe extern "C" fn avx2(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, imm: u64) {
                    // SAFETY: the caller's contract.
                    row_calls!(@$kind unsafe { body(d, [a, b, c], imm) })
                }

                /// # Safety
                /// As `body`, and the host has AVX-512.
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
                pub unsafe extern "C" fn avx512(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, imm: u64) {
                    // SAFETY: the caller's contract.
                    row_calls!(@$kind unsafe { body(d, [a, b, c], imm) })
                }
            })*
        }
    };
    (@float $call:expr) => {{
        let guest = crate::libcall::enter_host_fenv();
        $call;
        crate::libcall::set_mxcsr(guest);
    }};
    (@bits $call:expr) => { $call };
}

macro_rules! uniform_calls {
    ($($name:ident($a:ident, $b:ident, $c:ident, $imm:ident) => $body:expr;)*) => {
        /// A libcall on uniform values.
        #[allow(non_camel_case_types, missing_docs, reason = "named after what they compute, like functions")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum UniformOp { $($name),* }

        /// Their names, for listings.
        pub static UNIFORM_NAMES: &[&str] = &[$(stringify!($name)),*];

        /// All libcalls on uniform values, as [`UniformOp`] counts them.
        pub static UNIFORM_TABLE: &[UniformCall] = &[$({
            extern "C" fn $name($a: u64, $b: u64, $c: u64, $imm: u64) -> u64 {
                let _ = ($a, $b, $c, $imm);
                $body
            }
            $name
        }),*];
    };
}

row_calls! {
    bits  shl: u32 = (a: u32, n: u32), _imm => a << (n & 31);
    bits  shr: u32 = (a: u32, n: u32), _imm => a >> (n & 31);
    bits  sar: u32 = (a: u32, n: u32), _imm => ((a as i32) >> (n & 31)) as u32;
    bits  shl64: u64 = (a: u64, n: u32), _imm => a << (n & 63);
    bits  shr64: u64 = (a: u64, n: u32), _imm => a >> (n & 63);
    bits  sar64: u64 = (a: u64, n: u32), _imm => ((a as i64) >> (n & 63)) as u64;
    bits  shl64_lo: u32 = (lo: u32, n: u32), _imm => (u64::from(lo) << (n & 63)) as u32;
    bits  shl64_hi: u32 = (hi: u32, lo: u32, n: u32), _imm => (pair(lo, hi) << (n & 63) >> 32) as u32;
    bits  shr64_lo: u32 = (lo: u32, hi: u32, n: u32), _imm => (pair(lo, hi) >> (n & 63)) as u32;
    bits  shr64_hi: u32 = (hi: u32, n: u32), _imm => (pair(0, hi) >> (n & 63) >> 32) as u32;
    bits  rotr64: u64 = (a: u64, n: u32), _imm => a.rotate_right(n);
    bits  align: u32 = (hi: u32, lo: u32, n: u32), _imm => (pair(lo, hi) >> (n & 31)) as u32;
    bits  popcnt: u32 = (a: u32), _imm => a.count_ones();
    bits  popcnt64: u32 = (a: u64), _imm => a.count_ones();
    bits  bitrev: u32 = (a: u32), _imm => a.reverse_bits();
    bits  ffbh_u32: u32 = (a: u32), _imm => ffbh_u32(a);
    bits  ffbh_i32: u32 = (a: u32), _imm => ffbh_i32(a);
    bits  ffbl_b32: u32 = (a: u32), _imm => ffbl_b32(a);
    bits  perm: u32 = (hi: u32, lo: u32, selector: u32), _imm => perm(hi, lo, selector);
    bits  sad_u8: u32 = (a: u32, b: u32, c: u32), _imm => sad_u8(a, b, c);
    bits  lerp_u8: u32 = (a: u32, b: u32, c: u32), _imm => lerp_u8(a, b, c);
    bits  class_f32: u32 = (x: u32, mask: u32), _imm => class_f32(x, mask);
    bits  class_f64: u32 = (x: u64, mask: u32), _imm => class_f64(x, mask);
    bits  mbcnt: u32 = (x: u32, lane: u32), half => mbcnt(x, lane, half as u32);
    bits  ldexp_f32: u32 = (x: u32, n: u32), rules => ldexp_f32(x, n as i32, rules);
    bits  ldexp_f64: u64 = (x: u64, n: u32), rules => ldexp_f64(x, n as i32, rules);
    bits  frexp_exp_f32: u32 = (x: u32), rules => frexp_exp_f32(x, rules);
    bits  frexp_mant_f32: u32 = (x: u32), rules => frexp_mant_f32(x, rules);
    bits  f16_to_f32: u32 = (x: u32), rules => f16_to_f32(x, rules);
    float f32_to_f16: u32 = (x: u32), rules => f32_to_f16(x, rules);
    float add_f16: u32 = (x: u32, y: u32), rules => add_f16(x, y, rules);
    float sub_f16: u32 = (x: u32, y: u32), rules => sub_f16(x, y, rules);
    float mul_f16: u32 = (x: u32, y: u32), rules => mul_f16(x, y, rules);
    float div_fmas_f32: u32 = (a: u32, b: u32, c: u32), rules => div_fmas_f32(a, b, c, rules);
    bits  div_scale_f32: u32 = (s: u32, y: u32, x: u32), rules => div_scale_f32(s, y, x, rules);
    bits  div_scale_f64: u64 = (s: u64, y: u64, x: u64), rules => div_scale_f64(s, y, x, rules);
    bits  div_flag_f32: u32 = (y: u32, x: u32), rules => div_flag_f32(y, x, rules);
    bits  div_flag_f64: u32 = (y: u64, x: u64), rules => div_flag_f64(y, x, rules);
    bits  div_fixup_f32: u32 = (q: u32, y: u32, x: u32), rules => div_fixup_f32(q, y, x, rules);
    bits  div_fixup_f64: u64 = (q: u64, y: u64, x: u64), rules => div_fixup_f64(q, y, x, rules);
    bits  min_f16: u32 = (x: u32, y: u32), rules => extremum_f16(x, y, rules, false);
    bits  max_f16: u32 = (x: u32, y: u32), rules => extremum_f16(x, y, rules, true);
    bits  clamp_f16: u32 = (x: u32), dx10 => clamp_f16(x, dx10 != 0);
    // VOP1 and VOPC.
    float rcp_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::rcp_f32);
    float rsq_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::rsq_f32);
    float sqrt_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::sqrt_f32);
    float exp_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::exp_f32);
    float log_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::log_f32);
    float sin_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::sin_f32);
    float cos_f32: u32 = (x: u32), rules => approximated_f32(x, rules, math::cos_f32);
    float rcp_f64: u64 = (x: u64), rules => approximated_f64(x, rules, math::rcp_f64);
    float rsq_f64: u64 = (x: u64), rules => approximated_f64(x, rules, math::rsq_f64);
    float sqrt_f64: u64 = (x: u64), rules => approximated_f64(x, rules, math::sqrt_f64);
    float rcp_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::rcp_f32);
    float rsq_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::rsq_f32);
    float sqrt_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::sqrt_f32);
    float exp_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::exp_f32);
    float log_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::log_f32);
    float sin_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::sin_f32);
    float cos_f16: u32 = (x: u32), rules => approximated_f16(x, rules, math::cos_f32);
    float cvt_i32_f64: u32 = (x: u64), _imm => f64::from_bits(x) as i32 as u32;
    float cvt_u32_f64: u32 = (x: u64), _imm => f64::from_bits(x) as u32;
    bits  f64_to_f32: u32 = (x: u64), rules => f64_to_f32(x, rules);
    bits  int_to_f16: u32 = (x: u32), rules => int_to_f16(x, rules);
    bits  norm_i16_f16: u32 = (x: u32), rules => norm_i16_f16(x, rules);
    bits  norm_u16_f16: u32 = (x: u32), rules => norm_u16_f16(x, rules);
    bits  frexp_exp_f64: u32 = (x: u64), rules => frexp_exp_f64(x, rules);
    bits  frexp_mant_f64: u64 = (x: u64), rules => frexp_mant_f64(x, rules);
    bits  frexp_exp_f16: u32 = (x: u32), rules => frexp_exp_f16(x, rules);
    bits  frexp_mant_f16: u32 = (x: u32), rules => frexp_mant_f16(x, rules);
    bits  class_f16: u32 = (x: u32, mask: u32), _imm => class_f16(x, mask);
    bits  screen_partition: u32 = (x: u32), _imm => gcnjit_rt::screen::partition_4se(x);
    // VOP2, VOP3 and VOP3P.
    float subrev_f16: u32 = (x: u32, y: u32), rules => subrev_f16(x, y, rules);
    float mad_f16: u32 = (x: u32, y: u32, z: u32), rules => mad_f16(x, y, z, rules);
    float fma_f16: u32 = (x: u32, y: u32, z: u32), rules => fma_f16(x, y, z, rules);
    bits  ldexp_f16: u32 = (x: u32, n: u32), rules => ldexp_f16(x, n, rules);
    bits  min3_f16: u32 = (x: u32, y: u32, z: u32), rules => extremum3_f16(x, y, z, rules, false);
    bits  max3_f16: u32 = (x: u32, y: u32, z: u32), rules => extremum3_f16(x, y, z, rules, true);
    bits  med3_f16: u32 = (x: u32, y: u32, z: u32), rules => med3_f16(x, y, z, rules);
    bits  div_fixup_f16: u32 = (q: u32, y: u32, x: u32), rules => div_fixup_f16(q, y, x, rules);
    bits  msad_u8: u32 = (a: u32, b: u32), _imm => msad_u8(a, b);
    bits  qsad_pk_u16_u8: u64 = (a: u64, b: u32, c: u64), clamp => quad_sad(a, b, c, clamp != 0, |a, b| sad_u8(a, b, 0));
    bits  mqsad_pk_u16_u8: u64 = (a: u64, b: u32, c: u64), clamp => quad_sad(a, b, c, clamp != 0, msad_u8);
    bits  dot_i: u32 = (a: u32, b: u32), bits => dot_signed(a, b, bits as u32);
    bits  dot_u: u32 = (a: u32, b: u32), bits => dot_unsigned(a, b, bits as u32);
    bits  replace_byte: u32 = (byte: u32, n: u32, old: u32), _imm => replace_byte(byte, n, old);
    float norm_i16: u32 = (x: u32), _imm => norm(x, 32767.0, true);
    float norm_u16: u32 = (x: u32), _imm => norm(x, 65535.0, false);
    bits  trig_preop: u64 = (x: u64, segment: u32), rules => trig_preop(x, segment, rules);

    ;
    dpp = dpp::FORMS;
    raise = [raise::raise; 3];
    gather = [raise::gather; 3];
}

uniform_calls! {
    dpp_valid(exec, _b, _c, ctrl) => dpp::valid_lanes(exec, ctrl as u16);
}
