//! Accesses whose lanes are thought to be a stride apart in each chunk: their addresses at the ends of chunks, the proof
//! that what lies between is as it is thought to be, and the moves. For waves that are run together read "lot" for "chunk":
//! four lots of lanes that count, which are of one wave or of several ([`alike`](super::alike)).
//!
//! A register of [`ENDS`] has the first lanes of the four chunks, then their last ones. What is found wrong is collected
//! and looked at when an access is: until then nothing has been done that matters. In a part for any EXEC only active lanes of
//! registers have to count, and the ends are where they would be if all did ([`super::active`]).

use super::lanes::Lanes;
use super::{CHUNK, LOW, PLACE, Part, SCALARS, SITE, SIZE, WAVE};
use crate::access::{Origin, Site};
use crate::defect::{Precaution, forgets};
use crate::lane::{Op, Ty, Value};
use crate::pass::fuse::address::{Address, Term, Upper};
use crate::pass::fuse::{Counting, Group};
use crate::pass::strides::{Signed, Stride};
use crate::wide::access::OR_DIFFERENT;
use crate::wide::asm::predicate::GREATER;
use crate::wide::asm::{Asm, K, MaskOp, Mem, Rm, ShiftBy, When, Zmm, op};
use crate::wide::registers::row;
use crate::wide::schedule::Event;
use crate::x64::Alu;
use gcnjit_rt::wave::ids;
use gcnjit_rt::{LANES, Wave};
use std::mem::offset_of;

/// The largest integers among those that go up from the first lane to the last one.
#[derive(Clone, Copy)]
pub(super) struct Largest {
    lanes: Zmm,
    /// The largest stride among theirs.
    stride: i32,
}

/// VPTERNLOGD: what has been found, or what the third has and the second does not.
const OR_MISSING: u8 = 0xf2;

/// What [`Wave::ids`] says of a VGPR that begins with such a stride, if it can say so.
fn id(register: usize, stride: i32) -> Option<u8> {
    let count = match stride {
        0 => ids::SAME,
        1 => ids::COUNT,
        _ => return None,
    };
    (register < 3).then_some(count)
}

/// The numbers of a chunk's lanes times a stride.
pub(super) fn counting(asm: &mut Asm, stride: i32) -> Mem {
    let counting: Vec<u8> = (0..16).flat_map(|lane| (lane * stride).to_le_bytes()).collect();
    asm.constant(&counting)
}

/// Sixteen dwords: some, then zeros.
fn padded(dwords: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut bytes: Vec<u8> = dwords.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.resize(64, 0);
    bytes
}

impl<'a> Part<'a> {
    /// A register to collect in what is found, until the part ends.
    pub(super) fn zero(&mut self) -> Zmm {
        let register = self.chunk.r.reserve();
        self.asm().v(op::VPXORD, register, register, register);
        register
    }

    fn stride(&self, value: Value) -> Stride {
        self.fused.strides[value.index()]
    }

    /// How many lanes the last one of a chunk is behind the first.
    fn last(&self) -> i32 {
        self.fused.reach as i32 - 1
    }

    /// Finds a value at the ends of chunks.
    pub(super) fn ends(&mut self, value: Value) {
        let node = self.fused.block.node(value);
        match node.op {
            Op::Vgpr => self.register(value, node.imm as usize),
            Op::LaneId => self.lane_numbers(value),
            Op::GroupId => self.group_ids(value),
            _ => self.chunk.event(Event::Compute(value)),
        }
    }

    /// Where the ends of a VGPR are, if an iteration of a loop finds them.
    fn kept_slot(&self, register: usize) -> Option<i32> {
        let (slots, is_known) = self.kept?;
        slots.get(&(register as u64)).copied().filter(|_| is_known)
    }

    /// Keeps a VGPR's ends for the next iteration.
    pub(super) fn keep(&mut self, register: u64, value: Value) {
        let ((slots, _), ends) = (self.kept.expect("it is an iteration of a loop"), self.chunk.r.vector(value, 0));
        self.asm().store(Mem::At(SCALARS, slots[&register]), ends);
    }

