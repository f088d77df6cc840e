//! Simulation, finance, transcendental functions, half precision.

use super::super::F16;
use super::Work;

pub(super) fn mandelbrot(work: &mut Work) {
    let (width, limit) = (work.size("width"), work.scalar::<u32>("limit"));
    let [left, top, step] = ["left", "top", "step"].map(|name| work.scalar::<f32>(name));
    let escape = |i: usize| {
        let (cx, cy) = (left + step * (i % width) as f32, top + step * (i / width) as f32);
        let (mut x, mut y, mut n) = (0f32, 0f32, 0u32);
        while n < limit && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            n += 1;
        }
        n
    };
    let count: Vec<u32> = (0..work.items()).map(escape).collect();
    work.set("count", &count);
}

pub(super) fn nbody(work: &mut Work) {
    let (pos, mut vel) = (work.get_wide("pos"), work.get_wide("vel"));
    let (n, dt, soft) = (work.size("n"), work.wide("dt"), work.wide("soft"));
    let mut out = pos.clone();
    for i in 0..n {
        let mut acc = [0.0; 3];
        for q in pos.chunks_exact(4) {
            let d: [f64; 3] = std::array::from_fn(|axis| q[axis] - pos[4 * i + axis]);
            let square = d.iter().map(|x| x * x).sum::<f64>() + soft;
            let pull = q[3] / (square * square.sqrt());
            (0..3).for_each(|axis| acc[axis] += d[axis] * pull);
        }
        for axis in 0..3 {
            vel[4 * i + axis] += acc[axis] * dt;
            out[4 * i + axis] += vel[4 * i + axis] * dt;
        }
    }
    work.set_wide("vel", &vel);
    work.set_wide("out", &out);
}

/// The normal distribution by Abramowitz and Stegun 26.2.17, as the kernel has it.
fn normal_cdf(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let coefficients = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530];
    let poly = coefficients.iter().fold(0.0, |sum, c| (sum + c) * k);
    let tail = 0.39894228040 * (-0.5 * d * d).exp() * poly;
    if d > 0.0 { 1.0 - tail } else { tail }
}

pub(super) fn black_scholes(work: &mut Work) {
    let [price, strike, years] = ["price", "strike", "years"].map(|name| work.get_wide(name));
    let (rate, sigma) = (work.wide("rate"), work.wide("sigma"));
    let (mut call, mut put) = (Vec::new(), Vec::new());
    for i in 0..work.size("n") {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let spread = sigma * t.sqrt();
        let d1 = ((s / x).ln() + (rate + 0.5 * sigma * sigma) * t) / spread;
        let (n1, n2) = (normal_cdf(d1), normal_cdf(d1 - spread));
        let discounted = x * (-rate * t).exp();
        call.push(s * n1 - discounted * n2);
        put.push(discounted * (1.0 - n2) - s * (1.0 - n1));
    }
    work.set_wide("call", &call);
    work.set_wide("put", &put);
}

pub(super) fn trig(work: &mut Work) {
    let x: Vec<f32> = work.get("x");
    // Where the kernel passes a rounded product on, the reference rounds it too.
    let each = |f: fn(f32) -> f64| x.iter().map(|&v| f(v)).collect::<Vec<f64>>();
    let s = each(|v| f64::from(v * 1000.0).sin());
    let c = each(|v| f64::from(v).cos() + f64::from(v * 0.01).tan());
    let p = each(|v| f64::from(v.abs() + 0.5).powf(1.7) + f64::from(v.floor() - (v * 0.5).trunc()));
    let q = each(|v| {
        let waves = f64::from(v * 0.01).sin() + f64::from(v * 0.001).exp2() * f64::from(v.abs() + 1.0).log2();
        waves + f64::from(v * 8.0) + f64::from(v.round_ties_even())
    });
    for (name, values) in [("s", s), ("c", c), ("p", p), ("q", q)] {
        work.set_wide(name, &values);
    }
}

/// A half-precision operation is exact in double precision, then rounded.
pub(super) fn half_blend(work: &mut Work) {
    let halves = |name| work.get::<F16>(name).iter().map(|h| h.to_f32()).collect::<Vec<f32>>();
    let (a, b, t) = (halves("a"), halves("b"), work.scalar::<f32>("t"));
    let (mut out, mut low, mut wide) = (work.get::<F16>("out"), Vec::new(), Vec::new());
    for i in 0..work.size("n") {
        let (x, y) = (&a[2 * i..2 * i + 2], &b[2 * i..2 * i + 2]);
        for (c, (x, y)) in x.iter().zip(y).enumerate() {
            let d = if x < y { f64::from(*x) * f64::from(*y) } else { f64::from(*x) - f64::from(*y) };
            out[2 * i + c] = F16::from_f64(d.min(6.5));
        }
        low.push(F16::from_f64((f64::from(x[0]) + f64::from(y[1])).max(f64::from(-x[1]))));
        wide.push(x[0] * t + y[1]);
    }
    work.set("out", &out);
    work.set("low", &low);
    work.set("wide", &wide);
}
