#!/bin/bash
# Rebuilds the shaders of this directory, for PAL, and flat.ll for Mesa too, of which each file has one shader.
#
#   NAME.TARGET.so              a pipeline: flat, colour and texture of scene.ll, geometry
#   SHADER.TARGET.mesa.so       one shader of flat.ll
#
# Needs lld and llvm 19 (Debian: lld-19 llvm-19).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"

LLVM=${LLVM:-19}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# compile SOURCE TRIPLE TARGET OUTPUT
compile() {
  "llc-$LLVM" -O3 "-mtriple=$2" "-mcpu=$3" -filetype=obj "$1" -o "$tmp/s.o"
  "ld.lld-$LLVM" -shared --no-undefined --build-id=none "$tmp/s.o" -o "$tmp/s.so"
  "llvm-strip-$LLVM" --strip-unneeded --remove-section=.comment --keep-section=.AMDGPU.config "$tmp/s.so"
  install -m 644 "$tmp/s.so" "$4"
}

# pipeline NAME TARGET SOURCE SHADER...: internal functions are in their callers once it is optimised
pipeline() {
  local name=$1 target=$2 source=$3
  shift 3
  "opt-$LLVM" -O2 -mtriple=amdgcn--amdpal "-mcpu=$target" "$source.ll" -o "$tmp/all.bc"
  "llvm-extract-$LLVM" "${@/#/--func=}" "$tmp/all.bc" -o "$tmp/one.bc"
  compile "$tmp/one.bc" amdgcn--amdpal "$target" "$name.$target.so"
}

for target in gfx600 gfx700 gfx803 gfx900; do
  pipeline flat "$target" flat flat_vs flat_ps
  pipeline colour "$target" scene scene_vs colour_ps
  pipeline texture "$target" scene scene_vs texture_ps
  [[ $target < gfx803 ]] || pipeline geometry "$target" geometry emit_gs half_ps
  for shader in flat_vs flat_ps; do
    "llvm-extract-$LLVM" "--func=$shader" flat.ll -o "$tmp/one.bc"
    compile "$tmp/one.bc" amdgcn--mesa3d "$target" "$shader.$target.mesa.so"
  done
done
