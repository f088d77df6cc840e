//! Copies between the host's data and guest memory.
//!
//! Relaxed atomics rather than volatile accesses: a guest may rely on an aligned dword being read whole, and a race with
//! another wave is then no data race. Racing accesses of different sizes are outside of Rust's memory model, but guests
//! make them, and every host makes each of them whole.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// Bytes from which on it is worth to look once where whole words begin and end.
const LONG: usize = 64;

/// Copies guest bytes at `from` to `data`.
///
/// # Safety
/// `data.len()` bytes at `from` are mapped, and only accessed atomically or by guests.
#[inline]
pub(crate) unsafe fn from_guest(from: *mut u8, data: &mut [u8]) {
    if data.len() < LONG {
        // SAFETY: the caller's promise is the same.
        return unsafe { few_from_guest(from, data) };
    }
    let (head, rest) = data.split_at_mut(until_word(from));
    let (words, tail) = rest.as_chunks_mut::<8>();
    let first = from.wrapping_add(head.len());
    // SAFETY: the three parts are the bytes that the caller vouches for; `first` and what is whole words from it is
    // aligned.
    unsafe {
        few_from_guest(from, head);
        few_from_guest(first.wrapping_add(words.len() * 8), tail);
        for (index, word) in words.iter_mut().enumerate() {
            let at = first.cast::<u64>().wrapping_add(index);
            *word = AtomicU64::from_ptr(at).load(Relaxed).to_ne_bytes();
        }
    }
}

/// Copies `data` to guest bytes at `to`.
///
/// # Safety
/// `data.len()` bytes at `to` are mapped writable, and only accessed atomically or by guests.
#[inline]
pub(crate) unsafe fn to_guest(to: *mut u8, data: &[u8]) {
    if data.len() < LONG {
        // SAFETY: the caller's promise is the same.
        return unsafe { few_to_guest(to, data) };
    }
    let (head, rest) = data.split_at(until_word(to));
    let (words, tail) = rest.as_chunks::<8>();
    let first = to.wrapping_add(head.len());
    // SAFETY: as in `from_guest`.
    unsafe {
        few_to_guest(to, head);
        few_to_guest(first.wrapping_add(words.len() * 8), tail);
        for (index, word) in words.iter().enumerate() {
            let at = first.cast::<u64>().wrapping_add(index);
            AtomicU64::from_ptr(at).store(u64::from_ne_bytes(*word), Relaxed);
        }
    }
}

/// Bytes before the first that a word can begin at.
fn until_word(at: *mut u8) -> usize {
    at.addr().wrapping_neg() % 8
}

/// The largest power of two up to 8 that divides `address` and is not above `left`.
#[inline]
fn unit(address: usize, left: usize) -> usize {
    let aligned = 1 << (address | 8).trailing_zeros();
    let fits = 1 << left.min(8).ilog2();
    usize::min(aligned, fits)
}

/// The same, unit by unit.
///
/// # Safety
/// `data.len()` bytes at `from` are mapped, and only accessed atomically or by guests.
#[inline]
unsafe fn few_from_guest(from: *mut u8, data: &mut [u8]) {
    let mut i = 0;
    while i < data.len() {
        let at = from.wrapping_add(i);
        let size = unit(at.addr(), data.len() - i);
        let to = &mut data[i..i + size];
        // SAFETY: the caller vouches for the bytes; `unit` made `at` a multiple of `size`.
        unsafe {
            match size {
                8 => to.copy_from_slice(&AtomicU64::from_ptr(at.cast()).load(Relaxed).to_ne_bytes()),
                4 => to.copy_from_slice(&AtomicU32::from_ptr(at.cast()).load(Relaxed).to_ne_bytes()),
                2 => to.copy_from_slice(&AtomicU16::from_ptr(at.cast()).load(Relaxed).to_ne_bytes()),
                _ => to[0] = AtomicU8::from_ptr(at).load(Relaxed),
            }
        }
        i += size;
    }
}

/// The same, unit by unit.
///
/// # Safety
/// `data.len()` bytes at `to` are mapped writable, and only accessed atomically or by guests.
#[inline]
unsafe fn few_to_guest(to: *mut u8, data: &[u8]) {
    let mut rest = data;
    let mut at = to;
    while !rest.is_empty() {
        let size = unit(at.addr(), rest.len());
        let (from, tail) = rest.split_at(size);
        // SAFETY: the caller vouches for the bytes; `unit` made `at` a multiple of `size`.
        unsafe {
            match *from {
                [a, b, c, d, e, f, g, h] => {
                    AtomicU64::from_ptr(at.cast()).store(u64::from_ne_bytes([a, b, c, d, e, f, g, h]), Relaxed);
                }
                [a, b, c, d] => AtomicU32::from_ptr(at.cast()).store(u32::from_ne_bytes([a, b, c, d]), Relaxed),
                [a, b] => AtomicU16::from_ptr(at.cast()).store(u16::from_ne_bytes([a, b]), Relaxed),
                _ => AtomicU8::from_ptr(at).store(from[0], Relaxed),
            }
        }
        at = at.wrapping_add(size);
        rest = tail;
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_bytes_and_no_others_from_and_to_any_place() {
        let pattern: Vec<u8> = (0..240).collect();
        for start in 0..9 {
            for len in (0..20).chain(LONG - 9..LONG + 20).chain([200]) {
                let mut guest = vec![0xee_u8; 240];
                let at = guest.as_mut_ptr().wrapping_add(start);
                let mut back = vec![0; len];
                // SAFETY: the bytes are inside of `guest`, which nobody else uses until then.
                unsafe {
                    to_guest(at, &pattern[..len]);
                    from_guest(at, &mut back);
                }
                assert_eq!(back, pattern[..len]);
                assert_eq!(guest[start..start + len], pattern[..len]);
                assert!(guest[..start].iter().chain(&guest[start + len..]).all(|byte| *byte == 0xee));
            }
        }
    }
}
