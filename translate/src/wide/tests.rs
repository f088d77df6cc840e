//! What the assembler writes, read by an independent disassembler.

use super::asm::{Asm, Gpr, K, MaskOp, Mem, Rm, ShiftBy, When, Zmm, op};
use crate::x64::tests::lines;

/// The instructions of some code, but for the padding and the pool behind it.
fn listing(emit: impl FnOnce(&mut Asm)) -> Vec<String> {
    let mut asm = Asm::new();
    emit(&mut asm);
    lines(&asm.finish())
}

fn one(emit: impl FnOnce(&mut Asm)) -> String {
    let lines = listing(emit);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines[0].clone()
}

/// Opcodes whose encodings end in an immediate.
fn has_immediate(name: &str) -> bool {
    let names = [
        "VPCMP",
        "VCMP",
        "VRNDSCALE",
        "VGETMANT",
        "VCVTPS2PH",
        "VINSERTI",
        "VEXTRACTI",
        "VPTERNLOG",
        "VSHUFI",
        "VPSHUFD",
    ];
    names.iter().any(|prefix| name.starts_with(prefix))
}

#[test]
fn every_opcode_is_the_instruction_of_its_name() {
    for (name, row) in op::ALL {
        let imm = has_immediate(name);
        let line = one(|asm| match *name {
            "VPMOVM2D" => asm.signs_of_mask(Zmm(3), K(2)),
            "VPBROADCASTD" | "VPBROADCASTQ" | "VBROADCASTI32X4" => asm.v1(*row, Zmm(3), Rm::Mem(Mem::At(Gpr::Rdx, 8))),
            _ if imm => asm.vi(*row, Zmm(3), Zmm(0), Zmm(5), 1),
            _ => asm.v(*row, Zmm(3), Zmm(0), Zmm(5)),
        });
        // Comparisons have their predicate in the name.
        let stem = name.trim_end_matches("_STORE").to_lowercase();
        let written = line.split_whitespace().next().expect("a mnemonic");
        let start = if stem.starts_with("vcmp") || stem.starts_with("vpcmp") { &stem[..4] } else { &stem };
        let end = if start.len() == 4 { &stem[stem.len() - 1..] } else { "" };
        // An encoding with an unused first source that is not the one the manual wants does not decode.
        let unary = line == "(bad)";
        if unary {
            let line = one(|asm| match imm {
                true => asm.v1i(*row, Zmm(3), Zmm(5), 1),
                false => asm.v1(*row, Zmm(3), Zmm(5)),
            });
            assert!(line.starts_with(&stem), "{name} reads {line}");
        } else {
            assert!(written.starts_with(start) && written.ends_with(end), "{name} reads {line}");
        }
    }
}

