//! Buffer resources (V#), and the tables of them, and of images and samplers, that Catalyst's kernels are given.

use crate::code_object::{Abi, Kernel, Slot, UserSgpr};
use crate::geometry::Geometry;
use crate::image::Sampler;
use crate::image::sampler::{Clamp, XyFilter};
use crate::kernarg::{Described, Kernarg};
use crate::memory::{Allocation, Memory, MemoryError, Piece, View};
use std::collections::BTreeMap;

/// Sixteen bytes that describe a buffer.
type Resource = [u32; 4];

/// A buffer of `size` bytes: out of range loads give zero and stores do nothing.
fn bytes(base: u64, size: u64) -> Resource {
    resource(base, 0, size)
}

/// A buffer of elements of 16 bytes.
fn elements(base: u64, size: u64) -> Resource {
    resource(base, 16, size.div_ceil(16))
}

fn resource(base: u64, stride: u32, records: u64) -> Resource {
    const XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    const FLOAT: u32 = 7 << 12;
    const DATA_32: u32 = 4 << 15;
    let records = records.min(u32::MAX.into()) as u32;
    [base as u32, (base >> 32) as u32 & 0xffff | stride << 16, records, XYZW | FLOAT | DATA_32]
}

/// What the arguments of a launch, and constants, are reached through.
#[derive(Debug)]
pub(crate) struct Resources {
    slots: BTreeMap<Slot, Place>,
    /// Descriptors of images and, in four dwords, of samplers.
    described: BTreeMap<Slot, [u32; 8]>,
    /// The tables; kept while the dispatch runs.
    memory: Option<Allocation>,
}

/// What a slot describes.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: u64,
    size: u64,
}

/// Where a table starts in the allocation of them. Constant buffer 0 is in front.
mod table {
    use super::Slot;

    /// Bytes of an entry of the table of UAVs.
    pub const UAV: u64 = 32;
    /// Bytes of an entry of the other tables.
    pub const ENTRY: u64 = 16;
    pub const CONSTANTS: u64 = 256;
    pub const INTERNAL: u64 = CONSTANTS + ENTRY * Slot::COUNT as u64;
    pub const UAVS: u64 = INTERNAL + 2 * ENTRY;
    /// Entries like the UAVs'.
    pub const IMAGES: u64 = UAVS + UAV * Slot::COUNT as u64;
    pub const SAMPLERS: u64 = IMAGES + UAV * Slot::COUNT as u64;
    /// Constant buffer 1.
    pub const ARGUMENTS: u64 = SAMPLERS + ENTRY * Slot::COUNT as u64;
}

impl Resources {
    /// Those of a launch; `scratch` is its scratch's.
    pub(crate) fn new(
        kernel: &Kernel,
        geometry: &Geometry,
        kernarg: &Kernarg,
        scratch: Resource,
        memory: &Memory,
    ) -> Result<Resources, MemoryError> {
        let mut resources = Resources { slots: BTreeMap::new(), described: BTreeMap::new(), memory: None };
        let view = memory.view();
        for binding in &kernarg.bindings {
            let size = extent(&view, binding.base, binding.last);
            resources.slots.insert(binding.slot, Place { base: binding.base, size });
        }
        if kernel.code().abi == Abi::Amdcl {
            resources.make_tables(kernel, geometry, kernarg, scratch, memory)?;
        }
        Ok(resources)
    }

