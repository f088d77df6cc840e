//! Shaders that LLVM has built, for PAL and for Mesa: what they export, on four targets and with both engines, and what
//! is refused.

use gcnjit::image::{Border, Clamp, Format, Image, Shape};
use gcnjit::rt::code_object::{PixelInput, Stage};
use gcnjit::rt::export::{GsOp, Target as To};
use gcnjit::rt::image::Sampler;
use gcnjit::rt::parameter::{self, Area};
use gcnjit::rt::{ArgError, Cause, DispatchError, ShaderError, Trap};
use gcnjit::{Device, Engine, Error, Export, Given, Kernel, Message, Module, ShaderWave};
use half::f16;
use std::time::Duration;

const TARGETS: [&str; 4] = ["gfx600", "gfx700", "gfx803", "gfx900"];
const ENGINES: [Engine; 3] = [Engine::Jit, Engine::Interp, Engine::Check];

fn module(file: &str) -> Module {
    Module::open(&Device::new().unwrap(), format!("kernels/graphics/{file}.so")).unwrap()
}

fn exports(given: &[Given]) -> Vec<&Export> {
    let export = |given: &'_ Given| matches!(given, Given::Export(_));
    assert!(given.iter().all(export), "{given:?}");
    given.iter().filter_map(|given| if let Given::Export(export) = given { Some(&**export) } else { None }).collect()
}

/// The files that have a shader of flat.ll.
fn flat(shader: &str) -> impl Iterator<Item = Kernel> + '_ {
    let files = TARGETS.into_iter().flat_map(move |t| [format!("flat.{t}"), format!("{shader}.{t}.mesa")]);
    files.map(move |file| module(&file).kernel(shader).unwrap())
}

#[test]
fn vertices_are_exported() {
    for (shader, engine) in flat("flat_vs").flat_map(|shader| ENGINES.map(|engine| (shader.clone(), engine))) {
        assert_eq!(shader.code().shader.as_ref().unwrap().stage, Stage::Vs);
        let wave = |exec| ShaderWave { vgprs: vec![std::array::from_fn(|lane| lane as u32 % 3)], exec, ..wave() };
        let mut given = Vec::new();
        let launch = shader.shade().wave(wave(0b111)).wave(wave(1 << 63)).engine(engine);
        let stats = launch.run(&mut given).unwrap();
        assert_eq!((stats.waves, stats.wave_instructions > 10), (2, true));
        let [position, colour, second, _] = exports(&given)[..] else { panic!("{given:?}") };
        assert_eq!((position.target, position.done, position.lanes, position.wave), (To::Position(0), true, 7, 0));
        let corner = |export: &Export, lane| [0, 1, 2, 3].map(|c| f32::from_bits(export.channel(lane, c).unwrap()));
        let corners = [0, 1, 2].map(|lane| corner(position, lane));
        assert_eq!(corners, [[-1.0, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]]);
        assert_eq!((colour.target, corner(colour, 1)), (To::Parameter(0), [0.0, 1.0, 0.0, 1.0]));
        assert_eq!((second.wave, second.lanes, corner(second, 63)), (1, 1 << 63, [-1.0, -1.0, 0.0, 1.0]));
    }
}

/// A texture that is all border, of the colour that the launch's table has.
#[test]
fn textures_take_border_colours_from_the_launchs_table() {
    for (target, engine) in TARGETS.into_iter().flat_map(|target| ENGINES.map(|engine| (target, engine))) {
        let device = Device::new().unwrap();
        let module = Module::open(&device, format!("kernels/graphics/texture.{target}.so")).unwrap();
        let shader = module.kernel("texture_ps").unwrap();
        let generation = module.target().generation();
        let shape = Shape::plane(Format::new(14, 7, generation).unwrap(), 16, 1);
        let image = Image::new(&device, module.target(), &shape).unwrap();
        let sampler = Sampler { clamp: [Clamp::Border; 3], border: Border::Table(1), ..Sampler::default() };
        // Texture coordinates of -1, and white.
        let lds = parameter::lay_out(1, 2, |_, parameter, _| [if parameter == 0 { -1.0 } else { 1.0 }, 0.0, 0.0]);
        let mut wave = pixels(&shader, lds, 0, [|_| 0.0; 2]);
        wave.sgprs.truncate(1);
        wave.sgprs.splice(..0, image.description().encode().into_iter().chain(sampler.encode(generation)));
        let table = device.buffer_from(&[[9.0f32; 4], [0.25, 0.5, 2.0, 1.0]]).unwrap();
        let mut given = Vec::new();
        let launch = shader.shade().wave(wave).engine(engine);
        launch.clone().border_colors(&table).run(&mut given).unwrap();
        let export = *exports(&given).last().unwrap();
        let colour = [0, 1, 2].map(|channel| f16::from_bits(export.channel(5, channel).unwrap() as u16).to_f32());
        assert_eq!(colour, [0.25, 0.5, 2.0], "{target} {engine:?}");
        let error = launch.run(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("there is no table of border colours for entry 1"), "{error}");
    }
}

