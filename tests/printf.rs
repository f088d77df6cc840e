//! Kernels that print, with those of `kernels/abi/`. What they print is what the C library makes of the same formats
//! and values, where it has them.

use gcnjit::rt::Cause;
use gcnjit::rt::code_object::Service;
use gcnjit::{Arg, Device, Engine, Error, Module, Stats};
use std::process::Command;
use std::sync::Mutex;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Jit, Engine::Check];
const BUILDS: [&str; 12] = [
    "gfx600.O0",
    "gfx600.O2",
    "gfx700.O0",
    "gfx700.O2",
    "gfx803.O0",
    "gfx803.O2",
    "gfx900.O0",
    "gfx900.O2",
    "gfx803.v2.O0",
    "gfx803.v3.O0",
    "gfx900.v2.O0",
    "gfx900.v3.O0",
];

fn path(name: &str) -> String {
    format!("{}/kernels/abi/{name}.co", env!("CARGO_MANIFEST_DIR"))
}

/// Collects what a launch of one work-item prints.
fn printed(module: &Module, kernel: &str, engine: Engine, args: Vec<Arg<'_>>) -> (String, Stats) {
    let text = Mutex::new(Vec::new());
    let print = |message: &[u8]| text.lock().unwrap().extend_from_slice(message);
    let kernel = module.kernel(kernel).unwrap();
    let stats = kernel.launch().grid(1).block(1).engine(engine).args(args).printf(&print).run().unwrap();
    (String::from_utf8(text.into_inner().unwrap()).unwrap(), stats)
}

/// Calls `test` with every build and engine.
fn on_all(test: impl Fn(&Device, &Module, Engine)) {
    for (build, engine) in BUILDS.into_iter().flat_map(|build| ENGINES.map(|engine| (build, engine))) {
        let device = Device::new().unwrap();
        let module = Module::open(&device, path(&format!("printf.{build}"))).unwrap();
        test(&device, &module, engine);
    }
}

#[test]
fn integers() {
    let want = "-5|300|4294967291|454|fffffffb|12C|A
  300|300  |00300|+300| 300|0300|    300|0x12c|0454
-5|-5|-5|-1099511627776|251|65531|18446742974197923840|4000000000000005
";
    on_all(|device, module, engine| {
        let i = device.buffer_from(&[-5i32, 300, 65, 7]).unwrap();
        let l = device.buffer_from(&[-1i64 << 40, (1 << 62) + 5]).unwrap();
        let (text, stats) = printed(module, "integers", engine, vec![(&i).into(), (&l).into()]);
        assert_eq!(text, want, "{} by {engine:?}", module.name());
        assert_eq!((stats.printed.messages, stats.printed.full), (3, false));
    });
}

#[test]
fn floats() {
    let want = "1.500000|1.50|     1.500|1.5       |+2|2.
3.141593e+00|3.14e+00|3.141593E+00|3.14159|1E-07|0x1.921fb54442d18p+1|0x1.922p+1
0.000000 1e-07 inf nan -0.000000e+00
";
    on_all(|device, module, engine| {
        let f = device.buffer_from(&[1.5f32]).unwrap();
        let d = [std::f64::consts::PI, 1e-7, f64::INFINITY, f64::NAN, -0.0];
        let d = device.buffer_from(&d).unwrap();
        let (text, _) = printed(module, "floats", engine, vec![(&f).into(), (&d).into()]);
        assert_eq!(text, want, "{} by {engine:?}", module.name());
    });
}

#[test]
fn vectors() {
    let want = "-5,300|-5,300,65|fffffffb,12c,41,7
-5,44,65,7|251,44,65,7,144,255,255,0|2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c,2c
-5,44|-5,300|-5,300,65,7|65531,300,65,7,61072,65535,65535,0
-1099511627776,4611686018427387909|18446742974197923840,2,3|5,5,5,5,5,5,5,5
1.500000,-2.250000,10000000000.000000,0.100000|1.5,-2.25|  1.5, -2.2,10000000000.0|3.000000e+00,1.000000e-07|3.000000,0.000000
1.500000,-2.250000|1.5,-2.25,inf,0.0999756
"
    .replace("5,5,5,5,5,5,5,5\n", &format!("{}\n", ["4000000000000005"; 8].join(",")));
    on_all(|device, module, engine| {
        let i = device.buffer_from(&[-5, 300, 65, 7, -70000, i32::MAX, -1, 0]).unwrap();
        let f = device.buffer_from(&[1.5f32, -2.25, 1e10, 0.1]).unwrap();
        let d = device.buffer_from(&[3.0f64, 1e-7]).unwrap();
        let l = device.buffer_from(&[-1i64 << 40, (1 << 62) + 5]).unwrap();
        let args = vec![(&i).into(), (&f).into(), (&d).into(), (&l).into()];
        assert_eq!(printed(module, "vectors", engine, args).0, want, "{} by {engine:?}", module.name());
    });
}

#[test]
fn strings_pointers_and_escapes() {
    on_all(|device, module, engine| {
        let i = device.buffer::<i32>(1).unwrap();
        let (text, stats) = printed(module, "strings", engine, vec![(&i).into()]);
        let mut lines = text.split('\n');
        assert_eq!(lines.next(), Some("plain|     right|lefty     |cu||c%"), "{} by {engine:?}", module.name());
        assert_eq!(lines.next(), Some("a: colon, \t tab, \x07\x08\x0c\r\x0b, \"quotes\" \\ and 'more'"));
        assert_eq!(lines.next(), Some(format!("{:#x} (nil)", i.address()).as_str()));
        assert_eq!((lines.next(), lines.next()), (Some("the last one does not end its line"), None));
        assert_eq!(stats.printed.messages, 4);
    });
}

