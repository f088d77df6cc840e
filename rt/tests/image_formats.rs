//! Texel formats: compressed blocks against another decoder, numbers against arithmetic in f64, which holds every
//! component exactly, and against hand-made vectors.

use gcnjit_isa::Gen;
use gcnjit_rt::image::{Format, Unsupported};
use half::f16;

const UNORM: u8 = 0;
const SNORM: u8 = 1;
const USCALED: u8 = 2;
const SSCALED: u8 = 3;
const UINT: u8 = 4;
const SINT: u8 = 5;
const FLOAT: u8 = 7;
const SRGB: u8 = 9;
const ONE: u32 = 0x3f80_0000;

/// Widths of the data formats whose components are packed from the lowest bit on, the lowest component first.
const PACKED: [(u8, [u32; 4]); 22] = [
    (1, [8, 0, 0, 0]),
    (2, [16, 0, 0, 0]),
    (3, [8, 8, 0, 0]),
    (4, [32, 0, 0, 0]),
    (5, [16, 16, 0, 0]),
    (6, [11, 11, 10, 0]),
    (7, [10, 11, 11, 0]),
    (8, [2, 10, 10, 10]),
    (9, [10, 10, 10, 2]),
    (10, [8, 8, 8, 8]),
    (11, [32, 32, 0, 0]),
    (12, [16, 16, 16, 16]),
    (13, [32, 32, 32, 0]),
    (14, [32, 32, 32, 32]),
    (16, [5, 6, 5, 0]),
    (17, [5, 5, 5, 1]),
    (18, [1, 5, 5, 5]),
    (19, [4, 4, 4, 4]),
    (20, [24, 8, 0, 0]),
    (21, [8, 24, 0, 0]),
    (57, [4, 4, 0, 0]),
    (58, [5, 5, 6, 0]),
];

fn format(data: u8, number: u8) -> Format {
    Format::new(data, number, Gen::Gfx8).unwrap_or_else(|what| panic!("{what}"))
}

/// Numbers without a pattern.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn block(&mut self) -> [u8; 16] {
        let (low, high) = (self.next(), self.next());
        (u128::from(low) << 64 | u128::from(high)).rotate_left((low >> 58) as u32).to_le_bytes()
    }
}

fn bytes_of(components: [u32; 4]) -> [i32; 4] {
    components.map(|component| (f32::from_bits(component) * 255.0).round() as i32)
}

/// The largest difference of any component of any texel to what `decode` says, in 255ths.
fn farthest(data: u8, blocks: u32, decode: impl Fn(&[u8], &mut [u8])) -> i32 {
    let format = format(data, UNORM);
    let mut random = Random(u64::from(data));
    let mut farthest = 0;
    for _ in 0..blocks {
        let block = random.block();
        let mut want = [0u8; 64];
        decode(&block[..format.bytes()], &mut want);
        for texel in 0..16 {
            let got = bytes_of(format.load(&block, texel % 4, texel / 4));
            for (got, want) in got.into_iter().zip(&want[4 * texel as usize..]) {
                farthest = farthest.max((got - i32::from(*want)).abs());
            }
        }
    }
    farthest
}

#[test]
fn compressed_colours_are_another_decoders() {
    assert_eq!(farthest(35, 4000, |block, want| bcdec_rs::bc1(block, want, 16)), 0);
    assert_eq!(farthest(36, 4000, |block, want| bcdec_rs::bc2(block, want, 16)), 0);
    // The other decoder doesn't round interpolated alpha to nearest.
    assert!(farthest(37, 4000, |block, want| bcdec_rs::bc3(block, want, 16)) <= 1);
}

#[test]
fn bc7_is_another_decoders() {
    // Most random blocks are of the first modes; those that end in zeros are of the others.
    let mut random = Random(7);
    let format = format(41, UNORM);
    for round in 0..16000u32 {
        let mut block = random.block();
        let mode = round % 9;
        block[0] = if mode == 8 { 0 } else { block[0] << mode << 1 | 1 << mode };
        let mut want = [0u8; 64];
        bcdec_rs::bc7(&block, &mut want, 16);
        for texel in 0..16 {
            let got = bytes_of(format.load(&block, texel % 4, texel / 4)).map(|value| value as u8);
            assert_eq!(got, want[4 * texel as usize..][..4], "mode {mode}, texel {texel} of {block:02x?}");
        }
    }
}

#[test]
fn bc6_is_another_decoders() {
    let mut random = Random(6);
    for round in 0..32000u32 {
        let mut block = random.block();
        // The five bits that say which of the modes, all of them.
        block[0] = block[0] & 0xe0 | (round % 32) as u8;
        for signed in [false, true] {
            let format = format(40, if signed { SNORM } else { UNORM });
            let mut want = [0u16; 48];
            bcdec_rs::bc6h_half(&block, &mut want, 12, signed);
            for texel in 0..16usize {
                let got = format.load(&block, texel as u32 % 4, texel as u32 / 4);
                let want = &want[3 * texel..][..3];
                let halves: Vec<u16> =
                    got[..3].iter().map(|bits| f16::from_f32(f32::from_bits(*bits)).to_bits()).collect();
                assert_eq!(halves, want, "mode {:#07b}, signed {signed}, texel {texel}", round % 32);
                assert_eq!(got[3], ONE);
            }
        }
    }
}