fn wave() -> ShaderWave {
    ShaderWave::default()
}

/// A wave of a pixel shader with these parameters and coordinates.
fn pixels(shader: &Kernel, lds: Vec<u8>, begins: u16, [i, j]: [fn(usize) -> f32; 2]) -> ShaderWave {
    let code = shader.code().shader.as_ref().unwrap();
    let place = code.pixel_input(PixelInput::PerspCenter).unwrap();
    let mut vgprs = vec![[0; 64]; place];
    vgprs.extend([i, j].map(|of| std::array::from_fn(|lane| of(lane).to_bits())));
    // For Mesa, two SGPRs of the driver's are before the shader's own.
    let sgprs = vec![Area::new(0, begins).0; 3];
    ShaderWave { sgprs, vgprs, exec: !0, m0: 0, lds }
}

#[test]
fn pixels_are_interpolated_and_discarded() {
    for (shader, engine) in flat("flat_ps").flat_map(|shader| ENGINES.map(|engine| (shader.clone(), engine))) {
        // Two triangles: the first 32 lanes are in the one that grows redder from lane to lane.
        let lds = parameter::lay_out(2, 1, |primitive, _, channel| match (primitive, channel) {
            (0, 0) => [0.0, 1.0, 0.0],
            (0, 1) => [0.0, 0.0, 2.0],
            (_, 2) => [5.0, 6.0, 7.0],
            _ => [0.5; 3],
        });
        let wave = pixels(&shader, lds, 1 << 8, [|lane| lane as f32 / 32.0, |lane| 1.0 - lane as f32 / 64.0]);
        let mut given = Vec::new();
        shader.shade().wave(wave).engine(engine).run(&mut given).unwrap();
        let last = *exports(&given).last().unwrap();
        assert_eq!((last.target, last.done, last.valid_mask, last.channels), (To::Mrt(0), true, true, 15));
        assert_eq!(last.lanes, !0 << 8, "below a quarter nothing is left");
        for lane in 8..64 {
            let [r, g, b, a] = [0, 1, 2, 3].map(|c| f32::from_bits(last.channel(lane, c).unwrap()));
            let expected = match lane < 32 {
                true => [lane as f32 / 32.0, 2.0 - lane as f32 / 32.0],
                false => [0.5, 0.5],
            };
            assert_eq!(([r, g], b, a), (expected, 5.0, 1.0), "lane {lane}");
        }
    }
}

#[test]
fn pixels_that_are_all_discarded_leave_an_empty_mask() {
    for (shader, engine) in flat("flat_ps").flat_map(|shader| ENGINES.map(|engine| (shader.clone(), engine))) {
        let mut given = Vec::new();
        let wave = pixels(&shader, parameter::lay_out(1, 1, |_, _, _| [0.0; 3]), 0, [|_| 0.5; 2]);
        shader.shade().wave(wave).engine(engine).run(&mut given).unwrap();
        let last = *exports(&given).last().unwrap();
        assert_eq!((last.done, last.valid_mask, last.lanes), (true, true, 0), "{last:?}");
    }
}

#[test]
fn halves_are_interpolated() {
    for (target, engine) in ["gfx803", "gfx900"].into_iter().flat_map(|t| ENGINES.map(|engine| (t, engine))) {
        let shader = module(&format!("geometry.{target}")).kernel("half_ps").unwrap();
        let half = |x: f32| u32::from(f16::from_f32(x).to_bits());
        // P0 and P10 of x, and P20: the low halves 1, 2 and 4, the high ones a tenth of that.
        let pairs = [(0, [1.0, 0.1]), (4, [2.0, 0.2]), (32, [4.0, 0.4])];
        let mut lds = vec![0; 48];
        for (at, [low, high]) in pairs {
            lds[at..at + 4].copy_from_slice(&(half(low) | half(high) << 16).to_le_bytes());
        }
        let wave = pixels(&shader, lds, 0, [|lane| lane as f32 / 64.0, |_| 0.25]);
        let mut given = Vec::new();
        shader.shade().wave(wave).engine(engine).run(&mut given).unwrap();
        let export = exports(&given)[0];
        for lane in 0..64 {
            let i = lane as f32 / 64.0;
            let [low, high] = [0, 1].map(|c| f32::from_bits(export.channel(lane, c).unwrap()));
            assert!((low - (2.0 + 2.0 * i)).abs() <= 2e-3, "{low} for {i}");
            assert!((high - (0.2 + 0.2 * i)).abs() <= 4e-4, "{high} for {i}");
        }
    }
}

