//! Accesses against a model that does one lane after the other through the runtime's own memory functions.

use super::*;
use gcnjit_isa::{Ds, Ext, Flat, Format, Mods, Mubuf, Op, Operand, Smem};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::lds::Lds;
use gcnjit_rt::memory::{LDS_APERTURE, Memory, PRIVATE_APERTURE, Piece};
use gcnjit_rt::order::Order;
use gcnjit_rt::{View, wave::reg};
use std::sync::atomic::AtomicBool;

pub(crate) const SIZE: u64 = 64 << 10;
pub(crate) const N: Operand = Operand::None;
pub(crate) const EXECS: [u64; 7] = [!0, 1, 1 << 63, 0xff00, 0x8000_0000_0000_0001, 0x5555_5555_1234_5678, 0];

/// Memory with an allocation to write, one to read, and the shares.
pub(crate) struct World {
    _memory: Memory,
    view: View,
    pub(crate) data: u64,
    pub(crate) rom: u64,
    pub(crate) lds: Lds,
    gds: Gds,
    stop: AtomicBool,
}

impl World {
    pub(crate) fn new() -> World {
        let memory = Memory::with_arena(1 << 30).unwrap();
        // What is a bit below the data has the same upper half of its address, wherever the host puts the arena.
        let mut data = memory.alloc(SIZE).unwrap();
        while (data as u32) < 4096 {
            data = memory.alloc(SIZE).unwrap();
        }
        World::with(memory, data)
    }

    /// The data starts at a multiple of 4 GiB: what is below has another upper half of its address.
    pub(crate) fn at_a_window() -> World {
        let memory = Memory::with_arena(8 << 30).unwrap();
        memory.set_limit(u64::MAX);
        // So much never crosses a multiple.
        let data = memory.alloc_pieces(1 << 32, &[Piece::data(0, SIZE)]).unwrap();
        assert_eq!(data as u32, 0);
        World::with(memory, data)
    }

    fn with(memory: Memory, data: u64) -> World {
        let rom = memory.alloc_pieces(SIZE, &[Piece::constant(0, SIZE)]).unwrap();
        let world = World {
            view: memory.view(),
            _memory: memory,
            data,
            rom,
            lds: Lds::new(4096),
            gds: Gds::new(),
            stop: AtomicBool::new(false),
        };
        for i in 0..SIZE / 4 {
            world.view.store(data + 4 * i, &hash(i as u32).to_le_bytes()).unwrap();
        }
        for i in 0..1024 {
            world.lds.store(4 * i, hash(i + 77).to_le_bytes());
        }
        world
    }

    pub(crate) fn env(&self, target: Target) -> Env<'_> {
        let World { view, lds, gds, stop, .. } = self;
        static ORDER: Order = Order::new();
        Env { scratch: self.data, slice: 1, ..Env::bare(target, view, lds, (gds, &ORDER, stop)) }
    }

    pub(crate) fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let mut memory = vec![0; SIZE as usize];
        self.view.read(self.data, &mut memory).unwrap();
        (memory, (0..4096).flat_map(|i| self.lds.load::<1>(i)).collect())
    }

    pub(crate) fn set_bytes(&self, (memory, lds): &(Vec<u8>, Vec<u8>)) {
        self.view.store(self.data, memory).unwrap();
        lds.iter().enumerate().for_each(|(at, byte)| self.lds.store(at as u32, [*byte]));
    }
}

