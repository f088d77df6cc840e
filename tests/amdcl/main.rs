//! Catalyst's OpenCL binaries: files by a writer of our own, since no compiler of them is left, run by both engines.
//!
//! The files are kept in `kernels/containers`; `BLESS=1 cargo test --test amdcl` writes them anew.

mod writer;

use gcnjit::image::{Clamp, Image, MicroTile, Sampler, Shape, Tiling, XyFilter, named};
use gcnjit::rt::code_object::{Abi, ArgKind, Slot, UserSgpr};
use gcnjit::{Arg, Device, Engine, Error, Module, Target};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use writer::{Kernel, binary};

/// y[i] += a * x[i]: UAVs through their table, sizes and arguments through constant buffers.
const SAXPY: Kernel = Kernel {
    name: "saxpy",
    code: "
        s_buffer_load_dword s0, s[4:7], 0x04        // local size
        s_buffer_load_dword s1, s[4:7], 0x18        // global offset
        s_buffer_load_dword s13, s[8:11], 0x00      // x
        s_buffer_load_dword s14, s[8:11], 0x04      // y
        s_buffer_load_dword s15, s[8:11], 0x08      // a
        s_buffer_load_dword s16, s[8:11], 0x0c      // n
        s_load_dwordx4 s[20:23], s[2:3], 0x50       // UAV 10
        s_load_dwordx4 s[24:27], s[2:3], 0x58       // UAV 11
        s_waitcnt lgkmcnt(0)
        s_mul_i32 s0, s12, s0
        s_add_i32 s0, s0, s1
        v_add_i32 v0, vcc, s0, v0
        v_cmp_gt_u32 vcc, s16, v0
        s_and_saveexec_b64 s[28:29], vcc
        s_cbranch_execz end
        v_lshlrev_b32 v0, 2, v0
        v_add_i32 v1, vcc, s13, v0
        v_add_i32 v2, vcc, s14, v0
        buffer_load_dword v3, v1, s[20:23], 0 offen
        buffer_load_dword v4, v2, s[24:27], 0 offen
        s_waitcnt vmcnt(0)
        v_mac_f32 v4, s15, v3
        buffer_store_dword v4, v2, s[24:27], 0 offen
    end:
        s_endpgm",
    metadata: ";pointer:x:float:1:1:0:uav:10:4:RO:0:0\n;pointer:y:float:1:1:16:uav:11:4:RW:0:0\n\
               ;value:a:float:1:1:32\n;value:n:u32:1:1:48\n;reflection:0:float*\n;reflection:1:float*\n\
               ;reflection:2:float\n;reflection:3:uint\n",
    hwlocal: 0,
    elements: &[[23, 0, 2, 2], [2, 0, 4, 4], [2, 1, 8, 4]],
    rsrc2: 12 << 1 | 1 << 7,
};

/// Rotates each work-group's 128 elements by `shift`, through LDS, and adds both halves of `bias` and a constant.
const ROTATE: Kernel = Kernel {
    name: "rotate_kernel",
    code: "
        s_mov_b32 m0, 0x8000
        s_buffer_load_dword s17, s[8:11], 0x00      // data
        s_buffer_load_dword s18, s[8:11], 0x04      // tmp
        s_buffer_load_dword s19, s[8:11], 0x08      // shift
        s_buffer_load_dwordx2 s[20:21], s[8:11], 0x0c
        s_buffer_load_dword s22, s[12:15], 0x05     // constant 5
        s_waitcnt lgkmcnt(0)
        s_lshl_b32 s23, s16, 9
        s_add_i32 s23, s23, s17
        v_lshlrev_b32 v1, 2, v0
        buffer_load_dword v2, v1, s[0:3], s23 offen
        v_add_i32 v3, vcc, s18, v1
        s_waitcnt vmcnt(0)
        ds_write_b32 v3, v2
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_add_i32 v4, vcc, s19, v0
        v_and_b32 v4, 0x7f, v4
        v_lshlrev_b32 v4, 2, v4
        v_add_i32 v4, vcc, s18, v4
        ds_read_b32 v5, v4
        s_waitcnt lgkmcnt(0)
        s_add_i32 s20, s20, s21
        s_add_i32 s20, s20, s22
        v_add_i32 v5, vcc, s20, v5
        buffer_store_dword v5, v1, s[0:3], s23 offen
        s_endpgm",
    metadata: ";cws:128:1:1\n;pointer:data:i32:1:1:0:uav:10:4:RW:0:0\n;pointer:tmp:i32:1:1:16:hl:1:4:RW:0:0\n\
               ;value:shift:i8:1:1:32\n;value:bias:i32:2:1:48\n;memory:datareqd\n",
    hwlocal: 300,
    elements: &[[4, 10, 0, 4], [2, 0, 4, 4], [2, 1, 8, 4], [2, 2, 12, 4]],
    rsrc2: 16 << 1 | 1 << 7 | 0x80 << 15,
};

