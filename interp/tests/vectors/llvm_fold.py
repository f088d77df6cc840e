#!/usr/bin/env python3
"""What LLVM says of operations on constants: writes llvm_fold.txt beside this file.

    interp/tests/vectors/llvm_fold.py        needs opt of LLVM 19 with the AMDGPU target; OPT names another one

Every operation below is given as a row of the opcode table and the IR that means the same: an amdgcn intrinsic where
LLVM folds it, otherwise a generic one or an instruction. Each is applied to constants, `opt -O2` folds it, and what it
returns becomes a vector. What LLVM leaves as a call is left out and reported.

Left out too is where LLVM 19 is known to be wrong: v_med3 with a NaN as its last source (it folds to the maximum of
the others; later versions to the minimum, as the manual says) and with zeros of both signs.

A paragraph of llvm_fold.txt is a row's name (and `clamp`), then a line a vector: the sources and the result in hex.
"""
import os
import random
import re
import subprocess

OPT = os.environ.get("OPT", "opt-19")
HERE = os.path.dirname(os.path.abspath(__file__))

IR_TYPES = {"f16": "half", "f32": "float", "f64": "double", "h2": "<2 x half>"}
SIZES = {"f16": 16, "f32": 32, "f64": 64, "h2": 32, "i16": 16, "i32": 32, "i64": 64, "i1": 1}
MANTISSAS = {"f16": 10, "f32": 23, "f64": 52}


def ir(kind):
    return IR_TYPES.get(kind, kind)


class Values:
    """Constants to try: the edges first, then random ones, the same every time."""

    def __init__(self, name):
        self.random = random.Random(name)

    def float(self, kind, limit=None):
        size, mantissa = SIZES[kind], MANTISSAS[kind]
        bias = (1 << (size - mantissa - 2)) - 1
        r = self.random
        field = r.choice([0, 1, bias - 1, bias, bias + 1, bias + 3, 2 * bias, 2 * bias + 1, r.randrange(2 * bias + 1)])
        if limit is not None:
            field = bias + r.randrange(-limit, limit)
        fraction = r.choice([0, 0, 1, (1 << mantissa) - 1, 1 << (mantissa - 1), r.getrandbits(mantissa)])
        if field == 2 * bias + 1 and fraction:
            fraction |= 1 << (mantissa - 1)  # signalling NaNs are tried by hand
        return r.getrandbits(1) << (size - 1) | field << mantissa | fraction

    def integer(self, size):
        r = self.random
        x = r.choice([0, 1, 2, -1, -2, 1 << (size - 1), (1 << (size - 1)) - 1, r.getrandbits(size), r.getrandbits(size),
                      r.getrandbits(size) >> r.randrange(size)])
        return x & ((1 << size) - 1)

    def of(self, kind):
        """`small`: a shift count or an exponent; `angle`: a float near 1; `classes`: a mask of float classes."""
        r = self.random
        if kind == "small":
            return r.choice([0, 1, 5, 31, 32, 33, 63, r.getrandbits(6), -r.getrandbits(5) & 0xFFFFFFFF])
        if kind == "exponent":
            return r.choice([0, 1, -1, 12, -24, 130, -149, 1100, -1074, r.randrange(-200, 200)]) & 0xFFFFFFFF
        if kind == "selector":
            return sum(r.randrange(14) << (8 * i) for i in range(4))
        if kind == "classes":
            return 1 << r.randrange(10) if r.getrandbits(1) else r.getrandbits(10)
        if kind == "segment":
            return r.randrange(24)
        if kind.startswith("angle"):
            return self.float(kind[6:], 8)
        return self.float(kind) if kind in MANTISSAS else self.integer(SIZES[kind])


def known_wrong(name, vector):
    """Whether LLVM 19 folds this differently from later versions."""
    if not re.match("v_med3_f", name):
        return False
    size = int(name[8:])
    sign, infinity = 1 << (size - 1), {16: 0x7C00, 32: 0x7F800000}[size]
    return vector[2] & ~sign > infinity or {0, sign} <= set(vector)


SHAPES = {"small": "i32", "exponent": "i32", "selector": "i32", "classes": "i32", "segment": "i32"}


