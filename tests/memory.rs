//! One random memory instruction, both engines, the same machine: registers, memory, LDS and GDS must come out the same,
//! and so must faults, down to cause, address and lane.
//!
//! Words are random as in `differential.rs`. Registers that an instruction takes addresses from are then aimed: most
//! lanes at a few allocations, as runs, at one place or scattered, some on purpose misaligned, out of range, at null,
//! between allocations or at memory that is read-only. Each engine works on its own copy. The same environment
//! variables choose rounds, seed and rows.
//!
//! Left out: the clocks, `s_memtime` and `s_memrealtime`, which count the host's time.

mod engines;

use engines::{Form, Random, TARGETS, difference, one, setting, words};
use gcnjit_interp::run::{Buffers, Machine};
use gcnjit_isa::{Access, Code, Decoder, Gen, Inst, Note, Op, Operand, Target, disas};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE, Piece};
use gcnjit_rt::{
    Cause, Env, LANES, Memory, Mode, RegisterFile, Row, Trap, Wave, gds::Gds, lds::Lds, order::Order, wave::reg,
};
use gcnjit_translate::access::Site;
use gcnjit_translate::jit::{Context, Exit, Unit};
use gcnjit_translate::libcall;
use gcnjit_translate::{self as translate, AtEnd};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Bytes of LDS, and of GDS that are not zero.
const SHARE: u32 = 2048;
/// Bytes of scratch a lane has.
const SCRATCH: u64 = 256;

/// An allocation, and what it holds before each run.
struct Region {
    start: u64,
    contents: Vec<u8>,
}

/// The machine around the waves.
struct Bench {
    memory: Memory,
    /// What is restored and compared; the last one is scratch.
    regions: Vec<Region>,
    read_only: u64,
    code: u64,
    lds: Lds,
    share: Vec<u8>,
    stop: AtomicBool,
}

/// What an engine made of a machine.
struct Outcome {
    wave: Box<Wave>,
    fault: Option<(Cause, u64, u32)>,
    memory: Vec<Vec<u8>>,
    lds: Vec<u8>,
    gds: Vec<u8>,
}

impl Bench {
    fn new() -> Bench {
        let memory = Memory::with_arena(1 << 30).expect("an arena");
        let code = memory.alloc(4096).expect("a page of code");
        let mixed = [Piece::data(0, 1024), Piece::constant(1024, 1024)];
        let mixed = memory.alloc_pieces(2048, &mixed).expect("memory of both kinds");
        let region = |len: u64| memory.alloc(len).expect("memory");
        let starts = [(region(8192), 8192), (region(524), 524), (mixed, 1024), (region(SCRATCH * 64), SCRATCH * 64)];
        let regions = starts.map(|(start, len)| Region { start, contents: vec![0; len as usize] });
        Bench {
            regions: regions.into(),
            read_only: mixed + 1024,
            memory,
            code,
            lds: Lds::new(SHARE),
            share: vec![0; SHARE as usize],
            stop: AtomicBool::new(false),
        }
    }

    /// New contents, of dwords that `value` makes.
    fn fill(&mut self, mut value: impl FnMut() -> u32) {
        let shares = self.regions.iter_mut().map(|region| &mut region.contents).chain([&mut self.share]);
        shares.flat_map(|bytes| bytes.chunks_exact_mut(4)).for_each(|dword| {
            dword.copy_from_slice(&value().to_le_bytes());
        });
    }

