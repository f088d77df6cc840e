//! Offload bundles: several code objects in one file, each with the processor that it is for (LLVM, "Clang Offload
//! Bundler"). A bundle may be compressed as a whole.
//!
//! | | of a bundle | | of a compressed one |
//! |---|---|---|---|
//! | 0 | `__CLANG_OFFLOAD_BUNDLE__` | 0 | `CCOB`, u16 version, u16 method |
//! | 24 | u64 number of parts | 8 | size of the file (not in version 1), size of the contents; u64 from version 3 on |
//! | 32 | a part: u64 offset, size and length of its name, then the name | | u64 hash |

use super::{Image, LoadError};
use gcnjit_isa::Target;
use std::io::Read;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";
/// The largest bundle that is decompressed, in bytes.
pub const LIMIT: u64 = 1 << 30;
/// The longest name of a part, in bytes.
const MAX_NAME: u64 = 1 << 12;

/// Whether a file is an offload bundle, compressed or not.
pub fn is_bundle(file: &[u8]) -> bool {
    file.starts_with(MAGIC) || file.starts_with(COMPRESSED)
}

/// Parses the part for `target`, or the first one for a processor of ours.
pub fn parse(file: &[u8], target: Option<Target>) -> Result<Image, LoadError> {
    let contents;
    let data = match file.starts_with(COMPRESSED) {
        false => file,
        true => {
            contents = decompress(file)?;
            &contents
        }
    };
    let parts = parts(data)?;
    let fits = |part: &&Part<'_>| part.target().is_some_and(|of| target.is_none_or(|target| target == of));
    let names = || parts.iter().map(|part| part.name.to_owned()).collect();
    let part = parts.iter().find(fits).ok_or_else(|| LoadError::NoPart { wanted: target, parts: names() })?;
    match Image::parse_object(part.data.to_vec()) {
        Ok(image) => Ok(Image { parts: names(), ..image }),
        Err(source) => Err(LoadError::Part { part: part.name.to_owned(), source: Box::new(source) }),
    }
}

/// One of the files in a bundle.
struct Part<'a> {
    /// `KIND-TRIPLE-PROCESSOR[:FEATURE]…`, as in `hipv4-amdgcn-amd-amdhsa--gfx900:xnack-`.
    name: &'a str,
    data: &'a [u8],
}

impl Part<'_> {
    /// The processor it is for, if it is one of ours.
    fn target(&self) -> Option<Target> {
        let (_, processor) = self.name.split_once("amdgcn")?.1.rsplit_once("-gfx")?;
        match processor.split_once(':').map_or(processor, |(processor, _)| processor) {
            "9-generic" => Some(Target::Gfx900),
            processor => format!("gfx{processor}").parse().ok(),
        }
    }
}

/// Reads numbers of a header from `at` on.
struct Header<'a> {
    data: &'a [u8],
    at: u64,
}

impl<'a> Header<'a> {
    fn bad(&self, what: &'static str) -> LoadError {
        LoadError::Bundle { at: self.at, what }
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], LoadError> {
        let bytes = slice(self.data, self.at, len).ok_or(self.bad("the header is cut off"))?;
        self.at += len;
        Ok(bytes)
    }

    /// A number of `len` bytes, up to 8.
    fn number(&mut self, len: u64) -> Result<u64, LoadError> {
        Ok(self.bytes(len)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

fn slice(data: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    data.get(usize::try_from(at).ok()?..)?.get(..usize::try_from(len).ok()?)
}

fn parts(data: &[u8]) -> Result<Vec<Part<'_>>, LoadError> {
    let mut header = Header { data, at: 0 };
    if !header.bytes(MAGIC.len() as u64).is_ok_and(|magic| magic == MAGIC) {
        return Err(LoadError::Bundle { at: 0, what: "what was compressed does not start as a bundle does" });
    }
    let count = header.number(8)?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let start = header.at;
        let (offset, size, length) = (header.number(8)?, header.number(8)?, header.number(8)?);
        let bad = |what| LoadError::Bundle { at: start, what };
        if length > MAX_NAME {
            return Err(bad("the part's name is too long"));
        }
        let name = str::from_utf8(header.bytes(length)?).map_err(|_| bad("the part's name is not text"))?;
        let data = slice(data, offset, size).ok_or(bad("the part leaves the file"))?;
        parts.push(Part { name, data });
    }
    Ok(parts)
}

/// The contents of a compressed bundle, which are as long as it says.
fn decompress(file: &[u8]) -> Result<Vec<u8>, LoadError> {
    let mut header = Header { data: file, at: COMPRESSED.len() as u64 };
    let (version, method) = (header.number(2)?, header.number(2)?);
    let (total, size) = match version {
        1 => (file.len() as u64, header.number(4)?),
        2 => (header.number(4)?, header.number(4)?),
        3 => (header.number(8)?, header.number(8)?),
        _ => return Err(LoadError::Bundle { at: 4, what: "the version of compression is not 1 to 3" }),
    };
    header.number(8)?;
    let start = header.at;
    let body = total.checked_sub(start).and_then(|len| slice(file, start, len));
    let body = body.ok_or(LoadError::Bundle { at: 8, what: "the compressed bundle is cut off" })?;
    if size > LIMIT {
        return Err(LoadError::Bundle { at: 8, what: "the compressed bundle is larger than 1 GiB" });
    }
    let bad = LoadError::Bundle { at: start, what: "the compressed contents are damaged" };
    let contents = match method {
        0 => read(flate2::read::ZlibDecoder::new(body), size),
        1 => ruzstd::decoding::StreamingDecoder::new(body).ok().and_then(|reader| read(reader, size)),
        _ => return Err(LoadError::Bundle { at: 6, what: "the method of compression is neither zlib nor zstd" }),
    };
    contents.ok_or(bad)
}

/// All of `reader`, if that is `size` bytes. What is allocated follows what comes, not what is promised.
fn read(reader: impl Read, size: u64) -> Option<Vec<u8>> {
    let mut contents = Vec::new();
    reader.take(size + 1).read_to_end(&mut contents).ok()?;
    (contents.len() as u64 == size).then_some(contents)
}