    /// A VGPR: its lanes have to count.
    fn register(&mut self, value: Value, register: usize) {
        if let Some(slot) = self.kept_slot(register) {
            let ends = self.chunk.r.fresh();
            self.asm().v1(op::VMOVDQA32, ends, Rm::Mem(Mem::At(SCALARS, slot)));
            return self.chunk.r.define(value, 0, ends);
        }
        let stride = self.stride(value).expect("it is part of an address that counts");
        let firsts = self.fresh_in_chunks();
        let is_known = self.is_begun() && id(register, stride).is_some();
        for (chunk, first) in (0..self.count).zip(firsts) {
            let lanes = self.lanes_of(register, chunk);
            match self.partial {
                true => self.check_active(chunk, first, lanes, stride),
                false if is_known => self.asm().v1(op::VPBROADCASTD, first, Rm::Mem(lanes)),
                false => self.check_all(first, lanes, stride),
            }
        }
        let result = firsts[0];
        self.unpack(firsts);
        self.take_chunks_with_lanes(result);
        if stride != 0 {
            let behind = (self.last() * stride) as u32;
            let distance = self.asm().constant(&padded([0, 0, 0, 0, behind, behind, behind, behind]));
            self.asm().v(op::VPADDD, result, result, Rm::Mem(distance));
        }
        self.chunk.r.define(value, 0, result);
    }

    /// Puts what there is for each chunk side by side, in the first register.
    pub(super) fn unpack(&mut self, [result, second, third, fourth]: [Zmm; 4]) {
        if self.count > 1 {
            self.asm().v(op::VPUNPCKLDQ, result, result, second);
        }
        // Where there is no third chunk, there is no register of it either.
        if self.count > 2 {
            self.asm().v(op::VPUNPCKLDQ, third, third, fourth);
            self.asm().v(op::VPUNPCKLQDQ, result, result, third);
        }
    }

    /// The lanes of a chunk of a VGPR.
    fn lanes_of(&mut self, register: usize, chunk: i32) -> Mem {
        match self.alike {
            Some(lots) => lots.lanes(self.asm(), row(register), chunk),
            None => Mem::At(WAVE, row(register) + CHUNK * chunk),
        }
    }

    /// Whether it is only for waves that have just begun, with work-item ids of which it is known how they count.
    fn is_begun(&self) -> bool {
        self.unit.superblock.is_some() && !self.partial
    }

    /// Gives up unless the wave has just begun, and ids count as they are thought to.
    pub(super) fn check_ids(&mut self) {
        let fused = self.fused;
        let known = fused.stages.iter().flat_map(|stage| &stage.ends).filter_map(|(value, _)| {
            let node = fused.block.node(*value);
            let register = (node.op == Op::Vgpr).then_some(node.imm as usize)?;
            id(register, self.stride(*value)?).map(|count| (register, count))
        });
        let is_unknown = self.is_begun() && self.alike.is_none();
        let known: Vec<(usize, u8)> = if is_unknown { known.collect() } else { Vec::new() };
        if known.is_empty() || forgets(Precaution::Ids) {
            return;
        }
        self.asm().load64(LOW, WAVE, offset_of!(Wave, executed) as i32);
        self.asm().test(true, LOW);
        self.fail_if(When::NotZero);
        for (register, count) in known {
            self.asm().compare8(WAVE, (offset_of!(Wave, ids) + register) as i32, count);
            self.fail_if(When::NotZero);
        }
    }

    /// All lanes of a chunk of a register are a stride apart. All of `first` becomes the first one.
    fn check_all(&mut self, first: Zmm, lanes: Mem, stride: i32) {
        let wrong = self.wrong();
        self.asm().v1(op::VPBROADCASTD, first, Rm::Mem(lanes));
        let mut expected = first;
        if stride != 0 {
            let counting = self.counting(stride);
            expected = self.chunk.r.fresh();
            self.asm().v(op::VPADDD, expected, first, Rm::Mem(counting));
            self.chunk.r.release(expected);
        }
        self.asm().vi(op::VPTERNLOGD, wrong, expected, Rm::Mem(lanes), OR_DIFFERENT);
    }

    /// The same of active lanes: the first one is where it would be if it counted with them.
    fn check_active(&mut self, chunk: i32, first: Zmm, lanes: Mem, stride: i32) {
        let (wrong, starts, active) = (self.wrong(), self.chunk.r.fresh(), self.active(chunk));
        self.asm().v1(op::VMOVDQA32, starts, Rm::Mem(lanes));
        if stride != 0 {
            let counting = self.counting(stride);
            self.asm().v(op::VPSUBD, starts, starts, Rm::Mem(counting));
        }
        self.asm().compress(first, active, starts);
        self.asm().v1(op::VPBROADCASTD, first, first);
        self.asm().merge_vi(op::VPTERNLOGD, wrong, active, first, starts, OR_DIFFERENT);
        self.chunk.r.release(starts);
        self.chunk.r.release_mask(active);
    }

    fn counting(&mut self, stride: i32) -> Mem {
        counting(self.asm(), stride)
    }

