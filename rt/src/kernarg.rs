//! The kernarg segment: explicit arguments as the host gives them, hidden ones as the launch has them. For Catalyst's
//! kernels it is constant buffer 1, and pointers are bound to slots.

use crate::code_object::{Abi, Arg, ArgKind, Hidden, KernelCode, Service, Slot};
use crate::geometry::{Geometry, GeometryError};
use crate::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use std::collections::BTreeMap;

/// An explicit argument, as the host gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A guest address: of memory, or of an image, sampler, pipe or queue object.
    Buffer(u64),
    /// This many bytes of LDS, of which the kernel gets the address.
    Lds(u32),
    /// A scalar, vector or struct, as it lies in memory.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    fn what(&self) -> &'static str {
        match self {
            Value::Buffer(_) => "a buffer",
            Value::Lds(_) => "LDS",
            Value::Bytes(_) => "a value",
        }
    }
}

/// Why arguments don't fit a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// More or fewer than the kernel takes.
    #[error("the kernel takes {expected} arguments, {given} were given")]
    Count {
        /// Explicit arguments of the kernel.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// A value of another size.
    #[error("argument {index}{}: {given} bytes were given, it takes {expected}", described(name))]
    Size {
        /// Its place among the explicit arguments.
        index: usize,
        /// Its name and type.
        name: String,
        /// Its size in bytes.
        expected: u32,
        /// Bytes given.
        given: usize,
    },
    /// A value of another kind.
    #[error("argument {index}{}: {given} was given, it is {expected}", described(name))]
    Kind {
        /// Its place among the explicit arguments.
        index: usize,
        /// Its name and type.
        name: String,
        /// What it is.
        expected: &'static str,
        /// What was given.
        given: &'static str,
    },
    /// The kernel needs something that this runtime has not.
    #[error("the kernel needs {0}, which are not supported")]
    Missing(&'static str),
    /// Pointers that share a descriptor and are too far apart.
    #[error("argument {index}: it shares a descriptor with another and is more than 4 GiB away from it")]
    Apart {
        /// Its place among the explicit arguments.
        index: usize,
    },
    /// The file says nothing about the arguments.
    #[error("the code object does not describe the kernel's arguments")]
    NotDescribed,
    /// The file puts an argument outside of the segment.
    #[error("argument at offset {offset}, {size} bytes: outside of the kernarg segment of {segment} bytes")]
    Layout {
        /// Offset of the argument.
        offset: u32,
        /// Its size in bytes.
        size: u32,
        /// Size of the segment in bytes.
        segment: u32,
    },
    /// A segment that is too large to be any kernel's arguments.
    #[error("a kernarg segment of {0} bytes: at most {MAX_SEGMENT} are possible")]
    Segment(u32),
    /// More LDS than can be addressed.
    #[error("the arguments ask for more than 4 GiB of LDS")]
    Lds,
    /// The launch has no possible shape.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

fn described(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ({name})") }
}

/// A kernarg segment and the LDS its arguments need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernarg {
    /// The segment.
    pub bytes: Vec<u8>,
    /// LDS of a work-group in bytes, static and dynamic.
    pub lds: u32,
    /// What is reached through slots.
    pub bindings: Vec<Binding>,
    /// Images and samplers, likewise.
    pub described: Vec<Described>,
    /// Addresses that a dispatch fills in.
    pub links: Vec<Link>,
}

/// A place in the segment that gets the address of something a dispatch makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Offset of its 8 bytes in the segment.
    pub offset: u32,
    /// What its address is.
    pub to: LinkTo,
}

/// What a [`Link`] is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTo {
    /// The queue.
    Queue,
    /// The printf buffer.
    Printf,
    /// Inaccessible memory that stands for something that there is not.
    Absent(Service),
}

/// What a slot describes: memory from `base` on, to the end of the allocation that holds `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The slot.
    pub slot: Slot,
    /// Guest address of the first byte.
    pub base: u64,
    /// Guest address of a byte of the last allocation.
    pub last: u64,
}

/// An image or sampler: what is in its slot is in an object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// The slot.
    pub slot: Slot,
    /// Guest address of the object.
    pub object: u64,
    /// Where in the segment it is told what it is.
    pub offset: u32,
}

/// Most bytes of a kernarg segment; compilers allow a few KiB.
pub const MAX_SEGMENT: u32 = 1 << 20;

