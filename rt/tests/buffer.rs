//! Buffer formats against arithmetic in f64, which holds every component exactly.

use gcnjit_rt::buffer::{Format, IDENTITY, selects, unselect};
use half::f16;

const UNORM: u8 = 0;
const SNORM: u8 = 1;
const USCALED: u8 = 2;
const SSCALED: u8 = 3;
const UINT: u8 = 4;
const SINT: u8 = 5;
const SNORM_NZ: u8 = 6;
const FLOAT: u8 = 7;
/// Widths of the data formats, the lowest component first.
const WIDTHS: [&[u32]; 15] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8, 8, 8, 8],
    &[32, 32],
    &[16, 16, 16, 16],
    &[32, 32, 32],
    &[32, 32, 32, 32],
];

fn format(data: u8, number: u8) -> Format {
    Format::new(data, number).expect("a format")
}

fn element(fields: &[u32], widths: &[u32]) -> [u8; 16] {
    let mut at = 0;
    let bits = fields.iter().zip(widths).fold(0u128, |sum, (field, width)| {
        let placed = u128::from(*field) << at;
        at += width;
        sum | placed
    });
    bits.to_le_bytes()
}

/// What a component is worth.
fn value(raw: u32, width: u32, number: u8) -> f64 {
    let unsigned = f64::from(raw);
    let signed = if raw >> (width - 1) != 0 { unsigned - f64::from(width).exp2() } else { unsigned };
    let (top, half) = (f64::from(width).exp2() - 1.0, f64::from(width - 1).exp2() - 1.0);
    match number {
        UNORM => unsigned / top,
        SNORM => (signed / half).max(-1.0),
        SNORM_NZ => (2.0 * signed + 1.0) / top,
        USCALED => unsigned,
        _ => signed,
    }
}

#[test]
fn every_small_component_loads_as_its_nearest_float() {
    for (data, widths) in (0..).zip(WIDTHS) {
        for number in [UNORM, SNORM, USCALED, SSCALED, SNORM_NZ] {
            for (i, width) in widths.iter().enumerate().filter(|(_, width)| **width < 32) {
                for raw in 0..1u32 << width {
                    let mut fields = [0; 4];
                    fields[i] = raw;
                    let got = format(data, number).load(element(&fields, widths))[i];
                    let want = value(raw, *width, number) as f32;
                    assert_eq!(f32::from_bits(got), want, "format {data} {number} component {i} {raw:#x}");
                }
            }
        }
    }
}

#[test]
fn components_lie_where_the_format_says() {
    for (data, widths) in (1..).zip(&WIDTHS[1..]) {
        let fields: Vec<u32> = widths.iter().map(|width| 0xdead_beef & ((1u64 << width) - 1) as u32).collect();
        let bytes = element(&fields, widths);
        let format = format(data, UINT);
        assert_eq!(format.bytes() as u32 * 8, widths.iter().sum::<u32>());
        let loaded = format.load(bytes);
        assert_eq!(loaded[..fields.len()], fields);
        assert_eq!(loaded[fields.len()..], [0; 4][fields.len()..]);
        assert_eq!(format.store(loaded), bytes);
    }
}

#[test]
fn what_was_loaded_stores_as_it_was() {
    for (data, widths) in (1..).zip(&WIDTHS[1..]) {
        for number in [UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT] {
            let Some(format) = Format::new(data, number) else { continue };
            for seed in 0..2000u32 {
                let fields: Vec<u32> = (0..)
                    .zip(widths.iter())
                    .map(|(i, width)| {
                        (seed + i).wrapping_mul(0x9e37_79b1).rotate_left(seed) & ((1u64 << width) - 1) as u32
                    })
                    .collect();
                let bytes = element(&fields, widths);
                let loaded = format.load(bytes);
                // −1 has two encodings as a normalised number; a NaN is quieted.
                let again = format.load(format.store(loaded));
                assert_eq!(again, loaded, "format {data} {number} {fields:x?}");
            }
        }
    }
}

