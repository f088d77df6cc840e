//! Moving the registers of a few lanes together, and back: what surrounds units in compacted form
//! ([`crate::pass::compact`]).

use crate::access::Bad;
use crate::lane::Block;
use crate::pass::compact::{Loop, vgprs};
use crate::pass::strides::CHUNK;
use gcnjit_rt::{LANES, Row, Wave};

/// Lanes that a wave is compacted for: a chunk's.
pub const MOST: u32 = CHUNK as u32;
/// Instructions after which a loop that has gone on with few lanes is left for its compacted form: what moving registers
/// there and back costs, or more.
pub const PATIENCE: u32 = 128;

/// Where the values of compacted lanes are in a row.
pub type First = [u32; CHUNK];

/// What has to be done around a compacted unit.
#[derive(Debug)]
pub struct Compaction {
    /// SGPR pairs of masks that widen EXEC in it.
    saved: Vec<usize>,
    /// The VGPRs that it uses, and whether it writes them.
    rows: Vec<(u8, bool)>,
}

impl Compaction {
    /// That of a loop, of which these are the blocks.
    pub fn new(of: &Loop, blocks: &[Block]) -> Compaction {
        let (used, written) = vgprs(blocks);
        let rows = (0..=255).filter(|row| used.has_vgpr((*row).into()));
        let rows = rows.map(|row| (row, written.has_vgpr(row.into()))).collect();
        Compaction { saved: of.saved.clone(), rows }
    }

    /// The lanes of a wave that goes on there, if these are few.
    pub fn lanes(&self, wave: &Wave) -> Option<u64> {
        let lanes = self.saved.iter().fold(wave.exec(), |lanes, pair| lanes | wave.sgpr64(*pair));
        (1..=MOST).contains(&lanes.count_ones()).then_some(lanes)
    }

    /// Moves the values of some lanes together. `kept` is room for what has been where they go.
    pub fn begin(&self, wave: &mut Wave, lanes: u64, kept: &mut Vec<First>) {
        let places = Places::new(lanes);
        kept.clear();
        for (register, _) in &self.rows {
            let row = &mut wave.vgpr[usize::from(*register)];
            kept.push(*first(row));
            // In order: no lane is in a place before its own has been read.
            places.each(|place, lane| row[place] = row[lane]);
        }
        wave.compacted = lanes;
    }

    /// Moves them back to their lanes, with what became of them.
    pub fn end(&self, wave: &mut Wave, kept: &[First]) {
        let places = Places::new(std::mem::take(&mut wave.compacted));
        for ((register, is_written), kept) in self.rows.iter().zip(kept) {
            let row = &mut wave.vgpr[usize::from(*register)];
            let values = std::mem::replace(first(row), *kept);
            if *is_written {
                places.each(|place, lane| row[lane] = values[place]);
            }
        }
    }
}

fn first(row: &mut Row) -> &mut First {
    row.first_chunk_mut().expect("a row is four of them")
}

/// The lanes in places 0 and up.
struct Places {
    lanes: [u8; MOST as usize],
    count: usize,
}

impl Places {
    fn new(mut lanes: u64) -> Places {
        let mut places = Places { lanes: [0; MOST as usize], count: lanes.count_ones() as usize };
        for place in &mut places.lanes[..places.count] {
            *place = lanes.trailing_zeros() as u8;
            lanes &= lanes - 1;
        }
        places
    }

    fn each(&self, mut of: impl FnMut(usize, usize)) {
        for (place, lane) in self.lanes[..self.count].iter().enumerate() {
            of(place, usize::from(*lane) % LANES);
        }
    }
}

/// What is wrong with a lane of a compacted wave, as its number is outside.
pub fn outside(bad: Bad, wave: &Wave) -> Bad {
    Bad { lane: wave.lane_at(bad.lane as usize) as u32, ..bad }
}

#[cfg(test)]
mod tests {
    use super::Compaction;
    use gcnjit_rt::Wave;

    #[test]
    fn lanes_come_back_with_what_was_written() {
        let compaction = Compaction { saved: vec![4], rows: vec![(1, true), (255, false)] };
        let mut wave = Wave::new();
        for register in [0, 1, 255] {
            wave.vgpr[register] = std::array::from_fn(|lane| (1000 * register + lane) as u32);
        }
        wave.set_exec(1 << 63 | 1 << 3);
        wave.set_sgpr64(4, 1 << 5);
        let lanes = compaction.lanes(&wave).expect("they are few");
        assert_eq!(lanes, 1 << 63 | 1 << 5 | 1 << 3);
        let mut rows = Vec::new();
        compaction.begin(&mut wave, lanes, &mut rows);
        assert_eq!([0, 1, 2].map(|place| wave.lane_at(place)), [3, 5, 63]);
        assert_eq!(wave.vgpr[1][..3], [1003, 1005, 1063]);
        assert_eq!(wave.vgpr[255][..3], [255_003, 255_005, 255_063]);
        (wave.vgpr[1][1], wave.vgpr[1][3], wave.vgpr[255][2]) = (7, 8, 9);
        compaction.end(&mut wave, &rows);
        assert_eq!((wave.compacted, wave.lane_at(40)), (0, 40));
        for register in [0, 1, 255] {
            let value = |lane| if (register, lane) == (1, 5) { 7 } else { (1000 * register + lane) as u32 };
            assert_eq!(wave.vgpr[register], std::array::from_fn(value));
        }
    }

    #[test]
    fn neither_none_nor_many_lanes_are_few() {
        let compaction = Compaction { saved: vec![4], rows: Vec::new() };
        let mut wave = Wave::new();
        assert_eq!(compaction.lanes(&wave), None);
        wave.set_exec(0xffff);
        assert_eq!(compaction.lanes(&wave), Some(0xffff));
        wave.set_sgpr64(4, 0x1_0000);
        assert_eq!(compaction.lanes(&wave), None);
    }
}
