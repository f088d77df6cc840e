//! The forms of every libcall on rows leave the same bits.

use super::{Helper, Level, RowCall, TABLE, detected};

/// Immediates: modes of rounding and denormals are in some of the bits that libcalls take.
const IMMEDIATES: [u64; 3] = [0, 0xc0, 0x3f0];
/// Numbers that are often special as integers, f16, f32 or f64, in their halves.
const EDGES: [u64; 12] = [
    0,
    1,
    0x8000_0000,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
    0x3f80_0000_7f80_0000,
    0x7ff0_0000_ffc0_1234,
    0x0000_0001_0080_0000,
    0x7c00_7e01_3c00_fc01,
    0x3ff0_0000_0000_0000,
    0x4330_0000_4b00_0000,
    0x8000_0000_0000_0001,
];

/// Three rows of 64 values; every third one is special.
fn rows(state: &mut u64) -> [[u64; 64]; 3] {
    let mut next = || {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        *state >> 5 ^ *state << 40
    };
    std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            let bits = next();
            if bits % 3 == 0 { EDGES[(bits / 3 % 12) as usize] } else { bits }
        })
    })
}

fn run(form: RowCall, rows: &[[u64; 64]; 3], imm: u64) -> [u64; 64] {
    let mut result = [0u64; 64];
    let [a, b, c] = [0, 1, 2].map(|row| rows[row].as_ptr().cast());
    // SAFETY: rows of 64 quadwords hold rows of either width; the host has what the form needs, as its level was
    // detected.
    unsafe { form(result.as_mut_ptr().cast(), a, b, c, imm) };
    result
}

/// Makes arguments what the libcall is called with, and returns its immediate.
fn in_domain(name: &str, rows: &mut [[u64; 64]; 3], imm: u64) -> u64 {
    match name {
        // A lane's number, and which half of the lanes.
        "mbcnt" => {
            rows[1].iter_mut().for_each(|pair| *pair &= 0x3f_0000_003f);
            imm >> 7 & 1
        }
        // Bits of an element.
        "dot_i" | "dot_u" => [4, 8, 16][(imm >> 4) as usize % 3],
        _ => imm,
    }
}

#[test]
fn all_levels_of_the_host_leave_the_same_bits() {
    let levels = [Level::Avx2, Level::Avx512].into_iter().filter(|level| *level as usize <= detected() as usize);
    let (levels, mut state) = (levels.collect::<Vec<_>>(), 1);
    for Helper { name, forms } in TABLE {
        for imm in IMMEDIATES {
            for _ in 0..20 {
                let mut rows = rows(&mut state);
                let imm = in_domain(name, &mut rows, imm);
                let want = run(forms[Level::Portable as usize], &rows, imm);
                for level in &levels {
                    assert!(run(forms[*level as usize], &rows, imm) == want, "{name} with {imm:#x} on {level:?}");
                }
            }
        }
    }
}
