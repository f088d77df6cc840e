//! Recordings: launches with the code object and all buffers in one file.
//!
//! The file is [`MAGIC`], a version as four bytes, and a zlib stream (which has a checksum of its own) of these, all
//! numbers little-endian, a text or a list after its length or count in eight bytes:
//!
//! ```text
//! text   name of the file that was run
//! u8     0: code object; 1: bare code
//! bytes  the file
//!        bare code only: text target, list of text --sgpr, u32 group ids, u32 item ids, u32 LDS, u32 scratch
//! list   buffers: text name, u64 size, bytes that it starts with (the others are zero)
//! list   launches: text kernel, grid, work-group (each u8 dimensions and as many u32), 3 u64 offset, list of arguments,
//!        u32 times
//! ```
//!
//! An argument is a u8 and what belongs to it: 0 a buffer (u64 index, u64 offset), 1 LDS (u32 bytes), 2 bytes, 3 the
//! launch's index (u8 size), 4 a descriptor in memory (list of u32, list of u64: the index of an image's buffer or nothing
//! for a sampler). Output files are no part of a recording. Nothing that is read is trusted: every length and
//! index is checked, what is compressed may become [`LIMIT`] bytes, and memory grows with what was really read.

use crate::cli::failure::{Failure, UNSUPPORTED};
use crate::cli::output::Staged;
use crate::cli::plan::{Arg, Buffer, Launch, Plan, Step};
use crate::cli::raw::Start;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use gcnjit::{Device, Dims, Error, Module, Target};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// How a recording begins.
const MAGIC: [u8; 8] = *b"gcnjit\0R";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// The most bytes that a recording may have when it is not compressed.
const LIMIT: u64 = 4 << 30;

/// Launches, and the code that they launch.
pub struct Recording {
    /// What messages call the code.
    pub name: String,
    /// The code.
    pub code: Code,
    /// The launches.
    pub plan: Plan,
}

/// A file, and how it is loaded.
pub enum Code {
    /// A code object or Catalyst binary.
    Object(Vec<u8>),
    /// Bare code.
    Bare {
        /// The code.
        bytes: Vec<u8>,
        /// What it is for.
        target: Target,
        /// How it is started.
        start: Start,
    },
}

impl Recording {
    /// The recording in a file; `None` if the file is something else.
    pub fn read(path: &str) -> Result<Option<Recording>, Failure> {
        let failure = |source| Failure::from(Error::Read { file: path.to_owned(), source });
        let file = File::open(path).map_err(failure)?;
        // What is no regular file can only be read once, and not by us.
        if !file.metadata().map_err(failure)?.is_file() {
            return Ok(None);
        }
        let mut start = Vec::new();
        (&file).take(12).read_to_end(&mut start).map_err(failure)?;
        if !start.starts_with(&MAGIC) {
            return Ok(None);
        }
        let malformed = |what: String| Failure { code: UNSUPPORTED, message: format!("{path}: recording: {what}") };
        match start[8..].try_into().map(u32::from_le_bytes) {
            Ok(VERSION) => {}
            Ok(version) => return Err(malformed(format!("version {version}, not {VERSION}"))),
            Err(_) => return Err(malformed("it ends before its version".to_owned())),
        }
        let mut reader = Reader { from: ZlibDecoder::new(io::BufReader::new(file)).take(LIMIT), at: 0 };
        reader.recording().map(Some).map_err(malformed)
    }

    /// The file's contents.
    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let mut writer = Writer { to: ZlibEncoder::new(bytes, Compression::default()), written: 0 };
        writer.recording(self)?;
        writer.to.finish()
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let bytes = self.bytes().map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        Staged::new(path, bytes)?.commit()
    }

    /// Loads the code.
    pub fn load(&self, device: &Device) -> Result<Module, Failure> {
        match &self.code {
            Code::Object(bytes) => Ok(Module::load_named(device, &self.name, bytes.as_slice())?),
            Code::Bare { bytes, target, start } => start.place(device, &self.name, bytes.clone(), *target),
        }
    }
}

/// What a recording is written to.
struct Writer<W> {
    to: W,
    written: u64,
}

