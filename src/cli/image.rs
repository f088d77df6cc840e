//! Images and samplers on the command line: what `--arg image:…` and `--arg sampler:…` say, and PNG files.
//!
//! An image is read when its argument is, in plain order. How it lies in memory depends on the processor, so it is laid
//! out when the file with the kernel has been loaded ([`Picture::lay_out`]).

use crate::cli::failure::Failure;
use crate::cli::plan::Buffer;
use crate::cli::value;
use gcnjit::Target;
use gcnjit::image::{self, Border, Clamp, Dim, Named, Shape, XyFilter};
use gcnjit::rt::image::{Image, Sampler};
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

/// An image that a kernel gets.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Index of the buffer that its texels are in.
    pub buffer: usize,
    format: String,
    /// Columns, rows and depth, as many as were given.
    size: Vec<u32>,
    /// Its texels in plain order; nothing for zeroes.
    plain: Option<Vec<u8>>,
    /// Where its texels are, once that is known. Its address is 0.
    image: Option<Image>,
}

impl Picture {
    /// The image that `FMT,W[,H[,D]]` describes, with the texels of the file `input`; zeroes if that is empty.
    pub fn new(shape: &str, input: &str, buffer: usize) -> Result<Picture, String> {
        let mut parts = shape.split(',');
        let format = parts.next().unwrap_or_default().to_owned();
        let size = parts.map(value::size32).collect::<Result<Vec<u32>, String>>()?;
        if !(1..=3).contains(&size.len()) {
            return Err("it needs a format and one to three sizes: FMT,W[,H[,D]]".to_owned());
        }
        let mut picture = Picture { buffer, format, size, plain: None, image: None };
        // The formats with names are the same for all processors.
        let image = picture.describe(Target::Gfx900)?;
        if !input.is_empty() {
            let plain = if is_png(input) { picture.read_png(&image, input)? } else { read(input)? };
            if plain.len() != image.plain_bytes() {
                return Err(format!("{input} has {} bytes, the image {}", plain.len(), image.plain_bytes()));
            }
            picture.plain = Some(plain);
        }
        Ok(picture)
    }

    /// The image for a processor, at address 0.
    fn describe(&self, target: Target) -> Result<Image, String> {
        let Named { format, selects } =
            image::named(&self.format, target).ok_or_else(|| format!("there is no format '{}'", self.format))?;
        let shape = match *self.size {
            [width] => Shape::row(format, width),
            [width, height] => Shape::plane(format, width, height),
            [width, height, depth, ..] => Shape::volume(format, width, height, depth),
            [] => return Err("an image needs a size".to_owned()),
        };
        let mut image = Image::new(target.generation(), 0, &shape).map_err(|what| what.to_string())?;
        image.selects = selects;
        Ok(image)
    }

    /// Lays the image out for a processor: the contents of its buffer, which had none so far, and the object in memory
    /// that kernels get the address of, but for the buffer's address.
    pub fn lay_out(&mut self, target: Target, buffer: &mut Buffer) -> Result<Vec<u32>, Failure> {
        let image = self.describe(target).map_err(|what| Failure::usage(format!("{}: {what}", buffer.name)))?;
        buffer.size = image.bytes();
        if let Some(plain) = &self.plain {
            buffer.contents = image.pack(plain);
        }
        let words = image::object(&image).to_vec();
        self.image = Some(image);
        Ok(words)
    }

    /// What the file `path` gets of the buffer's bytes.
    pub fn output(&self, path: &Path, memory: &[u8]) -> Result<Vec<u8>, Failure> {
        let Some(image) = &self.image else { return Ok(memory.to_vec()) };
        let plain = image.unpack(memory);
        if !is_png(&path.to_string_lossy()) {
            return Ok(plain);
        }
        let file = path.display();
        self.write_png(image, &plain).map_err(|what| Failure::usage(format!("{file}: {what}")))
    }

    /// Whether an output file of this name can be written.
    pub fn check_output(&self, path: &str) -> Result<(), String> {
        let image = self.describe(Target::Gfx900)?;
        if is_png(path) { self.channels(&image).map(drop) } else { Ok(()) }
    }

    /// The colour type and depth of a PNG that holds this image as it is, and whether red and blue change places.
    fn channels(&self, image: &Image) -> Result<(png::ColorType, png::BitDepth, bool), String> {
        use png::BitDepth::{Eight, Sixteen};
        use png::ColorType::{Grayscale, Rgba};
        if image.dim != Dim::D2 {
            return Err("PNG files hold planes".to_owned());
        }
        let swapped = image.selects[0] == 6;
        match image.format.fields() {
            (1, 0 | 4 | 9) => Ok((Grayscale, Eight, false)),
            (2, 0 | 4) => Ok((Grayscale, Sixteen, false)),
            (10, 0 | 4 | 9) => Ok((Rgba, Eight, swapped)),
            (12, 0 | 4) => Ok((Rgba, Sixteen, swapped)),
            _ => Err(format!("PNG files don't hold {}", self.format)),
        }
    }

