//! A wider back end for segments: AVX-512 code for whole loops, where the host has it.
//!
//! Cranelift's vectors end at 128 bits. A segment is straight-line code on lanes inside a loop of four chunks of
//! sixteen, so what it takes to use 512 bits is small: a `schedule` of its values, `registers` by furthest next
//! use, an instruction or a few for each operation (`select`), and an assembler (`asm`). Everything else of a unit
//! stays Cranelift's, which calls segments as functions.
//!
//! `fn(wave: *mut Wave, slots: *mut Row)`: the code reads and writes VGPRs and slots, and uses the frame below the slots
//! as a [`Layout`] says: it reads uniform values there, leaves mask bits, and stores what doesn't fit in registers.
//! It runs in the environment of floats that the segment asks for. A scalar takes 64 bits: a B32 is zero-extended, a B1
//! is all zeros or all ones.

mod access;
mod asm;
mod bank;
mod convert;
mod evex;
mod fused;
pub mod inline;
mod layout;
mod rare;
mod registers;
mod schedule;
mod select;
#[cfg(test)]
mod tests;
mod tiles;

use crate::host::executable;
use crate::jit::Place;
use crate::lane::Value;
use crate::libcall::Level;
use crate::lower::{Planned, Waves};
use crate::pass::demand::Demand;
use crate::pass::segment::{Item, Plan};
pub use access::PATIENCE;
use asm::{Asm, Gpr, When};
use gcnjit_rt::Row;
pub use layout::Layout;
use memmap2::Mmap;
use registers::{Registers, Work};
use rustc_hash::FxHashMap as HashMap;
use schedule::{Event, Schedule};
use std::io;
use std::mem::size_of;

/// Chunks of a row, of sixteen lanes each.
const CHUNKS: i32 = 4;

/// The code of a unit's segments.
pub struct Code {
    /// By block and step.
    entries: HashMap<(usize, usize), Entry>,
    /// Fused parts, by block and position in its list of them.
    fused: HashMap<(usize, usize), Entry>,
    accesses: Accesses,
    memory: Mmap,
}

/// The code of a segment or a fused part.
pub struct Entry {
    /// Where the code starts.
    offset: usize,
    /// Where it finds its scalars, and leaves its bits.
    pub layout: Layout,
    /// Loops that it consists of: one, or one for EXEC all ones and one for any.
    pub versions: usize,
    /// If it is a part that a loop consists of: where the function starts that writes registers which the loop keeps.
    settle: Option<usize>,
}

/// Whether this host runs it.
pub fn is_available() -> bool {
    cfg!(all(target_arch = "x86_64", not(windows))) && Level::of_host() == Level::Avx512
}

impl Code {
    /// Assembles all segments of a unit's blocks.
    ///
    /// # Errors
    /// If the host has no memory for it.
    pub fn assemble(blocks: &[Planned], waves: Waves) -> io::Result<Code> {
        let mut asm = Asm::new();
        let (mut entries, mut fused) = (HashMap::default(), HashMap::default());
        rare::emit(&mut asm, blocks);
        let accesses = Accesses::emit(&mut asm, blocks, waves);
        let mut first_site = 0;
        for (index, Planned { block, plan, parts, superblock, .. }) in blocks.iter().enumerate() {
            let superblock = superblock.as_ref();
            let segment = |rank: usize| Demand { block, plan, rank };
            let mut done = 0;
            for (number, part) in parts.iter().enumerate() {
                let before = &plan.items[done..part.items.start];
                entries.extend(alone(&mut asm, before, waves, segment).map(|(rank, entry)| ((index, rank), entry)));
                let unit = fused::Unit { accesses: &accesses.offsets, index, first_site, superblock };
                fused.insert((index, number), fused::emit(&mut asm, block, plan, part, &unit));
                done = part.items.end;
            }
            let rest = alone(&mut asm, &plan.items[done..], waves, segment);
            entries.extend(rest.map(|(rank, entry)| ((index, rank), entry)));
            first_site += block.accesses.len();
        }
        Ok(Code { entries, fused, accesses, memory: executable(&asm.finish())? })
    }