/// Copies a picture through a sampler of its own: image, UAV and arguments through tables, the width from an argument.
const SAMPLE: Kernel = Kernel {
    name: "sample",
    code: "
        s_load_dwordx8 s[16:23], s[2:3], 0x00       // image 0
        s_load_dwordx8 s[24:31], s[8:9], 0x08       // UAV 1
        s_load_dwordx4 s[32:35], s[10:11], 0x04     // constant buffer 1
        s_waitcnt lgkmcnt(0)
        s_buffer_load_dword s36, s[32:35], 0x00     // width
        s_buffer_load_dword s37, s[32:35], 0x01     // height
        v_cvt_f32_u32 v2, v0
        v_cvt_f32_u32 v3, v1
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_u32 vcc, s36, v0
        s_and_saveexec_b64 s[12:13], vcc
        v_cmp_gt_u32 vcc, s37, v1
        s_and_saveexec_b64 s[12:13], vcc
        s_cbranch_execz end
        image_sample v[4:7], v[2:3], s[16:23], s[4:7] dmask:0xf unorm
        s_waitcnt vmcnt(0)
        image_store v[4:7], v[0:1], s[24:31] dmask:0xf unorm glc
    end:
        s_endpgm",
    metadata: ";image:from:2D:RO:0:1:0\n;image:to:2D:WO:1:1:32\n;sampler:unknown_22:0:1:22\n",
    hwlocal: 0,
    elements: &[[17, 0, 2, 2], [1, 0, 4, 4], [23, 0, 8, 2], [20, 0, 10, 2]],
    rsrc2: 12 << 1 | 1 << 11,
};

/// The mean of each element of a row and the next, by a sampler that the host gives: image and sampler in SGPRs.
const BLEND: Kernel = Kernel {
    name: "blend",
    code: "
        s_load_dwordx8 s[16:23], s[12:13], 0x00     // UAV 0
        v_cvt_f32_u32 v1, v0
        v_add_f32 v1, 1.0, v1
        v_mov_b32 v2, 0.5
        v_mov_b32 v3, 0
        image_sample v4, v[1:2], s[0:7], s[8:11] dmask:0x1 unorm
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_mov_b32 v1, 0
        image_store v4, v[0:1], s[16:23] dmask:0x1 unorm glc
        s_endpgm",
    metadata: ";image:from:2D:RO:0:1:0\n;image:to:2D:WO:0:1:32\n;value:how:u32:1:1:64\n;sampler:how:0:0:0\n",
    hwlocal: 0,
    elements: &[[0, 0, 0, 8], [1, 0, 8, 4], [23, 0, 12, 2]],
    rsrc2: 14 << 1,
};

/// A kernel of a counter, which can be loaded and not launched.
const COUNT: Kernel = Kernel {
    name: "count",
    code: "s_endpgm",
    metadata: ";counter:total:32:0:1:0\n",
    hwlocal: 0,
    elements: &[],
    rsrc2: 8 << 1,
};

