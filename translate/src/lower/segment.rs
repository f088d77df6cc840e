//! A segment: a loop over chunks of lanes, made once for EXEC all ones and once under masks.

use super::Lower;
use super::vector::Lanes;
use crate::lane::{Node, Shape, Ty, Value};
use crate::pass::segment::Segment;
use crate::wide;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::{LANES, Row, Wave};
use rustc_hash::FxHashMap as HashMap;
use std::mem::{offset_of, size_of};

/// What is known of EXEC in a version of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// All lanes are active: the mask is true.
    Full,
    /// Any lanes may be.
    Masked,
}

/// A version of a segment while it is built.
pub(super) struct Body {
    /// Which.
    pub version: Version,
    /// The step.
    pub rank: usize,
    /// The mask value that `Full` takes for true.
    pub exec: Option<Value>,
    /// Lane values of this iteration.
    pub lanes: Vec<Option<Lanes>>,
    /// Uniform values as vectors, made before the loop.
    pub splats: HashMap<Value, ir::Value>,
    /// Byte offset of the chunk in a row of dwords.
    pub offset: ir::Value,
    /// `wave + offset`, and `frame + offset`.
    pub wave: ir::Value,
    /// See `wave`.
    pub frame: ir::Value,
    /// The chunk's part of a mask, from bit 0, by mask value.
    pub nibbles: HashMap<Value, ir::Value>,
}

impl Lower<'_, '_> {
    /// Emits the segment; afterwards its bits are uniform values.
    pub(super) fn segment(&mut self, rank: usize, segment: &Segment) {
        self.counts.segments += 1;
        match self.wide {
            Some(code) => self.call_segment(code, rank, segment),
            None => self.inline_segment(rank, segment),
        }
    }

    /// Calls the wider back end's code.
    fn call_segment(&mut self, code: &wide::Code, rank: usize, segment: &Segment) {
        let entry = code.entry(self.index, rank);
        self.counts.versions += entry.versions;
        self.give_scalars(&entry.layout);
        if let Some(fenv) = segment.fenv {
            self.set_fenv(fenv);
        }
        self.call_address(code.address(entry), &[self.wave, self.frame], None);
        self.take_bits(&entry.layout, segment.bits.iter().copied());
    }

    /// Writes the uniform values that code of the wider back end reads.
    pub(super) fn give_scalars(&mut self, layout: &wide::Layout) {
        for (value, at) in layout.scalars() {
            let scalar = self.extended(value);
            self.fb.ins().store(MemFlagsData::trusted(), scalar, self.frame, at);
        }
    }

    /// Reads the bits of masks that such code has left.
    pub(super) fn take_bits(&mut self, layout: &wide::Layout, bits: impl Iterator<Item = Value>) {
        for (i, value) in bits.enumerate() {
            let bits = self.fb.ins().load(I64, MemFlagsData::trusted(), self.frame, layout.bits(i));
            self.uniform[value.index()] = Some(bits);
        }
    }

    /// Emits loops of 128-bit vectors.
    fn inline_segment(&mut self, rank: usize, segment: &Segment) {
        if let Some(fenv) = segment.fenv {
            self.set_fenv(fenv);
        }
        let exec = self.demand(rank).exec(&self.demand(rank).needed(None));
        self.compute_scalars(rank);
        let join = self.fb.create_block();
        let results: Vec<ir::Value> = segment.bits.iter().map(|_| self.fb.append_block_param(join, I64)).collect();
        match exec.map(|exec| (exec, self.uniform(exec))) {
            None => self.version(rank, segment, None, Version::Masked, join),
            Some((exec, mask)) => {
                let (full, masked) = (self.fb.create_block(), self.fb.create_block());
                let all = self.fb.ins().icmp_imm_s(IntCC::Equal, mask, -1);
                self.fb.ins().brif(all, full, &[], masked, &[]);
                self.fb.switch_to_block(full);
                self.version(rank, segment, Some(exec), Version::Full, join);
                self.fb.switch_to_block(masked);
                self.version(rank, segment, Some(exec), Version::Masked, join);
            }
        }
        self.fb.switch_to_block(join);
        for (value, result) in segment.bits.iter().zip(results) {
            self.uniform[value.index()] = Some(result);
        }
    }

