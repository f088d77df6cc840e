//! The functions against the general way: lanes at the borders of their allocation and beyond, that overlap, in any
//! number. A function that gives up must have changed nothing.

use crate::access::tests::{EXECS, LOADS, N, SIZE, STORES, World, hash, inst, layouts, s, v, wave};
use crate::access::{Access, Site};
use crate::wide::asm::Asm;
use gcnjit_isa::{Ds, Flat, Mem, Mubuf, Op, Operand, Target};
use gcnjit_rt::{Row, Wave};
use memmap2::{Mmap, MmapMut};

const LDS_SIZE: u64 = 4096;

/// The function of an access, executable.
struct Function {
    memory: Mmap,
    offset: usize,
}

impl Function {
    fn new(access: &Access) -> Option<Function> {
        let mut asm = Asm::new();
        let offset = super::emit(&mut asm, access)?;
        let bytes = asm.finish();
        let mut memory = MmapMut::map_anon(bytes.len()).unwrap();
        memory.copy_from_slice(&bytes);
        Some(Function { memory: memory.make_exec().unwrap(), offset })
    }

    /// Whether it has done it.
    fn run(&self, wave: &mut Wave, site: &mut Site) -> bool {
        // SAFETY: the code is a function of this type, for a host that has the instructions; the site is true.
        unsafe {
            let at = self.memory.as_ptr().add(self.offset);
            let call = std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut Wave, *mut Site) -> u32>(at);
            call(wave, site) == 0
        }
    }
}

/// Offsets of lanes in an allocation.
fn places(bytes: u64, size: u64) -> Vec<[i64; 64]> {
    let known = layouts(bytes as u32).into_iter().map(|row| row.map(i64::from));
    let place = |place: &dyn Fn(i64) -> i64| std::array::from_fn(|i| place(i as i64));
    let (bytes, last) = (bytes as i64, (size - bytes) as i64);
    let odd = |lane: i64, at: i64| move |i: i64| if i == lane { at } else { 8 + i % 7 * 16 };
    known
        .chain([
            place(&|_| last),
            place(&|_| last + 1),
            place(&|i| last - i),
            place(&|i| last - bytes * i),
            place(&|i| 64 + i / 2 * 3),
            place(&|i| i64::from(hash(i as u32)) % last),
            place(&|i| last - 63 * bytes + bytes * i),
            place(&|i| last - 63 * bytes + bytes * i + 1),
            place(&|i| bytes * (i - 1)),
            place(&odd(9, -1)),
            place(&odd(0, last + 1)),
            place(&odd(63, last)),
            place(&odd(20, last + (1 << 32))),
            place(&odd(21, 1 << 31)),
            place(&odd(22, -(1 << 32))),
        ])
        .collect()
}

/// An access, and how it wants a wave to be for lanes at offsets in an allocation that starts somewhere.
struct Case<'a> {
    access: Access,
    set: &'a dyn Fn(&mut Wave, u64, &[i64; 64]),
    lds: bool,
}

impl Case<'_> {
    /// Runs both for lanes at `offsets`, and compares; the result is whether the function has done it.
    fn agrees(&self, world: &World, function: &Function, offsets: &[i64; 64], exec: u64) -> bool {
        let (start, size) =
            if self.lds { (world.lds.as_ptr().expose_provenance() as u64, LDS_SIZE) } else { (world.data, SIZE) };
        let mut wave = wave(exec);
        (self.set)(&mut wave, start, offsets);
        let what = format!("{:?} {offsets:?} {exec:#x}", self.access.lane_move());
        compare(world, &self.access, function, &wave, Site::of(start, size), &what)
    }

    /// Lanes everywhere. Those that are all inside must be done without the general way if the function can do it
    /// (`known`): it does not reach an LDS address before the instruction's offset.
    fn check(&self, bytes: u64, known: impl Fn(&[i64; 64], u64) -> bool) {
        self.check_in(&World::new(), bytes, known);
    }

    fn check_in(&self, world: &World, bytes: u64, known: impl Fn(&[i64; 64], u64) -> bool) {
        let function = Function::new(&self.access).expect("there is a function for it");
        let size = if self.lds { LDS_SIZE } else { SIZE };
        for offsets in places(bytes, size) {
            let inside = offsets.iter().all(|at| (0..=(size - bytes) as i64).contains(at));
            for exec in EXECS {
                let done = self.agrees(world, &function, &offsets, exec);
                assert!(
                    done || !inside || !known(&offsets, exec),
                    "{:?} {offsets:?} {exec:#x}",
                    self.access.lane_move()
                );
            }
        }
    }
}

