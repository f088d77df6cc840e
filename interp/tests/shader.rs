//! What only shaders do: interpolation, direct reads of LDS, exports and messages, by cases worked out from the SI
//! manual's chapters 9 and 10 and from CLRX's layout of parameters.

mod support;

use gcnjit_interp::Stepper;
use gcnjit_interp::memory::Place;
use gcnjit_interp::run::{Buffers, Machine};
use gcnjit_isa::{Inst, Target, asm};
use gcnjit_rt::export::{self, Given, GsOp, Message, Recorder, Sink};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::parameter::{self, Area};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Cause, Env, Mode, Trap};
use half::f16;
use std::sync::atomic::AtomicBool;
use support::{PLAIN_MODE, Random, World, env};

/// Where parameters begin in LDS.
const OFFSET: u16 = 32;
/// Quads 4 and 5 begin a primitive, so lanes 0 to 15, 16 to 19 and 20 to 63 have one each.
const BEGINS: u16 = 0b11_0000;

fn inst(text: &str, target: Target) -> Inst {
    asm::parse(text, target).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn primitive(lane: usize) -> usize {
    usize::from(lane >= 16) + usize::from(lane >= 20)
}

/// P0, P10 and P20.
fn values(primitive: usize, attribute: usize, channel: usize) -> [f32; 3] {
    let number = (16 * attribute + 4 * primitive + channel) as f32;
    [number, number / 4.0 + 1.0, -number / 8.0]
}

/// A world with two attributes in LDS: dword by dword, as the documents have them.
fn world(target: Target, value: impl Fn(usize, usize, usize) -> [u32; 3]) -> World {
    let mut world = World::new(target);
    for attribute in 0..2 {
        for primitive in 0..3 {
            let block = u32::from(OFFSET) + 48 * (3 * attribute + primitive);
            for channel in 0..4 {
                let [p0, p10, p20] = value(primitive as usize, attribute as usize, channel as usize);
                let dwords = [(2 * channel, p0), (2 * channel + 1, p10), (8 + channel, p20)];
                dwords.iter().for_each(|(at, x)| world.lds.store(block + 4 * at, x.to_le_bytes()));
            }
        }
    }
    world.wave.sgpr[reg::M0] = u32::from(BEGINS >> 1) << 16 | u32::from(OFFSET);
    world
}

fn floats(primitive: usize, attribute: usize, channel: usize) -> [u32; 3] {
    values(primitive, attribute, channel).map(f32::to_bits)
}

#[test]
fn parameters_are_those_of_the_quads_primitive() {
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900] {
        let mut w = world(target, floats);
        for (at, name) in ["p0", "p10", "p20"].into_iter().enumerate() {
            w.run(&inst(&format!("v_interp_mov_f32 v9, {name}, attr1.z"), target));
            for lane in 0..64 {
                assert_eq!(f32::from_bits(w.wave.vgpr[9][lane]), values(primitive(lane), 1, 2)[at], "{name} {lane}");
            }
        }
    }
}

#[test]
fn interpolation_is_a_sum_of_products() {
    let target = Target::Gfx600;
    let mut w = world(target, floats);
    w.set(0, |lane| (lane as f32 / 64.0).to_bits());
    w.set(1, |lane| (1.0 - lane as f32 / 64.0).to_bits());
    w.set(2, |_| 7);
    w.wave.set_exec(!1);
    w.run(&inst("v_interp_p1_f32 v2, v0, attr1.w", target));
    w.run(&inst("v_interp_p2_f32 v2, v1, attr1.w", target));
    assert_eq!(w.wave.vgpr[2][0], 7);
    for lane in 1..64 {
        let [p0, p10, p20] = values(primitive(lane), 1, 3).map(f64::from);
        let (i, j) = (lane as f64 / 64.0, 1.0 - lane as f64 / 64.0);
        // All of it is exact in an f32.
        assert_eq!(f64::from(f32::from_bits(w.wave.vgpr[2][lane])), p0 + p10 * i + p20 * j, "lane {lane}");
    }
}