    fn make_tables(
        &mut self,
        kernel: &Kernel,
        geometry: &Geometry,
        kernarg: &Kernarg,
        scratch: Resource,
        memory: &Memory,
    ) -> Result<(), MemoryError> {
        let end = table::ARGUMENTS + kernarg.bytes.len() as u64;
        let tables = Allocation::with_pieces(memory, end, &[Piece::constant(0, end)])?;
        let start = tables.address();
        let mut arguments = kernarg.bytes.clone();
        for argument in &kernarg.described {
            self.describe(argument, &mut arguments, memory)?;
        }
        let generation = kernel.target().generation();
        for &(slot, number) in &kernel.code().samplers {
            let [w0, w1, w2, w3] = literal_sampler(number).encode(generation);
            self.described.insert(slot, [w0, w1, w2, w3, 0, 0, 0, 0]);
        }
        memory.initialise(start, table::ARGUMENTS, &arguments)?;
        if let Some((slot, range)) = &kernel.code().constants {
            let base = kernel.loaded().base() + range.start;
            self.slots.insert(*slot, Place { base, size: range.end - range.start });
        }
        self.slots.insert(Slot::Const(0), Place { base: start, size: STATE_SIZE as u64 });
        self.slots.insert(Slot::Const(1), Place { base: start + table::ARGUMENTS, size: arguments.len() as u64 });
        memory.initialise(start, 0, &launch_state(geometry))?;
        memory.initialise(start, table::INTERNAL + table::ENTRY, bytemuck::bytes_of(&scratch))?;
        for &slot in self.slots.keys() {
            let at = match slot {
                Slot::Const(number) => table::CONSTANTS + table::ENTRY * u64::from(number),
                Slot::Uav(number) => table::UAVS + table::UAV * u64::from(number),
                Slot::Argument(_) | Slot::Image(_) | Slot::Sampler(_) => continue,
            };
            memory.initialise(start, at, bytemuck::bytes_of(&self.resource(slot)))?;
        }
        for (slot, words) in &self.described {
            let (at, len) = match *slot {
                Slot::Uav(number) => (table::UAVS + table::UAV * u64::from(number), 8),
                Slot::Image(number) => (table::IMAGES + table::UAV * u64::from(number), 8),
                Slot::Sampler(number) => (table::SAMPLERS + table::ENTRY * u64::from(number), 4),
                Slot::Const(_) | Slot::Argument(_) => continue,
            };
            memory.initialise(start, at, bytemuck::cast_slice(&words[..len]))?;
        }
        self.memory = Some(tables);
        Ok(())
    }

    /// Takes the descriptor from an argument's object, and tells the kernel what it is: of an image width, height, depth,
    /// and type and order of its channels; of a sampler OpenCL's number for it.
    fn describe(&mut self, argument: &Described, arguments: &mut [u8], memory: &Memory) -> Result<(), MemoryError> {
        let mut object = [0u32; 12];
        let is_sampler = matches!(argument.slot, Slot::Sampler(_));
        let len = if is_sampler { 4 } else { 12 };
        memory.read(argument.object, bytemuck::cast_slice_mut(&mut object[..len]))?;
        let mut words = [0; 8];
        words.copy_from_slice(&object[..8]);
        self.described.insert(argument.slot, words);
        let side = |word: u32, at: u32| (word >> at & 0x3fff) + 1;
        let told: &[u32] = match is_sampler {
            true => &[sampler_number([words[0], words[1], words[2], words[3]])],
            false => {
                let depth = (words[4] & 0x1fff) + 1;
                &[side(words[2], 0), side(words[2], 14), depth, object[8], 0, 0, 0, object[9]]
            }
        };
        let place = arguments.get_mut(argument.offset as usize..).into_iter().flatten();
        place.zip(bytemuck::cast_slice::<u32, u8>(told)).for_each(|(byte, told)| *byte = *told);
        Ok(())
    }

    /// The resource in a slot; one without bytes if nothing is bound to it.
    fn resource(&self, slot: Slot) -> Resource {
        let Place { base, size } = self.slots.get(&slot).copied().unwrap_or(Place { base: 0, size: 0 });
        match slot {
            Slot::Const(2..) => elements(base, size),
            _ => bytes(base, size),
        }
    }

    /// The descriptor of an image or sampler in a slot; zeroes, which are of neither, if there is none.
    fn descriptor(&self, slot: Slot) -> [u32; 8] {
        self.described.get(&slot).copied().unwrap_or_default()
    }

    /// Puts what `value` asks for after the user SGPRs so far; `false` if it is none of these.
    pub(crate) fn push(&self, user: &mut Vec<u32>, value: UserSgpr) -> bool {
        let tables = self.memory.as_ref().map_or(0, Allocation::address);
        let mut qword = |value: u64| user.extend([value as u32, (value >> 32) as u32]);
        match value {
            UserSgpr::Resource(slot) => user.extend(self.resource(slot)),
            UserSgpr::Address(slot) => qword(self.slots.get(&slot).map_or(0, |place| place.base)),
            UserSgpr::ConstTable => qword(tables + table::CONSTANTS),
            UserSgpr::UavTable => qword(tables + table::UAVS),
            UserSgpr::InternalTable => qword(tables + table::INTERNAL),
            UserSgpr::ImageTable => qword(tables + table::IMAGES),
            UserSgpr::SamplerTable => qword(tables + table::SAMPLERS),
            UserSgpr::Image(slot) => user.extend(self.descriptor(slot)),
            UserSgpr::Sampler(slot) => user.extend(&self.descriptor(slot)[..4]),
            _ => return false,
        }
        true
    }
}

