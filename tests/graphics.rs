//! The picture of examples/triangle, small: the same on four targets and with both engines, as it was when it was looked
//! at, and as a second rasteriser has it that shares nothing with the first: homogeneous, in f64, without shaders.

#[path = "../examples/triangle/raster.rs"]
mod raster;
#[path = "../examples/triangle/scene.rs"]
mod scene;

use gcnjit::{Device, Engine};
use raster::Frame;
use scene::{Matrix, SKY, TEXTURE, Vertex, objects, render, texel};

const SIZE: [usize; 2] = [128, 72];

fn bytes(colour: &[[f32; 4]]) -> Vec<[u8; 3]> {
    colour.iter().map(|c| [0, 1, 2].map(|k| (c[k].clamp(0.0, 1.0) * 255.0).round() as u8)).collect()
}

/// FNV-1a.
fn checksum(pixels: &[[u8; 3]]) -> u64 {
    pixels
        .as_flattened()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, x| (sum ^ u64::from(*x)).wrapping_mul(0x100_0000_01b3))
}

fn drawn(file: &str, engine: Engine, levels: Option<u32>) -> Frame {
    render(&Device::new().unwrap(), &format!("kernels/graphics/{file}.so"), engine, SIZE, levels).unwrap()
}

#[test]
fn pictures_are_the_same_everywhere() {
    for (target, engine) in [
        ("gfx600", Engine::Jit),
        ("gfx600", Engine::Interp),
        ("gfx700", Engine::Jit),
        ("gfx803", Engine::Check),
        ("gfx900", Engine::Jit),
        ("gfx900", Engine::Interp),
    ] {
        let of = |file: &str, levels| checksum(&bytes(&drawn(&format!("{file}.{target}"), engine, levels).colour));
        let sums = [of("colour", None), of("texture", Some(1)), of("texture", Some(7))];
        assert_eq!(sums, SUMS, "{target} {engine:?}");
    }
}

/// In the vertices' colours, with one level of the texture, and with all.
const SUMS: [u64; 3] = [0x7fb8_b221_3954_f8e7, 0x1861_ed64_8532_5374, 0xf88d_7c85_e74f_9673];

#[test]
fn a_second_rasteriser_draws_the_same() {
    let frame = drawn("colour.gfx900", Engine::Jit, None);
    let expected = reference(|vertex| Some([vertex[5], vertex[6], vertex[7]]));
    assert_close(&bytes(&frame.colour), &bytes(&expected), 0.005);
    let frame = drawn("texture.gfx900", Engine::Jit, Some(1));
    let expected = reference(|vertex| {
        let [r, g, b, a] = bilinear(vertex[3], vertex[4]);
        (a >= 0.5).then_some([vertex[5] * r, vertex[6] * g, vertex[7] * b])
    });
    // In the distance a part of a pixel is several texels.
    assert_close(&bytes(&frame.colour), &bytes(&expected), 0.04);
}

/// The texture between four texels, repeated.
fn bilinear(u: f64, v: f64) -> [f64; 4] {
    let at = [u, v].map(|x| x * TEXTURE as f64 - 0.5);
    let [s, t] = at.map(|x| x - x.floor());
    let [x, y] = at.map(|x| x.floor().rem_euclid(TEXTURE as f64) as usize);
    let near = |dx: usize, dy: usize| texel((x + dx) % TEXTURE, (y + dy) % TEXTURE).map(|c| f64::from(c) / 255.0);
    let (a, b, c, d) = (near(0, 0), near(1, 0), near(0, 1), near(1, 1));
    std::array::from_fn(|k| (a[k] * (1.0 - s) + b[k] * s) * (1.0 - t) + (c[k] * (1.0 - s) + d[k] * s) * t)
}

/// Pixels at edges may belong to one side or the other: vertices are rounded to parts of a pixel in the frame.
fn assert_close(got: &[[u8; 3]], expected: &[[u8; 3]], share: f64) {
    let far = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2);
    let differ = got.iter().zip(expected).filter(far).count();
    assert!(differ as f64 <= share * got.len() as f64, "{differ} of {} pixels differ", got.len());
    let sky = bytes(&[SKY])[0];
    assert!(got.iter().filter(|pixel| **pixel != sky).count() * 5 > got.len(), "it shows something");
}

/// The scene by homogeneous rasterisation: the inverse of the matrix of a triangle's (x, y, w) gives, for a pixel, its
/// barycentric coordinates divided by w.
fn reference(shade: impl Fn([f64; 8]) -> Option<[f64; 3]>) -> Vec<[f32; 4]> {
    let [width, height] = SIZE;
    let (mut colour, mut depth) = (vec![SKY; width * height], vec![1.0; width * height]);
    for (vertices, matrix) in objects(width, height) {
        for triangle in vertices.chunks_exact(3) {
            let clip = [0, 1, 2].map(|k| position(matrix, &triangle[k]));
            let Some(inverse) = inverse(clip.map(|[x, y, _, w]| [x, y, w])) else { continue };
            for at in 0..width * height {
                let x = ((at % width) as f64 + 0.5) / width as f64 * 2.0 - 1.0;
                let y = 1.0 - ((at / width) as f64 + 0.5) / height as f64 * 2.0;
                let parts = [0, 1, 2].map(|k| inverse[k][0] * x + inverse[k][1] * y + inverse[k][2]);
                let sum: f64 = parts.iter().sum();
                let z: f64 = (0..3).map(|k| parts[k] * clip[k][2]).sum();
                if parts.iter().all(|part| *part >= 0.0) && (0.0..depth[at]).contains(&z) {
                    let of = |k: usize| (0..3).map(|c| parts[c] / sum * f64::from(triangle[c][k])).sum();
                    if let Some([r, g, b]) = shade(std::array::from_fn(of)) {
                        (depth[at], colour[at]) = (z, [r as f32, g as f32, b as f32, 1.0]);
                    }
                }
            }
        }
    }
    colour
}

fn position(matrix: Matrix, vertex: &Vertex) -> [f64; 4] {
    let [x, y, z] = [0, 1, 2].map(|k| f64::from(vertex[k]));
    std::array::from_fn(|row| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|column| f64::from(matrix[column][row]));
        a * x + b * y + c * z + d
    })
}

/// Row `k` gives the part of vertex `k`; the rows of `m` are vertices.
fn inverse(m: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let determinant: f64 = cross(m[1], m[2]).iter().zip(m[0]).map(|(a, b)| a * b).sum();
    (determinant != 0.0).then(|| [0, 1, 2].map(|k| cross(m[(k + 1) % 3], m[(k + 2) % 3]).map(|x| x / determinant)))
}
