//! Guest memory. A guest pointer is a host address.
//!
//! [`Memory`] owns one large reserved range of host addresses, the arena, and hands out allocations in it: page
//! aligned, with inaccessible gaps between them, none of at most 4 GiB crossing a 4 GiB boundary. Host memory can be
//! imported beside it. A dispatch works on a [`View`], an immutable snapshot of the table of ranges; the pages of an
//! allocation stay committed, and its addresses unused, until it is freed *and* no view of it is left. Allocations
//! together are limited to a number of bytes; imports are the host's and don't count.
//!
//! Invariants:
//! - the ranges of a table are sorted, not empty and disjoint;
//! - every byte of a range of a table that somebody holds is mapped, and writable if the range says so;
//! - no Rust reference to guest memory exists: guests run on several threads and may race as they like, so all
//!   access is by raw pointer, as relaxed atomic operations on the largest naturally aligned units.

use crate::copy;
use crate::fault::Cause;
use crate::pages::{self, PAGE, Reservation};
use crate::trapsts;
use std::any::Any;
use std::cell::Cell;
use std::io;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the arena asks the host to reserve, in bytes.
const ARENA: u64 = 1 << 40;
/// The smallest arena that is of use, in bytes.
const LEAST_ARENA: u64 = 1 << 30;
/// Inaccessible bytes between allocations, at least.
const GUARD: u64 = 64 << 10;
/// Allocations up to this size don't cross a multiple of it.
const WINDOW: u64 = 1 << 32;

/// How many freed pages stay committed. Each launch has a page for its arguments, and asking the host for it takes longer
/// than many a launch.
const SPARE_PAGES: usize = 16;

/// Flat addresses from here to 4 GiB further are LDS (gfx7 and later). Above every host user address.
pub const LDS_APERTURE: u64 = 1 << 48;
/// Flat addresses from here to 4 GiB further are scratch (gfx7 and later). Above every host user address.
pub const PRIVATE_APERTURE: u64 = 2 << 48;

/// Why memory was not allocated, freed, imported or copied.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// No free addresses for this many bytes.
    #[error("no room for an allocation of {0} bytes")]
    Full(u64),
    /// More than the device has.
    #[error("an allocation of {asked} bytes, {used} of {limit} are in use")]
    Limit {
        /// Bytes asked for, in whole pages.
        asked: u64,
        /// Bytes allocated already.
        used: u64,
        /// The most that can be.
        limit: u64,
    },
    /// The host refused.
    #[error("host memory: {0}")]
    Host(#[from] io::Error),
    /// No allocation or import starts there.
    #[error("no allocation starts at {0:#x}")]
    NotAllocated(u64),
    /// The range to import is empty, null, wraps around or overlaps another.
    #[error("cannot import {len} bytes at {address:#x}: empty, null, wrapping or overlapping")]
    Import {
        /// First byte.
        address: u64,
        /// Size in bytes.
        len: u64,
    },
    /// A copy by the host that is not inside one range.
    #[error("{cause} at {address:#x}")]
    Access {
        /// What is wrong.
        cause: Cause,
        /// First byte of the access.
        address: u64,
    },
}

/// A run of accessible guest addresses. `repr(C)` because translated code may search the table.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// Whether guests may write it.
    pub writable: bool,
    /// Whether guests may execute it.
    pub executable: bool,
}

/// A part of an allocation that is given its own rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first byte from the allocation's start.
    pub offset: u64,
    /// Size in bytes; pieces of size zero are left out.
    pub len: u64,
    /// Whether guests may write it.
    pub writable: bool,
    /// Whether guests may execute it.
    pub executable: bool,
}

impl Piece {
    /// A piece that guests may only read.
    pub fn constant(offset: u64, len: u64) -> Piece {
        Piece { offset, len, writable: false, executable: false }
    }

    /// A piece that guests may read and write.
    pub fn data(offset: u64, len: u64) -> Piece {
        Piece { offset, len, writable: true, executable: false }
    }
}

/// Guest memory: the arena and the table of what is allocated and imported. A handle; clones share it.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    arena: Arc<Arena>,
    table: Mutex<Arc<Table>>,
}

/// The sorted ranges, and what keeps each alive, at the same index. Copied on write when a view holds it.
#[derive(Clone, Debug, Default)]
struct Table {
    ranges: Vec<Range>,
    owners: Vec<Arc<Owner>>,
}

