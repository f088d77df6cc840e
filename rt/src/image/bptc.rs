//! BC6 and BC7: blocks in modes that differ in how many endpoints, bits and subsets of texels they have.
//!
//! A block is read from its lowest bit on: mode, partition, endpoints, indices. The index of one texel of each subset, its
//! anchor, lacks its highest bit, which is 0. Blocks of reserved modes are black, those of BC7 transparent.

use super::bc::bits;

/// The second half of a range of 64ths, for indices of two, three and four bits.
const WEIGHTS: [&[u32]; 3] =
    [&[0, 21, 43, 64], &[0, 9, 18, 27, 37, 46, 55, 64], &[0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]];

/// The subset of each texel, a bit each, in partitions into two.
#[rustfmt::skip]
const TWO_SUBSETS: [u16; 64] = [
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800,
    0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
    0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc,
    0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
    0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718,
    0xccf0, 0x0fcc, 0x7744, 0xee22,
];

/// The subset of each texel, two bits each, in partitions into three.
#[rustfmt::skip]
const THREE_SUBSETS: [u32; 64] = [
    0xaa68_5050, 0x6a5a_5040, 0x5a5a_4200, 0x5450_a0a8, 0xa5a5_0000, 0xa0a0_5050, 0x5555_a0a0, 0x5a5a_5050,
    0xaa55_0000, 0xaa55_5500, 0xaaaa_5500, 0x9090_9090, 0x9494_9494, 0xa4a4_a4a4, 0xa9a5_9450, 0x2a0a_4250,
    0xa594_5040, 0x0a42_5054, 0xa5a5_a500, 0x55a0_a0a0, 0xa8a8_5454, 0x6a6a_4040, 0xa4a4_5000, 0x1a1a_0500,
    0x0050_a4a4, 0xaaa5_9090, 0x1469_6914, 0x6969_1400, 0xa085_85a0, 0xaa82_1414, 0x50a4_a450, 0x6a5a_0200,
    0xa9a5_8000, 0x5090_a0a8, 0xa8a0_9050, 0x2424_2424, 0x00aa_5500, 0x2492_4924, 0x2449_9224, 0x50a5_0a50,
    0x500a_a550, 0xaaaa_4444, 0x6666_0000, 0xa5a0_a5a0, 0x50a0_50a0, 0x6928_6928, 0x44aa_aa44, 0x6666_6600,
    0xaa44_4444, 0x54a8_54a8, 0x9580_9580, 0x9696_9600, 0xa854_54a8, 0x8095_9580, 0xaa14_1414, 0x9696_0000,
    0xaaaa_1414, 0xa050_50a0, 0xa0a5_a5a0, 0x9600_0000, 0x4080_4080, 0xa9a8_a9a8, 0xaaaa_aa44, 0x2a4a_5254,
];

/// The anchor of the second of two subsets. The first's is texel 0.
#[rustfmt::skip]
const ANCHOR_OF_TWO: [u8; 64] = [
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15,
    2, 8, 2, 2, 8, 8, 2, 2, 15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6,
    6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
];

/// The anchor of the second of three subsets.
#[rustfmt::skip]
const SECOND_ANCHOR_OF_THREE: [u8; 64] = [
    3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10,
    5, 8, 8, 6, 8, 5, 15, 15, 8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15,
    3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
];

/// The anchor of the third.
#[rustfmt::skip]
const THIRD_ANCHOR_OF_THREE: [u8; 64] = [
    15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8,
    3, 15, 6, 10, 15, 15, 10, 8, 15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8,
    15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
];

/// How a block's texels are divided into subsets.
#[derive(Clone, Copy)]
struct Partition {
    subsets: u32,
    number: usize,
}

impl Partition {
    /// The subset of a texel.
    fn subset(self, texel: u32) -> usize {
        match self.subsets {
            2 => usize::from(TWO_SUBSETS[self.number] >> texel & 1),
            3 => (THREE_SUBSETS[self.number] >> (2 * texel) & 3) as usize,
            _ => 0,
        }
    }

