#!/usr/bin/env python3
"""Golden encodings: what llvm-mc says of instruction words, one file a target.

    tests/llvm/generate.py [gfx803 ...]      rewrites tests/llvm/<target>.txt
    tests/llvm/generate.py others            rewrites tests/llvm/others.txt

gfx8 and gfx9: every opcode of every encoding is tried with many field fillings and disassembled; what llvm-mc
accepts is kept, up to LIMIT lines an opcode, new shapes of text first. gfx6 and gfx7 have no disassembler in LLVM:
there the texts of gfx803 and gfx900, under the names of those generations, are assembled.
A line is the words in hex, a tab, and the text.

The other targets are held against the files of their generation: others.txt has each line that llvm-mc takes for
another text there, or not at all (no text), with the target and a tab in front.
"""
import os
import random
import re
import subprocess
import sys

LLVM_MC = os.environ.get("LLVM_MC", "llvm-mc-19")
HERE = os.path.dirname(os.path.abspath(__file__))
TRIES = 48
LIMIT = 6

# 125 is left out: LLVM has NULL there, which these generations do not have. So are apertures on gfx8.
SPECIAL = [106, 107, 124, 126, 127, 251, 252, 253]
INLINE = [128, 129, 130, 144, 192, 193, 194, 208, 240, 241, 242, 243, 244, 245, 246, 247, 248]
LITERALS = [0, 5, 0x40, 0x41, 0xFFFFFFF0, 0xFFFFFFEF, 0xFFFF, 0xFFF0, 0x3C00, 0xC400, 0x3118, 0x3F800000, 0x40000000,
            0x3FE00000, 0xBFF00000, 0xC0800000, 0x3E22F983, 0x12345678, 0x80000000, 0x3FF00001]


class Fill:
    """Random field values, reproducible an opcode."""

    def __init__(self, seed, target):
        self.r = random.Random(seed)
        self.gfx9 = target.startswith("gfx9")

    def pick(self, *pools):
        return self.r.choice(self.r.choice(pools))

    def sgpr(self):
        return self.r.choice([self.r.randrange(0, 102), self.r.randrange(0, 26) * 4])

    def ssrc(self, literal=True):
        special = SPECIAL + ([235, 236, 237, 238, 239, 108, 109, 120] if self.gfx9 else [108, 110, 111, 114])
        special += [102, 104, 103, 105]
        pools = [[self.sgpr()], [self.sgpr()], special, INLINE]
        return self.pick(*(pools + ([[255]] if literal else [])))

    def sdst(self):
        return self.pick([self.sgpr()], [self.sgpr()], [102, 104, 106, 106, 107, 112, 116, 124, 126, 127])

    def vgpr(self):
        return self.pick([self.r.randrange(256)], [0, 1, 4, 8, 255, 252])

    def src9(self, literal=True):
        return self.pick([256 + self.vgpr()], [256 + self.vgpr()], [self.ssrc(literal)])

    def bits(self, width, zero=2):
        return 0 if self.r.randrange(zero + 1) else self.r.randrange(1 << width)

    def word(self):
        return self.pick(LITERALS, LITERALS, [self.r.randrange(1 << 32)])


class Zero(Fill):
    """All fields zero, or the first of their values."""

    def __init__(self, target):
        super().__init__(0, target)
        self.r = self

    @staticmethod
    def choice(pool):
        return pool[0]

    @staticmethod
    def randrange(first, last=None):
        return 0 if last is None else first


def sop2(f, op):
    return [2 << 30 | op << 23 | f.sdst() << 16 | f.ssrc() << 8 | f.ssrc(), f.word()]


def sopk(f, op):
    imm = f.pick([f.r.randrange(1 << 16)], [0, 1, 0xFFFF, 0xF801, 0xF802, 0xF80F, 0x1901, 0x2302])
    return [0xB << 28 | op << 23 | f.sdst() << 16 | imm, f.word()]


def sop1(f, op):
    return [0x17D << 23 | f.pick([0], [f.sdst()], [f.sdst()]) << 16 | op << 8 | f.pick([0], [f.ssrc()], [f.ssrc()]), f.word()]


def sopc(f, op):
    return [0x17E << 23 | op << 16 | f.pick([f.ssrc()], [f.ssrc()], range(16)) << 8 | f.ssrc(), f.word()]


