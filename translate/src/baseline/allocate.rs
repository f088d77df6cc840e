//! Linear scan: a register or a place in the frame for the whole life of each value.
//!
//! Values come in the order of their definitions. One that lives over a call goes to a register that calls keep; where
//! there is none left, the one of those in question that is read least for how long it lives goes to the frame, unless
//! it is a parameter.

use super::values::{Known, Values};
use crate::x64::{Gpr, Xmm};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::{Function, InstructionData, Value};

/// Where an integer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A general register.
    Reg(Gpr),
    /// A quadword of the frame, by number.
    Slot(u32),
}

/// Registers that calls change. RAX and RCX are not among them: they are free between any two instructions.
const CHANGED: [Gpr; 7] = [Gpr::Rdx, Gpr::Rsi, Gpr::Rdi, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11];
/// Registers that calls keep.
const KEPT: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R14, Gpr::R15, Gpr::R13, Gpr::R12];
/// Vector registers but the last, which is free between any two instructions.
const XMMS: usize = 15;

/// Where all values are.
pub struct Places {
    integers: Vec<Option<Place>>,
    /// Vectors and floats.
    vectors: Vec<Option<Xmm>>,
    /// Quadwords of the frame.
    pub slots: u32,
    /// Registers that calls keep and the function uses.
    pub kept: Vec<Gpr>,
}

impl Places {
    /// Finds places for a function's values. There is no answer if vectors and floats need more registers than there are.
    pub fn of(func: &Function, values: &Values) -> Option<Places> {
        let mut scan = Scan {
            func,
            values,
            integers: vec![None; func.dfg.num_values()],
            vectors: vec![None; func.dfg.num_values()],
            holders: [None; 16],
            vectors_end: [0; XMMS],
            slots_end: Vec::new(),
        };
        for value in &values.placed {
            let ty = func.dfg.value_type(*value);
            if ty.is_int() {
                scan.place(*value);
            } else {
                scan.place_vector(*value)?;
            }
        }
        let used = |kept: &Gpr| scan.integers.contains(&Some(Place::Reg(*kept)));
        let kept = KEPT.into_iter().filter(used).collect();
        let slots = scan.slots_end.len() as u32;
        Some(Places { integers: scan.integers, vectors: scan.vectors, slots, kept })
    }

    /// Where a value is, if it is an integer that is read.
    pub fn integer(&self, value: Value) -> Option<Place> {
        self.integers[value.index()]
    }

    /// The register of a value, if it is a vector or a float that is read.
    pub fn vector(&self, value: Value) -> Option<Xmm> {
        self.vectors[value.index()]
    }
}

struct Scan<'a> {
    func: &'a Function,
    values: &'a Values,
    integers: Vec<Option<Place>>,
    vectors: Vec<Option<Xmm>>,
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
    fn taken(&self, register: Gpr) -> u32 {
        self.holders[register as usize].map_or(0, |holder| self.known(holder).end)
    }

    fn place(&mut self, value: Value) {
        let Known { def, .. } = *self.known(value);
        let candidates: &[&[Gpr]] = if self.values.crosses_call(value) { &[&KEPT] } else { &[&CHANGED, &KEPT] };
        let candidates = candidates.iter().copied().flatten().copied();
        let inherited = self.inherited(value);
        let mut free = candidates.clone().filter(|register| self.taken(*register) <= def);
        if let Some(free) = free.clone().find(|free| Some(*free) == inherited).or_else(|| free.next()) {
            return self.hold(free, value);
        }
        let life =
            |register: &Gpr| self.holders[*register as usize].map_or(0, |holder| self.known(holder).life_a_read());
        // Parameters stay: loads that are made where they are read have their addresses from them.
        let is_param =
            |register: &Gpr| self.holders[*register as usize].is_some_and(|holder| self.known(holder).is_param());
        let idlest = candidates.filter(|register| !is_param(register)).max_by_key(life);
        match idlest.and_then(|idlest| Some((idlest, self.holders[idlest as usize]?))) {
            Some((idlest, holder)) if life(&idlest) > self.known(value).life_a_read() => {
                self.spill(holder);
                self.hold(idlest, value);
            }
            _ => self.spill(value),
        }
    }

    /// The register of the operand in whose place an instruction puts its result, if nobody reads that later.
    fn inherited(&self, value: Value) -> Option<Gpr> {
        let inst = self.func.dfg.value_def(value).inst()?;
        let InstructionData::Binary { args, .. } = self.func.dfg.insts[inst] else { return None };
        args.into_iter().find_map(|arg| match self.integers[self.known(arg).root.index()] {
            Some(Place::Reg(register)) if self.taken(register) <= self.known(value).def => Some(register),
            _ => None,
        })
    }

    fn hold(&mut self, register: Gpr, value: Value) {
        self.holders[register as usize] = Some(value);
        self.integers[value.index()] = Some(Place::Reg(register));
    }

    fn spill(&mut self, value: Value) {
        let Known { def, end, .. } = *self.known(value);
        let free = self.slots_end.iter().position(|taken| *taken <= def);
        let slot = free.unwrap_or_else(|| {
            self.slots_end.push(0);
            self.slots_end.len() - 1
        });
        self.slots_end[slot] = end;
        self.integers[value.index()] = Some(Place::Slot(slot as u32));
    }

    fn place_vector(&mut self, value: Value) -> Option<()> {
        let Known { def, end, .. } = *self.known(value);
        let free =
            self.vectors_end.iter().position(|taken| *taken <= def).filter(|_| !self.values.crosses_call(value))?;
        self.vectors_end[free] = end;
        self.vectors[value.index()] = Some(Xmm(free as u8));
        Some(())
    }
}
