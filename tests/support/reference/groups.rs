//! Kernels whose work-items meet: in LDS, through atomics, in a wavefront.

use super::Work;

pub(super) fn reduction(work: &mut Work) {
    let x: Vec<f32> = work.get("x");
    let sums: Vec<f32> = x.chunks(work.group()).map(fold_sum).collect();
    work.set("sums", &sums);
}

/// The sum, the upper half added to the lower until one is left (the lower half has
/// the middle element when the count is odd).
fn fold_sum(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let upper = values.split_off(values.len().div_ceil(2));
        values.iter_mut().zip(upper).for_each(|(low, high)| *low += high);
    }
    values[0]
}

pub(super) fn scan(work: &mut Work) {
    let (mut out, mut totals) = (Vec::new(), Vec::new());
    for group in work.get::<u32>("in").chunks(work.group()) {
        let mut sum = 0u32;
        for value in group {
            sum = sum.wrapping_add(*value);
            out.push(sum);
        }
        totals.push(sum);
    }
    work.set("out", &out);
    work.set("totals", &totals);
}

pub(super) fn histogram(work: &mut Work) {
    let mut bins: Vec<u32> = work.get("bins");
    for byte in &work.get::<u8>("data")[..work.size("n")] {
        bins[usize::from(byte / 4)] += 1;
    }
    work.set("bins", &bins);
}

/// The textbook's bitonic network; a pass of the kernel is a pass of the inner loop.
pub(super) fn bitonic_sort(work: &mut Work) {
    let (mut keys, mut values): (Vec<i32>, Vec<u32>) = (work.get("keys"), work.get("values"));
    let powers = |from: usize, to: usize| (from.ilog2()..=to.ilog2()).map(|n| 1usize << n);
    let mut passes = 0;
    for k in powers(2, keys.len()) {
        for j in powers(1, k / 2).rev() {
            for low in (0..keys.len()).filter(|i| i & j == 0) {
                let (ascending, high) = (low & k == 0, low | j);
                if if ascending { keys[low] > keys[high] } else { keys[low] < keys[high] } {
                    keys.swap(low, high);
                    values.swap(low, high);
                }
            }
            passes += 1;
        }
    }
    assert_eq!(passes, work.launch.loop_count, "the passes of the whole network");
    work.set("keys", &keys);
    work.set("values", &values);
}

pub(super) fn atomics(work: &mut Work) {
    let input: Vec<i32> = work.get("in");
    let slots = work.size("slots");
    let (mut cells, mut wide): (Vec<i32>, Vec<u64>) = (work.get("cells"), work.get("wide"));
    let (mut best, mut tickets): (Vec<f32>, Vec<u32>) = (work.get("best"), work.get("tickets"));
    for (i, &x) in input.iter().enumerate() {
        let slot = i % slots;
        cells[slot] = cells[slot].wrapping_add(x);
        cells[slots + slot] ^= x;
        cells[2 * slots + slot] |= x & 0xfff;
        wide[slot] = wide[slot].wrapping_add((i64::from(x) as u64).wrapping_mul(0x1_0000_0001));
        wide[slots + slot] = wide[slots + slot].max(u64::from(x as u32) << 20);
        let ticket = tickets[slot];
        tickets[slot] += 1;
        tickets[slots + slot] += ticket * ticket;
        best[slot] = best[slot].max(x as f32 * 0.5);
    }
    cells[3 * slots] = input.iter().fold(cells[3 * slots], |low, &x| low.min(x));
    cells[3 * slots + 1] = input.iter().fold(cells[3 * slots + 1], |high, &x| high.max(x));
    work.set("cells", &cells);
    work.set("wide", &wide);
    work.set("best", &best);
    work.set("tickets", &tickets);
}

pub(super) fn compact(work: &mut Work) {
    let threshold: u32 = work.scalar("threshold");
    let (mut out, mut kept): (Vec<u32>, Vec<u32>) = (work.get("out"), work.get("kept"));
    let mut firsts = Vec::new();
    for (wave, values) in work.get::<u32>("in").chunks(64).enumerate() {
        let keep = |x: &u32| *x > threshold;
        let chosen: Vec<u32> = values.iter().copied().filter(keep).collect();
        out[64 * wave..][..chosen.len()].copy_from_slice(&chosen);
        kept[2 * wave] = chosen.len() as u32;
        kept[2 * wave + 1] += values.iter().rev().take_while(|x| !keep(x)).count() as u32;
        for (lane, x) in values.iter().enumerate() {
            firsts.push(if keep(x) { values[lane ^ 1].wrapping_add(chosen[0]) } else { values[63] });
        }
    }
    work.set("out", &out);
    work.set("kept", &kept);
    work.set("firsts", &firsts);
}

pub(super) fn wave(work: &mut Work) {
    let (mut sums, mut shuffled, mut quads) = (Vec::new(), Vec::new(), Vec::new());
    for (wave, values) in work.get::<u32>("in").chunks(64).enumerate() {
        let sum = values.iter().fold(0u32, |sum, &x| sum.wrapping_add(x));
        sums.push(sum);
        for (lane, &x) in values.iter().enumerate() {
            let from = [x as usize >> 5, (64 * wave + lane) * 7 + 3];
            let [a, b] = from.map(|from| values[from % 64]);
            shuffled.push(a.wrapping_sub(b));
            quads.push(values[lane ^ 3] ^ sum);
        }
    }
    work.set("sums", &sums);
    work.set("shuffled", &shuffled);
    work.set("quads", &quads);
}
