//! GCN to host code: basic blocks become lane IR, lane IR becomes strip-mined SIMD loops.
//!
//! [`Jit`] is the executor. [`translate`] reads as the stages do: blocks are found ([`mod@cfg`]), built into lane IR
//! ([`build`], the twins of the interpreter's functions), planned into segments ([`pass`]), lowered and compiled
//! ([`lower`], [`jit`]). Only `lower`, `jit` and the compilers behind it (`host`, `baseline`) know Cranelift.

pub mod access;
mod baseline;
pub mod build;
pub mod cache;
pub mod cfg;
pub mod compact;
pub mod defect;
pub mod fenv;
mod host;
pub mod jit;
pub mod lane;
pub mod libcall;
pub mod listing;
pub mod lower;
mod meet;
pub mod pass;
pub mod profile;
pub mod single;
mod stats;
pub mod wide;
mod x64;

pub use cache::{Jit, Program, Worker};
pub use lower::Counts;
pub use single::Single;
pub use stats::{JitStats, Stages};

use compact::Compaction;
use gcnjit_isa::Target;
use gcnjit_rt::{Env, Mode, RegisterFile, Trap, View};
use lane::{Block, Term};
use lower::{Planned, Shaping, Watch};
use pass::alike::Alike;
use pass::compact::Loop;
use pass::fuse::Scope;
use pass::registers::{Needs, RegisterSet, all_read, needed};
use pass::strides::Start;
use pass::superblock::Superblock;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use stats::timed;
use std::collections::BTreeSet;

/// What code is translated for beside MODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The processor.
    pub target: Target,
    /// What waves own of the registers.
    pub registers: RegisterFile,
    /// Whether TRAPSTS is kept.
    pub exceptions: bool,
    /// What is looked at of a wave that has ended.
    pub at_end: AtEnd,
}

/// What is looked at of a wave that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AtEnd {
    /// Nothing, as on the hardware: its scalar registers need not be what they would have been.
    #[default]
    Nothing,
    /// All its registers, for who compares executors.
    Registers,
}

impl Machine {
    /// That of a dispatch whose waves' registers are looked at in the end.
    pub fn of(env: &Env<'_>) -> Machine {
        let (target, registers, exceptions) = (env.target, env.registers, env.exceptions);
        Machine { target, registers, exceptions, at_end: AtEnd::Registers }
    }
}

/// Translates everything that direct jumps reach from where `start` is, for waves in `mode`; it is fastest for those that
/// look like `start`.
///
/// # Errors
/// [`Trap::Decode`] or a bad jump at the entry; [`Trap::Unimplemented`] for any instruction in the unit;
/// [`Trap::Host`] if the host's code generator refuses.
pub fn translate(view: &View, machine: Machine, start: &Start, mode: Mode) -> Result<jit::Unit, Box<Trap>> {
    let mut stages = Stages::default();
    let code = discover(view, machine, start.pc(), mode, &mut stages)?;
    let planned = plan(code, machine, mode, start, &mut stages)?;
    jit::compile(planned, None, mode, Shaping::default(), stages)
}

/// Blocks of the guest's, and what has been made of them.
type Code = (Vec<cfg::GuestBlock>, Vec<Block>);

/// How often functions of functions are looked for; deeper ones are units of their own.
const CALLS: usize = 16;

/// Finds and builds the blocks that jumps reach from `entry`: direct ones, and those to addresses that come out as
/// constants, as those of functions do.
fn discover(view: &View, machine: Machine, entry: u64, mode: Mode, stages: &mut Stages) -> Result<Code, Box<Trap>> {
    let (mut others, mut built, mut rounds) = (BTreeSet::new(), HashMap::default(), 0);
    loop {
        let guest = timed(&mut stages.decode, || cfg::blocks(view, machine, entry, &others))?;
        let mut block = |guest: &cfg::GuestBlock| match built.remove(&(guest.start(), guest.end())) {
            Some(block) => Ok(block),
            None => build::block(guest, machine, mode),
        };
        let blocks: Vec<Block> = timed(&mut stages.build, || guest.iter().map(&mut block).collect::<Result<_, _>>())?;
        let known = others.len();
        others.extend(jumps_out(&blocks));
        if others.len() == known || rounds == CALLS {
            return Ok((guest, blocks));
        }
        built = blocks.into_iter().map(|block| ((block.pc, block.end), block)).collect();
        rounds += 1;
    }
}

