//! The state of one wavefront, shared by both executors: nothing that an instruction can see lives elsewhere.

/// Lanes in a wavefront.
pub const LANES: usize = 64;

/// One vector register: a dword a lane.
pub type Row = [u32; LANES];

/// Scalar registers by operand code, where they have a name.
pub mod reg {
    /// VCC, low half.
    pub const VCC: usize = 106;
    /// M0.
    pub const M0: usize = 124;
    /// EXEC, low half.
    pub const EXEC: usize = 126;
}

/// A wavefront. `repr(C)` because translated code reads and writes it at fixed offsets.
#[repr(C, align(64))]
#[derive(Clone)]
pub struct Wave {
    /// Vector registers, register-major.
    pub vgpr: [Row; 256],
    /// Scalar registers, indexed by operand code (VCC 106, M0 124, EXEC 126).
    pub sgpr: [u32; 128],
    /// The scalar condition code, 0 or 1.
    pub scc: u32,
    /// MODE.
    pub mode: Mode,
    /// Guest address of the next instruction.
    pub pc: u64,
    /// Instructions executed so far, for statistics.
    pub executed: u64,
    /// The work-group's coordinates in the grid.
    pub group: [u32; 3],
    /// Which wave of its work-group this is.
    pub index: u32,
    /// Which wave of its dispatch this is, in the order of creation.
    pub number: u64,
    /// TRAPSTS, of which only EXCP is kept: the exceptions raised so far. See [`crate::trapsts`].
    pub trapsts: u32,
    /// How the first VGPRs count in each chunk of sixteen lanes, as long as the wave has executed nothing: see [`ids`]. Who
    /// fills them without saying leaves it zero.
    pub ids: [u8; 4],
    /// While an executor has moved the rows of some lanes together, which ones these are: the first lane of a row is that
    /// of the lowest bit. 0 if every lane is in its place, as whenever an executor returns.
    pub compacted: u64,
}

/// What [`Wave::ids`] says of a VGPR.
pub mod ids {
    /// Nothing.
    pub const UNKNOWN: u8 = 0;
    /// The lanes of a chunk have the same value.
    pub const SAME: u8 = 1;
    /// Each lane of a chunk has one more than the lane before.
    pub const COUNT: u8 = 2;
}

impl Wave {
    /// A wave with every register zero.
    pub fn new() -> Box<Wave> {
        bytemuck::zeroed_box()
    }

    /// The 64-bit scalar at `sgpr[index]` and the one after.
    #[inline]
    pub fn sgpr64(&self, index: usize) -> u64 {
        u64::from(self.sgpr[index]) | u64::from(self.sgpr[index + 1]) << 32
    }

    /// Sets the 64-bit scalar at `sgpr[index]` and the one after.
    #[inline]
    pub fn set_sgpr64(&mut self, index: usize, value: u64) {
        self.sgpr[index] = value as u32;
        self.sgpr[index + 1] = (value >> 32) as u32;
    }

    /// The lane mask.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.sgpr64(reg::EXEC)
    }

    /// The lane whose values are in a place of the rows.
    pub fn lane_at(&self, place: usize) -> usize {
        match self.compacted {
            0 => place,
            lanes => (0..place).fold(lanes, |rest, _| rest & rest.wrapping_sub(1)).trailing_zeros() as usize,
        }
    }

    /// Sets the lane mask.
    #[inline]
    pub fn set_exec(&mut self, mask: u64) {
        self.set_sgpr64(reg::EXEC, mask);
    }
}

// SAFETY: Wave is repr(C), made of integers and arrays of them only, so the all-zero bit pattern is a value.
unsafe impl bytemuck::Zeroable for Wave {}

/// The MODE register (SI manual 3.1; the layout is the same on all four generations).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode(pub u32);

/// How results are rounded, in MODE's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// To nearest, ties to even.
    NearestEven,
    /// Towards +∞.
    Up,
    /// Towards −∞.
    Down,
    /// Towards zero.
    Zero,
}

/// What happens to denormal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Denormals {
    /// Denormal sources count as zero of their sign.
    pub flush_in: bool,
    /// Denormal results become zero of their sign.
    pub flush_out: bool,
}

impl Mode {
    /// The bit that switches VGPR indexing by M0 on (gfx8, gfx9).
    pub const GPR_INDEX: u32 = 1 << 27;
    /// The bit under which vector instructions are skipped.
    pub const VSKIP: u32 = 1 << 28;
    /// Where the three bits of the branch stack's pointer begin.
    pub const CSP: u32 = 29;

    /// Whether M0 indexes VGPRs.
    pub fn gpr_index(self) -> bool {
        self.0 & Mode::GPR_INDEX != 0
    }

    /// Whether vector instructions are skipped.
    pub fn vskip(self) -> bool {
        self.0 & Mode::VSKIP != 0
    }

    /// Entries on the branch stack of s_cbranch_*_fork.
    pub fn csp(self) -> u32 {
        self.0 >> Mode::CSP
    }

    /// The same with another number of entries, modulo 8.
    pub fn with_csp(self, csp: u32) -> Mode {
        Mode(self.0 & !(7 << Mode::CSP) | csp << Mode::CSP)
    }

    /// Rounding of f32 operations.
    pub fn round32(self) -> Round {
        round(self.0)
    }

    /// Rounding of f64 and f16 operations.
    pub fn round64(self) -> Round {
        round(self.0 >> 2)
    }

    /// Denormals of f32 operations.
    pub fn denormals32(self) -> Denormals {
        denormals(self.0 >> 4)
    }

    /// Denormals of f64 and f16 operations.
    pub fn denormals64(self) -> Denormals {
        denormals(self.0 >> 6)
    }

    /// Whether clamp turns NaN into 0.
    pub fn dx10_clamp(self) -> bool {
        self.0 >> 8 & 1 != 0
    }

    /// IEEE mode: min and max quiet signalling NaNs.
    pub fn ieee(self) -> bool {
        self.0 >> 9 & 1 != 0
    }
}

fn round(bits: u32) -> Round {
    [Round::NearestEven, Round::Up, Round::Down, Round::Zero][(bits & 3) as usize]
}

fn denormals(bits: u32) -> Denormals {
    Denormals { flush_in: bits & 1 == 0, flush_out: bits & 2 == 0 }
}