/// The error of two products and two sums is at most half a unit of each.
#[test]
fn interpolation_is_within_the_bound_of_four_roundings() {
    let target = Target::Gfx900;
    let mut random = Random(5);
    for _ in 0..200 {
        let mut unit = || (random.next() >> 40) as f32 / (1 << 24) as f32;
        let vertices: [f32; 36] = std::array::from_fn(|_| 200.0 * unit() - 100.0);
        let mut w = World::new(target);
        w.lds.write(0, &parameter::lay_out(3, 1, |p, _, c| [0, 1, 2].map(|vertex| vertices[12 * p + 3 * c + vertex])));
        w.wave.sgpr[reg::M0] = Area::new(0, BEGINS).0;
        let barycentric: [[f32; 64]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| unit()));
        [0, 1].into_iter().for_each(|v| w.set(v, |lane| barycentric[v][lane].to_bits()));
        w.run(&inst("v_interp_p1_f32 v2, v0, attr0.y", target));
        w.run(&inst("v_interp_p2_f32 v2, v1, attr0.y", target));
        for lane in 0..64 {
            let [a, b, c] = [0, 1, 2].map(|vertex| vertices[12 * primitive(lane) + 3 + vertex]);
            let [p0, p10, p20] = [a, b - a, c - a].map(f64::from);
            let [i, j] = barycentric.map(|row| f64::from(row[lane]));
            let exact = p0 + p10 * i + p20 * j;
            let size = (p10 * i).abs() + (p0 + p10 * i).abs() + (p20 * j).abs() + exact.abs();
            let error = (f64::from(f32::from_bits(w.wave.vgpr[2][lane])) - exact).abs();
            assert!(error <= 1.01 * size * f64::from(f32::EPSILON) / 2.0, "{error:e} of {exact}");
        }
    }
}

/// v_mad_f32's arithmetic: (1 + 2⁻¹²)² is rounded to 1 + 2⁻¹¹ before the sum; denormals count as zero.
#[test]
fn products_are_rounded_and_denormals_flushed() {
    let target = Target::Gfx803;
    let x = 1.0 + f32::powi(2.0, -12);
    let mut w = world(target, |_, _, _| [-(1.0 + f32::powi(2.0, -11)), x, f32::MIN_POSITIVE / 2.0].map(f32::to_bits));
    w.wave.mode = PLAIN_MODE;
    w.set(0, |_| x.to_bits());
    w.set(1, |_| f32::MAX.to_bits());
    w.run(&inst("v_interp_p1_f32 v2, v0, attr0.x", target));
    assert_eq!(w.wave.vgpr[2], [0; 64]);
    w.run(&inst("v_interp_p2_f32 v2, v1, attr0.x", target));
    assert_eq!(w.wave.vgpr[2], [0; 64]);
    // But a move is a move.
    w.run(&inst("v_interp_mov_f32 v3, p20, attr0.x", target));
    assert_eq!(w.wave.vgpr[3], [0x0040_0000; 64]);
}

#[test]
fn modifiers_of_the_long_form() {
    let target = Target::Gfx900;
    let mut w = world(target, |_, _, _| [1.0f32, 0.5, 4.0].map(f32::to_bits));
    w.wave.mode = Mode(0x1c0);
    w.set(0, |_| (-2.0f32).to_bits());
    let mut run = |text: &str| {
        w.run(&inst(text, target));
        f32::from_bits(w.wave.vgpr[2][17])
    };
    assert_eq!(run("v_interp_p1_f32_e64 v2, v0, attr0.x"), 0.0);
    assert_eq!(run("v_interp_p1_f32_e64 v2, -v0, attr0.x"), 2.0);
    assert_eq!(run("v_interp_p1_f32_e64 v2, |v0|, attr0.x mul:2"), 4.0);
    assert_eq!(run("v_interp_p1_f32_e64 v2, -v0, attr0.x clamp"), 1.0);
    // Parameter 3 has no name.
    let none = w.step(&inst("v_interp_mov_f32 v2, invalid_param_3, attr0.x", target));
    assert!(matches!(*none.unwrap_err(), Trap::Unimplemented { what: "parameter 3", .. }));
}

fn pair(low: f32, high: f32) -> u32 {
    u32::from(f16::from_f32(low).to_bits()) | u32::from(f16::from_f32(high).to_bits()) << 16
}

