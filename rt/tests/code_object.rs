//! Real HSA code objects, and what is left of them when they are damaged.

mod support;

use gcnjit_isa::Target;
use gcnjit_rt::code_object::{Abi, ArgKind, Hidden, UserSgpr};
use gcnjit_rt::{Cause, Image, LoadError, Loaded, Memory};
use proptest::prelude::*;
use support::{all_kernel_files, kernel_file};

#[test]
fn saxpy_is_what_its_source_says() {
    for (target, abi, path) in [
        (Target::Gfx600, Abi::HsaV5, "saxpy/saxpy.gfx600.co"),
        (Target::Gfx700, Abi::HsaV5, "saxpy/saxpy.gfx700.co"),
        (Target::Gfx803, Abi::HsaV5, "saxpy/saxpy.gfx803.co"),
        (Target::Gfx900, Abi::HsaV5, "saxpy/saxpy.gfx900.co"),
        (Target::Gfx900, Abi::HsaV3, "saxpy/saxpy.gfx900.v4.co"),
        (Target::Gfx900, Abi::HsaV3, "saxpy/saxpy.gfx900.v3.co"),
        (Target::Gfx900, Abi::HsaV2, "saxpy/saxpy.gfx900.v2.co"),
        (Target::Gfx900, Abi::HsaV5, "containers/saxpy.gfx900.v6.co"),
        (Target::Gfx900, Abi::HsaV5, "containers/saxpy.gfx9-generic.v6.co"),
    ] {
        let image = Image::parse(kernel_file(path)).unwrap();
        assert_eq!(image.target, target, "{path}");
        let kernel = &image.kernels["saxpy"];
        assert_eq!(kernel.abi, abi, "{path}");
        assert!(kernel.user_sgprs.contains(&UserSgpr::KernargPtr));
        assert!(kernel.rsrc2.group_id(0) && kernel.rsrc1.ieee() && kernel.rsrc1.dx10_clamp());
        assert_eq!((kernel.lds_size, kernel.max_group, kernel.required_group), (0, Some(256), None));
        assert_eq!((kernel.sgprs.is_some(), kernel.vgprs.is_some()), (true, true));
        let args = kernel.args.as_ref().unwrap();
        let explicit: Vec<_> = args[..4].iter().map(|arg| (arg.kind, arg.offset, arg.size)).collect();
        let (buffer, value) = (ArgKind::Buffer, ArgKind::Value);
        assert_eq!(explicit, [(buffer, 0, 8), (buffer, 8, 8), (value, 16, 4), (value, 20, 4)]);
        assert_eq!(args[0].type_name.as_deref(), Some("float*"));
        let first_hidden = if abi == Abi::HsaV5 { Hidden::BlockCount(0) } else { Hidden::GlobalOffset(0) };
        assert_eq!((args[4].kind, args[4].offset), (ArgKind::Hidden(first_hidden), 24));
    }
}

#[test]
fn every_kernel_loads_with_its_code_read_only() {
    let memory = Memory::new().unwrap();
    let files = all_kernel_files();
    assert!(files.len() > 50);
    for (path, file) in files {
        let image = Image::parse(file).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(!image.kernels.is_empty(), "{path}");
        let names: Vec<String> = image.kernels.keys().cloned().collect();
        let loaded = Loaded::new(image, &memory).unwrap();
        for name in names {
            let kernel = loaded.kernel(&name).unwrap();
            let (start, text) = kernel.text();
            assert!((start..start + text.len() as u64).contains(&kernel.entry()));
            let view = memory.view();
            let mut copy = vec![0; text.len()];
            view.read(start, &mut copy).unwrap();
            assert_eq!(copy, text);
            assert_eq!(view.store(kernel.entry(), &[0]), Err(Cause::ReadOnly));
            let lds_size = kernel.descriptor() + if kernel.code().abi == Abi::HsaV2 { 64 } else { 0 };
            assert_eq!(view.load(lds_size).map(u32::from_le_bytes), Ok(kernel.code().lds_size));
        }
    }
    assert!(memory.view().ranges().is_empty(), "images are freed");
}

#[test]
fn errors_name_what_is_wrong() {
    let file = || kernel_file("saxpy/saxpy.gfx900.co");
    let with = |at: usize, byte: u8| {
        let mut file = file();
        file[at] = byte;
        Image::parse(file).unwrap_err()
    };
    assert!(matches!(Image::parse(b"#!/bin/sh".to_vec()), Err(LoadError::NotElf)));
    assert!(matches!(Image::parse(Vec::new()), Err(LoadError::NotElf)));
    assert!(matches!(with(4, 1), LoadError::Header { field: "EI_CLASS", value: 1, .. }));
    assert!(matches!(with(5, 2), LoadError::Header { field: "EI_DATA", value: 2, .. }));
    assert!(matches!(with(7, 0), LoadError::Header { field: "EI_OSABI", value: 0, .. }));
    assert!(matches!(with(8, 9), LoadError::Header { field: "EI_ABIVERSION", value: 9, .. }));
    assert!(matches!(with(18, 62), LoadError::Header { field: "e_machine", value: 62, .. }));
    assert!(matches!(with(16, 1), LoadError::Header { field: "e_type", value: 1, .. }));
    assert!(matches!(with(48, 0x41), LoadError::Processor { mach: 0x41 }));
    let loaded = Loaded::new(Image::parse(file()).unwrap(), &Memory::new().unwrap()).unwrap();
    let error = loaded.kernel("nonesuch").unwrap_err();
    assert_eq!(error.to_string(), "no kernel 'nonesuch'; there is saxpy");
}