pub(crate) fn hash(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

pub(crate) fn inst(op: Op, dst: Operand, src: [Operand; 3], mem: Mem) -> Inst {
    let src = [src[0], src[1], src[2], N];
    Inst { op, format: Format::Flat, words: 2, dst: [dst, N], src, mods: Mods::default(), ext: Ext::Mem(mem) }
}

pub(crate) fn v(index: u8) -> Operand {
    Operand::Vgpr(index)
}

pub(crate) fn s(index: u8) -> Operand {
    Operand::Sgpr(index)
}

/// Offsets of 64 lanes, in ways that take different paths: a run, one place, spread, reversed, colliding, holes.
pub(crate) fn layouts(bytes: u32) -> Vec<Row> {
    vec![
        std::array::from_fn(|i| 256 + bytes * i as u32),
        [1024; 64],
        std::array::from_fn(|i| hash(i as u32) % 100 * 16),
        std::array::from_fn(|i| 1024 - 16 * i as u32),
        std::array::from_fn(|i| (i as u32 & 3) * bytes),
        std::array::from_fn(|i| bytes * i as u32 + if i > 40 { 64 } else { 0 }),
        std::array::from_fn(|i| 257 + 4 * i as u32),
    ]
}

pub(crate) fn wave(exec: u64) -> Box<Wave> {
    let mut wave = Wave::new();
    // As compilers leave it: no limit of LDS.
    wave.sgpr[reg::M0] = u32::MAX;
    for (r, row) in wave.vgpr.iter_mut().enumerate() {
        *row = std::array::from_fn(|i| hash((r * 64 + i) as u32));
    }
    wave.set_exec(exec);
    wave
}

fn set_addresses(wave: &mut Wave, first: usize, addresses: impl Fn(usize) -> u64) {
    for i in 0..64 {
        wave.vgpr[first][i] = addresses(i) as u32;
        wave.vgpr[first + 1][i] = (addresses(i) >> 32) as u32;
    }
}

pub(crate) const LOADS: &[(Flat, Ds, usize)] = &[
    (Flat::flat_load_ubyte, Ds::ds_read_u8, 1),
    (Flat::flat_load_sbyte, Ds::ds_read_i8, 1),
    (Flat::flat_load_ushort, Ds::ds_read_u16, 2),
    (Flat::flat_load_sshort, Ds::ds_read_i16, 2),
    (Flat::flat_load_ubyte_d16, Ds::ds_read_u8_d16, 1),
    (Flat::flat_load_sbyte_d16_hi, Ds::ds_read_i8_d16_hi, 1),
    (Flat::flat_load_short_d16, Ds::ds_read_u16_d16, 2),
    (Flat::flat_load_short_d16_hi, Ds::ds_read_u16_d16_hi, 2),
    (Flat::flat_load_dword, Ds::ds_read_b32, 4),
    (Flat::flat_load_dwordx2, Ds::ds_read_b64, 8),
    (Flat::flat_load_dwordx3, Ds::ds_read_b96, 12),
    (Flat::flat_load_dwordx4, Ds::ds_read_b128, 16),
];

pub(crate) const STORES: &[(Flat, Ds, usize)] = &[
    (Flat::flat_store_byte, Ds::ds_write_b8, 1),
    (Flat::flat_store_byte_d16_hi, Ds::ds_write_b8_d16_hi, 1),
    (Flat::flat_store_short, Ds::ds_write_b16, 2),
    (Flat::flat_store_short_d16_hi, Ds::ds_write_b16_d16_hi, 2),
    (Flat::flat_store_dword, Ds::ds_write_b32, 4),
    (Flat::flat_store_dwordx2, Ds::ds_write_b64, 8),
    (Flat::flat_store_dwordx3, Ds::ds_write_b96, 12),
    (Flat::flat_store_dwordx4, Ds::ds_write_b128, 16),
];

/// What a load makes of memory's little-endian bytes.
fn loaded(op: Flat, x: u32, old: u32) -> u32 {
    match op {
        Flat::flat_load_ubyte => x & 0xff,
        Flat::flat_load_sbyte => x as i8 as u32,
        Flat::flat_load_ushort => x & 0xffff,
        Flat::flat_load_sshort => x as i16 as u32,
        Flat::flat_load_ubyte_d16 => old & 0xffff_0000 | x & 0xff,
        Flat::flat_load_sbyte_d16_hi => old & 0xffff | (x as i8 as u32) << 16,
        Flat::flat_load_short_d16 => old & 0xffff_0000 | x & 0xffff,
        Flat::flat_load_short_d16_hi => old & 0xffff | x << 16,
        _ => x,
    }
}

fn model_load(wave: &mut Wave, op: Flat, bytes: usize, first: usize, read: impl Fn(usize, usize) -> [u8; 4]) {
    let before = wave.clone();
    for i in (0..64).filter(|i| before.exec() >> i & 1 != 0) {
        for k in 0..usize::div_ceil(bytes, 4) {
            let old = before.vgpr[first + k][i];
            wave.vgpr[first + k][i] = loaded(op, u32::from_le_bytes(read(i, 4 * k)), old);
        }
    }
}

#[test]
fn loads() {
    let world = World::new();
    for &(op, ds, bytes) in LOADS {
        for row in layouts(bytes as u32) {
            for exec in EXECS {
                // The result may take the place of the address.
                for dst in [10u8, 2, 3] {
                    let mut wave = wave(exec);
                    set_addresses(&mut wave, 2, |i| world.data + u64::from(row[i]));
                    let mut want = wave.clone();
                    let read = |i: usize, at: usize| {
                        world.view.load::<4>(world.data + u64::from(row[i]) + at as u64 + 8).unwrap()
                    };
                    model_load(&mut want, op, bytes, dst.into(), read);
                    // Through each address form: VGPRs, SGPR base, LDS.
                    let mem = Mem { offset: 8, seg: 2, ..Mem::default() };
                    let access =
                        Access::new(&inst(Op::Flat(op), v(dst), [v(2), N, N], mem), 0, Target::Gfx900).unwrap();
                    check(&world, &access, wave.clone(), &want, Target::Gfx900);
                    assert_eq!(access.writes_vgprs(), dst.into()..usize::from(dst) + bytes.div_ceil(4));

                    wave.vgpr[2] = row;
                    let mut want = wave.clone();
                    model_load(&mut want, op, bytes, dst.into(), read);
                    let mut based = wave.clone();
                    based.set_sgpr64(20, world.data);
                    want.set_sgpr64(20, world.data);
                    let access =
                        Access::new(&inst(Op::Flat(op), v(dst), [v(2), N, s(20)], mem), 0, Target::Gfx900).unwrap();
                    check(&world, &access, based, &want, Target::Gfx900);

                    let mut want = wave.clone();
                    model_load(&mut want, op, bytes, dst.into(), |i, at| world.lds.load(row[i] + at as u32 + 8));
                    let access = Access::new(&inst(Op::Ds(ds), v(dst), [v(2), N, N], mem), 0, Target::Gfx900).unwrap();
                    check(&world, &access, wave, &want, Target::Gfx900);
                }
            }
        }
    }
}

/// Runs twice, with an empty and a full site.
fn check(world: &World, access: &Access, wave: Box<Wave>, want: &Wave, target: Target) {
    let mut site = Site::default();
    for _ in 0..2 {
        let mut got = wave.clone();
        access.run(&mut got, &world.env(target), &mut site).unwrap();
        assert!(got.vgpr == want.vgpr && got.sgpr == want.sgpr, "{:?}", access.fields.action);
    }
}

#[test]
fn stores() {
    for &(op, ds, bytes) in STORES {
        for row in layouts(bytes as u32) {
            for exec in EXECS {
                let (got, want) = (World::new(), World::new());
                let mut wave = wave(exec);
                set_addresses(&mut wave, 2, |i| got.data + u64::from(row[i]));
                let high = matches!(op, Flat::flat_store_byte_d16_hi | Flat::flat_store_short_d16_hi);
                for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                    let data: Vec<u8> = (10..14).flat_map(|r| wave.vgpr[r][i].to_le_bytes()).collect();
                    let data = &data[if high { 2 } else { 0 }..][..bytes];
                    want.view.store(want.data + u64::from(row[i]), data).unwrap();
                    data.iter().enumerate().for_each(|(k, byte)| want.lds.store(row[i] + k as u32, [*byte]));
                }
                let env = got.env(Target::Gfx900);
                let flat = inst(Op::Flat(op), N, [v(2), v(10), N], Mem::default());
                Access::new(&flat, 0, Target::Gfx900).unwrap().run(&mut wave, &env, &mut Site::default()).unwrap();
                wave.vgpr[2] = row;
                let ds = inst(Op::Ds(ds), N, [v(2), v(10), N], Mem::default());
                Access::new(&ds, 0, Target::Gfx900).unwrap().run(&mut wave, &env, &mut Site::default()).unwrap();
                assert!(got.bytes() == want.bytes(), "{op:?} {exec:#x} {row:?}");
            }
        }
    }
}