def sopp(f, op):
    return [0x17F << 23 | op << 16 | f.pick([f.r.randrange(1 << 16)], [0], range(16), [0xF, 0x70, 0xF7F, 0xCF7F, 0x22, 0x232])]


def smem(f, op):
    first = 0x30 << 26 | op << 18 | f.bits(1, 1) << 17 | f.bits(1) << 16 | f.pick([f.sdst()], [0], [4, 8, 16]) << 6
    first |= f.pick([0], [f.sgpr() >> 1], [f.r.randrange(0, 25) * 2])
    offset = f.pick([f.sgpr()], [0], [f.r.randrange(1 << 20)], [0x7FFFF, 0xFFFFF, 124])
    if f.gfx9:
        offset |= f.bits(1) << 20
        if f.bits(1):
            first |= 1 << 14
            offset |= f.sgpr() << 25
    return [first, offset]


def vop2(f, op):
    return [op << 25 | f.vgpr() << 17 | f.vgpr() << 9 | f.src9(), f.word()]


def vop1(f, op):
    return [0x3F << 25 | f.pick([0], [f.vgpr()], [f.vgpr()], [f.sdst()]) << 17 | op << 9 | f.pick([0], [f.src9()], [f.src9()], [f.src9()]), f.word()]


def vopc(f, op):
    return [0x3E << 25 | op << 17 | f.vgpr() << 9 | f.src9(), f.word()]


def sdwa_word(f, compare):
    word = f.vgpr() | f.r.randrange(7) << 16 | f.r.randrange(7) << 24
    word |= f.bits(1) << 19 | f.bits(2) << 20 | f.bits(1) << 27 | f.bits(2) << 28
    if f.gfx9:
        for at in (23, 31):
            word |= f.bits(1) << at
        if word >> 23 & 1:
            word = word & ~0xFF | f.ssrc(False)
    if compare:
        return word | (f.bits(1, 1) << 13 if not f.gfx9 else f.pick([0], [0x80 | f.sdst()]) << 8)
    return word | f.r.randrange(7) << 8 | f.r.randrange(3) << 11 | f.bits(1) << 13 | (f.bits(2) << 14 if f.gfx9 else 0)


def vop2_sdwa(f, op):
    second = sdwa_word(f, False)
    return [op << 25 | f.vgpr() << 17 | (f.sgpr() if second >> 31 else f.vgpr()) << 9 | 249, second]


def vop1_sdwa(f, op):
    return [0x3F << 25 | f.vgpr() << 17 | op << 9 | 249, sdwa_word(f, False) & f.pick([0xFFFFFF], [0x6FFFFFF])]


def vopc_sdwa(f, op):
    second = sdwa_word(f, True)
    return [0x3E << 25 | op << 17 | (f.sgpr() if second >> 31 else f.vgpr()) << 9 | 249, second]


def dpp_word(f):
    ctrl = f.pick([f.r.randrange(256)], [0x101, 0x10F, 0x111, 0x11F, 0x121, 0x12F, 0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143])
    return f.vgpr() | ctrl << 8 | f.bits(1) << 19 | f.bits(4) << 20 | f.r.randrange(256) << 24


def vop2_dpp(f, op):
    return [op << 25 | f.vgpr() << 17 | f.vgpr() << 9 | 250, dpp_word(f)]


def vop1_dpp(f, op):
    return [0x3F << 25 | f.vgpr() << 17 | op << 9 | 250, dpp_word(f) & f.pick([0xFF3FFFFF], [0xFFFFFFFF])]


def vop3(f, op):
    first = 0x34 << 26 | op << 16 | f.pick([f.vgpr()], [f.vgpr()], [f.sdst()])
    first |= f.pick([0], [0], [f.r.randrange(8)], [f.sdst()]) << 8 | f.bits(1) << 15
    if f.gfx9:
        first |= f.bits(4) << 11
    second = f.src9(False)
    arity = f.r.randrange(1, 4)
    if arity > 1:
        second |= f.src9(False) << 9
    if arity > 2:
        second |= f.pick([f.src9(False)], [106, f.sgpr()]) << 18
    if f.bits(1, 1):
        second |= f.r.randrange(1 << arity) << 29
    if f.bits(1, 1):
        second |= f.r.randrange(4) << 27
    return [first, 0 if f.bits(1, 10) else second]


