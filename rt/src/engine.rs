//! The line between the runtime and an executor: what an executor is given, and how it comes back.

use crate::export::Sink;
use crate::fault::Trap;
use crate::gds::Gds;
use crate::gws::Ticket;
use crate::image::BorderColors;
use crate::lds::Lds;
use crate::memory::View;
use crate::order::Order;
use crate::register_file::RegisterFile;
use crate::rows::RegisterSet;
use crate::wave::Wave;
use gcnjit_isa::Target;
use std::sync::atomic::AtomicBool;

/// What a wave can reach beside its own registers while it runs.
pub struct Env<'a> {
    /// The processor that is played.
    pub target: Target,
    /// Guest memory as this dispatch sees it.
    pub memory: &'a View,
    /// Address of the dispatch's scratch memory: SH_HIDDEN_PRIVATE_BASE_VIMID of gfx7 and gfx8, which FLAT_SCRATCH
    /// offsets count from. 0 without scratch.
    pub scratch: u64,
    /// What a wave owns of the registers that an instruction can name.
    pub registers: RegisterFile,
    /// The SGPR that waves begin with their work-group's coordinate x in, if it is given to them.
    pub group_id: Option<u8>,
    /// Whether TRAPSTS is kept: see [`crate::trapsts`].
    pub exceptions: bool,
    /// The work-group's local data share.
    pub lds: &'a Lds,
    /// The device's global data share.
    pub gds: &'a Gds,
    /// The order of the dispatch's waves.
    pub order: &'a Order,
    /// The table that samplers take border colours from.
    pub border_colors: BorderColors,
    /// Who gets exports and messages; `None` in a compute dispatch.
    pub exports: Option<&'a dyn Sink>,
    /// Set when the dispatch is to stop (deadline, cancellation, a fault elsewhere).
    pub stop: &'a AtomicBool,
    /// Roughly how many instructions a wave may execute before it yields.
    pub slice: u64,
}

impl<'a> Env<'a> {
    /// Memory, LDS and what dispatches have; no scratch, no exports, no end of a slice. Who runs waves without a dispatch
    /// says what else there is.
    pub fn bare(
        target: Target,
        memory: &'a View,
        lds: &'a Lds,
        (gds, order, stop): (&'a Gds, &'a Order, &'a AtomicBool),
    ) -> Env<'a> {
        Env {
            target,
            memory,
            scratch: 0,
            registers: RegisterFile::ALL,
            group_id: None,
            exceptions: false,
            lds,
            gds,
            order,
            border_colors: BorderColors::NONE,
            exports: None,
            stop,
            slice: u64::MAX,
        }
    }
}

/// Why an executor gave a wave back, with its state complete in [`Wave`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It executed s_endpgm.
    End,
    /// It executed s_barrier; `pc` is after it.
    Barrier,
    /// Its slice is used up, it executed s_sleep or `stop` was set; it can go on where it is.
    Yield,
    /// It waits for waves that may be of other work-groups.
    Wait(Wait),
}

/// A wait that an instruction asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Guest address of the instruction.
    pub pc: u64,
    /// What ends it.
    pub on: WaitFor,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Global wave sync calls the ticket; [`Wave::pc`] is after the instruction, which has been executed.
    Call(Ticket),
    /// The wave's turn in the order of the dispatch; [`Wave::pc`] is the instruction's own, which is executed then.
    Turn,
}

/// An executor of waves. `Worker` is what one thread keeps between waves.
pub trait Engine: Sync {
    /// Per-thread state, for waves of one dispatch: in [`Env`] only the LDS is another from work-group to work-group.
    type Worker: Send;

    /// Makes the state for a thread.
    fn worker(&self) -> Self::Worker;

    /// The registers that waves may read, or show to somebody, before they write them, if they start where `wave` is. A
    /// dispatch need not fill others when it starts waves there, but always sets EXEC.
    fn read_first(&self, _worker: &mut Self::Worker, _wave: &Wave, _env: &Env<'_>) -> RegisterSet {
        RegisterSet::ALL
    }

    /// Runs `wave` from its `pc` until it stops. After an error the wave's program counter and vector registers are
    /// those before the instruction that is named in it; scalars that the wave would not have read any more may be
    /// older.
    fn run(&self, worker: &mut Self::Worker, wave: &mut Wave, env: &Env<'_>) -> Result<Stop, Box<Trap>>;

    /// What runs wave after wave in `env`, each as [`Engine::run`] does. An executor may prepare there what is the same
    /// for all of them.
    #[inline]
    fn runner<'a>(&'a self, worker: &'a mut Self::Worker, env: &'a Env<'a>) -> impl Runner + 'a {
        OneByOne { engine: self, worker, env }
    }
}

/// Runs waves in one environment.
pub trait Runner {
    /// See [`Engine::run`].
    fn run(&mut self, wave: &mut Wave) -> Result<Stop, Box<Trap>>;

    /// If the last run ended a wave that had just begun: whether all that [`Engine::read_first`] asks for is as it was then,
    /// and another wave may begin with that.
    #[inline(always)]
    fn has_kept(&self) -> bool {
        false
    }

    /// Runs waves that begin alike, one after the other and each as [`Runner::run`] does, as far as it can do that
    /// together: no further than to one that would not end as it began.
    #[inline(always)]
    fn run_alike(&mut self, _alike: Alike<'_>) -> Ended {
        Ended::default()
    }
}

/// Waves that begin alike: those of a work-group from some wave on, then those of the work-groups that follow it in x. What
/// [`Engine::read_first`] asks for is the same for all of them, but for work-item ids and x.
pub struct Alike<'a> {
    /// The waves of a work-group. VGPRs are those that waves of any of the work-groups begin with.
    pub waves: &'a mut [Box<Wave>],
    /// Which of them is the first one that runs. It begins in the first work-group; scalar registers of others may be older.
    pub first: usize,
    /// How many work-groups, one at least.
    pub groups: usize,
    /// All lanes have work-items. In each so many of them the id counts in x, and is the same in y and z.
    pub reach: usize,
}

/// What has become of waves that were run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many have ended, from the first one on.
    pub waves: usize,
    /// How many instructions each of them has executed.
    pub instructions: u64,
}

/// The runner of an engine that prepares nothing.
struct OneByOne<'a, E: Engine + ?Sized> {
    engine: &'a E,
    worker: &'a mut E::Worker,
    env: &'a Env<'a>,
}

impl<E: Engine + ?Sized> Runner for OneByOne<'_, E> {
    #[inline]
    fn run(&mut self, wave: &mut Wave) -> Result<Stop, Box<Trap>> {
        self.engine.run(self.worker, wave, self.env)
    }
}
