//! Vectors, matrices, filters.

use super::Work;

pub(super) fn saxpy(work: &mut Work) {
    let (x, mut y) = (work.get_wide("x"), work.get_wide("y"));
    let a = work.wide("a");
    for i in 0..work.size("n") {
        y[i] += a * x[i];
    }
    work.set_wide("y", &y);
}

/// The product of an `m` by `k` and a `k` by `n` matrix, both row by row.
fn product(work: &Work) -> Vec<f64> {
    let (a, b) = (work.get_wide("a"), work.get_wide("b"));
    let (m, n, k) = (work.size("m"), work.size("n"), work.size("k"));
    let element = |row: usize, col: usize| (0..k).map(|i| a[row * k + i] * b[i * n + col]).sum();
    (0..m * n).map(|i| element(i / n, i % n)).collect()
}

pub(super) fn sgemm_naive(work: &mut Work) {
    let c = product(work);
    work.set_wide("c", &c);
}

pub(super) fn sgemm_tiled(work: &mut Work) {
    let (alpha, beta) = (work.wide("alpha"), work.wide("beta"));
    let old = work.get_wide("c");
    let c: Vec<f64> = product(work).iter().zip(old).map(|(ab, c)| alpha * ab + beta * c).collect();
    work.set_wide("c", &c);
}

pub(super) fn daxpy(work: &mut Work) {
    let (x, mut y): (Vec<f64>, Vec<f64>) = (work.get("x"), work.get("y"));
    let (a, n, group) = (work.scalar::<f64>("a"), work.size("n"), work.group());
    let (mut ratio, mut products) = (vec![0.0; n], vec![0.0; work.items()]);
    for i in 0..n {
        y[i] = a.mul_add(x[i], y[i]);
        ratio[i] = (x[i] + i as f64) / (y[i] * y[i] + 1.0).sqrt();
        products[i] = x[i] * y[i];
    }
    let dots: Vec<f64> = products.chunks(group).map(halve).collect();
    work.set("y", &y);
    work.set("ratio", &ratio);
    work.set("dots", &dots);
}

/// The sum of a power of two of numbers, each half added to the other.
fn halve(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let upper = values.split_off(values.len() / 2);
        values.iter_mut().zip(upper).for_each(|(low, high)| *low += high);
    }
    values[0]
}

pub(super) fn stencil5(work: &mut Work) {
    let (width, height, k) = (work.size("width"), work.size("height"), work.wide("k"));
    let mut grids = [work.get_wide("a"), work.get_wide("b")];
    for launch in 0..work.launch.loop_count as usize {
        let from = grids[launch % 2].clone();
        let at = |x: usize, y: usize| from[y.min(height - 1) * width + x.min(width - 1)];
        for (i, to) in grids[1 - launch % 2].iter_mut().enumerate() {
            let (x, y) = (i % width, i / width);
            let around = at(x.saturating_sub(1), y) + at(x + 1, y) + at(x, y.saturating_sub(1)) + at(x, y + 1);
            *to = at(x, y) + k * (around - 4.0 * at(x, y));
        }
    }
    work.set_wide("a", &grids[0]);
    work.set_wide("b", &grids[1]);
}

pub(super) fn fir(work: &mut Work) {
    let (signal, taps) = (work.get_wide("in"), work.get_wide("taps"));
    let lanes = work.items();
    let filtered = |i: usize| {
        let past = (0..=i / lanes).zip(&taps);
        past.map(|(age, tap)| tap * signal[i - age * lanes]).sum()
    };
    let out: Vec<f64> = (0..signal.len()).map(filtered).collect();
    work.set_wide("out", &out);
}

pub(super) fn transform(work: &mut Work) {
    let t: Vec<f32> = work.launch.scalars("t", 0, 13);
    let shift: i32 = work.launch.scalars("t", 52, 1)[0];
    let size: Vec<u32> = work.launch.scalars("size", 0, 3);
    let points = work.get_wide("in");
    let scale = f64::from(t[12]);
    let mut out = Vec::with_capacity(points.len());
    for (i, p) in points.chunks_exact(3).enumerate() {
        let i = i as u32;
        let place = [i % size[0], i / size[0] % size[1], i / size[0] / size[1]].map(f64::from);
        let moved = [place[0], place[1], place[2] + f64::from(shift)];
        for (row, add) in t[..12].chunks_exact(4).zip(moved) {
            let row: Vec<f64> = row.iter().map(|&e| e.into()).collect();
            out.push((row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]) * scale + add);
        }
    }
    work.set_wide("out", &out);
}
