//! Code objects: files to a form that can be placed in guest memory and launched.
//!
//! A container format is a sibling file with one `parse` function from bytes to [`Image`]; which format a file has is
//! told by its first bytes. Nothing after that asks which it was, except for how a wave starts ([`Abi`]). Parsing
//! trusts nothing: every offset is checked, errors say what and where, and memory use is bounded by a multiple of the
//! file's size, or of [`bundle::LIMIT`] for what is compressed.

pub mod amdcl;
mod amdcl_metadata;
pub mod bundle;
mod descriptor;
pub mod hsa;
mod metadata;
pub mod raw;
mod relocation;
pub mod shader;
mod yaml;

pub use shader::{PixelInput, ShaderCode, Stage};

use crate::memory::{Allocation, Memory, MemoryError, Piece};
use crate::printf::Message;
use crate::setup;
use crate::wave::Mode;
use gcnjit_isa::{Gen, Target};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Why a file can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No format that we know starts like this.
    #[error("not a code object: the file does not start as an ELF file or an offload bundle does")]
    NotElf,
    /// An offload bundle that is malformed.
    #[error("offload bundle: {what} at byte {at:#x}")]
    Bundle {
        /// Where in the bundle, when it is not compressed.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// An offload bundle without a part for the processor asked for, or for any of ours.
    #[error("offload bundle: no code for {}; there is {}", wanted.map_or("gfx6 to gfx9", Target::name),
        if parts.is_empty() { "none".into() } else { parts.join(", ") })]
    NoPart {
        /// The processor asked for.
        wanted: Option<Target>,
        /// The names of the parts that there are.
        parts: Vec<String>,
    },
    /// A part of an offload bundle that can't be loaded.
    #[error("offload bundle: {part}: {source}")]
    Part {
        /// The part's name.
        part: String,
        /// What is wrong with it.
        source: Box<LoadError>,
    },
    /// A Catalyst OpenCL binary that is malformed.
    #[error("amdcl: {place}: {what}")]
    Amdcl {
        /// The kernel or table.
        place: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Bare code that can't be started as it was asked for.
    #[error("bare code: {0}")]
    Raw(&'static str),
    /// A field of the ELF header has a value that no code object of ours has.
    #[error("ELF header: {field} is {value:#x}, not {expected}")]
    Header {
        /// The field, as elf.h names it.
        field: &'static str,
        /// What it is.
        value: u64,
        /// What it should be.
        expected: &'static str,
    },
    /// A processor that is not gfx6 to gfx9, or a later one of those.
    #[error("unsupported processor: EF_AMDGPU_MACH is {mach:#x}")]
    Processor {
        /// Low byte of the ELF flags.
        mach: u32,
    },
    /// A table of the ELF file is malformed or leaves the file.
    #[error("{table}: {what}")]
    Elf {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// A segment that can't be loaded.
    #[error("program header {index}: {what}")]
    Segment {
        /// Its index.
        index: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A dynamic relocation that can't be applied.
    #[error("relocation {index} of type {kind} at {offset:#x}: {what}")]
    Relocation {
        /// Its index in its section.
        index: usize,
        /// `R_AMDGPU_*`.
        kind: u32,
        /// The address it patches, as linked.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The metadata note is malformed.
    #[error("metadata: {path}: {what}")]
    Metadata {
        /// Where in the document.
        path: String,
        /// What is wrong there.
        what: &'static str,
    },
    /// A kernel descriptor that is malformed or leaves the file.
    #[error("kernel descriptor {symbol} at {address:#x}: {what}")]
    Descriptor {
        /// Its symbol.
        symbol: String,
        /// Its address, as linked.
        address: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The code object has no kernel of that name.
    #[error("no kernel '{name}'; there is {}", if known.is_empty() { "none".into() } else { known.join(", ") })]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        known: Vec<String>,
    },
    /// Guest memory refused the image.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// The container a kernel came in, as far as the way it is launched depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// HSA code object version 2: as version 3, but for the kernel's descriptor.
    HsaV2,
    /// HSA code object version 3 or 4: hidden arguments are global offsets and pointers.
    HsaV3,
    /// HSA code object version 5 or 6: hidden arguments say the work-group sizes and counts too.
    HsaV5,
    /// Catalyst's OpenCL 1.2: arguments are in constant buffers and reached through descriptors.
    Amdcl,
    /// Bare code: arguments are packed, and the host says what is in the SGPRs.
    Raw,
    /// A shader of a graphics pipeline: the embedder says what is in the registers.
    Shader,
}

/// A parsed code object. Offsets count from the start of the image, which is loaded in one piece.
#[derive(Debug)]
pub struct Image {
    /// The processor it was built for.
    pub target: Target,
    /// Size of the loaded image, in bytes.
    pub size: u64,
    /// What is loaded, sorted and disjoint.
    pub segments: Vec<Segment>,
    /// Where addresses are to be filled in.
    pub relocations: Vec<Relocation>,
    /// The kernels, by name.
    pub kernels: BTreeMap<String, Arc<KernelCode>>,
    /// The variables that the host can reach, by name.
    pub globals: BTreeMap<String, Global>,
    /// The messages that its kernels print.
    pub printf: Vec<Message>,
    /// If it came in an offload bundle, the names of all parts of that.
    pub parts: Vec<String>,
    /// The whole file, or the part of it that was picked.
    pub file: Vec<u8>,
}

/// A loadable part of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the image.
    pub offset: u64,
    /// Size in the image; what the file does not give is zero.
    pub size: u64,
    /// Where its bytes are in the file.
    pub file: Range<usize>,
    /// Whether guests may write it.
    pub writable: bool,
    /// Whether it holds code.
    pub executable: bool,
}

/// A variable of device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// Offset in the image.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// A place that becomes the image's address plus `addend`, or `addend` alone, or half of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset of the place in the image.
    pub offset: u64,
    /// What to add to the image's address.
    pub addend: u64,
    /// Whether the image's address counts.
    pub absolute: bool,
    /// How much of the sum is put there.
    pub part: Part,
}

/// A part of a qword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The low dword.
    Low,
    /// The high dword.
    High,
}

impl Part {
    /// Size in bytes.
    pub const fn size(self) -> u64 {
        if matches!(self, Part::Whole) { 8 } else { 4 }
    }

    /// This part of `value`.
    fn of(self, value: u64) -> [u8; 8] {
        match self {
            Part::Whole | Part::Low => value.to_le_bytes(),
            Part::High => (value >> 32).to_le_bytes(),
        }
    }
}

/// A value that a wave finds in its first SGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserSgpr {
    /// V# of the scratch memory, four SGPRs.
    PrivateSegmentBuffer,
    /// Address of the dispatch packet, two SGPRs.
    DispatchPtr,
    /// Address of the queue, two SGPRs.
    QueuePtr,
    /// Address of the kernarg segment, two SGPRs.
    KernargPtr,
    /// Number of the dispatch, two SGPRs.
    DispatchId,
    /// What FLAT_SCRATCH is computed from, two SGPRs.
    FlatScratchInit,
    /// Scratch bytes a lane, one SGPR.
    PrivateSegmentSize,
    /// Work-groups in a dimension, one SGPR.
    GroupCount(usize),
    /// V# of what is bound to a slot, four SGPRs.
    Resource(Slot),
    /// Address of what is bound to a slot, two SGPRs.
    Address(Slot),
    /// Address of the table of constant buffers, two SGPRs.
    ConstTable,
    /// Address of the table of UAVs, two SGPRs.
    UavTable,
    /// Address of the driver's own table, two SGPRs: its entry 1 is the V# of the scratch memory.
    InternalTable,
    /// Address of the table of images that are read, two SGPRs.
    ImageTable,
    /// Address of the table of samplers, two SGPRs.
    SamplerTable,
    /// T# of the image in a slot, eight SGPRs.
    Image(Slot),
    /// S# in a slot, four SGPRs.
    Sampler(Slot),
    /// This number, one SGPR.
    Constant(u32),
    /// Nothing, in so many SGPRs.
    Undefined(u8),
}