#[test]
fn atomics() {
    type Case = (Flat, Ds, fn(u32, u32, u32) -> u32);
    let cases: [Case; 9] = [
        (Flat::flat_atomic_add, Ds::ds_add_rtn_u32, |m, a, _| m.wrapping_add(a)),
        (Flat::flat_atomic_sub, Ds::ds_sub_rtn_u32, |m, a, _| m.wrapping_sub(a)),
        (Flat::flat_atomic_smin, Ds::ds_min_rtn_i32, |m, a, _| (m as i32).min(a as i32) as u32),
        (Flat::flat_atomic_umax, Ds::ds_max_rtn_u32, |m, a, _| m.max(a)),
        (Flat::flat_atomic_xor, Ds::ds_xor_rtn_b32, |m, a, _| m ^ a),
        (Flat::flat_atomic_swap, Ds::ds_wrxchg_rtn_b32, |_, a, _| a),
        (Flat::flat_atomic_inc, Ds::ds_inc_rtn_u32, |m, a, _| if m >= a { 0 } else { m + 1 }),
        (Flat::flat_atomic_dec, Ds::ds_dec_rtn_u32, |m, a, _| if m == 0 || m > a { a } else { m - 1 }),
        (Flat::flat_atomic_cmpswap, Ds::ds_cmpst_rtn_b32, |m, a, b| if m == b { a } else { m }),
    ];
    for (op, ds, f) in cases {
        for row in layouts(4).into_iter().take(6) {
            for exec in EXECS {
                for returns in [false, true] {
                    let (got, want) = (World::new(), World::new());
                    let mut wave = wave(exec);
                    wave.vgpr[11] = std::array::from_fn(|i| {
                        u32::from_le_bytes(got.view.load(got.data + u64::from(row[i])).unwrap()) ^ (i as u32 & 1)
                    });
                    set_addresses(&mut wave, 2, |i| got.data + u64::from(row[i]));
                    let mut model = wave.clone();
                    for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                        let (a, b) = (wave.vgpr[10][i], wave.vgpr[11][i]);
                        let old = want.view.atomic_u32(want.data + u64::from(row[i]), |m| f(m, a, b)).unwrap();
                        model.vgpr[10][i] = if returns { old } else { a };
                    }
                    let dst = if returns { v(10) } else { N };
                    let env = got.env(Target::Gfx900);
                    let flat = inst(Op::Flat(op), dst, [v(2), v(10), N], Mem { glc: returns, ..Mem::default() });
                    let access = Access::new(&flat, 0, Target::Gfx900).unwrap();
                    let mut result = wave.clone();
                    access.run(&mut result, &env, &mut Site::default()).unwrap();
                    assert!(result.vgpr == model.vgpr && got.bytes() == want.bytes(), "{op:?} {exec:#x} {row:?}");

                    let mut model = wave.clone();
                    model.vgpr[2] = row;
                    let mut result = model.clone();
                    for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                        let (a, b) = (wave.vgpr[10][i], wave.vgpr[11][i]);
                        model.vgpr[12][i] = want.lds.atomic_u32(row[i], |m| f(m, a, b));
                    }
                    let data = if op == Flat::flat_atomic_cmpswap { [v(11), v(10)] } else { [v(10), N] };
                    let ds = inst(Op::Ds(ds), v(12), [v(2), data[0], data[1]], Mem::default());
                    let access = Access::new(&ds, 0, Target::Gfx900).unwrap();
                    access.run(&mut result, &env, &mut Site::default()).unwrap();
                    assert!(result.vgpr == model.vgpr && got.bytes() == want.bytes(), "{ds:?} {exec:#x}");
                }
            }
        }
    }
}