    /// Runs a copy of `wave` on fresh copies of memory, LDS and GDS.
    fn run(&self, target: Target, wave: &Wave, step: impl FnOnce(&mut Wave, &Env<'_>) -> Result<(), Trap>) -> Outcome {
        let (view, gds) = (self.memory.view(), Gds::new());
        for Region { start, contents } in &self.regions {
            view.store(*start, contents).expect("regions are writable");
        }
        for (i, bytes) in (0..).zip(self.share.chunks_exact(16)) {
            let bytes: [u8; 16] = bytes.try_into().expect("16 bytes");
            self.lds.store(i * 16, bytes);
            gds.store(i * 16, bytes);
        }
        let scratch = self.regions.last().expect("scratch").start;
        let Bench { lds, stop, .. } = self;
        let order = Order::new();
        let env = Env { scratch, ..Env::bare(target, &view, lds, (&gds, &order, stop)) };
        let mut wave = Box::new(wave.clone());
        let fault = match step(&mut wave, &env) {
            Ok(()) => None,
            Err(Trap::Fault { cause, address, lane, .. }) => Some((cause, address, lane)),
            Err(other) => panic!("{other}"),
        };
        let memory = self.regions.iter().map(|region| {
            let mut bytes = vec![0; region.contents.len()];
            view.read(region.start, &mut bytes).expect("regions are mapped");
            bytes
        });
        let memory = memory.collect();
        let lds = (0..SHARE).step_by(16).flat_map(|at| self.lds.load::<16>(at)).collect();
        let gds = (0..0x10000).step_by(16).flat_map(|at| gds.load::<16>(at)).collect();
        Outcome { wave, fault, memory, lds, gds }
    }
}

/// The encoding of a row; some fields come up rarely, so that the usual forms are tested too.
fn encoding(random: &mut Random, op: Op, generation: Gen) -> Option<Form> {
    let Some(Code::Native(code)) = op.info().code(generation) else { return None };
    let (code, old) = (u32::from(code), generation < Gen::Gfx8);
    let offset = random.pick(&[0xfff, 0x7c, 0x3f8, 0x3f, 0xc, 0]);
    let rarely = |random: &mut Random, bits: u32| if random.below(8) == 0 { bits } else { 0 };
    let second = 0xff7f_ffff | rarely(random, 0x80_0000);
    match op {
        Op::Smem(_) if old => Some(([0x18 << 27 | code << 22, 0], [0x003f_ffff, u32::MAX])),
        Op::Smem(_) => Some(([0x30 << 26 | code << 18, 0], [0x0003_ffff, u32::MAX])),
        Op::Ds(_) => {
            let shift = u32::from(old);
            let offsets = random.pick(&[0xffff, 0x0f0f, 0x007c, 0x0303, 0x8007, 0]);
            let gds = if random.below(4) == 0 { 0x1_0000 << shift } else { 0 };
            Some(([0x36 << 26 | code << (17 + shift) | gds, 0], [offsets, u32::MAX]))
        }
        Op::Mubuf(_) => {
            let rare = rarely(random, 0x1_0000) | rarely(random, if old { 0x8000 } else { 0 });
            Some(([0x38 << 26 | code << 18, 0], [0x7000 | offset | rare, second]))
        }
        Op::Mtbuf(_) => {
            let rare = rarely(random, if old { 0x8000 } else { 0 });
            let opcode = code << if old { 16 } else { 15 };
            Some(([0x3a << 26 | opcode, 0], [0x03f8_7000 | offset | rare, second]))
        }
        Op::Flat(_) => {
            let off = if random.below(2) == 0 { 0x7f_0000 } else { 0 };
            let free = if generation == Gen::Gfx9 { 0x3_d000 | offset | rarely(random, 0x2000) } else { 0x3_0000 };
            Some(([0x37 << 26 | code << 18, off], [free, second & !off]))
        }
        _ => None,
    }
}

/// Offsets of 64 lanes in `len` bytes, mostly multiples of the access' size, as a run, all the same, or scattered.
fn pattern(random: &mut Random, len: u64, bytes: u64) -> [u64; LANES] {
    let unit = if random.below(6) == 0 { 1 } else { bytes.next_power_of_two() };
    let places = len.saturating_sub(bytes) / unit + 1;
    let first = random.below(places) * unit;
    match random.below(6) {
        0 | 1 => std::array::from_fn(|lane| (first % (len / 4 + 1) / unit * unit) + lane as u64 * bytes),
        2 => [first; LANES],
        3 => {
            let step = random.below(4) * unit;
            std::array::from_fn(|lane| (first + lane as u64 * step) % (places * unit))
        }
        _ => std::array::from_fn(|_| random.below(places) * unit),
    }
}

/// An aimed wave in the making.
struct Aim<'a> {
    random: &'a mut Random,
    bench: &'a Bench,
    wave: &'a mut Wave,
    generation: Gen,
    /// Bytes of an access, or of a part of it.
    bytes: u64,
}