#[test]
fn bc4_and_bc5_are_another_decoders() {
    let mut random = Random(4);
    for round in 0..8000u32 {
        let block = random.block();
        let signed = round % 2 == 1;
        let number = if signed { SNORM } else { UNORM };
        let (mut red, mut both) = ([0f32; 16], [0f32; 32]);
        bcdec_rs::bc4_float(&block[..8], &mut red, 4, signed);
        bcdec_rs::bc5_float(&block, &mut both, 8, signed);
        for texel in 0..16usize {
            let (x, y) = (texel as u32 % 4, texel as u32 / 4);
            let [r, g, b, a] = format(38, number).load(&block, x, y);
            assert!((f32::from_bits(r) - red[texel]).abs() < 1e-6, "{} {}", f32::from_bits(r), red[texel]);
            assert_eq!([g, b, a], [0, 0, ONE]);
            let [r, g, b, a] = format(39, number).load(&block, x, y).map(f32::from_bits);
            assert!((r - both[2 * texel]).abs() < 1e-6 && (g - both[2 * texel + 1]).abs() < 1e-6);
            assert_eq!([b, a], [0.0, 1.0]);
        }
    }
}

/// What a component of `width` bits reads as, computed in f64.
fn value(raw: u32, width: u32, number: u8) -> f64 {
    let signed = f64::from((raw << (32 - width)) as i32 >> (32 - width));
    let (top, half) = (((1u64 << width) - 1) as f64, ((1u64 << (width - 1)) - 1) as f64);
    match number {
        UNORM => f64::from(raw) / top,
        SNORM => (signed / half).max(-1.0),
        USCALED => f64::from(raw),
        SSCALED => signed,
        _ => unreachable!("not a number that is rounded"),
    }
}

/// The widths and the position of a component's lowest bit.
fn components(widths: [u32; 4]) -> impl Iterator<Item = (usize, u32, u32)> {
    (0..4).filter(move |i| widths[*i] != 0).map(move |i| (i, widths[i], widths[..i].iter().sum()))
}

#[test]
fn every_component_loads_as_its_nearest_float() {
    for (data, widths) in PACKED {
        for number in [UNORM, SNORM, USCALED, SSCALED] {
            let Ok(format) = Format::new(data, number, Gen::Gfx6) else {
                assert!(number == SNORM && widths.contains(&1), "{data} {number}");
                continue;
            };
            for (i, width, at) in components(widths).filter(|component| component.1 < 32) {
                let step = if width > 16 { 4093 } else { 1 };
                for raw in (0..1u32 << width).step_by(step).chain([(1 << width) - 1]) {
                    let got = format.load(&(u128::from(raw) << at).to_le_bytes(), 0, 0)[i];
                    assert_eq!(f32::from_bits(got), value(raw, width, number) as f32, "{data} {number} {raw:#x}");
                }
            }
        }
    }
}

#[test]
fn integers_are_extended_and_dwords_are_moved() {
    for (data, widths) in PACKED {
        for (i, width, at) in components(widths) {
            let raw = 0xdead_beef_u32 >> (32 - width);
            let element = (u128::from(raw) << at).to_le_bytes();
            assert_eq!(format(data, UINT).load(&element, 0, 0)[i], raw);
            let signed = (raw << (32 - width)) as i32 >> (32 - width);
            assert_eq!(format(data, SINT).load(&element, 0, 0)[i], signed as u32);
            if width == 32 {
                assert_eq!(format(data, FLOAT).load(&element, 0, 0)[i], raw);
            }
        }
    }
}