impl<W: Write> Writer<W> {
    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        if self.written > LIMIT {
            return Err(io::Error::other(format!("the launch has more than {LIMIT} bytes, too many for a recording")));
        }
        self.to.write_all(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.raw(&(bytes.len() as u64).to_le_bytes())?;
        self.raw(bytes)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T) -> io::Result<()>) -> io::Result<()> {
        self.raw(&(items.len() as u64).to_le_bytes())?;
        items.iter().try_for_each(|item| each(self, item))
    }

    fn recording(&mut self, recording: &Recording) -> io::Result<()> {
        self.text(&recording.name)?;
        match &recording.code {
            Code::Object(bytes) => {
                self.raw(&[0])?;
                self.bytes(bytes)?;
            }
            Code::Bare { bytes, target, start } => {
                self.raw(&[1])?;
                self.bytes(bytes)?;
                self.text(target.name())?;
                self.list(&start.sgprs, |writer, spec| writer.text(spec))?;
                for number in [start.group_ids, start.vgpr_ids, start.lds, start.scratch] {
                    self.raw(&number.to_le_bytes())?;
                }
            }
        }
        self.list(&recording.plan.buffers, Writer::buffer)?;
        let launches: Vec<&Launch> = recording.plan.launches().collect();
        self.list(&launches, |writer, launch| writer.launch(launch))
    }

    fn buffer(&mut self, buffer: &Buffer) -> io::Result<()> {
        self.text(&buffer.name)?;
        self.raw(&buffer.size.to_le_bytes())?;
        let used = buffer.contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.bytes(&buffer.contents[..used])
    }

    fn launch(&mut self, launch: &Launch) -> io::Result<()> {
        self.text(&launch.kernel)?;
        for dims in [launch.grid, launch.block] {
            self.raw(&[dims.sizes().len() as u8])?;
            dims.sizes().iter().try_for_each(|size| self.raw(&size.to_le_bytes()))?;
        }
        launch.offset.iter().try_for_each(|offset| self.raw(&offset.to_le_bytes()))?;
        self.list(&launch.args, Writer::arg)?;
        self.raw(&launch.count.to_le_bytes())
    }

    fn arg(&mut self, arg: &Arg) -> io::Result<()> {
        match arg {
            Arg::Buffer { buffer, offset } => {
                self.raw(&[0])?;
                self.raw(&(*buffer as u64).to_le_bytes())?;
                self.raw(&offset.to_le_bytes())
            }
            Arg::Lds(bytes) => {
                self.raw(&[1])?;
                self.raw(&bytes.to_le_bytes())
            }
            Arg::Bytes(bytes) => {
                self.raw(&[2])?;
                self.bytes(bytes)
            }
            Arg::Index(size) => self.raw(&[3, *size as u8]),
            Arg::Object { words, buffer } => {
                self.raw(&[4])?;
                self.list(words, |writer, word| writer.raw(&word.to_le_bytes()))?;
                let buffer: Vec<u64> = buffer.iter().map(|buffer| *buffer as u64).collect();
                self.list(&buffer, |writer, buffer| writer.raw(&buffer.to_le_bytes()))
            }
            Arg::Picture(_) | Arg::Sampler(_) => Err(io::Error::other("an image that was not laid out")),
        }
    }
}

/// What a recording is read from. Errors say what is wrong, and at which byte of what was compressed.
struct Reader<R> {
    from: R,
    at: u64,
}

impl<R: Read> Reader<R> {
    fn wrong<T>(&self, what: impl std::fmt::Display) -> Result<T, String> {
        Err(format!("{what}, before byte {}", self.at))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        self.at += N as u64;
        self.from.read_exact(&mut array).or_else(|error| self.wrong(error))?;
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, String> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let (len, mut bytes) = (self.u64()?, Vec::new());
        let read = self.from.by_ref().take(len).read_to_end(&mut bytes).or_else(|error| self.wrong(error))?;
        self.at = self.at.saturating_add(len);
        if read as u64 == len { Ok(bytes) } else { self.wrong("it ends in the middle") }
    }

    fn text(&mut self) -> Result<String, String> {
        String::from_utf8(self.bytes()?).or_else(|_| self.wrong("a text is not UTF-8"))
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        (0..self.u64()?).map(|_| each(self)).collect()
    }

