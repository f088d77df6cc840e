//! Where a texel of an image is.
//!
//! An image's levels lie one after the other, slices inside of levels (gfx6 to gfx8), or slices one after the other,
//! each with all of its levels (gfx9). A slice is rows of elements, or rows of blocks in which the bits of an
//! element's number are bits of its coordinates in some order. An element is a texel, or a block of texels that are
//! compressed together.
//!
//! Sources: Mesa's addrlib (`egbaddrlib`, `siaddrlib`, `gfx9addrlib`) for sizes and orders, Linux's amdgpu for what the
//! tiling indices stand for. Modes that spread blocks over banks and pipes are not here: what they do depends on the
//! chip.

use super::{Dim, Texel, Unsupported};
use gcnjit_isa::Gen;

/// Bytes that levels and slices are aligned to.
const INTERLEAVE: u64 = 256;
/// Most levels that an image can have.
pub(super) const LEVELS: usize = 16;

/// The order of elements in the micro-tiles of gfx6 to gfx8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MicroTile {
    /// As displays scan.
    Display,
    /// Alternating bits of x and y.
    Thin,
    /// The same, samples of a texel together.
    Depth,
    /// As displays scan when rotated.
    Rotated,
    /// Alternating bits of x, y and z; in thick tiles only.
    Thick,
}

/// The order of elements in a block of gfx9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Alternating bits of x and y, samples of a texel together.
    Z,
    /// Standard: 16 bytes of a row, then rows.
    S,
    /// As displays scan.
    D,
    /// As displays scan when rotated.
    R,
}

/// In what order texels are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// Rows of any pitch.
    LinearGeneral,
    /// Rows whose pitch is aligned. The one linear mode of gfx9.
    Linear,
    /// gfx6 to gfx8: tiles of 8 × 8 elements.
    Micro(MicroTile),
    /// gfx6 to gfx8: tiles of 8 × 8 × 4 elements.
    MicroThick(MicroTile),
    /// gfx9: blocks of 256 bytes.
    Block256(Swizzle),
    /// gfx9: blocks of 4 KiB.
    Block4K(Swizzle),
    /// gfx9: blocks of 64 KiB.
    Block64K(Swizzle),
}

/// The tiling indices that need no banks: in the tables that Linux gives to gfx6, and to gfx7 and gfx8.
const GFX6_INDICES: [(u8, Tiling); 6] = [
    (4, Tiling::Micro(MicroTile::Depth)),
    (8, Tiling::Linear),
    (9, Tiling::Micro(MicroTile::Display)),
    (13, Tiling::Micro(MicroTile::Thin)),
    (18, Tiling::MicroThick(MicroTile::Thin)),
    (31, Tiling::LinearGeneral),
];
const GFX7_INDICES: [(u8, Tiling); 8] = [
    (5, Tiling::Micro(MicroTile::Depth)),
    (8, Tiling::Linear),
    (9, Tiling::Micro(MicroTile::Display)),
    (13, Tiling::Micro(MicroTile::Thin)),
    (18, Tiling::MicroThick(MicroTile::Thin)),
    (19, Tiling::MicroThick(MicroTile::Thick)),
    (27, Tiling::Micro(MicroTile::Rotated)),
    (31, Tiling::LinearGeneral),
];

const SWIZZLES: [Swizzle; 4] = [Swizzle::Z, Swizzle::S, Swizzle::D, Swizzle::R];

impl Tiling {
    /// What the field of a T# says: a tiling index, or gfx9's swizzle mode.
    pub(super) fn decode(field: u8, generation: Gen) -> Result<Tiling, Unsupported> {
        let table: &[(u8, Tiling)] = match generation {
            Gen::Gfx6 => &GFX6_INDICES,
            Gen::Gfx7 | Gen::Gfx8 => &GFX7_INDICES,
            Gen::Gfx9 => {
                let swizzle = SWIZZLES[usize::from(field & 3)];
                return match field {
                    0 => Ok(Tiling::Linear),
                    1..4 => Ok(Tiling::Block256(swizzle)),
                    4..8 => Ok(Tiling::Block4K(swizzle)),
                    8..12 => Ok(Tiling::Block64K(swizzle)),
                    _ => Err(Unsupported::SwizzleMode(field)),
                };
            }
        };
        let entry = table.iter().find(|(index, _)| *index == field);
        entry.map(|(_, tiling)| *tiling).ok_or(Unsupported::TilingIndex(field))
    }