#[test]
fn operands() {
    let mem = |offset| Mem::At(Gpr::Rdi, offset);
    let lines = listing(|asm| {
        asm.v(op::VPADDD, Zmm(17), Zmm(9), Zmm(30));
        asm.v(op::VPADDD, Zmm(31), Zmm(16), Rm::Mem(mem(0x40)));
        asm.v(op::VPADDD, Zmm(1), Zmm(2), Rm::Mem(mem(0x44)));
        asm.v(op::VADDPD, Zmm(1), Zmm(2), Rm::Mem(mem(-0x2000)));
        asm.v(op::VADDPD, Zmm(1), Zmm(2), Rm::Broadcast(Mem::At(Gpr::R8, 16)));
        asm.v(op::VADDPS, Zmm(1), Zmm(2), Rm::Broadcast(Mem::At(Gpr::Rdx, 0x7c)));
        asm.blend(op::VPBLENDMQ, Zmm(20), K(3), Zmm(21), Zmm(22));
        asm.merge(op::VPBROADCASTD, Zmm(20), K(1), Rm::Mem(Mem::At(Gpr::Rcx, 4)));
        asm.merge2(op::VPADDD, Zmm(20), K(1), Zmm(9), Rm::Broadcast(Mem::At(Gpr::Rcx, 4)));
        asm.clear(op::VMOVDQA32, Zmm(20), K(7), Zmm(8));
        asm.compare(op::VPCMPUD, K(5), Zmm(30), Zmm(8), 1);
        asm.compare(op::VCMPPD, K(5), Zmm(30), Zmm(8), 0x12);
        asm.shift(ShiftBy::left(false), Zmm(18), Zmm(3), 7);
        asm.shift(ShiftBy::right(true), Zmm(18), Zmm(3), 33);
        asm.shift(ShiftBy::right_signed(true), Zmm(1), Zmm(30), 33);
        asm.upper(Zmm(2), Zmm(29));
        asm.join(Zmm(2), Zmm(29), Zmm(3));
        asm.narrow(op::VPMOVDW, Zmm(2), Zmm(29), None);
        asm.narrow(op::VCVTPS2PH, Zmm(2), Zmm(29), Some(3));
        asm.store(mem(0x1fc0), Zmm(19));
        asm.mask_of_signs(K(2), Zmm(19));
    });
    let expected = [
        "vpaddd zmm17,zmm9,zmm30",
        "vpaddd zmm31,zmm16,[rdi+40h]",
        "vpaddd zmm1,zmm2,[rdi+44h]",
        "vaddpd zmm1,zmm2,[rdi-2000h]",
        "vaddpd zmm1,zmm2,[r8+10h]{1to8}",
        "vaddps zmm1,zmm2,[rdx+7Ch]{1to16}",
        "vpblendmq zmm20{k3},zmm21,zmm22",
        "vpbroadcastd zmm20{k1},[rcx+4]",
        "vpaddd zmm20{k1},zmm9,[rcx+4]{1to16}",
        "vmovdqa32 zmm20{k7}{z},zmm8",
        "vpcmpltud k5,zmm30,zmm8",
        "vcmple_oqpd k5,zmm30,zmm8",
        "vpslld zmm18,zmm3,7",
        "vpsrlq zmm18,zmm3,21h",
        "vpsraq zmm1,zmm30,21h",
        "vextracti64x4 ymm2,zmm29,1",
        "vinserti64x4 zmm2,zmm29,ymm3,1",
        "vpmovdw ymm2,zmm29",
        "vcvtps2ph ymm2,zmm29,3",
        "vmovdqa32 [rdi+1FC0h],zmm19",
        "vpmovd2m k2,zmm19",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn masks_and_loops() {
    let lines = listing(|asm| {
        let skip = asm.jump(When::Zero);
        asm.k(MaskOp::And, K(1), K(2), K(3));
        asm.k(MaskOp::Andn, K(1), K(2), K(3));
        asm.k(MaskOp::Unpack, K(1), K(2), K(3));
        asm.k_upper(K(4), K(5));
        asm.k_load(K(4), Mem::At(Gpr::R8, 0x100));
        asm.k_store(Mem::At(Gpr::Rdx, 2), K(6));
        asm.k_read(Gpr::R11, K(6));
        asm.k_read(Gpr::Rax, K(1));
        asm.rotate_right(Gpr::R10, 16);
        asm.clear_register(Gpr::R10);
        let top = asm.here();
        asm.mov(Gpr::R8, Gpr::Rdx);
        asm.mov(Gpr::Rcx, Gpr::Rsi);
        asm.mov_imm(Gpr::Rax, 4);
        asm.add(Gpr::R9, 64);
        asm.dec(Gpr::Rax);
        asm.jump_back(When::NotZero, top);
        asm.is_zero16(Gpr::R8, 24);
        asm.is_ones64(Gpr::Rdx, 32);
        asm.is_ones32(Gpr::Rdi, 0x100);
        asm.clear64(Gpr::Rdx, 8);
        asm.bind(skip);
        asm.ret();
    });
    let expected = [
        "je near 000000000000106Ch",
        "kandw k1,k2,k3",
        "kandnw k1,k2,k3",
        "kunpckbw k1,k2,k3",
        "kshiftrw k4,k5,8",
        "kmovw k4,[r8+100h]",
        "kmovw [rdx+2],k6",
        "kmovw r11d,k6",
        "kmovw eax,k1",
        "ror r10,10h",
        "xor r10d,r10d",
        "mov r8,rdx",
        "mov rcx,rsi",
        "mov eax,4",
        "add r9,40h",
        "dec eax",
        "jne near 000000000000103Bh",
        "cmp word [r8+18h],0",
        "cmp qword [rdx+20h],0FFFFFFFFFFFFFFFFh",
        "cmp dword [rdi+100h],0FFFFFFFFh",
        "mov qword [rdx+8],0",
        "vzeroupper",
        "ret",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn addresses() {
    let lines = listing(|asm| {
        let done = asm.jump_always();
        asm.load64(Gpr::R8, Gpr::Rsi, 8);
        asm.load32(Gpr::R11, Gpr::Rdi, 0x100);
        asm.load16(Gpr::R10, Gpr::R8, 0x102);
        asm.store64(Gpr::Rdx, 8, Gpr::R11);
        asm.or_register(Gpr::Rax, Gpr::R9);
        asm.sub_mem(Gpr::Rax, Gpr::Rsi, 0);
        asm.add_register(Gpr::R10, Gpr::Rax);
        asm.compare_registers(Gpr::Rax, Gpr::R9);
        asm.sub(Gpr::R8, 64);
        asm.add32(Gpr::Rax, 60);
        asm.shift_left(Gpr::R10, 32);
        asm.compare8(Gpr::Rsi, 16, 0);
        asm.compare8(Gpr::Rsi, 17, 8);
        asm.clear8(Gpr::Rsi, 17);
        asm.k_test(K(1));
        asm.non_zero(K(3), Zmm(30));
        asm.compress(Zmm(6), K(2), Zmm(16));
        asm.compare_in(op::VPCMPD, K(5), K(4), Zmm(16), Zmm(17), 4);
        asm.store_lanes(Mem::At(Gpr::R11, 0), K(4), Zmm(3));
        asm.low_dword(Gpr::R10, Zmm(6));
        asm.low_dword(Gpr::Rcx, Zmm(23));
        asm.increment8(Gpr::R8, 17);
        asm.test8(Gpr::Rdi, 3, 0x10);
        asm.store_quarter(Mem::At(Gpr::R9, 32), Zmm(20), 3);
        asm.vi(op::VINSERTI32X4, Zmm(20), Zmm(21), Rm::Mem(Mem::At(Gpr::R9, 32)), 2);
        asm.prefetch(Gpr::R9, 0x440);
        asm.push(Gpr::Rsi);
        asm.pop(Gpr::Rsi);
        asm.mov_imm(Gpr::Rdx, 0x1234_5678_9abc_def0_i64);
        asm.jump_to(Gpr::Rax);
        asm.add_register32(Gpr::R8, Gpr::Rcx);
        asm.sub_register(Gpr::R11, Gpr::R9);
        asm.lowest_one(Gpr::R9, Gpr::Rax);
        asm.highest_one(Gpr::Rax, Gpr::Rax);
        asm.vi(op::VPTERNLOGD, Zmm(4), Zmm(5), Rm::Mem(Mem::At(Gpr::Rdi, 64)), 0xf6);
        asm.v1(op::VMOVDQU32, Zmm(3), Rm::Mem(Mem::At(Gpr::R10, 0)));
        asm.store_unaligned(Mem::At(Gpr::R11, 0), Zmm(3));
        asm.bind(done);
        let above = asm.jump(When::Above);
        let below = asm.jump(When::Below);
        asm.bind(above);
        asm.bind(below);
    });
    let expected = [
        "jmp 00000000000010BFh",
        "mov r8,[rsi+8]",
        "mov r11d,[rdi+100h]",
        "movzx r10d,word [r8+102h]",
        "mov [rdx+8],r11",
        "or rax,r9",
        "sub rax,[rsi]",
        "add r10,rax",
        "cmp rax,r9",
        "sub r8,40h",
        "add eax,3Ch",
        "shl r10,20h",
        "cmp byte [rsi+10h],0",
        "cmp byte [rsi+11h],8",
        "mov byte [rsi+11h],0",
        "kortestw k1,k1",
        "vptestmd k3,zmm30,zmm30",
        "vpcompressd zmm6{k2}{z},zmm16",
        "vpcmpneqd k5{k4},zmm16,zmm17",
        "vmovdqu32 [r11]{k4},zmm3",
        "vmovd r10d,xmm6",
        "vmovd ecx,xmm23",
        "inc byte [r8+11h]",
        "test byte [rdi+3],10h",
        "vextracti32x4 [r9+20h],zmm20,3",
        "vinserti32x4 zmm20,zmm21,[r9+20h],2",
        "prefetcht0 [r9+440h]",
        "push rsi",
        "pop rsi",
        "mov rdx,123456789ABCDEF0h",
        "jmp rax",
        "add r8d,ecx",
        "sub r11,r9",
        "bsf r9d,eax",
        "bsr eax,eax",
        "vpternlogd zmm4,zmm5,[rdi+40h],0F6h",
        "vmovdqu32 zmm3,[r10]",
        "vmovdqu32 [r11],zmm3",
        "ja near 00000000000010CBh",
        "jb near 00000000000010CBh",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn constants_are_found_once_and_relative() {
    let lines = listing(|asm| {
        let (a, b) = (asm.constant(&[1, 2, 3, 4]), asm.constant(&[9; 64]));
        assert_eq!(asm.constant(&[1, 2, 3, 4]), a);
        asm.v1(op::VPBROADCASTD, Zmm(0), Rm::Mem(a));
        asm.vi(op::VRNDSCALEPS, Zmm(0), Zmm(0), Rm::Mem(b), 9);
    });
    // The pool starts at the next multiple of 64.
    assert_eq!(lines, ["vpbroadcastd zmm0,[rel 1040h]", "vrndscaleps zmm0,[rel 1080h],9"]);
}

#[test]
fn lanes_in_memory() {
    let lines = listing(|asm| {
        asm.gather(Zmm(0), K(5), Gpr::Rcx, Zmm(25), 8);
        asm.gather(Zmm(17), K(1), Gpr::R9, Zmm(14), -4);
        asm.scatter(K(5), Gpr::Rcx, Zmm(27), Zmm(9));
        asm.scatter_pairs(K(6), Gpr::R10, Zmm(3), Zmm(31));
        asm.broadcast(Zmm(16), Gpr::Rax);
        asm.broadcast(Zmm(3), Gpr::R9);
        asm.store_narrow(op::VPMOVDB, Mem::At(Gpr::Rcx, 48), Zmm(20));
        asm.store_narrow(op::VPMOVDW, Mem::At(Gpr::Rcx, 32), Zmm(1));
        asm.v1(op::VPMOVZXBD, Zmm(2), Rm::Mem(Mem::At(Gpr::Rcx, 16)));
        asm.shift_right(Gpr::R9, 32);
        asm.test_in(K(5), K(2), Zmm(25), Zmm(3));
        asm.and32(Gpr::Rax, 0xbfff_0000);
        asm.compare32(Gpr::R10, 64);
        asm.clear_lowest_one(Gpr::R9);
        asm.clear_lowest_one(Gpr::Rdx);
        asm.load32_of(Gpr::Rax, Gpr::R11, Gpr::R10, 4);
        asm.load32_of(Gpr::Rdx, Gpr::Rdi, Gpr::R10, 0x100);
        asm.store_small(1, Gpr::Rcx, Gpr::Rax, Gpr::Rdx);
        asm.store_small(1, Gpr::R9, Gpr::R10, Gpr::Rsi);
        asm.store_small(2, Gpr::Rcx, Gpr::Rax, Gpr::Rdx);
        asm.lowest_one64(Gpr::R10, Gpr::R9);
        asm.mov(Gpr::R11, Gpr::Rsp);
        asm.sub(Gpr::Rsp, 256);
        asm.add(Gpr::Rsp, 256);
        asm.push(Gpr::Rbx);
        asm.pop(Gpr::Rbp);
        asm.mov(Gpr::Rbx, Gpr::Rdi);
        asm.load64(Gpr::Rsi, Gpr::Rbp, -8);
        asm.store32(Gpr::Rbx, 0x100, Gpr::Rax);
        asm.call_to(Gpr::Rax);
    });
    let expected = [
        "vpgatherdd zmm0{k5},[rcx+zmm25+8]",
        "vpgatherdd zmm17{k1},[r9+zmm14-4]",
        "vpscatterdd [rcx+zmm27]{k5},zmm9",
        "vpscatterdq [r10+ymm3]{k6},zmm31",
        "vpbroadcastd zmm16,eax",
        "vpbroadcastd zmm3,r9d",
        "vpmovdb [rcx+30h],zmm20",
        "vpmovdw [rcx+20h],zmm1",
        "vpmovzxbd zmm2,[rcx+10h]",
        "shr r9,20h",
        "vptestmd k5{k2},zmm25,zmm3",
        "and eax,0BFFF0000h",
        "cmp r10d,40h",
        "blsr r9,r9",
        "blsr rdx,rdx",
        "mov eax,[r11+r10*4+4]",
        "mov edx,[rdi+r10*4+100h]",
        "mov [rcx+rax],dl",
        "mov [r9+r10],sil",
        "mov [rcx+rax],dx",
        "bsf r10,r9",
        "mov r11,rsp",
        "sub rsp,100h",
        "add rsp,100h",
        "push rbx",
        "pop rbp",
        "mov rbx,rdi",
        "mov rsi,[rbp-8]",
        "mov [rbx+100h],eax",
        "call rax",
    ];
    assert_eq!(lines, expected);
}