/// What a descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// A UAV: a buffer or an image that can be written.
    Uav(u16),
    /// An image that is read.
    Image(u16),
    /// A sampler.
    Sampler(u16),
    /// A constant buffer. 0 tells of the launch, 1 has the arguments, the others have elements of 16 bytes.
    Const(u16),
    /// The argument of bare code with this place.
    Argument(u16),
}

impl Slot {
    /// Slots that there are of each kind.
    pub const COUNT: u16 = 1024;
}

impl UserSgpr {
    /// How many SGPRs it takes.
    pub const fn dwords(self) -> usize {
        match self {
            UserSgpr::PrivateSegmentBuffer | UserSgpr::Resource(_) | UserSgpr::Sampler(_) => 4,
            UserSgpr::Image(_) => 8,
            UserSgpr::PrivateSegmentSize | UserSgpr::GroupCount(_) | UserSgpr::Constant(_) => 1,
            UserSgpr::Undefined(count) => count as usize,
            _ => 2,
        }
    }
}

/// A kernel: what its descriptor and metadata say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// Name, as the host asks for it.
    pub name: String,
    /// How it wants to be launched.
    pub abi: Abi,
    /// Offset of the first instruction in the image.
    pub entry: u64,
    /// Offset of the kernel descriptor in the image.
    pub descriptor: u64,
    /// COMPUTE_PGM_RSRC1.
    pub rsrc1: Rsrc1,
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: Rsrc2,
    /// COMPUTE_PGM_RSRC3; reserved on gfx6 to gfx9.
    pub rsrc3: u32,
    /// The values in the first SGPRs, in order.
    pub user_sgprs: Vec<UserSgpr>,
    /// Static LDS of a work-group, in bytes.
    pub lds_size: u32,
    /// Scratch of a lane, in bytes.
    pub scratch_size: u32,
    /// Bytes of a lane's scratch that lie together, in memory that is reached through buffer instructions; before gfx9.
    pub scratch_element: u32,
    /// Whether calls need more scratch than `scratch_size`.
    pub dynamic_stack: bool,
    /// Size of the kernarg segment, in bytes.
    pub kernarg_size: u32,
    /// The arguments, hidden ones too, in order of offset; `None` if the file does not tell.
    pub args: Option<Vec<Arg>>,
    /// The only work-group size it may run with.
    pub required_group: Option<[u32; 3]>,
    /// Most work-items that a work-group may have.
    pub max_group: Option<u32>,
    /// SGPRs used, as the metadata counts.
    pub sgprs: Option<u32>,
    /// VGPRs used, as the metadata counts.
    pub vgprs: Option<u32>,
    /// A part of the image that is reached through a slot.
    pub constants: Option<(Slot, Range<u64>)>,
    /// Samplers that the program has itself: the slot, and OpenCL's number for what it does.
    pub samplers: Vec<(Slot, u32)>,
    /// What it needs that this runtime has not; it can be loaded and not launched.
    pub missing: Option<&'static str>,
    /// What there is to say of a shader; `None` for a compute kernel.
    pub shader: Option<ShaderCode>,
}

