//! Loads and stores of a dword a lane, for the commonest case: all lanes are active, their addresses come in runs of
//! sixteen side by side (or, of a load, the same), all in the allocation that the instruction hit last.
//!
//! `fn(wave: *mut Wave, site: *const Site) -> u32`: 0 if it is done; else nothing has happened, and the general way
//! has to be gone ([`crate::libcall::access`]). Chunks are checked first and moved afterwards, in the order of lanes.

use super::asm::{Asm, Gpr, Jump, K, MaskOp, Mem, Rm, When, Zmm, op};
use super::registers::row;
use crate::access::{DwordMove, Site};
use gcnjit_rt::Wave;
use gcnjit_rt::wave::reg;
use std::mem::offset_of;

/// Bytes of a chunk.
const CHUNK: i32 = 64;
/// The wave and the site; the sizes of the allocation but for a chunk's and a dword's bytes; a chunk's low address.
const WAVE: Gpr = Gpr::Rdi;
const SITE: Gpr = Gpr::Rsi;
const ROOM: Gpr = Gpr::R8;
const DWORD_ROOM: Gpr = Gpr::R9;
const LOW: Gpr = Gpr::Rax;
/// Where the chunks are.
const CHUNKS: [Gpr; 4] = [Gpr::Rcx, Gpr::Rdx, Gpr::R10, Gpr::R11];

/// Emits the function of an access; the result is its offset in the code.
pub fn emit(asm: &mut Asm, access: &DwordMove) -> usize {
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
    access: &'a DwordMove,
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
        self.asm.mov(DWORD_ROOM, ROOM);
        self.asm.sub(ROOM, CHUNK);
        self.slow_if(When::Below);
        self.asm.sub(DWORD_ROOM, 4);
    }

    /// Checks a chunk's addresses, and loads it.
    fn locate(&mut self, chunk: usize) {
        let (low, first, ramp) = (Zmm(4), Zmm(5), Zmm(6));
        let part = CHUNK * chunk as i32;
        let low_row = Mem::At(WAVE, row(self.access.address) + part);
        let places: Vec<u8> = (0..16u32).flat_map(|lane| (4 * lane).to_le_bytes()).collect();
        let places = self.asm.constant(&places);
        self.asm.v1(op::VMOVDQA32, low, Rm::Mem(low_row));
        self.asm.v1(op::VPBROADCASTD, first, Rm::Mem(low_row));
        self.asm.v(op::VPADDD, ramp, first, Rm::Mem(places));
        self.asm.compare(op::VPCMPD, K(1), low, ramp, super::inline::NOT_EQUAL);
        self.check_high(part);
        self.asm.k_test(K(1));
        let other = self.asm.jump(When::NotZero);
        self.place(chunk, ROOM);
        if !self.access.store {
            self.asm.v1(op::VMOVDQU32, Zmm(chunk as u8), Rm::Mem(Mem::At(CHUNKS[chunk], 0)));
        }
        if self.access.store {
            return self.slow.push(other);
        }
        let done = self.asm.jump_always();
        self.asm.bind(other);
        self.asm.compare(op::VPCMPD, K(1), low, first, super::inline::NOT_EQUAL);
        self.check_high(part);
        self.asm.k_test(K(1));
        self.slow_if(When::NotZero);
        self.place(chunk, DWORD_ROOM);
        self.asm.v1(op::VPBROADCASTD, Zmm(chunk as u8), Rm::Mem(Mem::At(CHUNKS[chunk], 0)));
        self.asm.bind(done);
    }

    /// Adds to K1 the lanes whose upper half differs from the first's.
    fn check_high(&mut self, part: i32) {
        if self.access.base.is_some() {
            return;
        }
        let high = Mem::At(WAVE, row(self.access.address + 1) + part);
        self.asm.v1(op::VPBROADCASTD, Zmm(7), Rm::Mem(high));
        self.asm.compare(op::VPCMPD, K(2), Zmm(7), Rm::Mem(high), super::inline::NOT_EQUAL);
        self.asm.k(MaskOp::Or, K(1), K(1), K(2));
    }

    /// Where the chunk is, from its first lane's address; `room` says how far into the allocation that may be.
    fn place(&mut self, chunk: usize, room: Gpr) {
        let part = CHUNK * chunk as i32;
        let to = CHUNKS[chunk];
        self.asm.load32(LOW, WAVE, row(self.access.address) + part);
        match self.access.base {
            Some(base) => self.asm.load64(to, WAVE, (offset_of!(Wave, sgpr) + 4 * base) as i32),
            None => {
                self.asm.load32(to, WAVE, row(self.access.address + 1) + part);
                self.asm.shift_left(to, 32);
            }
        }
        self.asm.add_register(to, LOW);
        self.asm.add(to, self.access.offset);
        // A run whose low half wraps has jumped.
        self.asm.add32(LOW, CHUNK - 4);
        self.slow_if(When::Below);
        self.asm.mov(LOW, to);
        self.asm.sub_mem(LOW, SITE, Site::START as i32);
        self.asm.compare_registers(LOW, room);
        self.slow_if(When::Above);
    }

    fn finish(&mut self) {
        for (chunk, place) in CHUNKS.into_iter().enumerate() {
            let data = Mem::At(WAVE, row(self.access.data) + CHUNK * chunk as i32);
            if self.access.store {
                self.asm.v1(op::VMOVDQA32, Zmm(0), Rm::Mem(data));
                self.asm.store_unaligned(Mem::At(place, 0), Zmm(0));
            } else {
                self.asm.store(data, Zmm(chunk as u8));
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
