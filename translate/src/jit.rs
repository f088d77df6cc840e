//! Units of host code, and running waves in them.
//!
//! A [`Unit`] is one host function for all blocks that are reachable from an entry by direct jumps, under one MODE.

use crate::access::{Bad, Site};
use crate::compact::Compaction;
use crate::fenv;
use crate::host::Host;
use crate::lane::Fenv;
use crate::libcall;
use crate::lower::{self, Counts, Planned, Shaping, Waves};
use crate::pass::alike::Alike;
use crate::pass::superblock::Superblock;
use crate::stats::{Stages, timed};
use crate::wide;
use cranelift_codegen as codegen;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use gcnjit_rt::{Env, Mode, Trap, Wave};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

/// How translated code comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Exit {
    /// s_endpgm.
    End,
    /// s_endpgm; what waves read that start where this one did is as it was there, its program counter aside.
    Kept,
    /// s_barrier.
    Barrier,
    /// The slice is used up or given up.
    Yield,
    /// The wave goes on at `wave.pc`, which is not part of the unit, or in another MODE.
    Jump,
    /// A memory access faulted; `Context::bad` says how.
    Fault,
    /// An instruction asked for a trap handler.
    Trap,
    /// The wave halted itself.
    Halt,
    /// An instruction that no document gives a meaning.
    Undocumented,
    /// The instruction at `wave.pc` is one at which waves of different work-groups meet.
    Meet,
    /// Few lanes are left for the loop at `wave.pc`.
    Compact,
    /// Nothing has been done: waves cannot be run together.
    Apart,
}

impl Exit {
    /// All, by what translated code returns.
    const ALL: &[Exit] = &[
        Exit::End,
        Exit::Kept,
        Exit::Barrier,
        Exit::Yield,
        Exit::Jump,
        Exit::Fault,
        Exit::Trap,
        Exit::Halt,
        Exit::Undocumented,
        Exit::Meet,
        Exit::Compact,
        Exit::Apart,
    ];
}

const _: () = {
    let mut code = 0;
    while code < Exit::ALL.len() {
        assert!(Exit::ALL[code] as usize == code);
        code += 1;
    }
};

/// What translated code is called with beside the wave.
#[repr(C)]
pub struct Context<'a> {
    /// `Wave::executed` at which a backward jump gives up the slice.
    pub limit: u64,
    /// `Wave::executed` when a loop last went on with more than a few lanes, or the wave began to run.
    pub few_since: u64,
    /// The machine around the wave.
    pub env: &'a Env<'a>,
    /// This thread's memory of each access of the unit that is run.
    pub sites: Vec<Site>,
    /// The first of `sites`, for translated code.
    pub first_site: *mut Site,
    /// MXCSR of the thread.
    pub host: u32,
    /// The LDS as if it were an allocation.
    pub lds: Site,
    /// What buffer instructions hit last in scratch, which is one range for all of them.
    pub scratch: &'a mut Site,
    /// The first bad lane of the access that faulted.
    pub bad: Option<Bad>,
    /// The waves that are run together.
    pub together: Together,
}

/// Waves that are run together ([`crate::pass::alike`]). What is behind the last one is looked at, but not done.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Together {
    /// Each wave, whose VGPRs are read.
    pub waves: [*const Wave; Alike::LOTS],
    /// The coordinate x of its work-group.
    pub group_ids: [u32; Alike::LOTS],
    /// How many there are; once code has run, how many have ended.
    pub count: u64,
}

impl Together {
    /// None.
    const NONE: Together = Together { waves: [std::ptr::null(); Alike::LOTS], group_ids: [0; Alike::LOTS], count: 0 };
}

/// A unit's superblock for waves that are run together.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    /// The entry at which they begin.
    pub of: u32,
    /// The number of the superblock.
    pub index: u32,
    /// What waves it is for.
    pub alike: Alike,
    /// How many instructions each of them executes.
    pub instructions: u64,
}