    /// In a part for any EXEC, chunks without active lanes are where one with some is. Dwords 0 to 3 are those of chunks.
    fn take_chunks_with_lanes(&mut self, firsts: Zmm) {
        if let Some(chunks) = self.chunks {
            self.asm().v(op::VPERMD, firsts, chunks, firsts);
        }
    }

    fn lane_numbers(&mut self, value: Value) {
        let (count, reach, last) = (self.count as u32, self.fused.reach as u32, self.last() as u32);
        let result = self.chunk.table(|i| i % count * reach % LANES as u32);
        self.take_chunks_with_lanes(result);
        let distance = self.asm().constant(&padded((0..8).map(|i| i / 4 * last)));
        self.asm().v(op::VPADDD, result, result, Rm::Mem(distance));
        self.chunk.r.define(value, 0, result);
    }

    fn wrong(&self) -> Zmm {
        self.wrong.expect("the part has strided accesses")
    }

    /// The chunks' last lanes where their first ones are; the dwords behind as they are.
    fn last_lanes(&mut self, value: Zmm) -> Zmm {
        let (order, result) = (self.chunk.table(|i| if i < 4 { i + 4 } else { i }), self.chunk.r.fresh());
        self.asm().v(op::VPERMD, result, order, value);
        result
    }

    /// From the first lane to the last one the integers go up, or down, as the stride says: there is no wrap. Of those that
    /// go up the largest ones are collected, which must not be near the end of their range.
    pub(super) fn check_order(&mut self, value: Value, signed: Signed) {
        let stride = self.stride(value).expect("it is part of an address that counts");
        let first = self.chunk.r.vector(value, 0);
        if stride > 0 {
            let known = self.largest.get(&signed).copied();
            let Largest { lanes, stride: steepest } = known.unwrap_or_else(|| Largest { lanes: self.zero(), stride });
            self.largest.insert(signed, Largest { lanes, stride: stride.max(steepest) });
            let row = if signed == Signed::Yes { op::VPMAXSD } else { op::VPMAXUD };
            return self.asm().v(row, lanes, lanes, first);
        }
        let last = self.last_lanes(first);
        let (wrong, farther) = (self.wrong(), self.chunk.r.fresh());
        let row = if signed == Signed::Yes { op::VPMINSD } else { op::VPMINUD };
        self.asm().v(row, farther, first, last);
        self.asm().vi(op::VPTERNLOGD, wrong, farther, last, OR_DIFFERENT);
    }

    /// The last lane is as far from the first one as the stride says.
    pub(super) fn check_ends(&mut self, value: Value) {
        let stride = self.stride(value).expect("it is part of an address that counts");
        let first = match self.fused.block.node(value).ty {
            Ty::B64 => {
                let quadwords = self.chunk.r.vector(value, 0);
                return self.check_stride(quadwords, stride);
            }
            Ty::B1 => {
                let (mask, signs) = (self.chunk.r.mask(value), self.chunk.r.fresh());
                self.asm().signs_of_mask(signs, mask);
                signs
            }
            _ => self.chunk.r.vector(value, 0),
        };
        let (wrong, last) = (self.wrong(), self.last_lanes(first));
        match stride {
            0 => self.asm().vi(op::VPTERNLOGD, wrong, last, first, OR_DIFFERENT),
            stride => {
                let beyond = self.last() * stride;
                let distance = self.asm().constant(&padded([beyond as u32; 4]));
                self.asm().v(op::VPSUBD, last, last, first);
                self.asm().vi(op::VPTERNLOGD, wrong, last, Rm::Mem(distance), OR_DIFFERENT);
            }
        }
    }

    /// A mask is true at both ends of all chunks.
    pub(super) fn check_true(&mut self, mask: Value) {
        if forgets(Precaution::Guard) {
            return;
        }
        let (wrong, mask, signs) = (self.wrong(), self.chunk.r.mask(mask), self.chunk.r.fresh());
        let ends = self.asm().constant(&padded([u32::MAX; 8]));
        self.asm().signs_of_mask(signs, mask);
        self.asm().vi(op::VPTERNLOGD, wrong, signs, Rm::Mem(ends), OR_MISSING);
    }

    /// Checks of accesses whose lanes are a stride apart in each chunk that both ends are in the allocation; keeps where
    /// the chunks' first lanes are.
    pub(super) fn check_strided(&mut self, group: &Group, address: &Address) {
        let first = group.accesses[0];
        self.check_site(first);
        let distances = self.distances(first, address, group.bytes.start);
        self.check_inside(distances, group.bytes.end - group.bytes.start);
        let places = self.chunk.r.layout_mut().spill(CHUNK);
        let start = Mem::At(SITE, self.at(first) + Site::START as i32);
        self.asm().v(op::VPADDQ, distances, distances, Rm::Broadcast(start));
        self.asm().store(Mem::At(SCALARS, places), distances);
        self.places.extend(group.accesses.iter().map(|access| (*access, places)));
    }

