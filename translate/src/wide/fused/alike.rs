//! A superblock's part for several waves that are run together ([`crate::pass::alike`]).
//!
//! Four lots of lanes, of one wave or of up to four, are looked at as a part does with the chunks of one wave. Then comes a
//! loop over the waves up to the first one with a lot that is not as it was thought to be, which is left to others: a wave
//! only reads VGPRs that it begins with, and where its lots are. There is nothing else that could go wrong in the loop.

use super::{
    COUNT, LOW, PLACE, Part, PartEvent, SCALARS, SITE, Unit, WAVE, counter, events, layout, layout_of_values,
    load_sites,
};
use crate::jit::{Context, Together};
use crate::lane::Value;
use crate::pass::alike::Alike;
use crate::pass::fuse::Fused;
use crate::pass::strides::CHUNK;
use crate::wide::asm::{Asm, Gpr, Jump, Mem, Rm, When, op};
use crate::wide::schedule::Schedule;
use crate::wide::{Entry, Layout};
use crate::x64::Alu;
use rustc_hash::FxHashMap as HashMap;
use std::mem::offset_of;
use std::rc::Rc;

/// The frame, moved on by eight bytes a lot, and where it ends. Code that moves lanes that count has no use for them.
const LOTS: Gpr = Gpr::Rsi;
const END: Gpr = Gpr::R11;

/// The lots of lanes of waves that are run together. What there is of each is kept eight bytes apart.
#[derive(Clone, Copy)]
pub(super) struct Lots {
    /// Lanes of one.
    reach: i32,
    /// How many a wave has.
    each: i32,
    /// Where the waves are kept, and coordinates of their work-groups.
    waves: i32,
    group_ids: i32,
}

