//! Memory families: addressing, widths, range checks, atomics, and faults that change nothing.

mod support;

use gcnjit_interp::mubuf::Resource;
use gcnjit_isa::{Ds, Ext, Flat, Gen, Inst, Mem, Mubuf, Op, Operand, Smem, Target};
use gcnjit_rt::memory::{LDS_APERTURE, PRIVATE_APERTURE};
use gcnjit_rt::{Cause, Trap};
use support::{World, inst, s, v};

const OFF: Operand = Operand::None;
const ZERO: Operand = Operand::Inline(128);

fn with(mem: Mem, inst: Inst) -> Inst {
    Inst { ext: Ext::Mem(mem), ..inst }
}

/// Puts a 64-bit address a lane into v[0:1].
fn address(w: &mut World, f: impl Fn(usize) -> u64) {
    w.set(0, |lane| f(lane) as u32);
    w.set(1, |lane| (f(lane) >> 32) as u32);
}

fn flat_load(op: Flat, offset: i32) -> Inst {
    with(Mem { offset, ..Mem::default() }, inst(Op::Flat(op), [v(4)], [v(0), OFF, OFF]))
}

#[test]
fn flat_loads_and_stores() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&(0..256).collect::<Vec<_>>());
    address(&mut w, |lane| base + 4 * lane as u64);
    w.run(&flat_load(Flat::flat_load_dword, 4));
    assert_eq!(w.wave.vgpr[4], std::array::from_fn(|lane| lane as u32 + 1));
    w.run(&flat_load(Flat::flat_load_dwordx3, 0));
    assert_eq!([4, 5, 6].map(|r| w.wave.vgpr[r][9]), [9, 10, 11]);
    w.set(2, |lane| 1000 + lane as u32);
    w.wave.set_exec(2);
    w.run(&inst(Op::Flat(Flat::flat_store_byte), [], [v(0), v(2), OFF]));
    assert_eq!(w.dwords(base, 3), [0, 1001 & 0xff, 2]);
}

#[test]
fn global_with_a_scalar_base() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&[10, 20, 30, 40]);
    w.wave.set_sgpr64(8, base + 16);
    w.set(0, |lane| 4 * (lane as u32 % 4));
    let load = inst(Op::Flat(Flat::flat_load_dword), [v(4)], [v(0), OFF, s(8)]);
    w.run(&with(Mem { seg: 2, offset: -16, ..Mem::default() }, load));
    assert_eq!(w.wave.vgpr[4][..4], [10, 20, 30, 40]);
}

#[test]
fn apertures() {
    let mut w = World::new(Target::Gfx900);
    w.lds.store(8, 77_u32.to_le_bytes());
    let scratch = w.memory_with(&(0..64 * 8).collect::<Vec<_>>());
    w.wave.set_sgpr64(102, scratch);
    let memory = w.memory_with(&[55]);
    address(&mut w, |lane| match lane % 3 {
        0 => LDS_APERTURE + 8,
        1 => PRIVATE_APERTURE + 4,
        _ => memory,
    });
    w.run(&flat_load(Flat::flat_load_dword, 0));
    // Dword 1 of lane 1's scratch is dword 64 + 1 of the wave's.
    assert_eq!(w.wave.vgpr[4][..4], [77, 65, 55, 77]);
    w.set(0, |_| PRIVATE_APERTURE as u32);
    w.set(1, |_| (PRIVATE_APERTURE >> 32) as u32);
    w.run(&flat_load(Flat::flat_load_dwordx2, 0));
    assert_eq!((w.wave.vgpr[4][3], w.wave.vgpr[5][3]), (3, 67));
}

