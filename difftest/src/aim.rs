//! Registers that memory instructions take addresses from: most lanes at one memory, as a run, at one place or
//! scattered, some on purpose misaligned, at an edge, between allocations, at null or where memory is read-only.

use crate::case::{Contents, Pointer, READ_ONLY, Register, SCRATCH, Space, Start};
use crate::image;
use crate::random::Random;
use gcnjit_isa::{Access, Gen, Inst, Mimg, Op, Operand, Ty};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::{LANES, Row, wave::reg};

/// Memories with addresses that instructions are aimed at.
const SPACES: [Space; 3] = [Space::A, Space::B, Space::C];

/// Sets the registers from which `inst` takes its address so that they suit it. M0 is left alone: see [`m0`].
pub fn aim(random: &mut Random, start: &mut Start, inst: &Inst, generation: Gen) {
    let bytes = match inst.op.info().access() {
        Some((Access::Atomic, bytes)) => bytes,
        Some((_, bytes)) => bytes.clamp(1, 64),
        None => 4,
    };
    let mut aim = Aim { random, start, generation, bytes: u64::from(bytes.max(1)) };
    match inst.op {
        Op::Flat(_) => aim.flat(inst),
        Op::Ds(_) => aim.share(inst),
        Op::Mubuf(_) | Op::Mtbuf(_) => aim.buffer(inst),
        Op::Smem(_) => aim.scalar_memory(inst),
        Op::Mimg(op) => aim.image(inst, op),
        _ => {}
    }
}

/// A value of M0 that suits memory instructions: a limit of LDS, an offset in it, or none.
pub fn m0(random: &mut Random) -> u32 {
    let (high, low) = (random.below(40) as u32 * 4, random.below(300) as u32 * 4);
    if random.once_in(2) { u32::MAX } else { high << 16 | low }
}

/// Fills memory with dwords that `value` makes; of the global data share only the beginning.
pub fn fill(contents: &mut Contents, mut value: impl FnMut() -> u32) {
    const FILLED: usize = 2048;
    for space in Space::ALL {
        let len = if space == Space::Gds { FILLED } else { space.size() as usize };
        for dword in contents.of_mut(space)[..len].chunks_exact_mut(4) {
            dword.copy_from_slice(&value().to_le_bytes());
        }
    }
}

/// Sets what FLAT_SCRATCH must be for the waves' scratch.
pub fn flat_scratch(start: &mut Start, generation: Gen) {
    let (at, pointer) = match generation {
        Gen::Gfx9 => (102, true),
        Gen::Gfx8 => (102, false),
        _ => (104, false),
    };
    start.wave.set_sgpr64(at, 0);
    if pointer {
        start.pointers.push(Pointer { at: Register::Sgpr(at as u8), lanes: 0, to: Space::Scratch });
    }
}

/// Offsets of 64 lanes in `len` bytes, mostly multiples of the access' size, as a run, all the same, or scattered.
fn pattern(random: &mut Random, len: u64, bytes: u64) -> [u64; LANES] {
    let unit = if random.once_in(16) { 1 } else { bytes.next_power_of_two() };
    let places = len.saturating_sub(bytes) / unit + 1;
    let first = random.below(places) * unit;
    match random.below(6) {
        // A run; now and then over the end.
        0 | 1 => {
            let start = first % (len / 4 + 1) / unit * unit;
            let end = if random.once_in(16) { u64::MAX } else { places * unit };
            std::array::from_fn(|lane| (start + lane as u64 * bytes) % end)
        }
        2 => [first; LANES],
        3 => {
            // So far apart; or rows of sixteen.
            let choice = random.below(8);
            let (step, row) =
                if choice < 4 { (choice, 16 * choice) } else { (1, [0, 16, 20, 36][choice as usize - 4]) };
            let place = |lane: u64| (lane % 16 * step + lane / 16 * row) * unit;
            std::array::from_fn(|lane| (first + place(lane as u64)) % (places * unit))
        }
        _ => std::array::from_fn(|_| random.below(places) * unit),
    }
}