def shape(kind):
    return kind[6:] if kind.startswith("angle") else SHAPES.get(kind, kind)


# Row, kinds of the sources, kind of the result, IR with $0, $1, $2 for the typed sources, #0, #1, #2 for the bare ones.
ROWS = []


def row(name, sources, result, code, count=24):
    ROWS.append((name, sources.split(), result, code, count))


def call(function, result, count):
    return f"%r = call {ir(result)} @llvm.{function}(" + ", ".join(f"${i}" for i in range(count)) + ")"


for t in ["f16", "f32", "f64"]:
    T = ir(t)
    row(f"v_rcp_{t}", t, t, call(f"amdgcn.rcp.{t}", t, 1))
    row(f"v_fract_{t}", t, t, call(f"amdgcn.fract.{t}", t, 1))
    row(f"v_frexp_mant_{t}", t, t, call(f"amdgcn.frexp.mant.{t}", t, 1))
    exponent = "i16" if t == "f16" else "i32"
    row(f"v_frexp_exp_{exponent}_{t}", t, exponent, call(f"amdgcn.frexp.exp.{exponent}.{t}", exponent, 1))
    row(f"v_cmp_class_{t}", f"{t} classes", "i1", call(f"amdgcn.class.{t}", "i1", 2), 40)
    row(f"v_fma_{t}", f"{t} {t} {t}", t, call(f"fma.{t}", t, 3), 40)
    row(f"v_add_{t}", f"{t} {t}", t, f"%r = fadd $0, #1")
    row(f"v_mul_{t}", f"{t} {t}", t, f"%r = fmul $0, #1")
    row(f"v_min_{t}", f"{t} {t}", t, call(f"minnum.{t}", t, 2))
    row(f"v_max_{t}", f"{t} {t}", t, call(f"maxnum.{t}", t, 2))
    for name, function in [("floor", "floor"), ("ceil", "ceil"), ("trunc", "trunc"), ("rndne", "roundeven")]:
        row(f"v_{name}_{t}", t, t, call(f"{function}.{t}", t, 1))
    for name, predicate in [("lt", "olt"), ("eq", "oeq"), ("le", "ole"), ("gt", "ogt"), ("lg", "one"), ("ge", "oge"),
                            ("o", "ord"), ("u", "uno"), ("nge", "ult"), ("nlg", "ueq"), ("ngt", "ule"), ("nle", "ugt"),
                            ("neq", "une"), ("nlt", "uge")]:
        row(f"v_cmp_{name}_{t}", f"{t} {t}", "i1", f"%r = fcmp {predicate} $0, #1", 16)
row("v_ldexp_f16", "f16 exponent", "f16", "%n = trunc $1 to i16\n%r = call half @llvm.ldexp.f16.i16($0, i16 %n)")
row("v_ldexp_f32", "f32 exponent", "f32", call("ldexp.f32.i32", "f32", 2))
row("v_ldexp_f64", "f64 exponent", "f64", call("ldexp.f64.i32", "f64", 2))
row("v_sqrt_f16", "f16", "f16", call("amdgcn.sqrt.f16", "f16", 1))
for t in ["f32", "f64"]:
    row(f"v_sqrt_{t}", t, t, call(f"sqrt.{t}", t, 1))
for t in ["f16", "f32"]:
    row(f"v_sin_{t}", f"angle:{t}", t, call(f"amdgcn.sin.{t}", t, 1), 40)
    row(f"v_cos_{t}", f"angle:{t}", t, call(f"amdgcn.cos.{t}", t, 1), 40)
    row(f"v_med3_{t}", f"{t} {t} {t}", t, call(f"amdgcn.fmed3.{t}", t, 3), 48)
for t in ["f16", "f32"]:
    row(f"v_exp_{t}", f"angle:{t}", t, call(f"exp2.{t}", t, 1))
    row(f"v_log_{t}", t, t, call(f"log2.{t}", t, 1))
