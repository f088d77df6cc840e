//! The state a wave starts in (LLVM, "User Guide for AMDGPU Backend": Initial Kernel Execution State), and the guest
//! memory that state points to.

use crate::code_object::{KernelCode, Rsrc2, Service, UserSgpr};
use crate::dispatch::Launch;
use crate::fault::{Cause, Trap};
use crate::kernarg::LinkTo;
use crate::memory::{Allocation, Memory, MemoryError, Piece};
use crate::packet::{DispatchPacket, QUEUE_SIZE, queue};
use crate::register_file::RegisterFile;
use crate::resources::Resources;
use crate::rows::{Filled, Initial, RegisterSet, Scalars};
use crate::wave::{LANES, Mode, Wave};
use gcnjit_isa::Gen;

/// What a wave of scratch is rounded up to, in bytes: the unit of COMPUTE_TMPRING_SIZE.
const SCRATCH_UNIT: u64 = 1024;
/// Bytes of scratch a lane for calls whose depth the compiler did not know, if nobody says how many.
const STACK: u32 = 16 << 10;
/// Inaccessible bytes after each wave's scratch, 1 KiB a lane: a stack that grows frame by frame ends there.
const SCRATCH_GUARD: u64 = 64 << 10;

/// Scratch memory of a dispatch: a slot for every wave that can run at the same time.
#[derive(Debug)]
pub(crate) struct Scratch {
    memory: Option<Allocation>,
    lane_size: u64,
    wave_size: u64,
    /// From slot to slot.
    stride: u64,
    /// Of all slots.
    size: u64,
    /// Bytes of a lane that lie together: 2, 4, 8 or 16.
    element: u32,
}

impl Scratch {
    /// Allocates `slots` waves' worth; `None` if a wave's offset would not fit its SGPR.
    pub(crate) fn new(launch: &Launch<'_>, memory: &Memory, slots: u64) -> Option<Result<Scratch, MemoryError>> {
        let (lane_size, wave_size) = (Scratch::lane_size(launch), Scratch::wave_size(launch));
        let stride = Scratch::stride(launch);
        let size = stride.checked_mul(slots).filter(|size| *size <= u64::from(u32::MAX))?;
        let code = launch.kernel.code();
        let element = code.scratch_element;
        let memory = match size {
            0 => Ok(None),
            _ => {
                let slot = |slot: u64| Piece::data(slot * stride, wave_size);
                Allocation::with_pieces(memory, size, &(0..slots).map(slot).collect::<Vec<_>>()).map(Some)
            }
        };
        Some(memory.map(|memory| Scratch { memory, lane_size, wave_size, stride, size, element }))
    }

    /// Whether `address` is between the slots.
    fn is_guard(&self, address: u64) -> bool {
        let offset = address.wrapping_sub(self.address());
        offset < self.size && offset % self.stride >= self.wave_size
    }

    /// Bytes of a lane.
    fn lane_size(launch: &Launch<'_>) -> u64 {
        let code = launch.kernel.code();
        let stack = launch.stack.unwrap_or(if code.dynamic_stack { STACK } else { 0 });
        u64::from(code.scratch_size) + u64::from(stack)
    }

    /// Bytes of a wave.
    fn wave_size(launch: &Launch<'_>) -> u64 {
        (Scratch::lane_size(launch) * LANES as u64).next_multiple_of(SCRATCH_UNIT)
    }

    /// Addresses that a wave takes.
    pub(crate) fn stride(launch: &Launch<'_>) -> u64 {
        match Scratch::wave_size(launch) {
            0 => 0,
            size => size + SCRATCH_GUARD,
        }
    }

    /// Guest address, 0 if there is none.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.memory.as_ref().map_or(0, Allocation::address)
    }

    /// The V# that kernels reach it through: elements of the lanes interleaved, and the lane's number added. Its base is
    /// the dispatch's; the kernel adds the wave's offset. The gaps between slots are in its range, so that they fault.
    fn resource(&self, generation: Gen) -> [u32; 4] {
        const SWIZZLE: u32 = 1 << 31;
        const INDEX_STRIDE_64: u32 = 3 << 21;
        const ADD_TID: u32 = 1 << 23;
        let element = self.element.trailing_zeros() - 1;
        let layout = match generation {
            // Data format 32 and number format UINT.
            Gen::Gfx6 | Gen::Gfx7 => 4 << 15 | 4 << 12 | element << 19,
            // With ADD_TID the data format is the stride's upper bits: zero.
            Gen::Gfx8 => 4 << 12 | element << 19,
            Gen::Gfx9 => 4 << 12,
        };
        let base = self.address();
        let high = (base >> 32) as u32 & 0xffff;
        [base as u32, high | SWIZZLE, self.size as u32, layout | INDEX_STRIDE_64 | ADD_TID]
    }
}