impl Aim<'_> {
    fn low(row: [u64; LANES]) -> Row {
        row.map(|x| x as u32)
    }

    fn set_row(&mut self, operand: Operand, more: usize, row: Row) {
        if let Operand::Vgpr(first) = operand {
            self.wave.vgpr[(usize::from(first) + more) & 255] = row;
        }
    }

    fn set_rows(&mut self, operand: Operand, addresses: [u64; LANES]) {
        self.set_row(operand, 0, Self::low(addresses));
        self.set_row(operand, 1, addresses.map(|x| (x >> 32) as u32));
    }

    fn set_scalar(&mut self, operand: Operand, more: usize, value: u32) {
        if let Operand::Sgpr(first) = operand {
            self.wave.sgpr[(usize::from(first) + more) & 127] = value;
        }
    }

    fn set_pair(&mut self, operand: Operand, value: u64) {
        self.set_scalar(operand, 0, value as u32);
        self.set_scalar(operand, 1, (value >> 32) as u32);
    }

    /// The value of a scalar operand as it is now.
    fn scalar(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Sgpr(index) => self.wave.sgpr[usize::from(index & 127)].into(),
            Operand::Inline(_) => operand.inline_bits(gcnjit_isa::Ty::u32).unwrap_or(0),
            _ => 0,
        }
    }

    fn region(&mut self) -> (u64, u64) {
        let region = &self.bench.regions[self.random.below(3) as usize];
        (region.start, region.contents.len() as u64)
    }

    /// An address that is not simply inside of a region.
    fn wild(&mut self) -> u64 {
        let (start, len) = self.region();
        let edge = start + len - self.random.below(16);
        let apertures = [LDS_APERTURE + 12, PRIVATE_APERTURE + 20, LDS_APERTURE - 4, PRIVATE_APERTURE + 0xffff_fffc];
        let aperture = self.random.pick(&apertures);
        self.random.pick(&[0, 8, 4095, edge, start + len, start - 4, self.bench.read_only + 64, aperture, u64::MAX - 3])
    }

    /// Addresses of 64 lanes in one region, sometimes with a few wild ones.
    fn addresses(&mut self) -> [u64; LANES] {
        let (start, len) = self.region();
        let mut addresses = pattern(self.random, len, self.bytes).map(|offset| start + offset);
        if self.random.below(4) == 0 {
            for _ in 0..=self.random.below(3) {
                addresses[self.random.below(64) as usize] = self.wild();
            }
        }
        addresses
    }

    /// Offsets of 64 lanes in `len` bytes, sometimes with one that is not.
    fn offsets(&mut self, len: u64) -> Row {
        let mut offsets = Self::low(pattern(self.random, len, self.bytes));
        if self.random.below(4) == 0 {
            let wild = [len as u32 - 1, len as u32, len as u32 + 8, u32::MAX - 3, 0x8000_0000];
            offsets[self.random.below(64) as usize] = self.random.pick(&wild);
        }
        offsets
    }

    fn flat(&mut self, inst: &Inst) {
        let (mem, scratch) = (inst.mem(), self.bench.regions[3].start);
        let (private, high) = match self.generation {
            Gen::Gfx9 => (102, scratch),
            Gen::Gfx8 => (102, 0),
            _ => (104, 0),
        };
        self.wave.set_sgpr64(private, high);
        let offset = i64::from(mem.offset) as u64;
        let (vector, scalar) = (inst.src[0], inst.src[2]);
        if mem.seg == 1 {
            let base = self.random.below(SCRATCH / 4) as u32 * 4;
            self.set_scalar(scalar, 0, base.wrapping_sub(mem.offset as u32));
            let offsets = self.offsets(SCRATCH).map(|x| x.wrapping_sub(mem.offset as u32));
            self.set_row(vector, 0, offsets);
        } else if scalar != Operand::None {
            let (start, len) = self.region();
            self.set_pair(scalar, start.wrapping_sub(offset));
            let offsets = self.offsets(len);
            self.set_row(vector, 0, offsets);
        } else {
            let aperture = match self.random.below(6) {
                0 => Some((LDS_APERTURE, SHARE.into())),
                1 => Some((PRIVATE_APERTURE, SCRATCH)),
                _ => None,
            };
            let addresses = match aperture.filter(|_| mem.seg == 0) {
                Some((base, len)) => self.offsets(len).map(|x| base + u64::from(x)),
                None => self.addresses(),
            };
            self.set_rows(vector, addresses.map(|x| x.wrapping_sub(offset)));
        }
    }

    fn share(&mut self, inst: &Inst) {
        let mem = inst.mem();
        let (high, low) = (self.random.below(40) as u32 * 4, self.random.below(300) as u32 * 4);
        // As addresses have it, or a limit of LDS, or none.
        self.wave.sgpr[reg::M0] = match self.random.below(4) {
            0 if !mem.gds => self.random.below(u64::from(SHARE) + 64) as u32,
            1 if !mem.gds => u32::MAX,
            _ => high << 16 | low,
        };
        let mut offsets = self.offsets(SHARE.into());
        if mem.offset & 0x8000 != 0 {
            // Instructions with a second address in memory keep its distance in the high bits.
            offsets = offsets.map(|x| x & 0x1ffff | (self.random.next() as u32 & 0x8003) << 17);
        } else if self.random.below(2) == 0 {
            offsets = offsets.map(|x| x.wrapping_sub(mem.offset as u32));
        }
        self.set_row(inst.src[0], 0, offsets);
    }

    /// A buffer resource for memory at `start`.
    fn resource(&mut self, start: u64, len: u64) -> ([u32; 4], u64) {
        let stride = self.random.pick(&[0, 0, 0, 4, 8, 12, 16, 20, 32, 64]);
        let records = match self.random.below(8) {
            0 => self.random.below(40),
            1 => u32::MAX.into(),
            2 => len,
            _ => len / stride.max(1),
        };
        let swizzle = self.random.below(4) == 0;
        let select = |random: &mut Random| random.pick(&[0, 1, 4, 5, 6, 7]);
        let selects = if self.random.below(2) == 0 {
            0o7654
        } else {
            (0..4).fold(0, |sum, i| sum | select(self.random) << (3 * i))
        };
        let add_tid = self.random.below(4) == 0;
        let format = self.random.below(128) as u32;
        let mut w3 = self.random.next() as u32 & 0xff78_0000 & !(1 << 23) | selects | format << 12;
        w3 |= u32::from(add_tid) << 23;
        let mut stride = stride;
        let mut swizzle = swizzle;
        if self.random.below(8) == 0 {
            // Scratch as compilers lay it out.
            (stride, swizzle) = (0, true);
            w3 = w3 & !0x00f8_0000 | 1 << 23 | 3 << 21 | 1 << 19;
            w3 &= if self.generation >= Gen::Gfx8 { !(15 << 15) } else { !0 };
        }
        let w1 = (start >> 32) as u32 & 0xffff | (stride as u32) << 16 | u32::from(swizzle) << 31;
        ([start as u32, w1, records as u32, w3], stride)
    }

    fn buffer(&mut self, inst: &Inst) {
        let mem = inst.mem();
        let [vector, resource, soffset, _] = inst.src;
        let (low, high) = (self.random.below(300) as u32 * 4, self.random.below(40) as u32);
        self.wave.sgpr[reg::M0] = high << 16 | low;
        let soffset_value = self.random.pick(&[0, 0, 4, 16, 64, 260, 3]);
        self.set_scalar(soffset, 0, soffset_value);
        let (start, len) = self.region();
        let ([w0, w1, records, w3], stride) = self.resource(start, len);
        for (i, word) in [w0, w1, records, w3].into_iter().enumerate() {
            self.set_scalar(resource, i, word);
        }
        if mem.addr64 {
            let more = (start & 0xffff_ffff_ffff) + u64::from(soffset_value) + mem.offset as u64;
            let addresses = self.addresses().map(|x| x.wrapping_sub(more));
            self.set_rows(vector, addresses);
            return;
        }
        let size = if stride == 0 { len } else { stride };
        let mut offsets = self.offsets(size.max(self.bytes));
        if self.random.below(2) == 0 {
            offsets = offsets.map(|x| x.wrapping_sub(mem.offset as u32));
        }
        let bytes = std::mem::replace(&mut self.bytes, 1);
        let indices = self.offsets(u64::from(records).clamp(1, 64));
        self.bytes = bytes;
        match (mem.idxen, mem.offen) {
            (true, true) => {
                self.set_row(vector, 0, indices);
                self.set_row(vector, 1, offsets);
            }
            (true, false) => self.set_row(vector, 0, indices),
            _ => self.set_row(vector, 0, offsets),
        }
    }

    fn scalar_memory(&mut self, inst: &Inst) {
        let soffset = self.random.pick(&[0, 0, 4, 16, 63, 1000]);
        self.set_scalar(inst.src[1], 0, soffset);
        let (start, len) = self.region();
        if inst.op.info().srcs.first() == Some(&gcnjit_isa::Ty::b128) {
            let start = start.wrapping_sub(if self.random.below(2) == 0 { inst.mem().offset as u64 } else { 0 });
            let (words, _) = self.resource(start & 0xffff_ffff_ffff, len);
            for (i, word) in words.into_iter().enumerate() {
                self.set_scalar(inst.src[0], i, word);
            }
            return;
        }
        let scale = if inst.op.info().name.contains("scratch") { 64 } else { 1 };
        let more = (inst.mem().offset as u64).wrapping_add(self.scalar(inst.src[1]) * scale);
        let address = self.addresses()[self.random.below(64) as usize];
        self.set_pair(inst.src[0], address.wrapping_sub(more));
    }
}