    fn recording(&mut self) -> Result<Recording, String> {
        let name = self.text()?;
        let code = match self.u8()? {
            0 => Code::Object(self.bytes()?),
            1 => self.bare()?,
            kind => return self.wrong(format!("there is no code of kind {kind}")),
        };
        let mut plan = Plan { buffers: self.list(Reader::buffer)?, ..Plan::default() };
        let buffers = plan.buffers.len();
        plan.steps = self.list(|reader| reader.launch(buffers).map(Step::Launch))?;
        if self.from.read(&mut [0]).or_else(|error| self.wrong(error))? != 0 {
            return self.wrong("there is more after the end");
        }
        Ok(Recording { name, code, plan })
    }

    fn bare(&mut self) -> Result<Code, String> {
        let (bytes, target) = (self.bytes()?, self.text()?);
        let target = target.parse().or_else(|error| self.wrong(error))?;
        let sgprs = self.list(Reader::text)?;
        let [group_ids, vgpr_ids, lds, scratch] = [self.u32()?, self.u32()?, self.u32()?, self.u32()?];
        if group_ids > 3 || !(1..=3).contains(&vgpr_ids) {
            return self.wrong("bare code with other than 0 to 3 coordinates");
        }
        Ok(Code::Bare { bytes, target, start: Start { raw: true, sgprs, group_ids, vgpr_ids, lds, scratch } })
    }

    fn buffer(&mut self) -> Result<Buffer, String> {
        let (name, size, contents) = (self.text()?, self.u64()?, self.bytes()?);
        if contents.len() as u64 > size {
            return self.wrong(format!("{name} has {size} bytes and contents of {}", contents.len()));
        }
        Ok(Buffer { name, size, contents })
    }

    fn launch(&mut self, buffers: usize) -> Result<Launch, String> {
        let kernel = self.text()?;
        let (grid, block) = (self.dims()?, self.dims()?);
        let offset = [self.u64()?, self.u64()?, self.u64()?];
        let args = self.list(|reader| reader.arg(buffers))?;
        Ok(Launch { kernel, grid, block, offset, args, count: self.u32()? })
    }

    fn dims(&mut self) -> Result<Dims, String> {
        Ok(match self.u8()? {
            1 => self.u32()?.into(),
            2 => [self.u32()?, self.u32()?].into(),
            3 => [self.u32()?, self.u32()?, self.u32()?].into(),
            count => return self.wrong(format!("a grid of {count} dimensions")),
        })
    }

    fn arg(&mut self, buffers: usize) -> Result<Arg, String> {
        match self.u8()? {
            0 => match (usize::try_from(self.u64()?), self.u64()?) {
                (Ok(buffer), offset) if buffer < buffers => Ok(Arg::Buffer { buffer, offset }),
                _ => self.wrong(format!("an argument is none of the {buffers} buffers")),
            },
            1 => Ok(Arg::Lds(self.u32()?)),
            2 => Ok(Arg::Bytes(self.bytes()?)),
            3 => match self.u8()? {
                size @ (1 | 2 | 4 | 8) => Ok(Arg::Index(size.into())),
                size => self.wrong(format!("a launch index of {size} bytes")),
            },
            4 => self.object(buffers),
            kind => self.wrong(format!("there is no argument of kind {kind}")),
        }
    }
}

