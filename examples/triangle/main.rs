//! Draws with vertex and pixel shaders on a rasteriser of its own:
//! `cargo run --release --example triangle [gfx600|gfx700|gfx803|gfx900]` writes triangle.png.

mod raster;
mod scene;

use gcnjit::{Device, Engine};
use raster::Frame;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

const SIZE: [usize; 2] = [960, 540];
/// Levels of the texture.
const LEVELS: u32 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).unwrap_or("gfx900".to_owned());
    let device = Device::new()?;
    let file = format!("{}/kernels/graphics/texture.{target}.so", env!("CARGO_MANIFEST_DIR"));
    let start = Instant::now();
    let frame = scene::render(&device, &file, Engine::Jit, SIZE, Some(LEVELS))?;
    println!("{} by {} pixels in {:.1} ms", SIZE[0], SIZE[1], start.elapsed().as_secs_f64() * 1e3);
    save("triangle.png", &frame)
}

fn save(path: &str, frame: &Frame) -> Result<(), Box<dyn Error>> {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let bytes: Vec<u8> = frame.colour.iter().flatten().map(|x| byte(*x)).collect();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), frame.width as u32, frame.height as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
