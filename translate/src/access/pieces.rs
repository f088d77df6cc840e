//! The path for everything that is not in one piece of memory: lane by lane, and dword by dword where dwords of one
//! lane may be apart (swizzled memory) or out of range on their own (buffers, LDS).

use super::Bad;
use super::lanes::each;
use gcnjit_rt::lds::Reach;
use gcnjit_rt::{Cause, Env};
use std::ptr::{null_mut, without_provenance_mut};

/// Where every unit of every lane is, checked: pointers that may be accessed, or null for out of range.
pub(super) struct Pieces {
    pub exec: u64,
    /// Lanes whose pieces are in LDS, which no other thread accesses.
    pub local: u64,
    /// By unit, then lane. For an atomic on a local lane it is the LDS address.
    pub at: [[*mut u8; 64]; 4],
}

/// Where one unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Out of range: reads zero, is not written.
    Nowhere,
    /// At a guest address, from where this many bytes must be accessible.
    Memory(u64, u64),
    /// At an LDS address.
    Lds(u64),
}

/// How an access is cut into units, and what is asked of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Units a lane: at most 4.
    pub units: usize,
    /// Bytes a unit.
    pub bytes: u32,
    pub write: bool,
    /// Memory must be naturally aligned, LDS need not be in range.
    pub atomic: bool,
}

impl Pieces {
    /// Resolves all units of the lanes of `exec` in lane order. `find` says where unit `k` of a lane is. The first bad
    /// one is the error.
    #[cold]
    #[inline(never)]
    pub(super) fn new(
        env: &Env<'_>,
        exec: u64,
        cut: Cut,
        find: impl Fn(usize, usize) -> Unit,
    ) -> Result<Box<Pieces>, Bad> {
        let mut pieces = Box::new(Pieces { exec, local: 0, at: [[null_mut(); 64]; 4] });
        for lane in each(exec) {
            for k in 0..cut.units {
                pieces.at[k][lane] = match find(lane, k) {
                    Unit::Nowhere => null_mut(),
                    Unit::Memory(address, len) => {
                        let bad = |cause| Bad { cause, address, lane: lane as u32 };
                        check(env, address, len, cut).map_err(bad)?
                    }
                    Unit::Lds(address) => {
                        pieces.local |= 1 << lane;
                        local(env.lds.whole(), address, cut)
                    }
                };
            }
        }
        Ok(pieces)
    }
}

/// The pointer to a unit at a guest address from where `len` bytes must be accessible.
fn check(env: &Env<'_>, address: u64, len: u64, cut: Cut) -> Result<*mut u8, Cause> {
    let at = env.memory.check(address, len, cut.write)?;
    if cut.atomic && !address.is_multiple_of(u64::from(cut.bytes)) {
        return Err(Cause::Misaligned);
    }
    Ok(at)
}

/// The pointer to a unit at an LDS address, or null. Atomics get the address itself, and go through `Reach`.
fn local(lds: Reach<'_>, address: u64, cut: Cut) -> *mut u8 {
    let inside = address + u64::from(cut.bytes) <= u64::from(lds.size());
    match inside {
        _ if cut.atomic => without_provenance_mut(address as usize),
        true => lds.as_ptr().wrapping_add(address as usize),
        false => null_mut(),
    }
}
