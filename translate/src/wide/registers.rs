//! Where values are while a chunk is worked on: in vector and mask registers, or in memory.
//!
//! A segment is straight-line code whose future is known, so the value whose next use is furthest away makes room. One
//! that is in memory anyway (a scalar, a VGPR, a slot) is forgotten, others are stored behind the segment's scalars.
//! A value of 64 bits takes two registers, lanes 0 to 7 and 8 to 15 of the chunk.
//!
//! Code is for the chunk of a loop, whose base registers advance ([`Work::Loop`]), for all chunks written out, each with
//! values of its own ([`Work::Chunk`]), or for the one chunk of a compacted wave, whose masks have bits for all lanes
//! ([`Work::Compacted`]).

use super::asm::{Asm, Gpr, K, Mem, Rm, Zmm, op};
use super::bank::Bank;
use super::schedule::Lives;
use super::{Layout, row_of_slot};
use crate::lane::{Op, Shape, Ty, Value};
use crate::pass::demand::Demand;
use gcnjit_rt::{Row, Wave};
use rustc_hash::FxHashMap as HashMap;
use std::mem::{offset_of, size_of};

/// A register's worth of a value: the value, which half of it, and for which chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    value: Value,
    half: u8,
    chunk: u8,
}

/// Instead of a chunk: dwords 0 to 3 are the first lanes of the four chunks, 4 to 7 their last ones. There is nothing of
/// this in memory, and any value in the dwords behind.
pub const ENDS: i32 = 4;

/// What instructions are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The chunk that the loop is at.
    Loop,
    /// This one of the chunks that are written out, or their ends ([`ENDS`]).
    Chunk(i32),
    /// The first chunk, where the lanes of a compacted wave are ([`Wave::compacted`]).
    Compacted,
}

impl Work {
    /// The chunk; in a loop all are the same one.
    pub fn chunk(self) -> i32 {
        match self {
            Work::Loop | Work::Compacted => 0,
            Work::Chunk(chunk) => chunk,
        }
    }

    /// An address in this chunk: `walking` is the register that a loop advances by so many bytes, and starts from `base`.
    fn at(self, walking: Gpr, base: Gpr, bytes: i32, offset: i32) -> Mem {
        match self {
            Work::Loop => Mem::At(walking, offset),
            _ => Mem::At(base, offset + bytes * self.chunk()),
        }
    }
}

/// Register assignment while a version of a segment is emitted.
pub struct Registers<'a> {
    /// Where instructions go.
    pub asm: &'a mut Asm,
    /// The segment.
    pub demand: Demand<'a>,
    /// The mask that is all ones.
    pub full: Option<Value>,
    /// When values are used.
    pub lives: &'a Lives,
    /// The event that is being emitted.
    now: usize,
    /// What it is for.
    pub work: Work,
    layout: &'a mut Layout,
    vectors: Bank<Part, 32>,
    masks: Bank<Part, 8>,
    stored: HashMap<Part, i32>,
    /// Where rare calls have their room.
    rare_room: Option<i32>,
    /// The lanes that floats are computed in, if others do not matter; and if there are wide ones, those of the upper half
    /// of a chunk too.
    float_lanes: [Option<K>; 2],
}

/// Where a part is in memory.
#[derive(Clone, Copy)]
enum Home {
    /// All lanes.
    Lanes(Mem),
    /// One value for all.
    One(Mem),
}

impl<'a> Registers<'a> {
    /// All registers free.
    pub fn new(
        asm: &'a mut Asm,
        demand: Demand<'a>,
        full: Option<Value>,
        lives: &'a Lives,
        layout: &'a mut Layout,
        work: Work,
    ) -> Self {
        Registers {
            asm,
            demand,
            full,
            lives,
            now: 0,
            work,
            layout,
            vectors: Bank::new(0),
            // K0 can't mask an operation.
            masks: Bank::new(1),
            stored: HashMap::default(),
            rare_room: None,
            float_lanes: [None; 2],
        }
    }