    /// The field that says so; an error if the generation has no such mode.
    pub(super) fn encode(self, generation: Gen) -> Result<u8, Unsupported> {
        (0..32).find(|field| Tiling::decode(*field, generation) == Ok(self)).ok_or(Unsupported::Layout)
    }
}

/// A coordinate that a bit of an element's number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    X,
    Y,
    Z,
    Sample,
}

/// The order of elements in a block: where each bit of an element's number in it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// Axis and number of each bit, the lowest first.
    bits: [(Axis, u8); 16],
    /// How many of them there are.
    count: u8,
    /// Binary logarithms of a block's columns, rows and slices.
    log2: [u8; 3],
    /// Binary logarithm of its bytes.
    bytes: u8,
}

impl Block {
    /// The block with these bits, the lowest first.
    fn new(list: impl IntoIterator<Item = (Axis, u8)>, element: u8) -> Block {
        let mut block = Block { bits: [(Axis::X, 0); 16], count: 0, log2: [0; 3], bytes: element };
        for (slot, bit) in block.bits.iter_mut().zip(list) {
            *slot = bit;
            block.count += 1;
            block.bytes += 1;
            if let Some(log2) = block.log2.get_mut(bit.0 as usize) {
                *log2 += 1;
            }
        }
        block
    }

    /// The number of an element in its block.
    #[inline]
    fn index(&self, at: [u32; 4]) -> u64 {
        let bits = &self.bits[..usize::from(self.count)];
        bits.iter().rev().fold(0, |sum, &(axis, bit)| sum << 1 | u64::from(at[axis as usize] >> bit & 1))
    }

    /// A micro-tile of gfx6 to gfx8.
    fn micro(tile: MicroTile, thick: bool, element: u8, samples: u8) -> Result<Block, Unsupported> {
        use Axis::{X, Y, Z};
        let plane: [(Axis, u8); 6] = match (tile, element) {
            (MicroTile::Display, 0) => [(X, 0), (X, 1), (X, 2), (Y, 1), (Y, 0), (Y, 2)],
            (MicroTile::Display, 1) => [(X, 0), (X, 1), (X, 2), (Y, 0), (Y, 1), (Y, 2)],
            (MicroTile::Display, 2) => [(X, 0), (X, 1), (Y, 0), (X, 2), (Y, 1), (Y, 2)],
            (MicroTile::Display, 3) => [(X, 0), (Y, 0), (X, 1), (X, 2), (Y, 1), (Y, 2)],
            (MicroTile::Display, _) => [(Y, 0), (X, 0), (X, 1), (X, 2), (Y, 1), (Y, 2)],
            (MicroTile::Thin | MicroTile::Depth, _) => [(X, 0), (Y, 0), (X, 1), (Y, 1), (X, 2), (Y, 2)],
            (MicroTile::Rotated, 0) => [(Y, 0), (Y, 1), (Y, 2), (X, 1), (X, 0), (X, 2)],
            (MicroTile::Rotated, 1) => [(Y, 0), (Y, 1), (Y, 2), (X, 0), (X, 1), (X, 2)],
            (MicroTile::Rotated, 2) => [(Y, 0), (Y, 1), (X, 0), (Y, 2), (X, 1), (X, 2)],
            (MicroTile::Rotated, 3) => [(Y, 0), (X, 0), (Y, 1), (X, 1), (X, 2), (Y, 2)],
            (MicroTile::Rotated, _) => return Err(Unsupported::Layout),
            (MicroTile::Thick, 0 | 1) => [(X, 0), (Y, 0), (X, 1), (Y, 1), (Z, 0), (Z, 1)],
            (MicroTile::Thick, 2) => [(X, 0), (Y, 0), (X, 1), (Z, 0), (Y, 1), (Z, 1)],
            (MicroTile::Thick, _) => [(X, 0), (Y, 0), (Z, 0), (X, 1), (Y, 1), (Z, 1)],
        };
        let above: &[(Axis, u8)] = match (tile, thick) {
            (MicroTile::Thick, true) => &[(X, 2), (Y, 2)],
            (MicroTile::Thick, false) => return Err(Unsupported::Layout),
            (_, true) => &[(Z, 0), (Z, 1)],
            (_, false) => &[],
        };
        if thick && samples != 0 {
            return Err(Unsupported::Layout);
        }
        let (first, last) = if tile == MicroTile::Depth { (samples, 0) } else { (0, samples) };
        let planes = |count: u8| (0..count).map(|bit| (Axis::Sample, bit));
        let texels = plane.into_iter().chain(above.iter().copied());
        Ok(Block::new(planes(first).chain(texels).chain(planes(last)), element))
    }

