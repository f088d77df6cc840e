//! Image instructions as LLVM uses them, with the kernels of `kernels/image/`: one instruction each, whose operands LLVM
//! put into registers. On four generations and both engines, against what the intrinsic with these operands means.
//!
//! A kernel's name says what it has: `sample_c_b_cl_o_2d`, `load_mip_cube_a16`, `store_2d_dmask6`.

use gcnjit::interp::Touch;
use gcnjit::interp::memory::Place;
use gcnjit::interp::observe::Step;
use gcnjit::isa::{Gen, Op};
use gcnjit::lockstep::{self, Granularity, Outcome};
use gcnjit::rt::image::sampler::{Border, Clamp, Compare, MipFilter, XyFilter};
use gcnjit::rt::image::{self, Bad, Detail, Dim, Format, Gradients, Image, MicroTile, Request, Sampler, Shape};
use gcnjit::rt::image::{Swizzle, Texel, Tiling, Unsupported};
use gcnjit::rt::{Cause, Env, Trap, Wave};
use gcnjit::{Arg, Buffer, Device, Engine, Error, Launch, Module, Observed, Observer};
use half::f16;

const LANES: usize = 64;
const ENGINES: [Engine; 2] = [Engine::Interp, Engine::Jit];
const DIMS: [(&str, Dim); 8] = [
    ("1d", Dim::D1),
    ("2d", Dim::D2),
    ("3d", Dim::D3),
    ("cube", Dim::Cube),
    ("1darray", Dim::D1Array),
    ("2darray", Dim::D2Array),
    ("2dmsaa", Dim::D2Msaa),
    ("2darraymsaa", Dim::D2MsaaArray),
];

/// What a kernel's name says.
struct Name<'a> {
    verb: &'a str,
    suffixes: Vec<&'a str>,
    dim: Dim,
    dmask: u32,
    d16: bool,
    a16: bool,
    wide: bool,
    tfe: bool,
}

impl<'a> Name<'a> {
    fn parse(name: &'a str) -> Name<'a> {
        let parts: Vec<&str> = name.split('_').collect();
        let at =
            parts.iter().position(|part| DIMS.iter().any(|(dim, _)| dim == part)).expect("a dimension in the name");
        let (suffixes, more) = (&parts[1..at], &parts[at + 1..]);
        let has = |what: &str| more.contains(&what);
        let given = more.iter().find_map(|part| part.strip_prefix("dmask"));
        Name {
            verb: parts[0],
            suffixes: suffixes.to_vec(),
            dim: DIMS[DIMS.iter().position(|(dim, _)| *dim == parts[at]).expect("as above")].1,
            dmask: given.map_or(15, |dmask| dmask.parse().expect("a number")),
            d16: has("d16"),
            a16: has("a16"),
            wide: has("x2"),
            tfe: has("tfe"),
        }
    }

    fn has(&self, suffix: &str) -> bool {
        self.suffixes.contains(&suffix)
    }

    fn samples(&self) -> bool {
        matches!(self.verb, "sample" | "gather4" | "getlod")
    }

    fn coordinates(&self) -> usize {
        if self.dim == Dim::D3 { 3 } else { 1 + usize::from(self.dim.has_rows()) }
    }

    /// The components that DMASK asks for.
    fn asked(&self, components: [u32; 4]) -> Vec<u32> {
        (0..4).filter(|i| self.dmask >> i & 1 != 0).map(|i| components[i]).collect()
    }
}

/// What a lane gives the instruction, by its meaning.
#[derive(Clone, Copy, Default)]
struct Values {
    data: [u32; 4],
    offset: u32,
    bias: f32,
    compare: f32,
    derivatives: [[f32; 3]; 2],
    /// Floats for samplers, integers for others.
    coordinates: [f32; 3],
    slice: f32,
    fragment: f32,
    /// Mip level, level of detail, or its limit.
    level: f32,
}

/// The image and the memory that it is in.
struct Scene<'a> {
    device: &'a Device,
    image: Image,
    memory: Buffer<u32>,
}