impl KernelCode {
    /// A kernel of which nothing is said but where it begins.
    fn bare(name: String, abi: Abi, entry: u64) -> KernelCode {
        KernelCode {
            name,
            abi,
            entry,
            descriptor: entry,
            rsrc1: Rsrc1(0),
            rsrc2: Rsrc2(0),
            rsrc3: 0,
            user_sgprs: Vec::new(),
            lds_size: 0,
            scratch_size: 0,
            scratch_element: 4,
            dynamic_stack: false,
            kernarg_size: 0,
            args: None,
            required_group: None,
            max_group: None,
            sgprs: None,
            vgprs: None,
            constants: None,
            samplers: Vec::new(),
            missing: None,
            shader: None,
        }
    }
}

/// The register that sets up a wave's registers and modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rsrc1(pub u32);

impl Rsrc1 {
    /// VGPRs allocated.
    pub fn vgprs(self) -> usize {
        ((self.0 & 0x3f) as usize + 1) * 4
    }

    /// SGPRs allocated; VCC and what else takes numbers at the end is among them.
    pub fn sgprs(self, generation: Gen) -> usize {
        let field = (self.0 >> 6 & 15) as usize;
        // gfx9 allocates in units of 16 and leaves the lowest bit clear.
        if generation == Gen::Gfx9 { (field / 2 + 1) * 16 } else { (field + 1) * 8 }
    }

    /// MODE's rounding and denormal fields, in MODE's layout: its low byte.
    pub fn float_mode(self) -> u32 {
        self.0 >> 12 & 0xff
    }

    /// Whether clamp turns NaN into 0.
    pub fn dx10_clamp(self) -> bool {
        self.0 >> 21 & 1 != 0
    }

    /// IEEE mode.
    pub fn ieee(self) -> bool {
        self.0 >> 23 & 1 != 0
    }

