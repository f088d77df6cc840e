//! Loads and stores of a byte, a word, or one or two dwords a lane (two side by side, or of a load at two places), all in
//! the allocation that the instruction hit last. Cases that cost less are tried first: all lanes are active, and their
//! addresses are side by side; or come in runs of sixteen (or, of a load, sixteen times the same); or only some are
//! active, and the dwords of those among sixteen are where they would be in a run; or lanes are anywhere (`spread`). In
//! scratch lanes have places of their own (`interleaved`). Some atomics in LDS are done here too (`atomic`).
//!
//! `fn(wave: *mut Wave, site: *mut Site) -> u32`: 0 if it is done; else nothing has happened, and the general way
//! has to be gone ([`crate::libcall::access`]), which the function that translated code calls does. Addresses are checked
//! first, and data is moved afterwards, in the order of lanes.

mod atomic;
mod interleaved;
mod lanes;
mod parts;
pub(in crate::wide) mod small;
pub(super) mod spread;
#[cfg(test)]
mod tests;

use super::asm::predicate::NOT_EQUAL;
use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, dwords, op};
use super::registers::{COMPACTED, row};
use crate::access::{Access, Base, LaneAtomic, LaneMove, Origin, Site};
use crate::jit::Context;
use crate::libcall;
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use std::mem::offset_of;

/// Bytes of a chunk of a register, and chunks of a register.
const CHUNK: i32 = 64;
pub(super) const COUNT: i32 = 4;
/// The wave and the site; the size of the allocation; how far into it the first byte of what is checked may be.
const WAVE: Gpr = Gpr::Rdi;
const SITE: Gpr = Gpr::Rsi;
const SIZE: Gpr = Gpr::R8;
const ROOM: Gpr = Gpr::R9;
/// A low half of an address.
const LOW: Gpr = Gpr::Rax;
/// Where the chunks are.
const CHUNKS: [Gpr; 4] = [Gpr::Rcx, Gpr::Rdx, Gpr::R10, Gpr::R11];
/// Addresses, the first lane's, what they should be, the upper half, differences.
const ADDRESSES: Zmm = Zmm(16);
const FIRST: Zmm = Zmm(17);
const RAMP: Zmm = Zmm(18);
const HIGH: Zmm = Zmm(19);
const WRONG: Zmm = Zmm(23);
/// Misses in a row after which the general way is gone at once.
pub const PATIENCE: u8 = 8;
/// Halves of an address. They are not among the registers of dwords' data.
const LOW_HALF: Zmm = Zmm(5);
const HIGH_HALF: Zmm = Zmm(7);
/// Where EXEC is.
pub(super) const EXEC: i32 = (offset_of!(Wave, sgpr) + 4 * reg::EXEC) as i32;
/// Orders of dwords for data of two.
const ORDERS: [Zmm; 2] = [Zmm(20), Zmm(21)];
const OTHER: Zmm = Zmm(22);
/// VPTERNLOGD: the first, or what differs in the others.
pub(super) const OR_DIFFERENT: u8 = 0xf6;

/// Emits the function of an access, if it can have one; the result is its offset in the code.
pub fn emit(asm: &mut Asm, access: &Access) -> Option<usize> {
    let lanes = access.lane_move().filter(|lanes| lanes.dwords <= 2);
    let moved = lanes.map(|lanes| emit_move(asm, &lanes));
    moved.or_else(|| access.lane_atomic().map(|atomic| emit_atomic(asm, &atomic)))
}