row("v_mul_legacy_f32", "f32 f32", "f32", call("amdgcn.fmul.legacy", "f32", 2), 40)
for part in ["id", "ma", "sc", "tc"]:
    row(f"v_cube{part}_f32", "f32 f32 f32", "f32", call(f"amdgcn.cube{part}", "f32", 3), 64)
row("v_trig_preop_f64", "f64 segment", "f64", call("amdgcn.trig.preop.f64", "f64", 2), 64)
row("v_cvt_pkrtz_f16_f32", "f32 f32", "h2", call("amdgcn.cvt.pkrtz", "h2", 2), 40)
row("v_cvt_f16_f32", "f32", "f16", "%r = fptrunc $0 to half", 48)
row("v_cvt_f32_f16", "f16", "f32", "%r = fpext $0 to float")
row("v_cvt_f32_f64", "f64", "f32", "%r = fptrunc $0 to float", 48)
row("v_cvt_f64_f32", "f32", "f64", "%r = fpext $0 to double")
for t, i in [("f32", "i32"), ("f64", "i32"), ("f16", "i16")]:
    bits = i[1:]
    row(f"v_cvt_i{bits}_{t}", t, i, call(f"fptosi.sat.{i}.{t}", i, 1))
    row(f"v_cvt_u{bits}_{t}", t, i, call(f"fptoui.sat.{i}.{t}", i, 1))
    row(f"v_cvt_{t}_i{bits}", i, t, f"%r = sitofp $0 to {ir(t)}")
    row(f"v_cvt_{t}_u{bits}", i, t, f"%r = uitofp $0 to {ir(t)}")

row("v_bfe_u32", "i32 small small", "i32", call("amdgcn.ubfe.i32", "i32", 3), 48)
row("v_bfe_i32", "i32 small small", "i32", call("amdgcn.sbfe.i32", "i32", 3), 48)
row("v_perm_b32", "i32 i32 selector", "i32", call("amdgcn.perm", "i32", 3), 48)
row("v_alignbit_b32", "i32 i32 small", "i32", call("fshr.i32", "i32", 3))
row("v_bfi_b32", "i32 i32 i32", "i32", "%a = and $0, #1\n%n = xor $0, -1\n%b = and i32 %n, #2\n%r = or i32 %a, %b")
row("v_bfrev_b32", "i32", "i32", call("bitreverse.i32", "i32", 1), 12)
row("v_bcnt_u32_b32", "i32 i32", "i32", "%a = call i32 @llvm.ctpop.i32($0)\n%r = add i32 %a, #1")
row("v_ffbh_u32", "i32", "i32", "%a = call i32 @llvm.ctlz.i32($0, i1 false)\n%c = icmp eq $0, 0\n%r = select i1 %c, i32 -1, i32 %a")
row("v_ffbl_b32", "i32", "i32", "%a = call i32 @llvm.cttz.i32($0, i1 false)\n%c = icmp eq $0, 0\n%r = select i1 %c, i32 -1, i32 %a")
row("v_alignbyte_b32", "i32 i32 small", "i32", "%a = and $2, 3\n%s = shl i32 %a, 3\n%r = call i32 @llvm.fshr.i32($0, $1, i32 %s)")


def sign_bits(size):
    """llvm.amdgcn.sffbh, which is not folded: the bits at the top that are alike, -1 if all are."""
    code = f"%s = ashr $0, {size - 1}\n%x = xor i{size} %s, #0\n%z = call i{size} @llvm.ctlz.i{size}(i{size} %x, i1 false)\n"
    code += f"%c = icmp eq i{size} %x, 0\n%q = select i1 %c, i{size} -1, i{size} %z\n"
    return code + ("%r = add i32 %q, 0" if size == 32 else "%r = trunc i64 %q to i32")