fn together(field: usize) -> i32 {
    (offset_of!(Context<'_>, together) + field) as i32
}

impl Lots {
    fn new(alike: Alike, layout: &mut Layout) -> Lots {
        let [waves, group_ids] = [(); 2].map(|()| layout.spill(8 * COUNT));
        Lots { reach: alike.reach as i32, each: COUNT / alike.waves() as i32, waves, group_ids }
    }

    /// Keeps what is known of the waves.
    fn keep(self, asm: &mut Asm) {
        asm.load64(SITE, SCALARS, Layout::CONTEXT);
        for (wave, lot) in (0..).zip((0..COUNT).step_by(self.each as usize)) {
            asm.load64(LOW, SITE, together(offset_of!(Together, waves)) + 8 * wave);
            asm.store64(SCALARS, self.waves + 8 * lot, LOW);
            asm.load32(LOW, SITE, together(offset_of!(Together, group_ids)) + 4 * wave);
            asm.store64(SCALARS, self.group_ids + 8 * lot, LOW);
        }
    }

    /// Where a lot's lanes of the VGPR at an offset are. The lots of a wave are asked for one after the other.
    pub(super) fn lanes(self, asm: &mut Asm, row: i32, lot: i32) -> Mem {
        let number = lot % self.each;
        if number == 0 {
            asm.load64(PLACE, SCALARS, self.waves + 8 * lot);
        }
        Mem::At(PLACE, row + 4 * self.reach * number)
    }

    /// Goes to where a chunk of the loop's wave is, the next one or the first.
    pub(super) fn go_to(self, asm: &mut Asm, places: i32, chunk: i32, stride: i32) {
        let chunks = self.reach / CHUNK as i32;
        if chunk % chunks == 0 {
            asm.load64(PLACE, LOTS, places + 8 * (chunk / chunks));
        } else if stride != 0 {
            asm.add(PLACE, stride * CHUNK as i32);
        }
    }
}

/// Emits the part of a superblock.
pub(super) fn emit(asm: &mut Asm, fused: &Fused, unit: &Unit<'_>, alike: Alike) -> Entry {
    let mut layout = layout(fused);
    let mut own = layout_of_values(fused, &layout);
    let lots = Lots::new(alike, &mut own);
    let [once, each] = events::alike(fused, Rc::new(events::tiles(fused)));
    let offset = asm.function();
    asm.mov(SCALARS, Gpr::Rsi);
    lots.keep(asm);
    let mut part = |asm: &mut Asm, schedule: &Schedule<PartEvent<'_>>, places| {
        let part = Part::new(asm, fused, unit, &schedule.lives, &mut own);
        Part { places, alike: Some(lots), ..part }.go_through(schedule)
    };
    let (places, fail) = part(asm, &once, HashMap::default());
    asm.mov(LOTS, SCALARS);
    let top = asm.here();
    asm.load64(WAVE, LOTS, lots.waves);
    asm.load64(LOW, LOTS, lots.group_ids);
    asm.store32(SCALARS, Layout::GROUP_ID, LOW);
    part(asm, &each, places);
    asm.add(LOTS, 8 * lots.each);
    asm.compare_registers(LOTS, END);
    asm.jump_back(When::Below, top);
    load_sites(asm, SITE);
    asm.clear8(SITE, counter(fused, unit));
    asm.mov_imm(Gpr::Rax, 0);
    asm.ret();
    fail.into_iter().for_each(|jump| asm.bind(jump));
    load_sites(asm, SITE);
    asm.increment8(SITE, counter(fused, unit));
    asm.mov_imm(Gpr::Rax, 1);
    asm.ret();
    layout.cover(&own);
    Entry { offset, layout, versions: 1, settle: None }
}

impl Part<'_> {
    /// Does what a schedule says; the result is where lots are, and jumps that are taken if nothing can be done.
    fn go_through(mut self, schedule: &Schedule<PartEvent<'_>>) -> (HashMap<usize, i32>, Vec<Jump>) {
        if schedule.events().any(|(_, event)| matches!(event, PartEvent::Proof)) {
            (self.wrong, self.wrong_pairs) = (Some(self.zero()), Some(self.zero()));
        }
        self.events(schedule);
        (self.places, self.fail)
    }

    fn lots(&self) -> Lots {
        self.alike.expect("it is for several waves")
    }

    /// The coordinates of lots' work-groups.
    pub(super) fn group_ids(&mut self, value: Value) {
        let (lots, firsts) = (self.lots(), self.fresh_in_chunks());
        for (lot, first) in (0..COUNT).zip(firsts) {
            let from = Mem::At(SCALARS, lots.group_ids + 8 * (lot - lot % lots.each));
            self.asm().v1(op::VPBROADCASTD, first, Rm::Mem(from));
        }
        self.unpack(firsts);
        self.chunk.r.define(value, 0, firsts[0]);
    }

    /// Finds the waves before the first one with a lot that is not as it should be; gives up if there is none.
    pub(super) fn find_good_lots(&mut self) {
        let each = self.lots().each;
        let (bad, pairs, wrong) = (self.find_wrong(), self.chunk.r.fresh_mask(), self.wrong_pairs);
        let asm = self.asm();
        asm.non_zero64(pairs, wrong.expect("it is looked for"));
        asm.k_read(LOW, bad);
        asm.k_read(PLACE, pairs);
        asm.or_register(LOW, PLACE);
        // First lanes of four lots and last ones; what is behind does not count.
        asm.mov(PLACE, LOW);
        asm.shift_right(PLACE, COUNT as u8);
        asm.or_register(LOW, PLACE);
        asm.alu_imm(Alu::Or, false, LOW, 1 << COUNT);
        asm.lowest_one(PLACE, LOW);
        let (count, power) = (together(offset_of!(Together, count)), each.trailing_zeros() as u8);
        asm.shift_right(PLACE, power);
        asm.load64(SITE, SCALARS, Layout::CONTEXT);
        asm.load64(LOW, SITE, count);
        asm.compare_registers(LOW, PLACE);
        asm.mov_if(When::Below, true, PLACE, LOW);
        asm.store64(SITE, count, PLACE);
        asm.shift_left(PLACE, 3 + power);
        asm.mov(END, SCALARS);
        asm.add_register(END, PLACE);
        asm.test(true, PLACE);
        self.fail_if(When::Zero);
    }
}
