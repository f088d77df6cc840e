//! A part that a loop consists of ([`crate::pass::fuse::induction`]).
//!
//! Before the first iteration, and after one that something was wrong in, registers are looked at: if they count, their
//! ends are kept in the frame. Each iteration begins with these and leaves new ones, and what it does not write to the
//! register file is written there by a function of its own, which the block calls when it goes elsewhere. An iteration that
//! gives up has not done anything that matters: the part goes its ordinary way then.

use super::ends::counting;
use super::events::PartEvent;
use super::general::General;
use super::{CHUNK, COUNT, Part, SCALARS, SITE, Unit, WAVE, counter, events, layout_of_values, load_sites};
use crate::access::Site;
use crate::defect::{Precaution, forgets};
use crate::pass::fuse::induction::{Induction, Kept};
use crate::wide::Layout;
use crate::wide::access::{PATIENCE, unless_all_active};
use crate::wide::asm::{Asm, Gpr, Jump, Mem, Rm, When, Zmm, op};
use crate::wide::registers::row;
use crate::wide::schedule::Schedule;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// Where a loop's registers are kept, by their numbers.
pub(super) type Slots = HashMap<u64, i32>;

/// The code of a loop's iterations while it is emitted.
pub(super) struct Iterations<'a> {
    induction: &'a Induction,
    slots: Slots,
    /// Their frame.
    pub(super) own: Layout,
    /// Where the function is that writes registers to the file.
    pub(super) settle: usize,
}

impl<'a> Iterations<'a> {
    /// Emits the function that writes registers.
    pub(super) fn begin(asm: &mut Asm, induction: &'a Induction, frame: &Layout) -> Iterations<'a> {
        let mut own = layout_of_values(&induction.iteration, frame);
        let slots: Slots = induction.kept.iter().map(|kept| (kept.register, own.room(CHUNK))).collect();
        let settle = asm.function();
        for kept in induction.kept.iter().filter(|kept| kept.is_stale && !forgets(Precaution::Settled)) {
            write(asm, kept, slots[&kept.register]);
        }
        asm.clear64(Gpr::Rsi, Layout::KEPT);
        asm.ret();
        Iterations { induction, slots, own, settle }
    }

    /// Emits the first look and the iteration. Behind it the part goes its ordinary way.
    pub(super) fn emit(&mut self, asm: &mut Asm, unit: &Unit<'_>, general: Option<&General<'_>>, frame: &Layout) {
        let misses = counter(&self.induction.iteration, unit) + (Site::LOOP_MISSES - Site::FUSED_MISSES) as i32;
        let [first, each] = events::iterations(self.induction, Rc::new(events::tiles(&self.induction.iteration)));
        asm.compare8(SCALARS, Layout::KEPT, 0);
        let known = asm.jump(When::NotZero);
        let ordinary = unless_all_active(asm);
        load_sites(asm, SITE);
        asm.compare8(SITE, misses, PATIENCE);
        let mut fail = vec![asm.jump(When::Above)];
        fail.extend(self.go_through(asm, unit, &first, false));
        asm.bind(known);
        fail.extend(self.go_through(asm, unit, &each, true));
        load_sites(asm, SITE);
        asm.clear8(SITE, misses);
        if let Some(general) = general {
            general.write_scalars(asm, frame);
        }
        asm.mov_imm(Gpr::Rax, 1);
        asm.store64(SCALARS, Layout::KEPT, Gpr::Rax);
        asm.mov_imm(Gpr::Rax, 0);
        asm.ret();
        fail.into_iter().for_each(|jump| asm.bind(jump));
        load_sites(asm, SITE);
        asm.increment8(SITE, misses);
        asm.compare8(SCALARS, Layout::KEPT, 0);
        let settled = asm.jump(When::Zero);
        asm.call(self.settle);
        asm.bind(settled);
        ordinary.into_iter().for_each(|jump| asm.bind(jump));
    }

    /// Emits what a schedule says; the jumps are taken if something is not as it should be.
    fn go_through(
        &mut self,
        asm: &mut Asm,
        unit: &Unit<'_>,
        schedule: &Schedule<PartEvent<'_>>,
        is_known: bool,
    ) -> Vec<Jump> {
        let iteration = &self.induction.iteration;
        let part = Part::new(asm, iteration, unit, &schedule.lives, &mut self.own);
        let mut part = Part { kept: Some((&self.slots, is_known)), ..part };
        part.wrong = Some(part.zero());
        part.events(schedule);
        if is_known {
            part.finish_bits();
        }
        part.fail
    }
}

/// Writes a register that is kept to the register file.
fn write(asm: &mut Asm, kept: &Kept, slot: i32) {
    let (lanes, counting) = (Zmm(0), counting(asm, kept.stride));
    for chunk in 0..COUNT {
        asm.v1(op::VPBROADCASTD, lanes, Rm::Mem(Mem::At(Gpr::Rsi, slot + 4 * chunk)));
        if kept.stride != 0 {
            asm.v(op::VPADDD, lanes, lanes, Rm::Mem(counting));
        }
        asm.store(Mem::At(WAVE, row(kept.register as usize) + CHUNK * chunk), lanes);
    }
}