    /// Whether the index of a texel is a bit short.
    fn is_anchor(self, texel: u32) -> bool {
        let anchors: &[&[u8; 64]] = match self.subsets {
            2 => &[&ANCHOR_OF_TWO],
            3 => &[&SECOND_ANCHOR_OF_THREE, &THIRD_ANCHOR_OF_THREE],
            _ => &[],
        };
        texel == 0 || anchors.iter().any(|anchors| u32::from(anchors[self.number]) == texel)
    }

    /// The index of a texel, of `width` bits, where the first's starts at bit `at` of the block.
    fn index(self, block: &[u8; 16], at: u32, width: u32, texel: u32) -> usize {
        let short = (0..texel).filter(|texel| self.is_anchor(*texel)).count() as u32;
        bits(block, at + texel * width - short, width - u32::from(self.is_anchor(texel))) as usize
    }
}

/// A block that is being read.
struct Reader<'a> {
    block: &'a [u8; 16],
    at: u32,
}

impl Reader<'_> {
    fn take(&mut self, count: u32) -> u32 {
        self.at += count;
        bits(self.block, self.at - count, count)
    }
}

/// What a mode of BC7 has.
struct Bc7Mode {
    subsets: u32,
    partition_bits: u32,
    rotation_bits: u32,
    selection_bits: u32,
    color_bits: u32,
    alpha_bits: u32,
    /// Lowest bits that endpoints have of their own, and that both endpoints of a subset share.
    own: bool,
    shared: bool,
    index_bits: u32,
    second_index_bits: u32,
}

/// Subsets, bits of partition, rotation, index selection, colour and alpha, lowest bits, bits of both indices.
const fn mode(fields: [u32; 6], own: bool, shared: bool, index_bits: u32, second_index_bits: u32) -> Bc7Mode {
    let [subsets, partition_bits, rotation_bits, selection_bits, color_bits, alpha_bits] = fields;
    Bc7Mode {
        subsets,
        partition_bits,
        rotation_bits,
        selection_bits,
        color_bits,
        alpha_bits,
        own,
        shared,
        index_bits,
        second_index_bits,
    }
}

const BC7_MODES: [Bc7Mode; 8] = [
    mode([3, 4, 0, 0, 4, 0], true, false, 3, 0),
    mode([2, 6, 0, 0, 6, 0], false, true, 3, 0),
    mode([3, 6, 0, 0, 5, 0], false, false, 2, 0),
    mode([2, 6, 0, 0, 7, 0], true, false, 2, 0),
    mode([1, 0, 2, 1, 5, 6], false, false, 2, 3),
    mode([1, 0, 2, 0, 7, 8], false, false, 2, 2),
    mode([1, 0, 0, 0, 7, 7], true, false, 4, 0),
    mode([2, 6, 0, 0, 5, 5], true, false, 2, 0),
];

/// A component of `count` bits as eight, its highest repeated.
fn widen(value: u32, count: u32) -> u32 {
    let high = value << (8 - count);
    high | high >> count
}

/// The endpoints of all subsets, two each.
fn bc7_endpoints(reader: &mut Reader<'_>, mode: &Bc7Mode) -> [[u32; 4]; 6] {
    let mut ends = [[0; 4]; 6];
    let used = 2 * mode.subsets as usize;
    for component in 0..4 {
        let count = if component == 3 { mode.alpha_bits } else { mode.color_bits };
        for end in &mut ends[..used] {
            end[component] = reader.take(count);
        }
    }
    let mut lowest = [0; 6];
    for (i, bit) in lowest[..used].iter_mut().enumerate() {
        if mode.own || mode.shared && i % 2 == 0 {
            *bit = reader.take(1);
        }
    }
    for (i, end) in ends[..used].iter_mut().enumerate() {
        let bit = lowest[if mode.shared { i & !1 } else { i }];
        for (component, value) in end.iter_mut().enumerate() {
            let count = if component == 3 { mode.alpha_bits } else { mode.color_bits };
            *value = match (count, mode.own || mode.shared) {
                (0, _) => 255,
                (_, true) => widen(*value << 1 | bit, count + 1),
                (_, false) => widen(*value, count),
            };
        }
    }
    ends
}