/// The bits of a component of a texel: all different, and floats of a moderate size.
fn component(texel: Texel, i: usize) -> u32 {
    let number = ((texel.level * 16 + texel.z) * 16 + texel.y) * 16 + texel.x;
    ((number * 4 + texel.sample) as f32 / 32.0 + i as f32 * 256.0).to_bits()
}

fn components(texel: Texel) -> [u32; 4] {
    [0, 1, 2, 3].map(|i| component(texel, i))
}

fn shape(name: &Name<'_>, tiling: Tiling) -> Shape {
    let (data, number) = match (name.verb, name.wide) {
        ("atomic", false) => (4, 4),
        ("atomic", true) => (11, 4),
        _ => (14, 7),
    };
    let dim = name.dim;
    Shape {
        dim,
        format: Format::new(data, number, Gen::Gfx6).expect("a format of all generations"),
        width: 8,
        height: if dim.has_rows() { 8 } else { 1 },
        depth: if dim == Dim::D3 { 4 } else { 1 },
        layers: match dim {
            Dim::Cube => 12,
            _ if dim.has_slices() => 5,
            _ => 1,
        },
        levels: if dim.is_msaa() { 1 } else { 3 },
        samples: if dim.is_msaa() { 4 } else { 1 },
        tiling,
        pitch: None,
    }
}

impl<'a> Scene<'a> {
    fn new(name: &Name<'_>, device: &'a Device, generation: Gen) -> Scene<'a> {
        let tilings = match (name.dim.is_msaa(), generation) {
            (false, _) => [Tiling::Linear; 2],
            (true, Gen::Gfx9) => [Tiling::Block4K(Swizzle::S), Tiling::Block64K(Swizzle::S)],
            (true, _) => [Tiling::Micro(MicroTile::Depth), Tiling::Micro(MicroTile::Thin)],
        };
        let make = |base: u64| {
            let image = tilings.iter().find_map(|tiling| Image::new(generation, base, &shape(name, *tiling)).ok());
            image.expect("an image of this generation")
        };
        let memory = device.buffer::<u32>(make(0).bytes() as usize / 4).expect("memory");
        let scene = Scene { image: make(memory.address()), memory, device };
        for texel in scene.texels() {
            let words = scene.image.format.bytes() / 4;
            scene.memory.write_at(scene.word(texel), &components(texel)[..words]);
        }
        scene
    }

    fn texels(&self) -> Vec<Texel> {
        let image = &self.image;
        let mut texels = Vec::new();
        for level in 0..image.levels {
            let [width, height, depth] = image.size(level);
            let slices = if image.dim.has_slices() { image.layers() } else { depth };
            for i in 0..width * height * slices * image.samples {
                let (sample, i) = (i % image.samples, i / image.samples);
                let (x, y, z) = (i % width, i / width % height, i / width / height);
                texels.push(Texel { x, y, z, level, sample });
            }
        }
        texels
    }

    /// Where a texel is in the memory.
    fn word(&self, texel: Texel) -> usize {
        ((self.image.address(texel) - self.image.base) / 4) as usize
    }

    /// The texel that integers name, if there is one: of a cube by 8 · cube + face.
    fn texel(&self, name: &Name<'_>, values: &Values) -> Option<Texel> {
        let [x, y, mut z] = values.coordinates.map(|value| value as u32);
        let level = if name.has("mip") { values.level as u32 } else { 0 };
        if name.dim.has_slices() {
            z = values.slice as u32;
        }
        if name.dim == Dim::Cube {
            z = if z % 8 < 6 { z / 8 * 6 + z % 8 } else { u32::MAX };
        }
        let texel = Texel { x, y, z, level, sample: values.fragment as u32 };
        self.texels().contains(&texel).then_some(texel)
    }
}

/// A number for each lane and purpose, from 0 to `limit` - 1.
fn number(lane: usize, purpose: usize, limit: u32) -> u32 {
    let mixed = (lane as u32 + 1).wrapping_mul(0x9e37_79b1) ^ (purpose as u32 + 1).wrapping_mul(0x85eb_ca6b);
    (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d) % limit
}

