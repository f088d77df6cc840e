//! Guest memory: allocation, views, checks, atomics, imports; LDS.

use gcnjit_rt::gds::Gds;
use gcnjit_rt::import::{HostVec, map_file};
use gcnjit_rt::lds::{CAPACITY, Lds, SLACK};
use gcnjit_rt::memory::{Allocation, LDS_APERTURE, Piece};
use gcnjit_rt::{Cause, Cursor, Memory, MemoryError};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;

#[test]
fn allocations_are_zeroed_aligned_and_checked_to_the_byte() {
    let memory = Memory::new().unwrap();
    let a = memory.alloc(1001).unwrap();
    let b = memory.alloc(1).unwrap();
    assert_eq!((a % 256, b % 256), (0, 0));
    assert_eq!((memory.size(a), memory.size(a + 1)), (Some(1001), None));
    let view = memory.view();
    assert_eq!(view.load(a + 993), Ok([0; 8]));
    assert_eq!(view.load::<8>(a + 994), Err(Cause::Unmapped));
    assert_eq!(view.load::<1>(a + 1001), Err(Cause::Unmapped));
    assert_eq!(view.load::<4>(a - 1), Err(Cause::Unmapped));
    assert_eq!(view.load::<4>(4095), Err(Cause::Null));
    assert_eq!(view.load::<4>(u64::MAX - 1), Err(Cause::Unmapped));
    assert_eq!(view.load::<4>(LDS_APERTURE), Err(Cause::Unmapped));
    assert_eq!(view.check(a, u64::MAX, false), Err(Cause::Unmapped));
    assert!(view.find(b).is_some_and(|range| range.start == b && range.end == b + 1 && range.writable));
}

#[test]
fn any_alignment_and_length_copies() {
    let memory = Memory::new().unwrap();
    let a = memory.alloc(64).unwrap();
    let view = memory.view();
    for offset in 0..16 {
        for len in 0..33 {
            let data: Vec<u8> = (0..len).map(|i| (offset * 33 + i) as u8 ^ 0xa5).collect();
            view.store(a + offset, &data).unwrap();
            let mut back = vec![0; data.len()];
            view.read(a + offset, &mut back).unwrap();
            assert_eq!(data, back);
        }
    }
}

#[test]
fn a_view_keeps_freed_memory_and_later_views_do_not_see_it() {
    let memory = Memory::new().unwrap();
    let a = memory.alloc(4096).unwrap();
    memory.write(a, b"still here").unwrap();
    let view = memory.view();
    memory.free(a).unwrap();
    assert_eq!(view.load(a), Ok(*b"still here"));
    assert!(matches!(memory.read(a, &mut [0]), Err(MemoryError::Access { cause: Cause::Unmapped, .. })));
    assert!(matches!(memory.free(a), Err(MemoryError::NotAllocated(_))));
    let b = memory.alloc(4096).unwrap();
    assert_ne!(a, b, "the addresses are in use until the view is gone");
    drop(view);
    let c = memory.alloc(4096).unwrap();
    assert_eq!(a, c);
    assert_eq!(memory.view().load(c), Ok([0; 10]));
}