/// Every message once, whichever thread it comes from; and what doesn't fit is reported to the kernel and to the host.
#[test]
fn many_work_items_print_until_the_buffer_is_full() {
    const RECORD: usize = 12;
    for engine in [Engine::Interp, Engine::Jit] {
        let device = Device::with_threads(2).unwrap();
        let module = Module::open(&device, path("printf.gfx900.O2")).unwrap();
        let kernel = module.kernel("many").unwrap();
        let result = device.buffer::<i32>(1000).unwrap();
        for (room, printed) in [(2000, 1000), (1000, 1000), (300, 300)] {
            let lines = Mutex::new(Vec::new());
            let print = |text: &[u8]| lines.lock().unwrap().push(String::from_utf8(text.to_vec()).unwrap());
            let launch = kernel.launch().grid(1000).block(100).engine(engine).arg(&result);
            let stats = launch.printf(&print).printf_buffer(8 + room * RECORD as u32).run().unwrap();
            assert_eq!((stats.printed.messages, stats.printed.full), (printed, room <= 1000), "{room}");
            let mut lines = lines.into_inner().unwrap();
            assert!(lines.iter().all(|line| line.ends_with('\n')));
            lines.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
            let failed = result.read().iter().filter(|result| **result == -1).count();
            assert_eq!((lines.len() as u64, failed as u64), (printed, 1000 - printed), "{room}");
            let want: Vec<String> = (0u32..1000).map(|i| format!("{i} {}\n", i * i)).collect();
            assert!(lines.iter().all(|line| want.contains(line)));
            lines.dedup();
            assert_eq!(lines.len() as u64, printed);
        }
    }
}

/// A buffer always has room for its header.
#[test]
fn the_smallest_buffer_prints_nothing() {
    let device = Device::new().unwrap();
    let module = Module::open(&device, path("printf.gfx900.O2")).unwrap();
    let print = |text: &[u8]| panic!("{text:?}");
    let kernel = module.kernel("hello").unwrap();
    let stats = kernel.launch().grid(64).printf(&print).printf_buffer(0).run().unwrap();
    assert_eq!((stats.printed.messages, stats.printed.full), (0, true));
}

#[test]
fn formats_by_hash_and_strings_of_any_length() {
    for engine in ENGINES {
        let device = Device::new().unwrap();
        let module = Module::open(&device, path("buffered.gfx900")).unwrap();
        let i = device.buffer_from(&[-5i32, 300]).unwrap();
        let name = device.buffer_from(b"a name from the host\0").unwrap();
        let format = device.buffer_from(b"%04d, as the last\n\0").unwrap();
        let args = vec![(&i).into(), (&name).into(), (&format).into()];
        let (text, _) = printed(&module, "print", engine, args);
        let want = format!(
            "-5|4294967291|12c|-5|{}|c|37.50|{:#x}\n\
             a name from the host is a name,    literal, a n, 12345678\n   300|300   |1.00\n\
             0300, as the last\n",
            -5i64 << 32,
            i.address()
        );
        assert_eq!(text, want, "{engine:?}");
    }
}

#[test]
fn a_printf_that_calls_the_host_is_an_error_that_says_so() {
    for engine in [Engine::Interp, Engine::Jit] {
        let device = Device::new().unwrap();
        let module = Module::open(&device, path("hostcall.gfx900")).unwrap();
        let buffer = device.buffer::<u8>(64).unwrap();
        let kernel = module.kernel("print").unwrap();
        let error = kernel.launch().grid(1).engine(engine).arg(&buffer).arg(&buffer).arg(&buffer).run().unwrap_err();
        let Error::Fault(stuck) = error else { panic!("{error}") };
        let expected = Cause::Absent(Service::Hostcall);
        assert!(matches!(stuck.fault.trap, gcnjit::rt::Trap::Fault { cause, .. } if cause == expected), "{stuck}");
        assert!(stuck.to_string().contains("hidden_hostcall_buffer, which is not supplied"), "{stuck}");
    }
}

#[test]
fn the_command_line_prints_before_its_report() {
    let run = |kernel: &str, options: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gcnjit"));
        command.args(["run", &path("printf.gfx900.O2"), "--kernel", kernel, "--block", "1"]);
        let output = command.args(options.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("hello", "--grid 2 --threads 1 --json --time 2");
    let mut lines = text.lines();
    assert_eq!((lines.next(), lines.next()), (Some("hello from 0"), Some("hello from 1")));
    let json = lines.next().unwrap();
    assert!(json.starts_with("{\"ok\":true") && json.contains("\"printf_messages\":2,\"printf_full\":false"), "{json}");
    assert_eq!(lines.next(), None);
    let text = run("strings", "--grid 1 --engine check --arg zero:4");
    assert!(text.contains("\nthe last one does not end its line\nstrings on gfx900"), "{text}");
    let text = run("hello", "--grid 9 --printf-buffer 30");
    assert!(text.contains("the printf buffer was full, messages may be missing"), "{text}");
    assert!(text.contains("\"printf_messages\":2,\"printf_full\":true"), "{text}");
}
