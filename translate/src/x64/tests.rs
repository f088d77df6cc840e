//! What the encoder writes, read by an independent disassembler.

use super::{Alu, Count, Encoder, Float, Gpr, Mem, Shift, When, Xmm};
use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};

/// The instructions of some code, but for the padding and the pool behind it.
pub fn lines(bytes: &[u8]) -> Vec<String> {
    let mut decoder = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE);
    let mut formatter = NasmFormatter::new();
    let mut lines = Vec::new();
    while decoder.can_decode() {
        let inst = decoder.decode();
        let mut line = String::new();
        formatter.format(&inst, &mut line);
        if line == "int3" {
            break;
        }
        lines.push(line);
    }
    lines
}

fn listing(emit: impl FnOnce(&mut Encoder)) -> Vec<String> {
    let mut encoder = Encoder::default();
    emit(&mut encoder);
    lines(&encoder.finish())
}

const REGISTERS: [Gpr; 16] = {
    use Gpr::*;
    [Rax, Rcx, Rdx, Rbx, Rsp, Rbp, Rsi, Rdi, R8, R9, R10, R11, R12, R13, R14, R15]
};

/// The name of a register, or of its lower half or its low byte.
fn name(register: Gpr, bytes: usize) -> String {
    let old = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"].get(register as usize);
    match (old, bytes) {
        (Some(name), 8) => format!("r{name}"),
        (Some(name), 4) => format!("e{name}"),
        (Some(name), _) if name.ends_with('x') => format!("{}l", &name[..1]),
        (Some(name), _) => format!("{name}l"),
        (None, 8) => format!("r{}", register as u8),
        (None, 4) => format!("r{}d", register as u8),
        (None, _) => format!("r{}b", register as u8),
    }
}

fn pairs() -> impl Iterator<Item = (Gpr, Gpr)> {
    REGISTERS.into_iter().flat_map(|a| REGISTERS.into_iter().map(move |b| (a, b)))
}

/// Expects a line for each pair of registers.
fn check_pairs(emit: impl Fn(&mut Encoder, Gpr, Gpr), expected: impl Fn(Gpr, Gpr) -> String) {
    let read = listing(|out| pairs().for_each(|(a, b)| emit(out, a, b)));
    assert_eq!(read, pairs().map(|(a, b)| expected(a, b)).collect::<Vec<_>>());
}

#[test]
fn all_registers_in_all_places() {
    for (wide, bytes) in [(false, 4), (true, 8)] {
        let two =
            |mnemonic: &'static str| move |a: Gpr, b: Gpr| format!("{mnemonic} {},{}", name(a, bytes), name(b, bytes));
        check_pairs(|out, a, b| out.load(wide, a, b), two("mov"));
        check_pairs(|out, a, b| out.alu(Alu::Sub, wide, a, b), two("sub"));
        check_pairs(|out, a, b| out.imul(wide, a, b), two("imul"));
        check_pairs(|out, a, b| out.mov_if(When::Less, wide, a, b), two("cmovl"));
        check_pairs(|out, a, b| out.count(Count::TrailingZeros, wide, a, b), two("tzcnt"));
        check_pairs(
            |out, a, b| out.and_not(wide, a, b, Gpr::R9),
            |a, b| format!("andn {},{},{}", name(a, bytes), name(b, bytes), name(Gpr::R9, bytes)),
        );
        check_pairs(
            |out, a, b| out.shift_register(Shift::RightSigned, wide, a, b, Gpr::Rcx),
            |a, b| format!("sarx {},{},{}", name(a, bytes), name(b, bytes), name(Gpr::Rcx, bytes)),
        );
    }
    check_pairs(|out, a, b| out.zero_extend8(a, b), |a, b| format!("movzx {},{}", name(a, 4), name(b, 1)));
    check_pairs(|out, a, b| out.sign_extend32(a, b), |a, b| format!("movsxd {},{}", name(a, 8), name(b, 4)));
}

