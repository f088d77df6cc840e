//! A second of the fuzz target `decode`, on the same random bytes every time as far as it comes.

use std::time::{Duration, Instant};

#[path = "../../fuzz/bodies/decode.rs"]
mod body;

/// A stream of random bytes (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[test]
fn a_second_of_decode() {
    let (mut random, start, mut buffers) = (Random(1), Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(1) {
        let length = 1 + random.next() as usize % 256;
        let data: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        body::decode(&data);
        buffers += 1;
    }
    println!("{buffers} buffers");
}

/// No bytes, a target without code, words that are cut off.
#[test]
fn small_inputs() {
    for length in 0..14 {
        for byte in 0..=255 {
            body::decode(&vec![byte; length]);
        }
    }
}
