//! What the dispatches of one device share.

use crate::dispatch::Rooms;
use crate::gds::Gds;
use crate::memory::{Memory, MemoryError};
use crate::pool::Pool;

/// Memory, global data share and threads of a device. Any number of host threads may dispatch on it at the same time.
pub struct Hardware {
    /// Guest memory.
    pub memory: Memory,
    /// The global data share.
    pub gds: Gds,
    /// Threads that help dispatches.
    pub pool: Pool,
    /// Room for work-groups.
    pub(crate) rooms: Rooms,
}

impl Hardware {
    /// A device with empty memory.
    ///
    /// # Errors
    /// [`MemoryError::Host`] if the host grants no addresses.
    pub fn new() -> Result<Hardware, MemoryError> {
        Ok(Hardware::with_memory(Memory::new()?))
    }

    /// A device with this memory.
    pub fn with_memory(memory: Memory) -> Hardware {
        Hardware { memory, gds: Gds::new(), pool: Pool::new(), rooms: Rooms::default() }
    }
}