/// Lays out the kernarg segment of a launch. `values` are the explicit arguments, in order.
pub fn layout(code: &KernelCode, values: &[Value<'_>], geometry: &Geometry) -> Result<Kernarg, ArgError> {
    geometry.check()?;
    if let Some(missing) = code.missing {
        return Err(ArgError::Missing(missing));
    }
    if code.abi == Abi::Raw {
        return pack(code, values);
    }
    let args = code.args.as_deref().ok_or(ArgError::NotDescribed)?;
    let explicit: Vec<&Arg> = explicit(args).collect();
    if explicit.len() != values.len() {
        return Err(ArgError::Count { expected: explicit.len(), given: values.len() });
    }
    if code.kernarg_size > MAX_SEGMENT {
        return Err(ArgError::Segment(code.kernarg_size));
    }
    let mut segment = Segment { bytes: vec![0; code.kernarg_size as usize], links: Vec::new() };
    let mut lds = code.lds_size;
    for (index, (arg, value)) in explicit.iter().zip(values).enumerate() {
        segment.explicit(index, arg, value, &mut lds)?;
    }
    for arg in args {
        if let ArgKind::Hidden(hidden) = arg.kind {
            segment.hidden(arg, hidden, geometry, lds - code.lds_size)?;
        }
    }
    let bindings = segment.bind(args, values)?;
    let described = explicit.iter().zip(values).filter_map(|(arg, value)| match (arg.kind, value) {
        (ArgKind::Described(slot), Value::Buffer(object)) => {
            Some(Described { slot, object: *object, offset: arg.offset })
        }
        _ => None,
    });
    Ok(Kernarg { described: described.collect(), bytes: segment.bytes, lds, bindings, links: segment.links })
}

/// Puts the arguments of bare code one after the other.
fn pack(code: &KernelCode, values: &[Value<'_>]) -> Result<Kernarg, ArgError> {
    if values.len() > usize::from(Slot::COUNT) {
        return Err(ArgError::Count { expected: Slot::COUNT.into(), given: values.len() });
    }
    let mut packed = Kernarg { lds: code.lds_size, ..Kernarg::default() };
    for (index, value) in (0..Slot::COUNT).zip(values) {
        let mut put = |bytes: &[u8]| {
            let align = bytes.len().next_power_of_two().min(16);
            packed.bytes.resize(packed.bytes.len().next_multiple_of(align), 0);
            packed.bytes.extend_from_slice(bytes);
        };
        match *value {
            Value::Bytes(bytes) => put(bytes),
            Value::Buffer(base) => {
                put(&base.to_le_bytes());
                packed.bindings.push(Binding { slot: Slot::Argument(index), base, last: base });
            }
            Value::Lds(size) => {
                let start = packed.lds.checked_next_multiple_of(16).ok_or(ArgError::Lds)?;
                put(&start.to_le_bytes());
                packed.lds = start.checked_add(size).ok_or(ArgError::Lds)?;
            }
        }
    }
    Ok(packed)
}

/// The arguments that the host gives.
pub fn explicit(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    args.iter().filter(|arg| !matches!(arg.kind, ArgKind::Hidden(_)))
}

struct Segment {
    bytes: Vec<u8>,
    links: Vec<Link>,
}

impl Segment {
    /// Puts an explicit argument in its place; LDS is allocated after what `lds` counts already.
    fn explicit(&mut self, index: usize, arg: &Arg, value: &Value<'_>, lds: &mut u32) -> Result<(), ArgError> {
        let name = || [&arg.type_name, &arg.name].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        match (arg.kind, value) {
            (ArgKind::Value, Value::Bytes(bytes)) if bytes.len() == arg.size as usize => self.put(arg, bytes),
            (ArgKind::Widened { element, signed }, Value::Bytes(bytes)) if bytes.len() == arg.size as usize => {
                self.put(arg, &widen(bytes, element.into(), signed))
            }
            (ArgKind::Bound(_), Value::Buffer(_)) => Ok(()),
            // What is told of it is written when its object is looked at; there has to be room.
            (ArgKind::Described(_), Value::Buffer(_)) => self.put(arg, &[]),
            (ArgKind::Value | ArgKind::Widened { .. }, Value::Bytes(bytes)) => {
                Err(ArgError::Size { index, name: name(), expected: arg.size, given: bytes.len() })
            }
            (ArgKind::Buffer | ArgKind::Object, Value::Buffer(address)) => self.put(arg, &address.to_le_bytes()),
            (ArgKind::DynamicLds, Value::Lds(size)) => {
                let start = lds.checked_next_multiple_of(arg.align).ok_or(ArgError::Lds)?;
                *lds = start.checked_add(*size).ok_or(ArgError::Lds)?;
                self.put(arg, &u64::from(start).to_le_bytes())
            }
            _ => Err(ArgError::Kind { index, name: name(), expected: expected(arg.kind), given: value.what() }),
        }
    }

    /// Puts a hidden argument in its place, or notes that its address is not known yet.
    fn hidden(&mut self, arg: &Arg, hidden: Hidden, geometry: &Geometry, dynamic_lds: u32) -> Result<(), ArgError> {
        let to = match hidden {
            Hidden::QueuePtr => Some(LinkTo::Queue),
            Hidden::PrintfBuffer => Some(LinkTo::Printf),
            Hidden::Absent(service) => Some(LinkTo::Absent(service)),
            _ => None,
        };
        self.put(arg, &hidden_value(hidden, geometry, dynamic_lds).to_le_bytes())?;
        // What is no address in size is none.
        if let Some(to) = to.filter(|_| arg.size == 8) {
            self.links.push(Link { offset: arg.offset, to });
        }
        Ok(())
    }

    /// Binds pointers to their slots and puts the offsets from there in their places. Pointers may share a slot; a null
    /// pointer does not move where it starts.
    fn bind(&mut self, args: &[Arg], values: &[Value<'_>]) -> Result<Vec<Binding>, ArgError> {
        let mut bound: BTreeMap<Slot, Binding> = BTreeMap::new();
        let pointers = || {
            explicit(args).zip(values).enumerate().filter_map(|(index, pair)| match pair {
                (arg @ Arg { kind: ArgKind::Bound(slot), .. }, Value::Buffer(address)) => {
                    Some((index, arg, *slot, *address))
                }
                _ => None,
            })
        };
        for (_, _, slot, address) in pointers().filter(|(.., address)| *address != 0) {
            let binding = bound.entry(slot).or_insert(Binding { slot, base: address, last: address });
            binding.base = binding.base.min(address);
            binding.last = binding.last.max(address);
        }
        for (index, arg, slot, address) in pointers() {
            let base = bound.get(&slot).map_or(address, |binding| binding.base);
            let offset = address.saturating_sub(base);
            if arg.size < 8 && offset > u32::MAX.into() {
                return Err(ArgError::Apart { index });
            }
            self.put(arg, &offset.to_le_bytes())?;
        }
        Ok(bound.into_values().collect())
    }

    /// Puts as many of `bytes` as the argument has in its place.
    fn put(&mut self, arg: &Arg, bytes: &[u8]) -> Result<(), ArgError> {
        let segment = self.bytes.len() as u32;
        let (start, size) = (arg.offset as usize, arg.room() as usize);
        let place = self.bytes.get_mut(start..).and_then(|rest| rest.get_mut(..size));
        let place = place.ok_or(ArgError::Layout { offset: arg.offset, size: arg.room(), segment })?;
        let len = size.min(bytes.len());
        place[..len].copy_from_slice(&bytes[..len]);
        Ok(())
    }
}

/// Little-endian elements as dwords.
fn widen(bytes: &[u8], element: usize, signed: bool) -> Vec<u8> {
    let wide = bytes.chunks_exact(element).flat_map(|bytes| {
        let sign = if signed && bytes[element - 1] >> 7 != 0 { 0xff } else { 0 };
        let mut dword = [sign; 4];
        dword[..element].copy_from_slice(bytes);
        dword
    });
    wide.collect()
}

fn expected(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Value | ArgKind::Widened { .. } => "a value",
        ArgKind::Buffer | ArgKind::Bound(_) => "a buffer",
        ArgKind::DynamicLds => "an LDS pointer",
        ArgKind::Described(_) => "an image or a sampler",
        ArgKind::Object => "the address of an image, sampler, pipe or queue",
        ArgKind::Hidden(_) => "hidden",
    }
}

/// The value of a hidden argument; the argument's size says how much of it is meant.
fn hidden_value(hidden: Hidden, geometry: &Geometry, dynamic_lds: u32) -> u64 {
    match hidden {
        Hidden::GlobalOffset(d) => geometry.offset[d],
        Hidden::BlockCount(d) => u64::from(geometry.grid[d] / geometry.block[d]),
        Hidden::GroupSize(d) => geometry.block[d].into(),
        Hidden::Remainder(d) => u64::from(geometry.grid[d] % geometry.block[d]),
        Hidden::GridDims => geometry.dimensions.into(),
        Hidden::PrivateBase => PRIVATE_APERTURE >> 32,
        Hidden::SharedBase => LDS_APERTURE >> 32,
        Hidden::DynamicLdsSize => dynamic_lds.into(),
        Hidden::QueuePtr | Hidden::PrintfBuffer | Hidden::Absent(_) | Hidden::Zero => 0,
    }
}