/// A random wave whose address registers suit the instruction.
fn wave(random: &mut Random, bench: &mut Bench, inst: &Inst, generation: Gen) -> Box<Wave> {
    let palette: [u32; 5] = std::array::from_fn(|_| random.dword());
    // Few values, so that comparisons hit.
    let few = random.below(2) == 0;
    let mut value = || if few { random.pick(&palette) } else { random.dword() };
    let mut wave = Wave::new();
    wave.vgpr.iter_mut().flatten().chain(&mut wave.sgpr).for_each(|register| *register = value());
    bench.fill(value);
    let exec = random.mask();
    wave.set_exec(exec);
    wave.scc = random.below(2) as u32;
    let round = if random.below(2) == 0 { 0 } else { random.below(16) };
    wave.mode = Mode((round | random.below(64) << 4) as u32);
    wave.pc = bench.code;
    let bytes = match inst.op.info().access() {
        Some((Access::Atomic, bytes)) => bytes,
        Some((_, bytes)) => bytes.clamp(1, 16),
        None => 4,
    };
    let mut aim = Aim { random, bench, wave: &mut wave, generation, bytes: u64::from(bytes.max(1)) };
    match inst.op {
        Op::Flat(_) => aim.flat(inst),
        Op::Ds(_) => aim.share(inst),
        Op::Mubuf(_) | Op::Mtbuf(_) => aim.buffer(inst),
        _ => aim.scalar_memory(inst),
    }
    wave
}

