//! Loops that are one part, and know from iteration to iteration how registers count.
//!
//! Each work-item adds up dwords that are so far apart, and stores the sum, with the index and the address that it ended at,
//! behind them.

use gcnjit::isa::asm;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::rt::{Loaded, Memory, Mode, RegisterFile};
use gcnjit::{Buffer, Device, Engine, Kernel, Module, RawCode, Target};
use gcnjit_translate::pass::strides::Start;
use gcnjit_translate::{AtEnd, Machine, translate, wide};

/// Dwords that a work-item goes on by in each iteration.
const STEP: usize = 48;

/// The address of the input in s[0:1], of the output in s[4:5], the work-group of `size` work-items in s8.
fn text(size: usize, iterations: usize) -> String {
    format!(
        "
        s_mul_i32 s9, s8, {size}
        v_add_u32_e32 v1, s9, v0
        v_mov_b32_e32 v2, v1
        v_mov_b32_e32 v3, 0
        v_mov_b32_e32 v8, s1
        s_movk_i32 s10, {iterations}
    again:
        v_lshlrev_b32_e32 v4, 2, v2
        v_add_co_u32_e32 v4, vcc, s0, v4
        v_addc_co_u32_e32 v5, vcc, 0, v8, vcc
        global_load_dword v6, v[4:5], off
        v_add_u32_e32 v2, {STEP}, v2
        s_sub_u32 s10, s10, 1
        s_waitcnt vmcnt(0)
        v_add_u32_e32 v3, v3, v6
        s_cmp_lg_u32 s10, 0
        s_cbranch_scc1 again
        v_subrev_u32_e32 v4, s0, v4
        v_mul_u32_u24_e32 v1, 12, v1
        global_store_dword v1, v3, s[4:5]
        global_store_dword v1, v2, s[4:5] offset:4
        global_store_dword v1, v4, s[4:5] offset:8
        s_endpgm"
    )
}

fn raw() -> RawCode {
    let mut raw = RawCode::new(Target::Gfx900);
    raw.sgprs.insert(0, UserSgpr::Resource(Slot::Argument(0)));
    raw.sgprs.insert(4, UserSgpr::Resource(Slot::Argument(1)));
    (raw.group_ids, raw.vgprs) = (1, 12);
    raw
}

fn code(text: &str) -> Vec<u8> {
    let code = asm::assemble(text, Target::Gfx900).unwrap_or_else(|error| panic!("{error}\n{text}"));
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn kernel(device: &Device, text: &str) -> Kernel {
    Module::load_raw(device, "induction", code(text), &raw()).unwrap().kernel(RawCode::NAME).unwrap()
}

/// What a launch left in the output, and the instructions that it executed or what it complained of.
fn run(
    kernel: &Kernel,
    [input, output]: [&Buffer<u32>; 2],
    [groups, size]: [usize; 2],
    engine: Engine,
    slice: u64,
) -> (Vec<u32>, Result<u64, String>) {
    output.write(&vec![0; output.len()]);
    let launch = kernel.launch().grid((groups * size) as u32).block(size as u32).engine(engine).threads(1).slice(slice);
    let count = launch.arg(input).arg(output).run().map(|stats| stats.wave_instructions);
    (output.read(), count.map_err(|error| error.to_string()))
}

#[test]
fn the_kernel_has_one() {
    let memory = Memory::new().unwrap();
    let loaded = Loaded::new(raw().image(code(&text(64, 5))).unwrap(), &memory).unwrap();
    let start = Start::of_kernel(loaded.kernel(RawCode::NAME).unwrap().entry(), Some(8));
    let machine =
        Machine { target: Target::Gfx900, registers: RegisterFile::ALL, exceptions: false, at_end: AtEnd::Nothing };
    let unit = translate(&memory.view(), machine, &start, Mode(0xc0)).unwrap();
    let kept = unit.blocks.iter().flat_map(|planned| &planned.parts).filter_map(|part| part.induction.as_ref());
    let stale = kept.map(|induction| {
        let mut stale: Vec<u64> =
            induction.kept.iter().filter(|kept| kept.is_stale).map(|kept| kept.register).collect();
        stale.sort_unstable();
        stale
    });
    let wanted: &[&[u64]] = if wide::is_available() { &[&[2, 4, 5]] } else { &[] };
    assert_eq!(stale.collect::<Vec<_>>(), wanted, "the index and both halves of the address are written in the end");
}

/// Slices end in any iteration, and some waves have less than 64 work-items.
#[test]
fn iterations_may_be_interrupted() {
    for ([groups, size], iterations) in [([5, 64], 40), ([3, 192], 7), ([4, 40], 9), ([3, 100], 25), ([2, 64], 1)] {
        let items = groups * size;
        let data: Vec<u32> = (0..(items + iterations * STEP) as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let sum = |i: usize| (0..iterations).fold(0_u32, |sum, i_th| sum.wrapping_add(data[i + i_th * STEP]));
        let ended = |i: usize| [sum(i), (i + iterations * STEP) as u32, 4 * (i + (iterations - 1) * STEP) as u32];
        let want: Vec<u32> = (0..items).flat_map(ended).collect();
        let device = Device::with_threads(1).unwrap();
        let kernel = kernel(&device, &text(size, iterations));
        let (input, output) = (device.buffer_from(&data).unwrap(), device.buffer(3 * items).unwrap());
        for slice in [1, 10, 64, 333, 1 << 20] {
            for engine in [Engine::Interp, Engine::Jit] {
                let (got, count) = run(&kernel, [&input, &output], [groups, size], engine, slice);
                let waves = groups * size.div_ceil(64);
                assert_eq!(count, Ok((waves * (12 + 10 * iterations)) as u64), "{groups} of {size}, {engine:?}");
                assert!(got == want, "{groups} of {size}, {iterations} iterations, slices of {slice}, {engine:?}");
            }
        }
    }
}

/// Where the input ends in some iteration, engines say so of the same one, and have done the same before.
#[test]
fn iterations_that_leave_memory_fault() {
    let [groups, size, iterations] = [4, 64, 30];
    let device = Device::with_threads(1).unwrap();
    let kernel = kernel(&device, &text(size, iterations));
    let mut messages = Vec::new();
    for dwords in [64, 300, 1024, 64 + 29 * STEP, 128 + 29 * STEP, 256 + 29 * STEP] {
        let input = device.buffer_from(&vec![7_u32; dwords]).unwrap();
        let output = device.buffer(3 * groups * size).unwrap();
        let [want, first, second] = [Engine::Interp, Engine::Jit, Engine::Jit]
            .map(|engine| run(&kernel, [&input, &output], [groups, size], engine, 1 << 20));
        assert_eq!([&first, &second], [&want; 2], "{dwords} dwords");
        messages.extend(want.1.err());
    }
    assert_eq!(messages.len(), 5, "all but the last one are too small: {messages:?}");
}