#[test]
fn halves_load_exactly() {
    let format = format(5, FLOAT);
    for raw in 0..=u16::MAX {
        let element = (u128::from(raw) << 16).to_le_bytes();
        let [_, got, ..] = format.load(&element, 0, 0).map(f32::from_bits);
        let want = f16::from_bits(raw).to_f32();
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{raw:#x}");
    }
}

#[test]
fn what_is_missing_reads_zero_and_alpha_one() {
    let ones = [0xff; 16];
    assert_eq!(format(1, UNORM).load(&ones, 0, 0), [ONE, 0, 0, ONE]);
    assert_eq!(format(3, UINT).load(&ones, 0, 0), [255, 255, 0, 1]);
    assert_eq!(format(16, UNORM).load(&ones, 0, 0), [ONE; 4]);
    assert_eq!(format(4, FLOAT).load(&[0; 16], 0, 0), [0, 0, 0, ONE]);
}

#[test]
fn shared_exponents() {
    // A fraction of 1 with the largest and the smallest exponent; all bits of green.
    let words = [(1u32 | 31 << 27, [128.0, 0.0, 0.0]), (1, [2f32.powi(-24), 0.0, 0.0])];
    let green = (0x1ff << 9 | 15 << 27, [0.0, 511.0 / 512.0, 0.0]);
    for (word, [r, g, b]) in words.into_iter().chain([green]) {
        let element = u128::from(word).to_le_bytes();
        assert_eq!(format(34, FLOAT).load(&element, 0, 0).map(f32::from_bits), [r, g, b, 1.0]);
    }
}

#[test]
fn pairs_share_red_and_blue() {
    // From the lowest byte: GB_GR has red, green, blue, green; BG_RG has them the other way round.
    let element = [10, 20, 30, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(format(32, UINT).load(&element, 6, 3), [10, 20, 30, 1]);
    assert_eq!(format(32, UINT).load(&element, 7, 3), [10, 40, 30, 1]);
    assert_eq!(format(33, UINT).load(&element, 6, 3), [20, 10, 40, 1]);
    assert_eq!(format(33, UINT).load(&element, 7, 3), [20, 30, 40, 1]);
    assert_eq!(format(32, UNORM).block(), [2, 1]);
}

#[test]
fn bits_and_depth_with_stencil() {
    let element = [0b0000_0101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let of = |data: u8| [0, 1, 2, 7].map(|x| format(data, UINT).load(&element, x, 0)[0]);
    assert_eq!(of(59), [1, 0, 1, 0]);
    assert_eq!(of(60), [0, 0, 0, 1]);
    let depth = [0, 0, 0x80, 0x3f, 77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(format(22, FLOAT).load(&depth, 0, 0)[..2], [ONE, 77]);
}

#[test]
fn srgb_is_the_nearest_float_to_the_definition() {
    let format = format(10, SRGB);
    for value in 0..=255u8 {
        let encoded = f64::from(value) / 255.0;
        let linear = if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) };
        let mut element = [0; 16];
        element[..4].fill(value);
        let [r, g, b, a] = format.load(&element, 0, 0).map(f32::from_bits);
        let ulp = f64::from(r.next_up() - r);
        assert!((f64::from(r) - linear).abs() <= 0.5000001 * ulp && r == g && r == b, "{value}: {r} {linear}");
        assert_eq!(a, (f64::from(value) / 255.0) as f32);
    }
}

#[test]
fn what_was_loaded_stores_as_it_was() {
    for (data, widths) in PACKED {
        for number in [UNORM, SNORM, UINT, SINT] {
            let Ok(format) = Format::new(data, number, Gen::Gfx9) else { continue };
            if !format.is_writable() {
                assert!(matches!(data, 13 | 20 | 21 | 57 | 58));
                assert_eq!(format.store([0; 4]), Err(Unsupported::Store { data, number }));
                continue;
            }
            let bytes = format.bytes();
            let mut random = Random(9);
            for _ in 0..300 {
                let mut element = [0; 16];
                element[..bytes].copy_from_slice(&random.block()[..bytes]);
                if number == SNORM {
                    // The least value means what the one above means.
                    for (_, width, at) in components(widths).filter(|component| component.1 < 32) {
                        let bits = u128::from_le_bytes(element);
                        if (bits >> at) as u32 & ((1 << width) - 1) == 1 << (width - 1) {
                            element = (bits | 1 << at).to_le_bytes();
                        }
                    }
                }
                assert_eq!(format.store(format.load(&element, 0, 0)), Ok(element), "{data} {number}");
            }
        }
    }
}

#[test]
fn halves_store_to_nearest() {
    let format = format(2, FLOAT);
    let mut random = Random(16);
    for _ in 0..20000 {
        let bits = random.next() as u32;
        let got = format.store([bits, 0, 0, 0]).unwrap();
        let (got, want) = (f16::from_le_bytes([got[0], got[1]]), f16::from_f32(f32::from_bits(bits)));
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{bits:#x}");
    }
}

/// The number formats of every data format that the manual's table can be read with, as far as they have a meaning.
#[test]
fn formats_that_go_together() {
    let all: Vec<u8> = (0..16).collect();
    let of = |data: u8, generation: Gen| -> Vec<u8> {
        all.iter().copied().filter(|number| Format::new(data, *number, generation).is_ok()).collect()
    };
    assert_eq!(of(10, Gen::Gfx6), [0, 1, 2, 3, 4, 5, 6, 9]);
    assert_eq!(of(10, Gen::Gfx9), [0, 1, 2, 3, 4, 5, 9]);
    assert_eq!(of(2, Gen::Gfx7), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(of(9, Gen::Gfx8), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(of(34, Gen::Gfx8), [7]);
    assert_eq!(of(35, Gen::Gfx8), [0, 9]);
    assert_eq!(of(40, Gen::Gfx8), [0, 1, 7]);
    for reserved in [0, 15, 23, 31, 42, 46, 61, 62, 63] {
        assert_eq!(of(reserved, Gen::Gfx8), [], "{reserved}");
    }
    // ETC2 and ASTC.
    for other in [24, 46, 50, 59] {
        assert_eq!(of(other, Gen::Gfx9), [], "{other}");
    }
    assert_eq!(Format::new(10, 7, Gen::Gfx6), Err(Unsupported::Format { data: 10, number: 7 }));
}