#[test]
fn geometry_shaders_send_messages() {
    for (target, engine) in ["gfx803", "gfx900"].into_iter().flat_map(|t| ENGINES.map(|engine| (t, engine))) {
        let shader = module(&format!("geometry.{target}")).kernel("emit_gs").unwrap();
        let mut given = Vec::new();
        let start = ShaderWave { sgprs: vec![0x35; 8], exec: 0xff, ..wave() };
        shader.shade().wave(wave()).wave(start).engine(engine).run(&mut given).unwrap();
        let message = |op, done, stream| Given::Message(Message { wave: 1, op, done, stream, lanes: 0xff, m0: 0x35 });
        let expected = [message(GsOp::Emit, false, 0), message(GsOp::EmitCut, false, 1), message(GsOp::Nop, true, 0)];
        assert_eq!(given[3..], expected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let shader = module("flat.gfx900").kernel("flat_ps").unwrap();
    let refusal = |wave: ShaderWave| match shader.shade().wave(ShaderWave::default()).wave(wave).run(&mut Vec::new()) {
        Err(Error::Launch { source: DispatchError::Shader { what, .. }, .. }) => what,
        other => panic!("{other:?}"),
    };
    let much = |what, given, room| ShaderError::TooMuch { wave: 1, what, given, room };
    assert_eq!(refusal(ShaderWave { sgprs: vec![0; 17], ..wave() }), much("SGPRs", 17, 16));
    assert_eq!(refusal(ShaderWave { vgprs: vec![[0; 64]; 5], ..wave() }), much("VGPRs", 5, 4));
    assert_eq!(refusal(ShaderWave { lds: vec![0; 65537], ..wave() }), much("bytes of LDS", 65537, 65536));
    let kernel =
        Module::open(&Device::new().unwrap(), "kernels/saxpy/saxpy.gfx900.co").unwrap().kernel("saxpy").unwrap();
    let error = kernel.shade().wave(wave()).run(&mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Launch { source: DispatchError::Shader { what: ShaderError::Kernel, .. }, .. }));
    let error = shader.launch().grid(64).run().unwrap_err();
    assert!(matches!(error, Error::Arg { source: ArgError::Missing(_), .. }), "{error}");
}

#[test]
fn waves_that_get_stuck_are_named() {
    for engine in ENGINES {
        let shader = module("colour.gfx900").kernel("scene_vs").unwrap();
        let mut given = Vec::new();
        // A wave without lanes, and one whose matrix is nowhere.
        let matrix = ShaderWave { sgprs: vec![0, 0, 0, 0, 0x1000, 0x77], exec: 1, ..wave() };
        let Err(Error::Fault(stuck)) = shader.shade().wave(matrix).engine(engine).run(&mut given) else {
            panic!("a fault was expected")
        };
        let Trap::Fault { cause, address, .. } = stuck.fault.trap else { panic!("{stuck}") };
        assert_eq!((cause, address, stuck.fault.wave), (Cause::Unmapped, 0x77_0000_1000, 0));
        assert!(stuck.to_string().contains("colour.gfx900.so: scene_vs: access to unmapped memory"), "{stuck}");
        assert!(given.is_empty());
        let launch = shader.shade().wave(wave()).engine(engine).deadline(Duration::ZERO);
        assert!(matches!(launch.run(&mut given), Err(Error::Stopped(_))));
    }
}

#[test]
fn damaged_files_are_refused_or_loaded() {
    let device = Device::new().unwrap();
    for file in ["flat.gfx900", "flat_ps.gfx600.mesa"] {
        let bytes = std::fs::read(format!("kernels/graphics/{file}.so")).unwrap();
        for len in (0..bytes.len()).step_by(7) {
            let _ = Module::load(&device, &bytes[..len]).map(|module| module.kernels().count());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8) | 0x80;
            let _ = Module::load(&device, damaged).map(|module| module.kernels().count());
        }
        assert!(Module::load(&device, &bytes[..bytes.len() / 2]).is_err());
    }
}