#[test]
fn all_registers_as_bases() {
    for (offset, written) in [(0, ""), (8, "+8"), (-128, "-80h"), (128, "+80h"), (-0x1234, "-1234h")] {
        let address = |base| format!("[{}{written}]", name(base, 8));
        let at = |base| Mem::At(base, offset);
        check_pairs(|out, a, b| out.load(true, a, at(b)), |a, b| format!("mov {},{}", name(a, 8), address(b)));
        check_pairs(
            |out, a, b| out.store_register(false, at(b), a),
            |a, b| format!("mov {},{}", address(b), name(a, 4)),
        );
        check_pairs(|out, a, b| out.lea(a, at(b)), |a, b| format!("lea {},{}", name(a, 8), address(b)));
        check_pairs(|out, a, b| out.lea32(a, at(b)), |a, b| format!("lea {},{}", name(a, 4), address(b)));
        check_pairs(
            |out, a, b| out.alu_store(Alu::Xor, true, at(b), a),
            |a, b| format!("xor {},{}", address(b), name(a, 8)),
        );
        check_pairs(
            |out, a, b| out.and_not(true, a, Gpr::R10, at(b)),
            |a, b| format!("andn {},r10,{}", name(a, 8), address(b)),
        );
        check_pairs(
            |out, _, b| out.alu_imm(Alu::Cmp, false, at(b), -2),
            |_, b| format!("cmp dword {},0FFFFFFFEh", address(b)),
        );
        check_pairs(
            |out, _, b| out.store_imm(true, at(b), -2),
            |_, b| format!("mov qword {},0FFFFFFFFFFFFFFFEh", address(b)),
        );
        check_pairs(
            |out, a, b| out.store32_of(a, Gpr::R9, offset, b),
            |a, b| format!("mov [{}+r9*4{written}],{}", name(a, 8), name(b, 4)),
        );
        check_pairs(|out, _, b| out.compare_byte(at(b), 3), |_, b| format!("cmp byte {},3", address(b)));
    }
}

#[test]
fn dwords_at_sums_of_registers_and_small_loads() {
    let sum = |a, b| format!("[{}+{}]", name(a, 8), name(b, 8));
    let is_index = |b: &Gpr| *b != Gpr::Rsp;
    for a in REGISTERS {
        for b in REGISTERS.into_iter().filter(is_index) {
            let read = listing(|out| {
                out.load32_at(Gpr::R11, a, b);
                out.alu_store32_at(Alu::Sub, a, b, Gpr::R10);
                out.alu_store32_at(Alu::Add, a, b, Gpr::Rdx);
            });
            let sum = sum(a, b);
            assert_eq!(read, [format!("mov r11d,{sum}"), format!("sub {sum},r10d"), format!("add {sum},edx")]);
        }
    }
    for (bytes, signed, load) in [
        (1, false, "movzx {},byte"),
        (1, true, "movsx {},byte"),
        (2, false, "movzx {},word"),
        (2, true, "movsx {},word"),
    ] {
        check_pairs(
            |out, a, b| out.load_small(bytes, signed, a, Mem::At(b, 0)),
            |a, b| format!("{} [{}]", load.replace("{}", &name(a, 4)), name(b, 8)),
        );
    }
}

#[test]
fn constants_and_single_registers() {
    for register in REGISTERS {
        let [byte, half, whole] = [1, 4, 8].map(|bytes| name(register, bytes));
        let read = listing(|out| {
            out.mov_imm(register, 7);
            out.mov_imm(register, -7);
            out.mov_imm(register, 0xffff_fff9_i64);
            out.mov_imm(register, 0x1_2345_6789_i64);
            out.alu_imm(Alu::Add, true, register, 0x7f);
            out.alu_imm(Alu::And, false, register, 0x80);
            out.shift_imm(Shift::Left, false, register, 3);
            out.shift_imm(Shift::Right, true, register, 33);
            out.shift_imm(Shift::RightSigned, true, register, 63);
            out.rotate_right(register, 16);
            out.neg(true, register);
            out.dec(register);
            out.test(false, register);
            out.set(When::BelowEqual, register);
            out.swap_bytes(register);
            out.compare_byte(register, 0);
            out.clear_lowest_one(register);
            out.push(register);
            out.pop(register);
            out.call_to(register);
            out.jump_to(register);
        });
        let expected = [
            format!("mov {half},7"),
            format!("mov {whole},0FFFFFFFFFFFFFFF9h"),
            format!("mov {half},0FFFFFFF9h"),
            format!("mov {whole},123456789h"),
            format!("add {whole},7Fh"),
            format!("and {half},80h"),
            format!("shl {half},3"),
            format!("shr {whole},21h"),
            format!("sar {whole},3Fh"),
            format!("ror {whole},10h"),
            format!("neg {whole}"),
            format!("dec {half}"),
            format!("test {half},{half}"),
            format!("setbe {byte}"),
            format!("bswap {half}"),
            format!("cmp {byte},0"),
            format!("blsr {whole},{whole}"),
            format!("push {whole}"),
            format!("pop {whole}"),
            format!("call {whole}"),
            format!("jmp {whole}"),
        ];
        assert_eq!(read, expected);
    }
}

