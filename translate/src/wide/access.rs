//! Loads and stores of one or two dwords a lane, for the commonest case: all lanes are active, their addresses come in runs of
//! sixteen side by side (or, of a load, the same), all in the allocation that the instruction hit last.
//!
//! `fn(wave: *mut Wave, site: *const Site) -> u32`: 0 if it is done; else nothing has happened, and the general way
//! has to be gone ([`crate::libcall::access`]). Chunks are checked first and moved afterwards, in the order of lanes.

use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use super::inline::NOT_EQUAL;
use super::registers::row;
use crate::access::{Base, LaneMove, Site};
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use std::mem::offset_of;

/// Bytes of a chunk of a register.
const CHUNK: i32 = 64;
/// The wave and the site; the sizes of the allocation but for a chunk's and a lane's bytes; a chunk's low address.
const WAVE: Gpr = Gpr::Rdi;
const SITE: Gpr = Gpr::Rsi;
const ROOM: Gpr = Gpr::R8;
const LANE_ROOM: Gpr = Gpr::R9;
const LOW: Gpr = Gpr::Rax;
/// Where the chunks are.
const CHUNKS: [Gpr; 4] = [Gpr::Rcx, Gpr::Rdx, Gpr::R10, Gpr::R11];
/// Addresses, the first lane's, what they should be, the upper half.
const ADDRESSES: Zmm = Zmm(16);
const FIRST: Zmm = Zmm(17);
const RAMP: Zmm = Zmm(18);
const HIGH: Zmm = Zmm(19);
/// Orders of dwords for data of two.
const ORDERS: [Zmm; 2] = [Zmm(20), Zmm(21)];
const OTHER: Zmm = Zmm(22);

/// Emits the function of an access; the result is its offset in the code.
pub fn emit(asm: &mut Asm, access: &LaneMove) -> usize {
    let offset = asm.function();
    let mut stub = Stub { asm, access, slow: Vec::new() };
    stub.check_site();
    for chunk in 0..4 {
        stub.locate(chunk);
    }
    stub.finish();
    offset
}

struct Stub<'a> {
    asm: &'a mut Asm,
    access: &'a LaneMove,
    /// Jumps to the general way.
    slow: Vec<Jump>,
}

