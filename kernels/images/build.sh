#!/bin/bash
# Rebuilds images.<target>.co from images.cl and library.ll.
#
# Needs clang, lld, llvm and libclc 19 (LLVM=N takes another version). The objects are code object version 5; what they
# are depends on the sources and the tools' version only.
set -euo pipefail
export LC_ALL=C

LLVM=${LLVM:-19}
LIBCLC=${LIBCLC:-/usr/lib/clc/amdgcn--amdhsa.bc}
TARGETS=(gfx600 gfx700 gfx803 gfx900)

cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for target in "${TARGETS[@]}"; do
  flags=(-target amdgcn-amd-amdhsa "-mcpu=$target" -mcode-object-version=5)
  # The library has the data layout that the compiler has.
  "clang-$LLVM" -x cl "${flags[@]}" -nogpulib -S -emit-llvm /dev/null -o - | grep '^target' >"$tmp/library.ll"
  cat library.ll >>"$tmp/library.ll"
  "llvm-as-$LLVM" "$tmp/library.ll" -o "$tmp/library.bc"
  "clang-$LLVM" -x cl "${flags[@]}" -nogpulib -cl-std=CL2.0 -O2 -DCOV=5 -emit-llvm -c ../rt/rt.cl -o "$tmp/rt.bc"
  "clang-$LLVM" -x cl "${flags[@]}" -nogpulib -cl-std=CL2.0 -O2 -Wall -Werror \
    -Xclang -mlink-builtin-bitcode -Xclang "$tmp/library.bc" -Xclang -mlink-builtin-bitcode -Xclang "$tmp/rt.bc" \
    -S images.cl -o "$tmp/k.s"
  "clang-$LLVM" "${flags[@]}" -c "$tmp/k.s" -o "$tmp/k.o"
  "ld.lld-$LLVM" -shared --no-undefined --build-id=none "$tmp/k.o" -o "$tmp/k.co"
  "llvm-strip-$LLVM" --strip-unneeded --remove-section=.comment "$tmp/k.co"
  install -m 644 "$tmp/k.co" "images.$target.co"
done
echo "built images for ${TARGETS[*]}"