#[test]
fn halves_of_parameters() {
    let target = Target::Gfx900;
    let mut w = world(target, |_, _, _| [pair(1.0, 10.0), pair(0.5, 5.0), pair(0.25, -3.0)]);
    w.set(0, |_| 4.0f32.to_bits());
    w.set(1, |_| pair(100.0, 200.0));
    w.set(3, |_| 0.5f32.to_bits());
    let mut f32_of = |text: &str| {
        w.run(&inst(text, target));
        f32::from_bits(w.wave.vgpr[2][33])
    };
    assert_eq!(f32_of("v_interp_p1ll_f16 v2, v0, attr0.x"), 3.0);
    assert_eq!(f32_of("v_interp_p1ll_f16 v2, v0, attr0.x high"), 30.0);
    assert_eq!(f32_of("v_interp_p1lv_f16 v2, v0, attr0.x, v1"), 102.0);
    assert_eq!(f32_of("v_interp_p1lv_f16 v2, v0, attr0.x, v1 high"), 220.0);
    assert_eq!(f32_of("v_interp_p1lv_f16 v2, v0, attr0.x, -v1 high"), -180.0);
    let mut bits_of = |text: &str| {
        w.set(2, |_| 0xaaaa_bbbb);
        w.run(&inst(text, target));
        w.wave.vgpr[2][33]
    };
    let half = |x: f32| u32::from(f16::from_f32(x).to_bits());
    assert_eq!(bits_of("v_interp_p2_legacy_f16 v2, v0, attr0.x, v3"), half(1.5));
    assert_eq!(bits_of("v_interp_p2_f16 v2, v0, attr0.x, v3 high"), 0xaaaa_0000 | half(-11.5));
    assert_eq!(bits_of("v_interp_p2_f16 v2, v0, attr0.x, v3 op_sel:[0,0,1]"), half(1.5) << 16 | 0xbbbb);
}

/// By MODE's field of f16: 1 + 2⁻²⁴ and 1 + 2⁻¹² · 1.5 lie between neighbours of f32 and of f16.
#[test]
fn halves_round_by_the_field_of_f16() {
    let target = Target::Gfx900;
    let tiny = f32::powi(2.0, -24);
    let mut w = world(target, |_, _, _| [pair(1.0, 0.0), pair(tiny, 0.0), pair(1.0, 0.0)]);
    w.set(0, |_| 1.0f32.to_bits());
    w.set(3, |_| (1.5 * f32::powi(2.0, -11)).to_bits());
    let [mut sums, mut halves] = [Vec::new(), Vec::new()];
    for round in 0..4 {
        w.wave.mode = Mode(0xf0 | round << 2);
        w.run(&inst("v_interp_p1ll_f16 v2, v0, attr0.x", target));
        sums.push(w.wave.vgpr[2][5] - 0x3f80_0000);
        w.run(&inst("v_interp_p2_legacy_f16 v2, v0, attr0.x, v3", target));
        halves.push(w.wave.vgpr[2][5] - 0x3c00);
    }
    assert_eq!((sums, halves), (vec![0, 1, 0, 0], vec![1, 1, 0, 0]));
    // Denormal halves count as zero where it says so.
    w.wave.mode = Mode(0x30);
    w.run(&inst("v_interp_p1ll_f16 v2, v0, attr0.x", target));
    assert_eq!(w.wave.vgpr[2][5], 0x3f80_0000);
}

#[test]
fn direct_reads_are_a_source() {
    let target = Target::Gfx700;
    let mut w = World::new(target);
    w.lds.write(8, &[0xff, 0x80, 0x01, 0x40]);
    let mut run = |text: &str, m0: u32| {
        w.wave.sgpr[reg::M0] = m0;
        w.run(&inst(text, target));
        w.wave.vgpr[1][40]
    };
    let mov = "v_mov_b32 v1, src_lds_direct";
    assert_eq!([0, 1, 2].map(|ty| run(mov, ty << 16 | 8)), [0xff, 0x80ff, 0x4001_80ff]);
    assert_eq!([4, 5].map(|ty| run(mov, ty << 16 | 8)), [0xffff_ffff, 0xffff_80ff]);
    assert_eq!(f32::from_bits(run("v_add_f32 v1, src_lds_direct, v0", 2 << 16 | 8)), f32::from_bits(0x4001_80ff));
    assert_eq!(run(mov, 2 << 16 | 0xfffc), 0);
    w.wave.sgpr[reg::M0] = 2 << 16 | 8;
    w.run(&inst("v_readfirstlane_b32 s3, src_lds_direct", target));
    assert_eq!(w.wave.sgpr[3], 0x4001_80ff);
}