/// A texel of BC7.
pub(super) fn bc7(block: &[u8; 16], x: u32, y: u32) -> [u8; 4] {
    let Some(mode) = BC7_MODES.get(block[0].trailing_zeros() as usize) else { return [0; 4] };
    let mut reader = Reader { block, at: block[0].trailing_zeros() + 1 };
    let partition = Partition { subsets: mode.subsets, number: reader.take(mode.partition_bits) as usize };
    let rotation = reader.take(mode.rotation_bits) as usize;
    let swapped = reader.take(mode.selection_bits) != 0;
    let ends = bc7_endpoints(&mut reader, mode);
    let texel = 4 * y + x;
    let subset = 2 * partition.subset(texel);
    let weight = |at: u32, width: u32| WEIGHTS[width as usize - 2][partition.index(block, at, width, texel)];
    let first = weight(reader.at, mode.index_bits);
    let second = match mode.second_index_bits {
        0 => first,
        // Of the first indices there are sixteen, one of them a bit short.
        width => weight(reader.at + 16 * mode.index_bits - 1, width),
    };
    let (color, alpha) = if swapped { (second, first) } else { (first, second) };
    let mut texel = [0, 1, 2, 3].map(|i| {
        let weight = if i == 3 { alpha } else { color };
        (((64 - weight) * ends[subset][i] + weight * ends[subset + 1][i] + 32) >> 6) as u8
    });
    if rotation != 0 {
        texel.swap(rotation - 1, 3);
    }
    texel
}

/// The components of BC6's endpoints: w and x are the first subset's, y and z the second's.
const RW: usize = 0;
const GW: usize = 1;
const BW: usize = 2;
const RX: usize = 3;
const GX: usize = 4;
const BX: usize = 5;
const RY: usize = 6;
const GY: usize = 7;
const BY: usize = 8;
const RZ: usize = 9;
const GZ: usize = 10;
const BZ: usize = 11;

/// What a mode of BC6 has.
struct Bc6Mode {
    /// Bits of the first endpoint's components, and of the others' red, green and blue.
    bits: [u32; 4],
    subsets: u32,
    /// Whether the other endpoints are differences to the first.
    transformed: bool,
    /// Where the bits after the mode go: component, its lowest of them, how many.
    fields: &'static [(usize, u32, u32)],
}