impl<'a> Context<'a> {
    /// Nothing bad yet. `host` is this thread's MXCSR: reading it would cost as much as a short block.
    pub fn new(limit: u64, env: &'a Env<'a>, mut sites: Vec<Site>, scratch: &'a mut Site, host: u32) -> Context<'a> {
        let first_site = sites.as_mut_ptr();
        let lds = Site::of(env.lds.as_ptr().expose_provenance() as u64, env.lds.size().into());
        let together = Together::NONE;
        Context { limit, few_since: 0, env, sites, first_site, host, lds, scratch, bad: None, together }
    }

    /// Takes the sites of the unit that is run next, and returns those of the last one.
    pub fn exchange_sites(&mut self, sites: Vec<Site>) -> Vec<Site> {
        let last = std::mem::replace(&mut self.sites, sites);
        self.first_site = self.sites.as_mut_ptr();
        last
    }
}

/// A run of host code that was made for one guest instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset of its first byte in the unit's code.
    pub start: u32,
    /// Offset behind its last one.
    pub end: u32,
    /// Address of the instruction.
    pub pc: u64,
}

type Entry = unsafe extern "C" fn(*mut Wave, *mut Context<'_>, u32) -> u32;

/// A translated unit.
pub struct Unit {
    /// MODE it was translated for.
    pub mode: Mode,
    /// Its blocks, in entry order.
    pub blocks: Vec<Planned>,
    /// Entry index by guest address.
    pub entries: HashMap<u64, u32>,
    /// Memory accesses in it.
    pub accesses: usize,
    /// Guest addresses of its code, a range a block.
    pub guest: Vec<Range<u64>>,
    /// What it was made of.
    pub counts: Counts,
    /// How long that took.
    pub stages: Stages,
    /// The function in CLIF, as it was compiled; empty without debug assertions.
    pub clif: String,
    host: Host,
    entry: Entry,
    /// The environment its blocks start and end in.
    mxcsr: u32,
    /// Its segments, which the function calls.
    wide: Option<wide::Code>,
    /// What is moved together and back around it, if it is compacted.
    pub compaction: Option<Compaction>,
    /// Its superblock for waves that are run together, if it has one.
    pub team: Option<Team>,
}

/// The host instruction set with the settings translated code needs.
pub(crate) fn host() -> &'static OwnedTargetIsa {
    static HOST: OnceLock<OwnedTargetIsa> = OnceLock::new();
    HOST.get_or_init(host_isa)
}

fn host_isa() -> OwnedTargetIsa {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "none"), ("enable_verifier", "false"), ("is_pic", "false")] {
        flags.set(name, value).expect("a setting of this cranelift");
    }
    if cfg!(debug_assertions) {
        flags.set("enable_verifier", "true").expect("a setting of this cranelift");
    }
    let builder = cranelift_native::builder().expect("cranelift knows this host");
    builder.finish(settings::Flags::new(flags)).expect("the host's own features are consistent")
}

/// The wider back end's code of all segments, where the host has it.
pub(crate) fn segments(blocks: &[Planned], waves: Waves) -> io::Result<Option<wide::Code>> {
    wide::is_available().then(|| wide::Code::assemble(blocks, waves)).transpose()
}

/// What the code generator works in. It is used again, since its memory costs as much as a short function.
struct Workshop {
    context: codegen::Context,
    frontend: FunctionBuilderContext,
}

thread_local! {
    static WORKSHOP: RefCell<Workshop> = RefCell::new(Workshop::new());
}

impl Workshop {
    fn new() -> Workshop {
        Workshop { context: codegen::Context::new(), frontend: FunctionBuilderContext::new() }
    }

    /// Makes the function of planned blocks, ready to be compiled. It calls `wide`'s code, if that is given.
    fn build(&mut self, blocks: &[Planned], mode: Mode, shaping: Shaping, wide: Option<&wide::Code>) -> Counts {
        let isa = host();
        self.context.clear();
        self.context.func.signature = lower::signature(isa.default_call_conv());
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.frontend);
        let counts = lower::lower(&mut builder, isa.default_call_conv(), blocks, mode, shaping, wide);
        builder.finalize(isa.frontend_config());
        counts
    }
}

/// The function of planned blocks as Cranelift prints it.
pub(crate) fn clif(blocks: &[Planned], mode: Mode, wide: Option<&wide::Code>) -> String {
    let mut workshop = Workshop::new();
    workshop.build(blocks, mode, Shaping::default(), wide);
    workshop.context.func.display().to_string()
}