    /// The code of a segment.
    pub fn entry(&self, block: usize, rank: usize) -> &Entry {
        &self.entries[&(block, rank)]
    }

    /// The code of a fused part: `fn(*mut Wave, *mut Row) -> u32`, not 0 if an access of it faulted.
    pub fn fused(&self, block: usize, number: usize) -> &Entry {
        &self.fused[&(block, number)]
    }

    /// The address to call.
    pub fn address(&self, entry: &Entry) -> usize {
        self.memory.as_ptr() as usize + entry.offset
    }

    /// The address to call where a loop of a part ends: `fn(*mut Wave, *mut Row)`.
    pub fn settle(&self, block: usize, number: usize) -> Option<usize> {
        Some(self.memory.as_ptr() as usize + self.fused(block, number).settle?)
    }

    /// The address to call for an access of a block, if it has a function: `fn(*mut Wave, *mut Context) -> u32`, not 0
    /// if it faulted. The block's accesses have to stay where they are.
    pub fn access(&self, block: usize, number: usize) -> Option<usize> {
        Some(self.memory.as_ptr() as usize + self.accesses.offsets.get(&(block, number))?)
    }

    /// Bytes that any code uses below the slots.
    pub fn frame_bytes(&self) -> usize {
        let entries = self.entries.values().chain(self.fused.values());
        entries.map(|entry| entry.layout.bytes()).max().unwrap_or(Layout::HEAD)
    }

    /// Code and constants.
    pub fn bytes(&self) -> &[u8] {
        &self.memory
    }

    /// Where the code of each segment and access is, in order, with the guest instruction that it begins with. The last one
    /// reaches to the end of the constants.
    pub fn places(&self, blocks: &[Planned]) -> Vec<Place> {
        let mut starts: Vec<(usize, u64)> = self
            .entries
            .iter()
            .map(|((block, rank), entry)| {
                let Planned { block, plan, .. } = &blocks[*block];
                let needed = Demand { block, plan, rank: *rank }.needed(None);
                (entry.offset, needed.first().map_or(block.pc, |value| block.origin(*value)))
            })
            .collect();
        starts.extend(&self.accesses.starts);
        starts.extend(self.fused.iter().map(|((block, number), entry)| {
            let part = &blocks[*block].parts[*number];
            (entry.offset, part.pc)
        }));
        starts.sort_unstable();
        let ends = starts.iter().skip(1).map(|start| start.0).chain([self.size()]);
        starts
            .iter()
            .zip(ends)
            .map(|((start, pc), end)| Place { start: *start as u32, end: end as u32, pc: *pc })
            .collect()
    }

    /// Bytes of code and constants.
    pub fn size(&self) -> usize {
        self.memory.len()
    }
}

/// The functions of accesses.
#[derive(Default)]
struct Accesses {
    /// Their offsets, by block and number.
    offsets: HashMap<(usize, usize), usize>,
    /// Where the code of each begins, and its guest instruction.
    starts: Vec<(usize, u64)>,
}

impl Accesses {
    fn emit(asm: &mut Asm, blocks: &[Planned], waves: Waves) -> Accesses {
        let mut accesses = Accesses::default();
        let mut site = 0;
        for (index, Planned { block, superblock, .. }) in blocks.iter().enumerate() {
            for (number, access) in block.accesses.iter().enumerate() {
                if superblock.is_some() {
                    // It does all of them itself, or gives up.
                    site += 1;
                    continue;
                }
                let start = asm.function();
                let whole = access::emit_call(asm, access, site);
                let offset = match waves {
                    Waves::Compacted if access.moves_linear_lanes() => {
                        Some(access::emit_compacted(asm, access, site, whole))
                    }
                    _ => whole,
                };
                if let Some(offset) = offset {
                    accesses.starts.push((start, access.pc));
                    accesses.offsets.insert((index, number), offset);
                }
                site += 1;
            }
        }
        accesses
    }
}

