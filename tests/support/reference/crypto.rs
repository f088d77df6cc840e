//! Checksums, ciphers, digests.

use super::Work;

/// Bit by bit, not by the kernel's table.
pub(super) fn crc32(work: &mut Work) {
    let (data, lengths): (Vec<u8>, Vec<u32>) = (work.get("data"), work.get("lengths"));
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), bit);
    let records = data.chunks(work.size("stride")).zip(lengths);
    let out: Vec<u32> = records.map(|(record, len)| !record[..len as usize].iter().fold(!0, byte)).collect();
    work.set("out", &out);
}

pub(super) fn rc4(work: &mut Work) {
    let (items, words) = (work.items(), work.size("words"));
    let keys: Vec<u8> = work.get("keys");
    let mut stream = vec![0; items * words];
    for (id, key) in keys.chunks(work.size("key_len")).enumerate() {
        for (w, word) in key_stream(key, 4 * words).chunks(4).enumerate() {
            stream[w * items + id] = u32::from_le_bytes(word.try_into().expect("four bytes"));
        }
    }
    work.set("stream", &stream);
}

/// The first `len` bytes that RC4 makes of `key`.
fn key_stream(key: &[u8], len: usize) -> Vec<u8> {
    let mut s: Vec<u8> = (0..=255).collect();
    let mut j = 0u8;
    for i in 0..256 {
        j = j.wrapping_add(s[i]).wrapping_add(key[i % key.len()]);
        s.swap(i, j.into());
    }
    j = 0;
    let mut next = |n: usize| {
        let i = (n + 1) % 256;
        j = j.wrapping_add(s[i]);
        s.swap(i, j.into());
        s[usize::from(s[i].wrapping_add(s[usize::from(j)]))]
    };
    (0..len).map(&mut next).collect()
}

pub(super) fn sha256(work: &mut Work) {
    let messages: Vec<u8> = work.get("messages");
    let digests: Vec<u32> = messages.chunks(16).flat_map(digest).collect();
    work.set("digests", &digests);
}

/// The digest of a message of at most 55 bytes, FIPS 180-4.
fn digest(message: &[u8]) -> [u32; 8] {
    let mut block = [0; 64];
    block[..message.len()].copy_from_slice(message);
    block[message.len()] = 0x80;
    block[56..].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());
    let mut w: Vec<u32> =
        block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("four bytes"))).collect();
    for t in 16..64 {
        let (x, y) = (w[t - 15], w[t - 2]);
        let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
        let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
        w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
    }
    let start = first_primes(8).map(|p| fraction(f64::from(p).sqrt()));
    let constants = first_primes(64).map(|p| fraction(cube_root(p)));
    let mut state: Vec<u32> = start.collect();
    let initial = state.clone();
    for (k, word) in constants.zip(w) {
        let [a, b, c, d, e, f, g, h] = state[..] else { unreachable!("eight words") };
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = [big1, (e & f) ^ (!e & g), k, word].iter().fold(h, |sum, &x| sum.wrapping_add(x));
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = big0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        state = vec![t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
    }
    std::array::from_fn(|i| initial[i].wrapping_add(state[i]))
}

fn first_primes(count: usize) -> impl Iterator<Item = u32> {
    (2u32..).filter(|n| (2..*n).all(|d| n % d != 0)).take(count)
}

/// The first 32 bits after the point.
fn fraction(value: f64) -> u32 {
    (value.fract() * 2f64.powi(32)) as u32
}

fn cube_root(n: u32) -> f64 {
    f64::from(n).cbrt()
}
