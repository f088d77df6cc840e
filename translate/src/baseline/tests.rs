//! Functions of each kind of instruction, compiled by both compilers: they compute the same.

use super::{compile, is_available};
use crate::host::Host;
use crate::jit::host;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{AbiParam, Block, Function, InstBuilder, JumpTableData, MemFlagsData, Opcode, Signature};
use cranelift_codegen::ir::{BlockCall, StackSlotData, StackSlotKind, Type, UserFuncName, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

/// What functions get: quadwords to read, and some to write.
type Words = [u64; 64];
type Compiled = unsafe extern "C" fn(*const Words, *mut Words, u32) -> u32;

/// A function that reads the first argument's memory and writes the second's.
fn function(build: impl FnOnce(&mut FunctionBuilder<'_>, [Value; 3])) -> Context {
    let mut signature = Signature::new(host().default_call_conv());
    signature.params.extend([I64, I64, I32].map(AbiParam::new));
    signature.returns.push(AbiParam::new(I32));
    let mut context = Context::for_function(Function::with_name_signature(UserFuncName::default(), signature));
    let mut frontend = FunctionBuilderContext::new();
    let mut fb = FunctionBuilder::new(&mut context.func, &mut frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    let params = [0, 1, 2].map(|i| fb.block_params(entry)[i]);
    build(&mut fb, params);
    fb.seal_all_blocks();
    fb.finalize(host().frontend_config());
    context
}

/// Runs what each compiler makes of a function, on the same words.
fn check(name: &str, words: &Words, index: u32, build: impl Fn(&mut FunctionBuilder<'_>, [Value; 3])) {
    if !is_available() {
        return;
    }
    let run = |wide: bool| {
        let mut context = function(&build);
        assert!(compile(&context.func).is_some(), "{name} is for the baseline compiler");
        let host = Host::compile(&mut context, 0, wide).expect("it can be compiled");
        let mut written = [0; 64];
        // SAFETY: `function` has given it this signature; the tests' functions stay inside of both arrays.
        let result = unsafe {
            let compiled = std::mem::transmute::<*const u8, Compiled>(host.address());
            compiled(words, &raw mut written, index)
        };
        (result, written)
    };
    assert_eq!(run(true), run(false), "{name}");
}

/// Bits of all kinds.
fn words(seed: u64) -> Words {
    const EDGES: [u64; 8] = [0, 1, u64::MAX, 1 << 31, 1 << 63, 0xffff_ffff, 0x7fff_ffff, 1 << 32];
    std::array::from_fn(|i| {
        let bits = (seed * 64 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let edge = EDGES[(bits >> 40) as usize % EDGES.len()];
        if bits >> 60 < 6 { edge } else { (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) }
    })
}

fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// A value of a type from the words.
fn read(fb: &mut FunctionBuilder<'_>, ty: Type, from: Value, word: i32) -> Value {
    let bits = fb.ins().load(I64, flags(), from, 8 * word);
    if ty == I64 { bits } else { fb.ins().ireduce(ty, bits) }
}

/// Writes a value, zero-extended.
fn write(fb: &mut FunctionBuilder<'_>, value: Value, to: Value, word: i32) {
    let narrow = fb.func.dfg.value_type(value) != I64;
    let bits = if narrow { fb.ins().uextend(I64, value) } else { value };
    fb.ins().store(flags(), bits, to, 8 * word);
}

fn leave(fb: &mut FunctionBuilder<'_>) {
    let zero = fb.ins().iconst(I32, 0);
    fb.ins().return_(&[zero]);
}

/// An operation on two values.
fn operate(fb: &mut FunctionBuilder<'_>, opcode: Opcode, a: Value, b: Value) -> Value {
    let ins = fb.ins();
    match opcode {
        Opcode::Iadd => ins.iadd(a, b),
        Opcode::Isub => ins.isub(a, b),
        Opcode::Imul => ins.imul(a, b),
        Opcode::Band => ins.band(a, b),
        Opcode::Bor => ins.bor(a, b),
        Opcode::Bxor => ins.bxor(a, b),
        Opcode::Umulhi => ins.umulhi(a, b),
        Opcode::Smulhi => ins.smulhi(a, b),
        Opcode::Ishl => ins.ishl(a, b),
        Opcode::Ushr => ins.ushr(a, b),
        Opcode::Sshr => ins.sshr(a, b),
        Opcode::Umin => ins.umin(a, b),
        Opcode::Umax => ins.umax(a, b),
        Opcode::Smin => ins.smin(a, b),
        _ => ins.smax(a, b),
    }
}

const BINARY: [Opcode; 15] = [
    Opcode::Iadd,
    Opcode::Isub,
    Opcode::Imul,
    Opcode::Band,
    Opcode::Bor,
    Opcode::Bxor,
    Opcode::Umulhi,
    Opcode::Smulhi,
    Opcode::Ishl,
    Opcode::Ushr,
    Opcode::Sshr,
    Opcode::Umin,
    Opcode::Umax,
    Opcode::Smin,
    Opcode::Smax,
];

/// Whether an operation is one on values of a type.
fn has(opcode: Opcode, ty: Type) -> bool {
    match opcode {
        Opcode::Umulhi | Opcode::Smulhi => ty == I32,
        Opcode::Band | Opcode::Bor | Opcode::Bxor => true,
        _ => ty != I8,
    }
}

#[test]
fn operations_on_two_values() {
    for (seed, opcode) in (0..).zip(BINARY) {
        for ty in [I8, I32, I64].into_iter().filter(|ty| has(opcode, *ty)) {
            check(&format!("{opcode} {ty}"), &words(seed), 0, |fb, [from, to, _]| {
                for i in 0..16 {
                    let (a, b) = (read(fb, ty, from, 2 * i), read(fb, ty, from, 2 * i + 1));
                    let constant = fb.ins().iconst(ty, [5, -1, 127, 0x1234_5678][i as usize % 4] & ones(ty));
                    let results =
                        [operate(fb, opcode, a, b), operate(fb, opcode, a, constant), operate(fb, opcode, constant, b)];
                    // The operands live on in half of the cases.
                    let last = if i % 2 == 0 { operate(fb, Opcode::Bxor, a, b) } else { results[0] };
                    for (k, result) in results.into_iter().chain([last]).enumerate() {
                        write(fb, result, to, 4 * i + k as i32);
                    }
                }
                leave(fb);
            });
        }
    }
}

/// The bits that constants of a type may have.
fn ones(ty: Type) -> i64 {
    if ty == I64 { -1 } else { (1 << ty.bits()) - 1 }
}

#[test]
fn operations_on_one_value() {
    for ty in [I32, I64] {
        check(&format!("one {ty}"), &words(20), 0, |fb, [from, to, _]| {
            for i in 0..9 {
                let a = read(fb, ty, from, i);
                let byte = fb.ins().ireduce(I8, a);
                let results = [fb.ins().ineg(a), fb.ins().popcnt(a), fb.ins().ctz(a), fb.ins().clz(a), byte];
                let low = read(fb, I32, from, i);
                let results = results.into_iter().chain([fb.ins().sextend(I64, low), fb.ins().uextend(I64, low)]);
                results.enumerate().for_each(|(k, result)| write(fb, result, to, 7 * i + k as i32));
            }
            leave(fb);
        });
    }
}

const CONDITIONS: [IntCC; 10] = [
    IntCC::Equal,
    IntCC::NotEqual,
    IntCC::SignedLessThan,
    IntCC::SignedGreaterThanOrEqual,
    IntCC::SignedGreaterThan,
    IntCC::SignedLessThanOrEqual,
    IntCC::UnsignedLessThan,
    IntCC::UnsignedGreaterThanOrEqual,
    IntCC::UnsignedGreaterThan,
    IntCC::UnsignedLessThanOrEqual,
];

#[test]
fn comparisons_are_values_or_conditions() {
    for (seed, condition) in (40..).zip(CONDITIONS) {
        for ty in [I32, I64] {
            check(&format!("{condition} {ty}"), &words(seed), 0, |fb, [from, to, _]| {
                for i in 0..16 {
                    let (a, b) = (read(fb, ty, from, 2 * i), read(fb, ty, from, 2 * i + 1));
                    let seven = fb.ins().iconst(ty, 7);
                    let value = fb.ins().icmp(condition, a, b);
                    write(fb, value, to, 4 * i);
                    let known = fb.ins().select(value, b, seven);
                    write(fb, known, to, 4 * i + 1);
                    // Nothing else looks at this one, and its operands must live until something does.
                    let folded = fb.ins().icmp(condition, seven, b);
                    let other = fb.ins().bxor(a, b);
                    let chosen = fb.ins().select(folded, a, other);
                    write(fb, chosen, to, 4 * i + 2);
                    let (yes, no) = (fb.create_block(), fb.create_block());
                    let taken = fb.ins().icmp(condition, b, a);
                    write(fb, other, to, 4 * i + 3);
                    fb.ins().brif(taken, yes, &[], no, &[]);
                    fb.switch_to_block(yes);
                    write(fb, a, to, 4 * i + 3);
                    fb.ins().jump(no, &[]);
                    fb.switch_to_block(no);
                }
                leave(fb);
            });
        }
    }
}

/// Changes whatever a call may change.
extern "C" fn callee(a: u64, b: u64, c: u64, d: u64, e: u32, f: u64) -> u64 {
    let sum = [a, b, c, d, e.into(), f]
        .into_iter()
        .enumerate()
        .fold(0u64, |sum, (i, word)| sum.rotate_left(7).wrapping_add(word).wrapping_mul(2 * i as u64 + 1));
    std::hint::black_box(sum)
}

#[test]
fn values_live_over_calls_and_where_registers_end() {
    for live in [1, 3, 6, 12, 30] {
        check(&format!("{live} values over calls"), &words(live as u64), 0, |fb, [from, to, _]| {
            let mut signature = Signature::new(host().default_call_conv());
            signature.params.extend([I64, I64, I64, I64, I32, I64].map(AbiParam::new));
            signature.returns.push(AbiParam::new(I64));
            let signature = fb.import_signature(signature);
            let values: Vec<Value> = (0..live).map(|i| read(fb, if i % 3 == 0 { I32 } else { I64 }, from, i)).collect();
            let quadwords: Vec<Value> = (0..6).map(|i| read(fb, I64, from, 40 + i)).collect();
            let dword = fb.ins().ireduce(I32, quadwords[4]);
            // Orders in which arguments come from each other's registers.
            for order in [[0, 1, 2, 3, 5], [5, 3, 2, 1, 0], [1, 0, 3, 2, 2]] {
                let callee = fb.ins().iconst(I64, callee as *const () as i64);
                let [a, b, c, d, f] = order.map(|i| quadwords[i]);
                let call = fb.ins().call_indirect(signature, callee, &[a, b, c, d, dword, f]);
                let result = fb.inst_results(call)[0];
                write(fb, result, to, 60 + order[0] as i32 / 2);
            }
            for (i, value) in values.into_iter().enumerate() {
                write(fb, value, to, i as i32);
            }
            leave(fb);
        });
    }
}

/// A value of a type in memory.
fn load(fb: &mut FunctionBuilder<'_>, ty: Type, from: Value, word: i32) -> Value {
    fb.ins().load(ty, flags(), from, 8 * word)
}

#[test]
fn memory_is_read_before_something_else_is_written_there() {
    for ty in [I32, I64] {
        check(&format!("order {ty}"), &words(8), 0, |fb, [from, to, _]| {
            for word in 0..64 {
                let value = read(fb, I64, from, word);
                write(fb, value, to, word);
            }
            for i in 0..10 {
                let (a, b) = (load(fb, ty, to, 4 * i), load(fb, ty, from, i));
                let (c, compared) = (load(fb, ty, to, 4 * i + 1), load(fb, ty, to, 4 * i + 2));
                let sum = fb.ins().iadd(a, b);
                let less = fb.ins().icmp(IntCC::SignedLessThan, b, compared);
                // Both are read behind this.
                fb.ins().store(flags(), b, to, 32 * i + 16 * (i % 2));
                let chosen = fb.ins().select(less, sum, c);
                fb.ins().store(flags(), chosen, to, 32 * i + 8);
                // What extends, and what is cut off.
                let extended = fb.ins().uload32(flags(), from, 8 * i + 4);
                let other = load(fb, I64, to, 4 * i + 3);
                let difference = fb.ins().isub(other, extended);
                let low = load(fb, I64, from, i + 7);
                let low = fb.ins().ireduce(I32, low);
                let low = fb.ins().umulhi(low, low);
                let low = fb.ins().uextend(I64, low);
                let mixed = fb.ins().bxor(low, difference);
                fb.ins().store(flags(), mixed, to, 32 * i + 24);
            }
            leave(fb);
        });
    }
}

#[test]
fn bytes_in_memory() {
    check("bytes", &words(12), 0, |fb, [from, to, _]| {
        for word in 0..64 {
            let value = read(fb, I64, from, word);
            write(fb, value, to, word);
        }
        // More of them than there are registers.
        let bytes: Vec<Value> =
            (0..20).map(|i| fb.ins().uload8([I32, I64][i as usize % 2], flags(), from, 3 * i)).collect();
        for (i, byte) in (0..).zip(bytes) {
            let more = fb.ins().iadd_imm_s(byte, 250);
            fb.ins().istore8(flags(), more, to, 7 * i);
            fb.ins().istore8(flags(), byte, to, 7 * i + 3);
        }
        leave(fb);
    });
}

#[test]
fn arithmetic_on_memory() {
    for (opcode, ty) in BINARY.into_iter().flat_map(|opcode| [(opcode, I32), (opcode, I64)]) {
        if !has(opcode, ty) {
            continue;
        }
        check(&format!("{opcode} {ty} on memory"), &words(9), 0, |fb, [from, to, _]| {
            for word in 0..64 {
                let value = read(fb, I64, from, word);
                write(fb, value, to, word);
            }
            for i in 0..12 {
                let other = [read(fb, ty, from, 20 + i), fb.ins().iconst(ty, 0x7654_3210)][i as usize % 2];
                let other = if i % 3 == 0 { fb.ins().bxor_imm_s(other, -1) } else { other };
                let before = load(fb, ty, to, 4 * i);
                let after = operate(fb, opcode, before, other);
                fb.ins().store(flags(), after, to, 32 * i);
                // The second operand is the one in memory, which is an update of some only.
                let before = load(fb, ty, to, 4 * i + 1);
                let after = operate(fb, opcode, other, before);
                fb.ins().store(flags(), after, to, 32 * i + 8);
                // Elsewhere, and with something in between.
                let before = load(fb, ty, to, 4 * i + 2);
                let after = operate(fb, opcode, before, other);
                let place = if i % 2 == 0 { 16 } else { 24 };
                fb.ins().store(flags(), other, to, 32 * i + place);
                fb.ins().store(flags(), after, to, 32 * i + 16);
            }
            leave(fb);
        });
    }
}

#[test]
fn complements() {
    for ty in [I32, I64] {
        check(&format!("complements {ty}"), &words(10), 0, |fb, [from, to, _]| {
            for i in 0..12 {
                let (a, b) = (read(fb, ty, from, 2 * i), load(fb, ty, from, 2 * i + 1));
                let (c, d) = (fb.ins().bxor_imm_s(a, -1), fb.ins().bxor_imm_s(b, -1));
                let e = fb.ins().bxor_imm_s(a, -1);
                let used_twice = fb.ins().bxor_imm_s(b, -1);
                let results = [fb.ins().band(c, b), fb.ins().band(a, d), fb.ins().band(used_twice, e)];
                let last = fb.ins().bor(used_twice, a);
                let (low, high) = (fb.ins().bxor_imm_s(a, -1), fb.ins().bxor_imm_s(last, -1));
                let both = fb.ins().band(low, high);
                let all = results.into_iter().chain([last, both]);
                all.enumerate().for_each(|(k, result)| write(fb, result, to, 5 * i + k as i32));
            }
            leave(fb);
        });
    }
}

#[test]
fn what_nobody_reads_is_not_made() {
    let made = |is_read: bool| {
        let context = function(|fb, [from, to, _]| {
            let value = read(fb, I64, from, 0);
            let product = fb.ins().imul(value, value);
            let shifted = fb.ins().ushr_imm_u(product, 3);
            let result = fb.ins().ireduce(I32, shifted);
            if is_read {
                write(fb, result, to, 0);
            }
            leave(fb);
        });
        compile(&context.func).expect("it can be compiled").bytes.len()
    };
    let nothing = function(|fb, _| leave(fb));
    assert_eq!(made(false), compile(&nothing.func).expect("it can be compiled").bytes.len());
    assert!(made(true) > made(false));
}

#[test]
fn more_values_than_registers() {
    check("pressure", &words(3), 0, |fb, [from, to, _]| {
        let values: Vec<Value> = (0..40).map(|i| read(fb, [I32, I64][i as usize % 2], from, i)).collect();
        for (i, pair) in values.chunks(2).enumerate() {
            let wide = fb.ins().uextend(I64, pair[0]);
            let other = values[39 - 2 * i];
            let amount = fb.ins().ishl(other, pair[0]);
            let product = fb.ins().imul(wide, amount);
            let least = fb.ins().umin(product, other);
            let difference = fb.ins().isub(pair[1], least);
            write(fb, difference, to, i as i32);
        }
        leave(fb);
    });
}

#[test]
fn values_from_before_a_loop_live_to_its_end() {
    check("loop", &words(4), 5, |fb, [from, to, count]| {
        let slot = fb.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 64, 4));
        let frame = fb.ins().stack_addr(I64, slot, 8);
        let kept = read(fb, I64, from, 0);
        fb.ins().store(flags(), count, frame, 0);
        let (top, done) = (fb.create_block(), fb.create_block());
        fb.ins().jump(top, &[]);
        fb.switch_to_block(top);
        let left = fb.ins().load(I32, flags(), frame, 0);
        // Read first in the loop, and overwritten behind that if it were thought to be dead.
        let sum = read(fb, I64, to, 1);
        let sum = fb.ins().iadd(sum, kept);
        write(fb, sum, to, 1);
        let others: Vec<Value> = (2..20).map(|i| read(fb, I64, from, i)).collect();
        others.iter().enumerate().for_each(|(i, other)| write(fb, *other, to, 2 + i as i32));
        let left = fb.ins().iadd_imm_s(left, -1);
        fb.ins().store(flags(), left, frame, 0);
        fb.ins().brif(left, top, &[], done, &[]);
        fb.switch_to_block(done);
        fb.ins().return_(&[left]);
    });
}

#[test]
fn jumps_lead_past_blocks_that_only_jump() {
    for (count, cold) in [(1, false), (5, false), (5, true)] {
        check("jumps", &words(11), count, |fb, [_, to, count]| {
            let [top, again, out, forever, done] = [(); 5].map(|()| fb.create_block());
            if cold {
                fb.set_cold_block(out);
            }
            fb.ins().store(flags(), count, to, 8);
            fb.ins().jump(top, &[]);
            fb.switch_to_block(top);
            let left = fb.ins().load(I32, flags(), to, 8);
            let left = fb.ins().iadd_imm_s(left, -1);
            fb.ins().store(flags(), left, to, 8);
            fb.ins().brif(left, again, &[], out, &[]);
            fb.switch_to_block(again);
            fb.ins().jump(top, &[]);
            fb.switch_to_block(out);
            let number = fb.ins().iconst(I32, 77);
            fb.ins().store(flags(), number, to, 16);
            fb.ins().brif(left, forever, &[], done, &[]);
            // Nobody comes here.
            fb.switch_to_block(forever);
            fb.ins().jump(forever, &[]);
            fb.switch_to_block(done);
            fb.ins().return_(&[left]);
        });
    }
}

#[test]
fn tables_and_seldom_executed_blocks() {
    for index in 0..5 {
        check(&format!("entry {index}"), &words(5), index, |fb, [_, to, index]| {
            let blocks: Vec<Block> = (0..4).map(|_| fb.create_block()).collect();
            fb.set_cold_block(blocks[1]);
            let pool = &mut fb.func.dfg.value_lists;
            let targets: Vec<BlockCall> = blocks.iter().map(|block| BlockCall::new(*block, [], pool)).collect();
            let table = fb.create_jump_table(JumpTableData::new(targets[3], &targets[..3]));
            fb.ins().br_table(index, table);
            for (i, block) in blocks.iter().enumerate() {
                fb.switch_to_block(*block);
                let number = fb.ins().iconst(I32, [7, -1, 0x7fff_ffff, i as i64][i]);
                fb.ins().store(flags(), number, to, 0);
                let large = fb.ins().iconst(I64, [1 << 40, -1, 1 << 31, i as i64][i]);
                fb.ins().store(flags(), large, to, 8);
                fb.ins().return_(&[number]);
            }
        });
    }
}

#[test]
fn vectors_are_moved_and_spread() {
    check("vectors", &words(6), 0, |fb, [from, to, _]| {
        let loaded: Vec<Value> = (0..8).map(|i| fb.ins().load(I32X4, flags(), from, 16 * i)).collect();
        let quadword = read(fb, I64, from, 3);
        let dword = fb.ins().uload32(flags(), from, 20);
        let dword = fb.ins().ireduce(I32, dword);
        let spread = [fb.ins().splat(I64X2, quadword), fb.ins().splat(I32X4, dword)];
        for (i, vector) in loaded.into_iter().chain(spread).enumerate() {
            fb.ins().store(MemFlagsData::new(), vector, to, 16 * i as i32);
        }
        leave(fb);
    });
}

/// Floats of all kinds.
fn floats(double: bool) -> Words {
    let mut words = words(7);
    let edges = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, f64::NAN, f64::INFINITY, -f64::INFINITY, 4294967295.0, 4294967296.0];
    let more = [2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 1e30, -1e30, 1e-310, 1e-40, 1.0 / 3.0];
    for (word, edge) in words.iter_mut().zip(edges.into_iter().chain(more)) {
        *word = if double { edge.to_bits() } else { (edge as f32).to_bits().into() };
    }
    // NaNs that differ, one of them signalling.
    words[20] = if double { 0x7ff8_0000_0000_1234 } else { 0x7fc0_1234 };
    words[21] = if double { 0xfff0_0000_0000_4321 } else { 0xff80_4321 };
    words
}

#[test]
fn operations_on_floats() {
    for (bits, ty) in [(I32, F32), (I64, F64)] {
        check(&format!("{ty}"), &floats(ty == F64), 0, |fb, [from, to, _]| {
            let mut at = 0;
            for (i, k, l) in (0..24).flat_map(|i| [(i, 20, 21), (i, 2 + i, 6), (21, i, 20), (i, i, i + 1)]) {
                let [a, b, c] = [i, k, l].map(|word| {
                    let bits = read(fb, bits, from, word);
                    fb.ins().bitcast(ty, MemFlagsData::new(), bits)
                });
                let made = [fb.ins().fadd(a, b), fb.ins().fsub(a, b), fb.ins().fmul(a, b), fb.ins().fdiv(a, b)];
                let more = [fb.ins().fma(a, b, c), fb.ins().sqrt(a), fb.ins().floor(a), fb.ins().ceil(a)];
                let last = [fb.ins().trunc(a), fb.ins().nearest(a)];
                for value in made.into_iter().chain(more).chain(last) {
                    let bits = fb.ins().bitcast(bits, MemFlagsData::new(), value);
                    gather(fb, bits, to, &mut at);
                }
            }
            leave(fb);
        });
    }
}

/// Adds a value to what a word of the result says of all that came before.
fn gather(fb: &mut FunctionBuilder<'_>, value: Value, to: Value, at: &mut i32) {
    let narrow = fb.func.dfg.value_type(value) != I64;
    let value = if narrow { fb.ins().uextend(I64, value) } else { value };
    let before = fb.ins().load(I64, flags(), to, 8 * (*at % 64));
    let turned = fb.ins().imul_imm_s(before, 0x1_0001_0003);
    let sum = fb.ins().iadd(turned, value);
    fb.ins().store(flags(), sum, to, 8 * (*at % 64));
    *at += 1;
}

#[test]
fn floats_and_integers() {
    for (bits, ty) in [(I32, F32), (I64, F64)] {
        check(&format!("conversions of {ty}"), &floats(ty == F64), 0, |fb, [from, to, _]| {
            let mut at = 0;
            for i in 0..64 {
                let word = read(fb, bits, from, i);
                let value = fb.ins().bitcast(ty, MemFlagsData::new(), word);
                let (unsigned, signed) = (fb.ins().fcvt_to_uint_sat(I32, value), fb.ins().fcvt_to_sint_sat(I32, value));
                gather(fb, unsigned, to, &mut at);
                gather(fb, signed, to, &mut at);
                let integer = read(fb, I32, from, i);
                let made = [fb.ins().fcvt_from_uint(ty, integer), fb.ins().fcvt_from_sint(ty, integer)];
                for float in made {
                    let result = fb.ins().bitcast(bits, MemFlagsData::new(), float);
                    gather(fb, result, to, &mut at);
                }
                let other = if ty == F32 { fb.ins().fpromote(F64, value) } else { fb.ins().fdemote(F32, value) };
                let result = fb.ins().bitcast(if ty == F32 { I64 } else { I32 }, MemFlagsData::new(), other);
                gather(fb, result, to, &mut at);
                let reversed = fb.ins().bitrev(integer);
                gather(fb, reversed, to, &mut at);
            }
            leave(fb);
        });
    }
}

#[test]
fn what_is_none_of_its_business_is_left_to_cranelift() {
    let context = function(|fb, [from, to, _]| {
        let bits = fb.ins().load(I32, flags(), from, 0);
        let number = fb.ins().bitcast(F32, MemFlagsData::new(), bits);
        let equal = fb.ins().fcmp(FloatCC::Equal, number, number);
        write(fb, equal, to, 0);
        leave(fb);
    });
    assert!(compile(&context.func).is_none());
}
