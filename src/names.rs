//! Names of memory: what people call an address.

/// Runs of guest addresses with names, such as the buffers of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<(u64, u64, String)>);

impl Names {
    /// Names the `len` bytes from `start` on.
    pub fn add(&mut self, start: u64, len: u64, name: impl Into<String>) {
        self.0.push((start, len, name.into()));
    }

    /// `address` as a name and an offset, or as a number.
    pub fn place(&self, address: u64) -> String {
        match self.0.iter().find(|(start, len, _)| address.wrapping_sub(*start) < *len) {
            Some((start, _, name)) => format!("{name}+{:#x}", address - start),
            None => format!("{address:#x}"),
        }
    }
}