    /// How far into the allocation lanes are at the ends of chunks, as quadwords: so many bytes from their addresses on.
    fn distances(&mut self, number: usize, address: &Address, first: i32) -> Zmm {
        let origin = &self.fused.accesses[number].origin;
        let bases: Vec<Mem> = address.bases.iter().map(|base| self.base(*base)).collect();
        let (sum, start) = (self.chunk.r.fresh(), self.at(number) + Site::START as i32);
        self.asm().mov_imm(LOW, first);
        if let Origin::Sgprs(base) = *origin {
            self.asm().alu(Alu::Add, true, LOW, Mem::At(WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32));
        }
        if !matches!(origin, Origin::Lds { .. }) {
            self.asm().sub_mem(LOW, SITE, start);
        }
        bases.into_iter().for_each(|base| self.asm().alu(Alu::Add, true, LOW, base));
        self.asm().broadcast64(sum, LOW);
        for term in &address.terms {
            let extended = self.extended(term);
            self.asm().v(op::VPADDQ, sum, sum, extended);
            self.chunk.r.release(extended);
        }
        sum
    }

    /// A base, whose halves are put together for the first access that wants it.
    fn base(&mut self, base: (Value, Option<Value>)) -> Mem {
        if let Some(known) = self.bases.get(&base) {
            return Mem::At(SCALARS, *known);
        }
        let (low, at) = (self.chunk.r.scalar(base.0), self.chunk.r.layout_mut().spill(8));
        self.asm().load(false, PLACE, low);
        if let Some(upper) = base.1 {
            let upper = self.chunk.r.scalar(upper);
            self.asm().load(false, LOW, upper);
            self.asm().shift_left(LOW, 32);
            self.asm().or_register(PLACE, LOW);
        }
        self.asm().store64(SCALARS, at, PLACE);
        self.bases.insert(base, at);
        Mem::At(SCALARS, at)
    }

    /// A term of an address at the ends of chunks, as quadwords.
    fn extended(&mut self, term: &Term) -> Zmm {
        let (low, result) = (self.chunk.r.vector(term.low, 0), self.chunk.r.fresh());
        match term.upper {
            Upper::Zero => self.asm().v1(op::VPMOVZXDQ, result, low),
            Upper::Sign => self.asm().v1(op::VPMOVSXDQ, result, low),
            Upper::Half(upper) => {
                let upper = self.chunk.r.vector(upper, 0);
                let order = self.chunk.table(|i| i / 2 + i % 2 * 16);
                self.asm().v1(op::VMOVDQA32, result, low);
                self.asm().v(op::VPERMT2D, result, order, upper);
                self.chunk.r.release(order);
            }
        }
        if term.scale.is_power_of_two() {
            if term.scale > 1 {
                self.asm().shift(ShiftBy::left(true), result, result, term.scale.trailing_zeros() as u8);
            }
        } else {
            let factor = self.asm().constant(&u64::from(term.scale).to_le_bytes());
            self.asm().v(op::VPMULUDQ, result, result, Rm::Broadcast(factor));
        }
        result
    }

    /// The lanes at the ends of chunks are in the allocation.
    fn check_inside(&mut self, distances: Zmm, extent: i32) {
        let (wrong, limit, farthest) = (self.wrong_pairs(), self.chunk.r.fresh(), self.chunk.r.fresh());
        self.asm().sub(SIZE, extent);
        self.fail_if(When::Below);
        self.asm().broadcast64(limit, SIZE);
        self.asm().v(op::VPMAXUQ, farthest, distances, limit);
        self.asm().vi(op::VPTERNLOGD, wrong, farthest, limit, OR_DIFFERENT);
    }

    /// The last lane of a chunk is as far from the first one as the stride says, which its halves say modulo 2^32 only.
    fn check_stride(&mut self, distances: Zmm, stride: i32) {
        let order = self.chunk.table(|i| if i < 8 { (i / 2 % 4 + 4) * (1 - i % 2) } else { i / 2 * (1 - i % 2) });
        let (wrong, last, beyond) = (self.wrong_pairs(), self.chunk.r.fresh(), i64::from(self.last() * stride));
        let expected: Vec<u8> = (0..8).flat_map(|i| (if i < 4 { beyond } else { 0 }).to_le_bytes()).collect();
        let expected = self.asm().constant(&expected);
        self.asm().v(op::VPERMQ, last, order, distances);
        self.asm().v(op::VPSUBQ, last, last, distances);
        self.asm().vi(op::VPTERNLOGD, wrong, last, Rm::Mem(expected), OR_DIFFERENT);
    }