/// An allocation or import: the reason some ranges exist. Dropping the last reference gives the memory back.
#[derive(Debug)]
struct Owner {
    /// No other owner has had it, or will.
    id: u64,
    start: u64,
    len: u64,
    backing: Backing,
    /// How often a loader has written it.
    version: AtomicU64,
    /// What was found in its code: twice the version that was looked at, and 2, plus 1 if it names TRAPSTS; 0 if nobody
    /// has looked.
    looked: AtomicU64,
}

/// Where the memory of an owner is.
#[derive(Debug)]
enum Backing {
    /// In the arena.
    Arena(Arc<Arena>),
    /// Somewhere in the host; the value, if any, keeps it there.
    Host { _keep: Box<dyn Any + Send + Sync> },
}

#[derive(Debug)]
struct Arena {
    reservation: Reservation,
    /// Free address runs `(start, len)`, sorted, never adjacent.
    free: Mutex<Vec<(u64, u64)>>,
    /// Freed allocations of a page, whose pages are still committed.
    spare: Mutex<Vec<u64>>,
    /// Bytes committed, and how many may be; spare pages don't count.
    budget: Mutex<Budget>,
}

#[derive(Debug)]
struct Budget {
    used: u64,
    limit: u64,
}

/// A lock whose data is consistent at every point where a holder could panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Reserves an arena of 1 TiB, or as much as the host grants. As many bytes can be allocated as the host has memory.
    pub fn new() -> Result<Memory, MemoryError> {
        Memory::with_arena(ARENA)
    }

    /// Reserves an arena of at most `len` bytes (a power of two, at least 1 GiB).
    pub fn with_arena(len: u64) -> Result<Memory, MemoryError> {
        let reservation = Reservation::new(len.max(LEAST_ARENA), LEAST_ARENA)?;
        let free = Mutex::new(vec![(reservation.base(), reservation.len())]);
        let budget = Mutex::new(Budget { used: 0, limit: pages::host_memory() });
        let arena = Arc::new(Arena { reservation, free, spare: Mutex::default(), budget });
        Ok(Memory(Arc::new(Shared { arena, table: Mutex::default() })))
    }

    /// Bytes that allocations take, in whole pages; those that views keep count.
    pub fn used(&self) -> u64 {
        lock(&self.0.arena.budget).used
    }

    /// The most bytes that allocations can take together.
    pub fn limit(&self) -> u64 {
        lock(&self.0.arena.budget).limit
    }

    /// Sets the most bytes that allocations can take together from now on.
    pub fn set_limit(&self, bytes: u64) {
        lock(&self.0.arena.budget).limit = bytes;
    }

    /// The arena's addresses: every allocation lies inside, imports do not.
    pub fn arena(&self) -> std::ops::Range<u64> {
        let base = self.0.arena.reservation.base();
        base..base + self.0.arena.reservation.len()
    }

    /// Allocates `len` bytes (0 counts as 1) of zeroed, writable memory. The address is a multiple of 256.
    pub fn alloc(&self, len: u64) -> Result<u64, MemoryError> {
        let len = len.max(1);
        self.alloc_pieces(len, &[Piece::data(0, len)])
    }

    /// Allocates `len` bytes of which only `pieces` are accessible. They must be sorted, disjoint and inside.
    pub fn alloc_pieces(&self, len: u64, pieces: &[Piece]) -> Result<u64, MemoryError> {
        let mut end = 0;
        for piece in pieces {
            assert!(
                piece.offset >= end && piece.offset <= len && piece.len <= len - piece.offset,
                "bad piece {piece:?}"
            );
            end = piece.offset + piece.len;
        }
        let owner = Arena::commit(&self.0.arena, len)?;
        let start = owner.start;
        lock(&self.0.table).insert(owner, pieces);
        Ok(start)
    }

    /// Frees the allocation or ends the import that starts at `address`. Views taken before still reach it; later
    /// ones don't.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let removed = lock(&self.0.table).remove(address);
        // The pages go back here, outside of the lock, unless a view holds the owner.
        removed.map(drop).ok_or(MemoryError::NotAllocated(address))
    }

    /// Size in bytes of the allocation or import that starts at `address`.
    pub fn size(&self, address: u64) -> Option<u64> {
        lock(&self.0.table).owner(address).map(|owner| owner.len)
    }

    /// Makes `len` bytes of host memory at `host` accessible to guests; their address is the guest pointer.
    ///
    /// # Safety
    /// Until [`Memory::free`] is called on the address and no [`View`] taken before that is left, the memory stays
    /// mapped (and writable, if `writable`), and is neither referenced nor accessed non-atomically by Rust code while
    /// a dispatch runs.
    pub unsafe fn import(&self, host: *mut u8, len: u64, writable: bool) -> Result<u64, MemoryError> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.import_with(host, len, writable, Box::new(())) }
    }

    /// The same; `keep` is dropped once guests can't reach the memory any more.
    ///
    /// # Safety
    /// Until `keep` is dropped, the memory stays mapped (and writable, if `writable`), and is neither referenced nor
    /// accessed non-atomically by Rust code.
    pub(crate) unsafe fn import_with(
        &self,
        host: *mut u8,
        len: u64,
        writable: bool,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Result<u64, MemoryError> {
        let address = host.expose_provenance() as u64;
        let error = MemoryError::Import { address, len };
        let Some(end) = address.checked_add(len) else { return Err(error) };
        let arena = self.arena();
        if len == 0 || address < PAGE || (address < arena.end && arena.start < end) {
            return Err(error);
        }
        let mut table = lock(&self.0.table);
        if table.overlaps(address, end) {
            return Err(error);
        }
        let owner = Owner::new(address, len, Backing::Host { _keep: keep });
        table.insert(owner, &[Piece { writable, ..Piece::constant(0, len) }]);
        Ok(address)
    }

    /// The memory as it is now, for a dispatch.
    pub fn view(&self) -> View {
        View(lock(&self.0.table).clone())
    }

    /// Copies guest memory at `address` to `data`.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        self.view().read(address, data).map_err(|cause| MemoryError::Access { cause, address })
    }

    /// Copies `data` to guest memory at `address`.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.view().store(address, data).map_err(|cause| MemoryError::Access { cause, address })
    }

    /// Copies `data` into the allocation at `start`, to `offset`, whatever rights its pieces have: for loaders.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] if there is none that has room for it.
    pub fn initialise(&self, start: u64, offset: u64, data: &[u8]) -> Result<(), MemoryError> {
        let len = data.len() as u64;
        let has_room = |owner: &Owner| {
            matches!(owner.backing, Backing::Arena(_)) && offset <= owner.len && len <= owner.len - offset
        };
        let owner = lock(&self.0.table).owner(start).cloned().filter(|owner| has_room(owner));
        let owner = owner.ok_or(MemoryError::NotAllocated(start))?;
        // SAFETY: the bytes are inside of the allocation, which `owner` keeps committed and which is host-writable.
        unsafe { copy::to_guest(pointer(start + offset), data) };
        owner.version.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// An allocation or import that is freed when it is dropped.
#[derive(Debug)]
pub struct Allocation {
    memory: Memory,
    address: u64,
}

impl Allocation {
    /// Allocates as [`Memory::alloc`] does.
    pub fn new(memory: &Memory, len: u64) -> Result<Allocation, MemoryError> {
        Ok(Allocation { memory: memory.clone(), address: memory.alloc(len)? })
    }

    /// Allocates as [`Memory::alloc_pieces`] does.
    pub fn with_pieces(memory: &Memory, len: u64, pieces: &[Piece]) -> Result<Allocation, MemoryError> {
        Ok(Allocation { memory: memory.clone(), address: memory.alloc_pieces(len, pieces)? })
    }

    /// What was imported at `address`: it is freed as allocations are.
    pub(crate) fn of_import(memory: &Memory, address: u64) -> Allocation {
        Allocation { memory: memory.clone(), address }
    }

    /// Guest address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // Somebody may have freed the address before; then there is nothing left to do.
        let _ = self.memory.free(self.address);
    }
}

