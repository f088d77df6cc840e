//! What samples are made of: texels, and border colours from a table in guest memory.
//!
//! On hardware the table is global: a driver puts its address into TA_BC_BASE_ADDR (Mesa's gfx6.json to gfx9.json), and
//! an S# with BORDER_COLOR_TYPE 3 names one of its 4096 entries by BORDER_COLOR_PTR (Southern Islands manual, table
//! 8.12). An entry is four dwords, x y z w, as a load would put a texel's components into registers.

use super::{Bad, Texel, Unsupported};
use crate::memory::Cursor;

/// Where [`sample`](super::sample()) and its kin get texels and border colours from. A closure that gives texels is one
/// without a table.
pub trait TexelSource {
    /// What ends a sample.
    type Error: From<Unsupported>;

    /// The components of a texel, before the destination selects.
    ///
    /// # Errors
    /// If there is no such texel to be had.
    fn texel(&mut self, texel: Texel) -> Result<[u32; 4], Self::Error>;

    /// The colour of an entry of the table, from 0 to 4095. Only asked for where a sample takes it.
    ///
    /// # Errors
    /// If there is no such entry to be had.
    #[inline]
    fn border(&mut self, entry: u16) -> Result<[u32; 4], Self::Error> {
        Err(Unsupported::BorderTable(entry).into())
    }
}

impl<F, E> TexelSource for F
where
    F: FnMut(Texel) -> Result<[u32; 4], E>,
    E: From<Unsupported>,
{
    type Error = E;

    #[inline(always)]
    fn texel(&mut self, texel: Texel) -> Result<[u32; 4], E> {
        self(texel)
    }
}

/// A source of two closures.
pub struct Bordered<T, B> {
    /// Gives texels.
    pub texel: T,
    /// Gives entries of the table.
    pub border: B,
}

impl<T, B, E> TexelSource for Bordered<T, B>
where
    T: FnMut(Texel) -> Result<[u32; 4], E>,
    B: FnMut(u16) -> Result<[u32; 4], E>,
    E: From<Unsupported>,
{
    type Error = E;

    #[inline(always)]
    fn texel(&mut self, texel: Texel) -> Result<[u32; 4], E> {
        (self.texel)(texel)
    }

    #[inline]
    fn border(&mut self, entry: u16) -> Result<[u32; 4], E> {
        (self.border)(entry)
    }
}

/// The table of border colours that a launch was given, if it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BorderColors(Option<u64>);

impl BorderColors {
    /// No table.
    pub const NONE: BorderColors = BorderColors(None);
    /// Bytes of an entry.
    pub const ENTRY: usize = 16;

    /// The table at a guest address. Hardware has multiples of 256; any will do. Nothing need be mapped but the entries
    /// that samples take.
    pub fn at(address: u64) -> BorderColors {
        BorderColors(Some(address))
    }

    /// Guest address of an entry.
    ///
    /// # Errors
    /// [`Unsupported::BorderTable`] if there is no table.
    pub fn address(self, entry: u16) -> Result<u64, Unsupported> {
        let table = self.0.ok_or(Unsupported::BorderTable(entry))?;
        Ok(table.wrapping_add(u64::from(entry) * Self::ENTRY as u64))
    }

    /// The colour of an entry.
    ///
    /// # Errors
    /// As [`BorderColors::address`]'s; or if the entry is not mapped.
    pub fn read(self, memory: &Cursor<'_>, entry: u16) -> Result<[u32; 4], Bad> {
        let address = self.address(entry)?;
        let mut bytes = [0; Self::ENTRY];
        memory.read(address, &mut bytes).map_err(|cause| Bad { cause, address })?;
        Ok([0, 4, 8, 12].map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])))
    }
}