def vop3p(f, op):
    first = 0x1A7 << 23 | op << 16 | f.vgpr() | f.bits(3) << 8 | f.bits(3) << 11 | f.bits(1, 1) << 14 | f.bits(1) << 15
    second = f.src9(False) | f.src9(False) << 9 | f.pick([0], [f.src9(False)]) << 18 | f.pick([3], range(4)) << 27
    return [first, second | f.bits(3) << 29]


def vintrp(f, op):
    return [0x35 << 26 | f.vgpr() << 18 | op << 16 | f.r.randrange(256) << 8 | f.pick([f.vgpr()], range(4))]


def ds(f, op):
    first = 0x36 << 26 | op << 17 | f.bits(1) << 16 | f.pick([0], [f.r.randrange(1 << 16)], [0x8000 | f.r.randrange(256)], [0x041F, 0x1C1F, 0x7C1F, 0x001C, 0x00F0, 0x0FFF])
    regs = [f.pick([0], [f.vgpr()], [f.vgpr()]) for _ in range(4)]
    arity = f.r.randrange(4)
    for i in range(arity, 3):
        regs[i] = 0
    return [first, regs[3] << 24 | regs[2] << 16 | regs[1] << 8 | regs[0]]


def buffer_words(f, first):
    first |= f.bits(2, 1) << 12 | f.bits(1) << 14 | f.pick([0], [f.r.randrange(4096)])
    srsrc = f.pick(range(0, 25), [28, 29])
    soffset = f.ssrc(False)
    second = soffset << 24 | f.bits(1, 3) << 23 | srsrc << 16 | f.vgpr() << 8 | (f.vgpr() if f.bits(1, 1) or first >> 12 & 3 else 0)
    return [first, 0 if f.bits(1, 8) else second]


def mubuf(f, op):
    return buffer_words(f, 0x38 << 26 | op << 18 | f.bits(1) << 17 | f.bits(1, 4) << 16)


def mtbuf(f, op):
    first, second = buffer_words(f, 0x3A << 26 | f.r.randrange(128) << 19 | op << 15)
    return [first, second | f.bits(1) << 22]


def flat(f, op):
    first = 0x37 << 26 | op << 18 | f.bits(2, 1) << 16
    saddr = 0
    if f.gfx9:
        segment = f.r.randrange(3)
        first |= segment << 14 | f.pick([0], [f.r.randrange(1 << 13)]) & (0xFFF if segment == 0 else 0x1FFF)
        first |= f.bits(1, 8) << 13
        saddr = f.pick([127], [f.sgpr()], [106, 112]) if segment else 0
    vdst, data, addr = (f.pick([0], [f.vgpr()], [f.vgpr()]) for _ in range(3))
    return [first, vdst << 24 | saddr << 16 | data << 8 | addr]


def mimg(f, op):
    first = 0x3C << 26 | f.bits(1) << 25 | op << 18 | f.bits(6, 1) << 12 | f.pick(range(16), [1, 3, 15]) << 8
    if f.bits(1, 3):
        first &= ~(1 << 16)
    # A register tuple that does not fit makes llvm-mc print a smaller one.
    second = f.r.randrange(240) | f.r.randrange(240) << 8 | f.pick(range(0, 24)) << 16 | f.pick([0], range(0, 24)) << 21 | f.bits(1, 3) << 31
    return [first, second]


def exp(f, op):
    return [0x31 << 26 | f.r.randrange(1 << 13), f.r.randrange(1 << 32)]


# Encoding, its generator, how many opcodes, how many words at first.
ENCODINGS = [
    ("sop2", sop2, range(96), 1), ("sopk", sopk, range(32), 1), ("sop1", sop1, range(256), 1),
    ("sopc", sopc, range(128), 1), ("sopp", sopp, range(128), 1), ("smem", smem, range(256), 2),
    ("vop2", vop2, range(62), 1), ("vop1", vop1, range(256), 1), ("vopc", vopc, range(256), 1),
    ("vop2_sdwa", vop2_sdwa, range(62), 2), ("vop1_sdwa", vop1_sdwa, range(256), 2), ("vopc_sdwa", vopc_sdwa, range(256), 2),
    ("vop2_dpp", vop2_dpp, range(62), 2), ("vop1_dpp", vop1_dpp, range(256), 2),
    ("vop3", vop3, range(0x380), 2), ("vop3p", vop3p, range(128), 2), ("vintrp", vintrp, range(4), 1),
    ("ds", ds, range(256), 2), ("mubuf", mubuf, range(128), 2), ("mtbuf", mtbuf, range(16), 2),
    ("flat", flat, range(128), 2), ("mimg", mimg, range(128), 2), ("exp", exp, range(1), 2),
]