#[test]
fn allocations_up_to_4_gib_do_not_cross_a_window() {
    let memory = Memory::new().unwrap();
    let mut kept = Vec::new();
    for len in [1 << 20, 3 << 30, 1 << 32, 2 << 30, 3 << 30, (1 << 32) - 4096, 100] {
        match Allocation::new(&memory, len) {
            Ok(a) => {
                assert_eq!(a.address() >> 32, (a.address() + len - 1) >> 32, "{len:#x} at {:#x}", a.address());
                kept.push(a);
            }
            // A host that limits its address space.
            Err(MemoryError::Full(_) | MemoryError::Host(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(!kept.is_empty());
    assert!(matches!(memory.alloc(u64::MAX), Err(MemoryError::Full(u64::MAX))));
    assert!(matches!(memory.alloc(1 << 60), Err(MemoryError::Full(_))));
}

#[test]
fn pieces_have_their_own_rights() {
    let memory = Memory::new().unwrap();
    let pieces = [Piece::constant(0, 16), Piece::data(64, 16)];
    let a = memory.alloc_pieces(128, &pieces).unwrap();
    let view = memory.view();
    assert_eq!(view.store(a, &[1]), Err(Cause::ReadOnly));
    assert_eq!(view.atomic_u32(a, |x| x), Err(Cause::ReadOnly));
    assert_eq!(view.store(a + 64, &[1; 16]), Ok(()));
    assert_eq!(view.load::<1>(a + 16), Err(Cause::Unmapped));
    assert_eq!(view.load::<1>(a + 80), Err(Cause::Unmapped));
    assert_eq!(memory.size(a), Some(128));
    memory.free(a).unwrap();
    assert!(memory.view().ranges().is_empty());
}

#[test]
fn a_cursor_says_what_its_view_says() {
    let memory = Memory::new().unwrap();
    let pieces = [Piece::constant(0, 16), Piece::data(64, 16)];
    let a = memory.alloc_pieces(128, &pieces).unwrap();
    let b = memory.alloc(8).unwrap();
    let view = memory.view();
    let cursor = Cursor::new(&view);
    // From each place to each other, within and across the ends of ranges.
    let places = [a - 1, a, a + 13, a + 16, a + 64, a + 79, b, b + 5, b + 8, 0, u64::MAX - 2];
    for (from, to) in places.iter().flat_map(|from| places.map(|to| (*from, to))) {
        for write in [false, true] {
            let _ = cursor.check(from, 1, false);
            assert_eq!(cursor.check(to, 4, write), view.check(to, 4, write), "{from:#x}, then {to:#x}");
        }
    }
    assert_eq!(cursor.store(a + 64, &[7, 8]), Ok(()));
    let mut bytes = [0; 3];
    assert_eq!(cursor.read(a + 64, &mut bytes), Ok(()));
    assert_eq!(bytes, [7, 8, 0]);
}

#[test]
fn atomics_are_atomic_and_aligned() {
    let memory = Memory::new().unwrap();
    let a = memory.alloc(16).unwrap();
    let view = memory.view();
    assert_eq!(view.atomic_u32(a + 2, |x| x), Err(Cause::Misaligned));
    assert_eq!(view.atomic_u64(a + 4, |x| x), Err(Cause::Misaligned));
    assert_eq!(view.atomic_u64(a + 16, |x| x), Err(Cause::Unmapped));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    view.atomic_u32(a, |x| x + 1).unwrap();
                    view.atomic_u64(a + 8, |x| x + (1 << 33)).unwrap();
                }
            });
        }
    });
    assert_eq!(view.load(a).map(u32::from_le_bytes), Ok(40_000));
    assert_eq!(view.load(a + 8).map(u64::from_le_bytes), Ok(40_000 << 33));
}

#[test]
fn imports_are_host_memory() {
    let memory = Memory::new().unwrap();
    let mut host = vec![7u8; 256];
    let (pointer, len) = (host.as_mut_ptr(), host.len() as u64);
    // SAFETY: `host` lives, unreferenced, until the import is freed and no view is left.
    let a = unsafe { memory.import(pointer, len, false) }.unwrap();
    assert_eq!(memory.view().load(a + 255), Ok([7]));
    assert_eq!(memory.view().store(a, &[1]), Err(Cause::ReadOnly));
    // SAFETY: as above; this one is refused.
    let again = unsafe { memory.import(pointer.wrapping_add(255), 1, true) };
    assert!(matches!(again, Err(MemoryError::Import { .. })));
    memory.free(a).unwrap();
    // SAFETY: as above.
    let a = unsafe { memory.import(pointer, len, true) }.unwrap();
    memory.write(a + 3, &[9]).unwrap();
    memory.free(a).unwrap();
    assert_eq!(host[2..5], [7, 9, 7]);
    for (bad, len) in [(std::ptr::null_mut(), 8), (pointer, 0), (pointer, u64::MAX)] {
        // SAFETY: all of these are refused.
        assert!(unsafe { memory.import(bad, len, false) }.is_err());
    }
    let inside = memory.arena().start as usize;
    // SAFETY: as above.
    assert!(unsafe { memory.import(inside as *mut u8, 8, false) }.is_err());
}