/// An atomic in both sizes, and what it makes of memory, its data and its size in bits.
type BothSizes = (Flat, Flat, fn(u64, u64, u32) -> u64);

/// Kinds that lanes do together where they meet.
const TOGETHER: [BothSizes; 8] = {
    const fn signed(x: u64, bits: u32) -> i64 {
        (x << (64 - bits)) as i64 >> (64 - bits)
    }
    [
        (Flat::flat_atomic_add, Flat::flat_atomic_add_x2, |m, a, _| m.wrapping_add(a)),
        (Flat::flat_atomic_sub, Flat::flat_atomic_sub_x2, |m, a, _| m.wrapping_sub(a)),
        (Flat::flat_atomic_and, Flat::flat_atomic_and_x2, |m, a, _| m & a),
        (Flat::flat_atomic_or, Flat::flat_atomic_or_x2, |m, a, _| m | a),
        (Flat::flat_atomic_umin, Flat::flat_atomic_umin_x2, |m, a, _| m.min(a)),
        (Flat::flat_atomic_umax, Flat::flat_atomic_umax_x2, |m, a, _| m.max(a)),
        (Flat::flat_atomic_smin, Flat::flat_atomic_smin_x2, |m, a, n| if signed(m, n) < signed(a, n) { m } else { a }),
        (Flat::flat_atomic_smax, Flat::flat_atomic_smax_x2, |m, a, n| if signed(m, n) > signed(a, n) { m } else { a }),
    ]
};

