//! Atomics of a dword a lane in LDS. It belongs to one thread, so they are plain changes of memory, in the order of lanes.
//! Lanes that are all at one address would wait for each other: the general way changes that once for all.

use super::lanes::{PLACE, VALUE};
use super::spread::{ORIGIN, OUTSIDE};
use super::{SIZE, Stub};
use crate::access::{Change, LaneAtomic};
use crate::wide::asm::{Gpr, When};
use crate::x64::Alu;

/// What was there.
const OLD: Gpr = SIZE;

impl Stub<'_> {
    pub(super) fn atomic(&mut self, atomic: &LaneAtomic) {
        self.find_window(atomic.origin);
        self.find_indices();
        self.asm.k_test(OUTSIDE);
        self.slow_if(When::NotZero);
        self.load_exec();
        self.are_several();
        let one = self.asm.jump(When::Zero);
        self.compare_with_first(atomic.lanes.address);
        self.slow_if(When::Zero);
        self.asm.bind(one);
        self.each_lane(|stub, further| {
            stub.load_lane(VALUE, atomic.lanes.data, further);
            if let Some(result) = atomic.result {
                stub.asm.load32_at(OLD, ORIGIN, PLACE);
                stub.write_lane(result, further, OLD);
            }
            stub.asm.alu_store32_at(operation(atomic.change), ORIGIN, PLACE, VALUE);
        });
        self.succeed();
    }
}

/// The host's operation on memory and a register.
fn operation(change: Change) -> Alu {
    match change {
        Change::Add => Alu::Add,
        Change::Sub => Alu::Sub,
        Change::And => Alu::And,
        Change::Or => Alu::Or,
        Change::Xor => Alu::Xor,
    }
}
