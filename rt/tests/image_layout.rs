//! Where texels are: descriptors and what they say, addresses worked out by hand from the documents, and that no two
//! texels share bytes.

use gcnjit_isa::Gen;
use gcnjit_rt::image::{Dim, Format, Image, MicroTile, Shape, Swizzle, Texel, Tiling, Unsupported};
use std::collections::HashSet;

const BASE: u64 = 0x12_3456_7800;
const LEGACY: [Gen; 3] = [Gen::Gfx6, Gen::Gfx7, Gen::Gfx8];

/// A format with elements of this many bytes.
fn element(bytes: u32) -> Format {
    let data = match bytes {
        1 => 1,
        2 => 2,
        4 => 4,
        8 => 11,
        12 => 13,
        16 => 14,
        _ => unreachable!("no such element"),
    };
    Format::new(data, 4, Gen::Gfx9).unwrap()
}

fn bc1() -> Format {
    Format::new(35, 0, Gen::Gfx9).unwrap()
}

fn image(generation: Gen, shape: Shape) -> Image {
    Image::new(generation, BASE, &shape).unwrap_or_else(|what| panic!("{what}: {shape:?}"))
}

fn offset(image: &Image, x: u32, y: u32, z: u32, level: u32) -> u64 {
    image.address(Texel { x, y, z, level, sample: 0 }) - BASE
}

/// Every tiling of a generation.
fn tilings(generation: Gen) -> Vec<Tiling> {
    use MicroTile::{Depth, Display, Rotated, Thick, Thin};
    let micro = [Thin, Display, Depth].map(Tiling::Micro);
    let mut all = vec![Tiling::Linear];
    if generation == Gen::Gfx9 {
        for swizzle in [Swizzle::Z, Swizzle::S, Swizzle::D, Swizzle::R] {
            all.extend([Tiling::Block256(swizzle), Tiling::Block4K(swizzle), Tiling::Block64K(swizzle)]);
        }
    } else {
        all.extend(micro);
        all.extend([Tiling::LinearGeneral, Tiling::MicroThick(Thin)]);
    }
    if matches!(generation, Gen::Gfx7 | Gen::Gfx8) {
        all.extend([Tiling::MicroThick(Thick), Tiling::Micro(Rotated)]);
    }
    all
}

/// Shapes of all dimensions with odd sizes, with these layouts.
fn shapes(format: Format, tiling: Tiling) -> Vec<Shape> {
    let plane = Shape { tiling, ..Shape::plane(format, 37, 21) };
    let mut all = vec![
        plane,
        Shape { width: 5, height: 3, ..plane },
        Shape { levels: 6, ..plane },
        Shape { width: 70, height: 9, levels: 7, ..plane },
        Shape { width: 9, height: 70, levels: 7, ..plane },
        Shape { dim: Dim::D2Array, layers: 5, levels: 3, ..plane },
        Shape { dim: Dim::Cube, width: 13, height: 13, layers: 12, levels: 2, ..plane },
        Shape { dim: Dim::D3, width: 13, height: 7, depth: 6, levels: 3, ..plane },
        Shape { dim: Dim::D1, height: 1, levels: 4, ..plane },
        Shape { dim: Dim::D1Array, height: 1, layers: 3, ..plane },
    ];
    all.extend([2, 4, 8].map(|samples| Shape { dim: Dim::D2Msaa, samples, ..plane }));
    all.push(Shape { dim: Dim::D2MsaaArray, samples: 4, layers: 3, ..plane });
    all
}

/// All texels of an image, one a block where several share an element.
fn elements(image: &Image) -> Vec<Texel> {
    let [columns, rows] = image.format.block();
    let mut texels = Vec::new();
    for level in 0..image.levels {
        let [width, height, depth] = image.size(level);
        for z in 0..depth.max(image.layers()) {
            for y in (0..height).step_by(rows as usize) {
                for x in (0..width).step_by(columns as usize) {
                    texels.extend((0..image.samples).map(|sample| Texel { x, y, z, level, sample }));
                }
            }
        }
    }
    texels
}