#[test]
fn atomics_that_meet() {
    let places: [fn(u32) -> u32; 4] = [|i| hash(i) % 5 * 8, |_| 1024, |i| 8 * i, |i| if i < 20 { 8 * i } else { 64 }];
    let world = World::new();
    let initial = world.bytes();
    for ((op, wide, f), bits) in TOGETHER.into_iter().flat_map(|kind| [(kind, 32), (kind, 64)]) {
        let registers = bits as usize / 32;
        for (place, exec) in places.into_iter().flat_map(|place| EXECS.map(|exec| (place, exec))) {
            // The result in registers of its own, of the data, and of the address.
            for dst in [None, Some(20), Some(10), Some(2)] {
                world.set_bytes(&initial);
                let mut got = wave(exec);
                set_addresses(&mut got, 2, |i| world.data + u64::from(place(i as u32)));
                let mut want = got.clone();
                for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                    let value = |first: usize| {
                        (0..registers).rev().fold(0, |value, k| value << 32 | u64::from(got.vgpr[first + k][i]))
                    };
                    let (at, a) = (world.data + u64::from(place(i as u32)), value(10));
                    let mut bytes = [0; 8];
                    world.view.read(at, &mut bytes[..4 * registers]).unwrap();
                    let old = u64::from_le_bytes(bytes);
                    world.view.store(at, &f(old, a, bits).to_le_bytes()[..4 * registers]).unwrap();
                    for k in 0..registers {
                        if let Some(dst) = dst {
                            want.vgpr[dst + k][i] = (old >> (32 * k)) as u32;
                        }
                    }
                }
                let expected = world.bytes();
                world.set_bytes(&initial);
                let to = dst.map_or(N, |dst| v(dst as u8));
                let mem = Mem { glc: dst.is_some(), ..Mem::default() };
                let atomic = inst(Op::Flat(if bits == 64 { wide } else { op }), to, [v(2), v(10), N], mem);
                let access = Access::new(&atomic, 0, Target::Gfx900).unwrap();
                access.run(&mut got, &world.env(Target::Gfx900), &mut Site::default()).unwrap();
                assert!(got.vgpr == want.vgpr && world.bytes() == expected, "{op:?} {bits} {exec:#x} {dst:?}");
            }
        }
    }
}

#[test]
fn wide_atomics() {
    let world = World::new();
    let mut wave = wave(0b111);
    set_addresses(&mut wave, 2, |_| world.data);
    let old = u64::from_le_bytes(world.view.load(world.data).unwrap());
    let data = |wave: &Wave, i: usize| u64::from(wave.vgpr[10][i]) | u64::from(wave.vgpr[11][i]) << 32;
    let sum = (0..3).fold(old, |sum, i| sum.wrapping_add(data(&wave, i)));
    for (glc, dst) in [(false, N), (true, v(20))] {
        let add = inst(Op::Flat(Flat::flat_atomic_add_x2), dst, [v(2), v(10), N], Mem { glc, ..Mem::default() });
        world.view.store(world.data, &old.to_le_bytes()).unwrap();
        let access = Access::new(&add, 0, Target::Gfx700).unwrap();
        access.run(&mut wave, &world.env(Target::Gfx700), &mut Site::default()).unwrap();
        assert_eq!(u64::from_le_bytes(world.view.load(world.data).unwrap()), sum);
    }
    assert_eq!(wave.vgpr[20][0], old as u32);
    assert_eq!(wave.vgpr[21][1], (old.wrapping_add(data(&wave, 0)) >> 32) as u32);
}

#[test]
fn faults_change_nothing() {
    let world = World::new();
    let bad = |op: Flat, dst: Operand, lane: usize, address: u64| {
        let mut wave = wave(!0);
        set_addresses(&mut wave, 2, |i| world.data + 4 * i as u64);
        wave.vgpr[2][lane] = address as u32;
        wave.vgpr[3][lane] = (address >> 32) as u32;
        let access =
            Access::new(&inst(Op::Flat(op), dst, [v(2), v(10), N], Mem::default()), 0, Target::Gfx700).unwrap();
        let (before, memory) = (wave.clone(), world.bytes());
        let bad = access.run(&mut wave, &world.env(Target::Gfx700), &mut Site::default()).unwrap_err();
        assert!(wave.vgpr == before.vgpr && memory == world.bytes());
        assert_eq!((bad.address, bad.lane), (address, lane as u32));
        bad.cause
    };
    let (load, store) = (Flat::flat_load_dword, Flat::flat_store_dword);
    assert_eq!(bad(load, v(10), 5, 0), Cause::Null);
    assert_eq!(bad(load, v(10), 63, world.data - 1), Cause::Unmapped);
    assert_eq!(bad(load, v(10), 0, world.data + SIZE - 3), Cause::Unmapped);
    assert_eq!(bad(store, N, 7, world.rom), Cause::ReadOnly);
    assert_eq!(bad(Flat::flat_load_dwordx4, v(10), 9, world.data + SIZE - 12), Cause::Unmapped);
    assert_eq!(bad(Flat::flat_atomic_add, N, 9, world.data + 2), Cause::Misaligned);
}