    /// A block of gfx9 of 2^`bytes` bytes, for images whose blocks are one slice deep.
    fn thin(swizzle: Swizzle, bytes: u8, element: u8, samples: u8) -> Result<Block, Unsupported> {
        use Axis::{Sample, X, Y};
        let planes = (0..samples).map(|bit| (Sample, bit));
        let texels = usize::from(bytes - element - samples);
        let small: &[(Axis, u8)] = match (swizzle, element) {
            (Swizzle::Z, 0) => &[(X, 0), (Y, 0), (X, 1), (Y, 1), (X, 2), (Y, 2)],
            (Swizzle::Z, 1) => &[(X, 0), (Y, 0), (X, 1), (Y, 1), (X, 2)],
            (Swizzle::Z, 2) => &[(X, 0), (Y, 0), (X, 1), (Y, 1)],
            (Swizzle::Z, 3) => &[(X, 0), (Y, 0), (X, 1)],
            (Swizzle::S, 0) => &[(X, 0), (X, 1), (X, 2), (X, 3), (Y, 0), (Y, 1), (Y, 2), (Y, 3)],
            (Swizzle::S, 1) => &[(X, 0), (X, 1), (X, 2), (Y, 0), (Y, 1), (Y, 2), (X, 3)],
            (Swizzle::S, 2) => &[(X, 0), (X, 1), (Y, 0), (Y, 1), (Y, 2), (X, 2)],
            (Swizzle::S, 3) => &[(X, 0), (Y, 0), (Y, 1), (X, 1), (X, 2)],
            (Swizzle::S, _) => &[(Y, 0), (Y, 1), (X, 0), (X, 1)],
            (Swizzle::D, 0) => &[(X, 0), (X, 1), (X, 2), (Y, 1), (Y, 0), (Y, 2), (X, 3), (Y, 3)],
            (Swizzle::D, 1) => &[(X, 0), (X, 1), (X, 2), (Y, 0), (Y, 1), (Y, 2), (X, 3)],
            (Swizzle::D, 2) => &[(X, 0), (X, 1), (Y, 0), (X, 2), (Y, 1), (Y, 2)],
            (Swizzle::D, 3) => &[(X, 0), (Y, 0), (X, 1), (X, 2), (Y, 1)],
            (Swizzle::D, _) => &[(X, 0), (Y, 0), (X, 1), (Y, 1)],
            (Swizzle::R, 0) => &[(Y, 0), (Y, 1), (Y, 2), (X, 1), (X, 0), (X, 2), (X, 3), (Y, 3)],
            (Swizzle::R, 1) => &[(Y, 0), (Y, 1), (Y, 2), (X, 0), (X, 1), (X, 2), (X, 3)],
            (Swizzle::R, 2) => &[(Y, 0), (Y, 1), (X, 0), (Y, 2), (X, 1), (X, 2)],
            (Swizzle::R, 3) => &[(Y, 0), (X, 0), (Y, 1), (X, 1), (X, 2)],
            (Swizzle::Z | Swizzle::R, _) => return Err(Unsupported::Layout),
        };
        // There is no Z in blocks of 256 bytes, whose place linear has, and they have no samples.
        if bytes == 8 && (samples != 0 || swizzle == Swizzle::Z) {
            return Err(Unsupported::Layout);
        }
        let mut next = [X, Y].map(|axis| small.iter().filter(|bit| bit.0 == axis).count() as u8);
        // Above, rows have the even bits of the address.
        let rest = (element + small.len() as u8..bytes).map(|bit| {
            let axis = if bit % 2 == 0 { Y } else { X };
            next[axis as usize] += 1;
            (axis, next[axis as usize] - 1)
        });
        let order = small.iter().copied().chain(rest).take(texels);
        Ok(match swizzle {
            Swizzle::Z => Block::new(planes.chain(order), element),
            // Samples take the place of the highest bits.
            _ => Block::new(order.chain(planes), element),
        })
    }
}