/// Emits the function that translated code calls for an access, `fn(wave: *mut Wave, context: *mut Context) -> u32`: the
/// access' own function for its site, if it has one, and the general way if that gives up. Not 0 if it faulted. The access
/// must stay where it is; `number` is the unit's.
pub fn emit_call(asm: &mut Asm, access: &Access, number: usize) -> Option<usize> {
    let function = emit(asm, access)?;
    let offset = asm.function();
    asm.push(SITE);
    if access.is_in_lds() {
        asm.add(SITE, offset_of!(Context<'_>, lds) as i32);
    } else if access.may_be_in_scratch() {
        asm.load64(SITE, SITE, offset_of!(Context<'_>, scratch) as i32);
    } else {
        asm.load64(SITE, SITE, offset_of!(Context<'_>, first_site) as i32);
        asm.add(SITE, (number * size_of::<Site>()) as i32);
    }
    asm.call(function);
    asm.pop(SITE);
    asm.or_register(Gpr::Rax, Gpr::Rax);
    let slow = asm.jump(When::NotZero);
    asm.ret_plain();
    asm.bind(slow);
    let general = general_way(asm, access, number);
    asm.jump_to(general);
    Some(offset)
}

/// Emits the same for a compacted wave, around its function for any wave, if it has one: EXEC is that of the places while
/// the access is done.
pub fn emit_compacted(asm: &mut Asm, access: &Access, number: usize, whole: Option<usize>) -> usize {
    let offset = asm.function();
    asm.load64(Gpr::Rax, WAVE, EXEC);
    // The third aligns the stack.
    [Gpr::Rax, WAVE, WAVE].into_iter().for_each(|register| asm.push(register));
    asm.pick_bits(Gpr::Rax, WAVE, COMPACTED);
    asm.store64(WAVE, EXEC, Gpr::Rax);
    match whole {
        Some(function) => asm.call(function),
        None => {
            let general = general_way(asm, access, number);
            asm.call_to(general);
        }
    }
    [WAVE, WAVE, Gpr::Rcx].into_iter().for_each(|register| asm.pop(register));
    asm.store64(WAVE, EXEC, Gpr::Rcx);
    asm.ret_plain();
    offset
}

/// Loads what the general way of an access is called with, behind the wave and the context, and its address.
pub fn general_way(asm: &mut Asm, access: &Access, number: usize) -> Gpr {
    asm.mov_imm(Gpr::Rdx, std::ptr::from_ref(access).expose_provenance() as i64);
    asm.mov_imm(Gpr::Rcx, number as i32);
    asm.mov_imm(Gpr::Rax, libcall::access as *const () as i64);
    Gpr::Rax
}

fn emit_atomic(asm: &mut Asm, atomic: &LaneAtomic) -> usize {
    let offset = asm.function();
    let mut stub = Stub { asm, access: &atomic.lanes, slow: Vec::new(), other: Vec::new() };
    stub.check_site();
    stub.atomic(atomic);
    stub.give_up();
    offset
}

fn emit_move(asm: &mut Asm, access: &LaneMove) -> usize {
    let offset = asm.function();
    let mut stub = Stub { asm, access, slow: Vec::new(), other: Vec::new() };
    match access.base {
        Base::Interleaved(resource) => {
            stub.check_resource(&resource);
            stub.check_site();
            stub.find_window_of(&resource);
            stub.one_row(&resource);
        }
        Base::Linear(origin) => {
            stub.check_site();
            let partial = unless_all_active(stub.asm);
            stub.one_run(origin);
            match access.small {
                Some(small) if !access.store => {
                    partial.into_iter().for_each(|jump| stub.asm.bind(jump));
                    stub.one_address(small, origin);
                }
                Some(_) => stub.other.extend(partial),
                None => {
                    stub.runs(origin);
                    stub.parts_of_runs(partial, origin);
                }
            }
        }
    }
    stub.spread();
    stub.give_up();
    offset
}

/// The jumps are taken if not all lanes of a wave are active.
pub(super) fn unless_all_active(asm: &mut Asm) -> [Jump; 2] {
    // Both halves may have been written apart and just now: a load of both would have to wait for that.
    [0, 4].map(|half| {
        asm.is_ones32(WAVE, EXEC + half);
        asm.jump(When::NotZero)
    })
}

struct Stub<'a> {
    asm: &'a mut Asm,
    access: &'a LaneMove,
    /// Jumps to the general way.
    slow: Vec<Jump>,
    /// Jumps to the last case.
    other: Vec<Jump>,
}

impl Stub<'_> {
    fn slow_if(&mut self, when: When) {
        let jump = self.asm.jump(when);
        self.slow.push(jump);
    }

    fn other_if(&mut self, when: When) {
        let jump = self.asm.jump(when);
        self.other.push(jump);
    }

    /// Whether the allocation is writable if need be; its size.
    fn check_site(&mut self) {
        self.asm.compare8(SITE, Site::MISSES as i32, PATIENCE);
        self.slow_if(When::Above);
        if self.access.store {
            self.asm.compare8(SITE, Site::WRITABLE as i32, 0);
            self.slow_if(When::Zero);
        }
        self.asm.load64(SIZE, SITE, Site::END as i32);
        self.asm.sub_mem(SIZE, SITE, Site::START as i32);
        if self.access.is_limited_by_m0() {
            self.asm.load32(LOW, WAVE, (offset_of!(Wave, sgpr) + 4 * reg::M0) as i32);
            self.asm.compare_registers(LOW, SIZE);
            self.slow_if(When::Below);
        }
        if self.access.side_by_side() == 2 {
            self.load_orders();
        }
    }

    /// The case that all lanes are side by side.
    fn one_run(&mut self, origin: Origin) {
        let mut other = Vec::new();
        self.find_differences();
        self.asm.non_zero(K(1), WRONG);
        self.asm.k_test(K(1));
        other.push(self.asm.jump(When::NotZero));
        self.asm.mov(ROOM, SIZE);
        self.asm.sub(ROOM, self.access.extent(64));
        other.push(self.asm.jump(When::Below));
        other.extend(self.place(0, 64, origin));
        for chunk in 0..COUNT {
            let at = Mem::At(CHUNKS[0], chunk * 16 * self.access.lane_bytes());
            if let Some(small) = self.access.small {
                self.small_run(small, chunk, at);
            } else if self.access.store {
                self.store_run(chunk, at);
            } else {
                self.load_run([Zmm(0), Zmm(1)], at);
                self.write(chunk, [Zmm(0), Zmm(1)]);
            }
        }
        self.succeed();
        other.into_iter().for_each(|jump| self.asm.bind(jump));
    }

    /// Sets bits where an address is not what it is if all lanes are side by side.
    fn find_differences(&mut self) {
        let address = |chunk| Rm::Mem(Mem::At(WAVE, row(self.access.address) + CHUNK * chunk));
        let step = self.access.lane_bytes() as u32;
        let ramp = self.ramp();
        let next = self.asm.constant(&(16 * step).to_le_bytes());
        self.asm.v1(op::VPBROADCASTD, FIRST, address(0));
        self.asm.v(op::VPADDD, RAMP, FIRST, Rm::Mem(ramp));
        self.asm.v(op::VPXORD, WRONG, RAMP, address(0));
        for chunk in 1..COUNT {
            self.asm.v(op::VPADDD, RAMP, RAMP, Rm::Broadcast(next));
            self.asm.vi(op::VPTERNLOGD, WRONG, RAMP, address(chunk), OR_DIFFERENT);
        }
        if self.access.has_pairs() {
            let high = |chunk| Rm::Mem(Mem::At(WAVE, row(self.access.address + 1) + CHUNK * chunk));
            self.asm.v1(op::VPBROADCASTD, HIGH, high(0));
            for chunk in 0..COUNT {
                self.asm.vi(op::VPTERNLOGD, WRONG, HIGH, high(chunk), OR_DIFFERENT);
            }
        }
    }

    /// Offsets side by side.
    fn ramp(&mut self) -> Mem {
        self.asm.ramp(self.access.lane_bytes() as u32)
    }

    /// The case that each chunk is a run or, of a load, one address.
    fn runs(&mut self, origin: Origin) {
        for chunk in 0..COUNT {
            self.locate(chunk, origin);
        }
        for chunk in 0..COUNT {
            if self.access.store {
                self.store_run(chunk, Mem::At(CHUNKS[chunk as usize], 0));
            } else {
                self.write(chunk, Stub::data(chunk));
            }
        }
        self.succeed();
    }

    fn load_orders(&mut self) {
        for (order, to) in orders(self.access.store).into_iter().zip(ORDERS) {
            let order = self.asm.constant(&order);
            self.asm.v1(op::VMOVDQA32, to, Rm::Mem(order));
        }
    }

    /// The active lanes of a chunk.
    fn active(chunk: i32) -> K {
        K(1 + chunk as u8)
    }

    /// The registers of a chunk's data.
    fn data(chunk: i32) -> [Zmm; 2] {
        [Zmm(2 * chunk as u8), Zmm(2 * chunk as u8 + 1)]
    }

    /// Checks a chunk's addresses, and loads it.
    fn locate(&mut self, chunk: i32, origin: Origin) {
        let part = CHUNK * chunk;
        let low_row = Mem::At(WAVE, row(self.access.address) + part);
        let places = self.ramp();
        self.asm.v1(op::VMOVDQA32, ADDRESSES, Rm::Mem(low_row));
        self.asm.v1(op::VPBROADCASTD, FIRST, Rm::Mem(low_row));
        self.asm.v(op::VPADDD, RAMP, FIRST, Rm::Mem(places));
        self.compare(RAMP, part);
        let other = self.asm.jump(When::NotZero);
        self.place_or_go_on(chunk, 16, origin);
        if self.access.store {
            return self.other.push(other);
        }
        let from = CHUNKS[chunk as usize];
        self.load_run(Stub::data(chunk), Mem::At(from, 0));
        let done = self.asm.jump_always();
        self.asm.bind(other);
        self.compare(FIRST, part);
        self.other_if(When::NotZero);
        self.place_or_go_on(chunk, 1, origin);
        for (k, data) in (0..self.access.dwords).zip(Stub::data(chunk)) {
            self.asm.v1(op::VPBROADCASTD, data, Rm::Mem(Mem::At(from, self.access.place_of(k))));
        }
        self.asm.bind(done);
    }

    fn load_run(&mut self, [first, second]: [Zmm; 2], from: Mem) {
        if self.access.apart.is_some() {
            for (k, data) in [first, second].into_iter().enumerate() {
                self.asm.v1(op::VMOVDQU32, data, Rm::Mem(from.further(self.access.place_of(k))));
            }
            return;
        }
        self.asm.v1(op::VMOVDQU32, first, Rm::Mem(from));
        if self.access.dwords == 2 {
            self.asm.v1(op::VMOVDQU32, OTHER, Rm::Mem(from.further(CHUNK)));
            self.asm.v1(op::VMOVDQA32, second, first);
            self.asm.v(op::VPERMT2D, first, ORDERS[0], OTHER);
            self.asm.v(op::VPERMT2D, second, ORDERS[1], OTHER);
        }
    }

    fn store_run(&mut self, chunk: i32, to: Mem) {
        let data = |k| Mem::At(WAVE, row(self.access.data + k) + CHUNK * chunk);
        let [first, second] = Stub::data(0);
        self.asm.v1(op::VMOVDQA32, first, Rm::Mem(data(0)));
        if self.access.dwords == 2 {
            self.asm.v1(op::VMOVDQA32, OTHER, Rm::Mem(data(1)));
            self.asm.v1(op::VMOVDQA32, second, first);
            self.asm.v(op::VPERMT2D, first, ORDERS[0], OTHER);
            self.asm.v(op::VPERMT2D, second, ORDERS[1], OTHER);
            self.asm.store_unaligned(to.further(CHUNK), second);
        }
        self.asm.store_unaligned(to, first);
    }

    /// Writes a chunk of the registers that are loaded.
    fn write(&mut self, chunk: i32, data: [Zmm; 2]) {
        for (k, data) in (0..self.access.dwords).zip(data) {
            self.asm.store(Mem::At(WAVE, row(self.access.data + k) + CHUNK * chunk), data);
        }
    }

    /// Sets the flags to not zero if a lane's address differs from what is expected.
    fn compare(&mut self, expected: Zmm, part: i32) {
        self.asm.compare(op::VPCMPD, K(1), ADDRESSES, expected, NOT_EQUAL);
        self.check_high(part);
        self.asm.k_test(K(1));
    }

    /// Adds to K1 the lanes whose upper half differs from the first's.
    fn check_high(&mut self, part: i32) {
        if !self.access.has_pairs() {
            return;
        }
        let high = Mem::At(WAVE, row(self.access.address + 1) + part);
        self.asm.v1(op::VPBROADCASTD, HIGH, Rm::Mem(high));
        self.asm.compare(op::VPCMPD, K(2), HIGH, Rm::Mem(high), NOT_EQUAL);
        self.asm.k(MaskOp::Or, K(1), K(1), K(2));
    }

    fn place_or_go_on(&mut self, chunk: i32, lanes: i32, origin: Origin) {
        self.asm.mov(ROOM, SIZE);
        self.asm.sub(ROOM, self.access.extent(lanes));
        self.other_if(When::Below);
        let outside = self.place(chunk, lanes, origin);
        self.other.extend(outside);
    }

    /// Where so many lanes from the chunk's first one on are, from that one's address. The jumps are taken if they are not
    /// all inside of the allocation, which `ROOM` is the size of but for their bytes.
    fn place(&mut self, chunk: i32, lanes: i32, origin: Origin) -> [Jump; 2] {
        let part = CHUNK * chunk;
        let to = CHUNKS[chunk as usize];
        self.asm.load32(LOW, WAVE, row(self.access.address) + part);
        match origin {
            Origin::Sgprs(base) => self.asm.load64(to, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Origin::Lds { .. } => self.asm.load64(to, SITE, Site::START as i32),
            Origin::None => {
                self.asm.load32(to, WAVE, row(self.access.address + 1) + part);
                self.asm.shift_left(to, 32);
            }
        }
        self.asm.add_register(to, LOW);
        self.asm.add(to, self.access.first_byte());
        // A run whose low half wraps has jumped.
        self.asm.add32(LOW, (lanes - 1) * self.access.lane_bytes());
        let wrapped = self.asm.jump(When::Below);
        self.asm.mov(LOW, to);
        self.asm.sub_mem(LOW, SITE, Site::START as i32);
        self.asm.compare_registers(LOW, ROOM);
        [wrapped, self.asm.jump(When::Above)]
    }

    fn succeed(&mut self) {
        self.asm.clear8(SITE, Site::MISSES as i32);
        self.asm.mov_imm(Gpr::Rax, 0);
        self.asm.ret();
    }

    fn give_up(&mut self) {
        for jump in self.slow.drain(..).chain(self.other.drain(..)) {
            self.asm.bind(jump);
        }
        self.asm.mov_imm(Gpr::Rax, 1);
        self.asm.ret();
    }
}

/// Which dwords of two registers are moved, for data of two dwords a lane: loads take the even and the odd ones, stores
/// their lower and their upper halves in turn.
pub(super) fn orders(store: bool) -> [Vec<u8>; 2] {
    [0, 1].map(|part| {
        let order = |i: u32| if store { 8 * part + i / 2 + i % 2 * 16 } else { 2 * i + part };
        dwords(16, order)
    })
}
