//! Whole pictures against those that were looked at, `tests/golden/*.png`: on gfx600 and gfx900, with both engines.
//!
//! They need not be the same to the bit, but nobody may see a difference ([`picture`]). `BLESS=1 cargo test --test
//! golden` writes them anew; look at them before they are committed.

mod charts;
mod picture;
#[path = "../../examples/triangle/raster.rs"]
mod raster;
#[path = "../../examples/triangle/scene.rs"]
mod scene;

use gcnjit::{Device, Engine, Target};
use picture::Picture;
use std::path::{Path, PathBuf};

/// Columns and rows: even, as the rasteriser wants them.
const SIZE: [usize; 2] = [240, 136];
/// Levels of the scene's texture.
const LEVELS: u32 = 7;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png")
}

fn kept(name: &str) -> Picture {
    Picture::read(&golden(name)).unwrap_or_else(|error| {
        panic!("{}: {error}; BLESS=1 cargo test --test golden writes it", golden(name).display())
    })
}

/// Draws a picture on both targets and engines and compares each with the one that is kept.
fn check(name: &str, draw: impl Fn(Target, Engine) -> Picture) {
    if std::env::var_os("BLESS").is_some() {
        draw(Target::Gfx900, Engine::Interp).write(&golden(name));
    }
    let expected = kept(name);
    for target in [Target::Gfx600, Target::Gfx900] {
        for engine in [Engine::Interp, Engine::Jit] {
            let got = draw(target, engine);
            let difference = got.difference(&expected);
            if difference.as_ref().is_ok_and(|difference| difference.is_invisible()) {
                continue;
            }
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}.{engine:?}.png", target.name()));
            got.write(&file);
            panic!(
                "{} {engine:?}: {} is not {}: {difference:?}; BLESS=1 cargo test --test golden accepts what is drawn now",
                target.name(),
                file.display(),
                golden(name).display(),
            );
        }
    }
}

fn scene(shaders: &str, levels: Option<u32>, target: Target, engine: Engine) -> Picture {
    let file = format!("{}/kernels/graphics/{shaders}.{}.so", env!("CARGO_MANIFEST_DIR"), target.name());
    let frame = scene::render(&Device::new().unwrap(), &file, engine, SIZE, levels).unwrap();
    Picture::new(SIZE[0], &frame.colour)
}

#[test]
fn a_scene_in_the_colours_of_vertices() {
    check("scene_colour", |target, engine| scene("colour", None, target, engine));
}

#[test]
fn a_scene_with_a_texture() {
    check("scene_texture", |target, engine| scene("texture", Some(LEVELS), target, engine));
}

#[test]
fn a_floor_with_levels() {
    check("floor_trilinear", |target, engine| charts::floor(target, engine, SIZE, &charts::trilinear(), 0.0));
}

#[test]
fn a_floor_with_an_anisotropic_filter() {
    check("floor_anisotropic", |target, engine| charts::floor(target, engine, SIZE, &charts::anisotropic(), 0.0));
}

#[test]
fn a_cube_map_without_seams() {
    check("cube_seamless", |target, engine| charts::panorama(target, engine, true));
}

/// What differs visibly is told apart: the whole picture a bit, or a part of it much.
#[test]
fn visible_changes_are_seen() {
    let differs = |name: &str, what: &str, change: &dyn Fn(&Picture) -> Picture| {
        let picture = kept(name);
        let difference = change(&picture).difference(&picture).unwrap();
        assert!(!difference.is_invisible(), "{name} {what}: {difference:?}");
    };
    for name in ["scene_colour", "scene_texture", "floor_trilinear", "floor_anisotropic", "cube_seamless"] {
        differs(name, "a pixel to the right", &|picture| {
            let mut pixels = picture.pixels.clone();
            pixels.rotate_right(1);
            Picture { pixels, ..*picture }
        });
        differs(name, "three percent darker", &|picture| {
            let darker = |pixel: &[u8; 3]| pixel.map(|value| (f32::from(value) * 0.97).round() as u8);
            Picture { pixels: picture.pixels.iter().map(darker).collect(), ..*picture }
        });
        differs(name, "with a square of eight by eight pixels brighter", &|picture| {
            let mut pixels = picture.pixels.clone();
            for row in pixels.chunks_mut(picture.width).skip(60).take(8) {
                row[100..108].iter_mut().flatten().for_each(|value| *value = value.saturating_add(12));
            }
            Picture { pixels, ..*picture }
        });
    }
    let jit = (Target::Gfx900, Engine::Jit);
    for (name, sampler) in [("floor_trilinear", charts::trilinear()), ("floor_anisotropic", charts::anisotropic())] {
        differs(name, "a texel off", &|_| charts::floor(jit.0, jit.1, SIZE, &sampler, 1.0));
    }
    differs("floor_anisotropic", "not anisotropic", &|_| charts::floor(jit.0, jit.1, SIZE, &charts::trilinear(), 0.0));
    differs("scene_texture", "with one level", &|_| scene("texture", Some(1), jit.0, jit.1));
    differs("cube_seamless", "with seams", &|_| charts::panorama(jit.0, jit.1, false));
}

/// What rounding may do is not a difference: all components one less, and a few pixels on the other side of an edge.
#[test]
fn invisible_changes_are_let_through() {
    for name in ["scene_colour", "scene_texture", "floor_trilinear", "floor_anisotropic", "cube_seamless"] {
        let picture = kept(name);
        let mut changed = picture.clone();
        changed.pixels.iter_mut().flatten().for_each(|value| *value = value.saturating_sub(1));
        let count = changed.pixels.len();
        (0..count / 2000).for_each(|i| changed.pixels[i * 1997] = [255, 0, 255]);
        let difference = changed.difference(&picture).unwrap();
        assert!(difference.is_invisible(), "{name}: {difference:?}");
        assert!(difference.worst.0 > 40.0, "{name}: {difference:?}");
    }
}

/// The primaries of sRGB in CIELAB, as they are published to two digits or so (for D65 and two degrees).
#[test]
fn colours_are_where_cielab_has_them() {
    for (colour, published) in [
        ([255, 255, 255], [100.0, 0.0, 0.0]),
        ([0, 0, 0], [0.0, 0.0, 0.0]),
        ([255, 0, 0], [53.24, 80.09, 67.20]),
        ([0, 255, 0], [87.73, -86.18, 83.18]),
        ([0, 0, 255], [32.30, 79.19, -107.86]),
    ] {
        let got = picture::lab(colour);
        assert!(
            got.iter().zip(published).all(|(got, published)| (got - published).abs() < 0.05),
            "{colour:?}: {got:?}"
        );
    }
}