#[test]
fn a_fault_names_the_lowest_lane_and_changes_nothing() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&[0; 64]);
    w.set(2, |_| 9);
    w.set(4, |_| 5);
    w.wave.pc = 0x1000;
    address(&mut w, |lane| if lane == 7 || lane == 20 { base + (1 << 33) + lane as u64 } else { base });
    let before = w.wave.vgpr;
    for inst in [
        flat_load(Flat::flat_load_dword, 0),
        inst(Op::Flat(Flat::flat_store_dword), [], [v(0), v(2), OFF]),
        inst(Op::Flat(Flat::flat_atomic_add), [v(4)], [v(0), v(2), OFF]),
    ] {
        let trap = *w.step(&inst).unwrap_err();
        let want = Trap::Fault { cause: Cause::Unmapped, address: base + (1 << 33) + 7, lane: 7, pc: 0x1000 };
        assert_eq!(trap, want);
        assert_eq!((w.wave.pc, w.wave.executed), (0x1000, 0));
        assert!(w.wave.vgpr == before && w.dwords(base, 64) == [0; 64]);
    }
    address(&mut w, |_| 16);
    let trap = *w.step(&flat_load(Flat::flat_load_dword, 0)).unwrap_err();
    assert!(matches!(trap, Trap::Fault { cause: Cause::Null, address: 16, lane: 0, .. }));
    address(&mut w, |_| base + 2);
    let trap = *w.step(&inst(Op::Flat(Flat::flat_atomic_add), [], [v(0), v(2), OFF])).unwrap_err();
    assert!(matches!(trap, Trap::Fault { cause: Cause::Misaligned, .. }));
}

#[test]
fn atomics_go_lane_by_lane() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&[100, 0]);
    address(&mut w, |_| base);
    w.set(2, |lane| lane as u32);
    w.wave.set_exec(0b1110);
    w.run(&inst(Op::Flat(Flat::flat_atomic_add), [v(4)], [v(0), v(2), OFF]));
    assert_eq!((w.dwords(base, 1)[0], &w.wave.vgpr[4][..5]), (106, &[0, 100, 101, 103, 0][..]));
    // v[2:3] = data, compare: only the lane that sees its compare value swaps.
    w.set(2, |lane| 10 * lane as u32);
    w.set(3, |lane| if lane == 2 { 106 } else { 20 });
    w.run(&inst(Op::Flat(Flat::flat_atomic_cmpswap), [v(4)], [v(0), v(2), OFF]));
    assert_eq!((w.dwords(base, 1)[0], &w.wave.vgpr[4][1..4]), (30, &[106, 106, 20][..]));
    w.run(&inst(Op::Flat(Flat::flat_atomic_smin), [], [v(0), Operand::Inline(194), OFF]));
    assert_eq!(w.dwords(base, 1)[0] as i32, -2);
}

/// A resource in s[8:11].
fn resource(w: &mut World, base: u64, stride: u32, records: u32, word3: u32) {
    w.wave.sgpr[8..12].copy_from_slice(&[base as u32, (base >> 32) as u32 | stride << 16, records, word3]);
}

fn buffer_load(op: Mubuf, mem: Mem) -> Inst {
    with(mem, inst(Op::Mubuf(op), [v(4)], [v(0), s(8), s(12)]))
}

#[test]
fn raw_buffers_are_bounded_in_bytes() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&(1..=64).collect::<Vec<_>>());
    resource(&mut w, base, 0, 64, 0);
    w.set(0, |lane| 4 * lane as u32);
    w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { offen: true, offset: 8, ..Mem::default() }));
    assert_eq!(w.wave.vgpr[4], std::array::from_fn(|lane| if lane < 14 { lane as u32 + 3 } else { 0 }));
    // Dword by dword.
    w.run(&buffer_load(Mubuf::buffer_load_dwordx2, Mem { offen: true, offset: 8, ..Mem::default() }));
    assert_eq!((w.wave.vgpr[4][13], w.wave.vgpr[5][13]), (16, 0));
    // The SGPR offset counts too.
    w.wave.sgpr[12] = 60;
    w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { offen: true, ..Mem::default() }));
    assert_eq!((w.wave.vgpr[4][0], w.wave.vgpr[4][1]), (16, 0));
    w.set(2, |_| 0);
    let store = inst(Op::Mubuf(Mubuf::buffer_store_dword), [], [v(0), s(8), s(12), v(2)]);
    w.run(&with(Mem { offen: true, ..Mem::default() }, store));
    assert_eq!(w.dwords(base + 56, 4), [15, 0, 17, 18]);
}

