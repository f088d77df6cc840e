#!/usr/bin/env python3
"""Writes image.ll, kernels of one image instruction each, as LLVM's intrinsics make them.

    generate.py TARGET > image.ll

A kernel reads what its instruction takes from `in`, a dword for each value in the order of the intrinsic, and writes
what it returns to `out`, a dword for each: work-item i from dword i · (number of values) on. Resource and sampler are
arguments by value. 16-bit values are the low halves of their dwords.
"""

import sys

# Coordinates, and how many of them derivatives have.
DIMS = {
    "1d": (1, 1), "2d": (2, 2), "3d": (3, 3), "cube": (3, 2), "1darray": (2, 1), "2darray": (3, 2),
    "2dmsaa": (3, 2), "2darraymsaa": (4, 2),
}


def kernel(name, body):
    """A kernel around the lines of `body`, which use %in, %out, %r, %s and %i."""
    return f"""define amdgpu_kernel void @{name}(ptr addrspace(1) %inputs, ptr addrspace(1) %outputs, <8 x i32> %r, <4 x i32> %s) #0 {{
  %i = call i32 @llvm.amdgcn.workitem.id.x()
{body}  ret void
}}
"""


class Body:
    """Lines of a kernel, and the intrinsics that they call."""

    def __init__(self, declarations):
        self.lines = []
        self.declarations = declarations
        self.count = 0

    def new(self):
        self.count += 1
        return f"%t{self.count}"

    def say(self, line):
        self.lines.append(f"  {line}\n")

    def let(self, value):
        name = self.new()
        self.say(f"{name} = {value}")
        return name

    def pointer(self, base, stride, offset):
        index = self.let(f"mul i32 %i, {stride}")
        index = self.let(f"add i32 {index}, {offset}")
        return self.let(f"getelementptr i32, ptr addrspace(1) {base}, i32 {index}")

    def load(self, stride, offset, ty):
        dword = self.let(f"load i32, ptr addrspace(1) {self.pointer('%inputs', stride, offset)}")
        if ty == "i32":
            return dword
        if ty == "float":
            return self.let(f"bitcast i32 {dword} to float")
        if ty == "i64":
            high = self.let(f"load i32, ptr addrspace(1) {self.pointer('%inputs', stride, offset + 1)}")
            low, high = self.let(f"zext i32 {dword} to i64"), self.let(f"zext i32 {high} to i64")
            high = self.let(f"shl i64 {high}, 32")
            return self.let(f"or i64 {low}, {high}")
        half = self.let(f"trunc i32 {dword} to i16")
        return half if ty == "i16" else self.let(f"bitcast i16 {half} to half")

    def store(self, stride, offset, ty, value):
        if ty == "i64":
            high = self.let(f"lshr i64 {value}, 32")
            self.store(stride, offset + 1, "i32", self.let(f"trunc i64 {high} to i32"))
            value, ty = self.let(f"trunc i64 {value} to i32"), "i32"
        if ty == "half":
            value, ty = self.let(f"bitcast half {value} to i16"), "i16"
        if ty == "i16":
            value, ty = self.let(f"zext i16 {value} to i32"), "i32"
        self.say(f"store {ty} {value}, ptr addrspace(1) {self.pointer('%outputs', stride, offset)}")

    def call(self, result, name, arguments):
        types = ", ".join(ty for ty, _ in arguments)
        self.declarations.add(f"declare {result} @{name}({types})")
        values = ", ".join(f"{ty} {value}" for ty, value in arguments)
        if result == "void":
            self.say(f"call void @{name}({values})")
            return None
        return self.let(f"call {result} @{name}({values})")


MANGLED = {"float": "f32", "half": "f16", "i32": "i32", "i16": "i16", "i64": "i64"}


def vector(ty, count):
    return (ty, MANGLED[ty]) if count == 1 else (f"<{count} x {ty}>", f"v{count}{MANGLED[ty]}")


def words(ty):
    return 2 if ty == "i64" else 1


def instruction(declarations, name, dim, dmask, data, result, values, mangled, sampler, tfe=False):
    """A kernel of llvm.amdgcn.image.<name>.<dim>.

    data: types of the components given; result: type and count of those returned; values: types of the address.
    """
    body = Body(declarations)
    taken = [*data, *values]
    stride = sum(words(ty) for ty in taken)
    loaded, offset = [], 0
    for ty in taken:
        loaded.append((ty, body.load(stride, offset, ty)))
        offset += words(ty)
    components, address = loaded[:len(data)], loaded[len(data):]
    arguments = []
    suffix = []
    atomic = name.startswith("atomic")
    if data and not atomic:
        ty, short = vector(data[0], len(data))
        value = components[0][1]
        if len(data) > 1:
            value = "poison"
            for i, (element, component) in enumerate(components):
                value = body.let(f"insertelement {ty} {value}, {element} {component}, i32 {i}")
        arguments.append((ty, value))
        suffix.append(short)
    elif atomic:
        arguments += components
        suffix.append(MANGLED[data[0]])
    if not atomic:
        arguments.append(("i32", str(dmask)))
    arguments += address
    returned = "void"
    if result:
        returned, short = vector(*result)
        if tfe:
            returned, short = f"{{ {returned}, i32 }}", f"sl_{short}i32s"
        if not atomic:
            suffix.append(short)
    suffix += mangled
    arguments.append(("<8 x i32>", "%r"))
    if sampler:
        arguments += [("<4 x i32>", "%s"), ("i1", "false")]
    arguments += [("i32", "1" if tfe else "0"), ("i32", "0")]
    value = body.call(returned, ".".join([f"llvm.amdgcn.image.{name}.{dim}", *suffix]), arguments)
    if result:
        ty, count = result
        per = count * words(ty) + tfe
        if tfe:
            fail = body.let(f"extractvalue {returned} {value}, 1")
            body.store(per, count, "i32", fail)
            value = body.let(f"extractvalue {returned} {value}, 0")
        for i in range(count):
            element = value
            if count > 1:
                element = body.let(f"extractelement {vector(ty, count)[0]} {value}, i32 {i}")
            body.store(per, i * words(ty), ty, element)
    kind = [name.replace(".", "_"), dim]
    if dmask not in (1, 15) or "gather" in name:
        kind.append(f"dmask{dmask}")
    if "half" in (data or [None])[0:1] or result and result[0] == "half":
        kind.append("d16")
    if set(values) & {"half", "i16"}:
        kind.append("a16")
    if "i64" in data:
        kind.append("x2")
    if tfe:
        kind.append("tfe")
    return kernel("_".join(kind), "".join(body.lines))