/// What the lanes are given. Values that go through 16 bits are such.
fn values(name: &Name<'_>, image: &Image) -> Vec<Values> {
    let rounded = |x: f32| if name.a16 { f16::from_f32(x).to_f32() } else { x };
    let coordinates = name.coordinates();
    let make = |lane: usize| {
        let fraction = |purpose: usize| number(lane, purpose, 64) as f32 / 64.0;
        let mut v = Values {
            data: [0, 1, 2, 3].map(|i| ((lane * 4 + i) as f32 + 0.5).to_bits()),
            offset: number(lane, 9, 4) | number(lane, 10, 4) << 8 | 0x3f << 16,
            bias: rounded(fraction(0) * 2.0),
            compare: fraction(1) * 1500.0,
            ..Values::default()
        };
        for (d, direction) in v.derivatives.iter_mut().enumerate() {
            for (i, slope) in direction.iter_mut().enumerate().take(coordinates) {
                *slope = rounded(0.05 + fraction(10 * d + i) * 0.3);
            }
        }
        if !name.samples() {
            let size = image.size(0);
            // Beyond the edge in one lane of nine.
            v.coordinates =
                std::array::from_fn(
                    |i| if i < coordinates { number(lane, 20 + i, size[i] * 9 / 8) as f32 } else { 0.0 },
                );
            v.slice = number(lane, 30, if name.dim == Dim::Cube { 16 } else { image.layers() + 1 }) as f32;
            v.fragment = if name.dim.is_msaa() { number(lane, 31, image.samples + 1) as f32 } else { 0.0 };
            v.level = number(lane, 32, 4) as f32;
            return v;
        }
        // Quads that lie side by side, of pixels apart by more and more.
        let (x, y) = ((lane / 4 % 4 * 2 + lane % 2) as f32, (lane / 16 * 2 + lane / 2 % 2) as f32);
        let origin = if name.dim == Dim::Cube { 1.0 } else { 0.0 };
        let places = [origin + x * (0.05 + x * 0.008), origin + y * (0.06 + y * 0.006) + x * 0.01, x * 0.05 + y * 0.07];
        v.coordinates = std::array::from_fn(|i| if i < coordinates { rounded(places[i]) } else { 0.0 });
        v.slice = number(lane, 30, if name.dim == Dim::Cube { 14 } else { image.layers() }) as f32;
        v.level = rounded(fraction(33) * 2.0);
        v
    };
    (0..LANES).map(make).collect()
}

/// The dwords that a lane gives its kernel: the operands of the intrinsic, in its order.
fn operands(name: &Name<'_>, v: &Values) -> Vec<u32> {
    let mut dwords = Vec::new();
    let value = |x: f32| match (name.samples(), name.a16) {
        (true, true) => f16::from_f32(x).to_bits().into(),
        (true, false) => x.to_bits(),
        (false, _) => x as u32,
    };
    match name.verb {
        "store" => {
            let half = |bits: u32| f16::from_f32(f32::from_bits(bits)).to_bits().into();
            dwords.extend(
                v.data[..name.dmask.count_ones() as usize].iter().map(|x| if name.d16 { half(*x) } else { *x }),
            );
        }
        "atomic" => {
            let count = if name.has("cmpswap") { 2 } else { 1 } * if name.wide { 2 } else { 1 };
            dwords.extend(&v.data[..count]);
        }
        "getresinfo" => return vec![v.level as u32],
        _ => {}
    }
    dwords.extend(name.has("o").then_some(v.offset));
    dwords.extend(name.has("b").then(|| value(v.bias)));
    dwords.extend(name.has("c").then(|| v.compare.to_bits()));
    if name.has("d") || name.has("cd") {
        dwords.extend(
            v.derivatives.iter().flat_map(|direction| direction[..name.coordinates()].iter().map(|x| value(*x))),
        );
    }
    dwords.extend(v.coordinates[..name.coordinates()].iter().map(|x| value(*x)));
    dwords.extend(name.dim.has_slices().then(|| value(v.slice)));
    dwords.extend(name.dim.is_msaa().then(|| value(v.fragment)));
    dwords.extend((name.has("mip") || name.has("l") || name.has("cl")).then(|| value(v.level)));
    dwords
}

