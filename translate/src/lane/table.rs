//! What is known of some of a block's values, found by their numbers.

use super::Value;

/// A map from values.
#[derive(Clone, Debug, Default)]
pub struct Table<T>(Vec<Option<T>>);

impl<T: Copy> Table<T> {
    /// An empty one, with room for the values of a block of so many nodes.
    pub fn with_capacity(nodes: usize) -> Table<T> {
        Table(Vec::with_capacity(nodes))
    }

    /// What is known of the value.
    pub fn get(&self, value: Value) -> Option<T> {
        self.0.get(value.index()).copied().flatten()
    }

    /// Whether anything is.
    pub fn contains(&self, value: Value) -> bool {
        self.get(value).is_some()
    }

    /// Says something of the value, in place of what was said before.
    pub fn insert(&mut self, value: Value, what: T) {
        if self.0.len() <= value.index() {
            self.0.resize(value.index() + 1, None);
        }
        self.0[value.index()] = Some(what);
    }

    /// Says it unless something has been said before.
    pub fn insert_first(&mut self, value: Value, what: T) {
        if !self.contains(value) {
            self.insert(value, what);
        }
    }

    /// Forgets the values from a number on.
    pub fn truncate(&mut self, nodes: usize) {
        self.0.truncate(nodes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, Value};

    #[test]
    fn says_what_was_said() {
        let mut table = Table::with_capacity(4);
        table.insert(Value(9), 'a');
        table.insert_first(Value(9), 'b');
        table.insert_first(Value(2), 'c');
        table.insert(Value(2), 'd');
        assert_eq!([9, 2, 3, 10].map(|value| table.get(Value(value))), [Some('a'), Some('d'), None, None]);
        table.truncate(9);
        assert!(!table.contains(Value(9)) && table.contains(Value(2)));
    }
}