/// Addresses of 64 lanes: in the lanes of `inside` they count from the start of `space`.
struct Addresses {
    space: Space,
    inside: u64,
    values: [u64; LANES],
}

struct Aim<'a> {
    random: &'a mut Random,
    start: &'a mut Start,
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
            self.start.wave.vgpr[(usize::from(first) + more) & 255] = row;
        }
    }

    /// Sets a pair of registers to the addresses, less `back`.
    fn set_addresses(&mut self, operand: Operand, addresses: &Addresses, back: u64) {
        let values = addresses.values.map(|x| x.wrapping_sub(back));
        self.set_row(operand, 0, Self::low(values));
        self.set_row(operand, 1, values.map(|x| (x >> 32) as u32));
        if let Operand::Vgpr(first) = operand {
            let pointer = Pointer { at: Register::Vgpr(first), lanes: addresses.inside, to: addresses.space };
            self.start.pointers.push(pointer);
        }
    }

    fn set_scalar(&mut self, operand: Operand, more: usize, value: u32) {
        if let Operand::Sgpr(first) = operand {
            self.start.wave.sgpr[(usize::from(first) + more) & 127] = value;
        }
    }

    /// Sets a pair to a 64-bit value that counts from the start of `space`, if there is one.
    fn set_pair(&mut self, operand: Operand, value: u64, space: Option<Space>) {
        self.set_scalar(operand, 0, value as u32);
        self.set_scalar(operand, 1, (value >> 32) as u32);
        if let (Operand::Sgpr(first), Some(to)) = (operand, space) {
            self.start.pointers.push(Pointer { at: Register::Sgpr(first), lanes: 0, to });
        }
    }

    /// The value of a scalar operand as it is now.
    fn scalar(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Sgpr(index) => self.start.wave.sgpr[usize::from(index & 127)].into(),
            Operand::Inline(_) => operand.inline_bits(Ty::u32).unwrap_or(0),
            _ => 0,
        }
    }

    /// An address that is not simply inside of `space`: whether it counts from there, and the value.
    fn wild(&mut self, space: Space) -> (bool, u64) {
        let len = space.size();
        let apertures = [LDS_APERTURE + 12, PRIVATE_APERTURE + 20, LDS_APERTURE - 4, PRIVATE_APERTURE + 0xffff_fffc];
        let aperture = self.random.pick(&apertures);
        let edge = len - self.random.below(16);
        // Behind `C` is memory that can only be read; behind the others, and before all, there is nothing.
        let behind = if space == Space::C { READ_ONLY / 2 } else { 64 };
        let places = [
            (true, edge),
            (true, len),
            (true, len + behind),
            (true, 4u64.wrapping_neg()),
            (false, 0),
            (false, 8),
            (false, 4095),
            (false, aperture),
            (false, u64::MAX - 3),
        ];
        self.random.pick(&places)
    }

    /// Addresses of 64 lanes in one memory, sometimes with a few wild ones.
    fn addresses(&mut self) -> Addresses {
        let space = self.random.pick(&SPACES);
        let values = pattern(self.random, space.size(), self.bytes);
        let mut addresses = Addresses { space, inside: u64::MAX, values };
        if self.random.once_in(16) {
            for _ in 0..=self.random.below(3) {
                let lane = self.random.below(64) as usize;
                let (inside, value) = self.wild(space);
                addresses.values[lane] = value;
                addresses.inside = addresses.inside & !(1 << lane) | u64::from(inside) << lane;
            }
        }
        addresses
    }

    /// Offsets of 64 lanes in `len` bytes, sometimes with one that is not.
    fn offsets(&mut self, len: u64) -> Row {
        let mut offsets = Self::low(pattern(self.random, len, self.bytes));
        if self.random.once_in(16) {
            let wild = [len as u32 - 1, len as u32, len as u32 + 8, u32::MAX - 3, 0x8000_0000];
            offsets[self.random.below(64) as usize] = self.random.pick(&wild);
        }
        offsets
    }

    fn flat(&mut self, inst: &Inst) {
        let mem = inst.mem();
        let offset = i64::from(mem.offset) as u64;
        let (vector, scalar) = (inst.src[0], inst.src[2]);
        if mem.seg == 1 {
            let base = self.random.below(SCRATCH / 4) as u32 * 4;
            self.set_scalar(scalar, 0, base.wrapping_sub(mem.offset as u32));
            let offsets = self.offsets(SCRATCH).map(|x| x.wrapping_sub(mem.offset as u32));
            self.set_row(vector, 0, offsets);
        } else if scalar != Operand::None {
            let space = self.random.pick(&SPACES);
            self.set_pair(scalar, offset.wrapping_neg(), Some(space));
            let offsets = self.offsets(space.size());
            self.set_row(vector, 0, offsets);
        } else {
            let aperture = match self.random.below(6) {
                0 => Some((LDS_APERTURE, Space::Lds.size())),
                1 => Some((PRIVATE_APERTURE, SCRATCH)),
                _ => None,
            };
            let addresses = match aperture.filter(|_| mem.seg == 0) {
                Some((base, len)) => {
                    let values = self.offsets(len).map(|x| base + u64::from(x));
                    Addresses { space: Space::A, inside: 0, values }
                }
                None => self.addresses(),
            };
            self.set_addresses(vector, &addresses, offset);
        }
    }

    fn share(&mut self, inst: &Inst) {
        let mem = inst.mem();
        let mut offsets = self.offsets(Space::Lds.size());
        if mem.offset & 0x8000 != 0 {
            // Instructions with a second address in memory keep its distance in the high bits.
            offsets = offsets.map(|x| x & 0x1ffff | (self.random.next() as u32 & 0x8003) << 17);
        } else if self.random.once_in(2) {
            offsets = offsets.map(|x| x.wrapping_sub(mem.offset as u32));
        }
        self.set_row(inst.src[0], 0, offsets);
    }

    /// A memory for a buffer and the buffer's size: mostly one that has much behind the buffer's end, since offsets and
    /// indices beyond it are as good as any.
    fn buffer_space(&mut self) -> (Space, u64) {
        match self.random.below(4) {
            0 => (Space::B, Space::B.size()),
            1 => (Space::C, Space::C.size()),
            _ => (Space::A, Space::A.size() / 8),
        }
    }

    /// A buffer resource for `len` bytes at the address that is added to its first two words, and its stride.
    fn resource(&mut self, len: u64) -> ([u32; 4], u64) {
        let mut stride = self.random.pick(&[0, 0, 0, 4, 8, 12, 16, 20, 32, 64]);
        let records = match self.random.below(8) {
            0 => self.random.below(40),
            1 if self.random.once_in(4) => u32::MAX.into(),
            2 => len,
            _ => len / stride.max(1),
        };
        let mut swizzle = self.random.once_in(4);
        let select = |random: &mut Random| random.pick(&[0, 1, 4, 5, 6, 7]);
        let selects =
            if self.random.once_in(2) { 0o7654 } else { (0..4).fold(0, |sum, i| sum | select(self.random) << (3 * i)) };
        let add_tid = self.random.once_in(4);
        let format = self.random.below(128) as u32;
        let mut w3 = self.random.next() as u32 & 0xff78_0000 & !(1 << 23) | selects | format << 12;
        w3 |= u32::from(add_tid) << 23;
        if self.random.once_in(8) {
            // Scratch as compilers lay it out.
            (stride, swizzle) = (0, true);
            w3 = w3 & !0x00f8_0000 | 1 << 23 | 3 << 21 | 1 << 19;
            w3 &= if self.generation >= Gen::Gfx8 { !(15 << 15) } else { !0 };
        }
        let w1 = (stride as u32) << 16 | u32::from(swizzle) << 31;
        ([0, w1, records as u32, w3], stride)
    }

    fn set_resource(&mut self, operand: Operand, words: [u32; 4], space: Space) {
        for (i, word) in words.into_iter().enumerate() {
            self.set_scalar(operand, i, word);
        }
        if let Operand::Sgpr(first) = operand {
            self.start.pointers.push(Pointer { at: Register::Sgpr(first), lanes: 0, to: space });
        }
    }

    fn buffer(&mut self, inst: &Inst) {
        let mem = inst.mem();
        let [vector, resource, soffset, _] = inst.src;
        let soffset_value = self.random.pick(&[0, 0, 4, 16, 64, 260, 3]);
        self.set_scalar(soffset, 0, soffset_value);
        let (space, len) = self.buffer_space();
        let (words, stride) = self.resource(len);
        self.set_resource(resource, words, space);
        let bytes = self.bytes;
        if mem.addr64 {
            // The resource's base is added to the address.
            let values = pattern(self.random, len, bytes);
            let addresses = Addresses { space, inside: 0, values };
            self.set_addresses(vector, &addresses, u64::from(soffset_value) + mem.offset as u64);
            return;
        }
        let size = if stride == 0 { len } else { stride };
        let mut offsets = self.offsets(size.max(bytes));
        if self.random.once_in(2) {
            offsets = offsets.map(|x| x.wrapping_sub(mem.offset as u32));
        }
        self.bytes = 1;
        let indices = self.offsets(u64::from(words[2]).clamp(1, 64));
        match (mem.idxen, mem.offen) {
            (true, true) => {
                self.set_row(vector, 0, indices);
                self.set_row(vector, 1, offsets);
            }
            (true, false) => self.set_row(vector, 0, indices),
            _ => self.set_row(vector, 0, offsets),
        }
    }

    fn image(&mut self, inst: &Inst, op: Mimg) {
        let space = self.random.pick(&SPACES);
        let target = image::Target { generation: self.generation, bytes: space.size() };
        let (resource, image) = image::resource(self.random, op, inst, target);
        for (i, word) in resource.into_iter().enumerate() {
            self.set_scalar(inst.src[1], i, word);
        }
        if let Operand::Sgpr(first) = inst.src[1] {
            self.start.pointers.push(Pointer { at: Register::Resource(first), lanes: 0, to: space });
        }
        for (i, word) in image::sampler(self.random).into_iter().enumerate() {
            self.set_scalar(inst.src[2], i, word);
        }
        for (i, row) in image::address(self.random, op, inst, &image).into_iter().enumerate() {
            self.set_row(inst.src[0], i, row);
        }
    }

    fn scalar_memory(&mut self, inst: &Inst) {
        let soffset = self.random.pick(&[0, 0, 4, 16, 63, 1000]);
        if matches!(inst.src[1], Operand::Sgpr(register) if usize::from(register) < reg::VCC) {
            self.set_scalar(inst.src[1], 0, soffset);
        }
        let offset = inst.mem().offset as u64;
        if inst.op.info().srcs.first() == Some(&Ty::b128) {
            let (space, len) = self.buffer_space();
            let (words, _) = self.resource(len);
            self.set_resource(inst.src[0], words, space);
            return;
        }
        let scale = if inst.op.info().name.contains("scratch") { 64 } else { 1 };
        let more = offset.wrapping_add(self.scalar(inst.src[1]) * scale);
        let addresses = self.addresses();
        let lane = self.random.below(64);
        let inside = addresses.inside >> lane & 1 != 0;
        let value = addresses.values[lane as usize].wrapping_sub(more);
        self.set_pair(inst.src[0], value, inside.then_some(addresses.space));
    }
}