    /// Whether the value is the same in all lanes.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.demand.node(value).shape == Shape::Uniform
    }

    fn is_wide(&self, value: Value) -> bool {
        self.demand.node(value).ty == Ty::B64
    }

    fn part(&self, value: Value, half: usize) -> Part {
        let (half, chunk) = if self.is_uniform(value) { (0, 0) } else { (half as u8, self.work.chunk() as u8) };
        Part { value, half, chunk }
    }

    fn last_use(&self, part: Part) -> usize {
        self.lives.last_use(&self.demand, part.value, part.chunk.into()).unwrap_or(0)
    }

    fn next_use(&self, part: Part, last: usize) -> Option<usize> {
        (last >= self.now).then(|| self.lives.next_use(&self.demand, part.value, part.chunk.into(), self.now))?
    }

    fn used_later(&self, part: Part) -> bool {
        self.last_use(part) > self.now
    }

    /// Whether no later event uses the value, so that its register may be overwritten.
    pub fn is_last_use(&self, value: Value) -> bool {
        !self.used_later(self.part(value, 0))
    }

    /// Begins the next event, of a chunk.
    pub fn begin(&mut self, chunk: i32) {
        if matches!(self.work, Work::Chunk(_)) {
            self.work = Work::Chunk(chunk);
        }
    }

    /// Ends an event: registers of dead values and of temporaries are free.
    pub fn next(&mut self) {
        self.vectors.next(self.now);
        self.masks.next(self.now);
        self.now += 1;
    }

    /// Frees registers of values that are not used after this event. What is there can still be read by the
    /// instruction that comes next, and be overwritten by it.
    pub fn retire(&mut self) {
        self.vectors.retire(self.now);
        self.masks.retire(self.now);
    }

    /// A register to write to until the end of the event.
    pub fn fresh(&mut self) -> Zmm {
        let register = self.vectors.free().unwrap_or_else(|| self.evict());
        self.vectors.pin(register);
        Zmm(register as u8)
    }

    /// A register to have for good, while all are free.
    pub fn reserve(&mut self) -> Zmm {
        let register = self.fresh();
        self.vectors.reserve(register.0.into());
        register
    }

    fn evict(&mut self) -> usize {
        let latest = self.vectors.unpinned().max_by_key(|(_, part, last)| self.next_use(*part, *last));
        let (register, part, _) = latest.expect("an event needs less than 32 registers");
        self.vectors.forget(register);
        if self.home(part).is_none() {
            let to = self.layout.spill(64);
            self.asm.store(Mem::At(Gpr::Rdx, to), Zmm(register as u8));
            self.stored.insert(part, to);
        }
        register
    }

    /// The register holds this half of the value from now on.
    pub fn define(&mut self, value: Value, half: usize, register: Zmm) {
        self.hold(self.part(value, half), register);
    }

    fn hold(&mut self, part: Part, register: Zmm) {
        self.vectors.hold(register.0.into(), part, self.last_use(part));
    }

    fn home(&mut self, part: Part) -> Option<Home> {
        let (value, half) = (part.value, part.half);
        if let Some(at) = self.stored.get(&part) {
            return Some(Home::Lanes(Mem::At(Gpr::Rdx, *at)));
        }
        let node = self.demand.node(value);
        if node.shape == Shape::Uniform {
            return Some(Home::One(self.scalar(value)));
        }
        if i32::from(part.chunk) == ENDS {
            return None;
        }
        if self.demand.is_loaded(value) {
            let row = row_of_slot(self.demand.plan, value);
            let mem = if self.is_wide(value) { self.quadwords(row + 64 * half as i32) } else { self.dwords(row) };
            return Some(Home::Lanes(mem));
        }
        if self.lives.is_computed(&self.demand, value) {
            return None;
        }
        match node.op {
            Op::Vgpr => Some(Home::Lanes(self.vgpr(node.imm & 0xff))),
            Op::GroupId => Some(Home::One(Mem::At(Gpr::Rdx, Layout::GROUP_ID))),
            Op::LaneId if self.work != Work::Compacted => Some(Home::Lanes(self.lane_numbers())),
            _ => None,
        }
    }

    /// Where a uniform value is in memory.
    pub fn scalar(&mut self, value: Value) -> Mem {
        match self.demand.block.as_const(value) {
            Some(bits) => self.asm.constant(&bits.to_le_bytes()),
            None => Mem::At(Gpr::Rdx, self.layout.scalar(value)),
        }
    }

    /// The register of a half of a value.
    pub fn vector(&mut self, value: Value, half: usize) -> Zmm {
        let part = self.part(value, half);
        if let Some(known) = self.vectors.holder(part) {
            self.vectors.pin(known);
            return Zmm(known as u8);
        }
        let home = self.home(part).expect("a value is computed before it is used");
        self.fetch(part, home)
    }

    /// Loads a part from where it is in memory.
    fn fetch(&mut self, part: Part, home: Home) -> Zmm {
        let register = self.fresh();
        self.load_home(home, register, self.is_wide(part.value));
        self.hold(part, register);
        register
    }

    /// Takes back a register that [`Registers::fresh`] gave, before the event ends.
    pub fn release(&mut self, register: Zmm) {
        self.vectors.release(register.0.into());
    }

    /// The same for one that [`Registers::fresh_mask`] gave.
    pub fn release_mask(&mut self, register: K) {
        self.masks.release(register.0.into());
    }

    /// The room of rare calls, of which there is one at a time.
    pub fn rare_room(&mut self, bytes: i32) -> i32 {
        *self.rare_room.get_or_insert_with(|| self.layout.room(bytes))
    }

    /// Where things are in memory.
    pub fn layout(&self) -> &Layout {
        self.layout
    }

    /// See [`Registers::layout`].
    pub fn layout_mut(&mut self) -> &mut Layout {
        self.layout
    }

    /// A copy of a half of a value, to be overwritten.
    pub fn copy(&mut self, value: Value, half: usize) -> Zmm {
        let source = self.operand(value, half);
        let register = self.fresh();
        self.load(register, source, self.is_wide(value));
        register
    }

    /// A half of a value as an instruction's last operand: memory, if it is there and not needed again.
    pub fn operand(&mut self, value: Value, half: usize) -> Rm {
        let part = self.part(value, half);
        if let Some(known) = self.vectors.holder(part) {
            self.vectors.pin(known);
            return Zmm(known as u8).into();
        }
        match self.home(part).expect("a value is computed before it is used") {
            Home::One(mem) => Rm::Broadcast(mem),
            Home::Lanes(mem) if !self.used_later(part) => Rm::Mem(mem),
            home => self.fetch(part, home).into(),
        }
    }

    fn load_home(&mut self, home: Home, to: Zmm, wide: bool) {
        let source = match home {
            Home::Lanes(mem) => Rm::Mem(mem),
            Home::One(mem) => Rm::Broadcast(mem),
        };
        self.load(to, source, wide);
    }

    /// Copies an operand to a register.
    pub fn load(&mut self, to: Zmm, from: Rm, wide: bool) {
        match from {
            Rm::Broadcast(mem) if wide => self.asm.v1(op::VPBROADCASTQ, to, Rm::Mem(mem)),
            Rm::Broadcast(mem) => self.asm.v1(op::VPBROADCASTD, to, Rm::Mem(mem)),
            _ => self.asm.v1(op::VMOVDQA32, to, from),
        }
    }

    /// A mask register to write to until the end of the event.
    pub fn fresh_mask(&mut self) -> K {
        let register = self.masks.free().unwrap_or_else(|| self.evict_mask());
        self.masks.pin(register);
        K(register as u8)
    }

    /// Has floats computed in some lanes only, `wide` ones among them, which are to be loaded for each chunk. Others may
    /// hold denormals, such as small integers, which would take the host a hundred times as long.
    pub fn reserve_float_lanes(&mut self, wide: bool) {
        for lanes in 0..if wide { 2 } else { 1 } {
            let register = self.fresh_mask();
            self.masks.reserve(register.0.into());
            self.float_lanes[lanes] = Some(register);
        }
    }

    /// Loads those of this chunk: active ones by `exec`, a mask among the scalars.
    pub fn load_float_lanes(&mut self, exec: Value) {
        if let [Some(lanes), _] = self.float_lanes {
            self.load_bits(lanes, self.layout.scalar(exec));
            self.find_upper_float_lanes();
        }
    }

    /// The same from memory.
    pub fn load_float_lanes_from(&mut self, bits: Mem) {
        if let [Some(lanes), _] = self.float_lanes {
            self.asm.k_load(lanes, bits);
            self.find_upper_float_lanes();
        }
    }

    fn find_upper_float_lanes(&mut self) {
        if let [Some(lanes), Some(upper)] = self.float_lanes {
            self.asm.k_upper(upper, lanes);
        }
    }

    /// The lanes of a half that floats are computed in, if it is not in all.
    pub fn float_lanes(&self, half: usize) -> Option<K> {
        // The ends of chunks are all wanted.
        self.float_lanes[half].filter(|_| self.work.chunk() != ENDS)
    }

    fn evict_mask(&mut self) -> usize {
        let latest = self.masks.unpinned().max_by_key(|(_, part, last)| self.next_use(*part, *last));
        let (register, part, _) = latest.expect("an event needs less than 7 masks");
        self.masks.forget(register);
        let in_memory = self.stored.contains_key(&part) || !self.lives.is_computed(&self.demand, part.value);
        if !in_memory {
            let to = self.layout.spill(2);
            self.asm.k_store(Mem::At(Gpr::Rdx, to), K(register as u8));
            self.stored.insert(part, to);
        }
        register
    }

    /// The register holds the B1 value from now on.
    pub fn define_mask(&mut self, value: Value, register: K) {
        let part = self.part(value, 0);
        self.masks.hold(register.0.into(), part, self.last_use(part));
    }

    /// The register of a B1 value.
    pub fn mask(&mut self, value: Value) -> K {
        if let Some(known) = self.masks.holder(self.part(value, 0)) {
            self.masks.pin(known);
            return K(known as u8);
        }
        let register = self.fresh_mask();
        self.load_mask(value, register);
        self.define_mask(value, register);
        register
    }

    fn load_mask(&mut self, value: Value, to: K) {
        let node = *self.demand.node(value);
        if let Some(at) = self.stored.get(&self.part(value, 0)) {
            self.asm.k_load(to, Mem::At(Gpr::Rdx, *at));
        } else if self.demand.is_loaded(value) {
            let signs = self.fresh();
            let slot = self.dwords(row_of_slot(self.demand.plan, value));
            self.asm.v1(op::VMOVDQA32, signs, Rm::Mem(slot));
            self.asm.mask_of_signs(to, signs);
        } else if self.full.is_some() && self.demand.is_spread_of(value, self.full) {
            self.constant_mask(to, true);
        } else if let Some(bits) = self.demand.block.as_const(value) {
            self.constant_mask(to, bits != 0);
        } else if node.shape == Shape::Uniform {
            self.asm.k_load(to, Mem::At(Gpr::Rdx, self.layout.scalar(value)));
        } else {
            debug_assert_eq!(node.op, Op::Spread, "a value is computed before it is used");
            self.load_bits(to, self.layout.scalar(node.args[0]));
        }
    }

    /// Loads this chunk of a mask among the scalars.
    fn load_bits(&mut self, to: K, offset: i32) {
        if self.work == Work::Compacted {
            self.asm.load64(Gpr::Rax, Gpr::Rdx, offset);
            self.asm.pick_bits(Gpr::Rax, Gpr::Rdi, COMPACTED);
            self.asm.k_write(to, Gpr::Rax);
        } else {
            let bits = self.mask_bits(offset);
            self.asm.k_load(to, bits);
        }
    }

    /// This chunk of the bits of the segment's mask `index`.
    pub fn bits(&self, index: usize) -> Mem {
        self.mask_bits(self.layout.bits(index))
    }

    /// This chunk of a VGPR.
    pub fn vgpr(&self, register: u64) -> Mem {
        self.work.at(Gpr::Rdi, Gpr::Rdi, 64, row(register as usize))
    }

    /// This chunk of a row of the frame.
    pub fn dwords(&self, row: i32) -> Mem {
        self.work.at(Gpr::Rsi, Gpr::Rsi, 64, row)
    }

    /// This chunk of a row of 64-bit values of the frame.
    pub fn quadwords(&self, row: i32) -> Mem {
        self.work.at(Gpr::Rcx, Gpr::Rsi, 128, row)
    }

    /// This chunk of a mask among the scalars.
    fn mask_bits(&self, offset: i32) -> Mem {
        self.work.at(Gpr::R8, Gpr::Rdx, 2, offset)
    }

    /// The numbers of this chunk's lanes.
    fn lane_numbers(&mut self) -> Mem {
        match self.work {
            Work::Loop => Mem::At(Gpr::R9, 0),
            work => self.asm.lane_numbers().further(64 * work.chunk()),
        }
    }

    fn constant_mask(&mut self, to: K, ones: bool) {
        let bits = if ones { u16::MAX } else { 0 };
        let mem = self.asm.constant(&bits.to_le_bytes());
        self.asm.k_load(to, mem);
    }
}

/// Where a wave says which lanes it has, if it is compacted.
pub const COMPACTED: i32 = offset_of!(Wave, compacted) as i32;

/// The byte offset of a VGPR in the wave.
pub fn row(register: usize) -> i32 {
    (offset_of!(Wave, vgpr) + register * size_of::<Row>()) as i32
}