    /// Where quadwords are collected that are not as they should be: with others, unless it matters of which lots they are.
    fn wrong_pairs(&self) -> Zmm {
        self.wrong_pairs.unwrap_or_else(|| self.wrong())
    }

    /// Gives up if something has been found.
    pub(super) fn fail_if_wrong(&mut self) {
        let bad = self.find_wrong();
        self.asm().k_test(bad);
        self.fail_if(When::NotZero);
    }

    /// The dwords that are not as they should be.
    pub(super) fn find_wrong(&mut self) -> K {
        let (wrong, [bad, large]) = (self.wrong(), [0; 2].map(|_| self.chunk.r.fresh_mask()));
        self.asm().non_zero(bad, wrong);
        for (signed, row, most) in [(Signed::Yes, op::VPCMPD, i32::MAX as u32), (Signed::No, op::VPCMPUD, u32::MAX)] {
            let Some(Largest { lanes, stride }) = self.largest.get(&signed).copied() else { continue };
            // There are last lanes among them too: how far these are from the first ones is taken away twice.
            let beyond = self.last() * stride;
            let limit = self.asm().constant(&(most - 2 * beyond as u32).to_le_bytes());
            self.asm().compare(row, large, lanes, Rm::Broadcast(limit), GREATER);
            self.asm().k(MaskOp::Or, bad, bad, large);
        }
        bad
    }

    /// Goes to where a chunk of an access is that has been checked. Its chunks are gone to one after the other.
    pub(super) fn go_to(&mut self, places: i32, chunk: i32, stride: i32) {
        match self.alike {
            Some(lots) => lots.go_to(self.asm(), places, chunk, stride),
            None => self.asm().load64(PLACE, SCALARS, places + 8 * chunk),
        }
    }

    /// Loads what a strided access has been checked for.
    pub(super) fn load_strided(&mut self, number: usize, counting: &Counting) {
        if self.fused.accesses[number].access.store {
            return;
        }
        let (places, stride) = (self.places[&number], counting.stride);
        let behind = if forgets(Precaution::Group) { 0 } else { counting.behind };
        let mut lanes = Lanes::new(self, number, Vec::new());
        for chunk in 0..lanes.part.count {
            lanes.part.go_to(places, chunk, stride);
            lanes.load_strided(chunk, stride, behind);
        }
        lanes.define();
    }
}

/// How far ahead of what is loaded lines are asked for: some waves. Where the hardware sees few streams, that is 1.1 to 1.3
/// times as fast; where there are many, or they overlap, asking costs more than it gains.
const AHEAD: i32 = 1024;
/// Bytes of a dword.
const DWORD: i32 = 4;
/// Most streams of a part that asks.
pub(super) const STREAMS: usize = 2;

impl Lanes<'_, '_> {
    /// Loads a chunk that is so many bytes behind `PLACE`.
    fn load_strided(&mut self, chunk: i32, stride: i32, behind: i32) {
        if stride == self.access.lane_bytes() {
            // Of bytes and words, several chunks are in one line.
            let begins_line = CHUNK / 4 * stride * chunk % CHUNK == 0;
            if self.part.is_ahead && begins_line && self.part.fused.accesses[self.number].is_stream() {
                let lines = 0..self.access.dwords as i32;
                lines.for_each(|line| self.asm().prefetch(PLACE, behind + AHEAD + CHUNK * line));
            }
            return self.load_run(chunk, PLACE, behind);
        }
        if stride == 0 {
            return self.broadcast(chunk, behind);
        }
        if stride == DWORD && self.access.small.is_none() {
            return self.load_windows(chunk, behind);
        }
        let (index, places) = (self.first, self.part.counting(stride));
        self.asm().v1(op::VMOVDQA32, index, Rm::Mem(places));
        self.gather(chunk as usize, PLACE, index, behind, None);
    }

    /// Loads several dwords a lane for lanes that are one apart: each dword of theirs is side by side.
    fn load_windows(&mut self, chunk: i32, behind: i32) {
        for k in 0..self.access.dwords {
            let (to, from) = (self.loaded[k][chunk as usize], Mem::At(PLACE, behind + self.access.place_of(k)));
            self.asm().v1(op::VMOVDQU32, to, Rm::Mem(from));
        }
    }
}