/// Runs the interpreter; `None` if it has no body for this form.
fn interpret(bench: &Bench, target: Target, inst: &Inst, wave: &Wave) -> Option<Outcome> {
    let mut refused = false;
    let outcome = bench.run(target, wave, |wave, env| {
        let mut buffers = Buffers::default();
        match Machine::new(wave, env, &mut buffers).step(inst) {
            Err(trap) if matches!(*trap, Trap::Unimplemented { .. }) => refused = true,
            Err(trap) => return Err(*trap),
            Ok(()) => {}
        }
        Ok(())
    });
    (!refused).then_some(outcome)
}

/// Runs the translation.
fn translated(bench: &Bench, target: Target, wave: &Wave, unit: &Unit, sites: &mut Vec<Site>) -> Outcome {
    bench.run(target, wave, |wave, env| {
        let mut scratch = Site::default();
        let mut context = Context::new(u64::MAX, env, std::mem::take(sites), &mut scratch, libcall::mxcsr());
        let exit = unit.run(wave, &mut context, 0);
        *sites = context.exchange_sites(Vec::new());
        match (exit, context.bad) {
            (Exit::Jump, _) => Ok(()),
            (Exit::Fault, Some(bad)) => {
                let (cause, address, lane) = (bad.cause, bad.address, bad.lane);
                Err(Trap::Fault { cause, address, lane, pc: wave.pc })
            }
            (exit, _) => panic!("exit {exit:?}"),
        }
    })
}

/// The text of a difference.
fn compare(bench: &Bench, inst: &Inst, wave: &Wave, got: &Outcome, expected: &Outcome) -> Option<String> {
    let mut text = difference(inst, wave, &got.wave, &expected.wave);
    if got.fault != expected.fault {
        text += &format!("fault: jit {:x?} interp {:x?}\n", got.fault, expected.fault);
    }
    if got.wave.pc != expected.wave.pc {
        text += &format!("pc: jit {:#x} interp {:#x}\n", got.wave.pc, expected.wave.pc);
    }
    let shares = [(0, "LDS", &got.lds, &expected.lds), (0, "GDS", &got.gds, &expected.gds)];
    let memory = bench.regions.iter().zip(got.memory.iter().zip(&expected.memory));
    let memory = memory.map(|(region, (got, expected))| (region.start, "memory", got, expected));
    for (start, name, got, expected) in shares.into_iter().chain(memory) {
        for at in (0..got.len()).filter(|at| got[*at] != expected[*at]).take(4) {
            let (address, got, expected) = (start + at as u64, got[at], expected[at]);
            text += &format!("{name} {address:#x}: jit {got:#04x} interp {expected:#04x}\n");
        }
    }
    (!text.is_empty()).then_some(text)
}