/// Where blocks jump to that are not among them.
fn jumps_out(blocks: &[Block]) -> HashSet<u64> {
    let starts: HashSet<u64> = blocks.iter().map(|block| block.pc).collect();
    let jumps = blocks.iter().filter(|block| matches!(block.term, Term::Jump(_)));
    jumps.flat_map(|block| block.term.successors()).filter(|pc| !starts.contains(pc)).collect()
}

/// Translates a loop of a unit in compacted form ([`pass::compact`]).
///
/// # Errors
/// [`Trap::Host`] if the host's code generator refuses.
pub fn translate_compacted(unit: &jit::Unit, of: &Loop, machine: Machine) -> Result<jit::Unit, Box<Trap>> {
    let (mut stages, mode) = (Stages::default(), unit.mode);
    let guest = timed(&mut stages.decode, || pass::compact::cut(of, &unit.blocks));
    let blocks = build(&guest, machine, mode, &mut stages)?;
    let compaction = Compaction::new(of, &blocks);
    let planned = timed(&mut stages.plan, || {
        let watches = pass::compact::others(&blocks);
        let known: HashMap<u64, RegisterSet> =
            unit.blocks.iter().map(|planned| (planned.block.pc, planned.read_first)).collect();
        let needs = needed(&blocks, machine.at_end, |pc| known.get(&pc).copied().unwrap_or(RegisterSet::ALL));
        plan_blocks(guest, blocks, needs, mode, None, watches, Scope::Block)
    });
    jit::compile(planned, Some(compaction), mode, Shaping::default(), stages)
}

/// Translates a single block into a unit of its own: any jump leaves it. For comparing engines step by step.
///
/// # Errors
/// [`Trap::Unimplemented`] for any instruction in the block.
pub fn translate_block(guest: cfg::GuestBlock, machine: Machine, mode: Mode) -> Result<jit::Unit, Box<Trap>> {
    let mut stages = Stages::default();
    let start = Start::unknown(guest.start());
    let guest = vec![guest];
    let blocks = build(&guest, machine, mode, &mut stages)?;
    let planned = plan((guest, blocks), machine, mode, &start, &mut stages)?;
    jit::compile(planned, None, mode, Shaping::default(), stages)
}

/// What is thought to be so in each block of a unit.
struct Guesses {
    strides: Vec<pass::strides::Guess>,
    exec: Vec<pass::exec::Exec>,
}

impl Guesses {
    fn of(blocks: &[Block], start: &Start) -> Guesses {
        Guesses {
            strides: pass::strides::guess(blocks, start),
            exec: pass::exec::guess(blocks, start.pc(), start.exec()),
        }
    }
}

fn build(
    guest: &[cfg::GuestBlock],
    machine: Machine,
    mode: Mode,
    stages: &mut Stages,
) -> Result<Vec<Block>, Box<Trap>> {
    timed(&mut stages.build, || guest.iter().map(|guest| build::block(guest, machine, mode)).collect())
}

fn plan(
    (guest, blocks): Code,
    machine: Machine,
    mode: Mode,
    start: &Start,
    stages: &mut Stages,
) -> Result<Vec<Planned>, Box<Trap>> {
    let mut planned = timed(&mut stages.plan, || {
        let guesses = wide::is_available().then(|| Guesses::of(&blocks, start));
        let watches = guesses.as_ref().map_or_else(Vec::new, |guesses| pass::compact::few(&blocks, &guesses.exec));
        let needs = needed(&blocks, machine.at_end, all_read);
        plan_blocks(guest, blocks, needs, mode, guesses, watches, Scope::Block)
    });
    if let Some(superblock) = plan_superblock(&planned, machine, mode, start, stages)? {
        let alike = timed(&mut stages.plan, || plan_alike(&superblock, &planned, machine, mode, start));
        if let Some(of) = pass::superblock::twin(&superblock, &planned) {
            timed(&mut stages.plan, || plan_for_others(&mut planned[of], mode, start));
        }
        planned.push(superblock);
        planned.extend(alike);
    }
    Ok(planned)
}