#[test]
fn structured_buffers_are_bounded_in_records() {
    let mut w = World::new(Target::Gfx700);
    let base = w.memory_with(&(0..64).collect::<Vec<_>>());
    resource(&mut w, base, 8, 4, 0);
    w.set(0, |lane| lane as u32);
    let load = |offset| buffer_load(Mubuf::buffer_load_dword, Mem { idxen: true, offset, ..Mem::default() });
    w.run(&load(4));
    assert_eq!(w.wave.vgpr[4][..6], [1, 3, 5, 7, 0, 0]);
    w.run(&load(8));
    assert_eq!(w.wave.vgpr[4][..2], [0, 0], "beyond the record");
    // Index in v0, offset in v1.
    w.set(1, |_| 4);
    w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { idxen: true, offen: true, ..Mem::default() }));
    assert_eq!(w.wave.vgpr[4][..4], [1, 3, 5, 7]);
}

#[test]
fn addr64_adds_to_the_base() {
    let mut w = World::new(Target::Gfx600);
    let base = w.memory_with(&[5, 6, 7, 8]);
    resource(&mut w, 8, 0, 0, 0x100_f000);
    address(&mut w, |lane| base - 8 + 4 * (lane as u64 % 2));
    w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { addr64: true, offset: 4, ..Mem::default() }));
    assert_eq!(w.wave.vgpr[4][..2], [6, 7]);
}

#[test]
fn swizzled_scratch() {
    // As compilers set scratch up: elements of 4 bytes, 64 interleaved lanes, the lane's number added.
    let word3 = 1 << 19 | 3 << 21 | 1 << 23;
    for (target, word3) in [(Target::Gfx700, word3), (Target::Gfx803, word3), (Target::Gfx900, word3 & !(1 << 19))] {
        let mut w = World::new(target);
        let base = w.memory_with(&(0..64 * 8).collect::<Vec<_>>());
        resource(&mut w, base, 0, u32::MAX, word3);
        w.wave.sgpr[9] |= 1 << 31;
        w.set(0, |_| 4);
        w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { offen: true, offset: 8, ..Mem::default() }));
        assert_eq!(w.wave.vgpr[4], std::array::from_fn(|lane| 3 * 64 + lane as u32), "{target}");
        w.run(&buffer_load(Mubuf::buffer_load_ubyte, Mem { offset: 4, ..Mem::default() }));
        assert_eq!(w.wave.vgpr[4][5], 64 + 5, "{target}");
    }
}

