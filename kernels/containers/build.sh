#!/bin/bash
# Rebuilds the files of this directory that other tools make: code objects with several kernels and variables, of
# version 6 and more of version 2, and offload bundles of saxpy's code objects.
#
# Needs clang, lld and llvm 19 and the bundler (Debian: clang-19 lld-19 llvm-19 clang-tools-19), and for
# the *.v2.co clang-15 lld-15 llvm-15 (OLD_LLVM=N), without which those are left as they are.
#
# The *.amdcl files come from tests/amdcl.rs (BLESS=1 cargo test --test amdcl).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"

LLVM=${LLVM:-19}
OLD_LLVM=${OLD_LLVM:-15}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# compile LLVM SOURCE TARGET VERSION OUTPUT OPTION...
compile() {
  local llvm=$1 source=$2 out=$5
  local target=(-x cl -target amdgcn-amd-amdhsa "-mcpu=$3" "-mcode-object-version=$4" -nogpulib -cl-std=CL2.0)
  "clang-$llvm" "${target[@]}" -O2 "-DCOV=$(($4 < 5 ? 4 : 5))" -emit-llvm -c ../rt/rt.cl -o "$tmp/rt.bc"
  "clang-$llvm" "${target[@]}" -Wall -Wno-unused-command-line-argument "${@:6}" \
    -Xclang -mlink-builtin-bitcode -Xclang "$tmp/rt.bc" -c "$source" -o "$tmp/k.o"
  "ld.lld-$llvm" -shared --no-undefined --build-id=none "$tmp/k.o" -o "$tmp/k.co"
  "llvm-strip-$llvm" --strip-unneeded --remove-section=.comment "$tmp/k.co"
  install -m 644 "$tmp/k.co" "$out"
}

compile "$LLVM" globals.cl gfx900 5 globals.gfx900.co -O2
compile "$LLVM" globals.cl gfx803 5 globals.gfx803.co -O1
compile "$LLVM" ../saxpy/saxpy.cl gfx900 6 saxpy.gfx900.v6.co -O2
compile "$LLVM" ../saxpy/saxpy.cl gfx9-generic 6 saxpy.gfx9-generic.v6.co -O2
if command -v "clang-$OLD_LLVM" "ld.lld-$OLD_LLVM" "llvm-strip-$OLD_LLVM" >/dev/null; then
  compile "$OLD_LLVM" ../saxpy/saxpy.cl gfx803 2 saxpy.gfx803.v2.co -O1
  compile "$OLD_LLVM" globals.cl gfx900 2 globals.gfx900.v2.co -O2
fi

# bundle OUTPUT OPTION...: saxpy for two processors, with an empty part for the host, as HIP's compiler packs it.
bundle() {
  local kind=hipv4-amdgcn-amd-amdhsa-
  "clang-offload-bundler-$LLVM" --type=o "${@:2}" \
    "--targets=host-x86_64-unknown-linux,$kind-gfx803,$kind-gfx900:xnack-" \
    --input=/dev/null --input=../saxpy/saxpy.gfx803.co --input=../saxpy/saxpy.gfx900.co --output="$1"
}

bundle saxpy.hipfb
bundle saxpy.zstd.hipfb --compress