/// Runs both ways on a wave, and compares; the result is whether the function has done it.
fn compare(world: &World, access: &Access, function: &Function, before: &Wave, mut site: Site, what: &str) -> bool {
    let stores = access.lane_move().is_some_and(|lanes| lanes.store) || access.lane_atomic().is_some();
    let bytes = || if stores { Some(world.bytes()) } else { None };
    let (mut general, mut after) = (before.clone(), before.clone());
    let memory = bytes();
    let result = access.run(&mut general, &world.env(Target::Gfx900), &mut Site::default());
    let expected = bytes();
    if let Some(memory) = &memory {
        world.set_bytes(memory);
    }
    let done = function.run(&mut after, &mut site);
    let good = if done {
        result.is_ok() && after.vgpr == general.vgpr && bytes() == expected
    } else {
        after.vgpr == before.vgpr && bytes() == memory
    };
    assert!(good, "{what}");
    done
}

fn access(op: Op, dst: Operand, src: [Operand; 3], mem: Mem) -> Access {
    Access::new(&inst(op, dst, src, mem), 0, Target::Gfx900).unwrap()
}

/// Checks an operation through each form of addresses.
fn check(flat: Flat, ds: Ds, bytes: usize, registers: (Operand, Operand)) {
    let ((dst, data), mem) = (registers, |offset| Mem { offset, seg: 2, ..Mem::default() });
    for offset in [0, 24, -40] {
        let pairs = |wave: &mut Wave, start: u64, offsets: &[i64; 64]| {
            for (i, place) in offsets.iter().enumerate() {
                let address = start.wrapping_add_signed(place - i64::from(offset));
                wave.vgpr[2][i] = address as u32;
                wave.vgpr[3][i] = (address >> 32) as u32;
            }
        };
        let access = access(Op::Flat(flat), dst, [v(2), data, N], mem(offset));
        let case = Case { access, set: &pairs, lds: false };
        case.check(bytes as u64, |_, _| true);
        let same_half = |offsets: &[i64; 64], _| offsets.iter().all(|place| *place >= offset.into());
        case.check_in(&World::at_a_window(), bytes as u64, same_half);
    }
    for (base, offset) in [(0, 0), (-96, 24), (-(1 << 31), -40)] {
        let based = |wave: &mut Wave, start: u64, offsets: &[i64; 64]| {
            wave.set_sgpr64(20, start.wrapping_add_signed(base - i64::from(offset)));
            wave.vgpr[2] = offsets.map(|place| (place - base) as u32);
        };
        let access = access(Op::Flat(flat), dst, [v(2), data, s(20)], mem(offset));
        Case { access, set: &based, lds: false }.check(bytes as u64, |_, _| true);
    }
    let shared = |wave: &mut Wave, _: u64, offsets: &[i64; 64]| {
        wave.vgpr[2] = offsets.map(|place| (place - 8) as u32);
    };
    let access = access(Op::Ds(ds), dst, [v(2), data, N], mem(8));
    let reached = |offsets: &[i64; 64], _| offsets.iter().all(|place| *place >= 8);
    Case { access, set: &shared, lds: true }.check(bytes as u64, reached);
}

#[test]
fn loads() {
    if !crate::wide::is_available() {
        return;
    }
    for &(flat, ds, bytes) in LOADS.iter().filter(|(.., bytes)| *bytes <= 8) {
        // The result may take the place of the address.
        for dst in [10, 2, 3] {
            check(flat, ds, bytes, (v(dst), N));
        }
    }
}