#[test]
fn the_stepper_knows_what_is_read() {
    let target = Target::Gfx900;
    let mut w = world(target, floats);
    let code = w.memory_with(&[0]);
    let words = asm::assemble("v_interp_p2_f32 v2, v1, attr1.y", target).unwrap();
    let piece = gcnjit_rt::memory::Piece { executable: true, ..gcnjit_rt::memory::Piece::constant(0, 8) };
    let code = w.memory.alloc_pieces(8, &[piece]).unwrap_or(code);
    w.memory.initialise(code, 0, &words[0].to_le_bytes()).unwrap();
    (w.wave.pc, w.wave.mode) = (code, PLAIN_MODE);
    w.wave.set_exec(1 << 18 | 1);
    let view = w.memory.view();
    let (gds, stop) = (Gds::new(), AtomicBool::new(false));
    let env = env(target, &view, 0, &w.lds, &gds, &stop, 1);
    let step = Stepper::default().step(&mut w.wave, &env).unwrap();
    assert!(step.reads.vgprs().eq([1, 2]) && step.reads.has_sgpr(reg::M0 as u8));
    let places: Vec<_> = step.touches.iter().map(|touch| (touch.lane.unwrap(), touch.place, touch.bytes)).collect();
    let block = |primitive: u32| Place::Lds(u32::from(OFFSET) + 48 * (3 + primitive) + 4 * 9);
    assert_eq!(places, [(0, block(0), 4), (18, block(1), 4)]);
}

/// Runs one instruction with a sink.
fn give(w: &mut World, text: &str, sink: Option<&dyn Sink>) -> Result<(), Box<Trap>> {
    let view = w.memory.view();
    let (gds, stop) = (Gds::new(), AtomicBool::new(false));
    let env = Env { exports: sink, ..env(w.target, &view, 0, &w.lds, &gds, &stop, 1) };
    Machine::new(&mut w.wave, &env, &mut Buffers::default()).step(&inst(text, w.target))
}

#[test]
fn sinks_get_exports_and_messages() {
    for target in [Target::Gfx600, Target::Gfx900] {
        let mut w = World::new(target);
        let recorder = Recorder::default();
        w.wave.number = 3;
        w.wave.set_exec(0xf0);
        w.wave.sgpr[reg::M0] = 0x55;
        w.set(6, |lane| lane as u32);
        give(&mut w, "exp pos0 v6, v6, off, v6 done", Some(&recorder)).unwrap();
        give(&mut w, "exp null off, off, off, off vm", Some(&recorder)).unwrap();
        for message in [0x122, 0x3, 1] {
            give(&mut w, &format!("s_sendmsg {message}"), Some(&recorder)).unwrap();
        }
        let given = recorder.into_inner();
        let [Given::Export(position), Given::Export(null), Given::Message(first), Given::Message(second)] =
            given.as_slice()
        else {
            panic!("{given:?}")
        };
        assert_eq!((position.target, position.lanes, position.wave), (export::Target::Position(0), 0xf0, 3));
        assert_eq!((position.channels, position.data[3][9], position.data[2][9]), (0b1011, 9, 0));
        assert_eq!((null.target, null.valid_mask, null.done, null.channels), (export::Target::Null, true, false, 0));
        let message = |op, done, stream| Message { wave: 3, op, done, stream, lanes: 0xf0, m0: 0x55 };
        assert_eq!([*first, *second], [message(GsOp::Emit, false, 1), message(GsOp::Nop, true, 0)]);
    }
}

#[test]
fn without_a_sink_they_are_faults() {
    let mut w = World::new(Target::Gfx900);
    w.wave.pc = 0x1230;
    let fault = |trap: Box<Trap>| match *trap {
        Trap::Fault { cause, address, pc, .. } => (cause, address, pc),
        other => panic!("{other}"),
    };
    for text in ["exp mrt0 v0, v0, v0, v0 done vm", "s_sendmsg 0x22", "s_sendmsg 3"] {
        assert_eq!(fault(give(&mut w, text, None).unwrap_err()), (Cause::NoSink, 0x1230, 0x1230), "{text}");
    }
    give(&mut w, "s_sendmsg 1", None).unwrap();
    for (text, form) in [("exp invalid_target_10 v0, v0, v0, v0", "this target"), ("s_sendmsg 15", "this message")] {
        let trap = give(&mut w, text, Some(&Recorder::default())).unwrap_err();
        assert!(matches!(*trap, Trap::Unimplemented { what, .. } if what == form), "{text}: {trap}");
    }
}
