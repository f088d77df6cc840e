//! Which accesses of a part have addresses that count, and whether it pays to compute these at the ends of chunks only.

use super::address::Address;
use super::{Counting, Fused, FusedAccess, Group};
use crate::access::Origin;
use crate::lane::{Node, Op, Shape, Value};
use crate::pass::strides::claims::{Claim, Claims};
use crate::pass::strides::{Check, Guess, Stride, check, is_clamped, is_small, stride};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;

/// Instructions: a value computed in all chunks rather than at their ends.
const CHUNKS: usize = 4;
/// To find out where the lanes of an access are that are not known to count, more than otherwise: where they are one run,
/// and where they are one in each chunk.
const SEARCH: (usize, usize) = (8, 60);
/// To check a register, and what a value needs.
const REGISTER: usize = 12;
const CHECK: usize = 4;

impl FusedAccess {
    /// The bytes of a lane that it moves, from its address on.
    fn bytes(&self) -> Range<i32> {
        self.access.first_byte()..self.access.first_byte() + self.access.extent(1)
    }

    /// Where its addresses are, if others that are there may be checked with it.
    fn common_address(&self) -> Option<(Origin, &Address)> {
        let is_alone = self.access.store || !self.apart_from.is_empty();
        self.counting.as_ref().filter(|_| !is_alone).map(|counting| (self.origin, &counting.address))
    }
}

impl Fused {
    /// Finds the accesses whose addresses count, given the strides of VGPRs as they are before the part. Returns the values
    /// that are needed lane by lane.
    pub(super) fn find_strided(&mut self, registers: &HashMap<Value, Stride>, guess: &Guess) -> HashSet<Value> {
        let all = self.needed(|_| true);
        if !self.find_counting(registers, guess) {
            return all;
        }
        let assumed: Vec<Vec<Value>> = self.stages.iter().map(|stage| stage.assumed.clone()).collect();
        let guards = self.take_guards();
        let (ends, lanes) = (self.ends(&guards), self.needed(|access| access.counting.is_none()));
        let is_saved = |value: &&Value| !lanes.contains(value) && self.is_computed(**value);
        let saved = all.iter().filter(is_saved).count() * CHUNKS;
        let search = if guess.over_wave { SEARCH.0 } else { SEARCH.1 };
        let searches = self.accesses.iter().filter(|access| access.counting.is_some()).count() * search;
        let cost: usize = ends.iter().map(|value| self.cost(*value)).sum();
        // Together, there is nothing else that could be done.
        if saved + searches <= cost && !guess.is_alike {
            self.accesses.iter_mut().for_each(|access| access.counting = None);
            self.stages.iter_mut().zip(assumed).for_each(|(stage, assumed)| stage.assumed = assumed);
            return all;
        }
        self.list_ends(&ends, &guards, &guards);
        lanes
    }

    /// Finds the strides of values, and accesses whose addresses count. Returns whether there are any.
    pub(super) fn find_counting(&mut self, registers: &HashMap<Value, Stride>, guess: &Guess) -> bool {
        self.find_strides(registers, guess);
        let found: Vec<Option<Counting>> = self.accesses.iter().map(|access| self.counting(access)).collect();
        self.accesses.iter_mut().zip(found).for_each(|(access, counting)| access.counting = counting);
        self.accesses.iter().any(|access| access.counting.is_some())
    }

    fn find_strides(&mut self, registers: &HashMap<Value, Stride>, guess: &Guess) {
        let mut strides: Vec<Stride> = Vec::with_capacity(self.block.nodes.len());
        for (i, node) in self.block.nodes.iter().enumerate() {
            let value = Value(i as u32);
            let of = |arg: Value| strides[arg.index()];
            strides.push(match node.op {
                Op::Vgpr => registers.get(&value).copied().flatten(),
                _ if self.plan.ranks[i].is_none() => None,
                _ if !guess.inside && is_clamped(node, of) => None,
                _ => stride(&self.block, node, guess.reach, of),
            });
        }
        self.strides = strides;
    }

    /// How the addresses of an access count, if its code can use that.
    fn counting(&self, access: &FusedAccess) -> Option<Counting> {
        let is_uniform = |value: &Value| self.block.node(*value).shape == Shape::Uniform;
        if access.address.iter().all(is_uniform) {
            return None;
        }
        let address = Address::of(&self.block, &access.address);
        let stride =
            address.stride(|value| self.strides[value.index()]).filter(|stride| is_small(*stride, self.reach))?;
        let lanes = &access.access;
        let is_run = stride == lanes.lane_bytes();
        let fits = match lanes.small {
            Some(_) => is_run || stride == 0 && !lanes.store,
            None => is_run || stride >= 0 && !lanes.store,
        };
        fits.then_some(Counting { stride, address, behind: 0 })
    }

    /// Takes the masks that are true in all lanes of a chunk if they are so at its ends.
    fn take_guards(&mut self) -> Vec<Value> {
        let mut stages = std::mem::take(&mut self.stages);
        let assumed = stages.iter_mut().flat_map(|stage| stage.assumed.extract_if(.., |mask| self.counts(*mask)));
        let guards = assumed.collect();
        self.stages = stages;
        guards
    }

