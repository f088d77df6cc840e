//! Draws the Mandelbrot set with a GPU kernel: `cargo run --release --example mandelbrot` writes mandelbrot.png.

use gcnjit::{Device, Module};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

const WIDTH: u32 = 1024;
const HEIGHT: u32 = 768;
/// Iterations after which a point counts as inside.
const LIMIT: u32 = 1000;
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/mandelbrot/mandelbrot.gfx900.co");

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let kernel = Module::open(&device, KERNEL)?.kernel("mandelbrot")?;
    let counts = device.buffer::<u32>((WIDTH * HEIGHT) as usize)?;
    let step = 3.2 / WIDTH as f32;
    let (left, top) = (-2.3f32, -0.5 * step * HEIGHT as f32);

    let launch = kernel.launch().grid([WIDTH, HEIGHT]).block([16, 16]);
    let stats = launch.arg(&counts).arg(WIDTH).arg(left).arg(top).arg(step).arg(LIMIT).run()?;
    println!(
        "{WIDTH}×{HEIGHT} points in {:.1} ms: {} waves, {} million wave instructions, {:.1} ms of translation",
        stats.time.as_secs_f64() * 1e3,
        stats.waves,
        stats.wave_instructions / 1_000_000,
        stats.translation.as_secs_f64() * 1e3,
    );
    save("mandelbrot.png", &counts.read())?;
    println!("see mandelbrot.png");
    Ok(())
}

fn save(path: &str, counts: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<u8> = counts.iter().flat_map(|&count| colour(count)).collect();
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}

/// Night blue through white to gold and back, faster where counts are small; black inside.
fn colour(count: u32) -> [u8; 3] {
    const STOPS: [[f32; 3]; 5] =
        [[0.0, 7.0, 100.0], [32.0, 107.0, 203.0], [237.0, 255.0, 255.0], [255.0, 170.0, 0.0], [60.0, 2.0, 30.0]];
    if count == LIMIT {
        return [0; 3];
    }
    let place = (count as f32).ln() * 1.6 % STOPS.len() as f32;
    let (from, to) = (STOPS[place as usize], STOPS[(place as usize + 1) % STOPS.len()]);
    let part = place.fract();
    std::array::from_fn(|i| (from[i] + (to[i] - from[i]) * part) as u8)
}