impl Arena {
    /// Takes addresses for `len` bytes and pages that read zero for them.
    fn commit(arena: &Arc<Arena>, len: u64) -> Result<Owner, MemoryError> {
        let size = span(len).filter(|size| *size <= arena.reservation.len()).ok_or(MemoryError::Full(len))?;
        arena.spend(size - GUARD)?;
        let start = arena.pages(size, len).inspect_err(|_| arena.refund(size - GUARD))?;
        Ok(Owner::new(start, len, Backing::Arena(arena.clone())))
    }

    fn pages(&self, size: u64, len: u64) -> Result<u64, MemoryError> {
        if let Some(start) = self.take_spare(size) {
            return Ok(start);
        }
        let start = self.take(size).ok_or(MemoryError::Full(len))?;
        self.reservation.commit(start, size - GUARD).inspect_err(|_| self.give(start, size))?;
        Ok(start)
    }

    /// A spare page, cleared, if that is what is wanted.
    fn take_spare(&self, size: u64) -> Option<u64> {
        let start = if size - GUARD == PAGE { lock(&self.spare).pop()? } else { return None };
        // SAFETY: the page is committed, and neither an owner nor, as it was freed, a view has it.
        unsafe { copy::to_guest(pointer(start), &[0; PAGE as usize]) };
        Some(start)
    }