row("v_ffbh_i32", "i32", "i32", sign_bits(32))
row("s_flbit_i32", "i32", "i32", sign_bits(32))
row("s_flbit_i32_i64", "i64", "i32", sign_bits(64))
row("v_add_u32 clamp", "i32 i32", "i32", call("uadd.sat.i32", "i32", 2))
row("v_sub_u32 clamp", "i32 i32", "i32", call("usub.sat.i32", "i32", 2))
row("v_add_i32 clamp", "i32 i32", "i32", call("sadd.sat.i32", "i32", 2))
row("v_sub_i32 clamp", "i32 i32", "i32", call("ssub.sat.i32", "i32", 2))
row("v_add_u16 clamp", "i16 i16", "i16", call("uadd.sat.i16", "i16", 2))
row("v_add_i16 clamp", "i16 i16", "i16", call("sadd.sat.i16", "i16", 2))
row("v_sub_i16 clamp", "i16 i16", "i16", call("ssub.sat.i16", "i16", 2))
for sign, extend in [("u", "zext"), ("i", "sext")]:
    wide = f"%a = {extend} $0 to i64\n%b = {extend} $1 to i64\n%m = mul i64 %a, %b\n%h = lshr i64 %m, 32\n%r = trunc i64 %h to i32"
    row(f"v_mul_hi_{sign}32", "i32 i32", "i32", wide)
    shift = "lshr" if sign == "u" else "ashr"
    narrow = "".join(f"%s{i} = shl ${i}, 8\n%t{i} = {shift} i32 %s{i}, 8\n%{'ab'[i]} = {extend} i32 %t{i} to i64\n" for i in (0, 1))
    row(f"v_mul_{sign}32_{sign}24", "i32 i32", "i32", narrow + "%m = mul i64 %a, %b\n%r = trunc i64 %m to i32")
    row(f"v_mul_hi_{sign}32_{sign}24", "i32 i32", "i32", narrow + "%m = mul i64 %a, %b\n%h = lshr i64 %m, 32\n%r = trunc i64 %h to i32")
    kind = "u" if sign == "u" else "s"
    for t in ["16", "32"]:
        row(f"v_min_{sign}{t}", f"i{t} i{t}", f"i{t}", call(f"{kind}min.i{t}", f"i{t}", 2), 12)
        row(f"v_max_{sign}{t}", f"i{t} i{t}", f"i{t}", call(f"{kind}max.i{t}", f"i{t}", 2), 12)
        lesser = f"%l = call i{t} @llvm.{kind}min.i{t}($0, $1)\n%g = call i{t} @llvm.{kind}max.i{t}($0, $1)\n"
        lesser += f"%m = call i{t} @llvm.{kind}min.i{t}(i{t} %g, $2)\n%r = call i{t} @llvm.{kind}max.i{t}(i{t} %l, i{t} %m)"
        row(f"v_med3_{sign}{t}", f"i{t} i{t} i{t}", f"i{t}", lesser)
    for t in ["16", "32", "64"]:
        for name, predicate in [("lt", "lt"), ("le", "le"), ("gt", "gt"), ("ge", "ge")]:
            row(f"v_cmp_{name}_{sign}{t}", f"i{t} i{t}", "i1", f"%r = icmp {kind}{predicate} $0, #1", 10)
for t, kind, name, operation in [("32", "b", "lshl", "shl"), ("32", "b", "lshr", "lshr"), ("32", "i", "ashr", "ashr"),
                                 ("64", "b", "lshl", "shl"), ("64", "b", "lshr", "lshr"), ("64", "i", "ashr", "ashr")]:
    mask = f"%c = and $0, {int(t) - 1}\n" + ("%n = zext i32 %c to i64\n" if t == "64" else "%n = add i32 %c, 0\n")
    row(f"v_{name}rev_{kind}{t}", f"small i{t}", f"i{t}", mask + f"%r = {operation} $1, %n")
for t in ["32", "64"]:
    row(f"s_wqm_b{t}", f"i{t}", f"i{t}", call(f"amdgcn.s.wqm.i{t}", f"i{t}", 1))
    row(f"s_quadmask_b{t}", f"i{t}", f"i{t}", call(f"amdgcn.s.quadmask.i{t}", f"i{t}", 1))
    row(f"s_brev_b{t}", f"i{t}", f"i{t}", call(f"bitreverse.i{t}", f"i{t}", 1), 12)
    narrow = "" if t == "32" else "\n%r = trunc i64 %a to i32"
    first = "%r" if t == "32" else "%a"
    row(f"s_bcnt1_i32_b{t}", f"i{t}", "i32", f"{first} = call i{t} @llvm.ctpop.i{t}($0)" + narrow, 12)
    for name, function in [("s_ff1_i32", "cttz"), ("s_flbit_i32", "ctlz")]:
        code = f"%z = call i{t} @llvm.{function}.i{t}($0, i1 false)\n%c = icmp eq $0, 0\n"
        row(f"{name}_b{t}", f"i{t}", "i32", code + f"{first} = select i1 %c, i{t} -1, i{t} %z" + narrow, 12)