/// Places in swizzled buffers, worked out by hand from the SI manual's 8.1.5.2.
#[test]
fn swizzled_records() {
    // Stride, element size, index stride, index, offset, and the byte that they lead to.
    for (stride, element, index_stride, index, offset, want) in [
        // Index 10 is the third of the second eight, offset 8 begins the third element: (16 + 8) · 8 + 2 · 4.
        (16, 4, 8, 10, 8, 200),
        // (32 + 16) · 16 + 5 · 8 + 4
        (32, 8, 16, 21, 20, 812),
        // (64 + 32) · 32 + 1 · 16 + 8
        (64, 16, 32, 33, 40, 3096),
        // (8 + 6) · 64 + 1 · 2
        (8, 2, 64, 65, 6, 898),
        // The last byte pair of the first eight records, and the first of the next.
        (4, 4, 8, 7, 2, 30),
        (4, 4, 8, 8, 0, 32),
    ] {
        // The element size is 2, 4, 8 or 16 bytes, the index stride 8, 16, 32 or 64.
        let fields = (u32::ilog2(element) - 1) << 19 | (u32::ilog2(index_stride) - 3) << 21;
        let mut w = World::new(Target::Gfx700);
        // Halfword k holds k.
        let base = w.memory_with(&(0..1024).map(|k| (2 * k) | ((2 * k + 1) << 16)).collect::<Vec<_>>());
        resource(&mut w, base, stride, 256, fields);
        w.wave.sgpr[9] |= 1 << 31;
        w.set(0, |_| index);
        w.set(1, |_| u32::wrapping_sub(offset, 1));
        let mem = Mem { idxen: true, offen: true, offset: 1, ..Mem::default() };
        w.run(&buffer_load(Mubuf::buffer_load_ushort, mem));
        assert_eq!(2 * w.wave.vgpr[4][0], want, "index {index} offset {offset} of records of {stride} bytes");
        // The SGPR offset moves the base. The number of the lane is part of the index.
        w.wave.sgpr[11] |= 1 << 23;
        w.wave.sgpr[12] = 6;
        w.set(0, |lane| index.wrapping_sub(lane as u32));
        w.run(&buffer_load(Mubuf::buffer_load_ushort, mem));
        assert_eq!(w.wave.vgpr[4], [want / 2 + 3; 64]);
    }
    // gfx9 has elements of four bytes only, whatever is in the field: (16 + 8) · 8 + 2 · 4.
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&(0..64).collect::<Vec<_>>());
    resource(&mut w, base, 16, 64, 3 << 19);
    w.wave.sgpr[9] |= 1 << 31;
    w.set(0, |_| 10);
    w.run(&buffer_load(Mubuf::buffer_load_dword, Mem { idxen: true, offset: 8, ..Mem::default() }));
    assert_eq!(w.wave.vgpr[4][0], 200 / 4);
}

/// Whether an access is in range, by what NUM_RECORDS counts: dword 5 of the buffer, that is dword 1 of record 2 or
/// byte 20, by a V# of so many records.
#[test]
fn units_of_records() {
    let swizzled = 1 << 31;
    for (target, word1, idxen, least) in [
        // With an index, three records will do; without, no record is left out.
        (Target::Gfx700, 0, true, 3),
        (Target::Gfx700, swizzled, true, 3),
        (Target::Gfx700, 0, false, 1),
        (Target::Gfx803, 0, true, 24),
        (Target::Gfx803, swizzled, true, 3),
        (Target::Gfx803, 0, false, 24),
        (Target::Gfx900, 0, true, 3),
        (Target::Gfx900, swizzled, true, 3),
        (Target::Gfx900, 0, false, 24),
    ] {
        for (records, inside) in [(least - 1, false), (least, true)] {
            let mut w = World::new(target);
            let base = w.memory_with(&(100..228).collect::<Vec<_>>());
            resource(&mut w, base, 8, records, 1 << 19);
            w.wave.sgpr[9] |= word1;
            w.set(0, |_| if idxen { 2 } else { 16 });
            let mem = Mem { idxen, offen: !idxen, offset: 4, ..Mem::default() };
            w.run(&buffer_load(Mubuf::buffer_load_dword, mem));
            // Swizzled, element 1 of record 2 of eight.
            let at = if word1 == 0 { 105 } else { 100 + 8 + 2 };
            let want = if inside { at } else { 0 };
            assert_eq!(w.wave.vgpr[4][0], want, "{target}: {records} records, swizzled {word1:#x}, idxen {idxen}");
        }
    }
}

#[test]
fn resources() {
    let words = [0x9abc_def0, 0xffff_5678, 17, 0xffff_ffff];
    let old = Resource::new(words, Gen::Gfx7);
    assert_eq!((old.base, old.stride, old.records), (0x5678_9abc_def0, 0x3fff, 17));
    assert_eq!((old.swizzle, old.index_stride, old.add_tid), (Some(16), 64, true));
    assert_eq!(Resource::new(words, Gen::Gfx8).stride, 0x3_ffff);
    assert_eq!(Resource::new(words, Gen::Gfx9).swizzle, Some(4));
}