    /// Computes every scalar that the loop uses, before the versions part.
    pub(super) fn compute_scalars(&mut self, rank: usize) {
        for value in self.demand(rank).needed(None) {
            if self.block.node(value).shape == Shape::Uniform {
                self.uniform(value);
            }
        }
    }

    fn version(&mut self, rank: usize, segment: &Segment, exec: Option<Value>, version: Version, join: ir::Block) {
        self.counts.versions += 1;
        let full = if version == Version::Full { exec } else { None };
        let needed = self.demand(rank).needed(full);
        let splats = self.splats(&needed);
        let zero = self.fb.ins().iconst(I64, 0);
        let (body_block, next) = (self.fb.create_block(), self.fb.create_block());
        let offset = self.fb.append_block_param(body_block, I64);
        let carried: Vec<ir::Value> =
            segment.bits.iter().map(|_| self.fb.append_block_param(body_block, I64)).collect();
        let found: Vec<ir::Value> = segment.bits.iter().map(|_| self.fb.append_block_param(next, I64)).collect();
        let initial: Vec<ir::BlockArg> = vec![zero; 1 + carried.len()].into_iter().map(Into::into).collect();
        self.fb.ins().jump(body_block, &initial);
        self.fb.switch_to_block(body_block);
        let wave = self.fb.ins().iadd(self.wave, offset);
        let frame = self.fb.ins().iadd(self.frame, offset);
        let lanes = vec![None; self.block.nodes.len()];
        let mut body = Body { version, rank, exec, lanes, splats, offset, wave, frame, nibbles: HashMap::default() };
        if version == Version::Masked && self.demand(rank).is_idle_without(exec) {
            self.skip_idle_chunk(&mut body, exec.expect("only masked work is idle"), next, &carried);
        }
        for value in needed {
            if self.block.node(value).shape == Shape::Lane {
                self.locate(Some(self.block.origin(value)));
                let lanes = self.lane_value(&mut body, value, full);
                body.lanes[value.index()] = Some(lanes);
            }
        }
        let bits = self.commit(&mut body, segment, full, &carried);
        let bits: Vec<ir::BlockArg> = bits.into_iter().map(Into::into).collect();
        self.fb.ins().jump(next, &bits);
        self.fb.switch_to_block(next);
        self.close_loop(offset, &found, body_block, join);
    }

    fn close_loop(&mut self, offset: ir::Value, found: &[ir::Value], body: ir::Block, join: ir::Block) {
        let stride = self.shaping.vectors as i64 * 16;
        let turned: Vec<ir::Value> =
            found.iter().map(|bits| self.fb.ins().rotr_imm_u(*bits, self.shaping.vectors as i64 * 4)).collect();
        let found = turned.as_slice();
        let advanced = self.fb.ins().iadd_imm_s(offset, stride);
        let more = self.fb.ins().icmp_imm_s(IntCC::UnsignedLessThan, advanced, size_of::<Row>() as i64);
        let again: Vec<ir::BlockArg> = std::iter::once(advanced).chain(found.iter().copied()).map(Into::into).collect();
        let done: Vec<ir::BlockArg> = found.iter().copied().map(Into::into).collect();
        self.fb.ins().brif(more, body, &again, join, &done);
    }