impl<R: Read> Reader<R> {
    /// A descriptor: a sampler's of four dwords, or an image's of twelve and its buffer.
    fn object(&mut self, buffers: usize) -> Result<Arg, String> {
        let words = self.list(Reader::u32)?;
        let buffer = self.list(Reader::u64)?;
        match (words.len(), buffer.as_slice()) {
            (4, []) => Ok(Arg::Object { words, buffer: None }),
            (12, &[buffer]) if buffer < buffers as u64 => Ok(Arg::Object { words, buffer: Some(buffer as usize) }),
            _ => self.wrong("a descriptor that is neither an image's nor a sampler's"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let mut contents = vec![7; 1000];
        contents.extend([0; 500]);
        let buffers = vec![
            Buffer { name: "argument 0".to_owned(), size: 2000, contents },
            Buffer { name: "argument 1".to_owned(), size: 16, contents: vec![0; 16] },
        ];
        let args = vec![Arg::Buffer { buffer: 1, offset: 4 }, Arg::Lds(64), Arg::Bytes(vec![1, 2, 3]), Arg::Index(4)];
        let args = [args, vec![Arg::Object { words: vec![9; 12], buffer: Some(1) }]].concat();
        let (grid, block) = ([640, 480].into(), Dims::from(64));
        let launch = Launch { kernel: "k".to_owned(), grid, block, offset: [1, 2, 3], args, count: 5 };
        let start =
            Start { raw: true, sgprs: vec!["0=kernarg".to_owned()], group_ids: 1, vgpr_ids: 3, lds: 256, scratch: 0 };
        let code = Code::Bare { bytes: vec![0; 8], target: Target::Gfx803, start };
        Recording {
            name: "some.bin".to_owned(),
            code,
            plan: Plan { buffers, steps: vec![Step::Launch(launch)], ..Plan::default() },
        }
    }

    fn read(bytes: &[u8]) -> Result<Option<Recording>, Failure> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Recording::read(file.path().to_str().unwrap())
    }

    #[test]
    fn what_is_written_is_read() {
        let original = recording();
        let copy = read(&original.bytes().unwrap()).unwrap().unwrap();
        assert_eq!(copy.name, original.name);
        let Code::Bare { bytes, target, start } = copy.code else { panic!("bare code") };
        assert_eq!((bytes, target), (vec![0; 8], Target::Gfx803));
        assert_eq!((start.sgprs, start.group_ids, start.lds), (vec!["0=kernarg".to_owned()], 1, 256));
        for (copy, original) in copy.plan.buffers.iter().zip(&original.plan.buffers) {
            let all = |buffer: &Buffer| buffer.pieces().flat_map(|(_, bytes)| bytes.to_vec()).collect::<Vec<u8>>();
            assert_eq!((&copy.name, all(copy)), (&original.name, all(original)));
        }
        assert_eq!(copy.plan.buffers[0].contents.len(), 1000, "zeroes at the end are not written");
        let launch = |plan: &Plan| format!("{:?}", plan.launches().collect::<Vec<_>>());
        assert_eq!(launch(&copy.plan), launch(&original.plan));
    }

    #[test]
    fn other_files_are_none_and_other_versions_are_refused() {
        assert!(read(b"\x7fELF").unwrap().is_none() && read(b"").unwrap().is_none());
        let mut bytes = recording().bytes().unwrap();
        bytes[8] = 2;
        let failure = read(&bytes).err().unwrap();
        assert_eq!(failure.code, UNSUPPORTED);
        assert!(failure.message.ends_with("recording: version 2, not 1"), "{}", failure.message);
    }

    /// Every truncation, and damage of any byte: refused or, where the damage is in a number that may have any value,
    /// read; the checksum leaves little of that.
    #[test]
    fn damaged_recordings_are_refused() {
        let good = recording().bytes().unwrap();
        for len in 8..good.len() {
            assert_eq!(read(&good[..len]).err().map(|failure| failure.code), Some(UNSUPPORTED), "{len} bytes");
        }
        for at in 12..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x55;
            assert!(read(&bytes).is_err(), "byte {at}");
        }
        assert!(read(&[good.as_slice(), &[0]].concat()).is_ok(), "what follows the stream is not looked at");
    }

    /// Damage before compression, which no checksum finds.
    #[test]
    fn lengths_and_indices_are_checked() {
        let mut plain = Writer { to: Vec::new(), written: 0 };
        plain.recording(&recording()).unwrap();
        for at in 0..plain.to.len() {
            for value in [0, 0x80, 0xff] {
                let mut bytes = plain.to.clone();
                bytes[at] = value;
                let mut reader = Reader { from: bytes.as_slice(), at: 0 };
                if let Ok(recording) = reader.recording() {
                    for launch in recording.plan.launches() {
                        assert!(launch.args.iter().all(|arg| !matches!(
                            arg,
                            Arg::Buffer { buffer: 2.., .. } | Arg::Object { buffer: Some(2..), .. }
                        )));
                    }
                }
            }
        }
        let mut huge = plain.to.clone();
        huge[..8].fill(0xff);
        let mut reader = Reader { from: huge.as_slice(), at: 0 };
        assert!(reader.recording().is_err_and(|error| error.contains("ends in the middle")));
    }
}
