//! Pictures of eight bits a component, in sRGB, and how different two of them look.
//!
//! The measure is CIE 1976 ΔE*ab: the distance of two colours in CIELAB, in which equal distances look about equally
//! large, whatever the colour. About 2.3 is what people just notice (Mahy, Van Eycken and Oosterlinck, 1994).

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// A picture.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Red, green and blue of each pixel, row by row from the top.
    pub pixels: Vec<[u8; 3]>,
}

/// How different two pictures look, in ΔE*ab.
#[derive(Debug)]
pub struct Difference {
    /// The mean over all pixels.
    pub mean: f64,
    /// What one pixel of a thousand exceeds.
    pub tail: f64,
    /// The most, and the column and row where it is.
    pub worst: (f64, [usize; 2]),
}

/// A mean of half a unit is a step of one in all components of mid-tones: rounding may do that, nothing else should.
const MEAN: f64 = 0.5;
/// The just noticeable difference. The thousandth of the pixels above it may lie on edges, where the rounding of a
/// coordinate decides which side they show.
const TAIL: f64 = 2.3;

impl Difference {
    /// Whether nobody would notice.
    pub fn is_invisible(&self) -> bool {
        self.mean <= MEAN && self.tail <= TAIL
    }
}

impl Picture {
    /// A picture of colours whose components are 0 to 1.
    pub fn new(width: usize, colours: &[[f32; 4]]) -> Picture {
        let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        Picture { width, pixels: colours.iter().map(|[r, g, b, _]| [*r, *g, *b].map(byte)).collect() }
    }

    /// Reads a PNG file of RGB.
    pub fn read(path: &Path) -> Result<Picture, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info().map_err(|error| error.to_string())?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("a picture of no size")?];
        let frame = reader.next_frame(&mut bytes).map_err(|error| error.to_string())?;
        if (frame.color_type, frame.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err("not eight bits of red, green and blue".to_owned());
        }
        Ok(Picture { width: frame.width as usize, pixels: bytes.as_chunks().0.to_vec() })
    }

    /// Writes a PNG file.
    pub fn write(&self, path: &Path) {
        let height = self.pixels.len() / self.width;
        let file = BufWriter::new(File::create(path).expect("a file"));
        let mut encoder = png::Encoder::new(file, self.width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(self.pixels.as_flattened()).expect("pixels");
    }

    /// How different another one looks; an error if it has another size.
    pub fn difference(&self, other: &Picture) -> Result<Difference, String> {
        if (self.width, self.pixels.len()) != (other.width, other.pixels.len()) {
            return Err(format!("{} pixels in rows of {}", self.pixels.len(), self.width));
        }
        let mut distances: Vec<(f64, usize)> =
            (0..self.pixels.len()).map(|at| (distance(lab(self.pixels[at]), lab(other.pixels[at])), at)).collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = distances.len();
        let (most, at) = distances[count - 1];
        Ok(Difference {
            mean: distances.iter().map(|(distance, _)| distance).sum::<f64>() / count as f64,
            tail: distances[count - 1 - count / 1000].0,
            worst: (most, [at % self.width, at / self.width]),
        })
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// L*, a* and b* (CIE 15) of a colour in sRGB (IEC 61966-2-1), whose white is D65.
pub fn lab(colour: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = colour.map(|byte| {
        let value = f64::from(byte) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    // Each divided by that of white.
    let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505;
    let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089;
    let [x, y, z] = [x, y, z].map(|part: f64| {
        let linear = part <= (6.0f64 / 29.0).powi(3);
        if linear { part * (29.0f64 / 6.0).powi(2) / 3.0 + 4.0 / 29.0 } else { part.cbrt() }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}