/// How the elements of a level are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// In rows.
    Rows,
    /// In blocks, whose rows are rows of blocks.
    Blocks(Block),
}

impl Order {
    /// Columns, rows and slices of a block.
    fn block(&self) -> [u32; 3] {
        match self {
            Order::Rows => [1; 3],
            Order::Blocks(block) => block.log2.map(|bits| 1 << bits),
        }
    }
}

/// Where a level is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Level {
    /// Its first byte, from the image's.
    offset: u64,
    /// Bytes from a row of elements, or of blocks, to the next.
    row: u64,
    /// Bytes from a slice, or as many as a block is deep, to the next.
    slice: u64,
    /// Whether its blocks are of the second order: thin, where those of larger levels are thick.
    second: bool,
}

/// What sizes an image has in memory. All are of level 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub generation: Gen,
    pub dim: Dim,
    pub tiling: Tiling,
    /// Bytes of an element.
    pub element: u32,
    /// Binary logarithms of an element's columns and rows.
    pub texels: [u8; 2],
    /// Columns, rows and depth in texels.
    pub size: [u32; 3],
    /// Slices, faces counted.
    pub slices: u32,
    pub levels: u32,
    /// Binary logarithm of the samples of a texel.
    pub samples: u8,
    /// Texels from a row to the next; `None` asks for the least.
    pub pitch: Option<u32>,
    pub pow2_pad: bool,
}

/// Where all levels of an image are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    orders: [Order; 2],
    levels: [Level; LEVELS],
    /// Bytes of an element.
    element: u32,
    /// Binary logarithms of an element's columns and rows.
    texels: [u8; 2],
    /// Bytes from a sample to the next, for rows; blocks have theirs together.
    plane: u64,
    /// Texels from a row of level 0 to the next.
    pitch: u32,
    /// What gfx9 has in the place of the pitch where there are several levels: elements from the first row to the last
    /// of a slice's levels, or columns if they are beside each other. 0 where there is one level.
    chain: u32,
    bytes: u64,
}

/// The size of a level in elements, padding included.
#[derive(Clone, Copy, Debug)]
struct Padded {
    pitch: u64,
    rows: u64,
}

impl Layout {
    /// Of an image that is being described.
    pub(super) const EMPTY: Layout = Layout {
        orders: [Order::Rows; 2],
        levels: [Level { offset: 0, row: 0, slice: 0, second: false }; LEVELS],
        element: 1,
        texels: [0; 2],
        plane: 0,
        pitch: 0,
        chain: 0,
        bytes: 0,
    };

    /// Where the levels of such an image are.
    pub(super) fn new(extent: &Extent) -> Result<Layout, Unsupported> {
        let orders = extent.orders()?;
        let mut layout = Layout { orders, element: extent.element, texels: extent.texels, ..Layout::EMPTY };
        if extent.generation == Gen::Gfx9 {
            layout.place_gfx9(extent)?
        } else {
            layout.place_gfx6(extent)
        }
        Ok(layout)
    }