def sample(declarations, name, dim, a16=False, dmask=15, half=False, tfe=False):
    parts = name.split(".")[1:]
    coordinates, slopes = DIMS[dim]
    one = "half" if a16 else "float"
    values, mangled = [], []
    if "o" in parts:
        values.append("i32")
    if "b" in parts:
        values.append(one)
        mangled.append(MANGLED[one])
    if "c" in parts:
        values.append("float")
    if "d" in parts or "cd" in parts:
        values += [one] * (2 * slopes)
        mangled.append(MANGLED[one])
    values += [one] * (coordinates + ("l" in parts or "cl" in parts))
    mangled.append(MANGLED[one])
    count = 4 if name.startswith("gather4") else bin(dmask).count("1")
    result = ("half" if half else "float", count)
    return instruction(declarations, name, dim, dmask, [], result, values, mangled, True, tfe)


def texel(declarations, name, dim, a16=False, dmask=15, half=False):
    coordinates, _ = DIMS[dim]
    one = "i16" if a16 else "i32"
    values = [one] * (coordinates + name.endswith("mip"))
    count = bin(dmask).count("1")
    ty = "half" if half else "float"
    data, result = ([ty] * count, None) if name.startswith("store") else ([], (ty, count))
    return instruction(declarations, name, dim, dmask, data, result, values, [MANGLED[one]], False)


def atomic(declarations, name, dim, ty):
    coordinates, _ = DIMS[dim]
    data = [ty] * (2 if name == "cmpswap" else 1)
    return instruction(declarations, f"atomic.{name}", dim, 1, data, (ty, 1), ["i32"] * coordinates, ["i32"], False)


def size(declarations, dim):
    return instruction(declarations, "getresinfo", dim, 15, [], ("float", 4), ["i32"], ["i32"], False)


SAMPLES = """
sample.1d sample.2d sample.3d sample.cube sample.1darray sample.2darray sample.l.cube sample.l.1darray sample.b.2d
sample.lz.2d sample.c.2d sample.c.lz.2darray sample.d.1d sample.d.2d sample.d.3d sample.d.cube sample.cl.2d
sample.c.b.cl.o.2d sample.c.d.cl.o.2darray sample.cd.cl.2d sample.o.3d sample.c.l.o.2d gather4.2d gather4.c.b.cl.o.cube
gather4.l.2darray getlod.2d
""".split()


def main():
    target = sys.argv[1]
    declarations = {"declare i32 @llvm.amdgcn.workitem.id.x()"}
    d = declarations
    kernels = []
    for name in SAMPLES:
        base, dim = name.rsplit(".", 1)
        kernels.append(sample(d, base, dim, dmask=3 if base == "getlod" else 1 if "gather" in base else 15))
    kernels.append(sample(d, "gather4", "2d", dmask=4))
    kernels.append(sample(d, "sample", "2d", tfe=True))
    kernels += [texel(d, "load", dim) for dim in DIMS]
    kernels += [texel(d, "load.mip", dim) for dim in ("1d", "2d", "3d", "cube", "2darray")]
    kernels += [texel(d, "load", "2d", dmask=10), texel(d, "store", "2d", dmask=6)]
    kernels += [texel(d, "store", dim) for dim in ("1d", "2d", "3d", "2darray", "cube")]
    kernels.append(texel(d, "store.mip", "2d"))
    kernels += [size(d, dim) for dim in ("1d", "2d", "3d", "cube", "2darray")]
    kernels += [atomic(d, name, "2d", "i32") for name in ("add", "cmpswap", "umax")]
    kernels += [atomic(d, name, "2darray", "i64") for name in ("add", "cmpswap")]
    if target >= "gfx800":
        kernels += [texel(d, "load", "2d", half=True), texel(d, "store", "2d", half=True, dmask=7)]
        kernels.append(sample(d, "sample.lz", "2d", half=True, dmask=7))
    if target >= "gfx900":
        kernels += [texel(d, "load", dim, a16=True) for dim in ("1d", "3d", "2darraymsaa")]
        kernels += [texel(d, "load.mip", "cube", a16=True), texel(d, "store", "2d", a16=True)]
        for name in ("sample.b.2d", "sample.c.l.o.2darray", "sample.d.1d", "sample.d.3d", "sample.c.d.cl.o.2d"):
            base, dim = name.rsplit(".", 1)
            kernels.append(sample(d, base, dim, a16=True))
    print('target triple = "amdgcn-amd-amdhsa"\n')
    print("\n".join(sorted(declarations)) + "\n")
    print("\n".join(kernels))
    print('attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }\n')
    print('!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}')


main()