/// The modes, in the order in which the specification has them.
#[rustfmt::skip]
const BC6_MODES: [Bc6Mode; 14] = [
    Bc6Mode {
        bits: [10, 5, 5, 5],
        subsets: 2,
        transformed: true,
        fields: &[
            (GY, 4, 1), (BY, 4, 1), (BZ, 4, 1), (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 5), (GZ, 4, 1),
            (GY, 0, 4), (GX, 0, 5), (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 5), (BZ, 1, 1), (BY, 0, 4), (RY, 0, 5),
            (BZ, 2, 1), (RZ, 0, 5), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [7, 6, 6, 6],
        subsets: 2,
        transformed: true,
        fields: &[
            (GY, 5, 1), (GZ, 4, 1), (GZ, 5, 1), (RW, 0, 7), (BZ, 0, 1), (BZ, 1, 1), (BY, 4, 1), (GW, 0, 7),
            (BY, 5, 1), (BZ, 2, 1), (GY, 4, 1), (BW, 0, 7), (BZ, 3, 1), (BZ, 5, 1), (BZ, 4, 1), (RX, 0, 6),
            (GY, 0, 4), (GX, 0, 6), (GZ, 0, 4), (BX, 0, 6), (BY, 0, 4), (RY, 0, 6), (RZ, 0, 6),
        ],
    },
    Bc6Mode {
        bits: [11, 5, 4, 4],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 5), (RW, 10, 1), (GY, 0, 4), (GX, 0, 4), (GW, 10, 1),
            (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 4), (BW, 10, 1), (BZ, 1, 1), (BY, 0, 4), (RY, 0, 5), (BZ, 2, 1),
            (RZ, 0, 5), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [11, 4, 5, 4],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 4), (RW, 10, 1), (GZ, 4, 1), (GY, 0, 4), (GX, 0, 5),
            (GW, 10, 1), (GZ, 0, 4), (BX, 0, 4), (BW, 10, 1), (BZ, 1, 1), (BY, 0, 4), (RY, 0, 4), (BZ, 0, 1),
            (BZ, 2, 1), (RZ, 0, 4), (GY, 4, 1), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [11, 4, 4, 5],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 4), (RW, 10, 1), (BY, 4, 1), (GY, 0, 4), (GX, 0, 4),
            (GW, 10, 1), (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 5), (BW, 10, 1), (BY, 0, 4), (RY, 0, 4), (BZ, 1, 1),
            (BZ, 2, 1), (RZ, 0, 4), (BZ, 4, 1), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [9, 5, 5, 5],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 9), (BY, 4, 1), (GW, 0, 9), (GY, 4, 1), (BW, 0, 9), (BZ, 4, 1), (RX, 0, 5), (GZ, 4, 1),
            (GY, 0, 4), (GX, 0, 5), (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 5), (BZ, 1, 1), (BY, 0, 4), (RY, 0, 5),
            (BZ, 2, 1), (RZ, 0, 5), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [8, 6, 5, 5],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 8), (GZ, 4, 1), (BY, 4, 1), (GW, 0, 8), (BZ, 2, 1), (GY, 4, 1), (BW, 0, 8), (BZ, 3, 1),
            (BZ, 4, 1), (RX, 0, 6), (GY, 0, 4), (GX, 0, 5), (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 5), (BZ, 1, 1),
            (BY, 0, 4), (RY, 0, 6), (RZ, 0, 6),
        ],
    },
    Bc6Mode {
        bits: [8, 5, 6, 5],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 8), (BZ, 0, 1), (BY, 4, 1), (GW, 0, 8), (GY, 5, 1), (GY, 4, 1), (BW, 0, 8), (GZ, 5, 1),
            (BZ, 4, 1), (RX, 0, 5), (GZ, 4, 1), (GY, 0, 4), (GX, 0, 6), (GZ, 0, 4), (BX, 0, 5), (BZ, 1, 1),
            (BY, 0, 4), (RY, 0, 5), (BZ, 2, 1), (RZ, 0, 5), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [8, 5, 5, 6],
        subsets: 2,
        transformed: true,
        fields: &[
            (RW, 0, 8), (BZ, 1, 1), (BY, 4, 1), (GW, 0, 8), (BY, 5, 1), (GY, 4, 1), (BW, 0, 8), (BZ, 5, 1),
            (BZ, 4, 1), (RX, 0, 5), (GZ, 4, 1), (GY, 0, 4), (GX, 0, 5), (BZ, 0, 1), (GZ, 0, 4), (BX, 0, 6),
            (BY, 0, 4), (RY, 0, 5), (BZ, 2, 1), (RZ, 0, 5), (BZ, 3, 1),
        ],
    },
    Bc6Mode {
        bits: [6, 6, 6, 6],
        subsets: 2,
        transformed: false,
        fields: &[
            (RW, 0, 6), (GZ, 4, 1), (BZ, 0, 1), (BZ, 1, 1), (BY, 4, 1), (GW, 0, 6), (GY, 5, 1), (BY, 5, 1),
            (BZ, 2, 1), (GY, 4, 1), (BW, 0, 6), (GZ, 5, 1), (BZ, 3, 1), (BZ, 5, 1), (BZ, 4, 1), (RX, 0, 6),
            (GY, 0, 4), (GX, 0, 6), (GZ, 0, 4), (BX, 0, 6), (BY, 0, 4), (RY, 0, 6), (RZ, 0, 6),
        ],
    },
    Bc6Mode {
        bits: [10, 10, 10, 10],
        subsets: 1,
        transformed: false,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 10), (GX, 0, 10), (BX, 0, 10),
        ],
    },
    Bc6Mode {
        bits: [11, 9, 9, 9],
        subsets: 1,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 9), (RW, 10, 1), (GX, 0, 9), (GW, 10, 1), (BX, 0, 9),
            (BW, 10, 1),
        ],
    },
    Bc6Mode {
        bits: [12, 8, 8, 8],
        subsets: 1,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 8), (RW, 11, 1), (RW, 10, 1), (GX, 0, 8),
            (GW, 11, 1), (GW, 10, 1), (BX, 0, 8), (BW, 11, 1), (BW, 10, 1),
        ],
    },
    Bc6Mode {
        bits: [16, 4, 4, 4],
        subsets: 1,
        transformed: true,
        fields: &[
            (RW, 0, 10), (GW, 0, 10), (BW, 0, 10), (RX, 0, 4), (RW, 15, 1), (RW, 14, 1), (RW, 13, 1),
            (RW, 12, 1), (RW, 11, 1), (RW, 10, 1), (GX, 0, 4), (GW, 15, 1), (GW, 14, 1), (GW, 13, 1),
            (GW, 12, 1), (GW, 11, 1), (GW, 10, 1), (BX, 0, 4), (BW, 15, 1), (BW, 14, 1), (BW, 13, 1),
            (BW, 12, 1), (BW, 11, 1), (BW, 10, 1),
        ],
    },
];