    /// Bytes from the image's first to the element of a texel.
    #[inline(always)]
    pub(super) fn offset(&self, texel: Texel) -> u64 {
        let level = &self.levels[texel.level as usize % LEVELS];
        let (x, y, z) = (texel.x >> self.texels[0], texel.y >> self.texels[1], texel.z);
        match &self.orders[usize::from(level.second)] {
            Order::Rows => {
                let before = u64::from(z) * level.slice + u64::from(y) * level.row;
                let sample = u64::from(texel.sample) * self.plane;
                level.offset + sample + before + u64::from(x) * u64::from(self.element)
            }
            Order::Blocks(block) => self.offset_in_blocks(level, block, [x, y, z, texel.sample]),
        }
    }

    fn offset_in_blocks(&self, level: &Level, block: &Block, at: [u32; 4]) -> u64 {
        let ([x, y, z, _], [columns, rows, slices]) = (at, block.log2);
        let inside = block.index(at) * u64::from(self.element);
        let before = u64::from(z >> slices) * level.slice + u64::from(y >> rows) * level.row;
        // The last levels of gfx9 share a block.
        (level.offset + before + (u64::from(x >> columns) << block.bytes)) + inside
    }

    /// Bytes of the whole image.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Texels from a row of level 0 to the next.
    pub(super) fn pitch(&self) -> u32 {
        self.pitch
    }

    /// The pitch field of gfx9, in elements.
    pub(super) fn gfx9_pitch(&self) -> u32 {
        if self.chain != 0 { self.chain } else { self.pitch >> self.texels[0] }
    }

    /// Levels one after the other, each with all its slices.
    fn place_gfx6(&mut self, extent: &Extent) {
        let mut end = 0u64;
        let mut base_pitch = 0;
        for level in 0..extent.levels as usize {
            let mut slices = extent.level_slices(level);
            let second = level > 0 && matches!(extent.tiling, Tiling::MicroThick(_)) && slices < 4;
            let order = self.orders[usize::from(second)];
            let padded = extent.pad(level, base_pitch, order, &mut slices);
            if level == 0 {
                let dwords = u64::from(extent.element / extent.row_unit());
                base_pitch = (padded.pitch << extent.texels[0]) / dwords;
                self.pitch = base_pitch as u32;
            }
            let [columns, rows, depth] = order.block().map(u64::from);
            let block = match order {
                Order::Rows => u64::from(extent.row_unit()),
                Order::Blocks(block) => 1 << block.bytes,
            };
            let row = padded.pitch.div_ceil(columns) * block;
            let slice = padded.rows.div_ceil(rows) * row;
            let offset = if extent.tiling == Tiling::LinearGeneral { end } else { end.next_multiple_of(INTERLEAVE) };
            self.levels[level] = Level { offset, row, slice, second };
            end = offset + slice * slices.div_ceil(depth);
        }
        self.plane = end;
        self.bytes = if matches!(self.orders[0], Order::Rows) { end << extent.samples } else { end };
    }

    /// Slices one after the other, each with all its levels.
    fn place_gfx9(&mut self, extent: &Extent) -> Result<(), Unsupported> {
        let [width, height, depth] = extent.elements();
        let slices = u64::from(if extent.dim == Dim::D3 { depth } else { extent.slices });
        let [columns, rows, _] = self.orders[0].block();
        let single = extent.levels == 1;
        let align = match self.orders[0] {
            Order::Rows if extent.element.is_power_of_two() => 256 / extent.element,
            // Three dwords: the least multiple of both.
            Order::Rows => 64,
            Order::Blocks(_) => columns,
        };
        let given = extent.pitch.filter(|_| single).map(|pitch| pitch.div_ceil(1 << extent.texels[0]));
        let pitch = given.unwrap_or(width.next_multiple_of(align));
        self.pitch = pitch << extent.texels[0];
        match self.orders[0] {
            Order::Rows => {
                let row = u64::from(pitch) * u64::from(extent.element);
                let mut above = 0u64;
                let mut rows = height;
                for level in 0..extent.levels as usize {
                    self.levels[level] = Level { offset: above * row, row, slice: 0, second: false };
                    above += u64::from(rows);
                    rows = rows.div_ceil(2);
                }
                for level in &mut self.levels {
                    level.slice = above * row;
                }
                self.chain = if single { 0 } else { above as u32 };
                self.bytes = above * row * slices;
            }
            Order::Blocks(block) if single => {
                let row = u64::from(pitch.div_ceil(columns)) << block.bytes;
                let slice = row * u64::from(height.div_ceil(rows));
                self.levels[0] = Level { offset: 0, row, slice, second: false };
                self.bytes = slice * slices;
            }
            Order::Blocks(block) => self.place_chain(extent, &block, slices)?,
        }
        Ok(())
    }
}