#[test]
fn no_two_texels_share_bytes() {
    let mut images = 0;
    for generation in [Gen::Gfx6, Gen::Gfx7, Gen::Gfx9] {
        for tiling in tilings(generation) {
            for format in [element(1), element(2), element(4), element(8), element(12), element(16), bc1()] {
                for shape in shapes(format, tiling) {
                    let Ok(image) = Image::new(generation, BASE, &shape) else { continue };
                    images += 1;
                    let mut seen = HashSet::new();
                    let bytes = format.bytes() as u64;
                    for texel in elements(&image) {
                        let at = image.address(texel) - BASE;
                        assert!(at.is_multiple_of(bytes) || bytes == 12, "{texel:?} of {shape:?}");
                        assert!(at + bytes <= image.bytes(), "{texel:?} of {shape:?} is beyond {}", image.bytes());
                        assert!(seen.insert(at), "{texel:?} of {shape:?} shares {at:#x}");
                    }
                }
            }
        }
    }
    // Few combinations are refused; a refusal of more would make this test empty.
    assert!(images > 1000, "{images}");
}

#[test]
fn what_was_packed_unpacks() {
    for generation in [Gen::Gfx6, Gen::Gfx7, Gen::Gfx9] {
        for tiling in tilings(generation) {
            for shape in [element(2), bc1()].into_iter().flat_map(|format| shapes(format, tiling)) {
                let Ok(image) = Image::new(generation, 0, &shape) else { continue };
                let plain: Vec<u8> = (0..image.plain_bytes()).map(|i| (i * 7 + i / 251) as u8).collect();
                let memory = image.pack(&plain);
                assert_eq!(image.unpack(&memory), plain, "{shape:?}");
                // The second texel of the first row, and the first of the last slice.
                let bytes = shape.format.bytes();
                let second = image.address(Texel { x: image.format.block()[0], ..Texel::default() }) as usize;
                if shape.samples == 1 {
                    assert_eq!(memory[second..second + bytes], plain[bytes..2 * bytes], "{shape:?}");
                }
            }
        }
    }
}

#[test]
fn descriptors_come_back() {
    for generation in Gen::ALL {
        for tiling in tilings(generation) {
            for shape in [element(4), element(12), bc1()].into_iter().flat_map(|format| shapes(format, tiling)) {
                let Ok(mut image) = Image::new(generation, BASE, &shape) else { continue };
                image.min_lod = 0x123;
                image.selects = [7, 0, 1, 4];
                let words = image.encode();
                assert_eq!(Image::decode(words, generation, false), Ok(image), "{shape:?}");
            }
        }
    }
}

#[test]
fn views_come_back() {
    for generation in Gen::ALL {
        let shape = Shape { levels: 5, ..Shape::array(element(4), 64, 48, 20) };
        let mut view = image(generation, shape);
        (view.base_level, view.base_array) = (2, 3);
        let decoded = Image::decode(view.encode(), generation, false).unwrap();
        assert_eq!((decoded.base_level, decoded.last_level, decoded.layers()), (2, 4, 17));
        let texel = Texel { x: 3, y: 2, z: 3, level: 2, sample: 0 };
        assert_eq!(decoded.address(texel), view.address(texel));
    }
}