/// What a kernel can read about its launch: packet, queue and kernarg segment, in one read-only allocation. Behind them
/// is room that nobody can access, a part for each [`Service`] that hidden arguments point to in vain.
#[derive(Debug)]
struct Control {
    memory: Allocation,
    /// Offset of the room for services.
    services: u64,
}

impl Control {
    const QUEUE: u64 = 256;
    const KERNARG: u64 = 512;
    /// Compilers widen scalar loads up to this many bytes where alignment allows it.
    const WIDEST: u64 = 64;
    /// Addresses for a service.
    const SERVICE: u64 = 64 << 10;

    fn new(launch: &Launch<'_>, lane_size: u64, memory: &Memory) -> Result<Control, MemoryError> {
        let Launch { kernel, geometry, kernarg, .. } = launch;
        let segment = (kernarg.bytes.len() as u64).next_multiple_of(Control::WIDEST);
        let pieces = [(0, DispatchPacket::SIZE), (Control::QUEUE, QUEUE_SIZE), (Control::KERNARG, segment)];
        let pieces = pieces.map(|(offset, len)| Piece::constant(offset, len));
        let services = Control::KERNARG + segment;
        let absent = kernarg.links.iter().any(|link| matches!(link.to, LinkTo::Absent(_)));
        let room = if absent { Service::ALL.len() as u64 * Control::SERVICE } else { 0 };
        let control = Control { memory: Allocation::with_pieces(memory, services + room, &pieces)?, services };
        let packet = DispatchPacket {
            private_segment_size: lane_size as u32,
            group_segment_size: kernarg.lds,
            kernel_object: kernel.descriptor(),
            kernarg_address: control.kernarg(),
            ..DispatchPacket::new(geometry)
        };
        let start = control.packet();
        memory.initialise(start, 0, bytemuck::bytes_of(&packet))?;
        memory.initialise(start, Control::QUEUE, &queue())?;
        memory.initialise(start, Control::KERNARG, &kernarg.bytes)?;
        for link in &kernarg.links {
            let address = match link.to {
                LinkTo::Queue => control.queue(),
                LinkTo::Printf => launch.printf,
                LinkTo::Absent(service) => control.service(service),
            };
            memory.initialise(start, Control::KERNARG + u64::from(link.offset), &address.to_le_bytes())?;
        }
        Ok(control)
    }

    fn packet(&self) -> u64 {
        self.memory.address()
    }

    fn queue(&self) -> u64 {
        self.memory.address() + Control::QUEUE
    }

    fn kernarg(&self) -> u64 {
        self.memory.address() + Control::KERNARG
    }

    fn service(&self, service: Service) -> u64 {
        self.memory.address() + self.services + service as u64 * Control::SERVICE
    }

    /// The service that `address` stands for.
    fn service_at(&self, address: u64) -> Option<Service> {
        let holds = |service: &Service| address.wrapping_sub(self.service(*service)) < Control::SERVICE;
        Service::ALL.into_iter().find(holds)
    }
}

/// Everything the waves of a dispatch start with alike.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) scratch: Scratch,
    /// With the resources, the guest memory that the user SGPRs point to.
    control: Control,
    _resources: Resources,
    entry: u64,
    mode: Mode,
    pub(crate) registers: RegisterFile,
    /// What all waves start with: the user SGPRs, and zeros.
    sgpr: Scalars,
    system: System,
}

/// Where the system SGPRs are that the kernel asks for, behind the user SGPRs, and how many coordinates of the work-item
/// id are in VGPRs.
#[derive(Debug)]
struct System {
    /// Those for the work-group's coordinates.
    group_ids: [Option<u8>; 3],
    group_info: Option<u8>,
    scratch: Option<u8>,
    /// Whether there are others than the first coordinate: mostly there are not.
    has_more: bool,
    item_ids: usize,
}

impl System {
    fn new(rsrc2: Rsrc2) -> System {
        let mut next = rsrc2.user_sgprs() as u8;
        let mut place = |enabled: bool| {
            let index = next;
            next += u8::from(enabled);
            enabled.then_some(index)
        };
        let group_ids = std::array::from_fn(|d| place(rsrc2.group_id(d)));
        let [group_info, scratch] = [rsrc2.group_info(), rsrc2.scratch()].map(place);
        let [_, y, z] = group_ids;
        let has_more = [y, z, group_info, scratch].iter().any(Option::is_some);
        System { group_ids, group_info, scratch, has_more, item_ids: rsrc2.item_ids() }
    }
}