#[test]
fn allocations_are_limited_together() {
    let memory = Memory::new().unwrap();
    memory.set_limit(10 * 4096);
    let a = memory.alloc(4096 * 6 - 1).unwrap();
    assert_eq!((memory.used(), memory.limit()), (6 * 4096, 10 * 4096));
    let error = memory.alloc(4096 * 4 + 1).unwrap_err();
    assert!(matches!(error, MemoryError::Limit { asked: 20480, used: 24576, limit: 40960 }), "{error}");
    let view = memory.view();
    memory.free(a).unwrap();
    assert!(memory.alloc(4096 * 4 + 1).is_err(), "a view still has the first");
    drop(view);
    let b = memory.alloc(4096 * 10).unwrap();
    // What is imported is the host's.
    let (_, import) = HostVec::new(&memory, vec![0u8; 100_000]).unwrap();
    assert_eq!(memory.used(), 10 * 4096);
    drop(import);
    memory.free(b).unwrap();
    assert_eq!(memory.used(), 0);
}

#[test]
fn pages_that_are_used_again_are_zero_and_nobody_elses() {
    let memory = Memory::new().unwrap();
    // More than stay committed, and of sizes that do and don't.
    let alloc = |index: u64| memory.alloc(if index.is_multiple_of(3) { 5000 } else { 1 + index * 100 }).unwrap();
    for _ in 0..3 {
        let all: Vec<u64> = (0..40).map(alloc).collect();
        for address in &all {
            let len = memory.size(*address).unwrap() as usize;
            let mut left = vec![0xff; len];
            memory.read(*address, &mut left).unwrap();
            assert!(left.iter().all(|byte| *byte == 0));
            memory.write(*address, &vec![0xaa; len]).unwrap();
        }
        let held = memory.view();
        memory.free(all[1]).unwrap();
        let other = memory.alloc(100).unwrap();
        assert!(!all.contains(&other), "a view still has the freed one");
        let mut left = [0; 101];
        held.read(all[1], &mut left).unwrap();
        assert_eq!(left, [0xaa; 101]);
        drop(held);
        let freed: Vec<u64> = all.iter().copied().filter(|address| *address != all[1]).chain([other]).collect();
        freed.iter().for_each(|address| memory.free(*address).unwrap());
        assert_eq!(memory.used(), 0);
        assert!(all.iter().all(|address| memory.read(*address, &mut [0]).is_err()), "freed");
    }
}

#[test]
fn only_code_can_be_executed() {
    let memory = Memory::new().unwrap();
    let code = Piece { executable: true, ..Piece::constant(4096, 8) };
    let a = memory.alloc_pieces(8192, &[Piece::data(0, 4096), code]).unwrap();
    let view = memory.view();
    assert_eq!(view.code(a + 4095), None);
    assert_eq!(view.code(a + 4096).map(|range| range.end), Some(a + 4104));
    assert_eq!(view.code(a + 4104), None);
}

#[test]
fn a_vector_is_imported_and_given_back() {
    let memory = Memory::new().unwrap();
    let data: Vec<u32> = (0..1000).collect();
    let place = data.as_ptr();
    let (vec, import) = HostVec::new(&memory, data).unwrap();
    assert_eq!(import.address(), place as u64);
    memory.write(import.address() + 4, &7u32.to_le_bytes()).unwrap();
    assert!(memory.write(import.address() + 3998, &[0; 4]).is_err());
    drop(import);
    let data = vec.into_vec();
    assert_eq!((data.as_ptr(), data[0], data[1], data[999]), (place, 0, 7, 999));
    // As long as a view can reach it, there is only a copy to be had.
    let (vec, import) = HostVec::new(&memory, data).unwrap();
    let view = memory.view();
    drop(import);
    let copy = vec.into_vec();
    assert_ne!(copy.as_ptr(), place);
    assert_eq!((copy[1], view.load(place as u64 + 4)), (7, Ok(7u32.to_le_bytes())));
    assert!(matches!(HostVec::<u32>::new(&memory, Vec::new()), Err(MemoryError::Import { len: 0, .. })));
}