#[test]
fn conditions_are_those_of_their_names() {
    let all = [
        (When::Below, "jb", When::AboveEqual),
        (When::Zero, "je", When::NotZero),
        (When::BelowEqual, "jbe", When::Above),
        (When::Unordered, "jp", When::Ordered),
        (When::Less, "jl", When::GreaterEqual),
        (When::LessEqual, "jle", When::Greater),
    ];
    let opposites = ["jae", "jne", "ja", "jnp", "jge", "jg"];
    for ((when, name, not), opposite) in all.into_iter().zip(opposites) {
        assert_eq!((when.not(), not.not()), (not, when));
        let read = listing(|out| {
            let top = out.here();
            out.jump_back(when, top);
            out.jump_back(not, top);
        });
        assert_eq!(read, [format!("{name} near 0000000000001000h"), format!("{opposite} near 0000000000001000h")]);
    }
}

#[test]
fn tables_are_found_and_read() {
    let read = listing(|out| {
        let table = out.address(Gpr::R13);
        out.load_number(Gpr::Rax, Gpr::R13, Gpr::R9);
        out.load_number(Gpr::R12, Gpr::Rcx, Gpr::Rax);
        out.undefined();
        let here = out.here();
        out.link(table, here);
        out.ret_plain();
    });
    let expected = ["lea r13,[rel 1019h]", "movsxd rax,[r13+r9*4]", "movsxd r12,[rcx+rax*4]", "ud2", "ret"];
    assert_eq!(read, expected);
}

#[test]
fn floats_and_vectors() {
    let (low, high) = (Xmm(3), Xmm(12));
    let read = listing(|out| {
        out.load_vector(high, Mem::At(Gpr::Rsp, 16));
        out.store_vector(Mem::At(Gpr::R13, 0), low);
        out.splat(false, high, Gpr::R9);
        out.splat(true, low, Gpr::Rax);
        out.float(Float::Add, false, low, high, low);
        out.float(Float::Sub, true, high, low, high);
        out.float(Float::Mul, false, low, low, high);
        out.float(Float::Div, true, low, low, high);
        out.float(Float::Min, true, low, low, high);
        out.float(Float::Sqrt, false, low, high, high);
        out.float(Float::Convert, false, low, high, high);
        out.float(Float::Convert, true, low, high, high);
        out.round(false, high, low, 1);
        out.round(true, low, high, 3);
        out.multiply_add(true, high, low, high);
        out.float_of_integer(true, high, Gpr::R10);
        out.integer_of_float(false, Gpr::R10, high);
        out.compare_floats(false, low, high);
        out.compare_floats(true, high, low);
        out.move_to_float(true, high, Gpr::Rdx);
        out.move_from_float(false, Gpr::R11, high);
        out.copy_vector(low, high);
    });
    let expected = [
        "vmovdqu xmm12,[rsp+10h]",
        "vmovdqu [r13],xmm3",
        "vmovd xmm12,r9d",
        "vpbroadcastd xmm12,xmm12",
        "vmovq xmm3,rax",
        "vpbroadcastq xmm3,xmm3",
        "vaddss xmm3,xmm12,xmm3",
        "vsubsd xmm12,xmm3,xmm12",
        "vmulss xmm3,xmm3,xmm12",
        "vdivsd xmm3,xmm3,xmm12",
        "vminsd xmm3,xmm3,xmm12",
        "vsqrtss xmm3,xmm12,xmm12",
        "vcvtss2sd xmm3,xmm12,xmm12",
        "vcvtsd2ss xmm3,xmm12,xmm12",
        "vroundss xmm12,xmm3,xmm3,1",
        "vroundsd xmm3,xmm12,xmm12,3",
        "vfmadd213sd xmm12,xmm3,xmm12",
        "vcvtsi2sd xmm12,xmm12,r10",
        "vcvttss2si r10,xmm12",
        "vucomiss xmm3,xmm12",
        "vucomisd xmm12,xmm3",
        "vmovq xmm12,rdx",
        "vmovd r11d,xmm12",
        "vmovaps xmm3,xmm12",
    ];
    assert_eq!(read, expected);
}