/// Has a block that a superblock does the same as do what that one does not: where lanes do not count as they seem to, it
/// is mostly because values are clamped, so its part looks where these go.
fn plan_for_others(planned: &mut Planned, mode: Mode, start: &Start) {
    let guesses = Guesses::of(std::slice::from_ref(&planned.block), &start.at_edge());
    let exit = RegisterSet::default();
    planned.parts = pass::fuse::parts(
        &planned.block,
        &planned.plan,
        mode,
        exit,
        &guesses.strides[0],
        &guesses.exec[0],
        Scope::Block,
    );
}

/// Plans the superblock of the block that `start` is at, if there is one.
fn plan_superblock(
    blocks: &[Planned],
    machine: Machine,
    mode: Mode,
    start: &Start,
    stages: &mut Stages,
) -> Result<Option<Planned>, Box<Trap>> {
    let entry = blocks.iter().position(|planned| planned.block.pc == start.pc());
    let Some(entry) = entry.filter(|_| wide::is_available() && machine.at_end == AtEnd::Nothing) else {
        return Ok(None);
    };
    let Some(guest) = pass::superblock::path(blocks, entry) else { return Ok(None) };
    let built = timed(&mut stages.build, || build::superblock(&guest, machine, mode))?;
    let Some(block) = built else { return Ok(None) };
    Ok(timed(&mut stages.plan, || {
        let block = vec![block];
        let guesses = Guesses::of(&block, start);
        let needs = needed(&block, machine.at_end, all_read);
        let planned = plan_blocks(vec![guest], block, needs, mode, Some(guesses), Vec::new(), Scope::Superblock);
        let planned = planned.into_iter().next()?;
        let superblock = Superblock::find(&planned, entry, blocks, mode)?;
        Some(Planned { superblock: Some(superblock), ..planned })
    }))
}

/// Plans a superblock once more, for several waves that are run together, if that is possible.
fn plan_alike(
    superblock: &Planned,
    blocks: &[Planned],
    machine: Machine,
    mode: Mode,
    start: &Start,
) -> Option<Planned> {
    let of = superblock.superblock.as_ref()?.of;
    let group_id = start.group_id();
    let start = start.alike(blocks[of].read_first)?;
    let block = vec![pass::alike::by_wave(&superblock.block, group_id)?];
    let guesses = Guesses::of(&block, &start);
    let guest = vec![superblock.guest.clone()];
    let needs = needed(&block, machine.at_end, all_read);
    let planned = plan_blocks(guest, block, needs, mode, Some(guesses), Vec::new(), Scope::Superblock);
    let planned = planned.into_iter().next()?;
    let found = Superblock::find(&planned, of, blocks, mode)?;
    let alike = Some(Alike { reach: planned.parts[0].reach, group_id });
    pass::alike::is_possible(&planned.parts[0])
        .then_some(Planned { superblock: Some(Superblock { alike, ..found }), ..planned })
}

/// Plans blocks. Of those behind the end of `watches` nothing is looked at.
fn plan_blocks(
    guest: Vec<cfg::GuestBlock>,
    blocks: Vec<Block>,
    needs: Vec<Needs>,
    mode: Mode,
    guesses: Option<Guesses>,
    watches: Vec<Watch>,
    scope: Scope,
) -> Vec<Planned> {
    let watches = watches.into_iter().chain(std::iter::repeat_with(|| Watch::Nothing));
    let code = guest.into_iter().zip(blocks);
    let planned = code.zip(needs).zip(watches).enumerate().map(|(i, (((guest, block), needs), watch))| {
        let plan = pass::segment::plan(&block, &needs.nodes, mode);
        let fuse = |guesses: &Guesses| {
            pass::fuse::parts(&block, &plan, mode, needs.exit, &guesses.strides[i], &guesses.exec[i], scope)
        };
        let parts = guesses.as_ref().map_or_else(Vec::new, fuse);
        Planned { guest, block, plan, parts, watch, read_first: needs.entry, superblock: None }
    });
    planned.collect()
}
