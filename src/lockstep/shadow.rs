//! What memory has to hold: a copy of everything that a kernel can write, kept as the interpreter leaves it.
//!
//! Both engines work on the same memory, one after the other. The copy is what the first one's writes are undone from,
//! and what shows a write of the second one that the first did not make.

use gcnjit_interp::Touch;
use gcnjit_interp::memory::Place;
use gcnjit_isa::Access;
use gcnjit_rt::lds::CAPACITY;
use gcnjit_rt::{Env, View};

/// Bytes compared at once.
const PIECE: usize = 1 << 16;

/// Memory that has addresses of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Guest memory, by guest address.
    Memory,
    /// The work-group's LDS, by byte.
    Lds,
    /// The device's GDS, by byte.
    Gds,
}

/// A run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub space: Space,
    /// The first byte.
    pub start: u64,
    /// How many.
    pub len: usize,
}

/// A run of bytes that are not what they have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Where, from the first to the last byte that differs.
    pub span: Span,
    /// What has to be there.
    pub expected: Vec<u8>,
    /// What is.
    pub found: Vec<u8>,
}

/// The copy.
pub struct Shadow {
    /// Writable ranges of guest memory, by address.
    ranges: Vec<(u64, Vec<u8>)>,
    lds: Vec<u8>,
    gds: Vec<u8>,
}

impl Shadow {
    /// A copy of what is there now.
    pub fn new(env: &Env<'_>) -> Shadow {
        let writable = env.memory.ranges().iter().filter(|range| range.writable);
        let ranges = writable.map(|range| {
            let span = Span { space: Space::Memory, start: range.start, len: (range.end - range.start) as usize };
            (range.start, read(env, span))
        });
        let gds = read(env, Span { space: Space::Gds, start: 0, len: CAPACITY });
        let mut shadow = Shadow { ranges: ranges.collect(), lds: Vec::new(), gds };
        shadow.enter(env);
        shadow
    }

    /// Another wave's turn: what its work-group's LDS holds has been seen to before.
    pub fn enter(&mut self, env: &Env<'_>) {
        self.lds = read(env, Span { space: Space::Lds, start: 0, len: env.lds.size() as usize });
    }