/// Fields at the places that the manual's table 8.11 gives them.
#[test]
fn fields_are_in_place() {
    let format = Format::new(10, 9, Gen::Gfx6).unwrap();
    let tiling = Tiling::Micro(MicroTile::Thin);
    let shape = Shape { levels: 4, tiling, ..Shape::array(format, 100, 50, 7) };
    let [w0, w1, w2, w3, w4, w5, w6, w7] = image(Gen::Gfx6, shape).encode();
    assert_eq!((w0, w1 & 0xff), (0x1234_5678, 0));
    assert_eq!((w1 >> 8 & 0xfff, w1 >> 20 & 63, w1 >> 26 & 15), (0, 10, 9));
    assert_eq!((w2 & 0x3fff, w2 >> 14 & 0x3fff), (99, 49));
    assert_eq!(w3 & 0xfff, 4 | 5 << 3 | 6 << 6 | 7 << 9);
    assert_eq!((w3 >> 12 & 15, w3 >> 16 & 15, w3 >> 20 & 31, w3 >> 25 & 1, w3 >> 28), (0, 3, 13, 1, 13));
    assert_eq!((w4 & 0x1fff, w4 >> 13 & 0x3fff), (6, 127));
    assert_eq!((w5 & 0x1fff, w5 >> 13 & 0x1fff, w6, w7), (0, 6, 0, 0));
    let [_, _, _, w3, w4, w5, ..] = image(Gen::Gfx9, Shape { tiling: Tiling::Linear, ..shape }).encode();
    // Rows of four levels: 50, 25, 13 and 7.
    assert_eq!((w3 >> 20 & 31, w4 & 0x1fff, w4 >> 13 & 0xffff), (0, 6, 94));
    assert_eq!((w5 & 0x1fff, w5 >> 28), (0, 3));
}

#[test]
fn four_dwords_are_enough_for_planes() {
    for generation in LEGACY {
        let plane =
            image(generation, Shape { tiling: Tiling::Micro(MicroTile::Thin), ..Shape::plane(element(4), 37, 21) });
        let mut words = plane.encode();
        words[4..].fill(0xdead_beef);
        assert_eq!(Image::decode(words, generation, true), Ok(plane));
    }
}

#[test]
fn linear_rows_are_aligned() {
    // Pitches of 64 bytes and at least 8 elements, slices of 256 bytes and at least 64 elements.
    let legacy = |bytes, width, height| image(Gen::Gfx6, Shape::plane(element(bytes), width, height)).pitch;
    assert_eq!([legacy(4, 100, 4), legacy(4, 100, 1), legacy(1, 1, 1), legacy(16, 3, 5)], [112, 128, 256, 64]);
    // Rows of three dwords a texel are counted in dwords: 24 are padded to 32.
    assert_eq!([legacy(12, 8, 8), legacy(2, 33, 8)], [32 / 3, 64]);
    // Pitches of 256 bytes.
    let gfx9 = |bytes, width| image(Gen::Gfx9, Shape::plane(element(bytes), width, 3)).pitch;
    assert_eq!([gfx9(4, 100), gfx9(1, 1), gfx9(16, 17), gfx9(8, 32)], [128, 256, 32, 32]);
}

#[test]
fn linear_levels_follow_each_other() {
    let shape = Shape { levels: 3, ..Shape::plane(element(4), 48, 20) };
    // gfx6: level 0 is padded to 64 × 32, level 1 is 32 × 16, level 2 is 16 × 8.
    let legacy = image(Gen::Gfx6, shape);
    assert_eq!(legacy.pitch, 64);
    assert_eq!(offset(&legacy, 1, 1, 0, 0), 4 * 65);
    assert_eq!(offset(&legacy, 1, 1, 0, 1), 4 * (64 * 32 + 33));
    assert_eq!(offset(&legacy, 1, 1, 0, 2), 4 * (64 * 32 + 32 * 16 + 17));
    assert_eq!(legacy.bytes(), 4 * (64 * 32 + 32 * 16 + 16 * 8));
    // gfx9: one pitch for all levels, below each other.
    let gfx9 = image(Gen::Gfx9, shape);
    assert_eq!([0, 1, 2].map(|level| offset(&gfx9, 1, 1, 0, level)), [4 * 65, 4 * (64 * 21 + 1), 4 * (64 * 31 + 1)]);
    assert_eq!(gfx9.bytes(), 4 * 64 * 35);
}

