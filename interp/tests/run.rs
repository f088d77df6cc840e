//! The run loop: code in memory, branches, stops, slices, and code that changes.

mod support;

use gcnjit_interp::{Interpreter, Worker};
use gcnjit_isa::Target;
use gcnjit_rt::gds::Gds;
use gcnjit_rt::memory::Piece;
use gcnjit_rt::{Cause, Engine, Stop, Trap};
use std::sync::atomic::AtomicBool;
use support::{World, env};

const S_ENDPGM: u32 = 0xbf81_0000;
const S_BARRIER: u32 = 0xbf8a_0000;
const S_NOP: u32 = 0xbf80_0000;
/// s_mov_b32 s0, k for k up to 64.
const fn s_mov_s0(k: u32) -> u32 {
    0xbe80_0080 + k
}
/// s_branch by a count of dwords.
const fn s_branch(dwords: i16) -> u32 {
    0xbf82_0000 | dwords as u16 as u32
}

fn go(w: &mut World, worker: &mut Worker, slice: u64, stop: bool) -> Result<Stop, Box<Trap>> {
    let (view, gds, stop) = (w.memory.view(), Gds::new(), AtomicBool::new(stop));
    let env = env(w.target, &view, 0, &w.lds, &gds, &stop, slice);
    Interpreter.run(worker, &mut w.wave, &env)
}

fn program(words: &[u32]) -> (World, Worker, u64) {
    let mut w = World::new(Target::Gfx900);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let len = bytes.len() as u64;
    let code = w.memory.alloc_pieces(len, &[Piece { executable: true, ..Piece::data(0, len) }]).expect("memory");
    w.memory.write(code, &bytes).expect("memory that was just allocated");
    w.wave.pc = code;
    (w, Interpreter.worker(), code)
}

#[test]
fn to_the_end() {
    let (mut w, mut worker, code) = program(&[s_mov_s0(5), s_branch(1), s_mov_s0(6), S_ENDPGM]);
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::End));
    assert_eq!((w.wave.sgpr[0], w.wave.executed, w.wave.pc), (5, 3, code + 16));
}

#[test]
fn barriers_stop_after_themselves() {
    let (mut w, mut worker, code) = program(&[S_BARRIER, s_mov_s0(7), S_ENDPGM]);
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::Barrier));
    assert_eq!(w.wave.pc, code + 4);
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::End));
    assert_eq!(w.wave.sgpr[0], 7);
}

#[test]
fn endless_loops_yield() {
    let (mut w, mut worker, code) = program(&[S_NOP, s_branch(-2)]);
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::Yield));
    assert!((100..110).contains(&w.wave.executed));
    assert_eq!(go(&mut w, &mut worker, u64::MAX, true), Ok(Stop::Yield));
    assert_eq!(w.wave.pc, code);
}

#[test]
fn code_is_not_run_from_a_stale_cache() {
    let (mut w, mut worker, code) = program(&[s_mov_s0(1), S_ENDPGM]);
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::End));
    w.memory.write(code, &s_mov_s0(2).to_le_bytes()).unwrap();
    w.wave.pc = code;
    assert_eq!(go(&mut w, &mut worker, 100, false), Ok(Stop::End));
    assert_eq!(w.wave.sgpr[0], 2);
}

#[test]
fn bad_jumps() {
    let (mut w, mut worker, _) = program(&[S_NOP]);
    for pc in [0, 2, u64::MAX - 3] {
        w.wave.pc = pc;
        let want = Trap::Fault { cause: Cause::BadJump, address: pc, lane: 0, pc };
        assert_eq!(go(&mut w, &mut worker, 100, false), Err(Box::new(want)));
    }
}

#[test]
fn what_is_no_instruction_stops_the_wave_only_when_it_is_reached() {
    let (mut w, mut worker, code) = program(&[s_mov_s0(3), 0xffff_ffff]);
    let trap = go(&mut w, &mut worker, 100, false).unwrap_err();
    assert!(matches!(*trap, Trap::Decode { pc, .. } if pc == code + 4), "{trap}");
    assert_eq!((w.wave.sgpr[0], w.wave.pc, w.wave.executed), (3, code + 4, 1));
}