    fn skip_idle_chunk(&mut self, body: &mut Body, exec: Value, next: ir::Block, carried: &[ir::Value]) {
        let nibble = self.nibble(body, exec);
        let lanes = self.shaping.vectors as u32 * 4;
        let mask = if lanes >= 64 { -1 } else { (1i64 << lanes) - 1 };
        let active = self.fb.ins().band_imm_s(nibble, mask);
        let busy = self.fb.create_block();
        let carried: Vec<ir::BlockArg> = carried.iter().copied().map(Into::into).collect();
        self.fb.ins().brif(active, busy, &[], next, &carried);
        self.fb.switch_to_block(busy);
    }

    /// The mask shifted so that the chunk's lanes start at bit 0.
    pub(super) fn nibble(&mut self, body: &mut Body, mask: Value) -> ir::Value {
        if let Some(known) = body.nibbles.get(&mask) {
            return *known;
        }
        let bits = self.uniform[mask.index()].expect("masks are computed before the loop");
        let lane = self.fb.ins().ushr_imm_u(body.offset, 2);
        let shifted = self.fb.ins().ushr(bits, lane);
        body.nibbles.insert(mask, shifted);
        shifted
    }

    fn splats(&mut self, needed: &[Value]) -> HashMap<Value, ir::Value> {
        let used: Vec<Value> =
            needed.iter().copied().filter(|value| self.block.node(*value).shape == Shape::Uniform).collect();
        used.into_iter().map(|value| (value, self.splat(value))).collect()
    }

    fn splat(&mut self, value: Value) -> ir::Value {
        let scalar = self.uniform[value.index()].expect("scalars are computed before the loop");
        match self.block.node(value).ty {
            Ty::B64 => self.fb.ins().splat(ir::types::I64X2, scalar),
            Ty::B1 => {
                let wide = self.fb.ins().uextend(ir::types::I32, scalar);
                let ones = self.fb.ins().ineg(wide);
                self.fb.ins().splat(I32X4, ones)
            }
            _ => self.fb.ins().splat(I32X4, scalar),
        }
    }

    /// Writes registers and slots, collects bits.
    fn commit(
        &mut self,
        body: &mut Body,
        segment: &Segment,
        full: Option<Value>,
        carried: &[ir::Value],
    ) -> Vec<ir::Value> {
        for set in &segment.sets {
            self.locate(Some(self.block.origin(*set)));
            let node = *self.block.node(*set);
            let value = self.lanes_of(body, self.demand(body.rank).resolved(node.args[0], full), Ty::B32);
            let row = offset_of!(Wave, vgpr) + node.imm as usize * size_of::<Row>();
            self.store_row(&value, body.wave, row);
        }
        for spill in &segment.spills {
            let ty = self.block.node(*spill).ty;
            let value = self.lanes_of(body, self.demand(body.rank).resolved(*spill, full), ty);
            self.store_slot(body, *spill, &value);
        }
        let mut result = Vec::new();
        for (root, carried) in segment.bits.iter().zip(carried) {
            let node: Node = *self.block.node(*root);
            let mask = self.lanes_of(body, self.demand(body.rank).resolved(node.args[0], full), Ty::B1);
            result.push(self.collect_bits(&mask, *carried));
        }
        result
    }

    fn store_slot(&mut self, body: &Body, value: Value, lanes: &Lanes) {
        let row = self.plan.slot(value) * size_of::<Row>();
        if self.block.node(value).ty == Ty::B64 {
            // A slot of 64-bit values is linear: lane i at 8 * i, so the chunk is twice as far in.
            let base = self.fb.ins().iadd(body.frame, body.offset);
            self.store_row(lanes, base, row);
        } else {
            self.store_row(lanes, body.frame, row);
        }
    }

    fn store_row(&mut self, lanes: &Lanes, base: ir::Value, row: usize) {
        for (i, vector) in lanes.iter().enumerate() {
            self.fb.ins().store(MemFlagsData::trusted(), *vector, base, (row + 16 * i) as i32);
        }
    }

