#!/bin/bash
# Rebuilds image.TARGET.co: kernels of one image instruction each, which generate.py writes as LLVM IR, so that it is
# LLVM that finds the registers of their operands. KEEP_ASM=DIR keeps the listings as DIR/image.TARGET.s.
#
# Needs llvm and lld 19 (Debian: llvm-19 lld-19; LLVM=N for another) and Python 3.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"
llvm=${LLVM:-19}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for target in gfx600 gfx700 gfx803 gfx900; do
  python3 generate.py "$target" > "$tmp/image.ll"
  "llc-$llvm" -O2 -mcpu="$target" "$tmp/image.ll" -o "$tmp/image.s"
  "llvm-mc-$llvm" -triple=amdgcn-amd-amdhsa -mcpu="$target" -filetype=obj "$tmp/image.s" -o "$tmp/image.o"
  "ld.lld-$llvm" -shared --no-undefined --build-id=none "$tmp/image.o" -o "$tmp/image.co"
  "llvm-strip-$llvm" --strip-unneeded --remove-section=.comment "$tmp/image.co"
  install -m 644 "$tmp/image.co" "image.$target.co"
  [[ -z ${KEEP_ASM:-} ]] || cp "$tmp/image.s" "$KEEP_ASM/image.$target.s"
done
