//! Both engines on the same memory.

use crate::device::Device;
use crate::error::Error;
use crate::launch::{Prepared, Stats};
use crate::module::Kernel;
use gcnjit_rt::gws::RESOURCES;
use gcnjit_rt::lds::CAPACITY;
use std::fmt;

/// Where translator and interpreter disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kernel's file.
    pub file: String,
    /// The kernel.
    pub kernel: String,
    /// What differs.
    pub what: What,
}

/// What translator and interpreter disagree in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// How the launch ended.
    End {
        /// With the translator: nothing, or the error.
        jit: String,
        /// With the interpreter.
        interp: String,
    },
    /// What it printed.
    Text {
        /// Number of the first message that differs.
        message: usize,
        /// What the translator made of it, if it printed as many.
        jit: Option<String>,
        /// And the interpreter.
        interp: Option<String>,
    },
    /// What a shader gave away.
    Given {
        /// Number of the first export or message that differs.
        number: usize,
        /// It as text, if the translator gave as many.
        jit: Option<String>,
        /// And the interpreter.
        interp: Option<String>,
    },
    /// What it left in memory.
    Memory {
        /// Guest address of the allocation, or `None` for the global data share.
        allocation: Option<u64>,
        /// Offset of the first byte that differs.
        offset: usize,
        /// How many bytes of the allocation differ.
        count: usize,
        /// Up to 8 bytes from there that the translator left.
        jit: Vec<u8>,
        /// And those that the interpreter left.
        interp: Vec<u8>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: jit and interp differ: ", self.file, self.kernel)?;
        match &self.what {
            What::End { jit, interp } => write!(f, "jit: {jit}; interp: {interp}"),
            What::Text { message, jit, interp } => {
                let text =
                    |text: &Option<String>| text.as_ref().map_or("nothing".to_owned(), |text| format!("{text:?}"));
                write!(f, "message {message}: {} and {}", text(jit), text(interp))
            }
            What::Given { number, jit, interp } => {
                let text = |given: &Option<String>| given.clone().unwrap_or("nothing".to_owned());
                write!(f, "export or message {number}: {} and {}", text(jit), text(interp))
            }
            What::Memory { allocation, offset, count, jit, interp } => {
                let place = allocation.map_or("GDS".to_owned(), |address| format!("the allocation at {address:#x}"));
                write!(f, "{count} bytes of {place}, from byte {offset} on: {jit:02x?} and {interp:02x?}")
            }
        }
    }
}

impl std::error::Error for Difference {}

/// Everything that a kernel can write.
pub(crate) struct Snapshot {
    /// Writable memory by address.
    ranges: Vec<(u64, Vec<u8>)>,
    gds: Vec<u8>,
    /// Counters of global wave sync.
    gws: [u32; RESOURCES as usize],
}

