//! Linear scan: a register or a place in the frame for the whole life of each value.
//!
//! Values come in the order of their definitions. One that lives over a call goes to a register that calls keep; where
//! there is none left, the one of those in question that is read least for how long it lives goes to the frame.

use super::values::{Known, Values};
use super::x64::{Reg, Xmm};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::{Function, Value};

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A general register.
    Reg(Reg),
    /// A vector register.
    Xmm(Xmm),
    /// A quadword of the frame, by number.
    Slot(u32),
}

/// Registers that calls change. RAX and RCX are not among them: they are free between any two instructions.
const CHANGED: [Reg; 7] = [Reg::Rdx, Reg::Rsi, Reg::Rdi, Reg::R8, Reg::R9, Reg::R10, Reg::R11];
/// Registers that calls keep.
const KEPT: [Reg; 6] = [Reg::Rbx, Reg::Rbp, Reg::R14, Reg::R15, Reg::R13, Reg::R12];
/// Vector registers but the last, which is free between any two instructions.
const XMMS: usize = 15;

/// Where all values are.
pub struct Places {
    of: Vec<Option<Place>>,
    /// Quadwords of the frame.
    pub slots: u32,
    /// Registers that calls keep and the function uses.
    pub kept: Vec<Reg>,
}

impl Places {
    /// Finds places for a function's values. There is no answer if vectors and floats need more registers than there are.
    pub fn of(func: &Function, values: &Values) -> Option<Places> {
        let mut scan = Scan {
            values,
            of: vec![None; func.dfg.num_values()],
            holders: [None; 16],
            vectors_end: [0; XMMS],
            slots_end: Vec::new(),
        };
        for value in &values.placed {
            let ty = func.dfg.value_type(*value);
            if ty.is_vector() || ty.is_float() {
                scan.place_vector(*value)?;
            } else {
                scan.place(*value);
            }
        }
        let used = |kept: &Reg| scan.of.contains(&Some(Place::Reg(*kept)));
        let kept = KEPT.into_iter().filter(used).collect();
        Some(Places { of: scan.of, slots: scan.slots_end.len() as u32, kept })
    }

    /// Where a value is that has a place.
    pub fn of_value(&self, value: Value) -> Place {
        self.of[value.index()].expect("what is read has a place")
    }
}

struct Scan<'a> {
    values: &'a Values,
    of: Vec<Option<Place>>,
    /// Who was in each register last.
    holders: [Option<Value>; 16],
    /// Until when vectors are taken, and slots.
    vectors_end: [u32; XMMS],
    slots_end: Vec<u32>,
}

impl Scan<'_> {
    fn known(&self, value: Value) -> &Known {
        self.values.of_value(value)
    }

    /// Until when a register is taken.
    fn taken(&self, register: Reg) -> u32 {
        self.holders[register as usize].map_or(0, |holder| self.known(holder).end)
    }

    fn place(&mut self, value: Value) {
        let Known { def, .. } = *self.known(value);
        let candidates: &[&[Reg]] = if self.values.crosses_call(value) { &[&KEPT] } else { &[&CHANGED, &KEPT] };
        let candidates = candidates.iter().copied().flatten().copied();
        if let Some(free) = candidates.clone().find(|register| self.taken(*register) <= def) {
            return self.hold(free, value);
        }
        let life =
            |register: &Reg| self.holders[*register as usize].map_or(0, |holder| self.known(holder).life_a_read());
        let idlest = candidates.max_by_key(life).expect("there are some");
        if life(&idlest) <= self.known(value).life_a_read() {
            return self.spill(value);
        }
        let holder = self.holders[idlest as usize].expect("it is taken");
        self.spill(holder);
        self.hold(idlest, value);
    }

    fn hold(&mut self, register: Reg, value: Value) {
        self.holders[register as usize] = Some(value);
        self.of[value.index()] = Some(Place::Reg(register));
    }

    fn spill(&mut self, value: Value) {
        let Known { def, end, .. } = *self.known(value);
        let free = self.slots_end.iter().position(|taken| *taken <= def);
        let slot = free.unwrap_or_else(|| {
            self.slots_end.push(0);
            self.slots_end.len() - 1
        });
        self.slots_end[slot] = end;
        self.of[value.index()] = Some(Place::Slot(slot as u32));
    }

    fn place_vector(&mut self, value: Value) -> Option<()> {
        let Known { def, end, .. } = *self.known(value);
        let free =
            self.vectors_end.iter().position(|taken| *taken <= def).filter(|_| !self.values.crosses_call(value))?;
        self.vectors_end[free] = end;
        self.of[value.index()] = Some(Place::Xmm(Xmm(free as u8)));
        Some(())
    }
}