    /// Bytes of guest memory in it.
    pub fn size(&self) -> usize {
        self.ranges.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// What has to be there.
    pub fn bytes(&self, span: Span) -> &[u8] {
        let (bytes, start) = self.area(span);
        &bytes[start..start + span.len]
    }

    /// Changes what has to be there.
    pub fn set(&mut self, span: Span, new: &[u8]) {
        let (bytes, start) = match span.space {
            Space::Memory => {
                let index = self.range(span.start);
                let (first, bytes) = &mut self.ranges[index];
                (bytes, (span.start - *first) as usize)
            }
            Space::Lds => (&mut self.lds, span.start as usize),
            Space::Gds => (&mut self.gds, span.start as usize),
        };
        bytes[start..start + span.len].copy_from_slice(new);
    }

    fn area(&self, span: Span) -> (&[u8], usize) {
        match span.space {
            Space::Memory => {
                let (first, bytes) = &self.ranges[self.range(span.start)];
                (bytes, (span.start - first) as usize)
            }
            Space::Lds => (&self.lds, span.start as usize),
            Space::Gds => (&self.gds, span.start as usize),
        }
    }

    /// The range that holds `address`, which the interpreter wrote to: it is in one.
    fn range(&self, address: u64) -> usize {
        self.ranges.partition_point(|(start, _)| *start <= address) - 1
    }

    /// The bytes that were written, each once, those that lie together in one span.
    pub fn written<'t>(&self, touches: impl IntoIterator<Item = &'t Touch>) -> Vec<Span> {
        let writes = touches.into_iter().filter(|touch| touch.access != Access::Load);
        let mut spans: Vec<Span> = writes.flat_map(|touch| self.clipped(touch)).collect();
        spans.sort_by_key(|span| (span.space, span.start));
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            let end = span.start + span.len as u64;
            match merged.last_mut() {
                Some(last)
                    if last.space == span.space
                        && span.start <= last.start + last.len as u64
                        && self.same_range(last, &span) =>
                {
                    last.len = last.len.max((end - last.start) as usize);
                }
                _ => merged.push(span),
            }
        }
        merged
    }

    fn same_range(&self, a: &Span, b: &Span) -> bool {
        a.space != Space::Memory || self.range(a.start) == self.range(b.start)
    }

    /// What a write can have changed: the dwords of it that are in range.
    fn clipped(&self, touch: &Touch) -> Option<Span> {
        let (space, start, size) = match touch.place {
            Place::Memory(address) => return Some(Span { space: Space::Memory, start: address, len: touch.bytes }),
            Place::Lds(address) => (Space::Lds, address, self.lds.len()),
            Place::Gds(address) => (Space::Gds, address, self.gds.len()),
            Place::Nowhere => return None,
        };
        let len = touch.bytes.min(size.saturating_sub(start as usize));
        (len > 0).then_some(Span { space, start: start.into(), len })
    }

    /// Puts spans back.
    pub fn restore(&self, env: &Env<'_>, spans: &[Span]) {
        spans.iter().for_each(|span| write(env, *span, self.bytes(*span)));
    }

    /// Puts everything back.
    pub fn restore_all(&self, env: &Env<'_>) {
        for (start, bytes) in &self.ranges {
            write(env, Span { space: Space::Memory, start: *start, len: bytes.len() }, bytes);
        }
        write(env, Span { space: Space::Lds, start: 0, len: self.lds.len() }, &self.lds);
        write(env, Span { space: Space::Gds, start: 0, len: self.gds.len() }, &self.gds);
    }

    /// The first bytes in a data share that are not what they have to be.
    pub fn stray_in_share(&self, env: &Env<'_>, space: Space) -> Option<Stray> {
        let expected = if space == Space::Lds { &self.lds } else { &self.gds };
        let span = Span { space, start: 0, len: expected.len() };
        stray(span, expected, &read(env, span))
    }

    /// The first bytes of guest memory that are not what they have to be. Ranges that `view` does not have are free by
    /// now, and left out.
    pub fn stray_in_memory(&self, view: &View) -> Option<Stray> {
        let still_there = |start: u64| view.find(start).is_some_and(|range| range.start == start);
        self.ranges.iter().filter(|(start, _)| still_there(*start)).find_map(|(start, bytes)| {
            let mut found = vec![0; PIECE.min(bytes.len())];
            (*start..).step_by(PIECE).zip(bytes.chunks(PIECE)).find_map(|(at, expected)| {
                let found = &mut found[..expected.len()];
                view.read(at, found).ok()?;
                stray(Span { space: Space::Memory, start: at, len: expected.len() }, expected, found)
            })
        })
    }
}

/// The part of a span from the first to the last byte that differs, of at most a page.
fn stray(span: Span, expected: &[u8], found: &[u8]) -> Option<Stray> {
    if expected == found {
        return None;
    }
    let mut differing = (0..span.len).filter(|i| expected[*i] != found[*i]);
    let first = differing.next()?;
    let last = differing.next_back().unwrap_or(first).min(first + 4095);
    let range = first..last + 1;
    let span = Span { start: span.start + first as u64, len: range.len(), ..span };
    Some(Stray { span, expected: expected[range.clone()].to_vec(), found: found[range].to_vec() })
}

/// What is in a span that is mapped.
pub fn read(env: &Env<'_>, span: Span) -> Vec<u8> {
    let mut bytes = vec![0; span.len];
    match span.space {
        Space::Memory => env.memory.read(span.start, &mut bytes).expect("a view's ranges are mapped"),
        Space::Lds => env.lds.read(span.start as u32, &mut bytes),
        Space::Gds => env.gds.read(span.start as u32, &mut bytes),
    }
    bytes
}

/// Changes what is in a span that is mapped writable.
fn write(env: &Env<'_>, span: Span, bytes: &[u8]) {
    match span.space {
        Space::Memory => env.memory.store(span.start, bytes).expect("a view's ranges are mapped"),
        Space::Lds => env.lds.write(span.start as u32, bytes),
        Space::Gds => env.gds.write(span.start as u32, bytes),
    }
}