#[test]
fn slices_are_in_levels_or_levels_in_slices() {
    let shape = Shape { levels: 2, ..Shape::array(element(4), 64, 8, 3) };
    let legacy = image(Gen::Gfx7, shape);
    // Three slices are padded to four.
    assert_eq!(offset(&legacy, 0, 0, 2, 0), 2 * 4 * 64 * 8);
    assert_eq!(offset(&legacy, 0, 0, 2, 1), 4 * 4 * 64 * 8 + 2 * 4 * 32 * 4);
    let gfx9 = image(Gen::Gfx9, shape);
    assert_eq!(offset(&gfx9, 0, 0, 2, 0), 2 * 4 * 64 * 12);
    assert_eq!(offset(&gfx9, 0, 0, 2, 1), 4 * 64 * (2 * 12 + 8));
}

/// Numbers of elements in a micro-tile, as the orders of their bits give them.
#[test]
fn micro_tiles_have_their_order() {
    let at = |tile: MicroTile, bytes: u32, x: u32, y: u32| {
        let shape = Shape { tiling: Tiling::Micro(tile), ..Shape::plane(element(bytes), 64, 64) };
        offset(&image(Gen::Gfx7, shape), x, y, 0, 0) / u64::from(bytes)
    };
    // x0 y0 x1 y1 x2 y2, whatever the size of elements.
    for bytes in [1, 2, 4, 8, 16] {
        assert_eq!([at(MicroTile::Thin, bytes, 5, 3), at(MicroTile::Thin, bytes, 7, 7)], [0b011011, 63]);
        assert_eq!(at(MicroTile::Thin, bytes, 6, 4), 0b110100);
        // The next tile, and the tile below: eight tiles a row.
        assert_eq!([at(MicroTile::Thin, bytes, 8, 0), at(MicroTile::Thin, bytes, 0, 8)], [64, 8 * 64]);
    }
    // Displays: eight bytes at least of a row.
    assert_eq!([at(MicroTile::Display, 1, 5, 1), at(MicroTile::Display, 1, 0, 2)], [0b010101, 0b001000]);
    assert_eq!([at(MicroTile::Display, 2, 5, 1), at(MicroTile::Display, 2, 0, 2)], [0b001101, 0b010000]);
    assert_eq!([at(MicroTile::Display, 4, 5, 1), at(MicroTile::Display, 4, 0, 2)], [0b001101, 0b010000]);
    assert_eq!([at(MicroTile::Display, 8, 5, 1), at(MicroTile::Display, 8, 0, 2)], [0b001011, 0b010000]);
    assert_eq!([at(MicroTile::Display, 16, 5, 1), at(MicroTile::Display, 16, 0, 2)], [0b001011, 0b010000]);
    // Rotated ones are displays' with x and y exchanged, but for the highest bits of eight bytes.
    for (x, y) in [(5, 1), (0, 2), (3, 7)] {
        for bytes in [1, 2, 4] {
            assert_eq!(at(MicroTile::Rotated, bytes, y, x), at(MicroTile::Display, bytes, x, y));
        }
    }
    assert_eq!([at(MicroTile::Rotated, 8, 5, 1), at(MicroTile::Rotated, 8, 2, 4)], [0b010011, 0b101000]);
}

#[test]
fn thick_tiles_are_four_slices_deep() {
    let at = |tile: MicroTile, bytes: u32, [x, y, z]: [u32; 3]| {
        let shape = Shape { tiling: Tiling::MicroThick(tile), ..Shape::volume(element(bytes), 16, 16, 8) };
        offset(&image(Gen::Gfx7, shape), x, y, z, 0) / u64::from(bytes)
    };
    assert_eq!(at(MicroTile::Thin, 4, [1, 0, 2]), 0b10_000001);
    assert_eq!(at(MicroTile::Thin, 4, [0, 0, 4]), 16 * 16 * 4);
    assert_eq!(at(MicroTile::Thick, 1, [4, 2, 3]), 0b01_111000);
    assert_eq!(at(MicroTile::Thick, 4, [1, 2, 1]), 0b00_011001);
    assert_eq!(at(MicroTile::Thick, 8, [2, 5, 1]), 0b10_001110);
    // Levels of less than four slices are thin: 16 × 16 × 8, 8 × 8 × 4, 4 × 4 × 2 in a tile of 8 × 8 of its own.
    let shape =
        Shape { tiling: Tiling::MicroThick(MicroTile::Thick), levels: 3, ..Shape::volume(element(4), 16, 16, 8) };
    let volume = image(Gen::Gfx7, shape);
    let start = 4 * (16 * 16 * 8 + 8 * 8 * 4);
    assert_eq!([[1, 1, 0], [0, 0, 1]].map(|[x, y, z]| offset(&volume, x, y, z, 2)), [start + 4 * 3, start + 4 * 64]);
}

