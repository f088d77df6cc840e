//! What `run` is to do, however it was asked: buffers, and launches and dumps in order.

use crate::cli::failure::Failure;
use crate::cli::image::Picture;
use gcnjit::rt::image::Sampler;
use gcnjit::{Dims, Target};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes that are copied or compared at once.
const PIECE: usize = 1 << 16;

/// Everything to be done in one repetition.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The images, whose texels are in buffers.
    pub pictures: Vec<Picture>,
    /// What to do with them, in order.
    pub steps: Vec<Step>,
}

/// A buffer and what is in it before each repetition.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What messages call it.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Its first bytes; the others are zero.
    pub contents: Vec<u8>,
}

/// A thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Launch a kernel.
    Launch(Launch),
    /// Take a buffer's contents for an output file.
    Dump {
        /// Index of the buffer.
        buffer: usize,
        /// Index of the image that it holds, whose texels are written in plain order or as PNG.
        picture: Option<usize>,
        /// The file.
        path: PathBuf,
    },
}

/// A kernel and its arguments, launched a number of times.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Work-items in the grid.
    pub grid: Dims,
    /// Work-items in a work-group.
    pub block: Dims,
    /// What global ids start from.
    pub offset: [u64; 3],
    /// The explicit arguments.
    pub args: Vec<Arg>,
    /// How often it is launched.
    pub count: u32,
}

/// An explicit argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// An address in a buffer.
    Buffer {
        /// Index of the buffer.
        buffer: usize,
        /// Bytes from its start.
        offset: u64,
    },
    /// Bytes of dynamic LDS.
    Lds(u32),
    /// A value.
    Bytes(Vec<u8>),
    /// The number of the launch, from 0 on, as an integer of so many bytes.
    Index(usize),
    /// The image with this index; [`Plan::lay_out`] makes an object of it.
    Picture(usize),
    /// A sampler; likewise.
    Sampler(Sampler),
    /// The address of a descriptor in memory. If it is an image's, it lacks the address of the buffer.
    Object {
        /// Its dwords.
        words: Vec<u32>,
        /// Index of the buffer with the texels.
        buffer: Option<usize>,
    },
}

impl Plan {
    /// The launches.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.steps.iter().filter_map(|step| if let Step::Launch(launch) = step { Some(launch) } else { None })
    }

    /// Makes descriptors and memory contents of all images and samplers, as a processor wants them.
    pub fn lay_out(&mut self, target: Target) -> Result<(), Failure> {
        let Plan { buffers, pictures, steps } = self;
        let mut objects = Vec::new();
        for picture in pictures.iter_mut() {
            let words = picture.lay_out(target, &mut buffers[picture.buffer])?;
            objects.push(Arg::Object { words, buffer: Some(picture.buffer) });
        }
        for step in steps {
            let Step::Launch(launch) = step else { continue };
            for arg in &mut launch.args {
                match arg {
                    Arg::Picture(index) => *arg = objects[*index].clone(),
                    Arg::Sampler(sampler) => {
                        let words = sampler.encode(target.generation()).to_vec();
                        *arg = Arg::Object { words, buffer: None };
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The output files.
    pub fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.steps.iter().filter_map(|step| if let Step::Dump { path, .. } = step { Some(path) } else { None })
    }
}

impl Buffer {
    /// A buffer with the contents of a file.
    pub fn from_file(name: impl Into<String>, path: &str) -> Result<Buffer, Failure> {
        let contents = std::fs::read(path).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
        Ok(Buffer { name: name.into(), size: contents.len() as u64, contents })
    }

    /// All of its bytes, in pieces with their offsets.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[u8])> {
        static ZEROES: [u8; PIECE] = [0; PIECE];
        let given = (0..).step_by(PIECE).zip(self.contents.chunks(PIECE));
        let (start, end) = (self.contents.len(), self.size as usize);
        let zeroes = (start..end).step_by(PIECE).map(move |at| (at, &ZEROES[..PIECE.min(end - at)]));
        given.chain(zeroes)
    }

    /// A buffer of zeroes.
    pub fn zeroed(name: impl Into<String>, size: u64) -> Buffer {
        Buffer { name: name.into(), size, contents: Vec::new() }
    }
}

/// One to three sizes, separated by commas.
pub fn dims(text: &str) -> Result<Dims, String> {
    let sizes = text.split(',').map(super::value::size32).collect::<Result<Vec<u32>, String>>()?;
    match *sizes {
        [x] => Ok(x.into()),
        [x, y] => Ok([x, y].into()),
        [x, y, z] => Ok([x, y, z].into()),
        _ => Err(format!("'{text}' has {} dimensions: 1 to 3 are possible", sizes.len())),
    }
}

/// One to three offsets, separated by commas; missing ones are 0.
pub fn offset(text: &str) -> Result<[u64; 3], String> {
    let mut offset = [0; 3];
    for (i, part) in text.split(',').enumerate() {
        *offset.get_mut(i).ok_or_else(|| format!("'{text}' has more than 3 dimensions"))? = super::value::size(part)?;
    }
    Ok(offset)
}

/// A time in seconds, such as 0.5.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("'{text}': {error}"))
}