/// The mode of a block and how many bits say so.
fn bc6_mode(block: &[u8; 16]) -> Option<(&'static Bc6Mode, u32)> {
    let low = bits(block, 0, 5);
    match low & 3 {
        0 => Some((&BC6_MODES[0], 2)),
        1 => Some((&BC6_MODES[1], 2)),
        2 => Some((&BC6_MODES[2 + (low >> 2) as usize], 5)),
        // Four modes with one subset; four values are reserved.
        _ => BC6_MODES[10..].get((low >> 2) as usize).map(|mode| (mode, 5)),
    }
}

/// The low `count` bits, signed.
fn sign_extend(value: i32, count: u32) -> i32 {
    value << (32 - count) >> (32 - count)
}

/// A component of `count` bits in a range of 16.
fn unquantise(value: i32, count: u32, signed: bool) -> i32 {
    if !signed {
        return match value {
            _ if count >= 15 => value,
            0 => 0,
            _ if value == (1 << count) - 1 => 0xffff,
            _ => ((value << 16) + 0x8000) >> count,
        };
    }
    let magnitude = match value.abs() {
        _ if count >= 16 => return value,
        0 => 0,
        top if top >= (1 << (count - 1)) - 1 => 0x7fff,
        other => ((other << 15) + 0x4000) >> (count - 1),
    };
    if value < 0 { -magnitude } else { magnitude }
}

/// The half of an interpolated component.
fn half(value: i32, signed: bool) -> u16 {
    if !signed {
        return ((value * 31) >> 6) as u16;
    }
    let magnitude = ((value.abs() * 31) >> 5) as u16;
    // There is no negative zero.
    if value < 0 && magnitude != 0 { 0x8000 | magnitude } else { magnitude }
}

/// The endpoints, in a range of 16 bits.
fn bc6_endpoints(reader: &mut Reader<'_>, mode: &Bc6Mode, signed: bool) -> [i32; 12] {
    let mut ends = [0i32; 12];
    for &(component, low, count) in mode.fields {
        ends[component] |= (reader.take(count) as i32) << low;
    }
    let first = mode.bits[0];
    for i in 0..12 {
        let own = if i < 3 { first } else { mode.bits[1 + i % 3] };
        if signed || mode.transformed && i >= 3 {
            ends[i] = sign_extend(ends[i], own);
        }
        if mode.transformed && i >= 3 {
            let sum = (ends[i] + ends[i % 3]) & ((1 << first) - 1);
            ends[i] = if signed { sign_extend(sum, first) } else { sum };
        }
    }
    ends.map(|end| unquantise(end, first, signed))
}

/// A texel of BC6: red, green and blue as halves.
pub(super) fn bc6(block: &[u8; 16], x: u32, y: u32, signed: bool) -> [u16; 3] {
    let Some((mode, at)) = bc6_mode(block) else { return [0; 3] };
    let mut reader = Reader { block, at };
    let ends = bc6_endpoints(&mut reader, mode, signed);
    let (number, index_bits) = if mode.subsets == 2 { (reader.take(5), 3) } else { (0, 4) };
    let partition = Partition { subsets: mode.subsets, number: number as usize };
    let texel = 4 * y + x;
    let index = partition.index(block, reader.at, index_bits, texel);
    let weight = WEIGHTS[index_bits as usize - 2][index] as i32;
    let subset = 6 * partition.subset(texel);
    [0, 1, 2].map(|i| {
        let (a, b) = (ends[subset + i], ends[subset + 3 + i]);
        half((a * (64 - weight) + b * weight + 32) >> 6, signed)
    })
}