impl Setup {
    pub(crate) fn new(launch: &Launch<'_>, scratch: Scratch, memory: &Memory) -> Result<Setup, MemoryError> {
        let Launch { kernel, geometry, kernarg, .. } = launch;
        let code = kernel.code();
        let control = Control::new(launch, scratch.lane_size, memory)?;
        let generation = kernel.target().generation();
        let scratch_resource = scratch.resource(generation);
        let resources = Resources::new(kernel, geometry, kernarg, scratch_resource, memory)?;
        let mut user = Vec::with_capacity(code.rsrc2.user_sgprs());
        for &value in &code.user_sgprs {
            match value {
                UserSgpr::GroupCount(d) => user.push(geometry.group_counts()[d]),
                UserSgpr::Constant(value) => user.push(value),
                UserSgpr::Undefined(count) => user.resize(user.len() + usize::from(count), 0),
                _ if resources.push(&mut user, value) => {}
                UserSgpr::DispatchId => user.extend([launch.id as u32, (launch.id >> 32) as u32]),
                _ => push_user_sgpr(&mut user, value, &scratch, &control, generation),
            }
        }
        user.resize(code.rsrc2.user_sgprs(), 0);
        let mut sgpr = Scalars([0; 128]);
        sgpr.0[..user.len()].copy_from_slice(&user);
        Ok(Setup {
            scratch,
            control,
            _resources: resources,
            entry: kernel.entry(),
            mode: mode(code, generation),
            registers: RegisterFile::of(code.rsrc1, generation),
            sgpr,
            system: System::new(code.rsrc2),
        })
    }

    /// Says what the inaccessible memory was that a wave faulted in, where that is ours.
    pub(crate) fn explain(&self, mut trap: Trap) -> Trap {
        if let Trap::Fault { cause: cause @ Cause::Unmapped, address, .. } = &mut trap {
            if self.scratch.is_guard(*address) {
                *cause = Cause::StackOverflow;
            } else if let Some(service) = self.control.service_at(*address) {
                *cause = Cause::Absent(service);
            }
        }
        trap
    }

    /// The SGPR that has the work-group's coordinate x.
    pub(crate) fn group_id(&self) -> Option<u8> {
        self.system.group_ids[0]
    }

    /// Whether waves of work-groups that follow each other in x begin alike, if these registers are read.
    pub(crate) fn are_alike(&self, filled: &Filled) -> bool {
        let System { group_info, scratch, .. } = self.system;
        [group_info, scratch].into_iter().flatten().all(|register| filled.sgprs >> register & 1 == 0)
    }

    /// Which registers of new waves are filled, if what is in `set` is read.
    pub(crate) fn filled(&self, set: RegisterSet) -> Filled {
        Filled::new(set, self.registers.vgprs, self.system.item_ids)
    }

    /// Puts the wave of a work-group that has `items` in its initial state, with the registers that are to be filled.
    /// Inlined, so that it is as wide as its caller.
    #[inline(always)]
    pub(crate) fn start(&self, wave: &mut Wave, items: &WaveItems, group: &Begun, filled: &Filled) {
        items.initial.fill(wave, &self.sgpr, filled);
        wave.set_exec(items.exec);
        (wave.scc, wave.mode, wave.trapsts) = (0, self.mode, 0);
        self.restart(wave, items, group);
    }

    /// The same if the wave has ended with its registers as they were, and was the same one of a work-group of the same size:
    /// what is another work-group's.
    #[inline(always)]
    pub(crate) fn restart(&self, wave: &mut Wave, items: &WaveItems, group: &Begun) {
        let Begun { at: [x, y, z], waves, number, slot } = *group;
        let index = items.index;
        let System { group_ids: [x_id, y_id, z_id], group_info, scratch, has_more, .. } = self.system;
        set(wave, x_id, x);
        if has_more {
            set(wave, y_id, y);
            set(wave, z_id, z);
            set(wave, group_info, u32::from(index == 0) << 31 | waves);
            set(wave, scratch, ((slot + u64::from(index)) * self.scratch.stride) as u32);
        }
        (wave.pc, wave.executed) = (self.entry, 0);
        wave.group = [x, y, z];
        (wave.index, wave.number) = (index, number + u64::from(index));
    }
}