/// The modes of OpenCL's numbers for samplers, from bit 1 on: none, repeat, clamp to edge, clamp, mirrored.
const CLAMPS: [Clamp; 5] = [Clamp::LastTexel, Clamp::Wrap, Clamp::LastTexel, Clamp::Border, Clamp::Mirror];

/// The sampler with a number: bit 0 coordinates are normalised, 1 to 3 what happens at edges, 4 nearest, 5 linear.
fn literal_sampler(number: u32) -> Sampler {
    let filter = if number & 0x20 != 0 { XyFilter::Bilinear } else { XyFilter::Point };
    let clamp = CLAMPS.get((number >> 1 & 7) as usize).copied().unwrap_or_default();
    Sampler {
        clamp: [clamp; 3],
        unnormalized: number & 1 == 0,
        mag_filter: filter,
        min_filter: filter,
        max_lod: 0xfff,
        ..Sampler::default()
    }
}

/// The number of a sampler, as near as numbers go.
fn sampler_number(words: [u32; 4]) -> u32 {
    let sampler = Sampler::decode(words, gcnjit_isa::Gen::Gfx6);
    let mode = CLAMPS.iter().skip(1).position(|clamp| *clamp == sampler.clamp[0]).map_or(0, |mode| mode as u32 + 1);
    let filter = if sampler.mag_filter.is_linear() { 0x20 } else { 0x10 };
    u32::from(!sampler.unnormalized) | mode << 1 | filter
}

/// Bytes from `base` to the end of what holds `last`; 0 if nothing does.
fn extent(view: &View, base: u64, last: u64) -> u64 {
    view.find(last).map_or(0, |range| range.end - base)
}

/// Size of constant buffer 0 in bytes.
const STATE_SIZE: usize = 240;

/// Constant buffer 0: what a Catalyst kernel can read about its launch.
fn launch_state(geometry: &Geometry) -> [u8; STATE_SIZE] {
    let mut dwords = [0u32; STATE_SIZE / 4];
    let groups = geometry.group_counts();
    let offset = geometry.offset.map(|offset| offset as u32);
    dwords[0..3].copy_from_slice(&geometry.grid);
    dwords[3] = geometry.dimensions.into();
    dwords[4..7].copy_from_slice(&geometry.block);
    dwords[8..11].copy_from_slice(&groups);
    dwords[20..24].copy_from_slice(&[0.0f32, 0.5, 1.0, 2.0].map(f32::to_bits));
    dwords[24..27].copy_from_slice(&offset);
    bytemuck::cast(dwords)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_have_their_fields_in_place() {
        let [w0, w1, w2, w3] = bytes(0x1234_5678_9abc, 100);
        assert_eq!((w0, w1, w2), (0x5678_9abc, 0x1234, 100));
        assert_eq!((w3 & 7, w3 >> 12 & 7, w3 >> 15 & 15, w3 >> 30), (4, 7, 4, 0));
        assert_eq!(elements(16, 33)[1..3], [16 << 16, 3]);
        assert_eq!(bytes(0, 1 << 33)[2], u32::MAX);
    }

    #[test]
    fn samplers_have_numbers() {
        // 22: unnormalised, clamped, nearest.
        let sampler = literal_sampler(22);
        assert!(sampler.unnormalized && sampler.clamp == [Clamp::Border; 3] && !sampler.mag_filter.is_linear());
        for number in [0x10, 0x12, 0x14, 0x17, 0x21, 0x25, 0x29] {
            let words = literal_sampler(number).encode(gcnjit_isa::Gen::Gfx6);
            let want = if number & 14 == 0 { number | 4 } else { number };
            assert_eq!(sampler_number(words), want, "{number:#x}");
        }
    }

    #[test]
    fn constant_buffer_0_describes_the_launch() {
        let geometry = Geometry { offset: [5, 6, 7], ..Geometry::new([100, 20, 3], [64, 4, 1]) };
        let bytes = launch_state(&geometry);
        let dword = |i: usize| u32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap());
        assert_eq!([0, 1, 2, 3].map(dword), [100, 20, 3, 3]);
        assert_eq!([4, 5, 6, 7, 8, 9, 10, 11].map(dword), [64, 4, 1, 0, 2, 5, 3, 0]);
        assert_eq!([24, 25, 26, 28].map(dword), [5, 6, 7, 0]);
        assert_eq!(f32::from_bits(dword(21)), 0.5);
    }
}
