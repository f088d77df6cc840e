//! Superblocks: what most waves do from an entry to their end, as one.
//!
//! A short kernel computes a work-item's number, asks whether it is inside of the grid, loads, computes and stores. As
//! blocks that is a mask, a branch that is nearly never taken, and registers that are written for the next block. As a
//! superblock it is a fused part ([`super::fuse`]) with what is computed before it from scalars: EXEC is taken to stay as
//! it is ([`crate::build::superblock`]), what is written to registers is read by nobody, and the wave's state is left as it
//! was. So where something is not as it was thought to be, nothing has happened, and the blocks are gone through instead;
//! and where the wave ends, its registers are ready for the next one.

use super::alike::Alike;
use super::fuse::Fused;
use super::registers::RegisterSet;
use super::scalar_loads::ScalarLoads;
use super::segment::{Item, Plan};
use crate::access::{Access, Base, LaneMove};
use crate::cfg::{GuestBlock, ends_block};
use crate::fenv;
use crate::lane::{Block, Fenv, Node, Op, Shape, Term};
use crate::lower::Planned;
use gcnjit_isa::{Op as Opcode, Sopp};
use gcnjit_rt::Mode;

/// Most instructions of a superblock.
const INSTRUCTIONS: usize = 256;

/// The instructions that a wave executes from a block of a unit to its end, if EXEC stays as it is and no other branch is
/// there, nor anything that a part never does.
pub fn path(unit: &[Planned], entry: usize) -> Option<GuestBlock> {
    let mut instructions = Vec::new();
    let Planned { guest, block, .. } = unit.get(entry)?;
    let (mut next, mut built) = (guest, block);
    loop {
        if !may_fit(built) {
            return None;
        }
        instructions.extend(next.instructions.iter().copied());
        let (pc, last) = *next.instructions.last()?;
        let to = match last.op {
            Opcode::Sopp(Sopp::s_endpgm) => return Some(GuestBlock { instructions }),
            Opcode::Sopp(Sopp::s_branch | Sopp::s_cbranch_execnz) => last.branch_target(pc)?,
            Opcode::Sopp(Sopp::s_cbranch_execz) => next.end(),
            _ if !ends_block(&last) => next.end(),
            _ => return None,
        };
        // Onwards: there are no loops.
        let planned = unit.iter().find(|planned| planned.block.pc == to && to > pc)?;
        (next, built) = (&planned.guest, &planned.block);
        if instructions.len() + next.instructions.len() > INSTRUCTIONS {
            return None;
        }
    }
}

/// Whether a block has no access and no operation on lanes that a part never has.
fn may_fit(block: &Block) -> bool {
    let is_plain = |lanes: LaneMove| lanes.loads_whole() && matches!(lanes.base, Base::Linear(_));
    let moves = |access: &Access| access.scalar_load().is_some() || access.lane_move().is_some_and(is_plain);
    let fits = |node: &Node| !node.is_row() && !matches!(node.op, Op::ReadLane | Op::SetMode | Op::SetTrapsts);
    block.accesses.iter().all(moves) && block.nodes.iter().all(fits)
}

/// What there is of a superblock beside its plan.
#[derive(Debug)]
pub struct Superblock {
    /// The block that goes on if it gives up.
    pub of: usize,
    /// Its loads of SGPRs.
    pub loads: Vec<ProvenLoad>,
    /// The unit's numbers of its accesses in plain blocks, whose code finds out where they go.
    pub sites: Vec<usize>,
    /// If it is for several waves.
    pub alike: Option<Alike>,
}

/// A load of SGPRs, done if the plain block's code has proven it: that one keeps the address from which it was.
#[derive(Clone, Copy, Debug)]
pub struct ProvenLoad {
    /// Its number in the superblock.
    pub number: usize,
    /// The unit's number of the access whose site says what is proven.
    pub site: usize,
    /// What is added to the base for the proven address ([`ScalarLoads::origin`]), and from there to what is loaded.
    pub origin: i64,
    /// See there.
    pub offset: i64,
}

impl Superblock {
    /// That of the unit's block `of`, if `planned` is a part and what is computed before it, and leaves what the block reads
    /// as it is.
    pub fn find(planned: &Planned, of: usize, unit: &[Planned], mode: Mode) -> Option<Superblock> {
        let Planned { block, plan, parts, .. } = planned;
        let places: Vec<Place<'_>> =
            block.accesses.iter().map(|access| Place::find(unit, access.pc)).collect::<Option<_>>()?;
        let is_load = |number: &usize| block.accesses[*number].scalar_load().is_some();
        let loads = (0..places.len()).filter(is_load).map(|number| places[number].proven_load(number));
        let (loads, sites) = (loads.collect::<Option<_>>()?, places.iter().map(Place::site).collect());
        is_whole(block, plan, parts, unit[of].read_first, mode).then_some(Superblock { of, loads, sites, alike: None })
    }
}

