//! Passes over the lane IR, in the order in which they run. Folding and common subexpressions are found while a
//! block is built (`lane::fold`).

pub mod alike;
pub mod compact;
pub mod demand;
pub mod exec;
mod forward;
pub mod fuse;
pub mod initial;
pub mod live;
#[cfg(test)]
pub(crate) mod numbers;
pub mod registers;
pub mod scalar_loads;
pub mod segment;
pub mod strides;
pub mod superblock;