fn sampler() -> Sampler {
    Sampler {
        compare: Compare::LessEqual,
        max_lod: 0xfff,
        mag_filter: XyFilter::Bilinear,
        min_filter: XyFilter::Bilinear,
        mip_filter: MipFilter::Linear,
        ..Sampler::default()
    }
}

/// What the sampler makes of lane `lane`'s values.
fn sampled(name: &Name<'_>, image: &Image, all: &[Values], lane: usize) -> [u32; 4] {
    let v = &all[lane];
    let gradients = match (name.has("d"), name.has("cd")) {
        (true, _) => Gradients::new(v.derivatives[0], v.derivatives[1]),
        (_, true) => Gradients::new(all[lane & !3].derivatives[0], all[lane & !3].derivatives[1]),
        _ => Gradients::of_quad([0, 1, 2, 3].map(|i| all[lane & !3 | i].coordinates)),
    };
    let request = Request {
        coordinates: v.coordinates,
        slice: v.slice,
        offset: if name.has("o") { [(v.offset & 63) as i8, (v.offset >> 8 & 63) as i8, -1] } else { [0; 3] },
        detail: match () {
            () if name.has("lz") => Detail::Zero,
            () if name.has("l") => Detail::Given(v.level),
            () => Detail::Footprint { gradients, bias: if name.has("b") { v.bias } else { 0.0 } },
        },
        min_lod: if name.has("cl") { v.level } else { 0.0 },
        unnormalized: false,
        reference: name.has("c").then_some(v.compare),
    };
    let fetch = &mut |texel: Texel| Ok::<_, Bad>(components(texel));
    let result = match name.verb {
        "gather4" => image::gather(image, &sampler(), &request, name.dmask.trailing_zeros() as usize, fetch),
        "getlod" => Ok(image::level_of_detail(image, &sampler(), &request)),
        _ => image::sample(image, &sampler(), &request, fetch),
    };
    result.expect("a sample")
}

/// What a lane's kernel returns, but for stores and atomics.
fn expected(name: &Name<'_>, scene: &Scene<'_>, all: &[Values], lane: usize) -> Vec<u32> {
    let half = |bits: u32| u32::from(f16::from_f32(f32::from_bits(bits)).to_bits());
    let image = &scene.image;
    let mut result = match name.verb {
        "gather4" => sampled(name, image, all, lane).to_vec(),
        "load" => name.asked(scene.texel(name, &all[lane]).map_or([0; 4], components)),
        "getresinfo" => {
            let size = (0..image.levels).find(|level| *level == all[lane].level as u32).map(|level| image.size(level));
            let [width, height, depth] = size.unwrap_or([0; 3]);
            let slices = if name.dim.has_slices() && size.is_some() { image.layers() } else { depth };
            vec![width, height, slices, image.levels]
        }
        _ => name.asked(sampled(name, image, all, lane)),
    };
    if name.d16 {
        result = result.into_iter().map(half).collect();
    }
    if name.tfe {
        result.push(0);
    }
    result
}

/// Runs a kernel on one wave; what it returns.
fn run(module: &Module, kernel: &str, scene: &Scene<'_>, inputs: &[u32], per_lane: usize, engine: Engine) -> Vec<u32> {
    let (inputs, outputs) = (
        scene.device.buffer_from(inputs).expect("memory"),
        scene.device.buffer_from(&vec![0xcccc_cccc; LANES * per_lane.max(1)]).expect("memory"),
    );
    let generation = module.target().generation();
    let (resource, sampler) = (scene.image.encode(), sampler().encode(generation));
    let kernel = module.kernel(kernel).expect("a kernel of the module");
    let launch = kernel.launch().grid(LANES as u32).block(LANES as u32).engine(engine).arg(&inputs).arg(&outputs);
    launch.arg(Arg::value(&resource)).arg(Arg::value(&sampler)).run().expect("a launch");
    outputs.read()
}