#[test]
fn lanes_in_different_places() {
    let world = World::new();
    let mut wave = wave(!0);
    wave.sgpr[103] = 1;
    set_addresses(&mut wave, 2, |i| match i & 3 {
        0 => world.data + 8 * i as u64,
        1 => LDS_APERTURE + 8 * i as u64,
        2 => PRIVATE_APERTURE + 8 * (i as u64 / 4),
        _ => world.rom,
    });
    let mut want = wave.clone();
    let word = |at: u64| u32::from_le_bytes(world.view.load(at).unwrap());
    for i in 0..64u64 {
        for k in 0..2 {
            want.vgpr[10 + k as usize][i as usize] = match i & 3 {
                0 => word(world.data + 8 * i + 4 * k),
                1 => u32::from_le_bytes(world.lds.load((8 * i + 4 * k) as u32)),
                2 => word(world.data + 256 + (2 * (i / 4) + k) * 256 + 4 * i),
                _ => word(world.rom + 4 * k),
            };
        }
    }
    let load = inst(Op::Flat(Flat::flat_load_dwordx2), v(10), [v(2), N, N], Mem::default());
    check(&world, &Access::new(&load, 0, Target::Gfx803).unwrap(), wave, &want, Target::Gfx803);
}

fn resource(wave: &mut Wave, base: u64, stride: u32, records: u32, w3: u32, swizzle: bool) {
    let w1 = (base >> 32) as u32 | stride << 16 | u32::from(swizzle) << 31;
    wave.sgpr[4..8].copy_from_slice(&[base as u32, w1, records, w3]);
}

fn buffer_load(op: Mubuf, mem: Mem, soffset: Operand, target: Target) -> Access {
    Access::new(&inst(Op::Mubuf(op), v(10), [v(2), s(4), soffset], mem), 0, target).unwrap()
}

#[test]
fn buffers() {
    let world = World::new();
    let word = |at: u64| u32::from_le_bytes(world.view.load(world.data + at).unwrap());
    for exec in EXECS {
        for row in layouts(4) {
            // Raw: 1000 bytes, an instruction and a scalar offset; what is beyond reads zero.
            let mut before = wave(exec);
            resource(&mut before, world.data, 0, 1000, 0, false);
            before.sgpr[8] = 16;
            before.vgpr[2] = row;
            let mut want = before.clone();
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                for k in 0..2 {
                    let at = u64::from(row[i]) + 24 + 4 * k as u64;
                    want.vgpr[10 + k][i] = if at + 4 <= 1000 { word(at) } else { 0 };
                }
            }
            let mem = Mem { offen: true, offset: 8, ..Mem::default() };
            let access = buffer_load(Mubuf::buffer_load_dwordx2, mem, s(8), Target::Gfx803);
            check(&world, &access, before.clone(), &want, Target::Gfx803);

            // Records of 12 bytes by index.
            resource(&mut before, world.data, 12, 300, 0, false);
            let mut want = before.clone();
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                let inside = row[i] < 300;
                want.vgpr[10][i] = if inside { word(u64::from(row[i]) * 12 + 8) } else { 0 };
            }
            let mem = Mem { idxen: true, offset: 8, ..Mem::default() };
            let access = buffer_load(Mubuf::buffer_load_dword, mem, Operand::Inline(128), Target::Gfx700);
            check(&world, &access, before.clone(), &want, Target::Gfx700);

            // 64-bit addresses, no range.
            set_addresses(&mut before, 2, |i| u64::from(row[i]));
            resource(&mut before, world.data, 0, 0, 0, false);
            let mut want = before.clone();
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                want.vgpr[10][i] = word(u64::from(row[i]) + 4);
            }
            let mem = Mem { addr64: true, offset: 4, ..Mem::default() };
            let access = buffer_load(Mubuf::buffer_load_dword, mem, Operand::Inline(128), Target::Gfx600);
            check(&world, &access, before, &want, Target::Gfx600);
        }
    }
}