    /// Whether a value is not loaded, and has a stride.
    pub(super) fn counts(&self, value: Value) -> bool {
        let is_loaded = |value: &Value| self.node(*value).op == Op::Loaded;
        let has_stride = self.strides[value.index()].is_some() && self.node(value).shape == Shape::Lane;
        has_stride && !self.with_arguments(vec![value]).iter().any(is_loaded)
    }

    /// What is computed at the ends of chunks: addresses, others, and what they are made of.
    pub(super) fn ends(&self, others: &[Value]) -> HashSet<Value> {
        let counting = self.accesses.iter().filter_map(|access| access.counting.as_ref());
        let of_addresses = counting.flat_map(|counting| counting.address.values());
        let mut ends = self.with_arguments(of_addresses.chain(others.iter().copied()).collect());
        ends.retain(|value| self.node(*value).shape == Shape::Lane);
        ends
    }

    fn node(&self, value: Value) -> &Node {
        self.block.node(value)
    }

    fn is_computed(&self, value: Value) -> bool {
        self.node(value).shape == Shape::Lane
            && !matches!(self.node(value).op, Op::Vgpr | Op::LaneId | Op::GroupId | Op::Loaded)
    }

    fn cost(&self, value: Value) -> usize {
        match self.node(value).op {
            Op::Vgpr => REGISTER,
            _ if check(self.node(value), |arg| self.strides[arg.index()]) == Check::default() => 1,
            _ => 1 + CHECK,
        }
    }

    /// Addresses are checked as early as they can be: before the part's first access, but for those that come of scalars
    /// that it loads. Others, and what they are made of, are found before it. Guards have to be true.
    pub(super) fn list_ends(&mut self, ends: &HashSet<Value>, others: &[Value], guards: &[Value]) {
        let mut values = vec![Vec::new(); self.stages.len()];
        let mut checks = vec![Vec::new(); self.stages.len()];
        values[0].extend(self.with_arguments(others.to_vec()).into_iter().filter(|value| ends.contains(value)));
        values[0].sort_unstable();
        let mut listed: HashSet<Value> = values[0].iter().copied().collect();
        for i in 0..self.stages.len() {
            let access =
                self.stages[i].access.and_then(|access| Some((access, self.accesses[access].counting.as_ref()?)));
            let Some((access, counting)) = access else { continue };
            let needed = self.with_arguments(counting.address.values().collect());
            let stage = if needed.iter().any(|value| self.node(*value).op == Op::Loaded) { i } else { 0 };
            let mut new: Vec<Value> = needed.into_iter().filter(|v| ends.contains(v) && listed.insert(*v)).collect();
            new.sort_unstable();
            values[stage].extend(new);
            values[stage].sort_unstable();
            checks[stage].push(access);
        }
        let mut claims = Claims::new(&self.block, &self.strides);
        let mut of_addresses: HashMap<Value, Vec<Claim>> = HashMap::default();
        for ((stage, values), checks) in self.stages.iter_mut().zip(values).zip(&checks) {
            stage.ends = values.iter().copied().zip(claims.of(&values)).collect();
            let counting = checks.iter().filter_map(|access| self.accesses[*access].counting.as_ref());
            for term in counting.flat_map(|counting| &counting.address.terms) {
                let claim = claims.in_order(term.low, term.order());
                of_addresses.entry(term.low).or_default().extend(claim);
            }
        }
        of_addresses.extend(guards.iter().map(|mask| (*mask, vec![Claim::True(*mask)])));
        // Where a value is computed may be long before an access needs it in order.
        for (value, claims) in self.stages.iter_mut().flat_map(|stage| &mut stage.ends) {
            claims.extend(of_addresses.remove(value).unwrap_or_default());
        }
        for (i, checks) in checks.into_iter().enumerate() {
            self.stages[i].checks = self.groups(checks);
        }
    }

    /// Accesses with addresses that count, as they are checked.
    fn groups(&mut self, checks: Vec<usize>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for access in checks {
            let bytes = self.accesses[access].bytes();
            let common = self.accesses[access].common_address();
            let is_like = |group: &&mut Group| self.accesses[group.accesses[0]].common_address() == common;
            match groups.iter_mut().find(is_like).filter(|_| common.is_some()) {
                Some(group) => {
                    group.bytes = group.bytes.start.min(bytes.start)..group.bytes.end.max(bytes.end);
                    group.accesses.push(access);
                }
                None => groups.push(Group { accesses: vec![access], bytes }),
            }
        }
        for (group, access) in groups.iter().flat_map(|group| group.accesses.iter().map(move |access| (group, *access)))
        {
            let access = &mut self.accesses[access];
            let behind = access.bytes().start - group.bytes.start;
            access.counting.iter_mut().for_each(|counting| counting.behind = behind);
        }
        groups
    }
}