def run(arguments, text):
    process = subprocess.run([LLVM_MC, "-triple=amdgcn", *arguments], input=text, capture_output=True, text=True)
    return process.stdout, process.stderr


def bytes_of(words):
    return ["0x%02x" % (word >> shift & 255) for word in words for shift in (0, 8, 16, 24)]


def printed(out):
    """Text and words of every instruction that llvm-mc printed."""
    for line in out.splitlines():
        match = re.match(r"\t(\S.*?)\s*; encoding: \[(.*)\]$", line)
        if match:
            data = bytes(int(byte, 16) for byte in match[2].split(","))
            words = tuple(int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4))
            yield re.sub(r"\s*;.*", "", match[1]).replace("\t", " "), words


# Stands between candidates: what llvm-mc prints between two of these belongs to one candidate.
MARKER = 0xBF80ABCD


# Texts that LLVM accepts and the hardware has not: NULL, read-only registers as results or where a VGPR belongs,
# apertures before gfx9, SGPRs running into special ones, clamp where gfx6 and gfx7 have no bit for it. Signs of integer VOP3 sources, image atomics of sizes that do not exist.
QUIRKS = re.compile(
    r"/\*Invalid|sext\((?!.*_sel:)|image_atomic_(?!f?cmpswap)(?!.*dmask:0x[13]( |$))|image_atomic_f?cmpswap(?!.*dmask:0x[3f]( |$))"
    r"|image_(?:atomic.*dmask:0x[3f]|gather4.*d16).* tfe|image_gather4.* tfe.* d16|\bnull\b(?! )|_e64 src_|_b(?:32|64) src_\w+, "
)
QUIRKS_FROM = [
    ("gfx600", "gfx800", re.compile(r"v_(?:div_scale|mad_[iu]64|add_i32|addc|subb?(?:rev)?_[iu]32|subb).* clamp")),
    ("gfx800", "gfx900", re.compile(r"src_(?:shared|private|pops)_|ttmp\[0:15\]")),
    ("gfx800", "gfx999", re.compile(r"s\[(?:88|92|96|100):103\]|(?:readfirstlane|v_interp).* \|?src_")),
]


def sane(target, text):
    return not QUIRKS.search(text) and not any(
        first <= target < last and quirk.search(text) for first, last, quirk in QUIRKS_FROM
    )


def disassemble(target, candidates):
    """The text of each list of words, or None; words that are more or less than one instruction are None too."""
    lines = ["[" + " ".join(bytes_of(words)) + "]\n[" + " ".join(bytes_of([MARKER])) + "]" for words in candidates]
    out, _ = run(["--disassemble", f"-mcpu={target}", "--show-encoding"], "\n".join(lines) + "\n")
    groups = [[]]
    for text, words in printed(out):
        if words == (MARKER,):
            groups.append([])
        else:
            groups[-1].append((text, words))
    assert len(groups) == len(candidates) + 1
    return [
        group[0][0] if len(group) == 1 and group[0][1] == tuple(words) and sane(target, group[0][0]) else None
        for group, words in zip(groups, candidates)
    ]


def shape(text):
    return re.sub(r"\d+", "0", text)


def select(found, limit):
    """At most `limit` (words, text), new shapes first."""
    chosen, shapes = [], set()
    for words, text in found:
        if shape(text) not in shapes:
            shapes.add(shape(text))
            chosen.append((words, text))
    chosen += [pair for pair in found if pair not in chosen]
    return chosen[:limit]


