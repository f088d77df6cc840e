//! Every container: compressed bundles of all versions, and what is left of files when they are damaged.

mod support;

#[path = "../../fuzz/bodies/load.rs"]
mod body;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gcnjit_isa::Target;
use gcnjit_rt::{Image, LoadError};
use std::io::Write;
use support::kernel_file;

/// A compressed bundle's header for `body`, which is `contents` bytes long when it is decompressed.
fn compressed(version: u16, method: u16, contents: u64, body: &[u8]) -> Vec<u8> {
    let mut file = b"CCOB".to_vec();
    file.extend([version.to_le_bytes(), method.to_le_bytes()].concat());
    let width = if version == 3 { 8 } else { 4 };
    let mut number = |value: u64| file.extend(&value.to_le_bytes()[..width]);
    if version > 1 {
        number((8 + 2 * width + 8 + body.len()) as u64);
    }
    number(contents);
    file.extend([0; 8]);
    file.extend_from_slice(body);
    file
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// What `clang-offload-bundler --compress` made, without its header.
fn zstd_body() -> Vec<u8> {
    kernel_file("containers/saxpy.zstd.hipfb")[24..].to_vec()
}

#[test]
fn compressed_bundles_of_every_version_and_method() {
    let plain = kernel_file("containers/saxpy.hipfb");
    let (zlib, size) = (zlib(&plain), plain.len() as u64);
    let zstd_size = u32::from_le_bytes(kernel_file("containers/saxpy.zstd.hipfb")[12..16].try_into().unwrap());
    let mut files = vec![plain, kernel_file("containers/saxpy.zstd.hipfb")];
    files.extend((1..=3).map(|version| compressed(version, 0, size, &zlib)));
    files.extend((1..=3).map(|version| compressed(version, 1, zstd_size.into(), &zstd_body())));
    for file in files {
        for target in [Target::Gfx803, Target::Gfx900] {
            let image = Image::parse_for(file.clone(), Some(target)).unwrap();
            assert_eq!((image.target, image.parts.len()), (target, 3));
            assert_eq!(image.file, kernel_file(&format!("saxpy/saxpy.{target}.co")));
        }
        assert_eq!(Image::parse(file).unwrap().target, Target::Gfx803, "the first one of ours");
    }
}

#[test]
fn bundles_say_what_is_wrong_with_them() {
    let plain = kernel_file("containers/saxpy.hipfb");
    let body = zlib(&plain);
    let size = plain.len() as u64;
    let error = |file: Vec<u8>| Image::parse(file).unwrap_err().to_string();
    let compressed_error = |version, method, size, body: &[u8]| error(compressed(version, method, size, body));
    assert_eq!(
        compressed_error(4, 0, size, &body),
        "offload bundle: the version of compression is not 1 to 3 at byte 0x4"
    );
    assert!(compressed_error(2, 2, size, &body).contains("neither zlib nor zstd"));
    assert!(compressed_error(3, 0, 1 << 40, &body).contains("larger than 1 GiB"));
    for wrong in [size - 1, size + 1] {
        assert!(compressed_error(2, 0, wrong, &body).contains("damaged at byte 0x18"));
    }
    assert!(compressed_error(2, 1, size, &body).contains("damaged"));
    assert!(compressed_error(2, 0, 5, &zlib(b"hello")).contains("does not start as a bundle does"));
    let mut cut = compressed(2, 0, size, &body);
    cut.pop();
    assert!(error(cut).contains("cut off"));
    assert!(error(plain[..40].to_vec()).contains("the header is cut off at byte 0x28"));
    assert!(error(plain[..6000].to_vec()).contains("the part leaves the file"));
    let mut broken = plain.clone();
    let at = broken.windows(4).position(|bytes| bytes == b"\x7fELF").unwrap();
    broken[at + 18] = 3;
    let text = error(broken);
    assert!(text.starts_with("offload bundle: hipv4-amdgcn-amd-amdhsa--gfx803: ELF header: e_machine"), "{text}");
    let none = Image::parse_for(plain, Some(Target::Gfx600)).unwrap_err();
    assert!(matches!(none, LoadError::NoPart { wanted: Some(Target::Gfx600), ref parts } if parts.len() == 3));
}

/// A small generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }

    /// Damages a file: bytes, numbers that are often special, parts copied elsewhere, an end cut off.
    fn damage(&mut self, file: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(file.len());
            match self.below(8) {
                0 => file.truncate(at),
                1 => {
                    let (from, len) = (self.below(file.len()), self.below(64));
                    let len = len.min(file.len() - from.max(at));
                    file.copy_within(from..from + len, at);
                }
                2..=4 => {
                    const SPECIAL: [u64; 8] = [0, 1, 0x7fff_ffff, 0xffff_ffff, u64::MAX, 1 << 63, 0x1000, 1 << 40];
                    let width = [2, 4, 8][self.below(3)];
                    let at = at / width * width;
                    let value = SPECIAL[self.below(SPECIAL.len())].wrapping_add(self.next() & 1).to_le_bytes();
                    if let Some(place) = file.get_mut(at..at + width) {
                        place.copy_from_slice(&value[..width]);
                    }
                }
                _ => {
                    let byte = self.next() as u8;
                    file.get_mut(at).into_iter().for_each(|place| *place = byte);
                }
            }
        }
    }
}

/// The most memory that this process had so far, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// 10,000 damaged copies of a file of each kind load or are refused, in memory that does not depend on what they claim.
#[test]
fn damaged_files_of_every_kind() {
    let plain = kernel_file("containers/saxpy.hipfb");
    let mut files: Vec<Vec<u8>> = [
        "saxpy/saxpy.gfx900.v2.co",
        "containers/globals.gfx900.v2.co",
        "saxpy/saxpy.gfx900.v3.co",
        "saxpy/saxpy.gfx900.v4.co",
        "calls/calls.gfx803.co",
        "containers/globals.gfx900.co",
        "containers/saxpy.gfx9-generic.v6.co",
        "containers/saxpy.zstd.hipfb",
        "containers/tahiti.amdcl",
        "containers/tahiti64.amdcl",
    ]
    .map(kernel_file)
    .into();
    files.push(compressed(3, 0, plain.len() as u64, &zlib(&plain)));
    files.push(plain);
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let mut loaded = 0;
    for file in &files {
        for _ in 0..10_000 {
            let mut damaged = file.clone();
            random.damage(&mut damaged);
            loaded += usize::from(body::load(&damaged));
        }
    }
    assert!(loaded > 1000, "some damage does not matter");
    assert!(most_memory() < 512 << 10, "{} KiB", most_memory());
}
