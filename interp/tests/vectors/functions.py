#!/usr/bin/env python3
"""True values of the functions that the hardware approximates: writes functions.txt beside this file.

    interp/tests/vectors/functions.py        needs mpmath, which computes to any precision

A paragraph is a row's name, then a line an argument: its bits and the true value's, in hex. The value is the double
nearest to the truth and, for rows on f64, a second one that says how far off that is. Arguments are spread over the
exponents, with the edges of each function's range and the places where its value is small or its neighbours are far.
"""
import os
import random
import struct

from mpmath import mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
mp.prec = 400

MANTISSAS = {"f16": (16, 10), "f32": (32, 23), "f64": (64, 52)}


def turns(x):
    """x less the nearest integer."""
    return x - mp.nint(x)


def sine(x):
    return mp.sin(2 * mp.pi * turns(x))


def cosine(x):
    return mp.cos(2 * mp.pi * turns(x)) if abs(turns(x)) != mpf("0.25") else mpf(0)


# Function, and the exponents of arguments: lowest and highest for f16, f32, f64; whether negative ones make sense.
FUNCTIONS = {
    "rcp": (lambda x: 1 / x, {"f16": (-14, 14), "f32": (-125, 125), "f64": (-1020, 1020)}, True),
    "rsq": (lambda x: 1 / mp.sqrt(x), {"f16": (-14, 15), "f32": (-126, 127), "f64": (-1022, 1023)}, False),
    "sqrt": (mp.sqrt, {"f16": (-14, 15), "f32": (-126, 127), "f64": (-1022, 1023)}, False),
    "exp": (lambda x: mpf(2) ** x, {"f16": (-12, 3), "f32": (-26, 6)}, True),
    "log": (lambda x: mp.log(x, 2), {"f16": (-14, 15), "f32": (-126, 127)}, False),
    "sin": (sine, {"f16": (-12, 7), "f32": (-24, 7)}, True),
    "cos": (cosine, {"f16": (-12, 7), "f32": (-24, 7)}, True),
}

COUNT = 240


def to_float(kind, bits):
    return struct.unpack({"f16": "<e", "f32": "<f", "f64": "<d"}[kind], bits.to_bytes(MANTISSAS[kind][0] // 8, "little"))[0]


def double_bits(x):
    return int.from_bytes(struct.pack("<d", x), "little")


def special(name, kind, bits_of):
    """Arguments near which the function is hard."""
    if name in ("sin", "cos"):
        near = [k / 8 for k in range(1, 24)] + [63.75, 100.25, 127.5, 255.75]
    elif name == "log":
        near = [1.0, 2.0, 0.5]
    elif name == "exp":
        near = [0.5, 1.0, 1.5, 3.5]
    else:
        near = [1.0, 2.0, 4.0, 3.0]
    return [bits_of(x) + step for x in near for step in (-2, -1, 0, 1, 2)]


def arguments(name, kind, low, high, negative):
    size, mantissa = MANTISSAS[kind]
    bias = (1 << (size - mantissa - 2)) - 1
    r = random.Random(f"{name} {kind}")
    code = {"f16": "<e", "f32": "<f", "f64": "<d"}[kind]
    found = special(name, kind, lambda x: int.from_bytes(struct.pack(code, x), "little"))
    while len(found) < COUNT:
        exponent = low + len(found) % (high - low + 1)
        fraction = r.choice([r.getrandbits(mantissa), r.getrandbits(mantissa), (1 << mantissa) - 1, 0])
        sign = r.getrandbits(1) if negative else 0
        found.append(sign << (size - 1) | (exponent + bias) << mantissa | fraction)
    return sorted(set(found))


def main():
    paragraphs = []
    for name, (function, ranges, negative) in FUNCTIONS.items():
        for kind, (low, high) in ranges.items():
            lines = [f"v_{name}_{kind}"]
            for bits in arguments(name, kind, low, high, negative):
                value = function(mpf(to_float(kind, bits)))
                if kind == "f32" and 0 < abs(value) < mpf(2) ** -126:
                    continue  # The exponential flushes denormals.
                nearest = float(value)
                line = f"{bits:x} {double_bits(nearest):x}"
                if kind == "f64":
                    line += f" {double_bits(float(value - mpf(nearest))):x}"
                lines.append(line)
            paragraphs.append("\n".join(lines) + "\n")
    with open(os.path.join(HERE, "functions.txt"), "w") as out:
        out.write("\n".join(paragraphs))
    print(sum(p.count("\n") for p in paragraphs), "lines")


if __name__ == "__main__":
    main()