    /// Takes back the pages of an allocation, and gives all but few to the host.
    fn put_back(&self, start: u64, size: u64) {
        let mut spare = lock(&self.spare);
        if size - GUARD == PAGE && spare.len() < SPARE_PAGES {
            spare.push(start);
            return self.refund(size - GUARD);
        }
        drop(spare);
        // Pages that could not be given back keep their addresses, or a later allocation would not be zero.
        if self.reservation.decommit(start, size - GUARD).is_ok() {
            self.give(start, size);
            self.refund(size - GUARD);
        }
    }

    fn spend(&self, bytes: u64) -> Result<(), MemoryError> {
        let mut budget = lock(&self.budget);
        let Budget { used, limit } = *budget;
        match used.checked_add(bytes).filter(|sum| *sum <= limit) {
            Some(sum) => budget.used = sum,
            None => return Err(MemoryError::Limit { asked: bytes, used, limit }),
        }
        Ok(())
    }

    fn refund(&self, bytes: u64) {
        lock(&self.budget).used -= bytes;
    }

    /// First fit among the free runs.
    fn take(&self, size: u64) -> Option<u64> {
        let mut free = lock(&self.free);
        let (i, start) = free.iter().enumerate().find_map(|(i, &run)| place(run, size).map(|start| (i, start)))?;
        let (run, len) = free.remove(i);
        let rest = [(start + size, run + len - start - size), (run, start - run)];
        for piece in rest.into_iter().filter(|piece| piece.1 != 0) {
            free.insert(i, piece);
        }
        Some(start)
    }

    /// Gives addresses back, merging neighbours.
    fn give(&self, start: u64, size: u64) {
        let mut free = lock(&self.free);
        let i = free.partition_point(|run| run.0 < start);
        free.insert(i, (start, size));
        if i + 1 < free.len() && start + size == free[i + 1].0 {
            free[i].1 += free.remove(i + 1).1;
        }
        if i > 0 && free[i - 1].0 + free[i - 1].1 == start {
            free[i - 1].1 += free.remove(i).1;
        }
    }
}

/// Addresses an allocation of `len` bytes takes: whole pages and the guard after them.
fn span(len: u64) -> Option<u64> {
    len.max(1).checked_next_multiple_of(PAGE)?.checked_add(GUARD)
}

/// Where in a free run an allocation of `size` addresses goes.
fn place((start, len): (u64, u64), size: u64) -> Option<u64> {
    let end = start.checked_add(len)?;
    let fits = |at: u64| at.checked_add(size).is_some_and(|last| last <= end);
    let crosses = start / WINDOW != (start + (size - GUARD) - 1) / WINDOW;
    let at = if crosses && size - GUARD <= WINDOW { start.checked_next_multiple_of(WINDOW)? } else { start };
    fits(at).then_some(at)
}

impl Owner {
    fn new(start: u64, len: u64, backing: Backing) -> Owner {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        Owner { id, start, len, backing, version: AtomicU64::new(0), looked: AtomicU64::new(0) }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let (Backing::Arena(arena), Some(size)) = (&self.backing, span(self.len)) else { return };
        arena.put_back(self.start, size);
    }
}

/// Changes to a table that a view may share.
trait Edit {
    fn insert(&mut self, owner: Owner, pieces: &[Piece]);
    fn remove(&mut self, start: u64) -> Option<Vec<Arc<Owner>>>;
}