/// Compiles planned blocks, in compacted form if there is a compaction. `stages` is what it took to make them.
///
/// # Errors
/// [`Trap::Host`] if the code generator has no code for something, or the host no memory for the result.
pub fn compile(
    blocks: Vec<Planned>,
    compaction: Option<Compaction>,
    mode: Mode,
    shaping: Shaping,
    mut stages: Stages,
) -> Result<Unit, Box<Trap>> {
    let refused = |what: String| {
        let pc = blocks.first().map_or(0, |planned| planned.block.pc);
        Box::new(Trap::Host { pc, what })
    };
    let waves = if compaction.is_some() { Waves::Compacted } else { Waves::Whole };
    let wide = timed(&mut stages.assemble, || segments(&blocks, waves)).map_err(|error| refused(error.to_string()))?;
    let (host, counts, clif) = WORKSHOP.with_borrow_mut(|workshop| {
        let counts = timed(&mut stages.lower, || workshop.build(&blocks, mode, shaping, wide.as_ref()));
        let context = &mut workshop.context;
        let clif = if cfg!(debug_assertions) { context.func.display().to_string() } else { String::new() };
        let base = lower::base(&blocks);
        (timed(&mut stages.compile, || Host::compile(context, base, wide.is_some())), counts, clif)
    });
    let host = host.map_err(|error| refused(error.to_string()))?;
    // SAFETY: the function was just compiled with this signature and calling convention.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(host.address()) };
    let plain = blocks.iter().enumerate().filter(|(_, planned)| planned.superblock.is_none());
    let entries = plain.map(|(i, planned)| (planned.block.pc, i as u32)).collect();
    let accesses = blocks.iter().map(|planned| planned.block.accesses.len()).sum();
    let plain = blocks.iter().filter(|planned| planned.superblock.is_none());
    let guest = plain.map(|planned| planned.block.pc..planned.block.end).collect();
    let mxcsr = fenv::mxcsr(mode, Fenv::F32);
    let team = blocks.iter().enumerate().find_map(|(index, planned)| {
        let Superblock { of, alike, .. } = planned.superblock.as_ref()?;
        let instructions = planned.block.instructions.into();
        Some(Team { of: *of as u32, index: index as u32, alike: (*alike)?, instructions })
    });
    Ok(Unit {
        mode,
        mxcsr,
        blocks,
        entries,
        accesses,
        guest,
        counts,
        stages,
        clif,
        host,
        entry,
        wide,
        compaction,
        team,
    })
}

impl Unit {
    /// Whether its function is the baseline compiler's.
    pub fn is_baseline(&self) -> bool {
        self.host.is_baseline()
    }

    /// Bytes of host code.
    pub fn code_bytes(&self) -> usize {
        self.code().len() + self.wide.as_ref().map_or(0, wide::Code::size)
    }

    /// The wider back end's code of its segments, with the first instruction of each.
    pub fn segments(&self) -> Option<(&[u8], Vec<Place>)> {
        self.wide.as_ref().map(|wide| (wide.bytes(), wide.places(&self.blocks)))
    }

    /// The host code of its function.
    pub fn code(&self) -> &[u8] {
        self.host.code()
    }

    /// Where the host code of instructions is, by start.
    pub fn places(&self) -> &[Place] {
        &self.host.places
    }

    /// Runs `wave` from block `index` until it leaves the unit.
    #[inline(always)]
    pub fn run(&self, wave: &mut Wave, context: &mut Context<'_>, index: u32) -> Exit {
        debug_assert_eq!(context.sites.len(), self.accesses);
        let host = context.host;
        let changes = (host ^ self.mxcsr) & !fenv::FLAGS != 0;
        if changes {
            libcall::set_mxcsr(self.mxcsr);
        }
        // SAFETY: the code was made from checked lane IR: it writes the wave, the context and its own frame only, reads
        // VGPRs of waves in the context if `index` is that of a team, and calls libcalls with arguments that keep their
        // contracts. `index` is one of the unit's entries.
        let code = unsafe { (self.entry)(wave, context, index) };
        // The usual ones by comparisons, so that who asks for them need not do it again.
        let exit = match code {
            _ if code == Exit::End as u32 => Exit::End,
            _ if code == Exit::Kept as u32 => Exit::Kept,
            _ if code == Exit::Barrier as u32 => Exit::Barrier,
            _ => Exit::ALL[code as usize],
        };
        // A block ends in the environment it began in, but an access that faults leaves from another one.
        if changes || exit == Exit::Fault {
            libcall::set_mxcsr(host);
        }
        exit
    }
}
