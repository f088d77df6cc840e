//! Loads of SGPRs that can be done together: plain ones that follow each other, at constant distances from one address.
//!
//! Translated code does them in place if it starts from the address from which all their bytes were last found in one
//! allocation ([`Site::PROVEN`](crate::access::Site::PROVEN)), or from anywhere in that allocation, if the address is likely
//! to be another one each time.

use crate::access::ScalarLoad;
use crate::lane::{Block, Op, Value};
use crate::pass::segment::Item;
use gcnjit_rt::Wave;
use std::ops::Range;

/// Bytes between loads that are done together.
const NEAR: u64 = 4096;

/// Loads that are done together.
#[derive(Clone, Debug)]
pub struct ScalarLoads {
    /// The number of the first; the others follow it.
    pub first: usize,
    /// The loads. All start from the same registers, which only the last may overwrite.
    pub loads: Vec<ScalarLoad>,
    /// Whether the block that they are in moves the base on, as loops do.
    pub moves: bool,
}

/// Those among what is done of a block.
pub fn find(block: &Block, items: &[Item]) -> Vec<ScalarLoads> {
    let mut found: Vec<ScalarLoads> = Vec::new();
    // Whether the item before was a load of the last of them.
    let mut open = false;
    for item in items {
        let Some((number, load)) = scalar_load(block, item) else {
            open = false;
            continue;
        };
        match found.last_mut().filter(|loads| open && loads.takes(number, &load)) {
            Some(loads) => loads.loads.push(load),
            None => found.push(ScalarLoads { first: number, loads: vec![load], moves: moves(block, items, &load) }),
        }
        open = true;
    }
    found
}

/// Whether items compute what a load starts from.
fn moves(block: &Block, items: &[Item], load: &ScalarLoad) -> bool {
    items.iter().any(|item| {
        let Item::Scalar(value) = *item else { return false };
        let node = block.node(value);
        let register = node.imm as usize;
        node.op == Op::SetSgpr && (register == load.base || Some(register) == load.soffset)
    })
}

fn scalar_load(block: &Block, item: &Item) -> Option<(usize, ScalarLoad)> {
    let Item::Scalar(value) = *item else { return None };
    let number = access(block, value)?;
    Some((number, block.accesses[number].scalar_load()?))
}

/// The number of the access that a node is.
pub fn access(block: &Block, value: Value) -> Option<usize> {
    let node = block.node(value);
    (node.op == Op::Access).then_some(node.imm as usize)
}

impl ScalarLoads {
    /// Whether a load can be added. The low two bits of an address are ignored: only of offsets that are multiples of four
    /// the sums are as far apart as they are.
    fn takes(&self, number: usize, next: &ScalarLoad) -> bool {
        let first = &self.loads[0];
        let is_base = |register: usize| register == first.base || register == first.base + 1;
        let is_near = (next.offset - first.offset).unsigned_abs() < NEAR;
        let overwritten = self.loads.iter().any(|load| (load.first..load.first + load.count).any(is_base));
        number == self.first + self.loads.len()
            && first.offset % 4 == 0
            && next.offset % 4 == 0
            && first.soffset.is_none()
            && next.soffset.is_none()
            && next.base == first.base
            && is_near
            && !overwritten
    }

    /// What of the offsets is in [`ScalarLoads::address`]: nothing, if host instructions can add them.
    pub fn origin(&self) -> i64 {
        let fits = |load: &ScalarLoad| load.offset % 4 == 0 && load.offset.unsigned_abs() < 1 << 30;
        let lowest = || self.loads.iter().map(|load| load.offset).min().expect("there is one");
        if self.loads.iter().all(fits) { 0 } else { lowest() }
    }

    /// The address that the loads are counted from.
    pub fn address(&self, wave: &Wave) -> u64 {
        let first = &self.loads[0];
        let more = first.soffset.map_or(0, |register| u64::from(wave.sgpr[register]));
        wave.sgpr64(first.base).wrapping_add(more).wrapping_add_signed(self.origin()) & !3
    }

    /// The bytes that they load and what is between, from there.
    pub fn bytes(&self) -> Range<i64> {
        let start = self.loads.iter().map(|load| load.offset).min().expect("there is one");
        let end = self.loads.iter().map(|load| load.offset + 4 * load.count as i64).max().expect("there is one");
        start - self.origin()..end - self.origin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(base: usize, soffset: Option<usize>, offset: i64, first: usize, count: usize) -> ScalarLoad {
        ScalarLoad { base, soffset, offset, first, count }
    }

    fn alone(load: ScalarLoad) -> ScalarLoads {
        ScalarLoads { first: 3, loads: vec![load], moves: false }
    }

    #[test]
    fn loads_are_done_together_only_at_constant_distances() {
        let loads = alone(load(4, None, 0x10, 8, 2));
        assert!(loads.takes(4, &load(4, None, 0x20, 0, 4)));
        assert!(!loads.takes(5, &load(4, None, 0x20, 0, 4)), "there is one between");
        assert!(!loads.takes(4, &load(6, None, 0x20, 0, 4)), "another base");
        assert!(!loads.takes(4, &load(4, Some(2), 0x20, 0, 4)), "another register is added");
        assert!(!loads.takes(4, &load(4, None, 0x22, 0, 4)), "its low bits are ignored");
        assert!(!loads.takes(4, &load(4, None, 0x2000, 0, 4)), "far away");
        let overwritten = alone(load(4, None, 0x10, 5, 1));
        assert!(!overwritten.takes(4, &load(4, None, 0x20, 0, 4)));
    }

    #[test]
    fn a_base_moves_if_the_block_writes_it() {
        let mut block = Block::new(0);
        block.effect(Op::SetSgpr, [Value(0), Value::NONE, Value::NONE], 4);
        let items = [Item::Scalar(Value(0))];
        assert!(moves(&block, &items, &load(4, None, 0, 8, 1)));
        assert!(moves(&block, &items, &load(6, Some(4), 0, 8, 1)));
        assert!(!moves(&block, &items, &load(6, None, 0, 4, 1)));
    }

    #[test]
    fn all_bytes_are_counted_from_the_address() {
        let mut wave = Wave::new();
        wave.set_sgpr64(4, 0x1_0000_0002);
        wave.sgpr[6] = 0x30;
        let mut near = alone(load(4, None, 0x10, 8, 2));
        near.loads.push(load(4, None, 0x8, 0, 1));
        assert_eq!((near.address(&wave), near.bytes()), (0x1_0000_0000, 0x8..0x18));
        let unaligned = alone(load(4, Some(6), 0x13, 8, 4));
        assert_eq!((unaligned.address(&wave), unaligned.bytes()), (0x1_0000_0044, 0..0x10));
        let far = alone(load(4, None, 0x8000_0000, 8, 1));
        assert_eq!((far.address(&wave), far.bytes()), (0x1_8000_0000, 0..4));
    }
}