def attempt(target, candidates):
    """What llvm-mc accepts of (encoding, opcode, words), with and then without the words that may be a literal."""
    lengths = {name: length for name, _, _, length in ENCODINGS}
    short = disassemble(target, [words[: lengths[name]] for name, _, words in candidates])
    again = [i for i, (name, _, words) in enumerate(candidates) if short[i] is None and len(words) > lengths[name]]
    longer = dict(zip(again, disassemble(target, [candidates[i][2] for i in again])))
    groups = {}
    for i, (name, opcode, words) in enumerate(candidates):
        text, words = (short[i], words[: lengths[name]]) if short[i] else (longer.get(i), words)
        if text and (tuple(words), text) not in groups.setdefault((name, opcode), []):
            groups[name, opcode].append((tuple(words), text))
    return groups


def brute(target):
    """Accepted (words, text) by encoding and opcode; opcodes that nothing was accepted of are tried harder."""
    candidates, harder = [], []
    for name, generator, opcodes, _ in ENCODINGS:
        if target == "gfx906" and name not in ("vop2", "vop3", "vop3p", "vop2_dpp"):
            continue
        for opcode in opcodes:
            fill = Fill(f"{name} {opcode}", target)
            candidates.append((name, opcode, generator(Zero(target), opcode)))
            candidates += [(name, opcode, generator(fill, opcode)) for _ in range(TRIES)]
            harder += [(name, opcode, generator(fill, opcode)) for _ in range(8 * TRIES) if "_" not in name]
    groups = attempt(target, candidates)
    groups.update(attempt(target, [line for line in harder if line[:2] not in groups]))
    return {key: groups[key] for key in sorted(groups)}


# gfx6 and gfx7 mnemonics: from the text of a later one with the same operands.
RENAMED = {
    "v_add_u32": ["v_add_i32"], "v_sub_u32": ["v_sub_i32"], "v_subrev_u32": ["v_subrev_i32"],
    "v_min_f32": ["v_min_legacy_f32", "v_max_legacy_f32"], "v_and_b32": ["v_lshl_b32", "v_lshr_b32", "v_ashr_i32"],
    "v_rcp_f32": ["v_log_clamp_f32", "v_rcp_clamp_f32", "v_rcp_legacy_f32", "v_rsq_clamp_f32", "v_rsq_legacy_f32"],
    "v_rcp_f64": ["v_rcp_clamp_f64", "v_rsq_clamp_f64"], "v_ldexp_f64": ["v_lshl_b64", "v_lshr_b64", "v_ashr_i64"],
    "v_mul_lo_u32": ["v_mul_lo_i32"], "v_fma_f32": ["v_mullit_f32"],
    "v_mul_f32": ["v_ldexp_f32", "v_cvt_pknorm_i16_f32", "v_cvt_pknorm_u16_f32", "v_cvt_pkrtz_f16_f32", "v_mac_legacy_f32", "v_cvt_pkaccum_u8_f32"],
    "v_or_b32": ["v_bcnt_u32_b32", "v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32", "v_bfm_b32", "v_cvt_pk_u16_u32", "v_cvt_pk_i16_i32"],
    "image_atomic_add": ["image_atomic_rsub", "image_atomic_fmin", "image_atomic_fmax"],
    "image_atomic_cmpswap": ["image_atomic_fcmpswap"],
    "buffer_atomic_add": ["buffer_atomic_rsub", "buffer_atomic_fmin", "buffer_atomic_fmax"],
    "buffer_atomic_cmpswap": ["buffer_atomic_fcmpswap"], "buffer_atomic_cmpswap_x2": ["buffer_atomic_fcmpswap_x2"],
    "buffer_atomic_add_x2": ["buffer_atomic_rsub_x2", "buffer_atomic_fmin_x2", "buffer_atomic_fmax_x2"],
    "flat_atomic_add": ["flat_atomic_fmin", "flat_atomic_fmax"], "flat_atomic_cmpswap": ["flat_atomic_fcmpswap"],
    "flat_atomic_add_x2": ["flat_atomic_fmin_x2", "flat_atomic_fmax_x2"], "flat_atomic_cmpswap_x2": ["flat_atomic_fcmpswap_x2"],
    "ds_read_b128": ["ds_read_b128"], "buffer_wbinvl1": ["buffer_wbinvl1_sc"], "s_mov_b32": ["s_mov_regrd_b32"],
}