#[test]
fn local_data_share() {
    let mut w = World::new(Target::Gfx900);
    w.set(0, |lane| 8 * lane as u32);
    w.set(2, |lane| lane as u32);
    w.set(3, |lane| 1000 + lane as u32);
    w.run(&inst(Op::Ds(Ds::ds_write_b64), [], [v(0), v(2)]));
    w.run(&with(Mem { offset: 1, offset1: 2, ..Mem::default() }, inst(Op::Ds(Ds::ds_read2_b32), [v(4)], [v(0)])));
    assert_eq!((w.wave.vgpr[4][9], w.wave.vgpr[5][9]), (1009, 10));
    // The share has 1024 bytes: lane 63's second qword is beyond it.
    w.run(&with(Mem { offset: 0, offset1: 66, ..Mem::default() }, inst(Op::Ds(Ds::ds_read2_b64), [v(4)], [v(0)])));
    assert_eq!([4, 5, 6, 7].map(|r| w.wave.vgpr[r][63]), [63, 1063, 0, 0]);
    w.set(0, |_| 0);
    w.run(&inst(Op::Ds(Ds::ds_add_u32), [], [v(0), v(2)]));
    assert_eq!(w.lds.load(0), 2016_u32.to_le_bytes());
    w.set(0, |_| 4096);
    w.run(&inst(Op::Ds(Ds::ds_add_u32), [], [v(0), v(2)]));
}

#[test]
fn lanes_through_the_crossbar() {
    let mut w = World::new(Target::Gfx900);
    w.set(2, |lane| lane as u32);
    w.wave.set_exec(!2);
    let swizzle = |offset| with(Mem { offset, ..Mem::default() }, inst(Op::Ds(Ds::ds_swizzle_b32), [v(4)], [v(2)]));
    w.run(&swizzle(0x8000 | 0b00_01_10_11));
    assert_eq!(w.wave.vgpr[4][..8], [3, 0, 0, 0, 7, 6, 5, 4], "lane 1 is not active");
    w.run(&swizzle(1 << 10 | 0x1f));
    assert_eq!((w.wave.vgpr[4][32], w.wave.vgpr[4][33], w.wave.vgpr[4][63]), (33, 32, 62));
    w.run(&swizzle(3 << 5));
    assert_eq!((w.wave.vgpr[4][20], w.wave.vgpr[4][40]), (3, 35));
    w.set(0, |lane| 4 * (63 - lane as u32));
    w.run(&inst(Op::Ds(Ds::ds_bpermute_b32), [v(4)], [v(0), v(2)]));
    assert_eq!((w.wave.vgpr[4][0], w.wave.vgpr[4][62], w.wave.vgpr[4][63]), (63, 0, 0));
}

#[test]
fn scalar_loads() {
    let mut w = World::new(Target::Gfx900);
    let base = w.memory_with(&(100..132).collect::<Vec<_>>());
    w.wave.set_sgpr64(4, base);
    let load = |op, dst, src, offset| with(Mem { imm: true, offset, ..Mem::default() }, inst(Op::Smem(op), [dst], src));
    w.run(&load(Smem::s_load_dwordx4, s(4), [s(4), OFF], 8));
    assert_eq!(w.wave.sgpr[4..8], [102, 103, 104, 105]);
    w.wave.set_sgpr64(4, base);
    w.wave.sgpr[6] = 4;
    w.run(&load(Smem::s_load_dword, s(7), [s(4), s(6)], 0));
    assert_eq!(w.wave.sgpr[7], 101);
    let trap = *w.step(&load(Smem::s_load_dword, s(7), [s(4), OFF], 1 << 19)).unwrap_err();
    assert!(matches!(trap, Trap::Fault { cause: Cause::Unmapped, lane: 0, .. }));
    assert_eq!(w.wave.sgpr[7], 101);
    w.run(&load(Smem::s_load_dword, s(7), [s(4), ZERO], 4));
    assert_eq!(w.wave.sgpr[7], 101);
}