#[test]
fn scratch() {
    const SWIZZLED: u32 = 1 << 23 | 3 << 21 | 1 << 19;
    let world = World::new();
    for exec in EXECS {
        for row in [[12; 64], [8; 64], std::array::from_fn(|i| hash(i as u32) % 50 * 4)] {
            for (op, bytes) in
                [(Mubuf::buffer_load_dword, 4), (Mubuf::buffer_load_dwordx2, 8), (Mubuf::buffer_load_ubyte, 1)]
            {
                for offen in [true, false] {
                    let mut before = wave(exec);
                    resource(&mut before, world.data, 0, SIZE as u32, SWIZZLED, true);
                    before.vgpr[2] = row;
                    before.sgpr[8] = 512;
                    let mut want = before.clone();
                    for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                        for k in 0..usize::div_ceil(bytes, 4) {
                            let offset = if offen { u64::from(row[i]) } else { 0 } + 4 + 4 * k as u64;
                            let at = world.data + 512 + offset / 4 * 256 + 4 * i as u64 + offset % 4;
                            let x = u32::from_le_bytes(world.view.load(at).unwrap());
                            want.vgpr[10 + k][i] = if bytes == 1 { x & 0xff } else { x };
                        }
                    }
                    let access = buffer_load(op, Mem { offen, offset: 4, ..Mem::default() }, s(8), Target::Gfx803);
                    check(&world, &access, before, &want, Target::Gfx803);
                }
            }
            // The scratch segment of gfx9.
            let mut before = wave(exec);
            before.vgpr[2] = row;
            before.set_sgpr64(102, world.data + 1024);
            let mut want = before.clone();
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                let at = world.data + 1024 + u64::from(row[i] / 4 + 1) * 256 + 4 * i as u64;
                want.vgpr[10][i] = u32::from_le_bytes(world.view.load(at).unwrap());
            }
            let mem = Mem { seg: 1, offset: 4, ..Mem::default() };
            let load = inst(Op::Flat(Flat::flat_load_dword), v(10), [v(2), N, N], mem);
            check(&world, &Access::new(&load, 0, Target::Gfx900).unwrap(), before, &want, Target::Gfx900);
        }
    }
}

#[test]
fn pairs_and_range_in_lds() {
    for exec in EXECS {
        for row in layouts(4).into_iter().chain([std::array::from_fn(|i| 4000 + 4 * i as u32), [u32::MAX - 60; 64]]) {
            let (got, want) = (World::new(), World::new());
            let mem = Mem { offset: 3, offset1: 40, ..Mem::default() };
            let mut before = wave(exec);
            before.vgpr[2] = row;
            let mut model = before.clone();
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                let at = |offset: u32| row[i].wrapping_add(offset);
                model.vgpr[2][i] = u32::from_le_bytes(want.lds.load(at(12)));
                model.vgpr[3][i] = u32::from_le_bytes(want.lds.load(at(160)));
            }
            let read = inst(Op::Ds(Ds::ds_read2_b32), v(2), [v(2), N, N], mem);
            check(&got, &Access::new(&read, 0, Target::Gfx700).unwrap(), before.clone(), &model, Target::Gfx700);
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                want.lds.store(row[i].wrapping_add(3 * 512), before.vgpr[10][i].to_le_bytes());
                want.lds.store(row[i].wrapping_add(3 * 512 + 4), before.vgpr[11][i].to_le_bytes());
            }
            for i in (0..64).filter(|i| exec >> i & 1 != 0) {
                want.lds.store(row[i].wrapping_add(40 * 512), before.vgpr[12][i].to_le_bytes());
                want.lds.store(row[i].wrapping_add(40 * 512 + 4), before.vgpr[13][i].to_le_bytes());
            }
            let write = inst(Op::Ds(Ds::ds_write2st64_b64), N, [v(2), v(10), v(12)], mem);
            let access = Access::new(&write, 0, Target::Gfx700).unwrap();
            access.run(&mut before, &got.env(Target::Gfx700), &mut Site::default()).unwrap();
            assert!(got.bytes() == want.bytes());
        }
    }
}

#[test]
fn lane_movement() {
    let world = World::new();
    let run = |op: Ds, offset: i32, exec: u64, src: [Operand; 3]| {
        let mut wave = wave(exec);
        wave.vgpr[2] = std::array::from_fn(|i| 4 * (i as u32 * 3));
        let before = wave.clone();
        let access =
            Access::new(&inst(Op::Ds(op), v(10), src, Mem { offset, ..Mem::default() }), 0, Target::Gfx900).unwrap();
        access.run(&mut wave, &world.env(Target::Gfx900), &mut Site::default()).unwrap();
        (before, wave.vgpr[10])
    };
    let (before, got) = run(Ds::ds_bpermute_b32, 4, !2, [v(2), v(3), N]);
    for (i, got) in got.into_iter().enumerate() {
        let from = (i * 3 + 1) & 63;
        let want = if i == 1 {
            before.vgpr[10][1]
        } else if from == 1 {
            0
        } else {
            before.vgpr[3][from]
        };
        assert_eq!(got, want);
    }
    let (before, got) = run(Ds::ds_permute_b32, 0, !0, [v(2), v(3), N]);
    (0..64).for_each(|i| assert_eq!(got[(i * 3) & 63], before.vgpr[3][i]));
    // Swap neighbours; reverse quads; rotate by one within 32; broadcast of lane 0 of 32; reverse 32.
    let (before, got) = run(Ds::ds_swizzle_b32, 0x041f, !0, [v(3), N, N]);
    (0..64).for_each(|i| assert_eq!(got[i], before.vgpr[3][i ^ 1]));
    let (before, got) = run(Ds::ds_swizzle_b32, 0x801b, !0, [v(3), N, N]);
    (0..64).for_each(|i| assert_eq!(got[i], before.vgpr[3][i ^ 3]));
    let (before, got) = run(Ds::ds_swizzle_b32, 0xc020, !0, [v(3), N, N]);
    (0..64).for_each(|i| assert_eq!(got[i], before.vgpr[3][i & 32 | (i + 1) & 31]));
    let (before, got) = run(Ds::ds_swizzle_b32, 0xe000, !0, [v(3), N, N]);
    (0..64).for_each(|i| assert_eq!(got[i], before.vgpr[3][i & 32 | ((i as u8) << 3).reverse_bits() as usize]));
}