impl Edit for Arc<Table> {
    fn insert(&mut self, owner: Owner, pieces: &[Piece]) {
        let table = Arc::make_mut(self);
        let owner = Arc::new(owner);
        let i = table.ranges.partition_point(|range| range.end <= owner.start);
        let ranges = pieces.iter().filter(|piece| piece.len != 0).map(|piece| {
            let start = owner.start + piece.offset;
            Range { start, end: start + piece.len, writable: piece.writable, executable: piece.executable }
        });
        let before = table.ranges.len();
        table.ranges.splice(i..i, ranges);
        let count = table.ranges.len() - before;
        table.owners.splice(i..i, std::iter::repeat_n(owner, count));
    }

    fn remove(&mut self, start: u64) -> Option<Vec<Arc<Owner>>> {
        let first = self.owners.iter().position(|owner| owner.start == start)?;
        let count = self.owners[first..].iter().take_while(|owner| owner.start == start).count();
        let table = Arc::make_mut(self);
        table.ranges.drain(first..first + count);
        Some(table.owners.drain(first..first + count).collect())
    }
}

impl Table {
    fn owner(&self, start: u64) -> Option<&Arc<Owner>> {
        let i = self.owners.partition_point(|owner| owner.start < start);
        self.owners.get(i).filter(|owner| owner.start == start)
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        let i = self.ranges.partition_point(|range| range.end <= start);
        self.ranges.get(i).is_some_and(|range| range.start < end)
    }
}

/// What a dispatch sees of guest memory: a snapshot that keeps everything in it mapped.
#[derive(Clone, Debug)]
pub struct View(Arc<Table>);

impl View {
    /// All ranges, sorted by address.
    pub fn ranges(&self) -> &[Range] {
        &self.0.ranges
    }

    /// The range that holds `address`.
    pub fn find(&self, address: u64) -> Option<Range> {
        let i = self.0.ranges.partition_point(|range| range.end <= address);
        self.0.ranges.get(i).copied().filter(|range| range.start <= address)
    }

    /// The code that holds `pc`: a range that may be executed.
    pub fn code(&self, pc: u64) -> Option<Range> {
        self.find(pc).filter(|range| range.executable)
    }

    /// What tells the allocation of the code at `pc` from any that was or will be at its address: what is loaded there
    /// does not change.
    pub fn code_id(&self, pc: u64) -> Option<u64> {
        let i = self.0.ranges.partition_point(|range| range.end <= pc);
        let range = self.0.ranges.get(i).filter(|range| range.start <= pc)?;
        range.executable.then(|| self.0.owners[i].id)
    }

    /// Whether a word of any code may be an instruction that names TRAPSTS ([`crate::trapsts`]). What is found in code
    /// that only loaders write is remembered.
    pub fn names_trapsts(&self) -> bool {
        let mut rest = self.ranges();
        self.0.owners.chunk_by(Arc::ptr_eq).any(|group| {
            let (ranges, others) = rest.split_at(group.len());
            rest = others;
            self.owner_names_trapsts(&group[0], ranges)
        })
    }

    fn owner_names_trapsts(&self, owner: &Owner, ranges: &[Range]) -> bool {
        let code: Vec<&Range> = ranges.iter().filter(|range| range.executable).collect();
        if code.is_empty() {
            return false;
        }
        // A loader that writes meanwhile changes the version afterwards.
        let version = 2 * owner.version.load(SeqCst) + 2;
        let looked = owner.looked.load(SeqCst);
        if looked & !1 == version && code.iter().all(|range| !range.writable) {
            return looked & 1 != 0;
        }
        let found = code.into_iter().any(|range| self.range_names_trapsts(range));
        owner.looked.store(version | u64::from(found), SeqCst);
        found
    }

    fn range_names_trapsts(&self, range: &Range) -> bool {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.read(range.start, &mut bytes).expect("a range of the view");
        let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        words.any(trapsts::may_name)
    }

    /// The host pointer for `len` bytes at `address`, all of which are in one range (writable, for a `write`). It is
    /// valid while the view lives; guests may access the same bytes at the same time.
    pub fn check(&self, address: u64, len: u64, write: bool) -> Result<*mut u8, Cause> {
        if address < PAGE {
            return Err(Cause::Null);
        }
        match self.find(address) {
            Some(range) if len > range.end - address => Err(Cause::Unmapped),
            Some(range) if write && !range.writable => Err(Cause::ReadOnly),
            Some(_) => Ok(pointer(address)),
            None => Err(Cause::Unmapped),
        }
    }

    /// Loads `N` bytes; any alignment.
    #[inline]
    pub fn load<const N: usize>(&self, address: u64) -> Result<[u8; N], Cause> {
        let mut data = [0; N];
        self.read(address, &mut data)?;
        Ok(data)
    }

