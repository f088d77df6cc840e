//! Which accesses of a part have addresses that count, and whether it pays to compute these at the ends of chunks only.

use super::{Fused, FusedAccess};
use crate::lane::{Node, Op, Shape, Value};
use crate::pass::strides::claims::Claims;
use crate::pass::strides::{Check, Signed, Stride, check, stride};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Instructions: a value computed in all chunks rather than at their ends.
const CHUNKS: usize = 4;
/// To find out where the lanes of an access are that are not known to count, more than otherwise: where they are one run,
/// and where they are one in each chunk.
const SEARCH: (usize, usize) = (8, 60);
/// To check a register, and what a value needs.
const REGISTER: usize = 12;
const CHECK: usize = 4;

impl Fused {
    /// Finds the accesses whose addresses count, given the strides of VGPRs as they are before the part. Returns the values
    /// that are needed lane by lane.
    pub(super) fn find_strided(&mut self, registers: &HashMap<Value, Stride>, over_wave: bool) -> HashSet<Value> {
        self.find_strides(registers);
        let found: Vec<Stride> = self.accesses.iter().map(|access| self.stride_of(access)).collect();
        let all = self.needed(|_| true);
        if found.iter().all(Option::is_none) {
            return all;
        }
        self.accesses.iter_mut().zip(found).for_each(|(access, stride)| access.stride = stride);
        let (ends, lanes) = (self.ends(), self.needed(|access| access.stride.is_none()));
        let is_saved = |value: &&Value| !lanes.contains(value) && self.is_computed(**value);
        let saved = all.iter().filter(is_saved).count() * CHUNKS;
        let search = if over_wave { SEARCH.0 } else { SEARCH.1 };
        let searches = self.accesses.iter().filter(|access| access.stride.is_some()).count() * search;
        let cost: usize = ends.iter().map(|value| self.cost(*value)).sum();
        if saved + searches <= cost {
            self.accesses.iter_mut().for_each(|access| access.stride = None);
            return all;
        }
        self.list_ends(&ends);
        lanes
    }

    fn find_strides(&mut self, registers: &HashMap<Value, Stride>) {
        let mut strides: Vec<Stride> = Vec::with_capacity(self.block.nodes.len());
        for (i, node) in self.block.nodes.iter().enumerate() {
            let value = Value(i as u32);
            let of = |arg: Value| strides[arg.index()];
            strides.push(match node.op {
                Op::Vgpr => registers.get(&value).copied().flatten(),
                _ if self.plan.ranks[i].is_none() => None,
                _ => stride(&self.block, node, of),
            });
        }
        self.strides = strides;
    }

    /// How the addresses of an access count, if its code can use that.
    fn stride_of(&self, access: &FusedAccess) -> Stride {
        let of = |value: &Value| self.strides[value.index()];
        let is_uniform = |value: &Value| self.block.node(*value).shape == Shape::Uniform;
        let stride = of(&access.address[0])?;
        let same_half = access.address.get(1).is_none_or(|high| of(high) == Some(0));
        let lanes = &access.access;
        let fits = if lanes.store { stride == 4 * lanes.dwords as i32 } else { stride >= 0 };
        (same_half && fits && !access.address.iter().all(is_uniform)).then_some(stride)
    }

    /// What is computed at the ends of chunks.
    fn ends(&self) -> HashSet<Value> {
        let counting = self.accesses.iter().filter(|access| access.stride.is_some());
        let mut ends = self.with_arguments(counting.flat_map(|access| &access.address).copied().collect());
        ends.retain(|value| self.node(*value).shape == Shape::Lane);
        ends
    }

    fn node(&self, value: Value) -> &Node {
        self.block.node(value)
    }

    fn is_computed(&self, value: Value) -> bool {
        self.node(value).shape == Shape::Lane && !matches!(self.node(value).op, Op::Vgpr | Op::LaneId | Op::Loaded)
    }

    fn cost(&self, value: Value) -> usize {
        match self.node(value).op {
            Op::Vgpr => REGISTER,
            _ if check(self.node(value), |arg| self.strides[arg.index()]) == Check::default() => 1,
            _ => 1 + CHECK,
        }
    }

    /// Addresses are checked as early as they can be: before the part's first access, but for those that come of scalars
    /// that it loads.
    fn list_ends(&mut self, ends: &HashSet<Value>) {
        let mut listed = HashSet::default();
        let mut values = vec![Vec::new(); self.stages.len()];
        for i in 0..self.stages.len() {
            let Some(access) = self.stages[i].access.filter(|access| self.accesses[*access].stride.is_some()) else {
                continue;
            };
            let needed = self.with_arguments(self.accesses[access].address.clone());
            let stage = if needed.iter().any(|value| self.node(*value).op == Op::Loaded) { i } else { 0 };
            let mut new: Vec<Value> = needed.into_iter().filter(|v| ends.contains(v) && listed.insert(*v)).collect();
            new.sort_unstable();
            values[stage].extend(new);
            self.stages[stage].checks.push(access);
        }
        let mut claims = Claims::new(&self.block, &self.strides);
        for (stage, values) in self.stages.iter_mut().zip(values) {
            stage.ends = values.iter().copied().zip(claims.of(&values)).collect();
            for access in &stage.checks {
                let access = &mut self.accesses[*access];
                access.ordered = claims.is_ordered(access.address[0], Signed::No);
            }
        }
    }
}