/// Half, rounded up.
fn half(blocks: u32) -> u32 {
    blocks.div_ceil(2)
}

impl Layout {
    /// The levels of a slice beside and below each other in blocks, the last ones together in one block (gfx9).
    fn place_chain(&mut self, extent: &Extent, block: &Block, slices: u64) -> Result<(), Unsupported> {
        let [columns, rows, _] = block.log2.map(|bits| 1u32 << bits);
        if block.bytes == 8 {
            return Err(Unsupported::Layout);
        }
        let [width, height, _] = extent.elements();
        // What fits into half a block shares one with all smaller levels.
        let is_tail = |width: u32, height: u32| width <= columns / 2 && height <= rows;
        let (mut wide, mut high) = (width.div_ceil(columns), height.div_ceil(rows));
        let (mut chain_wide, mut chain_high) = (wide, high);
        let beside = wide < high;
        let mut tail = is_tail(width, height).then_some(0);
        if tail.is_none() {
            let first = extent.first_in_tail([columns, rows], is_tail);
            let second = if beside { half(wide) } else { half(high) };
            let second = if second == 1 && first > 2 { 2 } else { second };
            *(if beside { &mut chain_wide } else { &mut chain_high }) += second;
        }
        let row = u64::from(chain_wide) << block.bytes;
        let slice = row * u64::from(chain_high);
        let (mut x, mut y) = (0, 0);
        for level in 0..extent.levels as usize {
            if level > 0 && tail.is_none() {
                // The second and fourth level turn the corner.
                if beside == matches!(level, 1 | 3) {
                    x += wide;
                } else {
                    y += high;
                }
                if wide == 1 && high <= 2 {
                    tail = Some(level);
                }
                (wide, high) = (half(wide), half(high));
            }
            let inside = tail.map_or(0, |first| tail_offset(block.bytes, level - first));
            let offset = u64::from(y) * row + (u64::from(x) << block.bytes) + inside;
            self.levels[level] = Level { offset, row, slice, second: false };
        }
        self.chain = if beside { chain_wide * columns } else { chain_high * rows };
        self.bytes = slice * slices;
        Ok(())
    }
}

/// Where the levels that share a block are in it, the largest first.
fn tail_offset(block: u8, number: usize) -> u64 {
    // In units of 256 bytes: halves down to 8, then one by one.
    const OFFSETS: [u64; 16] = [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 6, 5, 4, 3, 2, 1, 0];
    OFFSETS[(number + 20 - usize::from(block)).min(15)] << 8
}

impl Extent {
    /// The first level of a chain on gfx9 that shares its block, or the last level.
    fn first_in_tail(&self, [columns, rows]: [u32; 2], is_tail: impl Fn(u32, u32) -> bool) -> u32 {
        let [mut width, mut height, _] = self.elements();
        for level in 0..self.levels {
            if is_tail(width, height) {
                return level;
            }
            width = (width.next_multiple_of(columns) >> 1).max(1);
            height = (height.next_multiple_of(rows) >> 1).max(1);
        }
        self.levels - 1
    }

