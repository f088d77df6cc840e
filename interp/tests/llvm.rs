//! Rows against what LLVM folds of constants: `vectors/llvm_fold.txt`, made by the script beside it.
//!
//! Each paragraph's vectors run as one instruction, a vector a lane, through the operands and the dispatch like any
//! other; scalar rows run once a vector. MODE is IEEE 754's: nearest even, denormals kept.

mod support;

use gcnjit_isa::{Op, Operand, Target, Ty};
use gcnjit_rt::LANES;
use support::{PLAIN_MODE, World, inst, s, v};

const VECTORS: &str = include_str!("vectors/llvm_fold.txt");

/// A row, whether its clamp bit is set, and the vectors: sources, then the result.
struct Paragraph<'a> {
    name: &'a str,
    clamp: bool,
    vectors: Vec<Vec<u64>>,
}

fn paragraphs() -> impl Iterator<Item = Paragraph<'static>> {
    VECTORS.split("\n\n").map(|paragraph| {
        let mut lines = paragraph.lines();
        let title = lines.next().expect("a title");
        let (name, clamp) = title.strip_suffix(" clamp").map_or((title, false), |name| (name, true));
        let number = |word| u64::from_str_radix(word, 16).expect("a number in hex");
        Paragraph { name, clamp, vectors: lines.map(|line| line.split(' ').map(number).collect()).collect() }
    })
}

/// The results of up to 64 vectors of a vector row.
fn lanes(op: Op, clamp: bool, vectors: &[Vec<u64>]) -> Vec<u64> {
    let (sources, result) = (op.info().srcs, op.info().dsts[0]);
    let mut w = World::new(Target::Gfx900);
    w.wave.mode = PLAIN_MODE;
    let register = |i: usize| v(4 * i as u8);
    for i in 0..sources.len() {
        let dword = |shift: u32| move |lane: usize| vectors.get(lane).map_or(0, |vector| (vector[i] >> shift) as u32);
        w.set(4 * i, dword(0));
        w.set(4 * i + 1, dword(32));
    }
    let destination = if result == Ty::mask { s(0) } else { v(16) };
    let mut instruction = inst(op, [destination], []);
    for i in 0..sources.len() {
        instruction.src[i] = register(i);
    }
    instruction.mods.clamp = clamp;
    w.run(&instruction);
    let lane = |lane: usize| match result {
        Ty::mask => w.wave.sgpr64(0) >> lane & 1,
        _ if result.dwords() == 2 => u64::from(w.wave.vgpr[16][lane]) | u64::from(w.wave.vgpr[17][lane]) << 32,
        _ => w.wave.vgpr[16][lane].into(),
    };
    (0..vectors.len()).map(lane).collect()
}

/// The result of one vector of a scalar row.
fn scalar(op: Op, vector: &[u64]) -> u64 {
    let mut w = World::new(Target::Gfx900);
    let mut instruction = inst(op, [s(16), Operand::Scc], []);
    for (i, source) in vector.iter().enumerate().take(op.info().srcs.len()) {
        w.wave.set_sgpr64(4 * i, *source);
        instruction.src[i] = s(4 * i as u8);
    }
    w.run(&instruction);
    if op.info().dsts[0].dwords() == 2 { w.wave.sgpr64(16) } else { w.wave.sgpr[16].into() }
}

/// Whether two results are the same. LLVM promises nothing about the bits of NaNs; its sines are the host's.
fn same(name: &str, ty: Ty, got: u64, want: u64) -> bool {
    let float = |bits: u64| match ty {
        Ty::f16 => half::f16::from_bits(bits as u16).to_f64(),
        Ty::f32 => f32::from_bits(bits as u32).into(),
        Ty::f64 => f64::from_bits(bits),
        _ => 0.0,
    };
    let (x, y) = (float(got), float(want));
    let approximate = ["v_sin", "v_cos", "v_exp", "v_log"].iter().any(|prefix| name.starts_with(prefix));
    let unit = if ty == Ty::f16 { 2e-3 } else { 2e-7 };
    got == want || x.is_nan() && y.is_nan() || approximate && (x - y).abs() <= unit * y.abs().max(1e-3)
}

#[test]
fn what_llvm_folds() {
    let mut wrong = Vec::new();
    for Paragraph { name, clamp, vectors } in paragraphs() {
        let op = Op::all().find(|op| op.info().name == name).unwrap_or_else(|| panic!("no row {name}"));
        if !op.info().executed {
            continue; // The table has not switched it on yet.
        }
        let results: Vec<u64> = if name.starts_with("s_") {
            vectors.iter().map(|vector| scalar(op, vector)).collect()
        } else {
            vectors.chunks(LANES).flat_map(|chunk| lanes(op, clamp, chunk)).collect()
        };
        for (vector, got) in vectors.iter().zip(results) {
            let (want, sources) = vector.split_last().expect("a result");
            if !same(name, op.info().dsts[0], got, *want) {
                wrong.push(format!("{name}({sources:x?}): {got:x}, LLVM says {want:x}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} results differ:\n{}", wrong.len(), wrong.join("\n"));
}
