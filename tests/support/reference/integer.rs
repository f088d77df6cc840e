//! Integer arithmetic of all widths, and control flow over it.

use super::Work;

pub(super) fn hash(work: &mut Work) {
    let (rounds, seed) = (work.scalar::<u32>("rounds"), work.scalar::<u32>("seed"));
    let mix = |(i, word): (usize, &u32)| {
        let (mut x, mut r) = (word ^ seed, i as u32);
        for _ in 0..rounds {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x = x.rotate_left(r & 31).wrapping_mul(0x9e37_79b1).wrapping_add(x >> (r & 15));
            r = r.wrapping_mul(5).wrapping_add(x.count_ones()) & 31;
            let high = ((u64::from(x) * 0x85eb_ca6b) >> 32) as u32;
            x = x.wrapping_add(high ^ (x | 1).leading_zeros());
            x = (x & !0x00ff_00f0) | (!r & 0x00ff_00f0);
        }
        x.swap_bytes()
    };
    let out: Vec<u32> = work.get("in").iter().enumerate().map(mix).collect();
    work.set("out", &out);
}

pub(super) fn mul64(work: &mut Work) {
    let (a, b): (Vec<u64>, Vec<u64>) = (work.get("a"), work.get("b"));
    let rounds: u32 = work.scalar("rounds");
    let (mut out, mut quot) = (Vec::new(), Vec::new());
    for (&a, &b) in a.iter().zip(&b) {
        let (mut x, mut y) = (a, b);
        for _ in 0..rounds {
            let wide = u128::from(x) * u128::from(y);
            let (lo, hi) = (wide as u64, (wide >> 64) as u64);
            x = lo.rotate_left(y as u32 & 63).wrapping_add(hi);
            y = (y >> (x & 31)) ^ (lo << (hi & 15));
            if x < y {
                y -= x;
            }
        }
        out.push(x ^ (y % (a >> 20 | 1)));
        quot.push(x as i64 / (y as i64 >> 40 | 1));
    }
    work.set("out", &out);
    work.set("quot", &quot);
}

pub(super) fn bytes(work: &mut Work) {
    let (src, dst): (Vec<u8>, Vec<u8>) = (work.get("src"), work.get("dst"));
    let (mut out, mut lum) = (Vec::new(), Vec::new());
    for (s, d) in src.chunks_exact(4).zip(dst.chunks_exact(4)) {
        let alpha = u32::from(s[3]);
        let blend = |c: usize| ((u32::from(s[c]) * alpha + u32::from(d[c]) * (255 - alpha) + 127) / 255) as u8;
        let o = [blend(0), blend(1), blend(2), s[3].max(d[3])];
        out.extend(o);
        let grey = u32::from(o[0]) * 77 + u32::from(o[1]) * 150 + u32::from(o[2]) * 29;
        lum.push(o[0].abs_diff(o[1]) ^ (grey >> 8) as u8);
    }
    let (wave, gain): (Vec<i16>, i16) = (work.get("wave"), work.scalar("gain"));
    let mut mixed = Vec::new();
    for pair in wave.chunks_exact(2) {
        let average = (i32::from(pair[0]) + i32::from(pair[1])) >> 1;
        for &w in pair {
            let tripled = (i32::from(w) * 3).clamp(i16::MIN.into(), i16::MAX.into());
            mixed.push((i32::from(w.saturating_add(gain)) - (average >> 3) + tripled) as i16);
        }
    }
    work.set("out", &out);
    work.set("lum", &lum);
    work.set("mixed", &mixed);
}

pub(super) fn sad(work: &mut Work) {
    let image = |name| work.get::<u32>(name).into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let (now, before) = (image("now"), image("before"));
    let (pitch, reach) = (4 * work.size("words"), work.scalar::<i32>("reach") as usize);
    let blocks = work.launch.grid[0] as usize;
    let (mut best, mut mean) = (Vec::new(), Vec::new());
    for i in 0..work.items() {
        let (left, top) = (i % blocks * 4, i / blocks * 4);
        let pixels: Vec<(usize, usize)> = (0..16).map(|p| (p % 4, p / 4)).collect();
        let new = |&(x, y): &(usize, usize)| now[(top + reach + y) * pitch + left + 4 + x];
        let differences = |dx: usize, dy: usize| -> u32 {
            let old = |&(x, y): &(usize, usize)| before[(top + dy + y) * pitch + left + dx + x];
            pixels.iter().map(|p| u32::from(new(p).abs_diff(old(p)))).sum()
        };
        let offsets = (0..=2 * reach).flat_map(|dy| (0..8).map(move |dx| (dx, dy)));
        let score = |(dx, dy)| differences(dx, dy) << 16 | (dy as u32) << 8 | dx as u32;
        best.push(offsets.map(score).min().expect("offsets"));
        mean.push(pixels.iter().map(|p| f32::from(new(p))).sum::<f32>() / 16.0);
    }
    work.set("best", &best);
    work.set("mean", &mean);
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn calls(work: &mut Work) {
    let n: u32 = work.scalar("n");
    let total = |values: &[u32]| values.iter().fold(0u32, |sum, &v| sum.wrapping_mul(3).wrapping_add(v));
    let each = |&x: &u32| {
        let mut counts: Vec<u32> = (0..32).collect();
        for i in 0..n {
            let count = &mut counts[(x >> i & 31) as usize];
            *count = count.wrapping_add(gcd(x, i + 2));
        }
        let mut result = total(&counts);
        if x & 1 == 1 {
            let part = &counts[(x & 15) as usize..][..16];
            result = result.wrapping_add(gcd(x, 360_360)).wrapping_add(total(part));
        }
        result
    };
    let out: Vec<u32> = work.get("in").iter().map(each).collect();
    work.set("out", &out);
}

pub(super) fn vm(work: &mut Work) {
    let (code, entry): (Vec<u32>, Vec<u32>) = (work.get("code"), work.get("entry"));
    let limit: u32 = work.scalar("limit");
    let runs = entry.iter().zip(0..).map(|(&entry, id)| run_program(&code, entry, id, limit));
    let (result, steps): (Vec<i32>, Vec<u32>) = runs.unzip();
    work.set("result", &result);
    work.set("steps", &steps);
}

/// Runs one lane of the stack machine: what it leaves on the stack, and the steps it took.
fn run_program(code: &[u32], entry: u32, id: i32, limit: u32) -> (i32, u32) {
    let (mut stack, mut sp) = ([id, 1, 2, 3, 4, 5, 6, 7], 0);
    let (mut pc, mut steps) = (entry as usize % code.len(), 0);
    while steps < limit {
        let word = code[pc];
        pc = (pc + 1) % code.len();
        let (below, above) = ((sp + 7) % 8, (sp + 1) % 8);
        let (top, under) = (stack[sp], stack[below]);
        match word & 7 {
            0 => (sp, stack[above]) = (above, word as i32 >> 8),
            1 => stack[sp] = top.wrapping_add(under),
            2 => stack[sp] = under.wrapping_sub(top),
            3 => stack[sp] = top.wrapping_mul(under | 1),
            4 => (sp, stack[above]) = (above, top),
            5 => stack.swap(sp, below),
            6 if top & 3 != 0 => pc = (pc + (word >> 8) as usize) % code.len(),
            7 => break,
            _ => {}
        }
        steps += 1;
    }
    (stack.iter().fold(0i32, |sum, &v| sum.wrapping_mul(31).wrapping_add(v)), steps)
}
