//! A block, or a part of one, translated by itself: to be run in turn with another executor.

use crate::access::Site;
use crate::cache::{MODE_KEY, outcome};
use crate::cfg::{self, GuestBlock};
use crate::jit::{Context, Unit};
use crate::lane::Listing;
use crate::pass::strides::Start;
use crate::{Machine, Stages, build, plan, translate_block};
use crate::{libcall, listing};
use gcnjit_isa::{Decoder, Target};
use gcnjit_rt::{Env, Mode, Stop, Trap, View, Wave};

/// A unit of one block, with what a thread keeps for it.
pub struct Single {
    unit: Unit,
    target: Target,
    sites: Vec<Site>,
    scratch: Site,
}

impl Single {
    /// Translates `guest` for waves in `mode`.
    ///
    /// # Errors
    /// As [`translate_block`].
    pub fn new(guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<Single, Box<Trap>> {
        let unit = translate_block(guest.clone(), machine, Mode(mode.0 & MODE_KEY))?;
        let sites = (0..unit.accesses).map(|_| Site::default()).collect();
        Ok(Single { unit, target: machine.target, sites, scratch: Site::default() })
    }

    /// Runs `wave`, which is at the block's start, once through it: `None` if it goes on at its PC.
    ///
    /// # Errors
    /// As [`Engine::run`](gcnjit_rt::Engine::run).
    pub fn run(&mut self, wave: &mut Wave, env: &Env<'_>) -> Result<Option<Stop>, Box<Trap>> {
        // A block that jumps to its own start comes back there instead of going round.
        let limit = wave.executed;
        let sites = std::mem::take(&mut self.sites);
        let mut context = Context::new(limit, env, sites, &mut self.scratch, libcall::mxcsr());
        let exit = self.unit.run(wave, &mut context, 0);
        self.sites = context.exchange_sites(Vec::new());
        Ok(outcome(exit, &context, wave)?.filter(|stop| *stop != Stop::Yield))
    }

    /// The host's instructions between the guest's; empty on hosts that are not x86-64.
    pub fn host_code(&self) -> String {
        listing::host_code(&self.unit, self.target)
    }

    /// The lane IR.
    pub fn lane_ir(&self) -> String {
        self.unit.blocks.iter().map(|planned| Listing(&planned.block).to_string()).collect()
    }
}

/// The instructions from `pc` on as the registers bound them, up to the first that ends a block, and `most` at most.
///
/// # Errors
/// [`Trap::Decode`] or a bad jump if there is none at `pc`.
pub fn straight_run(view: &View, machine: Machine, pc: u64, most: usize) -> Result<GuestBlock, Box<Trap>> {
    let decoder = Decoder::new(machine.target);
    let decode = |pc| cfg::decode(view, decoder, pc).map(|inst| machine.registers.bound(&inst, machine.target));
    let mut instructions = vec![(pc, decode(pc)?)];
    while let [.., (at, last)] = instructions[..]
        && instructions.len() < most
        && !cfg::ends_block(&last)
    {
        let next = at + u64::from(last.size());
        let Ok(inst) = decode(next) else { break };
        instructions.push((next, inst));
    }
    Ok(GuestBlock { instructions })
}

/// How many instructions at the start of `guest` the plan has in one segment, with the scalar work around it; at least
/// one.
///
/// # Errors
/// [`Trap::Unimplemented`] for an instruction among them.
pub fn first_segment(guest: &GuestBlock, machine: Machine, mode: Mode) -> Result<usize, Box<Trap>> {
    let mode = Mode(mode.0 & MODE_KEY);
    let is_one = |count: usize| {
        let part = GuestBlock { instructions: guest.instructions[..count].to_vec() };
        let start = Start::unknown(part.start());
        let (part, mut stages) = (vec![part], Stages::default());
        let blocks = build(&part, machine, mode, &mut stages)?;
        let planned = plan((part, blocks), machine, mode, &start, &mut stages)?;
        let steps = planned.iter().flat_map(|planned| &planned.plan.steps);
        Ok::<_, Box<Trap>>(steps.filter(|step| !step.segment.is_empty()).count() <= 1)
    };
    let (mut good, mut bad) = (1, guest.instructions.len() + 1);
    // Doubling first: a segment is short beside a long block.
    let mut probe = 2;
    while good + 1 < bad {
        let count = probe.min(bad - 1);
        if is_one(count)? {
            (good, probe) = (count, count * 2);
        } else {
            bad = count;
        }
        if probe >= bad {
            probe = good + (bad - good) / 2;
        }
    }
    Ok(good)
}