    /// The orders of elements in a level: the usual, and the one of levels that are less than a thick tile deep.
    fn orders(&self) -> Result<[Order; 2], Unsupported> {
        if matches!(self.tiling, Tiling::LinearGeneral | Tiling::Linear) {
            let gfx9_msaa = self.generation == Gen::Gfx9 && self.samples != 0;
            return if gfx9_msaa { Err(Unsupported::Layout) } else { Ok([Order::Rows; 2]) };
        }
        if !self.element.is_power_of_two() {
            return Err(Unsupported::Layout);
        }
        let (element, samples) = (self.element.ilog2() as u8, self.samples);
        let gfx9 = |swizzle: Swizzle, bytes: u8| {
            // Blocks of volumes are deep, but for those that displays scan.
            if self.dim == Dim::D3 && swizzle != Swizzle::D {
                return Err(Unsupported::Layout);
            }
            Block::thin(swizzle, bytes, element, samples).map(|block| [Order::Blocks(block); 2])
        };
        match self.tiling {
            Tiling::Micro(tile) => Block::micro(tile, false, element, samples).map(|block| [Order::Blocks(block); 2]),
            Tiling::MicroThick(tile) => {
                let thick = Block::micro(tile, true, element, samples)?;
                let thin = Block::micro(MicroTile::Thin, false, element, samples)?;
                Ok([thick, thin].map(Order::Blocks))
            }
            Tiling::Block256(swizzle) => gfx9(swizzle, 8),
            Tiling::Block4K(swizzle) => gfx9(swizzle, 12),
            Tiling::Block64K(swizzle) => gfx9(swizzle, 16),
            Tiling::LinearGeneral | Tiling::Linear => Ok([Order::Rows; 2]),
        }
    }

    /// Columns and rows of level 0 in elements, and its depth.
    fn elements(&self) -> [u32; 3] {
        let [width, height, depth] = self.size;
        [width.div_ceil(1 << self.texels[0]), height.div_ceil(1 << self.texels[1]), depth]
    }

    /// Slices of a level on gfx6 to gfx8, thick tiles not yet considered.
    fn level_slices(&self, level: usize) -> u64 {
        let slices = if self.dim == Dim::D3 { (self.size[2] >> level).max(1) } else { self.slices };
        // Cubes' faces are padded from level 1 on, like any slices.
        let pad = level > 0 || self.pow2_pad;
        u64::from(if pad { slices.next_power_of_two() } else { slices })
    }

    /// Bytes that rows are counted in: those of an element, or of a dword where elements are three of them.
    fn row_unit(&self) -> u32 {
        if self.element == 12 { 4 } else { self.element }
    }

    /// The padded size of a level on gfx6 to gfx8, `slices` included. `base_pitch` is level 0's, in texels: smaller levels'
    /// follow from it rather than from the width.
    fn pad(&self, level: usize, base_pitch: u64, order: Order, slices: &mut u64) -> Padded {
        let dwords = u64::from(self.element / self.row_unit());
        let [width, height, _] = self.size;
        let columns = if level == 0 { u64::from(width) } else { (base_pitch >> level).max(1) } * dwords;
        let mut pitch = columns.div_ceil(1 << self.texels[0]);
        let mut rows = u64::from((height >> level).max(1)).div_ceil(1 << self.texels[1]);
        if level > 0 || self.pow2_pad {
            (pitch, rows) = (pitch.next_power_of_two(), rows.next_power_of_two());
        }
        let bytes = u64::from(self.row_unit());
        let [_, block_rows, block_slices] = order.block().map(u64::from);
        rows = rows.next_multiple_of(block_rows);
        *slices = slices.next_multiple_of(block_slices);
        // A slice, or as many as a tile is deep, fills whole units of memory.
        let (align, whole) = match order {
            Order::Rows if self.tiling == Tiling::LinearGeneral => (1, 1),
            Order::Rows => ((64 / bytes).max(8), (INTERLEAVE / bytes).max(64)),
            Order::Blocks(_) => (8, (INTERLEAVE / ((bytes * block_slices) << self.samples)).max(1)),
        };
        pitch = pitch.next_multiple_of(align);
        while pitch * rows % whole != 0 {
            pitch += align;
        }
        if let (0, Some(given)) = (level, self.pitch) {
            pitch = (u64::from(given) * dwords).div_ceil(1 << self.texels[0]);
            // A third of the pitch in dwords may have lost a part: it is padded again.
            if dwords != 1 {
                pitch = if self.pow2_pad { pitch.next_power_of_two() } else { pitch.next_multiple_of(align) };
            }
        }
        Padded { pitch, rows }
    }
}