/// A work-group whose waves start.
pub(crate) struct Begun {
    /// Its coordinates.
    pub(crate) at: [u32; 3],
    /// How many waves it has.
    pub(crate) waves: u32,
    /// The number of its first wave in the dispatch.
    pub(crate) number: u64,
    /// Scratch slot of its first wave.
    pub(crate) slot: u64,
}

/// Sets a system SGPR, if the kernel asks for it.
#[inline(always)]
fn set(wave: &mut Wave, place: Option<u8>, value: u32) {
    if let Some(index) = place {
        wave.sgpr[usize::from(index)] = value;
    }
}

fn push_user_sgpr(user: &mut Vec<u32>, value: UserSgpr, scratch: &Scratch, control: &Control, generation: Gen) {
    let mut qword = |value: u64| user.extend([value as u32, (value >> 32) as u32]);
    match value {
        UserSgpr::PrivateSegmentBuffer => user.extend(scratch.resource(generation)),
        UserSgpr::DispatchPtr => qword(control.packet()),
        UserSgpr::QueuePtr => qword(control.queue()),
        UserSgpr::KernargPtr => qword(control.kernarg()),
        UserSgpr::FlatScratchInit => match generation {
            Gen::Gfx9 => qword(scratch.address()),
            // Offset from SH_HIDDEN_PRIVATE_BASE_VIMID (Env::scratch), and the size of a lane.
            _ => qword(scratch.lane_size << 32),
        },
        UserSgpr::PrivateSegmentSize => user.push(scratch.lane_size as u32),
        // Setup::new or Resources has put the others there.
        _ => {}
    }
}

/// MODE as the descriptor asks for it.
pub(crate) fn mode(code: &KernelCode, generation: Gen) -> Mode {
    let flag = |set: bool, bit: u32| u32::from(set) << bit;
    let fp16_ovfl = generation == Gen::Gfx9 && code.rsrc1.fp16_ovfl();
    Mode(
        code.rsrc1.float_mode()
            | flag(code.rsrc1.dx10_clamp(), 8)
            | flag(code.rsrc1.ieee(), 9)
            | code.rsrc2.exceptions() << 12
            | flag(fp16_ovfl, 23),
    )
}

/// The work-items of a work-group of one size, as its waves have them.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) size: [u32; 3],
    pub(crate) waves: Vec<WaveItems>,
    /// In each so many lanes the id counts in x and is the same in y and z; 0 if that is so in less than sixteen, or not all
    /// lanes of all waves have work-items.
    pub(crate) reach: usize,
}

/// The work-items of one wave.
#[derive(Debug)]
pub(crate) struct WaveItems {
    /// With the work-item ids by dimension.
    initial: Initial,
    /// Lanes that have a work-item.
    exec: u64,
    /// Which wave of the work-group it is.
    index: u32,
}

impl Items {
    /// Numbers the items of a work-group, x first; a wave takes 64 in a row.
    pub(crate) fn new(size: [u32; 3]) -> Items {
        let [x, y, z] = size;
        let count = (x * y * z) as usize;
        let wave = |first: usize| {
            let lanes = LANES.min(count - first);
            let row = |id: &dyn Fn(u32) -> u32| {
                std::array::from_fn(|lane| if lane < lanes { id((first + lane) as u32) } else { 0 })
            };
            let ids = [row(&|item| item % x), row(&|item| item / x % y), row(&|item| item / x / y)];
            let index = (first / LANES) as u32;
            WaveItems { initial: Initial::new(ids), exec: u64::MAX >> (LANES - lanes), index }
        };
        let is_reach = |lanes: &usize| count.is_multiple_of(LANES) && (x as usize).is_multiple_of(*lanes);
        let reach = [64, 32, 16].into_iter().find(is_reach).unwrap_or(0);
        Items { size, waves: (0..count).step_by(LANES).map(wave).collect(), reach }
    }
}

#[cfg(test)]
mod tests {
    use super::Items;

    #[test]
    fn ids_reach_as_far_as_they_count() {
        for (size, reach) in [
            ([64, 1, 1], 64),
            ([256, 2, 2], 64),
            ([96, 2, 1], 32),
            ([32, 4, 1], 32),
            ([16, 2, 2], 16),
            ([48, 4, 1], 16),
            ([8, 8, 1], 0),
            ([96, 1, 1], 0),
            ([1, 64, 1], 0),
        ] {
            assert_eq!(Items::new(size).reach, reach, "{size:?}");
        }
    }
}