#[test]
fn stores() {
    if !crate::wide::is_available() {
        return;
    }
    for &(flat, ds, bytes) in STORES.iter().filter(|(.., bytes)| *bytes <= 8) {
        check(flat, ds, bytes, (N, v(10)));
    }
}

#[test]
fn atomics() {
    if !crate::wide::is_available() {
        return;
    }
    let set = |wave: &mut Wave, _: u64, offsets: &[i64; 64]| wave.vgpr[2] = offsets.map(|place| (place - 8) as u32);
    let ops = [
        (Ds::ds_add_u32, false),
        (Ds::ds_sub_u32, false),
        (Ds::ds_and_rtn_b32, true),
        (Ds::ds_or_b32, false),
        (Ds::ds_xor_b32, false),
        (Ds::ds_add_rtn_u32, true),
    ];
    for (op, returns) in ops {
        // The result may take the place of the address or the data.
        for dst in if returns { [11, 2, 10].as_slice() } else { &[0] } {
            let dst = if returns { v(*dst) } else { N };
            let access = access(Op::Ds(op), dst, [v(2), v(10), N], Mem { offset: 8, ..Mem::default() });
            // Lanes at one address go the general way.
            let apart = |offsets: &[i64; 64], exec: u64| {
                let active: Vec<i64> = (0..64).filter(|i| exec >> i & 1 != 0).map(|i| offsets[i]).collect();
                let same = active.len() > 1 && active.iter().all(|place| *place == active[0]);
                offsets.iter().all(|place| *place >= 8) && !same
            };
            Case { access, set: &set, lds: true }.check(4, apart);
        }
    }
}

#[test]
fn loads_of_two_dwords_apart() {
    if !crate::wide::is_available() {
        return;
    }
    let set = |wave: &mut Wave, _: u64, offsets: &[i64; 64]| wave.vgpr[2] = offsets.map(|place| place as u32);
    for (first, second) in [(0, 1), (3, 40), (40, 3)] {
        let mem = Mem { offset: first, offset1: second, ..Mem::default() };
        let access = access(Op::Ds(Ds::ds_read2_b32), v(2), [v(2), N, N], mem);
        let bytes = 4 * first.max(i32::from(second)) as u64 + 4;
        Case { access, set: &set, lds: true }.check(bytes, |_, _| true);
    }
}

#[test]
fn allocations_that_may_not_be_written_and_accesses_that_miss() {
    if !crate::wide::is_available() {
        return;
    }
    let (world, mem) = (World::new(), Mem { seg: 2, ..Mem::default() });
    let mut wave = wave(!0);
    for i in 0..64 {
        let address = world.rom + 12 * i as u64;
        (wave.vgpr[2][i], wave.vgpr[3][i]) = (address as u32, (address >> 32) as u32);
    }
    let load = access(Op::Flat(Flat::flat_load_dword), v(10), [v(2), N, N], mem);
    let store = access(Op::Flat(Flat::flat_store_dword), N, [v(2), v(10), N], mem);
    let mut site = Site::default();
    let functions = [&load, &store].map(|access| Function::new(access).unwrap());
    // It has hit nothing yet.
    assert!(!functions[0].run(&mut wave.clone(), &mut site));
    load.run(&mut wave.clone(), &world.env(Target::Gfx900), &mut site).unwrap();
    assert!(functions[0].run(&mut wave.clone(), &mut site));
    assert!(!functions[1].run(&mut wave.clone(), &mut site));
}

/// A V# of scratch in s[4:7], from somewhere in the allocation.
fn set_resource(wave: &mut Wave, target: Target, base: u64, records: u32) {
    let element = if target == Target::Gfx900 { 0 } else { 1 << 19 };
    let words = [base as u32, (base >> 32) as u32 | 1 << 31, records, 1 << 23 | 3 << 21 | element];
    wave.sgpr[4..8].copy_from_slice(&words);
}

const BUFFER_LOADS: [(Mubuf, u32); 5] = [
    (Mubuf::buffer_load_ubyte, 1),
    (Mubuf::buffer_load_sbyte, 1),
    (Mubuf::buffer_load_sshort, 2),
    (Mubuf::buffer_load_short_d16_hi, 2),
    (Mubuf::buffer_load_dword, 4),
];