/// The memory that stores leave, and that the store has left.
fn check_store(name: &Name<'_>, scene: &Scene<'_>, all: &[Values], what: &str) {
    for texel in scene.texels() {
        // The highest lane wins.
        let writer = all.iter().rev().find(|values| scene.texel(name, values) == Some(texel));
        let want = writer.map_or(components(texel), |values| {
            let mut given = values.data.iter();
            let mut next = |i: usize| if name.dmask >> i & 1 != 0 { *given.next().expect("four") } else { 0 };
            [next(0), next(1), next(2), next(3)]
        });
        let mut got = [0; 4];
        scene.memory.read_at(scene.word(texel), &mut got);
        assert_eq!(got, want, "{what}: {texel:?}");
    }
}

/// Lanes in order, on a copy of the memory: what each sees, and what is there in the end.
fn check_atomics(name: &Name<'_>, scene: &Scene<'_>, before: Vec<u32>, all: &[Values], got: &[u32], what: &str) {
    let words = if name.wide { 2 } else { 1 };
    let number = |dwords: &[u32]| dwords.iter().rev().fold(0u64, |sum, dword| sum << 32 | u64::from(*dword));
    let mut memory = before;
    for (lane, values) in all.iter().enumerate() {
        let seen = number(&got[lane * words..][..words]);
        let Some(texel) = scene.texel(name, values) else {
            assert_eq!(seen, 0, "{what}: lane {lane} is out of range");
            continue;
        };
        let at = scene.word(texel);
        let (old, data) = (number(&memory[at..][..words]), number(&values.data[..words]));
        let new = match name.suffixes[0] {
            "add" if name.wide => old.wrapping_add(data),
            "add" => (old as u32).wrapping_add(data as u32).into(),
            "umax" => old.max(data),
            _ if old == number(&values.data[words..][..words]) => data,
            _ => old,
        };
        assert_eq!(seen, old, "{what}: lane {lane}");
        for (i, word) in memory[at..][..words].iter_mut().enumerate() {
            *word = (new >> (32 * i)) as u32;
        }
    }
    assert!(scene.memory.read() == memory, "{what}: memory");
}

fn check(device: &Device, module: &Module, kernel: &str, engine: Engine) {
    let name = Name::parse(kernel);
    let scene = Scene::new(&name, device, module.target().generation());
    let what = format!("{} {kernel} by {engine:?}", module.target());
    let mut all = values(&name, &scene.image);
    if name.has("cmpswap") {
        let words = if name.wide { 2 } else { 1 };
        for values in all.iter_mut().step_by(2) {
            let found = scene.texel(&name, values).map_or([0; 4], components);
            values.data[words..2 * words].copy_from_slice(&found[..words]);
        }
    }
    let inputs: Vec<u32> = all.iter().flat_map(|values| operands(&name, values)).collect();
    let before = scene.memory.read();
    match name.verb {
        "store" => {
            run(module, kernel, &scene, &inputs, 0, engine);
            check_store(&name, &scene, &all, &what);
        }
        "atomic" => {
            let got = run(module, kernel, &scene, &inputs, if name.wide { 2 } else { 1 }, engine);
            check_atomics(&name, &scene, before, &all, &got, &what);
        }
        _ => {
            let want: Vec<u32> = (0..LANES).flat_map(|lane| expected(&name, &scene, &all, lane)).collect();
            // 16-bit results are stored as dwords.
            let got = run(module, kernel, &scene, &inputs, want.len() / LANES, engine);
            assert_eq!(got, want, "{what}");
            let different: std::collections::HashSet<&u32> = want.iter().collect();
            // Comparisons give 0 or 1, sizes differ by level.
            let least = if name.has("c") || name.verb == "getresinfo" { 2 } else { 5 };
            assert!(different.len() >= least, "{what}: the results say nothing");
        }
    }
}

#[test]
fn operands_are_where_llvm_puts_them() {
    for target in ["gfx600", "gfx700", "gfx803", "gfx900"] {
        let path = format!("{}/kernels/image/image.{target}.co", env!("CARGO_MANIFEST_DIR"));
        let device = Device::with_threads(1).expect("a device");
        let module = Module::open(&device, &path).expect("a module");
        assert!(module.kernels().count() >= 55, "{path}");
        for kernel in module.kernels() {
            ENGINES.iter().for_each(|engine| check(&device, &module, kernel, *engine));
        }
    }
}

