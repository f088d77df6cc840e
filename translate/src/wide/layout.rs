//! The frame below the slots, as the code of a segment or a fused part finds it. All offsets are from the slots down: who
//! makes the frame need not know before how much of it is used.

use crate::lane::{Op, Shape, Value};
use crate::pass::demand::Demand;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Offsets in the frame.
#[derive(Default)]
pub struct Layout {
    scalars: Vec<Value>,
    places: HashMap<Value, i32>,
    /// Where the bits of the first mask go, and how many masks there are.
    first_bits: i32,
    bits: usize,
    /// Used so far.
    bytes: i32,
}

impl Layout {
    /// Bytes next to the slots that all code finds the same.
    pub const HEAD: usize = 24;
    /// Where the address of the [`Context`](crate::jit::Context) is.
    pub const CONTEXT: i32 = -8;
    /// Where the coordinate x of the work-group is, if waves are run together.
    pub const GROUP_ID: i32 = -16;
    /// A quadword: not 0 while a loop keeps registers that are not in the register file.
    pub const KEPT: i32 = -24;

    /// Room for the bits of so many masks, and no scalars yet.
    pub fn new(bits: usize) -> Layout {
        let bytes = (Layout::HEAD + 8 * bits) as i32;
        Layout { first_bits: -bytes, bits, bytes, ..Layout::default() }
    }

    /// One for other values: of this one's scalars under other names, with the same bits.
    pub fn renamed(&self, names: impl Iterator<Item = (Value, Value)>) -> Layout {
        let places = names.filter_map(|(here, there)| Some((here, *self.places.get(&there)?))).collect();
        Layout { scalars: Vec::new(), places, ..*self }
    }

    /// The same for who knows only some of its masks.
    pub fn window(&self, first: usize, count: usize) -> Layout {
        let places = self.places.clone();
        Layout { scalars: Vec::new(), places, first_bits: self.bits(first), bits: count, ..*self }
    }

    /// Gives the uniform values places that a segment reads there: those that are no constants, and all masks.
    pub fn add_scalars(&mut self, demand: &Demand<'_>) {
        let needed = demand.needed(None);
        let node = |value: &Value| demand.node(*value);
        let spread = needed.iter().filter(|value| node(value).op == Op::Spread);
        let masks: HashSet<Value> = spread.map(|value| node(value).args[0]).collect();
        let stored = |value: &Value| {
            node(value).shape == Shape::Uniform && (node(value).op != Op::Const || masks.contains(value))
        };
        needed.into_iter().filter(stored).for_each(|value| self.add_scalar(value));
    }

    /// Gives a uniform value a place, unless it has one.
    pub fn add_scalar(&mut self, value: Value) {
        if !self.places.contains_key(&value) {
            let at = self.spill(8);
            self.places.insert(value, at);
            self.scalars.push(value);
        }
    }

    /// The uniform values that are read, with their places.
    pub fn scalars(&self) -> impl Iterator<Item = (Value, i32)> {
        self.scalars.iter().map(|value| (*value, self.scalar(*value)))
    }

    /// Where a uniform value is.
    pub fn scalar(&self, value: Value) -> i32 {
        self.places[&value]
    }

    /// Where the bits of mask `index` go.
    pub fn bits(&self, index: usize) -> i32 {
        self.first_bits + 8 * index as i32
    }

    /// Masks of which there are bits.
    pub fn bits_count(&self) -> usize {
        self.bits
    }

    /// Room for a value that leaves its register, aligned to its size.
    pub fn spill(&mut self, bytes: i32) -> i32 {
        self.bytes = (self.bytes + 2 * bytes - 1) / bytes * bytes;
        -self.bytes
    }

    /// Room for so many bytes, aligned to 64.
    pub fn room(&mut self, bytes: i32) -> i32 {
        self.bytes = (self.bytes + bytes + 63) / 64 * 64;
        -self.bytes
    }

    /// Bytes used.
    pub fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Uses as much as another one too.
    pub fn cover(&mut self, other: &Layout) {
        self.bytes = self.bytes.max(other.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::lane::Value;

    #[test]
    fn nothing_overlaps() {
        let mut layout = Layout::new(2);
        layout.add_scalar(Value(3));
        layout.add_scalar(Value(1));
        layout.add_scalar(Value(3));
        assert_eq!([layout.bits(0), layout.bits(1)], [-40, -32]);
        assert_eq!(layout.scalars().collect::<Vec<_>>(), [(Value(3), -48), (Value(1), -56)]);
        assert_eq!([layout.spill(64), layout.spill(2), layout.spill(64)], [-128, -130, -256]);
        let mut window = layout.window(1, 1);
        assert_eq!((window.bits(0), window.scalar(Value(1)), window.spill(64)), (-32, -56, -320));
        layout.cover(&window);
        assert_eq!(layout.bytes(), 320);
    }
}