#[test]
fn samples_of_depth_are_together_and_of_colour_apart() {
    let at = |tile: MicroTile, x: u32, sample: u32| {
        let shape =
            Shape { dim: Dim::D2Msaa, samples: 4, tiling: Tiling::Micro(tile), ..Shape::plane(element(4), 16, 16) };
        image(Gen::Gfx6, shape).address(Texel { x, sample, ..Texel::default() }) - BASE
    };
    assert_eq!(
        [at(MicroTile::Thin, 1, 0), at(MicroTile::Thin, 1, 3), at(MicroTile::Thin, 8, 0)],
        [4, 4 + 3 * 256, 1024]
    );
    assert_eq!([at(MicroTile::Depth, 1, 0), at(MicroTile::Depth, 1, 3), at(MicroTile::Depth, 8, 0)], [16, 28, 1024]);
}

/// Byte offsets in gfx9's blocks, from the orders of address bits.
#[test]
fn blocks_of_gfx9_have_their_order() {
    let at = |tiling: Tiling, bytes: u32, x: u32, y: u32| {
        offset(&image(Gen::Gfx9, Shape { tiling, ..Shape::plane(element(bytes), 512, 512) }), x, y, 0, 0)
    };
    use Swizzle::{D, R, S, Z};
    // Standard: 16 bytes of a row, four rows, then by the size of elements.
    assert_eq!([at(Tiling::Block256(S), 4, 3, 1), at(Tiling::Block256(S), 4, 4, 4)], [12 + 16, 128 + 64]);
    assert_eq!([at(Tiling::Block256(S), 1, 15, 9), at(Tiling::Block256(S), 16, 2, 3)], [15 + 16 + 128, 128 + 48]);
    assert_eq!([at(Tiling::Block256(S), 8, 6, 3), at(Tiling::Block256(S), 2, 9, 5)], [192 + 48, 128 + 2 + 64 + 16]);
    assert_eq!([at(Tiling::Block256(D), 4, 4, 1), at(Tiling::Block256(D), 4, 3, 6)], [32 + 16, 12 + 192]);
    assert_eq!([at(Tiling::Block256(R), 4, 1, 4), at(Tiling::Block256(R), 4, 6, 3)], [32 + 16, 12 + 192]);
    // Blocks of 256 bytes of 8 × 8 elements in larger ones: y, x, y, x ….
    assert_eq!([at(Tiling::Block4K(S), 4, 8, 0), at(Tiling::Block4K(S), 4, 0, 8)], [512, 256]);
    assert_eq!([at(Tiling::Block4K(S), 4, 32, 0), at(Tiling::Block4K(S), 4, 0, 32)], [4096, 16 * 4096]);
    assert_eq!([at(Tiling::Block64K(D), 4, 64, 0), at(Tiling::Block64K(D), 4, 0, 64)], [0x8000, 0x4000]);
    assert_eq!(at(Tiling::Block64K(S), 4, 128, 128), 5 * 65536);
    // Z: x and y in turn up to 64 bytes, y and x from there.
    assert_eq!([at(Tiling::Block4K(Z), 4, 3, 3), at(Tiling::Block4K(Z), 4, 4, 0)], [60, 128]);
    assert_eq!([at(Tiling::Block4K(Z), 4, 0, 4), at(Tiling::Block4K(Z), 8, 2, 1)], [64, 8 * 2 + 32]);
}