    /// gfx9: f16 overflow saturates.
    pub fn fp16_ovfl(self) -> bool {
        self.0 >> 26 & 1 != 0
    }
}

/// The register that says what a wave is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rsrc2(pub u32);

impl Rsrc2 {
    /// Whether scratch is set up, and the wave's offset in it passed in the last system SGPR.
    pub fn scratch(self) -> bool {
        self.0 & 1 != 0
    }

    /// User SGPRs; the system SGPRs follow.
    pub fn user_sgprs(self) -> usize {
        (self.0 >> 1 & 0x1f) as usize
    }

    /// Whether the work-group's coordinate in `dimension` is passed.
    pub fn group_id(self, dimension: usize) -> bool {
        self.0 >> (7 + dimension) & 1 != 0
    }

    /// Whether the work-group information is passed.
    pub fn group_info(self) -> bool {
        self.0 >> 10 & 1 != 0
    }

    /// How many of the work-item id's coordinates are passed in VGPRs: 1 to 3.
    pub fn item_ids(self) -> usize {
        (self.0 >> 11 & 3).min(2) as usize + 1
    }

    /// MODE's exception enables, in the order MODE has them.
    pub fn exceptions(self) -> u32 {
        self.0 >> 24 & 0x7f
    }
}

/// An argument in the kernarg segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Name in the source, if the file tells.
    pub name: Option<String>,
    /// Type in the source, if the file tells.
    pub type_name: Option<String>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What goes there.
    pub kind: ArgKind,
    /// For LDS pointers, the alignment in bytes of what they point to; otherwise 1.
    pub align: u32,
    /// How the kernel uses what it points to.
    pub access: Access,
}

impl Arg {
    /// Bytes that it takes among the arguments.
    pub(crate) fn room(&self) -> u32 {
        match self.kind {
            ArgKind::Widened { element, .. } => (self.size / u32::from(element)).saturating_mul(4),
            _ => self.size,
        }
    }
}

/// How a kernel uses a buffer, if the file tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// Any way.
    #[default]
    ReadWrite,
    /// It only reads.
    ReadOnly,
    /// It only writes.
    WriteOnly,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// A scalar, vector or struct.
    Value,
    /// A scalar or vector of elements of 1 or 2 bytes that take a dword each.
    Widened {
        /// Bytes of an element, as the host gives it.
        element: u8,
        /// Whether elements are signed.
        signed: bool,
    },
    /// A pointer to global or constant memory.
    Buffer,
    /// The same, reached through a slot: the argument is the offset in what that describes.
    Bound(Slot),
    /// An LDS pointer whose memory is allocated at launch.
    DynamicLds,
    /// Address of an image, sampler, pipe or queue object.
    Object,
    /// Address of an image's or sampler's object, whose descriptor is reached through a slot: the argument says what
    /// sizes and format the image has, or what the sampler does.
    Described(Slot),
    /// Filled in by the runtime.
    Hidden(Hidden),
}

/// A hidden argument. Numbers are dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hidden {
    /// Work-items the global ids start from.
    GlobalOffset(usize),
    /// Whole work-groups in the grid; a partial one does not count.
    BlockCount(usize),
    /// Work-items in a whole work-group.
    GroupSize(usize),
    /// Work-items in the partial work-group.
    Remainder(usize),
    /// Dimensions of the grid, 1 to 3.
    GridDims,
    /// High dword of the scratch aperture.
    PrivateBase,
    /// High dword of the LDS aperture.
    SharedBase,
    /// Bytes of LDS beyond the static ones.
    DynamicLdsSize,
    /// Address of the queue.
    QueuePtr,
    /// Address of the buffer that the kernel prints to.
    PrintfBuffer,
    /// Address of something that this runtime has not; whoever looks there gets a fault that names it.
    Absent(Service),
    /// Padding, or a null pointer that is the right answer.
    Zero,
}

/// Something of other runtimes that a kernel is given the address of, and that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Calls of functions on the host, such as its printf.
    Hostcall,
    /// Memory that kernels allocate from.
    Heap,
    /// The queue that kernels launch other kernels on.
    DefaultQueue,
    /// What is to be done when such a launch is over.
    CompletionAction,
    /// One that this runtime has never heard of.
    Unknown,
}

impl Service {
    /// All of them.
    pub const ALL: [Service; 5] =
        [Service::Hostcall, Service::Heap, Service::DefaultQueue, Service::CompletionAction, Service::Unknown];

