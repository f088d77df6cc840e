//! What a kernel can read about its own launch: the dispatch packet and the queue.

use crate::geometry::Geometry;
use crate::memory::{LDS_APERTURE, PRIVATE_APERTURE};

/// The AQL kernel dispatch packet (HSA Platform System Architecture, 2.9.6): 64 bytes, little-endian.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct DispatchPacket {
    /// Packet type, barrier bit and fences.
    pub header: u16,
    /// Dimensions.
    pub setup: u16,
    /// Work-items in a whole work-group.
    pub workgroup_size: [u16; 3],
    /// Zero.
    pub reserved0: u16,
    /// Work-items in the grid.
    pub grid_size: [u32; 3],
    /// Scratch of a work-item, in bytes.
    pub private_segment_size: u32,
    /// LDS of a work-group, in bytes.
    pub group_segment_size: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the kernarg segment.
    pub kernarg_address: u64,
    /// Zero.
    pub reserved1: u64,
    /// No signal: 0.
    pub completion_signal: u64,
}

/// Type 2 (kernel dispatch), system-scope acquire and release.
const HEADER: u16 = 2 | 2 << 9 | 2 << 11;

impl DispatchPacket {
    /// Size in bytes.
    pub const SIZE: u64 = size_of::<DispatchPacket>() as u64;

    /// The packet of a launch; the addresses and segment sizes are the caller's to fill in.
    pub fn new(geometry: &Geometry) -> DispatchPacket {
        DispatchPacket {
            header: HEADER,
            setup: geometry.dimensions,
            workgroup_size: geometry.block.map(|size| size as u16),
            grid_size: geometry.grid,
            ..bytemuck::Zeroable::zeroed()
        }
    }
}

/// Size in bytes of what a queue pointer points to (`amd_queue_t`).
pub const QUEUE_SIZE: u64 = 256;

/// A queue that tells where the apertures are and nothing else: their high dwords are at 0x40 and 0x44.
pub fn queue() -> [u8; QUEUE_SIZE as usize] {
    let mut bytes = [0; QUEUE_SIZE as usize];
    bytes[0x40..0x44].copy_from_slice(&((LDS_APERTURE >> 32) as u32).to_le_bytes());
    bytes[0x44..0x48].copy_from_slice(&((PRIVATE_APERTURE >> 32) as u32).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_fields_are_where_kernels_look() {
        let packet = DispatchPacket {
            private_segment_size: 0x11,
            group_segment_size: 0x22,
            kernel_object: 0x33,
            kernarg_address: 0x44,
            ..DispatchPacket::new(&Geometry::new([1000, 20, 3], [64, 4, 1]))
        };
        let bytes: [u8; 64] = bytemuck::cast(packet);
        let u16_at = |i: usize| u16::from_le_bytes(bytes[i..i + 2].try_into().unwrap());
        let u32_at = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
        assert_eq!((u16_at(2), u16_at(4), u16_at(6), u16_at(8)), (3, 64, 4, 1));
        assert_eq!((u32_at(12), u32_at(16), u32_at(20)), (1000, 20, 3));
        assert_eq!((u32_at(24), u32_at(28), u32_at(32), u32_at(40)), (0x11, 0x22, 0x33, 0x44));
    }
}