#[test]
fn levels_of_gfx9_share_a_block() {
    // 4 KiB blocks of 32 × 32 elements: 100 × 40 is 4 × 2 blocks, in row 2 the 2 × 1 of level 1, beside them the one of
    // level 2. What fits into 16 × 32 is in one block below that, the largest at its middle.
    let shape = Shape { levels: 7, tiling: Tiling::Block4K(Swizzle::S), ..Shape::plane(element(4), 100, 40) };
    let chain = image(Gen::Gfx9, shape);
    let starts: Vec<u64> = (0..7).map(|level| offset(&chain, 0, 0, 0, level)).collect();
    let block = 4096;
    assert_eq!(starts[..3], [0, 8 * block, 10 * block]);
    assert_eq!(starts[3..], [14 * block + 2048, 14 * block + 1536, 14 * block + 1280, 14 * block + 1024]);
    assert_eq!(chain.bytes(), 16 * block);
    // All of it in one block.
    let small = image(Gen::Gfx9, Shape { width: 16, height: 16, levels: 5, ..shape });
    assert_eq!([0, 1, 4].map(|level| offset(&small, 0, 0, 0, level)), [2048, 1536, 768]);
}

#[test]
fn what_is_not_supported_is_named() {
    let words = image(Gen::Gfx7, Shape::plane(element(4), 8, 8)).encode();
    let with = |generation: Gen, word: usize, clear: u32, set: u32| {
        let mut words = words;
        words[word] = words[word] & !clear | set;
        Image::decode(words, generation, false)
    };
    for index in [0, 10, 14, 20] {
        assert_eq!(with(Gen::Gfx7, 3, 31 << 20, index << 20), Err(Unsupported::TilingIndex(index as u8)));
        assert_eq!(with(Gen::Gfx6, 3, 31 << 20, index << 20), Err(Unsupported::TilingIndex(index as u8)));
    }
    for mode in [12, 16, 25, 31] {
        assert_eq!(with(Gen::Gfx9, 3, 31 << 20, mode << 20), Err(Unsupported::SwizzleMode(mode as u8)));
    }
    for kind in 0..8 {
        assert_eq!(with(Gen::Gfx8, 3, 15 << 28, kind << 28), Err(Unsupported::Type(kind as u8)));
    }
    assert_eq!(with(Gen::Gfx6, 1, 63 << 20, 15 << 20), Err(Unsupported::Format { data: 15, number: 4 }));
    assert_eq!(with(Gen::Gfx8, 6, 0, 1 << 21), Err(Unsupported::Compressed));
    assert_eq!(with(Gen::Gfx8, 2, 0, 1 << 31), Err(Unsupported::Interlaced));
}

/// Whatever its bits, a descriptor has an image or a reason, and every texel an address.
#[test]
fn any_descriptor_decodes() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let mut images = 0;
    for round in 0..200_000 {
        let mut words = [0; 8].map(|_: u32| next());
        words[6] &= !(1 << 21);
        words[2] &= !(1 << 31);
        // Random fields are seldom a format and a tiling that there are.
        words[1] = words[1] & 0xfffff | [4, 10, 14, 35, 13, 59][round % 6] << 20 | [4, 4, 4, 0, 4, 4][round % 6] << 26;
        words[3] = words[3] & !(31 << 20) | [8, 9, 13, 0, 5, 18][next() as usize % 6] << 20 | 8 << 28;
        let generation = Gen::ALL[round % 4];
        let Ok(image) = Image::decode(words, generation, round % 5 == 0) else { continue };
        images += 1;
        let [width, height, depth] = image.size(image.last_level);
        let texel =
            Texel { x: width - 1, y: height - 1, z: depth - 1, level: image.last_level, sample: image.samples - 1 };
        assert!(image.address(texel) < 1 << 56);
        assert!(image.bytes() < 1 << 56);
    }
    assert!(images > 50_000, "{images}");
}
