//! printf: the buffer that kernels put messages in, and their text.
//!
//! A kernel that prints has a hidden argument with the buffer's address. The buffer starts with two dwords: how many
//! bytes of records there are, which kernels count up atomically, and its size with these two. A kernel takes room for
//! a record only if all of it fits; otherwise its printf returns -1 and leaves no trace. So whether messages are missing
//! is told by the room that is left: none are if the largest record would still have fitted ([`Printed::full`]).
//!
//! A record is either a message's number and its arguments, one after the other, in the sizes that the metadata says
//! (OpenCL C); or a control dword, a hash of the format or the format itself, and arguments of 8 bytes or strings, each
//! padded to 8 (clang's `-mprintf-kind=buffered`). Control has the record's size in bits 31:2; bit 1 says that it is the
//! hash, bit 0 that the message is for stderr, which is treated no differently.
//!
//! What is in the buffer is the guest's doing, and nothing in it is trusted.

mod format;
mod number;

pub use format::Message;

use crate::memory::{Allocation, Memory, MemoryError};
use format::{Arguments, Format, Key, What};

/// A printf buffer.
#[derive(Debug)]
pub struct Buffer {
    memory: Memory,
    place: Allocation,
    size: u32,
}

/// What a kernel printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Messages that were in the buffer.
    pub messages: u64,
    /// Whether the buffer had no room left for the largest message that there is: later ones may be missing.
    pub full: bool,
}

/// A record that the kernel's printf can't have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("printf buffer: the record at byte {at} {what}")]
pub struct BadRecord {
    /// Its offset from the first record.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl Buffer {
    /// Bytes before the first record.
    pub const HEADER: u32 = 8;
    /// Bytes of a buffer, if nobody says otherwise.
    pub const SIZE: u32 = 1 << 20;

    /// An empty buffer of `size` bytes, at least the header.
    ///
    /// # Errors
    /// If memory is used up.
    pub fn new(memory: &Memory, size: u32) -> Result<Buffer, MemoryError> {
        let size = size.max(Buffer::HEADER);
        let place = Allocation::new(memory, size.into())?;
        memory.write(place.address() + 4, &size.to_le_bytes())?;
        Ok(Buffer { memory: memory.clone(), place, size })
    }

    /// Its guest address.
    pub fn address(&self) -> u64 {
        self.place.address()
    }

    /// Gives the text of every message to `print`, in the order in which they took their room.
    ///
    /// # Errors
    /// The first record that is none; those before it are printed.
    pub fn print(&self, messages: &[Message], print: &mut dyn FnMut(&[u8])) -> Result<Printed, BadRecord> {
        let records = self.records().expect("a buffer is mapped while it lives");
        let room = u64::from(self.size - Buffer::HEADER) - records.len() as u64;
        let largest = messages.iter().map(Message::record).max().unwrap_or(0);
        let mut printed = Printed { messages: 0, full: room < largest };
        let mut at = 0;
        while at < records.len() {
            let (text, size) = record(&records[at..], messages).map_err(|what| BadRecord { at, what })?;
            print(&text);
            printed.messages += 1;
            at += size;
        }
        Ok(printed)
    }

    /// The bytes of all records.
    fn records(&self) -> Result<Vec<u8>, MemoryError> {
        let mut used = [0; 4];
        self.memory.read(self.address(), &mut used)?;
        let used = u32::from_le_bytes(used).min(self.size - Buffer::HEADER);
        let mut records = vec![0; used as usize];
        if used > 0 {
            self.memory.read(self.address() + u64::from(Buffer::HEADER), &mut records)?;
        }
        Ok(records)
    }
}

/// The text of the record that `bytes` start with, and its size.
fn record(bytes: &[u8], messages: &[Message]) -> Result<(Vec<u8>, usize), &'static str> {
    let (head, rest) = bytes.split_first_chunk().ok_or("is cut off")?;
    let head = u32::from_le_bytes(*head);
    // A compiler numbers messages or hashes them, never both.
    if messages.iter().any(|message| matches!(message.key, Key::Hash(_))) {
        return hashed(bytes, head, messages);
    }
    let message = messages.iter().find(|message| message.key == Key::Id(head)).ok_or("names no message")?;
    let size = message.record() as usize;
    let arguments = rest.get(..size - 4).ok_or("is cut off")?;
    let mut arguments = Sized { bytes: arguments, sizes: &message.sizes };
    Ok((message.format.render(&mut arguments), size))
}

fn hashed(bytes: &[u8], control: u32, messages: &[Message]) -> Result<(Vec<u8>, usize), &'static str> {
    const HAS_HASH: u32 = 2;
    let size = (control >> 2) as usize;
    let body = bytes.get(4..size).ok_or("is cut off")?;
    let text = if control & HAS_HASH == 0 {
        let mut slots = Slots { bytes: body };
        let format = slots.next(What::String).ok_or("has no format")?;
        let format = Format::parse(format.split(|byte| *byte == 0).next().unwrap_or_default());
        format.render(&mut slots)
    } else {
        let (hash, arguments) = body.split_first_chunk().ok_or("is cut off")?;
        let key = Key::Hash(u64::from_le_bytes(*hash));
        let message = messages.iter().find(|message| message.key == key).ok_or("names no message")?;
        message.format.render(&mut Slots { bytes: arguments })
    };
    Ok((text, size))
}

/// Arguments in the sizes that the metadata says.
struct Sized<'a> {
    bytes: &'a [u8],
    sizes: &'a [u32],
}

impl Arguments for Sized<'_> {
    fn next(&mut self, _: What) -> Option<&[u8]> {
        let (&size, sizes) = self.sizes.split_first()?;
        let (argument, rest) = self.bytes.split_at_checked(size as usize)?;
        (self.bytes, self.sizes) = (rest, sizes);
        Some(argument)
    }
}

/// Arguments of 8 bytes, and strings padded to a multiple of that.
struct Slots<'a> {
    bytes: &'a [u8],
}

impl Arguments for Slots<'_> {
    fn next(&mut self, what: What) -> Option<&[u8]> {
        const SLOT: usize = 8;
        let size = match what {
            What::Number => SLOT,
            What::String => (self.bytes.iter().position(|byte| *byte == 0)? + 1).next_multiple_of(SLOT),
        };
        let (argument, rest) = self.bytes.split_at(size.min(self.bytes.len()));
        self.bytes = rest;
        (!argument.is_empty()).then_some(argument)
    }
}