def translated(text):
    """The texts that gfx6 and gfx7 may know a line of gfx8 or gfx9 by."""
    name, _, rest = text.partition(" ")
    base, suffix = re.match(r"(.*?)(_e32|_e64)?$", name).groups()
    suffix = suffix or ""
    yield text
    compare = re.match(r"v_(cmpx?)_(\w+_f(?:32|64))$", base)
    if compare:
        yield f"v_{compare[1].replace('cmp', 'cmps')}_{compare[2]}{suffix} {rest}"
    for new in RENAMED.get(base, []):
        yield f"{new}{suffix} {rest}"
        if not suffix and "_e64" not in name:
            yield f"{new}_e32 {rest}"
            yield f"{new}_e64 {rest}"
    if base in ("v_bcnt_u32_b32", "v_ldexp_f32", "v_readlane_b32", "v_writelane_b32"):
        yield f"{base}_e64 {rest}"
    if base.startswith(("buffer_", "tbuffer_")) and " offen" in rest and "lds" not in rest:
        register = re.sub(r"\bv(\d+), s\[", lambda m: f"v[{int(m[1]) & 254}:{int(m[1]) | 1}], s[", rest, count=1)
        yield f"{base} " + register.replace(" idxen", "").replace(" offen", " addr64")


def assembled(target, source):
    texts = list(dict.fromkeys(new for _, text in source for new in translated(text)))
    out, _ = run([f"-mcpu={target}", "--show-encoding"], "\n".join(texts) + "\n")
    groups = {}
    for text, words in printed(out):
        if not sane(target, text):
            continue
        found = groups.setdefault(text.partition(" ")[0], [])
        if (words, text) not in found:
            found.append((words, text))
    return [pair for key in groups for pair in select(groups[key], LIMIT)]


# The other targets by the golden files whose lines they share.
OTHERS = {
    ("gfx600",): ["gfx601", "gfx602"],
    ("gfx700",): ["gfx701", "gfx702", "gfx703", "gfx704", "gfx705"],
    ("gfx803",): ["gfx801", "gfx802", "gfx805", "gfx810"],
    ("gfx900", "gfx906"): ["gfx902", "gfx904", "gfx909", "gfx90c"],
}


def golden(target):
    with open(os.path.join(HERE, target + ".txt")) as file:
        for line in file:
            words, text = line.rstrip("\n").split("\t")
            yield tuple(int(word, 16) for word in words.split(" ")), text


def assembled_one_by_one(target, texts):
    """The words of each text, or None."""
    out, _ = run([f"-mcpu={target}", "--show-encoding"], "".join(f"{text}\ns_nop 0xabcd\n" for text in texts))
    groups = [[]]
    for _, words in printed(out):
        if words == (MARKER,):
            groups.append([])
        else:
            groups[-1].append(words)
    return [group[0] if len(group) == 1 else None for group in groups[: len(texts)]]


def others():
    """Lines in which a target differs from the files of its generation."""
    count = 0
    with open(os.path.join(HERE, "others.txt"), "w") as file:
        for files, targets in OTHERS.items():
            lines = {}
            for name in files:
                for words, text in golden(name):
                    lines.setdefault(words, text)
            for target in targets:
                if target < "gfx8":
                    again = assembled_one_by_one(target, lines.values())
                    found = [text if words == same else None for (words, text), same in zip(lines.items(), again)]
                else:
                    found = disassemble(target, list(lines))
                for (words, text), new in zip(lines.items(), found):
                    if text != new:
                        count += 1
                        file.write(f"{target}\t" + " ".join("%08x" % word for word in words) + f"\t{new or ''}\n")
    print("others", count, "differences")


def main():
    if sys.argv[1:] == ["others"]:
        return others()
    targets = sys.argv[1:] or ["gfx803", "gfx900", "gfx906", "gfx600", "gfx700"]
    brutes = {}

    def accepted(target):
        if target not in brutes:
            brutes[target] = brute(target)
        return brutes[target].values()

    for target in targets:
        if target in ("gfx600", "gfx700"):
            source = [pair for other in ("gfx803", "gfx900") for group in accepted(other) for pair in select(group, 4 * LIMIT)]
            lines = assembled(target, source)
        else:
            lines = [pair for group in accepted(target) for pair in select(group, LIMIT)]
        with open(os.path.join(HERE, target + ".txt"), "w") as file:
            for words, text in lines:
                file.write(" ".join("%08x" % word for word in words) + "\t" + text + "\n")
        print(target, len(lines), "lines")


main()