/// Every instruction of a launch, and what image instructions said that they touched.
#[derive(Default)]
struct Touched(Vec<(usize, Place, usize)>);

impl Observer for Touched {
    fn after(&mut self, _: &Wave, step: &Step, _: &Env<'_>) {
        if matches!(step.inst.op, Op::Mimg(_)) {
            assert!(step.reads.vgprs().count() >= 2 && step.reads.sgprs().count() >= 8, "{:?}", step.reads);
            let touch = |touch: &Touch| (touch.lane.expect("a lane"), touch.place, touch.bytes);
            self.0.extend(step.touches.iter().map(touch));
        }
    }
}

/// Observers see the texels; in lockstep both engines do the same.
#[test]
fn tools_see_image_instructions() {
    let device = Device::with_threads(1).expect("a device");
    let path = format!("{}/kernels/image/image.gfx900.co", env!("CARGO_MANIFEST_DIR"));
    let module = Module::open(&device, &path).expect("a module");
    for kernel in ["load_2d", "store_2d", "atomic_add_2d", "sample_d_2d", "load_mip_cube_a16", "gather4_2d_dmask4"] {
        let name = Name::parse(kernel);
        let scene = Scene::new(&name, &device, Gen::Gfx9);
        let all = values(&name, &scene.image);
        let inputs: Vec<u32> = all.iter().flat_map(|values| operands(&name, values)).collect();
        let (inputs, outputs) = (device.buffer_from(&inputs).unwrap(), device.buffer::<u32>(LANES * 4).unwrap());
        let (resource, sampler) = (scene.image.encode(), sampler().encode(Gen::Gfx9));
        let kernel = module.kernel(kernel).unwrap();
        let launch = kernel.launch().grid(64).block(64).arg(&inputs).arg(&outputs);
        let launch = launch.arg(Arg::value(&resource)).arg(Arg::value(&sampler)).prepare().unwrap();
        match lockstep::run(&launch, Granularity::Instruction).unwrap() {
            Outcome::Same { counts, .. } => assert!(counts.instructions > 10),
            Outcome::Different(divergence) => panic!("{divergence}"),
        }
        let observed = Observed::new(Touched::default());
        launch.run_with(&observed).unwrap();
        let Touched(touched) = observed.into_observer();
        let places = |lane: usize| touched.iter().filter(move |touch| touch.0 == lane).map(|touch| (touch.1, touch.2));
        for (lane, values) in all.iter().enumerate() {
            let seen: Vec<(Place, usize)> = places(lane).collect();
            if name.samples() {
                assert!((1..=8).contains(&seen.len()), "{} lane {lane}: {seen:?}", kernel.name());
                continue;
            }
            let texel = scene.texel(&name, values);
            let want = texel.map(|texel| (Place::Memory(scene.image.address(texel)), scene.image.format.bytes()));
            assert_eq!(seen, Vec::from_iter(want), "{} lane {lane}", kernel.name());
        }
    }
}

/// The last entry that a sampler can name.
const ENTRY: u16 = 4095;
/// What the texels of [`beyond`]'s image are made of.
const INSIDE: u32 = 0x4048_0000;

