//! Every kernel of `kernels/` on every target: translator and interpreter leave the same bytes, and what they leave is
//! what the same source computes when it is compiled for the host.
//!
//! A kernel's launch is described in `kernels/<name>/launch.toml`; `kernels/host/build.sh` has made the results beside
//! it, to the bit or within the units of the last place that the description says.

mod support;

use gcnjit::{Arg, Buffer, Device, Engine, Module};
use support::{Launch, Peer, TARGETS, check, code_object, kernel_names};

/// Runs a launch with one engine, and returns the buffers it left or what went wrong.
fn run(launch: &Launch, target: &str, engine: Engine) -> Result<Vec<Vec<u8>>, String> {
    let text = |error: gcnjit::Error| error.to_string();
    let device = Device::new().map_err(text)?;
    let module = Module::open(&device, code_object(&launch.kernel, target)).map_err(text)?;
    let kernel = module.kernel(&launch.kernel).map_err(text)?;
    let buffers: Vec<Buffer<u8>> = launch.buffers().map(|buffer| device.buffer_from(&buffer.data).unwrap()).collect();
    for index in 0..launch.loop_count {
        let mut next = buffers.iter();
        let args = launch.args.iter().map(|arg| match arg {
            support::Arg::Buffer(_) => Arg::from(next.next().expect("one for each argument")),
            support::Arg::Scalar(scalar) => Arg::bytes(&scalar.bytes),
            support::Arg::Local(bytes) => Arg::lds(*bytes),
            support::Arg::LoopIndex => index.into(),
        });
        kernel.launch().grid(launch.grid).block(launch.block).engine(engine).args(args).run().map_err(text)?;
    }
    Ok(buffers.iter().map(Buffer::read).collect())
}

/// Compares both engines with each other and with the host's results, on all of `targets`.
fn kernel_on(name: &str, targets: &[&str]) {
    let launch = Launch::load(name);
    let mut failures = Vec::new();
    for target in targets {
        let want = launch.expected(target);
        let engines = [Engine::Jit, Engine::Interp];
        let results = engines.map(|engine| run(&launch, target, engine));
        for (engine, result) in engines.iter().zip(&results) {
            let checked = result.as_ref().map_err(String::clone).and_then(|got| check(&launch, got, &want, Peer::Twin));
            failures.extend(checked.err().map(|error| format!("{name} {target} {engine:?}: {error}")));
        }
        if let [Ok(jit), Ok(interp)] = &results {
            failures
                .extend(difference(&launch, jit, interp).map(|what| format!("{name} {target} Jit and Interp: {what}")));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Where the buffers of the two engines differ first.
fn difference(launch: &Launch, jit: &[Vec<u8>], interp: &[Vec<u8>]) -> Option<String> {
    launch.buffers().zip(jit.iter().zip(interp)).find_map(|(buffer, (jit, interp))| {
        let at = jit.iter().zip(interp).position(|(a, b)| a != b)?;
        let element = at / buffer.ty.size() * buffer.ty.size();
        let bits = |bytes: &[u8]| buffer.ty.bits(&bytes[element..]);
        let (name, index) = (&buffer.name, at / buffer.ty.size());
        Some(format!("{name}[{index}] is {:#x} and {:#x}", bits(jit), bits(interp)))
    })
}

macro_rules! kernels {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            kernel_on(stringify!($name), &TARGETS);
        })*

        #[test]
        fn all_kernels_are_tested() {
            assert_eq!(kernel_names(), [$(stringify!($name)),*]);
        }
    };
}

kernels! {
    atomics bitonic_sort black_scholes bytes calls compact crc32 daxpy fir half_blend hash histogram mandelbrot mul64
    nbody rc4 reduction sad saxpy scan sgemm_naive sgemm_tiled sha256 stencil5 transform trig vm wave
}

#[test]
fn older_code_objects() {
    kernel_on("saxpy", &["gfx900.v3", "gfx900.v4"]);
}

/// Runs some kernels again in processes that may use less of the host. They are chosen for the libcalls and accesses
/// that exist once a level.
#[test]
fn lower_levels_of_the_host_compute_the_same() {
    const KERNELS: [&str; 8] = ["atomics", "bytes", "daxpy", "half_blend", "mul64", "scan", "trig", "wave"];
    for level in ["avx2", "portable"] {
        let mut again = std::process::Command::new(std::env::current_exe().expect("a path of this program"));
        let output = again.arg("--exact").args(KERNELS).env("GCNJIT_LEVEL", level).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{level}: {text}");
        assert!(text.contains(&format!("{} passed", KERNELS.len())), "{level}: {text}");
    }
}