    /// What the metadata calls the hidden argument.
    pub const fn argument(self) -> &'static str {
        match self {
            Service::Hostcall => "hidden_hostcall_buffer",
            Service::Heap => "hidden_heap_v1",
            Service::DefaultQueue => "hidden_default_queue",
            Service::CompletionAction => "hidden_completion_action",
            Service::Unknown => "of an unknown kind",
        }
    }
}

impl Image {
    /// Parses a file of any format that we know. Of an offload bundle, the first part for a processor of ours is taken.
    pub fn parse(file: Vec<u8>) -> Result<Image, LoadError> {
        Image::parse_for(file, None)
    }

    /// The same, but of an offload bundle, the part for `target` is taken.
    pub fn parse_for(file: Vec<u8>, target: Option<Target>) -> Result<Image, LoadError> {
        if bundle::is_bundle(&file) { bundle::parse(&file, target) } else { Image::parse_object(file) }
    }

    /// Parses what is no bundle.
    fn parse_object(file: Vec<u8>) -> Result<Image, LoadError> {
        if amdcl::is_amdcl(&file) {
            amdcl::parse(file)
        } else if shader::is_shader(&file) {
            shader::parse(file)
        } else {
            hsa::parse(file)
        }
    }

    /// The bytes that the file gives for a segment.
    pub fn bytes(&self, segment: &Segment) -> &[u8] {
        &self.file[segment.file.clone()]
    }
}

/// An image in guest memory. It is freed when the last kernel of it goes.
#[derive(Debug)]
pub struct Loaded {
    image: Image,
    place: Allocation,
}

impl Loaded {
    /// Copies an image into guest memory and relocates it.
    pub fn new(image: Image, memory: &Memory) -> Result<Arc<Loaded>, LoadError> {
        let pieces: Vec<Piece> = image
            .segments
            .iter()
            .map(|segment| {
                let Segment { offset, size: len, writable, executable, .. } = *segment;
                Piece { offset, len, writable, executable }
            })
            .collect();
        let place = Allocation::with_pieces(memory, image.size, &pieces)?;
        let base = place.address();
        for segment in &image.segments {
            memory.initialise(base, segment.offset, image.bytes(segment))?;
        }
        for relocation in &image.relocations {
            let Relocation { offset, addend, absolute, part } = *relocation;
            let value = if absolute { base.wrapping_add(addend) } else { addend };
            memory.initialise(base, offset, &part.of(value)[..part.size() as usize])?;
        }
        Ok(Arc::new(Loaded { image, place }))
    }

    /// What was loaded.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Guest address of the image.
    pub fn base(&self) -> u64 {
        self.place.address()
    }

    /// The kernel called `name`.
    pub fn kernel(self: &Arc<Loaded>, name: &str) -> Result<Kernel, LoadError> {
        match self.image.kernels.get(name) {
            Some(code) => Ok(Kernel { loaded: self.clone(), code: code.clone() }),
            None => {
                let known = self.image.kernels.keys().cloned().collect();
                Err(LoadError::NoKernel { name: name.to_owned(), known })
            }
        }
    }
}

/// A kernel in guest memory, ready to be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    loaded: Arc<Loaded>,
    code: Arc<KernelCode>,
}

impl Kernel {
    /// What its descriptor and metadata say.
    pub fn code(&self) -> &KernelCode {
        &self.code
    }

    /// The image it is part of.
    pub fn loaded(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// The processor it was built for.
    pub fn target(&self) -> Target {
        self.loaded.image.target
    }

    /// Guest address of its first instruction.
    pub fn entry(&self) -> u64 {
        self.loaded.base() + self.code.entry
    }

    /// MODE that its waves start with.
    pub fn mode(&self) -> Mode {
        setup::mode(&self.code, self.target().generation())
    }

    /// Guest address of its descriptor.
    pub fn descriptor(&self) -> u64 {
        self.loaded.base() + self.code.descriptor
    }

    /// The segment that holds its code: guest address and bytes.
    pub fn text(&self) -> (u64, &[u8]) {
        let image = &self.loaded.image;
        let holds =
            |segment: &&Segment| segment.executable && self.code.entry.wrapping_sub(segment.offset) < segment.size;
        match image.segments.iter().find(holds) {
            Some(segment) => (self.loaded.base() + segment.offset, image.bytes(segment)),
            None => (self.entry(), &[]),
        }
    }
}