    /// Copies memory at `address` to `data`; any alignment.
    #[inline]
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Cause> {
        let from = self.check(address, data.len() as u64, false)?;
        // SAFETY: `check` found the bytes in a range, which this view keeps mapped.
        unsafe { copy::from_guest(from, data) };
        Ok(())
    }

    /// Stores `data` at `address`; any alignment.
    #[inline]
    pub fn store(&self, address: u64, data: &[u8]) -> Result<(), Cause> {
        let to = self.check(address, data.len() as u64, true)?;
        // SAFETY: `check` found the bytes in a writable range, which this view keeps mapped.
        unsafe { copy::to_guest(to, data) };
        Ok(())
    }

    /// Replaces the dword at `address` by `f` of it, atomically, and returns what it was. `f` may be called more than
    /// once.
    pub fn atomic_u32(&self, address: u64, mut f: impl FnMut(u32) -> u32) -> Result<u32, Cause> {
        let at = self.check(address, 4, true)?;
        if !address.is_multiple_of(4) {
            return Err(Cause::Misaligned);
        }
        // SAFETY: `check` found the bytes in a writable range, which this view keeps mapped; they are aligned, and all
        // other access to them is atomic.
        let atom = unsafe { AtomicU32::from_ptr(at.cast()) };
        Ok(atom.fetch_update(SeqCst, SeqCst, |old| Some(f(old))).unwrap_or_else(|old| old))
    }

    /// The same for a qword.
    pub fn atomic_u64(&self, address: u64, mut f: impl FnMut(u64) -> u64) -> Result<u64, Cause> {
        let at = self.check(address, 8, true)?;
        if !address.is_multiple_of(8) {
            return Err(Cause::Misaligned);
        }
        // SAFETY: as in `atomic_u32`.
        let atom = unsafe { AtomicU64::from_ptr(at.cast()) };
        Ok(atom.fetch_update(SeqCst, SeqCst, |old| Some(f(old))).unwrap_or_else(|old| old))
    }
}

/// A view, and the range of its last access: mostly the next one is there too.
#[derive(Debug)]
pub struct Cursor<'a> {
    view: &'a View,
    range: Cell<Range>,
}

impl<'a> Cursor<'a> {
    /// A cursor that has seen nothing yet.
    pub fn new(view: &'a View) -> Cursor<'a> {
        Cursor { view, range: Cell::new(Range { start: 0, end: 0, writable: false, executable: false }) }
    }

    /// As [`View::check`].
    #[inline]
    pub fn check(&self, address: u64, len: u64, write: bool) -> Result<*mut u8, Cause> {
        let Range { start, end, writable, .. } = self.range.get();
        if start <= address && address < end && len <= end - address && (writable || !write) {
            return Ok(pointer(address));
        }
        let found = self.view.check(address, len, write)?;
        self.range.set(self.view.find(address).ok_or(Cause::Unmapped)?);
        Ok(found)
    }

    /// As [`View::read`].
    #[inline]
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Cause> {
        let from = self.check(address, data.len() as u64, false)?;
        // SAFETY: `check` found the bytes in a range, which the view keeps mapped.
        unsafe { copy::from_guest(from, data) };
        Ok(())
    }

    /// As [`View::load`] of four bytes, mostly aligned ones.
    #[inline]
    pub fn dword(&self, address: u64) -> Result<[u8; 4], Cause> {
        let from = self.check(address, 4, false)?;
        let mut data = [0; 4];
        // SAFETY: `check` found the bytes in a range, which the view keeps mapped.
        unsafe {
            if from.addr() % 4 == 0 {
                data = AtomicU32::from_ptr(from.cast()).load(Relaxed).to_ne_bytes();
            } else {
                copy::from_guest(from, &mut data);
            }
        }
        Ok(data)
    }

    /// As [`View::store`].
    #[inline]
    pub fn store(&self, address: u64, data: &[u8]) -> Result<(), Cause> {
        let to = self.check(address, data.len() as u64, true)?;
        // SAFETY: `check` found the bytes in a writable range, which the view keeps mapped.
        unsafe { copy::to_guest(to, data) };
        Ok(())
    }
}

/// An address as a pointer. The arena and imports exposed theirs.
fn pointer(address: u64) -> *mut u8 {
    with_exposed_provenance_mut(address as usize)
}
