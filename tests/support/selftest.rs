//! Tests of this module itself; they run in every test crate that includes it.

use super::{Buffer, Expect, F16, Launch, Peer, TARGETS, Type, code_object, compare, kernel_names};

#[test]
fn every_kernel_has_code_objects_and_expected_results_that_are_no_inputs() {
    let names = kernel_names();
    assert!(!names.is_empty());
    for name in names {
        let launch = Launch::load(&name);
        assert_eq!(launch.kernel, name);
        for target in TARGETS {
            assert!(code_object(&name, target).exists(), "{name} is not built for {target}");
            for (before, after) in launch.buffers().zip(launch.expected(target)) {
                assert_eq!(before.expect.is_some(), before.data != after.data, "buffer {} of {name}", before.name);
            }
        }
    }
}

#[test]
fn every_kernel_has_a_bench_size_in_whole_work_groups() {
    for name in kernel_names() {
        let (small, large) = (Launch::load(&name), Launch::load_for_bench(&name));
        let items = |launch: &Launch| launch.grid.iter().map(|size| u64::from(*size)).product::<u64>();
        assert!(items(&large) >= items(&small), "{name}");
        assert!(large.grid.iter().zip(large.block).all(|(grid, block)| grid % block == 0), "{name}");
    }
}

#[test]
fn halves_survive_a_round_trip_and_round_to_even() {
    for bits in 0..=u16::MAX {
        let value = F16(bits).to_f32();
        assert!(value.is_nan() || F16::from_f64(value.into()).0 == bits, "{bits:#06x}");
    }
    let ulp = 2f64.powi(-10);
    for (value, bits) in [
        (1.0 + 0.5 * ulp, 0x3c00),
        (1.0 + 1.5 * ulp, 0x3c02),
        (1.0 + 0.51 * ulp, 0x3c01),
        (2f64.powi(-25), 0),
        (65519.0, 0x7bff),
    ] {
        assert_eq!(F16::from_f64(value).0, bits, "{value}");
    }
}

#[test]
fn a_difference_is_reported_with_place_and_size() {
    let bytes = |values: [f32; 3]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut want =
        Buffer { name: "y".into(), ty: Type::F32, data: bytes([1.0, 2.0, f32::NAN]), expect: Some(Expect::EXACT) };
    let got = bytes([1.0, 2.000_000_2, -f32::NAN]);
    let message = compare(&want, &got, Peer::Twin).expect_err("a difference");
    assert!(message.contains("buffer y: 1 of 3") && message.contains("[1] got 2.0000002"), "{message}");
    assert!(message.ends_with("at most 1 ulp"), "{message}");
    let cases = [(1.0, 0.0, 1e-6, true, true), (0.9, 0.0, 1e-6, false, true), (0.25, 8.0, 1e-8, true, false)];
    for (ulps, of, rel, twin, other) in cases {
        want.expect = Some(Expect::Within { ulps, of, rel, abs: 0.0 });
        let accepts = |peer| compare(&want, &got, peer).is_ok();
        assert_eq!((accepts(Peer::Twin), accepts(Peer::Other)), (twin, other), "{ulps} of {of}, {rel}");
    }
}

#[test]
fn mistakes_in_a_launch_description_are_errors() {
    let head = "kernel = 'k'\ngrid = [1]\nblock = [1]\n[[arg]]\nname = 'a'\n";
    assert!(Launch::parse(&format!("{head}scalar = {{ type = 'u32', value = 1 }}")).is_ok());
    for wrong in ["", "local = 4\nloop_index = true", "bufer = 1", "scalar = { type = 'u31', value = 1 }"] {
        assert!(Launch::parse(&format!("{head}{wrong}")).is_err(), "{wrong}");
    }
    let arg = format!("{head}buffer = {{ type = 'u8', len = 1 }}\n");
    let bench = |sizes: &str| Launch::parse_for_bench(&format!("{arg}{sizes}"));
    assert_eq!(bench("[bench]\ngrid = [9]\nlen = { a = 9 }").map(|launch| launch.grid), Ok([9, 1, 1]));
    for wrong in ["", "[bench]\nlen = { a = 2 }", "[bench]\ngrid = [1]\nlen = { b = 2 }"] {
        assert!(bench(wrong).is_err(), "{wrong}");
    }
}