/// Emits the segments among items of a plan as functions of their own, by step.
fn alone<'a>(
    asm: &mut Asm,
    items: &[Item],
    waves: Waves,
    demand: impl Fn(usize) -> Demand<'a>,
) -> impl Iterator<Item = (usize, Entry)> {
    let mut entries = Vec::new();
    for item in items {
        if let Item::Segment(rank) = *item {
            let mut layout = Layout::new(demand(rank).segment().bits.len());
            layout.add_scalars(&demand(rank));
            let (offset, versions) = match waves {
                Waves::Whole => segment(asm, demand(rank), &mut layout),
                Waves::Compacted => (compacted(asm, demand(rank), &mut layout), 1),
            };
            entries.push((rank, Entry { offset, layout, versions, settle: None }));
        }
    }
    entries.into_iter()
}

/// Emits a segment: one loop, or one for EXEC all ones and one for any. The result is where it starts, and how many loops.
fn segment(asm: &mut Asm, demand: Demand<'_>, layout: &mut Layout) -> (usize, usize) {
    let needed = demand.needed(None);
    let exec = demand.exec(&needed);
    let offset = asm.function();
    asm.mov(Gpr::Rdx, Gpr::Rsi);
    let Some(exec) = exec else {
        version(asm, demand, layout, None, None, needed);
        return (offset, 1);
    };
    asm.is_ones64(Gpr::Rdx, layout.scalar(exec));
    let full = asm.jump(When::Zero);
    let idle = demand.is_idle_without(Some(exec)).then_some(exec);
    version(asm, demand, layout, None, idle, needed);
    asm.bind(full);
    version(asm, demand, layout, Some(exec), None, demand.needed(Some(exec)));
    (offset, 2)
}

/// Emits a segment for the chunk of a compacted wave. The result is where it starts.
fn compacted(asm: &mut Asm, demand: Demand<'_>, layout: &mut Layout) -> usize {
    let offset = asm.function();
    asm.mov(Gpr::Rdx, Gpr::Rsi);
    let needed = demand.needed(None);
    let idle = idle_mask(&demand, &needed);
    let schedule = Schedule::new(&demand, None, needed);
    let mut registers = Registers::new(asm, demand, None, &schedule.lives, layout, Work::Compacted);
    keep_floats_in(&mut registers, idle, &schedule);
    select::events(&schedule, registers);
    asm.ret();
    offset
}

/// Emits a segment that is seldom run: once, for any EXEC. The result is where it starts.
fn rare_segment(asm: &mut Asm, demand: Demand<'_>, layout: &mut Layout) -> usize {
    let offset = asm.function();
    asm.mov(Gpr::Rdx, Gpr::Rsi);
    let needed = demand.needed(None);
    let idle = idle_mask(&demand, &needed);
    version(asm, demand, layout, None, idle, needed);
    offset
}

/// EXEC of a segment, if other lanes don't matter to it.
fn idle_mask(demand: &Demand<'_>, needed: &[Value]) -> Option<Value> {
    demand.exec(needed).filter(|exec| demand.is_idle_without(Some(*exec)))
}

/// Has floats computed in the lanes of a chunk that matter, if others do not.
fn keep_floats_in(registers: &mut Registers<'_>, idle: Option<Value>, schedule: &Schedule<Event>) {
    if let (Some(exec), Some(wide)) = (idle, floats(&registers.demand, schedule)) {
        registers.reserve_float_lanes(wide);
        registers.load_float_lanes(exec);
    }
}

/// Whether values are computed that mind denormals, and wide ones among them.
fn floats(demand: &Demand<'_>, schedule: &Schedule<Event>) -> Option<bool> {
    let computed = schedule.events().filter_map(|(_, event)| match event {
        Event::Compute(value) => Some(demand.node(value)),
        _ => None,
    });
    select::floats(computed)
}