fn constants() -> Vec<u8> {
    (0..9u32).flat_map(|i| (i * 1000).to_le_bytes()).collect()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels/containers").join(name)
}

/// The file, after a check that it is what the writer writes.
fn module(device: &Device, name: &str, is64: bool) -> Module {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let written = binary(&[SAXPY, ROTATE, SAMPLE, BLEND, COUNT], &constants(), is64);
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file(name), &written).unwrap();
    }
    let kept = std::fs::read(file(name)).unwrap_or_default();
    assert!(kept == written, "{name} is not what the writer writes; BLESS=1 cargo test --test amdcl writes it");
    Module::open(device, file(name)).unwrap()
}

fn both(check: impl Fn(&Device, &Module, Engine)) {
    let device = Device::new().unwrap();
    for (name, is64) in [("tahiti.amdcl", false), ("tahiti64.amdcl", true)] {
        let module = module(&device, name, is64);
        [Engine::Interp, Engine::Jit].into_iter().for_each(|engine| check(&device, &module, engine));
    }
}

#[test]
fn files_say_what_kernels_take() {
    both(|_, module, _| {
        assert_eq!(module.target(), Target::Gfx600);
        assert_eq!(module.kernels().collect::<Vec<_>>(), ["blend", "count", "rotate_kernel", "sample", "saxpy"]);
        let saxpy = module.kernel("saxpy").unwrap();
        assert_eq!((saxpy.code().abi, saxpy.code().rsrc1.float_mode()), (Abi::Amdcl, 0xc0));
        let kinds: Vec<_> = saxpy.args().map(|arg| arg.kind).collect();
        let (x, y) = (ArgKind::Bound(Slot::Uav(10)), ArgKind::Bound(Slot::Uav(11)));
        assert_eq!(kinds, [x, y, ArgKind::Value, ArgKind::Value]);
        let registers = [
            UserSgpr::Undefined(2),
            UserSgpr::UavTable,
            UserSgpr::Resource(Slot::Const(0)),
            UserSgpr::Resource(Slot::Const(1)),
        ];
        assert_eq!(saxpy.code().user_sgprs, registers);
        let rotate = module.kernel("rotate_kernel").unwrap();
        assert_eq!((rotate.code().required_group, rotate.code().lds_size), (Some([128, 1, 1]), 300));
    });
}

#[test]
fn saxpy() {
    both(|device, module, engine| {
        let kernel = module.kernel("saxpy").unwrap();
        let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
        let (x, y) = (device.buffer_from(&x).unwrap(), device.buffer_from(&[1.0f32; 300]).unwrap());
        let launch = kernel.launch().grid(200).block(64).offset([50, 0, 0]).engine(engine);
        launch.arg(&x).arg(&y).arg(2.0f32).arg(240u32).run().unwrap();
        let want = |i: usize| if (50..240).contains(&i) { 1.0 + 2.0 * i as f32 } else { 1.0 };
        assert_eq!(y.read(), (0..300).map(want).collect::<Vec<_>>(), "{engine:?}");
    });
}

#[test]
fn accesses_out_of_a_buffer_have_no_effect() {
    both(|device, module, engine| {
        let kernel = module.kernel("saxpy").unwrap();
        let (x, y) = (device.buffer_from(&[1.0f32; 10]).unwrap(), device.buffer_from(&[1.0f32; 20]).unwrap());
        kernel.launch().grid(64).engine(engine).arg(&x).arg(&y).arg(2.0f32).arg(64u32).run().unwrap();
        let want: Vec<f32> = (0..20).map(|i| if i < 10 { 3.0 } else { 1.0 }).collect();
        assert_eq!(y.read(), want, "{engine:?}");
        let null = Arg::pointer(0);
        kernel.launch().grid(64).engine(engine).arg(null).arg(&y).arg(2.0f32).arg(64u32).run().unwrap();
        assert_eq!(y.read(), want, "a null pointer reads zero");
    });
}

