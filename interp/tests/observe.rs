//! What [`Stepper`] says of an instruction, against what the instruction does: registers that it did not name are not
//! written, and what is in registers that it does not name has no influence. Words are random.

mod support;

use gcnjit_interp::Stepper;
use gcnjit_interp::memory::Place;
use gcnjit_isa::{Access, Decoder, Note, Op, Registers, Target, asm, disas};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::lds::Lds;
use gcnjit_rt::memory::Piece;
use gcnjit_rt::order::Order;
use gcnjit_rt::{Env, Memory, Mode, Wave};
use std::sync::atomic::AtomicBool;
use support::Random;

/// The machine around a wave; code is at `code`.
struct Bench {
    memory: Memory,
    code: u64,
    gds: Gds,
    stop: AtomicBool,
}

impl Bench {
    fn new() -> Bench {
        let memory = Memory::with_arena(1 << 30).unwrap();
        let code = memory.alloc_pieces(4096, &[Piece { executable: true, ..Piece::data(0, 4096) }]).unwrap();
        Bench { memory, code, gds: Gds::new(), stop: AtomicBool::new(false) }
    }

    fn step(&self, wave: &mut Wave, target: Target) -> Option<gcnjit_interp::observe::Step> {
        let (view, lds) = (self.memory.view(), Lds::new(4096));
        let order = Order::new();
        let bare = Env::bare(target, &view, &lds, (&self.gds, &order, &self.stop));
        let env = Env { exceptions: true, slice: 1, ..bare };
        Stepper::default().step(wave, &env).ok()
    }
}

fn random_wave(random: &mut Random, pc: u64) -> Box<Wave> {
    let mut wave = Wave::new();
    wave.vgpr.iter_mut().flatten().for_each(|lane| *lane = random.next() as u32);
    wave.sgpr.iter_mut().for_each(|sgpr| *sgpr = random.next() as u32 & 0xffff);
    wave.set_exec(random.next());
    wave.scc = random.below(2) as u32;
    wave.mode = Mode(0x3c0).with_csp(random.below(8) as u32);
    if random.below(4) == 0 {
        wave.mode.0 |= Mode::GPR_INDEX;
    }
    wave.pc = pc;
    wave
}

/// The registers in which two waves differ.
fn difference(a: &Wave, b: &Wave) -> Registers {
    let mut set = Registers { scc: a.scc != b.scc, mode: a.mode != b.mode, ..Registers::default() };
    (0..128).filter(|i| a.sgpr[*i] != b.sgpr[*i]).for_each(|i| set.add_sgprs(i as u8, 1));
    (0..256).filter(|i| a.vgpr[*i] != b.vgpr[*i]).for_each(|i| set.add_vgprs(i as u8, 1));
    set
}

/// Other values in every register that is not in `keep`; EXEC, M0 and MODE stay, which say how an instruction works.
fn disturbed(wave: &Wave, keep: &Registers) -> Box<Wave> {
    let mut other = Box::new(wave.clone());
    for i in (0..124).filter(|i| !keep.has_sgpr(*i)) {
        other.sgpr[usize::from(i)] ^= 0x1234_5677;
    }
    for i in (0..=255).filter(|i| !keep.has_vgpr(*i)) {
        other.vgpr[usize::from(i)].iter_mut().for_each(|lane| *lane ^= 0x8765_4321);
    }
    other.scc ^= u32::from(!keep.scc);
    other
}

fn is_memory(op: Op) -> bool {
    op.memory().is_some()
}

#[test]
fn registers_that_are_not_named_are_neither_written_nor_read() {
    let (bench, mut random) = (Bench::new(), Random(7));
    let mut seen = 0;
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900] {
        for _ in 0..6000 {
            let words = [random.next() as u32, random.next() as u32, random.next() as u32];
            let Ok(inst) = Decoder::new(target).decode(&words) else { continue };
            bench.memory.write(bench.code, &words.map(u32::to_le_bytes).concat()).unwrap();
            let before = random_wave(&mut random, bench.code);
            let mut after = before.clone();
            let Some(step) = bench.step(&mut after, target) else { continue };
            seen += 1;
            let text = disas::text(&inst, target);
            let outside = |set: &Registers| Registers {
                sgprs: set.sgprs & !step.writes.sgprs,
                vgprs: std::array::from_fn(|i| set.vgprs[i] & !step.writes.vgprs[i]),
                scc: set.scc && !step.writes.scc,
                mode: set.mode && !step.writes.mode,
            };
            let stray = outside(&difference(&before, &after));
            assert_eq!(stray, Registers::default(), "{target} {text} writes more than {:?}", step.writes);
            if is_memory(inst.op) || inst.op.info().has(Note::Host) {
                continue;
            }
            let mut other = disturbed(&before, &step.reads);
            let same = bench.step(&mut other, target).is_some();
            assert!(same, "{target} {text} ends otherwise");
            assert_results(&step, &before, &after, &other, &format!("{target} {text}"));
        }
    }
    assert!(seen > 5000, "{seen} instructions");
}