/// How often a row was compared: without a fault, with one.
#[derive(Clone, Copy, Default)]
struct Count {
    done: u64,
    faults: u64,
}

/// One word of the row; the report of a difference.
fn check(bench: &mut Bench, random: &mut Random, target: Target, op: Op, count: &mut Count) -> Result<(), String> {
    let Some(form) = encoding(random, op, target.generation()) else { return Ok(()) };
    let Some((words, inst)) = words(random, Decoder::new(target), op, form) else { return Ok(()) };
    let code: Vec<u8> = words.iter().chain(&[0; 8]).flat_map(|word| word.to_le_bytes()).collect();
    bench.memory.write(bench.code, &code).expect("code is mapped");
    let wave = wave(random, bench, &inst, target.generation());
    let header = || {
        let (mode, exec) = (wave.mode.0, wave.exec());
        format!("{target} {} words {words:x?} mode {mode:#x} exec {exec:#x}\n", disas::text(&inst, target))
    };
    let (registers, at_end) = (RegisterFile::ALL, AtEnd::Registers);
    let machine = translate::Machine { target, registers, exceptions: false, at_end };
    let unit = one(bench.code, machine, &inst, wave.mode);
    let (expected, unit) = match (interpret(bench, target, &inst, &wave), unit) {
        (Some(expected), Ok(unit)) => (expected, unit),
        (None, Err(trap)) if matches!(*trap, Trap::Unimplemented { .. }) => return Ok(()),
        (Some(_), Err(trap)) => return Err(header() + &format!("only the interpreter runs it: {trap}\n")),
        (None, _) => return Err(header() + "only the translator runs it\n"),
    };
    let mut sites = vec![Site::default(); unit.accesses];
    if random.below(4) == 0 {
        // A site that knows where the access went before.
        translated(bench, target, &wave, &unit, &mut sites);
    }
    let got = translated(bench, target, &wave, &unit, &mut sites);
    match expected.fault {
        None => count.done += 1,
        Some(_) => count.faults += 1,
    }
    compare(bench, &inst, &wave, &got, &expected).map_or(Ok(()), |text| Err(header() + &text))
}

fn tested(op: Op) -> bool {
    let family = matches!(op, Op::Smem(_) | Op::Ds(_) | Op::Mubuf(_) | Op::Mtbuf(_) | Op::Flat(_));
    let has = |note| op.info().has(note);
    // Where work-groups meet a wave may have to wait: tests/meet.rs.
    op.info().executed && family && !has(Note::Host) && !has(Note::EndsBlock)
}

#[test]
fn random_accesses() {
    let (rounds, seed) = (setting("GCNJIT_DIFF_ROUNDS", 6), setting("GCNJIT_DIFF_SEED", 1));
    let only = std::env::var("GCNJIT_DIFF_ONLY").unwrap_or_default();
    let (mut bench, mut random) = (Bench::new(), Random::new(seed));
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut failures = Vec::new();
    for target in TARGETS {
        for op in Op::all().filter(|op| tested(*op) && op.info().name.starts_with(&only) && target.supports(*op)) {
            let count = counts.entry(op.info().name).or_default();
            let result = (0..rounds).try_for_each(|_| check(&mut bench, &mut random, target, op, count));
            failures.extend(result.err());
        }
    }
    let (done, faults) = counts.values().fold((0, 0), |sum, count| (sum.0 + count.done, sum.1 + count.faults));
    println!("{} rows: {done} accesses and {faults} faults compared", counts.len());
    let shown: Vec<&str> = failures.iter().take(12).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
    let never: Vec<_> = counts.iter().filter(|(_, count)| count.done == 0).map(|(name, _)| *name).collect();
    assert!(never.is_empty(), "never compared: {never:?}");
}