/// Events of a chunk up to which all chunks are written out: the loop would take a quarter of the time or more.
const SHORT: usize = 24;
/// The same where chunks without active lanes could be skipped: a branch that the host guesses wrong costs as much.
const SHORT_PARTIAL: usize = 32;

/// Emits the work on all chunks, which is to compute the `needed` values. With `full` given, that mask is all ones; chunks
/// without lanes of `idle` are skipped.
fn version(
    asm: &mut Asm,
    demand: Demand<'_>,
    layout: &mut Layout,
    full: Option<Value>,
    idle: Option<Value>,
    needed: Vec<Value>,
) {
    let has_bits = layout.bits_count() > 0;
    let schedule = Schedule::new(&demand, full, needed);
    let longest = if idle.is_none() { SHORT } else { SHORT_PARTIAL };
    if schedule.len() <= longest && (idle.is_none() || floats(&demand, &schedule).is_none()) {
        let all = schedule.written_out(CHUNKS);
        select::events(&all, Registers::new(asm, demand, full, &all.lives, layout, Work::Chunk(0)));
    } else {
        chunk_loop(asm, demand, layout, full, idle, &schedule);
    }
    if has_bits {
        asm.store64(Gpr::Rdx, layout.bits(0), Gpr::R10);
    }
    (1..layout.bits_count()).for_each(|index| join_bits(asm, layout.bits(index), CHUNKS));
    asm.ret();
}

/// Emits a loop over the chunks.
fn chunk_loop(
    asm: &mut Asm,
    demand: Demand<'_>,
    layout: &mut Layout,
    full: Option<Value>,
    idle: Option<Value>,
    schedule: &Schedule<Event>,
) {
    if idle.is_some() {
        (1..layout.bits_count()).for_each(|index| asm.clear64(Gpr::Rdx, layout.bits(index)));
    }
    asm.clear_register(Gpr::R10);
    asm.mov(Gpr::R8, Gpr::Rdx);
    asm.mov(Gpr::Rcx, Gpr::Rsi);
    let lanes = asm.lane_numbers();
    asm.lea(Gpr::R9, lanes);
    asm.mov_imm(Gpr::Rax, CHUNKS);
    let top = asm.here();
    let skip = idle.map(|exec| {
        asm.is_zero16(Gpr::R8, layout.scalar(exec));
        asm.jump(When::Zero)
    });
    let mut registers = Registers::new(asm, demand, full, &schedule.lives, layout, Work::Loop);
    keep_floats_in(&mut registers, idle, schedule);
    select::events(schedule, registers);
    if let Some(skip) = skip {
        let turned = asm.jump_always();
        asm.bind(skip);
        asm.rotate_right(Gpr::R10, 16);
        asm.bind(turned);
    }
    advance(asm);
    asm.jump_back(When::NotZero, top);
}

/// Makes one write of those that the first so many chunks made, with zeros for the others: who reads all bits has not to wait
/// until these are in the cache.
fn join_bits(asm: &mut Asm, at: i32, chunks: i32) {
    asm.load16(Gpr::Rax, Gpr::Rdx, at);
    for chunk in 1..chunks {
        asm.load16(Gpr::Rcx, Gpr::Rdx, at + 2 * chunk);
        asm.shift_left(Gpr::Rcx, 16 * chunk as u8);
        asm.or_register(Gpr::Rax, Gpr::Rcx);
    }
    asm.store64(Gpr::Rdx, at, Gpr::Rax);
}

/// Moves on to the next chunk.
fn advance(asm: &mut Asm) {
    for register in [Gpr::Rdi, Gpr::Rsi, Gpr::R9, Gpr::Rcx, Gpr::R8] {
        asm.add(register, register.chunk());
    }
    asm.dec(Gpr::Rax);
}

/// The byte offset of a value's slot.
fn row_of_slot(plan: &Plan, value: Value) -> i32 {
    (plan.slot(value) * size_of::<Row>()) as i32
}