/// Samples an image of four dwords a texel with the number format given; odd lanes are beyond it, where [`ENTRY`] is.
fn beyond(
    (device, module): &(Device, Module),
    number: u8,
    launch: impl Fn(Launch<'_>) -> Result<(), Error>,
) -> Result<Vec<u32>, Error> {
    let generation = module.target().generation();
    let format = Format::new(14, number, generation).expect("a format of all generations");
    let shape = Shape { format, levels: 1, ..shape(&Name::parse("sample_2d"), Tiling::Linear) };
    let make = |base| Image::new(generation, base, &shape).expect("an image of all generations");
    let texels = device.buffer_from(&vec![INSIDE; make(0).bytes() as usize / 4])?;
    let mut image = make(texels.address());
    image.border_order = ORDER;
    let sampler = Sampler { clamp: [Clamp::Border; 3], border: Border::Table(ENTRY), ..Sampler::default() };
    let places: Vec<f32> = (0..LANES).flat_map(|lane| [if lane % 2 == 0 { 0.5 } else { -0.5 }, 0.5]).collect();
    let (inputs, outputs) = (device.buffer_from(&places)?, device.buffer::<u32>(LANES * 4)?);
    let (resource, sampler) = (image.encode(), sampler.encode(generation));
    let kernel = module.kernel("sample_lz_2d")?;
    let described = kernel.launch().grid(LANES as u32).block(LANES as u32).arg(&inputs).arg(&outputs);
    launch(described.arg(Arg::value(&resource)).arg(Arg::value(&sampler)))?;
    Ok(outputs.read())
}

/// Z first and X third: gfx9 has a field for that.
const ORDER: [u8; 4] = [2, 1, 0, 3];

fn border_modules() -> impl Iterator<Item = (Device, Module)> {
    ["gfx600", "gfx700", "gfx803", "gfx900"].into_iter().map(|target| {
        let path = format!("{}/kernels/image/image.{target}.co", env!("CARGO_MANIFEST_DIR"));
        let device = Device::with_threads(1).expect("a device");
        let module = Module::open(&device, &path).expect("a module");
        (device, module)
    })
}

/// Floats as they are, and integers that would be no numbers as floats.
#[test]
fn border_colours_come_from_the_launchs_table() {
    let colours = [(7, [0.25, -2.0, 1e30, 7.5].map(f32::to_bits)), (4, [7, u32::MAX, 0x7f80_0001, 1 << 31])];
    for (module, (number, colour)) in border_modules().flat_map(|module| colours.map(|c| (module.clone(), c))) {
        let table = module.0.buffer::<[u32; 4]>(usize::from(ENTRY) + 1).unwrap();
        table.write_at(ENTRY.into(), &[colour]);
        let outside = match module.1.target().generation() {
            Gen::Gfx9 => ORDER.map(|component| colour[usize::from(component)]),
            _ => colour,
        };
        let want = [[INSIDE; 4], outside].repeat(LANES / 2);
        for engine in ENGINES {
            let got = beyond(&module, number, |launch| launch.engine(engine).border_colors(&table).run().map(|_| ()));
            assert_eq!(got.unwrap(), want.as_flattened(), "{} {engine:?}", module.1.target());
        }
        let place = Place::Memory(table.address() + 16 * u64::from(ENTRY));
        let observe = |launch: Launch<'_>| {
            let observed = Observed::new(Touched::default());
            launch.border_colors(&table).prepare()?.run_with(&observed)?;
            let Touched(touched) = observed.into_observer();
            let lanes = touched.iter().filter(|touch| (touch.1, touch.2) == (place, 16)).map(|touch| touch.0);
            assert_eq!(lanes.collect::<Vec<_>>(), (1..LANES).step_by(2).collect::<Vec<_>>());
            Ok(())
        };
        assert_eq!(beyond(&module, number, observe).unwrap(), want.as_flattened());
    }
}

/// Without a table, or with one that ends before the entry, the first lane that takes the colour is at fault.
#[test]
fn missing_border_colours_are_faults() {
    for (module, engine) in border_modules().flat_map(|module| ENGINES.map(|engine| (module.clone(), engine))) {
        let fault = |launch: &dyn Fn(Launch<'_>) -> Result<(), Error>| {
            let Err(Error::Fault(stuck)) = beyond(&module, 7, launch) else { panic!("{engine:?}") };
            assert!(
                stuck.fault.instruction.as_ref().is_some_and(|text| text.starts_with("image_sample_lz")),
                "{stuck}"
            );
            let Trap::Fault { cause, address, lane, .. } = stuck.fault.trap else { panic!("{stuck}") };
            (cause, address, lane)
        };
        let none = fault(&|launch| launch.engine(engine).run().map(|_| ()));
        assert_eq!(none, (Cause::Image(Unsupported::BorderTable(ENTRY)), 0, 1));
        let short = module.0.buffer::<[u32; 4]>(ENTRY.into()).unwrap();
        let unmapped = fault(&|launch| launch.engine(engine).border_colors(&short).run().map(|_| ()));
        assert_eq!(unmapped, (Cause::Unmapped, short.address() + 16 * u64::from(ENTRY), 1));
    }
}