#[test]
fn halves_and_smaller_floats() {
    for raw in 0..=u16::MAX {
        let [got, ..] = format(2, FLOAT).load(element(&[raw.into()], &[16]));
        let want = f16::from_bits(raw);
        assert!(f32::from_bits(got) == want.to_f32() || f32::from_bits(got).is_nan() && want.is_nan(), "{raw:#x}");
    }
    // 11 bits are a half without its sign and the last four bits of its fraction, 10 bits without the last five.
    for raw in 0..1u32 << 11 {
        let [x, y, z, _] = format(6, FLOAT).load(element(&[raw, raw, raw >> 1], WIDTHS[6]));
        let wanted = [f16::from_bits((raw << 4) as u16), f16::from_bits((raw >> 1 << 5) as u16)].map(f16::to_f32);
        let got = [x, y, z].map(f32::from_bits);
        assert!(got[0] == wanted[0] || got[0].is_nan() && wanted[0].is_nan(), "{raw:#x}");
        assert_eq!((x, z == y), (y, x == z));
        assert!(got[2] == wanted[1] || got[2].is_nan() && wanted[1].is_nan(), "{raw:#x}");
    }
}

#[test]
fn floats_store_as_the_nearest_half() {
    for i in 0..1u32 << 20 {
        let bits = i.wrapping_mul(0x0c13_7e11);
        let want = f16::from_f32(f32::from_bits(bits));
        let got = f16::from_bits(format(2, UNORM).to_half(bits));
        assert!(got == want || got.is_nan() && want.is_nan(), "{bits:#x}: {got} for {want}");
        let stored = format(2, FLOAT).store([bits, 0, 0, 0]);
        assert_eq!([stored[0], stored[1]], got.to_bits().to_le_bytes());
    }
    assert_eq!(format(2, SINT).from_half(0x8000), 0xffff_8000);
    assert_eq!(format(2, UINT).from_half(0x8000), 0x8000);
    assert_eq!(format(2, UNORM).from_half(0x3c00), 0x3f80_0000);
}

#[test]
fn stores_round_and_clamp() {
    let store = |data, number, value: f32| format(data, number).store([value.to_bits(), 0, 0, 0])[0];
    for i in -1200..1200 {
        let x = i as f32 / 1000.0;
        let nearest = |top: f64| (f64::from(x).clamp(-1.0, 1.0) * top).round_ties_even();
        assert_eq!(store(1, UNORM, x), nearest(255.0).max(0.0) as u8, "{x}");
        assert_eq!(store(1, SNORM, x) as i8, nearest(127.0) as i8, "{x}");
        let scaled = x * 300.0;
        assert_eq!(store(1, USCALED, scaled), scaled as u8);
        assert_eq!(store(1, SSCALED, scaled) as i8, scaled as i8);
    }
    for number in [UNORM, SNORM, USCALED, SSCALED] {
        assert_eq!(store(1, number, f32::NAN), 0);
    }
    assert_eq!((store(1, UNORM, f32::INFINITY), store(1, SNORM, f32::NEG_INFINITY) as i8), (255, -127));
    assert_eq!(format(1, UINT).store([256, 0, 0, 0])[0], 255);
    assert_eq!(format(1, SINT).store([-200i32 as u32, 0, 0, 0])[0] as i8, -128);
    // Floats without a sign: negative ones are zero, large ones infinite.
    let packed = |x: f32| u32::from_le_bytes(format(6, FLOAT).store([x.to_bits(); 4])[..4].try_into().unwrap());
    assert_eq!(packed(-2.0), 0);
    assert_eq!(packed(1.0), 0x3c0 | 0x3c0 << 11 | 0x1e0 << 22);
    assert_eq!(packed(1e9), 0x7c0 | 0x7c0 << 11 | 0x3e0 << 22);
}

#[test]
fn selects_and_reserved_formats() {
    assert_eq!(selects(0o7654), IDENTITY);
    let (integer, float) = (format(10, UINT), format(10, UNORM));
    assert_eq!(integer.select([7, 1, 0, 4], [10, 20, 30, 40]), [40, 1, 0, 10]);
    assert_eq!(float.select([1, 2, 5, 5], [10, 20, 30, 40]), [0x3f80_0000, 0, 20, 20]);
    assert_eq!(unselect([7, 4, 0, 4], [10, 20, 30, 40]), [20, 0, 0, 10]);
    for number in 0..8 {
        assert_eq!((Format::new(0, number), Format::new(15, number)), (None, None));
    }
    for data in [1, 3, 8, 9, 10] {
        assert_eq!(Format::new(data, FLOAT), None);
    }
}