const BUFFER_STORES: [(Mubuf, u32); 4] = [
    (Mubuf::buffer_store_byte, 1),
    (Mubuf::buffer_store_byte_d16_hi, 1),
    (Mubuf::buffer_store_short, 2),
    (Mubuf::buffer_store_dword, 4),
];

#[test]
fn scratch() {
    if !crate::wide::is_available() {
        return;
    }
    let world = World::new();
    let spread = |step: u32| std::array::from_fn(|i| hash(i as u32) % 60 * step);
    for (op, bytes) in BUFFER_LOADS.into_iter().chain(BUFFER_STORES) {
        let last = 63 * 4 - bytes;
        let rows: [Row; 9] = [
            spread(bytes),
            [12; 64],
            [13; 64],
            [14; 64],
            [last; 64],
            std::array::from_fn(|i| if i == 9 { last } else { bytes }),
            // Misaligned, over the last record, and far away.
            spread(1),
            std::array::from_fn(|i| if i == 10 { 256 } else { 0 }),
            std::array::from_fn(|i| if i == 11 { u32::MAX - 3 } else { 0 }),
        ];
        for target in [Target::Gfx700, Target::Gfx803, Target::Gfx900] {
            for (offen, soffset) in [(true, N), (true, s(8)), (false, s(8))] {
                for offset in [4, 6, 7] {
                    let mem = Mem { offen, offset, ..Mem::default() };
                    let store = BUFFER_STORES.iter().any(|(store, _)| *store == op);
                    let (dst, data) = if store { (N, v(10)) } else { (v(2), N) };
                    let mut inst = inst(Op::Mubuf(op), dst, [v(2), s(4), soffset], mem);
                    inst.src[3] = data;
                    let Ok(access) = Access::new(&inst, 0, target) else { continue };
                    let function = Function::new(&access).expect("there is a function for it");
                    for row in rows {
                        let known = row.iter().all(|place| {
                            let at = if offen { place.wrapping_add(offset as u32) } else { offset as u32 };
                            at % bytes == 0 && at <= 64 * 4 - bytes
                        });
                        for exec in EXECS {
                            let mut wave = wave(exec);
                            set_resource(&mut wave, target, world.data + 512, 512 + 64 * 256);
                            wave.sgpr[8] = 512;
                            wave.vgpr[2] = row;
                            let what = format!("{op:?} {target:?} {offen} {soffset:?} {offset} {row:?} {exec:#x}");
                            let done = compare(&world, &access, &function, &wave, Site::of(world.data, SIZE), &what);
                            assert!(done || !known, "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn other_resources_are_left_alone() {
    if !crate::wide::is_available() {
        return;
    }
    let world = World::new();
    let inst = inst(Op::Mubuf(Mubuf::buffer_load_dword), v(10), [v(2), s(4), N], Mem { offen: true, ..Mem::default() });
    for target in [Target::Gfx700, Target::Gfx803, Target::Gfx900] {
        let access = Access::new(&inst, 0, target).unwrap();
        let function = Function::new(&access).expect("there is a function for it");
        for (word, bit) in [(1, 16), (1, 29), (1, 31), (3, 21), (3, 22), (3, 23), (3, 15), (3, 20)] {
            let mut wave = wave(!0);
            wave.vgpr[2] = std::array::from_fn(|i| 4 * i as u32);
            set_resource(&mut wave, target, world.data, 1 << 15);
            let what = format!("{target:?}, bit {bit} of word {word}");
            assert!(compare(&world, &access, &function, &wave, Site::of(world.data, SIZE), &what));
            wave.sgpr[4 + word] ^= 1 << bit;
            let ignored = word == 3 && (bit == 15 && target == Target::Gfx700 || bit == 20 && target == Target::Gfx900);
            assert_eq!(
                compare(&world, &access, &function, &wave, Site::of(world.data, SIZE), &what),
                ignored,
                "{what}"
            );
        }
    }
}
