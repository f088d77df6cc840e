//! Where values are that are not exact: a mark for each register, lane and byte.
//!
//! A mark is 0, or says which instruction the value comes from, one of them if there are several.

use gcnjit_interp::memory::Place;
use gcnjit_rt::LANES;
use std::collections::HashMap;

/// Where a value comes from that is not exact; 0 if it is.
pub type Mark = u32;

/// Bytes that are marked together.
const PAGE: u64 = 256;

/// The first of several marks that is one.
pub fn any(marks: impl IntoIterator<Item = Mark>) -> Mark {
    marks.into_iter().find(|mark| *mark != 0).unwrap_or(0)
}

/// The marks of a wave's registers.
pub struct RegisterMarks {
    /// Scalar registers, by operand code.
    pub sgprs: [Mark; 128],
    /// Vector registers, each lane.
    pub vgprs: Box<[[Mark; LANES]]>,
    /// The scalar condition code.
    pub scc: Mark,
}

impl Default for RegisterMarks {
    fn default() -> Self {
        RegisterMarks { sgprs: [0; 128], vgprs: vec![[0; LANES]; 256].into(), scc: 0 }
    }
}

/// Memory of one kind; LDS belongs to a work-group.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    Memory,
    Lds([u32; 3]),
    Gds,
}

/// The marks of memory. Pages without any take no room.
#[derive(Default)]
pub struct MemoryMarks(HashMap<(Space, u64), Box<[Mark; PAGE as usize]>>);

impl MemoryMarks {
    /// The mark of any of `bytes` bytes, as a wave of work-group `group` sees them.
    pub fn get(&self, place: Place, bytes: usize, group: [u32; 3]) -> Mark {
        let Some((space, start)) = located(place, group).filter(|_| !self.0.is_empty()) else { return 0 };
        let mark = |at: u64| self.0.get(&(space, at / PAGE)).map_or(0, |page| page[(at % PAGE) as usize]);
        any((start..start.saturating_add(bytes as u64)).map(mark))
    }

    /// Marks `bytes` bytes.
    pub fn set(&mut self, place: Place, bytes: usize, group: [u32; 3], mark: Mark) {
        let Some((space, start)) = located(place, group).filter(|_| mark != 0 || !self.0.is_empty()) else { return };
        for at in start..start.saturating_add(bytes as u64) {
            let key = (space, at / PAGE);
            if mark != 0 {
                self.0.entry(key).or_insert_with(|| Box::new([0; _]))[(at % PAGE) as usize] = mark;
            } else if let Some(page) = self.0.get_mut(&key) {
                page[(at % PAGE) as usize] = 0;
            }
        }
    }

    /// Takes the marks off everything but guest memory that `keep` wants kept.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.0.retain(|(space, page), _| *space == Space::Gds || *space == Space::Memory && keep(page * PAGE));
    }
}

fn located(place: Place, group: [u32; 3]) -> Option<(Space, u64)> {
    match place {
        Place::Memory(address) => Some((Space::Memory, address)),
        Place::Lds(at) => Some((Space::Lds(group), at.into())),
        Place::Gds(at) => Some((Space::Gds, at.into())),
        Place::Nowhere => None,
    }
}