#[test]
fn shares_and_counters() {
    let world = World::new();
    let env = world.env(Target::Gfx900);
    let mut wave = wave(0xf0f);
    wave.sgpr[reg::M0] = 0x100_0040;
    let mut run = |op: Ds, dst: Operand, src: [Operand; 3], gds: bool| {
        let access =
            Access::new(&inst(Op::Ds(op), dst, src, Mem { gds, offset: 4, ..Mem::default() }), 0, Target::Gfx900);
        access.unwrap().run(&mut wave, &env, &mut Site::default()).unwrap();
        wave.vgpr[10]
    };
    let before = u32::from_le_bytes(world.lds.load(0x44));
    assert_eq!(run(Ds::ds_append, v(10), [N, N, N], false)[11], before);
    assert_eq!(run(Ds::ds_consume, v(10), [N, N, N], false)[0], before + 8);
    run(Ds::ds_append, v(10), [N, N, N], true);
    assert_eq!(world.gds.load::<4>(0x104), 8u32.to_le_bytes());
    assert_eq!(run(Ds::ds_read_addtid_b32, v(10), [N, N, N], false)[3].to_le_bytes(), world.lds.load(0x44 + 12));
}

#[test]
fn scalars() {
    let world = World::new();
    let mut wave = wave(0);
    wave.set_sgpr64(4, world.data + 2);
    wave.sgpr[8] = 18;
    let mut want = wave.clone();
    for k in 0..8 {
        want.sgpr[20 + k] = u32::from_le_bytes(world.view.load(world.data + 60 + 4 * k as u64).unwrap());
    }
    let mem = Mem { imm: true, offset: 40, ..Mem::default() };
    let load = inst(Op::Smem(Smem::s_load_dwordx8), s(20), [s(4), s(8), N], mem);
    let access = Access::new(&load, 0, Target::Gfx900).unwrap();
    assert_eq!((access.writes_sgprs(), access.writes_vgprs()), (20..28, 0..0));
    check(&world, &access, wave.clone(), &want, Target::Gfx900);

    resource(&mut wave, world.data, 4, 3, 0, false);
    let mut want = wave.clone();
    want.sgpr[20..24].fill(0);
    want.sgpr[20] = u32::from_le_bytes(world.view.load(world.data + 8).unwrap());
    let mem = Mem { imm: true, offset: 8, ..Mem::default() };
    let load = inst(Op::Smem(Smem::s_buffer_load_dwordx4), s(20), [s(4), N, N], mem);
    check(&world, &Access::new(&load, 0, Target::Gfx700).unwrap(), wave.clone(), &want, Target::Gfx700);

    wave.set_sgpr64(4, world.data + SIZE);
    let load = inst(Op::Smem(Smem::s_load_dword), s(20), [s(4), N, N], Mem::default());
    let access = Access::new(&load, 0, Target::Gfx600).unwrap();
    let bad = access.run(&mut wave, &world.env(Target::Gfx600), &mut Site::default()).unwrap_err();
    assert_eq!(bad, Bad { cause: Cause::Unmapped, address: world.data + SIZE, lane: 0 });
}

#[test]
fn uncovered_forms_are_said() {
    let new = |op: Op, mem: Mem| Access::new(&inst(op, v(10), [v(2), s(4), N], mem), 64, Target::Gfx900);
    let lds = new(Op::Mubuf(Mubuf::buffer_load_dwordx2), Mem { lds: true, ..Mem::default() });
    assert!(matches!(*lds.unwrap_err(), Trap::Unimplemented { pc: 64, .. }));
    assert!(new(Op::Ds(Ds::ds_gws_barrier), Mem::default()).is_err());
    let wide = inst(Op::Flat(Flat::flat_load_dwordx4), v(253), [v(2), N, N], Mem::default());
    assert!(Access::new(&wide, 0, Target::Gfx900).is_err());
}
