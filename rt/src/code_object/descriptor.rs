//! The record that a kernel's symbol names: what a wave is given, and where the code is.
//!
//! Since version 3 that is a kernel descriptor of 64 bytes at NAME.kd; in version 2 it is an `amd_kernel_code_t` of
//! 256 bytes at NAME, in front of the code.

use super::UserSgpr;

/// Bit of the properties: waves of 32 lanes.
const WAVE32: u32 = 1 << 10;
/// Bit of a descriptor's properties: calls of unknown depth.
const DYNAMIC_STACK: u32 = 1 << 11;
/// The same in an `amd_kernel_code_t`.
const DYNAMIC_CALLSTACK: u32 = 1 << 20;

/// What both kinds of record say.
#[derive(Debug)]
pub(super) struct Descriptor {
    /// Static LDS, in bytes.
    pub group_segment: u32,
    /// Scratch of a lane, in bytes.
    pub private_segment: u32,
    /// Bytes of a lane's scratch that lie together.
    pub private_element: u32,
    /// Size of the kernarg segment in bytes.
    pub kernarg: u64,
    /// From the record to the code.
    pub entry: i64,
    pub rsrc1: u32,
    pub rsrc2: u32,
    pub rsrc3: u32,
    pub dynamic_stack: bool,
    /// The values that the properties ask for, in the order the SGPRs have them.
    pub user_sgprs: Vec<UserSgpr>,
}

impl Descriptor {
    /// Size in bytes of a kernel descriptor.
    pub(super) const SIZE: usize = 64;
    /// Size in bytes of an `amd_kernel_code_t`.
    pub(super) const SIZE_V2: usize = 256;

    /// Reads a kernel descriptor.
    pub(super) fn read(bytes: &[u8; Descriptor::SIZE]) -> Result<Descriptor, &'static str> {
        let properties = dword(bytes, 56) & 0xffff;
        refuse_wave32(properties)?;
        Ok(Descriptor {
            group_segment: dword(bytes, 0),
            private_segment: dword(bytes, 4),
            private_element: 4,
            kernarg: dword(bytes, 8).into(),
            entry: qword(bytes, 16) as i64,
            rsrc1: dword(bytes, 48),
            rsrc2: dword(bytes, 52),
            rsrc3: dword(bytes, 44),
            dynamic_stack: properties & DYNAMIC_STACK != 0,
            user_sgprs: user_sgprs(properties & 0x7f),
        })
    }

    /// Reads an `amd_kernel_code_t`.
    pub(super) fn read_v2(bytes: &[u8; Descriptor::SIZE_V2]) -> Result<Descriptor, &'static str> {
        const MACHINE_AMDGPU: u32 = 1;
        if dword(bytes, 0) != 1 {
            return Err("is of another version than 1");
        }
        if dword(bytes, 8) & 0xffff != MACHINE_AMDGPU {
            return Err("is not for an AMD GPU");
        }
        let properties = dword(bytes, 56);
        refuse_wave32(properties)?;
        Ok(Descriptor {
            group_segment: dword(bytes, 64),
            private_segment: dword(bytes, 60),
            private_element: 2 << (properties >> 17 & 3),
            kernarg: qword(bytes, 72),
            entry: qword(bytes, 16) as i64,
            rsrc1: dword(bytes, 48),
            rsrc2: dword(bytes, 52),
            rsrc3: 0,
            dynamic_stack: properties & DYNAMIC_CALLSTACK != 0,
            user_sgprs: user_sgprs(properties & 0x3ff),
        })
    }
}

fn refuse_wave32(properties: u32) -> Result<(), &'static str> {
    if properties & WAVE32 != 0 { Err("asks for waves of 32 lanes") } else { Ok(()) }
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn qword(bytes: &[u8], at: usize) -> u64 {
    u64::from(dword(bytes, at)) | u64::from(dword(bytes, at + 4)) << 32
}

/// The values that the bits ask for. The last three are of version 2 alone.
fn user_sgprs(bits: u32) -> Vec<UserSgpr> {
    const ORDER: [UserSgpr; 10] = [
        UserSgpr::PrivateSegmentBuffer,
        UserSgpr::DispatchPtr,
        UserSgpr::QueuePtr,
        UserSgpr::KernargPtr,
        UserSgpr::DispatchId,
        UserSgpr::FlatScratchInit,
        UserSgpr::PrivateSegmentSize,
        UserSgpr::GroupCount(0),
        UserSgpr::GroupCount(1),
        UserSgpr::GroupCount(2),
    ];
    (0..).zip(ORDER).filter(|(bit, _)| bits >> bit & 1 != 0).map(|(_, value)| value).collect()
}