row("s_bitreplicate_b64_b32", "i32", "i64", call("amdgcn.s.bitreplicate", "i64", 1))
row("s_mul_hi_u32", "i32 i32", "i32", "%a = zext $0 to i64\n%b = zext $1 to i64\n%m = mul i64 %a, %b\n%h = lshr i64 %m, 32\n%r = trunc i64 %h to i32")
row("s_mul_hi_i32", "i32 i32", "i32", "%a = sext $0 to i64\n%b = sext $1 to i64\n%m = mul i64 %a, %b\n%h = lshr i64 %m, 32\n%r = trunc i64 %h to i32")


def constant(kind, bits):
    if kind in IR_TYPES:
        return f"bitcast (i{SIZES[kind]} {bits} to {ir(kind)})"
    return str(bits)


def function(number, sources, values, result, code):
    """One vector as a function that returns an integer."""
    for i, (kind, bits) in enumerate(zip(sources, values)):
        bare = constant(shape(kind), bits)
        code = code.replace(f"${i}", f"{ir(shape(kind))} {bare}").replace(f"#{i}", bare)
    size = max(SIZES[result], 32)
    if result in IR_TYPES:
        code += f"\n%i = bitcast {ir(result)} %r to i{SIZES[result]}"
    else:
        code += f"\n%i = {'add' if result != 'i1' else 'or'} {result} %r, 0"
    wide = f"\n%o = zext i{SIZES[result]} %i to i{size}\nret i{size} %o" if SIZES[result] < size else f"\nret i{size} %i"
    return f"define i{size} @f{number}() {{\n{code}{wide}\n}}\n"


def declarations(text):
    """Every intrinsic that is called, declared with the types of its first call."""
    found = {}
    for result, name, arguments in re.findall(r"call (<.*?>|\w+) @(llvm\.[\w.]+)\((.*)\)\n", text):
        kinds = re.findall(r"(?:^|, )(<2 x half>|half|float|double|i\d+) ", arguments)
        found.setdefault(name, f"declare {result} @{name}({', '.join(kinds)})\n")
    return "".join(found.values())


def main():
    text, vectors = "", []
    for name, sources, result, code, count in ROWS:
        values = Values(name)
        seen = set()
        for _ in range(count):
            vector = tuple(values.of(kind) for kind in sources)
            if vector in seen or known_wrong(name, vector):
                continue
            seen.add(vector)
            text += function(len(vectors), sources, vector, result, code)
            vectors.append((name, sources, vector, result))
    module = 'target triple = "amdgcn-amd-amdhsa"\n' + declarations(text) + text
    folded = subprocess.run([OPT, "-O2", "-S"], input=module, capture_output=True, text=True, check=True).stdout
    results = re.findall(r"@f(\d+)\(\)[^{]*{\n  ret i\d+ (-?\d+)\n}", folded)
    results = {int(number): int(value) for number, value in results}
    names, lines, left = [], {}, {}
    for number, (name, sources, vector, result) in enumerate(vectors):
        if name not in lines:
            names.append(name)
            lines[name] = []
        if number not in results:
            left[name] = left.get(name, 0) + 1
            continue
        value = results[number] & ((1 << max(SIZES[result], 32)) - 1)
        lines[name].append(" ".join(f"{x:x}" for x in (*vector, value)))
    with open(os.path.join(HERE, "llvm_fold.txt"), "w") as out:
        out.write("\n".join("\n".join([name, *lines[name]]) + "\n" for name in names if lines[name]))
    print(f"{sum(map(len, lines.values()))} vectors of {len(names)} rows; not folded:", left)


if __name__ == "__main__":
    main()