#[test]
fn lds_constants_and_small_scalars() {
    both(|device, module, engine| {
        let kernel = module.kernel("rotate_kernel").unwrap();
        let input: Vec<i32> = (0..512).map(|i| i * i).collect();
        for shift in [-5i8, 9, 127] {
            let data = device.buffer_from(&input).unwrap();
            let launch = kernel.launch().grid(512).engine(engine).arg(&data).arg(Arg::lds(512)).arg(shift);
            launch.arg(Arg::value(&[70i32, -7])).run().unwrap();
            let from = |i: i32| i & !127 | (i + i32::from(shift)) & 127;
            let want: Vec<i32> = (0..512).map(|i| input[from(i) as usize] + 63 + 5000).collect();
            assert_eq!(data.read(), want, "{engine:?}, {shift}");
        }
    });
}

#[test]
fn pictures_are_sampled_and_written() {
    both(|device, module, engine| {
        let rgba8 = named("rgba8u", Target::Gfx600).unwrap().format;
        let tiled = Tiling::Micro(MicroTile::Thin);
        let image = |shape: Shape| Image::new(device, Target::Gfx600, &shape).unwrap();
        let (from, to) =
            (image(Shape::plane(rgba8, 7, 5)), image(Shape { tiling: tiled, ..Shape::plane(rgba8, 7, 5) }));
        let texels: Vec<u8> = (0..7 * 5 * 4).collect();
        from.write(&texels);
        let kernel = module.kernel("sample").unwrap();
        let kinds: Vec<_> = kernel.args().map(|arg| arg.kind).collect();
        assert_eq!(kinds, [ArgKind::Described(Slot::Image(0)), ArgKind::Described(Slot::Uav(1))]);
        kernel.launch().grid([8, 8]).block([8, 8]).engine(engine).arg(&from).arg(&to).run().unwrap();
        assert_eq!(to.read(), texels, "{engine:?}");
    });
}

#[test]
fn samplers_are_arguments() {
    both(|device, module, engine| {
        let r32f = named("r32f", Target::Gfx600).unwrap().format;
        let image = || Image::new(device, Target::Gfx600, &Shape::plane(r32f, 8, 1)).unwrap();
        let (from, to) = (image(), image());
        let values: Vec<f32> = (0..8u8).map(|i| f32::from(i * i)).collect();
        from.write(bytemuck::cast_slice(&values));
        let (linear, edge) = (XyFilter::Bilinear, [Clamp::LastTexel; 3]);
        let how =
            gcnjit::rt::image::Sampler { clamp: edge, mag_filter: linear, min_filter: linear, ..Default::default() };
        let sampler = Sampler::new(device, Target::Gfx600, how).unwrap();
        let kernel = module.kernel("blend").unwrap();
        let launch = kernel.launch().grid(8).block(8).engine(engine).arg(&from).arg(&to);
        launch.clone().arg(&sampler).run().unwrap();
        let bytes = to.read();
        let got: Vec<f32> = bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        let want: Vec<f32> = (0..8).map(|i| (values[i] + values[(i + 1).min(7)]) / 2.0).collect();
        assert_eq!(got, want, "{engine:?}");
        // An address where there is no object, and a number in its place.
        assert!(matches!(launch.clone().arg(Arg::pointer(0x1000)).run(), Err(Error::Launch { .. })));
        assert!(matches!(launch.arg(22u32).run(), Err(Error::Arg { .. })));
    });
}

#[test]
fn what_there_is_not_is_an_error() {
    both(|_, module, engine| {
        let kernel = module.kernel("count").unwrap();
        let error = kernel.launch().grid(64).engine(engine).run().unwrap_err();
        assert!(matches!(error, Error::Arg { .. }), "{error}");
        assert!(error.to_string().contains("count: the kernel needs atomic counters"), "{error}");
    });
}