#[test]
fn version_2_may_tell_its_processor_in_a_note_only() {
    let mut file = kernel_file("saxpy/saxpy.gfx900.v2.co");
    file[48..52].fill(0);
    assert_eq!(Image::parse(file.clone()).unwrap().target, Target::Gfx900);
    let at = file.windows(8).position(|bytes| bytes == [4, 0, 7, 0, 9, 0, 0, 0]).unwrap() + 4;
    file[at] = 10;
    assert!(matches!(Image::parse(file), Err(LoadError::Processor { mach: 0 })));
}

/// Parses and, if that works, loads; what comes out does not matter as long as it comes out.
fn try_load(memory: &Memory, file: Vec<u8>) {
    if let Ok(image) = Image::parse(file)
        && image.size < 1 << 20
        && let Ok(loaded) = Loaded::new(image, memory)
    {
        for name in loaded.image().kernels.keys() {
            let _ = loaded.kernel(name).unwrap().text();
        }
    }
}

#[test]
fn truncated_at_every_length() {
    let memory = Memory::new().unwrap();
    let file = kernel_file("calls/calls.gfx803.co");
    for len in 0..file.len() {
        try_load(&memory, file[..len].to_vec());
    }
}

#[test]
fn every_byte_damaged() {
    let memory = Memory::new().unwrap();
    let file = kernel_file("saxpy/saxpy.gfx900.v4.co");
    for at in 0..file.len() {
        for byte in [0, 0xff, 0x80, file[at] ^ 1, file[at].wrapping_add(1)] {
            let mut file = file.clone();
            file[at] = byte;
            try_load(&memory, file);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_bytes_damaged(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let memory = Memory::with_arena(1 << 32).unwrap();
        let mut file = kernel_file("calls/calls.gfx600.co");
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        try_load(&memory, file);
    }
}

#[test]
fn relocations_hold_addresses_and_metadata_may_be_missing() {
    let memory = Memory::new().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/relocated.co");
    let image = Image::parse(std::fs::read(path).unwrap()).unwrap();
    let offsets: Vec<u64> = image.relocations.iter().map(|relocation| relocation.offset).collect();
    assert_eq!(offsets.len(), 3);
    let loaded = Loaded::new(image, &memory).unwrap();
    let kernel = loaded.kernel("k").unwrap();
    assert_eq!(kernel.code().args, None);
    let view = memory.view();
    // The table is `helper`, `k` + 4, and its own last qword's address.
    let table = loaded.base() + offsets.iter().min().unwrap();
    let qword = |i: u64| view.load(table + i * 8).map(u64::from_le_bytes);
    assert_eq!(qword(0), Ok(kernel.entry() + 4));
    assert_eq!(qword(1), Ok(kernel.entry() + 4));
    assert_eq!(qword(2), Ok(table + 16));
    assert_eq!(view.store(table, &[0; 8]), Ok(()), "data is writable");
}

#[test]
fn relocations_of_every_kind() {
    let memory = Memory::new().unwrap();
    let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/relocated.co")).unwrap();
    // A record is its place, its type below the symbol's number, and the addend; this one is `table`, of `helper`.
    let (place, record) = (0x34b8u64, [0x34b8u64.to_le_bytes(), [3, 0, 0, 0, 2, 0, 0, 0]].concat());
    let at = file.windows(16).position(|bytes| bytes == record).unwrap() + 8;
    let with = |kind: u8| {
        let mut file = file.clone();
        file[at] = kind;
        Image::parse(file)
    };
    let target = with(3).unwrap().relocations.iter().find(|r| r.offset == place).unwrap().addend;
    for kind in [0, 1, 2, 3, 4, 5, 10, 11, 13] {
        let loaded = Loaded::new(with(kind).unwrap(), &memory).unwrap();
        let base = loaded.base();
        let value = memory.view().load(base + place).map(u64::from_le_bytes).unwrap();
        let (address, distance) = (base + target, target.wrapping_sub(place));
        let want = match kind {
            0 => 0,
            1 => address & 0xffff_ffff,
            2 => address >> 32,
            3 => address,
            4 | 10 => distance & 0xffff_ffff,
            5 => distance,
            11 => distance >> 32,
            _ => value,
        };
        assert_eq!(value, want, "type {kind}");
    }
    for kind in [6, 7, 8, 9, 12, 14, 15] {
        let error = with(kind).unwrap_err();
        assert!(matches!(error, LoadError::Relocation { kind: k, .. } if k == u32::from(kind)), "{error}");
    }
}