impl Snapshot {
    /// What is there now.
    pub(crate) fn take(device: &Device) -> Snapshot {
        let view = device.memory().view();
        let writable = view.ranges().iter().filter(|range| range.writable);
        let ranges = writable.map(|range| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            view.read(range.start, &mut bytes).expect("a view's ranges are mapped");
            (range.start, bytes)
        });
        let gds = (0..CAPACITY as u32).step_by(16).flat_map(|at| device.gds().load::<16>(at)).collect();
        Snapshot { ranges: ranges.collect(), gds, gws: device.gds().gws().counters() }
    }

    /// Puts everything back. Memory that was freed meanwhile stays so.
    pub(crate) fn restore(&self, device: &Device) {
        for (address, bytes) in &self.ranges {
            let _ = device.memory().write(*address, bytes);
        }
        for (at, bytes) in (0u32..).step_by(16).zip(self.gds.as_chunks::<16>().0) {
            device.gds().store(at, *bytes);
        }
        device.gds().gws().set_counters(self.gws);
    }

    /// Pairs of allocations that both have, and the global data share.
    fn pairs<'a>(&'a self, other: &'a Snapshot) -> impl Iterator<Item = (Option<u64>, &'a [u8], &'a [u8])> {
        let same = |address: u64| other.ranges.iter().find(move |range| range.0 == address);
        let ranges = self.ranges.iter().filter_map(move |(address, ours)| {
            same(*address).map(|(_, theirs)| (Some(*address), ours.as_slice(), theirs.as_slice()))
        });
        ranges.chain([(None, self.gds.as_slice(), other.gds.as_slice())])
    }

    /// The first allocation that differs from that of the interpreter, if this is what the translator left.
    pub(crate) fn first_difference(&self, interp: &Snapshot) -> Option<What> {
        self.pairs(interp).find(|(_, ours, theirs)| ours != theirs).map(|(allocation, ours, theirs)| {
            let mut places = (0..ours.len()).filter(|&i| ours[i] != theirs[i]);
            let offset = places.next().unwrap_or(ours.len());
            let count = 1 + places.count();
            let some = |bytes: &[u8]| bytes[offset..].iter().take(8).copied().collect();
            What::Memory { allocation, offset, count, jit: some(ours), interp: some(theirs) }
        })
    }
}

/// Runs a launch with the interpreter, then on the same memory with the translator, and compares how they ended and
/// what they left. Other launches on the device meanwhile would be seen as differences.
pub(crate) fn run(launch: &Prepared<'_>, id: u64) -> Result<Stats, Error> {
    let device = launch.kernel().module().device();
    let threads = launch.threads().or(Some(1));
    let before = Snapshot::take(device);
    let mut interp_printed = Vec::new();
    let interp = launch.run_interpreted(id, threads, &mut |text| interp_printed.push(text.to_vec()));
    let interp_left = Snapshot::take(device);
    before.restore(device);
    let mut jit_printed = Vec::new();
    let jit = launch.run_translated(id, threads, &mut |text| jit_printed.push(text.to_vec()));
    jit_printed.iter().for_each(|text| launch.print(text));
    let stats = same_end(launch.kernel(), jit, interp)?;
    let text = first_text(&jit_printed, &interp_printed);
    match text.or_else(|| Snapshot::take(device).first_difference(&interp_left)) {
        None => Ok(stats),
        Some(what) => Err(difference(launch.kernel(), what)),
    }
}

/// The first message that differs.
fn first_text(jit: &[Vec<u8>], interp: &[Vec<u8>]) -> Option<What> {
    let message = (0..jit.len().max(interp.len())).find(|&i| jit.get(i) != interp.get(i))?;
    let text = |messages: &[Vec<u8>]| messages.get(message).map(|text| String::from_utf8_lossy(text).into_owned());
    Some(What::Text { message, jit: text(jit), interp: text(interp) })
}

/// The stats of the translator if both went to the end, its fault if both made it. An error that is no fault is none
/// of the guest's doing and stands for itself: the translator refuses a kernel for an instruction that is not reached.
pub(crate) fn same_end(
    kernel: &Kernel,
    jit: Result<Stats, Error>,
    interp: Result<Stats, Error>,
) -> Result<Stats, Error> {
    match (jit, interp) {
        (Ok(stats), Ok(_)) => Ok(stats),
        (Err(Error::Fault(jit)), Err(Error::Fault(interp))) if jit == interp => Err(Error::Fault(jit)),
        (Err(error), _) | (_, Err(error)) if !matches!(error, Error::Fault(_)) => Err(error),
        (jit, interp) => {
            let text =
                |end: Result<Stats, Error>| end.map_or_else(|error| error.to_string(), |_| "it ended".to_owned());
            Err(difference(kernel, What::End { jit: text(jit), interp: text(interp) }))
        }
    }
}

pub(crate) fn difference(kernel: &Kernel, what: What) -> Error {
    let (file, kernel) = (kernel.module().name().to_owned(), kernel.name().to_owned());
    Error::Difference(Box::new(Difference { file, kernel, what }))
}