/// The block of a unit that a superblock does nothing else than, if that does it in one part.
pub fn twin(superblock: &Planned, unit: &[Planned]) -> Option<usize> {
    let of = superblock.superblock.as_ref()?.of;
    let plain = &unit[of];
    let [parts, others] = [&superblock.parts, &plain.parts];
    let accesses = |parts: &[Fused]| parts.first().map(|part| part.accesses.len());
    let is_twin = superblock.block.end == plain.block.end && others.len() == 1 && accesses(parts) == accesses(others);
    is_twin.then_some(of)
}

/// An access among those of a unit's blocks.
struct Place<'a> {
    planned: &'a Planned,
    /// The unit's number of the block's first access.
    first_site: usize,
    number: usize,
}

impl Place<'_> {
    /// That of the instruction at `pc`.
    fn find(unit: &[Planned], pc: u64) -> Option<Place<'_>> {
        let mut first_site = 0;
        unit.iter().find_map(|planned| {
            let accesses = &planned.block.accesses;
            let number = accesses.iter().position(|access| access.pc == pc);
            let place = number.map(|number| Place { planned, first_site, number });
            first_site += accesses.len();
            place
        })
    }

    fn site(&self) -> usize {
        self.first_site + self.number
    }

    /// It as a load of SGPRs, the superblock's `number`, if there is an address from which it is proven.
    fn proven_load(&self, number: usize) -> Option<ProvenLoad> {
        let is_in = |loads: &&ScalarLoads| (loads.first..loads.first + loads.loads.len()).contains(&self.number);
        let loads = self.planned.plan.loads.iter().find(is_in).filter(|loads| !loads.moves)?;
        let (site, origin) = (self.first_site + loads.first, loads.origin());
        Some(ProvenLoad { number, site, origin, offset: loads.loads[self.number - loads.first].offset - origin })
    }
}

/// Whether a block is scalar work and a part, which does all that is to be done of it before its stores or gives up.
fn is_whole(block: &Block, plan: &Plan, parts: &[Fused], kept: RegisterSet, mode: Mode) -> bool {
    let [part] = parts else { return false };
    let before = &plan.items[..part.items.start];
    let writes_nothing = part.sets.is_empty()
        && part.keeps.is_empty()
        && part.bits.is_empty()
        && part.stages.iter().all(|stage| stage.sets.is_empty());
    // Behind the last access are the stores.
    let assumes_early = part.stages.last().is_none_or(|stage| stage.assumed.is_empty());
    // Who gives up does so in the environment that blocks begin in.
    let is_default = |fenv: Fenv| fenv == Fenv::Any || fenv::mxcsr(mode, fenv) == fenv::mxcsr(mode, Fenv::F32);
    let is_scalar = |(node, rank): &(&Node, &Option<usize>)| node.shape == Shape::Uniform && rank.is_some();
    let mut scalars = block.nodes.iter().zip(&plan.ranks).filter(is_scalar);
    matches!(block.term, Term::End(_))
        && part.items.end == plan.items.len()
        && writes_nothing
        && assumes_early
        && part.fenv.is_none_or(is_default)
        && scalars.all(|(node, _)| is_default(node.fenv))
        && before.iter().all(|item| leaves(block, *item, kept))
        && plan.items[part.items.clone()].iter().all(|item| leaves(block, *item, kept) || is_in_part(block, *item))
}

/// Whether an item leaves registers and memory as they are.
fn leaves(block: &Block, item: Item, kept: RegisterSet) -> bool {
    let Item::Scalar(value) = item else { return false };
    let node = block.node(value);
    match node.op {
        Op::SetSgpr => !kept.has(RegisterSet::sgpr(node.imm)),
        Op::SetScc => !kept.has(RegisterSet::SCC),
        _ => node.shape == Shape::Uniform && !node.is_effect() && !crosses(node),
    }
}

/// Whether a uniform value is one of lanes.
fn crosses(node: &Node) -> bool {
    matches!(node.op, Op::ReadLane | Op::Bits)
}

/// Whether an item is what the part does with lanes.
fn is_in_part(block: &Block, item: Item) -> bool {
    match item {
        Item::Segment(_) => true,
        Item::Scalar(value) => matches!(block.node(value).op, Op::Access | Op::Assume),
    }
}