    fn read_png(&self, image: &Image, path: &str) -> Result<Vec<u8>, String> {
        let (color, depth, swapped) = self.channels(image)?;
        let wrong = |what: String| format!("{path}: {what}");
        let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().map_err(|error| wrong(error.to_string()))?;
        let (width, height) = reader.info().size();
        if [width, height] != [image.width, image.height] {
            return Err(wrong(format!(
                "it has {width} × {height} pixels, the image {} × {}",
                image.width, image.height
            )));
        }
        let bytes = reader.output_buffer_size().ok_or_else(|| wrong("it is too large".to_owned()))?;
        let mut pixels = vec![0; bytes];
        let frame = reader.next_frame(&mut pixels).map_err(|error| wrong(error.to_string()))?;
        if frame.bit_depth != depth {
            return Err(wrong(format!("it has {:?} bits a component, {} has {depth:?}", frame.bit_depth, self.format)));
        }
        let size = if depth == png::BitDepth::Sixteen { 2 } else { 1 };
        let texels = pixels.chunks_exact(frame.color_type.samples() * size);
        let mut plain: Vec<u8> = match color {
            png::ColorType::Grayscale => texels.flat_map(|texel| texel[..size].to_vec()).collect(),
            _ => texels.flat_map(|texel| rgba(texel, frame.color_type, size)).collect(),
        };
        reorder(&mut plain, size, swapped);
        Ok(plain)
    }

    fn write_png(&self, image: &Image, plain: &[u8]) -> Result<Vec<u8>, String> {
        let (color, depth, swapped) = self.channels(image)?;
        let mut pixels = plain.to_vec();
        reorder(&mut pixels, if depth == png::BitDepth::Sixteen { 2 } else { 1 }, swapped);
        let mut bytes = Cursor::new(Vec::new());
        let mut encoder = png::Encoder::new(&mut bytes, image.width, image.height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
        written.map_err(|error| error.to_string())?;
        Ok(bytes.into_inner())
    }
}

/// A pixel with all four components: grey is red, green and blue, alpha is opaque if there is none.
fn rgba(texel: &[u8], color: png::ColorType, size: usize) -> Vec<u8> {
    let part = |i: usize| texel[i * size..(i + 1) * size].to_vec();
    let opaque = vec![0xff; size];
    let parts = match color {
        png::ColorType::Grayscale => [part(0), part(0), part(0), opaque],
        png::ColorType::GrayscaleAlpha => [part(0), part(0), part(0), part(1)],
        png::ColorType::Rgba => [part(0), part(1), part(2), part(3)],
        _ => [part(0), part(1), part(2), opaque],
    };
    parts.concat()
}

/// From the order of a PNG to that of memory, or back: components of two bytes have the high one first in files, and
/// red and blue may change places.
fn reorder(pixels: &mut [u8], size: usize, swapped: bool) {
    if size == 2 {
        pixels.chunks_exact_mut(2).for_each(|component| component.swap(0, 1));
    }
    if swapped {
        for texel in pixels.chunks_exact_mut(4 * size) {
            let (red, rest) = texel.split_at_mut(2 * size);
            red[..size].swap_with_slice(&mut rest[..size]);
        }
    }
}

fn is_png(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{path}: {error}"))
}

/// The sampler that a list of words describes.
pub fn sampler(words: &str) -> Result<Sampler, String> {
    // Levels are not limited, as OpenCL's samplers have it.
    let mut sampler = Sampler { max_lod: 0xfff, border: Border::TransparentBlack, ..Sampler::default() };
    for word in words.split(',') {
        match word {
            "nearest" => (sampler.mag_filter, sampler.min_filter) = (XyFilter::Point, XyFilter::Point),
            "linear" => (sampler.mag_filter, sampler.min_filter) = (XyFilter::Bilinear, XyFilter::Bilinear),
            "normalized" => sampler.unnormalized = false,
            "unnormalized" => sampler.unnormalized = true,
            "repeat" => sampler.clamp = [Clamp::Wrap; 3],
            "mirror" => sampler.clamp = [Clamp::Mirror; 3],
            "edge" => sampler.clamp = [Clamp::LastTexel; 3],
            "border" => sampler.clamp = [Clamp::Border; 3],
            _ => {
                return Err(format!(
                    "'{word}' is none of nearest, linear, normalized, unnormalized, repeat, mirror, edge, border"
                ));
            }
        }
    }
    Ok(sampler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_are_made_of_words() {
        let made = sampler("linear,edge,unnormalized").unwrap();
        assert!(made.unnormalized && made.clamp == [Clamp::LastTexel; 3]);
        assert_eq!((made.mag_filter, made.min_filter), (XyFilter::Bilinear, XyFilter::Bilinear));
        assert!(sampler("linear,clamped").unwrap_err().contains("'clamped' is none of"));
    }

    #[test]
    fn bytes_change_places() {
        let mut pixels: Vec<u8> = (0..16).collect();
        reorder(&mut pixels, 2, true);
        assert_eq!(pixels, [5, 4, 3, 2, 1, 0, 7, 6, 13, 12, 11, 10, 9, 8, 15, 14]);
        assert_eq!(rgba(&[7, 9], png::ColorType::GrayscaleAlpha, 1), [7, 7, 7, 9]);
        assert_eq!(rgba(&[1, 2, 3], png::ColorType::Rgb, 1), [1, 2, 3, 255]);
    }

    #[test]
    fn shapes_are_checked() {
        let error = |shape: &str| Picture::new(shape, "", 0).unwrap_err();
        assert!(error("rgba8").contains("one to three sizes"));
        assert!(error("rgba7,4").contains("no format 'rgba7'"));
        assert!(error("rgba8,0,4").contains("size"));
        assert!(Picture::new("r32f,4,4,4", "", 0).is_ok());
        let volume = Picture::new("rgba8,4,4,4", "", 0).unwrap();
        assert!(volume.check_output("a.PNG").unwrap_err().contains("planes") && volume.check_output("a.raw").is_ok());
    }
}
