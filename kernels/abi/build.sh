#!/bin/bash
# Rebuilds the code objects of this directory: kernels that use everything around the instructions, without and with
# optimisation.
#
#   SOURCE.TARGET.O0.co, SOURCE.TARGET.O2.co   code object version 5, by clang 19
#   SOURCE.TARGET.v2.O0.co, .v3.O0.co          older ones, by clang 15 (OLD_LLVM=N); left alone without it
#
# Needs clang, lld and llvm 19 (Debian: clang-19 lld-19 llvm-19).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"

LLVM=${LLVM:-19}
OLD_LLVM=${OLD_LLVM:-15}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# link LLVM OUTPUT: of $tmp/k.o
link() {
  "ld.lld-$1" -shared --no-undefined --build-id=none "$tmp/k.o" -o "$tmp/k.co"
  "llvm-strip-$1" --strip-unneeded --remove-section=.comment "$tmp/k.co"
  install -m 644 "$tmp/k.co" "$2"
}

# opencl LLVM SOURCE TARGET VERSION LEVEL OUTPUT
opencl() {
  local llvm=$1 source=$2 std
  std=$(sed -n 's|^// std: ||p' "$source.cl")
  local target=(-x cl -target amdgcn-amd-amdhsa "-mcpu=$3" "-mcode-object-version=$4" "-DCOV=$4" -nogpulib)
  # With opaque pointers its printf does nothing, or crashes.
  [[ $llvm != 15 ]] || target+=(-Xclang -no-opaque-pointers)
  "clang-$llvm" "${target[@]}" -cl-std=CL2.0 -O2 -emit-llvm -c ../rt/rt.cl -o "$tmp/rt.bc"
  "clang-$llvm" "${target[@]}" -cl-std=CL2.0 -O2 -emit-llvm -c alloc.cl -o "$tmp/alloc.bc"
  "clang-$llvm" "${target[@]}" "-cl-std=${std:-CL2.0}" "-O$5" -Wall -Werror -Wno-unused-command-line-argument \
    -Wno-format -Xclang -mlink-builtin-bitcode -Xclang "$tmp/rt.bc" \
    -Xclang -mlink-bitcode-file -Xclang "$tmp/alloc.bc" -c "$source.cl" -o "$tmp/k.o"
  link "$llvm" "$6"
}

# cplusplus TARGET LEVEL
cplusplus() {
  "clang-$LLVM" -x c++ -target amdgcn-amd-amdhsa "-mcpu=$1" -mcode-object-version=5 -nogpulib -fno-rtti "-O$2" \
    -Wall -Werror -Wno-unused-command-line-argument -c virtual.cpp -o "$tmp/k.o"
  link "$LLVM" "virtual.$1.O$2.co"
}

# hip KIND DEFINITION OUTPUT
hip() {
  "clang-$LLVM" -x hip --offload-arch=gfx900 --offload-device-only -nogpuinc -nogpulib -fuse-cuid=none "-mprintf-kind=$1" "$2" \
    -O2 -fgpu-rdc -emit-llvm -c buffered.hip -o "$tmp/k.bc"
  "clang-$LLVM" -x ir -target amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=5 -nogpulib -O2 -c "$tmp/k.bc" -o "$tmp/k.o"
  link "$LLVM" "$3"
}

assembly() {
  local gfx9=0
  [[ $1 != gfx9* ]] || gfx9=1
  "clang-$LLVM" -x assembler -target amdgcn-amd-amdhsa "-mcpu=$1" -mcode-object-version=5 "-Wa,-defsym,GFX9=$gfx9" \
    -c registers.s -o "$tmp/k.o"
  link "$LLVM" "registers.$1.co"
}

for target in gfx600 gfx700 gfx803 gfx900; do
  assembly "$target"
  [[ $target == gfx600 ]] || cplusplus "$target" 2
  # Without optimisation, code before gfx9 wants hidden arguments that the compiler gives C++ kernels none of.
  [[ $target != gfx900 ]] || cplusplus "$target" 0
  [[ $target != gfx803 ]] || cplusplus "$target" 1
  for level in 0 2; do
    for source in stack hidden flat printf gws; do
      [[ $target$source != gfx600flat ]] || continue
      opencl "$LLVM" "$source" "$target" 5 "$level" "$source.$target.O$level.co"
    done
  done
done
hip buffered -DBUFFERED=1 buffered.gfx900.co
hip hostcall -DBUFFERED=0 hostcall.gfx900.co

if command -v "clang-$OLD_LLVM" "ld.lld-$OLD_LLVM" "llvm-strip-$OLD_LLVM" >/dev/null; then
  for target in gfx803 gfx900; do
    for version in 2 3; do
      for source in stack hidden flat printf; do
        opencl "$OLD_LLVM" "$source" "$target" "$version" 0 "$source.$target.v$version.O0.co"
      done
    done
  done
fi