/// What was written came out the same though other registers differed.
fn assert_results(step: &gcnjit_interp::observe::Step, before: &Wave, after: &Wave, other: &Wave, text: &str) {
    for i in step.writes.sgprs().map(usize::from) {
        // A write that is dropped for its number leaves what was there.
        if after.sgpr[i] != before.sgpr[i] {
            assert_eq!(after.sgpr[i], other.sgpr[i], "{text}: s{i}");
        }
    }
    for (i, lane) in step.writes.vgprs().flat_map(|i| (0..64).map(move |lane| (usize::from(i), lane))) {
        if after.vgpr[i][lane] != before.vgpr[i][lane] {
            assert_eq!(after.vgpr[i][lane], other.vgpr[i][lane], "{text}: v{i}[{lane}]");
        }
    }
    if step.writes.scc {
        assert_eq!(after.scc, other.scc, "{text}: SCC");
    }
    assert_eq!(after.pc, other.pc, "{text}: PC");
}

/// Places by lane of an instruction on gfx9, of lanes 0 and 2.
fn touches(
    bench: &Bench,
    text: &str,
    set: impl FnOnce(&mut Wave),
) -> Vec<(Access, Option<usize>, Place, usize, usize)> {
    let inst = asm::assemble(text, Target::Gfx900).unwrap();
    let code: Vec<u8> = inst.into_iter().chain([0; 4]).flat_map(u32::to_le_bytes).collect();
    bench.memory.write(bench.code, &code).unwrap();
    let mut wave = Wave::new();
    wave.set_exec(5);
    wave.pc = bench.code;
    set(&mut wave);
    let step = bench.step(&mut wave, Target::Gfx900).unwrap();
    step.touches.iter().map(|t| (t.access, t.lane, t.place, t.bytes, t.dword)).collect()
}

#[test]
fn every_family_says_what_it_touches() {
    use Access::{Atomic, Load, Store};
    let bench = Bench::new();
    let data = bench.memory.alloc(4096).unwrap();
    let pointers = |wave: &mut Wave| {
        wave.set_sgpr64(0, data);
        for lane in 0..64 {
            let address = data + 16 * lane as u64;
            (wave.vgpr[0][lane], wave.vgpr[1][lane]) = (address as u32, (address >> 32) as u32);
            wave.vgpr[2][lane] = 8 * lane as u32;
        }
        // A raw buffer of a page.
        (wave.sgpr[4], wave.sgpr[5], wave.sgpr[6]) = (data as u32, (data >> 32) as u32, 4096);
    };
    let at = |offset: u64| Place::Memory(data + offset);
    let of = |text: &str| touches(&bench, text, pointers);
    assert_eq!(of("s_load_dwordx2 s[8:9], s[0:1], 0x20"), [(Load, None, at(0x20), 8, 0)]);
    let (first, third) = (Some(0), Some(2));
    assert_eq!(
        of("global_load_dwordx2 v[4:5], v[0:1], off offset:4"),
        [(Load, first, at(4), 8, 0), (Load, third, at(36), 8, 0)]
    );
    assert_eq!(of("flat_atomic_add v4, v[0:1], v2 glc"), [(Atomic, first, at(0), 4, 0), (Atomic, third, at(32), 4, 0)]);
    assert_eq!(
        of("buffer_store_dwordx2 v[2:3], v2, s[4:7], 0 offen"),
        [
            (Store, first, at(0), 4, 0),
            (Store, first, at(4), 4, 1),
            (Store, third, at(16), 4, 0),
            (Store, third, at(20), 4, 1)
        ]
    );
    assert_eq!(
        of("ds_write2_b32 v2, v0, v1 offset0:1 offset1:3"),
        [
            (Store, first, Place::Lds(4), 4, 0),
            (Store, third, Place::Lds(20), 4, 0),
            (Store, first, Place::Lds(12), 4, 0),
            (Store, third, Place::Lds(28), 4, 0)
        ]
    );
    assert_eq!(of("v_add_u32 v0, v1, v2"), []);
}