#[test]
fn a_file_is_mapped_for_reading_or_writing() {
    let path = std::env::temp_dir().join(format!("gcnjit-map-{}", std::process::id()));
    std::fs::write(&path, [5u8; 5000]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let memory = Memory::new().unwrap();
    let (map, len) = map_file(&memory, &file, false).unwrap();
    assert_eq!((len, memory.view().load(map.address() + 4999)), (5000, Ok([5])));
    assert!(memory.view().load::<1>(map.address() + 5000).is_err(), "the rest of the last page is not the file's");
    assert_eq!(memory.view().store(map.address(), &[1]), Err(Cause::ReadOnly));
    let (map, _) = map_file(&memory, &file, true).unwrap();
    memory.write(map.address() + 4998, &[8, 9]).unwrap();
    drop(map);
    assert_eq!(std::fs::read(&path).unwrap()[4997..], [5, 8, 9]);
    file.set_len(0).unwrap();
    assert!(matches!(map_file(&memory, &file, false), Err(MemoryError::Import { len: 0, .. })));
    std::fs::remove_file(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any order of allocations, frees and writes keeps every allocation's contents and the table's order.
    #[test]
    fn a_history_of_allocations(steps in prop::collection::vec((0u64..200_000, 0usize..8), 1..60)) {
        let memory = Memory::new().unwrap();
        let mut live: BTreeMap<u64, (u64, u8)> = BTreeMap::new();
        for (i, (len, action)) in steps.into_iter().enumerate() {
            if action < 3 && !live.is_empty() {
                let a = *live.keys().nth(len as usize % live.len()).unwrap();
                memory.free(a).unwrap();
                live.remove(&a);
            } else {
                let (len, mark) = (len.max(1), i as u8);
                let a = memory.alloc(len).unwrap();
                let mut bytes = vec![0xff; len as usize];
                memory.read(a, &mut bytes).unwrap();
                prop_assert!(bytes.iter().all(|byte| *byte == 0));
                memory.write(a, &vec![mark; len as usize]).unwrap();
                live.insert(a, (len, mark));
            }
            let ranges: Vec<_> = memory.view().ranges().iter().map(|range| (range.start, range.end)).collect();
            let expected: Vec<_> = live.iter().map(|(a, (len, _))| (*a, a + len)).collect();
            prop_assert_eq!(ranges, expected);
        }
        for (a, (len, mark)) in live {
            let mut bytes = vec![0; len as usize];
            memory.read(a, &mut bytes).unwrap();
            prop_assert!(bytes.iter().all(|byte| *byte == mark));
        }
    }

    /// LDS agrees with an array of bytes in which dwords outside are not there.
    #[test]
    fn lds_is_an_array(size in 0u32..200, steps in prop::collection::vec((0u32..220, any::<[u8; 16]>()), 0..50)) {
        let lds = Lds::new(size);
        let size = size.next_multiple_of(4) as usize;
        let mut model = vec![0u8; 400];
        for (address, data) in steps {
            lds.store(address, data);
            for (i, dword) in data.chunks(4).enumerate() {
                let at = address as usize + i * 4;
                if at + 4 <= size {
                    model[at..at + 4].copy_from_slice(dword);
                }
            }
            let mut expected = [0; 16];
            for i in 0..4 {
                let at = address as usize + i * 4;
                if at + 4 <= size {
                    expected[i * 4..i * 4 + 4].copy_from_slice(&model[at..at + 4]);
                }
            }
            prop_assert_eq!(lds.load::<16>(address), expected);
        }
    }
}

#[test]
fn lds_out_of_range_reads_zero_and_drops_writes() {
    let mut lds = Lds::new(CAPACITY as u32);
    let last = CAPACITY as u32 - 4;
    assert_eq!(lds.atomic_u32(last, |x| x + 5), 0);
    assert_eq!(lds.load(last), [5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(lds.atomic_u64(last, |x| x | 1 << 40 | 2), 5);
    assert_eq!(lds.load(last), [7, 0, 0, 0, 0, 0, 0, 0]);
    lds.store(u32::MAX, [1u8; 16]);
    assert_eq!(lds.load(u32::MAX), [0; 16]);
    lds.store(CAPACITY as u32 - 1, [3]);
    lds.store(CAPACITY as u32 - 1, [9, 9]);
    assert_eq!(lds.load(CAPACITY as u32 - 1), [3]);
    lds.reset(8);
    assert_eq!((lds.size(), lds.load(0), lds.load(last)), (8, [0; 8], [0; 8]));
    for i in 0..CAPACITY + SLACK {
        // SAFETY: the buffer has CAPACITY + SLACK bytes.
        assert_eq!(unsafe { lds.as_ptr().add(i).read() }, 0);
    }
}

#[test]
fn gds_is_shared() {
    let gds = Gds::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    gds.atomic_u32(64, |x| x + 1);
                }
            });
        }
    });
    assert_eq!(u32::from_le_bytes(gds.load(64)), 4000);
    gds.store(65532, [1; 8]);
    assert_eq!(gds.load(65532), [1, 1, 1, 1, 0, 0, 0, 0]);
}