    /// The chunk's bits go to the bottom of what is carried, which turns so that after all chunks each is in its place.
    fn collect_bits(&mut self, mask: &Lanes, carried: ir::Value) -> ir::Value {
        let mut all: Option<ir::Value> = None;
        for (i, vector) in mask.iter().enumerate() {
            let bits = self.fb.ins().vhigh_bits(I64, *vector);
            let placed = if i == 0 { bits } else { self.fb.ins().ishl_imm_u(bits, 4 * i as i64) };
            all = Some(all.map_or(placed, |all| self.fb.ins().bor(all, placed)));
        }
        self.fb.ins().bor(carried, all.expect("a segment has vectors"))
    }

    /// Reads the chunk of a value's slot.
    pub(super) fn load_slot(&mut self, body: &Body, value: Value) -> Lanes {
        let row = self.plan.slot(value) * size_of::<Row>();
        match self.block.node(value).ty {
            Ty::B64 => {
                let base = self.fb.ins().iadd(body.frame, body.offset);
                self.load_row(base, row, ir::types::I64X2, 2 * self.shaping.vectors)
            }
            _ => self.load_row(body.frame, row, I32X4, self.shaping.vectors),
        }
    }

    /// Reads the chunk of a VGPR.
    pub(super) fn load_vgpr(&mut self, body: &Body, register: u64) -> Lanes {
        let row = offset_of!(Wave, vgpr) + register as usize * size_of::<Row>();
        self.load_row(body.wave, row, I32X4, self.shaping.vectors)
    }

    fn load_row(&mut self, base: ir::Value, row: usize, ty: ir::Type, count: usize) -> Lanes {
        let load = |i| self.fb.ins().load(ty, MemFlagsData::trusted(), base, (row + 16 * i) as i32);
        (0..count).map(load).collect()
    }

    /// The bits of a mask as lane masks of this chunk.
    pub(super) fn spread_mask(&mut self, body: &mut Body, mask: Value) -> Lanes {
        let nibble = self.nibble(body, mask);
        let table = self.fb.ins().iconst(I64, MASKS.0.as_ptr() as i64);
        let mut lanes = Lanes::new();
        for i in 0..self.shaping.vectors {
            let part = if i == 0 { nibble } else { self.fb.ins().ushr_imm_u(nibble, 4 * i as i64) };
            let part = self.fb.ins().band_imm_u(part, 15);
            let offset = self.fb.ins().ishl_imm_u(part, 4);
            let address = self.fb.ins().iadd(table, offset);
            lanes.push(self.fb.ins().load(I32X4, MemFlagsData::trusted().with_readonly(), address, 0));
        }
        lanes
    }

    /// The numbers of this chunk's lanes.
    pub(super) fn lane_ids(&mut self, body: &Body) -> Lanes {
        let first = self.fb.ins().ushr_imm_u(body.offset, 2);
        let first = self.fb.ins().ireduce(ir::types::I32, first);
        let mut lanes = Lanes::new();
        for i in 0..self.shaping.vectors as u8 {
            let bytes: Vec<u8> = (0..4).flat_map(|lane| u32::from(4 * i + lane).to_le_bytes()).collect();
            let constant = self.fb.func.dfg.constants.insert(bytes.as_slice().into());
            let ids = self.fb.ins().vconst(I8X16, constant);
            let ids = self.cast(ids, I32X4);
            let base = self.fb.ins().splat(I32X4, first);
            lanes.push(self.fb.ins().iadd(ids, base));
        }
        lanes
    }
}

/// Four mask bits as four lanes of zeros or ones.
#[repr(align(16))]
struct Masks([[u32; 4]; 16]);

static MASKS: Masks = Masks(masks());

const fn masks() -> [[u32; 4]; 16] {
    let mut table = [[0; 4]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut lane = 0;
        while lane < 4 {
            table[bits][lane] = if bits >> lane & 1 != 0 { u32::MAX } else { 0 };
            lane += 1;
        }
        bits += 1;
    }
    table
}

const _: () = assert!(LANES == 64);