impl Stub<'_> {
    fn slow_if(&mut self, when: When) {
        let jump = self.asm.jump(when);
        self.slow.push(jump);
    }

    /// Whether all lanes are active and the allocation is large enough and writable if need be.
    fn check_site(&mut self) {
        let exec = offset_of!(Wave, sgpr) + 4 * reg::EXEC;
        self.asm.is_ones64(WAVE, exec as i32);
        self.slow_if(When::NotZero);
        if self.access.store {
            self.asm.is_zero8(SITE, Site::WRITABLE as i32);
            self.slow_if(When::Zero);
        }
        self.asm.load64(ROOM, SITE, Site::END as i32);
        self.asm.sub_mem(ROOM, SITE, Site::START as i32);
        if self.access.base == (Base::Lds { by_m0: true }) {
            self.asm.load32(LOW, WAVE, (offset_of!(Wave, sgpr) + 4 * reg::M0) as i32);
            self.asm.compare_registers(LOW, ROOM);
            self.slow_if(When::Below);
        }
        self.asm.mov(LANE_ROOM, ROOM);
        self.asm.sub(ROOM, CHUNK * self.access.dwords as i32);
        self.slow_if(When::Below);
        self.asm.sub(LANE_ROOM, self.lane_bytes());
        if self.access.dwords == 2 {
            self.load_orders();
        }
    }

    /// Bytes of a lane.
    fn lane_bytes(&self) -> i32 {
        4 * self.access.dwords as i32
    }

    /// Loads take the even and the odd dwords of two registers, stores their lower and their upper halves in turn.
    fn load_orders(&mut self) {
        for (part, to) in (0..2).zip(ORDERS) {
            let load = |i: u32| 2 * i + part;
            let store = |i: u32| 8 * part + i / 2 + i % 2 * 16;
            let order = |i| if self.access.store { store(i) } else { load(i) };
            let bytes: Vec<u8> = (0..16).flat_map(|i| order(i).to_le_bytes()).collect();
            let order = self.asm.constant(&bytes);
            self.asm.v1(op::VMOVDQA32, to, Rm::Mem(order));
        }
    }

    /// The registers of a chunk's data.
    fn data(chunk: usize) -> [Zmm; 2] {
        [Zmm(2 * chunk as u8), Zmm(2 * chunk as u8 + 1)]
    }

    /// Checks a chunk's addresses, and loads it.
    fn locate(&mut self, chunk: usize) {
        let part = CHUNK * chunk as i32;
        let low_row = Mem::At(WAVE, row(self.access.address) + part);
        let step = self.lane_bytes() as u32;
        let places: Vec<u8> = (0..16u32).flat_map(|lane| (step * lane).to_le_bytes()).collect();
        let places = self.asm.constant(&places);
        self.asm.v1(op::VMOVDQA32, ADDRESSES, Rm::Mem(low_row));
        self.asm.v1(op::VPBROADCASTD, FIRST, Rm::Mem(low_row));
        self.asm.v(op::VPADDD, RAMP, FIRST, Rm::Mem(places));
        self.compare(RAMP, part);
        let other = self.asm.jump(When::NotZero);
        self.place(chunk, ROOM);
        if self.access.store {
            return self.slow.push(other);
        }
        self.load_run(chunk);
        let done = self.asm.jump_always();
        self.asm.bind(other);
        self.compare(FIRST, part);
        self.slow_if(When::NotZero);
        self.place(chunk, LANE_ROOM);
        for (k, data) in (0..self.access.dwords).zip(Stub::data(chunk)) {
            self.asm.v1(op::VPBROADCASTD, data, Rm::Mem(Mem::At(CHUNKS[chunk], 4 * k as i32)));
        }
        self.asm.bind(done);
    }

    fn load_run(&mut self, chunk: usize) {
        let (from, [first, second]) = (CHUNKS[chunk], Stub::data(chunk));
        self.asm.v1(op::VMOVDQU32, first, Rm::Mem(Mem::At(from, 0)));
        if self.access.dwords == 2 {
            self.asm.v1(op::VMOVDQU32, OTHER, Rm::Mem(Mem::At(from, CHUNK)));
            self.asm.v1(op::VMOVDQA32, second, first);
            self.asm.v(op::VPERMT2D, first, ORDERS[0], OTHER);
            self.asm.v(op::VPERMT2D, second, ORDERS[1], OTHER);
        }
    }

    fn store_run(&mut self, chunk: usize) {
        let (to, part) = (CHUNKS[chunk], CHUNK * chunk as i32);
        let data = |k| Mem::At(WAVE, row(self.access.data + k) + part);
        let [first, second] = Stub::data(0);
        self.asm.v1(op::VMOVDQA32, first, Rm::Mem(data(0)));
        if self.access.dwords == 2 {
            self.asm.v1(op::VMOVDQA32, OTHER, Rm::Mem(data(1)));
            self.asm.v1(op::VMOVDQA32, second, first);
            self.asm.v(op::VPERMT2D, first, ORDERS[0], OTHER);
            self.asm.v(op::VPERMT2D, second, ORDERS[1], OTHER);
            self.asm.store_unaligned(Mem::At(to, CHUNK), second);
        }
        self.asm.store_unaligned(Mem::At(to, 0), first);
    }

    /// Sets the flags to not zero if a lane's address differs from what is expected.
    fn compare(&mut self, expected: Zmm, part: i32) {
        self.asm.compare(op::VPCMPD, K(1), ADDRESSES, expected, NOT_EQUAL);
        self.check_high(part);
        self.asm.k_test(K(1));
    }

    /// Adds to K1 the lanes whose upper half differs from the first's.
    fn check_high(&mut self, part: i32) {
        if self.access.base != Base::None {
            return;
        }
        let high = Mem::At(WAVE, row(self.access.address + 1) + part);
        self.asm.v1(op::VPBROADCASTD, HIGH, Rm::Mem(high));
        self.asm.compare(op::VPCMPD, K(2), HIGH, Rm::Mem(high), NOT_EQUAL);
        self.asm.k(MaskOp::Or, K(1), K(1), K(2));
    }

    /// Where the chunk is, from its first lane's address; `room` says how far into the allocation that may be.
    fn place(&mut self, chunk: usize, room: Gpr) {
        let part = CHUNK * chunk as i32;
        let to = CHUNKS[chunk];
        self.asm.load32(LOW, WAVE, row(self.access.address) + part);
        match self.access.base {
            Base::Sgprs(base) => self.asm.load64(to, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            Base::Lds { .. } => self.asm.load64(to, SITE, Site::START as i32),
            Base::None => {
                self.asm.load32(to, WAVE, row(self.access.address + 1) + part);
                self.asm.shift_left(to, 32);
            }
        }
        self.asm.add_register(to, LOW);
        self.asm.add(to, self.access.offset);
        // A run whose low half wraps has jumped.
        self.asm.add32(LOW, 15 * self.lane_bytes());
        self.slow_if(When::Below);
        self.asm.mov(LOW, to);
        self.asm.sub_mem(LOW, SITE, Site::START as i32);
        self.asm.compare_registers(LOW, room);
        self.slow_if(When::Above);
    }

    fn finish(&mut self) {
        for chunk in 0..4 {
            if self.access.store {
                self.store_run(chunk);
                continue;
            }
            for (k, data) in (0..self.access.dwords).zip(Stub::data(chunk)) {
                self.asm.store(Mem::At(WAVE, row(self.access.data + k) + CHUNK * chunk as i32), data);
            }
        }
        self.asm.mov_imm(Gpr::Rax, 0);
        self.asm.ret();
        for jump in std::mem::take(&mut self.slow) {
            self.asm.bind(jump);
        }
        self.asm.mov_imm(Gpr::Rax, 1);
        self.asm.ret();
    }
}
